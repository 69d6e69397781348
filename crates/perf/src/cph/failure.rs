//! What went wrong, as a numbered message and an exit code.

use posthaste_server::{Exit, Failure};

use crate::workload::PerfError;

impl From<PerfError> for Failure {
    fn from(error: PerfError) -> Failure {
        match &error {
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
            } => {
                let inserts = [call, object.as_str(), &reason.to_string(), why];
                Failure::new(Exit::CallFailed, "AMQ2208E", &inserts)
            }
            PerfError::NoReply { .. }
            | PerfError::StartTimedOut { .. }
            | PerfError::System { .. } => incomplete(&error.to_string()),
        }
    }
}

/// A run that did not come to its end.
pub(super) fn incomplete(why: &str) -> Failure {
    Failure::new(Exit::CallFailed, "AMQ2230E", &[why.trim_end_matches('.')])
}

/// The operating system refused.
pub(super) fn system(what: &str, why: &std::io::Error) -> Failure {
    incomplete(&format!("{what}: {why}"))
}
