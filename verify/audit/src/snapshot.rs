//! What is on the queues while nobody is at work: every message browsed, every byte checked.

use std::thread;
use std::time::{Duration, Instant};

use posthaste_client::{Address, ClientError, Connection};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Reason};

use crate::history::{Seen, Snapshot};
use crate::payload::Payload;
use crate::stage::{QUEUES, STAGING, Stage, connect, whole};
use crate::violation::{Broken, Violation};
use crate::worker::{BUFFER, LONGEST_DELAY};

/// How long connections that were dropped may take to be backed out.
const SETTLE: Duration = Duration::from_secs(10);

/// A snapshot, its size in bytes, and what was wrong on the spot.
pub(crate) struct Browsed {
    pub(crate) snapshot: Snapshot,
    pub(crate) bytes: u64,
    pub(crate) complaints: Vec<Violation>,
}

/// Browses every queue, once all that is delayed has come to its own. A queue whose depth says that there is more than can be browsed is browsed
/// again, for connections dropped a moment ago may still be about to be backed out; if that does
/// not end, it is a complaint.
pub(crate) fn take(stage: &Stage, address: &Address) -> Result<Browsed, ClientError> {
    let mut connection = connect(address, "audit-browse")?;
    let mut all = Browsed {
        snapshot: Snapshot::default(),
        bytes: 0,
        complaints: Vec::new(),
    };
    if let Some(left) = delayed_for_good(&mut connection)? {
        let text = format!("{left} messages stay on {STAGING}");
        all.complaints
            .push(Violation::new(Broken::Unexpected, text));
    }
    for number in 0..QUEUES.len() {
        let deadline = Instant::now() + SETTLE;
        loop {
            let (line, depth) = browse(stage, &mut connection, number)?;
            if line.seen.len() == depth || Instant::now() >= deadline {
                if line.seen.len() != depth {
                    let text = format!(
                        "{} has {} messages and a depth of {depth}",
                        QUEUES.get(number).map_or("", |q| q.name),
                        line.seen.len()
                    );
                    all.complaints
                        .push(Violation::new(Broken::Unexpected, text));
                }
                all.snapshot.queues.push(line.seen);
                all.bytes += line.bytes;
                all.complaints.extend(line.complaints);
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    all.snapshot.taken_ms = stage.ms();
    connection.disconnect()?;
    Ok(all)
}

/// How many messages stay delayed although their time has come, if any do.
fn delayed_for_good(connection: &mut Connection) -> Result<Option<usize>, ClientError> {
    let mut od = Od {
        object_name: Name::new(STAGING),
        ..Od::default()
    };
    let handle = connection.open_object(&mut od, MQOO_INQUIRE)?.value;
    let deadline = Instant::now() + SETTLE + Duration::from_millis(LONGEST_DELAY);
    let left = loop {
        let left = depth(connection, handle)?;
        if left == 0 || Instant::now() >= deadline {
            break left;
        }
        thread::sleep(Duration::from_millis(10));
    };
    connection.close(handle, MQCO_NONE)?;
    Ok((left > 0).then_some(left))
}

#[derive(Default)]
struct Line {
    seen: Vec<Seen>,
    bytes: u64,
    complaints: Vec<Violation>,
}

fn browse(
    stage: &Stage,
    connection: &mut Connection,
    number: usize,
) -> Result<(Line, usize), ClientError> {
    let mut od = Od {
        object_name: Name::new(QUEUES.get(number).map_or("", |q| q.name)),
        ..Od::default()
    };
    let handle = connection
        .open_object(&mut od, MQOO_BROWSE | MQOO_INQUIRE)?
        .value;
    let mut line = Line::default();
    let mut next = MQGMO_BROWSE_FIRST;
    loop {
        let mut md = Md::default();
        let mut gmo = Gmo {
            options: next | MQGMO_NO_WAIT,
            ..Gmo::default()
        };
        let got = match whole(connection.get(handle, &mut md, &mut gmo, BUFFER)) {
            Err(ClientError::Reason(Reason::NO_MSG_AVAILABLE)) => break,
            other => other?,
        };
        next = MQGMO_BROWSE_NEXT;
        line.bytes += got.length as u64;
        let queue = u8::try_from(number).unwrap_or(u8::MAX);
        let read = Payload::read(&got.data, stage.run)
            .and_then(|payload| payload.found(queue, md.persistence, md.priority));
        match read {
            Ok(payload) => line.seen.push(Seen {
                id: payload.id,
                persistent: payload.persistent,
                priority: payload.priority,
                backouts: u32::try_from(md.backout_count).unwrap_or(u32::MAX),
            }),
            Err(text) => line.complaints.push(Violation::new(
                Broken::Damaged,
                format!("browsing {}: {text}", od.object_name.text()),
            )),
        }
    }
    let depth = depth(connection, handle)?;
    connection.close(handle, MQCO_NONE)?;
    Ok((line, depth))
}

fn depth(connection: &mut Connection, handle: Hobj) -> Result<usize, ClientError> {
    let inquired = connection.inquire(handle, &[MQIA_CURRENT_Q_DEPTH], 0)?;
    let depth = inquired.value.ints.first().copied().unwrap_or(-1);
    Ok(usize::try_from(depth).unwrap_or(usize::MAX))
}
