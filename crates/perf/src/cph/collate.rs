//! Several driver processes, collated: each prints its lines as ever, under its `id`, and their sum
//! follows.
//!
//! Invariants: children are in a process group of their own and are told to end once; their results
//! are counted only if they came whole; a child that fails makes the whole run fail.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use hdrhistogram::Histogram;
use posthaste_server::{Exit, Failure};
use rustix::process::Signal;

use super::failure;
use super::output::{self, Exact, Prefix, Printer};
use super::session::unwritable;
use super::settings::Settings;
use crate::measure::{Child, Interrupt, histogram};

/// How often is looked whether the run is to end.
const LOOK: Duration = Duration::from_millis(100);

/// What a child printed; none when it has printed everything.
type Output = (usize, Option<String>);

/// Runs the processes.
pub(crate) fn run(
    place: Option<&Path>,
    settings: &Settings,
    flags: &[String],
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (say, hear) = channel();
    let mut children = Vec::new();
    for number in 0..settings.processes {
        let flags = child_flags(flags, number + 1);
        match start(place, &flags, children.len(), say.clone()) {
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
    let mut collator = Collator::new(children.len(), settings.summary);
    let mut printer = Printer::stdout(Prefix::default());
    let listened = listen(&hear, &children, interrupt, |number, line| {
        for line in collator.take(number, line) {
            printer.plain(&line)?;
        }
        Ok(())
    });
    let bad = reap(&mut children);
    listened.map_err(|error| unwritable(&error))?;
    let end = match settings.summary {
        true => collator.end(settings),
        false => Vec::new(),
    };
    for line in end {
        printer.plain(&line).map_err(|error| unwritable(&error))?;
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

/// The same flags for child `id`.
fn child_flags(flags: &[String], id: u32) -> Vec<String> {
    let mut words = flags.iter();
    let mut out = Vec::new();
    while let Some(word) = words.next() {
        match word.trim_start_matches('-') {
            "processes" | "id" => {
                words.next();
            }
            _ => out.push(word.clone()),
        }
    }
    out.extend(["-id".to_owned(), id.to_string(), "--child".to_owned()]);
    out
}

fn start(
    place: Option<&Path>,
    flags: &[String],
    number: usize,
    say: Sender<Output>,
) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(place) = place {
        command.arg("--data-dir").arg(place);
    }
    command.arg("perf").args(flags).stdin(Stdio::null());
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
    mut take: impl FnMut(usize, &str) -> io::Result<()>,
) -> io::Result<()> {
    let (mut raised, mut result) = (false, Ok(()));
    loop {
        if interrupt.raised() && !raised {
            raised = true;
            end(children);
        }
        match hear.recv_timeout(LOOK) {
            Ok((number, Some(line))) if result.is_ok() => {
                result = take(number, &line);
                if result.is_err() {
                    raised = true;
                    end(children);
                }
            }
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
    /// Rates of each child that have not been summed up.
    rates: Vec<Vec<(f64, u64)>>,
    totals: Vec<Option<Exact>>,
    latency: Histogram<u64>,
    /// Whether totals are printed.
    summary: bool,
}

impl Collator {
    fn new(children: usize, summary: bool) -> Collator {
        Collator {
            rates: vec![Vec::new(); children],
            totals: vec![None; children],
            latency: histogram(),
            summary,
        }
    }

    /// Takes a child's line; gives what is to be printed.
    fn take(&mut self, number: usize, line: &str) -> Vec<String> {
        if let Some((_, pairs)) = line.split_once("histogram=") {
            // Counted anew when it is broken: a child's line is whole or is not there.
            output::add_histogram(pairs, &mut self.latency);
            return Vec::new();
        }
        if let Some(exact) = Exact::read(line) {
            if let Some(place) = self.totals.get_mut(number) {
                *place = Some(exact);
            }
            return Vec::new();
        }
        let mut lines = vec![line.to_owned()];
        if line.contains("totalIterations=") {
            if !self.summary {
                lines.clear();
            }
        } else if let (Some(rate), Some(threads)) = (field(line, "rate"), field(line, "threads")) {
            if let Some(rates) = self.rates.get_mut(number) {
                rates.push((rate, threads as u64));
            }
            if self.rates.iter().all(|rates| !rates.is_empty()) {
                lines.push(self.round());
            }
        }
        lines
    }

    /// The sum of the oldest rate of each child.
    fn round(&mut self) -> String {
        let (mut rate, mut threads) = (0.0, 0);
        for rates in &mut self.rates {
            let (one, of) = rates.remove(0);
            rate += one;
            threads += of;
        }
        let processes = self.rates.len();
        format!("rate={rate:.2},threads={threads},processes={processes}")
    }

    /// What is printed at the end.
    fn end(&self, settings: &Settings) -> Vec<String> {
        let came: Vec<Exact> = self.totals.iter().copied().flatten().collect();
        let iterations = came.iter().map(|totals| totals.iterations).sum();
        let seconds = came.iter().map(|totals| totals.seconds).fold(0.0, f64::max);
        let processes = u32::try_from(came.len()).unwrap_or(u32::MAX);
        let mut lines = vec![output::job(iterations, seconds, processes)];
        if self.missing() > 0 {
            lines.push(format!(
                "partial results: {} of {} processes",
                came.len(),
                self.totals.len()
            ));
        }
        let marked = came.iter().filter(|totals| totals.marked).count();
        if marked > 0 {
            lines.push(format!(
                "partial or incomplete results: those of {marked} processes, as told above"
            ));
        }
        if settings.latency {
            lines.push(output::percentiles(&self.latency));
        }
        lines
    }

    fn missing(&self) -> usize {
        self.totals.iter().filter(|totals| totals.is_none()).count()
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

    fn flags(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn children_get_the_flags_but_those_of_the_parent() {
        let given = flags("-tc Sender --processes 2 -id 9 -nt 3");
        assert_eq!(
            child_flags(&given, 2),
            flags("-tc Sender -nt 3 -id 2 --child")
        );
    }

    #[test]
    fn lines_of_children_are_summed_up() {
        let mut collator = Collator::new(2, true);
        let first = "id=1,rate=100.00,threads=3";
        assert_eq!(collator.take(0, first), [first]);
        // A child that is ahead waits for the other.
        collator.take(0, "id=1,rate=7.00,threads=3");
        let second = "id=2,rate=50.50,threads=4,avg_latency(uSec)=5,max=6,min=4\t1.00";
        let lines = collator.take(1, second);
        assert_eq!(lines, [second, "rate=150.50,threads=7,processes=2"]);
        let totals = "id=1,totalIterations=1000,totalSeconds=10.00,avgRate=100.00";
        assert_eq!(collator.take(0, totals), [totals]);
        assert!(collator.take(0, "id=1,exact=1000:10:false").is_empty());
        collator.take(0, "id=1,histogram=5:2,7:1");
        assert_eq!(collator.missing(), 1);
        let settings = Settings::read(&flags("-tc Sender -ls")).unwrap();
        let lines = collator.end(&settings);
        assert_eq!(lines[1], "partial results: 1 of 2 processes");
        assert!(collator.take(1, "id=2,exact=500:12.5:false").is_empty());
        collator.take(1, "id=2,histogram=9:1");
        let lines = collator.end(&settings);
        assert_eq!(
            lines[0],
            "totalJobIterations=1500,maxSeconds=12.50,avgJobRate=120.00,avgRatePerProcess=60.00"
        );
        assert!(
            lines[1].contains("           4         0.0"),
            "{}",
            lines[1]
        );
        assert_eq!(collator.missing(), 0);
    }

    #[test]
    fn short_runs_have_a_rate_and_marked_results_mark_the_sum() {
        let settings = Settings::read(&flags("-tc Sender")).unwrap();
        let mut collator = Collator::new(1, true);
        collator.take(0, "id=1,exact=4:0.002:true");
        assert_eq!(
            collator.end(&settings),
            [
                "totalJobIterations=4,maxSeconds=0.00,avgJobRate=2000.00,avgRatePerProcess=2000.00",
                "partial or incomplete results: those of 1 processes, as told above"
            ]
        );
    }
}
