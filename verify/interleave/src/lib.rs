//! The engine's real threads in every order: an explorer of interleavings.
//!
//! The simulator (`verify/sim`) runs the engine on one task at a time and switches where a call waits. What two
//! threads do to each other between two waits does not exist there. Here the same code runs with threads:
//! applications, maintenance with its checkpoints, the log's writer and its helpers, and the orderly end.
//! Before every lock, atomic, signal and disk operation a schedule decides which of them goes on.
//!
//! * `fiber` – a thread of the program under test, as a coroutine.
//! * `explorer` – runs the threads of one world, one at a time.
//! * `schedule` – who goes on: drawn by seed, or given as a list of preemptions.
//! * `trace` – what the threads did, and which schedules come to the same.
//! * `disk` – the simulated disk with a point of the schedule at each operation, and its faults.
//! * `world` – a queue manager with its threads, and the oracle that judges what applications see.
//! * `application` – calls that are made and reported to the oracle.
//! * `scenario` – small programs in which threads meet where it matters.
//! * `definitions` – programs that define, change, clear and delete queues while others use them.
//! * `succession` – a queue manager that ends in a process that lives on, and its successor.
//! * `topics` – a program in which topics are published on while subscriptions come, change and go.
//! * `exhaustive` – all schedules with so many preemptions of a scenario, or the power or the disk failing at any point.
//! * `planted` – bugs that have to be found.
//!
//! Invariant: what happens follows from scenario, seed and schedule alone, so that each of them replays.

mod application;
mod definitions;
mod disk;
mod exhaustive;
mod explorer;
mod fiber;
mod planted;
mod scenario;
mod schedule;
mod succession;
mod topics;
mod trace;
mod world;

pub use exhaustive::{Exhausted, exhaust};
pub use explorer::Totals;
pub use planted::{PLANTED, Planted, find};
pub use scenario::{Failure, Report, Run, SCENARIOS, Scenario};
pub use schedule::{Action, DiskFault, Plan};
