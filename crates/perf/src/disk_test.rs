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
//! | `options` | the command line, and the plan that it becomes |
//! | `files` | files: made, filled, opened, removed whatever happens |
//! | `writing` | the loop that is measured |
//! | `measured` | what a loop found, and several put together |
//! | `worker` | the loop in a thread, or in one process for each queue manager |
//! | `csv` | the CSV file that rows are added to |
//! | `report` | the output block and the rows of the CSV file |
//! | `fio` | the same test for fio |
//! | `command` | one run, in order |

mod command;
mod csv;
mod files;
mod fio;
mod measured;
mod options;
mod report;
mod worker;
mod writing;

pub(crate) use command::forced;
pub use command::{Sample, run, sample};
pub(crate) use files::NoFiles;
pub use options::DiskTestArgs;
