//! Consuming: what stands between a queue and whoever is given its messages, by MQGET or otherwise.
//!
//! | file | what is there |
//! | --- | --- |
//! | `selection` | which messages are asked for, compiled once |
//! | `considered` | a message as a selector sees it: headers, fields and properties by their names |
//! | `waiter` | somebody who waits: credit, what he was given, how his wait ends |
//! | `waiters`, `line` | all who wait for messages of one queue, found by tags; and by what they select |
//! | `listed`, `intervals`, `place` | selectors by what a message must have: a value, or a number between two; in the order in which they are judged |
//! | `lease` | a message held for somebody, accepted or given back |
//! | `browsed` | a message that is shown and stays, noted or not |
//! | `fifo` | who came first |

pub(crate) mod browsed;
pub(crate) mod considered;
mod fifo;
pub(crate) mod held;
mod intervals;
pub(crate) mod lease;
mod line;
mod listed;
mod place;
pub(crate) mod selection;
pub(crate) mod waiter;
pub(crate) mod waiters;
