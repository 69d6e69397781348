//! Laws of channels that hold, and do not with a bug planted: what an instrument sees of it.

use std::time::Duration;

use posthaste_channel::Limits;
use posthaste_engine::plant::{Bug, plant};
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQOD_VERSION_4, MQOO_INPUT_SHARED, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{CompCode, Hobj, Name, Od, Reason};
use posthaste_wire::Request;
use posthaste_wire::client::ClientOffer;
use tokio::io::DuplexStream;
use tokio::time::timeout;

use crate::budgets::begun;
use crate::client::Client;
use crate::world::World;

type Piped = Client<DuplexStream>;

async fn client(world: &World, offer: ClientOffer) -> Piped {
    let (near, far) = tokio::io::duplex(1 << 20);
    drop(world.serve(far));
    Client::connected(near, &offer).await
}

/// Plants a bug on this thread while it lives. All tasks of a test run on its thread.
struct Planted;

impl Planted {
    fn new(bug: Bug) -> Planted {
        plant(Some(bug));
        Planted
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        plant(None);
    }
}

/// A get by a handle with a selector gives nothing else than it selects.
async fn a_selector_selects() -> bool {
    let world = World::quiet(Limits::default()).await;
    let mut client = client(&world, Piped::offer("CH")).await;
    let od = Od {
        version: MQOD_VERSION_4,
        object_name: Name::new("Q1"),
        selection_string: "color = 'red'".to_owned(),
        ..Od::default()
    };
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"plain").await;
    let (outcome, _) = client.try_open(od, MQOO_INPUT_SHARED).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    let got = client.get(outcome.handle, MQGMO_NO_SYNCPOINT, 0).await;
    got.map(drop) == Err(Reason::NO_MSG_AVAILABLE)
}

/// Unfinished messages take no more than their budget.
async fn unfinished_messages_stay_within_their_budget() -> bool {
    let most = 200_000;
    let world = World::quiet(Limits {
        unfinished: most,
        unfinished_in_all: most,
        ..Limits::default()
    })
    .await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MAXMSGL(100000)");
    let mut client = client(&world, Piped::offer("CH")).await;
    for _ in 0..3 {
        client.id = client.another().await;
        let (queue, id) = (client.open("Q1").await, client.id);
        let (begin, _) = begun(&mut client, id, queue, MQPMO_NO_SYNCPOINT, 90_000);
        client.out.extend(begin);
    }
    client.id = client.another().await;
    client.call(Hobj::NONE, &Request::Commit).await;
    world.registry.unfinished() <= most
}

/// An MQGET that waits keeps no output buffer.
async fn a_wait_keeps_no_buffer() -> bool {
    let world = World::quiet(Limits::default()).await;
    let mut client = client(&world, Piped::offer("CH")).await;
    let queue = client.open("Q1").await;
    client
        .put(queue, MQPMO_NO_SYNCPOINT, &vec![7; 40_000])
        .await;
    client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    let waits = timeout(Duration::from_secs(1), client.event()).await;
    assert!(waits.is_err(), "{waits:?}");
    world.registry.kept_for_output() == 0
}

/// However many MQGETs wait on a socket, it is read.
async fn waits_leave_a_socket_readable() -> bool {
    let world = World::quiet(Limits::default()).await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) SHARECNV(400)");
    let offer = ClientOffer {
        conversations: 400,
        ..Piped::offer("CH")
    };
    let mut client = client(&world, offer).await;
    let waits = async {
        for _ in 0..300 {
            client.id = client.another().await;
            let queue = client.open("Q1").await;
            client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
        }
    };
    timeout(Duration::from_secs(20), waits).await.is_ok()
}

macro_rules! breaks {
    ($test:ident, $law:ident, $bug:expr) => {
        #[tokio::test(start_paused = true)]
        async fn $test() {
            assert!($law().await, "without the bug");
            let _planted = Planted::new($bug);
            assert!(!$law().await, "with {:?}", $bug);
        }
    };
}

breaks!(
    a_selector_that_is_ignored_is_found,
    a_selector_selects,
    Bug::IgnoredSelector
);
breaks!(
    flows_without_a_budget_are_found,
    unfinished_messages_stay_within_their_budget,
    Bug::UnbudgetedFlows
);
breaks!(
    a_buffer_kept_by_a_wait_is_found,
    a_wait_keeps_no_buffer,
    Bug::WaitKeepsBuffer
);
breaks!(
    waits_that_stop_the_reading_are_found,
    waits_leave_a_socket_readable,
    Bug::WaitsStopReading
);
