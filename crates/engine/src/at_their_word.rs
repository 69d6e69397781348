//! Queues whose messages are taken at their word: those on which the queue manager, or whoever transmits from them, does with a
//! message as it says and believes whom it says it is from.
//!
//! | queue | what is believed |
//! | --- | --- |
//! | SYSTEM.DDELAY.LOCAL.QUEUE | where a message is to go, and as whose ([`crate::delayed`]) |
//! | SYSTEM.RETAINED.PUB.QUEUE | what is retained, and of which topic |
//! | SYSTEM.ADMIN.COMMAND.QUEUE | whose command it is |
//! | transmission queues | where a message is to go, and as whose |
//!
//! Invariants:
//! * Nothing gets there because somebody else may put there: no report, no copy of a publication, no dead letter, no trigger message, no
//!   reply of the command server, no delayed message whose way has changed since it was put. It is the queue on which the message
//!   lands that counts, at the moment at which it does, by whatever names it was found.
//! * Who puts there himself needs what `verbs/authorise.rs` says: of the queue itself too where he opens it by an alias.
//! * Those that are so by their names are not made by applications, but by whoever may define them.
//! * The queue manager's own puts (what is delayed and retained) do not resolve a name.

use std::sync::Arc;

use posthaste_authority::{Authority, ObjectType};
use posthaste_mqi::Reason;

use crate::audit::AuditEvent;
use crate::authorization::{Asking, Refusal};
use crate::catalogue::{COMMAND_QUEUE, is_own_store};
use crate::manager::Inner;
use crate::queue::Queue;

/// Whether messages on a queue are taken at their word.
pub(crate) fn is_taken_at_its_word(queue: &Queue) -> bool {
    speaks_for_itself(queue) || queue.name.text() == COMMAND_QUEUE
}

/// Whether that is so of whatever queue has this name: no application gives it to a queue of its own, which it could read.
pub(crate) fn is_so_by_name(queue: &str) -> bool {
    is_own_store(queue) || queue == COMMAND_QUEUE
}

/// Whether what is put there says by itself where it goes and in whose name: on a transmission queue, or a queue of the queue manager's
/// own. On the command queue it says the latter only.
pub(crate) fn speaks_for_itself(queue: &Queue) -> bool {
    is_own_store(&queue.name.text()) || queue.attributes().transmission
}

/// Whether a message of another's making may land on a queue because `user` may put there. `what`: what kind of message it is.
///
/// # Errors
/// 2035 it is one whose messages are taken at their word; operator and audit are told.
pub(crate) fn on_anothers_behalf(
    qm: &Inner,
    queue: &Queue,
    (user, what): (&str, &'static str),
) -> Result<(), Reason> {
    if !is_taken_at_its_word(queue) {
        return Ok(());
    }
    let refusal = Refusal {
        user: user.to_owned(),
        missing: Authority::SetAll.into(),
        object_type: ObjectType::Queue,
        name: queue.name.text().into_owned(),
    };
    qm.operator.message("AMQ8077W", &refusal.inserts());
    qm.operator.audit(AuditEvent {
        because: "messages of others do not get to a queue whose messages are taken at their word"
            .to_owned(),
        ..Asking::by_manager(qm, user, what).refused(&refusal)
    });
    Err(Reason::NOT_AUTHORIZED)
}

/// A local queue by its name, for what the queue manager puts there for others; none: there is no such, or its messages are taken
/// at their word.
pub(crate) fn queue_for_others(qm: &Inner, name: &str) -> Option<Arc<Queue>> {
    let queue = qm.catalogue.local_queue(name)?;
    (!is_taken_at_its_word(&queue)).then_some(queue)
}
