//! Backout counts where the log has no room for the records of backouts.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;

use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

/// One more checkpoint image comes into force, and no other: what it does not cut off the log is there at the next
/// start.
fn one_image(w: &World, s: &Session) {
    let image = w.image();
    w.stage.no_image_from.store(image + 2, SeqCst);
    let fill = open(s, LOCAL, IN_OUT);
    while w.image() == image {
        match try_put(s, fill, &mut md(PERSISTENT), 0, &[7; 3000]) {
            Ok(_) => {}
            Err(reason) => assert!(is_full(reason), "{reason}"),
        }
    }
}

fn crash(w: &mut World) {
    w.kill();
    w.stage.no_image_from.store(u64::MAX, SeqCst);
    w.start();
}

/// The backout counts of all messages.
fn counts(w: &World) -> Vec<i32> {
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let one = |_| next(&s, h, 0).map(|taken| taken.md.backout_count);
    let counts = (0..).map(one).take_while(Result::is_ok);
    counts.map(Result::unwrap).collect()
}

/// Connections with a unit of work each.
struct Units(Vec<Session>);

impl Units {
    /// Each with this many messages got, or with one put.
    fn new(w: &World, got: usize) -> Units {
        Units((0..UNITS).map(|_| unit(w, got)).collect())
    }

    /// Commits one by one, as long as the log takes it; how many.
    fn commit(&self) -> usize {
        // Commits may use what is kept from all others but ends. Forced alone, each takes a page.
        let committed = |s: &&Session| block_on(s.commit()).is_ok();
        let committed = self.0.iter().take_while(committed).count();
        assert!(committed < self.0.len(), "the log is not full");
        committed
    }
}

const UNITS: usize = 60;

/// A unit of work that gets this many messages, or puts one.
fn unit(w: &World, gets: usize) -> Session {
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for _ in 0..gets {
        next(&s, h, MQGMO_SYNCPOINT).unwrap();
    }
    if gets == 0 {
        until("a put", || {
            let put = try_put(&s, h, &mut md(PERSISTENT), MQPMO_SYNCPOINT, b"more");
            assert!(put.is_ok() || put.is_err_and(is_full), "{put:?}");
            put.is_ok()
        });
    }
    s
}

/// So many messages on the queue, and no checkpoint from now on.
fn filled(messages: usize) -> World {
    let mut w = World::with_log_files(3, 1);
    w.run(
        "ALTER QMGR MAXUMSGS(100000)
         DEFINE QLOCAL(Q) MAXDEPTH(100000) HARDENBO",
    );
    let s = w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    for n in 1..=messages {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        if n % 500 == 0 || n == messages {
            commit(&s);
        }
    }
    drop(s);
    w.restart();
    w.stage.no_image_from.store(w.image() + 1, SeqCst);
    w
}

/// Puts as long as the log takes it; its last file may still be on its way when it refuses one.
fn fill(w: &World, s: &Session) {
    let h = open(s, LOCAL, IN_OUT);
    until("a full log", || {
        match try_put(s, h, &mut md(PERSISTENT), 0, &[7; 3000]) {
            Ok(_) => drop(next(s, h, 0).unwrap()),
            Err(reason) => assert!(is_full(reason), "{reason}"),
        }
        w.qm().log().usage().ordinary_left < 4096
    });
}

/// Whether a put was refused because the log is full, or because a checkpoint is just spending what is kept for it.
fn is_full(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::RESOURCE_PROBLEM | Reason::Q_SPACE_NOT_AVAILABLE
    )
}

/// A unit of work is undone by a restart in a full log; when the next restart meets it, an image has its counts
/// already.
#[test]
fn a_unit_of_work_that_two_restarts_undo_is_counted_once() {
    const MESSAGES: usize = 6_000;
    let mut w = filled(MESSAGES);
    let s = unit(&w, MESSAGES);
    let puts = Units::new(&w, 0);
    fill(&w, &w.connect());
    let committed = puts.commit();
    w.kill();
    drop((s, puts));
    w.start();
    one_image(&w, &w.connect());
    crash(&mut w);
    let (got, put): (Vec<i32>, Vec<i32>) = counts(&w).into_iter().partition(|c| *c > 0);
    assert_eq!((got.len(), put.len()), (MESSAGES, committed));
    assert_eq!(got.iter().max(), Some(&1));
}

/// Each of many units of work is ended and forced on its own, in pages that are nearly empty: the log has no room for
/// all of their records. Each is backed out for good all the same, and counts once.
#[test]
fn backouts_that_fill_the_log_page_by_page_are_hardened() {
    let mut w = filled(UNITS);
    let gets = Units::new(&w, 1);
    let puts = Units::new(&w, 0);
    let s = w.connect();
    fill(&w, &s);
    let committed = puts.commit();
    gets.0.iter().for_each(backout);
    one_image(&w, &s);
    drop((gets, puts, s));
    crash(&mut w);
    let (got, put): (Vec<i32>, Vec<i32>) = counts(&w).into_iter().partition(|c| *c > 0);
    assert_eq!((got, put.len()), (vec![1; UNITS], committed));
}
