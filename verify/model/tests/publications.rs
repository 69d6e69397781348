//! Publications, subscriptions and retained publications: legal histories are accepted, and each way of breaking a rule
//! is found, with that rule.

#![allow(clippy::unwrap_used)]

mod history;

use history::*;
use posthaste_model::{
    Delivered, How, Op, Outcome, Publication, QueueId, Rule, SubscriptionId, SubscriptionSpec,
};

/// Durable, of `a/#`, on queue 2.
const DURABLE: SubscriptionId = SubscriptionId(0);
/// Not durable, of `a/b`, on queue 3.
const VOLATILE: SubscriptionId = SubscriptionId(1);
/// Durable, of `*b` in the character scheme, on queue 4.
const OTHER: SubscriptionId = SubscriptionId(2);

const UNKNOWN: Outcome = Outcome::Unknown;
/// MQRC_PUBLICATION_FAILURE.
const REFUSED: Outcome = Outcome::Reason(2502);

/// A history with three subscriptions that nobody has made yet.
fn add_all(h: &mut History) {
    let rows = [
        ("durable", "a/#", false, true),
        ("volatile", "a/b", false, false),
        ("other", "*b", true, true),
    ];
    for (at, (name, filter, characters, durable)) in rows.into_iter().enumerate() {
        let queue = h.m.add_queue(posthaste_model::QueueSpec {
            max_depth: 1000,
            ..spec("Q")
        });
        assert_eq!(queue, QueueId(2 + at));
        let added = h.m.add_subscription(SubscriptionSpec {
            name: name.to_owned(),
            filter: filter.to_owned(),
            characters,
            durable,
            queue,
            managed: true,
            non_persistent: !durable,
            narrow: name == "other",
            new_only: false,
        });
        assert_eq!(added, SubscriptionId(at));
    }
}

fn publication(id: u64, topic: &str) -> Publication {
    Publication {
        id,
        hash: id * 7,
        topic: topic.to_owned(),
        persistent: true,
        priority: 4,
        in_uow: false,
        retain: false,
        for_all: true,
        delay: None,
        expiry: None,
    }
}

fn retained(id: u64, topic: &str) -> Op {
    Op::Publish(Publication {
        retain: true,
        ..publication(id, topic)
    })
}

fn publish(id: u64) -> Op {
    Op::Publish(publication(id, "a/b"))
}

fn publish_in_uow(id: u64) -> Op {
    Op::Publish(Publication {
        in_uow: true,
        ..publication(id, "a/b")
    })
}

fn take(of: SubscriptionId) -> Op {
    from(QueueId(2 + of.0), How::NoSyncpoint)
}

fn got_volatile(id: u64) -> Outcome {
    Outcome::Got(Delivered {
        persistent: false,
        ..copy(id)
    })
}

fn subscribes(h: &mut History, of: SubscriptionId) -> R {
    h.does(2, Op::Subscribe(of), OK)
}

/// The subscriber is given these, and no more.
fn is_given(h: &mut History, of: SubscriptionId, ids: &[u64]) -> R {
    for id in ids {
        h.does(2, take(of), got(*id))?;
    }
    h.does(2, take(of), NONE)
}

/// All subscriptions that there are were emptied.
fn ends(h: &mut History) -> R {
    h.drains(&[])
}

fn histories(rows: &[Row], rule: Option<Rule>) {
    for (name, history) in rows {
        let mut h = History::new();
        add_all(&mut h);
        let result = history(&mut h);
        let found = result.as_ref().err().map(|violation| violation.rule);
        assert_eq!(found, rule, "{name}: {result:?}");
    }
}

#[test]
fn everybody_whose_filter_matches_has_one_copy() {
    histories(
        &[
            ("each once", |h| {
                [DURABLE, VOLATILE, OTHER]
                    .into_iter()
                    .try_for_each(|of| subscribes(h, of))?;
                h.does(1, publish(1), OK)?;
                h.does(1, Op::Publish(publication(2, "a/c")), OK)?;
                is_given(h, DURABLE, &[1, 2])?;
                h.does(2, take(VOLATILE), got_volatile(1))?;
                h.does(2, take(VOLATILE), NONE)?;
                is_given(h, OTHER, &[1])?;
                ends(h)
            }),
            ("in a unit of work", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish_in_uow(1), OK)?;
                h.does(2, take(DURABLE), NONE)?;
                h.commits(1)?;
                is_given(h, DURABLE, &[1])?;
                ends(h)
            }),
            ("backed out", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish_in_uow(1), OK)?;
                h.backs_out(1)?;
                is_given(h, DURABLE, &[])?;
                ends(h)
            }),
            ("while it is published", |h| {
                subscribes(h, DURABLE)?;
                let call = h.call(1, publish(1));
                is_given(h, DURABLE, &[1])?;
                h.ends(call, OK)?;
                is_given(h, DURABLE, &[])
            }),
        ],
        None,
    );
    histories(
        &[
            ("of another topic", |h| {
                subscribes(h, OTHER)?;
                h.does(1, Op::Publish(publication(2, "a/c")), OK)?;
                h.does(2, take(OTHER), got(2))
            }),
            ("before it subscribed", |h| {
                h.does(1, publish(1), OK)?;
                subscribes(h, DURABLE)?;
                h.does(2, take(DURABLE), got(1))
            }),
        ],
        Some(Rule::WrongSubscriber),
    );
    let missed = |h: &mut History| {
        subscribes(h, DURABLE)?;
        subscribes(h, OTHER)?;
        h.does(1, publish(1), OK)?;
        is_given(h, DURABLE, &[1])?;
        is_given(h, OTHER, &[])
    };
    histories(&[("missed", missed)], Some(Rule::MessageMissed));
    let twice = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, publish(1), OK)?;
        is_given(h, DURABLE, &[1, 1])
    };
    histories(&[("twice", twice)], Some(Rule::Duplicate));
    let early = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, publish_in_uow(1), OK)?;
        is_given(h, DURABLE, &[1])
    };
    histories(&[("early", early)], Some(Rule::Uncommitted));
}

#[test]
fn a_publication_comes_to_all_or_to_none() {
    let cut_off = |h: &mut History| {
        subscribes(h, DURABLE)?;
        subscribes(h, OTHER)?;
        h.call(1, publish(1));
        h.falls()
    };
    let row: fn(&mut History) -> R = cut_off;
    for (given, rule) in [
        ([&[1][..], &[1]], None),
        ([&[], &[]], None),
        ([&[1], &[]], Some(Rule::HalfUnitOfWork)),
        ([&[], &[1]], Some(Rule::HalfUnitOfWork)),
    ] {
        let mut h = History::new();
        add_all(&mut h);
        row(&mut h).unwrap();
        let result = is_given(&mut h, DURABLE, given[0])
            .and_then(|()| is_given(&mut h, OTHER, given[1]))
            .and_then(|()| ends(&mut h));
        assert_eq!(result.as_ref().err().map(|v| v.rule), rule, "{result:?}");
    }
    histories(
        &[
            ("refused for all", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish(1), REFUSED)?;
                is_given(h, DURABLE, &[])?;
                ends(h)
            }),
            ("refused in a unit of work, which goes on", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish_in_uow(1), REFUSED)?;
                h.does(1, publish_in_uow(2), OK)?;
                h.commits(1)?;
                is_given(h, DURABLE, &[2])?;
                ends(h)
            }),
        ],
        None,
    );
    let refused = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, publish(1), REFUSED)?;
        is_given(h, DURABLE, &[1])
    };
    histories(&[("refused, and there", refused)], Some(Rule::Undone));
    let seen = |h: &mut History| {
        subscribes(h, DURABLE)?;
        let call = h.call(1, publish(1));
        is_given(h, DURABLE, &[1])?;
        h.ends(call, REFUSED)
    };
    histories(&[("seen, and refused", seen)], Some(Rule::HalfUnitOfWork));
}

#[test]
fn what_need_not_come_to_all_is_for_those_who_have_room() {
    let one_is_full = |h: &mut History| {
        subscribes(h, DURABLE)?;
        subscribes(h, OTHER)?;
        let publication = Publication {
            persistent: false,
            for_all: false,
            delay: None,
            ..publication(1, "a/b")
        };
        h.does(1, Op::Publish(publication), OK)?;
        h.does(2, take(OTHER), NONE)?;
        h.does(2, take(DURABLE), got_volatile(1))?;
        ends(h)
    };
    histories(&[("one is full", one_is_full)], None);
    let missed = |h: &mut History| {
        subscribes(h, DURABLE)?;
        subscribes(h, OTHER)?;
        h.does(1, publish(1), OK)?;
        h.does(2, take(OTHER), NONE)
    };
    histories(&[("for all", missed)], Some(Rule::MessageMissed));
}

#[test]
fn what_is_durable_survives_a_crash() {
    histories(
        &[
            ("with its messages", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish(1), OK)?;
                h.falls()?;
                h.m.subscription_found(DURABLE, true)?;
                h.does(1, publish(2), OK)?;
                is_given(h, DURABLE, &[1, 2])?;
                ends(h)
            }),
            ("what is not ends", |h| {
                subscribes(h, VOLATILE)?;
                h.does(1, publish(1), OK)?;
                h.falls()?;
                h.m.subscription_found(VOLATILE, false)?;
                ends(h)
            }),
            ("made or not", |h| {
                h.call(2, Op::Subscribe(DURABLE));
                h.falls()?;
                h.m.subscription_found(DURABLE, false)?;
                h.call(2, Op::Subscribe(DURABLE));
                h.falls()?;
                h.m.subscription_found(DURABLE, true)?;
                h.does(1, publish(1), OK)?;
                is_given(h, DURABLE, &[1])
            }),
            ("ended or not", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish(1), OK)?;
                h.call(2, Op::Unsubscribe(DURABLE));
                h.falls()?;
                h.m.subscription_found(DURABLE, true)?;
                is_given(h, DURABLE, &[1])?;
                h.call(2, Op::Unsubscribe(DURABLE));
                h.falls()?;
                h.m.subscription_found(DURABLE, false)?;
                ends(h)
            }),
        ],
        None,
    );
    histories(
        &[
            ("forgotten", |h| {
                subscribes(h, DURABLE)?;
                h.falls()?;
                h.m.subscription_found(DURABLE, false)
            }),
            ("not forgotten", |h| {
                subscribes(h, DURABLE)?;
                h.does(2, Op::Unsubscribe(DURABLE), OK)?;
                h.falls()?;
                h.m.subscription_found(DURABLE, true)
            }),
            ("outlives its connection", |h| {
                subscribes(h, VOLATILE)?;
                h.falls()?;
                h.m.subscription_found(VOLATILE, true)
            }),
        ],
        Some(Rule::Subscriptions),
    );
    histories(
        &[
            ("its message is lost", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish(1), OK)?;
                h.falls()?;
                is_given(h, DURABLE, &[])
            }),
            ("a message is lost by an end that did not happen", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, publish(1), OK)?;
                h.call(2, Op::Unsubscribe(DURABLE));
                h.falls()?;
                h.m.subscription_found(DURABLE, true)?;
                is_given(h, DURABLE, &[])
            }),
        ],
        Some(Rule::Lost),
    );
}

#[test]
fn who_comes_or_goes_meanwhile_may_have_it_or_not() {
    for given in [&[1][..], &[]] {
        let mut h = History::new();
        add_all(&mut h);
        let call = h.call(1, publish(1));
        subscribes(&mut h, DURABLE).unwrap();
        h.ends(call, OK).unwrap();
        is_given(&mut h, DURABLE, given).unwrap();
        let made = h.call(2, Op::Subscribe(OTHER));
        h.does(1, publish(2), OK).unwrap();
        h.ends(made, OK).unwrap();
        let given: Vec<u64> = given.iter().map(|_| 2).collect();
        is_given(&mut h, OTHER, &given).unwrap();
        is_given(&mut h, DURABLE, &[2]).unwrap();
        let call = h.call(1, publish(3));
        h.does(2, Op::Unsubscribe(OTHER), OK).unwrap();
        h.ends(call, OK).unwrap();
        is_given(&mut h, DURABLE, &[3]).unwrap();
        ends(&mut h).unwrap();
    }
    let after = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, publish(1), OK)?;
        h.does(2, Op::Unsubscribe(DURABLE), OK)?;
        h.does(1, publish(2), OK)?;
        h.does(2, take(DURABLE), got(2))
    };
    histories(&[("after its end", after)], Some(Rule::WrongSubscriber));
}

/// A restart, with a unit of work in doubt that would retain publication 2 for a/b.
fn in_doubt(h: &mut History) -> R {
    h.does(1, retained(1, "a/b"), OK)?;
    let next = Publication {
        in_uow: true,
        retain: true,
        ..publication(2, "a/b")
    };
    h.does(1, Op::Publish(next), OK)?;
    h.call(1, Op::Commit);
    h.falls()
}

#[test]
fn who_subscribes_is_given_what_is_retained() {
    histories(
        &[
            ("the last of each topic", |h| {
                h.does(1, retained(1, "a/b"), OK)?;
                h.does(1, retained(2, "a/b"), OK)?;
                h.does(1, retained(3, "a/c"), OK)?;
                h.does(1, retained(4, "c"), OK)?;
                h.does(1, publish(5), OK)?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[2, 3])?;
                ends(h)
            }),
            ("over a crash", |h| {
                h.does(1, retained(1, "a/b"), OK)?;
                h.falls()?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[1])
            }),
            ("with its unit of work", |h| {
                h.does(1, retained(1, "a/b"), OK)?;
                let next = Publication {
                    in_uow: true,
                    retain: true,
                    ..publication(2, "a/b")
                };
                h.does(1, Op::Publish(next), OK)?;
                h.commits(1)?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[2])
            }),
            (
                "what has failed in its unit of work replaces nothing",
                |h| {
                    h.does(1, retained(1, "a/b"), OK)?;
                    let next = Publication {
                        in_uow: true,
                        retain: true,
                        ..publication(2, "a/b")
                    };
                    h.does(1, Op::Publish(next), REFUSED)?;
                    h.does(1, publish_in_uow(3), OK)?;
                    h.commits(1)?;
                    subscribes(h, DURABLE)?;
                    is_given(h, DURABLE, &[1])
                },
            ),
            ("that may have been replaced", |h| {
                h.does(1, retained(1, "a/b"), OK)?;
                h.call(1, retained(2, "a/b"));
                h.falls()?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[1])
            }),
            ("by a branch that is decided about later", |h| {
                in_doubt(h)?;
                h.does(1, retained(3, "a/b"), OK)?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[2])
            }),
            ("or not yet", |h| {
                in_doubt(h)?;
                h.does(1, retained(3, "a/b"), OK)?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[3])
            }),
            ("or that may have replaced it", |h| {
                h.does(1, retained(1, "a/b"), OK)?;
                h.call(1, retained(2, "a/b"));
                h.falls()?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[2])
            }),
        ],
        None,
    );
    histories(
        &[
            ("one that was replaced", |h| {
                h.does(1, retained(1, "a/b"), OK)?;
                h.does(1, retained(2, "a/b"), OK)?;
                h.falls()?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[1])
            }),
            ("one whose unit of work was backed out", |h| {
                let next = Publication {
                    in_uow: true,
                    retain: true,
                    ..publication(2, "a/b")
                };
                h.does(1, Op::Publish(next), OK)?;
                h.backs_out(1)?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[2])
            }),
            ("one that does not survive", |h| {
                let next = Publication {
                    persistent: false,
                    retain: true,
                    ..publication(1, "a/b")
                };
                h.does(1, Op::Publish(next), OK)?;
                h.falls()?;
                subscribes(h, DURABLE)?;
                is_given(h, DURABLE, &[1])
            }),
        ],
        Some(Rule::WrongSubscriber),
    );
    let missed = |h: &mut History| {
        h.does(1, retained(1, "a/b"), OK)?;
        subscribes(h, DURABLE)?;
        is_given(h, DURABLE, &[])
    };
    histories(&[("missed", missed)], Some(Rule::MessageMissed));
}

/// A call that was not answered, with the queue manager running on.
#[test]
fn what_is_not_answered_may_have_happened() {
    for given in [&[1][..], &[]] {
        let mut h = History::new();
        add_all(&mut h);
        subscribes(&mut h, DURABLE).unwrap();
        h.does(1, publish(1), UNKNOWN).unwrap();
        is_given(&mut h, DURABLE, given).unwrap();
        h.does(2, Op::Subscribe(OTHER), UNKNOWN).unwrap();
        h.does(1, publish(2), OK).unwrap();
        is_given(&mut h, DURABLE, &[2]).unwrap();
        h.m.subscription_found(OTHER, !given.is_empty()).unwrap();
        ends(&mut h).unwrap();
    }
}

/// One that is delayed, by as much as ten calls take.
fn delayed(id: u64) -> Op {
    Op::Publish(Publication {
        delay: Some(10_000),
        ..publication(id, "a/b")
    })
}

/// All that was delayed has come.
fn comes(h: &mut History) {
    h.time += 10_000;
    h.m.delays_over();
}

#[test]
fn what_is_delayed_comes_to_who_subscribes_then() {
    histories(
        &[
            ("to one who was there", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, delayed(1), OK)?;
                is_given(h, DURABLE, &[])?;
                h.falls()?;
                comes(h);
                is_given(h, DURABLE, &[1])?;
                ends(h)
            }),
            ("to one who came in time", |h| {
                h.does(1, delayed(1), OK)?;
                subscribes(h, VOLATILE)?;
                h.time += 10_000;
                h.does(2, take(VOLATILE), got_volatile(1))
            }),
            ("not to one who came too late", |h| {
                h.does(1, delayed(1), OK)?;
                h.time += 10_000;
                subscribes(h, DURABLE)?;
                comes(h);
                is_given(h, DURABLE, &[])?;
                ends(h)
            }),
            ("to one who has subscribed anew", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, delayed(1), OK)?;
                h.does(2, Op::Unsubscribe(DURABLE), OK)?;
                subscribes(h, DURABLE)?;
                h.time += 10_000;
                is_given(h, DURABLE, &[1])?;
                ends(h)
            }),
            ("as persistent as it was while it waited", |h| {
                h.does(1, delayed(1), OK)?;
                subscribes(h, VOLATILE)?;
                h.falls()?;
                subscribes(h, VOLATILE)?;
                h.time += 10_000;
                h.does(2, take(VOLATILE), got_volatile(1))
            }),
        ],
        None,
    );
    let never = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, delayed(1), OK)?;
        comes(h);
        is_given(h, DURABLE, &[])
    };
    histories(&[("never", never)], Some(Rule::MessageMissed));
    let early = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, delayed(1), OK)?;
        is_given(h, DURABLE, &[1])
    };
    histories(&[("early", early)], Some(Rule::Early));
    let twice = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, delayed(1), OK)?;
        h.time += 10_000;
        is_given(h, DURABLE, &[1])?;
        h.falls()?;
        is_given(h, DURABLE, &[1])
    };
    histories(&[("twice", twice)], Some(Rule::Duplicate));
    let failed = |h: &mut History| {
        subscribes(h, DURABLE)?;
        h.does(1, delayed(1), REFUSED)?;
        h.time += 10_000;
        is_given(h, DURABLE, &[1])
    };
    histories(&[("failed", failed)], Some(Rule::Undone));
}

/// Published with a life of ten events, and retained.
fn short(id: u64) -> Op {
    Op::Publish(Publication {
        retain: true,
        expiry: Some(10_000),
        ..publication(id, "a/b")
    })
}

#[test]
fn publications_expire() {
    histories(
        &[
            ("in time", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, short(1), OK)?;
                is_given(h, DURABLE, &[1])?;
                subscribes(h, OTHER)?;
                is_given(h, OTHER, &[1])?;
                ends(h)
            }),
            ("too late", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, retained(1, "a/b"), OK)?;
                h.does(1, short(2), OK)?;
                h.time += 20_000;
                is_given(h, DURABLE, &[1])?;
                subscribes(h, OTHER)?;
                is_given(h, OTHER, &[])?;
                ends(h)
            }),
            ("the clock is set back when it may have gone", |h| {
                h.does(1, short(1), OK)?;
                h.time += 20_000;
                h.does(1, Op::Commit, OK)?;
                h.m.crash()?;
                h.m.clock_set(0);
                h.m.restart();
                h.time = 0;
                subscribes(h, OTHER)?;
                is_given(h, OTHER, &[])?;
                ends(h)
            }),
        ],
        None,
    );
    histories(
        &[
            ("a copy comes too late", |h| {
                subscribes(h, DURABLE)?;
                h.does(1, short(1), OK)?;
                h.time += 20_000;
                is_given(h, DURABLE, &[1])
            }),
            ("what is retained comes too late", |h| {
                h.does(1, short(1), OK)?;
                h.time += 20_000;
                subscribes(h, OTHER)?;
                is_given(h, OTHER, &[1])
            }),
            ("it begins a new life when it is sent", |h| {
                h.does(1, short(1), OK)?;
                subscribes(h, OTHER)?;
                h.time += 9_000;
                is_given(h, OTHER, &[1])
            }),
        ],
        Some(Rule::Expired),
    );
    histories(
        &[("what it has replaced comes back", |h| {
            h.does(1, retained(1, "a/b"), OK)?;
            h.does(1, short(2), OK)?;
            h.time += 20_000;
            subscribes(h, OTHER)?;
            is_given(h, OTHER, &[1])
        })],
        Some(Rule::WrongSubscriber),
    );
}
