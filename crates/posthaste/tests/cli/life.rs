//! The life of a queue manager: create, run, start, list, stop, delete, crash.

use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;

use crate::place::{Background, Guard, Place, Serving, outcome, skipped};

#[test]
fn run_makes_a_working_queue_manager_and_its_words_work_as_typed() {
    let place = Place::new();
    let serving = place.serving("QM1");
    assert!(serving.port() > 0);
    // The lines it says to type are typed, by a shell, from another folder.
    let lines: Vec<String> = serving
        .welcome
        .iter()
        .filter(|line| line.contains(" --data-dir "))
        .cloned()
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let typed = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(line).current_dir("/");
        outcome(shell.env_remove("POSTHASTE_DATA").env_remove("MQSERVER")).good()
    };
    typed(&lines[0]);
    assert_eq!(typed(&lines[1]).out, "Hello\n");
    let shown = typed(&lines[2]).out;
    for queue in [
        "DEV.QUEUE.1",
        "DEV.QUEUE.2",
        "DEV.QUEUE.3",
        "DEV.DEAD.LETTER.QUEUE",
    ] {
        assert!(shown.contains(&format!("QUEUE({queue})")), "{shown}");
    }
    let defined = place.mqsc(
        "DIS QMGR DEADQ\nDIS CHANNEL(DEV.APP.SVRCONN) CHLTYPE",
        "QM1",
    );
    assert!(defined.out.contains("DEADQ(DEV.DEAD.LETTER.QUEUE)"));
    assert!(defined.out.contains("CHLTYPE(SVRCONN)"));
    serving.end();
    assert!(!place.home("QM1").join("run/status").exists());
    let log = place.error_log("QM1");
    for part in [
        "AMQ8003I: Queue manager QM1 started.",
        "AMQ8004I",
        "QMgr(QM1)",
        "EXPLANATION:",
    ] {
        assert!(log.contains(part), "{part}");
    }
}

#[test]
fn persistent_messages_survive_an_end_and_a_kill() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .fed("one\ntwo\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    place
        .fed("gone\n", "put DEV.QUEUE.2 QM1 --nonpersistent")
        .good();
    serving.end();
    assert_eq!(
        place.line("list").out,
        "QMNAME(QM1) STATUS(Ended immediately)\n"
    );

    let serving = place.serving("QM1");
    place
        .fed("three\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    assert_eq!(place.depth("DEV.QUEUE.2", "QM1"), 0);
    // Uncommitted when the process dies: it never was.
    let mut command = place.named("posthaste");
    command.args([
        "put",
        "DEV.QUEUE.3",
        "QM1",
        "--batch",
        "100",
        "--persistent",
        "--ids",
    ]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut open = Guard(child.unwrap());
    open.0
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"never\n")
        .unwrap();
    serving.kill();
    assert_eq!(
        place.line("list").out,
        "QMNAME(QM1) STATUS(Ended unexpectedly)\n"
    );

    // Sockets and status of the killed process are left over and hinder nobody.
    assert!(place.home("QM1").join("run/control.sock").exists());
    let serving = place.serving("QM1");
    let got = place.line("get DEV.QUEUE.1 QM1").good();
    assert_eq!(got.out, "one\ntwo\nthree\n");
    assert_eq!(place.depth("DEV.QUEUE.3", "QM1"), 0);
    serving.end();
}

#[test]
fn a_queue_manager_lives_in_the_background() {
    let place = Place::new();
    let made = place
        .line("create -lf 256 -lp 2 -ls 1 -q -u DEAD -c Test QM.1/A")
        .good();
    assert!(made.out.contains("Queue manager 'QM.1/A' created."));
    assert!(made.out.contains("Default objects statistics : "));
    place.line("create QM.1/A").failed_with(8, "AMQ8110E");
    assert_eq!(
        place.line("list").out,
        "QMNAME(QM.1/A) STATUS(Ended normally)\n"
    );
    place.line("stop").failed_with(40, "AMQ8146E");
    place.line("mqsc").failed_with(20, "AMQ8146E");

    let started = place.line("start").good();
    assert!(started.out.contains("AMQ8003I") || started.out.contains("started."));
    let _background = Background {
        place: &place,
        name: "QM.1/A",
    };
    assert_eq!(place.line("list").out, "QMNAME(QM.1/A) STATUS(Running)\n");
    assert!(place.line("list -o all").out.contains("DEFAULT(yes)"));
    place.line("start QM.1/A").failed_with(5, "AMQ2021E");
    place.line("delete QM.1/A").failed_with(5, "AMQ2021E");
    let shown = place.fed("DISPLAY QMGR DEADQ DESCR", "mqsc").good();
    assert!(shown.out.contains("DEADQ(DEAD)") && shown.out.contains("DESCR(Test)"));

    let ended = place.line("stop -w").good();
    assert!(ended.out.contains("Queue manager QM.1/A ended."));
    assert_eq!(
        place.line("list").out,
        "QMNAME(QM.1/A) STATUS(Ended normally)\n"
    );
    for (option, state) in [("-i", "Ended immediately"), ("-p", "Ended preemptively")] {
        place.line("start -z QM.1/A").good();
        place.run(&["stop", option, "-z", "QM.1/A"]).good();
        let listed = place.line("list -m QM.1/A").out;
        assert_eq!(listed, format!("QMNAME(QM.1/A) STATUS({state})\n"));
    }
    let deleted = place.line("delete QM.1/A").good();
    assert!(deleted.out.contains("deleted"));
    assert_eq!(place.line("list").out, "");
    place.line("start QM.1/A").failed_with(16, "AMQ8118E");
    place.line("start").failed_with(16, "AMQ2028E");
    for folder in ["qmgrs", "log"] {
        let left = std::fs::read_dir(place.data().join(folder)).unwrap();
        assert_eq!(left.count(), 0, "{folder}");
    }
}

#[test]
fn data_and_log_may_be_elsewhere_and_queue_managers_do_not_disturb_each_other() {
    let place = Place::new();
    let (logs, data) = (place.path().join("logs"), place.path().join("more"));
    let options = [
        "crtmqm",
        "-lf",
        "64",
        "-ld",
        logs.to_str().unwrap(),
        "-md",
        data.to_str().unwrap(),
        "A",
    ];
    place.run(&options).good();
    place.line("crtmqm -lf 64 B").good();
    assert!(data.join("A/qm.ini").exists() && logs.join("A").exists());
    place.line("strmqm A").good();
    let _a = Background {
        place: &place,
        name: "A",
    };
    place.line("strmqm B").good();
    let _b = Background {
        place: &place,
        name: "B",
    };
    assert_eq!(
        place.line("dspmq -a").out,
        "QMNAME(A) STATUS(Running)\nQMNAME(B) STATUS(Running)\n"
    );
    // What it asks for is so after every end.
    place.line("endmqm -i -r A").good();
    place.line("dltmqm A").good();
    // Without its data folder nothing says where the log is.
    place.run(&options).good();
    std::fs::remove_dir_all(data.join("A")).unwrap();
    place.line("dltmqm A").failed_with(76, "AMQ2052E");
    assert!(logs.join("A").exists());
    place.line("rmvmqinf A").good();
    std::fs::remove_dir_all(logs.join("A")).unwrap();
    assert!(!data.join("A").exists() && !logs.join("A").exists());
    assert_eq!(place.line("dspmq").out, "QMNAME(B) STATUS(Running)\n");
}

#[test]
fn a_controlled_end_waits_for_applications_and_can_be_made_faster() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("posthaste");
    command.args(["put", "DEV.QUEUE.1", "QM1", "--ids"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut putting = Guard(child.unwrap());
    let mut input = putting.0.stdin.take().unwrap();
    input.write_all(b"hold\n").unwrap();
    // It is connected when its message is there.
    while place.depth("DEV.QUEUE.1", "QM1") == 0 {}

    let asked = place.line("stop QM1").good();
    assert!(asked.out.contains("quiesce"), "{asked:?}");
    assert_eq!(place.line("list").out, "QMNAME(QM1) STATUS(Quiescing)\n");
    place.line("start QM1").failed_with(49, "AMQ8156E");
    // New applications are not admitted.
    place
        .fed("x\n", "put DEV.QUEUE.1 QM1")
        .failed_with(1, "2161");
    drop(input);
    assert!(putting.0.wait().unwrap().success());
    assert_eq!(serving.wait().0, 0);
    assert_eq!(
        place.line("list").out,
        "QMNAME(QM1) STATUS(Ended normally)\n"
    );

    let serving = place.serving("QM1");
    let mut command = place.named("posthaste");
    command.args(["put", "DEV.QUEUE.1", "QM1", "--batch", "10", "--persistent"]);
    let child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut putting = Guard(child.unwrap());
    let input = putting.0.stdin.as_mut().unwrap();
    input.write_all(b"never\n").unwrap();
    let conn = "DISPLAY CONN(*) WHERE(APPLTAG LK 'posthaste*') UOWSTATE";
    while !place.mqsc(conn, "QM1").out.contains("UOWSTATE(ACTIVE)") {}
    place.line("stop -t 1 QM1").good();
    assert_eq!(serving.wait().0, 0);
    assert_eq!(
        place.line("list").out,
        "QMNAME(QM1) STATUS(Ended immediately)\n"
    );
    drop(putting);
    let serving = place.serving("QM1");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0, "backed out");
    serving.end();
}

#[test]
fn ctrl_c_ends_in_order() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("a\n", "put DEV.QUEUE.1 QM1 --persistent").good();
    // A getter that waits for ever is told.
    let mut command = place.named("posthaste");
    command.args(["get", "DEV.QUEUE.2", "QM1", "--wait", "forever"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let getting = Guard(child.unwrap());
    let waiting = "DISPLAY QSTATUS(DEV.QUEUE.2) IPPROCS";
    while !place.mqsc(waiting, "QM1").out.contains("IPPROCS(1)") {}
    serving.signal(Signal::INT);
    let (code, stderr) = serving.wait();
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("AMQ8004I"), "{stderr}");
    let mut getting = getting;
    assert_eq!(getting.0.wait().unwrap().code(), Some(1));
    let serving = place.serving("QM1");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    serving.end();
}

#[test]
fn folders_may_be_deeper_than_a_socket_s_path() {
    let place = Place::new();
    let deep = place.path().join("d".repeat(80)).join("e".repeat(80));
    let folder = deep.to_str().unwrap();
    let mut command = place.named("posthaste");
    command.args([
        "run",
        "QM1",
        "--lf",
        "64",
        "--port",
        "0",
        "--data-dir",
        folder,
    ]);
    let serving = crate::place::Serving::start(command);
    place
        .fed(
            "deep\n",
            &format!("put DEV.QUEUE.1 QM1 --data-dir {folder}"),
        )
        .good();
    let got = place.line(&format!("get DEV.QUEUE.1 QM1 --data-dir {folder}"));
    assert_eq!(got.good().out, "deep\n");
    place
        .line(&format!("stop -w QM1 --data-dir {folder}"))
        .good();
    assert_eq!(serving.wait().0, 0);
}

#[test]
fn every_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    fn walk(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            if metadata.permissions().mode() & 0o077 != 0 {
                found.push(entry.path().display().to_string());
            }
            if metadata.is_dir() {
                walk(&entry.path(), found);
            }
        }
    }
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("a\n", "put DEV.QUEUE.1 QM1 --persistent").good();
    let mut open = Vec::new();
    walk(&place.data(), &mut open);
    assert_eq!(open, Vec::<String>::new());
    serving.end();
}

#[test]
fn a_process_that_does_not_answer_is_killed_by_a_pre_emptive_end() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("a\n", "put DEV.QUEUE.1 QM1 --persistent").good();
    serving.pause();
    // Who looks for the process in order to end it himself finds it.
    let listed = place.line("list -o all").out;
    assert!(listed.contains("STATUS(Status not available)"), "{listed}");
    assert!(
        listed.contains(&format!("PID({})", serving.process())),
        "{listed}"
    );
    place.line("stop -p QM1").good();
    assert_eq!(serving.wait().0, -1, "killed");
    let serving = place.serving("QM1");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    serving.end();
}

/// As a container whose folders are shared has: its processes have no numbers outside.
#[test]
fn what_runs_in_another_pid_namespace_is_used_and_ended_from_outside_but_not_killed() {
    let place = Place::new();
    let inside = |arguments: &[&str]| {
        let command = place.named("posthaste");
        let mut unshare = std::process::Command::new("unshare");
        unshare
            .args(["-r", "-p", "--kill-child"])
            .arg(command.get_program())
            .args(arguments);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => unshare.env(name, value),
                None => unshare.env_remove(name),
            };
        }
        unshare
    };
    let probe = inside(&["--version"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return skipped("no PID namespaces for this user");
    }
    let serving = Serving::start(inside(&["run", "QM1", "--port", "0"]));
    place.fed("a\n", "put DEV.QUEUE.1 QM1 --persistent").good();
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    place.line("stop -i QM1").good();
    assert_eq!(serving.wait().0, 0);

    let serving = place.serving("QM1");
    serving.pause();
    let stopped = outcome(&mut inside(&["stop", "-p", "QM1"])).failed_with(64, "AMQ2029E");
    assert!(stopped.err.contains("PID namespace"), "{}", stopped.err);
    serving.signal(Signal::CONT);
    assert_eq!(serving.wait().0, 0, "it was told to break off");
}

#[test]
fn a_waiting_end_can_be_broken_off() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("posthaste");
    command.args(["put", "DEV.QUEUE.1", "QM1", "--ids"]);
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut putting = Guard(child.unwrap());
    let input = putting.0.stdin.as_mut().unwrap();
    input.write_all(b"hold\n").unwrap();
    while place.depth("DEV.QUEUE.1", "QM1") == 0 {}
    place.line("stop -c QM1").good();
    place.line("stop -p QM1").good();
    assert_eq!(serving.wait().0, 0);
    let listed = place.line("list").out;
    assert_eq!(listed, "QMNAME(QM1) STATUS(Ended preemptively)\n");
    place.serving("QM1").end();
}

/// As where a disk does not answer: its end is written down, and a thread of it still has the files.
#[test]
fn one_that_has_ended_and_still_has_its_files_is_shown_so_to_everybody() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.line("stop -p QM1").good();
    assert_eq!(serving.wait().0, 0);
    let locked = |file: &str| {
        let file = std::fs::File::open(place.home("QM1").join(file)).unwrap();
        file.try_lock().unwrap();
        file
    };
    let (process, files) = (locked("run/process"), locked("lock"));
    let listed = place.line("list").out;
    assert_eq!(listed, "QMNAME(QM1) STATUS(Ending preemptively)\n");
    let refused = place.line("delete QM1").failed_with(77, "AMQ2090E");
    let holder = format!("process {}", std::process::id());
    assert!(refused.err.contains(&holder), "{}", refused.err);
    drop(files);
    // Another one has told it to end.
    place.line("stop -p QM1").good();
    drop(process);
    place.line("stop -p QM1").failed_with(40, "AMQ8146E");
    let listed = place.line("list").out;
    assert_eq!(listed, "QMNAME(QM1) STATUS(Ended preemptively)\n");

    // A successor that recovers has them too, and is not ending.
    let mut command = place.named("posthaste");
    command.args(["run", "QM1", "--port", "0", "--disk-delay-us", "500000"]);
    let starting = Guard(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut shown = Vec::new();
    while !shown.ends_with(&["Running".to_owned()]) {
        let listed = place.line("list").out;
        let word = listed.trim_end().trim_start_matches("QMNAME(QM1) STATUS(");
        shown.push(word.trim_end_matches(')').to_owned());
        shown.dedup();
    }
    // The first is of before it had begun.
    shown.retain(|word| word != "Ended preemptively");
    assert_eq!(shown, ["Starting", "Running"]);
    place.line("stop -i QM1").good();
    drop(starting);
}

#[test]
fn network_clients_do_not_use_up_the_operator_s_places() {
    let place = Place::new();
    place.serving("QM1").end();
    let ini = place.home("QM1").join("qm.ini");
    let text = std::fs::read_to_string(&ini).unwrap();
    std::fs::write(&ini, text.replace("MaxChannels=1000", "MaxChannels=2")).unwrap();
    let serving = place.serving("QM1");
    let streams =
        [0, 1].map(|_| std::net::TcpStream::connect(("127.0.0.1", serving.port())).unwrap());
    // The third one is told why it is not taken.
    let put = format!(
        "put DEV.QUEUE.1 QM1 --connect DEV.APP.SVRCONN/TCP/127.0.0.1({})",
        serving.port()
    );
    let refused = place.fed("a\n", &put);
    assert!(refused.err.contains("2537"), "{}", refused.err);
    drop(streams);
    place.mqsc("PING QMGR", "QM1").good();
    serving.end();
    let log = place.error_log("QM1");
    assert!(log.contains("AMQ9513W: "));
}

#[test]
fn a_queue_manager_can_be_bound_to_whoever_started_it() {
    let place = Place::new();
    place.fed("", "run QM1 --port 0 --while-input").good();
    let listed = place.line("list").out;
    assert_eq!(listed, "QMNAME(QM1) STATUS(Ended immediately)\n");
    assert!(!place.line("run --help").out.contains("while-input"));
}

#[test]
fn an_artificially_slow_disk_works_and_is_not_overlooked() {
    let place = Place::new();
    let slow = [
        "--port",
        "0",
        "--disk-delay-us",
        "200",
        "--disk-bandwidth",
        "100M",
        "--plain-log",
    ];
    let serving = place.serving_with("QM1", &slow);
    place.fed("a\n", "put DEV.QUEUE.1 QM1 --persistent").good();
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").good().out, "a\n");
    serving.signal(Signal::TERM);
    let (code, stderr) = serving.wait();
    let warning = "QM1 runs with an artificially slow disk: 200 µs more for every forced write, \
        at most 104857600 bytes a second.";
    assert!(code == 0 && stderr.contains(warning), "{code} {stderr}");
    let log = place.error_log("QM1");
    assert!(log.contains(warning) && log.contains("AMQ2031W"), "{log}");
    for wrong in [
        "--disk-delay-us=-1",
        "--disk-bandwidth=0",
        "--disk-bandwidth=fast",
    ] {
        let refused = place.run(&["run", "QM1", wrong]);
        assert_eq!(refused.code, 39, "{wrong}: {refused:?}");
    }
    assert!(!place.line("run --help").out.contains("disk-delay"));
}

#[test]
fn a_slow_log_disk_is_reported_where_it_is_asked_for() {
    let place = Place::new();
    let log = place.home("QM1").join("errors/AMQERR01.LOG");
    let run = |limit: &str| {
        let mut command = place.named("posthaste");
        command
            .args(["run", "QM1", "--lf", "256", "--lp", "3", "--port", "0"])
            .args(["--disk-delay-us", "300"])
            .envs([("AMQ_IODELAY", limit), ("AMQ_IODELAY_INMS", "YES")])
            .env("TZ", "EAST-03");
        Serving::start(command).end();
        std::fs::read_to_string(&log).unwrap()
    };
    let errors = run("250");
    let at = errors.find("AMQ6729W: An I/O operation (W) of ").unwrap();
    let head = errors[..at].rfind(" - Process(").unwrap();
    let inserts = &errors[head..at];
    assert!(inserts.contains("ArithInsert1(") && inserts.contains("CommentInsert1(W)"));
    assert!(inserts.contains("CommentInsert2(250)"), "{inserts}");
    // The first line shows the zone's time, three hours before the universal one in Time().
    let hour = |text: &str| text[..2].parse::<u32>().unwrap();
    let (_, universal) = inserts.split_once("Time(").unwrap();
    let (_, universal) = universal.split_once('T').unwrap();
    assert_eq!(hour(&errors[head - 8..]), (hour(universal) + 3) % 24);
    let errors = run("ten");
    assert!(errors.contains("AMQ2032W: The environment variable AMQ_IODELAY has the value ten"));
}
