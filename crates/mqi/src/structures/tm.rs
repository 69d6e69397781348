//! MQTM and MQTMC2, the trigger messages: 684 and 732 bytes.
//!
//! A queue manager puts an MQTM on an initiation queue; a trigger monitor passes the same
//! facts to the program it starts as an MQTMC2, which is text throughout.

use crate::codec::{Reader, StructError, Writer};
use crate::constants::MQTMC_VERSION_2;
use crate::{ByteOrder, Chars, Name, PointerSize, Reason};

/// Trigger message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tm {
    /// Queue whose trigger conditions were met.
    pub q_name: Name,
    /// Process object of the queue.
    pub process_name: Name,
    /// Trigger data of the queue.
    pub trigger_data: Chars<64>,
    /// Kind of application to start (MQAT_), from the process object.
    pub appl_type: i32,
    /// What to start, from the process object.
    pub appl_id: Chars<256>,
    /// Environment data of the process object.
    pub env_data: Chars<128>,
    /// User data of the process object.
    pub user_data: Chars<128>,
}

impl Tm {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 1).then_some(684)
    }

    /// Reads an MQTM; a fault is MQRC_TM_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQTM", Reason::TM_ERROR);
        reader.eye_catcher(b"TM  ")?;
        reader.version(1, 1)?;
        let value = Self {
            q_name: reader.chars("QName")?,
            process_name: reader.chars("ProcessName")?,
            trigger_data: reader.chars("TriggerData")?,
            appl_type: reader.i32("ApplType")?,
            appl_id: reader.chars("ApplId")?,
            env_data: reader.chars("EnvData")?,
            user_data: reader.chars("UserData")?,
        };
        Ok((value, reader.at()))
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        Writer::new(out, order, pointers)
            .bytes(b"TM  ")
            .i32(1)
            .chars(&self.q_name)
            .chars(&self.process_name)
            .chars(&self.trigger_data)
            .i32(self.appl_type)
            .chars(&self.appl_id)
            .chars(&self.env_data)
            .chars(&self.user_data);
    }
}

/// Trigger message in text form, for the program that is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tmc2 {
    /// Queue whose trigger conditions were met.
    pub q_name: Name,
    /// Process object of the queue.
    pub process_name: Name,
    /// Trigger data of the queue.
    pub trigger_data: Chars<64>,
    /// Kind of application; blank.
    pub appl_type: Chars<4>,
    /// What to start, from the process object.
    pub appl_id: Chars<256>,
    /// Environment data of the process object.
    pub env_data: Chars<128>,
    /// User data of the process object.
    pub user_data: Chars<128>,
    /// Queue manager of the queue.
    pub q_mgr_name: Name,
}

impl Tmc2 {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 2).then_some(732)
    }

    /// Reads an MQTMC2; a fault is MQRC_TMC_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQTMC2", Reason::TMC_ERROR);
        reader.eye_catcher(b"TMC ")?;
        let version = reader.at();
        if reader.array::<4>("Version")? != MQTMC_VERSION_2.as_bytes() {
            return Err(reader.fault("Version", version));
        }
        let value = Self {
            q_name: reader.chars("QName")?,
            process_name: reader.chars("ProcessName")?,
            trigger_data: reader.chars("TriggerData")?,
            appl_type: reader.chars("ApplType")?,
            appl_id: reader.chars("ApplId")?,
            env_data: reader.chars("EnvData")?,
            user_data: reader.chars("UserData")?,
            q_mgr_name: reader.chars("QMgrName")?,
        };
        Ok((value, reader.at()))
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        Writer::new(out, order, pointers)
            .bytes(b"TMC ")
            .bytes(MQTMC_VERSION_2.as_bytes())
            .chars(&self.q_name)
            .chars(&self.process_name)
            .chars(&self.trigger_data)
            .chars(&self.appl_type)
            .chars(&self.appl_id)
            .chars(&self.env_data)
            .chars(&self.user_data)
            .chars(&self.q_mgr_name);
    }

    /// What a trigger monitor of queue manager `q_mgr_name` makes of an MQTM.
    pub fn of_trigger(message: &Tm, q_mgr_name: Name) -> Self {
        Self {
            q_name: message.q_name,
            process_name: message.process_name,
            trigger_data: message.trigger_data,
            appl_type: Chars::BLANK,
            appl_id: message.appl_id,
            env_data: message.env_data,
            user_data: message.user_data,
            q_mgr_name,
        }
    }
}
