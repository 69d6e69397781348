//! MQSTS, the status structure of MQSTAT: versions 1 (224 bytes) and 2.
//!
//! Length of version 2 with 4-byte pointers 272, with 8-byte pointers 280; its strings
//! follow the fixed part.

use super::flat::{self, Rule, Strings};
use crate::codec::{Reader, StructError, Writer};
use crate::constants::{MQ_SUB_NAME_LENGTH, MQ_TOPIC_STR_LENGTH, MQOT_Q};
use crate::{ByteOrder, Name, PointerSize, Reason};

const OBJECT_STRING: Rule = Rule {
    field: "ObjectString",
    reason: Reason::STS_ERROR,
    unknown_set: None,
    limit: MQ_TOPIC_STR_LENGTH,
};
const SUB_NAME: Rule = Rule {
    field: "SubName",
    reason: Reason::STS_ERROR,
    unknown_set: None,
    limit: MQ_SUB_NAME_LENGTH,
};

/// Status of asynchronous puts, or of a reconnection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sts {
    /// Structure version, 1 or 2.
    pub version: i32,
    /// Completion code of the first operation that did not succeed.
    pub comp_code: i32,
    /// Reason code of that operation.
    pub reason: i32,
    /// Asynchronous puts that succeeded.
    pub put_success_count: i32,
    /// Asynchronous puts that gave a warning.
    pub put_warning_count: i32,
    /// Asynchronous puts that failed.
    pub put_failure_count: i32,
    /// Type of the object concerned (MQOT_).
    pub object_type: i32,
    /// Name of the object concerned.
    pub object_name: Name,
    /// Queue manager of that object.
    pub object_q_mgr_name: Name,
    /// Name of the object after resolution.
    pub resolved_object_name: Name,
    /// Queue manager after resolution.
    pub resolved_q_mgr_name: Name,
    /// Version 2: long name of the object concerned.
    pub object_string: String,
    /// Bytes of room for `object_string`.
    pub object_string_size: i32,
    /// Version 2: name of the subscription concerned.
    pub sub_name: String,
    /// Version 2: open options of the object concerned.
    pub open_options: i32,
    /// Version 2: options of the subscription concerned.
    pub sub_options: i32,
    /// What of its strings is beyond the Basic Multilingual Plane came as two surrogates of three bytes each, as IBM's Java
    /// client writes it, or is to be given to one so.
    pub surrogates: bool,
}

impl Default for Sts {
    fn default() -> Self {
        Self {
            version: 1,
            comp_code: 0,
            reason: 0,
            put_success_count: 0,
            put_warning_count: 0,
            put_failure_count: 0,
            object_type: MQOT_Q,
            object_name: Name::BLANK,
            object_q_mgr_name: Name::BLANK,
            resolved_object_name: Name::BLANK,
            resolved_q_mgr_name: Name::BLANK,
            object_string: String::new(),
            object_string_size: 0,
            sub_name: String::new(),
            open_options: 0,
            sub_options: 0,
            surrogates: false,
        }
    }
}

impl Sts {
    /// Length in bytes of the fixed part of a version.
    pub fn length(version: i32, pointers: PointerSize) -> Option<usize> {
        match version {
            1 => Some(224),
            2 => Some(232 + 2 * pointers.charv_length()),
            _ => None,
        }
    }

    /// Reads an MQSTS and the strings behind it; a fault is MQRC_STS_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQSTS", Reason::STS_ERROR);
        reader.eye_catcher(b"STAT")?;
        let mut value = Self {
            version: reader.version(1, 2)?,
            comp_code: reader.i32("CompCode")?,
            reason: reader.i32("Reason")?,
            put_success_count: reader.i32("PutSuccessCount")?,
            put_warning_count: reader.i32("PutWarningCount")?,
            put_failure_count: reader.i32("PutFailureCount")?,
            object_type: reader.i32("ObjectType")?,
            object_name: reader.chars("ObjectName")?,
            object_q_mgr_name: reader.chars("ObjectQMgrName")?,
            resolved_object_name: reader.chars("ResolvedObjectName")?,
            resolved_q_mgr_name: reader.chars("ResolvedQMgrName")?,
            ..Self::default()
        };
        let mut used = reader.at();
        if value.version >= 2 {
            let base = Self::length(2, pointers).unwrap_or_default();
            let object = flat::read_charv(&mut reader, pointers, base, OBJECT_STRING)?;
            let sub = flat::read_charv(&mut reader, pointers, base, SUB_NAME)?;
            value.surrogates = object.surrogates || sub.surrogates;
            value.object_string = object.text;
            value.object_string_size = object.size;
            value.sub_name = sub.text;
            value.open_options = reader.i32("OpenOptions")?;
            value.sub_options = reader.i32("SubOptions")?;
            used = base.max(object.end).max(sub.end);
        }
        Ok((value, used))
    }

    /// The same for whoever has given this structure to be filled: his version, as much of the string as he has room for, and
    /// in the form in which he reads it.
    pub fn within(self, given: &Sts, surrogates: bool) -> Self {
        let width = |c: char| match c.len_utf8() {
            4 if surrogates => 6,
            length => length,
        };
        let mut room = usize::try_from(given.object_string_size).unwrap_or(0);
        let fits = |c: &char| {
            let left = room.checked_sub(width(*c));
            room = left.unwrap_or(0);
            left.is_some()
        };
        Self {
            version: given.version,
            object_string: self.object_string.chars().take_while(fits).collect(),
            object_string_size: given.object_string_size,
            surrogates,
            ..self
        }
    }

    /// Appends the structure and its strings.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let version = self.version.clamp(1, 2);
        let mut writer = Writer::new(out, order, pointers);
        writer
            .bytes(b"STAT")
            .i32(version)
            .i32(self.comp_code)
            .i32(self.reason)
            .i32(self.put_success_count)
            .i32(self.put_warning_count)
            .i32(self.put_failure_count)
            .i32(self.object_type)
            .chars(&self.object_name)
            .chars(&self.object_q_mgr_name)
            .chars(&self.resolved_object_name)
            .chars(&self.resolved_q_mgr_name);
        if version >= 2 {
            let mut strings = Strings::new(Self::length(2, pointers).unwrap_or_default())
                .in_surrogates(self.surrogates);
            strings.charv(&mut writer, &self.object_string, self.object_string_size);
            strings.charv(&mut writer, &self.sub_name, 0);
            writer.i32(self.open_options).i32(self.sub_options);
            strings.finish(&mut writer);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn there_is_as_much_of_the_string_as_there_is_room_for() {
        let sts = Sts {
            object_string: "a/\u{1d11e}é".to_owned(),
            ..Sts::default()
        };
        for (surrogates, room, expected) in [
            (false, 0, ""),
            (false, 5, "a/"),
            (false, 6, "a/\u{1d11e}"),
            (false, 8, "a/\u{1d11e}é"),
            (true, 7, "a/"),
            (true, 8, "a/\u{1d11e}"),
            (true, 10, "a/\u{1d11e}é"),
            (true, -1, ""),
        ] {
            let given = Sts {
                version: 2,
                object_string_size: room,
                ..Sts::default()
            };
            let filled = sts.clone().within(&given, surrogates);
            assert_eq!(filled.object_string, expected, "{room}");
            let mut bytes = Vec::new();
            filled.encode(&mut bytes, ByteOrder::Little, PointerSize::Four);
            let (read, _) = Sts::decode(&bytes, ByteOrder::Little, PointerSize::Four).unwrap();
            let beyond = expected.contains('\u{1d11e}');
            assert_eq!(read.surrogates, surrogates && beyond);
            assert_eq!(
                (read.object_string, read.object_string_size),
                (filled.object_string, room.max(0))
            );
        }
    }
}
