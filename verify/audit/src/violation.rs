//! Promises that can be broken, each with a name.

use std::fmt;

/// Which promise was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Broken {
    /// An acknowledged message is neither delivered nor there.
    Lost,
    /// A unit of work happened in part.
    Half,
    /// Two deliveries of one message exclude each other.
    Repeated,
    /// A message is seen after its get was acknowledged.
    Returned,
    /// A message that was never committed is seen.
    Uncommitted,
    /// A message is seen before its commit was even asked for, or before its delay was over.
    Early,
    /// A non-persistent message is seen after a crash.
    Resurrected,
    /// A message that nobody put is seen.
    Invented,
    /// A later message is delivered before an earlier one.
    Misordered,
    /// A backout count is lower or higher than it can be.
    Miscounted,
    /// A message is delivered after it expired.
    Overdue,
    /// A message is not as it was put.
    Damaged,
    /// A get by message identifier returned another message.
    Mismatched,
    /// A reply, a lost connection or an end that nothing explains.
    Unexpected,
}

/// A broken promise, and all that is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) broken: Broken,
    pub(crate) text: String,
}

impl Violation {
    pub(crate) fn new(broken: Broken, text: impl Into<String>) -> Violation {
        Violation {
            broken,
            text: text.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.broken, self.text)
    }
}
