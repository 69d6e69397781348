//! What the values of a keyword can be, as far as the WHERE of DISPLAY has to know.
//!
//! Invariant: what a row shows is among them, and may besides be blank in rows about state (tested where rows are
//! made). A keyword of state that is in none of the tables here is text.

use super::{by_keyword, displayed_kinds, status_keywords};
use crate::command::{DisplayType, DisplayWhat, Op};
use crate::object::{Attribute, ValueKind};
use posthaste_mqi::constants::families;

/// The values of a keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A number, or one of these words.
    Number(Vec<&'static str>),
    /// One of these words.
    OneOf(Vec<&'static str>),
    Text,
    /// A date or time of this shape.
    Stamp(&'static str),
    /// Any number of these words; of any where there are none.
    List(Vec<&'static str>),
    /// Nothing: it is there or not.
    Switch,
}

impl Holds {
    fn of(attribute: &Attribute) -> Holds {
        let words = || attribute.words().iter().map(|(word, _)| *word).collect();
        match attribute.kind {
            _ if attribute.is_switch() => Holds::Switch,
            ValueKind::Int { .. } | ValueKind::IntOrKeyword { .. } => Holds::Number(words()),
            ValueKind::Keyword(_) => Holds::OneOf(words()),
            ValueKind::Keywords(_) => Holds::List(words()),
            ValueKind::Text { .. } | ValueKind::Name { .. } => Holds::Text,
        }
    }

    /// The operators that mean something for it.
    pub(crate) fn operators(&self) -> &'static [Op] {
        match self {
            Holds::Number(_) => &[Op::Lt, Op::Gt, Op::Eq, Op::Ne, Op::Le, Op::Ge],
            Holds::OneOf(_) => &[Op::Eq, Op::Ne],
            Holds::Text | Holds::Stamp(_) => &[
                Op::Lt,
                Op::Gt,
                Op::Eq,
                Op::Ne,
                Op::Le,
                Op::Ge,
                Op::Lk,
                Op::Nl,
            ],
            Holds::List(_) => &[Op::Ct, Op::Ex, Op::Ctg, Op::Exg],
            Holds::Switch => &[],
        }
    }

    pub(crate) fn words(&self) -> &[&'static str] {
        match self {
            Holds::Number(words) | Holds::OneOf(words) | Holds::List(words) => words,
            Holds::Text | Holds::Stamp(_) | Holds::Switch => &[],
        }
    }
}

/// What a keyword that `what` shows holds, for each kind of object that has it.
pub(crate) fn holds(what: DisplayWhat, keyword: &str) -> Vec<Holds> {
    if status_keywords(what, DisplayType::All).contains(&keyword) {
        return vec![of_state(what, keyword)];
    }
    let kinds = displayed_kinds(what).into_iter();
    let rows = kinds.filter_map(|kind| by_keyword(kind, keyword));
    rows.map(Holds::of).collect()
}

fn of_state(what: DisplayWhat, keyword: &str) -> Holds {
    if let Some(family) = options(keyword) {
        let family = families().find(|known| known.prefix == family);
        let members = family.map_or(&[][..], |family| family.members);
        return Holds::List(members.iter().map(|(name, _)| *name).collect());
    }
    let blank_or = |words: &[&'static str]| [&[""], words].concat();
    match words(what, keyword) {
        _ if NUMBERS.contains(&keyword) => Holds::Number(blank_or(&[])),
        _ if DATES.contains(&keyword) => Holds::Stamp("0000-00-00"),
        _ if TIMES.contains(&keyword) => Holds::Stamp("00.00.00"),
        // Two figures: of a short time and of a long one.
        _ if ["COMPRATE", "COMPTIME", "EXITTIME"].contains(&keyword) => Holds::List(Vec::new()),
        words if ["COMPHDR", "COMPMSG"].contains(&keyword) => Holds::List(words.to_vec()),
        _ if keyword == "CURRENT" => Holds::Switch,
        [] => Holds::Text,
        words => Holds::OneOf(blank_or(words)),
    }
}

/// The family of constants that a keyword lists.
fn options(keyword: &str) -> Option<&'static str> {
    match keyword {
        "CONNOPTS" => Some("MQCNO_"),
        "OPENOPTS" => Some("MQOO_"),
        _ => None,
    }
}

const NUMBERS: &[&str] = &[
    "ARCHSZ", "BACKLOG", "BUFSRCVD", "BUFSSENT", "BYTSRCVD", "BYTSSENT", "CONNS", "CURDEPTH",
    "CURFSIZE", "CURMAXFS", "CURSHCNV", "HBINT", "IPPROCS", "LOGEXTSZ", "LOGINUSE", "LOGPRIM",
    "LOGSEC", "LOGUTIL", "MAXMSGL", "MAXSHCNV", "MEDIASZ", "MSGS", "OPPROCS", "PID", "PORT",
    "RECSZ", "REUSESZ", "SSLRKEYS", "TID",
];

const DATES: &[&str] = &[
    "CHSTADA", "LSTMSGDA", "SSLKEYDA", "STARTDA", "UOWLOGDA", "UOWSTDA",
];

const TIMES: &[&str] = &[
    "CHSTATI", "LSTMSGTI", "SSLKEYTI", "STARTTI", "UOWLOGTI", "UOWSTTI",
];

/// The words that MQ has for a keyword of state, those too that are never shown here.
fn words(what: DisplayWhat, keyword: &str) -> &'static [&'static str] {
    match (what, keyword) {
        (DisplayWhat::Conn, "TYPE") => &["CONN", "HANDLE"],
        (_, "TYPE") => &["QUEUE", "HANDLE"],
        (DisplayWhat::QMStatus, "STATUS") => &["STARTING", "RUNNING", "QUIESCING", "STANDBY"],
        (DisplayWhat::LsStatus, "STATUS") => &["STARTING", "RUNNING", "STOPPING"],
        (_, "STATUS") => &[
            "STARTING",
            "BINDING",
            "INITIALIZING",
            "REQUESTING",
            "RETRYING",
            "RUNNING",
            "PAUSED",
            "STOPPED",
            "STOPPING",
            "SWITCHING",
            "DISCONNECTED",
        ],
        (_, "BROWSE" | "INQUIRE" | "OUTPUT" | "SET" | "STOPREQ" | "UNCOM") => &["NO", "YES"],
        (_, "INPUT") => &["NO", "SHARED", "EXCL"],
        (_, "MONQ" | "MONCHL") => &["OFF", "LOW", "MEDIUM", "HIGH"],
        (_, "HSTATE") => &["ACTIVE", "INACTIVE"],
        (_, "ASTATE") => &[
            "ACTIVE",
            "INACTIVE",
            "NONE",
            "STARTED",
            "STARTWAIT",
            "STOPPED",
            "SUSPENDED",
            "SUSPTEMP",
        ],
        (_, "APPLTYPE") => &[
            "BATCH", "RRSBATCH", "CICS", "IMS", "CHINIT", "SYSTEM", "USER",
        ],
        (_, "URTYPE") => &["QMGR", "CICS", "IMS", "RRS", "XA"],
        (_, "UOWSTATE") => &["NONE", "ACTIVE", "PREPARED", "UNRESOLVED"],
        (_, "OBJTYPE") => &[
            "AUTHINFO", "CHANNEL", "NAMELIST", "PROCESS", "QMGR", "QUEUE", "STGCLASS", "TOPIC",
        ],
        (_, "READA") => &["NO", "YES", "INHIBITED", "BACKLOG"],
        (_, "CHINIT" | "CMDSERV") => &["STOPPED", "STARTING", "RUNNING", "STOPPING"],
        (_, "LOGTYPE") => &["CIRCULAR", "LINEAR", "REPLICATED"],
        (_, "STANDBY") => &["NOPERMIT", "PERMIT"],
        (_, "CHLTYPE") => &[
            "SDR", "SVR", "RCVR", "RQSTR", "CLNTCONN", "CLUSSDR", "CLUSRCVR", "SVRCONN",
        ],
        (_, "MCASTAT") => &["RUNNING", "STOPPED"],
        (_, "SECPROT") => &["NONE", "SSLV3", "TLSV1", "TLSV12", "TLSV13"],
        (_, "SUBSTATE") => SUBSTATES,
        (_, "COMPHDR") => &["NONE", "SYSTEM"],
        (_, "COMPMSG") => &["NONE", "RLE", "ZLIBFAST", "ZLIBHIGH", "LZ4FAST", "LZ4HIGH"],
        (_, "CONTROL") => &["MANUAL", "QMGR", "STARTONLY"],
        (_, "TRPTYPE") => &["TCP", "LU62", "NETBIOS", "SPX"],
        _ => &[],
    }
}

const SUBSTATES: &[&str] = &[
    "CHADEXIT",
    "COMPRESS",
    "ENDBATCH",
    "HANDSHAKE",
    "HEARTBEAT",
    "MQGET",
    "MQICALL",
    "MQPUT",
    "MREXIT",
    "MSGEXIT",
    "NAMESERVER",
    "NETCONNECT",
    "RCVEXIT",
    "RECEIVE",
    "RESYNC",
    "SCYEXIT",
    "SEND",
    "SENDEXIT",
    "SERIALIZE",
    "SSLHANDSHK",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables name nothing that is not shown.
    #[test]
    fn every_keyword_named_is_one_of_state() {
        let whats = [
            DisplayWhat::QStatus,
            DisplayWhat::QMStatus,
            DisplayWhat::Conn,
            DisplayWhat::ChStatus,
            DisplayWhat::LsStatus,
        ];
        let all: Vec<&str> = whats
            .into_iter()
            .flat_map(|what| status_keywords(what, DisplayType::All))
            .collect();
        for keyword in [NUMBERS, DATES, TIMES].concat() {
            assert!(all.contains(&keyword), "{keyword}");
        }
        let options = holds(DisplayWhat::Conn, "OPENOPTS");
        assert!(options[0].words().contains(&"MQOO_OUTPUT"), "{options:?}");
    }
}
