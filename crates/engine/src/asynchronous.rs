//! Asynchronous puts: what became of them, for MQSTAT, and for the commit that must not happen.
//!
//! Invariants:
//! * An asynchronous put is one with MQPMO_ASYNC_RESPONSE: its application is not told how it ended. Each is counted once,
//!   by the verb itself, or, where it never became a call, by [`Session::put_refused`].
//! * A unit of work in which an asynchronous put of a message that may be persistent has failed is never committed:
//!   MQCMIT and MQDISC back it out and say 2003 (manual: "MQPMO_ASYNC_RESPONSE"). The unit of work itself knows, so no
//!   front has to.
//! * The first failure since MQSTAT was called last, or else the first warning, is kept (MQSTAT, "MQSTS").

use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Name, Od, Pmo, Reason, Sts};

use crate::async_puts::Destination;
use crate::handles::{Handle, Target};
use crate::plant::{Bug, planted};
use crate::session::{Session, SessionInner};
use crate::verbs::{Done, Verb, persistence_of, persistence_to};

impl Destination {
    fn of_handle(handle: &Handle) -> Destination {
        let (object, q_mgr) = match &handle.target {
            // Without a definition here there is only what the application said.
            Target::Remote {
                definition: None,
                names,
                ..
            } => **names,
            _ => (Name::new(handle.opened.name()), Name::default()),
        };
        let object_type = match &handle.target {
            Target::Qmgr => MQOT_Q_MGR,
            Target::Topic(_) => MQOT_TOPIC,
            _ => MQOT_Q,
        };
        let string = match &handle.target {
            Target::Topic(topic) => topic.string.to_string(),
            _ => String::new(),
        };
        Destination {
            object_type,
            object,
            string,
            q_mgr,
        }
    }

    /// Of a topic its whole string, as far as there is a topic object to begin with.
    fn named(session: &SessionInner, od: &Od) -> Destination {
        let topic = match od.object_type {
            MQOT_TOPIC => session.resolve_topic(od, MQOO_OUTPUT).ok(),
            _ => None,
        };
        let string = match topic.map(|resolved| resolved.target) {
            Some(Target::Topic(topic)) => topic.string.clone(),
            _ => od.object_string.clone(),
        };
        Destination {
            object_type: od.object_type,
            object: od.object_name,
            string,
            q_mgr: od.object_q_mgr_name,
        }
    }
}

/// Whether a message that was not put was a persistent one. What its queue says is asked only where the message
/// leaves it open; where nobody can say, it counts as persistent.
fn may_be_persistent(md: &Md, resolved: impl FnOnce() -> Option<i32>) -> bool {
    let persistence = match md.persistence {
        MQPER_PERSISTENCE_AS_Q_DEF => resolved(),
        stated => Some(stated),
    };
    persistence != Some(MQPER_NOT_PERSISTENT)
}

/// What a verb says of a put, as MQSTAT counts it.
fn outcome(result: &Verb<()>) -> Result<Reason, Reason> {
    match result {
        Ok(Done { warning, .. }) => Ok(*warning),
        Err(reason) => Err(*reason),
    }
}

impl SessionInner {
    /// An MQPUT has ended.
    pub(crate) fn put_ended(&self, hobj: Hobj, md: &Md, pmo: &Pmo, result: &Verb<()>) {
        self.tell_refusal(result);
        if pmo.options & MQPMO_ASYNC_RESPONSE != 0 && !self.succeeded(result) {
            let (to, persistence) = {
                let mut state = self.lock();
                let handle = state.handles.get(hobj).ok();
                let to = handle.as_deref().map(Destination::of_handle);
                (to, handle.and_then(|handle| persistence_of(handle, md)))
            };
            let persistent = || may_be_persistent(md, || persistence);
            self.went_wrong(to, pmo, outcome(result), persistent);
        }
    }

    /// An MQPUT1 has ended.
    pub(crate) fn put1_ended(&self, od: &Od, md: &Md, pmo: &Pmo, result: &Verb<()>) {
        self.tell_refusal(result);
        if pmo.options & MQPMO_ASYNC_RESPONSE != 0 && !self.succeeded(result) {
            let persistent = || may_be_persistent(md, || persistence_to(&self.qm, od, md));
            let to = Some(Destination::named(self, od));
            self.went_wrong(to, pmo, outcome(result), persistent);
        }
    }

    /// The operator has to know of a full disk, whoever is told.
    fn tell_refusal(&self, result: &Verb<()>) {
        if matches!(result, Err(Reason::Q_SPACE_NOT_AVAILABLE)) {
            let qm = &self.qm;
            qm.alerts.no_space(&qm.home.room, qm.clock.now());
        }
    }

    fn succeeded(&self, result: &Verb<()>) -> bool {
        let success = matches!(result, Ok(done) if done.warning == Reason::NONE);
        if success {
            self.lock().async_puts.succeeded();
        }
        success
    }

    fn went_wrong(
        &self,
        to: Option<Destination>,
        pmo: &Pmo,
        result: Result<Reason, Reason>,
        persistent: impl FnOnce() -> bool,
    ) {
        let in_unit = pmo.options & MQPMO_SYNCPOINT != 0;
        // Of a distribution list a queue may have missed it while others have it.
        let misses = match result {
            Ok(warning) => warning == Reason::MULTIPLE_REASONS && !planted(Bug::ForgetMiss),
            Err(_) => true,
        };
        let dooms = misses && in_unit && persistent();
        let mut state = self.lock();
        if dooms && !state.is_released() {
            self.unit(&mut state, false).lock().doomed = true;
        }
        state.async_puts.went_wrong(to, pmo, result);
    }
}

impl Session {
    /// An asynchronous put has come that cannot be carried out, so that there was no call of MQPUT: it counts as one that
    /// failed, and of its message nothing is known.
    pub fn put_refused(&self, options: i32, reason: Reason) {
        let pmo = Pmo {
            options,
            ..Pmo::default()
        };
        self.inner().went_wrong(None, &pmo, Err(reason), || true);
    }

    /// An MQPUT has come whose message the front refuses: it ends with `reason`.
    pub fn put_too_long(&self, hobj: Hobj, md: &Md, pmo: &Pmo, reason: Reason) -> Reason {
        self.inner().put_ended(hobj, md, pmo, &Err(reason));
        reason
    }

    /// The same of an MQPUT1.
    pub fn put1_too_long(&self, od: &Od, md: &Md, pmo: &Pmo, reason: Reason) -> Reason {
        self.inner().put1_ended(od, md, pmo, &Err(reason));
        reason
    }

    /// MQSTAT: what has become of asynchronous puts since it was called last, in the version that was asked for.
    ///
    /// # Errors
    /// 2430 another kind; 2009, 2162 queue manager; 2018 connection.
    pub async fn stat(&self, kind: i32, version: i32) -> Result<Sts, Reason> {
        let session = self.inner();
        let _call = session.enter()?;
        if kind != MQSTAT_TYPE_ASYNC_ERROR {
            return Err(Reason::STAT_TYPE_ERROR);
        }
        // Until then nobody knows what will have become of them.
        session.settled().await?;
        Ok(session.lock().async_puts.take(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_persistent_counts_as_persistent() {
        let persistent = MQPER_PERSISTENT;
        let as_queue = MQPER_PERSISTENCE_AS_Q_DEF;
        for (stated, resolved, expected) in [
            (persistent, Some(MQPER_NOT_PERSISTENT), true),
            (MQPER_NOT_PERSISTENT, Some(persistent), false),
            (as_queue, Some(persistent), true),
            (as_queue, Some(MQPER_NOT_PERSISTENT), false),
            (as_queue, None, true),
        ] {
            let md = Md {
                persistence: stated,
                ..Md::default()
            };
            assert_eq!(may_be_persistent(&md, || resolved), expected, "{stated}");
        }
    }
}
