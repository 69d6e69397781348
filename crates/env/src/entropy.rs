//! Random bytes: identifiers that must be unique across restarts, and generations of the recovery log.

/// A source of random bytes.
pub trait Entropy: Send + Sync {
    /// Fills all of `buf`.
    fn fill(&self, buf: &mut [u8]);
}
