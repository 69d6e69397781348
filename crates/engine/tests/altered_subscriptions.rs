//! What MQSUB makes of a subscription that is there: what of it, whose it is then, and nothing where the call fails.
#![allow(clippy::unwrap_used)]

mod world;

use posthaste_engine::{Application, Session, SubscribeOptions, SubscriptionStatus};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Reason, Sd};
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
