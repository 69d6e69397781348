//! Which rounds are legal. Pure: a record goes in, broken promises come out.
//!
//! * [`book`]: the record, sorted by message; what is certain and what is in doubt.
//! * [`presence`]: what must be there, what must not, and units of work in doubt: all or nothing.
//! * [`holds`]: nobody is given what another one has.
//! * [`order`]: earlier messages and higher priorities come first.
//! * [`counts`]: backout counts.
//! * [`expiry`]: nothing is delivered after it expired.
//! * [`delay`]: nothing is seen before its delay was over.
//!
//! Invariant: a rule speaks only of what is certain whatever the queue manager did between a call
//! and its reply, so a violation is always a defect. Three freedoms follow from that, and no other:
//! * A put or commit without a reply may have happened or not; a unit of work all or nothing.
//! * A get outside syncpoint without a reply may have taken one message of its queue: such a get is
//!   at most once.
//! * A unit of work may have been backed out by the queue manager (2003) at any time after the last
//!   of its calls that succeeded.

mod book;
mod counts;
mod delay;
mod expiry;
mod holds;
mod order;
mod presence;

#[cfg(test)]
mod tests;

use crate::history::{Expires, Round, Traits};
use crate::ledger::{Gone, Ledger, Standing, Why};
use crate::violation::{Broken, Violation};
pub(crate) use book::Book;

/// Judges a round against what was known before it, and brings the ledger up to date.
pub(crate) fn judge(ledger: &mut Ledger, traits: &[Traits], round: &Round) -> Vec<Violation> {
    let mut found = round.history.complaints.clone();
    let mut book = Book::open(ledger, traits, round);
    strangers(&book, ledger, &mut found);
    presence::check(&mut book, &mut found);
    holds::check(&book, &mut found);
    order::check(&book, traits, &mut found);
    counts::check(&book, traits, &mut found);
    expiry::check(&book, &mut found);
    delay::check(&book, &mut found);
    let (standing, gone) = close(&book, ledger, round.number);
    ledger.standing = standing;
    ledger.gone.extend(gone);
    found
}

/// Messages that nobody put in this round and that were not there before it.
fn strangers(book: &Book<'_>, ledger: &Ledger, found: &mut Vec<Violation>) {
    for (id, life) in &book.lives {
        if life.put.is_some() || life.standing.is_some() {
            continue;
        }
        let (broken, text) = match ledger.gone.get(id) {
            None => (Broken::Invented, "nobody put it".to_owned()),
            Some(Gone { round, why }) => {
                let (broken, why) = match why {
                    Why::Consumed => (Broken::Returned, "its get was acknowledged"),
                    Why::NeverPut => (Broken::Uncommitted, "its put did not happen"),
                    Why::FoundGone => (Broken::Returned, "it was found gone"),
                };
                (broken, format!("{why} in round {round}"))
            }
        };
        found.push(Violation::new(
            broken,
            format!("{text}, and now: {}", book.story(*id)),
        ));
    }
}

type Closed = (
    std::collections::BTreeMap<crate::history::Id, Standing>,
    Vec<(crate::history::Id, Gone)>,
);

/// What is there now, and what is no more.
fn close(book: &Book<'_>, ledger: &Ledger, round: u32) -> Closed {
    let mut standing = std::collections::BTreeMap::new();
    let mut gone = Vec::new();
    for (id, life) in &book.lives {
        if let Some((queue, seen)) = life.seen {
            let expires: Option<Expires> = life
                .standing
                .and_then(|s| s.expires)
                .or(life.put.and_then(|p| p.expires));
            let now = Standing {
                queue,
                persistent: seen.persistent,
                priority: seen.priority,
                expires,
                delayed: life.delayed(),
                backouts: seen.backouts,
            };
            standing.insert(*id, now);
        } else if !ledger.gone.contains_key(id) {
            let why = if book.consumed(life) {
                Why::Consumed
            } else if book.existed(life) {
                Why::FoundGone
            } else {
                Why::NeverPut
            };
            gone.push((*id, Gone { round, why }));
        }
    }
    (standing, gone)
}
