//! What must be there, what must not, and units of work in doubt.
//!
//! A unit of work in doubt is tried both ways. Evidence for its commit: a message it put was
//! delivered or is there. Evidence against: a message it got is there, or was given to somebody else
//! afterwards (a connection that was cut is backed out while others work on): to one who asked later, or
//! with a higher backout count. What is missing under one
//! way and under no other explanation is its cost, which may be paid by gets outside syncpoint that
//! were in flight on the same queue (each may have taken one message), as may be any other missing
//! message. A way is possible if nothing contradicts it and all costs together can be paid.

use std::collections::BTreeMap;

use super::book::{Book, Fate, Life, may_have_taken};
use crate::history::{Ending, Get, Id, UnitId};
use crate::violation::{Broken, Violation};

/// Missing messages and their queues: the price of a way.
type Cost = Vec<(u8, Id)>;
/// One way a unit of work may have gone: it cannot have, or at a price.
type Way = Option<Cost>;

/// A unit of work that may have gone either way, each at a price.
struct Choice {
    unit: UnitId,
    commit: Cost,
    back: Cost,
}

#[derive(Default)]
struct InDoubt {
    puts: Vec<Id>,
    gets: Vec<Id>,
}

/// Messages that calls in flight may have taken, by queue.
type Budget = BTreeMap<u8, usize>;

/// Most units of work whose two ways are tried in every combination.
const TRIED: usize = 16;

pub(super) fn check(book: &mut Book<'_>, found: &mut Vec<Violation>) {
    let mut budget = Budget::new();
    for get in book.obscure.iter().filter(|get| may_have_taken(get)) {
        *budget.entry(get.queue).or_default() += 1;
    }
    let doubtful = visible_and_missing(book, &mut budget, found);
    settle(book, doubtful, &mut budget, found);
}

/// Everything that does not depend on a unit of work in doubt. Returns those.
fn visible_and_missing(
    book: &Book<'_>,
    budget: &mut Budget,
    found: &mut Vec<Violation>,
) -> BTreeMap<UnitId, InDoubt> {
    let mut doubtful: BTreeMap<UnitId, InDoubt> = BTreeMap::new();
    let mut missing: BTreeMap<u8, Vec<Id>> = BTreeMap::new();
    for (id, life) in &book.lives {
        let mut say = |broken: Broken, what: &str| found.push(tell(broken, what, &book.story(*id)));
        let fate = book.put_fate(life);
        if fate == Fate::Undone {
            if life.seen.is_some() || !life.deliveries.is_empty() {
                say(Broken::Uncommitted, "its put did not happen");
            }
            continue;
        }
        if seen_early(book, life) {
            say(Broken::Early, "it was got before its commit was asked for");
        }
        if let Fate::With(unit) = fate {
            doubtful.entry(unit).or_default().puts.push(*id);
        }
        let mut taken_in_doubt = false;
        for get in &life.deliveries {
            if let Fate::With(unit) = book.get_fate(get) {
                taken_in_doubt = true;
                doubtful.entry(unit).or_default().gets.push(*id);
            }
        }
        let there = life.seen.is_some();
        if !book.outlives(life) {
            if there {
                say(Broken::Resurrected, "it is not persistent");
            }
        } else if book.consumed(life) {
            if there {
                say(Broken::Returned, "its get was acknowledged");
            }
        } else if book.existed(life) && !taken_in_doubt && absent(book, life) {
            missing
                .entry(life.queue().unwrap_or(u8::MAX))
                .or_default()
                .push(*id);
        }
    }
    for (queue, ids) in missing {
        let may = budget.entry(queue).or_default();
        if ids.len() <= *may {
            *may -= ids.len();
            continue;
        }
        let what = format!(
            "it is missing; {} messages are on queue {queue}, of which calls in flight explain {may}",
            ids.len()
        );
        *may = 0;
        let tales = ids.iter().map(|id| book.story(*id));
        found.extend(tales.map(|tale| tell(Broken::Lost, &what, &tale)));
    }
    doubtful
}

fn tell(broken: Broken, what: &str, story: &str) -> Violation {
    Violation::new(broken, format!("{what}: {story}"))
}

/// It is not there, and that cannot be because it expired.
fn absent(book: &Book<'_>, life: &Life<'_>) -> bool {
    life.seen.is_none() && !life.may_have_expired(book.round.snapshot.taken_ms)
}

/// Delivered, with the reply before the commit of its put was asked for.
fn seen_early(book: &Book<'_>, life: &Life<'_>) -> bool {
    let unit = life.put.and_then(|put| put.unit);
    let asked = match unit.and_then(|id| book.units.get(&id)).map(|u| u.ending) {
        Some(Ending::Committed { called, .. } | Ending::InDoubt { called }) => called,
        _ => return false,
    };
    life.deliveries.iter().any(|get| get.replied < asked)
}

/// Whether a message that the unit of work got was given to somebody else: who took it for good, asked later, or
/// was told that it had been backed out meanwhile (a get that waits is called before and given it after).
fn given_on(book: &Book<'_>, unit: UnitId, life: &Life<'_>) -> bool {
    let (own, others): (Vec<&Get>, Vec<&Get>) = life
        .deliveries
        .iter()
        .partition(|get| get.unit == Some(unit));
    let backouts = |get: &Get| get.delivered().map_or(0, |(_, backouts)| backouts);
    let had = own.iter().map(|get| get.replied).max().unwrap_or(0);
    let count = own.iter().map(|get| backouts(get)).max().unwrap_or(0);
    others.iter().any(|get| {
        book.get_fate(get) == Fate::Happened || get.called > had || backouts(get) > count
    })
}

/// The two ways of a unit of work in doubt: committed, backed out.
fn ways(book: &Book<'_>, unit: UnitId, doubt: &InDoubt) -> (Way, Way) {
    let (mut commit, mut back): (Way, Way) = (Some(Vec::new()), Some(Vec::new()));
    for (id, is_put) in doubt
        .puts
        .iter()
        .map(|id| (id, true))
        .chain(doubt.gets.iter().map(|id| (id, false)))
    {
        let Some(life) = book.lives.get(id) else {
            continue;
        };
        let there = life.seen.is_some();
        let in_doubt = |get: &&&crate::history::Get| matches!(book.get_fate(get), Fate::With(_));
        let takers_in_doubt = life.deliveries.iter().filter(in_doubt).count();
        // Others who may have taken it, or have.
        let others = usize::from(book.consumed(life)) + takers_in_doubt - usize::from(!is_put);
        let owed = book.outlives(life);
        let gone = owed && absent(book, life) && others == 0;
        let impossible = match is_put {
            true => there || !life.deliveries.is_empty(),
            false => there || given_on(book, unit, life),
        };
        let (pays, barred) = match is_put {
            true => (&mut commit, &mut back),
            false => (&mut back, &mut commit),
        };
        if impossible {
            *barred = None;
        }
        if gone && let Some(cost) = pays {
            cost.push((life.queue().unwrap_or(u8::MAX), *id));
        }
    }
    (commit, back)
}

/// Decides every unit of work in doubt.
fn settle(
    book: &mut Book<'_>,
    doubtful: BTreeMap<UnitId, InDoubt>,
    budget: &mut Budget,
    found: &mut Vec<Violation>,
) {
    let mut open: Vec<Choice> = Vec::new();
    let mut halves: Vec<(UnitId, bool)> = Vec::new();
    for (unit, doubt) in &doubtful {
        let committed = match ways(book, *unit, doubt) {
            (Some(commit), _) if commit.is_empty() => true,
            (_, Some(back)) if back.is_empty() => false,
            (Some(commit), Some(back)) => {
                open.push(Choice {
                    unit: *unit,
                    commit,
                    back,
                });
                continue;
            }
            (Some(cost), None) => {
                if !pay(budget, &cost) {
                    halves.push((*unit, true));
                }
                true
            }
            (None, Some(cost)) => {
                if !pay(budget, &cost) {
                    halves.push((*unit, false));
                }
                false
            }
            (None, None) => {
                halves.push((*unit, true));
                true
            }
        };
        book.resolved.insert(*unit, committed);
    }
    match assign(&open, budget) {
        Some(choices) => {
            for (choice, committed) in open.iter().zip(choices) {
                book.resolved.insert(choice.unit, committed);
            }
        }
        None => {
            for choice in &open {
                book.resolved.insert(choice.unit, true);
                halves.push((choice.unit, true));
            }
        }
    }
    for (unit, committed) in halves {
        let Some(doubt) = doubtful.get(&unit) else {
            continue;
        };
        let mut text =
            format!("unit of work {unit} happened in part (taken as committed: {committed})");
        for (what, ids) in [("put", &doubt.puts), ("got", &doubt.gets)] {
            for id in ids {
                text.push_str(&format!("\n    {what}: {}", book.story(*id)));
            }
        }
        found.push(Violation::new(Broken::Half, text));
    }
}

/// Takes a price from the budget, or leaves it as it is.
fn pay(budget: &mut Budget, cost: &[(u8, Id)]) -> bool {
    let mut left = budget.clone();
    for (queue, _) in cost {
        match left.get_mut(queue) {
            Some(may) if *may > 0 => *may -= 1,
            _ => return false,
        }
    }
    *budget = left;
    true
}

/// Finds ways that can all be paid together. Beyond [`TRIED`] units only the first that fits is tried.
fn assign(open: &[Choice], budget: &Budget) -> Option<Vec<bool>> {
    let Some((first, rest)) = open.split_first() else {
        return Some(Vec::new());
    };
    for (committed, cost) in [(true, &first.commit), (false, &first.back)] {
        let mut left = budget.clone();
        if !pay(&mut left, cost) {
            continue;
        }
        if let Some(mut choices) = assign(rest, &left) {
            choices.insert(0, committed);
            return Some(choices);
        }
        if open.len() > TRIED {
            break;
        }
    }
    None
}
