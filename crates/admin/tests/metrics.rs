//! The numbers of the registry, against what DISPLAY shows of the same, and against what was done.
#![allow(clippy::unwrap_used, missing_docs)]

mod one_client;
#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::sync::Arc;

use one_client::OneClient;
use posthaste_admin::Admin;
use posthaste_admin::metrics::registry;
use posthaste_command::{Reply, parse};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use world::*;

fn ask(admin: &Admin, text: &str) -> Reply {
    block_on(admin.execute(&parse(text).unwrap().unwrap()))
}

/// The value of the line that begins so.
fn value(text: &str, series: &str) -> Option<u64> {
    let line = |line: &str| line.strip_prefix(series)?.trim().parse().ok();
    text.lines().find_map(line)
}

/// A name of the registry as the text has it.
fn exposed(name: &str, counts: bool) -> String {
    let total = if counts { "_total" } else { "" };
    format!("posthaste_{}{total}", name.replace('.', "_"))
}

#[test]
fn what_display_shows_too_is_the_same_number() {
    let w = World::new();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for _ in 0..3 {
        put(&s, h, 0, 0, b"12345");
    }
    let admin = Admin::new(w.qm().clone(), Arc::new(OneClient));
    let text = admin.metrics();
    let mut compared = 0;
    for metric in registry() {
        let Some(keyword) = metric.keyword else {
            continue;
        };
        let (display, labels) = match metric.name.split_once('.').unwrap().0 {
            "queue" => ("DISPLAY QSTATUS(Q) ALL", "{queue=\"Q\"}"),
            "instance" => (
                "DISPLAY CHSTATUS(C) ALL",
                "{channel=\"C\",connection_name=\"127.0.0.1\",job=\"5\"}",
            ),
            _ => ("DISPLAY QMSTATUS ALL", ""),
        };
        let shown = ask(&admin, display);
        let shown = shown.rows[0].2.shown(keyword).unwrap();
        let counts = metric.nature == posthaste_admin::metrics::MetricType::Counter;
        let series = format!("{}{labels} ", exposed(metric.name, counts));
        let number = value(&text, &series).unwrap_or_else(|| panic!("{series}: {text}"));
        assert_eq!(number.to_string(), shown, "{} {keyword}", metric.name);
        compared += 1;
    }
    assert!(compared > 9, "{compared}");
    assert_eq!(value(&text, "posthaste_queue_depth{queue=\"Q\"} "), Some(3));
    assert_eq!(value(&text, "posthaste_channel_requests_total "), Some(12));
    let turns = value(&text, "posthaste_lane_turns_total{lane=\"1\"} ");
    assert_eq!(turns, Some(99));
}

#[test]
fn a_queue_and_a_connection_count_what_they_do() {
    let w = World::new();
    w.run("DEFINE QLOCAL(Q)");
    let (s, other) = (w.connect(), w.connect());
    let h = open(&s, "Q", IN_OUT);
    let o = open(&other, "Q", MQOO_INPUT_SHARED);
    put(&s, h, 0, 0, b"12345");
    get(&s, h, 0).unwrap();
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"123");
    let queue = |name: &str| {
        let text = Admin::alone(w.qm()).metrics();
        value(&text, &format!("posthaste_queue_{name}{{queue=\"Q\"}} ")).unwrap()
    };
    assert_eq!(queue("arrived_total"), 1, "not before it is committed");
    commit(&s);
    get(&other, o, 0).unwrap();
    // One that goes straight to a getter, and one that is never committed.
    let waiting = wait(&other, o, md(0), gmo(MQGMO_NO_SYNCPOINT));
    put(&s, h, 0, 0, b"1234");
    waiting.finish().unwrap();
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"1");
    backout(&s);
    for (name, expected) in [
        ("arrived_total", 3),
        ("arrived_persistent_total", 1),
        ("arrived_bytes_total", 12),
        ("avoided_total", 1),
        ("handed_over_total", 0),
        ("removed_total", 2),
        ("expired_total", 0),
        ("depth", 0),
        ("open_input", 2),
        ("damaged", 0),
    ] {
        assert_eq!(queue(name), expected, "{name}");
    }
    let text = Admin::alone(w.qm()).metrics();
    let of = |session: &posthaste_engine::Session, name: &str| {
        let number = session.status().number;
        let labels = format!("{{connection=\"{number:016X}\",application=\"test\",channel=\"\"}} ");
        value(&text, &format!("posthaste_connection_{name}{labels}")).unwrap()
    };
    let counted = ["puts", "gets", "got_bytes", "commits", "backouts"];
    let all = |session| counted.map(|name| of(session, &format!("{name}_total")));
    assert_eq!(all(&s), [4, 1, 5, 1, 1]);
    assert_eq!(all(&other), [0, 2, 7, 0, 0]);
    assert_eq!((of(&s, "handles"), of(&s, "in_call")), (1, 0));
}
