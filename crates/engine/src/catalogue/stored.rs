//! A definition as bytes: in log records and in checkpoint images.
//!
//! Format: kind (1), queue number (8), name length (1; 255: two bytes with it follow), name, attribute set. The kinds' codes stand
//! in their rows; they are part of the format and never change.

use posthaste_command::{Attrs, Object, ObjectKind};

use crate::record::QueueId;

/// A definition with the number of its queue (0: not a local queue).
#[derive(Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) queue: QueueId,
    pub(crate) object: Object,
}

impl Stored {
    pub(crate) fn encode(object: &Object, queue: QueueId, out: &mut Vec<u8>) {
        out.push(object.kind.row().stored);
        out.extend_from_slice(&queue.to_le_bytes());
        // Whoever makes an object refuses a longer name.
        assert!(
            object.name.len() <= object.kind.name_length(),
            "a name was checked before it was kept"
        );
        put_name(&object.name, out);
        object.attrs.encode(out);
    }

    /// Reads one; returns it with the number of bytes used. `None`: these bytes are not one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Stored, usize)> {
        let kind = ObjectKind::stored_as(*bytes.first()?)?;
        let queue = QueueId::from_le_bytes(bytes.get(1..9)?.try_into().ok()?);
        let (name, rest) = take_name(bytes.get(9..)?)?;
        let (attrs, used) = Attrs::decode(rest)?;
        let used = bytes.len() - rest.len() + used;
        let object = Object {
            kind,
            name: name.to_owned(),
            attrs,
        };
        Some((Stored { queue, object }, used))
    }
}

/// Stands for a length that follows in two bytes.
const LONG: u8 = 255;

fn put_name(name: &str, out: &mut Vec<u8>) {
    match u8::try_from(name.len()) {
        Ok(length) if length < LONG => out.push(length),
        _ => {
            let length = u16::try_from(name.len());
            assert!(length.is_ok(), "no kind has names of this length");
            out.push(LONG);
            out.extend_from_slice(&length.unwrap_or_default().to_le_bytes());
        }
    }
    out.extend_from_slice(name.as_bytes());
}

/// A name, and what follows it.
fn take_name(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = match bytes {
        [LONG, low, high, rest @ ..] => (u16::from_le_bytes([*low, *high]), rest),
        [length, rest @ ..] => (u16::from(*length), rest),
        [] => return None,
    };
    let (name, rest) = rest.split_at_checked(usize::from(length))?;
    Some((std::str::from_utf8(name).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_round_trips() {
        let named = |kind: ObjectKind| {
            let longest = kind.name_length();
            let lengths = [0, 1, 254, 255, 256, longest].map(|length| length.min(longest));
            lengths.map(|length| Object {
                kind,
                name: "N".repeat(length),
                attrs: Attrs::defaults(kind),
            })
        };
        for object in ObjectKind::ALL.into_iter().flat_map(named) {
            let mut bytes = Vec::new();
            Stored::encode(&object, 7, &mut bytes);
            let used = bytes.len();
            bytes.push(9);
            assert_eq!(
                Stored::decode(&bytes),
                Some((Stored { queue: 7, object }, used))
            );
        }
    }
}
