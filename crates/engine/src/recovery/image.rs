//! What a checkpoint image and the log's anchor hold, as bytes.
//!
//! | section | content |
//! | --- | --- |
//! | 1 header | format, where the checkpoint began in the log, next queue number, tag seed, clean |
//! | 2 catalogue | every logged definition: the LSN of the record that made it so, then [`Stored`] |
//! | 3 queues | queue number, then the places and checksums of its saved chunks |
//! | 4 units | what is carried of units of work in doubt: the length of each row, then a log record, or a message in its queue's file (`unit/carried.rs`) |
//!
//! The anchor (in the log's control file) names the image to start from, the incarnation, where
//! the numbers of later runs begin, and by what the data folder is known (`identity.rs`). Its format
//! number stands for that of the log's records too: an anchor or image of another format is refused before
//! anything else is read.

use posthaste_recovery_log::Lsn;
use posthaste_store::{Place, Sealed, StoreError};

use crate::catalogue::Stored;
use crate::record::QueueId;
use crate::stop::StartError;

/// Sections of an image.
pub(crate) const HEADER: u32 = 1;
pub(crate) const CATALOGUE: u32 = 2;
pub(crate) const QUEUES: u32 = 3;
pub(crate) const UNITS: u32 = 4;

/// 2: definitions with LSNs, queue numbers of 64 bits, message numbers in the anchor. 3: gets with backout counts. 4:
/// saved chunks with checksums. 5: units of work in doubt. 6: what they have put by its place. 8: messages with
/// properties in front of their data. 10: messages with their origins.
const FORMAT: u32 = 10;
/// The same with the bodies of messages sealed. A release that cannot open them refuses the number.
const SEALED: u32 = 11;
/// What is read too: as the two, but of no message is an origin known. A start leaves an anchor of the formats above.
const WITHOUT_ORIGINS: u32 = 8;
const SEALED_WITHOUT_ORIGINS: u32 = 9;
/// And no message has properties in front of its data.
const WITHOUT_PROPERTIES: u32 = 6;
const SEALED_WITHOUT_PROPERTIES: u32 = 7;
/// Anchors only: as 10 and 11, with an identity behind. A release that does not know it would take it away.
const IDENTIFIED: u32 = 12;
const SEALED_IDENTIFIED: u32 = 13;
/// Stands for a chunk that has nothing saved.
const ABSENT: Sealed = Sealed {
    place: Place {
        block: u32::MAX,
        length: 0,
    },
    checksum: 0,
};

/// The log's anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) image: u64,
    pub(crate) incarnation: u32,
    /// No number below this is used by a later run.
    pub(crate) numbers: u64,
    /// Whether bodies are sealed in the log and in the files of queues.
    pub(crate) sealed: bool,
    /// `None`: an earlier release has written it.
    pub(crate) identity: Option<LogIdentity>,
}

/// By what a log is known, and the run that writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogIdentity {
    pub(crate) queue_manager: [u8; 16],
    pub(crate) run: u64,
    /// The run before that, or the same where there was none.
    pub(crate) before: u64,
}

impl Anchor {
    pub(crate) fn encode(self) -> Vec<u8> {
        let format = match (self.identity, self.sealed) {
            (None, sealed) => format(sealed),
            (Some(_), false) => IDENTIFIED,
            (Some(_), true) => SEALED_IDENTIFIED,
        };
        let mut out = format.to_le_bytes().to_vec();
        out.extend_from_slice(&self.image.to_le_bytes());
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.extend_from_slice(&self.numbers.to_le_bytes());
        if let Some(identity) = self.identity {
            out.extend_from_slice(&identity.queue_manager);
            out.extend_from_slice(&identity.run.to_le_bytes());
            out.extend_from_slice(&identity.before.to_le_bytes());
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StartError> {
        let mut fields = Fields(bytes);
        let found = fields.u32();
        let identified = matches!(found, Some(IDENTIFIED | SEALED_IDENTIFIED));
        let sealed = match found {
            Some(IDENTIFIED) => false,
            Some(SEALED_IDENTIFIED) => true,
            found => read_format("the log's control file", found)?,
        };
        let mut read = || {
            let (image, incarnation, numbers) = (fields.u64()?, fields.u32()?, fields.u64()?);
            let identity = match identified {
                true => Some(fields.identity()?),
                false => None,
            };
            Some(Anchor {
                image,
                incarnation,
                numbers,
                sealed,
                identity,
            })
        };
        read().ok_or_else(|| nonsense("the log's control file names no checkpoint image"))
    }
}

/// Section 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) begin: Lsn,
    pub(crate) next_queue: QueueId,
    pub(crate) tag_seed: u64,
    /// Written by a controlled shutdown: non-persistent messages in it may be kept.
    pub(crate) clean: bool,
    /// As in the anchor.
    pub(crate) sealed: bool,
}

impl Header {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = format(self.sealed).to_le_bytes().to_vec();
        out.extend_from_slice(&self.begin.0.to_le_bytes());
        out.extend_from_slice(&self.next_queue.to_le_bytes());
        out.extend_from_slice(&self.tag_seed.to_le_bytes());
        out.push(u8::from(self.clean));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StartError> {
        let mut fields = Fields(bytes);
        let sealed = read_format("the checkpoint image", fields.u32())?;
        let mut read = || {
            Some(Header {
                begin: Lsn(fields.u64()?),
                next_queue: fields.u64()?,
                tag_seed: fields.u64()?,
                clean: fields.0.first()? == &1,
                sealed,
            })
        };
        read().ok_or_else(|| nonsense("the checkpoint image has a header that is too short"))
    }
}

/// One definition of section 2.
#[derive(Debug, PartialEq)]
pub(crate) struct SavedObject {
    /// Where the log record begins that made it so; `Lsn(0)` for what the creation made.
    pub(crate) changed: Lsn,
    pub(crate) stored: Stored,
}

pub(crate) fn encode_catalogue(objects: &[SavedObject]) -> Vec<u8> {
    let mut out = Vec::new();
    for SavedObject { changed, stored } in objects {
        out.extend_from_slice(&changed.0.to_le_bytes());
        Stored::encode(&stored.object, stored.queue, &mut out);
    }
    out
}

pub(crate) fn decode_catalogue(bytes: &[u8]) -> Option<Vec<SavedObject>> {
    let mut fields = Fields(bytes);
    let mut out = Vec::new();
    while !fields.0.is_empty() {
        let changed = Lsn(fields.u64()?);
        let (stored, used) = Stored::decode(fields.0)?;
        out.push(SavedObject { changed, stored });
        fields.0 = fields.0.get(used..)?;
    }
    Some(out)
}

/// The sections of a new queue manager's image.
pub(crate) fn without_messages(header: Header, objects: &[SavedObject]) -> [(u32, Vec<u8>); 4] {
    [
        (HEADER, header.encode()),
        (CATALOGUE, encode_catalogue(objects)),
        (QUEUES, Vec::new()),
        (UNITS, Vec::new()),
    ]
}

/// One queue of section 3: its saved chunks in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedQueue {
    pub(crate) queue: QueueId,
    pub(crate) chunks: Vec<Option<Sealed>>,
}

pub(crate) fn encode_queues(queues: &[SavedQueue]) -> Vec<u8> {
    let mut out = Vec::new();
    for queue in queues {
        out.extend_from_slice(&queue.queue.to_le_bytes());
        out.extend_from_slice(&(queue.chunks.len() as u32).to_le_bytes());
        for chunk in &queue.chunks {
            let Sealed { place, checksum } = chunk.unwrap_or(ABSENT);
            for field in [place.block, place.length, checksum] {
                out.extend_from_slice(&field.to_le_bytes());
            }
        }
    }
    out
}

pub(crate) fn decode_queues(bytes: &[u8]) -> Option<Vec<SavedQueue>> {
    let mut fields = Fields(bytes);
    let mut out = Vec::new();
    while !fields.0.is_empty() {
        let (queue, count) = (fields.u64()?, fields.u32()?);
        let mut chunks = Vec::new();
        for _ in 0..count {
            let (block, length, checksum) = (fields.u32()?, fields.u32()?, fields.u32()?);
            let place = Place { block, length };
            chunks.push((block != ABSENT.place.block).then_some(Sealed { place, checksum }));
        }
        out.push(SavedQueue { queue, chunks });
    }
    Some(out)
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn identity(&mut self) -> Option<LogIdentity> {
        let (queue_manager, tail) = self.0.split_first_chunk::<16>()?;
        self.0 = tail;
        Some(LogIdentity {
            queue_manager: *queue_manager,
            run: self.u64()?,
            before: self.u64()?,
        })
    }
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

fn format(sealed: bool) -> u32 {
    match sealed {
        false => FORMAT,
        true => SEALED,
    }
}

/// Whether it is that of sealed bodies.
fn read_format(what: &str, found: Option<u32>) -> Result<bool, StartError> {
    match found {
        Some(FORMAT | WITHOUT_ORIGINS | WITHOUT_PROPERTIES) => Ok(false),
        Some(SEALED | SEALED_WITHOUT_ORIGINS | SEALED_WITHOUT_PROPERTIES) => Ok(true),
        found => Err(StartError::Store(StoreError::Version {
            file: what.to_owned(),
            found: found.unwrap_or(0),
            supported: SEALED_IDENTIFIED,
        })),
    }
}

/// The error of an image that passed its checksums and still makes no sense.
pub(crate) fn nonsense(what: &str) -> StartError {
    StartError::Inconsistent(what.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_round_trip() {
        let anchor = Anchor {
            image: 7,
            incarnation: 3,
            numbers: 5,
            sealed: false,
            identity: None,
        };
        for sealed in [false, true] {
            let anchor = Anchor { sealed, ..anchor };
            let identity = LogIdentity {
                queue_manager: [9; 16],
                run: 12,
                before: 11,
            };
            let identified = Anchor {
                identity: Some(identity),
                ..anchor
            };
            let bytes = identified.encode();
            assert_eq!((bytes[0], bytes.len()), (if sealed { 13 } else { 12 }, 56));
            assert_eq!(Anchor::decode(&bytes).unwrap(), identified);
            assert!(Anchor::decode(&bytes[..55]).is_err());
            assert_eq!(Anchor::decode(&anchor.encode()).unwrap(), anchor);
            let mut bytes = anchor.encode();
            assert_eq!(bytes[0], if sealed { 11 } else { 10 });
            // Those of releases before, which had the same fields.
            for _ in 0..2 {
                bytes[0] -= 2;
                assert_eq!(Anchor::decode(&bytes).unwrap(), anchor);
            }
        }
        let header = Header {
            begin: Lsn(4096),
            next_queue: 9,
            tag_seed: 11,
            clean: true,
            sealed: true,
        };
        assert_eq!(Header::decode(&header.encode()).unwrap(), header);
        let queues = vec![SavedQueue {
            queue: 2,
            chunks: vec![
                None,
                Some(Sealed {
                    place: Place {
                        block: 3,
                        length: 4,
                    },
                    checksum: 5,
                }),
            ],
        }];
        let bytes = encode_queues(&queues);
        assert_eq!(decode_queues(&bytes), Some(queues));
        for length in 1..bytes.len() {
            assert_eq!(decode_queues(&bytes[..length]), None, "{length}");
        }
    }
    #[test]
    fn another_format_is_refused_by_its_number() {
        let anchor = Anchor {
            image: 7,
            incarnation: 3,
            numbers: 5,
            sealed: false,
            identity: None,
        };
        let mut bytes = anchor.encode();
        bytes[0] = 1;
        let refused = Anchor::decode(&bytes).unwrap_err();
        assert!(
            matches!(
                &refused,
                StartError::Store(StoreError::Version { found: 1, .. })
            ),
            "{refused}"
        );
        assert_eq!(refused.exit_code(), 75);
    }
}
