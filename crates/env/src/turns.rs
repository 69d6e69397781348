//! Threads that serve many in turns: lanes. What one of them does takes the time of all that it serves.
//!
//! Invariants: such a thread knows that it is one ([`serves_many`]), so that whoever would have to wait can let another
//! thread do so. What is left to the end of a turn ([`at_end_of_turn`]) is done once for all who have left it, before the
//! thread sleeps; and when the thread has no turns any more, what was left is done first. In builds with debug assertions
//! the real disk refuses such a thread everything that could take long, but where it is [`excused`].

use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Something that is done once for all who need it in a turn.
pub trait EndOfTurn: Send + Sync {
    /// The turn is over; `left` have left it. `lone`: the thread served nobody but one in this turn.
    fn turn_ended(&self, left: usize, lone: bool);
}

struct Left {
    to: Arc<dyn EndOfTurn>,
    times: usize,
}

thread_local! {
    static SERVES_MANY: Cell<bool> = const { Cell::new(false) };
    static EXCUSED: Cell<bool> = const { Cell::new(false) };
    static LEFT: RefCell<Vec<Left>> = const { RefCell::new(Vec::new()) };
}

/// While this lives, the calling thread serves many in turns.
#[derive(Debug)]
pub struct Turns {
    before: bool,
}

impl Turns {
    /// From now on.
    #[expect(clippy::new_without_default, reason = "it begins something")]
    pub fn new() -> Turns {
        Turns {
            before: SERVES_MANY.replace(true),
        }
    }

    /// Does what was left to the end of the turn; `lone` as in [`EndOfTurn::turn_ended`].
    pub fn end(&self, lone: bool) {
        end(lone);
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        end(false);
        SERVES_MANY.set(self.before);
    }
}

fn end(lone: bool) {
    // What it does may leave something again: that is done too.
    while let Some(Left { to, times }) = LEFT.with(|left| left.borrow_mut().pop()) {
        to.turn_ended(times, lone);
    }
}

/// Whether the calling thread serves many, and must not be held up for one of them.
pub fn serves_many() -> bool {
    SERVES_MANY.get()
}

/// Lets a thread that serves many use the disk: whoever calls this has measured that nothing else is better.
pub fn excused<T>(work: impl FnOnce() -> T) -> T {
    let before = EXCUSED.replace(true);
    let done = work();
    EXCUSED.set(before);
    done
}

/// What the real disk asserts before it does anything.
#[inline]
#[track_caller]
pub(crate) fn assert_not_held_up() {
    #[cfg(debug_assertions)]
    assert!(
        !serves_many() || EXCUSED.get() || crate::panicking(),
        "a file is touched on a thread that serves many"
    );
}

/// Leaves something to the end of the calling thread's turn; false where there are no turns: then it is to be done now.
pub fn at_end_of_turn<T: EndOfTurn + 'static>(what: &Arc<T>) -> bool {
    if !serves_many() {
        return false;
    }
    LEFT.with(|left| {
        let mut left = left.borrow_mut();
        let same = |known: &&mut Left| std::ptr::addr_eq(Arc::as_ptr(&known.to), Arc::as_ptr(what));
        match left.iter_mut().find(same) {
            Some(known) => known.times += 1,
            None => left.push(Left {
                to: Arc::clone(what) as Arc<dyn EndOfTurn>,
                times: 1,
            }),
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    #[test]
    #[cfg(debug_assertions)]
    fn the_real_disk_is_touched_only_with_an_excuse() {
        let disk = crate::os().disk;
        let folder = tempfile::tempdir().unwrap();
        let touched = || disk.list(folder.path()).map(|names| names.len());
        let turns = Turns::new();
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(touched));
        assert!(refused.is_err());
        assert_eq!(excused(touched).unwrap(), 0);
        drop(turns);
        assert_eq!(touched().unwrap(), 0);
    }

    #[derive(Default)]
    struct Ended(Mutex<Vec<(usize, bool)>>);

    impl EndOfTurn for Ended {
        fn turn_ended(&self, left: usize, lone: bool) {
            self.0.lock().push((left, lone));
        }
    }

    #[test]
    fn what_is_left_is_done_once_a_turn() {
        let [one, other] = [Arc::new(Ended::default()), Arc::new(Ended::default())];
        assert!(!serves_many() && !at_end_of_turn(&one));
        let turns = Turns::new();
        assert!(at_end_of_turn(&one) && at_end_of_turn(&other) && at_end_of_turn(&one));
        assert!(one.0.lock().is_empty());
        turns.end(false);
        turns.end(true);
        assert_eq!(*one.0.lock(), [(2, false)]);
        assert_eq!(*other.0.lock(), [(1, false)]);
        assert!(at_end_of_turn(&one));
        drop(turns);
        assert_eq!(*one.0.lock(), [(2, false), (1, false)]);
        assert!(!serves_many() && !at_end_of_turn(&one));
    }
}
