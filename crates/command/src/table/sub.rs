//! Attributes of subscriptions (manual: "DEFINE SUB", "DISPLAY SUB"). MQINQ does not know subscriptions, so no row is for it.

use super::rows::{bytes, date, int, int_or_word, name, text, time, word};
use super::words::Words;
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::Sub];
const MOST: i32 = 999_999_999;

const DESTCLAS: Words = &[
    ("PROVIDED", mq::MQDC_PROVIDED),
    ("MANAGED", mq::MQDC_MANAGED),
];
const UNLIMITED: Words = &[("UNLIMITED", mq::MQEI_UNLIMITED)];
const PSPROP: Words = &[
    ("MSGPROP", mq::MQPSPROP_MSGPROP),
    ("COMPAT", mq::MQPSPROP_COMPAT),
    ("NONE", mq::MQPSPROP_NONE),
    ("RFH2", mq::MQPSPROP_RFH2),
];
const PUBPRTY: Words = &[
    ("ASPUB", mq::MQPRI_PRIORITY_AS_PUBLISHED),
    ("ASQDEF", mq::MQPRI_PRIORITY_AS_Q_DEF),
];
const REQONLY: Words = &[
    ("NO", mq::MQRU_PUBLISH_ALL),
    ("YES", mq::MQRU_PUBLISH_ON_REQUEST),
];
const SUBSCOPE: Words = &[("ALL", mq::MQTSCOPE_ALL), ("QMGR", mq::MQTSCOPE_QMGR)];
const VARUSER: Words = &[("ANY", mq::MQVU_ANY_USER), ("FIXED", mq::MQVU_FIXED_USER)];
const WSCHEMA: Words = &[("TOPIC", mq::MQWS_TOPIC), ("CHAR", mq::MQWS_CHAR)];
pub(crate) const SUBTYPE: Words = &[
    ("API", mq::MQSUBTYPE_API),
    ("ADMIN", mq::MQSUBTYPE_ADMIN),
    ("PROXY", mq::MQSUBTYPE_PROXY),
];
pub(crate) const DURABLE: Words = &[("YES", mq::MQSUB_DURABLE_YES), ("NO", mq::MQSUB_DURABLE_NO)];
const SELTYPE: Words = &[
    ("NONE", mq::MQSELTYPE_NONE),
    ("STANDARD", mq::MQSELTYPE_STANDARD),
    ("EXTENDED", mq::MQSELTYPE_EXTENDED),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    text("SUB", mq::MQCACF_SUB_NAME, mq::MQ_SUB_NAME_LENGTH, "", ON, "The subscription's name").derived().not_inquired(),
    bytes("SUBID", mq::MQBACF_SUB_ID, 24, ON, "The subscription's identifier").derived().not_inquired(),
    text("TOPICSTR", mq::MQCA_TOPIC_STRING, mq::MQ_TOPIC_STR_LENGTH, "", ON, "The topic string, with wildcards, behind that of TOPICOBJ").fixed().not_inquired(),
    name("TOPICOBJ", mq::MQCA_TOPIC_NAME, mq::MQ_TOPIC_NAME_LENGTH, "", ON, "Topic object whose topic string TOPICSTR follows").fixed().not_inquired(),
    word("WSCHEMA", mq::MQIACF_WILDCARD_SCHEMA, WSCHEMA, mq::MQWS_TOPIC, ON, "What wildcards stand for: levels of a topic string or characters").fixed().not_inquired(),
    text("SELECTOR", mq::MQCACF_SUB_SELECTOR, mq::MQ_SELECTOR_LENGTH, "", ON, "Which publications are wanted, by their properties; blank is all").fixed().not_inquired(),
    word("SELTYPE", mq::MQIACF_SELECTOR_TYPE, SELTYPE, mq::MQSELTYPE_NONE, ON, "The language of SELECTOR").read_only().not_inquired(),
    word("DESTCLAS", mq::MQIACF_DESTINATION_CLASS, DESTCLAS, mq::MQDC_PROVIDED, ON, "Whether the queue manager makes the queue for the messages").fixed().not_inquired(),
    name("DEST", mq::MQCACF_DESTINATION, mq::MQ_Q_NAME_LENGTH, "", ON, "The queue for the messages").not_inquired(),
    name("DESTQMGR", mq::MQCACF_DESTINATION_Q_MGR, mq::MQ_Q_MGR_NAME_LENGTH, "", ON, "The queue manager of DEST; blank is this one").not_inquired(),
    bytes("DESTCORL", mq::MQBACF_DESTINATION_CORREL_ID, 24, ON, "Correlation identifier of the messages; blank is one that the queue manager makes, zeros are as published").not_inquired(),
    int_or_word("EXPIRY", mq::MQIACF_EXPIRY, (1, MOST), UNLIMITED, mq::MQEI_UNLIMITED, ON, "Tenths of a second after which the subscription ends").not_inquired(),
    word("PSPROP", mq::MQIACF_PUBSUB_PROPERTIES, PSPROP, mq::MQPSPROP_MSGPROP, ON, "How what publish/subscribe says of a message comes with it").not_inquired(),
    bytes("PUBACCT", mq::MQBACF_ACCOUNTING_TOKEN, 32, ON, "Accounting token of the messages; blank is the subscriber's").not_inquired(),
    text("PUBAPPID", mq::MQCACF_APPL_IDENTITY_DATA, mq::MQ_APPL_IDENTITY_DATA_LENGTH, "", ON, "Application identity data of the messages").not_inquired(),
    int_or_word("PUBPRTY", mq::MQIACF_PUB_PRIORITY, (0, 9), PUBPRTY, mq::MQPRI_PRIORITY_AS_PUBLISHED, ON, "Priority of the messages").not_inquired(),
    word("REQONLY", mq::MQIACF_REQUEST_ONLY, REQONLY, mq::MQRU_PUBLISH_ALL, ON, "Whether publications come only when MQSUBRQ asks for them").not_inquired(),
    int("SUBLEVEL", mq::MQIACF_SUB_LEVEL, (0, 9), 1, ON, "The level of the subscription among those that intercept publications").fixed().not_inquired(),
    word("SUBSCOPE", mq::MQIACF_SUBSCRIPTION_SCOPE, SUBSCOPE, mq::MQTSCOPE_ALL, ON, "Whether the subscription goes to other queue managers, of which there are none").kept().fixed().not_inquired(),
    text("SUBUSER", mq::MQCACF_SUB_USER_ID, mq::MQ_USER_ID_LENGTH, "", ON, "The user for whom messages are put to DEST; whoever defines it if nobody is named").not_inquired(),
    text("USERDATA", mq::MQCACF_SUB_USER_DATA, mq::MQ_USER_DATA_LENGTH, "", ON, "Data of the subscriber, which comes with each message").not_inquired(),
    word("VARUSER", mq::MQIACF_VARIABLE_USER_ID, VARUSER, mq::MQVU_ANY_USER, ON, "Whether other users than SUBUSER may use the subscription").not_inquired(),
    word("SUBTYPE", mq::MQIACF_SUB_TYPE, SUBTYPE, mq::MQSUBTYPE_ADMIN, ON, "Whether a command or an application made it").read_only().not_inquired(),
    word("DURABLE", mq::MQIACF_DURABLE_SUBSCRIPTION, DURABLE, mq::MQSUB_DURABLE_YES, ON, "Whether it outlives its application's connection").read_only().not_inquired(),
    date("CRDATE", mq::MQCA_CREATION_DATE, ON, "Date of creation, yyyy-mm-dd").derived().not_inquired(),
    time("CRTIME", mq::MQCA_CREATION_TIME, ON, "Time of creation, hh.mm.ss").derived().not_inquired(),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived().not_inquired(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived().not_inquired(),
];
