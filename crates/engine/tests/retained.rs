//! Retained publications: which one it is, who is given it, and what is retained after a crash.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_command::{Attrs, Deletion, ObjectKind};
use posthaste_engine::EndMode;
use posthaste_engine::{ChangeError, NewDefinition, Outcome, Session, Verb, Vote, Xid};
use posthaste_env::block_on;
use posthaste_env_sim::SimDisk;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Hobj, Md, Name, Od, PointerSize, Reason, Rfh2, Sd, Sro};
use posthaste_recovery_log::Class;
use world::*;

const RETAINED: &str = "SYSTEM.RETAINED.PUB.QUEUE";

fn try_subscribe(s: &Session, sd: &mut Sd, own: Hobj) -> Result<(Hobj, Hobj), Reason> {
    block_on(s.subscribe(sd, own)).map(|done| done.value)
}

fn of_topic(topic: &str, options: i32) -> Sd {
    Sd {
        options: MQSO_CREATE | options,
        object_string: topic.to_owned(),
        ..Sd::default()
    }
}

/// Subscribes for a managed queue; returns its handle and the subscription's.
fn subscribe(s: &Session, topic: &str, options: i32) -> (Hobj, Hobj) {
    let mut sd = of_topic(topic, options | MQSO_MANAGED);
    try_subscribe(s, &mut sd, Hobj::NONE).unwrap()
}

fn try_publish(s: &Session, to: &str, md: &Md, options: i32, text: &str) -> Result<(), Reason> {
    let data = Bytes::copy_from_slice(text.as_bytes());
    let (mut od, mut pmo) = (topic(to), pmo(options | MQPMO_RETAIN));
    let done = block_on(s.put1(&mut od, &mut md.clone(), &mut pmo, data))?;
    assert_eq!(done.warning, Reason::NONE);
    Ok(())
}

/// Publishes what is not persistent, to be retained for `t`.
async fn supersede(s: Session) -> Verb<()> {
    let (mut od, mut sent) = (topic("t"), md(NOT_PERSISTENT));
    let data = Bytes::from_static(b"new");
    let mut pmo = pmo(MQPMO_RETAIN);
    s.put1(&mut od, &mut sent, &mut pmo, data).await
}

fn publish(s: &Session, to: &str, persistence: i32, options: i32, text: &str) {
    try_publish(s, to, &md(persistence), options, text).unwrap();
}

/// What a new subscriber is given.
fn given(w: &World, topic: &str) -> Vec<String> {
    let s = w.connect();
    let (queue, _) = subscribe(&s, topic, 0);
    drain(&s, queue)
}

fn ask(s: &Session, hsub: Hobj) -> Result<i32, Reason> {
    let mut sro = Sro::default();
    block_on(s.subscription_request(hsub, MQSR_ACTION_PUBLICATION, &mut sro))?;
    Ok(sro.num_pubs)
}

#[test]
fn whoever_subscribes_later_is_given_the_last_one() {
    let w = World::light();
    let s = w.connect();
    let (early, _) = subscribe(&s, "t", 0);
    assert_eq!(given(&w, "t"), [""; 0]);
    for text in ["one", "two", "three"] {
        publish(&s, "t", NOT_PERSISTENT, 0, text);
    }
    assert_eq!(drain(&s, early), ["one", "two", "three"], "as they came");
    assert_eq!(w.depth(RETAINED), 1);
    assert_eq!(given(&w, "t"), ["three"]);
    assert_eq!(given(&w, "t/u"), [""; 0]);
    let (only_new, _) = subscribe(&s, "t", MQSO_NEW_PUBLICATIONS_ONLY);
    assert_eq!(drain(&s, only_new), [""; 0]);
    // What is not retained changes nothing.
    let h = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    put(&s, h, NOT_PERSISTENT, 0, b"passing");
    assert_eq!(given(&w, "t"), ["three"]);
}

#[test]
fn a_subscriber_asks_for_it() {
    let w = World::light();
    let s = w.connect();
    let (queue, hsub) = subscribe(&s, "a/#", MQSO_PUBLICATIONS_ON_REQUEST);
    assert_eq!(ask(&s, hsub), Err(Reason::NO_RETAINED_MSG));
    publish(&s, "a/2", NOT_PERSISTENT, 0, "first");
    publish(&s, "a/1", PERSISTENT, 0, "second");
    publish(&s, "b", NOT_PERSISTENT, 0, "other");
    assert_eq!(drain(&s, queue), [""; 0], "only on request");
    assert_eq!(ask(&s, hsub), Ok(2));
    assert_eq!(ask(&s, hsub), Ok(2));
    assert_eq!(drain(&s, queue), ["first", "second", "first", "second"]);
}

#[test]
fn filters_and_selectors_choose_among_them() {
    let w = World::light();
    let s = w.connect();
    for name in ["a", "a/b", "a/b/c", "ab", "a/bc", "z", "A/b"] {
        publish(&s, name, NOT_PERSISTENT, 0, name);
    }
    for (filter, expected) in [
        ("a/b", &["a/b"][..]),
        ("a/+", &["a/b", "a/bc"]),
        ("a/b/#", &["a/b", "a/b/c"]),
        ("#", &["a", "a/b", "a/b/c", "ab", "a/bc", "z", "A/b"]),
        ("+/b", &["a/b", "A/b"]),
        ("none/#", &[]),
    ] {
        assert_eq!(given(&w, filter), expected, "{filter}");
    }
    let (characters, _) = subscribe(&s, "a/b*", MQSO_WILDCARD_CHAR);
    assert_eq!(drain(&s, characters), ["a/b", "a/b/c", "a/bc"]);
    let urgent = Md {
        priority: 8,
        ..md(NOT_PERSISTENT)
    };
    try_publish(&s, "z", &urgent, 0, "urgent").unwrap();
    let mut sd = of_topic("#", MQSO_MANAGED);
    sd.selection_string = "Root.MQMD.Priority = 8".to_owned();
    let (queue, _) = try_subscribe(&s, &mut sd, Hobj::NONE).unwrap();
    assert_eq!(drain(&s, queue), ["urgent"]);
    w.run("DEFINE TOPIC(T) TOPICSTR('a/b') WILDCARD(BLOCK)");
    assert_eq!(given(&w, "a/#"), ["a", "a/bc"]);
    assert_eq!(given(&w, "a/b/#"), ["a/b", "a/b/c"]);
}

#[test]
fn it_says_that_it_was_retained() {
    let w = World::light();
    let s = w.connect();
    let data = with_folder("<usr><color>red</color></usr>", b"body");
    let mut sent = Md {
        format: Chars::new("MQHRF2"),
        correl_id: [9; 24],
        reply_to_q: Name::new("REPLY"),
        ..md(PERSISTENT)
    };
    let name = "a &amp; <b>/ c";
    let (early, _) = subscribe(&s, name, 0);
    let put = |od: &mut Od, md: &mut Md| {
        block_on(s.put1(od, md, &mut pmo(MQPMO_RETAIN), data.clone().into())).unwrap()
    };
    put(&mut topic(name), &mut sent);
    let (late, _) = subscribe(&s, name, 0);
    let folder = "<mqps><Top>a &amp;amp; &lt;b&gt;/ c</Top>";
    for (queue, says) in [(early, ""), (late, "<Ret dt='boolean'>1</Ret>")] {
        let got = next(&s, queue, 0).unwrap();
        let (header, used) = Rfh2::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
        let expected = format!("{folder}{says}</mqps>");
        assert_eq!(header.folder("mqps"), Some(expected.as_str()));
        assert_eq!(header.folder("usr"), Some("<usr><color>red</color></usr>"));
        assert_eq!(&got.data[used..], b"body");
        assert_eq!(got.md.reply_to_q, Name::new("REPLY"));
        assert_ne!(got.md.msg_id, MQMI_NONE);
        assert_ne!(got.md.correl_id, [9; 24], "the subscription's");
        assert_eq!(got.md.persistence, NOT_PERSISTENT, "as its queue is");
    }
}

#[test]
fn in_a_unit_of_work_it_is_retained_with_the_commit() {
    let w = World::light();
    let s = w.connect();
    publish(&s, "t", PERSISTENT, 0, "old");
    publish(&s, "t", PERSISTENT, MQPMO_SYNCPOINT, "never");
    assert_eq!(given(&w, "t"), ["old"]);
    backout(&s);
    assert_eq!(given(&w, "t"), ["old"]);
    publish(&s, "t", PERSISTENT, MQPMO_SYNCPOINT, "new");
    publish(&s, "u", NOT_PERSISTENT, MQPMO_SYNCPOINT, "there");
    assert_eq!(given(&w, "#"), ["old"]);
    commit(&s);
    assert_eq!(given(&w, "#"), ["new", "there"]);
}

/// The commit decides, not the put; in a unit of work the last put.
#[test]
fn of_units_of_work_the_last_that_is_committed_counts_before_a_crash_and_after() {
    let mut w = World::light();
    let (s, other) = (w.connect(), w.connect());
    for text in ["early", "put first"] {
        publish(&s, "t", PERSISTENT, MQPMO_SYNCPOINT, text);
    }
    publish(&other, "t", PERSISTENT, 0, "between");
    publish(&other, "u", PERSISTENT, MQPMO_SYNCPOINT, "first");
    publish(&s, "u", PERSISTENT, 0, "second");
    assert_eq!(given(&w, "#"), ["between", "second"]);
    commit(&s);
    assert_eq!(given(&w, "#"), ["second", "put first"]);
    commit(&other);
    let last = ["put first", "first"];
    assert_eq!(given(&w, "#"), last);
    publish(&s, "t", PERSISTENT, MQPMO_SYNCPOINT, "lost");
    drop((s, other));
    for _ in 0..2 {
        w.crash();
        assert_eq!(w.depth(RETAINED), 2);
        let mut after = given(&w, "#");
        after.sort();
        assert_eq!(after, ["first", "put first"]);
    }
}

/// Nor does it need a record: what is not persistent and what is are held against each other by their commits.
#[test]
fn the_last_commit_counts_where_none_is_in_the_log() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let w = World::light();
        let (s, other) = (w.connect(), w.connect());
        publish(&s, "t", NOT_PERSISTENT, MQPMO_SYNCPOINT, "late");
        publish(&other, "t", persistence, 0, "early");
        commit(&s);
        assert_eq!(given(&w, "t"), ["late"]);
        publish(&other, "t", NOT_PERSISTENT, 0, "later");
        assert_eq!(given(&w, "t"), ["later"]);
    }
}

/// Whether an image or the log has them when the branch is decided about.
#[test]
fn the_last_of_a_branch_in_doubt_counts_over_a_crash() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 256;
        c.pq_buffer = 4096;
    });
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)");
    let xid = Xid::new(1, &[7; 8], &[7]).unwrap();
    let [one, two] = ["one", "two"].map(|text| format!("{text:3000}"));
    let s = w.connect();
    for text in [&one, &two] {
        publish(&s, "t", PERSISTENT, MQPMO_SYNCPOINT, text);
    }
    assert_eq!(block_on(s.prepare(&xid)), Ok(Vote::Prepared));
    let (h, before) = (open(&s, "FILL", IN_OUT), w.image());
    until("a checkpoint", || {
        put(&s, h, PERSISTENT, 0, &[b'.'; 20_000]);
        next(&s, h, 0).unwrap();
        w.image() > before
    });
    drop(s);
    block_on(w.connect().resolve(&xid, Outcome::Committed)).unwrap();
    assert_eq!(given(&w, "t"), [two.as_str()]);
    for _ in 0..2 {
        w.crash();
        assert_eq!(given(&w, "t"), [two.as_str()]);
    }
}

fn small_log() -> World {
    World::with_log_files(3, 1)
}

/// The log has no room for anything while what is returned is kept.
fn fill(w: &World) -> impl Sized + '_ {
    let full = w.stage.images.lock();
    for bytes in [20_000, 100, 1] {
        until("a full log", || {
            let record = vec![0; bytes];
            w.qm().log().append(Class::Essential, &[&record]).is_err()
        });
    }
    full
}

/// What others do has nothing to do with it, and what has happened is not said to have failed.
#[test]
fn a_full_log_holds_up_nobody_but_who_supersedes() {
    let w = small_log();
    let (s, other) = (w.connect(), w.connect());
    publish(&s, "t", PERSISTENT, 0, "old");
    let h = open(&other, LOCAL, IN_OUT);
    let full = fill(&w);
    let superseding = Call::begin(supersede(s.clone()));
    let working = other.clone();
    put(&other, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"beside it");
    let committed = Call::attempt(async move { working.commit().await });
    assert!(
        committed.is_some_and(|done| done.is_ok()),
        "it has no record"
    );
    drop(full);
    assert_eq!(superseding.finish().unwrap().warning, Reason::NONE);
    assert_eq!(given(&w, "t"), ["new"]);
}

/// An image that had the superseded one and not what supersedes it would bring it back.
#[test]
fn what_expires_stays_until_the_log_has_the_end_of_what_it_superseded() {
    let w = small_log();
    let s = w.connect();
    publish(&s, "t", PERSISTENT, 0, "old");
    let full = fill(&w);
    let publishing = s.clone();
    let superseding = Call::begin(async move {
        let (mut od, mut soon) = (topic("t"), md(NOT_PERSISTENT));
        soon.expiry = 1;
        let data = Bytes::from_static(b"soon");
        let mut pmo = pmo(MQPMO_RETAIN);
        publishing.put1(&mut od, &mut soon, &mut pmo, data).await
    });
    let browser = w.connect();
    let h = open(&browser, RETAINED, MQOO_BROWSE);
    let expires = || next(&browser, h, MQGMO_BROWSE_FIRST).is_err();
    until("expiry", expires);
    assert_eq!(w.depth(RETAINED), 1, "found by nobody");
    assert_eq!(given(&w, "t"), [""; 0]);
    drop(full);
    assert_eq!(superseding.finish().unwrap().warning, Reason::NONE);
    until("both are gone", || expires() && w.depth(RETAINED) == 0);
}

#[test]
fn what_is_not_persistent_ends_with_the_queue_manager_and_brings_nothing_back() {
    let mut w = World::light();
    let s = w.connect();
    publish(&s, "a", PERSISTENT, 0, "kept");
    publish(&s, "b", PERSISTENT, 0, "superseded");
    publish(&s, "b", NOT_PERSISTENT, 0, "gone");
    publish(&s, "c", NOT_PERSISTENT, 0, "gone");
    publish(&s, "d", PERSISTENT, 0, "superseded");
    publish(&s, "d", NOT_PERSISTENT, MQPMO_SYNCPOINT, "gone");
    commit(&s);
    assert_eq!(given(&w, "#"), ["kept", "gone", "gone", "gone"]);
    drop(s);
    for _ in 0..2 {
        w.crash();
        assert_eq!(given(&w, "#"), ["kept"]);
        w.restart();
        assert_eq!(given(&w, "#"), ["kept"]);
    }
}

/// Nothing else is forced: the end of what was superseded is, before anybody is told.
#[test]
fn what_is_not_persistent_waits_for_the_end_of_what_it_supersedes() {
    let mut w = World::pausable();
    let s = w.connect();
    publish(&s, "t", PERSISTENT, 0, "old");
    w.stage.pause();
    let publishing = |options| {
        let s = s.clone();
        async move {
            let (mut od, mut sent) = (topic("t"), md(NOT_PERSISTENT));
            let mut pmo = pmo(options | MQPMO_RETAIN);
            let data = Bytes::from_static(b"new");
            s.put1(&mut od, &mut sent, &mut pmo, data).await
        }
    };
    let first = Call::begin(publishing(0));
    assert_eq!(given(&w, "t"), ["new"], "whom it reaches it has reached");
    w.stage.resume();
    assert_eq!(first.finish().unwrap().warning, Reason::NONE);
    w.stage.pause();
    let second = Call::attempt(publishing(0));
    assert!(second.is_some(), "what it supersedes now has no record");
    w.stage.resume();
    drop(s);
    w.crash();
    assert_eq!(given(&w, "t"), [""; 0]);
}

/// What that has superseded in turn is told to nobody before the end of the first one is durable, either.
#[test]
fn what_supersedes_in_turn_waits_for_the_end_of_the_first_one() {
    let mut w = World::pausable();
    let (s, other) = (w.connect(), w.connect());
    publish(&s, "t", PERSISTENT, 0, "old");
    w.stage.pause();
    let first = Call::begin(supersede(s.clone()));
    let second = Call::attempt(supersede(other.clone()));
    assert!(second.is_none(), "a crash now would bring the old one back");
    w.stage.resume();
    assert_eq!(first.finish().unwrap().warning, Reason::NONE);
    drop((s, other));
    w.crash();
    assert_eq!(given(&w, "t"), [""; 0]);
}

/// Where the log never says that the old one is gone, nobody is told that it is.
#[test]
fn an_end_with_a_full_log_leaves_open_what_is_retained() {
    let w = small_log();
    let s = w.connect();
    publish(&s, "t", PERSISTENT, 0, "old");
    let full = fill(&w);
    let superseding = Call::begin(supersede(s.clone()));
    let qm = w.qm().clone();
    let ending = Call::begin(async move { qm.end(EndMode::Immediate).await });
    let refused = superseding.finish().map(drop);
    assert_eq!(refused, Err(Reason::CONNECTION_BROKEN));
    drop(full);
    ending.finish().unwrap();
}

#[test]
fn it_expires() {
    let mut w = World::light();
    let s = w.connect();
    publish(&s, "t", PERSISTENT, 0, "old");
    let soon = Md {
        expiry: 1,
        report: MQRO_EXPIRATION | MQRO_COA,
        reply_to_q: Name::new(LOCAL),
        ..md(PERSISTENT)
    };
    try_publish(&s, "t", &soon, 0, "soon").unwrap();
    let h = open(&s, RETAINED, MQOO_BROWSE);
    until("expiry", || next(&s, h, MQGMO_BROWSE_FIRST).is_err());
    assert_eq!(given(&w, "t"), [""; 0]);
    assert_eq!(w.depth(RETAINED), 0);
    assert_eq!(w.depth(LOCAL), 0, "who was not sent it owes no report");
    publish(&s, "other", PERSISTENT, 0, "x");
    drop(s);
    w.crash();
    assert_eq!(
        given(&w, "#"),
        ["x"],
        "what it superseded does not come back"
    );
}

/// Nobody looks for what has expired here, so that it is on its queue still.
#[test]
fn what_has_expired_is_not_shown_as_retained() {
    let w = World::light();
    let s = w.connect();
    w.run("DEFINE TOPIC(T) TOPICSTR('t')");
    let soon = Md {
        expiry: 1,
        ..md(PERSISTENT)
    };
    try_publish(&s, "t", &soon, 0, "soon").unwrap();
    publish(&s, "u", PERSISTENT, 0, "stays");
    let retained = |topic: &str| {
        let reply = w.mqsc(&format!("DISPLAY TPSTATUS('{topic}') RETAINED"));
        reply.rows[0].2.shown("RETAINED").unwrap()
    };
    until("expiry", || retained("t") == "NO");
    assert_eq!(retained("u"), "YES");
    assert_eq!(w.depth(RETAINED), 2);
}

#[test]
fn only_the_queue_manager_uses_the_queue() {
    let w = World::light();
    let s = w.connect();
    publish(&s, "t", NOT_PERSISTENT, 0, "text");
    for options in [MQOO_INPUT_SHARED, MQOO_INPUT_EXCLUSIVE, MQOO_INPUT_AS_Q_DEF] {
        assert_eq!(try_open(&s, RETAINED, options), Err(Reason::OBJECT_IN_USE));
    }
    let put = put1(&s, RETAINED, &mut md(PERSISTENT), 0, b"forged");
    assert_eq!(put, Err(Reason::PUT_INHIBITED));
    let put = put1(
        &s,
        RETAINED,
        &mut md(PERSISTENT),
        MQPMO_SYNCPOINT,
        b"forged",
    );
    assert_eq!(put, Err(Reason::PUT_INHIBITED));
    let deleted = format!("{:?}", w.mqsc(&format!("DELETE QLOCAL({RETAINED}) PURGE")));
    assert!(deleted.contains("AMQ8148E"), "{deleted}");
    let h = open(&s, RETAINED, MQOO_BROWSE);
    let seen = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
    assert!(seen.data.ends_with(b"text"));
    let after = next(&s, h, MQGMO_BROWSE_NEXT);
    assert_eq!(after.unwrap_err(), Reason::NO_MSG_AVAILABLE);
    close(&s, h, 0).unwrap();
    assert_eq!(given(&w, "t"), ["text"]);
    w.run(&format!("CLEAR QLOCAL({RETAINED})"));
    assert_eq!(given(&w, "t"), [""; 0]);
}

#[test]
fn where_it_cannot_be_retained_nobody_gets_it() {
    let w = World::light();
    let s = w.connect();
    let (early, _) = subscribe(&s, "t", 0);
    publish(&s, "t", NOT_PERSISTENT, 0, "first");
    let refused = |script: &str| {
        w.run(&format!("ALTER QLOCAL({RETAINED}) {script}"));
        try_publish(&s, "t", &md(PERSISTENT), 0, "refused")
    };
    for script in [
        "MAXDEPTH(0)",
        "MAXDEPTH(10) PUT(DISABLED)",
        "PUT(ENABLED) MAXMSGL(10)",
    ] {
        let done = refused(script);
        assert_eq!(done, Err(Reason::PUT_NOT_RETAINED), "{script}");
    }
    assert_eq!(drain(&s, early), ["first"]);
    w.run(&format!("ALTER QLOCAL({RETAINED}) GET(DISABLED)"));
    let mut sd = of_topic("t", MQSO_MANAGED);
    let done = try_subscribe(&s, &mut sd, Hobj::NONE);
    assert_eq!(done, Err(Reason::RETAINED_MSG_Q_ERROR));
    w.run(&format!("ALTER QLOCAL({RETAINED}) GET(ENABLED)"));
    assert_eq!(given(&w, "t"), ["first"]);
}

#[test]
fn a_subscription_that_cannot_be_given_them_is_not_made() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(1)");
    let s = w.connect();
    for name in ["a", "b"] {
        publish(&s, name, PERSISTENT, 0, name);
    }
    let own = open(&s, "Q", IN_OUT);
    let mut sd = of_topic("#", MQSO_DURABLE);
    sd.sub_name = "S".to_owned();
    let done = try_subscribe(&s, &mut sd.clone(), own);
    assert_eq!(done, Err(Reason::RETAINED_NOT_DELIVERED));
    assert_eq!(w.depth("Q"), 0);
    w.run("ALTER QLOCAL(Q) MAXDEPTH(2)");
    let (_, hsub) = try_subscribe(&s, &mut sd, own).unwrap();
    assert_eq!(w.depth("Q"), 2);
    assert_eq!(ask(&s, hsub), Err(Reason::RETAINED_NOT_DELIVERED));
    assert_eq!(drain(&s, own), ["a", "b"]);
}

/// Whoever is told that it was not made finds it neither then nor after a crash: it had been made before anything was sent.
#[test]
fn a_subscription_that_could_not_be_made_does_not_come_back() {
    fn subscribe(w: &World, options: i32) -> Reason {
        let s = w.connect();
        let own = match options & MQSO_MANAGED {
            0 => open(&s, "Q", IN_OUT),
            _ => Hobj::NONE,
        };
        let mut sd = of_topic("#", MQSO_DURABLE | options);
        sd.sub_name = "S".to_owned();
        try_subscribe(&s, &mut sd, own).unwrap_err()
    }
    let refused = |make: fn(&World) -> Reason| {
        let disk = SimDisk::of_seed(1);
        let mut w = World::on_simulated(&disk, |c| c.log_config.file_pages = 64);
        w.run("DEFINE QLOCAL(Q) MAXDEPTH(1)");
        w.run("ALTER QMODEL(SYSTEM.DURABLE.MODEL.QUEUE) MAXDEPTH(1)");
        let s = w.connect();
        for name in ["a", "b"] {
            publish(&s, name, PERSISTENT, 0, name);
        }
        drop(s);
        assert_eq!(make(&w), Reason::RETAINED_NOT_DELIVERED);
        disk.cut_power();
        w.kill();
        disk.crash();
        w.remount(&disk);
        w.start();
        assert!(!w.mqsc("DISPLAY SUB(S)").ok, "it has come back");
        assert!(!w.mqsc("DISPLAY QLOCAL(SYSTEM.MANAGED.*)").ok);
        assert_eq!(w.depth("Q"), 0);
    };
    refused(|w| subscribe(w, 0));
    refused(|w| subscribe(w, MQSO_MANAGED));
    refused(|w| w.mqsc("DEFINE SUB(S) TOPICSTR('#') DEST(Q)").reason);
    refused(|w| {
        w.mqsc("DEFINE SUB(S) TOPICSTR('#') DESTCLAS(MANAGED)")
            .reason
    });
}

#[test]
fn what_is_cleared_is_gone_for_good() {
    let mut w = World::light();
    let s = w.connect();
    for name in ["a", "a/b", "a/c", "d"] {
        publish(&s, name, PERSISTENT, 0, "before");
        publish(&s, name, PERSISTENT, 0, name);
    }
    let clear = |w: &World, topics: &str| block_on(w.qm().clear_retained(topics));
    assert_eq!(clear(&w, "none"), Ok(0));
    assert_eq!(clear(&w, "a/+"), Ok(2));
    assert_eq!(given(&w, "#"), ["a", "d"]);
    let malformed = ChangeError::Failed(Reason::TOPIC_STRING_ERROR);
    assert_eq!(clear(&w, ""), Err(malformed));
    publish(&s, "a/b", PERSISTENT, 0, "again");
    drop(s);
    for _ in 0..2 {
        w.crash();
        assert_eq!(given(&w, "#"), ["a", "d", "again"]);
        assert_eq!(w.depth(RETAINED), 3);
    }
    assert_eq!(clear(&w, "#"), Ok(3));
    w.crash();
    assert_eq!(given(&w, "#"), [""; 0]);
    assert_eq!(w.depth(RETAINED), 0);
}

#[test]
fn many_that_are_in_the_file_are_given_and_found_again() {
    let mut w = World::with(|c| c.pq_buffer = 4096);
    let s = w.connect();
    let body = |n: usize| format!("{n} {}", "x".repeat(3000));
    let name = |n: usize| format!("many/{n}");
    for n in 0..300 {
        publish(&s, &name(n), PERSISTENT, MQPMO_SYNCPOINT, "old");
        publish(&s, &name(n), PERSISTENT, MQPMO_SYNCPOINT, &body(n));
        if n % 50 == 49 {
            commit(&s);
        }
    }
    let expected: Vec<String> = (0..300).map(body).collect();
    drop(s);
    for round in 0..3 {
        assert_eq!(w.depth(RETAINED), 300);
        assert_eq!(given(&w, "many/#"), expected, "{round}");
        w.crash();
    }
}

/// Whose power goes at some operation of the disk: what was acknowledged is retained, or what was published after it; and
/// the subscriber has it.
#[test]
fn a_crash_at_any_operation_leaves_the_last_one_that_was_acknowledged_or_a_later_one() {
    for cut in 1..60 {
        let disk = SimDisk::of_seed(cut);
        let mut w = World::on_simulated(&disk, |_| {});
        w.run("DEFINE QLOCAL(Q) MAXDEPTH(99999)");
        let s = w.connect();
        let own = open(&s, "Q", IN_OUT);
        let mut sd = of_topic("t", MQSO_DURABLE);
        sd.sub_name = "S".to_owned();
        try_subscribe(&s, &mut sd, own).unwrap();
        disk.cut_power_after(cut * 3);
        let (mut acknowledged, mut tried) = (0, 0);
        for n in 1..=40 {
            tried = n;
            let text = n.to_string();
            let unit = n % 3 == 0;
            let options = if unit { MQPMO_SYNCPOINT } else { 0 };
            let published = try_publish(&s, "t", &md(PERSISTENT), options, &text);
            if published.is_err() || unit && block_on(s.commit()).is_err() {
                break;
            }
            acknowledged = n;
        }
        drop(s);
        w.kill();
        disk.crash();
        w.remount(&disk);
        w.start();
        let retained = given(&w, "t");
        let last = retained.first().map_or(0, |text| text.parse().unwrap());
        assert!(retained.len() <= 1, "{cut}: {retained:?}");
        assert!(
            (acknowledged..=tried).contains(&last),
            "{cut}: {last} is retained, {acknowledged} of {tried} were acknowledged"
        );
        let s = w.connect();
        let sent = drain(&s, open(&s, "Q", MQOO_INPUT_SHARED));
        let expected: Vec<String> = (1..=last).map(|n: i32| n.to_string()).collect();
        assert_eq!(sent, expected, "{cut}: the copies are there as it is");
        assert_eq!(w.depth(RETAINED), u32::from(last > 0));
    }
}

/// DEFINE SUB sends what is retained, as MQSUB does: to a new subscription, unless it gets what it asks for.
#[test]
fn a_subscription_that_is_defined_is_given_what_is_retained() {
    let w = World::new();
    let s = w.connect();
    w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(SMALL) MAXDEPTH(1)\nDEFINE QLOCAL(ASKS)");
    publish(&s, "a/b", PERSISTENT, 0, "one");
    publish(&s, "a/c", NOT_PERSISTENT, 0, "two");
    w.run("DEFINE SUB(S) TOPICSTR('a/#') DEST(Q)");
    let queue = open(&s, "Q", IN_OUT);
    assert_eq!(drain(&s, queue), ["one", "two"]);
    w.run(
        "DEFINE SUB(S) REPLACE TOPICSTR('a/#') DEST(Q) USERDATA('x')\nALTER SUB(S) USERDATA('y')",
    );
    assert_eq!(drain(&s, queue), [""; 0], "it was there before");
    w.run("DEFINE SUB(R) TOPICSTR('a/#') DEST(ASKS) REQONLY(YES)");
    assert_eq!(w.depth("ASKS"), 0);
    w.run("DEFINE SUB(SEL) TOPICSTR('a/#') DESTCLAS(MANAGED) SELECTOR('JMSDeliveryMode = ''PERSISTENT''')");
    let shown = w.mqsc("DISPLAY SBSTATUS(SEL) NUMMSGS");
    assert_eq!(shown.rows[0].2.shown("NUMMSGS").unwrap(), "1");
    // It is there with what is retained, or not at all.
    w.run("ALTER TOPIC(SYSTEM.BASE.TOPIC) USEDLQ(NO)");
    let refused = w.mqsc("DEFINE SUB(FULL) TOPICSTR('a/#') DEST(SMALL)");
    assert!(!refused.ok, "{refused:?}");
    assert_eq!(refused.reason, Reason::RETAINED_NOT_DELIVERED);
    assert!(!w.mqsc("DISPLAY SUB(FULL)").ok);
    assert_eq!(w.depth("SMALL"), 0);
}

/// Two administrators: what is retained comes to a subscription from whoever has made it, once.
#[test]
fn a_definition_sends_nothing_to_what_another_has_defined_in_its_place() {
    let w = World::pausable();
    let s = w.connect();
    w.run("DEFINE QLOCAL(Q)");
    publish(&s, "t", PERSISTENT, 0, "retained");
    let mut attrs = Attrs::default();
    attrs.set_text(MQCA_TOPIC_STRING, "t");
    attrs.set_text(MQCACF_DESTINATION, "Q");
    let define = || {
        let (qm, attrs) = (w.qm().clone(), attrs.clone());
        Call::begin(async move {
            let definition = NewDefinition {
                kind: ObjectKind::Sub,
                name: "S",
                replace: false,
                decided_new: false,
                like: None,
                attrs: &attrs,
                maker: "",
            };
            qm.define(&definition).await
        })
    };
    w.stage.pause();
    let first = define();
    let qm = w.qm().clone();
    let deleted =
        Call::begin(async move { qm.delete(ObjectKind::Sub, "S", Deletion::default()).await });
    let second = define();
    w.stage.resume();
    first.finish().unwrap();
    deleted.finish().unwrap();
    second.finish().unwrap();
    assert_eq!(drain(&s, open(&s, "Q", IN_OUT)), ["retained"]);
}
