//! Attributes of communication information objects (manual: "DEFINE COMMINFO"): how topics would be multicast, which
//! is not in this release.

use super::rows::{date, int, int_or_word, name, text, time, word};
use super::words::{DISABLED_ENABLED, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::CommInfo];
const MOST: i32 = 999_999_999;

/// MQCIT_ numbers.
const TYPE: Words = &[("MULTICAST", 1)];
const ASPUB: Words = &[("ASPUB", mq::MQCCSI_AS_PUBLISHED)];
const COMMEV: Words = &[
    ("DISABLED", mq::MQEVR_DISABLED),
    ("ENABLED", mq::MQEVR_ENABLED),
    ("EXCEPTION", mq::MQEVR_EXCEPTION),
];
/// MQENC_ numbers: what each platform has for integers, decimals and floating point.
const ENCODING: Words = &[
    ("ASPUB", mq::MQENC_AS_PUBLISHED),
    ("NORMAL", 0x111),
    ("REVERSED", 0x222),
    ("S390", 0x311),
    ("TNS", 0x411),
];
/// MQMCP_ numbers.
const MCPROP: Words = &[
    ("ALL", -1),
    ("NONE", 0),
    ("USER", 1),
    ("REPLY", 2),
    ("COMPAT", -2),
];
/// MQNSH_ numbers.
const NSUBHIST: Words = &[("NONE", 0), ("ALL", -1)];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("COMMINFO", mq::MQCA_COMM_INFO_NAME, mq::MQ_COMM_INFO_NAME_LENGTH, "", ON, "The object's name").derived().not_inquired(),
    word("TYPE", mq::MQIA_COMM_INFO_TYPE, TYPE, 1, ON, "The kind of communication").describes().create_only().not_inquired(),
    text("DESCR", mq::MQCA_COMM_INFO_DESC, mq::MQ_COMM_INFO_DESC_LENGTH, "", ON, "What the object is for, in the operator's words").describes().not_inquired(),
    word("BRIDGE", mq::MQIA_MCAST_BRIDGE, DISABLED_ENABLED, 1, ON, "Whether publications of others are multicast too").kept().not_inquired(),
    int_or_word("CCSID", mq::MQIA_CODED_CHAR_SET_ID, (1, 65_535), ASPUB, mq::MQCCSI_AS_PUBLISHED, ON, "Coded character set that messages are sent in").kept().not_inquired(),
    word("COMMEV", mq::MQIA_COMM_EVENT, COMMEV, mq::MQEVR_DISABLED, ON, "Events of multicast").only(&[mq::MQEVR_DISABLED]).not_inquired(),
    int_or_word("ENCODING", mq::MQIACF_ENCODING, (0, MOST), ENCODING, mq::MQENC_AS_PUBLISHED, ON, "Encoding that messages are sent in").kept().not_inquired(),
    text("GRPADDR", mq::MQCACH_GROUP_ADDRESS, mq::MQ_GROUP_ADDRESS_LENGTH, "239.0.0.0", ON, "Address or name of the group").kept().not_inquired(),
    int("MCHBINT", mq::MQIACH_MC_HB_INTERVAL, (0, 999_999), 2000, ON, "Milliseconds between heartbeats").kept().not_inquired(),
    word("MCPROP", mq::MQIACH_MULTICAST_PROPERTIES, MCPROP, -1, ON, "Which properties of a message are sent").kept().not_inquired(),
    int("MONINT", mq::MQIA_MONITOR_INTERVAL, (0, 999_999), 60, ON, "Seconds between monitoring data").kept().not_inquired(),
    int("MSGHIST", mq::MQIACH_MSG_HISTORY, (0, MOST), 100, ON, "Kilobytes of messages that are kept to be sent again").kept().not_inquired(),
    word("NSUBHIST", mq::MQIACH_NEW_SUBSCRIBER_HISTORY, NSUBHIST, 0, ON, "Whether a new subscriber is sent what is kept").kept().not_inquired(),
    int("PORT", mq::MQIACH_PORT, (0, 65_535), 1414, ON, "Port of the group").kept().not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
