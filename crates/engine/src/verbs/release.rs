//! What is given up when a handle or a connection ends.
//!
//! Invariants: a handle is counted out of its queue once. When a connection has ended, its unit of work is backed out,
//! its handles are closed, its temporary dynamic queues are deleted, and nobody finds it any more.

use std::sync::Arc;

use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use posthaste_recovery_log::LogError;

use crate::consume::waiter::Wakes;
use crate::delivery;
use crate::handles::{Handle, Open, OpenList, Target};
use crate::plant::{Bug, planted};
use crate::session::SessionInner;
use crate::unit::effect::Effect;
use crate::unit::{Backout, Unit};

/// Takes a handle out of its queue's counts.
pub(crate) fn count_out(target: &Target, options: i32) {
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    match target {
        Target::Queue { queue, .. } => {
            let mut state = queue.lock();
            if options & input != 0 {
                state.open_input -= 1;
                state.exclusive = false;
            }
            if options & MQOO_BROWSE != 0 {
                state.open_browse -= 1;
                if options & MQOO_CO_OP != 0 {
                    state.co_op_closed();
                }
            }
            if options & MQOO_OUTPUT != 0 {
                state.open_output -= 1;
            }
            if options & (input | MQOO_BROWSE | MQOO_OUTPUT) == 0 {
                state.open_browse -= 1;
            }
        }
        Target::Remote { transmission, .. } => transmission.lock().open_output -= 1,
        Target::Topic(_) | Target::Qmgr | Target::Definition => {}
    }
}

/// Ends a handle without options: as a broken connection does, and as MQCLOSE with MQCO_NONE.
/// Returns true when the handle's temporary dynamic queue went with it.
pub(crate) fn release(
    session: &Arc<SessionInner>,
    hobj: Hobj,
    handle: &Handle,
    wakes: &mut Wakes,
) -> bool {
    session.end_consumers(Some(hobj), Reason::HOBJ_ERROR);
    if let Target::Queue { queue, .. } = &handle.target {
        let mut state = queue.lock();
        state.browse_unlock((session.id, hobj), wakes);
        state.forget_marks_of((session.id, hobj));
    }
    count_out(&handle.target, handle.options);
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    if handle.options & input != 0
        && let Target::Queue { queue, .. } = &handle.target
    {
        delivery::input_closed(&session.qm, queue);
    }
    let Target::Queue { queue, .. } = &handle.target else {
        return false;
    };
    session.qm.delete_abandoned(queue);
    handle.created_queue && session.qm.delete_temporary(queue)
}

/// Ends all handles of a list.
pub(super) fn release_list(
    session: &Arc<SessionInner>,
    hobj: Hobj,
    list: &OpenList,
    wakes: &mut Wakes,
) {
    for handle in list.opened() {
        release(session, hobj, handle, wakes);
    }
}

impl SessionInner {
    /// A backout that no call waits for. Returns the unit of work if that goes on until the log has it.
    fn see_through(
        &self,
        unit: Arc<Unit>,
        backout: Result<Backout, LogError>,
    ) -> Option<Arc<Unit>> {
        match backout {
            // The log has stopped, and the queue manager with it.
            Err(_) | Ok(Backout::Done) => {}
            Ok(Backout::Once(end)) => {
                self.qm.detach(end, Effect::Backout(Arc::clone(&unit)));
                return Some(unit);
            }
            Ok(Backout::Now) => unit.undo(&self.qm),
        }
        None
    }

    /// The connection works on no branch any more, and will not see to the end of those that it has worked on: unless it
    /// has ended in order, a branch of which nobody else knows is backed out. Returns those whose backout goes on until
    /// the log has it.
    pub(crate) fn leave_branches(&self, in_order: bool) -> Vec<Arc<Unit>> {
        let worked_on = self.lock().worked_on.take();
        let mut going_on = Vec::new();
        if planted(Bug::KeepBranch) {
            return going_on;
        }
        for unit in worked_on {
            unit.left_by(self.id, in_order, &self.qm, |unit, backout| {
                going_on.extend(self.see_through(unit, backout));
            });
        }
        going_on
    }

    /// As [`Self::release`], for an end: `None` while a verb runs, or a delivery is being accepted, also where that has released
    /// what the application has left: then nobody waits for units of work whose backout goes on.
    pub(crate) fn release_if_idle(self: &Arc<Self>) -> Option<Vec<Arc<Unit>>> {
        let call = self.occupy()?;
        if !self.is_accepting() {
            return Some(self.release());
        }
        drop(call);
        // Whoever had the last clone may have let it go in between, and found the session busy. Asked under the lock, under which
        // that was noted before: one of the two sees the other.
        if self.lock().is_abandoned()
            && let Some(_call) = self.occupy()
        {
            self.release();
        }
        None
    }

    /// Backs out, closes every handle and forgets the connection. Returns the units of work whose backout goes on until the
    /// log has it.
    pub(crate) fn release(self: &Arc<Self>) -> Vec<Arc<Unit>> {
        self.end();
        self.end_consumers(None, Reason::HCONN_ERROR);
        let unit = {
            let mut state = self.lock();
            state.release()
        };
        let own = unit.and_then(|unit| {
            let backout = unit.begin_backout(&self.qm);
            self.see_through(unit, backout)
        });
        let mut going_on = self.leave_branches(false);
        going_on.extend(own);
        let opened = {
            let mut state = self.lock();
            let all = state.handles.all();
            all.into_iter()
                .filter_map(|hobj| state.handles.remove(hobj).ok().map(|open| (hobj, open)))
                .collect::<Vec<_>>()
        };
        let mut wakes = Wakes::default();
        for (hobj, open) in opened {
            match open {
                Open::Object(handle) => {
                    release(self, hobj, &handle, &mut wakes);
                }
                Open::List(list) => release_list(self, hobj, &list, &mut wakes),
                Open::Subscription(opened) => self.qm.end_use(&opened.id, self.id),
            }
        }
        wakes.wake();
        self.connections.remove(self.id);
        going_on
    }
}
