//! A blocking thread for each application, as ordinary programs have it.

use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use posthaste_client::{ClientError, Mqi};
use posthaste_mqi::constants::{MQMI_NONE, MQOT_Q};
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};

use super::connect::{Way, call_failed};
use super::control::Control;
use super::course::{Course, Turn, be_punctual};
use super::multiplexed::Group;
use super::tally::{Done, Tally};
use crate::workload::{
    Answer, Application, Body, GetCall, Machine, Message, Nanos, PerfError, PutCall, PutTarget,
    Step, Workload,
};

/// Enough for a thread that only calls.
const STACK: usize = 256 * 1024;

/// Starts a thread for each machine.
pub(crate) fn spawn(group: Group) -> Result<Vec<Arc<Tally>>, PerfError> {
    let Group {
        workload,
        way,
        machines,
        data,
        control,
        empty,
    } = group;
    let mut tallies = Vec::new();
    for (index, machine) in (0u32..).zip(machines) {
        let tally = Arc::new(Tally::new(1, &empty));
        tallies.push(tally.clone());
        let (way, workload) = (way.clone(), workload.clone());
        let (data, mine) = (data.clone(), control.clone());
        let started = thread::Builder::new()
            .name(format!("application {index}"))
            .stack_size(STACK)
            .spawn(move || live(&workload, index, way, machine, &data, &mine, &tally));
        if let Err(error) = started {
            control.end();
            return Err(PerfError::System {
                what: format!("thread {} cannot be started", index + 1),
                why: error.to_string(),
            });
        }
    }
    Ok(tallies)
}

/// The whole life of an application. When it has ended it holds nothing of the queue manager any more.
fn live(
    workload: &Workload,
    index: u32,
    way: Way,
    machine: Machine,
    data: &[u8],
    control: &Control,
    tally: &Tally,
) {
    let early = match run(workload, index, way, machine, data, control, tally) {
        Ok(early) => early,
        Err(error) => {
            control.fail(error);
            true
        }
    };
    control.ended(early);
}

/// Goes through the iterations; in the end it is known what is done for good.
fn iterate<M: Mqi + ?Sized>(
    caller: &mut Caller<M>,
    workload: &Workload,
    course: &mut Course,
    data: &[u8],
    control: &Control,
    tally: &Tally,
) -> Result<(), PerfError> {
    let done = caller.iterate(workload, course, data, control, tally);
    tally.settle(0, caller.machine.uncommitted());
    done
}

/// Whether it ended early, or why.
fn run(
    workload: &Workload,
    index: u32,
    way: Way,
    machine: Machine,
    data: &[u8],
    control: &Control,
    tally: &Tally,
) -> Result<bool, PerfError> {
    be_punctual(workload);
    control.await_turn(index, workload);
    if control.ending() {
        return Ok(true);
    }
    let connection = way.connect()?;
    let name = connection.queue_manager();
    let mut caller = Caller::new(connection, machine, &name);
    caller.until_ready(data)?;
    control.ready();
    if !control.await_go() {
        caller.disconnect()?;
        return Ok(true);
    }
    let mut course = Course::new(workload, index, control.went());
    iterate(&mut caller, workload, &mut course, data, control, tally)?;
    caller.disconnect()?;
    Ok(course.unfinished() && !control.ending())
}

/// One application's connection, and what it has open.
pub(crate) struct Caller<M: Mqi + ?Sized> {
    connection: Box<M>,
    machine: Machine,
    queue_manager: String,
    open: Vec<(Name, Hobj)>,
    /// The message got last.
    got: Bytes,
    md: Md,
    pmo: Pmo,
    gmo: Gmo,
}

impl<M: Mqi + ?Sized> Caller<M> {
    pub(crate) fn new(connection: Box<M>, machine: Machine, queue_manager: &str) -> Caller<M> {
        Caller {
            connection,
            machine,
            queue_manager: queue_manager.to_owned(),
            open: Vec::new(),
            got: Bytes::new(),
            md: Md::default(),
            pmo: Pmo::default(),
            gmo: Gmo::default(),
        }
    }

    /// The connection, the machine, and what is open.
    pub(crate) fn into_parts(self) -> (Box<M>, Machine, Vec<(Name, Hobj)>) {
        (self.connection, self.machine, self.open)
    }

    /// Opens what the machine wants open.
    pub(crate) fn until_ready(&mut self, data: &[u8]) -> Result<(), PerfError> {
        let mut step = self.machine.next(Answer::Begin);
        while step != Step::Ready {
            step = self.take(step, data, false)?;
        }
        Ok(())
    }

    /// Goes on until the machine rests or has finished.
    fn until_rest(
        &mut self,
        answer: Answer<'_>,
        data: &[u8],
        control: &Control,
    ) -> Result<Step, PerfError> {
        let mut step = self.machine.next(answer);
        while !step.rests() && !matches!(step, Step::Finished | Step::Rejected { .. }) {
            step = self.take(step, data, control.ending())?;
        }
        Ok(step)
    }

    fn iterate(
        &mut self,
        workload: &Workload,
        course: &mut Course,
        data: &[u8],
        control: &Control,
        tally: &Tally,
    ) -> Result<(), PerfError> {
        let mut yields = workload.yield_every;
        let mut now = control.now();
        loop {
            match course.turn(now, control.ending(), control.over()) {
                Turn::Wait { until } => {
                    control.pause(until);
                    now = control.now();
                    continue;
                }
                Turn::Go { at } => {
                    tally.missed_more(course.take_missed());
                    let step = self.until_rest(Answer::Next { at }, data, control)?;
                    now = control.now();
                    self.account(step, now, course, control, tally)?;
                }
                Turn::End => {
                    let step = self.until_rest(Answer::Last, data, control)?;
                    if step == Step::Finished {
                        return Ok(());
                    }
                    now = control.now();
                    self.account(step, now, course, control, tally)?;
                }
            }
            if workload.yield_every > 0 {
                yields -= 1;
                if yields == 0 {
                    yields = workload.yield_every;
                    thread::yield_now();
                }
            }
        }
    }

    /// Counts what came of an iteration.
    fn account(
        &self,
        step: Step,
        now: Nanos,
        course: &mut Course,
        control: &Control,
        tally: &Tally,
    ) -> Result<(), PerfError> {
        match step {
            Step::Iterated { began } => {
                course.iterated();
                tally.count(Done {
                    place: 0,
                    at: now,
                    latency: began.map(|began| now.saturating_sub(began)),
                    open: self.machine.uncommitted(),
                });
            }
            Step::Idle => tally.settle(0, self.machine.uncommitted()),
            Step::Unanswered { slot } => control.fail(self.no_reply(slot)),
            Step::Rejected { count, reason } => {
                tally.take_back(0, count, self.machine.uncommitted());
                return Err(rejected(count, reason, &self.name(0)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Carries one step out.
    fn take(&mut self, step: Step, data: &[u8], ending: bool) -> Result<Step, PerfError> {
        match step {
            Step::Open {
                slot,
                queue,
                queue_manager,
                options,
            } => {
                let mut od = object(queue, queue_manager);
                let handle = self
                    .connection
                    .open_object(&mut od, options)
                    .map_err(|error| call_failed("MQOPEN", &queue.text(), &error))?;
                if self.open.len() <= slot {
                    self.open.resize(slot + 1, (Name::BLANK, Hobj::UNUSABLE));
                }
                if let Some(place) = self.open.get_mut(slot) {
                    *place = (queue, handle);
                }
                Ok(self.machine.next(Answer::Done))
            }
            Step::Put(put) => self.put(&put, data),
            Step::Get(get) => self.get(&get, ending),
            Step::Commit => {
                let name = &self.queue_manager;
                self.connection
                    .commit()
                    .map_err(|error| call_failed("MQCMIT", name, &error))?;
                Ok(self.machine.next(Answer::Done))
            }
            Step::Stat => {
                let name = &self.queue_manager;
                let sts = self
                    .connection
                    .stat()
                    .map_err(|error| call_failed("MQSTAT", name, &error))?;
                Ok(self.machine.next(Answer::Stat(&sts)))
            }
            other => Ok(other),
        }
    }

    fn put(&mut self, put: &PutCall, data: &[u8]) -> Result<Step, PerfError> {
        let shape = self.machine.put_shape();
        self.md.clone_from(&shape.md);
        self.pmo.clone_from(&shape.pmo);
        self.md.correl_id = put.correl_id;
        self.md.msg_id = MQMI_NONE;
        let data = match put.body {
            Body::Own => data,
            Body::Got => &self.got,
        };
        match put.to {
            PutTarget::Open(slot) => {
                let handle = handle(&self.open, slot);
                self.connection
                    .put(handle, &mut self.md, &mut self.pmo, data)
                    .map_err(|error| call_failed("MQPUT", &self.name(slot), &error))?;
            }
            PutTarget::Named {
                queue,
                queue_manager,
            } => {
                let mut od = object(queue, queue_manager);
                self.connection
                    .put1(&mut od, &mut self.md, &mut self.pmo, data)
                    .map_err(|error| call_failed("MQPUT1", &queue.text(), &error))?;
            }
        }
        let msg_id = self.md.msg_id;
        Ok(self.machine.next(Answer::Put { msg_id }))
    }

    fn get(&mut self, get: &GetCall, ending: bool) -> Result<Step, PerfError> {
        let shape = self.machine.get_shape();
        self.md.clone_from(&shape.md);
        self.gmo.clone_from(&shape.gmo);
        self.md.correl_id = get.correl_id;
        self.gmo.wait_interval = get.wait_ms;
        let handle = handle(&self.open, get.slot);
        let got = self
            .connection
            .get(handle, &mut self.md, &mut self.gmo, get.buffer);
        match got {
            Ok(got) if got.warning == Reason::TRUNCATED_MSG_FAILED => {
                let length = got.length;
                Ok(self.machine.next(Answer::TooLong { length }))
            }
            // As MQ-CPH has it, an application that is warned goes no further.
            Ok(got) if got.warning != Reason::NONE => {
                let warning = ClientError::Reason(got.warning);
                Err(call_failed("MQGET", &self.name(get.slot), &warning))
            }
            Ok(got) => {
                self.got = got.data;
                let message = Message {
                    msg_id: self.md.msg_id,
                    correl_id: self.md.correl_id,
                    reply_to: self.md.reply_to_q,
                    reply_to_q_mgr: self.md.reply_to_q_mgr,
                };
                Ok(self.machine.next(Answer::Got(&message)))
            }
            Err(error) if error.reason() == Reason::NO_MSG_AVAILABLE => {
                Ok(self.machine.next(Answer::NoMessage { ending }))
            }
            Err(error) => Err(call_failed("MQGET", &self.name(get.slot), &error)),
        }
    }

    fn name(&self, slot: usize) -> String {
        let open = self.open.get(slot);
        open.map_or_else(String::new, |(name, _)| name.text().into_owned())
    }

    fn no_reply(&self, slot: usize) -> PerfError {
        PerfError::NoReply {
            queue: self.name(slot),
        }
    }

    fn disconnect(self) -> Result<(), PerfError> {
        let name = self.queue_manager;
        self.connection
            .disconnect()
            .map_err(|error| call_failed("MQDISC", &name, &error))
    }
}

/// Asynchronous puts that failed.
pub(crate) fn rejected(count: u64, reason: Reason, queue: &str) -> PerfError {
    PerfError::Call {
        call: "MQPUT",
        object: queue.to_owned(),
        reason,
        why: format!("MQSTAT tells of {count} asynchronous puts that were not done."),
    }
}

/// The handle in a slot of an application's open queues.
pub(super) fn handle(open: &[(Name, Hobj)], slot: usize) -> Hobj {
    open.get(slot).map_or(Hobj::UNUSABLE, |(_, handle)| *handle)
}

/// What is opened to get at a queue.
pub(super) fn object(queue: Name, queue_manager: Name) -> Od {
    Od {
        object_type: MQOT_Q,
        object_name: queue,
        object_q_mgr_name: queue_manager,
        ..Od::default()
    }
}
