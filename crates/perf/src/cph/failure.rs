//! What went wrong, as a numbered message and an exit code.

use std::fmt::Display;

use posthaste_mqi::Reason;
use posthaste_server::{Exit, Failure};

use crate::workload::PerfError;

/// An error of a run.
pub(crate) fn of(error: &PerfError) -> Failure {
    match error {
        PerfError::Usage(what) => Failure::bad_parameter(what),
        PerfError::Unreachable {
            queue_manager,
            why,
            reason,
        } => {
            let why = format!("{why}, reason {reason}");
            Failure::new(Exit::NotRunning, "AMQ2209E", &[queue_manager, &why])
        }
        PerfError::Call {
            call,
            object,
            reason,
            why,
        } => call_failed(call, object, *reason, why),
        PerfError::NoReply { .. } | PerfError::StartTimedOut { .. } | PerfError::System { .. } => {
            incomplete(&error.to_string())
        }
    }
}

fn call_failed(call: &str, object: &str, reason: Reason, why: &str) -> Failure {
    let reason = reason.to_string();
    Failure::new(Exit::CallFailed, "AMQ2208E", &[call, object, &reason, why])
}

/// A run that did not come to its end.
pub(crate) fn incomplete(why: &str) -> Failure {
    Failure::new(Exit::CallFailed, "AMQ2230E", &[why.trim_end_matches('.')])
}

/// The operating system refused.
pub(crate) fn system(what: &str, why: &dyn Display) -> Failure {
    incomplete(&format!("{what}: {why}"))
}
