//! Nothing is seen before its delay was over.
//!
//! A delivery is early if its reply had been read, and a message found if the browsing was over, before the moment that its put
//! named, counted from before the put was called.

use super::book::Book;
use crate::violation::{Broken, Violation};

/// What is left to the clocks, by which a restart goes on where the one before it was.
const SLACK_MS: u64 = 20;

pub(super) fn check(book: &Book<'_>, found: &mut Vec<Violation>) {
    for (id, life) in &book.lives {
        let Some(not_before) = life.put.and_then(|put| put.not_before) else {
            continue;
        };
        let early = |ms: u64| ms + SLACK_MS < not_before;
        let delivered = life.deliveries.iter().any(|get| early(get.replied_ms));
        if delivered || life.seen.is_some() && early(book.round.snapshot.taken_ms) {
            let text = format!("its delay was not over: {}", book.story(*id));
            found.push(Violation::new(Broken::Early, text));
        }
    }
}
