//! Several driver processes, collated: each prints its lines as ever, under its `id`, and their sum
//! follows.
//!
//! Invariants: children are in a process group of their own and are told to end once; their results
//! are counted only if they came whole; a child that fails makes the whole run fail.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use posthaste_server::{Exit, Failure};
use rustix::process::Signal;

use super::failure;
use super::flags::Flags;
use super::output::{self, Sum};
use super::reading::names;
use crate::measure::{Child, Interrupt};

/// How often is looked whether the run is to end.
const LOOK: Duration = Duration::from_millis(100);

/// What a child printed; none when it has printed everything.
type Output = (usize, Option<String>);

/// Runs the processes, each with the words that this one was given.
pub(super) fn run(
    place: Option<&Path>,
    flags: &Flags,
    words: &[String],
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (say, hear) = channel();
    let mut children = Vec::new();
    for number in 0..flags.own.processes as usize {
        match start(place, words, number, say.clone()) {
            Ok(child) => children.push(child),
            Err(error) => {
                end(&children);
                reap(&mut children);
                return Err(failure::system(
                    "a driver process cannot be started",
                    &error,
                ));
            }
        }
    }
    drop(say);
    let mut collator = Collator::new(children.len());
    let summary = flags.output.summary;
    let listened = listen(&hear, &children, interrupt, |number, line| {
        let lines = collator.take(number, line, summary);
        lines.iter().try_for_each(|line| output::plain(line))
    });
    let bad = reap(&mut children);
    listened?;
    if summary {
        let lines = collator.end(flags.output.latency);
        lines.iter().try_for_each(|line| output::plain(line))?;
    }
    match (bad, collator.missing()) {
        (0, 0) => Ok(Exit::Done),
        (bad, missing) => Err(failure::incomplete(&format!(
            "{} of {} driver processes failed, {missing} of them without results",
            bad.max(missing),
            children.len()
        ))),
    }
}

/// The same flags for a child, but for those of its parent.
fn child_flags(words: &[String], number: usize) -> Vec<String> {
    let parents = |word: &&String| names(word, "processes") || names(word, "id");
    let mut flags: Vec<String> = words
        .iter()
        .filter(|word| !parents(word))
        .cloned()
        .collect();
    flags.extend([format!("--id={}", number + 1), "--child".to_owned()]);
    flags
}

fn start(
    place: Option<&Path>,
    words: &[String],
    number: usize,
    say: Sender<Output>,
) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(place) = place {
        command.arg("--data-dir").arg(place);
    }
    command.arg("perf").args(child_flags(words, number));
    command.stdin(Stdio::null());
    Child::start_for(command, move |line| {
        // When nobody hears it, nobody waits for it.
        let _ = say.send((number, line));
    })
}

/// Takes what the children print until each has ended.
fn listen(
    hear: &Receiver<Output>,
    children: &[Child],
    interrupt: &Interrupt,
    mut take: impl FnMut(usize, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut signalled, mut result) = (false, Ok(()));
    loop {
        if !signalled && (interrupt.raised() || result.is_err()) {
            signalled = true;
            end(children);
        }
        match hear.recv_timeout(LOOK) {
            Ok((number, Some(line))) if result.is_ok() => result = take(number, &line),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return result,
        }
    }
}

fn end(children: &[Child]) {
    for child in children {
        // It may have ended by itself.
        let _ = child.signal(Signal::INT);
    }
}

/// Waits for every child; how many did not end well.
fn reap(children: &mut [Child]) -> usize {
    let ended = children.iter_mut().map(Child::wait);
    ended
        .filter(|ended| !matches!(ended, Ok(status) if status.success()))
        .count()
}

/// What the children have said so far.
struct Collator {
    /// Rates and threads of each child that have not been summed up.
    rates: Vec<VecDeque<(f64, u64)>>,
    sums: Vec<Option<Sum>>,
}

impl Collator {
    fn new(children: usize) -> Collator {
        Collator {
            rates: vec![VecDeque::new(); children],
            sums: vec![None; children],
        }
    }

    /// Takes a child's line; gives what is to be printed.
    fn take(&mut self, number: usize, line: &str, summary: bool) -> Vec<String> {
        if let Some(sum) = Sum::read(line) {
            if let Some(place) = self.sums.get_mut(number) {
                *place = Some(sum);
            }
            return Vec::new();
        }
        if line.contains("totalIterations=") && !summary {
            return Vec::new();
        }
        let mut lines = vec![line.to_owned()];
        if let (Some(rate), Some(threads)) = (field(line, "rate"), field(line, "threads")) {
            if let Some(rates) = self.rates.get_mut(number) {
                rates.push_back((rate, threads as u64));
            }
            lines.extend(self.round());
        }
        lines
    }

    /// The sum of the oldest rate of each child, once there is one of each.
    fn round(&mut self) -> Option<String> {
        if self.rates.iter().any(VecDeque::is_empty) {
            return None;
        }
        let oldest = self.rates.iter_mut().filter_map(VecDeque::pop_front);
        let (rate, threads) = oldest.fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let processes = self.rates.len();
        Some(format!(
            "rate={rate:.2},threads={threads},processes={processes}"
        ))
    }

    /// What is printed at the end.
    fn end(&self, latency: bool) -> Vec<String> {
        let mut all = Sum::default();
        let came: Vec<&Sum> = self.sums.iter().flatten().collect();
        for sum in &came {
            all.iterations += sum.iterations;
            all.seconds = all.seconds.max(sum.seconds);
            all.record(&sum.latency);
        }
        let mut lines = vec![all.job(came.len())];
        if self.missing() > 0 {
            let (came, all) = (came.len(), self.sums.len());
            lines.push(format!("partial results: {came} of {all} processes"));
        }
        let marked = came.iter().filter(|sum| sum.is_marked()).count();
        if marked > 0 {
            lines.push(format!(
                "partial or incomplete results: those of {marked} processes, as told above"
            ));
        }
        if latency {
            lines.push(all.percentiles());
        }
        lines
    }

    fn missing(&self) -> usize {
        self.sums.iter().filter(|sum| sum.is_none()).count()
    }
}

/// The number behind `name=` in a line of fields.
fn field(line: &str, name: &str) -> Option<f64> {
    line.split([',', '\t', ' '])
        .find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
        .and_then(|number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_get_the_flags_but_those_of_the_parent() {
        let given = ["--tc=Sender", "--processes=2", "--id=9", "--nt=3"].map(str::to_owned);
        let expected = ["--tc=Sender", "--nt=3", "--id=2", "--child"];
        assert_eq!(child_flags(&given, 1), expected);
    }

    #[test]
    fn lines_of_children_are_summed_up() {
        let mut collator = Collator::new(2);
        let first = "id=1,rate=100.00,threads=3";
        assert_eq!(collator.take(0, first, true), [first]);
        // A child that is ahead waits for the other.
        collator.take(0, "id=1,rate=7.00,threads=3", true);
        let second = "id=2,rate=50.50,threads=4,avg_latency(uSec)=5,max=6,min=4\t1.00";
        let lines = collator.take(1, second, true);
        assert_eq!(lines, [second, "rate=150.50,threads=7,processes=2"]);
        let totals = "id=1,totalIterations=1000,totalSeconds=10.00,avgRate=100.00";
        assert_eq!(collator.take(0, totals, true), [totals]);
        let mut one = Sum {
            iterations: 1000,
            seconds: 10.0,
            ..Sum::default()
        };
        one.latency.record_n(5, 3).unwrap();
        assert!(collator.take(0, &one.whole(), true).is_empty());
        assert_eq!(collator.missing(), 1);
        let lines = collator.end(true);
        assert_eq!(lines[1], "partial results: 1 of 2 processes");
        (one.iterations, one.seconds, one.failed) = (500, 12.5, 1);
        assert!(collator.take(1, &one.whole(), true).is_empty());
        let lines = collator.end(true);
        assert_eq!(
            lines[..2],
            [
                "totalJobIterations=1500,maxSeconds=12.50,avgJobRate=120.00,avgRatePerProcess=60.00",
                "partial or incomplete results: those of 1 processes, as told above"
            ]
        );
        assert!(
            lines[2].contains("           6         0.0"),
            "{}",
            lines[2]
        );
        assert_eq!(collator.missing(), 0);
    }
}
