//! As the first process of a container: of a PID namespace.

use std::fs::File;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{BINARY, Guard, Place, Serving, skipped};
use crate::services::until;

/// What starts a program as process 1 of a namespace; none where the system does not allow that.
fn container(place: &Place) -> Option<Command> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["-r", "-p", "-f", "--kill-child"]);
        command
    };
    let possible = unshare().arg("true").output();
    if !possible.is_ok_and(|output| output.status.success()) {
        skipped("no PID namespace can be made");
        return None;
    }
    let mut command = unshare();
    command
        .arg(BINARY)
        .env("POSTHASTE_DATA", place.data())
        .env_remove("MQSERVER")
        .stdin(Stdio::null());
    Some(command)
}

fn children(process: u32) -> Vec<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().flat_map(str::parse).collect()
}

/// Waits for the only child of a process.
fn child(process: u32) -> u32 {
    let mut found = None;
    until("one child", || {
        if let [child] = children(process)[..] {
            found = Some(child);
        }
        found.is_some()
    });
    found.unwrap()
}

fn signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.cast_signed()).unwrap();
    kill_process(process, signal).unwrap();
}

/// Serving, and its first process.
fn serving(place: &Place) -> Option<(Serving, u32)> {
    let mut command = container(place)?;
    command.args(["run", "QM1", "--lf", "256", "--lp", "3", "--port", "0"]);
    let serving = Serving::start(command);
    let first = child(serving.process());
    Some((serving, first))
}

#[test]
fn a_signal_ends_the_first_process_in_order_with_the_queue_manager() {
    let place = Place::new();
    let Some((serving, first)) = serving(&place) else {
        return;
    };
    signal(first, Signal::TERM);
    let (code, text) = serving.wait();
    assert_eq!(code, 0, "{text}");
    let listed = place.line("list").good().out;
    assert!(listed.contains("STATUS(Ended immediately)"), "{listed}");
}

#[test]
fn a_signal_ends_the_first_process_before_the_queue_manager_is_ready() {
    let place = Place::new();
    let Some(mut command) = container(&place) else {
        return;
    };
    place.line("create -lf 256 -lp 3 QM1").good();
    // It waits for the process before it, as long as that ends.
    std::fs::create_dir_all(place.home("QM1").join("run")).unwrap();
    let before = File::create(place.home("QM1").join("run/process")).unwrap();
    before.lock().unwrap();
    let starting = command.args(["serve", "QM1", "--port", "0"]).spawn();
    let mut starting = Guard(starting.unwrap());
    let first = child(starting.0.id());
    child(first);
    signal(first, Signal::TERM);
    let code = starting.0.wait().unwrap().code();
    assert_eq!(code, Some(128 + 15));
}

#[test]
fn a_panic_is_seen_in_the_exit_code_of_the_first_process() {
    let place = Place::new();
    let Some((serving, first)) = serving(&place) else {
        return;
    };
    signal(child(first), Signal::ABORT);
    assert_eq!(serving.wait().0, 128 + 6);
}

#[test]
fn what_a_service_leaves_behind_is_reaped() {
    let place = Place::new();
    let Some((serving, first)) = serving(&place) else {
        return;
    };
    let process = child(first);
    let leaves = "DEFINE SERVICE(S) SERVTYPE(COMMAND) STARTCMD('/bin/sh') \
                  STARTARG('-c \"sleep 1 &\"')\nSTART SERVICE(S)";
    place.mqsc(leaves, "QM1").good();
    let left = || children(first).into_iter().any(|child| child != process);
    until("something left behind", left);
    until("it is reaped", || !left());
    signal(first, Signal::TERM);
    assert_eq!(serving.wait().0, 0);
}
