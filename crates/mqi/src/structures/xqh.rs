//! MQXQH, the transmission-queue header: version 1, 428 bytes.
//!
//! It stands in front of a message that waits on a transmission queue, and holds the
//! message's own descriptor, always as version 1.

use super::Md;
use crate::codec::{Reader, StructError, Writer};
use crate::{ByteOrder, Name, PointerSize, Reason};

/// Length of the part before the message descriptor.
const HEAD: usize = 104;

/// Transmission-queue header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Xqh {
    /// Queue the message is for.
    pub remote_q_name: Name,
    /// Queue manager of that queue.
    pub remote_q_mgr_name: Name,
    /// The message's own descriptor, version 1.
    pub msg_desc: Md,
}

impl Xqh {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 1).then_some(428)
    }

    /// Reads an MQXQH; a fault is MQRC_XQH_ERROR, also one in the descriptor inside it.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQXQH", Reason::XQH_ERROR);
        reader.eye_catcher(b"XQH ")?;
        reader.version(1, 1)?;
        let remote_q_name = reader.chars("RemoteQName")?;
        let remote_q_mgr_name = reader.chars("RemoteQMgrName")?;
        let rest = bytes.get(reader.at()..).unwrap_or_default();
        let (msg_desc, used) = Md::decode(rest, order, pointers)
            .map_err(|inner| reader.fault(inner.field, HEAD + inner.offset))?;
        if msg_desc.version != 1 {
            return Err(reader.fault("MsgDesc", HEAD + 4));
        }
        Ok((
            Self {
                remote_q_name,
                remote_q_mgr_name,
                msg_desc,
            },
            HEAD + used,
        ))
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        Writer::new(out, order, pointers)
            .bytes(b"XQH ")
            .i32(1)
            .chars(&self.remote_q_name)
            .chars(&self.remote_q_mgr_name);
        let version_1 = Md {
            version: 1,
            ..self.msg_desc.clone()
        };
        version_1.encode(out, order, pointers);
    }
}
