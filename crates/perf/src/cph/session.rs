//! A run in this process: start, rate lines, totals.
//!
//! Invariants: what was measured is printed whatever happened; results of a run in which something
//! went wrong are marked, and its exit code is not 0.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_client::{Address, ClientError, Connect, Tls};
use posthaste_server::{DataDir, EndMode, Exit, Failure, InProcess, InProcessOptions, State};

use super::failure;
use super::flags::{Flags, ManagerFlags};
use super::output::{self, Sum, note, per_second};
use crate::drive::{Outcome, Running, start_unless, unreachable};
use crate::measure::Interrupt;
use crate::workload::{Target, Workload};

/// Where a client connects to unless told.
const HOST: &str = "localhost";
/// The port there.
const PORT: u16 = 1414;
/// How often is looked whether the run is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Runs in this process.
pub(super) fn run(
    place: Option<&Path>,
    flags: &Flags,
    workloads: &[Workload],
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (target, inside) = target(place, flags)?;
    let driven = drive(flags, workloads, &target, interrupt);
    drop(target);
    let inside = inside.and_then(Arc::into_inner);
    let ended = inside.map_or(Ok(()), |inside| inside.end(EndMode::Immediate));
    let exit = driven?;
    ended.map(|()| exit)
}

/// What is driven, and the queue manager if it is in this process.
fn target(
    place: Option<&Path>,
    flags: &Flags,
) -> Result<(Target, Option<Arc<InProcess>>), Failure> {
    let to = &flags.to;
    let name = to.name.as_deref();
    if to.binding == "mqc" {
        return client(place, to).map(|connect| (Target::Client(connect), None));
    }
    let data = DataDir::find(place)?;
    let home = posthaste_server::find(&data, name)?;
    if to.inside {
        let inside = InProcess::open(&data, &home.name, &InProcessOptions::default())?;
        let inside = Arc::new(inside);
        return Ok((Target::InProcess(inside.clone()), Some(inside)));
    }
    if !flags.own.child {
        note(
            &flags.output,
            "-jt mqb: over the queue manager's local socket; shared-memory bindings are not in this release.",
        );
    }
    let target = Target::Local {
        data_dir: place.map(Path::to_owned),
        queue_manager: to.name.clone(),
    };
    Ok((target, None))
}

fn client(place: Option<&Path>, to: &ManagerFlags) -> Result<Connect, Failure> {
    let name = to.name.as_deref();
    let (host, port) = match (name, &to.host, to.port) {
        (Some(name), None, None) => listener_of(place, name)?,
        (_, host, port) => (
            host.as_deref().unwrap_or(HOST).to_owned(),
            port.unwrap_or(PORT),
        ),
    };
    let mut connect = Connect::new(Address::Tcp { host, port }, &to.channel, name.unwrap_or(""));
    connect.user.clone_from(&to.user);
    connect.password = to.password.as_deref().map(Into::into);
    if let Some(cipher_spec) = &to.cipher_spec {
        let tls = encrypted(cipher_spec, to);
        let tls = tls.map_err(|error| failure::of(unreachable(&connect.queue_manager, error)))?;
        connect.tls = Some(Box::new(tls));
    }
    Ok(connect)
}

fn encrypted(cipher_spec: &str, to: &ManagerFlags) -> Result<Tls, ClientError> {
    let mut tls = match &to.key_repository {
        None => Tls::from_environment(cipher_spec)?,
        Some(file) => Tls::with_repository(cipher_spec, file),
    };
    tls.label = to.label.clone().or(tls.label);
    Ok(tls)
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
    let listeners = found
        .status
        .map(|status| status.listeners)
        .unwrap_or_default();
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

fn drive(
    flags: &Flags,
    workloads: &[Workload],
    target: &Target,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let Some(started) = start_unless(workloads, target, interrupt).map_err(failure::of)? else {
        note(&flags.output, "Ended before every application was ready.");
        return tell(flags, &Sum::default()).map(|()| Exit::Done);
    };
    let mut started = started.into_iter();
    let Some(running) = started.next() else {
        return Err(failure::incomplete("nothing was started"));
    };
    let responders = started.next();
    let mut session = Session {
        flags,
        running: &running,
        responders: responders.as_ref(),
        interrupt,
        sum: Sum::default(),
        complained: false,
    };
    let (iterations, begun) = session.warm_up();
    // Whatever happens, the applications finish what they have begun.
    let measured = session.measure(iterations, begun);
    let seconds = begun.elapsed().as_secs_f64();
    let mut sum = session.sum;
    let outcome = running.stop();
    let behind = responders.map(Running::stop);
    measured?;
    sum.iterations = outcome.window;
    sum.seconds = match (flags.own.warm_up.is_zero(), flags.output.until.as_str()) {
        (false, _) => seconds,
        (true, "tlf") => outcome.to_last_iteration,
        (true, _) => outcome.seconds,
    };
    sum.record(&outcome.latency);
    for outcome in [&outcome].into_iter().chain(&behind) {
        sum.failed += outcome.failed;
        sum.partial |= outcome.partial;
    }
    tell(flags, &sum)?;
    if let Some(workload) = workloads.first() {
        missed(flags, workload, &sum, outcome.missed);
    }
    match sum.is_marked() {
        true => Err(first_failure(&sum, &outcome, behind.as_ref())),
        false => Ok(Exit::Done),
    }
}

struct Session<'a> {
    flags: &'a Flags,
    running: &'a Running,
    responders: Option<&'a Running>,
    interrupt: &'a Interrupt,
    /// What has been measured so far.
    sum: Sum,
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
            note(&self.flags.output, &format!("{error}. The run goes on."));
        }
    }

    /// With how many iterations, and when, the measurement begins.
    fn warm_up(&mut self) -> (u64, Instant) {
        let time = self.flags.own.warm_up;
        if time.is_zero() {
            return (0, self.running.began());
        }
        let seconds = time.as_secs_f64();
        note(&self.flags.output, &format!("Warming up for {seconds} s."));
        self.pass_until(Instant::now() + time);
        self.running.begin_window()
    }

    /// Rate lines until the run is over.
    fn measure(&mut self, mut last: u64, begun: Instant) -> Result<(), Failure> {
        let flags = &self.flags.output;
        let over = self.flags.course.length.map(|length| begun + length);
        if let Some(over) = over {
            self.running.due_before(over);
        }
        let mut from = begun;
        let mut before = self.running.each();
        loop {
            let tick = flags.interval.map(|interval| from + interval);
            let until = [tick, over].into_iter().flatten().min();
            let until = until.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            if !self.pass_until(until) {
                return Ok(());
            }
            if tick.is_some_and(|tick| tick <= until) {
                let (iterations, now) = (self.running.iterations(), Instant::now());
                let seconds = now.duration_since(from).as_secs_f64();
                let rate = |now: u64, before: u64| per_second(now.saturating_sub(before), seconds);
                let each = self.running.each();
                let rates: Vec<f64> = each
                    .iter()
                    .zip(&before)
                    .map(|(n, b)| rate(*n, *b))
                    .collect();
                let latency = self.running.take_latency();
                let rate = rate(iterations, last);
                let line = output::rate(flags, rate, self.running.at_work(), &latency, &rates);
                output::line(flags, &line)?;
                self.sum.record(&latency);
                (last, from, before) = (iterations, now, each);
            }
            if over.is_some_and(|over| over <= until) {
                return Ok(());
            }
        }
    }
}

/// Prints what a run came to.
fn tell(flags: &Flags, sum: &Sum) -> Result<(), Failure> {
    let (output, child) = (&flags.output, flags.own.child);
    if !output.summary && !child {
        return Ok(());
    }
    output::line(output, &sum.totals(output))?;
    if sum.is_marked() {
        let what = match sum.partial {
            true => "partial results: applications ended before they were to",
            false => "incomplete results: not everything was done",
        };
        output::line(output, &format!("{what}; failures={}", sum.failed))?;
    }
    match (child, output.latency) {
        (true, _) => output::plain(&sum.whole()),
        (false, true) => output::plain(&sum.percentiles()),
        (false, false) => Ok(()),
    }
}

/// The first of all failures, as the failure of the run.
fn first_failure(sum: &Sum, outcome: &Outcome, behind: Option<&Outcome>) -> Failure {
    let all = [outcome].into_iter().chain(behind);
    let Some(first) = all.flat_map(|outcome| &outcome.failures).next() else {
        return failure::incomplete("an application ended before it was to");
    };
    let mut failure = failure::of(first.clone());
    // Once it is running, whatever goes wrong is a call that failed.
    failure.exit = Exit::CallFailed;
    match sum.failed {
        0 | 1 => failure,
        many => failure.with_detail(format!("{many} failures; the first of them:")),
    }
}

/// Says when a rate was not held.
fn missed(flags: &Flags, workload: &Workload, sum: &Sum, given_up: u64) {
    if workload.rate <= 0.0 || workload.iterations.is_some() || !workload.ramp.is_zero() {
        return;
    }
    let asked = workload.rate * f64::from(workload.applications);
    let held = per_second(sum.iterations, sum.seconds);
    if given_up > 0 || held < 0.98 * asked - 1.0 / sum.seconds.max(0.001) {
        let what = format!(
            "The rate was not held: {held:.2} of {asked:.2} a second; {given_up} iterations were given up."
        );
        note(&flags.output, &what);
    }
}
