//! Records of a distribution list: MQOR and MQRR behind MQOD, MQPMR and MQRR behind MQPMO.
//!
//! Invariants: records are found by their offsets, wholly behind the structure and inside the input, or they are not
//! there at all. They are written where their offsets say, if that is close behind the structure, so that a reply has
//! them where its request had them; otherwise one kind behind the other.

use crate::constants::{
    MQPMRF_ACCOUNTING_TOKEN, MQPMRF_CORREL_ID, MQPMRF_FEEDBACK, MQPMRF_GROUP_ID, MQPMRF_MSG_ID,
};
use crate::{ByteOrder, Chars, CorrelId, GroupId, MsgId, Name, Reason};

/// Every field that a put message record may have.
const ALL_FIELDS: i32 =
    MQPMRF_MSG_ID | MQPMRF_CORREL_ID | MQPMRF_GROUP_ID | MQPMRF_FEEDBACK | MQPMRF_ACCOUNTING_TOKEN;

/// A destination of a distribution list (MQOR).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectRecord {
    /// Name of the queue.
    pub object_name: Name,
    /// Name of its queue manager; blank for the local one.
    pub object_q_mgr_name: Name,
}

impl ObjectRecord {
    /// Bytes of one.
    pub const LENGTH: usize = 96;

    fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            object_name: Chars::from_bytes(*bytes.first_chunk()?),
            object_q_mgr_name: Chars::from_bytes(*bytes.get(48..)?.first_chunk()?),
        })
    }
}

/// What came of one destination (MQRR).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseRecord {
    /// Completion code (MQCC_).
    pub comp_code: i32,
    /// Reason code.
    pub reason: Reason,
}

impl Default for ResponseRecord {
    fn default() -> Self {
        Self {
            comp_code: 0,
            reason: Reason::NONE,
        }
    }
}

impl ResponseRecord {
    /// Bytes of one.
    pub const LENGTH: usize = 8;

    fn read(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        Some(Self {
            comp_code: order.get_i32(bytes, 0)?,
            reason: Reason(order.get_i32(bytes, 4)?),
        })
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.comp_code);
        order.put_i32(out, self.reason.0);
    }
}

/// What one destination's message has for itself (MQPMR). Which fields count is said by MQPMO's PutMsgRecFields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PutRecord {
    /// Message identifier.
    pub msg_id: MsgId,
    /// Correlation identifier.
    pub correl_id: CorrelId,
    /// Group identifier.
    pub group_id: GroupId,
    /// Feedback or reason code.
    pub feedback: i32,
    /// Accounting token.
    pub accounting_token: [u8; 32],
}

impl PutRecord {
    /// Bytes of one with these fields; `None`: there are no such fields.
    pub fn length(fields: i32) -> Option<usize> {
        let lengths = [
            (MQPMRF_MSG_ID, 24),
            (MQPMRF_CORREL_ID, 24),
            (MQPMRF_GROUP_ID, 24),
            (MQPMRF_FEEDBACK, 4),
            (MQPMRF_ACCOUNTING_TOKEN, 32),
        ];
        let present = lengths.iter().filter(|(field, _)| fields & field != 0);
        (fields & !ALL_FIELDS == 0).then(|| present.map(|(_, length)| length).sum())
    }

    fn read(mut bytes: &[u8], fields: i32, order: ByteOrder) -> Option<Self> {
        let mut record = Self::default();
        let mut take = |count: usize| {
            let (taken, rest) = bytes.split_at_checked(count)?;
            bytes = rest;
            Some(taken)
        };
        if fields & MQPMRF_MSG_ID != 0 {
            record.msg_id = *take(24)?.first_chunk()?;
        }
        if fields & MQPMRF_CORREL_ID != 0 {
            record.correl_id = *take(24)?.first_chunk()?;
        }
        if fields & MQPMRF_GROUP_ID != 0 {
            record.group_id = *take(24)?.first_chunk()?;
        }
        if fields & MQPMRF_FEEDBACK != 0 {
            record.feedback = order.get_i32(take(4)?, 0)?;
        }
        if fields & MQPMRF_ACCOUNTING_TOKEN != 0 {
            record.accounting_token = *take(32)?.first_chunk()?;
        }
        Some(record)
    }

    fn write(&self, out: &mut Vec<u8>, fields: i32, order: ByteOrder) {
        if fields & MQPMRF_MSG_ID != 0 {
            out.extend_from_slice(&self.msg_id);
        }
        if fields & MQPMRF_CORREL_ID != 0 {
            out.extend_from_slice(&self.correl_id);
        }
        if fields & MQPMRF_GROUP_ID != 0 {
            out.extend_from_slice(&self.group_id);
        }
        if fields & MQPMRF_FEEDBACK != 0 {
            order.put_i32(out, self.feedback);
        }
        if fields & MQPMRF_ACCOUNTING_TOKEN != 0 {
            out.extend_from_slice(&self.accounting_token);
        }
    }
}

/// What stands behind an MQOD with RecsPresent: the destinations, and room for what comes of each, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectRecords {
    /// RecsPresent of them.
    pub objects: Vec<ObjectRecord>,
    /// RecsPresent of them, or none.
    pub responses: Vec<ResponseRecord>,
}

/// What stands behind an MQPMO with RecsPresent: both are there, or one of them, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutRecords {
    /// RecsPresent of them, or none.
    pub records: Vec<PutRecord>,
    /// RecsPresent of them, or none.
    pub responses: Vec<ResponseRecord>,
}

/// Where records are: the whole input, the bytes of the structure, the byte order, how many there are of each kind.
pub(super) struct Place<'a> {
    pub(super) all: &'a [u8],
    pub(super) base: usize,
    pub(super) order: ByteOrder,
    pub(super) count: i32,
}

impl<'a> Place<'a> {
    /// `count` pieces of `length` bytes at an offset, and where they end; none and 0 for no offset.
    fn pieces(&self, offset: i32, length: usize) -> Option<(Vec<&'a [u8]>, usize)> {
        if offset == 0 || length == 0 {
            return Some((Vec::new(), 0));
        }
        let start = usize::try_from(offset).ok().filter(|at| *at >= self.base)?;
        let end = start.checked_add(usize::try_from(self.count).ok()?.checked_mul(length)?)?;
        let pieces = self.all.get(start..end)?.chunks_exact(length).collect();
        Some((pieces, end))
    }

    fn responses(&self, offset: i32) -> Option<(Vec<ResponseRecord>, usize)> {
        let (pieces, end) = self.pieces(offset, ResponseRecord::LENGTH)?;
        let read = |piece: &&[u8]| ResponseRecord::read(piece, self.order);
        Some((pieces.iter().map(read).collect::<Option<_>>()?, end))
    }

    /// What follows an MQOD, and where it ends.
    pub(super) fn object_records(
        &self,
        objects: i32,
        responses: i32,
    ) -> Option<(Box<ObjectRecords>, usize)> {
        let (pieces, end) = self.pieces(objects, ObjectRecord::LENGTH)?;
        let objects: Vec<_> = pieces
            .iter()
            .map(|piece| ObjectRecord::read(piece))
            .collect::<Option<_>>()?;
        if objects.is_empty() {
            return None;
        }
        let (responses, behind) = self.responses(responses)?;
        let records = ObjectRecords { objects, responses };
        Some((Box::new(records), end.max(behind)))
    }

    /// What follows an MQPMO, and where it ends.
    pub(super) fn put_records(
        &self,
        fields: i32,
        records: i32,
        responses: i32,
    ) -> Option<(Box<PutRecords>, usize)> {
        usize::try_from(self.count).ok()?;
        let (pieces, end) = self.pieces(records, PutRecord::length(fields)?)?;
        let read = |piece: &&[u8]| PutRecord::read(piece, fields, self.order);
        let records = pieces.iter().map(read).collect::<Option<_>>()?;
        let (responses, behind) = self.responses(responses)?;
        Some((Box::new(PutRecords { records, responses }), end.max(behind)))
    }
}

/// A structure that has been written, whose records follow it.
pub(super) struct Behind<'a> {
    out: &'a mut Vec<u8>,
    /// Where the structure begins.
    start: usize,
    /// Where the structure and its strings end.
    base: usize,
    order: ByteOrder,
}

impl<'a> Behind<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, start: usize, order: ByteOrder) -> Self {
        let base = out.len();
        Self {
            out,
            start,
            base,
            order,
        }
    }

    /// Writes records of one kind, and their offset into the field at `field`; `all`: bytes of the records of both kinds.
    fn put(&mut self, field: usize, wanted: i32, bytes: &[u8], all: usize) {
        if bytes.is_empty() {
            return;
        }
        let (least, most) = (self.base - self.start, self.base - self.start + all);
        let wanted = usize::try_from(wanted).ok();
        let offset = wanted.filter(|at| (least..=most).contains(at));
        let offset = offset.unwrap_or((self.out.len() - self.start).next_multiple_of(4));
        let at = self.start + offset;
        if self.out.len() < at + bytes.len() {
            self.out.resize(at + bytes.len(), 0);
        }
        self.out[at..at + bytes.len()].copy_from_slice(bytes);
        self.patch(field, i32::try_from(offset).unwrap_or(i32::MAX));
    }

    fn patch(&mut self, field: usize, value: i32) {
        let mut bytes = Vec::with_capacity(4);
        self.order.put_i32(&mut bytes, value);
        let at = self.start + field;
        self.out[at..at + 4].copy_from_slice(&bytes);
    }

    fn responses(&self, all: &[ResponseRecord]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(all.len() * ResponseRecord::LENGTH);
        for response in all {
            response.write(&mut bytes, self.order);
        }
        bytes
    }

    /// `fields`: where MQOD has its offsets of object records and of response records; `wanted`: what they say.
    pub(super) fn object_records(
        mut self,
        records: &ObjectRecords,
        fields: [usize; 2],
        wanted: [i32; 2],
    ) {
        let mut objects = Vec::with_capacity(records.objects.len() * ObjectRecord::LENGTH);
        for object in &records.objects {
            objects.extend_from_slice(object.object_name.as_bytes());
            objects.extend_from_slice(object.object_q_mgr_name.as_bytes());
        }
        let responses = self.responses(&records.responses);
        let all = objects.len() + responses.len();
        self.put(fields[0], wanted[0], &objects, all);
        self.put(fields[1], wanted[1], &responses, all);
    }

    /// The same of an MQPMO.
    pub(super) fn put_records(
        mut self,
        records: &PutRecords,
        present: i32,
        fields: [usize; 2],
        wanted: [i32; 2],
    ) {
        let mut messages = Vec::new();
        for record in &records.records {
            record.write(&mut messages, present, self.order);
        }
        let responses = self.responses(&records.responses);
        let all = messages.len() + responses.len();
        self.put(fields[0], wanted[0], &messages, all);
        self.put(fields[1], wanted[1], &responses, all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Od, Pmo, PointerSize};

    fn list() -> Od {
        Od {
            version: 4,
            selection_string: "three".to_owned(),
            recs_present: 2,
            records: Some(Box::new(ObjectRecords {
                objects: ["A", "B"]
                    .map(|name| ObjectRecord {
                        object_name: Name::new(name),
                        object_q_mgr_name: Name::new("QM"),
                    })
                    .to_vec(),
                responses: vec![
                    ResponseRecord {
                        comp_code: 2,
                        reason: Reason::UNKNOWN_OBJECT_NAME,
                    };
                    2
                ],
            })),
            ..Od::default()
        }
    }

    #[test]
    fn object_records_come_back_as_they_went() {
        for (order, pointers) in [
            (ByteOrder::Big, PointerSize::Four),
            (ByteOrder::Little, PointerSize::Eight),
        ] {
            let od = list();
            let mut bytes = vec![1, 2, 3];
            od.encode(&mut bytes, order, pointers);
            let (read, used) = Od::decode(&bytes[3..], order, pointers).unwrap();
            assert_eq!(used, bytes.len() - 3);
            assert_eq!(read.records, od.records);
            assert_eq!(read.selection_string, "three");
            // Written again they stay where they were.
            let mut again = Vec::new();
            read.encode(&mut again, order, pointers);
            assert_eq!(again, &bytes[3..]);
        }
    }

    #[test]
    fn responses_may_stand_in_front_and_are_written_there() {
        let mut od = list();
        (od.version, od.selection_string) = (2, String::new());
        (od.object_rec_offset, od.response_rec_offset) = (216, 200);
        let mut bytes = Vec::new();
        od.encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
        assert_eq!(bytes.len(), 408);
        assert_eq!(&bytes[216..218], b"A ");
        let (read, used) = Od::decode(&bytes, ByteOrder::Big, PointerSize::Four).unwrap();
        assert_eq!((read, used), (od, 408));
    }

    #[test]
    fn records_that_are_not_wholly_there_are_none() {
        let mut bytes = Vec::new();
        list().encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
        let cut = &bytes[..bytes.len() - 1];
        let (read, _) = Od::decode(cut, ByteOrder::Big, PointerSize::Four).unwrap();
        assert_eq!((read.recs_present, read.records), (2, None));
        // Far too many of them.
        bytes[168..172].copy_from_slice(&i32::MAX.to_be_bytes());
        let (read, _) = Od::decode(&bytes, ByteOrder::Big, PointerSize::Four).unwrap();
        assert_eq!(read.records, None);
    }

    #[test]
    fn put_message_records_have_the_fields_that_are_named() {
        for (fields, length) in [(0, 0), (3, 48), (0x1F, 108), (8, 4), (0x18, 36)] {
            assert_eq!(PutRecord::length(fields), Some(length));
            let record = |n: u8| PutRecord {
                msg_id: [n; 24],
                correl_id: [n + 1; 24],
                group_id: [n + 2; 24],
                feedback: i32::from(n),
                accounting_token: [n + 3; 32],
            };
            let pmo = Pmo {
                version: 2,
                recs_present: 2,
                put_msg_rec_fields: fields,
                records: Some(Box::new(PutRecords {
                    records: if fields == 0 {
                        vec![]
                    } else {
                        vec![record(1), record(9)]
                    },
                    responses: vec![ResponseRecord::default(); 2],
                })),
                ..Pmo::default()
            };
            let mut bytes = Vec::new();
            pmo.encode(&mut bytes, ByteOrder::Little, PointerSize::Four);
            assert_eq!(bytes.len(), 152 + 2 * length + 16);
            let (read, used) = Pmo::decode(&bytes, ByteOrder::Little, PointerSize::Four).unwrap();
            assert_eq!(used, bytes.len());
            let kept = &read.records.as_ref().unwrap().records;
            assert_eq!(kept.len(), if fields == 0 { 0 } else { 2 });
            if fields & MQPMRF_FEEDBACK != 0 {
                assert_eq!(kept[1].feedback, 9);
            }
            let token = kept.last().map(|record| record.accounting_token);
            let expected = (fields & MQPMRF_ACCOUNTING_TOKEN != 0).then_some([12; 32]);
            assert_eq!(token.filter(|token| *token != [0; 32]), expected);
        }
        assert_eq!(PutRecord::length(0x20), None);
    }
}
