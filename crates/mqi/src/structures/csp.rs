//! MQCSP, the connection security parameters: versions 1 to 3.
//!
//! Length with 4-byte pointers 48, 68, 88; with 8-byte pointers 56, 80, 104. The texts
//! follow the fixed part. Secrets never show in `Debug`.

use super::flat::{self, Rule, Strings};
use crate::codec::{Reader, StructError, Writer};
use crate::constants::{
    MQ_CLIENT_USER_ID_LENGTH, MQ_CSP_PASSWORD_LENGTH, MQ_CSP_TOKEN_LENGTH, MQ_INITIAL_KEY_LENGTH,
    MQCSP_AUTH_NONE,
};
use crate::{ByteOrder, PointerSize, Reason};
use std::fmt;

const fn rule(field: &'static str, limit: i32) -> Rule {
    Rule {
        field,
        reason: Reason::CSP_ERROR,
        unknown_set: None,
        limit,
    }
}

/// Connection security parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct Csp {
    /// Structure version, 1 to 3.
    pub version: i32,
    /// How the user is authenticated (MQCSP_AUTH_).
    pub authentication_type: i32,
    /// User identifier.
    pub csp_user_id: String,
    /// Password.
    pub csp_password: String,
    /// Version 2: initial key of password protection.
    pub initial_key: String,
    /// Version 3: authentication token.
    pub token: String,
}

impl Default for Csp {
    fn default() -> Self {
        Self {
            version: 1,
            authentication_type: MQCSP_AUTH_NONE,
            csp_user_id: String::new(),
            csp_password: String::new(),
            initial_key: String::new(),
            token: String::new(),
        }
    }
}

impl fmt::Debug for Csp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Csp")
            .field("version", &self.version)
            .field("authentication_type", &self.authentication_type)
            .field("csp_user_id", &self.csp_user_id)
            .finish_non_exhaustive()
    }
}

impl Csp {
    /// Length in bytes of the fixed part of a version.
    pub fn length(version: i32, pointers: PointerSize) -> Option<usize> {
        let wide = pointers == PointerSize::Eight;
        match version {
            1 => Some(if wide { 56 } else { 48 }),
            2 => Some(if wide { 80 } else { 68 }),
            3 => Some(if wide { 104 } else { 88 }),
            _ => None,
        }
    }

    /// Reads an MQCSP and the texts behind it; a fault is MQRC_CSP_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQCSP", Reason::CSP_ERROR);
        reader.eye_catcher(b"CSP ")?;
        let version = reader.version(1, 3)?;
        let mut value = Self {
            version,
            ..Self::default()
        };
        value.authentication_type = reader.i32("AuthenticationType")?;
        let base = Self::length(version, pointers).unwrap_or_default();
        let mut used = base;
        let mut string = |reader: &mut Reader<'_>, rule| {
            let (text, end) = flat::read_triple(reader, pointers, base, rule)?;
            used = used.max(end);
            Ok(text)
        };
        reader.slice("Reserved1", 4)?;
        value.csp_user_id = string(&mut reader, rule("CSPUserId", MQ_CLIENT_USER_ID_LENGTH))?;
        reader.slice("Reserved2", 8)?;
        value.csp_password = string(&mut reader, rule("CSPPassword", MQ_CSP_PASSWORD_LENGTH))?;
        if version >= 2 {
            reader.slice("Reserved3", 8)?;
            value.initial_key = string(&mut reader, rule("InitialKey", MQ_INITIAL_KEY_LENGTH))?;
        }
        if version >= 3 {
            reader.slice("Reserved4", 8)?;
            value.token = string(&mut reader, rule("Token", MQ_CSP_TOKEN_LENGTH))?;
        }
        Ok((value, used))
    }

    /// Appends the structure and its texts.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let version = self.version.clamp(1, 3);
        let mut strings = Strings::new(Self::length(version, pointers).unwrap_or_default());
        let mut writer = Writer::new(out, order, pointers);
        writer
            .bytes(b"CSP ")
            .i32(version)
            .i32(self.authentication_type)
            .zeros(4);
        strings.triple(&mut writer, &self.csp_user_id);
        writer.zeros(8);
        strings.triple(&mut writer, &self.csp_password);
        if version >= 2 {
            writer.zeros(8);
            strings.triple(&mut writer, &self.initial_key);
        }
        if version >= 3 {
            writer.zeros(8);
            strings.triple(&mut writer, &self.token);
        }
        strings.finish(&mut writer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_show() {
        let csp = Csp {
            csp_user_id: "alice".into(),
            csp_password: "s3cret-password".into(),
            initial_key: "s3cret-key".into(),
            token: "s3cret-token".into(),
            ..Csp::default()
        };
        let shown = format!("{csp:?}");
        assert!(shown.contains("alice"));
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
