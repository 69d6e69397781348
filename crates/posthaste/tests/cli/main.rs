//! The binary as its users meet it: real processes, each test with folders of its own and any free
//! port. Nothing here waits by the clock: tests wait for lines, for processes, or for queues.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod audit;
mod authorities;
mod bad_input;
mod channel_protocol;
mod closed;
mod container;
mod deleting;
mod driver;
mod encrypted;
mod encryption;
mod ending;
mod in_process;
mod instruments;
mod kinds;
mod laboratory;
mod life;
mod messages;
mod mqsc;
mod place;
mod ports;
mod refused;
mod samples;
mod services;
mod tools;
mod topics;
mod transactions;
mod usage;
mod users;
mod written;
