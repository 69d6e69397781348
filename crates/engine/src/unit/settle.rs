//! Tickets are settled: what the log has forced happens, and whoever depends on it waits.
//!
//! Invariants: those of [tickets](super::ticket).

use std::sync::Arc;

use posthaste_env::sync::atomic::Ordering;
use posthaste_mqi::Reason;
use posthaste_recovery_log::Lsn;

use super::effect::Effect;
use super::ticket::{Outstanding, Ticket, TicketHolder};
use crate::maintain::Watched;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::queue_manager::QueueManager;
use crate::session::SessionInner;
use crate::signal::either;

impl Inner {
    /// Takes out a ticket of an application that has gone.
    pub(crate) fn detach(&self, end: Lsn, effect: Effect) {
        self.tickets.add(Ticket::detached(end, effect));
        self.want_settling();
    }

    fn want_settling(&self) {
        match self.tickets.driven.load(Ordering::SeqCst) {
            true => self.tickets.wanted.raise(),
            false => self.kick.raise(),
        }
    }

    /// Lets the effects of tickets happen. Some may still be happening elsewhere when it returns.
    /// False: the log has stopped, and none will happen any more.
    pub(crate) async fn settle(self: &Arc<Self>) -> bool {
        let Some(last) = self.tickets.last() else {
            return true;
        };
        let forced = match self.log.force(last).await {
            Ok(forced) => forced,
            Err(error) => {
                self.log_failed(&error);
                return false;
            }
        };
        let ready = self.tickets.take(&forced);
        let count = ready.len();
        for Ticket {
            end,
            effect,
            holder,
        } in ready
        {
            if planted(Bug::DetachedTakenEarly) {
                effect.unpin(self);
            }
            if holder.is_none() {
                mark(Mark::DetachedApplied);
            }
            effect.happen(self, end, &forced);
            if let Some((session, bytes)) = holder
                && let Some(session) = session.upgrade()
            {
                session.outstanding().done(bytes);
            }
            self.log_space.note_progress(end);
        }
        if count > 0 {
            self.tickets.done(count);
        }
        if !self.tickets.driven.load(Ordering::SeqCst) && self.tickets.last().is_some() {
            self.kick.raise();
        }
        true
    }

    /// The same until there are none, or the queue manager has stopped.
    pub(crate) async fn settle_all(self: &Arc<Self>) {
        loop {
            let happened = self.tickets.happened.listen();
            let changed = self.lifecycle.changed.listen();
            if !self.settle().await || self.tickets.none() || self.lifecycle.ended() {
                return;
            }
            if self.tickets.are_happening() {
                // Whoever lets them happen may die of it, and the queue manager with him.
                either(happened, changed).await;
            }
        }
    }
}

impl SessionInner {
    /// Takes out a ticket for a message of this many bytes.
    pub(crate) fn take_out(self: &Arc<Self>, end: Lsn, effect: Effect, bytes: usize) {
        self.outstanding.add(bytes);
        let session: Arc<dyn TicketHolder> = Arc::clone(self) as Arc<dyn TicketHolder>;
        let holder = Arc::downgrade(&session);
        let ticket = Ticket {
            end,
            effect,
            holder: Some((holder, bytes)),
        };
        if self.qm.tickets.add(ticket) {
            self.qm.want_settling();
        }
    }

    /// Whether what is put now has to stand behind what is on its way.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.outstanding.any()
    }

    /// Waits until nothing of the connection is on its way.
    ///
    /// # Errors
    /// 2009 the queue manager has stopped: what has become of it is for the restart to decide.
    pub(crate) async fn settled(&self) -> Result<(), Reason> {
        if planted(Bug::ForgetTickets) || !self.outstanding.any() {
            return Ok(());
        }
        // Rare, so it takes its room only when it happens.
        Box::pin(self.until(|outstanding| !outstanding.any())).await
    }

    /// Waits while too much of the connection is on its way.
    ///
    /// # Errors
    /// As [`Self::settled`].
    pub(crate) async fn room_for_ticket(&self) -> Result<(), Reason> {
        if !self.outstanding.over(1) {
            return Ok(());
        }
        // Until there is less by half, so that the two sides do not take turns message by message.
        Box::pin(self.until(|outstanding| !outstanding.over(2))).await
    }

    async fn until(&self, enough: impl Fn(&Outstanding) -> bool) -> Result<(), Reason> {
        loop {
            let fewer = self.outstanding.fewer.listen();
            let changed = self.qm.lifecycle.changed.listen();
            let late = planted(Bug::AwaitedLate);
            self.outstanding.awaited.store(!late, Ordering::SeqCst);
            if enough(&self.outstanding) {
                return Ok(());
            }
            if self.qm.lifecycle.ended() {
                return Err(Reason::CONNECTION_BROKEN);
            }
            self.outstanding.awaited.store(true, Ordering::SeqCst);
            either(fewer, changed).await;
        }
    }
}

impl QueueManager {
    /// Lets happen what the log has forced and no call waits for, asynchronous puts above all, until the queue manager
    /// ends. Drive it on a thread or task of its own: where nobody does, [`QueueManager::maintain`] sees to it, but not
    /// while it takes a checkpoint.
    pub async fn settle(&self) {
        let _watched = Watched(self, "settling of asynchronous puts panicked");
        let inner = self.inner();
        inner.tickets.driven.store(true, Ordering::SeqCst);
        loop {
            let wanted = inner.tickets.wanted.listen();
            let changed = inner.lifecycle.changed.listen();
            let happened = inner.tickets.happened.listen();
            if inner.lifecycle.ended() || !inner.settle().await {
                inner.tickets.driven.store(false, Ordering::SeqCst);
                return;
            }
            if inner.tickets.last().is_none() {
                either(wanted, changed).await;
            } else if inner.tickets.are_happening() {
                either(happened, changed).await;
            }
        }
    }
}
