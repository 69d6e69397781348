//! What a run has met, as numbers: verbs and options that applications used, reasons they were given, records
//! that restarts redid and branches that the engine marks as rare.
//!
//! What is in [`EXPECTED`] or is a mark of the engine must be met by CI within its budget: a simulator that
//! has stopped to reach something says so, instead of finding nothing there.

use std::collections::BTreeMap;

use posthaste_engine::mark::{self, Mark};

/// Operator messages about channels of which it is counted in how many runs they came.
pub(crate) const MESSAGES: [&str; 4] = ["AMQ9208E", "AMQ9209E", "AMQ9259E", "AMQ9534E"];

/// Verbs, options and reasons that CI's runs must meet.
pub const EXPECTED: &[&str] = &[
    "MQPUT",
    "MQPUT1",
    "MQGET",
    "MQCMIT",
    "MQBACK",
    "MQINQ",
    "MQSET",
    "connection lost",
    "MQCLOSE delete",
    "MQCLOSE purge",
    "MQOPEN permanent",
    "MQOPEN temporary",
    "DEFINE QLOCAL",
    "DEFINE QLOCAL REPLACE",
    "DEFINE QALIAS",
    "ALTER QLOCAL",
    "CLEAR QLOCAL",
    "DELETE QLOCAL",
    "DELETE QALIAS",
    "put syncpoint",
    "put persistent",
    "put expiry",
    "put async response",
    "put left to its ticket",
    "unit of work doomed by a put",
    "unit of work prepared",
    "branch left in doubt",
    "branch suspended",
    "branch committed in one phase",
    "branch rolled back",
    "branch prepared over a channel",
    "branch decided",
    "branch decided heuristically",
    "put of a megabyte",
    "get syncpoint",
    "get syncpoint if persistent",
    "get wait",
    "get by MsgId",
    "get by CorrelId",
    "get by selector",
    "browse by selector",
    "get under cursor",
    "get by token",
    "get truncated",
    "get by a consumer",
    "get by a request for messages",
    "delivery stopped and started",
    "browse first",
    "browse next",
    "call given up",
    "queue of many parts",
    "trigger FIRST",
    "trigger EVERY",
    "trigger DEPTH",
    "report COA",
    "report COD",
    "report expiration",
    "put logical order",
    "put group",
    "group backed out under its putter",
    "group backed out under its getter",
    "get logical order",
    "end controlled",
    "end immediate",
    "end pre-emptive",
    "crash in an end",
    "end gives way to another",
    "end after a stop",
    "crash",
    "kill",
    "power cut in restart",
    "log exhausted",
    "start with the log exhausted",
    "clock set forward",
    "clock set back",
    "clock set while messages expire",
    "browse lock",
    "browse under cursor",
    "unlock",
    "unlock without a lock",
    "locked message passed by",
    "locked message got by its handle",
    "locked message expired",
    "lock outlives a unit of work",
    "lock ended by a close",
    "lock ended by a lost connection",
    "locks over channels",
    "browse marked for a handle",
    "browse marked for all",
    "marked message passed by",
    "marked message got under cursor",
    "mark lapsed",
    "waited for a mark to lapse",
    "mark taken off",
    "refused what another has marked",
    "mark for all outlives a lost connection",
    "subscription of a group resumed",
    "another of a group refused",
    "publication for several of a group",
    "publication for a group and for one beside it",
    "subscription of a group altered by a command",
    "subscription of a group deleted by a command",
    "get without properties",
    "MQSUB",
    "subscription durable",
    "subscription durable to a queue",
    "subscription resumed",
    "subscription left",
    "subscription ended",
    "subscription not durable",
    "publish",
    "publish syncpoint",
    "publish persistent",
    "publish to all",
    "publish to whoever can",
    "publications committed in two steps",
    "publish retained",
    "publish delayed",
    "publish expiry",
    "publish retained expiry",
    "put delayed",
    "put delayed syncpoint",
    "put delayed persistent",
    "put delayed expiry",
    "queue deleted for which messages may be delayed",
    "delayed messages stay for damage",
    "delayed messages found before their time by a clock that was set back",
    "list put",
    "list put syncpoint",
    "list put persistent",
    "list put async response",
    "list put expiry",
    "list put with records",
    "list put over a channel",
    "list put that misses a queue",
    "list put left to its ticket",
    "list open in part",
    "list with a queue twice",
    "MQPUT1 to a list",
    "unit of work doomed by a list",
    "list reason 2051",
    "list reason 2053",
    "put not waited for",
    "put to a name not waited for",
    "MQSTAT",
    "MQSTAT tells of a failure",
    "commit of puts not waited for",
    "commit refused for a put not waited for",
    "channel lost with puts not waited for",
    "channels on a full disk",
    "channels on a failing medium",
    "start refused for a fault",
    "old log refused",
    "start refused for what is lost",
    "fault LostWrite",
    "fault LostRewrite",
    "power cut after a lost rewrite",
    "fault MisdirectedWrite",
    "fault NameError",
    "fault OpenError",
    "fault ReadError",
    "fault WriteError",
    "fault SyncError",
    "MQDISC",
    "selector refused",
    "connection refused",
    "conversations share a connection",
    "cut in the handshake",
    "cut in a request",
    "cut in a reply",
    "channel lost in a call",
    "channel ended instead of an answer",
    "answered when its unit of work was gone",
    "stop quiesce",
    "stop force",
    "stop while a get waits",
    "get answered past its wait at a stop",
    "nothing left of channels",
    "end with channels",
    "crash with channels",
    "commit answered while very many gets wait",
    "heartbeat answered while very many gets wait",
    "message begun and not ended",
    "unfinished message given up",
    "budget of unfinished messages taken",
    "peer that does not read given up",
    "message AMQ9208E",
    "message AMQ9209E",
    "message AMQ9259E",
    "message AMQ9534E",
    "reason 2202",
    "fault DiskFull",
    "fault QuotaUsedUp",
    "disk full",
    "start on a full disk",
    "reason 2003",
    "reason 2016",
    "reason 2033",
    "reason 2048",
    "reason 2051",
    "reason 2053",
    "reason 2055",
    "reason 2056",
    "reason 2080",
    "reason 2101",
    "reason 2102",
];

/// Counts by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: BTreeMap<String, u64>,
}

impl Coverage {
    /// This was met.
    pub(crate) fn met(&mut self, what: &str) {
        match self.counts.get_mut(what) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(what.to_owned(), 1);
            }
        }
    }

    /// Takes over what the engine has marked on this thread.
    pub(crate) fn take_marks(&mut self) {
        for (mark, count) in mark::take() {
            if count > 0 {
                *self.counts.entry(name(mark)).or_default() += count;
            }
        }
    }

    /// Adds what another run met.
    pub fn add(&mut self, other: &Coverage) {
        for (what, count) in &other.counts {
            *self.counts.entry(what.clone()).or_default() += count;
        }
    }

    /// What must be met and was not.
    pub fn missing(&self) -> Vec<String> {
        wanted()
            .filter(|what| !self.counts.contains_key(what))
            .collect()
    }

    /// How many of the things that must be met there are.
    pub fn wanted(&self) -> usize {
        wanted().count()
    }

    /// Every name with its count.
    pub fn all(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts
            .iter()
            .map(|(what, count)| (what.as_str(), *count))
    }
}

fn name(mark: Mark) -> String {
    format!("branch {mark:?}")
}

fn wanted() -> impl Iterator<Item = String> {
    let marks = Mark::ALL.iter().map(|mark| name(*mark));
    EXPECTED.iter().map(|what| (*what).to_owned()).chain(marks)
}
