//! A message as the queue manager holds it, and its compact form in the log and in queue files.
//!
//! Invariants:
//! * a message is immutable once it is put; only its backout count changes, and that is kept with
//!   the queue's entry, not here;
//! * the compact form holds exactly the descriptor fields that differ from the default, so that a
//!   typical descriptor costs some 150 bytes instead of 364;
//! * `decode(encode(m)) == m` for every message.

use bytes::Bytes;
use posthaste_mqi::{Chars, Md, constants::*};
use posthaste_recovery_log::Lsn;

/// A message that was put.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// Its descriptor, complete (identifiers generated, defaults resolved).
    pub(crate) md: Md,
    /// The application's bytes.
    pub(crate) data: Bytes,
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

    /// Bytes it occupies in a queue buffer.
    pub(crate) fn size(&self) -> usize {
        size_of::<Message>() + self.data.len()
    }

    /// Whether it has to be told when it expires, and the telling must not be lost.
    pub(crate) fn owes_expiration(&self) -> bool {
        self.persistent() && self.md.report & MQRO_EXPIRATION != 0
    }

    pub(crate) fn expired(&self, now: i64) -> bool {
        self.expires != 0 && self.expires <= now
    }
}

/// Writes descriptor fields that differ from the default, each announced by its bit.
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
    fn int(&mut self, value: i32, default: i32) {
        self.field(value != default, |out| {
            out.extend_from_slice(&value.to_le_bytes());
        });
    }

    fn bytes<const N: usize>(&mut self, value: &[u8; N]) {
        self.field(*value != [0; N], |out| {
            out.extend_from_slice(value);
        });
    }

    fn chars<const N: usize>(&mut self, value: &Chars<N>) {
        let used = value.unpadded();
        self.field(!used.is_empty(), |out| {
            const { assert!(N <= u8::MAX as usize, "its length fits a byte") };
            out.push(used.len() as u8);
            out.extend_from_slice(used);
        });
    }

    fn finish(self) {
        self.out[self.at..self.at + 4].copy_from_slice(&self.mask.to_le_bytes());
    }
}

/// Appends the compact form of a descriptor.
pub(crate) fn encode_md(md: &Md, out: &mut Vec<u8>) {
    let mut s = Sparse::new(out);
    s.int(md.version, 1);
    s.int(md.report, 0);
    s.int(md.msg_type, MQMT_DATAGRAM);
    s.int(md.expiry, MQEI_UNLIMITED);
    s.int(md.feedback, 0);
    s.int(md.encoding, MQENC_NATIVE);
    s.int(md.coded_char_set_id, 0);
    s.chars(&md.format);
    s.int(md.priority, 0);
    s.int(md.persistence, 0);
    s.bytes(&md.msg_id);
    s.bytes(&md.correl_id);
    s.chars(&md.reply_to_q);
    s.chars(&md.reply_to_q_mgr);
    s.chars(&md.user_identifier);
    s.bytes(&md.accounting_token);
    s.chars(&md.appl_identity_data);
    s.int(md.put_appl_type, 0);
    s.chars(&md.put_appl_name);
    s.chars(&md.put_date);
    s.chars(&md.put_time);
    s.chars(&md.appl_origin_data);
    s.bytes(&md.group_id);
    s.int(md.msg_seq_number, 1);
    s.int(md.offset, 0);
    s.int(md.msg_flags, 0);
    s.int(md.original_length, -1);
    s.int(md.backout_count, 0);
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

    fn int(&mut self, default: i32) -> Option<i32> {
        if !self.present() {
            return Some(default);
        }
        let raw: [u8; 4] = self.take(4)?.try_into().ok()?;
        Some(i32::from_le_bytes(raw))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        if !self.present() {
            return Some([0; N]);
        }
        self.take(N)?.try_into().ok()
    }

    fn chars<const N: usize>(&mut self) -> Option<Chars<N>> {
        let mut padded = [b' '; N];
        if self.present() {
            let length = usize::from(*self.take(1)?.first()?);
            padded
                .get_mut(..length)?
                .copy_from_slice(self.take(length)?);
        }
        Some(Chars::from_bytes(padded))
    }
}

/// Reads a descriptor; returns it with the bytes that follow it. `None`: not a descriptor.
pub(crate) fn decode_md(bytes: &[u8]) -> Option<(Md, &[u8])> {
    let (mask, rest) = bytes.split_at_checked(4)?;
    let mut r = Reader {
        bytes: rest,
        mask: u32::from_le_bytes(mask.try_into().ok()?),
        bit: 0,
    };
    let md = Md {
        version: r.int(1)?,
        report: r.int(0)?,
        msg_type: r.int(MQMT_DATAGRAM)?,
        expiry: r.int(MQEI_UNLIMITED)?,
        feedback: r.int(0)?,
        encoding: r.int(MQENC_NATIVE)?,
        coded_char_set_id: r.int(0)?,
        format: r.chars()?,
        priority: r.int(0)?,
        persistence: r.int(0)?,
        msg_id: r.array()?,
        correl_id: r.array()?,
        reply_to_q: r.chars()?,
        reply_to_q_mgr: r.chars()?,
        user_identifier: r.chars()?,
        accounting_token: r.array()?,
        appl_identity_data: r.chars()?,
        put_appl_type: r.int(0)?,
        put_appl_name: r.chars()?,
        put_date: r.chars()?,
        put_time: r.chars()?,
        appl_origin_data: r.chars()?,
        group_id: r.array()?,
        msg_seq_number: r.int(1)?,
        offset: r.int(0)?,
        msg_flags: r.int(0)?,
        original_length: r.int(-1)?,
        backout_count: r.int(0)?,
    };
    Some((md, r.bytes))
}

/// Appends what a queue file holds in front of the data of a message.
pub(crate) fn encode_head(message: &Message, out: &mut Vec<u8>) {
    out.extend_from_slice(&message.seq.to_le_bytes());
    out.extend_from_slice(&message.expires.to_le_bytes());
    out.extend_from_slice(&message.lsn.0.to_le_bytes());
    encode_md(&message.md, out);
}

/// Reads a message as a queue file holds it. `None`: these bytes are not a message.
pub(crate) fn decode_stored(bytes: Vec<u8>) -> Option<Message> {
    let total = bytes.len();
    let word = |at: usize| -> Option<[u8; 8]> { bytes.get(at..at + 8)?.try_into().ok() };
    let seq = u64::from_le_bytes(word(0)?);
    let expires = i64::from_le_bytes(word(8)?);
    let lsn = Lsn(u64::from_le_bytes(word(16)?));
    let (md, rest) = decode_md(bytes.get(24..)?)?;
    let head = total - rest.len();
    Some(Message {
        md,
        data: Bytes::from(bytes).slice(head..),
        seq,
        expires,
        lsn,
    })
}

#[cfg(test)]
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
            data: Bytes::from_static(b"hello"),
            seq: 42,
            expires: -5,
            lsn: Lsn(4096),
        }
    }

    #[test]
    fn stored_form_round_trips() {
        let message = sample();
        let mut bytes = Vec::new();
        encode_head(&message, &mut bytes);
        bytes.extend_from_slice(&message.data);
        assert_eq!(decode_stored(bytes).as_ref(), Some(&message));
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
    fn a_plain_descriptor_is_small() {
        let mut bytes = Vec::new();
        encode_md(&sample().md, &mut bytes);
        assert!(bytes.len() < 100, "{}", bytes.len());
    }
}
