//! DISPLAY and SAVE: definitions as rows and commands, and what a DISPLAY asks of any row.
//!
//! Invariant: a row has every keyword that the attribute table or [`posthaste_command::status_keywords`] names for it,
//! and only here is it cut to what was asked for.

mod engine;
mod fronts;
mod topics;

use std::collections::BTreeSet;

use posthaste_command::{
    DisplayType, DisplayWhat, Object, ObjectKind, Reply, Row, Value, Where, generic_matches,
    row_of, shows_all, where_matches, whole_mqsc_of,
};
use posthaste_engine::{Issuer, QueueManager, QueueStatus};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use crate::authority;
use crate::beside::Components;
use crate::change;
use crate::chlauth;

/// A DISPLAY command.
pub(crate) struct Request<'a> {
    /// For whom.
    pub(crate) issuer: &'a Issuer,
    pub(crate) what: DisplayWhat,
    pub(crate) name: &'a str,
    pub(crate) show: &'a [String],
    pub(crate) all: bool,
    pub(crate) filter: Option<&'a Where>,
    pub(crate) chosen: &'a [Where],
    pub(crate) type_: Option<DisplayType>,
}

/// A row of a status.
struct Cells {
    row: Row,
    /// So many at the beginning are shown whatever was asked for.
    always: usize,
    /// So many are shown when nothing was asked for.
    usual: usize,
}

impl Cells {
    /// A row that is shown whole when nothing was asked for.
    fn whole(row: Row, always: usize) -> Cells {
        let usual = row.len();
        Cells { row, always, usual }
    }
}

impl Request<'_> {
    /// Adds a row if the filter lets it through, cut to what was asked for.
    fn add(&self, reply: &mut Reply, id: &'static str, cells: Cells) {
        let Cells {
            mut row,
            always,
            usual,
        } = cells;
        let mut filters = self.filter.into_iter().chain(self.chosen);
        if !filters.all(|filter| where_matches(filter, &row)) {
            return;
        }
        let asked = |keyword: &str| {
            self.show.iter().any(|shown| shown == keyword)
                || self.filter.is_some_and(|f| f.keyword == keyword)
        };
        row.keep(|at, keyword| {
            self.all || at < always || (self.show.is_empty() && at < usual) || asked(keyword)
        });
        reply.add_row(id, row);
    }

    /// The reply, or that there is nothing of this name.
    fn any(&self, reply: Reply) -> Reply {
        match reply.rows.is_empty() {
            true => nothing(self.what, self.name),
            false => reply,
        }
    }

    /// The reply, if there is anything in it.
    fn found(&self, reply: Reply, id: &'static str, reason: Reason) -> Reply {
        match reply.rows.is_empty() {
            true => Reply::failed(id, &[self.name.to_owned()], reason),
            false => reply,
        }
    }
}

/// The answer to a DISPLAY of which nothing is there.
pub(crate) fn nothing(what: DisplayWhat, name: &str) -> Reply {
    let (id, reason) = match what {
        DisplayWhat::QStatus => ("AMQ8565E", Reason::UNKNOWN_OBJECT_NAME),
        DisplayWhat::ChStatus => ("AMQ8420I", Reason::CCF_CHL_STATUS_NOT_FOUND),
        DisplayWhat::SbStatus => ("AMQ8147E", change::unknown(ObjectKind::Sub)),
        DisplayWhat::Object(kind) => ("AMQ8147E", change::unknown(kind)),
        _ => ("AMQ8147E", Reason::UNKNOWN_OBJECT_NAME),
    };
    Reply::failed(id, &[name.to_owned()], reason)
}

pub(crate) fn display(
    qm: &QueueManager,
    beside: Option<&dyn Components>,
    request: &Request<'_>,
) -> Reply {
    match (request.what, beside) {
        (DisplayWhat::QStatus, _) => engine::queue_status(qm, request),
        (DisplayWhat::QMStatus, _) => engine::manager_status(qm, beside, request),
        (DisplayWhat::Conn, _) => engine::connections(qm, request),
        (DisplayWhat::Object(ObjectKind::Sub), _) => topics::subscriptions(qm, request),
        (DisplayWhat::TpStatus, _) => topics::topic_status(qm, request),
        (DisplayWhat::SbStatus, _) => topics::subscription_status(qm, request),
        (DisplayWhat::PubSub, _) => topics::publish_subscribe(qm, request),
        (DisplayWhat::Object(kind), _) => objects(qm, request, &ObjectKind::with_noun(kind.noun())),
        (DisplayWhat::Queue, _) => objects(qm, request, &ObjectKind::QUEUES),
        (DisplayWhat::ChStatus, Some(beside)) => fronts::channels(beside, request),
        (DisplayWhat::LsStatus, Some(beside)) => fronts::listeners(qm, beside, request),
        (DisplayWhat::SvStatus, Some(beside)) => fronts::services(qm, beside, request),
        (DisplayWhat::ChStatus | DisplayWhat::LsStatus | DisplayWhat::SvStatus, None) => not_here(),
    }
}

/// A definition with what is true of the moment in it.
fn with_status(mut object: Object, status: Option<&QueueStatus>) -> Object {
    let Some(status) = status else {
        return object;
    };
    for (selector, number) in [
        (MQIA_CURRENT_Q_DEPTH, status.depth),
        (MQIA_OPEN_INPUT_COUNT, status.open_input),
        (MQIA_OPEN_OUTPUT_COUNT, status.open_output),
    ] {
        object.attrs.set_int(selector, number);
    }
    if status.damaged {
        // Nobody knows it.
        object.attrs.set(MQIA_CURRENT_Q_DEPTH, Value::Blank);
    }
    object
}

/// SAVE QMGR: the command that makes each object again, in an order in which they can be run. Temporary
/// queues are their applications', and so are the subscriptions that these have made; a managed queue is its
/// subscription's, and made with it.
pub(crate) fn script(qm: &QueueManager) -> Reply {
    let mut reply = Reply::default();
    let subscriptions = qm.objects(ObjectKind::Sub).into_iter();
    let (managed, provided): (Vec<_>, Vec<_>) = subscriptions.partition(is_managed);
    let destination = |of: &Object| of.attrs.text(MQCACF_DESTINATION).to_owned();
    let mut managed: BTreeSet<String> = managed.iter().map(destination).collect();
    // One that another subscription sends to as well has to be there for that.
    for subscription in &provided {
        managed.remove(&destination(subscription));
    }
    for kind in ObjectKind::ALL {
        for object in qm.objects(kind) {
            if kind == ObjectKind::Sub && object.attrs.int(MQIACF_SUB_TYPE) != MQSUBTYPE_ADMIN {
                continue;
            }
            let object = saved(object);
            let goes = object.attrs.int(MQIA_DEFINITION_TYPE) == MQQDT_TEMPORARY_DYNAMIC
                || managed.contains(&object.name);
            if goes && kind == ObjectKind::QLocal {
                continue;
            }
            reply.add_message("AMQ2404I", &[whole_mqsc_of(&object)]);
        }
    }
    for command in chlauth::script(qm) {
        reply.add_message("AMQ2404I", &[command]);
    }
    authority::script(qm, &mut reply);
    reply
}

/// An object as its saved definition is to state it: a managed queue is made anew.
fn saved(mut object: Object) -> Object {
    if is_managed(&object) {
        object.attrs.set_text(MQCACF_DESTINATION, "");
        object.attrs.set_text(MQCACF_DESTINATION_Q_MGR, "");
    }
    object
}

/// Whether it is a subscription with a queue of its own.
fn is_managed(object: &Object) -> bool {
    object.kind == ObjectKind::Sub && object.attrs.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED
}

/// The reply to a command about what runs beside an engine that nothing runs beside.
pub(crate) fn not_here() -> Reply {
    let what = ["a command about running channels, listeners or services".to_owned()];
    Reply::failed("AMQ2401E", &what, Reason::FUNCTION_NOT_SUPPORTED)
}

fn objects(qm: &QueueManager, request: &Request<'_>, kinds: &[ObjectKind]) -> Reply {
    let mut reply = Reply::default();
    let wanted = |kind: ObjectKind, name: &str| {
        let of_kind = match request.type_ {
            Some(DisplayType::Kind(only)) => kind == only,
            _ => kinds.contains(&kind),
        };
        of_kind && (kind == ObjectKind::Qmgr || generic_matches(request.name, name))
    };
    for (object, status) in qm.definitions(wanted) {
        let object = with_status(object, status.as_ref());
        let wanted = |filter| where_matches(filter, &row_of(&object, &[], true));
        if !request.filter.is_none_or(wanted) {
            continue;
        }
        let everything = shows_all(request.name, request.show, request.all);
        let mut show = request.show.to_vec();
        show.extend(request.filter.map(|f| f.keyword.to_owned()));
        let id = object.kind.row().message_ids.shown;
        reply.add_row(id, row_of(&object, &show, everything));
    }
    request.any(reply)
}
