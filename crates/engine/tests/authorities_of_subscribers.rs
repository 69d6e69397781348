//! Subscriptions between two users: who ends another's, and who gets its messages beside him.

#![allow(clippy::unwrap_used)]

mod world;

use posthaste_engine::{Application, Session, SubscribeOptions};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Reason, Sd};
use world::authorising::*;
use world::*;

const DURABLE: i32 = MQSO_DURABLE | MQSO_MANAGED;
const CONNECTS: Grant = ("QMGR", "self", "CONNECT");
const RESUMES: Grant = ("TOPIC", "SYSTEM.BASE.TOPIC", "RESUME");
const SUBSCRIBES: Grant = ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB");

/// The handle on the subscription.
fn hsub(s: &Session, mut sd: Sd) -> Hobj {
    block_on(s.subscribe(&mut sd, Hobj::NONE)).unwrap().value.1
}

fn leaves(s: &Session, hsub: Hobj) {
    close(s, hsub, MQCO_NONE).unwrap();
}

fn subscriptions(w: &World) -> usize {
    w.qm().subscriptions(|_, _| true).len()
}

#[test]
fn whoever_may_only_resume_ends_no_subscription() {
    let (w, users) = world(false);
    users.set("gate", &["gates"]);
    let boss = admit(&w, "boss").unwrap();
    grant(&w, &[CONNECTS, RESUMES]);
    let app = admit(&w, "app").unwrap();
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(CONNECT,ALTUSR)");
    let gate = admit(&w, "gate").unwrap();
    let of_any = sd(MQSO_CREATE | DURABLE | MQSO_ANY_USERID, "S");
    let resumes = || sd(MQSO_RESUME | DURABLE, "S");
    let for_app = || Sd {
        alternate_user_id: Chars::new("app"),
        ..sd(MQSO_RESUME | DURABLE | MQSO_ALTERNATE_USER_AUTHORITY, "S")
    };
    let refused = Err(Reason::NOT_AUTHORIZED);
    leaves(&boss, hsub(&boss, of_any.clone()));
    for (s, resumes) in [(&app, resumes()), (&gate, for_app())] {
        let resumed = hsub(s, resumes);
        assert_eq!(close(s, resumed, MQCO_REMOVE_SUB), refused);
        let inserts = ["app", "sub", "topic", "news/today/sports"];
        assert_eq!(w.last_inserts("AMQ8077W"), inserts);
        assert_eq!(subscriptions(&w), 1);
        // The handle is there as before.
        leaves(s, resumed);
    }
    for (s, resumes) in [(&app, resumes()), (&gate, for_app())] {
        grant(&w, &[CONNECTS, RESUMES, SUBSCRIBES]);
        w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(CONNECT,ALTUSR)");
        let resumed = hsub(s, resumes);
        close(s, resumed, MQCO_REMOVE_SUB).unwrap();
        assert_eq!(subscriptions(&w), 0);
        leaves(&boss, hsub(&boss, of_any.clone()));
    }
}

#[test]
fn a_subscription_that_became_anothers_alone_is_not_ended_by_a_handle_from_before() {
    let (w, _) = world(false);
    let boss = admit(&w, "boss").unwrap();
    grant(&w, &[CONNECTS, SUBSCRIBES]);
    let app = admit(&w, "app").unwrap();
    let of_any = sd(MQSO_CREATE | DURABLE | MQSO_ANY_USERID, "S");
    leaves(&boss, hsub(&boss, of_any));
    let resumed = hsub(&app, sd(MQSO_RESUME | DURABLE, "S"));
    w.run("ALTER SUB(S) SUBUSER('boss') VARUSER(FIXED)");
    let ended = close(&app, resumed, MQCO_REMOVE_SUB);
    assert_eq!(ended, Err(Reason::NOT_AUTHORIZED));
    assert_eq!(w.last_inserts("AMQ8077W"), ["app", "chg", "qmgr", "QM1"]);
    assert_eq!(subscriptions(&w), 1);
    leaves(&app, resumed);
    w.run("DELETE SUB(S)");
    // His own that is his alone he ends, whatever he may do besides.
    let own = hsub(&app, sd(MQSO_CREATE | DURABLE, "S"));
    grant(&w, &[CONNECTS]);
    close(&app, own, MQCO_REMOVE_SUB).unwrap();
    assert_eq!(subscriptions(&w), 0);
}

/// Sessions of a connection consumer use their subscription beside it, by its identifier, which is no secret.
#[test]
fn a_subscription_in_use_is_joined_by_its_user_alone() {
    let (w, _) = world(false);
    grant(&w, &[CONNECTS, RESUMES]);
    let boss = admit(&w, "boss").unwrap();
    // By another way, as a balancer gives it.
    let elsewhere = Application {
        user: "boss".to_owned(),
        conname: "192.0.2.1".to_owned(),
        ..who("test")
    };
    let session = block_on(w.qm().admit(elsewhere)).unwrap();
    let app = admit(&w, "app").unwrap();
    let of_any = sd(MQSO_CREATE | DURABLE | MQSO_ANY_USERID, "S");
    let used = hsub(&boss, of_any);
    let with = SubscribeOptions {
        joins: Some(boss.subscription_id(used).unwrap()),
        ..SubscribeOptions::default()
    };
    let joins = |s: &Session| {
        let mut sd = sd(MQSO_RESUME | DURABLE, "");
        let joined = block_on(s.subscribe_with(&mut sd, Hobj::NONE, with))?;
        Ok::<_, Reason>(joined.value.1)
    };
    let beside = joins(&session).unwrap();
    let user = || {
        let of = &w.qm().subscriptions(|_, _| true)[0].definition.attrs;
        of.text(MQCACF_SUB_USER_ID).to_owned()
    };
    assert_eq!(joins(&app), Err(Reason::SUBSCRIPTION_IN_USE));
    assert_eq!(user(), "boss");
    leaves(&boss, used);
    assert_eq!(joins(&app), Err(Reason::SUBSCRIPTION_IN_USE));
    // That nobody uses is resumed, as by its name.
    leaves(&session, beside);
    leaves(&app, joins(&app).unwrap());
    assert_eq!(user(), "app");
}
