//! The whole engine in a simulated world: seeded workloads, crashes, faults, and an oracle.
//!
//! * `machine`: a queue manager on simulated disk and clock, with its log writer driven by seed.
//! * `workload`: applications that put, get, commit and back out, and tell the oracle everything.
//! * `calls`: their calls, one by one.
//! * `caller`, `channel`: the same applications in the queue manager's process, or over channels.
//! * `definer`: applications that define, alter, clear and delete queues, and use them.
//! * `exhausted`: a log that is filled to its last byte, and the start after it.
//! * `media`: faults of the medium, and what they may do to one queue.
//! * `old_log`: the log of an earlier run in the place of the right one.
//! * `full_disk`: a disk without room, and what must be true of it.
//! * `ends`: how a run of the queue manager ends; `turn_over`: writes that are lost where it does the worst.
//! * `solo`: applications alone with their queues: `triggers`, `reports`, `groups`, `locks`, `marks`, `asynchronous`.
//! * `publish`, `subscribe`: applications that publish, and that subscribe.
//! * `lists`: messages that are put to many queues by one call.
//! * `delayed`: messages that are delivered some time after their put.
//! * `branches`: units of work that are committed in two steps, and those who decide about them.
//! * `run`: one seed from the first message to the final audit.
//! * `plan`: what a seed decides before anything happens (sizes, rates, faults).
//! * `coverage`: what the runs have met, as numbers.
//! * `planted`: bugs that have to be found, and by when.
//!
//! One seed decides everything: the same seed gives the same trace hash and the same verdict.

mod asynchronous;
mod branches;
mod caller;
mod calls;
mod channel;
mod consume;
mod coverage;
mod definer;
mod delayed;
mod ends;
mod exhausted;
mod full_disk;
mod grouped;
mod groups;
mod lists;
mod locks;
mod machine;
mod marks;
mod media;
mod old_log;
mod plan;
mod planted;
mod publish;
mod reports;
mod run;
mod solo;
mod subscribe;
mod triggers;
mod turn_over;
mod workload;

pub use channel::Channels;
pub use coverage::{Coverage, EXPECTED};
pub use machine::{Machine, Recorder, Writes};
pub use plan::Plan;
pub use planted::{PLANTED, Planted, find};
pub use run::{Failure, Report, run, run_plan};
