//! What the flags have applications do.

use std::time::Duration;

use super::flags::Flags;
use crate::measure::LabError;
use crate::workload::{Carriers, Destinations, Module, Syncpoint, Text, Workload};

impl Flags {
    /// What is started: the workload, and responders behind it.
    pub(super) fn workloads(&self) -> Result<Vec<Workload>, LabError> {
        let requested = self.workload();
        requested.check()?;
        let behind = (self.own.responders > 0).then(|| Workload {
            module: Module::Responder,
            applications: self.own.responders,
            iterations: None,
            rate: 0.0,
            ramp: Duration::ZERO,
            queue_depth: 1,
            copy_request: true,
            ..requested.clone()
        });
        Ok([requested].into_iter().chain(behind).collect())
    }

    fn workload(&self) -> Workload {
        let (course, message, unit) = (&self.course, &self.message, &self.unit);
        let (queues, calls) = (&self.queues, &self.calls);
        let destinations = |prefix: &str| Destinations {
            prefix: prefix.to_owned(),
            base: queues.base,
            max: queues.max,
            count: queues.count,
        };
        Workload {
            module: course.module,
            applications: course.applications,
            carriers: match self.own.multiplex {
                Some(threads) => Carriers::Multiplexed { threads },
                None => Carriers::Threads,
            },
            message_bytes: message.bytes,
            text: match &message.file {
                Some(file) => Text::File(file.clone()),
                None if message.random => Text::Random,
                None => Text::Repeating,
            },
            persistence: match (message.persistent, message.not_persistent) {
                (false, false) => None,
                (persistent, _) => Some(persistent),
            },
            syncpoint: Syncpoint {
                put: unit.syncpoint || unit.syncpoint_put,
                get: unit.syncpoint || unit.syncpoint_get,
            },
            batch: unit.batch,
            asynchronous: calls.asynchronous,
            iterations: (course.iterations > 0).then_some(course.iterations),
            rate: course.rate,
            ramp: course.ramp,
            requests: destinations(&queues.requests),
            replies: destinations(&queues.replies),
            destinations: destinations(&queues.destinations),
            by_correlation_id: calls.by_correlation_id,
            copy_request: calls.copy_request,
            get_wait: calls.wait,
            put1: calls.put1,
            format: message.format.clone(),
            convert: calls.convert,
            buffer_bytes: message.buffer,
            application_name: self.to.application.clone(),
            queue_depth: calls.queue_depth,
            yield_every: course.yield_every,
            start_interval: Duration::from_millis(self.start.pause.into()),
            start_within: self.start.within,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::read;
    use super::*;

    fn workloads(line: &str) -> Result<Vec<Workload>, LabError> {
        read(line).and_then(|flags| flags.workloads())
    }

    #[test]
    fn defaults_are_those_of_mq_cph() {
        let [workload] = &workloads("-tc Requester").unwrap()[..] else {
            panic!("one workload");
        };
        assert_eq!((workload.applications, workload.message_bytes), (1, 1000));
        assert_eq!(workload.requests.name(0), "REQUEST");
        assert_eq!(workload.replies.name(5), "REPLY");
        assert_eq!(workload.get_wait, Some(Duration::from_secs(5)));
        assert!(workload.by_correlation_id && workload.convert && !workload.put1);
        assert_eq!(workload.persistence, None);
        assert_eq!(workload.syncpoint, Syncpoint::NONE);
    }

    #[test]
    fn what_is_given_is_taken() {
        let all = workloads(
            "-tc requester -nt 3 -db 1 -dn 2 -ms 20480 -pp -tx -to -1 --responders 2 -dq 4 -rt 1.5",
        );
        let all = all.unwrap();
        assert_eq!((all[0].module, all[0].applications), (Module::Requester, 3));
        assert_eq!((all[1].module, all[1].applications), (Module::Responder, 2));
        assert_eq!((all[0].queue_depth, all[0].rate), (4, 1.5));
        assert_eq!((all[1].queue_depth, all[1].rate), (1, 0.0));
        let requests = [0, 1, 2].map(|index| all[0].requests.name(index));
        assert_eq!(requests, ["REQUEST1", "REQUEST2", "REQUEST1"]);
        assert_eq!(all[0].persistence, Some(true));
        assert_eq!(all[0].syncpoint, Syncpoint::BOTH);
        assert_eq!((all[0].get_wait, all[0].message_bytes), (None, 20_480));
        for workload in all {
            workload.check().unwrap();
        }
        for (line, expected) in [
            ("-tc Publisher", "the driver does not publish or subscribe"),
            ("-tc Sender -nt 0", "-nt 0"),
            ("-tc Sender -cc 5", "-tx"),
            ("-tc Sender --multiplex 1000000", "1 to 1000 threads"),
            ("-tc Sender -db 5 -dx 2", "-dx 2"),
        ] {
            let error = workloads(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
