//! What restart does with one page: a decision table over facts about it.
//!
//! Invariants:
//! * Exactly one row of [`TABLE`] matches any combination of facts (a test goes through all of them).
//! * A page is used only if it is intact, in its place, and not older than the page before it.
//! * The log is cut at a page only if nothing says that the page was acknowledged. Anything that says so
//!   makes restart refuse.
//!
//! Why a page beyond a hole is never taken for a new one: pages are acknowledged strictly in LSN order, so
//! at a cut nothing behind it was acknowledged; the next generation is durable in the control file
//! before its first page is written; and a page of an older generation than its predecessor is not used.

/// What is known about the page at the LSN where restart stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The extent's file is there (and as long as it should be: a short one is refused before).
    pub(crate) present: bool,
    /// Checksum right and header fields possible.
    pub(crate) intact: bool,
    /// It carries the LSN where it lies.
    pub(crate) in_place: bool,
    /// It carries a later LSN than where it lies (an earlier one is a page of the lap before).
    pub(crate) later_lsn: bool,
    /// Its generation is not below its predecessor's.
    pub(crate) not_older: bool,
    /// Its generation is not above the control file's.
    pub(crate) known_generation: bool,
    /// The control file's acknowledged LSN lies beyond it (after a clean shutdown: everything does).
    pub(crate) control_acknowledged: bool,
    /// A later page of this log says that it was acknowledged.
    pub(crate) later_acknowledged: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Read it.
    Use,
    /// The log ends before it.
    End,
    /// Refuse: the extent that held acknowledged data is gone.
    RefuseMissing,
    /// Refuse: acknowledged, and its content is destroyed.
    RefuseCorrupt,
    /// Refuse: acknowledged, but the device shows older content (a lost or misdirected write).
    RefuseLost,
    /// Refuse: the log went on after this control file was written.
    RefuseControlOlder,
}

/// One row: `Some(value)` must hold, `None` does not matter. Order as in [`Facts`].
pub(crate) struct Row {
    when: [Option<bool>; 8],
    then: Verdict,
}

const fn row(when: [Option<bool>; 8], then: Verdict) -> Row {
    Row { when, then }
}

const Y: Option<bool> = Some(true);
const N: Option<bool> = Some(false);
const X: Option<bool> = None;

/// The table.
#[rustfmt::skip]
pub(crate) static TABLE: [Row; 16] = [
    // present intact place ahead notold known control later
    row([N,     X,     X,   X,    X,    X,    N,      N], Verdict::End),
    row([N,     X,     X,   X,    X,    X,    Y,      X], Verdict::RefuseMissing),
    row([N,     X,     X,   X,    X,    X,    N,      Y], Verdict::RefuseMissing),
    // Torn, never written, or destroyed.
    row([Y,     N,     X,   X,    X,    X,    N,      N], Verdict::End),
    row([Y,     N,     X,   X,    X,    X,    Y,      X], Verdict::RefuseCorrupt),
    row([Y,     N,     X,   X,    X,    X,    N,      Y], Verdict::RefuseCorrupt),
    // A page of the lap before: the extent was used again and this page not yet.
    row([Y,     Y,     N,   N,    X,    X,    N,      N], Verdict::End),
    row([Y,     Y,     N,   N,    X,    X,    Y,      X], Verdict::RefuseLost),
    row([Y,     Y,     N,   N,    X,    X,    N,      Y], Verdict::RefuseLost),
    // A page of a later lap: the extent has been used again since this control file was written.
    row([Y,     Y,     N,   Y,    X,    X,    X,      X], Verdict::RefuseControlOlder),
    // Right place, but left over beyond the point where an earlier restart cut the log.
    row([Y,     Y,     Y,   X,    N,    Y,    N,      N], Verdict::End),
    row([Y,     Y,     Y,   X,    N,    Y,    Y,      X], Verdict::RefuseLost),
    row([Y,     Y,     Y,   X,    N,    Y,    N,      Y], Verdict::RefuseLost),
    // A generation is in the control file before its first page is written.
    row([Y,     Y,     Y,   X,    Y,    N,    X,      X], Verdict::RefuseControlOlder),
    row([Y,     Y,     Y,   X,    N,    N,    X,      X], Verdict::RefuseControlOlder),
    row([Y,     Y,     Y,   X,    Y,    Y,    X,      X], Verdict::Use),
];

impl Facts {
    fn as_array(self) -> [bool; 8] {
        [
            self.present,
            self.intact,
            self.in_place,
            self.later_lsn,
            self.not_older,
            self.known_generation,
            self.control_acknowledged,
            self.later_acknowledged,
        ]
    }
}

impl Row {
    fn matches(&self, facts: [bool; 8]) -> bool {
        self.when
            .iter()
            .zip(facts)
            .all(|(want, is)| want.is_none_or(|want| want == is))
    }
}

/// The verdict of the one row that matches.
pub(crate) fn decide(facts: Facts) -> Verdict {
    let facts = facts.as_array();
    let row = TABLE.iter().find(|row| row.matches(facts));
    // The table is complete (tested); were it not, refusing is the answer that loses nothing.
    row.map_or(Verdict::RefuseCorrupt, |row| row.then)
}

/// Whether the verdict depends on what later pages say, so that they have to be looked at.
pub(crate) fn needs_later_pages(facts: Facts) -> bool {
    let with = |later_acknowledged| {
        decide(Facts {
            later_acknowledged,
            ..facts
        })
    };
    with(true) != with(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Facts> {
        (0..256_u32).map(|bits| {
            let bit = |n: u32| bits >> n & 1 == 1;
            Facts {
                present: bit(0),
                intact: bit(1),
                in_place: bit(2),
                later_lsn: bit(3),
                not_older: bit(4),
                known_generation: bit(5),
                control_acknowledged: bit(6),
                later_acknowledged: bit(7),
            }
        })
    }

    #[test]
    fn exactly_one_row_for_every_combination() {
        for facts in all() {
            let rows: Vec<usize> = TABLE
                .iter()
                .enumerate()
                .filter(|(_, row)| row.matches(facts.as_array()))
                .map(|(n, _)| n)
                .collect();
            assert_eq!(rows.len(), 1, "{facts:?} matches rows {rows:?}");
        }
    }

    #[test]
    fn every_row_is_reachable() {
        for (n, row) in TABLE.iter().enumerate() {
            assert!(all().any(|facts| row.matches(facts.as_array())), "row {n}");
        }
    }

    /// The promises, stated apart from the table.
    #[test]
    fn promises() {
        for facts in all() {
            let verdict = decide(facts);
            let acknowledged = facts.control_acknowledged || facts.later_acknowledged;
            if verdict == Verdict::End {
                assert!(!acknowledged, "cut an acknowledged page: {facts:?}");
            }
            let usable = facts.present
                && facts.intact
                && facts.in_place
                && facts.not_older
                && facts.known_generation;
            assert_eq!(verdict == Verdict::Use, usable, "{facts:?}");
            if !acknowledged && !facts.intact {
                assert_eq!(
                    verdict,
                    Verdict::End,
                    "refused a torn unacknowledged page: {facts:?}"
                );
            }
        }
    }

    #[test]
    fn later_pages_are_looked_at_only_where_they_decide() {
        for facts in all() {
            if decide(facts) == Verdict::Use || facts.control_acknowledged {
                assert!(!needs_later_pages(facts), "{facts:?}");
            }
        }
    }
}
