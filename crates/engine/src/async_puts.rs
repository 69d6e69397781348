//! What became of a connection's asynchronous puts, as MQSTAT tells it.
//!
//! Invariants: each put is counted once. The first failure since MQSTAT was called last, or else the first warning, is
//! kept (MQSTAT, "MQSTS").

use posthaste_mqi::{CompCode, Name, Pmo, Reason, Sts};

/// One more; who never calls MQSTAT reads the greatest number in the end, not a negative one.
fn count(counter: &mut i32) {
    *counter = counter.saturating_add(1);
}

/// What a put was to put its message on.
pub(crate) struct Destination {
    pub(crate) object_type: i32,
    pub(crate) object: Name,
    /// The topic string, if it is a topic.
    pub(crate) string: String,
    pub(crate) q_mgr: Name,
}

/// Asynchronous puts since MQSTAT was called last.
#[derive(Default)]
pub(crate) struct AsyncPuts {
    successes: i32,
    warnings: i32,
    failures: i32,
    /// The first failure, or else the first warning. Rare, so it takes its room only when there is one.
    first: Option<Box<Sts>>,
}

impl AsyncPuts {
    pub(crate) fn succeeded(&mut self) {
        count(&mut self.successes);
    }

    pub(crate) fn went_wrong(
        &mut self,
        to: Option<Destination>,
        pmo: &Pmo,
        result: Result<Reason, Reason>,
    ) {
        let (code, reason) = match result {
            Ok(warning) => {
                count(&mut self.warnings);
                (CompCode::Warning, warning)
            }
            Err(reason) => {
                count(&mut self.failures);
                (CompCode::Failed, reason)
            }
        };
        let known = self.first.as_ref().map_or(0, |first| first.comp_code);
        if known >= code as i32 {
            return;
        }
        let mut sts = Sts {
            comp_code: code as i32,
            reason: reason.0,
            ..Sts::default()
        };
        if let Some(to) = to {
            sts.object_type = to.object_type;
            sts.object_name = to.object;
            sts.object_string = to.string;
            sts.object_q_mgr_name = to.q_mgr;
            sts.resolved_object_name = if pmo.resolved_q_name.is_blank() {
                to.object
            } else {
                pmo.resolved_q_name
            };
            sts.resolved_q_mgr_name = pmo.resolved_q_mgr_name;
        }
        self.first = Some(Box::new(sts));
    }

    pub(crate) fn take(&mut self, version: i32) -> Sts {
        let taken = std::mem::take(self);
        Sts {
            version,
            put_success_count: taken.successes,
            put_warning_count: taken.warnings,
            put_failure_count: taken.failures,
            ..taken.first.map_or_else(Sts::default, |first| *first)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_kept_and_asking_clears() {
        let mut puts = AsyncPuts::default();
        let to = || Destination {
            object_type: 1,
            object: Name::new("Q1"),
            string: "a/b".to_owned(),
            q_mgr: Name::default(),
        };
        puts.succeeded();
        for result in [
            Ok(Reason(2104)),
            Err(Reason::Q_FULL),
            Err(Reason::PUT_INHIBITED),
        ] {
            puts.went_wrong(Some(to()), &Pmo::default(), result);
        }
        let sts = puts.take(1);
        assert_eq!((sts.comp_code, sts.reason), (2, Reason::Q_FULL.0));
        let counts = (
            sts.put_success_count,
            sts.put_warning_count,
            sts.put_failure_count,
        );
        assert_eq!(counts, (1, 1, 2));
        assert_eq!(sts.object_name, Name::new("Q1"));
        assert_eq!(sts.object_string, "a/b");
        assert_eq!(puts.take(1), Sts::default());
    }

    #[test]
    fn counts_stop_at_the_greatest_number() {
        let mut puts = AsyncPuts {
            successes: i32::MAX,
            failures: i32::MAX,
            ..AsyncPuts::default()
        };
        puts.succeeded();
        puts.went_wrong(None, &Pmo::default(), Err(Reason::MD_ERROR));
        let sts = puts.take(1);
        let counts = (sts.put_success_count, sts.put_failure_count);
        assert_eq!(counts, (i32::MAX, i32::MAX));
    }
}
