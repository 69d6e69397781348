//! A kind of object that was added by its row and its attributes alone: everything else follows from these.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use posthaste_command::{Object, ObjectKind, Value, parse};
use posthaste_mqi::Reason;
use world::*;

fn names(w: &World, command: &str) -> Vec<String> {
    let reply = w.mqsc(command);
    let rows = reply.rows.iter();
    rows.map(|row| row.2.shown("SAMPLE").unwrap()).collect()
}

#[test]
fn a_kind_is_its_row_and_its_attributes() {
    let mut w = World::new();
    w.run(
        "DEFINE SAMPLE(A) DESCR('it''s one') SIZE(7) ROUND(YES) COLOURS(BLUE,RED) PARTS(X,'y') MARK(00ff)
         DEF SMP(B) LIKE(A) WEIGHT(5) PARTS() MARK()
         DEFINE SAMPLE(C)
         ALTER SAMPLE(B) SIZE(99)
         DEFINE QLOCAL(A)",
    );
    let kept = |w: &World| {
        let shown = w.mqsc("DISPLAY SAMPLE(*) ALL");
        let cells = shown.rows.iter().flat_map(|row| row.2.cells().iter());
        let texts = cells.map(|cell| format!("{}({})", cell.keyword(), cell.shown()));
        texts.collect::<Vec<_>>().join(" ")
    };
    let before = kept(&w);
    for cell in [
        "SAMPLE(A)",
        "DESCR(it's one)",
        "SIZE(99)",
        "WEIGHT(NOLIMIT)",
        "WEIGHT(5)",
        "COLOURS(BLUE,RED)",
        "PARTS(X,y)",
        "PARTS( )",
        "MARK(00FF)",
        "MARK( )",
    ] {
        assert!(before.contains(cell), "{cell}: {before}");
    }
    w.crash();
    assert_eq!(kept(&w), before);
    w.restart();
    assert_eq!(kept(&w), before);
    let a = w.qm().object(ObjectKind::Sample, "A").unwrap();
    let colours = a.attrs.iter().find(|(selector, _)| *selector == 900_005);
    assert_eq!(colours.unwrap().1, &Value::Ints(vec![3, 1]));
}

/// As long as MQ's longest names, those of subscriptions: no name is cut, in the log, in an image, in a reply.
#[test]
fn names_are_as_long_as_the_row_says() {
    let mut w = World::new();
    let name = |last: &str| format!("{}{last}", "N".repeat(10_240 - last.len()));
    w.run(&format!(
        "DEFINE SAMPLE({}) SIZE(1)\nDEFINE SAMPLE({}) SIZE(2)\nDEFINE SAMPLE({}) SIZE(3)",
        name("A"),
        name("B"),
        "N".repeat(255),
    ));
    w.run(&format!("DELETE SAMPLE({})", name("A")));
    let check = |w: &World| {
        let listed = names(w, "DISPLAY SAMPLE(N*)");
        assert_eq!(listed, ["N".repeat(255), name("B")]);
        let b = w.qm().object(ObjectKind::Sample, &name("B")).unwrap();
        assert_eq!(b.attrs.int(900_002), 2);
    };
    check(&w);
    w.crash();
    check(&w);
    w.restart();
    check(&w);
    let refused = parse(&format!("DEFINE SAMPLE({}A)", name("B"))).unwrap_err();
    assert_eq!(refused.id, "AMQ8424E");
}

#[test]
fn its_objects_are_found_by_their_values() {
    let w = World::new();
    w.run(
        "DEFINE SAMPLE(A) SIZE(7) COLOURS(BLUE) PARTS(X) MARK(0100)
         DEFINE SAMPLE(B) SIZE(99) ROUND(YES) WEIGHT(5)",
    );
    for (filter, expected) in [
        ("SIZE GT 8", &["B"][..]),
        ("ROUND EQ NO", &["A"]),
        ("WEIGHT EQ NOLIMIT", &["A"]),
        ("COLOURS CT BLUE", &["A"]),
        ("COLOURS EX BLUE", &["B"]),
        ("PARTS CTG 'X*'", &["A"]),
        ("ALTDATE GT 2000-01-01", &["A", "B"]),
        ("SAMPLE LK 'B*'", &["B"]),
        ("MARK EQ 0100", &["A"]),
        ("MARK NE 0100", &["B"]),
        ("MARK EQ ' '", &["B"]),
        ("MARK LT 01", &["B"]),
        ("MARK GE 01", &["A"]),
        ("MARK GT 00FFFFFF", &["A"]),
        ("MARK LE 0100", &["A", "B"]),
    ] {
        let command = format!("DISPLAY SAMPLE(*) WHERE({filter})");
        assert_eq!(names(&w, &command), expected, "{command}");
    }
    for filter in [
        "ALTDATE GT soon",
        "MARK EQ 010",
        "MARK EQ XY",
        "MARK CT 01",
        "MARK LK '01*'",
    ] {
        let refused = parse(&format!("DISPLAY SAMPLE(*) WHERE({filter})")).unwrap_err();
        assert_eq!(refused.id, "AMQ8569E", "{filter}");
    }
}

#[test]
fn what_is_wrong_with_it_is_said_and_what_is_saved_makes_it_again() {
    let w = World::new();
    w.run("DEFINE SAMPLE(A) SIZE(7) COLOURS(BLUE,GREEN) PARTS(X,'y') MARK(0A)");
    for (command, reason) in [
        ("DEFINE SAMPLE(A)", Reason::OBJECT_ALREADY_EXISTS),
        ("ALTER SAMPLE(NONE) SIZE(1)", Reason::UNKNOWN_OBJECT_NAME),
        ("DELETE SAMPLE(NONE)", Reason::UNKNOWN_OBJECT_NAME),
        ("DISPLAY SAMPLE(NONE)", Reason::UNKNOWN_OBJECT_NAME),
    ] {
        let reply = w.mqsc(command);
        assert_eq!((reply.ok, reply.reason), (false, reason), "{command}");
    }
    let before = w.qm().object(ObjectKind::Sample, "A").unwrap();
    let saved = w.mqsc("SAVE QMGR");
    let mut texts = saved.messages.iter().map(|(_, text)| text.as_str());
    let define = texts.find(|text| text.contains("SAMPLE('A')")).unwrap();
    w.run("DELETE SAMPLE(A)");
    assert_eq!(w.qm().object(ObjectKind::Sample, "A"), None);
    w.run(define);
    let again = w.qm().object(ObjectKind::Sample, "A").unwrap();
    let settable = |selector: &i32| (900_000..900_100).contains(selector);
    let values = |object: &Object| {
        let all = object
            .attrs
            .iter()
            .filter(|(selector, _)| settable(selector));
        all.map(|(selector, value)| (selector, value.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&again), values(&before));
}

/// A managed queue is its subscription's, and none of those that are to be made again; another queue manager's has the
/// same name perhaps.
#[test]
fn what_is_saved_of_a_subscription_makes_it_again_elsewhere() {
    let subscriptions = [
        "DEFINE SUB(S1) TOPICSTR('a') DESTCLAS(MANAGED)",
        "DEFINE SUB(S2) TOPICSTR('b') DESTCLAS(MANAGED)",
    ];
    let (w, other) = (World::new(), World::new());
    subscriptions.iter().for_each(|define| w.run(define));
    let queues = || {
        let all = w.qm().objects(ObjectKind::QLocal).into_iter();
        let managed = all.filter(|queue| queue.name.starts_with("SYSTEM.MANAGED."));
        managed.map(|queue| queue.name).collect::<Vec<_>>()
    };
    assert_eq!(queues().len(), 2, "{:?}", queues());
    let saved = w.mqsc("SAVE QMGR");
    let texts: Vec<&str> = saved
        .messages
        .iter()
        .map(|(_, text)| text.as_str())
        .collect();
    assert!(!texts.iter().any(|text| text.contains("SYSTEM.MANAGED.")));
    let again = texts
        .iter()
        .filter(|text| text.contains("SUB('S1')") || text.contains("SUB('S2')"));
    assert_eq!(again.map(|text| other.run(text)).count(), 2);
    // One that another subscription sends to as well has to be there for that.
    let both = &queues()[0];
    w.run(&format!("DEFINE SUB(BOTH) TOPICSTR('c') DEST('{both}')"));
    let saved = w.mqsc("SAVE QMGR");
    let mut texts = saved.messages.iter().map(|(_, text)| text.as_str());
    let define = texts.find(|text| text.contains(&format!("QLOCAL('{both}')")));
    assert!(define.is_some());
    w.run("DELETE SUB(BOTH)");
    // A script of a release that saved these queues has been run before.
    let third = World::new();
    for name in queues() {
        third.run(&format!("DEFINE QLOCAL('{name}')"));
    }
    subscriptions.iter().for_each(|define| third.run(define));
    let made = |w: &World| w.qm().objects(ObjectKind::Sub).len();
    assert_eq!((made(&other), made(&third)), (made(&w), made(&w)));
}
