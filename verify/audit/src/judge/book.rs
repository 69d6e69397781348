//! The record of a round, sorted by message, and what follows from it directly.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use crate::history::{
    Answer, Close, Ending, Get, Id, NEVER, Outcome, Put, Round, Seen, Stamp, Traits, Unit, UnitId,
};
use crate::ledger::{Ledger, Standing};

/// Everything known about one message.
#[derive(Default)]
pub(crate) struct Life<'a> {
    /// It was there when the round began.
    pub(super) standing: Option<Standing>,
    /// It was put in this round.
    pub(super) put: Option<&'a Put>,
    /// In the order of the calls.
    pub(super) deliveries: Vec<&'a Get>,
    /// The queue it was found on when the round had ended.
    pub(super) seen: Option<(u8, Seen)>,
}

impl Life<'_> {
    pub(super) fn persistent(&self) -> bool {
        match (self.put, self.standing, self.seen) {
            (Some(put), _, _) => put.persistent,
            (None, Some(standing), _) => standing.persistent,
            (None, None, Some((_, seen))) => seen.persistent,
            (None, None, None) => false,
        }
    }
    pub(super) fn queue(&self) -> Option<u8> {
        self.put
            .map(|put| put.queue)
            .or(self.standing.map(|standing| standing.queue))
    }
    pub(super) fn priority(&self) -> Option<u8> {
        self.put
            .map(|put| put.priority)
            .or(self.standing.map(|standing| standing.priority))
    }
    /// Whether it may have expired by then (milliseconds since the campaign began).
    pub(super) fn may_have_expired(&self, by_ms: u64) -> bool {
        let expires = match self.put {
            Some(put) => put.expires,
            None => self.standing.and_then(|standing| standing.expires),
        };
        // The queue manager counts in tenths of a second and from a moment of its own within the put.
        expires.is_some_and(|expires| expires.from <= by_ms + 100)
    }
    /// Whether it came some time after its put.
    pub(super) fn delayed(&self) -> bool {
        match self.put {
            Some(put) => put.not_before.is_some(),
            None => self.standing.is_some_and(|s| s.delayed),
        }
    }
    pub(super) fn expires(&self) -> bool {
        match self.put {
            Some(put) => put.expires.is_some(),
            None => self.standing.is_some_and(|s| s.expires.is_some()),
        }
    }
}

/// What became of a unit of work, or of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Happened,
    Undone,
    /// A put outside syncpoint without a reply.
    Open,
    /// As this unit of work decides.
    With(UnitId),
}

/// The record, sorted.
pub(crate) struct Book<'a> {
    pub(super) round: &'a Round,
    traits: &'a [Traits],
    pub(super) lives: BTreeMap<Id, Life<'a>>,
    pub(super) units: HashMap<UnitId, &'a Unit>,
    /// What units of work in doubt were found to have done.
    pub(super) resolved: BTreeMap<UnitId, bool>,
    /// Gets that may have held a message nobody was told of.
    pub(super) obscure: Vec<&'a Get>,
}

impl<'a> Book<'a> {
    pub(crate) fn open(ledger: &Ledger, traits: &'a [Traits], round: &'a Round) -> Book<'a> {
        let mut lives: BTreeMap<Id, Life<'a>> = BTreeMap::new();
        for (id, standing) in &ledger.standing {
            lives.entry(*id).or_default().standing = Some(*standing);
        }
        for put in &round.history.puts {
            lives.entry(put.id).or_default().put = Some(put);
        }
        let mut obscure = Vec::new();
        for get in &round.history.gets {
            if let Some((id, _)) = get.delivered() {
                lives.entry(id).or_default().deliveries.push(get);
            } else if get.obscure() {
                obscure.push(get);
            }
        }
        for (queue, seen) in round.snapshot.queues.iter().enumerate() {
            for seen in seen {
                let queue = u8::try_from(queue).unwrap_or(u8::MAX);
                lives.entry(seen.id).or_default().seen = Some((queue, *seen));
            }
        }
        for life in lives.values_mut() {
            life.deliveries.sort_by_key(|get| get.called);
        }
        let units = round.history.units.iter().map(|u| (u.id, u)).collect();
        Book {
            round,
            traits,
            lives,
            units,
            resolved: BTreeMap::new(),
            obscure,
        }
    }

    pub(super) fn killed(&self) -> bool {
        self.round.close != Close::Quiet
    }

    /// Whether a message is still owed after the end of the round.
    pub(super) fn outlives(&self, life: &Life<'_>) -> bool {
        let keeps = || {
            let queue = life.queue().map(usize::from);
            queue
                .and_then(|at| self.traits.get(at))
                .is_some_and(|t| t.keeps)
        };
        match self.round.close {
            Close::Quiet => true,
            Close::Ended => life.persistent() || keeps(),
            Close::Killed => life.persistent(),
        }
    }

    fn fate_of_unit(&self, id: UnitId) -> Fate {
        let ending = self.units.get(&id).map_or(Ending::Lost, |u| u.ending);
        match ending {
            Ending::Committed { .. } => Fate::Happened,
            Ending::Lost | Ending::BackedOut { .. } => Fate::Undone,
            Ending::InDoubt { .. } => match self.resolved.get(&id) {
                Some(true) => Fate::Happened,
                Some(false) => Fate::Undone,
                None => Fate::With(id),
            },
        }
    }

    /// Whether the message came to be.
    pub(super) fn put_fate(&self, life: &Life<'_>) -> Fate {
        let Some(put) = life.put else {
            return Fate::Happened;
        };
        match (put.answer, put.unit) {
            (Answer::Refused, _) => Fate::Undone,
            (Answer::Done, None) => Fate::Happened,
            (Answer::Unknown, None) => Fate::Open,
            // Its connection was lost before it could be committed.
            (Answer::Unknown, Some(_)) => Fate::Undone,
            (Answer::Done, Some(unit)) => self.fate_of_unit(unit),
        }
    }

    /// Whether a get took its message for good.
    pub(super) fn get_fate(&self, get: &Get) -> Fate {
        match get.unit {
            None => Fate::Happened,
            Some(unit) => self.fate_of_unit(unit),
        }
    }

    /// Whether some get took it for good.
    pub(super) fn consumed(&self, life: &Life<'_>) -> bool {
        let mut gets = life.deliveries.iter();
        gets.any(|get| self.get_fate(get) == Fate::Happened)
    }

    /// Whether it came to be, as far as can be told.
    pub(super) fn existed(&self, life: &Life<'_>) -> bool {
        match self.put_fate(life) {
            Fate::Happened => true,
            Fate::Undone | Fate::With(_) => false,
            Fate::Open => !life.deliveries.is_empty() || life.seen.is_some(),
        }
    }

    /// From when on it was certainly visible.
    pub(super) fn visible_from(&self, life: &Life<'_>) -> Option<Stamp> {
        let Some(put) = life.put else {
            return Some(0);
        };
        match (put.answer, put.unit) {
            (Answer::Done, None) => Some(put.replied),
            (Answer::Done, Some(unit)) => match self.units.get(&unit)?.ending {
                Ending::Committed { replied, .. } => Some(replied),
                _ => None,
            },
            _ => None,
        }
    }

    /// Until when a delivery may have kept its message from others.
    pub(super) fn may_hold_until(&self, get: &Get) -> Stamp {
        let ending = get.unit.and_then(|id| self.units.get(&id));
        match ending.map(|unit| unit.ending) {
            Some(Ending::BackedOut { replied }) => replied,
            _ => NEVER,
        }
    }

    /// All that is known about a message, in words.
    pub(super) fn story(&self, id: Id) -> String {
        let mut out = format!("message {id}");
        let Some(life) = self.lives.get(&id) else {
            return out;
        };
        if let Some(s) = life.standing {
            let _ = write!(
                out,
                " (queue {}, {}priority {}, backouts {}) was there before round {}",
                s.queue,
                if s.persistent { "persistent, " } else { "" },
                s.priority,
                s.backouts,
                self.round.number
            );
        }
        if let Some(put) = life.put {
            let persistent = if put.persistent { "persistent, " } else { "" };
            let _ = write!(
                out,
                " (queue {}, {persistent}priority {}) was put {} in round {}, {:?}",
                put.queue,
                put.priority,
                span(put.called, put.replied),
                self.round.number,
                put.answer
            );
            self.tell_unit(&mut out, put.unit);
            if let Some(expires) = put.expires {
                let _ = write!(out, ", expiring {}..{} ms", expires.from, expires.by);
            }
            if let Some(not_before) = put.not_before {
                let _ = write!(out, ", delayed until {not_before} ms");
            }
        }
        for get in &life.deliveries {
            let backouts = get.delivered().map_or(0, |(_, backouts)| backouts);
            let _ = write!(
                out,
                "; got {} (backouts {backouts}, queue {})",
                span(get.called, get.replied),
                get.queue
            );
            self.tell_unit(&mut out, get.unit);
        }
        match life.seen {
            Some((queue, seen)) => {
                let _ = write!(
                    out,
                    "; found on queue {queue} afterwards (backouts {})",
                    seen.backouts
                );
            }
            None => out.push_str("; not found afterwards"),
        }
        out
    }

    fn tell_unit(&self, out: &mut String, unit: Option<UnitId>) {
        let Some(id) = unit else {
            return;
        };
        let _ = match self.units.get(&id).map(|u| u.ending) {
            Some(Ending::Committed { called, replied }) => {
                write!(out, " in {id} committed {}", span(called, replied))
            }
            Some(Ending::InDoubt { called }) => {
                let found = match self.resolved.get(&id) {
                    Some(true) => ", found committed",
                    Some(false) => ", found backed out",
                    None => "",
                };
                write!(out, " in {id} in doubt since {called}{found}")
            }
            Some(Ending::BackedOut { replied }) => {
                write!(out, " in {id} backed out by {replied}")
            }
            Some(Ending::Lost) | None => write!(out, " in {id} lost"),
        };
    }
}

fn span(called: Stamp, replied: Stamp) -> String {
    match replied {
        NEVER => format!("@{called}-"),
        replied => format!("@{called}-{replied}"),
    }
}

/// Whether a get outside syncpoint without a reply may have taken a message.
pub(super) fn may_have_taken(get: &Get) -> bool {
    get.outcome == Outcome::Unknown && get.unit.is_none()
}
