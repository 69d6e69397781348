//! Backout counts.
//!
//! At least: what it was when the round began, and one for each unit of work that had got the
//! message and was acknowledged as backed out before. At most: the same and one for each unit of
//! work that may have been backed out, whoever knows of it. Over a crash the lower bound holds for
//! persistent messages on queues with HARDENBO.

use super::book::{Book, Fate, Life};
use crate::history::{Ending, Get, Id, Stamp, Traits};
use crate::violation::{Broken, Violation};

pub(super) fn check(book: &Book<'_>, traits: &[Traits], found: &mut Vec<Violation>) {
    for (id, life) in &book.lives {
        if life.put.is_none() && life.standing.is_none() {
            continue;
        }
        let start = life.standing.map_or(0, |standing| standing.backouts);
        let hardened = life
            .queue()
            .and_then(|queue| traits.get(usize::from(queue)))
            .is_some_and(|traits| traits.hardened);
        let mut compare = |count: u32, at: Stamp, least: u32| {
            let most = start + at_most(book, life, at);
            if count < least || count > most {
                found.push(miscounted(book, *id, count, least, most));
            }
        };
        for get in &life.deliveries {
            if let Some((_, count)) = get.delivered() {
                let least = start + at_least(book, life, get.called);
                compare(count, get.replied, least);
            }
        }
        if let Some((_, seen)) = life.seen {
            let least = match book.killed() && !hardened {
                true => 0,
                false => start + at_least(book, life, Stamp::MAX),
            };
            compare(seen.backouts, Stamp::MAX, least);
        }
    }
}

fn miscounted(book: &Book<'_>, id: Id, count: u32, least: u32, most: u32) -> Violation {
    let text = format!(
        "its backout count is {count}, not {least} to {most}: {}",
        book.story(id)
    );
    Violation::new(Broken::Miscounted, text)
}

/// Units of work that had it and were acknowledged as backed out before.
fn at_least(book: &Book<'_>, life: &Life<'_>, before: Stamp) -> u32 {
    let acknowledged = |get: &&&Get| {
        let unit = get.unit.and_then(|id| book.units.get(&id));
        matches!(
            unit.map(|u| u.ending),
            Some(Ending::BackedOut { replied }) if replied < before
        )
    };
    count(life.deliveries.iter().filter(acknowledged))
}

/// Units of work that may have had it and been backed out by then.
fn at_most(book: &Book<'_>, life: &Life<'_>, by: Stamp) -> u32 {
    let undone = |get: &&&Get| get.called < by && book.get_fate(get) != Fate::Happened;
    let hidden =
        |get: &&&Get| get.called < by && get.unit.is_some() && Some(get.queue) == life.queue();
    count(life.deliveries.iter().filter(undone)) + count(book.obscure.iter().filter(hidden))
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
