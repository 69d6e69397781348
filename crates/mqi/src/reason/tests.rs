//! What must hold for the tables of reason codes.

use super::*;
use std::collections::HashSet;

#[test]
fn every_number_and_name_is_there_once() {
    let mut numbers = HashSet::new();
    let mut names = HashSet::new();
    for table in TABLES {
        for pair in table.windows(2) {
            assert!(
                pair[0].code < pair[1].code,
                "{} before {}",
                pair[0].name,
                pair[1].name
            );
        }
        for entry in table {
            assert!(numbers.insert(entry.code), "{} twice", entry.code);
            assert!(names.insert(entry.name), "{} twice", entry.name);
        }
    }
    assert!(numbers.len() > 700, "only {}", numbers.len());
}

#[test]
fn every_reason_is_described_in_one_sentence_of_its_own() {
    let mut sentences = HashSet::new();
    for reason in Reason::all() {
        let about = reason.describe();
        assert!(about.ends_with('.'), "{reason}: {about:?}");
        assert!((15..200).contains(&about.len()), "{reason}: {about:?}");
        assert!(
            about.starts_with(|c: char| c.is_uppercase()),
            "{reason}: {about:?}"
        );
        assert!(sentences.insert(about), "{reason} shares {about:?}");
    }
}

#[test]
fn names_and_numbers_find_each_other() {
    for reason in Reason::all() {
        assert_eq!(Reason::from_name(reason.name()), Some(reason), "{reason}");
    }
    assert_eq!(Reason::from_name("MQRC_NOSUCH"), None);
}

#[test]
fn numbers_are_those_of_the_manual() {
    for (reason, code, name) in [
        (Reason::NONE, 0, "MQRC_NONE"),
        (
            Reason::ALIAS_BASE_Q_TYPE_ERROR,
            2001,
            "MQRC_ALIAS_BASE_Q_TYPE_ERROR",
        ),
        (Reason::BACKED_OUT, 2003, "MQRC_BACKED_OUT"),
        (Reason::CONNECTION_BROKEN, 2009, "MQRC_CONNECTION_BROKEN"),
        (Reason::HCONN_ERROR, 2018, "MQRC_HCONN_ERROR"),
        (Reason::HOBJ_ERROR, 2019, "MQRC_HOBJ_ERROR"),
        (
            Reason::SYNCPOINT_LIMIT_REACHED,
            2024,
            "MQRC_SYNCPOINT_LIMIT_REACHED",
        ),
        (Reason::MD_ERROR, 2026, "MQRC_MD_ERROR"),
        (Reason::MSG_TOO_BIG_FOR_Q, 2030, "MQRC_MSG_TOO_BIG_FOR_Q"),
        (Reason::NO_MSG_AVAILABLE, 2033, "MQRC_NO_MSG_AVAILABLE"),
        (Reason::NOT_AUTHORIZED, 2035, "MQRC_NOT_AUTHORIZED"),
        (Reason::OBJECT_IN_USE, 2042, "MQRC_OBJECT_IN_USE"),
        (Reason::OD_ERROR, 2044, "MQRC_OD_ERROR"),
        (Reason::OPTIONS_ERROR, 2046, "MQRC_OPTIONS_ERROR"),
        (Reason::PUT_INHIBITED, 2051, "MQRC_PUT_INHIBITED"),
        (Reason::Q_FULL, 2053, "MQRC_Q_FULL"),
        (Reason::Q_MGR_NAME_ERROR, 2058, "MQRC_Q_MGR_NAME_ERROR"),
        (
            Reason::Q_MGR_NOT_AVAILABLE,
            2059,
            "MQRC_Q_MGR_NOT_AVAILABLE",
        ),
        (Reason::SELECTOR_ERROR, 2067, "MQRC_SELECTOR_ERROR"),
        (
            Reason::TRUNCATED_MSG_ACCEPTED,
            2079,
            "MQRC_TRUNCATED_MSG_ACCEPTED",
        ),
        (
            Reason::TRUNCATED_MSG_FAILED,
            2080,
            "MQRC_TRUNCATED_MSG_FAILED",
        ),
        (
            Reason::UNKNOWN_OBJECT_NAME,
            2085,
            "MQRC_UNKNOWN_OBJECT_NAME",
        ),
        (Reason::RESOURCE_PROBLEM, 2102, "MQRC_RESOURCE_PROBLEM"),
        (Reason::TRUNCATED, 2120, "MQRC_CONVERTED_MSG_TOO_BIG"),
        (Reason::CNO_ERROR, 2139, "MQRC_CNO_ERROR"),
        (Reason::DLH_ERROR, 2141, "MQRC_DLH_ERROR"),
        (Reason::HEADER_ERROR, 2142, "MQRC_HEADER_ERROR"),
        (Reason::PMO_ERROR, 2173, "MQRC_PMO_ERROR"),
        (Reason::GMO_ERROR, 2186, "MQRC_GMO_ERROR"),
        (
            Reason::STORAGE_MEDIUM_FULL,
            2192,
            "MQRC_STORAGE_MEDIUM_FULL",
        ),
        (Reason::UNEXPECTED_ERROR, 2195, "MQRC_UNEXPECTED_ERROR"),
        (Reason::CALL_IN_PROGRESS, 2219, "MQRC_CALL_IN_PROGRESS"),
        (Reason::XQH_ERROR, 2260, "MQRC_XQH_ERROR"),
        (Reason::TM_ERROR, 2265, "MQRC_TM_ERROR"),
        (Reason::RFH_ERROR, 2334, "MQRC_RFH_ERROR"),
        (
            Reason::SSL_INITIALIZATION_ERROR,
            2393,
            "MQRC_SSL_INITIALIZATION_ERROR",
        ),
        (Reason::HOST_NOT_AVAILABLE, 2538, "MQRC_HOST_NOT_AVAILABLE"),
        (Reason::CCF_COMMAND_FAILED, 3008, "MQRCCF_COMMAND_FAILED"),
        (
            Reason::CCF_OBJECT_ALREADY_EXISTS,
            4001,
            "MQRCCF_OBJECT_ALREADY_EXISTS",
        ),
    ] {
        assert_eq!(reason.code(), code, "{name}");
        assert_eq!(reason.name(), name);
        assert_eq!(i32::from(reason), code);
    }
    assert_eq!(codes::MQRC_Q_FULL, 2053);
}

#[test]
fn shown_as_name_and_number() {
    assert_eq!(Reason::Q_FULL.to_string(), "MQRC_Q_FULL [2053]");
    assert_eq!(format!("{:?}", Reason(7)), "MQRC_UNKNOWN [7]");
    assert!(Reason::NONE.is_none());
    assert!(!Reason::Q_FULL.is_none());
    assert_eq!(CompCode::Failed.to_string(), "MQCC_FAILED [2]");
}

#[test]
fn completion_codes_are_three() {
    for code in [CompCode::Ok, CompCode::Warning, CompCode::Failed] {
        assert_eq!(CompCode::from_code(code.code()), Some(code));
    }
    assert_eq!(CompCode::from_code(3), None);
    assert_eq!(CompCode::from_code(-1), None);
}
