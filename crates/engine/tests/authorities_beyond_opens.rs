//! Authorities where no call opens anything: reports, the records of dynamic queues, what a DISPLAY names, whose a subscription is.

#![allow(clippy::unwrap_used)]

mod world;

use std::sync::Barrier;
use std::time::{Duration, Instant};

use bytes::Bytes;
use posthaste_admin::Admin;
use posthaste_authority::Authority;
use posthaste_command::{Attrs, ObjectKind, parse, render};
use posthaste_engine::{Application, NewDefinition, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Gmo, Hobj, Md, Name, Od, Reason, Sd};
use world::authorising::*;
use world::*;

/// A put on Q of a message that asks for reports on REPLIES.
fn asks(s: &Session, report: i32, persistence: i32, expiry: i32) {
    let mut md = Md {
        report,
        persistence,
        expiry,
        reply_to_q: Name::new("REPLIES"),
        ..Md::default()
    };
    let (mut od, mut pmo) = (object("Q"), pmo(0));
    let put = s.put1(&mut od, &mut md, &mut pmo, Bytes::new());
    block_on(put).unwrap();
}

fn gets(s: &Session, queue: &str) -> Result<Md, Reason> {
    let handle = try_open(s, queue, MQOO_INPUT_SHARED)?;
    let (mut md, mut gmo) = (Md::default(), Gmo::default());
    let got = block_on(s.get(handle, &mut md, &mut gmo, 1 << 20));
    close(s, handle, MQCO_NONE)?;
    got.map(|_| md)
}

/// Reports are put by the authority of the user in the message, and to the dead-letter queue where that does not suffice.
#[test]
fn reports_go_where_their_messages_user_may_put() {
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(REPLIES)\nDEFINE QLOCAL(DEAD)\nALTER QMGR DEADQ(DEAD)");
    let own: &[Grant] = &[
        ("QMGR", "self", "CONNECT"),
        ("QUEUE", "Q", "PUT"),
        ("QUEUE", "Q", "GET"),
    ];
    let reports = MQRO_COA | MQRO_COD;
    let cases: &[(&[Grant], u32)] = &[
        (&[], 0),
        (&[("QUEUE", "REPLIES", "PUT")], 0),
        (&[("QUEUE", "REPLIES", "PASSID")], 0),
        (
            &[("QUEUE", "REPLIES", "PUT"), ("QUEUE", "REPLIES", "PASSID")],
            2,
        ),
    ];
    for (more, arrive) in cases {
        for persistence in [0, 1] {
            grant(&w, &[own, more].concat());
            let s = admit(&w, "app").unwrap();
            asks(&s, reports, persistence, MQEI_UNLIMITED);
            // Another user gets it: the report is its sender's all the same.
            gets(&admit(&w, "boss").unwrap(), "Q").unwrap();
            let found = (w.depth("REPLIES"), w.depth("DEAD"));
            assert_eq!(found, (*arrive, 2 - arrive), "{more:?}");
            w.run("CLEAR QLOCAL(REPLIES)\nCLEAR QLOCAL(DEAD)");
        }
    }
    // Who that is is not known at the moment when it expires: it stays, and nobody is given it.
    let s = admit(&w, "app").unwrap();
    asks(&s, MQRO_EXPIRATION, 1, 1);
    let boss = admit(&w, "boss").unwrap();
    let queue = try_open(&boss, "Q", MQOO_INPUT_SHARED).unwrap();
    *users.silent.lock() = true;
    let gets_none = || {
        let (mut md, mut gmo) = (Md::default(), Gmo::default());
        block_on(boss.get(queue, &mut md, &mut gmo, 1 << 20)).is_err()
    };
    let wall = || w.env.clock.wall_micros();
    let expired = wall() + 200_000;
    until("its time", || wall() > expired);
    assert!(gets_none() && gets_none());
    assert_eq!(
        (w.depth("Q"), w.depth("REPLIES"), w.depth("DEAD")),
        (1, 0, 0)
    );
    *users.silent.lock() = false;
    until("its report", || gets_none() && w.depth("REPLIES") == 1);
    assert_eq!((w.depth("Q"), w.depth("DEAD")), (0, 0));
}

/// The reports on the copies of a publication wait for what is known of its publisher together, and not for ever.
#[test]
fn a_publication_waits_once_for_the_user_of_all_its_reports() {
    const SUBSCRIBERS: [&str; 3] = ["app", "other", "boss"];
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(REPLIES)\nDEFINE QLOCAL(DEAD)\nALTER QMGR DEADQ(DEAD)");
    for user in SUBSCRIBERS {
        w.run(&format!(
            "DEFINE QLOCAL('S.{user}')\nDEFINE SUB('{user}') TOPICSTR('t') DEST('S.{user}') SUBUSER('{user}')"
        ));
    }
    let s = admit(&w, "boss").unwrap();
    let to = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    let asks = Md {
        report: MQRO_COA,
        reply_to_q: Name::new("REPLIES"),
        ..md(0)
    };
    *users.hung.lock() = vec!["boss"];
    let began = Instant::now();
    send(&s, to, asks, 0, b"");
    assert!(began.elapsed() < Duration::from_secs(10));
    for user in SUBSCRIBERS {
        assert_eq!(w.depth(&format!("S.{user}")), 1);
    }
    // He may put there, were it known who he is.
    assert_eq!((w.depth("REPLIES"), w.depth("DEAD")), (0, 3));
}

/// Where nobody can say who somebody is, nobody is refused for it: that is another reason, and nothing is kept of it.
#[test]
fn who_nobody_knows_at_present_gets_another_reason() {
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    grant(&w, &[("QMGR", "self", "CONNECT"), ("QUEUE", "Q", "PUT")]);
    let s = admit(&w, "app").unwrap();
    *users.silent.lock() = true;
    assert_eq!(admit(&w, "app").err(), Some(Reason::SECURITY_ERROR));
    let opened = opens(&s, "Q", MQOO_OUTPUT);
    assert_eq!(opened, Err(Reason::SECURITY_ERROR));
    *users.silent.lock() = false;
    assert_eq!(opens(&s, "Q", MQOO_OUTPUT), Ok(()));
}

/// Whoever may make dynamic queues takes away no records that an administrator has set for such a name.
#[test]
fn records_that_were_there_before_a_dynamic_queue_stay() {
    let (w, _) = world(false);
    w.run("DEFINE QMODEL(MODEL)\nDEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)");
    let mut grants = vec![("QMGR", "self", "CONNECT")];
    for model in ["MODEL", "PERMANENT"] {
        grants.extend([("QUEUE", model, "GET"), ("QUEUE", model, "DSP")]);
    }
    grant(&w, &grants);
    w.run(
        "SET AUTHREC PROFILE(D.MODEL) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(INQ)
         SET AUTHREC PROFILE(D.PERMANENT) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(INQ,GET)
         SET AUTHREC PROFILE(D.MODEL) OBJTYPE(QUEUE) GROUP('others') AUTHADD(BROWSE)
         SET AUTHREC PROFILE(D.PERMANENT) OBJTYPE(QUEUE) GROUP('others') AUTHADD(BROWSE)",
    );
    let second = |micros: i64| micros / 1_000_000;
    let wall = || w.env.clock.wall_micros();
    let now = second(wall());
    until("another second", || second(wall()) > now);
    let s = admit(&w, "app").unwrap();
    for model in ["MODEL", "PERMANENT"] {
        let mut od = Od {
            dynamic_q_name: Name::new(&format!("D.{model}")),
            ..object(model)
        };
        let handle = open_od(&s, &mut od, MQOO_INPUT_SHARED).unwrap();
        let name = od.object_name.text().into_owned();
        w.run(&format!(
            "SET AUTHREC PROFILE({name}) OBJTYPE(QUEUE) GROUP('extra') AUTHADD(PUT)"
        ));
        if model == "PERMANENT" {
            // What is taken away meanwhile does not come back.
            w.run(&format!(
                "SET AUTHREC PROFILE({name}) OBJTYPE(QUEUE) GROUP('staff') AUTHRMV(GET)"
            ));
        }
        assert!(authorities(&w, "staff", &name).contains("CHG"), "{model}");
        close(&s, handle, MQCO_DELETE).unwrap();
        assert_eq!(authorities(&w, "others", &name), "BROWSE", "{model}");
        // That is for whoever makes the queue again, where it is made again and again.
        let since = if model == "MODEL" { "PUT" } else { "NONE" };
        assert_eq!(authorities(&w, "extra", &name), since, "{model}");
    }
    assert_eq!(authorities(&w, "staff", "D.MODEL"), "INQ");
    assert_eq!(authorities(&w, "staff", "D.PERMANENT"), "INQ");
}

/// Nobody learns by patterns what there is that may not be displayed, nor by whom it is open.
#[test]
fn what_may_not_be_displayed_is_not_named() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(SECRET)\nDEFINE QLOCAL(SEEN)\nDEFINE TOPIC(SECRET) TOPICSTR('secret')");
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("QUEUE", "SEEN", "DSP"),
        ],
    );
    let text = |text: &str| render(&command(&w, "app", text));
    let boss = admit(&w, "boss").unwrap();
    try_open(&boss, "SECRET", MQOO_OUTPUT).unwrap();
    try_open(&boss, "SEEN", MQOO_OUTPUT).unwrap();
    let mut sd = Sd {
        object_string: "secret".to_owned(),
        ..sd(MQSO_CREATE | MQSO_MANAGED, "")
    };
    block_on(boss.subscribe(&mut sd, Hobj::NONE)).unwrap();
    for (some, none) in [
        ("DISPLAY QUEUE(SEC*)", "DISPLAY QUEUE(NON*)"),
        ("DISPLAY QSTATUS(SEC*)", "DISPLAY QSTATUS(NON*)"),
        (
            "DISPLAY QSTATUS(SEC*) TYPE(HANDLE)",
            "DISPLAY QSTATUS(NON*) TYPE(HANDLE)",
        ),
        ("DISPLAY TOPIC(SEC*)", "DISPLAY TOPIC(NON*)"),
        ("DISPLAY TPSTATUS('sec/#')", "DISPLAY TPSTATUS('non/#')"),
    ] {
        let (some, none) = (text(some), text(none));
        assert_eq!(some.replace("SEC*", "NON*").replace("sec/#", "non/#"), none);
    }
    // One object that is named is as it is for MQOPEN: 2035, and not 2085.
    assert!(text("DISPLAY QUEUE(SECRET)").contains("AMQ2431E"));
    let handles = text("DISPLAY CONN(*) TYPE(HANDLE) ALL");
    assert!(
        handles.contains("SEEN") && !handles.to_lowercase().contains("secret"),
        "{handles}"
    );
    let all = render(&w.mqsc("DISPLAY CONN(*) TYPE(HANDLE) ALL"));
    assert!(
        all.contains("OBJNAME(SECRET)") && all.contains("TOPICSTR(secret)"),
        "{all}"
    );
}

/// What a command asks of an object that may not be displayed, beside its name, changes nothing in the answer.
#[test]
fn conditions_tell_nothing_of_what_may_not_be_displayed() {
    let (w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(SECRET)\nDEFINE TOPIC(SECRET) TOPICSTR('secret')
         DEFINE CHANNEL(BOTH) CHLTYPE(SVRCONN) DESCR('seen')
         DEFINE CHANNEL(BOTH) CHLTYPE(CLNTCONN) CONNAME('localhost') DESCR('hidden')",
    );
    let everybody = [("QMGR", "self", "CONNECT"), ("QMGR", "self", "DSP")];
    grant(
        &w,
        &[everybody[0], everybody[1], ("CHANNEL", "BOTH", "DSP")],
    );
    for (display, is, is_not) in [
        ("QLOCAL(SECRET)", "CURDEPTH EQ 0", "CURDEPTH GT 0"),
        ("QUEUE(SECRET)", "CURDEPTH EQ 0", "CURDEPTH GT 0"),
        (
            "QUEUE(SECRET) TYPE(QLOCAL)",
            "GET EQ ENABLED",
            "GET EQ DISABLED",
        ),
        ("QSTATUS(SECRET)", "OPPROCS EQ 0", "OPPROCS GT 0"),
        (
            "TOPIC(SECRET)",
            "TOPICSTR EQ 'secret'",
            "TOPICSTR EQ 'other'",
        ),
        ("TPSTATUS('secret')", "SUBCOUNT EQ 0", "SUBCOUNT GT 0"),
    ] {
        let text = |condition: &str| format!("DISPLAY {display} WHERE({condition})");
        assert!(
            w.mqsc(&text(is)).ok && !w.mqsc(&text(is_not)).ok,
            "{display}"
        );
        let [is, is_not] = [is, is_not].map(|one| render(&command(&w, "app", &text(one))));
        assert!(is.contains("AMQ2431E"), "{display}: {is}");
        assert_eq!(is, is_not, "{display}");
    }
    // Of two of one name one may be displayed.
    let of = |descr: &str| {
        let text = format!("DISPLAY CHANNEL(BOTH) WHERE(DESCR EQ '{descr}')");
        render(&command(&w, "app", &text))
    };
    assert!(of("seen").contains("CHANNEL(BOTH)"));
    assert!(of("none").contains("AMQ8147E"));
    assert_eq!(of("hidden"), of("none"));
}

/// What it says, every subscription has of which a definition says nothing: an identity context, a time to live.
#[test]
fn nobody_changes_what_all_subscriptions_begin_with_but_who_may_change_everything() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    let plain: &[Grant] = &[
        ("QMGR", "self", "CONNECT"),
        ("QMGR", "self", "DSP"),
        ("QMGR", "self", "SETID"),
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ("QUEUE", "**", "ALL"),
    ];
    for text in [
        "ALTER SUB(SYSTEM.DEFAULT.SUB) PUBAPPID('forged')",
        "ALTER SUB(SYSTEM.DEFAULT.SUB) PUBACCT(160102030405060708090A0B0C0D0E0F10111213141516171819)",
        "ALTER SUB(SYSTEM.DEFAULT.SUB) EXPIRY(1)",
        "ALTER SUB(SYSTEM.DEFAULT.SUB) DEST(Q)",
        "ALTER SUB(SYSTEM.DEFAULT.SUB) SUBUSER('app')",
        "DEFINE SUB(SYSTEM.DEFAULT.SUB) TOPICSTR('t') DEST(Q) USERDATA('x') REPLACE",
        "DELETE SUB(SYSTEM.DEFAULT.SUB)",
    ] {
        let shown = || render(&w.mqsc("DISPLAY SUB(SYSTEM.DEFAULT.SUB) ALL"));
        let before = shown();
        grant(&w, plain);
        let refused = command(&w, "app", text).reason;
        assert_eq!(refused, Reason::NOT_AUTHORIZED, "{text}");
        let inserts = w.last_inserts("AMQ8077W");
        assert_eq!(inserts, ["app", "chg", "qmgr", "QM1"], "{text}");
        assert_eq!(shown(), before, "{text}");
        // What others begin with may still be said.
        let defines = "DEFINE SUB(S) LIKE(SYSTEM.DEFAULT.SUB) TOPICSTR('t') DEST(Q)";
        assert!(command(&w, "app", defines).ok, "{text}");
        w.run("DELETE SUB(S)");
    }
    let changes = [
        ("QMGR", "self", "CONNECT"),
        ("QMGR", "self", "DSP"),
        ("QMGR", "self", "CHG"),
    ];
    grant(&w, &changes);
    assert!(command(&w, "app", "ALTER SUB(SYSTEM.DEFAULT.SUB) PUBAPPID('site')").ok);
}

/// A topic object of TOPICSTR('a/#') is not about what is below a.
#[test]
fn topics_with_wildcards_are_cleared_by_who_may_above_the_first() {
    let (w, _) = world(false);
    w.run(
        "DEFINE TOPIC(A) TOPICSTR('a')\nDEFINE TOPIC(HASH) TOPICSTR('a/#')\nDEFINE TOPIC(PLUS) TOPICSTR('+')
         DEFINE TOPIC(ALL) TOPICSTR('#')\nDEFINE TOPIC(B) TOPICSTR('a/+/b')\nDEFINE TOPIC(SECRET) TOPICSTR('a/secret')",
    );
    let boss = admit(&w, "boss").unwrap();
    let retained = || {
        let shown = w.mqsc("DISPLAY TPSTATUS('#') RETAINED").rows;
        let is = |row: &posthaste_command::Row| row.shown("RETAINED").as_deref() == Some("YES");
        shown.iter().filter(|(_, _, row)| is(row)).count()
    };
    // With what is enough.
    let cases = [
        ("a/#", "A"),
        ("+", "SYSTEM.BASE.TOPIC"),
        ("#", "SYSTEM.BASE.TOPIC"),
        ("a/+/b", "A"),
        ("a/secret", "SECRET"),
    ];
    for (topics, enough) in cases {
        for published in ["a", "a/secret", "a/secret/b"] {
            assert_eq!(puts1(&boss, topic(published), MQPMO_RETAIN), Ok(()));
        }
        let before = retained();
        assert_eq!(before, 3);
        let text = format!("CLEAR TOPICSTR('{topics}') CLRTYPE(RETAINED)");
        let with = |of: &[&'static str]| {
            let everybody = [("QMGR", "self", "CONNECT"), ("QMGR", "self", "DSP")];
            let clears = of.iter().map(|name| ("TOPIC", *name, "CLR"));
            grant(&w, &everybody.into_iter().chain(clears).collect::<Vec<_>>());
            command(&w, "app", &text).reason
        };
        let named = ["HASH", "PLUS", "ALL", "B"];
        assert_eq!(with(&named), Reason::NOT_AUTHORIZED, "{topics}");
        assert_eq!(retained(), before, "{topics}");
        assert_eq!(with(&[enough]), Reason::NONE, "{topics}");
        assert!(retained() < before, "{topics}");
    }
}

/// Blanks and other spaces are letters of a topic string: what is about another one says nothing of it.
#[test]
fn what_is_shown_of_a_topic_string_is_of_the_very_one_that_may_be_displayed() {
    let (w, _) = world(false);
    w.run("DEFINE TOPIC(SEEN) TOPICSTR('seen')");
    let boss = admit(&w, "boss").unwrap();
    let others = [" seen", "seen\u{a0}"];
    for other in others {
        open_od(&boss, &mut topic(other), MQOO_OUTPUT).unwrap();
    }
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("TOPIC", "SEEN", "DSP"),
        ],
    );
    let rows = |text: &str| {
        let all = w.mqsc(text).rows.len();
        (all, command(&w, "app", text).rows.len())
    };
    for type_ in ["", " TYPE(PUB)"] {
        for other in others {
            let text = format!("DISPLAY TPSTATUS('{other}'){type_}");
            assert_eq!(rows(&text), (1, 0), "{text}");
        }
        let (all, seen) = rows(&format!("DISPLAY TPSTATUS('+'){type_}"));
        assert!(all > 1, "{type_}");
        assert_eq!(seen, usize::from(type_.is_empty()), "{type_}");
    }
    assert_eq!(rows("DISPLAY TPSTATUS('seen')"), (1, 1));
}

/// Groups of directories have blanks and quotes in their names: their records are saved so that they can be read again.
#[test]
fn records_of_groups_with_odd_names_are_saved_and_read_again() {
    let (w, users) = world(false);
    users.set("clerk", &["domain users"]);
    users.set("smith", &["o'neil's team"]);
    w.run(
        "SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('clerk') AUTHADD(GET)
         SET AUTHREC PROFILE(A) OBJTYPE(QUEUE) PRINCIPAL('smith') AUTHADD(PUT)",
    );
    let before = w.qm().authority_records();
    let saved = w.mqsc("SAVE QMGR");
    let texts = saved.messages.into_iter().map(|(_, text)| text);
    let records: Vec<String> = texts
        .filter(|text| text.starts_with("SET AUTHREC"))
        .collect();
    assert_eq!(records.len(), before.len());
    for (record, group) in records.iter().zip(["domain users", "o''neil''s team"]) {
        assert!(record.contains(&format!("GROUP('{group}')")), "{record}");
        w.run(&format!(
            "DELETE AUTHREC PROFILE(A) OBJTYPE(QUEUE) GROUP('{group}')"
        ));
    }
    assert!(w.qm().authority_records().is_empty());
    records.iter().for_each(|text| w.run(text));
    assert_eq!(w.qm().authority_records(), before);
}

/// What is needed to define subscriptions for Q, on which this is granted, and for Q2.
fn to_subscribe(w: &World, on_q: &'static str) {
    w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(Q2)");
    grant(
        w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
            ("QUEUE", "Q", on_q),
            ("QUEUE", "Q2", "PUT"),
        ],
    );
}

/// SUBUSER: whoever defines one that names nobody, and needs nothing to have messages sent in his own name.
#[test]
fn a_subscription_is_its_makers() {
    let (w, users) = world(false);
    users.set("second", &["staff"]);
    to_subscribe(&w, "PUT");
    let user = || {
        let shown = w.mqsc("DISPLAY SUB(S) SUBUSER");
        shown.rows[0].2.shown("SUBUSER").unwrap()
    };
    let done = |who: &str, text: &str| {
        let reply = command(&w, who, text);
        assert!(reply.ok, "{text}: {reply:?}");
    };
    done("app", "DEFINE SUB(S) TOPICSTR('news') DEST(Q)");
    assert_eq!(user(), "app");
    // What others begin with is nobody's, whoever replaces it.
    let default = "SYSTEM.DEFAULT.SUB";
    let replaced = block_on(w.qm().define(&NewDefinition {
        kind: ObjectKind::Sub,
        name: default,
        replace: true,
        decided_new: false,
        like: None,
        attrs: &Attrs::default(),
        maker: "app",
    }));
    assert_eq!(replaced, Ok(()));
    let default = w.qm().object(ObjectKind::Sub, default).unwrap();
    assert_eq!(default.attrs.text(MQCACF_SUB_USER_ID), "");
    let s = w.connect();
    let data = Bytes::from_static(b"text");
    block_on(s.put1(&mut topic("news"), &mut md(0), &mut pmo(0), data)).unwrap();
    let q = open(&s, "Q", MQOO_INPUT_SHARED);
    let taken = next(&s, q, 0).unwrap();
    assert_eq!(taken.md.user_identifier, Chars::new("app"));
    done("app", "ALTER SUB(S) DEST(Q2)");
    // Messages would come from another user.
    let refused = command(&w, "second", "ALTER SUB(S) DEST(Q)");
    assert_eq!(refused.reason, Reason::NOT_AUTHORIZED);
    let like = command(&w, "second", "DEFINE SUB(S2) LIKE(S)");
    assert_eq!(like.reason, Reason::NOT_AUTHORIZED);
    done("second", "DEFINE SUB(S2) LIKE(S) SUBUSER('second')");
    // Its messages come to Q2.
    let replaces = "DEFINE SUB(S) TOPICSTR('news') DEST(Q) REPLACE";
    let refused = command(&w, "second", replaces);
    assert_eq!(refused.reason, Reason::NOT_AUTHORIZED);
    w.run("SET AUTHREC PROFILE(Q2) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET,BROWSE)");
    done("second", replaces);
    assert_eq!(user(), "second");
}

/// A user identifier in a message has twelve characters, and so has SUBUSER.
#[test]
fn a_subscription_is_its_makers_whose_name_is_longer_than_an_identifier() {
    let (w, users) = world(false);
    users.set("administrator", &["staff"]);
    to_subscribe(&w, "ALL");
    for text in [
        "DEFINE SUB(S) TOPICSTR('news') DEST(Q) VARUSER(FIXED)",
        "ALTER SUB(S) DEST(Q2)",
        "ALTER SUB(S) DEST(Q) SUBUSER('administrato')",
    ] {
        let reply = command(&w, "administrator", text);
        assert!(reply.ok, "{text}: {reply:?}");
    }
    let refused = command(&w, "administrator", "ALTER SUB(S) SUBUSER('administrat')");
    assert_eq!(refused.reason, Reason::NOT_AUTHORIZED);
    // He uses it, and one that he has made by MQSUB is his to alter.
    let s = admit(&w, "administrator").unwrap();
    let uses = |options: i32, name: &str, own: Hobj| {
        let made = Sd {
            object_string: "news".to_owned(),
            ..sd(options | MQSO_DURABLE, name)
        };
        subscribes(&s, made, own)
    };
    assert_eq!(uses(MQSO_RESUME, "S", Hobj::NONE), Ok(()));
    let own = open(&s, "Q", MQOO_INPUT_SHARED);
    assert_eq!(uses(MQSO_CREATE, "MINE", own), Ok(()));
    close(&s, own, 0).unwrap();
    let reply = command(&w, "administrator", "ALTER SUB(MINE) DEST(Q2)");
    assert!(reply.ok, "{reply:?}");
    let shown = w.mqsc("DISPLAY SUB(MINE) SUBUSER");
    assert_eq!(shown.rows[0].2.shown("SUBUSER").unwrap(), "administrato");
}

/// What is needed is decided before, and others define meanwhile: to make an object does not come to replace somebody's.
#[test]
fn what_is_defined_meanwhile_is_not_replaced_by_who_may_only_make() {
    let (w, _) = world(false);
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("QUEUE", "X.**", "CRT"),
        ],
    );
    let issuer = block_on(w.qm().issuer(Application {
        user: "app".to_owned(),
        ..who("admin")
    }));
    let (issuer, admin) = (issuer.unwrap(), Admin::alone(w.qm()));
    let both = (0..300).map(|n| {
        let define = format!("DEFINE QLOCAL(X.{n}) DESCR");
        let read = |text: String| parse(&text).unwrap().unwrap();
        let app = read(format!("{define}('app') REPLACE"));
        (app, read(format!("{define}('owner')")))
    });
    let both: Vec<_> = both.collect();
    let at_once = Barrier::new(2);
    let mut owner = Vec::new();
    let app = std::thread::scope(|threads| {
        let app = threads.spawn(|| {
            let each = both.iter().map(|(define, _)| {
                at_once.wait();
                block_on(admin.execute_for(&issuer, define)).reason
            });
            each.collect::<Vec<_>>()
        });
        for (n, (_, define)) in both.iter().enumerate() {
            at_once.wait();
            // A little later each time, so as to come in between.
            for _ in 0..n % 100 * 50 {
                std::hint::spin_loop();
            }
            owner.push(block_on(admin.execute(define)).ok);
        }
        app.join().unwrap()
    });
    let descr = |name: &str| {
        let shown = w.mqsc(&format!("DISPLAY QLOCAL({name}) DESCR"));
        shown.rows[0].2.shown("DESCR").unwrap()
    };
    for (n, (app, owner)) in app.into_iter().zip(owner).enumerate() {
        let (is_owners, maker) = match app {
            Reason::NONE => (false, "app"),
            Reason::NOT_AUTHORIZED => (true, "owner"),
            other => panic!("{other}"),
        };
        let made = (owner, descr(&format!("X.{n}")));
        assert_eq!(made, (is_owners, maker.to_owned()), "{n}");
    }
    for record in w.qm().authority_records() {
        if record.authorities.has(Authority::Get.into()) {
            assert_eq!(descr(record.profile.text()), "app");
        }
    }
}
