//! As the first process of a container: of a PID namespace.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::place::{BINARY, Guard, Place, Serving, skipped};
use crate::services::until;

/// What starts the program as process 1 of a namespace; none where the system does not allow that.
fn container(place: &Place) -> Option<Command> {
    container_of(place, &[])
}

/// The same; by way of another program, which runs it in its own place.
fn container_of(place: &Place, by_way_of: &[&str]) -> Option<Command> {
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
        .args(by_way_of)
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
    Some(started(container(place)?))
}

fn started(mut command: Command) -> (Serving, u32) {
    command.args(["run", "QM1", "--lf", "256", "--lp", "3", "--port", "0"]);
    let serving = Serving::start(command);
    let first = child(serving.process());
    (serving, first)
}

/// Serving, and its first process, which leads a session that has a terminal of its own (`docker run -it`): that.
fn serving_at_a_terminal(place: &Place) -> Option<(Serving, u32, File)> {
    let mut command = container_of(place, &["setsid", "--ctty"])?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let ends = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let stdin = rustix::fs::open(name, ends, Mode::empty()).unwrap();
    command.stdin(stdin);
    let (serving, first) = started(command);
    Some((serving, first, terminal.into()))
}

#[test]
fn what_is_typed_does_not_stop_it_and_a_signal_ends_it_after_that() {
    let place = Place::new();
    let Some((serving, first, mut terminal)) = serving_at_a_terminal(&place) else {
        return;
    };
    const CTRL_Z: u8 = 0x1a;
    terminal.write_all(&[CTRL_Z]).unwrap();
    // Told when the signal has been sent.
    terminal.read_exact(&mut [0; 2]).unwrap();
    signal(first, Signal::TERM);
    let (code, text) = serving.wait();
    assert_eq!(code, 0, "{text}");
}

#[test]
fn it_ends_in_order_with_its_terminal() {
    let place = Place::new();
    let Some((serving, _, terminal)) = serving_at_a_terminal(&place) else {
        return;
    };
    drop(terminal);
    let (code, text) = serving.wait();
    assert_eq!(code, 0, "{text}");
    let listed = place.line("list").good().out;
    assert!(listed.contains("STATUS(Ended immediately)"), "{listed}");
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
