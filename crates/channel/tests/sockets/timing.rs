//! Silence, idleness and half-open peers, on a clock that runs by itself while everybody waits.

use std::time::Duration;

use posthaste_channel::Limits;
use posthaste_mqi::Hobj;
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT, MQWI_UNLIMITED,
};
use posthaste_wire::client::ClientOffer;
use posthaste_wire::segment::SegmentType;
use posthaste_wire::{Request, Segment, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, timeout};

use crate::client::{Client, Fate};
use crate::world::World;

type Raw = Client<DuplexStream>;

fn offer(channel: &str, heartbeat_s: u32) -> ClientOffer {
    ClientOffer {
        heartbeat_s,
        ..Raw::offer(channel)
    }
}

/// A connected client of a queue manager whose channels have HBINT(5).
async fn half_open(world: &World, channel: &str) -> (Raw, tokio::task::JoinHandle<()>) {
    world.mqsc(&format!(
        "ALTER CHANNEL({channel}) CHLTYPE(SVRCONN) HBINT(5)"
    ));
    let (near, far) = tokio::io::duplex(65_536);
    let served = world.serve(far);
    (Client::connected(near, &offer(channel, 1)).await, served)
}

#[tokio::test(start_paused = true)]
async fn a_socket_without_a_word_is_closed_after_the_handshake_time() {
    let world = World::quiet(Limits::default()).await;
    for begun in [&b""[..], b"TSH \0\0\x01\x0c"] {
        let (mut near, far) = tokio::io::duplex(1_024);
        let began = Instant::now();
        let served = world.serve(far);
        near.write_all(begun).await.unwrap();
        let mut nothing = Vec::new();
        near.read_to_end(&mut nothing).await.unwrap();
        assert_eq!(nothing, b"");
        assert_eq!(began.elapsed().as_secs(), 30);
        drop(near);
        served.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_negotiates_but_does_not_connect_is_closed_too() {
    let world = World::quiet(Limits {
        handshake: Duration::from_secs(7),
        ..Limits::default()
    })
    .await;
    let (near, far) = tokio::io::duplex(65_536);
    let began = Instant::now();
    let served = world.serve(far);
    let mut client = Client::agreed(near, &offer("CH", 300)).await.unwrap();
    assert_eq!(client.fate().await, Fate::Eof);
    assert_eq!(began.elapsed().as_secs(), 7);
    drop(client);
    served.await.unwrap();
    assert!(world.registry.status().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_half_open_peer_is_found_and_backed_out() {
    let world = World::quiet(Limits::default()).await;
    let (mut client, served) = half_open(&world, "CH").await;
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_SYNCPOINT, b"never").await;
    let began = Instant::now();
    // The peer is there, but nobody reads or writes.
    served.await.unwrap();
    // HBINT until the heartbeat, once more for the answer, and the time for the farewell, which nobody takes.
    assert!(
        (10..=12).contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
    assert_eq!((world.qm.connections(), world.depth("Q1")), (0, 0));
    assert_eq!(world.operator.channels(), ["AMQ9259E", "AMQ9999E"]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_answers_heartbeats_lives_on() {
    let world = World::quiet(Limits::default()).await;
    let (mut client, served) = half_open(&world, "CH").await;
    // Reading is answering: the client's machine does it.
    let quiet = timeout(Duration::from_secs(600), client.event()).await;
    assert!(
        quiet.is_err(),
        "nothing but heartbeats for ten minutes: {quiet:?}"
    );
    assert!(!served.is_finished());
    client.call(Hobj::NONE, &Request::Commit).await;
}

#[tokio::test(start_paused = true)]
async fn while_a_get_waits_on_an_unshared_socket_heartbeats_are_sent_and_otherwise_not() {
    let world = World::quiet(Limits::default()).await;
    let (mut client, _served) = half_open(&world, "CH.OLD").await;
    let queue = client.open("Q1").await;
    let mut byte = [0; 1];
    let idle = timeout(Duration::from_secs(600), client.stream.read(&mut byte)).await;
    assert!(
        idle.is_err(),
        "an idle client of the old protocol does not listen"
    );
    client.send_get(queue, MQGMO_NO_SYNCPOINT, MQWI_UNLIMITED, 100);
    client.flush().await;
    let began = Instant::now();
    for number in 1..=3 {
        let heartbeat = client.stream.read_u8().await.unwrap();
        assert_eq!(began.elapsed().as_secs(), number * 5, "one every HBINT");
        let mut segment = vec![heartbeat];
        segment.resize(28, 0);
        client.stream.read_exact(&mut segment[1..]).await.unwrap();
        let segment = Segment::next(&segment, 28).unwrap().unwrap();
        assert_eq!(
            (segment.header.kind, segment.header.flags.0),
            (SegmentType::Heartbeat, 0x31)
        );
        // The answer, as the client's machine gives it.
        client.socket.receive(&segment, &mut client.out).unwrap();
        client.flush().await;
    }
    put(&world, "Q1").await;
    assert_eq!(client.got().await.unwrap().1.data.len(), 3);
}

/// Puts a message from another connection.
async fn put(world: &World, queue: &str) {
    let (near, far) = tokio::io::duplex(65_536);
    world.serve(far);
    let mut client = Client::connected(near, &offer("CH", 300)).await;
    let queue = client.open(queue).await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"now").await;
    client.disconnect().await;
}

#[tokio::test(start_paused = true)]
async fn discint_ends_an_idle_channel_but_not_a_waiting_one() {
    let world = World::quiet(Limits::default()).await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) DISCINT(20)");
    let (near, far) = tokio::io::duplex(65_536);
    let served = world.serve(far);
    let mut client = Client::connected(near, &offer("CH", 300)).await;
    let queue = client.open("Q1").await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, MQWI_UNLIMITED, 100);
    let waits = timeout(Duration::from_secs(60), client.event()).await;
    assert!(waits.is_err(), "a waiting MQGET is a call");
    put(&world, "Q1").await;
    client.got().await.unwrap();
    let began = Instant::now();
    assert_eq!(
        client.fate().await,
        Fate::Ended(Status::DISC_INTERVAL_EXPIRED)
    );
    assert!(
        (19..=21).contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
    drop(client);
    served.await.unwrap();
    assert_eq!(world.operator.channels(), ["AMQ9545I"]);
}
