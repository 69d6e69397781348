//! `posthaste perf` with MQ-CPH's flags: counts, examples, interruptions, and what is refused.

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Guard, Outcome, Place, Serving};

/// A driver at work.
struct Driving {
    child: Guard,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Driving {
    fn start(place: &Place, line: &str) -> Driving {
        let child = place
            .named("posthaste")
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = Guard(child.expect("it starts"));
        let stdout = child.0.stdout.take().expect("a pipe");
        Driving {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// Waits until it prints a line with this in it.
    fn until(&mut self, part: &str) {
        for line in self.lines.by_ref() {
            if line.expect("text").contains(part) {
                return;
            }
        }
        panic!("it ended");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).expect("it is there");
    }

    fn wait(mut self) -> Outcome {
        let out: Vec<String> = self
            .lines
            .by_ref()
            .map(|line| line.expect("text"))
            .collect();
        let mut err = String::new();
        let stderr = self.child.0.stderr.take();
        stderr
            .expect("a pipe")
            .read_to_string(&mut err)
            .expect("text");
        let status = self.child.0.wait().expect("it ends");
        Outcome {
            code: status.code().unwrap_or(-1),
            out: out.join("\n"),
            err,
        }
    }
}

fn serving(place: &Place) -> (Serving, String) {
    let serving = place.serving("QM1");
    let port = serving.port();
    (serving, format!("-jp {port} -jb QM1"))
}

/// The number behind `name=` in what was printed.
fn number(outcome: &Outcome, name: &str) -> f64 {
    let (_, rest) = outcome
        .out
        .split_once(&format!("{name}="))
        .unwrap_or_else(|| panic!("no {name}: {outcome:?}"));
    let digits: String = rest
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits.parse().expect("a number")
}

#[test]
fn what_is_sent_is_counted_and_received_under_the_known_name() {
    let place = Place::new();
    let (serving, at) = serving(&place);
    let call = |line: &str| {
        let line = format!("{line} {at}");
        crate::place::outcome(place.named("cph").args(line.split(' '))).good()
    };
    let sent = call("-tc Sender -d DEV.QUEUE.1 -nt 4 -mg 100 -ms 300 -pp -tx -cc 7 -id 5");
    assert!(
        sent.out
            .starts_with("id=5,totalIterations=400,totalSeconds="),
        "{sent:?}"
    );
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 400);
    let got = call("-tc Receiver -d DEV.QUEUE.1 -nt 4 -mg 100 --multiplex 2 -ls");
    assert_eq!(number(&got, "totalIterations"), 400.0);
    assert!(
        got.out.contains("p99.9") && got.out.contains("avg_latency(uSec)="),
        "{got:?}"
    );
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0);
    let trips = call("-tc Requester -iq DEV.QUEUE.1 -oq DEV.QUEUE.2 -nt 4 -mg 100 --responders 3");
    assert_eq!(number(&trips, "totalIterations"), 400.0);
    // Every iteration is timed once, whatever was printed on the way.
    let timed = call("-tc PutGet -d DEV.QUEUE.3 -nt 2 -mg 200 -ls -ss 0.01");
    let (_, table) = timed.out.split_once("microseconds").expect("a table");
    assert_eq!(table.split_whitespace().next(), Some("400"), "{timed:?}");
    assert_eq!(place.depth("DEV.QUEUE.2", "QM1"), 0);
    let silent = call("-tc PutGet -d DEV.QUEUE.3 -mg 5 -su false");
    assert_eq!(silent.out, "");
    let warmed = call("-tc PutGet -d DEV.QUEUE.3 -nt 2 --warm-up 0.2 -rl 0.2 -ts 1 -ls");
    assert!(warmed.err.contains("Warming up for 0.2 s."), "{warmed:?}");
    assert!(number(&warmed, "totalIterations") > 0.0, "{warmed:?}");
    assert!(
        warmed.out.starts_with("20") && warmed.out.contains("Z totalIterations="),
        "{warmed:?}"
    );
    // It waits for more until the run of 2 s ends, but counts the time to the last one.
    call("-tc Sender -d DEV.QUEUE.3 -mg 5");
    let drained = call("-tc Receiver -d DEV.QUEUE.3 -rl 2 -sd tlf");
    assert_eq!(number(&drained, "totalIterations"), 5.0);
    assert!(number(&drained, "totalSeconds") < 2.0, "{drained:?}");
    let rated = call("-tc PutGet -d DEV.QUEUE.3 -rt 1000000 -rl 1.5");
    assert!(rated.err.contains("The rate was not held"), "{rated:?}");
    serving.end();
}

#[test]
fn the_examples_of_the_help_work_as_typed() {
    let place = Place::new();
    let (serving, at) = serving(&place);
    let help = place.line("perf --help").good();
    let examples: Vec<&str> = help
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("  posthaste perf -tc "))
        .map(|line| line.split("   ").next().unwrap_or(line))
        .collect();
    assert_eq!(examples.len(), 7, "{}", help.out);
    for example in examples {
        // The same, shorter, and at the port of this test.
        let mut line = format!("perf -tc {example}").replace("-rl 10", "-rl 0.3");
        if !line.contains("-rl ") && !line.contains("-mg ") {
            line.push_str(" -rl 0.3");
        }
        if !line.contains("-jt mqb") {
            line = format!("{line} {at}");
        }
        let outcome = place.line(&line).good();
        assert!(
            number(&outcome, "totalIterations") > 0.0,
            "{line}: {outcome:?}"
        );
    }
    assert_eq!(place.depth("DEV.QUEUE.3", "QM1"), 0);
    serving.end();
}

#[test]
fn a_server_that_dies_leaves_partial_results() {
    for carrier in ["", " --multiplex 1"] {
        let place = Place::new();
        let (serving, at) = serving(&place);
        let line = format!("perf -tc PutGet -d DEV.QUEUE.1 -nt 3 -rl 0 -ss 0.05 -ls{carrier} {at}");
        let mut driving = Driving::start(&place, &line);
        driving.until("rate=");
        serving.kill();
        let outcome = driving.wait();
        assert!(number(&outcome, "totalIterations") > 0.0);
        assert!(outcome.out.contains("partial results"), "{outcome:?}");
        assert!(outcome.out.contains("p99.9"), "{outcome:?}");
        assert!(outcome.err.contains("3 failures"), "{outcome:?}");
        outcome.failed_with(1, "AMQ2208E");
    }
}

#[test]
fn an_interruption_gives_the_summary() {
    let place = Place::new();
    let (serving, at) = serving(&place);
    let endless = "perf -tc PutGet -d DEV.QUEUE.1 -nt 2 -rl 0 -ss 0.05 -sp";
    let mut driving = Driving::start(&place, &format!("{endless} {at}"));
    driving.until("\t");
    driving.signal(Signal::INT);
    let outcome = driving.wait().good();
    assert!(number(&outcome, "totalIterations") > 0.0);
    let mut driving = Driving::start(&place, &format!("{endless} --processes 2 {at}"));
    driving.until("threads=4,processes=2");
    driving.signal(Signal::TERM);
    let outcome = driving.wait().good();
    assert!(number(&outcome, "totalJobIterations") > 0.0);
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0);
    serving.end();
}

#[test]
fn several_processes_are_collated() {
    let place = Place::new();
    let (serving, at) = serving(&place);
    let line = format!("perf -tc PutGet -d DEV.QUEUE.1 -nt 2 -mg 50 -ls --processes 3 {at}");
    let outcome = place.line(&line).good();
    assert_eq!(number(&outcome, "totalJobIterations"), 300.0);
    for id in 1..=3 {
        let totals = format!("id={id},totalIterations=100,");
        assert!(outcome.out.contains(&totals), "{outcome:?}");
    }
    let (_, table) = outcome.out.split_once("microseconds").expect("a table");
    assert_eq!(table.split_whitespace().next(), Some("300"), "{outcome:?}");
    let quiet = "perf -tc PutGet -d DEV.QUEUE.1 -mg 5 -ls -su false --processes 2";
    assert_eq!(place.line(&format!("{quiet} {at}")).good().out, "");
    let line = format!("perf -tc PutGet -d NOT.THERE -mg 50 --processes 2 {at}");
    let failed = place.line(&line);
    assert!(
        failed.err.contains("2 of 2 driver processes failed"),
        "{failed:?}"
    );
    assert!(failed.err.contains("MQOPEN of NOT.THERE"), "{failed:?}");
    failed.failed_with(1, "AMQ2230E");
    serving.end();
}

#[test]
fn a_queue_manager_is_driven_inside_the_driver_or_refused() {
    let place = Place::new();
    let (serving, _) = serving(&place);
    let inside = "perf -tc PutGet -d DEV.QUEUE.1 -nt 2 -mg 20 -jt mqb -jf -jb QM1";
    place.line(inside).failed_with(77, "AMQ2007E");
    serving.end();
    let outcome = place.line(inside).good();
    assert_eq!(number(&outcome, "totalIterations"), 40.0);
    // It is put in order behind it, and is no longer in use.
    place.line(inside).good();
    place
        .line("perf -tc PutGet -d NOT.THERE -jt mqb -jf -jb QM1")
        .failed_with(1, "2085");
    let again = place.serving("QM1");
    let many = "perf -tc PutGet -d DEV.QUEUE.1 -nt 5 -mg 20 --multiplex 1 -jt mqb -jb QM1";
    let outcome = place.line(many).good();
    assert_eq!(number(&outcome, "totalIterations"), 100.0);
    assert!(outcome.err.contains("local socket"), "{outcome:?}");
    let mut elsewhere = place.named("posthaste");
    elsewhere.env_remove("POSTHASTE_DATA").args(many.split(' '));
    elsewhere.arg("--data-dir").arg(place.data());
    crate::place::outcome(&mut elsewhere).good();
    again.end();
    let local = "perf -tc PutGet -d DEV.QUEUE.1 -jt mqb -jb";
    place.line(&format!("{local} QM1")).failed_with(40, "QM1");
    place
        .line(&format!("{local} QM9"))
        .failed_with(16, "AMQ8118E");
}

#[test]
fn what_cannot_be_done_is_refused_by_its_name() {
    let place = Place::new();
    for (line, text) in [
        ("-tc Sender -cz ZLIBFAST", "-cz ZLIBFAST: compression"),
        ("-tc Publisher", "the driver does not publish"),
        ("-tc Sender -nt 0", "-nt 0"),
        ("-tc Sender -cc 0", "-cc 0"),
        ("-tc Sender -tx -txz", "-txz"),
        ("-tc Sender -ms -1", "-ms -1"),
        ("-tc Sender -jf", "-jt mqb"),
        ("-tc Sender -jt mqb -jf --processes 2", "--processes"),
        ("-tc Sender -unknown", "-unknown"),
        ("-nt 3", "-tc"),
    ] {
        let refused = place.line(&format!("perf {line}"));
        assert!(refused.err.contains(text), "{line}: {refused:?}");
        refused.failed_with(39, "AMQ2402E");
    }
    let nobody = place.line("perf -tc Sender -jp 1 -jb QM1");
    assert!(nobody.err.contains("2538"), "{nobody:?}");
    nobody.failed_with(40, "AMQ2209E");
    assert!(
        place
            .line("perf -v")
            .good()
            .out
            .starts_with("posthaste perf ")
    );
    assert!(place.line("perf -hf").good().out.contains("-tc MODULE"));
}

#[test]
fn a_queue_manager_that_is_named_is_the_one_that_is_driven() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let other = place.serving("QM2");
    let drive = |flags: &str| {
        let line = format!("perf -tc Sender -d DEV.QUEUE.1 -mg 10 {flags}");
        place.line(&line)
    };
    // By its name alone, wherever it listens.
    drive("-jb QM2").good();
    drive("-jb QM2 --processes 2").good();
    assert_eq!(place.depth("DEV.QUEUE.1", "QM2"), 30);
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0);
    // Where something else was said that counts, and who answers there must be the one.
    let port = serving.port();
    let wrong = drive(&format!("-jb QM2 -jp {port}")).failed_with(1, "[2058]");
    let whom = format!("Another queue manager answers at localhost({port}).");
    assert!(wrong.err.contains(&whom), "{wrong:?}");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 0);
    place
        .mqsc("STOP LISTENER(SYSTEM.LISTENER.TCP.1)", "QM2")
        .good();
    drive("-jb QM2").failed_with(40, "-jt mqb");
    other.end();
    drive("-jb QM2").failed_with(40, "AMQ8146E");
    serving.end();
}
