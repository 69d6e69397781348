//! What requests and replies of every kind are read with: why one could not be, structures and data in it, and the
//! defaults of a queue that go both ways.
//!
//! Invariant: bytes that a peer says are there are taken only when they are.

use bytes::Bytes;
use posthaste_mqi::{ByteOrder, PointerSize, Reason, StructError};

use crate::PeerMisbehaved;
use crate::flow::Body;
use crate::input::Input;

/// Pointers in structures on the wire have four bytes, whatever the machine.
pub(crate) const WIRE: PointerSize = PointerSize::Four;

/// Why a request could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// The peer broke the protocol; the channel ends.
    Peer(PeerMisbehaved),
    /// The application passed something wrong; the verb fails with this reason.
    Verb(Reason),
}

impl From<PeerMisbehaved> for DecodeError {
    fn from(error: PeerMisbehaved) -> Self {
        DecodeError::Peer(error)
    }
}

impl From<StructError> for DecodeError {
    fn from(error: StructError) -> Self {
        DecodeError::Verb(error.reason)
    }
}

/// The message that follows: its length and where it lies.
pub(crate) fn read_data(input: &mut Input<'_>, body: &Body<'_>) -> Result<Bytes, PeerMisbehaved> {
    let length = usize::try_from(input.u32()?).unwrap_or(usize::MAX);
    body.cut(input.at(), length)
        .ok_or(PeerMisbehaved::DataLengthWrong(input.kind()))
}

/// Reads a structure with `decode`, checking that its bytes are there.
pub(crate) fn read_structure<T>(
    input: &mut Input<'_>,
    decode: impl FnOnce(&[u8], ByteOrder, PointerSize) -> Result<(T, usize), StructError>,
) -> Result<T, DecodeError> {
    let (value, used) = decode(input.rest(), input.order(), WIRE)?;
    input.take(used)?;
    Ok(value)
}

/// The same, over a value where it is to stay.
pub(crate) fn read_over(
    input: &mut Input<'_>,
    decode: impl FnOnce(&[u8], ByteOrder, PointerSize) -> Result<usize, StructError>,
) -> Result<(), DecodeError> {
    let used = decode(input.rest(), input.order(), WIRE)?;
    input.take(used)?;
    Ok(())
}

/// What an open tells the client about the queue's defaults, in MQOPEN (FOPA) and SPI OPEN (LPOO). -1: not said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenDefaults {
    /// DEFPSIST.
    pub persistence: i32,
    /// DEFPRESP: 1 synchronous, 2 asynchronous.
    pub put_response: i32,
    /// DEFREADA: 0 no, 1 yes, 2 disabled.
    pub read_ahead: i32,
    /// PROPCTL.
    pub property_control: i32,
}

impl Default for OpenDefaults {
    fn default() -> Self {
        OpenDefaults {
            persistence: -1,
            put_response: -1,
            read_ahead: -1,
            property_control: -1,
        }
    }
}

impl OpenDefaults {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<OpenDefaults, PeerMisbehaved> {
        Ok(OpenDefaults {
            persistence: input.i32()?,
            put_response: input.i32()?,
            read_ahead: input.i32()?,
            property_control: input.i32()?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        for value in [
            self.persistence,
            self.put_response,
            self.read_ahead,
            self.property_control,
        ] {
            order.put_i32(out, value);
        }
    }

    pub(crate) fn read_fopa(input: &mut Input<'_>) -> Result<OpenDefaults, PeerMisbehaved> {
        input.eye_catcher(b"FOPA")?;
        let (_version, _length) = (input.u32()?, input.u32()?);
        Self::read(input)
    }

    pub(crate) fn write_fopa(&self, out: &mut Vec<u8>, order: ByteOrder) {
        out.extend_from_slice(b"FOPA");
        order.put_u32(out, 1);
        order.put_u32(out, 28);
        self.write(out, order);
    }
}
