//! MQCMIT, MQBACK, MQDISC: a unit of work ends.

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, LogError, Lsn};

use super::send::Patience;
use super::{Done, Verb};
use crate::meter::Count;
use crate::record;
use crate::session::{Session, SessionInner};
use crate::uow::{Effect, Pending};

impl SessionInner {
    async fn commit(&self) -> Verb<()> {
        let qm = &self.qm;
        let mut patience = Patience::new();
        loop {
            let (uow, end) = {
                let mut state = self.lock();
                if std::mem::take(&mut state.rolled_back) {
                    return Err(Reason::BACKED_OUT);
                }
                let Some(uow) = state.uow.as_mut() else {
                    return Ok(Done::ok(()));
                };
                let mut end = Ok(Lsn(0));
                if uow.logged {
                    let commit = record::commit(uow.id);
                    end = qm
                        .log
                        .append(Class::Essential, &[&commit])
                        .map(|appended| appended.end);
                    if end.is_ok() {
                        uow.settle(qm);
                    }
                }
                match end {
                    Ok(end) => (state.uow.take(), end),
                    Err(LogError::Full) => (None, Lsn(0)),
                    Err(error) => {
                        drop(state);
                        qm.log_failed(&error);
                        return Err(Reason::CONNECTION_BROKEN);
                    }
                }
            };
            match uow {
                Some(uow) => {
                    let pending = Pending {
                        qm,
                        end,
                        effect: Some(Effect::Commit(uow)),
                    };
                    pending.done().await?;
                    qm.home.stages.one(Count::Commits);
                    return Ok(Done::ok(()));
                }
                None => patience.wait(qm, LogError::Full).await?,
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
    /// 2003 the system had backed the unit of work out; 2102 the log is full (the unit of work
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
