//! Which MAXMSGL a message was too long for.
//!
//! A queue, a queue manager and a channel have one each. The client finds out about its channel's first (2010, as MQ
//! has it), and the local socket has the queue manager's; so all three are looked at, and the reason is that of the
//! one who would refuse the message whatever way it came.

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::{
    MQIA_MAX_MSG_LENGTH, MQOO_FAIL_IF_QUIESCING, MQOO_INQUIRE, MQOT_Q, MQOT_Q_MGR,
};
use posthaste_mqi::{Name, Od, Reason};
use posthaste_server::{Exit, Failure};

/// The limits that a message exceeds, at least one.
pub(crate) struct Limits {
    length: usize,
    reason: Reason,
    exceeded: Vec<String>,
}

impl Limits {
    /// What a message of `length` bytes that was refused with `error` is too long for; none if it was refused for
    /// something else, or by somebody who cannot be asked (the queue behind an alias, a transmission queue).
    pub(crate) fn exceeded(
        connection: &mut Connection,
        queue: &str,
        error: &ClientError,
        length: usize,
    ) -> Option<Limits> {
        let ClientError::Reason(reason) = error else {
            return None;
        };
        let sizes = [
            Reason::DATA_LENGTH_ERROR,
            Reason::MSG_TOO_BIG_FOR_Q,
            Reason::MSG_TOO_BIG_FOR_Q_MGR,
        ];
        if !sizes.contains(reason) {
            return None;
        }
        let queue_manager = connection.queue_manager();
        let of_queue = max_message(connection, MQOT_Q, queue);
        let of_queue_manager = max_message(connection, MQOT_Q_MGR, "");
        let channel = connection.channel();
        let of_channel = channel.as_ref().map(|_| connection.max_message());
        let all = [
            (
                Reason::MSG_TOO_BIG_FOR_Q,
                of_queue,
                format!("queue {queue}"),
            ),
            (
                Reason::MSG_TOO_BIG_FOR_Q_MGR,
                of_queue_manager,
                format!("queue manager {queue_manager}"),
            ),
            (
                Reason::DATA_LENGTH_ERROR,
                of_channel,
                format!("channel {}", channel.unwrap_or_default()),
            ),
        ];
        let found: Vec<_> = all
            .into_iter()
            .filter_map(|(reason, limit, whose)| {
                let limit = limit.filter(|limit| length > *limit)?;
                Some((reason, format!("MAXMSGL({limit}) of {whose}")))
            })
            .collect();
        let &(reason, _) = found.first()?;
        Some(Limits {
            length,
            reason,
            exceeded: found.into_iter().map(|(_, limit)| limit).collect(),
        })
    }

    /// As a failure of the command.
    pub(crate) fn failure(&self, queue: &str) -> Failure {
        let why = format!(
            "The message has {} bytes, more than {} allows.",
            self.length,
            self.exceeded.join(", and than ")
        );
        let reason = self.reason.to_string();
        Failure::new(
            Exit::CallFailed,
            "AMQ2208E",
            &["MQPUT", queue, &reason, &why],
        )
    }
}

/// MAXMSGL of a queue, or of the queue manager; none if it cannot be asked.
fn max_message(connection: &mut Connection, kind: i32, name: &str) -> Option<usize> {
    let mut od = Od {
        object_type: kind,
        object_name: Name::new(name),
        ..Od::default()
    };
    let options = MQOO_INQUIRE | MQOO_FAIL_IF_QUIESCING;
    let object = connection.open_object(&mut od, options).ok()?.value;
    let inquired = connection.inquire(object, &[MQIA_MAX_MSG_LENGTH], 0);
    connection.close(object, 0).ok()?;
    usize::try_from(*inquired.ok()?.value.ints.first()?).ok()
}
