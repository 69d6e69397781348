//! Nobody is given what another one has.
//!
//! A delivery certainly has its message from its reply on: for ever if it took it for good, and
//! otherwise until the last call of its unit of work that succeeded was made. No other delivery may
//! certainly have it at the same time, nor lie between its call and its reply within that time.

use super::book::{Book, Fate};
use crate::history::{Get, NEVER, Stamp};
use crate::violation::{Broken, Violation};

pub(super) fn check(book: &Book<'_>, found: &mut Vec<Violation>) {
    for (id, life) in &book.lives {
        let held: Vec<(&Get, Stamp)> = life
            .deliveries
            .iter()
            .map(|get| (*get, until(book, get)))
            .collect();
        let clash = held.iter().enumerate().any(|(at, one)| {
            held.iter()
                .skip(at + 1)
                .any(|other| clashes(*one, *other) || clashes(*other, *one))
        });
        if clash {
            let text = format!("it was given to two at a time: {}", book.story(*id));
            found.push(Violation::new(Broken::Repeated, text));
        }
    }
}

/// Until when a delivery certainly has its message.
fn until(book: &Book<'_>, get: &Get) -> Stamp {
    match (book.get_fate(get), get.unit) {
        (Fate::Happened, _) => NEVER,
        (_, Some(unit)) => book.units.get(&unit).map_or(0, |unit| unit.alive),
        (_, None) => 0,
    }
}

/// Whether `other` was given the message while `one` certainly had it.
fn clashes((one, end): (&Get, Stamp), (other, other_end): (&Get, Stamp)) -> bool {
    let within = other.called > one.replied && other.replied < end;
    let both = one.replied < end
        && other.replied < other_end
        && one.replied.max(other.replied) < end.min(other_end);
    within || both || (end == NEVER && other_end == NEVER)
}
