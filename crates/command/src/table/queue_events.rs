//! Attributes of queues that make something else happen: triggering and queue events
//! (manual: "Starting MQ applications using triggers", "Performance events").

use super::queue::STORED;
use super::rows::{int, name, text, word};
use super::words::{DISABLED_ENABLED, Words};
use crate::attribute::Attribute;
use posthaste_mqi::constants as mq;

const MOST: i32 = 999_999_999;
const TRIGGER: Words = &[("TRIGGER", mq::MQTC_ON), ("NOTRIGGER", mq::MQTC_OFF)];
const TRIGTYPE: Words = &[
    ("FIRST", mq::MQTT_FIRST),
    ("EVERY", mq::MQTT_EVERY),
    ("DEPTH", mq::MQTT_DEPTH),
    ("NONE", mq::MQTT_NONE),
];
const QSVCIEV: Words = &[
    ("NONE", mq::MQQSIE_NONE),
    ("HIGH", mq::MQQSIE_HIGH),
    ("OK", mq::MQQSIE_OK),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    word("TRIGGER", mq::MQIA_TRIGGER_CONTROL, TRIGGER, mq::MQTC_OFF, STORED, "Whether trigger messages are made").by_mqset(),
    word("TRIGTYPE", mq::MQIA_TRIGGER_TYPE, TRIGTYPE, mq::MQTT_FIRST, STORED, "When a trigger message is made: first message, every message, or depth reached").by_mqset(),
    int("TRIGDPTH", mq::MQIA_TRIGGER_DEPTH, (1, MOST), 1, STORED, "Depth for TRIGTYPE(DEPTH)").by_mqset(),
    int("TRIGMPRI", mq::MQIA_TRIGGER_MSG_PRIORITY, (0, 9), 0, STORED, "Lowest priority of a message that counts for triggering").by_mqset(),
    text("TRIGDATA", mq::MQCA_TRIGGER_DATA, mq::MQ_TRIGGER_DATA_LENGTH, "", STORED, "Data for the trigger message").by_mqset(),
    name("PROCESS", mq::MQCA_PROCESS_NAME, mq::MQ_PROCESS_NAME_LENGTH, "", STORED, "Process definition that the trigger message names"),
    name("INITQ", mq::MQCA_INITIATION_Q_NAME, mq::MQ_Q_NAME_LENGTH, "", STORED, "Queue that trigger messages are put to"),
    int("QDEPTHHI", mq::MQIA_Q_DEPTH_HIGH_LIMIT, (0, 100), 80, STORED, "Percentage of MAXDEPTH that counts as high").kept(),
    int("QDEPTHLO", mq::MQIA_Q_DEPTH_LOW_LIMIT, (0, 100), 20, STORED, "Percentage of MAXDEPTH that counts as low").kept(),
    word("QDPMAXEV", mq::MQIA_Q_DEPTH_MAX_EVENT, DISABLED_ENABLED, mq::MQEVR_ENABLED, STORED, "Event when the queue is full").kept(),
    word("QDPHIEV", mq::MQIA_Q_DEPTH_HIGH_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, STORED, "Event when the depth becomes high").kept(),
    word("QDPLOEV", mq::MQIA_Q_DEPTH_LOW_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, STORED, "Event when the depth becomes low").kept(),
    word("QSVCIEV", mq::MQIA_Q_SERVICE_INTERVAL_EVENT, QSVCIEV, mq::MQQSIE_NONE, STORED, "Event about the time between gets").kept(),
    int("QSVCINT", mq::MQIA_Q_SERVICE_INTERVAL, (0, MOST), MOST, STORED, "Milliseconds for QSVCIEV").kept(),
];
