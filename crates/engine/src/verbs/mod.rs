//! The verbs of the MQ Interface, one file each.
//!
//! Invariants:
//! * A verb either does all it says or nothing; a reason code tells which.
//! * A verb that has to wait holds no lock while it waits, and can be dropped at any `await`
//!   without losing or duplicating a message.

pub(crate) mod clock;
pub(crate) mod close;
mod commit;
pub(crate) mod connect;
mod context;
mod defaults;
mod extension;
mod get;
mod inquire;
pub(crate) mod open;
mod put;
mod put1;
pub(crate) mod send;
mod set;
mod xa;

use bytes::Bytes;
use posthaste_mqi::Reason;

pub(crate) use context::stamp;
pub use defaults::Defaults;
pub(crate) use defaults::{persistence_of, persistence_to};
pub(crate) use open::{resolve, valid_name};
pub(crate) use put::transmit;

/// A verb that did something: its result, and a warning (`Reason::NONE` mostly).
#[derive(Clone, Debug, PartialEq)]
pub struct Done<T> {
    /// What the verb returns.
    pub value: T,
    /// The reason of a completion code `MQCC_WARNING`, or `Reason::NONE`.
    pub warning: Reason,
}

impl<T> Done<T> {
    pub(crate) fn ok(value: T) -> Self {
        Done {
            value,
            warning: Reason::NONE,
        }
    }
}

/// What a verb comes to; `Err` is the reason of a completion code `MQCC_FAILED`.
pub type Verb<T> = Result<Done<T>, Reason>;

/// What a get delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// The data, at most as much as the buffer holds.
    pub data: Bytes,
    /// Length of the whole message.
    pub length: usize,
}

/// What an inquiry returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inquired {
    /// Integer attributes, in the order of their selectors.
    pub ints: Vec<i32>,
    /// Character attributes, in the order of their selectors, each at its full width.
    pub chars: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use crate::Session;
    use bytes::Bytes;
    use posthaste_mqi::{Gmo, Hobj, Md, Od, Pmo};

    fn size<F>(_: impl FnOnce(&'static Session, &'static mut Md, &'static mut Pmo) -> F) -> usize {
        size_of::<F>()
    }

    /// A connection keeps room for the largest of these as long as it lives, and touches it at every call.
    #[test]
    fn frequent_verbs_have_small_futures() {
        let h = Hobj(0);
        let sizes = [
            size(|s, md, pmo| s.put(h, md, pmo, Bytes::new())),
            size(|s, md, _| s.get(h, md, Box::leak(Box::<Gmo>::default()), 0)),
            size(|s, md, pmo| s.put1(Box::leak(Box::<Od>::default()), md, pmo, Bytes::new())),
            size(|s, _, _| s.commit()),
        ];
        let most = [768, 1664, 768, 384];
        assert!(
            sizes.iter().zip(most).all(|(size, most)| *size <= most),
            "{sizes:?}"
        );
    }
}
