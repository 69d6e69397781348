//! How the queue manager speaks to its operator: numbered messages, never free text.

/// Receives numbered messages (the error log, in production).
///
/// `id` is a row of the command crate's message table, `inserts` fill its places `{0}`, `{1}`.
pub trait Operator: Send + Sync {
    /// Records one message.
    fn message(&self, id: &'static str, inserts: &[String]);
}

/// An operator that listens to nothing: for tests and for in-process use without an error log.
pub struct Silent;

impl Operator for Silent {
    fn message(&self, _id: &'static str, _inserts: &[String]) {}
}
