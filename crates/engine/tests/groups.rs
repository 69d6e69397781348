//! Message groups in logical order: putting, getting, browsing, and groups that are not whole.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering;

use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, GroupId, Hobj, Md, Reason};
use world::*;

const LOGICAL: i32 = MQPMO_LOGICAL_ORDER;
const ORDER: i32 = MQGMO_LOGICAL_ORDER;
const WHOLE: i32 = MQGMO_LOGICAL_ORDER | MQGMO_ALL_MSGS_AVAILABLE;
const MEMBER: i32 = MQMF_MSG_IN_GROUP;
const LAST: i32 = MQMF_LAST_MSG_IN_GROUP;

fn flagged(msg_flags: i32) -> Md {
    Md {
        msg_flags,
        ..md(NOT_PERSISTENT)
    }
}

/// A message of a group, placed by hand.
fn member(group: u8, msg_seq_number: i32, msg_flags: i32) -> Md {
    Md {
        group_id: [group; 24],
        msg_seq_number,
        ..flagged(msg_flags)
    }
}

/// Puts members named like `a1`, `a2.` (the last), or `x` (in no group), in physical order.
fn place(s: &Session, h: Hobj, names: &str) {
    for name in names.split_whitespace() {
        let bytes = name.as_bytes();
        let md = match bytes {
            [group, seq] => member(*group, i32::from(seq - b'0'), MEMBER),
            [group, seq, b'.'] => member(*group, i32::from(seq - b'0'), LAST),
            _ => md(0),
        };
        send(s, h, md, 0, name.trim_end_matches('.').as_bytes());
    }
}

/// Gets all there is with these options.
fn all(s: &Session, h: Hobj, options: i32) -> String {
    let mut out = Vec::new();
    while let Ok(taken) = next(s, h, options) {
        assert_eq!(taken.warning, Reason::NONE);
        out.push(taken.text());
    }
    out.join(" ")
}

/// Browses all there is with these options.
fn seen(s: &Session, h: Hobj, options: i32) -> String {
    let mut out = Vec::new();
    let mut how = MQGMO_BROWSE_FIRST;
    while let Ok(taken) = next(s, h, how | options) {
        how = MQGMO_BROWSE_NEXT;
        out.push(taken.text());
    }
    out.join(" ")
}

#[test]
fn a_putter_states_the_flags_and_the_queue_manager_counts() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let mut groups: Vec<GroupId> = Vec::new();
    for options in [0, MQPMO_SYNCPOINT] {
        for length in [1, 2, 4] {
            let alone = send(&s, h, flagged(0), LOGICAL | options, b"alone");
            assert_eq!((alone.group_id, alone.msg_seq_number), ([0; 24], 1));
            for n in 1..=length {
                let mut one = flagged(if n == length { LAST } else { MEMBER });
                // What the application says about these is ignored.
                one.group_id = [7; 24];
                one.msg_seq_number = 99;
                let one = send(&s, h, one, LOGICAL | options, b"member");
                assert_eq!(one.msg_seq_number, n);
                assert_eq!(one.offset, 0);
                if n == 1 {
                    assert!(!groups.contains(&one.group_id));
                    groups.push(one.group_id);
                }
                assert_eq!(Some(&one.group_id), groups.last());
            }
        }
        commit(&s);
    }
    assert_eq!(close(&s, h, 0), Ok(Reason::NONE));
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let mut order = Vec::new();
    while let Ok(got) = next(&s, h, ORDER) {
        let last = got.md.msg_flags & LAST != 0;
        let alone = got.md.msg_flags & (MEMBER | LAST) == 0;
        let status = if last {
            b'L'
        } else if alone {
            b' '
        } else {
            b'G'
        };
        assert_eq!(got.gmo.group_status, status);
        order.push(got.md.msg_seq_number);
    }
    let once = [1, 1, 1, 1, 2, 1, 1, 2, 3, 4];
    assert_eq!(order, [once, once].concat());
}

#[test]
fn a_put_that_fails_does_not_move_the_group_on() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    send(&s, h, flagged(MEMBER), LOGICAL, b"1");
    w.run(&format!("ALTER QLOCAL({LOCAL}) PUT(DISABLED)"));
    let refused = try_put(&s, h, &mut flagged(LAST), LOGICAL, b"2");
    assert_eq!(refused, Err(Reason::PUT_INHIBITED));
    w.run(&format!("ALTER QLOCAL({LOCAL}) PUT(ENABLED)"));
    let second = send(&s, h, flagged(LAST), LOGICAL, b"2");
    assert_eq!(second.msg_seq_number, 2);
}

#[test]
fn persistence_is_compared_as_the_queue_resolves_it() {
    let w = World::new();
    w.run(&format!("ALTER QLOCAL({LOCAL}) DEFPSIST(YES)"));
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let with = |persistence, msg_flags| Md {
        persistence,
        ..flagged(msg_flags)
    };
    send(&s, h, with(PERSISTENT, MEMBER), LOGICAL, b"1");
    send(
        &s,
        h,
        with(MQPER_PERSISTENCE_AS_Q_DEF, MEMBER),
        LOGICAL,
        b"2",
    );
    let wrong = try_put(&s, h, &mut with(NOT_PERSISTENT, MEMBER), LOGICAL, b"3");
    assert_eq!(wrong, Err(Reason::INCONSISTENT_PERSISTENCE));
    send(&s, h, with(PERSISTENT, LAST), LOGICAL, b"3");
}

/// A group that another handle, or another run, began is taken up by stating its place once.
#[test]
fn a_group_is_taken_up_again() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let first = send(&s, h, flagged(MEMBER), LOGICAL, b"1");
    assert_eq!(close(&s, h, 0), Ok(Reason::INCOMPLETE_GROUP));
    let h = open(&s, LOCAL, IN_OUT);
    let second = Md {
        group_id: first.group_id,
        msg_seq_number: 2,
        ..flagged(MEMBER)
    };
    send(&s, h, second, 0, b"2");
    let third = send(&s, h, flagged(LAST), LOGICAL, b"3");
    assert_eq!((third.group_id, third.msg_seq_number), (first.group_id, 3));
    // The same on the getting side.
    let by_place = Gmo {
        match_options: MQMO_MATCH_GROUP_ID | MQMO_MATCH_MSG_SEQ_NUMBER,
        ..gmo(0)
    };
    next(&s, h, ORDER).unwrap();
    assert_eq!(close(&s, h, 0), Ok(Reason::INCOMPLETE_GROUP));
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, 0, 0, b"other");
    let by = Md {
        group_id: first.group_id,
        msg_seq_number: 2,
        ..md(0)
    };
    assert_eq!(take(&s, h, by, by_place, 9).unwrap().text(), "2");
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "3");
    assert_eq!(close(&s, h, 0), Ok(Reason::NONE));
}

/// Physical order on the left, what a getter in logical order gets, and with whole groups only.
#[test]
fn logical_order_is_made_of_any_physical_order() {
    let rows = [
        ("x a1 a2 a3. y", "x a1 a2 a3 y", "x a1 a2 a3 y"),
        ("a3. a1 x a2 y", "a1 a2 a3 x y", "a1 a2 a3 x y"),
        ("a1 b1 a2. b2.", "a1 a2 b1 b2", "a1 a2 b1 b2"),
        ("b2. a1 b1 a2.", "a1 a2 b1 b2", "a1 a2 b1 b2"),
        ("a1 b1 b2.", "a1", "b1 b2"),
        ("a2. x", "x", "x"),
        ("a1 a3. x", "a1", "x"),
        ("x a1. b1 c1.", "x a1 b1", "x a1 c1"),
        ("a1 a1 a3. x", "a1", "x"),
    ];
    let w = World::new();
    for (physical, ordered, whole) in rows {
        for (options, expected) in [(ORDER, ordered), (WHOLE, whole)] {
            let s = w.connect();
            let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
            place(&s, h, physical);
            let browsed = seen(&s, h, options);
            // In a group that is not whole the getter waits for its next message.
            assert_eq!(all(&s, h, options), expected, "{physical} {options:#x}");
            if expected == physical.replace('.', "") || whole == ordered {
                assert_eq!(browsed, expected, "browsing {physical} {options:#x}");
            }
            drain_all(&s);
        }
    }
}

fn drain_all(s: &Session) {
    let h = open(s, LOCAL, MQOO_INPUT_SHARED);
    drain(s, h);
}

#[test]
fn one_group_after_another_even_if_they_are_mixed_with_priorities() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (priority, name) in [(1, "a1"), (9, "b1"), (5, "x"), (9, "b2."), (1, "a2.")] {
        let bytes = name.as_bytes();
        let md = match bytes {
            [g, n] => member(*g, i32::from(n - b'0'), MEMBER),
            [g, n, _] => member(*g, i32::from(n - b'0'), LAST),
            _ => md(0),
        };
        let text = name.trim_end_matches('.');
        send(&s, h, Md { priority, ..md }, 0, text.as_bytes());
    }
    assert_eq!(all(&s, h, ORDER), "b1 b2 x a1 a2");
}

#[test]
fn a_getter_waits_for_the_rest_of_its_group() {
    let w = World::new();
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    place(&putter, p, "a1 x");
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "a1");
    let mut waiting = wait(&s, h, md(0), gmo(ORDER));
    place(&putter, p, "a3. y b1.");
    assert!(waiting.poll().is_none());
    place(&putter, p, "a2");
    assert_eq!(waiting.finish().unwrap().text(), "a2");
    assert_eq!(all(&s, h, ORDER), "a3 x y b1");
    // And for whole groups.
    let mut waiting = wait(&s, h, md(0), gmo(WHOLE));
    place(&putter, p, "c2.");
    assert!(waiting.poll().is_none());
    place(&putter, p, "c1");
    assert_eq!(waiting.finish().unwrap().text(), "c1");
}

#[test]
fn a_group_is_whole_when_its_unit_of_work_is_committed() {
    let w = World::new();
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    for n in 1..=3 {
        let flags = if n == 3 { LAST } else { MEMBER };
        send(
            &putter,
            p,
            flagged(flags),
            LOGICAL | MQPMO_SYNCPOINT,
            n.to_string().as_bytes(),
        );
    }
    assert_eq!(all(&s, h, WHOLE), "");
    commit(&putter);
    // Got in one unit of work; backed out it is whole again.
    let sync = WHOLE | MQGMO_SYNCPOINT;
    assert_eq!(all(&s, h, sync), "1 2 3");
    let other = w.connect();
    let o = open(&other, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(all(&other, o, WHOLE), "");
    backout(&s);
    assert_eq!(all(&other, o, WHOLE), "1 2 3");
}

/// Without logical order: groups that are not whole are passed over, a group that was begun is
/// finished.
#[test]
fn whole_groups_without_logical_order() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    place(&s, h, "a1 b2. x b1 c1");
    assert_eq!(all(&s, h, MQGMO_ALL_MSGS_AVAILABLE), "b2 x");
    // The last message came first, so the handle is in no group now, and the group is not whole.
    place(&s, h, "c2.");
    assert_eq!(all(&s, h, MQGMO_ALL_MSGS_AVAILABLE), "c1 c2");
    assert_eq!(all(&s, h, 0), "a1 b1");
}

#[test]
fn browsing_groups_and_removing_them_are_kept_apart() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    place(&s, h, "a1 b1 a2 b2. a3. x");
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "a1");
    assert_eq!(
        next(&s, h, MQGMO_BROWSE_FIRST | ORDER).unwrap().text(),
        "b1"
    );
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "a2");
    assert_eq!(next(&s, h, MQGMO_BROWSE_NEXT | ORDER).unwrap().text(), "b2");
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "a3");
    assert_eq!(next(&s, h, MQGMO_BROWSE_NEXT | ORDER).unwrap().text(), "x");
    // Under the cursor is under the cursor, whatever group the handle is in.
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "b1");
    assert_eq!(next(&s, h, MQGMO_MSG_UNDER_CURSOR).unwrap().text(), "x");
    assert_eq!(next(&s, h, ORDER).unwrap().text(), "b2");
}

#[test]
fn browsing_in_logical_order_meets_everything_once() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT | MQOO_BROWSE);
    place(&s, h, "x a2 b1 a1 y b2. c1 a3. c2. z");
    assert_eq!(seen(&s, h, ORDER), "x b1 b2 a1 a2 a3 y c1 c2 z");
    assert_eq!(seen(&s, h, 0), "x a2 b1 a1 y b2 c1 a3 c2 z");
}

/// Who goes on with a browse does so in the order in which it was begun (messages manual, 2259).
#[test]
fn a_browse_goes_on_in_the_order_in_which_it_was_begun() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE | MQOO_CO_OP);
    place(&s, h, "a1 x a2. y");
    let browse = |options| next(&s, h, options).map(|taken| taken.text());
    let refused = Err(Reason::INCONSISTENT_BROWSE);
    for (begun, otherwise, second) in [(ORDER, 0, "a2"), (0, ORDER, "x")] {
        // Where there is no cursor yet it begins; the order of a get has nothing to do with it.
        let h = open(&s, LOCAL, MQOO_BROWSE);
        let first = next(&s, h, MQGMO_BROWSE_NEXT | begun).unwrap();
        assert_eq!(first.text(), "a1");
        let other = next(&s, h, MQGMO_BROWSE_NEXT | otherwise);
        assert_eq!(other.unwrap_err(), Reason::INCONSISTENT_BROWSE);

        assert_eq!(browse(MQGMO_BROWSE_FIRST | begun).unwrap(), "a1");
        assert_eq!(browse(MQGMO_BROWSE_NEXT | otherwise), refused);
        // What is under the cursor is so in either order, and that it was refused changes nothing.
        let under = MQGMO_BROWSE_MSG_UNDER_CURSOR;
        assert_eq!(browse(under | otherwise).unwrap(), "a1");
        assert_eq!(browse(MQGMO_BROWSE_NEXT | begun).unwrap(), second);
        assert_eq!(browse(MQGMO_BROWSE_NEXT | otherwise), refused);
        assert_eq!(browse(MQGMO_BROWSE_FIRST | otherwise).unwrap(), "a1");
        assert_eq!(browse(MQGMO_BROWSE_NEXT | begun), refused);
    }
    // A cursor that stands on what another handle has marked was set in no logical order.
    let other = w.connect();
    let o = open(&other, LOCAL, MQOO_BROWSE | MQOO_CO_OP);
    let marks = MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP;
    next(&other, o, marks).unwrap();
    assert_eq!(browse(MQGMO_BROWSE_FIRST | ORDER).unwrap(), "a1");
    let marked = browse(marks);
    assert_eq!(marked, Err(Reason::MSG_MARKED_BROWSE_CO_OP));
    assert_eq!(browse(MQGMO_BROWSE_NEXT).unwrap(), "x");
    // Consumers browse in physical order.
    assert_eq!(browse(MQGMO_BROWSE_FIRST | ORDER).unwrap(), "a1");
    let consumer = s.consumer(h, &md(0), &gmo(MQGMO_BROWSE_NEXT));
    assert_eq!(consumer.err(), Some(Reason::INCONSISTENT_BROWSE));
}

/// A member that has expired makes its group incomplete, and its report is sent.
#[test]
fn an_expired_member_is_missed_and_reported() {
    let w = World::new();
    let s = w.connect();
    w.run("DEFINE QLOCAL(REPORTS)");
    let h = open(&s, LOCAL, IN_OUT);
    place(&s, h, "a1");
    let dying = Md {
        expiry: 1,
        report: MQRO_EXPIRATION,
        reply_to_q: posthaste_mqi::Name::new("REPORTS"),
        ..member(b'a', 2, MEMBER)
    };
    send(&s, h, dying, 0, b"a2");
    place(&s, h, "a3. x");
    // Whoever looks first meets it, perhaps while counting the members.
    until("expiry", || {
        let other = w.connect();
        let o = open(&other, LOCAL, MQOO_BROWSE);
        seen(&other, o, MQGMO_ALL_MSGS_AVAILABLE) == "x"
    });
    assert_eq!(w.depth("REPORTS"), 1);
    assert_eq!(all(&s, h, WHOLE), "x");
}

#[test]
fn put1_makes_a_group_of_its_own() {
    let w = World::new();
    let s = w.connect();
    let mut first = flagged(MEMBER);
    put1(&s, LOCAL, &mut first, 0, b"1").unwrap();
    assert_ne!(first.group_id, [0; 24]);
    let mut second = Md {
        group_id: first.group_id,
        msg_seq_number: 2,
        ..flagged(LAST)
    };
    put1(&s, LOCAL, &mut second, 0, b"2").unwrap();
    assert_eq!(second.group_id, first.group_id);
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(all(&s, h, WHOLE), "1 2");
}

#[test]
fn groups_survive_a_crash() {
    let mut w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for n in 1..=4 {
        let flags = if n == 4 { LAST } else { MEMBER };
        let md = Md {
            persistence: PERSISTENT,
            ..flagged(flags)
        };
        send(&s, h, md, LOGICAL, n.to_string().as_bytes());
    }
    drop(s);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(all(&s, h, WHOLE), "1 2 3 4");
}

/// What is not whole is passed by without a look into the file, however much of it lies in front.
#[test]
fn groups_that_are_not_whole_are_not_read_from_the_file() {
    let w = World::with(|c| c.q_buffer = 64 << 10);
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for n in 0..200 {
        send(&s, h, member(n, 1, MEMBER), 0, &[1; 2000]);
    }
    send(&s, h, member(200, 1, LAST), 0, &[2; 2000]);
    let reads = || w.stage.queue_reads.load(Ordering::SeqCst);
    for options in [WHOLE | MQGMO_BROWSE_FIRST, MQGMO_ALL_MSGS_AVAILABLE] {
        let before = reads();
        let how = Gmo {
            match_options: 0,
            ..gmo(options)
        };
        let taken = take(&s, h, flagged(0), how, 2000).unwrap();
        assert_eq!(taken.data[0], 2);
        assert!(reads() - before <= 2, "{} reads", reads() - before);
    }
}

/// Puts a member in logical order, and says where it stands.
fn member_put(s: &Session, h: Hobj, msg_flags: i32, options: i32) -> (GroupId, i32) {
    let put = send(s, h, flagged(msg_flags), LOGICAL | options, b"member");
    (put.group_id, put.msg_seq_number)
}

/// A putter goes on where its group stood before the unit of work that is backed out (MQI reference, "MQBACK", usage notes).
#[test]
fn a_backout_puts_the_putter_back_into_its_group() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let put = |flags| member_put(&s, h, flags, MQPMO_SYNCPOINT);
    let (dead, _) = put(MEMBER);
    backout(&s);
    let (group, first) = put(MEMBER);
    assert_ne!(group, dead);
    assert_eq!(first, 1);
    commit(&s);
    // Also when the group had ended in it, and another had begun.
    for _ in 0..2 {
        assert_eq!(put(MEMBER), (group, 2));
        assert_eq!(put(LAST), (group, 3));
        assert_ne!(put(MEMBER).0, group);
        backout(&s);
    }
    // What was committed stays so.
    assert_eq!(put(LAST), (group, 2));
    commit(&s);
    backout(&s);
    assert_eq!(put(LAST).1, 1);
    backout(&s);
    assert_eq!(close(&s, h, 0), Ok(Reason::NONE));
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(all(&s, h, WHOLE), "member member");
}

#[test]
fn a_backout_puts_the_getter_back_into_its_group() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    place(&s, h, "x a1 a2 a3. b1 b2.");
    let get = || next(&s, h, ORDER | MQGMO_SYNCPOINT).unwrap().text();
    assert_eq!([get(), get()], ["x", "a1"]);
    backout(&s);
    assert_eq!([get(), get()], ["x", "a1"]);
    commit(&s);
    for _ in 0..2 {
        assert_eq!([get(), get(), get()], ["a2", "a3", "b1"]);
        backout(&s);
    }
    assert_eq!(get(), "a2");
    commit(&s);
    assert_eq!(get(), "a3");
    assert_eq!(close(&s, h, 0), Ok(Reason::NONE));
    backout(&s);
    // Browsing is no part of any unit of work.
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    place(&s, h, "c1 c2 c3.");
    let browse = |how| next(&s, h, how).unwrap().text();
    assert_eq!(browse(ORDER | MQGMO_BROWSE_FIRST), "b1");
    next(&s, h, ORDER | MQGMO_SYNCPOINT).unwrap();
    assert_eq!(browse(ORDER | MQGMO_BROWSE_NEXT), "b2");
    backout(&s);
    assert_eq!(browse(ORDER | MQGMO_BROWSE_NEXT), "c1");
    assert_eq!(close(&s, h, 0), Ok(Reason::NONE), "it was in no group");
}

/// What came last outside of the unit of work is not taken back with it, and where other handles stand neither.
#[test]
fn a_backout_leaves_alone_what_was_put_and_got_outside() {
    let w = World::new();
    let s = w.connect();
    let (h, other) = (open(&s, LOCAL, IN_OUT), open(&s, LOCAL, IN_OUT));
    let (group, _) = member_put(&s, other, MEMBER, 0);
    put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"alone");
    let (outside, _) = member_put(&s, h, MEMBER, 0);
    backout(&s);
    assert_eq!(member_put(&s, h, LAST, 0), (outside, 2));
    assert_eq!(member_put(&s, other, LAST, 0), (group, 2));
    // A group that was left in the unit of work for one outside of it.
    member_put(&s, h, MEMBER, MQPMO_SYNCPOINT);
    let left = try_put(&s, h, &mut member(b'a', 1, MEMBER), 0, b"a1");
    assert_eq!(left, Ok(Reason::INCOMPLETE_GROUP));
    backout(&s);
    assert_eq!(member_put(&s, h, LAST, 0), ([b'a'; 24], 2));
    let got = next(&s, h, ORDER | MQGMO_SYNCPOINT).unwrap();
    assert_eq!(got.md.group_id, group);
    let place = Gmo {
        match_options: MQMO_MATCH_GROUP_ID | MQMO_MATCH_MSG_SEQ_NUMBER,
        ..gmo(0)
    };
    let left = take(&s, h, member(b'a', 1, 0), place, 99).unwrap();
    assert_eq!(left.warning, Reason::INCOMPLETE_GROUP);
    backout(&s);
    let last = next(&s, h, ORDER).unwrap().md;
    assert_eq!((last.group_id, last.msg_seq_number), ([b'a'; 24], 2));
}

/// A unit of work that the queue manager backs out, in MQCMIT.
#[test]
fn a_doomed_unit_of_work_puts_the_putter_back_into_its_group() {
    let w = World::new();
    w.run("DEFINE QLOCAL(SHORT) MAXDEPTH(0)");
    let s = w.connect();
    let (h, short) = (open(&s, LOCAL, IN_OUT), open(&s, "SHORT", MQOO_OUTPUT));
    let put = |flags| member_put(&s, h, flags, MQPMO_SYNCPOINT);
    let (group, _) = put(MEMBER);
    commit(&s);
    assert_eq!(put(LAST), (group, 2));
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    let full = try_put(&s, short, &mut md(PERSISTENT), asynchronous, b"");
    assert_eq!(full, Err(Reason::Q_FULL));
    assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT));
    assert_eq!(put(LAST), (group, 2));
    commit(&s);
}

/// The same, before its application knows.
#[test]
fn a_unit_of_work_that_holds_the_log_up_puts_the_putter_back_into_its_group() {
    let w = World::with_log_files(3, 2);
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let with = |msg_flags| Md {
        persistence: PERSISTENT,
        ..flagged(msg_flags)
    };
    let first = send(&s, h, with(MEMBER), LOGICAL | MQPMO_SYNCPOINT, b"1");
    let other = w.connect();
    let o = open(&other, LOCAL, IN_OUT);
    let filled = (0..1000).any(|_| {
        match try_put(&other, o, &mut md(PERSISTENT), 0, &[0; 20000]) {
            Ok(warning) => assert_eq!(warning, Reason::NONE),
            Err(reason) => assert_eq!(reason, Reason::RESOURCE_PROBLEM),
        }
        w.message_count("AMQ7469W") > 0
    });
    assert!(filled);
    let refused = try_put(&s, h, &mut with(MEMBER), LOGICAL | MQPMO_SYNCPOINT, b"2");
    assert_eq!(refused, Err(Reason::BACKED_OUT));
    let again = send(&s, h, with(MEMBER), LOGICAL, b"1");
    assert_ne!(again.group_id, first.group_id);
    assert_eq!(again.msg_seq_number, 1);
}
