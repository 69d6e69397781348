use super::*;
use crate::attrs::Attrs;
use crate::command::{DisplayType, Op, Where};
use crate::object::Value;
use posthaste_mqi::constants as mq;

fn ok(line: &str) -> Command {
    match parse(line) {
        Ok(Some(command)) => command,
        other => panic!("{line}: {other:?}"),
    }
}

fn attrs(values: &[(i32, Value)]) -> Attrs {
    values.iter().cloned().collect()
}

fn int(selector: i32, value: i32) -> (i32, Value) {
    (selector, Value::Int(value))
}

fn text(selector: i32, value: &str) -> (i32, Value) {
    (selector, Value::Text(value.to_owned()))
}

fn define(kind: ObjectKind, name: &str, values: &[(i32, Value)]) -> Command {
    Command::Define {
        kind,
        name: name.to_owned(),
        replace: false,
        like: None,
        attrs: attrs(values),
    }
}

#[test]
fn nothing_to_do() {
    for line in ["", "   ", "\t", "* comment", "  * comment", ";", " ; "] {
        assert_eq!(parse(line), Ok(None), "{line:?}");
    }
}

#[test]
fn define_queues() {
    use ObjectKind::{QAlias, QLocal, QModel, QRemote};
    for (line, expected) in [
        ("DEFINE QLOCAL(Q1)", define(QLocal, "Q1", &[])),
        ("def ql(q1)", define(QLocal, "Q1", &[])),
        ("DEFINE QLOCAL('q1')", define(QLocal, "q1", &[])),
        ("DEFINE QLOCAL ( Q1 )  ;", define(QLocal, "Q1", &[])),
        ("DEFINE,QLOCAL(,Q1,)", define(QLocal, "Q1", &[])),
        (
            "DEF QL(A) MAXDEPTH(10) GET(DISABLED), PUT(disabled) descr('It''s (mine), ok')",
            define(
                QLocal,
                "A",
                &[
                    int(mq::MQIA_MAX_Q_DEPTH, 10),
                    int(mq::MQIA_INHIBIT_GET, mq::MQQA_GET_INHIBITED),
                    int(mq::MQIA_INHIBIT_PUT, mq::MQQA_PUT_INHIBITED),
                    text(mq::MQCA_Q_DESC, "It's (mine), ok"),
                ],
            ),
        ),
        (
            "DEF QL(A) NOSHARE NOHARDENBO TRIGGER TRIGTYPE(EVERY) INITQ(I) PROCESS('p')",
            define(
                QLocal,
                "A",
                &[
                    int(mq::MQIA_SHAREABILITY, 0),
                    int(mq::MQIA_HARDEN_GET_BACKOUT, 0),
                    int(mq::MQIA_TRIGGER_CONTROL, 1),
                    int(mq::MQIA_TRIGGER_TYPE, mq::MQTT_EVERY),
                    text(mq::MQCA_INITIATION_Q_NAME, "I"),
                    text(mq::MQCA_PROCESS_NAME, "p"),
                ],
            ),
        ),
        (
            "DEF QL(A) DESCR(abc) BOQNAME() TRIGDATA('') CUSTOM(a-b=c)",
            define(
                QLocal,
                "A",
                &[
                    text(mq::MQCA_Q_DESC, "ABC"),
                    text(mq::MQCA_BACKOUT_REQ_Q_NAME, ""),
                    text(mq::MQCA_TRIGGER_DATA, ""),
                    text(mq::MQCA_CUSTOM, "A-B=C"),
                ],
            ),
        ),
        (
            "DEF QM(M) DEFTYPE(PERMDYN) SHARE DEFSOPT(SHARED)",
            define(
                QModel,
                "M",
                &[
                    int(mq::MQIA_DEFINITION_TYPE, mq::MQQDT_PERMANENT_DYNAMIC),
                    int(mq::MQIA_SHAREABILITY, 1),
                    int(mq::MQIA_DEF_INPUT_OPEN_OPTION, mq::MQOO_INPUT_SHARED),
                ],
            ),
        ),
        (
            "DEF QA(A) TARGET(T)",
            define(QAlias, "A", &[text(mq::MQCA_BASE_OBJECT_NAME, "T")]),
        ),
        (
            "DEF QA(A) TARGQ(T) TARGTYPE(TOPIC)",
            define(
                QAlias,
                "A",
                &[
                    text(mq::MQCA_BASE_OBJECT_NAME, "T"),
                    int(mq::MQIA_BASE_TYPE, mq::MQOT_TOPIC),
                ],
            ),
        ),
        (
            "DEF QR(R) RNAME(X) RQMNAME(QM2) XMITQ('')",
            define(
                QRemote,
                "R",
                &[
                    text(mq::MQCA_REMOTE_Q_NAME, "X"),
                    text(mq::MQCA_REMOTE_Q_MGR_NAME, "QM2"),
                    text(mq::MQCA_XMIT_Q_NAME, ""),
                ],
            ),
        ),
        // The scripts of the C workload driver.
        (
            "define qlocal(request1) maxdepth(5000)",
            define(QLocal, "REQUEST1", &[int(mq::MQIA_MAX_Q_DEPTH, 5000)]),
        ),
    ] {
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn define_replace_and_like() {
    for (line, replace, like) in [
        ("DEF QL(A) REPLACE", true, None),
        ("DEF QL(A) NOREPLACE", false, None),
        ("DEF QL(A) LIKE(B)", false, Some("B")),
        ("DEF QL(A) like('b') replace", true, Some("b")),
    ] {
        let expected = Command::Define {
            kind: ObjectKind::QLocal,
            name: "A".to_owned(),
            replace,
            like: like.map(str::to_owned),
            attrs: Attrs::default(),
        };
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn channels_and_listeners() {
    let svrconn = int(mq::MQIACH_CHANNEL_TYPE, mq::MQCHT_SVRCONN);
    let channel = |values: &[(i32, Value)]| {
        let all = [&[svrconn.clone()], values].concat();
        define(ObjectKind::SvrConn, "C", &all)
    };
    for (line, expected) in [
        ("DEFINE CHANNEL(C) CHLTYPE(SVRCONN)", channel(&[])),
        (
            "DEF CHL(C) TRPTYPE(TCP) CHLTYPE(SVRCONN) SHARECNV(0) MCAUSER('app') KAINT(AUTO)",
            channel(&[
                int(mq::MQIACH_XMIT_PROTOCOL_TYPE, mq::MQXPT_TCP),
                int(mq::MQIACH_SHARING_CONVERSATIONS, 0),
                text(mq::MQCACH_MCA_USER_ID, "app"),
                int(mq::MQIACH_KEEP_ALIVE_INTERVAL, mq::MQKAI_AUTO),
            ]),
        ),
        (
            "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(ZLIBFAST, rle NONE) COMPHDR(SYSTEM)",
            channel(&[
                text(mq::MQIACH_MSG_COMPRESSION, "ZLIBFAST,RLE,NONE"),
                text(mq::MQIACH_HDR_COMPRESSION, "SYSTEM"),
            ]),
        ),
        (
            "DEF LISTENER(L1) TRPTYPE(TCP) PORT(1420) CONTROL(QMGR)",
            define(
                ObjectKind::Listener,
                "L1",
                &[
                    int(mq::MQIACH_XMIT_PROTOCOL_TYPE, mq::MQXPT_TCP),
                    int(mq::MQIACH_PORT, 1420),
                    int(mq::MQIACH_LISTENER_CONTROL, mq::MQSVC_CONTROL_Q_MGR),
                ],
            ),
        ),
        (
            "def lstr(l1) ipaddr('::1')",
            define(
                ObjectKind::Listener,
                "L1",
                &[text(mq::MQCACH_IP_ADDRESS, "::1")],
            ),
        ),
        (
            // CHLTYPE only says which channel is meant.
            "alter channel(system.def.svrconn) chltype(svrconn) sharecnv(1)",
            Command::Alter {
                kind: ObjectKind::SvrConn,
                name: "SYSTEM.DEF.SVRCONN".to_owned(),
                attrs: attrs(&[int(mq::MQIACH_SHARING_CONVERSATIONS, 1)]),
                force: false,
            },
        ),
    ] {
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn alter_and_delete() {
    let alter = |kind, name: &str, values: &[(i32, Value)], force| Command::Alter {
        kind,
        name: name.to_owned(),
        attrs: attrs(values),
        force,
    };
    let delete = |kind, name: &str, purge| Command::Delete {
        kind,
        name: name.to_owned(),
        purge,
    };
    use ObjectKind::{Listener, QLocal, QModel, Qmgr, SvrConn};
    for (line, expected) in [
        (
            "alter qmgr maxmsgl(104857600)",
            alter(
                Qmgr,
                "",
                &[int(mq::MQIA_MAX_MSG_LENGTH, 104_857_600)],
                false,
            ),
        ),
        (
            "ALT QMGR DEADQ('') MARKINT(NOLIMIT) IMGLOGLN(OFF) SUITEB(128_BIT,192_BIT) FORCE",
            alter(
                Qmgr,
                "",
                &[
                    text(mq::MQCA_DEAD_LETTER_Q_NAME, ""),
                    int(mq::MQIA_MSG_MARK_BROWSE_INTERVAL, -1),
                    int(mq::MQIA_MEDIA_IMAGE_LOG_LENGTH, 0),
                    text(mq::MQIA_SUITE_B_STRENGTH, "128_BIT,192_BIT"),
                ],
                true,
            ),
        ),
        (
            "ALT QL(A) USAGE(XMITQ) FORCE",
            alter(QLocal, "A", &[int(mq::MQIA_USAGE, 1)], true),
        ),
        ("ALT QL(A)", alter(QLocal, "A", &[], false)),
        ("DELETE QLOCAL(A)", delete(QLocal, "A", false)),
        ("DEL QL(A) PURGE", delete(QLocal, "A", true)),
        ("DEL QL(A) NOPURGE", delete(QLocal, "A", false)),
        ("DEL QM(A)", delete(QModel, "A", false)),
        ("DEL CHL(A)", delete(SvrConn, "A", false)),
        ("DEL CHL(A) CHLTYPE(SVRCONN)", delete(SvrConn, "A", false)),
        ("DEL LSTR('l')", delete(Listener, "l", false)),
    ] {
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn other_verbs() {
    let start = |kind, name: &str| Command::Start {
        kind,
        name: name.to_owned(),
    };
    let stop = |kind, name: &str, force| Command::Stop {
        kind,
        name: name.to_owned(),
        force,
    };
    use ObjectKind::{Listener, SvrConn};
    for (line, expected) in [
        ("PING QMGR", Command::Ping),
        (
            "CLEAR QLOCAL(A)",
            Command::Clear {
                name: "A".to_owned(),
            },
        ),
        (
            "clear ql('a')",
            Command::Clear {
                name: "a".to_owned(),
            },
        ),
        ("START LISTENER(L1)", start(Listener, "L1")),
        ("STA CHL(C)", start(SvrConn, "C")),
        ("STOP CHANNEL(C)", stop(SvrConn, "C", false)),
        ("STOP CHANNEL(C) MODE(QUIESCE)", stop(SvrConn, "C", false)),
        ("STOP CHANNEL(C) mode(force)", stop(SvrConn, "C", true)),
        ("STOP CHANNEL(C) MODE(TERMINATE)", stop(SvrConn, "C", true)),
        ("STOP LSTR(L1)", stop(Listener, "L1", false)),
    ] {
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn display_commands() {
    struct Expected {
        what: DisplayWhat,
        name: &'static str,
        show: &'static [&'static str],
        all: bool,
        type_: Option<DisplayType>,
    }
    let plain = |what, name, show| Expected {
        what,
        name,
        show,
        all: false,
        type_: None,
    };
    use DisplayWhat as W;
    for (line, expected) in [
        ("DISPLAY QUEUE(*)", plain(W::Queue, "*", &[])),
        (
            "dis q(dev.*) curdepth",
            plain(W::Queue, "DEV.*", &["CURDEPTH"]),
        ),
        (
            "DISP QL('dev.q')",
            plain(W::Object(ObjectKind::QLocal), "dev.q", &[]),
        ),
        (
            "DIS QA(A) TARGQ, DESCR",
            plain(W::Object(ObjectKind::QAlias), "A", &["TARGET", "DESCR"]),
        ),
        ("DIS Q(*) NOSHARE", plain(W::Queue, "*", &["SHARE"])),
        ("DIS QMGR", plain(W::Qmgr, "", &[])),
        (
            "DIS QMGR QMNAME DEADQ",
            plain(W::Qmgr, "", &["QMNAME", "DEADQ"]),
        ),
        ("DIS QMSTATUS LOGTYPE", plain(W::QMStatus, "", &["LOGTYPE"])),
        ("DIS CHANNEL(*)", plain(W::Channel, "*", &[])),
        ("DIS LISTENER(L*) PORT", plain(W::Listener, "L*", &["PORT"])),
        ("DIS LSSTATUS(*)", plain(W::LsStatus, "*", &[])),
        (
            "DIS CHS(*) CURSHCNV",
            plain(W::ChStatus, "*", &["CURSHCNV"]),
        ),
        ("DIS QS(Q1) UNCOM", plain(W::QStatus, "Q1", &["UNCOM"])),
        (
            "DIS QSTATUS(Q1) TYPE(HANDLE) ALL",
            Expected {
                all: true,
                type_: Some(DisplayType::Handle),
                ..plain(W::QStatus, "Q1", &[])
            },
        ),
        (
            "dis conn(*) all",
            Expected {
                all: true,
                ..plain(W::Conn, "*", &[])
            },
        ),
        (
            "DIS CONN(1aebf5522b4c0020) TYPE(HANDLE)",
            Expected {
                type_: Some(DisplayType::Handle),
                ..plain(W::Conn, "1AEBF5522B4C0020", &[])
            },
        ),
        (
            "DIS Q(*) TYPE(QREMOTE)",
            Expected {
                type_: Some(DisplayType::Kind(ObjectKind::QRemote)),
                ..plain(W::Queue, "*", &[])
            },
        ),
        (
            "DIS CHL(*) CHLTYPE(SVRCONN)",
            Expected {
                type_: Some(DisplayType::Kind(ObjectKind::SvrConn)),
                ..plain(W::Channel, "*", &[])
            },
        ),
    ] {
        let expected = Command::Display {
            what: expected.what,
            name: expected.name.to_owned(),
            show: expected.show.iter().map(|word| word.to_string()).collect(),
            all: expected.all,
            filter: None,
            type_: expected.type_,
        };
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn filters() {
    for (line, keyword, op, value) in [
        ("DIS Q(*) WHERE(CURDEPTH GT 0)", "CURDEPTH", Op::Gt, "0"),
        (
            "DIS Q(*) where ( curdepth , le , 5 )",
            "CURDEPTH",
            Op::Le,
            "5",
        ),
        ("DIS Q(*) WHERE(GET EQ disabled)", "GET", Op::Eq, "DISABLED"),
        ("DIS Q(*) WHERE(DESCR NE 'it''s')", "DESCR", Op::Ne, "it's"),
        ("DIS Q(*) WHERE(DESCR EQ ' ')", "DESCR", Op::Eq, ""),
        ("DIS Q(*) WHERE(TARGQ LK DEV.*)", "TARGET", Op::Lk, "DEV.*"),
        (
            "DIS CONN(*) WHERE(APPLTAG LK 'sb*') ALL",
            "APPLTAG",
            Op::Lk,
            "sb*",
        ),
        ("DIS CONN(*) WHERE(UOWLOGDA NE ' ')", "UOWLOGDA", Op::Ne, ""),
        ("DIS CHL(*) WHERE(KAINT EQ AUTO)", "KAINT", Op::Eq, "AUTO"),
        (
            "DIS LSSTATUS(*) WHERE(PORT LT 2000)",
            "PORT",
            Op::Lt,
            "2000",
        ),
        (
            "DIS CHS(*) WHERE(CONNAME NL '10.*')",
            "CONNAME",
            Op::Nl,
            "10.*",
        ),
        ("DIS Q(*) WHERE(QTYPE EQ QLOCAL)", "TYPE", Op::Eq, "QLOCAL"),
    ] {
        let Command::Display { filter, .. } = ok(line) else {
            panic!("{line}");
        };
        let expected = Where {
            keyword: keyword.to_owned(),
            op,
            value: value.to_owned(),
        };
        assert_eq!(filter, Some(expected), "{line}");
    }
}

/// Line, message, column, what runmqsc repeats (AMQ8405I only), and what the detail must say.
const FAULTS: &[(&str, &str, usize, &str, &str)] = &[
    (
        "FROB QLOCAL(A)",
        "AMQ8405I",
        0,
        "FROB",
        "FROB is not a command",
    ),
    (
        "DEFIEN QLOCAL(A)",
        "AMQ8405I",
        0,
        "DEFIEN",
        "did you mean DEFINE?",
    ),
    ("(A)", "AMQ8405I", 0, "(", "keyword must come before"),
    ("DEFINE", "AMQ8406E", 6, "", "needs the kind of object"),
    ("DEFINE QLOCAL", "AMQ8406E", 13, "", "QLOCAL needs a value"),
    (
        "DEFINE QLOCAL REPLACE",
        "AMQ8405I",
        7,
        "DEFINE QLOCAL",
        "QLOCAL needs a value",
    ),
    ("DEFINE QLOCAL(", "AMQ8406E", 14, "", "closing parenthesis"),
    ("DEFINE QLOCAL(A", "AMQ8406E", 15, "", "closing parenthesis"),
    ("DEFINE QLOCAL('A)", "AMQ8406E", 17, "", "closing quote"),
    (
        "DEFINE QLOCAL()",
        "AMQ8405I",
        7,
        "DEFINE QLOCAL()",
        "needs a value",
    ),
    ("DEFINE QLOCAL('')", "AMQ8424E", 14, "", "needs a name"),
    (
        "DEFINE QLOCAL(A B)",
        "AMQ8405I",
        16,
        "DEFINE QLOCAL(A B",
        "takes one value",
    ),
    (
        "DEFINE QLOCAL(A))",
        "AMQ8405I",
        16,
        "DEFINE QLOCAL(A))",
        ") is out of place",
    ),
    (
        "DEFINE QLOCAL(A-B)",
        "AMQ8424E",
        14,
        "",
        "has the character -",
    ),
    (
        "DEFINE QLOCAL('é')",
        "AMQ8424E",
        14,
        "",
        "has the character é",
    ),
    (
        "DEFINE QLOCAL(A*)",
        "AMQ8424E",
        14,
        "",
        "has the character *",
    ),
    (
        "DEFINE QLOCAL(A23456789012345678901234567890123456789012345678B)",
        "AMQ8424E",
        14,
        "",
        "has 49 characters, but at most 48 fit",
    ),
    (
        "DEFINE CHANNEL(A23456789012345678901) CHLTYPE(SVRCONN)",
        "AMQ8424E",
        15,
        "",
        "has 21 characters, but at most 20 fit",
    ),
    (
        "DEFINE QLOCAL(A) BOQNAME(B?)",
        "AMQ8424E",
        25,
        "",
        "BOQNAME has the character ?",
    ),
    (
        "DEFINE QLOCAL(A) LIKE('')",
        "AMQ8424E",
        22,
        "",
        "LIKE needs a name",
    ),
    (
        "DEFINE QLOCL(A)",
        "AMQ8405I",
        7,
        "DEFINE QLOCL",
        "did you mean DEFINE QLOCAL?",
    ),
    (
        "DEFINE BOGUS('X')",
        "AMQ8405I",
        7,
        "DEFINE BOGUS",
        "BOGUS is not a kind of object",
    ),
    (
        "DEFINE QMGR",
        "AMQ8405I",
        7,
        "DEFINE QMGR",
        "DEFINE is not for QMGR",
    ),
    (
        "DEFINE QUEUE(A)",
        "AMQ8405I",
        7,
        "DEFINE QUEUE",
        "DEFINE is not for QUEUE",
    ),
    (
        "ALTER QMGR(QM1) DESCR(A)",
        "AMQ8405I",
        6,
        "ALTER QMGR(QM1)",
        "no value in parentheses",
    ),
    (
        "CLEAR QMODEL(A)",
        "AMQ8405I",
        6,
        "CLEAR QMODEL",
        "CLEAR is not for QMODEL",
    ),
    (
        "CLEAR QLOCAL(A) PURGE",
        "AMQ8405I",
        16,
        "CLEAR QLOCAL(A) PURGE",
        "not a keyword",
    ),
    (
        "define qlocal(a) maxdepht(5) get(x)",
        "AMQ8405I",
        17,
        "define qlocal(a) maxdepht",
        "did you mean MAXDEPTH?",
    ),
    (
        "DEF QL(A) COLOUR(RED)",
        "AMQ8405I",
        10,
        "DEF QL(A) COLOUR",
        "COLOUR is not a keyword of DEFINE QLOCAL.",
    ),
    (
        "DEF QA(A) MAXDEPTH(5)",
        "AMQ8405I",
        10,
        "DEF QA(A) MAXDEPTH",
        "attribute of local queues, not of alias queues",
    ),
    (
        "DEF QL(A) CURDEPTH(5)",
        "AMQ8405I",
        10,
        "DEF QL(A) CURDEPTH",
        "can be shown but not set",
    ),
    (
        "DEF QL(A) MAXDEPTH",
        "AMQ8405I",
        10,
        "DEF QL(A) MAXDEPTH",
        "needs a value",
    ),
    (
        "DEF QL(A) MAXDEPTH()",
        "AMQ8405I",
        10,
        "DEF QL(A) MAXDEPTH()",
        "needs a value",
    ),
    (
        "DEF QL(A) MAXDEPTH(-1)",
        "AMQ8405I",
        19,
        "DEF QL(A) MAXDEPTH(-1",
        "from 0 to 999999999",
    ),
    (
        "DEF QL(A) MAXDEPTH(1000000000) GET(ENABLED)",
        "AMQ8405I",
        19,
        "DEF QL(A) MAXDEPTH(1000000000",
        "from 0 to 999999999",
    ),
    (
        "DEF QL(A) MAXDEPTH(99999999999999999999)",
        "AMQ8405I",
        19,
        "DEF QL(A) MAXDEPTH(99999999999999999999",
        "from 0 to",
    ),
    (
        "DEF QL(A) MAXDEPTH(5K)",
        "AMQ8405I",
        19,
        "DEF QL(A) MAXDEPTH(5K",
        "from 0 to",
    ),
    (
        "DEF QL(A) MAXDEPTH(1 2)",
        "AMQ8405I",
        21,
        "DEF QL(A) MAXDEPTH(1 2",
        "takes one value",
    ),
    (
        "DEF QL(A) GET(MAYBE)",
        "AMQ8405I",
        14,
        "DEF QL(A) GET(MAYBE",
        "one of ENABLED, DISABLED",
    ),
    (
        "DEF QL(A) GET(0)",
        "AMQ8405I",
        14,
        "DEF QL(A) GET(0",
        "one of ENABLED, DISABLED",
    ),
    (
        "DEF QL(A) SHARE(YES)",
        "AMQ8405I",
        10,
        "DEF QL(A) SHARE(YES)",
        "no value in parentheses",
    ),
    (
        "DEF QL(A) SHARE NOSHARE",
        "AMQ8405I",
        16,
        "DEF QL(A) SHARE NOSHARE",
        "NOSHARE comes after SHARE or its opposite",
    ),
    (
        "DEF QL(A) REPLACE NOREPLACE",
        "AMQ8405I",
        18,
        "DEF QL(A) REPLACE NOREPLACE",
        "opposite",
    ),
    (
        "DEF QL(A) MAXDEPTH(1) MAXDEPTH(1)",
        "AMQ8405I",
        22,
        "DEF QL(A) MAXDEPTH(1) MAXDEPTH",
        "MAXDEPTH is given twice",
    ),
    (
        "DEF QA(A) TARGET(B) TARGQ(B)",
        "AMQ8405I",
        20,
        "DEF QA(A) TARGET(B) TARGQ",
        "TARGQ comes after TARGET",
    ),
    (
        "DEF QL(A) REPLACE(YES)",
        "AMQ8405I",
        10,
        "DEF QL(A) REPLACE(YES)",
        "no value in parentheses",
    ),
    (
        "DEF QL(A) DESCR(two words)",
        "AMQ8405I",
        20,
        "DEF QL(A) DESCR(two words",
        "text with blanks needs quotes",
    ),
    (
        "DEF QL(A) DESCR(it's)",
        "AMQ8405I",
        16,
        "DEF QL(A) DESCR(it'",
        "doubled",
    ),
    (
        "DEF QL(A) DESCR('it's')",
        "AMQ8405I",
        16,
        "DEF QL(A) DESCR('it's",
        "must come after a quoted value",
    ),
    (
        "DEF QL(A) DESCR('a\nb')",
        "AMQ8405I",
        16,
        "DEF QL(A) DESCR('a\nb'",
        "control character",
    ),
    (
        "DEF QL(A) FORCE",
        "AMQ8405I",
        10,
        "DEF QL(A) FORCE",
        "not a keyword of DEFINE QLOCAL",
    ),
    (
        "ALT QL(A) REPLACE",
        "AMQ8405I",
        10,
        "ALT QL(A) REPLACE",
        "not a keyword of ALTER QLOCAL",
    ),
    (
        "ALT QM(M) CURDEPTH",
        "AMQ8405I",
        10,
        "ALT QM(M) CURDEPTH",
        "not of model queues",
    ),
    (
        "ALT QMGR MAXPRTY(5)",
        "AMQ8405I",
        9,
        "ALT QMGR MAXPRTY",
        "can be shown but not set",
    ),
    (
        "DEF CHL(C) TRPTYPE(TCP)",
        "AMQ8405I",
        23,
        "DEF CHL(C) TRPTYPE(TCP)",
        "needs CHLTYPE",
    ),
    (
        "DEF CHL(C) CHLTYPE(BOGUS)",
        "AMQ8405I",
        19,
        "DEF CHL(C) CHLTYPE(BOGUS",
        "one of SVRCONN",
    ),
    (
        "DEF CHL(C) CHLTYPE(SVRCONN) KAINT(-1)",
        "AMQ8405I",
        34,
        "DEF CHL(C) CHLTYPE(SVRCONN) KAINT(-1",
        "from 0 to 99999, or AUTO",
    ),
    (
        "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(RLE,RLE)",
        "AMQ8405I",
        40,
        "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(RLE,RLE",
        "RLE is given twice",
    ),
    (
        "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(BZIP)",
        "AMQ8405I",
        36,
        "DEF CHL(C) CHLTYPE(SVRCONN) COMPMSG(BZIP",
        "some of NONE",
    ),
    (
        "DEF LSTR(L) TRPTYPE(LU62)",
        "AMQ8405I",
        20,
        "DEF LSTR(L) TRPTYPE(LU62",
        "one of TCP",
    ),
    (
        "DEL QM(A) PURGE",
        "AMQ8405I",
        10,
        "DEL QM(A) PURGE",
        "not a keyword of DELETE QMODEL",
    ),
    (
        "DEL QL(A) PURGE NOPURGE",
        "AMQ8405I",
        16,
        "DEL QL(A) PURGE NOPURGE",
        "opposite",
    ),
    (
        "STOP LSTR(L) MODE(FORCE)",
        "AMQ8405I",
        13,
        "STOP LSTR(L) MODE",
        "not a keyword of STOP LISTENER",
    ),
    (
        "STOP CHL(C) MODE(NOW)",
        "AMQ8405I",
        17,
        "STOP CHL(C) MODE(NOW",
        "QUIESCE, FORCE, TERMINATE",
    ),
    ("START CHL(*)", "AMQ8424E", 10, "", "has the character *"),
    ("PING QL(A)", "AMQ8405I", 5, "PING QL", "PING is not for QL"),
    ("DIS", "AMQ8406E", 3, "", "DIS QUEUE(*)"),
    ("DIS Q", "AMQ8406E", 5, "", "Q needs a value"),
    ("DIS Q(A*B)", "AMQ8424E", 6, "", "asterisk at its end only"),
    ("DIS Q(**)", "AMQ8424E", 6, "", "asterisk at its end only"),
    (
        "DISPLAY QMGR LOGTYPE",
        "AMQ8405I",
        13,
        "DISPLAY QMGR LOGTYPE",
        "not a keyword of DISPLAY QMGR",
    ),
    (
        "DIS QL(*) CURDEPHT ALL",
        "AMQ8405I",
        10,
        "DIS QL(*) CURDEPHT",
        "did you mean CURDEPTH?",
    ),
    (
        "DIS Q(*) CURDEPTH(5)",
        "AMQ8405I",
        9,
        "DIS Q(*) CURDEPTH(5)",
        "use WHERE",
    ),
    (
        "DIS Q(*) ALL ALL",
        "AMQ8405I",
        13,
        "DIS Q(*) ALL ALL",
        "ALL is given twice",
    ),
    (
        "DIS Q(*) TYPE(QX)",
        "AMQ8405I",
        14,
        "DIS Q(*) TYPE(QX",
        "one of QLOCAL",
    ),
    (
        "DIS QMGR TYPE(QLOCAL)",
        "AMQ8405I",
        9,
        "DIS QMGR TYPE",
        "not a keyword",
    ),
    ("DIS Q(*) WHERE", "AMQ8569E", 9, "", "three parts"),
    (
        "DIS Q(*) WHERE(CURDEPTH GT)",
        "AMQ8569E",
        9,
        "",
        "three parts",
    ),
    (
        "DIS Q(*) WHERE(COLOUR EQ RED)",
        "AMQ8569E",
        15,
        "",
        "does not show COLOUR",
    ),
    (
        "DIS Q(*) WHERE(CURDEPTH CT 1)",
        "AMQ8569E",
        24,
        "",
        "CT is not one of LT",
    ),
    (
        "DIS Q(*) WHERE(CURDEPTH GT X)",
        "AMQ8569E",
        27,
        "",
        "X is not a value of CURDEPTH",
    ),
    (
        "DIS Q(*) WHERE(GET EQ PERHAPS)",
        "AMQ8569E",
        22,
        "",
        "PERHAPS is not a value of GET",
    ),
    (
        "DIS Q(*) WHERE(CURDEPTH LK 1*)",
        "AMQ8569E",
        27,
        "",
        "LK and NL are for text",
    ),
    (
        "DIS Q(*) WHERE(DESCR EQ 'A*')",
        "AMQ8569E",
        24,
        "",
        "generic value needs LK or NL",
    ),
    (
        "DIS Q(*) WHERE(SHARE EQ YES)",
        "AMQ8569E",
        24,
        "",
        "SHARE cannot be used",
    ),
    ("DEFINE TOPIC(T) TOPICSTR('a')", "AMQ2401E", 7, "", ""),
    (
        "DEF CHL(C) CHLTYPE(SDR) CONNAME('h(1414)')",
        "AMQ2401E",
        19,
        "",
        "",
    ),
    ("DIS CHL(*) CHLTYPE(SDR)", "AMQ2401E", 19, "", ""),
    ("REFRESH SECURITY(*) TYPE(CONNAUTH)", "AMQ2401E", 0, "", ""),
    (
        "alter authinfo(SYSTEM.DEFAULT.AUTHINFO.IDPWOS) authtype(idpwos)",
        "AMQ2401E",
        6,
        "",
        "",
    ),
];

#[test]
fn faults() {
    for (line, id, column, segment, detail) in FAULTS {
        let error = match parse(line) {
            Err(error) => error,
            Ok(command) => panic!("{line}: {command:?}"),
        };
        assert_eq!(error.id, *id, "{line}: {error}");
        assert_eq!(error.column, *column, "{line}: {error}");
        assert!(error.detail.contains(detail), "{line}: {error}");
        assert!(
            detail.is_empty() || error.detail.ends_with(['.', '?']),
            "{line}: {error}"
        );
        let message = crate::messages::find(id).expect("a message of the table");
        match *id {
            "AMQ8405I" => assert_eq!(error.text, format!("{}\n{segment}", message.text), "{line}"),
            "AMQ2401E" => assert!(error.text.contains("does not perform"), "{line}"),
            _ => assert_eq!(error.text, message.text, "{line}"),
        }
    }
}

#[test]
fn ends() {
    for (line, expected) in [
        ("end", true),
        (" QUIT ", true),
        ("Exit;", true),
        ("ENDING", false),
        ("END QMGR", false),
        ("", false),
    ] {
        assert_eq!(is_end(line), expected, "{line}");
    }
}

/// A long hostile line costs time in proportion, and no deep recursion.
#[test]
fn hostile_lines() {
    for line in [
        "DEF QL(".repeat(20_000),
        format!("DEF QL(A) DESCR({}", "(".repeat(200_000)),
        format!("DEF QL(A) DESCR('{}", "''".repeat(100_000)),
        "'".repeat(100_000),
        "\u{1F980}".repeat(50_000),
        format!("DEF QL(A) {}(1)", "X".repeat(200_000)),
        format!("DIS Q(*) {}", "ALL ".repeat(50_000)),
    ] {
        let error = parse(&line).expect_err("not a command");
        assert!(error.column <= line.len());
    }
}
