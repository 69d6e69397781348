//! All schedules of a scenario with at most so many actions: threads run in turn until they wait, and at up to
//! that many points another goes on, the power fails, or an operation of the disk does.
//!
//! Of the last action those are left out that come to the same as one that was run (`trace.rs` says when).
//!
//! Invariant: `complete` is true only if every such schedule was run, or one that comes to the same.

use std::collections::BTreeMap;

use crate::scenario::{Failure, Report, Run, Scenario};
use crate::schedule::{Action, DiskFault, Plan};
use crate::trace::{Operation, Trace};

/// What an exhaustive search came to.
#[derive(Debug)]
pub struct Exhausted {
    /// Sums over the schedules.
    pub report: Report,
    /// Schedules that were not run because another comes to the same.
    pub spared: u64,
    /// Whether all of them were run.
    pub complete: bool,
    /// The first that failed.
    pub failure: Option<(Plan, Failure)>,
}

/// What is searched: runs a plan, and says what was done in it.
pub(crate) type Runs<'a> = dyn FnMut(&Plan) -> (Result<Report, Failure>, Trace) + 'a;

struct Search<'a> {
    run: &'a mut Runs<'a>,
    going: &'a mut dyn FnMut() -> bool,
    /// Leaves out what comes to the same.
    sparing: bool,
    found: Exhausted,
}

/// Runs all schedules of `scenario` with at most `bound` actions, while `going` says so. `like` gives the rest of
/// each run.
pub fn exhaust(
    scenario: &Scenario,
    like: &Run,
    bound: usize,
    going: &mut dyn FnMut() -> bool,
) -> Exhausted {
    let mut run = |plan: &Plan| {
        let run = Run {
            plan: plan.clone(),
            ..like.clone()
        };
        scenario.run_watched(&run)
    };
    search(&mut run, bound, true, going)
}

/// The same of whatever can be run.
pub(crate) fn search<'a>(
    run: &'a mut Runs<'a>,
    bound: usize,
    sparing: bool,
    going: &'a mut dyn FnMut() -> bool,
) -> Exhausted {
    let mut search = Search {
        run,
        going,
        sparing,
        found: Exhausted {
            report: Report::default(),
            spared: 0,
            complete: true,
            failure: None,
        },
    };
    search.from(&mut Vec::new(), bound);
    search.found
}

impl Search<'_> {
    /// Runs `actions`; what was done, unless the search is over.
    fn one(&mut self, actions: &[(u64, Action)]) -> Option<Trace> {
        if !(self.going)() {
            self.found.complete = false;
            return None;
        }
        let plan = Plan::Given(actions.to_vec());
        let (result, trace) = (self.run)(&plan);
        match result {
            Ok(report) => {
                self.found.report.add(&report);
                Some(trace)
            }
            Err(failure) => {
                self.found.complete = false;
                self.found.failure = Some((plan, failure));
                None
            }
        }
    }

    /// Runs `actions`, and everything that begins with them; `None` when the search is over.
    fn from(&mut self, actions: &mut Vec<(u64, Action)>, more: usize) -> Option<()> {
        let trace = self.one(actions)?;
        if more == 0 {
            return Some(());
        }
        let after = actions.last().map_or(0, |(at, _)| *at);
        self.ends(actions, after, &trace)?;
        if more == 1 {
            return self.last_preemptions(actions, &trace.options(after));
        }
        for (at, thread) in trace.options(after) {
            actions.push((at, Action::Preempt(thread)));
            self.from(actions, more - 1)?;
            actions.pop();
        }
        Some(())
    }

    /// Another thread goes on once more, at each of these points.
    fn last_preemptions(
        &mut self,
        actions: &mut Vec<(u64, Action)>,
        options: &[(u64, usize)],
    ) -> Option<()> {
        // From which point on leaving for a thread comes to what was run last.
        let mut same_since: BTreeMap<usize, u64> = BTreeMap::new();
        for (at, thread) in options.iter().rev() {
            if same_since.get(thread).is_some_and(|since| since <= at) {
                self.found.spared += 1;
                continue;
            }
            actions.push((*at, Action::Preempt(*thread)));
            let trace = self.one(actions)?;
            actions.pop();
            if self.sparing {
                same_since.insert(*thread, trace.same_since(*at, *thread));
            }
        }
        Some(())
    }

    /// The power fails, or an operation of the disk does; nothing is drawn after that.
    fn ends(&mut self, actions: &mut Vec<(u64, Action)>, after: u64, trace: &Trace) -> Option<()> {
        let mut ends: Vec<(u64, Action)> = Vec::new();
        let crashes = trace.crashes(after);
        self.found.spared += (trace.points(after) - crashes.len()) as u64;
        ends.extend(crashes.into_iter().map(|at| (at, Action::Crash)));
        for (at, operation) in trace.operations(after) {
            let faults: &[DiskFault] = match operation {
                Operation::Write => &[DiskFault::Write, DiskFault::NoRoom],
                Operation::Sync => &[DiskFault::Sync],
                Operation::Name => &[DiskFault::Name, DiskFault::NoRoom],
            };
            ends.extend(faults.iter().map(|fault| (at, Action::Disk(*fault))));
        }
        for end in ends {
            actions.push(end);
            self.one(actions)?;
            actions.pop();
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::rc::Rc;
    use std::sync::Arc;

    use posthaste_env::Event;
    use posthaste_env::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use posthaste_env::sync::{Mutex, RwLock};
    use posthaste_env::{Thread, spawn};
    use posthaste_env_sim::{Rng, SimWorld};

    use super::*;
    use crate::explorer::Explorer;

    /// What a thread of a drawn program does.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Load(usize),
        Add(usize),
        Double(usize),
        /// Reads and writes one under a lock.
        Locked(usize),
        Shared(usize),
        Signal,
        Wait,
    }

    #[derive(Default)]
    struct Objects {
        atomics: [AtomicU64; 4],
        locked: [Mutex<u64>; 3],
        shared: RwLock<u64>,
        event: Event,
    }

    impl Objects {
        /// Does it; what was seen.
        fn step(&self, step: Step, with: u64) -> u64 {
            match step {
                Step::Load(n) => self.atomics[n].load(SeqCst),
                Step::Add(n) => self.atomics[n].fetch_add(with, SeqCst),
                Step::Double(n) => {
                    let value = self.atomics[n].load(SeqCst);
                    self.atomics[n].store(2 * value + 1, SeqCst);
                    value
                }
                Step::Locked(n) => {
                    let mut value = self.locked[n].lock();
                    *value = *value * 3 + with + self.atomics[0].load(SeqCst);
                    *value
                }
                Step::Shared(0) => {
                    let mut value = self.shared.write();
                    *value = *value * 5 + with;
                    *value
                }
                Step::Shared(_) => *self.shared.read(),
                Step::Signal => {
                    self.event.set();
                    0
                }
                Step::Wait => u64::from(self.event.try_wait()),
            }
        }
    }

    fn program(rng: &mut Rng) -> Vec<Vec<Step>> {
        let step = |rng: &mut Rng| match rng.below(10) {
            0 | 1 => Step::Load(rng.index(4)),
            2 | 3 => Step::Add(rng.index(4)),
            4 => Step::Double(rng.index(4)),
            5 | 6 => Step::Locked(rng.index(3)),
            7 => Step::Shared(rng.index(2)),
            8 => Step::Signal,
            _ => Step::Wait,
        };
        let threads = rng.between(2, 3);
        (0..threads)
            .map(|_| (0..rng.between(1, 5)).map(|_| step(rng)).collect())
            .collect()
    }

    /// Everything that all threads have seen, and what is left.
    fn run(program: &[Vec<Step>], plan: &Plan) -> (Vec<u64>, Trace) {
        let explorer = Explorer::new(plan, SimWorld::new(1).clock().clone());
        explorer.watch();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let (inner, out, steps) = (Rc::clone(&explorer), Rc::clone(&seen), program.to_vec());
        let ended = explorer.run(Box::new(move || {
            inner.explore(Box::new(|| ()), Box::new(|_| ()));
            let objects = Arc::new(Objects::default());
            let threads: Vec<(Thread, Arc<std::sync::Mutex<Vec<u64>>>)> = (1..)
                .zip(steps)
                .map(|(with, steps)| {
                    let objects = Arc::clone(&objects);
                    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
                    let mine = Arc::clone(&seen);
                    let body = move || {
                        let all = steps.iter().map(|step| objects.step(*step, with));
                        *mine.lock().expect("one at a time") = all.collect();
                    };
                    (spawn("stepper", body).expect("a thread"), seen)
                })
                .collect();
            for (thread, seen) in threads {
                thread.join().expect("no panic");
                out.borrow_mut()
                    .extend(seen.lock().expect("one at a time").iter());
            }
            inner.rest();
            let left = objects.atomics.iter().map(|atomic| atomic.load(SeqCst));
            out.borrow_mut().extend(left);
        }));
        ended.expect("it ends");
        (seen.take(), explorer.trace())
    }

    /// All outcomes, and in how many schedules.
    fn outcomes(program: &[Vec<Step>], bound: usize, sparing: bool) -> (BTreeSet<Vec<u64>>, u64) {
        let (mut found, mut runs) = (BTreeSet::new(), 0);
        let mut one = |plan: &Plan| {
            let (seen, trace) = run(program, plan);
            found.insert(seen);
            runs += 1;
            (Ok(Report::default()), trace)
        };
        assert!(search(&mut one, bound, sparing, &mut || true).complete);
        (found, runs)
    }

    #[test]
    fn what_is_spared_comes_to_the_same() {
        let (mut all_runs, mut runs) = (0, 0);
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let program = program(&mut rng);
            for bound in [1, 2] {
                if bound == 2 && seed >= 6 {
                    continue;
                }
                let (all, every) = outcomes(&program, bound, false);
                let (some, spared) = outcomes(&program, bound, true);
                assert_eq!(all, some, "{program:?}, at most {bound} actions");
                all_runs += every;
                runs += spared;
            }
        }
        assert!(
            runs * 3 < all_runs * 2,
            "{runs} of {all_runs} schedules were run"
        );
    }
}
