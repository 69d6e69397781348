//! What many clients cost a queue manager, and what one client notices of what others do.
//!
//! `cargo run --release -p posthaste-client --example clients -- crowd PORT COUNT PID`: connects COUNT clients over TCP and
//! keeps them; how long the last 200 took to connect, and how much the server, process PID, has grown for each. They go
//! to several addresses of this machine in turn (the listener must be open to all), for the kernel looks long for a free
//! port where very many connections have both addresses in common. MaxChannels, MAXINST and MAXINSTC must let them in.
//!
//! `... -- beside PORT SECONDS`: one client that puts and gets 2 KiB without a pause; how long its puts took.
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect, Connection};
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Md, Name, Od, Pmo};

const SIZE: usize = 2048;
/// Addresses of this machine that a crowd goes to.
const HOSTS: usize = 4;

fn connect(port: u16, number: usize) -> Connection {
    let host = format!("127.0.0.{}", 1 + number % HOSTS);
    let address = Address::Tcp { host, port };
    Connection::open(&Connect::new(address, "DEV.APP.SVRCONN", "")).unwrap()
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

fn crowd(port: u16, count: usize, pid: &str) {
    let before = resident(pid);
    let mut clients = Vec::with_capacity(count);
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let begun = Instant::now();
        clients.push(connect(port, number));
        times.push(begun.elapsed());
    }
    let last = times.split_off(count.saturating_sub(200));
    println!("connecting, the last: {}", shown(last));
    let grown = resident(pid).saturating_sub(before);
    println!("resident: {} bytes a client", grown / (count as u64).max(1));
}

fn beside(port: u16, time: Duration) {
    let mut client = connect(port, 0);
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

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["crowd", port, count, pid] => crowd(port.parse().unwrap(), count.parse().unwrap(), pid),
        ["beside", port, seconds] => {
            beside(
                port.parse().unwrap(),
                Duration::from_secs(seconds.parse().unwrap()),
            );
        }
        _ => println!("crowd PORT COUNT PID, or beside PORT SECONDS"),
    }
}
