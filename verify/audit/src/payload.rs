//! What every message of the audit carries: who it is, and proof that it is whole.
//!
//! Invariant: [`Payload::read`] accepts a message only if every byte of it is the one that was put,
//! and the queue manager's descriptor agrees with it.

use posthaste_mqi::{ByteOrder, PointerSize, Rfh2};

use crate::history::{Id, UnitId};
use crate::stage::copied_to;

const MAGIC: &[u8; 8] = b"PHAUDIT1";
/// Bytes of the head, which is also the shortest message.
pub(crate) const HEAD: usize = 44;
const CRC_AT: usize = 40;

/// The head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    /// Number of the campaign, so that leftovers of another one are noticed.
    pub(crate) run: u64,
    pub(crate) id: Id,
    /// The unit of work it was put in.
    pub(crate) unit: Option<UnitId>,
    pub(crate) queue: u8,
    pub(crate) persistent: bool,
    pub(crate) priority: u8,
    /// Milliseconds; 0: never.
    pub(crate) expiry_ms: u32,
}

impl Payload {
    /// The message, `length` bytes long (at least [`HEAD`]).
    pub(crate) fn write(&self, length: usize) -> Vec<u8> {
        let length = length.max(HEAD);
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.run.to_le_bytes());
        out.extend_from_slice(&self.id.worker.to_le_bytes());
        out.extend_from_slice(&self.id.number.to_le_bytes());
        let unit = self.unit.map_or(0, |unit| unit.number + 1);
        out.extend_from_slice(&unit.to_le_bytes());
        let persistent = u8::from(self.persistent);
        out.extend_from_slice(&[self.queue, persistent, self.priority, 0]);
        out.extend_from_slice(&self.expiry_ms.to_le_bytes());
        let stated = u32::try_from(length).unwrap_or(u32::MAX);
        out.extend_from_slice(&stated.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        let mut filler = u64::from(self.id.worker) << 32 | u64::from(self.id.number) | 1;
        while out.len() < length {
            // xorshift64: bytes that differ from message to message.
            filler ^= filler << 13;
            filler ^= filler >> 7;
            filler ^= filler << 17;
            let more = (length - out.len()).min(8);
            out.extend(filler.to_le_bytes().into_iter().take(more));
        }
        let crc = crc32fast::hash(&out).to_le_bytes();
        for (to, from) in out.iter_mut().skip(CRC_AT).zip(crc) {
            *to = from;
        }
        out
    }

    /// Reads a message, whole; one that was delayed behind the header that says so.
    pub(crate) fn read(bytes: &[u8], run: u64) -> Result<Payload, String> {
        let bytes = behind_header(bytes)?;
        let (Some(head), Some(rest)) = (bytes.first_chunk::<HEAD>(), bytes.get(HEAD..)) else {
            return Err(format!("it has {} bytes, fewer than its head", bytes.len()));
        };
        let word = |at: usize| {
            let bytes = head.iter().skip(at).take(4);
            bytes.rev().fold(0_u32, |sum, b| sum << 8 | u32::from(*b))
        };
        if !head.starts_with(MAGIC) {
            return Err("it does not begin like a message of the audit".to_owned());
        }
        let found = u64::from(word(12)) << 32 | u64::from(word(8));
        let id = Id {
            worker: word(16),
            number: word(20),
        };
        if found != run {
            return Err(format!("message {id} is of another campaign"));
        }
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(head.get(..CRC_AT).unwrap_or_default());
        hasher.update(&[0; 4]);
        hasher.update(rest);
        if hasher.finalize() != word(CRC_AT) {
            return Err(format!("message {id} has a wrong checksum"));
        }
        if word(36) as usize != bytes.len() {
            return Err(format!(
                "message {id} has {} bytes and was put with {}",
                bytes.len(),
                word(36)
            ));
        }
        let [queue, persistent, priority, _] = word(28).to_le_bytes();
        Ok(Payload {
            run,
            id,
            unit: word(24).checked_sub(1).map(|number| UnitId {
                worker: id.worker,
                number,
            }),
            queue,
            persistent: persistent == 1,
            priority,
            expiry_ms: word(32),
        })
    }

    /// What it is on the queue where it was found, if that and its descriptor agree with what was put. A publication, and what is
    /// put to a list, is another message on each of its queues.
    pub(crate) fn found(
        mut self,
        queue: u8,
        persistence: i32,
        priority: i32,
    ) -> Result<Payload, String> {
        if let Some(copies) = copied_to(self.queue)
            && let Some(number) = (0..).zip(copies).find(|(_, to)| **to == queue)
        {
            self.id.number += number.0;
            self.queue = queue;
        }
        let wrong = |what: &str, was: i32, is: i32| {
            Err(format!(
                "message {} was put with {what} {was} and arrives with {is}",
                self.id
            ))
        };
        if self.queue != queue {
            return wrong("queue", i32::from(self.queue), i32::from(queue));
        }
        if i32::from(self.persistent) != persistence {
            return wrong("persistence", i32::from(self.persistent), persistence);
        }
        if i32::from(self.priority) != priority {
            return wrong("priority", i32::from(self.priority), priority);
        }
        Ok(self)
    }
}

/// The message in the header that has it delayed so many milliseconds.
pub(crate) fn behind_delay(milliseconds: u64, message: &[u8]) -> Vec<u8> {
    let header = Rfh2 {
        folders: vec![format!("<mqext><Dly>{milliseconds}</Dly></mqext>")],
        ..Rfh2::default()
    };
    let mut out = Vec::new();
    header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
    out.extend_from_slice(message);
    out
}

fn behind_header(bytes: &[u8]) -> Result<&[u8], String> {
    if bytes.starts_with(MAGIC) || !bytes.starts_with(b"RFH ") {
        return Ok(bytes);
    }
    let read = Rfh2::decode(bytes, ByteOrder::Big, PointerSize::Four);
    let (_, length) = read.map_err(|error| format!("its header cannot be read: {error:?}"))?;
    bytes
        .get(length..)
        .ok_or_else(|| "it ends in its header".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{LISTS, QUEUES, TOPICS, list_code, subscribers, topic_code};
    use crate::worker::{BUFFER, LARGEST, LONGEST_DELAY};

    fn sample() -> Payload {
        Payload {
            run: 0x1122_3344_5566_7788,
            id: Id {
                worker: 70_001,
                number: 9,
            },
            unit: Some(UnitId {
                worker: 70_001,
                number: 0,
            }),
            queue: 3,
            persistent: true,
            priority: 7,
            expiry_ms: 1_500,
        }
    }

    #[test]
    fn a_message_comes_back_as_it_was_put() {
        for length in [0, HEAD, HEAD + 1, HEAD + 8, 5_000] {
            let bytes = sample().write(length);
            assert_eq!(bytes.len(), length.max(HEAD));
            assert_eq!(Payload::read(&bytes, sample().run), Ok(sample()));
        }
        let alone = Payload {
            unit: None,
            persistent: false,
            ..sample()
        };
        assert_eq!(Payload::read(&alone.write(100), alone.run), Ok(alone));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let whole = sample().write(200);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                assert!(Payload::read(&bytes, sample().run).is_err(), "{at}.{bit}");
            }
        }
        for length in 0..whole.len() {
            assert!(Payload::read(&whole[..length], sample().run).is_err());
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(Payload::read(&longer, sample().run).is_err());
        assert!(Payload::read(&whole, 1).unwrap_err().contains("campaign"));
    }

    #[test]
    fn the_descriptor_must_agree() {
        let payload = sample();
        assert_eq!(payload.found(3, 1, 7), Ok(payload));
        for (queue, persistence, priority, word) in [
            (2, 1, 7, "queue"),
            (3, 0, 7, "persistence"),
            (3, 1, 4, "priority"),
        ] {
            let error = payload.found(queue, persistence, priority).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_delayed_message_is_read_behind_its_header() {
        let (delayed, payload) = (behind_delay(150, &sample().write(100)), sample());
        assert_eq!(Payload::read(&delayed, payload.run), Ok(payload));
        for at in 40..delayed.len() {
            assert!(Payload::read(&delayed[..at], payload.run).is_err(), "{at}");
        }
    }

    #[test]
    fn the_longest_message_fits_the_buffer_behind_the_longest_header() {
        let longest = behind_delay(LONGEST_DELAY, &sample().write(LARGEST));
        assert!(longest.len() <= BUFFER, "{}", longest.len());
    }

    #[test]
    fn a_publication_is_another_message_on_each_of_its_queues() {
        let topics = (0..TOPICS.len()).map(|topic| (topic_code(topic), subscribers(topic)));
        let lists = (0..LISTS.len()).map(|list| (list_code(list), LISTS[list]));
        for (code, queues) in topics.chain(lists) {
            let payload = Payload {
                queue: code,
                ..sample()
            };
            for queue in 0..QUEUES.len() as u8 {
                let found = payload.found(queue, 1, 7);
                let at = queues.iter().position(|to| *to == queue);
                let number = at.map(|at| 9 + at as u32);
                assert_eq!(found.map(|found| found.id.number).ok(), number);
            }
        }
    }
}
