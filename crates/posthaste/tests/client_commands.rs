//! The client commands against a queue manager that another process runs: what they print, what
//! they leave on queues, and how they exit.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test a panic is how a failure is reported"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_posthaste");

/// A running queue manager with the developer's objects; ended when dropped.
struct Running {
    folder: tempfile::TempDir,
    child: Child,
    port: u16,
}

impl Running {
    fn new() -> Running {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(folder.path(), "run QM1 --port 0 --lf 64")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut port = None;
        let mut line = String::new();
        // It says where it listens, and its last words are about how it ends, when it serves.
        while !line.starts_with("Ctrl-C") {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "it did not start");
            if let Some(address) = line.trim().strip_prefix("Listening") {
                port = address.rsplit(':').next().unwrap().trim().parse().ok();
            }
        }
        Running {
            folder,
            child,
            port: port.expect("it says where it listens"),
        }
    }

    fn run(&self, line: &str, input: &[u8]) -> Output {
        with_input(command(self.folder.path(), line), input)
    }

    /// Runs a command that must end with this code; gives what it wrote.
    fn text(&self, code: i32, line: &str, input: &str) -> String {
        let output = self.run(line, input.as_bytes());
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}\n{text}\n{errors}");
        text
    }

    /// The error text of a command that must end with this code.
    fn errors(&self, code: i32, line: &str) -> String {
        let output = self.run(line, b"");
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn depth(&self, queue: &str) -> String {
        let script = format!("DISPLAY QLOCAL({queue}) CURDEPTH");
        let text = self.text(0, "mqsc QM1 -e", &script);
        let from = text.find("CURDEPTH(").expect("CURDEPTH is shown");
        text[from + 9..].split(')').next().unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let ended = command(self.folder.path(), "stop -i QM1").output();
        if !ended.is_ok_and(|output| output.status.success()) {
            // The test has failed already; nothing may be left behind.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(line.split_whitespace())
        .env("POSTHASTE_DATA", folder)
        .env_remove("MQSERVER");
    command
}

fn with_input(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that needs no input may have ended before it is written.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[test]
fn messages_go_in_and_come_out() {
    let qm = Running::new();
    assert_eq!(qm.text(0, "put DEV.QUEUE.1 QM1", "one\r\ntwo\n\nlast"), "");
    assert_eq!(qm.depth("DEV.QUEUE.1"), "4");
    let shown = qm.text(0, "browse DEV.QUEUE.1 QM1 --count 1", "");
    assert!(shown.contains("  Format : 'MQSTR   '"), "{shown}");
    assert!(shown.contains("6F6E 65"), "{shown}");
    assert_eq!(qm.text(0, "get DEV.QUEUE.1 QM1", ""), "one\ntwo\n\nlast\n");
    assert_eq!(qm.text(1, "get DEV.QUEUE.1 QM1", ""), "", "nothing is left");

    qm.text(
        0,
        "put DEV.QUEUE.1 QM1 --count 250 --size 1K --batch 100",
        "",
    );
    assert_eq!(qm.depth("DEV.QUEUE.1"), "250");
    let taken = qm.text(0, "get DEV.QUEUE.1 QM1 --count 50 --form hex", "");
    assert_eq!(taken.lines().count(), 50);
    assert!(taken.lines().all(|line| line.len() == 2048));
    assert_eq!(qm.depth("DEV.QUEUE.1"), "200");
    assert_eq!(
        qm.text(1, "get DEV.QUEUE.1 QM1 --count 201", "")
            .lines()
            .count(),
        200
    );
}

#[test]
fn messages_are_found_by_their_identifiers() {
    let qm = Running::new();
    qm.text(0, "put DEV.QUEUE.2 QM1 --correlid 0A", "for ten\n");
    qm.text(0, "put DEV.QUEUE.2 QM1 --correlid 0B", "for eleven\n");
    let id = qm.text(0, "put DEV.QUEUE.2 QM1 --ids --persistent", "by id\n");
    assert_eq!(
        qm.text(0, "get DEV.QUEUE.2 QM1 --correlid 0B", ""),
        "for eleven\n"
    );
    let by_id = format!("get DEV.QUEUE.2 QM1 --msgid {}", id.trim());
    assert_eq!(qm.text(0, &by_id, ""), "by id\n");
    assert_eq!(qm.text(1, "get DEV.QUEUE.2 QM1 --correlid 0C", ""), "");
    assert_eq!(qm.text(0, "get DEV.QUEUE.2 QM1 --wait 1", ""), "for ten\n");
}

#[test]
fn files_are_whole_messages_and_bytes_stay_as_they_are() {
    let qm = Running::new();
    let path = qm.folder.path().join("letter");
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    std::fs::write(&path, &bytes).unwrap();
    let line = format!("put DEV.QUEUE.3 QM1 --file {}", path.display());
    qm.text(0, &line, "");
    let output = qm.run("get DEV.QUEUE.3 QM1 --form raw", b"");
    assert!(output.stdout == bytes, "the file comes back");
}

#[test]
fn a_reader_that_goes_away_costs_no_message() {
    let qm = Running::new();
    qm.text(
        0,
        "put DEV.QUEUE.1 QM1 --count 2000 --size 1K --batch 500",
        "",
    );
    let mut get = command(qm.folder.path(), "get DEV.QUEUE.1 QM1 --batch 5000 -z")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    get.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = get.wait_with_output().unwrap();
    assert_eq!(&first, b"message 1 ");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stderr, b"", "a pipe that closes is no error");
    // All of them can be got again, whenever the queue manager has noticed that the reader left.
    let all = qm.text(0, "get DEV.QUEUE.1 QM1 --count 2000 --wait 30", "");
    assert_eq!(all.lines().count(), 2000);
}

#[test]
fn scripts_are_answered_counted_and_told_by_the_exit_code() {
    let qm = Running::new();
    let good =
        "* a comment\nDEFINE QLOCAL(A.B) +\n  MAXDEPTH(3)\nDISPLAY QLOCAL(A.B) MAXDEPTH\nEND\nJUNK";
    let text = qm.text(0, "mqsc QM1", good);
    for part in [
        "Starting MQSC for queue manager QM1.",
        "     1 : DEFINE QLOCAL(A.B) MAXDEPTH(3)\nAMQ8006I",
        "     2 : DISPLAY QLOCAL(A.B) MAXDEPTH\nAMQ8409I: Display Queue details.\n   QUEUE(A.B)",
        "MAXDEPTH(3)",
        "2 MQSC commands read.\nNo commands have a syntax error.\nAll valid MQSC commands were processed.\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let bad = "JUNK\nDELETE QLOCAL(NOT.THERE)\nDISPLAY QMGR";
    let text = qm.text(10, "runmqsc QM1", bad);
    assert!(text.contains("AMQ8405I"), "{text}");
    assert!(text.contains("AMQ8147E"), "{text}");
    assert!(text.contains("QMNAME(QM1)"), "{text}");
    let counts = "3 MQSC commands read.\nOne command has a syntax error.\nOne valid MQSC command could not be processed.\n";
    assert!(text.ends_with(counts), "{text}");
    // Only looked at: nothing is done, no queue manager is needed.
    let text = qm.text(10, "mqsc NOBODY -v", "DEFINE QLOCAL(X.Y)\nJUNK\n");
    assert!(text.contains("One command has a syntax error."), "{text}");
    assert!(qm.errors(20, "mqsc NOBODY").contains("AMQ8118E"));
    assert!(
        qm.errors(20, "mqsc QM1 -f /no/such/file")
            .contains("AMQ2008E")
    );
}

#[test]
fn messages_that_are_too_many_are_told_and_the_others_stay() {
    let qm = Running::new();
    qm.text(0, "mqsc QM1", "DEFINE QLOCAL(SMALL) MAXDEPTH(5)");
    let output = qm.run("put SMALL QM1 --count 8 --batch 3", b"");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("MQRC_Q_FULL [2053]"), "{errors}");
    assert!(errors.contains("3 messages put to SMALL"), "{errors}");
    assert_eq!(qm.text(0, "get SMALL QM1 --wait 1", "").lines().count(), 3);
}

#[test]
fn every_wrong_call_has_a_number_and_a_code() {
    let qm = Running::new();
    let long = "X".repeat(49);
    for (line, code, part) in [
        ("put NOT.THERE QM1", 1, "MQRC_UNKNOWN_OBJECT_NAME [2085]"),
        (
            &*format!("put {long} QM1"),
            1,
            "MQRC_OBJECT_NAME_ERROR [2152]",
        ),
        (
            &*format!("get {long} QM1"),
            1,
            "MQRC_OBJECT_NAME_ERROR [2152]",
        ),
        ("get DEV.QUEUE.1 QM2", 16, "AMQ8118E"),
        ("get DEV.QUEUE.1 QM-2", 39, "AMQ7048E"),
        ("get DEV.QUEUE.1 --connect X", 39, "AMQ2402E"),
        ("get DEV.QUEUE.1 QM1 --wait soon", 39, "--wait"),
        ("put", 39, "QUEUE"),
        ("amqsput", 99, "QUEUE"),
    ] {
        let errors = qm.errors(code, line);
        assert!(errors.contains(part), "{line}\n{errors}");
    }
}

#[test]
fn the_samples_speak_as_users_know_them() {
    let qm = Running::new();
    let text = qm.text(
        0,
        "amqsput DEV.QUEUE.1 QM1",
        "first\nsecond\n\nnot any more\n",
    );
    let expected = "Sample AMQSPUT0 start\ntarget queue is DEV.QUEUE.1\nSample AMQSPUT0 end\n";
    assert_eq!(text, expected);
    assert_eq!(qm.depth("DEV.QUEUE.1"), "2");
    let text = qm.text(0, "amqsgbr DEV.QUEUE.1 QM1", "");
    assert!(text.contains("1 <first>\n"), "{text}");
    assert!(text.contains("no more messages\n"), "{text}");
    let text = qm.text(0, "amqsbcg DEV.QUEUE.1 QM1", "");
    for part in [
        "AMQSBCG0 - starts here",
        " MQGET of message number 2, ",
        "6669 7273 74",
        "'second",
        "No more messages",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // As a client, over TCP, under the sample's own name.
    let link = qm.folder.path().join("amqsputc");
    std::os::unix::fs::symlink(PROGRAM, &link).unwrap();
    let mut sample = Command::new(&link);
    sample.args(["DEV.QUEUE.1", "QM1"]).env(
        "MQSERVER",
        format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", qm.port),
    );
    let output = with_input(sample, b"third\n");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = qm.text(1, "amqsput NOT.THERE QM1", "x\n");
    assert!(
        text.contains("MQOPEN ended with reason code 2085\nunable to open queue for output\n"),
        "{text}"
    );
    assert_eq!(
        qm.text(0, "get DEV.QUEUE.1 QM1", ""),
        "first\nsecond\nthird\n"
    );
}
