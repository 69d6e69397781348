//! A connection with one queue open, for what a scenario does beside a workload.

use posthaste_mqi::constants::{MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQIA_CURRENT_Q_DEPTH};
use posthaste_mqi::{Gmo, Hobj, Md, Mqi, Name, Od, Pmo, Reason};

use crate::drive::connect;
use crate::measure::LabError;
use crate::workload::Target;

/// How long a get waits that cannot find its queue empty, in milliseconds.
const TIMEOUT_MS: i32 = 30_000;

/// A connection with one queue open.
pub(super) struct Client {
    connection: Box<dyn Mqi>,
    queue: Hobj,
}

fn failed(call: &'static str) -> impl Fn(Reason) -> LabError {
    move |reason| LabError::workload(call, posthaste_client::ClientError::from(reason))
}

impl Client {
    /// Connects and opens a queue with these MQOO_ options.
    pub(super) fn open(target: &Target, queue: &str, options: i32) -> Result<Client, LabError> {
        let mut connection =
            connect(target).map_err(|error| LabError::workload("MQCONN", error))?;
        let mut od = Od {
            object_name: Name::new(queue),
            ..Od::default()
        };
        let opened = connection.open_object(&mut od, options);
        let queue = opened.map_err(failed("MQOPEN"))?.value;
        Ok(Client { connection, queue })
    }

    /// Puts a message with this persistence and these MQPMO_ options.
    pub(super) fn put(
        &mut self,
        persistence: i32,
        options: i32,
        data: &[u8],
    ) -> Result<(), LabError> {
        let mut md = Md {
            persistence,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options,
            ..Pmo::default()
        };
        let put = self.connection.put(self.queue, &mut md, &mut pmo, data);
        put.map(drop).map_err(failed("MQPUT"))
    }

    /// Whether this many asynchronous puts were all done.
    pub(super) fn all_succeeded(&mut self, count: u32) -> Result<(), LabError> {
        let status = self.connection.stat().map_err(failed("MQSTAT"))?.value;
        match u32::try_from(status.put_success_count) == Ok(count) {
            true => Ok(()),
            false => Err(LabError::workload(
                "asynchronous puts",
                format!(
                    "{} of {count} succeeded, {} had a warning, {} failed",
                    status.put_success_count, status.put_warning_count, status.put_failure_count
                ),
            )),
        }
    }

    /// Gets so many messages, which are there or on their way.
    pub(super) fn drain(&mut self, count: u32, bytes: usize) -> Result<(), LabError> {
        for _ in 0..count {
            let mut gmo = Gmo {
                options: MQGMO_NO_SYNCPOINT | MQGMO_WAIT,
                wait_interval: TIMEOUT_MS,
                ..Gmo::default()
            };
            let got = self
                .connection
                .get(self.queue, &mut Md::default(), &mut gmo, bytes);
            got.map_err(failed("MQGET"))?;
        }
        Ok(())
    }

    /// Messages on the queue.
    pub(super) fn depth(&mut self) -> Result<u64, LabError> {
        let found = self
            .connection
            .inquire(self.queue, &[MQIA_CURRENT_Q_DEPTH], 0);
        let found = found.map_err(failed("MQINQ"))?.value;
        let depth = found.ints.first().copied().unwrap_or(0);
        Ok(u64::try_from(depth).unwrap_or(0))
    }

    /// MQDISC.
    pub(super) fn disconnect(self) -> Result<(), LabError> {
        self.connection
            .disconnect()
            .map(drop)
            .map_err(failed("MQDISC"))
    }
}
