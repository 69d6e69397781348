//! Distribution lists: one message put to many queues by one call.
//!
//! A put to a list is one put for each queue that is open, each with an outcome of its own, all of them in one unit of
//! work: the application's, or one of its own. So the rules of units of work say what may become of it, over crashes too.
//!
//! What is taken as law:
//! * What a queue is said to have taken it has, once, with the MsgId that its record says; what it has refused nobody sees.
//! * A put outside syncpoint is there on all queues that can have taken it, or on none: also if nobody was told which.

use std::collections::BTreeMap;

use crate::known::{Flight, Maybe, Model, Phase, Queue, State, Uow, Verdict, broken};
use crate::{
    BACKED_OUT, Delivered, OBJECT_DAMAGED, Op, OpId, Outcome, PUT_INHIBITED, Put, Q_FULL, QueueId,
    Rule, SessionId, Violation,
};

/// A put to a list.
#[derive(Clone, Debug)]
pub struct ListPut {
    /// Unique for ever, among messages too; carried in the payload.
    pub id: u64,
    /// In syncpoint: all of it.
    pub in_uow: bool,
    /// No queue refuses its message but by its depth and for PUT(DISABLED).
    pub plain: bool,
    /// One for each queue that is open, in their order; each has a number of its own. On one queue no two have one MsgId.
    pub puts: Vec<Put>,
}

/// What is known of lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    /// By the number in the payload.
    puts: BTreeMap<u64, Listed>,
}

#[derive(Clone, Debug)]
struct Listed {
    /// Queue, MsgId and number of each message.
    messages: Vec<(QueueId, u64, u64)>,
    /// The application's, or its own.
    uow: usize,
}

impl Model {
    /// A put to a list has ended, and its application knows how, for each queue.
    ///
    /// # Errors
    /// As [`Model::respond`].
    pub fn respond_each(&mut self, time: u64, op: OpId, outcomes: &[Outcome]) -> Verdict {
        self.tick(time);
        let flight = self.flights.remove(&op);
        let flight = flight.unwrap_or_else(|| panic!("call {op} is not in flight"));
        let Op::PutList(list) = &flight.op else {
            panic!("call {op} is no put to a list");
        };
        let verdict = self.end_list(&flight, list, outcomes);
        self.forget();
        verdict
    }

    /// Whether the queues of the list refuse puts, as far as is known.
    pub(crate) fn inhibited_in(&self, op: &Op) -> Vec<Maybe> {
        match op {
            Op::PutList(list) => {
                let queues = list.puts.iter().map(|put| &self.queues[put.queue.0]);
                queues.map(|queue| queue.put_inhibited).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn begin_list(&mut self, session: SessionId, list: &ListPut) {
        let uow = match list.in_uow {
            true => self.uow_of(session),
            false => {
                self.uows.push(Uow::new(Phase::Committing));
                self.uows.len() - 1
            }
        };
        for put in &list.puts {
            self.add_message(put, Some(uow));
            self.uows[uow].members.push(put.id);
        }
        let messages = list.puts.iter().map(|put| (put.queue, put.msg_id, put.id));
        let listed = Listed {
            messages: messages.collect(),
            uow,
        };
        let before = self.lists.puts.insert(list.id, listed);
        assert!(before.is_none(), "list {} is put twice", list.id);
    }

    pub(crate) fn end_list(
        &mut self,
        flight: &Flight,
        list: &ListPut,
        outcomes: &[Outcome],
    ) -> Verdict {
        assert_eq!(list.puts.len(), outcomes.len(), "one for each queue");
        let uow = self.lists.puts[&list.id].uow;
        for (put, outcome) in list.puts.iter().zip(outcomes) {
            if *outcome == Outcome::Reason(OBJECT_DAMAGED) {
                self.damaged(put.queue)?;
            }
        }
        if outcomes.contains(&Outcome::Unknown) {
            self.list_unanswered(flight, list);
            return Ok(());
        }
        let puts = || list.puts.iter().zip(outcomes).zip(&flight.listed);
        for ((put, outcome), inhibited) in puts() {
            if let Outcome::Reason(reason) = outcome {
                self.refused_in_list(flight, put, *reason, *inhibited)?;
            }
        }
        let any = outcomes.contains(&Outcome::Done);
        if !list.in_uow {
            self.settle(uow, any)?;
        }
        for ((put, outcome), inhibited) in puts() {
            if *outcome == Outcome::Done {
                self.taken_in_list(flight, put, *inhibited)?;
            }
        }
        if !list.in_uow {
            self.apply(uow, any, true);
        } else if outcomes.contains(&Outcome::Reason(BACKED_OUT)) {
            return self.backed_out(flight.session);
        }
        Ok(())
    }

    fn refused_in_list(
        &mut self,
        flight: &Flight,
        put: &Put,
        reason: i32,
        inhibited: Maybe,
    ) -> Verdict {
        let Queue { spec, unknown, .. } = &self.queues[put.queue.0];
        let (max, unknown) = (spec.max_depth, *unknown);
        let name = self.name(put.queue).to_owned();
        let (_, most) = self.depths(put.queue, flight.since, Some(put.id));
        let m = self.message(put.id);
        let own = m.uow.is_some_and(|uow| m.state == State::Pending(uow));
        if m.sure || !own && m.state != State::Undone {
            let text = format!("message {} of {name} was seen; {reason} there", put.id);
            return broken(Rule::Undone, text);
        }
        self.set(put.id, State::Undone);
        if reason == Q_FULL && most < max && !unknown {
            let text = format!("{name} can have held {most} of {max} messages");
            return broken(Rule::NotFull, text);
        }
        if reason == PUT_INHIBITED && !inhibited[1] {
            return broken(Rule::Inhibited, format!("put to {name} refused"));
        }
        Ok(())
    }

    fn taken_in_list(&mut self, flight: &Flight, put: &Put, inhibited: Maybe) -> Verdict {
        let Queue { spec, unknown, .. } = &self.queues[put.queue.0];
        let (max, unknown) = (spec.max_depth, *unknown);
        let name = self.name(put.queue).to_owned();
        let (least, _) = self.depths(put.queue, flight.since, Some(put.id));
        let (now, time) = (self.now, self.time);
        let m = self.message(put.id);
        m.put_done = Some(now);
        m.sure = true;
        m.expires.1 = put.latest_expiry(time);
        let state = m.state;
        self.set(put.id, state);
        if !inhibited[0] {
            return broken(
                Rule::Inhibited,
                format!("put {} to {name} accepted", put.id),
            );
        }
        if least >= max && !unknown {
            let text = format!("put {} to {name} which holds {least} of {max}", put.id);
            return broken(Rule::TooDeep, text);
        }
        Ok(())
    }

    /// Nobody will be told what became of it. If somebody sees one message of it, those have theirs that cannot have
    /// refused it.
    pub(crate) fn list_unanswered(&mut self, flight: &Flight, list: &ListPut) {
        let (now, time) = (self.now, self.time);
        for (put, inhibited) in list.puts.iter().zip(&flight.listed) {
            let Queue { spec, unknown, .. } = &self.queues[put.queue.0];
            let (max, unknown) = (spec.max_depth, *unknown);
            let (_, most) = self.depths(put.queue, flight.since, Some(put.id));
            let takes = list.plain && !unknown && *inhibited == [true, false] && most < max;
            let m = self.message(put.id);
            m.put_done = Some(now);
            m.expires.1 = put.latest_expiry(time);
            m.sure |= takes && !list.in_uow;
        }
        let uow = self.lists.puts[&list.id].uow;
        if !list.in_uow {
            self.uows[uow].ended = now;
            self.turn(uow, Phase::InDoubt);
        }
    }

    /// The message of a list that somebody was given from this queue.
    pub(crate) fn listed_on(&self, queue: QueueId, got: Delivered) -> Result<Delivered, Violation> {
        let Some(listed) = self.lists.puts.get(&got.id) else {
            return Ok(got);
        };
        let broken = |rule, what: &str| {
            let text = format!("list {} on {}: {what}", got.id, self.name(queue));
            Err(Violation { rule, text })
        };
        let mut here = listed.messages.iter().filter(|(on, ..)| *on == queue);
        match (here.clone().count(), got.msg_id) {
            (0, _) => broken(Rule::WrongQueue, "it was not put there"),
            (1, None) => {
                let id = here.next().map_or(got.id, |(.., id)| *id);
                Ok(Delivered { id, ..got })
            }
            (_, of) => match here.find(|(_, msg_id, _)| of == Some(*msg_id)) {
                Some((.., id)) => Ok(Delivered { id: *id, ..got }),
                None => broken(Rule::Corrupted, &format!("its MsgId says {of:?}")),
            },
        }
    }
}
