//! Deleted queues whose files are still there.
//!
//! Invariants: a file that the latest image may name goes only when a later image is in force; one that no image has
//! named need not wait for that. A deleted queue is kept here, or its file is gone.

use std::sync::Arc;

use posthaste_env::sync::Mutex;

use super::Queue;

/// See the head of this file.
#[derive(Default)]
pub(crate) struct DeletedQueues {
    /// The latest image still points at their files. In the order in which they were deleted.
    retired: Mutex<Vec<Arc<Queue>>>,
    /// Temporary dynamic ones that have had a file.
    discarded: Mutex<Vec<Arc<Queue>>>,
}

impl DeletedQueues {
    /// Those that a restart has found deleted since the image.
    pub(crate) fn found(retired: Vec<Arc<Queue>>) -> DeletedQueues {
        DeletedQueues {
            retired: Mutex::new(retired),
            discarded: Mutex::default(),
        }
    }

    /// A queue was deleted: its file goes with the next checkpoint.
    pub(crate) fn retire(&self, queue: Arc<Queue>) {
        let filed = queue.has_file().then(|| Arc::clone(&queue.home));
        self.retired.lock().push(queue);
        if let Some(home) = filed {
            home.room.freed(true);
        }
    }

    /// How many files wait for the next checkpoint.
    pub(crate) fn retired(&self) -> usize {
        self.retired.lock().len()
    }

    /// Takes out the first `count`: an image is in force that was begun after they were deleted.
    pub(crate) fn take_retired(&self, count: usize) -> Vec<Arc<Queue>> {
        self.retired.lock().drain(..count).collect()
    }

    /// A temporary dynamic queue was deleted. No image has named it, so it need not wait for a checkpoint; only a file,
    /// if it has had one, is left for maintenance to remove.
    pub(crate) fn discard(&self, queue: Arc<Queue>) {
        if queue.has_file() {
            let home = Arc::clone(&queue.home);
            self.discarded.lock().push(queue);
            home.room.kick.raise();
        }
    }

    /// Removes the files of deleted temporary dynamic queues.
    pub(crate) fn remove_discarded(&self) {
        let discarded = std::mem::take(&mut *self.discarded.lock());
        for queue in discarded {
            if queue.drop_file().is_err() {
                // The next checkpoint tries again, and says what is wrong.
                self.retire(queue);
            }
        }
    }
}
