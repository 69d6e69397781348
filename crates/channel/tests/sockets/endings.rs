//! Channels and queue managers that end while verbs are on their way: what was got is delivered, what is not
//! delivered stays.

use std::time::Duration;

use posthaste_channel::Limits;
use posthaste_engine::EndMode;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{CompCode, Md, Name, Od, Pmo};
use posthaste_wire::request::{Put1Request, SetRequest};
use posthaste_wire::{Request, Status};
use tokio::net::TcpStream;

use crate::budgets::begun;
use crate::client::{Client, Fate};
use crate::streams::{ask, next, wanting};
use crate::world::World;

/// Waits for a condition, as long as a test may take.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    assert!(waited.is_ok(), "{what} did not happen");
}

/// Sends what the client has appended, and waits until the verb has its record in the log and waits for the force.
async fn under_way(world: &World, client: &mut Client<TcpStream>) {
    let before = world.qm.log().appended();
    client.flush().await;
    until("a log record", || world.qm.log().appended() > before).await;
}

/// Units of work that have put one message and begun another, whose connections are cut one after the other: what each has in
/// hand, in memory and in the log, is given back for the next one, and for who puts a message of that length then.
#[tokio::test]
async fn what_a_connection_had_begun_when_it_was_cut_is_given_back() {
    const LENGTH: usize = 400_000;
    let world = World::with(Limits {
        unfinished_in_all: LENGTH * 3 / 2,
        ..Limits::default()
    })
    .await;
    let settled = || {
        let status = world.qm.queue_status("Q3").unwrap();
        world.registry.unfinished() == 0 && !status.uncommitted
    };
    for _ in 0..8 {
        let mut client = world.client().await;
        let (queue, id) = (client.open("Q3").await, client.id);
        client.put(queue, MQPMO_SYNCPOINT, &[7; LENGTH]).await;
        let (begin, _) = begun(&mut client, id, queue, MQPMO_SYNCPOINT, LENGTH);
        client.out.extend(begin);
        client.flush().await;
        let half = || world.registry.unfinished() > LENGTH / 2;
        until("half of a message", half).await;
        drop(client);
        until("the end of what was cut", settled).await;
    }
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, &[7; LENGTH]).await;
    assert_eq!(world.depth("Q3"), 1);
}

/// A client whose get has its record in the log, and waits for the force, which is held up.
async fn getting() -> (World, Client<TcpStream>) {
    let world = World::held().await;
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"mine").await;
    world.hold.hold();
    let how = MQGMO_NO_SYNCPOINT | MQGMO_FAIL_IF_QUIESCING;
    client.send_get(queue, how, 60_000, 100);
    under_way(&world, &mut client).await;
    (world, client)
}

fn named(queue: &str) -> Od {
    Od {
        object_name: Name::new(queue),
        ..Od::default()
    }
}

/// How an operator ends a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    StopChannel,
    StopChannelForce,
    EndQueueManager,
}

const ENDINGS: [Ending; 3] = [
    Ending::StopChannel,
    Ending::StopChannelForce,
    Ending::EndQueueManager,
];

impl Ending {
    /// Begins it, and lets the connection notice.
    async fn begin(self, world: &World) {
        match self {
            Ending::StopChannel => assert_eq!(world.registry.stop("CH", false), Ok(1)),
            Ending::StopChannelForce => assert_eq!(world.registry.stop("CH", true), Ok(1)),
            Ending::EndQueueManager => {
                world.qm.quiesce(EndMode::Controlled);
                world.registry.end(false);
            }
        }
        // Its task has been woken; on this runtime it runs when this one yields.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    fn fate(self) -> Fate {
        Fate::Ended(match self {
            Ending::EndQueueManager => Status::Q_MGR_TERMINATING,
            _ => Status::USER_CLOSED,
        })
    }
}

/// A message whose get has its record in the log when the connection ends: it is delivered, for it is gone.
#[tokio::test]
async fn a_get_that_has_its_message_delivers_it_whatever_ends_the_connection() {
    for ending in ENDINGS {
        let (world, mut client) = getting().await;
        ending.begin(&world).await;
        world.hold.release();
        let (_, got) = client
            .got()
            .await
            .unwrap_or_else(|r| panic!("{ending:?}: {r}"));
        assert_eq!(got.data, b"mine"[..], "{ending:?}");
        assert_eq!(client.fate().await, ending.fate(), "{ending:?}");
        assert_eq!(world.depth("Q3"), 0);
    }
}

/// A request that forces the log.
fn forcing(verb: &str) -> Request {
    match verb {
        "put1" => Request::Put1(Box::new(Put1Request {
            od: named("Q3"),
            md: Md::default(),
            pmo: Pmo {
                options: MQPMO_NO_SYNCPOINT,
                ..Pmo::default()
            },
            data: b"x"[..].into(),
        })),
        "commit" => Request::Commit,
        "set" => Request::Set(Box::new(SetRequest {
            selectors: vec![MQIA_INHIBIT_GET],
            ints: vec![MQQA_GET_INHIBITED],
            chars: Vec::new(),
        })),
        "close" => Request::Close {
            options: MQCO_DELETE_PURGE,
        },
        other => panic!("{other}"),
    }
}

/// The same for the other verbs that force the log: they are answered, and with what has happened.
#[tokio::test]
async fn verbs_that_wait_for_the_log_are_answered_whatever_ends_the_connection() {
    for ending in ENDINGS {
        let world = World::held().await;
        world.mqsc("DEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)");
        let mut messages = 0;
        for verb in ["put", "put1", "commit", "close", "set"] {
            let mut client = world.client().await;
            let queue = match verb {
                "close" => client.open("PERMANENT").await,
                "set" => client.open_for("Q3", MQOO_SET).await,
                _ => client.open("Q3").await,
            };
            if verb == "commit" {
                client.put(queue, MQPMO_SYNCPOINT, b"in the unit").await;
            }
            world.hold.hold();
            match verb {
                "put" => client.send_put(queue, &Md::default(), MQPMO_NO_SYNCPOINT, b"x"),
                other => client.send(queue, &forcing(other)),
            }
            under_way(&world, &mut client).await;
            ending.begin(&world).await;
            world.hold.release();
            let (outcome, _) = client.reply(client.id).await;
            assert_eq!(
                outcome.comp_code,
                CompCode::Ok,
                "{verb}, {ending:?}: {outcome:?}"
            );
            assert_eq!(client.fate().await, ending.fate(), "{verb}, {ending:?}");
            drop(client);
            world.admission.empty().await;
            messages += u32::from(["put", "put1", "commit"].contains(&verb));
            assert_eq!(world.depth("Q3"), messages, "{verb}, {ending:?}");
            if ending == Ending::EndQueueManager {
                // It takes nobody any more: one verb has to do.
                break;
            }
            world.registry.start("CH").unwrap();
        }
    }
}

/// A listener is not handed the end of its queue manager as if it were a message.
#[tokio::test]
async fn a_consumer_is_told_of_an_end_by_the_end_of_its_connection() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q3").await, other.open("Q3").await];
    other.put(others, MQPMO_NO_SYNCPOINT, b"one").await;
    ask(&mut client, &wanting(queue, MQGMO_NO_SYNCPOINT));
    assert_eq!(next(&mut client).await.3, b"one");
    let qm = world.qm.clone();
    let ended = std::thread::spawn(move || block_on(qm.end(EndMode::Immediate)));
    until("the end", || ended.is_finished()).await;
    assert!(ended.join().unwrap().is_ok());
    ask(&mut client, &wanting(queue, MQGMO_NO_SYNCPOINT));
    client.flush().await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    world.registry.end(false);
    assert_eq!(client.fate().await, Fate::Ended(Status::Q_MGR_TERMINATING));
}

/// Immediate end under a get that waits for the force: the engine lets it end, and it is answered.
#[tokio::test]
async fn an_immediate_end_lets_a_get_that_has_its_message_deliver_it() {
    let (world, mut client) = getting().await;
    world.qm.quiesce(EndMode::Controlled);
    world.registry.end(false);
    let qm = world.qm.clone();
    let ended = std::thread::spawn(move || block_on(qm.end(EndMode::Immediate)));
    until("the end", || world.qm.connect(Default::default()).is_err()).await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    world.hold.release();
    let (_, got) = client.got().await.unwrap();
    assert_eq!(got.data, b"mine"[..]);
    assert_eq!(client.fate().await, Fate::Ended(Status::Q_MGR_TERMINATING));
    until("the end", || ended.is_finished()).await;
    assert!(ended.join().unwrap().is_ok());
}
