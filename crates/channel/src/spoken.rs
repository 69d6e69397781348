//! What a conversation remembers beside its session: the asynchronous puts that MQSTAT asks about, and what its handles
//! are open on.

use posthaste_mqi::constants::MQSTAT_TYPE_ASYNC_ERROR;
use posthaste_mqi::{CompCode, Hobj, Name, Od, Pmo, Reason, Sts};

/// What a handle was opened on.
#[derive(Clone, Copy)]
struct Opened {
    handle: Hobj,
    object_type: i32,
    object: Name,
    q_mgr: Name,
}

/// Asynchronous puts since MQSTAT was called last, and open handles.
#[derive(Default)]
pub(crate) struct Spoken {
    opened: Vec<Opened>,
    status: Sts,
}

impl Spoken {
    pub(crate) fn open(&mut self, handle: Hobj, od: &Od) {
        self.opened.push(Opened {
            handle,
            object_type: od.object_type,
            object: od.object_name,
            q_mgr: od.object_q_mgr_name,
        });
    }

    pub(crate) fn close(&mut self, handle: Hobj) {
        self.opened.retain(|opened| opened.handle != handle);
    }

    /// An asynchronous put has ended. The first failure, or else the first warning, is kept (MQSTAT, "MQSTS").
    pub(crate) fn put(&mut self, handle: Hobj, pmo: &Pmo, result: Result<Reason, Reason>) {
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
        if let Some(opened) = self.opened.iter().find(|opened| opened.handle == handle) {
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
    pub(crate) fn stat(&mut self, kind: i32, version: i32) -> Result<Sts, Reason> {
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
        spoken.open(Hobj(5), &od);
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
