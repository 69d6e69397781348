//! How long and how often is measured.

use std::time::Duration;

/// Effort of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// Few cases and short windows.
    pub(crate) quick: bool,
    /// How often every case is measured.
    pub(crate) rounds: u32,
    /// Length of a window.
    pub(crate) window: Duration,
    /// How long a workload runs before its window.
    pub(crate) warm_up: Duration,
}

impl Effort {
    /// Quick or not, with this many rounds if that was said.
    pub(crate) fn new(quick: bool, rounds: Option<u32>, window: Option<Duration>) -> Effort {
        let (usual, length, warm_up) = match quick {
            true => (3, 800, 200),
            false => (5, 4_000, 500),
        };
        Effort {
            quick,
            rounds: rounds.unwrap_or(usual),
            window: window.unwrap_or(Duration::from_millis(length)),
            warm_up: Duration::from_millis(warm_up),
        }
    }

    /// How long Java runs before its window: it compiles what it does often.
    pub(crate) fn java_warm_up(&self) -> Duration {
        self.warm_up * 10
    }

    /// About how long one window of a Java process takes, with what is started and stopped around it.
    pub(crate) fn each_of_java(&self) -> Duration {
        self.window + self.java_warm_up() + Duration::from_secs(4)
    }

    /// About how long one window takes, with what is started and stopped around it.
    pub(crate) fn each(&self) -> Duration {
        self.window + self.warm_up + Duration::from_millis(300)
    }
}
