//! What the DISPLAY commands about state can show, one row each: keyword, number in command messages, what it may hold.
//! These are not attributes of objects: the queue manager makes them up as it is asked.
//!
//! Invariants: a keyword is either answered, in every row of its TYPE (tested where the rows are made), or one of MQ's
//! that is refused (AMQ2401E): none is accepted and left out. What is answered is of the row's type, or blank.

use crate::attribute::{Attribute, DefaultValue, Effect, Set, ValueKind};
use crate::command::{DisplayType, DisplayWhat, Op};
use crate::kinds::{Group, ObjectKind};
use crate::table::words::{CONTROL, NO_YES, SERVTYPE, TRANSPORTS};
use crate::table::{attributes, by_keyword, groups_of, sub, topic};
use crate::value::Words;
use posthaste_mqi::constants as mq;

/// The rows of a DISPLAY command about state.
pub(crate) struct Status {
    pub(crate) what: DisplayWhat,
    /// Nouns of the command, the long one first.
    pub(crate) nouns: &'static [&'static str],
    /// Longest name in the parentheses, in bytes; 0 when the command names nothing.
    pub(crate) name_length: i32,
    /// In rows of every TYPE.
    heading: &'static [Attribute],
    /// In rows of TYPE(QUEUE) or TYPE(CONN), which are those without TYPE; in all rows of a command
    /// that has no TYPE.
    own: &'static [Attribute],
    /// In rows of TYPE(HANDLE); of TYPE(SUB).
    handle: &'static [Attribute],
    /// In rows of TYPE(PUB).
    publish: &'static [Attribute],
    /// MQ's others.
    not_here: &'static [&'static str],
    /// Words that ask for several keywords at once.
    groups: &'static [Group],
    /// Parameters with a value that choose rows.
    choices: &'static [Choice],
}

/// A parameter of DISPLAY that chooses rows by its value, beside WHERE.
pub(crate) struct Choice {
    pub(crate) keyword: &'static str,
    pub(crate) by: ChoiceBy,
}

/// What a [`Choice`] goes by.
pub(crate) enum ChoiceBy {
    /// The rows that have its value under its own keyword.
    Value,
    /// One of some words: the rows of each TYPE that fit it.
    Word(&'static [(&'static str, &'static [Fit])]),
}

/// For rows of a TYPE: keyword, operator, value.
pub(crate) type Fit = (DisplayType, &'static str, Op, &'static str);

const fn state(keyword: &'static str, selector: i32, kind: ValueKind) -> Attribute {
    Attribute {
        keyword,
        also: &[],
        selector,
        kind,
        default: DefaultValue::None,
        on: &[],
        set: Set::ReadOnly,
        mqset: false,
        inquire: false,
        effect: Effect::Describes,
        secret: false,
        saved: false,
        char_length: 0,
        help: "",
    }
}

const fn number(keyword: &'static str, selector: i32) -> Attribute {
    let (min, max) = (i64::MIN, i64::MAX);
    state(keyword, selector, ValueKind::Int { min, max })
}

const fn word(keyword: &'static str, selector: i32, words: Words) -> Attribute {
    state(keyword, selector, ValueKind::Keyword(words))
}

const fn text(keyword: &'static str, selector: i32) -> Attribute {
    let (max, fold) = (usize::MAX, false);
    state(keyword, selector, ValueKind::Text { max, fold })
}

const fn bytes(keyword: &'static str, selector: i32) -> Attribute {
    state(keyword, selector, ValueKind::Bytes { max: 24 })
}

const fn date(keyword: &'static str, selector: i32) -> Attribute {
    state(keyword, selector, ValueKind::Date)
}

const fn time(keyword: &'static str, selector: i32) -> Attribute {
    state(keyword, selector, ValueKind::Time)
}

// The words that MQ has, those too that are never shown here.

const Q_TYPES: Words = &[
    ("QUEUE", mq::MQIACF_Q_STATUS),
    ("HANDLE", mq::MQIACF_Q_HANDLE),
];
const CONN_TYPES: Words = &[
    ("CONN", mq::MQIACF_CONN_INFO_CONN),
    ("HANDLE", mq::MQIACF_CONN_INFO_HANDLE),
];
/// A number of its own for each of MQ's application types that DISPLAY tells apart.
const APPLTYPE: Words = &[
    ("CICS", mq::MQAT_CICS),
    ("IMS", mq::MQAT_IMS),
    ("SYSTEM", mq::MQAT_QMGR),
    ("CHINIT", mq::MQAT_CHANNEL_INITIATOR),
    ("BATCH", mq::MQAT_BATCH),
    ("RRSBATCH", mq::MQAT_RRS_BATCH),
    ("USER", mq::MQAT_USER),
];
const ASTATE: Words = &[
    ("NONE", mq::MQAS_NONE),
    ("STARTED", mq::MQAS_STARTED),
    ("STARTWAIT", mq::MQAS_START_WAIT),
    ("STOPPED", mq::MQAS_STOPPED),
    ("SUSPENDED", mq::MQAS_SUSPENDED),
    ("SUSPTEMP", mq::MQAS_SUSPENDED_TEMPORARY),
    ("ACTIVE", mq::MQAS_ACTIVE),
    ("INACTIVE", mq::MQAS_INACTIVE),
];
const HSTATE: Words = &[
    ("INACTIVE", mq::MQHSTATE_INACTIVE),
    ("ACTIVE", mq::MQHSTATE_ACTIVE),
];
const INPUT: Words = &[
    ("NO", mq::MQQSO_NO),
    ("SHARED", mq::MQQSO_SHARED),
    ("EXCL", mq::MQQSO_EXCLUSIVE),
];
const MONITORING: Words = &[
    ("OFF", mq::MQMON_OFF),
    ("LOW", mq::MQMON_LOW),
    ("MEDIUM", mq::MQMON_MEDIUM),
    ("HIGH", mq::MQMON_HIGH),
];
const URTYPE: Words = &[
    ("QMGR", mq::MQUOWT_Q_MGR),
    ("CICS", mq::MQUOWT_CICS),
    ("RRS", mq::MQUOWT_RRS),
    ("IMS", mq::MQUOWT_IMS),
    ("XA", mq::MQUOWT_XA),
];
const UOWSTATE: Words = &[
    ("NONE", mq::MQUOWST_NONE),
    ("ACTIVE", mq::MQUOWST_ACTIVE),
    ("PREPARED", mq::MQUOWST_PREPARED),
    ("UNRESOLVED", mq::MQUOWST_UNRESOLVED),
];
const OBJTYPE: Words = &[
    ("QUEUE", mq::MQOT_Q),
    ("NAMELIST", mq::MQOT_NAMELIST),
    ("PROCESS", mq::MQOT_PROCESS),
    ("STGCLASS", mq::MQOT_STORAGE_CLASS),
    ("QMGR", mq::MQOT_Q_MGR),
    ("CHANNEL", mq::MQOT_CHANNEL),
    ("AUTHINFO", mq::MQOT_AUTH_INFO),
    ("TOPIC", mq::MQOT_TOPIC),
];
const RETAINED: Words = &[("NO", mq::MQQSO_NO), ("YES", mq::MQQSO_YES)];
const READA: Words = &[
    ("NO", mq::MQREADA_NO),
    ("YES", mq::MQREADA_YES),
    ("INHIBITED", mq::MQREADA_INHIBITED),
    ("BACKLOG", mq::MQREADA_BACKLOG),
];
/// What runs beside the queue manager, or as a listener or service of it.
const SERVICE_STATUS: Words = &[
    ("STOPPED", mq::MQSVC_STATUS_STOPPED),
    ("STARTING", mq::MQSVC_STATUS_STARTING),
    ("RUNNING", mq::MQSVC_STATUS_RUNNING),
    ("STOPPING", mq::MQSVC_STATUS_STOPPING),
    ("RETRYING", mq::MQSVC_STATUS_RETRYING),
];
const QM_STATUS: Words = &[
    ("STARTING", mq::MQQMSTA_STARTING),
    ("RUNNING", mq::MQQMSTA_RUNNING),
    ("QUIESCING", mq::MQQMSTA_QUIESCING),
    ("STANDBY", mq::MQQMSTA_STANDBY),
];
const LOGTYPE: Words = &[
    ("CIRCULAR", mq::MQLOGTYPE_CIRCULAR),
    ("LINEAR", mq::MQLOGTYPE_LINEAR),
    ("REPLICATED", mq::MQLOGTYPE_REPLICATED),
];
/// MQAUTOCLUS_TYPE_ numbers.
const AUTOCLUS: Words = &[("NONE", 0), ("UNIFORM", 1)];
/// MQSTDBY_ numbers.
const STANDBY: Words = &[("NOPERMIT", 0), ("PERMIT", 1)];
const CHANNEL_STATUS: Words = &[
    ("INACTIVE", mq::MQCHS_INACTIVE),
    ("BINDING", mq::MQCHS_BINDING),
    ("STARTING", mq::MQCHS_STARTING),
    ("RUNNING", mq::MQCHS_RUNNING),
    ("STOPPING", mq::MQCHS_STOPPING),
    ("RETRYING", mq::MQCHS_RETRYING),
    ("STOPPED", mq::MQCHS_STOPPED),
    ("REQUESTING", mq::MQCHS_REQUESTING),
    ("PAUSED", mq::MQCHS_PAUSED),
    ("DISCONNECTED", mq::MQCHS_DISCONNECTED),
    ("INITIALIZING", mq::MQCHS_INITIALIZING),
    ("SWITCHING", mq::MQCHS_SWITCHING),
];
const SUBSTATE: Words = &[
    ("ENDBATCH", mq::MQCHSSTATE_END_OF_BATCH),
    ("SEND", mq::MQCHSSTATE_SENDING),
    ("RECEIVE", mq::MQCHSSTATE_RECEIVING),
    ("SERIALIZE", mq::MQCHSSTATE_SERIALIZING),
    ("RESYNC", mq::MQCHSSTATE_RESYNCHING),
    ("HEARTBEAT", mq::MQCHSSTATE_HEARTBEATING),
    ("SCYEXIT", mq::MQCHSSTATE_IN_SCYEXIT),
    ("RCVEXIT", mq::MQCHSSTATE_IN_RCVEXIT),
    ("SENDEXIT", mq::MQCHSSTATE_IN_SENDEXIT),
    ("MSGEXIT", mq::MQCHSSTATE_IN_MSGEXIT),
    ("MREXIT", mq::MQCHSSTATE_IN_MREXIT),
    ("CHADEXIT", mq::MQCHSSTATE_IN_CHADEXIT),
    ("NETCONNECT", mq::MQCHSSTATE_NET_CONNECTING),
    ("SSLHANDSHK", mq::MQCHSSTATE_SSL_HANDSHAKING),
    ("NAMESERVER", mq::MQCHSSTATE_NAME_SERVER),
    ("MQPUT", mq::MQCHSSTATE_IN_MQPUT),
    ("MQGET", mq::MQCHSSTATE_IN_MQGET),
    ("MQICALL", mq::MQCHSSTATE_IN_MQI_CALL),
    ("COMPRESS", mq::MQCHSSTATE_COMPRESSING),
];
const CHANNEL_TYPES: Words = &[
    ("SDR", mq::MQCHT_SENDER),
    ("SVR", mq::MQCHT_SERVER),
    ("RCVR", mq::MQCHT_RECEIVER),
    ("RQSTR", mq::MQCHT_REQUESTER),
    ("CLNTCONN", mq::MQCHT_CLNTCONN),
    ("SVRCONN", mq::MQCHT_SVRCONN),
    ("CLUSRCVR", mq::MQCHT_CLUSRCVR),
    ("CLUSSDR", mq::MQCHT_CLUSSDR),
];
const MCASTAT: Words = &[
    ("STOPPED", mq::MQMCAS_STOPPED),
    ("RUNNING", mq::MQMCAS_RUNNING),
];
const SECPROT: Words = &[
    ("NONE", mq::MQSECPROT_NONE),
    ("SSLV3", mq::MQSECPROT_SSLV30),
    ("TLSV1", mq::MQSECPROT_TLSV10),
    ("TLSV12", mq::MQSECPROT_TLSV12),
    ("TLSV13", mq::MQSECPROT_TLSV13),
];
const HEADER_COMPRESSION: Words = &[
    ("NONE", mq::MQCOMPRESS_NONE),
    ("SYSTEM", mq::MQCOMPRESS_SYSTEM),
];
const COMPRESSION: Words = &[
    ("NONE", mq::MQCOMPRESS_NONE),
    ("RLE", mq::MQCOMPRESS_RLE),
    ("ZLIBFAST", mq::MQCOMPRESS_ZLIBFAST),
    ("ZLIBHIGH", mq::MQCOMPRESS_ZLIBHIGH),
    ("LZ4FAST", mq::MQCOMPRESS_LZ4FAST),
    ("LZ4HIGH", mq::MQCOMPRESS_LZ4HIGH),
];
/// Shown as a bare word, like a switch.
const CURRENT: Words = &[
    ("CURRENT", mq::MQOT_CURRENT_CHANNEL),
    ("SAVED", mq::MQOT_SAVED_CHANNEL),
    ("SHORT", mq::MQOT_SHORT_CHANNEL),
];
const PUBSUB_TYPES: Words = &[
    ("LOCAL", mq::MQPSST_LOCAL),
    ("PARENT", mq::MQPSST_PARENT),
    ("CHILD", mq::MQPSST_CHILD),
];
const PUBSUB_STATUS: Words = &[
    ("INACTIVE", mq::MQPS_STATUS_INACTIVE),
    ("STARTING", mq::MQPS_STATUS_STARTING),
    ("STOPPING", mq::MQPS_STATUS_STOPPING),
    ("ACTIVE", mq::MQPS_STATUS_ACTIVE),
    ("COMPAT", mq::MQPS_STATUS_COMPAT),
    ("ERROR", mq::MQPS_STATUS_ERROR),
    ("REFUSED", mq::MQPS_STATUS_REFUSED),
];
/// Every DISPLAY command about state.
#[rustfmt::skip] // one row, one line
pub(crate) const STATUSES: &[Status] = &[
    // Manual: "DISPLAY QSTATUS". What MONQ would collect is blank, as it is where MONQ(OFF) is.
    Status {
        what: DisplayWhat::QStatus,
        nouns: &["QSTATUS", "QS"],
        name_length: mq::MQ_Q_NAME_LENGTH,
        heading: &[
            text("QUEUE", mq::MQCA_Q_NAME),
            word("TYPE", mq::MQIACF_Q_STATUS_TYPE, Q_TYPES),
        ],
        own: &[
            number("CURDEPTH", mq::MQIA_CURRENT_Q_DEPTH),
            number("CURFSIZE", mq::MQIACF_CUR_Q_FILE_SIZE),
            number("CURMAXFS", mq::MQIACF_CUR_MAX_FILE_SIZE),
            number("IPPROCS", mq::MQIA_OPEN_INPUT_COUNT),
            date("LGETDATE", mq::MQCACF_LAST_GET_DATE),
            time("LGETTIME", mq::MQCACF_LAST_GET_TIME),
            date("LPUTDATE", mq::MQCACF_LAST_PUT_DATE),
            time("LPUTTIME", mq::MQCACF_LAST_PUT_TIME),
            text("MEDIALOG", mq::MQCACF_MEDIA_LOG_EXTENT_NAME),
            word("MONQ", mq::MQIA_MONITORING_Q, MONITORING),
            number("MSGAGE", mq::MQIACF_OLDEST_MSG_AGE),
            number("OPPROCS", mq::MQIA_OPEN_OUTPUT_COUNT),
            state("QTIME", mq::MQIACF_Q_TIME_INDICATOR, ValueKind::Ints),
            word("UNCOM", mq::MQIACF_UNCOMMITTED_MSGS, NO_YES),
        ],
        handle: &[
            text("APPLDESC", mq::MQCACF_APPL_DESC),
            text("APPLTAG", mq::MQCACF_APPL_TAG),
            word("APPLTYPE", mq::MQIA_APPL_TYPE, APPLTYPE),
            word("ASTATE", mq::MQIACF_ASYNC_STATE, ASTATE),
            word("BROWSE", mq::MQIACF_OPEN_BROWSE, NO_YES),
            text("CHANNEL", mq::MQCACH_CHANNEL_NAME),
            text("CONN", mq::MQBACF_CONNECTION_ID),
            text("CONNAME", mq::MQCACH_CONNECTION_NAME),
            text("EXTURID", mq::MQBACF_EXTERNAL_UOW_ID),
            word("HSTATE", mq::MQIACF_HANDLE_STATE, HSTATE),
            word("INPUT", mq::MQIACF_OPEN_INPUT_TYPE, INPUT),
            word("INQUIRE", mq::MQIACF_OPEN_INQUIRE, NO_YES),
            state("OPENOPTS", mq::MQIACF_OPEN_OPTIONS, ValueKind::Bits("MQOO_")),
            word("OUTPUT", mq::MQIACF_OPEN_OUTPUT, NO_YES),
            number("PID", mq::MQIACF_PROCESS_ID),
            text("QMURID", mq::MQBACF_Q_MGR_UOW_ID),
            word("SET", mq::MQIACF_OPEN_SET, NO_YES),
            number("TID", mq::MQIACF_THREAD_ID),
            word("URTYPE", mq::MQIACF_UOW_TYPE, URTYPE),
            text("USERID", mq::MQCACF_USER_IDENTIFIER),
        ],
        publish: &[],
        not_here: &[
            "ASID", "PSBNAME", "PSTID", "QSGDISP", "TASKNO", "TRANSID", "URID",
        ],
        groups: &[("MONITOR", &["LGETDATE", "LGETTIME", "LPUTDATE", "LPUTTIME", "MONQ", "MSGAGE", "QTIME"])],
        choices: &[Choice { keyword: "OPENTYPE", by: ChoiceBy::Word(OPENTYPE) }],
    },
    // Manual: "DISPLAY QMSTATUS".
    Status {
        what: DisplayWhat::QMStatus,
        nouns: &["QMSTATUS"],
        name_length: 0,
        heading: &[
            text("QMNAME", mq::MQCA_Q_MGR_NAME),
            word("STATUS", mq::MQIACF_Q_MGR_STATUS, QM_STATUS),
        ],
        own: &[
            text("ARCHLOG", mq::MQCACF_ARCHIVE_LOG_EXTENT_NAME),
            number("ARCHSZ", mq::MQIACF_ARCHIVE_LOG_SIZE),
            word("AUTOCLUS", mq::MQIACF_AUTO_CLUSTER_TYPE, AUTOCLUS),
            word("CHINIT", mq::MQIACF_CHINIT_STATUS, SERVICE_STATUS),
            word("CMDSERV", mq::MQIACF_CMD_SERVER_STATUS, SERVICE_STATUS),
            number("CONNS", mq::MQIACF_CONNECTION_COUNT),
            text("CURRLOG", mq::MQCACF_CURRENT_LOG_EXTENT_NAME),
            text("DATPATH", mq::MQCACF_Q_MGR_DATA_PATH),
            text("HOSTNAME", mq::MQCACF_HOST_NAME),
            text("INSTDESC", mq::MQCA_INSTALLATION_DESC),
            text("INSTNAME", mq::MQCA_INSTALLATION_NAME),
            number("LOGEXTSZ", mq::MQIACF_LOG_EXTENT_SIZE),
            number("LOGINUSE", mq::MQIACF_LOG_IN_USE),
            text("LOGPATH", mq::MQCACF_LOG_PATH),
            number("LOGPRIM", mq::MQIACF_LOG_PRIMARIES),
            number("LOGSEC", mq::MQIACF_LOG_SECONDARIES),
            word("LOGTYPE", mq::MQIACF_LOG_TYPE, LOGTYPE),
            number("LOGUTIL", mq::MQIACF_LOG_UTILIZATION),
            text("MEDIALOG", mq::MQCACF_MEDIA_LOG_EXTENT_NAME),
            number("MEDIASZ", mq::MQIACF_MEDIA_LOG_SIZE),
            text("RECLOG", mq::MQCACF_RESTART_LOG_EXTENT_NAME),
            number("RECSZ", mq::MQIACF_RESTART_LOG_SIZE),
            number("REUSESZ", mq::MQIACF_REUSABLE_LOG_SIZE),
            word("STANDBY", mq::MQIACF_PERMIT_STANDBY, STANDBY),
            date("STARTDA", mq::MQCACF_Q_MGR_START_DATE),
            time("STARTTI", mq::MQCACF_Q_MGR_START_TIME),
            text("UNICLUS", mq::MQCACF_UNIFORM_CLUSTER_NAME),
        ],
        handle: &[],
        publish: &[],
        not_here: &[
            "DATFSSZ", "DATFSUSE", "INSTPATH", "LDAPCONN", "LOGFSSZ", "LOGFSUSE", "LOGSTRDA", "LOGSTRL", "LOGSTRTI",
            "QMFSENC", "QMFSSZ", "QMFSUSE",
        ],
        groups: &[("LOG", LOG_KEYWORDS)],
        choices: &[],
    },
    // Manual: "DISPLAY CONN".
    Status {
        what: DisplayWhat::Conn,
        nouns: &["CONN"],
        // Eight bytes in hexadecimal, or all twenty-four of a connection's identifier.
        name_length: 2 * mq::MQ_CONNECTION_ID_LENGTH,
        heading: &[
            text("CONN", mq::MQBACF_CONNECTION_ID),
            text("EXTCONN", mq::MQBACF_EXTERNAL_UOW_ID),
            word("TYPE", mq::MQIACF_CONN_INFO_TYPE, CONN_TYPES),
        ],
        own: &[
            text("APPLDESC", mq::MQCACF_APPL_DESC),
            text("APPLTAG", mq::MQCACF_APPL_TAG),
            word("APPLTYPE", mq::MQIA_APPL_TYPE, APPLTYPE),
            word("ASTATE", mq::MQIACF_ASYNC_STATE, ASTATE),
            text("CHANNEL", mq::MQCACH_CHANNEL_NAME),
            text("CLIENTID", mq::MQCACH_CLIENT_ID),
            text("CONNAME", mq::MQCACH_CONNECTION_NAME),
            state("CONNOPTS", mq::MQIACF_CONNECT_OPTIONS, ValueKind::Bits("MQCNO_")),
            text("EXTURID", mq::MQBACF_EXTERNAL_UOW_ID),
            number("PID", mq::MQIACF_PROCESS_ID),
            text("QMURID", mq::MQBACF_Q_MGR_UOW_ID),
            number("TID", mq::MQIACF_THREAD_ID),
            text("UOWLOG", mq::MQCACF_UOW_LOG_EXTENT_NAME),
            date("UOWLOGDA", mq::MQCACF_UOW_LOG_START_DATE),
            time("UOWLOGTI", mq::MQCACF_UOW_LOG_START_TIME),
            word("UOWSTATE", mq::MQIACF_UOW_STATE, UOWSTATE),
            date("UOWSTDA", mq::MQCACF_UOW_START_DATE),
            time("UOWSTTI", mq::MQCACF_UOW_START_TIME),
            word("URTYPE", mq::MQIACF_UOW_TYPE, URTYPE),
            text("USERID", mq::MQCACF_USER_IDENTIFIER),
        ],
        handle: &[
            word("ASTATE", mq::MQIACF_ASYNC_STATE, ASTATE),
            word("HSTATE", mq::MQIACF_HANDLE_STATE, HSTATE),
            text("DEST", mq::MQCACF_DESTINATION),
            text("DESTQMGR", mq::MQCACF_DESTINATION_Q_MGR),
            text("OBJNAME", mq::MQCACF_OBJECT_NAME),
            word("OBJTYPE", mq::MQIACF_OBJECT_TYPE, OBJTYPE),
            state("OPENOPTS", mq::MQIACF_OPEN_OPTIONS, ValueKind::Bits("MQOO_")),
            word("READA", mq::MQIA_READ_AHEAD, READA),
            bytes("SUBID", mq::MQBACF_SUB_ID),
            text("SUBNAME", mq::MQCACF_SUB_NAME),
            text("TOPICSTR", mq::MQCA_TOPIC_STRING),
        ],
        publish: &[],
        not_here: &["ASID", "CONNTAG", "PSBNAME", "PSTID", "QSGDISP", "TASKNO", "TRANSID", "URDISP", "URID"],
        groups: &[],
        choices: &[],
    },
    // Manual: "DISPLAY CHSTATUS". What only message channels have is not here.
    Status {
        what: DisplayWhat::ChStatus,
        nouns: &["CHSTATUS", "CHS"],
        name_length: mq::MQ_CHANNEL_NAME_LENGTH,
        heading: &[
            text("CHANNEL", mq::MQCACH_CHANNEL_NAME),
            word("CHLTYPE", mq::MQIACH_CHANNEL_TYPE, CHANNEL_TYPES),
            text("CONNAME", mq::MQCACH_CONNECTION_NAME),
            word("CURRENT", mq::MQIACH_CHANNEL_INSTANCE_TYPE, CURRENT),
            word("STATUS", mq::MQIACH_CHANNEL_STATUS, CHANNEL_STATUS),
        ],
        own: &[
            number("BUFSRCVD", mq::MQIACH_BUFFERS_RCVD),
            number("BUFSSENT", mq::MQIACH_BUFFERS_SENT),
            number("BYTSRCVD", mq::MQIACH_BYTES_RCVD),
            number("BYTSSENT", mq::MQIACH_BYTES_SENT),
            date("CHSTADA", mq::MQCACH_CHANNEL_START_DATE),
            time("CHSTATI", mq::MQCACH_CHANNEL_START_TIME),
            state("COMPHDR", mq::MQIACH_HDR_COMPRESSION, ValueKind::Keywords(HEADER_COMPRESSION)),
            state("COMPMSG", mq::MQIACH_MSG_COMPRESSION, ValueKind::Keywords(COMPRESSION)),
            state("COMPRATE", mq::MQIACH_COMPRESSION_RATE, ValueKind::Ints),
            state("COMPTIME", mq::MQIACH_COMPRESSION_TIME, ValueKind::Ints),
            number("CURSHCNV", mq::MQIACH_CURRENT_SHARING_CONVS),
            state("EXITTIME", mq::MQIACH_EXIT_TIME_INDICATOR, ValueKind::Ints),
            number("HBINT", mq::MQIACH_HB_INTERVAL),
            text("JOBNAME", mq::MQCACH_MCA_JOB_NAME),
            date("LSTMSGDA", mq::MQCACH_LAST_MSG_DATE),
            time("LSTMSGTI", mq::MQCACH_LAST_MSG_TIME),
            number("MAXMSGL", mq::MQIACH_MAX_MSG_LENGTH),
            number("MAXSHCNV", mq::MQIACH_MAX_SHARING_CONVS),
            word("MCASTAT", mq::MQIACH_MCA_STATUS, MCASTAT),
            text("MCAUSER", mq::MQCACH_MCA_USER_ID),
            word("MONCHL", mq::MQIA_MONITORING_CHANNEL, MONITORING),
            number("MSGS", mq::MQIACH_MSGS),
            text("RAPPLTAG", mq::MQCACH_REMOTE_APPL_TAG),
            text("RPRODUCT", mq::MQCACH_REMOTE_PRODUCT),
            text("RQMNAME", mq::MQCA_REMOTE_Q_MGR_NAME),
            text("RVERSION", mq::MQCACH_REMOTE_VERSION),
            word("SECPROT", mq::MQIACH_SECURITY_PROTOCOL, SECPROT),
            text("SSLCERTI", mq::MQCACH_SSL_CERT_ISSUER_NAME),
            text("SSLCERTU", mq::MQCACH_SSL_CERT_USER_ID),
            text("SSLCIPH", mq::MQCACH_SSL_CIPHER_SPEC),
            date("SSLKEYDA", mq::MQCACH_SSL_KEY_RESET_DATE),
            time("SSLKEYTI", mq::MQCACH_SSL_KEY_RESET_TIME),
            text("SSLPEER", mq::MQCACH_SSL_SHORT_PEER_NAME),
            number("SSLRKEYS", mq::MQIACH_SSL_KEY_RESETS),
            word("STOPREQ", mq::MQIACH_STOP_REQUESTED, NO_YES),
            word("SUBSTATE", mq::MQIACH_CHANNEL_SUBSTATE, SUBSTATE),
            text("XMITQ", mq::MQCACH_XMIT_Q_NAME),
        ],
        handle: &[],
        publish: &[],
        not_here: &[
            "AMQPKA", "BATCHES", "BATCHSZ", "CURLUWID", "CURMSGS", "CURSEQNO", "INDOUBT", "INDMSGS", "INDSEQNO",
            "KAINT", "LOCLADDR", "LSTLUWID", "LSTSEQNO", "MONITOR", "NETTIME", "NPMSPEED", "PORT", "QMNAME",
            "SAVED", "SHORT", "SHORTRTS", "LONGRTS", "STATCHL", "XBATCHSZ", "XQMSGSA", "XQTIME",
        ],
        groups: &[],
        choices: &[Choice { keyword: "CONNAME", by: ChoiceBy::Value }],
    },
    // Manual: "DISPLAY LSSTATUS". What is not TCP is not here.
    Status {
        what: DisplayWhat::LsStatus,
        nouns: &["LSSTATUS"],
        name_length: mq::MQ_LISTENER_NAME_LENGTH,
        heading: &[
            text("LISTENER", mq::MQCACH_LISTENER_NAME),
            word("STATUS", mq::MQIACH_LISTENER_STATUS, SERVICE_STATUS),
            number("PID", mq::MQIACF_PROCESS_ID),
        ],
        own: &[
            number("BACKLOG", mq::MQIACH_BACKLOG),
            word("CONTROL", mq::MQIACH_LISTENER_CONTROL, CONTROL),
            text("DESCR", mq::MQCACH_LISTENER_DESC),
            text("IPADDR", mq::MQCACH_IP_ADDRESS),
            number("PORT", mq::MQIACH_PORT),
            date("STARTDA", mq::MQCACH_LISTENER_START_DATE),
            time("STARTTI", mq::MQCACH_LISTENER_START_TIME),
            word("TRPTYPE", mq::MQIACH_XMIT_PROTOCOL_TYPE, TRANSPORTS),
        ],
        handle: &[],
        publish: &[],
        not_here: &["ADAPTER", "CMDS", "LOCLNAME", "NTBNAMES", "SESSIONS", "SOCKET", "TPNAME"],
        groups: &[],
        choices: &[],
    },
    // Manual: "DISPLAY SVSTATUS".
    Status {
        what: DisplayWhat::SvStatus,
        nouns: &["SVSTATUS"],
        name_length: mq::MQ_OBJECT_NAME_LENGTH,
        heading: &[
            text("SERVICE", mq::MQCA_SERVICE_NAME),
            word("STATUS", mq::MQIACF_SERVICE_STATUS, SERVICE_STATUS),
            number("PID", mq::MQIACF_PROCESS_ID),
        ],
        own: &[
            word("CONTROL", mq::MQIA_SERVICE_CONTROL, CONTROL),
            text("DESCR", mq::MQCA_SERVICE_DESC),
            word("SERVTYPE", mq::MQIA_SERVICE_TYPE, SERVTYPE),
            text("STARTARG", mq::MQCA_SERVICE_START_ARGS),
            text("STARTCMD", mq::MQCA_SERVICE_START_COMMAND),
            date("STARTDA", mq::MQCACF_SERVICE_START_DATE),
            time("STARTTI", mq::MQCACF_SERVICE_START_TIME),
            text("STDERR", mq::MQCA_STDERR_DESTINATION),
            text("STDOUT", mq::MQCA_STDOUT_DESTINATION),
            text("STOPARG", mq::MQCA_SERVICE_STOP_ARGS),
            text("STOPCMD", mq::MQCA_SERVICE_STOP_COMMAND),
        ],
        handle: &[],
        publish: &[],
        not_here: &[],
        groups: &[],
        choices: &[],
    },
    // Manual: "DISPLAY TPSTATUS". `own` are the topic strings, `handle` the subscriptions to them, `publish` the handles to publish by.
    Status {
        what: DisplayWhat::TpStatus,
        nouns: &["TPSTATUS", "TPS"],
        name_length: mq::MQ_TOPIC_STR_LENGTH,
        heading: &[text("TOPICSTR", mq::MQCA_TOPIC_STRING)],
        own: &[
            text("ADMIN", mq::MQCA_ADMIN_TOPIC_NAME),
            word("CLROUTE", mq::MQIA_CLUSTER_PUB_ROUTE, topic::CLROUTE),
            text("CLUSTER", mq::MQCA_CLUSTER_NAME),
            text("COMMINFO", mq::MQCA_COMM_INFO_NAME),
            word("DEFPRESP", mq::MQIA_DEF_PUT_RESPONSE_TYPE, topic::DEFPRESP),
            number("DEFPRTY", mq::MQIA_DEF_PRIORITY),
            word("DEFPSIST", mq::MQIA_TOPIC_DEF_PERSISTENCE, topic::DEFPSIST),
            word("DURSUB", mq::MQIA_DURABLE_SUB, topic::DURSUB),
            word("MCAST", mq::MQIA_MULTICAST, topic::MCAST),
            text("MDURMDL", mq::MQCA_MODEL_DURABLE_Q),
            text("MNDURMDL", mq::MQCA_MODEL_NON_DURABLE_Q),
            word("NPMSGDLV", mq::MQIA_NPM_DELIVERY, topic::DELIVERY),
            word("PMSGDLV", mq::MQIA_PM_DELIVERY, topic::DELIVERY),
            word("PUB", mq::MQIA_INHIBIT_PUB, topic::PUB),
            number("PUBCOUNT", mq::MQIA_PUB_COUNT),
            word("PUBSCOPE", mq::MQIA_PUB_SCOPE, topic::SCOPE),
            word("RETAINED", mq::MQIACF_RETAINED_PUBLICATION, RETAINED),
            word("SUB", mq::MQIA_INHIBIT_SUB, topic::PUB),
            number("SUBCOUNT", mq::MQIA_SUB_COUNT),
            word("SUBSCOPE", mq::MQIA_SUB_SCOPE, topic::SCOPE),
            word("USEDLQ", mq::MQIA_USE_DEAD_LETTER_Q, topic::USEDLQ),
        ],
        handle: SUBSCRIPTION,
        publish: &[
            text("ACTCONN", mq::MQBACF_CONNECTION_ID),
            date("LPUBDATE", mq::MQCACF_LAST_PUB_DATE),
            time("LPUBTIME", mq::MQCACF_LAST_PUB_TIME),
            number("NUMPUBS", mq::MQIACF_PUBLISH_COUNT),
        ],
        not_here: &["MCASTREL"],
        groups: &[],
        choices: &[],
    },
    // Manual: "DISPLAY SBSTATUS".
    Status {
        what: DisplayWhat::SbStatus,
        nouns: &["SBSTATUS"],
        name_length: mq::MQ_SUB_NAME_LENGTH,
        heading: &[text("SUB", mq::MQCACF_SUB_NAME), text("TOPICSTR", mq::MQCA_TOPIC_STRING)],
        own: SUBSCRIPTION,
        handle: &[],
        publish: &[],
        not_here: &["MCASTREL"],
        groups: &[],
        choices: SUB_CHOICES,
    },
    // Manual: "DISPLAY PUBSUB". There are no other queue managers in a hierarchy.
    Status {
        what: DisplayWhat::PubSub,
        nouns: &["PUBSUB"],
        name_length: 0,
        heading: &[
            text("QMNAME", mq::MQCA_Q_MGR_NAME),
            word("TYPE", mq::MQIACF_PS_STATUS_TYPE, PUBSUB_TYPES),
        ],
        own: &[
            word("STATUS", mq::MQIACF_PUBSUB_STATUS, PUBSUB_STATUS),
            number("SUBCOUNT", mq::MQIA_SUB_COUNT),
            number("TPCOUNT", mq::MQIA_TOPIC_NODE_COUNT),
        ],
        handle: &[],
        publish: &[],
        not_here: &[],
        groups: &[],
        choices: &[],
    },
];

/// What is so of a subscription.
const SUBSCRIPTION: &[Attribute] = &[
    text("ACTCONN", mq::MQBACF_CONNECTION_ID),
    word("DURABLE", mq::MQIACF_DURABLE_SUBSCRIPTION, sub::DURABLE),
    date("LMSGDATE", mq::MQCACF_LAST_MSG_DATE),
    time("LMSGTIME", mq::MQCACF_LAST_MSG_TIME),
    number("NUMMSGS", mq::MQIACF_MESSAGE_COUNT),
    date("RESMDATE", mq::MQCA_RESUME_DATE),
    time("RESMTIME", mq::MQCA_RESUME_TIME),
    bytes("SUBID", mq::MQBACF_SUB_ID),
    word("SUBTYPE", mq::MQIACF_SUB_TYPE, sub::SUBTYPE),
    text("SUBUSER", mq::MQCACF_SUB_USER_ID),
];

/// What chooses subscriptions.
const SUB_CHOICES: &[Choice] = &[
    Choice {
        keyword: "SUBID",
        by: ChoiceBy::Value,
    },
    Choice {
        keyword: "DURABLE",
        by: ChoiceBy::Word(&[
            ("ALL", &[]),
            ("YES", &[(DisplayType::Queue, "DURABLE", Op::Eq, "YES")]),
            ("NO", &[(DisplayType::Queue, "DURABLE", Op::Eq, "NO")]),
        ]),
    },
    Choice {
        keyword: "SUBTYPE",
        by: ChoiceBy::Word(&[
            ("ALL", &[]),
            ("USER", &[(DisplayType::Queue, "SUBTYPE", Op::Ne, "PROXY")]),
            ("API", &[(DisplayType::Queue, "SUBTYPE", Op::Eq, "API")]),
            ("ADMIN", &[(DisplayType::Queue, "SUBTYPE", Op::Eq, "ADMIN")]),
            ("PROXY", &[(DisplayType::Queue, "SUBTYPE", Op::Eq, "PROXY")]),
        ]),
    },
];

/// What LOG of DISPLAY QMSTATUS asks for.
const LOG_KEYWORDS: &[&str] = &[
    "ARCHLOG", "ARCHSZ", "CURRLOG", "LOGEXTSZ", "LOGINUSE", "LOGPATH", "LOGPRIM", "LOGSEC",
    "LOGTYPE", "LOGUTIL", "MEDIALOG", "MEDIASZ", "RECLOG", "RECSZ", "REUSESZ",
];

/// OPENTYPE of DISPLAY QSTATUS; rows of TYPE(QUEUE) have counts.
const OPENTYPE: &[(&str, &[Fit])] = &[
    ("ALL", &[]),
    (
        "INPUT",
        &[
            (DisplayType::Queue, "IPPROCS", Op::Gt, "0"),
            (DisplayType::Handle, "INPUT", Op::Ne, "NO"),
        ],
    ),
    (
        "OUTPUT",
        &[
            (DisplayType::Queue, "OPPROCS", Op::Gt, "0"),
            (DisplayType::Handle, "OUTPUT", Op::Eq, "YES"),
        ],
    ),
];

/// The groups of a DISPLAY command.
pub(crate) fn groups(what: DisplayWhat) -> Vec<Group> {
    let kinds = displayed_kinds(what).into_iter();
    let of_objects = kinds.flat_map(groups_of);
    let of_state = status(what).into_iter().flat_map(|status| status.groups);
    of_objects.chain(of_state).copied().collect()
}

/// The group that a word, in any case, asks for.
pub(crate) fn group(what: DisplayWhat, word: &str) -> Option<Group> {
    let mut all = groups(what).into_iter();
    all.find(|(name, _)| name.eq_ignore_ascii_case(word))
}

/// The parameter with a value, called so in any case, that chooses rows.
pub(crate) fn choice(what: DisplayWhat, word: &str) -> Option<&'static Choice> {
    let choices = match what {
        DisplayWhat::Object(ObjectKind::Sub) => SUB_CHOICES,
        _ => status(what)?.choices,
    };
    let mut choices = choices.iter();
    choices.find(|choice| choice.keyword.eq_ignore_ascii_case(word))
}

/// The rows of a DISPLAY command about state; `None` for one about objects.
pub(crate) fn status(what: DisplayWhat) -> Option<&'static Status> {
    STATUSES.iter().find(|status| status.what == what)
}

/// The noun of a DISPLAY command as it is called in messages.
pub(crate) fn noun(what: DisplayWhat) -> &'static str {
    match what {
        DisplayWhat::Object(kind) => kind.noun(),
        DisplayWhat::Queue => "QUEUE",
        _ => status(what)
            .and_then(|status| status.nouns.first())
            .map_or("", |noun| noun),
    }
}

/// What a DISPLAY command about state answers in rows of a TYPE; nothing for a command about objects.
pub(crate) fn status_rows(what: DisplayWhat, type_: DisplayType) -> Vec<&'static Attribute> {
    let Some(status) = status(what) else {
        return Vec::new();
    };
    let rows: &[&'static [Attribute]] = match type_ {
        DisplayType::Handle => &[status.heading, status.handle],
        DisplayType::Pub => &[status.heading, status.publish],
        DisplayType::Queue | DisplayType::Conn | DisplayType::Kind(_) => {
            &[status.heading, status.own]
        }
        DisplayType::All => &[status.heading, status.own, status.handle, status.publish],
    };
    rows.iter().flat_map(|rows| rows.iter()).collect()
}

/// The keywords that a DISPLAY command about state answers in rows of a TYPE; none for a command
/// about objects.
pub fn status_keywords(what: DisplayWhat, type_: DisplayType) -> Vec<&'static str> {
    let rows = status_rows(what, type_).into_iter();
    rows.map(|row| row.keyword).collect()
}

/// Whether a word is one of MQ's keywords for `what` that this release does not answer.
pub(crate) fn is_not_here(what: DisplayWhat, word: &str) -> bool {
    let words = status(what).map_or(&[][..], |status| status.not_here);
    words
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// The TYPEs whose rows have a keyword, if others have not.
pub(crate) fn types_of_keyword(what: DisplayWhat, keyword: &str) -> Vec<DisplayType> {
    let Some(status) = status(what) else {
        return Vec::new();
    };
    let own = match what {
        DisplayWhat::Conn => DisplayType::Conn,
        _ => DisplayType::Queue,
    };
    let has = |rows: &[Attribute]| rows.iter().any(|row| row.keyword == keyword);
    let of_all = [
        (own, status.own),
        (DisplayType::Handle, status.handle),
        (DisplayType::Pub, status.publish),
    ];
    let there = of_all.iter().filter(|(_, rows)| !rows.is_empty());
    let types: Vec<DisplayType> = there
        .clone()
        .filter(|(_, rows)| has(rows))
        .map(|(type_, _)| *type_)
        .collect();
    match types.len() < there.count() {
        true => types,
        false => Vec::new(),
    }
}

/// The kinds of object that a DISPLAY command about objects covers.
pub(crate) fn displayed_kinds(what: DisplayWhat) -> Vec<ObjectKind> {
    match what {
        DisplayWhat::Object(kind) if ObjectKind::CHLAUTH.contains(&kind) => {
            ObjectKind::CHLAUTH.to_vec()
        }
        DisplayWhat::Object(kind) => ObjectKind::with_noun(kind.noun()),
        DisplayWhat::Queue => ObjectKind::QUEUES.to_vec(),
        _ => Vec::new(),
    }
}

/// What `what` shows under a keyword, or a synonym of it, for each kind of object that has it. Synonyms are replaced
/// (`QTYPE` gives `TYPE`, `NOSHARE` gives `SHARE`).
pub(crate) fn shown_by(what: DisplayWhat, word: &str) -> Vec<&'static Attribute> {
    let states = status_rows(what, DisplayType::All);
    let state = states
        .into_iter()
        .find(|row| row.keyword.eq_ignore_ascii_case(word));
    let kinds = displayed_kinds(what).into_iter();
    let attributes = kinds.filter_map(|kind| by_keyword(kind, word));
    state.into_iter().chain(attributes).collect()
}

/// The keyword as DISPLAY shows it, when `word` asks for something that `what` can show.
pub(crate) fn where_keyword(what: DisplayWhat, word: &str) -> Option<&'static str> {
    shown_by(what, word).first().map(|row| row.keyword)
}

/// Every keyword that `what` can show, for finding what was meant.
pub(crate) fn all_keywords(what: DisplayWhat) -> Vec<&'static str> {
    let states = status_rows(what, DisplayType::All).into_iter();
    let attributes = displayed_kinds(what).into_iter().flat_map(attributes);
    states.chain(attributes).map(|row| row.keyword).collect()
}
