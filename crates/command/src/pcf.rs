//! Programmable command format: command messages as bytes (manual: "Structures for commands
//! and responses", "Programmable command formats reference").
//!
//! A message is a header (MQCFH) and parameters; groups hold parameters in turn. Invariants
//! of decoding: lengths and counts are checked against the bytes that are there, and those of
//! a request against what it may have, before anything is read or allocated, groups nest at most [`MOST_NESTED`] deep, and a fault is
//! the MQRCCF_ reason that the manual gives for it, with its offset. Encoding pads text and
//! bytes to a multiple of four, as the manual requires; decoding does not insist on it.

mod authority;
mod commands;
mod decode;
mod encode;
mod escape;
mod refusal;
mod request;
mod response;
mod text;

pub use escape::{EscapeReplies, escape_command, escape_replies, escape_request, escape_texts};
pub use refusal::Refusal;
pub use request::{Request, request_of};
pub use response::{command_of, refusal, responses};

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, Reason};
use std::fmt;

/// How deep groups may nest.
pub const MOST_NESTED: usize = 8;

/// MQCFH: the header of a command or of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What the message is (MQCFT_).
    pub type_: i32,
    /// 1 to 3. Version 3 is for the response forms of z/OS and for groups.
    pub version: i32,
    /// The command (MQCMD_).
    pub command: i32,
    /// Number of the message in its set, from 1.
    pub msg_seq_number: i32,
    /// MQCFC_LAST or MQCFC_NOT_LAST.
    pub control: i32,
    /// Completion code of a response (MQCC_).
    pub comp_code: i32,
    /// Reason code of a response.
    pub reason: i32,
}

impl Header {
    /// The header of a request that is a message of its own.
    pub fn request(command: i32) -> Header {
        Header {
            type_: mq::MQCFT_COMMAND,
            version: mq::MQCFH_VERSION_1,
            command,
            msg_seq_number: 1,
            control: mq::MQCFC_LAST,
            comp_code: mq::MQCC_OK,
            reason: Reason::NONE.0,
        }
    }

    /// Whether no more messages of the set follow.
    pub fn is_last(&self) -> bool {
        self.control == mq::MQCFC_LAST
    }
}

/// Text with its coded character set, without trailing blanks or NULs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Coded character set identifier; 0 is the message's own.
    pub ccsid: i32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Text {
    /// UTF-8 text.
    pub fn new(text: &str) -> Text {
        Text {
            ccsid: UTF_8,
            bytes: text.as_bytes().to_vec(),
        }
    }

    /// The text as far as it can be shown: what is not UTF-8 becomes U+FFFD.
    pub fn shown(&self) -> String {
        let end = self
            .bytes
            .iter()
            .rposition(|byte| !matches!(byte, b' ' | 0))
            .map_or(0, |last| last + 1);
        let bytes = self.bytes.get(..end).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Fixed length of a byte string filter (MQCFBF_STRUC_LENGTH_FIXED).
const CFBF_FIXED: i32 = 20;

/// Coded character set of the text made here.
const UTF_8: i32 = 1208;

/// A parameter: what it is about, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// MQIA_, MQCA_, MQIACF_, MQCACF_, MQBACF_, MQGACF_ ... number.
    pub id: i32,
    /// Its value.
    pub value: Value,
}

/// The value of a parameter; each form is one structure of the manual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// MQCFIN.
    Int(i32),
    /// MQCFIN64.
    Int64(i64),
    /// MQCFST.
    Text(Text),
    /// MQCFIL.
    Ints(Vec<i32>),
    /// MQCFIL64.
    Ints64(Vec<i64>),
    /// MQCFSL: strings of one width.
    Texts {
        /// Coded character set identifier.
        ccsid: i32,
        /// Bytes of each string.
        width: usize,
        /// The strings.
        items: Vec<Vec<u8>>,
    },
    /// MQCFBS.
    Bytes(Vec<u8>),
    /// MQCFIF.
    IntFilter {
        /// MQCFOP_ number.
        operator: i32,
        /// What to compare with.
        value: i32,
    },
    /// MQCFSF.
    TextFilter {
        /// MQCFOP_ number.
        operator: i32,
        /// What to compare with.
        value: Text,
    },
    /// MQCFBF.
    BytesFilter {
        /// MQCFOP_ number.
        operator: i32,
        /// What to compare with.
        value: Vec<u8>,
    },
    /// MQCFGR and the parameters in it.
    Group(Vec<Parameter>),
}

impl Value {
    /// The texts of a list, or the one text, as far as they can be shown.
    fn shown_texts(&self) -> Vec<String> {
        match self {
            Value::Text(text) => vec![text.shown()],
            Value::Texts { ccsid, items, .. } => {
                let text = |bytes: &Vec<u8>| Text {
                    ccsid: *ccsid,
                    bytes: bytes.clone(),
                };
                items.iter().map(|bytes| text(bytes).shown()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The numbers of the commands in PCF that are carried out, Escape aside.
pub fn command_numbers() -> impl Iterator<Item = i32> {
    commands::all().map(|command| command.number)
}

/// A whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its header.
    pub header: Header,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

impl Message {
    /// The first integer parameter with an identifier.
    pub fn int(&self, id: i32) -> Option<i32> {
        self.parameters
            .iter()
            .find_map(|parameter| match parameter {
                Parameter {
                    id: found,
                    value: Value::Int(value),
                } if *found == id => Some(*value),
                _ => None,
            })
    }

    /// Every string parameter with an identifier, in order.
    pub fn texts(&self, id: i32) -> Vec<String> {
        let texts = self
            .parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter {
                    id: found,
                    value: Value::Text(text),
                } if *found == id => Some(text.shown()),
                _ => None,
            });
        texts.collect()
    }

    /// Reads the message at the start of `bytes`; also how many bytes it took.
    ///
    /// # Errors
    /// The reason for the first fault.
    pub fn decode(bytes: &[u8], order: ByteOrder) -> Result<(Message, usize), PcfError> {
        decode::message(bytes, order, decode::Limits::NONE)
    }

    /// Appends the bytes of the message.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder) {
        encode::message(self, out, order);
    }
}

/// The byte order in which `bytes` begin with an MQCFH, told by its length field.
pub fn byte_order(bytes: &[u8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|order| order.get_i32(bytes, 4) == Some(mq::MQCFH_STRUC_LENGTH))
}

/// The single message that `bytes` are, in either byte order, with no more in it than a request may have.
fn whole(bytes: &[u8]) -> Result<Message, PcfError> {
    let order = byte_order(bytes).ok_or(PcfError {
        reason: Reason::CCF_CFH_LENGTH_ERROR,
        offset: 0,
    })?;
    let (message, used) = decode::message(bytes, order, decode::Limits::REQUEST)?;
    match used == bytes.len() {
        true => Ok(message),
        false => Err(PcfError {
            reason: Reason::CCF_MSG_LENGTH_ERROR,
            offset: used,
        }),
    }
}

/// How a text of a request is had in UTF-8: by its bytes, in the coded character set that it names (0: that of the message's descriptor). None:
/// they are no text in that.
pub type ReadText<'a> = &'a dyn Fn(i32, &[u8]) -> Option<Vec<u8>>;

impl Message {
    /// Brings the text of a request into UTF-8; the parameter that is no text is the error. What is in groups stays, for no
    /// command has one.
    fn in_utf_8(&mut self, read: ReadText<'_>) -> Result<(), i32> {
        for Parameter { id, value } in &mut self.parameters {
            let read = |bytes: &[u8], ccsid: i32| read(ccsid, bytes).ok_or(*id);
            match value {
                Value::Text(text) | Value::TextFilter { value: text, .. }
                    if text.ccsid != UTF_8 =>
                {
                    text.bytes = read(&text.bytes, text.ccsid)?;
                    text.ccsid = UTF_8;
                }
                Value::Texts {
                    ccsid,
                    width,
                    items,
                } if *ccsid != UTF_8 => {
                    for item in items.iter_mut() {
                        *item = read(item, *ccsid)?;
                    }
                    *width = items.iter().map(Vec::len).max().unwrap_or(0);
                    *ccsid = UTF_8;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Why bytes are not a command message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcfError {
    /// MQRCCF_ reason.
    pub reason: Reason,
    /// Offset of the structure at fault.
    pub offset: usize,
}

impl fmt::Display for PcfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "command message, offset {}: {}",
            self.offset, self.reason
        )
    }
}

impl std::error::Error for PcfError {}

#[cfg(test)]
mod tests;
