//! The response messages to a request in PCF (manual: "Standard responses").
//!
//! Invariants: rows of an answer are messages of a set, the last marked MQCFC_LAST. A command that failed is answered with its
//! reason and the parameter that is at fault, and behind that with MQRCCF_COMMAND_FAILED, which ends the set.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, CompCode, Reason};

use super::commands::{Form, PcfCommand};
use super::refusal::Refusal;
use super::{Header, Message, Parameter, Text, UTF_8, Value};
use crate::attribute::{Attribute, ValueKind, from_hex};
use crate::kinds::ObjectKind;
use crate::reply::{Reply, Row};
use crate::value;

/// The number of the command in a request, whatever else is wrong with it.
pub fn command_of(bytes: &[u8]) -> Option<i32> {
    super::byte_order(bytes)?.get_i32(bytes, 12)
}

/// Whether PCF has it as bytes.
fn is_bytes(attribute: &Attribute) -> bool {
    (mq::MQBACF_FIRST..=mq::MQBACF_LAST_USED).contains(&attribute.selector)
}

/// What PCF says instead of nothing (manual: "Inquire Queue Status (Response)").
fn not_available(attribute: &Attribute) -> Option<Value> {
    match attribute.selector {
        mq::MQIACF_OLDEST_MSG_AGE => Some(Value::Int(mq::MQMON_NOT_AVAILABLE)),
        mq::MQIACF_Q_TIME_INDICATOR => Some(Value::Ints(vec![mq::MQMON_NOT_AVAILABLE; 2])),
        _ => None,
    }
}

/// What an answer says of one object.
fn parameters(row: &Row) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = Vec::with_capacity(row.len());
    for cell in row.cells() {
        let attribute = cell.attribute();
        let value = match cell.value() {
            value::Value::Int(number) => match i32::try_from(*number) {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Int64(*number),
            },
            // What is not known has no number, but for what has one for that.
            value::Value::Blank
                if attribute.is_int()
                    || matches!(attribute.kind, ValueKind::Ints | ValueKind::Keywords(_)) =>
            {
                match not_available(attribute) {
                    Some(value) => value,
                    None => continue,
                }
            }
            value::Value::Blank if is_bytes(attribute) => Value::Bytes(Vec::new()),
            value::Value::Ints(numbers) => {
                let small: Result<Vec<i32>, _> = numbers
                    .iter()
                    .map(|number| i32::try_from(*number))
                    .collect();
                small.map_or_else(|_| Value::Ints64(numbers.clone()), Value::Ints)
            }
            value::Value::Texts(texts) => texts_of(texts, attribute.char_length),
            value::Value::Bytes(bytes) => Value::Bytes(bytes.clone()),
            // MQSC shows as digits what is bytes in PCF.
            value::Value::Text(digits) if is_bytes(attribute) => {
                from_hex(digits).map_or_else(|| Value::Text(Text::new(digits)), Value::Bytes)
            }
            value::Value::Text(text) if !attribute.secret => Value::Text(Text::new(text)),
            _ => Value::Text(Text::new(cell.shown().trim_end())),
        };
        // In PCF one identifier has both halves of MQSC's, of which EXTCONN is the first.
        if let ("EXTCONN", Value::Bytes(first)) = (attribute.keyword, &value)
            && let Some(Parameter {
                value: Value::Bytes(connection),
                ..
            }) = all
                .iter_mut()
                .find(|one| one.id == mq::MQBACF_CONNECTION_ID)
        {
            connection.splice(..0, first.iter().copied());
            continue;
        }
        let id = attribute.selector;
        // What is shown in several ways is told once.
        if id > 0 && all.iter().all(|parameter| parameter.id != id) {
            all.push(Parameter { id, value });
        }
    }
    all
}

/// A list of texts of one width.
fn texts_of(texts: &[String], width: usize) -> Value {
    let longest = texts.iter().map(String::len).max().unwrap_or(0);
    let width = width.max(longest);
    let padded = |text: &String| {
        let mut bytes = text.clone().into_bytes();
        bytes.resize(width, b' ');
        bytes
    };
    Value::Texts {
        ccsid: UTF_8,
        width,
        items: texts.iter().map(padded).collect(),
    }
}

/// All names in one answer, and the types beside them.
fn names(command: &PcfCommand, list: i32, types: i32, reply: &Reply) -> Vec<Parameter> {
    let rows = || reply.rows.iter().map(|(_, _, row)| parameters(row));
    let text = |all: Vec<Parameter>| match all.first() {
        Some(Parameter {
            value: Value::Text(text),
            ..
        }) => text.shown(),
        _ => String::new(),
    };
    let type_ = |all: Vec<Parameter>| {
        let selector = command.type_selector();
        let of_type = all.into_iter().find(|one| Some(one.id) == selector);
        match of_type.map(|one| one.value) {
            Some(Value::Int(code)) => code,
            _ => 0,
        }
    };
    let all: Vec<String> = rows().map(text).collect();
    let width = command
        .kinds()
        .iter()
        .copied()
        .map(ObjectKind::name_length)
        .max();
    let mut parameters = vec![Parameter {
        id: list,
        value: texts_of(&all, width.unwrap_or(0)),
    }];
    if types != 0 {
        let value = Value::Ints(rows().map(type_).collect());
        parameters.push(Parameter { id: types, value });
    }
    parameters
}

/// The response messages to a request in PCF that was carried out, or that failed, in `parameter` if that is known;
/// `always` is in each of them.
pub fn responses(
    number: i32,
    reply: &Reply,
    (parameter, always): (Option<i32>, &[Parameter]),
    order: ByteOrder,
) -> Vec<Vec<u8>> {
    if !reply.ok {
        let reason = match reply.reason {
            Reason::OBJECT_ALREADY_EXISTS => Reason::CCF_OBJECT_ALREADY_EXISTS,
            Reason::OBJECT_TYPE_ERROR => Reason::CCF_OBJECT_WRONG_TYPE,
            reason => reason,
        };
        let fault = parameter.map(|id| (mq::MQIACF_PARAMETER_ID, id));
        return refusal(number, &Refusal { reason, fault }, order);
    }
    let command = PcfCommand::numbered(number);
    let mut sets: Vec<Vec<Parameter>> = match command.map(|command| (command, command.form)) {
        Some((command, Form::Names(list, types))) => vec![names(command, list, types, reply)],
        _ => reply
            .rows
            .iter()
            .map(|(_, _, row)| [always, &parameters(row)].concat())
            .collect(),
    };
    if sets.is_empty() {
        sets.push(Vec::new());
    }
    let outcomes = sets
        .into_iter()
        .map(|set| (CompCode::Ok, reply.reason, set));
    set_of(number, outcomes.collect(), order)
}

/// The response messages to a request that is refused.
pub fn refusal(number: i32, why: &Refusal, order: ByteOrder) -> Vec<Vec<u8>> {
    let parameter = |(id, value): (i32, i32)| Parameter {
        id,
        value: Value::Int(value),
    };
    let mut set = Vec::new();
    if ![Reason::NONE, Reason::CCF_COMMAND_FAILED].contains(&why.reason) {
        let fault = why.fault.map(parameter).into_iter().collect();
        set.push((CompCode::Failed, why.reason, fault));
    }
    set.push((CompCode::Failed, Reason::CCF_COMMAND_FAILED, Vec::new()));
    set_of(number, set, order)
}

/// Messages that belong together.
fn set_of(
    number: i32,
    set: Vec<(CompCode, Reason, Vec<Parameter>)>,
    order: ByteOrder,
) -> Vec<Vec<u8>> {
    let last = set.len().saturating_sub(1);
    let encoded = |(at, (comp_code, reason, parameters)): (usize, (CompCode, Reason, _))| {
        let header = Header {
            type_: mq::MQCFT_RESPONSE,
            version: mq::MQCFH_VERSION_1,
            command: number,
            msg_seq_number: i32::try_from(at + 1).unwrap_or(i32::MAX),
            control: match at == last {
                true => mq::MQCFC_LAST,
                false => mq::MQCFC_NOT_LAST,
            },
            comp_code: comp_code.code(),
            reason: reason.0,
        };
        let mut out = Vec::new();
        Message { header, parameters }.encode(&mut out, order);
        out
    };
    set.into_iter().enumerate().map(encoded).collect()
}
