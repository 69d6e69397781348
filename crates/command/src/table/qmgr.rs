//! Attributes of the queue manager (manual: "ALTER QMGR", "Attributes for the queue manager").
//!
//! CHLAUTH, CONNAUTH, STRSTPEV, ACTIVREC and ROUTEREC start as what switches them off, unlike the
//! manual's: of the first two an administrator decides when they count; of the others there is nothing to switch on, and
//! an attribute must not claim anything that is not there.

use super::rows::{date, int, int_or_word, name, text, time, word, word_list};
use super::words::{DISABLED_ENABLED, NO_YES, NONE_OFF_LEVELS, NONE_OFF_ON, OFF_ON, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::Qmgr;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[Qmgr];
const MOST: i32 = 999_999_999;

const NOLIMIT: Words = &[("NOLIMIT", -1)];
const OFF: Words = &[("OFF", 0)];
const PLATFORM: Words = &[("UNIX", mq::MQPL_UNIX)];
/// Shown as a bare word, like a switch.
const AVAILABLE: Words = &[("SYNCPT", mq::MQSP_AVAILABLE)];
/// MQRECORDING_ numbers.
const RECORDING: Words = &[("DISABLED", 0), ("QUEUE", 1), ("MSG", 2)];
/// MQ_SUITE_B_ numbers.
const SUITEB: Words = &[("NONE", 1), ("128_BIT", 2), ("192_BIT", 4)];
/// MQMEDIMGSCHED_ numbers.
const IMGSCHED: Words = &[("MANUAL", 0), ("AUTO", 1)];
/// Nothing is collected.
const NOT_AT_ALL: &[i32] = &[mq::MQMON_NONE, mq::MQMON_OFF];
/// No events are made.
const DISABLED: &[i32] = &[mq::MQEVR_DISABLED];
const PSMODE: Words = &[
    ("DISABLED", mq::MQPSM_DISABLED),
    ("COMPAT", mq::MQPSM_COMPAT),
    ("ENABLED", mq::MQPSM_ENABLED),
];
const CONTROL: Words = &[
    ("MANUAL", mq::MQSVC_CONTROL_MANUAL),
    ("QMGR", mq::MQSVC_CONTROL_Q_MGR),
];
const CMDEV: Words = &[
    ("DISABLED", mq::MQEVR_DISABLED),
    ("ENABLED", mq::MQEVR_ENABLED),
    ("NODISPLAY", mq::MQEVR_NO_DISPLAY),
];
const CHLEV: Words = &[
    ("DISABLED", mq::MQEVR_DISABLED),
    ("ENABLED", mq::MQEVR_ENABLED),
    ("EXCEPTION", mq::MQEVR_EXCEPTION),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("QMNAME", mq::MQCA_Q_MGR_NAME, mq::MQ_Q_MGR_NAME_LENGTH, "", ON, "The queue manager's name").derived(),
    text("QMID", mq::MQCA_Q_MGR_IDENTIFIER, mq::MQ_Q_MGR_IDENTIFIER_LENGTH, "", ON, "The queue manager's identifier: its name and when it was created").derived(),
    text("DESCR", mq::MQCA_Q_MGR_DESC, mq::MQ_Q_MGR_DESC_LENGTH, "", ON, "What the queue manager is for, in the operator's words").describes(),
    name("DEADQ", mq::MQCA_DEAD_LETTER_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", ON, "Dead-letter queue; blank is none"),
    name("DEFXMITQ", mq::MQCA_DEF_XMIT_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", ON, "Transmission queue for queue managers that nothing else leads to"),
    int("MAXHANDS", mq::MQIA_MAX_HANDLES, (0, MOST), 256, ON, "Most open handles of one connection"),
    int("MAXMSGL", mq::MQIA_MAX_MSG_LENGTH, (32_768, 104_857_600), 4_194_304, ON, "Longest message on any queue, in bytes"),
    int("MAXUMSGS", mq::MQIA_MAX_UNCOMMITTED_MSGS, (1, MOST), 10_000, ON, "Most uncommitted messages of one unit of work"),
    int_or_word("MAXPROPL", mq::MQIA_MAX_PROPERTIES_LENGTH, (0, 104_857_600), NOLIMIT, -1, ON, "Longest message properties in bytes").only(&[-1]),
    int("MAXPRTY", mq::MQIA_MAX_PRIORITY, (9, 9), 9, ON, "Highest message priority").read_only(),
    int_or_word("MARKINT", mq::MQIA_MSG_MARK_BROWSE_INTERVAL, (0, MOST), NOLIMIT, 5000, ON, "Milliseconds that a mark of a browsed message lasts that is for all handles of MQOO_CO_OP"),
    int("TRIGINT", mq::MQIA_TRIGGER_INTERVAL, (0, MOST), MOST, ON, "Milliseconds after which TRIGTYPE(FIRST) may make another trigger message"),
    int("CCSID", mq::MQIA_CODED_CHAR_SET_ID, (1, 65_535), 1208, ON, "Coded character set of the queue manager's own text"),
    int("CMDLEVEL", mq::MQIA_COMMAND_LEVEL, (0, MOST), mq::MQCMDL_LEVEL_940, ON, "Level of commands and calls that the queue manager knows").read_only(),
    word("PLATFORM", mq::MQIA_PLATFORM, PLATFORM, mq::MQPL_UNIX, ON, "Kind of operating system").read_only(),
    text("VERSION", mq::MQCA_VERSION, mq::MQ_VERSION_LENGTH, "09040000", ON, "Version of the queue manager, VVRRMMFF").read_only(),
    word("ADVCAP", mq::MQIA_ADVANCED_CAPABILITY, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Whether the capabilities of the advanced edition are claimed; client libraries inquire it").read_only(),
    word("SYNCPT", mq::MQIA_SYNCPOINT, AVAILABLE, mq::MQSP_AVAILABLE, ON, "Whether units of work can be used").read_only(),
    word("DISTL", mq::MQIA_DIST_LISTS, NO_YES, mq::MQDL_SUPPORTED, ON, "Whether distribution lists can be used").read_only(),
    name("COMMANDQ", mq::MQCA_COMMAND_INPUT_Q_NAME, mq::MQ_Q_NAME_LENGTH, "SYSTEM.ADMIN.COMMAND.QUEUE", ON, "Queue for command messages").read_only(),
    word("CHLAUTH", mq::MQIA_CHLAUTH_RECORDS, DISABLED_ENABLED, mq::MQCHLA_DISABLED, ON, "Whether channel authentication records apply"),
    name("CONNAUTH", mq::MQCA_CONN_AUTH, mq::MQ_AUTH_INFO_NAME_LENGTH, "", ON, "The AUTHINFO object that says how users and passwords are checked; blank is not at all"),
    word("MONQ", mq::MQIA_MONITORING_Q, NONE_OFF_LEVELS, mq::MQMON_OFF, ON, "Collection of online monitoring data for queues").only(NOT_AT_ALL),
    word("MONCHL", mq::MQIA_MONITORING_CHANNEL, NONE_OFF_LEVELS, mq::MQMON_OFF, ON, "Collection of online monitoring data for channels").only(NOT_AT_ALL),
    word("STATQ", mq::MQIA_STATISTICS_Q, NONE_OFF_ON, mq::MQMON_OFF, ON, "Collection of statistics for queues").only(NOT_AT_ALL),
    word("STATMQI", mq::MQIA_STATISTICS_MQI, OFF_ON, mq::MQMON_OFF, ON, "Collection of statistics for calls").only(&[mq::MQMON_OFF]),
    word("STATCHL", mq::MQIA_STATISTICS_CHANNEL, NONE_OFF_LEVELS, mq::MQMON_OFF, ON, "Collection of statistics for channels").only(NOT_AT_ALL),
    int("STATINT", mq::MQIA_STATISTICS_INTERVAL, (1, 604_800), 1800, ON, "Seconds between statistics messages").kept(),
    word("ACCTQ", mq::MQIA_ACCOUNTING_Q, NONE_OFF_ON, mq::MQMON_OFF, ON, "Collection of accounting data for queues").only(NOT_AT_ALL),
    word("ACCTMQI", mq::MQIA_ACCOUNTING_MQI, OFF_ON, mq::MQMON_OFF, ON, "Collection of accounting data for calls").only(&[mq::MQMON_OFF]),
    int("ACCTINT", mq::MQIA_ACCOUNTING_INTERVAL, (1, 604_800), 1800, ON, "Seconds between accounting messages").kept(),
    word("ACCTCONO", mq::MQIA_ACCOUNTING_CONN_OVERRIDE, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Whether applications may override ACCTMQI and ACCTQ").only(DISABLED),
    word("AUTHOREV", mq::MQIA_AUTHORITY_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Not-authorized events"),
    word("INHIBTEV", mq::MQIA_INHIBIT_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Inhibit events").only(DISABLED),
    word("LOCALEV", mq::MQIA_LOCAL_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Local error events").only(DISABLED),
    word("REMOTEEV", mq::MQIA_REMOTE_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Remote error events").only(DISABLED),
    word("PERFMEV", mq::MQIA_PERFORMANCE_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Performance events").only(DISABLED),
    word("STRSTPEV", mq::MQIA_START_STOP_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Start events"),
    word("CHLEV", mq::MQIA_CHANNEL_EVENT, CHLEV, mq::MQEVR_DISABLED, ON, "Channel events: what channel authentication records block"),
    word("CMDEV", mq::MQIA_COMMAND_EVENT, CMDEV, mq::MQEVR_DISABLED, ON, "Command events"),
    word("CONFIGEV", mq::MQIA_CONFIGURATION_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Configuration events"),
    word("LOGGEREV", mq::MQIA_LOGGER_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Recovery log events").only(DISABLED),
    word("SSLEV", mq::MQIA_SSL_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "TLS events"),
    word("ACTIVREC", mq::MQIA_ACTIVITY_RECORDING, RECORDING, 0, ON, "Whether and where activity reports go").only(&[0]),
    word("ROUTEREC", mq::MQIA_TRACE_ROUTE_RECORDING, RECORDING, 0, ON, "Whether and where trace-route data goes").only(&[0]),
    word("SCHINIT", mq::MQIA_CHINIT_CONTROL, CONTROL, mq::MQSVC_CONTROL_Q_MGR, ON, "Whether the channel initiator starts with the queue manager").only(&[mq::MQSVC_CONTROL_Q_MGR]),
    word("SCMDSERV", mq::MQIA_CMD_SERVER_CONTROL, CONTROL, mq::MQSVC_CONTROL_Q_MGR, ON, "Whether the command server starts with the queue manager").only(&[mq::MQSVC_CONTROL_Q_MGR]),
    text("SSLKEYR", mq::MQCA_SSL_KEY_REPOSITORY, mq::MQ_SSL_KEY_REPOSITORY_LENGTH, "", ON, "Where keys and certificates are"),
    text("CERTLABL", mq::MQCA_CERT_LABEL, mq::MQ_CERT_LABEL_LENGTH, "", ON, "The queue manager's certificate"),
    word("SSLFIPS", mq::MQIA_SSL_FIPS_REQUIRED, NO_YES, mq::MQSSL_FIPS_NO, ON, "Whether only FIPS-certified algorithms may be used"),
    word_list("SUITEB", mq::MQIA_SUITE_B_STRENGTH, SUITEB, &[1], ON, "Suite B strengths that TLS may use").not_inquired(),
    word("IMGSCHED", mq::MQIA_MEDIA_IMAGE_SCHEDULING, IMGSCHED, 0, ON, "Whether media images are written automatically (linear logging)").kept(),
    int_or_word("IMGINTVL", mq::MQIA_MEDIA_IMAGE_INTERVAL, (1, MOST), OFF, 60, ON, "Minutes between media images (linear logging)").kept(),
    int_or_word("IMGLOGLN", mq::MQIA_MEDIA_IMAGE_LOG_LENGTH, (1, MOST), OFF, 0, ON, "Megabytes of log between media images (linear logging)").kept(),
    word("IMGRCOVO", mq::MQIA_MEDIA_IMAGE_RECOVER_OBJ, NO_YES, mq::MQIMGRCOV_YES, ON, "Whether media images can recreate objects other than queues (linear logging)").kept(),
    word("IMGRCOVQ", mq::MQIA_MEDIA_IMAGE_RECOVER_Q, NO_YES, mq::MQIMGRCOV_YES, ON, "Whether media images can recreate queues (linear logging)").kept(),
    word("PSMODE", mq::MQIA_PUBSUB_MODE, PSMODE, mq::MQPSM_ENABLED, ON, "Whether applications may publish and subscribe"),
    text("CUSTOM", mq::MQCA_CUSTOM, mq::MQ_CUSTOM_LENGTH, "", ON, "Settings that have no attribute of their own yet").only(&[]),
    date("CRDATE", mq::MQCA_CREATION_DATE, ON, "Date of creation, yyyy-mm-dd").derived(),
    time("CRTIME", mq::MQCA_CREATION_TIME, ON, "Time of creation, hh.mm.ss").derived(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived(),
];
