//! A document with round figures, for tests.

use std::collections::BTreeMap;

use super::{Case, Document, Ended, FORMAT, Figure, Latency, Published, Round};
use crate::measure::Machine;

/// A window of a second with so many operations at so many µs of the server's processor time.
pub(crate) fn round(round: u32, operations: u64, server_us: u64) -> Round {
    Round {
        round,
        seconds: 1.0,
        operations,
        server_cpu_ns: Some(operations * server_us * 1_000),
        server_system_ns: Some(operations * server_us * 500),
        client_cpu_ns: Some(operations * 10_000),
        resident_bytes: Some(20 << 20),
        latency: (operations > 0).then_some(Latency {
            p50: 500_000,
            p90: 700_000,
            p99: 1_500_000,
            p999: 4_000_000,
            max: 9_000_000,
            mean: 520_000.0,
        }),
        counters: BTreeMap::new(),
        values: BTreeMap::new(),
    }
}

fn case(name: &str, at: f64, rounds: Vec<Round>) -> Case {
    Case {
        name: name.to_owned(),
        series: name.rsplit_once(' ').map_or(name, |(s, _)| s).to_owned(),
        at: Some(at),
        rounds,
        ..Case::default()
    }
}

/// A figure of others.
pub(crate) fn published(figure: Figure, value: f64, source: &str) -> Published {
    Published {
        figure,
        value,
        source: source.to_owned(),
        whole_machine: false,
        messages: None,
        unknown_threads: false,
    }
}

/// Two requester counts and their floor, three rounds each; the machine was slow in the second.
pub(crate) fn document() -> Document {
    let floor = case(
        "bare exchange 60",
        60.0,
        vec![
            round(1, 92_000, 10),
            round(2, 40_000, 25),
            round(3, 92_000, 10),
        ],
    );
    let one = Case {
        floor: None,
        ..case("2 KiB NP 1", 1.0, vec![round(1, 20_000, 30)])
    };
    let sixty = Case {
        floor: Some("bare exchange 60".to_owned()),
        published: vec![published(Figure::ServerCpu, 84.4, "IBM MQ 9.4 on 32 cores")],
        ..case(
            "2 KiB NP 60",
            60.0,
            vec![
                round(1, 60_000, 15),
                round(2, 25_000, 40),
                round(3, 50_000, 17),
            ],
        )
    };
    Document {
        format: FORMAT,
        scenario: "rr-cc".to_owned(),
        title: "Requesters and responders as clients".to_owned(),
        operation: "round trip".to_owned(),
        axis: "requesters".to_owned(),
        started: "2026-11-21T08:00:00Z".to_owned(),
        seconds: 12.5,
        command: vec!["posthaste".to_owned(), "perf".to_owned()],
        version: "0.1.0".to_owned(),
        commit: Some("0123456789ab".to_owned()),
        machine: Machine {
            processor: "x86-64".to_owned(),
            processors: 2,
            memory_bytes: 24 << 30,
            kernel: "Linux 6.18".to_owned(),
            architecture: "x86_64".to_owned(),
            file_system: "ext4".to_owned(),
            disk: "vda".to_owned(),
            load: "0.10".to_owned(),
        },
        quick: false,
        ended: Ended::Complete,
        notes: vec!["A note.".to_owned()],
        cases: vec![floor, one, sixty],
        goals: Vec::new(),
    }
}
