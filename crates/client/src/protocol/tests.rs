//! The state machine against the server's own, in memory: every byte is carried by the test.

use posthaste_mqi::{Gmo, Md};
use posthaste_wire::reply::Answer;
use posthaste_wire::request::ConnRequest;
use posthaste_wire::server::{Incoming, ServerSocket};
use posthaste_wire::{Envelope, Flags, Header, Offer, Outcome, Request, fuzzing};

use super::*;
use crate::Address;

fn connect(conversations: u32, password: Option<&str>) -> Connect {
    let address = Address::Tcp {
        host: "none".to_owned(),
        port: 1,
    };
    Connect {
        conversations,
        user: Some("fred".to_owned()),
        password: password.map(Into::into),
        ..Connect::new(address, "DEV.APP.SVRCONN", "QM1")
    }
}

/// What the test understood of an event.
#[derive(Debug, PartialEq)]
enum Seen {
    Connected(u32, String),
    Refused(u32, Reason),
    Reply(u32, Reason, Vec<u8>),
}

fn seen(event: Event<'_>) -> Seen {
    match event {
        Event::Connected {
            conversation,
            queue_manager,
        } => Seen::Connected(conversation, queue_manager.text().into_owned()),
        Event::Refused {
            conversation,
            reason,
        } => Seen::Refused(conversation, reason),
        Event::Reply(flow) => {
            let (outcome, reply) = flow.decode().unwrap();
            let data = match reply {
                Reply::Get(got) => got.data.to_vec(),
                _ => Vec::new(),
            };
            Seen::Reply(flow.id, outcome.reason, data)
        }
    }
}

/// Both sides, and what is on its way.
struct Pair {
    client: Protocol,
    server: ServerSocket,
    offer: Offer,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    /// What MQCONN is answered.
    answer: Reason,
    /// Bytes of one read.
    piece: usize,
    unread: Vec<u8>,
}

impl Pair {
    fn new(connect: &Connect, offer: Offer) -> Pair {
        let mut to_server = Vec::new();
        Pair {
            client: Protocol::begin(connect, &mut to_server),
            server: ServerSocket::new(),
            offer,
            to_server,
            to_client: Vec::new(),
            answer: Reason::NONE,
            piece: usize::MAX,
            unread: Vec::new(),
        }
    }

    /// The server takes everything; MQCONN is answered, the rest is given.
    fn serve(&mut self) -> Vec<Header> {
        let bytes = std::mem::take(&mut self.to_server);
        let (mut rest, mut verbs) = (bytes.as_slice(), Vec::new());
        while let Some(segment) = Segment::next(rest, self.server.limit()).unwrap() {
            rest = &rest[segment.length..];
            let event = self.server.receive(&segment, &mut self.to_client).unwrap();
            match event {
                Some(Incoming::Proposed(_)) => {
                    self.server
                        .answer(&self.offer, &mut self.to_client)
                        .unwrap();
                }
                Some(Incoming::Request {
                    header,
                    request: Request::Conn(conn),
                    ..
                }) => self.mqconn(&header, &conn),
                Some(Incoming::Request { header, .. }) => verbs.push(header),
                _ => {}
            }
        }
        assert!(rest.is_empty());
        verbs
    }

    fn mqconn(&mut self, header: &Header, conn: &ConnRequest) {
        let envelope = Envelope::answering(self.server.framing(), header);
        let (outcome, answer) = match self.answer {
            Reason::NONE => {
                self.server.connected(header.scope.conversation());
                let done = Outcome::done(Hobj::NONE, Reason::NONE);
                (done, Answer::Conn(conn))
            }
            reason => (Outcome::failed(Hobj::NONE, reason), Answer::Empty),
        };
        answer.encode(&mut self.to_client, &envelope, header.kind, &outcome);
    }

    /// The client reads everything, so much at a time.
    fn deliver(&mut self) -> Result<Vec<Seen>, Cause> {
        let bytes = std::mem::take(&mut self.to_client);
        let mut events = Vec::new();
        for piece in bytes.chunks(self.piece.min(bytes.len()).max(1)) {
            self.unread.extend_from_slice(piece);
            let mut rest = self.unread.as_slice();
            while let Some(event) = self.client.take(&mut rest, &mut self.to_server)? {
                events.push(seen(event));
            }
            let left = rest.len();
            self.unread.drain(..self.unread.len() - left);
        }
        Ok(events)
    }

    /// Goes on until nobody has anything to say; gives what the client was told.
    fn settle(&mut self) -> Result<Vec<Seen>, Cause> {
        let mut events = Vec::new();
        while !self.to_server.is_empty() || !self.to_client.is_empty() {
            assert!(self.serve().is_empty());
            events.extend(self.deliver()?);
        }
        Ok(events)
    }

    fn connected(conversations: u32) -> Pair {
        let mut pair = Pair::new(&connect(conversations, None), fuzzing::offer());
        let first = u32::from(conversations > 0);
        let expected = vec![Seen::Connected(first, "QM1".to_owned())];
        assert_eq!(pair.settle(), Ok(expected));
        pair
    }

    /// Another conversation, connected.
    fn another(&mut self) -> u32 {
        let connect = connect(10, None);
        let id = self.client.another(&connect, &mut self.to_server).unwrap();
        let expected = vec![Seen::Connected(id, "QM1".to_owned())];
        assert_eq!(self.settle(), Ok(expected));
        id
    }

    fn get(&mut self, id: u32) -> Header {
        let (md, gmo) = (Md::default(), Gmo::default());
        let out = &mut self.to_server;
        self.client
            .socket()
            .get(out, id, Hobj(1), &md, &gmo, 65_536);
        self.serve().pop().unwrap()
    }

    fn give(&mut self, header: &Header, data: &[u8]) {
        let envelope = Envelope::answering(self.server.framing(), header);
        let answer = Answer::Get {
            md: &Md::default(),
            gmo: &Gmo::default(),
            length: data.len(),
            data,
        };
        let done = Outcome::done(Hobj(1), Reason::NONE);
        answer.encode(&mut self.to_client, &envelope, header.kind, &done);
    }

    fn status(&mut self, id: u32, status: Status, flags: Flags) {
        let framing = self.server.framing();
        let order = posthaste_mqi::ByteOrder::Little;
        let envelope = match id {
            0 => Envelope::socket(framing, order),
            id => Envelope::conversation(framing, order, id),
        };
        status.encode(&mut self.to_client, &envelope, flags);
    }
}

#[test]
fn it_connects_however_the_bytes_are_cut() {
    for piece in [1, 7, 1_000, usize::MAX] {
        for conversations in [0, 10] {
            for password in [None, Some("secret")] {
                let mut pair = Pair::new(&connect(conversations, password), fuzzing::offer());
                pair.piece = piece;
                let first = u32::from(conversations > 0);
                let expected = vec![Seen::Connected(first, "QM1".to_owned())];
                assert_eq!(pair.settle(), Ok(expected), "{piece} {conversations}");
                let header = pair.get(first);
                pair.give(&header, &[7; 40_000]);
                let reply = Seen::Reply(first, Reason::NONE, vec![7; 40_000]);
                assert_eq!(pair.deliver(), Ok(vec![reply]));
                assert_eq!(pair.client.max_message(), 65_536);
            }
        }
    }
}

#[test]
fn what_the_negotiation_refuses_is_a_reason_that_stays() {
    for (status, reason) in [
        (Status::NO_CHANNEL, Reason::UNKNOWN_CHANNEL_NAME),
        (Status::CHANNEL_UNAVAILABLE, Reason::CHANNEL_NOT_AVAILABLE),
        (Status::Q_MGR_UNAVAILABLE, Reason::Q_MGR_NOT_AVAILABLE),
    ] {
        let mut pair = Pair::new(&connect(0, None), fuzzing::offer());
        pair.to_server.clear();
        pair.status(0, status, Flags::CLOSE | Flags::ERROR);
        for _ in 0..2 {
            assert_eq!(pair.deliver(), Err(Cause::Reason(reason)));
            pair.to_client.push(0);
        }
    }
}

#[test]
fn a_conversation_that_is_refused_leaves_the_others_alone() {
    let mut pair = Pair::connected(10);
    // By MQCONN.
    pair.answer = Reason::Q_MGR_NAME_ERROR;
    let connect = connect(10, Some("wrong"));
    let id = pair.client.another(&connect, &mut pair.to_server).unwrap();
    let refused = vec![Seen::Refused(id, Reason::Q_MGR_NAME_ERROR)];
    assert_eq!(pair.settle(), Ok(refused));
    assert!(!pair.client.end(id, &mut pair.to_server));
    // By its credentials.
    let id = pair.client.another(&connect, &mut pair.to_server).unwrap();
    pair.serve();
    pair.deliver().unwrap();
    pair.to_server.clear();
    pair.status(id, Status::CLOSED_BY_EXIT, Flags::NONE);
    let refused = vec![Seen::Refused(id, Status::CLOSED_BY_EXIT.refusal())];
    assert_eq!(pair.deliver(), Ok(refused));
    let header = pair.get(1);
    pair.give(&header, b"still there");
    let reply = Seen::Reply(1, Reason::NONE, b"still there".to_vec());
    assert_eq!(pair.deliver(), Ok(vec![reply]));
}

#[test]
fn replies_find_their_conversation_in_any_order() {
    let mut pair = Pair::connected(10);
    let ids = [1, pair.another(), pair.another()];
    let headers = ids.map(|id| pair.get(id));
    // The first goes on waiting.
    for at in [2, 1] {
        pair.give(&headers[at], &[u8::try_from(at).unwrap(); 3]);
    }
    let expected: Vec<Seen> = [2_u8, 1]
        .map(|at| Seen::Reply(ids[usize::from(at)], Reason::NONE, vec![at; 3]))
        .into();
    assert_eq!(pair.deliver(), Ok(expected));
    let header = pair.get(ids[1]);
    pair.give(&header, b"again");
    pair.give(&headers[0], b"at last");
    let expected = vec![
        Seen::Reply(ids[1], Reason::NONE, b"again".to_vec()),
        Seen::Reply(ids[0], Reason::NONE, b"at last".to_vec()),
    ];
    assert_eq!(pair.deliver(), Ok(expected));
}

#[test]
fn a_socket_has_room_for_so_many() {
    let mut pair = Pair::connected(10);
    for _ in 1..10 {
        pair.another();
    }
    let connect = connect(10, None);
    assert_eq!(pair.client.another(&connect, &mut pair.to_server), None);
    assert!(pair.to_server.is_empty(), "nothing is said of it");
    pair.client.end(3, &mut pair.to_server);
    assert_eq!(pair.another(), 3);
    let mut alone = Pair::connected(0);
    assert_eq!(alone.client.another(&connect, &mut alone.to_server), None);
}

#[test]
fn the_end_of_the_socket_and_broken_rules_stay() {
    let mut pair = Pair::connected(10);
    pair.get(1);
    pair.status(0, Status::Q_MGR_TERMINATING, Flags::CLOSE);
    let ending = Err(Cause::Reason(Status::Q_MGR_TERMINATING.ending()));
    assert_eq!(pair.deliver(), ending);
    pair.to_client.extend_from_slice(b"more");
    assert_eq!(pair.deliver(), ending);
    let mut pair = Pair::connected(0);
    pair.to_client
        .extend_from_slice(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let broken = pair.deliver();
    assert!(matches!(broken, Err(Cause::Peer(_))), "{broken:?}");
    assert_eq!(pair.deliver().map(|events| events.len()), Ok(0));
    pair.to_client.push(1);
    assert_eq!(pair.deliver(), broken);
    // A reply that nobody waits for.
    let mut pair = Pair::connected(0);
    let header = pair.get(0);
    pair.give(&header, b"one");
    pair.give(&header, b"two");
    assert!(matches!(pair.deliver(), Err(Cause::Peer(_))));
}

#[test]
fn half_a_flow_is_no_event_and_heartbeats_are_answered_meanwhile() {
    let mut pair = Pair::connected(10);
    let header = pair.get(1);
    pair.give(&header, &[5; 60_000]);
    let rest = pair.to_client.split_off(45_000);
    assert_eq!(pair.deliver(), Ok(Vec::new()));
    let first = Segment::next(&pair.unread, 1 << 20).unwrap();
    assert!(first.is_none(), "whole segments are taken");
    pair.to_client = rest;
    let socket = Envelope::socket(pair.server.framing(), header.order);
    posthaste_wire::socket::heartbeat(&mut pair.to_client, &socket, false);
    let reply = Seen::Reply(1, Reason::NONE, vec![5; 60_000]);
    assert_eq!(pair.deliver(), Ok(vec![reply]));
    assert!(!pair.to_server.is_empty(), "the heartbeat is answered");
}
