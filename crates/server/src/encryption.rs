//! Encryption at rest, as a queue manager's folder and qm.ini have it.
//!
//! | file | what is there |
//! | --- | --- |
//! | `source` | where the key comes from: a file, or what a command prints |
//! | `keys` | the file of the data keys, and what a run seals the bodies of messages with |
//! | `renew` | data keys shown and added, and the key that they are wrapped with changed |

pub(crate) mod keys;
mod renew;
pub(crate) mod source;

pub use renew::{DataKey, data_keys, rewrap, rotate};
pub use source::KeySource;
