//! Attributes of client-connection channels (manual: "DEFINE CHANNEL"): what a client is to use, as the queue manager
//! keeps it for an administrator. Nothing in the queue manager acts on them.

use super::channel::{COMPHDR, COMPMSG, KAINT};
use super::rows::{date, int, int_or_word, name, text, time, word, word_list};
use super::words::{TRANSPORTS, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::ClntConn];
const MOST: i32 = 999_999_999;

const CHLTYPE: Words = &[("CLNTCONN", mq::MQCHT_CLNTCONN)];
const AFFINITY: Words = &[
    ("PREFERRED", mq::MQCAFTY_PREFERRED),
    ("NONE", mq::MQCAFTY_NONE),
];
const DEFRECON: Words = &[
    ("NO", mq::MQRCN_NO),
    ("YES", mq::MQRCN_YES),
    ("QMGR", mq::MQRCN_Q_MGR),
    ("DISABLED", mq::MQRCN_DISABLED),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("CHANNEL", mq::MQCACH_CHANNEL_NAME, mq::MQ_CHANNEL_NAME_LENGTH, "", ON, "The channel's name").derived().not_inquired(),
    word("CHLTYPE", mq::MQIACH_CHANNEL_TYPE, CHLTYPE, mq::MQCHT_CLNTCONN, ON, "The kind of channel").describes().create_only().not_inquired(),
    word("TRPTYPE", mq::MQIACH_XMIT_PROTOCOL_TYPE, TRANSPORTS, mq::MQXPT_TCP, ON, "Transport").only(&[mq::MQXPT_TCP]).not_inquired(),
    text("DESCR", mq::MQCACH_DESC, mq::MQ_CHANNEL_DESC_LENGTH, "", ON, "What the channel is for, in the operator's words").describes().not_inquired(),
    text("CONNAME", mq::MQCACH_CONNECTION_NAME, mq::MQ_CONN_NAME_LENGTH, "", ON, "Where the queue manager is: host(port), several separated by commas").kept().not_inquired(),
    name("QMNAME", mq::MQCA_Q_MGR_NAME, mq::MQ_Q_MGR_NAME_LENGTH, "", ON, "The queue manager, or the group of them, that an application asks for").kept().not_inquired(),
    word("AFFINITY", mq::MQIACH_CONNECTION_AFFINITY, AFFINITY, mq::MQCAFTY_PREFERRED, ON, "Whether all connections of a process use the same channel").kept().not_inquired(),
    int("CLNTWGHT", mq::MQIACH_CLIENT_CHANNEL_WEIGHT, (0, 99), 0, ON, "How often the channel is chosen among several; 0 is by name").kept().not_inquired(),
    word("DEFRECON", mq::MQIACH_DEF_RECONNECT, DEFRECON, mq::MQRCN_NO, ON, "Whether a broken connection is made again").kept().not_inquired(),
    text("LOCLADDR", mq::MQCACH_LOCAL_ADDRESS, mq::MQ_LOCAL_ADDRESS_LENGTH, "", ON, "The client's own address").kept().not_inquired(),
    int("MAXMSGL", mq::MQIACH_MAX_MSG_LENGTH, (0, 104_857_600), 4_194_304, ON, "Longest message in bytes").kept().not_inquired(),
    int("SHARECNV", mq::MQIACH_SHARING_CONVERSATIONS, (0, MOST), 10, ON, "Most conversations that share one connection").kept().not_inquired(),
    int("HBINT", mq::MQIACH_HB_INTERVAL, (0, 999_999), 300, ON, "Seconds between heartbeats on an idle connection; 0 is none").kept().not_inquired(),
    int_or_word("KAINT", mq::MQIACH_KEEP_ALIVE_INTERVAL, (0, 99_999), KAINT, mq::MQKAI_AUTO, ON, "Seconds of TCP keepalive").kept().not_inquired(),
    name("MODENAME", mq::MQCACH_MODE_NAME, mq::MQ_MODE_NAME_LENGTH, "", ON, "Mode of LU 6.2").kept().not_inquired(),
    name("TPNAME", mq::MQCACH_TP_NAME, mq::MQ_TP_NAME_LENGTH, "", ON, "Transaction program of LU 6.2").kept().not_inquired(),
    text("USERID", mq::MQCACH_USER_ID, mq::MQ_USER_ID_LENGTH, "", ON, "User for LU 6.2").kept().not_inquired(),
    text("PASSWORD", mq::MQCACH_PASSWORD, mq::MQ_PASSWORD_LENGTH, "", ON, "Password for LU 6.2").only(&[]).not_inquired().secret(),
    text("SSLCIPH", mq::MQCACH_SSL_CIPHER_SPEC, mq::MQ_SSL_CIPHER_SPEC_LENGTH, "", ON, "CipherSpec; blank is no TLS").kept().not_inquired(),
    text("SSLPEER", mq::MQCACH_SSL_PEER_NAME, mq::MQ_SSL_PEER_NAME_LENGTH, "", ON, "Distinguished names that the queue manager's certificate may have").kept().not_inquired(),
    text("CERTLABL", mq::MQCA_CERT_LABEL, mq::MQ_CERT_LABEL_LENGTH, "", ON, "The client's certificate").kept().not_inquired(),
    word_list("COMPHDR", mq::MQIACH_HDR_COMPRESSION, COMPHDR, &[mq::MQCOMPRESS_NONE], ON, "Header compression, best first").kept().not_inquired(),
    word_list("COMPMSG", mq::MQIACH_MSG_COMPRESSION, COMPMSG, &[mq::MQCOMPRESS_NONE], ON, "Message compression, best first").kept().not_inquired(),
    text("SCYEXIT", mq::MQCACH_SEC_EXIT_NAME, mq::MQ_EXIT_NAME_LENGTH, "", ON, "Security exit of the client").kept().not_inquired(),
    text("SCYDATA", mq::MQCACH_SEC_EXIT_USER_DATA, mq::MQ_EXIT_DATA_LENGTH, "", ON, "Data for the security exit").kept().not_inquired(),
    text("SENDEXIT", mq::MQCACH_SEND_EXIT_NAME, mq::MQ_TOTAL_EXIT_NAME_LENGTH, "", ON, "Send exits of the client").kept().not_inquired(),
    text("SENDDATA", mq::MQCACH_SEND_EXIT_USER_DATA, mq::MQ_TOTAL_EXIT_DATA_LENGTH, "", ON, "Data for the send exits").kept().not_inquired(),
    text("RCVEXIT", mq::MQCACH_RCV_EXIT_NAME, mq::MQ_TOTAL_EXIT_NAME_LENGTH, "", ON, "Receive exits of the client").kept().not_inquired(),
    text("RCVDATA", mq::MQCACH_RCV_EXIT_USER_DATA, mq::MQ_TOTAL_EXIT_DATA_LENGTH, "", ON, "Data for the receive exits").kept().not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
