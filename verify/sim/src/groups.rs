//! One application puts groups, whole or not, in logical order or in any, and gets them in logical order.
//!
//! The rules, for a getter with MQGMO_LOGICAL_ORDER and MQGMO_ALL_MSGS_AVAILABLE:
//! * A group comes whole, from 1 to its last message, with nothing in between.
//! * A group that is not whole does not come, and one that is whole does: none is left at 2033.
//! * After a backout in the middle of a group, putter and getter go on where they stood at the last commit.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use posthaste_model::Rule;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md};

use crate::solo::{Going, must};
use crate::workload::{Worker, id24};

/// Whole groups on the queue: how many messages each has.
type Whole = BTreeMap<[u8; 24], i32>;

/// The descriptor of a message of a group.
fn member(group_id: [u8; 24], msg_seq_number: i32, last: bool) -> Md {
    Md {
        version: MQMD_VERSION_2,
        group_id,
        msg_seq_number,
        msg_flags: MQMF_MSG_IN_GROUP | if last { MQMF_LAST_MSG_IN_GROUP } else { 0 },
        ..Md::default()
    }
}

impl Worker {
    /// Works until the queue manager or a rule says stop.
    pub(crate) async fn group(self) {
        let going = self.group_rounds().await;
        self.end(going);
    }

    async fn group_rounds(&self) -> Going {
        while !self.stopping() {
            // A handle remembers where its last message stood in its group: each is for one purpose.
            let drain = self.open_one("G.GROUPS", MQOO_INPUT_SHARED).await?;
            let rest = MQGMO_NO_SYNCPOINT;
            while self.take_one(drain, rest, Duration::ZERO).await?.is_some() {}
            self.close_one(drain).await?;
            let mut whole = Whole::new();
            for _ in 0..=self.below(3) {
                let handle = self.open_one("G.GROUPS", MQOO_OUTPUT).await?;
                self.put_group(handle, &mut whole).await?;
                self.close_one(handle).await?;
            }
            let queue = self.open_one("G.GROUPS", MQOO_INPUT_SHARED).await?;
            for end in [false, true] {
                // Once in vain: all of them come again.
                let before = whole.clone();
                self.get_groups(queue, &mut whole, end).await?;
                if end {
                    self.commit_one().await?;
                } else {
                    self.backout_one().await?;
                    whole = before;
                }
            }
            self.close_one(queue).await?;
            self.sleep(100_000).await;
        }
        Ok(())
    }

    async fn put_group(&self, queue: Hobj, whole: &mut Whole) -> Going {
        let count = 1 + self.below(5) as i32;
        let logical = self.below(2) == 0;
        let persistence = [MQPER_NOT_PERSISTENT, MQPER_PERSISTENT][self.below(2) as usize];
        let number = {
            let mut shared = self.shared.borrow_mut();
            shared.next_number += 1;
            shared.next_number
        };
        let mut id = id24(number);
        let mut order: Vec<i32> = (1..=count).collect();
        if !logical {
            for at in (1..order.len()).rev() {
                order.swap(at, self.below(at as u64 + 1) as usize);
            }
            // Sometimes one is not put at all.
            if self.below(3) == 0 {
                order.pop();
            }
        }
        let complete = order.len() == count as usize;
        let (mut put, mut committed) = (0, 0);
        while put < order.len() {
            let sequence = order[put];
            let mut md = Md {
                persistence,
                ..member(id, sequence, sequence == count)
            };
            let order = if logical { MQPMO_LOGICAL_ORDER } else { 0 };
            let data = Bytes::copy_from_slice(&sequence.to_le_bytes());
            self.send_one(queue, &mut md, MQPMO_SYNCPOINT | order, data)
                .await?;
            let begins = logical && sequence == 1;
            let goes_on = md.msg_seq_number == sequence && (begins || md.group_id == id);
            must(goes_on, Rule::Groups, || {
                format!(
                    "the message {sequence} of a group was put as {}",
                    md.msg_seq_number
                )
            })?;
            id = md.group_id;
            put += 1;
            match self.below(12) {
                0 => {
                    self.backout_one().await?;
                    put = committed;
                    self.met("group backed out under its putter");
                }
                1 => {
                    self.commit_one().await?;
                    committed = put;
                }
                _ => {}
            }
        }
        self.commit_one().await?;
        if complete {
            whole.insert(id, count);
        }
        self.met(if logical {
            "put logical order"
        } else {
            "put group"
        });
        Ok(())
    }

    /// Gets all there is; `commits`: sometimes a part of it for good.
    async fn get_groups(&self, queue: Hobj, whole: &mut Whole, commits: bool) -> Going {
        let options = MQGMO_SYNCPOINT | MQGMO_LOGICAL_ORDER | MQGMO_ALL_MSGS_AVAILABLE;
        let mut inside: Option<([u8; 24], i32)> = None;
        let mut committed = (inside, whole.clone());
        while let Some((md, data)) = self.take_one(queue, options, Duration::ZERO).await? {
            let (id, sequence) = (md.group_id, md.msg_seq_number);
            let expected = inside.is_none_or(|inside| inside == (id, sequence));
            let count = whole.get(&id).copied();
            let begins = inside.is_some() || sequence == 1;
            let own = data[..] == sequence.to_le_bytes();
            must(
                expected && begins && own && count.is_some(),
                Rule::Groups,
                || format!("message {sequence} of a group of {count:?}, where {inside:?} was due"),
            )?;
            let last = count == Some(sequence);
            let flagged = md.msg_flags & MQMF_LAST_MSG_IN_GROUP != 0;
            must(last == flagged, Rule::Groups, || {
                format!("message {sequence} of {count:?} is last: {flagged}")
            })?;
            inside = (!last).then_some((id, sequence + 1));
            if last {
                whole.remove(&id);
                self.met("get logical order");
            }
            match self.below(24) {
                0 => {
                    self.backout_one().await?;
                    (inside, *whole) = committed.clone();
                    self.met("group backed out under its getter");
                }
                1 if commits => {
                    self.commit_one().await?;
                    committed = (inside, whole.clone());
                }
                _ => {}
            }
        }
        must(inside.is_none() && whole.is_empty(), Rule::Groups, || {
            format!(
                "in the middle of {inside:?}, with {} whole groups there, nothing comes",
                whole.len()
            )
        })
    }
}
