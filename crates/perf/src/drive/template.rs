//! Requests that are encoded once and then copied, and replies of which only the fields that matter
//! are read: what a round trip costs the driver itself.
//!
//! Invariants: what is sent is what encoding anew would give; what is read is checked against the
//! length of what has come.

use posthaste_client::Parts;
use posthaste_mqi::{ByteOrder, CorrelId, Gmo, Hobj, Md, MsgId, Name, PointerSize};
use posthaste_wire::client::{ClientPut, ClientSocket};
use posthaste_wire::verb::API_HEADER;
use posthaste_wire::{PeerMisbehaved, Request, Segment, SegmentType};

use crate::workload::{GetShape, Message, PutShape};

/// Where the handle stands in the API header.
const HANDLE_AT: usize = 12;

/// The protocol's side of a connection, as templates are made for it.
pub(crate) struct Speech {
    /// The client's state machine.
    pub(crate) socket: ClientSocket,
    /// The conversation.
    pub(crate) conversation: u32,
}

impl Speech {
    pub(crate) fn of(parts: Parts) -> (std::os::fd::OwnedFd, Speech, Vec<u8>) {
        let speech = Speech {
            socket: parts.socket,
            conversation: parts.conversation,
        };
        (parts.stream, speech, parts.input)
    }
}

/// An encoded request.
struct Encoded {
    bytes: Vec<u8>,
    /// Length of the first segment's header.
    header: usize,
    order: ByteOrder,
    /// There is only one segment.
    single: bool,
}

impl Encoded {
    /// Finds out how `request` is made up; `bytes` is what is kept of it.
    fn new(bytes: Vec<u8>, request: &[u8]) -> Result<Encoded, PeerMisbehaved> {
        let segment = Segment::next(request, usize::MAX)?.ok_or(PeerMisbehaved::NotASegment)?;
        Ok(Encoded {
            header: segment.length - segment.body.len(),
            order: segment.header.order,
            single: segment.length == request.len(),
            bytes,
        })
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

/// An MQPUT that is sent again and again.
#[derive(Default)]
pub(crate) struct PutTemplate {
    made: Option<(Encoded, usize)>,
}

impl PutTemplate {
    /// Appends the request. `same`: the data is that of every other put.
    pub(crate) fn emit(
        &mut self,
        out: &mut Vec<u8>,
        speech: &mut Speech,
        shape: &PutShape,
        (handle, correl_id): (Hobj, &CorrelId),
        (data, same): (&[u8], bool),
    ) -> Result<(), PeerMisbehaved> {
        let start = out.len();
        match &self.made {
            Some((encoded, length)) if *length == data.len() && (same || encoded.single) => {
                if same {
                    out.extend_from_slice(&encoded.bytes);
                } else {
                    let before = encoded.bytes.len() - length;
                    out.extend_from_slice(encoded.bytes.get(..before).unwrap_or_default());
                    out.extend_from_slice(data);
                }
                encoded.patch(out, start, handle, correl_id);
            }
            _ => {
                let put = ClientPut {
                    handle,
                    md: &shape.md,
                    pmo: &shape.pmo,
                    data,
                    // Replies are awaited by the link, not by the socket's state machine.
                    answered: false,
                };
                speech.socket.put(out, speech.conversation, &put);
                let fresh = out.get(start..).unwrap_or_default();
                let encoded = Encoded::new(Vec::new(), fresh)?;
                encoded.patch(out, start, handle, correl_id);
                // Other data in several segments is encoded anew each time: it is not copied once more.
                self.made = (same || encoded.single).then(|| {
                    let bytes = out.get(start..).unwrap_or_default().to_vec();
                    (Encoded { bytes, ..encoded }, data.len())
                });
            }
        }
        Ok(())
    }
}

/// An MQGET that is sent again and again.
#[derive(Default)]
pub(crate) struct GetTemplate {
    made: Option<(Encoded, i32, usize)>,
}

impl GetTemplate {
    /// Appends the request.
    pub(crate) fn emit(
        &mut self,
        out: &mut Vec<u8>,
        speech: &mut Speech,
        shape: &GetShape,
        (handle, correl_id): (Hobj, &CorrelId),
        (wait_ms, buffer): (i32, usize),
    ) -> Result<(), PeerMisbehaved> {
        let fits = matches!(&self.made, Some((_, wait, size))
            if *wait == wait_ms && *size == buffer);
        if !fits {
            let mut bytes = Vec::with_capacity(1024);
            let gmo = Gmo {
                wait_interval: wait_ms,
                ..shape.gmo.clone()
            };
            let length = i32::try_from(buffer).unwrap_or(i32::MAX);
            let Speech {
                socket,
                conversation,
            } = speech;
            socket.get(&mut bytes, *conversation, handle, &shape.md, &gmo, length);
            let request = bytes.clone();
            self.made = Some((Encoded::new(bytes, &request)?, wait_ms, buffer));
        }
        if let Some((encoded, _, _)) = &self.made {
            let start = out.len();
            out.extend_from_slice(&encoded.bytes);
            encoded.patch(out, start, handle, correl_id);
        }
        Ok(())
    }
}

/// An MQCMIT.
pub(crate) fn commit(speech: &mut Speech) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Speech {
        socket,
        conversation,
    } = speech;
    socket.request(&mut bytes, *conversation, Hobj(0), &Request::Commit);
    bytes
}

fn array<const N: usize>(body: &[u8], at: usize) -> Option<[u8; N]> {
    body.get(at..)?.first_chunk().copied()
}

/// The MsgId in the body of a reply to MQPUT.
pub(crate) fn put_msg_id(body: &[u8]) -> Result<MsgId, PeerMisbehaved> {
    array(body, API_HEADER + Md::MSG_ID_AT)
        .ok_or(PeerMisbehaved::StructureUnknown(SegmentType::PutReply))
}

/// What is read of a reply to MQGET.
pub(crate) struct GotView {
    /// What the machine is told.
    pub(crate) message: Message,
    /// Length of the whole message.
    pub(crate) length: usize,
    /// Where the data begins in the body.
    pub(crate) data_at: usize,
}

/// Reads the beginning of the body of a reply to MQGET.
pub(crate) fn got(body: &[u8], order: ByteOrder) -> Result<GotView, PeerMisbehaved> {
    let wrong = PeerMisbehaved::StructureUnknown(SegmentType::GetReply);
    view(body, order).ok_or(wrong)
}

fn view(body: &[u8], order: ByteOrder) -> Option<GotView> {
    let md = API_HEADER;
    let version = order.get_i32(body, md + 4)?;
    let gmo = md + Md::length(version, PointerSize::Four)?;
    let version = order.get_i32(body, gmo + 4)?;
    let length_at = gmo + Gmo::length(version, PointerSize::Four)?;
    let length = usize::try_from(order.get_u32(body, length_at)?).ok()?;
    Some(GotView {
        message: Message {
            msg_id: array(body, md + Md::MSG_ID_AT)?,
            correl_id: array(body, md + Md::CORREL_ID_AT)?,
            reply_to: Name::from_bytes(array(body, md + Md::REPLY_TO_Q_AT)?),
            reply_to_q_mgr: Name::from_bytes(array(body, md + Md::REPLY_TO_Q_MGR_AT)?),
        },
        length,
        data_at: length_at + 4,
    })
}
