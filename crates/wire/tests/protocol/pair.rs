//! Both machines against each other, in memory: negotiation, conversations, verbs, long flows, broken rules.

use posthaste_mqi::{ByteOrder, Chars, CompCode, Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_wire::client::{ClientOffer, ClientPut, ClientSocket, FromServer};
use posthaste_wire::fuzzing;
use posthaste_wire::identity::{Authentication, Userid};
use posthaste_wire::reply::Answer;
use posthaste_wire::request::{ConnRequest, InqRequest, OpenDefaults};
use posthaste_wire::segment::{Header, SegmentType};
use posthaste_wire::server::{Incoming, ServerSocket, UNCONNECTED_LIMIT};
use posthaste_wire::spi::{SpiAnswer, SpiOpen, SpiReply, SpiRequest};
use posthaste_wire::{
    Envelope, Flags, Offer, Outcome, PeerMisbehaved, Reply, Request, Scope, Segment, Status,
};

/// A client and a server with the bytes between them.
pub(crate) struct Pair {
    pub(crate) client: ClientSocket,
    pub(crate) server: ServerSocket,
    pub(crate) to_server: Vec<u8>,
    pub(crate) to_client: Vec<u8>,
    pub(crate) offer: Offer,
}

pub(crate) fn client_offer() -> ClientOffer {
    ClientOffer {
        channel: Chars::new("DEV.APP.SVRCONN"),
        q_mgr: Name::new("QM1"),
        heartbeat_s: 300,
        max_message: 65_536,
        ..ClientOffer::default()
    }
}

impl Pair {
    pub(crate) fn new(client: &ClientOffer, offer: Offer) -> Pair {
        let mut to_server = Vec::new();
        let client = ClientSocket::begin(client, &mut to_server);
        Pair {
            client,
            server: ServerSocket::new(),
            to_server,
            to_client: Vec::new(),
            offer,
        }
    }

    /// Carries everything to the server; proposals are answered.
    pub(crate) fn serve(&mut self) -> Result<Vec<Incoming>, PeerMisbehaved> {
        let bytes = std::mem::take(&mut self.to_server);
        let mut rest = bytes.as_slice();
        let mut events = Vec::new();
        while let Some(segment) = Segment::next(rest, self.server.limit_of(rest))? {
            match self.server.receive(&segment, &mut self.to_client)? {
                Some(Incoming::Proposed(_)) => {
                    self.server.answer(&self.offer, &mut self.to_client)?;
                }
                Some(event) => {
                    self.take_in(&event);
                    events.push(event);
                }
                None => {}
            }
            rest = &rest[segment.length..];
        }
        assert!(rest.is_empty());
        Ok(events)
    }

    /// Every MQCONN succeeds.
    pub(crate) fn take_in(&mut self, event: &Incoming) {
        if let Incoming::Request {
            header,
            request: Request::Conn(_),
            ..
        } = event
        {
            self.server.connected(header.scope.conversation());
        }
    }

    /// Carries everything to the client.
    pub(crate) fn deliver(&mut self) -> Result<Vec<FromServer>, PeerMisbehaved> {
        let bytes = std::mem::take(&mut self.to_client);
        let mut rest = bytes.as_slice();
        let mut events = Vec::new();
        while let Some(segment) = Segment::next(rest, self.client.limit())? {
            events.extend(self.client.receive(&segment, &mut self.to_server)?);
            rest = &rest[segment.length..];
        }
        assert!(rest.is_empty());
        Ok(events)
    }

    /// Negotiates; gives the number of rounds.
    pub(crate) fn negotiate(&mut self) -> u32 {
        for round in 1..=2 {
            assert!(self.serve().unwrap().is_empty());
            if let [FromServer::Agreed(_)] = self.deliver().unwrap()[..] {
                return round;
            }
        }
        panic!("no agreement");
    }

    /// One request; gives what the server saw.
    pub(crate) fn ask(
        &mut self,
        id: u32,
        handle: Hobj,
        request: &Request,
    ) -> (Header, Hobj, Request) {
        self.client
            .request(&mut self.to_server, id, handle, request);
        match self.serve().unwrap().pop() {
            Some(Incoming::Request {
                header,
                handle,
                request,
            }) => (header, handle, request),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn reply(
        &mut self,
        header: &Header,
        outcome: Outcome,
        answer: &Answer<'_>,
    ) -> (Outcome, Reply) {
        let envelope = Envelope::answering(self.server.framing(), header);
        answer.encode(&mut self.to_client, &envelope, header.kind, &outcome);
        match self.deliver().unwrap().pop() {
            Some(FromServer::Reply { outcome, reply, .. }) => (outcome, reply),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn connect(&mut self) -> u32 {
        self.negotiate();
        let id = self.client.first_conversation();
        let (header, _, request) = self.ask(id, Hobj::NONE, &conn());
        let Request::Conn(conn) = request else {
            panic!("{request:?}")
        };
        let (outcome, reply) = self.reply(
            &header,
            Outcome::done(Hobj::NONE, Reason::NONE),
            &Answer::Conn(&conn),
        );
        assert_eq!(outcome.comp_code, CompCode::Ok);
        assert!(matches!(reply, Reply::Conn(c) if c.q_mgr == Name::new("QM1")));
        id
    }
}

pub(crate) fn conn() -> Request {
    Request::Conn(Box::new(ConnRequest {
        q_mgr: Name::new("QM1"),
        application: Chars::new("pair"),
        application_type: 6,
        accounting_token: [0; 32],
        options: 3,
        connect_options: 0,
        fcno: ConnRequest::plain_fcno(ByteOrder::Big),
    }))
}

/// Every kind of socket there is: byte orders, shared or not, segments short or long.
pub(crate) fn kinds() -> Vec<(ClientOffer, Offer)> {
    let mut kinds = Vec::new();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for conversations in [0, 1, 10] {
            for max_transmission in [1_024, 4_096, 32_748] {
                kinds.push((
                    ClientOffer {
                        order,
                        ..client_offer()
                    },
                    Offer {
                        conversations,
                        max_transmission,
                        ..fuzzing::offer()
                    },
                ));
            }
        }
    }
    kinds
}

#[test]
fn both_sides_agree_on_every_kind_of_socket() {
    for (client, offer) in kinds() {
        let mut pair = Pair::new(&client, offer.clone());
        let rounds = pair.negotiate();
        assert_eq!(
            rounds,
            if offer.max_transmission < 32_748 {
                2
            } else {
                1
            }
        );
        let (ours, theirs) = (
            pair.client.agreement().unwrap(),
            pair.server.agreement().unwrap(),
        );
        assert_eq!(ours.framing(), theirs.framing());
        assert_eq!(ours.conversations, offer.conversations);
        assert_eq!((ours.heartbeat_s, theirs.heartbeat_s), (300, 300));
        assert_eq!((ours.max_message, theirs.max_message), (65_536, 65_536));
    }
}

#[test]
fn our_own_client_takes_a_shorter_longest_message_at_once() {
    for (product, asked, rounds) in [
        ("PHCL00010000", 100 << 20, 1),
        ("MQXX00000000", 100 << 20, 2),
        ("PHCL00010000", 0, 2),
        ("PHCL00010000", 1 << 20, 1),
    ] {
        let client = ClientOffer {
            max_message: asked,
            product: Chars::new(product),
            ..client_offer()
        };
        let offer = Offer {
            max_message: 4 << 20,
            ..fuzzing::offer()
        };
        let mut pair = Pair::new(&client, offer);
        assert_eq!(pair.negotiate(), rounds, "{product} {asked}");
        let agreed = [pair.client.agreement(), pair.server.agreement()];
        let longest = agreed.map(|agreement| agreement.unwrap().max_message);
        let expected = match asked {
            0 => 4 << 20,
            asked => asked.min(4 << 20),
        };
        assert_eq!(longest, [expected; 2], "{product} {asked}");
    }
}

#[test]
fn every_field_that_can_be_disputed_is_settled_in_one_more_round() {
    let client = ClientOffer {
        heartbeat_s: 1,
        max_message: 100 << 20,
        ..client_offer()
    };
    let offer = Offer {
        heartbeat_s: 60,
        max_message: 4 << 20,
        max_transmission: 8_192,
        ..fuzzing::offer()
    };
    let mut pair = Pair::new(&client, offer);
    assert_eq!(pair.negotiate(), 2);
    let agreement = pair.client.agreement().unwrap();
    assert_eq!(
        (
            agreement.heartbeat_s,
            agreement.max_message,
            agreement.max_transmission
        ),
        (60, 4 << 20, 8_192)
    );
}

/// Puts `data` on handle 5 and sees that it arrives as it was.
fn put_arrives(pair: &mut Pair, id: u32, md: &Md, data: &[u8]) {
    let pmo = Pmo {
        version: 2,
        ..Pmo::default()
    };
    let put = ClientPut {
        handle: Hobj(5),
        md,
        pmo: &pmo,
        data,
        answered: true,
    };
    pair.client.put(&mut pair.to_server, id, &put);
    let event = pair.serve().unwrap().pop();
    let Some(Incoming::Request {
        header,
        handle,
        request: Request::Put(put),
    }) = event
    else {
        panic!("{event:?}")
    };
    assert_eq!((handle, &put.data[..], &put.md), (Hobj(5), data, md));
    let answer = Answer::Put {
        md: &put.md,
        pmo: &put.pmo,
        length: data.len(),
    };
    let (outcome, reply) = pair.reply(&header, Outcome::done(handle, Reason::NONE), &answer);
    assert_eq!(outcome.handle, Hobj(5));
    assert!(matches!(reply, Reply::Put { md: filled, .. } if filled == *md));
}

/// Gets `data` from handle 5 into 32 KiB and sees that what fits arrives as it was.
fn get_brings(pair: &mut Pair, id: u32, md: &Md, data: &[u8]) {
    let gmo = Gmo {
        version: 4,
        ..Gmo::default()
    };
    pair.client
        .get(&mut pair.to_server, id, Hobj(5), md, &gmo, 32_768);
    let event = pair.serve().unwrap().pop();
    let Some(Incoming::Request {
        header,
        request: Request::Get(get),
        ..
    }) = event
    else {
        panic!("{event:?}")
    };
    assert_eq!((get.buffer_length, &get.gmo), (32_768, &gmo));
    let (length, fits) = (data.len(), data.len().min(32_768));
    let warning = if fits < length {
        Reason::TRUNCATED_MSG_FAILED
    } else {
        Reason::NONE
    };
    let answer = Answer::Get {
        md,
        gmo: &gmo,
        length,
        data: &data[..fits],
    };
    let (outcome, reply) = pair.reply(&header, Outcome::done(Hobj(5), warning), &answer);
    assert_eq!(outcome.reason, warning);
    let Reply::Get(got) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!((got.length, &got.data[..]), (length, &data[..fits]));
}

#[test]
fn puts_and_gets_of_every_length_on_every_kind_of_socket() {
    for (client, offer) in kinds() {
        let mut pair = Pair::new(&client, offer);
        let id = pair.connect();
        for length in [0, 1, 479, 480, 481, 1_000, 2_048, 32_748, 65_536] {
            let data: Vec<u8> = (0..length).map(|i: u32| (i * 7 % 251) as u8).collect();
            let md = Md {
                version: 2,
                correl_id: [7; 24],
                ..Md::default()
            };
            put_arrives(&mut pair, id, &md, &data);
            get_brings(&mut pair, id, &md, &data);
        }
    }
}

#[test]
fn other_verbs_bring_what_was_sent() {
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    let id = pair.connect();
    let od = Od {
        object_name: Name::new("Q1"),
        selection_string: "a = 1".into(),
        version: 4,
        ..Od::default()
    };
    let open = SpiOpen {
        options: 0x2010,
        lpi_options: 3,
        defaults: OpenDefaults::default(),
        od,
    };
    let request = Request::Spi(SpiRequest::Open(Box::new(open.clone())));
    let (header, _, seen) = pair.ask(id, Hobj::UNUSABLE, &request);
    assert_eq!(seen, request);
    let defaults = OpenDefaults {
        persistence: 1,
        put_response: 1,
        read_ahead: 0,
        property_control: 0,
    };
    let answer = Answer::Spi(SpiAnswer::Open {
        options: open.options,
        lpi_options: open.lpi_options,
        defaults: &defaults,
        od: &open.od,
    });
    let (outcome, reply) = pair.reply(&header, Outcome::done(Hobj(9), Reason::NONE), &answer);
    assert_eq!(outcome.handle, Hobj(9));
    assert_eq!(
        reply,
        Reply::Spi(SpiReply::Open(Box::new(SpiOpen { defaults, ..open })))
    );

    let inquire = InqRequest {
        selectors: vec![31, 2015, 32],
        int_count: 2,
        char_length: 48,
    };
    let (header, _, seen) = pair.ask(id, Hobj(1), &Request::Inq(inquire.clone()));
    assert_eq!(seen, Request::Inq(inquire.clone()));
    let mut name = b"QM1".to_vec();
    name.resize(48, b' ');
    let answer = Answer::Inq {
        request: &inquire,
        ints: &[940, 3],
        chars: &name,
    };
    let (_, reply) = pair.reply(&header, Outcome::done(Hobj(1), Reason::NONE), &answer);
    let Reply::Inq(inq) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!((inq.ints, inq.chars), (vec![940, 3], name));

    let (header, _, _) = pair.ask(id, Hobj(1), &Request::Close { options: 0 });
    let failed = Outcome::failed(Hobj(1), Reason(2019));
    assert_eq!(
        pair.reply(&header, failed, &Answer::Empty),
        (failed, Reply::Empty)
    );
}

#[test]
fn conversations_share_a_socket_up_to_the_agreed_number() {
    let mut pair = Pair::new(
        &client_offer(),
        Offer {
            conversations: 2,
            ..fuzzing::offer()
        },
    );
    let first = pair.connect();
    let second = pair.client.start_conversation(&mut pair.to_server).unwrap();
    assert_eq!(
        pair.client.start_conversation(&mut pair.to_server),
        None,
        "no third"
    );
    assert!(
        matches!(pair.serve().unwrap()[..], [Incoming::ConversationStarted { id }] if id == second)
    );
    assert!(matches!(
        pair.deliver().unwrap()[..],
        [FromServer::Conversation { id, status: Status::OK }] if id == second
    ));
    // Answers may come in any order.
    let (header1, ..) = pair.ask(first, Hobj::NONE, &Request::Commit);
    let (header2, ..) = pair.ask(second, Hobj::NONE, &conn());
    let done = Outcome::done(Hobj::NONE, Reason::NONE);
    pair.reply(&header2, done, &Answer::Empty);
    pair.reply(&header1, done, &Answer::Empty);
    let (header, ..) = pair.ask(second, Hobj::NONE, &Request::Disc);
    pair.reply(&header, done, &Answer::Empty);
    assert!(!pair.client.end_conversation(&mut pair.to_server, second));
    assert!(matches!(
        pair.serve().unwrap()[..],
        [Incoming::ConversationEnded { id, close: false }] if id == second
    ));
    let third = pair.client.start_conversation(&mut pair.to_server);
    assert_eq!(third, Some(second), "its place is free");
    pair.serve().unwrap();
    assert!(!pair.client.end_conversation(&mut pair.to_server, second));
    assert!(pair.client.end_conversation(&mut pair.to_server, first));
    let events = pair.serve().unwrap();
    assert!(
        matches!(events[..], [_, Incoming::ConversationEnded { id, close: true }] if id == first)
    );
}

#[test]
fn identity_and_credentials_arrive_and_are_not_shown() {
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    pair.negotiate();
    let userid = Userid {
        user: Chars::new("ALICE"),
        password: (*b"geheim      ").into(),
        long_user: Chars::new("alice"),
    };
    let authentication = Authentication {
        user: b"alice".to_vec(),
        password: b"geheim".to_vec().into(),
        ..Authentication::default()
    };
    pair.client.userid(&mut pair.to_server, 1, &userid);
    pair.client
        .authenticate(&mut pair.to_server, 1, &authentication);
    let events = pair.serve().unwrap();
    assert!(
        !format!("{events:?}").contains("geheim"),
        "passwords stay out of messages"
    );
    let [
        Incoming::Userid { userid: u, .. },
        Incoming::Authentication {
            authentication: a, ..
        },
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (u, a, u.name().as_str()),
        (&userid, &authentication, "alice")
    );
    assert!(matches!(
        pair.deliver().unwrap()[..],
        [FromServer::Conversation {
            id: 1,
            status: Status::OK
        }]
    ));
    pair.client
        .authenticate(&mut pair.to_server, 1, &authentication);
    assert_eq!(
        pair.serve().err(),
        Some(PeerMisbehaved::AuthenticationTwice)
    );
}

#[test]
fn heartbeats_are_answered_by_both_sides() {
    for conversations in [0, 10] {
        let mut pair = Pair::new(
            &client_offer(),
            Offer {
                conversations,
                ..fuzzing::offer()
            },
        );
        pair.connect();
        pair.server.heartbeat(&mut pair.to_client);
        assert!(pair.deliver().unwrap().is_empty());
        let answer = Segment::next(&pair.to_server, 100).unwrap().unwrap();
        assert_eq!(
            (answer.header.kind, answer.header.flags.0),
            (SegmentType::Heartbeat, 0x30)
        );
        assert!(pair.serve().unwrap().is_empty());
        pair.client.heartbeat(&mut pair.to_server);
        assert!(pair.serve().unwrap().is_empty());
        let answer = Segment::next(&pair.to_client, 100).unwrap().unwrap();
        assert_eq!(
            (answer.header.kind, answer.header.flags.0),
            (SegmentType::Heartbeat, 0x30)
        );
        let scope = if conversations == 0 {
            Scope::Unshared
        } else {
            Scope::Socket
        };
        assert_eq!(answer.header.scope, scope);
    }
}

/// A token is longer than whatever else comes before a conversation is connected.
#[test]
fn a_token_arrives_and_is_not_shown() {
    // Those that are too long for a token arrive, to be refused for that.
    for length in [1, 4_096, 8_192, 8_193, 20_000] {
        let mut pair = Pair::new(&client_offer(), fuzzing::offer());
        pair.negotiate();
        let authentication = Authentication {
            token: vec![b'x'; length].into(),
            ..Authentication::default()
        };
        pair.client
            .authenticate(&mut pair.to_server, 1, &authentication);
        let events = pair.serve().unwrap();
        assert!(!format!("{events:?}").contains("xxx"));
        let [
            Incoming::Authentication {
                authentication: arrived,
                ..
            },
        ] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!(arrived, &authentication);
    }
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    pair.negotiate();
    let authentication = Authentication {
        token: vec![b'x'; 32 * 1_024].into(),
        ..Authentication::default()
    };
    pair.client
        .authenticate(&mut pair.to_server, 1, &authentication);
    let error = pair.serve().unwrap_err();
    // In more than one segment no credentials come.
    let cut = PeerMisbehaved::VerbBeforeConnect(SegmentType::ConauthInfo);
    assert_eq!(error, cut);
    // What is no credentials is as short as before, as soon as it is seen to be none.
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    pair.negotiate();
    raw(
        &mut pair,
        SegmentType::Conn,
        1,
        Flags::FIRST | Flags::LAST,
        &[0; 5_000],
    );
    pair.to_server.truncate(17);
    let seen = pair.to_server.clone();
    let server = &pair.server;
    let next = |bytes: &[u8]| {
        Segment::next(bytes, server.limit_of(bytes)).map(|segment| segment.is_some())
    };
    assert_eq!(next(&seen), Ok(false), "its kind has not come");
    let whole = [&seen[..], &[SegmentType::Conn.number()]].concat();
    assert!(matches!(
        next(&whole),
        Err(PeerMisbehaved::SegmentTooLong { .. })
    ));
}

#[test]
fn refusals_and_endings_reach_the_client_with_their_reasons() {
    for (status, reason) in [
        (Status::NO_CHANNEL, 2540),
        (Status::CHANNEL_WRONG_TYPE, 2539),
        (Status::CHANNEL_UNAVAILABLE, 2537),
        (Status::Q_MGR_TERMINATING, 2059),
        (Status::PROTOCOL_ERROR, 2539),
    ] {
        let mut pair = Pair::new(&client_offer(), fuzzing::offer());
        let segment = Segment::next(&pair.to_server, UNCONNECTED_LIMIT)
            .unwrap()
            .unwrap();
        pair.server.receive(&segment, &mut pair.to_client).unwrap();
        pair.server.refuse(status, &mut pair.to_client);
        match pair.deliver().unwrap()[..] {
            [FromServer::Refused(seen)] => {
                assert_eq!((seen, seen.refusal()), (status, Reason(reason)))
            }
            ref other => panic!("{other:?}"),
        }
    }
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    pair.connect();
    pair.server
        .end(Status::Q_MGR_TERMINATING, &mut pair.to_client);
    match pair.deliver().unwrap()[..] {
        [FromServer::Ended(status)] => assert_eq!(status.ending(), Reason(2009)),
        ref other => panic!("{other:?}"),
    }
}

/// Bytes a client sends after `connected`, and the rule they break.
type Case = (&'static str, bool, fn(&mut Pair), PeerMisbehaved);

fn raw(pair: &mut Pair, kind: SegmentType, id: u32, flags: Flags, body: &[u8]) {
    let framing = pair.server.framing();
    let envelope = Envelope::conversation(framing, ByteOrder::Big, id);
    let mut header =
        Header::new(kind, envelope.scope, envelope.order, framing.ccsid).with_flags(flags);
    if kind == SegmentType::SocketAction {
        header.scope = Scope::Socket;
    }
    let length = header.scope.header_length() + body.len();
    header.encode(&mut pair.to_server, u32::try_from(length).unwrap());
    pair.to_server.extend_from_slice(body);
}

const WHOLE: Flags = Flags(0x30);

pub(crate) fn action(pair: &mut Pair, conversation: u32, what: u32) {
    let body: Vec<u8> = [conversation, 0, what, 1, 2]
        .iter()
        .flat_map(|v: &u32| v.to_be_bytes())
        .collect();
    raw(pair, SegmentType::SocketAction, 0, WHOLE, &body);
}

const CASES: &[Case] = &[
    (
        "garbage",
        false,
        |p| p.to_server = b"GET / HTTP/1.1".to_vec(),
        PeerMisbehaved::NotASegment,
    ),
    (
        "kind",
        false,
        |p| p.to_server = b"TSHX".to_vec(),
        PeerMisbehaved::NotASegment,
    ),
    (
        "short",
        false,
        |p| p.to_server = b"TSH \0\0\0\x10".to_vec(),
        PeerMisbehaved::SegmentTooShort { length: 16 },
    ),
    (
        "long before anything is agreed",
        false,
        |p| p.to_server = b"TSH \x7f\xff\xff\xff".to_vec(),
        PeerMisbehaved::SegmentTooLong {
            length: 0x7FFF_FFFF,
            limit: 4_096,
        },
    ),
    (
        "long",
        true,
        |p| p.to_server = b"TSHM\0\0\x7f\xed".to_vec(),
        PeerMisbehaved::SegmentTooLong {
            length: 32_749,
            limit: 32_748,
        },
    ),
    (
        "byte order",
        false,
        |p| p.to_server[8] = 3,
        PeerMisbehaved::ByteOrderUnknown(3),
    ),
    (
        "segment type",
        false,
        |p| p.to_server[9] = 0x40,
        PeerMisbehaved::SegmentTypeUnknown(0x40),
    ),
    (
        "verb first",
        false,
        |p| p.to_server[9] = 0x81,
        PeerMisbehaved::SegmentUnexpected(SegmentType::Conn),
    ),
    (
        "transmission size",
        false,
        |p| p.to_server[28 + 12..28 + 16].fill(0),
        PeerMisbehaved::TransmissionSizeWrong(0),
    ),
    (
        "level",
        false,
        |p| p.to_server[28 + 4] = 0,
        PeerMisbehaved::FapLevelWrong(0),
    ),
    (
        "not an ID",
        false,
        |p| p.to_server[28] = b'X',
        PeerMisbehaved::InitialDataMalformed,
    ),
    (
        "second ID",
        true,
        |p| raw(p, SegmentType::InitialData, 1, WHOLE, &[0; 240]),
        PeerMisbehaved::SegmentUnexpected(SegmentType::InitialData),
    ),
    (
        "MQCONN twice",
        true,
        |p| raw(p, SegmentType::Conn, 1, WHOLE, &[]),
        PeerMisbehaved::ConnectTwice,
    ),
    (
        "UID late",
        true,
        |p| raw(p, SegmentType::UseridData, 1, WHOLE, &[0; 132]),
        PeerMisbehaved::UseridTwice,
    ),
    (
        "unknown conversation",
        true,
        |p| raw(p, SegmentType::Cmit, 5, WHOLE, &[0; 16]),
        PeerMisbehaved::ConversationUnknown(5),
    ),
    (
        "conversation 0",
        true,
        |p| raw(p, SegmentType::Cmit, 0, WHOLE, &[0; 16]),
        PeerMisbehaved::HeaderKindWrong(SegmentType::Cmit),
    ),
    (
        "start twice",
        true,
        |p| action(p, 1, 1),
        PeerMisbehaved::ConversationInUse(1),
    ),
    (
        "start 0",
        true,
        |p| action(p, 0, 1),
        PeerMisbehaved::ConversationInUse(0),
    ),
    (
        "end of nothing",
        true,
        |p| action(p, 7, 2),
        PeerMisbehaved::ConversationUnknown(7),
    ),
    (
        "unknown action",
        true,
        |p| action(p, 1, 9),
        PeerMisbehaved::SocketActionUnknown(9),
    ),
    (
        "go ahead, unasked",
        true,
        |p| action(p, 1, 5),
        PeerMisbehaved::SocketActionUnknown(5),
    ),
    (
        "verb before MQCONN",
        true,
        |p| {
            action(p, 3, 1);
            raw(p, SegmentType::Cmit, 3, WHOLE, &[0; 16]);
        },
        PeerMisbehaved::VerbBeforeConnect(SegmentType::Cmit),
    ),
    (
        "continuation of nothing",
        true,
        |p| raw(p, SegmentType::Put, 1, Flags::LAST, &[0; 16]),
        PeerMisbehaved::FlowNotBegun(SegmentType::Put),
    ),
    (
        "two beginnings",
        true,
        |p| {
            raw(p, SegmentType::Put, 1, Flags::FIRST, &[0; 16]);
            raw(p, SegmentType::Put, 1, Flags::FIRST, &[0; 16]);
        },
        PeerMisbehaved::FlowBegunTwice(SegmentType::Put),
    ),
    (
        "flow without end",
        true,
        |p| {
            raw(p, SegmentType::Put, 1, Flags::FIRST, &[0; 32_000]);
            for _ in 0..5 {
                raw(p, SegmentType::Put, 1, Flags::NONE, &[0; 32_000]);
            }
        },
        PeerMisbehaved::FlowTooLong { limit: 131_072 },
    ),
    (
        "no API header",
        true,
        |p| raw(p, SegmentType::Cmit, 1, WHOLE, &[0; 15]),
        PeerMisbehaved::BodyTooShort(SegmentType::Cmit),
    ),
    (
        "selectors that are not there",
        true,
        |p| {
            let mut body = vec![0; 28];
            body[19] = 200;
            raw(p, SegmentType::Inq, 1, WHOLE, &body);
        },
        PeerMisbehaved::CountWrong(SegmentType::Inq),
    ),
    (
        "reply from a client",
        true,
        |p| raw(p, SegmentType::CmitReply, 1, WHOLE, &[0; 16]),
        PeerMisbehaved::SegmentUnexpected(SegmentType::CmitReply),
    ),
];

#[test]
fn every_broken_rule_has_its_name_and_stays() {
    for &(name, connected, send, expected) in CASES {
        let client = ClientOffer {
            order: ByteOrder::Big,
            ..client_offer()
        };
        let mut pair = Pair::new(&client, fuzzing::offer());
        if connected {
            pair.connect();
        }
        send(&mut pair);
        assert_eq!(pair.serve().err(), Some(expected), "{name}");
        assert!(expected.message().starts_with("AMQ9"), "{name}");
        assert_ne!(expected.status(), Status::OK, "{name}");
        assert!(!expected.to_string().is_empty());
    }
}

/// A client that shares its socket looks for what concerns all of it under the header for that.
#[test]
fn who_breaks_a_rule_is_told_in_the_form_that_was_agreed() {
    for conversations in [0, 1, 10] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let client = ClientOffer {
                order,
                conversations,
                ..client_offer()
            };
            let mut pair = Pair::new(&client, fuzzing::offer());
            pair.connect();
            raw(&mut pair, SegmentType::PingData, 1, WHOLE, &[]);
            let broken = pair.serve().unwrap_err();
            pair.to_client.clear();
            pair.server.end(broken.status(), &mut pair.to_client);
            let segment = Segment::next(&pair.to_client, 100).unwrap().unwrap();
            let scope = match conversations {
                0 => Scope::Unshared,
                _ => Scope::Socket,
            };
            let header = segment.header;
            assert_eq!((header.scope, header.order), (scope, order));
            assert_eq!(header.flags, WHOLE | Flags::ERROR | Flags::CLOSE);
            let status = Status::decode(segment.body, order).unwrap();
            assert_eq!(status, Some(Status::PROTOCOL_ERROR));
        }
    }
}

#[test]
fn an_error_stays_whatever_comes_after() {
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    pair.connect();
    raw(&mut pair, SegmentType::Conn, 1, WHOLE, &[]);
    assert_eq!(pair.serve().err(), Some(PeerMisbehaved::ConnectTwice));
    pair.to_server.clear();
    raw(&mut pair, SegmentType::Heartbeat, 1, WHOLE, &[]);
    assert_eq!(pair.serve().err(), Some(PeerMisbehaved::ConnectTwice));
}

#[test]
fn data_longer_than_its_segment_is_the_peers_mistake_and_a_wrong_structure_the_applications() {
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    let id = pair.connect();
    let md = Md {
        version: 2,
        ..Md::default()
    };
    let pmo = Pmo {
        version: 2,
        options: 0x1_0002,
        ..Pmo::default()
    };
    let put = ClientPut {
        handle: Hobj(5),
        md: &md,
        pmo: &pmo,
        data: b"four",
        answered: true,
    };
    pair.client.put(&mut pair.to_server, id, &put);
    let version = 36 + 16 + 4;
    let mut wrong_version = pair.to_server.clone();
    wrong_version[version..version + 4].fill(9);
    let length_at = pair.to_server.len() - 8;
    pair.to_server[length_at] = 5;
    let too_long = std::mem::replace(&mut pair.to_server, wrong_version);
    match pair.serve().unwrap()[..] {
        [
            Incoming::Rejected {
                handle: Hobj(5),
                reason,
                put_options: Some(options),
                ..
            },
        ] => assert_eq!(
            (reason, options),
            (Reason::MD_ERROR, pmo.options),
            "who put asynchronously is not answered"
        ),
        ref other => panic!("{other:?}"),
    }
    pair.to_server = too_long;
    assert_eq!(
        pair.serve().err(),
        Some(PeerMisbehaved::DataLengthWrong(SegmentType::Put))
    );
}

#[test]
fn an_unannounced_reply_is_refused_by_the_client() {
    let mut pair = Pair::new(&client_offer(), fuzzing::offer());
    let id = pair.connect();
    let envelope = Envelope::conversation(pair.server.framing(), ByteOrder::Big, id);
    let outcome = Outcome::done(Hobj::NONE, Reason::NONE);
    Answer::Empty.encode(&mut pair.to_client, &envelope, SegmentType::Cmit, &outcome);
    assert_eq!(
        pair.deliver().err(),
        Some(PeerMisbehaved::ReplyUnexpected(SegmentType::CmitReply))
    );
}
