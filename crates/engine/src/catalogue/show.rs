//! DISPLAY: definitions and the state of the moment, as rows.

use posthaste_command::{
    DisplayType, DisplayWhat, Object, ObjectKind, Reply, Row, Where, generic_matches, row_of,
    shows_all, where_matches,
};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use super::{Definition, Runtime};
use crate::manager::QueueManager;
use crate::session::ConnectionStatus;
use crate::verbs::clock;

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
    fn add(&self, reply: &mut Reply, id: &'static str, full: Row, headings: usize) {
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

    fn found(&self, reply: Reply, id: &'static str) -> Reply {
        if reply.rows.is_empty() {
            return Reply::failed(id, &[self.name.to_owned()], Reason::UNKNOWN_OBJECT_NAME);
        }
        reply
    }
}

pub(super) fn display(qm: &QueueManager, request: &Request<'_>) -> Reply {
    match request.what {
        DisplayWhat::QStatus => queue_status(qm, request),
        DisplayWhat::QMStatus => manager_status(qm, request),
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

fn queue_status(qm: &QueueManager, request: &Request<'_>) -> Reply {
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
        row.push_int("IPPROCS", status.open_input);
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
            let mut row = Row::default();
            row.push("QUEUE", name);
            row.push("TYPE", "HANDLE");
            row.push_text("APPLTAG", &connection.application.name);
            row.push("BROWSE", yes(*options, MQOO_BROWSE));
            row.push_text("CHANNEL", &connection.application.channel);
            row.push_text("CONNAME", &connection.application.conname);
            row.push("INPUT", input_word(*options));
            row.push("INQUIRE", yes(*options, MQOO_INQUIRE));
            row.push("OUTPUT", yes(*options, MQOO_OUTPUT));
            row.push_int("PID", connection.application.pid);
            row.push("SET", yes(*options, MQOO_SET));
            row.push_int("TID", connection.application.tid);
            row.push_text("USERID", &connection.application.user);
            request.add(reply, "AMQ8450I", row, 2);
        }
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

fn manager_status(qm: &QueueManager, request: &Request<'_>) -> Reply {
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
    row.push("CMDSERV", "RUNNING");
    row.push("CHINIT", "RUNNING");
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
    request.add(&mut reply, "AMQ8705I", row, 2);
    reply
}

fn connections(qm: &QueueManager, request: &Request<'_>) -> Reply {
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
                row.push("HSTATE", "ACTIVE");
                request.add(&mut reply, "AMQ8276I", row, 3);
            }
        }
    }
    request.found(reply, "AMQ8147E")
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
        (MQOO_FAIL_IF_QUIESCING, "MQOO_FAIL_IF_QUIESCING"),
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

fn connection_row(qm: &QueueManager, connection: &ConnectionStatus) -> Row {
    let who = &connection.application;
    let client = !who.channel.is_empty();
    let stamp = |moment: Option<i64>| moment.map(clock::display_stamp).unwrap_or_default();
    let (date, time) = stamp(connection.uow_started);
    let (log_date, log_time) = stamp(connection.uow_logged);
    let mut row = identity(qm, connection, "CONN");
    row.push_int("PID", who.pid);
    row.push_int("TID", who.tid);
    row.push_text("APPLDESC", if client { "Posthaste Channel" } else { "" });
    row.push_text("APPLTAG", &who.name);
    row.push("APPLTYPE", appl_type(who.appl_type));
    row.push("ASTATE", "NONE");
    row.push_text("CHANNEL", &who.channel);
    row.push_text("CLIENTID", "");
    row.push_text("CONNAME", &who.conname);
    // In-process applications and channels alike run inside the queue manager's address space.
    row.push("CONNOPTS", "MQCNO_FASTPATH_BINDING");
    row.push_text("USERID", &who.user);
    row.push_text("UOWLOG", "");
    row.push_text("UOWSTDA", &date);
    row.push_text("UOWSTTI", &time);
    row.push_text("UOWLOGDA", &log_date);
    row.push_text("UOWLOGTI", &log_time);
    row.push("URTYPE", "QMGR");
    row.push("EXTURID", "XA_FORMATID[] XA_GTRID[] XA_BQUAL[]");
    row.push(
        "QMURID",
        connection.uow_id.map_or_else(
            || "0.0".to_owned(),
            |id| format!("{}.{}", id >> 32, id & 0xFFFF_FFFF),
        ),
    );
    row.push("UOWSTATE", connection.uow_state);
    row
}
