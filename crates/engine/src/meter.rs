//! Counters of where the work goes, raised by many threads at once.
//!
//! Invariants: a counter only grows; raising one never waits and touches a cache line that is, but for many
//! threads, the raising thread's own. A sum read while counters are raised may lack what is just being counted.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Rows; more threads than that share some.
const ROWS: usize = 8;

thread_local! {
    static ROW: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The calling thread's row.
fn row() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    ROW.with(|row| {
        if row.get() == usize::MAX {
            row.set(NEXT.fetch_add(1, Relaxed) % ROWS);
        }
        row.get()
    })
}

/// Two cache lines apart, because processors fetch them in pairs.
#[repr(align(128))]
struct Row<const N: usize>([AtomicU64; N]);

/// `N` counters.
pub struct Meter<const N: usize> {
    rows: [Row<N>; ROWS],
}

impl<const N: usize> Default for Meter<N> {
    fn default() -> Self {
        Meter {
            rows: std::array::from_fn(|_| Row(std::array::from_fn(|_| AtomicU64::new(0)))),
        }
    }
}

impl<const N: usize> Meter<N> {
    /// Raises counter `which` by `by`. A counter that there is not counts nothing.
    pub fn add(&self, which: usize, by: u64) {
        let row = self.rows.get(row());
        if let Some(counter) = row.and_then(|Row(counters)| counters.get(which)) {
            counter.fetch_add(by, Relaxed);
        }
    }

    /// The sums.
    pub fn sums(&self) -> [u64; N] {
        let mut sums = [0_u64; N];
        for Row(counters) in &self.rows {
            for (sum, counter) in sums.iter_mut().zip(counters) {
                *sum = sum.wrapping_add(counter.load(Relaxed));
            }
        }
        sums
    }
}

/// What the engine counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Messages put.
    Puts,
    /// Their bytes.
    PutBytes,
    /// Messages got, browsed ones included.
    Gets,
    /// Their bytes.
    GotBytes,
    /// Messages that went from a put to a waiting get without having been on the queue.
    Avoided,
    /// Messages that met a waiting get and were held for it.
    HandedOver,
    /// Messages that were put on a queue.
    Queued,
    /// Gets that had to wait.
    Waits,
    /// Units of work committed.
    Commits,
    /// Units of work backed out by their applications.
    Backouts,
    /// Queue locks that had to be waited for.
    LockWaits,
    /// Persistent puts and gets outside a unit of work, each of which waited for the log by itself.
    ForcedAlone,
    /// Asynchronous puts outside a unit of work that did not wait for the log.
    Tickets,
}

impl Count {
    /// Every one of them, in order.
    pub const ALL: [Count; 13] = [
        Count::Puts,
        Count::PutBytes,
        Count::Gets,
        Count::GotBytes,
        Count::Avoided,
        Count::HandedOver,
        Count::Queued,
        Count::Waits,
        Count::Commits,
        Count::Backouts,
        Count::LockWaits,
        Count::ForcedAlone,
        Count::Tickets,
    ];
}

/// The sums of what the engine counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Count::ALL.len()]);

impl Counts {
    /// Made of a sum for each.
    pub fn made(mut sum: impl FnMut(Count) -> u64) -> Counts {
        Counts(Count::ALL.map(&mut sum))
    }

    /// One of them.
    pub fn of(&self, count: Count) -> u64 {
        self.0.get(count as usize).copied().unwrap_or(0)
    }
}

/// The engine's counters.
#[derive(Default)]
pub(crate) struct Counters(Meter<{ Count::ALL.len() }>);

impl Counters {
    pub(crate) fn one(&self, count: Count) {
        self.0.add(count as usize, 1);
    }

    pub(crate) fn add(&self, count: Count, by: usize) {
        self.0.add(count as usize, by as u64);
    }

    pub(crate) fn sums(&self) -> Counts {
        Counts(self.0.sums())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_adds_up() {
        let meter = Meter::<3>::default();
        std::thread::scope(|scope| {
            for n in 0..20 {
                let meter = &meter;
                scope.spawn(move || (0..100).for_each(|_| meter.add(n % 2, 3)));
            }
        });
        meter.add(3, 1);
        assert_eq!(meter.sums(), [3000, 3000, 0]);
    }

    #[test]
    fn every_counter_is_at_its_place() {
        let counters = Counters::default();
        for (at, count) in Count::ALL.into_iter().enumerate() {
            assert_eq!(count as usize, at);
            counters.add(count, at + 1);
        }
        let sums = counters.sums();
        assert!(
            Count::ALL
                .iter()
                .all(|count| sums.of(*count) == *count as u64 + 1)
        );
    }
}
