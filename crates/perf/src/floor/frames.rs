//! What travels in the bare exchange: frames as long as the segments of the real one.
//!
//! The lengths are not written down but taken from the product's own codec, so that they stay the same when it
//! changes. A frame begins with [`HEADER`] bytes: its length, what it is, the queue, an identifier; what
//! follows stands for descriptor, options and message.

use posthaste_mqi::{ByteOrder, Gmo, Hobj, Md, Pmo, Reason};
use posthaste_wire::reply::Answer;
use posthaste_wire::request::{encode_get, encode_put};
use posthaste_wire::segment::SegmentType;
use posthaste_wire::{Envelope, Framing, Outcome};

/// Bytes of a frame's header.
pub(super) const HEADER: usize = 16;

/// Lengths of the four flows, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// A request to put a message.
    pub(super) put: usize,
    /// The reply to it.
    pub(super) done: usize,
    /// A request to get one.
    pub(super) get: usize,
    /// The reply with the message.
    pub(super) message: usize,
}

impl Sizes {
    /// For messages of so many bytes.
    pub(super) fn of(message_bytes: usize) -> Sizes {
        let framing = Framing {
            shared: true,
            ..Framing::INITIAL
        };
        let envelope = Envelope::conversation(framing, ByteOrder::Little, 1);
        let (md, pmo, gmo) = (Md::default(), Pmo::default(), Gmo::default());
        let data = vec![0; message_bytes];
        let handle = Hobj(1);
        let outcome = Outcome::done(handle, Reason::NONE);
        let length = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            out.len()
        };
        let answer = |answer: Answer<'_>, kind| {
            length(&|out: &mut Vec<u8>| answer.encode(out, &envelope, kind, &outcome))
        };
        let buffer = i32::try_from(message_bytes).unwrap_or(i32::MAX);
        Sizes {
            put: length(&|out: &mut Vec<u8>| encode_put(out, &envelope, handle, &md, &pmo, &data)),
            done: answer(
                Answer::Put {
                    md: &md,
                    pmo: &pmo,
                    length: message_bytes,
                },
                SegmentType::Put,
            ),
            get: length(&|out: &mut Vec<u8>| {
                encode_get(out, &envelope, handle, &md, &gmo, buffer);
            }),
            message: answer(
                Answer::Get {
                    md: &md,
                    gmo: &gmo,
                    length: message_bytes,
                    data: &data,
                },
                SegmentType::Get,
            ),
        }
    }
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Put to a request queue.
    PutRequest = 1,
    /// Get from a request queue, whichever message is first; waits.
    GetRequest = 2,
    /// Put to a reply queue.
    PutReply = 3,
    /// Get from a reply queue, the message with the identifier; waits.
    GetReply = 4,
    /// The put is done.
    Done = 5,
    /// The message that was asked for.
    Message = 6,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Kind> {
        [
            Kind::PutRequest,
            Kind::GetRequest,
            Kind::PutReply,
            Kind::GetReply,
            Kind::Done,
            Kind::Message,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
    }
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the frame, the header's included.
    pub(super) length: usize,
    /// What it is.
    pub(super) kind: Kind,
    /// Which pair of queues.
    pub(super) queue: u8,
    /// Joins request and reply.
    pub(super) identifier: u64,
}

impl Header {
    /// As bytes.
    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let length = u32::try_from(self.length).unwrap_or(u32::MAX);
        let (head, identifier) = bytes.split_at_mut(8);
        identifier.copy_from_slice(&self.identifier.to_le_bytes());
        let (first, rest) = head.split_at_mut(4);
        first.copy_from_slice(&length.to_le_bytes());
        rest.copy_from_slice(&[self.kind as u8, self.queue, 0, 0]);
        bytes
    }

    /// From the first bytes of a frame; `None` if there are fewer than a header or they are none.
    pub(super) fn decode(bytes: &[u8]) -> Option<Header> {
        let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let length = usize::try_from(length).ok()?;
        let header = Header {
            length,
            kind: Kind::from_byte(*bytes.get(4)?)?,
            queue: *bytes.get(5)?,
            identifier: u64::from_le_bytes(bytes.get(8..HEADER)?.try_into().ok()?),
        };
        (length >= HEADER).then_some(header)
    }

    /// Appends a frame: this header, and as much of `body` as fits, filled up with zeros.
    pub(super) fn append(&self, body: &[u8], out: &mut Vec<u8>) {
        let end = out.len() + self.length;
        out.extend_from_slice(&self.encode());
        let body = body.get(..self.length - HEADER).unwrap_or(body);
        out.extend_from_slice(body);
        out.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_real_exchange() {
        let small = Sizes::of(2048);
        // Version 1 of MQMD is 324 bytes, 2 is 364; MQPMO at least 128, MQGMO at least 72.
        assert!((2048 + 324 + 128..3000).contains(&small.put), "{small:?}");
        assert!((2048 + 324 + 72..3000).contains(&small.message));
        assert!((324 + 128..800).contains(&small.done));
        assert!((324 + 72..800).contains(&small.get));
        // Long messages are cut into segments, each with a header of its own.
        let large = Sizes::of(200 << 10);
        assert!(large.put - small.put >= (200 << 10) - 2048 + 6 * 28);
        assert_eq!(large.done, small.done);
    }

    #[test]
    fn headers_come_back_and_garbage_does_not() {
        let header = Header {
            length: 20,
            kind: Kind::GetReply,
            queue: 7,
            identifier: 0x0102_0304_0506_0708,
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
        let mut out = vec![9];
        header.append(b"abcdefgh", &mut out);
        assert_eq!(&out[1 + HEADER..], b"abcd");
        out.clear();
        header.append(b"a", &mut out);
        assert_eq!(&out[HEADER..], b"a\0\0\0");
        assert_eq!(Header::decode(&out[..15]), None);
        assert_eq!(Header::decode(&[0; 16]), None);
        let short = Header {
            length: 15,
            ..header
        };
        assert_eq!(Header::decode(&short.encode()), None);
    }
}
