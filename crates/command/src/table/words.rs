//! The words of MQSC that stand for numbers, shared by several rows of the table.

use posthaste_mqi::constants as mq;

pub(crate) use crate::value::Words;

pub(crate) const DISABLED_ENABLED: Words = &[
    ("DISABLED", mq::MQEVR_DISABLED),
    ("ENABLED", mq::MQEVR_ENABLED),
];
pub(crate) const NO_YES: Words = &[("NO", 0), ("YES", 1)];
pub(crate) const OFF_ON: Words = &[("OFF", mq::MQMON_OFF), ("ON", mq::MQMON_ON)];
/// Statistics or accounting of one queue.
pub(crate) const QMGR_OFF_ON: Words = &[
    ("QMGR", mq::MQMON_Q_MGR),
    ("OFF", mq::MQMON_OFF),
    ("ON", mq::MQMON_ON),
];
/// Statistics or accounting of all queues: NONE forbids what QMGR_OFF_ON would allow.
pub(crate) const NONE_OFF_ON: Words = &[
    ("NONE", mq::MQMON_NONE),
    ("OFF", mq::MQMON_OFF),
    ("ON", mq::MQMON_ON),
];
/// Monitoring of one queue or channel.
pub(crate) const QMGR_OFF_LEVELS: Words = &[
    ("QMGR", mq::MQMON_Q_MGR),
    ("OFF", mq::MQMON_OFF),
    ("LOW", mq::MQMON_LOW),
    ("MEDIUM", mq::MQMON_MEDIUM),
    ("HIGH", mq::MQMON_HIGH),
];
/// Monitoring of all queues or channels.
pub(crate) const NONE_OFF_LEVELS: Words = &[
    ("NONE", mq::MQMON_NONE),
    ("OFF", mq::MQMON_OFF),
    ("LOW", mq::MQMON_LOW),
    ("MEDIUM", mq::MQMON_MEDIUM),
    ("HIGH", mq::MQMON_HIGH),
];
/// TRPTYPE: TCP is the only transport there is here.
pub(crate) const TRANSPORTS: Words = &[("TCP", mq::MQXPT_TCP)];
/// CONTROL of a listener or service.
pub(crate) const CONTROL: Words = &[
    ("MANUAL", mq::MQSVC_CONTROL_MANUAL),
    ("QMGR", mq::MQSVC_CONTROL_Q_MGR),
    ("STARTONLY", mq::MQSVC_CONTROL_Q_MGR_START),
];
pub(crate) const SERVTYPE: Words = &[
    ("COMMAND", mq::MQSVC_TYPE_COMMAND),
    ("SERVER", mq::MQSVC_TYPE_SERVER),
];
/// What `TYPE` shows, and MQQT_ numbers.
pub(crate) const QUEUE_TYPES: Words = &[
    ("QLOCAL", mq::MQQT_LOCAL),
    ("QMODEL", mq::MQQT_MODEL),
    ("QALIAS", mq::MQQT_ALIAS),
    ("QREMOTE", mq::MQQT_REMOTE),
];
