//! What the two sides send before they have heard of the other's end: nothing of it breaks anything.

use posthaste_mqi::{CompCode, Gmo, Hobj, Md, Reason};
use posthaste_wire::client::FromServer;
use posthaste_wire::reply::Answer;
use posthaste_wire::segment::Header;
use posthaste_wire::{Envelope, Flags, Outcome, Request, Status, fuzzing};

use crate::pair::{Pair, client_offer, conn};

/// Asks for the next message on a conversation; gives the header to answer under.
fn get(pair: &mut Pair, id: u32) -> Header {
    let (md, gmo) = (Md::default(), Gmo::default());
    let (client, out) = (&mut pair.client, &mut pair.to_server);
    client.get(out, id, Hobj(5), &md, &gmo, 1_000_000);
    match pair.serve().unwrap().pop() {
        Some(posthaste_wire::server::Incoming::Request { header, .. }) => header,
        other => panic!("{other:?}"),
    }
}

/// The server gives a message, in as many segments as it takes.
fn give(pair: &mut Pair, header: &Header, data: &[u8]) {
    let envelope = Envelope::answering(pair.server.framing(), header);
    let (md, gmo) = (Md::default(), Gmo::default());
    let answer = Answer::Get {
        md: &md,
        gmo: &gmo,
        length: data.len(),
        data,
    };
    let outcome = Outcome::done(Hobj(5), Reason::NONE);
    answer.encode(&mut pair.to_client, &envelope, header.kind, &outcome);
}

fn another(pair: &mut Pair) -> u32 {
    let (client, out) = (&mut pair.client, &mut pair.to_server);
    let id = client.start_conversation(out).unwrap();
    pair.serve().unwrap();
    assert!(matches!(
        pair.deliver().unwrap()[..],
        [FromServer::Conversation { id: i, status: Status::OK }] if i == id
    ));
    let (header, _, _) = pair.ask(id, Hobj::NONE, &conn());
    let Request::Conn(conn) = conn() else {
        unreachable!()
    };
    let done = Outcome::done(Hobj::NONE, Reason::NONE);
    let (outcome, _) = pair.reply(&header, done, &Answer::Conn(&conn));
    assert_eq!(outcome.comp_code, CompCode::Ok);
    id
}

#[test]
fn a_client_that_has_left_a_socket_ignores_what_was_under_way() {
    for conversations in [0, 10] {
        let offer = posthaste_wire::Offer {
            conversations,
            ..fuzzing::offer()
        };
        let mut pair = Pair::new(&client_offer(), offer);
        let id = pair.connect();
        let (header, _, _) = pair.ask(id, Hobj::NONE, &Request::Commit);
        let (client, out) = (&mut pair.client, &mut pair.to_server);
        assert!(client.end_conversation(out, id), "it was the only one");
        // The reply, a heartbeat and the end of the queue manager had been sent before.
        let framing = pair.server.framing();
        let done = Outcome::done(Hobj::NONE, Reason::NONE);
        let envelope = Envelope::answering(framing, &header);
        Answer::Empty.encode(&mut pair.to_client, &envelope, header.kind, &done);
        let socket = Envelope::socket(framing, header.order);
        posthaste_wire::socket::heartbeat(&mut pair.to_client, &socket, false);
        Status::Q_MGR_TERMINATING.encode(&mut pair.to_client, &socket, Flags::CLOSE);
        pair.to_server.clear();
        assert!(pair.deliver().unwrap().is_empty());
        assert!(pair.to_server.is_empty(), "it answers nothing any more");
    }
}

#[test]
fn a_conversation_that_was_left_in_a_call_does_not_break_the_others() {
    for length in [10, 60_000] {
        let mut pair = Pair::new(&client_offer(), fuzzing::offer());
        let first = pair.connect();
        let second = another(&mut pair);
        let header = get(&mut pair, second);
        let (client, out) = (&mut pair.client, &mut pair.to_server);
        assert!(!client.end_conversation(out, second));
        // Its number is not given to somebody else, who would take the reply for his own.
        let third = another(&mut pair);
        assert!(third != second && third != first);
        give(&mut pair, &header, &vec![7; length]);
        assert!(pair.deliver().unwrap().is_empty(), "{length} bytes");
        // The others go on, and the number is free again.
        let header = get(&mut pair, third);
        give(&mut pair, &header, b"for the third");
        assert!(matches!(
            pair.deliver().unwrap()[..],
            [FromServer::Reply { id, .. }] if id == third
        ));
        assert_eq!(another(&mut pair), second);
        // A reply that nobody asked for is the server's fault as before.
        give(&mut pair, &header, b"again");
        assert!(pair.deliver().is_err());
    }
}
