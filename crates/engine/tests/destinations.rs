//! Where the messages of subscriptions go: what becomes of a subscription and of its queue when what they were defined
//! with changes or ends.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Reason, Sd};
use world::*;

const DURABLE: i32 = MQSO_CREATE | MQSO_DURABLE;

fn subscribe(s: &Session, sd: &Sd, own: Hobj) -> (Hobj, Hobj) {
    let managed = match own == Hobj::NONE {
        true => MQSO_MANAGED,
        false => 0,
    };
    let mut sd = Sd {
        options: sd.options | managed,
        ..sd.clone()
    };
    block_on(s.subscribe(&mut sd, own)).unwrap().value
}

fn sd(options: i32, name: &str, topic: &str) -> Sd {
    Sd {
        options,
        sub_name: name.to_owned(),
        object_string: topic.to_owned(),
        ..Sd::default()
    }
}

fn publish(s: &Session, topic: &str, persistence: i32, text: &str) -> Result<Reason, Reason> {
    let mut od = world::topic(topic);
    let h = open_od(s, &mut od, MQOO_OUTPUT).unwrap();
    let data = Bytes::from(text.to_owned());
    let done = block_on(s.put(h, &mut md(persistence), &mut pmo(0), data));
    close(s, h, 0).unwrap();
    done.map(|done| done.warning)
}

fn managed_queues(w: &World) -> Vec<(String, u32)> {
    let all = w
        .qm()
        .queue_statuses(|name| name.starts_with("SYSTEM.MANAGED."));
    all.into_iter()
        .map(|status| (status.0, status.1.depth))
        .collect()
}

fn names(w: &World) -> Vec<String> {
    let all = w.qm().subscriptions(|_, _| true).into_iter();
    all.map(|status| status.definition.name).collect()
}

/// A topic object gives a subscription its topic string when that is made, and is not asked again.
#[test]
fn a_topic_object_that_is_deleted_takes_no_subscription_with_it() {
    let mut w = World::light();
    w.run("DEFINE TOPIC(T) TOPICSTR('a')");
    let s = w.connect();
    let of_object = Sd {
        object_name: Name::new("T"),
        ..sd(DURABLE, "S", "b")
    };
    subscribe(&s, &of_object, Hobj::NONE);
    w.run("DEFINE SUB(ADMIN) TOPICOBJ(T) TOPICSTR('b') DESTCLAS(MANAGED)");
    assert_eq!(publish(&s, "a/b", PERSISTENT, "before"), Ok(Reason::NONE));
    w.run("DELETE TOPIC(T)\nDEFINE TOPIC(T) TOPICSTR('other')");
    w.run("ALTER SUB(S) USERDATA('x')\nALTER SUB(ADMIN) USERDATA('x')");
    w.run("DELETE TOPIC(T)");
    w.run("ALTER SUB(S) USERDATA('y')\nALTER SUB(ADMIN) USERDATA('y')");
    assert_eq!(publish(&s, "a/b", PERSISTENT, "altered"), Ok(Reason::NONE));
    drop(s);
    for crashes in 0..2 {
        match crashes {
            0 => w.crash(),
            _ => w.restart(),
        }
        let depths: Vec<u32> = managed_queues(&w).iter().map(|queue| queue.1).collect();
        assert_eq!((names(&w).len(), depths), (2, vec![2 + crashes; 2]));
        let s = w.connect();
        assert_eq!(publish(&s, "a/b", PERSISTENT, "after"), Ok(Reason::NONE));
    }
}

#[test]
fn a_managed_queue_stays_the_destination_of_its_subscription() {
    let mut w = World::light();
    let s = w.connect();
    subscribe(&s, &sd(DURABLE, "S", "t"), Hobj::NONE);
    assert_eq!(publish(&s, "t", PERSISTENT, "one"), Ok(Reason::NONE));
    let own = put1(&s, LOCAL, &mut md(PERSISTENT), 0, b"mine");
    own.unwrap();
    for change in [format!("DEST({LOCAL})"), "DESTQMGR(ELSEWHERE)".to_owned()] {
        let reply = w.mqsc(&format!("ALTER SUB(S) {change}"));
        assert_eq!(reply.reason, Reason::CCF_DEST_NAME_ERROR, "{reply:?}");
    }
    drop(s);
    w.crash();
    assert_eq!(
        managed_queues(&w)
            .iter()
            .map(|queue| queue.1)
            .collect::<Vec<_>>(),
        [1]
    );
    w.run("DELETE SUB(S)");
    assert_eq!((managed_queues(&w).len(), w.depth(LOCAL)), (0, 1));
}

#[test]
fn an_alteration_names_a_queue_that_there_is() {
    let w = World::light();
    w.run(&format!("DEFINE SUB(S) TOPICSTR('t') DEST({LOCAL})"));
    let reply = w.mqsc("ALTER SUB(S) DEST(NONE)");
    assert_eq!(reply.reason, Reason::CCF_INVALID_DESTINATION, "{reply:?}");
    let reply = w.mqsc("ALTER SUB(S) DEST(' ')");
    assert_eq!(reply.reason, Reason::CCF_DEST_NAME_ERROR, "{reply:?}");
    w.run("DEFINE QLOCAL(Q2)\nALTER SUB(S) DEST(Q2)");
    let s = w.connect();
    assert_eq!(publish(&s, "t", PERSISTENT, "one"), Ok(Reason::NONE));
    assert_eq!((w.depth(LOCAL), w.depth("Q2")), (0, 1));
}

/// An alias queue forbids what its queue allows, and may lead elsewhere later.
#[test]
fn an_alias_queue_is_followed_whenever_something_is_published() {
    let mut w = World::with_dead_letters();
    w.run("DEFINE QLOCAL(Q1)\nDEFINE QLOCAL(Q2)\nDEFINE QALIAS(A) TARGET(Q1)");
    let s = w.connect();
    let own = open(&s, "A", MQOO_INPUT_SHARED);
    subscribe(&s, &sd(DURABLE, "S", "t"), own);
    let depths = |w: &World| ["Q1", "Q2", DEAD].map(|queue| w.depth(queue));
    let mut expected = [0, 0, 0];
    for (change, at) in [
        ("ALTER QALIAS(A) TARGET(Q1)", 0),
        ("ALTER QALIAS(A) PUT(DISABLED)", 2),
        ("ALTER QALIAS(A) PUT(ENABLED) TARGET(Q2) FORCE", 1),
    ] {
        w.run(change);
        expected[at] += 1;
        assert_eq!(publish(&s, "t", PERSISTENT, "one"), Ok(Reason::NONE));
        assert_eq!(depths(&w), expected, "{change}");
    }
    drop(s);
    w.crash();
    let s = w.connect();
    assert_eq!(publish(&s, "t", PERSISTENT, "one"), Ok(Reason::NONE));
    assert_eq!(depths(&w), [1, 2, 1]);
}

/// Nobody takes a queue away from the subscription that it was made for.
#[test]
fn a_managed_queue_goes_with_its_subscription_only() {
    let mut w = World::light();
    let s = w.connect();
    let (hobj, hsub) = subscribe(&s, &sd(DURABLE, "S", "t"), Hobj::NONE);
    let queue = managed_queues(&w)[0].0.clone();
    let mine = open(&s, &queue, MQOO_OUTPUT);
    assert_eq!(publish(&s, "t", PERSISTENT, "one"), Ok(Reason::NONE));
    for handle in [hobj, mine] {
        for options in [MQCO_DELETE, MQCO_DELETE_PURGE] {
            let closed = close(&s, handle, options);
            assert_eq!(closed, Err(Reason::OPTION_NOT_VALID_FOR_TYPE));
        }
        close(&s, handle, 0).unwrap();
    }
    assert_eq!(w.qm().check(), Ok(()));
    close(&s, hsub, MQCO_KEEP_SUB).unwrap();
    let delete = format!("DELETE QLOCAL({queue}) PURGE");
    assert_eq!(w.mqsc(&delete).reason, Reason::OBJECT_IN_USE);
    drop(s);
    w.crash();
    assert_eq!(w.mqsc(&delete).reason, Reason::OBJECT_IN_USE);
    assert_eq!(managed_queues(&w), [(queue, 1)]);
    assert_eq!(w.qm().check(), Ok(()));
    w.run("DELETE SUB(S)");
    assert!(managed_queues(&w).is_empty());
    assert_eq!(w.qm().check(), Ok(()));
}
