//! The performance laboratory: what measures a queue manager, and what it is measured on.
//!
//! | module | what is there |
//! | --- | --- |
//! | `workload` | what applications are to do |
//! | `drive` | applications at work, a blocking thread for each or many in a loop |
//! | `delay_proxy` | a distant network on one machine |
//! | `disk_test` | how fast a disk takes the forced writes of a log |
//! | `cph` | the command line and the output that users of MQ-CPH know |
//! | `floor` | what the same work costs without a queue manager |
//! | `measure` | processors, memory, machine, a queue manager under test |
//! | `report` | results as a page and as charts |
//! | `results` | what a run left behind: files, medians, ratios, tables |
//! | `scenario` | measurements by name |
//! | `quantity` | times, rates and sizes as people write them |
//! | `terminal` | what commands print of themselves |

pub mod cph;
pub mod delay_proxy;
pub mod disk_test;
pub mod drive;
mod floor;
pub mod measure;
pub mod quantity;
mod report;
mod results;
pub mod scenario;
mod terminal;
pub mod workload;
