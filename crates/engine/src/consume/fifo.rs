//! A line whose first entry needs no memory of its own: most lines have one entry.
//!
//! Invariant: `more` is empty while there is no first.

use std::collections::VecDeque;

/// Entries in the order in which they came.
#[derive(Debug)]
pub(super) struct Fifo<T> {
    first: Option<T>,
    more: VecDeque<T>,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Fifo {
            first: None,
            more: VecDeque::new(),
        }
    }
}

impl<T> Fifo<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn push(&mut self, entry: T) {
        match &self.first {
            None => self.first = Some(entry),
            Some(_) => self.more.push_back(entry),
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        std::mem::replace(&mut self.first, self.more.pop_front())
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(1) {
            None => self.first.as_ref(),
            Some(at) => self.more.get(at),
        }
    }

    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        match at.checked_sub(1) {
            None => self.pop(),
            Some(at) => self.more.remove(at),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.more)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let leaves = self.first.as_ref().is_some_and(|first| !keep(first));
        self.more.retain(keep);
        if leaves {
            self.pop();
        }
    }
}

impl<T> IntoIterator for Fifo<T> {
    type Item = T;
    type IntoIter =
        std::iter::Chain<std::option::IntoIter<T>, std::collections::vec_deque::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_as_they_went_in() {
        let mut line = Fifo::default();
        (0..6).for_each(|n| line.push(n));
        let mut asked = Vec::new();
        line.retain(|n| {
            asked.push(*n);
            n % 3 != 0
        });
        assert_eq!(asked, [0, 1, 2, 3, 4, 5]);
        assert_eq!(line.iter().copied().collect::<Vec<_>>(), [1, 2, 4, 5]);
        assert_eq!(
            (line.get(0), line.get(3), line.get(4)),
            (Some(&1), Some(&5), None)
        );
        assert_eq!(
            (line.remove(1), line.remove(0), line.remove(2)),
            (Some(2), Some(1), None)
        );
        line.push(6);
        assert_eq!(line.pop(), Some(4));
        assert_eq!(line.into_iter().collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn the_first_may_be_the_last() {
        let mut line = Fifo::default();
        assert!(line.is_empty());
        line.push(1);
        assert_eq!((line.pop(), line.pop()), (Some(1), None));
        assert!(line.is_empty());
    }
}
