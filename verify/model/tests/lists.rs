//! Distribution lists: legal histories are accepted, and each way of breaking a rule is found, with that rule.

#![allow(clippy::unwrap_used)]

mod history;

use history::*;
use posthaste_model::{Delivered, How, ListPut, Op, Outcome, Put, QueueId, Rule};

/// MQRC_PUT_INHIBITED.
const INHIBITED: Outcome = Outcome::Reason(2051);
const FULL: Outcome = Outcome::Reason(2053);

/// One message to each of these queues; the payload says 10, and the numbers are 11 and so on.
fn to(queues: &[QueueId], in_uow: bool) -> ListPut {
    let put = |(id, queue): (u64, &QueueId)| Put {
        queue: *queue,
        in_uow,
        hash: 70,
        ..message(id)
    };
    ListPut {
        id: 10,
        in_uow,
        plain: true,
        puts: (11..).zip(queues).map(put).collect(),
    }
}

fn list(queues: &[QueueId]) -> Op {
    Op::PutList(to(queues, false))
}

fn both() -> Op {
    list(&[Q, HIGH])
}

fn both_in_uow() -> Op {
    Op::PutList(to(&[Q, HIGH], true))
}

fn of_list() -> Outcome {
    got(10)
}

fn with_id(msg_id: u64) -> Outcome {
    Outcome::Got(Delivered {
        msg_id: Some(msg_id),
        ..copy(10)
    })
}

fn high() -> Op {
    from(HIGH, How::NoSyncpoint)
}

fn each(h: &mut History, session: u32, op: Op, outcomes: &[Outcome]) -> R {
    let op = h.call(session, op);
    h.time += 1000;
    h.m.respond_each(h.time, op, outcomes)
}

/// What is on Q and on HIGH comes, and nothing else.
fn comes(h: &mut History, on_q: bool, on_high: bool) -> R {
    for (there, op) in [(on_q, plain()), (on_high, high())] {
        if there {
            h.does(2, op, of_list())?;
        }
    }
    h.drains(&[])
}

fn inhibits(h: &mut History, queue: QueueId) -> R {
    h.does(3, Op::Inhibit(queue, Some(true), None), OK)
}

#[test]
fn what_queues_have_taken_they_have() {
    let rows: &[Row] = &[
        ("all of them", |h| {
            each(h, 1, both(), &[OK, OK])?;
            h.falls()?;
            comes(h, true, true)
        }),
        ("some of them", |h| {
            inhibits(h, HIGH)?;
            each(h, 1, both(), &[OK, INHIBITED])?;
            h.falls()?;
            comes(h, true, false)
        }),
        ("none of them", |h| {
            inhibits(h, HIGH)?;
            inhibits(h, Q)?;
            h.does(1, both(), INHIBITED)?;
            comes(h, false, false)
        }),
        ("one has two of it", |h| {
            each(h, 1, list(&[Q, HIGH, Q]), &[OK, OK, OK])?;
            h.does(2, plain(), with_id(13))?;
            h.does(2, plain(), with_id(11))?;
            comes(h, false, true)
        }),
        ("it is seen before the answer", |h| {
            let put = h.call(1, both());
            h.does(2, plain(), of_list())?;
            h.time += 1000;
            h.m.respond_each(h.time, put, &[OK, OK])?;
            comes(h, false, true)
        }),
        ("in a unit of work", |h| {
            each(h, 1, both_in_uow(), &[OK, OK])?;
            h.does(2, plain(), NONE)?;
            h.commits(1)?;
            h.falls()?;
            comes(h, true, true)
        }),
        ("in one that is backed out", |h| {
            each(h, 1, both_in_uow(), &[OK, OK])?;
            h.backs_out(1)?;
            comes(h, false, false)
        }),
        ("without an answer, all", |h| {
            h.call(1, both());
            h.falls()?;
            comes(h, true, true)
        }),
        ("without an answer, none", |h| {
            h.does(1, both(), Outcome::Unknown)?;
            h.falls()?;
            comes(h, false, false)
        }),
        ("without an answer, where one may have refused it", |h| {
            h.call(1, both());
            h.call(3, Op::Inhibit(HIGH, Some(true), None));
            h.falls()?;
            comes(h, true, false)
        }),
        ("without an answer, where one may be full", |h| {
            for id in 1..=3 {
                h.does(1, Op::Put(message(id)), OK)?;
            }
            h.call(1, both());
            h.falls()?;
            h.gets(2, &[1, 2, 3])?;
            comes(h, false, true)
        }),
    ];
    run(rows, None);
}

#[test]
fn what_is_said_of_each_queue_is_so() {
    let rows: &[Row] = &[
        ("it is not there", |h| {
            each(h, 1, both(), &[OK, OK])?;
            h.does(2, plain(), of_list())?;
            h.does(2, high(), NONE)
        }),
        ("one of two is not there", |h| {
            each(h, 1, list(&[Q, Q]), &[OK, OK])?;
            h.does(2, plain(), with_id(11))?;
            h.does(2, plain(), NONE)
        }),
    ];
    run(rows, Some(Rule::MessageMissed));
    let rows: &[Row] = &[("a crash takes it", |h| {
        each(h, 1, both(), &[OK, OK])?;
        h.falls()?;
        comes(h, true, false)
    })];
    run(rows, Some(Rule::Lost));
    let rows: &[Row] = &[("it is there although it was refused", |h| {
        inhibits(h, HIGH)?;
        each(h, 1, both(), &[OK, INHIBITED])?;
        h.does(2, high(), of_list())
    })];
    run(rows, Some(Rule::Undone));
    let rows: &[Row] = &[
        ("it comes twice", |h| {
            each(h, 1, both(), &[OK, OK])?;
            h.does(2, plain(), of_list())?;
            h.does(2, plain(), of_list())
        }),
        ("one of two comes twice", |h| {
            each(h, 1, list(&[Q, Q]), &[OK, OK])?;
            h.does(2, plain(), with_id(12))?;
            h.does(2, plain(), with_id(12))
        }),
    ];
    run(rows, Some(Rule::Duplicate));
    let rows: &[Row] = &[("one has the record of another", |h| {
        each(h, 1, both(), &[OK, OK])?;
        h.does(2, plain(), with_id(12))
    })];
    run(rows, Some(Rule::Corrupted));
    let rows: &[Row] = &[("it was not put there", |h| {
        each(h, 1, list(&[Q]), &[OK])?;
        h.does(2, high(), of_list())
    })];
    run(rows, Some(Rule::WrongQueue));
    let rows: &[Row] = &[
        ("it is accepted for which puts are inhibited", |h| {
            inhibits(h, HIGH)?;
            each(h, 1, both(), &[OK, OK])
        }),
        ("it is refused for which they are not", |h| {
            each(h, 1, both(), &[OK, INHIBITED])
        }),
    ];
    run(rows, Some(Rule::Inhibited));
    let rows: &[Row] = &[("it is full and is not", |h| each(h, 1, both(), &[FULL, OK]))];
    run(rows, Some(Rule::NotFull));
    let rows: &[Row] = &[("it is full and accepts", |h| {
        for id in 1..=3 {
            h.does(1, Op::Put(message(id)), OK)?;
        }
        each(h, 1, both(), &[OK, OK])
    })];
    run(rows, Some(Rule::TooDeep));
}

#[test]
fn a_list_is_whole_or_it_is_not_there() {
    let rows: &[Row] = &[
        ("outside a unit of work, without an answer", |h| {
            h.call(1, both());
            h.falls()?;
            comes(h, true, false)
        }),
        ("given up and seen", |h| {
            h.does(1, both(), Outcome::Unknown)?;
            h.falls()?;
            comes(h, false, true)
        }),
        ("in a unit of work whose commit was not answered", |h| {
            each(h, 1, both_in_uow(), &[OK, OK])?;
            h.call(1, Op::Commit);
            h.falls()?;
            comes(h, false, true)
        }),
        ("it misses a queue, and is committed", |h| {
            inhibits(h, HIGH)?;
            each(h, 1, both_in_uow(), &[OK, INHIBITED])?;
            h.m.doom(1);
            h.commits(1)
        }),
    ];
    run(rows, Some(Rule::HalfUnitOfWork));
    let rows: &[Row] = &[("before the commit", |h| {
        each(h, 1, both_in_uow(), &[OK, OK])?;
        h.does(2, high(), of_list())
    })];
    run(rows, Some(Rule::Uncommitted));
}
