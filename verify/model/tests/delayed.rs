//! Messages that are put with a delay: what may become of them, and histories that break a rule.

#![allow(clippy::unwrap_used)]

mod history;

use history::*;
use posthaste_model::{How, OBJECT_DAMAGED, Op, OpId, Outcome, Put, Rule};

/// Microseconds; a call takes a thousand.
const DELAY: u64 = 10_000;

fn delayed(id: u64) -> Put {
    Put {
        delay: Some(DELAY),
        ..message(id)
    }
}

impl History {
    fn delays(&mut self, id: u64) -> R {
        self.does(1, Op::Put(delayed(id)), OK)
    }

    fn passes(&mut self) {
        self.time += DELAY;
    }

    fn comes(&mut self, id: u64) -> R {
        self.passes();
        self.gets(2, &[id])
    }
}

fn depth(h: &mut History) -> OpId {
    h.call(3, Op::Depth(Q))
}

#[test]
fn it_comes_when_it_likes_after_its_time() {
    run(
        &[
            ("it comes", |h| {
                h.delays(1)?;
                h.does(2, plain(), NONE)?;
                h.comes(1)?;
                h.m.delays_over();
                h.drains(&[])
            }),
            ("it is not there yet", |h| {
                h.delays(1)?;
                h.passes();
                h.does(2, plain(), NONE)?;
                h.falls()?;
                h.does(2, plain(), NONE)?;
                h.gets(2, &[1])?;
                h.drains(&[])
            }),
            ("others pass it", |h| {
                h.delays(1)?;
                h.puts(1, &[2])?;
                h.passes();
                h.drains(&[2, 1])
            }),
            ("others of its unit of work pass it", |h| {
                let first = Put {
                    in_uow: true,
                    ..delayed(1)
                };
                h.does(1, Op::Put(first), OK)?;
                h.puts_in_uow(1, &[2])?;
                h.commits(1)?;
                h.passes();
                h.does(2, browse(), got(2))?;
                h.m.delays_over();
                h.drains(&[2, 1])
            }),
            ("the clock is set back after it came", |h| {
                h.delays(1)?;
                h.passes();
                h.does(2, plain(), NONE)?;
                h.m.crash()?;
                h.time = 1;
                h.m.clock_set(1);
                h.m.restart();
                assert!(h.m.last_due() > Some(DELAY), "it need not have");
                h.drains(&[1])
            }),
            ("a full queue takes it", |h| {
                h.puts(1, &[1, 2, 3])?;
                h.delays(4)?;
                h.gets(2, &[1])?;
                h.passes();
                h.drains(&[2, 3, 4])
            }),
            (
                "it has no depth while it waits, and one when it has come",
                |h| {
                    h.delays(1)?;
                    let asked = depth(h);
                    h.ends(asked, posthaste_model::Outcome::Depth(0))?;
                    h.m.delays_over();
                    let asked = depth(h);
                    h.ends(asked, posthaste_model::Outcome::Depth(1))
                },
            ),
        ],
        None,
    );
}

#[test]
fn it_comes_once_and_not_before_its_time() {
    run(
        &[
            ("at once", |h| {
                h.delays(1)?;
                h.gets(2, &[1])
            }),
            ("after a crash", |h| {
                h.delays(1)?;
                h.falls()?;
                h.gets(2, &[1])
            }),
        ],
        Some(Rule::Early),
    );
    run(
        &[
            ("twice", |h| {
                h.delays(1)?;
                h.comes(1)?;
                h.gets(2, &[1])
            }),
            ("again after a crash", |h| {
                h.delays(1)?;
                h.comes(1)?;
                h.falls()?;
                h.gets(2, &[1])
            }),
        ],
        Some(Rule::Duplicate),
    );
    run(
        &[("of a unit of work that was backed out", |h| {
            let put = Put {
                in_uow: true,
                ..delayed(1)
            };
            h.does(1, Op::Put(put), OK)?;
            h.backs_out(1)?;
            h.comes(1)
        })],
        Some(Rule::Undone),
    );
}

#[test]
fn it_comes() {
    run(
        &[
            ("never, after a crash", |h| {
                h.delays(1)?;
                h.falls()?;
                h.passes();
                h.m.delays_over();
                h.drains(&[])
            }),
            ("no more, when somebody had seen it", |h| {
                h.delays(1)?;
                h.passes();
                h.does(2, browse(), got(1))?;
                h.falls()?;
                h.does(2, plain(), NONE)
            }),
        ],
        Some(Rule::Lost),
    );
    run(
        &[("never", |h| {
            h.delays(1)?;
            h.passes();
            h.m.delays_over();
            h.does(2, plain(), NONE)
        })],
        Some(Rule::MessageMissed),
    );
}

#[test]
fn what_is_not_persistent_may_go_with_an_orderly_end_while_it_waits() {
    let put = |h: &mut History| {
        let put = Put {
            delay: Some(DELAY),
            ..volatile(HIGH, 1)
        };
        h.does(1, Op::Put(put), OK)
    };
    let mut h = History::new();
    put(&mut h).unwrap();
    h.cycles().unwrap();
    h.m.delays_over();
    h.drains(&[]).unwrap();
    // Where it has come it is kept.
    let mut h = History::new();
    put(&mut h).unwrap();
    h.m.delays_over();
    h.cycles().unwrap();
    let missed = h.does(2, from(HIGH, How::NoSyncpoint), NONE);
    assert_eq!(missed.unwrap_err().rule, Rule::NonPersistentClass);
}

#[test]
fn the_last_of_those_that_wait_says_until_when() {
    let mut h = History::new();
    assert_eq!(h.m.last_due(), None);
    h.delays(1).unwrap();
    h.delays(2).unwrap();
    let last = h.m.last_due().unwrap();
    assert!(last > DELAY && last <= h.time + DELAY);
    h.comes(2).unwrap();
    assert!(h.m.last_due().unwrap() < last);
    h.m.delays_over();
    assert_eq!(h.m.last_due(), None);
}

const DAMAGED: Outcome = Outcome::Reason(OBJECT_DAMAGED);

/// Where it waits is damaged, or the queue to which it is to go: it may stay away, and nothing else changes.
#[test]
fn damage_keeps_it_away_where_that_was_told() {
    run(
        &[
            ("where it waits", |h| {
                h.delays(1)?;
                h.m.waiting_struck();
                h.m.waiting_damaged()?;
                h.delays(2)?;
                h.passes();
                h.m.delays_over();
                h.drains(&[])
            }),
            ("that is told to who delays one", |h| {
                h.delays(1)?;
                h.m.waiting_struck();
                h.does(1, Op::Put(delayed(2)), DAMAGED)?;
                h.passes();
                h.m.delays_over();
                h.drains(&[])
            }),
            ("it may come all the same", |h| {
                h.delays(1)?;
                h.m.waiting_struck();
                h.m.waiting_damaged()?;
                h.comes(1)?;
                h.m.delays_over();
                h.drains(&[])
            }),
            ("the queue, before and after that was found", |h| {
                h.delays(1)?;
                h.m.struck(Q);
                h.does(1, Op::Put(message(2)), DAMAGED)?;
                h.delays(3)?;
                h.passes();
                h.m.delays_over();
                h.drains(&[])
            }),
        ],
        None,
    );
    run(
        &[
            ("nobody was told", |h| {
                h.delays(1)?;
                h.m.waiting_struck();
                h.passes();
                h.m.delays_over();
                h.drains(&[])
            }),
            ("what had come is on its queue, which is sound", |h| {
                h.puts(1, &[1])?;
                h.m.waiting_struck();
                h.m.waiting_damaged()?;
                h.drains(&[])
            }),
        ],
        Some(Rule::MessageMissed),
    );
    run(
        &[
            ("where nothing has happened", |h| {
                h.delays(1)?;
                h.m.waiting_damaged()
            }),
            ("nor to the queue", |h| {
                h.does(1, Op::Put(delayed(1)), DAMAGED)
            }),
        ],
        Some(Rule::Damaged),
    );
    run(
        &[("twice", |h| {
            h.delays(1)?;
            h.m.waiting_struck();
            h.m.waiting_damaged()?;
            h.comes(1)?;
            h.gets(2, &[1])
        })],
        Some(Rule::Duplicate),
    );
}
