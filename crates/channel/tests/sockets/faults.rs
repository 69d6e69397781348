//! Peers that break rules, vanish or do not read: nothing acknowledged is lost, nobody else is hurt.

use std::time::Duration;

use posthaste_channel::Limits;
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT, MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT,
};
use posthaste_mqi::{Hobj, Md, Reason};
use posthaste_wire::client::{ClientOffer, FromServer};
use posthaste_wire::{Reply, Request, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;

use crate::client::{Client, Fate};
use crate::world::World;

type Raw = Client<TcpStream>;

#[tokio::test]
async fn garbage_is_answered_with_a_status_and_closed() {
    let world = World::new().await;
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"TSHX",
        b"TSH \0\0\0\x04",
        b"\x16\x03\x01\x02\0",
    ] {
        let mut socket = world.socket().await;
        socket.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer.get(..4), Some(&b"TSH "[..]), "{garbage:?}");
        assert_eq!(answer[9..11], [0x05, 0x0A]);
        assert_eq!(answer[28..], [0, 0, 0, 8, 0, 0, 0, 10]);
    }
    world.admission.empty().await;
    assert_eq!(world.operator.channels(), ["AMQ9207E"; 4]);
    assert_eq!(world.operator.inserts("AMQ9207E"), ["127.0.0.1", "?"]);
    // A port check is no reason for a message.
    drop(world.socket().await);
    world.admission.empty().await;
    assert_eq!(world.operator.channels().len(), 4);
}

#[tokio::test]
async fn a_connected_client_that_breaks_a_rule_is_told_and_backed_out() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_SYNCPOINT, b"never").await;
    client.stream.write_all(b"rubbish").await.unwrap();
    assert_eq!(client.fate().await, Fate::Ended(Status::PROTOCOL_ERROR));
    assert_eq!(client.fate().await, Fate::Eof);
    world.admission.empty().await;
    assert_eq!(world.depth("Q1"), 0);
    assert_eq!(world.operator.channels(), ["AMQ9207E", "AMQ9999E"]);
    assert_eq!(world.operator.inserts("AMQ9999E"), ["CH", "127.0.0.1"]);
}

#[tokio::test]
async fn a_client_that_vanishes_inside_a_unit_of_work_is_backed_out() {
    let world = World::new().await;
    let mut witness = world.client().await;
    let queue = witness.open("Q3").await;
    witness
        .put(queue, MQPMO_NO_SYNCPOINT, b"got and given back")
        .await;
    let mut victim = world.client().await;
    let theirs = victim.open("Q3").await;
    victim.get(theirs, MQGMO_SYNCPOINT, 0).await.unwrap();
    victim.put(theirs, MQPMO_SYNCPOINT, b"never seen").await;
    drop(victim);
    // The message comes back to whoever waits for it.
    let got = witness
        .get(queue, MQGMO_NO_SYNCPOINT, 60_000)
        .await
        .unwrap();
    assert_eq!(
        (&got.data[..], got.md.backout_count),
        (&b"got and given back"[..], 1)
    );
    let other = witness.get(queue, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(other, Err(Reason::NO_MSG_AVAILABLE));
    witness.disconnect().await;
    world.admission.empty().await;
    assert_eq!(world.operator.channels(), ["AMQ9209E", "AMQ9999E"]);
}

/// Nor does a port check, which may end by a reset.
#[tokio::test]
async fn a_client_that_has_disconnected_raises_no_alarm_without_last_words() {
    let world = World::new().await;
    for reset in [false, true] {
        let mut client = world.client().await;
        let (outcome, _) = client.call(Hobj::NONE, &Request::Disc).await;
        assert_eq!(outcome.reason, Reason::NONE);
        let mut check = world.socket().await;
        check.write_all(b"TSH ").await.unwrap();
        for socket in [client.into_stream(), check] {
            if reset {
                socket.set_zero_linger().unwrap();
            }
        }
        world.admission.empty().await;
        assert_eq!(world.operator.channels(), [""; 0], "reset: {reset}");
    }
}

#[tokio::test]
async fn a_waiting_get_whose_client_vanishes_loses_no_message() {
    let world = World::new().await;
    let mut victim = world.client().await;
    let theirs = victim.open("Q1").await;
    victim.send_get(theirs, MQGMO_NO_SYNCPOINT, 60_000, 100);
    victim.flush().await;
    // The get waits once a later request of another conversation is answered.
    victim.another().await;
    drop(victim);
    world.admission.empty().await;
    let mut witness = world.client().await;
    let queue = witness.open("Q1").await;
    witness.put(queue, MQPMO_NO_SYNCPOINT, b"mine").await;
    assert_eq!(
        &witness
            .get(queue, MQGMO_NO_SYNCPOINT, 0)
            .await
            .unwrap()
            .data[..],
        b"mine"
    );
}

#[tokio::test]
async fn a_conversation_that_ends_without_mqdisc_is_backed_out_alone() {
    let world = World::new().await;
    let mut client = world.client().await;
    let (first, second) = (client.id, client.another().await);
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_SYNCPOINT, b"kept").await;
    client.id = second;
    let other = client.open("Q1").await;
    client.put(other, MQPMO_SYNCPOINT, b"dropped").await;
    assert!(!client.socket.end_conversation(&mut client.out, second));
    client.id = first;
    client.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(world.depth("Q1"), 1);
    assert_eq!(
        &client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap().data[..],
        b"kept"
    );
}

#[tokio::test]
async fn a_message_longer_than_the_channel_allows_fails_and_a_longer_flow_ends_it() {
    let world = World::new().await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MAXMSGL(10000)");
    let offer = ClientOffer {
        max_message: 1 << 20,
        ..Raw::offer("CH")
    };
    let mut client = Client::connected(world.socket().await, &offer).await;
    assert_eq!(client.socket.agreement().unwrap().max_message, 10_000);
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, &[1; 10_000]).await;
    let long = client
        .try_put(queue, &Md::default(), MQPMO_NO_SYNCPOINT, &[1; 10_001])
        .await;
    assert_eq!(long, Err(Reason::DATA_LENGTH_ERROR));
    client.send_put(queue, &Md::default(), MQPMO_NO_SYNCPOINT, &[1; 200_000]);
    assert_eq!(client.fate().await, Fate::Ended(Status::PROTOCOL_ERROR));
    assert_eq!(world.depth("Q1"), 1);
}

#[tokio::test]
async fn requests_behind_a_waiting_get_are_limited() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    client.flush().await;
    client.another().await;
    for _ in 0..100 {
        client.send(Hobj::NONE, &Request::Commit);
    }
    assert_eq!(client.fate().await, Fate::Ended(Status::PROTOCOL_ERROR));
    world.admission.empty().await;
    assert_eq!(world.operator.channels(), ["AMQ9504E", "AMQ9999E"]);
}

/// A client that asks for much and reads nothing is held; everybody else goes on; in the end it is cut off.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_held_and_then_ended() {
    let limits = Limits {
        stall: Duration::from_secs(40),
        output: 100_000,
        ..Limits::default()
    };
    let world = World::quiet(limits).await;
    let (near, far) = tokio::io::duplex(20_000);
    let served = world.serve(far);
    let mut deaf = Client::connected(near, &Client::<DuplexStream>::offer("CH")).await;
    let queue = deaf.open("Q1").await;
    for _ in 0..20 {
        deaf.put(queue, MQPMO_NO_SYNCPOINT, &[7; 30_000]).await;
    }
    // Twenty answers of 30,000 bytes are asked for; the pipe takes 20,000 bytes and the server holds 100,000.
    let mut asked = 0;
    for _ in 0..20 {
        deaf.send_get(queue, MQGMO_NO_SYNCPOINT, 0, 100_000);
        asked += 1;
    }
    deaf.flush().await;
    let (near, far) = tokio::io::duplex(200_000);
    world.serve(far);
    let mut other = Client::connected(near, &Client::<DuplexStream>::offer("CH")).await;
    let elsewhere = other.open("Q2").await;
    other
        .put(elsewhere, MQPMO_NO_SYNCPOINT, b"not disturbed")
        .await;
    let left = usize::try_from(world.depth("Q1")).unwrap();
    assert!(
        (15..asked).contains(&left),
        "{left} of {asked} messages are still there"
    );
    // The clock runs on by itself while everybody waits.
    served.await.unwrap();
    let operator = world.operator.channels();
    assert_eq!(operator, ["AMQ9259E", "AMQ9999E"]);
    assert_eq!(
        usize::try_from(world.depth("Q1")).unwrap(),
        left,
        "nothing more was got for it"
    );
    assert!(other.get(elsewhere, MQGMO_NO_SYNCPOINT, 0).await.is_ok());
    drop(deaf);
}

/// The same client reads in the end: everything comes, in order.
#[tokio::test]
async fn a_slow_reader_gets_everything_in_order() {
    let world = World::with(Limits {
        output: 100_000,
        ..Limits::default()
    })
    .await;
    let mut slow = world.client().await;
    let queue = slow.open("Q1").await;
    for number in 0..200_u8 {
        slow.put(queue, MQPMO_NO_SYNCPOINT, &[number; 20_000]).await;
    }
    for _ in 0..200 {
        slow.send_get(queue, MQGMO_NO_SYNCPOINT, 0, 100_000);
    }
    slow.flush().await;
    // Requests of one conversation sent ahead: the client's machine awaits one reply at a time, so they are re-announced.
    for number in 0..200_u8 {
        match slow.event().await.unwrap() {
            FromServer::Reply {
                reply: Reply::Get(got),
                ..
            } => {
                assert_eq!((got.data.len(), got.data[0]), (20_000, number));
            }
            other => panic!("{other:?}"),
        }
        let mut dropped = Vec::new();
        slow.socket.get(
            &mut dropped,
            slow.id,
            queue,
            &Md::default(),
            &posthaste_mqi::Gmo::default(),
            0,
        );
    }
    assert_eq!(world.depth("Q1"), 0);
}
