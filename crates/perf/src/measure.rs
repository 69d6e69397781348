//! What is measured beside the workload itself: processors, memory, the machine, a server under test.
//!
//! | module | what is there |
//! | --- | --- |
//! | `cpu` | processor time and memory of a process |
//! | `machine` | what the figures were made on |
//! | `shape` | how a queue manager under test is made |
//! | `under_test` | a queue manager started for a measurement, and ended with it |
//! | `child` | a process that ends when its owner goes |
//! | `fault` | why a measurement was not made, and the exit code of it |
//! | `histogram` | what latencies are recorded in |
//! | `limits` | limits of the process that are to be told of |

mod child;
mod cpu;
mod fault;
mod histogram;
mod limits;
mod machine;
mod shape;
mod under_test;

pub(crate) use child::{Child, kill_all};
pub(crate) use cpu::{CpuClock, CpuReading, OwnCpu, resident_bytes};
pub use fault::LabError;
pub(crate) use fault::{pass, uninterrupted};
pub(crate) use histogram::{histogram, recorded};
pub(crate) use limits::refuse_long_files;
pub(crate) use machine::{Machine, built_from, now_text};
pub use posthaste_server::Interrupt;
pub(crate) use shape::CHANNEL;
pub use shape::{QUEUE_MANAGER, Shape};
pub(crate) use under_test::UnderTest;
