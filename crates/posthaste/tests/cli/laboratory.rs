//! `posthaste perf`: real measurements, small ones, and what happens when they go wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Guard, Place, outcome, skipped};

/// Longer than anything that is waited for may take.
const LONG: Duration = Duration::from_secs(60);

/// Runs a scenario with its files in the test's folder.
fn run_line(place: &Place, rest: &str) -> String {
    run_line_in(place, rest, "work")
}

/// The same with queue managers in another folder.
fn run_line_in(place: &Place, rest: &str, work: &str) -> String {
    let at = |name: &str| place.path().join(name).display().to_string();
    format!("perf run {rest} --out {} --work {}", at("out"), at(work))
}

fn results(place: &Place, scenario: &str) -> String {
    let path = place.path().join(format!("out/{scenario}.perf.json"));
    fs::read_to_string(path).expect("results")
}

/// Whether nothing is left of the queue managers that were measured.
fn cleared(place: &Place) -> bool {
    is_empty(place, "work")
}

fn is_empty(place: &Place, folder: &str) -> bool {
    fs::read_dir(place.path().join(folder)).is_ok_and(|mut entries| entries.next().is_none())
}

#[test]
fn counts_are_within_their_budgets_and_a_report_shows_them() {
    let place = Place::new();
    let done = place.line(&run_line(&place, "smoke --rounds 1 --explain"));
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    for part in [
        "2 KiB NP 1",
        "2 KiB P 1",
        "log.logical_bytes",
        "kept",
        "Results: ",
    ] {
        assert!(done.out.contains(part), "{part} in {}", done.out);
    }
    let text = results(&place, "smoke");
    assert!(text.contains("\"ended\": \"complete\""), "{text}");
    assert_eq!(text.matches("\"operations\": 2000").count(), 2, "{text}");
    assert!(cleared(&place));

    let out = place.path().join("out").display().to_string();
    let report = place.line(&format!("perf report {out}")).good();
    assert!(report.out.contains("report.html"), "{report:?}");
    let page = fs::read_to_string(Path::new(&out).join("report.html")).expect("a page");
    assert!(page.contains("2 KiB P 1") && page.contains("channel.reads"));

    // No bare exchange is in these results, so there is no headline.
    let svg = place.line(&format!("perf report {out} --svg {out}/x.svg"));
    assert!(svg.err.contains("the case \"bare exchange 60\""), "{svg:?}");
    svg.failed_with(78, "AMQ2503E");
    let older = text.replacen("\"format\": 1", "\"format\": 0", 1);
    fs::write(Path::new(&out).join("smoke.perf.json"), older).expect("written");
    let refused = place.line(&format!("perf report {out}"));
    assert!(refused.err.contains("an older version"), "{refused:?}");
    refused.failed_with(78, "AMQ2503E");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    let listed = place.line("perf list").good();
    assert!(listed.out.contains("rr-cc") && listed.out.contains("restart"));
    let unknown = place.line(&run_line(&place, "rr-xx"));
    assert!(
        unknown.err.contains("there is no scenario \"rr-xx\""),
        "{unknown:?}"
    );
    unknown.failed_with(39, "AMQ2402E");
    for wrong in [
        "floor --rounds 0",
        "floor --window 0",
        "floor --window x",
        "",
    ] {
        let refused = place.line(&run_line(&place, wrong));
        assert_eq!(refused.code, 39, "{wrong}: {refused:?}");
    }
    let nothing = place.path().display().to_string();
    let refused = place.line(&format!("perf report {nothing}"));
    assert!(refused.err.contains("perf run NAME --out"), "{refused:?}");
    refused.failed_with(78, "AMQ2503E");
    let missing = place.line(&format!("perf report {nothing}/missing"));
    missing.failed_with(76, "AMQ2503E");
    // Results that cannot be written.
    let file = place.path().join("file");
    fs::write(&file, "").expect("written");
    let work = place.path().join("work").display().to_string();
    let line = format!(
        "perf run floor --quick --rounds 1 --window 0.01 --out {}/x --work {work}",
        file.display()
    );
    place.line(&line).failed_with(76, "AMQ2501E");
    // That was seen before anything was measured.
    assert!(!Path::new(&work).exists());
    // Results that another run is writing.
    let out = place.path().join("out");
    fs::create_dir(&out).expect("a folder");
    let held = fs::File::open(&out).expect("the folder");
    held.lock().expect("held");
    let refused = place.line(&run_line(&place, "floor --quick --rounds 1 --window 0.01"));
    assert!(
        refused.err.contains("another run is writing"),
        "{refused:?}"
    );
    refused.failed_with(39, "AMQ2402E");
}

/// The queue manager that a laboratory has started, once it is there.
fn server_of(laboratory: u32) -> Pid {
    let deadline = Instant::now() + LONG;
    loop {
        assert!(Instant::now() < deadline, "no queue manager was started");
        let threads = fs::read_dir(format!("/proc/{laboratory}/task")).expect("it runs");
        for thread in threads.filter_map(Result::ok) {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace() {
                let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                if line.contains(" run PERF ") {
                    let number = child.parse().expect("a number");
                    return Pid::from_raw(number).expect("a process");
                }
            }
        }
        std::thread::yield_now();
    }
}

/// Starts a run that puts messages, and calls `disturb` when its queue manager is there.
fn disturbed(place: &Place, disturb: impl FnOnce(Pid, Pid)) -> (i32, String, PathBuf) {
    let line = run_line(place, "fill-drain --quick --rounds 1");
    let mut command = place.named("posthaste");
    command
        .args(line.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = Guard(command.spawn().expect("it starts"));
    let server = server_of(child.0.id());
    disturb(Pid::from_child(&child.0), server);
    let mut errors = String::new();
    use std::io::Read as _;
    let stderr = child.0.stderr.take();
    stderr
        .expect("a pipe")
        .read_to_string(&mut errors)
        .expect("text");
    let status = child.0.wait().expect("it ends");
    let process = PathBuf::from(format!("/proc/{}", server.as_raw_nonzero()));
    (status.code().unwrap_or(-1), errors, process)
}

#[test]
fn a_queue_manager_that_dies_ends_the_run_and_leaves_marked_results() {
    let place = Place::new();
    let (code, errors, _) = disturbed(&place, |_, server| {
        kill_process(server, Signal::KILL).expect("it is there");
    });
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("AMQ2501E"), "{errors}");
    assert!(errors.contains("the queue manager under test"), "{errors}");
    let text = results(&place, "fill-drain");
    assert!(
        text.contains("\"partial\": \"the queue manager under test"),
        "{text}"
    );
    assert!(cleared(&place));
}

/// Whether this process ignores SIGHUP, which its children inherit; the signal is the lowest bit of the mask.
fn hangup_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("hexadecimal") & 1 != 0
}

#[test]
fn a_run_that_is_interrupted_ends_its_queue_manager_and_marks_its_results() {
    // Ctrl-C, and a terminal that closes.
    for signal in [Signal::INT, Signal::HUP] {
        if signal == Signal::HUP && hangup_is_ignored() {
            skipped("the tests run under nohup, and so would what they start");
            continue;
        }
        let place = Place::new();
        let (code, errors, server) = disturbed(&place, |laboratory, _| {
            kill_process(laboratory, signal).expect("it is there");
        });
        assert_eq!(code, 1, "{errors}");
        assert!(errors.contains("interrupted"), "{errors}");
        assert!(results(&place, "fill-drain").contains("\"partial\": \"interrupted\""));
        assert!(!server.exists(), "{}", server.display());
        assert!(cleared(&place));
    }
}

#[test]
fn a_queue_manager_under_test_does_not_outlive_a_run_that_is_killed() {
    let place = Place::new();
    let (code, errors, server) = disturbed(&place, |laboratory, _| {
        kill_process(laboratory, Signal::KILL).expect("it is there");
    });
    assert_eq!(code, -1, "{errors}");
    // It is nobody's child any more: whoever inherited it may not have asked for its end yet.
    let lives = || fs::read_to_string(server.join("stat")).is_ok_and(|stat| !stat.contains(") Z "));
    let deadline = Instant::now() + LONG;
    while lives() {
        assert!(Instant::now() < deadline, "the queue manager lives on");
        std::thread::yield_now();
    }
}

/// A disk that is full before the queue manager is there, and one that fills up under a workload: what had been measured
/// is kept and marked, and nothing of it is left on the disk.
#[test]
fn a_full_disk_ends_a_measurement_and_leaves_marked_results() {
    let place = Place::new();
    let script = "$P perf run fill-drain --quick --rounds 1 --out $D/../out --work $D/work; \
         echo code $?; ls -A $D/work";
    let Some(run) = place.on_a_small_disk(script) else {
        skipped("this system does not let tests mount file systems");
        return;
    };
    assert!(run.out.ends_with("code 63\n"), "{run:?}");
    assert!(run.err.contains("AMQ2501E"), "{run:?}");
    assert!(
        results(&place, "fill-drain").contains("\"partial\": \"the disk is full: AMQ2020E"),
        "{run:?}"
    );

    let script = "$P create -lf 512 -lp 2 -ls 1 QM1 >&2 && $P start QM1 >&2 \
         && echo 'DEFINE QLOCAL(Q) MAXDEPTH(999999)' | $P mqsc QM1 >&2 \
         && dd if=/dev/zero of=$D/filler bs=1M count=6 2>/dev/null; \
         $P perf -tc Sender -d Q -nt 2 -ms 2000 -ppn -mg 20000 -rl 0 -jt mqb -jb QM1; echo code $?; \
         rm $D/filler; \
         echo 'DISPLAY QLOCAL(Q) CURDEPTH' | $P mqsc QM1; $P stop -i -z QM1";
    let driven = place.on_a_small_disk(script).expect("it was possible");
    assert!(driven.err.contains("2056"), "{driven:?}");
    assert!(driven.out.contains("partial results"), "{driven:?}");
    assert!(driven.out.contains("code 1\n"), "{driven:?}");
    let after = |text: &'static str| {
        let (_, rest) = driven.out.split_once(text).expect(text);
        let digits = rest.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse::<u64>().expect("a number")
    };
    let put = after("totalIterations=");
    assert!(put > 100, "{driven:?}");
    assert_eq!(
        after("CURDEPTH("),
        put,
        "every put that was counted is there"
    );
}

/// IBM's JMS client drives the server, with messages of both kinds.
#[test]
fn round_trips_of_jms_are_measured() {
    let there = |program: &str| {
        let mut command = std::process::Command::new(program);
        let command = command.arg("-version").stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok()
    };
    if let Some(missing) = ["java", "javac", "mvn"].iter().find(|name| !there(name)) {
        let ci = std::env::var_os("CI").is_some();
        assert!(!ci, "the scenario needs {missing}");
        skipped(&format!(
            "there is no {missing} here, which rr-cc-jms needs"
        ));
        return;
    }
    let place = Place::new();
    let line = "rr-cc-jms --quick --rounds 1 --window 1 --only JMS";
    // A colon parts what a class path names.
    let work = "wo:rk";
    let done = place.line(&run_line_in(&place, line, work));
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let text = results(&place, "rr-cc-jms");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["ended"], "complete");
    for (name, puts) in [("2 KiB NP JMS 60", 2.0), ("2 KiB P JMS 60", 2.0)] {
        let cases = document["cases"].as_array().expect("cases");
        let case = cases.iter().find(|case| case["name"] == name).expect(name);
        let round = &case["rounds"][0];
        let number = |key: &str| round[key].as_f64().unwrap_or_default();
        let operations = number("operations");
        assert!(operations > 0.0 && number("seconds") >= 1.0, "{round}");
        assert!(number("client_cpu_ns") > number("server_cpu_ns"), "{round}");
        assert!(round["latency"]["p50"].as_f64() > Some(0.0), "{round}");
        // The server has seen what the driver says: two puts a round trip, but for those under way at both ends; and what goes
        // on until its counters are read, which a busy machine makes long.
        let counted = round["counters"]["engine.puts"].as_f64().expect("a count");
        let (expected, under_way) = (puts * operations, 2.0 * 60.0 * puts);
        let range = expected - under_way..=1.5 * expected + under_way;
        assert!(range.contains(&counted), "{counted} puts, {operations}");
    }
    assert!(is_empty(&place, work));
}

/// Nothing is begun where the driver could not be built.
#[test]
fn jms_without_java_or_maven_is_refused() {
    let place = Place::new();
    let mut command = place.named("posthaste");
    let line = run_line(&place, "rr-cc-jms --quick");
    command.args(line.split(' ')).env("PATH", place.path());
    let refused = outcome(&mut command).failed_with(39, "AMQ2504E");
    assert!(refused.err.contains("it needs java,"), "{refused:?}");
    assert!(!place.path().join("out").exists() && !place.path().join("work").exists());
}
