//! The verbs by which a transaction manager coordinates a connection's units of work (XA).
//!
//! Invariant: what the queue manager returns is what the verb returns, XA's number for number; only that the connection
//! broke is told otherwise, and then what became of the verb is not known. While a branch is worked on, MQCMIT and MQBACK
//! are refused (2012).

use posthaste_mqi::{Hobj, Xid};
use posthaste_wire::xa::{XaReply, XaRequest, XaVerb};
use posthaste_wire::{Reply, Request};

use crate::{ClientError, Connection};

impl Connection {
    fn xa(&mut self, verb: XaVerb, flags: u32) -> Result<XaReply, ClientError> {
        let request = XaRequest {
            flags,
            resource_manager: 0,
            verb,
        };
        match self.call(Hobj::NONE, &Request::Xa(Box::new(request)))? {
            (_, _, Reply::Xa(reply)) => Ok(reply),
            _ => Err(self.wrong_reply()),
        }
    }

    fn xa_returned(&mut self, verb: XaVerb, flags: u32) -> Result<i32, ClientError> {
        self.xa(verb, flags).map(|reply| reply.returned)
    }

    /// xa_open: before it none of the others may come.
    ///
    /// # Errors
    /// The connection broke.
    pub fn xa_open(&mut self, flags: u32) -> Result<i32, ClientError> {
        let info = self.queue_manager().into_bytes();
        self.xa_returned(XaVerb::Open { info }, flags)
    }

    /// xa_close.
    ///
    /// # Errors
    /// The connection broke.
    pub fn xa_close(&mut self, flags: u32) -> Result<i32, ClientError> {
        let info = self.queue_manager().into_bytes();
        self.xa_returned(XaVerb::Close { info }, flags)
    }

    /// xa_start: what is put and got in syncpoint from now on is the branch's.
    ///
    /// # Errors
    /// The connection broke.
    pub fn xa_start(&mut self, xid: &Xid, flags: u32) -> Result<i32, ClientError> {
        self.xa_returned(XaVerb::Start(xid.clone()), flags)
    }

    /// xa_end.
    ///
    /// # Errors
    /// The connection broke.
    pub fn xa_end(&mut self, xid: &Xid, flags: u32) -> Result<i32, ClientError> {
        self.xa_returned(XaVerb::End(xid.clone()), flags)
    }

    /// xa_prepare.
    ///
    /// # Errors
    /// The connection broke, and whether the branch is prepared is not known.
    pub fn xa_prepare(&mut self, xid: &Xid, flags: u32) -> Result<i32, ClientError> {
        self.xa_returned(XaVerb::Prepare(xid.clone()), flags)
    }

    /// xa_commit.
    ///
    /// # Errors
    /// The connection broke, and whether the branch is committed is not known.
    pub fn xa_commit(&mut self, xid: &Xid, flags: u32) -> Result<i32, ClientError> {
        self.xa_returned(XaVerb::Commit(xid.clone()), flags)
    }

    /// xa_rollback.
    ///
    /// # Errors
    /// The connection broke, and whether the branch is backed out is not known.
    pub fn xa_rollback(&mut self, xid: &Xid, flags: u32) -> Result<i32, ClientError> {
        self.xa_returned(XaVerb::Rollback(xid.clone()), flags)
    }

    /// xa_forget.
    ///
    /// # Errors
    /// The connection broke.
    pub fn xa_forget(&mut self, xid: &Xid, flags: u32) -> Result<i32, ClientError> {
        self.xa_returned(XaVerb::Forget(xid.clone()), flags)
    }

    /// xa_recover: the branches that are in doubt, at most `count` of them; what it returned, and which.
    ///
    /// # Errors
    /// The connection broke.
    pub fn xa_recover(&mut self, count: u32, flags: u32) -> Result<(i32, Vec<Xid>), ClientError> {
        let reply = self.xa(XaVerb::Recover { count }, flags)?;
        Ok((reply.returned, reply.xids.unwrap_or_default()))
    }
}
