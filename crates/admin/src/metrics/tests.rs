//! Each number has one row, and each row a number of its own.

use std::collections::BTreeSet;
use std::path::PathBuf;

use posthaste_command::{DisplayType, DisplayWhat, status_keywords};
use posthaste_engine::{
    Application, ConnectionCounts, Count, HandleStatus, LogStatistics, LogStatus, QueueCounts,
    UnitStatus,
};

use super::*;
use crate::beside::ChannelState;

fn names<S: Subject>() -> Vec<&'static str> {
    S::ROWS.iter().map(|row| row.metric.name).collect()
}

#[test]
fn names_are_unique_and_tell_what_they_are_about() {
    let all = [
        (names::<Manager>(), vec!["engine.", "log.", "channel."]),
        (names::<Queue>(), vec!["queue."]),
        (names::<ConnectionStatus>(), vec!["connection."]),
        (names::<ChannelStatus>(), vec!["instance."]),
        (names::<LaneStatus>(), vec!["lane."]),
    ];
    let mut seen = BTreeSet::new();
    for (names, begins) in all {
        for name in names {
            assert!(seen.insert(name), "{name} is there twice");
            assert!(begins.iter().any(|begin| name.starts_with(begin)), "{name}");
        }
    }
}

/// Each row reads a number of its own: all numbers are different, and all of them come out once.
fn reads_each_once<S: Subject>(subject: &S, numbers: u64) {
    let mut read: Vec<u64> = S::ROWS
        .iter()
        .map(|row| (row.read)(subject).unwrap_or_else(|| panic!("{}", row.metric.name)))
        .collect();
    read.sort_unstable();
    let expected: Vec<u64> = (1..=numbers).collect();
    assert_eq!(read, expected);
}

/// Every number, in a value of its own. A field that is added makes this one not compile, and its row is missed below.
fn log(next: &mut impl FnMut() -> u64) -> LogStatistics {
    LogStatistics {
        records: next(),
        logical_bytes: next(),
        writes: next(),
        physical_bytes: next(),
        commits: next(),
        write_nanos: next(),
        busy_nanos: next(),
        idle_nanos: next(),
        slowest_nanos: next(),
        average_write_nanos: next(),
        average_write_bytes: next(),
        cohort_wait_nanos: next(),
        most_in_flight: next(),
        extents_reused: next(),
        extents_made: next(),
        extents_removed: next(),
    }
}

fn counting() -> impl FnMut() -> u64 {
    let mut last = 0;
    move || {
        last += 1;
        last
    }
}

#[test]
fn each_number_of_the_queue_manager_has_a_row() {
    let mut next = counting();
    let manager = Manager {
        engine: Counts::made(|_| next()),
        log: log(&mut next),
        beside: ComponentCounts {
            wakes: next(),
            requests: next(),
            writes: next(),
            reads: next(),
            bytes_received: next(),
            bytes_sent: next(),
        },
        status: ManagerStatus {
            quiescing: false,
            connections: next() as usize,
            in_doubt: next() as usize,
            started: next() as i64,
            data: "/data".into(),
            log: LogStatus {
                path: PathBuf::new(),
                current: next(),
                restart: next(),
                extent_bytes: 0,
                primary: 0,
                secondary: 0,
                used_bytes: next(),
                primary_bytes: next(),
            },
        },
    };
    let numbers = next() - 1;
    assert_eq!(manager.engine.of(Count::Puts), 1);
    reads_each_once(&manager, numbers);
}

#[test]
fn each_number_of_a_queue_has_a_row() {
    let mut next = counting();
    let (uncommitted, blocks) = (next(), 2);
    let queue = |damaged, next: &mut dyn FnMut() -> u64| Queue {
        name: "Q".to_owned(),
        status: QueueStatus {
            depth: next() as u32,
            damaged,
            open_input: next() as u32,
            open_output: next() as u32,
            uncommitted: uncommitted == 1,
            resident_bytes: next() as usize,
            file_blocks: blocks,
            largest_file: next(),
            steps: next(),
            counts: QueueCounts {
                arrived: next(),
                arrived_persistent: next(),
                arrived_bytes: next(),
                avoided: next(),
                handed_over: next(),
                removed: next(),
                expired: next(),
                lock_waits: next(),
            },
        },
    };
    let whole = queue(false, &mut next);
    let read = |queue: &Queue, name: &str| {
        let mut rows = Queue::ROWS.iter();
        let row = rows.find(|row| row.metric.name == name).unwrap();
        (row.read)(queue)
    };
    // Two that are no counts of their own.
    let flags = ["queue.damaged", "queue.file_bytes"].map(|name| read(&whole, name));
    assert_eq!(flags, [Some(0), Some(1024)]);
    let mut values: Vec<u64> = Queue::ROWS
        .iter()
        .filter_map(|row| (row.read)(&whole))
        .filter(|value| ![0, 1024].contains(value))
        .collect();
    values.sort_unstable();
    assert_eq!(values, (1..next()).collect::<Vec<u64>>());
    let damaged = queue(true, &mut next);
    assert_eq!(read(&damaged, "queue.depth"), None);
    assert_eq!(read(&damaged, "queue.damaged"), Some(1));
}

#[test]
fn each_number_of_a_connection_has_a_row() {
    let mut next = counting();
    let in_call = next() == 1;
    let handle = HandleStatus {
        object: "Q".to_owned(),
        kind: posthaste_command::ObjectKind::QLocal,
        queue: Some("Q".to_owned()),
        options: 0,
        topic: None,
    };
    let connection = ConnectionStatus {
        number: 0xAB,
        application: Application {
            name: "a\n\u{1b}\"b\"".to_owned(),
            ..Application::default()
        },
        in_call,
        handles: vec![handle; next() as usize],
        subscriptions: Vec::new(),
        unit: Some(UnitStatus {
            id: 0,
            started: next() as i64,
            logged: Some(next() as i64),
            branch: None,
        }),
        counts: ConnectionCounts {
            puts: next(),
            gets: next(),
            got_bytes: next(),
            commits: next(),
            backouts: next(),
        },
    };
    reads_each_once(&connection, next() - 1);
    let text = exposition(&[connection]);
    let line = "posthaste_connection_puts_total{connection=\"00000000000000AB\",application=\"a..\\\"b\\\"\",channel=\"\"} 5\n";
    assert!(text.contains(line), "{text}");
    let typed = "# TYPE posthaste_connection_puts_total counter\n";
    assert!(text.contains(typed), "{text}");
}

fn channel() -> ChannelStatus {
    let mut next = counting();
    ChannelStatus {
        id: 77,
        channel: "C".to_owned(),
        conname: "127.0.0.1".to_owned(),
        state: ChannelState::Running,
        started: next() as i64,
        bytes_received: next(),
        bytes_sent: next(),
        buffers_received: next(),
        buffers_sent: next(),
        calls: next(),
        last_call: Some(next() as i64),
        conversations: next() as u32,
        max_conversations: next() as u32,
        heartbeat_s: 300,
        max_message: 100,
        product: "MQCC09040000".to_owned(),
        application: "a".to_owned(),
        tls: None,
        user: "u".to_owned(),
    }
}

#[test]
fn each_number_of_an_instance_has_a_row() {
    reads_each_once(&channel(), 9);
}

#[test]
fn each_number_of_a_lane_has_a_row() {
    let mut next = counting();
    let lane = LaneStatus {
        number: 3,
        connections: next(),
        turns: next(),
        wakes: next(),
        runs: next(),
        bytes_read: next(),
        bytes_written: next(),
    };
    reads_each_once(&lane, next() - 1);
    let text = exposition(&[lane]);
    let line = "posthaste_lane_turns_total{lane=\"3\"} 2\n";
    assert!(text.contains(line), "{text}");
}

/// A keyword of a row is one of the DISPLAY of its subject.
#[test]
fn keywords_are_those_of_displays() {
    fn check<S: Subject>(what: DisplayWhat) {
        let known: Vec<_> = status_keywords(what, DisplayType::Queue)
            .into_iter()
            .collect();
        let rows = S::ROWS.iter();
        for keyword in rows.filter_map(|row| row.metric.keyword) {
            assert!(known.contains(&keyword), "{keyword}");
        }
    }
    check::<Manager>(DisplayWhat::QMStatus);
    check::<Queue>(DisplayWhat::QStatus);
    check::<ChannelStatus>(DisplayWhat::ChStatus);
}

#[test]
fn the_page_of_metrics_is_current() {
    let page = include_str!("../../../../docs/metrics.md");
    let how = "cargo run -p posthaste-admin --example metrics_page > docs/metrics.md";
    assert!(
        page == super::page(),
        "docs/metrics.md is not what the rows say; write it anew: {how}"
    );
}
