//! Commands in PCF other than Escape: each is the MQSC command that does the same, and its answer has PCF's form (manual:
//! "Definitions of the programmable command formats").
//!
//! Invariants: what a request says is either in the command that is made of it, or the request is refused with PCF's
//! reason; text is in quotes, so that no value becomes another parameter. Rows of an answer are messages of a set, the last
//! marked MQCFC_LAST; a command that failed is one message with its reason.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, CompCode, Reason};

use super::{Header, Message, Parameter, PcfError, Text, UTF_8, Value, whole};
use crate::attribute::{Attribute, from_hex, shown};
use crate::command::{DisplayType, DisplayWhat};
use crate::kinds::ObjectKind;
use crate::reply::{Reply, Row};
use crate::statuses::status_rows;
use crate::table::by_selector;
use crate::value;

/// What kind of command a PCF command is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// DISPLAY of objects or of what is true of them; the number is that of the list of attributes.
    Inquire(i32),
    /// DISPLAY QUEUE, answered with the names alone.
    QueueNames,
    Create,
    Change,
    Delete,
    /// One that has nothing but a name, and for STOP a mode.
    Plain,
}

/// A PCF command: its number, verb and noun, the number of the name (0: there is none), and what it is about.
struct Programmed {
    command: i32,
    form: Form,
    verb: &'static str,
    noun: &'static str,
    name: i32,
    kinds: &'static [ObjectKind],
    status: Option<DisplayWhat>,
}

const QUEUES: &[ObjectKind] = &[
    ObjectKind::QLocal,
    ObjectKind::QModel,
    ObjectKind::QAlias,
    ObjectKind::QRemote,
];
const CHANNELS: &[ObjectKind] = &[ObjectKind::SvrConn, ObjectKind::ClntConn];

const fn of(
    command: i32,
    form: Form,
    words: (&'static str, &'static str),
    name: i32,
    kinds: &'static [ObjectKind],
) -> Programmed {
    Programmed {
        command,
        form,
        verb: words.0,
        noun: words.1,
        name,
        kinds,
        status: None,
    }
}

const fn state(
    command: i32,
    attributes: i32,
    noun: &'static str,
    name: i32,
    what: DisplayWhat,
) -> Programmed {
    Programmed {
        command,
        form: Form::Inquire(attributes),
        verb: "DISPLAY",
        noun,
        name,
        kinds: &[],
        status: Some(what),
    }
}

macro_rules! objects {
    ($($noun:literal $name:ident $attributes:ident $kinds:expr, $inquire:ident $create:ident $change:ident $delete:ident;)*) => {
        &[$(
            of(mq::$inquire, Form::Inquire(mq::$attributes), ("DISPLAY", $noun), mq::$name, $kinds),
            of(mq::$create, Form::Create, ("DEFINE", $noun), mq::$name, $kinds),
            of(mq::$change, Form::Change, ("ALTER", $noun), mq::$name, $kinds),
            of(mq::$delete, Form::Delete, ("DELETE", $noun), mq::$name, $kinds),
        )*]
    };
}

/// Objects that are inquired, made, changed and deleted.
const OBJECTS: &[Programmed] = objects! {
    "QUEUE" MQCA_Q_NAME MQIACF_Q_ATTRS QUEUES, MQCMD_INQUIRE_Q MQCMD_CREATE_Q MQCMD_CHANGE_Q MQCMD_DELETE_Q;
    "CHANNEL" MQCACH_CHANNEL_NAME MQIACF_CHANNEL_ATTRS CHANNELS,
        MQCMD_INQUIRE_CHANNEL MQCMD_CREATE_CHANNEL MQCMD_CHANGE_CHANNEL MQCMD_DELETE_CHANNEL;
    "TOPIC" MQCA_TOPIC_NAME MQIACF_TOPIC_ATTRS &[ObjectKind::Topic],
        MQCMD_INQUIRE_TOPIC MQCMD_CREATE_TOPIC MQCMD_CHANGE_TOPIC MQCMD_DELETE_TOPIC;
    "NAMELIST" MQCA_NAMELIST_NAME MQIACF_NAMELIST_ATTRS &[ObjectKind::Namelist],
        MQCMD_INQUIRE_NAMELIST MQCMD_CREATE_NAMELIST MQCMD_CHANGE_NAMELIST MQCMD_DELETE_NAMELIST;
    "PROCESS" MQCA_PROCESS_NAME MQIACF_PROCESS_ATTRS &[ObjectKind::Process],
        MQCMD_INQUIRE_PROCESS MQCMD_CREATE_PROCESS MQCMD_CHANGE_PROCESS MQCMD_DELETE_PROCESS;
    "LISTENER" MQCACH_LISTENER_NAME MQIACF_LISTENER_ATTRS &[ObjectKind::Listener],
        MQCMD_INQUIRE_LISTENER MQCMD_CREATE_LISTENER MQCMD_CHANGE_LISTENER MQCMD_DELETE_LISTENER;
};

/// The others.
const OTHERS: &[Programmed] = &[
    of(
        mq::MQCMD_INQUIRE_Q_MGR,
        Form::Inquire(mq::MQIACF_Q_MGR_ATTRS),
        ("DISPLAY", "QMGR"),
        0,
        &[ObjectKind::Qmgr],
    ),
    of(
        mq::MQCMD_CHANGE_Q_MGR,
        Form::Change,
        ("ALTER", "QMGR"),
        0,
        &[ObjectKind::Qmgr],
    ),
    of(
        mq::MQCMD_INQUIRE_Q_NAMES,
        Form::QueueNames,
        ("DISPLAY", "QUEUE"),
        mq::MQCA_Q_NAME,
        QUEUES,
    ),
    of(
        mq::MQCMD_INQUIRE_SUBSCRIPTION,
        Form::Inquire(mq::MQIACF_SUB_ATTRS),
        ("DISPLAY", "SUB"),
        mq::MQCACF_SUB_NAME,
        &[ObjectKind::Sub],
    ),
    of(
        mq::MQCMD_CLEAR_Q,
        Form::Plain,
        ("CLEAR", "QLOCAL"),
        mq::MQCA_Q_NAME,
        &[],
    ),
    of(
        mq::MQCMD_START_CHANNEL,
        Form::Plain,
        ("START", "CHANNEL"),
        mq::MQCACH_CHANNEL_NAME,
        &[],
    ),
    of(
        mq::MQCMD_STOP_CHANNEL,
        Form::Plain,
        ("STOP", "CHANNEL"),
        mq::MQCACH_CHANNEL_NAME,
        &[],
    ),
    of(mq::MQCMD_PING_Q_MGR, Form::Plain, ("PING", "QMGR"), 0, &[]),
    state(
        mq::MQCMD_INQUIRE_Q_MGR_STATUS,
        mq::MQIACF_Q_MGR_STATUS_ATTRS,
        "QMSTATUS",
        0,
        DisplayWhat::QMStatus,
    ),
    state(
        mq::MQCMD_INQUIRE_Q_STATUS,
        mq::MQIACF_Q_STATUS_ATTRS,
        "QSTATUS",
        mq::MQCA_Q_NAME,
        DisplayWhat::QStatus,
    ),
    state(
        mq::MQCMD_INQUIRE_CHANNEL_STATUS,
        mq::MQIACH_CHANNEL_INSTANCE_ATTRS,
        "CHSTATUS",
        mq::MQCACH_CHANNEL_NAME,
        DisplayWhat::ChStatus,
    ),
    state(
        mq::MQCMD_INQUIRE_CONNECTION,
        mq::MQIACF_CONNECTION_ATTRS,
        "CONN",
        mq::MQBACF_GENERIC_CONNECTION_ID,
        DisplayWhat::Conn,
    ),
];

/// Operators of filters and their words.
const OPERATORS: [(i32, &str); 10] = [
    (mq::MQCFOP_LESS, "LT"),
    (mq::MQCFOP_EQUAL, "EQ"),
    (mq::MQCFOP_NOT_GREATER, "LE"),
    (mq::MQCFOP_GREATER, "GT"),
    (mq::MQCFOP_NOT_EQUAL, "NE"),
    (mq::MQCFOP_NOT_LESS, "GE"),
    (mq::MQCFOP_CONTAINS, "CT"),
    (mq::MQCFOP_EXCLUDES, "EX"),
    (mq::MQCFOP_LIKE, "LK"),
    (mq::MQCFOP_NOT_LIKE, "NL"),
];

/// A request in PCF: the MQSC command that is to be carried out, and the number of the command that its answer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The command in MQSC.
    pub mqsc: String,
    /// The command (MQCMD_).
    pub command: i32,
}

fn refused<T>(reason: Reason) -> Result<T, PcfError> {
    Err(PcfError { reason, offset: 0 })
}

/// Text as MQSC has it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.trim_end().replace('\'', "''"))
}

impl Programmed {
    fn by_number(command: i32) -> Option<&'static Programmed> {
        let mut all = OBJECTS.iter().chain(OTHERS);
        all.find(|programmed| programmed.command == command)
    }

    /// The attribute with a number, of any of the kinds.
    fn attribute(&self, selector: i32) -> Option<&'static Attribute> {
        let of_object = self
            .kinds
            .iter()
            .find_map(|kind| by_selector(*kind, selector));
        of_object.or_else(|| {
            let mut rows = status_rows(self.status?, DisplayType::All).into_iter();
            rows.find(|row| row.selector == selector)
        })
    }

    /// The noun; the kind of queue where that is said or has to be.
    fn noun(&self, request: &Message) -> Result<&'static str, PcfError> {
        let edits = matches!(self.form, Form::Create | Form::Change | Form::Delete);
        if self.name != mq::MQCA_Q_NAME || !edits {
            return Ok(self.noun);
        }
        let of_type = |one: &&Parameter| one.id == mq::MQIA_Q_TYPE;
        if request.parameters.iter().filter(of_type).count() > 1 {
            return refused(Reason::CCF_CFIN_DUPLICATE_PARM);
        }
        match request.int(mq::MQIA_Q_TYPE) {
            Some(mq::MQQT_LOCAL) => Ok("QLOCAL"),
            Some(mq::MQQT_MODEL) => Ok("QMODEL"),
            Some(mq::MQQT_ALIAS) => Ok("QALIAS"),
            Some(mq::MQQT_REMOTE) => Ok("QREMOTE"),
            None if self.form == Form::Delete => Ok("QLOCAL"),
            None => refused(Reason::CCF_PARM_COUNT_TOO_SMALL),
            Some(_) => refused(Reason::CCF_Q_TYPE_ERROR),
        }
    }

    /// Verb, noun and name.
    fn beginning(&self, request: &Message) -> Result<String, PcfError> {
        let (verb, noun) = (self.verb, self.noun(request)?);
        if self.name == 0 {
            return Ok(format!("{verb} {noun}"));
        }
        if self.name == mq::MQBACF_GENERIC_CONNECTION_ID {
            let wanted = request.parameters.iter().find(|one| one.id == self.name);
            return match wanted.map(|wanted| &wanted.value) {
                Some(Value::Bytes(id)) if id.iter().all(|byte| *byte == 0) => {
                    Ok(format!("{verb} {noun}(*)"))
                }
                Some(_) => refused(Reason::CCF_CFST_STRING_LENGTH_ERR),
                None => refused(Reason::CCF_PARM_COUNT_TOO_SMALL),
            };
        }
        let mut names = request.texts(self.name);
        match (names.pop(), names.is_empty()) {
            (Some(name), true) => Ok(format!("{verb} {noun}({})", quoted(&name))),
            (Some(_), false) => refused(Reason::CCF_CFST_DUPLICATE_PARM),
            (None, _) => refused(Reason::CCF_PARM_COUNT_TOO_SMALL),
        }
    }

    /// A parameter that every command of its form may have. `None`: it is none of these.
    fn common(&self, parameter: &Parameter) -> Option<String> {
        let edits = matches!(self.form, Form::Create | Form::Change | Form::Delete);
        let of_queues = self.name == mq::MQCA_Q_NAME;
        let word = match (parameter.id, &parameter.value) {
            (id, Value::Text(_) | Value::Bytes(_)) if id == self.name && id != 0 => "",
            (mq::MQIA_Q_TYPE, Value::Int(mq::MQQT_ALL)) if of_queues => "",
            (mq::MQIA_Q_TYPE, Value::Int(_)) if of_queues && edits => "",
            // No others are kept.
            (mq::MQIACH_CHANNEL_INSTANCE_TYPE, Value::Int(mq::MQOT_CURRENT_CHANNEL))
                if self.command == mq::MQCMD_INQUIRE_CHANNEL_STATUS =>
            {
                ""
            }
            (mq::MQIACF_CONN_INFO_TYPE, Value::Int(mq::MQIACF_CONN_INFO_ALL))
                if self.command == mq::MQCMD_INQUIRE_CONNECTION =>
            {
                " TYPE(ALL)"
            }
            (mq::MQIACF_REPLACE, Value::Int(mq::MQRP_NO)) if self.form == Form::Create => "",
            (mq::MQIACF_REPLACE, Value::Int(mq::MQRP_YES)) if self.form == Form::Create => {
                " REPLACE"
            }
            (mq::MQIACF_PURGE, Value::Int(mq::MQPO_NO)) if self.form == Form::Delete => "",
            (mq::MQIACF_PURGE, Value::Int(mq::MQPO_YES)) if self.form == Form::Delete => " PURGE",
            (mq::MQIACF_FORCE, Value::Int(mq::MQFC_NO)) if self.form == Form::Change => "",
            (mq::MQIACF_FORCE, Value::Int(mq::MQFC_YES)) if self.form == Form::Change => " FORCE",
            (mq::MQIACF_MODE, Value::Int(mode)) if self.command == mq::MQCMD_STOP_CHANNEL => {
                match *mode {
                    mq::MQMODE_FORCE => " MODE(FORCE)",
                    mq::MQMODE_QUIESCE => " MODE(QUIESCE)",
                    mq::MQMODE_TERMINATE => " MODE(TERMINATE)",
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(word.to_owned())
    }

    /// What is added to the command for a parameter of the request.
    fn parameter(&self, parameter: &Parameter) -> Result<String, PcfError> {
        if let Some(common) = self.common(parameter) {
            return Ok(common);
        }
        match (self.form, &parameter.value) {
            (Form::Inquire(list), Value::Ints(wanted)) if parameter.id == list => {
                self.wanted(wanted)
            }
            (Form::Plain, _) => refused(unknown(&parameter.value)),
            (_, value) => {
                let attribute = self.attribute(parameter.id);
                let attribute = attribute.ok_or(PcfError {
                    reason: unknown(value),
                    offset: 0,
                })?;
                match self.form {
                    Form::Create | Form::Change => given(attribute, value),
                    _ => self.chosen(attribute, value),
                }
            }
        }
    }

    /// The keywords of a list of attributes.
    fn wanted(&self, wanted: &[i32]) -> Result<String, PcfError> {
        if wanted.contains(&mq::MQIACF_ALL) {
            return Ok(" ALL".to_owned());
        }
        // Those are in every answer.
        let always = |selector: i32| selector == self.name || selector == mq::MQIA_Q_TYPE;
        let mut words = String::new();
        for selector in wanted.iter().filter(|selector| !always(**selector)) {
            let Some(attribute) = self.attribute(*selector) else {
                return refused(Reason::CCF_CFIL_PARM_ID_ERROR);
            };
            words.push(' ');
            words.push_str(attribute.keyword);
        }
        Ok(words)
    }

    /// A parameter by which objects are chosen: a type, or a filter.
    fn chosen(&self, attribute: &Attribute, value: &Value) -> Result<String, PcfError> {
        let keyword = attribute.keyword;
        let (operator, value) = match value {
            Value::IntFilter { operator, value } => {
                (*operator, shown(attribute, &value::Value::from(*value)))
            }
            Value::TextFilter { operator, value } => (*operator, quoted(&value.shown())),
            Value::Int(code) if matches!(keyword, "TYPE" | "CHLTYPE") => {
                let word = shown(attribute, &value::Value::from(*code));
                return Ok(format!(" {keyword}({word})"));
            }
            other => return refused(unknown(other)),
        };
        let word = OPERATORS.iter().find(|(number, _)| *number == operator);
        let (_, word) = word.ok_or(PcfError {
            reason: Reason::CCF_CFIN_PARM_ID_ERROR,
            offset: 0,
        })?;
        Ok(format!(" WHERE({keyword} {word} {value})"))
    }
}

/// Why a parameter is refused that the command does not have.
fn unknown(value: &Value) -> Reason {
    match value {
        Value::Int(_) | Value::Int64(_) | Value::IntFilter { .. } => Reason::CCF_CFIN_PARM_ID_ERROR,
        Value::Ints(_) | Value::Ints64(_) => Reason::CCF_CFIL_PARM_ID_ERROR,
        _ => Reason::CCF_CFST_PARM_ID_ERROR,
    }
}

/// An attribute that is set.
fn given(attribute: &Attribute, value: &Value) -> Result<String, PcfError> {
    let value = match value {
        Value::Int(number) if attribute.is_int() => value::Value::from(*number),
        Value::Text(text) => value::Value::text(text.shown()),
        Value::Texts { ccsid, items, .. } => {
            let text = |bytes: &Vec<u8>| {
                let text = Text {
                    ccsid: *ccsid,
                    bytes: bytes.clone(),
                };
                quoted(&text.shown())
            };
            let items: Vec<String> = items.iter().map(text).collect();
            return Ok(format!(" {}({})", attribute.keyword, items.join(",")));
        }
        Value::Ints(numbers) if !attribute.is_int() => {
            value::Value::Ints(numbers.iter().map(|number| i64::from(*number)).collect())
        }
        other => return refused(unknown(other)),
    };
    let keyword = attribute.keyword;
    Ok(match &value {
        value::Value::Text(text) => format!(" {keyword}({})", quoted(text)),
        value if attribute.is_switch() => format!(" {}", shown(attribute, value)),
        value => format!(" {keyword}({})", shown(attribute, value)),
    })
}

/// The MQSC command that a request in PCF, which is no Escape, asks for.
///
/// # Errors
/// The reason that the response must carry: 3007 the command is none of these, or what is wrong with its parameters.
pub fn programmed_command(bytes: &[u8]) -> Result<Request, PcfError> {
    let message = whole(bytes)?;
    let header = &message.header;
    if ![mq::MQCFT_COMMAND, mq::MQCFT_COMMAND_XR].contains(&header.type_) {
        return refused(Reason::CCF_CFH_TYPE_ERROR);
    }
    if header.msg_seq_number != 1 {
        return refused(Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR);
    }
    if !header.is_last() {
        return refused(Reason::CCF_CFH_CONTROL_ERROR);
    }
    let Some(programmed) = Programmed::by_number(header.command) else {
        return refused(Reason::CCF_CFH_COMMAND_ERROR);
    };
    let mut mqsc = programmed.beginning(&message)?;
    for parameter in &message.parameters {
        mqsc.push_str(&programmed.parameter(parameter)?);
    }
    let asks = |list: i32| message.parameters.iter().any(|one| one.id == list);
    if let Form::Inquire(list) = programmed.form
        && !asks(list)
    {
        mqsc.push_str(" ALL");
    }
    Ok(Request {
        mqsc,
        command: header.command,
    })
}

/// The number of the command in a request, whatever else is wrong with it.
pub fn command_of(bytes: &[u8]) -> Option<i32> {
    super::byte_order(bytes)?.get_i32(bytes, 12)
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
            value::Value::Blank if attribute.is_int() => continue,
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
            value::Value::Text(digits)
                if (mq::MQBACF_FIRST..=mq::MQBACF_LAST_USED).contains(&attribute.selector) =>
            {
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
fn names(reply: &Reply) -> Vec<Parameter> {
    let rows = || reply.rows.iter().map(|(_, _, row)| parameters(row));
    let text = |all: Vec<Parameter>| match all.first() {
        Some(Parameter {
            value: Value::Text(text),
            ..
        }) => text.shown(),
        _ => String::new(),
    };
    let type_ = |all: Vec<Parameter>| {
        let of_type = all.into_iter().find(|one| one.id == mq::MQIA_Q_TYPE);
        match of_type.map(|one| one.value) {
            Some(Value::Int(code)) => code,
            _ => mq::MQQT_LOCAL,
        }
    };
    let all: Vec<String> = rows().map(text).collect();
    vec![
        Parameter {
            id: mq::MQCACF_Q_NAMES,
            value: texts_of(&all, 48),
        },
        Parameter {
            id: mq::MQIACF_Q_TYPES,
            value: Value::Ints(rows().map(type_).collect()),
        },
    ]
}

/// The response messages to a request in PCF that is no Escape.
pub fn programmed_replies(command: i32, reply: &Reply, order: ByteOrder) -> Vec<Vec<u8>> {
    let form = Programmed::by_number(command).map(|programmed| programmed.form);
    let mut sets: Vec<Vec<Parameter>> = match (reply.ok, form) {
        (false, _) => Vec::new(),
        (true, Some(Form::QueueNames)) => vec![names(reply)],
        (true, _) => reply
            .rows
            .iter()
            .map(|(_, _, row)| parameters(row))
            .collect(),
    };
    if sets.is_empty() {
        sets.push(Vec::new());
    }
    let (comp_code, reason) = match (reply.ok, reply.reason) {
        (true, reason) => (CompCode::Ok, reason),
        (false, Reason::NONE) => (CompCode::Failed, Reason::CCF_COMMAND_FAILED),
        (false, Reason::OBJECT_ALREADY_EXISTS) => {
            (CompCode::Failed, Reason::CCF_OBJECT_ALREADY_EXISTS)
        }
        (false, Reason::OBJECT_TYPE_ERROR) => (CompCode::Failed, Reason::CCF_OBJECT_WRONG_TYPE),
        (false, reason) => (CompCode::Failed, reason),
    };
    let last = sets.len() - 1;
    let encoded = |(at, parameters): (usize, Vec<Parameter>)| {
        let header = Header {
            type_: mq::MQCFT_RESPONSE,
            version: mq::MQCFH_VERSION_1,
            command,
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
    sets.into_iter().enumerate().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(command: i32, parameters: Vec<Parameter>) -> Vec<u8> {
        let header = Header::request(command);
        let mut out = Vec::new();
        Message { header, parameters }.encode(&mut out, ByteOrder::Big);
        out
    }

    fn text(id: i32, text: &str) -> Parameter {
        let value = Value::Text(Text::new(text));
        Parameter { id, value }
    }

    fn int(id: i32, number: i32) -> Parameter {
        let value = Value::Int(number);
        Parameter { id, value }
    }

    fn ints(id: i32, numbers: &[i32]) -> Parameter {
        let value = Value::Ints(numbers.to_vec());
        Parameter { id, value }
    }

    #[test]
    fn requests_become_the_commands_that_do_the_same() {
        let name = || text(mq::MQCA_Q_NAME, "A.Q");
        let local = || int(mq::MQIA_Q_TYPE, mq::MQQT_LOCAL);
        let filter = Parameter {
            id: mq::MQIA_CURRENT_Q_DEPTH,
            value: Value::IntFilter {
                operator: mq::MQCFOP_GREATER,
                value: 0,
            },
        };
        for (command, parameters, mqsc) in [
            (mq::MQCMD_PING_Q_MGR, vec![], "PING QMGR"),
            (mq::MQCMD_INQUIRE_Q_MGR, vec![], "DISPLAY QMGR ALL"),
            (
                mq::MQCMD_INQUIRE_Q,
                vec![
                    name(),
                    local(),
                    ints(mq::MQIACF_Q_ATTRS, &[mq::MQCA_Q_NAME, mq::MQIA_MAX_Q_DEPTH]),
                    filter,
                ],
                "DISPLAY QUEUE('A.Q') TYPE(QLOCAL) MAXDEPTH WHERE(CURDEPTH GT 0)",
            ),
            (
                mq::MQCMD_CREATE_Q,
                vec![
                    name(),
                    local(),
                    int(mq::MQIACF_REPLACE, mq::MQRP_YES),
                    text(mq::MQCA_Q_DESC, "it's') PUT(DISABLED"),
                    int(mq::MQIA_SHAREABILITY, mq::MQQA_NOT_SHAREABLE),
                    int(mq::MQIA_DEF_PERSISTENCE, mq::MQPER_PERSISTENT),
                ],
                "DEFINE QLOCAL('A.Q') REPLACE DESCR('it''s'') PUT(DISABLED') NOSHARE DEFPSIST(YES)",
            ),
            (
                mq::MQCMD_DELETE_Q,
                vec![name(), int(mq::MQIACF_PURGE, mq::MQPO_YES)],
                "DELETE QLOCAL('A.Q') PURGE",
            ),
            (
                mq::MQCMD_STOP_CHANNEL,
                vec![
                    text(mq::MQCACH_CHANNEL_NAME, "C"),
                    int(mq::MQIACF_MODE, mq::MQMODE_FORCE),
                ],
                "STOP CHANNEL('C') MODE(FORCE)",
            ),
            (
                mq::MQCMD_INQUIRE_CHANNEL_STATUS,
                vec![
                    text(mq::MQCACH_CHANNEL_NAME, "*"),
                    int(mq::MQIACH_CHANNEL_INSTANCE_TYPE, mq::MQOT_CURRENT_CHANNEL),
                ],
                "DISPLAY CHSTATUS('*') ALL",
            ),
            (
                mq::MQCMD_INQUIRE_CONNECTION,
                vec![
                    Parameter {
                        id: mq::MQBACF_GENERIC_CONNECTION_ID,
                        value: Value::Bytes(vec![0; 24]),
                    },
                    int(mq::MQIACF_CONN_INFO_TYPE, mq::MQIACF_CONN_INFO_ALL),
                ],
                "DISPLAY CONN(*) TYPE(ALL) ALL",
            ),
        ] {
            let made = programmed_command(&request(command, parameters)).unwrap();
            assert_eq!((made.mqsc.as_str(), made.command), (mqsc, command));
            assert!(crate::parse(mqsc).unwrap().is_some(), "{mqsc}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_reason() {
        let name = || text(mq::MQCA_Q_NAME, "A.Q");
        for (command, parameters, reason) in [
            (9_999, vec![], Reason::CCF_CFH_COMMAND_ERROR),
            (
                mq::MQCMD_INQUIRE_Q,
                vec![],
                Reason::CCF_PARM_COUNT_TOO_SMALL,
            ),
            (
                mq::MQCMD_INQUIRE_Q,
                vec![name(), name()],
                Reason::CCF_CFST_DUPLICATE_PARM,
            ),
            (
                mq::MQCMD_DELETE_Q,
                vec![
                    name(),
                    int(mq::MQIA_Q_TYPE, mq::MQQT_LOCAL),
                    int(mq::MQIA_Q_TYPE, mq::MQQT_ALIAS),
                ],
                Reason::CCF_CFIN_DUPLICATE_PARM,
            ),
            (
                mq::MQCMD_INQUIRE_Q,
                vec![name(), int(mq::MQCA_Q_NAME, 1)],
                Reason::CCF_CFIN_PARM_ID_ERROR,
            ),
            (
                mq::MQCMD_CHANGE_Q_MGR,
                vec![int(0, 1)],
                Reason::CCF_CFIN_PARM_ID_ERROR,
            ),
            (
                mq::MQCMD_CREATE_Q,
                vec![name(), int(mq::MQIA_Q_TYPE, 99)],
                Reason::CCF_Q_TYPE_ERROR,
            ),
            (
                mq::MQCMD_CLEAR_Q,
                vec![name(), int(mq::MQIA_MAX_Q_DEPTH, 1)],
                Reason::CCF_CFIN_PARM_ID_ERROR,
            ),
            (
                mq::MQCMD_CHANGE_TOPIC,
                vec![
                    text(mq::MQCA_TOPIC_NAME, "T"),
                    int(mq::MQIA_Q_TYPE, mq::MQQT_LOCAL),
                ],
                Reason::CCF_CFIN_PARM_ID_ERROR,
            ),
            (
                mq::MQCMD_INQUIRE_TOPIC,
                vec![
                    text(mq::MQCA_TOPIC_NAME, "T"),
                    int(mq::MQIA_Q_TYPE, mq::MQQT_ALL),
                ],
                Reason::CCF_CFIN_PARM_ID_ERROR,
            ),
            (
                mq::MQCMD_INQUIRE_Q,
                vec![name(), ints(mq::MQIACF_Q_ATTRS, &[9_999])],
                Reason::CCF_CFIL_PARM_ID_ERROR,
            ),
        ] {
            let refused = programmed_command(&request(command, parameters)).unwrap_err();
            assert_eq!(refused.reason, reason);
        }
    }
}
