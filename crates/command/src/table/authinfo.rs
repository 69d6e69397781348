//! Attributes of authentication information objects (manual: "DEFINE AUTHINFO"). Four types, each with attributes of
//! its own, share one noun and one name space.
//!
//! The one of AUTHTYPE(IDPWOS) or (IDPWLDAP) that CONNAUTH names says whose password is checked, and how. Of the others, and
//! of groups in a directory, nothing is done in this release, so that they describe; and no password is kept.

use super::rows::{date, int, name, text, time, word};
use super::words::{NO_YES, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::{AuthCrlLdap, AuthIdpwLdap, AuthIdpwOs, AuthOcsp};
use posthaste_mqi::constants as mq;

const ALL: &[ObjectKind] = &[AuthCrlLdap, AuthOcsp, AuthIdpwOs, AuthIdpwLdap];
const OCSP: &[ObjectKind] = &[AuthOcsp];
const OS: &[ObjectKind] = &[AuthIdpwOs];
const LDAP: &[ObjectKind] = &[AuthIdpwLdap];
const SERVER: &[ObjectKind] = &[AuthCrlLdap, AuthIdpwLdap];

const CHCKLOCL: Words = &[
    ("OPTIONAL", mq::MQCHK_OPTIONAL),
    ("NONE", mq::MQCHK_NONE),
    ("REQDADM", mq::MQCHK_REQUIRED_ADMIN),
    ("REQUIRED", mq::MQCHK_REQUIRED),
];
/// Passwords are in a file of the queue manager's own: not MQ's, so its number is far from those.
pub const AUTHENMD_USERFILE: i32 = 1_000;
const AUTHENMD: Words = &[
    ("OS", mq::MQAUTHENTICATE_OS),
    ("PAM", mq::MQAUTHENTICATE_PAM),
    ("USERFILE", AUTHENMD_USERFILE),
];
const SECCOMM: Words = &[
    ("YES", mq::MQSECCOMM_YES),
    ("NO", mq::MQSECCOMM_NO),
    ("ANON", mq::MQSECCOMM_ANON),
];
const AUTHORMD: Words = &[
    ("OS", mq::MQLDAP_AUTHORMD_OS),
    ("SEARCHGRP", mq::MQLDAP_AUTHORMD_SEARCHGRP),
    ("SEARCHUSR", mq::MQLDAP_AUTHORMD_SEARCHUSR),
    ("SRCHGRPSN", mq::MQLDAP_AUTHORMD_SRCHGRPSN),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("AUTHINFO", mq::MQCA_AUTH_INFO_NAME, mq::MQ_AUTH_INFO_NAME_LENGTH, "", ALL, "The object's name").derived().not_inquired(),
    word("AUTHTYPE", mq::MQIA_AUTH_INFO_TYPE, &[("CRLLDAP", mq::MQAIT_CRL_LDAP)], mq::MQAIT_CRL_LDAP, &[AuthCrlLdap], "What the object is about").describes().create_only().not_inquired(),
    word("AUTHTYPE", mq::MQIA_AUTH_INFO_TYPE, &[("OCSP", mq::MQAIT_OCSP)], mq::MQAIT_OCSP, OCSP, "What the object is about").describes().create_only().not_inquired(),
    word("AUTHTYPE", mq::MQIA_AUTH_INFO_TYPE, &[("IDPWOS", mq::MQAIT_IDPW_OS)], mq::MQAIT_IDPW_OS, OS, "What the object is about").describes().create_only().not_inquired(),
    word("AUTHTYPE", mq::MQIA_AUTH_INFO_TYPE, &[("IDPWLDAP", mq::MQAIT_IDPW_LDAP)], mq::MQAIT_IDPW_LDAP, LDAP, "What the object is about").describes().create_only().not_inquired(),
    text("DESCR", mq::MQCA_AUTH_INFO_DESC, mq::MQ_AUTH_INFO_DESC_LENGTH, "", ALL, "What the object is for, in the operator's words").describes().not_inquired(),
    text("CONNAME", mq::MQCA_AUTH_INFO_CONN_NAME, mq::MQ_AUTH_INFO_CONN_NAME_LENGTH, "", &[AuthIdpwLdap], "Where the LDAP server is").not_inquired(),
    text("CONNAME", mq::MQCA_AUTH_INFO_CONN_NAME, mq::MQ_AUTH_INFO_CONN_NAME_LENGTH, "", &[AuthCrlLdap], "Where the LDAP server is").kept().not_inquired(),
    text("LDAPUSER", mq::MQCA_LDAP_USER_NAME, mq::MQ_DISTINGUISHED_NAME_LENGTH, "", &[AuthIdpwLdap], "Distinguished name that the queue manager has at the LDAP server").not_inquired(),
    text("LDAPUSER", mq::MQCA_LDAP_USER_NAME, mq::MQ_DISTINGUISHED_NAME_LENGTH, "", &[AuthCrlLdap], "Distinguished name that the queue manager has at the LDAP server").kept().not_inquired(),
    text("LDAPPWD", mq::MQCA_LDAP_PASSWORD, mq::MQ_LDAP_PASSWORD_LENGTH, "", SERVER, "The queue manager's password at the LDAP server").only(&[]).not_inquired().secret(),
    text("OCSPURL", mq::MQCA_AUTH_INFO_OCSP_URL, mq::MQ_AUTH_INFO_OCSP_URL_LENGTH, "", OCSP, "Where it is asked whether certificates are revoked").kept().not_inquired(),
    word("ADOPTCTX", mq::MQIA_ADOPT_CONTEXT, NO_YES, mq::MQADPCTX_YES, OS, "Whether an application runs as the user whose password it gave").not_inquired(),
    word("ADOPTCTX", mq::MQIA_ADOPT_CONTEXT, NO_YES, mq::MQADPCTX_YES, LDAP, "Whether an application runs as the user whose password it gave").not_inquired(),
    word("CHCKCLNT", mq::MQIA_CHECK_CLIENT_BINDING, CHCKLOCL, mq::MQCHK_REQUIRED_ADMIN, OS, "Which clients must give a password").not_inquired(),
    word("CHCKCLNT", mq::MQIA_CHECK_CLIENT_BINDING, CHCKLOCL, mq::MQCHK_REQUIRED, LDAP, "Which clients must give a password").not_inquired(),
    word("CHCKLOCL", mq::MQIA_CHECK_LOCAL_BINDING, CHCKLOCL, mq::MQCHK_OPTIONAL, OS, "Which local applications must give a password").not_inquired(),
    word("CHCKLOCL", mq::MQIA_CHECK_LOCAL_BINDING, CHCKLOCL, mq::MQCHK_OPTIONAL, LDAP, "Which local applications must give a password").not_inquired(),
    int("FAILDLAY", mq::MQIA_AUTHENTICATION_FAIL_DELAY, (0, 60), 1, OS, "Seconds until a wrong password is refused").not_inquired(),
    int("FAILDLAY", mq::MQIA_AUTHENTICATION_FAIL_DELAY, (0, 60), 1, LDAP, "Seconds until a wrong password is refused").not_inquired(),
    word("AUTHENMD", mq::MQIA_AUTHENTICATION_METHOD, AUTHENMD, 0, OS, "Who knows the passwords: the system, its PAM service for MQ, or a file of the queue manager's own (USERFILE, not MQ's)").not_inquired(),
    word("SECCOMM", mq::MQIA_LDAP_SECURE_COMM, SECCOMM, mq::MQSECCOMM_NO, LDAP, "Whether the LDAP server is spoken to over TLS").not_inquired(),
    text("BASEDNU", mq::MQCA_LDAP_BASE_DN_USERS, mq::MQ_LDAP_BASE_DN_LENGTH, "", LDAP, "Where users are in the directory").not_inquired(),
    text("CLASSUSR", mq::MQCA_LDAP_USER_OBJECT_CLASS, mq::MQ_LDAP_CLASS_LENGTH, "", LDAP, "Object class of users; blank is inetOrgPerson").not_inquired(),
    text("SHORTUSR", mq::MQCA_LDAP_SHORT_USER_FIELD, mq::MQ_LDAP_FIELD_LENGTH, "", LDAP, "Field of a user's record that is the short name").not_inquired(),
    text("USRFIELD", mq::MQCA_LDAP_USER_ATTR_FIELD, mq::MQ_LDAP_FIELD_LENGTH, "", LDAP, "Field of a user's record that a name without a field is").not_inquired(),
    word("AUTHORMD", mq::MQIA_LDAP_AUTHORMD, AUTHORMD, mq::MQLDAP_AUTHORMD_OS, LDAP, "Where the groups of a user come from").only(&[mq::MQLDAP_AUTHORMD_OS]).not_inquired(),
    text("BASEDNG", mq::MQCA_LDAP_BASE_DN_GROUPS, mq::MQ_LDAP_BASE_DN_LENGTH, "", LDAP, "Where groups are in the directory").kept().not_inquired(),
    text("CLASSGRP", mq::MQCA_LDAP_GROUP_OBJECT_CLASS, mq::MQ_LDAP_CLASS_LENGTH, "", LDAP, "Object class of groups; blank is groupOfNames").kept().not_inquired(),
    text("GRPFIELD", mq::MQCA_LDAP_GROUP_ATTR_FIELD, mq::MQ_LDAP_FIELD_LENGTH, "", LDAP, "Field of a group's record that is its simple name").kept().not_inquired(),
    text("FINDGRP", mq::MQCA_LDAP_FIND_GROUP_FIELD, mq::MQ_LDAP_FIELD_LENGTH, "", LDAP, "Field that membership of groups is found by").kept().not_inquired(),
    word("NESTGRP", mq::MQIA_LDAP_NESTGRP, NO_YES, mq::MQLDAP_NESTGRP_NO, LDAP, "Whether groups may be in groups").kept().not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ALL, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ALL, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
