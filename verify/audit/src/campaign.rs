//! Rounds of work, kill, restart and judgement.
//!
//! Invariants:
//! * The seed decides what the connections ask for, the moments of the kills and their kinds. How
//!   connections interleave is the machine's, so a seed repeats the load, not the run.
//! * Every round is judged before the next one begins, and the first broken promise ends the
//!   campaign with the files as they are.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use posthaste_client::Address;
use posthaste_env_sim::Rng;

use crate::history::{Answer, Close, Ending, History, Round};
use crate::judge::judge;
use crate::ledger::Ledger;
use crate::plant::Plant;
use crate::server::{Server, Site};
use crate::snapshot::{self, Browsed};
use crate::stage::{QUEUES, Stage};
use crate::violation::{Broken, Violation};
use crate::worker::{Mood, Role, Worker};

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

/// What to do.
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) kills: u32,
    pub(crate) seconds: u64,
    pub(crate) connections: u32,
    pub(crate) plant: Option<Plant>,
}

/// What was done.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rounds: u32,
    pub(crate) kills: u32,
    pub(crate) kills_starting: u32,
    pub(crate) puts: u64,
    pub(crate) delivered: u64,
    pub(crate) commits: u64,
    pub(crate) in_doubt: u64,
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
    stage: Stage,
    rng: Rng,
    ledger: Ledger,
    report: Report,
}

impl<'a> Campaign<'a> {
    pub(crate) fn new(site: &'a Site, plan: &'a Plan) -> Campaign<'a> {
        let mut rng = Rng::new(plan.seed);
        Campaign {
            site,
            plan,
            stage: Stage::new(rng.next_u64()),
            rng,
            ledger: Ledger::default(),
            report: Report {
                tally: Tally::default(),
                violations: Vec::new(),
                planted: None,
            },
        }
    }

    /// Runs all of it.
    pub(crate) fn run(mut self) -> io::Result<Report> {
        self.site.create()?;
        let began = Instant::now();
        let budget = Duration::from_secs(self.plan.seconds);
        let mut server = self.start()?;
        let mut queued = 0;
        while self.report.tally.kills < self.plan.kills && began.elapsed() < budget {
            let number = self.report.tally.rounds + 1;
            let quiet = number.is_multiple_of(QUIET_EVERY);
            let close = if quiet { Close::Quiet } else { Close::Killed };
            queued = self.round(&mut server, close, self.crew(), queued)?;
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
        queued = self.round(&mut server, Close::Quiet, self.crew(), queued)?;
        if !self.finished() {
            self.round(&mut server, Close::Quiet, vec![Role::Drainer], queued)?;
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

    /// Starts the server; now and then it is killed while it starts, and started again.
    fn start(&mut self) -> io::Result<Server> {
        for _ in 0..STARTS {
            if self.report.tally.rounds == 0 || !self.rng.chance(KILLED_STARTING * 10_000) {
                break;
            }
            let usual = self.report.tally.slowest_start.as_millis();
            let most = u64::try_from(usual).unwrap_or(0).clamp(10, 500);
            let mut server = self.site.launch()?;
            thread::sleep(Duration::from_millis(self.rng.between(1, most)));
            server.kill()?;
            self.report.tally.kills_starting += 1;
        }
        let began = Instant::now();
        let server = self.site.start()?;
        let tally = &mut self.report.tally;
        tally.slowest_start = tally.slowest_start.max(began.elapsed());
        Ok(server)
    }

    /// Work, the end, and the judgement. Returns the bytes queued.
    fn round(
        &mut self,
        server: &mut Server,
        close: Close,
        crew: Vec<Role>,
        queued: u64,
    ) -> io::Result<u64> {
        self.report.tally.rounds += 1;
        let number = self.report.tally.rounds;
        self.stage.open_round(queued);
        let mut history = self.work(server, close, &crew)?;
        if close == Close::Killed {
            self.report.tally.kills += 1;
            *server = self.start()?;
        }
        let browsed = snapshot::take(&self.stage, &server.local);
        let browsed = browsed.map_err(|error| io::Error::other(format!("browsing: {error}")))?;
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
    fn work(&mut self, server: &mut Server, close: Close, crew: &[Role]) -> io::Result<History> {
        let pause = Duration::from_millis(moment(&mut self.rng));
        let first = self.report.tally.rounds.saturating_mul(WORKERS);
        let stage = &self.stage;
        let rng = &mut self.rng;
        let moods = [Mood::Fill, Mood::Fill, Mood::Balance, Mood::Drain];
        let mood = rng.pick(&moods).copied().unwrap_or(Mood::Balance);
        let tcp = server.tcp.clone().unwrap_or_else(|| server.local.clone());
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (role, number) in crew.iter().zip(first..) {
                let address: &Address = if number % 2 == 0 { &tcp } else { &server.local };
                let worker = Worker::new(stage, address.clone(), number, (*role, mood), rng.fork());
                threads.push(scope.spawn(move || worker.run()));
            }
            let mut history = History::default();
            if !crew.contains(&Role::Drainer) {
                thread::sleep(pause);
            }
            if let Some(status) = server.ended()? {
                stage.mark_killed();
                let text = format!("the server ended by itself: {status}");
                let complaint = Violation::new(Broken::Unexpected, text);
                history.complaints.push(complaint);
            } else if close == Close::Killed {
                stage.mark_killed();
                server.kill()?;
            } else if !crew.contains(&Role::Drainer) {
                stage.ask_to_finish();
            }
            for thread in threads {
                match thread.join() {
                    Ok(told) => history.absorb(told),
                    Err(_) => return Err(io::Error::other("a connection of the audit panicked")),
                }
            }
            Ok(history)
        })
    }

    fn count(&mut self, history: &History, queues: &[Vec<crate::history::Seen>]) {
        let tally = &mut self.report.tally;
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

/// Milliseconds until the kill: every order of magnitude is as likely as any other.
fn moment(rng: &mut Rng) -> u64 {
    let doublings = (LONGEST / SHORTEST).ilog2();
    let least = SHORTEST << rng.below(u64::from(doublings) + 1);
    rng.between(least, (2 * least).min(LONGEST))
}

/// How often a numbered message stands in what the server said.
pub(crate) fn said(words: &Path, id: &str) -> usize {
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
