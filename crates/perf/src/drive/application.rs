//! One application, whatever carries it: its machine, its course, what it has open, and what came of its iterations.
//!
//! Invariant: an iteration is in the tally, or among those that are counted after the batch, before the next one begins.

use posthaste_mqi::{Hobj, Name};

use super::connect::rejected;
use super::control::Control;
use super::course::{Course, Turn};
use super::tally::{Iteration, Tally};
use crate::workload::{Machine, Nanos, PerfError, Step};

/// What an application shares with the others of its group.
pub(crate) struct Around<'a> {
    pub(crate) control: &'a Control,
    pub(crate) tally: &'a Tally,
    pub(crate) data: &'a [u8],
    /// Iterations that are counted after the batch.
    pub(crate) done: &'a mut Vec<Iteration>,
    /// The time, as of the batch.
    pub(crate) now: Nanos,
}

/// One application.
pub(crate) struct Application {
    pub(crate) machine: Machine,
    pub(crate) queue_manager: String,
    /// Place in the group's tally.
    place: usize,
    /// Once the group has been let go.
    pub(crate) course: Option<Course>,
    open: Vec<(Name, Hobj)>,
}

impl Application {
    pub(crate) fn new(machine: Machine, place: usize, queue_manager: &str) -> Application {
        Application {
            machine,
            queue_manager: queue_manager.to_owned(),
            place,
            course: None,
            open: Vec::new(),
        }
    }

    /// The queue in a slot, whose handle is not known yet.
    pub(crate) fn opens(&mut self, slot: usize, queue: Name) {
        if self.open.len() <= slot {
            self.open.resize(slot + 1, (Name::BLANK, Hobj::UNUSABLE));
        }
        if let Some(place) = self.open.get_mut(slot) {
            *place = (queue, Hobj::UNUSABLE);
        }
    }

    /// Its handle.
    pub(crate) fn opened(&mut self, slot: usize, handle: Hobj) {
        if let Some(place) = self.open.get_mut(slot) {
            place.1 = handle;
        }
    }

    pub(crate) fn handle(&self, slot: usize) -> Hobj {
        let open = self.open.get(slot);
        open.map_or(Hobj::UNUSABLE, |(_, handle)| *handle)
    }

    pub(crate) fn name(&self, slot: usize) -> String {
        let open = self.open.get(slot);
        open.map_or_else(String::new, |(name, _)| name.text().into_owned())
    }

    /// What to do between two iterations.
    pub(crate) fn turn(&mut self, now: Nanos, around: &Around<'_>) -> Turn {
        let Some(course) = &mut self.course else {
            return Turn::End;
        };
        let turn = course.turn(now, around.control.ending(), around.control.over());
        around.tally.missed_more(course.take_missed());
        turn
    }

    /// Counts what came of an iteration; gives the time as far as it is needed.
    pub(crate) fn account(
        &mut self,
        step: Step,
        around: &mut Around<'_>,
    ) -> Result<Nanos, PerfError> {
        let mut now = around.now;
        match step {
            Step::Iterated { began } => {
                if began.is_some() {
                    now = around.control.now();
                }
                around.done.push(Iteration {
                    place: self.place,
                    at: now,
                    latency: began.map(|began| now.saturating_sub(began)),
                    open: self.machine.uncommitted(),
                });
                if let Some(course) = &mut self.course {
                    course.iterated();
                }
            }
            Step::Idle => {
                around.tally.count_all(around.done);
                self.settle(around.tally);
            }
            Step::Unanswered { slot } => around.control.fail(PerfError::NoReply {
                queue: self.name(slot),
            }),
            Step::Rejected { count, reason } => {
                around.tally.count_all(around.done);
                let open = self.machine.uncommitted();
                around.tally.take_back(self.place, count, open);
                return Err(rejected(count, reason, &self.name(0)));
            }
            _ => {}
        }
        Ok(now)
    }

    /// It is known what is done for good. Everything it did has been counted.
    pub(crate) fn settle(&self, tally: &Tally) {
        tally.settle(self.place, self.machine.uncommitted());
    }

    /// Whether it has not done all that was asked for.
    pub(crate) fn unfinished(&self) -> bool {
        self.course.as_ref().is_some_and(Course::unfinished)
    }
}
