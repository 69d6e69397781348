//! Small programs in which threads meet where it matters. Each is run from a new queue manager to a stop, a
//! restart and an audit of every message.
//!
//! Invariant: what applications do follows from the scenario and the plan's seed, never from time.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use posthaste_engine::EndMode;
use posthaste_engine::plant::{Bug, plant};
use posthaste_env::block_on;
use posthaste_env_sim::SimWorld;
use posthaste_model::Violation;

use crate::application::{App, Ended};
use crate::definitions::{definitions, redefined};
use crate::explorer::{Explorer, Halt, Totals};
use crate::schedule::{DiskFault, Plan};
use crate::succession::succession;
use crate::topics::topics;
use crate::trace::Trace;
use crate::world::World;

/// A message that is long for this log: three of them make a checkpoint due.
pub(crate) const LONG: usize = 50_000;
/// So many of them fill the first MiB of a queue file.
const FILE_OF_LONG: usize = 20;
/// A message of which four do not fit into a queue's memory.
pub(crate) const SHORT: usize = 600;
const FULL_OF_SHORT: usize = 3;

/// A queue's memory that spills,
const SMALL: usize = 2 * 1024;
/// and one that never does here.
const LARGE: usize = 1 << 20;

/// A device on which a lone committer writes itself,
const FAST: u64 = 15_000;
/// and one on which the log's helpers write, and every commit waits.
const SLOW: u64 = 1_000_000;

/// One run in so many has something happen to its disk.
const SOMETIMES: u64 = 6;
const ALWAYS: u64 = 1;

/// A small program.
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What meets in it.
    pub about: &'static str,
    /// Bytes of messages that a queue keeps in memory.
    buffer: usize,
    /// What a write to the disk takes.
    write_nanos: u64,
    /// One drawn run in so many has something happen to its disk.
    pub faults: u64,
    /// It is so small that CI runs every schedule of it with one action.
    pub small: bool,
    /// Starts its threads.
    threads: fn(&Rc<World>) -> Vec<usize>,
}

/// All of them.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "spill",
        about: "puts that spill and gets, beside a checkpoint of the same queue",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: spill,
    },
    Scenario {
        name: "filing",
        about: "messages that are got, and followed by others, while they are written to the queue file",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: true,
        threads: filing,
    },
    Scenario {
        name: "reading",
        about: "messages that others get, and whose places others take, while they are read from the queue file",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: reading,
    },
    Scenario {
        name: "log-full",
        about: "a unit of work that holds the log until the system backs it out, and the next one",
        buffer: LARGE,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: log_full,
    },
    Scenario {
        name: "orderly-end",
        about: "commits whose applications have gone, beside maintenance and the closing checkpoint",
        buffer: LARGE,
        write_nanos: SLOW,
        faults: SOMETIMES,
        small: true,
        threads: orderly_end,
    },
    Scenario {
        name: "quiesce",
        about: "gets that wait, the puts that answer them, and their connections' quiescing",
        buffer: LARGE,
        write_nanos: SLOW,
        faults: SOMETIMES,
        small: true,
        threads: quiesce,
    },
    Scenario {
        name: "commits",
        about: "lone committers, the log's writer and one another",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: commits,
    },
    Scenario {
        name: "units",
        about: "two units of work, each with a put and a get, so small that all schedules can be run",
        buffer: LARGE,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: true,
        threads: units,
    },
    Scenario {
        name: "failing-disk",
        about: "puts that spill, units of work and checkpoints, on a disk that fails, or is full and has room later",
        buffer: SMALL,
        write_nanos: FAST,
        faults: ALWAYS,
        small: false,
        threads: failing_disk,
    },
    Scenario {
        name: "definitions",
        about: "a queue that is defined, altered, cleared and deleted beside those who use it, and checkpoints",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: definitions,
    },
    Scenario {
        name: "redefined",
        about: "a queue that is deleted, and another under its name, beside checkpoints and the orderly end",
        buffer: LARGE,
        write_nanos: SLOW,
        faults: SOMETIMES,
        small: true,
        threads: redefined,
    },
    Scenario {
        name: "tickets",
        about: "puts that are not waited for, MQSTAT and other calls behind them, and lost connections, beside an end",
        buffer: SMALL,
        write_nanos: SLOW,
        faults: SOMETIMES,
        small: false,
        threads: tickets,
    },
    Scenario {
        name: "consumers",
        about: "a consumer that waits while it quiesces, and one whose connection ends while it accepts",
        buffer: LARGE,
        write_nanos: SLOW,
        faults: SOMETIMES,
        small: true,
        threads: consumers,
    },
    Scenario {
        name: "branches",
        about: "branches that are prepared and resolved beside checkpoints that carry them",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: branches,
    },
    Scenario {
        name: "topics",
        about: "publications, beside subscriptions that are made, altered and ended, and checkpoints",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: topics,
    },
    Scenario {
        name: "succession",
        about: "an application whose queue manager ends in its own process, beside the successor on the same files",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: succession,
    },
    Scenario {
        name: "mixed",
        about: "calls drawn by seed on two queues, beside checkpoints and perhaps an orderly end",
        buffer: SMALL,
        write_nanos: FAST,
        faults: SOMETIMES,
        small: false,
        threads: mixed,
    },
];

/// Why a run failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The oracle says no.
    Violation(Violation),
    /// The queue manager does not start.
    Start(String),
    /// Nobody can go on.
    Stuck(String),
    /// A thread panicked.
    Panicked(String),
    /// The queue manager stopped although nothing had failed under it.
    Stopped(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Violation(violation) => write!(f, "{violation}"),
            Failure::Start(error) => write!(f, "the start failed: {error}"),
            Failure::Stuck(who) => write!(f, "nobody can go on: {who}"),
            Failure::Stopped(why) => write!(f, "the queue manager stopped: {why}"),
            Failure::Panicked(who) => write!(f, "thread {who} panicked"),
        }
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Schedules, points, switches.
    pub totals: Totals,
    /// Calls made by applications.
    pub calls: u64,
    /// Messages delivered.
    pub delivered: u64,
}

/// One run to make.
#[derive(Clone, Debug)]
pub struct Run {
    /// Who goes on.
    pub plan: Plan,
    /// A bug to plant.
    pub bug: Option<Bug>,
    /// Print every call and its end.
    pub tell: bool,
}

/// Unplants when the run ends, however it ends.
struct Planting;

impl Drop for Planting {
    fn drop(&mut self) {
        plant(None);
    }
}

impl Report {
    /// Adds what another run came to.
    pub fn add(&mut self, other: &Report) {
        self.totals.add(&other.totals);
        self.calls += other.calls;
        self.delivered += other.delivered;
    }
}

impl Scenario {
    /// The scenario of that name.
    pub fn named(name: &str) -> Option<&'static Scenario> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }

    /// Runs it once.
    ///
    /// # Errors
    /// What went wrong; the same run goes wrong again.
    pub fn run(&self, run: &Run) -> Result<Report, Failure> {
        self.run_on(run, false).0
    }

    /// The same, and what its threads did while everything was explored.
    pub(crate) fn run_watched(&self, run: &Run) -> (Result<Report, Failure>, Trace) {
        self.run_on(run, true)
    }

    fn run_on(&self, run: &Run, watched: bool) -> (Result<Report, Failure>, Trace) {
        let _planting = Planting;
        plant(run.bug);
        let seed = match &run.plan {
            Plan::Drawn { seed, .. } => *seed,
            Plan::Given(_) => 1,
        };
        let sim = SimWorld::new(seed);
        let explorer = Explorer::new(&run.plan, sim.clock().clone());
        if watched {
            explorer.watch();
        }
        let world = World::new(sim, explorer.clone(), seed, self.buffer, self.write_nanos);
        world.judge.borrow_mut().tell = run.tell;
        let result: Rc<RefCell<Result<(), Failure>>> = Rc::new(RefCell::new(Ok(())));
        let (main_world, main_result, threads) = (world.clone(), result.clone(), self.threads);
        let body = move || *main_result.borrow_mut() = course(&main_world, threads);
        let totals = explorer.run(Box::new(body)).map_err(|halt| match halt {
            Halt::Stuck(names) => Failure::Stuck(names.join(", ")),
            Halt::Panicked(name) => Failure::Panicked(name),
        });
        let result = match (totals, &world.judge.borrow().violation) {
            // What the oracle saw first explains what came of it.
            (_, Some(violation)) => Err(Failure::Violation(violation.clone())),
            (totals, None) => totals.and_then(|totals| result.borrow().clone().map(|()| totals)),
        };
        let judge = world.judge.borrow();
        let report = result.map(|totals| Report {
            totals,
            calls: judge.calls,
            delivered: judge.delivered,
        });
        (report, explorer.trace())
    }
}

/// From a new queue manager to the audit.
fn course(world: &Rc<World>, threads: fn(&Rc<World>) -> Vec<usize>) -> Result<(), Failure> {
    let start = |error: posthaste_engine::StartError| Failure::Start(error.to_string());
    world.create().map_err(start)?;
    world.start().map_err(start)?;
    for name in ["A", "B", "FILL"] {
        world.define(name);
    }
    let threads = threads(world);
    let (doomed, failing) = (world.clone(), world.clone());
    world.explorer.explore(
        Box::new(move || doomed.crash()),
        Box::new(move |fault| failing.disturb(fault)),
    );
    world.finish(&threads);
    if let Some(why) = world.stopped.take() {
        return Err(Failure::Stopped(why));
    }
    if let Some(violation) = &world.judge.borrow().violation {
        return Err(Failure::Violation(violation.clone()));
    }
    world.restart().map_err(start)?;
    // A full disk does not keep it from starting; what follows needs room.
    world.disturb(DiskFault::Room);
    audit(world)?;
    world.dismantle();
    Ok(())
}

/// One application gets everything; then all has to be accounted for.
fn audit(world: &Rc<World>) -> Result<(), Failure> {
    let looked = world.look();
    looked.map_err(Failure::Violation)?;
    world.decide();
    if let Some(auditor) = world.connect("auditor") {
        for queue in world.queue_names() {
            auditor.drain(queue);
        }
        auditor.take_over_subscriptions();
        auditor.leave();
    }
    if let Some(why) = world.alarm() {
        return Err(Failure::Stopped(why));
    }
    let mut judge = world.judge.borrow_mut();
    if let Some(violation) = &judge.violation {
        return Err(Failure::Violation(violation.clone()));
    }
    judge.model.audit().map_err(Failure::Violation)
}

/// A thread that is one application until its work says that it has gone.
pub(crate) fn application(
    world: &Rc<World>,
    name: &'static str,
    work: impl FnOnce(&App) -> Option<()> + 'static,
) -> usize {
    world.thread(name, move |world| {
        if let Some(app) = world.connect(name) {
            // `None` only says that it ended early.
            let _ = work(&app);
            app.leave();
        }
    })
}

pub(crate) fn going(ended: Ended) -> Option<()> {
    ended.going().then_some(())
}

/// Puts and gets long messages, which makes the log grow and checkpoints due.
pub(crate) fn filler(world: &Rc<World>, rounds: usize) -> usize {
    application(world, "filler", move |app| {
        for _ in 0..rounds {
            going(app.put("FILL", LONG, false))?;
            going(app.get("FILL", false, 0))?;
        }
        Some(())
    })
}

fn spill(world: &Rc<World>) -> Vec<usize> {
    let putter = application(world, "putter", |app| {
        for _ in 0..9 {
            going(app.put("A", SHORT, false))?;
        }
        Some(())
    });
    let getter = application(world, "getter", |app| {
        for _ in 0..6 {
            going(app.get("A", false, 5))?;
        }
        Some(())
    });
    vec![putter, getter, filler(world, 6)]
}

/// Messages that are on the queue before it begins.
fn preload(world: &Rc<World>, count: usize, length: usize) {
    if let Some(app) = world.connect("first") {
        for _ in 0..count {
            app.put("A", length, false);
        }
        app.leave();
    }
}

fn filing(world: &Rc<World>) -> Vec<usize> {
    // As many as memory has room for: the next one is filed.
    preload(world, FULL_OF_SHORT, SHORT);
    let putter = application(world, "putter", |app| going(app.put("A", SHORT, false)));
    let both = application(world, "both", |app| {
        (0..=FULL_OF_SHORT).try_for_each(|_| going(app.get("A", false, 2)))?;
        going(app.put("A", SHORT, false))
    });
    vec![putter, both]
}

fn reading(world: &Rc<World>) -> Vec<usize> {
    // So many that the file has room for others only where one of them was.
    preload(world, FILE_OF_LONG, LONG);
    let both = |_| {
        application(world, "both", |app| {
            for _ in 0..2 {
                going(app.get("A", false, 0))?;
                going(app.put("A", LONG, false))?;
            }
            Some(())
        })
    };
    (0..3).map(both).collect()
}

fn log_full(world: &Rc<World>) -> Vec<usize> {
    let done = Rc::new(Cell::new(false));
    let say = done.clone();
    let holder = application(world, "holder", move |app| {
        let held = hold(app);
        say.set(true);
        held
    });
    let filler = application(world, "filler", move |app| {
        for _ in 0..100 {
            if done.get() {
                break;
            }
            going(app.put("FILL", LONG, false))?;
            going(app.get("FILL", false, 0))?;
            app.pause(1_000_000);
        }
        Some(())
    });
    vec![holder, filler]
}

/// Holds the log with a unit of work until the system backs it out, then commits another.
fn hold(app: &App) -> Option<()> {
    going(app.put("A", SHORT, true))?;
    // Looks often, so that it may learn of it in the middle of what the system does.
    for _ in 0..1_000 {
        app.pause(20_000);
        if !app.has_unit_of_work() {
            break;
        }
    }
    going(app.back_out())?;
    going(app.put("B", SHORT, true))?;
    // Long enough for checkpoints that would cut the log above it, too short for it to be backed out as well.
    app.pause(8_000_000);
    going(app.commit())
}

fn orderly_end(world: &Rc<World>) -> Vec<usize> {
    // Connected and at work before the end begins: what counts is how their commits meet it.
    let vanishing = |_| {
        let app = world.connect("vanishing")?;
        let unit = going(app.put("A", SHORT, true)).and(going(app.put("B", SHORT, true)));
        unit.map(|()| world.thread("vanishing", move |_| app.vanish_in_commit()))
    };
    let mut threads: Vec<usize> = (0..3).filter_map(vanishing).collect();
    threads.push(application(world, "putter", |app| {
        for _ in 0..2 {
            going(app.put("A", SHORT, false))?;
        }
        Some(())
    }));
    threads.push(world.thread("end", |world| world.end()));
    threads
}

fn quiesce(world: &Rc<World>) -> Vec<usize> {
    let mut threads = vec![application(world, "putter", |app| {
        for _ in 0..4 {
            going(app.put("A", SHORT, false))?;
        }
        Some(())
    })];
    for _ in 0..2 {
        let Some(app) = world.connect("getter") else {
            continue;
        };
        let session = app.session();
        threads.push(world.thread("getter", move |_| {
            while app.get("A", false, 50) == Ended::Fine {}
            app.leave();
        }));
        threads.push(world.thread("stop", move |_| session.quiesce()));
    }
    threads
}

fn commits(world: &Rc<World>) -> Vec<usize> {
    (0..3)
        .map(|_| {
            application(world, "committer", |app| {
                for _ in 0..2 {
                    going(app.put("A", SHORT, true))?;
                    going(app.commit())?;
                    going(app.get("A", true, 0))?;
                    going(app.put("B", SHORT, true))?;
                    going(app.commit())?;
                }
                Some(())
            })
        })
        .collect()
}

fn units(world: &Rc<World>) -> Vec<usize> {
    preload(world, 1, SHORT);
    let unit = |put: &'static str, get: &'static str| {
        let app = world.connect("unit")?;
        // Open before it begins, as long-running applications have them.
        (app.has(put) && app.has(get)).then_some(())?;
        let work = move |_: &Rc<World>| {
            let done = going(app.put(put, SHORT, true)).and_then(|()| {
                going(app.get(get, true, 0))?;
                going(app.commit())
            });
            // `None` only says that it ended early.
            let _ = done;
            app.leave();
        };
        Some(world.thread("unit", work))
    };
    [unit("A", "B"), unit("B", "A")]
        .into_iter()
        .flatten()
        .collect()
}

fn failing_disk(world: &Rc<World>) -> Vec<usize> {
    let unit = |_| {
        application(world, "unit", |app| {
            for _ in 0..4 {
                going(app.put("A", SHORT, true))?;
                going(app.put("B", SHORT, true))?;
                going(app.commit())?;
                going(app.get("A", true, 0))?;
                going(app.commit())?;
            }
            Some(())
        })
    };
    let mut threads: Vec<usize> = (0..2).map(unit).collect();
    threads.push(filler(world, 8));
    if world.rng.borrow_mut().below(3) == 0 {
        threads.push(world.thread("end", |world| world.end()));
    }
    threads
}

fn tickets(world: &Rc<World>) -> Vec<usize> {
    let mut threads = vec![application(world, "putter", |app| {
        for _ in 0..2 {
            going(app.put_ahead("A", SHORT))?;
            going(app.put_ahead("A", SHORT))?;
            going(app.put("A", SHORT, false))?;
        }
        going(app.put_ahead("A", SHORT))?;
        going(app.stat())
    })];
    // At work before the end begins: what counts is what it leaves behind.
    if let Some(app) = world.connect("vanishing") {
        app.put_ahead("B", SHORT);
        threads.push(world.thread("vanishing", move |_| {
            app.put_ahead("B", SHORT);
            app.leave();
        }));
    }
    threads.push(application(world, "getter", |app| {
        (0..4).try_for_each(|_| going(app.get("A", false, 5)))
    }));
    if world.rng.borrow_mut().below(3) == 0 {
        threads.push(world.thread("end", |world| world.end()));
    }
    threads
}

fn consumers(world: &Rc<World>) -> Vec<usize> {
    let mut threads = Vec::new();
    if let Some(app) = world.connect("consumer") {
        threads.push(world.thread("consumer", move |_| {
            app.consume_on("A");
            app.leave();
        }));
    }
    if let Some(app) = world.connect("putter") {
        threads.push(world.thread("putter", move |_| {
            let _ = (0..2).try_for_each(|_| going(app.put("A", SHORT, false)));
            app.leave();
        }));
    }
    if let Some(app) = world.connect("accepting") {
        app.put("B", SHORT, false);
        if let Some((delivery, op)) = app.hold("B") {
            let accept = async move { delivery.accept_in_unit().await.map(drop) };
            threads.push(world.thread("accepting", move |_| {
                // Whichever comes first, it is backed out.
                let _ = block_on(accept);
            }));
            threads.push(world.thread("gone", move |_| app.leave_unanswered(op)));
        }
    }
    threads.push(world.thread("stop", |world| world.qm().quiesce(EndMode::Controlled)));
    threads
}

fn branches(world: &Rc<World>) -> Vec<usize> {
    let branch = |number: u8| {
        application(world, "branch", move |app| {
            for round in 0..3 {
                going(app.put("A", SHORT, true))?;
                going(app.put("B", SHORT, true))?;
                going(app.get("A", true, 0))?;
                going(app.commit_in_two(3 * number + round))?;
            }
            Some(())
        })
    };
    let mut threads: Vec<usize> = (0..2).map(branch).collect();
    threads.push(filler(world, 8));
    threads
}

fn mixed(world: &Rc<World>) -> Vec<usize> {
    let applications = world.rng.borrow_mut().between(2, 4);
    let mut threads: Vec<usize> = (0..applications)
        .map(|_| {
            let mut rng = world.rng.borrow_mut().fork();
            application(world, "application", move |app| {
                for _ in 0..rng.between(4, 16) {
                    let queue = if rng.coin() { "A" } else { "B" };
                    let in_uow = rng.coin();
                    going(match rng.below(10) {
                        0..4 => app.put(queue, rng.between(8, 2000) as usize, in_uow),
                        4..6 => app.get(queue, in_uow, rng.below(3) as i32),
                        6 => app.consume(queue, in_uow),
                        7..9 => app.commit(),
                        _ => app.back_out(),
                    })?;
                }
                Some(())
            })
        })
        .collect();
    if world.rng.borrow_mut().coin() {
        threads.push(filler(world, 6));
    }
    if world.rng.borrow_mut().below(3) == 0 {
        threads.push(world.thread("end", |world| world.end()));
    }
    threads
}
