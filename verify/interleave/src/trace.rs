//! What the threads of a run did, and which other schedules come to the same.
//!
//! A segment is what one thread does from a point, or from where it goes on, to the next point or until it is left.
//! Two segments of different threads can be exchanged when neither touches what the other changes, and neither wakes
//! or starts a thread. So a thread that is left before such a segment comes to the same as one that is left
//! behind it, if nobody who runs meanwhile touches what the segment does; and the power that fails before a segment
//! without the disk and without the oracle is the power that fails behind it.
//!
//! Invariants:
//! * Everything that one thread can know of another is touched by both: locks, atomics, signals, the ends of threads, the
//!   disk, the clock, the oracle. (Counters that decide nothing are not; nothing follows from them.)
//! * Objects are known by their addresses within one run only. Two that had the same one after the other count as
//!   one, which can only make more segments depend on each other.

use std::collections::BTreeMap;

use posthaste_env::sync::Access;

/// The disk as a whole, its time, and the oracle: no object lies at such an address.
pub(crate) const DISK: usize = 1;
pub(crate) const CLOCK: usize = 2;
pub(crate) const JUDGE: usize = 3;
/// The same for changes of the disk, by how they can fail.
pub(crate) const WRITES: usize = 4;
pub(crate) const SYNCS: usize = 5;
pub(crate) const NAMES: usize = 6;

/// What an operation of the disk does, as far as faults differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Write,
    Sync,
    Name,
}

#[derive(Clone, Debug)]
struct Segment {
    thread: usize,
    /// The point that it begins at; none when its thread goes on after others.
    point: Option<u64>,
    /// Who else could have gone on there.
    others: Vec<usize>,
    touches: Vec<(usize, Access)>,
    /// Others can go on because of it.
    wakes: bool,
    operation: Option<Operation>,
}

/// See the head of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    segments: Vec<Segment>,
}

impl Trace {
    /// A thread has come to a point, where these others could go on.
    pub(crate) fn reached(&mut self, thread: usize, point: u64, others: Vec<usize>) {
        self.begin(thread, Some(point), others);
    }

    /// A thread goes on.
    pub(crate) fn resumed(&mut self, thread: usize) {
        self.begin(thread, None, Vec::new());
    }

    fn begin(&mut self, thread: usize, point: Option<u64>, others: Vec<usize>) {
        self.segments.push(Segment {
            thread,
            point,
            others,
            touches: Vec::new(),
            wakes: false,
            operation: None,
        });
    }

    pub(crate) fn touched(&mut self, on: usize, access: Access) {
        let Some(segment) = self.segments.last_mut() else {
            return;
        };
        match on {
            WRITES => segment.operation = Some(Operation::Write),
            SYNCS => segment.operation = Some(Operation::Sync),
            NAMES => segment.operation = Some(Operation::Name),
            object => segment.touches.push((object, access)),
        }
    }

    pub(crate) fn woke(&mut self) {
        if let Some(segment) = self.segments.last_mut() {
            segment.wakes = true;
        }
    }

    /// Where, behind `after`, another thread could have gone on: point and thread.
    pub(crate) fn options(&self, after: u64) -> Vec<(u64, usize)> {
        let points = self.segments.iter().filter_map(|s| Some((s.point?, s)));
        let later = points.filter(|(point, _)| *point > after);
        later
            .flat_map(|(point, s)| s.others.iter().map(move |other| (point, *other)))
            .collect()
    }

    /// How many points there are behind `after`.
    pub(crate) fn points(&self, after: u64) -> usize {
        let points = self.segments.iter().filter_map(|s| s.point);
        points.filter(|point| *point > after).count()
    }

    /// Points behind `after` at which the power has to fail for every outcome that its failing can have.
    pub(crate) fn crashes(&self, after: u64) -> Vec<u64> {
        let mut found = Vec::new();
        let mut last = None;
        for segment in &self.segments {
            let point = segment.point.filter(|point| *point > after);
            last = point.or(last);
            let tells = |(on, access): &(usize, Access)| {
                *on == JUDGE || *on == DISK && *access == Access::Write
            };
            if segment.touches.iter().any(tells) {
                found.extend(last.take());
            }
        }
        found.extend(last);
        found
    }

    /// Points behind `after` before operations of the disk that can fail.
    pub(crate) fn operations(&self, after: u64) -> Vec<(u64, Operation)> {
        let at = |s: &Segment| Some((s.point?, s.operation?));
        let all = self.segments.iter().filter_map(at);
        all.filter(|(point, _)| *point > after).collect()
    }

    /// In this run the thread at point `at` was left for `other`. The first of the points before it, without a gap, at
    /// which leaving it for `other` comes to the same; `at` itself when there is none.
    pub(crate) fn same_since(&self, at: u64, other: usize) -> u64 {
        let Some(left) = self.segments.iter().position(|s| s.point == Some(at)) else {
            return at;
        };
        let thread = self.segments[left].thread;
        let meanwhile = self.segments[left + 1..].iter();
        let mut touched: BTreeMap<usize, bool> = BTreeMap::new();
        for segment in meanwhile.take_while(|s| s.thread != thread) {
            for (on, access) in &segment.touches {
                *touched.entry(*on).or_default() |= *access == Access::Write;
            }
        }
        let apart = |(on, access): &(usize, Access)| match touched.get(on) {
            None => true,
            Some(changed) => !changed && *access == Access::Read,
        };
        let mut since = at;
        for (n, segment) in self.segments[..left].iter().enumerate().rev() {
            let same = segment.thread == thread
                && !segment.wakes
                && segment.point == Some(since - 1)
                && segment.others == self.segments[n + 1].others
                && segment.others.contains(&other)
                && segment.touches.iter().all(apart);
            if !same {
                break;
            }
            since -= 1;
        }
        since
    }
}
