//! Publications: who gets them, as a whole or not at all, and what is there after a crash.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{
    ByteOrder, Chars, Dlh, Hobj, Md, Name, Od, Pmo, PointerSize, Reason, Rfh2, Sd,
};
use world::*;

fn open_topic(s: &Session, string: &str) -> Hobj {
    open_od(s, &mut topic(string), MQOO_OUTPUT).unwrap()
}

/// Subscribes to a topic, for a queue of its own or a managed one; returns the queue's and the subscription's handles.
fn subscribe(s: &Session, topic: &str, options: i32, own: Hobj, name: &str) -> (Hobj, Hobj) {
    let managed = match own == Hobj::NONE {
        true => MQSO_MANAGED,
        false => 0,
    };
    let mut sd = Sd {
        options: MQSO_CREATE | managed | options,
        sub_name: name.to_owned(),
        object_string: topic.to_owned(),
        ..Sd::default()
    };
    block_on(s.subscribe(&mut sd, own)).unwrap().value
}

/// Durable subscriptions to `t`, each for a queue of its own: Q0, Q1 ...
fn durable(w: &World, count: usize) {
    let s = w.connect();
    for at in 0..count {
        w.run(&format!("DEFINE QLOCAL(Q{at})"));
        let own = open(&s, &format!("Q{at}"), IN_OUT);
        subscribe(&s, "t", MQSO_DURABLE, own, &format!("S{at}"));
    }
}

fn depths(w: &World, count: usize) -> Vec<u32> {
    (0..count).map(|at| w.depth(&format!("Q{at}"))).collect()
}

/// How many messages a getter would find on each.
fn seen(w: &World, count: usize) -> Vec<usize> {
    let s = w.connect();
    let browsed = |at| browse(&s, open(&s, &format!("Q{at}"), MQOO_BROWSE)).len();
    (0..count).map(browsed).collect()
}

/// Publishes; what came of it, and the options as the call left them.
fn publish(s: &Session, h: Hobj, md: &mut Md, options: i32) -> (Result<Reason, Reason>, Pmo) {
    let mut pmo = pmo(options);
    let done = block_on(s.put(h, md, &mut pmo, Bytes::from_static(b"news")));
    (done.map(|done| done.warning), pmo)
}

#[test]
fn everybody_who_matches_gets_one_message_of_his_own() {
    let w = World::light();
    let s = w.connect();
    let exact = subscribe(&s, "a/b", 0, Hobj::NONE, "").0;
    let wild = subscribe(&s, "a/#", 0, Hobj::NONE, "").0;
    let other = subscribe(&s, "a/c", 0, Hobj::NONE, "").0;
    let publisher = w.connect();
    let mut od = topic("a/b");
    let h = open_od(&publisher, &mut od, MQOO_OUTPUT).unwrap();
    assert_eq!(
        (od.res_object_string.as_str(), od.resolved_type),
        ("a/b", MQOT_TOPIC)
    );
    let mut sent = Md {
        correl_id: [9; 24],
        priority: 7,
        ..md(NOT_PERSISTENT)
    };
    let (done, pmo) = publish(&publisher, h, &mut sent, 0);
    assert_eq!(done, Ok(Reason::NONE));
    assert_eq!(pmo.known_dest_count, 2);
    assert_eq!(sent.msg_id, MQMI_NONE, "nobody's alone");
    let got = [exact, wild].map(|h| next(&s, h, 0).unwrap());
    for one in &got {
        assert_eq!(one.text(), "news");
        assert_eq!(one.md.priority, 7);
        assert_ne!(one.md.correl_id, [9; 24], "the subscription's");
        assert_eq!(one.md.user_identifier, Chars::new("tester"));
    }
    assert_ne!(got[0].md.msg_id, got[1].md.msg_id);
    assert_ne!(got[0].md.correl_id, got[1].md.correl_id);
    assert_eq!(next(&s, other, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    assert_eq!(next(&s, exact, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
}

#[test]
fn what_a_call_about_a_topic_is_refused_with() {
    let w = World::light();
    let s = w.connect();
    let refused = |mut od: Od, options| open_od(&s, &mut od, options).unwrap_err();
    assert_eq!(refused(topic(""), MQOO_OUTPUT), Reason::TOPIC_STRING_ERROR);
    let long = "x".repeat(10_241);
    assert_eq!(
        refused(topic(&long), MQOO_OUTPUT),
        Reason::TOPIC_STRING_ERROR
    );
    let deep = "/".repeat(256);
    assert_eq!(
        refused(topic(&deep), MQOO_OUTPUT),
        Reason::TOPIC_STRING_ERROR
    );
    let unsuitable = Reason::OPTION_NOT_VALID_FOR_TYPE;
    assert_eq!(refused(topic("t"), MQOO_INPUT_SHARED), unsuitable);
    let unknown = Od {
        object_name: Name::new("NONE"),
        ..topic("t")
    };
    assert_eq!(refused(unknown, MQOO_OUTPUT), Reason::UNKNOWN_OBJECT_NAME);
    let h = open_topic(&s, "t");
    let put = |options| publish(&s, h, &mut md(NOT_PERSISTENT), options).0;
    assert_eq!(put(0), Ok(Reason::NONE), "nobody has to be there");
    let warned = put(MQPMO_WARN_IF_NO_SUBS_MATCHED);
    assert_eq!(warned, Ok(Reason::NO_SUBS_MATCHED));
    assert_eq!(put(MQPMO_LOGICAL_ORDER), Err(Reason::OPTIONS_ERROR));
    assert_eq!(
        next(&s, h, 0).unwrap_err(),
        Reason::NOT_OPEN_FOR_INPUT,
        "a topic has no messages"
    );
    let queue = open(&s, LOCAL, MQOO_OUTPUT);
    for option in [MQPMO_RETAIN, MQPMO_NOT_OWN_SUBS, MQPMO_SCOPE_QMGR] {
        let put = publish(&s, queue, &mut md(NOT_PERSISTENT), option).0;
        assert_eq!(put, Err(Reason::OPTIONS_ERROR));
    }
}

/// Messages of groups, and segments, are refused, by whatever way they come to a topic (messages manual, 2417).
#[test]
fn no_message_of_a_group_is_published() {
    let w = World::new();
    w.run("DEFINE TOPIC(NEWS) TOPICSTR('news')");
    w.run("DEFINE QALIAS(TO.NEWS) TARGET(NEWS) TARGTYPE(TOPIC)");
    let s = w.connect();
    let by_alias = open(&s, "TO.NEWS", MQOO_OUTPUT);
    let by_topic = open_topic(&s, "news");
    let with = |version, msg_flags| Md {
        version,
        msg_flags,
        ..md(NOT_PERSISTENT)
    };
    let second = MQMD_VERSION_2;
    let refused = Err(Reason::MSG_NOT_ALLOWED_IN_GROUP);
    let rows = [
        (second, MQMF_MSG_IN_GROUP, refused),
        (second, MQMF_LAST_MSG_IN_GROUP, refused),
        (second, MQMF_SEGMENT, refused),
        (second, MQMF_LAST_SEGMENT, refused),
        (second, MQMF_SEGMENTATION_ALLOWED, Ok(Reason::NONE)),
        // One of the first version has no such field.
        (MQMD_VERSION_1, MQMF_MSG_IN_GROUP, Ok(Reason::NONE)),
    ];
    for (version, flags, expected) in rows {
        for h in [by_topic, by_alias] {
            let put = publish(&s, h, &mut with(version, flags), 0).0;
            assert_eq!(put, expected, "{version} {flags:#x}");
        }
        let (mut md, mut pmo) = (with(version, flags), pmo(0));
        let one = block_on(s.put1(&mut topic("news"), &mut md, &mut pmo, "".into()));
        let one = one.map(|done| done.warning);
        assert_eq!(one, expected, "MQPUT1 {version} {flags:#x}");
    }
}

#[test]
fn a_topic_object_begins_the_topic_string_and_forbids_publications() {
    let w = World::light();
    w.run("DEFINE TOPIC(NEWS) TOPICSTR('news')\nDEFINE TOPIC(SPORT) TOPICSTR('news/sport') PUB(DISABLED)");
    let s = w.connect();
    let (queue, _) = subscribe(&s, "news/#", 0, Hobj::NONE, "");
    let under = |name: &str, string: &str| Od {
        object_name: Name::new(name),
        ..topic(string)
    };
    let mut od = under("NEWS", "rain");
    let mut sent = md(NOT_PERSISTENT);
    let put = block_on(s.put1(&mut od, &mut sent, &mut pmo(0), Bytes::from_static(b"wet")));
    assert_eq!(put.unwrap().warning, Reason::NONE);
    assert_eq!(od.res_object_string, "news/rain");
    assert_eq!(next(&s, queue, 0).unwrap().text(), "wet");
    for mut od in [under("SPORT", ""), under("NEWS", "sport/golf")] {
        let put = block_on(s.put1(&mut od, &mut sent, &mut pmo(0), Bytes::new()));
        assert_eq!(put.map(|done| done.warning), Err(Reason::PUT_INHIBITED));
    }
    w.run("ALTER TOPIC(SPORT) PUB(ENABLED)");
    let h = open_od(&s, &mut under("SPORT", ""), MQOO_OUTPUT).unwrap();
    let put = publish(&s, h, &mut md(NOT_PERSISTENT), 0).0;
    assert_eq!(put, Ok(Reason::NONE));
}

#[test]
fn options_of_a_publication() {
    let w = World::light();
    let s = w.connect();
    let (mine, _) = subscribe(&s, "t", 0, Hobj::NONE, "");
    let (h, other) = (open_topic(&s, "t"), w.connect());
    let put = |s: &Session, h, md: &mut Md, options| publish(s, h, md, options).0;
    let mut plain = md(NOT_PERSISTENT);
    let not_own = MQPMO_NOT_OWN_SUBS;
    assert_eq!(put(&s, h, &mut plain, not_own), Ok(Reason::NONE));
    assert_eq!(next(&s, mine, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    let theirs = open_topic(&other, "t");
    assert_eq!(put(&other, theirs, &mut plain, not_own), Ok(Reason::NONE));
    assert_eq!(next(&s, mine, 0).unwrap().text(), "news");
    let mut asks = Md {
        reply_to_q: Name::new("REPLY"),
        ..md(NOT_PERSISTENT)
    };
    put(&s, h, &mut asks, 0).unwrap();
    assert_eq!(next(&s, mine, 0).unwrap().md.reply_to_q, Name::new("REPLY"));
    put(&s, h, &mut asks, MQPMO_SUPPRESS_REPLYTO).unwrap();
    assert!(next(&s, mine, 0).unwrap().md.reply_to_q.is_blank());
    asks.report = MQRO_COD;
    let refused = put(&s, h, &mut asks, MQPMO_SUPPRESS_REPLYTO);
    assert_eq!(refused, Err(Reason::MISSING_REPLY_TO_Q));
    let mut low = Pmo {
        version: MQPMO_VERSION_3,
        pub_level: 0,
        ..pmo(MQPMO_WARN_IF_NO_SUBS_MATCHED)
    };
    let done = block_on(s.put(h, &mut plain, &mut low, Bytes::new()));
    assert_eq!(
        done.unwrap().warning,
        Reason::NO_SUBS_MATCHED,
        "it is at level 1"
    );
    let mut sent = md(NOT_PERSISTENT);
    put(&s, h, &mut sent, MQPMO_NEW_MSG_ID | MQPMO_NEW_CORREL_ID).unwrap();
    assert_ne!(sent.msg_id, MQMI_NONE);
    assert_ne!(next(&s, mine, 0).unwrap().md.msg_id, sent.msg_id);
}

/// Outside a unit of work and inside it.
#[test]
fn a_persistent_publication_is_there_as_a_whole_after_a_crash() {
    let mut w = World::light();
    durable(&w, 5);
    let s = w.connect();
    let h = open_topic(&s, "t");
    assert_eq!(publish(&s, h, &mut md(PERSISTENT), 0).0, Ok(Reason::NONE));
    assert_eq!(
        publish(&s, h, &mut md(PERSISTENT), MQPMO_SYNCPOINT).0,
        Ok(Reason::NONE)
    );
    assert_eq!(seen(&w, 5), [1; 5], "not committed");
    commit(&s);
    assert_eq!(depths(&w, 5), [2; 5]);
    publish(&s, h, &mut md(PERSISTENT), MQPMO_SYNCPOINT)
        .0
        .unwrap();
    backout(&s);
    publish(&s, h, &mut md(PERSISTENT), MQPMO_SYNCPOINT)
        .0
        .unwrap();
    drop(s);
    for _ in 0..2 {
        w.crash();
        assert_eq!(depths(&w, 5), [2; 5], "what has no commit never was");
        let s = w.connect();
        let h = open(&s, "Q3", MQOO_BROWSE);
        assert_eq!(browse(&s, h), ["news"; 2]);
        // Those who got theirs do not get it again.
        let h = open(&s, "Q4", IN_OUT);
        next(&s, h, 0).unwrap();
        put(&s, h, PERSISTENT, 0, b"filler");
    }
    w.restart();
    assert_eq!(depths(&w, 5), [2; 5]);
    let s = w.connect();
    let h = open_topic(&s, "t");
    publish(&s, h, &mut md(PERSISTENT), 0).0.unwrap();
    assert_eq!(
        depths(&w, 5),
        [3; 5],
        "durable subscriptions are there again"
    );
}

#[test]
fn a_publication_that_was_not_forced_is_there_as_a_whole_or_not_at_all() {
    let mut w = World::pausable();
    durable(&w, 5);
    let s = w.connect();
    let h = open_topic(&s, "t");
    w.stage.pause();
    let call = Call::begin(async move {
        s.put(h, &mut md(PERSISTENT), &mut pmo(0), Bytes::new())
            .await
    });
    assert_eq!(
        seen(&w, 5),
        [0; 5],
        "nobody sees what a crash could take back"
    );
    drop(call);
    w.crash();
    let after = depths(&w, 5);
    assert!(after == [0; 5] || after == [1; 5], "{after:?}");
}

#[test]
fn the_body_is_in_the_log_once() {
    let w = World::with(|_| {});
    durable(&w, 20);
    let s = w.connect();
    let h = open_topic(&s, "t");
    let before = w.qm().log().appended().0;
    let body = Bytes::from(vec![7; 50_000]);
    block_on(s.put(h, &mut md(PERSISTENT), &mut pmo(0), body)).unwrap();
    let grown = w.qm().log().appended().0 - before;
    assert!(grown < 60_000, "{grown} bytes");
    assert_eq!(depths(&w, 20), [1; 20]);
}

#[test]
fn a_queue_that_is_full_decides_by_what_the_topic_says() {
    let w = World::light();
    durable(&w, 3);
    w.run("DEFINE TOPIC(T) TOPICSTR('t')\nALTER QLOCAL(Q1) MAXDEPTH(0)");
    let s = w.connect();
    let h = open_topic(&s, "t");
    let failed = Err(Reason::PUBLICATION_FAILURE);
    // All that are durable must get a persistent one, and whoever can gets another.
    assert_eq!(publish(&s, h, &mut md(PERSISTENT), 0).0, failed);
    assert_eq!(
        publish(&s, h, &mut md(PERSISTENT), MQPMO_SYNCPOINT).0,
        failed
    );
    commit(&s);
    assert_eq!(depths(&w, 3), [0, 0, 0], "nobody gets it");
    let (done, counts) = publish(&s, h, &mut md(NOT_PERSISTENT), 0);
    assert_eq!(done, Ok(Reason::NONE));
    assert_eq!((counts.known_dest_count, counts.invalid_dest_count), (2, 1));
    assert_eq!(depths(&w, 3), [1, 0, 1]);
    w.run("ALTER TOPIC(T) NPMSGDLV(ALL) PMSGDLV(ALLAVAIL)");
    assert_eq!(publish(&s, h, &mut md(NOT_PERSISTENT), 0).0, failed);
    assert_eq!(publish(&s, h, &mut md(PERSISTENT), 0).0, Ok(Reason::NONE));
    assert_eq!(depths(&w, 3), [2, 0, 2]);
}

#[test]
fn what_cannot_be_delivered_goes_to_the_dead_letter_queue() {
    let mut w = World::with_dead_letters();
    durable(&w, 3);
    w.run("DEFINE TOPIC(T) TOPICSTR('t')\nALTER QLOCAL(Q1) PUT(DISABLED)");
    let s = w.connect();
    let h = open_topic(&s, "t");
    assert_eq!(publish(&s, h, &mut md(PERSISTENT), 0).0, Ok(Reason::NONE));
    assert_eq!((depths(&w, 3), w.depth(DEAD)), (vec![1, 0, 1], 1));
    w.run("ALTER TOPIC(T) USEDLQ(NO)");
    let refused = publish(&s, h, &mut md(PERSISTENT), 0).0;
    assert_eq!(refused, Err(Reason::PUBLICATION_FAILURE));
    w.crash();
    assert_eq!((depths(&w, 3), w.depth(DEAD)), (vec![1, 0, 1], 1));
}

/// A queue that is not there is one that takes nothing: nobody else is refused a publication for its sake.
#[test]
fn what_goes_to_a_queue_that_was_deleted_goes_to_the_dead_letter_queue() {
    let mut w = World::with_dead_letters();
    durable(&w, 2);
    w.run("DEFINE QLOCAL(BASE)\nDEFINE QALIAS(A) TARGET(BASE)");
    w.run("DEFINE TOPIC(T) TOPICSTR('t')\nDEFINE SUB(BY.ALIAS) TOPICSTR('t') DEST(A)");
    let s = w.connect();
    // Its queue has been found, and is known by more than its name.
    publish(&s, open_topic(&s, "t"), &mut md(NOT_PERSISTENT), 0)
        .0
        .unwrap();
    w.run("CLEAR QLOCAL(Q0)\nDELETE QLOCAL(Q1) PURGE\nDELETE QLOCAL(BASE) PURGE");
    let expected = [
        ("A", Reason::UNKNOWN_ALIAS_BASE_Q),
        ("Q1", Reason::UNKNOWN_OBJECT_NAME),
    ];
    for options in [0, MQPMO_SYNCPOINT, MQPMO_ASYNC_RESPONSE] {
        let s = w.connect();
        let (done, counts) = publish(&s, open_topic(&s, "t"), &mut md(PERSISTENT), options);
        assert_eq!(done, Ok(Reason::NONE), "{options:x}");
        let counts = (counts.known_dest_count, counts.invalid_dest_count);
        assert_eq!(
            counts,
            (3, 0),
            "what is on the dead-letter queue is delivered"
        );
        commit(&s);
        w.crash();
        let s = w.connect();
        let own = open(&s, "Q0", IN_OUT);
        assert_eq!(&take(&s, own, md(0), gmo(0), 10).unwrap().data[..], b"news");
        let dead = open(&s, DEAD, IN_OUT);
        let mut sent_to: Vec<_> = (0..2)
            .map(|_| take(&s, dead, md(0), gmo(0), 1000).unwrap().data)
            .map(|data| {
                Dlh::decode(&data, ByteOrder::Little, PointerSize::Four)
                    .unwrap()
                    .0
            })
            .map(|header| {
                (
                    header.dest_q_name.text().into_owned(),
                    Reason(header.reason),
                )
            })
            .collect();
        sent_to.sort();
        let sent_to: Vec<_> = sent_to.iter().map(|(to, why)| (&to[..], *why)).collect();
        assert_eq!(sent_to, expected);
    }
    // It has to be delivered to those that are durable, unless it need not be.
    w.run("ALTER TOPIC(T) USEDLQ(NO)");
    let s = w.connect();
    let h = open_topic(&s, "t");
    let (refused, _) = publish(&s, h, &mut md(PERSISTENT), 0);
    assert_eq!(refused, Err(Reason::PUBLICATION_FAILURE));
    let (done, counts) = publish(&s, h, &mut md(NOT_PERSISTENT), 0);
    assert_eq!(done, Ok(Reason::NONE));
    assert_eq!((counts.known_dest_count, counts.invalid_dest_count), (1, 2));
    assert_eq!((w.depth("Q0"), w.depth(DEAD)), (1, 0));
    // Where there is no dead-letter queue either.
    w.run("ALTER TOPIC(T) USEDLQ(YES)\nALTER QMGR DEADQ(' ')");
    let (refused, _) = publish(&s, h, &mut md(PERSISTENT), 0);
    assert_eq!(refused, Err(Reason::PUBLICATION_FAILURE));
}

/// Durable subscriptions to `t` whose messages all go to one queue, made with user data of their own.
fn durable_at(w: &World, queue: &str, count: usize, options: &str) {
    w.run(&format!("DEFINE QLOCAL({queue})"));
    let define = |at| {
        format!("DEFINE SUB({queue}{at}) TOPICSTR('t') DEST({queue}) USERDATA('{at}') {options}\n")
    };
    w.run(&(0..count).map(define).collect::<String>());
}

/// As much as no record of the log takes if each message has a body of its own there.
#[test]
fn long_messages_that_differ_in_a_header_are_logged_once() {
    const LENGTH: usize = 1 << 20;
    const COUNT: usize = 140;
    let data = Bytes::from(vec![7; LENGTH]);
    let published = |w: &World| {
        let s = w.connect();
        let h = open_topic(&s, "t");
        let done = block_on(s.put(h, &mut md(PERSISTENT), &mut pmo(0), data.clone()));
        done.map(|done| done.warning)
    };
    // What is in front of the data, of each message on a queue.
    let headers = |w: &World, queue: &str| -> Vec<Bytes> {
        let s = w.connect();
        let h = open(&s, queue, IN_OUT);
        let got = (0..COUNT).map(|_| take(&s, h, md(0), gmo(0), 2 * LENGTH).unwrap());
        let headers = got.map(|got| {
            let (header, body) = got.data.split_at(got.data.len() - LENGTH);
            assert!(body == data);
            Bytes::copy_from_slice(header)
        });
        headers.collect()
    };
    let mut w = World::made(
        &posthaste_engine::CreateOptions {
            dead_letter_q: DEAD.to_owned(),
            ..Default::default()
        },
        |c| c.log_config.file_pages = 2048,
    );
    durable_at(&w, "CLOSED", COUNT, "");
    w.run("ALTER QLOCAL(CLOSED) PUT(DISABLED)");
    let before = w.qm().log().appended();
    assert_eq!(published(&w), Ok(Reason::NONE));
    let logged = w.qm().log().appended().0 - before.0;
    assert!(logged < 2 * LENGTH as u64, "{logged}");
    w.crash();
    assert_eq!(w.depth(DEAD), COUNT as u32);
    for header in headers(&w, DEAD) {
        let (header, _) = Dlh::decode(&header, ByteOrder::Little, PointerSize::Four).unwrap();
        assert_eq!(header.reason, Reason::PUT_INHIBITED.0);
        assert_eq!(header.dest_q_name, Name::new("CLOSED"));
    }
    w.run("ALTER TOPIC(SYSTEM.BASE.TOPIC) USEDLQ(NO)");
    assert_eq!(published(&w), Err(Reason::PUBLICATION_FAILURE));

    for at in 0..COUNT {
        w.run(&format!("DELETE SUB(CLOSED{at})"));
    }
    durable_at(&w, "OPEN", COUNT, "PSPROP(RFH2)");
    assert_eq!(published(&w), Ok(Reason::NONE));
    w.crash();
    for (at, header) in headers(&w, "OPEN").into_iter().enumerate() {
        let (header, _) = Rfh2::decode(&header, ByteOrder::Little, PointerSize::Four).unwrap();
        let user = format!("<mqps><Top>t</Top><Sud>{at}</Sud></mqps>");
        assert_eq!(header.folder("mqps"), Some(&user[..]));
    }
}

#[test]
fn a_header_of_the_publisher_says_the_topic_too() {
    let w = World::light();
    let s = w.connect();
    let (queue, _) = subscribe(&s, "a/#", 0, Hobj::NONE, "");
    let h = open_topic(&s, "a/<b>");
    let data = with_folder("<usr><color>red</color></usr>", b"body");
    let mut sent = Md {
        format: Chars::new("MQHRF2"),
        ..md(NOT_PERSISTENT)
    };
    block_on(s.put(h, &mut sent, &mut pmo(0), Bytes::from(data))).unwrap();
    let got = next(&s, queue, 0).unwrap();
    let (header, used) = Rfh2::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!(header.folder("usr"), Some("<usr><color>red</color></usr>"));
    let topic = header.folder("mqps");
    assert_eq!(topic, Some("<mqps><Top>a/&lt;b&gt;</Top></mqps>"));
    assert_eq!(
        (header.format, &got.data[used..]),
        (Chars::new("MQSTR"), &b"body"[..])
    );
}

/// Some subscribers have the publisher's header, some one with a folder more: what is behind it is logged once, and what a
/// second header says of the message is found whichever of these it is.
#[test]
fn what_is_behind_a_header_of_the_publisher_is_shared_too() {
    const LENGTH: usize = 1 << 20;
    let mut w = World::made(&Default::default(), |c| c.log_config.file_pages = 2048);
    for (at, how) in ["NONE", "MSGPROP", "RFH2"].iter().enumerate() {
        durable_at(&w, &format!("Q{at}."), 2, &format!("PSPROP({how})"));
    }
    let header = |format: &str, folder: &str| Rfh2 {
        format: Chars::new(format),
        folders: vec![folder.to_owned()],
        ..Rfh2::default()
    };
    let mut data = Vec::new();
    for header in [
        header("MQHRF2", "<usr><a>1</a></usr>"),
        header("", "<usr><b>2</b></usr>"),
    ] {
        header.encode(&mut data, ByteOrder::Little, PointerSize::Four);
    }
    data.extend_from_slice(&vec![7; LENGTH]);
    let mut sent = Md {
        format: Chars::new("MQHRF2"),
        ..md(PERSISTENT)
    };
    let before = w.qm().log().appended();
    let s = w.connect();
    let h = open_topic(&s, "t");
    block_on(s.put(h, &mut sent, &mut pmo(0), Bytes::from(data.clone()))).unwrap();
    let logged = w.qm().log().appended().0 - before.0;
    assert!(logged < 2 * LENGTH as u64, "{logged}");
    let browse_all = |w: &World| {
        let s = w.connect();
        for at in 0..3 {
            let mut od = Od {
                version: MQOD_VERSION_4,
                object_name: Name::new(&format!("Q{at}.")),
                selection_string: "a = '1' AND b = '2'".to_owned(),
                ..Od::default()
            };
            let h = open_od(&s, &mut od, MQOO_BROWSE).unwrap();
            for number in 0..2 {
                let got = take(&s, h, md(0), gmo(MQGMO_BROWSE_NEXT), 2 * LENGTH).unwrap();
                let (header, used) =
                    Rfh2::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
                let user = format!("<mqps><Top>t</Top><Sud>{number}</Sud></mqps>");
                assert_eq!(header.folder("mqps"), (at > 0).then_some(&user[..]));
                assert!(data.ends_with(&got.data[used..]) && got.data.len() >= data.len());
                let begin = take(
                    &s,
                    h,
                    md(0),
                    gmo(MQGMO_BROWSE_MSG_UNDER_CURSOR | MQGMO_ACCEPT_TRUNCATED_MSG),
                    300,
                );
                assert_eq!(begin.unwrap().data, got.data[..300]);
            }
        }
    };
    browse_all(&w);
    w.crash();
    browse_all(&w);
}

/// Headers that differ are not shared: a hundred and forty of a megabyte are more than a record of the log takes.
#[test]
fn a_publication_that_no_record_takes_is_refused_as_a_whole() {
    let w = World::with_log_files(3, 1);
    const SUBSCRIBERS: usize = 20;
    durable_at(&w, "Q", SUBSCRIBERS, "PSPROP(RFH2)");
    let s = w.connect();
    let h = open_topic(&s, "t");
    // Each has a header of its own, with what the publisher's has.
    let published = |length: usize, options| {
        let data = with_folder(
            &format!("<usr><a>{}</a></usr>", "x".repeat(length)),
            b"body",
        );
        let mut sent = Md {
            format: Chars::new("MQHRF2"),
            ..md(PERSISTENT)
        };
        let put = block_on(s.put(h, &mut sent, &mut pmo(options), data.into()));
        put.map(|done| done.warning)
    };
    for options in [0, MQPMO_SYNCPOINT, MQPMO_ASYNC_RESPONSE] {
        assert_eq!(published(100_000, options), Err(Reason::RESOURCE_PROBLEM));
        commit(&s);
        assert_eq!(w.depth("Q"), 0, "nobody is given it");
    }
    assert_eq!(w.message_count("AMQ2063E"), 1, "the operator is told");
    assert_eq!(published(1 << 10, 0), Ok(Reason::NONE));
    assert_eq!(w.depth("Q"), SUBSCRIBERS as u32);
}

#[test]
fn asynchronous_publications_arrive_in_their_order() {
    let w = World::light();
    durable(&w, 3);
    let s = w.connect();
    let h = open_topic(&s, "t");
    for number in 0..50 {
        let persistence = if number % 3 == 0 {
            NOT_PERSISTENT
        } else {
            PERSISTENT
        };
        let data = Bytes::from(number.to_string());
        block_on(s.put(
            h,
            &mut md(persistence),
            &mut pmo(MQPMO_ASYNC_RESPONSE),
            data,
        ))
        .unwrap();
    }
    let sts = block_on(s.stat(MQSTAT_TYPE_ASYNC_ERROR, 1)).unwrap();
    assert_eq!((sts.put_success_count, sts.put_failure_count), (50, 0));
    let expected: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    for at in 0..3 {
        let queue = open(&s, &format!("Q{at}"), MQOO_INPUT_SHARED);
        assert_eq!(drain(&s, queue), expected);
    }
}

/// Of MQPUT1 too: what the topic object says, and what the application adds to it.
#[test]
fn mqstat_says_the_whole_topic_string_of_an_asynchronous_put_that_failed() {
    let w = World::light();
    w.run("DEFINE TOPIC(T) TOPICSTR('news') PUB(DISABLED)");
    let s = w.connect();
    let of = |name: &str, added: &str| Od {
        object_name: posthaste_mqi::Name::new(name),
        ..topic(added)
    };
    for (mut od, whole) in [
        (of("T", "rain"), "news/rain"),
        (of("T", ""), "news"),
        (of("", "news/rain"), "news/rain"),
        // There is none to begin with.
        (of("NONE", "rain"), "rain"),
    ] {
        let data = Bytes::from_static(b"text");
        let options = &mut pmo(MQPMO_ASYNC_RESPONSE);
        let put = block_on(s.put1(&mut od, &mut md(0), options, data));
        assert!(put.is_err(), "{whole}");
        let sts = block_on(s.stat(MQSTAT_TYPE_ASYNC_ERROR, 2)).unwrap();
        assert_eq!(sts.object_type, MQOT_TOPIC);
        assert_eq!(
            (sts.object_string.as_str(), sts.put_failure_count),
            (whole, 1)
        );
    }
}

/// A log so full that records are refused: neither half a publication nor half a unit of work.
#[test]
fn a_unit_of_work_counts_every_message() {
    let w = World::light();
    durable(&w, 3);
    w.run("ALTER QMGR MAXUMSGS(5)");
    let s = w.connect();
    let h = open_topic(&s, "t");
    let put = || publish(&s, h, &mut md(PERSISTENT), MQPMO_SYNCPOINT).0;
    assert_eq!(put(), Ok(Reason::NONE));
    assert_eq!(put(), Err(Reason::SYNCPOINT_LIMIT_REACHED));
    commit(&s);
    assert_eq!(depths(&w, 3), [1; 3]);
}

#[test]
fn without_publish_subscribe_nobody_publishes_or_subscribes() {
    let w = World::light();
    let s = w.connect();
    let (queue, _) = subscribe(&s, "t", 0, Hobj::NONE, "");
    let h = open_topic(&s, "t");
    assert_eq!(publish(&s, h, &mut md(0), 0).0, Ok(Reason::NONE));
    w.run("ALTER QMGR PSMODE(DISABLED)");
    let inhibited = Reason::PUBSUB_INHIBITED;
    assert_eq!(publish(&s, h, &mut md(0), 0).0, Err(inhibited));
    let opened = open_od(&s, &mut topic("t"), MQOO_OUTPUT);
    assert_eq!(opened.unwrap_err(), inhibited);
    let put = block_on(s.put1(&mut topic("t"), &mut md(0), &mut pmo(0), Bytes::new()));
    assert_eq!(put.unwrap_err(), inhibited);
    let mut sd = Sd {
        options: MQSO_CREATE | MQSO_MANAGED,
        object_string: "t".to_owned(),
        ..Sd::default()
    };
    let subscribed = block_on(s.subscribe(&mut sd, Hobj::NONE));
    assert_eq!(subscribed.unwrap_err(), inhibited);
    assert_eq!(next(&s, queue, 0).unwrap().text(), "news", "what is there");
    for mode in ["COMPAT", "ENABLED"] {
        w.run(&format!("ALTER QMGR PSMODE({mode})"));
        assert_eq!(publish(&s, h, &mut md(0), 0).0, Ok(Reason::NONE));
        assert_eq!(next(&s, queue, 0).unwrap().text(), "news");
    }
}

#[test]
fn an_alias_of_a_topic_publishes() {
    let w = World::light();
    w.run(
        "DEFINE TOPIC(T) TOPICSTR('a/b')\nDEFINE QALIAS(A) TARGET(T) TARGTYPE(TOPIC)\n\
         DEFINE QALIAS(NONE) TARGET(MISSING) TARGTYPE(TOPIC)",
    );
    let s = w.connect();
    let (queue, _) = subscribe(&s, "a/+", 0, Hobj::NONE, "");
    let h = open(&s, "A", MQOO_OUTPUT);
    assert_eq!(publish(&s, h, &mut md(0), 0).0, Ok(Reason::NONE));
    let mut md1 = md(PERSISTENT);
    block_on(s.put1(
        &mut object("A"),
        &mut md1,
        &mut pmo(0),
        Bytes::from_static(b"one"),
    ))
    .unwrap();
    assert_eq!(drain(&s, queue), ["news", "one"]);
    let refused = |name, options| open_od(&s, &mut object(name), options).unwrap_err();
    let unsuitable = Reason::OPTION_NOT_VALID_FOR_TYPE;
    assert_eq!(refused("A", MQOO_INPUT_SHARED), unsuitable);
    assert_eq!(refused("A", MQOO_BROWSE), unsuitable);
    assert_eq!(refused("NONE", MQOO_OUTPUT), Reason::UNKNOWN_ALIAS_BASE_Q);
    w.run("ALTER QALIAS(A) PUT(DISABLED)");
    assert_eq!(publish(&s, h, &mut md(0), 0).0, Err(Reason::PUT_INHIBITED));
}
