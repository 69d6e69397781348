//! One application: what each module does, call by call, whatever carries it.
//!
//! Invariants:
//! * Everything is open before the group is let go, and nothing but a reply queue is opened after it; at most
//!   [`OPEN_REPLIES`] of these are, and beyond them replies go by MQPUT1, so that MAXHANDS is never reached.
//! * Only between two iterations is an application paced, counted and stopped, so that nothing is left half done.
//! * The reply to a request carries the request's MsgId as its CorrelId (or CorrelId, without `-co`), and a PutGet's
//!   message the application's own.
//! * Requester and PutGet commit a message before what it brings is waited for. Replies to what is under way when the
//!   application is to end are still taken as long as they come, so that none is left on a queue.
//! * The others commit every so many iterations, one commit for what a responder gets and puts; what is open is
//!   committed when the queue runs empty and when the application ends. The iteration that fills the unit of work is
//!   counted after the commit only.
//! * Asynchronous puts are asked after with MQSTAT every [`ASK_EVERY`] puts and at the end: each is a success there, or
//!   makes the application fail, or is not counted because nobody could ask any more.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQOO_OUTPUT};
use posthaste_mqi::{CorrelId, Hobj, Name, Reason};

use super::carrier::{Carrier, Get, Got, Message, Put, Queue};
use super::connect::rejected;
use super::control::Control;
use super::course::{Course, Turn};
use super::tally::{Iteration, Tally};
use super::{Group, identity};
use crate::measure::LabError;
use crate::workload::{Module, Nanos, Waiting, Workload};

/// Asynchronous puts between two MQSTATs.
const ASK_EVERY: u64 = 10_000;
/// Most reply queues that are held open.
const OPEN_REPLIES: usize = 200;

/// What applications of a group share on one thread.
pub(crate) struct Share {
    pub(crate) group: Group,
    pub(crate) tally: Arc<Tally>,
    /// Iterations that are not in the tally yet.
    pub(crate) done: RefCell<Vec<Iteration>>,
}

impl Share {
    pub(crate) fn new(group: Group, tally: Arc<Tally>) -> Rc<Share> {
        Rc::new(Share {
            group,
            tally,
            done: RefCell::default(),
        })
    }

    pub(crate) fn control(&self) -> &Control {
        &self.group.control
    }

    pub(crate) fn workload(&self) -> &Workload {
        &self.group.workload
    }

    /// What has been done is in the tally from now on.
    pub(crate) fn count(&self) {
        self.tally.count_all(&mut self.done.borrow_mut());
    }
}

/// One application.
pub(crate) struct Application<C> {
    carrier: C,
    share: Rc<Share>,
    queue_manager: String,
    /// Its number in the group.
    index: u32,
    /// Its place in the tally.
    place: usize,
    course: Course,
    /// The time, as far as it is needed.
    now: Nanos,
    /// Where it puts, and where it gets.
    to: Queue,
    from: Queue,
    /// Reply queues of a responder that are open, and the one for requests that name none.
    replies: Vec<Queue>,
    otherwise: Name,
    /// What a PutGet's messages carry; others are told apart by the MsgId of what they answer.
    own: Option<CorrelId>,
    /// Messages without an answer, oldest first, and when they began.
    under_way: VecDeque<(CorrelId, Nanos)>,
    waiting: Waiting,
    /// The message that was got last.
    got: Message,
    /// Bytes of the buffer for messages.
    buffer: usize,
    ending: bool,
    /// Iterations in the present unit of work.
    pending: u32,
    /// Iterations that were counted and are not known to be committed.
    uncommitted: u64,
    /// Asynchronous puts that have been counted and not been asked after.
    unasked: u64,
}

impl<C: Carrier> Application<C> {
    /// Application `index` of a group, connected.
    pub(crate) fn new(
        carrier: C,
        queue_manager: String,
        share: Rc<Share>,
        (index, place): (u32, usize),
    ) -> Box<Application<C>> {
        let workload = share.workload();
        let own = match workload.by_correlation_id {
            true => identity(),
            false => MQCI_NONE,
        };
        let nowhere = Queue {
            name: Name::BLANK,
            queue_manager: Name::BLANK,
            handle: None,
        };
        Box::new(Application {
            queue_manager,
            index,
            place,
            course: Course::new(workload, index, 0),
            now: 0,
            to: nowhere,
            from: nowhere,
            replies: Vec::new(),
            otherwise: Name::new(&workload.replies.name(index)),
            own: (workload.module == Module::PutGet).then_some(own),
            under_way: VecDeque::new(),
            waiting: Waiting::new(workload),
            got: Message::default(),
            buffer: workload.buffer(),
            ending: false,
            pending: 0,
            uncommitted: 0,
            unasked: 0,
            carrier,
            share,
        })
    }

    /// Its whole life. When it has ended it holds nothing of the queue manager any more. It lies in a box: what is waited
    /// for is small then, and all that a call needs lies together.
    pub(crate) async fn live(mut self: Box<Self>) {
        let share = self.share.clone();
        let ended = match self.work().await {
            Ok(early) => Box::pin(self.leave()).await.map(|()| early),
            Err(error) => {
                drop(self);
                Err(error)
            }
        };
        // A queue manager in this process is one of what it holds.
        let control = share.group.control.clone();
        drop(share);
        let early = ended.unwrap_or_else(|error| {
            control.fail(error);
            true
        });
        control.ended(early);
    }

    async fn leave(self: Box<Self>) -> Result<(), LabError> {
        let name = self.queue_manager;
        let left = self.carrier.disconnect().await;
        left.map_err(|fault| fault.of("MQDISC", &name))
    }

    /// Whether it ended before it was to, or why.
    async fn work(&mut self) -> Result<bool, LabError> {
        self.open_queues().await?;
        self.control().ready();
        self.pause(None).await?;
        if !self.control().going() {
            return Ok(true);
        }
        let done = self.iterate().await;
        // In the end it is known what is done for good.
        self.share.count();
        self.settle();
        done?;
        Ok(self.course.unfinished() && !self.control().ending())
    }

    /// MQPUT1 needs no queue open for output.
    async fn open_queues(&mut self) -> Result<(), LabError> {
        let share = self.share.clone();
        let (workload, index) = (share.workload(), self.index);
        let queue = |name: String| (Name::new(&name), Name::BLANK);
        let requests = queue(workload.requests.name(index));
        let destination = queue(workload.destinations.name(index));
        let output = match workload.put1 {
            true => 0,
            false => MQOO_OUTPUT,
        };
        match workload.module {
            Module::Requester => {
                self.to = self.open(requests, output).await?;
                let replies = (self.otherwise, Name::BLANK);
                self.from = self.open(replies, MQOO_INPUT_SHARED).await?;
            }
            Module::Responder => self.from = self.open(requests, MQOO_INPUT_SHARED).await?,
            Module::Receiver => self.from = self.open(destination, MQOO_INPUT_SHARED).await?,
            Module::PutGet => {
                let both = output | MQOO_INPUT_SHARED;
                self.from = self.open(destination, both).await?;
                self.to = self.from;
                self.to.handle = self.to.handle.filter(|_| !workload.put1);
            }
            _ => self.to = self.open(destination, output).await?,
        }
        Ok(())
    }

    /// Opens a queue; without options it is only named.
    async fn open(
        &mut self,
        (name, queue_manager): (Name, Name),
        options: i32,
    ) -> Result<Queue, LabError> {
        let mut queue = Queue {
            name,
            queue_manager,
            handle: None,
        };
        if options != 0 {
            let opened = self.carrier.open(&queue, options | MQOO_FAIL_IF_QUIESCING);
            let opened = opened.await;
            let handle = opened.map_err(|fault| fault.of("MQOPEN", &name.text()))?;
            queue.handle = Some(handle);
        }
        Ok(queue)
    }

    async fn iterate(&mut self) -> Result<(), LabError> {
        let start = self.control().went();
        self.course = Course::new(self.share.workload(), self.index, start);
        self.now = self.control().now();
        while let Some(at) = self.turn().await? {
            match self.share.workload().module {
                Module::Requester | Module::PutGet => self.ask(at).await?,
                Module::Responder => self.answer(at).await?,
                Module::Receiver => self.receive(at).await?,
                _ => self.send(at).await?,
            }
            self.carrier.rested();
        }
        self.finish().await
    }

    /// When the next iteration begins, or should have begun; none when there is to be no further one.
    async fn turn(&mut self) -> Result<Option<Nanos>, LabError> {
        let mut now = match self.course.is_rated() {
            true => self.control().now(),
            false => self.now,
        };
        loop {
            let control = &self.share.group.control;
            let turn = self.course.turn(now, control.ending(), control.over());
            self.share.tally.missed_more(self.course.take_missed());
            match turn {
                Turn::Go { at } => return Ok(Some(at)),
                Turn::End => return Ok(None),
                Turn::Wait { until } => {
                    self.pause(Some(until)).await?;
                    now = self.control().now();
                }
            }
        }
    }

    /// Puts until as many messages are under way as are to be, and waits for the answer to the oldest.
    async fn ask(&mut self, at: Nanos) -> Result<(), LabError> {
        let depth = usize::try_from(self.share.workload().queue_depth).unwrap_or(usize::MAX);
        loop {
            let correl_id = self.own.unwrap_or(MQCI_NONE);
            let msg_id = self.put(correl_id, false).await?;
            self.under_way.push_back((self.own.unwrap_or(msg_id), at));
            if self.share.workload().syncpoint.put {
                self.commit().await?;
            }
            if self.under_way.len() >= depth {
                return self.await_answer().await;
            }
        }
    }

    async fn await_answer(&mut self) -> Result<(), LabError> {
        let by_correlation_id = self.share.workload().by_correlation_id;
        let oldest = self.under_way.front().filter(|_| by_correlation_id);
        let correl_id = oldest.map_or(MQCI_NONE, |(id, _)| *id);
        loop {
            if self.get(correl_id).await? {
                break;
            }
            let ending = self.control().ending();
            let goes_on = self.waiting.goes_on();
            if goes_on && !ending {
                continue;
            }
            self.waiting.over();
            match ending || self.ending {
                // What came after it is hardly answered any sooner.
                true => self.under_way.clear(),
                false => _ = self.under_way.pop_front(),
            }
            match goes_on {
                // It had time left: that it is to end is not its failure.
                true => self.idle(),
                false => {
                    let queue = self.from.name.text().into_owned();
                    self.control().fail(LabError::NoReply { queue });
                    self.now = self.carrier.now();
                }
            }
            return Ok(());
        }
        if self.share.workload().syncpoint.get {
            self.commit().await?;
        }
        self.waiting.over();
        let began = self.under_way.pop_front().map(|(_, began)| began);
        // Beyond the iterations that were asked for it is not counted.
        if !self.ending {
            self.iterated(began);
        }
        Ok(())
    }

    async fn answer(&mut self, at: Nanos) -> Result<(), LabError> {
        if !self.get(MQCI_NONE).await? {
            return self.nothing_there().await;
        }
        self.choose_reply_queue().await?;
        let workload = self.share.workload();
        let correl_id = match workload.by_correlation_id {
            true => self.got.msg_id,
            false => self.got.correl_id,
        };
        self.put(correl_id, workload.copy_request).await?;
        self.dealt_with(at).await
    }

    /// The reply to the message goes where that says.
    async fn choose_reply_queue(&mut self) -> Result<(), LabError> {
        let named = match self.got.reply_to.is_blank() {
            true => (self.otherwise, Name::BLANK),
            false => (self.got.reply_to, self.got.reply_to_q_mgr),
        };
        let known = |open: &&Queue| (open.name, open.queue_manager) == named;
        if let Some(open) = self.replies.iter().find(known) {
            self.to = *open;
            return Ok(());
        }
        let opens = !self.share.workload().put1 && self.replies.len() < OPEN_REPLIES;
        let options = if opens { MQOO_OUTPUT } else { 0 };
        // It is rare, and in a box it takes no room beside what is not.
        self.to = Box::pin(self.open(named, options)).await?;
        if opens {
            self.replies.push(self.to);
        }
        Ok(())
    }

    async fn receive(&mut self, at: Nanos) -> Result<(), LabError> {
        match self.get(MQCI_NONE).await? {
            true => self.dealt_with(at).await,
            false => self.nothing_there().await,
        }
    }

    async fn send(&mut self, at: Nanos) -> Result<(), LabError> {
        if self.unasked >= ASK_EVERY {
            self.ask_after_puts().await?;
        }
        self.put(MQCI_NONE, false).await?;
        self.dealt_with(at).await
    }

    /// A message has been put, or got and replied to.
    async fn dealt_with(&mut self, at: Nanos) -> Result<(), LabError> {
        let workload = self.share.workload();
        let (batch, asynchronous) = (workload.batch, workload.asynchronous);
        // The time of a responder is its requester's, and an asynchronous put takes none that an application could see.
        let timed = workload.module != Module::Responder && !asynchronous;
        if self.is_transacted() {
            self.pending += 1;
            if self.pending >= batch {
                self.commit().await?;
                self.uncommitted = 0;
            } else {
                self.uncommitted += 1;
            }
        }
        self.unasked += u64::from(asynchronous);
        self.iterated(timed.then_some(at));
        Ok(())
    }

    /// Whether units of work hold several iterations: a requester's and a PutGet's messages are committed each by itself.
    fn is_transacted(&self) -> bool {
        let workload = self.share.workload();
        let syncpoint = workload.syncpoint;
        match workload.module {
            Module::Sender => syncpoint.put,
            Module::Receiver => syncpoint.get,
            Module::Responder => syncpoint.put || syncpoint.get,
            _ => false,
        }
    }

    /// The queue has run empty.
    async fn nothing_there(&mut self) -> Result<(), LabError> {
        if self.pending > 0 {
            self.commit().await?;
        }
        self.uncommitted = 0;
        self.idle();
        Ok(())
    }

    /// Nothing is left under way, uncommitted or not asked after.
    async fn finish(&mut self) -> Result<(), LabError> {
        self.ending = true;
        while !self.under_way.is_empty() {
            self.await_answer().await?;
        }
        if self.pending > 0 {
            self.commit().await?;
        }
        self.uncommitted = 0;
        match self.unasked {
            0 => Ok(()),
            _ => self.ask_after_puts().await,
        }
    }

    /// What MQSTAT says of asynchronous puts.
    async fn ask_after_puts(&mut self) -> Result<(), LabError> {
        let asked = self.carrier.stat().await;
        let sts = asked.map_err(|fault| fault.of("MQSTAT", &self.queue_manager))?;
        let count = |number: i32| u64::try_from(number).unwrap_or(0);
        let done = count(sts.put_success_count) + count(sts.put_warning_count);
        let missing = std::mem::take(&mut self.unasked).saturating_sub(done);
        if missing == 0 {
            return Ok(());
        }
        self.share.count();
        let tally = &self.share.tally;
        tally.take_back(self.place, missing, self.open_iterations());
        let queue = self.to.name.text();
        Err(rejected(missing, Reason(sts.reason), &queue))
    }

    /// Iterations that have been counted and are not known to be done for good: they are not committed, or were put
    /// asynchronously and not asked after. Both are the last ones that were counted.
    fn open_iterations(&self) -> u64 {
        self.uncommitted.max(self.unasked)
    }

    /// Counts an iteration. It began then, if it is to be timed.
    fn iterated(&mut self, began: Option<Nanos>) {
        self.now = match began {
            Some(_) => self.control().now(),
            None => self.carrier.now(),
        };
        self.share.done.borrow_mut().push(Iteration {
            place: self.place,
            at: self.now,
            latency: began.map(|began| self.now.saturating_sub(began)),
            open: self.open_iterations(),
        });
        self.course.iterated();
    }

    /// Nothing was there to do.
    fn idle(&mut self) {
        self.share.count();
        self.settle();
        self.now = self.carrier.now();
    }

    /// It is known what is done for good. Everything it did has been counted.
    fn settle(&self) {
        let open = self.open_iterations();
        self.share.tally.settle(self.place, open);
    }

    fn control(&self) -> &Control {
        self.share.control()
    }

    async fn pause(&mut self, until: Option<Nanos>) -> Result<(), LabError> {
        let paused = self.carrier.pause(until).await;
        paused.map_err(|fault| fault.of("The connection", &self.queue_manager))
    }

    /// Puts the workload's message, or the one that was got last, and gives its MsgId.
    async fn put(&mut self, correl_id: CorrelId, again: bool) -> Result<CorrelId, LabError> {
        let put = Put {
            to: &self.to,
            correl_id,
            data: (!again).then_some(&*self.share.group.data),
        };
        let put = self.carrier.put(&put).await;
        let call = match self.to.handle {
            Some(_) => "MQPUT",
            None => "MQPUT1",
        };
        put.map_err(|fault| fault.of(call, &self.to.name.text()))
    }

    /// Whether a message comes; the buffer grows when it is longer.
    async fn get(&mut self, correl_id: CorrelId) -> Result<bool, LabError> {
        loop {
            let get = Get {
                from: self.from.handle.unwrap_or(Hobj::UNUSABLE),
                correl_id,
                wait_ms: self.waiting.milliseconds(),
                buffer: self.buffer,
            };
            let got = self.carrier.get(&get, &mut self.got).await;
            match got.map_err(|fault| fault.of("MQGET", &self.from.name.text()))? {
                Got::Message => return Ok(true),
                Got::Nothing => return Ok(false),
                Got::TooLong(length) => self.buffer = length,
            }
        }
    }

    async fn commit(&mut self) -> Result<(), LabError> {
        self.pending = 0;
        let committed = self.carrier.commit().await;
        committed.map_err(|fault| fault.of("MQCMIT", &self.queue_manager))
    }
}

#[cfg(test)]
mod tests;
