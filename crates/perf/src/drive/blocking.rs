//! A blocking thread for each application, as ordinary programs have it.

use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use posthaste_mqi::constants::MQMI_NONE;
use posthaste_mqi::{Done, Gmo, Md, Mqi, Pmo, Reason};

use super::Group;
use super::application::{Application, Around};
use super::connect::{Way, call_failed, object};
use super::control::Control;
use super::course::{Course, Turn, be_punctual};
use super::tally::Tally;
use crate::workload::{
    Answer, Body, GetCall, Machine, Message, PerfError, PutCall, PutTarget, Step, Workload,
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
    } = group;
    let mut tallies = Vec::new();
    for (index, machine) in (0u32..).zip(machines) {
        let tally = Arc::new(Tally::new(1));
        tallies.push(tally.clone());
        let (way, workload) = (way.clone(), workload.clone());
        let (data, mine) = (data.clone(), control.clone());
        let started = thread::Builder::new()
            .name(format!("application {index}"))
            .stack_size(STACK)
            .spawn(move || live(&workload, index, &way, machine, &data, &mine, &tally));
        if let Err(error) = started {
            control.end();
            return Err(PerfError::system(
                format!("thread {} cannot be started", index + 1),
                error,
            ));
        }
    }
    Ok(tallies)
}

/// The whole life of an application. When it has ended it holds nothing of the queue manager any more.
fn live(
    workload: &Workload,
    index: u32,
    way: &Way,
    machine: Machine,
    data: &[u8],
    control: &Control,
    tally: &Tally,
) {
    let mut around = Around {
        control,
        tally,
        data,
        done: &mut Vec::new(),
        now: 0,
    };
    let early = match run(workload, index, way, machine, &mut around) {
        Ok(early) => early,
        Err(error) => {
            control.fail(error);
            true
        }
    };
    control.ended(early);
}

/// Whether it ended early, or why.
fn run(
    workload: &Workload,
    index: u32,
    way: &Way,
    machine: Machine,
    around: &mut Around<'_>,
) -> Result<bool, PerfError> {
    let control = around.control;
    be_punctual(workload);
    control.await_turn(index, workload);
    if control.ending() {
        return Ok(true);
    }
    let connection = way.connect()?;
    let name = connection.queue_manager();
    let mut caller = Caller::new(connection, Application::new(machine, 0, &name));
    caller.until_ready(around.data)?;
    control.ready();
    if !control.await_go() {
        caller.disconnect()?;
        return Ok(true);
    }
    caller.application.course = Some(Course::new(workload, index, control.went()));
    let done = caller.iterate(workload, around);
    // In the end it is known what is done for good.
    caller.application.settle(around.tally);
    done?;
    let unfinished = caller.application.unfinished();
    caller.disconnect()?;
    Ok(unfinished && !control.ending())
}

/// One application's connection, and what it has open.
pub(crate) struct Caller<M: Mqi + ?Sized> {
    connection: Box<M>,
    application: Application,
    /// The message got last.
    got: Bytes,
    md: Md,
    pmo: Pmo,
    gmo: Gmo,
}

impl<M: Mqi + ?Sized> Caller<M> {
    pub(crate) fn new(connection: Box<M>, application: Application) -> Caller<M> {
        Caller {
            connection,
            application,
            got: Bytes::new(),
            md: Md::default(),
            pmo: Pmo::default(),
            gmo: Gmo::default(),
        }
    }

    /// The connection, and whose it is.
    pub(crate) fn into_parts(self) -> (Box<M>, Application) {
        (self.connection, self.application)
    }

    /// Opens what the machine wants open.
    pub(crate) fn until_ready(&mut self, data: &[u8]) -> Result<(), PerfError> {
        let mut step = self.application.machine.next(Answer::Begin);
        while step != Step::Ready {
            step = self.take(step, data, false)?;
        }
        Ok(())
    }

    /// Goes on until the machine rests or has finished.
    fn until_rest(&mut self, answer: Answer<'_>, around: &Around<'_>) -> Result<Step, PerfError> {
        let mut step = self.application.machine.next(answer);
        while !step.rests() && !matches!(step, Step::Finished | Step::Rejected { .. }) {
            step = self.take(step, around.data, around.control.ending())?;
        }
        Ok(step)
    }

    fn iterate(&mut self, workload: &Workload, around: &mut Around<'_>) -> Result<(), PerfError> {
        let mut yields = workload.yield_every;
        let mut now = around.control.now();
        loop {
            let answer = match self.application.turn(now, around) {
                Turn::Wait { until } => {
                    around.control.pause(until);
                    now = around.control.now();
                    continue;
                }
                Turn::Go { at } => Answer::Next { at },
                Turn::End => Answer::Last,
            };
            let step = self.until_rest(answer, around)?;
            if step == Step::Finished {
                return Ok(());
            }
            if !matches!(step, Step::Iterated { began: Some(_) }) {
                around.now = around.control.now();
            }
            now = self.application.account(step, around)?;
            around.tally.count_all(around.done);
            if workload.yield_every > 0 {
                yields -= 1;
                if yields == 0 {
                    yields = workload.yield_every;
                    thread::yield_now();
                }
            }
        }
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
                    .map_err(|reason| call_failed("MQOPEN", &queue.text(), reason))?
                    .value;
                self.application.opens(slot, queue);
                self.application.opened(slot, handle);
                Ok(self.application.machine.next(Answer::Done))
            }
            Step::Put(put) => self.put(&put, data),
            Step::Get(get) => self.get(&get, ending),
            Step::Commit => {
                let name = &self.application.queue_manager;
                self.connection
                    .commit()
                    .map_err(|reason| call_failed("MQCMIT", name, reason))?;
                Ok(self.application.machine.next(Answer::Done))
            }
            Step::Stat => {
                let name = &self.application.queue_manager;
                let sts = self
                    .connection
                    .stat()
                    .map_err(|reason| call_failed("MQSTAT", name, reason))?;
                Ok(self.application.machine.next(Answer::Stat(&sts.value)))
            }
            other => Ok(other),
        }
    }

    fn put(&mut self, put: &PutCall, data: &[u8]) -> Result<Step, PerfError> {
        let shape = self.application.machine.put_shape();
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
                let handle = self.application.handle(slot);
                self.connection
                    .put(handle, &mut self.md, &mut self.pmo, data)
                    .map_err(|reason| call_failed("MQPUT", &self.application.name(slot), reason))?;
            }
            PutTarget::Named {
                queue,
                queue_manager,
            } => {
                let mut od = object(queue, queue_manager);
                self.connection
                    .put1(&mut od, &mut self.md, &mut self.pmo, data)
                    .map_err(|reason| call_failed("MQPUT1", &queue.text(), reason))?;
            }
        }
        let msg_id = self.md.msg_id;
        Ok(self.application.machine.next(Answer::Put { msg_id }))
    }

    fn get(&mut self, get: &GetCall, ending: bool) -> Result<Step, PerfError> {
        let shape = self.application.machine.get_shape();
        self.md.clone_from(&shape.md);
        self.gmo.clone_from(&shape.gmo);
        self.md.correl_id = get.correl_id;
        self.gmo.wait_interval = get.wait_ms;
        let handle = self.application.handle(get.slot);
        let got = self
            .connection
            .get(handle, &mut self.md, &mut self.gmo, get.buffer);
        match got {
            Ok(got) if got.warning == Reason::TRUNCATED_MSG_FAILED => {
                let length = got.value.length;
                Ok(self.application.machine.next(Answer::TooLong { length }))
            }
            // As MQ-CPH has it, an application that is warned goes no further.
            Ok(got) if got.warning != Reason::NONE => Err(call_failed(
                "MQGET",
                &self.application.name(get.slot),
                got.warning,
            )),
            Ok(got) => {
                self.got = got.value.data;
                let message = Message {
                    msg_id: self.md.msg_id,
                    correl_id: self.md.correl_id,
                    reply_to: self.md.reply_to_q,
                    reply_to_q_mgr: self.md.reply_to_q_mgr,
                };
                Ok(self.application.machine.next(Answer::Got(&message)))
            }
            Err(Reason::NO_MSG_AVAILABLE) => {
                Ok(self.application.machine.next(Answer::NoMessage { ending }))
            }
            Err(reason) => Err(call_failed(
                "MQGET",
                &self.application.name(get.slot),
                reason,
            )),
        }
    }

    fn disconnect(self) -> Result<(), PerfError> {
        let name = self.application.queue_manager;
        self.connection
            .disconnect()
            .and_then(Done::or_warning)
            .map_err(|reason| call_failed("MQDISC", &name, reason))
    }
}
