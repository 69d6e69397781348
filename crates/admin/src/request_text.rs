//! Text of requests in PCF, in the coded character sets that they name (manual: "MQCFST - PCF string parameter", 3049
//! MQRCCF_CCSID_ERROR).
//!
//! Invariants: text that names no set is in that of the message's descriptor, and in the queue manager's where that names none
//! either; text of a set that is not known here is taken only where it is the same in every set, but for EBCDIC's, in which no
//! name and no word would be.

use posthaste_conversion::{Representation, convert_text, is_known};
use posthaste_mqi::constants::{MQCCSI_DEFAULT, MQENC_INTEGER_NORMAL, MQENC_INTEGER_REVERSED};
use posthaste_mqi::{ByteOrder, Md};

/// UTF-8, in which commands are read.
const UTF_8: i32 = 1208;

/// How the text of a request is described.
pub(crate) struct RequestText {
    /// Where a text names none.
    ccsid: i32,
    encoding: i32,
}

impl RequestText {
    /// Of a request with this descriptor and byte order; `q_mgr` is the queue manager's coded character set.
    pub(crate) fn of(request: &Md, order: ByteOrder, q_mgr: i32) -> RequestText {
        RequestText {
            ccsid: match request.coded_char_set_id {
                MQCCSI_DEFAULT => q_mgr,
                ccsid => ccsid,
            },
            encoding: match order {
                ByteOrder::Big => MQENC_INTEGER_NORMAL,
                ByteOrder::Little => MQENC_INTEGER_REVERSED,
            },
        }
    }

    /// A text in UTF-8; none: it is none in its set.
    pub(crate) fn read(&self, ccsid: i32, bytes: &[u8]) -> Option<Vec<u8>> {
        let ccsid = match ccsid {
            MQCCSI_DEFAULT => self.ccsid,
            ccsid => ccsid,
        };
        let described = |ccsid: i32| Representation {
            encoding: self.encoding,
            ccsid,
        };
        match ccsid {
            // What is not valid is shown as that.
            UTF_8 => Some(bytes.to_vec()),
            ccsid if is_known(ccsid) => {
                convert_text(bytes, described(ccsid), described(UTF_8)).ok()
            }
            _ => bytes.is_ascii().then(|| bytes.to_vec()),
        }
    }
}
