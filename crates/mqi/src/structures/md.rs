//! MQMD, the message descriptor: versions 1 (324 bytes) and 2 (364 bytes).
//!
//! The layout has no pointers, so both pointer widths are alike.

use crate::codec::{Image, Reader, StructError};
use crate::constants::{
    MQACT_NONE, MQCCSI_Q_MGR, MQCI_NONE, MQEI_UNLIMITED, MQENC_NATIVE, MQFB_NONE, MQGI_NONE,
    MQMF_NONE, MQMI_NONE, MQMT_DATAGRAM, MQOL_UNDEFINED, MQPER_PERSISTENCE_AS_Q_DEF,
    MQPRI_PRIORITY_AS_Q_DEF, MQRO_NONE,
};
use crate::{ByteOrder, Chars, CorrelId, GroupId, MsgId, Name, PointerSize, Reason};

/// Message descriptor.
///
/// `Default` is MQMD_DEFAULT: a version 1 datagram that never expires, with priority and
/// persistence of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Md {
    /// Structure version, 1 or 2.
    pub version: i32,
    /// Reports wanted, and what happens to the message's identifiers (MQRO_).
    pub report: i32,
    /// Type of message (MQMT_).
    pub msg_type: i32,
    /// Lifetime in tenths of a second; MQEI_UNLIMITED for ever.
    pub expiry: i32,
    /// Nature of a report (MQFB_, or a reason code).
    pub feedback: i32,
    /// Encoding of the numbers in the data (MQENC_).
    pub encoding: i32,
    /// Character set of the texts in the data.
    pub coded_char_set_id: i32,
    /// Format of the data (MQFMT_).
    pub format: Chars<8>,
    /// Priority 0 to 9, or MQPRI_PRIORITY_AS_Q_DEF.
    pub priority: i32,
    /// Persistence (MQPER_).
    pub persistence: i32,
    /// Message identifier.
    pub msg_id: MsgId,
    /// Correlation identifier.
    pub correl_id: CorrelId,
    /// How often the message was got and backed out.
    pub backout_count: i32,
    /// Queue for replies and reports.
    pub reply_to_q: Name,
    /// Queue manager of that queue.
    pub reply_to_q_mgr: Name,
    /// Identity context: who put the message.
    pub user_identifier: Chars<12>,
    /// Identity context: accounting token.
    pub accounting_token: [u8; 32],
    /// Identity context: data of the application.
    pub appl_identity_data: Chars<32>,
    /// Origin context: kind of application (MQAT_).
    pub put_appl_type: i32,
    /// Origin context: name of the application.
    pub put_appl_name: Chars<28>,
    /// Origin context: date of the put, YYYYMMDD, GMT.
    pub put_date: Chars<8>,
    /// Origin context: time of the put, HHMMSSTH, GMT.
    pub put_time: Chars<8>,
    /// Origin context: data of the application.
    pub appl_origin_data: Chars<4>,
    /// Version 2: group identifier.
    pub group_id: GroupId,
    /// Version 2: number of the logical message within its group, from 1.
    pub msg_seq_number: i32,
    /// Version 2: offset in bytes of a segment in its logical message.
    pub offset: i32,
    /// Version 2: group and segment flags (MQMF_).
    pub msg_flags: i32,
    /// Version 2: length in bytes of the original message; MQOL_UNDEFINED if unknown.
    pub original_length: i32,
}

impl Default for Md {
    fn default() -> Self {
        Self {
            version: 1,
            report: MQRO_NONE,
            msg_type: MQMT_DATAGRAM,
            expiry: MQEI_UNLIMITED,
            feedback: MQFB_NONE,
            encoding: MQENC_NATIVE,
            coded_char_set_id: MQCCSI_Q_MGR,
            format: Chars::BLANK,
            priority: MQPRI_PRIORITY_AS_Q_DEF,
            persistence: MQPER_PERSISTENCE_AS_Q_DEF,
            msg_id: MQMI_NONE,
            correl_id: MQCI_NONE,
            backout_count: 0,
            reply_to_q: Name::BLANK,
            reply_to_q_mgr: Name::BLANK,
            user_identifier: Chars::BLANK,
            accounting_token: MQACT_NONE,
            appl_identity_data: Chars::BLANK,
            put_appl_type: 0,
            put_appl_name: Chars::BLANK,
            put_date: Chars::BLANK,
            put_time: Chars::BLANK,
            appl_origin_data: Chars::BLANK,
            group_id: MQGI_NONE,
            msg_seq_number: 1,
            offset: 0,
            msg_flags: MQMF_NONE,
            original_length: MQOL_UNDEFINED,
        }
    }
}

impl Md {
    /// Offset of MsgId in an encoded descriptor of any version.
    pub const MSG_ID_AT: usize = 48;
    /// Offset of CorrelId.
    pub const CORREL_ID_AT: usize = 72;
    /// Offset of ReplyToQ.
    pub const REPLY_TO_Q_AT: usize = 100;
    /// Offset of ReplyToQMgr.
    pub const REPLY_TO_Q_MGR_AT: usize = 148;

    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        match version {
            1 => Some(324),
            2 => Some(364),
            _ => None,
        }
    }

    /// Reads an MQMD; a fault is MQRC_MD_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut value = Self::default();
        let used = value.decode_over(bytes, order, pointers)?;
        Ok((value, used))
    }

    /// The same over a value that has its defaults; gives the length. After a fault the value is of no use.
    pub fn decode_over(
        &mut self,
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<usize, StructError> {
        let reader = Reader::new(bytes, order, pointers, "MQMD", Reason::MD_ERROR);
        match reader.with_room::<364>() {
            Some(reader) => self.read(reader),
            None => self.read(reader),
        }
    }

    #[inline(always)]
    fn read(&mut self, mut reader: Reader<'_>) -> Result<usize, StructError> {
        reader.eye_catcher(b"MD  ")?;
        let version = reader.version(1, 2)?;
        self.version = version;
        self.report = reader.i32("Report")?;
        self.msg_type = reader.i32("MsgType")?;
        self.expiry = reader.i32("Expiry")?;
        self.feedback = reader.i32("Feedback")?;
        self.encoding = reader.i32("Encoding")?;
        self.coded_char_set_id = reader.i32("CodedCharSetId")?;
        self.format = reader.chars("Format")?;
        self.priority = reader.i32("Priority")?;
        self.persistence = reader.i32("Persistence")?;
        self.msg_id = reader.array("MsgId")?;
        self.correl_id = reader.array("CorrelId")?;
        self.backout_count = reader.i32("BackoutCount")?;
        self.reply_to_q = reader.chars("ReplyToQ")?;
        self.reply_to_q_mgr = reader.chars("ReplyToQMgr")?;
        self.user_identifier = reader.chars("UserIdentifier")?;
        self.accounting_token = reader.array("AccountingToken")?;
        self.appl_identity_data = reader.chars("ApplIdentityData")?;
        self.put_appl_type = reader.i32("PutApplType")?;
        self.put_appl_name = reader.chars("PutApplName")?;
        self.put_date = reader.chars("PutDate")?;
        self.put_time = reader.chars("PutTime")?;
        self.appl_origin_data = reader.chars("ApplOriginData")?;
        if version >= 2 {
            self.group_id = reader.array("GroupId")?;
            self.msg_seq_number = reader.i32("MsgSeqNumber")?;
            self.offset = reader.i32("Offset")?;
            self.msg_flags = reader.i32("MsgFlags")?;
            self.original_length = reader.i32("OriginalLength")?;
        }
        Ok(reader.at())
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, _pointers: PointerSize) {
        let version = self.version.clamp(1, 2);
        let mut image = Image::<364>::new(order);
        image
            .bytes(b"MD  ")
            .i32(version)
            .i32(self.report)
            .i32(self.msg_type)
            .i32(self.expiry)
            .i32(self.feedback)
            .i32(self.encoding)
            .i32(self.coded_char_set_id)
            .chars(&self.format)
            .i32(self.priority)
            .i32(self.persistence)
            .bytes(&self.msg_id)
            .bytes(&self.correl_id)
            .i32(self.backout_count)
            .chars(&self.reply_to_q)
            .chars(&self.reply_to_q_mgr)
            .chars(&self.user_identifier)
            .bytes(&self.accounting_token)
            .chars(&self.appl_identity_data)
            .i32(self.put_appl_type)
            .chars(&self.put_appl_name)
            .chars(&self.put_date)
            .chars(&self.put_time)
            .chars(&self.appl_origin_data);
        if version >= 2 {
            image
                .bytes(&self.group_id)
                .i32(self.msg_seq_number)
                .i32(self.offset)
                .i32(self.msg_flags)
                .i32(self.original_length);
        }
        image.append_to(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What follows a descriptor has no say in how it is read, and of a short one the field is told that is missing.
    #[test]
    fn a_descriptor_is_read_alike_with_and_without_more_behind_it() {
        for (version, length) in [(1, 324), (2, 364)] {
            for order in [ByteOrder::Big, ByteOrder::Little] {
                let md = Md {
                    version,
                    msg_id: [7; 24],
                    put_appl_name: Chars::new("payroll"),
                    original_length: if version == 2 { 99 } else { MQOL_UNDEFINED },
                    ..Md::default()
                };
                let mut bytes = Vec::new();
                md.encode(&mut bytes, order, PointerSize::Four);
                assert_eq!(bytes.len(), length);
                let decoded = |bytes: &[u8]| Md::decode(bytes, order, PointerSize::Four);
                assert_eq!(decoded(&bytes), Ok((md.clone(), length)));
                let short = decoded(&bytes[..length - 1]).unwrap_err();
                let last = ["ApplOriginData", "OriginalLength"][version as usize - 1];
                assert_eq!((short.field, short.offset), (last, length - 4));
                bytes.resize(length + 2048, 0xff);
                assert_eq!(decoded(&bytes), Ok((md, length)));
            }
        }
    }
}
