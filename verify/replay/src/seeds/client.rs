//! Seeds of the client's protocol: what our server says to the client that is fuzzed.

use posthaste_client::fuzzing::Session;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};
use posthaste_wire::reply::Answer;
use posthaste_wire::server::{Incoming, ServerSocket};
use posthaste_wire::{Envelope, Flags, Header, Outcome, Request, Segment, Status, fuzzing};

use super::Seeds;

/// Seeds of `client_protocol`.
pub fn client() -> Seeds {
    let mut seeds = Seeds::new();
    for (name, shared, ending) in [
        ("one", false, false),
        ("shared", true, false),
        ("shared-ended", true, true),
    ] {
        let bytes = Server::converse(shared, ending);
        // Whether it is shared; cut into pieces of a hundred bytes and one.
        let mut seed = vec![100 << 1 | u8::from(shared)];
        seed.extend_from_slice(&bytes);
        seeds.push((name.to_owned(), seed));
    }
    seeds
}

struct Server {
    socket: ServerSocket,
    out: Vec<u8>,
    /// Messages that were given.
    given: usize,
}

impl Server {
    /// Everything that it says to the client, until it has given three messages.
    fn converse(shared: bool, ending: bool) -> Vec<u8> {
        let mut client = Session::begin(shared);
        let mut server = Server {
            socket: ServerSocket::new(),
            out: Vec::new(),
            given: 0,
        };
        let mut bytes = Vec::new();
        while server.given < 3 {
            let asked = std::mem::take(&mut client.out);
            server.answer(&asked);
            assert!(!server.out.is_empty(), "the client waits for more");
            assert!(client.read(&server.out), "{:?}", client.events);
            bytes.append(&mut server.out);
        }
        if ending {
            let framing = server.socket.framing();
            let socket = Envelope::socket(framing, posthaste_mqi::ByteOrder::Little);
            posthaste_wire::socket::heartbeat(&mut bytes, &socket, false);
            Status::Q_MGR_TERMINATING.encode(&mut bytes, &socket, Flags::CLOSE);
        }
        bytes
    }

    fn answer(&mut self, asked: &[u8]) {
        let mut rest = asked;
        while let Ok(Some(segment)) = Segment::next(rest, self.socket.limit()) {
            rest = rest.get(segment.length..).unwrap_or_default();
            match self.socket.receive(&segment, &mut self.out) {
                Ok(Some(Incoming::Proposed(_))) => {
                    let answered = self.socket.answer(&fuzzing::offer(), &mut self.out);
                    assert!(answered.is_ok(), "{answered:?}");
                }
                Ok(Some(Incoming::Request {
                    header, request, ..
                })) => self.reply(&header, &request),
                Ok(_) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }

    fn reply(&mut self, header: &Header, request: &Request) {
        let envelope = Envelope::answering(self.socket.framing(), header);
        let done = Outcome::done(Hobj(1), Reason::NONE);
        let (md, gmo) = (Md::default(), Gmo::default());
        let answer = match request {
            Request::Conn(conn) => {
                self.socket.connected(header.scope.conversation());
                Answer::Conn(conn)
            }
            _ => {
                self.given += 1;
                Answer::Get {
                    md: &md,
                    gmo: &gmo,
                    length: 20,
                    data: b"a message of 20 byte",
                }
            }
        };
        answer.encode(&mut self.out, &envelope, header.kind, &done);
    }
}
