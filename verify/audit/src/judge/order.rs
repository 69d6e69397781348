//! Earlier messages of a connection, and higher priorities, come first.
//!
//! A delivery is out of order if, during all of the call, a message that goes before the delivered
//! one was certainly available: visible before the call was made, given to nobody who might still
//! have had it, and delivered or found later, so that it had not gone. Messages that expire are left
//! out, and those that are delayed, which come some time after their puts; and so are deliveries beside which a call without a
//! message may have held one.

use std::collections::{BTreeMap, HashMap};

use super::book::{Book, Life};
use crate::history::{Get, Id, NEVER, Stamp, Traits};
use crate::violation::{Broken, Violation};

/// A time in which a message was certainly available.
struct Free {
    id: Id,
    from: Stamp,
    until: Stamp,
}

/// By queue, then by priority (all the same on a FIFO queue).
type Line = BTreeMap<u8, Vec<Free>>;

pub(super) fn check(book: &Book<'_>, traits: &[Traits], found: &mut Vec<Violation>) {
    let mut lines: HashMap<u8, Line> = HashMap::new();
    for (id, life) in &book.lives {
        if let Some((queue, class)) = place(life, traits)
            && !life.expires()
            && !life.delayed()
        {
            let line = lines.entry(queue).or_default();
            times(book, *id, life, line.entry(class).or_default());
        }
    }
    let hidden = hidden(book);
    for (id, life) in &book.lives {
        let Some((queue, class)) = place(life, traits) else {
            continue;
        };
        for get in life.deliveries.iter().filter(|get| get.plain) {
            if overlaps(hidden.get(&queue), get) {
                continue;
            }
            let passed = lines
                .get(&queue)
                .and_then(|line| passed_over(line, *id, class, get));
            if let Some(earlier) = passed {
                let text = format!(
                    "{} was got @{}-{} while another goes before it: {}\n    {}",
                    id,
                    get.called,
                    get.replied,
                    book.story(*id),
                    book.story(earlier)
                );
                found.push(Violation::new(Broken::Misordered, text));
            }
        }
    }
    snapshot(book, traits, found);
}

/// The queue of a message, and its class there.
fn place(life: &Life<'_>, traits: &[Traits]) -> Option<(u8, u8)> {
    let (queue, priority) = (life.queue()?, life.priority()?);
    let by_priority = traits.get(usize::from(queue))?.by_priority;
    Some((queue, if by_priority { priority } else { 0 }))
}

fn times(book: &Book<'_>, id: Id, life: &Life<'_>, out: &mut Vec<Free>) {
    let Some(mut from) = book.visible_from(life) else {
        return;
    };
    for get in &life.deliveries {
        if from < get.called {
            let until = get.called;
            out.push(Free { id, from, until });
        }
        from = from.max(book.may_hold_until(get));
    }
    if life.seen.is_some() && from < NEVER {
        let until = NEVER;
        out.push(Free { id, from, until });
    }
}

/// When calls that were given nothing may have held something, by queue.
fn hidden(book: &Book<'_>) -> HashMap<u8, Vec<(Stamp, Stamp)>> {
    let mut hidden: HashMap<u8, Vec<(Stamp, Stamp)>> = HashMap::new();
    for get in &book.obscure {
        hidden
            .entry(get.queue)
            .or_default()
            .push((get.called, get.replied));
    }
    hidden
}

fn overlaps(hidden: Option<&Vec<(Stamp, Stamp)>>, get: &Get) -> bool {
    hidden.is_some_and(|spans| {
        spans
            .iter()
            .any(|(called, replied)| *called < get.replied && *replied > get.called)
    })
}

fn passed_over(line: &Line, id: Id, class: u8, get: &Get) -> Option<Id> {
    let covers = |free: &&Free| free.from < get.called && get.replied < free.until;
    let higher = line
        .range(class.checked_add(1)?..)
        .flat_map(|(_, free)| free)
        .find(covers);
    let mut same = line.get(&class).into_iter().flatten().filter(covers);
    higher
        .or_else(|| same.find(|f| f.id.worker == id.worker && f.id.number < id.number))
        .map(|free| free.id)
}

/// The order in which messages stand on their queues.
fn snapshot(book: &Book<'_>, traits: &[Traits], found: &mut Vec<Violation>) {
    for (seen, traits) in book.round.snapshot.queues.iter().zip(traits) {
        let mut last: HashMap<u32, (u8, Id)> = HashMap::new();
        let mut lowest = u8::MAX;
        for seen in seen {
            let class = if traits.by_priority { seen.priority } else { 0 };
            let delayed = book.lives.get(&seen.id).is_some_and(Life::delayed);
            let before = match delayed {
                true => None,
                false => last.insert(seen.id.worker, (class, seen.id)),
            };
            let behind = before.is_some_and(|(c, id)| c == class && id > seen.id);
            if class > lowest || behind {
                let text = format!(
                    "it stands behind a message that it goes before on {}: {}",
                    traits.name,
                    book.story(seen.id)
                );
                found.push(Violation::new(Broken::Misordered, text));
            }
            lowest = class;
        }
    }
}
