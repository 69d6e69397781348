//! MQSD, the subscription descriptor: version 1.
//!
//! Length of the fixed part with 4-byte pointers 312, with 8-byte pointers 344. Its five
//! strings follow it.

use super::flat::{self, Rule, Strings};
use crate::codec::{Reader, StructError, Writer};
use crate::constants::{
    MQ_SELECTOR_LENGTH, MQ_SUB_NAME_LENGTH, MQ_TOPIC_STR_LENGTH, MQ_USER_DATA_LENGTH, MQACT_NONE,
    MQCI_NONE, MQEI_UNLIMITED, MQPRI_PRIORITY_AS_PUBLISHED, MQSID_NONE, MQSO_NONE,
};
use crate::{ByteOrder, Chars, CorrelId, Name, PointerSize, Reason};

const OBJECT_STRING: Rule = Rule {
    field: "ObjectString",
    reason: Reason::OBJECT_STRING_ERROR,
    unknown_set: None,
    limit: MQ_TOPIC_STR_LENGTH,
};
const SUB_NAME: Rule = Rule {
    field: "SubName",
    reason: Reason::SUB_NAME_ERROR,
    unknown_set: None,
    limit: MQ_SUB_NAME_LENGTH,
};
const SUB_USER_DATA: Rule = Rule {
    field: "SubUserData",
    reason: Reason::SUB_USER_DATA_ERROR,
    unknown_set: None,
    limit: MQ_USER_DATA_LENGTH,
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

/// Subscription descriptor: what is subscribed to, and how.
///
/// The sizes are what the caller has room for (VSBufSize) in strings that MQSUB gives back,
/// in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sd {
    /// Structure version, 1.
    pub version: i32,
    /// What to do, and with what kind of subscription (MQSO_).
    pub options: i32,
    /// Topic object whose topic string comes before `object_string`; blank for none.
    pub object_name: Name,
    /// User whose authority counts, with MQSO_ALTERNATE_USER_AUTHORITY.
    pub alternate_user_id: Chars<12>,
    /// Security identifier that goes with the alternate user.
    pub alternate_security_id: [u8; 40],
    /// Life of the subscription in tenths of a second, or MQEI_UNLIMITED.
    pub sub_expiry: i32,
    /// Topic string, with wildcards.
    pub object_string: String,
    /// Name of the subscription; what is durable needs one.
    pub sub_name: String,
    /// Data that each publication brings along.
    pub sub_user_data: String,
    /// Bytes of room for `sub_user_data`.
    pub sub_user_data_size: i32,
    /// Correlation identifier of the publications.
    pub sub_correl_id: CorrelId,
    /// Priority of the publications, or MQPRI_PRIORITY_AS_ one.
    pub pub_priority: i32,
    /// Accounting token of the publications, with MQSO_SET_IDENTITY_CONTEXT.
    pub pub_accounting_token: [u8; 32],
    /// Identity data of the publications, with MQSO_SET_IDENTITY_CONTEXT.
    pub pub_appl_identity_data: Chars<32>,
    /// Selector that publications have to satisfy.
    pub selection_string: String,
    /// Bytes of room for `selection_string`.
    pub selection_string_size: i32,
    /// Level among subscribers that intercept publications, 0 to 9.
    pub sub_level: i32,
    /// Given back: the whole topic string.
    pub res_object_string: String,
    /// Bytes of room for `res_object_string`.
    pub res_object_string_size: i32,
    /// What of its strings is beyond the Basic Multilingual Plane came as two surrogates of three bytes each, as IBM's Java
    /// client writes it, or is to be given to one so.
    pub surrogates: bool,
}

impl Default for Sd {
    fn default() -> Self {
        Self {
            version: 1,
            options: MQSO_NONE,
            object_name: Name::BLANK,
            alternate_user_id: Chars::BLANK,
            alternate_security_id: MQSID_NONE,
            sub_expiry: MQEI_UNLIMITED,
            object_string: String::new(),
            sub_name: String::new(),
            sub_user_data: String::new(),
            sub_user_data_size: 0,
            sub_correl_id: MQCI_NONE,
            pub_priority: MQPRI_PRIORITY_AS_PUBLISHED,
            pub_accounting_token: MQACT_NONE,
            pub_appl_identity_data: Chars::BLANK,
            selection_string: String::new(),
            selection_string_size: 0,
            sub_level: 1,
            res_object_string: String::new(),
            res_object_string_size: 0,
            surrogates: false,
        }
    }
}

impl Sd {
    /// Length in bytes of the fixed part of a version.
    pub fn length(version: i32, pointers: PointerSize) -> Option<usize> {
        match (version, pointers) {
            (1, PointerSize::Four) => Some(312),
            (1, PointerSize::Eight) => Some(344),
            _ => None,
        }
    }

    /// Reads an MQSD and the strings behind it; a fault is MQRC_SD_ERROR, or the reason
    /// code of the string at fault.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQSD", Reason::SD_ERROR);
        reader.eye_catcher(b"SD  ")?;
        let version = reader.version(1, 1)?;
        let base = Self::length(version, pointers).unwrap_or_default();
        // The whole fixed part first: a cut structure is an MQSD error, not a string error.
        if bytes.len() < base {
            return Err(reader.fault("ResObjectString", bytes.len()));
        }
        let options = reader.i32("Options")?;
        let object_name = reader.chars("ObjectName")?;
        let alternate_user_id = reader.chars("AlternateUserId")?;
        let alternate_security_id = reader.array("AlternateSecurityId")?;
        let sub_expiry = reader.i32("SubExpiry")?;
        reader.align("ObjectString", pointers.bytes())?;
        let object = flat::read_charv(&mut reader, pointers, base, OBJECT_STRING)?;
        let name = flat::read_charv(&mut reader, pointers, base, SUB_NAME)?;
        let user_data = flat::read_charv(&mut reader, pointers, base, SUB_USER_DATA)?;
        let sub_correl_id = reader.array("SubCorrelId")?;
        let pub_priority = reader.i32("PubPriority")?;
        let pub_accounting_token = reader.array("PubAccountingToken")?;
        let pub_appl_identity_data = reader.chars("PubApplIdentityData")?;
        reader.align("SelectionString", pointers.bytes())?;
        let selection = flat::read_charv(&mut reader, pointers, base, SELECTION_STRING)?;
        let sub_level = reader.i32("SubLevel")?;
        reader.align("ResObjectString", pointers.bytes())?;
        let resolved = flat::read_charv(&mut reader, pointers, base, RES_OBJECT_STRING)?;
        let strings = [&object, &name, &user_data, &selection, &resolved];
        let surrogates = strings.iter().any(|found| found.surrogates);
        let used = strings.iter().map(|found| found.end).fold(base, usize::max);
        let value = Self {
            version,
            options,
            object_name,
            alternate_user_id,
            alternate_security_id,
            sub_expiry,
            object_string: object.text,
            sub_name: name.text,
            sub_user_data: user_data.text,
            sub_user_data_size: user_data.size,
            sub_correl_id,
            pub_priority,
            pub_accounting_token,
            pub_appl_identity_data,
            selection_string: selection.text,
            selection_string_size: selection.size,
            sub_level,
            res_object_string: resolved.text,
            res_object_string_size: resolved.size,
            surrogates,
        };
        Ok((value, used))
    }

    /// Appends the structure and its strings.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let mut writer = Writer::new(out, order, pointers);
        let mut strings = Strings::new(Self::length(1, pointers).unwrap_or_default())
            .in_surrogates(self.surrogates);
        writer
            .bytes(b"SD  ")
            .i32(1)
            .i32(self.options)
            .chars(&self.object_name)
            .chars(&self.alternate_user_id)
            .bytes(&self.alternate_security_id)
            .i32(self.sub_expiry)
            .align(pointers.bytes());
        strings.charv(&mut writer, &self.object_string, 0);
        strings.charv(&mut writer, &self.sub_name, 0);
        strings.charv(&mut writer, &self.sub_user_data, self.sub_user_data_size);
        writer
            .bytes(&self.sub_correl_id)
            .i32(self.pub_priority)
            .bytes(&self.pub_accounting_token)
            .chars(&self.pub_appl_identity_data)
            .align(pointers.bytes());
        strings.charv(
            &mut writer,
            &self.selection_string,
            self.selection_string_size,
        );
        writer.i32(self.sub_level).align(pointers.bytes());
        strings.charv(
            &mut writer,
            &self.res_object_string,
            self.res_object_string_size,
        );
        strings.finish(&mut writer);
    }
}
