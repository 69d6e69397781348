//! MQCNO, the connect options: versions 1 to 8.
//!
//! Length with 4-byte pointers 12, 20, 148, 156, 188, 208, 240, 252; with 8-byte pointers
//! 12, 24, 152, 168, 200, 224, 256, 272. The structures it points to (MQCD, MQSCO, MQCSP,
//! MQBNO) are named by their offsets and belong to the caller; the CCDT URL follows.

use super::flat::{self, Rule, Strings};
use crate::codec::{Reader, StructError, Writer};
use crate::constants::{MQCNO_NONE, MQCONNID_NONE, MQCT_NONE};
use crate::{ByteOrder, Chars, PointerSize, Reason};

const CCDT_URL: Rule = Rule {
    field: "CCDTUrl",
    reason: Reason::CCDT_URL_ERROR,
    unknown_set: None,
    limit: i32::MAX,
};

/// Connect options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cno {
    /// Structure version, 1 to 8.
    pub version: i32,
    /// Options (MQCNO_).
    pub options: i32,
    /// Version 2: offset in bytes of the MQCD; 0 for none.
    pub client_conn_offset: i32,
    /// Version 3: connection tag.
    pub conn_tag: [u8; 128],
    /// Version 4: offset in bytes of the MQSCO; 0 for none.
    pub ssl_config_offset: i32,
    /// Version 5: identifier of the connection, set by the call.
    pub connection_id: [u8; 24],
    /// Version 5: offset in bytes of the MQCSP; 0 for none.
    pub security_parms_offset: i32,
    /// Version 6: URL of the client channel definition table.
    pub ccdt_url: String,
    /// Version 7: name of the application.
    pub appl_name: Chars<28>,
    /// Version 8: offset in bytes of the MQBNO; 0 for none.
    pub balance_parms_offset: i32,
}

impl Default for Cno {
    fn default() -> Self {
        Self {
            version: 1,
            options: MQCNO_NONE,
            client_conn_offset: 0,
            conn_tag: MQCT_NONE,
            ssl_config_offset: 0,
            connection_id: MQCONNID_NONE,
            security_parms_offset: 0,
            ccdt_url: String::new(),
            appl_name: Chars::BLANK,
            balance_parms_offset: 0,
        }
    }
}

impl Cno {
    /// Length in bytes of the fixed part of a version.
    pub fn length(version: i32, pointers: PointerSize) -> Option<usize> {
        let (narrow, wide) = match version {
            1 => (12, 12),
            2 => (20, 24),
            3 => (148, 152),
            4 => (156, 168),
            5 => (188, 200),
            6 => (208, 224),
            7 => (240, 256),
            8 => (252, 272),
            _ => return None,
        };
        Some(match pointers {
            PointerSize::Four => narrow,
            PointerSize::Eight => wide,
        })
    }

    /// Reads an MQCNO and the URL behind it; a fault is MQRC_CNO_ERROR, or
    /// MQRC_CCDT_URL_ERROR for the URL.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQCNO", Reason::CNO_ERROR);
        reader.eye_catcher(b"CNO ")?;
        let mut value = Self {
            version: reader.version(1, 8)?,
            options: reader.i32("Options")?,
            ..Self::default()
        };
        if value.version >= 2 {
            value.client_conn_offset = reader.i32("ClientConnOffset")?;
            reader.pointer("ClientConnPtr")?;
        }
        if value.version >= 3 {
            value.conn_tag = reader.array("ConnTag")?;
        }
        if value.version >= 4 {
            reader.pointer("SSLConfigPtr")?;
            value.ssl_config_offset = reader.i32("SSLConfigOffset")?;
        }
        if value.version >= 5 {
            value.connection_id = reader.array("ConnectionId")?;
            value.security_parms_offset = reader.i32("SecurityParmsOffset")?;
            reader.pointer("SecurityParmsPtr")?;
        }
        let base = Self::length(value.version, pointers).unwrap_or_default();
        let mut used = base;
        if value.version >= 6 {
            let (url, end) = flat::read_triple(&mut reader, pointers, base, CCDT_URL)?;
            reader.slice("Reserved", 8)?;
            value.ccdt_url = url;
            used = base.max(end);
        }
        if value.version >= 7 {
            value.appl_name = reader.chars("ApplName")?;
            reader.slice("Reserved2", 4)?;
        }
        if value.version >= 8 {
            reader.pointer("BalanceParmsPtr")?;
            value.balance_parms_offset = reader.i32("BalanceParmsOffset")?;
            reader.slice("Reserved3", 4)?;
        }
        // Version 4 with 8-byte pointers ends in alignment bytes.
        reader.slice("SSLConfigOffset", base - reader.at())?;
        Ok((value, used))
    }

    /// Appends the structure and its URL.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let version = self.version.clamp(1, 8);
        let base = Self::length(version, pointers).unwrap_or_default();
        let mut strings = Strings::new(base);
        let mut writer = Writer::new(out, order, pointers);
        writer.bytes(b"CNO ").i32(version).i32(self.options);
        if version >= 2 {
            writer.i32(self.client_conn_offset).null_pointer();
        }
        if version >= 3 {
            writer.bytes(&self.conn_tag);
        }
        if version >= 4 {
            writer.null_pointer().i32(self.ssl_config_offset);
        }
        if version >= 5 {
            writer
                .bytes(&self.connection_id)
                .i32(self.security_parms_offset)
                .null_pointer();
        }
        if version >= 6 {
            strings.triple(&mut writer, &self.ccdt_url);
            writer.zeros(8);
        }
        if version >= 7 {
            writer.chars(&self.appl_name).zeros(4);
        }
        if version >= 8 {
            writer
                .null_pointer()
                .i32(self.balance_parms_offset)
                .zeros(4);
        }
        let missing = base - writer.written();
        writer.zeros(missing);
        strings.finish(&mut writer);
    }
}
