//! What went wrong, as a numbered message and an exit code.

use posthaste_server::{Exit, Failure};

use crate::measure::LabError;

/// What the driver's user reads of it.
pub(super) fn of(error: LabError) -> Failure {
    match &error {
        LabError::BadInput(what) => Failure::bad_parameter(what),
        LabError::Unreachable {
            queue_manager,
            why,
            reason,
        } => {
            let why = format!("{why}, reason {reason}");
            Failure::new(Exit::NotRunning, "AMQ2209E", &[queue_manager, &why])
        }
        LabError::Call {
            call,
            object,
            reason,
            why,
        } => {
            let inserts = [call, object.as_str(), &reason.to_string(), why];
            Failure::new(Exit::CallFailed, "AMQ2208E", &inserts)
        }
        _ => incomplete(&error.to_string()),
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
