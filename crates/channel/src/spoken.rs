//! What a connection remembers beside its session: the asynchronous puts that MQSTAT asks about, and what its handles
//! are open on.
//!
//! Invariant: a unit of work in which an asynchronous put of a persistent message has failed is never committed; who
//! tries is told 2003 and finds the reason with MQSTAT (manual: "MQPMO_ASYNC_RESPONSE").

use std::collections::BTreeMap;

use posthaste_command::ObjectKind;
use posthaste_engine::{QueueManager, Session, Verb};
use posthaste_mqi::constants::{
    MQIA_DEF_PERSISTENCE, MQIA_DEF_PUT_RESPONSE_TYPE, MQIA_PROPERTY_CONTROL, MQOT_Q_MGR,
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
    /// DEFPSIST when it was opened.
    persistence: i32,
}

impl Opened {
    fn new(od: &Od, defaults: &OpenDefaults) -> Opened {
        Opened {
            object_type: od.object_type,
            object: od.object_name,
            q_mgr: od.object_q_mgr_name,
            put_response: defaults.put_response,
            persistence: defaults.persistence,
        }
    }
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
pub(crate) fn defaults(qm: &QueueManager, od: &Od) -> OpenDefaults {
    let mut defaults = OpenDefaults {
        persistence: 0,
        put_response: MQPRT_SYNC_RESPONSE,
        read_ahead: 0,
        property_control: 0,
    };
    if od.object_type == MQOT_Q_MGR {
        return defaults;
    }
    let name = od.object_name.text();
    let kinds = [ObjectKind::QLocal, ObjectKind::QAlias, ObjectKind::QRemote];
    if let Some(queue) = kinds.into_iter().find_map(|kind| qm.object(kind, &name)) {
        defaults.persistence = queue.attrs.int(MQIA_DEF_PERSISTENCE);
        defaults.property_control = queue.attrs.int(MQIA_PROPERTY_CONTROL);
        if let response @ 1.. = queue.attrs.int(MQIA_DEF_PUT_RESPONSE_TYPE) {
            defaults.put_response = response;
        }
    }
    defaults
}

impl Spoken {
    /// An object was opened; gives the defaults of its definition.
    pub fn open(&mut self, qm: &QueueManager, handle: Hobj, od: &Od) -> OpenDefaults {
        let defaults = defaults(qm, od);
        self.opened.insert(handle.0, Opened::new(od, &defaults));
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
    pub fn put(&mut self, handle: Hobj, md: &Md, pmo: &Pmo, result: Result<Reason, Reason>) {
        if result == Ok(Reason::NONE) {
            self.status.put_success_count += 1;
            return;
        }
        let opened = self.opened.get(&handle.0).copied();
        self.went_wrong(opened, md, pmo, result);
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
        if result == Ok(Reason::NONE) {
            self.status.put_success_count += 1;
            return;
        }
        let defaults = defaults(&session.queue_manager(), od);
        self.went_wrong(Some(Opened::new(od, &defaults)), md, pmo, result);
    }

    fn went_wrong(
        &mut self,
        opened: Option<Opened>,
        md: &Md,
        pmo: &Pmo,
        result: Result<Reason, Reason>,
    ) {
        let sts = &mut self.status;
        let (code, reason) = match result {
            Ok(warning) => {
                sts.put_warning_count += 1;
                (CompCode::Warning, warning)
            }
            Err(reason) => {
                sts.put_failure_count += 1;
                let persistent = match md.persistence {
                    MQPER_NOT_PERSISTENT => false,
                    MQPER_PERSISTENCE_AS_Q_DEF => {
                        opened.is_none_or(|opened| opened.persistence != MQPER_NOT_PERSISTENT)
                    }
                    _ => true,
                };
                self.doomed |= persistent && pmo.options & MQPMO_SYNCPOINT != 0;
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
        let opened = Opened::new(&od, &OpenDefaults::default());
        spoken.opened.insert(5, opened);
        let pmo = Pmo::default();
        spoken.put(Hobj(5), &Md::default(), &pmo, Ok(Reason::NONE));
        spoken.put(Hobj(5), &Md::default(), &pmo, Ok(Reason(2104)));
        spoken.put(Hobj(5), &Md::default(), &pmo, Err(Reason::Q_FULL));
        spoken.put(Hobj(5), &Md::default(), &pmo, Err(Reason::PUT_INHIBITED));
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
    fn a_unit_without_one_of_its_persistent_messages_is_doomed() {
        let plain = OpenDefaults {
            persistence: MQPER_NOT_PERSISTENT,
            ..OpenDefaults::default()
        };
        let as_queue = MQPER_PERSISTENCE_AS_Q_DEF;
        for (persistence, by_queue, options, expected) in [
            (MQPER_PERSISTENT, plain, MQPMO_SYNCPOINT, true),
            (MQPER_PERSISTENT, plain, 0, false),
            (MQPER_NOT_PERSISTENT, plain, MQPMO_SYNCPOINT, false),
            (as_queue, plain, MQPMO_SYNCPOINT, false),
            // Not known: rather too careful.
            (as_queue, OpenDefaults::default(), MQPMO_SYNCPOINT, true),
        ] {
            let mut spoken = Spoken::default();
            let opened = Opened::new(&Od::default(), &by_queue);
            spoken.opened.insert(5, opened);
            let md = Md {
                persistence,
                ..Md::default()
            };
            let pmo = Pmo {
                options,
                ..Pmo::default()
            };
            spoken.put(Hobj(5), &md, &pmo, Ok(Reason::NONE));
            spoken.put(Hobj(5), &md, &pmo, Ok(Reason(2104)));
            assert!(!spoken.doomed);
            spoken.put(Hobj(5), &md, &pmo, Err(Reason::Q_FULL));
            assert_eq!(spoken.doomed, expected, "{persistence} {options}");
        }
    }
}
