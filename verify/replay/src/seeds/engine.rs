//! Seeds out of a queue manager at work on a simulated machine: its log records, and the sections of
//! its checkpoint image.

use std::collections::BTreeMap;
use std::path::Path;

use posthaste_engine::{Vote, Xid};
use posthaste_mqi::constants::{MQGMO_SYNCPOINT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPMO_SYNCPOINT};
use posthaste_mqi::{Gmo, Md, Name, Od, Pmo, Reason};
use posthaste_recovery_log::{LogConfig, open};
use posthaste_sim::{Machine, Plan};
use posthaste_store::read_image;

use super::{LONGEST, Seeds};

const FILE_PAGES: u32 = 64;

/// A queue manager that has put, got, committed, backed out, prepared a branch, defined, cleared and deleted.
fn worked() -> Machine {
    let plan = Plan {
        file_pages: FILE_PAGES,
        buffer: 1_024,
        ..Plan::of(1)
    };
    let mut machine = match Machine::new(&plan) {
        Ok(machine) => machine,
        Err(error) => panic!("create: {error}"),
    };
    assert!(machine.start().is_ok(), "start");
    machine.mqsc("DEFINE QLOCAL(A) DEFPSIST(YES) DESCR('a queue')");
    machine.mqsc("DEFINE QLOCAL(GONE)");
    machine.mqsc("DELETE QLOCAL(GONE)");
    let session = machine.connect("seeds");
    let done = machine.world.executor().block_on(async move {
        let mut od = Od {
            object_name: Name::new("A"),
            ..Od::default()
        };
        let queue = session
            .open(&mut od, MQOO_OUTPUT | MQOO_INPUT_SHARED)
            .await?
            .value;
        let put = |options| Pmo {
            options,
            ..Pmo::default()
        };
        let body = bytes::Bytes::from(vec![b'm'; 700]);
        for options in [0, 0, MQPMO_SYNCPOINT, MQPMO_SYNCPOINT] {
            let mut md = Md {
                version: 2,
                persistence: 1,
                correl_id: [3; 24],
                ..Md::default()
            };
            session
                .put(queue, &mut md, &mut put(options), body.clone())
                .await?;
        }
        session.commit().await?;
        let mut gmo = Gmo {
            options: MQGMO_SYNCPOINT,
            ..Gmo::default()
        };
        session
            .get(queue, &mut Md::default(), &mut gmo, 1_000)
            .await?;
        session.backout().await?;
        let mut md = Md {
            persistence: 1,
            ..Md::default()
        };
        session
            .put(queue, &mut md, &mut put(MQPMO_SYNCPOINT), body)
            .await?;
        session
            .get(queue, &mut Md::default(), &mut gmo, 1_000)
            .await?;
        let xid = Xid::new(1, b"global", b"branch").ok_or(Reason::UNEXPECTED_ERROR)?;
        let prepared = session.prepare(&xid).await;
        assert_eq!(prepared, Ok(Vote::Prepared));
        session.close(queue, 0).await
    });
    assert!(matches!(done, Ok(Ok(_))), "the verbs: {done:?}");
    machine
}

/// Additional inputs of `log_pages`: the first log record of each kind.
pub fn engine_records() -> Seeds {
    let mut machine = worked();
    machine.mqsc("DEFINE QLOCAL(CLEARED)");
    machine.mqsc("CLEAR QLOCAL(CLEARED)");
    machine.kill();
    let config = LogConfig {
        file_pages: FILE_PAGES,
        ..LogConfig::default()
    };
    let mut restart = match open(&machine.env(), Path::new("/qm/log"), &config) {
        Ok(restart) => restart,
        Err(error) => panic!("open: {error}"),
    };
    let mut first: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
    while let Ok(Some(record)) = restart.next() {
        if let Some(kind) = record.payload.first() {
            first.entry(*kind).or_insert(record.payload);
        }
    }
    assert!(first.len() >= 4, "only {} kinds of record", first.len());
    let named = |(kind, mut bytes): (u8, Vec<u8>)| {
        bytes.truncate(LONGEST);
        (format!("engine-record-{kind}"), bytes)
    };
    first.into_iter().map(named).collect()
}

/// Additional inputs of `image`: the sections of the image of a queue manager that has ended.
pub fn engine_image() -> Seeds {
    let mut machine = worked();
    assert!(matches!(machine.end(), Ok(true)), "end");
    let env = machine.env();
    let folder = Path::new("/qm/data");
    let names = env.disk.list(folder).unwrap_or_default();
    let number = names.iter().find_map(|name| {
        let number = name.strip_prefix("checkpoint-")?.strip_suffix(".img")?;
        number.parse().ok()
    });
    let Some(number) = number else {
        panic!("no image among {names:?}");
    };
    let sections = match read_image(&env.disk, folder, number) {
        Ok(sections) => sections,
        Err(error) => panic!("image {number}: {error}"),
    };
    let named = |(at, (kind, mut bytes)): (usize, (u32, Vec<u8>))| {
        bytes.truncate(LONGEST);
        (format!("engine-section-{at}-{kind}"), bytes)
    };
    sections.into_iter().enumerate().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_manager_leaves_records_and_sections() {
        assert!(!engine_records().is_empty());
        assert!(!engine_image().is_empty());
    }
}
