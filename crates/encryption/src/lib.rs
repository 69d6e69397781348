//! Encryption at rest: what the engine seals the bodies of messages with on their way to disk, and the keys for it.
//!
//! Three kinds of keys, each of 256 bits ([decision 024](../../../docs/decisions/024-encryption-at-rest.md)):
//!
//! | key | where it is | what it encrypts |
//! | --- | --- | --- |
//! | master key | with whoever runs the queue manager: a key file, or what a key command prints | data keys |
//! | data key | in the queue manager's folder, encrypted ("wrapped") with the master key | nothing itself: run keys are derived from it |
//! | run key | nowhere: derived from a data key and the random salt of one start | bodies |
//!
//! Invariants:
//! * No sockets, no files, no threads: bytes in, bytes out. Random bytes come from [`posthaste_env::Entropy`], so that a
//!   simulated world repeats from its seed.
//! * No nonce is ever used twice with one key: a run key is of one run, and its nonces are a counter. A restored backup
//!   or a cloned machine draws another salt, and so has another run key.
//! * Keys are erased when they are let go of, and have no `Debug` that shows them.

#![forbid(unsafe_code)]

mod cipher;
mod data_keys;
#[doc(hidden)]
pub mod fuzzing;
mod gcm;
mod key;

pub use cipher::MessageCipher;
pub use data_keys::{DataKeys, DataKeysError};
pub use key::{Key, KeyError};
