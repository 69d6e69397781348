//! One application's connection in a multiplexed loop.
//!
//! Invariants:
//! * At most one verb is outstanding (asynchronous puts are not); its reply is the only one that is
//!   taken, anything else breaks the connection.
//! * Asynchronous puts stop while too much output waits for the system.
//! * A link that has failed or left is not used again.

use std::os::fd::{AsFd, BorrowedFd};

use posthaste_client::{ClientError, Nonblocking};
use posthaste_mqi::constants::MQMI_NONE;
use posthaste_mqi::{CompCode, Gmo, Hobj, Md, Name, Reason};
use posthaste_wire::client::{ClientGet, ClientPut, ReplyFlow};
use posthaste_wire::prepared::{PreparedGet, PreparedPut};
use posthaste_wire::request::{OpenDefaults, OpenRequest, Put1Request, StatRequest};
use posthaste_wire::{PeerMisbehaved, Reply, Request};

use super::application::{Application, Around};
use super::carried::{Carried, Next};
use super::connect::{call_failed, object};
use super::course::{Course, Turn};
use super::tally::Tally;
use crate::workload::{Answer, Body, GetCall, Message, Nanos, PerfError, PutCall, PutTarget, Step};

/// Bytes that may wait in the output before asynchronous puts pause.
const FULL: usize = 256 * 1024;

/// The reply that is due.
enum Awaited {
    Nothing,
    Put(usize),
    Get(usize),
    Commit,
    Open(usize),
    Put1(Name),
    Stat,
    Disc,
}

/// One application's connection.
pub(crate) struct Link {
    line: Nonblocking,
    application: Application,
    own: PreparedPut,
    other: PreparedPut,
    get: PreparedGet,
    put_md: Md,
    get_md: Md,
    gmo: Gmo,
    /// A message that was got and waits until its reply queue is open.
    kept: Vec<u8>,
    awaited: Awaited,
    pause: Option<Nanos>,
    stalled: bool,
    early: bool,
    gone: bool,
}

impl Link {
    /// Of a connection that has open what its machine wants open.
    pub(crate) fn new(line: Nonblocking, application: Application) -> Link {
        let machine = &application.machine;
        Link {
            line,
            put_md: machine.put_shape().md.clone(),
            get_md: machine.get_shape().md.clone(),
            gmo: machine.get_shape().gmo.clone(),
            application,
            own: PreparedPut::of_same_data(),
            other: PreparedPut::default(),
            get: PreparedGet::default(),
            kept: Vec::new(),
            awaited: Awaited::Nothing,
            pause: None,
            stalled: false,
            early: false,
            gone: false,
        }
    }

    /// Between two iterations.
    fn resting(&self) -> bool {
        self.application.course.is_some() && !self.gone && matches!(self.awaited, Awaited::Nothing)
    }

    /// Sends as much as the system takes.
    fn flush(&mut self) -> Result<(), PerfError> {
        let sent = self.line.flush();
        sent.map_err(|error| self.broken(error))
    }

    /// What the loop is to do.
    fn next(&mut self) -> Next {
        match self.pause.take() {
            _ if self.gone => Next::Gone,
            Some(until) => Next::Moment(until),
            None if self.stalled && !self.blocked() => Next::Soon,
            None => Next::Socket,
        }
    }

    /// The reply to the verb that is outstanding.
    fn reply(&mut self, flow: &ReplyFlow<'_>, around: &mut Around<'_>) -> Result<(), PerfError> {
        let wrong = |link: &Link, error: PeerMisbehaved| link.broken(error.into());
        if !matches!(
            self.awaited,
            Awaited::Put(_) | Awaited::Get(_) | Awaited::Commit
        ) {
            let (outcome, reply) = flow.decode().map_err(|error| wrong(self, error))?;
            let done = outcome.comp_code != CompCode::Failed;
            return self.rare(done, outcome.reason, outcome.handle, &reply, around);
        }
        let outcome = flow.outcome().map_err(|error| wrong(self, error))?;
        let fine = outcome.comp_code == CompCode::Ok;
        match std::mem::replace(&mut self.awaited, Awaited::Nothing) {
            Awaited::Put(_) if fine => {
                let msg_id = flow.put_msg_id().map_err(|error| wrong(self, error))?;
                self.advance(Answer::Put { msg_id }, &[], around)
            }
            Awaited::Get(slot) => self.got(slot, outcome.reason, flow, around),
            Awaited::Commit if fine => self.advance(Answer::Done, &[], around),
            Awaited::Put(slot) => {
                Err(self.failed("MQPUT", &self.application.name(slot), outcome.reason))
            }
            _ => Err(self.failed("MQCMIT", &self.application.queue_manager, outcome.reason)),
        }
    }

    fn got(
        &mut self,
        slot: usize,
        reason: Reason,
        flow: &ReplyFlow<'_>,
        around: &mut Around<'_>,
    ) -> Result<(), PerfError> {
        match reason {
            Reason::NONE | Reason::TRUNCATED_MSG_FAILED => {}
            Reason::NO_MSG_AVAILABLE => {
                let ending = around.control.ending();
                return self.advance(Answer::NoMessage { ending }, &[], around);
            }
            reason => return Err(self.failed("MQGET", &self.application.name(slot), reason)),
        }
        let got = flow.got().map_err(|error| self.broken(error.into()))?;
        let length = got.length;
        if reason == Reason::TRUNCATED_MSG_FAILED {
            return self.advance(Answer::TooLong { length }, &[], around);
        }
        if got.came != length {
            let wrong = PeerMisbehaved::StructureUnknown(flow.kind());
            return Err(self.broken(wrong.into()));
        }
        let message = Message {
            msg_id: got.msg_id,
            correl_id: got.correl_id,
            reply_to: got.reply_to_q,
            reply_to_q_mgr: got.reply_to_q_mgr,
        };
        self.advance(Answer::Got(&message), got.data, around)
    }

    /// The reply to a verb that is not called all the time.
    fn rare(
        &mut self,
        done: bool,
        reason: Reason,
        handle: Hobj,
        reply: &Reply,
        around: &mut Around<'_>,
    ) -> Result<(), PerfError> {
        let awaited = std::mem::replace(&mut self.awaited, Awaited::Nothing);
        match (awaited, reply) {
            (Awaited::Open(slot), _) if done => {
                self.application.opened(slot, handle);
                let kept = std::mem::take(&mut self.kept);
                self.advance(Answer::Done, &kept, around)
            }
            (Awaited::Put1(_), Reply::Put1(filled)) if done && reason == Reason::NONE => {
                let msg_id = filled.1.msg_id;
                self.advance(Answer::Put { msg_id }, &[], around)
            }
            (Awaited::Stat, Reply::Stat(stat)) if done => {
                self.advance(Answer::Stat(&stat.sts), &[], around)
            }
            // Who asked for a commit has to be told that there was none.
            (Awaited::Disc, _) if done && reason != Reason::BACKED_OUT => {
                self.line.end();
                self.gone = true;
                Ok(())
            }
            (Awaited::Open(slot), _) => {
                Err(self.failed("MQOPEN", &self.application.name(slot), reason))
            }
            (Awaited::Put1(queue), _) => Err(self.failed("MQPUT1", &queue.text(), reason)),
            (Awaited::Stat, _) => {
                Err(self.failed("MQSTAT", &self.application.queue_manager, reason))
            }
            _ => Err(self.failed("MQDISC", &self.application.queue_manager, reason)),
        }
    }

    /// Tells the machine how its last step went, and carries out what it says until that takes a
    /// reply, a moment or room. `got` is the message that was got, if one was.
    fn advance(
        &mut self,
        answer: Answer<'_>,
        got: &[u8],
        around: &mut Around<'_>,
    ) -> Result<(), PerfError> {
        let mut step = self.application.machine.next(answer);
        loop {
            match step {
                Step::Put(put) => {
                    self.send_put(&put, got, around.data)?;
                    if !matches!(self.awaited, Awaited::Nothing) {
                        return Ok(());
                    }
                    if self.line.waiting() >= FULL {
                        self.stalled = true;
                        return Ok(());
                    }
                    let msg_id = MQMI_NONE;
                    step = self.application.machine.next(Answer::Put { msg_id });
                }
                Step::Get(get) => return self.send_get(&get),
                Step::Commit => {
                    self.line.request(Hobj(0), &Request::Commit);
                    self.awaited = Awaited::Commit;
                    return Ok(());
                }
                Step::Open { .. } | Step::Stat => {
                    self.kept.extend_from_slice(got);
                    self.send_rare(&step);
                    return Ok(());
                }
                Step::Iterated { .. }
                | Step::Idle
                | Step::Unanswered { .. }
                | Step::Rejected { .. } => {
                    let now = self.application.account(step, around)?;
                    match self.turn(now, around) {
                        Some(answer) => step = self.application.machine.next(answer),
                        None => return Ok(()),
                    }
                }
                Step::Finished | Step::Ready => {
                    self.early |= self.application.unfinished() && !around.control.ending();
                    self.leave();
                    return Ok(());
                }
            }
        }
    }

    fn turn(&mut self, now: Nanos, around: &Around<'_>) -> Option<Answer<'static>> {
        let course = self.application.course.as_ref()?;
        let now = match course.is_rated() {
            true => around.control.now(),
            false => now,
        };
        match self.application.turn(now, around) {
            Turn::Go { at } => Some(Answer::Next { at }),
            Turn::End => Some(Answer::Last),
            Turn::Wait { until } => {
                self.pause = Some(until);
                None
            }
        }
    }

    fn send_put(&mut self, put: &PutCall, got: &[u8], own: &[u8]) -> Result<(), PerfError> {
        let (data, prepared) = match put.body {
            Body::Own => (own, &mut self.own),
            Body::Got => (got, &mut self.other),
        };
        let shape = self.application.machine.put_shape();
        let fits = self.line.check_length(data);
        self.put_md.correl_id = put.correl_id;
        match put.to {
            PutTarget::Open(slot) => {
                let put = ClientPut {
                    handle: self.application.handle(slot),
                    md: &self.put_md,
                    pmo: &shape.pmo,
                    data,
                    answered: shape.answered,
                };
                let sent = fits.and_then(|()| self.line.put(prepared, &put));
                sent.map_err(|error| call_failed("MQPUT", &self.application.name(slot), error))?;
                if shape.answered {
                    self.awaited = Awaited::Put(slot);
                }
                Ok(())
            }
            PutTarget::Named {
                queue,
                queue_manager,
            } => {
                fits.map_err(|error| call_failed("MQPUT1", &queue.text(), error))?;
                let request = Put1Request {
                    od: object(queue, queue_manager),
                    md: self.put_md.clone(),
                    pmo: shape.pmo.clone(),
                    data: bytes::Bytes::copy_from_slice(data),
                };
                self.line
                    .request(Hobj(0), &Request::Put1(Box::new(request)));
                self.awaited = Awaited::Put1(queue);
                Ok(())
            }
        }
    }

    fn send_get(&mut self, get: &GetCall) -> Result<(), PerfError> {
        self.get_md.correl_id = get.correl_id;
        self.gmo.wait_interval = get.wait_ms;
        self.awaited = Awaited::Get(get.slot);
        let get = ClientGet {
            handle: self.application.handle(get.slot),
            md: &self.get_md,
            gmo: &self.gmo,
            buffer_length: i32::try_from(get.buffer).unwrap_or(i32::MAX),
        };
        let sent = self.line.get(&mut self.get, &get);
        sent.map_err(|error| self.broken(error))
    }

    fn send_rare(&mut self, step: &Step) {
        match *step {
            Step::Open {
                slot,
                queue,
                queue_manager,
                options,
            } => {
                self.application.opens(slot, queue);
                let request = OpenRequest {
                    od: object(queue, queue_manager),
                    options,
                    defaults: Some(OpenDefaults::default()),
                };
                self.line
                    .request(Hobj(0), &Request::Open(Box::new(request)));
                self.awaited = Awaited::Open(slot);
            }
            _ => {
                let request = StatRequest {
                    kind: 0,
                    sts: posthaste_mqi::Sts::default(),
                };
                self.line
                    .request(Hobj(0), &Request::Stat(Box::new(request)));
                self.awaited = Awaited::Stat;
            }
        }
    }

    fn leave(&mut self) {
        if matches!(self.awaited, Awaited::Nothing) && !self.gone {
            self.line.request(Hobj(0), &Request::Disc);
            self.awaited = Awaited::Disc;
        }
    }

    fn failed(&self, call: &'static str, object: &str, reason: Reason) -> PerfError {
        call_failed(call, object, reason)
    }

    /// The connection cannot go on; which call found out matters to nobody.
    fn broken(&self, error: ClientError) -> PerfError {
        let (call, object) = match &self.awaited {
            Awaited::Put(slot) => ("MQPUT", self.application.name(*slot)),
            Awaited::Get(slot) => ("MQGET", self.application.name(*slot)),
            Awaited::Put1(queue) => ("MQPUT1", queue.text().into_owned()),
            Awaited::Open(slot) => ("MQOPEN", self.application.name(*slot)),
            Awaited::Commit => ("MQCMIT", self.application.queue_manager.clone()),
            Awaited::Stat => ("MQSTAT", self.application.queue_manager.clone()),
            Awaited::Disc => ("MQDISC", self.application.queue_manager.clone()),
            Awaited::Nothing => ("The connection", self.application.queue_manager.clone()),
        };
        call_failed(call, &object, error)
    }
}

impl Carried for Link {
    fn socket(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }

    fn blocked(&self) -> bool {
        self.line.waiting() > 0
    }

    fn early(&self) -> bool {
        self.early
    }

    fn settle(&self, tally: &Tally) {
        self.application.settle(tally);
    }

    fn begin(&mut self, course: Course, around: &mut Around<'_>) -> Result<Next, PerfError> {
        self.application.course = Some(course);
        self.resume(around)
    }

    fn resume(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError> {
        if std::mem::take(&mut self.stalled) {
            let msg_id = MQMI_NONE;
            self.advance(Answer::Put { msg_id }, &[], around)?;
        } else if self.resting() {
            let now = around.control.now();
            if let Some(answer) = self.turn(now, around) {
                self.advance(answer, &[], around)?;
            }
        }
        self.flush()?;
        Ok(self.next())
    }

    fn writable(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError> {
        self.flush()?;
        match self.stalled && !self.blocked() {
            true => self.resume(around),
            false => Ok(self.next()),
        }
    }

    fn end(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError> {
        if self.application.course.is_none() {
            self.early = true;
            self.leave();
            self.flush()?;
            return Ok(self.next());
        }
        match self.stalled {
            // Goes on by itself when there is room.
            true => Ok(Next::Socket),
            false => self.resume(around),
        }
    }

    fn receive(&mut self, buffer: &mut [u8], around: &mut Around<'_>) -> Result<Next, PerfError> {
        let bytes = self.line.read(buffer);
        let mut bytes = bytes.map_err(|error| self.broken(error))?;
        loop {
            let reply = self.line.next(&mut bytes);
            match reply.map_err(|error| self.broken(error))? {
                Some(reply) => self.reply(&reply, around)?,
                None => break,
            }
        }
        self.line.keep(bytes);
        self.flush()?;
        Ok(self.next())
    }
}
