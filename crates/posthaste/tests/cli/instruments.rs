//! Commands that measure, and what they are measured with.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};

use crate::place::{Guard, Place};

/// A delay proxy in front of a port, and the port it listens on.
fn proxy(place: &Place, to: u16) -> (Guard, u16, impl Iterator<Item = String>) {
    let mut command: Command = place.named("posthaste");
    let to = format!("127.0.0.1:{to}");
    command
        .args(["delayproxy", "--listen", "127.0.0.1:0", "--to", &to])
        .args(["--delay", "200us", "--no-calibration"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = Guard(child.unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let first = lines.next().unwrap();
    let (_, rest) = first.split_once("127.0.0.1:").unwrap();
    let (port, _) = rest.split_once(',').unwrap();
    (child, port.parse().unwrap(), lines)
}

#[test]
fn a_queue_manager_works_through_a_delay_proxy() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let (mut child, port, mut lines) = proxy(&place, serving.port());
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({port})");
    let put = format!("put DEV.QUEUE.1 QM1 --connect {server}");
    place.fed("far away\n", &put).good();
    let got = place.line(&format!("get DEV.QUEUE.1 QM1 --connect {server}"));
    assert_eq!(got.good().out, "far away\n");
    let about = "Delay 200 us each way; not calibrated: the proxy's own time comes on top.";
    assert_eq!(lines.next().unwrap(), about);
    let pid = Pid::from_child(&child.0);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(0));
    let totals = lines.last().unwrap();
    assert!(totals.starts_with("2 connections ("), "{totals}");
    serving.end();
}

#[test]
fn a_delay_proxy_refuses_what_cannot_be() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let port = serving.port().to_string();
    let taken = format!("127.0.0.1:{port}");
    place
        .line(&format!("delayproxy --to {taken} --listen {taken}"))
        .failed_with(61, "AMQ9218E");
    place
        .line(&format!("delayproxy --to {taken} --delay 1us --jitter 2us"))
        .failed_with(39, "AMQ2402E");
    place
        .line("delayproxy --to nowhere")
        .failed_with(39, "--to nowhere");
    place
        .line(&format!("delayproxy --to {taken} --delay 5"))
        .failed_with(39, "500us");
    serving.end();
}
