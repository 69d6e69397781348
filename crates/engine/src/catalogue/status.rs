//! DISPLAY of state: queues, connections and the queue manager at this moment, as rows.
//!
//! Invariant: a row has every keyword that [`posthaste_command::status_keywords`] names for its TYPE,
//! and nothing in it is guessed: what only the engine's owner can know comes in with the command.

use posthaste_command::{DisplayType, Reply, Row, generic_matches};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use posthaste_store::LARGEST_FILE;

use super::show::Request;
use crate::manager::QueueManager;
use crate::session::{Application, Binding, ConnectionStatus};
use crate::verbs::clock;
use crate::verbs::connect::{BINDINGS, PLACES};

/// How a part of the queue manager that runs beside the engine is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartState {
    /// It does not run.
    #[default]
    Stopped,
    /// It will run.
    Starting,
    /// It runs.
    Running,
    /// It is ending.
    Stopping,
}

impl PartState {
    fn word(self) -> &'static str {
        match self {
            PartState::Stopped => "STOPPED",
            PartState::Starting => "STARTING",
            PartState::Running => "RUNNING",
            PartState::Stopping => "STOPPING",
        }
    }
}

/// The parts that run beside the engine, as their owner sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// The command server (`CMDSERV`).
    pub command_server: PartState,
    /// What admits clients over the network (`CHINIT`).
    pub channel_initiator: PartState,
}

pub(super) fn queue_status(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let mut queues = qm.inner().catalogue.local_queues();
    queues.retain(|q| generic_matches(request.name, &q.name.text()));
    queues.sort_by_key(|q| q.name);
    for queue in queues {
        if request.type_ == Some(DisplayType::Handle) {
            queue_handles(qm, request, &queue.name.text(), &mut reply);
            continue;
        }
        let status = queue.status();
        let mut row = Row::default();
        row.push("QUEUE", queue.name.text());
        row.push("TYPE", "QUEUE");
        row.push_int("CURDEPTH", status.depth);
        row.push_int("CURFSIZE", (status.file_blocks / 2048) as i64);
        row.push_int("CURMAXFS", (LARGEST_FILE >> 20) as i64);
        row.push_int("IPPROCS", status.open_input);
        // The log is circular: there are no media images.
        row.push_text("MEDIALOG", "");
        // Nothing is collected, whatever the attribute says.
        row.push("MONQ", "OFF");
        row.push_int("OPPROCS", status.open_output);
        row.push("UNCOM", if status.uncommitted { "YES" } else { "NO" });
        request.add(&mut reply, "AMQ8450I", row, 2);
    }
    request.found(reply, "AMQ8565E")
}

/// DISPLAY QSTATUS TYPE(HANDLE): who has the queue open.
fn queue_handles(qm: &QueueManager, request: &Request<'_>, name: &str, reply: &mut Reply) {
    let yes = |options: i32, bits: i32| if options & bits != 0 { "YES" } else { "NO" };
    for connection in qm.connection_status() {
        for (_, options) in connection.handles.iter().filter(|(n, _)| n == name) {
            let who = &connection.application;
            let mut row = Row::default();
            row.push("QUEUE", name);
            row.push("TYPE", "HANDLE");
            row.push_text("APPLDESC", description(&connection));
            row.push_text("APPLTAG", &who.name);
            row.push("APPLTYPE", appl_type(who.appl_type));
            row.push("ASTATE", "NONE");
            row.push("BROWSE", yes(*options, MQOO_BROWSE));
            row.push_text("CHANNEL", &who.channel);
            row.push("CONN", connection.conn.as_str());
            row.push_text("CONNAME", &who.conname);
            row.push("EXTURID", NO_EXTERNAL_UNIT);
            row.push("HSTATE", handle_state(&connection));
            row.push("INPUT", input_word(*options));
            row.push("INQUIRE", yes(*options, MQOO_INQUIRE));
            row.push("OUTPUT", yes(*options, MQOO_OUTPUT));
            row.push_int("PID", who.pid);
            row.push("QMURID", unit_number(&connection));
            row.push("SET", yes(*options, MQOO_SET));
            row.push_int("TID", who.tid);
            row.push("URTYPE", "QMGR");
            row.push_text("USERID", &who.user);
            request.add(reply, "AMQ8450I", row, 2);
        }
    }
}

/// There are no units of work but the queue manager's own.
const NO_EXTERNAL_UNIT: &str = "XA_FORMATID[] XA_GTRID[] XA_BQUAL[]";

fn unit_number(connection: &ConnectionStatus) -> String {
    let number = connection.uow_id;
    number.map_or_else(
        || "0.0".to_owned(),
        |id| format!("{}.{}", id >> 32, id & 0xFFFF_FFFF),
    )
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

pub(super) fn manager_status(qm: &QueueManager, request: &Request<'_>, beside: &Beside) -> Reply {
    let mut reply = Reply::default();
    let inner = qm.inner();
    let usage = qm.log().usage();
    let extent = u64::from(inner.config.log_config.file_pages.max(1)) * 4096;
    let file = |lsn: u64| format!("S{:07}.LOG", lsn / extent);
    let (date, time) = clock::display_stamp(inner.started_at());
    let mut row = Row::default();
    row.push("QMNAME", qm.name());
    row.push(
        "STATUS",
        if inner.quiescing() {
            "QUIESCING"
        } else {
            "RUNNING"
        },
    );
    row.push_int("CONNS", qm.connections() as i64);
    row.push("CMDSERV", beside.command_server.word());
    row.push("CHINIT", beside.channel_initiator.word());
    row.push("STANDBY", "NOPERMIT");
    row.push("STARTDA", date);
    row.push("STARTTI", time);
    row.push("LOGTYPE", "CIRCULAR");
    row.push("CURRLOG", file(qm.log().appended().0));
    row.push("RECLOG", file(usage.restart.0));
    row.push_int("LOGEXTSZ", (extent / 1024) as i64);
    row.push_int("LOGPRIM", inner.config.log_config.primary_files);
    row.push_int("LOGSEC", inner.config.log_config.secondary_files);
    row.push_int("LOGINUSE", (usage.used * 100 / usage.primary.max(1)) as i64);
    row.push_int(
        "LOGUTIL",
        (usage.used * 100 / usage.primary.max(1)).min(100) as i64,
    );
    row.push("LOGPATH", inner.config.log.display().to_string());
    row.push_int("RECSZ", (usage.used >> 20) as i64);
    // What only a linear log has.
    for keyword in ["ARCHLOG", "ARCHSZ", "MEDIALOG", "MEDIASZ", "REUSESZ"] {
        row.push_text(keyword, "");
    }
    request.add(&mut reply, "AMQ8705I", row, 2);
    reply
}

pub(super) fn connections(qm: &QueueManager, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    let wanted = |c: &ConnectionStatus| generic_matches(request.name, &c.conn);
    for connection in qm.connection_status().iter().filter(|c| wanted(c)) {
        if matches!(
            request.type_,
            None | Some(DisplayType::Conn | DisplayType::All)
        ) {
            request.add(&mut reply, "AMQ8276I", connection_row(qm, connection), 3);
        }
        if matches!(request.type_, Some(DisplayType::Handle | DisplayType::All)) {
            for (name, options) in &connection.handles {
                let mut row = identity(qm, connection, "HANDLE");
                row.push("OBJNAME", name.as_str());
                row.push("OBJTYPE", if name == qm.name() { "QMGR" } else { "QUEUE" });
                row.push("OPENOPTS", open_words(*options));
                row.push("HSTATE", handle_state(connection));
                row.push("ASTATE", "NONE");
                row.push("READA", "NO");
                request.add(&mut reply, "AMQ8276I", row, 3);
            }
        }
    }
    match reply.rows.is_empty() {
        true => Reply::failed("AMQ8461E", &[], Reason::CCF_NONE_FOUND),
        false => reply,
    }
}

fn open_words(options: i32) -> String {
    let words = [
        (MQOO_INPUT_AS_Q_DEF, "MQOO_INPUT_AS_Q_DEF"),
        (MQOO_INPUT_SHARED, "MQOO_INPUT_SHARED"),
        (MQOO_INPUT_EXCLUSIVE, "MQOO_INPUT_EXCLUSIVE"),
        (MQOO_BROWSE, "MQOO_BROWSE"),
        (MQOO_OUTPUT, "MQOO_OUTPUT"),
        (MQOO_INQUIRE, "MQOO_INQUIRE"),
        (MQOO_SET, "MQOO_SET"),
        (MQOO_SAVE_ALL_CONTEXT, "MQOO_SAVE_ALL_CONTEXT"),
        (MQOO_PASS_IDENTITY_CONTEXT, "MQOO_PASS_IDENTITY_CONTEXT"),
        (MQOO_PASS_ALL_CONTEXT, "MQOO_PASS_ALL_CONTEXT"),
        (MQOO_SET_IDENTITY_CONTEXT, "MQOO_SET_IDENTITY_CONTEXT"),
        (MQOO_SET_ALL_CONTEXT, "MQOO_SET_ALL_CONTEXT"),
        (
            MQOO_ALTERNATE_USER_AUTHORITY,
            "MQOO_ALTERNATE_USER_AUTHORITY",
        ),
        (MQOO_FAIL_IF_QUIESCING, "MQOO_FAIL_IF_QUIESCING"),
        (MQOO_BIND_ON_OPEN, "MQOO_BIND_ON_OPEN"),
        (MQOO_BIND_NOT_FIXED, "MQOO_BIND_NOT_FIXED"),
        (MQOO_BIND_ON_GROUP, "MQOO_BIND_ON_GROUP"),
        (MQOO_RESOLVE_NAMES, "MQOO_RESOLVE_NAMES"),
        (MQOO_RESOLVE_LOCAL_Q, "MQOO_RESOLVE_LOCAL_Q"),
        (MQOO_NO_READ_AHEAD, "MQOO_NO_READ_AHEAD"),
        (MQOO_READ_AHEAD, "MQOO_READ_AHEAD"),
        (MQOO_NO_MULTICAST, "MQOO_NO_MULTICAST"),
    ];
    let named = words.iter().filter(|(bit, _)| options & bit != 0);
    named.map(|(_, word)| *word).collect::<Vec<_>>().join(",")
}

/// CONN, EXTCONN and TYPE: which connection it is.
fn identity(qm: &QueueManager, connection: &ConnectionStatus, kind: &str) -> Row {
    let mut external = String::from("414D5143");
    let name = qm.name().bytes().chain(std::iter::repeat(b' '));
    external.extend(name.take(12).map(|b| format!("{b:02X}")));
    let mut row = Row::default();
    row.push("CONN", connection.conn.as_str());
    row.end_line();
    row.push("EXTCONN", external);
    row.end_line();
    row.push("TYPE", kind);
    row.end_line();
    Row(row
        .0
        .into_iter()
        .filter(|(keyword, _)| !keyword.is_empty())
        .collect())
}

fn appl_type(number: i32) -> &'static str {
    match number {
        MQAT_QMGR => "SYSTEM",
        MQAT_CHANNEL_INITIATOR => "CHINIT",
        _ => "USER",
    }
}

/// The options in force: the application's, but for the binding, which is what it is.
fn connect_options(who: &Application) -> String {
    let binding = match who.binding {
        Binding::Fastpath => MQCNO_FASTPATH_BINDING,
        Binding::Shared => MQCNO_SHARED_BINDING,
    };
    let options = who.options & !(BINDINGS | PLACES) | binding;
    let bits = (0..i32::BITS).map(|n| options & 1i32.wrapping_shl(n));
    let words = bits
        .filter(|bit| *bit != 0)
        .filter_map(|bit| name_of("MQCNO_", bit));
    words.collect::<Vec<_>>().join(",")
}

fn connection_row(qm: &QueueManager, connection: &ConnectionStatus) -> Row {
    let who = &connection.application;
    let stamp = |moment: Option<i64>| moment.map(clock::display_stamp).unwrap_or_default();
    let (date, time) = stamp(connection.uow_started);
    let (log_date, log_time) = stamp(connection.uow_logged);
    let mut row = identity(qm, connection, "CONN");
    row.push_int("PID", who.pid);
    row.push_int("TID", who.tid);
    row.push_text("APPLDESC", description(connection));
    row.push_text("APPLTAG", &who.name);
    row.push("APPLTYPE", appl_type(who.appl_type));
    row.push("ASTATE", "NONE");
    row.push_text("CHANNEL", &who.channel);
    row.push_text("CLIENTID", "");
    row.push_text("CONNAME", &who.conname);
    row.push_text("CONNOPTS", &connect_options(who));
    row.push_text("USERID", &who.user);
    row.push_text("UOWLOG", "");
    row.push_text("UOWSTDA", &date);
    row.push_text("UOWSTTI", &time);
    row.push_text("UOWLOGDA", &log_date);
    row.push_text("UOWLOGTI", &log_time);
    row.push("URTYPE", "QMGR");
    row.push("EXTURID", NO_EXTERNAL_UNIT);
    row.push("QMURID", unit_number(connection));
    row.push("UOWSTATE", connection.uow_state);
    row
}
