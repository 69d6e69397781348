//! A reader over a segment's body that cannot run over its end.

use posthaste_mqi::{ByteOrder, Chars};

use crate::PeerMisbehaved;
use crate::segment::SegmentType;

/// Reads numbers and text in a segment's byte order. Running over the end is [`PeerMisbehaved::BodyTooShort`].
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
    kind: SegmentType,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], order: ByteOrder, kind: SegmentType) -> Self {
        Input {
            bytes,
            at: 0,
            order,
            kind,
        }
    }

    pub(crate) fn order(&self) -> ByteOrder {
        self.order
    }

    pub(crate) fn kind(&self) -> SegmentType {
        self.kind
    }

    /// How far the reader has come, from the start of the body.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], PeerMisbehaved> {
        let taken = self
            .rest()
            .get(..length)
            .ok_or(PeerMisbehaved::BodyTooShort(self.kind))?;
        self.at += length;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], PeerMisbehaved> {
        let taken = self
            .rest()
            .first_chunk::<N>()
            .ok_or(PeerMisbehaved::BodyTooShort(self.kind))?;
        self.at += N;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, PeerMisbehaved> {
        let [byte] = self.array::<1>()?;
        Ok(byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, PeerMisbehaved> {
        let bytes = self.array()?;
        Ok(match self.order {
            ByteOrder::Big => u16::from_be_bytes(bytes),
            ByteOrder::Little => u16::from_le_bytes(bytes),
        })
    }

    pub(crate) fn u32(&mut self) -> Result<u32, PeerMisbehaved> {
        let bytes = self.array()?;
        Ok(match self.order {
            ByteOrder::Big => u32::from_be_bytes(bytes),
            ByteOrder::Little => u32::from_le_bytes(bytes),
        })
    }

    pub(crate) fn i32(&mut self) -> Result<i32, PeerMisbehaved> {
        Ok(self.u32()?.cast_signed())
    }

    pub(crate) fn chars<const N: usize>(&mut self) -> Result<Chars<N>, PeerMisbehaved> {
        Ok(Chars::from_bytes(self.array()?))
    }

    /// The four characters that begin a structure.
    pub(crate) fn eye_catcher(&mut self, wanted: &[u8; 4]) -> Result<(), PeerMisbehaved> {
        if &self.array::<4>()? == wanted {
            Ok(())
        } else {
            Err(PeerMisbehaved::StructureUnknown(self.kind))
        }
    }
}
