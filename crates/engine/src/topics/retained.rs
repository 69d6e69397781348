//! Retained publications: one of each topic string, for those who subscribe later or ask for it.
//!
//! Invariants:
//! * A retained publication is a message on SYSTEM.RETAINED.PUB.QUEUE, put and logged with the copies of the publication
//!   ([decision 021](../../../../docs/decisions/021-retained-publications-are-messages.md)): in a unit of work it is
//!   retained from the commit on, and never after a backout.
//! * Whoever has been told of a publication that is retained does not find what it superseded, over crashes too.
//! * What superseded messages leave to the log is appended under the queue's lock, with their end in memory: a checkpoint
//!   finds both, or the record lies behind its beginning.
//! * Nobody but the queue manager gets from that queue or puts on it.

use std::collections::HashMap;
use std::sync::Arc;

use posthaste_env::sync::atomic::Ordering;
use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, Lsn};
use posthaste_store::StoreError;
use posthaste_topic::{Filter, Scheme};

use super::NOT_APPENDED;
use super::publication::restored;
use crate::catalogue::{ChangeError, RETAINED_QUEUE};
use crate::expiry::note_expired;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::plant::{Bug, planted};
use crate::queue::index::SlotId;
use crate::queue::reading::Readings;
use crate::queue::retained::Retaining;
use crate::queue::uncommitted::Uncommitted;
use crate::queue::{Expired, Queue, QueueState};
use crate::queue_manager::QueueManager;
use crate::record;
use crate::signal::either;
use crate::unit::Op;
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;

/// What a message on the queue of retained publications is to be retained for; none: it is no such publication.
fn retaining(message: &Message) -> Option<Retaining> {
    let (topic, _) = restored(&message.md, &message.data)?;
    Some(Retaining {
        topic: topic.into(),
        seen: 0,
        underway: None,
    })
}

/// Reads the message in a slot, on this thread.
fn read(queue: &Queue, slot: SlotId) -> Result<Arc<Message>, StoreError> {
    let mut readings = Readings::default();
    loop {
        let found = queue.lock().message(slot, &readings);
        match found {
            Ok(message) => return Ok(message),
            Err(unread) => queue.read(unread, &mut readings)?,
        }
    }
}

impl Inner {
    /// The queue of retained publications, if it is there.
    pub(crate) fn retained_queue(&self) -> Option<Arc<Queue>> {
        let queue = self.catalogue.local_queue(RETAINED_QUEUE)?;
        // One that has just been defined knows of none.
        queue.lock().keep_retained();
        Some(queue)
    }

    /// Finds out what is retained, before anybody connects. `order`: by number, where the log has what decides about a message;
    /// those that the image has come before them.
    pub(crate) fn recover_retained(&self, order: &HashMap<u64, u64>) {
        let Some(queue) = self.retained_queue() else {
            return;
        };
        if planted(Bug::ForgetRetained) {
            return;
        }
        let found = self.find_retained(&queue, order);
        let found = found.and_then(|()| self.find_uncommitted(&queue));
        if let Err(error) = found {
            self.read_failed(&queue, &error);
        }
        let mut state = queue.lock();
        if state.superseded().len() > 0 {
            mark(Mark::SupersededAtRestart);
        }
        self.discard_superseded(&queue, &mut state);
    }

    fn find_retained(&self, queue: &Queue, order: &HashMap<u64, u64>) -> Result<(), StoreError> {
        let slots: Vec<SlotId> = {
            let state = queue.lock();
            if state.usable().is_err() {
                return Ok(());
            }
            let listed = |slot: &SlotId| state.index.slot(*slot).listed();
            state.index.all().filter(listed).collect()
        };
        for slot in slots {
            let message = read(queue, slot)?;
            if let Some(of) = retaining(&message) {
                let at = order.get(&message.seq).copied().unwrap_or_default();
                let mut state = queue.lock();
                state.announce_retained(message.seq, of, Some((Lsn(at), 0)));
                state.retained_arrived(slot);
            }
        }
        Ok(())
    }

    /// What units of work in doubt would have retained.
    fn find_uncommitted(&self, queue: &Arc<Queue>) -> Result<(), StoreError> {
        for (_, unit) in self.units.all() {
            for op in &unit.lock().ops {
                let put = match op {
                    Op::Put { queue: on, put } if Arc::ptr_eq(on, queue) => put,
                    _ => continue,
                };
                let message = match put {
                    Uncommitted::InMemory { message, .. } => Some(message.clone()),
                    Uncommitted::Filed(slot) => queue.read_uncommitted(slot)?,
                };
                if let Some(message) = message
                    && let Some(of) = retaining(&message)
                {
                    queue.lock().announce_retained(message.seq, of, None);
                }
            }
        }
        Ok(())
    }

    /// Ends what has been superseded on a queue. Not forced: what a crash brings back is superseded still, unless what
    /// supersedes it is not persistent ([`Inner::superseded_since`]). Where the log has no room it stays for another try.
    /// Whether all of it has ended.
    pub(crate) fn discard_superseded(&self, queue: &Queue, state: &mut QueueState) -> bool {
        if state.superseded().len() == 0 {
            return true;
        }
        if state.take_supersedes() {
            self.topics.supersessions.fetch_add(1, Ordering::AcqRel);
        }
        let all = state.discard_superseded(|seq| {
            let record = record::discarded(queue.id, seq);
            self.log.append(Class::Essential, &[&record]).is_ok()
        });
        if state.owes_end() {
            let upto = match all {
                true => self.log.appended().0,
                false => NOT_APPENDED,
            };
            self.topics.superseded.store(upto, Ordering::Release);
            if all {
                state.end_is_owed();
            }
        }
        all
    }

    /// Whether something persistent was superseded by what is not, and the log is not forced that far.
    pub(crate) fn owes_superseded(&self) -> bool {
        self.topics.superseded.load(Ordering::Acquire) > self.log.forced().0
    }

    /// How often something was superseded, to be held against [`Inner::superseded_since`] when an effect has happened.
    pub(crate) fn superseded_before(&self) -> u64 {
        self.topics.supersessions.load(Ordering::Acquire)
    }

    /// Forces the ends of what was superseded, if any are owed, and if something was superseded since then: whoever did that
    /// is told when they are durable. Earlier debts count: of what supersedes something that is not persistent, and that
    /// has itself superseded something persistent, only the end of the latter is in the log.
    /// The effect has happened and is not taken back: if the log has no room for long the caller is told that it has happened
    /// all the same, and a crash may bring back what was superseded.
    ///
    /// # Errors
    /// 2009 the log has stopped, or the queue manager ends before the log has room: nobody knows what the next start finds.
    pub(crate) async fn superseded_since(&self, before: u64) -> Result<(), Reason> {
        let mut log_space_wait = LogSpaceWait::new();
        if self.superseded_before() == before {
            return Ok(());
        }
        while self.owes_superseded() {
            let upto = self.topics.superseded.load(Ordering::Acquire);
            if upto == NOT_APPENDED {
                match log_space_wait.wait_for_room(self).await {
                    Ok(()) => {}
                    Err(Reason::RESOURCE_PROBLEM) => return Ok(()),
                    Err(_) => return Err(Reason::CONNECTION_BROKEN),
                }
                self.discard_superseded_again();
                continue;
            }
            if let Err(error) = self.log.force(Lsn(upto)).await {
                self.log_failed(&error);
                return Err(Reason::CONNECTION_BROKEN);
            }
        }
        Ok(())
    }

    /// Tries again to end what the log had no room for.
    pub(crate) fn discard_superseded_again(&self) {
        if let Some(queue) = self.catalogue.local_queue(RETAINED_QUEUE) {
            self.discard_superseded(&queue, &mut queue.lock());
        }
    }

    /// Retained publications have expired, and are off their queue; when they were taken off, the log had the ends of all
    /// that had been superseded.
    pub(crate) fn retained_expired(&self, queue: &Queue, messages: &[Expired]) {
        for expired in messages {
            if expired.message.persistent() {
                note_expired(self, queue, expired.message.seq);
            }
        }
    }

    /// Reads what is retained for a topic string; none: nothing is, or it has expired, or it came to the subscription with
    /// this number when it was published.
    ///
    /// # Errors
    /// 2525 it cannot be read.
    pub(crate) async fn read_retained(
        &self,
        queue: &Queue,
        topic: &str,
        new: Option<u64>,
    ) -> Result<Option<Arc<Message>>, Reason> {
        let mut readings = Readings::default();
        loop {
            let found = {
                let state = queue.lock();
                match state.retained_on(topic) {
                    Some((slot, _, seen)) if new.is_none_or(|new| seen <= new) => {
                        state.message(slot, &readings)
                    }
                    Some(_) => {
                        mark(Mark::RetainedLeftOut);
                        return Ok(None);
                    }
                    None => return Ok(None),
                }
            };
            match found {
                Ok(message)
                    if message.expired(self.clock.now()) && !planted(Bug::OutliveRetained) =>
                {
                    mark(Mark::RetainedExpired);
                    return Ok(None);
                }
                Ok(message) => return Ok(Some(message)),
                Err(unread) => {
                    let done = queue.have_read(unread, &mut readings).await;
                    done.map_err(|error| {
                        self.read_failed(queue, &error);
                        Reason::RETAINED_MSG_Q_ERROR
                    })?;
                }
            }
        }
    }

    /// The topic strings with retained publications that match, if their queue can be used.
    ///
    /// # Errors
    /// 2525 it is not there, damaged, or gets are inhibited.
    pub(crate) fn find_matching(
        &self,
        filter: &Filter,
    ) -> Result<(Arc<Queue>, Vec<Arc<str>>), Reason> {
        let queue = self.retained_queue();
        let queue = queue.ok_or(Reason::RETAINED_MSG_Q_ERROR)?;
        let topics = {
            let state = queue.lock();
            let gettable = state.gettable(None);
            gettable.map_err(|_| Reason::RETAINED_MSG_Q_ERROR)?;
            state.retained_matching(filter)
        };
        Ok((queue, topics))
    }

    /// Waits until nothing is under way that will be retained and has not looked at the subscription with this number.
    ///
    /// # Errors
    /// The queue manager has ended.
    pub(crate) async fn retained_before(&self, number: u64) -> Result<(), Reason> {
        let underway = &self.topics.underway;
        loop {
            let (ended, changed) = (underway.ended.listen(), self.lifecycle.changed.listen());
            self.lifecycle.running()?;
            if !underway.before(number) {
                return Ok(());
            }
            either(ended, changed).await;
        }
    }

    /// The topic strings that have a retained publication, for whoever asks for all of them: not those whose has expired.
    pub(crate) fn all_retained(&self) -> Vec<Arc<str>> {
        let queue = self.catalogue.local_queue(RETAINED_QUEUE);
        queue.map_or_else(Vec::new, |queue| {
            queue.lock().all_retained(self.clock.now())
        })
    }

    /// Appends the ends of the retained publications that match, of as many as the log has room for. What is returned with
    /// them keeps the log from being cut before they are done.
    fn append_clear<'a>(
        self: &'a Arc<Self>,
        queue: &Arc<Queue>,
        filter: &Filter,
    ) -> Result<(Pending<'a>, usize, Option<ChangeError>), ChangeError> {
        let mut state = queue.lock();
        state.usable().map_err(ChangeError::Failed)?;
        if !self.discard_superseded(queue, &mut state) {
            return Err(ChangeError::LogFull);
        }
        let pin = self.units.hold(&self.log, 0);
        let (mut messages, mut end, mut left) = (Vec::new(), None, None);
        for topic in state.retained_matching(filter) {
            let Some((slot, seq, _)) = state.retained_on(&topic) else {
                continue;
            };
            if state.index.slot(slot).persistent() {
                let record = record::discarded(queue.id, seq);
                match self.log.append(Class::Essential, &[&record]) {
                    Ok(appended) => end = Some(appended.end),
                    Err(error) => {
                        left = Some(error.into());
                        break;
                    }
                }
            }
            messages.push((slot, seq));
        }
        let count = messages.len();
        let end: Lsn = end.unwrap_or_else(|| self.log.appended());
        let effect = Some(Effect::Discarded {
            queue: queue.clone(),
            messages,
            pin,
        });
        let pending = Pending {
            qm: self,
            end,
            effect,
        };
        Ok((pending, count, left))
    }
}

/// Where the topic strings begin that [`QueueManager::clear_retained`] clears: what stands before the first wildcard. Who may clear that may
/// clear all of them, those too that come meanwhile, for what is granted at a topic holds below it.
pub fn branch_cleared(topics: &str) -> String {
    match Filter::new(topics, Scheme::Topic) {
        Ok(filter) => filter.branch().to_owned(),
        // Nothing is.
        Err(_) => topics.to_owned(),
    }
}

impl QueueManager {
    /// Discards the retained publications of every topic string that matches (CLEAR TOPICSTR); durable when it returns.
    /// In `topics` a level `+` stands for one level, `#` for any number. How many there were.
    ///
    /// # Errors
    /// `Failed` with 2425 for a malformed topic string, with 2101 when their queue is damaged; why the log cannot say it,
    /// and then some may have been discarded.
    pub async fn clear_retained(&self, topics: &str) -> Result<usize, ChangeError> {
        let inner = self.inner();
        let filter = Filter::new(topics, Scheme::Topic);
        let filter = filter.map_err(|_| ChangeError::Failed(Reason::TOPIC_STRING_ERROR))?;
        let mut log_space_wait = LogSpaceWait::new();
        let mut cleared = 0;
        loop {
            inner.lifecycle.running().map_err(ChangeError::NotRunning)?;
            let Some(queue) = inner.retained_queue() else {
                return Ok(cleared);
            };
            let left = match inner.append_clear(&queue, &filter) {
                Ok((pending, count, left)) => {
                    let done = pending.done().await;
                    done.map_err(|_| ChangeError::NotForced)?;
                    cleared += count;
                    left
                }
                Err(error) => Some(error),
            };
            match left {
                None => return Ok(cleared),
                Some(ChangeError::LogFull) => {
                    let waited = log_space_wait.wait_for_room(inner).await;
                    waited.map_err(ChangeError::Failed)?;
                }
                Some(error) => return Err(error),
            }
        }
    }
}
