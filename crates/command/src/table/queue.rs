//! Attributes of queues (manual: "DEFINE queues", "Attributes for queues").

use super::rows::{date, int, int_or_word, name, text, time, word};
use super::words::QUEUE_TYPES;
use super::words::{NO_YES, QMGR_OFF_LEVELS, QMGR_OFF_ON, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::{QAlias, QLocal, QModel, QRemote};
use posthaste_mqi::constants as mq;

pub(super) const ALL: &[ObjectKind] = &[QLocal, QModel, QAlias, QRemote];
pub(super) const STORED: &[ObjectKind] = &[QLocal, QModel];
const LOCAL: &[ObjectKind] = &[QLocal];
const MODEL: &[ObjectKind] = &[QModel];
const ALIAS: &[ObjectKind] = &[QAlias];
const REMOTE: &[ObjectKind] = &[QRemote];
const READABLE: &[ObjectKind] = &[QLocal, QModel, QAlias];
const NAMED: &[ObjectKind] = &[QLocal, QAlias, QRemote];

const MOST: i32 = 999_999_999;

const GET: Words = &[
    ("ENABLED", mq::MQQA_GET_ALLOWED),
    ("DISABLED", mq::MQQA_GET_INHIBITED),
];
const PUT: Words = &[
    ("ENABLED", mq::MQQA_PUT_ALLOWED),
    ("DISABLED", mq::MQQA_PUT_INHIBITED),
];
const DEFPSIST: Words = &[
    ("NO", mq::MQPER_NOT_PERSISTENT),
    ("YES", mq::MQPER_PERSISTENT),
];
const DEFPRESP: Words = &[
    ("SYNC", mq::MQPRT_SYNC_RESPONSE),
    ("ASYNC", mq::MQPRT_ASYNC_RESPONSE),
];
const DEFREADA: Words = &[
    ("NO", mq::MQREADA_NO),
    ("YES", mq::MQREADA_YES),
    ("DISABLED", mq::MQREADA_DISABLED),
];
const MSGDLVSQ: Words = &[("PRIORITY", mq::MQMDS_PRIORITY), ("FIFO", mq::MQMDS_FIFO)];
const SHARE: Words = &[
    ("SHARE", mq::MQQA_SHAREABLE),
    ("NOSHARE", mq::MQQA_NOT_SHAREABLE),
];
const DEFSOPT: Words = &[
    ("EXCL", mq::MQOO_INPUT_EXCLUSIVE),
    ("SHARED", mq::MQOO_INPUT_SHARED),
];
const HARDENBO: Words = &[
    ("HARDENBO", mq::MQQA_BACKOUT_HARDENED),
    ("NOHARDENBO", mq::MQQA_BACKOUT_NOT_HARDENED),
];
const NPMCLASS: Words = &[
    ("NORMAL", mq::MQNPM_CLASS_NORMAL),
    ("HIGH", mq::MQNPM_CLASS_HIGH),
];
const USAGE: Words = &[
    ("NORMAL", mq::MQUS_NORMAL),
    ("XMITQ", mq::MQUS_TRANSMISSION),
];
const PROPCTL: Words = &[
    ("COMPAT", mq::MQPROP_COMPATIBILITY),
    ("NONE", mq::MQPROP_NONE),
    ("ALL", mq::MQPROP_ALL),
    ("FORCE", mq::MQPROP_FORCE_MQRFH2),
    ("V6COMPAT", mq::MQPROP_V6COMPAT),
];
/// Nothing is collected; the queue manager collects nothing either.
const UNMONITORED: &[i32] = &[mq::MQMON_Q_MGR, mq::MQMON_OFF];
const SCOPE: Words = &[("QMGR", mq::MQSCO_Q_MGR), ("CELL", mq::MQSCO_CELL)];
const DEFBIND: Words = &[
    ("OPEN", mq::MQBND_BIND_ON_OPEN),
    ("NOTFIXED", mq::MQBND_BIND_NOT_FIXED),
    ("GROUP", mq::MQBND_BIND_ON_GROUP),
];
const CLWLUSEQ: Words = &[
    ("QMGR", mq::MQCLWL_USEQ_AS_Q_MGR),
    ("LOCAL", mq::MQCLWL_USEQ_LOCAL),
    ("ANY", mq::MQCLWL_USEQ_ANY),
];
const IMGRCOVQ: Words = &[
    ("NO", mq::MQIMGRCOV_NO),
    ("YES", mq::MQIMGRCOV_YES),
    ("QMGR", mq::MQIMGRCOV_AS_Q_MGR),
];
/// MQST_ numbers.
const STRMQOS: Words = &[("BESTEF", 0), ("MUSTDUP", 1)];
/// MQQFS_DEFAULT.
const FILE_SIZE: Words = &[("DEFAULT", -1)];
/// MQCEX_NOLIMIT.
const NOLIMIT: Words = &[("NOLIMIT", -1)];
const TARGTYPE: Words = &[("QUEUE", mq::MQOT_Q), ("TOPIC", mq::MQOT_TOPIC)];
const DEFTYPE: Words = &[
    ("PREDEFINED", mq::MQQDT_PREDEFINED),
    ("PERMDYN", mq::MQQDT_PERMANENT_DYNAMIC),
    ("TEMPDYN", mq::MQQDT_TEMPORARY_DYNAMIC),
];
/// A model cannot be for predefined queues.
const MODEL_DEFTYPE: Words = &[
    ("TEMPDYN", mq::MQQDT_TEMPORARY_DYNAMIC),
    ("PERMDYN", mq::MQQDT_PERMANENT_DYNAMIC),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("QUEUE", mq::MQCA_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", ALL, "The queue's name").derived(),
    word("TYPE", mq::MQIA_Q_TYPE, QUEUE_TYPES, mq::MQQT_LOCAL, ALL, "The kind of queue").derived().or(&["QTYPE"]),
    text("DESCR", mq::MQCA_Q_DESC, mq::MQ_Q_DESC_LENGTH, "", ALL, "What the queue is for, in the operator's words").describes(),
    word("PUT", mq::MQIA_INHIBIT_PUT, PUT, mq::MQQA_PUT_ALLOWED, ALL, "Whether messages may be put").by_mqset(),
    word("GET", mq::MQIA_INHIBIT_GET, GET, mq::MQQA_GET_ALLOWED, READABLE, "Whether messages may be got").by_mqset(),
    int("DEFPRTY", mq::MQIA_DEF_PRIORITY, (0, 9), 0, ALL, "Priority of messages put with MQPRI_PRIORITY_AS_Q_DEF"),
    word("DEFPSIST", mq::MQIA_DEF_PERSISTENCE, DEFPSIST, mq::MQPER_NOT_PERSISTENT, ALL, "Persistence of messages put with MQPER_PERSISTENCE_AS_Q_DEF"),
    word("DEFPRESP", mq::MQIA_DEF_PUT_RESPONSE_TYPE, DEFPRESP, mq::MQPRT_SYNC_RESPONSE, ALL, "Response to puts with MQPMO_RESPONSE_AS_Q_DEF"),
    word("DEFREADA", mq::MQIA_DEF_READ_AHEAD, DEFREADA, mq::MQREADA_NO, READABLE, "Whether clients may be sent non-persistent messages ahead of asking"),
    int("MAXDEPTH", mq::MQIA_MAX_Q_DEPTH, (0, MOST), 5000, STORED, "Most messages the queue may hold"),
    int("MAXMSGL", mq::MQIA_MAX_MSG_LENGTH, (0, 104_857_600), 4_194_304, STORED, "Longest message in bytes; the queue manager's MAXMSGL limits it as well"),
    word("MSGDLVSQ", mq::MQIA_MSG_DELIVERY_SEQUENCE, MSGDLVSQ, mq::MQMDS_PRIORITY, STORED, "Order of delivery: by priority then arrival, or by arrival"),
    word("SHARE", mq::MQIA_SHAREABILITY, SHARE, mq::MQQA_SHAREABLE, LOCAL, "Whether several applications may have the queue open for input"),
    word("SHARE", mq::MQIA_SHAREABILITY, SHARE, mq::MQQA_NOT_SHAREABLE, MODEL, "Whether several applications may have the queue open for input"),
    word("DEFSOPT", mq::MQIA_DEF_INPUT_OPEN_OPTION, DEFSOPT, mq::MQOO_INPUT_SHARED, LOCAL, "Meaning of MQOO_INPUT_AS_Q_DEF"),
    word("DEFSOPT", mq::MQIA_DEF_INPUT_OPEN_OPTION, DEFSOPT, mq::MQOO_INPUT_EXCLUSIVE, MODEL, "Meaning of MQOO_INPUT_AS_Q_DEF"),
    word("HARDENBO", mq::MQIA_HARDEN_GET_BACKOUT, HARDENBO, mq::MQQA_BACKOUT_HARDENED, STORED, "Whether backout counts of persistent messages survive a restart"),
    int("BOTHRESH", mq::MQIA_BACKOUT_THRESHOLD, (0, MOST), 0, STORED, "Backout count at which applications should give up on a message; 0 is never").describes(),
    name("BOQNAME", mq::MQCA_BACKOUT_REQ_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", STORED, "Where applications should put a message that reached BOTHRESH").describes(),
    word("NPMCLASS", mq::MQIA_NPM_CLASS, NPMCLASS, mq::MQNPM_CLASS_NORMAL, STORED, "Whether non-persistent messages survive an orderly restart (HIGH) or none (NORMAL)"),
    word("USAGE", mq::MQIA_USAGE, USAGE, mq::MQUS_NORMAL, STORED, "Whether it is a transmission queue"),
    int("RETINTVL", mq::MQIA_RETENTION_INTERVAL, (0, MOST), MOST, STORED, "Hours after which the queue is no longer needed; for programs to inquire").describes(),
    word("PROPCTL", mq::MQIA_PROPERTY_CONTROL, PROPCTL, mq::MQPROP_COMPATIBILITY, READABLE, "How message properties are returned by MQGET: in the MQRFH2 in which they were put, or (NONE) not at all"),
    word("DISTL", mq::MQIA_DIST_LISTS, NO_YES, mq::MQDL_NOT_SUPPORTED, STORED, "Whether the partner of a transmission queue knows distribution lists").kept().by_mqset(),
    word("SCOPE", mq::MQIA_SCOPE, SCOPE, mq::MQSCO_Q_MGR, NAMED, "Whether the queue is known outside the queue manager").only(&[mq::MQSCO_Q_MGR]),
    name("CLUSTER", mq::MQCA_CLUSTER_NAME, mq::MQ_CLUSTER_NAME_LENGTH, "", NAMED, "Cluster the queue belongs to").only(&[]),
    name("CLUSNL", mq::MQCA_CLUSTER_NAMELIST, mq::MQ_NAMELIST_NAME_LENGTH, "", NAMED, "Namelist of clusters the queue belongs to").only(&[]),
    word("DEFBIND", mq::MQIA_DEF_BIND, DEFBIND, mq::MQBND_BIND_ON_OPEN, ALL, "Binding of a handle to a cluster queue").kept(),
    int("CLWLPRTY", mq::MQIA_CLWL_Q_PRIORITY, (0, 9), 0, NAMED, "Priority in cluster workload distribution").kept(),
    int("CLWLRANK", mq::MQIA_CLWL_Q_RANK, (0, 9), 0, NAMED, "Rank in cluster workload distribution").kept(),
    word("CLWLUSEQ", mq::MQIA_CLWL_USEQ, CLWLUSEQ, mq::MQCLWL_USEQ_AS_Q_MGR, LOCAL, "Use of other instances in a cluster").kept(),
    word("IMGRCOVQ", mq::MQIA_MEDIA_IMAGE_RECOVER_Q, IMGRCOVQ, mq::MQIMGRCOV_AS_Q_MGR, STORED, "Whether media images can recreate the queue (linear logging)").kept(),
    word("MONQ", mq::MQIA_MONITORING_Q, QMGR_OFF_LEVELS, mq::MQMON_Q_MGR, STORED, "Collection of online monitoring data").only(UNMONITORED),
    word("STATQ", mq::MQIA_STATISTICS_Q, QMGR_OFF_ON, mq::MQMON_Q_MGR, STORED, "Collection of statistics").only(UNMONITORED),
    word("ACCTQ", mq::MQIA_ACCOUNTING_Q, QMGR_OFF_ON, mq::MQMON_Q_MGR, STORED, "Collection of accounting data").only(UNMONITORED),
    int_or_word("MAXFSIZE", mq::MQIA_MAX_Q_FILE_SIZE, (20, 267_386_880), FILE_SIZE, -1, STORED, "Largest size of the queue file in megabytes").only(&[-1]),
    int_or_word("CAPEXPRY", mq::MQIA_CAP_EXPIRY, (0, MOST), NOLIMIT, -1, ALL, "Longest expiry of messages in tenths of a second").only(&[-1]),
    name("STREAMQ", mq::MQCA_STREAM_QUEUE_NAME, mq::MQ_Q_NAME_LENGTH, "", STORED, "Queue that gets a copy of each message").only(&[]),
    word("STRMQOS", mq::MQIA_STREAM_QUEUE_QOS, STRMQOS, 0, STORED, "Whether a message may be put if its copy cannot").kept(),
    name("CLCHNAME", mq::MQCA_CLUS_CHL_NAME, mq::MQ_CHANNEL_NAME_LENGTH, "", STORED, "Cluster-sender channels that use the queue as transmission queue").only(&[]),
    text("CUSTOM", mq::MQCA_CUSTOM, mq::MQ_CUSTOM_LENGTH, "", ALL, "Settings that have no attribute of their own yet").only(&[]),
    name("TARGET", mq::MQCA_BASE_OBJECT_NAME, mq::MQ_OBJECT_NAME_LENGTH, "", ALIAS, "The queue that the alias stands for").or(&["TARGQ"]),
    word("TARGTYPE", mq::MQIA_BASE_TYPE, TARGTYPE, mq::MQOT_Q, ALIAS, "What kind of object TARGET is"),
    name("RNAME", mq::MQCA_REMOTE_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", REMOTE, "The queue's name at its own queue manager"),
    name("RQMNAME", mq::MQCA_REMOTE_Q_MGR_NAME, mq::MQ_Q_MGR_NAME_LENGTH, "", REMOTE, "The queue manager that has the queue"),
    name("XMITQ", mq::MQCA_XMIT_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", REMOTE, "Transmission queue to use; blank is the queue named as RQMNAME"),
    word("DEFTYPE", mq::MQIA_DEFINITION_TYPE, DEFTYPE, mq::MQQDT_PREDEFINED, LOCAL, "How the queue came to be: by a command, or from a model").read_only(),
    word("DEFTYPE", mq::MQIA_DEFINITION_TYPE, MODEL_DEFTYPE, mq::MQQDT_TEMPORARY_DYNAMIC, MODEL, "Whether queues made from the model are temporary or permanent"),
    int("CURDEPTH", mq::MQIA_CURRENT_Q_DEPTH, (0, MOST), 0, LOCAL, "Messages on the queue, uncommitted ones included").derived(),
    int("IPPROCS", mq::MQIA_OPEN_INPUT_COUNT, (0, MOST), 0, LOCAL, "Handles open for input").derived(),
    int("OPPROCS", mq::MQIA_OPEN_OUTPUT_COUNT, (0, MOST), 0, LOCAL, "Handles open for output").derived(),
    date("CRDATE", mq::MQCA_CREATION_DATE, STORED, "Date of creation, yyyy-mm-dd").derived(),
    time("CRTIME", mq::MQCA_CREATION_TIME, STORED, "Time of creation, hh.mm.ss").derived(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ALL, "Date of the last change, yyyy-mm-dd").derived(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ALL, "Time of the last change, hh.mm.ss").derived(),
];
