//! What MQSUB makes of a subscription that is there: what of it, whose it is then, and nothing where the call fails.
#![allow(clippy::unwrap_used)]

mod world;

use posthaste_command::{Attrs, Deletion, ObjectKind};
use posthaste_engine::{
    Application, ChangeError, QueueManager, Session, SubscribeOptions, SubscriptionStatus,
};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Reason, Sd, Sro};
use world::*;

/// What the Java client asks for, of a shared subscription.
const JMS: i32 = MQSO_CREATE | MQSO_ALTER | MQSO_MANAGED | MQSO_WILDCARD_TOPIC;

fn sd(options: i32, name: &str) -> Sd {
    Sd {
        options,
        sub_name: name.to_owned(),
        object_string: "a/b".to_owned(),
        ..Sd::default()
    }
}

fn sub(s: &Session, sd: &mut Sd, own: Hobj) -> Result<(Hobj, Hobj), Reason> {
    block_on(s.subscribe(sd, own)).map(|done| done.value)
}

fn as_user(w: &World, user: &str) -> Session {
    let who = Application {
        user: user.to_owned(),
        ..who("test")
    };
    w.qm().connect(who).unwrap()
}

fn the_only(w: &World) -> SubscriptionStatus {
    let mut all = w.qm().subscriptions(|_, _| true);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn user(w: &World) -> String {
    let attrs = the_only(w).definition.attrs;
    attrs.text(MQCACF_SUB_USER_ID).to_owned()
}

/// Publishes, and says in whose name that came.
fn published(s: &Session, hobj: Hobj) -> Chars<12> {
    let data = bytes::Bytes::from_static(b"text");
    block_on(s.put1(&mut topic("a/b"), &mut md(0), &mut pmo(0), data)).unwrap();
    next(s, hobj, 0).unwrap().md.user_identifier
}

#[test]
fn who_joins_a_shared_subscription_of_any_user_leaves_it_its_user() {
    let join = |s: &Session, options: i32| {
        let with = SubscribeOptions {
            shared: true,
            open_options: 0x2029,
            joins: None,
        };
        let done = block_on(s.subscribe_with(&mut sd(options, "S"), Hobj::NONE, with));
        done.map(|done| done.value)
    };
    for durable in [0, MQSO_DURABLE] {
        let w = World::light();
        let (s, other) = (w.connect(), as_user(&w, "other"));
        let any = JMS | durable | MQSO_ANY_USERID;
        let (first, _) = join(&s, any).unwrap();
        for options in [any, any & !MQSO_ANY_USERID] {
            let (hobj, hsub) = join(&other, options).unwrap();
            assert_eq!(user(&w), "tester", "{options:#x}");
            assert_eq!(published(&other, hobj), Chars::new("tester"));
            close(&other, hobj, 0).unwrap();
            close(&other, hsub, 0).unwrap();
        }
        // Who says that it is to be one user's is that one.
        let fixed = JMS | durable | MQSO_FIXED_USERID;
        join(&other, fixed).unwrap();
        assert_eq!(user(&w), "other");
        assert_eq!(published(&s, first), Chars::new("other"));
        assert_eq!(join(&s, any), Err(Reason::IDENTITY_MISMATCH));
    }
    // One that is not shared is taken over.
    let w = World::light();
    let (s, other) = (w.connect(), as_user(&w, "other"));
    let any = JMS | MQSO_DURABLE | MQSO_ANY_USERID;
    let (_, hsub) = sub(&s, &mut sd(any, "S"), Hobj::NONE).unwrap();
    close(&s, hsub, 0).unwrap();
    sub(&other, &mut sd(any, "S"), Hobj::NONE).unwrap();
    assert_eq!(user(&w), "other");
}

/// A client of JMS that says none asks for a subscription without one (JMS 2.0, 8.7: another selector is another subscription).
#[test]
fn a_client_of_jms_is_refused_whose_selector_is_another_or_none() {
    let w = World::light();
    let s = w.connect();
    let asks = |selector: &str| {
        let mut sd = Sd {
            selection_string: selector.to_owned(),
            ..sd(JMS | MQSO_DURABLE, "S")
        };
        let with = SubscribeOptions {
            open_options: 0x2029,
            ..SubscribeOptions::default()
        };
        let (hobj, hsub) = block_on(s.subscribe_with(&mut sd, Hobj::NONE, with))?.value;
        close(&s, hobj, 0)?;
        close(&s, hsub, 0)
    };
    let refused = Err(Reason::SELECTOR_NOT_ALTERABLE);
    for (first, others) in [("a = 1", ["", "a = 2"]), ("", ["a = 1", "a = 2"])] {
        asks(first).unwrap();
        for other in others {
            assert_eq!(asks(other), refused, "{first} {other}");
        }
        asks(first).unwrap();
        // MQSUB that says nothing of it leaves it as it is.
        let mut altered = sd(MQSO_ALTER | MQSO_DURABLE | MQSO_MANAGED, "S");
        let (_, hsub) = sub(&s, &mut altered, Hobj::NONE).unwrap();
        close(&s, hsub, MQCO_REMOVE_SUB).unwrap();
    }
}

/// A subscription for a queue that somebody else has for himself.
#[test]
fn a_call_that_cannot_open_the_queue_alters_nothing() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let (s, other, keeper) = (w.connect(), as_user(&w, "other"), w.connect());
    for durable in [MQSO_DURABLE, 0] {
        let browser = open(&s, "Q", MQOO_BROWSE);
        let made = MQSO_CREATE | durable | MQSO_ANY_USERID;
        let (_, hsub) = sub(&s, &mut sd(made, "S"), browser).unwrap();
        let kept = open(&keeper, "Q", MQOO_INPUT_EXCLUSIVE);
        let before = the_only(&w);
        let fails = |s: &Session, options: i32| {
            let mut asked = sd(options | durable, "S");
            asked.sub_user_data = "new".to_owned();
            let failed = sub(s, &mut asked, Hobj::NONE).err();
            let after = the_only(&w);
            assert_eq!(after.definition, before.definition, "{options:#x}");
            assert_eq!(
                (after.altered, after.resumed),
                (before.altered, before.resumed)
            );
            assert_eq!(asked.sub_user_data, "new");
            failed
        };
        let gone = Some(Reason::INVALID_DESTINATION);
        for options in [MQSO_ALTER, MQSO_ALTER | MQSO_CREATE | MQSO_FIXED_USERID] {
            assert_eq!(fails(&s, options), gone);
        }
        // What cannot be altered is told first, as where the queue can be opened.
        let level = sub(
            &s,
            &mut Sd {
                sub_level: 2,
                ..sd(MQSO_ALTER | durable, "S")
            },
            Hobj::NONE,
        );
        assert_eq!(level, Err(Reason::SUBLEVEL_NOT_ALTERABLE));
        if durable != 0 {
            close(&s, hsub, MQCO_KEEP_SUB).unwrap();
            for options in [MQSO_ALTER, MQSO_RESUME] {
                assert_eq!(fails(&other, options), gone, "takes it over");
            }
            assert!(the_only(&w).connections.is_empty());
            let resumed = sub(&s, &mut sd(MQSO_RESUME, "S"), browser);
            assert!(the_only(&w).resumed > before.resumed);
            close(&s, resumed.unwrap().1, MQCO_REMOVE_SUB).unwrap();
        } else {
            close(&s, hsub, 0).unwrap();
        }
        close(&keeper, kept, 0).unwrap();
        close(&s, browser, 0).unwrap();
    }
    // Nothing is left of the handles that were tried.
    w.run("DELETE QLOCAL(Q)");
}

#[test]
fn a_call_that_may_not_have_the_messages_alters_nothing() {
    let (w, _) = authorising::world(false);
    w.run("DEFINE QLOCAL(Q)");
    let topic = "SYSTEM.BASE.TOPIC";
    let subscribes = [
        ("QMGR", "self", "CONNECT"),
        ("TOPIC", topic, "SUB"),
        ("TOPIC", topic, "RESUME"),
        ("QUEUE", "Q", "PUT"),
        ("QUEUE", "Q", "BROWSE"),
    ];
    authorising::grant(&w, &[&subscribes[..], &[("QUEUE", "Q", "GET")]].concat());
    let s = authorising::admit(&w, "app").unwrap();
    let q = open(&s, "Q", MQOO_INPUT_SHARED);
    let (_, hsub) = sub(&s, &mut sd(MQSO_CREATE | MQSO_DURABLE, "S"), q).unwrap();
    close(&s, hsub, MQCO_KEEP_SUB).unwrap();
    let before = the_only(&w);
    authorising::grant(&w, &subscribes);
    let s = authorising::admit(&w, "app").unwrap();
    let mut alter = sd(MQSO_ALTER | MQSO_DURABLE, "S");
    alter.sub_user_data = "new".to_owned();
    let refused = sub(&s, &mut alter, Hobj::NONE);
    assert_eq!(refused, Err(Reason::NOT_AUTHORIZED));
    assert_eq!(the_only(&w).definition, before.definition);
    w.run("ALTER QMGR MAXHANDS(1)");
    let refused = sub(&s, &mut alter, Hobj::NONE);
    assert_eq!(refused, Err(Reason::HANDLE_NOT_AVAILABLE));
    assert_eq!(the_only(&w).definition, before.definition);
}

/// Somebody is deleting it: nobody else is told that it is gone before a crash cannot bring it back.
#[test]
fn who_is_told_that_there_is_no_subscription_finds_none_after_a_crash() {
    let w = World::pausable();
    let (s, other) = (w.connect(), w.connect());
    let managed = MQSO_CREATE | MQSO_DURABLE | MQSO_MANAGED;
    let (_, hsub) = sub(&s, &mut sd(managed, "S"), Hobj::NONE).unwrap();
    let id = the_only(&w).id;
    w.stage.pause();
    let qm = || w.qm().clone();
    let delete = |qm: QueueManager| async move {
        let how = Deletion::default();
        qm.delete(ObjectKind::Sub, "S", how).await
    };
    let deleted = Call::begin(delete(qm()));
    let resumed = Call::begin(async move {
        let mut sd = sd(MQSO_RESUME, "S");
        other.subscribe(&mut sd, Hobj::NONE).await.map(drop)
    });
    let requested = Call::begin(async move {
        let mut sro = Sro::default();
        let action = MQSR_ACTION_PUBLICATION;
        let sent = s.subscription_request(hsub, action, &mut sro).await;
        sent.map(drop)
    });
    let (of_alter, of_end) = (qm(), qm());
    let commands = [
        Call::begin(delete(qm())),
        Call::begin(async move {
            let nothing = Attrs::default();
            of_alter.alter(ObjectKind::Sub, "S", &nothing, false).await
        }),
        Call::begin(async move { of_end.end_subscription(&id).await }),
    ];
    w.stage.resume();
    assert_eq!(resumed.finish(), Err(Reason::NO_SUBSCRIPTION));
    assert_eq!(requested.finish(), Err(Reason::INVALID_SUBSCRIPTION));
    for command in commands {
        assert_eq!(command.finish(), Err(ChangeError::NotFound));
    }
    deleted.finish().unwrap();
}
