//! What must hold for the tables of constants: known numbers, no name twice, selector
//! families inside their documented ranges.

use super::*;
use std::collections::HashMap;

#[test]
fn names_are_unique_across_all_families() {
    let mut seen = HashMap::new();
    for family in families() {
        for (name, value) in family.members {
            assert!(
                name.starts_with(family.prefix),
                "{name} in {}",
                family.prefix
            );
            assert!(seen.insert(*name, *value).is_none(), "{name} twice");
        }
    }
    assert!(seen.len() > 2500, "only {} constants", seen.len());
}

#[test]
fn members_ascend_within_a_family() {
    for family in families() {
        for pair in family.members.windows(2) {
            assert!(pair[0].1 <= pair[1].1, "{} before {}", pair[0].0, pair[1].0);
        }
    }
}

#[test]
fn selector_families_keep_to_their_ranges() {
    // MQ reference, "Constants": MQIA_FIRST/LAST, MQCA_FIRST/LAST and the command families.
    let ranges = [
        ("MQIA_", 1, 2000),
        ("MQCA_", 2001, 4000),
        ("MQIACF_", 1001, 1500),
        ("MQIACH_", 1501, 1699),
        ("MQCACF_", 3001, 5600),
        ("MQCACH_", 3501, 3600),
        ("MQBACF_", 7001, 7100),
        ("MQGACF_", 8001, 8100),
    ];
    for (prefix, low, high) in ranges {
        let family = families().find(|family| family.prefix == prefix).unwrap();
        for (name, value) in family.members {
            if name.ends_with("_LAST") || name.ends_with("_FIRST") || *value < 0 {
                continue;
            }
            assert!((low..=high).contains(value), "{name} = {value}");
        }
    }
}

/// Numbers checked against the manual by hand, those that applications use most first.
const EXPECTED: &[(&str, i32)] = &[
    ("MQCC_WARNING", 1),
    ("MQOO_INPUT_AS_Q_DEF", 1),
    ("MQOO_INPUT_SHARED", 2),
    ("MQOO_INPUT_EXCLUSIVE", 4),
    ("MQOO_BROWSE", 8),
    ("MQOO_OUTPUT", 16),
    ("MQOO_INQUIRE", 32),
    ("MQOO_SET", 64),
    ("MQOO_SAVE_ALL_CONTEXT", 128),
    ("MQOO_PASS_IDENTITY_CONTEXT", 256),
    ("MQOO_PASS_ALL_CONTEXT", 512),
    ("MQOO_SET_IDENTITY_CONTEXT", 1024),
    ("MQOO_SET_ALL_CONTEXT", 2048),
    ("MQOO_ALTERNATE_USER_AUTHORITY", 4096),
    ("MQOO_FAIL_IF_QUIESCING", 8192),
    ("MQOO_BIND_ON_OPEN", 16384),
    ("MQOO_BIND_NOT_FIXED", 32768),
    ("MQOO_NO_READ_AHEAD", 524288),
    ("MQOO_READ_AHEAD", 1048576),
    ("MQCO_DELETE", 1),
    ("MQCO_DELETE_PURGE", 2),
    ("MQPMO_SYNCPOINT", 2),
    ("MQPMO_NO_SYNCPOINT", 4),
    ("MQPMO_DEFAULT_CONTEXT", 32),
    ("MQPMO_NEW_MSG_ID", 64),
    ("MQPMO_NEW_CORREL_ID", 128),
    ("MQPMO_PASS_IDENTITY_CONTEXT", 256),
    ("MQPMO_PASS_ALL_CONTEXT", 512),
    ("MQPMO_SET_IDENTITY_CONTEXT", 1024),
    ("MQPMO_SET_ALL_CONTEXT", 2048),
    ("MQPMO_FAIL_IF_QUIESCING", 8192),
    ("MQPMO_NO_CONTEXT", 16384),
    ("MQPMO_LOGICAL_ORDER", 32768),
    ("MQPMO_ASYNC_RESPONSE", 65536),
    ("MQPMO_RESOLVE_LOCAL_Q", 262144),
    ("MQPMO_RETAIN", 2097152),
    ("MQGMO_WAIT", 1),
    ("MQGMO_SYNCPOINT", 2),
    ("MQGMO_NO_SYNCPOINT", 4),
    ("MQGMO_SET_SIGNAL", 8),
    ("MQGMO_BROWSE_FIRST", 16),
    ("MQGMO_BROWSE_NEXT", 32),
    ("MQGMO_ACCEPT_TRUNCATED_MSG", 64),
    ("MQGMO_MARK_SKIP_BACKOUT", 128),
    ("MQGMO_MSG_UNDER_CURSOR", 256),
    ("MQGMO_LOCK", 512),
    ("MQGMO_UNLOCK", 1024),
    ("MQGMO_BROWSE_MSG_UNDER_CURSOR", 2048),
    ("MQGMO_SYNCPOINT_IF_PERSISTENT", 4096),
    ("MQGMO_FAIL_IF_QUIESCING", 8192),
    ("MQGMO_CONVERT", 16384),
    ("MQGMO_LOGICAL_ORDER", 32768),
    ("MQGMO_COMPLETE_MSG", 65536),
    ("MQGMO_ALL_MSGS_AVAILABLE", 131072),
    ("MQGMO_PROPERTIES_FORCE_MQRFH2", 33554432),
    ("MQGMO_PROPERTIES_IN_HANDLE", 134217728),
    ("MQMO_MATCH_MSG_ID", 1),
    ("MQMO_MATCH_CORREL_ID", 2),
    ("MQMO_MATCH_GROUP_ID", 4),
    ("MQMO_MATCH_MSG_SEQ_NUMBER", 8),
    ("MQMO_MATCH_OFFSET", 16),
    ("MQMO_MATCH_MSG_TOKEN", 32),
    ("MQPER_PERSISTENCE_AS_Q_DEF", 2),
    ("MQPRI_PRIORITY_AS_Q_DEF", -1),
    ("MQMT_REQUEST", 1),
    ("MQMT_REPLY", 2),
    ("MQMT_REPORT", 4),
    ("MQMT_DATAGRAM", 8),
    ("MQRO_COA", 256),
    ("MQRO_COA_WITH_DATA", 768),
    ("MQRO_COA_WITH_FULL_DATA", 1792),
    ("MQRO_COD", 2048),
    ("MQRO_EXPIRATION", 2097152),
    ("MQRO_EXCEPTION", 16777216),
    ("MQRO_DISCARD_MSG", 134217728),
    ("MQRO_PASS_CORREL_ID", 64),
    ("MQRO_PASS_MSG_ID", 128),
    ("MQFB_QUIT", 256),
    ("MQFB_EXPIRATION", 258),
    ("MQFB_COA", 259),
    ("MQFB_COD", 260),
    ("MQEI_UNLIMITED", -1),
    ("MQOT_Q", 1),
    ("MQOT_Q_MGR", 5),
    ("MQOT_TOPIC", 8),
    ("MQQT_LOCAL", 1),
    ("MQQT_MODEL", 2),
    ("MQQT_ALIAS", 3),
    ("MQQT_REMOTE", 6),
    ("MQAT_JAVA", 28),
    ("MQAT_UNIX", 6),
    ("MQIA_APPL_TYPE", 1),
    ("MQIA_CODED_CHAR_SET_ID", 2),
    ("MQIA_CURRENT_Q_DEPTH", 3),
    ("MQIA_DEF_INPUT_OPEN_OPTION", 4),
    ("MQIA_DEF_PERSISTENCE", 5),
    ("MQIA_DEF_PRIORITY", 6),
    ("MQIA_DEFINITION_TYPE", 7),
    ("MQIA_HARDEN_GET_BACKOUT", 8),
    ("MQIA_INHIBIT_GET", 9),
    ("MQIA_INHIBIT_PUT", 10),
    ("MQIA_MAX_HANDLES", 11),
    ("MQIA_USAGE", 12),
    ("MQIA_MAX_MSG_LENGTH", 13),
    ("MQIA_MAX_PRIORITY", 14),
    ("MQIA_MAX_Q_DEPTH", 15),
    ("MQIA_MSG_DELIVERY_SEQUENCE", 16),
    ("MQIA_OPEN_INPUT_COUNT", 17),
    ("MQIA_OPEN_OUTPUT_COUNT", 18),
    ("MQIA_Q_TYPE", 20),
    ("MQIA_RETENTION_INTERVAL", 21),
    ("MQIA_BACKOUT_THRESHOLD", 22),
    ("MQIA_SHAREABILITY", 23),
    ("MQIA_TRIGGER_CONTROL", 24),
    ("MQIA_COMMAND_LEVEL", 31),
    ("MQIA_PLATFORM", 32),
    ("MQCA_BASE_Q_NAME", 2002),
    ("MQCA_DEAD_LETTER_Q_NAME", 2006),
    ("MQCA_Q_MGR_NAME", 2015),
    ("MQCA_Q_NAME", 2016),
    ("MQCA_BACKOUT_REQ_Q_NAME", 2019),
    ("MQCA_Q_MGR_IDENTIFIER", 2032),
    ("MQCA_Q_DESC", 2013),
    ("MQCMD_INQUIRE_Q_MGR", 2),
    ("MQCMD_CHANGE_Q", 8),
    ("MQCMD_CLEAR_Q", 9),
    ("MQCMD_CREATE_Q", 11),
    ("MQCMD_DELETE_Q", 12),
    ("MQCMD_INQUIRE_Q", 13),
    ("MQCMD_ESCAPE", 38),
    ("MQCMD_INQUIRE_Q_STATUS", 41),
    ("MQCFT_COMMAND", 1),
    ("MQCFT_RESPONSE", 2),
    ("MQCFT_INTEGER", 3),
    ("MQCFT_STRING", 4),
    ("MQCHT_SVRCONN", 7),
    ("MQXPT_TCP", 2),
    ("MQCNO_HANDLE_SHARE_BLOCK", 64),
    ("MQCNO_RECONNECT", 16777216),
    ("MQ_Q_NAME_LENGTH", 48),
    ("MQ_CHANNEL_NAME_LENGTH", 20),
    ("MQENC_NORMAL", 273),
    ("MQENC_REVERSED", 546),
    ("MQCOMPRESS_ZLIBFAST", 2),
];

#[test]
fn numbers_are_those_of_the_manual() {
    for (name, value) in EXPECTED {
        assert_eq!(value_of(name), Some(*value), "{name}");
    }
}

#[test]
fn look_ups_answer_both_ways() {
    assert_eq!(name_of("MQCMD_", MQCMD_INQUIRE_Q), Some("MQCMD_INQUIRE_Q"));
    assert_eq!(name_of("MQCMD_", -7), None);
    assert_eq!(name_of("MQNOSUCH_", 1), None);
    assert_eq!(value_of("MQOO_NOSUCH"), None);
}

#[test]
fn formats_have_eight_characters() {
    for format in [
        MQFMT_NONE,
        MQFMT_STRING,
        MQFMT_RF_HEADER_2,
        MQFMT_DEAD_LETTER_HEADER,
        MQFMT_XMIT_Q_HEADER,
    ] {
        assert_eq!(format.len(), 8, "{format:?}");
    }
}

#[test]
fn native_encoding_is_this_machines() {
    let order = crate::ByteOrder::of_encoding(MQENC_NATIVE).unwrap();
    assert_eq!(order, crate::ByteOrder::NATIVE);
}
