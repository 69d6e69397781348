//! Locks and atomics, behind one name for everything that threads do to each other below the fronts.
//!
//! In the product these are `parking_lot`'s locks and the standard library's atomics themselves. With the
//! feature `interleave`, which only verification crates ask for, they are wrappers that tell a [`Scheduler`]
//! before each operation, so that an explorer can decide which thread goes on (`sync/interleaved.rs`).
//!
//! Invariants:
//! * Without the feature nothing here costs anything: every name is a re-export.
//! * With it, a thread that no scheduler runs behaves as without it.
//!
//! Counters that decide nothing (statistics) stay with `std`: to explore around them would only cost.

#[cfg(feature = "interleave")]
mod interleaved;

/// Atomics, as in `std::sync::atomic`.
pub mod atomic {
    #[cfg(not(feature = "interleave"))]
    pub use std::sync::atomic::{
        AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    };

    #[cfg(feature = "interleave")]
    pub use super::interleaved::{
        AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    };
    pub use std::sync::atomic::Ordering;
}

#[cfg(not(feature = "interleave"))]
pub use parking_lot::{Mutex, MutexGuard, RwLock};

#[cfg(feature = "interleave")]
pub(crate) use interleaved::scheduler;
#[cfg(feature = "interleave")]
pub use interleaved::{
    Access, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Scheduler, reached,
    scheduled_by, touched,
};
