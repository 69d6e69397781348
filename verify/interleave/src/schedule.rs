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
    /// Something happens to the disk.
    Disk(DiskFault),
}

/// What happens to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// The next write fails.
    Write,
    /// The next sync of a file fails.
    Sync,
    /// The next file that is created, renamed or removed, or the next sync of a folder, fails.
    Name,
    /// The next operation that wants room finds none.
    NoRoom,
    /// The disk is full from here on,
    Full,
    /// and has room again.
    Room,
}

impl DiskFault {
    const ALL: [(DiskFault, &'static str); 6] = [
        (DiskFault::Write, "write"),
        (DiskFault::Sync, "sync"),
        (DiskFault::Name, "name"),
        (DiskFault::NoRoom, "no-room"),
        (DiskFault::Full, "full"),
        (DiskFault::Room, "room"),
    ];

    /// What may befall a run by a seed: nothing, one failing operation, or a full disk that may have room later.
    fn draw(seed: u64, points: u64, one_in: u64) -> Vec<(u64, DiskFault)> {
        // A draw of its own, so that what else a seed draws does not depend on it.
        let mut rng = Rng::new(seed ^ 0xD15C_FA17_0000_0001);
        if one_in == 0 || rng.below(one_in) > 0 {
            return Vec::new();
        }
        let at = rng.between(1, points);
        let once = [
            DiskFault::Write,
            DiskFault::Sync,
            DiskFault::Name,
            DiskFault::NoRoom,
        ];
        match rng.below(6) {
            n @ 0..4 => vec![(at, once[n as usize])],
            4 => vec![(at, DiskFault::Full)],
            _ => {
                let later = at + rng.between(1, points);
                vec![(later, DiskFault::Room), (at, DiskFault::Full)]
            }
        }
    }
}

impl fmt::Display for DiskFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = DiskFault::ALL.iter().find(|(fault, _)| fault == self);
        f.write_str(known.map_or("", |(_, name)| name))
    }
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
        /// One run in so many has something happen to its disk; 0 for none.
        faults: u64,
    },
    /// In turn, but for these.
    Given(Vec<(u64, Action)>),
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan::Drawn {
                seed,
                points,
                faults,
            } => write!(f, "{seed}/{points}/{faults}"),
            Plan::Given(actions) => {
                f.write_str("[")?;
                for (at, action) in actions {
                    match action {
                        Action::Preempt(thread) => write!(f, "{at}:{thread},")?,
                        Action::Crash => write!(f, "{at}:crash,")?,
                        Action::Disk(fault) => write!(f, "{at}:{fault},")?,
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
        let wrong = || {
            format!(
                "neither SEED/POINTS/FAULTS nor [POINT:THREAD,POINT:crash,POINT:write,...]: {text}"
            )
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        if let Some((seed, rest)) = text.split_once('/') {
            let (points, faults) = rest.split_once('/').ok_or_else(wrong)?;
            return Ok(Plan::Drawn {
                seed: number(seed)?,
                points: number(points)?,
                faults: number(faults)?,
            });
        }
        let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let entries = list.ok_or_else(wrong)?.split(',');
        let entry = |entry: &str| {
            let (at, what) = entry.split_once(':').ok_or_else(wrong)?;
            let fault = DiskFault::ALL.iter().find(|(_, name)| *name == what);
            let action = match (what, fault) {
                ("crash", _) => Action::Crash,
                (_, Some((fault, _))) => Action::Disk(*fault),
                (thread, None) => Action::Preempt(number(thread)? as usize),
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
    /// What happens to the disk, the nearest last.
    faults: Vec<(u64, DiskFault)>,
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
        /// Who goes on at which point, the nearest last.
        preemptions: Vec<(u64, usize)>,
    },
}

impl Schedule {
    pub(crate) fn new(plan: &Plan) -> Schedule {
        match plan {
            Plan::Drawn {
                seed,
                points,
                faults,
            } => {
                let points = (*points).max(1);
                Schedule {
                    faults: DiskFault::draw(*seed, points, *faults),
                    ..Schedule::drawn(*seed, points)
                }
            }
            Plan::Given(actions) => Schedule::given(actions),
        }
    }

    fn given(actions: &[(u64, Action)]) -> Schedule {
        let mut actions = actions.to_vec();
        actions.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let (mut crash, mut preemptions, mut faults) = (None, Vec::new(), Vec::new());
        for (at, action) in actions {
            match action {
                Action::Crash => crash = Some(at),
                Action::Preempt(thread) => preemptions.push((at, thread)),
                Action::Disk(fault) => faults.push((at, fault)),
            }
        }
        Schedule {
            kind: Kind::Given { preemptions },
            crash,
            faults,
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
        Schedule {
            kind,
            crash,
            faults: Vec::new(),
        }
    }

    /// What happens to the disk at this point, one after the other.
    pub(crate) fn fault(&mut self, at: u64) -> Option<DiskFault> {
        let due = self.faults.pop_if(|(due, _)| *due <= at);
        due.map(|(_, fault)| fault)
    }

    /// The point at which the power fails.
    pub(crate) fn crash(&self) -> Option<u64> {
        self.crash
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
            Kind::Given { preemptions } => {
                let (_, thread) = preemptions.pop_if(|(due, _)| *due <= at)?;
                runnable().contains(&thread).then_some(thread)
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
        let given = vec![
            (12, Action::Preempt(3)),
            (30, Action::Disk(DiskFault::NoRoom)),
            (40, Action::Crash),
        ];
        for plan in [
            Plan::Drawn {
                seed: 7,
                points: 900,
                faults: 4,
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
