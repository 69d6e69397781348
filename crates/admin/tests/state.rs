//! DISPLAY of what is so at this moment: every keyword of the table of statuses.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use bytes::Bytes;
use posthaste_command::{DisplayType, DisplayWhat, render, status_keywords};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use world::*;

fn shown(w: &World, command: &str, keyword: &str) -> Vec<String> {
    let reply = w.mqsc(command);
    let rows = reply.rows.iter();
    rows.map(|row| row.2.shown(keyword).unwrap()).collect()
}

/// Each keyword that DISPLAY takes is in the row, alone and in WHERE.
#[test]
fn every_keyword_of_state_is_answered() {
    let w = World::new();
    let s = w.connect();
    w.run("DEFINE QLOCAL(Q)\nDEFINE SUB(S) TOPICSTR(A) DEST(Q)");
    let _open = open(&s, "Q", IN_OUT);
    for (what, noun, name, type_, word) in [
        (
            DisplayWhat::QStatus,
            "QSTATUS",
            "(Q)",
            DisplayType::Queue,
            "TYPE(QUEUE)",
        ),
        (
            DisplayWhat::QStatus,
            "QSTATUS",
            "(Q)",
            DisplayType::Handle,
            "TYPE(HANDLE)",
        ),
        (
            DisplayWhat::Conn,
            "CONN",
            "(*)",
            DisplayType::Conn,
            "TYPE(CONN)",
        ),
        (
            DisplayWhat::Conn,
            "CONN",
            "(*)",
            DisplayType::Handle,
            "TYPE(HANDLE)",
        ),
        (DisplayWhat::QMStatus, "QMSTATUS", "", DisplayType::All, ""),
        (
            DisplayWhat::TpStatus,
            "TPSTATUS",
            "(a)",
            DisplayType::Queue,
            "TYPE(TOPIC)",
        ),
        (
            DisplayWhat::TpStatus,
            "TPSTATUS",
            "(a)",
            DisplayType::Handle,
            "TYPE(SUB)",
        ),
        (
            DisplayWhat::TpStatus,
            "TPSTATUS",
            "(a)",
            DisplayType::Pub,
            "TYPE(PUB)",
        ),
        (
            DisplayWhat::SbStatus,
            "SBSTATUS",
            "(S)",
            DisplayType::All,
            "",
        ),
        (
            DisplayWhat::PubSub,
            "PUBSUB",
            "",
            DisplayType::All,
            "TYPE(LOCAL)",
        ),
    ] {
        let publishes = type_ == DisplayType::Pub;
        let _open = publishes.then(|| open_od(&s, &mut topic("A"), MQOO_OUTPUT).unwrap());
        let keywords = status_keywords(what, type_);
        assert!(keywords.len() > 4, "{noun}");
        for keyword in keywords {
            let command = match keyword {
                "TYPE" => format!("DISPLAY {noun}{name} {word}"),
                _ => format!("DISPLAY {noun}{name} {word} {keyword}"),
            };
            let reply = w.mqsc(&command);
            let row = &reply
                .rows
                .first()
                .unwrap_or_else(|| panic!("{command}: {reply:?}"))
                .2;
            let value = row.shown(keyword);
            let value = value.unwrap_or_else(|| panic!("{command}: {row:?}"));
            let (operator, item) = match keyword {
                "CONNOPTS" | "OPENOPTS" => ("CT", value.split(',').next().unwrap()),
                // It has no items that could be asked for.
                "QTIME" => ("EXG", "9*"),
                _ => ("EQ", value.as_str()),
            };
            let filtered =
                format!("DISPLAY {noun}{name} {word} WHERE({keyword} {operator} '{item}')");
            assert_eq!(w.mqsc(&filtered).rows.len(), 1, "{filtered}");
        }
    }
    // A keyword of handles asks for handles, where nothing else is said.
    assert_eq!(shown(&w, "DISPLAY QSTATUS(Q) INPUT", "TYPE"), ["HANDLE"]);
    let found = shown(&w, "DISPLAY CONN(*) WHERE(OBJNAME EQ Q)", "TYPE");
    assert_eq!(found, ["HANDLE"]);
    let log = w.mqsc("DISPLAY QMSTATUS LOG");
    assert!(render(&log).contains("LOGTYPE(CIRCULAR)") && !render(&log).contains("CONNS"));
    // The engine alone has no command server and takes no clients.
    assert_eq!(shown(&w, "DISPLAY QMSTATUS", "CMDSERV"), ["STOPPED"]);
    assert_eq!(shown(&w, "DISPLAY QMSTATUS", "CHINIT"), ["STOPPED"]);
}

/// Each handle to publish by is a publisher of its topic string, with what it has published since it was opened.
#[test]
fn publishers_are_shown_with_what_they_have_published() {
    let w = World::new();
    let (s, other) = (w.connect(), w.connect());
    assert!(!w.mqsc("DISPLAY TPSTATUS('a/b') TYPE(PUB)").ok);
    let twice = open_od(&s, &mut topic("a/b"), MQOO_OUTPUT).unwrap();
    let _never = open_od(&other, &mut topic("a/b"), MQOO_OUTPUT).unwrap();
    let _asks = open_od(&other, &mut topic("a/b"), MQOO_INQUIRE).unwrap();
    assert_eq!(
        shown(&w, "DISPLAY TPSTATUS('a/b') PUBCOUNT", "PUBCOUNT"),
        ["2"]
    );
    assert_eq!(
        shown(&w, "DISPLAY TPSTATUS('a') PUBCOUNT", "PUBCOUNT"),
        ["0"]
    );
    for _ in 0..2 {
        put(&s, twice, NOT_PERSISTENT, 0, b"x");
    }
    // An MQPUT1 has no handle.
    let mut descriptor = md(NOT_PERSISTENT);
    let (mut od, mut options) = (topic("a/b"), pmo(0));
    let put1 = s.put1(&mut od, &mut descriptor, &mut options, Bytes::new());
    block_on(put1).unwrap();
    let of = |keyword: &str| shown(&w, "DISPLAY TPSTATUS('a/#') TYPE(PUB) ALL", keyword);
    assert_eq!(of("NUMPUBS"), ["2", "0"]);
    let dates = of("LPUBDATE");
    assert_eq!((dates[0].len(), dates[1].as_str()), (10, " "));
    let times = of("LPUBTIME");
    assert_eq!((times[0].len(), times[1].as_str()), (8, " "));
    assert_eq!(of("ACTCONN"), shown(&w, "DISPLAY CONN(*)", "CONN"));
    let none = w.mqsc("DISPLAY TPSTATUS('a/b') WHERE(NUMPUBS GT 2)");
    assert!(!none.ok, "{none:?}");
    let handles = shown(&w, "DISPLAY CONN(*) TYPE(HANDLE) TOPICSTR", "TOPICSTR");
    assert_eq!(handles, ["a/b"; 3]);
    close(&s, twice, 0).unwrap();
    assert_eq!(of("NUMPUBS"), ["0"]);
    drop((s, other));
    assert!(!w.mqsc("DISPLAY TPSTATUS('a/b')").ok);
}
