//! One application's connection in a loop of many.
//!
//! Invariants:
//! * At most one verb is outstanding (asynchronous puts are not); its reply is the only one that is
//!   taken, anything else breaks the connection.
//! * Before it waits, what has not been understood is kept and what is to be sent has been given to the system, as far as
//!   that takes it.
//! * Asynchronous puts stop while too much output waits for the system.

use std::future::poll_fn;
use std::ops::Range;
use std::os::fd::AsFd;
use std::rc::Rc;

use posthaste_client::{Connection, Nonblocking};
use posthaste_mqi::constants::MQMI_NONE;
use posthaste_mqi::{CompCode, Hobj, MsgId, Reason, Sts};
use posthaste_wire::client::{ClientGet, ClientPut, ReplyFlow};
use posthaste_wire::prepared::{PreparedGet, PreparedPut};
use posthaste_wire::request::{OpenDefaults, OpenRequest, Put1Request, StatRequest};
use posthaste_wire::{Outcome, PeerMisbehaved, Reply, Request};

use super::application::Share;
use super::carrier::{Called, Carrier, Get, Got, Message, Put, Queue, came};
use super::connect::object;
use super::seat::Seat;
use crate::workload::{Module, Nanos, Shapes};

/// Bytes that may wait in the output before asynchronous puts pause.
const FULL: usize = 256 * 1024;

/// One application's connection.
pub(crate) struct Link {
    line: Nonblocking,
    seat: Seat,
    share: Rc<Share>,
    shapes: Shapes,
    own: PreparedPut,
    other: PreparedPut,
    get: PreparedGet,
    /// What of the loop's buffer was read from the socket and is not understood yet.
    unread: Range<usize>,
    /// The data of a message is put again.
    keeps_data: bool,
    /// The message that was got last.
    got: Vec<u8>,
}

/// How a verb went that has to be done without a warning.
fn fine(flow: &ReplyFlow<'_>) -> Called<Outcome> {
    let outcome = flow.outcome()?;
    match outcome.comp_code {
        CompCode::Ok => Ok(outcome),
        _ => Err(outcome.reason.into()),
    }
}

impl Link {
    pub(crate) fn new(
        connection: Connection,
        seat: impl FnOnce(&dyn AsFd) -> Called<Seat>,
        share: Rc<Share>,
        index: u32,
    ) -> Called<Link> {
        let mut line = connection.into_nonblocking()?;
        let workload = share.workload();
        let keeps_data = workload.module == Module::Responder && workload.copy_request;
        if !keeps_data {
            line.keep_no_data();
        }
        Ok(Link {
            seat: seat(&line)?,
            line,
            shapes: Shapes::new(workload, index),
            own: PreparedPut::of_same_data(),
            other: PreparedPut::default(),
            get: PreparedGet::default(),
            unread: 0..0,
            keeps_data,
            got: Vec::new(),
            share,
        })
    }

    /// Waits for the reply to the verb that was called, and takes from it what is wanted; that may be kept.
    async fn reply<T>(
        &mut self,
        mut take: impl FnMut(&mut Vec<u8>, &ReplyFlow<'_>) -> Called<T>,
    ) -> Called<T> {
        poll_fn(|_| came(self.next_reply(&mut take))).await
    }

    /// The next reply, if it has come; `take` may keep data. If not, the link is ready to wait.
    fn next_reply<T>(
        &mut self,
        take: impl FnOnce(&mut Vec<u8>, &ReplyFlow<'_>) -> Called<T>,
    ) -> Called<Option<T>> {
        let shared = self.seat.shared().clone();
        let mut buffer = shared.buffer();
        loop {
            if !self.unread.is_empty() {
                let mut bytes = buffer.get(self.unread.clone()).unwrap_or_default();
                if let Some(flow) = self.line.next(&mut bytes)? {
                    self.unread.start = self.unread.end - bytes.len();
                    return take(&mut self.got, &flow).map(Some);
                }
                self.line.keep(bytes);
                self.unread = 0..0;
            }
            if !self.seat.can_read() {
                self.line.flush()?;
                self.seat.watch(&self.line, self.line.waiting() > 0)?;
                return Ok(None);
            }
            self.unread = 0..self.line.read(&mut buffer)?.len();
        }
    }

    /// Waits, without a verb that is outstanding, until it is so.
    async fn until(&mut self, mut so: impl FnMut(&Link) -> bool) -> Called<()> {
        poll_fn(|_| {
            let unasked = self
                .next_reply(|_, flow| Err(PeerMisbehaved::SegmentUnexpected(flow.kind()).into()));
            came(unasked.map(|none: Option<()>| none.or_else(|| so(self).then_some(()))))
        })
        .await
    }

    fn request(&mut self, request: &Request) {
        self.line.request(Hobj(0), request);
    }
}

impl Carrier for Link {
    async fn open(&mut self, queue: &Queue, options: i32) -> Called<Hobj> {
        self.request(&Request::Open(Box::new(OpenRequest {
            od: object(queue.name, queue.queue_manager),
            options,
            defaults: Some(OpenDefaults::default()),
        })));
        self.reply(|_, flow| {
            let outcome = flow.outcome()?;
            match outcome.comp_code {
                CompCode::Failed => Err(outcome.reason.into()),
                _ => Ok(outcome.handle),
            }
        })
        .await
    }

    async fn put(&mut self, put: &Put<'_>) -> Called<MsgId> {
        let (data, prepared) = match put.data {
            Some(data) => (data, &mut self.own),
            None => (&*self.got, &mut self.other),
        };
        self.line.check_length(data)?;
        let shape = &mut self.shapes.put;
        shape.md.correl_id = put.correl_id;
        let Some(handle) = put.to.handle else {
            let request = Put1Request {
                od: object(put.to.name, put.to.queue_manager),
                md: shape.md.clone(),
                pmo: shape.pmo.clone(),
                data: bytes::Bytes::copy_from_slice(data),
            };
            self.request(&Request::Put1(Box::new(request)));
            return self
                .reply(|_, flow| match flow.decode()? {
                    (outcome, Reply::Put1(filled)) if outcome.reason == Reason::NONE => {
                        Ok(filled.1.msg_id)
                    }
                    (outcome, _) => Err(outcome.reason.into()),
                })
                .await;
        };
        let put = ClientPut {
            handle,
            md: &shape.md,
            pmo: &shape.pmo,
            data,
            answered: shape.answered,
        };
        self.line.put(prepared, &put)?;
        if shape.answered {
            return self
                .reply(|_, flow| fine(flow).and_then(|_| Ok(flow.put_msg_id()?)))
                .await;
        }
        if self.line.waiting() >= FULL {
            // Others have their turn in any case.
            let mut again = false;
            self.seat.wake_at(self.seat.now() + 1);
            self.until(|link| std::mem::replace(&mut again, true) && link.line.waiting() == 0)
                .await?;
        }
        Ok(MQMI_NONE)
    }

    async fn get(&mut self, get: &Get, message: &mut Message) -> Called<Got> {
        let shape = &mut self.shapes.get;
        shape.md.correl_id = get.correl_id;
        shape.gmo.wait_interval = get.wait_ms;
        let call = ClientGet {
            handle: get.from,
            md: &shape.md,
            gmo: &shape.gmo,
            buffer_length: i32::try_from(get.buffer).unwrap_or(i32::MAX),
        };
        self.line.get(&mut self.get, &call)?;
        let keeps_data = self.keeps_data;
        self.reply(|kept, flow| got(flow, message, keeps_data.then_some(kept)))
            .await
    }

    async fn commit(&mut self) -> Called<()> {
        self.request(&Request::Commit);
        self.reply(|_, flow| fine(flow).map(drop)).await
    }

    async fn stat(&mut self) -> Called<Sts> {
        let sts = Sts::default();
        self.request(&Request::Stat(Box::new(StatRequest { kind: 0, sts })));
        self.reply(|_, flow| match flow.decode()? {
            (outcome, Reply::Stat(stat)) if outcome.comp_code != CompCode::Failed => Ok(stat.sts),
            (outcome, _) => Err(outcome.reason.into()),
        })
        .await
    }

    async fn disconnect(mut self) -> Called<()> {
        self.request(&Request::Disc);
        self.reply(|_, flow| {
            let outcome = flow.outcome()?;
            match outcome.comp_code {
                CompCode::Failed => Err(outcome.reason.into()),
                // Who asked for a commit has to be told that there was none.
                _ if outcome.reason == Reason::BACKED_OUT => Err(outcome.reason.into()),
                _ => Ok(()),
            }
        })
        .await?;
        self.line.end();
        Ok(self.line.flush()?)
    }

    async fn pause(&mut self, until: Option<Nanos>) -> Called<()> {
        match until {
            Some(until) => self.seat.wake_at(until),
            None => self.seat.opened(),
        }
        self.until(|link| {
            let control = link.share.control();
            let over = match until {
                Some(until) => link.seat.now() >= until,
                None => control.going(),
            };
            over || control.ending()
        })
        .await
    }

    fn now(&self) -> Nanos {
        self.seat.now()
    }

    /// It is counted with the others of the loop.
    fn rested(&mut self) {}
}

/// What MQGET gave; data goes where it is kept, if it is.
fn got(flow: &ReplyFlow<'_>, message: &mut Message, kept: Option<&mut Vec<u8>>) -> Called<Got> {
    let outcome = flow.outcome()?;
    match outcome.reason {
        Reason::NONE | Reason::TRUNCATED_MSG_FAILED => {}
        Reason::NO_MSG_AVAILABLE => return Ok(Got::Nothing),
        reason => return Err(reason.into()),
    }
    let got = flow.got()?;
    if outcome.reason == Reason::TRUNCATED_MSG_FAILED {
        return Ok(Got::TooLong(got.length));
    }
    if got.came != got.length {
        return Err(PeerMisbehaved::StructureUnknown(flow.kind()).into());
    }
    if let Some(kept) = kept {
        kept.clear();
        kept.extend_from_slice(got.data);
    }
    *message = Message {
        msg_id: got.msg_id,
        correl_id: got.correl_id,
        reply_to: got.reply_to_q,
        reply_to_q_mgr: got.reply_to_q_mgr,
    };
    Ok(Got::Message)
}
