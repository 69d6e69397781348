//! The page about the channel protocol, proved by the client that was written from it.

use std::path::Path;
use std::process::Command;

use crate::place::{Outcome, Place, Serving, outcome, skipped};

const CLIENT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/internals/speak_channel.py"
);

fn python_is_missing() -> bool {
    let missing = Command::new("python3").arg("--version").output().is_err();
    if missing {
        let in_ci = std::env::var_os("CI").is_some();
        assert!(!in_ci, "the second client needs python3");
        skipped("there is no python3 here");
    }
    missing
}

/// Runs the client: options, then channel, queue manager, queue and texts.
fn speak(serving: &Serving, options: &[&str], rest: &[&str]) -> Outcome {
    assert!(Path::new(CLIENT).exists(), "{CLIENT}");
    let mut command = Command::new("python3");
    command.arg("-I").arg(CLIENT).args(options);
    command.args(["127.0.0.1", &serving.port().to_string()]);
    outcome(command.args(rest))
}

#[test]
fn a_client_written_from_the_page_speaks_in_every_form() {
    if python_is_missing() {
        return;
    }
    let place = Place::new();
    let serving = place.serving("QM1");
    let kept = std::fs::read_to_string(place.home("QM1").join("first-passwords")).unwrap();
    let mut kept = kept.lines().filter_map(|line| line.strip_prefix("app "));
    let password = kept.next().unwrap();
    // Longer than three segments.
    let long = "0123456789".repeat(10_000);
    let rest = [
        "DEV.APP.SVRCONN",
        "QM1",
        "DEV.QUEUE.1",
        "Hello",
        "Grüße",
        &long,
    ];
    let lines = |conversations: u32| {
        let got = |count: u32| {
            let one = |text: &&str| format!("got {text} (backed out {count} times)\n");
            rest.iter().skip(3).map(one).collect::<String>()
        };
        format!(
            "connected to QM1 at level 12, segments of 32766 bytes, {conversations} conversations\n\
             put 3, depth 3\n{}{}depth 0\ndisconnected\n",
            got(0),
            got(1)
        )
    };
    for (options, conversations) in [
        (&[][..], 10),
        (&["--little"], 10),
        (&["--unshared"], 0),
        (
            &[
                "--little",
                "--unshared",
                "--user",
                "app",
                "--password",
                password,
            ],
            0,
        ),
    ] {
        let outcome = speak(&serving, options, &rest).good();
        assert_eq!(outcome.out, lines(conversations), "{options:?}");
        assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0, "{options:?}");
    }
    serving.end();
}

#[test]
fn a_client_written_from_the_page_tells_statuses_and_reasons() {
    if python_is_missing() {
        return;
    }
    let place = Place::new();
    let serving = place.serving("QM1");
    for (options, rest, id) in [
        (
            &["--little"][..],
            ["NO.SUCH.CHANNEL", "QM1", "DEV.QUEUE.1"],
            "status 1: no channel of that name",
        ),
        (
            &["--unshared"],
            ["DEV.APP.SVRCONN", "QM2", "DEV.QUEUE.1"],
            "MQCONN gave completion code 2, reason 2058",
        ),
        (
            &[],
            ["DEV.APP.SVRCONN", "", "NO.SUCH.QUEUE"],
            "MQOPEN gave completion code 2, reason 2085",
        ),
    ] {
        let [channel, name, queue] = rest;
        let outcome = speak(&serving, options, &[channel, name, queue, "Hello"]);
        outcome.failed_with(1, id);
    }
    place.mqsc("STOP CHANNEL(DEV.APP.SVRCONN)", "QM1").good();
    let rest = ["DEV.APP.SVRCONN", "QM1", "DEV.QUEUE.1", "Hello"];
    speak(&serving, &[], &rest).failed_with(1, "status 22: the channel is not available");
    serving.end();
}
