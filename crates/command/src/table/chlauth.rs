//! Attributes of channel authentication records (manual: "SET CHLAUTH", "DISPLAY CHLAUTH"). Six types, each with attributes of
//! its own.

use super::rows::{date, free_names, text, time, word};
use super::words::{NO_YES, Words};
use crate::attribute::Attribute;
use crate::chlauth::{SOURCE_CHANNEL, SOURCE_MAP, SOURCE_NO_ACCESS};
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::{
    ChlAddressMap, ChlBlockAddr, ChlBlockUser, ChlQmgrMap, ChlSslPeerMap, ChlUserMap,
};
use posthaste_mqi::constants as mq;

const ALL: &[ObjectKind] = &ObjectKind::CHLAUTH;
const MAPS: &[ObjectKind] = &[ChlSslPeerMap, ChlAddressMap, ChlUserMap, ChlQmgrMap];
const CLIENTS: &[ObjectKind] = &[ChlSslPeerMap, ChlAddressMap, ChlUserMap];
const PEER: &[ObjectKind] = &[ChlSslPeerMap];

const USERSRC: Words = &[
    ("MAP", SOURCE_MAP),
    ("NOACCESS", SOURCE_NO_ACCESS),
    ("CHANNEL", SOURCE_CHANNEL),
];
const CHCKCLNT: Words = &[
    ("ASQMGR", mq::MQCHK_AS_Q_MGR),
    ("REQUIRED", mq::MQCHK_REQUIRED),
    ("REQDADM", mq::MQCHK_REQUIRED_ADMIN),
];

/// The type of a record: MQCAUT_ numbers.
#[rustfmt::skip] // one row, one line
const fn type_row(words: Words, code: i32, on: &'static [ObjectKind]) -> Attribute {
    word("TYPE", mq::MQIACF_CHLAUTH_TYPE, words, code, on, "What the record is about").describes().create_only().not_inquired()
}

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    text("CHLAUTH", mq::MQCACH_CHANNEL_NAME, mq::MQ_CHANNEL_NAME_LENGTH, "", ALL, "The names of the channels; * stands for any characters").read_only().not_inquired(),
    type_row(&[("BLOCKUSER", 1)], 1, &[ChlBlockUser]),
    type_row(&[("BLOCKADDR", 2)], 2, &[ChlBlockAddr]),
    type_row(&[("SSLPEERMAP", 3)], 3, PEER),
    type_row(&[("ADDRESSMAP", 4)], 4, &[ChlAddressMap]),
    type_row(&[("USERMAP", 5)], 5, &[ChlUserMap]),
    type_row(&[("QMGRMAP", 6)], 6, &[ChlQmgrMap]),
    text("DESCR", mq::MQCA_CHLAUTH_DESC, mq::MQ_CHLAUTH_DESC_LENGTH, "", ALL, "What the record is for, in the operator's words").describes().not_inquired(),
    text("CUSTOM", mq::MQCA_CUSTOM, mq::MQ_CUSTOM_LENGTH, "", ALL, "Attributes that have no keyword yet").kept().not_inquired(),
    free_names("USERLIST", mq::MQCACH_MCA_USER_ID_LIST, mq::MQ_MAX_USER_ID_LENGTH, 100, &[ChlBlockUser], "Users as whom nobody runs; *MQADMIN is every administrator").not_inquired(),
    free_names("ADDRLIST", mq::MQCACH_CONNECTION_NAME_LIST, mq::MQ_CONN_NAME_LENGTH, 256, &[ChlBlockAddr], "Addresses from which nobody comes").not_inquired(),
    text("SSLPEER", mq::MQCACH_SSL_PEER_NAME, mq::MQ_DISTINGUISHED_NAME_LENGTH, "", PEER, "What the name of the partner's certificate must match").not_inquired(),
    text("SSLCERTI", mq::MQCA_SSL_CERT_ISSUER_NAME, mq::MQ_DISTINGUISHED_NAME_LENGTH, "", PEER, "What the name of its issuer must match").not_inquired(),
    text("CLNTUSER", mq::MQCACH_CLIENT_USER_ID, mq::MQ_CLIENT_USER_ID_LENGTH, "", &[ChlUserMap], "The client's user").not_inquired(),
    text("QMNAME", mq::MQCA_REMOTE_Q_MGR_NAME, mq::MQ_Q_MGR_NAME_LENGTH, "", &[ChlQmgrMap], "The partner queue manager's name; * stands for any characters").not_inquired(),
    text("ADDRESS", mq::MQCACH_CONNECTION_NAME, mq::MQ_CONN_NAME_LENGTH, "", MAPS, "From where the partner comes: parts may be * or ranges").not_inquired(),
    word("USERSRC", mq::MQIACH_USER_SOURCE, USERSRC, SOURCE_MAP, MAPS, "As whom the partner runs: MCAUSER here, as the channel says, or not at all").not_inquired(),
    text("MCAUSER", mq::MQCACH_MCA_USER_ID, mq::MQ_MAX_MCA_USER_ID_LENGTH, "", MAPS, "The user as whom the partner runs").not_inquired(),
    word("CHCKCLNT", mq::MQIA_CHECK_CLIENT_BINDING, CHCKCLNT, mq::MQCHK_AS_Q_MGR, CLIENTS, "Whether the client must give a password").not_inquired(),
    word("WARN", mq::MQIACH_WARNING, NO_YES, 0, ALL, "Whether what would be blocked is only told").not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ALL, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ALL, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
