//! What a change of a definition, and its end, does to those who have the object open (manual: "ALTER queues", "ALTER QMGR",
//! FORCE; "DELETE queues"; "MQOPEN", usage notes).
//!
//! Two lists of the manual decide, which are not the same. What asks for FORCE is in "ALTER queues": of a remote queue XMITQ
//! alone, RNAME and RQMNAME only where something is open by it as a queue manager alias. Which handles are void is in the usage
//! notes of "MQOPEN": those of a remote queue also by RNAME and RQMNAME, for what they resolved to is meant no more; and where two
//! share a queue that becomes NOSHARE, or USAGE changes, all handles of the queue, regardless of their open options.
//!
//! Invariants:
//! * Only a value that becomes another one is a change: a command that says again what is so hinders nobody.
//! * What needs FORCE is about who has the object open at that moment. Whoever opens it beside the change has a handle that
//!   is void if the change makes handles so.

use std::sync::Arc;

use posthaste_command::{Attrs, ObjectKind};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use super::last_change::Changes;
use super::{Alias, Catalogue, Definition, Runtime};
use crate::consume::waiter::Wakes;
use crate::queue::Queue;

/// What changes of all that matters to those who have an object open.
#[derive(Default)]
pub(super) struct Impact {
    /// A local queue is no longer shareable.
    pub(super) unshared: bool,
    /// A local queue becomes a transmission queue, or is one no more.
    pub(super) usage: bool,
    /// An alias leads elsewhere.
    pub(super) target: bool,
    /// A remote queue, or a queue manager alias, has another name there: handles are void, FORCE or not.
    pub(super) names: bool,
    /// It has another transmission queue.
    pub(super) transmission: bool,
    /// The queue manager has another default transmission queue.
    pub(super) default_route: bool,
}

impl Impact {
    pub(super) fn of(kind: ObjectKind, before: &Attrs, after: &Attrs) -> Impact {
        let int = |selector| before.int(selector) != after.int(selector);
        let text = |selector| before.text(selector) != after.text(selector);
        match kind {
            ObjectKind::QLocal => Impact {
                unshared: int(MQIA_SHAREABILITY)
                    && after.int(MQIA_SHAREABILITY) == MQQA_NOT_SHAREABLE,
                usage: int(MQIA_USAGE),
                ..Impact::default()
            },
            ObjectKind::QAlias => Impact {
                target: text(MQCA_BASE_OBJECT_NAME) || int(MQIA_BASE_TYPE),
                ..Impact::default()
            },
            ObjectKind::QRemote => Impact {
                names: text(MQCA_REMOTE_Q_NAME) || text(MQCA_REMOTE_Q_MGR_NAME),
                transmission: text(MQCA_XMIT_Q_NAME),
                ..Impact::default()
            },
            ObjectKind::Qmgr => Impact {
                default_route: text(MQCA_DEF_XMIT_Q_NAME),
                ..Impact::default()
            },
            _ => Impact::default(),
        }
    }

    /// Whether a change of a local queue needs FORCE as it is.
    pub(super) fn hinders(&self, queue: &Queue) -> bool {
        let state = queue.lock();
        let has_messages = state.index.used() > 0 || state.is_uncommitted();
        self.unshared && state.open_input.get() > 0
            || self.usage && (state.is_open() || has_messages || state.damage.is_some())
    }
}

/// Whether somebody who has a definition of this kind open, with nothing behind it, keeps it from being deleted (manual: "DELETE
/// queues", "DELETE NAMELIST", "DELETE PROCESS"; "DELETE TOPIC" says nothing of it).
pub(super) fn keeps_open(kind: ObjectKind) -> bool {
    use ObjectKind::{Namelist, Process, QAlias, QRemote};
    matches!(kind, QAlias | QRemote | Namelist | Process)
}

/// Handles of this queue, by whatever name it was opened, are void.
fn void_queue(changes: &Changes, queue: &Queue) {
    changes.make(&queue.last_change, || {
        let mut wakes = Wakes::default();
        queue
            .lock()
            .waiters
            .end_all(Reason::OBJECT_CHANGED, &mut wakes);
        wakes.wake();
    });
}

impl Catalogue {
    /// Handles that were opened by this alias are void.
    fn void_alias(&self, alias: &Arc<Alias>) {
        self.changes.make(&alias.last_change, || {
            // Whatever it stood for when they opened it.
            let mut wakes = Wakes::default();
            for queue in self.local_queues() {
                let mut state = queue.lock();
                state
                    .waiters
                    .end_by_alias(alias, Reason::OBJECT_CHANGED, &mut wakes);
            }
            wakes.wake();
        });
    }

    /// A definition that nobody had open is gone: whoever has opened it beside its deletion has a handle that is void. A local queue
    /// sees to its own.
    pub(super) fn void_deleted(&self, deleted: &Definition) {
        match deleted.runtime() {
            Runtime::Alias(alias) => self.void_alias(alias),
            Runtime::None if keeps_open(deleted.kind()) => {
                self.changes.make(deleted.last_change(), || {});
            }
            Runtime::Local(_) | Runtime::None => {}
        }
    }

    /// The handles that a change concerns are void: who waits by one of them waits no more, and what was given to him and he
    /// has not taken is his. The caller holds `order`, and the definition says what is new.
    pub(super) fn void_handles(&self, changed: &Definition, impact: &Impact) {
        match changed.runtime() {
            Runtime::Local(queue) => {
                // One that gets alone may go on, and whoever does not get beside it; else nobody, who only puts or browses either
                // (manual: "MQOPEN", usage notes).
                let unshared = impact.unshared && queue.lock().open_input.get() > 1;
                if impact.usage || unshared {
                    void_queue(&self.changes, queue);
                }
            }
            Runtime::Alias(alias) if impact.target => self.void_alias(alias),
            Runtime::None if impact.names || impact.transmission => {
                self.changes.make(changed.last_change(), || {});
            }
            Runtime::None if impact.default_route => {
                self.changes.make(&self.changes.default_route, || {});
            }
            _ => {}
        }
    }
}
