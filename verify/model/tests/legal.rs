//! Histories that are legal, however odd they look: the oracle accepts every event.

mod history;

use history::*;
use posthaste_model::{Delivered, How, Op, Outcome, Put};

#[test]
fn overlapping_calls() {
    run(
        &[
            ("put, get", |h| {
                h.puts(1, &[1, 2])?;
                h.drains(&[1, 2])
            }),
            ("commit and backout", |h| {
                h.puts_in_uow(1, &[1, 2])?;
                h.does(2, plain(), NONE)?;
                h.commits(1)?;
                h.does(2, sync(), counted(1, 0))?;
                h.does(3, sync(), counted(2, 0))?;
                h.backs_out(2)?;
                h.commits(3)?;
                h.does(2, sync(), counted(1, 1))?;
                h.commits(2)?;
                h.puts_in_uow(1, &[3])?;
                h.backs_out(1)?;
                h.drains(&[])
            }),
            ("a getter meets a put that has not returned", |h| {
                let get = h.call(2, waiting());
                let put = h.call(1, Op::Put(message(1)));
                h.ends(get, got(1))?;
                h.ends(put, OK)?;
                h.drains(&[])
            }),
            ("a commit in flight may be seen, in part at first", |h| {
                h.puts_in_uow(1, &[1, 2])?;
                let commit = h.call(1, Op::Commit);
                h.gets(2, &[1])?;
                h.does(2, plain(), NONE)?;
                h.ends(commit, OK)?;
                h.drains(&[2])
            }),
            ("a backout in flight may be seen", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), counted(1, 0))?;
                let backout = h.call(2, Op::Backout);
                h.does(3, plain(), counted(1, 1))?;
                h.ends(backout, OK)?;
                h.drains(&[])
            }),
            ("a waiting get is in flight when nothing can run", |h| {
                h.call(1, waiting());
                h.m.quiet()
            }),
        ],
        None,
    );
}

#[test]
fn what_is_done_while_a_queue_is_cleared() {
    run(
        &[
            ("what is put meanwhile stays", |h| {
                h.puts(1, &[1])?;
                let clear = h.call(2, Op::Clear(Q));
                h.puts(1, &[2])?;
                h.ends(clear, OK)?;
                h.drains(&[2])
            }),
            ("or goes", |h| {
                h.puts(1, &[1])?;
                let clear = h.call(2, Op::Clear(Q));
                h.puts(1, &[2])?;
                h.ends(clear, OK)?;
                h.drains(&[])
            }),
            ("nothing is there, though the clear is not answered", |h| {
                h.puts(1, &[1])?;
                let clear = h.call(2, Op::Clear(Q));
                h.does(3, plain(), NONE)?;
                h.ends(clear, OK)?;
                h.drains(&[])
            }),
            ("got before, and answered after", |h| {
                h.puts(1, &[1])?;
                let clear = h.call(2, Op::Clear(Q));
                let get = h.call(3, sync());
                h.ends(clear, OK)?;
                h.ends(get, got(1))?;
                h.backs_out(3)?;
                h.drains(&[])
            }),
            ("a clear that was refused changes nothing", |h| {
                h.puts(1, &[1])?;
                h.does(2, Op::Clear(Q), Outcome::Reason(2042))?;
                h.drains(&[1])
            }),
            ("put while a clear is cut off", |h| {
                h.puts(1, &[1])?;
                h.call(2, Op::Clear(Q));
                h.puts(1, &[2])?;
                h.falls()?;
                h.drains(&[2])
            }),
        ],
        None,
    );
}

#[test]
fn restarts() {
    run(
        &[
            (
                "a clear that was cut off, then a delete that did not happen",
                |h| {
                    h.puts(1, &[1, 2])?;
                    h.call(1, Op::Clear(Q));
                    h.falls()?;
                    h.puts(1, &[3])?;
                    h.call(1, Op::Delete(Q, true));
                    h.falls()?;
                    h.m.not_deleted(Q);
                    h.drains(&[3])
                },
            ),
            ("what was not answered at a crash may have happened", |h| {
                h.puts(1, &[1])?;
                h.call(1, Op::Put(message(2)));
                h.call(2, plain());
                h.falls()?;
                h.drains(&[2])
            }),
            ("or not", |h| {
                h.puts(1, &[1])?;
                h.call(1, Op::Put(message(2)));
                h.call(2, plain());
                h.falls()?;
                h.drains(&[1])
            }),
            ("a commit not answered: all of it", |h| {
                h.puts(1, &[1])?;
                h.does(1, sync(), got(1))?;
                h.puts_in_uow(1, &[2, 3])?;
                h.call(1, Op::Commit);
                h.falls()?;
                h.drains(&[2, 3])
            }),
            ("a commit not answered: none of it", |h| {
                h.puts(1, &[1])?;
                h.does(1, sync(), got(1))?;
                h.puts_in_uow(1, &[2, 3])?;
                h.call(1, Op::Commit);
                h.falls()?;
                h.drains(&[1])
            }),
            (
                "two gets without an answer explain two missing messages",
                |h| {
                    h.puts(1, &[1, 2, 3])?;
                    h.call(2, by_id(3));
                    h.call(3, plain());
                    h.falls()?;
                    h.drains(&[2])
                },
            ),
            ("open units of work are backed out by a crash", |h| {
                h.puts(1, &[1])?;
                h.does(2, sync(), counted(1, 0))?;
                h.puts_in_uow(2, &[2])?;
                h.falls()?;
                h.does(3, sync(), counted(1, 1))?;
                h.backs_out(3)?;
                h.drains(&[1])
            }),
            ("non-persistent messages by class", |h| {
                h.does(1, Op::Put(volatile(Q, 1)), OK)?;
                h.does(1, Op::Put(volatile(HIGH, 2)), OK)?;
                h.cycles()?;
                let kept = Outcome::Got(Delivered {
                    persistent: false,
                    ..copy(2)
                });
                h.does(1, from(HIGH, How::Syncpoint), kept)?;
                h.backs_out(1)?;
                h.falls()?;
                h.drains(&[])
            }),
        ],
        None,
    );
}

#[test]
fn order_depth_and_attributes() {
    run(
        &[
            ("priority before age, FIFO within", |h| {
                h.puts(1, &[1])?;
                let urgent = Put {
                    priority: Some(9),
                    ..message(2)
                };
                h.does(1, Op::Put(urgent), OK)?;
                h.puts(1, &[3])?;
                let first = Outcome::Got(Delivered {
                    priority: 9,
                    ..copy(2)
                });
                h.does(2, plain(), first)?;
                h.drains(&[1, 3])
            }),
            ("puts that overlap have no order", |h| {
                let (a, b) = (
                    h.call(1, Op::Put(message(1))),
                    h.call(2, Op::Put(message(2))),
                );
                h.ends(a, OK)?;
                h.ends(b, OK)?;
                h.drains(&[2, 1])
            }),
            (
                "full, with an uncommitted message, and room after a get",
                |h| {
                    h.puts(1, &[1, 2])?;
                    h.puts_in_uow(1, &[3])?;
                    h.does(2, Op::Put(message(4)), Outcome::Reason(2053))?;
                    h.does(2, Op::Depth(Q), Outcome::Depth(3))?;
                    h.gets(2, &[1])?;
                    h.puts(2, &[5])?;
                    h.commits(1)
                },
            ),
            ("expired messages vanish", |h| {
                let short = Put {
                    expiry: Some(10_000),
                    ..message(1)
                };
                h.does(1, Op::Put(short), OK)?;
                h.does(1, browse(), got(1))?;
                h.time += 10_000;
                h.drains(&[])
            }),
            ("inhibited", |h| {
                let set = h.call(1, Op::Inhibit(Q, Some(true), Some(true)));
                h.does(2, Op::Put(message(1)), Outcome::Reason(2051))?;
                h.does(2, Op::Put(message(2)), OK)?;
                h.ends(set, OK)?;
                h.does(2, Op::Put(message(3)), Outcome::Reason(2051))?;
                h.does(2, plain(), Outcome::Reason(2016))?;
                h.does(1, Op::Inhibit(Q, None, Some(false)), OK)?;
                h.does(2, plain(), got(2))
            }),
            ("a browse may have looked before the get", |h| {
                h.puts(1, &[1])?;
                let look = h.call(2, browse());
                h.gets(1, &[1])?;
                h.ends(look, got(1))
            }),
        ],
        None,
    );
}

#[test]
fn calls_given_up_and_answers_lost() {
    run(
        &[
            ("a get that was given up leaves things as they were", |h| {
                h.puts(1, &[1])?;
                let get = h.call(2, sync());
                let other = h.call(3, plain());
                h.ends(get, Outcome::Cancelled)?;
                h.ends(other, NONE)?;
                h.does(4, sync(), counted(1, 1))?;
                h.commits(4)?;
                h.drains(&[])
            }),
            ("the queue manager backs out by itself", |h| {
                h.m.allow_system_backout();
                h.puts(1, &[1])?;
                h.does(2, sync(), got(1))?;
                h.puts_in_uow(2, &[2])?;
                h.does(3, plain(), counted(1, 1))?;
                h.does(2, Op::Commit, Outcome::Reason(2003))?;
                h.drains(&[])
            }),
            ("a browse that began before the get shows that", |h| {
                h.m.allow_system_backout();
                h.puts(1, &[1])?;
                let early = h.call(3, browse());
                h.does(2, sync(), counted(1, 0))?;
                h.ends(early, counted(1, 1))?;
                // Nothing is left to be backed out.
                h.backs_out(2)?;
                h.does(3, plain(), counted(1, 1))?;
                h.drains(&[])
            }),
            ("a browse is answered after the message came back", |h| {
                h.m.allow_system_backout();
                h.puts(1, &[1])?;
                let early = h.call(3, browse());
                let lost = h.call(4, sync());
                h.does(2, sync(), counted(1, 1))?;
                h.ends(lost, Outcome::Unknown)?;
                h.ends(early, counted(1, 0))?;
                h.does(2, Op::Commit, Outcome::Done)?;
                h.drains(&[])
            }),
            ("a get is answered when its unit of work is gone", |h| {
                h.m.allow_system_backout();
                h.puts(1, &[1])?;
                let late = h.call(2, sync());
                h.does(3, plain(), counted(1, 1))?;
                h.ends(late, counted(1, 0))?;
                h.does(2, Op::Commit, Outcome::Reason(2003))?;
                h.drains(&[])
            }),
            (
                "a put not waited for failed with the unit of work that another call was told of",
                |h| {
                    h.m.allow_system_backout();
                    let put = h.call(1, Op::Put(in_uow(1)));
                    h.does(1, sync(), Outcome::Reason(2003))?;
                    h.ends(put, Outcome::Reason(2003))?;
                    h.drains(&[])
                },
            ),
            ("unknown outcomes without a crash", |h| {
                h.puts(1, &[1, 2])?;
                h.does(2, sync(), Outcome::Unknown)?;
                h.does(2, Op::Commit, Outcome::Unknown)?;
                h.does(3, Op::Put(message(3)), Outcome::Unknown)?;
                h.does(3, sync(), got(2))?;
                h.does(3, Op::Backout, Outcome::Unknown)?;
                h.does(4, plain(), NONE)?;
                h.drains(&[2, 3])
            }),
        ],
        None,
    );
}
