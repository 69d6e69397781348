//! The judge: takes the events of a history and holds each against what is known. See the head of the
//! crate for what it promises, and `known.rs` for what it remembers.

use crate::known::{
    Flight, Message, Model, Phase, Queue, State, Ticket, Uow, Verdict, broken, destructive,
    matches, target, union,
};
use crate::{
    BACKED_OUT, Delivered, GET_INHIBITED, Get, How, NO_MSG_AVAILABLE, OBJECT_DAMAGED, Op, OpId,
    Outcome, PUT_INHIBITED, Put, Q_FULL, QueueId, QueueSpec, Rule, SessionId,
};

impl Model {
    /// A queue manager without queues, running.
    pub fn new() -> Model {
        Model::default()
    }

    /// From now on the queue manager may back out a unit of work by itself (log full). Its application
    /// must learn of it; until then others may see the effects.
    pub fn allow_system_backout(&mut self) {
        self.system_backouts = true;
    }

    /// This session begins its unit of work when the log is full already, and not by that unit: to back it out
    /// would make no room.
    pub fn spare(&mut self, session: SessionId) {
        self.spared.insert(session);
    }

    /// A persistent put in this session's unit of work has failed, and its application is not told: a commit has to
    /// be refused with 2003.
    pub fn doom(&mut self, session: SessionId) {
        self.doomed.insert(session);
    }

    /// Adds a queue on which puts and gets are allowed.
    pub fn add_queue(&mut self, spec: QueueSpec) -> QueueId {
        self.queues.push(Queue {
            spec,
            put_inhibited: [true, false],
            get_inhibited: [true, false],
            inhibited_at: 0,
            unseen_backouts: 0,
            live: Vec::new(),
            doubts: Vec::new(),
            struck: false,
            unknown: false,
        });
        QueueId(self.queues.len() - 1)
    }

    /// A call is made, at `time` microseconds of the clock by which messages expire. Calls of one session do not
    /// overlap, but for puts that it does not wait for, and none is made while the queue manager is down.
    pub fn invoke(&mut self, time: u64, session: SessionId, op: Op) -> OpId {
        let left = |op: &Op| matches!(op, Op::Put(_) | Op::PutList(_));
        let mut flights = self.flights.values();
        let free = flights.all(|flight| flight.session != session || left(&flight.op));
        assert!(free && !self.down, "a call that cannot be made: {op:?}");
        self.tick(time);
        match &op {
            Op::Put(put) => self.begin_put(session, put),
            Op::PutList(list) => self.begin_list(session, list),
            Op::Commit => {
                self.begin_retaining(session);
                self.enter(session, Phase::Committing);
            }
            Op::Backout => self.enter(session, Phase::BackingOut),
            Op::Inhibit(queue, put, get) => {
                let q = &mut self.queues[queue.0];
                put.iter()
                    .for_each(|new| q.put_inhibited[usize::from(*new)] = true);
                get.iter()
                    .for_each(|new| q.get_inhibited[usize::from(*new)] = true);
                let (put, get) = (q.put_inhibited, q.get_inhibited);
                for flight in self.flights.values_mut() {
                    if target(&flight.op) == Some(*queue) {
                        union(&mut flight.put_inhibited, put);
                        union(&mut flight.get_inhibited, get);
                    }
                    if let Op::PutList(list) = &flight.op {
                        let queues = list.puts.iter().map(|put| put.queue);
                        let listed = queues.zip(&mut flight.listed);
                        let these = listed.filter(|(of, _)| of == queue);
                        these.for_each(|(_, inhibited)| union(inhibited, put));
                    }
                }
            }
            Op::Publish(publication) => self.begin_publish(session, publication),
            Op::Subscribe(of) => self.begin_subscribe(*of),
            Op::Unsubscribe(of) => self.begin_unsubscribe(*of),
            Op::Get(_) | Op::Depth(_) | Op::Clear(_) | Op::Delete(..) => {}
        }
        let queue = target(&op).map(|queue| &self.queues[queue.0]);
        let flight = Flight {
            session,
            since: self.now,
            time,
            put_inhibited: queue.map_or([true, true], |q| q.put_inhibited),
            get_inhibited: queue.map_or([true, true], |q| q.get_inhibited),
            listed: self.inhibited_in(&op),
            op,
        };
        self.flights.insert(self.now, flight);
        self.now
    }

    /// A call has ended. Calls that a stop cut off never do.
    pub fn respond(&mut self, time: u64, op: OpId, outcome: Outcome) -> Verdict {
        self.tick(time);
        let flight = self.flights.remove(&op);
        let flight = flight.unwrap_or_else(|| panic!("call {op} is not in flight"));
        let session = flight.session;
        if outcome == Outcome::Reason(OBJECT_DAMAGED)
            && let Some(queue) = target(&flight.op)
        {
            self.put_found_damage(&flight.op, queue)?;
        }
        let verdict = match (&flight.op, outcome) {
            (Op::Put(put), outcome) => self.end_put(&flight, put, outcome),
            (Op::PutList(list), outcome) => {
                self.end_list(&flight, list, &vec![outcome; list.puts.len()])
            }
            (Op::Publish(publication), outcome) => self.end_publish(&flight, publication, outcome),
            (Op::Subscribe(of), outcome) => {
                self.end_subscribe(*of, outcome);
                Ok(())
            }
            (Op::Unsubscribe(of), outcome) => {
                self.end_unsubscribe(*of, outcome);
                Ok(())
            }
            (Op::Get(get), Outcome::Got(message)) => {
                let of_list = self.listed_on(get.queue, message);
                match of_list.and_then(|message| self.copy_on(get.queue, message)) {
                    Ok(message) => self.delivered(&flight, get, message),
                    Err(violation) => Err(violation),
                }
            }
            (Op::Get(get), outcome) => self.end_get(&flight, get, outcome),
            (Op::Commit, Outcome::Done) if self.doomed.contains(&session) => {
                let text = format!("session {session} committed, and one of its puts had failed");
                broken(Rule::HalfUnitOfWork, text)
            }
            (Op::Commit, Outcome::Reason(BACKED_OUT)) if self.doomed.contains(&session) => {
                self.end_uow(session, Some(false))
            }
            (Op::Commit, Outcome::Done) => self.end_uow(session, Some(true)),
            (Op::Backout, Outcome::Done) => self.end_uow(session, Some(false)),
            (Op::Commit, Outcome::Reason(BACKED_OUT)) => self.backed_out(session),
            (Op::Commit, Outcome::Reason(_)) => self.refused(session),
            (Op::Commit | Op::Backout, _) => self.end_uow(session, None),
            (Op::Depth(queue), Outcome::Depth(depth)) => self.check_depth(&flight, *queue, depth),
            (Op::Inhibit(queue, put, get), Outcome::Done) => {
                self.end_inhibit(flight.since, *queue, *put, *get);
                Ok(())
            }
            (Op::Clear(queue), Outcome::Done) => {
                self.cleared(*queue, flight.since);
                Ok(())
            }
            (Op::Delete(queue, true), Outcome::Done) => {
                self.emptied(*queue);
                Ok(())
            }
            (Op::Delete(queue, false), Outcome::Done) => self.deleted_empty(*queue),
            (Op::Clear(_) | Op::Delete(..), Outcome::Unknown) => {
                self.cut_off(&flight);
                Ok(())
            }
            (Op::Depth(_) | Op::Inhibit(..) | Op::Clear(_) | Op::Delete(..), _) => Ok(()),
        };
        self.forget();
        verdict
    }

    /// The queue manager and its sessions are gone without warning, perhaps while it was starting.
    pub fn crash(&mut self) -> Verdict {
        self.stop(false)
    }

    /// The queue manager has ended in an orderly way; what is still in flight was cut off.
    pub fn clean_shutdown(&mut self) -> Verdict {
        self.stop(true)
    }

    /// It takes calls again.
    pub fn restart(&mut self) {
        self.now += 1;
        self.down = false;
        self.restarted = self.now;
    }

    /// While it is down: the clock by which messages expire says this now. If that is earlier than before, what had
    /// expired may be there again, where nobody has found it meanwhile.
    pub fn clock_set(&mut self, time: u64) {
        if time < self.time {
            self.publications_may_have_expired(self.time);
            for id in self.messages.ids() {
                let before = self.time;
                let m = self.message(id);
                if m.expires.0 <= before {
                    m.expires.0 = 0;
                }
                // It may have come meanwhile.
                if m.not_before <= before {
                    m.not_before = 0;
                }
            }
        }
        self.time = time;
    }

    /// Nothing can run on: only gets that wait may be in flight, and none of them for a message that is there.
    pub fn quiet(&self) -> Verdict {
        for flight in self.flights.values() {
            let session = flight.session;
            let get = match &flight.op {
                Op::Get(get) if get.wait => get,
                op => {
                    let text = format!("session {session} gets no answer to {op:?}");
                    return broken(Rule::MissedWakeUp, text);
                }
            };
            let there = self.surely_available(get.queue, get.want, self.now, |_| true);
            if flight.get_inhibited == [true, false]
                && get.how != How::BrowseNext
                && there.len() > self.eaten(get.queue)
            {
                let name = self.name(get.queue);
                let text = format!("session {session} waits on {name} for {there:?}");
                return broken(Rule::MissedWakeUp, text);
            }
        }
        Ok(())
    }

    /// Every queue has just been emptied by gets, up to 2033, and no call is in flight and no
    /// unit of work open: is all accounted for?
    pub fn audit(&mut self) -> Verdict {
        let open = |n: &usize| !self.uows[*n].members.is_empty();
        let idle = self.flights.is_empty() && !self.sessions.values().any(open);
        assert!(idle, "an audit needs quiet");
        self.tick(self.time);
        for number in 0..self.uows.len() {
            match (self.uows[number].phase, self.uows[number].committed) {
                (Phase::BackingOut, _) => self.apply(number, false, true),
                (Phase::InDoubt, Some(end)) => self.apply(number, end, false),
                _ => {}
            }
        }
        let missing = self.owed(State::Present);
        if !self.explained(&missing) {
            return self.missing(&missing, "after the last get");
        }
        let in_doubt = |uow: &Uow| uow.phase == Phase::InDoubt;
        let uows = self.uows.iter().enumerate();
        for (number, _) in uows.filter(|(_, uow)| in_doubt(uow)) {
            let [puts, gets] = [State::Pending(number), State::Held(number)].map(|s| self.owed(s));
            let either = [&puts, &gets].map(|part| [&missing[..], &part[..]].concat());
            if !either.iter().any(|part| self.explained(part)) {
                let text = format!(
                    "of one unit of work neither its puts {puts:?} nor its gets {gets:?} came back"
                );
                return broken(Rule::HalfUnitOfWork, text);
            }
        }
        self.close_the_books();
        Ok(())
    }

    fn begin_put(&mut self, session: SessionId, put: &Put) {
        let uow = put.in_uow.then(|| self.uow_of(session));
        self.add_message(put, uow);
        if let Some(uow) = uow {
            self.uows[uow].members.push(put.id);
        }
    }

    /// Adds a message whose put begins, in a unit of work if in one.
    pub(crate) fn add_message(&mut self, put: &Put, uow: Option<usize>) {
        let queue = &mut self.queues[put.queue.0];
        queue.live.push(put.id);
        let message = Message {
            put: put.clone(),
            persistent: put.persistent.unwrap_or(queue.spec.default_persistent),
            priority: put.priority.unwrap_or(queue.spec.default_priority),
            state: uow.map_or(State::Putting, State::Pending),
            sure: false,
            put_at: self.now,
            put_done: None,
            uow,
            settled: None,
            available_since: None,
            available_until: 0,
            counted_since: None,
            counted_until: 0,
            expires: (put.earliest_expiry(self.time), u64::MAX),
            backouts: 0,
            backouts_at: 0,
            deliveries: 0,
            by_evidence: false,
            cleared: false,
            due: true,
            not_before: put.not_before(self.time),
            to_come: put.not_before(self.time),
            waits: put.delay.is_some(),
            waits_persistent: false,
        };
        let before = self.messages.insert(put.id, message);
        assert!(before.is_none(), "message {} is put twice", put.id);
    }

    fn end_put(&mut self, flight: &Flight, put: &Put, outcome: Outcome) -> Verdict {
        let now = self.now;
        let Queue { spec, unknown, .. } = &self.queues[put.queue.0];
        let (max, unknown) = (spec.max_depth, *unknown);
        let name = self.name(put.queue).to_owned();
        let (least, most) = self.depths(put.queue, flight.since, Some(put.id));
        // It waits where nobody knows what comes of it, or for a queue to which it cannot come.
        let lost = put.delay.is_some() && (unknown || self.waiting.unknown);
        let m = self.message(put.id);
        match outcome {
            Outcome::Done => {
                m.put_done = Some(now);
                m.sure = !lost;
                let state = if m.state == State::Putting {
                    State::Present
                } else {
                    m.state
                };
                self.set(put.id, state);
                let latest = put.latest_expiry(self.time);
                self.message(put.id).expires.1 = latest;
                if !flight.put_inhibited[0] {
                    return broken(
                        Rule::Inhibited,
                        format!("put {} to {name} accepted", put.id),
                    );
                }
                // How full its queue is counts when it comes there.
                if least >= max && !unknown && put.delay.is_none() {
                    let text = format!("put {} to {name} which holds {least} of {max}", put.id);
                    return broken(Rule::TooDeep, text);
                }
                Ok(())
            }
            Outcome::Unknown => {
                if m.state == State::Putting {
                    self.set(put.id, State::Present);
                }
                Ok(())
            }
            Outcome::Reason(reason) => {
                // Undone: another call of its application was told first that their unit of work is backed out.
                let own = matches!(m.state, State::Putting | State::Undone)
                    || m.uow.is_some_and(|u| m.state == State::Pending(u));
                if m.sure || !own {
                    let text = format!(
                        "message {} of {name} was seen; its put gave {reason}",
                        put.id
                    );
                    return broken(Rule::Undone, text);
                }
                self.set(put.id, State::Undone);
                if reason == BACKED_OUT {
                    return self.backed_out(flight.session);
                }
                if reason == Q_FULL && most < max && !unknown {
                    let text = format!("{name} can have held {most} of {max} messages");
                    return broken(Rule::NotFull, text);
                }
                if reason == PUT_INHIBITED && !flight.put_inhibited[1] {
                    return broken(Rule::Inhibited, format!("put to {name} refused"));
                }
                Ok(())
            }
            other => panic!("a put cannot end with {other:?}"),
        }
    }

    /// The commit was refused and changed nothing.
    fn refused(&mut self, session: SessionId) -> Verdict {
        self.enter(session, Phase::Open);
        match self
            .sessions
            .get(&session)
            .map(|number| &self.uows[*number])
        {
            Some(uow) if uow.committed == Some(true) => {
                let text = format!("{:?} were visible; the commit was refused", uow.members);
                broken(Rule::HalfUnitOfWork, text)
            }
            _ => Ok(()),
        }
    }

    /// The session's unit of work has ended; with `None` nobody was told how.
    fn end_uow(&mut self, session: SessionId, committed: Option<bool>) -> Verdict {
        self.doomed.remove(&session);
        let Some(number) = self.sessions.remove(&session) else {
            return Ok(());
        };
        self.uows[number].ended = self.now;
        match committed {
            Some(end) => {
                self.settle(number, end)?;
                self.apply(number, end, true);
                self.end_retaining(number, end);
            }
            None if self.uows[number].phase == Phase::Committing => {
                self.turn(number, Phase::InDoubt);
            }
            // It will be backed out, but nobody is told when.
            None => {}
        }
        Ok(())
    }

    /// The application is told that the queue manager backed its unit of work out.
    pub(crate) fn backed_out(&mut self, session: SessionId) -> Verdict {
        if !self.system_backouts || self.spared.contains(&session) {
            return broken(
                Rule::UnexpectedBackout,
                format!("session {session} was told 2003"),
            );
        }
        self.end_uow(session, Some(false))
    }

    fn delivered(&mut self, flight: &Flight, get: &Get, got: Delivered) -> Verdict {
        let name = self.name(get.queue).to_owned();
        let Some(m) = self.messages.get(got.id) else {
            return broken(Rule::NeverPut, format!("message {} on {name}", got.id));
        };
        let id = got.id;
        if m.put.queue != get.queue {
            return broken(Rule::WrongQueue, format!("message {id} on {name}"));
        }
        if (m.put.hash, m.persistent, m.priority) != (got.hash, got.persistent, got.priority) {
            return broken(
                Rule::Corrupted,
                format!("message {id} on {name}: {got:?}, put as {m:?}"),
            );
        }
        if !matches(get.want, m) {
            return broken(Rule::NoMatch, format!("message {id} for {:?}", get.want));
        }
        if flight.time > m.expires.1 {
            return broken(Rule::Expired, format!("message {id} on {name}"));
        }
        self.check_not_early(m, &name)?;
        if !flight.get_inhibited[0] {
            return broken(Rule::Inhibited, format!("message {id} from {name}"));
        }
        if self.is_late(flight, get, got) {
            // So the queue manager has backed the unit of work out, and its commit will say so.
            let uow = self.uow_of(flight.session);
            return self.settle(uow, false);
        }
        let browse = destructive(&flight.op).is_none();
        // A browse may have seen the message before whatever happened to it since, and a get may have got it before
        // a clear was answered.
        let before = m.available_until >= flight.since;
        let cleared = before && m.cleared;
        // But not before it came back with the count that it shows.
        let returned = matches!(m.state, State::Held(_)) && got.backout_count > Some(m.backouts);
        if !(before && browse || cleared) || browse && returned {
            self.seen(id, &name)?;
        }
        self.check_count(flight, got, browse)?;
        if get.how != How::BrowseNext {
            self.check_order(flight, get, id)?;
        }
        if cleared && !browse {
            // Whatever becomes of the get, it does not come again.
            self.message(id).cleared = false;
            return Ok(());
        }
        let how = match get.how {
            How::SyncpointIfPersistent if got.persistent => How::Syncpoint,
            How::SyncpointIfPersistent => How::NoSyncpoint,
            other => other,
        };
        match how {
            How::NoSyncpoint => self.set(id, State::Taken),
            How::Syncpoint | How::SyncpointIfPersistent => {
                let uow = self.uow_of(flight.session);
                self.uows[uow].members.push(id);
                self.message(id).deliveries += 1;
                self.set(id, State::Held(uow));
            }
            How::BrowseFirst | How::BrowseNext => {}
        }
        Ok(())
    }

    /// A message was on the queue, visible, during this call.
    fn seen(&mut self, id: u64, name: &str) -> Verdict {
        let state = self.messages[&id].state;
        let what = format!("message {id} on {name}");
        match state {
            State::Putting | State::Present => {}
            State::Pending(uow) => match self.uows[uow].phase {
                Phase::Committing | Phase::InDoubt => self.settle(uow, true)?,
                _ => return broken(Rule::Uncommitted, what),
            },
            State::Held(uow) => match self.uows[uow].phase {
                Phase::BackingOut => self.come_back(id, true),
                Phase::InDoubt => {
                    self.settle(uow, false)?;
                    self.come_back_late(id);
                }
                _ if self.system_backouts => {
                    self.settle(uow, false)?;
                    self.come_back(id, true);
                }
                _ => return broken(Rule::Duplicate, format!("{what}, held by another get")),
            },
            State::Undone | State::Taken if self.messages[&id].by_evidence => {
                return broken(Rule::HalfUnitOfWork, what);
            }
            State::Undone => return broken(Rule::Undone, what),
            State::Taken => return broken(Rule::Duplicate, what),
            State::Lost => return broken(Rule::NonPersistentClass, format!("{what} came back")),
        }
        let queue = self.messages[&id].put.queue;
        self.found_in_doubt(queue, id);
        let m = self.message(id);
        m.sure = true;
        m.waits = false;
        m.by_evidence = false;
        if m.state == State::Present && m.available_since.is_none() {
            self.set(id, State::Present);
        }
        Ok(())
    }

    fn check_count(&mut self, flight: &Flight, got: Delivered, browse: bool) -> Verdict {
        let m = &self.messages[&got.id];
        let Some(count) = got.backout_count else {
            return Ok(());
        };
        let others = self.gets_in_flight(m.put.queue, |how| how != How::NoSyncpoint);
        let most = m.deliveries + self.queues[m.put.queue.0].unseen_backouts + others as u32;
        let stale = browse && m.backouts_at > flight.since;
        let least = if stale { 0 } else { m.backouts };
        let unknown = self.queues[m.put.queue.0].unknown;
        if !unknown && (count < least || count > most) {
            let text = format!("message {} shows {count}, not {least} to {most}", got.id);
            return broken(Rule::BackoutCount, text);
        }
        let now = self.now;
        let m = self.message(got.id);
        if count > m.backouts {
            // It came back some time before; a browse that is under way may have seen it earlier.
            (m.backouts, m.backouts_at) = (count, now);
        }
        Ok(())
    }

    /// Whether a get in a unit of work is answered late: others have seen the message come back from it meanwhile.
    fn is_late(&self, flight: &Flight, get: &Get, got: Delivered) -> bool {
        let m = &self.messages[&got.id];
        let in_unit = match get.how {
            How::Syncpoint => true,
            How::SyncpointIfPersistent => got.persistent,
            _ => false,
        };
        let returned = got.backout_count < Some(m.backouts) && m.backouts_at > flight.since;
        in_unit && returned && self.system_backouts
    }

    fn check_order(&self, flight: &Flight, get: &Get, id: u64) -> Verdict {
        let m = &self.messages[&id];
        let by_priority = self.queues[get.queue.0].spec.by_priority;
        let first = |other: &Message| {
            // What is delayed does not come with the unit of work that it was put in.
            let same = other.uow.is_some() && other.uow == m.uow && other.put.delay.is_none();
            let fifo = other.settled.is_some_and(|at| at <= m.put_at)
                || same && other.put_done.is_some_and(|at| at <= m.put_at);
            let rank = if by_priority {
                other.priority.cmp(&m.priority)
            } else {
                0.cmp(&0)
            };
            rank.is_gt() || rank.is_eq() && fifo
        };
        let passed = self.surely_available(get.queue, get.want, flight.since, first);
        if passed.len() > self.slack(get.queue) {
            let text = format!("message {id} on {} before {passed:?}", self.name(get.queue));
            return broken(Rule::OutOfOrder, text);
        }
        Ok(())
    }

    fn end_get(&mut self, flight: &Flight, get: &Get, outcome: Outcome) -> Verdict {
        let name = self.name(get.queue).to_owned();
        if outcome == Outcome::Reason(NO_MSG_AVAILABLE) {
            let there = self.surely_available(get.queue, get.want, flight.since, |_| true);
            if get.how != How::BrowseNext && there.len() > self.slack(get.queue) {
                return self.missing(&there, &format!("at 2033 on {name}"));
            }
            return Ok(());
        }
        if destructive(&flight.op).is_some() {
            // It may have taken a message and put it back.
            self.shake(get.queue);
            self.queues[get.queue.0].unseen_backouts += u32::from(get.how != How::NoSyncpoint);
        }
        let ticket = Ticket::of(get, self.now);
        match (outcome, get.how) {
            (Outcome::Unknown, How::NoSyncpoint | How::SyncpointIfPersistent) => {
                self.tickets.push(ticket);
            }
            (Outcome::Unknown, How::Syncpoint) => {
                let uow = self.uow_of(flight.session);
                self.uows[uow].tickets.push(ticket);
                self.uncertain.push(uow);
            }
            (Outcome::Reason(BACKED_OUT), _) => return self.backed_out(flight.session),
            (Outcome::Reason(GET_INHIBITED), _) if !flight.get_inhibited[1] => {
                return broken(Rule::Inhibited, format!("get from {name} refused"));
            }
            _ => {}
        }
        Ok(())
    }

    fn missing(&self, ids: &[u64], when: &str) -> Verdict {
        let Some(m) = ids.first().and_then(|id| self.messages.get(*id)) else {
            return Ok(());
        };
        let rule = if m.by_evidence {
            Rule::HalfUnitOfWork
        } else if m.put_at > self.restarted {
            Rule::MessageMissed
        } else if m.persistent {
            Rule::Lost
        } else {
            Rule::NonPersistentClass
        };
        broken(rule, format!("messages {ids:?} should be there {when}"))
    }

    fn check_depth(&self, flight: &Flight, queue: QueueId, depth: u64) -> Verdict {
        let (least, most) = self.depths(queue, flight.since, None);
        let unknown = self.queues[queue.0].unknown;
        if !unknown && (depth < least || depth > most) {
            let text = format!("{depth} on {}, not {least} to {most}", self.name(queue));
            return broken(Rule::WrongDepth, text);
        }
        Ok(())
    }

    /// The values are known again if no other call that sets them overlapped.
    fn end_inhibit(&mut self, since: u64, queue: QueueId, put: Option<bool>, get: Option<bool>) {
        let alone = !self.flights.values().any(|flight| {
            matches!(flight.op, Op::Inhibit(..)) && target(&flight.op) == Some(queue)
        });
        let now = self.now;
        let q = &mut self.queues[queue.0];
        if alone && q.inhibited_at < since {
            q.put_inhibited = put.map_or(q.put_inhibited, |value| [!value, value]);
            q.get_inhibited = get.map_or(q.get_inhibited, |value| [!value, value]);
        }
        q.inhibited_at = now;
    }
}
