//! Locks and atomics whose threads are run by a [`Scheduler`].
//!
//! Invariants:
//! * The scheduler hears of every operation *before* it happens, and may let other threads go on there. Between
//!   two of these points a thread runs alone, so what happens follows from the scheduler's choices.
//! * A scheduled thread never blocks in the operating system: a lock that is taken is tried again when its
//!   holder has released it.
//! * Every operation is seen by all threads in one order: what a weaker [`Ordering`] would allow beyond that
//!   is not explored.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::atomic::{self, Ordering};

use crate::clock::Nanos;

/// What an operation does to its object. Two that only look, at the same object, come to the same in either order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It looks.
    Read,
    /// It may change it.
    Write,
}

/// Runs threads one at a time. All of them live on one thread of the operating system.
pub trait Scheduler {
    /// The running thread is about to do this to the object `on`, which others can see, or which depends on others.
    fn reached(&self, on: usize, access: Access);
    /// The running thread does this to the object `on`, and is not left for it.
    fn touched(&self, on: usize, access: Access);
    /// The running thread cannot go on until `on` is woken, or the time has come.
    fn wait(&self, on: usize, until: Option<Nanos>);
    /// Whoever waits for `on` may look again.
    fn wake(&self, on: usize);
    /// Monotonic time of the world that the threads live in.
    fn now(&self) -> Nanos;
    /// Starts a thread and gives its number.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce()>) -> usize;
    /// Whether a thread has ended: `Some(true)` when it did so by a panic.
    fn ended(&self, thread: usize) -> Option<bool>;
    /// Blocks the running thread until another has ended; `true` when that panicked.
    fn join(&self, thread: usize) -> bool;
}

thread_local! {
    static SCHEDULER: RefCell<Option<Rc<dyn Scheduler>>> = const { RefCell::new(None) };
}

/// Has `scheduler` run what happens on this thread of the operating system, or nobody again.
pub fn scheduled_by(scheduler: Option<Rc<dyn Scheduler>>) {
    SCHEDULER.set(scheduler);
}

/// Who runs this thread.
pub(crate) fn scheduler() -> Option<Rc<dyn Scheduler>> {
    // A thread that is being taken down has none.
    SCHEDULER.try_with(|s| s.borrow().clone()).ok().flatten()
}

/// Tells the scheduler, if there is one, of an operation that follows.
pub fn reached(on: usize, access: Access) {
    if let Some(scheduler) = scheduler() {
        scheduler.reached(on, access);
    }
}

/// Tells the scheduler, if there is one, of an operation at which no other thread can go on.
pub fn touched(on: usize, access: Access) {
    if let Some(scheduler) = scheduler() {
        scheduler.touched(on, access);
    }
}

/// Tries until `attempt` succeeds, waiting for `on` to be woken in between.
fn until<T>(
    (on, access): (usize, Access),
    attempt: impl Fn() -> Option<T>,
    blocking: impl FnOnce() -> T,
) -> T {
    let Some(scheduler) = scheduler() else {
        return blocking();
    };
    scheduler.reached(on, access);
    loop {
        if let Some(taken) = attempt() {
            return taken;
        }
        scheduler.wait(on, None);
        scheduler.touched(on, access);
    }
}

/// Wakes those who wait for a lock, after the guard in the field above has released it.
struct Released(usize, Access);

impl Drop for Released {
    fn drop(&mut self) {
        if let Some(scheduler) = scheduler() {
            scheduler.touched(self.0, self.1);
            scheduler.wake(self.0);
        }
    }
}

/// The identity of a lock or atomic while somebody refers to it.
fn identity<T: ?Sized>(object: &T) -> usize {
    std::ptr::from_ref(object).addr()
}

/// A guard: the lock's own, then the notice that it is free. Fields are dropped in this order.
macro_rules! guard {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<'a, T: ?Sized> {
            guard: parking_lot::$name<'a, T>,
            _released: Released,
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;
            fn deref(&self) -> &T {
                &self.guard
            }
        }
    };
}

guard!(
    /// A held [`Mutex`].
    MutexGuard
);
guard!(
    /// A [`RwLock`] held with others.
    RwLockReadGuard
);
guard!(
    /// A [`RwLock`] held alone.
    RwLockWriteGuard
);

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// A lock, as `parking_lot`'s.
#[derive(Default)]
pub struct Mutex<T: ?Sized>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Mutex(parking_lot::Mutex::new(value))
    }

    /// What it protects.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn guard<'a>(&self, guard: parking_lot::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            guard,
            _released: Released(identity(&self.0), Access::Write),
        }
    }

    /// Takes it, waiting while another thread has it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let on = (identity(&self.0), Access::Write);
        let taken = until(on, || self.0.try_lock(), || self.0.lock());
        self.guard(taken)
    }

    /// Takes it if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        reached(identity(&self.0), Access::Write);
        self.0.try_lock().map(|taken| self.guard(taken))
    }

    /// What it protects, without taking it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A lock that many may hold to read, as `parking_lot`'s.
#[derive(Default)]
pub struct RwLock<T: ?Sized>(parking_lot::RwLock<T>);

impl<T> RwLock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        RwLock(parking_lot::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes it with others.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        let on = (identity(&self.0), Access::Read);
        RwLockReadGuard {
            guard: until(on, || self.0.try_read(), || self.0.read()),
            _released: Released(on.0, on.1),
        }
    }

    /// Takes it alone.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        let on = (identity(&self.0), Access::Write);
        RwLockWriteGuard {
            guard: until(on, || self.0.try_write(), || self.0.write()),
            _released: Released(on.0, on.1),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An atomic whose operations are points of the schedule.
macro_rules! atomic {
    ($name:ident, $value:ty $(, $arithmetic:ident)?) => {
        #[doc = concat!("As `std::sync::atomic::", stringify!($name), "`.")]
        #[derive(Debug, Default)]
        pub struct $name(atomic::$name);

        impl $name {
            /// One that holds `value`.
            pub const fn new(value: $value) -> Self {
                $name(atomic::$name::new(value))
            }
            /// As the standard library's.
            pub fn load(&self, order: Ordering) -> $value {
                reached(identity(&self.0), Access::Read);
                self.0.load(order)
            }
            /// As the standard library's.
            pub fn store(&self, value: $value, order: Ordering) {
                reached(identity(&self.0), Access::Write);
                self.0.store(value, order);
            }
            /// As the standard library's.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                reached(identity(&self.0), Access::Write);
                self.0.swap(value, order)
            }
            /// As the standard library's.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                reached(identity(&self.0), Access::Write);
                self.0.compare_exchange(current, new, success, failure)
            }
            $(atomic!($arithmetic $value);)?
        }
    };
    (arithmetic $value:ty) => {
        /// As the standard library's.
        pub fn fetch_add(&self, by: $value, order: Ordering) -> $value {
            reached(identity(&self.0), Access::Write);
            self.0.fetch_add(by, order)
        }
        /// As the standard library's.
        pub fn fetch_sub(&self, by: $value, order: Ordering) -> $value {
            reached(identity(&self.0), Access::Write);
            self.0.fetch_sub(by, order)
        }
        /// As the standard library's.
        pub fn fetch_max(&self, with: $value, order: Ordering) -> $value {
            reached(identity(&self.0), Access::Write);
            self.0.fetch_max(with, order)
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicU8, u8, arithmetic);
atomic!(AtomicU32, u32, arithmetic);
atomic!(AtomicU64, u64, arithmetic);
atomic!(AtomicI64, i64, arithmetic);
atomic!(AtomicUsize, usize, arithmetic);
