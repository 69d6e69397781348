//! Administration: commands carried out on a running queue manager, and what it shows of itself.
//!
//! This is the one door for whoever administers: MQSC and PCF come through it today, a console, REST and
//! metrics later. The engine below gives typed definitions, statuses and change errors; what runs beside the engine
//! (channels, listeners) is told of, and acted on, by its owner through [`Components`]. Here both become replies, in one
//! place each. Texts and bytes are read and written in `posthaste-command`.
//!
//! Where to find what:
//!
//! | module | what is there |
//! | --- | --- |
//! | `execute` | which command goes where |
//! | `change` | define, alter, delete, clear, and how their errors read |
//! | `authority` | authority records, and what commands need themselves |
//! | `display/` | definitions and statuses as rows; what a DISPLAY asks of any row |
//! | `metrics/` | the registry of counters and gauges, and their exposition |
//! | `transactions` | units of work, and decisions about branches in doubt |
//! | `beside` | what runs beside the engine, as administration sees it |
//! | `command_server` | requests on SYSTEM.ADMIN.COMMAND.QUEUE |
//! | `request_text` | their text, in the coded character sets that it names |
//! | `backed_out` | requests that were begun too often and never ended, to the dead-letter queue |

mod audit;
mod authority;
mod backed_out;
mod beside;
mod change;
mod chlauth;
mod command_server;
mod connection;
mod display;
mod events;
mod execute;
pub mod metrics;
mod request_text;
mod transactions;
mod transport_security;

pub use beside::{
    Answer, ChannelState, ChannelStatus, ChannelTls, ComponentCounts, ComponentError,
    ComponentState, Components, LaneStatus, ListenerStatus, ServiceStatus,
};
pub use command_server::CommandServer;
pub use events::{EventInbox, EventWriter};
pub use execute::Admin;
pub use posthaste_engine::COMMAND_QUEUE;
pub use transactions::{Decision, Undecided, transaction_number};
