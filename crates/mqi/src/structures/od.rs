//! MQOD, the object descriptor: versions 1 to 4.
//!
//! Length of the fixed part with 4-byte pointers 168, 200, 336, 400; with 8-byte pointers
//! 168, 208, 344, 424. The strings of version 4 follow it, and object and response records of
//! a distribution list.

use super::flat::{self, Rule, Strings};
use super::records::{Behind, ObjectRecords, Place};
use crate::codec::{Reader, StructError, Writer};
use crate::constants::{MQ_SELECTOR_LENGTH, MQ_TOPIC_STR_LENGTH, MQOT_NONE, MQOT_Q, MQSID_NONE};
use crate::{ByteOrder, Chars, Name, PointerSize, Reason};

/// Where version 2 has its offsets of object records and of response records.
const RECORD_OFFSETS: [usize; 2] = [184, 188];

const OBJECT_STRING: Rule = Rule {
    field: "ObjectString",
    reason: Reason::OBJECT_STRING_ERROR,
    unknown_set: None,
    limit: MQ_TOPIC_STR_LENGTH,
};
const SELECTION_STRING: Rule = Rule {
    field: "SelectionString",
    reason: Reason::SELECTION_STRING_ERROR,
    unknown_set: Some(Reason::SOURCE_CCSID_ERROR),
    limit: MQ_SELECTOR_LENGTH,
};
const RES_OBJECT_STRING: Rule = Rule {
    field: "ResObjectString",
    reason: Reason::RES_OBJECT_STRING_ERROR,
    unknown_set: None,
    limit: MQ_TOPIC_STR_LENGTH,
};

/// Object descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Od {
    /// Structure version, 1 to 4.
    pub version: i32,
    /// Type of object (MQOT_).
    pub object_type: i32,
    /// Name of the object; after the open of a model queue, of the dynamic queue.
    pub object_name: Name,
    /// Name of the object's queue manager; blank for the local one.
    pub object_q_mgr_name: Name,
    /// Name of the dynamic queue to make, or its beginning followed by `*`.
    pub dynamic_q_name: Name,
    /// User whose authority counts, with MQOO_ALTERNATE_USER_AUTHORITY.
    pub alternate_user_id: Chars<12>,
    /// Version 2: number of object records of a distribution list.
    pub recs_present: i32,
    /// Version 2: local queues opened.
    pub known_dest_count: i32,
    /// Version 2: remote queues opened.
    pub unknown_dest_count: i32,
    /// Version 2: queues that could not be opened.
    pub invalid_dest_count: i32,
    /// Version 2: offset in bytes of the first object record.
    pub object_rec_offset: i32,
    /// Version 2: offset in bytes of the first response record.
    pub response_rec_offset: i32,
    /// Version 2: the records, if they are where the offsets say. Those that are written may be anywhere.
    pub records: Option<Box<ObjectRecords>>,
    /// Version 3: security identifier that goes with the alternate user.
    pub alternate_security_id: [u8; 40],
    /// Version 3: name of the queue after resolution.
    pub resolved_q_name: Name,
    /// Version 3: name of the queue manager after resolution.
    pub resolved_q_mgr_name: Name,
    /// Version 4: long name of the object (topic string).
    pub object_string: String,
    /// Version 4: selector for the messages to get.
    pub selection_string: String,
    /// Version 4: long name of the object after resolution.
    pub res_object_string: String,
    /// Version 4: bytes the caller has room for in `res_object_string` (VSBufSize).
    pub res_object_string_size: i32,
    /// Version 4: type of object after resolution (MQOT_).
    pub resolved_type: i32,
    /// Version 4: what of its strings is beyond the Basic Multilingual Plane came as two surrogates of three bytes each, as
    /// IBM's Java client writes it, or is to be given to one so.
    pub surrogates: bool,
}

impl Default for Od {
    fn default() -> Self {
        Self {
            version: 1,
            object_type: MQOT_Q,
            object_name: Name::BLANK,
            object_q_mgr_name: Name::BLANK,
            dynamic_q_name: Name::new("AMQ.*"),
            alternate_user_id: Chars::BLANK,
            recs_present: 0,
            known_dest_count: 0,
            unknown_dest_count: 0,
            invalid_dest_count: 0,
            object_rec_offset: 0,
            response_rec_offset: 0,
            records: None,
            alternate_security_id: MQSID_NONE,
            resolved_q_name: Name::BLANK,
            resolved_q_mgr_name: Name::BLANK,
            object_string: String::new(),
            selection_string: String::new(),
            res_object_string: String::new(),
            res_object_string_size: 0,
            resolved_type: MQOT_NONE,
            surrogates: false,
        }
    }
}

impl Od {
    /// Length in bytes of the fixed part of a version.
    pub fn length(version: i32, pointers: PointerSize) -> Option<usize> {
        let wide = pointers == PointerSize::Eight;
        match version {
            1 => Some(168),
            2 => Some(if wide { 208 } else { 200 }),
            3 => Some(if wide { 344 } else { 336 }),
            4 => Some(if wide { 424 } else { 400 }),
            _ => None,
        }
    }

    /// Reads an MQOD and the strings behind it; a fault is MQRC_OD_ERROR, or the reason
    /// code of the string at fault.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQOD", Reason::OD_ERROR);
        reader.eye_catcher(b"OD  ")?;
        let mut value = Self {
            version: reader.version(1, 4)?,
            object_type: reader.i32("ObjectType")?,
            object_name: reader.chars("ObjectName")?,
            object_q_mgr_name: reader.chars("ObjectQMgrName")?,
            dynamic_q_name: reader.chars("DynamicQName")?,
            alternate_user_id: reader.chars("AlternateUserId")?,
            ..Self::default()
        };
        if value.version >= 2 {
            value.recs_present = reader.i32("RecsPresent")?;
            value.known_dest_count = reader.i32("KnownDestCount")?;
            value.unknown_dest_count = reader.i32("UnknownDestCount")?;
            value.invalid_dest_count = reader.i32("InvalidDestCount")?;
            value.object_rec_offset = reader.i32("ObjectRecOffset")?;
            value.response_rec_offset = reader.i32("ResponseRecOffset")?;
            reader.pointer("ObjectRecPtr")?;
            reader.pointer("ResponseRecPtr")?;
        }
        if value.version >= 3 {
            value.alternate_security_id = reader.array("AlternateSecurityId")?;
            value.resolved_q_name = reader.chars("ResolvedQName")?;
            value.resolved_q_mgr_name = reader.chars("ResolvedQMgrName")?;
        }
        let mut used = reader.at();
        if value.version >= 4 {
            used = value.read_version_4(&mut reader, pointers)?;
        }
        if value.recs_present > 0 {
            let place = Place {
                all: bytes,
                base: Self::length(value.version, pointers).unwrap_or_default(),
                order,
                count: value.recs_present,
            };
            let (objects, responses) = (value.object_rec_offset, value.response_rec_offset);
            if let Some((records, end)) = place.object_records(objects, responses) {
                value.records = Some(records);
                used = used.max(end);
            }
        }
        Ok((value, used))
    }

    fn read_version_4(
        &mut self,
        reader: &mut Reader<'_>,
        pointers: PointerSize,
    ) -> Result<usize, StructError> {
        let base = Self::length(4, pointers).unwrap_or_default();
        // The whole fixed part first: a cut structure is an MQOD error, not a string error.
        if reader.all().len() < base {
            return Err(reader.fault("ObjectString", reader.all().len()));
        }
        let object = flat::read_charv(reader, pointers, base, OBJECT_STRING)?;
        let selection = flat::read_charv(reader, pointers, base, SELECTION_STRING)?;
        let resolved = flat::read_charv(reader, pointers, base, RES_OBJECT_STRING)?;
        self.resolved_type = reader.i32("ResolvedType")?;
        self.object_string = object.text;
        self.selection_string = selection.text;
        self.res_object_string = resolved.text;
        self.res_object_string_size = resolved.size;
        self.surrogates = object.surrogates || selection.surrogates || resolved.surrogates;
        Ok(base.max(object.end).max(selection.end).max(resolved.end))
    }

    /// Appends the structure, its strings and its records.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let start = out.len();
        self.encode_structure(out, order, pointers);
        if let Some(records) = self.records.as_deref().filter(|_| self.version >= 2) {
            let wanted = [self.object_rec_offset, self.response_rec_offset];
            let behind = Behind::new(out, start, order);
            behind.object_records(records, RECORD_OFFSETS, wanted);
        }
    }

    fn encode_structure(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let version = self.version.clamp(1, 4);
        let mut writer = Writer::new(out, order, pointers);
        writer
            .bytes(b"OD  ")
            .i32(version)
            .i32(self.object_type)
            .chars(&self.object_name)
            .chars(&self.object_q_mgr_name)
            .chars(&self.dynamic_q_name)
            .chars(&self.alternate_user_id);
        if version >= 2 {
            writer
                .i32(self.recs_present)
                .i32(self.known_dest_count)
                .i32(self.unknown_dest_count)
                .i32(self.invalid_dest_count)
                .i32(self.object_rec_offset)
                .i32(self.response_rec_offset)
                .null_pointer()
                .null_pointer();
        }
        if version >= 3 {
            writer
                .bytes(&self.alternate_security_id)
                .chars(&self.resolved_q_name)
                .chars(&self.resolved_q_mgr_name);
        }
        if version >= 4 {
            let mut strings = Strings::new(Self::length(4, pointers).unwrap_or_default())
                .in_surrogates(self.surrogates);
            strings.charv(&mut writer, &self.object_string, 0);
            strings.charv(&mut writer, &self.selection_string, 0);
            strings.charv(
                &mut writer,
                &self.res_object_string,
                self.res_object_string_size,
            );
            writer.i32(self.resolved_type).align(pointers.bytes());
            strings.finish(&mut writer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_surrogates_is_given_back_in_them() {
        let od = Od {
            version: 4,
            object_string: "a/\u{1f600}/é".to_owned(),
            selection_string: "b = '\u{1f600}'".to_owned(),
            surrogates: true,
            ..Od::default()
        };
        let mut bytes = Vec::new();
        od.encode(&mut bytes, ByteOrder::Little, PointerSize::Four);
        let read = Od::decode(&bytes, ByteOrder::Little, PointerSize::Four);
        assert_eq!(read, Ok((od.clone(), bytes.len())));
        let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(holds(b"a/\xed\xa0\xbd\xed\xb8\x80/\xc3\xa9"), "{bytes:x?}");
        let plain = Od {
            surrogates: false,
            ..od
        };
        bytes.clear();
        plain.encode(&mut bytes, ByteOrder::Little, PointerSize::Four);
        let read = Od::decode(&bytes, ByteOrder::Little, PointerSize::Four);
        assert_eq!(read, Ok((plain, bytes.len())));
    }

    /// MQCHARV of the selection string in version 4 with 4-byte pointers: its CCSID is the last field.
    #[test]
    fn a_selection_string_says_what_is_wrong_with_its_character_set() {
        let od = Od {
            version: 4,
            selection_string: "größe = 1".to_owned(),
            ..Od::default()
        };
        let mut bytes = Vec::new();
        od.encode(&mut bytes, ByteOrder::Big, PointerSize::Four);
        let wanted = 1208i32.to_be_bytes();
        let sets: Vec<usize> = (336..396)
            .filter(|at| bytes[*at..*at + 4] == wanted)
            .collect();
        let at = sets[1];
        let mut with = |ccsid: i32| {
            bytes[at..at + 4].copy_from_slice(&ccsid.to_be_bytes());
            let decoded = Od::decode(&bytes, ByteOrder::Big, PointerSize::Four);
            decoded
                .map(|(od, _)| od.selection_string)
                .map_err(|fault| (fault.reason, fault.field))
        };
        assert_eq!(with(1208).as_deref(), Ok("größe = 1"));
        assert_eq!(with(819).as_deref(), Ok("grÃ¶Ã\u{9f}e = 1"));
        let field = "SelectionString";
        assert_eq!(with(500), Err((Reason::SOURCE_CCSID_ERROR, field)));
        // Eleven bytes are no UTF-16.
        assert_eq!(with(1200), Err((Reason::SELECTION_STRING_ERROR, field)));
    }
}
