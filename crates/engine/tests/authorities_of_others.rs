//! Authorities of whoever acts for another user: what it has of his, and what it does not get by that.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_command::render;
use posthaste_engine::{AuditKind, BranchError, End, Outcome, Session, Start, Vote};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Name, Od, Reason, Sd, Xid};
use world::authorising::*;
use world::*;

#[test]
fn another_users_authority_is_used_by_who_may() {
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    users.set("gate", &["gates"]);
    grant(
        &w,
        &[("QUEUE", "Q", "PUT"), ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB")],
    );
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(CONNECT)");
    let s = admit(&w, "gate").unwrap();
    let option = MQOO_OUTPUT | MQOO_ALTERNATE_USER_AUTHORITY;
    let alternate = MQPMO_ALTERNATE_USER_AUTHORITY;
    let subscription = || Sd {
        alternate_user_id: Chars::new("app"),
        ..sd(
            MQSO_CREATE | MQSO_MANAGED | MQSO_ALTERNATE_USER_AUTHORITY,
            "",
        )
    };
    let refused = Err(Reason::NOT_AUTHORIZED);
    assert_eq!(opens_od(&s, &mut for_other(object("Q")), option), refused);
    assert_eq!(
        w.last_inserts("AMQ8077W"),
        ["gate", "altusr", "qmgr", "QM1"]
    );
    assert_eq!(puts1(&s, for_other(object("Q")), alternate), refused);
    assert_eq!(subscribes(&s, subscription(), Hobj::NONE), refused);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(ALTUSR)");
    assert_eq!(opens_od(&s, &mut for_other(object("Q")), option), Ok(()));
    assert_eq!(puts1(&s, for_other(object("Q")), alternate), Ok(()));
    assert_eq!(subscribes(&s, subscription(), Hobj::NONE), Ok(()));
    // It is the other's authority, not its own as well.
    let input = MQOO_INPUT_SHARED | MQOO_ALTERNATE_USER_AUTHORITY;
    w.run("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('gates') AUTHADD(GET)");
    assert_eq!(opens_od(&s, &mut for_other(object("Q")), input), refused);
    assert_eq!(w.last_inserts("AMQ8077W"), ["app", "get", "queue", "Q"]);
}

/// Whoever may name another user has not what that one may say of a message's origin (manual: "AlternateUserId").
#[test]
fn who_names_another_user_has_its_own_authorities_for_contexts() {
    let contexts = [
        (MQOO_PASS_IDENTITY_CONTEXT, "PASSID"),
        (MQOO_PASS_ALL_CONTEXT, "PASSALL"),
        (MQOO_SET_IDENTITY_CONTEXT, "SETID"),
        (MQOO_SET_ALL_CONTEXT, "SETALL"),
    ];
    let of_manager = "SETID,SETALL";
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    users.set("gate", &["gates"]);
    users.set("root", &["staff", "mqm"]);
    grant(&w, &[("QUEUE", "Q", "ALL"), ("QMGR", "self", of_manager)]);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(CONNECT,ALTUSR)");
    let s = admit(&w, "gate").unwrap();
    let open_for = |user: &str, option: i32| {
        let mut od = object("Q");
        od.alternate_user_id = Chars::new(user);
        let options = MQOO_OUTPUT | MQOO_ALTERNATE_USER_AUTHORITY | option;
        opens_od(&s, &mut od, options)
    };
    let put1 = || {
        let options = MQPMO_ALTERNATE_USER_AUTHORITY | MQPMO_SET_IDENTITY_CONTEXT;
        puts1(&s, for_other(object("Q")), options)
    };
    let refused = Err(Reason::NOT_AUTHORIZED);
    for user in ["app", "root"] {
        assert_eq!(open_for(user, 0), Ok(()));
        for (option, name) in contexts {
            assert_eq!(open_for(user, option), refused, "{user} {name}");
            assert_eq!(w.last_inserts("AMQ8077W")[0], "gate", "{user} {name}");
        }
    }
    assert_eq!(put1(), refused);
    w.run(&format!(
        "SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD({of_manager})"
    ));
    for (option, name) in contexts {
        let set =
            |how| format!("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('gates') {how}({name})");
        w.run(&set("AUTHADD"));
        assert_eq!(open_for("app", option), Ok(()), "{name}");
        w.run(&set("AUTHRMV"));
    }
    w.run("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('gates') AUTHADD(SETID)");
    assert_eq!(put1(), Ok(()));
}

/// The queue manager does with messages on these queues as they say, in the name that they say: who puts one there by another user's
/// authority has named that user in its context.
#[test]
fn who_names_another_user_does_not_put_where_messages_speak_for_themselves() {
    let (w, users) = world(false);
    w.run("DEFINE QALIAS(A) TARGET(SYSTEM.DDELAY.LOCAL.QUEUE)");
    w.run("DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QALIAS(B) TARGET(X)");
    w.run("DEFINE QLOCAL(Q)");
    users.set("gate", &["gates"]);
    users.set("root", &["staff", "mqm"]);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(CONNECT,ALTUSR,SETID)");
    w.run("SET AUTHREC PROFILE(SYSTEM.BASE.TOPIC) OBJTYPE(TOPIC) GROUP('gates') AUTHADD(SUB)");
    let s = admit(&w, "gate").unwrap();
    let refused = Err(Reason::NOT_AUTHORIZED);
    let as_root = |name: &str| Od {
        alternate_user_id: Chars::new("root"),
        ..object(name)
    };
    let opens_as_root = |name: &str, options: i32| {
        opens_od(
            &s,
            &mut as_root(name),
            MQOO_ALTERNATE_USER_AUTHORITY | options,
        )
    };
    let puts = |name: &str| puts1(&s, as_root(name), MQPMO_ALTERNATE_USER_AUTHORITY);
    let is_sent_to = |name: &str| {
        let options = MQOO_BROWSE | MQOO_ALTERNATE_USER_AUTHORITY;
        let queue = open_od(&s, &mut as_root(name), options).unwrap();
        let sd = Sd {
            alternate_user_id: Chars::new("root"),
            ..sd(
                MQSO_CREATE | MQSO_DURABLE | MQSO_ALTERNATE_USER_AUTHORITY,
                name,
            )
        };
        subscribes(&s, sd, queue)
    };
    assert_eq!(opens_as_root("Q", MQOO_OUTPUT), Ok(()));
    assert_eq!(puts("Q"), Ok(()));
    assert_eq!(is_sent_to("Q"), Ok(()));
    let stores = ["SYSTEM.DDELAY.LOCAL.QUEUE", "SYSTEM.RETAINED.PUB.QUEUE"];
    for name in stores.into_iter().chain(["A", "X", "B"]) {
        assert_eq!(opens_as_root(name, MQOO_BROWSE), Ok(()), "{name}");
        assert_eq!(opens_as_root(name, MQOO_OUTPUT), refused, "{name}");
        assert_eq!(puts(name), refused, "{name}");
        assert_eq!(is_sent_to(name), refused, "{name}");
    }
    // Nor is it enough to have the queue to put on.
    users.set("app", &["staff"]);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(CONNECT)");
    for name in stores {
        let set = |what: &str| {
            w.run(&format!(
                "SET AUTHREC PROFILE({name}) OBJTYPE(QUEUE) GROUP('staff') AUTHADD({what})"
            ));
        };
        let app = admit(&w, "app").unwrap();
        set("PUT");
        assert_eq!(opens(&app, name, MQOO_OUTPUT), refused, "{name}");
        set("SETALL");
        w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(SETALL)");
        assert_eq!(opens(&app, name, MQOO_OUTPUT), Ok(()), "{name}");
        w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHRMV(SETALL)");
    }
}

/// Who names himself acts as without the option.
#[test]
fn who_names_himself_needs_no_more_than_to_name_somebody() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    grant(
        &w,
        &[("QUEUE", "Q", "ALL"), ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB")],
    );
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(CONNECT)");
    let s = admit(&w, "app").unwrap();
    let subscribes_himself = |name: &str| {
        let queue = open(&s, "Q", MQOO_INPUT_SHARED);
        let sd = Sd {
            alternate_user_id: Chars::new("app"),
            ..sd(
                MQSO_CREATE | MQSO_DURABLE | MQSO_ALTERNATE_USER_AUTHORITY,
                name,
            )
        };
        subscribes(&s, sd, queue)
    };
    assert_eq!(subscribes_himself("S"), Err(Reason::NOT_AUTHORIZED));
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(ALTUSR)");
    assert_eq!(subscribes_himself("S"), Ok(()));
}

/// What is published goes to the queue of its choice in the other's name: that is to set a context too.
#[test]
fn who_subscribes_for_another_user_needs_to_set_contexts_where_it_chooses_the_queue() {
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    users.set("gate", &["gates"]);
    grant(
        &w,
        &[("QUEUE", "Q", "ALL"), ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB")],
    );
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(CONNECT,ALTUSR)");
    let s = admit(&w, "gate").unwrap();
    let mut od = for_other(object("Q"));
    let options = MQOO_INPUT_SHARED | MQOO_ALTERNATE_USER_AUTHORITY;
    let queue = open_od(&s, &mut od, options).unwrap();
    let asked = |options: i32| Sd {
        alternate_user_id: Chars::new("app"),
        ..sd(options | MQSO_ALTERNATE_USER_AUTHORITY, "S")
    };
    let made = || subscribes(&s, asked(MQSO_CREATE | MQSO_DURABLE), queue);
    let altered = || subscribes(&s, asked(MQSO_ALTER | MQSO_DURABLE), Hobj::NONE);
    let refused = Err(Reason::NOT_AUTHORIZED);
    let managed = asked(MQSO_CREATE | MQSO_MANAGED);
    assert_eq!(subscribes(&s, managed, Hobj::NONE), Ok(()));
    assert_eq!(made(), refused);
    assert_eq!(w.last_inserts("AMQ8077W"), ["gate", "setid", "qmgr", "QM1"]);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHADD(SETID)");
    assert_eq!(made(), Ok(()));
    assert_eq!(altered(), Ok(()));
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('gates') AUTHRMV(SETID)");
    assert_eq!(altered(), refused);
}

/// With the queue that a subscription has as with one that is provided: MQSO_ALTER without a handle asked for nothing.
#[test]
fn who_sets_the_identity_context_of_a_subscription_may_set_it_on_its_queue() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    let plain = [
        ("QMGR", "self", "CONNECT"),
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ("QUEUE", "Q", "PUT"),
        ("QUEUE", "Q", "GET"),
        ("QUEUE", "Q", "BROWSE"),
    ];
    let sets = [("QUEUE", "Q", "SETID"), ("QMGR", "self", "SETID")];
    grant(&w, &plain);
    let s = admit(&w, "app").unwrap();
    let queue = try_open(&s, "Q", MQOO_INPUT_SHARED).unwrap();
    subscribes(&s, sd(MQSO_CREATE | MQSO_DURABLE, "S"), queue).unwrap();
    let mut asked = sd(MQSO_ALTER | MQSO_DURABLE | MQSO_SET_IDENTITY_CONTEXT, "S");
    asked.pub_appl_identity_data = Chars::new("forged");
    let identity = || {
        let shown = w.mqsc("DISPLAY SUB(S) PUBAPPID");
        shown.rows[0].2.shown("PUBAPPID").unwrap()
    };
    for handle in [Hobj::NONE, queue] {
        for missing in sets {
            let some: Vec<_> = sets.into_iter().filter(|one| *one != missing).collect();
            grant(&w, &[&plain[..], &some].concat());
            let altered = subscribes(&s, asked.clone(), handle);
            assert_eq!(altered, Err(Reason::NOT_AUTHORIZED), "{missing:?}");
            assert_eq!(identity().trim(), "");
        }
    }
    grant(&w, &plain);
    let without = sd(MQSO_ALTER | MQSO_DURABLE, "S");
    assert_eq!(subscribes(&s, without, Hobj::NONE), Ok(()));
    grant(&w, &[&plain[..], &sets].concat());
    assert_eq!(subscribes(&s, asked, Hobj::NONE), Ok(()));
    assert_eq!(identity(), "forged");
}

/// An alias can be made to lead elsewhere once a subscription may send there.
#[test]
fn no_alias_of_a_subscription_leads_where_messages_are_taken_at_their_word() {
    let (w, _) = world(false);
    let s = w.connect();
    w.run("DEFINE QLOCAL(Q)");
    w.run("DEFINE QALIAS(MINE) TARGET(Q)\nDEFINE QLOCAL(X) USAGE(XMITQ)");
    w.run("DEFINE SUB(S) TOPICSTR('t') DEST(MINE)");
    let depth = |queue: &str| {
        let (attrs, names) = (
            w.mqsc(&format!("DISPLAY QLOCAL({queue}) CURDEPTH")),
            "CURDEPTH",
        );
        attrs.rows[0].2.shown(names).unwrap()
    };
    for (queue, arrives) in [
        ("Q", "1"),
        ("SYSTEM.ADMIN.COMMAND.QUEUE", "0"),
        ("SYSTEM.DDELAY.LOCAL.QUEUE", "0"),
        ("SYSTEM.RETAINED.PUB.QUEUE", "0"),
        ("X", "0"),
    ] {
        w.run(&format!("DEFINE QALIAS(MINE) TARGET({queue}) REPLACE"));
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_type: MQOT_TOPIC,
            object_string: "t".to_owned(),
            ..Od::default()
        };
        let (mut md, mut pmo) = (md(0), pmo(0));
        let put = s.put1(&mut od, &mut md, &mut pmo, Bytes::new());
        block_on(put).unwrap();
        assert_eq!(depth(queue), arrives, "{queue}");
    }
}

/// By a context that was passed reports would be put by the authority of whoever's message it was.
#[test]
fn who_makes_a_dynamic_queue_has_no_more_contexts_on_it_than_on_its_model() {
    let contexts = [
        (MQOO_PASS_IDENTITY_CONTEXT, "PASSID"),
        (MQOO_PASS_ALL_CONTEXT, "PASSALL"),
        (MQOO_SET_IDENTITY_CONTEXT, "SETID"),
        (MQOO_SET_ALL_CONTEXT, "SETALL"),
    ];
    let (w, users) = world(false);
    w.run("DEFINE QMODEL(TEMPORARY)\nDEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)");
    users.set("colleague", &["staff"]);
    let refused = Err(Reason::NOT_AUTHORIZED);
    for model in ["TEMPORARY", "PERMANENT"] {
        let plain: &[Grant] = &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "SETID"),
            ("QMGR", "self", "SETALL"),
            ("QUEUE", model, "GET"),
            ("QUEUE", model, "DSP"),
        ];
        // What is made, and with which contexts it may be opened.
        let makes = |name: &str, has: Option<&str>| {
            let s = admit(&w, "app").unwrap();
            let mut od = Od {
                dynamic_q_name: Name::new(name),
                ..object(model)
            };
            let handle = open_od(&s, &mut od, MQOO_INPUT_SHARED).unwrap();
            let name = od.object_name.text().into_owned();
            let all = MQOO_OUTPUT | MQOO_BROWSE | MQOO_INQUIRE | MQOO_SET;
            assert_eq!(opens(&s, &name, all), Ok(()), "{model}");
            for (option, word) in contexts {
                let expected = if has == Some(word) { Ok(()) } else { refused };
                for user in ["app", "colleague"] {
                    let s = admit(&w, user).unwrap();
                    let opened = opens(&s, &name, MQOO_OUTPUT | option);
                    assert_eq!(opened, expected, "{model} {word} {user} {has:?}");
                }
            }
            close(&s, handle, MQCO_DELETE_PURGE).unwrap();
        };
        grant(&w, plain);
        makes("D.*", None);
        for (_, word) in contexts {
            for name in [model, "D.**", "D.1"] {
                grant(&w, &[plain, &[("QUEUE", name, word)]].concat());
                makes("D.1", Some(word));
            }
        }
        // Where users have no records it is the group's that counts, not what one of its members has besides.
        grant(&w, plain);
        w.run(&format!(
            "SET AUTHREC PROFILE({model}) OBJTYPE(QUEUE) GROUP('extra') AUTHADD(PASSID)"
        ));
        makes("D.*", None);
    }
}

/// By default whoever may subscribe to its topic may alter what an administrator has defined (VARUSER(ANY)); that its messages come
/// to him instead takes what it takes to have them where they come.
#[test]
fn who_moves_anothers_subscription_may_have_its_messages_where_they_come() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(ARCHIVE)\nDEFINE QLOCAL(Q)");
    let plain: &[Grant] = &[
        ("QMGR", "self", "CONNECT"),
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ("QUEUE", "Q", "ALL"),
    ];
    let has = ["PUT", "GET", "BROWSE"].map(|word| ("QUEUE", "ARCHIVE", word));
    grant(&w, plain);
    let s = admit(&w, "app").unwrap();
    let queue = open(&s, "Q", IN_OUT);
    let shown = || {
        let shown = w.mqsc("DISPLAY SUB(S) DEST SUBUSER VARUSER");
        ["DEST", "SUBUSER", "VARUSER"].map(|name| shown.rows[0].2.shown(name).unwrap())
    };
    let defined = ["ARCHIVE", "boss", "ANY"].map(str::to_owned);
    for users in [0, MQSO_ANY_USERID, MQSO_FIXED_USERID] {
        let moves = || {
            let asked = sd(MQSO_ALTER | MQSO_DURABLE | users, "S");
            subscribes(&s, asked, queue)
        };
        w.run("DEFINE SUB(S) TOPICSTR('news/today/sports') DEST(ARCHIVE) SUBUSER('boss') REPLACE");
        assert_eq!(shown(), defined);
        for missing in has {
            let some: Vec<_> = has.into_iter().filter(|one| *one != missing).collect();
            grant(&w, &[plain, &some].concat());
            assert_eq!(moves(), Err(Reason::NOT_AUTHORIZED), "{missing:?} {users}");
            assert_eq!(shown(), defined, "{missing:?} {users}");
        }
        grant(&w, &[plain, &has].concat());
        assert_eq!(moves(), Ok(()));
        assert_eq!(shown()[..2], ["Q", "app"]);
        // His own he may move back and forth.
        w.run("ALTER SUB(S) DEST(ARCHIVE)");
        grant(&w, plain);
        assert_eq!(moves(), Ok(()));
        w.run("DELETE SUB(S)");
    }
}

/// The same by a command.
#[test]
fn who_moves_anothers_subscription_by_a_command_may_have_its_messages_too() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(ARCHIVE)\nDEFINE QLOCAL(Q)\nDEFINE QLOCAL(QM2) USAGE(XMITQ)");
    let plain: &[Grant] = &[
        ("QMGR", "self", "CONNECT"),
        ("QMGR", "self", "DSP"),
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ("QUEUE", "Q", "PUT"),
    ];
    let here: &[Grant] = &["PUT", "GET", "BROWSE"].map(|word| ("QUEUE", "ARCHIVE", word));
    let elsewhere: &[Grant] = &[("QMGR", "self", "CHG")];
    for (to, has) in [("ARCHIVE", here), ("ARCHIVE) DESTQMGR(QM2", elsewhere)] {
        for text in [
            "ALTER SUB(S) DEST(Q) DESTQMGR(QM1) SUBUSER('app')",
            "DEFINE SUB(S) TOPICSTR('t') DEST(Q) DESTQMGR(QM1) REPLACE",
        ] {
            w.run(&format!(
                "DEFINE SUB(S) TOPICSTR('t') DEST({to}) SUBUSER('boss') REPLACE"
            ));
            let shown = || render(&w.mqsc("DISPLAY SUB(S) DEST DESTQMGR SUBUSER"));
            let before = shown();
            for missing in has {
                let some: Vec<_> = has.iter().filter(|one| *one != missing).copied().collect();
                grant(&w, &[plain, &some].concat());
                let reply = command(&w, "app", text);
                assert_eq!(reply.reason, Reason::NOT_AUTHORIZED, "{text} {missing:?}");
                assert_eq!(shown(), before);
            }
            grant(&w, &[plain, has].concat());
            assert!(command(&w, "app", text).ok, "{text}");
            // His own he may move back and forth; it does not become his own without that either.
            grant(&w, plain);
            w.run("ALTER SUB(S) DEST(ARCHIVE)");
            assert!(command(&w, "app", "ALTER SUB(S) DEST(Q)").ok);
            w.run("ALTER SUB(S) SUBUSER('boss')");
            let takes = "ALTER SUB(S) SUBUSER('app')";
            let refused = command(&w, "app", takes).reason;
            assert_eq!(refused, Reason::NOT_AUTHORIZED, "{takes}");
            assert!(command(&w, "app", "ALTER SUB(S) USERDATA('x')").ok);
            w.run("DELETE SUB(S)");
        }
    }
}

/// Managed queues have no records to ask about: as by MQSUB, which gives 2434, one with VARUSER(FIXED) is its user's.
#[test]
fn nobody_takes_anothers_managed_subscription_by_a_command() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    let plain: &[Grant] = &[
        ("QMGR", "self", "CONNECT"),
        ("QMGR", "self", "DSP"),
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ("QUEUE", "**", "ALL"),
    ];
    let changes: &[Grant] = &[("QMGR", "self", "CHG")];
    grant(&w, plain);
    let boss = admit(&w, "boss").unwrap();
    let app = admit(&w, "app").unwrap();
    let durable = MQSO_DURABLE | MQSO_MANAGED;
    let defines = "DEFINE SUB(S) TOPICSTR('news/today/sports') DESTCLAS(MANAGED)";
    let shown =
        || render(&w.mqsc("DISPLAY SUB(S) DEST SUBUSER VARUSER USERDATA PUBAPPID EXPIRY DESTCORL"));
    for text in [
        format!("{defines} REPLACE"),
        format!("{defines} SUBUSER('app') REPLACE"),
        format!("{defines} VARUSER(ANY) REPLACE"),
        "DEFINE SUB(S) TOPICSTR('news/today/sports') DEST(Q) REPLACE".to_owned(),
        "ALTER SUB(S) SUBUSER('app')".to_owned(),
        "ALTER SUB(S) VARUSER(ANY)".to_owned(),
        "ALTER SUB(S) USERDATA('x')".to_owned(),
        "ALTER SUB(S) EXPIRY(1)".to_owned(),
        "ALTER SUB(S) PUBAPPID('forged')".to_owned(),
    ] {
        subscribes(&boss, sd(MQSO_CREATE | durable, "S"), Hobj::NONE).unwrap();
        let publishes = puts1(&boss, topic("news/today/sports"), MQPMO_NONE);
        assert_eq!(publishes, Ok(()));
        let before = shown();
        grant(&w, plain);
        let reply = command(&w, "app", &text);
        assert_eq!(reply.reason, Reason::NOT_AUTHORIZED, "{text}");
        assert_eq!(w.last_inserts("AMQ8077W"), ["app", "chg", "qmgr", "QM1"]);
        assert_eq!(shown(), before, "{text}");
        let resumed = subscribes(&app, sd(MQSO_RESUME | durable, "S"), Hobj::NONE);
        assert_eq!(resumed, Err(Reason::IDENTITY_MISMATCH), "{text}");
        grant(&w, &[plain, changes].concat());
        let reply = command(&w, "app", &text);
        assert_ne!(reply.reason, Reason::NOT_AUTHORIZED, "{text}");
        w.run("DELETE SUB(S)");
    }
    // Of any user's it may be had by a command as it is by MQSUB; in its user's name nothing is said without leave.
    for text in [
        format!("{defines} REPLACE"),
        "ALTER SUB(S) SUBUSER('app')".to_owned(),
        "ALTER SUB(S) USERDATA('x')".to_owned(),
    ] {
        w.run(&format!("{defines} SUBUSER('boss')"));
        grant(&w, plain);
        let forges = "ALTER SUB(S) PUBAPPID('forged')";
        assert_eq!(
            command(&w, "app", forges).reason,
            Reason::NOT_AUTHORIZED,
            "{text}"
        );
        assert_eq!(
            w.last_inserts("AMQ8077W"),
            ["app", "setid", "qmgr", "QM1"],
            "{text}"
        );
        assert!(command(&w, "app", &text).ok, "{text}");
        w.run("DELETE SUB(S)");
    }
}

/// The queue manager makes its queue, and puts there: no authority on it is asked for, by MQSUB neither.
#[test]
fn who_has_a_managed_subscription_changes_it_by_commands() {
    let (w, _) = world(false);
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ],
    );
    let does = |text: &str| {
        let reply = command(&w, "app", text);
        assert!(reply.ok, "{text}: {}", render(&reply));
    };
    let app = admit(&w, "app").unwrap();
    let create = MQSO_CREATE | MQSO_DURABLE | MQSO_MANAGED;
    subscribes(&app, sd(create, "FIXED"), Hobj::NONE).unwrap();
    does("DEFINE SUB(ANY) TOPICSTR('news/today/sports') DESTCLAS(MANAGED) PUBAPPID('mine')");
    for name in ["ANY", "FIXED"] {
        for text in [
            format!("ALTER SUB({name}) USERDATA('x') PUBAPPID('own') SUBUSER('app')"),
            format!("ALTER SUB({name}) VARUSER(FIXED)"),
            format!("DEFINE SUB(NEW) LIKE({name}) TOPICSTR('t')"),
            format!("DEFINE SUB({name}) TOPICSTR('news/today/sports') DESTCLAS(MANAGED) REPLACE"),
            "DELETE SUB(NEW)".to_owned(),
        ] {
            does(&text);
        }
    }
}

/// Whom a token or a directory calls so may have any name.
#[test]
fn nobody_is_taken_for_who_is_called_so_but_for_a_space() {
    let (w, users) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("QUEUE", "Q", "PUT"),
            ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ],
    );
    let defines = |issuer: &str, user: &str| {
        let text = format!("DEFINE SUB(S) TOPICSTR('t') DEST(Q) SUBUSER('{user}') REPLACE");
        let reason = command(&w, issuer, &text).reason;
        w.mqsc("DELETE SUB(S)");
        reason
    };
    assert_eq!(defines("app", "app"), Reason::NONE);
    assert_eq!(defines("app", "app  "), Reason::NONE);
    for other in ["boss\u{a0}", "\u{2003}boss", " boss"] {
        users.set(other, &["staff"]);
        assert_eq!(defines(other, other), Reason::NONE, "{other:?}");
        assert_eq!(defines(other, "boss"), Reason::NOT_AUTHORIZED, "{other:?}");
        w.run("DEFINE QLOCAL(ARCHIVE)\nDEFINE SUB(S) TOPICSTR('t') DEST(ARCHIVE) SUBUSER('boss')");
        for text in [
            "ALTER SUB(S) DEST(Q)",
            "DEFINE SUB(S) TOPICSTR('t') DEST(Q) REPLACE",
        ] {
            let refused = command(&w, other, text).reason;
            assert_eq!(refused, Reason::NOT_AUTHORIZED, "{other:?} {text}");
        }
        w.run("DELETE SUB(S)\nDELETE QLOCAL(ARCHIVE)");
    }
    // Nor is he shown as that one, or made that one by a script.
    w.run("DEFINE SUB(S) TOPICSTR('t') DEST(Q) SUBUSER('boss\u{a0}')");
    let shown = w.mqsc("DISPLAY SUB(S) SUBUSER").rows[0].2.shown("SUBUSER");
    assert_eq!(shown.as_deref(), Some("boss\u{a0}"));
    let saved = render(&w.mqsc("SAVE QMGR"));
    assert!(saved.contains("SUBUSER('boss\u{a0}')"), "{saved}");
    w.run("DELETE SUB(S)");
    for other in ["app\u{a0}", " app"] {
        assert_eq!(defines("app", other), Reason::NOT_AUTHORIZED, "{other:?}");
    }
}

/// What is not prepared is its user's: that there is such a branch is all that others learn.
#[test]
fn nobody_works_on_or_ends_anothers_branch_before_it_is_prepared() {
    let (w, _) = world(false);
    w.run("DEFINE QLOCAL(Q)");
    grant(&w, &[("QMGR", "self", "CONNECT"), ("QUEUE", "Q", "ALL")]);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('others') AUTHADD(CONNECT)");
    let xid = Xid::new(1, b"g", b"b").unwrap();
    let start = |s: &Session, how: Start| block_on(s.start_branch(&xid, how));
    let end = |s: &Session, how: End| block_on(s.end_branch(&xid, how));
    let app = admit(&w, "app").unwrap();
    let again = admit(&w, "app").unwrap();
    let others = ["other", "boss"].map(|user| admit(&w, user).unwrap());
    let h = open(&app, "Q", MQOO_OUTPUT);
    start(&app, Start::New).unwrap();
    put(&app, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
    let refused = BranchError::Anothers;
    let nothing_of = |how: &str| {
        for other in &others {
            assert_eq!(start(other, Start::Join), Err(refused), "{how}");
            assert_eq!(start(other, Start::Resume), Err(refused), "{how}");
            assert_eq!(start(other, Start::New), Err(BranchError::Duplicate));
            assert_eq!(end(other, End::Success), Err(refused), "{how}");
            assert_eq!(end(other, End::Fail), Err(refused), "{how}");
            assert_eq!(block_on(other.commit_one_phase(&xid)), Err(refused));
            assert_eq!(block_on(other.roll_back(&xid)), Err(refused), "{how}");
            assert_eq!(block_on(other.prepare_branch(&xid)), Err(refused));
            let resolved = block_on(other.resolve(&xid, Outcome::Committed));
            assert_eq!(resolved, Err(refused), "{how}");
            assert_eq!(block_on(other.forget(&xid)), Err(refused), "{how}");
        }
    };
    nothing_of("worked on");
    end(&app, End::Suspend { migrate: true }).unwrap();
    nothing_of("suspended");
    start(&again, Start::Resume).unwrap();
    end(&again, End::Success).unwrap();
    nothing_of("idle");
    start(&app, Start::Join).unwrap();
    end(&app, End::Success).unwrap();
    let audited = w.audited();
    let audited = audited
        .iter()
        .filter(|event| event.kind == AuditKind::BranchDecided);
    let audited: Vec<_> = audited.collect();
    // Nine by each of the two, three times.
    assert_eq!(audited.len(), 54);
    for event in audited {
        assert_eq!(event.reason, Reason::NOT_AUTHORIZED);
        assert_eq!((&*event.owner, &*event.object), ("app", &*xid.to_string()));
        assert_ne!(event.who.user, "app");
    }
    // Nor once he has gone.
    for s in [app, again] {
        block_on(s.disconnect()).unwrap();
    }
    nothing_of("left");
    let app = admit(&w, "app").unwrap();
    assert_eq!(block_on(app.prepare_branch(&xid)), Ok(Vote::Prepared));
    let committed = block_on(others[0].resolve(&xid, Outcome::Committed));
    assert_eq!((committed, w.depth("Q")), (Ok(()), 1));
}
