//! What TLS alone costs: two machines that send each other what a request and its reply are, without sockets.
//!
//! `cargo run --release -p posthaste-tls --example exchange -- CIPHERSPEC ROUNDS`: in each round one side sends 2 KiB and the
//! other a short answer, twice each way, as a round trip of a requester and a responder does to the queue manager. Time of a
//! processor for a round; instructions are counted by `valgrind --tool=callgrind --toggle-collect='exchange::exchange*'`, divided
//! by 100 more rounds than ROUNDS.
#![allow(missing_docs, clippy::unwrap_used)]

use posthaste_tls::both_sides::both_sides;
use posthaste_tls::development::KeyKind;
use posthaste_tls::{Machine, Plain, Progress};

/// A put's or a got message's data with what is around it, and an answer without data.
const LONG: usize = 2048 + 552;
const SHORT: usize = 552;

fn send(from: &mut Machine, to: &mut Machine, plain: &[u8], into: &mut [u8]) {
    let mut rest = plain;
    while !rest.is_empty() {
        rest = &rest[from.write(rest).unwrap()..];
    }
    let sent = std::mem::take(from.output());
    to.receive(&sent);
    let mut come = 0;
    while let Plain::Bytes(length) = to.read(into).unwrap() {
        come += length;
    }
    assert_eq!(come, plain.len());
}

/// Time of this process on processors, in nanoseconds.
fn worked() -> u64 {
    let account = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    account.split_whitespace().next().unwrap().parse().unwrap()
}

/// Callgrind counts what is in here (`--toggle-collect`).
#[inline(never)]
fn exchange(client: &mut Machine, server: &mut Machine, rounds: u32) {
    let data = vec![7; LONG];
    let mut into = vec![0; 128 * 1024];
    for _ in 0..rounds {
        for (there, back) in [(LONG, SHORT), (SHORT, LONG), (SHORT, LONG), (LONG, SHORT)] {
            send(client, server, &data[..there], &mut into);
            send(server, client, &data[..back], &mut into);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().unwrap();
    let rounds: u32 = arguments.next().unwrap().parse().unwrap();
    let kind = if spec.contains("ECDSA") {
        KeyKind::Ec
    } else {
        KeyKind::Rsa
    };
    let (acceptor, connector) = both_sides(kind, &spec).unwrap();
    let mut client = Machine::connect(&connector, "CH").unwrap();
    let mut server = Machine::accept(&acceptor);
    let mut ends = (Progress::Waiting, Progress::Waiting);
    while ends != (Progress::Done, Progress::Done) {
        ends.0 = client.handshake().unwrap();
        server.receive(&std::mem::take(client.output()));
        ends.1 = server.handshake().unwrap();
        client.receive(&std::mem::take(server.output()));
    }
    exchange(&mut client, &mut server, 100);
    let before = worked();
    exchange(&mut client, &mut server, rounds);
    let each = (worked() - before) / u64::from(rounds.max(1));
    println!("{spec}: {each} ns of a processor a round, both sides");
}
