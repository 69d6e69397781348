//! Seed inputs, made by the real encoders so that a fuzzer starts from bytes that are understood.
//!
//! Invariant: the same bytes every time (a test compares them with the committed ones, save those of
//! `engine`), hence fixed names, numbers and times. A seed that cannot be made is a bug of this crate, so making one panics.

mod authorities;
mod captured;
mod chlauth;
mod client;
mod commands;
mod conversion;
mod credentials;
mod data_keys;
mod engine;
mod files;
mod selectors;
mod structures;
mod tls;
mod topics;

pub use authorities::authority;
pub use captured::wire;
pub use chlauth::chlauth;
pub use client::client;
pub use commands::{mqsc, pcf, qm_ini};
pub use conversion::conversion;
pub use credentials::credentials;
pub use data_keys::data_keys;
pub use engine::{engine_image, engine_records};
pub use files::{log, store};
pub use selectors::selector;
pub use structures::mqi;
pub use tls::tls;
pub use topics::topic;

/// Inputs by file name.
pub type Seeds = Vec<(String, Vec<u8>)>;

/// Longest seed.
pub const LONGEST: usize = 4096;
