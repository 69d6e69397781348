//! What is known between two rounds: which messages are there, and which ones never may be again.

use std::collections::{BTreeMap, HashMap};

use crate::history::{Expires, Id};

/// A message that was found on its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) queue: u8,
    pub(crate) persistent: bool,
    pub(crate) priority: u8,
    pub(crate) expires: Option<Expires>,
    /// It was delayed: it stands where it came, and not where it was put.
    pub(crate) delayed: bool,
    /// Its backout count when it was found.
    pub(crate) backouts: u32,
}

/// Why a message is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A get of it was acknowledged, or its commit was found to have happened.
    Consumed,
    /// Its put was refused, backed out, or found not to have happened.
    NeverPut,
    /// It was there once and was found gone: expired, taken by a call in flight, or not persistent.
    FoundGone,
}

/// A message that is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) round: u32,
    pub(crate) why: Why,
}

/// The state between two rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) standing: BTreeMap<Id, Standing>,
    /// Every message of earlier rounds that is not standing.
    pub(crate) gone: HashMap<Id, Gone>,
}
