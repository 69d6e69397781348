//! What the DISPLAY commands about state can show. These are not attributes of objects: the
//! queue manager makes them up as it is asked, so the table holds their keywords only.

use super::{attributes, by_keyword};
use crate::command::DisplayWhat;
use crate::object::ObjectKind;

/// DISPLAY QSTATUS (manual: "DISPLAY QSTATUS"), for both of its types.
const QSTATUS: &[&str] = &[
    "QUEUE", "TYPE", "CURDEPTH", "CURFSIZE", "CURMAXFS", "IPPROCS", "LGETDATE", "LGETTIME",
    "LPUTDATE", "LPUTTIME", "MEDIALOG", "MONQ", "MSGAGE", "OPPROCS", "QTIME", "UNCOM", "APPLDESC",
    "APPLTAG", "APPLTYPE", "ASTATE", "BROWSE", "CHANNEL", "CONN", "CONNAME", "EXTURID", "HSTATE",
    "INPUT", "INQUIRE", "OUTPUT", "PID", "QMURID", "SET", "TID", "URTYPE", "USERID",
];

/// DISPLAY QMSTATUS (manual: "DISPLAY QMSTATUS"); LOG asks for the log's fields.
const QMSTATUS: &[&str] = &[
    "QMNAME", "STATUS", "TYPE", "CHINIT", "CMDSERV", "CONNS", "CURRLOG", "HOSTNAME", "INSTDESC",
    "INSTNAME", "INSTPATH", "LDAPCONN", "LOG", "LOGEXTSZ", "LOGINUSE", "LOGPATH", "LOGPRIM",
    "LOGSEC", "LOGSTRDA", "LOGSTRL", "LOGSTRTI", "LOGTYPE", "LOGUTIL", "MEDIALOG", "MEDIASZ",
    "ARCHLOG", "ARCHSZ", "QMFSUSE", "QMFSSZ", "RECLOG", "RECSZ", "REUSESZ", "STANDBY", "STARTDA",
    "STARTTI",
];

/// DISPLAY CONN (manual: "DISPLAY CONN"), for both of its types.
const CONN: &[&str] = &[
    "CONN", "EXTCONN", "TYPE", "PID", "TID", "APPLDESC", "APPLTAG", "APPLTYPE", "ASTATE",
    "CHANNEL", "CLIENTID", "CONNAME", "CONNOPTS", "USERID", "UOWLOG", "UOWSTDA", "UOWSTTI",
    "UOWLOGDA", "UOWLOGTI", "URTYPE", "EXTURID", "QMURID", "UOWSTATE", "CONNTAG", "URDISP",
    "OBJNAME", "OBJTYPE", "OPENOPTS", "HSTATE", "READA", "SUBID", "SUBNAME", "DEST", "DESTQMGR",
    "TOPICSTR",
];

/// DISPLAY CHSTATUS (manual: "DISPLAY CHSTATUS").
const CHSTATUS: &[&str] = &[
    "CHANNEL", "CHLTYPE", "CONNAME", "CURRENT", "RQMNAME", "STATUS", "SUBSTATE", "XMITQ",
    "BATCHES", "BATCHSZ", "BUFSRCVD", "BUFSSENT", "BYTSRCVD", "BYTSSENT", "CHSTADA", "CHSTATI",
    "COMPHDR", "COMPMSG", "COMPRATE", "COMPTIME", "CURLUWID", "CURMSGS", "CURSEQNO", "CURSHCNV",
    "EXITTIME", "HBINT", "INDOUBT", "JOBNAME", "KAINT", "LOCLADDR", "LSTLUWID", "LSTMSGDA",
    "LSTMSGTI", "LSTSEQNO", "MAXMSGL", "MAXSHCNV", "MCASTAT", "MCAUSER", "MONCHL", "MSGS",
    "NETTIME", "NPMSPEED", "PORT", "RAPPLTAG", "RPRODUCT", "RVERSION", "SECPROT", "SSLCERTI",
    "SSLCERTU", "SSLCIPH", "SSLKEYDA", "SSLKEYTI", "SSLPEER", "SSLRKEYS", "STOPREQ", "XBATCHSZ",
    "XQMSGSA", "XQTIME",
];

/// DISPLAY LSSTATUS (manual: "DISPLAY LSSTATUS").
const LSSTATUS: &[&str] = &[
    "LISTENER", "STATUS", "PID", "STARTDA", "STARTTI", "DESCR", "TRPTYPE", "CONTROL", "IPADDR",
    "PORT", "BACKLOG", "ADAPTER", "CMDS", "LOCLNAME", "NTBNAMES", "SESSIONS", "SOCKET", "TPNAME",
];

/// The keywords of a DISPLAY command about state; `None` for one about objects.
fn status_keywords(what: DisplayWhat) -> Option<&'static [&'static str]> {
    match what {
        DisplayWhat::QStatus => Some(QSTATUS),
        DisplayWhat::QMStatus => Some(QMSTATUS),
        DisplayWhat::Conn => Some(CONN),
        DisplayWhat::ChStatus => Some(CHSTATUS),
        DisplayWhat::LsStatus => Some(LSSTATUS),
        DisplayWhat::Object(_)
        | DisplayWhat::Queue
        | DisplayWhat::Channel
        | DisplayWhat::Listener
        | DisplayWhat::Qmgr => None,
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
    if let Some(keywords) = status_keywords(what) {
        return keywords
            .iter()
            .find(|keyword| keyword.eq_ignore_ascii_case(word))
            .copied();
    }
    displayed_kinds(what)
        .into_iter()
        .find_map(|kind| by_keyword(kind, word))
        .map(|attribute| attribute.keyword)
}

/// Every keyword that `what` can show, for finding what was meant.
pub(crate) fn all_keywords(what: DisplayWhat) -> Vec<&'static str> {
    match status_keywords(what) {
        Some(keywords) => keywords.to_vec(),
        None => displayed_kinds(what)
            .into_iter()
            .flat_map(attributes)
            .map(|attribute| attribute.keyword)
            .collect(),
    }
}
