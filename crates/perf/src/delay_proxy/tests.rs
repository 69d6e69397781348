//! The proxy between real sockets. What is asserted about time is only that nothing comes too early;
//! exact times are tested on the line, without a clock.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::*;

/// By when everything that is waited for has happened.
fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn quick(delay: Duration) -> Settings {
    Settings {
        calibrate: false,
        ..Settings::delay(delay)
    }
}

/// A proxy in front of a listener.
fn proxied(settings: Settings) -> (DelayProxy, TcpListener) {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let to = listener.local_addr().unwrap();
    (
        DelayProxy::start(anywhere(), to, settings).unwrap(),
        listener,
    )
}

/// A connection through a proxy: both ends.
fn pair(proxy: &DelayProxy, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let client = TcpStream::connect(proxy.address()).unwrap();
    let (server, _) = listener.accept().unwrap();
    for stream in [&client, &server] {
        // A test that would hang fails instead.
        let timeout = Some(Duration::from_secs(60));
        stream.set_read_timeout(timeout).unwrap();
        stream.set_write_timeout(timeout).unwrap();
    }
    (client, server)
}

/// Numbers without pattern, from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Writes `bytes` in pieces of any size, ends the direction, and reads the other one to its end.
fn exchange(mut stream: TcpStream, bytes: Vec<u8>, seed: u64) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut writing = stream.try_clone().unwrap();
        let writer = std::thread::spawn(move || {
            let mut random = Random(seed);
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let size = 1 + random.next() as usize % (1 << (random.next() % 18));
                let (piece, after) = rest.split_at(size.min(rest.len()));
                writing.write_all(piece).unwrap();
                rest = after;
            }
            writing.shutdown(Shutdown::Write).unwrap();
        });
        let mut got = Vec::new();
        stream.read_to_end(&mut got).unwrap();
        writer.join().unwrap();
        got
    })
}

#[test]
fn bytes_pass_unchanged_both_ways_on_many_connections() {
    let jitter = Way {
        delay: Duration::from_micros(300),
        jitter: Duration::from_micros(300),
        bandwidth: None,
    };
    let limited = Way {
        delay: Duration::from_micros(100),
        jitter: Duration::ZERO,
        bandwidth: NonZeroU64::new(2_000_000_000),
    };
    for (up, down, buffer) in [
        (Way::default(), Way::default(), 8 << 20),
        (jitter, jitter, 5_000),
        (limited, jitter, 1 << 20),
    ] {
        let settings = Settings {
            up,
            down,
            buffer,
            calibrate: false,
        };
        let (proxy, listener) = proxied(settings);
        let mut random = Random(11);
        let ends: Vec<_> = (0..5_u64)
            .map(|number| {
                let (client, server) = pair(&proxy, &listener);
                let sizes = (random.next() % 1_000_000, random.next() % 1_000_000);
                let up = random.bytes(sizes.0 as usize);
                let down = random.bytes(sizes.1 as usize);
                let client = exchange(client, up.clone(), number + 1);
                let server = exchange(server, down.clone(), number + 100);
                (client, server, up, down)
            })
            .collect();
        let mut total = (0, 0);
        for (client, server, up, down) in ends {
            assert!(client.join().unwrap() == down);
            assert!(server.join().unwrap() == up);
            total = (total.0 + up.len() as u64, total.1 + down.len() as u64);
        }
        // The ends have seen the end a moment before the proxy has counted it.
        let deadline = deadline();
        let totals = loop {
            assert!(Instant::now() < deadline, "the proxy keeps a connection");
            let totals = proxy.totals();
            if totals.open == 0 {
                break totals;
            }
            std::thread::yield_now();
        };
        assert_eq!((totals.accepted, totals.refused), (5, 0));
        assert_eq!((totals.up, totals.down), total);
        assert_eq!(totals.last_failure, None);
    }
}

#[test]
fn nothing_comes_too_early() {
    let delay = Duration::from_millis(5);
    let (proxy, listener) = proxied(quick(delay));
    let (mut client, mut server) = pair(&proxy, &listener);
    let mut byte = [0];
    for _ in 0..3 {
        let begun = Instant::now();
        client.write_all(&[1]).unwrap();
        server.read_exact(&mut byte).unwrap();
        assert!(begun.elapsed() >= delay);
        server.write_all(&[2]).unwrap();
        client.read_exact(&mut byte).unwrap();
        assert!(begun.elapsed() >= 2 * delay);
    }
}

#[test]
fn a_half_closed_connection_works_the_other_way() {
    let (proxy, listener) = proxied(quick(Duration::from_micros(200)));
    let (mut client, mut server) = pair(&proxy, &listener);
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut got = Vec::new();
    server.read_to_end(&mut got).unwrap();
    assert_eq!(got, b"question");
    server.write_all(b"answer").unwrap();
    drop(server);
    got.clear();
    client.read_to_end(&mut got).unwrap();
    assert_eq!(got, b"answer");
}

/// Closes with a reset.
fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}

#[track_caller]
fn is_reset(mut stream: TcpStream) {
    let mut got = Vec::new();
    match stream.read_to_end(&mut got) {
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        Ok(_) => panic!("an orderly end after {} bytes", got.len()),
    }
}

#[test]
fn a_reset_is_passed_on_in_both_directions() {
    let (proxy, listener) = proxied(quick(Duration::from_micros(200)));
    let (client, server) = pair(&proxy, &listener);
    reset(client);
    is_reset(server);
    let (client, server) = pair(&proxy, &listener);
    reset(server);
    is_reset(client);
}

#[test]
fn a_receiver_that_does_not_read_holds_its_sender_back() {
    let settings = Settings {
        buffer: 100_000,
        ..quick(Duration::from_micros(100))
    };
    let (proxy, listener) = proxied(settings);
    let (mut client, mut server) = pair(&proxy, &listener);
    client.set_nonblocking(true).unwrap();
    let piece = [5; 65_536];
    let mut sent = 0;
    // Until nothing more is taken, and the proxy has delivered what the kernel would take.
    let mut delivered = None;
    let deadline = deadline();
    loop {
        assert!(Instant::now() < deadline, "the sender is never held back");
        match client.write(&piece) {
            Ok(count) => sent += count,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                let up = proxy.totals().up;
                // The proxy holds a tenth of a megabyte; the kernel's buffers a few.
                if delivered == Some(up) && sent as u64 > up {
                    break;
                }
                delivered = Some(up);
                std::thread::yield_now();
            }
        }
        assert!(sent < 200 << 20, "nobody holds the sender back");
    }
    // Another connection is not held up by this one.
    let (mut other, mut answer) = pair(&proxy, &listener);
    other.write_all(b"x").unwrap();
    let mut byte = [0];
    answer.read_exact(&mut byte).unwrap();
    // And nothing was lost.
    client.set_nonblocking(false).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut got = Vec::new();
    server.read_to_end(&mut got).unwrap();
    assert_eq!(got.len(), sent);
    assert!(got.iter().all(|byte| *byte == 5));
}

#[test]
fn an_address_in_use_is_refused_and_a_dropped_proxy_leaves_none() {
    let (proxy, listener) = proxied(quick(Duration::ZERO));
    let to = listener.local_addr().unwrap();
    let address = proxy.address();
    let refused = DelayProxy::start(address, to, quick(Duration::ZERO));
    assert_eq!(refused.unwrap_err().id, "AMQ9218E");
    let (client, server) = pair(&proxy, &listener);
    drop(proxy);
    for mut stream in [client, server] {
        // Ended in whichever way.
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
    }
    TcpListener::bind(address).unwrap();
}

#[test]
fn a_correction_shortens_a_delay_that_is_there() {
    for (us, correction_ns, expected) in [
        (500, 30_000, (470_000, 500_000)),
        (500, -5_000, (505_000, 500_000)),
        (20, 30_000, (0, 20_000)),
        (0, 30_000, (0, 0)),
    ] {
        let way = Way {
            delay: Duration::from_micros(us),
            jitter: Duration::from_micros(600),
            bandwidth: None,
        };
        let found = way.corrected(correction_ns);
        assert_eq!((nanos(found.delay), nanos(found.jitter)), expected);
    }
}
