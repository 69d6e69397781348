//! For each rule of the oracle, histories that break it are caught at the event that breaks it, with that rule.

#![allow(clippy::unwrap_used)]

mod history;

use history::*;
use posthaste_model::{Delivered, Harden, How, Op, Outcome, Put, QueueSpec, Rule};

#[test]
fn never_put_wrong_queue_corrupted_no_match() {
    run(
        &[("from nowhere", |h| h.gets(1, &[1]))],
        Some(Rule::NeverPut),
    );
    run(
        &[("another queue", |h| {
            h.puts(1, &[1])?;
            h.does(2, from(HIGH, How::NoSyncpoint), got(1))
        })],
        Some(Rule::WrongQueue),
    );
    run(
        &[
            ("payload", |h| {
                h.puts(1, &[1])?;
                h.does(2, plain(), Outcome::Got(Delivered { hash: 0, ..copy(1) }))
            }),
            ("persistence", |h| {
                h.puts(1, &[1])?;
                let wrong = Delivered {
                    persistent: false,
                    ..copy(1)
                };
                h.does(2, plain(), Outcome::Got(wrong))
            }),
            ("priority", |h| {
                h.puts(1, &[1])?;
                let wrong = Delivered {
                    priority: 5,
                    ..copy(1)
                };
                h.does(2, plain(), Outcome::Got(wrong))
            }),
        ],
        Some(Rule::Corrupted),
    );
    run(
        &[
            ("by MsgId", |h| {
                h.puts(1, &[1])?;
                h.does(2, by_id(2), got(1))
            }),
            ("by selector", |h| {
                h.puts(1, &[1])?;
                h.does(2, selecting(5), got(1))
            }),
        ],
        Some(Rule::NoMatch),
    );
}

/// Of those that a selector selects the first comes, and none is passed over; the others are not missed.
#[test]
fn selected_messages_are_those_that_count() {
    let urgent = |id| Put {
        priority: Some(7),
        ..message(id)
    };
    run(
        &[
            ("one that is selected", |h| {
                h.puts(1, &[1])?;
                h.does(2, selecting(4), got(1))
            }),
            ("none is selected", |h| {
                h.puts(1, &[1])?;
                h.does(2, selecting(5), NONE)
            }),
        ],
        None,
    );
    let mut h = History::new();
    h.puts(1, &[1]).unwrap();
    h.does(1, Op::Put(urgent(2)), OK).unwrap();
    let missed = h.does(2, selecting(5), NONE).unwrap_err();
    assert_eq!(missed.rule, Rule::MessageMissed);
}

#[test]
fn uncommitted_and_undone() {
    run(
        &[
            ("before the commit", |h| {
                h.puts_in_uow(1, &[1])?;
                h.gets(2, &[1])
            }),
            ("to its own session", |h| {
                h.puts_in_uow(1, &[1])?;
                h.does(1, sync(), got(1))
            }),
            ("by a browse", |h| {
                h.puts_in_uow(1, &[1])?;
                h.does(2, browse(), got(1))
            }),
            ("while it is backed out", |h| {
                h.puts_in_uow(1, &[1])?;
                h.call(1, Op::Backout);
                h.gets(2, &[1])
            }),
        ],
        Some(Rule::Uncommitted),
    );
    run(
        &[
            ("after the backout", |h| {
                h.puts_in_uow(1, &[1])?;
                h.backs_out(1)?;
                h.gets(2, &[1])
            }),
            ("after a crash in the unit of work", |h| {
                h.puts_in_uow(1, &[1])?;
                h.falls()?;
                h.gets(2, &[1])
            }),
            ("after the put failed", |h| {
                h.does(1, Op::Put(message(1)), Outcome::Reason(2102))?;
                h.gets(2, &[1])
            }),
            ("seen before the put failed", |h| {
                let put = h.call(1, Op::Put(message(1)));
                h.does(2, browse(), got(1))?;
                h.ends(put, Outcome::Reason(2102))
            }),
            ("seen by a browse that overlaps the failed put", |h| {
                let look = h.call(2, browse());
                h.does(1, Op::Put(message(1)), Outcome::Reason(2102))?;
                h.ends(look, got(1))
            }),
            ("after it was not there at an audit", |h| {
                h.call(1, Op::Put(message(1)));
                h.falls()?;
                h.drains(&[])?;
                h.gets(2, &[1])
            }),
        ],
        Some(Rule::Undone),
    );
}

#[test]
fn duplicates() {
    run(
        &[
            ("got twice", |h| {
                h.puts(1, &[1])?;
                h.gets(2, &[1, 1])
            }),
            ("got, committed, got", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.commits(2)?;
                h.gets(3, &[1])
            }),
            ("held by another", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.does(3, sync(), got(1))
            }),
            ("held and committing", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.call(2, Op::Commit);
                h.gets(3, &[1])
            }),
            ("two gets in flight", |h| {
                h.puts(1, &[1])?;
                let (a, b) = (h.call(2, plain()), h.call(3, plain()));
                h.ends(a, got(1))?;
                h.ends(b, got(1))
            }),
            ("after a crash", |h| {
                h.puts(1, &[1])?;
                h.gets(2, &[1])?;
                h.falls()?;
                h.gets(2, &[1])
            }),
            ("browsed after the get", |h| {
                h.puts(1, &[1])?;
                h.gets(2, &[1])?;
                h.does(2, browse(), got(1))
            }),
            ("cleared, then got", |h| {
                h.puts(1, &[1])?;
                h.does(2, Op::Clear(Q), OK)?;
                h.gets(3, &[1])
            }),
            ("got while it was cleared, and again", |h| {
                h.puts(1, &[1])?;
                let clear = h.call(2, Op::Clear(Q));
                let get = h.call(3, sync());
                h.ends(clear, OK)?;
                h.ends(get, got(1))?;
                h.backs_out(3)?;
                h.gets(3, &[1])
            }),
            ("after it was missing at an audit", |h| {
                h.puts(1, &[1])?;
                h.call(2, plain());
                h.falls()?;
                h.drains(&[])?;
                h.gets(2, &[1])
            }),
        ],
        Some(Rule::Duplicate),
    );
}

#[test]
fn half_units_of_work() {
    run(
        &[
            ("one of two puts", |h| {
                h.puts_in_uow(1, &[1, 2])?;
                h.call(1, Op::Commit);
                h.falls()?;
                h.drains(&[1])
            }),
            ("puts and gets", |h| {
                h.puts(1, &[1])?;
                h.does(1, sync(), got(1))?;
                h.puts_in_uow(1, &[2])?;
                h.call(1, Op::Commit);
                h.falls()?;
                h.gets(2, &[1, 2])
            }),
            ("neither puts nor gets", |h| {
                h.puts(1, &[1])?;
                h.does(1, sync(), got(1))?;
                h.puts_in_uow(1, &[2])?;
                h.call(1, Op::Commit);
                h.falls()?;
                h.drains(&[])
            }),
            ("seen committed, then refused", |h| {
                h.m.allow_system_backout();
                h.puts_in_uow(1, &[1])?;
                let commit = h.call(1, Op::Commit);
                h.gets(2, &[1])?;
                h.ends(commit, Outcome::Reason(2003))
            }),
            ("seen committed, then said not to be possible", |h| {
                h.puts_in_uow(1, &[1])?;
                let commit = h.call(1, Op::Commit);
                h.gets(2, &[1])?;
                h.ends(commit, Outcome::Reason(2102))
            }),
            ("seen backed out by the system, then committed", |h| {
                h.m.allow_system_backout();
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.gets(3, &[1])?;
                h.commits(2)
            }),
        ],
        Some(Rule::HalfUnitOfWork),
    );
}

#[test]
fn lost_messages() {
    run(
        &[
            ("after a crash", |h| {
                h.puts(1, &[1])?;
                h.falls()?;
                h.drains(&[])
            }),
            ("after an orderly restart", |h| {
                h.puts(1, &[1])?;
                h.cycles()?;
                h.drains(&[])
            }),
            ("committed", |h| {
                h.puts_in_uow(1, &[1])?;
                h.commits(1)?;
                h.falls()?;
                h.drains(&[])
            }),
            ("got in a unit of work that did not end", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.falls()?;
                h.drains(&[])
            }),
            ("seen before the put returned", |h| {
                h.call(1, Op::Put(message(1)));
                h.does(2, browse(), got(1))?;
                h.falls()?;
                h.drains(&[])
            }),
            ("two missing, one get without an answer", |h| {
                h.puts(1, &[1, 2])?;
                h.call(2, plain());
                h.falls()?;
                h.drains(&[])
            }),
            ("one missing, a get for another without an answer", |h| {
                h.puts(1, &[1, 2])?;
                h.call(2, by_id(2));
                h.falls()?;
                h.drains(&[2])
            }),
            ("put while the queue was deleted without it", |h| {
                let delete = h.call(1, Op::Delete(Q, false));
                h.puts(2, &[1])?;
                h.ends(delete, OK)
            }),
            ("a clear was refused, and all the same", |h| {
                h.puts(1, &[1])?;
                h.does(2, Op::Clear(Q), Outcome::Reason(2042))?;
                h.falls()?;
                h.drains(&[])
            }),
            ("half cleared", |h| {
                h.puts(1, &[1, 2])?;
                h.call(1, Op::Clear(Q));
                h.falls()?;
                h.drains(&[2])
            }),
            ("gone with a delete that did not happen", |h| {
                h.puts(1, &[1])?;
                h.call(1, Op::Clear(Q));
                h.falls()?;
                h.puts(1, &[2])?;
                h.call(1, Op::Delete(Q, true));
                h.falls()?;
                h.m.not_deleted(Q);
                h.drains(&[])
            }),
            ("missing after a crash while starting", |h| {
                h.puts(1, &[1])?;
                h.m.crash()?;
                h.falls()?;
                h.drains(&[])
            }),
        ],
        Some(Rule::Lost),
    );
}

#[test]
fn non_persistent_classes() {
    let kept = |id| {
        Outcome::Got(Delivered {
            persistent: false,
            ..copy(id)
        })
    };
    let mut h = History::new();
    h.does(1, Op::Put(volatile(Q, 1)), OK).unwrap();
    h.cycles().unwrap();
    let result = h.does(1, plain(), kept(1));
    assert_eq!(result.unwrap_err().rule, Rule::NonPersistentClass);
    run(
        &[
            ("HIGH does not keep", |h| {
                h.does(1, Op::Put(volatile(HIGH, 1)), OK)?;
                h.cycles()?;
                h.drains(&[])
            }),
            ("HIGH loses what a unit of work held", |h| {
                h.does(1, Op::Put(volatile(HIGH, 1)), OK)?;
                let got = Delivered {
                    persistent: false,
                    ..copy(1)
                };
                h.does(2, from(HIGH, How::Syncpoint), Outcome::Got(got))?;
                h.cycles()?;
                h.drains(&[])
            }),
        ],
        Some(Rule::NonPersistentClass),
    );
}

#[test]
fn order() {
    run(
        &[
            ("FIFO", |h| {
                h.puts(1, &[1, 2])?;
                h.gets(2, &[2])
            }),
            ("FIFO of two sessions", |h| {
                h.puts(1, &[1])?;
                h.puts(2, &[2])?;
                h.gets(3, &[2])
            }),
            ("FIFO of one unit of work", |h| {
                h.puts_in_uow(1, &[1, 2])?;
                h.commits(1)?;
                h.gets(2, &[2])
            }),
            ("FIFO by browse", |h| {
                h.puts(1, &[1, 2])?;
                h.does(2, browse(), got(2))
            }),
            ("FIFO after a backout", |h| {
                h.puts(1, &[1, 2])?;
                h.does(2, sync(), got(1))?;
                h.backs_out(2)?;
                h.gets(2, &[2])
            }),
            ("FIFO after a crash", |h| {
                h.puts(1, &[1, 2])?;
                h.falls()?;
                h.gets(2, &[2])
            }),
            ("two passed, one get in flight", |h| {
                h.puts(1, &[1, 2, 3])?;
                h.call(2, plain());
                h.gets(3, &[3])
            }),
            ("priority", |h| {
                let urgent = |id| Put {
                    priority: Some(5),
                    ..message(id)
                };
                h.puts(1, &[1])?;
                h.does(1, Op::Put(urgent(2)), OK)?;
                h.gets(2, &[1])
            }),
            ("FIFO whatever the priority, where the queue says so", |h| {
                for (id, priority) in [(1, 1), (2, 4)] {
                    let put = Put {
                        queue: HIGH,
                        priority: Some(priority),
                        ..message(id)
                    };
                    h.does(1, Op::Put(put), OK)?;
                }
                h.does(2, from(HIGH, How::NoSyncpoint), got(2))
            }),
        ],
        Some(Rule::OutOfOrder),
    );
}

#[test]
fn backout_counts() {
    run(
        &[
            ("not counted", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), counted(1, 0))?;
                h.backs_out(2)?;
                h.does(2, sync(), counted(1, 0))
            }),
            ("lower than shown", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), counted(1, 0))?;
                h.falls()?;
                h.does(2, browse(), counted(1, 1))?;
                h.does(2, browse(), counted(1, 0))
            }),
            ("too many", |h| {
                h.puts(1, &[1])?;
                h.does(2, plain(), counted(1, 1))
            }),
            ("hardened, and forgotten in a crash", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), counted(1, 0))?;
                h.backs_out(2)?;
                h.falls()?;
                h.does(2, browse(), counted(1, 0))
            }),
            ("taken over from a backout in flight", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), counted(1, 0))?;
                h.call(2, Op::Backout);
                h.does(3, plain(), counted(1, 0))
            }),
        ],
        Some(Rule::BackoutCount),
    );
    for (harden, legal) in [
        (Harden::No, true),
        (Harden::Backouts, true),
        (Harden::Gets, false),
    ] {
        let mut h = History::new();
        let q = h.m.add_queue(QueueSpec {
            harden,
            ..spec("X")
        });
        let put = Put {
            queue: q,
            ..message(1)
        };
        h.does(1, Op::Put(put), OK).unwrap();
        h.does(1, from(q, How::Syncpoint), counted(1, 0)).unwrap();
        h.falls().unwrap();
        let result = h.does(1, from(q, How::BrowseFirst), counted(1, 0));
        assert_eq!(result.is_ok(), legal, "{harden:?}");
    }
}

#[test]
fn depths() {
    run(
        &[
            ("a fourth message", |h| h.puts(1, &[1, 2, 3, 4])),
            ("uncommitted ones count", |h| {
                h.puts_in_uow(1, &[1, 2, 3])?;
                h.puts(2, &[4])
            }),
            ("two more than one get can make room for", |h| {
                h.puts(1, &[1, 2, 3])?;
                h.call(2, plain());
                h.puts(1, &[4, 5])
            }),
        ],
        Some(Rule::TooDeep),
    );
    run(
        &[
            ("two of three", |h| {
                h.puts(1, &[1, 2])?;
                h.does(1, Op::Put(message(3)), Outcome::Reason(2053))
            }),
            ("after a get", |h| {
                h.puts(1, &[1, 2, 3])?;
                h.gets(1, &[1])?;
                h.does(1, Op::Put(message(4)), Outcome::Reason(2053))
            }),
        ],
        Some(Rule::NotFull),
    );
    run(
        &[
            ("too few", |h| {
                h.puts(1, &[1, 2])?;
                h.does(1, Op::Depth(Q), Outcome::Depth(1))
            }),
            ("too many", |h| {
                h.puts(1, &[1, 2])?;
                h.gets(1, &[1])?;
                h.does(1, Op::Depth(Q), Outcome::Depth(2))
            }),
        ],
        Some(Rule::WrongDepth),
    );
}

#[test]
fn missed_messages() {
    run(
        &[
            ("2033 with a message", |h| {
                h.puts(1, &[1])?;
                h.does(2, plain(), NONE)
            }),
            ("2033 by id", |h| {
                h.puts(1, &[1, 2])?;
                h.does(2, by_id(2), NONE)
            }),
            ("2033 after a commit", |h| {
                h.puts_in_uow(1, &[1])?;
                h.commits(1)?;
                h.does(2, plain(), NONE)
            }),
            ("2033 after a backout", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.backs_out(2)?;
                h.does(2, plain(), NONE)
            }),
            ("two messages, one other get", |h| {
                h.puts(1, &[1, 2])?;
                h.call(2, plain());
                h.does(3, plain(), NONE)
            }),
            ("lost by a get that was given up", |h| {
                h.puts(1, &[1])?;
                h.does(2, plain(), Outcome::Cancelled)?;
                h.does(2, plain(), NONE)
            }),
        ],
        Some(Rule::MessageMissed),
    );
    run(
        &[
            ("asleep", |h| {
                h.puts(1, &[1])?;
                h.call(2, waiting());
                h.m.quiet()
            }),
            ("not waiting, and no answer", |h| {
                h.call(2, plain());
                h.m.quiet()
            }),
        ],
        Some(Rule::MissedWakeUp),
    );
}

#[test]
fn a_wake_up_is_owed_from_the_moment_of_the_put() {
    let mut h = History::new();
    h.call(2, waiting());
    h.m.quiet().unwrap();
    h.puts(1, &[1]).unwrap();
    assert_eq!(h.m.quiet().unwrap_err().rule, Rule::MissedWakeUp);
}

#[test]
fn expiry_inhibit_and_backouts_without_cause() {
    run(
        &[("late", |h| {
            let short = Put {
                expiry: Some(10_000),
                ..message(1)
            };
            h.does(1, Op::Put(short), OK)?;
            h.time += 20_000;
            h.gets(1, &[1])
        })],
        Some(Rule::Expired),
    );
    run(
        &[
            ("put refused", |h| {
                h.does(1, Op::Put(message(1)), Outcome::Reason(2051))
            }),
            ("get refused", |h| h.does(1, plain(), Outcome::Reason(2016))),
            ("put accepted", |h| {
                h.does(1, Op::Inhibit(Q, Some(true), None), OK)?;
                h.puts(1, &[1])
            }),
            ("get accepted", |h| {
                h.puts(1, &[1])?;
                h.does(1, Op::Inhibit(Q, None, Some(true)), OK)?;
                h.gets(1, &[1])
            }),
        ],
        Some(Rule::Inhibited),
    );
    run(
        &[
            ("at a commit", |h| {
                h.puts_in_uow(1, &[1])?;
                h.does(1, Op::Commit, Outcome::Reason(2003))
            }),
            ("at a put", |h| {
                h.does(1, Op::Put(in_uow(1)), Outcome::Reason(2003))
            }),
            ("at a get", |h| h.does(1, sync(), Outcome::Reason(2003))),
        ],
        Some(Rule::UnexpectedBackout),
    );
}
