//! Ports that somebody else has: the queue manager runs without the listener, says so, and tries again.

use std::net::{TcpListener, TcpStream};

use crate::place::{Background, Outcome, Place};

/// A port that is taken for as long as this lives.
fn taken() -> (TcpListener, u16) {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    (taken, port)
}

#[track_caller]
fn warned(outcome: &Outcome, id: &str, port: u16) {
    let text = &outcome.err;
    for part in [id, &port.to_string(), "ss -ltnp", "start --port"] {
        assert!(text.contains(part), "{part}: {outcome:?}");
    }
}

#[test]
fn a_port_in_use_keeps_no_queue_manager_from_starting() {
    let place = Place::new();
    let (holder, port) = taken();
    let create = ["create", "-lf", "64", "-p", &port.to_string(), "QM1"];
    warned(&place.run(&create).good(), "AMQ2041W", port);
    let started = place.line("start QM1").good();
    let _background = Background {
        place: &place,
        name: "QM1",
    };
    warned(&started, "AMQ2040W", port);
    assert!(started.out.contains("started"), "{started:?}");
    let log = place.home("QM1").join("errors/AMQERR01.LOG");
    assert!(std::fs::read_to_string(log).unwrap().contains("AMQ2040W"));
    // Local applications are served, and the listener's state is told.
    let status = "DISPLAY LSSTATUS(*) STATUS PORT";
    let shown = place.mqsc(status, "QM1").good().out;
    assert!(shown.contains("STATUS(STARTING)") && shown.contains(&format!("PORT({port})")));
    let refused = place.mqsc("DELETE LISTENER(SYSTEM.LISTENER.TCP.1)", "QM1");
    assert!(refused.out.contains("AMQ8730E"), "{refused:?}");
    // As soon as the port is free, it listens.
    drop(holder);
    while !place.mqsc(status, "QM1").out.contains("STATUS(RUNNING)") {}
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    let listed = place.line("list -o all").good().out;
    assert!(listed.contains(&format!("ADDRESS(127.0.0.1({port}))")));
}

#[test]
fn a_listener_that_waits_is_stopped_and_started_like_any_other() {
    let place = Place::new();
    let (_holder, port) = taken();
    place
        .run(&["create", "-lf", "64", "-p", &port.to_string(), "QM1"])
        .good();
    place.line("start QM1").good();
    let _background = Background {
        place: &place,
        name: "QM1",
    };
    let listener = "LISTENER(SYSTEM.LISTENER.TCP.1)";
    let ask = |command: &str| place.mqsc(command, "QM1").out;
    assert!(ask(&format!("STOP {listener}")).contains("AMQ8706I"));
    assert!(ask("DISPLAY LSSTATUS(SYSTEM.LISTENER.TCP.1)").contains("AMQ8731E"));
    assert!(ask(&format!("START {listener}")).contains("AMQ9218E"));
    let other = format!("ALTER {listener} TRPTYPE(TCP) PORT(0)\nSTART {listener}");
    assert!(ask(&other).contains("AMQ8021I"));
    assert!(ask("DISPLAY LSSTATUS(*)").contains("STATUS(RUNNING)"));
}

#[test]
fn a_start_may_choose_another_port_or_none() {
    let place = Place::new();
    let (_holder, port) = taken();
    place
        .run(&["create", "-lf", "64", "-p", &port.to_string(), "QM1"])
        .good();
    let _background = Background {
        place: &place,
        name: "QM1",
    };
    let mut strmqm = place.named("strmqm");
    strmqm.args(["-ns", "QM1"]);
    let started = crate::place::outcome(&mut strmqm).good();
    assert!(!started.err.contains("AMQ2040W"), "{started:?}");
    let listed = place.line("list -o all").good().out;
    assert!(!listed.contains("LISTENER("), "{listed}");
    place
        .fed("x\n", "put SYSTEM.DEFAULT.LOCAL.QUEUE QM1")
        .good();
    place.line("stop -i QM1").good();

    let started = place.line("start QM1 --port 0").good();
    assert!(!started.err.contains("AMQ2040W"), "{started:?}");
    let listed = place.line("list -o all").good().out;
    assert!(listed.contains("ADDRESS(127.0.0.1("), "{listed}");
    place.line("start QM1 --port 0 -ns").failed_with(39, "");
}

#[test]
fn the_first_command_works_where_its_port_is_taken() {
    let place = Place::new();
    let (_holder, port) = taken();
    let serving = place.serving_with("QM1", &["--port", &port.to_string()]);
    let text = serving.welcome.join("\n");
    assert!(
        text.contains(&format!("not on 127.0.0.1({port})")),
        "{text}"
    );
    assert!(text.contains("run QM1 --port 0"), "{text}");
    place.fed("x\n", "put DEV.QUEUE.1 QM1").good();
    serving.end();
}
