//! How the queue manager speaks to its operator: numbered messages, never free text.

use std::panic::Location;

use crate::audit::AuditEvent;

/// Receives numbered messages (the error log, in production).
///
/// `id` is a row of the command crate's message table, `inserts` fill its places `{0}`, `{1}`.
/// Messages are given with `dyn Operator::message`, which adds the place.
pub trait Operator: Send + Sync {
    /// Records one message. `from` is the place in the source that gave it.
    fn record(&self, id: &'static str, inserts: &[String], from: &'static Location<'static>);

    /// Takes an event for whoever audits it; it waits for nobody.
    fn audit(&self, _: AuditEvent) {}

    /// Whether it wants an event for each application that connects.
    fn audits_connections(&self) -> bool {
        false
    }
}

impl dyn Operator + '_ {
    /// Gives one message, from the place that calls this.
    #[track_caller]
    pub fn message(&self, id: &'static str, inserts: &[String]) {
        self.record(id, inserts, Location::caller());
    }
}

/// How many names an insert has at the most.
const NAMED: usize = 20;

/// The first names, as one insert, and whether there are more.
pub(crate) fn in_short(names: &[String]) -> String {
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let first = names[..names.len().min(NAMED)].join(", ");
    format!("{first}{more}")
}

/// An operator that listens to nothing: for tests and for in-process use without an error log.
pub struct Silent;

impl Operator for Silent {
    fn record(&self, _: &'static str, _: &[String], _: &'static Location<'static>) {}
}
