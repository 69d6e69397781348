//! Attributes of the queue manager that belong to what is not in this release: clusters, publish/subscribe and its
//! hierarchies, channels that define themselves, activity trace, cryptography (manual: "ALTER QMGR", "DISPLAY QMGR").
//!
//! They are here so that scripts made for MQ are understood. What only says how an absent part would work is kept;
//! what would call for one, or keep a secret, takes its default alone.

use super::rows::{int, name, text, word};
use super::words::{DISABLED_ENABLED, NO_YES, OFF_ON, QMGR_OFF_LEVELS, Words};
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use crate::kinds::ObjectKind::Qmgr;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[Qmgr];
const MOST: i32 = 999_999_999;

/// Nothing is collected.
const NOT_AT_ALL: &[i32] = &[mq::MQMON_Q_MGR, mq::MQMON_OFF];
const DISABLED: &[i32] = &[mq::MQEVR_DISABLED];
/// MQ_CERT_VAL_POLICY_ numbers.
const CERTVPOL: Words = &[("ANY", 0), ("RFC5280", 1)];
const DEFCLXQ: Words = &[("SCTQ", mq::MQCLXQ_SCTQ), ("CHANNEL", mq::MQCLXQ_CHANNEL)];
const CLWLUSEQ: Words = &[
    ("LOCAL", mq::MQCLWL_USEQ_LOCAL),
    ("ANY", mq::MQCLWL_USEQ_ANY),
];
const IPADDRV: Words = &[("IPV4", mq::MQIPADDR_IPV4), ("IPV6", mq::MQIPADDR_IPV6)];
const REVDNS: Words = &[
    ("ENABLED", mq::MQRDNS_ENABLED),
    ("DISABLED", mq::MQRDNS_DISABLED),
];
/// MQUNDELIVERED_ numbers.
const PSNPMSG: Words = &[("DISCARD", 2), ("KEEP", 3)];
const PSNPRES: Words = &[("NORMAL", 0), ("SAFE", 1), ("DISCARD", 2), ("KEEP", 3)];
/// MQSYNCPOINT_ numbers.
const PSSYNCPT: Words = &[("YES", 0), ("IFPER", 1)];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    int("ACTCHL", mq::MQIA_ACTIVE_CHANNELS, (1, 9_999), 200, ON, "Most channels that may be active (z/OS); MaxActiveChannels of qm.ini is what counts here").only(&[200]).not_saved(),
    word("ACTVCONO", mq::MQIA_ACTIVITY_CONN_OVERRIDE, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Whether applications may override ACTVTRC").only(DISABLED),
    word("ACTVTRC", mq::MQIA_ACTIVITY_TRACE, OFF_ON, mq::MQMON_OFF, ON, "Collection of activity trace of applications").only(&[mq::MQMON_OFF]),
    word("AMQPCAP", mq::MQIA_AMQP_CAPABILITY, NO_YES, 0, ON, "Whether AMQP channels can be used").read_only(),
    word("XRCAP", mq::MQIA_XR_CAPABILITY, NO_YES, 0, ON, "Whether MQTT channels can be used").read_only(),
    word("SPLCAP", mq::MQIA_PROT_POLICY_CAPABILITY, DISABLED_ENABLED, 0, ON, "Whether security policies of queues can be used").read_only(),
    word("CHAD", mq::MQIA_CHANNEL_AUTO_DEF, DISABLED_ENABLED, mq::MQCHAD_DISABLED, ON, "Whether channels that are not defined are made when they are asked for").only(&[mq::MQCHAD_DISABLED]),
    word("CHADEV", mq::MQIA_CHANNEL_AUTO_DEF_EVENT, DISABLED_ENABLED, mq::MQEVR_DISABLED, ON, "Events of channels that are made when they are asked for").only(DISABLED),
    text("CHADEXIT", mq::MQCA_CHANNEL_AUTO_DEF_EXIT, mq::MQ_EXIT_NAME_LENGTH, "", ON, "Exit for channels that are made when they are asked for").only(&[]),
    name("REPOS", mq::MQCA_REPOSITORY_NAME, mq::MQ_CLUSTER_NAME_LENGTH, "", ON, "Cluster of which this queue manager has a full repository").only(&[]),
    name("REPOSNL", mq::MQCA_REPOSITORY_NAMELIST, mq::MQ_NAMELIST_NAME_LENGTH, "", ON, "List of clusters of which this queue manager has a full repository").only(&[]),
    word("DEFCLXQ", mq::MQIA_DEF_CLUSTER_XMIT_Q_TYPE, DEFCLXQ, mq::MQCLXQ_SCTQ, ON, "Transmission queues of cluster-sender channels: one for all, or one each").only(&[mq::MQCLXQ_SCTQ]),
    text("CLWLDATA", mq::MQCA_CLUSTER_WORKLOAD_DATA, mq::MQ_EXIT_DATA_LENGTH, "", ON, "Data for the cluster workload exit").only(&[]),
    text("CLWLEXIT", mq::MQCA_CLUSTER_WORKLOAD_EXIT, mq::MQ_EXIT_NAME_LENGTH, "", ON, "Cluster workload exit").only(&[]),
    int("CLWLLEN", mq::MQIA_CLUSTER_WORKLOAD_LENGTH, (0, MOST), 100, ON, "Bytes of a message that the cluster workload exit is shown").kept(),
    int("CLWLMRUC", mq::MQIA_CLWL_MRU_CHANNELS, (1, MOST), MOST, ON, "Most cluster channels that workload is given to").kept(),
    word("CLWLUSEQ", mq::MQIA_CLWL_USEQ, CLWLUSEQ, mq::MQCLWL_USEQ_LOCAL, ON, "Use of other instances of a queue in a cluster").kept(),
    word("MONACLS", mq::MQIA_MONITORING_AUTO_CLUSSDR, QMGR_OFF_LEVELS, mq::MQMON_Q_MGR, ON, "Collection of online monitoring data for cluster-sender channels that were not defined").only(NOT_AT_ALL),
    word("STATACLS", mq::MQIA_STATISTICS_AUTO_CLUSSDR, QMGR_OFF_LEVELS, mq::MQMON_Q_MGR, ON, "Collection of statistics for cluster-sender channels that were not defined").only(NOT_AT_ALL),
    name("PARENT", mq::MQCA_PARENT, mq::MQ_Q_MGR_NAME_LENGTH, "", ON, "The parent in a publish/subscribe hierarchy").only(&[]),
    // Both are true where there are no clusters.
    word("PSCLUS", mq::MQIA_PUBSUB_CLUSTER, DISABLED_ENABLED, 1, ON, "Whether publish/subscribe may be used in clusters").kept(),
    word("PSNPMSG", mq::MQIA_PUBSUB_NP_MSG, PSNPMSG, 2, ON, "Non-persistent publications that cannot be delivered").kept(),
    word("PSNPRES", mq::MQIA_PUBSUB_NP_RESP, PSNPRES, 0, ON, "Non-persistent answers of queued publish/subscribe that cannot be delivered").kept(),
    int("PSRTYCNT", mq::MQIA_PUBSUB_MAXMSG_RETRY_COUNT, (0, MOST), 5, ON, "How often a command of queued publish/subscribe is tried again").kept(),
    word("PSSYNCPT", mq::MQIA_PUBSUB_SYNC_PT, PSSYNCPT, 1, ON, "Whether commands of queued publish/subscribe are processed in syncpoint").kept(),
    int("TREELIFE", mq::MQIA_TREE_LIFE_TIME, (0, 604_000), 1800, ON, "Seconds that a topic without a definition is kept unused").kept(),
    // There are no rules with host names.
    word("REVDNS", mq::MQIA_REVERSE_DNS_LOOKUP, REVDNS, mq::MQRDNS_ENABLED, ON, "Whether the host name of a peer is looked up where a rule names hosts").kept(),
    word("IPADDRV", mq::MQIA_IP_ADDRESS_VERSION, IPADDRV, mq::MQIPADDR_IPV4, ON, "Version of IP for channels to hosts that have addresses of both").kept(),
    word("CERTVPOL", mq::MQIA_CERT_VAL_POLICY, CERTVPOL, 0, ON, "How strictly certificates are checked").only(&[0]),
    text("KEYRPWD", mq::MQCA_SSL_KEY_REPO_PASSWORD, mq::MQ_SSL_KEY_REPO_PWD_LEN, "", ON, "Password of the key repository").only(&[]).not_inquired().secret(),
    text("INITKEY", mq::MQCA_INITIAL_KEY, mq::MQ_INITIAL_KEY_LENGTH, "", ON, "Key that passwords are stored under").only(&[]).not_inquired().secret(),
    name("SSLCRLNL", mq::MQCA_SSL_CRL_NAMELIST, mq::MQ_NAMELIST_NAME_LENGTH, "", ON, "List of where it is asked whether certificates are revoked").only(&[]),
    text("SSLCRYP", mq::MQCA_SSL_CRYPTO_HARDWARE, mq::MQ_SSL_CRYPTO_HARDWARE_LENGTH, "", ON, "Cryptographic hardware and its settings").only(&[]),
    int("SSLRKEYC", mq::MQIA_SSL_RESET_COUNT, (0, MOST), 0, ON, "Bytes after which a TLS channel agrees on a new key").only(&[0]),
];
