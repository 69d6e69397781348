//! What commands print of themselves.
//!
//! Invariant: what is printed is brought out at once; a reader that has gone is no reason to end a command that works
//! for its effect.

use std::io::{self, Write};

/// To standard output.
pub(crate) fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// To standard error.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
