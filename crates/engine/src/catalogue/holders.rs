//! Who keeps a queue from being changed: the connections that have it open, and those whose units of
//! work have puts or gets on it; branches in doubt, which have no connection.
//!
//! Invariant: no session is locked while another is, and no unit of work.

use std::sync::Arc;

use crate::manager::Inner;
use crate::queue::Queue;
use crate::session::{SessionInner, Target};
use crate::unit::{Op, Unit};

/// The most that are named; whoever has to end them asks again.
const NAMED: usize = 10;

/// What one connection has of a queue.
#[derive(Default)]
struct Held {
    handles: usize,
    puts: usize,
    gets: usize,
}

impl Held {
    fn of(session: &SessionInner, queue: &Arc<Queue>) -> Held {
        let state = session.state.lock();
        let is_it = |target: &Target| match target {
            Target::Queue { queue: open, .. } => Arc::ptr_eq(open, queue),
            Target::Remote { transmission, .. } => Arc::ptr_eq(transmission, queue),
            Target::Qmgr | Target::Definition => false,
        };
        let mut held = Held {
            handles: state.handles.iter().filter(|h| is_it(&h.target)).count(),
            ..Held::default()
        };
        if let Some(unit) = &state.unit {
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

    fn in_words(&self) -> String {
        let counted = [
            (self.handles, "open handle", "open handles"),
            (self.puts, "uncommitted put", "uncommitted puts"),
            (self.gets, "uncommitted get", "uncommitted gets"),
        ];
        let counted = counted.iter().filter(|(count, ..)| *count > 0);
        let words = counted.map(|(count, one, many)| match count {
            1 => format!("one {one}"),
            count => format!("{count} {many}"),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The inserts of AMQ2403I for each connection that holds the queue: application, user, connection,
/// what it has.
pub(super) fn holders(qm: &Inner, queue: &Arc<Queue>) -> Vec<[String; 4]> {
    let mut sessions = qm.sessions();
    sessions.sort_by_key(|session| session.id);
    let named = sessions.iter().filter_map(|session| {
        let held = Held::of(session, queue).in_words();
        (!held.is_empty()).then(|| {
            [
                session.who.name.clone(),
                session.who.user.clone(),
                format!("{:016X}", qm.connection_number(session.id)),
                held,
            ]
        })
    });
    let branches = qm.units.branches().into_iter();
    let branches = branches.filter_map(|(xid, unit)| {
        let held = Held::of_branch(&unit, queue).in_words();
        let branch = || {
            [
                "branch in doubt".to_owned(),
                String::new(),
                xid.to_string(),
                held.clone(),
            ]
        };
        (!held.is_empty()).then(branch)
    });
    named.chain(branches).take(NAMED).collect()
}
