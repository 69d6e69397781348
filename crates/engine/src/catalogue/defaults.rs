//! The objects every queue manager is created with.

use posthaste_command::{Attrs, Object, ObjectKind};
use posthaste_mqi::constants::*;

use crate::config::CreateOptions;

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
        object(ObjectKind::QLocal, "SYSTEM.DEAD.LETTER.QUEUE", deep),
        object(ObjectKind::QLocal, "SYSTEM.DEFAULT.INITIATION.QUEUE", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.COMMAND.QUEUE", |a| {
            a.set_int(MQIA_MAX_Q_DEPTH, 3000);
        }),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.QMGR.EVENT", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.CHANNEL.EVENT", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.PERFM.EVENT", same),
        object(ObjectKind::QLocal, "SYSTEM.ADMIN.STATISTICS.QUEUE", same),
        object(ObjectKind::SvrConn, "SYSTEM.ADMIN.SVRCONN", same),
    ]);
    all
}
