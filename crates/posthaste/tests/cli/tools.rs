//! What the tools leave behind, and what they do when the queue manager does not answer.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::place::{Guard, OPEN, Place};

#[test]
fn a_failed_command_leaves_no_alarm_behind() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let full = "DEFINE QLOCAL(FULL) MAXDEPTH(1)\n\
                SET AUTHREC PROFILE(FULL) OBJTYPE(QUEUE) PRINCIPAL('app') AUTHADD(PUT)";
    place.mqsc(full, "QM1").good();
    for reach in [&[][..], &["--connect", &server]] {
        for (command, reason) in [
            (&["put", "NO.QUEUE", "QM1"][..], "2085"),
            (&["get", "NO.QUEUE", "QM1"], "2085"),
            (&["browse", "NO.QUEUE", "QM1"], "2085"),
            (
                &["put", "FULL", "QM1", "--count", "5", "--batch", "3"],
                "2053",
            ),
        ] {
            let line: Vec<&str> = command.iter().chain(reach).copied().collect();
            place.run(&line).failed_with(1, reason);
        }
    }
    // What was not committed was not committed by leaving.
    assert_eq!(place.depth("FULL", "QM1"), 0);
    serving.end();
    let text = place.error_log("QM1");
    for alarm in ["AMQ9209E", "AMQ9208E", "AMQ9999E"] {
        assert!(!text.contains(alarm), "{alarm}: {text}");
    }
}

#[test]
fn the_numbers_of_a_queue_and_of_a_channel_are_shown() {
    let place = Place::new();
    place.line("metrics QM1").failed_with(16, "AMQ8118E");
    let serving = place.serving("QM1");
    place.fed("12345\n67890\n", "put DEV.QUEUE.1 QM1").good();
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let get = ["get", "DEV.QUEUE.1", "QM1", "--count", "1", "--connect"];
    let get: Vec<&str> = get.into_iter().chain([server.as_str()]).collect();
    place.run(&get).good();
    let shown = place.line("metrics QM1").good().out;
    for line in [
        "# TYPE posthaste_queue_arrived_bytes_total counter",
        "posthaste_queue_arrived_total{queue=\"DEV.QUEUE.1\"} 2",
        "posthaste_queue_arrived_bytes_total{queue=\"DEV.QUEUE.1\"} 10",
        "posthaste_queue_depth{queue=\"DEV.QUEUE.1\"} 1",
        "posthaste_engine_puts_total 2",
        "# TYPE posthaste_instance_calls_total counter",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    serving.end();
    place.line("metrics QM1").failed_with(40, "AMQ8146E");
}

#[test]
fn a_local_application_is_no_channel() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let shown = place.mqsc("DISPLAY CHSTATUS(*)", "QM1");
    assert!(shown.out.contains("AMQ8420I"), "{shown:?}");
    let mut put = Session::start(&place, "put DEV.QUEUE.1 QM1");
    put.say("one\n");
    while place.depth("DEV.QUEUE.1", "QM1") == 0 {}
    let conn = "DISPLAY CONN(*) WHERE(APPLTAG LK 'posthaste*') ALL";
    let shown = place.mqsc(conn, "QM1").good().out;
    assert_eq!(put.end().0, Some(0));
    let conn = "DISPLAY CONN(*) WHERE(APPLTAG EQ 'runmqsc') ALL";
    for part in ["CHANNEL( )", "CONNAME( )", "MQCNO_SHARED_BINDING"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    place.mqsc(OPEN, "QM1").good();
    let mut far = place.named("posthaste");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    far.args(["mqsc", "QM1", "-c"]).env("MQSERVER", server);
    let shown = crate::place::fed(far, conn.as_bytes()).good().out;
    for part in [
        "CHANNEL(DEV.APP.SVRCONN)",
        "CONNAME(127.0.0.1)",
        "MQCNO_SHARED_BINDING",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    serving.end();
}

#[test]
fn a_queue_manager_that_is_stopped_is_told_from_one_that_is_not_there() {
    let place = Place::new();
    let serving = place.serving("QM1");
    serving.pause();
    let began = Instant::now();
    let asked = place
        .fed("DISPLAY QMGR\n", "mqsc QM1 -w 1")
        .failed_with(20, "AMQ2029E");
    assert!(
        asked.err.contains("did not answer within 1 seconds"),
        "{asked:?}"
    );
    place.line("save QM1 -w 1").failed_with(64, "1 seconds");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
    // Commands that have no such option do not wait for a minute either.
    let asked = place.line("dspmqaut -m QM1 -t qmgr -p root");
    assert!(
        asked.err.contains("did not answer within 10 seconds"),
        "{asked:?}"
    );
    serving.signal(Signal::CONT);
    serving.end();
}

/// A tool that reads its input bit by bit, and what it says.
struct Session {
    child: Guard,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(place: &Place, line: &str) -> Session {
        let mut command = place.named("posthaste");
        command.args(line.split(' ')).stdin(Stdio::piped());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Guard(child.spawn().unwrap());
        let input = child.0.stdin.take().unwrap();
        let output = BufReader::new(child.0.stdout.take().unwrap());
        Session {
            child,
            input,
            output,
        }
    }

    fn say(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).unwrap();
    }

    /// Reads until a line that says this.
    fn hear(&mut self, part: &str) {
        let mut line = String::new();
        while !line.contains(part) {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "{part}");
        }
    }

    /// Exit code, and standard error.
    fn end(self) -> (Option<i32>, String) {
        let Session {
            mut child, input, ..
        } = self;
        drop(input);
        let mut text = String::new();
        let mut stderr = child.0.stderr.take().unwrap();
        stderr.read_to_string(&mut text).unwrap();
        (child.0.wait().unwrap().code(), text)
    }
}

/// The queue manager's process is stopped, and then killed, while tools are connected.
#[test]
fn tools_that_are_connected_do_not_wait_for_ever() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut put = Session::start(&place, "put DEV.QUEUE.1 QM1 -w 1");
    put.say("one\n");
    while place.depth("DEV.QUEUE.1", "QM1") == 0 {}
    let mut mqsc = ["1", "60"].map(|wait| Session::start(&place, &format!("mqsc QM1 -w {wait}")));
    for session in &mut mqsc {
        session.say("PING QMGR\n");
        session.hear("AMQ8415I");
    }
    serving.pause();
    let [mut hasty, mut patient] = mqsc;
    patient.say("PING QMGR\n");
    put.say("two\n");
    let (code, text) = put.end();
    assert_eq!(code, Some(64), "{text}");
    let silence =
        "AMQ2214E: MQPUT of DEV.QUEUE.1: the queue manager did not answer within 1 seconds";
    assert!(
        text.contains(silence) && text.contains("1 message put"),
        "{text}"
    );
    hasty.say("PING QMGR\n");
    let (code, text) = hasty.end();
    assert_eq!(code, Some(10), "{text}");
    assert!(text.contains("did not answer within 1 seconds"), "{text}");
    let doctor = place.line("doctor QM1 -w 1");
    assert!(
        doctor.out.contains("QM1 is there and does not answer"),
        "{doctor:?}"
    );
    serving.kill();
    let (code, text) = patient.end();
    assert_eq!(code, Some(10), "{text}");
    assert!(text.contains("AMQ2213E") && text.contains("2009"), "{text}");
}

/// A process that says that it runs, and carries out nothing.
#[test]
fn the_doctor_waits_for_each_answer_as_long_as_it_was_told() {
    let place = Place::new();
    place.line("create QM1").good();
    let run = place.home("QM1").join("run");
    std::fs::create_dir_all(&run).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(run.join("control.sock")).unwrap();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in socket.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            match line.as_str() {
                "STATUS\n" => stream.get_mut().write_all(b"OK Running\n").unwrap(),
                _ => silent.push(stream),
            }
        }
    });
    let doctor = place.line("doctor QM1 -w 1").failed_with(64, "AMQ2029E");
    assert!(doctor.err.contains("1 seconds"), "{doctor:?}");
}

#[test]
fn what_runs_is_named_with_its_process() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let process = format!("in process {}", serving.process());
    for command in [
        "start QM1",
        "run QM1 --port 0",
        "delete QM1",
        "check --data QM1",
    ] {
        let refused = place.line(command).failed_with(5, "AMQ2021E");
        assert!(refused.err.contains(&process), "{refused:?}");
    }
    serving.end();
}

#[test]
fn a_client_connection_goes_nowhere_by_itself() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .fed("DISPLAY QMGR\n", "mqsc QM1 -c")
        .failed_with(20, "MQSERVER");
    serving.end();
}

/// The value of a series, if it is shown.
fn value(shown: &str, series: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok();
    shown.lines().find_map(value)
}

/// Every counter of one moment; none becomes less.
fn counters(shown: &str) -> BTreeMap<&str, u64> {
    let pairs = shown.lines().filter_map(|line| line.rsplit_once(' '));
    let counters = pairs.filter(|(series, _)| series.contains("_total"));
    counters
        .filter_map(|(series, value)| Some((series, value.parse().ok()?)))
        .collect()
}

/// The value of a series of the client's channel.
fn of_channel(shown: &str, name: &str) -> Option<u64> {
    let channel = "channel=\"DEV.APP.SVRCONN\"";
    let found = |line: &&str| line.starts_with(name) && line.contains(channel);
    let line = shown.lines().find(found)?;
    line.rsplit_once(' ')?.1.parse().ok()
}

/// Whether all numbers tell of so many messages of 10 bytes. They are not all taken at the same moment.
fn tell_of(shown: &str, messages: u64) -> bool {
    let queue = |name: &str| {
        let series = format!("posthaste_queue_{name}{{queue=\"DEV.QUEUE.1\"}}");
        value(shown, &series)
    };
    let lanes = counters(shown).into_iter();
    let lanes = lanes.filter(|(series, _)| series.starts_with("posthaste_lane_bytes_read_total{"));
    let read: u64 = lanes.map(|(_, bytes)| bytes).sum();
    let received = of_channel(shown, "posthaste_instance_bytes_received_total").unwrap_or(0);
    let calls = of_channel(shown, "posthaste_instance_calls_total").unwrap_or(0);
    value(shown, "posthaste_engine_puts_total") == Some(messages)
        && queue("arrived_total") == Some(messages)
        && queue("arrived_bytes_total") == Some(10 * messages)
        && queue("open_output") == Some(1)
        && of_channel(shown, "posthaste_connection_puts_total") == Some(messages)
        && calls >= messages
        && received > 10 * messages
        && read >= received
}

#[test]
fn metrics_follow_a_running_load() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let mut putting = place.named("posthaste");
    putting.args(["put", "DEV.QUEUE.1", "QM1", "--connect", &server]);
    let putting = putting.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut putting = Guard(putting.unwrap());
    let mut lines = putting.0.stdin.take().unwrap();
    let mut before = String::new();
    for round in 1..=3 {
        lines
            .write_all("0123456789\n".repeat(500).as_bytes())
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = place.line("metrics QM1").good().out;
            let now = counters(&shown);
            for (series, value) in counters(&before) {
                // A series goes with its connection.
                let after = now.get(series).copied().unwrap_or(value);
                assert!(after >= value, "{series}: {value}, then {after}");
            }
            before.clone_from(&shown);
            if tell_of(&shown, round * 500) {
                break;
            }
            assert!(Instant::now() < deadline, "{shown}");
        }
    }
    drop(lines);
    assert!(putting.0.wait().unwrap().success());
    serving.end();
}
