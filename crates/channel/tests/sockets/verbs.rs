//! Verbs through a channel: what arrives is what was sent, on every kind of socket.

use std::collections::BTreeSet;

use posthaste_mqi::constants::{
    MQCA_Q_MGR_IDENTIFIER, MQCA_Q_MGR_NAME, MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_NO_SYNCPOINT,
    MQGMO_SYNCPOINT, MQIA_COMMAND_LEVEL, MQIA_INHIBIT_PUT, MQOO_BROWSE, MQOO_INQUIRE, MQOO_OUTPUT,
    MQOO_SET, MQOT_Q_MGR, MQOT_TOPIC, MQPER_NOT_PERSISTENT, MQPER_PERSISTENT, MQPMO_ASYNC_RESPONSE,
    MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT, MQPRT_ASYNC_RESPONSE, MQPRT_SYNC_RESPONSE,
};
use posthaste_mqi::{ByteOrder, Chars, CompCode, Hobj, Md, Name, Od, Pmo, Reason, Sts};
use posthaste_wire::client::{ClientOffer, FromServer};
use posthaste_wire::request::{InqRequest, OpenDefaults, Put1Request, SetRequest, StatRequest};
use posthaste_wire::spi::{SpiNotify, SpiOpen, SpiReply, SpiRequest};
use posthaste_wire::{Outcome, Reply, Request};
use tokio::net::TcpStream;

use crate::client::{Client, Wire, conn};
use crate::world::World;

type Raw = Client<TcpStream>;

fn kinds() -> Vec<ClientOffer> {
    let mut kinds = Vec::new();
    for channel in ["CH", "CH.ALONE", "CH.OLD"] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for max_transmission in [1_024, 32_748] {
                kinds.push(ClientOffer {
                    order,
                    max_transmission,
                    ..Raw::offer(channel)
                });
            }
        }
    }
    kinds
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| u8::try_from(at * 7 % 251).unwrap())
        .collect()
}

#[tokio::test]
async fn messages_of_every_length_go_in_and_out_on_every_kind_of_socket() {
    let world = World::new().await;
    for offer in kinds() {
        let mut client = Client::connected(world.socket().await, &offer).await;
        let queue = client.open("Q1").await;
        for length in [0, 1, 2_048, 32_768, 300_000] {
            let data = pattern(length);
            let put = client.put(queue, MQPMO_NO_SYNCPOINT, &data).await;
            assert_ne!(put.msg_id, [0; 24], "the descriptor is filled");
            let got = client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
            assert_eq!((got.length, &got.data[..]), (length, &data[..]));
            assert_eq!(got.md.msg_id, put.msg_id);
        }
        let none = client.get(queue, MQGMO_NO_SYNCPOINT, 0).await;
        assert_eq!(none, Err(Reason::NO_MSG_AVAILABLE));
        client.disconnect().await;
    }
    world.admission.empty().await;
    assert_eq!(world.qm.connections(), 0);
    assert_eq!(world.operator.channels(), [""; 0], "nothing went wrong");
}

#[tokio::test]
async fn commit_and_backout_decide_what_is_seen() {
    let world = World::new().await;
    let (mut a, mut b) = (world.client().await, world.client().await);
    let (qa, qb) = (a.open("Q3").await, b.open("Q3").await);
    a.put(qa, MQPMO_SYNCPOINT, b"one").await;
    assert_eq!(
        b.get(qb, MQGMO_NO_SYNCPOINT, 0).await,
        Err(Reason::NO_MSG_AVAILABLE)
    );
    let (outcome, _) = a.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let got = b.get(qb, MQGMO_SYNCPOINT, 0).await.unwrap();
    assert_eq!((&got.data[..], got.md.backout_count), (&b"one"[..], 0));
    assert_eq!(got.md.persistence, MQPER_PERSISTENT);
    let (outcome, _) = b.call(Hobj::NONE, &Request::Back).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let got = b.get(qb, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!((&got.data[..], got.md.backout_count), (&b"one"[..], 1));
}

#[tokio::test]
async fn a_waiting_get_is_answered_when_a_message_comes_and_holds_nobody_else() {
    let world = World::new().await;
    let mut waiter = world.client().await;
    let first = waiter.id;
    let second = waiter.another().await;
    let queue = waiter.open("Q1").await;
    waiter.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    // Another conversation of the same socket, and heartbeats, go on.
    waiter.socket.heartbeat(&mut waiter.out);
    waiter.id = second;
    let other = waiter.open("Q2").await;
    waiter.put(other, MQPMO_NO_SYNCPOINT, b"elsewhere").await;
    waiter.put(other, MQPMO_NO_SYNCPOINT, b"again").await;
    let mut putter = world.client().await;
    let target = putter.open("Q1").await;
    putter
        .put(target, MQPMO_NO_SYNCPOINT, b"for the waiter")
        .await;
    waiter.id = first;
    let (_, got) = waiter.got().await.unwrap();
    assert_eq!(&got.data[..], b"for the waiter");
    assert_eq!(world.depth("Q2"), 2);
}

/// How IBM's client closes a JMS consumer from which another thread receives.
#[tokio::test]
async fn a_waiting_get_ends_when_another_conversation_calls_it_off() {
    let world = World::new().await;
    let mut client = world.client().await;
    let [waits] = &world.qm.connection_status()[..] else {
        panic!("one connection")
    };
    let mut notify = SpiNotify {
        options: 1,
        reason: 2107,
        connection: [0; 24],
    };
    notify.connection[..16].copy_from_slice(b"AMQCQM1         ");
    notify.connection[16..].copy_from_slice(&waits.number.to_be_bytes());
    let (first, second) = (client.id, client.another().await);
    let queue = client.open("Q1").await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    client.id = second;
    let unknown = SpiNotify {
        options: 2,
        ..notify
    };
    let unknown = Request::Spi(SpiRequest::Notify(unknown));
    let (outcome, _) = client.call(Hobj::NONE, &unknown).await;
    assert_eq!(outcome.reason, Reason::FUNCTION_NOT_SUPPORTED);
    client.send(Hobj::NONE, &Request::Spi(SpiRequest::Notify(notify)));
    let mut seen = Vec::new();
    for _ in 0..2 {
        match client.event().await.unwrap() {
            FromServer::Reply { id, outcome, .. } => seen.push((id, outcome.reason)),
            other => panic!("{other:?}"),
        }
    }
    seen.sort_by_key(|(id, _)| *id);
    assert_eq!(
        seen,
        [(first, Reason::XWAIT_CANCELED), (second, Reason::NONE)]
    );
}

#[tokio::test]
async fn a_put_on_one_conversation_wakes_a_get_on_another_of_the_same_socket() {
    let world = World::new().await;
    let mut client = world.client().await;
    let (first, second) = (client.id, client.another().await);
    let queue = client.open("Q1").await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    client.id = second;
    let target = client.open("Q1").await;
    client.send_put(target, &Md::default(), MQPMO_NO_SYNCPOINT, b"across");
    let mut seen = Vec::new();
    for _ in 0..2 {
        match client.event().await.unwrap() {
            FromServer::Reply {
                id,
                reply: Reply::Get(got),
                ..
            } => {
                assert_eq!(&got.data[..], b"across");
                seen.push(id);
            }
            FromServer::Reply {
                id,
                reply: Reply::Put { .. },
                ..
            } => seen.push(id),
            other => panic!("{other:?}"),
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [first, second]);
}

#[tokio::test]
async fn truncation_says_how_long_the_message_is() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, &pattern(5_000)).await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 0, 4_096);
    let (warning, got) = client.got().await.unwrap();
    assert_eq!(warning, Reason::TRUNCATED_MSG_FAILED);
    assert_eq!((got.length, got.data.len()), (5_000, 4_096));
    client.send_get(
        queue,
        MQGMO_NO_SYNCPOINT | MQGMO_ACCEPT_TRUNCATED_MSG,
        0,
        4_096,
    );
    let (warning, got) = client.got().await.unwrap();
    assert_eq!(warning, Reason::TRUNCATED_MSG_ACCEPTED);
    assert_eq!((got.length, &got.data[..]), (5_000, &pattern(4_096)[..]));
    assert_eq!(world.depth("Q1"), 0);
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 0, -1);
    assert_eq!(client.got().await, Err(Reason::BUFFER_LENGTH_ERROR));
}

#[tokio::test]
async fn opens_tell_the_defaults_and_the_policy_queue_does_not_exist() {
    let world = World::new().await;
    let mut client = world.client().await;
    let (outcome, reply) = client
        .call(
            Hobj::NONE,
            &Request::Spi(SpiRequest::Query { max_reply: 256 }),
        )
        .await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    assert!(matches!(reply, Reply::Spi(SpiReply::Query(verbs)) if verbs.contains(&12)));
    let open = SpiOpen {
        options: MQOO_OUTPUT,
        lpi_options: 3,
        defaults: OpenDefaults::default(),
        od: Od {
            version: 4,
            object_name: Name::new("Q3"),
            ..Od::default()
        },
    };
    let request = Request::Spi(SpiRequest::Open(Box::new(open)));
    let (outcome, reply) = client.call(Hobj::UNUSABLE, &request).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let Reply::Spi(SpiReply::Open(open)) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(open.defaults.persistence, MQPER_PERSISTENT);
    assert_eq!(
        (open.defaults.put_response, open.defaults.read_ahead),
        (1, 0)
    );
    assert_eq!(open.od.resolved_q_name, Name::new("Q3"));
    topics_tell_what_they_inherit(&world, &mut client).await;
    let policy = Od {
        object_name: Name::new("SYSTEM.PROTECTION.POLICY.QUEUE"),
        ..Od::default()
    };
    let (outcome, _) = client.try_open(policy, MQOO_BROWSE).await;
    assert_eq!(
        (outcome.comp_code, outcome.reason),
        (CompCode::Failed, Reason::UNKNOWN_OBJECT_NAME)
    );
    let (outcome, _) = client
        .call(Hobj(1 << 30), &Request::Close { options: 0 })
        .await;
    assert_eq!(outcome.reason, Reason::HOBJ_ERROR);
    let queue = client.open("Q1").await;
    let (outcome, _) = client.call(queue, &Request::Close { options: 0 }).await;
    assert_eq!(
        (outcome.comp_code, outcome.handle),
        (CompCode::Ok, Hobj::UNUSABLE)
    );
}

/// What an open says of the object's defaults.
async fn defaults_of(client: &mut Raw, od: Od) -> OpenDefaults {
    let open = SpiOpen {
        options: MQOO_OUTPUT,
        lpi_options: 3,
        defaults: OpenDefaults::default(),
        od,
    };
    let request = Request::Spi(SpiRequest::Open(Box::new(open)));
    let (outcome, reply) = client.call(Hobj::UNUSABLE, &request).await;
    assert_eq!(outcome.comp_code, CompCode::Ok, "{outcome:?}");
    match reply {
        Reply::Spi(SpiReply::Open(open)) => open.defaults,
        other => panic!("{other:?}"),
    }
}

/// Of a topic the client is told what holds for its topic string, from wherever above it that comes.
async fn topics_tell_what_they_inherit(world: &World, client: &mut Raw) {
    world.mqsc("DEFINE TOPIC(A) TOPICSTR('a') DEFPRESP(ASYNC)");
    world.mqsc("DEFINE TOPIC(B) TOPICSTR('a/b') DEFPSIST(YES)");
    world.mqsc("DEFINE TOPIC(C) TOPICSTR('a/b/c') DEFPRESP(SYNC)");
    world.mqsc("DEFINE QALIAS(TO.B) TARGTYPE(TOPIC) TARGET(B) DEFPRESP(SYNC)");
    for (object, string, expected) in [
        ("", "other", (MQPER_NOT_PERSISTENT, MQPRT_SYNC_RESPONSE)),
        ("A", "", (MQPER_NOT_PERSISTENT, MQPRT_ASYNC_RESPONSE)),
        ("A", "x/y", (MQPER_NOT_PERSISTENT, MQPRT_ASYNC_RESPONSE)),
        ("B", "", (MQPER_PERSISTENT, MQPRT_ASYNC_RESPONSE)),
        ("", "a/b/c/d", (MQPER_PERSISTENT, MQPRT_SYNC_RESPONSE)),
    ] {
        let od = Od {
            version: 4,
            object_type: MQOT_TOPIC,
            object_name: Name::new(object),
            object_string: string.to_owned(),
            ..Od::default()
        };
        let defaults = defaults_of(client, od).await;
        let found = (defaults.persistence, defaults.put_response);
        assert_eq!(found, expected, "{object} {string}");
    }
    // A queue is opened, and what leads to a topic has its own.
    let od = Od {
        object_name: Name::new("TO.B"),
        ..Od::default()
    };
    let defaults = defaults_of(client, od).await;
    assert_eq!(defaults.put_response, MQPRT_SYNC_RESPONSE);
}

#[tokio::test]
async fn inquire_and_set_reach_the_object() {
    let world = World::new().await;
    let mut client = world.client().await;
    let od = Od {
        object_type: MQOT_Q_MGR,
        ..Od::default()
    };
    let (outcome, _) = client.try_open(od, MQOO_INQUIRE).await;
    let selectors = vec![MQIA_COMMAND_LEVEL, MQCA_Q_MGR_NAME, MQCA_Q_MGR_IDENTIFIER];
    let inq = |int_count, char_length| {
        Request::Inq(InqRequest {
            selectors: selectors.clone(),
            int_count,
            char_length,
        })
    };
    let (asked, reply) = client.call(outcome.handle, &inq(1, 96)).await;
    assert_eq!(asked.comp_code, CompCode::Ok);
    let Reply::Inq(answer) = reply else {
        panic!("{reply:?}")
    };
    assert!(
        answer.ints[0] >= 700,
        "JMS needs 700 for its normal mode: {}",
        answer.ints[0]
    );
    let text = String::from_utf8(answer.chars).unwrap();
    assert!(
        text.starts_with("QM1 ") && text[48..].starts_with("QM1_"),
        "{text}"
    );
    // There may be more room than there are integers, and characters come behind all of it (MQINQ, "IntAttrCount").
    let (asked, reply) = client.call(outcome.handle, &inq(4, 100)).await;
    assert_eq!(asked.comp_code, CompCode::Ok);
    let Reply::Inq(answer) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(answer.ints.len(), 1);
    let text = String::from_utf8(answer.chars).unwrap();
    assert!(text.starts_with("QM1 ") && text.len() == 100, "{text}");
    for (ints, chars, reason) in [
        (0, 96, Reason::INT_ATTR_COUNT_TOO_SMALL),
        (1, 48, Reason::CHAR_ATTRS_TOO_SHORT),
        (-1, 96, Reason::INT_ATTR_COUNT_ERROR),
        (1, -1, Reason::CHAR_ATTR_LENGTH_ERROR),
    ] {
        let (asked, _) = client.call(outcome.handle, &inq(ints, chars)).await;
        assert_eq!(asked.reason, reason);
    }
    let od = Od {
        object_name: Name::new("Q1"),
        ..Od::default()
    };
    let (outcome, _) = client.try_open(od, MQOO_SET | MQOO_OUTPUT).await;
    let set = SetRequest {
        selectors: vec![MQIA_INHIBIT_PUT],
        ints: vec![1],
        chars: Vec::new(),
    };
    let (asked, _) = client
        .call(outcome.handle, &Request::Set(Box::new(set)))
        .await;
    assert_eq!(asked.comp_code, CompCode::Ok, "{asked:?}");
    let refused = client
        .try_put(outcome.handle, &Md::default(), MQPMO_NO_SYNCPOINT, b"x")
        .await;
    assert_eq!(refused, Err(Reason::PUT_INHIBITED));
}

#[tokio::test]
async fn put1_opens_puts_and_closes() {
    let world = World::new().await;
    let mut client = world.client().await;
    let put1 = |queue: &str| {
        Request::Put1(Box::new(Put1Request {
            od: Od {
                object_name: Name::new(queue),
                ..Od::default()
            },
            md: Md::default(),
            pmo: Pmo {
                options: MQPMO_NO_SYNCPOINT,
                ..Pmo::default()
            },
            data: b"once".to_vec().into(),
        }))
    };
    let (outcome, reply) = client.call(Hobj::UNUSABLE, &put1("A1")).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let Reply::Put1(parts) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(
        parts.2.resolved_q_name,
        Name::new("Q1"),
        "through the alias"
    );
    assert_eq!(world.depth("Q1"), 1);
    let (outcome, _) = client.call(Hobj::UNUSABLE, &put1("NONE")).await;
    assert_eq!(outcome.reason, Reason::UNKNOWN_OBJECT_NAME);
}

/// MQSTAT, about asynchronous puts.
async fn stat<S: Wire>(client: &mut Client<S>) -> Sts {
    let stat = Request::Stat(Box::new(StatRequest {
        kind: 0,
        sts: Sts::default(),
    }));
    let (outcome, reply) = client.call(Hobj::NONE, &stat).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let Reply::Stat(stat) = reply else {
        panic!("{reply:?}")
    };
    stat.sts
}

#[tokio::test]
async fn an_asynchronous_put_that_cannot_be_read_is_not_answered_but_counted() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    let persistent = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    // A version, or an identifier, that there is not.
    let broken = [
        (b"MD  ", 4, Reason::MD_ERROR),
        (b"MD  ", 0, Reason::MD_ERROR),
        (b"PMO ", 0, Reason::PMO_ERROR),
    ];
    for (name, place, expected) in broken {
        client.send_put(queue, &persistent, asynchronous, b"read");
        let behind = client.out.len();
        client.send_put(queue, &persistent, asynchronous, b"not read");
        let sent = &mut client.out[behind..];
        let at = sent.windows(4).position(|four| four == name).unwrap() + place;
        sent[at..at + 4].fill(9);
        // The next reply is that of the next verb; a unit of work without one of its messages is not committed.
        let (outcome, _) = client.call(Hobj::NONE, &Request::Commit).await;
        assert_eq!(outcome.reason, Reason::BACKED_OUT);
        let sts = stat(&mut client).await;
        assert_eq!((sts.put_success_count, sts.put_failure_count), (1, 1));
        assert_eq!(sts.reason, expected.0);
        assert_eq!(world.depth("Q3"), 0);
    }
}

#[tokio::test]
async fn an_asynchronous_put_that_is_too_long_counts_as_what_it_would_have_been() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    let good = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    let kinds = [
        (MQPER_NOT_PERSISTENT, Reason::NONE),
        (MQPER_PERSISTENT, Reason::BACKED_OUT),
    ];
    for (persistence, expected) in kinds {
        client.send_put(queue, &good, asynchronous, b"good");
        let long = Md {
            persistence,
            ..Md::default()
        };
        client.send_put(queue, &long, asynchronous, &vec![7; (4 << 20) + 1]);
        let (outcome, _) = client.call(Hobj::NONE, &Request::Commit).await;
        assert_eq!(outcome.reason, expected);
        let sts = stat(&mut client).await;
        assert_eq!((sts.put_success_count, sts.put_failure_count), (1, 1));
        assert_eq!(sts.reason, Reason::DATA_LENGTH_ERROR.0);
        assert_eq!(sts.object_name, Name::new("Q3"));
    }
    assert_eq!(world.depth("Q3"), 1, "the first unit of work is committed");
}

#[tokio::test]
async fn asynchronous_puts_are_not_answered_but_counted() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    for _ in 0..500 {
        client.send_put(
            queue,
            &Md::default(),
            MQPMO_NO_SYNCPOINT | MQPMO_ASYNC_RESPONSE,
            b"fast",
        );
    }
    client.send_put(Hobj(1 << 30), &Md::default(), MQPMO_ASYNC_RESPONSE, b"lost");
    let sts = stat(&mut client).await;
    assert_eq!((sts.put_success_count, sts.put_failure_count), (500, 1));
    assert_eq!(sts.reason, Reason::HOBJ_ERROR.0);
    assert_eq!(world.depth("Q3"), 500);
}

#[tokio::test]
async fn a_conversation_can_connect_again_and_not_before_it_is_connected() {
    let world = World::new().await;
    let offer = Raw::offer("CH");
    let mut client = Client::agreed(world.socket().await, &offer).await.unwrap();
    let (outcome, _) = client.call(Hobj::NONE, &conn("QM2")).await;
    assert_eq!(
        (outcome.comp_code, outcome.reason),
        (CompCode::Failed, Reason::Q_MGR_NAME_ERROR)
    );
    let mut connections = BTreeSet::new();
    for name in ["", "*GROUP", "QM1"] {
        let (outcome, reply) = client.call(Hobj::NONE, &conn(name)).await;
        assert_eq!(outcome.comp_code, CompCode::Ok, "{name}");
        let Reply::Conn(conn) = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(conn.q_mgr, Name::new("QM1"));
        let [shown] = &world.qm.connection_status()[..] else {
            panic!("one connection")
        };
        let number = shown.number.to_be_bytes();
        assert_eq!(
            conn.fcno[12..36],
            [b"AMQCQM1         ", &number[..]].concat()
        );
        assert!(connections.insert(number), "a number of its own");
        let (outcome, _) = client.call(Hobj::NONE, &Request::Disc).await;
        assert_eq!(outcome, Outcome::done(Hobj::NONE, Reason::NONE));
    }
}

/// A request by the object's name has nothing of the string in it; the product says how the answer is read.
#[tokio::test]
async fn topic_strings_come_as_the_product_reads_them() {
    let world = World::new().await;
    let string = "a/\u{1d11e}/é";
    world.mqsc(&format!("DEFINE TOPIC(T) TOPICSTR('{string}')"));
    let products = [
        ("MQJB09040000", true),
        ("MQJM09040000", true),
        ("MQCC09040000", false),
    ];
    for channel in ["CH", "CH.OLD"] {
        for (product, surrogates) in products {
            let offer = ClientOffer {
                product: Chars::new(product),
                ..Raw::offer(channel)
            };
            let mut client = Raw::connected(world.socket().await, &offer).await;
            let od = Od {
                version: 4,
                object_type: MQOT_TOPIC,
                object_name: Name::new("T"),
                res_object_string_size: 100,
                ..Od::default()
            };
            let (outcome, reply) = client.try_open(od, MQOO_OUTPUT).await;
            assert_eq!(outcome.comp_code, CompCode::Ok, "{outcome:?}");
            let Reply::Open(open) = reply else {
                panic!("{reply:?}");
            };
            assert_eq!(open.od.res_object_string, string);
            assert_eq!(open.od.surrogates, surrogates, "{product}");
        }
    }
}

/// MQSTAT says which topic an asynchronous put was refused by, as the product reads strings and as much as it has room for.
#[tokio::test]
async fn the_topic_of_an_asynchronous_put_that_failed_comes_as_the_product_reads_it() {
    let world = World::new().await;
    let string = "a/\u{1d11e}/é";
    world.mqsc(&format!("DEFINE TOPIC(T) TOPICSTR('{string}')"));
    for (product, surrogates) in [("MQJB09040000", true), ("MQCC09040000", false)] {
        let offer = ClientOffer {
            product: Chars::new(product),
            ..Raw::offer("CH")
        };
        let mut client = Raw::connected(world.socket().await, &offer).await;
        let od = Od {
            version: 4,
            object_type: MQOT_TOPIC,
            object_name: Name::new("T"),
            ..Od::default()
        };
        for (room, expected) in [(100, string), (2, "a/"), (0, "")] {
            world.mqsc("ALTER TOPIC(T) PUB(ENABLED)");
            let (outcome, _) = client.try_open(od.clone(), MQOO_OUTPUT).await;
            assert_eq!(outcome.comp_code, CompCode::Ok, "{outcome:?}");
            world.mqsc("ALTER TOPIC(T) PUB(DISABLED)");
            let asynchronous = MQPMO_NO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
            client.send_put(outcome.handle, &Md::default(), asynchronous, b"news");
            let stat = Request::Stat(Box::new(StatRequest {
                kind: 0,
                sts: Sts {
                    version: 2,
                    object_string_size: room,
                    ..Sts::default()
                },
            }));
            let (_, reply) = client.call(Hobj::NONE, &stat).await;
            let Reply::Stat(stat) = reply else {
                panic!("{reply:?}")
            };
            let sts = &stat.sts;
            assert_eq!(
                (sts.reason, sts.object_type),
                (Reason::PUT_INHIBITED.0, MQOT_TOPIC)
            );
            assert_eq!(sts.object_string, expected, "{product} {room}");
            assert_eq!(
                sts.surrogates,
                surrogates && room == 100,
                "{product} {room}"
            );
        }
    }
}
