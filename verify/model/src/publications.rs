//! Subscriptions and publications: who must be given what.
//!
//! A publication is one put for each subscription that matches it, all of them in one unit of work: the application's,
//! or one of its own. So the rules of units of work say what may become of it, over crashes too.
//!
//! What is taken as law:
//! * A subscription that was there for as long as a call that publishes took has its copy, once. One that was made or
//!   ended meanwhile may have it, or not.
//! * A publication outside syncpoint comes to everybody for whom it is, or to nobody.
//! * A durable subscription that was reported made is there after every crash, and one that was reported ended, or could not be
//!   made, is not. Any other ends with the connection that made it.
//! * A publication that is delayed comes to who subscribes when its time is over: surely to one who has done so since before
//!   its call, and perhaps to any other who has meanwhile.
//! * Each copy expires when the publication does, one of a retained publication too, which nobody is given afterwards; what
//!   it has replaced does not come back.
//! * With a managed subscription goes its queue, and with the queue its messages.
//! * The retained publication of a topic is the last one that was published so. Who subscribes is given those that match,
//!   and never one that was replaced before. One that is not persistent does not survive a restart, and what it has
//!   replaced does not come back.

use std::collections::BTreeMap;

use crate::known::{Flight, Model, Phase, State, Uow, Verdict, broken, may_count};
use crate::{BACKED_OUT, Delivered, Op, Outcome, Put, QueueId, Rule, SessionId};

/// A subscription, as numbered by [`Model::add_subscription`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(pub usize);

/// What a subscription asks for, and where it goes.
#[derive(Clone, Debug)]
pub struct SubscriptionSpec {
    /// For messages to people.
    pub name: String,
    /// Its topic string.
    pub filter: String,
    /// In the character scheme; otherwise in the topic scheme.
    pub characters: bool,
    /// Survives its connection and restarts.
    pub durable: bool,
    /// A queue to which only this subscription gives messages.
    pub queue: QueueId,
    /// The queue goes with the subscription.
    pub managed: bool,
    /// Whatever is published comes as non-persistent.
    pub non_persistent: bool,
    /// Its queue may be full: then nobody is given what everybody must be given, and everybody else what need not.
    pub narrow: bool,
    /// MQSO_NEW_PUBLICATIONS_ONLY.
    pub new_only: bool,
}

/// A publication.
#[derive(Clone, Debug)]
pub struct Publication {
    /// Unique for ever, among messages too; carried in the payload.
    pub id: u64,
    /// Digest of the payload.
    pub hash: u64,
    /// Its topic string.
    pub topic: String,
    /// Whether it is persistent.
    pub persistent: bool,
    /// Its priority.
    pub priority: u8,
    /// In syncpoint.
    pub in_uow: bool,
    /// MQPMO_RETAIN.
    pub retain: bool,
    /// It fails if a durable subscription cannot be given it (PMSGDLV, NPMSGDLV).
    pub for_all: bool,
    /// Microseconds after the call before which nobody is given it.
    pub delay: Option<u64>,
    /// Microseconds of life after the call, of each copy and of what is retained. Not of one that is delayed.
    pub expiry: Option<u64>,
}

/// Whether a subscription is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Absent,
    Making,
    There,
    Ending,
    /// The call that made or ended it was not answered.
    Unknown,
}

#[derive(Clone, Debug)]
struct Subscription {
    spec: SubscriptionSpec,
    is: Is,
    /// Copies of retained publications that the call that makes it brings.
    brought: Vec<Brought>,
}

#[derive(Clone, Copy, Debug)]
struct Brought {
    publication: u64,
    copy: u64,
}

#[derive(Clone, Debug)]
struct Published {
    publication: Publication,
    /// Its application's, or its own.
    uow: usize,
    /// Their numbers among the messages.
    copies: Vec<u64>,
    /// When its call began, microseconds of the clock by which messages expire.
    time: u64,
    /// It is delayed, and may still be to come.
    waits: bool,
    /// Earliest and latest moment of expiry.
    expires: (u64, u64),
}

/// What may be the retained publication of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    /// `None`: there is none.
    publication: Option<u64>,
    /// Since when it has been so, if it has; `None`: its call, or its unit of work, has not ended.
    settled: Option<u64>,
}

/// Retained publications of a unit of work that has not ended.
#[derive(Clone, Debug, Default)]
struct Retaining {
    publications: Vec<u64>,
    /// When its commit began.
    since: u64,
}

/// What is known of subscriptions and publications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Publications {
    subscriptions: Vec<Subscription>,
    published: BTreeMap<u64, Published>,
    /// By publication and queue: the copy.
    copies: BTreeMap<(u64, QueueId), u64>,
    /// By topic: one of these is retained.
    retained: BTreeMap<String, Vec<Candidate>>,
    retaining: BTreeMap<usize, Retaining>,
}

/// Whether a subscription's topic string matches that of a publication, by trying everything.
fn matches(spec: &SubscriptionSpec, topic: &str) -> bool {
    if spec.characters {
        let filter: Vec<char> = spec.filter.chars().collect();
        let topic: Vec<char> = topic.chars().collect();
        return wild(&filter, &topic, &'*', &'?');
    }
    let filter: Vec<&str> = spec.filter.split('/').collect();
    let topic: Vec<&str> = topic.split('/').collect();
    wild(&filter, &topic, &"#", &"+")
}

/// `many` stands for any number, `one` for one.
fn wild<T: PartialEq>(filter: &[T], topic: &[T], many: &T, one: &T) -> bool {
    match filter {
        [] => topic.is_empty(),
        [first, behind @ ..] if first == many => {
            (0..=topic.len()).any(|taken| wild(behind, &topic[taken..], many, one))
        }
        [first, behind @ ..] => topic.split_first().is_some_and(|(level, others)| {
            (first == one || first == level) && wild(behind, others, many, one)
        }),
    }
}

/// Subscriptions.
impl Model {
    /// Adds a subscription that nobody has made yet.
    pub fn add_subscription(&mut self, spec: SubscriptionSpec) -> SubscriptionId {
        let all = &mut self.publications.subscriptions;
        all.push(Subscription {
            spec,
            is: Is::Absent,
            brought: Vec::new(),
        });
        SubscriptionId(all.len() - 1)
    }

    /// Somebody looked whether a subscription is there, with no call under way that makes or ends it.
    ///
    /// # Errors
    /// It must not be, or must be.
    pub fn subscription_found(&mut self, of: SubscriptionId, found: bool) -> Verdict {
        let Subscription { spec, is, .. } = &mut self.publications.subscriptions[of.0];
        let (managed, was) = (spec.managed.then_some(spec.queue), *is);
        *is = [Is::Absent, Is::There][usize::from(found)];
        match (was, found) {
            (Is::Absent, false) | (Is::There, true) => {}
            (Is::Absent, true) | (Is::There, false) => {
                let text = format!("{} was {was:?}, and there is one: {found}", spec.name);
                return broken(Rule::Subscriptions, text);
            }
            (_, true) => managed
                .into_iter()
                .for_each(|queue| self.not_deleted(queue)),
            (_, false) => managed.into_iter().for_each(|queue| self.emptied(queue)),
        }
        Ok(())
    }

    pub(crate) fn begin_subscribe(&mut self, of: SubscriptionId) {
        let subscription = &mut self.publications.subscriptions[of.0];
        assert_eq!(
            subscription.is,
            Is::Absent,
            "it is made when it is not there"
        );
        subscription.is = Is::Making;
        let spec = subscription.spec.clone();
        for id in self.publishing(&spec) {
            self.copy(id, of, false);
        }
        self.subscribed_in_time(of, &spec);
        if spec.new_only {
            return;
        }
        let retained = self.publications.retained.clone();
        for (_, candidates) in retained.iter().filter(|(topic, _)| matches(&spec, topic)) {
            let only = candidates.len() == 1;
            for candidate in candidates {
                if let Some(id) = candidate.publication {
                    self.bring(id, of, only && candidate.settled.is_some());
                }
            }
        }
    }

    pub(crate) fn end_subscribe(&mut self, of: SubscriptionId, outcome: Outcome) {
        let subscription = &mut self.publications.subscriptions[of.0];
        subscription.is = match outcome {
            Outcome::Done => Is::There,
            Outcome::Reason(_) => Is::Absent,
            _ => Is::Unknown,
        };
        for brought in std::mem::take(&mut subscription.brought) {
            let now = self.now;
            let m = self.message(brought.copy);
            m.put_done = Some(now);
            m.sure |= m.due && outcome == Outcome::Done;
            if m.state == State::Putting {
                self.set(brought.copy, State::Present);
            }
        }
    }

    pub(crate) fn begin_unsubscribe(&mut self, of: SubscriptionId) {
        let subscription = &mut self.publications.subscriptions[of.0];
        subscription.is = Is::Ending;
        let (spec, queue) = (subscription.spec.clone(), subscription.spec.queue);
        for id in self.publishing(&spec) {
            if let Some(copy) = self.publications.copies.get(&(id, queue)).copied() {
                self.message(copy).due = false;
            }
        }
        self.may_come_too_late(queue);
    }

    pub(crate) fn end_unsubscribe(&mut self, of: SubscriptionId, outcome: Outcome) {
        let subscription = &mut self.publications.subscriptions[of.0];
        subscription.is = match outcome {
            Outcome::Done => Is::Absent,
            Outcome::Reason(_) => Is::There,
            _ => Is::Unknown,
        };
        let (is, spec) = (subscription.is, &subscription.spec);
        if let Some(queue) = spec.managed.then_some(spec.queue) {
            match is {
                Is::Absent => self.emptied(queue),
                Is::Unknown => self.perhaps_emptied(queue, true),
                _ => {}
            }
        }
    }

    /// The queue manager has stopped, and no call is in flight any more.
    pub(crate) fn stop_publications(&mut self) {
        for at in 0..self.publications.subscriptions.len() {
            let Subscription { spec, is, .. } = &mut self.publications.subscriptions[at];
            if !spec.durable && *is != Is::Absent {
                *is = Is::Absent;
                let (managed, queue) = (spec.managed, spec.queue);
                match managed {
                    true => self.emptied(queue),
                    false => self.may_come_too_late(queue),
                }
            }
        }
        let mut in_doubt = BTreeMap::new();
        for (uow, retaining) in std::mem::take(&mut self.publications.retaining) {
            match (self.uows[uow].phase, self.uows[uow].committed) {
                (Phase::Open | Phase::BackingOut, _) => {
                    let undone = retaining.publications.into_iter();
                    undone.for_each(|id| self.not_retained(id));
                }
                // It may be committed at any time: branches are decided about after the restart.
                (Phase::Committing | Phase::InDoubt, None) => {
                    in_doubt.insert(uow, retaining);
                }
                _ => {}
            }
        }
        let published = &self.publications.published;
        for candidate in self.publications.retained.values_mut().flatten() {
            let persistent = |id: &u64| published[id].publication.persistent;
            candidate.publication = candidate.publication.filter(persistent);
            let uow = candidate.publication.map(|id| published[&id].uow);
            if uow.is_none_or(|uow| !in_doubt.contains_key(&uow)) {
                candidate.settled.get_or_insert(self.now);
            }
        }
        self.publications.retaining = in_doubt;
    }
}

/// Publications.
impl Model {
    /// A call that publishes begins, with a copy for everybody who may be there.
    pub(crate) fn begin_publish(&mut self, session: SessionId, publication: &Publication) {
        let id = publication.id;
        let uow = match publication.in_uow {
            true => self.uow_of(session),
            false => {
                self.uows.push(Uow::new(Phase::Committing));
                self.uows.len() - 1
            }
        };
        let published = Published {
            publication: publication.clone(),
            uow,
            copies: Vec::new(),
            time: self.time,
            waits: publication.delay.is_some(),
            expires: match publication.expiry {
                Some(life) => (self.time + life, u64::MAX),
                None => (u64::MAX, u64::MAX),
            },
        };
        let before = self.publications.published.insert(id, published);
        assert!(before.is_none(), "publication {id} is published twice");
        for at in 0..self.publications.subscriptions.len() {
            let Subscription { spec, is, .. } = &self.publications.subscriptions[at];
            if *is != Is::Absent && matches(spec, &publication.topic) {
                let due = *is == Is::There && (publication.for_all || !spec.narrow);
                self.copy(id, SubscriptionId(at), due);
            }
        }
        if publication.retain {
            let candidates = self.candidates(&publication.topic);
            candidates.push(Candidate {
                publication: Some(id),
                settled: None,
            });
            self.unsettle(&publication.topic);
            if publication.in_uow {
                let retaining = self.publications.retaining.entry(uow).or_default();
                retaining.publications.push(id);
            }
        }
    }

    pub(crate) fn end_publish(
        &mut self,
        flight: &Flight,
        publication: &Publication,
        outcome: Outcome,
    ) -> Verdict {
        let Published { uow, copies, .. } = self.publications.published[&publication.id].clone();
        let own = !publication.in_uow;
        let now = self.now;
        self.expires_at_latest(publication);
        for id in &copies {
            let m = self.message(*id);
            m.put_done = Some(now);
            m.sure |= m.due && (own || outcome == Outcome::Done);
        }
        match outcome {
            Outcome::Done if own => {
                self.settle(uow, true)?;
                self.apply(uow, true, true);
                self.is_retained(publication, flight.since);
            }
            Outcome::Done => {}
            Outcome::Reason(reason) => {
                self.not_retained(publication.id);
                self.does_not_wait(publication.id);
                // Nor does the commit of its unit of work make it so.
                if let Some(retaining) = self.publications.retaining.get_mut(&uow) {
                    retaining.publications.retain(|id| *id != publication.id);
                }
                if own {
                    self.settle(uow, false)?;
                    self.apply(uow, false, true);
                } else {
                    self.undo(publication, uow, &copies)?;
                    if reason == BACKED_OUT {
                        return self.backed_out(flight.session);
                    }
                }
            }
            _ if own => {
                self.uows[uow].ended = now;
                self.turn(uow, Phase::InDoubt);
            }
            _ => {}
        }
        Ok(())
    }

    /// A publication in a unit of work has failed: nobody can have seen it.
    fn undo(&mut self, publication: &Publication, uow: usize, copies: &[u64]) -> Verdict {
        for id in copies {
            let m = &self.messages[id];
            if m.sure || m.state != State::Pending(uow) && may_count(m.state) {
                let text = format!("publication {} was seen, and has failed", publication.id);
                return broken(Rule::Undone, text);
            }
            self.set(*id, State::Undone);
        }
        Ok(())
    }

    /// The copy of a publication that a queue has.
    pub(crate) fn copy_on(
        &self,
        queue: QueueId,
        got: Delivered,
    ) -> Result<Delivered, crate::Violation> {
        let Publications {
            published, copies, ..
        } = &self.publications;
        let Some(of) = published.get(&got.id) else {
            return Ok(got);
        };
        match copies.get(&(got.id, queue)) {
            Some(id) => Ok(Delivered { id: *id, ..got }),
            None => Err(crate::Violation {
                rule: Rule::WrongSubscriber,
                text: format!(
                    "publication {} on {} came to {}, for which it was not",
                    got.id,
                    of.publication.topic,
                    self.name(queue)
                ),
            }),
        }
    }

    /// Publications for this subscription of which the calls are in flight.
    fn publishing(&self, spec: &SubscriptionSpec) -> Vec<u64> {
        let all = self.flights.values().filter_map(|flight| match &flight.op {
            Op::Publish(publication) => Some(publication),
            _ => None,
        });
        all.filter(|publication| matches(spec, &publication.topic))
            .map(|publication| publication.id)
            .collect()
    }

    /// Adds a copy that comes with the call that publishes. `due`: if that succeeds, the copy is there.
    fn copy(&mut self, publication: u64, of: SubscriptionId, due: bool) {
        let uow = self.publications.published[&publication].uow;
        if let Some(id) = self.add_copy(publication, of, Some(uow), due) {
            self.uows[uow].members.push(id);
            let published = self.publications.published.get_mut(&publication);
            published.into_iter().for_each(|one| one.copies.push(id));
        }
    }

    /// Adds a copy of a retained publication that comes with the call that makes the subscription.
    fn bring(&mut self, publication: u64, of: SubscriptionId, due: bool) {
        if let Some(copy) = self.add_copy(publication, of, None, due) {
            let subscription = &mut self.publications.subscriptions[of.0];
            subscription.brought.push(Brought { publication, copy });
        }
    }

    /// `None`: the subscription has one already.
    fn add_copy(
        &mut self,
        publication: u64,
        of: SubscriptionId,
        uow: Option<usize>,
        due: bool,
    ) -> Option<u64> {
        let spec = &self.publications.subscriptions[of.0].spec;
        let (queue, non_persistent) = (spec.queue, spec.non_persistent);
        let key = (publication, queue);
        if self.publications.copies.contains_key(&key) {
            return None;
        }
        let id = self.messages.next_copy();
        let Published {
            publication: published,
            time,
            expires,
            ..
        } = &self.publications.published[&publication];
        let (time, expires) = (*time, *expires);
        let put = Put {
            queue,
            id,
            hash: published.hash,
            persistent: Some(published.persistent && !non_persistent),
            priority: Some(published.priority),
            in_uow: uow.is_some(),
            expiry: None,
            delay: published.delay,
            msg_id: 0,
            correl_id: 0,
        };
        let waits_persistent = published.persistent;
        let not_before = put.not_before(time);
        self.add_message(&put, uow);
        let m = self.message(id);
        (m.due, m.waits_persistent) = (due, waits_persistent);
        m.expires = expires;
        if m.waits {
            (m.not_before, m.to_come) = (not_before, not_before);
        }
        self.publications.copies.insert(key, id);
        Some(id)
    }
}

/// Publications that expire.
impl Model {
    /// Its call ends: whatever is copied of it is gone when that much time has passed.
    fn expires_at_latest(&mut self, publication: &Publication) {
        let Some(life) = publication.expiry else {
            return;
        };
        let latest = self.time + life;
        let published = self.publications.published.get_mut(&publication.id);
        published.into_iter().for_each(|one| one.expires.1 = latest);
        let all = (publication.id, QueueId(0))..=(publication.id, QueueId(usize::MAX));
        let copies: Vec<u64> = self
            .publications
            .copies
            .range(all)
            .map(|(_, id)| *id)
            .collect();
        for id in copies {
            self.message(id).expires.1 = latest;
        }
    }

    /// The clock is set back: what had expired by this time may be gone, or there again.
    pub(crate) fn publications_may_have_expired(&mut self, before: u64) {
        let all = self.publications.published.values_mut();
        let expired = all.filter(|one| one.expires.0 <= before);
        expired.for_each(|one| one.expires.0 = 0);
    }
}

/// Publications that are delayed.
impl Model {
    /// A subscription that is being made may be given what is delayed, if that has not come by then.
    fn subscribed_in_time(&mut self, of: SubscriptionId, spec: &SubscriptionSpec) {
        let all = self.publications.published.iter();
        let waiting: Vec<(u64, usize)> = all
            .filter(|(_, one)| one.waits && matches(spec, &one.publication.topic))
            .map(|(id, one)| (*id, one.uow))
            .collect();
        for (id, uow) in waiting {
            // One that nobody saw was for a subscription that has ended since.
            let copy = self.publications.copies.get(&(id, spec.queue));
            if let Some(copy) = copy.copied() {
                let m = &self.messages[&copy];
                if may_count(m.state) || !m.waits {
                    continue;
                }
                self.publications.copies.remove(&(id, spec.queue));
            }
            match (self.uows[uow].phase, self.uows[uow].committed) {
                (Phase::Ended, Some(true)) => {
                    if let Some(copy) = self.add_copy(id, of, None, false) {
                        self.set(copy, State::Present);
                    }
                }
                (Phase::Ended, _) => self.does_not_wait(id),
                _ => self.copy(id, of, false),
            }
        }
    }

    /// The subscription for a queue ends: what is delayed may come after it.
    fn may_come_too_late(&mut self, queue: QueueId) {
        for id in self.queues[queue.0].live.clone() {
            let m = self.message(id);
            if m.waits {
                (m.due, m.sure) = (false, false);
            }
        }
    }

    fn does_not_wait(&mut self, publication: u64) {
        let one = self.publications.published.get_mut(&publication);
        one.into_iter().for_each(|one| one.waits = false);
    }

    /// When publications are due that are delayed.
    pub(crate) fn publications_to_come(&self) -> impl Iterator<Item = u64> {
        let waiting = self.publications.published.values().filter(|one| one.waits);
        waiting.map(|one| one.time + one.publication.delay.unwrap_or(0))
    }

    /// Nothing is delayed any more.
    pub(crate) fn publications_over(&mut self) {
        let all = self.publications.published.values_mut();
        all.for_each(|one| one.waits = false);
    }
}

/// Retained publications.
impl Model {
    fn candidates(&mut self, topic: &str) -> &mut Vec<Candidate> {
        let all = self.publications.retained.entry(topic.to_owned());
        all.or_insert_with(|| {
            vec![Candidate {
                publication: None,
                settled: Some(0),
            }]
        })
    }

    /// It has replaced what was retained before the call began that made it so.
    fn is_retained(&mut self, publication: &Publication, since: u64) {
        if !publication.retain {
            return;
        }
        let now = self.now;
        let of = Some(publication.id);
        let candidates = self.candidates(&publication.topic);
        for candidate in candidates.iter_mut().filter(|one| one.publication == of) {
            candidate.settled = Some(now);
        }
        candidates.retain(|one| one.publication == of || one.settled.is_none_or(|at| at > since));
    }

    fn not_retained(&mut self, publication: u64) {
        for candidates in self.publications.retained.values_mut() {
            candidates.retain(|one| one.publication != Some(publication));
        }
    }

    /// What a topic retains may change while subscriptions are made: what they bring of it is not sure.
    fn unsettle(&mut self, topic: &str) {
        let making = self.publications.subscriptions.iter();
        let brought: Vec<Brought> = making.flat_map(|one| one.brought.iter().copied()).collect();
        for Brought { publication, copy } in brought {
            if self.publications.published[&publication].publication.topic == topic {
                self.message(copy).due = false;
            }
        }
    }

    /// A commit begins.
    pub(crate) fn begin_retaining(&mut self, session: SessionId) {
        let now = self.now;
        let uow = self.sessions.get(&session);
        let retaining = uow.and_then(|uow| self.publications.retaining.get_mut(uow));
        let Some(retaining) = retaining else { return };
        retaining.since = now;
        for id in retaining.publications.clone() {
            let topic = self.publications.published[&id].publication.topic.clone();
            self.unsettle(&topic);
        }
    }

    /// Somebody has seen how a unit of work ended whose end nobody was told: from now on at the latest.
    pub(crate) fn retaining_seen(&mut self, uow: usize, committed: bool) {
        let Some(retaining) = self.publications.retaining.remove(&uow) else {
            return;
        };
        let now = self.now;
        for id in retaining.publications {
            if !committed {
                self.not_retained(id);
                continue;
            }
            let candidates = self.publications.retained.values_mut().flatten();
            for candidate in candidates.filter(|one| one.publication == Some(id)) {
                candidate.settled.get_or_insert(now);
            }
        }
    }

    /// What was in doubt is so no longer, whatever became of it.
    pub(crate) fn retaining_closed(&mut self) {
        for uow in self
            .publications
            .retaining
            .keys()
            .copied()
            .collect::<Vec<_>>()
        {
            self.retaining_seen(uow, true);
        }
    }

    /// A unit of work has ended so.
    pub(crate) fn end_retaining(&mut self, uow: usize, committed: bool) {
        let retaining = self.publications.retaining.remove(&uow).unwrap_or_default();
        let mut before: Vec<u64> = Vec::new();
        for id in retaining.publications {
            if !committed {
                self.not_retained(id);
                continue;
            }
            let publication = self.publications.published[&id].publication.clone();
            let of_topic = |other: &u64| {
                self.publications.published[other].publication.topic == publication.topic
            };
            let replaced: Vec<u64> = before.iter().copied().filter(of_topic).collect();
            replaced
                .into_iter()
                .for_each(|other| self.not_retained(other));
            self.is_retained(&publication, retaining.since);
            before.push(id);
        }
    }
}
