//! What is measured beside the workload itself: processors, memory, the machine, a server under test.
//!
//! | module | what is there |
//! | --- | --- |
//! | `cpu` | processor time and memory of a process |
//! | `machine` | what the figures were made on |
//! | `checkout` | which commit a folder holds, for the build script |
//! | `shape` | how a queue manager under test is made |
//! | `under_test` | a queue manager started for a measurement, and ended with it |
//! | `child` | a process that ends when its owner goes |
//! | `fault` | why a measurement was not made, and the exit code of it |
//! | `interrupt` | Ctrl-C ends a run in order |
//! | `limits` | limits of the process that are to be told of |

#[cfg(test)]
mod checkout;
mod child;
mod cpu;
mod fault;
mod interrupt;
mod limits;
mod machine;
mod shape;
mod under_test;

pub use child::{Child, Patience, kill_all};
pub use cpu::{CpuClock, CpuReading, CpuUsed, OwnCpu, resident_bytes};
pub use fault::LabError;
pub use interrupt::Interrupt;
pub use limits::refuse_long_files;
pub use machine::{Machine, built_from, now_text};
pub use shape::{Shape, queue_script};
pub use under_test::{CHANNEL, QUEUE_MANAGER, UnderTest};
