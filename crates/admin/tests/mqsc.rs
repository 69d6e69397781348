//! MQSC commands by their text: every command on every kind of object, and what is left after a
//! restart.
#![allow(clippy::unwrap_used, missing_docs)]

mod as_commands;
#[path = "../../engine/tests/world/mod.rs"]
mod world;

use as_commands::{given, type_word};
use posthaste_admin::Admin;
use posthaste_command::{
    Attribute, Effect, Object, ObjectKind, Reply, Set, Value, ValueKind, attributes, parse, render,
};
use posthaste_engine::{CreateOptions, EndMode};
use posthaste_env::block_on;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

/// The number of the first row, or of the first message.
fn id(reply: &Reply) -> &str {
    match (reply.rows.first(), reply.messages.first()) {
        (Some(row), _) => &row.0,
        (None, Some(message)) => &message.0,
        (None, None) => "",
    }
}

/// A script: each command with the number of its answer and a part of what runmqsc shows.
fn play(w: &World, script: &[(&str, &str, &str)]) {
    for (command, number, shown) in script {
        let reply = w.mqsc(command);
        let text = render(&reply);
        assert_eq!(id(&reply), *number, "{command}\n{text}");
        assert!(text.contains(shown), "{command}\n{text}");
        let fine = number.ends_with('I');
        assert_eq!(reply.ok, fine, "{command}");
        assert_eq!(reply.reason == Reason::NONE, fine, "{command}");
    }
}

#[test]
fn every_command_on_every_kind_of_object() {
    let w = World::new();
    for (kind, created, changed, deleted) in [
        ("QLOCAL", "AMQ8006I", "AMQ8008I", "AMQ8007I"),
        ("QMODEL", "AMQ8006I", "AMQ8008I", "AMQ8007I"),
        ("QALIAS", "AMQ8006I", "AMQ8008I", "AMQ8007I"),
        ("QREMOTE", "AMQ8006I", "AMQ8008I", "AMQ8007I"),
        ("CHANNEL", "AMQ8014I", "AMQ8016I", "AMQ8015I"),
        ("LISTENER", "AMQ8626I", "AMQ8627I", "AMQ8628I"),
    ] {
        let (typed, exists, unknown, details) = match kind {
            "CHANNEL" => ("CHLTYPE(SVRCONN)", "AMQ8226E", "AMQ8227E", "AMQ8414I"),
            "LISTENER" => ("TRPTYPE(TCP)", "AMQ8150E", "AMQ8147E", "AMQ8630I"),
            _ => ("", "AMQ8150E", "AMQ8147E", "AMQ8409I"),
        };
        // TRPTYPE of a listener is said when it is made, and never again.
        let again = if kind == "CHANNEL" { typed } else { "" };
        let script = [
            (format!("DISPLAY {kind}(X.Y)"), "AMQ8147E", "X.Y not found"),
            (
                format!("ALTER {kind}(X.Y) {again} DESCR('no')"),
                unknown,
                "X.Y",
            ),
            (format!("DELETE {kind}(X.Y)"), unknown, "X.Y"),
            (
                format!("DEFINE {kind}(X.Y) {typed} DESCR('one')"),
                created,
                "X.Y created",
            ),
            (format!("DISPLAY {kind}(X.Y) DESCR"), details, "DESCR(one)"),
            (
                format!("DEFINE {kind}(X.Y) {typed} DESCR('two')"),
                exists,
                "X.Y already exists",
            ),
            (format!("DISPLAY {kind}(X.Y) DESCR"), details, "DESCR(one)"),
            (
                format!("DEFINE {kind}(X.Y) {typed} REPLACE DESCR('three')"),
                created,
                "X.Y",
            ),
            (
                format!("DISPLAY {kind}(X.Y) DESCR"),
                details,
                "DESCR(three)",
            ),
            (
                format!("ALTER {kind}(X.Y) {again} DESCR('four')"),
                changed,
                "X.Y changed",
            ),
            (format!("DISPLAY {kind}(X.Y)"), details, "DESCR(four)"),
            (
                format!("DEFINE {kind}(X.Z) {typed} LIKE(X.Y)"),
                created,
                "X.Z created",
            ),
            (format!("DISPLAY {kind}(X.Z) ALL"), details, "DESCR(four)"),
            (
                format!("DEFINE {kind}(X.W) {typed} LIKE(NO.SUCH)"),
                unknown,
                "NO.SUCH",
            ),
            (format!("DISPLAY {kind}(X.*)"), details, "X.Z"),
            (format!("DELETE {kind}(X.Y)"), deleted, "X.Y deleted"),
            (format!("DELETE {kind}(X.Y)"), unknown, "X.Y"),
            (format!("DISPLAY {kind}(X.*)"), details, "X.Z"),
            (format!("DELETE {kind}(X.Z)"), deleted, "X.Z deleted"),
        ];
        let script: Vec<_> = script
            .iter()
            .map(|(c, n, s)| (c.as_str(), *n, *s))
            .collect();
        play(&w, &script);
    }
    play(
        &w,
        &[
            ("ALTER QMGR DESCR('the manager')", "AMQ8005I", "changed"),
            ("DISPLAY QMGR", "AMQ8408I", "DESCR(the manager)"),
            ("DISPLAY QMGR DESCR", "AMQ8408I", "QMNAME(QM1)"),
            ("PING QMGR", "AMQ8415I", "Ping"),
        ],
    );
}

/// The four kinds of queue share their names; channels and listeners have names of their own.
#[test]
fn a_name_stands_for_one_queue() {
    let w = World::new();
    let kinds = ["QLOCAL", "QMODEL", "QALIAS", "QREMOTE"];
    for kind in kinds {
        w.run(&format!("DEFINE {kind}(ONE)"));
        for other in kinds.into_iter().filter(|k| *k != kind) {
            let commands = [
                (format!("DEFINE {other}(ONE)"), "AMQ8150E"),
                (format!("DEFINE {other}(ONE) REPLACE"), "AMQ8151E"),
                (format!("ALTER {other}(ONE) DESCR(X)"), "AMQ8151E"),
                (format!("DELETE {other}(ONE)"), "AMQ8151E"),
                (format!("DISPLAY {other}(ONE)"), "AMQ8147E"),
            ];
            for (command, number) in commands {
                let reply = w.mqsc(&command);
                assert_eq!(id(&reply), number, "{command} of a {kind}");
            }
        }
        play(&w, &[("DISPLAY QUEUE(ONE)", "AMQ8409I", "QUEUE(ONE)")]);
        w.run(&format!("DELETE {kind}(ONE)"));
    }
    w.run(
        "DEFINE QLOCAL(ONE)
         DEFINE CHANNEL(ONE) CHLTYPE(SVRCONN)
         DEFINE LISTENER(ONE) TRPTYPE(TCP)",
    );
}

/// How MQSC writes a value that is not the default, how DISPLAY shows it, and the value.
fn sample(attribute: &Attribute) -> (String, String, Value) {
    match attribute.keyword {
        // Not any text is one.
        "SSLCIPH" => return specific(attribute, "ANY_TLS13"),
        "SSLPEER" => return specific(attribute, "CN=app*,O=Tests"),
        _ => {}
    }
    let keyword = attribute.keyword;
    let default = attribute.default.value();
    let number = |value: i64| {
        let text = match attribute.word_of(value) {
            Some(word) if attribute.is_switch() => {
                return (word.to_owned(), String::new(), Value::Int(value));
            }
            Some(word) => word.to_owned(),
            None => value.to_string(),
        };
        (format!("{keyword}({text})"), text, Value::Int(value))
    };
    if let Effect::Only(codes) = attribute.effect {
        let other = codes.iter().find(|n| default != Some(Value::from(**n)));
        let value = other.map_or(default, |n| Some(Value::from(*n))).unwrap();
        let shown = posthaste_command::shown(attribute, &value);
        return (given(attribute, &value), shown, value);
    }
    match attribute.kind {
        ValueKind::Int { min, max } | ValueKind::IntOrKeyword { min, max, .. } => {
            number(if default == Some(Value::Int(max)) {
                min
            } else {
                max
            })
        }
        ValueKind::Keyword(words) => {
            let other = words.iter().find(|(_, n)| default != Some(Value::from(*n)));
            number(other.unwrap_or(&words[0]).1.into())
        }
        ValueKind::Keywords(words) => {
            let (word, code) = words[words.len() - 1];
            (
                format!("{keyword}({word})"),
                word.to_owned(),
                Value::Ints(vec![code.into()]),
            )
        }
        ValueKind::Text { max, .. } => {
            let text = if max < 12 { "x" } else { "it's a text" };
            let quoted = text.replace('\'', "''");
            (
                format!("{keyword}('{quoted}')"),
                text.to_owned(),
                Value::Text(text.to_owned()),
            )
        }
        ValueKind::Name { max } => {
            let name: String = "A.NAME/OF_SOME%THING".chars().take(max).collect();
            (
                format!("{keyword}({name})"),
                name.clone(),
                Value::Text(name),
            )
        }
        ValueKind::Names { max, .. } => {
            let name: String = "A.NAME/OF_SOME%THING".chars().take(max).collect();
            let names = vec![name, "SECOND".to_owned()];
            let text = names.join(",");
            (format!("{keyword}({text})"), text, Value::Texts(names))
        }
        ValueKind::Bytes { .. } => (
            format!("{keyword}(00ff)"),
            "00FF".to_owned(),
            Value::Bytes(vec![0, 255]),
        ),
        other => panic!("{keyword} is set by nobody: {other:?}"),
    }
}

/// A value for an attribute that does not take any text.
fn specific(attribute: &Attribute, value: &str) -> (String, String, Value) {
    let text = format!("{}('{value}')", attribute.keyword);
    (text, value.to_owned(), Value::Text(value.to_owned()))
}

fn named(kind: ObjectKind) -> String {
    match kind {
        ObjectKind::Qmgr => "QMGR".to_owned(),
        _ => format!("{}(THE.ONE)", kind.noun()),
    }
}

/// What a definition of the kind has to give. No two topic objects have one topic string.
fn defined(kind: ObjectKind, number: u32) -> String {
    match kind {
        ObjectKind::Topic => format!("TOPICSTR('t/{number}')"),
        ObjectKind::Sub => format!("TOPICSTR('s/{number}')"),
        _ => type_word(kind),
    }
}

/// Alters one attribute and displays it.
fn alter_and_show(w: &World, kind: ObjectKind, name: &str, attribute: &Attribute) {
    let (text, shown, value) = sample(attribute);
    let typed = type_word(kind);
    let command = format!("ALTER {} {typed} {text}", named(kind));
    w.run(&command);
    let object = w.qm().object(kind, name).unwrap();
    assert_eq!(
        object.attrs.get(attribute.selector),
        Some(&value),
        "{command}"
    );
    let display = format!("DISPLAY {} {}", named(kind), attribute.keyword);
    let reply = w.mqsc(&display);
    let row = &reply.rows[0].2;
    let keyword = if attribute.is_switch() {
        &text
    } else {
        attribute.keyword
    };
    assert_eq!(row.shown(keyword), Some(shown), "{display}");
}

/// An object and what its attributes must be.
type Kept = (ObjectKind, String, Vec<(i32, Value)>);

#[test]
fn every_attribute_can_be_defined_altered_shown_and_kept() {
    let mut w = World::new();
    let mut expected: Vec<Kept> = Vec::new();
    for kind in ObjectKind::ALL {
        let settable: Vec<_> = attributes(kind).filter(|a| a.set == Set::Always).collect();
        assert!(settable.len() > 1, "{kind}");
        let is_qmgr = kind == ObjectKind::Qmgr;
        if kind == ObjectKind::Sub {
            // What DEST is altered to.
            w.run("DEFINE QLOCAL(A.NAME/OF_SOME%THING)");
        }
        if !is_qmgr {
            let needed = match kind {
                ObjectKind::Sub => "DEST(SYSTEM.DEFAULT.LOCAL.QUEUE)",
                _ => "",
            };
            w.run(&format!(
                "DEFINE {} {} {needed}",
                named(kind),
                defined(kind, 1)
            ));
        }
        let name = if is_qmgr { "QM1" } else { "THE.ONE" };
        for attribute in &settable {
            alter_and_show(&w, kind, name, attribute);
        }
        let values: Vec<_> = settable.iter().map(|a| (a.selector, sample(a).2)).collect();
        if is_qmgr {
            expected.push((kind, name.to_owned(), values));
            continue;
        }
        // All of them at once, in the definition itself.
        w.run(&format!("DELETE {} {}", named(kind), type_word(kind)));
        let texts: Vec<String> = settable.iter().map(|a| sample(a).0).collect();
        let texts = texts.join(" ");
        w.run(&format!(
            "DEFINE {} {} {texts}",
            named(kind),
            defined(kind, 2)
        ));
        let object = w.qm().object(kind, name).unwrap();
        for (selector, value) in &values {
            assert_eq!(
                object.attrs.get(*selector),
                Some(value),
                "{kind} {selector}"
            );
        }
        // Make room for the next kind of queue.
        // Names of some kinds have eight letters.
        let kept = format!("KEPT{}", expected.len());
        let (noun, typed) = (kind.noun(), defined(kind, 3));
        w.run(&format!("DEFINE {noun}({kept}) {typed} LIKE(THE.ONE)"));
        w.run(&format!("DELETE {} {}", named(kind), type_word(kind)));
        expected.push((kind, kept, values));
    }
    for clean in [false, true] {
        if clean {
            w.restart();
        } else {
            w.crash();
        }
        for (kind, name, values) in &expected {
            let object = w.qm().object(*kind, name).unwrap();
            for (selector, value) in values {
                assert_eq!(
                    object.attrs.get(*selector),
                    Some(value),
                    "{name} {selector}"
                );
            }
        }
    }
}

#[test]
fn a_definition_begins_with_its_default_object() {
    let w = World::new();
    w.run(
        "ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(77)
         ALTER CHANNEL(SYSTEM.DEF.SVRCONN) CHLTYPE(SVRCONN) MAXINST(5)
         DEFINE QLOCAL(BASE) MAXDEPTH(11) DESCR('base') DEFPRTY(4)",
    );
    play(
        &w,
        &[
            ("DEFINE QLOCAL(A)", "AMQ8006I", ""),
            ("DISPLAY QLOCAL(A) MAXDEPTH", "AMQ8409I", "MAXDEPTH(77)"),
            ("DEFINE CHANNEL(C) CHLTYPE(SVRCONN)", "AMQ8014I", ""),
            ("DISPLAY CHANNEL(C) MAXINST", "AMQ8414I", "MAXINST(5)"),
            ("DEFINE QLOCAL(B) LIKE(BASE) DEFPRTY(9)", "AMQ8006I", ""),
            ("DISPLAY QLOCAL(B) ALL", "AMQ8409I", "MAXDEPTH(11)"),
            ("DISPLAY QLOCAL(B) ALL", "AMQ8409I", "DEFPRTY(9)"),
            // REPLACE gives all attributes, those not mentioned from the default object.
            ("DEFINE QLOCAL(B) REPLACE DEFPRTY(2)", "AMQ8006I", ""),
            ("DISPLAY QLOCAL(B)", "AMQ8409I", "MAXDEPTH(77)"),
            ("DISPLAY QLOCAL(B)", "AMQ8409I", "DEFPRTY(2)"),
            ("DISPLAY QLOCAL(B)", "AMQ8409I", "DESCR( )"),
            ("DEFINE QLOCAL(B) REPLACE LIKE(BASE)", "AMQ8006I", ""),
            ("DISPLAY QLOCAL(B)", "AMQ8409I", "MAXDEPTH(11)"),
        ],
    );
}

#[test]
fn replacing_or_altering_a_queue_keeps_its_messages_and_handles() {
    let mut w = World::new();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let created = |w: &World| {
        let object = w.qm().object(ObjectKind::QLocal, "Q").unwrap();
        let (date, time) = (MQCA_CREATION_DATE, MQCA_CREATION_TIME);
        [date, time].map(|selector| object.attrs.get(selector).cloned())
    };
    let before = created(&w);
    assert!(matches!(
        before,
        [Some(Value::Date(_)), Some(Value::Time(_))]
    ));
    put(&s, h, PERSISTENT, 0, b"1");
    w.run("DEFINE QLOCAL(Q) REPLACE MAXDEPTH(2)");
    put(&s, h, PERSISTENT, 0, b"2");
    let full = try_put(&s, h, &mut md(0), 0, b"3");
    assert_eq!(full, Err(Reason::Q_FULL));
    w.run("ALTER QLOCAL(Q) MAXDEPTH(3)");
    put(&s, h, PERSISTENT, 0, b"3");
    assert_eq!(created(&w), before);
    drop(s);
    w.crash();
    assert_eq!(created(&w), before);
    let s = w.connect();
    let h = open(&s, "Q", MQOO_INPUT_SHARED);
    assert_eq!(drain(&s, h), ["1", "2", "3"]);
}

#[test]
fn deleting_and_clearing_ask_who_and_what_is_there() {
    let w = World::new();
    let s = w.connect();
    w.run("DEFINE QLOCAL(Q)");
    let h = open(&s, "Q", IN_OUT);
    play(
        &w,
        &[
            ("DELETE QLOCAL(Q)", "AMQ8148E", "has one open handle.\n"),
            ("DELETE QLOCAL(Q) PURGE", "AMQ8148E", "Q in use"),
            ("CLEAR QLOCAL(Q)", "AMQ8148E", "Q in use"),
        ],
    );
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"uncommitted");
    put(&s, h, 0, MQPMO_SYNCPOINT, b"uncommitted");
    let both = "has one open handle, 2 uncommitted puts.\n";
    play(&w, &[("DELETE QLOCAL(Q) PURGE", "AMQ8148E", both)]);
    close(&s, h, 0).unwrap();
    let connection = format!("{:016X}", s.status().number);
    let held =
        format!("AMQ2403I: test (user tester, connection {connection}) has 2 uncommitted puts.\n");
    play(
        &w,
        &[
            ("DELETE QLOCAL(Q)", "AMQ8148E", &held),
            ("DELETE QLOCAL(Q) PURGE", "AMQ8148E", &held),
            ("CLEAR QLOCAL(Q)", "AMQ8148E", &held),
        ],
    );
    commit(&s);
    play(
        &w,
        &[
            ("DELETE QLOCAL(Q)", "AMQ8143E", "not empty"),
            ("CLEAR QLOCAL(Q)", "AMQ8022I", "Q cleared"),
            ("CLEAR QLOCAL(Q)", "AMQ8022I", "Q cleared"),
            ("DELETE QLOCAL(Q)", "AMQ8007I", "Q deleted"),
            ("CLEAR QLOCAL(Q)", "AMQ8147E", "Q not found"),
            (
                "CLEAR QLOCAL(SYSTEM.DEFAULT.ALIAS.QUEUE)",
                "AMQ8151E",
                "different type",
            ),
            ("DEFINE QLOCAL(Q)", "AMQ8006I", "Q created"),
        ],
    );
    put1(&s, "Q", &mut md(PERSISTENT), 0, b"gone").unwrap();
    let h = open(&s, "Q", IN_OUT);
    next(&s, h, MQGMO_SYNCPOINT).unwrap();
    close(&s, h, 0).unwrap();
    let held = "has one uncommitted get.\n";
    play(&w, &[("DELETE QLOCAL(Q) PURGE", "AMQ8148E", held)]);
    backout(&s);
    play(&w, &[("DELETE QLOCAL(Q) PURGE", "AMQ8007I", "Q deleted")]);
}

/// What was cleared, deleted or defined again stays so.
#[test]
fn what_commands_did_is_true_after_a_restart() {
    for how in [EndMode::Immediate, EndMode::Preemptive] {
        let mut w = World::new();
        for round in 0..3 {
            w.run(
                "DEFINE QLOCAL(CLEARED) REPLACE
                 DEFINE QLOCAL(AGAIN) REPLACE
                 DEFINE QLOCAL(GONE) REPLACE
                 DEFINE QALIAS(ALIAS) TARGET(AGAIN) REPLACE
                 DEFINE CHANNEL(CH) CHLTYPE(SVRCONN) REPLACE",
            );
            let s = w.connect();
            for queue in ["CLEARED", "AGAIN", "GONE"] {
                for persistence in [NOT_PERSISTENT, PERSISTENT] {
                    put1(&s, queue, &mut md(persistence), 0, b"old").unwrap();
                }
            }
            w.run(
                "CLEAR QLOCAL(CLEARED)
                 DELETE QLOCAL(AGAIN) PURGE
                 DEFINE QLOCAL(AGAIN) DESCR('second')
                 DELETE QLOCAL(GONE) PURGE
                 DELETE QALIAS(ALIAS)
                 DELETE CHANNEL(CH)",
            );
            for queue in ["CLEARED", "AGAIN"] {
                put1(&s, queue, &mut md(PERSISTENT), 0, b"new").unwrap();
            }
            drop(s);
            w.end(how);
            w.start();
            let s = w.connect();
            for queue in ["CLEARED", "AGAIN"] {
                let h = open(&s, queue, IN_OUT);
                assert_eq!(drain(&s, h), ["new"], "{queue} {round} {how:?}");
            }
            for gone in ["GONE", "ALIAS"] {
                let refused = try_open(&s, gone, MQOO_OUTPUT);
                assert_eq!(refused, Err(Reason::UNKNOWN_OBJECT_NAME), "{gone}");
            }
            let object = w.qm().object(ObjectKind::QLocal, "AGAIN").unwrap();
            assert_eq!(object.attrs.text(MQCA_Q_DESC), "second");
            assert!(w.qm().object(ObjectKind::SvrConn, "CH").is_none());
        }
    }
}

/// Everything there is, as objects.
fn everything(w: &World) -> Vec<Object> {
    let kinds = ObjectKind::ALL.into_iter();
    kinds.flat_map(|kind| w.qm().objects(kind)).collect()
}

#[test]
fn all_definitions_survive_unchanged() {
    let options = CreateOptions {
        dead_letter_q: DEAD.to_owned(),
        description: "made for a test".to_owned(),
        max_handles: 77,
        ..CreateOptions::default()
    };
    let mut w = World::made(&options, |_| {});
    let made = everything(&w);
    assert!(made.len() >= 16);
    w.restart();
    assert_eq!(everything(&w), made);
    for n in 0..50 {
        w.run(&format!(
            "DEFINE QLOCAL(Q.{n}) MAXDEPTH({n})\nDEFINE QALIAS(A.{n}) TARGET(Q.{n})"
        ));
        if n % 3 == 0 {
            w.run(&format!("DELETE QALIAS(A.{n})"));
        }
        if n % 5 == 0 {
            w.run(&format!("ALTER QLOCAL(Q.{n}) DESCR('altered')"));
        }
    }
    let before = everything(&w);
    w.crash();
    assert_eq!(everything(&w), before);
    w.restart();
    assert_eq!(everything(&w), before);
    w.crash();
    assert_eq!(everything(&w), before);
}

fn shown(w: &World, command: &str, keyword: &str) -> Vec<String> {
    let reply = w.mqsc(command);
    let rows = reply.rows.iter();
    rows.map(|row| row.2.shown(keyword).unwrap_or("?".to_owned()))
        .collect()
}

#[test]
fn generic_names_and_filters_choose() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(DEV.A) MAXDEPTH(10) DESCR('first')
         DEFINE QLOCAL(DEV.B) MAXDEPTH(20) DESCR('second') PUT(DISABLED)
         DEFINE QLOCAL(DEV.C) MAXDEPTH(30) DESCR('third') TRIGGER
         DEFINE QALIAS(DEV.D) TARGET(DEV.A)
         DEFINE QREMOTE(DEV.E) RNAME(Q) RQMNAME(QM2)
         DEFINE QMODEL(DEV.F) MAXDEPTH(20)
         DEFINE QLOCAL(OTHER)",
    );
    for (command, expected) in [
        (
            "DISPLAY QUEUE(DEV.*)",
            "DEV.A DEV.B DEV.C DEV.D DEV.E DEV.F",
        ),
        ("DISPLAY QLOCAL(DEV.*)", "DEV.A DEV.B DEV.C"),
        ("DISPLAY QUEUE(DEV.*) TYPE(QALIAS)", "DEV.D"),
        ("DISPLAY QREMOTE(*)", "DEV.E SYSTEM.DEFAULT.REMOTE.QUEUE"),
        ("DISPLAY QUEUE(DEV.B)", "DEV.B"),
        ("DISPLAY QUEUE(DEV.*) WHERE(MAXDEPTH LT 20)", "DEV.A"),
        (
            "DISPLAY QUEUE(DEV.*) WHERE(MAXDEPTH LE 20)",
            "DEV.A DEV.B DEV.F",
        ),
        ("DISPLAY QUEUE(DEV.*) WHERE(MAXDEPTH EQ 20)", "DEV.B DEV.F"),
        ("DISPLAY QUEUE(DEV.*) WHERE(MAXDEPTH NE 20)", "DEV.A DEV.C"),
        (
            "DISPLAY QUEUE(DEV.*) WHERE(MAXDEPTH GE 20)",
            "DEV.B DEV.C DEV.F",
        ),
        ("DISPLAY QUEUE(DEV.*) WHERE(MAXDEPTH GT 20)", "DEV.C"),
        ("DISPLAY QUEUE(DEV.*) WHERE(PUT EQ DISABLED)", "DEV.B"),
        ("DISPLAY QLOCAL(DEV.*) WHERE(DESCR LK 'f*')", "DEV.A"),
        ("DISPLAY QLOCAL(DEV.*) WHERE(DESCR NL 'f*')", "DEV.B DEV.C"),
        ("DISPLAY QUEUE(*) WHERE(TARGET EQ DEV.A)", "DEV.D"),
        (
            "DISPLAY QUEUE(DEV.*) WHERE(DEFTYPE EQ PREDEFINED)",
            "DEV.A DEV.B DEV.C",
        ),
        ("DISPLAY QUEUE(DEV.*) WHERE(DEFTYPE EQ TEMPDYN)", "DEV.F"),
        ("DISPLAY QLOCAL(DEV.*) WHERE(MAXFSIZE LT 10)", ""),
        (
            "DISPLAY QLOCAL(DEV.*) WHERE(MAXFSIZE NE 10)",
            "DEV.A DEV.B DEV.C",
        ),
    ] {
        let names = shown(&w, command, "QUEUE").join(" ");
        assert_eq!(names, expected, "{command}");
    }
    // The attribute of the filter is shown beside those that were asked for.
    let reply = w.mqsc("DISPLAY QLOCAL(DEV.*) WHERE(MAXDEPTH GT 10) DESCR");
    let row = &reply.rows[0].2;
    assert_eq!(row.shown("DESCR").as_deref(), Some("second"));
    assert_eq!(row.shown("MAXDEPTH").as_deref(), Some("20"));
    assert_eq!(row.shown("DEFPRTY").as_deref(), None);
    for none in [
        "DISPLAY QUEUE(NO.*)",
        "DISPLAY QLOCAL(DEV.*) WHERE(MAXDEPTH GT 999)",
    ] {
        assert_eq!(id(&w.mqsc(none)), "AMQ8147E", "{none}");
    }
    // A whole name shows everything, a generic one names and types.
    let whole = w.mqsc("DISPLAY QLOCAL(DEV.A)").rows[0].2.len();
    let listed = w.mqsc("DISPLAY QLOCAL(DEV.A*)").rows[0].2.len();
    assert!(whole > 40 && listed == 2, "{whole} {listed}");
}

#[test]
fn the_state_of_queues_is_shown() {
    let w = World::new();
    w.run("DEFINE QLOCAL(Q.A)\nDEFINE QLOCAL(Q.B)");
    let (s, other) = (w.connect(), w.connect());
    let a = open(&s, "Q.A", IN_OUT);
    open(&other, "Q.A", MQOO_BROWSE | MQOO_INQUIRE);
    put(&s, a, PERSISTENT, 0, b"x");
    put(&s, a, PERSISTENT, MQPMO_SYNCPOINT, b"x");
    let reply = w.mqsc("DISPLAY QSTATUS(Q.A)");
    assert_eq!(id(&reply), "AMQ8450I");
    let row = &reply.rows[0].2;
    for (keyword, value) in [
        ("QUEUE", "Q.A"),
        ("TYPE", "QUEUE"),
        ("CURDEPTH", "2"),
        ("IPPROCS", "1"),
        ("OPPROCS", "1"),
        ("UNCOM", "YES"),
    ] {
        assert_eq!(row.shown(keyword).as_deref(), Some(value), "{keyword}");
    }
    // Whoever counts is shown, by whatever name he has opened it.
    w.run("DEFINE QALIAS(ALIAS) TARGET(Q.A)");
    let by_alias = open(&other, "ALIAS", MQOO_OUTPUT);
    let handles = w.mqsc("DISPLAY QSTATUS(Q.A) TYPE(HANDLE) OUTPUT");
    let outputs = handles.rows.iter().map(|row| row.2.shown("OUTPUT"));
    assert_eq!(outputs.flatten().filter(|yes| yes == "YES").count(), 2);
    let counted = shown(&w, "DISPLAY QSTATUS(Q.A) OPPROCS", "OPPROCS");
    assert_eq!(counted, ["2"]);
    close(&other, by_alias, MQCO_NONE).unwrap();
    commit(&s);
    let uncommitted = shown(&w, "DISPLAY QSTATUS(Q.*) UNCOM", "UNCOM");
    assert_eq!(uncommitted, ["NO", "NO"]);
    let deep = shown(&w, "DISPLAY QSTATUS(*) WHERE(CURDEPTH GT 0)", "QUEUE");
    assert_eq!(deep, ["Q.A"]);
    let handles = w.mqsc("DISPLAY QSTATUS(Q.A) TYPE(HANDLE)");
    let mut words = Vec::new();
    for (_, _, row) in &handles.rows {
        let get = |keyword| row.shown(keyword).unwrap();
        words.push([get("INPUT"), get("OUTPUT"), get("BROWSE"), get("INQUIRE")].join(" "));
        assert_eq!(get("APPLTAG"), "test");
    }
    assert_eq!(words, ["SHARED YES NO NO", "NO NO YES YES"]);
    assert_eq!(id(&w.mqsc("DISPLAY QSTATUS(NO.SUCH)")), "AMQ8565E");
    // The same numbers in the definition.
    let depth = shown(&w, "DISPLAY QLOCAL(Q.A) CURDEPTH", "CURDEPTH");
    assert_eq!(depth, ["2"]);
}

#[test]
fn the_queue_manager_and_its_connections_are_shown() {
    let w = World::new();
    let reply = w.mqsc("DISPLAY QMSTATUS ALL");
    assert_eq!(id(&reply), "AMQ8705I");
    let row = &reply.rows[0].2;
    assert_eq!(row.shown("QMNAME").as_deref(), Some("QM1"));
    assert_eq!(row.shown("STATUS").as_deref(), Some("RUNNING"));
    assert_eq!(row.shown("CONNS").as_deref(), Some("0"));
    assert_eq!(row.shown("LOGTYPE").as_deref(), Some("CIRCULAR"));
    assert_eq!(row.shown("STARTDA").map(|date| date.len()), Some(10));
    assert_eq!(id(&w.mqsc("DISPLAY CONN(*)")), "AMQ8461E");

    let (s, other) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(shown(&w, "DISPLAY QMSTATUS", "CONNS"), ["2"]);
    let reply = w.mqsc("DISPLAY CONN(*) ALL");
    assert_eq!((id(&reply), reply.rows.len()), ("AMQ8276I", 2));
    let row = &reply.rows[0].2;
    let connection = row.shown("CONN").unwrap();
    assert_eq!(connection.len(), 16);
    let external = row.shown("EXTCONN").unwrap();
    assert!(external.starts_with("414D5143514D31"), "{external}");
    assert_eq!(row.shown("APPLTAG").as_deref(), Some("test"));
    assert_eq!(row.shown("USERID").as_deref(), Some("tester"));
    assert_eq!(row.shown("UOWSTATE").as_deref(), Some("NONE"));
    put(&s, h, 0, MQPMO_SYNCPOINT, b"x");
    let working = format!("DISPLAY CONN({connection}) UOWSTATE UOWSTDA");
    assert_eq!(shown(&w, &working, "UOWSTATE"), ["ACTIVE"]);
    assert_eq!(shown(&w, &working, "UOWSTDA")[0].len(), 10);
    // Only a unit of work that has written to the log keeps it from being used again.
    let logged = "DISPLAY CONN(*) WHERE(UOWLOGDA NE ' ') UOWLOGTI";
    assert_eq!(id(&w.mqsc(logged)), "AMQ8461E");
    put(&s, h, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"y");
    assert_eq!(shown(&w, logged, "CONN"), std::slice::from_ref(&connection));
    assert_eq!(shown(&w, logged, "UOWLOGDA")[0].len(), 10);
    assert_eq!(shown(&w, logged, "UOWLOGTI")[0].len(), 8);
    let active = shown(&w, "DISPLAY CONN(*) WHERE(UOWSTATE EQ ACTIVE)", "CONN");
    assert_eq!(active, std::slice::from_ref(&connection));
    let objects = w.mqsc(&format!("DISPLAY CONN({connection}) TYPE(HANDLE)"));
    assert_eq!(objects.rows.len(), 1);
    let row = &objects.rows[0].2;
    assert_eq!(row.shown("OBJNAME").as_deref(), Some(LOCAL));
    assert_eq!(row.shown("OBJTYPE").as_deref(), Some("QUEUE"));
    let options = row.shown("OPENOPTS").unwrap();
    assert_eq!(options, "MQOO_INPUT_SHARED,MQOO_OUTPUT");
    drop((s, other));
    assert_eq!(shown(&w, "DISPLAY QMSTATUS", "CONNS"), ["0"]);
    assert_eq!(w.depth(LOCAL), 0);
}

/// An answer has a message for each object: however many there are, the queue that runmqsc waits at takes them. JMS applications
/// have messages of any length.
#[test]
fn the_models_of_reply_queues_take_what_they_are_for() {
    let w = World::light();
    for (name, max_msg_length) in [
        ("SYSTEM.MQSC.REPLY.QUEUE", 4_194_304),
        ("SYSTEM.MQEXPLORER.REPLY.MODEL", 4_194_304),
        ("SYSTEM.JMS.TEMPQ.MODEL", 104_857_600),
    ] {
        let attrs = w.qm().object(ObjectKind::QModel, name).unwrap().attrs;
        let shown = [MQIA_DEFINITION_TYPE, MQIA_MAX_Q_DEPTH, MQIA_MAX_MSG_LENGTH]
            .map(|selector| attrs.int(selector));
        let expected = [MQQDT_TEMPORARY_DYNAMIC, 999_999_999, max_msg_length];
        assert_eq!(shown, expected, "{name}");
    }
}

#[test]
fn a_queue_manager_that_has_ended_says_so() {
    let mut w = World::new();
    let qm = w.qm().clone();
    w.end(EndMode::Immediate);
    for text in ["DISPLAY QMGR", "DEFINE QLOCAL(X)", "PING QMGR"] {
        let command = parse(text).unwrap().unwrap();
        let reply = block_on(Admin::alone(&qm).execute(&command));
        assert_eq!(id(&reply), "AMQ8146E", "{text}");
        assert_eq!(reply.reason, Reason::CONNECTION_BROKEN);
    }
}

/// What belongs to whoever runs channels and listeners is refused, not ignored.
#[test]
fn commands_about_what_runs_elsewhere_are_refused() {
    let w = World::new();
    for text in [
        "START LISTENER(SYSTEM.DEFAULT.LISTENER.TCP)",
        "STOP LISTENER(SYSTEM.DEFAULT.LISTENER.TCP)",
        "START CHANNEL(SYSTEM.DEF.SVRCONN)",
        "STOP CHANNEL(SYSTEM.DEF.SVRCONN)",
        "DISPLAY CHSTATUS(*)",
        "DISPLAY LSSTATUS(*)",
    ] {
        let reply = w.mqsc(text);
        assert_eq!(id(&reply), "AMQ2401E", "{text}");
        assert_eq!(reply.reason, Reason::FUNCTION_NOT_SUPPORTED);
    }
}

/// The answer comes after the definition is durable: a crash right behind it changes nothing.
#[test]
fn an_answered_command_is_durable() {
    let mut w = World::pausable();
    let command = parse("DEFINE QLOCAL(DURABLE)").unwrap().unwrap();
    w.stage.pause();
    let qm = w.qm().clone();
    let mut call = Call::begin(async move { Admin::alone(&qm).execute(&command).await });
    assert!(call.poll().is_none());
    w.stage.resume();
    assert!(call.finish().ok);
    w.crash();
    w.run("DELETE QLOCAL(DURABLE)");
    w.crash();
    assert_eq!(id(&w.mqsc("DISPLAY QLOCAL(DURABLE)")), "AMQ8147E");
}
