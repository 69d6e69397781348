//! MQCMIT, MQBACK, MQDISC: a unit of work ends.

use std::sync::Arc;

use posthaste_mqi::Reason;

use super::{Done, Verb};
use crate::meter::Count;
use crate::session::{Session, SessionInner};
use crate::signal::either;
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;
use crate::unit::{Backout, Commit, Stage, Unit};

impl SessionInner {
    async fn commit(&self) -> Verb<()> {
        self.settled().await?;
        let qm = &self.qm;
        let mut log_space_wait = LogSpaceWait::new();
        loop {
            let unit = {
                let mut state = self.lock();
                let unit = state.unit.take();
                state.counts.commits += u64::from(unit.is_some());
                unit
            };
            let Some(unit) = unit else {
                return Ok(Done::ok(()));
            };
            match unit.begin_commit(qm) {
                Commit::Appended(end) => {
                    let pending = Pending {
                        qm,
                        end,
                        effect: Some(Effect::Commit(unit)),
                    };
                    pending.done().await?;
                    qm.home.counters.one(Count::Commits);
                    return Ok(Done::ok(()));
                }
                Commit::BackedOut => return Err(Reason::BACKED_OUT),
                Commit::Doomed => {
                    // Rare, so it takes its room only when it happens.
                    Box::pin(self.back_out(unit)).await?;
                    return Err(Reason::BACKED_OUT);
                }
                Commit::Refused(error) => {
                    self.keep_unit(unit);
                    log_space_wait.wait(qm, error).await?;
                }
            }
        }
    }

    /// A commit that could not begin: the session keeps the key.
    fn keep_unit(&self, unit: Arc<Unit>) {
        let mut state = self.lock();
        state.unit = Some(unit);
        state.counts.commits -= 1;
    }

    /// MQBACK, of a unit of work whose key has been given up.
    pub(super) async fn back_out(&self, unit: Arc<Unit>) -> Result<(), Reason> {
        let backout = unit.begin_backout(&self.qm);
        let backout = backout.map_err(|_| Reason::CONNECTION_BROKEN)?;
        self.finish_backout(unit, backout).await
    }

    /// The same, once it has begun.
    pub(super) async fn finish_backout(
        &self,
        unit: Arc<Unit>,
        backout: Backout,
    ) -> Result<(), Reason> {
        match backout {
            Backout::Done => return Ok(()),
            Backout::Now => unit.undo(&self.qm),
            Backout::Once(end) => {
                self.lock().backing_out = Some(Arc::clone(&unit));
                let pending = Pending {
                    qm: &self.qm,
                    end,
                    effect: Some(Effect::Backout(unit)),
                };
                pending.done().await?;
                self.lock().backing_out = None;
            }
        }
        self.qm.home.counters.one(Count::Backouts);
        Ok(())
    }

    /// Waits for the backout of a call that was given up.
    async fn backed_out(&self) {
        let unit = self.lock().backing_out.take();
        if let Some(unit) = unit {
            self.ended(&unit).await;
        }
    }

    /// Waits for the end of a unit of work that has begun to end, or of the queue manager.
    pub(crate) async fn ended(&self, unit: &Unit) {
        let qm = &self.qm;
        loop {
            let happened = qm.tickets.happened.listen();
            let changed = qm.lifecycle.changed.listen();
            let over = || unit.lock().stage == Stage::Ended;
            if over() || !qm.settle().await || over() || qm.lifecycle.ended() {
                return;
            }
            either(happened, changed).await;
        }
    }

    fn has_no_branch(&self) -> Result<(), Reason> {
        match self.lock().branch {
            None => Ok(()),
            Some(_) => Err(Reason::ENVIRONMENT_ERROR),
        }
    }

    async fn back_out_own(&self) -> Verb<()> {
        let unit = {
            let mut state = self.lock();
            let unit = state.unit.take();
            state.branch = None;
            state.counts.backouts += u64::from(unit.is_some());
            unit
        };
        if let Some(unit) = unit {
            self.back_out(unit).await?;
        }
        Ok(Done::ok(()))
    }
}

impl Session {
    /// MQCMIT. When it returns without error, every persistent put and get of the unit of work is
    /// forced to the log.
    ///
    /// # Errors
    /// 2012 the connection works on a branch (XA), whose end is for its transaction manager to decide;
    /// 2003 the system had backed the unit of work out, or does so now because an asynchronous put in it has failed;
    /// 2102 the log is full (the unit of work stays); 2009 the outcome is decided by the restart.
    pub async fn commit(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        session.has_no_branch()?;
        session.commit().await
    }

    /// Waits until it is forced that the unit of work has got what it has, so that after a crash these messages come back with
    /// a higher backout count, as HARDENBO promises of an end that is no crash: for who does next what may end the process.
    ///
    /// # Errors
    /// 2009 the queue manager stopped.
    pub async fn harden_gets(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let qm = &session.qm;
        if let Err(error) = qm.log.force(qm.log.appended()).await {
            qm.log_failed(&error);
            return Err(Reason::CONNECTION_BROKEN);
        }
        Ok(Done::ok(()))
    }

    /// MQBACK.
    ///
    /// # Errors
    /// 2012 as for [`Session::commit`]; 2009 the queue manager stopped.
    pub async fn backout(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        session.has_no_branch()?;
        session.back_out_own().await
    }

    /// MQDISC: commits and ends the connection. A branch (XA) that it works on is backed out.
    ///
    /// # Errors
    /// Those of [`Session::commit`]; the connection has ended all the same. 2003 comes as a warning.
    pub async fn disconnect(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let committed = match session.has_no_branch() {
            Ok(()) => session.commit().await,
            Err(_) => match session.back_out_own().await {
                Ok(_) => Err(Reason::BACKED_OUT),
                failed => failed,
            },
        };
        session.leave_branches(true);
        session.release();
        match committed {
            Err(Reason::BACKED_OUT) => Ok(Done {
                value: (),
                warning: Reason::BACKED_OUT,
            }),
            other => other,
        }
    }

    /// The connection is lost: backs out, closes everything, deletes temporary dynamic queues.
    pub async fn terminate(&self) {
        let session = self.inner();
        // Waits only where backout counts are hardened; when the queue manager has stopped there is
        // nothing left to wait for.
        let call = session.occupy();
        if call.is_some() {
            session.backed_out().await;
            let _ = session.back_out_own().await;
            for unit in session.leave_branches(false) {
                session.ended(&unit).await;
            }
        }
        session.release();
    }
}
