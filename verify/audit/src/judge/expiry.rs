//! Nothing is delivered after it expired.

use super::book::Book;
use crate::violation::{Broken, Violation};

/// Expiry is counted in tenths of a second; one more is left to the clocks.
const SLACK_MS: u64 = 200;

pub(super) fn check(book: &Book<'_>, found: &mut Vec<Violation>) {
    for (id, life) in &book.lives {
        let expires = match life.put {
            Some(put) => put.expires,
            None => life.standing.and_then(|standing| standing.expires),
        };
        let Some(expires) = expires else {
            continue;
        };
        let late = life
            .deliveries
            .iter()
            .any(|get| get.called_ms > expires.by.saturating_add(SLACK_MS));
        if late {
            let text = format!("it had expired: {}", book.story(*id));
            found.push(Violation::new(Broken::Overdue, text));
        }
    }
}
