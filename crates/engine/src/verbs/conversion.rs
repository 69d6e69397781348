//! MQGMO_CONVERT: the data of a message that is got, in the form that the application's descriptor asks for.
//!
//! Invariants: the descriptor says what the data are, converted or not; why they could not be converted is a warning, for
//! the message has been got. It is done without a lock, behind everything that a get does to a queue.

use bytes::Bytes;
use posthaste_conversion::{Representation, convert as converted};
use posthaste_mqi::constants::{MQCCSI_Q_MGR, MQENC_NATIVE};
use posthaste_mqi::{Md, Reason};

use super::{Done, Got};

/// What the application has room for.
pub(super) struct Buffer {
    /// In bytes.
    pub(super) length: usize,
    /// MQGMO_ACCEPT_TRUNCATED_MSG.
    pub(super) accepts_less: bool,
}

/// The form that a descriptor names.
pub(super) fn representation(md: &Md) -> Representation {
    Representation {
        encoding: md.encoding,
        ccsid: md.coded_char_set_id,
    }
}

/// What values that leave it to the queue manager stand for.
fn resolved(given: Representation, q_mgr: i32) -> Representation {
    Representation {
        encoding: match given.encoding {
            0 => MQENC_NATIVE,
            encoding => encoding,
        },
        ccsid: match given.ccsid {
            MQCCSI_Q_MGR => q_mgr,
            ccsid => ccsid,
        },
    }
}

/// Converts what is delivered of a message with these data, whose descriptor is `md`. `q_mgr` is the queue manager's
/// coded character set. What was too long for the buffer is so converted or not.
pub(super) fn convert(
    data: &Bytes,
    wanted: Representation,
    buffer: &Buffer,
    q_mgr: i32,
    md: &mut Md,
    done: &mut Done<Got>,
) {
    let from = resolved(representation(md), q_mgr);
    let to = resolved(wanted, q_mgr);
    if from == to || data.is_empty() || buffer.length == 0 {
        return;
    }
    let mut warn = |reason| {
        if done.warning == Reason::NONE {
            done.warning = reason;
        }
    };
    let converted = match converted(data, &md.format, from, to, q_mgr) {
        Ok(converted) => converted,
        Err(reason) => return warn(reason),
    };
    let fits = converted.data.len() <= buffer.length;
    if !fits && !buffer.accepts_less {
        return warn(Reason::CONVERTED_MSG_TOO_BIG);
    }
    warn(match fits {
        true => converted.warning,
        false => Reason::TRUNCATED_MSG_ACCEPTED,
    });
    md.encoding = converted.representation.encoding;
    md.coded_char_set_id = converted.representation.ccsid;
    // The length of what was cut is that before it was converted.
    if done.warning != Reason::TRUNCATED_MSG_ACCEPTED {
        done.value.length = converted.data.len();
    }
    let mut shown = Bytes::from(converted.data);
    shown.truncate(buffer.length);
    done.value.data = shown;
}
