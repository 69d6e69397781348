//! Falsifies a record the way a defective queue manager would make it, so that a run can prove that
//! the auditor finds it.

use std::collections::BTreeSet;

use clap::ValueEnum;

use crate::history::{Answer, Close, Ending, Id, Outcome, Put, Round, UnitId};
use crate::violation::Broken;

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plant {
    /// The delivery of an acknowledged persistent message is forgotten.
    Lose,
    /// A message is delivered once more after its get was acknowledged.
    Duplicate,
    /// Of a unit of work whose commit got no reply, one message is missing.
    Half,
    /// A message that was backed out is delivered.
    Revive,
    /// Two messages of a connection change places on their queue.
    Reorder,
    /// A delayed message is delivered at once.
    Hasten,
}

impl Plant {
    /// What the judge has to say, and nothing else.
    pub(crate) fn expected(self) -> Broken {
        match self {
            Plant::Lose => Broken::Lost,
            Plant::Duplicate => Broken::Repeated,
            Plant::Half => Broken::Half,
            Plant::Revive => Broken::Uncommitted,
            Plant::Reorder => Broken::Misordered,
            Plant::Hasten => Broken::Early,
        }
    }

    /// Falsifies the record, and says how. `None` if this round has no place for it.
    pub(crate) fn falsify(self, round: &mut Round) -> Option<String> {
        if round.close != Close::Killed {
            return None;
        }
        match self {
            Plant::Lose => lose(round),
            Plant::Duplicate => duplicate(round),
            Plant::Half => half(round),
            Plant::Revive => revive(round),
            Plant::Reorder => reorder(round),
            Plant::Hasten => hasten(round),
        }
    }
}

/// Queues on which a call in flight might explain a missing message.
fn excused(round: &Round) -> BTreeSet<u8> {
    let gets = round.history.gets.iter();
    gets.filter(|get| get.obscure())
        .map(|get| get.queue)
        .collect()
}

/// Persistent messages put in this round that do not expire, on queues where nothing is excused.
fn lasting<'a>(round: &'a Round, excused: &'a BTreeSet<u8>) -> impl Iterator<Item = &'a Put> {
    round.history.puts.iter().filter(|put| {
        let accepted = put.answer == Answer::Done;
        accepted && put.persistent && put.expires.is_none() && !excused.contains(&put.queue)
    })
}

/// The only delivery of a message, if it was outside syncpoint.
fn only_get(round: &Round, id: Id) -> Option<usize> {
    let mut of_it = round
        .history
        .gets
        .iter()
        .enumerate()
        .filter(|(_, get)| get.delivered().is_some_and(|(got, _)| got == id));
    let (at, get) = of_it.next()?;
    (of_it.next().is_none() && get.unit.is_none()).then_some(at)
}

/// A message put and got once, both outside syncpoint, and that get.
fn got_alone(round: &Round) -> Option<(Id, usize)> {
    let excused = excused(round);
    let mut puts = lasting(round, &excused).filter(|put| put.unit.is_none());
    puts.find_map(|put| Some((put.id, only_get(round, put.id)?)))
}

fn lose(round: &mut Round) -> Option<String> {
    let (id, at) = got_alone(round)?;
    round.history.gets.remove(at);
    Some(format!("the delivery of message {id} was forgotten"))
}

fn duplicate(round: &mut Round) -> Option<String> {
    let (id, at) = got_alone(round)?;
    let mut again = round.history.gets.get(at)?.clone();
    // Asked for by name: an additional delivery says nothing about the order of the others.
    again.plain = false;
    let last = round.history.gets.iter().map(|get| get.called).max()?;
    (again.called, again.replied) = (last + 1, last + 2);
    round.history.gets.push(again);
    Some(format!("message {id} was delivered once more"))
}

fn half(round: &mut Round) -> Option<String> {
    let excused = excused(round);
    let there = |id: Id| {
        let mut all = round.snapshot.queues.iter().flatten();
        all.any(|seen| seen.id == id)
    };
    let untouched = |id: Id| {
        let mut gets = round.history.gets.iter().filter_map(|get| get.delivered());
        !gets.any(|(got, _)| got == id)
    };
    let (unit, lost) = round.history.units.iter().find_map(|unit| {
        if !matches!(unit.ending, Ending::Committed { .. }) {
            return None;
        }
        let mut of_it = lasting(round, &excused)
            .filter(|put| put.unit == Some(unit.id) && there(put.id) && untouched(put.id));
        let (first, _second) = (of_it.next()?, of_it.next()?);
        Some((unit.id, first.id))
    })?;
    remove(round, lost);
    in_doubt(round, unit);
    Some(format!(
        "the commit of unit of work {unit} got no reply and its message {lost} is missing"
    ))
}

/// Milliseconds of a delay that is more than what is left to the clocks.
const LONG_DELAY: u64 = 100;

fn hasten(round: &mut Round) -> Option<String> {
    let puts = round.history.puts.iter();
    let mut delayed = puts.filter_map(|put| Some((put.id, put.not_before?)));
    let (id, not_before) = delayed.find(|(id, _)| {
        let mut gets = round.history.gets.iter();
        gets.any(|get| get.delivered().is_some_and(|(got, _)| got == *id))
    })?;
    let mut gets = round.history.gets.iter_mut();
    let get = gets.find(|get| get.delivered().is_some_and(|(got, _)| got == id))?;
    get.replied_ms = not_before.saturating_sub(LONG_DELAY);
    Some(format!(
        "message {id} was delivered before its delay was over"
    ))
}

fn remove(round: &mut Round, id: Id) {
    for queue in &mut round.snapshot.queues {
        queue.retain(|seen| seen.id != id);
    }
}

fn in_doubt(round: &mut Round, id: UnitId) {
    for unit in &mut round.history.units {
        if let Ending::Committed { called, .. } = unit.ending
            && unit.id == id
        {
            unit.ending = Ending::InDoubt { called };
        }
    }
}

fn revive(round: &mut Round) -> Option<String> {
    let id = round.history.units.iter().find_map(|unit| {
        let mut puts = round.history.puts.iter();
        // Of one that is delayed it would be early, too.
        let of_it = puts.find(|put| {
            let of_unit = put.unit == Some(unit.id) && put.answer == Answer::Done;
            of_unit && put.not_before.is_none()
        });
        let backed_out = matches!(unit.ending, Ending::BackedOut { .. });
        of_it.filter(|_| backed_out).map(|put| put.id)
    })?;
    let mut get = round.history.gets.first()?.clone();
    let last = round.history.gets.iter().map(|get| get.called).max()?;
    (get.called, get.replied) = (last + 1, last + 2);
    get.unit = None;
    get.plain = false;
    get.outcome = Outcome::Delivered { id, backouts: 0 };
    round.history.gets.push(get);
    Some(format!("message {id} was delivered after its backout"))
}

fn reorder(round: &mut Round) -> Option<String> {
    let puts = round.history.puts.iter();
    let ordered: BTreeSet<Id> = puts
        .filter(|put| put.not_before.is_none())
        .map(|put| put.id)
        .collect();
    for line in &mut round.snapshot.queues {
        let pair = line.windows(2).position(|pair| match pair {
            [a, b] if !ordered.contains(&a.id) || !ordered.contains(&b.id) => false,
            [a, b] => a.id.worker == b.id.worker && a.priority == b.priority,
            _ => false,
        });
        if let Some(at) = pair {
            line.swap(at, at + 1);
            let id = line.get(at)?.id;
            return Some(format!("message {id} jumped the queue"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Get, History, Seen, Snapshot, Traits, Unit};
    use crate::judge::judge;
    use crate::ledger::Ledger;

    const TRAITS: [Traits; 1] = [Traits {
        name: "Q",
        by_priority: true,
        hardened: true,
        keeps: false,
    }];

    fn put(number: u32, unit: Option<UnitId>, at: u64) -> Put {
        Put {
            id: Id { worker: 1, number },
            queue: 0,
            persistent: true,
            priority: 4,
            expires: None,
            not_before: None,
            unit,
            called: at,
            replied: at + 1,
            answer: Answer::Done,
        }
    }

    /// One message that was delayed got, two of a committed unit of work and one more there, one backed out.
    fn legal() -> Round {
        let unit = |number| UnitId { worker: 1, number };
        let seen = |number| Seen {
            id: Id { worker: 1, number },
            persistent: true,
            priority: 4,
            backouts: 0,
        };
        let get = Get {
            queue: 0,
            unit: None,
            called: 20,
            replied: 21,
            called_ms: 0,
            replied_ms: 1_500,
            plain: true,
            outcome: Outcome::Delivered {
                id: Id {
                    worker: 1,
                    number: 0,
                },
                backouts: 0,
            },
        };
        let ended = |number, ending| Unit {
            id: unit(number),
            alive: 6,
            ending,
            branch: None,
        };
        let delayed = Put {
            not_before: Some(1_000),
            ..put(0, None, 1)
        };
        let history = History {
            puts: vec![
                delayed,
                put(1, Some(unit(0)), 3),
                put(2, Some(unit(0)), 5),
                put(3, Some(unit(1)), 11),
            ],
            gets: vec![get],
            units: vec![
                ended(
                    0,
                    Ending::Committed {
                        called: 7,
                        replied: 8,
                    },
                ),
                ended(1, Ending::BackedOut { replied: 14 }),
            ],
            complaints: Vec::new(),
        };
        Round {
            number: 1,
            history,
            close: Close::Killed,
            snapshot: Snapshot {
                queues: vec![vec![seen(1), seen(2)]],
                taken_ms: 1_000,
            },
        }
    }

    #[test]
    fn every_plant_is_found_and_nothing_else() {
        let found = judge(&mut Ledger::default(), &TRAITS, &legal());
        assert_eq!(found, []);
        for plant in Plant::value_variants() {
            let mut round = legal();
            assert!(plant.falsify(&mut round).is_some(), "{plant:?}");
            let found = judge(&mut Ledger::default(), &TRAITS, &round);
            assert!(!found.is_empty(), "{plant:?}");
            for violation in found {
                assert_eq!(violation.broken, plant.expected(), "{plant:?}: {violation}");
            }
        }
    }
}
