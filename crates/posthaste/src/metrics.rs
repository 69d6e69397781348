//! `metrics`: every number that a running queue manager counts or measures.

use std::path::Path;

use posthaste_server::{self as server, DataDir, Exit, Failure};

use crate::cli;
use crate::output::Out;

pub(crate) fn show(place: Option<&Path>, args: &cli::Metrics) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let home = server::find(&data, args.queue_manager.as_deref())?;
    let text = server::metrics(&home)?;
    let mut out = Out::new();
    out.bytes(text.as_bytes())?;
    out.flush().map(|()| Exit::Done)
}
