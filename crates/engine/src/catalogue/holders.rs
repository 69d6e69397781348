//! Who keeps a queue from being changed: the connections that have it open, and those whose units of
//! work have puts or gets on it; branches in doubt, which have no connection.
//!
//! Invariant: no session is locked while another is, and no unit of work while another is.

use std::sync::Arc;

use posthaste_mqi::Xid;

use crate::handles::Handle;
use crate::queue::Queue;
use crate::queue_manager::QueueManager;
use crate::session::SessionInner;
use crate::unit::{Op, Unit};

/// The most that are named; whoever has to end them asks again.
const NAMED: usize = 10;

/// Who is in the way of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Who it is.
    pub who: HeldBy,
    /// What it has of the queue.
    pub held: Held,
}

/// What holds a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// A connection.
    Connection {
        /// Its application.
        application: String,
        /// The application's user.
        user: String,
        /// The connection's number.
        number: u64,
    },
    /// A branch of a global transaction, which has no connection.
    Branch(Xid),
}

/// What one connection or branch has of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Open handles.
    pub handles: usize,
    /// Uncommitted puts.
    pub puts: usize,
    /// Uncommitted gets.
    pub gets: usize,
}

impl Held {
    fn of(
        session: &SessionInner,
        is_it: &dyn Fn(&Handle) -> bool,
        queue: Option<&Arc<Queue>>,
    ) -> Held {
        let state = session.state.lock();
        let mut held = Held {
            handles: state.handles.iter().filter(|handle| is_it(handle)).count(),
            ..Held::default()
        };
        if let (Some(unit), Some(queue)) = (&state.unit, queue) {
            held.count(unit, queue);
        }
        held
    }

    fn of_branch(unit: &Unit, queue: &Arc<Queue>) -> Held {
        let mut held = Held::default();
        held.count(unit, queue);
        held
    }

    fn count(&mut self, unit: &Unit, queue: &Arc<Queue>) {
        for op in &unit.lock().ops {
            match op {
                Op::Put { queue: on, .. } => self.puts += usize::from(Arc::ptr_eq(on, queue)),
                Op::Got { queue: on, .. } => self.gets += usize::from(Arc::ptr_eq(on, queue)),
            }
        }
    }

    fn is_something(&self) -> bool {
        *self != Held::default()
    }
}

/// Every connection that has such a handle, or, of a queue, uncommitted puts or gets on it; oldest first.
fn connections<'a>(
    qm: &QueueManager,
    is_it: &'a dyn Fn(&Handle) -> bool,
    queue: Option<&'a Arc<Queue>>,
) -> impl Iterator<Item = Holder> + 'a {
    let mut sessions = qm.sessions().all();
    let qm = Arc::clone(qm.inner());
    sessions.sort_by_key(|session| session.id);
    let holders = sessions.into_iter().map(move |session| Holder {
        who: HeldBy::Connection {
            application: session.who.name.clone(),
            user: session.who.user.clone(),
            number: qm.numbers.of_connection(session.id),
        },
        held: Held::of(&session, is_it, queue),
    });
    holders.filter(|holder| holder.held.is_something())
}

/// Whoever has such a handle, oldest connection first.
pub(super) fn openers(qm: &QueueManager, is_it: &dyn Fn(&Handle) -> bool) -> Vec<Holder> {
    connections(qm, is_it, None).take(NAMED).collect()
}

/// Everything that holds the queue, oldest connection first, branches last.
pub(super) fn holders(qm: &QueueManager, queue: &Arc<Queue>) -> Vec<Holder> {
    let is_it = |handle: &Handle| {
        let open = handle.target.local_queue();
        open.is_some_and(|open| Arc::ptr_eq(open, queue))
    };
    let connections = connections(qm, &is_it, Some(queue));
    // What a connection works on was counted with it.
    let mut branches = qm.inner().units.branches();
    branches.retain(|(_, unit)| {
        let work = unit.lock();
        work.ongoing
            .as_ref()
            .is_none_or(|o| o.associated().is_empty())
    });
    let branches = branches.into_iter().map(|(xid, unit)| Holder {
        who: HeldBy::Branch(xid),
        held: Held::of_branch(&unit, queue),
    });
    let branches = branches.filter(|holder| holder.held.is_something());
    connections.chain(branches).take(NAMED).collect()
}
