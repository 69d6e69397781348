//! Marks of browsed messages: a handle's own, and those for all handles that were opened with MQOO_CO_OP.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::cell::RefCell;

use posthaste_engine::{Consumer, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Reason};
use world::*;

const BOTH: i32 = IN_OUT | MQOO_BROWSE;
const CO_OP: i32 = BOTH | MQOO_CO_OP;
/// Shown once, to one of all.
const SHARE: i32 = MQGMO_BROWSE_CO_OP;
/// Shown once to each.
const OWN: i32 = MQGMO_BROWSE_HANDLE;
const UNMARKED: i32 = MQGMO_BROWSE_FIRST | MQGMO_UNMARKED_BROWSE_MSG;
const NONE: Result<String, Reason> = Err(Reason::NO_MSG_AVAILABLE);

fn text(s: &Session, h: Hobj, options: i32) -> Result<String, Reason> {
    next(s, h, options).map(|taken| taken.text())
}

fn shown(text: &str) -> Result<String, Reason> {
    Ok(text.to_owned())
}

/// A queue with messages, and two sessions with handles that mark for each other.
fn two(texts: &[&str]) -> (World, [(Session, Hobj); 2]) {
    let w = World::light();
    let handles = [(); 2].map(|()| {
        let s = w.connect();
        let h = open(&s, LOCAL, CO_OP);
        (s, h)
    });
    for text in texts {
        put(&handles[0].0, handles[0].1, 0, 0, text.as_bytes());
    }
    (w, handles)
}

#[test]
fn each_message_is_shown_to_one_of_all() {
    let (w, [(s, a), (t, b)]) = two(&["1", "2", "3"]);
    assert_eq!(text(&s, a, SHARE), shown("1"));
    assert_eq!(text(&t, b, SHARE), shown("2"));
    assert_eq!(text(&s, a, SHARE), shown("3"));
    assert_eq!(text(&t, b, SHARE), NONE);
    // Who is none of them sees all, and gets all.
    let alone = open(&t, LOCAL, BOTH);
    assert_eq!(text(&t, alone, UNMARKED), shown("1"));
    assert_eq!(text(&t, alone, 0), shown("1"));
    // So does whoever does not ask for unmarked ones; but it cannot mark what another has marked.
    assert_eq!(text(&t, b, MQGMO_BROWSE_FIRST), shown("2"));
    let first = MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP;
    assert_eq!(text(&s, a, first), Err(Reason::MSG_MARKED_BROWSE_CO_OP));
    assert_eq!(text(&t, b, first), shown("2"));
    assert_eq!(w.depth(LOCAL), 2);
}

#[test]
fn a_handles_own_marks_are_of_no_concern_to_others() {
    let (_w, [(s, a), (t, b)]) = two(&["1", "2"]);
    for (s, h) in [(&s, a), (&t, b)] {
        assert_eq!(text(s, h, OWN), shown("1"));
        assert_eq!(text(s, h, OWN), shown("2"));
        assert_eq!(text(s, h, OWN), NONE);
    }
    let unmark = MQGMO_BROWSE_FIRST | MQGMO_UNMARK_BROWSE_HANDLE;
    assert_eq!(text(&s, a, unmark), shown("1"));
    assert_eq!(text(&s, a, OWN), shown("1"));
    assert_eq!(text(&t, b, OWN), NONE);
    // They end with the handle.
    close(&t, b, 0).unwrap();
    let again = open(&t, LOCAL, BOTH);
    assert_eq!(text(&t, again, OWN), shown("1"));
}

#[test]
fn what_comes_back_is_not_marked() {
    let (_w, [(s, a), (t, b)]) = two(&["1"]);
    let alone = open(&s, LOCAL, BOTH);
    assert_eq!(text(&s, a, SHARE), shown("1"));
    assert_eq!(text(&s, alone, OWN), shown("1"));
    assert_eq!(text(&s, alone, OWN), NONE);
    let mut waiting = wait(&t, b, md(0), gmo(SHARE));
    assert_eq!(text(&s, a, MQGMO_SYNCPOINT), shown("1"));
    block_on(s.backout()).unwrap();
    assert_eq!(waiting.poll().unwrap().unwrap().text(), "1");
    assert_eq!(text(&s, a, SHARE), NONE);
    assert_eq!(text(&s, alone, OWN), shown("1"));
}

#[test]
fn whoever_waits_is_shown_what_is_unmarked() {
    let (_w, [(s, a), (t, b)]) = two(&["1"]);
    assert_eq!(text(&s, a, SHARE), shown("1"));
    let mut waiting = wait(&t, b, md(0), gmo(SHARE));
    let unmark = MQGMO_BROWSE_FIRST | MQGMO_UNMARK_BROWSE_CO_OP;
    assert_eq!(text(&s, a, unmark), shown("1"));
    assert_eq!(waiting.poll().unwrap().unwrap().text(), "1");
}

#[test]
fn marks_for_all_lapse() {
    let (w, [(s, a), (t, b)]) = two(&["1"]);
    w.run("ALTER QMGR MARKINT(NOLIMIT)");
    assert_eq!(text(&s, a, SHARE), shown("1"));
    w.run("ALTER QMGR MARKINT(50)");
    // What was marked without a limit is not let go by another one.
    let short = Gmo {
        wait_interval: 200,
        ..gmo(SHARE | MQGMO_WAIT)
    };
    let none = block_on(getting(t.clone(), b, md(0), short, 10));
    assert_eq!(none.unwrap_err(), Reason::NO_MSG_AVAILABLE);
    let unmark = MQGMO_BROWSE_FIRST | MQGMO_UNMARK_BROWSE_CO_OP;
    assert_eq!(text(&s, a, unmark), shown("1"));
    assert_eq!(text(&s, a, SHARE), shown("1"));
    // Whoever waits is shown it when its mark lapses, with no word of anybody.
    let lapsed = wait(&t, b, md(0), gmo(SHARE)).finish();
    assert_eq!(lapsed.unwrap().text(), "1");
    let mut consumer = consumer(&s, a, SHARE);
    let shown = block_on(consumer.next()).unwrap();
    assert_eq!(&shown.data()[..], b"1");
}

#[test]
fn marks_for_all_end_with_the_last_of_them() {
    let (_w, [(s, a), (t, b)]) = two(&["1"]);
    assert_eq!(text(&s, a, SHARE), shown("1"));
    close(&s, a, 0).unwrap();
    assert_eq!(text(&t, b, SHARE), NONE);
    let late = open(&s, LOCAL, CO_OP);
    close(&t, b, 0).unwrap();
    assert_eq!(text(&s, late, SHARE), NONE);
    close(&s, late, 0).unwrap();
    let new = open(&t, LOCAL, CO_OP);
    assert_eq!(text(&t, new, SHARE), shown("1"));
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let (_w, [(s, a), _]) = two(&["1"]);
    let alone = open(&s, LOCAL, BOTH);
    for (h, options) in [
        (alone, SHARE),
        (alone, MQGMO_BROWSE_FIRST | MQGMO_UNMARK_BROWSE_CO_OP),
        (a, MQGMO_MARK_BROWSE_CO_OP),
        (a, MQGMO_UNMARKED_BROWSE_MSG),
        (a, SHARE | MQGMO_LOCK),
        (a, SHARE | MQGMO_LOGICAL_ORDER),
        (a, OWN | MQGMO_ALL_MSGS_AVAILABLE),
        (a, OWN | MQGMO_UNMARK_BROWSE_HANDLE),
        (a, SHARE | MQGMO_UNMARK_BROWSE_CO_OP),
    ] {
        assert_eq!(
            text(&s, h, options),
            Err(Reason::OPTIONS_ERROR),
            "{options:x}"
        );
    }
    let refused = try_open(&s, LOCAL, IN_OUT | MQOO_CO_OP);
    assert_eq!(refused, Err(Reason::OPTIONS_ERROR));
    assert_eq!(text(&s, a, SHARE), shown("1"));
}

fn consumer(s: &Session, h: Hobj, options: i32) -> Consumer {
    let consumer = s.consumer(h, &md(0), &gmo(options)).unwrap();
    consumer.credit(10);
    consumer
}

/// The next message that is shown, noted; none: there is none now.
fn noted(consumer: &mut Consumer) -> Option<String> {
    let delivery = Call::attempt(consumer.next())?.unwrap();
    let text = String::from_utf8(delivery.data().to_vec()).unwrap();
    block_on(delivery.accept()).unwrap();
    Some(text)
}

#[test]
fn consumers_browse_and_share() {
    let (w, [(s, a), (t, b)]) = two(&["1", "2"]);
    let (mut one, mut other) = (consumer(&s, a, SHARE), consumer(&t, b, SHARE));
    assert_eq!(noted(&mut one).as_deref(), Some("1"));
    assert_eq!(noted(&mut other).as_deref(), Some("2"));
    assert_eq!(noted(&mut one), None);
    put(&s, a, 0, 0, b"3");
    assert_eq!(noted(&mut one).as_deref(), Some("3"));
    assert_eq!(noted(&mut other), None);
    // One that nobody took note of is another's.
    put(&s, a, 0, 0, b"4");
    drop(Call::attempt(one.next()).unwrap().unwrap());
    assert_eq!(noted(&mut other).as_deref(), Some("4"));
    // The handle's cursor is at what was shown last.
    assert_eq!(text(&t, b, MQGMO_MSG_UNDER_CURSOR), shown("4"));
    assert_eq!(w.depth(LOCAL), 3);
}

#[test]
fn a_consumer_without_marks_is_shown_each_message_once() {
    let (_w, [(s, a), _]) = two(&["1", "2"]);
    let mut all = consumer(&s, a, MQGMO_BROWSE_FIRST);
    assert_eq!(noted(&mut all).as_deref(), Some("1"));
    assert_eq!(noted(&mut all).as_deref(), Some("2"));
    assert_eq!(noted(&mut all), None);
    put(&s, a, 0, 0, b"3");
    assert_eq!(noted(&mut all).as_deref(), Some("3"));
    let mut rest = consumer(&s, a, MQGMO_BROWSE_NEXT);
    assert_eq!(noted(&mut rest), None);
}

#[test]
fn a_consumer_of_unmarked_messages_that_marks_none_is_shown_each_once() {
    let (_w, [(s, a), _]) = two(&["1", "2"]);
    let mut all = consumer(&s, a, UNMARKED);
    assert_eq!(noted(&mut all).as_deref(), Some("1"));
    assert_eq!(noted(&mut all).as_deref(), Some("2"));
    assert_eq!(noted(&mut all), None);
}

#[test]
fn whoever_is_handed_a_message_out_of_a_lock_ends_its_marks() {
    let (w, [(s, a), (t, b)]) = two(&["1"]);
    assert_eq!(text(&s, a, SHARE), shown("1"));
    let alone = open(&t, LOCAL, BOTH);
    assert_eq!(text(&t, alone, MQGMO_BROWSE_FIRST | MQGMO_LOCK), shown("1"));
    let u = w.connect();
    let getter = open(&u, LOCAL, IN_OUT);
    let mut waiting = wait(&u, getter, md(0), gmo(MQGMO_SYNCPOINT));
    next(&t, alone, MQGMO_UNLOCK).unwrap();
    assert_eq!(waiting.poll().unwrap().unwrap().text(), "1");
    block_on(u.backout()).unwrap();
    assert_eq!(text(&t, b, SHARE), shown("1"));
}

#[test]
fn a_consumer_that_waits_is_shown_what_its_handle_unmarks() {
    let (_w, [(s, a), _]) = two(&["1"]);
    let mut own = consumer(&s, a, OWN);
    assert_eq!(noted(&mut own).as_deref(), Some("1"));
    assert_eq!(noted(&mut own), None);
    let unmark = MQGMO_BROWSE_FIRST | MQGMO_UNMARK_BROWSE_HANDLE;
    assert_eq!(text(&s, a, unmark), shown("1"));
    assert_eq!(noted(&mut own).as_deref(), Some("1"));
}

#[test]
fn what_nobody_took_note_of_is_shown_again() {
    let (_w, [(s, a), _]) = two(&["1", "2"]);
    let mut all = consumer(&s, a, MQGMO_BROWSE_FIRST);
    drop(Call::attempt(all.next()).unwrap().unwrap());
    let first = Call::attempt(all.next()).unwrap().unwrap();
    let second = Call::attempt(all.next()).unwrap().unwrap();
    assert_eq!(&second.data()[..], b"2");
    // The cursor is at the one that was noted, whatever is on its way.
    block_on(first.accept()).unwrap();
    assert_eq!(text(&s, a, MQGMO_MSG_UNDER_CURSOR), shown("1"));
}

#[test]
fn a_mark_that_is_made_again_lapses_no_sooner() {
    let (w, [(s, a), (t, b)]) = two(&["1"]);
    w.run("ALTER QMGR MARKINT(NOLIMIT)");
    let again = MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP;
    assert_eq!(text(&s, a, again), shown("1"));
    w.run("ALTER QMGR MARKINT(0)");
    assert_eq!(text(&s, a, again), shown("1"));
    assert_eq!(text(&t, b, SHARE), NONE);
}

/// How many links between messages are followed while `work` is done.
fn steps(w: &World, work: impl FnOnce()) -> u64 {
    let before = w.status(LOCAL).steps;
    work();
    w.status(LOCAL).steps - before
}

#[test]
fn what_a_look_costs_does_not_grow_with_what_is_marked() {
    const MANY: u64 = 1_000;
    let (w, [(s, a), (t, b)]) = two(&[]);
    w.run("ALTER QMGR MARKINT(NOLIMIT)");
    for _ in 0..MANY {
        put(&s, a, 0, 0, b"x");
    }
    let shared = steps(&w, || {
        for _ in 0..MANY / 2 {
            assert_eq!(text(&s, a, SHARE), shown("x"));
            assert_eq!(text(&t, b, SHARE), shown("x"));
        }
        assert_eq!(text(&t, b, SHARE), NONE);
    });
    let alone = open(&s, LOCAL, BOTH);
    let own = steps(&w, || {
        for _ in 0..MANY {
            assert_eq!(text(&s, alone, OWN), shown("x"));
        }
    });
    // Each is unmarked, shown and marked again.
    let unmarked = steps(&w, || {
        for n in 0..MANY {
            let at = match n {
                0 => MQGMO_BROWSE_FIRST,
                _ => MQGMO_BROWSE_NEXT,
            };
            assert_eq!(text(&t, b, at | MQGMO_UNMARK_BROWSE_CO_OP), shown("x"));
            assert_eq!(text(&s, a, at | MQGMO_MARK_BROWSE_CO_OP), shown("x"));
            assert_eq!(text(&t, b, SHARE & !MQGMO_BROWSE_FIRST | at), NONE);
        }
    });
    for steps in [shared, own, unmarked] {
        assert!(steps < 10 * MANY, "{shared}, {own}, {unmarked}");
    }
}

#[test]
fn what_comes_in_front_of_marked_messages_is_shown() {
    let (_w, [(s, a), (t, b)]) = two(&["1", "2", "3"]);
    let alone = open(&t, LOCAL, BOTH);
    for expected in ["1", "2", "3"] {
        assert_eq!(text(&s, a, SHARE), shown(expected));
        assert_eq!(text(&t, alone, OWN), shown(expected));
    }
    assert_eq!(text(&t, b, SHARE), NONE);
    let urgent = posthaste_mqi::Md {
        priority: 9,
        ..md(0)
    };
    send(&s, a, urgent, 0, b"9");
    assert_eq!(text(&t, b, SHARE), shown("9"));
    assert_eq!(text(&t, alone, OWN), shown("9"));
    // One that is got from between them and comes back.
    assert_eq!(text(&s, a, MQGMO_BROWSE_FIRST), shown("9"));
    assert_eq!(text(&s, a, MQGMO_BROWSE_NEXT), shown("1"));
    assert_eq!(text(&s, a, MQGMO_BROWSE_NEXT), shown("2"));
    let under = MQGMO_MSG_UNDER_CURSOR | MQGMO_SYNCPOINT;
    assert_eq!(text(&s, a, under), shown("2"));
    assert_eq!(text(&t, b, SHARE), NONE);
    block_on(s.backout()).unwrap();
    assert_eq!(text(&t, b, SHARE), shown("2"));
    assert_eq!(text(&t, alone, OWN), shown("2"));
    // All that are marked are taken: what comes then is shown.
    let getter = open(&t, LOCAL, IN_OUT);
    assert_eq!(drain(&t, getter), ["9", "1", "2", "3"]);
    put(&s, a, 0, 0, b"4");
    assert_eq!(text(&t, b, SHARE), shown("4"));
    assert_eq!(text(&t, alone, OWN), shown("4"));
    assert_eq!(text(&t, b, SHARE), NONE);
}

#[test]
fn a_browse_goes_on_behind_what_another_has_marked() {
    let (_w, [(s, a), (t, b)]) = two(&["1", "2", "3"]);
    assert_eq!(text(&s, a, SHARE), shown("1"));
    let next = MQGMO_BROWSE_NEXT | MQGMO_MARK_BROWSE_CO_OP;
    let marked = Err(Reason::MSG_MARKED_BROWSE_CO_OP);
    assert_eq!(text(&t, b, next), marked);
    assert_eq!(text(&t, b, next), shown("2"));
    // A consumer is not ended by it.
    let mut all = consumer(&s, a, MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP);
    assert_eq!(noted(&mut all).as_deref(), Some("1"));
    assert_eq!(noted(&mut all).as_deref(), Some("3"));
    assert_eq!(noted(&mut all), None);
}

/// One that does not ask for unmarked messages passes over what others have marked, and is shown it when that lapses.
#[test]
fn a_consumer_that_marks_is_woken_when_marks_of_others_lapse() {
    let (w, [(s, a), (t, b)]) = two(&["1"]);
    w.run("ALTER QMGR MARKINT(50)");
    assert_eq!(text(&s, a, SHARE), shown("1"));
    let mut waits = consumer(&t, b, MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP);
    let lapsed = block_on(waits.next()).unwrap();
    assert_eq!(&lapsed.data()[..], b"1");
}

#[test]
fn a_consumer_is_shown_all_whose_marks_have_lapsed() {
    let (w, [(s, a), (t, b)]) = two(&["1", "2", "3"]);
    w.run("ALTER QMGR MARKINT(50)");
    for number in ["1", "2", "3"] {
        assert_eq!(text(&s, a, SHARE), shown(number));
    }
    let waits = RefCell::new(consumer(
        &t,
        b,
        MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP,
    ));
    for number in ["1", "2", "3"] {
        until("a mark has lapsed", || {
            noted(&mut waits.borrow_mut()).as_deref() == Some(number)
        });
    }
}
