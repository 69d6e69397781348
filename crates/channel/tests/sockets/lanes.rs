//! What a turn of a lane does at one go.

use std::time::{Duration, Instant};

use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT, MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT, MQWI_UNLIMITED,
};
use posthaste_mqi::{Hobj, Md, Reason};
use posthaste_wire::Request;
use posthaste_wire::client::FromServer;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::Client;
use crate::world::World;

const TIMEOUT: Duration = Duration::from_secs(60);

fn writes(world: &World) -> u64 {
    world.registry.counted().writes
}

/// Takes so many replies, each of which has to be good.
async fn replies(client: &mut Client<TcpStream>, count: usize) {
    for _ in 0..count {
        let event = timeout(TIMEOUT, client.event()).await.expect("a reply");
        match event.unwrap() {
            FromServer::Reply { outcome, .. } => assert_eq!(outcome.reason, Reason::NONE),
            other => panic!("{other:?}"),
        }
    }
}

/// Puts that come by one read, and the gets of the same socket that they end, are answered by one write.
#[tokio::test]
async fn however_many_conversations_answer_a_socket_is_written_once() {
    let world = World::new().await;
    let mut client = world.client().await;
    let mut putters = Vec::new();
    for _ in 0..4 {
        client.id = client.another().await;
        let queue = client.open("Q1").await;
        putters.push((client.id, queue));
    }
    let mut getters = Vec::new();
    for _ in 0..4 {
        client.id = client.another().await;
        let queue = client.open("Q1").await;
        getters.push((client.id, queue));
    }
    let before = writes(&world);
    for _ in 0..10 {
        for &(id, queue) in &getters {
            client.id = id;
            client.send_get(queue, MQGMO_NO_SYNCPOINT, MQWI_UNLIMITED, 100);
        }
        for &(id, queue) in &putters {
            client.id = id;
            client.send_put(queue, &Md::default(), MQPMO_NO_SYNCPOINT, b"now");
        }
        replies(&mut client, 8).await;
    }
    // The last one before these may not have been counted by then, nor the last of these by now.
    let written = writes(&world) - before;
    assert!((9..=11).contains(&written), "{written} writes");
}

/// Commits of one socket that wait for the same write of the log are told together: as a rule, for the lane may look when
/// only some of them have been told.
#[tokio::test]
async fn commits_that_one_log_write_releases_are_answered_by_one_write() {
    let world = World::held().await;
    let mut client = world.client().await;
    let first = client.id;
    let mut committers = Vec::new();
    for _ in 0..5 {
        client.id = client.another().await;
        let queue = client.open("Q3").await;
        committers.push((client.id, queue));
    }
    let log_writes = || world.qm.log().statistics().writes;
    let mut seen = Vec::new();
    for round in 1..=20 {
        for &(id, queue) in &committers {
            client.id = id;
            client.put(queue, MQPMO_SYNCPOINT, b"kept").await;
        }
        client.id = first;
        client.call(Hobj::NONE, &Request::Commit).await;
        client.call(Hobj::NONE, &Request::Commit).await;
        let before = writes(&world);
        let logged_before = log_writes();
        world.hold.hold();
        for &(id, _) in &committers {
            client.id = id;
            client.send(Hobj::NONE, &Request::Commit);
        }
        client.flush().await;
        // The lane has taken them when it answers what came behind them.
        client.id = first;
        let queue = client.open("Q1").await;
        world.hold.release();
        replies(&mut client, committers.len()).await;
        assert_eq!(world.depth("Q3"), 5 * round);
        let got = client.get(queue, MQGMO_SYNCPOINT, 0).await;
        assert_eq!(got.err(), Some(Reason::NO_MSG_AVAILABLE));
        // The open, the commits of each write of the log, perhaps the get, and perhaps what was written last before
        // these. How the log divides them is its own affair. Seven and more would be a write for each commit.
        let (written, logged) = (writes(&world) - before, log_writes() - logged_before);
        assert!(written >= 2, "{written} writes");
        if written <= 3 + logged.min(3) {
            return;
        }
        seen.push((written, logged));
    }
    panic!("so many writes, and so many of the log: {seen:?}");
}

/// What is in a queue's file, and what has to go there, is waited for by whoever wants it, and by nobody else on the lane.
#[tokio::test]
async fn a_disk_that_stands_still_holds_up_only_who_waits_for_it() {
    let world = World::held_on_one_lane().await;
    let (mut getter, mut putter) = (world.client().await, world.client().await);
    let mut other = world.client().await;
    let [from, to] = [getter.open("Q1").await, putter.open("Q2").await];
    let data = vec![7; 100_000];
    // One more than the queue's buffer holds.
    for _ in 0..11 {
        getter.put(from, MQPMO_NO_SYNCPOINT, &data).await;
    }
    let deadline = Instant::now() + TIMEOUT;
    while world.qm.queue_status("Q1").unwrap().resident_bytes > 1 << 20 {
        assert!(Instant::now() < deadline, "it is filed");
        tokio::task::yield_now().await;
    }
    for _ in 0..10 {
        getter.get(from, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    }
    world.hold.hold_queue_files();
    getter.send_get(from, MQGMO_NO_SYNCPOINT, 0, 100_000);
    getter.flush().await;
    // What has to be filed is let in up to a bound; the next put waits.
    let mut puts = 0;
    let waiting = loop {
        putter.send_put(to, &Md::default(), MQPMO_NO_SYNCPOINT, &data);
        putter.flush().await;
        puts += 1;
        // Twice, for the answer to the put may be written behind that to the first.
        for _ in 0..2 {
            let called = timeout(TIMEOUT, other.call(Hobj::NONE, &Request::Commit)).await;
            let (outcome, _) = called.expect("the lane serves others");
            assert_eq!(outcome.reason, Reason::NONE);
        }
        if timeout(Duration::ZERO, putter.event()).await.is_err() {
            break puts;
        }
    };
    assert!((20..40).contains(&waiting), "{waiting} puts");
    let answered = timeout(Duration::ZERO, getter.event()).await;
    assert!(answered.is_err(), "the disk stands still");
    world.hold.release();
    let (reason, _) = timeout(TIMEOUT, getter.got()).await.unwrap().unwrap();
    assert_eq!(reason, Reason::NONE);
    replies(&mut putter, 1).await;
    assert_eq!(world.depth("Q2"), puts);
}
