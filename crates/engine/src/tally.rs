//! Counts of what is there: of messages, handles, bytes.
//!
//! Invariant: a tally never goes below zero, nor beyond its type. What would make it so is a defect of ours, and what
//! the count stands for is not known any more: the program panics, in every build, which stops the queue manager
//! (AMQ6109S, AMQ2016S) before a wrong count admits or destroys a message.

use std::fmt;
use std::ops::{AddAssign, SubAssign};

/// See the head of this file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally<T>(T);

impl<T: Copy> Tally<T> {
    pub(crate) fn get(&self) -> T {
        self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Tally<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Apart from what is counted, so that counting stays small.
#[cold]
#[track_caller]
fn defect(what: &str) -> ! {
    panic!("a count of what is there {what}")
}

macro_rules! counts {
    ($($number:ty),*) => {$(
        impl AddAssign<$number> for Tally<$number> {
            #[track_caller]
            fn add_assign(&mut self, more: $number) {
                self.0 = self.0.checked_add(more).unwrap_or_else(|| defect("overflows"));
            }
        }

        impl SubAssign<$number> for Tally<$number> {
            #[track_caller]
            fn sub_assign(&mut self, less: $number) {
                self.0 = self.0.checked_sub(less).unwrap_or_else(|| defect("goes below zero"));
            }
        }
    )*};
}

counts!(u32, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up_and_down() {
        let mut tally = Tally::<u32>::default();
        tally += 3;
        tally -= 2;
        assert_eq!(tally.get(), 1);
    }

    #[test]
    #[should_panic(expected = "a count of what is there goes below zero")]
    fn what_was_never_there_is_not_counted_out() {
        let mut tally = Tally::<usize>::default();
        tally += 3;
        tally -= 4;
    }

    #[test]
    #[should_panic(expected = "a count of what is there overflows")]
    fn too_much_is_not_counted_in() {
        let mut tally = Tally::<u32>::default();
        tally += u32::MAX;
        tally += 1;
    }
}
