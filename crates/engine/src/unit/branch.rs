//! Branches of global transactions (XA): units of work that somebody else decides about.
//!
//! Invariants:
//! * It has its identifier from its beginning ([`ongoing`](super::ongoing)) until all of its end has happened. Before it
//!   is prepared it is a unit of work like any other: a crash undoes it, and so does a log that is full.
//! * Once [`Unit::prepared`] has happened, its `Prepare` record being forced, a unit of work is in doubt until it is
//!   resolved: over the end of its connection and over restarts. What it has put and got stays in hand.
//! * While it is in doubt each image carries it, and it pins nothing: the log moves past it. The record that resolves it
//!   has a pin until all of that has happened, so that a restart from an image that carries the unit of work meets that
//!   record.
//! * A heuristic completion is remembered under the branch's identifier, carried like one in doubt, until it is
//!   forgotten.
//! * Ends of branches are not promised room in the log, they wait for it: a backout that only a restart would do is no
//!   backout here.

use std::sync::Arc;

use posthaste_mqi::Reason;
pub use posthaste_mqi::Xid;
use posthaste_recovery_log::{Class, LogError, Lsn};

use super::branches::{LeftPlace, MOST_LEFT};
use super::effect::Effect;
use super::ongoing::{Ongoing, Start};
pub use super::outcome::{BranchError, Outcome};
use super::{Backout, Commit, Stage, Unit, Units, Work};
use crate::application::Application;
use crate::manager::Inner;
use crate::record;

/// What a prepare comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// The branch is in doubt, whatever happens, until it is resolved.
    Prepared,
    /// There was nothing to do, and the branch has ended.
    ReadOnly,
}

/// What an operator sees of a branch that is not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InDoubt {
    /// Its identifier.
    pub xid: Xid,
    /// When its unit of work began, microseconds since 1970.
    pub started: i64,
    /// How it was completed heuristically, if it was.
    pub heuristic: Option<Outcome>,
}

/// The connection by which a branch was prepared, and whose that was.
pub(crate) struct Preparer {
    pub(crate) session: u64,
    pub(crate) who: Arc<Application>,
}

/// Whose a branch is, as seen by a connection that decides about it.
pub(crate) struct Standing {
    /// The connection has prepared it, or, while it is not prepared, has worked on it, and its user has begun it.
    pub(crate) is_own: bool,
    /// Who has prepared it, or begun it if it is not prepared; none: a restart has found it.
    pub(crate) owner: Option<Arc<Application>>,
}

/// What is to become of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    Decided(Outcome),
    Heuristic(Outcome),
    Forgotten,
}

/// What is to become of a branch that is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Prepare,
    Commit,
    Backout,
}

/// What has been begun with a branch that was idle.
pub(crate) enum Begun {
    Prepare(Prepare),
    Commit(Commit),
    /// It was wanted, or the branch cannot be committed.
    Backout(Backout),
}

/// What a prepare has come to so far.
pub(crate) enum Prepare {
    /// It is prepared once the log is forced up to there.
    Appended(Lsn),
    ReadOnly,
    BackedOut,
    Doomed,
    Refused(LogError),
}

impl Work {
    /// From now on no connection works on it as on a branch that is not prepared: what was known of those that did.
    pub(super) fn no_longer_ongoing(&mut self, qm: &Inner) -> Option<Box<Ongoing>> {
        let ongoing = self.ongoing.take()?;
        if let Some(place) = &ongoing.left {
            qm.units.branches.not_left(place);
        }
        Some(ongoing)
    }
}

impl Unit {
    /// A connection that is associated with no branch begins to work on this one, or goes on; whether it had not worked
    /// on it before.
    ///
    /// # Errors
    /// Those of [`Ongoing::associate`]; [`BranchError::Unknown`] it has ended; [`BranchError::Protocol`] it is prepared.
    pub(crate) fn associate(
        &self,
        session: u64,
        how: Start,
        qm: &Inner,
    ) -> Result<bool, BranchError> {
        let mut work = self.lock();
        match (work.stage, &mut work.ongoing) {
            (Stage::Active, Some(ongoing)) => {
                let is_new = ongoing.associate(session, how)?;
                if let Some(place) = ongoing.left.take() {
                    qm.units.branches.not_left(&place);
                }
                Ok(is_new)
            }
            (Stage::Ended | Stage::BackedOut, _) => Err(BranchError::Unknown),
            _ => Err(BranchError::Protocol),
        }
    }

    /// A connection that has worked on it has ended. What has to be backed out for that, this one or one that was left
    /// long ago, is given to `see_through`, without a lock.
    pub(crate) fn left_by(
        self: Arc<Self>,
        session: u64,
        in_order: bool,
        qm: &Inner,
        mut see_through: impl FnMut(Arc<Unit>, Result<Backout, LogError>),
    ) {
        let mut work = self.lock();
        let active = work.stage == Stage::Active;
        let Some(ongoing) = work.ongoing.as_mut() else {
            return;
        };
        if ongoing.leave(session, in_order) {
            let backout = self.begin_backout_of(&mut work, qm);
            drop(work);
            return see_through(self, backout);
        }
        if !active || !ongoing.is_abandoned() {
            return;
        }
        let (place, oldest) = qm.units.branches.leave(&ongoing.begun_by.user, &self);
        ongoing.left = Some(place);
        drop(work);
        if let Some((place, oldest)) = oldest {
            let backout = oldest.back_out_left(&place, qm);
            backout
                .into_iter()
                .for_each(|begun| see_through(Arc::clone(&oldest), begun));
        }
    }

    /// Begins to back out a branch that was left, if it is still as it was then.
    fn back_out_left(&self, place: &LeftPlace, qm: &Inner) -> Option<Result<Backout, LogError>> {
        let mut work = self.lock();
        let ongoing = work
            .ongoing
            .as_mut()
            .filter(|o| o.left.as_ref() == Some(place))?;
        let inserts = [ongoing.xid.to_string(), MOST_LEFT.to_string()];
        let backout = self.begin_backout_of(&mut work, qm);
        drop(work);
        // Unless its transaction manager has just decided about it.
        if !matches!(backout, Ok(Backout::Done)) {
            qm.operator.message("AMQ2078W", &inserts);
        }
        Some(backout)
    }

    /// Begins to prepare it under an identifier that is its own already; after [`Prepare::Appended`] the caller sees it
    /// through.
    pub(crate) fn begin_prepare(&self, qm: &Inner, xid: &Xid) -> Prepare {
        self.begin_prepare_of(&mut self.lock(), qm, xid)
    }

    fn begin_prepare_of(&self, work: &mut Work, qm: &Inner, xid: &Xid) -> Prepare {
        if work.stage == Stage::BackedOut {
            return Prepare::BackedOut;
        }
        if work.doomed {
            return Prepare::Doomed;
        }
        if work.ops.is_empty() {
            self.leave(work, qm);
            return Prepare::ReadOnly;
        }
        self.pin(work, qm);
        match qm.log.append(
            Class::Essential,
            &[&record::prepare(self.id, self.started, xid)],
        ) {
            Ok(appended) => {
                work.note(appended.start, 0, qm);
                work.settle(qm);
                work.xid = Some(xid.clone());
                work.no_longer_ongoing(qm);
                work.stage = Stage::Ending;
                Prepare::Appended(appended.end)
            }
            Err(error) => {
                self.not_appended(work, qm);
                Prepare::Refused(error)
            }
        }
    }

    /// Begins to end a branch that nobody works on any more, and that is not prepared. What it comes to is for the caller
    /// to see through.
    ///
    /// # Errors
    /// [`BranchError::Protocol`] somebody works on it, or it is prepared; [`BranchError::Unknown`] it has ended; 2009 the
    /// log has stopped.
    pub(crate) fn begin_end_of_idle(
        &self,
        qm: &Inner,
        xid: &Xid,
        wanted: Wanted,
    ) -> Result<Begun, BranchError> {
        let mut work = self.lock();
        let backs_out = match (work.stage, &work.ongoing) {
            (Stage::Active, Some(ongoing)) if ongoing.is_idle() => {
                wanted == Wanted::Backout || ongoing.rollback_only || work.doomed
            }
            (Stage::Ended | Stage::BackedOut, _) => return Err(BranchError::Unknown),
            _ => return Err(BranchError::Protocol),
        };
        if backs_out {
            let backout = self.begin_backout_of(&mut work, qm);
            let backout = backout.map_err(|_| BranchError::Failed(Reason::CONNECTION_BROKEN))?;
            return Ok(Begun::Backout(backout));
        }
        Ok(match wanted {
            Wanted::Prepare => Begun::Prepare(self.begin_prepare_of(&mut work, qm, xid)),
            _ => Begun::Commit(self.begin_commit_of(&mut work, qm)),
        })
    }

    /// A connection has begun to prepare it.
    pub(crate) fn set_preparer(&self, preparer: Preparer) {
        self.lock().prepared_by = Some(preparer);
    }

    /// Whose it is to a connection of this number and user.
    pub(crate) fn standing(&self, session: u64, user: &str) -> Standing {
        let work = self.lock();
        let (is_own, owner) = match (&work.ongoing, &work.prepared_by) {
            (Some(ongoing), _) => {
                let begun_by = &ongoing.begun_by;
                let is_own = ongoing.workers().contains(&session) && begun_by.user == user;
                (is_own, Some(begun_by))
            }
            (None, Some(by)) => (by.session == session, Some(&by.who)),
            (None, None) => (false, None),
        };
        Standing {
            is_own,
            owner: owner.cloned(),
        }
    }

    /// Whether a user may work on it, and end it: of one that is not prepared it is whoever has begun it.
    pub(crate) fn is_for(&self, user: &str) -> bool {
        let work = self.lock();
        let ongoing = work.ongoing.as_ref();
        ongoing.is_none_or(|ongoing| ongoing.begun_by.user == user)
    }

    /// Whether it is being prepared, or further.
    pub(crate) fn is_prepared_or_later(&self) -> bool {
        self.lock().ongoing.is_none()
    }

    /// Whether it is not prepared, and nobody who has worked on it is connected.
    pub(crate) fn is_abandoned(&self) -> bool {
        let work = self.lock();
        work.ongoing.as_ref().is_some_and(|o| o.is_abandoned())
    }

    /// How it was completed heuristically, if it was.
    pub(crate) fn settled(&self) -> Option<Outcome> {
        match self.lock().stage {
            Stage::Settled(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Its `Prepare` record is durable.
    pub(crate) fn prepared(&self, qm: &Inner) {
        let mut work = self.lock();
        work.stage = Stage::Prepared;
        qm.units.carry(self.place);
    }

    /// Begins to resolve it: where the log has to be forced up to, and what happens then.
    ///
    /// # Errors
    /// The outer one: it cannot be resolved so. The inner one is the log's.
    pub(crate) fn begin_resolution(
        self: &Arc<Self>,
        qm: &Inner,
        resolution: Resolution,
    ) -> Result<Result<(Lsn, Effect), LogError>, BranchError> {
        let mut work = self.lock();
        match (work.stage, resolution) {
            (Stage::Prepared, Resolution::Decided(_) | Resolution::Heuristic(_))
            | (Stage::Settled(_), Resolution::Forgotten) => {}
            (Stage::Settled(outcome), _) => return Err(BranchError::Heuristic(outcome)),
            _ => return Err(BranchError::Protocol),
        }
        let unit = Arc::clone(self);
        let (record, effect) = match resolution {
            Resolution::Decided(Outcome::Committed) => {
                (record::commit(self.id).to_vec(), Effect::Commit(unit))
            }
            Resolution::Decided(Outcome::BackedOut) => (
                record::backout(self.id, &work.counts()),
                Effect::Backout(unit),
            ),
            Resolution::Heuristic(outcome) => {
                let counts = match outcome {
                    Outcome::Committed => Vec::new(),
                    Outcome::BackedOut => work.counts(),
                };
                let record = record::heuristic(self.id, outcome, &counts);
                (record, Effect::Settled(unit, outcome))
            }
            Resolution::Forgotten => (record::forgotten(self.id).to_vec(), Effect::Forgotten(unit)),
        };
        let pin = qm.units.hold(&qm.log, self.session);
        match qm.log.append(Class::Essential, &[&record]) {
            Ok(appended) => {
                work.stage = Stage::Ending;
                work.end_pin = Some(pin);
                Ok(Ok((appended.end, effect)))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// What is seen of it, once it is prepared for certain and until that is no longer so for certain.
    pub(crate) fn in_doubt(&self, xid: Xid) -> Option<InDoubt> {
        let work = self.lock();
        let heuristic = match work.stage {
            Stage::Settled(outcome) => Some(outcome),
            _ => None,
        };
        work.is_carried().then_some(InDoubt {
            xid,
            started: self.started,
            heuristic,
        })
    }
}

impl Units {
    /// What is seen of those that are prepared.
    pub(crate) fn in_doubt(&self) -> Vec<InDoubt> {
        let all = self.branches().into_iter();
        all.filter_map(|(xid, unit)| unit.in_doubt(xid)).collect()
    }
}
