//! Server-connection channels through real sockets and raw clients.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test a panic is how a failure is reported"
)]

mod authorities;
mod budgets;
mod chlauth;
mod client;
mod connauth;
mod endings;
mod faults;
mod held_disk;
mod lanes;
mod lengths;
mod limits;
mod planted;
mod refused;
mod replay;
mod slow_readers;
mod stopping;
#[path = "../../../wire/tests/protocol/stream.rs"]
mod stream;
mod streams;
mod subscriptions;
mod system_users;
mod timing;
mod tls;
mod units_of_listeners;
mod verbs;
mod world;
mod xa;
