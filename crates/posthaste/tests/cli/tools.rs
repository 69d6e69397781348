//! What the tools leave behind, and what they do when the queue manager does not answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::place::{Guard, Place};

fn error_log(place: &Place) -> String {
    std::fs::read_to_string(place.home("QM1").join("errors/AMQERR01.LOG")).unwrap()
}

#[test]
fn a_failed_command_leaves_no_alarm_behind() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let full = "DEFINE QLOCAL(FULL) MAXDEPTH(1)";
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
    let said = error_log(&place);
    for alarm in ["AMQ9209E", "AMQ9208E", "AMQ9999E"] {
        assert!(!said.contains(alarm), "{alarm}: {said}");
    }
}

#[test]
fn a_local_application_is_no_channel() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let shown = place.mqsc("DISPLAY CHSTATUS(*)", "QM1");
    assert!(shown.out.contains("AMQ8420I"), "{shown:?}");
    let conn = "DISPLAY CONN(*) WHERE(APPLTAG EQ 'runmqsc') ALL";
    let shown = place.mqsc(conn, "QM1").good().out;
    for part in ["CHANNEL( )", "CONNAME( )", "MQCNO_SHARED_BINDING"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
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
    serving.signal(Signal::STOP);
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
        let mut said = String::new();
        let mut stderr = child.0.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        (child.0.wait().unwrap().code(), said)
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
    serving.signal(Signal::STOP);
    let [mut hasty, mut patient] = mqsc;
    patient.say("PING QMGR\n");
    put.say("two\n");
    let (code, said) = put.end();
    assert_eq!(code, Some(64), "{said}");
    let silence =
        "AMQ2214E: MQPUT of DEV.QUEUE.1: the queue manager did not answer within 1 seconds";
    assert!(
        said.contains(silence) && said.contains("1 message put"),
        "{said}"
    );
    hasty.say("PING QMGR\n");
    let (code, said) = hasty.end();
    assert_eq!(code, Some(10), "{said}");
    assert!(said.contains("did not answer within 1 seconds"), "{said}");
    let doctor = place.line("doctor QM1 -w 1");
    assert!(
        doctor.out.contains("QM1 is there and does not answer"),
        "{doctor:?}"
    );
    serving.kill();
    let (code, said) = patient.end();
    assert_eq!(code, Some(10), "{said}");
    assert!(said.contains("AMQ2213E") && said.contains("2009"), "{said}");
}

/// Its command server cannot take what it is asked.
#[test]
fn the_doctor_waits_for_each_answer_as_long_as_it_was_told() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let deaf = "ALTER QLOCAL(SYSTEM.ADMIN.COMMAND.QUEUE) GET(DISABLED)";
    place.mqsc(deaf, "QM1").good();
    let doctor = place.line("doctor QM1 -w 3").failed_with(64, "AMQ2029E");
    assert!(doctor.err.contains("3 seconds"), "{doctor:?}");
    serving.end();
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
