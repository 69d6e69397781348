//! What one peer can take of a queue manager: memory for unfinished flows, turns to be read, places.

use std::sync::Arc;
use std::time::Duration;

use posthaste_channel::Limits;
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQIA_INHIBIT_GET, MQPMO_ASYNC_RESPONSE, MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT,
};
use posthaste_mqi::{Hobj, Md, Pmo, Reason};
use posthaste_net::{Address, Admission, Listener, Options, Peer, Refused, Stream, Watcher};
use posthaste_wire::client::{ClientOffer, ClientPut};
use posthaste_wire::request::SetRequest;
use posthaste_wire::{Request, Segment, Status};
use tokio::io::DuplexStream;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::client::{Client, Fate, Wire, conn};
use crate::world::{World, lanes};

type Raw = Client<TcpStream>;

/// The bytes of a put, cut before its last segment.
pub(crate) fn begun<S: Wire>(
    client: &mut Client<S>,
    id: u32,
    handle: Hobj,
    options: i32,
    length: usize,
) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = Vec::new();
    let (md, data) = (Md::default(), vec![7; length]);
    let pmo = Pmo {
        version: 2,
        options,
        ..Pmo::default()
    };
    let put = ClientPut {
        handle,
        md: &md,
        pmo: &pmo,
        data: &data,
        answered: options & MQPMO_ASYNC_RESPONSE == 0,
    };
    client.socket.put(&mut bytes, id, &put);
    let (mut at, mut last) = (0, 0);
    while let Some(segment) = Segment::next(&bytes[at..], usize::MAX).unwrap() {
        last = at;
        at += segment.length;
    }
    let end = bytes.split_off(last);
    (bytes, end)
}

/// A client with three conversations, each with Q1 open, of a channel for messages of 100,000 bytes.
async fn three_conversations(world: &World) -> (Raw, [u32; 3], Hobj) {
    let mut client = world.client().await;
    let ids = [client.id, client.another().await, client.another().await];
    let mut handles = Vec::new();
    for id in ids {
        client.id = id;
        handles.push(client.open("Q1").await);
    }
    assert!(handles.iter().all(|handle| *handle == handles[0]));
    (client, ids, handles[0])
}

#[tokio::test]
async fn unfinished_messages_have_a_budget_for_each_socket_and_one_for_all() {
    let world = World::with(Limits {
        unfinished: 200_000,
        unfinished_in_all: 300_000,
        ..Limits::default()
    })
    .await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MAXMSGL(100000)");
    let (mut first, ids, queue) = three_conversations(&world).await;
    let (mut second, others, _) = three_conversations(&world).await;
    let mut ends = Vec::new();
    for (client, ids) in [(&mut first, ids), (&mut second, others)] {
        for id in ids {
            let (begin, end) = begun(client, id, queue, MQPMO_NO_SYNCPOINT, 90_000);
            client.out.extend(begin);
            ends.push(end);
        }
        // A verb of a conversation with an unfinished flow is answered when everything before it has been taken in.
        client.id = client.another().await;
        client.call(Hobj::NONE, &Request::Commit).await;
        assert!(world.registry.unfinished() <= 300_000);
    }
    let mut outcomes = Vec::new();
    let mut ends = ends.into_iter();
    for (client, ids) in [(&mut first, ids), (&mut second, others)] {
        for id in ids {
            client.out.extend(ends.next().unwrap());
            outcomes.push(client.reply(id).await.0.reason);
        }
    }
    let (done, refused) = (Reason::NONE, Reason::STORAGE_NOT_AVAILABLE);
    assert_eq!(outcomes, [done, done, refused, done, refused, refused]);
    assert_eq!(world.registry.unfinished(), 0, "everything was given back");
    assert_eq!(world.depth("Q1"), 3);
    assert_eq!(world.operator.channels(), ["AMQ9211E"; 3]);
    let inserts = world.operator.inserts("AMQ9211E");
    assert_eq!(inserts[..2], ["CH", "127.0.0.1"]);
    // The connection goes on, and later there is room.
    second.id = others[2];
    second.put(queue, MQPMO_NO_SYNCPOINT, &[7; 90_000]).await;
}

#[tokio::test]
async fn a_refused_asynchronous_put_dooms_its_unit_of_work() {
    let world = World::with(Limits {
        unfinished_in_all: 50_000,
        ..Limits::default()
    })
    .await;
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    client.put(queue, MQPMO_SYNCPOINT, b"small").await;
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    client.send_put(queue, &Md::default(), asynchronous, &[7; 90_000]);
    let (outcome, _) = client.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(outcome.reason, Reason::BACKED_OUT);
    assert_eq!(world.depth("Q3"), 0);
}

/// A client that has begun a put of 90,000 bytes, on a queue manager that gives a message up after 20 s.
struct Begun {
    world: World,
    served: JoinHandle<()>,
    client: Client<DuplexStream>,
    /// The last segment, which has not been sent.
    end: Vec<u8>,
}

impl Begun {
    async fn new() -> Begun {
        let world = World::quiet(Limits {
            stall: Duration::from_secs(20),
            ..Limits::default()
        })
        .await;
        let (near, far) = tokio::io::duplex(200_000);
        let served = world.serve(far);
        let mut client = Client::connected(near, &Client::<DuplexStream>::offer("CH")).await;
        let (queue, id) = (client.open("Q1").await, client.id);
        let (begin, end) = begun(&mut client, id, queue, MQPMO_NO_SYNCPOINT, 90_000);
        client.out.extend(begin);
        client.flush().await;
        Begun {
            world,
            served,
            client,
            end,
        }
    }

    /// The channel has ended because of the message, and nothing of it is left.
    async fn was_given_up(self) {
        self.served.await.unwrap();
        assert_eq!(self.world.registry.unfinished(), 0);
        assert_eq!(self.world.operator.channels(), ["AMQ9259E", "AMQ9999E"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_go_on_ends_the_channel() {
    let mut begun = Begun::new().await;
    let began = Instant::now();
    let fate = timeout(Duration::from_secs(200), begun.client.fate()).await;
    assert_eq!(fate, Ok(Fate::Eof));
    let waited = began.elapsed().as_secs();
    assert!((20..=41).contains(&waited), "{waited} s");
    begun.was_given_up().await;
}

/// A segment of one byte now and then keeps no memory for ever.
#[tokio::test(start_paused = true)]
async fn a_message_that_hardly_goes_on_ends_the_channel() {
    let mut begun = Begun::new().await;
    let segment = Segment::next(&begun.end, usize::MAX).unwrap().unwrap();
    let header = segment.length - segment.body.len();
    let mut one = begun.end[..=header].to_vec();
    let length = u32::try_from(one.len()).unwrap();
    one[4..8].copy_from_slice(&length.to_be_bytes());
    // The control flags: it is neither the first segment nor the last.
    one[18] = 0;
    let client = &mut begun.client;
    let dripping = async {
        for _ in 0..20 {
            client.out.extend(&one);
            client.flush().await;
            if let Ok(fate) = timeout(Duration::from_secs(10), client.fate()).await {
                return Some(fate);
            }
        }
        None
    };
    assert_eq!(dripping.await, Some(Fate::Eof));
    begun.was_given_up().await;
}

/// More gets wait than requests may pile up; a commit beside them is carried out all the same.
#[tokio::test]
async fn waiting_gets_do_not_keep_a_socket_from_being_read() {
    let world = World::new().await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) SHARECNV(400)");
    let offer = ClientOffer {
        conversations: 400,
        ..Raw::offer("CH")
    };
    let mut client = Client::connected(world.socket().await, &offer).await;
    let first = client.id;
    for _ in 0..300 {
        client.id = client.another().await;
        let queue = client.open("Q1").await;
        client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    }
    client.id = first;
    let commit = client.call(Hobj::NONE, &Request::Commit);
    let answered = timeout(Duration::from_secs(20), commit).await;
    let (outcome, _) = answered.expect("the commit is read");
    assert_eq!(outcome.reason, Reason::NONE);
}

/// Nobody sends on a conversation whose MQGET waits; whoever does may not keep the room of all others full meanwhile.
#[tokio::test]
async fn nothing_long_is_kept_behind_a_get_that_waits() {
    let set = SetRequest {
        selectors: vec![MQIA_INHIBIT_GET],
        ints: vec![0],
        chars: vec![7; 90_000],
    };
    let set = Request::Set(Box::new(set));
    for (waits_already, puts) in [(false, true), (true, true), (true, false)] {
        let world = World::new().await;
        let mut client = world.client().await;
        let (first, other) = (client.id, client.another().await);
        client.id = first;
        let queue = client.open("Q1").await;
        client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
        if waits_already {
            client.id = other;
            client.call(Hobj::NONE, &Request::Commit).await;
            client.id = first;
        }
        if puts {
            client.send_put(queue, &Md::default(), MQPMO_NO_SYNCPOINT, &[7; 90_000]);
        } else {
            client.send(queue, &set);
        }
        let fate = timeout(Duration::from_secs(20), client.fate()).await;
        assert_eq!(fate, Ok(Fate::Ended(Status::PROTOCOL_ERROR)));
        world.admission.empty().await;
        assert_eq!((world.registry.unfinished(), world.depth("Q1")), (0, 0));
    }
}

/// What follows an MQCONN is not taken before that has succeeded: no flow is put together for a stranger.
#[tokio::test]
async fn nothing_is_taken_between_an_mqconn_and_its_answer() {
    let world = World::new().await;
    let mut client = Client::agreed(world.socket().await, &Raw::offer("CH"))
        .await
        .unwrap();
    client.send(Hobj::NONE, &conn("NOT.HERE"));
    let id = client.id;
    let (begin, _) = begun(&mut client, id, Hobj(1), MQPMO_NO_SYNCPOINT, 90_000);
    client.out.extend(begin);
    assert_eq!(client.fate().await, Fate::Ended(Status::PROTOCOL_ERROR));
    world.admission.empty().await;
    let [_, _, why] = &world.operator.inserts("AMQ9504E")[..] else {
        panic!("three inserts")
    };
    assert!(
        why.contains("before MQCONN") || why.contains("bytes where"),
        "{why}"
    );
    assert_eq!(world.registry.unfinished(), 0);
}

/// Closes whom it is told of.
struct Closing;

impl Watcher for Closing {
    fn refused(&self, _: &Peer, _: Refused, stream: Stream) {
        drop(stream);
    }
    fn failed(&self, error: &std::io::Error) {
        panic!("accept failed: {error}");
    }
}

#[tokio::test]
async fn sockets_without_a_word_keep_nobody_out() {
    let world = World::quiet(Limits::default()).await;
    let any = Address::Tcp(([127, 0, 0, 1], 0).into());
    let listener = Listener::bind(&any, Options::default()).unwrap();
    let Ok(Address::Tcp(address)) = listener.address() else {
        panic!("a TCP address")
    };
    let admission = Admission::new(posthaste_net::Limits {
        connections: 3,
        per_address: 3,
    });
    let registry = Arc::clone(&world.registry);
    let lanes = lanes(1);
    let served = lanes.clone();
    let serve = move |accepted| registry.serve(accepted, &served);
    let listening = lanes.listen(listener, admission, Arc::new(Closing), serve);
    let mut silent = Vec::new();
    for _ in 0..3 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    // As soon as they are not young any more, one of them has to go.
    let served = async {
        loop {
            let stream = TcpStream::connect(address).await.unwrap();
            if let Ok(mut client) = Client::agreed(stream, &Raw::offer("CH")).await {
                client.call(Hobj::NONE, &conn("QM1")).await;
                return client;
            }
        }
    };
    let mut client = timeout(Duration::from_secs(20), served)
        .await
        .expect("served within the handshake time of the silent");
    assert_eq!(
        client.call(Hobj::NONE, &Request::Commit).await.0.reason,
        Reason::NONE
    );
    listening.close().await;
}
