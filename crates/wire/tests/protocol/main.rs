//! The channel protocol against captured streams, against itself, and against damage.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is how a failure is reported"
)]

mod captured;
mod credentials;
mod crossing;
mod hostile;
mod keys;
mod pair;
mod prepared;
mod stream;
