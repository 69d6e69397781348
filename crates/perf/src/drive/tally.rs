//! What a carrier's thread has counted.
//!
//! Invariants:
//! * Only its own thread adds to it, so that counting costs no traffic between processors.
//! * Counts and latencies change together: whoever reads sees an iteration in both or in neither.
//! * The latency of an iteration that may still be undone is kept apart until it is settled.

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use crate::measure::histogram;
use crate::workload::Nanos;

/// An iteration that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iteration {
    /// Which application of the thread.
    pub(crate) place: usize,
    /// When.
    pub(crate) at: Nanos,
    /// How long it took, if it was timed.
    pub(crate) latency: Option<Nanos>,
    /// Iterations of the application, this one included, that a failure now would undo.
    pub(crate) open: u64,
}

/// Counts of one application.
#[derive(Clone, Default)]
struct Place {
    counted: u64,
    /// How many of them a failure now would undo.
    open: u64,
    /// Latencies of these.
    latencies: Vec<Nanos>,
}

impl Place {
    fn settled(&self) -> u64 {
        self.counted.saturating_sub(self.open)
    }
}

struct Counts {
    places: Vec<Place>,
    /// Iterations given up by a rate that cannot be held.
    missed: u64,
    /// When the last iteration was done.
    last: Nanos,
    latency: Histogram<u64>,
}

impl Counts {
    fn count(&mut self, done: Iteration) {
        self.last = done.at;
        let Some(place) = self.places.get_mut(done.place) else {
            return;
        };
        place.counted += 1;
        place.open = done.open;
        match done.latency {
            Some(nanos) if done.open > 0 => place.latencies.push(nanos),
            Some(nanos) => self.latency.saturating_record(nanos),
            None => {}
        }
        if done.open == 0 {
            self.settle(done.place);
        }
    }

    fn settle(&mut self, place: usize) {
        let Some(place) = self.places.get_mut(place) else {
            return;
        };
        place.open = 0;
        for nanos in place.latencies.drain(..) {
            self.latency.saturating_record(nanos);
        }
    }
}

/// Counts of one carrier's thread.
pub(crate) struct Tally {
    counts: Mutex<Counts>,
}

impl Tally {
    /// For so many applications.
    pub(crate) fn new(applications: usize) -> Tally {
        Tally {
            counts: Mutex::new(Counts {
                places: vec![Place::default(); applications],
                missed: 0,
                last: 0,
                latency: histogram(),
            }),
        }
    }

    /// Iterations that are done; they are taken out.
    pub(crate) fn count_all(&self, all: &mut Vec<Iteration>) {
        if all.is_empty() {
            return;
        }
        let mut counts = self.counts.lock();
        for done in all.drain(..) {
            counts.count(done);
        }
    }

    /// Between two iterations of an application it became known that no more than `open` can be undone.
    pub(crate) fn settle(&self, place: usize, open: u64) {
        let mut counts = self.counts.lock();
        match open {
            0 => counts.settle(place),
            open => {
                if let Some(place) = counts.places.get_mut(place) {
                    place.open = open;
                }
            }
        }
    }

    /// Some that were counted turned out not to be done; `open` more may still be undone.
    pub(crate) fn take_back(&self, place: usize, number: u64, open: u64) {
        if let Some(place) = self.counts.lock().places.get_mut(place) {
            place.counted = place.counted.saturating_sub(number);
            place.open = open;
        }
    }

    /// Iterations given up by a rate that cannot be held.
    pub(crate) fn missed_more(&self, number: u64) {
        if number > 0 {
            self.counts.lock().missed += number;
        }
    }

    /// Iterations so far, with those that may still be undone.
    pub(crate) fn iterations(&self) -> u64 {
        self.counts.lock().places.iter().map(|p| p.counted).sum()
    }

    /// The same of each application.
    pub(crate) fn each(&self) -> Vec<u64> {
        self.counts
            .lock()
            .places
            .iter()
            .map(|p| p.counted)
            .collect()
    }

    pub(crate) fn missed(&self) -> u64 {
        self.counts.lock().missed
    }

    pub(crate) fn last(&self) -> Nanos {
        self.counts.lock().last
    }

    /// Moves the latencies to another histogram.
    pub(crate) fn take_latency(&self, to: &mut Histogram<u64>) {
        let latency = &mut self.counts.lock().latency;
        // Both have the same bounds, and what is beyond them was cut when it was recorded.
        let _ = to.add(&*latency);
        latency.reset();
    }

    /// Forgets the latencies of everything counted so far, settled or not; gives what was counted.
    pub(crate) fn begin_window(&self) -> Vec<u64> {
        let mut counts = self.counts.lock();
        counts.latency.reset();
        for place in &mut counts.places {
            place.latencies.clear();
        }
        counts.places.iter().map(|place| place.counted).collect()
    }

    pub(crate) fn add_latency(&self, to: &mut Histogram<u64>) {
        // Both have the same bounds, and what is beyond them was cut when it was recorded.
        let _ = to.add(&self.counts.lock().latency);
    }

    /// Of each application what is done for good, at the same moment as the latencies.
    pub(crate) fn settled(&self, latency: &mut Histogram<u64>) -> Vec<u64> {
        let counts = self.counts.lock();
        // Both have the same bounds, and what is beyond them was cut when it was recorded.
        let _ = latency.add(&counts.latency);
        counts.places.iter().map(Place::settled).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(open: u64) -> Iteration {
        Iteration {
            place: 0,
            at: 7,
            latency: Some(1_000),
            open,
        }
    }

    fn settled(tally: &Tally) -> (u64, u64) {
        let mut latency = histogram();
        let each = tally.settled(&mut latency);
        (each[0], latency.len())
    }

    #[test]
    fn what_may_be_undone_is_neither_done_nor_timed_until_it_is_settled() {
        let tally = Tally::new(1);
        tally.count_all(&mut vec![done(1)]);
        tally.count_all(&mut vec![done(2)]);
        assert_eq!((tally.iterations(), settled(&tally)), (2, (0, 0)));
        tally.count_all(&mut vec![done(0)]);
        assert_eq!(settled(&tally), (3, 3));
        tally.count_all(&mut vec![done(1)]);
        tally.settle(0, 1);
        assert_eq!(settled(&tally), (3, 3));
        tally.settle(0, 0);
        assert_eq!(settled(&tally), (4, 4));
    }

    #[test]
    fn a_window_has_neither_count_nor_latency_of_what_was_before_it() {
        let tally = Tally::new(1);
        tally.count_all(&mut vec![done(1)]);
        assert_eq!(tally.begin_window(), [1]);
        tally.count_all(&mut vec![done(2)]);
        tally.count_all(&mut vec![done(0)]);
        assert_eq!(settled(&tally), (3, 2));
    }

    #[test]
    fn what_was_not_done_is_taken_back_but_never_below_nothing() {
        let tally = Tally::new(1);
        for open in 1..=5 {
            tally.count_all(&mut vec![done(open)]);
        }
        tally.take_back(0, 2, 1);
        assert_eq!(settled(&tally), (2, 0));
        tally.take_back(0, 9, 0);
        assert_eq!(settled(&tally), (0, 0));
    }
}
