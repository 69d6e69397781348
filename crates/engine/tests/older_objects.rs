//! Definitions as a release stored them that did not know most attributes of today: DISPLAY shows the defaults of what they
//! lack, and calls act on these.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_command::{Attrs, DefaultValue, Object, ObjectKind, attributes, render, shown};
use posthaste_engine::EndMode;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Od, Reason};
use posthaste_recovery_log::Class;
use world::*;

/// The log record of a definition (docs/internals/files.md, "Object"), with these attributes and no others.
fn store(w: &World, queue: u64, object: &Object) {
    let mut record = vec![5];
    record.extend_from_slice(&queue.to_le_bytes());
    record.push(object.kind.row().stored);
    record.extend_from_slice(&queue.to_le_bytes());
    record.push(u8::try_from(object.name.len()).unwrap());
    record.extend_from_slice(object.name.as_bytes());
    object.attrs.encode(&mut record);
    let log = w.qm().log();
    let appended = log.append(Class::Ordinary, &[&record]).unwrap();
    block_on(log.force(appended.end)).unwrap();
}

/// What a definition of a kind cannot do without.
fn given(w: &World, kind: ObjectKind) -> Attrs {
    let mut attrs = Attrs::default();
    let texts: &[(i32, &str)] = match kind {
        ObjectKind::Qmgr => &[(MQCA_Q_MGR_DESC, "kept")],
        ObjectKind::QAlias => &[(MQCA_BASE_OBJECT_NAME, "OLD.QLOCAL")],
        ObjectKind::QRemote => &[(MQCA_REMOTE_Q_NAME, "R"), (MQCA_REMOTE_Q_MGR_NAME, "QM2")],
        ObjectKind::ClntConn => &[(MQCACH_CONNECTION_NAME, "h(1)")],
        ObjectKind::Topic => &[(MQCA_TOPIC_STRING, "old")],
        ObjectKind::Sub => {
            // It has an identifier, which the queue manager makes.
            w.run("DEFINE SUB(OLD) TOPICSTR('old') DEST(OLD.QLOCAL)");
            let made = w.qm().object(kind, "OLD").unwrap();
            let id = made.attrs.get(MQBACF_SUB_ID).unwrap();
            attrs.set(MQBACF_SUB_ID, id.clone());
            &[
                (MQCA_TOPIC_STRING, "old"),
                (MQCACF_DESTINATION, "OLD.QLOCAL"),
            ]
        }
        _ => &[],
    };
    for (selector, text) in texts {
        attrs.set_text(*selector, *text);
    }
    attrs
}

fn name_of(kind: ObjectKind) -> String {
    match kind {
        ObjectKind::Qmgr => "QM1".to_owned(),
        ObjectKind::Sub => "OLD".to_owned(),
        // Channels have names of 20 characters.
        ObjectKind::QLocal => "OLD.QLOCAL".to_owned(),
        kind => format!("OLD.{}", kind.row().stored),
    }
}

/// Every default that a DISPLAY of the object must show.
fn is_shown_with_defaults(w: &World, kind: ObjectKind, given: &Attrs) {
    let command = match kind {
        ObjectKind::Qmgr => "DISPLAY QMGR ALL".to_owned(),
        kind => format!("DISPLAY {}({}) ALL", kind.noun(), name_of(kind)),
    };
    let reply = w.mqsc(&command);
    assert_eq!(reply.rows.len(), 1, "{command}: {reply:?}");
    let (row, text) = (&reply.rows[0].2, render(&reply));
    let mut seen = 0;
    for attribute in attributes(kind) {
        let of_count = matches!(attribute.default, DefaultValue::CountOf(_));
        let Some(default) = attribute.default.value().filter(|_| !of_count) else {
            continue;
        };
        let expected = match given.get(attribute.selector) {
            Some(value) => shown(attribute, value),
            None => shown(attribute, &default),
        };
        if attribute.is_switch() {
            let has = text.split_whitespace().any(|word| word == expected);
            assert!(has, "{expected}: {text}");
        } else if !attribute.secret {
            let found = row.shown(attribute.keyword);
            let found = found.unwrap_or_else(|| panic!("{command} has no {}", attribute.keyword));
            assert_eq!(
                found.trim(),
                expected.trim(),
                "{command} {}",
                attribute.keyword
            );
        }
        seen += 1;
    }
    assert!(seen > 1, "{command}");
}

/// What queues, topics, a subscription and the queue manager do by attributes that they were stored without.
fn act_on_defaults(w: &World) {
    let s = w.connect();
    // DEFSOPT(SHARED), SHARE: twice for input; DEFPSIST(NO); MSGDLVSQ(PRIORITY); GET and PUT(ENABLED).
    let q = open(&s, "OLD.QLOCAL", MQOO_INPUT_AS_Q_DEF | MQOO_OUTPUT);
    let again = open(&s, "OLD.QLOCAL", MQOO_INPUT_AS_Q_DEF);
    let mut as_defined = md(MQPER_PERSISTENCE_AS_Q_DEF);
    as_defined.priority = MQPRI_PRIORITY_AS_Q_DEF;
    send(&s, q, as_defined.clone(), 0, b"low");
    let urgent = Md {
        priority: 9,
        ..md(NOT_PERSISTENT)
    };
    let alias = name_of(ObjectKind::QAlias);
    put1(&s, &alias, &mut urgent.clone(), 0, b"high").unwrap();
    let taken = [next(&s, q, 0).unwrap(), next(&s, again, 0).unwrap()];
    assert_eq!(taken.clone().map(|one| one.text()), ["high", "low"]);
    let low = &taken[1].md;
    assert_eq!((low.persistence, low.priority), (NOT_PERSISTENT, 0));
    // MAXMSGL of the queue is 4 MiB.
    let long = vec![0; 4_194_305];
    let refused = try_put(&s, q, &mut md(NOT_PERSISTENT), 0, &long);
    assert!(refused.is_err(), "{refused:?}");
    // DEFPSIST(NO), PUT(ENABLED), and XMITQ is the queue that is called as RQMNAME.
    let remote = name_of(ObjectKind::QRemote);
    put1(&s, &remote, &mut as_defined.clone(), 0, b"away").unwrap();
    let away = open(&s, "QM2", MQOO_INPUT_SHARED);
    assert_eq!(next(&s, away, 0).unwrap().md.persistence, NOT_PERSISTENT);
    // DEFTYPE(TEMPDYN).
    let mut dynamic = Od {
        dynamic_q_name: posthaste_mqi::Name::new("D.*"),
        ..object(&name_of(ObjectKind::QModel))
    };
    let made = open_od(&s, &mut dynamic, MQOO_INPUT_SHARED).unwrap();
    close(&s, made, 0).unwrap();
    let made = w
        .qm()
        .object(ObjectKind::QLocal, &dynamic.object_name.text());
    assert!(made.is_none(), "it went with its handle");
    // PUB and SUB(ASPARENT), SUBLEVEL(1), PSPROP, REQONLY: a publication arrives once.
    let mut published = md(NOT_PERSISTENT);
    let mut od = topic("old");
    let data = bytes::Bytes::from_static(b"news");
    block_on(s.put1(&mut od, &mut published, &mut pmo(0), data)).unwrap();
    assert_eq!(next(&s, q, 0).unwrap().data.as_ref(), b"news");
    assert!(next(&s, q, 0).is_err());
    // MAXHANDS(256).
    let other = w.connect();
    let opened = std::iter::from_fn(|| try_open(&other, "OLD.QLOCAL", MQOO_OUTPUT).ok());
    let handles: Vec<Hobj> = opened.take(300).collect();
    assert_eq!(handles.len(), 256);
    let refused = try_open(&other, "OLD.QLOCAL", MQOO_OUTPUT);
    assert_eq!(refused, Err(Reason::HANDLE_NOT_AVAILABLE));
}

#[test]
fn what_older_objects_lack_is_shown_and_acted_on_by_its_default() {
    let mut w = World::light();
    w.run("DEFINE QLOCAL(QM2) USAGE(XMITQ)\nDEFINE QLOCAL(OLD.QLOCAL)");
    let kinds: Vec<_> = ObjectKind::ALL
        .into_iter()
        .filter(|kind| kind.noun() != "SAMPLE")
        .map(|kind| (kind, given(&w, kind)))
        .collect();
    w.run("DELETE SUB(OLD)\nDELETE QLOCAL(OLD.QLOCAL)");
    for (kind, attrs) in &kinds {
        let queue = match kind {
            ObjectKind::QLocal => 1_000_000,
            _ => 0,
        };
        let (name, attrs) = (name_of(*kind), attrs.clone());
        store(
            &w,
            queue,
            &Object {
                kind: *kind,
                name,
                attrs,
            },
        );
    }
    w.crash();
    // From the log, then from the image that was made of them.
    for _ in 0..2 {
        for (kind, attrs) in &kinds {
            is_shown_with_defaults(&w, *kind, attrs);
        }
        act_on_defaults(&w);
        w.end(EndMode::Immediate);
        w.start();
    }
}
