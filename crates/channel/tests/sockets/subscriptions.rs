//! Subscriptions through a channel: their handles, their queues, and how they end.

use posthaste_engine::Application;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Hobj, Md, Name, Od, Pmo, Reason, Sd, Sro};
use posthaste_wire::client::ClientOffer;
use posthaste_wire::request::{InqRequest, OpenDefaults};
use posthaste_wire::spi::{SpiOpen, SpiReply, SpiRequest};
use posthaste_wire::subscribe::{SpiSubscribe, SubRequest, SubRqRequest};
use posthaste_wire::{Outcome, Reply, Request};
use tokio::net::TcpStream;

use crate::client::Client;
use crate::world::World;

type Raw = Client<TcpStream>;

const MANAGED: i32 = MQSO_CREATE | MQSO_MANAGED;
/// What the JMS client asks for: a durable subscription, made or taken over.
const DURABLE: i32 = MANAGED | MQSO_ALTER | MQSO_DURABLE | MQSO_ANY_USERID | MQSO_FAIL_IF_QUIESCING;
/// How it finds one that it is to end.
const TO_END: i32 = MQSO_RESUME | MQSO_MANAGED | MQSO_DURABLE | MQSO_ANY_USERID;
/// How the JMS client opens the queue of a subscription.
const TO_READ: i32 = MQOO_INPUT_AS_Q_DEF | MQOO_BROWSE | MQOO_INQUIRE | MQOO_FAIL_IF_QUIESCING;

fn sd(options: i32, name: &str, topic: &str) -> Sd {
    Sd {
        options,
        sub_name: name.to_owned(),
        object_string: topic.to_owned(),
        res_object_string_size: 10_240,
        ..Sd::default()
    }
}

/// MQSUB: the handles of the messages and of the subscription.
async fn sub(client: &mut Raw, own: Hobj, sd: Sd) -> Result<(Hobj, Hobj, Sd), Reason> {
    let request = SubRequest {
        subscription: Hobj::UNUSABLE,
        reserved: 0,
        sd,
    };
    match client.call(own, &Request::Sub(Box::new(request))).await {
        (outcome, Reply::Sub(sub)) => Ok((outcome.handle, sub.subscription, sub.sd)),
        (outcome, Reply::Empty) => Err(outcome.reason),
        other => panic!("{other:?}"),
    }
}

/// SPI SUBSCRIBE, as a client library of JMS makes it: the handle of the messages, and the rest.
async fn spi_sub(
    client: &mut Raw,
    lsd_options: u32,
    sd: Sd,
) -> Result<(Hobj, Box<SpiSubscribe>), Reason> {
    let request = SpiSubscribe {
        subscription: Hobj::NONE,
        lsd_options,
        head: [0; 20],
        id: [0; 24],
        behind_id: [0; 4],
        open_options: TO_READ,
        queue: Name::BLANK,
        q_mgr: Name::BLANK,
        middle: [0; 24],
        tail: [3, 0, 1],
        sd,
    };
    let request = Request::Spi(SpiRequest::Subscribe(Box::new(request)));
    match client.call(Hobj::NONE, &request).await {
        (outcome, Reply::Spi(SpiReply::Subscribe(sub))) => Ok((outcome.handle, sub)),
        (outcome, Reply::Empty) => Err(outcome.reason),
        other => panic!("{other:?}"),
    }
}

async fn close(client: &mut Raw, handle: Hobj, options: i32) -> Outcome {
    client.call(handle, &Request::Close { options }).await.0
}

/// The queue that a handle is open on.
async fn queue_of(client: &mut Raw, handle: Hobj) -> String {
    let inq = InqRequest {
        selectors: vec![MQCA_Q_NAME],
        int_count: 0,
        char_length: 48,
    };
    match client.call(handle, &Request::Inq(inq)).await {
        (_, Reply::Inq(inq)) => String::from_utf8(inq.chars).unwrap().trim_end().to_owned(),
        other => panic!("{other:?}"),
    }
}

/// Whether a queue can be opened.
async fn is_there(client: &mut Raw, queue: &str) -> bool {
    let od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    let (outcome, _) = client.try_open(od, MQOO_OUTPUT).await;
    if outcome.reason != Reason::NONE {
        assert_eq!(outcome.reason, Reason::UNKNOWN_OBJECT_NAME);
        return false;
    }
    close(client, outcome.handle, MQCO_NONE).await;
    true
}

async fn put_to(client: &mut Raw, queue: &str, data: &[u8]) {
    let target = client.open(queue).await;
    client.put(target, MQPMO_NO_SYNCPOINT, data).await;
    close(client, target, MQCO_NONE).await;
}

#[tokio::test]
async fn a_managed_subscription_has_its_queue_until_its_handles_are_closed() {
    let world = World::new().await;
    let mut other = world.client().await;
    for channel in ["CH", "CH.ALONE", "CH.OLD"] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let offer = ClientOffer {
                order,
                ..Raw::offer(channel)
            };
            let mut client = Client::connected(world.socket().await, &offer).await;
            let made = sub(&mut client, Hobj::NONE, sd(MANAGED, "", "prices/fruit")).await;
            let (hobj, hsub, sd) = made.unwrap();
            assert_ne!(hobj, hsub);
            assert_eq!(sd.res_object_string, "prices/fruit");
            assert_ne!(sd.sub_correl_id, MQCI_NONE);
            let queue = queue_of(&mut client, hobj).await;
            assert!(queue.starts_with("SYSTEM.MANAGED.NDURABLE."), "{queue}");
            put_to(&mut other, &queue, b"an apple").await;
            let got = client.get(hobj, MQGMO_NO_SYNCPOINT, 30_000).await.unwrap();
            assert_eq!(&got.data[..], b"an apple");
            for handle in [hobj, hsub] {
                assert_eq!(
                    close(&mut client, handle, MQCO_NONE).await.reason,
                    Reason::NONE
                );
            }
            assert!(!is_there(&mut other, &queue).await, "{queue}");
            client.disconnect().await;
        }
    }
}

#[tokio::test]
async fn an_application_may_bring_its_own_queue() {
    let world = World::new().await;
    let mut client = world.client().await;
    let own = client.open("Q1").await;
    let (hobj, hsub, _) = sub(&mut client, own, sd(MQSO_CREATE, "", "a/b"))
        .await
        .unwrap();
    assert_eq!(hobj, own, "it is the handle of the messages");
    assert_ne!(hsub, own);
    assert_eq!(
        close(&mut client, hsub, MQCO_NONE).await.reason,
        Reason::NONE
    );
    put_to(&mut client, "Q1", b"still open").await;
    let got = client.get(own, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"still open");
}

#[tokio::test]
async fn a_durable_subscription_of_jms_outlives_its_connection_until_it_is_removed() {
    let world = World::new().await;
    let name = "JMS:QM1:client1:durable";
    let mut client = world.client().await;
    let made = spi_sub(&mut client, 0x4000_0000, sd(DURABLE, name, "d/e")).await;
    let (hobj, first) = made.unwrap();
    let queue = first.queue.text().into_owned();
    assert!(queue.starts_with("SYSTEM.MANAGED.DURABLE."), "{queue}");
    assert_eq!(first.q_mgr.text(), "QM1");
    assert_eq!(queue_of(&mut client, hobj).await, queue);
    assert_eq!((first.tail, first.open_options), ([3, 0, 1], TO_READ));
    let mut second = world.client().await;
    let taken = spi_sub(&mut second, 0x4000_0000, sd(DURABLE, name, "d/e")).await;
    assert_eq!(taken.err(), Some(Reason::SUBSCRIPTION_IN_USE));
    client.disconnect().await;
    put_to(&mut second, &queue, b"meanwhile").await;
    let (hobj, resumed) = spi_sub(&mut second, 0x4000_0000, sd(DURABLE, name, "d/e"))
        .await
        .unwrap();
    assert_eq!(resumed.queue, first.queue);
    let got = second.get(hobj, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"meanwhile");
    for handle in [hobj, resumed.subscription] {
        assert_eq!(
            close(&mut second, handle, MQCO_NONE).await.reason,
            Reason::NONE
        );
    }
    // The client ends it by its name.
    let (hobj, last) = spi_sub(&mut second, 0, sd(TO_END, name, "")).await.unwrap();
    assert_eq!(last.sd.res_object_string, "d/e");
    assert_eq!(
        close(&mut second, last.subscription, MQCO_REMOVE_SUB)
            .await
            .reason,
        Reason::NONE
    );
    assert_eq!(
        close(&mut second, hobj, MQCO_NONE).await.reason,
        Reason::NONE
    );
    assert!(!is_there(&mut second, &queue).await);
    let gone = spi_sub(&mut second, 0, sd(TO_END, name, "")).await;
    assert_eq!(gone.err(), Some(Reason::NO_SUBSCRIPTION));
}

#[tokio::test]
async fn connections_share_a_subscription_that_says_so() {
    let world = World::new().await;
    let (mut a, mut b) = (world.client().await, world.client().await);
    let shared = || sd(DURABLE, "JMS:QM1:client1:shared", "d/e");
    let (qa, of_a) = spi_sub(&mut a, 0x4000_0050, shared()).await.unwrap();
    let (qb, of_b) = spi_sub(&mut b, 0x4000_0050, shared()).await.unwrap();
    assert_eq!(of_a.queue, of_b.queue);
    let alone = spi_sub(&mut b, 0x4000_0000, shared()).await;
    assert_eq!(alone.err(), Some(Reason::SUBSCRIPTION_IN_USE));
    let queue = of_a.queue.text().into_owned();
    for data in [b"one", b"two"] {
        put_to(&mut a, &queue, data).await;
    }
    let one = a.get(qa, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    let two = b.get(qb, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!((&one.data[..], &two.data[..]), (&b"one"[..], &b"two"[..]));
}

#[tokio::test]
async fn what_cannot_be_subscribed_to_is_refused_with_its_reason() {
    let world = World::new().await;
    let mut client = world.client().await;
    for (own, sd, reason) in [
        (Hobj::NONE, sd(MQSO_MANAGED, "", "a"), Reason::OPTIONS_ERROR),
        (Hobj(77), sd(MQSO_CREATE, "", "a"), Reason::HOBJ_ERROR),
        (
            Hobj::NONE,
            sd(MANAGED | MQSO_DURABLE, "", "a"),
            Reason::SUB_NAME_ERROR,
        ),
        (
            Hobj::NONE,
            sd(MQSO_RESUME, "NONE", ""),
            Reason::NO_SUBSCRIPTION,
        ),
    ] {
        let refused = sub(&mut client, own, sd.clone()).await;
        assert_eq!(refused.err(), Some(reason), "{sd:?}");
    }
    let (_, hsub, _) = sub(&mut client, Hobj::NONE, sd(MANAGED, "", "a"))
        .await
        .unwrap();
    for (handle, action, reason) in [
        (hsub, MQSR_ACTION_PUBLICATION, Reason::NO_RETAINED_MSG),
        (hsub, 9, Reason::ACTION_ERROR),
        (Hobj(77), MQSR_ACTION_PUBLICATION, Reason::HOBJ_ERROR),
    ] {
        let sro = Sro::default();
        let request = Request::SubRq(SubRqRequest { action, sro });
        let (outcome, reply) = client.call(handle, &request).await;
        assert_eq!(
            (outcome.reason, reply),
            (reason, Reply::Empty),
            "{handle:?}"
        );
    }
}

fn topic(string: &str) -> Od {
    Od {
        version: 4,
        object_type: MQOT_TOPIC,
        object_string: string.to_owned(),
        ..Od::default()
    }
}

/// Opens a topic for publications as client libraries do.
async fn spi_open(client: &mut Raw, string: &str) -> Hobj {
    let open = SpiOpen {
        options: MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING,
        lpi_options: 0,
        defaults: OpenDefaults::default(),
        od: topic(string),
    };
    let request = Request::Spi(SpiRequest::Open(Box::new(open)));
    let (outcome, reply) = client.call(Hobj::UNUSABLE, &request).await;
    assert_eq!(outcome.reason, Reason::NONE);
    assert!(matches!(reply, Reply::Spi(SpiReply::Open(_))), "{reply:?}");
    outcome.handle
}

/// A session of the queue manager's own process publishes.
async fn publish_locally(world: &World, string: &str, data: &'static [u8]) {
    let session = world.qm.connect(Application::default()).unwrap();
    let handle = session.open(&mut topic(string), MQOO_OUTPUT).await.unwrap();
    let (mut md, mut pmo) = (Md::default(), Pmo::default());
    pmo.options = MQPMO_NO_SYNCPOINT;
    let put = session.put(handle.value, &mut md, &mut pmo, data.into());
    put.await.unwrap();
    session.disconnect().await.unwrap();
}

#[tokio::test]
async fn publications_reach_whoever_subscribed_until_he_no_longer_does() {
    let world = World::new().await;
    let (mut client, mut publisher) = (world.client().await, world.client().await);
    let wild = sd(MANAGED | MQSO_WILDCARD_TOPIC, "", "prices/#");
    let (all, of_all) = spi_sub(&mut client, 0, wild).await.unwrap();
    let pears = sd(MANAGED, "", "prices/pears");
    let (pears, of_pears, _) = sub(&mut client, Hobj::NONE, pears).await.unwrap();
    publish_locally(&world, "prices/apples", b"apples").await;
    let target = spi_open(&mut publisher, "prices/pears").await;
    publisher.put(target, MQPMO_SYNCPOINT, b"pears").await;
    let early = client.get(pears, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(early, Err(Reason::NO_MSG_AVAILABLE));
    let (outcome, _) = publisher.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(outcome.reason, Reason::NONE);
    for (from, data) in [(all, &b"apples"[..]), (all, b"pears"), (pears, b"pears")] {
        let got = client.get(from, MQGMO_NO_SYNCPOINT, 30_000).await.unwrap();
        assert_eq!(&got.data[..], data);
    }
    let ended = close(&mut client, of_pears, MQCO_NONE).await;
    assert_eq!(ended.reason, Reason::NONE);
    publisher.put(target, MQPMO_NO_SYNCPOINT, b"more").await;
    let got = client.get(all, MQGMO_NO_SYNCPOINT, 30_000).await.unwrap();
    assert_eq!(&got.data[..], b"more");
    // The handle of its messages is still open, and none came to it.
    let none = client.get(pears, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(none, Err(Reason::NO_MSG_AVAILABLE));
    for handle in [all, of_all.subscription, pears] {
        let closed = close(&mut client, handle, MQCO_NONE).await;
        assert_eq!(closed.reason, Reason::NONE);
    }
    publisher
        .put(target, MQPMO_NO_SYNCPOINT, b"to nobody")
        .await;
}
