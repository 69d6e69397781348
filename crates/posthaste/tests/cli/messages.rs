//! put, get and browse.

use std::io::Write as _;
use std::process::Stdio;

use crate::place::{Guard, OPEN, Place, fed, skipped};

#[test]
fn bytes_come_back_as_they_went() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let file = place.path().join("bytes");
    let bytes: Vec<u8> = (0..=255u8).cycle().take(300_000).collect();
    std::fs::write(&file, &bytes).unwrap();
    let back = place.path().join("back");
    place
        .run(&[
            "put",
            "DEV.QUEUE.1",
            "QM1",
            "--file",
            file.to_str().unwrap(),
        ])
        .good();
    let mut command = place.named("posthaste");
    command.args(["get", "DEV.QUEUE.1", "QM1", "--count", "1", "--form", "raw"]);
    command.stdout(std::fs::File::create(&back).unwrap());
    assert!(command.status().unwrap().success());
    assert_eq!(std::fs::read(&back).unwrap(), bytes);

    // Empty lines are messages, line ends are not part of them, text need not be UTF-8.
    place
        .fed(b"a\n\nc\r\n\xff\nlast", "put DEV.QUEUE.1 QM1")
        .good();
    let got = place.line("get DEV.QUEUE.1 QM1 --form hex").good();
    assert_eq!(got.out, "61\n\n63\nFF\n6C617374\n");
    assert!(got.err.contains("5 messages got from DEV.QUEUE.1."));
    serving.end();
}

#[test]
fn units_of_work_are_counted_and_kept_whole() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let put = place.line("put DEV.QUEUE.1 QM1 --count 250 --size 100 --batch 100 --persistent");
    assert!(put.good().err.contains("250 messages put to DEV.QUEUE.1."));
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 250);

    // A queue that is full in the middle of a unit of work: what is reported is what is there.
    place
        .mqsc("ALTER QLOCAL(DEV.QUEUE.2) MAXDEPTH(25)", "QM1")
        .good();
    let full = place
        .line("put DEV.QUEUE.2 QM1 --count 100 --size 10 --batch 10")
        .failed_with(1, "AMQ2208E");
    assert!(full.err.contains("2053"), "{full:?}");
    // Whoever has the binary only has no page to look it up in.
    assert!(
        full.err.contains("MAXDEPTH") && !full.err.contains("docs/"),
        "{full:?}"
    );
    assert!(
        full.err
            .contains("20 messages put to DEV.QUEUE.2; 5 messages backed out.")
    );
    assert_eq!(place.depth("DEV.QUEUE.2", "QM1"), 20);

    let got = place
        .line("get DEV.QUEUE.1 QM1 --count 30 --batch 7")
        .good();
    assert_eq!(got.out.lines().count(), 30);
    assert!(got.out.starts_with("message 1 abc"));
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 220);
    let few = place.line("get DEV.QUEUE.2 QM1 --count 21");
    assert_eq!((few.code, few.out.lines().count()), (1, 20));
    // A call that fails in the middle of a unit of work: what has been written out does not come again.
    place.fed("one\ntwo\n", "put DEV.QUEUE.3 QM1").good();
    place
        .line("put DEV.QUEUE.3 QM1 --count 1 --size 100")
        .good();
    let failed = place
        .line("get DEV.QUEUE.3 QM1 --max 10")
        .failed_with(1, "2080");
    assert_eq!(failed.out, "one\ntwo\n");
    assert!(failed.err.contains("2 messages got from DEV.QUEUE.3."));
    assert_eq!(place.depth("DEV.QUEUE.3", "QM1"), 1);
    serving.end();
}

#[test]
fn asynchronous_puts_are_confirmed_before_they_are_reported() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let script = "ALTER QLOCAL(DEV.QUEUE.2) MAXDEPTH(25)\nALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(20000)\n\
                  DEFINE QLOCAL(SWIFT) MAXDEPTH(3) DEFPRESP(ASYNC)";
    place.mqsc(script, "QM1").good();
    let put = place.line("put DEV.QUEUE.1 QM1 --async --count 12000 --size 100");
    assert!(
        put.good()
            .err
            .contains("12000 messages put to DEV.QUEUE.1.")
    );
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 12_000);
    let put = place
        .fed("a\nb\nc\n", "put DEV.QUEUE.1 QM1 --async --ids")
        .good();
    assert_eq!(put.out.lines().count(), 3);

    let full = place
        .line("put DEV.QUEUE.2 QM1 --async --count 100 --size 10")
        .failed_with(1, "AMQ2208E");
    assert!(full.err.contains("2053"), "{full:?}");
    // Whoever has the binary only has no page to look it up in.
    assert!(
        full.err.contains("MAXDEPTH") && !full.err.contains("docs/"),
        "{full:?}"
    );
    let counts = "Of the last 100 messages sent, 75 could not be put";
    assert!(full.err.contains(counts), "{full:?}");
    assert!(full.err.contains("25 messages put to DEV.QUEUE.2."));
    place.line("get DEV.QUEUE.2 QM1").good();
    // With units of work: what is reported is what was committed.
    let full = place
        .line("put DEV.QUEUE.2 QM1 --async --count 100 --size 10 --batch 10 --persistent")
        .failed_with(1, "AMQ2208E");
    let counts = "20 messages put to DEV.QUEUE.2; 5 messages backed out.";
    assert!(full.err.contains(counts), "{full:?}");
    assert_eq!(place.depth("DEV.QUEUE.2", "QM1"), 20);
    // Without the option every message is waited for, whatever the queue says.
    let full = place
        .line("put SWIFT QM1 --count 5 --size 10")
        .failed_with(1, "AMQ2208E");
    assert!(full.err.contains("3 messages put to SWIFT."), "{full:?}");
    serving.end();
}

#[test]
fn an_asynchronous_put_tells_what_it_does_not_know() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("posthaste");
    command.args(["put", "DEV.QUEUE.1", "QM1", "--async"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = child.stdin.take().unwrap();
    lines.write_all(b"one\ntwo\n").unwrap();
    // Both have come, though nothing follows them.
    let got = place.line("get DEV.QUEUE.1 QM1 --count 2 --wait 60").good();
    assert_eq!(got.out, "one\ntwo\n");
    serving.kill();
    lines.write_all(b"three\n").unwrap();
    drop(lines);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("AMQ2208E") && err.contains("2009"), "{err}");
    assert!(
        err.contains("0 messages put to DEV.QUEUE.1; whether"),
        "{err}"
    );
    assert!(
        err.contains("more that were sent were put is not known"),
        "{err}"
    );
}

#[test]
fn what_cannot_be_written_is_not_lost() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .line("put DEV.QUEUE.1 QM1 --count 50 --size 100 --persistent")
        .good();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let mut command = place.named("posthaste");
    command
        .args(["get", "DEV.QUEUE.1", "QM1"])
        .stdout(full.unwrap());
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(63), "{err}");
    assert!(
        err.contains("AMQ2210E") && err.contains("0 messages got"),
        "{err}"
    );
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 50);

    // A reader that goes away.
    let mut command = place.named("posthaste");
    command.args(["get", "DEV.QUEUE.1", "QM1", "--batch", "1"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut getting = Guard(child.unwrap());
    drop(getting.0.stdout.take());
    assert_eq!(getting.0.wait().unwrap().code(), Some(0));
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 50);
    serving.end();
}

/// The exit codes are in docs/operating.md.
#[test]
fn a_queue_without_messages_fails_a_get_and_no_browse() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let got = place.line("get DEV.QUEUE.1 QM1 --count 3");
    assert_eq!(
        (got.code, got.err.as_str()),
        (1, "0 messages got from DEV.QUEUE.1.\n")
    );
    let browsed = place.line("browse DEV.QUEUE.1 QM1 --count 3");
    assert_eq!(
        (browsed.code, browsed.err.as_str()),
        (0, "0 messages on DEV.QUEUE.1.\n")
    );
    serving.end();
}

#[test]
fn selectors_select() {
    let place = Place::new();
    let serving = place.serving("QM1");
    for (text, priority) in [("low\n", "2"), ("high\n", "7")] {
        let put = format!("put DEV.QUEUE.1 QM1 --priority {priority}");
        place.fed(text, &put).good();
    }
    let with =
        |command, selector| place.run(&[command, "DEV.QUEUE.1", "QM1", "--selector", selector]);
    let browsed = with("browse", "JMSPriority BETWEEN 5 AND 9").good();
    assert!(browsed.out.contains("Priority : 7"), "{browsed:?}");
    assert!(!browsed.out.contains("Priority : 2"), "{browsed:?}");
    let got = with("get", "Root.MQMD.Format = 'MQSTR' AND JMSPriority < 5").good();
    assert_eq!(got.out, "low\n");
    for command in ["get", "browse"] {
        let refused = with(command, "JMSPriority >");
        assert!(refused.err.contains("2459"), "{refused:?}");
        assert_ne!(refused.code, 0);
    }
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    serving.end();
}

#[test]
fn identifiers_select_and_descriptors_are_as_asked() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let first = place.fed(
        "first\n",
        "put DEV.QUEUE.1 QM1 --ids --correlid ABCD --priority 7 --persistent --reply-to R.Q --expiry 100",
    );
    let id = first.good().out.trim().to_owned();
    assert_eq!(id.len(), 48);
    place
        .fed(
            "second\n",
            "put DEV.QUEUE.1 QM1 --msgid 0102 --format MQHEX --nonpersistent",
        )
        .good();
    let shown = place.line("browse DEV.QUEUE.1 QM1").good().out;
    for part in [
        "  Priority : 7  Persistence : 1",
        "  CorrelId : X'ABCD0000",
        "  Report   : 0  MsgType : 1",
        "  ReplyToQ       : 'R.Q  ",
        "  Format : 'MQHEX   '",
        "  MsgId : X'01020000",
        &format!("  MsgId : X'{id}'"),
        "00000000:  6669 7273 74                             'first           '",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let expiry = shown.lines().find(|line| line.contains("Expiry")).unwrap();
    let tenths: i32 = expiry.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((1..=1000).contains(&tenths), "{expiry}");
    let one = place.line("get DEV.QUEUE.1 QM1 --msgid 0102").good();
    assert_eq!(one.out, "second\n");
    assert_eq!(place.line("get DEV.QUEUE.1 QM1 --correlid AB").out, "");
    assert_eq!(
        place.line("get DEV.QUEUE.1 QM1 --correlid ABCD").out,
        "first\n"
    );
    serving.end();
}

#[test]
fn get_waits_for_what_comes() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("posthaste");
    command.args(["get", "DEV.QUEUE.1", "QM1", "--wait", "60", "--count", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let getting = child.unwrap();
    let waiting = "DISPLAY QSTATUS(DEV.QUEUE.1) IPPROCS";
    while !place.mqsc(waiting, "QM1").out.contains("IPPROCS(1)") {}
    place.fed("came\n", "put DEV.QUEUE.1 QM1").good();
    let output = getting.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"came\n");
    serving.end();
}

#[test]
fn clients_come_over_the_network_too() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let elsewhere = Place::new();
    let mut command = elsewhere.named("posthaste");
    command
        .args(["put", "DEV.QUEUE.1", "QM1"])
        .env("MQSERVER", &server);
    fed(command, b"from afar\n").good();
    let run = |arguments: &[&str]| elsewhere.run(arguments);
    // No name takes whichever queue manager answers; a wrong one is refused.
    let put = ["put", "DEV.QUEUE.1", "--count", "1", "--connect", &server];
    run(&put).good();
    run(&["get", "DEV.QUEUE.1", "QM2", "--connect", &server]).failed_with(1, "2058");
    let unknown = server.replace("DEV.APP", "NO.SUCH");
    run(&["get", "DEV.QUEUE.1", "--connect", &unknown]).failed_with(1, "2540");
    run(&["get", "NO.QUEUE", "--connect", &server]).failed_with(1, "2085");
    run(&["get", "Q", "--connect", "nonsense"]).failed_with(39, "AMQ2402E");
    place.mqsc(OPEN, "QM1").good();
    let mut command = elsewhere.named("posthaste");
    command.args(["mqsc", "QM1", "-c"]).env("MQSERVER", &server);
    let shown = fed(command, b"DISPLAY QLOCAL(DEV.QUEUE.1) CURDEPTH\n").good();
    assert!(shown.out.contains("CURDEPTH(2)"), "{shown:?}");
    let port = serving.port();
    serving.end();
    let gone = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({port})");
    run(&["get", "DEV.QUEUE.1", "QM1", "--connect", &gone]).failed_with(40, "AMQ2209E");
}

#[test]
fn a_queue_manager_that_is_not_there_is_named() {
    let place = Place::new();
    place.fed("x\n", "put Q NONE").failed_with(16, "AMQ8118E");
    place
        .fed("x\n", "put Q BAD-NAME")
        .failed_with(39, "AMQ7048E");
    place.line("get Q").failed_with(16, "AMQ2028E");
    place.line("put Q QM1 --priority 10").failed_with(39, "10");
}

#[test]
fn an_interrupted_put_says_what_was_committed() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("posthaste");
    command.args(["put", "DEV.QUEUE.1", "QM1", "--batch", "2", "--persistent"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut putting = command.spawn().unwrap();
    let mut lines = putting.stdin.take().unwrap();
    lines.write_all(b"one\ntwo\nthree\nfo").unwrap();
    // Both of the first unit of work are there, the third is put and not committed.
    let depth = "DISPLAY QSTATUS(DEV.QUEUE.1) UNCOM CURDEPTH";
    while !place.mqsc(depth, "QM1").out.contains("CURDEPTH(3)") {}
    let pid = rustix::process::Pid::from_child(&putting);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = putting.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("AMQ2212E"), "{err}");
    let counts = "2 messages put to DEV.QUEUE.1; 1 message backed out.";
    assert!(err.contains(counts), "{err}");
    drop(lines);
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").out, "one\ntwo\n");
    serving.end();
}

#[test]
fn an_interrupted_get_commits_what_was_written() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .line("put DEV.QUEUE.1 QM1 --count 30 --size 100 --persistent")
        .good();
    for wait in ["forever", "600"] {
        let mut command = place.named("posthaste");
        command.args(["get", "DEV.QUEUE.1", "QM1", "--wait", wait]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let getting = command.spawn().unwrap();
        let waiting = "DISPLAY QSTATUS(DEV.QUEUE.1) IPPROCS CURDEPTH";
        loop {
            let shown = place.mqsc(waiting, "QM1").out;
            if shown.contains("IPPROCS(1)") && shown.contains("CURDEPTH(0)") {
                break;
            }
        }
        let pid = rustix::process::Pid::from_child(&getting);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let output = getting.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        let written = String::from_utf8_lossy(&output.stdout).lines().count();
        let counts = format!("{written} messages got from DEV.QUEUE.1.");
        assert!(err.contains("AMQ2212E") && err.contains(&counts), "{err}");
        assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0);
    }
    // A unit of work larger than what was there when the signal came.
    place
        .line("put DEV.QUEUE.1 QM1 --count 4000 --size 100")
        .good();
    let mut command = place.named("posthaste");
    command.args(["get", "DEV.QUEUE.1", "QM1", "--batch", "9999"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut getting = command.spawn().unwrap();
    let mut out = std::io::BufReader::new(getting.stdout.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut out, &mut first).unwrap();
    let pid = rustix::process::Pid::from_child(&getting);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
    getting.wait().unwrap();
    let written = 1 + rest.lines().count() as u64;
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 4_000 - written);
    serving.end();
}

#[test]
fn a_message_that_is_too_long_is_refused_with_the_limit_and_who_sets_it() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let define = "DEFINE QLOCAL(SMALL) MAXMSGL(10)\nDEFINE QALIAS(OTHER) TARGET(SMALL)\n\
                  DEFINE QLOCAL(LARGE) MAXMSGL(104857600)\nDEFINE CHANNEL(NARROW) CHLTYPE(SVRCONN) MAXMSGL(5000)\n";
    place.mqsc(define, "QM1").good();
    let put = |line: &str| place.line(&format!("put {line} --count 1"));
    let small = "MAXMSGL(10) of queue SMALL";
    let qmgr = "MAXMSGL(4194304) of queue manager QM1";
    for (line, reason, limits) in [
        ("SMALL QM1 --size 11", "[2030]", &[small][..]),
        ("SMALL QM1 --size 5M", "[2030]", &[small, qmgr]),
        ("SMALL QM1 --size 5M --async", "[2030]", &[small, qmgr]),
        ("LARGE QM1 --size 5M", "[2031]", &[qmgr]),
        ("LARGE QM1 --size 5M --async", "[2031]", &[qmgr]),
        ("OTHER QM1 --size 11", "[2030]", &[]),
    ] {
        let refused = put(line).failed_with(1, reason);
        for limit in limits {
            assert!(refused.err.contains(limit), "{line}: {refused:?}");
        }
        let size = refused.err.contains("bytes, more than");
        assert_eq!(size, !limits.is_empty(), "{line}: {refused:?}");
    }
    // Over a channel its own limit is the third; only who has none of the others meets it under its reason.
    let grant = "SET AUTHREC PROFILE('*') OBJTYPE(QUEUE) PRINCIPAL('app') AUTHADD(PUT,INQ)";
    place.mqsc(grant, "QM1").good();
    let narrow = format!("--connect NARROW/TCP/127.0.0.1({})", serving.port());
    let refused = put(&format!("LARGE {narrow} --size 6000")).failed_with(1, "[2010]");
    let limit = "MAXMSGL(5000) of channel NARROW";
    assert!(refused.err.contains(limit), "{refused:?}");
    put(&format!("SMALL {narrow} --size 6000")).failed_with(1, small);
    put("LARGE QM1 --size 4M").good();
    put(&format!("LARGE {narrow} --size 5000")).good();
    serving.end();
}

#[test]
fn raw_messages_are_not_written_to_a_terminal() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("\x1b[31mred\n", "put DEV.QUEUE.1 QM1").good();
    // util-linux's `script` gives a command a terminal, and passes its exit code on.
    let on_a_terminal = |line: &str| {
        let mut script = std::process::Command::new("script");
        script
            .args(["-q", "-e", "-c"])
            .arg(format!("{} {line}", crate::place::BINARY))
            .arg("/dev/null")
            .env("POSTHASTE_DATA", place.data())
            .env_remove("MQSERVER")
            .stdin(Stdio::null())
            .output()
    };
    let Ok(raw) = on_a_terminal("get DEV.QUEUE.1 QM1 --form raw") else {
        skipped("there is no `script` here");
        return;
    };
    let output = String::from_utf8_lossy(&raw.stdout);
    assert_eq!(raw.status.code(), Some(39), "{output}");
    assert!(
        output.contains("AMQ2402E: raw messages are not"),
        "{output}"
    );
    assert!(!output.contains("red"), "{output}");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    // As a line it is shown without what drives a terminal; into a file it goes as it is.
    let line = on_a_terminal("browse DEV.QUEUE.1 QM1").unwrap();
    assert!(!String::from_utf8_lossy(&line.stdout).contains("\x1b[31m"));
    let raw = place.line("get DEV.QUEUE.1 QM1 --form raw").good();
    assert_eq!(raw.out, "\x1b[31mred");
    serving.end();
}
