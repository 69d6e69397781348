//! Attributes of server-connection channels (manual: "DEFINE CHANNEL"). MQINQ does not know
//! channels, so no row is for it.

use super::rows::{date, int, int_or_word, name, text, time, word, word_list};
use super::words::{QMGR_OFF_LEVELS, TRANSPORTS, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::SvrConn;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[SvrConn];
const MOST: i32 = 999_999_999;

const CHLTYPE: Words = &[("SVRCONN", mq::MQCHT_SVRCONN)];
pub(super) const KAINT: Words = &[("AUTO", mq::MQKAI_AUTO)];
const SSLCAUTH: Words = &[
    ("REQUIRED", mq::MQSCA_REQUIRED),
    ("OPTIONAL", mq::MQSCA_OPTIONAL),
];
pub(super) const COMPHDR: Words = &[
    ("NONE", mq::MQCOMPRESS_NONE),
    ("SYSTEM", mq::MQCOMPRESS_SYSTEM),
];
pub(super) const COMPMSG: Words = &[
    ("NONE", mq::MQCOMPRESS_NONE),
    ("RLE", mq::MQCOMPRESS_RLE),
    ("ZLIBFAST", mq::MQCOMPRESS_ZLIBFAST),
    ("ZLIBHIGH", mq::MQCOMPRESS_ZLIBHIGH),
    ("LZ4FAST", mq::MQCOMPRESS_LZ4FAST),
    ("LZ4HIGH", mq::MQCOMPRESS_LZ4HIGH),
    ("ANY", mq::MQCOMPRESS_ANY),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("CHANNEL", mq::MQCACH_CHANNEL_NAME, mq::MQ_CHANNEL_NAME_LENGTH, "", ON, "The channel's name").derived().not_inquired(),
    word("CHLTYPE", mq::MQIACH_CHANNEL_TYPE, CHLTYPE, mq::MQCHT_SVRCONN, ON, "The kind of channel").only(&[mq::MQCHT_SVRCONN]).create_only().not_inquired(),
    word("TRPTYPE", mq::MQIACH_XMIT_PROTOCOL_TYPE, TRANSPORTS, mq::MQXPT_TCP, ON, "Transport").only(&[mq::MQXPT_TCP]).not_inquired(),
    text("DESCR", mq::MQCACH_DESC, mq::MQ_CHANNEL_DESC_LENGTH, "", ON, "What the channel is for, in the operator's words").describes().not_inquired(),
    int("MAXMSGL", mq::MQIACH_MAX_MSG_LENGTH, (0, 104_857_600), 4_194_304, ON, "Longest message in bytes; 0 is the queue manager's MAXMSGL").not_inquired(),
    int("SHARECNV", mq::MQIACH_SHARING_CONVERSATIONS, (0, MOST), 10, ON, "Most conversations that share one connection; 0 is the old protocol without sharing").not_inquired(),
    int("HBINT", mq::MQIACH_HB_INTERVAL, (0, 999_999), 300, ON, "Seconds between heartbeats on an idle connection; 0 is none").not_inquired(),
    int_or_word("KAINT", mq::MQIACH_KEEP_ALIVE_INTERVAL, (0, 99_999), KAINT, mq::MQKAI_AUTO, ON, "Seconds of TCP keepalive; AUTO is as qm.ini says for all").only(&[mq::MQKAI_AUTO]).not_inquired(),
    int("DISCINT", mq::MQIACH_DISC_INTERVAL, (0, 999_999), 0, ON, "Seconds without a call after which the channel ends; 0 is never").not_inquired(),
    int("MAXINST", mq::MQIACH_MAX_INSTANCES, (0, MOST), MOST, ON, "Most connections at once").not_inquired(),
    int("MAXINSTC", mq::MQIACH_MAX_INSTS_PER_CLIENT, (0, MOST), MOST, ON, "Most connections at once from one address").not_inquired(),
    text("MCAUSER", mq::MQCACH_MCA_USER_ID, mq::MQ_MAX_MCA_USER_ID_LENGTH, "", ON, "User that applications run as; blank is the user they say they are, *NOACCESS lets nobody in").not_inquired(),
    text("SSLCIPH", mq::MQCACH_SSL_CIPHER_SPEC, mq::MQ_SSL_CIPHER_SPEC_LENGTH, "", ON, "CipherSpec; blank is no TLS").not_inquired(),
    word("SSLCAUTH", mq::MQIACH_SSL_CLIENT_AUTH, SSLCAUTH, mq::MQSCA_REQUIRED, ON, "Whether a TLS client must have a certificate").not_inquired(),
    text("SSLPEER", mq::MQCACH_SSL_PEER_NAME, mq::MQ_SSL_PEER_NAME_LENGTH, "", ON, "Distinguished names that a client's certificate may have").not_inquired(),
    text("CERTLABL", mq::MQCA_CERT_LABEL, mq::MQ_CERT_LABEL_LENGTH, "", ON, "The channel's own certificate; blank is the queue manager's").not_inquired(),
    word_list("COMPHDR", mq::MQIACH_HDR_COMPRESSION, COMPHDR, &[mq::MQCOMPRESS_NONE], ON, "Header compression, best first").only(&[]).not_inquired(),
    word_list("COMPMSG", mq::MQIACH_MSG_COMPRESSION, COMPMSG, &[mq::MQCOMPRESS_NONE], ON, "Message compression, best first").only(&[]).not_inquired(),
    word("MONCHL", mq::MQIA_MONITORING_CHANNEL, QMGR_OFF_LEVELS, mq::MQMON_Q_MGR, ON, "Collection of online monitoring data").only(&[mq::MQMON_Q_MGR, mq::MQMON_OFF]).not_inquired(),
    text("SCYEXIT", mq::MQCACH_SEC_EXIT_NAME, mq::MQ_EXIT_NAME_LENGTH, "", ON, "Security exit; a channel with one admits nobody in this release").not_inquired(),
    text("SCYDATA", mq::MQCACH_SEC_EXIT_USER_DATA, mq::MQ_EXIT_DATA_LENGTH, "", ON, "Data for the security exit").kept().not_inquired(),
    text("SENDEXIT", mq::MQCACH_SEND_EXIT_NAME, mq::MQ_TOTAL_EXIT_NAME_LENGTH, "", ON, "Send exits; a channel with one admits nobody in this release").not_inquired(),
    text("SENDDATA", mq::MQCACH_SEND_EXIT_USER_DATA, mq::MQ_TOTAL_EXIT_DATA_LENGTH, "", ON, "Data for the send exits").kept().not_inquired(),
    text("RCVEXIT", mq::MQCACH_RCV_EXIT_NAME, mq::MQ_TOTAL_EXIT_NAME_LENGTH, "", ON, "Receive exits; a channel with one admits nobody in this release").not_inquired(),
    text("RCVDATA", mq::MQCACH_RCV_EXIT_USER_DATA, mq::MQ_TOTAL_EXIT_DATA_LENGTH, "", ON, "Data for the receive exits").kept().not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
