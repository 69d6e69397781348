//! Answers against golden text.

use super::*;
use crate::kinds::ObjectKind;
use crate::object::Object;
use crate::show::row_of;
use crate::value::{Date, Time};
use posthaste_mqi::constants as mq;

/// An answer of one row; a cell without a keyword ends the line.
fn reply_of(id: &'static str, what: DisplayWhat, cells: &[(&str, &str)]) -> Reply {
    let mut row = Row::of(what);
    for (keyword, value) in cells {
        match *keyword {
            "" => row.end_line(),
            keyword => row.push(keyword, *value),
        }
    }
    let mut reply = Reply::default();
    reply.add_row(id, row);
    reply
}

#[test]
fn two_columns() {
    let reply = reply_of(
        "AMQ8417I",
        DisplayWhat::ChStatus,
        &[
            ("CHANNEL", "DEV.APP.SVRCONN"),
            ("CHLTYPE", "SVRCONN"),
            ("BUFSRCVD", "0"),
            ("MCAUSER", " "),
            ("CURRENT", "CURRENT"),
        ],
    );
    let expected = "\
AMQ8417I: Display Channel Status details.
   CHANNEL(DEV.APP.SVRCONN)                CHLTYPE(SVRCONN)
   BUFSRCVD(0)                             MCAUSER( )
   CURRENT
";
    assert_eq!(render(&reply), expected);
}

/// The connection of the manual's example, as runmqsc lays it out.
#[test]
fn long_cells_stand_alone() {
    let mut reply = reply_of(
        "AMQ8276I",
        DisplayWhat::Conn,
        &[
            ("CONN", "6147BA6800DD0740"),
            ("EXTCONN", "414D5143514D31202020202020202020"),
            ("TYPE", "CONN"),
            ("", ""),
            ("PID", "3079"),
            ("TID", "15"),
            ("CONNAME", "10.10.10.2"),
            ("CONNOPTS", "MQCNO_HANDLE_SHARE_BLOCK,MQCNO_SHARED_BINDING"),
            ("USERID", "mqm"),
            ("UOWLOG", " "),
        ],
    );
    reply.add_message("AMQ8420I", &[]);
    let expected = "\
AMQ8276I: Display Connection details.
   CONN(6147BA6800DD0740)
   EXTCONN(414D5143514D31202020202020202020)
   TYPE(CONN)
   PID(3079)                               TID(15)
   CONNAME(10.10.10.2)
   CONNOPTS(MQCNO_HANDLE_SHARE_BLOCK,MQCNO_SHARED_BINDING)
   USERID(mqm)                             UOWLOG( )
AMQ8420I: Channel Status not found.
";
    assert_eq!(render(&reply), expected);
}

#[test]
fn the_second_column_begins_at_the_same_place_whatever_the_first_is() {
    for length in 1..=48 {
        let name = "X".repeat(length);
        let cells = [("USERID", name.as_str()), ("PID", "1")];
        let reply = reply_of("AMQ8276I", DisplayWhat::Conn, &cells);
        let text = render(&reply);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        match length + 8 < CELL {
            true => assert_eq!(lines[0].find("PID(1)"), Some(43), "{length}"),
            false => assert_eq!(lines[1], "   PID(1)", "{length}"),
        }
        assert!(lines.iter().all(|line| *line == line.trim_end()));
    }
}

#[test]
fn widths_are_in_characters() {
    let cells = [("USERID", "é\u{1F980}"), ("PID", "1")];
    let reply = reply_of("AMQ8276I", DisplayWhat::Conn, &cells);
    let text = render(&reply);
    let line = text.lines().nth(1).expect("a row");
    let column = line.chars().position(|c| c == 'P');
    assert_eq!(column, Some(43));
}

/// Text from applications cannot forge lines or drive the terminal.
#[test]
fn control_characters_are_not_shown() {
    let cells = [("APPLTAG", "x)\nAMQ8003I: \u{1b}[2J")];
    let reply = reply_of("AMQ8276I", DisplayWhat::Conn, &cells);
    let text = render(&reply);
    assert_eq!(text.lines().count(), 2);
    assert_eq!(text.lines().nth(1), Some("   APPLTAG(x).AMQ8003I: .[2J)"));
}

#[test]
fn several_objects_then_messages() {
    let mut reply = Reply::default();
    for name in ["A", "B"] {
        let object = Object::new(ObjectKind::QLocal, name);
        reply.add_row("AMQ8409I", row_of(&object, &["MAXDEPTH".to_owned()], false));
    }
    let expected = "\
AMQ8409I: Display Queue details.
   QUEUE(A)                                TYPE(QLOCAL)
   MAXDEPTH(5000)
AMQ8409I: Display Queue details.
   QUEUE(B)                                TYPE(QLOCAL)
   MAXDEPTH(5000)
";
    assert_eq!(render(&reply), expected);
    let name = ["C".to_owned()];
    let failed = Reply::failed("AMQ8147E", &name, Reason::UNKNOWN_OBJECT_NAME);
    assert_eq!(render(&failed), "AMQ8147E: Object C not found.\n");
    assert!(!failed.ok);
    assert_eq!(failed.reason.0, 2085);
}

/// Every attribute of a default local queue, in the order and layout of runmqsc.
#[test]
fn a_whole_local_queue() {
    let mut object = Object::new(ObjectKind::QLocal, "Q1");
    for (selector, value) in [
        (mq::MQCA_CREATION_DATE, Date::parse("2026-05-12").into()),
        (mq::MQCA_CREATION_TIME, Time::parse("20.43.19").into()),
        (mq::MQCA_ALTERATION_DATE, Date::parse("2026-05-13").into()),
        (mq::MQCA_ALTERATION_TIME, Time::parse("20.43.20").into()),
    ] {
        object.attrs.set(selector, value);
    }
    object.attrs.set_int(mq::MQIA_CURRENT_Q_DEPTH, 3);
    let mut reply = Reply::default();
    reply.add_row("AMQ8409I", row_of(&object, &[], true));
    assert_eq!(render(&reply), include_str!("a_whole_local_queue.txt"));
}

#[test]
fn rows_are_looked_up_and_filled() {
    let mut row = Row::of(DisplayWhat::ChStatus);
    row.push("MCAUSER", "x  ");
    row.push("CONNAME", "   ");
    row.push("MSGS", 5_u64);
    row.push("STATUS", "RUNNING");
    row.push("COMPMSG", "NONE,RLE");
    row.push("COMPRATE", "0,0");
    row.push("LSTMSGDA", "2026-11-22");
    row.push("CURRENT", "CURRENT");
    let values: Vec<&Value> = row.cells().iter().map(Cell::value).collect();
    let date = Date::parse("2026-11-22").into();
    let expected = [
        "x".into(),
        Value::Blank,
        Value::Int(5),
        Value::from(mq::MQCHS_RUNNING),
        Value::Ints(vec![0, 1]),
        Value::Ints(vec![0, 0]),
        date,
        Value::from(mq::MQOT_CURRENT_CHANNEL),
    ];
    assert!(values.into_iter().eq(&expected));
    for (keyword, shown) in [
        ("MCAUSER", Some("x")),
        ("CONNAME", Some(" ")),
        ("MSGS", Some("5")),
        ("STATUS", Some("RUNNING")),
        ("COMPMSG", Some("NONE,RLE")),
        ("LSTMSGDA", Some("2026-11-22")),
        ("CURRENT", Some("")),
        ("SAVED", None),
    ] {
        assert_eq!(row.shown(keyword).as_deref(), shown, "{keyword}");
    }
    row.keep(|at, keyword| at == 0 || keyword == "MSGS");
    assert_eq!(row.len(), 2);
}

#[test]
fn a_syntax_error_as_an_answer() {
    let error = crate::parse("define qlocal(x) maxdepht(1)").expect_err("a fault");
    let reply = Reply::from(&error);
    let expected = "\
AMQ8405I: Syntax error detected at or near end of command segment below:-
define qlocal(x) maxdepht
MAXDEPHT is not a keyword of DEFINE QLOCAL; did you mean MAXDEPTH?
";
    assert_eq!(render(&reply), expected);
    assert!(!reply.ok);
    assert_eq!(reply.reason, Reason::CCF_PARM_SYNTAX_ERROR);
}

#[test]
fn echo_and_tally() {
    assert_eq!(echo(1, "dis conn(*)"), "     1 : dis conn(*)\n");
    assert_eq!(echo(1_234_567, "x"), "1234567 : x\n");
    for (read, syntax_errors, not_here, failed, expected, code) in [
        (
            0,
            0,
            0,
            0,
            "No MQSC commands read.\nNo commands have a syntax error.\n\
             All valid MQSC commands were processed.\n",
            0,
        ),
        (
            1,
            1,
            0,
            0,
            "One MQSC command read.\nOne command has a syntax error.\n\
             All valid MQSC commands were processed.\n",
            10,
        ),
        (
            5,
            2,
            0,
            1,
            "5 MQSC commands read.\n2 commands have a syntax error.\n\
             One valid MQSC command could not be processed.\n",
            10,
        ),
        (
            5,
            0,
            0,
            3,
            "5 MQSC commands read.\nNo commands have a syntax error.\n\
             3 valid MQSC commands could not be processed.\n",
            10,
        ),
        (
            2,
            0,
            1,
            0,
            "2 MQSC commands read.\nNo commands have a syntax error.\n\
             One command is not in this release.\nAll valid MQSC commands were processed.\n",
            10,
        ),
    ] {
        let tally = Tally {
            read,
            syntax_errors,
            not_here,
            failed,
        };
        assert_eq!(tally.to_string(), expected);
        assert_eq!(tally.exit_code(), code);
    }
}
