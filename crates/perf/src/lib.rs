//! The performance laboratory: what measures a queue manager, and what it is measured on.
//!
//! | module | what is there |
//! | --- | --- |
//! | `floor` | what the same work costs without a queue manager |
//! | `measure` | processors, memory, machine, a queue manager under test |

pub mod floor;
pub mod measure;
