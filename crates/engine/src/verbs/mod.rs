//! The verbs of the MQ Interface, one file each.
//!
//! Invariants:
//! * A verb either does all it says or nothing; a reason code tells which.
//! * A verb that has to wait holds no lock while it waits, and can be dropped at any `await`
//!   without losing or duplicating a message.

mod alter_subscription;
mod authorise;
pub(crate) mod clock;
pub(crate) mod close;
mod commit;
pub(crate) mod connect;
pub(crate) mod consumer;
mod context;
mod conversion;
mod defaults;
mod descriptor;
mod distribute;
mod get;
mod inquire;
mod lists;
pub(crate) mod mde;
pub(crate) mod open;
mod property_control;
mod publish;
mod put;
mod put1;
pub(crate) mod put_delayed;
pub(crate) mod release;
pub(crate) mod reserve;
pub(crate) mod retained;
pub(crate) mod send;
mod set;
mod subscribe;
mod subscription_options;
mod subscription_request;
mod xa;
mod xa_decided;

pub use defaults::Defaults;
pub(crate) use defaults::{persistence_of, persistence_to};
pub use posthaste_mqi::{Done, Got, Inquired, Verb};
pub use subscription_options::SubscribeOptions;

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
        let most = [840, 1000, 808, 344];
        assert!(
            sizes.iter().zip(most).all(|(size, most)| *size <= most),
            "{sizes:?}"
        );
    }
}
