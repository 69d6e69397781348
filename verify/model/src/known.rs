//! What is known: messages, units of work, calls in flight, and how events move them.
//!
//! Time is the number of the event (`now`); a call that is in flight from `since` to `now` took effect at
//! some moment between. Facts about a message that a check needs for a whole such stretch are kept as the
//! event since when they hold without doubt (`available_since`, `counted_since`) or until when they may
//! have held (`available_until`, `counted_until`). Real time (microseconds) matters for expiry only.

use std::collections::{BTreeMap, BTreeSet};

use crate::lists::Lists;
use crate::messages::Messages;
use crate::publications::Publications;
use crate::{
    Get, Harden, How, Match, Op, OpId, Outcome, Put, QueueId, QueueSpec, Rule, SessionId, Violation,
};

/// Messages that may be gone and still in the lists.
const MOST_GONE: u32 = 32;

pub(crate) type Verdict = Result<(), Violation>;

/// Where a message is, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Its put, outside syncpoint, is in flight.
    Putting,
    /// Put in this unit of work, which has not ended as far as is known.
    Pending(usize),
    /// On the queue; with `sure` false: or it never was.
    Present,
    /// Got in this unit of work, which has not ended as far as is known.
    Held(usize),
    /// The put failed or was backed out.
    Undone,
    /// Destroyed by a get, or known to have been before an audit.
    Taken,
    /// Non-persistent, or expired, and gone.
    Lost,
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) put: Put,
    pub(crate) persistent: bool,
    pub(crate) priority: u8,
    pub(crate) state: State,
    /// It is certain that it was put: the put returned, or someone has seen the message.
    pub(crate) sure: bool,
    pub(crate) put_at: u64,
    pub(crate) put_done: Option<u64>,
    pub(crate) uow: Option<usize>,
    /// From here on it was visible if it ever was.
    pub(crate) settled: Option<u64>,
    pub(crate) available_since: Option<u64>,
    pub(crate) available_until: u64,
    pub(crate) counted_since: Option<u64>,
    pub(crate) counted_until: u64,
    /// Earliest and latest moment of expiry.
    pub(crate) expires: (u64, u64),
    pub(crate) backouts: u32,
    pub(crate) backouts_at: u64,
    pub(crate) deliveries: u32,
    /// Was moved by a unit of work whose commit was not answered and of which evidence showed the end.
    pub(crate) by_evidence: bool,
    /// It was cleared, and nobody was given it since.
    pub(crate) cleared: bool,
    /// Once its call has succeeded, it is certain that it was put. Not so for who may have subscribed too late.
    pub(crate) due: bool,
    /// Nobody is given it before; 0: at once, or the clock was set back when it may have come.
    pub(crate) not_before: u64,
    /// When it was to come, as its put said.
    pub(crate) to_come: u64,
    /// It was put with a delay, and nobody has seen it since, so nobody knows whether it has come.
    pub(crate) waits: bool,
    /// While it waits it is persistent: it may come to who wants it otherwise.
    pub(crate) waits_persistent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    Committing,
    BackingOut,
    /// The answer to the commit will never come.
    InDoubt,
    Ended,
}

#[derive(Clone, Debug)]
pub(crate) struct Uow {
    pub(crate) phase: Phase,
    /// Committed or not, as soon as anyone has seen it.
    pub(crate) committed: Option<bool>,
    /// When its session stopped waiting for the end.
    pub(crate) ended: u64,
    pub(crate) members: Vec<u64>,
    /// Gets in it whose outcome is unknown.
    pub(crate) tickets: Vec<Ticket>,
}

impl Uow {
    pub(crate) fn new(phase: Phase) -> Uow {
        Uow {
            phase,
            committed: None,
            ended: 0,
            members: Vec::new(),
            tickets: Vec::new(),
        }
    }
}

/// A get that may have destroyed one message without telling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    pub(crate) queue: QueueId,
    pub(crate) want: Match,
    pub(crate) at: u64,
    /// A persistent one would be in a unit of work.
    pub(crate) only_non_persistent: bool,
}

impl Ticket {
    pub(crate) fn of(get: &Get, at: u64) -> Ticket {
        Ticket {
            queue: get.queue,
            want: get.want,
            at,
            only_non_persistent: get.how == How::SyncpointIfPersistent,
        }
    }
}

/// Values an attribute may have now: `[false, true]`.
pub(crate) type Maybe = [bool; 2];

/// A clear or delete that was cut off.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    pub(crate) deleting: bool,
    /// Persistent messages that were there for sure before: it has taken all of them or none.
    pub(crate) taken: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) spec: QueueSpec,
    pub(crate) put_inhibited: Maybe,
    pub(crate) get_inhibited: Maybe,
    /// When the last call that sets them ended.
    pub(crate) inhibited_at: u64,
    /// Gets in syncpoint that may have ended in a backout nobody saw.
    pub(crate) unseen_backouts: u32,
    /// Messages that may matter to a check, in the order of their puts.
    pub(crate) live: Vec<u64>,
    /// Clears and deletes that were cut off, in their order.
    pub(crate) doubts: Vec<Doubt>,
    /// Something has happened to its file.
    pub(crate) struck: bool,
    /// It was found damaged: nobody knows what is on it.
    pub(crate) unknown: bool,
}

/// The file where delayed messages wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    /// Something has happened to it.
    pub(crate) struck: bool,
    /// It was found damaged: nobody knows what of it will come.
    pub(crate) unknown: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) session: SessionId,
    pub(crate) op: Op,
    pub(crate) since: u64,
    pub(crate) time: u64,
    pub(crate) put_inhibited: Maybe,
    pub(crate) get_inhibited: Maybe,
    /// Of a list: whether its queues refuse puts, in their order.
    pub(crate) listed: Vec<Maybe>,
}

/// The oracle: fed with a history, it says at which event the history became illegal.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub(crate) now: u64,
    pub(crate) time: u64,
    pub(crate) down: bool,
    pub(crate) restarted: u64,
    pub(crate) system_backouts: bool,
    /// Sessions whose units of work must not be backed out all the same.
    pub(crate) spared: BTreeSet<SessionId>,
    /// Sessions whose units of work lack a message that their applications believe to be in them.
    pub(crate) doomed: BTreeSet<SessionId>,
    pub(crate) queues: Vec<Queue>,
    pub(crate) messages: Messages,
    pub(crate) uows: Vec<Uow>,
    pub(crate) sessions: BTreeMap<SessionId, usize>,
    pub(crate) flights: BTreeMap<OpId, Flight>,
    pub(crate) tickets: Vec<Ticket>,
    /// Units of work that have tickets.
    pub(crate) uncertain: Vec<usize>,
    pub(crate) publications: Publications,
    pub(crate) waiting: Waiting,
    pub(crate) lists: Lists,
    /// Messages that have gone since the lists were last looked through.
    gone: u32,
}

pub(crate) fn broken(rule: Rule, text: String) -> Verdict {
    Err(Violation { rule, text })
}

pub(crate) fn union(into: &mut Maybe, more: Maybe) {
    *into = [into[0] || more[0], into[1] || more[1]];
}

pub(crate) fn matches(want: Match, message: &Message) -> bool {
    let put = &message.put;
    want.msg_id.is_none_or(|id| id == put.msg_id)
        && want.correl_id.is_none_or(|id| id == put.correl_id)
        && want
            .least_priority
            .is_none_or(|least| least <= message.priority)
}

pub(crate) fn target(op: &Op) -> Option<QueueId> {
    match op {
        Op::Put(put) => Some(put.queue),
        Op::Get(get) => Some(get.queue),
        Op::Depth(queue) | Op::Inhibit(queue, ..) | Op::Clear(queue) | Op::Delete(queue, _) => {
            Some(*queue)
        }
        Op::Commit | Op::Backout => None,
        Op::PutList(_) | Op::Publish(_) | Op::Subscribe(_) | Op::Unsubscribe(_) => None,
    }
}

pub(crate) fn destructive(op: &Op) -> Option<&Get> {
    match op {
        Op::Get(get) if !matches!(get.how, How::BrowseFirst | How::BrowseNext) => Some(get),
        _ => None,
    }
}

impl Model {
    pub(crate) fn tick(&mut self, time: u64) {
        self.now += 1;
        self.time = self.time.max(time);
    }

    pub(crate) fn name(&self, queue: QueueId) -> &str {
        &self.queues[queue.0].spec.name
    }

    /// Drops from the lists what no check can ask for any more. Not each time: the lists may be long.
    pub(crate) fn forget(&mut self) {
        if self.gone < MOST_GONE {
            return;
        }
        self.gone = 0;
        let oldest = self
            .flights
            .values()
            .map(|f| f.since)
            .min()
            .unwrap_or(self.now);
        for queue in &mut self.queues {
            queue.live.retain(|id| {
                let m = &self.messages[id];
                let gone = matches!(m.state, State::Undone | State::Taken | State::Lost);
                !gone || m.counted_until >= oldest
            });
        }
    }

    pub(crate) fn message(&mut self, id: u64) -> &mut Message {
        let message = self.messages.get_mut(id);
        message.unwrap_or_else(|| panic!("message {id} was never put"))
    }

    pub(crate) fn uow_of(&mut self, session: SessionId) -> usize {
        let next = self.uows.len();
        let number = *self.sessions.entry(session).or_insert(next);
        if number == next {
            self.uows.push(Uow::new(Phase::Open));
        }
        number
    }

    pub(crate) fn enter(&mut self, session: SessionId, phase: Phase) {
        if let Some(number) = self.sessions.get(&session).copied() {
            self.turn(number, phase);
        }
    }

    /// Moves a unit of work on; what that leaves of the certainty about its puts is worked out anew.
    pub(crate) fn turn(&mut self, number: usize, phase: Phase) {
        self.uows[number].phase = phase;
        for id in self.uows[number].members.clone() {
            let state = self.messages[&id].state;
            if state == State::Pending(number) {
                self.set(id, state);
            }
        }
    }

    /// Someone has seen how the unit of work ended.
    pub(crate) fn settle(&mut self, number: usize, committed: bool) -> Verdict {
        let uow = &mut self.uows[number];
        if uow.committed.is_some_and(|before| before != committed) {
            let text = format!(
                "messages {:?} are both committed and backed out",
                uow.members
            );
            return broken(Rule::HalfUnitOfWork, text);
        }
        uow.committed = Some(committed);
        // Without a restart in between, the rest of it may still be on its way.
        if uow.phase == Phase::InDoubt && uow.ended < self.restarted {
            self.apply(number, committed, false);
            self.retaining_seen(number, committed);
        }
        Ok(())
    }

    /// Moves the messages of a unit of work that has ended. `answered`: without a restart in between.
    pub(crate) fn apply(&mut self, number: usize, committed: bool, answered: bool) {
        let by_evidence = self.uows[number].phase == Phase::InDoubt;
        self.uows[number].phase = Phase::Ended;
        let uow = self.uows[number].clone();
        for id in uow.members {
            let state = self.messages[&id].state;
            if state == State::Pending(number) {
                self.message(id).by_evidence = by_evidence;
                let end = [State::Undone, State::Present][usize::from(committed)];
                self.set(id, end);
            } else if state == State::Held(number) && committed {
                self.message(id).by_evidence = by_evidence;
                self.set(id, State::Taken);
            } else if state == State::Held(number) {
                self.message(id).by_evidence = by_evidence;
                self.come_back(id, answered);
            }
        }
        for ticket in uow.tickets {
            if committed {
                self.tickets.push(ticket);
            } else {
                self.shake(ticket.queue);
            }
        }
    }

    /// A message got in a unit of work is on the queue again.
    pub(crate) fn come_back(&mut self, id: u64, answered: bool) {
        let m = &self.messages[&id];
        let harden = self.queues[m.put.queue.0].spec.harden;
        let counted = answered || m.persistent && harden == Harden::Gets;
        let now = self.now;
        let m = self.message(id);
        m.backouts += u32::from(counted);
        m.backouts_at = now;
        self.set(id, State::Present);
    }

    /// The same, if that did not happen while its unit of work was settled.
    pub(crate) fn come_back_late(&mut self, id: u64) {
        if matches!(self.messages[&id].state, State::Held(_)) {
            self.come_back(id, false);
        }
    }

    /// Puts a message into a state and keeps the dates.
    pub(crate) fn set(&mut self, id: u64, state: State) {
        let now = self.now;
        // What turns out undone never was visible.
        let visible = state != State::Undone && self.may_be_available(id);
        let stays = match state {
            State::Pending(uow) => {
                let phase = self.uows[uow].phase;
                matches!(phase, Phase::Open | Phase::Committing) && !self.system_backouts
            }
            _ => false,
        };
        let m = self.message(id);
        if visible {
            m.available_until = now;
        }
        if may_count(m.state) {
            m.counted_until = now;
        }
        m.state = state;
        self.gone += u32::from(!may_count(state));
        let m = self.message(id);
        let present = state == State::Present && m.sure && !m.waits;
        if present {
            m.settled.get_or_insert(now);
        }
        let counted = present || m.sure && stays && !m.waits;
        m.available_since = present.then(|| m.available_since.unwrap_or(now));
        m.counted_since = counted.then(|| m.counted_since.unwrap_or(now));
    }

    pub(crate) fn may_be_available(&self, id: u64) -> bool {
        match self.messages[&id].state {
            State::Putting | State::Present => true,
            State::Pending(uow) => {
                matches!(self.uows[uow].phase, Phase::Committing | Phase::InDoubt)
            }
            State::Held(uow) => {
                let phase = self.uows[uow].phase;
                matches!(phase, Phase::BackingOut | Phase::InDoubt) || self.system_backouts
            }
            State::Undone | State::Taken | State::Lost => false,
        }
    }

    /// Messages of the queue may just have been away for a moment.
    pub(crate) fn shake(&mut self, queue: QueueId) {
        for id in self.queues[queue.0].live.clone() {
            let now = self.now;
            let m = self.message(id);
            m.available_since = m.available_since.map(|_| now);
            m.counted_since = m.counted_since.map(|_| now);
        }
    }

    /// Matching messages of which everyone could know, from `since` until now.
    pub(crate) fn surely_available(
        &self,
        queue: QueueId,
        want: Match,
        since: u64,
        filter: impl Fn(&Message) -> bool,
    ) -> Vec<u64> {
        if self.is_being_cleared(queue) {
            return Vec::new();
        }
        let live = self.queues[queue.0].live.iter().copied();
        live.filter(|id| {
            let m = &self.messages[id];
            m.available_since.is_some_and(|at| at <= since)
                && self.time < m.expires.0
                && matches(want, m)
                && filter(m)
        })
        .collect()
    }

    /// A clear is in flight: what was there may be gone.
    fn is_being_cleared(&self, queue: QueueId) -> bool {
        let clears = |flight: &Flight| matches!(flight.op, Op::Clear(on) if on == queue);
        self.flights.values().any(clears)
    }

    /// How many messages of the queue calls without an answer may have taken.
    pub(crate) fn slack(&self, queue: QueueId) -> usize {
        self.gets_in_flight(queue, |_| true) + self.eaten(queue)
    }

    pub(crate) fn eaten(&self, queue: QueueId) -> usize {
        self.unanswered()
            .filter(|ticket| ticket.queue == queue)
            .count()
    }

    /// Gets without an answer that may still turn out to have destroyed a message.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &Ticket> {
        let uows = self.uncertain.iter().map(|number| &self.uows[*number]);
        let open = uows.filter(|uow| uow.phase != Phase::Ended);
        self.tickets.iter().chain(open.flat_map(|uow| &uow.tickets))
    }

    pub(crate) fn gets_in_flight(&self, queue: QueueId, how: impl Fn(How) -> bool) -> usize {
        let gets = self
            .flights
            .values()
            .filter_map(|flight| destructive(&flight.op));
        gets.filter(|get| get.queue == queue && how(get.how))
            .count()
    }

    /// The lowest and the highest depth that the queue can have had since `since`, one message apart.
    pub(crate) fn depths(&self, queue: QueueId, since: u64, without: Option<u64>) -> (u64, u64) {
        let (mut least, mut most) = (0, 0);
        for id in self.queues[queue.0]
            .live
            .iter()
            .filter(|id| Some(**id) != without)
        {
            let m = &self.messages[id];
            let counted = m.counted_since.is_some_and(|at| at <= since);
            least += u64::from(counted && self.time < m.expires.0);
            most += u64::from(may_count(m.state) || m.counted_until >= since);
        }
        if self.is_being_cleared(queue) {
            least = 0;
        }
        (u64::saturating_sub(least, self.slack(queue) as u64), most)
    }

    /// Messages in this state that must be delivered some time.
    pub(crate) fn owed(&self, state: State) -> Vec<u64> {
        let all = self.messages.iter();
        all.filter(|(_, m)| m.state == state && m.sure && self.time < m.expires.0)
            .map(|(id, _)| id)
            .collect()
    }

    /// Whether every one of these messages can have been taken by a get of its own that did not answer.
    pub(crate) fn explained(&self, ids: &[u64]) -> bool {
        let tickets: Vec<Ticket> = self.unanswered().copied().collect();
        let mut takes = vec![None; tickets.len()];
        ids.iter()
            .all(|id| self.assign(*id, &tickets, &mut takes, &mut vec![false; tickets.len()]))
    }

    /// Finds a ticket for the message, moving others to other tickets if need be.
    pub(crate) fn assign(
        &self,
        id: u64,
        tickets: &[Ticket],
        takes: &mut [Option<u64>],
        tried: &mut [bool],
    ) -> bool {
        let m = &self.messages[&id];
        for (n, ticket) in tickets.iter().enumerate() {
            let fits = ticket.queue == m.put.queue
                && matches(ticket.want, m)
                && m.put_at < ticket.at
                && !(ticket.only_non_persistent && m.persistent);
            if fits && !std::mem::replace(&mut tried[n], true) {
                let free = takes[n].is_none_or(|other| self.assign(other, tickets, takes, tried));
                if free {
                    takes[n] = Some(id);
                    return true;
                }
            }
        }
        false
    }

    /// After an audit every message so far is gone: what was in doubt is so no longer.
    pub(crate) fn close_the_books(&mut self) {
        let ids = self.messages.ids();
        for id in ids {
            let m = &self.messages[&id];
            if may_count(m.state) {
                self.set(id, if m.sure { State::Taken } else { State::Undone });
            }
        }
        self.uows
            .iter_mut()
            .for_each(|uow| uow.phase = Phase::Ended);
        self.retaining_closed();
        self.sessions.clear();
        self.tickets.clear();
    }

    pub(crate) fn stop(&mut self, clean: bool) -> Verdict {
        self.now += 1;
        self.down = true;
        for flight in std::mem::take(&mut self.flights).into_values() {
            self.cut_off(&flight);
        }
        self.stop_publications();
        self.sessions.clear();
        self.doomed.clear();
        self.lose_non_persistent(clean);
        for number in 0..self.uows.len() {
            let uow = &mut self.uows[number];
            match (uow.phase, uow.committed) {
                (Phase::Open | Phase::BackingOut, _) => self.apply(number, false, false),
                (Phase::Committing, Some(end)) => self.apply(number, end, false),
                (Phase::InDoubt, Some(end)) => self.apply(number, end, false),
                (Phase::Committing, None) => {
                    uow.ended = self.now;
                    self.turn(number, Phase::InDoubt);
                }
                (Phase::InDoubt, None) | (Phase::Ended, _) => {}
            }
        }
        for queue in &mut self.queues {
            queue.live.retain(|id| may_count(self.messages[id].state));
        }
        Ok(())
    }

    /// The call will never be answered.
    pub(crate) fn cut_off(&mut self, flight: &Flight) {
        match &flight.op {
            Op::Put(put) => {
                let (now, time) = (self.now, self.time);
                let m = self.message(put.id);
                m.expires.1 = put.latest_expiry(time);
                m.put_done = Some(now);
                if m.state == State::Putting {
                    self.set(put.id, State::Present);
                }
            }
            Op::Get(get) if get.how == How::Syncpoint => {
                self.queues[get.queue.0].unseen_backouts += 1;
            }
            Op::Get(get) if destructive(&flight.op).is_some() => {
                let perhaps = get.how == How::SyncpointIfPersistent;
                self.queues[get.queue.0].unseen_backouts += u32::from(perhaps);
                self.tickets.push(Ticket::of(get, self.now));
            }
            Op::Clear(queue) => self.perhaps_cleared(*queue, flight.since),
            Op::Delete(queue, _) => self.perhaps_emptied(*queue, true),
            Op::PutList(list) => self.list_unanswered(flight, list),
            Op::Publish(publication) => {
                let cut_off = self.end_publish(flight, publication, Outcome::Unknown);
                assert!(cut_off.is_ok(), "what nobody has seen breaks no rule");
            }
            Op::Subscribe(of) => self.end_subscribe(*of, Outcome::Unknown),
            Op::Unsubscribe(of) => self.end_unsubscribe(*of, Outcome::Unknown),
            Op::Get(_) | Op::Commit | Op::Backout | Op::Depth(_) | Op::Inhibit(..) => {}
        }
    }

    /// What a stop does to messages by their class; units of work come after it.
    pub(crate) fn lose_non_persistent(&mut self, clean: bool) {
        let ids = self.messages.ids();
        for id in ids {
            let now = self.now;
            let m = self.message(id);
            if !may_count(m.state) {
                continue;
            }
            if !m.waits {
                m.settled.get_or_insert(now);
            }
            let (persistent, queue) = (m.persistent, m.put.queue.0);
            let spec = &self.queues[queue].spec;
            let (keeps, harden) = (spec.keeps_non_persistent, spec.harden);
            let m = self.message(id);
            if !persistent && m.waits && m.waits_persistent {
                // It has come, and has gone with the stop, or it is to come.
                m.sure = false;
                let state = m.state;
                self.set(id, state);
                continue;
            }
            if !persistent && !keeps {
                self.set(id, State::Lost);
                continue;
            }
            // Where it waits nothing that is not persistent is kept.
            if !persistent && (!clean || m.waits) {
                m.sure = false;
                m.available_since = None;
                m.counted_since = None;
            }
            if !persistent || harden == Harden::No {
                m.backouts = 0;
            }
        }
    }
}

pub(crate) fn may_count(state: State) -> bool {
    !matches!(state, State::Undone | State::Taken | State::Lost)
}
