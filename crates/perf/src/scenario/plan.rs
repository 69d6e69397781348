//! What a scenario measures: its cases, and how each is set up.
//!
//! Invariants: a case's name says how it differs from the others of its scenario; a case and its floor are next to
//! each other in the plan, so that they are measured one after the other in every round.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::effort::Effort;
use crate::floor::{Bare, Load};
use crate::measure::Shape;
use crate::quantity::shown_size;
use crate::results::{Bound, Case, Goal, Published, REFERENCE_CASE};
use crate::workload::Workload;

/// Bytes of the messages in most of the published figures.
pub(crate) const SMALL: usize = 2 << 10;
/// The next larger size of the published figures.
pub(crate) const MEDIUM: usize = 20 << 10;
/// And the next.
pub(crate) const LARGE: usize = 200 << 10;
/// And the largest.
pub(crate) const HUGE: usize = 2 << 20;

/// Persistent messages a second that are put before a restart, roughly.
const PUT_PER_SECOND: f64 = 30_000.0;

/// A plan.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What is measured, in a line.
    pub(crate) title: String,
    /// What is counted.
    pub(crate) operation: String,
    /// What the cases of a series differ in.
    pub(crate) axis: String,
    /// What is measured, in order.
    pub(crate) cases: Vec<Planned>,
    /// What a reader must know.
    pub(crate) notes: Vec<String>,
    /// What is to be reached.
    pub(crate) goals: Vec<Goal>,
}

impl Plan {
    /// An empty plan.
    pub(crate) fn new(title: &str, operation: &str, axis: &str) -> Plan {
        Plan {
            title: title.to_owned(),
            operation: operation.to_owned(),
            axis: axis.to_owned(),
            cases: Vec::new(),
            notes: Vec::new(),
            goals: Vec::new(),
        }
    }

    /// Adds a case, unless one of its name is there.
    pub(crate) fn add(&mut self, planned: Planned) {
        let known = |other: &Planned| other.case.name == planned.case.name;
        if !self.cases.iter().any(known) {
            self.cases.push(planned);
        }
    }

    /// About how long all rounds take.
    pub(crate) fn takes(&self, effort: &Effort) -> Duration {
        let round: Duration = self.cases.iter().map(|planned| planned.takes(effort)).sum();
        round * effort.rounds
    }

    /// Keeps the cases whose names contain `text`, what their goals compare them with, and the floors of all these;
    /// goals about others go.
    pub(crate) fn keep_only(&mut self, text: &str) {
        let names = self.cases.iter().map(|planned| &planned.case.name);
        let mut kept: BTreeSet<String> =
            names.filter(|name| name.contains(text)).cloned().collect();
        self.goals.retain(|goal| kept.contains(&goal.case));
        kept.extend(self.goals.iter().filter_map(|goal| match &goal.bound {
            Bound::AtLeast(_) => Some(REFERENCE_CASE.to_owned()),
            Bound::AtLeastTimesCase(_, other) => Some(other.clone()),
            Bound::AtMostTimesFloor(_) | Bound::AtLeastTimesFloor(_) => None,
        }));
        let with_floors = self.cases.iter().map(|planned| &planned.case);
        let floors: Vec<String> = with_floors
            .filter(|case| kept.contains(&case.name))
            .filter_map(|case| case.floor.clone())
            .collect();
        kept.extend(floors);
        self.cases
            .retain(|planned| kept.contains(&planned.case.name));
    }

    /// Adds a case and, before it, its floor.
    pub(crate) fn add_beside(&mut self, floor: Planned, mut planned: Planned) {
        planned.case.floor = Some(floor.case.name.clone());
        self.add(floor);
        self.add(planned);
    }
}

/// A case and what is done for it.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    /// As it will stand in the results, without rounds.
    pub(crate) case: Case,
    /// What is done.
    pub(crate) subject: Subject,
}

/// What is measured in a case.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// A bare server.
    Bare(Load),
    /// Forced writes of so many bytes.
    ForcedWrites(usize),
    /// Applications against a queue manager.
    Drive(Drive),
    /// One thread that puts to an empty queue.
    Puts(Puts),
    /// A queue manager's restart.
    Restart(Restart),
}

/// Where the queue manager is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a process of its own.
    Server(Shape),
    /// In the applications' process; it listens too.
    Inside(Shape),
}

/// How applications reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// Over TCP on this machine.
    Tcp,
    /// Over TCP through a proxy that adds so many microseconds each way.
    Delayed(u64),
    /// Over its socket file.
    Local,
    /// By calls in the same process.
    Inside,
}

/// Applications that are started together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// How they reach the queue manager.
    pub(crate) via: Via,
    /// What they do.
    pub(crate) workloads: Vec<Workload>,
}

/// Applications against a queue manager.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    /// Where it is.
    pub(crate) place: Place,
    /// The applications, in the order in which they are started. The first workload of the last group is measured.
    pub(crate) groups: Vec<Group>,
    /// The window is the whole run of the measured workload, which has an end.
    pub(crate) bounded: bool,
}

/// One thread that puts non-persistent messages in bursts.
#[derive(Clone, Debug)]
pub(crate) struct Puts {
    /// Where the queue manager is.
    pub(crate) place: Place,
    /// How the thread reaches it.
    pub(crate) via: Via,
    /// Puts are not waited for.
    pub(crate) asynchronous: bool,
    /// The queue.
    pub(crate) queue: String,
    /// Bytes of a message.
    pub(crate) message_bytes: usize,
}

/// How a queue manager ended before the restart that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In order.
    Clean,
    /// By SIGKILL.
    Killed,
}

/// A restart.
#[derive(Clone, Debug)]
pub(crate) struct Restart {
    /// The queue manager.
    pub(crate) shape: Shape,
    /// Persistent messages on its queues.
    pub(crate) messages: u64,
    /// Bytes of a message.
    pub(crate) message_bytes: usize,
    /// They are in units of work that nobody has committed.
    pub(crate) uncommitted: bool,
    /// How it ended.
    pub(crate) ending: Ending,
}

/// A case on the axis, named by its series and its place there.
pub(crate) fn planned(series: &str, at: f64, subject: Subject) -> Planned {
    Planned {
        case: Case {
            name: format!("{series} {at}"),
            series: series.to_owned(),
            at: Some(at),
            ..Case::default()
        },
        subject,
    }
}

/// A case that stands on no axis.
pub(crate) fn named(name: &str, subject: Subject) -> Planned {
    Planned {
        case: Case {
            name: name.to_owned(),
            series: name.to_owned(),
            ..Case::default()
        },
        subject,
    }
}

/// The bare exchange: "bare exchange 60", with the size before the number where it is not 2 KiB.
pub(crate) fn bare_exchange(
    requesters: u32,
    responders: u32,
    message_bytes: usize,
    threads: u32,
) -> Planned {
    let load = Load {
        bare: Bare::Exchange,
        requesters,
        responders,
        message_bytes,
        threads,
    };
    let mut planned = planned(
        &sized("bare exchange", message_bytes),
        f64::from(requesters),
        Subject::Bare(load),
    );
    planned.case.group = shown_size(message_bytes as f64);
    planned
}

/// The bare echo.
pub(crate) fn bare_echo(connections: u32, message_bytes: usize) -> Planned {
    let load = Load {
        bare: Bare::Echo,
        requesters: connections,
        responders: 0,
        message_bytes,
        threads: 1,
    };
    planned(
        &sized("bare echo", message_bytes),
        f64::from(connections),
        Subject::Bare(load),
    )
}

fn sized(name: &str, message_bytes: usize) -> String {
    match message_bytes {
        SMALL => name.to_owned(),
        other => format!("{name} {}", shown_size(other as f64)),
    }
}

impl Planned {
    /// About how long one measurement takes, with what is started and stopped around it.
    pub(crate) fn takes(&self, effort: &Effort) -> Duration {
        match &self.subject {
            // A queue manager is created, filled, ended and started.
            Subject::Restart(restart) => {
                let filled = restart.messages as f64 / PUT_PER_SECOND;
                Duration::from_secs(2) + Duration::from_secs_f64(filled)
            }
            _ => effort.each(),
        }
    }

    /// With published figures.
    pub(crate) fn published(mut self, figures: Vec<Published>) -> Planned {
        self.case.published = figures;
        self
    }

    /// In another series.
    pub(crate) fn series(mut self, series: &str) -> Planned {
        series.clone_into(&mut self.case.series);
        if let Some(at) = self.case.at {
            self.case.name = format!("{series} {at}");
        }
        self
    }

    /// With more settings.
    pub(crate) fn settings(mut self, more: &[(&str, String)]) -> Planned {
        let more: BTreeMap<String, String> = more
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        self.case.settings.extend(more);
        self
    }
}
