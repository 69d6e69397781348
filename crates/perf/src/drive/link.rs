//! One application's connection in a multiplexed loop.
//!
//! Invariants:
//! * At most one verb is outstanding (asynchronous puts are not); its reply is the only one that is
//!   taken, anything else breaks the connection.
//! * Output that the system does not take waits in `out`; asynchronous puts stop while it is full.
//! * A link that has failed or left is not used again.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use posthaste_client::{ClientError, check_length};
use posthaste_mqi::constants::MQMI_NONE;
use posthaste_mqi::{CompCode, Hobj, Name, Reason};
use posthaste_wire::client::FromServer;
use posthaste_wire::request::{OpenDefaults, OpenRequest, Put1Request, StatRequest};
use posthaste_wire::{
    ApiHeader, Flags, Header, PeerMisbehaved, Reply, Request, Segment, SegmentType,
};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::blocking::{handle, object, rejected};
use super::connect::call_failed;
use super::control::Control;
use super::course::{Course, Turn};
use super::tally::{Done, Tally};
use super::template::{self, GetTemplate, PutTemplate, Speech};
use crate::workload::{
    Answer, Application, Body, GetCall, Machine, Nanos, PerfError, PutCall, PutTarget, Step,
};

/// Bytes that may wait in the output before asynchronous puts pause.
const FULL: usize = 256 * 1024;
/// How much of a long reply is kept when its data is of no use.
const KEPT: usize = 2 * 1024;

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

/// A reply of several segments, on its way.
#[derive(Default)]
struct Flow {
    begun: bool,
    body: Vec<u8>,
    total: usize,
}

/// What a link shares with the others of its group.
pub(crate) struct Around<'a> {
    pub(crate) control: &'a Control,
    pub(crate) tally: &'a Tally,
    pub(crate) data: &'a [u8],
    /// Iterations that are counted after the batch.
    pub(crate) done: &'a mut Vec<Done>,
    /// The time, as of the batch.
    pub(crate) now: Nanos,
}

/// What the loop does with a link next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Waits for its socket.
    Socket,
    /// Waits for a moment.
    Moment(Nanos),
    /// Goes on at once, after others have had their turn.
    Soon,
    /// Is to be dropped.
    Gone,
}

/// One application's connection.
pub(crate) struct Link {
    stream: OwnedFd,
    speech: Speech,
    queue_manager: String,
    machine: Machine,
    /// Place in the group's tally.
    place: usize,
    course: Option<Course>,
    open: Vec<(Name, Hobj)>,
    put: PutTemplate,
    get: GetTemplate,
    commit: Vec<u8>,
    out: Vec<u8>,
    sent: usize,
    /// A segment that has not come completely.
    rest: Vec<u8>,
    flow: Flow,
    /// Data is put again, so long replies are kept.
    keeps_data: bool,
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
    pub(crate) fn new(
        (stream, mut speech, input): (OwnedFd, Speech, Vec<u8>),
        (machine, place): (Machine, usize),
        open: Vec<(Name, Hobj)>,
        queue_manager: &str,
        keeps_data: bool,
    ) -> Link {
        let commit = template::commit(&mut speech);
        Link {
            stream,
            speech,
            queue_manager: queue_manager.to_owned(),
            machine,
            place,
            course: None,
            open,
            put: PutTemplate::default(),
            get: GetTemplate::default(),
            commit,
            out: Vec::new(),
            sent: 0,
            rest: input,
            flow: Flow::default(),
            keeps_data,
            kept: Vec::new(),
            awaited: Awaited::Nothing,
            pause: None,
            stalled: false,
            early: false,
            gone: false,
        }
    }

    /// The socket.
    pub(crate) fn stream(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.stream)
    }

    /// Whether output waits for the system.
    pub(crate) fn blocked(&self) -> bool {
        self.sent < self.out.len()
    }

    /// Whether it ended before it was to.
    pub(crate) fn early(&self) -> bool {
        self.early
    }

    /// It goes no further: it is known what is done for good. Everything it did has been counted.
    pub(crate) fn settle(&self, tally: &Tally) {
        tally.settle(self.place, self.machine.uncommitted());
    }

    /// The group has been let go.
    pub(crate) fn begin(
        &mut self,
        course: Course,
        around: &mut Around<'_>,
    ) -> Result<Next, PerfError> {
        self.course = Some(course);
        self.resume(around)
    }

    /// The moment has come, or the output has room again.
    pub(crate) fn resume(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError> {
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

    /// Between two iterations.
    fn resting(&self) -> bool {
        self.course.is_some() && !self.gone && matches!(self.awaited, Awaited::Nothing)
    }

    /// The socket has room again.
    pub(crate) fn writable(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError> {
        self.flush()?;
        match self.stalled && !self.blocked() {
            true => self.resume(around),
            false => Ok(self.next()),
        }
    }

    /// The group is to end: whoever waits for a moment, or for the start, waits no longer.
    pub(crate) fn end(&mut self, around: &mut Around<'_>) -> Result<Next, PerfError> {
        if self.course.is_none() {
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

    /// The socket has something to read.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        around: &mut Around<'_>,
    ) -> Result<Next, PerfError> {
        let before = self.rest.len();
        let Some((head, room)) = buffer.split_at_mut_checked(before) else {
            return Err(self.broken(&ClientError::Peer(PeerMisbehaved::NotASegment)));
        };
        head.copy_from_slice(&self.rest);
        let read = match recv(&self.stream, room, RecvFlags::empty()) {
            Ok((0, _)) => Err(self.broken(&io::Error::from(io::ErrorKind::UnexpectedEof).into())),
            Ok((read, _)) => Ok(read),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(self.broken(&io::Error::from(error).into())),
        }?;
        let bytes = buffer.get(..before + read).unwrap_or_default();
        let mut at = 0;
        let limit = self.speech.socket.limit();
        while let Some(segment) = Segment::next(bytes.get(at..).unwrap_or_default(), limit)
            .map_err(|error| self.broken(&error.into()))?
        {
            at += segment.length;
            self.segment(&segment, around)?;
        }
        self.rest.clear();
        self.rest
            .extend_from_slice(bytes.get(at..).unwrap_or_default());
        self.flush()?;
        Ok(self.next())
    }

    /// Sends as much as the system takes.
    pub(crate) fn flush(&mut self) -> Result<(), PerfError> {
        while self.sent < self.out.len() {
            let waiting = self.out.get(self.sent..).unwrap_or_default();
            match send(&self.stream, waiting, SendFlags::NOSIGNAL) {
                Ok(sent) => self.sent += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(self.broken(&io::Error::from(error).into())),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
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

    fn segment(&mut self, segment: &Segment<'_>, around: &mut Around<'_>) -> Result<(), PerfError> {
        let header = segment.header;
        let due = matches!(
            (&self.awaited, header.kind),
            (Awaited::Put(_), SegmentType::PutReply)
                | (Awaited::Get(_), SegmentType::GetReply)
                | (Awaited::Commit, SegmentType::CmitReply)
        );
        if !due {
            return self.other(segment, around);
        }
        let last = header.flags.has(Flags::LAST);
        let first = header.flags.has(Flags::FIRST);
        if first == self.flow.begun || header.flags2 != 0 {
            let wrong = PeerMisbehaved::FlowNotBegun(header.kind);
            return Err(self.broken(&wrong.into()));
        }
        if last && !self.flow.begun {
            return self.reply(&header, segment.body, segment.body.len(), around);
        }
        let mut flow = std::mem::take(&mut self.flow);
        flow.begun = true;
        flow.total += segment.body.len();
        let most = match self.keeps_data {
            true => usize::MAX,
            false => KEPT.saturating_sub(flow.body.len()),
        };
        let kept = segment.body.get(..most).unwrap_or(segment.body);
        flow.body.extend_from_slice(kept);
        if last {
            flow.begun = false;
            let total = std::mem::take(&mut flow.total);
            self.reply(&header, &flow.body, total, around)?;
            flow.body.clear();
        }
        self.flow = flow;
        Ok(())
    }

    /// A complete reply to a put, get or commit. `total` is the length of the body that came.
    fn reply(
        &mut self,
        header: &Header,
        body: &[u8],
        total: usize,
        around: &mut Around<'_>,
    ) -> Result<(), PerfError> {
        let api = ApiHeader::decode(body, header.order, header.kind)
            .map_err(|error| self.broken(&error.into()))?;
        let awaited = std::mem::replace(&mut self.awaited, Awaited::Nothing);
        let fine = api.comp_code == CompCode::Ok as i32;
        match awaited {
            Awaited::Put(_) if fine => {
                let msg_id =
                    template::put_msg_id(body).map_err(|error| self.broken(&error.into()))?;
                self.advance(Answer::Put { msg_id }, &[], around)
            }
            Awaited::Get(slot) => self.got(slot, header, api.reason, (body, total), around),
            Awaited::Commit if fine => self.advance(Answer::Done, &[], around),
            Awaited::Put(slot) => Err(self.failed("MQPUT", &self.name(slot), api.reason)),
            _ => Err(self.failed("MQCMIT", &self.queue_manager, api.reason)),
        }
    }

    fn got(
        &mut self,
        slot: usize,
        header: &Header,
        reason: Reason,
        (body, total): (&[u8], usize),
        around: &mut Around<'_>,
    ) -> Result<(), PerfError> {
        match reason {
            Reason::NONE | Reason::TRUNCATED_MSG_FAILED => {}
            Reason::NO_MSG_AVAILABLE => {
                let ending = around.control.ending();
                return self.advance(Answer::NoMessage { ending }, &[], around);
            }
            reason => return Err(self.failed("MQGET", &self.name(slot), reason)),
        }
        let view = template::got(body, header.order).map_err(|error| self.broken(&error.into()))?;
        let length = view.length;
        if reason == Reason::TRUNCATED_MSG_FAILED {
            return self.advance(Answer::TooLong { length }, &[], around);
        }
        if total.checked_sub(view.data_at) != Some(length) {
            let wrong = PeerMisbehaved::StructureUnknown(header.kind);
            return Err(self.broken(&wrong.into()));
        }
        let data = body.get(view.data_at..).unwrap_or_default();
        self.advance(Answer::Got(&view.message), data, around)
    }

    /// What is not the reply to a put, get or commit.
    fn other(&mut self, segment: &Segment<'_>, around: &mut Around<'_>) -> Result<(), PerfError> {
        let said = self
            .speech
            .socket
            .receive(segment, &mut self.out)
            .map_err(|error| self.broken(&error.into()))?;
        match said {
            None | Some(FromServer::Notification { .. }) => Ok(()),
            Some(FromServer::Reply { outcome, reply, .. }) => {
                let reason = outcome.reason;
                let done = outcome.comp_code != CompCode::Failed;
                self.rare(done, reason, outcome.handle, &reply, around)
            }
            Some(FromServer::Ended(status)) => {
                Err(self.broken(&ClientError::Reason(status.ending())))
            }
            Some(_) => Err(self.broken(&ClientError::Reason(Reason::CONNECTION_BROKEN))),
        }
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
                if let Some(place) = self.open.get_mut(slot) {
                    place.1 = handle;
                }
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
                let Speech {
                    socket,
                    conversation,
                } = &mut self.speech;
                socket.end_conversation(&mut self.out, *conversation);
                self.gone = true;
                Ok(())
            }
            (Awaited::Open(slot), _) => Err(self.failed("MQOPEN", &self.name(slot), reason)),
            (Awaited::Put1(queue), _) => Err(self.failed("MQPUT1", &queue.text(), reason)),
            (Awaited::Stat, _) => Err(self.failed("MQSTAT", &self.queue_manager, reason)),
            _ => Err(self.failed("MQDISC", &self.queue_manager, reason)),
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
        let mut step = self.machine.next(answer);
        loop {
            match step {
                Step::Put(put) => {
                    self.send_put(&put, got, around.data)?;
                    if !matches!(self.awaited, Awaited::Nothing) {
                        return Ok(());
                    }
                    if self.out.len() - self.sent >= FULL {
                        self.stalled = true;
                        return Ok(());
                    }
                    let msg_id = MQMI_NONE;
                    step = self.machine.next(Answer::Put { msg_id });
                }
                Step::Get(get) => return self.send_get(&get),
                Step::Commit => {
                    self.out.extend_from_slice(&self.commit);
                    self.awaited = Awaited::Commit;
                    return Ok(());
                }
                Step::Open { .. } | Step::Stat => {
                    self.kept.extend_from_slice(got);
                    self.send_rare(&step);
                    return Ok(());
                }
                Step::Iterated { .. } | Step::Idle | Step::Unanswered { .. } => {
                    let now = self.account(step, around);
                    match self.turn(now, around) {
                        Some(answer) => step = self.machine.next(answer),
                        None => return Ok(()),
                    }
                }
                Step::Rejected { count, reason } => {
                    around.tally.count_all(around.done);
                    let open = self.machine.uncommitted();
                    around.tally.take_back(self.place, count, open);
                    return Err(rejected(count, reason, &self.name(0)));
                }
                Step::Finished | Step::Ready => {
                    let unfinished = self.course.as_ref().is_some_and(Course::unfinished);
                    self.early |= unfinished && !around.control.ending();
                    self.leave();
                    return Ok(());
                }
            }
        }
    }

    /// Counts what came of an iteration; gives the time as far as it is needed.
    fn account(&mut self, step: Step, around: &mut Around<'_>) -> Nanos {
        let mut now = around.now;
        match step {
            Step::Iterated { began } => {
                if began.is_some() {
                    now = around.control.now();
                }
                around.done.push(Done {
                    place: self.place,
                    at: now,
                    latency: began.map(|began| now.saturating_sub(began)),
                    open: self.machine.uncommitted(),
                });
                if let Some(course) = &mut self.course {
                    course.iterated();
                }
            }
            Step::Idle => {
                around.tally.count_all(around.done);
                self.settle(around.tally);
            }
            Step::Unanswered { slot } => around.control.fail(PerfError::NoReply {
                queue: self.name(slot),
            }),
            _ => {}
        }
        now
    }

    fn turn(&mut self, now: Nanos, around: &Around<'_>) -> Option<Answer<'static>> {
        let course = self.course.as_mut()?;
        let now = match course.is_rated() {
            true => around.control.now(),
            false => now,
        };
        let turn = course.turn(now, around.control.ending(), around.control.over());
        around.tally.missed_more(course.take_missed());
        match turn {
            Turn::Go { at } => Some(Answer::Next { at }),
            Turn::End => Some(Answer::Last),
            Turn::Wait { until } => {
                self.pause = Some(until);
                None
            }
        }
    }

    fn send_put(&mut self, put: &PutCall, got: &[u8], own: &[u8]) -> Result<(), PerfError> {
        let (data, same) = match put.body {
            Body::Own => (own, true),
            Body::Got => (got, false),
        };
        let shape = self.machine.put_shape();
        let fits = check_length(&self.speech.socket, data);
        match put.to {
            PutTarget::Open(slot) => {
                fits.map_err(|error| call_failed("MQPUT", &self.name(slot), &error))?;
                let handle = handle(&self.open, slot);
                let emitted = self.put.emit(
                    &mut self.out,
                    &mut self.speech,
                    shape,
                    (handle, &put.correl_id),
                    (data, same),
                );
                if shape.answered {
                    self.awaited = Awaited::Put(slot);
                }
                emitted.map_err(|error| self.broken(&error.into()))
            }
            PutTarget::Named {
                queue,
                queue_manager,
            } => {
                fits.map_err(|error| call_failed("MQPUT1", &queue.text(), &error))?;
                let mut md = shape.md.clone();
                md.correl_id = put.correl_id;
                let request = Put1Request {
                    od: object(queue, queue_manager),
                    md,
                    pmo: shape.pmo.clone(),
                    data: bytes::Bytes::copy_from_slice(data),
                };
                self.request(&Request::Put1(Box::new(request)));
                self.awaited = Awaited::Put1(queue);
                Ok(())
            }
        }
    }

    fn send_get(&mut self, get: &GetCall) -> Result<(), PerfError> {
        let handle = handle(&self.open, get.slot);
        self.awaited = Awaited::Get(get.slot);
        let emitted = self.get.emit(
            &mut self.out,
            &mut self.speech,
            self.machine.get_shape(),
            (handle, &get.correl_id),
            (get.wait_ms, get.buffer),
        );
        emitted.map_err(|error| self.broken(&error.into()))
    }

    fn send_rare(&mut self, step: &Step) {
        match *step {
            Step::Open {
                slot,
                queue,
                queue_manager,
                options,
            } => {
                if self.open.len() <= slot {
                    self.open.resize(slot + 1, (Name::BLANK, Hobj::UNUSABLE));
                }
                if let Some(place) = self.open.get_mut(slot) {
                    place.0 = queue;
                }
                let request = OpenRequest {
                    od: object(queue, queue_manager),
                    options,
                    defaults: Some(OpenDefaults::default()),
                };
                self.request(&Request::Open(Box::new(request)));
                self.awaited = Awaited::Open(slot);
            }
            _ => {
                let request = StatRequest {
                    kind: 0,
                    sts: posthaste_mqi::Sts::default(),
                };
                self.request(&Request::Stat(Box::new(request)));
                self.awaited = Awaited::Stat;
            }
        }
    }

    fn request(&mut self, request: &Request) {
        let Speech {
            socket,
            conversation,
        } = &mut self.speech;
        socket.request(&mut self.out, *conversation, Hobj(0), request);
    }

    fn leave(&mut self) {
        if matches!(self.awaited, Awaited::Nothing) && !self.gone {
            self.request(&Request::Disc);
            self.awaited = Awaited::Disc;
        }
    }

    fn name(&self, slot: usize) -> String {
        let open = self.open.get(slot);
        open.map_or_else(String::new, |(name, _)| name.text().into_owned())
    }

    fn failed(&self, call: &'static str, object: &str, reason: Reason) -> PerfError {
        call_failed(call, object, &ClientError::Reason(reason))
    }

    /// The connection cannot go on; which call found out matters to nobody.
    fn broken(&self, error: &ClientError) -> PerfError {
        let (call, object) = match &self.awaited {
            Awaited::Put(slot) => ("MQPUT", self.name(*slot)),
            Awaited::Get(slot) => ("MQGET", self.name(*slot)),
            Awaited::Put1(queue) => ("MQPUT1", queue.text().into_owned()),
            Awaited::Open(slot) => ("MQOPEN", self.name(*slot)),
            Awaited::Commit => ("MQCMIT", self.queue_manager.clone()),
            Awaited::Stat => ("MQSTAT", self.queue_manager.clone()),
            Awaited::Disc => ("MQDISC", self.queue_manager.clone()),
            Awaited::Nothing => ("The connection", self.queue_manager.clone()),
        };
        call_failed(call, &object, error)
    }
}
