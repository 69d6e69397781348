//! Consumers in syncpoint whose unit of work takes no more messages: the system has backed it out, or it has as many as it may have. Only
//! the listener that is called with a message can end it.

use posthaste_mqi::constants::{MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT, MQPER_PERSISTENT};
use posthaste_mqi::{Hobj, Reason};
use posthaste_wire::Request;
use posthaste_wire::stream::Notification;

use crate::endings::until;
use crate::streams::{Raw, ask, next, put_with, state, text, wanting};
use crate::world::World;

/// Allows a message in syncpoint, behind this one.
fn allow(client: &mut Raw, last: u32) {
    state(client, Notification::TXN_ALLOWED, last, false);
}

/// The next message, and how often it has been backed out.
async fn counted(client: &mut Raw) -> (String, i32) {
    let (reason, _, md, data) = next(client).await;
    assert_eq!(reason, Reason::NONE);
    (String::from_utf8(data).unwrap(), md.backout_count)
}

/// Fills the log until the unit of work that holds it is backed out.
async fn exhaust(world: &World, other: &mut Raw) {
    let queue = other.open("Q2").await;
    let long = "x".repeat(20_000);
    let before = world.operator.beginning_with("AMQ7469W").len();
    for _ in 0..1000 {
        put_with(other, queue, MQPER_PERSISTENT, &[&long]).await;
        other.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
        if world.operator.beginning_with("AMQ7469W").len() > before {
            return;
        }
    }
    panic!("no unit of work was backed out");
}

/// It is called with the next messages, which nobody else has meanwhile, learns by its MQCMIT or MQBACK, and has everything anew.
#[tokio::test]
async fn a_listener_learns_that_the_system_has_backed_out_its_unit_of_work() {
    for (ending, ends_with) in [
        (Request::Commit, Reason::BACKED_OUT),
        (Request::Back, Reason::NONE),
    ] {
        let world = World::with_a_small_log().await;
        let (mut client, mut other) = (world.client().await, world.client().await);
        let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
        put_with(&mut other, others, MQPER_PERSISTENT, &["one", "two"]).await;
        ask(&mut client, &wanting(queue, MQGMO_SYNCPOINT));
        assert_eq!(text(&mut client).await, "one");
        exhaust(&world, &mut other).await;
        allow(&mut client, 1);
        assert_eq!(counted(&mut client).await, ("one".to_owned(), 1));
        allow(&mut client, 2);
        assert_eq!(counted(&mut client).await, ("two".to_owned(), 0));
        let nothing = other.get(others, MQGMO_NO_SYNCPOINT, 0).await;
        assert_eq!(nothing.unwrap_err(), Reason::NO_MSG_AVAILABLE);
        let (outcome, _) = client.call(Hobj::NONE, &ending).await;
        assert_eq!(outcome.reason, ends_with);
        assert_eq!(world.depth("Q1"), 2);
        for (last, expected) in [(3, ("one", 2)), (4, ("two", 1))] {
            allow(&mut client, last);
            let (text, count) = counted(&mut client).await;
            assert_eq!((text.as_str(), count), expected);
        }
        let (outcome, _) = client.call(Hobj::NONE, &Request::Commit).await;
        assert_eq!(outcome.reason, Reason::NONE);
        assert_eq!(world.depth("Q1"), 0);
    }
}

/// What came behind the backout is everybody's when its client is gone.
#[tokio::test]
async fn what_a_lost_listener_had_behind_a_backout_comes_back() {
    let world = World::with_a_small_log().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    put_with(&mut other, others, MQPER_PERSISTENT, &["one"]).await;
    ask(&mut client, &wanting(queue, MQGMO_SYNCPOINT));
    assert_eq!(text(&mut client).await, "one");
    exhaust(&world, &mut other).await;
    allow(&mut client, 1);
    assert_eq!(text(&mut client).await, "one");
    drop(client);
    let got = other.get(others, MQGMO_NO_SYNCPOINT, 60_000).await.unwrap();
    assert_eq!((&got.data[..], got.md.backout_count), (&b"one"[..], 2));
}

/// It waits for the end of the unit of work, and what it would have had is anybody's; the operator hears of it.
#[tokio::test]
async fn a_listener_whose_unit_of_work_is_full_goes_on_behind_its_end() {
    for ending in [Request::Commit, Request::Back] {
        let world = World::new().await;
        world.mqsc("ALTER QMGR MAXUMSGS(1)");
        let (mut client, mut other) = (world.client().await, world.client().await);
        let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
        put_with(
            &mut other,
            others,
            MQPER_PERSISTENT,
            &["one", "two", "three"],
        )
        .await;
        ask(&mut client, &wanting(queue, MQGMO_SYNCPOINT));
        assert_eq!(text(&mut client).await, "one");
        allow(&mut client, 1);
        client.flush().await;
        until("the operator hears", || {
            !world.operator.beginning_with("AMQ2234W").is_empty()
        })
        .await;
        assert_eq!(world.operator.inserts("AMQ2234W")[0], "Q1");
        let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
        assert_eq!(&got.data[..], b"two");
        let back = matches!(ending, Request::Back);
        let (outcome, _) = client.call(Hobj::NONE, &ending).await;
        assert_eq!(outcome.reason, Reason::NONE);
        allow(&mut client, 1);
        let expected = if back { "one" } else { "three" };
        assert_eq!(text(&mut client).await, expected);
    }
}
