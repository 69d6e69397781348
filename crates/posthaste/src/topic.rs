//! A topic as the command line names it: by its topic string.

use posthaste_client::{ClientError, Connection};
use posthaste_mqi::constants::{
    MQOD_VERSION_4, MQOO_FAIL_IF_QUIESCING, MQOO_OUTPUT, MQOT_TOPIC, MQSO_CREATE,
    MQSO_FAIL_IF_QUIESCING, MQSO_MANAGED, MQSO_WILDCARD_TOPIC,
};
use posthaste_mqi::{Hobj, Od, Sd, Subscribed};

/// Bytes of the longest topic string, and of the longest selector.
const LONGEST: i32 = 10_240;

/// Opens a topic for publishing.
///
/// # Errors
/// 2425 for a topic string that is none; otherwise the queue manager's reason.
pub(crate) fn open(connection: &mut Connection, topic: &str) -> Result<Hobj, ClientError> {
    let mut od = Od {
        version: MQOD_VERSION_4,
        object_type: MQOT_TOPIC,
        object_string: topic.to_owned(),
        ..Od::default()
    };
    let opened = connection.open_object(&mut od, MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING);
    Ok(opened?.value)
}

/// Subscribes to a topic, with wildcards for its levels and a queue that the queue manager makes. `options`: MQSO_* beside
/// these; `name`: blank for a subscription that is not durable. Gives what the subscription is, too: one that was there
/// before is as it was.
///
/// # Errors
/// The queue manager's reason.
pub(crate) fn subscribe(
    connection: &mut Connection,
    topic: &str,
    name: &str,
    selector: Option<&str>,
    options: i32,
) -> Result<(Subscribed, Sd), ClientError> {
    let mut sd = Sd {
        options: MQSO_CREATE
            | MQSO_MANAGED
            | MQSO_WILDCARD_TOPIC
            | MQSO_FAIL_IF_QUIESCING
            | options,
        object_string: topic.to_owned(),
        sub_name: name.to_owned(),
        selection_string: selector.unwrap_or_default().to_owned(),
        res_object_string_size: LONGEST,
        selection_string_size: LONGEST,
        ..Sd::default()
    };
    let subscribed = connection.subscribe(&mut sd, Hobj::NONE)?.value;
    Ok((subscribed, sd))
}
