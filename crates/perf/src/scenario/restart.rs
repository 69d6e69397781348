//! How long a queue manager takes from its start until it serves, after various lives.
//!
//! Invariant: after the restart the queues hold exactly what they have to hold, or the measurement is an error: a
//! restart that loses messages is not fast.

use std::collections::BTreeMap;

use posthaste_client::Connect;
use posthaste_mqi::constants::{MQOO_INQUIRE, MQOO_OUTPUT, MQPER_PERSISTENT, MQPMO_SYNCPOINT};

use super::bench::{Bench, until_ended};
use super::client::Client;
use super::plan::{Restart, SMALL};
use crate::drive::start;
use crate::measure::{
    CHANNEL, Interrupt, LabError, QUEUE_MANAGER, Shape, UnderTest, uninterrupted,
};
use crate::results::{MESSAGES, Round};
use crate::workload::{Destinations, Module, Syncpoint, Target, Workload};

/// Queues that messages are put on.
const QUEUES: u32 = 10;
/// The value that is measured.
const RESTART: &str = "restart, s";
/// Messages of a unit of work, below the usual MAXUMSGS.
const UNIT: u64 = 5_000;

/// A log that holds all messages twice.
fn shape(messages: u64) -> Shape {
    let bytes = messages * (SMALL as u64 + 1_024) * 2;
    let files = bytes.div_ceil(16_384 * 4_096).clamp(4, 200);
    let primary = u32::try_from(files).unwrap_or(200);
    Shape {
        primary,
        ..Shape::default()
    }
}

/// Measures one restart, on a queue manager of its own.
pub(super) fn measure(bench: &mut Bench, restart: &Restart) -> Result<Round, LabError> {
    let folder = bench.folder();
    let program = bench.program().to_owned();
    let shape = shape(restart.messages);
    let mut server = UnderTest::start(&program, &folder, &shape, &bench.interrupt)?;
    let filled = match restart.uncommitted {
        true => put_uncommitted(&bench.interrupt, &server, restart.messages),
        false => put(&bench.interrupt, &mut server, restart.messages).map(|()| Vec::new()),
    };
    let open = filled.map_err(|error| server.why(error))?;
    match restart.killed {
        false => server.end()?,
        true => server.kill()?,
    }
    drop(open);
    let (mut server, took) = server.again()?;
    uninterrupted(&bench.interrupt)?;
    let expected = match restart.uncommitted {
        true => 0,
        false => restart.messages,
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

fn target(server: &UnderTest) -> Target {
    Target::Client(Connect::new(server.local(), CHANNEL, QUEUE_MANAGER))
}

/// Puts and commits the messages.
fn put(interrupt: &Interrupt, server: &mut UnderTest, messages: u64) -> Result<(), LabError> {
    if messages == 0 {
        return Ok(());
    }
    let workload = Workload {
        module: Module::Sender,
        applications: QUEUES,
        message_bytes: SMALL,
        persistence: Some(true),
        syncpoint: Syncpoint::BOTH,
        batch: 500,
        iterations: Some(messages / u64::from(QUEUES)),
        destinations: Destinations::numbered("REQUEST", QUEUES),
        ..Workload::default()
    };
    let failed = |error| LabError::workload("messages cannot be put", error);
    let running = start(&workload, &target(server)).map_err(failed)?;
    until_ended(interrupt, &running, || server.ended())?;
    running
        .stop()
        .failures
        .into_iter()
        .next()
        .map_or(Ok(()), |error| Err(failed(error)))
}

/// Puts messages and commits none; the connections hold the units of work open.
fn put_uncommitted(
    interrupt: &Interrupt,
    server: &UnderTest,
    messages: u64,
) -> Result<Vec<Client>, LabError> {
    let data = vec![b'x'; SMALL];
    let mut open = Vec::new();
    for unit in 0..messages.div_ceil(UNIT) {
        let queue = format!("REQUEST{}", unit % u64::from(QUEUES) + 1);
        let mut client = Client::open(&target(server), &queue, MQOO_OUTPUT)?;
        for _ in 0..UNIT.min(messages - unit * UNIT) {
            uninterrupted(interrupt)?;
            client.put(MQPER_PERSISTENT, MQPMO_SYNCPOINT, &data)?;
        }
        open.push(client);
    }
    Ok(open)
}

/// Messages on all queues.
fn depth(server: &UnderTest) -> Result<u64, LabError> {
    let mut sum = 0;
    for number in 1..=QUEUES {
        let mut client = Client::open(&target(server), &format!("REQUEST{number}"), MQOO_INQUIRE)?;
        sum += client.depth()?;
        client.disconnect()?;
    }
    Ok(sum)
}
