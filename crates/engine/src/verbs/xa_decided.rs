//! What whoever audits is given of the decisions of applications about branches of global transactions.
//!
//! Invariants: a decision about a branch that is not the connection's own is one event, with what came of it, also where the
//! application goes away before that is known; so is work on one that is refused because another user has begun it. Of a connection's own
//! branches there is none: it would be one for each transaction. A prepare is such a decision, for whoever prepares a branch makes it his own.

use posthaste_mqi::{Reason, Xid};

use crate::application::Application;
use crate::audit::{AuditEvent, AuditKind};
use crate::manager::Inner;
use crate::session::SessionInner;
use crate::unit::outcome::BranchError;

/// A decision that is being carried out.
pub(super) struct Deciding<'a> {
    qm: &'a Inner,
    /// None: the branch is the connection's own, or there is none.
    event: Option<AuditEvent>,
}

impl<'a> Deciding<'a> {
    /// A connection decides by a call with these flags.
    pub(super) fn begin(
        session: &'a SessionInner,
        xid: &Xid,
        (call, flags): (&'static str, u32),
    ) -> Deciding<'a> {
        let (qm, who) = (&*session.qm, &*session.who);
        let unit = qm.units.branch(xid);
        let standing = unit.map(|unit| unit.standing(session.id, &who.user));
        let event = standing.filter(|standing| !standing.is_own);
        let event = event.map(|standing| AuditEvent {
            who: Application::clone(who),
            call,
            options: flags.cast_signed(),
            object: xid.to_string(),
            owner: standing
                .owner
                .map_or_else(String::new, |by| by.user.clone()),
            because: "the application went away before it was known what came of it".to_owned(),
            ..AuditEvent::new(AuditKind::BranchDecided, Reason::CONNECTION_BROKEN)
        });
        Deciding { qm, event }
    }

    /// This has come of it.
    pub(super) fn done<T>(mut self, result: Result<T, BranchError>) -> Result<T, BranchError> {
        if let Some(event) = &mut self.event {
            (event.reason, event.because) = match &result {
                Ok(_) => (Reason::NONE, String::new()),
                Err(error) => (error.reason(), error.to_string()),
            };
        }
        result
    }
}

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.qm.operator.audit(event);
        }
    }
}
