//! One thread that puts; filling and draining a queue.

use std::time::Duration;

use super::effort::Effort;
use super::plan::{
    Drive, Group, Place, Plan, Planned, Puts, SMALL, Subject, Via, bare_echo, named,
};
use crate::measure::Shape;
use crate::results::Published;
use crate::workload::{Carriers, Destinations, Module, Syncpoint, Workload};

/// The queue.
const QUEUE: &str = "REQUEST1";

/// One thread that puts 2 KiB non-persistent messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Putting {
    pub(super) via: Via,
    pub(super) asynchronous: bool,
}

impl Putting {
    fn workload(self, module: Module) -> Workload {
        Workload {
            module,
            carriers: Carriers::Threads,
            message_bytes: SMALL,
            persistence: Some(false),
            asynchronous: self.asynchronous && module == Module::Sender,
            destinations: Destinations::one(QUEUE),
            get_wait: Some(Duration::from_millis(500)),
            ..Workload::default()
        }
    }

    fn settings(self, planned: Planned, getters: &str) -> Planned {
        planned.settings(&[
            ("getters", getters.to_owned()),
            ("asynchronous", self.asynchronous.to_string()),
            ("way", format!("{:?}", self.via)),
        ])
    }

    /// With two getters inside the queue manager's process that keep the queue empty.
    pub(super) fn with_getters(self, name: &str) -> Planned {
        let getters = Workload {
            applications: 2,
            ..self.workload(Module::Receiver)
        };
        let group = |via, workload| Group {
            via,
            workloads: vec![workload],
        };
        let drive = Drive {
            place: Place::Inside(Shape::default()),
            groups: vec![
                group(Via::Inside, getters),
                group(self.via, self.workload(Module::Sender)),
            ],
            bounded: false,
        };
        let mut planned = named(name, Subject::Drive(drive));
        planned.case.with_applications = true;
        self.settings(planned, "2, inside the queue manager's process")
    }

    /// In bursts to an empty queue, which is drained after each without being measured.
    pub(super) fn in_bursts(self, name: &str) -> Planned {
        // It holds a burst in memory.
        let shape = Shape {
            queue_buffer: 100 << 20,
            ..Shape::default()
        };
        let puts = Puts {
            place: match self.via {
                Via::Inside => Place::Inside(shape),
                _ => Place::Server(shape),
            },
            via: self.via,
            asynchronous: self.asynchronous,
            queue: QUEUE.to_owned(),
            message_bytes: SMALL,
        };
        let mut planned = named(name, Subject::Puts(puts));
        planned.case.with_applications = self.via == Via::Inside;
        self.settings(planned, "none while it puts")
    }
}

/// A row of the paper: name, way, asynchronous, the published rate and its row.
type Row = (&'static str, Via, bool, Option<(f64, &'static str)>);

/// The rows, and those over a longer distance.
#[rustfmt::skip] // one row, one line
const ROWS: [Row; 9] = [
    ("FASTPATH", Via::Inside, false, Some((90_500.0, "FASTPATH bindings"))),
    ("local socket", Via::Local, false, Some((64_700.0, "standard bindings"))),
    ("TCP", Via::Tcp, false, Some((41_900.0, "FASTPATH channel, client on the same host"))),
    ("local socket, asynchronous", Via::Local, true, None),
    ("TCP, asynchronous", Via::Tcp, true, Some((63_000.0, "FASTPATH channel, asynchronous, 10 Gb network"))),
    // The published delay is that of the whole link, there and back.
    ("TCP, link delay 500 µs", Via::Delayed(250), false, Some((1_650.0, "FASTPATH channel, 500 µs"))),
    ("TCP, link delay 500 µs, asynchronous", Via::Delayed(250), true, Some((52_000.0, "FASTPATH channel, asynchronous, 500 µs"))),
    ("TCP, link delay 2 ms", Via::Delayed(1_000), false, None),
    ("TCP, link delay 2 ms, asynchronous", Via::Delayed(1_000), true, None),
];

/// `single-put`: the rows of the paper on the rate of one thread.
pub(super) fn single(_: &Effort) -> Plan {
    let mut plan = Plan::new(
        "One thread that puts 2 KiB non-persistent messages to one queue",
        "put",
        "",
    );
    let source = |row: &str| format!("IBM MQ, one thread, {row}");
    for (name, via, asynchronous, published) in ROWS {
        let putting = Putting { via, asynchronous };
        let figures = published.map(|(rate, row)| Published::rate(rate, &source(row)));
        let planned = putting
            .with_getters(name)
            .published(figures.into_iter().collect());
        match (via, asynchronous) {
            (Via::Tcp, false) => plan.add_beside(bare_echo(1, SMALL), planned),
            _ => plan.add(planned),
        }
    }
    let bursts = [
        ("FASTPATH, put only", Via::Inside, false),
        ("local socket, put only", Via::Local, false),
        ("TCP, put only", Via::Tcp, false),
        ("TCP, asynchronous, put only", Via::Tcp, true),
    ];
    for (name, via, asynchronous) in bursts {
        plan.add(Putting { via, asynchronous }.in_bursts(name));
    }
    plan.notes.extend([
        "As in the paper, two getters keep the queue empty; they run inside the queue manager's process, and CPU is of that process and so includes them and the putting thread.".to_owned(),
        "“Put only”: bursts to an empty queue, which is drained after each burst without being measured; on two processors getters would take from the putting thread what they need.".to_owned(),
        "Asynchronous puts are checked with MQSTAT; a failed one fails the run.".to_owned(),
    ]);
    plan
}

/// `fill-drain`.
pub(super) fn fill_drain(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Filling a queue with 2 KiB messages, then draining it",
        "message",
        "",
    );
    let (count, applications) = match effort.quick {
        true => (40_000_u64, 4_u32),
        false => (1_000_000, 10),
    };
    for persistent in [false, true] {
        let kind = if persistent {
            "persistent"
        } else {
            "non-persistent"
        };
        for (module, name) in [(Module::Sender, "fill"), (Module::Receiver, "drain")] {
            let workload = Workload {
                module,
                applications,
                carriers: Carriers::Threads,
                message_bytes: SMALL,
                persistence: Some(persistent),
                syncpoint: if persistent {
                    Syncpoint::BOTH
                } else {
                    Syncpoint::NONE
                },
                batch: if persistent { 50 } else { 1 },
                iterations: Some(count / u64::from(applications)),
                destinations: Destinations::one(QUEUE),
                get_wait: Some(Duration::from_secs(10)),
                ..Workload::default()
            };
            let drive = Drive {
                place: Place::Server(Shape::default()),
                groups: vec![Group {
                    via: Via::Tcp,
                    workloads: vec![workload],
                }],
                bounded: true,
            };
            plan.add(
                named(&format!("{name}, {kind}"), Subject::Drive(drive)).settings(&[
                    ("messages", count.to_string()),
                    ("applications", applications.to_string()),
                    (
                        "messages a commit",
                        if persistent { "50" } else { "none" }.to_owned(),
                    ),
                ]),
            );
        }
    }
    plan.notes.push(format!(
        "{} messages, {applications} applications over TCP, one queue; persistent ones 50 to a commit. What does not fit into the queue's 10 MiB of memory goes to its file.",
        crate::quantity::count(count as f64)
    ));
    plan
}
