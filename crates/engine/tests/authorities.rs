//! The authority service: what each call needs, whose records count, and what becomes of them.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_admin::{Admin, CommandServer, Decision, Undecided, transaction_number};
use posthaste_authority::Entity;
use posthaste_command::{ObjectKind, pcf, render};
use posthaste_engine::{Application, AuditKind, Binding, EndMode, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Gmo, Hobj, Md, Name, Od, Reason, Sd, Xid};
use world::authorising::*;
use world::*;

type Act = fn(&World, &Session) -> Result<(), Reason>;

/// A call, and everything that it needs.
struct Case {
    what: &'static str,
    needs: &'static [Grant],
    act: Act,
}

#[rustfmt::skip] // one case, a few lines
const CASES: &[Case] = &[
    Case { what: "input", needs: &[("QUEUE", "Q", "GET")], act: |_, s| opens(s, "Q", MQOO_INPUT_SHARED) },
    Case { what: "input as defined", needs: &[("QUEUE", "Q", "GET")], act: |_, s| opens(s, "Q", MQOO_INPUT_AS_Q_DEF) },
    Case { what: "browse", needs: &[("QUEUE", "Q", "BROWSE")], act: |_, s| opens(s, "Q", MQOO_BROWSE) },
    Case { what: "output", needs: &[("QUEUE", "Q", "PUT")], act: |_, s| opens(s, "Q", MQOO_OUTPUT) },
    Case { what: "inquire", needs: &[("QUEUE", "Q", "INQ")], act: |_, s| opens(s, "Q", MQOO_INQUIRE) },
    Case { what: "set", needs: &[("QUEUE", "Q", "SET")], act: |_, s| opens(s, "Q", MQOO_SET) },
    Case {
        what: "everything at once",
        needs: &[("QUEUE", "Q", "GET"), ("QUEUE", "*", "GET"), ("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "INQ")],
        act: |_, s| opens(s, "Q", MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_INQUIRE),
    },
    Case {
        what: "pass identity context", needs: &[("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "PASSID")],
        act: |_, s| opens(s, "Q", MQOO_OUTPUT | MQOO_PASS_IDENTITY_CONTEXT),
    },
    Case {
        what: "pass all context", needs: &[("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "PASSALL")],
        act: |_, s| opens(s, "Q", MQOO_OUTPUT | MQOO_PASS_ALL_CONTEXT),
    },
    Case {
        what: "set identity context",
        needs: &[("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "SETID"), ("QMGR", "self", "SETID")],
        act: |_, s| opens(s, "Q", MQOO_OUTPUT | MQOO_SET_IDENTITY_CONTEXT),
    },
    Case {
        what: "set all context",
        needs: &[("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "SETALL"), ("QMGR", "self", "SETALL")],
        act: |_, s| opens(s, "Q", MQOO_OUTPUT | MQOO_SET_ALL_CONTEXT),
    },
    Case {
        what: "an alias is checked by its own name", needs: &[("QUEUE", "ALIAS", "PUT")],
        act: |_, s| opens(s, "ALIAS", MQOO_OUTPUT),
    },
    Case {
        what: "a transmission queue", needs: &[("QUEUE", "XMIT", "SETALL"), ("QMGR", "self", "SETALL")],
        act: |_, s| opens(s, "XMIT", MQOO_OUTPUT),
    },
    Case {
        what: "a transmission queue by an alias", needs: &[("QUEUE", "HATCH", "SETALL"), ("QMGR", "self", "SETALL")],
        act: |_, s| opens(s, "HATCH", MQOO_OUTPUT),
    },
    Case {
        what: "a remote queue is checked by its definition", needs: &[("QUEUE", "REMOTE", "PUT")],
        act: |_, s| opens(s, "REMOTE", MQOO_OUTPUT),
    },
    Case {
        what: "a queue elsewhere is checked by its transmission queue", needs: &[("QUEUE", "XMIT", "PUT")],
        act: |_, s| {
            let mut od = Od { object_q_mgr_name: Name::new("XMIT"), ..object("ANY") };
            opens_od(s, &mut od, MQOO_OUTPUT)
        },
    },
    Case {
        what: "a model queue", needs: &[("QUEUE", "MODEL", "GET"), ("QUEUE", "MODEL", "DSP")],
        act: |_, s| {
            let mut od = Od { dynamic_q_name: Name::new("D.*"), ..object("MODEL") };
            opens_od(s, &mut od, MQOO_INPUT_SHARED)
        },
    },
    Case {
        what: "the queue manager", needs: &[("QMGR", "self", "INQ")],
        act: |_, s| opens_od(s, &mut Od { object_type: MQOT_Q_MGR, ..Od::default() }, MQOO_INQUIRE),
    },
    Case {
        what: "a process", needs: &[("PROCESS", "P", "INQ")],
        act: |_, s| opens_od(s, &mut Od { object_type: MQOT_PROCESS, ..object("P") }, MQOO_INQUIRE),
    },
    Case {
        what: "a namelist", needs: &[("NAMELIST", "N", "INQ")],
        act: |_, s| opens_od(s, &mut Od { object_type: MQOT_NAMELIST, ..object("N") }, MQOO_INQUIRE),
    },
    Case {
        what: "publish", needs: &[("TOPIC", "NEWS", "PUB")],
        act: |_, s| opens_od(s, &mut topic("news/today/sports"), MQOO_OUTPUT),
    },
    Case {
        what: "publish, granted at the root", needs: &[("TOPIC", "SYSTEM.BASE.TOPIC", "PUB")],
        act: |_, s| opens_od(s, &mut topic("news/today/sports"), MQOO_OUTPUT),
    },
    Case {
        what: "publish, context granted higher up",
        needs: &[("TOPIC", "NEWS", "PUB"), ("TOPIC", "SYSTEM.BASE.TOPIC", "SETALL"), ("QMGR", "self", "SETALL")],
        act: |_, s| opens_od(s, &mut topic("news/today/sports"), MQOO_OUTPUT | MQOO_SET_ALL_CONTEXT),
    },
    Case {
        what: "publish by an alias, which is checked too", needs: &[("QUEUE", "PAPER", "PUT"), ("TOPIC", "NEWS", "PUB")],
        act: |_, s| opens(s, "PAPER", MQOO_OUTPUT),
    },
    Case { what: "MQPUT1", needs: &[("QUEUE", "Q", "PUT")], act: |_, s| puts1(s, object("Q"), 0) },
    Case {
        what: "MQPUT1 with context", needs: &[("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "SETID"), ("QMGR", "self", "SETID")],
        act: |_, s| puts1(s, object("Q"), MQPMO_SET_IDENTITY_CONTEXT),
    },
    Case { what: "MQPUT1 to a topic", needs: &[("TOPIC", "NEWS", "PUB")], act: |_, s| puts1(s, topic("news"), 0) },
    Case {
        what: "subscribe", needs: &[("TOPIC", "NEWS", "SUB")],
        act: |_, s| subscribes(s, sd(MQSO_CREATE | MQSO_MANAGED, ""), Hobj::NONE),
    },
    Case {
        what: "subscribe for a queue",
        needs: &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "GET"), ("QUEUE", "Q", "PUT")],
        act: |_, s| {
            let queue = try_open(s, "Q", MQOO_INPUT_SHARED)?;
            let subscribed = subscribes(s, sd(MQSO_CREATE, ""), queue);
            close(s, queue, MQCO_NONE).unwrap();
            subscribed
        },
    },
    Case {
        what: "resume", needs: &[("TOPIC", "NEWS", "RESUME")],
        act: |_, s| subscribes(s, sd(MQSO_RESUME | MQSO_MANAGED | MQSO_DURABLE, "DURABLE"), Hobj::NONE),
    },
    Case {
        what: "alter", needs: &[("TOPIC", "NEWS", "SUB")],
        act: |_, s| subscribes(s, sd(MQSO_ALTER | MQSO_MANAGED | MQSO_DURABLE, "DURABLE"), Hobj::NONE),
    },
    Case {
        what: "resume with a handle on an administrator's queue",
        needs: &[("TOPIC", "NEWS", "RESUME"), ("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "GET"), ("QUEUE", "Q", "BROWSE")],
        act: |_, s| subscribes(s, sd(MQSO_RESUME | MQSO_DURABLE, "ADMIN"), Hobj::NONE),
    },
    Case {
        what: "delete at the close", needs: &[("QUEUE", "KEPT", "INQ"), ("QUEUE", "KEPT", "DLT")],
        act: |w, s| {
            let boss = admit(w, "boss").unwrap();
            let mut od = Od { dynamic_q_name: Name::new("KEPT"), ..object("PERMANENT") };
            let _ = open_od(&boss, &mut od, MQOO_INQUIRE);
            let handle = try_open(s, "KEPT", MQOO_INQUIRE)?;
            let closed = close(s, handle, MQCO_DELETE).map(drop);
            if closed.is_err() {
                close(s, handle, MQCO_NONE).unwrap();
            }
            closed
        },
    },
];

const OBJECTS: &str = "
    DEFINE QLOCAL(Q) SHARE DEFSOPT(SHARED)
    DEFINE QALIAS(ALIAS) TARGET(Q)
    DEFINE QLOCAL(XMIT) USAGE(XMITQ)
    DEFINE QALIAS(HATCH) TARGET(XMIT)
    DEFINE QREMOTE(REMOTE) RNAME(Q) RQMNAME(QM2) XMITQ(XMIT)
    DEFINE QMODEL(MODEL)
    DEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)
    DEFINE PROCESS(P)
    DEFINE NAMELIST(N)
    DEFINE TOPIC(NEWS) TOPICSTR('news')
    DEFINE QALIAS(PAPER) TARGET(NEWS) TARGTYPE(TOPIC)
    DEFINE TOPIC(DEEP) TOPICSTR('news/today/sports/tennis')
    DEFINE SUB(ADMIN) TOPICSTR('news/today/sports') DEST(Q)
";

/// Which names of subscriptions are taken hears only who may subscribe.
#[test]
fn who_may_not_subscribe_does_not_learn_which_names_are_taken() {
    let (w, _) = world(false);
    w.run(OBJECTS);
    let connect = ("QMGR", "self", "CONNECT");
    grant(&w, &[connect]);
    let s = admit(&w, "app").unwrap();
    let create = || {
        let options = MQSO_CREATE | MQSO_MANAGED | MQSO_DURABLE;
        subscribes(&s, sd(options, "ADMIN"), Hobj::NONE)
    };
    assert_eq!(create(), Err(Reason::NOT_AUTHORIZED));
    grant(&w, &[connect, ("TOPIC", "NEWS", "SUB")]);
    assert_eq!(create(), Err(Reason::SUB_ALREADY_EXISTS));
}

/// Each call is carried out with what it needs, and refused when any of that is missing.
#[test]
fn each_call_needs_each_of_its_authorities() {
    let (w, _) = world(false);
    w.run(OBJECTS);
    let boss = admit(&w, "boss").unwrap();
    let durable = sd(
        MQSO_CREATE | MQSO_MANAGED | MQSO_DURABLE | MQSO_ANY_USERID,
        "DURABLE",
    );
    subscribes(&boss, durable, Hobj::NONE).unwrap();
    for Case { what, needs, act } in CASES {
        let connect = ("QMGR", "self", "CONNECT");
        let all = [needs, &[connect][..]].concat();
        grant(&w, &all);
        let s = admit(&w, "app").unwrap();
        assert_eq!(act(&w, &s), Ok(()), "{what}");
        for missing in 0..needs.len() {
            let mut rest = all.clone();
            let (_, profile, word) = rest.remove(missing);
            if profile == "*" {
                continue;
            }
            grant(&w, &rest);
            let before = w.message_count("AMQ8077W");
            w.audited();
            let refused = act(&w, &s);
            assert_eq!(
                refused,
                Err(Reason::NOT_AUTHORIZED),
                "{what} without {word}"
            );
            assert_eq!(w.message_count("AMQ8077W"), before + 1, "{what}");
            let audited = w.audited();
            let [event] = &audited[..] else {
                panic!("{what}: {audited:?}");
            };
            assert_eq!(event.who.user, "app", "{what}");
            assert_eq!(event.missing.to_string(), word.to_lowercase(), "{what}");
            assert!(event.call.starts_with("MQ"), "{what}");
            let [user, lacking, ..] = &w.last_inserts("AMQ8077W")[..] else {
                panic!("{what}: inserts");
            };
            assert_eq!(
                (user.as_str(), lacking.as_str()),
                ("app", &*word.to_lowercase()),
                "{what}"
            );
        }
        assert!(act(&w, &boss).is_ok(), "{what}, by a member of mqm");
    }
    assert!(w.qm().stopped().is_none());
}

/// What was refused of what, as an audit has it.
fn refusals(w: &World) -> Vec<(&'static str, i32, String, String)> {
    let audited = w.audited().into_iter();
    let refused = audited.map(|event| {
        assert_eq!(event.kind, AuditKind::NotAuthorized);
        assert_eq!(event.reason, Reason::NOT_AUTHORIZED);
        assert_eq!((&*event.who.user, &*event.who.name), ("app", "test"));
        let missing = event.missing.to_string();
        (event.call, event.options, event.object, missing)
    });
    refused.collect()
}

#[test]
fn an_audit_knows_which_call_was_refused_on_what() {
    let (w, _) = world(false);
    w.run(OBJECTS);
    let refused = |call: &'static str, options: i32, object: &str, missing: &str| {
        (call, options, object.to_owned(), missing.to_owned())
    };
    grant(&w, &[]);
    w.audited();
    assert!(admit(&w, "app").is_err());
    assert_eq!(refusals(&w), [refused("MQCONN", 0, "QM1", "connect")]);
    grant(&w, &[("QMGR", "self", "CONNECT")]);
    w.audited();
    let s = admit(&w, "app").unwrap();
    assert_eq!(refusals(&w), []);
    assert!(opens(&s, "Q", MQOO_OUTPUT | MQOO_INQUIRE).is_err());
    let options = MQOO_OUTPUT | MQOO_INQUIRE;
    assert_eq!(refusals(&w), [refused("MQOPEN", options, "Q", "inq, put")]);
    assert!(puts1(&s, object("Q"), MQPMO_NO_SYNCPOINT).is_err());
    assert_eq!(
        refusals(&w),
        [refused("MQPUT1", MQPMO_NO_SYNCPOINT, "Q", "put")]
    );
    let options = MQSO_CREATE | MQSO_MANAGED;
    assert!(subscribes(&s, sd(options, ""), Hobj::NONE).is_err());
    let [(call, asked, _, missing)] = &refusals(&w)[..] else {
        panic!("one refusal");
    };
    assert_eq!((*call, *asked, &**missing), ("MQSUB", options, "sub"));
}

#[test]
fn of_whom_nobody_can_say_who_that_is_an_audit_knows() {
    let (w, users) = world(false);
    *users.silent.lock() = true;
    assert_eq!(admit(&w, "app").err(), Some(Reason::SECURITY_ERROR));
    let audited = w.audited();
    let [event] = &audited[..] else {
        panic!("{audited:?}");
    };
    assert_eq!((&*event.who.user, event.call), ("app", "MQCONN"));
    assert_eq!(event.reason, Reason::SECURITY_ERROR);
}

#[test]
fn that_nobody_could_say_who_somebody_is_is_told_apart_from_that_there_is_none() {
    let (w, users) = world(false);
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(CONNECT)");
    *users.silent.lock() = true;
    for text in [
        "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('app') AUTHADD(INQ)",
        "DELETE AUTHREC OBJTYPE(QMGR) PRINCIPAL('app')",
        "DISPLAY ENTAUTH OBJTYPE(QMGR) PRINCIPAL('app')",
        "DISPLAY AUTHREC PRINCIPAL('app') MATCH(MEMBERSHIP)",
    ] {
        let reply = w.mqsc(text);
        assert_eq!(reply.reason, Reason::SECURITY_ERROR, "{text} {reply:?}");
        assert_eq!(reply.messages[0].0, "AMQ2434E", "{text}");
    }
    *users.silent.lock() = false;
    assert!(admit(&w, "app").is_ok(), "nothing was changed");
}

#[test]
fn who_may_not_connect_does_not() {
    let (w, users) = world(false);
    assert_eq!(admit(&w, "app").err(), Some(Reason::NOT_AUTHORIZED));
    assert_eq!(
        w.last_inserts("AMQ8077W"),
        ["app", "connect", "qmgr", "QM1"]
    );
    // Nor does somebody who is let in by another way than the check.
    let application = Application {
        binding: Binding::Shared,
        ..who("test")
    };
    assert_eq!(
        w.qm().connect(application).err(),
        Some(Reason::NOT_AUTHORIZED)
    );
    grant(&w, &[("QMGR", "self", "CONNECT")]);
    assert!(admit(&w, "app").is_ok());
    assert_eq!(admit(&w, "stranger").err(), Some(Reason::NOT_AUTHORIZED));
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('nobody') AUTHADD(CONNECT)");
    assert!(admit(&w, "stranger").is_ok(), "everybody is in nobody");
    // A user who leaves a group does so at the next call.
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QUEUE", "SYSTEM.DEFAULT.LOCAL.QUEUE", "PUT"),
        ],
    );
    let s = admit(&w, "app").unwrap();
    let queue = "SYSTEM.DEFAULT.LOCAL.QUEUE";
    let kept = try_open(&s, queue, MQOO_OUTPUT).unwrap();
    users.set("app", &["extra"]);
    assert_eq!(
        try_open(&s, queue, MQOO_OUTPUT),
        Err(Reason::NOT_AUTHORIZED)
    );
    // What is open stays so: nothing is asked for a message.
    put(&s, kept, MQPER_NOT_PERSISTENT, 0, b"still");
    w.run("REFRESH SECURITY(*) TYPE(AUTHSERV)");
    assert_eq!(*users.refreshed.lock(), 1);
}

#[test]
fn records_are_of_groups_unless_users_have_their_own() {
    for by_user in [false, true] {
        let (w, _) = world(by_user);
        w.run("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('app') AUTHADD(CONNECT)");
        let record = &w.qm().authority_records()[0];
        let whose = match by_user {
            true => Entity::principal("app"),
            false => Entity::group("staff"),
        };
        assert_eq!(record.entity, whose);
        assert!(admit(&w, "app").is_ok());
        let reply = w.mqsc("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('ghost') AUTHADD(CONNECT)");
        assert_eq!(reply.reason, Reason::UNKNOWN_ENTITY);
        w.run("DELETE AUTHREC OBJTYPE(QMGR) PRINCIPAL('app')");
        assert_eq!(admit(&w, "app").err(), Some(Reason::NOT_AUTHORIZED));
        let reply = w.mqsc("DELETE AUTHREC OBJTYPE(QMGR) PRINCIPAL('app')");
        assert_eq!(reply.messages[0].0, "AMQ2430E");
    }
}

/// Whether a group may do something on a queue, as DISPLAY ENTAUTH says it.
#[test]
fn records_outlive_a_crash_and_a_restart() {
    let (mut w, _) = world(false);
    w.run(
        "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET,PUT)
         SET AUTHREC PROFILE('A.B') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(NONE)
         SET AUTHREC PROFILE('B') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(ALL)
         SET AUTHREC PROFILE('C') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET)",
    );
    w.crash();
    w.run(
        "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(BROWSE) AUTHRMV(PUT)
         DELETE AUTHREC PROFILE('C') OBJTYPE(QUEUE) GROUP('staff')",
    );
    for restart in [World::crash, World::restart, World::crash] {
        restart(&mut w);
        assert_eq!(authorities(&w, "staff", "A.X"), "BROWSE,GET");
        assert_eq!(authorities(&w, "staff", "A.B"), "NONE");
        let all = "BROWSE,CHG,CLR,DLT,DSP,GET,INQ,PUT,PASSALL,PASSID,SET,SETALL,SETID";
        assert_eq!(authorities(&w, "staff", "B"), all);
        assert_eq!(authorities(&w, "staff", "C"), "NONE");
        assert_eq!(w.qm().authority_records().len(), 3);
    }
}

#[test]
fn an_objects_records_go_with_it() {
    let (mut w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(GONE)
         DEFINE TOPIC(GONE) TOPICSTR('gone')
         DEFINE SUB(GONE) TOPICSTR('gone') DEST(SYSTEM.DEFAULT.LOCAL.QUEUE)
         SET AUTHREC PROFILE(GONE) OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET)
         SET AUTHREC PROFILE(GONE) OBJTYPE(QUEUE) GROUP('extra') AUTHADD(GET)
         SET AUTHREC PROFILE(GONE) OBJTYPE(TOPIC) GROUP('staff') AUTHADD(SUB)
         SET AUTHREC PROFILE('GO*') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(PUT)
         DELETE QLOCAL(GONE)
         DELETE SUB(GONE)",
    );
    for _ in 0..2 {
        let left = w.qm().authority_records();
        let left: Vec<String> = left.iter().map(|one| one.profile.to_string()).collect();
        assert_eq!(left, ["GO*", "GONE"], "the generic one, and the topic's");
        w.crash();
    }
}

/// AUTHREC(NO), of each kind that has it: what is defined by the name later has the authorities.
#[test]
fn an_objects_records_stay_where_that_is_asked_for() {
    let (mut w, _) = world(false);
    let mut expected = Vec::new();
    for (noun, of, attributes) in [
        ("QLOCAL", "QUEUE", ""),
        ("QALIAS", "QUEUE", "TARGET(T)"),
        ("QREMOTE", "QUEUE", "RNAME(R)"),
        ("QMODEL", "QUEUE", ""),
        ("TOPIC", "TOPIC", "TOPICSTR('kept')"),
    ] {
        let define = format!("DEFINE {noun}(K.{noun}) {attributes}");
        w.run(&format!(
            "{define}
             SET AUTHREC PROFILE(K.{noun}) OBJTYPE({of}) GROUP('staff') AUTHADD(DSP)
             DELETE {noun}(K.{noun}) AUTHREC(NO)
             {define}
             DELETE {noun}(K.{noun}) AUTHREC(YES)
             {define}
             SET AUTHREC PROFILE(K.{noun}) OBJTYPE({of}) GROUP('extra') AUTHADD(DSP)
             DELETE {noun}(K.{noun}) AUTHREC(NO)"
        ));
        expected.push(format!("extra K.{noun}"));
    }
    expected.sort();
    for _ in 0..2 {
        let left = w.qm().authority_records();
        let left = left.iter();
        let mut left: Vec<String> = left
            .map(|one| format!("{} {}", one.entity.name, one.profile))
            .collect();
        left.sort();
        assert_eq!(left, expected);
        w.crash();
    }
    w.run("DEFINE QLOCAL(K.QLOCAL)");
    assert_eq!(authorities(&w, "extra", "K.QLOCAL"), "DSP");
}

#[test]
fn whoever_makes_a_queue_may_use_it() {
    let (w, _) = world(false);
    w.run("DEFINE QMODEL(MODEL)\nDEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)");
    let model = ("QUEUE", "MODEL", "GET");
    let displayed = ("QUEUE", "MODEL", "DSP");
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            model,
            displayed,
            ("QUEUE", "PERMANENT", "GET"),
            ("QUEUE", "PERMANENT", "DSP"),
        ],
    );
    w.run("SET AUTHREC OBJTYPE(QMGR) GROUP('others') AUTHADD(CONNECT)");
    let (s, other) = (admit(&w, "app").unwrap(), admit(&w, "other").unwrap());
    for (model, records) in [("MODEL", 4), ("PERMANENT", 5)] {
        let mut od = Od {
            dynamic_q_name: Name::new("D.*"),
            ..object(model)
        };
        let handle = open_od(&s, &mut od, MQOO_INPUT_SHARED).unwrap();
        let name = od.object_name.text().into_owned();
        assert_eq!(opens(&s, &name, MQOO_OUTPUT), Ok(()), "{model}");
        assert_eq!(
            opens(&other, &name, MQOO_OUTPUT),
            Err(Reason::NOT_AUTHORIZED)
        );
        let granted = w.qm().authority_records().len();
        assert_eq!(granted, records, "{model}: only what is logged is listed");
        close(&s, handle, MQCO_DELETE).unwrap();
        assert_eq!(authorities(&w, "staff", &name), "NONE", "{model}");
    }
}

#[test]
fn commands_need_what_they_are_about() {
    let (w, _) = world(false);
    w.run(OBJECTS);
    w.run("DEFINE SUB(ONES) TOPICSTR('news') DEST(Q) SUBUSER('boss')\nDEFINE QLOCAL(QM2) USAGE(XMITQ)");
    let everybody = [("QMGR", "self", "CONNECT"), ("QMGR", "self", "DSP")];
    #[rustfmt::skip] // one command, one line
    let cases: &[(&str, &[Grant])] = &[
        ("PING QMGR", &[]),
        ("DEFINE QLOCAL(NEW.1)", &[("QUEUE", "@class", "CRT")]),
        ("DEFINE QLOCAL(NEW.2)", &[("QMGR", "self", "CRT")]),
        ("DEFINE QLOCAL(NEW.3)", &[("QUEUE", "NEW.*", "CRT")]),
        ("DEFINE QLOCAL(NEW.4) LIKE(Q)", &[("QUEUE", "@class", "CRT"), ("QUEUE", "Q", "DSP")]),
        ("DEFINE QLOCAL(Q) REPLACE", &[("QUEUE", "Q", "CHG")]),
        ("ALTER QLOCAL(Q) DESCR('x')", &[("QUEUE", "Q", "CHG")]),
        ("ALTER QMGR DESCR('x')", &[("QMGR", "self", "CHG")]),
        ("CLEAR QLOCAL(Q)", &[("QUEUE", "Q", "CLR")]),
        ("CLEAR TOPICSTR('news') CLRTYPE(RETAINED)", &[("TOPIC", "NEWS", "CLR")]),
        ("DISPLAY QUEUE(Q)", &[("QUEUE", "Q", "DSP")]),
        ("DISPLAY QSTATUS(Q)", &[("QUEUE", "Q", "DSP")]),
        ("DISPLAY TPSTATUS('news')", &[("TOPIC", "NEWS", "DSP")]),
        ("DISPLAY SUB(*)", &[("TOPIC", "SYSTEM.BASE.TOPIC", "DSP")]),
        ("DISPLAY CHANNEL(SYSTEM.DEF.CLNTCONN)", &[("CLNTCONN", "SYSTEM.DEF.CLNTCONN", "DSP")]),
        ("DEFINE SUB(S) TOPICSTR('news') DEST(Q)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT")]),
        ("ALTER SUB(S) USERDATA('x') DEST(Q)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT")]),
        ("DEFINE SUB('SYSTEM.BASE.TOPIC') TOPICSTR('news') DEST(Q)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT")]),
        ("DEFINE SUB(S2) TOPICSTR('news') DEST(Q) SUBUSER('boss')", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT"), ("QMGR", "self", "ALTUSR"), ("QMGR", "self", "SETID")]),
        ("DEFINE SUB(S3) LIKE(ONES)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT"), ("QMGR", "self", "ALTUSR"), ("QMGR", "self", "SETID")]),
        ("ALTER SUB(ONES) DEST(Q)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT"), ("QMGR", "self", "ALTUSR"), ("QMGR", "self", "SETID")]),
        ("DEFINE SUB(S4) TOPICSTR('news') DEST(Q) DESTQMGR(QM2)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "Q", "PUT"), ("QMGR", "self", "CHG")]),
        ("DEFINE SUB(S5) TOPICSTR('news') DEST(HATCH)", &[("TOPIC", "NEWS", "SUB"), ("QUEUE", "HATCH", "SETALL"), ("QMGR", "self", "SETALL")]),
        ("DELETE SUB(S)", &[("TOPIC", "NEWS", "SUB")]),
        ("DELETE PROCESS(P)", &[("PROCESS", "P", "DLT")]),
        ("SAVE QMGR", &[("QMGR", "self", "CHG")]),
        ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('extra') AUTHADD(GET)", &[("QMGR", "self", "CHG")]),
        ("DELETE AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('extra')", &[("QMGR", "self", "CHG")]),
        ("REFRESH SECURITY TYPE(AUTHSERV)", &[("QMGR", "self", "CHG")]),
        ("SET CHLAUTH(X) TYPE(ADDRESSMAP) ADDRESS('10.0.0.1') MCAUSER('x')", &[("QMGR", "self", "CHG")]),
        ("DISPLAY CHLAUTH(*)", &[]),
        ("DISPLAY AUTHSERV", &[]),
    ];
    for (text, needs) in cases {
        let all = [&everybody[..], needs].concat();
        for missing in 0..all.len() {
            let mut rest = all.clone();
            let (_, _, word) = rest.remove(missing);
            grant(&w, &rest);
            let objects = w.qm().objects(ObjectKind::QLocal);
            let reply = command(&w, "app", text);
            assert_eq!(
                reply.reason,
                Reason::NOT_AUTHORIZED,
                "{text} without {word}"
            );
            assert!(reply.rows.is_empty(), "{text}");
            assert_eq!(w.qm().objects(ObjectKind::QLocal), objects, "{text}");
        }
        grant(&w, &all);
        if text.starts_with("DELETE AUTHREC") {
            w.run("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('extra') AUTHADD(GET)");
        }
        let records = w.qm().authority_records().len();
        let reply = command(&w, "app", text);
        assert!(reply.ok, "{text}: {}", render(&reply));
        if text.contains(" SUB(") {
            assert_eq!(w.qm().authority_records().len(), records, "{text}");
        }
    }
    // What may not be seen is left out.
    grant(&w, &[everybody[0], everybody[1], ("QUEUE", "NEW.*", "DSP")]);
    let shown = command(&w, "app", "DISPLAY QUEUE(*)");
    assert_eq!(shown.rows.len(), 4);
    // Whoever made a queue may do everything with it.
    grant(
        &w,
        &[everybody[0], everybody[1], ("QUEUE", "@class", "CRT")],
    );
    assert!(command(&w, "app", "DEFINE QLOCAL(MINE)").ok);
    assert!(command(&w, "app", "DELETE QLOCAL(MINE)").ok);
    let denied = command(&w, "app", "DELETE QLOCAL(NEW.1)");
    assert_eq!(denied.messages[0].0, "AMQ2431E");
    let text = "app has no authority for this command: it needs dlt on queue NEW.1.";
    assert_eq!(denied.messages[0].1, text);
}

/// What is granted on one name opens no other, whatever leads from one to the other.
#[test]
fn there_is_no_way_round_by_another_name() {
    let (w, _) = world(false);
    w.run(OBJECTS);
    w.run("DEFINE QLOCAL(DEAD)\nALTER QMGR DEADQ(DEAD)");
    #[rustfmt::skip] // one case, a few lines
    let cases: &[(&str, &[Grant], Act)] = &[
        ("the target's authority does not open its alias", &[("QUEUE", "Q", "ALL")], |_, s| opens(s, "ALIAS", MQOO_INPUT_SHARED)),
        ("nor by MQPUT1", &[("QUEUE", "Q", "ALL")], |_, s| puts1(s, object("ALIAS"), 0)),
        ("the alias's does not open its target", &[("QUEUE", "ALIAS", "ALL")], |_, s| opens(s, "Q", MQOO_INPUT_SHARED)),
        ("a transmission queue's put, by its own name", &[("QUEUE", "XMIT", "PUT")], |_, s| puts1(s, object("XMIT"), 0)),
        ("nor by an alias", &[("QUEUE", "HATCH", "PUT")], |_, s| puts1(s, object("HATCH"), 0)),
        ("the dead-letter queue is a queue", &[("QUEUE", "Q", "ALL")], |_, s| puts1(s, object("DEAD"), 0)),
        ("the command queue is a queue", &[("QUEUE", "Q", "ALL")], |_, s| puts1(s, object("SYSTEM.ADMIN.COMMAND.QUEUE"), 0)),
        ("a queue of this name, with our queue manager's", &[("QUEUE", "ALIAS", "ALL")], |_, s| {
            puts1(s, Od { object_q_mgr_name: Name::new("QM1"), ..object("Q") }, 0)
        }),
        ("a model queue by what a queue of the new name may", &[("QUEUE", "D", "ALL")], |_, s| {
            opens_od(s, &mut Od { dynamic_q_name: Name::new("D"), ..object("MODEL") }, MQOO_INPUT_SHARED)
        }),
        ("a topic below does not open the one above", &[("TOPIC", "DEEP", "PUB")], |_, s| puts1(s, topic("news"), 0)),
        ("nor a wildcard above it", &[("TOPIC", "DEEP", "SUB")], |_, s| {
            let all = Sd { object_string: "news/#".to_owned(), ..sd(MQSO_CREATE | MQSO_MANAGED, "") };
            subscribes(s, all, Hobj::NONE)
        }),
        ("nor characters with which its name begins", &[("TOPIC", "NEWS", "SUB")], |_, s| {
            let all = Sd { object_string: "news*".to_owned(), ..sd(MQSO_CREATE | MQSO_MANAGED | MQSO_WILDCARD_CHAR, "") };
            subscribes(s, all, Hobj::NONE)
        }),
        ("a transmission queue by a subscription", &[("QUEUE", "XMIT", "GET"), ("QUEUE", "XMIT", "PUT"), ("TOPIC", "NEWS", "SUB")], |_, s| {
            let own = try_open(s, "XMIT", MQOO_INPUT_SHARED).unwrap();
            let made = subscribes(s, sd(MQSO_CREATE, ""), own);
            close(s, own, MQCO_NONE).unwrap();
            made
        }),
        ("publishing is not subscribing", &[("TOPIC", "NEWS", "PUB")], |_, s| {
            subscribes(s, sd(MQSO_CREATE | MQSO_MANAGED, ""), Hobj::NONE)
        }),
        ("context is not passed without its authority", &[("QUEUE", "Q", "PUT"), ("QUEUE", "Q", "GET")], |_, s| {
            puts1(s, object("Q"), MQPMO_SET_ALL_CONTEXT)
        }),
        ("a user who administers, without altusr", &[("QUEUE", "Q", "ALL")], |_, s| {
            let mut od = object("DEAD");
            od.alternate_user_id = Chars::new("boss");
            puts1(s, od, MQPMO_ALTERNATE_USER_AUTHORITY)
        }),
        ("nobody's name", &[("QMGR", "self", "ALTUSR")], |_, s| puts1(s, object("Q"), MQPMO_ALTERNATE_USER_AUTHORITY)),
    ];
    for (what, grants, act) in cases {
        let connect = ("QMGR", "self", "CONNECT");
        grant(&w, &[grants, &[connect][..]].concat());
        let s = admit(&w, "app").unwrap();
        assert_eq!(act(&w, &s), Err(Reason::NOT_AUTHORIZED), "{what}");
    }
    assert_eq!(w.depth("DEAD") + w.depth("Q"), 0);
    assert!(w.qm().object(ObjectKind::QLocal, "D").is_none());
}

/// The command server serves who asks, by that user's authority, and answers only where that user may put.
#[test]
fn commands_are_their_askers() {
    let (mut w, _) = world(false);
    w.run("DEFINE QLOCAL(SECRET)\nDEFINE QLOCAL(REPLIES)");
    grant(
        &w,
        &[
            ("QMGR", "self", "CONNECT"),
            ("QMGR", "self", "DSP"),
            ("QUEUE", "SYSTEM.ADMIN.COMMAND.QUEUE", "PUT"),
            ("QUEUE", "REPLIES", "PUT"),
            ("QUEUE", "REPLIES", "GET"),
        ],
    );
    let server = CommandServer {
        admin: Admin::alone(w.qm()),
        operator: w.operator(),
        clock: w.env.clock.clone(),
        user: "tester".to_owned(),
    };
    let session = server.connect();
    let server = std::thread::spawn(move || block_on(server.serve(session, |_| {})));
    let s = admit(&w, "app").unwrap();
    let ask = |text: &str, reply: &str| {
        let mut md = Md {
            msg_type: MQMT_REQUEST,
            format: Chars::new(MQFMT_ADMIN),
            reply_to_q: Name::new(reply),
            ..Md::default()
        };
        let (mut od, mut pmo) = (object("SYSTEM.ADMIN.COMMAND.QUEUE"), pmo(0));
        let data = Bytes::from(pcf::escape_request(text));
        block_on(s.put1(&mut od, &mut md, &mut pmo, data)).unwrap();
    };
    ask("PING QMGR", "SECRET");
    ask("CLEAR QLOCAL(SECRET)", "REPLIES");
    let replies = try_open(&s, "REPLIES", MQOO_INPUT_SHARED).unwrap();
    let mut gmo = Gmo {
        options: MQGMO_WAIT,
        wait_interval: 60_000,
        ..Gmo::default()
    };
    let got = block_on(s.get(replies, &mut Md::default(), &mut gmo, 1 << 20)).unwrap();
    let texts = pcf::escape_texts(&got.value.data).unwrap().concat();
    assert!(texts.contains("AMQ2431E"), "{texts}");
    assert_eq!(w.depth("SECRET"), 0);
    let [queue, why] = &w.last_inserts("AMQ2205W")[..] else {
        panic!("inserts");
    };
    assert_eq!(queue, "SECRET");
    assert!(why.contains("2035"), "{why}");
    drop(s);
    w.end(EndMode::Immediate);
    server.join().unwrap();
}

#[test]
fn records_are_shown_as_asked_for() {
    let (w, _) = world(false);
    w.run(
        "SET AUTHREC PROFILE('A.*') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(GET)
         SET AUTHREC PROFILE('A.B') OBJTYPE(QUEUE) GROUP('extra') AUTHADD(PUT)
         SET AUTHREC PROFILE('A.B') OBJTYPE(TOPIC) GROUP('others') AUTHADD(SUB)
         SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(CONNECT,INQ)",
    );
    let profiles = |text: &str| -> Vec<String> {
        let reply = w.mqsc(text);
        let rows = reply.rows.iter();
        rows.map(|(_, _, row)| {
            let [profile, of] = ["PROFILE", "OBJTYPE"].map(|word| row.shown(word).unwrap());
            format!("{of} {profile}")
        })
        .collect()
    };
    assert_eq!(
        profiles("DISPLAY AUTHREC"),
        ["QUEUE A.*", "QUEUE A.B", "QMGR self", "TOPIC A.B"]
    );
    assert_eq!(
        profiles("DISPLAY AUTHREC PROFILE(A.B) OBJTYPE(QUEUE)"),
        ["QUEUE A.*", "QUEUE A.B"]
    );
    assert_eq!(profiles("DISPLAY AUTHREC PROFILE('A.*')"), ["QUEUE A.*"]);
    assert_eq!(
        profiles("DISPLAY AUTHREC PROFILE(A.B) MATCH(EXACT)"),
        ["QUEUE A.B", "TOPIC A.B"]
    );
    assert_eq!(profiles("DISPLAY AUTHREC GROUP('extra')"), ["QUEUE A.B"]);
    assert_eq!(
        profiles("DISPLAY AUTHREC PRINCIPAL('app') MATCH(MEMBERSHIP)"),
        ["QUEUE A.*", "QUEUE A.B", "QMGR self"]
    );
    assert_eq!(
        w.mqsc("DISPLAY AUTHREC PROFILE(Z)").messages[0].0,
        "AMQ2430E"
    );
    let reply = w.mqsc("DISPLAY AUTHREC OBJTYPE(QMGR)");
    let expected = "AMQ8864I: Display authority record details.\n   PROFILE(self)                           \
                    ENTITY(staff)\n   ENTTYPE(GROUP)                          OBJTYPE(QMGR)\n   AUTHLIST(CONNECT,INQ)\n";
    assert_eq!(render(&reply), expected);
    let of_user = w.mqsc("DISPLAY ENTAUTH PRINCIPAL('app') OBJTYPE(QUEUE) OBJNAME(A.B) AUTHLIST");
    assert_eq!(of_user.rows[0].2.shown("AUTHLIST").unwrap(), "GET,PUT");
    assert_eq!(of_user.rows[0].2.len(), 3);
    let service = w.mqsc("DISPLAY AUTHSERV UIDSUPP");
    assert_eq!(service.rows[0].2.shown("UIDSUPP").unwrap(), "NO");
    // A saved script makes them again.
    let saved = w.mqsc("SAVE QMGR");
    let commands: Vec<String> = saved.messages.into_iter().map(|(_, text)| text).collect();
    let commands = commands
        .iter()
        .filter(|text| text.starts_with("SET AUTHREC"));
    let commands: Vec<&String> = commands.collect();
    assert_eq!(commands.len(), 4);
    let before = w.qm().authority_records();
    grant(&w, &[]);
    commands.iter().for_each(|text| w.run(text));
    assert_eq!(w.qm().authority_records(), before);
}

/// An operator who decides about a branch has to administer, and whoever audits hears of him, whatever came of it.
#[test]
fn who_decides_about_branches_may_change_the_queue_manager() {
    let (w, _) = world(false);
    let prepared = |n: u8| {
        let branch = Xid::new(1, &[n; 8], b"b").unwrap();
        let boss = admit(&w, "boss").unwrap();
        let h = try_open(&boss, LOCAL, MQOO_OUTPUT).unwrap();
        put(&boss, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        block_on(boss.prepare(&branch)).unwrap();
        let all = w.qm().transactions().into_iter();
        let mut found = all.filter(|one| one.branch.as_ref() == Some(&branch));
        (found.next().unwrap().id, branch)
    };
    let decide = |user: &str, number: u64, decision: Decision| {
        let operator = Application {
            user: user.to_owned(),
            ..who("rsvmqtrn")
        };
        w.audited();
        block_on(Admin::alone(w.qm()).decide_as(operator, number, decision))
    };
    let audited = || {
        let all = w.audited().into_iter();
        let mut all = all.filter(|event| event.kind == AuditKind::BranchDecided);
        let event = all.next().unwrap();
        assert!(all.next().is_none());
        assert_eq!(event.who.name, "rsvmqtrn");
        event
    };
    let (number, branch) = prepared(1);
    let lacks = |user: &str| {
        let why = format!("{user} lacks the authority chg on the queue manager");
        Err(Undecided::Refused(why))
    };
    // All but what is needed, and not even whether there is such a transaction is told.
    let but_change = ["CONNECT", "DSP", "CTRL", "INQ", "SET", "ALTUSR", "SETALL"];
    grant(&w, &but_change.map(|authority| ("QMGR", "self", authority)));
    for decision in [Decision::Commit, Decision::BackOut, Decision::Forget] {
        for number in [number, 4_711] {
            assert_eq!(decide("app", number, decision), lacks("app"));
            let event = audited();
            assert_eq!(
                (event.who.user.as_str(), event.reason),
                ("app", Reason::NOT_AUTHORIZED)
            );
        }
    }
    assert_eq!(w.qm().in_doubt().len(), 1, "nothing has happened to it");
    grant(&w, &[("QMGR", "self", "CHG")]);
    let shown = transaction_number(number);
    let steps = [
        ("app", Decision::Commit, Ok(()), "-c", Reason::NONE),
        (
            "boss",
            Decision::BackOut,
            Err(Undecided::Refused("it has been committed".to_owned())),
            "-b",
            Reason::UNEXPECTED_ERROR,
        ),
        ("boss", Decision::Forget, Ok(()), "-f", Reason::NONE),
    ];
    for (user, decision, result, option, reason) in steps {
        assert_eq!(decide(user, number, decision), result);
        let event = audited();
        assert_eq!((event.who.user.as_str(), event.reason), (user, reason));
        assert_eq!(event.command, format!("rsvmqtrn {option} {shown}"));
        assert_eq!(
            (event.object, event.owner),
            (branch.to_string(), "boss".to_owned())
        );
    }
    assert_eq!(
        decide("boss", number, Decision::Forget),
        Err(Undecided::Unknown)
    );
    assert_eq!(audited().reason, Reason::UNEXPECTED_ERROR);
}

/// Where nothing is checked records are kept, and whoever sets one is told.
#[test]
fn without_the_service_everybody_may_do_everything() {
    let w = World::light();
    let application = Application {
        binding: Binding::Shared,
        ..who("test")
    };
    let s = block_on(w.qm().admit(application)).unwrap();
    assert_eq!(opens(&s, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_OUTPUT), Ok(()));
    let reply = w.mqsc("SET AUTHREC OBJTYPE(QMGR) GROUP('anybody') AUTHADD(CONNECT)");
    let ids: Vec<&str> = reply.messages.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["AMQ8862I", "AMQ2432W"]);
    assert!(command(&w, "stranger", "DEFINE QLOCAL(Q)").ok);
}
