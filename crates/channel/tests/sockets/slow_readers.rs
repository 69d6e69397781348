//! What waits for peers that do not read, on all sockets together.

use std::time::Duration;

use posthaste_channel::Limits;
use posthaste_mqi::constants::{MQGMO_NO_SYNCPOINT, MQPMO_NO_SYNCPOINT};
use posthaste_mqi::{Hobj, Reason};
use posthaste_wire::Request;
use tokio::io::DuplexStream;
use tokio::time::{Instant, timeout};

use crate::client::Client;
use crate::streams::{ask, next, wanting};
use crate::world::World;

type Raw = Client<DuplexStream>;

/// Counted as one step. All of them are in memory, so that virtual time stands still while anything can be done.
const LENGTH: usize = 120_000;
const STEP: usize = 65_536;
/// Twice as many as there is room for.
const READERS: usize = 8;
const ROOM: usize = READERS / 2 * STEP;

async fn world(stall: Duration) -> World {
    let limits = Limits {
        output_in_all: ROOM,
        stall,
        ..Limits::default()
    };
    World::quiet(limits).await
}

/// A client of its own socket, which holds little by itself.
async fn reader(world: &World) -> Raw {
    let (near, far) = tokio::io::duplex(16_384);
    drop(world.serve(far));
    Client::connected(near, &Raw::offer("CH")).await
}

/// Puts messages of which each begins with its number.
async fn fill(client: &mut Raw, queue: Hobj, numbers: std::ops::Range<usize>) {
    let mut data = vec![7; LENGTH];
    for number in numbers {
        data[0] = number as u8;
        client.put(queue, MQPMO_NO_SYNCPOINT, &data).await;
    }
}

/// Lets virtual time go on, which it does when nothing else can.
async fn pass(seconds: u64) {
    let never = std::future::pending::<()>();
    assert!(timeout(Duration::from_secs(seconds), never).await.is_err());
}

fn held_to_the_limit(world: &World) {
    assert_eq!(world.registry.unread(), ROOM);
}

/// How the readers ask for a message each.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Gets,
    GetsThatWait,
    Consumers,
}

#[tokio::test(start_paused = true)]
async fn messages_for_slow_readers_have_a_budget() {
    for way in [Way::Gets, Way::GetsThatWait, Way::Consumers] {
        let world = world(Duration::from_secs(60)).await;
        let mut putter = reader(&world).await;
        let queue = putter.open("Q1").await;
        if way != Way::GetsThatWait {
            fill(&mut putter, queue, 0..READERS).await;
        }
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let mut client = reader(&world).await;
            let queue = client.open("Q1").await;
            match way {
                Way::Consumers => {
                    let mut one = wanting(queue, MQGMO_NO_SYNCPOINT);
                    one.requested = 1;
                    ask(&mut client, &one);
                }
                _ => client.send_get(queue, MQGMO_NO_SYNCPOINT, 600_000, 1 << 22),
            }
            client.flush().await;
            readers.push(client);
        }
        pass(1).await;
        if way == Way::GetsThatWait {
            fill(&mut putter, queue, 0..READERS).await;
            pass(1).await;
        }
        held_to_the_limit(&world);
        // What is short goes on.
        let (outcome, _) = putter.call(Hobj::NONE, &Request::Commit).await;
        assert_eq!(outcome.reason, Reason::NONE);
        let mut numbers = Vec::new();
        for client in &mut readers {
            let data = match way {
                Way::Consumers => next(client).await.3,
                _ => client.got().await.unwrap().1.data.to_vec(),
            };
            assert_eq!(data.len(), LENGTH);
            numbers.push(usize::from(data[0]));
        }
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..READERS), "{way:?}: each once");
        pass(1).await;
        assert_eq!((world.depth("Q1"), world.registry.unread()), (0, 0));
    }
}

/// Whoever reads a little now and then holds the others up for one stall.
#[tokio::test(start_paused = true)]
async fn who_hardly_reads_keeps_nobody_waiting_for_ever() {
    let world = world(Duration::from_secs(20)).await;
    let mut putter = reader(&world).await;
    let queue = putter.open("Q1").await;
    fill(&mut putter, queue, 0..READERS).await;
    let mut slow = Vec::new();
    for _ in 0..READERS / 2 {
        let mut client = reader(&world).await;
        let queue = client.open("Q1").await;
        client.send_get(queue, MQGMO_NO_SYNCPOINT, 0, 1 << 22);
        client.flush().await;
        slow.push(client);
    }
    pass(1).await;
    held_to_the_limit(&world);
    let began = Instant::now();
    let get = putter.get(queue, MQGMO_NO_SYNCPOINT, 0);
    let dripping = async {
        loop {
            for client in &mut slow {
                client.read_some(100).await;
            }
            pass(5).await;
        }
    };
    let got = tokio::select! {
        got = timeout(Duration::from_secs(200), get) => got.expect("in time").unwrap(),
        () = dripping => unreachable!("it has no end"),
    };
    assert_eq!(got.data.len(), LENGTH);
    let waited = began.elapsed().as_secs();
    assert!((15..=41).contains(&waited), "{waited} s");
}
