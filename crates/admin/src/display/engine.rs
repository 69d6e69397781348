//! State of what the engine has: queues, connections and the queue manager at this moment, as rows.
//!
//! Invariant: nothing in a row is guessed: what only an owner of other parts can know comes from it.

use posthaste_authority::ObjectType;
use posthaste_command::{DisplayType, DisplayWhat, ObjectKind, Reply, Row, Value, generic_matches};
use posthaste_engine::{
    Application, ConnectionCounts, ConnectionStatus, HandleStatus, Need, QueueManager, QueueStatus,
    TransactionState, UnitStatus, display_stamp,
};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use super::{Cells, Request};
use crate::authority::DISPLAY;
use crate::beside::{ComponentState, Components};
use crate::connection;

impl ComponentState {
    pub(super) fn word(self) -> &'static str {
        match self {
            ComponentState::Stopped => "STOPPED",
            ComponentState::Starting => "STARTING",
            ComponentState::Running => "RUNNING",
            ComponentState::Stopping => "STOPPING",
        }
    }
}

pub(super) fn queue_status(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let connections = match request.type_ {
        Some(DisplayType::Handle) => Some(qm.connection_status()),
        _ => None,
    };
    for (name, status) in qm.queue_statuses(|name| generic_matches(request.name, name)) {
        match &connections {
            Some(connections) => queue_handles(connections, request, &name, &mut reply),
            None => {
                let row = Cells::whole(queue_row(&name, &status), 2);
                request.add(&mut reply, "AMQ8450I", row);
            }
        }
    }
    request.any(reply)
}

fn queue_row(name: &str, status: &QueueStatus) -> Row {
    let mut row = Row::of(DisplayWhat::QStatus);
    row.push("QUEUE", name);
    row.push("TYPE", "QUEUE");
    // Of a damaged queue nobody knows it.
    row.push("CURDEPTH", (!status.damaged).then_some(status.depth));
    row.push("CURFSIZE", status.file_blocks / 2048);
    row.push("CURMAXFS", status.largest_file >> 20);
    row.push("IPPROCS", status.open_input);
    // Nothing is collected, whatever MONQ says.
    for keyword in [
        "LGETDATE", "LGETTIME", "LPUTDATE", "LPUTTIME", "MSGAGE", "QTIME",
    ] {
        row.push(keyword, Value::Blank);
    }
    // The log is circular: there are no media images.
    row.push("MEDIALOG", "");
    row.push("MONQ", "OFF");
    row.push("OPPROCS", status.open_output);
    row.push("UNCOM", if status.uncommitted { "YES" } else { "NO" });
    row
}

/// DISPLAY QSTATUS TYPE(HANDLE): who has the queue open, by its own name or by one that leads to it; the names that count for IPPROCS
/// and OPPROCS too.
fn queue_handles(
    connections: &[ConnectionStatus],
    request: &Request<'_>,
    name: &str,
    reply: &mut Reply,
) {
    for connection in connections {
        let on_it = |handle: &&HandleStatus| handle.queue.as_deref() == Some(name);
        for handle in connection.handles.iter().filter(on_it) {
            let row = handle_row(connection, name, handle.options);
            request.add(reply, "AMQ8450I", Cells::whole(row, 2));
        }
    }
}

fn handle_row(connection: &ConnectionStatus, name: &str, options: i32) -> Row {
    let yes = |bits: i32| if options & bits != 0 { "YES" } else { "NO" };
    let who = &connection.application;
    let mut row = Row::of(DisplayWhat::QStatus);
    row.push("QUEUE", name);
    row.push("TYPE", "HANDLE");
    row.push("APPLDESC", description(connection));
    row.push("APPLTAG", &who.name);
    row.push("APPLTYPE", appl_type(who.appl_type));
    row.push("ASTATE", "NONE");
    row.push("BROWSE", yes(MQOO_BROWSE));
    row.push("CHANNEL", &who.channel);
    row.push("CONN", conn(connection));
    row.push("CONNAME", &who.conname);
    let (external, urtype) = external_unit(connection);
    row.push("EXTURID", external);
    row.push("HSTATE", handle_state(connection));
    row.push("INPUT", input_word(options));
    row.push("INQUIRE", yes(MQOO_INQUIRE));
    row.push("OPENOPTS", options);
    row.push("OUTPUT", yes(MQOO_OUTPUT));
    row.push("PID", who.pid);
    row.push("QMURID", unit_number(connection));
    row.push("SET", yes(MQOO_SET));
    row.push("TID", who.tid);
    row.push("URTYPE", urtype);
    row.push("USERID", &who.user);
    row
}

fn conn(connection: &ConnectionStatus) -> String {
    connection::conn(connection.number)
}

/// EXTURID of a unit of work that is the queue manager's own.
const NO_EXTERNAL_UNIT: &str = "XA_FORMATID[] XA_GTRID[] XA_BQUAL[]";

/// EXTURID and URTYPE: who decides about the unit of work.
fn external_unit(connection: &ConnectionStatus) -> (String, &'static str) {
    let unit = connection.unit.as_ref();
    match unit.and_then(|unit| unit.branch.as_ref()) {
        Some(xid) => (xid.to_string(), "XA"),
        None => (NO_EXTERNAL_UNIT.to_owned(), "QMGR"),
    }
}

fn unit_number(connection: &ConnectionStatus) -> String {
    let id = connection.unit.as_ref().map_or(0, |unit| unit.id);
    format!("{}.{}", id >> 32, id & 0xFFFF_FFFF)
}

fn description(connection: &ConnectionStatus) -> &'static str {
    match connection.application.channel.is_empty() {
        true => "",
        false => "Posthaste Channel",
    }
}

/// Whether a call of the connection is in progress.
fn handle_state(connection: &ConnectionStatus) -> &'static str {
    match connection.in_call {
        true => "ACTIVE",
        false => "INACTIVE",
    }
}

fn input_word(options: i32) -> &'static str {
    if options & MQOO_INPUT_EXCLUSIVE != 0 {
        "EXCL"
    } else if options & MQOO_INPUT_SHARED != 0 {
        "SHARED"
    } else {
        "NO"
    }
}

pub(super) fn manager_status(
    qm: &QueueManager,
    beside: Option<&dyn Components>,
    request: &Request<'_>,
) -> Reply {
    let mut reply = Reply::default();
    let status = qm.status();
    let log = &status.log;
    let file = |extent: u64| format!("S{extent:07}.LOG");
    let part = |state: fn(&dyn Components) -> ComponentState| beside.map(state).unwrap_or_default();
    let percent = log.used_bytes * 100 / log.primary_bytes.max(1);
    let (date, time) = display_stamp(status.started);
    let mut row = Row::of(DisplayWhat::QMStatus);
    row.push("QMNAME", qm.name());
    row.push(
        "STATUS",
        match status.quiescing {
            true => "QUIESCING",
            false => "RUNNING",
        },
    );
    row.push("CONNS", status.connections as i64);
    row.push("CMDSERV", part(|beside| beside.command_server()).word());
    row.push("CHINIT", part(|beside| beside.channel_initiator()).word());
    row.push("STANDBY", "NOPERMIT");
    row.push("STARTDA", date);
    row.push("STARTTI", time);
    row.push("HOSTNAME", beside.map(Components::host_name));
    row.push("DATPATH", status.data.display().to_string());
    row.push("INSTNAME", "Installation1");
    row.push("INSTDESC", "");
    // It is in no cluster.
    row.push("AUTOCLUS", "NONE");
    row.push("UNICLUS", "");
    row.push("LOGTYPE", "CIRCULAR");
    row.push("CURRLOG", file(log.current));
    row.push("RECLOG", file(log.restart));
    row.push("LOGEXTSZ", log.extent_bytes / 1024);
    row.push("LOGPRIM", log.primary);
    row.push("LOGSEC", log.secondary);
    row.push("LOGINUSE", percent);
    row.push("LOGUTIL", percent.min(100));
    row.push("LOGPATH", log.path.display().to_string());
    row.push("RECSZ", log.used_bytes >> 20);
    // What only a linear log has.
    for keyword in ["ARCHLOG", "ARCHSZ", "MEDIALOG", "MEDIASZ", "REUSESZ"] {
        row.push(keyword, "");
    }
    request.add(&mut reply, "AMQ8705I", Cells::whole(row, 2));
    reply
}

pub(super) fn connections(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    // By CONN, or by the whole identifier, of which that is the end.
    let whole = |c: &ConnectionStatus| format!("{}{}", connection::external(qm), conn(c));
    let wanted = |c: &ConnectionStatus| {
        generic_matches(request.name, &conn(c)) || generic_matches(request.name, &whole(c))
    };
    for connection in qm.connection_status().iter().filter(|c| wanted(c)) {
        let (itself, handles) = match request.type_ {
            None | Some(DisplayType::Conn) => (true, false),
            Some(DisplayType::Handle) => (false, true),
            Some(_) => (true, true),
        };
        if itself {
            let mut row = connection_row(qm, connection);
            let active = connection.unit.is_some();
            row.push("UOWSTATE", if active { "ACTIVE" } else { "NONE" });
            request.add(&mut reply, "AMQ8276I", Cells::whole(row, 3));
        }
        let shown = |handle: &&HandleStatus| handles && may_name(qm, request, handle);
        for handle in connection.handles.iter().filter(shown) {
            let mut row = identity(qm, connection, "HANDLE");
            row.push("OBJNAME", handle.object.as_str());
            row.push(
                "OBJTYPE",
                match handle.kind {
                    ObjectKind::Qmgr => "QMGR",
                    ObjectKind::Topic => "TOPIC",
                    ObjectKind::Process => "PROCESS",
                    ObjectKind::Namelist => "NAMELIST",
                    _ => "QUEUE",
                },
            );
            row.push("OPENOPTS", handle.options);
            for keyword in ["DEST", "DESTQMGR", "SUBID", "SUBNAME"] {
                row.push(keyword, Value::Blank);
            }
            let topic = handle.topic.as_ref().map(|open| open.topic.as_str());
            let may = |topic: &&str| qm.may(request.issuer, Need::Topic(topic, DISPLAY));
            row.push("TOPICSTR", topic.filter(may));
            push_handle_state(&mut row, connection);
            request.add(&mut reply, "AMQ8276I", Cells::whole(row, 3));
        }
        if handles {
            subscription_handles(qm, connection, request, &mut reply);
        }
    }
    if request.type_ != Some(DisplayType::Handle) {
        for branch in branches_alone(qm).iter().filter(|c| wanted(c)) {
            let mut row = connection_row(qm, branch);
            row.push("UOWSTATE", "PREPARED");
            request.add(&mut reply, "AMQ8276I", Cells::whole(row, 3));
        }
    }
    match reply.rows.is_empty() {
        true => {
            // One that is there may have nothing open, or nothing that whoever asks may see.
            let is_there = || qm.connection_status().iter().any(wanted);
            let several = request.name.ends_with('*') || request.filter.is_some();
            let reason = match several || is_there() {
                true => Reason::CCF_NONE_FOUND,
                false => Reason::CCF_CONNECTION_ID_ERROR,
            };
            Reply::failed("AMQ8461E", &[], reason)
        }
        false => reply,
    }
}

/// Whether whoever asks may see the name of what a handle is on.
fn may_name(qm: &QueueManager, request: &Request<'_>, handle: &HandleStatus) -> bool {
    let need = match handle.kind {
        // Everybody who issues commands may display it.
        ObjectKind::Qmgr => return true,
        kind => Need::Object(kind.object_type(), &handle.object, DISPLAY),
    };
    qm.may(request.issuer, need)
}

fn push_handle_state(row: &mut Row, connection: &ConnectionStatus) {
    row.push("HSTATE", handle_state(connection));
    row.push("ASTATE", "NONE");
    row.push("READA", "NO");
}

/// DISPLAY CONN TYPE(HANDLE): the subscriptions that a connection has handles on.
fn subscription_handles(
    qm: &QueueManager,
    connection: &ConnectionStatus,
    request: &Request<'_>,
    reply: &mut Reply,
) {
    if connection.subscriptions.is_empty() {
        return;
    }
    let may = |need: Need<'_>| qm.may(request.issuer, need);
    for status in qm.subscriptions(|_, id| connection.subscriptions.contains(id)) {
        if !may(Need::Topic(&status.topic, DISPLAY)) {
            continue;
        }
        let attrs = &status.definition.attrs;
        let mut row = identity(qm, connection, "HANDLE");
        row.push("OBJNAME", attrs.text(MQCA_TOPIC_NAME));
        row.push("OBJTYPE", "TOPIC");
        row.push("OPENOPTS", 0);
        let queue = attrs.text(MQCACF_DESTINATION);
        let of_queue = Need::Object(ObjectType::Queue, queue, DISPLAY);
        row.push("DEST", if may(of_queue) { queue } else { "" });
        row.push("DESTQMGR", attrs.text(MQCACF_DESTINATION_Q_MGR));
        row.push("SUBID", Value::Bytes(status.id.to_vec()));
        row.push("SUBNAME", status.definition.name.as_str());
        row.push("TOPICSTR", status.topic.as_str());
        push_handle_state(&mut row, connection);
        request.add(reply, "AMQ8276I", Cells::whole(row, 3));
    }
}

/// The branches that are in doubt: units of work without a connection, under a number that no connection has.
fn branches_alone(qm: &QueueManager) -> Vec<ConnectionStatus> {
    let mut branches = qm.transactions();
    branches.retain(|branch| branch.state == TransactionState::Prepared);
    let alone = branches.into_iter().map(|branch| ConnectionStatus {
        number: 0,
        application: Application {
            appl_type: MQAT_QMGR,
            ..Application::default()
        },
        in_call: false,
        unit: Some(UnitStatus {
            id: branch.id,
            started: branch.started,
            logged: None,
            branch: branch.branch,
        }),
        handles: Vec::new(),
        subscriptions: Vec::new(),
        counts: ConnectionCounts::default(),
    });
    alone.collect()
}

/// CONN, EXTCONN and TYPE: which connection it is.
fn identity(qm: &QueueManager, connection: &ConnectionStatus, kind: &str) -> Row {
    let mut row = Row::of(DisplayWhat::Conn);
    for (keyword, value) in [
        ("CONN", conn(connection)),
        ("EXTCONN", connection::external(qm)),
        ("TYPE", kind.to_owned()),
    ] {
        row.push(keyword, value);
        row.end_line();
    }
    row
}

fn appl_type(number: i32) -> &'static str {
    match number {
        MQAT_QMGR => "SYSTEM",
        MQAT_CHANNEL_INITIATOR => "CHINIT",
        _ => "USER",
    }
}

fn connection_row(qm: &QueueManager, connection: &ConnectionStatus) -> Row {
    let who = &connection.application;
    let unit = connection.unit.as_ref();
    let stamp = |moment: Option<i64>| moment.map(display_stamp).unzip();
    let (date, time) = stamp(unit.map(|unit| unit.started));
    let (log_date, log_time) = stamp(unit.and_then(|unit| unit.logged));
    let (external, urtype) = external_unit(connection);
    let mut row = identity(qm, connection, "CONN");
    row.push("PID", who.pid);
    row.push("TID", who.tid);
    row.push("APPLDESC", description(connection));
    row.push("APPLTAG", &who.name);
    row.push("APPLTYPE", appl_type(who.appl_type));
    row.push("ASTATE", "NONE");
    row.push("CHANNEL", &who.channel);
    row.push("CLIENTID", "");
    row.push("CONNAME", &who.conname);
    row.push("CONNOPTS", who.options_in_force());
    row.push("USERID", &who.user);
    row.push("UOWLOG", "");
    row.push("UOWSTDA", date);
    row.push("UOWSTTI", time);
    row.push("UOWLOGDA", log_date);
    row.push("UOWLOGTI", log_time);
    row.push("URTYPE", urtype);
    row.push("EXTURID", external);
    row.push("QMURID", unit_number(connection));
    row
}
