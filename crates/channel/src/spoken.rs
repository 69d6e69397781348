//! What a connection remembers beside its session: the asynchronous puts that MQSTAT asks about, and what its handles
//! are open on.

use std::collections::BTreeMap;

use posthaste_command::ObjectKind;
use posthaste_engine::QueueManager;
use posthaste_mqi::constants::{
    MQIA_DEF_PERSISTENCE, MQIA_DEF_PUT_RESPONSE_TYPE, MQIA_PROPERTY_CONTROL, MQOT_Q_MGR,
    MQPMO_ASYNC_RESPONSE, MQPMO_SYNC_RESPONSE, MQPRT_ASYNC_RESPONSE, MQPRT_SYNC_RESPONSE,
    MQSTAT_TYPE_ASYNC_ERROR,
};
use posthaste_mqi::{CompCode, Hobj, Name, Od, Pmo, Reason, Sts};
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

/// Asynchronous puts since MQSTAT was called last, and open handles.
#[derive(Default)]
pub struct Spoken {
    opened: BTreeMap<i32, Opened>,
    status: Sts,
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
        self.remember(handle, od, defaults.put_response);
        defaults
    }

    fn remember(&mut self, handle: Hobj, od: &Od, put_response: i32) {
        let opened = Opened {
            object_type: od.object_type,
            object: od.object_name,
            q_mgr: od.object_q_mgr_name,
            put_response,
        };
        self.opened.insert(handle.0, opened);
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

    /// An asynchronous put has ended. The first failure, or else the first warning, is kept (MQSTAT, "MQSTS").
    pub fn put(&mut self, handle: Hobj, pmo: &Pmo, result: Result<Reason, Reason>) {
        let sts = &mut self.status;
        let (code, reason) = match result {
            Ok(Reason::NONE) => {
                sts.put_success_count += 1;
                return;
            }
            Ok(warning) => {
                sts.put_warning_count += 1;
                (CompCode::Warning, warning)
            }
            Err(reason) => {
                sts.put_failure_count += 1;
                (CompCode::Failed, reason)
            }
        };
        if sts.comp_code >= code as i32 {
            return;
        }
        sts.comp_code = code as i32;
        sts.reason = reason.0;
        if let Some(opened) = self.opened.get(&handle.0) {
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

    #[test]
    fn the_first_failure_is_kept_and_asking_clears() {
        let mut spoken = Spoken::default();
        let od = Od {
            object_name: Name::new("Q1"),
            ..Od::default()
        };
        spoken.remember(Hobj(5), &od, MQPRT_SYNC_RESPONSE);
        let pmo = Pmo::default();
        spoken.put(Hobj(5), &pmo, Ok(Reason::NONE));
        spoken.put(Hobj(5), &pmo, Ok(Reason(2104)));
        spoken.put(Hobj(5), &pmo, Err(Reason::Q_FULL));
        spoken.put(Hobj(5), &pmo, Err(Reason::PUT_INHIBITED));
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
}
