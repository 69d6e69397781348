//! A definition as bytes: in log records and in checkpoint images.
//!
//! Format: kind (1), queue number (8), name length (1), name, attribute set. The kinds' codes are
//! part of the format and never change.

use posthaste_command::{Attrs, Object, ObjectKind};

use crate::record::QueueId;

/// The code of a kind.
pub(crate) fn kind_code(kind: ObjectKind) -> u8 {
    match kind {
        ObjectKind::Qmgr => 1,
        ObjectKind::QLocal => 2,
        ObjectKind::QModel => 3,
        ObjectKind::QAlias => 4,
        ObjectKind::QRemote => 5,
        ObjectKind::SvrConn => 6,
        ObjectKind::Listener => 7,
    }
}

/// The kind of a code.
pub(crate) fn kind_of(code: u8) -> Option<ObjectKind> {
    Some(match code {
        1 => ObjectKind::Qmgr,
        2 => ObjectKind::QLocal,
        3 => ObjectKind::QModel,
        4 => ObjectKind::QAlias,
        5 => ObjectKind::QRemote,
        6 => ObjectKind::SvrConn,
        7 => ObjectKind::Listener,
        _ => return None,
    })
}

/// A definition with the number of its queue (0: not a local queue).
#[derive(Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) queue: QueueId,
    pub(crate) object: Object,
}

impl Stored {
    pub(crate) fn encode(object: &Object, queue: QueueId, out: &mut Vec<u8>) {
        out.push(kind_code(object.kind));
        out.extend_from_slice(&queue.to_le_bytes());
        // Whoever makes an object refuses a longer name.
        assert!(
            object.name.len() <= object.kind.name_length(),
            "a name was checked before it was kept"
        );
        out.push(object.name.len() as u8);
        out.extend_from_slice(object.name.as_bytes());
        object.attrs.encode(out);
    }

    /// Reads one; returns it with the number of bytes used. `None`: these bytes are not one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Stored, usize)> {
        let kind = kind_of(*bytes.first()?)?;
        let queue = QueueId::from_le_bytes(bytes.get(1..9)?.try_into().ok()?);
        let length = usize::from(*bytes.get(9)?);
        let name = std::str::from_utf8(bytes.get(10..10 + length)?).ok()?;
        let (attrs, used) = Attrs::decode(bytes.get(10 + length..)?)?;
        let object = Object {
            kind,
            name: name.to_owned(),
            attrs,
        };
        Some((Stored { queue, object }, 10 + length + used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_round_trips() {
        for kind in ObjectKind::ALL {
            assert_eq!(kind_of(kind_code(kind)), Some(kind));
            let object = Object {
                kind,
                name: "A.NAME".to_owned(),
                attrs: Attrs::defaults(kind),
            };
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
