//! Attributes of topics (manual: "DEFINE TOPIC", "Attributes for topics").
//!
//! A topic says nothing of its own of what it has ASPARENT: the closest topic above it in the topic tree does, and at
//! the root SYSTEM.BASE.TOPIC.

use super::rows::{date, int_or_word, name, text, time, word};
use super::words::Words;
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::Topic];
const MOST: i32 = 999_999_999;

const TYPE: Words = &[("LOCAL", mq::MQTOPT_LOCAL)];
pub(crate) const PUB: Words = &[
    ("ASPARENT", mq::MQTA_PUB_AS_PARENT),
    ("DISABLED", mq::MQTA_PUB_INHIBITED),
    ("ENABLED", mq::MQTA_PUB_ALLOWED),
];
pub(crate) const DURSUB: Words = &[
    ("ASPARENT", mq::MQSUB_DURABLE_AS_PARENT),
    ("YES", mq::MQSUB_DURABLE_ALLOWED),
    ("NO", mq::MQSUB_DURABLE_INHIBITED),
];
pub(crate) const DEFPRTY: Words = &[("ASPARENT", mq::MQPRI_PRIORITY_AS_PARENT)];
pub(crate) const DEFPSIST: Words = &[
    ("ASPARENT", mq::MQPER_PERSISTENCE_AS_PARENT),
    ("NO", mq::MQPER_NOT_PERSISTENT),
    ("YES", mq::MQPER_PERSISTENT),
];
pub(crate) const DEFPRESP: Words = &[
    ("ASPARENT", mq::MQPRT_RESPONSE_AS_PARENT),
    ("SYNC", mq::MQPRT_SYNC_RESPONSE),
    ("ASYNC", mq::MQPRT_ASYNC_RESPONSE),
];
pub(crate) const DELIVERY: Words = &[
    ("ASPARENT", mq::MQDLV_AS_PARENT),
    ("ALL", mq::MQDLV_ALL),
    ("ALLDUR", mq::MQDLV_ALL_DUR),
    ("ALLAVAIL", mq::MQDLV_ALL_AVAIL),
];
pub(crate) const USEDLQ: Words = &[
    ("ASPARENT", mq::MQUSEDLQ_AS_PARENT),
    ("NO", mq::MQUSEDLQ_NO),
    ("YES", mq::MQUSEDLQ_YES),
];
pub(crate) const MCAST: Words = &[
    ("ASPARENT", mq::MQMC_AS_PARENT),
    ("ENABLED", mq::MQMC_ENABLED),
    ("DISABLED", mq::MQMC_DISABLED),
    ("ONLY", mq::MQMC_ONLY),
];
pub(crate) const SCOPE: Words = &[
    ("ASPARENT", mq::MQSCOPE_AS_PARENT),
    ("QMGR", mq::MQSCOPE_QMGR),
    ("ALL", mq::MQSCOPE_ALL),
];
const WILDCARD: Words = &[("BLOCK", mq::MQTA_BLOCK), ("PASSTHRU", mq::MQTA_PASSTHRU)];
const PROXYSUB: Words = &[
    ("FORCE", mq::MQTA_PROXY_SUB_FORCE),
    ("FIRSTUSE", mq::MQTA_PROXY_SUB_FIRSTUSE),
];
pub(crate) const CLROUTE: Words = &[
    ("DIRECT", mq::MQCLROUTE_DIRECT),
    ("TOPICHOST", mq::MQCLROUTE_TOPIC_HOST),
    ("NONE", mq::MQCLROUTE_NONE),
];
/// MQCEX_ numbers.
const CAPEXPRY: Words = &[("ASPARENT", -2), ("NOLIMIT", -1)];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("TOPIC", mq::MQCA_TOPIC_NAME, mq::MQ_TOPIC_NAME_LENGTH, "", ON, "The topic object's name").derived(),
    word("TYPE", mq::MQIA_TOPIC_TYPE, TYPE, mq::MQTOPT_LOCAL, ON, "Where the topic object is defined").describes().create_only(),
    text("DESCR", mq::MQCA_TOPIC_DESC, mq::MQ_TOPIC_DESC_LENGTH, "", ON, "What the topic is for, in the operator's words").describes(),
    text("TOPICSTR", mq::MQCA_TOPIC_STRING, mq::MQ_TOPIC_STR_LENGTH, "", ON, "The topic string that the object is about").fixed(),
    word("PUB", mq::MQIA_INHIBIT_PUB, PUB, mq::MQTA_PUB_AS_PARENT, ON, "Whether messages may be published"),
    word("SUB", mq::MQIA_INHIBIT_SUB, PUB, mq::MQTA_SUB_AS_PARENT, ON, "Whether applications may subscribe"),
    word("DURSUB", mq::MQIA_DURABLE_SUB, DURSUB, mq::MQSUB_DURABLE_AS_PARENT, ON, "Whether durable subscriptions may be made"),
    int_or_word("DEFPRTY", mq::MQIA_DEF_PRIORITY, (0, 9), DEFPRTY, mq::MQPRI_PRIORITY_AS_PARENT, ON, "Priority of messages published with MQPRI_PRIORITY_AS_TOPIC_DEF"),
    word("DEFPSIST", mq::MQIA_TOPIC_DEF_PERSISTENCE, DEFPSIST, mq::MQPER_PERSISTENCE_AS_PARENT, ON, "Persistence of messages published with MQPER_PERSISTENCE_AS_TOPIC_DEF"),
    word("DEFPRESP", mq::MQIA_DEF_PUT_RESPONSE_TYPE, DEFPRESP, mq::MQPRT_RESPONSE_AS_PARENT, ON, "Response to puts with MQPMO_RESPONSE_AS_TOPIC_DEF"),
    word("PMSGDLV", mq::MQIA_PM_DELIVERY, DELIVERY, mq::MQDLV_AS_PARENT, ON, "Which subscribers must get a persistent message for the put to succeed"),
    word("NPMSGDLV", mq::MQIA_NPM_DELIVERY, DELIVERY, mq::MQDLV_AS_PARENT, ON, "Which subscribers must get a non-persistent message for the put to succeed"),
    word("USEDLQ", mq::MQIA_USE_DEAD_LETTER_Q, USEDLQ, mq::MQUSEDLQ_AS_PARENT, ON, "Whether what a subscriber's queue cannot take goes to the dead-letter queue"),
    word("WILDCARD", mq::MQIA_WILDCARD_OPERATION, WILDCARD, mq::MQTA_PASSTHRU, ON, "Whether subscriptions with wildcards above the topic get what is published on it and below"),
    name("MDURMDL", mq::MQCA_MODEL_DURABLE_Q, mq::MQ_Q_NAME_LENGTH, "", ON, "Model of managed queues of durable subscriptions; blank is as the parent"),
    name("MNDURMDL", mq::MQCA_MODEL_NON_DURABLE_Q, mq::MQ_Q_NAME_LENGTH, "", ON, "Model of managed queues of other subscriptions; blank is as the parent"),
    word("PUBSCOPE", mq::MQIA_PUB_SCOPE, SCOPE, mq::MQSCOPE_AS_PARENT, ON, "Whether publications go to other queue managers, of which there are none").kept(),
    word("SUBSCOPE", mq::MQIA_SUB_SCOPE, SCOPE, mq::MQSCOPE_AS_PARENT, ON, "Whether subscriptions go to other queue managers, of which there are none").kept(),
    word("PROXYSUB", mq::MQIA_PROXY_SUB, PROXYSUB, mq::MQTA_PROXY_SUB_FIRSTUSE, ON, "When subscriptions are sent to other queue managers").kept(),
    word("MCAST", mq::MQIA_MULTICAST, MCAST, mq::MQMC_AS_PARENT, ON, "Whether publications are multicast").only(&[mq::MQMC_AS_PARENT, mq::MQMC_DISABLED]),
    name("COMMINFO", mq::MQCA_COMM_INFO_NAME, mq::MQ_COMM_INFO_NAME_LENGTH, "", ON, "Communication information object for multicast; blank is as the parent").kept(),
    name("CLUSTER", mq::MQCA_CLUSTER_NAME, mq::MQ_CLUSTER_NAME_LENGTH, "", ON, "Cluster the topic belongs to").only(&[]),
    word("CLROUTE", mq::MQIA_CLUSTER_PUB_ROUTE, CLROUTE, mq::MQCLROUTE_DIRECT, ON, "Route of publications in a cluster").kept(),
    int_or_word("CAPEXPRY", mq::MQIA_CAP_EXPIRY, (0, MOST), CAPEXPRY, -2, ON, "Longest expiry of publications in tenths of a second").only(&[-2, -1]),
    text("CUSTOM", mq::MQCA_CUSTOM, mq::MQ_CUSTOM_LENGTH, "", ON, "Settings that have no attribute of their own yet").only(&[]),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived(),
];
