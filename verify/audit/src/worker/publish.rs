//! Publications: one put that is a message on the queue of each durable subscription whose topic string matches; and what they
//! have in common with puts to lists.
//!
//! Invariants:
//! * To the record each copy is a message of its own, numbered behind one another in the order of the subscribers' queues.
//! * A publication outside syncpoint is a unit of work of its own: all of its copies are there, or none.

use posthaste_mqi::Od;
use posthaste_mqi::constants::*;

use super::{Link, Open, Over, Worker, describe};
use crate::history::{Answer, Ending, Expires, Id, NEVER, Put, Stamp, Unit, UnitId};
use crate::payload::Payload;
use crate::stage::{TOPICS, subscribers, topic_code};

/// When it was called and replied to: in stamps, and in milliseconds.
pub(super) struct Times {
    pub(super) called: Stamp,
    pub(super) replied: Stamp,
    pub(super) called_ms: u64,
    pub(super) replied_ms: u64,
}

impl Worker<'_> {
    /// Publishes on one of the topics.
    pub(super) fn publish(
        &mut self,
        link: &mut Link,
        mut unit: Option<&mut Open>,
    ) -> Result<(), Over> {
        let topic = self.rng.index(TOPICS.len());
        let mut payload = self.payload(unit.as_ref().map(|open| open.id));
        payload.queue = topic_code(topic);
        let queues = subscribers(topic);
        let copies = u32::try_from(queues.len()).unwrap_or(0);
        self.next_message += copies.saturating_sub(1);
        let length = self.size();
        let data = payload.write(length);
        let (mut md, mut pmo) = describe(&payload);
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_type: MQOT_TOPIC,
            object_string: TOPICS[topic].to_owned(),
            ..Od::default()
        };
        let (called_ms, called) = (self.stage.ms(), self.stage.tick());
        let result = link.connection.put1(&mut od, &mut md, &mut pmo, &data);
        let times = Times {
            called,
            replied: self.stage.tick(),
            called_ms,
            replied_ms: self.stage.ms(),
        };
        let answer = Worker::answer(&result);
        let of = match &unit {
            Some(open) => open.id,
            None => self.alone(answer, &times),
        };
        let answers = vec![answer; queues.len()];
        self.record_copies(&payload, queues, of, &answers, &times);
        if answer == Answer::Done {
            let moved = i64::try_from(length * queues.len()).unwrap_or(0);
            self.stage.add_queued(moved);
            if let Some(open) = &mut unit {
                open.moved += moved;
                self.alive(open, called);
            }
            return Ok(());
        }
        self.refused("publishing", result.err(), unit)
    }

    /// Its own unit of work, which ends as it was answered.
    pub(super) fn alone(&mut self, answer: Answer, times: &Times) -> UnitId {
        let id = UnitId {
            worker: self.number,
            number: self.next_unit,
        };
        self.next_unit += 1;
        let (called, replied) = (times.called, times.replied);
        self.history.units.push(Unit {
            id,
            alive: called,
            ending: match answer {
                Answer::Done => Ending::Committed { called, replied },
                Answer::Unknown => Ending::InDoubt { called },
                Answer::Refused => Ending::BackedOut { replied },
            },
            branch: None,
        });
        id
    }

    /// Each has an answer of its own.
    pub(super) fn record_copies(
        &mut self,
        payload: &Payload,
        queues: &[u8],
        unit: UnitId,
        answers: &[Answer],
        times: &Times,
    ) {
        let after = u64::from(payload.expiry_ms);
        let copies = queues.iter().zip(answers).zip(payload.id.number..);
        for ((queue, answer), number) in copies {
            let (answer, unanswered) = (*answer, *answer == Answer::Unknown);
            self.history.puts.push(Put {
                id: Id {
                    number,
                    ..payload.id
                },
                queue: *queue,
                persistent: payload.persistent,
                priority: payload.priority,
                expires: (after > 0).then_some(Expires {
                    from: times.called_ms + after,
                    by: match unanswered {
                        true => NEVER,
                        false => times.replied_ms + after,
                    },
                }),
                not_before: None,
                unit: Some(unit),
                called: times.called,
                replied: if unanswered { NEVER } else { times.replied },
                // Of what is in doubt the unit of work decides.
                answer: match payload.unit {
                    None if unanswered => Answer::Done,
                    _ => answer,
                },
            });
        }
    }
}
