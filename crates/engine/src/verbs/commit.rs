//! MQCMIT, MQBACK, MQDISC: a unit of work ends.

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, LogError, Lsn};

use super::send::Patience;
use super::{Done, Verb};
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::record;
use crate::session::{Session, SessionInner};
use crate::uow::{Effect, Pending, Uow};

/// What a commit finds.
enum Step {
    /// There is no unit of work.
    Nothing,
    /// A message of it is missing: it is backed out instead.
    Doomed,
    /// Its record, if it needs one, has been appended up to there.
    Appended(Box<Uow>, Lsn),
    /// The log is full.
    Full,
}

impl SessionInner {
    fn try_commit(&self) -> Result<Step, Reason> {
        let qm = &self.qm;
        let mut state = self.lock();
        if std::mem::take(&mut state.rolled_back) {
            return Err(Reason::BACKED_OUT);
        }
        let Some(mut uow) = state.uow.take() else {
            return Ok(Step::Nothing);
        };
        let doomed = uow.doomed && !planted(Bug::CommitDoomed);
        let step = match uow.logged {
            _ if doomed => Ok(Step::Doomed),
            false => return Ok(Step::Appended(uow, Lsn(0))),
            true => match qm.log.append(Class::Essential, &[&record::commit(uow.id)]) {
                Ok(appended) => {
                    uow.settle(qm);
                    return Ok(Step::Appended(uow, appended.end));
                }
                Err(LogError::Full) => Ok(Step::Full),
                Err(error) => Err(error),
            },
        };
        state.uow = Some(uow);
        drop(state);
        step.map_err(|error| {
            qm.log_failed(&error);
            Reason::CONNECTION_BROKEN
        })
    }

    async fn commit(&self) -> Verb<()> {
        let qm = &self.qm;
        let mut patience = Patience::new();
        loop {
            match self.try_commit()? {
                Step::Nothing => return Ok(Done::ok(())),
                Step::Doomed => {
                    // Rare, so it takes its room only when it happens.
                    Box::pin(self.back_out()).await?;
                    return Err(Reason::BACKED_OUT);
                }
                Step::Appended(uow, end) => {
                    let pending = Pending {
                        qm,
                        end,
                        effect: Some(Effect::Commit(uow)),
                    };
                    pending.done().await?;
                    qm.home.stages.one(Count::Commits);
                    return Ok(Done::ok(()));
                }
                Step::Full => patience.wait(qm, LogError::Full).await?,
            }
        }
    }

    async fn back_out(&self) -> Verb<()> {
        let uow = {
            let mut state = self.lock();
            state.rolled_back = false;
            state.uow.take()
        };
        let Some(mut uow) = uow else {
            return Ok(Done::ok(()));
        };
        self.qm.home.stages.one(Count::Backouts);
        let end = uow.log_backout(&self.qm);
        match end.map_err(|_| Reason::CONNECTION_BROKEN)? {
            Some(end) if uow.hardens() => {
                let pending = Pending {
                    qm: &self.qm,
                    end,
                    effect: Some(Effect::Backout(uow)),
                };
                pending.done().await?;
            }
            _ => uow.undo(&self.qm),
        }
        Ok(Done::ok(()))
    }
}

impl Session {
    /// MQCMIT. When it returns without error, every persistent put and get of the unit of work is
    /// forced to the log.
    ///
    /// # Errors
    /// 2003 the system had backed the unit of work out, or does so now because an asynchronous put in it has failed; 2102 the log is full (the unit of work
    /// stays); 2009 the outcome is decided by the restart.
    pub async fn commit(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        session.commit().await
    }

    /// MQBACK.
    ///
    /// # Errors
    /// 2009 the queue manager stopped.
    pub async fn backout(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        session.back_out().await
    }

    /// MQDISC: commits and ends the connection.
    ///
    /// # Errors
    /// Those of [`Session::commit`]; the connection has ended all the same. 2003 comes as a warning.
    pub async fn disconnect(&self) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let committed = session.commit().await;
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
            let _ = session.back_out().await;
        }
        session.release();
    }
}
