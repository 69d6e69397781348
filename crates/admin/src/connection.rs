//! Connections as commands name them, and STOP CONN.

use posthaste_command::Reply;
use posthaste_engine::{NotStopped, QueueManager};
use posthaste_mqi::{Reason, hex};

/// CONN: the last 8 bytes of the connection identifier, in hexadecimal.
pub(crate) fn conn(number: u64) -> String {
    format!("{number:016X}")
}

/// EXTCONN: what the identifiers of all connections to a queue manager begin with.
pub(crate) fn external(qm: &QueueManager) -> String {
    let name = qm.name().bytes().chain(std::iter::repeat(b' '));
    let id: Vec<u8> = b"AMQC".iter().copied().chain(name.take(12)).collect();
    hex(&id)
}

/// STOP CONN (manual: "STOP CONN"): answered when the connection's unit of work is backed out.
pub(crate) async fn stop(qm: &QueueManager, number: u64, of: Option<&str>) -> Reply {
    let stopped = match of.is_none_or(|of| of.eq_ignore_ascii_case(&external(qm))) {
        true => qm.stop_connection(number).await,
        false => Err(NotStopped::Unknown),
    };
    match stopped {
        Ok(()) => Reply::done("AMQ8457I", &[]),
        Err(NotStopped::Unknown) => Reply::failed("AMQ8461E", &[], Reason::CCF_CONNECTION_ID_ERROR),
        Err(NotStopped::InCall) => {
            Reply::failed("AMQ2461E", &[conn(number)], Reason::CCF_CONN_NOT_STOPPED)
        }
        Err(NotStopped::Own) => {
            Reply::failed("AMQ2460E", &[conn(number)], Reason::CCF_CONN_NOT_STOPPED)
        }
    }
}
