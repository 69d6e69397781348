//! Attributes of listeners (manual: "DEFINE LISTENER"). MQINQ does not know listeners, so no
//! row is for it.

use super::rows::{date, int, name, text, time, word};
use super::words::{CONTROL, TRANSPORTS};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::Listener;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[Listener];
#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("LISTENER", mq::MQCACH_LISTENER_NAME, mq::MQ_LISTENER_NAME_LENGTH, "", ON, "The listener's name").derived().not_inquired(),
    word("TRPTYPE", mq::MQIACH_XMIT_PROTOCOL_TYPE, TRANSPORTS, mq::MQXPT_TCP, ON, "Transport").only(&[mq::MQXPT_TCP]).create_only().not_inquired(),
    text("DESCR", mq::MQCACH_LISTENER_DESC, mq::MQ_LISTENER_DESC_LENGTH, "", ON, "What the listener is for, in the operator's words").describes().not_inquired(),
    int("PORT", mq::MQIACH_PORT, (0, 65_535), 1414, ON, "TCP port; 0 is any free one").not_inquired(),
    text("IPADDR", mq::MQCACH_IP_ADDRESS, mq::MQ_IP_ADDRESS_LENGTH, "", ON, "Address to listen on; blank is every address").not_inquired(),
    int("BACKLOG", mq::MQIACH_BACKLOG, (0, 999_999_999), 0, ON, "Connections that may wait to be accepted; 0 is the system's own limit").not_inquired(),
    word("CONTROL", mq::MQIACH_LISTENER_CONTROL, CONTROL, mq::MQSVC_CONTROL_MANUAL, ON, "Whether it starts and stops with the queue manager").not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
