//! MQSRO, the options of a subscription request: version 1, 16 bytes.

use crate::codec::{Reader, StructError, Writer};
use crate::constants::MQSRO_NONE;
use crate::{ByteOrder, PointerSize, Reason};

/// Options of MQSUBRQ, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sro {
    /// Structure version, 1.
    pub version: i32,
    /// Options (MQSRO_).
    pub options: i32,
    /// Given back: publications sent to the subscription's destination.
    pub num_pubs: i32,
}

impl Default for Sro {
    fn default() -> Self {
        Self {
            version: 1,
            options: MQSRO_NONE,
            num_pubs: 0,
        }
    }
}

impl Sro {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 1).then_some(16)
    }

    /// Reads an MQSRO; a fault is MQRC_SRO_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQSRO", Reason::SRO_ERROR);
        reader.eye_catcher(b"SRO ")?;
        let value = Self {
            version: reader.version(1, 1)?,
            options: reader.i32("Options")?,
            num_pubs: reader.i32("NumPubs")?,
        };
        Ok((value, reader.at()))
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        Writer::new(out, order, pointers)
            .bytes(b"SRO ")
            .i32(1)
            .i32(self.options)
            .i32(self.num_pubs);
    }
}
