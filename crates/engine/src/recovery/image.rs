//! What a checkpoint image and the log's anchor hold, as bytes.
//!
//! | section | content |
//! | --- | --- |
//! | 1 header | format, where the checkpoint began in the log, next queue number, tag seed, clean |
//! | 2 catalogue | every logged definition ([`Stored`]) one after another |
//! | 3 queues | queue number, then the places of its saved chunks |
//!
//! The anchor (in the log's control file) names the image to start from and the incarnation.

use posthaste_command::Object;
use posthaste_recovery_log::Lsn;
use posthaste_store::Place;

use crate::catalogue::Stored;
use crate::record::QueueId;
use crate::stop::StartError;

/// Sections of an image.
pub(crate) const HEADER: u32 = 1;
pub(crate) const CATALOGUE: u32 = 2;
pub(crate) const QUEUES: u32 = 3;

const FORMAT: u32 = 1;
const NO_PLACE: u32 = u32::MAX;

/// The log's anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) image: u64,
    pub(crate) incarnation: u32,
}

impl Anchor {
    pub(crate) fn encode(self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..4].copy_from_slice(&FORMAT.to_le_bytes());
        out[4..12].copy_from_slice(&self.image.to_le_bytes());
        out[12..].copy_from_slice(&self.incarnation.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        (fields.u32()? == FORMAT).then_some(())?;
        Some(Anchor {
            image: fields.u64()?,
            incarnation: fields.u32()?,
        })
    }
}

/// Section 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) begin: Lsn,
    pub(crate) next_queue: u32,
    pub(crate) tag_seed: u64,
    /// Written by a controlled shutdown: non-persistent messages in it may be kept.
    pub(crate) clean: bool,
}

impl Header {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = FORMAT.to_le_bytes().to_vec();
        out.extend_from_slice(&self.begin.0.to_le_bytes());
        out.extend_from_slice(&self.next_queue.to_le_bytes());
        out.extend_from_slice(&self.tag_seed.to_le_bytes());
        out.push(u8::from(self.clean));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        (fields.u32()? == FORMAT).then_some(())?;
        Some(Header {
            begin: Lsn(fields.u64()?),
            next_queue: fields.u32()?,
            tag_seed: fields.u64()?,
            clean: fields.0.first()? == &1,
        })
    }
}

/// Section 2.
pub(crate) fn encode_catalogue(objects: &[(Object, QueueId)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (object, queue) in objects {
        Stored::encode(object, *queue, &mut out);
    }
    out
}

pub(crate) fn decode_catalogue(mut bytes: &[u8]) -> Option<Vec<Stored>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let (stored, used) = Stored::decode(bytes)?;
        out.push(stored);
        bytes = bytes.get(used..)?;
    }
    Some(out)
}

/// One queue of section 3: its saved chunks in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedQueue {
    pub(crate) queue: QueueId,
    pub(crate) chunks: Vec<Option<Place>>,
}

pub(crate) fn encode_queues(queues: &[SavedQueue]) -> Vec<u8> {
    let mut out = Vec::new();
    for queue in queues {
        out.extend_from_slice(&queue.queue.to_le_bytes());
        out.extend_from_slice(&(queue.chunks.len() as u32).to_le_bytes());
        for place in &queue.chunks {
            let (block, length) = place.map_or((NO_PLACE, 0), |p| (p.block, p.length));
            out.extend_from_slice(&block.to_le_bytes());
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
    out
}

pub(crate) fn decode_queues(bytes: &[u8]) -> Option<Vec<SavedQueue>> {
    let mut fields = Fields(bytes);
    let mut out = Vec::new();
    while !fields.0.is_empty() {
        let (queue, count) = (fields.u32()?, fields.u32()?);
        let mut chunks = Vec::new();
        for _ in 0..count {
            let (block, length) = (fields.u32()?, fields.u32()?);
            chunks.push((block != NO_PLACE).then_some(Place { block, length }));
        }
        out.push(SavedQueue { queue, chunks });
    }
    Some(out)
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (head, tail) = self.0.split_first_chunk::<4>()?;
        self.0 = tail;
        Some(u32::from_le_bytes(*head))
    }
    fn u64(&mut self) -> Option<u64> {
        let (head, tail) = self.0.split_first_chunk::<8>()?;
        self.0 = tail;
        Some(u64::from_le_bytes(*head))
    }
}

/// The error of an image that passed its checksums and still makes no sense.
pub(crate) fn nonsense(what: &str) -> StartError {
    StartError::Inconsistent(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_round_trip() {
        let anchor = Anchor {
            image: 7,
            incarnation: 3,
        };
        assert_eq!(Anchor::decode(&anchor.encode()), Some(anchor));
        let header = Header {
            begin: Lsn(4096),
            next_queue: 9,
            tag_seed: 11,
            clean: true,
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
        let queues = vec![SavedQueue {
            queue: 2,
            chunks: vec![
                None,
                Some(Place {
                    block: 3,
                    length: 4,
                }),
            ],
        }];
        let bytes = encode_queues(&queues);
        assert_eq!(decode_queues(&bytes), Some(queues));
        for length in 1..bytes.len() {
            assert_eq!(decode_queues(&bytes[..length]), None, "{length}");
        }
    }
}
