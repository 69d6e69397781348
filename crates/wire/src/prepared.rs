//! Requests that are encoded once and then copied, and replies of which only the fields that matter are read: for
//! programs that drive many connections and must cost little themselves.
//!
//! Invariants: what is sent is what encoding anew would give; what is read is checked against the length of what has
//! come.

use posthaste_mqi::{ByteOrder, CorrelId, Gmo, Hobj, Md, MsgId, Name, PointerSize};

use crate::PeerMisbehaved;
use crate::call::{ClientGet, ClientPut};
use crate::flow::{Body, Envelope, pad};
use crate::reply::data_end;
use crate::request::{encode_get, encode_put};
use crate::segment::{Scope, Segment, SegmentType};
use crate::verb::API_HEADER;

/// Where the handle stands in the API header.
const HANDLE_AT: usize = 12;

/// An encoded request.
struct Encoded {
    bytes: Vec<u8>,
    /// Length of the first segment's header.
    header: usize,
    order: ByteOrder,
    /// There is only one segment.
    single: bool,
    /// What conversation's or socket's it is.
    scope: Scope,
}

impl Encoded {
    /// Finds out how `request` is made up; `bytes` is what is kept of it.
    fn new(bytes: Vec<u8>, request: &[u8]) -> Result<Encoded, PeerMisbehaved> {
        let segment = Segment::next(request, usize::MAX)?.ok_or(PeerMisbehaved::NotASegment)?;
        Ok(Encoded {
            header: segment.length - segment.body.len(),
            order: segment.header.order,
            single: segment.length == request.len(),
            scope: segment.header.scope,
            bytes,
        })
    }

    /// What lies before `data` bytes of message data in one segment: all structures are multiples of four bytes long, so
    /// that what is filled up is the data.
    fn before(&self, request: usize, data: usize) -> usize {
        request.saturating_sub(data.next_multiple_of(self.scope.alignment()))
    }

    /// Writes handle and correlation identifier into a copy that begins at `start`.
    fn patch(&self, out: &mut [u8], start: usize, handle: Hobj, correl_id: &CorrelId) {
        let body = start + self.header;
        let handle = match self.order {
            ByteOrder::Big => handle.0.to_be_bytes(),
            ByteOrder::Little => handle.0.to_le_bytes(),
        };
        if let Some(field) = out.get_mut(body + HANDLE_AT..body + HANDLE_AT + 4) {
            field.copy_from_slice(&handle);
        }
        let at = body + API_HEADER + Md::CORREL_ID_AT;
        if let Some(field) = out.get_mut(at..at + correl_id.len()) {
            field.copy_from_slice(correl_id);
        }
    }
}

/// An MQPUT that is sent again and again: only handle, CorrelId and data change from one to the next.
#[derive(Default)]
pub struct PreparedPut {
    /// With the length of its data.
    made: Option<(Encoded, usize)>,
    /// The data is always the same, and copied with the rest.
    same: bool,
}

impl PreparedPut {
    /// One whose data never changes.
    pub fn of_same_data() -> PreparedPut {
        PreparedPut {
            made: None,
            same: true,
        }
    }

    pub(crate) fn append(
        &mut self,
        out: &mut Vec<u8>,
        envelope: &Envelope,
        put: &ClientPut<'_>,
    ) -> Result<(), PeerMisbehaved> {
        let start = out.len();
        let (data, same) = (put.data, self.same);
        match &self.made {
            Some((encoded, length)) if *length == data.len() && (same || encoded.single) => {
                if same {
                    out.extend_from_slice(&encoded.bytes);
                } else {
                    out.extend_from_slice(&encoded.bytes);
                    out.extend_from_slice(data);
                    pad(out, start, encoded.scope);
                }
                encoded.patch(out, start, put.handle, &put.md.correl_id);
            }
            _ => {
                encode_put(out, envelope, put.handle, put.md, put.pmo, data);
                let fresh = out.get(start..).unwrap_or_default();
                let encoded = Encoded::new(Vec::new(), fresh)?;
                // Other data in several segments is encoded anew each time: it is not copied once more.
                self.made = (same || encoded.single).then(|| {
                    let kept = match same {
                        true => fresh.len(),
                        false => encoded.before(fresh.len(), data.len()),
                    };
                    let bytes = fresh.get(..kept).unwrap_or_default().to_vec();
                    (Encoded { bytes, ..encoded }, data.len())
                });
            }
        }
        Ok(())
    }
}

/// An MQGET that is sent again and again: only handle and CorrelId change while wait interval and buffer stay.
#[derive(Default)]
pub struct PreparedGet {
    /// With the wait interval and the length of the buffer.
    made: Option<(Encoded, i32, i32)>,
}

impl PreparedGet {
    pub(crate) fn append(
        &mut self,
        out: &mut Vec<u8>,
        envelope: &Envelope,
        get: &ClientGet<'_>,
    ) -> Result<(), PeerMisbehaved> {
        let start = out.len();
        let (wait, length) = (get.gmo.wait_interval, get.buffer_length);
        match &self.made {
            Some((encoded, made, room)) if (*made, *room) == (wait, length) => {
                out.extend_from_slice(&encoded.bytes);
                encoded.patch(out, start, get.handle, &get.md.correl_id);
            }
            _ => {
                encode_get(out, envelope, get.handle, get.md, get.gmo, length);
                let fresh = out.get(start..).unwrap_or_default();
                let encoded = Encoded::new(fresh.to_vec(), fresh)?;
                self.made = Some((encoded, wait, length));
            }
        }
        Ok(())
    }
}

fn array<const N: usize>(body: &[u8], at: usize) -> Option<[u8; N]> {
    body.get(at..)?.first_chunk().copied()
}

/// The MsgId in the body of a reply to MQPUT.
pub(crate) fn put_msg_id(body: &[u8]) -> Result<MsgId, PeerMisbehaved> {
    array(body, API_HEADER + Md::MSG_ID_AT)
        .ok_or(PeerMisbehaved::StructureUnknown(SegmentType::PutReply))
}

/// Fields of a message that was got.
#[derive(Clone, Debug, PartialEq)]
pub struct GetFields<'a> {
    /// MsgId.
    pub msg_id: MsgId,
    /// CorrelId.
    pub correl_id: CorrelId,
    /// ReplyToQ.
    pub reply_to_q: Name,
    /// ReplyToQMgr.
    pub reply_to_q_mgr: Name,
    /// Length of the whole message.
    pub length: usize,
    /// Length of the data that came.
    pub came: usize,
    /// The data, as far as it was kept.
    pub data: &'a [u8],
}

/// Reads the beginning of the body of a reply to MQGET.
pub(crate) fn got<'a>(
    body: &'a Body<'_>,
    order: ByteOrder,
) -> Result<GetFields<'a>, PeerMisbehaved> {
    let wrong = PeerMisbehaved::StructureUnknown(SegmentType::GetReply);
    fields(body, order).ok_or(wrong)
}

fn fields<'a>(whole: &'a Body<'_>, order: ByteOrder) -> Option<GetFields<'a>> {
    let body = whole.bytes();
    let md = API_HEADER;
    let version = order.get_i32(body, md + 4)?;
    let gmo = md + Md::length(version, PointerSize::Four)?;
    let version = order.get_i32(body, gmo + 4)?;
    let length_at = gmo + Gmo::length(version, PointerSize::Four)?;
    let length = usize::try_from(order.get_u32(body, length_at)?).ok()?;
    let data_at = length_at + 4;
    let stated = usize::try_from(u32::from_be_bytes(array(body, 0)?)).ok()?;
    let came = data_end(stated, data_at, whole.length()).checked_sub(data_at)?;
    let data = body.get(data_at..)?;
    Some(GetFields {
        msg_id: array(body, md + Md::MSG_ID_AT)?,
        correl_id: array(body, md + Md::CORREL_ID_AT)?,
        reply_to_q: Name::from_bytes(array(body, md + Md::REPLY_TO_Q_AT)?),
        reply_to_q_mgr: Name::from_bytes(array(body, md + Md::REPLY_TO_Q_MGR_AT)?),
        length,
        came,
        data: data.get(..came).unwrap_or(data),
    })
}
