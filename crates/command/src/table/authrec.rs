//! Authority records (manual: "SET AUTHREC", "DISPLAY AUTHREC", "DISPLAY ENTAUTH", "DISPLAY AUTHSERV").
//!
//! Invariant: the words are those of `posthaste-authority` (tested).

use super::rows::{name, text, word, word_list};
use super::words::Words;
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::AuthRec];

const OBJTYPE: Words = &[
    ("AUTHINFO", mq::MQOT_AUTH_INFO),
    ("CHANNEL", mq::MQOT_CHANNEL),
    ("CLNTCONN", mq::MQOT_CLNTCONN_CHANNEL),
    ("COMMINFO", mq::MQOT_COMM_INFO),
    ("LISTENER", mq::MQOT_LISTENER),
    ("NAMELIST", mq::MQOT_NAMELIST),
    ("PROCESS", mq::MQOT_PROCESS),
    ("QUEUE", mq::MQOT_Q),
    ("QMGR", mq::MQOT_Q_MGR),
    ("RQMNAME", mq::MQOT_REMOTE_Q_MGR_NAME),
    ("SERVICE", mq::MQOT_SERVICE),
    ("TOPIC", mq::MQOT_TOPIC),
];
const ENTTYPE: Words = &[
    ("PRINCIPAL", mq::MQZAET_PRINCIPAL),
    ("GROUP", mq::MQZAET_GROUP),
];
const AUTHLIST: Words = &[
    ("NONE", mq::MQAUTH_NONE),
    ("ALTUSR", mq::MQAUTH_ALT_USER_AUTHORITY),
    ("BROWSE", mq::MQAUTH_BROWSE),
    ("CHG", mq::MQAUTH_CHANGE),
    ("CLR", mq::MQAUTH_CLEAR),
    ("CONNECT", mq::MQAUTH_CONNECT),
    ("CRT", mq::MQAUTH_CREATE),
    ("DLT", mq::MQAUTH_DELETE),
    ("DSP", mq::MQAUTH_DISPLAY),
    ("GET", mq::MQAUTH_INPUT),
    ("INQ", mq::MQAUTH_INQUIRE),
    ("PUT", mq::MQAUTH_OUTPUT),
    ("PASSALL", mq::MQAUTH_PASS_ALL_CONTEXT),
    ("PASSID", mq::MQAUTH_PASS_IDENTITY_CONTEXT),
    ("SET", mq::MQAUTH_SET),
    ("SETALL", mq::MQAUTH_SET_ALL_CONTEXT),
    ("SETID", mq::MQAUTH_SET_IDENTITY_CONTEXT),
    ("CTRL", mq::MQAUTH_CONTROL),
    ("CTRLX", mq::MQAUTH_CONTROL_EXTENDED),
    ("PUB", mq::MQAUTH_PUBLISH),
    ("SUB", mq::MQAUTH_SUBSCRIBE),
    ("RESUME", mq::MQAUTH_RESUME),
    ("SYSTEM", mq::MQAUTH_SYSTEM),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    text("PROFILE", mq::MQCACF_AUTH_PROFILE_NAME, mq::MQ_AUTH_PROFILE_NAME_LENGTH, "", ON, "The names of the objects").not_inquired(),
    text("ENTITY", mq::MQCACF_ENTITY_NAME, mq::MQ_ENTITY_NAME_LENGTH, "", ON, "The user or group").not_inquired(),
    word("ENTTYPE", mq::MQIACF_ENTITY_TYPE, ENTTYPE, mq::MQZAET_GROUP, ON, "Whether it is a user or a group").not_inquired(),
    word("OBJTYPE", mq::MQIACF_OBJECT_TYPE, OBJTYPE, mq::MQOT_Q, ON, "The type of the objects").not_inquired(),
    word_list("AUTHLIST", mq::MQIACF_AUTHORIZATION_LIST, AUTHLIST, &[mq::MQAUTH_NONE], ON, "What the entity may do with them").not_inquired(),
];

/// What DISPLAY ENTAUTH and DISPLAY AUTHSERV show beside them.
#[rustfmt::skip] // one row, one line
pub(crate) const SHOWN: &[Attribute] = &[
    text("OBJNAME", mq::MQCACF_OBJECT_NAME, mq::MQ_AUTH_PROFILE_NAME_LENGTH, "", &[], "The object").derived(),
    name("SERVCOMP", mq::MQCACF_SERVICE_COMPONENT, mq::MQ_SERVICE_COMPONENT_LENGTH, "", &[], "The component that decides").derived(),
    word("UIDSUPP", mq::MQIACF_USER_ID_SUPPORT, &[("NO", mq::MQUIDSUPP_NO), ("YES", mq::MQUIDSUPP_YES)], mq::MQUIDSUPP_NO, &[], "Whether users have records of their own").describes(),
    word("IFVER", mq::MQIACF_INTERFACE_VERSION, &[], 2, &[], "The version of the interface").describes(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_authority::{Authority, ObjectType};

    #[test]
    fn words_are_those_of_the_authority_manager() {
        let types = ObjectType::ALL.map(|one| (one.word().to_uppercase(), one.code()));
        let here = OBJTYPE
            .iter()
            .map(|(word, code)| ((*word).to_owned(), *code));
        assert_eq!(here.collect::<Vec<_>>(), types);
        let authorities = Authority::ALL.map(|one| (one.word().to_uppercase(), one.code()));
        let here = AUTHLIST.iter().skip(1);
        let here = here.map(|(word, code)| ((*word).to_owned(), *code));
        assert_eq!(here.collect::<Vec<_>>(), authorities);
    }
}
