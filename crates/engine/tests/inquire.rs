//! MQINQ and MQSET: every attribute of every kind of object.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_command::{ObjectKind, Value, attributes};
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Od, Reason};
use world::*;

fn is_int(selector: i32) -> bool {
    (MQIA_FIRST..=MQIA_LAST).contains(&selector)
}

fn open_to_inquire(s: &Session, kind: ObjectKind, name: &str) -> Hobj {
    let mut od = match kind {
        ObjectKind::Qmgr => Od {
            object_type: MQOT_Q_MGR,
            ..Od::default()
        },
        ObjectKind::Namelist => Od {
            object_type: MQOT_NAMELIST,
            ..object(name)
        },
        ObjectKind::Process => Od {
            object_type: MQOT_PROCESS,
            ..object(name)
        },
        _ => object(name),
    };
    open_od(s, &mut od, MQOO_INQUIRE).unwrap()
}

const KINDS: [(ObjectKind, &str); 6] = [
    (ObjectKind::Qmgr, "QM1"),
    (ObjectKind::QLocal, "L"),
    (ObjectKind::QAlias, "A"),
    (ObjectKind::QRemote, "R"),
    (ObjectKind::Namelist, "N"),
    (ObjectKind::Process, "P"),
];

fn world() -> World {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(L) DESCR('a local queue') MAXDEPTH(77) TRIGGER TRIGDATA(DATA) BOQNAME(BO)
         DEFINE QALIAS(A) DESCR('an alias') TARGET(L) DEFPRTY(3)
         DEFINE QREMOTE(R) DESCR('a remote definition') RNAME(Q) RQMNAME(FAR) XMITQ(VIA)
         DEFINE NAMELIST(N) DESCR('names') NAMES(L)
         DEFINE PROCESS(P) DESCR('a process') APPLICID('/bin/true') USERDATA(DATA)",
    );
    w
}

/// Each attribute alone, and all of them at once, are what DISPLAY ALL would show.
#[test]
fn every_attribute_can_be_inquired() {
    let w = world();
    let s = w.connect();
    for (kind, name) in KINDS {
        let stored = w.qm().object(kind, name).unwrap().attrs;
        let h = open_to_inquire(&s, kind, name);
        let mut selectors = Vec::new();
        let (mut ints, mut chars) = (Vec::new(), Vec::new());
        for attribute in attributes(kind).filter(|a| a.inquire) {
            let selector = attribute.selector;
            let what = format!("{} of {name}", attribute.keyword);
            let (one, warning) = inquire(&s, h, &[selector]).unwrap();
            assert_eq!(warning, Reason::NONE, "{what}");
            if is_int(selector) {
                assert_eq!((one.ints.len(), one.chars.len()), (1, 0), "{what}");
                if let Some(Value::Int(value)) = stored.get(selector) {
                    assert_eq!(i64::from(one.ints[0]), *value, "{what}");
                }
            } else {
                assert_eq!(
                    (one.ints.len(), one.chars.len()),
                    (0, attribute.char_length),
                    "{what}"
                );
                let text = String::from_utf8(one.chars.clone()).unwrap();
                if let Some(Value::Text(value)) = stored.get(selector) {
                    assert_eq!(text.trim_end(), value, "{what}");
                }
            }
            selectors.push(selector);
            ints.extend(one.ints);
            chars.extend(one.chars);
        }
        assert!(selectors.len() > 5, "{name}");
        let (all, warning) = inquire(&s, h, &selectors).unwrap();
        assert_eq!((all.ints, all.chars), (ints, chars), "{name}");
        assert_eq!(warning, Reason::NONE);
    }
}

/// What client libraries ask the queue manager by themselves when they connect.
#[test]
fn what_client_libraries_ask_is_answered() {
    let w = World::with_dead_letters();
    let s = w.connect();
    let h = open_to_inquire(&s, ObjectKind::Qmgr, "");
    let advanced_capability = 273;
    let selectors = [
        MQIA_COMMAND_LEVEL,
        MQIA_PLATFORM,
        MQIA_CODED_CHAR_SET_ID,
        MQCA_Q_MGR_NAME,
        MQCA_Q_MGR_IDENTIFIER,
        advanced_capability,
        MQCA_DEAD_LETTER_Q_NAME,
    ];
    assert_eq!(selectors, [31, 32, 2, 2015, 2032, 273, 2006]);
    let (values, warning) = inquire(&s, h, &selectors).unwrap();
    assert_eq!(warning, Reason::NONE);
    assert!(values.ints[0] >= 700, "{:?}", values.ints);
    assert_eq!(values.ints[1..], [MQPL_UNIX, 1208, 0]);
    let text = String::from_utf8(values.chars).unwrap();
    assert_eq!(text.len(), 3 * 48);
    assert_eq!(text[..48].trim_end(), "QM1");
    assert!(text[48..96].starts_with("QM1_"), "{text}");
    assert_eq!(text[96..].trim_end(), DEAD);
    // And of a queue whose message comes back.
    w.run("DEFINE QLOCAL(L) BOTHRESH(5) BOQNAME(L.BACK)\nDEFINE QALIAS(A) TARGET(L)");
    let asked = [MQIA_BACKOUT_THRESHOLD, MQIA_Q_TYPE, MQCA_BACKOUT_REQ_Q_NAME];
    let h = open_to_inquire(&s, ObjectKind::QLocal, "L");
    let (values, _) = inquire(&s, h, &asked).unwrap();
    assert_eq!(values.ints, [5, MQQT_LOCAL]);
    assert_eq!(
        String::from_utf8(values.chars).unwrap().trim_end(),
        "L.BACK"
    );
    let h = open_to_inquire(&s, ObjectKind::QAlias, "A");
    let (values, _) = inquire(&s, h, &[MQIA_Q_TYPE, MQCA_BASE_Q_NAME]).unwrap();
    assert_eq!(values.ints, [MQQT_ALIAS]);
    assert_eq!(String::from_utf8(values.chars).unwrap().trim_end(), "L");
}

/// Whether the two are of one type of object, as queues of every kind are.
fn are_of_one_type(one: ObjectKind, other: ObjectKind) -> bool {
    let queues = |kind| ObjectKind::QUEUES.contains(&kind);
    one == other || queues(one) && queues(other)
}

/// What a queue of this kind does not have: -1, or asterisks of the attribute's width, and a warning. What no object of this
/// type has is no selector for it.
#[test]
fn attributes_of_another_kind_are_not_applicable() {
    let w = world();
    let s = w.connect();
    for (kind, name) in KINDS {
        let h = open_to_inquire(&s, kind, name);
        for (other, _) in KINDS {
            for attribute in attributes(other).filter(|a| a.inquire) {
                let selector = attribute.selector;
                let what = format!("{} of {name}", attribute.keyword);
                let own = attributes(kind).any(|a| a.selector == selector && a.inquire);
                let of_type = ObjectKind::ALL
                    .into_iter()
                    .filter(|sibling| are_of_one_type(*sibling, kind))
                    .flat_map(attributes)
                    .any(|a| a.selector == selector && a.inquire);
                let inquired = inquire(&s, h, &[selector]);
                if !of_type {
                    assert_eq!(inquired, Err(Reason::SELECTOR_ERROR), "{what}");
                    continue;
                }
                let (one, warning) = inquired.unwrap();
                if own {
                    assert_eq!(warning, Reason::NONE, "{what}");
                    continue;
                }
                assert_eq!(warning, Reason::SELECTOR_NOT_FOR_TYPE, "{what}");
                if is_int(selector) {
                    assert_eq!(one.ints, [MQIAV_NOT_APPLICABLE], "{what}");
                } else {
                    assert_eq!(one.chars, vec![b'*'; attribute.char_length], "{what}");
                }
            }
        }
    }
    // The others are answered all the same.
    let h = open_to_inquire(&s, ObjectKind::QAlias, "A");
    let mixed = [
        MQIA_Q_TYPE,
        MQIA_MAX_Q_DEPTH,
        MQCA_REMOTE_Q_NAME,
        MQCA_ALTERATION_DATE,
    ];
    let (values, warning) = inquire(&s, h, &mixed).unwrap();
    assert_eq!(warning, Reason::SELECTOR_NOT_FOR_TYPE);
    assert_eq!((values.ints.len(), values.chars.len()), (2, 48 + 12));
}

/// Selectors of one type of object through a handle of another, both ways, as the manual has them for MQINQ.
#[test]
fn selectors_of_another_type_of_object_are_errors() {
    let w = world();
    let s = w.connect();
    let (error, warning) = (
        Err(Reason::SELECTOR_ERROR),
        Ok(Reason::SELECTOR_NOT_FOR_TYPE),
    );
    for (kind, name, selector, expected) in [
        (ObjectKind::QLocal, "L", MQIA_MAX_HANDLES, error),
        (ObjectKind::QLocal, "L", MQCA_DEAD_LETTER_Q_NAME, error),
        (ObjectKind::QLocal, "L", MQCA_NAMES, error),
        (ObjectKind::QAlias, "A", MQIA_MAX_HANDLES, error),
        (ObjectKind::Qmgr, "QM1", MQIA_CURRENT_Q_DEPTH, error),
        (ObjectKind::Qmgr, "QM1", MQIA_Q_TYPE, error),
        (ObjectKind::Namelist, "N", MQIA_Q_TYPE, error),
        (ObjectKind::Process, "P", MQIA_MAX_HANDLES, error),
        (ObjectKind::QLocal, "L", MQCA_BASE_Q_NAME, warning),
        (ObjectKind::QAlias, "A", MQIA_CURRENT_Q_DEPTH, warning),
        (ObjectKind::QRemote, "R", MQIA_MAX_Q_DEPTH, warning),
    ] {
        let h = open_to_inquire(&s, kind, name);
        let found = inquire(&s, h, &[selector]).map(|(_, warning)| warning);
        assert_eq!(found, expected, "{selector} of {name}");
    }
}

#[test]
fn what_is_no_selector_is_an_error() {
    let w = world();
    let s = w.connect();
    for (kind, name) in KINDS {
        let h = open_to_inquire(&s, kind, name);
        for selector in [0, -1, MQIA_LAST, MQCA_LAST, 1999, 3000, i32::MAX, i32::MIN] {
            let refused = inquire(&s, h, &[selector]);
            assert_eq!(refused, Err(Reason::SELECTOR_ERROR), "{selector} of {name}");
        }
        let (nothing, warning) = inquire(&s, h, &[]).unwrap();
        assert_eq!(
            (nothing.ints.len(), nothing.chars.len(), warning),
            (0, 0, Reason::NONE)
        );
    }
}

/// Java clients ask every queue manager for its queue-sharing group.
#[test]
fn there_is_no_queue_sharing_group() {
    let w = world();
    let s = w.connect();
    let h = open_to_inquire(&s, ObjectKind::Qmgr, "QM1");
    let asked = [MQCA_QSG_NAME, MQCA_Q_MGR_NAME];
    let (values, warning) = inquire(&s, h, &asked).unwrap();
    assert_eq!((values.chars.len(), warning), (4 + 48, Reason::NONE));
    assert!(values.chars.starts_with(b"    QM1 "));
    let h = open_to_inquire(&s, ObjectKind::QLocal, "L");
    assert_eq!(
        inquire(&s, h, &[MQCA_QSG_NAME]),
        Err(Reason::SELECTOR_ERROR),
        "a queue has none"
    );
}

#[test]
fn the_state_of_the_moment_is_inquired() {
    let w = world();
    let s = w.connect();
    let h = open(&s, "L", IN_OUT | MQOO_INQUIRE);
    put(&s, h, 0, 0, b"1");
    put(&s, h, 0, MQPMO_SYNCPOINT, b"2");
    let now = [
        MQIA_CURRENT_Q_DEPTH,
        MQIA_OPEN_INPUT_COUNT,
        MQIA_OPEN_OUTPUT_COUNT,
    ];
    assert_eq!(inquire(&s, h, &now).unwrap().0.ints, [2, 1, 1]);
    open(&s, "A", IN_OUT);
    assert_eq!(inquire(&s, h, &now).unwrap().0.ints, [2, 2, 2]);
    // An alias has none of it.
    let a = open_to_inquire(&s, ObjectKind::QAlias, "A");
    let (values, warning) = inquire(&s, a, &now).unwrap();
    assert_eq!(
        (values.ints, warning),
        (vec![-1; 3], Reason::SELECTOR_NOT_FOR_TYPE)
    );
}

/// Inquiring through an alias that was opened for messages too is still about the alias.
#[test]
fn inquiry_is_about_the_object_that_was_opened() {
    let w = world();
    let s = w.connect();
    for options in [MQOO_INQUIRE, MQOO_INQUIRE | IN_OUT] {
        let h = open(&s, "A", options);
        let (values, _) = inquire(&s, h, &[MQIA_Q_TYPE, MQIA_DEF_PRIORITY]).unwrap();
        assert_eq!(values.ints, [MQQT_ALIAS, 3]);
    }
    for options in [MQOO_INQUIRE, MQOO_INQUIRE | MQOO_SET] {
        let h = open(&s, "R", options);
        let (values, _) = inquire(&s, h, &[MQIA_Q_TYPE]).unwrap();
        assert_eq!(values.ints, [MQQT_REMOTE]);
    }
}

/// A value that is not the default, for every attribute that MQSET may change.
#[test]
fn every_settable_attribute_can_be_set_and_stays() {
    let mut w = world();
    let values = |selector: i32| match selector {
        MQIA_INHIBIT_GET | MQIA_INHIBIT_PUT | MQIA_DIST_LISTS => 1,
        MQIA_TRIGGER_CONTROL => MQTC_ON,
        MQIA_TRIGGER_TYPE => MQTT_EVERY,
        MQIA_TRIGGER_DEPTH => 5,
        MQIA_TRIGGER_MSG_PRIORITY => 6,
        other => panic!("a settable attribute this test does not know: {other}"),
    };
    let mut count = 0;
    for (kind, name) in &KINDS[1..4] {
        let settable: Vec<_> = attributes(*kind).filter(|a| a.mqset).collect();
        assert!(!settable.is_empty(), "{name}");
        let s = w.connect();
        let h = open(&s, name, MQOO_SET | MQOO_INQUIRE);
        let (mut selectors, mut ints, mut chars) = (Vec::new(), Vec::new(), Vec::new());
        for attribute in settable {
            count += 1;
            selectors.push(attribute.selector);
            if is_int(attribute.selector) {
                ints.push(values(attribute.selector));
            } else {
                let text = format!("{:width$}", "new text", width = attribute.char_length);
                chars.extend(text.into_bytes());
            }
        }
        block_on(s.set(h, &selectors, &ints, &chars)).unwrap();
        let (now, _) = inquire(&s, h, &selectors).unwrap();
        assert_eq!((&now.ints, &now.chars), (&ints, &chars), "{name}");
        drop(s);
        w.crash();
        let s = w.connect();
        let h = open(&s, name, MQOO_INQUIRE);
        let (then, _) = inquire(&s, h, &selectors).unwrap();
        assert_eq!((&then.ints, &then.chars), (&ints, &chars), "{name}");
    }
    assert!(count >= 8, "{count}");
}

#[test]
fn a_set_changes_everything_or_nothing() {
    let w = world();
    let s = w.connect();
    let h = open(&s, "L", MQOO_SET | MQOO_INQUIRE);
    let selectors = [MQIA_INHIBIT_GET, MQIA_TRIGGER_DEPTH, MQCA_TRIGGER_DATA];
    let before = inquire(&s, h, &selectors).unwrap();
    let text = [b'x'; 64];
    for (ints, chars, reason) in [
        (&[1, 0][..], &text[..], Reason::TRIGGER_DEPTH_ERROR),
        (&[1], &text, Reason::INT_ATTR_COUNT_ERROR),
        (&[1, 2], &text[..63], Reason::CHAR_ATTR_LENGTH_ERROR),
    ] {
        let refused = block_on(s.set(h, &selectors, ints, chars));
        assert_eq!(refused.map(|_| ()), Err(reason));
        assert_eq!(inquire(&s, h, &selectors).unwrap(), before);
    }
    block_on(s.set(h, &selectors, &[1, 2], &text)).unwrap();
    let after = inquire(&s, h, &selectors).unwrap().0;
    assert_eq!((after.ints, after.chars), (vec![1, 2], text.to_vec()));
}

/// What MQSET changes takes effect at once, for those who wait as well.
#[test]
fn a_set_takes_effect_at_once() {
    let w = world();
    let (s, other) = (w.connect(), w.connect());
    let h = open(&s, "L", MQOO_SET);
    let o = open(&other, "L", IN_OUT);
    let set = |selector, value| {
        block_on(s.set(h, &[selector], &[value], &[])).unwrap();
    };
    let waiting = wait(&other, o, md(0), gmo(0));
    set(MQIA_INHIBIT_GET, MQQA_GET_INHIBITED);
    assert_eq!(waiting.finish().unwrap_err(), Reason::GET_INHIBITED);
    set(MQIA_INHIBIT_PUT, MQQA_PUT_INHIBITED);
    assert_eq!(
        try_put(&other, o, &mut md(0), 0, b""),
        Err(Reason::PUT_INHIBITED)
    );
    set(MQIA_INHIBIT_PUT, MQQA_PUT_ALLOWED);
    set(MQIA_INHIBIT_GET, MQQA_GET_ALLOWED);
    put(&other, o, 0, 0, b"x");
    assert_eq!(drain(&other, o), ["x"]);
}

/// The names of a namelist follow one another, each in a field of its own.
#[test]
fn a_namelist_gives_its_names_and_how_many_they_are() {
    let w = World::new();
    w.run("DEFINE NAMELIST(N) NAMES(FIRST, 'second')");
    let s = w.connect();
    let h = open_to_inquire(&s, ObjectKind::Namelist, "N");
    let (found, warning) = inquire(&s, h, &[MQIA_NAME_COUNT, MQCA_NAMES]).unwrap();
    assert_eq!((found.ints, warning), (vec![2], Reason::NONE));
    let names = format!("{:<48}{:<48}", "FIRST", "second");
    assert_eq!(String::from_utf8(found.chars).unwrap(), names);
    w.run("ALTER NAMELIST(N) NAMES()");
    let (found, _) = inquire(&s, h, &[MQIA_NAME_COUNT, MQCA_NAMES]).unwrap();
    assert_eq!((found.ints, found.chars), (vec![0], Vec::new()));
    let refused = inquire(&s, h, &[MQIA_Q_TYPE]);
    assert_eq!(refused, Err(Reason::SELECTOR_ERROR));
}
