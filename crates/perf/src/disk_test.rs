//! How fast a disk takes forced writes: the log of a queue manager without the queue manager.
//!
//! Known to MQ's users as MQLDT. Files are made and filled beforehand; then one thread for each simulated
//! queue manager writes whole blocks one after another, each waiting for the one before, through the files
//! and round again, opened with the modes of a recovery log (`O_DIRECT|O_DSYNC`). The options, the files
//! and the output block are those of that tool; percentiles, write numbers, reference latencies and the fio
//! job file are added.
//!
//! | module | what is there |
//! | --- | --- |
//! | `options` | the command line, checked before anything is touched |
//! | `forced` | forced writes: the memory, and the loop that is measured |
//! | `files` | test files: made, filled, removed whatever happens |
//! | `measured` | what a loop found, and several put together |
//! | `worker` | the loop in a thread for each queue manager |
//! | `report` | the output block and the CSV file |
//! | `fio` | the same test for fio |
//! | `command` | one run, in order |

mod command;
mod files;
mod fio;
mod forced;
mod measured;
mod options;
mod report;
mod worker;

pub(crate) use command::forced;
pub use command::{Sample, run, sample};
pub(crate) use files::NoFiles;
pub use options::DiskTestArgs;
