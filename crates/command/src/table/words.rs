//! The words of MQSC that stand for numbers, shared by several rows of the table.

use posthaste_mqi::constants as mq;

/// Words and their numbers.
pub(super) type Words = &'static [(&'static str, i32)];

pub(super) const DISABLED_ENABLED: Words = &[
    ("DISABLED", mq::MQEVR_DISABLED),
    ("ENABLED", mq::MQEVR_ENABLED),
];
pub(super) const NO_YES: Words = &[("NO", 0), ("YES", 1)];
pub(super) const OFF_ON: Words = &[("OFF", mq::MQMON_OFF), ("ON", mq::MQMON_ON)];
/// Statistics or accounting of one queue.
pub(super) const QMGR_OFF_ON: Words = &[
    ("QMGR", mq::MQMON_Q_MGR),
    ("OFF", mq::MQMON_OFF),
    ("ON", mq::MQMON_ON),
];
/// Statistics or accounting of all queues: NONE forbids what QMGR_OFF_ON would allow.
pub(super) const NONE_OFF_ON: Words = &[
    ("NONE", mq::MQMON_NONE),
    ("OFF", mq::MQMON_OFF),
    ("ON", mq::MQMON_ON),
];
/// Monitoring of one queue or channel.
pub(super) const QMGR_OFF_LEVELS: Words = &[
    ("QMGR", mq::MQMON_Q_MGR),
    ("OFF", mq::MQMON_OFF),
    ("LOW", mq::MQMON_LOW),
    ("MEDIUM", mq::MQMON_MEDIUM),
    ("HIGH", mq::MQMON_HIGH),
];
/// Monitoring of all queues or channels.
pub(super) const NONE_OFF_LEVELS: Words = &[
    ("NONE", mq::MQMON_NONE),
    ("OFF", mq::MQMON_OFF),
    ("LOW", mq::MQMON_LOW),
    ("MEDIUM", mq::MQMON_MEDIUM),
    ("HIGH", mq::MQMON_HIGH),
];
/// TRPTYPE: TCP is the only transport there is here.
pub(super) const TRANSPORTS: Words = &[("TCP", mq::MQXPT_TCP)];
