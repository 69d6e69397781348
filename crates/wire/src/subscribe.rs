//! MQSUB, MQSUBRQ and SPI SUBSCRIBE: requests for publications.

use posthaste_mqi::{ByteOrder, Chars, CorrelId, Hobj, Name, Reason};

use crate::PeerMisbehaved;
use crate::decode::DecodeError;
use crate::input::Input;

/// Length of MQSD version 1 with four-byte pointers, before its strings.
const SD_LENGTH: usize = 312;
/// The longest string of an MQSD, in bytes (manual: "MQSD", its strings of type MQCHARV).
const LONGEST_STRING: usize = 10_240;
/// Coded character set of strings of variable length.
const UTF_8: u32 = 1208;

/// A string of variable length (MQCHARV) and the room its owner has for an answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VarString {
    /// The text, in the character set its owner stated.
    pub text: Vec<u8>,
    /// Bytes the owner has room for; 0 where nothing is given back.
    pub room: u32,
}

/// MQSD version 1: what is subscribed to, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sd {
    /// MQSO_* options.
    pub options: i32,
    /// Topic object.
    pub object_name: Name,
    /// Alternate user.
    pub alternate_user_id: Chars<12>,
    /// Its security identifier.
    pub alternate_security_id: [u8; 40],
    /// Life of the subscription in tenths of a second; -1 for ever.
    pub sub_expiry: i32,
    /// Topic string.
    pub object_string: VarString,
    /// Name of the subscription.
    pub sub_name: VarString,
    /// Data of the subscriber's own.
    pub sub_user_data: VarString,
    /// Correlation identifier of the publications.
    pub sub_correl_id: CorrelId,
    /// Priority of the publications.
    pub pub_priority: i32,
    /// Accounting token of the publications.
    pub pub_accounting_token: [u8; 32],
    /// Identity data of the publications.
    pub pub_appl_identity_data: Chars<32>,
    /// Selector.
    pub selection_string: VarString,
    /// Level among intercepting subscribers.
    pub sub_level: i32,
    /// The whole topic string, in replies.
    pub res_object_string: VarString,
}

impl Default for Sd {
    fn default() -> Self {
        Sd {
            options: 0,
            object_name: Name::default(),
            alternate_user_id: Chars::default(),
            alternate_security_id: [0; 40],
            sub_expiry: -1,
            object_string: VarString::default(),
            sub_name: VarString::default(),
            sub_user_data: VarString::default(),
            sub_correl_id: [0; 24],
            pub_priority: -3,
            pub_accounting_token: [0; 32],
            pub_appl_identity_data: Chars::default(),
            selection_string: VarString::default(),
            sub_level: 1,
            res_object_string: VarString::default(),
        }
    }
}

/// Reads an MQCHARV whose offset counts from the start of `owner`. `longer`: why the verb fails if it is too long.
fn read_string(
    input: &mut Input<'_>,
    owner: &[u8],
    longer: Reason,
) -> Result<VarString, DecodeError> {
    let wrong = || DecodeError::Peer(PeerMisbehaved::BodyTooShort(input.kind()));
    let (bytes, order) = (input.rest().get(..20).ok_or_else(wrong)?, input.order());
    let mut fields = Input::new(bytes, order, input.kind());
    let _pointer = fields.u32()?;
    let offset = fields.i32()?;
    let room = fields.u32()?;
    let length = fields.i32()?;
    let start = usize::try_from(offset).map_err(|_| wrong())?;
    let length = usize::try_from(length).map_err(|_| wrong())?;
    let text = match length {
        0 => Vec::new(),
        length if length > LONGEST_STRING => return Err(DecodeError::Verb(longer)),
        _ => start
            .checked_add(length)
            .and_then(|end| owner.get(start..end))
            .ok_or_else(wrong)?
            .to_vec(),
    };
    input.take(20)?;
    Ok(VarString { text, room })
}

impl Sd {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<Sd, DecodeError> {
        let owner = input.rest();
        if input.eye_catcher(b"SD  ").is_err() {
            return Err(DecodeError::Verb(Reason::SD_ERROR));
        }
        if input.u32()? != 1 {
            return Err(DecodeError::Verb(Reason::SD_ERROR));
        }
        let sd = Sd {
            options: input.i32()?,
            object_name: input.chars()?,
            alternate_user_id: input.chars()?,
            alternate_security_id: input.array()?,
            sub_expiry: input.i32()?,
            object_string: read_string(input, owner, Reason::OBJECT_STRING_ERROR)?,
            sub_name: read_string(input, owner, Reason::SUB_NAME_ERROR)?,
            sub_user_data: read_string(input, owner, Reason::SUB_USER_DATA_ERROR)?,
            sub_correl_id: input.array()?,
            pub_priority: input.i32()?,
            pub_accounting_token: input.array()?,
            pub_appl_identity_data: input.chars()?,
            selection_string: read_string(input, owner, Reason::SELECTION_STRING_ERROR)?,
            sub_level: input.i32()?,
            res_object_string: read_string(input, owner, Reason::RES_OBJECT_STRING_ERROR)?,
        };
        Ok(sd)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        let mut at = SD_LENGTH;
        let mut strings = Vec::new();
        let mut string = |out: &mut Vec<u8>, value: &VarString| {
            order.put_u32(out, 0);
            order.put_u32(out, u32::try_from(at).unwrap_or(u32::MAX));
            order.put_u32(out, value.room);
            order.put_u32(out, u32::try_from(value.text.len()).unwrap_or(u32::MAX));
            order.put_u32(out, UTF_8);
            strings.extend_from_slice(&value.text);
            strings.resize(strings.len().next_multiple_of(4), 0);
            at = SD_LENGTH + strings.len();
        };
        out.extend_from_slice(b"SD  ");
        order.put_u32(out, 1);
        order.put_i32(out, self.options);
        out.extend_from_slice(self.object_name.as_bytes());
        out.extend_from_slice(self.alternate_user_id.as_bytes());
        out.extend_from_slice(&self.alternate_security_id);
        order.put_i32(out, self.sub_expiry);
        string(out, &self.object_string);
        string(out, &self.sub_name);
        string(out, &self.sub_user_data);
        out.extend_from_slice(&self.sub_correl_id);
        order.put_i32(out, self.pub_priority);
        out.extend_from_slice(&self.pub_accounting_token);
        out.extend_from_slice(self.pub_appl_identity_data.as_bytes());
        string(out, &self.selection_string);
        order.put_i32(out, self.sub_level);
        string(out, &self.res_object_string);
        out.extend_from_slice(&strings);
    }
}

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
            sd: Sd::read(input)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.subscription.0);
        order.put_u32(out, self.reserved);
        self.sd.write(out, order);
    }
}

/// MQSUBRQ; the body of its reply too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubRqRequest {
    /// MQSR_* action.
    pub action: i32,
    /// MQSRO options.
    pub options: i32,
    /// Publications sent, in a reply.
    pub publications: i32,
}

impl SubRqRequest {
    pub(crate) fn read(input: &mut Input<'_>) -> Result<SubRqRequest, DecodeError> {
        let action = input.i32()?;
        if input.eye_catcher(b"SRO ").is_err() || input.u32()? != 1 {
            return Err(DecodeError::Verb(Reason::SRO_ERROR));
        }
        Ok(SubRqRequest {
            action,
            options: input.i32()?,
            publications: input.i32()?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.action);
        out.extend_from_slice(b"SRO ");
        order.put_i32(out, 1);
        order.put_i32(out, self.options);
        order.put_i32(out, self.publications);
    }
}

/// SPI SUBSCRIBE; the body of its reply too. What has no known meaning is kept as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpiSubscribe {
    /// 0 in a request, the subscription's handle in a reply.
    pub subscription: Hobj,
    /// LSD offsets 8 to 59.
    pub head: [u8; 52],
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
    pub(crate) fn read(input: &mut Input<'_>) -> Result<SpiSubscribe, DecodeError> {
        let subscription = Hobj(input.i32()?);
        input.eye_catcher(b"LSD ")?;
        let _version = input.u32()?;
        Ok(SpiSubscribe {
            subscription,
            head: input.array()?,
            open_options: input.i32()?,
            queue: input.chars()?,
            q_mgr: input.chars()?,
            middle: input.array()?,
            tail: [input.u32()?, input.u32()?, input.u32()?],
            sd: Sd::read(input)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.subscription.0);
        out.extend_from_slice(b"LSD ");
        order.put_u32(out, 1);
        out.extend_from_slice(&self.head);
        order.put_i32(out, self.open_options);
        out.extend_from_slice(self.queue.as_bytes());
        out.extend_from_slice(self.q_mgr.as_bytes());
        out.extend_from_slice(&self.middle);
        for value in self.tail {
            order.put_u32(out, value);
        }
        self.sd.write(out, order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SegmentType;

    fn read(bytes: &[u8]) -> Result<Sd, DecodeError> {
        Sd::read(&mut Input::new(bytes, ByteOrder::Big, SegmentType::Sub))
    }

    /// Their offsets may all name the same bytes, so what is copied is no matter of the body's length.
    #[test]
    fn strings_are_no_longer_than_the_interface_allows() {
        let with = |length: usize| {
            let text = VarString {
                text: vec![b'x'; length],
                room: 0,
            };
            Sd {
                object_string: text,
                ..Sd::default()
            }
        };
        let mut bytes = Vec::new();
        with(LONGEST_STRING).write(&mut bytes, ByteOrder::Big);
        assert_eq!(read(&bytes), Ok(with(LONGEST_STRING)));
        bytes.clear();
        with(LONGEST_STRING + 1).write(&mut bytes, ByteOrder::Big);
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
