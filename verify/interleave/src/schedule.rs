//! Who goes on.
//!
//! A plan is complete: with the same scenario it gives the same run. Three kinds:
//! * drawn, uniform: at each point the running thread is left with some probability for any other;
//! * drawn, by priority: the runnable thread with the highest priority runs; at a few points the running one
//!   falls to the lowest. A thread can be held back for very long, which uniform draws hardly ever do;
//! * given: threads run until they wait, then the next in turn; at the listed points something else happens.

use std::fmt;
use std::str::FromStr;

use posthaste_env_sim::Rng;

/// What happens at a listed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// This thread goes on, if it can.
    Preempt(usize),
    /// The power fails.
    Crash,
}

/// Decides a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Everything is drawn from a seed; `points` is about how many a run of the scenario has.
    Drawn {
        /// The seed.
        seed: u64,
        /// Points to spread rare things over.
        points: u64,
    },
    /// In turn, but for these.
    Given(Vec<(u64, Action)>),
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan::Drawn { seed, points } => write!(f, "{seed}/{points}"),
            Plan::Given(actions) => {
                f.write_str("[")?;
                for (at, action) in actions {
                    match action {
                        Action::Preempt(thread) => write!(f, "{at}:{thread},")?,
                        Action::Crash => write!(f, "{at}:crash,")?,
                    }
                }
                f.write_str("]")
            }
        }
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Plan, String> {
        let wrong = || format!("neither SEED/POINTS nor [POINT:THREAD,POINT:crash,...]: {text}");
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        if let Some((seed, points)) = text.split_once('/') {
            return Ok(Plan::Drawn {
                seed: number(seed)?,
                points: number(points)?,
            });
        }
        let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let entries = list.ok_or_else(wrong)?.split(',');
        let entry = |entry: &str| {
            let (at, what) = entry.split_once(':').ok_or_else(wrong)?;
            let action = match what {
                "crash" => Action::Crash,
                thread => Action::Preempt(number(thread)? as usize),
            };
            Ok((number(at)?, action))
        };
        let actions: Result<_, String> = entries.filter(|e| !e.is_empty()).map(entry).collect();
        Ok(Plan::Given(actions?))
    }
}

/// A plan at work.
pub(crate) struct Schedule {
    kind: Kind,
    crash: Option<u64>,
}

enum Kind {
    Uniform {
        rng: Rng,
        per_million: u32,
    },
    Priorities {
        rng: Rng,
        /// Of each thread; a higher number goes first.
        priorities: Vec<i64>,
        /// Points at which the running thread falls below all others, the nearest last.
        falls: Vec<u64>,
        lowest: i64,
    },
    Given {
        /// The nearest last.
        actions: Vec<(u64, Action)>,
        /// What else could have been done behind the last action: point and thread.
        options: Vec<(u64, usize)>,
    },
}

impl Schedule {
    pub(crate) fn new(plan: &Plan) -> Schedule {
        match plan {
            Plan::Drawn { seed, points } => Schedule::drawn(*seed, (*points).max(1)),
            Plan::Given(actions) => {
                let mut actions = actions.clone();
                actions.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
                let crash = actions
                    .iter()
                    .find_map(|(at, action)| (*action == Action::Crash).then_some(*at));
                actions.retain(|(_, action)| *action != Action::Crash);
                Schedule {
                    kind: Kind::Given {
                        actions,
                        options: Vec::new(),
                    },
                    crash,
                }
            }
        }
    }

    fn drawn(seed: u64, points: u64) -> Schedule {
        let mut rng = Rng::new(seed ^ 0x1A7E_41EA_7E00);
        // Half of the runs end by themselves: then the power fails when all is done.
        let crash = rng.coin().then(|| rng.between(1, points));
        let kind = if rng.below(3) == 0 {
            let mut falls: Vec<u64> = (0..rng.between(1, 4))
                .map(|_| rng.between(1, points))
                .collect();
            falls.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
            Kind::Priorities {
                rng,
                priorities: Vec::new(),
                falls,
                lowest: 0,
            }
        } else {
            let shift = rng.between(1, 9);
            Kind::Uniform {
                rng,
                per_million: 1_000_000 >> shift,
            }
        };
        Schedule { kind, crash }
    }

    /// The point at which the power fails.
    pub(crate) fn crash(&self) -> Option<u64> {
        self.crash
    }

    /// What else could have been done, with a given plan, behind its last action.
    pub(crate) fn options(&mut self) -> Vec<(u64, usize)> {
        match &mut self.kind {
            Kind::Given { options, .. } => std::mem::take(options),
            _ => Vec::new(),
        }
    }

    /// At a point: the thread that goes on instead of the running one, if another does.
    pub(crate) fn preempts(
        &mut self,
        at: u64,
        running: usize,
        runnable: impl Fn() -> Vec<usize>,
    ) -> Option<usize> {
        match &mut self.kind {
            Kind::Uniform { rng, per_million } => {
                if !rng.chance(*per_million) {
                    return None;
                }
                rng.pick(&runnable()).copied()
            }
            Kind::Priorities {
                priorities,
                falls,
                lowest,
                rng,
            } => {
                if falls.last().is_some_and(|fall| *fall <= at) {
                    falls.pop();
                    *lowest -= 1;
                    enroll(priorities, running, rng);
                    priorities[running] = *lowest;
                }
                first(priorities, &runnable(), rng)
            }
            Kind::Given { actions, options } => {
                if actions.is_empty() {
                    let others = runnable().into_iter().filter(|other| *other != running);
                    options.extend(others.map(|other| (at, other)));
                }
                let (_, action) = actions.pop_if(|(due, _)| *due <= at)?;
                match action {
                    Action::Preempt(thread) => runnable().contains(&thread).then_some(thread),
                    Action::Crash => None,
                }
            }
        }
    }

    /// The running thread waits or has ended: who of the runnable ones, which are not none, goes on?
    pub(crate) fn next(&mut self, running: usize, runnable: &[usize]) -> usize {
        let chosen = match &mut self.kind {
            Kind::Uniform { rng, .. } => rng.pick(runnable).copied(),
            Kind::Priorities {
                priorities, rng, ..
            } => first(priorities, runnable, rng),
            Kind::Given { .. } => None,
        };
        chosen.unwrap_or_else(|| in_turn(running, runnable))
    }
}

/// The next runnable thread after `running`.
pub(crate) fn in_turn(running: usize, runnable: &[usize]) -> usize {
    let later = runnable.iter().find(|thread| **thread > running);
    later.or(runnable.first()).copied().unwrap_or(running)
}

/// Draws priorities for all threads up to `thread`.
fn enroll(priorities: &mut Vec<i64>, thread: usize, rng: &mut Rng) {
    while priorities.len() <= thread {
        priorities.push(rng.between(1, 1 << 40) as i64);
    }
}

fn first(priorities: &mut Vec<i64>, runnable: &[usize], rng: &mut Rng) -> Option<usize> {
    enroll(priorities, runnable.iter().copied().max()?, rng);
    runnable
        .iter()
        .copied()
        .max_by_key(|thread| priorities[*thread])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_as_they_are_written() {
        let given = vec![(12, Action::Preempt(3)), (40, Action::Crash)];
        for plan in [
            Plan::Drawn {
                seed: 7,
                points: 900,
            },
            Plan::Given(given),
            Plan::Given(Vec::new()),
        ] {
            assert_eq!(plan.to_string().parse(), Ok(plan));
        }
        assert!("12:3".parse::<Plan>().is_err());
    }

    #[test]
    fn a_given_plan_does_what_it_says_where_it_says() {
        let plan = Plan::Given(vec![(5, Action::Preempt(2)), (3, Action::Preempt(9))]);
        let mut schedule = Schedule::new(&plan);
        let mut left = Vec::new();
        for at in 1..8 {
            if let Some(to) = schedule.preempts(at, 0, || vec![0, 1, 2]) {
                left.push((at, to));
            }
        }
        assert_eq!(left, [(5, 2)], "thread 9 could not run at point 3");
        assert_eq!(schedule.next(1, &[0, 1, 2]), 2);
        assert_eq!(schedule.next(2, &[0, 1]), 0);
    }
}
