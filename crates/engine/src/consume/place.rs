//! Where a selector stands among all of a line of those who wait: by who came first of those who have it.
//!
//! Invariant: places are in the order in which their selectors are to be judged of a message.

/// Where a selector stands among all of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Nobody waits with it who came before.
    pub(super) came: u64,
    /// Those who have it.
    pub(super) group: usize,
}

impl Place {
    pub(super) const FIRST: Place = Place { came: 0, group: 0 };
    pub(super) const LAST: Place = Place {
        came: u64::MAX,
        group: usize::MAX,
    };
}
