//! What an operator stops: some instances of a channel, and single connections.

use posthaste_channel::StopError;
use posthaste_command::StopChannel;
use posthaste_mqi::constants::*;
use posthaste_mqi::{CompCode, Hobj, Reason};
use posthaste_wire::stream::Notification;
use posthaste_wire::{Request, Status};
use tokio::net::TcpStream;

use crate::client::{Client, Fate};
use crate::streams::{ask, notice, wanting};
use crate::world::World;

fn inactive(conname: &str) -> StopChannel {
    StopChannel {
        inactive: true,
        conname: Some(conname.to_owned()).filter(|name| !name.is_empty()),
        ..StopChannel::default()
    }
}

/// STATUS(INACTIVE): what runs ends, and whoever comes starts the channel again.
#[tokio::test]
async fn an_inactive_channel_takes_whoever_connects() {
    let world = World::new().await;
    let stop = |how: &StopChannel| world.registry.stop_as("CH", how);
    assert_eq!(stop(&inactive("")), Err(StopError::NotActive));
    let mut client = world.client().await;
    assert_eq!(stop(&inactive("")), Ok(1));
    assert_eq!(client.fate().await, Fate::Ended(Status::USER_CLOSED));
    assert!(!world.registry.is_stopped("CH"));
    world.client().await.disconnect().await;
    // Of a stopped channel too, which START CHANNEL does as well.
    world.admission.empty().await;
    assert_eq!(world.registry.stop("CH", false), Ok(0));
    assert_eq!(stop(&inactive("")), Ok(0));
    assert!(!world.registry.is_stopped("CH"));
    let unknown = world.registry.stop_as("NONE", &inactive(""));
    assert_eq!(unknown, Err(StopError::NotFound));
}

/// CONNAME and QMNAME choose among the instances, and leave the channel as it is.
#[tokio::test]
async fn the_instances_of_one_partner_are_stopped() {
    let world = World::new().await;
    let mut client = world.client().await;
    let stop = |how: &StopChannel| world.registry.stop_as("CH", how);
    assert_eq!(stop(&inactive("192.0.2.1")), Err(StopError::NotActive));
    let of_q_mgr = StopChannel {
        q_mgr: Some("QM2".to_owned()),
        ..inactive("127.0.0.1")
    };
    assert_eq!(stop(&of_q_mgr), Err(StopError::NotActive));
    client.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(stop(&inactive("127.0.0.1")), Ok(1));
    assert_eq!(client.fate().await, Fate::Ended(Status::USER_CLOSED));
    drop(client);
    world.admission.empty().await;
    world.registry.stop("CH", false).unwrap();
    assert_eq!(stop(&inactive("127.0.0.1")), Err(StopError::NotActive));
    assert!(world.registry.is_stopped("CH"));
}

/// Whoever came by a channel that was deleted does not stay, and its name is a new channel's.
#[tokio::test]
async fn a_deleted_channel_leaves_nobody_behind() {
    let world = World::new().await;
    assert!(!world.registry.is_in_use("CH"));
    let mut half = Client::agreed(world.socket().await, &Client::<TcpStream>::offer("CH"))
        .await
        .unwrap();
    assert!(!world.registry.is_in_use("CH"), "nobody has connected");
    let mut client = world.client().await;
    assert!(world.registry.is_in_use("CH"));
    let mut other = Client::connected(
        world.socket().await,
        &Client::<TcpStream>::offer("CH.ALONE"),
    )
    .await;
    world.registry.deleted("CH");
    assert_eq!(half.fate().await, Fate::Ended(Status::USER_CLOSED));
    assert_eq!(client.fate().await, Fate::Ended(Status::USER_CLOSED));
    assert_eq!(calls(&mut other).await, (CompCode::Ok, Reason::NONE));
    world.registry.stop("CH", false).unwrap();
    world.registry.deleted("CH");
    assert!(!world.registry.is_stopped("CH"));
}

/// The last connection that was made.
fn newest(world: &World) -> u64 {
    world.qm.connection_status().last().unwrap().number
}

async fn calls(client: &mut Client<TcpStream>) -> (CompCode, Reason) {
    let (outcome, _) = client.call(Hobj::NONE, &Request::Commit).await;
    (outcome.comp_code, outcome.reason)
}

/// STOP CONN of the only one on a socket: the MQGET that waits is told, then the socket is closed.
#[tokio::test]
async fn a_connection_that_an_operator_stops_is_told_and_its_socket_closed() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_SYNCPOINT, b"lost").await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    // Begun, when a call on another conversation is answered.
    let (waiting, other) = (client.id, client.another().await);
    let number = world.qm.connection_status()[0].number;
    world.qm.stop_connection(number).await.unwrap();
    client.id = waiting;
    assert_eq!(client.got().await, Err(Reason::CONNECTION_BROKEN));
    // The other conversation is somebody else's.
    assert_eq!(calls(&mut client).await.1, Reason::CONNECTION_BROKEN);
    client.id = other;
    assert_eq!(calls(&mut client).await, (CompCode::Ok, Reason::NONE));
    world.qm.stop_connection(newest(&world)).await.unwrap();
    assert_eq!(client.fate().await, Fate::Ended(Status::USER_CLOSED));
    assert_eq!(Status::USER_CLOSED.ending(), Reason::CONNECTION_BROKEN);
    world.admission.empty().await;
    assert_eq!((world.depth("Q1"), world.qm.connections()), (0, 0));
    assert!(world.operator.channels().is_empty());
}

/// An application that is idle, or is sent messages as they come.
#[tokio::test]
async fn who_makes_no_call_is_told_that_the_connection_was_stopped() {
    let world = World::new().await;
    let mut idle = world.client().await;
    world.qm.stop_connection(newest(&world)).await.unwrap();
    assert_eq!(idle.fate().await, Fate::Ended(Status::USER_CLOSED));
    let mut consumer = world.client().await;
    let queue = consumer.open("Q1").await;
    ask(
        &mut consumer,
        &wanting(queue, MQGMO_NO_SYNCPOINT | MQGMO_WAIT),
    );
    consumer.call(Hobj::NONE, &Request::Commit).await;
    let number = newest(&world);
    // The socket is another's too.
    consumer.another().await;
    world.qm.stop_connection(number).await.unwrap();
    let broken = (Notification::GET_INHIBITED, Reason::CONNECTION_BROKEN);
    assert_eq!(notice(&mut consumer, queue).await, broken);
    world.qm.stop_connection(newest(&world)).await.unwrap();
    assert_eq!(consumer.fate().await, Fate::Ended(Status::USER_CLOSED));
    world.admission.empty().await;
}
