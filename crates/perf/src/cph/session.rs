//! A run in this process: start, rate lines, totals.
//!
//! Invariants: what was measured is printed whatever happened; results of a run in which something
//! went wrong are marked, and its exit code is not 0.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use posthaste_client::{Address, Connect};
use posthaste_server::{DataDir, EndMode, Exit, Failure, InProcess, InProcessOptions, State};

use super::failure;
use super::output::{self, Exact, Prefix, Printer};
use super::settings::{Choice, HOST, PORT, Settings};
use crate::drive::{Outcome, Running, start_unless};
use crate::measure::{Interrupt, histogram};
use crate::workload::Target;

/// How often is looked whether the run is to end.
const LOOK: Duration = Duration::from_millis(50);

/// A note on standard error.
pub(crate) fn note(settings: &Settings, text: &str) {
    if settings.notes {
        // Nobody is left to tell if this fails.
        let _ = io::Write::write_all(&mut io::stderr(), format!("{text}\n").as_bytes());
    }
}

/// Standard output could not be written.
pub(crate) fn unwritable(error: &io::Error) -> Failure {
    failure::system("standard output cannot be written", error)
}

/// Runs in this process.
pub(crate) fn run(
    place: Option<&Path>,
    settings: &Settings,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (target, inside) = target(place, settings)?;
    let driven = drive(settings, &target, interrupt);
    drop(target);
    let ended = inside.map_or(Ok(()), end_inside);
    let exit = driven?;
    ended?;
    Ok(exit)
}

fn target(
    place: Option<&Path>,
    settings: &Settings,
) -> Result<(Target, Option<Arc<InProcess>>), Failure> {
    match &settings.choice {
        Choice::Client {
            host,
            port,
            channel,
        } => {
            let connect = over_network(settings, host.clone(), *port, channel);
            Ok((Target::Client(connect), None))
        }
        Choice::Named { channel } => {
            let name = settings.queue_manager.as_deref().unwrap_or("");
            let (host, port) = listener_of(place, name)?;
            let connect = over_network(settings, host, port, channel);
            Ok((Target::Client(connect), None))
        }
        Choice::Local => {
            if !settings.child {
                note(
                    settings,
                    "-jt mqb: over the queue manager's local socket; shared-memory bindings are not in this release.",
                );
            }
            let data = DataDir::find(place)?;
            posthaste_server::find(&data, settings.queue_manager.as_deref())?;
            let target = Target::Local {
                data_dir: place.map(Path::to_owned),
                queue_manager: settings.queue_manager.clone(),
            };
            Ok((target, None))
        }
        Choice::InProcess => {
            let data = DataDir::find(place)?;
            let home = posthaste_server::find(&data, settings.queue_manager.as_deref())?;
            let options = InProcessOptions::default();
            let inside = Arc::new(InProcess::open(&data, &home.name, &options)?);
            Ok((Target::InProcess(inside.clone()), Some(inside)))
        }
    }
}

fn over_network(settings: &Settings, host: String, port: u16, channel: &str) -> Connect {
    let name = settings.queue_manager.as_deref().unwrap_or("");
    let mut connect = Connect::new(Address::Tcp { host, port }, channel, name);
    connect.user.clone_from(&settings.user);
    connect.password.clone_from(&settings.password);
    connect
}

/// Where the queue manager of that name listens; if there is none of it here, where one listens that is elsewhere.
fn listener_of(place: Option<&Path>, name: &str) -> Result<(String, u16), Failure> {
    let data = DataDir::find(place)?;
    let all = posthaste_server::list(&posthaste_env::os(), &data)?;
    let Some(found) = all.into_iter().find(|found| found.home.name == name) else {
        return Ok((HOST.to_owned(), PORT));
    };
    if !matches!(found.state, State::Running(_)) {
        return Err(Failure::not_running(name));
    }
    let status = found.status;
    let listeners = status.map(|status| status.listeners).unwrap_or_default();
    let Some((_, address)) = listeners.first() else {
        let why = "it has no listener that works; -jt mqb goes over its local socket";
        return Err(Failure::new(Exit::NotRunning, "AMQ2209E", &[name, why]));
    };
    let host = match address.ip() {
        every if every.is_unspecified() => HOST.to_owned(),
        one => one.to_string(),
    };
    Ok((host, address.port()))
}

fn end_inside(inside: Arc<InProcess>) -> Result<(), Failure> {
    match Arc::into_inner(inside) {
        Some(inside) => inside.end(EndMode::Immediate),
        None => Ok(()),
    }
}

fn drive(settings: &Settings, target: &Target, interrupt: &Interrupt) -> Result<Exit, Failure> {
    let started = start_unless(&settings.workloads(), target, interrupt);
    let Some(mut running) = started.map_err(|error| failure::of(&error))? else {
        return stopped(settings);
    };
    let responders = (running.len() > 1).then(|| running.pop()).flatten();
    let Some(running) = running.pop() else {
        return Err(failure::incomplete("nothing was started"));
    };
    let mut session = Session {
        settings,
        printer: printer(settings),
        running: &running,
        responders: responders.as_ref(),
        interrupt,
        latency: Histogram::new_from(&running.latency()),
        complained: false,
    };
    let begun = session.warm_up();
    // Whatever happens, the applications finish what they have begun.
    let measured = session.measure(&begun);
    let seconds = begun.at.elapsed().as_secs_f64();
    let Session {
        printer, latency, ..
    } = session;
    let outcome = running.stop();
    let behind = responders.map(Running::stop);
    measured?;
    let mut end = End {
        settings,
        printer,
        latency,
    };
    let seconds = match settings.warm_up.is_zero() {
        true => end.seconds(&outcome),
        false => seconds,
    };
    end.tell(seconds, &outcome, behind.as_ref())
}

fn printer(settings: &Settings) -> Printer<io::Stdout> {
    Printer::stdout(Prefix {
        id: settings.id.clone(),
        time: settings.time_stamps,
    })
}

/// The user ended it before it had begun.
fn stopped(settings: &Settings) -> Result<Exit, Failure> {
    note(settings, "Ended before every application was ready.");
    let mut end = End {
        settings,
        printer: printer(settings),
        latency: histogram(),
    };
    if settings.summary || settings.child {
        end.summary(0, 0.0, 0, false)?;
    }
    Ok(Exit::Done)
}

struct Begun {
    at: Instant,
    iterations: u64,
}

struct Session<'a> {
    settings: &'a Settings,
    printer: Printer<io::Stdout>,
    running: &'a Running,
    responders: Option<&'a Running>,
    interrupt: &'a Interrupt,
    latency: Histogram<u64>,
    complained: bool,
}

impl Session<'_> {
    /// Lets so much time pass; `false` when the run is over before.
    fn pass_until(&mut self, until: Instant) -> bool {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.running.wait(left.min(LOOK)) || self.interrupt.raised() {
                return false;
            }
            self.complain();
            if left.is_zero() {
                return true;
            }
        }
    }

    /// The first thing that goes wrong is told at once.
    fn complain(&mut self) {
        if self.complained {
            return;
        }
        let behind = self.responders.and_then(Running::failure);
        if let Some(error) = self.running.failure().or(behind) {
            self.complained = true;
            note(self.settings, &format!("{error}. The run goes on."));
        }
    }

    /// When and with what the measurement begins.
    fn warm_up(&mut self) -> Begun {
        if self.settings.warm_up.is_zero() {
            return Begun {
                at: self.running.began(),
                iterations: 0,
            };
        }
        let seconds = self.settings.warm_up.as_secs_f64();
        note(self.settings, &format!("Warming up for {seconds} s."));
        self.pass_until(Instant::now() + self.settings.warm_up);
        let (iterations, at) = self.running.begin_window();
        self.latency.reset();
        Begun { at, iterations }
    }

    /// Rate lines until the run is over.
    fn measure(&mut self, begun: &Begun) -> Result<(), Failure> {
        let over = self.settings.length.map(|length| begun.at + length);
        if let Some(over) = over {
            self.running.due_before(over);
        }
        let (mut last, mut from) = (begun.iterations, begun.at);
        let mut each = self.running.each();
        loop {
            let tick = self.settings.interval.map(|interval| from + interval);
            let until = match (tick, over) {
                (Some(tick), Some(over)) => tick.min(over),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => Instant::now() + Duration::from_secs(3600),
            };
            if !self.pass_until(until) {
                return Ok(());
            }
            if tick.is_some_and(|tick| tick <= until) {
                let (iterations, now) = (self.running.iterations(), Instant::now());
                let seconds = now.duration_since(from).as_secs_f64();
                let rates = self.each(&mut each, seconds);
                let latency = self.running.take_latency();
                let done = iterations.saturating_sub(last);
                let line = output::rate(
                    output::per_second(done, seconds),
                    self.running.at_work(),
                    self.settings.latency.then_some(&latency),
                    self.settings.each.then_some(&rates),
                );
                self.printer.line(&line).map_err(|e| unwritable(&e))?;
                // Bounds are the same, so nothing is lost.
                let _ = self.latency.add(&latency);
                (last, from) = (iterations, now);
            }
            if over.is_some_and(|over| over <= until) {
                return Ok(());
            }
        }
    }

    fn each(&self, before: &mut Vec<u64>, seconds: f64) -> Vec<f64> {
        let now = self.running.each();
        let rates = now
            .iter()
            .zip(before.iter())
            .map(|(now, before)| output::per_second(now.saturating_sub(*before), seconds))
            .collect();
        *before = now;
        rates
    }
}

/// What is told at the end.
struct End<'a> {
    settings: &'a Settings,
    printer: Printer<io::Stdout>,
    latency: Histogram<u64>,
}

impl End<'_> {
    fn seconds(&self, outcome: &Outcome) -> f64 {
        match self.settings.to_last_iteration {
            true => outcome.to_last_iteration,
            false => outcome.seconds,
        }
    }

    fn tell(
        &mut self,
        seconds: f64,
        outcome: &Outcome,
        behind: Option<&Outcome>,
    ) -> Result<Exit, Failure> {
        // Bounds are the same, so nothing is lost.
        let _ = self.latency.add(&outcome.latency);
        let (settings, iterations) = (self.settings, outcome.window);
        let failed = outcome.failed + behind.map_or(0, |behind| behind.failed);
        let partial = outcome.partial || behind.is_some_and(|behind| behind.partial);
        if settings.summary || settings.child {
            self.summary(iterations, seconds, failed, partial)?;
        }
        self.missed(iterations, seconds, outcome);
        if failed == 0 && !partial {
            return Ok(Exit::Done);
        }
        let first = outcome
            .failures
            .first()
            .or_else(|| behind.and_then(|behind| behind.failures.first()));
        let Some(first) = first else {
            return Err(failure::incomplete("an application ended before it was to"));
        };
        let mut failure_found = failure::of(first);
        // Once it is running, whatever goes wrong is a call that failed.
        failure_found.exit = Exit::CallFailed;
        if failed > 1 {
            failure_found =
                failure_found.with_detail(format!("{failed} failures; the first of them:"));
        }
        Err(failure_found)
    }

    fn summary(
        &mut self,
        iterations: u64,
        seconds: f64,
        failed: u64,
        partial: bool,
    ) -> Result<(), Failure> {
        let settings = self.settings;
        let latency = settings.latency.then_some(&self.latency);
        let line = output::totals(iterations, seconds, latency);
        self.printer.line(&line).map_err(|e| unwritable(&e))?;
        if settings.child {
            let exact = Exact {
                iterations,
                seconds,
                marked: partial || failed > 0,
            };
            let line = exact.line();
            self.printer.line(&line).map_err(|e| unwritable(&e))?;
        }
        if partial || failed > 0 {
            let what = match partial {
                true => "partial results: applications ended before they were to",
                false => "incomplete results: not everything was done",
            };
            let line = format!("{what}; failures={failed}");
            self.printer.line(&line).map_err(|e| unwritable(&e))?;
        }
        if settings.child {
            let line = output::histogram(&self.latency);
            self.printer.line(&line).map_err(|e| unwritable(&e))?;
        } else if settings.latency {
            let table = output::percentiles(&self.latency);
            self.printer.plain(&table).map_err(|e| unwritable(&e))?;
        }
        Ok(())
    }

    /// Says when a rate was not held.
    fn missed(&self, iterations: u64, seconds: f64, outcome: &Outcome) {
        let workload = &self.settings.workload;
        if workload.rate <= 0.0 || workload.iterations.is_some() || !workload.ramp.is_zero() {
            return;
        }
        let asked = workload.rate * f64::from(workload.applications);
        let held = output::per_second(iterations, seconds);
        if outcome.missed > 0 || held < 0.98 * asked - 1.0 / seconds.max(0.001) {
            note(
                self.settings,
                &format!(
                    "The rate was not held: {held:.2} of {asked:.2} a second; {} iterations were given up.",
                    outcome.missed
                ),
            );
        }
    }
}
