//! The API header that begins every verb and every reply.

use posthaste_mqi::{ByteOrder, CompCode, Hobj, Image, Reason};

use crate::PeerMisbehaved;
use crate::input::Input;
use crate::segment::SegmentType;

/// Length of the API header.
pub const API_HEADER: usize = 16;

/// How a verb went: what a reply's API header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Completion code.
    pub comp_code: CompCode,
    /// Reason.
    pub reason: Reason,
    /// The handle: the new one of an open, [`Hobj::UNUSABLE`] of a close, else the request's.
    pub handle: Hobj,
}

impl Outcome {
    /// It went well, or nearly so: a reason other than NONE makes a warning.
    pub fn done(handle: Hobj, warning: Reason) -> Outcome {
        let comp_code = if warning == Reason::NONE {
            CompCode::Ok
        } else {
            CompCode::Warning
        };
        Outcome {
            comp_code,
            reason: warning,
            handle,
        }
    }

    /// It failed.
    pub fn failed(handle: Hobj, reason: Reason) -> Outcome {
        Outcome {
            comp_code: CompCode::Failed,
            reason,
            handle,
        }
    }
}

/// The API header as it stands in a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApiHeader {
    /// Request: the largest reply that is expected. Reply: length from this header on.
    pub reply_length: u32,
    /// Completion code, 0 in requests.
    pub comp_code: i32,
    /// Reason, 0 in requests.
    pub reason: Reason,
    /// Object handle.
    pub handle: Hobj,
}

impl ApiHeader {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<ApiHeader, PeerMisbehaved> {
        Ok(ApiHeader {
            reply_length: u32::from_be_bytes(input.array()?),
            comp_code: input.i32()?,
            reason: Reason(input.i32()?),
            handle: Hobj(input.i32()?),
        })
    }

    /// Reads the header at the start of a verb's or reply's body.
    pub fn decode(
        body: &[u8],
        order: ByteOrder,
        kind: SegmentType,
    ) -> Result<ApiHeader, PeerMisbehaved> {
        Self::read(&mut Input::new(body, order, kind))
    }

    /// Appends the header.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder) {
        // The one number that is big-endian whatever the segment's byte order.
        Image::<API_HEADER>::new(order)
            .bytes(&self.reply_length.to_be_bytes())
            .i32(self.comp_code)
            .i32(self.reason.0)
            .i32(self.handle.0)
            .append_to(out);
    }

    /// What a reply's header says, or `None` for a completion code that does not exist.
    pub fn outcome(&self) -> Option<Outcome> {
        let comp_code = match self.comp_code {
            0 => CompCode::Ok,
            1 => CompCode::Warning,
            2 => CompCode::Failed,
            _ => return None,
        };
        Some(Outcome {
            comp_code,
            reason: self.reason,
            handle: self.handle,
        })
    }
}
