//! What a connection remembers beside its session: the asynchronous puts that MQSTAT asks about, and what its handles
//! are open on.
//!
//! Invariant: a unit of work in which an asynchronous put of a persistent message has failed is never committed; who
//! tries is told 2003 and finds the reason with MQSTAT (manual: "MQPMO_ASYNC_RESPONSE").

use std::collections::BTreeMap;

use posthaste_engine::{Session, Verb};
use posthaste_mqi::constants::{
    MQPER_NOT_PERSISTENT, MQPER_PERSISTENCE_AS_Q_DEF, MQPMO_ASYNC_RESPONSE, MQPMO_SYNC_RESPONSE,
    MQPMO_SYNCPOINT, MQPRT_ASYNC_RESPONSE, MQPRT_SYNC_RESPONSE, MQSTAT_TYPE_ASYNC_ERROR,
};
use posthaste_mqi::{CompCode, Hobj, Md, Name, Od, Pmo, Reason, Sts};
use posthaste_wire::request::OpenDefaults;

/// What a handle was opened on.
#[derive(Clone, Copy)]
struct Opened {
    object_type: i32,
    object: Name,
    q_mgr: Name,
    /// DEFPRESP when it was opened.
    put_response: i32,
}

impl Opened {
    fn new(od: &Od, put_response: i32) -> Opened {
        Opened {
            object_type: od.object_type,
            object: od.object_name,
            q_mgr: od.object_q_mgr_name,
            put_response,
        }
    }
}

/// One more; who never calls MQSTAT reads the greatest number in the end, not a negative one.
fn count(counter: &mut i32) {
    *counter = counter.saturating_add(1);
}

fn in_syncpoint(pmo: &Pmo) -> bool {
    pmo.options & MQPMO_SYNCPOINT != 0
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

/// Asynchronous puts since MQSTAT was called last, and open handles.
#[derive(Default)]
pub struct Spoken {
    opened: BTreeMap<i32, Opened>,
    status: Sts,
    /// A persistent message of the present unit of work is missing.
    doomed: bool,
}

/// What the client library is told about the object's defaults, as it resolves "as queue definition" itself.
///
/// Read ahead is never offered: the client would ask for messages in a way that is not served, where a plain MQGET
/// does the same job.
fn defaults(session: &Session, handle: Hobj) -> OpenDefaults {
    let defined = session.defaults(handle).unwrap_or_default();
    OpenDefaults {
        persistence: defined.persistence,
        put_response: match defined.put_response {
            response @ 1.. => response,
            _ => MQPRT_SYNC_RESPONSE,
        },
        read_ahead: 0,
        property_control: defined.property_control,
    }
}

impl Spoken {
    /// An object was opened; gives the defaults of its definition.
    pub fn open(&mut self, session: &Session, handle: Hobj, od: &Od) -> OpenDefaults {
        let defaults = defaults(session, handle);
        let opened = Opened::new(od, defaults.put_response);
        self.opened.insert(handle.0, opened);
        defaults
    }

    /// A handle was closed.
    pub fn close(&mut self, handle: Hobj) {
        self.opened.remove(&handle.0);
    }

    /// Whether an MQPUT is asynchronous: by its options, or as DEFPRESP was when the queue was opened.
    pub fn asynchronous(&self, handle: Hobj, options: i32) -> bool {
        match options & (MQPMO_ASYNC_RESPONSE | MQPMO_SYNC_RESPONSE) {
            0 => self
                .opened
                .get(&handle.0)
                .is_some_and(|opened| opened.put_response == MQPRT_ASYNC_RESPONSE),
            // Both is an error that the application is told.
            stated => stated == MQPMO_ASYNC_RESPONSE,
        }
    }

    /// An asynchronous MQPUT has ended: its warning (or none), or why it failed. The first failure, or else the first
    /// warning, is kept (MQSTAT, "MQSTS").
    pub fn put(
        &mut self,
        session: &Session,
        handle: Hobj,
        md: &Md,
        pmo: &Pmo,
        result: Result<Reason, Reason>,
    ) {
        if !self.is_success(result) {
            let opened = self.opened.get(&handle.0).copied();
            let persistent = || may_be_persistent(md, || session.persistence_by(handle, md));
            self.doom(result.is_err() && in_syncpoint(pmo) && persistent());
            self.went_wrong(opened, pmo, result);
        }
    }

    /// An asynchronous MQPUT1 has ended.
    pub fn put1(
        &mut self,
        session: &Session,
        od: &Od,
        md: &Md,
        pmo: &Pmo,
        result: Result<Reason, Reason>,
    ) {
        if !self.is_success(result) {
            let persistent = || may_be_persistent(md, || session.persistence_to(od, md));
            self.doom(result.is_err() && in_syncpoint(pmo) && persistent());
            self.went_wrong(Some(Opened::new(od, MQPRT_SYNC_RESPONSE)), pmo, result);
        }
    }

    /// An asynchronous put had structures that cannot be read; of its message nothing is known.
    pub fn rejected(&mut self, options: i32, reason: Reason) {
        let pmo = Pmo {
            options,
            ..Pmo::default()
        };
        self.doom(in_syncpoint(&pmo));
        self.went_wrong(None, &pmo, Err(reason));
    }

    fn is_success(&mut self, result: Result<Reason, Reason>) -> bool {
        let success = result == Ok(Reason::NONE);
        if success {
            count(&mut self.status.put_success_count);
        }
        success
    }

    fn doom(&mut self, doomed: bool) {
        self.doomed |= doomed;
    }

    fn went_wrong(&mut self, opened: Option<Opened>, pmo: &Pmo, result: Result<Reason, Reason>) {
        let sts = &mut self.status;
        let (code, reason) = match result {
            Ok(warning) => {
                count(&mut sts.put_warning_count);
                (CompCode::Warning, warning)
            }
            Err(reason) => {
                count(&mut sts.put_failure_count);
                (CompCode::Failed, reason)
            }
        };
        if sts.comp_code >= code as i32 {
            return;
        }
        sts.comp_code = code as i32;
        sts.reason = reason.0;
        if let Some(opened) = opened {
            sts.object_type = opened.object_type;
            sts.object_name = opened.object;
            sts.object_q_mgr_name = opened.q_mgr;
            sts.resolved_object_name = if pmo.resolved_q_name.is_blank() {
                opened.object
            } else {
                pmo.resolved_q_name
            };
            sts.resolved_q_mgr_name = pmo.resolved_q_mgr_name;
        }
    }

    /// MQCMIT.
    ///
    /// # Errors
    /// 2003 an asynchronous put in it has failed, and those of [`Session::commit`].
    pub async fn commit(&mut self, session: &Session) -> Verb<()> {
        if std::mem::take(&mut self.doomed) {
            // Rare, so it takes its room only when it happens.
            Box::pin(session.backout()).await?;
            return Err(Reason::BACKED_OUT);
        }
        session.commit().await
    }

    /// MQBACK.
    ///
    /// # Errors
    /// Those of [`Session::backout`].
    pub async fn backout(&mut self, session: &Session) -> Verb<()> {
        self.doomed = false;
        session.backout().await
    }

    /// MQDISC; 2003 comes as a warning.
    ///
    /// # Errors
    /// Those of [`Session::disconnect`].
    pub async fn disconnect(&mut self, session: &Session) -> Verb<()> {
        let doomed = std::mem::take(self).doomed;
        if doomed {
            session.backout().await?;
        }
        let mut done = session.disconnect().await?;
        if doomed {
            done.warning = Reason::BACKED_OUT;
        }
        Ok(done)
    }

    /// MQSTAT: what has happened since it was called last, in the version that was asked for.
    ///
    /// # Errors
    /// 2430 another kind than asynchronous puts.
    pub fn stat(&mut self, kind: i32, version: i32) -> Result<Sts, Reason> {
        if kind != MQSTAT_TYPE_ASYNC_ERROR {
            return Err(Reason::STAT_TYPE_ERROR);
        }
        let status = std::mem::take(&mut self.status);
        Ok(Sts { version, ..status })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_mqi::constants::MQPER_PERSISTENT;

    #[test]
    fn the_first_failure_is_kept_and_asking_clears() {
        let mut spoken = Spoken::default();
        let od = Od {
            object_name: Name::new("Q1"),
            ..Od::default()
        };
        let opened = Some(Opened::new(&od, MQPRT_SYNC_RESPONSE));
        let pmo = Pmo::default();
        assert!(spoken.is_success(Ok(Reason::NONE)));
        for result in [
            Ok(Reason(2104)),
            Err(Reason::Q_FULL),
            Err(Reason::PUT_INHIBITED),
        ] {
            assert!(!spoken.is_success(result));
            spoken.went_wrong(opened, &pmo, result);
        }
        let sts = spoken.stat(MQSTAT_TYPE_ASYNC_ERROR, 1).unwrap();
        assert_eq!((sts.comp_code, sts.reason), (2, Reason::Q_FULL.0));
        let counts = (
            sts.put_success_count,
            sts.put_warning_count,
            sts.put_failure_count,
        );
        assert_eq!(counts, (1, 1, 2));
        assert_eq!(sts.object_name, Name::new("Q1"));
        let again = spoken.stat(MQSTAT_TYPE_ASYNC_ERROR, 1).unwrap();
        assert_eq!(again, Sts::default());
        assert_eq!(spoken.stat(99, 1), Err(Reason::STAT_TYPE_ERROR));
    }

    #[test]
    fn counts_stop_at_the_greatest_number() {
        let mut spoken = Spoken::default();
        spoken.status.put_success_count = i32::MAX;
        assert!(spoken.is_success(Ok(Reason::NONE)));
        spoken.status.put_failure_count = i32::MAX;
        spoken.rejected(0, Reason::MD_ERROR);
        let sts = spoken.stat(MQSTAT_TYPE_ASYNC_ERROR, 1).unwrap();
        let counts = (sts.put_success_count, sts.put_failure_count);
        assert_eq!(counts, (i32::MAX, i32::MAX));
    }

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

    #[test]
    fn a_unit_is_doomed_by_a_put_that_cannot_be_read() {
        let mut spoken = Spoken::default();
        spoken.rejected(0, Reason::MD_ERROR);
        assert!(!spoken.doomed, "outside syncpoint");
        spoken.rejected(MQPMO_SYNCPOINT, Reason::MD_ERROR);
        assert!(spoken.doomed);
    }
}
