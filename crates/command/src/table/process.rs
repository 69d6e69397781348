//! Attributes of process definitions (manual: "DEFINE PROCESS", "Attributes for process definitions"): what a trigger
//! monitor starts.

use super::rows::{date, int_or_word, name, text, time};
use super::words::Words;
use crate::attribute::Attribute;
use crate::kinds::ObjectKind;
use posthaste_mqi::constants as mq;

const ON: &[ObjectKind] = &[ObjectKind::Process];
const MOST: i32 = 999_999_999;

const APPLTYPE: Words = &[
    ("CICS", mq::MQAT_CICS),
    ("MVS", mq::MQAT_MVS),
    ("IMS", mq::MQAT_IMS),
    ("OS2", mq::MQAT_OS2),
    ("DOS", mq::MQAT_DOS),
    ("UNIX", mq::MQAT_UNIX),
    ("OS400", mq::MQAT_OS400),
    ("WINDOWS", mq::MQAT_WINDOWS),
    ("WINDOWSNT", mq::MQAT_WINDOWS_NT),
    ("VMS", mq::MQAT_VMS),
    ("NSK", mq::MQAT_NSK),
    ("NOTESAGENT", mq::MQAT_NOTES_AGENT),
];

#[rustfmt::skip] // one row, one line
pub(crate) const ROWS: &[Attribute] = &[
    name("PROCESS", mq::MQCA_PROCESS_NAME, mq::MQ_PROCESS_NAME_LENGTH, "", ON, "The process definition's name").derived(),
    text("DESCR", mq::MQCA_PROCESS_DESC, mq::MQ_PROCESS_DESC_LENGTH, "", ON, "What the process is for, in the operator's words").describes(),
    int_or_word("APPLTYPE", mq::MQIA_APPL_TYPE, (0, MOST), APPLTYPE, mq::MQAT_UNIX, ON, "Kind of application, for the trigger monitor"),
    text("APPLICID", mq::MQCA_APPL_ID, mq::MQ_PROCESS_APPL_ID_LENGTH, "", ON, "The program, for the trigger monitor"),
    text("ENVRDATA", mq::MQCA_ENV_DATA, mq::MQ_PROCESS_ENV_DATA_LENGTH, "", ON, "Environment, for the trigger monitor"),
    text("USERDATA", mq::MQCA_USER_DATA, mq::MQ_PROCESS_USER_DATA_LENGTH, "", ON, "Data, for the application"),
    date("ALTDATE", mq::MQCA_ALTERATION_DATE, ON, "Date of the last change, yyyy-mm-dd").derived(),
    time("ALTTIME", mq::MQCA_ALTERATION_TIME, ON, "Time of the last change, hh.mm.ss").derived(),
];
