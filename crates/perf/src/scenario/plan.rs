//! The cases that the rows of the table (`table.json`) stand for, and what is done for each.
//!
//! Invariants: a case's name says how it differs from the others of its scenario; a case and its floor are next to
//! each other in the plan, so that they are measured one after the other in every round.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use super::Scenario;
use super::effort::Effort;
use crate::floor::Bare;
use crate::measure::Shape;
use crate::quantity::shown_size;
use crate::results::{Bound, Case, Goal, REFERENCE_CASE};
use crate::workload::{Carriers, Destinations, Module, Syncpoint, Workload};

/// Bytes of most messages.
pub(super) const SMALL: usize = 2 << 10;
/// Persistent messages a second that are put before a restart, roughly.
const PUT_PER_SECOND: f64 = 30_000.0;
/// What one thread puts to, and what is filled and drained.
pub(super) const QUEUE: &str = "REQUEST1";

/// A row: some work, what of it is varied over which values, and what stands beside it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(rename = "do")]
    work: Work,
    /// The name of its series, with the usual one in place of `{}`.
    #[serde(default = "usual_name")]
    series: String,
    #[serde(default)]
    over: Vary,
    /// The values of a quick run, and of a full one.
    #[serde(default = "once")]
    quick: Vec<u64>,
    #[serde(default = "once")]
    full: Vec<u64>,
    /// Each case once for non-persistent messages and once for persistent ones.
    #[serde(default)]
    both_kinds: bool,
    /// The same work without a queue manager stands before each case.
    #[serde(default)]
    beside_floor: bool,
}

fn usual_name() -> String {
    "{}".to_owned()
}

fn once() -> Vec<u64> {
    vec![0]
}

/// What the cases of a row differ in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Vary {
    #[default]
    Nothing,
    Requesters,
    QueuePairs,
    BufferPages,
    LogFiles,
    LogDelay,
    /// Messages, which are no axis.
    Messages,
}

/// What is done in a case.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Work {
    /// So many connections to the bare echo.
    Echo(u32),
    /// What the bare exchange makes of these.
    Exchange(Trips),
    /// Forced writes of so many bytes.
    ForcedWrites(usize),
    Trips(Trips),
    Put(Put),
    Fill(Fill),
    Restart(Restart),
}

/// Requesters and responders; at most 60 of these.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Trips {
    reach: Reach,
    requesters: u32,
    message_bytes: usize,
    /// Persistent messages are put and got in syncpoint, unless it says otherwise.
    persistent: bool,
    outside_syncpoint: bool,
    /// Round trips a second of each requester; 0 is as fast as it goes.
    rate: f64,
    pairs: u32,
    /// A thread carries one application, not all of them.
    thread_each: bool,
    /// Round trips of each requester; none is endless.
    iterations: Option<u64>,
    pub(super) shape: Shape,
}

/// How requesters and responders reach the queue manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reach {
    /// Over TCP.
    Clients,
    /// They run in its process.
    Inside,
    /// Requesters over TCP, responders in its process.
    Mixed,
    /// Over TCP with IBM's JMS client, a thread each.
    Jms,
}

/// The usual: ten pairs of queues, one thread for all connections, as fast as it goes.
impl Default for Trips {
    fn default() -> Trips {
        Trips {
            reach: Reach::Clients,
            requesters: 60,
            message_bytes: SMALL,
            persistent: false,
            outside_syncpoint: false,
            rate: 0.0,
            pairs: 10,
            thread_each: false,
            iterations: None,
            shape: Shape::default(),
        }
    }
}

/// One thread that puts 2 KiB non-persistent messages: while two getters keep the queue empty, or in bursts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Put {
    pub(super) via: Via,
    /// Puts are not waited for.
    #[serde(default)]
    pub(super) asynchronous: bool,
    #[serde(default)]
    getters: bool,
}

/// A queue is filled by senders, or drained by receivers.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Fill {
    drain: bool,
    persistent: bool,
    messages: u64,
}

/// A restart.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Restart {
    /// Persistent messages on its queues.
    pub(super) messages: u64,
    /// They are in units of work that nobody has committed.
    pub(super) uncommitted: bool,
    /// It ended by SIGKILL, not in order.
    pub(super) killed: bool,
}

/// Where the queue manager is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a process of its own.
    Server(Shape),
    /// In the applications' process; it listens too.
    Inside(Shape),
    /// Nowhere: a bare server for messages of so many bytes is there instead.
    Bare(Bare, usize),
}

/// How applications reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Via {
    /// Over TCP on this machine.
    Tcp,
    /// Over TCP through a proxy that adds so many microseconds each way.
    Delayed(u64),
    /// Over its socket file.
    Local,
    /// By calls in the same process.
    Inside,
}

/// Applications against a queue manager.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    /// Where it is.
    pub(super) place: Place,
    /// The applications, in the order in which they are started: how they reach it, and what they do. The first workload
    /// of the last group is measured.
    pub(super) groups: Vec<(Via, Vec<Workload>)>,
    /// The window is the whole run of the measured workload, which has an end.
    pub(super) bounded: bool,
}

impl Row {
    /// Its cases, each behind its floor.
    fn cases(&self, effort: &Effort) -> Vec<Planned> {
        let kinds: &[Option<bool>] = match self.both_kinds {
            true => &[Some(false), Some(true)],
            false => &[None],
        };
        let (quick, full) = (&self.quick, &self.full);
        let mut cases = Vec::new();
        for value in if effort.quick { quick } else { full } {
            for kind in kinds {
                let work = self.work.with(self.over, *value, *kind);
                let at = match self.over {
                    Vary::Nothing | Vary::Messages => work.usual_place(),
                    // A file of the usual shape has 64 MiB.
                    Vary::LogFiles => Some(value * 64),
                    _ => Some(*value),
                };
                let mut planned = work.planned(&self.series.replace("{}", &work.series()), at);
                let floor = work.floor().filter(|_| self.beside_floor);
                planned.case.floor = floor.as_ref().map(|floor| floor.case.name.clone());
                cases.extend(floor.into_iter().chain([planned]));
            }
        }
        cases
    }
}

impl Work {
    fn with(mut self, vary: Vary, value: u64, kind: Option<bool>) -> Work {
        let number = u32::try_from(value).unwrap_or(u32::MAX);
        match &mut self {
            Work::Echo(connections) if vary == Vary::Requesters => *connections = number,
            Work::Trips(trips) | Work::Exchange(trips) => {
                trips.persistent = kind.unwrap_or(trips.persistent);
                match vary {
                    Vary::Requesters => trips.requesters = number,
                    Vary::QueuePairs => trips.pairs = number,
                    Vary::BufferPages => trips.shape.buffer_pages = number,
                    Vary::LogFiles => trips.shape.primary = number,
                    Vary::LogDelay => trips.shape.disk_delay_us = value,
                    Vary::Nothing | Vary::Messages => {}
                }
            }
            Work::Fill(fill) => fill.messages = value,
            Work::Restart(restart) => restart.messages = value,
            _ => {}
        }
        self
    }

    /// What its cases are called.
    fn series(&self) -> String {
        let size = |bytes: usize| shown_size(bytes as f64);
        match self {
            Work::Echo(_) => "bare echo".to_owned(),
            Work::Exchange(trips) if trips.message_bytes == SMALL => "bare exchange".to_owned(),
            Work::Exchange(trips) => format!("bare exchange {}", size(trips.message_bytes)),
            Work::ForcedWrites(bytes) => format!("forced writes {}", size(*bytes)),
            Work::Trips(trips) => {
                let kind = if trips.persistent { "P" } else { "NP" };
                format!("{} {kind}", size(trips.message_bytes))
            }
            Work::Fill(fill) => {
                let what = if fill.drain { "drain" } else { "fill" };
                let kind = if fill.persistent { "" } else { "non-" };
                format!("{what}, {kind}persistent")
            }
            Work::Put(_) | Work::Restart(_) => String::new(),
        }
    }

    /// Where it stands on an axis of requesters; none if it stands on none.
    fn usual_place(&self) -> Option<u64> {
        match self {
            Work::Echo(connections) => Some(u64::from(*connections)),
            Work::Trips(trips) | Work::Exchange(trips) => Some(u64::from(trips.requesters)),
            _ => None,
        }
    }

    /// The same work without a queue manager.
    fn floor(&self) -> Option<Planned> {
        let floor = match self {
            Work::Trips(trips) => Work::Exchange(*trips),
            Work::Put(_) => Work::Echo(1),
            _ => return None,
        };
        Some(floor.planned(&floor.series(), floor.usual_place()))
    }

    fn planned(&self, series: &str, at: Option<u64>) -> Planned {
        let mut case = Case {
            name: at.map_or_else(|| series.to_owned(), |at| format!("{series} {at}")),
            series: series.to_owned(),
            at: at.map(|at| at as f64),
            ..Case::default()
        };
        if let Work::Trips(trips) | Work::Exchange(trips) = self {
            case.group = shown_size(trips.message_bytes as f64);
        }
        if matches!(self, Work::Trips(trips) if trips.iterations.is_some()) {
            case.at = None;
        }
        let settings = self.settings().into_iter();
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        case.settings = settings.collect();
        case.with_applications = match (self, self.drive()) {
            (Work::Put(put), None) => put.via == Via::Inside,
            (_, drive) => drive.is_some_and(|drive| matches!(drive.place, Place::Inside(_))),
        };
        Planned { case, work: *self }
    }

    /// How its cases are set up, in words.
    fn settings(&self) -> Vec<(&'static str, String)> {
        match self {
            Work::Trips(trips) => trips.settings(),
            Work::Put(put) => {
                let getters = match put.getters {
                    true => "2, inside the queue manager's process",
                    false => "none while it puts",
                };
                vec![
                    ("getters", getters.to_owned()),
                    ("asynchronous", put.asynchronous.to_string()),
                    ("way", format!("{:?}", put.via)),
                ]
            }
            Work::Fill(fill) => {
                let batch = if fill.persistent { "50" } else { "none" };
                vec![
                    ("messages", fill.messages.to_string()),
                    ("applications", fill.applications().to_string()),
                    ("messages a commit", batch.to_owned()),
                ]
            }
            Work::Restart(restart) => vec![
                ("messages", restart.messages.to_string()),
                ("message bytes", SMALL.to_string()),
            ],
            Work::Echo(_) | Work::Exchange(_) | Work::ForcedWrites(_) => Vec::new(),
        }
    }

    /// What runs against a queue manager or a bare server, if that is all.
    pub(super) fn drive(&self) -> Option<Drive> {
        match self {
            Work::Echo(connections) => {
                let trips = Trips {
                    requesters: *connections,
                    ..Trips::default()
                };
                Some(trips.bare(Bare::Echo))
            }
            Work::Exchange(trips) => Some(trips.bare(Bare::Exchange)),
            Work::Trips(trips) => trips.drive(),
            Work::Put(put) if put.getters => Some(put.beside_getters()),
            Work::Fill(fill) => Some(fill.drive()),
            _ => None,
        }
    }
}

impl Trips {
    fn responders(&self) -> u32 {
        self.requesters.min(60)
    }

    /// IBM's JMS client makes them.
    pub(super) fn by_jms(&self) -> bool {
        self.reach == Reach::Jms
    }

    /// What the JMS driver is called with, behind where the queue manager is: requesters, responders, bytes of a message,
    /// whether it is persistent, whether sessions are transacted, pairs of queues.
    pub(super) fn words(&self) -> [String; 6] {
        [
            self.requesters.to_string(),
            self.responders().to_string(),
            self.message_bytes.to_string(),
            self.persistent.to_string(),
            self.syncpoint().to_string(),
            self.pairs.to_string(),
        ]
    }

    fn syncpoint(&self) -> bool {
        self.persistent && !self.outside_syncpoint
    }

    fn workload(&self, module: Module, carriers: Carriers) -> Workload {
        let asks = module == Module::Requester;
        let (requesters, responders) = (self.requesters, self.responders());
        Workload {
            module,
            applications: if asks { requesters } else { responders },
            carriers,
            message_bytes: self.message_bytes,
            persistence: Some(self.persistent),
            syncpoint: Syncpoint {
                put: self.syncpoint(),
                get: self.syncpoint(),
            },
            rate: if asks { self.rate } else { 0.0 },
            iterations: self.iterations.filter(|_| asks),
            requests: Destinations::numbered("REQUEST", self.pairs),
            replies: Destinations::numbered("REPLY", self.pairs),
            // A slow disk is no reason to give a reply up.
            get_wait: Some(Duration::from_millis(if asks { 60_000 } else { 500 })),
            ..Workload::default()
        }
    }

    /// The same against a bare server; an echo has nobody who responds.
    fn bare(&self, bare: Bare) -> Drive {
        let modules: &[Module] = match bare {
            Bare::Echo => &[Module::Requester],
            Bare::Exchange => &[Module::Requester, Module::Responder],
        };
        let workload = |module: &_| self.workload(*module, Carriers::Multiplexed { threads: 1 });
        Drive {
            place: Place::Bare(bare, self.message_bytes),
            groups: vec![(Via::Tcp, modules.iter().map(workload).collect())],
            bounded: false,
        }
    }

    /// None: what drives them is no workload of ours.
    fn drive(&self) -> Option<Drive> {
        let carriers = match self.thread_each {
            true => Carriers::Threads,
            false => Carriers::Multiplexed { threads: 1 },
        };
        let requesters = |carriers| self.workload(Module::Requester, carriers);
        let responders = |carriers| self.workload(Module::Responder, carriers);
        let inside = (Via::Inside, vec![responders(Carriers::Threads)]);
        let (place, groups) = match self.reach {
            Reach::Jms => return None,
            Reach::Clients => {
                let both = vec![requesters(carriers), responders(carriers)];
                (Place::Server(self.shape), vec![(Via::Tcp, both)])
            }
            Reach::Inside => {
                let asking = (Via::Inside, vec![requesters(Carriers::Threads)]);
                (Place::Inside(self.shape), vec![inside, asking])
            }
            Reach::Mixed => {
                let asking = (Via::Tcp, vec![requesters(carriers)]);
                (Place::Inside(self.shape), vec![inside, asking])
            }
        };
        Some(Drive {
            place,
            groups,
            bounded: self.iterations.is_some(),
        })
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let carriers = match self.reach {
            Reach::Jms => "IBM's JMS client, a thread for each application",
            _ if self.thread_each => "a thread for each application",
            _ => "1 threads for all",
        };
        vec![
            ("requesters", self.requesters.to_string()),
            ("responders", self.responders().to_string()),
            ("message bytes", self.message_bytes.to_string()),
            ("persistent", self.persistent.to_string()),
            ("syncpoint", self.syncpoint().to_string()),
            ("queue pairs", self.pairs.to_string()),
            ("carriers", carriers.to_owned()),
            ("rate", self.rate.to_string()),
        ]
    }
}

impl Put {
    /// With two getters inside the queue manager's process that keep the queue empty.
    fn beside_getters(&self) -> Drive {
        let workload = |module, applications| Workload {
            module,
            applications,
            message_bytes: SMALL,
            persistence: Some(false),
            asynchronous: self.asynchronous && module == Module::Sender,
            destinations: Destinations::one(QUEUE),
            get_wait: Some(Duration::from_millis(500)),
            ..Workload::default()
        };
        Drive {
            place: Place::Inside(Shape::default()),
            groups: vec![
                (Via::Inside, vec![workload(Module::Receiver, 2)]),
                (self.via, vec![workload(Module::Sender, 1)]),
            ],
            bounded: false,
        }
    }

    /// Where it puts in bursts to an empty queue, which holds a burst in memory.
    pub(super) fn place(&self) -> Place {
        let shape = Shape {
            queue_buffer: 100 << 20,
            ..Shape::default()
        };
        match self.via {
            Via::Inside => Place::Inside(shape),
            _ => Place::Server(shape),
        }
    }
}

impl Fill {
    fn applications(&self) -> u32 {
        if self.messages < 1_000_000 { 4 } else { 10 }
    }

    fn drive(&self) -> Drive {
        let (sender, receiver) = (Module::Sender, Module::Receiver);
        let workload = Workload {
            module: if self.drain { receiver } else { sender },
            applications: self.applications(),
            message_bytes: SMALL,
            persistence: Some(self.persistent),
            syncpoint: Syncpoint {
                put: self.persistent,
                get: self.persistent,
            },
            batch: if self.persistent { 50 } else { 1 },
            iterations: Some(self.messages / u64::from(self.applications())),
            destinations: Destinations::one(QUEUE),
            get_wait: Some(Duration::from_secs(10)),
            ..Workload::default()
        };
        Drive {
            place: Place::Server(Shape::default()),
            groups: vec![(Via::Tcp, vec![workload])],
            bounded: true,
        }
    }
}

/// A case and what is done for it.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// As it will stand in the results, without rounds.
    pub(super) case: Case,
    /// What is done.
    pub(super) work: Work,
}

impl Planned {
    /// About how long one measurement takes, with what is started and stopped around it.
    fn takes(&self, effort: &Effort) -> Duration {
        match &self.work {
            // A queue manager is created, filled, ended and started.
            Work::Restart(restart) => {
                let filled = restart.messages as f64 / PUT_PER_SECOND;
                Duration::from_secs(2) + Duration::from_secs_f64(filled)
            }
            Work::Trips(trips) if trips.by_jms() => effort.each_of_java(),
            _ => effort.each(),
        }
    }
}

/// A scenario's cases and goals, as far as they were asked for.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) scenario: &'static Scenario,
    /// What is measured, in order.
    pub(super) cases: Vec<Planned>,
    /// What is to be reached.
    pub(super) goals: Vec<Goal>,
}

impl Plan {
    /// The cases of a scenario's rows, each once.
    pub(super) fn of(scenario: &'static Scenario, effort: &Effort) -> Plan {
        let mut cases: Vec<Planned> = Vec::new();
        for mut planned in scenario.rows.iter().flat_map(|row| row.cases(effort)) {
            let name = &planned.case.name;
            if cases.iter().all(|other| other.case.name != *name) {
                let published = scenario.published.get(name);
                planned.case.published = published.cloned().unwrap_or_default();
                cases.push(planned);
            }
        }
        Plan {
            scenario,
            cases,
            goals: scenario.goals.clone(),
        }
    }

    /// Whether the JMS driver is needed.
    pub(super) fn needs_jms(&self) -> bool {
        let mut cases = self.cases.iter();
        cases.any(|planned| matches!(planned.work, Work::Trips(trips) if trips.by_jms()))
    }

    /// About how long all rounds take.
    pub(super) fn takes(&self, effort: &Effort) -> Duration {
        let round: Duration = self.cases.iter().map(|planned| planned.takes(effort)).sum();
        round * effort.rounds
    }

    /// Keeps the cases whose names contain `text`, what their goals compare them with, and the floors of all these;
    /// goals about others go.
    pub(super) fn keep_only(&mut self, text: &str) {
        let names = self.cases.iter().map(|planned| &planned.case.name);
        let mut kept: BTreeSet<String> =
            names.filter(|name| name.contains(text)).cloned().collect();
        self.goals.retain(|goal| kept.contains(&goal.case));
        kept.extend(self.goals.iter().filter_map(|goal| match &goal.bound {
            Bound::AtLeast(_) => Some(REFERENCE_CASE.to_owned()),
            Bound::AtLeastTimesCase(_, other) => Some(other.clone()),
            Bound::AtMostTimesFloor(_) | Bound::AtLeastTimesFloor(_) => None,
        }));
        let cases = self.cases.iter().map(|planned| &planned.case);
        let floors = cases.filter(|case| kept.contains(&case.name));
        let floors: Vec<String> = floors.filter_map(|case| case.floor.clone()).collect();
        kept.extend(floors);
        self.cases
            .retain(|planned| kept.contains(&planned.case.name));
    }
}
