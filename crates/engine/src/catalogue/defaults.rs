//! The objects every queue manager is created with.

use posthaste_command::{Attrs, Object, ObjectKind};
use posthaste_mqi::constants::*;

use super::chlauth::default_records;
use crate::config::CreateOptions;
use crate::topics::administrative::{DURABLE_MODEL, NON_DURABLE_MODEL, base_topic};

fn object(kind: ObjectKind, name: &str, change: impl FnOnce(&mut Attrs)) -> Object {
    let mut attrs = Attrs::defaults(kind);
    change(&mut attrs);
    Object {
        kind,
        name: name.to_owned(),
        attrs,
    }
}

/// The queue manager's own definition.
fn queue_manager(name: &str, id: &str, options: &CreateOptions) -> Object {
    object(ObjectKind::Qmgr, name, |a| {
        a.set_text(MQCA_Q_MGR_NAME, name);
        a.set_text(MQCA_Q_MGR_IDENTIFIER, id);
        a.set_text(MQCA_Q_MGR_DESC, options.description.clone());
        a.set_text(MQCA_DEAD_LETTER_Q_NAME, options.dead_letter_q.clone());
        a.set_text(MQCA_DEF_XMIT_Q_NAME, options.default_xmit_q.clone());
        a.set_int(MQIA_MAX_HANDLES, options.max_handles);
        a.set_int(MQIA_MAX_UNCOMMITTED_MSGS, options.max_uncommitted);
        a.set_int(MQIA_TRIGGER_INTERVAL, options.trigger_interval);
    })
}

/// Where retained publications are kept.
pub(crate) const RETAINED_QUEUE: &str = "SYSTEM.RETAINED.PUB.QUEUE";

/// Where messages wait that are delivered later.
pub(crate) const DELAY_QUEUE: &str = "SYSTEM.DDELAY.LOCAL.QUEUE";

/// Whether the queue manager takes messages on a queue for its own, and does with them as they say.
pub(crate) fn is_own_store(queue: &str) -> bool {
    [RETAINED_QUEUE, DELAY_QUEUE].contains(&queue)
}

/// The queue that requests to the command server come on.
pub const COMMAND_QUEUE: &str = "SYSTEM.ADMIN.COMMAND.QUEUE";

/// Queues for events that queue managers of earlier releases do not have.
pub(crate) const LATER_EVENT_QUEUES: [&str; 2] =
    ["SYSTEM.ADMIN.CONFIG.EVENT", "SYSTEM.ADMIN.COMMAND.EVENT"];

/// A queue for event messages.
pub(crate) fn event_queue(name: &str) -> Object {
    object(ObjectKind::QLocal, name, |_| {})
}

/// The queue of that name. A message on it is as long as any, and has a header besides.
pub(crate) fn delay_queue() -> Object {
    object(ObjectKind::QLocal, DELAY_QUEUE, |a| {
        a.set_int(MQIA_MAX_Q_DEPTH, 999_999_999);
        a.set_int(MQIA_MAX_MSG_LENGTH, 104_857_600);
        a.set_int(MQIA_MSG_DELIVERY_SEQUENCE, MQMDS_FIFO);
    })
}

/// What publish/subscribe needs beside the default objects.
fn publish_subscribe() -> [Object; 4] {
    let deep = |a: &mut Attrs| a.set_int(MQIA_MAX_Q_DEPTH, 999_999_999);
    // Several applications may share a subscription, and so its queue.
    let model = |name: &str, type_: i32| {
        object(ObjectKind::QModel, name, |a| {
            deep(a);
            a.set_int(MQIA_DEFINITION_TYPE, type_);
            a.set_int(MQIA_SHAREABILITY, MQQA_SHAREABLE);
            a.set_int(MQIA_DEF_INPUT_OPEN_OPTION, MQOO_INPUT_SHARED);
        })
    };
    [
        base_topic(),
        model(DURABLE_MODEL, MQQDT_PERMANENT_DYNAMIC),
        model(NON_DURABLE_MODEL, MQQDT_TEMPORARY_DYNAMIC),
        // A retained publication is as long as any message, and says its topic besides.
        object(ObjectKind::QLocal, RETAINED_QUEUE, |a| {
            deep(a);
            a.set_int(MQIA_MAX_MSG_LENGTH, 104_857_600);
        }),
    ]
}

/// The default objects of publish/subscribe and what it needs besides: what queue managers lack that releases before
/// publish/subscribe have made.
pub(crate) fn publish_subscribe_objects() -> Vec<Object> {
    let defaults = [ObjectKind::Topic, ObjectKind::Sub]
        .map(|kind| object(kind, kind.row().default_object, |_| {}));
    defaults.into_iter().chain(publish_subscribe()).collect()
}

/// Everything a new queue manager has, the queue manager's own definition first.
pub(crate) fn system_objects(name: &str, id: &str, options: &CreateOptions) -> Vec<Object> {
    let same = |_: &mut Attrs| {};
    let deep = |a: &mut Attrs| a.set_int(MQIA_MAX_Q_DEPTH, 999_999_999);
    let mut all = vec![queue_manager(name, id, options)];
    // What a definition of each kind begins with.
    let defaults = ObjectKind::ALL
        .into_iter()
        .map(|kind| (kind, kind.row().default_object));
    let defaults = defaults.filter(|(_, name)| !name.is_empty());
    all.extend(defaults.map(|(kind, name)| object(kind, name, same)));
    all.extend([
        // An answer has a message for each object, and there may be any number of these.
        object(ObjectKind::QModel, "SYSTEM.MQSC.REPLY.QUEUE", deep),
        object(ObjectKind::QModel, "SYSTEM.MQEXPLORER.REPLY.MODEL", deep),
        // For applications that name it as their model of temporary queues (TEMPORARYMODEL).
        object(ObjectKind::QModel, "SYSTEM.JMS.TEMPQ.MODEL", |a| {
            deep(a);
            a.set_int(MQIA_MAX_MSG_LENGTH, 104_857_600);
        }),
        object(ObjectKind::QLocal, "SYSTEM.DEAD.LETTER.QUEUE", deep),
        object(ObjectKind::QLocal, "SYSTEM.DEFAULT.INITIATION.QUEUE", same),
        object(ObjectKind::QLocal, COMMAND_QUEUE, |a| {
            a.set_int(MQIA_MAX_Q_DEPTH, 3000);
        }),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.QMGR.EVENT", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.CHANNEL.EVENT", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.PERFM.EVENT", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.STATISTICS.QUEUE", same),
        object(ObjectKind::SvrConn, "SYSTEM.ADMIN.SVRCONN", same),
    ]);
    all.push(delay_queue());
    all.extend(LATER_EVENT_QUEUES.map(event_queue));
    all.extend(publish_subscribe());
    all.extend(default_records());
    all
}
