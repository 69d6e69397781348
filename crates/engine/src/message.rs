//! A message as the queue manager holds it, and its compact form in the log and in queue files.
//!
//! Invariants:
//! * a message is immutable once it is put; only its backout count changes, and that is kept with
//!   the queue's entry, not here;
//! * the compact form holds exactly the descriptor fields that differ from the default, so that a
//!   typical descriptor costs some 150 bytes instead of 364; a descriptor that stands beside another
//!   is held by what it differs in from that one;
//! * how many bytes of what is stored behind a descriptor are properties (`message_data.rs`) stands with it, and so does by whose
//!   authority its reports are put (`origin.rs`);
//! * `decode(encode(m)) == m` for every message.

use bytes::Bytes;
use posthaste_mqi::{Chars, Md, constants::*};
use posthaste_recovery_log::Lsn;

use crate::message_data::MessageData;
use crate::origin::Origin;

/// A message that was put.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// Its descriptor, complete (identifiers generated, defaults resolved).
    pub(crate) md: Md,
    /// The application's bytes.
    pub(crate) data: MessageData,
    /// What the queue manager knows of it besides.
    pub(crate) origin: Origin,
    /// Position in the queue manager's order of puts; unique, never reused.
    pub(crate) seq: u64,
    /// When it expires, microseconds since 1970; 0 = never.
    pub(crate) expires: i64,
    /// Where its log record begins; `Lsn(0)` when it has none (non-persistent).
    pub(crate) lsn: Lsn,
}

impl Message {
    pub(crate) fn persistent(&self) -> bool {
        self.md.persistence == MQPER_PERSISTENT
    }

    /// What stands with its descriptor where it is stored.
    pub(crate) fn beside(&self) -> Beside {
        Beside {
            properties: self.data.properties().len(),
            origin: self.origin,
        }
    }

    /// Bytes it occupies in a queue buffer.
    pub(crate) fn size(&self) -> usize {
        size_of::<Message>() + self.data.stored_len()
    }

    /// Whether it has to be told when it expires, and the telling must not be lost.
    pub(crate) fn owes_expiration(&self) -> bool {
        self.persistent() && self.md.report & MQRO_EXPIRATION != 0
    }

    pub(crate) fn expired(&self, now: i64) -> bool {
        self.expires != 0 && self.expires <= now
    }
}

/// Tenths of a second that a message which expires then has left, at least one: it has not expired.
pub(crate) fn tenths_left(expires: i64, now: i64) -> i32 {
    let left = (expires - now + 99_999) / 100_000;
    i32::try_from(left.max(1)).unwrap_or(i32::MAX)
}

/// The descriptor that the compact form is about when nothing else is said.
static PLAIN: Md = Md {
    version: MQMD_VERSION_1,
    report: 0,
    msg_type: MQMT_DATAGRAM,
    expiry: MQEI_UNLIMITED,
    feedback: 0,
    encoding: MQENC_NATIVE,
    coded_char_set_id: 0,
    format: Chars::BLANK,
    priority: 0,
    persistence: 0,
    msg_id: [0; 24],
    correl_id: [0; 24],
    backout_count: 0,
    reply_to_q: Chars::BLANK,
    reply_to_q_mgr: Chars::BLANK,
    user_identifier: Chars::BLANK,
    accounting_token: [0; 32],
    appl_identity_data: Chars::BLANK,
    put_appl_type: 0,
    put_appl_name: Chars::BLANK,
    put_date: Chars::BLANK,
    put_time: Chars::BLANK,
    appl_origin_data: Chars::BLANK,
    group_id: [0; 24],
    msg_seq_number: 1,
    offset: 0,
    msg_flags: 0,
    original_length: -1,
};

/// What stands with a descriptor and is none of MQMD's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Beside {
    /// Bytes of properties in front of the data.
    pub(crate) properties: usize,
    pub(crate) origin: Origin,
}

/// That of nothing.
const NOTHING: Beside = Beside {
    properties: 0,
    origin: Origin::Unknown,
};

/// Fields of the compact form.
const FIELDS: u32 = 30;

/// Writes descriptor fields that differ from those of another descriptor, each announced by its bit.
struct Sparse<'a> {
    out: &'a mut Vec<u8>,
    at: usize,
    mask: u32,
    bit: u32,
}

impl<'a> Sparse<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        Sparse {
            out,
            at,
            mask: 0,
            bit: 0,
        }
    }

    #[inline]
    fn field(&mut self, differs: bool, write: impl FnOnce(&mut Vec<u8>)) {
        if differs {
            self.mask |= 1 << self.bit;
            write(self.out);
        }
        self.bit += 1;
    }

    #[inline]
    fn int(&mut self, value: i32, base: i32) {
        self.field(value != base, |out| {
            out.extend_from_slice(&value.to_le_bytes());
        });
    }

    fn bytes<const N: usize>(&mut self, value: &[u8; N], base: &[u8; N]) {
        self.field(value != base, |out| {
            out.extend_from_slice(value);
        });
    }

    fn chars<const N: usize>(&mut self, value: &Chars<N>, base: &Chars<N>) {
        self.field(value.as_bytes() != base.as_bytes(), |out| {
            const { assert!(N <= u8::MAX as usize, "its length fits a byte") };
            let used = value.unpadded();
            out.push(used.len() as u8);
            out.extend_from_slice(used);
        });
    }

    fn finish(self) {
        debug_assert_eq!(self.bit, FIELDS);
        self.out[self.at..self.at + 4].copy_from_slice(&self.mask.to_le_bytes());
    }
}

/// Appends the compact form of a descriptor, and of what stands with it.
pub(crate) fn encode_md(md: &Md, beside: Beside, out: &mut Vec<u8>) {
    encode_difference((md, beside), (&PLAIN, NOTHING), out);
}

/// Appends what a descriptor, and what stands with it, differ in from others.
pub(crate) fn encode_difference(
    (md, beside): (&Md, Beside),
    (base, of_base): (&Md, Beside),
    out: &mut Vec<u8>,
) {
    let mut s = Sparse::new(out);
    s.int(md.version, base.version);
    s.int(md.report, base.report);
    s.int(md.msg_type, base.msg_type);
    s.int(md.expiry, base.expiry);
    s.int(md.feedback, base.feedback);
    s.int(md.encoding, base.encoding);
    s.int(md.coded_char_set_id, base.coded_char_set_id);
    s.chars(&md.format, &base.format);
    s.int(md.priority, base.priority);
    s.int(md.persistence, base.persistence);
    s.bytes(&md.msg_id, &base.msg_id);
    s.bytes(&md.correl_id, &base.correl_id);
    s.chars(&md.reply_to_q, &base.reply_to_q);
    s.chars(&md.reply_to_q_mgr, &base.reply_to_q_mgr);
    s.chars(&md.user_identifier, &base.user_identifier);
    s.bytes(&md.accounting_token, &base.accounting_token);
    s.chars(&md.appl_identity_data, &base.appl_identity_data);
    s.int(md.put_appl_type, base.put_appl_type);
    s.chars(&md.put_appl_name, &base.put_appl_name);
    s.chars(&md.put_date, &base.put_date);
    s.chars(&md.put_time, &base.put_time);
    s.chars(&md.appl_origin_data, &base.appl_origin_data);
    s.bytes(&md.group_id, &base.group_id);
    s.int(md.msg_seq_number, base.msg_seq_number);
    s.int(md.offset, base.offset);
    s.int(md.msg_flags, base.msg_flags);
    s.int(md.original_length, base.original_length);
    s.int(md.backout_count, base.backout_count);
    // A header is never as long as that.
    s.int(beside.properties as i32, of_base.properties as i32);
    s.field(beside.origin != of_base.origin, |out| {
        beside.origin.encode(out);
    });
    s.finish();
}

/// Reads what [`Sparse`] wrote. Every read checks the length: the bytes come from a disk.
struct Reader<'a> {
    bytes: &'a [u8],
    mask: u32,
    bit: u32,
}

impl<'a> Reader<'a> {
    fn present(&mut self) -> bool {
        let present = self.mask & (1 << self.bit) != 0;
        self.bit += 1;
        present
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(n)?;
        self.bytes = tail;
        Some(head)
    }

    fn int(&mut self, base: i32) -> Option<i32> {
        if !self.present() {
            return Some(base);
        }
        let raw: [u8; 4] = self.take(4)?.try_into().ok()?;
        Some(i32::from_le_bytes(raw))
    }

    fn bytes<const N: usize>(&mut self, base: &[u8; N]) -> Option<[u8; N]> {
        if !self.present() {
            return Some(*base);
        }
        self.take(N)?.try_into().ok()
    }

    fn chars<const N: usize>(&mut self, base: &Chars<N>) -> Option<Chars<N>> {
        if !self.present() {
            return Some(*base);
        }
        let mut padded = [b' '; N];
        let length = usize::from(*self.take(1)?.first()?);
        padded
            .get_mut(..length)?
            .copy_from_slice(self.take(length)?);
        Some(Chars::from_bytes(padded))
    }
}

/// A descriptor, what stands with it, and the bytes that follow the two.
pub(crate) type Described<'a> = (Md, Beside, &'a [u8]);

/// Reads a descriptor. `None`: not a descriptor.
pub(crate) fn decode_md(bytes: &[u8]) -> Option<Described<'_>> {
    decode_difference((&PLAIN, NOTHING), bytes)
}

/// Reads a descriptor that is written as what it differs in from another. `None`: these bytes are no such thing.
pub(crate) fn decode_difference<'a>(
    (base, of_base): (&Md, Beside),
    bytes: &'a [u8],
) -> Option<Described<'a>> {
    let (mask, rest) = bytes.split_at_checked(4)?;
    let mask = u32::from_le_bytes(mask.try_into().ok()?);
    if mask >> FIELDS != 0 {
        return None;
    }
    let mut r = Reader {
        bytes: rest,
        mask,
        bit: 0,
    };
    let md = Md {
        version: r.int(base.version)?,
        report: r.int(base.report)?,
        msg_type: r.int(base.msg_type)?,
        expiry: r.int(base.expiry)?,
        feedback: r.int(base.feedback)?,
        encoding: r.int(base.encoding)?,
        coded_char_set_id: r.int(base.coded_char_set_id)?,
        format: r.chars(&base.format)?,
        priority: r.int(base.priority)?,
        persistence: r.int(base.persistence)?,
        msg_id: r.bytes(&base.msg_id)?,
        correl_id: r.bytes(&base.correl_id)?,
        reply_to_q: r.chars(&base.reply_to_q)?,
        reply_to_q_mgr: r.chars(&base.reply_to_q_mgr)?,
        user_identifier: r.chars(&base.user_identifier)?,
        accounting_token: r.bytes(&base.accounting_token)?,
        appl_identity_data: r.chars(&base.appl_identity_data)?,
        put_appl_type: r.int(base.put_appl_type)?,
        put_appl_name: r.chars(&base.put_appl_name)?,
        put_date: r.chars(&base.put_date)?,
        put_time: r.chars(&base.put_time)?,
        appl_origin_data: r.chars(&base.appl_origin_data)?,
        group_id: r.bytes(&base.group_id)?,
        msg_seq_number: r.int(base.msg_seq_number)?,
        offset: r.int(base.offset)?,
        msg_flags: r.int(base.msg_flags)?,
        original_length: r.int(base.original_length)?,
        backout_count: r.int(base.backout_count)?,
    };
    let properties = r.int(i32::try_from(of_base.properties).ok()?)?;
    let beside = Beside {
        properties: usize::try_from(properties).ok()?,
        origin: match r.present() {
            false => of_base.origin,
            true => {
                let length = usize::from(*r.take(1)?.first()?);
                Origin::decode(r.take(length)?)?
            }
        },
    };
    Some((md, beside, r.bytes))
}

/// Appends what a queue file holds in front of what is stored of a message's data.
pub(crate) fn encode_head(message: &Message, out: &mut Vec<u8>) {
    out.extend_from_slice(&message.seq.to_le_bytes());
    out.extend_from_slice(&message.expires.to_le_bytes());
    out.extend_from_slice(&message.lsn.0.to_le_bytes());
    encode_md(&message.md, message.beside(), out);
}

/// What a queue file holds in front of what is stored of a message's data.
pub(crate) fn stored_head(message: &Message) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    encode_head(message, &mut head);
    head
}

/// Where in what a queue file holds of a message what is stored of its data begins. `None`: these bytes are not a message.
pub(crate) fn before_body(bytes: &[u8]) -> Option<usize> {
    let (_, _, rest) = decode_md(bytes.get(24..)?)?;
    Some(bytes.len() - rest.len())
}

/// Reads a message as a queue file holds it. `None`: these bytes are not a message.
pub(crate) fn decode_stored(bytes: Vec<u8>) -> Option<Message> {
    let total = bytes.len();
    let word = |at: usize| -> Option<[u8; 8]> { bytes.get(at..at + 8)?.try_into().ok() };
    let seq = u64::from_le_bytes(word(0)?);
    let expires = i64::from_le_bytes(word(8)?);
    let lsn = Lsn(u64::from_le_bytes(word(16)?));
    let (md, beside, rest) = decode_md(bytes.get(24..)?)?;
    let head = total - rest.len();
    Some(Message {
        md,
        data: MessageData::from(Bytes::from(bytes).slice(head..)).restored(beside.properties)?,
        origin: beside.origin,
        seq,
        expires,
        lsn,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sample() -> Message {
        Message {
            md: Md {
                version: 2,
                report: MQRO_COA,
                format: Chars::new("MQSTR"),
                msg_id: [7; 24],
                reply_to_q: Chars::new("REPLY.1"),
                user_identifier: Chars::new("alice"),
                put_date: Chars::new("20261121"),
                msg_flags: 3,
                original_length: 12,
                backout_count: 0,
                persistence: MQPER_PERSISTENT,
                priority: 4,
                ..Md::default()
            },
            data: Bytes::from_static(b"hello").into(),
            origin: Origin::Reports(Chars::new("bob")),
            seq: 42,
            expires: -5,
            lsn: Lsn(4096),
        }
    }

    #[test]
    fn stored_form_round_trips() {
        let plain = sample();
        let with_properties = Message {
            data: plain.data.with_properties("<mqps/>"),
            ..plain.clone()
        };
        for message in [plain, with_properties] {
            let mut bytes = Vec::new();
            encode_head(&message, &mut bytes);
            bytes.extend_from_slice(&message.data.stored_parts().concat());
            assert_eq!(decode_stored(bytes).as_ref(), Some(&message));
        }
    }

    #[test]
    fn fields_that_nobody_knows_are_refused() {
        let mut bytes = Vec::new();
        encode_md(&PLAIN, NOTHING, &mut bytes);
        assert!(decode_md(&bytes).is_some());
        bytes[3] = 1 << 6;
        assert_eq!(decode_md(&bytes), None);
    }

    #[test]
    fn every_cut_in_the_head_is_refused() {
        let message = sample();
        let mut bytes = Vec::new();
        encode_head(&message, &mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(decode_stored(bytes[..length].to_vec()), None, "{length}");
        }
    }

    #[test]
    fn a_descriptor_beside_another_is_held_by_its_differences() {
        let base = sample().md;
        let mut other = base.clone();
        other.correl_id = [9; 24];
        other.reply_to_q = Chars::BLANK;
        other.format = Chars::from_bytes(*b"MQ\0tail\0");
        other.priority = 0;
        let different = 4 + 24 + 1 + (1 + 8) + 4;
        let beside = |properties: usize, origin: Origin| Beside { properties, origin };
        let bobs = Origin::Reports(Chars::new("bob"));
        let of_base = beside(7, bobs);
        for (md, beside, length) in [
            (&base, of_base, Some(4)),
            (&base, beside(0, bobs), Some(8)),
            (&base, beside(7, Origin::Unknown), Some(4 + 1)),
            (&base, beside(7, Origin::Delayed), Some(4 + 2)),
            (&base, beside(7, Origin::Reports(Chars::BLANK)), Some(4 + 2)),
            (&other, of_base, Some(different)),
            (&PLAIN, NOTHING, None),
        ] {
            let mut bytes = Vec::new();
            encode_difference((md, beside), (&base, of_base), &mut bytes);
            assert!(
                length.is_none_or(|length| length == bytes.len()),
                "{bytes:?}"
            );
            let (read, of_read, rest) = decode_difference((&base, of_base), &bytes).unwrap();
            assert_eq!((&read, of_read, rest), (md, beside, &[][..]));
            assert_eq!(read.format.as_bytes(), md.format.as_bytes());
            for length in 0..bytes.len() {
                assert_eq!(
                    decode_difference((&base, of_base), &bytes[..length]),
                    None,
                    "{length}"
                );
            }
        }
    }

    #[test]
    fn a_plain_descriptor_is_small() {
        let mut bytes = Vec::new();
        encode_md(&sample().md, NOTHING, &mut bytes);
        assert!(bytes.len() < 100, "{}", bytes.len());
    }
}
