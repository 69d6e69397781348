//! Publications outside units of work that will be retained and are not yet.
//!
//! A new subscription is given what is retained, and what is published from then on. A publication that had looked for its
//! subscribers before, and is retained after that, would come to it neither way: so a new subscription waits for those.
//!
//! Invariants:
//! * A publication is under way from before it looks for its subscribers until it is retained, or will never be.
//! * The lock is a leaf, and nobody is woken while a lock is held.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_env::sync::Mutex;

use crate::signal::Signal;

/// All that are under way.
#[derive(Default)]
pub(crate) struct AllUnderway {
    /// By the number of the subscription that would be made next when they began, how many there are.
    began: Mutex<BTreeMap<u64, usize>>,
    /// One of them is under way no more.
    pub(crate) ended: Signal,
}

/// One that is under way, for as long as this is kept.
pub(crate) struct Underway {
    all: Arc<AllUnderway>,
    before: u64,
}

impl AllUnderway {
    /// One begins; `before`: the number of the subscription that would be made next.
    pub(crate) fn begin(self: &Arc<Self>, before: u64) -> Arc<Underway> {
        *self.began.lock().entry(before).or_default() += 1;
        let all = Arc::clone(self);
        Arc::new(Underway { all, before })
    }

    /// Whether some have begun before the subscription with this number was there.
    pub(crate) fn before(&self, number: u64) -> bool {
        let began = self.began.lock();
        let first = began.first_key_value();
        first.is_some_and(|(before, _)| *before <= number)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        {
            let mut began = self.all.began.lock();
            if let Some(count) = began.get_mut(&self.before) {
                *count -= 1;
                if *count == 0 {
                    began.remove(&self.before);
                }
            }
        }
        self.all.ended.raise();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_there_before_waits_for_nobody() {
        let all = Arc::new(AllUnderway::default());
        let (first, second) = (all.begin(3), all.begin(3));
        let third = all.begin(5);
        assert!(!all.before(2), "it was looked at");
        assert!(all.before(3) && all.before(9));
        drop(first);
        assert!(all.before(3));
        drop(second);
        assert!(!all.before(4) && all.before(5));
        drop(third);
        assert!(!all.before(9));
    }
}
