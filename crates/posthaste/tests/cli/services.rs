//! Services: programs that a queue manager starts and ends.

use std::path::Path;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use crate::place::Place;

/// Longer than any machine takes.
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !done() {
        assert!(Instant::now() < deadline, "not so: {what}");
        yield_now();
    }
}

fn is_alive(pid: &str) -> bool {
    // One that has ended and is not waited for yet has no memory any more.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.contains("VmSize")
}

/// The process of a service that runs.
fn pid(place: &Place, service: &str) -> Option<String> {
    let shown = place.mqsc(&format!("DISPLAY SVSTATUS({service}) PID"), "QM1");
    let (_, rest) = shown.out.split_once(" PID(")?;
    Some(rest.split_once(')')?.0.to_owned())
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A program that says who it is and runs until it is told to end.
const RUNS: &str = "STARTCMD('/bin/sh') \
    STARTARG('-c \"echo +MQ_SERVICE_NAME+ of +MQ_Q_MGR_NAME+; exec tail -f /dev/null\"')";

#[test]
fn a_service_runs_from_start_to_stop() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let out = place.path().join("out");
    let ask = |script: &str| place.mqsc(script, "QM1");
    let made = ask(&format!(
        "DEFINE SERVICE(S) SERVTYPE(SERVER) {RUNS} STDOUT('{}')\nDEFINE SERVICE(EMPTY)",
        out.display()
    ));
    assert!(made.good().out.contains("AMQ8625I: Service S created."));
    assert!(ask("DISPLAY SVSTATUS(S)").out.contains("AMQ8738E"));
    assert!(ask("START SERVICE(NONE)").out.contains("AMQ8147E"));
    assert!(ask("START SERVICE(EMPTY)").out.contains("AMQ8740E"));
    assert!(ask("STOP SERVICE(S)").out.contains("AMQ8738E"));
    assert!(ask("START SERVICE(S)").good().out.contains("AMQ8733I"));
    let shown = ask("DISPLAY SVSTATUS(*) WHERE(STATUS EQ RUNNING)").good();
    for cell in [
        "SERVICE(S)",
        "STATUS(RUNNING)",
        "SERVTYPE(SERVER)",
        "CONTROL(MANUAL)",
    ] {
        assert!(shown.out.contains(cell), "{cell}: {shown:?}");
    }
    until("the service says who it is", || lines(&out) == ["S of QM1"]);
    assert!(ask("START SERVICE(S)").out.contains("AMQ8737E"));
    assert!(ask("DELETE SERVICE(S)").out.contains("AMQ8737E"));
    let first = pid(&place, "S").expect("it runs");
    assert!(is_alive(&first));
    assert!(ask("STOP SERVICE(S)").good().out.contains("AMQ8732I"));
    until("the service is known to have ended", || {
        pid(&place, "S").is_none()
    });
    assert!(!is_alive(&first));
    // Its output is added to.
    ask("START SERVICE(S)").good();
    until("it was started again", || lines(&out).len() == 2);
    let second = pid(&place, "S").expect("it runs");
    ask("ALTER SERVICE(S) STARTCMD('/no/such/program')").good();
    // STOP is about what was started, whatever the definition says now.
    ask("STOP SERVICE(S)").good();
    until("the second has ended", || !is_alive(&second));
    until("the service is known to have ended", || {
        pid(&place, "S").is_none()
    });
    let missing = ask("START SERVICE(S)");
    assert!(missing.out.contains("AMQ8734E") && missing.out.contains("/no/such/program"));
    serving.end();
}

#[test]
fn services_start_and_end_with_the_queue_manager() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let file = |name: &str| place.path().join(name);
    let (stopped, command) = (file("stopped"), file("command"));
    let script = format!(
        "DEFINE SERVICE(WITH.IT) CONTROL(QMGR) SERVTYPE(SERVER) {RUNS} +
            STOPCMD('/bin/sh') +
            STOPARG('-c \"echo +MQ_SERVER_PID+ >> {}; kill +MQ_SERVER_PID+\"')
         DEFINE SERVICE(ONCE) CONTROL(STARTONLY) SERVTYPE(COMMAND) STARTCMD('/bin/sh') +
            STARTARG('-c \"echo +QMNAME+\"') STDOUT('{}')
         DEFINE SERVICE(WRONG) CONTROL(QMGR) STARTCMD('/no/such/program')",
        stopped.display(),
        command.display()
    );
    place.mqsc(&script, "QM1").good();
    assert_eq!(pid(&place, "WITH.IT"), None, "it is for the next start");
    serving.end();
    let serving = place.serving("QM1");
    until("the command was run", || lines(&command) == ["QM1"]);
    let running = pid(&place, "WITH.IT").expect("it runs");
    assert!(is_alive(&running));
    assert!(
        place
            .mqsc("DISPLAY SVSTATUS(ONCE)", "QM1")
            .out
            .contains("AMQ8738E")
    );
    serving.end();
    assert!(!is_alive(&running));
    assert_eq!(lines(&stopped), [running]);
}

#[test]
fn an_output_that_nobody_reads_holds_nobody_up() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let pipe = place.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let define = format!(
        "DEFINE SERVICE(PIPED) CONTROL(QMGR) SERVTYPE(SERVER) {RUNS} STDOUT('{}')",
        pipe.display()
    );
    place.mqsc(&define, "QM1").good();
    let refused = place.mqsc("START SERVICE(PIPED)", "QM1");
    let reason = format!("its output {} cannot be opened", pipe.display());
    assert!(
        refused.out.contains("AMQ8734E") && refused.out.contains(&reason),
        "{refused:?}"
    );
    assert!(
        place
            .mqsc("DISPLAY SVSTATUS(*)", "QM1")
            .out
            .contains("AMQ8147E")
    );
    serving.end();
    // Nor does it hold up a start, though the service is to start with it.
    place.serving("QM1").end();
}

#[test]
fn the_end_of_the_queue_manager_leaves_nothing_of_its_services() {
    let place = Place::new();
    let file = |name: &str| place.path().join(name);
    let (child, events) = (file("child"), file("events"));
    let serving = place.serving("QM1");
    let script = format!(
        "DEFINE SERVICE(PARENT) CONTROL(QMGR) SERVTYPE(SERVER) STARTCMD('/bin/sh') +
            STARTARG('-c \"tail -f /dev/null & echo $! >> {}; wait\"') STOPCMD('/no/such/program')
         DEFINE SERVICE(NOTE) CONTROL(QMGR) SERVTYPE(COMMAND) +
            STARTCMD('/bin/sh') STARTARG('-c \"echo begins >> {events}\"') +
            STOPCMD('/bin/sh') STOPARG('-c \"echo ends >> {events}\"')
         START SERVICE(PARENT)",
        child.display(),
        events = events.display(),
    );
    place.mqsc(&script, "QM1").good();
    until("the program has started another", || {
        lines(&child).len() == 1
    });
    let shown = place.mqsc("STOP SERVICE(PARENT)\nDISPLAY SVSTATUS(PARENT)", "QM1");
    assert!(shown.out.contains("AMQ8734E") && shown.out.contains("STATUS(RUNNING)"));
    serving.end();
    let children = lines(&child);
    until("what the program had started has ended", || {
        !is_alive(&children[0])
    });
    let serving = place.serving("QM1");
    until("the queue manager's start is noted", || {
        lines(&events).contains(&"begins".to_owned())
    });
    serving.end();
    assert_eq!(lines(&events), ["ends", "begins", "ends"]);
}

/// Processes whose parent is this one, those too that have ended and that nobody has waited for.
fn children(parent: u32) -> Vec<String> {
    let line = format!("PPid:\t{parent}");
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_child = |pid: &String| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|found| found == line)
    };
    names
        .filter(|name| name.parse::<u32>().is_ok())
        .filter(is_child)
        .collect()
}

#[test]
fn a_service_that_ends_by_itself_is_reported_and_leaves_nothing_behind() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let ask = |script: &str| place.mqsc(script, "QM1");
    ask(
        "DEFINE SERVICE(DIES) SERVTYPE(SERVER) STARTCMD('/bin/sh') STARTARG('-c \"exit 3\"')
         DEFINE SERVICE(KILLED) SERVTYPE(SERVER) STARTCMD('/bin/sh') STARTARG('-c \"kill -9 $$\"')
         DEFINE SERVICE(SHORT) SERVTYPE(COMMAND) STARTCMD('/bin/true')",
    )
    .good();
    ask("START SERVICE(DIES)\nSTART SERVICE(KILLED)\nSTART SERVICE(SHORT)").good();
    for ended in [
        "AMQ5029I: The Server DIES has ended: exit code 3.",
        "AMQ5029I: The Server KILLED has ended: signal 9.",
    ] {
        place.logged("QM1", ended);
    }
    assert!(ask("DISPLAY SVSTATUS(DIES)").out.contains("AMQ8738E"));
    until("no process is left", || {
        children(serving.process()).is_empty()
    });
    // It can be started again.
    ask("START SERVICE(DIES)").good();
    serving.end();
}

#[test]
fn a_service_has_its_own_files_folder_and_environment() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let home = place.home("QM1");
    std::fs::write(place.data().join("service.env"), "SITE=north\nMONTH=10\n").unwrap();
    std::fs::write(home.join("service.env"), "MONTH=11\n").unwrap();
    let ask = |script: &str| place.mqsc(script, "QM1");
    ask(
        "DEFINE SERVICE(S) SERVTYPE(SERVER) STARTCMD('/bin/sleep') STARTARG('600') +
            STDOUT('+MQ_Q_MGR_DATA_PATH++SITE+.+MONTH+')
         START SERVICE(S)",
    )
    .good();
    let pid = pid(&place, "S").expect("it runs");
    let of = |name: &str| Path::new("/proc").join(&pid).join(name);
    let program = || std::fs::read_link(of("exe")).unwrap_or_default();
    until("the program runs", || !program().ends_with("posthaste"));
    // Its three, and what whoever started the queue manager left open for everybody: none of the queue manager's.
    for file in std::fs::read_dir(of("fd")).unwrap().flatten() {
        let number = file.file_name().to_string_lossy().into_owned();
        let ours = std::fs::read_link(Path::new("/proc/self/fd").join(&number)).ok();
        let is_given = ours.is_some() && ours == std::fs::read_link(file.path()).ok();
        assert!(
            ["0", "1", "2"].contains(&number.as_str()) || is_given,
            "{number}"
        );
    }
    let link = |name: &str| std::fs::read_link(of(name)).unwrap();
    assert_eq!(link("fd/0"), Path::new("/dev/null"));
    let (home, output) = (home.canonicalize().unwrap(), home.join("north.11"));
    assert_eq!(link("fd/1"), output.canonicalize().unwrap());
    assert_eq!(link("cwd"), home);
    let environment = std::fs::read(of("environ")).unwrap();
    let has = |variable: &[u8]| environment.split(|byte| *byte == 0).any(|v| v == variable);
    assert!(has(b"SITE=north") && has(b"MONTH=11") && !has(b"MONTH=10"));
    ask("STOP SERVICE(S)").good();
    until("it has ended", || !is_alive(&pid));
    serving.end();
}

#[test]
fn what_keeps_a_service_from_starting_is_told() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let ask = |script: &str| place.mqsc(script, "QM1");
    for (attributes, why) in [
        ("STARTCMD('sleep')", "its path does not begin with /"),
        ("STARTCMD('/etc')", "denied"),
        (
            "STARTCMD('/bin/true') STDERR('/no/such/folder/x')",
            "No such file",
        ),
    ] {
        let script =
            format!("DEFINE SERVICE(S) REPLACE SERVTYPE(SERVER) {attributes}\nSTART SERVICE(S)");
        let refused = ask(&script).out;
        assert!(
            refused.contains("AMQ8734E") && refused.contains(why),
            "{refused}"
        );
        assert!(ask("DISPLAY SVSTATUS(S)").out.contains("AMQ8738E"));
    }
    std::fs::write(place.home("QM1").join("service.env"), "NONSENSE\n").unwrap();
    let refused = ask("START SERVICE(S)").out;
    assert!(
        refused.contains("AMQ8734E") && refused.contains("line 1"),
        "{refused}"
    );
    std::fs::remove_file(place.home("QM1").join("service.env")).unwrap();
    serving.end();
}

#[test]
fn a_queue_manager_may_be_told_to_run_no_programs() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let file = place.path().join("ran");
    let define = format!(
        "DEFINE SERVICE(S) CONTROL(QMGR) STARTCMD('/bin/sh') STARTARG('-c \"echo >> {}\"')",
        file.display()
    );
    place.mqsc(&define, "QM1").good();
    serving.end();
    let ini = place.home("QM1").join("qm.ini");
    let text = std::fs::read_to_string(&ini).unwrap();
    let changed = text.replace("#ServicePrograms=YES", "ServicePrograms=NO");
    assert_ne!(changed, text);
    std::fs::write(&ini, changed).unwrap();
    let serving = place.serving("QM1");
    assert!(
        place
            .error_log("QM1")
            .contains("AMQ2407E: Service S runs no program")
    );
    let refused = place.mqsc("START SERVICE(S)", "QM1");
    assert!(refused.out.contains("AMQ2407E"), "{refused:?}");
    serving.end();
    assert!(!file.exists());
}
