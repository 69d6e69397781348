//! Rounds of work, kill, restart and judgement.
//!
//! Invariants:
//! * The seed decides what the connections ask for, the moments of the kills and their kinds. How
//!   connections interleave is the machine's, so a seed repeats the load, not the run.
//! * Every round is judged before the next one begins, and the first broken promise ends the
//!   campaign with the files as they are.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use posthaste_env_sim::Rng;

use crate::cutter::Cutter;
use crate::definer::Definer;
use crate::history::{Answer, Close, Ending, History, Round};
use crate::judge::judge;
use crate::ledger::Ledger;
use crate::plant::Plant;
use crate::power::PowerSupply;
use crate::server::{Server, Site, Way};
use crate::snapshot::{self, Browsed};
use crate::stage::{QUEUES, Stage};
use crate::violation::{Broken, Violation};
use crate::worker::{Mood, Road, Role, Worker, recover};

/// Worker numbers of one round; there are never as many connections.
const WORKERS: u32 = 1_000;
/// Every so many rounds end without a kill.
const QUIET_EVERY: u32 = 16;
/// Milliseconds of work before a kill.
const SHORTEST: u64 = 50;
const LONGEST: u64 = 2_000;
/// Of a hundred restarts, so many are killed as well, while they start.
const KILLED_STARTING: u32 = 12;
/// Most extra kills in a row.
const STARTS: u32 = 4;
/// Of a hundred rounds in which the server is not killed by a power cut, so many end in order, under load.
const IN_ORDER: u32 = 20;
/// Of a hundred rounds, in so many the server is stopped for a while and goes on.
const FROZEN: u32 = 8;
/// Most changes of the volume until the power goes.
const OPERATIONS: u64 = 60;
/// Of a hundred starts, before so many the log is kept, and put back before the next one.
const OLD_LOGS: u32 = 10;
/// How long a server may change nothing before the power goes all the same.
const IDLE: Duration = Duration::from_millis(300);

/// What to do.
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) kills: u32,
    pub(crate) seconds: u64,
    pub(crate) connections: u32,
    pub(crate) plant: Option<Plant>,
}

/// How a round ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    /// Connections end, the server runs on.
    Quiet,
    /// The server ends under load.
    Way(Way),
    /// Its power is cut.
    PowerCut,
}

impl Finish {
    fn close(self) -> Close {
        match self {
            Finish::Quiet => Close::Quiet,
            Finish::Way(Way::Kill) | Finish::PowerCut => Close::Killed,
            Finish::Way(_) => Close::Ended,
        }
    }
}

/// What was done.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rounds: u32,
    pub(crate) kills: u32,
    pub(crate) kills_starting: u32,
    pub(crate) power_cuts: u32,
    pub(crate) orderly: u32,
    pub(crate) frozen: u32,
    pub(crate) cuts: u64,
    pub(crate) definitions: u64,
    pub(crate) definer_puts: u64,
    pub(crate) permanent: u64,
    pub(crate) temporary: u64,
    pub(crate) puts: u64,
    pub(crate) delivered: u64,
    pub(crate) commits: u64,
    pub(crate) in_doubt: u64,
    pub(crate) recovered: u64,
    pub(crate) backouts: u64,
    pub(crate) lost_units: u64,
    pub(crate) unanswered: u64,
    pub(crate) browsed: u64,
    pub(crate) deepest: usize,
    pub(crate) slowest_start: Duration,
}

/// How a campaign came out.
pub(crate) struct Report {
    pub(crate) tally: Tally,
    pub(crate) violations: Vec<Violation>,
    /// What was planted, if anything could be.
    pub(crate) planted: Option<String>,
}

pub(crate) struct Campaign<'a> {
    site: &'a Site,
    plan: &'a Plan,
    /// Its disk's, where the power is cut instead of killing the process alone.
    power: Option<&'a PowerSupply>,
    stage: Arc<Stage>,
    definer: Arc<Mutex<Definer>>,
    cutter: Cutter,
    rng: Rng,
    ledger: Ledger,
    report: Report,
}

impl<'a> Campaign<'a> {
    pub(crate) fn new(
        site: &'a Site,
        plan: &'a Plan,
        power: Option<&'a PowerSupply>,
    ) -> io::Result<Campaign<'a>> {
        let mut rng = Rng::new(plan.seed);
        Ok(Campaign {
            site,
            plan,
            power,
            stage: Arc::new(Stage::new(rng.next_u64())),
            definer: Arc::new(Mutex::new(Definer::new(
                site.program.clone(),
                site.data.clone(),
                rng.fork(),
            ))),
            cutter: Cutter::listen(rng.fork())?,
            rng,
            ledger: Ledger::default(),
            report: Report {
                tally: Tally::default(),
                violations: Vec::new(),
                planted: None,
            },
        })
    }

    /// Runs all of it.
    pub(crate) fn run(mut self) -> io::Result<Report> {
        self.site.create()?;
        if let Some(power) = self.power {
            power.settle();
        }
        let began = Instant::now();
        let budget = Duration::from_secs(self.plan.seconds);
        let mut server = self.start(Close::Quiet)?;
        let mut queued = 0;
        while self.report.tally.kills < self.plan.kills && began.elapsed() < budget {
            let number = self.report.tally.rounds + 1;
            let finish = self.finish(number);
            queued = self.round(&mut server, finish, self.crew(), queued)?;
            if number.is_multiple_of(20) {
                self.progress(began);
            }
            if self.finished() {
                return Ok(self.report);
            }
        }
        if self.plan.plant.is_some() {
            return Ok(self.report);
        }
        queued = self.round(&mut server, Finish::Quiet, self.crew(), queued)?;
        if !self.finished() {
            self.round(&mut server, Finish::Quiet, vec![Role::Drainer], queued)?;
            self.empty();
        }
        if !self.finished() {
            let status = server.end()?;
            if !status.success() {
                self.complain(format!("the orderly end came to {status}"));
            }
        }
        Ok(self.report)
    }

    fn finish(&mut self, number: u32) -> Finish {
        if number.is_multiple_of(QUIET_EVERY) {
            return Finish::Quiet;
        }
        if self.rng.chance(IN_ORDER * 10_000) {
            return Finish::Way(match self.rng.coin() {
                true => Way::Terminate,
                false => Way::Immediate,
            });
        }
        match self.power {
            Some(_) => Finish::PowerCut,
            None => Finish::Way(Way::Kill),
        }
    }

    /// Ends the server's life without notice.
    fn strike(&mut self, server: &mut Server) -> io::Result<()> {
        let Some(power) = self.power else {
            return server.kill();
        };
        power.cut(self.rng.between(1, OPERATIONS), IDLE);
        server.send_kill()?;
        power.release();
        server.gone()?;
        power.restore();
        self.report.tally.power_cuts += 1;
        Ok(())
    }

    fn finished(&self) -> bool {
        !self.report.violations.is_empty() || self.report.planted.is_some()
    }

    fn complain(&mut self, text: String) {
        let complaint = Violation::new(Broken::Unexpected, text);
        self.report.violations.push(complaint);
    }

    /// Everything was drained: nothing may be left.
    fn empty(&mut self) {
        let left = self.ledger.standing.len();
        if left > 0 && self.report.violations.is_empty() {
            self.complain(format!("{left} messages cannot be got"));
        }
    }

    fn progress(&self, began: Instant) {
        let tally = &self.report.tally;
        println!(
            "{:>5.0} s  {}/{} kills ({} while starting), {} puts, {} deliveries, {} browsed, {} units in doubt",
            began.elapsed().as_secs_f64(),
            tally.kills,
            self.plan.kills,
            tally.kills_starting,
            tally.puts,
            tally.delivered,
            tally.browsed,
            tally.in_doubt
        );
    }

    /// One part puts, one gets, two do both.
    fn crew(&self) -> Vec<Role> {
        let kinds = [Role::Putter, Role::Getter, Role::Both, Role::Both];
        let all = kinds.into_iter().cycle();
        all.take(self.plan.connections as usize).collect()
    }

    /// Starts the server; now and then it is killed while it starts, and started again. Not after an orderly
    /// end: what that kept, a kill may take.
    fn start(&mut self, after: Close) -> io::Result<Server> {
        self.put_old_log_back()?;
        for _ in 0..STARTS {
            if after != Close::Killed || !self.rng.chance(KILLED_STARTING * 10_000) {
                break;
            }
            let usual = self.report.tally.slowest_start.as_millis();
            let most = u64::try_from(usual).unwrap_or(0).clamp(10, 500);
            let mut server = self.site.launch()?;
            thread::sleep(Duration::from_millis(self.rng.between(1, most)));
            self.strike(&mut server)?;
            self.report.tally.kills_starting += 1;
        }
        let began = Instant::now();
        let server = self.site.start()?;
        let tally = &mut self.report.tally;
        tally.slowest_start = tally.slowest_start.max(began.elapsed());
        Ok(server)
    }

    /// A volume whose power is cut is left alone: what is not on it yet must stay so.
    fn put_old_log_back(&mut self) -> io::Result<()> {
        if self.power.is_some() {
            return Ok(());
        }
        if let Some(wrong) = self.site.try_kept_log()? {
            self.complain(wrong);
        }
        match self.rng.chance(OLD_LOGS * 10_000) {
            true => self.site.keep_log(),
            false => Ok(()),
        }
    }

    /// Work, the end, and the judgement. Returns the bytes queued.
    fn round(
        &mut self,
        server: &mut Server,
        finish: Finish,
        crew: Vec<Role>,
        queued: u64,
    ) -> io::Result<u64> {
        let close = finish.close();
        self.report.tally.rounds += 1;
        let number = self.report.tally.rounds;
        self.stage.open_round(queued);
        let mut history = self.work(server, finish, &crew)?;
        if close != Close::Quiet {
            match close {
                Close::Ended => self.report.tally.orderly += 1,
                _ => self.report.tally.kills += 1,
            }
            *server = self.start(close)?;
        }
        let recovered = recover(&self.stage, &server.local, &mut history);
        self.report.tally.recovered +=
            recovered.map_err(|error| io::Error::other(format!("recovering: {error}")))?;
        let browsed = snapshot::take(&self.stage, &server.local);
        let browsed = browsed.map_err(|error| io::Error::other(format!("browsing: {error}")))?;
        let own = lock(&self.definer).check(&server.local);
        let own = own.map_err(|error| io::Error::other(format!("browsing: {error}")))?;
        history.complaints.extend(own);
        let Browsed {
            snapshot,
            bytes,
            complaints,
        } = browsed;
        history.complaints.extend(complaints);
        self.count(&history, &snapshot.queues);
        let mut round = Round {
            number,
            history,
            close,
            snapshot,
        };
        if let Some(plant) = self.plan.plant
            && number > 2
        {
            self.report.planted = plant.falsify(&mut round);
        }
        self.report.violations = judge(&mut self.ledger, &QUEUES, &round);
        Ok(bytes)
    }

    /// Lets the connections work, and ends the round.
    fn work(&mut self, server: &mut Server, finish: Finish, crew: &[Role]) -> io::Result<History> {
        let pause = Duration::from_millis(moment(&mut self.rng));
        let frozen = self.rng.chance(FROZEN * 10_000) && !crew.contains(&Role::Drainer);
        let first = self.report.tally.rounds.saturating_mul(WORKERS);
        let moods = [Mood::Fill, Mood::Fill, Mood::Balance, Mood::Drain];
        let mood = self.rng.pick(&moods).copied().unwrap_or(Mood::Balance);
        let tcp = server.tcp.clone().unwrap_or_else(|| server.local.clone());
        // Connections refer to the stage while the campaign goes on.
        let stage = Arc::clone(&self.stage);
        self.cutter.aim(&tcp);
        let (definer, local) = (Arc::clone(&self.definer), server.local.clone());
        let administers = !crew.contains(&Role::Drainer);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (role, number) in crew.iter().zip(first..) {
                let road = match number % 6 {
                    0 if *role != Role::Drainer => Road::Cut(self.cutter.address()),
                    0 | 2 | 4 => Road::Sound(tcp.clone()),
                    _ => Road::Sound(server.local.clone()),
                };
                let worker = Worker::new(&stage, road, number, (*role, mood), self.rng.fork());
                threads.push(scope.spawn(move || worker.run()));
            }
            let definer = scope.spawn(|| match administers {
                true => lock(&definer).work(&stage, &local),
                false => Ok(()),
            });
            let mut history = History::default();
            if !crew.contains(&Role::Drainer) {
                thread::sleep(pause);
            }
            if frozen {
                server.freeze(pause.min(Duration::from_millis(500)))?;
                self.report.tally.frozen += 1;
            }
            self.end_round(server, finish, crew, &mut history)?;
            for thread in threads {
                match thread.join() {
                    Ok(report) => history.absorb(report),
                    Err(_) => return Err(io::Error::other("a connection of the audit panicked")),
                }
            }
            match definer.join() {
                Ok(Ok(())) => {}
                Ok(Err(complaint)) => history.complaints.push(complaint),
                Err(_) => return Err(io::Error::other("the audit's administrator panicked")),
            }
            Ok(history)
        })
    }

    /// Ends the work of a round in its way.
    fn end_round(
        &mut self,
        server: &mut Server,
        finish: Finish,
        crew: &[Role],
        history: &mut History,
    ) -> io::Result<()> {
        let mut complain = |text: String| {
            let complaint = Violation::new(Broken::Unexpected, text);
            history.complaints.push(complaint);
        };
        if let Some(status) = server.ended()? {
            self.stage.mark_killed();
            complain(format!("the server ended by itself: {status}"));
            return Ok(());
        }
        match finish {
            Finish::Quiet if crew.contains(&Role::Drainer) => {}
            Finish::Quiet => self.stage.ask_to_finish(),
            Finish::PowerCut => {
                self.stage.mark_killed();
                self.strike(server)?;
            }
            Finish::Way(way) => {
                self.stage.mark_killed();
                if let Some(status) = server.end_by(way, self.site)?
                    && !status.success()
                {
                    complain(format!(
                        "an orderly end ({way:?}) under load came to {status}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, history: &History, queues: &[Vec<crate::history::Seen>]) {
        let tally = &mut self.report.tally;
        tally.cuts = self.cutter.cuts();
        let definer = lock(&self.definer);
        (tally.definitions, tally.definer_puts) = (definer.definitions, definer.puts);
        (tally.permanent, tally.temporary) = (definer.permanent, definer.temporary);
        drop(definer);
        let many = |count: usize| count as u64;
        tally.puts += many(history.puts.len());
        let delivered = history.gets.iter().filter(|get| get.delivered().is_some());
        tally.delivered += many(delivered.count());
        let unknown = history.puts.iter().filter(|p| p.answer == Answer::Unknown);
        tally.unanswered += many(unknown.count());
        let unknown = history.gets.iter().filter(|get| get.obscure());
        tally.unanswered += many(unknown.count());
        for unit in &history.units {
            match unit.ending {
                Ending::Committed { .. } => tally.commits += 1,
                Ending::InDoubt { .. } => tally.in_doubt += 1,
                Ending::BackedOut { .. } => tally.backouts += 1,
                Ending::Lost => tally.lost_units += 1,
            }
        }
        let depth = queues.iter().map(Vec::len).sum::<usize>();
        tally.browsed += many(depth);
        tally.deepest = tally.deepest.max(depth);
    }
}

fn lock(definer: &Mutex<Definer>) -> MutexGuard<'_, Definer> {
    definer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Milliseconds until the kill: every order of magnitude is as likely as any other.
fn moment(rng: &mut Rng) -> u64 {
    let doublings = (LONGEST / SHORTEST).ilog2();
    let least = SHORTEST << rng.below(u64::from(doublings) + 1);
    rng.between(least, (2 * least).min(LONGEST))
}

/// How often a numbered message stands in what the server said.
pub(crate) fn message_count(words: &Path, id: &str) -> usize {
    let text = std::fs::read_to_string(words).unwrap_or_default();
    text.matches(id).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_come_within_their_bounds_and_spread() {
        let mut rng = Rng::new(1);
        let moments: Vec<u64> = (0..1_000).map(|_| moment(&mut rng)).collect();
        assert!(moments.iter().all(|m| (SHORTEST..=LONGEST).contains(m)));
        for (low, high) in [(50, 100), (100, 400), (400, 1_000), (1_000, 2_001)] {
            let within = moments.iter().filter(|m| (low..high).contains(*m));
            assert!(within.count() > 80, "{low}..{high}");
        }
    }
}
