//! The numbers of the registry, against what DISPLAY shows of the same, and against what was done.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::sync::Arc;

use posthaste_admin::metrics::registry;
use posthaste_admin::{
    Admin, Answer, ChannelState, ChannelStatus, ComponentError, ComponentState, Components,
    ListenerStatus, ServiceStatus,
};
use posthaste_admin::{ComponentCounts, LaneStatus};
use posthaste_command::{Object, Reply, StopChannel, parse};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use world::*;

/// One client, and nothing that can be started or stopped.
struct OneClient;

impl Components for OneClient {
    fn command_server(&self) -> ComponentState {
        ComponentState::Stopped
    }
    fn channel_initiator(&self) -> ComponentState {
        ComponentState::Running
    }
    fn owner(&self) -> String {
        "owner".to_owned()
    }
    fn is_administrator(&self, user: &str) -> bool {
        user == "mqm"
    }
    fn counts(&self) -> ComponentCounts {
        ComponentCounts {
            requests: 12,
            ..ComponentCounts::default()
        }
    }
    fn lanes(&self) -> Vec<LaneStatus> {
        vec![LaneStatus {
            number: 1,
            turns: 99,
            ..LaneStatus::default()
        }]
    }
    fn channels(&self) -> Vec<ChannelStatus> {
        vec![ChannelStatus {
            id: 5,
            channel: "C".to_owned(),
            conname: "127.0.0.1".to_owned(),
            state: ChannelState::Running,
            started: 1_700_000_000_000_000,
            bytes_received: 11,
            bytes_sent: 22,
            buffers_received: 33,
            buffers_sent: 44,
            calls: 55,
            last_call: None,
            conversations: 6,
            max_conversations: 7,
            heartbeat_s: 300,
            max_message: 100,
            product: String::new(),
            application: "far".to_owned(),
            tls: None,
            user: "u".to_owned(),
        }]
    }
    fn stopped_channels(&self) -> Vec<String> {
        Vec::new()
    }
    fn start_channel(&self, _: &str) -> Result<(), ComponentError> {
        Err(ComponentError::UnknownChannel)
    }
    fn is_channel_in_use(&self, _: &str) -> bool {
        false
    }
    fn channel_deleted(&self, _: &str) {}
    fn stop_channel(&self, _: &str, _: &StopChannel) -> Result<(), ComponentError> {
        Err(ComponentError::UnknownChannel)
    }
    fn listeners(&self) -> Vec<ListenerStatus> {
        Vec::new()
    }
    fn start_listener<'a>(&'a self, _: &'a Object) -> Answer<'a> {
        Box::pin(std::future::ready(Err(ComponentError::ListenerActive)))
    }
    fn stop_listener<'a>(&'a self, _: &'a str) -> Answer<'a> {
        Box::pin(std::future::ready(Err(ComponentError::ListenerInactive)))
    }
    fn newly_exposed(&self) -> Vec<[String; 5]> {
        Vec::new()
    }
    fn refresh_tls(&self) -> Result<(), String> {
        Ok(())
    }
    fn refresh_connauth(&self) -> Result<(), String> {
        Ok(())
    }
    fn services(&self) -> Vec<ServiceStatus> {
        Vec::new()
    }
    fn start_service(&self, _: &Object) -> Result<(), ComponentError> {
        Err(ComponentError::NoStartCommand)
    }
    fn stop_service(&self, _: &Object) -> Result<(), ComponentError> {
        Err(ComponentError::ServiceInactive)
    }
}

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
