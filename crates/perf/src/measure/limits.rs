//! Limits of the process that a measurement wants to be told of.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Has a write beyond the largest file that is allowed (`ulimit -f`) fail, where by default it ends the process
/// with nothing said and nothing put in order. It lasts as long as the process does.
pub(crate) fn refuse_long_files() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _inside = runtime.enter();
    // What is caught once stays caught; that it came is of no interest.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
