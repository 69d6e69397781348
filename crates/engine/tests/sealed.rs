//! Bodies of messages that are sealed on disk: none of them lies there to be read, all of them come back, and what does not
//! open is never delivered.

#![allow(clippy::unwrap_used)]

mod world;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use posthaste_encryption::{DataKeys, MessageCipher};
use posthaste_engine::{BodyCipher, EndMode, NotOpened, QueueManager, Session, Silent, StartError};
use posthaste_env::{block_on, os};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason, Sd};
use world::*;

/// What must not be found.
const SECRET: &str = "the vault is behind the painting";

fn data_keys() -> DataKeys {
    DataKeys::new(&*os().entropy, "2026-01-01")
}

fn cipher(keys: &DataKeys) -> Option<Arc<dyn BodyCipher>> {
    Some(Arc::new(MessageCipher::new(keys.clone(), &*os().entropy)))
}

/// With buffers that are full after some ten messages.
fn world(cipher: Option<Arc<dyn BodyCipher>>) -> World {
    World::with(|c| {
        c.q_buffer = 20_000;
        c.pq_buffer = 20_000;
        c.cipher = cipher;
    })
}

fn body(n: usize) -> String {
    format!("{n} {SECRET} {}", "filler ".repeat(200))
}

fn fill(s: &Session, queue: &str, count: usize, persistence: i32, options: i32) {
    let h = open(s, queue, MQOO_OUTPUT);
    for n in 0..count {
        put(s, h, persistence, options, body(n).as_bytes());
    }
}

fn bodies(count: usize) -> Vec<String> {
    (0..count).map(body).collect()
}

fn subscriber(w: &World, s: &Session, queue: &str) {
    w.run(&format!("DEFINE QLOCAL({queue})"));
    let own = open(s, queue, IN_OUT);
    let mut sd = Sd {
        options: MQSO_CREATE | MQSO_DURABLE,
        sub_name: queue.to_owned(),
        object_string: "t".to_owned(),
        ..Sd::default()
    };
    block_on(s.subscribe(&mut sd, own)).unwrap();
}

fn publish(s: &Session, text: &str) {
    let mut topic = world::topic("t");
    let h = open_od(s, &mut topic, MQOO_OUTPUT).unwrap();
    let data = Bytes::copy_from_slice(text.as_bytes());
    block_on(s.put(h, &mut md(PERSISTENT), &mut pmo(0), data)).unwrap();
}

/// Messages of every way to disk: in the log; in queue files because they are old or many, persistent and not; published;
/// large; and of a unit of work that has not ended, of the session that is
/// returned.
fn fill_all(w: &mut World) -> Session {
    for queue in ["LOGGED", "OLD", "SPILT", "FLEETING", "UNCOMMITTED", "LARGE"] {
        w.run(&format!("DEFINE QLOCAL({queue}) MAXMSGL(104857600)"));
    }
    let s = w.connect();
    subscriber(w, &s, "SUB1");
    subscriber(w, &s, "SUB2");
    fill(&s, "OLD", 3, PERSISTENT, 0);
    publish(&s, &body(0));
    drop(s);
    w.restart();
    let s = w.connect();
    fill(&s, "LOGGED", 3, PERSISTENT, 0);
    fill(&s, "SPILT", 60, PERSISTENT, 0);
    fill(&s, "FLEETING", 60, NOT_PERSISTENT, 0);
    let h = open(&s, "LARGE", MQOO_OUTPUT);
    put(&s, h, PERSISTENT, 0, body(0).repeat(1000).as_bytes());
    publish(&s, &body(1));
    fill(&s, "UNCOMMITTED", 60, PERSISTENT, MQPMO_SYNCPOINT);
    let uncommitted = w.status("UNCOMMITTED");
    assert!(
        uncommitted.uncommitted && uncommitted.file_blocks > 0,
        "{uncommitted:?}"
    );
    for spilt in ["OLD", "SPILT", "FLEETING", "LARGE"] {
        assert!(
            w.status(spilt).file_blocks > 0,
            "{spilt} has nothing in its file"
        );
    }
    s
}

fn drained(s: &Session, queue: &str) -> Vec<String> {
    drain(s, open(s, queue, MQOO_INPUT_SHARED))
}

fn expect_all(w: &World) {
    let s = w.connect();
    assert_eq!(drained(&s, "LOGGED"), bodies(3));
    assert_eq!(drained(&s, "OLD"), bodies(3));
    assert!(drained(&s, "SPILT") == bodies(60));
    assert_eq!(drained(&s, "FLEETING"), Vec::<String>::new());
    assert_eq!(drained(&s, "UNCOMMITTED"), Vec::<String>::new());
    for queue in ["SUB1", "SUB2"] {
        assert_eq!(drained(&s, queue), bodies(2), "{queue}");
    }
    let h = open(&s, "LARGE", MQOO_INPUT_SHARED);
    let large = take(&s, h, md(0), gmo(0), 2 << 20).unwrap();
    assert!(large.data == body(0).repeat(1000).as_bytes());
}

/// Which files below a folder hold the secret.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let secret = SECRET.as_bytes();
            if bytes.windows(secret.len()).any(|window| window == secret) {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn telling(w: &World) -> Vec<String> {
    [holding(&w.config.data), holding(&w.config.log)].concat()
}

#[test]
fn no_file_holds_what_a_message_says_and_all_of_them_come_back() {
    let mut w = world(cipher(&data_keys()));
    let uncommitted = fill_all(&mut w);
    w.kill();
    drop(uncommitted);
    assert_eq!(telling(&w), Vec::<String>::new());
    w.start();
    expect_all(&w);
    w.end(EndMode::Immediate);
    assert_eq!(telling(&w), Vec::<String>::new());
}

/// What the test above looks for can be found.
#[test]
fn without_a_cipher_they_lie_open() {
    let mut w = world(None);
    let uncommitted = fill_all(&mut w);
    w.kill();
    drop(uncommitted);
    let found = telling(&w);
    for queue in ["OLD", "SPILT", "FLEETING", "UNCOMMITTED", "LARGE"] {
        let has = |name: &String| name.starts_with(&format!("{queue}."));
        assert!(found.iter().any(has), "{queue}: {found:?}");
    }
    assert!(found.iter().any(|name| name.ends_with(".LOG")), "{found:?}");
    w.start();
    expect_all(&w);
}

#[test]
fn every_start_seals_with_another_key_and_opens_all_that_were() {
    let mut keys = data_keys();
    let mut w = world(cipher(&keys));
    w.run("DEFINE QLOCAL(Q)");
    let mut expected = Vec::new();
    for round in 0..6 {
        let s = w.connect();
        let h = open(&s, "Q", MQOO_OUTPUT);
        for n in 0..5 {
            let text = format!("{round} {n} {SECRET}");
            put(&s, h, PERSISTENT, 0, text.as_bytes());
            expected.push(text);
        }
        drop(s);
        if round % 2 == 0 {
            keys.rotate(&*os().entropy, "2026-01-02");
        }
        match round % 3 {
            0 => w.kill(),
            _ => w.end(EndMode::Immediate),
        }
        w.config.cipher = cipher(&keys);
        w.start();
    }
    assert_eq!(drained(&w.connect(), "Q"), expected);
    w.kill();
    assert_eq!(telling(&w), Vec::<String>::new());
}

fn refused(w: &World) -> StartError {
    match QueueManager::start(&w.env, w.config.clone(), Arc::new(Silent)) {
        Err(error) => error,
        Ok(_) => panic!("it started"),
    }
}

#[test]
fn whether_bodies_are_sealed_is_decided_when_it_is_created() {
    let keys = data_keys();
    for sealed in [false, true] {
        let mut w = world(cipher(&keys).filter(|_| sealed));
        w.end(EndMode::Immediate);
        w.config.cipher = cipher(&keys).filter(|_| !sealed);
        let error = refused(&w);
        match sealed {
            true => assert!(matches!(error, StartError::NeedsCipher), "{error}"),
            false => assert!(matches!(error, StartError::NotSealed), "{error}"),
        }
        assert_eq!(error.exit_code(), 79);
        w.config.cipher = cipher(&keys).filter(|_| sealed);
        w.start();
    }
}

/// With a data key missing nothing starts that the log would be needed for, and nothing is changed by trying.
#[test]
fn a_log_that_does_not_open_refuses_the_start() {
    let keys = data_keys();
    let mut w = world(cipher(&keys));
    w.run("DEFINE QLOCAL(Q)");
    fill(&w.connect(), "Q", 3, PERSISTENT, 0);
    w.kill();
    w.config.cipher = cipher(&data_keys());
    let error = refused(&w);
    assert!(
        matches!(error, StartError::NotOpened(_, NotOpened::UnknownKey(_))),
        "{error}"
    );
    w.config.cipher = cipher(&keys);
    w.start();
    assert_eq!(drained(&w.connect(), "Q"), bodies(3));
}

/// A body in a queue file that does not open is damage of that queue, and of no other.
#[test]
fn a_queue_file_that_does_not_open_is_damaged() {
    let keys = data_keys();
    let mut w = world(cipher(&keys));
    w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(OTHER)");
    fill(&w.connect(), "Q", 3, PERSISTENT, 0);
    w.end(EndMode::Immediate);
    w.config.cipher = cipher(&data_keys());
    w.start();
    let s = w.connect();
    let h: Hobj = open(&s, "Q", MQOO_INPUT_SHARED);
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::OBJECT_DAMAGED);
    let why = w.last_inserts("AMQ7472E").concat();
    assert!(why.contains("encrypted with data key"), "{why}");
    fill(&s, "OTHER", 2, PERSISTENT, 0);
    assert_eq!(drained(&s, "OTHER"), bodies(2));
    w.restart();
    // What was damage is none as soon as the key is there again.
    w.end(EndMode::Immediate);
    w.config.cipher = cipher(&keys);
    w.start();
    assert_eq!(drained(&w.connect(), "Q"), bodies(3));
}
