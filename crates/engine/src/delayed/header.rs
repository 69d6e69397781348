//! The header of a message on the staging queue: when it is due, and where and as what it is to be put then.
//!
//! Layout, little-endian: `PHDL`; version 4; bytes of the header; when it is due and when it expires (0: never), in
//! microseconds since 1970, 8 bytes each; options of the put; publication level; queue and queue manager, 48 bytes each;
//! bytes of the topic string; the number of the connection that put it, 8 bytes, which version 1 lacks; what version 2 lacks too: the
//! number of the queue here on which the message would have landed when it was put, 8 bytes (version 3: its name, 48 bytes, blank for one
//! elsewhere), with the highest bit set if it is one that the message would have been transmitted from (before that was written: 0), 1 if authorities were asked for (4), bytes of the user (4); the message descriptor, version 2; the topic string; the user
//! who put it. The message's data follow.

use posthaste_mqi::constants::MQMD_VERSION_2;
use posthaste_mqi::{ByteOrder, Chars, Md, Name, PointerSize};

use crate::record::QueueId;

/// The format of what is on the staging queue.
pub(crate) const FORMAT: &str = "PHDELAY";
const EYE_CATCHER: &[u8; 4] = b"PHDL";
const VERSION: u32 = 4;
/// Bytes before the message descriptor, and of that.
const FIXED: usize = 160;
const DESCRIPTOR: usize = 364;
/// Bytes of a user's name at most; beyond them he is nobody.
pub(crate) const LONGEST_USER: usize = 1024;
/// Bytes of the longest header: that of a topic string as long as one may be.
pub(crate) const LONGEST: usize = FIXED + DESCRIPTOR + 10_240 + LONGEST_USER;

/// Where a delayed message is to be put.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    /// A queue, and the queue manager's name if that is given.
    Queue(Name, Name),
    /// A topic string.
    Topic(String),
}

/// The queue here that a put lands on, as it is known again later. It is not its name: another one may have that by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// On none: the message is published; or it goes elsewhere, and it was not written by which queue. Stored as 0.
    Nowhere,
    /// On the one of this number, which no other has, over restarts too.
    On(QueueId),
    /// On the one of this number, from which it is transmitted. Stored with [`BY`].
    By(QueueId),
    /// On one that is not known again: a temporary one, whose number another may have after a crash. Stored as [`QueueId::MAX`].
    Unknown,
}

/// A number is that of a transmission queue. No queue's number has this bit: numbers are given one by one.
const BY: QueueId = 1 << 63;

impl Landing {
    fn number(self) -> QueueId {
        match self {
            Landing::Nowhere => 0,
            Landing::On(number) => number,
            Landing::By(number) => number | BY,
            Landing::Unknown => QueueId::MAX,
        }
    }

    fn of(number: QueueId) -> Landing {
        match number {
            0 => Landing::Nowhere,
            QueueId::MAX => Landing::Unknown,
            number if number & BY != 0 => Landing::By(number & !BY),
            number => Landing::On(number),
        }
    }

    /// Whether a queue is known again by it.
    pub(crate) fn is_known(self) -> bool {
        matches!(self, Landing::On(_) | Landing::By(_))
    }
}

/// See the head of this file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    /// Microseconds since 1970.
    pub(crate) due: i64,
    /// Microseconds since 1970; 0: never.
    pub(crate) expires: i64,
    /// Options of the put that mean something later on.
    pub(crate) options: i32,
    pub(crate) pub_level: i32,
    /// The number of the connection that put it, as no other has had it in any run; 0: nobody knows.
    pub(crate) publisher: u64,
    pub(crate) to: Place,
    /// Where it would have landed when it was put.
    pub(crate) landing: Landing,
    /// By whose authority; none: nobody asks.
    pub(crate) putter: Option<String>,
    /// An earlier release has put it, of which there is no word about the two.
    pub(crate) earlier: bool,
    /// The message's own descriptor, complete.
    pub(crate) md: Md,
}

fn field<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at + N)?.try_into().ok()
}

fn name(data: &[u8], at: usize) -> Option<Name> {
    Some(Chars::from_bytes(field::<48>(data, at)?))
}

/// The version of the header that data begin with; none: of none that is known.
fn version(data: &[u8]) -> Option<u32> {
    let version = u32::from_le_bytes(field(data, 4)?);
    (data.starts_with(EYE_CATCHER) && (1..=VERSION).contains(&version)).then_some(version)
}

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (queue, manager, topic) = match &self.to {
            Place::Queue(queue, manager) => (*queue, *manager, ""),
            Place::Topic(string) => (Name::default(), Name::default(), string.as_str()),
        };
        let user = self.putter.as_deref().unwrap_or_default();
        let length = FIXED + DESCRIPTOR + topic.len() + user.len();
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(EYE_CATCHER);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(length as u32).to_le_bytes());
        out.extend_from_slice(&self.due.to_le_bytes());
        out.extend_from_slice(&self.expires.to_le_bytes());
        out.extend_from_slice(&self.options.to_le_bytes());
        out.extend_from_slice(&self.pub_level.to_le_bytes());
        out.extend_from_slice(queue.as_bytes());
        out.extend_from_slice(manager.as_bytes());
        out.extend_from_slice(&(topic.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.publisher.to_le_bytes());
        out.extend_from_slice(&self.landing.number().to_le_bytes());
        out.extend_from_slice(&u32::from(self.putter.is_some()).to_le_bytes());
        out.extend_from_slice(&(user.len() as u32).to_le_bytes());
        let md = Md {
            version: MQMD_VERSION_2,
            ..self.md.clone()
        };
        md.encode(&mut out, ByteOrder::Little, PointerSize::Four);
        out.extend_from_slice(topic.as_bytes());
        out.extend_from_slice(user.as_bytes());
        out
    }

    /// Reads it from the beginning of a message, and says how long it is; none: there is no such header.
    pub(crate) fn decode(data: &[u8]) -> Option<(Header, usize)> {
        let version = version(data)?;
        let fixed = match version {
            1 => FIXED - 24,
            2 => FIXED - 16,
            3 => FIXED + 40,
            _ => FIXED,
        };
        let length = usize::try_from(u32::from_le_bytes(field(data, 8)?)).ok()?;
        let topic = usize::try_from(u32::from_le_bytes(field(data, 132)?)).ok()?;
        let earlier = version < 3;
        let word = |at: usize| field(data, at).map(u32::from_le_bytes);
        let landing = match version {
            1 | 2 => Landing::Nowhere,
            3 if name(data, 144)?.is_blank() => Landing::Nowhere,
            3 => Landing::Unknown,
            _ => Landing::of(QueueId::from_le_bytes(field(data, 144)?)),
        };
        let (checked, user) = match earlier {
            true => (0, 0),
            false => (word(fixed - 8)?, word(fixed - 4)? as usize),
        };
        let user_at = fixed.checked_add(DESCRIPTOR)?.checked_add(topic)?;
        if Some(length) != user_at.checked_add(user) || length > data.len() {
            return None;
        }
        let md = data.get(fixed..fixed + DESCRIPTOR)?;
        let (md, _) = Md::decode(md, ByteOrder::Little, PointerSize::Four).ok()?;
        let text = |from: usize, to: usize| String::from_utf8(data.get(from..to)?.to_vec()).ok();
        let topic = text(fixed + DESCRIPTOR, user_at)?;
        let user = text(user_at, length)?;
        let header = Header {
            due: i64::from_le_bytes(field(data, 12)?),
            expires: i64::from_le_bytes(field(data, 20)?),
            options: i32::from_le_bytes(field(data, 28)?),
            pub_level: i32::from_le_bytes(field(data, 32)?),
            publisher: match version {
                1 => 0,
                _ => u64::from_le_bytes(field(data, 136)?),
            },
            to: match topic.is_empty() {
                true => Place::Queue(name(data, 36)?, name(data, 84)?),
                false => Place::Topic(topic),
            },
            landing,
            putter: (checked == 1).then_some(user),
            earlier,
            md,
        };
        Some((header, length))
    }

    /// When a message on the staging queue is due; none: it is none of ours.
    pub(crate) fn due_of(front: &[u8]) -> Option<i64> {
        version(front)?;
        Some(i64::from_le_bytes(field(front, 12)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(to: Place) -> Header {
        Header {
            due: 1_700_000_000_000_000,
            expires: 0,
            options: 2,
            pub_level: 9,
            publisher: 7 << 40 | 5,
            to,
            landing: Landing::On(7),
            putter: Some("alice".to_owned()),
            earlier: false,
            md: Md {
                version: MQMD_VERSION_2,
                msg_id: [7; 24],
                ..Md::default()
            },
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let queue = Place::Queue(Name::new("Q"), Name::new("QM2"));
        for (to, landing) in [
            (queue.clone(), Landing::On(7)),
            (queue, Landing::By(7)),
            (Place::Topic("a/b".to_owned()), Landing::Nowhere),
            (
                Place::Queue(Name::new("T"), Name::default()),
                Landing::Unknown,
            ),
        ] {
            let header = Header {
                landing,
                ..header(to)
            };
            let mut data = header.encode();
            let length = data.len();
            assert_eq!(Header::due_of(&data), Some(header.due));
            data.extend_from_slice(b"data");
            assert_eq!(Header::decode(&data), Some((header, length)));
            for short in 0..length {
                assert_eq!(Header::decode(&data[..short]), None, "{short}");
            }
        }
    }

    #[test]
    fn those_of_earlier_versions_say_less() {
        let topic = Header {
            putter: None,
            ..header(Place::Topic("a/b".to_owned()))
        };
        for (version, publisher) in [(2, topic.publisher), (1, 0)] {
            let mut data = topic.encode();
            data.drain(144..160);
            if version == 1 {
                data.drain(136..144);
            }
            data[4] = version;
            let length = data.len();
            data[8..12].copy_from_slice(&(length as u32).to_le_bytes());
            let read = Header {
                publisher,
                landing: Landing::Nowhere,
                earlier: true,
                ..topic.clone()
            };
            assert_eq!(Header::due_of(&data), Some(read.due));
            assert_eq!(Header::decode(&data), Some((read, length)));
        }
    }

    /// Which queue of that name it was nobody knows.
    #[test]
    fn one_that_has_the_name_of_a_queue_does_not_know_the_queue() {
        for (name, landing) in [("BASE", Landing::Unknown), ("", Landing::Nowhere)] {
            let now = header(Place::Queue(Name::new("Q"), Name::default()));
            let mut data = now.encode();
            let length = data.len() + 40;
            data.splice(144..152, Name::new(name).as_bytes().iter().copied());
            data[4] = 3;
            data[8..12].copy_from_slice(&(length as u32).to_le_bytes());
            let read = Header { landing, ..now };
            assert_eq!(Header::decode(&data), Some((read, length)));
        }
    }

    #[test]
    fn what_is_no_header_is_none() {
        let mut data = header(Place::Topic("t".to_owned())).encode();
        data[4] = 5;
        assert_eq!(Header::decode(&data), None, "another version");
        data[0] = b'X';
        assert_eq!(Header::due_of(&data), None);
        assert_eq!(Header::due_of(b"PHDL"), None);
    }
}
