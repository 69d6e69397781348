//! DISPLAY: definitions as rows, and what a DISPLAY command asks of any row.

use posthaste_command::{
    DisplayType, DisplayWhat, Object, ObjectKind, Reply, Row, Where, generic_matches, row_of,
    shows_all, where_matches, whole_mqsc_of,
};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use super::status::{Beside, connections, manager_status, queue_status};
use super::{Definition, Runtime};
use crate::manager::QueueManager;

/// A DISPLAY command.
pub(super) struct Request<'a> {
    pub(super) what: DisplayWhat,
    pub(super) name: &'a str,
    pub(super) show: &'a [String],
    pub(super) all: bool,
    pub(super) filter: Option<&'a Where>,
    pub(super) type_: Option<DisplayType>,
}

impl Request<'_> {
    /// Adds a row if the filter lets it through, cut to what was asked for.
    pub(super) fn add(&self, reply: &mut Reply, id: &'static str, full: Row, headings: usize) {
        if self
            .filter
            .is_some_and(|filter| !where_matches(filter, &full))
        {
            return;
        }
        if self.all || self.show.is_empty() {
            reply.add_row(id, full);
            return;
        }
        let wanted = |keyword: &String| {
            self.show.contains(keyword) || self.filter.is_some_and(|f| f.keyword == *keyword)
        };
        let cells = full.0.into_iter().enumerate();
        let kept = cells.filter(|(at, (keyword, _))| *at < headings || wanted(keyword));
        reply.add_row(id, Row(kept.map(|(_, cell)| cell).collect()));
    }

    pub(super) fn found(&self, reply: Reply, id: &'static str) -> Reply {
        if reply.rows.is_empty() {
            return Reply::failed(id, &[self.name.to_owned()], Reason::UNKNOWN_OBJECT_NAME);
        }
        reply
    }
}

pub(super) fn display(qm: &QueueManager, request: &Request<'_>, beside: &Beside) -> Reply {
    match request.what {
        DisplayWhat::QStatus => queue_status(qm, request),
        DisplayWhat::QMStatus => manager_status(qm, request, beside),
        DisplayWhat::Conn => connections(qm, request),
        DisplayWhat::Object(kind) => objects(qm, request, &[kind]),
        DisplayWhat::Queue => objects(qm, request, &ObjectKind::QUEUES),
        DisplayWhat::Channel => objects(qm, request, &[ObjectKind::SvrConn]),
        DisplayWhat::Listener => objects(qm, request, &[ObjectKind::Listener]),
        DisplayWhat::Qmgr => objects(qm, request, &[ObjectKind::Qmgr]),
        // The caller has sent these elsewhere.
        DisplayWhat::ChStatus | DisplayWhat::LsStatus => Reply::default(),
    }
}

/// A definition with what is true of the moment in it.
fn with_state(definition: &Definition) -> Object {
    let mut object = definition.object();
    if let Runtime::Local(queue) = definition.runtime() {
        let status = queue.status();
        let int = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
        object
            .attrs
            .set_int(MQIA_CURRENT_Q_DEPTH, int(status.depth));
        object
            .attrs
            .set_int(MQIA_OPEN_INPUT_COUNT, int(status.open_input));
        object
            .attrs
            .set_int(MQIA_OPEN_OUTPUT_COUNT, int(status.open_output));
    }
    object
}

/// SAVE QMGR: the command that makes each object again, in an order in which they can be run. Temporary
/// queues are their applications'.
pub(super) fn definitions(qm: &QueueManager) -> Reply {
    let mut reply = Reply::default();
    for kind in ObjectKind::ALL {
        for object in qm.inner().catalogue.objects(kind) {
            if object.attrs.int(MQIA_DEFINITION_TYPE) == MQQDT_TEMPORARY_DYNAMIC
                && kind == ObjectKind::QLocal
            {
                continue;
            }
            reply.add_message("AMQ2404I", &[whole_mqsc_of(&object)]);
        }
    }
    reply
}

fn objects(qm: &QueueManager, request: &Request<'_>, kinds: &[ObjectKind]) -> Reply {
    let mut reply = Reply::default();
    let kinds: Vec<ObjectKind> = match request.type_ {
        Some(DisplayType::Kind(kind)) => vec![kind],
        _ => kinds.to_vec(),
    };
    let mut definitions = qm.inner().catalogue.all();
    definitions.retain(|d| {
        kinds.contains(&d.kind())
            && (d.kind() == ObjectKind::Qmgr || generic_matches(request.name, d.name()))
    });
    definitions.sort_by(|a, b| a.name().cmp(b.name()));
    for definition in definitions {
        let object = with_state(&definition);
        let full = row_of(&object, &[], true);
        if request.filter.is_some_and(|f| !where_matches(f, &full)) {
            continue;
        }
        let id = match definition.kind() {
            ObjectKind::Qmgr => "AMQ8408I",
            ObjectKind::SvrConn => "AMQ8414I",
            ObjectKind::Listener => "AMQ8630I",
            _ => "AMQ8409I",
        };
        let everything = shows_all(request.name, request.show, request.all);
        let mut show = request.show.to_vec();
        show.extend(request.filter.map(|f| f.keyword.clone()));
        reply.add_row(id, row_of(&object, &show, everything));
    }
    request.found(reply, "AMQ8147E")
}
