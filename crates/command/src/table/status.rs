//! What the DISPLAY commands about state can show. These are not attributes of objects: the
//! queue manager makes them up as it is asked, so the table holds their keywords only.
//!
//! Invariant: a keyword is either answered, in every row of its TYPE (tested where the rows are
//! made), or one of MQ's that is refused (AMQ2401E): none is accepted and left out.

use super::{attributes, by_keyword};
use crate::command::{DisplayType, DisplayWhat};
use crate::object::ObjectKind;

/// The keywords of a DISPLAY command about state.
struct Status {
    /// In rows of every TYPE.
    heading: &'static [&'static str],
    /// In rows of TYPE(QUEUE) or TYPE(CONN), which are those without TYPE; in all rows of a command
    /// that has no TYPE.
    own: &'static [&'static str],
    /// In rows of TYPE(HANDLE).
    handle: &'static [&'static str],
    /// MQ's others.
    not_here: &'static [&'static str],
}

/// DISPLAY QSTATUS (manual: "DISPLAY QSTATUS"). What MONQ would collect is not here.
const QSTATUS: Status = Status {
    heading: &["QUEUE", "TYPE"],
    own: &[
        "CURDEPTH", "CURFSIZE", "CURMAXFS", "IPPROCS", "MEDIALOG", "MONQ", "OPPROCS", "UNCOM",
    ],
    handle: &[
        "APPLDESC", "APPLTAG", "APPLTYPE", "ASTATE", "BROWSE", "CHANNEL", "CONN", "CONNAME",
        "EXTURID", "HSTATE", "INPUT", "INQUIRE", "OUTPUT", "PID", "QMURID", "SET", "TID", "URTYPE",
        "USERID",
    ],
    not_here: &[
        "ASID", "LGETDATE", "LGETTIME", "LPUTDATE", "LPUTTIME", "MSGAGE", "PSBNAME", "PSTID",
        "QSGDISP", "QTIME", "TASKNO", "TRANSID", "URID",
    ],
};

/// DISPLAY QMSTATUS (manual: "DISPLAY QMSTATUS").
const QMSTATUS: Status = Status {
    heading: &["QMNAME", "STATUS"],
    own: &[
        "ARCHLOG", "ARCHSZ", "CHINIT", "CMDSERV", "CONNS", "CURRLOG", "LOGEXTSZ", "LOGINUSE",
        "LOGPATH", "LOGPRIM", "LOGSEC", "LOGTYPE", "LOGUTIL", "MEDIALOG", "MEDIASZ", "RECLOG",
        "RECSZ", "REUSESZ", "STANDBY", "STARTDA", "STARTTI",
    ],
    handle: &[],
    not_here: &[
        "AUTOCLUS", "DATFSSZ", "DATFSUSE", "DATPATH", "HOSTNAME", "INSTDESC", "INSTNAME",
        "INSTPATH", "LDAPCONN", "LOGFSSZ", "LOGFSUSE", "LOGSTRDA", "LOGSTRL", "LOGSTRTI",
        "QMFSENC", "QMFSSZ", "QMFSUSE", "UNICLUS",
    ],
};

/// What LOG of DISPLAY QMSTATUS asks for.
pub(crate) const LOG_KEYWORDS: &[&str] = &[
    "ARCHLOG", "ARCHSZ", "CURRLOG", "LOGEXTSZ", "LOGINUSE", "LOGPATH", "LOGPRIM", "LOGSEC",
    "LOGTYPE", "LOGUTIL", "MEDIALOG", "MEDIASZ", "RECLOG", "RECSZ", "REUSESZ",
];

/// DISPLAY CONN (manual: "DISPLAY CONN").
const CONN: Status = Status {
    heading: &["CONN", "EXTCONN", "TYPE"],
    own: &[
        "APPLDESC", "APPLTAG", "APPLTYPE", "ASTATE", "CHANNEL", "CLIENTID", "CONNAME", "CONNOPTS",
        "EXTURID", "PID", "QMURID", "TID", "UOWLOG", "UOWLOGDA", "UOWLOGTI", "UOWSTATE", "UOWSTDA",
        "UOWSTTI", "URTYPE", "USERID",
    ],
    handle: &[
        "ASTATE", "HSTATE", "OBJNAME", "OBJTYPE", "OPENOPTS", "READA",
    ],
    not_here: &[
        "ASID", "CONNTAG", "DEST", "DESTQMGR", "PSBNAME", "PSTID", "QSGDISP", "SUBID", "SUBNAME",
        "TASKNO", "TOPICSTR", "TRANSID", "URDISP", "URID",
    ],
};

/// DISPLAY CHSTATUS (manual: "DISPLAY CHSTATUS"). What only message channels have is not here.
const CHSTATUS: Status = Status {
    heading: &["CHANNEL", "CHLTYPE", "CONNAME", "CURRENT", "STATUS"],
    own: &[
        "BUFSRCVD", "BUFSSENT", "BYTSRCVD", "BYTSSENT", "CHSTADA", "CHSTATI", "COMPHDR", "COMPMSG",
        "COMPRATE", "COMPTIME", "CURSHCNV", "EXITTIME", "HBINT", "JOBNAME", "LSTMSGDA", "LSTMSGTI",
        "MAXMSGL", "MAXSHCNV", "MCASTAT", "MCAUSER", "MONCHL", "MSGS", "RAPPLTAG", "RPRODUCT",
        "RVERSION", "SECPROT", "SSLCERTI", "SSLCERTU", "SSLCIPH", "SSLKEYDA", "SSLKEYTI",
        "SSLPEER", "SSLRKEYS", "STOPREQ", "SUBSTATE",
    ],
    handle: &[],
    not_here: &[
        "AMQPKA", "BATCHES", "BATCHSZ", "CURLUWID", "CURMSGS", "CURSEQNO", "INDOUBT", "INDMSGS",
        "INDSEQNO", "KAINT", "LOCLADDR", "LSTLUWID", "LSTSEQNO", "MONITOR", "NETTIME", "NPMSPEED",
        "PORT", "QMNAME", "RQMNAME", "SAVED", "SHORT", "SHORTRTS", "LONGRTS", "STATCHL",
        "XBATCHSZ", "XMITQ", "XQMSGSA", "XQTIME",
    ],
};

/// DISPLAY LSSTATUS (manual: "DISPLAY LSSTATUS"). What is not TCP is not here.
const LSSTATUS: Status = Status {
    heading: &["LISTENER", "STATUS", "PID"],
    own: &[
        "BACKLOG", "CONTROL", "DESCR", "IPADDR", "PORT", "STARTDA", "STARTTI", "TRPTYPE",
    ],
    handle: &[],
    not_here: &[
        "ADAPTER", "CMDS", "LOCLNAME", "NTBNAMES", "SESSIONS", "SOCKET", "TPNAME",
    ],
};

/// The keywords of a DISPLAY command about state; `None` for one about objects.
fn status(what: DisplayWhat) -> Option<&'static Status> {
    match what {
        DisplayWhat::QStatus => Some(&QSTATUS),
        DisplayWhat::QMStatus => Some(&QMSTATUS),
        DisplayWhat::Conn => Some(&CONN),
        DisplayWhat::ChStatus => Some(&CHSTATUS),
        DisplayWhat::LsStatus => Some(&LSSTATUS),
        DisplayWhat::Object(_)
        | DisplayWhat::Queue
        | DisplayWhat::Channel
        | DisplayWhat::Listener
        | DisplayWhat::Qmgr => None,
    }
}

/// The keywords that a DISPLAY command about state answers in rows of a TYPE; none for a command
/// about objects.
pub fn status_keywords(what: DisplayWhat, type_: DisplayType) -> Vec<&'static str> {
    let Some(status) = status(what) else {
        return Vec::new();
    };
    let rows: &[&[_]] = match type_ {
        DisplayType::Handle => &[status.heading, status.handle],
        DisplayType::Queue | DisplayType::Conn | DisplayType::Kind(_) => {
            &[status.heading, status.own]
        }
        DisplayType::All => &[status.heading, status.own, status.handle],
    };
    rows.concat()
}

/// Whether a word is one of MQ's keywords for `what` that this release does not answer.
pub(crate) fn is_not_here(what: DisplayWhat, word: &str) -> bool {
    let words = status(what).map_or(&[][..], |status| status.not_here);
    words
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// The TYPE whose rows alone have a keyword.
pub(crate) fn type_of_keyword(what: DisplayWhat, keyword: &str) -> Option<DisplayType> {
    let status = status(what)?;
    let own = match what {
        DisplayWhat::Conn => DisplayType::Conn,
        _ => DisplayType::Queue,
    };
    match (
        status.own.contains(&keyword),
        status.handle.contains(&keyword),
    ) {
        (true, false) if !status.handle.is_empty() => Some(own),
        (false, true) => Some(DisplayType::Handle),
        _ => None,
    }
}

/// The kinds of object that a DISPLAY command about objects covers.
pub(crate) fn displayed_kinds(what: DisplayWhat) -> Vec<ObjectKind> {
    match what {
        DisplayWhat::Object(kind) => vec![kind],
        DisplayWhat::Queue => ObjectKind::QUEUES.to_vec(),
        DisplayWhat::Channel => vec![ObjectKind::SvrConn],
        DisplayWhat::Listener => vec![ObjectKind::Listener],
        DisplayWhat::Qmgr => vec![ObjectKind::Qmgr],
        DisplayWhat::QStatus
        | DisplayWhat::QMStatus
        | DisplayWhat::Conn
        | DisplayWhat::ChStatus
        | DisplayWhat::LsStatus => Vec::new(),
    }
}

/// The keyword as DISPLAY shows it, when `word` asks for something that `what` can show.
/// Synonyms are replaced (`QTYPE` gives `TYPE`, `NOSHARE` gives `SHARE`).
pub(crate) fn where_keyword(what: DisplayWhat, word: &str) -> Option<&'static str> {
    if status(what).is_some() {
        return status_keywords(what, DisplayType::All)
            .into_iter()
            .find(|keyword| keyword.eq_ignore_ascii_case(word));
    }
    displayed_kinds(what)
        .into_iter()
        .find_map(|kind| by_keyword(kind, word))
        .map(|attribute| attribute.keyword)
}

/// Every keyword that `what` can show, for finding what was meant.
pub(crate) fn all_keywords(what: DisplayWhat) -> Vec<&'static str> {
    match status(what) {
        Some(_) => status_keywords(what, DisplayType::All),
        None => displayed_kinds(what)
            .into_iter()
            .flat_map(attributes)
            .map(|attribute| attribute.keyword)
            .collect(),
    }
}
