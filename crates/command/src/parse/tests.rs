//! Commands and what they ask for, a table for each verb.

use super::*;
use crate::attrs::Attrs;
use crate::command::{Deletion, DisplayType, Op, StopChannel, Where};
use crate::value::{Date, Value};
use posthaste_mqi::constants as mq;

mod authority;
mod faults;

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
    (selector, Value::from(value))
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

/// What dmpmqcfg writes for attributes that nobody has set asks for nothing.
#[test]
fn attributes_of_scripts_that_ask_for_nothing_are_taken() {
    for line in [
        "DEFINE QLOCAL(Q) CAPEXPRY(NOLIMIT) CLCHNAME(' ') MAXFSIZE(DEFAULT) SCOPE(QMGR) STREAMQ(' ') STRMQOS(BESTEF)",
        "DEFINE QMODEL(Q) CAPEXPRY(NOLIMIT) CLCHNAME(' ') MAXFSIZE(DEFAULT) STREAMQ(' ') STRMQOS(BESTEF)",
        "DEFINE QALIAS(Q) CAPEXPRY(NOLIMIT) SCOPE(QMGR)",
        "DEFINE QREMOTE(Q) CAPEXPRY(NOLIMIT) SCOPE(QMGR)",
        "ALTER QMGR ACTCHL(200) ACTVCONO(DISABLED) ACTVTRC(OFF) CERTVPOL(ANY) CHAD(DISABLED) CHADEV(DISABLED) \
         CHADEXIT(' ') CLWLDATA(' ') CLWLEXIT(' ') CLWLLEN(100) CLWLMRUC(999999999) CLWLUSEQ(LOCAL) DEFCLXQ(SCTQ) \
         INITKEY(' ') IPADDRV(IPV4) KEYRPWD(' ') MONACLS(QMGR) PARENT(' ') PSCLUS(ENABLED) PSNPMSG(DISCARD) \
         PSNPRES(NORMAL) PSRTYCNT(5) PSSYNCPT(IFPER) REPOS(' ') REPOSNL(' ') REVDNS(ENABLED) SSLCRLNL(' ') \
         SSLCRYP(' ') SSLRKEYC(0) STATACLS(QMGR) TREELIFE(1800)",
    ] {
        let (kind, attrs) = match ok(line) {
            Command::Define { kind, attrs, .. } | Command::Alter { kind, attrs, .. } => {
                (kind, attrs)
            }
            other => panic!("{line}: {other:?}"),
        };
        let given = line.matches('(').count() - usize::from(kind != ObjectKind::Qmgr);
        assert_eq!(attrs.len(), given, "{line}");
        for (selector, value) in attrs.iter() {
            let attribute = crate::table::by_selector(kind, selector).unwrap();
            assert!(attribute.takes(value), "{line}: {}", attribute.keyword);
        }
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
        let all = [std::slice::from_ref(&svrconn), values].concat();
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
                (
                    mq::MQIACH_MSG_COMPRESSION,
                    Value::Ints(vec![
                        mq::MQCOMPRESS_ZLIBFAST.into(),
                        mq::MQCOMPRESS_RLE.into(),
                        mq::MQCOMPRESS_NONE.into(),
                    ]),
                ),
                (
                    mq::MQIACH_HDR_COMPRESSION,
                    Value::Ints(vec![mq::MQCOMPRESS_SYSTEM.into()]),
                ),
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
        how: Deletion::purging(purge),
    };
    use ObjectKind::{ClntConn, Listener, QLocal, QModel, Qmgr, SvrConn};
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
                    (mq::MQIA_SUITE_B_STRENGTH, Value::Ints(vec![2, 4])),
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
        ("DEL QM(A) AUTHREC(yes)", delete(QModel, "A", false)),
        (
            "DEL QL(A) AUTHREC(no) PURGE",
            Command::Delete {
                kind: QLocal,
                name: "A".to_owned(),
                how: Deletion {
                    purge: true,
                    keep_authorities: true,
                },
            },
        ),
        ("DEL CHL(A)", delete(SvrConn, "A", false)),
        ("DEL CHL(A) CHLTYPE(SVRCONN)", delete(SvrConn, "A", false)),
        ("DEL CHL(A) CHLTYPE(CLNTCONN)", delete(ClntConn, "A", false)),
        ("DEL CHL(A) CHLTABLE(QMGRTAB)", delete(SvrConn, "A", false)),
        ("DEL CHL(A) CHLTABLE(clnttab)", delete(ClntConn, "A", false)),
        (
            "DEL CHL(A) CHLTYPE(CLNTCONN) CHLTABLE(CLNTTAB)",
            delete(ClntConn, "A", false),
        ),
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
    let stop_as = |kind, name: &str, how| Command::Stop {
        kind,
        name: name.to_owned(),
        how,
    };
    let stop = |kind, name: &str, force| {
        let how = StopChannel {
            force,
            ..StopChannel::default()
        };
        stop_as(kind, name, how)
    };
    let inactive = |conname: Option<&str>, q_mgr: Option<&str>| StopChannel {
        force: false,
        inactive: true,
        conname: conname.map(str::to_owned),
        q_mgr: q_mgr.map(str::to_owned),
    };
    let conn = |number, external: Option<&str>| Command::StopConnection {
        number,
        external: external.map(str::to_owned),
    };
    let external = "414D5143514D31202020202020202020";
    use ObjectKind::{Listener, SvrConn};
    for (line, expected) in [
        ("PING QMGR", Command::Ping),
        ("REFRESH SECURITY(*) TYPE(SSL)", Command::RefreshTls),
        ("ref security type(ssl)", Command::RefreshTls),
        (
            "REFRESH SECURITY(*) TYPE(CONNAUTH)",
            Command::RefreshConnAuth,
        ),
        ("save qmgr", Command::Save),
        (
            "CLEAR QLOCAL(A)",
            Command::Clear {
                name: "A".to_owned(),
            },
        ),
        (
            "CLEAR TOPICSTR('a/#') SCOPE(LOCAL) CLRTYPE(RETAINED)",
            Command::ClearTopics {
                topics: "a/#".to_owned(),
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
        ("STOP CHANNEL(C) STATUS(STOPPED)", stop(SvrConn, "C", false)),
        (
            "STOP CHANNEL(C) STATUS(INACTIVE)",
            stop_as(SvrConn, "C", inactive(None, None)),
        ),
        (
            "STOP CHL(C) CONNAME(127.0.0.1)",
            stop_as(SvrConn, "C", inactive(Some("127.0.0.1"), None)),
        ),
        (
            "STOP CHL(C) QMNAME(QM2) STATUS(INACTIVE)",
            stop_as(SvrConn, "C", inactive(None, Some("QM2"))),
        ),
        (
            "STOP CHL(C) QMNAME(' ') STATUS(STOPPED) MODE(FORCE)",
            stop(SvrConn, "C", true),
        ),
        ("STOP CONN(00000100000000AF)", conn(0x100_0000_00AF, None)),
        (
            "STOP CONN(00000100000000af) EXTCONN(414D5143514D31202020202020202020)",
            conn(0x100_0000_00AF, Some(external)),
        ),
        (
            "STOP CONN(414D5143514D3120202020202020202000000100000000AF)",
            conn(0x100_0000_00AF, Some(external)),
        ),
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
        ("DIS QMGR", plain(W::Object(ObjectKind::Qmgr), "", &[])),
        (
            "DIS QMGR QMNAME DEADQ",
            plain(W::Object(ObjectKind::Qmgr), "", &["QMNAME", "DEADQ"]),
        ),
        ("DIS QMSTATUS LOGTYPE", plain(W::QMStatus, "", &["LOGTYPE"])),
        (
            "DIS CHANNEL(*)",
            plain(W::Object(ObjectKind::SvrConn), "*", &[]),
        ),
        (
            "DIS LISTENER(L*) PORT",
            plain(W::Object(ObjectKind::Listener), "L*", &["PORT"]),
        ),
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
                ..plain(W::Object(ObjectKind::SvrConn), "*", &[])
            },
        ),
    ] {
        let expected = Command::Display {
            what: expected.what,
            name: expected.name.to_owned(),
            show: expected.show.iter().map(|word| word.to_string()).collect(),
            all: expected.all,
            filter: None,
            chosen: Vec::new(),
            type_: expected.type_,
        };
        assert_eq!(ok(line), expected, "{line}");
    }
}

#[test]
fn parameters_that_choose() {
    let filter = |keyword, op, value| Where { keyword, op, value };
    let input = filter("INPUT", Op::Ne, Value::Int(0));
    for (line, expected) in [
        ("DIS QS(*) OPENTYPE(ALL)", vec![]),
        (
            "DIS QS(*) OPENTYPE(input)",
            vec![filter("IPPROCS", Op::Gt, Value::Int(0))],
        ),
        (
            "DIS QS(*) OPENTYPE(INPUT) TYPE(HANDLE)",
            vec![input.clone()],
        ),
        ("DIS QS(*) PID OPENTYPE(INPUT)", vec![input]),
        (
            "DIS QS(*) TYPE(HANDLE) OPENTYPE(OUTPUT)",
            vec![filter("OUTPUT", Op::Eq, Value::Int(1))],
        ),
        (
            "DIS CHS(*) CONNAME('10.0.0.1')",
            vec![filter("CONNAME", Op::Eq, Value::text("10.0.0.1"))],
        ),
    ] {
        let Command::Display { chosen, filter, .. } = ok(line) else {
            panic!("{line}");
        };
        assert_eq!((chosen, filter), (expected, None), "{line}");
    }
    for line in [
        "DIS QS(*) OPENTYPE(SET)",
        "DIS QS(*) OPENTYPE(INPUT) OPENTYPE(ALL)",
        "DIS QS(*) OPENTYPE",
        "DIS QL(*) OPENTYPE(INPUT)",
        "DIS CHS(*) CONNAME()",
    ] {
        assert_eq!(parse(line).unwrap_err().id, "AMQ8405I", "{line}");
    }
}

#[test]
fn filters() {
    let text = |text: &str| Value::text(text);
    let number = |number: i32| Value::from(number);
    let day = Date::parse("2026-11-22").map(Value::Date).expect("a day");
    for (line, keyword, op, value) in [
        (
            "DIS Q(*) WHERE(CURDEPTH GT 0)",
            "CURDEPTH",
            Op::Gt,
            number(0),
        ),
        (
            "DIS Q(*) where ( curdepth , le , 5 )",
            "CURDEPTH",
            Op::Le,
            number(5),
        ),
        ("DIS Q(*) WHERE(GET EQ disabled)", "GET", Op::Eq, number(1)),
        (
            "DIS Q(*) WHERE(DESCR NE 'it''s')",
            "DESCR",
            Op::Ne,
            text("it's"),
        ),
        ("DIS Q(*) WHERE(DESCR EQ ' ')", "DESCR", Op::Eq, text("")),
        (
            "DIS Q(*) WHERE(TARGQ LK DEV.*)",
            "TARGET",
            Op::Lk,
            text("DEV.*"),
        ),
        (
            "DIS CONN(*) WHERE(APPLTAG LK 'sb*') ALL",
            "APPLTAG",
            Op::Lk,
            text("sb*"),
        ),
        (
            "DIS CONN(*) WHERE(UOWLOGDA NE ' ')",
            "UOWLOGDA",
            Op::Ne,
            Value::Blank,
        ),
        (
            "DIS CHL(*) WHERE(KAINT EQ AUTO)",
            "KAINT",
            Op::Eq,
            number(-1),
        ),
        (
            "DIS LSSTATUS(*) WHERE(PORT LT 2000)",
            "PORT",
            Op::Lt,
            number(2000),
        ),
        (
            "DIS CHS(*) WHERE(CONNAME NL '10.*')",
            "CONNAME",
            Op::Nl,
            text("10.*"),
        ),
        (
            "DIS Q(*) WHERE(QTYPE EQ QLOCAL)",
            "TYPE",
            Op::Eq,
            number(mq::MQQT_LOCAL),
        ),
        (
            "DIS Q(*) WHERE(DEFTYPE EQ predefined)",
            "DEFTYPE",
            Op::Eq,
            number(mq::MQQDT_PREDEFINED),
        ),
        (
            "DIS CHL(*) WHERE(COMPMSG CT rle)",
            "COMPMSG",
            Op::Ct,
            number(mq::MQCOMPRESS_RLE),
        ),
        (
            "DIS CHL(*) WHERE(COMPHDR EXG 'S*')",
            "COMPHDR",
            Op::Exg,
            text("S*"),
        ),
        (
            "DIS CHS(*) WHERE(STATUS NE 'running')",
            "STATUS",
            Op::Ne,
            number(mq::MQCHS_RUNNING),
        ),
        (
            "DIS CHS(*) WHERE(SUBSTATE EQ ' ')",
            "SUBSTATE",
            Op::Eq,
            Value::Blank,
        ),
        (
            "DIS CHS(*) WHERE(CHSTADA GE 2026-11-22)",
            "CHSTADA",
            Op::Ge,
            day.clone(),
        ),
        (
            "DIS Q(*) WHERE(ALTDATE GE '2026-11-22')",
            "ALTDATE",
            Op::Ge,
            day.clone(),
        ),
        (
            "DIS QL(*) WHERE(CRDATE LT 2026-11-22)",
            "CRDATE",
            Op::Lt,
            day,
        ),
        (
            "DIS CHS(*) WHERE(CHSTADA LK 2026-11*)",
            "CHSTADA",
            Op::Lk,
            text("2026-11*"),
        ),
        (
            "DIS CONN(*) WHERE(OPENOPTS CTG 'MQOO_INPUT*')",
            "OPENOPTS",
            Op::Ctg,
            text("MQOO_INPUT*"),
        ),
        (
            "DIS CONN(*) WHERE(OPENOPTS CT MQOO_OUTPUT)",
            "OPENOPTS",
            Op::Ct,
            number(mq::MQOO_OUTPUT),
        ),
    ] {
        let Command::Display { filter, .. } = ok(line) else {
            panic!("{line}");
        };
        assert_eq!(filter, Some(Where { keyword, op, value }), "{line}");
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
