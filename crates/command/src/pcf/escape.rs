//! MQSC text inside command messages: the Escape command and its responses (manual:
//! "MQCMD_ESCAPE (Escape)").
//!
//! A request carries one command. The answer is a set of messages: one for each object
//! shown and one for each message text, numbered from 1, the last marked MQCFC_LAST. Each
//! carries its text, lines separated by line feeds, and the outcome of the whole command.

use super::{Header, Message, Parameter, PcfError, ReadText, Text, Value, whole};
use crate::reply::{Reply, render};
use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, CompCode, Reason};

/// The bytes of an Escape request with one MQSC command, in this machine's byte order.
pub fn escape_request(mqsc: &str) -> Vec<u8> {
    escape(Header::request(mq::MQCMD_ESCAPE), mqsc, ByteOrder::NATIVE)
}

fn escape(header: Header, text: &str, order: ByteOrder) -> Vec<u8> {
    let message = Message {
        header,
        parameters: vec![
            Parameter {
                id: mq::MQIACF_ESCAPE_TYPE,
                value: Value::Int(mq::MQET_MQSC),
            },
            Parameter {
                id: mq::MQCACF_ESCAPE_TEXT,
                value: Value::Text(Text::new(text)),
            },
        ],
    };
    let mut out = Vec::new();
    message.encode(&mut out, order);
    out
}

/// The MQSC command in a request; `read` is what a text says.
///
/// # Errors
/// The reason that the response must carry when the bytes are not an Escape request.
pub fn escape_command(bytes: &[u8], read: ReadText<'_>) -> Result<String, PcfError> {
    let mut message = whole(bytes)?;
    let refuse = |reason| Err(PcfError { reason, offset: 0 });
    if message.in_utf_8(read).is_err() {
        return refuse(Reason::CCF_CCSID_ERROR);
    }
    let header = &message.header;
    if ![mq::MQCFT_COMMAND, mq::MQCFT_COMMAND_XR].contains(&header.type_) {
        return refuse(Reason::CCF_CFH_TYPE_ERROR);
    }
    if header.command != mq::MQCMD_ESCAPE {
        return refuse(Reason::CCF_CFH_COMMAND_ERROR);
    }
    if header.msg_seq_number != 1 {
        return refuse(Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR);
    }
    if !header.is_last() {
        return refuse(Reason::CCF_CFH_CONTROL_ERROR);
    }
    if message.int(mq::MQIACF_ESCAPE_TYPE) != Some(mq::MQET_MQSC) {
        return refuse(Reason::CCF_ESCAPE_TYPE_ERROR);
    }
    let mut texts = message.texts(mq::MQCACF_ESCAPE_TEXT);
    match (texts.pop(), texts.is_empty()) {
        (Some(text), true) => Ok(text),
        (None, _) => refuse(Reason::CCF_PARM_COUNT_TOO_SMALL),
        (Some(_), false) => refuse(Reason::CCF_CFST_DUPLICATE_PARM),
    }
}

/// The texts in one message, request or response.
///
/// # Errors
/// The reason when the bytes are not one whole command message.
pub fn escape_texts(bytes: &[u8]) -> Result<Vec<String>, PcfError> {
    Ok(whole(bytes)?.texts(mq::MQCACF_ESCAPE_TEXT))
}

/// The response messages to an Escape request; `command` is the number of the command that the text is (manual: "Escape
/// (Response)"), that of Escape itself if it is none.
pub fn escape_replies(command: i32, reply: &Reply, order: ByteOrder) -> Vec<Vec<u8>> {
    let rows = reply.rows.iter().map(|row| Reply {
        rows: vec![row.clone()],
        ..Reply::default()
    });
    let messages = reply.messages.iter().map(|message| Reply {
        messages: vec![message.clone()],
        ..Reply::default()
    });
    let mut texts: Vec<String> = rows
        .chain(messages)
        .map(|part| render(&part).trim_end_matches('\n').to_owned())
        .collect();
    if texts.is_empty() {
        texts.push(String::new());
    }
    let comp_code = match reply.ok {
        true => CompCode::Ok,
        false => CompCode::Failed,
    };
    let last = texts.len() - 1;
    let message = |(at, text): (usize, &String)| {
        let header = Header {
            type_: mq::MQCFT_RESPONSE,
            version: mq::MQCFH_VERSION_1,
            command,
            msg_seq_number: i32::try_from(at + 1).unwrap_or(i32::MAX),
            control: if at == last {
                mq::MQCFC_LAST
            } else {
                mq::MQCFC_NOT_LAST
            },
            comp_code: comp_code.code(),
            reason: reply.reason.0,
        };
        escape(header, text, order)
    };
    texts.iter().enumerate().map(message).collect()
}

/// Puts the responses to one request together again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EscapeReplies {
    texts: Vec<String>,
    complete: bool,
    failed: bool,
    reason: i32,
    next: i32,
}

impl EscapeReplies {
    /// Nothing has arrived yet.
    pub fn new() -> Self {
        EscapeReplies::default()
    }

    /// Takes the next message; true when it was the last.
    ///
    /// # Errors
    /// When the bytes are not a response to an Escape request, or not the next one.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, PcfError> {
        let message = whole(bytes)?;
        let header = &message.header;
        let refuse = |reason| Err(PcfError { reason, offset: 0 });
        if header.type_ != mq::MQCFT_RESPONSE {
            return refuse(Reason::CCF_CFH_TYPE_ERROR);
        }
        if self.complete || header.msg_seq_number != self.next.saturating_add(1) {
            return refuse(Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR);
        }
        self.next = header.msg_seq_number;
        self.complete = header.is_last();
        if header.comp_code == mq::MQCC_FAILED {
            self.failed = true;
            self.reason = header.reason;
        }
        let texts = message.texts(mq::MQCACF_ESCAPE_TEXT);
        self.texts
            .extend(texts.into_iter().filter(|text| !text.is_empty()));
        Ok(self.complete)
    }

    /// The texts so far, in order.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether the command was carried out; `None` until the last message.
    pub fn outcome(&self) -> Option<Result<(), Reason>> {
        match (self.complete, self.failed) {
            (false, _) => None,
            (true, false) => Some(Ok(())),
            (true, true) => Some(Err(Reason(self.reason))),
        }
    }
}
