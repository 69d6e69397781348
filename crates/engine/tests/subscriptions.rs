//! MQSUB: who makes, resumes, alters and ends subscriptions, what becomes of their queues, and what is there after a crash.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_command::{Deletion, ObjectKind};
use posthaste_engine::{Application, Session, SubscribeOptions, SubscriptionStatus};
use posthaste_env::block_on;
use posthaste_env_sim::SimDisk;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Reason, Sd, Sro};
use world::*;

const MANAGED: i32 = MQSO_CREATE | MQSO_MANAGED;
const DURABLE: i32 = MANAGED | MQSO_DURABLE;
/// What the Java client asks for: a durable subscription, made or taken over.
const JMS: i32 = MQSO_CREATE
    | MQSO_ALTER
    | MQSO_MANAGED
    | MQSO_DURABLE
    | MQSO_ANY_USERID
    | MQSO_WILDCARD_TOPIC
    | MQSO_FAIL_IF_QUIESCING;

fn sd(options: i32, name: &str, topic: &str) -> Sd {
    Sd {
        options,
        sub_name: name.to_owned(),
        object_string: topic.to_owned(),
        sub_user_data_size: 100,
        selection_string_size: 100,
        res_object_string_size: 100,
        ..Sd::default()
    }
}

fn sub(s: &Session, sd: &mut Sd, own: Hobj) -> Result<(Hobj, Hobj), Reason> {
    let done = block_on(s.subscribe(sd, own))?;
    assert_eq!(done.warning, Reason::NONE);
    Ok(done.value)
}

fn managed(s: &Session, options: i32, name: &str) -> Result<(Hobj, Hobj), Reason> {
    sub(s, &mut sd(options, name, "a/b"), Hobj::NONE)
}

fn shared(s: &Session, options: i32, name: &str) -> Result<(Hobj, Hobj), Reason> {
    let with = SubscribeOptions {
        shared: true,
        open_options: 0x2029,
        joins: None,
    };
    let mut sd = sd(options, name, "a/b");
    let done = block_on(s.subscribe_with(&mut sd, Hobj::NONE, with));
    done.map(|done| done.value)
}

fn queue_of(s: &Session, hobj: Hobj) -> String {
    s.destination(hobj).unwrap().0.text().into_owned()
}

fn all(w: &World) -> Vec<SubscriptionStatus> {
    w.qm().subscriptions(|_, _| true)
}

fn names(w: &World) -> Vec<String> {
    let all = all(w).into_iter();
    all.map(|status| status.definition.name).collect()
}

/// How many managed queues there are.
fn managed_queues(w: &World) -> usize {
    let is_managed = |name: &str| name.starts_with("SYSTEM.MANAGED.");
    w.qm().queue_statuses(is_managed).len()
}

fn as_user(w: &World, user: &str) -> Session {
    let application = Application {
        user: user.to_owned(),
        ..who("test")
    };
    w.qm().connect(application).unwrap()
}

#[test]
fn a_managed_subscription_ends_with_its_handle_and_its_queue_with_the_last_of_both() {
    let w = World::light();
    let s = w.connect();
    for hsub_first in [true, false] {
        let mut descriptor = sd(MANAGED, "", "a/b");
        let (hobj, hsub) = sub(&s, &mut descriptor, Hobj::NONE).unwrap();
        assert_eq!(descriptor.res_object_string, "a/b");
        assert_ne!(descriptor.sub_correl_id, MQCI_NONE);
        let queue = queue_of(&s, hobj);
        assert!(queue.starts_with("SYSTEM.MANAGED.NDURABLE."), "{queue}");
        assert_eq!((all(&w).len(), managed_queues(&w)), (1, 1));
        assert_eq!(all(&w)[0].id, descriptor.sub_correl_id);
        let order = if hsub_first {
            [hsub, hobj]
        } else {
            [hobj, hsub]
        };
        assert_eq!(close(&s, order[0], 0), Ok(Reason::NONE));
        assert_eq!(all(&w).len(), usize::from(!hsub_first));
        assert_eq!(managed_queues(&w), 1);
        assert_eq!(close(&s, order[1], 0), Ok(Reason::NONE));
        assert_eq!((all(&w).len(), managed_queues(&w)), (0, 0));
        assert_eq!(close(&s, hsub, 0), Err(Reason::HOBJ_ERROR));
    }
    let (_, hsub) = managed(&s, MANAGED, "").unwrap();
    assert_eq!(
        close(&s, hsub, MQCO_KEEP_SUB),
        Err(Reason::OPTION_NOT_VALID_FOR_TYPE)
    );
    assert_eq!(
        close(&s, hsub, MQCO_DELETE),
        Err(Reason::OPTION_NOT_VALID_FOR_TYPE)
    );
    assert_eq!(close(&s, hsub, 64), Err(Reason::OPTIONS_ERROR));
    assert_eq!(next(&s, hsub, 0).err(), Some(Reason::HOBJ_ERROR));
    assert_eq!(inquire(&s, hsub, &[]).err(), Some(Reason::HOBJ_ERROR));
    drop(s);
    assert_eq!((all(&w).len(), managed_queues(&w)), (0, 0));
}

#[test]
fn a_durable_subscription_is_there_with_its_messages_after_a_crash() {
    let mut w = World::light();
    let s = w.connect();
    let mut made = Sd {
        sub_user_data: "data ".to_owned(),
        selection_string: "a = 1".to_owned(),
        pub_priority: 4,
        sub_level: 3,
        sub_correl_id: [7; 24],
        ..sd(DURABLE | MQSO_SET_CORREL_ID, "S", "a/#")
    };
    let (hobj, _) = sub(&s, &mut made, Hobj::NONE).unwrap();
    let queue = queue_of(&s, hobj);
    assert!(queue.starts_with("SYSTEM.MANAGED.DURABLE."), "{queue}");
    put1(&s, &queue, &mut md(PERSISTENT), 0, b"kept").unwrap();
    let id = all(&w)[0].id;
    drop(s);
    w.crash();
    assert_eq!(names(&w), ["S"]);
    assert_eq!((all(&w)[0].id, managed_queues(&w)), (id, 1));
    let s = w.connect();
    let mut found = sd(MQSO_RESUME, "S", "");
    let (hobj, hsub) = sub(&s, &mut found, Hobj::NONE).unwrap();
    assert_eq!(queue_of(&s, hobj), queue);
    let says = |sd: &Sd| (sd.sub_correl_id, sd.pub_priority, sd.sub_level);
    assert_eq!(says(&found), ([7; 24], 4, 3));
    assert_eq!(
        (&*found.sub_user_data, &*found.selection_string),
        ("data ", "a = 1")
    );
    assert_eq!(found.res_object_string, "a/#");
    let kept = MQSO_DURABLE | MQSO_MANAGED | MQSO_WILDCARD_TOPIC;
    assert_eq!(found.options & kept, kept);
    assert_eq!(next(&s, hobj, 0).unwrap().text(), "kept");
    // It ends for good, and its queue when that is closed.
    assert_eq!(close(&s, hsub, MQCO_REMOVE_SUB), Ok(Reason::NONE));
    assert_eq!((all(&w).len(), managed_queues(&w)), (0, 1));
    close(&s, hobj, 0).unwrap();
    assert_eq!(managed_queues(&w), 0);
    drop(s);
    w.crash();
    assert_eq!((all(&w).len(), managed_queues(&w)), (0, 0));
}

#[test]
fn what_is_asked_for_and_what_is_there_decide() {
    let w = World::light();
    let s = w.connect();
    let exists = Err(Reason::SUB_ALREADY_EXISTS);
    assert_eq!(managed(&s, MQSO_RESUME, "S"), Err(Reason::NO_SUBSCRIPTION));
    assert_eq!(managed(&s, MQSO_ALTER, "S"), Err(Reason::NO_SUBSCRIPTION));
    managed(&s, DURABLE, "S").unwrap();
    assert_eq!(managed(&s, DURABLE, "S"), exists);
    assert_eq!(managed(&s, MANAGED, "S"), exists);
    // Trailing blanks are no part of a name.
    assert_eq!(managed(&s, DURABLE, "S  "), exists);
    managed(&s, MANAGED, "N").unwrap();
    assert_eq!(managed(&s, MANAGED, "N"), exists);
    assert_eq!(managed(&s, DURABLE, "N"), exists);
    managed(&s, DURABLE | MQSO_RESUME, "S").unwrap();
    managed(&s, DURABLE | MQSO_ALTER, "S").unwrap();
    managed(&s, MQSO_RESUME, "N").unwrap();
    assert_eq!(managed(&s, DURABLE, ""), Err(Reason::SUB_NAME_ERROR));
    let default = "SYSTEM.DEFAULT.SUB";
    for options in [DURABLE, MQSO_RESUME, DURABLE | MQSO_ALTER] {
        let invalid = Err(Reason::INVALID_SUBSCRIPTION);
        assert_eq!(managed(&s, options, default), invalid, "{options:#x}");
    }
    for (topic, selection, reason) in [
        ("", "", Reason::TOPIC_STRING_ERROR),
        ("a", "a = ", Reason::SELECTOR_SYNTAX_ERROR),
        ("a", "1 = 2", Reason::SELECTOR_ALWAYS_FALSE),
    ] {
        let mut sd = sd(MANAGED, "", topic);
        sd.selection_string = selection.to_owned();
        assert_eq!(
            sub(&s, &mut sd, Hobj::NONE),
            Err(reason),
            "{topic} {selection}"
        );
    }
    let mut of_object = sd(MANAGED, "", "b");
    of_object.object_name = posthaste_mqi::Name::new("T");
    let unknown = Err(Reason::UNKNOWN_OBJECT_NAME);
    assert_eq!(sub(&s, &mut of_object, Hobj::NONE), unknown);
    w.run("DEFINE TOPIC(T) TOPICSTR('a')");
    sub(&s, &mut of_object, Hobj::NONE).unwrap();
    assert_eq!(of_object.res_object_string, "a/b");
    assert_eq!((all(&w).len(), managed_queues(&w)), (3, 3));
}

/// One such subscription would hold everybody who publishes for most of a second.
#[test]
fn a_topic_string_that_is_costly_to_compare_is_refused() {
    let w = World::light();
    let s = w.connect();
    w.run("DEFINE TOPIC(DEV) TOPICSTR('dev')");
    let many = |number: usize| format!("dev/{}{}yi", "+/".repeat(number), "#/x/".repeat(2_500));
    let deep = "/".repeat(256);
    let stretch = format!("dev/*{}b*", "a?".repeat(2_500));
    let error = Err(Reason::TOPIC_STRING_ERROR);
    managed(&s, DURABLE, "TAKEN").unwrap();
    for (scheme, topic) in [
        (MQSO_WILDCARD_TOPIC, many(1).as_str()),
        (MQSO_WILDCARD_TOPIC, &many(20)),
        (MQSO_WILDCARD_TOPIC, &deep),
        (MQSO_WILDCARD_CHAR, &deep),
        (MQSO_WILDCARD_CHAR, &stretch),
    ] {
        for (options, name) in [(MANAGED, ""), (DURABLE, "S"), (DURABLE, "TAKEN")] {
            let mut sd = sd(options | scheme, name, topic);
            assert_eq!(sub(&s, &mut sd, Hobj::NONE), error, "{name} {topic:.30}");
        }
        let words = match scheme {
            MQSO_WILDCARD_CHAR => "CHAR",
            _ => "TOPIC",
        };
        let define =
            format!("DEFINE SUB(S) WSCHEMA({words}) DESTCLAS(MANAGED) TOPICSTR('{topic}')");
        assert_eq!(
            w.mqsc(&define).reason,
            Reason::TOPIC_STRING_ERROR,
            "{define:.90}"
        );
    }
    // The whole string counts, of which the application gives a part.
    let mut behind = sd(MANAGED, "", &deep[1..]);
    behind.object_name = posthaste_mqi::Name::new("DEV");
    assert_eq!(sub(&s, &mut behind, Hobj::NONE), error);
    let define = |topic: &str| w.mqsc(&format!("DEFINE TOPIC(DEEP) TOPICSTR('{topic}')"));
    let refused = define(&deep);
    assert_eq!(refused.reason, Reason::TOPIC_STRING_ERROR);
    assert_eq!(refused.messages[0].0, "AMQ2414E");
    assert!(define(&deep[1..]).ok);
    assert_eq!(names(&w), ["TAKEN"]);
    assert_eq!(managed_queues(&w), 1);
    for topic in ["#/a/#/b/#", &deep[1..]] {
        sub(&s, &mut sd(MANAGED, "", topic), Hobj::NONE).unwrap();
    }
}

#[test]
fn a_subscription_is_of_one_connection_at_a_time_and_of_its_user() {
    let w = World::light();
    let (s, other) = (w.connect(), w.connect());
    let in_use = Err(Reason::SUBSCRIPTION_IN_USE);
    let (_, hsub) = managed(&s, DURABLE, "S").unwrap();
    assert_eq!(managed(&other, MQSO_RESUME, "S"), in_use);
    assert_eq!(all(&w)[0].connections.len(), 1);
    close(&s, hsub, MQCO_KEEP_SUB).unwrap();
    assert!(all(&w)[0].connections.is_empty());
    let (_, hsub) = managed(&other, MQSO_RESUME, "S").unwrap();
    assert_eq!(managed(&s, MQSO_RESUME, "S"), in_use);
    close(&other, hsub, MQCO_NONE).unwrap();
    let stranger = as_user(&w, "stranger");
    let mismatch = Err(Reason::IDENTITY_MISMATCH);
    assert_eq!(managed(&stranger, MQSO_RESUME, "S"), mismatch);
    assert_eq!(managed(&stranger, DURABLE | MQSO_ALTER, "S"), mismatch);
    // On behalf of its user, without being it.
    let mut behalf = sd(MQSO_RESUME | MQSO_ALTERNATE_USER_AUTHORITY, "S", "");
    behalf.alternate_user_id = posthaste_mqi::Chars::new("tester");
    let (_, hsub) = sub(&stranger, &mut behalf, Hobj::NONE).unwrap();
    close(&stranger, hsub, 0).unwrap();
    let any = DURABLE | MQSO_ALTER | MQSO_ANY_USERID;
    let (_, hsub) = managed(&s, any, "S").unwrap();
    close(&s, hsub, 0).unwrap();
    let fixed = DURABLE | MQSO_ALTER | MQSO_FIXED_USERID;
    let (_, hsub) = managed(&stranger, fixed, "S").unwrap();
    close(&stranger, hsub, 0).unwrap();
    assert_eq!(managed(&s, MQSO_RESUME, "S"), mismatch);
}

/// Whoever resumes a subscription of any user takes it over: what is published comes in his name from then on (manual:
/// "MQSO_ANY_USERID subscription option").
#[test]
fn who_resumes_a_subscription_of_any_user_takes_it_over() {
    let mut w = World::light();
    let s = w.connect();
    let close_both = |s: &Session, (hobj, hsub): (Hobj, Hobj)| {
        close(s, hobj, 0).unwrap();
        close(s, hsub, MQCO_KEEP_SUB).unwrap();
    };
    let any = DURABLE | MQSO_ANY_USERID;
    close_both(&s, managed(&s, any, "S").unwrap());
    let user = |w: &World| {
        all(w)[0]
            .definition
            .attrs
            .text(MQCACF_SUB_USER_ID)
            .to_owned()
    };
    assert_eq!(user(&w), "tester");
    let stranger = as_user(&w, "stranger");
    let taken = managed(&stranger, MQSO_RESUME, "S").unwrap();
    assert_eq!(user(&w), "stranger");
    let data = bytes::Bytes::from_static(b"text");
    block_on(s.put1(&mut topic("a/b"), &mut md(0), &mut pmo(0), data)).unwrap();
    let got = next(&stranger, taken.0, 0).unwrap();
    assert_eq!(
        got.md.user_identifier,
        posthaste_mqi::Chars::new("stranger")
    );
    close_both(&stranger, taken);
    drop((s, stranger));
    w.crash();
    assert_eq!(user(&w), "stranger");
    // It is any user's still, the first one's too; of one that is not, each use is its user's.
    let s = w.connect();
    close_both(&s, managed(&s, MQSO_RESUME, "S").unwrap());
    assert_eq!(user(&w), "tester");
    let other = as_user(&w, "other");
    let fixed = DURABLE | MQSO_ALTER | MQSO_FIXED_USERID;
    close_both(&other, managed(&other, fixed, "S").unwrap());
    assert_eq!(user(&w), "other");
    let mismatch = Err(Reason::IDENTITY_MISMATCH);
    assert_eq!(managed(&s, MQSO_RESUME, "S"), mismatch);
    assert_eq!(user(&w), "other");
}

#[test]
fn an_alteration_is_durable_and_what_cannot_be_altered_is_refused() {
    let mut w = World::light();
    let s = w.connect();
    managed(&s, DURABLE, "S").unwrap();
    let alter = DURABLE | MQSO_ALTER;
    let refused = |options: i32, topic: &str, change: &dyn Fn(&mut Sd)| {
        let mut sd = sd(options, "S", topic);
        change(&mut sd);
        sub(&s, &mut sd, Hobj::NONE).err()
    };
    let same = |_: &mut Sd| {};
    for (options, topic, reason) in [
        (
            MANAGED | MQSO_ALTER,
            "a/b",
            Reason::DURABILITY_NOT_ALTERABLE,
        ),
        (
            alter & !MQSO_MANAGED,
            "a/b",
            Reason::DEST_CLASS_NOT_ALTERABLE,
        ),
        (alter, "a/c", Reason::TOPIC_NOT_ALTERABLE),
        (
            alter | MQSO_WILDCARD_CHAR,
            "a/b",
            Reason::TOPIC_NOT_ALTERABLE,
        ),
    ] {
        assert_eq!(refused(options, topic, &same), Some(reason));
    }
    let level = refused(alter, "a/b", &|sd| sd.sub_level = 2);
    assert_eq!(level, Some(Reason::SUBLEVEL_NOT_ALTERABLE));
    let selection = refused(alter, "a/b", &|sd| sd.selection_string = "a = 1".to_owned());
    assert_eq!(selection, Some(Reason::SELECTOR_NOT_ALTERABLE));
    let before = all(&w)[0].clone();
    assert_eq!(refused(alter, "a/b", &same), None);
    assert_eq!(all(&w)[0].altered, before.altered, "nothing has changed");
    let mut altered = Sd {
        sub_user_data: "new".to_owned(),
        pub_priority: 9,
        sub_correl_id: [3; 24],
        pub_accounting_token: [4; 32],
        ..sd(
            alter | MQSO_SET_CORREL_ID | MQSO_SET_IDENTITY_CONTEXT | MQSO_PUBLICATIONS_ON_REQUEST,
            "S",
            "a/b",
        )
    };
    sub(&s, &mut altered, Hobj::NONE).unwrap();
    drop(s);
    w.crash();
    let after = all(&w)[0].clone();
    assert_eq!(after.id, before.id);
    let s = w.connect();
    let mut found = sd(MQSO_RESUME, "S", "");
    sub(&s, &mut found, Hobj::NONE).unwrap();
    assert_eq!((&*found.sub_user_data, found.pub_priority), ("new", 9));
    assert_eq!(found.sub_correl_id, [3; 24]);
    assert_eq!(found.pub_accounting_token, [4; 32]);
    assert_ne!(found.options & MQSO_PUBLICATIONS_ON_REQUEST, 0);
}

#[test]
fn an_alteration_without_an_identity_context_has_the_default_one() {
    let w = World::light();
    let s = w.connect();
    for (name, durable) in [("D", MQSO_DURABLE), ("N", 0)] {
        let mut made = sd(MANAGED | durable | MQSO_SET_IDENTITY_CONTEXT, name, "a/b");
        made.pub_accounting_token = [4; 32];
        made.pub_appl_identity_data = Chars::new("identity");
        sub(&s, &mut made, Hobj::NONE).unwrap();
        let mut altered = Sd {
            options: MQSO_ALTER | MQSO_MANAGED | durable,
            ..made.clone()
        };
        sub(&s, &mut altered, Hobj::NONE).unwrap();
        let mut found = sd(MQSO_RESUME, name, "");
        sub(&s, &mut found, Hobj::NONE).unwrap();
        assert_eq!(found.pub_accounting_token, MQACT_NONE);
        assert_eq!(found.pub_appl_identity_data, Chars::BLANK);
    }
}

#[test]
fn an_application_subscribes_for_its_own_queue() {
    let w = World::light();
    let s = w.connect();
    w.run(
        "DEFINE QLOCAL(Q1)
         DEFINE QLOCAL(Q2)
         DEFINE QLOCAL(XMIT) USAGE(XMITQ)
         DEFINE QREMOTE(R) RNAME(FAR) RQMNAME(QM2) XMITQ(XMIT)",
    );
    let create = MQSO_CREATE | MQSO_DURABLE;
    let q1 = open(&s, "Q1", MQOO_INPUT_SHARED);
    let q2 = open(&s, "Q2", MQOO_BROWSE);
    let output = open(&s, "Q1", MQOO_OUTPUT);
    let remote = open(&s, "R", MQOO_OUTPUT);
    let temporary = open(&s, MODEL, MQOO_INPUT_SHARED);
    let of = |options: i32, name: &str, own| sub(&s, &mut sd(options, name, "a"), own);
    for own in [Hobj::NONE, output, Hobj(77)] {
        assert_eq!(of(create, "S", own), Err(Reason::HOBJ_ERROR));
    }
    assert_eq!(of(create, "S", temporary), Err(Reason::INVALID_DESTINATION));
    of(MQSO_CREATE, "T", temporary).unwrap();
    let (hobj, hsub) = of(create, "S", q1).unwrap();
    assert_eq!(hobj, q1);
    of(create, "R", remote).unwrap();
    // The same queue, or none: then it is opened.
    assert_eq!(of(MQSO_RESUME, "S", q2), Err(Reason::HOBJ_ERROR));
    of(MQSO_RESUME, "S", q1).unwrap();
    let (opened, _) = of(MQSO_RESUME, "S", Hobj::NONE).unwrap();
    assert_eq!(queue_of(&s, opened), "Q1");
    assert_eq!(
        of(MQSO_RESUME, "R", Hobj::NONE),
        Err(Reason::INVALID_DESTINATION)
    );
    // Another one.
    of(create | MQSO_ALTER, "S", q2).unwrap();
    let (opened, _) = of(MQSO_RESUME, "S", Hobj::NONE).unwrap();
    assert_eq!(queue_of(&s, opened), "Q2");
    // A managed handle is nobody's own.
    let (handle, _) = managed(&s, MANAGED, "").unwrap();
    assert_eq!(of(create, "U", handle), Err(Reason::HOBJ_ERROR));
    assert_eq!(close(&s, hsub, MQCO_REMOVE_SUB), Ok(Reason::NONE));
    close(&s, q1, 0).unwrap();
    assert_eq!(w.depth("Q1"), 0, "the queue stays");
}

#[test]
fn a_queue_that_is_gone_is_no_destination() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q1)");
    let s = w.connect();
    let q1 = open(&s, "Q1", MQOO_INPUT_SHARED);
    let create = MQSO_CREATE | MQSO_DURABLE;
    sub(&s, &mut sd(create, "S", "a"), q1).unwrap();
    drop(s);
    w.run("DELETE QLOCAL(Q1)");
    let s = w.connect();
    let resumed = managed(&s, MQSO_RESUME, "S");
    assert_eq!(resumed, Err(Reason::INVALID_DESTINATION));
    assert!(
        all(&w)[0].connections.is_empty(),
        "a call that failed uses nothing"
    );
    w.run("DELETE QMODEL(SYSTEM.NDURABLE.MODEL.QUEUE)");
    assert_eq!(managed(&s, MANAGED, ""), Err(Reason::INVALID_DESTINATION));
    w.run("ALTER QMODEL(SYSTEM.DURABLE.MODEL.QUEUE) DEFTYPE(TEMPDYN)");
    assert_eq!(managed(&s, DURABLE, "T"), Err(Reason::INVALID_DESTINATION));
    assert_eq!(names(&w), ["S"]);
}

#[test]
fn connections_share_what_is_shared_and_the_last_one_ends_it() {
    let w = World::light();
    let (a, b) = (w.connect(), w.connect());
    let nd = JMS & !MQSO_DURABLE & !MQSO_ANY_USERID;
    let (of_a, hsub_a) = shared(&a, nd, "JMS:ND:x").unwrap();
    let (of_b, hsub_b) = shared(&b, nd, "JMS:ND:x").unwrap();
    assert_eq!(queue_of(&a, of_a), queue_of(&b, of_b));
    assert_eq!(all(&w)[0].connections.len(), 2);
    put1(&a, &queue_of(&a, of_a), &mut md(0), 0, b"one").unwrap();
    assert_eq!(next(&b, of_b, 0).unwrap().text(), "one");
    assert_eq!(
        managed(&b, nd, "JMS:ND:x"),
        Err(Reason::INVALID_SUBSCRIPTION)
    );
    close(&a, of_a, 0).unwrap();
    close(&a, hsub_a, 0).unwrap();
    assert_eq!((all(&w).len(), managed_queues(&w)), (1, 1));
    close(&b, hsub_b, 0).unwrap();
    assert_eq!((all(&w).len(), managed_queues(&w)), (0, 1));
    close(&b, of_b, 0).unwrap();
    assert_eq!(managed_queues(&w), 0);
    // A durable one ends by nobody's close, and by nobody's command while it is shared.
    let (of_a, hsub_a) = shared(&a, JMS, "S").unwrap();
    let (of_b, hsub_b) = shared(&b, JMS, "S").unwrap();
    let in_use = Reason::SUBSCRIPTION_IN_USE;
    assert_eq!(close(&a, hsub_a, MQCO_REMOVE_SUB), Err(in_use));
    let resume = 0x22C;
    let with = SubscribeOptions::default();
    let unsubscribe = |s: &Session| {
        let mut sd = sd(resume, "S", "");
        block_on(s.subscribe_with(&mut sd, Hobj::NONE, with)).map(|done| done.value)
    };
    let third = w.connect();
    assert_eq!(unsubscribe(&third), Err(in_use));
    assert_eq!(unsubscribe(&a), Err(in_use), "by its own consumer");
    for (s, handle) in [(&a, of_a), (&a, hsub_a), (&b, hsub_b), (&b, of_b)] {
        close(s, handle, 0).unwrap();
    }
    assert_eq!((all(&w).len(), managed_queues(&w)), (1, 1));
    let (hobj, hsub) = unsubscribe(&third).unwrap();
    close(&third, hsub, MQCO_REMOVE_SUB).unwrap();
    close(&third, hobj, 0).unwrap();
    assert_eq!((all(&w).len(), managed_queues(&w)), (0, 0));
}

#[test]
fn an_administrator_ends_what_is_in_use() {
    let mut w = World::light();
    let s = w.connect();
    let (hobj, hsub) = managed(&s, DURABLE, "S").unwrap();
    let (other, _) = managed(&s, MANAGED, "").unwrap();
    let queue = queue_of(&s, hobj);
    put1(&s, &queue, &mut md(PERSISTENT), 0, b"left").unwrap();
    w.run("DELETE SUB(S)");
    let unnamed = all(&w)[0].id;
    block_on(w.qm().end_subscription(&unnamed)).unwrap();
    assert!(block_on(w.qm().end_subscription(&unnamed)).is_err());
    assert!(all(&w).is_empty());
    // What is there can still be got; both handles are closed as any.
    assert_eq!(next(&s, hobj, 0).unwrap().text(), "left");
    assert_eq!(managed_queues(&w), 2);
    let requested = |h, options| {
        let mut sro = Sro {
            options,
            ..Sro::default()
        };
        block_on(s.subscription_request(h, MQSR_ACTION_PUBLICATION, &mut sro)).err()
    };
    assert_eq!(requested(hsub, 0), Some(Reason::INVALID_SUBSCRIPTION));
    assert_eq!(requested(hsub, 1), Some(Reason::OPTIONS_ERROR));
    assert_eq!(requested(hobj, 0), Some(Reason::HOBJ_ERROR));
    assert_eq!(close(&s, hsub, MQCO_REMOVE_SUB), Ok(Reason::NONE));
    close(&s, hobj, 0).unwrap();
    close(&s, other, 0).unwrap();
    assert_eq!(managed_queues(&w), 0);
    managed(&s, DURABLE, "S").unwrap();
    drop(s);
    w.restart();
    assert_eq!((names(&w), managed_queues(&w)), (vec!["S".to_owned()], 1));
}

/// Two want it to end: neither is told that it has before a crash cannot bring it back.
#[test]
fn who_removes_what_an_administrator_is_deleting_waits_for_the_log_too() {
    let w = World::pausable();
    let s = w.connect();
    let (_, hsub) = managed(&s, DURABLE, "S").unwrap();
    w.stage.pause();
    let qm = w.qm().clone();
    let deleted =
        Call::begin(async move { qm.delete(ObjectKind::Sub, "S", Deletion::default()).await });
    let closing = s.clone();
    let removed = Call::begin(async move { closing.close(hsub, MQCO_REMOVE_SUB).await });
    w.stage.resume();
    deleted.finish().unwrap();
    removed.finish().unwrap();
    assert_eq!(names(&w), [""; 0]);
}

#[test]
fn a_queue_with_uncommitted_messages_goes_when_they_are_committed() {
    let mut w = World::light();
    let s = w.connect();
    let (hobj, hsub) = managed(&s, DURABLE, "S").unwrap();
    let queue = queue_of(&s, hobj);
    let publisher = w.connect();
    put1(
        &publisher,
        &queue,
        &mut md(PERSISTENT),
        MQPMO_SYNCPOINT,
        b"x",
    )
    .unwrap();
    close(&s, hsub, MQCO_REMOVE_SUB).unwrap();
    close(&s, hobj, 0).unwrap();
    assert_eq!(managed_queues(&w), 1);
    commit(&publisher);
    until("the queue goes", || managed_queues(&w) == 0);
    drop((s, publisher));
    w.crash();
    assert_eq!(managed_queues(&w), 0);
}

#[test]
fn a_crash_leaves_no_queue_without_a_subscription() {
    let mut w = World::light();
    let s = w.connect();
    let (hobj, hsub) = managed(&s, DURABLE, "S").unwrap();
    managed(&s, DURABLE, "T").unwrap();
    let queue = queue_of(&s, hobj);
    put1(&s, &queue, &mut md(PERSISTENT), 0, b"left").unwrap();
    // Removed, and the queue is still open.
    close(&s, hsub, MQCO_REMOVE_SUB).unwrap();
    assert_eq!(managed_queues(&w), 2);
    w.crash();
    assert_eq!((names(&w), managed_queues(&w)), (vec!["T".to_owned()], 1));
    drop(s);
    w.crash();
    assert_eq!((names(&w), managed_queues(&w)), (vec!["T".to_owned()], 1));
}

#[test]
fn what_expires_ends() {
    let mut w = World::light();
    let s = w.connect();
    let mut short = sd(DURABLE, "S", "a");
    short.sub_expiry = 1;
    sub(&s, &mut short, Hobj::NONE).unwrap();
    let mut longer = sd(DURABLE, "L", "a");
    longer.sub_expiry = 100_000;
    sub(&s, &mut longer, Hobj::NONE).unwrap();
    until("it ends", || names(&w) == ["L"]);
    assert_eq!(managed_queues(&w), 2, "it is open");
    drop(s);
    assert_eq!(managed_queues(&w), 1);
    w.crash();
    let s = w.connect();
    let mut found = sd(MQSO_RESUME, "L", "");
    sub(&s, &mut found, Hobj::NONE).unwrap();
    assert_eq!(found.sub_expiry, 100_000);
    assert_eq!(managed(&s, MQSO_RESUME, "S"), Err(Reason::NO_SUBSCRIPTION));
}

#[test]
fn both_handles_count_and_neither_is_left_of_a_call_that_fails() {
    let w = World::light();
    w.run("ALTER QMGR MAXHANDS(3)");
    let s = w.connect();
    managed(&s, MANAGED, "").unwrap();
    let none = Err(Reason::HANDLE_NOT_AVAILABLE);
    assert_eq!(managed(&s, MANAGED, ""), none);
    assert_eq!(managed(&s, DURABLE, "S"), none);
    assert_eq!((all(&w).len(), managed_queues(&w)), (1, 1));
    open(&s, LOCAL, MQOO_INQUIRE);
    assert_eq!(s.status().subscriptions.len(), 1);
}

#[test]
fn a_call_that_is_dropped_leaves_a_subscription_that_nobody_uses() {
    let w = World::pausable();
    let s = w.connect();
    w.stage.pause();
    let making = s.clone();
    let call = Call::begin(async move {
        let mut sd = sd(DURABLE, "S", "a");
        making.subscribe(&mut sd, Hobj::NONE).await
    });
    assert_eq!(all(&w)[0].connections.len(), 1);
    drop(call);
    assert!(all(&w)[0].connections.is_empty());
    w.stage.resume();
    managed(&s, MQSO_RESUME, "S").unwrap();
}

#[test]
fn who_resumes_waits_for_the_record_of_who_made_it() {
    let w = World::pausable();
    let (a, b) = (w.connect(), w.connect());
    w.stage.pause();
    let subscribing = |s: Session| async move {
        let with = SubscribeOptions {
            shared: true,
            open_options: 0,
            joins: None,
        };
        let mut sd = sd(JMS, "S", "a");
        s.subscribe_with(&mut sd, Hobj::NONE, with).await
    };
    let first = Call::begin(subscribing(a));
    let second = Call::begin(subscribing(b));
    w.stage.resume();
    first.finish().unwrap();
    second.finish().unwrap();
}

/// What a call costs may grow with the logarithm of how many there are, not with their number. Judged by work done, not
/// by a short time: a call that looked at each of them would take a hundred times as long.
#[test]
fn subscribing_beside_many_costs_what_it_costs_beside_few() {
    let w = World::light();
    w.run("ALTER QMGR MAXHANDS(999999999)");
    let s = w.connect();
    let one = |number: usize| {
        let mut sd = sd(MANAGED, "", &format!("a/{number}/b"));
        sub(&s, &mut sd, Hobj::NONE).unwrap()
    };
    let hundred = |from: usize| {
        let begun = std::time::Instant::now();
        for number in from..from + 100 {
            let (hobj, hsub) = one(number);
            close(&s, hsub, 0).unwrap();
            close(&s, hobj, 0).unwrap();
        }
        begun.elapsed()
    };
    let best = |from: usize| (0..5).map(|_| hundred(from)).min().unwrap();
    let few = best(0);
    for number in 1_000..21_000 {
        one(number);
    }
    let many = best(30_000);
    assert!(many < few * 20, "{few:?} beside few, {many:?} beside many");
}

/// The power goes at every operation while durable subscriptions are made, altered and removed: what was answered is so,
/// what was not is so as a whole or not at all, and no managed queue is without its subscription.
#[test]
fn a_power_cut_leaves_whole_subscriptions() {
    let mut interrupted = 0;
    for cut in 0..40 {
        let disk = SimDisk::of_seed(cut);
        let mut w = World::on_simulated(&disk, |c| c.log_config.file_pages = 64);
        let s = w.connect();
        managed(&s, DURABLE, "OLD").unwrap();
        let hsub = managed(&s, DURABLE, "GOES").unwrap().1;
        let old = all(&w)[1].id;
        disk.cut_power_after(cut);
        let made = managed(&s, DURABLE, "NEW");
        let mut change = sd(DURABLE | MQSO_ALTER, "OLD", "a/b");
        change.sub_user_data = "new".to_owned();
        let altered = sub(&s, &mut change, Hobj::NONE);
        let removed = close(&s, hsub, MQCO_REMOVE_SUB);
        interrupted += usize::from(made.is_ok() && removed.is_err());
        drop(s);
        disk.cut_power();
        w.kill();
        disk.crash();
        w.remount(&disk);
        w.start();
        let names = names(&w);
        assert_eq!(managed_queues(&w), names.len(), "{cut}: {names:?}");
        let there = |name: &str| names.iter().any(|found| found == name);
        assert!(there("OLD"), "{cut}");
        assert!(there("NEW") || made.is_err(), "{cut}: {made:?}");
        assert!(!there("GOES") || removed.is_err(), "{cut}: {removed:?}");
        let s = w.connect();
        let mut found = sd(MQSO_RESUME, "OLD", "");
        sub(&s, &mut found, Hobj::NONE).unwrap();
        assert_eq!(
            all(&w)
                .iter()
                .find(|s| s.id == old)
                .map(|s| &*s.definition.name),
            Some("OLD")
        );
        assert!(found.sub_user_data == "new" || altered.is_err(), "{cut}");
    }
    assert!(interrupted > 0, "the power never went between two calls");
}

#[test]
fn a_subscription_in_use_is_joined_by_its_identifier() {
    let w = World::light();
    let (a, b) = (w.connect(), w.connect());
    let mut made = sd(JMS, "S", "a");
    let (hobj, hsub) = block_on(a.subscribe(&mut made, Hobj::NONE)).unwrap().value;
    let id = a.subscription_id(hsub).unwrap();
    let join = |options, id| {
        let with = SubscribeOptions {
            shared: false,
            open_options: MQOO_BROWSE | MQOO_CO_OP | MQOO_INPUT_SHARED,
            joins: Some(id),
        };
        let mut none = sd(options | MQSO_MANAGED, "", "");
        block_on(b.subscribe_with(&mut none, Hobj::NONE, with)).map(|done| done.value)
    };
    // Otherwise it is nobody else's.
    let mut same = sd(JMS, "S", "a");
    let refused = block_on(b.subscribe(&mut same, Hobj::NONE)).map(drop);
    assert_eq!(refused, Err(Reason::SUBSCRIPTION_IN_USE));
    assert_eq!(join(MQSO_CREATE, id), Err(Reason::OPTIONS_ERROR));
    assert_eq!(join(MQSO_RESUME, [7; 24]), Err(Reason::NO_SUBSCRIPTION));
    let (theirs, joined) = join(MQSO_RESUME, id).unwrap();
    put1(&a, &queue_of(&a, hobj), &mut md(0), 0, b"news").unwrap();
    assert_eq!(next(&b, theirs, 0).unwrap().text(), "news");
    assert_eq!(b.subscription_id(joined), Ok(id));
    assert_eq!(b.subscription_id(theirs), Err(Reason::HOBJ_ERROR));
    close(&b, joined, 0).unwrap();
    assert_eq!(next(&a, hobj, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
}

/// A subscription of a group to `topic`, for the queue Q.
fn of_group(
    s: &Session,
    options: i32,
    name: &str,
    topic: &str,
    correl_id: u8,
) -> Result<Hobj, Reason> {
    let own = open(s, "Q", MQOO_INPUT_SHARED | MQOO_BROWSE);
    let mut sd = Sd {
        options: options | MQSO_GROUP_SUB | MQSO_SET_CORREL_ID,
        sub_correl_id: [correl_id; 24],
        ..sd(0, name, topic)
    };
    sub(s, &mut sd, own).map(|(_, hsub)| hsub)
}

fn published(s: &Session, to: &str) -> i32 {
    let (mut od, mut pmo) = (topic(to), pmo(0));
    block_on(s.put1(&mut od, &mut md(NOT_PERSISTENT), &mut pmo, Bytes::new())).unwrap();
    pmo.known_dest_count
}

/// Subscriptions of a group, with one queue and one CorrelId, get a publication once: the one that names it most closely does.
#[test]
fn a_group_gets_a_publication_once() {
    let mut w = World::new();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let durable = MQSO_CREATE | MQSO_DURABLE;
    of_group(&s, durable, "ALL", "#", 7).unwrap();
    of_group(&s, durable, "A", "a/#", 7).unwrap();
    let exact = of_group(&s, MQSO_CREATE, "", "a/b", 7).unwrap();
    of_group(&s, MQSO_CREATE, "", "a/b", 8).unwrap();
    assert_eq!(published(&s, "a/b"), 2, "two groups");
    assert_eq!((published(&s, "a/c"), published(&s, "b")), (1, 1));
    let given = |w: &World, name: &str| {
        let shown = w.mqsc(&format!("DISPLAY SBSTATUS({name}) NUMMSGS"));
        shown.rows[0].2.shown("NUMMSGS").unwrap()
    };
    assert_eq!(
        (given(&w, "A"), given(&w, "ALL")),
        ("1".to_owned(), "1".to_owned())
    );
    // Two that say the same would be one.
    for (options, name) in [(durable, "SAME"), (MQSO_CREATE, "")] {
        let refused = of_group(&s, options, name, "a/b", 7);
        assert_eq!(refused, Err(Reason::DUPLICATE_GROUP_SUB));
    }
    let refused = of_group(&s, durable, "SAME", "a/#", 7);
    assert_eq!(refused, Err(Reason::DUPLICATE_GROUP_SUB));
    close(&s, exact, 0).unwrap();
    assert_eq!(published(&s, "a/b"), 2, "A has it now");
    assert_eq!(given(&w, "A"), "2");
    // A group it stays.
    let alter = MQSO_ALTER | MQSO_DURABLE;
    let refused = of_group(&s, alter, "A", "a/#", 9);
    assert_eq!(refused, Err(Reason::GROUPING_NOT_ALTERABLE));
    drop(s);
    w.crash();
    let s = w.connect();
    assert_eq!(published(&s, "a/b"), 1, "those that are durable");
    let own = open(&s, "Q", MQOO_INPUT_SHARED);
    let mut alone = sd(alter, "A", "a/#");
    assert_eq!(
        sub(&s, &mut alone, own).err(),
        Some(Reason::GROUPING_NOT_ALTERABLE)
    );
    of_group(&s, alter, "A", "a/#", 7).unwrap();
    // Nor does a command bring two together.
    of_group(&s, durable, "OTHER", "a/#", 9).unwrap();
    let correl_id = |of: u8| {
        format!(
            "ALTER SUB(OTHER) DESTCORL('{}')",
            format!("{of:02X}").repeat(24)
        )
    };
    let together = w.mqsc(&correl_id(7));
    assert!(!together.ok, "{together:?}");
    w.run(&correl_id(8));
}

/// Of a group one subscription is sent a publication, in the stead of those that have to be.
#[test]
fn a_publication_fails_that_a_durable_one_of_a_group_cannot_be_given() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(1)");
    let s = w.connect();
    of_group(&s, MQSO_CREATE, "", "a/b", 7).unwrap();
    let publish = || {
        let (mut od, mut pmo) = (topic("a/b"), pmo(0));
        block_on(s.put1(&mut od, &mut md(PERSISTENT), &mut pmo, Bytes::new())).err()
    };
    assert_eq!(publish(), None);
    assert_eq!(publish(), None, "nobody has to be given it");
    of_group(&s, MQSO_CREATE | MQSO_DURABLE, "A", "a/#", 7).unwrap();
    assert_eq!(publish(), Some(Reason::PUBLICATION_FAILURE));
    assert_eq!(w.depth("Q"), 1);
}

#[test]
fn what_can_be_of_no_group_is_refused() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let refused = |options: i32, correl_id: u8| {
        let own = open(&s, "Q", MQOO_INPUT_SHARED);
        let managed = options & MQSO_MANAGED != 0;
        let mut sd = Sd {
            sub_correl_id: [correl_id; 24],
            ..sd(MQSO_CREATE | MQSO_GROUP_SUB | options, "", "a")
        };
        sub(&s, &mut sd, if managed { Hobj::NONE } else { own }).err()
    };
    let wrong = Some(Reason::OPTIONS_ERROR);
    assert_eq!(refused(0, 7), wrong);
    assert_eq!(refused(MQSO_SET_CORREL_ID | MQSO_MANAGED, 7), wrong);
    assert_eq!(refused(MQSO_SET_CORREL_ID, 0), wrong);
    assert_eq!(refused(MQSO_SET_CORREL_ID, 7), None);
}
