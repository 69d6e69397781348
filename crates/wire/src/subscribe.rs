//! MQSUB, MQSUBRQ and SPI SUBSCRIBE: requests for publications. The descriptors are the MQI's, with pointers of four
//! bytes and their strings behind them.

use posthaste_mqi::{ByteOrder, Hobj, Name, Sd, Sro};

use crate::decode::{DecodeError, WIRE, read_structure};
use crate::input::Input;

/// Options of the LSD that a subscription of JMS has when several connections may use it.
const SHARED: u32 = 0x50;
/// The one that says by its identifier which subscription is used, beside others.
const JOINS: u32 = 0x2_0000;

/// MQSUB; the body of its reply too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubRequest {
    /// [`Hobj::UNUSABLE`] in a request, the subscription's handle in a reply.
    pub subscription: Hobj,
    /// Always 0.
    pub reserved: u32,
    /// The subscription.
    pub sd: Sd,
}

impl SubRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<SubRequest, DecodeError> {
        Ok(SubRequest {
            subscription: Hobj(input.i32()?),
            reserved: input.u32()?,
            sd: read_structure(input, Sd::decode)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.subscription.0);
        order.put_u32(out, self.reserved);
        self.sd.encode(out, order, WIRE);
    }
}

/// MQSUBRQ; the body of its reply too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubRqRequest {
    /// MQSR_* action.
    pub action: i32,
    /// Options; in a reply, how many publications were sent.
    pub sro: Sro,
}

impl SubRqRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<SubRqRequest, DecodeError> {
        Ok(SubRqRequest {
            action: input.i32()?,
            sro: read_structure(input, Sro::decode)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.action);
        self.sro.encode(out, order, WIRE);
    }
}

/// SPI SUBSCRIBE; the body of its reply too. What has no known meaning is kept as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpiSubscribe {
    /// 0 in a request, the subscription's handle in a reply.
    pub subscription: Hobj,
    /// LSD offset 8: what is asked for beyond MQSO_* options.
    pub lsd_options: u32,
    /// LSD offsets 12 to 31.
    pub head: [u8; 20],
    /// The subscription's identifier: in a reply, and in a request that joins one that is in use.
    pub id: [u8; 24],
    /// LSD offsets 56 to 59.
    pub behind_id: [u8; 4],
    /// Options with which the managed queue is opened.
    pub open_options: i32,
    /// The managed queue.
    pub queue: Name,
    /// Its queue manager.
    pub q_mgr: Name,
    /// LSD offsets 160 to 183.
    pub middle: [u8; 24],
    /// LSD offsets 184, 188 and 192.
    pub tail: [u32; 3],
    /// The subscription.
    pub sd: Sd,
}

impl SpiSubscribe {
    /// Whether it is to use, beside others, the subscription that has this identifier: sessions of a connection consumer do.
    pub fn joins(&self) -> bool {
        self.lsd_options & JOINS != 0
    }

    /// Whether several connections may use the subscription at a time.
    pub fn is_shared(&self) -> bool {
        self.lsd_options & SHARED == SHARED
    }

    pub(crate) fn read(input: &mut Input<'_>) -> Result<SpiSubscribe, DecodeError> {
        let subscription = Hobj(input.i32()?);
        input.eye_catcher(b"LSD ")?;
        let _version = input.u32()?;
        Ok(SpiSubscribe {
            subscription,
            lsd_options: input.u32()?,
            head: input.array()?,
            id: input.array()?,
            behind_id: input.array()?,
            open_options: input.i32()?,
            queue: input.chars()?,
            q_mgr: input.chars()?,
            middle: input.array()?,
            tail: [input.u32()?, input.u32()?, input.u32()?],
            sd: read_structure(input, Sd::decode)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.subscription.0);
        out.extend_from_slice(b"LSD ");
        order.put_u32(out, 1);
        order.put_u32(out, self.lsd_options);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&self.behind_id);
        order.put_i32(out, self.open_options);
        out.extend_from_slice(self.queue.as_bytes());
        out.extend_from_slice(self.q_mgr.as_bytes());
        out.extend_from_slice(&self.middle);
        for value in self.tail {
            order.put_u32(out, value);
        }
        self.sd.encode(out, order, WIRE);
    }
}

#[cfg(test)]
mod tests {
    use posthaste_mqi::Reason;

    use super::*;
    use crate::segment::SegmentType;

    fn read(bytes: &[u8]) -> Result<Sd, DecodeError> {
        let mut input = Input::new(bytes, ByteOrder::Big, SegmentType::Sub);
        read_structure(&mut input, Sd::decode)
    }

    /// Their offsets may all name the same bytes, so what is copied is no matter of the body's length.
    #[test]
    fn strings_are_no_longer_than_the_interface_allows() {
        let with = |length: usize| Sd {
            object_string: "x".repeat(length),
            ..Sd::default()
        };
        let mut bytes = Vec::new();
        with(10_240).encode(&mut bytes, ByteOrder::Big, WIRE);
        assert_eq!(read(&bytes), Ok(with(10_240)));
        bytes.clear();
        with(10_241).encode(&mut bytes, ByteOrder::Big, WIRE);
        let one = bytes.get(116..136).unwrap_or(&[]).to_vec();
        for (at, reason) in [
            (116, Reason::OBJECT_STRING_ERROR),
            (136, Reason::SUB_NAME_ERROR),
            (156, Reason::SUB_USER_DATA_ERROR),
            (268, Reason::SELECTION_STRING_ERROR),
            (292, Reason::RES_OBJECT_STRING_ERROR),
        ] {
            let mut bytes = bytes.clone();
            bytes[116..136].fill(0);
            bytes[at..at + 20].copy_from_slice(&one);
            assert_eq!(read(&bytes), Err(DecodeError::Verb(reason)), "{at}");
        }
    }
}
