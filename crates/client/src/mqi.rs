//! The MQ Interface as a trait, so that a program is written once for every way to reach a queue manager: over
//! a socket ([`Connection`]), or inside the program's own process (`posthaste_server::InProcess`).
//!
//! Invariant: a verb means the same whichever binding carries it; the reason codes are the queue manager's.

use posthaste_mqi::{Gmo, Hobj, Md, Od, Pmo, Sts};

use crate::{ClientError, Connection, Got, Inquired};

/// The MQ Interface as an application uses it, whichever binding carries it.
///
/// A connection is used by one thread at a time and may be handed from one to another. Dropping it without
/// [`Mqi::disconnect`] is a lost connection: the queue manager backs its unit of work out.
pub trait Mqi: Send {
    /// The name of the queue manager.
    fn queue_manager(&self) -> String;

    /// MQOPEN. The descriptor comes back with the names that it was resolved to.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn open_object(&mut self, od: &mut Od, options: i32) -> Result<Hobj, ClientError>;

    /// MQCLOSE.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn close(&mut self, handle: Hobj, options: i32) -> Result<(), ClientError>;

    /// MQPUT. The descriptor and the options come back filled.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn put(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Result<(), ClientError>;

    /// MQPUT1.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn put1(
        &mut self,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Result<(), ClientError>;

    /// MQGET. `max` is the longest message that is taken, in bytes.
    ///
    /// # Errors
    /// 2033 and the other reasons the queue manager gives, or 2009.
    fn get(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        max: usize,
    ) -> Result<Got, ClientError>;

    /// MQCMIT.
    ///
    /// # Errors
    /// 2003 backed out instead; the reason the queue manager gives, or 2009: then the outcome is not known.
    fn commit(&mut self) -> Result<(), ClientError>;

    /// MQBACK.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn backout(&mut self) -> Result<(), ClientError>;

    /// MQINQ. `char_length` is the room for characters, in bytes.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn inquire(
        &mut self,
        handle: Hobj,
        selectors: &[i32],
        char_length: usize,
    ) -> Result<Inquired, ClientError>;

    /// MQSET.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn set(
        &mut self,
        handle: Hobj,
        selectors: &[i32],
        ints: &[i32],
        chars: &[u8],
    ) -> Result<(), ClientError>;

    /// MQSTAT (type 0): what became of the asynchronous puts since it was asked last.
    ///
    /// # Errors
    /// The reason the queue manager gives, or 2009.
    fn stat(&mut self) -> Result<Sts, ClientError>;

    /// MQDISC: commits and ends the connection.
    ///
    /// # Errors
    /// Those of [`Mqi::commit`]; the connection has ended all the same.
    fn disconnect(self: Box<Self>) -> Result<(), ClientError>;
}

impl Mqi for Connection {
    fn queue_manager(&self) -> String {
        Connection::queue_manager(self)
    }

    fn open_object(&mut self, od: &mut Od, options: i32) -> Result<Hobj, ClientError> {
        Connection::open_object(self, od, options)
    }

    fn close(&mut self, handle: Hobj, options: i32) -> Result<(), ClientError> {
        Connection::close(self, handle, options)
    }

    fn put(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Result<(), ClientError> {
        Connection::put(self, handle, md, pmo, data)
    }

    fn put1(
        &mut self,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Result<(), ClientError> {
        Connection::put1(self, od, md, pmo, data)
    }

    fn get(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        max: usize,
    ) -> Result<Got, ClientError> {
        Connection::get(self, handle, md, gmo, max)
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        Connection::commit(self)
    }

    fn backout(&mut self) -> Result<(), ClientError> {
        Connection::backout(self)
    }

    fn inquire(
        &mut self,
        handle: Hobj,
        selectors: &[i32],
        char_length: usize,
    ) -> Result<Inquired, ClientError> {
        Connection::inquire(self, handle, selectors, char_length)
    }

    fn set(
        &mut self,
        handle: Hobj,
        selectors: &[i32],
        ints: &[i32],
        chars: &[u8],
    ) -> Result<(), ClientError> {
        Connection::set(self, handle, selectors, ints, chars)
    }

    fn stat(&mut self) -> Result<Sts, ClientError> {
        Connection::stat(self)
    }

    fn disconnect(self: Box<Self>) -> Result<(), ClientError> {
        Connection::disconnect(*self)
    }
}
