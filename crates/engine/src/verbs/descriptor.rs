//! The descriptor of a message that is put, wherever it goes.

use posthaste_mqi::constants::*;
use posthaste_mqi::{Md, Reason};

use crate::report;

/// Segments are refused with a reason of their own. That a message may be segmented is noted, and never needed: one
/// that is too long is refused (2030, 2031).
const MESSAGE_FLAGS: i32 =
    MQMF_SEGMENTATION_ALLOWED | MQMF_MSG_IN_GROUP | MQMF_LAST_MSG_IN_GROUP | SEGMENT;
const SEGMENT: i32 = MQMF_SEGMENT | MQMF_LAST_SEGMENT;

/// Checks what can be checked of a descriptor alone; gives the warning there is. `remote`: another queue manager is to have
/// the message, and it is not put on a transmission queue by name.
pub(super) fn check_md(md: &Md, remote: bool) -> Result<Reason, Reason> {
    let system = (MQMT_SYSTEM_FIRST..=MQMT_SYSTEM_LAST).contains(&md.msg_type);
    let application = (MQMT_APPL_FIRST..=MQMT_APPL_LAST).contains(&md.msg_type);
    if !system && !application {
        return Err(Reason::MSG_TYPE_ERROR);
    }
    if md.msg_type == MQMT_REQUEST && md.reply_to_q.is_blank() {
        return Err(Reason::MISSING_REPLY_TO_Q);
    }
    if md.expiry != MQEI_UNLIMITED && md.expiry <= 0 {
        return Err(Reason::EXPIRY_ERROR);
    }
    if md.priority < MQPRI_PRIORITY_AS_Q_DEF {
        return Err(Reason::PRIORITY_ERROR);
    }
    if !(MQPER_NOT_PERSISTENT..=MQPER_PERSISTENCE_AS_Q_DEF).contains(&md.persistence) {
        return Err(Reason::PERSISTENCE_ERROR);
    }
    let feedback = md.feedback == MQFB_NONE
        || (MQFB_SYSTEM_FIRST..=MQFB_SYSTEM_LAST).contains(&md.feedback)
        || (MQFB_APPL_FIRST..=MQFB_APPL_LAST).contains(&md.feedback);
    if !feedback {
        return Err(Reason::FEEDBACK_ERROR);
    }
    let warning = report::check(md, remote)?;
    if md.version >= MQMD_VERSION_2 {
        if md.msg_flags & !MESSAGE_FLAGS != 0 {
            return Err(Reason::MSG_FLAGS_ERROR);
        }
        if md.msg_seq_number < 1 || md.msg_seq_number > 999_999_999 {
            return Err(Reason::MSG_SEQ_NUMBER_ERROR);
        }
        if md.offset < 0 {
            return Err(Reason::OFFSET_ERROR);
        }
        if md.msg_flags & SEGMENT != 0 {
            return Err(Reason::SEGMENTS_NOT_SUPPORTED);
        }
    }
    Ok(match md.priority > 9 {
        true => Reason::PRIORITY_EXCEEDS_MAXIMUM,
        false => warning,
    })
}
