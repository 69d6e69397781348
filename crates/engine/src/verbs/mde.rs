//! MQMDE: the version 2 fields of a descriptor in front of the data, for applications and channels
//! that only know version 1 (MQI reference, "MQMDE - Message descriptor extension").
//!
//! Invariants:
//! * Messages on queues have no MQMDE that stands for their own descriptor: a put takes it off, a get
//!   with a version 1 descriptor puts one in front, if a field differs from its default.
//! * An MQMDE that cannot be honoured (another version or character set, or a version 2 descriptor
//!   that has its own say) is data like any other; one that is broken is refused.

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Mde, PointerSize, Reason};

use crate::message_data::MessageData;

/// Bytes of an MQMDE.
const LENGTH: usize = 72;
/// `MDE ` in EBCDIC.
const EBCDIC: &[u8] = &[0xD4, 0xC4, 0xC5, 0x40];

/// Whether a field of version 2 differs from its default. Every report states the length of what it is
/// about; that alone is of no use unless the original is a segment, and who asked for a report with a
/// version 1 descriptor expects the data he asked for, so it does not count.
pub(crate) fn needed(md: &Md) -> bool {
    md.msg_flags != MQMF_NONE
        || md.group_id != MQGI_NONE
        || md.msg_seq_number != 1
        || md.offset != 0
        || (md.original_length != MQOL_UNDEFINED && md.msg_type != MQMT_REPORT)
}

/// What stands for the version 2 fields of a descriptor, and for the format of what follows.
pub(crate) fn of(md: &Md) -> Mde {
    Mde {
        encoding: md.encoding,
        coded_char_set_id: md.coded_char_set_id,
        format: md.format,
        flags: MQMDEF_NONE,
        group_id: md.group_id,
        msg_seq_number: md.msg_seq_number,
        offset: md.offset,
        msg_flags: md.msg_flags,
        original_length: md.original_length,
    }
}

/// Bytes that a getter with this version of the descriptor gets in front of a message's data.
pub(crate) fn length(getter: i32, md: &Md) -> usize {
    match getter < MQMD_VERSION_2 && needed(md) {
        true => LENGTH,
        false => 0,
    }
}

/// The data with the MQMDE in front, at most `most` bytes of both.
pub(crate) fn in_front(md: &Md, data: &MessageData, most: usize) -> Bytes {
    let mut out = Vec::with_capacity((LENGTH + data.len()).min(most).max(LENGTH));
    of(md).encode(&mut out, ByteOrder::Little, PointerSize::Four);
    out.extend_from_slice(&data.up_to(most.saturating_sub(LENGTH)));
    out.truncate(most);
    Bytes::from(out)
}

/// The byte order that an encoding gives to integers; `None`: one that no MQMDE has.
fn order(encoding: i32) -> Option<ByteOrder> {
    match encoding & MQENC_INTEGER_MASK {
        MQENC_INTEGER_NORMAL => Some(ByteOrder::Big),
        MQENC_INTEGER_REVERSED => Some(ByteOrder::Little),
        _ => None,
    }
}

/// The MQMDE that these data begin with, if it is one to honour.
fn read(md: &Md, data: &[u8]) -> Result<Option<Mde>, Reason> {
    if data.starts_with(EBCDIC) {
        return Ok(None);
    }
    let Some(order) = order(md.encoding) else {
        return Ok(None);
    };
    let version = data.get(4..8).and_then(|bytes| bytes.try_into().ok());
    let version = version.ok_or(Reason::MDE_ERROR)?;
    let version = match order {
        ByteOrder::Big => i32::from_be_bytes(version),
        ByteOrder::Little => i32::from_le_bytes(version),
    };
    if data.starts_with(b"MDE ") && version != MQMDE_VERSION_2 {
        return Ok(None);
    }
    let (mde, _) = Mde::decode(data, order, PointerSize::Four).map_err(|_| Reason::MDE_ERROR)?;
    match mde.flags {
        MQMDEF_NONE => Ok(Some(mde)),
        _ => Err(Reason::MDE_ERROR),
    }
}

/// A put's descriptor and data with the MQMDE taken in, if the data begin with one to honour.
///
/// # Errors
/// 2248: the format says that there is one, and it is not valid.
#[inline]
pub(crate) fn absorb(md: &Md, data: Bytes) -> Result<(Md, Bytes), Reason> {
    match md.format.as_bytes() == MQFMT_MD_EXTENSION.as_bytes() {
        true => absorb_extension(md, data),
        false => Ok((md.clone(), data)),
    }
}

fn absorb_extension(md: &Md, data: Bytes) -> Result<(Md, Bytes), Reason> {
    let own_say = md.version >= MQMD_VERSION_2 && needed(md);
    let Some(mde) = read(md, &data)?.filter(|_| !own_say) else {
        return Ok((md.clone(), data));
    };
    let whole = Md {
        version: MQMD_VERSION_2,
        encoding: mde.encoding,
        coded_char_set_id: mde.coded_char_set_id,
        format: mde.format,
        group_id: mde.group_id,
        msg_seq_number: mde.msg_seq_number,
        offset: mde.offset,
        msg_flags: mde.msg_flags,
        original_length: mde.original_length,
        ..md.clone()
    };
    Ok((whole, data.slice(LENGTH..)))
}

/// What the application gets back in its own descriptor, after a put of the absorbed one.
#[inline]
pub(crate) fn given_back(own: &Md, done: Md) -> Md {
    let back = Md {
        version: own.version,
        encoding: own.encoding,
        coded_char_set_id: own.coded_char_set_id,
        format: own.format,
        // The flags stay as the application set them.
        msg_flags: own.msg_flags,
        ..done
    };
    match own.version < MQMD_VERSION_2 {
        true => Md {
            group_id: own.group_id,
            msg_seq_number: own.msg_seq_number,
            offset: own.offset,
            original_length: own.original_length,
            ..back
        },
        false => back,
    }
}

/// The descriptor of a message that is got with an MQMDE in front: what describes the MQMDE.
pub(crate) fn describe(md: &mut Md, coded_char_set_id: i32) {
    md.format = Chars::new(MQFMT_MD_EXTENSION);
    md.encoding = MQENC_NATIVE;
    md.coded_char_set_id = coded_char_set_id;
}
