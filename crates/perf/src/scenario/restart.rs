//! How long a queue manager takes from its start until it serves, after various lives.
//!
//! Cases as in the published paper on restart: empty queues, deep queues, units of work that nobody has
//! committed; after an end in order and after SIGKILL. Invariant: after the restart the queues hold exactly what they have
//! to hold, or the measurement is an error: a restart that loses messages is not fast.

use std::collections::BTreeMap;

use posthaste_client::{Connect, Connection};
use posthaste_mqi::constants::{
    MQIA_CURRENT_Q_DEPTH, MQOO_INQUIRE, MQOO_OUTPUT, MQPER_PERSISTENT, MQPMO_SYNCPOINT,
};
use posthaste_mqi::{Md, Name, Od, Pmo};

use super::bench::{Bench, until_ended};
use super::effort::Effort;
use super::plan::{Ending, Plan, Restart, SMALL, Subject, named};
use crate::drive::start;
use crate::measure::{CHANNEL, Interrupt, LabError, QUEUE_MANAGER, Shape, UnderTest};
use crate::results::{MESSAGES, Published, Round};
use crate::workload::{Carriers, Destinations, Module, Syncpoint, Target, Workload};

/// Queues that messages are put on.
const QUEUES: u32 = 10;
/// Messages of a unit of work, below the usual MAXUMSGS.
const UNIT: u64 = 5_000;
/// The value that is measured.
const RESTART: &str = "restart, s";

/// The plan.
pub(super) fn plan(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "From start to serving, after an end in order and after SIGKILL",
        "restart",
        "messages",
    );
    let deep = if effort.quick { 20_000 } else { 1_000_000 };
    let open = if effort.quick { 10_000 } else { 400_000 };
    #[rustfmt::skip] // one row, one line
    let cases = [
        ("empty, clean", 0, false, Ending::Clean, Some((0.45, 0, "IBM MQ 9.1.1, SAN, empty queues"))),
        ("empty, killed", 0, false, Ending::Killed, None),
        ("deep, clean", deep, false, Ending::Clean, Some((10.0, 5_000_000, "IBM MQ 9.1.1, SAN, 10 × 500,000 messages"))),
        ("deep, killed", deep, false, Ending::Killed, None),
        ("uncommitted, killed", open, true, Ending::Killed, Some((46.0, 400_000, "IBM MQ 9.1.1, SAN, 400,000 × 2 KiB in 3,200 transactions"))),
    ];
    for (name, messages, uncommitted, ending, published) in cases {
        let restart = Restart {
            shape: shape(messages),
            messages,
            message_bytes: SMALL,
            uncommitted,
            ending,
        };
        let figures = published
            .map(|(value, messages, source)| Published::value(RESTART, value, messages, source));
        plan.add(
            named(name, Subject::Restart(restart))
                .published(figures.into_iter().collect())
                .settings(&[
                    ("messages", messages.to_string()),
                    ("message bytes", SMALL.to_string()),
                ]),
        );
    }
    plan.notes.push(
        "Time from the start of the process until it says that it serves, on this machine's disk, with its page cache warm. After each restart the queues are asked for their depths.".to_owned(),
    );
    plan
}

/// A log that holds all messages twice.
fn shape(messages: u64) -> Shape {
    let bytes = messages * (SMALL as u64 + 1_024) * 2;
    let files = bytes.div_ceil(16_384 * 4_096).clamp(4, 200);
    Shape {
        primary: u32::try_from(files).unwrap_or(200),
        ..Shape::default()
    }
}

/// Measures one restart, on a queue manager of its own.
pub(super) fn measure(bench: &mut Bench, restart: &Restart) -> Result<Round, LabError> {
    let folder = bench.folder();
    let program = bench.program().to_owned();
    let mut server = UnderTest::start(&program, &folder, &restart.shape, &bench.interrupt)?;
    let filled = fill(&bench.interrupt, &mut server, restart);
    let open = filled.map_err(|error| server.why(error))?;
    match restart.ending {
        Ending::Clean => server.end()?,
        Ending::Killed => server.kill()?,
    }
    drop(open);
    let (mut server, took) = server.again()?;
    if bench.interrupt.raised() {
        return Err(LabError::Interrupted);
    }
    let expected = if restart.uncommitted {
        0
    } else {
        restart.messages
    };
    let found = depth(&server).map_err(|error| server.why(error))?;
    if found != expected {
        return Err(LabError::broken(format!(
            "after its restart it has {found} messages instead of {expected}"
        )));
    }
    server.end()?;
    drop(server);
    // Deep queues leave much behind; the bench removes the rest.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(Round {
        seconds: took.as_secs_f64(),
        values: BTreeMap::from([
            (RESTART.to_owned(), took.as_secs_f64()),
            (MESSAGES.to_owned(), restart.messages as f64),
        ]),
        ..Round::default()
    })
}

fn connect(server: &UnderTest) -> Connect {
    Connect::new(server.local(), CHANNEL, QUEUE_MANAGER)
}

/// Puts what has to be there before the restart; the connections hold units of work open.
fn fill(
    interrupt: &Interrupt,
    server: &mut UnderTest,
    restart: &Restart,
) -> Result<Vec<Connection>, LabError> {
    match (restart.messages, restart.uncommitted) {
        (0, _) => Ok(Vec::new()),
        (_, true) => put_uncommitted(interrupt, server, restart),
        (_, false) => put(interrupt, server, restart).map(|()| Vec::new()),
    }
}

/// Puts and commits the messages.
fn put(interrupt: &Interrupt, server: &mut UnderTest, restart: &Restart) -> Result<(), LabError> {
    let workload = Workload {
        module: Module::Sender,
        applications: QUEUES,
        carriers: Carriers::Threads,
        message_bytes: restart.message_bytes,
        persistence: Some(true),
        syncpoint: Syncpoint::BOTH,
        batch: 500,
        iterations: Some(restart.messages / u64::from(QUEUES)),
        destinations: Destinations::numbered("REQUEST", QUEUES),
        ..Workload::default()
    };
    let failed =
        |error: &dyn std::fmt::Display| LabError::workload("messages cannot be put", error);
    let running =
        start(&workload, &Target::Client(connect(server))).map_err(|error| failed(&error))?;
    until_ended(interrupt, &running, || server.ended())?;
    let outcome = running.stop();
    match outcome.failures.first() {
        Some(error) => Err(failed(error)),
        None => Ok(()),
    }
}

/// Puts messages and commits none; the connections hold the units of work open.
fn put_uncommitted(
    interrupt: &Interrupt,
    server: &UnderTest,
    restart: &Restart,
) -> Result<Vec<Connection>, LabError> {
    let failed = |error: posthaste_client::ClientError| {
        LabError::workload("uncommitted messages cannot be put", error)
    };
    let data = vec![b'x'; restart.message_bytes];
    let mut open = Vec::new();
    let mut left = restart.messages;
    while left > 0 {
        let mut connection = Connection::open(&connect(server)).map_err(failed)?;
        let number = open.len() as u64 % u64::from(QUEUES) + 1;
        let mut od = Od {
            object_name: Name::new(&format!("REQUEST{number}")),
            ..Od::default()
        };
        let queue = connection
            .open_object(&mut od, MQOO_OUTPUT)
            .map_err(failed)?
            .value;
        for _ in 0..left.min(UNIT) {
            if interrupt.raised() {
                return Err(LabError::Interrupted);
            }
            let mut md = Md {
                persistence: MQPER_PERSISTENT,
                ..Md::default()
            };
            let mut pmo = Pmo {
                options: MQPMO_SYNCPOINT,
                ..Pmo::default()
            };
            connection
                .put(queue, &mut md, &mut pmo, &data)
                .map_err(failed)?;
        }
        left -= left.min(UNIT);
        open.push(connection);
    }
    Ok(open)
}

/// Messages on all queues.
fn depth(server: &UnderTest) -> Result<u64, LabError> {
    let failed = |error: posthaste_client::ClientError| {
        LabError::workload("depths cannot be inquired", error)
    };
    let mut connection = Connection::open(&connect(server)).map_err(failed)?;
    let mut sum = 0;
    for number in 1..=QUEUES {
        let mut od = Od {
            object_name: Name::new(&format!("REQUEST{number}")),
            ..Od::default()
        };
        let queue = connection
            .open_object(&mut od, MQOO_INQUIRE)
            .map_err(failed)?
            .value;
        let found = connection
            .inquire(queue, &[MQIA_CURRENT_Q_DEPTH], 0)
            .map_err(failed)?;
        let depth = found.value.ints.first().copied().unwrap_or(0);
        sum += u64::try_from(depth).unwrap_or(0);
    }
    connection.disconnect().map_err(failed)?;
    Ok(sum)
}
