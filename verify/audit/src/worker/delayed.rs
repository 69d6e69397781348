//! Messages that are delivered some time after their put.
//!
//! Invariants:
//! * None of them expires, and none that is not persistent is for a queue that keeps such over an end: where it waits it is not
//!   kept.
//! * What is delayed has come before the queues are browsed between two rounds.

use posthaste_mqi::Chars;
use posthaste_mqi::constants::MQENC_INTEGER_NORMAL;
use posthaste_mqi::{Hobj, Md};

use super::{Link, Open, Over, Worker, describe};
use crate::history::{Answer, NEVER, Put};
use crate::payload::behind_delay;
use crate::stage::QUEUES;

/// Milliseconds of the longest delay.
pub(crate) const LONGEST_DELAY: u64 = 400;

impl Worker<'_> {
    /// Puts a message that is delayed.
    pub(super) fn put_delayed(
        &mut self,
        link: &mut Link,
        unit: Option<&mut Open>,
    ) -> Result<(), Over> {
        let delay = self.rng.between(1, LONGEST_DELAY);
        let mut payload = self.payload(unit.as_ref().map(|open| open.id));
        payload.expiry_ms = 0;
        let queue = usize::from(payload.queue);
        payload.persistent |= QUEUES.get(queue).is_some_and(|queue| queue.keeps);
        let length = self.size();
        let data = behind_delay(delay, &payload.write(length));
        let (md, mut pmo) = describe(&payload);
        let mut md = Md {
            format: Chars::new("MQHRF2"),
            encoding: MQENC_INTEGER_NORMAL,
            ..md
        };
        let handle = link.handles.get(queue).copied();
        let handle = handle.unwrap_or(Hobj::UNUSABLE);
        let (called_ms, called) = (self.stage.ms(), self.stage.tick());
        let result = link
            .connection
            .put_delayed(handle, &mut md, &mut pmo, data.into());
        let replied = self.stage.tick();
        let answer = Worker::answer(&result);
        self.history.puts.push(Put {
            id: payload.id,
            queue: payload.queue,
            persistent: payload.persistent,
            priority: payload.priority,
            expires: None,
            not_before: Some(called_ms + delay),
            unit: payload.unit,
            called,
            replied: match answer {
                Answer::Unknown => NEVER,
                _ => replied,
            },
            answer,
        });
        if answer == Answer::Done {
            let bytes = i64::try_from(length).unwrap_or(0);
            self.stage.add_queued(bytes);
            if let Some(open) = unit {
                open.moved += bytes;
                self.alive(open, called);
            }
            return Ok(());
        }
        self.refused("putting what is delayed", result.err(), unit)
    }
}
