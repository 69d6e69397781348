//! The lanes of a queue manager: how many, and what the operator is told of them.
//!
//! Invariants: a lane that is in one turn for [`LIMIT`] is told about once, and once more when it goes on; a lane that
//! fails ends the queue manager, for what belonged to it is in doubt: the next start recovers from the log.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use posthaste_engine::{EndMode, Operator};
use posthaste_env::Clock;
use posthaste_net::{LaneFailed, Lanes, RuntimeClock};

use crate::compose::Ask;
use crate::failure::Failure;
use crate::failure::exit::Exit;

/// A turn takes microseconds; one that takes this long holds all connections of its lane up.
const LIMIT: Duration = Duration::from_secs(2);
/// How often the lanes are looked at.
const PAUSE: Duration = Duration::from_millis(500);

/// The lanes, and what has become of them.
pub(crate) struct ServingLanes {
    pub(crate) lanes: Lanes,
    failed: Arc<OnceLock<String>>,
}

impl ServingLanes {
    /// Starts so many; 0 is one for each processor. One that fails asks for the end of the queue manager.
    ///
    /// # Errors
    /// The system does not give what they need.
    pub(crate) fn start(count: u32, ask: &Ask) -> io::Result<ServingLanes> {
        let count = match usize::try_from(count).unwrap_or(usize::MAX) {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let failed: Arc<OnceLock<String>> = Arc::default();
        let (note, ask) = (Arc::clone(&failed), ask.clone());
        let on_failure: LaneFailed = Arc::new(move |lane, why| {
            // The first one is the reason; the others follow from it.
            let _ = note.set(format!("lane {lane} ended: {why}"));
            // Nobody hears it when the queue manager is ending already.
            let _ = ask.send(EndMode::Preemptive);
        });
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock);
        Ok(ServingLanes {
            lanes: Lanes::start(count, &clock, &on_failure)?,
            failed,
        })
    }

    /// Drops what is left and ends them. Whether they have ended: one that has not in time does with the process.
    ///
    /// # Errors
    /// One of them has failed.
    pub(crate) fn end(&self, timeout: Duration) -> Result<bool, Failure> {
        let ended = self.lanes.end(timeout);
        match self.failed.get() {
            Some(why) => Err(Failure::new(Exit::Internal, "AMQ6109S", &[why])),
            None => Ok(ended),
        }
    }
}

/// Tells the operator of queue manager `name` about lanes that stall, for ever.
pub(crate) async fn watch(lanes: Lanes, name: String, operator: Arc<dyn Operator>) {
    let mut reported = BTreeMap::new();
    loop {
        tokio::time::sleep(PAUSE).await;
        look(&lanes.stalled(LIMIT), &mut reported, &name, &*operator);
    }
}

/// Tells about those that have stalled since it was looked last, and those that go on.
fn look(
    stalled: &[(usize, Duration)],
    reported: &mut BTreeMap<usize, Duration>,
    name: &str,
    operator: &dyn Operator,
) {
    let inserts = |lane: usize, since: Duration| {
        let number = lane.to_string();
        [number, name.to_owned(), since.as_millis().to_string()]
    };
    for &(lane, since) in stalled {
        let before = reported.insert(lane, since);
        // A shorter stall is another one.
        if before.is_none_or(|before| since < before) {
            operator.message("AMQ2033W", &inserts(lane, since));
        }
    }
    reported.retain(|&lane, since| {
        let still = stalled.iter().any(|&(other, _)| other == lane);
        if !still {
            operator.message("AMQ2034I", &inserts(lane, *since));
        }
        still
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::panic::Location;

    #[derive(Default)]
    struct RecordingOperator(Mutex<Vec<(&'static str, Vec<String>)>>);

    impl Operator for RecordingOperator {
        fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
            self.0.lock().push((id, inserts.to_vec()));
        }
    }

    #[test]
    fn a_stall_is_told_once_and_so_is_its_end() {
        let (operator, mut reported) = (RecordingOperator::default(), BTreeMap::new());
        let seconds = Duration::from_secs;
        for stalled in [
            &[][..],
            &[(1, seconds(2))],
            &[(0, seconds(2)), (1, seconds(3))],
            &[(1, seconds(2))],
            &[],
            &[],
        ] {
            look(stalled, &mut reported, "QM1", &operator);
        }
        let reported = |id, lane: &str, after: &str| {
            let inserts = [lane, "QM1", after].map(str::to_owned);
            (id, inserts.to_vec())
        };
        assert_eq!(
            *operator.0.lock(),
            [
                reported("AMQ2033W", "1", "2000"),
                reported("AMQ2033W", "0", "2000"),
                reported("AMQ2033W", "1", "2000"),
                reported("AMQ2034I", "0", "2000"),
                reported("AMQ2034I", "1", "2000"),
            ]
        );
    }
}
