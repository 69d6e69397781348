//! Commands that measure, and what they are measured with.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};

use crate::place::{Guard, Place, outcome};

/// A delay proxy in front of a port, and the port it listens on.
fn proxy(place: &Place, to: u16) -> (Guard, u16, impl Iterator<Item = String>) {
    let mut command: Command = place.named("posthaste");
    let to = format!("127.0.0.1:{to}");
    command
        .args(["delayproxy", "--listen", "127.0.0.1:0", "--to", &to])
        .args(["--delay", "200us", "--no-calibration"]);
    started(command)
}

/// The same, started by a command.
fn started(mut command: Command) -> (Guard, u16, impl Iterator<Item = String>) {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
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
fn a_delay_proxy_says_at_its_end_what_failed_within_the_last_second() {
    let place = Place::new();
    // A port that was free a moment ago, and where nobody listens.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    drop(listener);
    let (mut child, port, _lines) = proxy(&place, to.port());
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    // The reset says that the proxy knows.
    assert!(client.read(&mut [0]).is_err());
    let pid = Pid::from_child(&child.0);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let stderr = std::io::read_to_string(child.0.stderr.take().unwrap()).unwrap();
    let expected = format!("delayproxy: cannot connect to {to}: Connection refused");
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn a_delay_proxy_without_descriptors_goes_on_when_there_are_some_again() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                // Sends back what comes, until the connection ends, however that is.
                let _ = stream
                    .try_clone()
                    .and_then(|mut from| std::io::copy(&mut from, &mut stream));
            });
        }
    });
    let program = place.named("posthaste");
    let script =
        "ulimit -n 24; exec \"$0\" delayproxy --listen 127.0.0.1:0 --to \"$1\" --no-calibration";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script])
        .arg(program.get_program())
        .arg(to.to_string());
    let (mut child, port, _lines) = started(shell);
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let crowd: Vec<TcpStream> = (0..30).map(|_| connect()).collect();
    let mut stderr = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let first = stderr.next().unwrap().unwrap();
    assert!(first.contains("Too many open files"), "{first}");
    drop(crowd);
    let echoed = |mut client: TcpStream| {
        let mut back = [0];
        client.write_all(b"x")?;
        client.read_exact(&mut back)?;
        Ok::<[u8; 1], std::io::Error>(back)
    };
    // What it takes before it has seen the others go is reset.
    while echoed(connect()).is_err() {
        assert_eq!(child.0.try_wait().unwrap(), None);
    }
    let pid = Pid::from_child(&child.0);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_delay_proxy_refuses_what_cannot_be() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let port = serving.port().to_string();
    let taken = format!("127.0.0.1:{port}");
    place
        .line(&format!("delayproxy --to 127.0.0.1:9 --listen {taken}"))
        .failed_with(61, "AMQ9218E")
        .failed_with(61, &format!("'sport = :{port}'"));
    for to in [&taken, "127.0.0.1:0"] {
        place
            .line(&format!("delayproxy --to {to} --listen {taken}"))
            .failed_with(39, "AMQ2402E");
    }
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

/// The numbers behind the labels of an output block.
fn figure(out: &str, label: &str) -> u64 {
    let line = out.lines().find(|line| line.starts_with(label)).unwrap();
    let (_, value) = line.split_once(": ").unwrap();
    let number = value.trim().split(' ').next().unwrap();
    number.replace(',', "").parse().unwrap()
}

#[test]
fn a_disk_test_of_several_processes_counts_their_writes_together() {
    let place = Place::new();
    let dir = place.path().join("disk");
    std::fs::create_dir(&dir).unwrap();
    let rows = place.path().join("rows.csv");
    let mut command = place.named("mqldt");
    command
        .arg("--dir")
        .arg(&dir)
        .args(["--bsize", "4K", "--fileSize", "16384", "--numFiles", "2"])
        .args(["--duration", "1", "--qm", "2", "--csvFile"])
        .arg(&rows);
    let out = outcome(&mut command).good().out;
    assert!(
        out.contains("write blocksize 4096 (4k). Seconds elapsed -> 1/1\n"),
        "{out}"
    );
    let writes = figure(&out, "Total writes to files ");
    assert!(writes > 2);
    assert_eq!(figure(&out, "Total bytes written to files "), writes * 4096);
    let (least, mean) = (
        figure(&out, "Min latency of write (ns)"),
        figure(&out, "Avg latency of write (ns)"),
    );
    assert!(least <= mean && mean <= figure(&out, "Max latency of write (ns)"));
    let rows = std::fs::read_to_string(rows).unwrap();
    assert!(
        rows.lines()
            .nth(1)
            .unwrap()
            .contains(&format!(",4096,2,1,{writes},")),
        "{rows}"
    );
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn an_interrupted_disk_test_removes_its_files() {
    let place = Place::new();
    let dir = place.path().join("disk");
    std::fs::create_dir(&dir).unwrap();
    for queue_managers in ["1", "2"] {
        let mut command = place.named("posthaste");
        command
            .args([
                "disktest",
                "--bsize",
                "4K",
                "--fileSize",
                "16384",
                "--numFiles",
                "1",
            ])
            .args(["--duration", "600", "--qm", queue_managers, "--dir"])
            .arg(&dir);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut child = Guard(child);
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        // The files are there when it says so.
        let created = lines.find(|line| line.as_ref().unwrap().starts_with("Creating files..."));
        assert!(created.is_some());
        let count = std::fs::read_dir(&dir).unwrap().count();
        assert_eq!(count.to_string(), queue_managers);
        let pid = Pid::from_child(&child.0);
        rustix::process::kill_process(pid, Signal::INT).unwrap();
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert!(
            rest.iter().any(|line| line.starts_with("Interrupted ")),
            "{rest:?}"
        );
        assert_eq!(child.0.wait().unwrap().code(), Some(1));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    }
}

#[test]
fn a_disk_test_that_may_not_write_long_files_says_so_and_removes_them() {
    let place = Place::new();
    let dir = place.path().join("disk");
    std::fs::create_dir(&dir).unwrap();
    let program = place.named("posthaste");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -f 512; exec \"$0\" disktest --dir \"$1\""])
        .arg(program.get_program())
        .arg(&dir);
    outcome(&mut shell).failed_with(76, "AMQ2008E");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn a_disk_test_of_more_files_than_may_be_open_makes_none() {
    let place = Place::new();
    let dir = place.path().join("disk");
    std::fs::create_dir(&dir).unwrap();
    let program = place.named("posthaste");
    let mut shell = Command::new("sh");
    let limited = "ulimit -n 100; exec \"$0\" disktest --dir \"$1\" --qm 10 --numFiles 10 --fileSize 65536 --bsize 4K";
    shell
        .args(["-c", limited])
        .arg(program.get_program())
        .arg(&dir);
    outcome(&mut shell).failed_with(39, "ulimit -n");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn a_disk_test_refuses_what_cannot_be() {
    let place = Place::new();
    let dir = place.path().join("disk");
    std::fs::create_dir(&dir).unwrap();
    let here = dir.to_str().unwrap();
    let run = |line: &str| place.line(&format!("disktest --dir {line}"));
    run(&format!("{here} --bsize 4096")).failed_with(39, "ends in K");
    run(&format!("{here} --alignment 8192 --bsize 4K"))
        .failed_with(39, "multiple of the alignment");
    run(&format!(
        "{here} --fileSize 1125899906842624 --numFiles 100"
    ))
    .failed_with(63, "AMQ2020E");
    run(&format!("{here}/missing")).failed_with(76, "AMQ2008E");
    run(&format!("{here} --csvFile {here}/no/rows.csv")).failed_with(76, "no/rows.csv");
    run(&format!("{here} --qm 11")).failed_with(39, "--qm");
    let rows = place.path().join("rows.csv");
    let csv = rows.display();
    run(&format!("{here}/missing --csvFile {csv}")).failed_with(76, "missing");
    assert!(!rows.exists());
    run(&format!("{here}/missing --fio x.fio")).failed_with(76, "missing");
    let strange = dir.join("a#b");
    std::fs::create_dir(&strange).unwrap();
    run(&format!("{here}/a#b --fio x.fio")).failed_with(39, "fio");
    std::fs::remove_dir(&strange).unwrap();
    let job = place.path().join("job.fio");
    run(&format!("{here} --fio {}", job.display())).good();
    let text = std::fs::read_to_string(job).unwrap();
    assert!(
        text.contains("[write-128K]") && text.contains(here),
        "{text}"
    );
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

/// The result of `doctor --json`, with the exit code that it must have.
fn doctor(place: &Place, line: &str) -> serde_json::Value {
    let outcome = place.line(&format!("doctor --json{line}"));
    let report: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let warned = report["summary"]["warn"].as_u64().unwrap() > 0;
    assert_eq!(outcome.code, if warned { 3 } else { 0 }, "{report}");
    report
}

/// Status and finding of a check.
fn checked<'a>(report: &'a serde_json::Value, name: &str) -> (&'a str, &'a str) {
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == name).unwrap();
    assert_eq!(
        check["status"] == "warn",
        check["remedy"].is_string() && check["status"] != "skip"
    );
    (
        check["status"].as_str().unwrap(),
        check["found"].as_str().unwrap(),
    )
}

#[test]
fn the_doctor_looks_at_a_running_queue_manager_and_its_machine() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let script = "ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(2)";
    place.mqsc(script, "QM1").good();
    let report = doctor(&place, " QM1");
    assert_eq!(
        (&report["queue_manager"], &report["running"]),
        (&"QM1".into(), &true.into())
    );
    assert_eq!(
        checked(&report, "log size"),
        ("warn", "3 MiB in 3 primary files, 0 % in use")
    );
    assert_eq!(checked(&report, "log buffer").0, "pass");
    assert_eq!(checked(&report, "persistence").0, "pass");
    assert_eq!(
        checked(&report, "concurrency"),
        ("skip", "no application is connected")
    );
    assert_eq!(checked(&report, "known requirements").0, "pass");
    assert_eq!(checked(&report, "infrastructure").0, "skip");
    for check in [
        "passwords",
        "channel records",
        "authorities",
        "channels",
        "listeners",
        "password files",
    ] {
        assert_eq!(checked(&report, check).0, "pass", "{report}");
    }
    // Whether there is enough depends on the machine.
    assert!(checked(&report, "free space").1.contains("recovery log"));

    place.fed("a\nb\n", "put DEV.QUEUE.1 QM1").good();
    // Each outside syncpoint, so each forces the log by itself.
    place
        .line("put DEV.QUEUE.2 QM1 --count 150 --persistent")
        .good();
    let report = doctor(&place, " QM1 --disk");
    let (status, found) = checked(&report, "known requirements");
    assert_eq!(status, "warn");
    assert!(
        found.starts_with("DEV.QUEUE.1 holds 2 of at most 2 messages"),
        "{found}"
    );
    let (status, found) = checked(&report, "syncpoint");
    assert!(
        status == "warn" && found.contains(" forces of the log were for single "),
        "{found}"
    );
    let (_, found) = checked(&report, "infrastructure");
    assert!(found.starts_with("a forced 4 KiB write takes "), "{found}");
    let log = place.data().join("log/QM1");
    let left = std::fs::read_dir(log)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        !left
            .into_iter()
            .any(|name| name.to_string_lossy().contains("disktest"))
    );

    let shown = place.line("doctor QM1");
    assert_eq!(shown.code, 3);
    assert!(
        shown
            .out
            .starts_with("Queue manager QM1 is running.\n\nqueue manager\n"),
        "{shown:?}"
    );
    assert!(
        shown
            .out
            .contains("\nWARN  log size              3 MiB in 3 primary files")
    );
    let start = format!(
        "/posthaste start QM1 --data-dir {}\n",
        place.data().display()
    );
    assert!(shown.out.contains(&start), "{shown:?}");
    serving.end();
}

#[test]
fn the_doctor_says_when_only_the_machine_can_be_checked() {
    let place = Place::new();
    place.line("doctor QM1").failed_with(16, "AMQ8118E");
    let report = doctor(&place, " --disk");
    assert_eq!(
        (&report["queue_manager"], &report["running"]),
        (&().into(), &false.into())
    );
    let (status, found) = checked(&report, "log's disk");
    assert!(
        status == "skip" && found.ends_with("none was named"),
        "{found}"
    );
    place.serving("QM1").end();
    let report = doctor(&place, " QM1 --disk");
    let (_, found) = checked(&report, "log's disk");
    assert!(found.starts_with("a forced 4 KiB write takes "), "{found}");
    let report = doctor(&place, " QM1");
    assert_eq!(
        (&report["queue_manager"], &report["running"]),
        (&"QM1".into(), &false.into())
    );
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["section"] == "machine"));
    let out = place.line("doctor QM1").out;
    let first =
        "Queue manager QM1 is not running (Ended immediately): only the machine is checked.";
    assert!(out.starts_with(first), "{out}");
    // Whether there is a default one cannot be told then.
    std::fs::write(place.data().join("mqs.ini"), "nonsense\n").unwrap();
    place.line("doctor").failed_with(60, "AMQ2101E");
}

#[test]
fn the_doctor_tells_what_runs_from_what_a_restart_would_bring() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let file = place.home("QM1").join("qm.ini");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("LogPrimaryFiles=", "LogPrimaryFiles = 5#");
    let text = text
        .replace("5#3", "5")
        .replace("LogBufferPages=0", "LogBufferPages=512");
    std::fs::write(&file, text).unwrap();
    let report = doctor(&place, " QM1");
    assert_eq!(
        checked(&report, "log size"),
        (
            "warn",
            "3 MiB in 3 primary files, 0 % in use; \
             qm.ini differs from what runs (LogPrimaryFiles=5): a restart is needed"
        )
    );
    assert_eq!(
        checked(&report, "log buffer"),
        (
            "warn",
            "LogBufferPages is 4096 (recommended: 4096); \
             qm.ini differs from what runs (LogBufferPages=512): a restart is needed"
        )
    );
    // The remedy is as good as it says, however the line is written.
    let remedy = report["checks"].as_array().unwrap().iter();
    let mut remedy = remedy.filter(|check| check["check"] == "log size");
    let remedy = remedy.next().unwrap()["remedy"].as_str().unwrap();
    let (change, restart) = remedy.split_once("; ").unwrap();
    assert!(restart.contains("/posthaste stop -i QM1"), "{remedy}");
    let changed = std::process::Command::new("sh")
        .args(["-c", change])
        .status();
    assert!(changed.unwrap().success());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\n   LogPrimaryFiles=509\n"), "{text}");
    place.line("check QM1").good();
    serving.end();
}
