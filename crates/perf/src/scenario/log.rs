//! The recovery log: its buffer, its size, and the device below it.

use super::effort::Effort;
use super::plan::{LARGE, MEDIUM, Plan, SMALL};
use super::round_trips::RoundTrips;
use crate::measure::Shape;

/// A log for tests that make many queue managers.
fn small_log() -> Shape {
    Shape {
        primary: 4,
        secondary: 4,
        ..Shape::default()
    }
}

/// 60 requesters with 20 KiB persistent messages.
fn usual() -> RoundTrips {
    RoundTrips::new(60, MEDIUM, true)
}

/// `log-buffer`: Figure 22.
pub(super) fn buffer(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "LogBufferPages: 60 requesters, 20 KiB persistent",
        "round trip",
        "4 KiB pages of log buffer",
    );
    for pages in effort.pick(
        &[64, 512, 4_096],
        &[18, 64, 128, 256, 512, 1_024, 2_048, 4_096],
    ) {
        let shape = Shape {
            buffer_pages: pages,
            ..small_log()
        };
        let mut planned = usual().planned(usual().as_clients(shape));
        planned.case.at = Some(f64::from(pages));
        plan.add(planned.series("buffer pages"));
    }
    plan
}

/// `log-size`: Figure 23.
pub(super) fn size(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Size of the log: 60 requesters, 20 KiB persistent",
        "round trip",
        "MiB of primary log files",
    );
    for files in effort.pick(&[2, 4, 12], &[2, 4, 8, 16, 32]) {
        let shape = Shape {
            primary: files,
            ..small_log()
        };
        let mut planned = usual().planned(usual().as_clients(shape));
        planned.case.at = Some(f64::from(files * 64));
        plan.add(planned.series("log MiB"));
    }
    plan.notes
        .push("A small log has to be checkpointed more often.".to_owned());
    plan
}

/// `log-latency`: Figure 24, rated and unrated against the time that a write takes.
pub(super) fn latency(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Time added to each log write: 20 KiB persistent, rated and unrated",
        "round trip",
        "µs added to each log write",
    );
    for delay in effort.pick(
        &[0, 500, 1_000, 4_000],
        &[0, 100, 250, 500, 1_000, 2_000, 4_000],
    ) {
        let shape = Shape {
            disk_delay_us: delay,
            ..small_log()
        };
        let plain = Shape {
            plain_log: true,
            ..shape.clone()
        };
        let rated = RoundTrips {
            rate: 10.0,
            ..usual()
        };
        let one = RoundTrips::new(1, MEDIUM, true);
        let mut rows = vec![
            ("60 requesters, 600/s in all, µs", rated, shape.clone()),
            ("60 requesters, unrated, µs", usual(), shape.clone()),
            ("1 requester, unrated, µs", one, shape),
        ];
        if !effort.quick || delay == 1_000 {
            rows.push(("60 requesters, plain log, µs", usual(), plain));
        }
        for (series, trips, shape) in rows {
            let mut planned = trips.planned(trips.as_clients(shape));
            planned.case.at = Some(delay as f64);
            plan.add(planned.series(series));
        }
    }
    plan.notes.extend([
        "Rated latency counts from the moment at which a request was due. Published for 600 round trips/s on NFS over 10 Gb: 0.95 ms without delay, about 11 ms with 0.5 ms each way; the rate holds until 4 ms.".to_owned(),
        "Plain log: one write in flight, no rule that makes batches whole; the ordinary group commit, for comparison.".to_owned(),
    ]);
    plan
}

/// A device: its name, microseconds added to each write, bytes a second.
type Device = (&'static str, u64, u64);

/// Devices like those of the published tables.
const DEVICES: [Device; 4] = [
    ("this disk", 0, 0),
    ("like SAN", 170, 900_000_000),
    ("like NFS, 10 Gb", 95, 500_000_000),
    ("like NFS, 1 Gb", 270, 110_000_000),
];

/// `device`: Tables 12 to 14.
pub(super) fn device(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Log writes by device: MB/s, latency, size at 1, 60, 180 requesters",
        "round trip",
        "requesters",
    );
    let sizes: Vec<(usize, Vec<u32>)> = match effort.quick {
        true => vec![(SMALL, vec![1, 60]), (LARGE, vec![18])],
        false => vec![
            (SMALL, vec![1, 60, 180]),
            (MEDIUM, vec![1, 60, 180]),
            (LARGE, vec![1, 18, 60]),
        ],
    };
    for (name, delay, bandwidth) in effort.pick(&[DEVICES[0], DEVICES[1], DEVICES[3]], &DEVICES) {
        let shape = Shape {
            disk_delay_us: delay,
            disk_bandwidth: bandwidth,
            ..Shape::default()
        };
        for (size, requesters) in &sizes {
            for requesters in requesters {
                let trips = RoundTrips::new(*requesters, *size, true);
                let planned = trips.planned(trips.as_clients(shape.clone()));
                let series = format!("{name}, {}", planned.case.series);
                plan.add(planned.series(&series));
            }
        }
    }
    plan.notes.extend([
        "A device other than this disk is this disk with time and a limit added to every forced write, so it cannot be faster than this disk.".to_owned(),
        "Published (MB/s / µs / KB a write): 2 KiB, 1 requester: SAN 24 / 172 / 5, NFS 10 Gb 35 / 97 / 5, NFS 1 Gb 17 / 270 / 5; 60 requesters: 171 / 302 / 59, 196 / 262 / 63, 74 / 793 / 63; 200 KiB, 18 requesters: 774 / 755 / 1051, 493 / 2378 / 941, 107 / 9401 / 1017.".to_owned(),
    ]);
    plan
}
