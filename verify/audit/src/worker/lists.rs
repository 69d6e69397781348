//! Distribution lists: one put that is a message on each of several queues.
//!
//! Invariants:
//! * To the record each message is one of its own, numbered behind one another in the order of the list.
//! * A put outside syncpoint is a unit of work of its own: of the queues that are answered to have it all have it, or none.

use posthaste_client::ClientError;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Name, ObjectRecord, ObjectRecords, Od, Reason, ResponseRecord};

use super::publish::Times;
use super::{Link, Open, Over, Worker, describe};
use crate::history::Answer;
use crate::stage::{LISTS, QUEUES, list_code};

/// A list of these queues.
fn list_of(queues: &[u8]) -> Od {
    let named = |queue: &u8| ObjectRecord {
        object_name: Name::new(QUEUES.get(usize::from(*queue)).map_or("", |q| q.name)),
        ..ObjectRecord::default()
    };
    Od {
        version: MQOD_VERSION_2,
        recs_present: i32::try_from(queues.len()).unwrap_or(0),
        records: Some(Box::new(ObjectRecords {
            objects: queues.iter().map(named).collect(),
            responses: vec![ResponseRecord::default(); queues.len()],
        })),
        ..Od::default()
    }
}

/// What came of it for each queue, where that is not the same for all.
fn each(od: &Od) -> Vec<Answer> {
    let responses = od.records.as_ref().map_or(&[][..], |all| &all.responses);
    let answer = |response: &ResponseRecord| match response.comp_code {
        MQCC_FAILED => Answer::Refused,
        _ => Answer::Done,
    };
    responses.iter().map(answer).collect()
}

impl Worker<'_> {
    /// Puts to one of the lists.
    pub(super) fn put_to_list(
        &mut self,
        link: &mut Link,
        mut unit: Option<&mut Open>,
    ) -> Result<(), Over> {
        let list = self.rng.index(LISTS.len());
        let queues = LISTS[list];
        let mut payload = self.payload(unit.as_ref().map(|open| open.id));
        payload.queue = list_code(list);
        let copies = u32::try_from(queues.len()).unwrap_or(0);
        self.next_message += copies.saturating_sub(1);
        let length = self.size();
        let data = payload.write(length);
        let (mut md, mut pmo) = describe(&payload);
        let mut od = list_of(queues);
        let (called_ms, called) = (self.stage.ms(), self.stage.tick());
        let result = link.connection.put1(&mut od, &mut md, &mut pmo, &data);
        let times = Times {
            called,
            replied: self.stage.tick(),
            called_ms,
            replied_ms: self.stage.ms(),
        };
        let multiple = |reason: Reason| reason == Reason::MULTIPLE_REASONS;
        let in_part = match &result {
            Ok(done) => multiple(done.warning),
            Err(ClientError::Reason(reason)) => multiple(*reason),
            Err(_) => false,
        };
        let answers = match in_part {
            true => each(&od),
            false => vec![Worker::answer(&result); queues.len()],
        };
        let done = answers.iter().filter(|one| **one == Answer::Done).count();
        let of = match (&unit, done) {
            (Some(open), _) => open.id,
            (None, 0) => self.alone(Worker::answer(&result), &times),
            (None, _) => self.alone(Answer::Done, &times),
        };
        self.record_copies(&payload, queues, of, &answers, &times);
        if done > 0 {
            let moved = i64::try_from(length * done).unwrap_or(0);
            self.stage.add_queued(moved);
            if let Some(open) = &mut unit {
                open.moved += moved;
                self.alive(open, called);
            }
        }
        match in_part {
            // The load explains queues that are full, and a log.
            true => Ok(()),
            false => self.refused("putting to a list", result.err(), unit),
        }
    }
}
