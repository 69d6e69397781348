//! Lengths of segments on the wire: where conversations share the socket, they are multiples of four.

use posthaste_mqi::constants::{
    MQCA_Q_NAME, MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_NO_SYNCPOINT, MQOO_INQUIRE, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Name, Od, Reason};
use posthaste_wire::Request;
use posthaste_wire::client::ClientOffer;
use posthaste_wire::request::InqRequest;
use tokio::net::TcpStream;

use crate::client::Client;
use crate::streams::{ask, next, wanting};
use crate::world::World;

type Raw = Client<TcpStream>;

/// A client that has agreed on segments of at most so many bytes.
async fn client(world: &World, channel: &str, max_transmission: u32) -> Raw {
    let offer = ClientOffer {
        max_transmission,
        ..Raw::offer(channel)
    };
    Client::connected(world.socket().await, &offer).await
}

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n % 251) as u8 + 1).collect()
}

/// Messages of every remainder, in one segment and in several, whole and truncated, by calls and without.
async fn traffic(client: &mut Raw) {
    let queue = client.open("Q1").await;
    let lengths = [0, 1, 2, 3, 4, 5, 2_001, 4_002, 70_003];
    for length in lengths {
        client.put(queue, MQPMO_NO_SYNCPOINT, &text(length)).await;
        let got = client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
        assert!(got.data == text(length), "{length}");
    }
    for (length, room) in [(9, 5), (70_003, 4_001)] {
        client.put(queue, MQPMO_NO_SYNCPOINT, &text(length)).await;
        let options = MQGMO_NO_SYNCPOINT | MQGMO_ACCEPT_TRUNCATED_MSG;
        client.send_get(queue, options, 0, room);
        let (reason, got) = client.got().await.unwrap();
        assert_eq!(reason, Reason::TRUNCATED_MSG_ACCEPTED);
        assert_eq!(got.length, length);
        assert!(got.data == text(room as usize), "{length} in {room}");
    }
    let inquired = InqRequest {
        selectors: vec![MQCA_Q_NAME],
        int_count: 0,
        char_length: 47,
    };
    let od = Od {
        object_name: Name::new("Q1"),
        ..Od::default()
    };
    let (opened, _) = client.try_open(od, MQOO_INQUIRE).await;
    let (outcome, _) = client.call(opened.handle, &Request::Inq(inquired)).await;
    assert_eq!(outcome.reason, Reason::CHAR_ATTRS_TOO_SHORT);
    for length in lengths {
        client.put(queue, MQPMO_NO_SYNCPOINT, &text(length)).await;
    }
    ask(client, &wanting(queue, MQGMO_NO_SYNCPOINT));
    for length in lengths {
        let (reason, _, _, data) = next(client).await;
        assert_eq!(reason, Reason::NONE);
        assert!(data == text(length), "{length}");
    }
}

#[tokio::test]
async fn segments_of_a_shared_socket_are_multiples_of_four() {
    let world = World::new().await;
    for most in [32_748, 2_001, 2_002, 2_003] {
        let mut client = client(&world, "CH", most).await;
        traffic(&mut client).await;
        assert!(client.lengths.len() > 30);
        let other: Vec<&usize> = client.lengths.iter().filter(|l| *l % 4 != 0).collect();
        assert!(other.is_empty(), "of at most {most}: {other:?}");
        let longest = client.lengths.iter().max().unwrap();
        assert!(*longest <= most as usize, "{longest}");
        client.disconnect().await;
    }
}

/// Nothing is added where nothing is shared.
#[tokio::test]
async fn segments_of_a_socket_of_one_are_as_long_as_what_they_hold() {
    let world = World::new().await;
    let mut client = client(&world, "CH.OLD", 32_748).await;
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, &text(5)).await;
    let whole = |client: &Raw| *client.lengths.last().unwrap();
    let got = client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    let five = whole(&client);
    client.put(queue, MQPMO_NO_SYNCPOINT, &[]).await;
    client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!((&got.data[..], five - whole(&client)), (&text(5)[..], 5));
}
