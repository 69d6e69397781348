//! What many clients cost a queue manager, and what one client notices of what others do.
//!
//! `cargo run --release -p posthaste-client --example clients -- crowd PORT COUNT PID`: connects COUNT clients over TCP and
//! keeps them; how long the last 200 took to connect, and how much the server, process PID, has grown for each. They go
//! to several addresses of this machine in turn (the listener must be open to all), for the kernel looks long for a free
//! port where very many connections have both addresses in common. MaxChannels, MAXINST and MAXINSTC must let them in.
//!
//! `... -- waiting PORT COUNT PID`: the same, and each opens DEV.QUEUE.1 and waits for a message of its own, by CorrelId.
//!
//! `... -- churn PORT COUNT`: one client that connects and disconnects COUNT times; how long each took.
//!
//! `... -- storm PORT COUNT CIPHERSPEC`: what 10 requesters and as many responders notice, that are connected with TLS and exchange
//! 2 KiB (non-persistent, DEV.QUEUE.1 and 2), while COUNT clients of another process connect at once with TLS; five rounds. Of each
//! the round trips of five seconds before, and of those that went on while they connected. All of it runs on the same
//! processors, the clients' half of the handshakes too, but with the least priority.
//!
//! With the name of a CipherSpec behind their parameters `crowd` and `churn` connect with TLS; `MQSSLKEYR` names the key
//! repository.
//!
//! `... -- beside PORT SECONDS`: one client that puts and gets 2 KiB without a pause; how long its puts took.
//!
//! `... -- share PORT CONVERSATIONS COUNT ROUNDS PID`: COUNT requesters and as many responders, a thread each, that
//! exchange 2 KiB (non-persistent, DEV.QUEUE.1 and 2), ROUNDS times each; CONVERSATIONS of them share a socket, 0 for a
//! socket each. How much of the processors the server, process PID, took for a round trip.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect, Connection, Tls};
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQMO_MATCH_CORREL_ID, MQOO_INPUT_SHARED, MQOO_OUTPUT,
    MQPER_NOT_PERSISTENT, MQPMO_NO_SYNCPOINT, MQWI_UNLIMITED,
};
use posthaste_mqi::{CorrelId, Gmo, Hobj, Md, Name, Od, Pmo};

const SIZE: usize = 2048;
/// Addresses of this machine that a crowd goes to.
const HOSTS: usize = 4;
/// Requesters, and responders, beside a storm.
const OTHERS: usize = 10;
/// Storms, and how long is measured before each.
const STORMS: usize = 5;
const QUIET: Duration = Duration::from_secs(5);
/// The priority of those that connect in a storm: their half of the handshakes is not to be what the others wait for, since
/// elsewhere it is done on another machine.
const LEAST: i32 = 19;
/// What a request begins with, and a message that has a responder end.
const REQUEST: u8 = 7;
const END: u8 = 0;

/// `cipher`: a CipherSpec; blank for no TLS.
fn connect(port: u16, number: usize, cipher: &str) -> Connection {
    let host = format!("127.0.0.{}", 1 + number % HOSTS);
    let address = Address::Tcp { host, port };
    let mut connect = Connect::new(address, "DEV.APP.SVRCONN", "");
    if !cipher.is_empty() {
        connect.tls = Some(Box::new(Tls::from_environment(cipher).unwrap()));
    }
    Connection::open(&connect).unwrap()
}

/// The median, the 99th percentile and the longest.
fn shown(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let Some(last) = times.len().checked_sub(1) else {
        return "none".to_owned();
    };
    let at = |percent: usize| times[last * percent / 100].as_micros();
    let (p50, p99, longest) = (at(50), at(99), at(100));
    format!(
        "p50 {p50} µs, p99 {p99} µs, longest {longest} µs of {}",
        times.len()
    )
}

fn resident(pid: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .unwrap()
        * 1024
}

fn crowd(port: u16, count: usize, pid: &str, cipher: &str) {
    let before = resident(pid);
    let mut clients = Vec::with_capacity(count);
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let begun = Instant::now();
        clients.push(connect(port, number, cipher));
        times.push(begun.elapsed());
    }
    let last = times.split_off(count.saturating_sub(200));
    println!("connecting, the last: {}", shown(last));
    let grown = resident(pid).saturating_sub(before);
    println!("resident: {} bytes a client", grown / (count as u64).max(1));
}

/// Clients of which each waits in MQGET, a thread each; they wait until this process ends.
fn waiting(port: u16, count: usize, pid: &str) {
    let before = resident(pid);
    let begun = Barrier::new(count + 1);
    std::thread::scope(|scope| {
        for number in 0..count {
            let mut client = connect(port, number, "");
            let mut od = Od {
                object_name: Name::new("DEV.QUEUE.1"),
                ..Od::default()
            };
            let queue = client.open_object(&mut od, MQOO_INPUT_SHARED);
            let queue = queue.unwrap().value;
            let mut correl_id = [0; 24];
            correl_id[..8].copy_from_slice(&number.to_le_bytes());
            let begun = &begun;
            let waits = move || {
                let mut md = Md {
                    correl_id,
                    ..Md::default()
                };
                let mut gmo = Gmo {
                    options: MQGMO_NO_SYNCPOINT | MQGMO_WAIT,
                    match_options: MQMO_MATCH_CORREL_ID,
                    wait_interval: MQWI_UNLIMITED,
                    ..Gmo::default()
                };
                begun.wait();
                client.get(queue, &mut md, &mut gmo, SIZE).unwrap_err();
            };
            let thread = std::thread::Builder::new().stack_size(64 << 10);
            thread.spawn_scoped(scope, waits).unwrap();
        }
        begun.wait();
        // Until all their requests have been served, which takes no more memory then.
        let mut grown = 0;
        while grown < resident(pid).saturating_sub(before) {
            grown = resident(pid).saturating_sub(before);
            std::thread::sleep(Duration::from_secs(2));
        }
        println!("resident: {} bytes a client", grown / (count as u64).max(1));
        std::process::exit(0);
    });
}

fn churn(port: u16, count: usize, cipher: &str) {
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let at = Instant::now();
        let client = connect(port, 0, cipher);
        begun.push(at.elapsed());
        let at = Instant::now();
        client.disconnect().unwrap();
        ended.push(at.elapsed());
    }
    println!("connecting: {}", shown(begun));
    println!("disconnecting: {}", shown(ended));
}

fn beside(port: u16, time: Duration) {
    let mut client = connect(port, 0, "");
    let mut od = Od {
        object_name: Name::new("DEV.QUEUE.1"),
        ..Od::default()
    };
    let queue = client.open_object(&mut od, MQOO_OUTPUT | MQOO_INPUT_SHARED);
    let queue = queue.unwrap().value;
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        let mut pmo = Pmo {
            options: MQPMO_NO_SYNCPOINT,
            ..Pmo::default()
        };
        let put = Instant::now();
        let done = client.put(queue, &mut Md::default(), &mut pmo, &[7; SIZE]);
        times.push(put.elapsed());
        done.unwrap();
        let mut gmo = Gmo {
            options: MQGMO_NO_SYNCPOINT,
            ..Gmo::default()
        };
        client
            .get(queue, &mut Md::default(), &mut gmo, SIZE)
            .unwrap();
    }
    println!("puts: {}", shown(times));
}

/// Time on processors of all threads of a process, in nanoseconds.
fn worked(pid: &str) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let account = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
        let worked = account.split_whitespace().next().unwrap();
        worked.parse::<u64>().unwrap()
    };
    threads.map(of_thread).sum()
}

/// So many connections, so many on each socket.
fn connections(port: u16, conversations: usize, count: usize) -> Vec<Connection> {
    let host = "127.0.0.1".to_owned();
    let mut connect = Connect::new(Address::Tcp { host, port }, "DEV.APP.SVRCONN", "");
    connect.conversations = u32::try_from(conversations).unwrap();
    let mut all: Vec<Connection> = Vec::with_capacity(count);
    for number in 0..count {
        let another = match all.last() {
            Some(last) if number % conversations.max(1) != 0 => last.another(&connect).unwrap(),
            _ => None,
        };
        all.push(another.unwrap_or_else(|| Connection::open(&connect).unwrap()));
    }
    all
}

fn opened(client: &mut Connection, queue: &str, options: i32) -> Hobj {
    let mut od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    client.open_object(&mut od, options).unwrap().value
}

/// Puts a message; gives its identifier.
fn put(client: &mut Connection, queue: Hobj, correl_id: CorrelId, data: &[u8]) -> [u8; 24] {
    let mut md = Md {
        correl_id,
        persistence: MQPER_NOT_PERSISTENT,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    client.put(queue, &mut md, &mut pmo, data).unwrap();
    md.msg_id
}

/// Waits for a message, that with this correlation identifier if it is not null; gives its identifier and what it begins with.
fn wait(client: &mut Connection, queue: Hobj, correl_id: CorrelId) -> ([u8; 24], u8) {
    let mut md = Md {
        correl_id,
        ..Md::default()
    };
    let mut gmo = Gmo {
        version: 2,
        match_options: MQMO_MATCH_CORREL_ID,
        options: MQGMO_WAIT | MQGMO_NO_SYNCPOINT,
        wait_interval: 60_000,
        ..Gmo::default()
    };
    let got = client.get(queue, &mut md, &mut gmo, SIZE).unwrap();
    (md.msg_id, got.value.data[0])
}

/// The 99th percentile, in microseconds.
fn p99(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    let at = times.len().saturating_sub(1) * 99 / 100;
    times[at].as_secs_f64() * 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Answers until it is told to end.
fn respond(mut client: Connection) {
    let from = opened(&mut client, "DEV.QUEUE.1", MQOO_INPUT_SHARED);
    let to = opened(&mut client, "DEV.QUEUE.2", MQOO_OUTPUT);
    loop {
        let (request, what) = wait(&mut client, from, [0; 24]);
        if what == END {
            return;
        }
        put(&mut client, to, request, &[REQUEST; SIZE]);
    }
}

/// Asks until it is to end, and then has a responder end; when each round trip began and ended.
fn request(mut client: Connection, ended: &AtomicBool) -> Vec<[Instant; 2]> {
    let to = opened(&mut client, "DEV.QUEUE.1", MQOO_OUTPUT);
    let from = opened(&mut client, "DEV.QUEUE.2", MQOO_INPUT_SHARED);
    let mut trips = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let asked = put(&mut client, to, [0; 24], &[REQUEST; SIZE]);
        wait(&mut client, from, asked);
        trips.push([begun, Instant::now()]);
    }
    put(&mut client, to, [0; 24], &[END; SIZE]);
    trips
}

/// COUNT clients that connect at once when a line comes, and answer with one when they have; a process of their own, since
/// threads of one also wait for each other's memory.
fn comers(port: u16, count: usize, cipher: &str) {
    // Threads inherit it.
    rustix::process::setpriority_process(None, LEAST).unwrap();
    let start = &Barrier::new(count + 1);
    let clients: Vec<_> = std::thread::scope(|scope| {
        let comers: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(move || {
                    start.wait();
                    connect(port, 0, cipher)
                })
            })
            .collect();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        start.wait();
        let joined = comers.into_iter().map(|comer| comer.join().unwrap());
        joined.collect()
    });
    println!("{} connected", clients.len());
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// One storm: the 99th percentiles before it and during it.
fn storm(port: u16, count: usize, cipher: &str) -> [f64; 2] {
    let others: Vec<_> = (0..2 * OTHERS).map(|_| connect(port, 0, cipher)).collect();
    let ended = &AtomicBool::new(false);
    let mut comers = Command::new(std::env::current_exe().unwrap())
        .args(["comers", &port.to_string(), &count.to_string(), cipher])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (trips, came) = std::thread::scope(|scope| {
        let mut requesters = Vec::new();
        for (number, client) in others.into_iter().enumerate() {
            if number % 2 == 0 {
                requesters.push(scope.spawn(move || request(client, ended)));
            } else {
                scope.spawn(move || respond(client));
            }
        }
        std::thread::sleep(QUIET);
        let begun = Instant::now();
        let (mut ask, mut answers) = (comers.stdin.take().unwrap(), comers.stdout.take().unwrap());
        ask.write_all(b"\n").unwrap();
        let mut answer = String::new();
        BufReader::new(&mut answers).read_line(&mut answer).unwrap();
        let last = Instant::now();
        assert_eq!(answer, format!("{count} connected\n"));
        ended.store(true, Ordering::Relaxed);
        let trips: Vec<_> = requesters
            .into_iter()
            .map(|all| all.join().unwrap())
            .collect();
        (trips.concat(), [begun, last])
    });
    comers.wait().unwrap();
    let [begun, last] = came;
    let took = |[from, to]: &[Instant; 2]| *to - *from;
    let (before, rest): (Vec<_>, Vec<_>) = trips.iter().partition(|trip| trip[1] < begun);
    let quiet = |trip: &&[Instant; 2]| begun - trip[0] <= QUIET;
    let before: Vec<_> = before.into_iter().filter(quiet).map(took).collect();
    let during = rest.into_iter().filter(|trip| trip[0] <= last);
    let during: Vec<_> = during.map(took).collect();
    println!("before: {}", shown(before.clone()));
    println!(
        "while {count} connected, in {:?}: {}",
        last - begun,
        shown(during.clone())
    );
    [before, during].map(p99)
}

fn storms(port: u16, count: usize, cipher: &str) {
    let all: Vec<_> = (0..STORMS).map(|_| storm(port, count, cipher)).collect();
    let of = |what: fn(&[f64; 2]) -> f64| median(all.iter().map(what).collect());
    println!(
        "medians of p99: {:.0} µs before, {:.0} µs while they connected, {:.2} times as long",
        of(|[before, _]| *before),
        of(|[_, during]| *during),
        of(|[before, during]| during / before)
    );
}

fn share(port: u16, conversations: usize, count: usize, rounds: usize, pid: &str) {
    let (requests, replies) = ("DEV.QUEUE.1", "DEV.QUEUE.2");
    let start = &Barrier::new(2 * count + 1);
    let both = connections(port, conversations, count)
        .into_iter()
        .zip(connections(port, conversations, count));
    let both: Vec<_> = both.collect();
    let (before, begun) = std::thread::scope(|scope| {
        for (mut requester, mut responder) in both {
            scope.spawn(move || {
                let to = opened(&mut requester, requests, MQOO_OUTPUT);
                let from = opened(&mut requester, replies, MQOO_INPUT_SHARED);
                start.wait();
                for _ in 0..rounds {
                    let request = put(&mut requester, to, [0; 24], &[REQUEST; SIZE]);
                    wait(&mut requester, from, request);
                }
            });
            scope.spawn(move || {
                let from = opened(&mut responder, requests, MQOO_INPUT_SHARED);
                let to = opened(&mut responder, replies, MQOO_OUTPUT);
                start.wait();
                for _ in 0..rounds {
                    let (request, _) = wait(&mut responder, from, [0; 24]);
                    put(&mut responder, to, request, &[REQUEST; SIZE]);
                }
            });
        }
        let before = worked(pid);
        start.wait();
        (before, Instant::now())
    });
    let trips = (count * rounds) as f64;
    let rate = trips / begun.elapsed().as_secs_f64();
    let each = (worked(pid) - before) as f64 / 1_000.0 / trips;
    println!("{each:.1} µs of the server a round trip, {rate:.0} round trips/s");
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["crowd", port, count, pid, cipher @ ..] => {
            let cipher = cipher.first().unwrap_or(&"");
            crowd(port.parse().unwrap(), count.parse().unwrap(), pid, cipher);
        }
        ["waiting", port, count, pid] => {
            waiting(port.parse().unwrap(), count.parse().unwrap(), pid);
        }
        ["churn", port, count, cipher @ ..] => {
            let cipher = cipher.first().unwrap_or(&"");
            churn(port.parse().unwrap(), count.parse().unwrap(), cipher);
        }
        ["beside", port, seconds] => {
            beside(
                port.parse().unwrap(),
                Duration::from_secs(seconds.parse().unwrap()),
            );
        }
        ["storm", port, count, cipher] => {
            storms(port.parse().unwrap(), count.parse().unwrap(), cipher);
        }
        ["comers", port, count, cipher] => {
            comers(port.parse().unwrap(), count.parse().unwrap(), cipher);
        }
        ["share", port, conversations, count, rounds, pid] => share(
            port.parse().unwrap(),
            conversations.parse().unwrap(),
            count.parse().unwrap(),
            rounds.parse().unwrap(),
            pid,
        ),
        _ => println!(
            "crowd PORT COUNT PID, waiting PORT COUNT PID, churn PORT COUNT, beside PORT SECONDS, storm PORT COUNT CIPHERSPEC, or share PORT CONVERSATIONS COUNT ROUNDS PID"
        ),
    }
}
