//! A request in PCF as the MQSC commands that do the same (manual: "Definitions of the programmable command formats").
//!
//! Invariants: what a request says is either in the command that is made of it, or the request is refused with PCF's reason and
//! the parameter that is at fault; text is in quotes, so that no value becomes another parameter.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

use posthaste_mqi::constants as mq;
use posthaste_mqi::{Reason, hex};

use super::authority;
use super::commands::{Form, PcfCommand, Subject, quoted};
use super::refusal::{Refusal, refused, refused_selector, twice, unknown};
use super::text::CommandText;
use super::{Message, Parameter, PcfError, ReadText, Text, Value, byte_order, whole};
use crate::attribute::{Attribute, ValueKind, shown};
use crate::command::DisplayType;
use crate::kinds::ObjectKind;
use crate::statuses::{choice, status_rows};
use crate::table::by_selector;
use crate::value;

/// Operators of filters and their words.
const OPERATORS: [(i32, &str); 12] = [
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
    (mq::MQCFOP_CONTAINS_GEN, "CTG"),
    (mq::MQCFOP_EXCLUDES_GEN, "EXG"),
];

/// What Inquire Channel Authentication Records with MQMATCH_RUNCHECK says of the partner.
const PARTNER: [&str; 5] = ["ADDRESS", "CLNTUSER", "QMNAME", "SSLPEER", "SSLCERTI"];

/// A request in PCF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The command in MQSC; of one that names several users or groups what all have in common.
    command: CommandText,
    /// What is added to it, each in turn, with its parameter.
    each: Vec<(i32, String)>,
    /// MQIACF_AUTH_OPTIONS, of a request whose answers repeat them beside the queue manager's name.
    options: Option<i32>,
}

impl Request {
    /// The commands in MQSC that are to be carried out, one after the other, until one fails: one, unless several users or
    /// groups are named. Each is made when its turn comes, for a request may name many and say much of all.
    pub fn commands(&self) -> impl Iterator<Item = String> {
        let whole = |(_, added): &(i32, String)| format!("{}{added}", self.command.as_str());
        self.each.iter().map(whole)
    }

    /// What is in each of its answers, whatever is asked for (manual: "Always returned"), beside what names the object.
    pub fn always(&self, q_mgr: &str) -> Vec<Parameter> {
        let options = self.options.map(Value::Int);
        let options = options.map(|value| (mq::MQIACF_AUTH_OPTIONS, value));
        let q_mgr = (mq::MQCA_Q_MGR_NAME, Value::Text(Text::new(q_mgr)));
        let always = options
            .into_iter()
            .flat_map(|options| [q_mgr.clone(), options]);
        always.map(|(id, value)| Parameter { id, value }).collect()
    }

    /// The parameter that the byte `column` of one of the commands is of, `number` from 0.
    pub fn parameter_at(&self, number: usize, column: usize) -> Option<i32> {
        let (parameter, added) = self.each.get(number)?;
        let length = self.command.as_str().len();
        match column.checked_sub(length) {
            None => self.command.parameter_at(column),
            Some(at) => (at < added.len()).then_some(*parameter),
        }
    }
}

fn is_filter(value: &Value) -> bool {
    matches!(
        value,
        Value::IntFilter { .. } | Value::TextFilter { .. } | Value::BytesFilter { .. }
    )
}

/// The number that stands for all types.
fn every_type(selector: i32) -> Option<i32> {
    match selector {
        mq::MQIA_Q_TYPE => Some(mq::MQQT_ALL),
        mq::MQIACH_CHANNEL_TYPE => Some(mq::MQCHT_ALL),
        mq::MQIA_AUTH_INFO_TYPE => Some(mq::MQAIT_ALL),
        mq::MQIACF_CHLAUTH_TYPE => Some(mq::MQCAUT_ALL),
        _ => None,
    }
}

/// The MQSC commands that a request in PCF, which is no Escape, asks for; `kind_of_queue` says of what kind the queue of a name
/// is, `read` what a text says.
///
/// # Errors
/// The reason that the response must carry: 3007 the command is none of these, or what is wrong with its parameters.
pub fn request_of(
    bytes: &[u8],
    read: ReadText<'_>,
    kind_of_queue: &dyn Fn(&str) -> Option<ObjectKind>,
) -> Result<Request, Refusal> {
    let mut message = whole(bytes).map_err(|error| malformed(bytes, error))?;
    if let Err(id) = message.in_utf_8(read) {
        return refused(Reason::CCF_CCSID_ERROR, id);
    }
    let header = &message.header;
    let wrong = |reason| Err(Refusal::from(PcfError { reason, offset: 0 }));
    if ![mq::MQCFT_COMMAND, mq::MQCFT_COMMAND_XR].contains(&header.type_) {
        return wrong(Reason::CCF_CFH_TYPE_ERROR);
    }
    if header.msg_seq_number != 1 {
        return wrong(Reason::CCF_CFH_MSG_SEQ_NUMBER_ERR);
    }
    if !header.is_last() {
        return wrong(Reason::CCF_CFH_CONTROL_ERROR);
    }
    let Some(command) = PcfCommand::numbered(header.command) else {
        return wrong(Reason::CCF_CFH_COMMAND_ERROR);
    };
    check_once(&message)?;
    let (mut mqsc, each) = match command.subject {
        Subject::Authorities => authority::commands(command, &message)?,
        _ => {
            let mqsc = Asked::new(command, &message)?.mqsc(kind_of_queue)?;
            (mqsc, vec![(0, String::new())])
        }
    };
    let asks = |list: i32| message.parameters.iter().any(|one| one.id == list);
    if let Form::Inquire(list) = command.form
        && !asks(list)
    {
        mqsc.push_word(" ALL");
    }
    Ok(Request {
        command: mqsc,
        each,
        options: authority::options(command, &message),
    })
}

/// Why bytes are no message, with the parameter at fault if its number can be read.
fn malformed(bytes: &[u8], error: PcfError) -> Refusal {
    let PcfError { reason, offset } = error;
    // Those are about no parameter: what is there is of an unknown form, or behind the last one.
    let outside = [
        Reason::CCF_STRUCTURE_TYPE_ERROR,
        Reason::CCF_MSG_LENGTH_ERROR,
    ];
    let is_parameter = offset >= mq::MQCFH_STRUC_LENGTH as usize && !outside.contains(&reason);
    let order = byte_order(bytes).filter(|_| is_parameter);
    let id = order.and_then(|order| order.get_i32(bytes, offset + 8));
    let fault = id.map(|id| (mq::MQIACF_PARAMETER_ID, id));
    Refusal { reason, fault }
}

/// Refuses parameters that are there twice, and a second filter. There may be very many.
fn check_once(message: &Message) -> Result<(), Refusal> {
    let mut seen: BTreeMap<i32, Vec<Discriminant<Value>>> = BTreeMap::new();
    let mut filtered = false;
    for one in &message.parameters {
        let filters = is_filter(&one.value);
        if filters && filtered {
            return refused(Reason::CCF_TOO_MANY_FILTERS, one.id);
        }
        filtered |= filters;
        let (form, forms) = (discriminant(&one.value), seen.entry(one.id).or_default());
        if forms.contains(&form) {
            return refused(twice(&one.value), one.id);
        }
        forms.push(form);
    }
    Ok(())
}

/// A command with the request for it.
struct Asked<'a> {
    command: &'static PcfCommand,
    message: &'a Message,
    /// The kind that the request says.
    kind: Option<ObjectKind>,
}

impl<'a> Asked<'a> {
    fn new(command: &'static PcfCommand, message: &'a Message) -> Result<Asked<'a>, Refusal> {
        let kind = stated_kind(command, message)?;
        Ok(Asked {
            command,
            message,
            kind,
        })
    }

    fn mqsc(
        &self,
        kind_of_queue: &dyn Fn(&str) -> Option<ObjectKind>,
    ) -> Result<CommandText, Refusal> {
        let mut mqsc = CommandText::new(self.beginning(kind_of_queue)?, self.command.name);
        if let Form::Copy(from) = self.command.form {
            let Some(like) = self.message.texts(from).pop() else {
                return refused(Reason::CCF_PARM_COUNT_TOO_SMALL, from);
            };
            mqsc.push(&format!(" LIKE({})", quoted(&like)), from);
        }
        self.check_conflict()?;
        for parameter in &self.message.parameters {
            mqsc.push(&self.parameter(parameter)?, parameter.id);
        }
        Ok(mqsc)
    }

    /// A channel is stopped as a whole or for one partner, and for one it stays startable.
    fn check_conflict(&self) -> Result<(), Refusal> {
        let status = mq::MQIACH_CHANNEL_STATUS;
        let chooses = self.message.parameters.iter().any(|one| {
            let is_blank = |text: &Text| text.shown().trim_matches(' ').is_empty();
            matches!(&one.value, Value::Text(text) if !is_blank(text))
                && self.command.keyword(one.id).is_some()
        });
        match chooses && self.message.int(status) == Some(mq::MQCHS_STOPPED) {
            true => refused(Reason::CCF_PARM_CONFLICT, status),
            false => Ok(()),
        }
    }

    /// Whether the kind is said by the noun and not by a parameter.
    fn noun_says_kind(&self) -> bool {
        let edits = self.command.sets() || self.command.form == Form::Delete;
        edits && self.command.type_selector() == Some(mq::MQIA_Q_TYPE)
    }

    /// Verb, noun and name.
    fn beginning(
        &self,
        kind_of_queue: &dyn Fn(&str) -> Option<ObjectKind>,
    ) -> Result<String, Refusal> {
        let PcfCommand { verb, noun, .. } = self.command;
        match self.command.name {
            0 => return Ok(format!("{verb} {noun}")),
            mq::MQBACF_CONNECTION_ID => {
                return Ok(format!("{verb} {noun}({})", self.connection()?));
            }
            _ => {}
        }
        let mut names = self.message.texts(self.command.name);
        let of_subscription = self
            .message
            .parameters
            .iter()
            .any(|one| one.id == mq::MQBACF_SUB_ID && self.command.name == mq::MQCACF_SUB_NAME);
        let Some(name) = names.pop() else {
            return match self.command.form {
                Form::Inquire(_) if of_subscription => Ok(format!("{verb} {noun}('*')")),
                Form::Delete if of_subscription => Ok(format!("{verb} {noun}")),
                _ => refused(Reason::CCF_PARM_COUNT_TOO_SMALL, self.command.name),
            };
        };
        if of_subscription && self.command.form == Form::Delete {
            return refused(Reason::CCF_PARM_CONFLICT, mq::MQBACF_SUB_ID);
        }
        let kind = match self.command.form {
            _ if !self.noun_says_kind() => None,
            // Queues have one name space: the name says which is meant.
            Form::Delete => self
                .kind
                .or_else(|| kind_of_queue(&name))
                .or(Some(ObjectKind::QLocal)),
            _ => self.kind,
        };
        let noun = kind.map_or(*noun, ObjectKind::noun);
        Ok(format!("{verb} {noun}({})", quoted(&name)))
    }

    /// Which connections are meant: one by its identifier, or all.
    fn connection(&self) -> Result<String, Refusal> {
        let (one, all) = (mq::MQBACF_CONNECTION_ID, mq::MQBACF_GENERIC_CONNECTION_ID);
        let bytes = |id: i32| {
            let mut parameters = self.message.parameters.iter();
            parameters.find_map(|parameter| match &parameter.value {
                Value::Bytes(bytes) if parameter.id == id => Some(bytes),
                _ => None,
            })
        };
        match (bytes(one), bytes(all)) {
            // What acts does so on one.
            (_, Some(all_bytes)) if self.command.form == Form::Act => {
                refused(unknown(&Value::Bytes(all_bytes.clone())), all)
            }
            (Some(_), Some(_)) => refused(Reason::CCF_PARM_CONFLICT, all),
            (None, None) => refused(Reason::CCF_PARM_COUNT_TOO_SMALL, one),
            (Some(id), None) if id.len() == mq::MQ_CONNECTION_ID_LENGTH as usize => Ok(hex(id)),
            (None, Some(id)) if id.iter().all(|byte| *byte == 0) => Ok("*".to_owned()),
            (Some(_), None) => refused(Reason::CCF_CFBS_STRING_LENGTH_ERR, one),
            (None, Some(_)) => refused(Reason::CCF_CFBS_STRING_LENGTH_ERR, all),
        }
    }

    /// Whether a parameter is already in what the command begins with.
    fn is_in_beginning(&self, parameter: &Parameter) -> bool {
        let Parameter { id, value } = parameter;
        match value {
            Value::Text(_) => {
                (*id == self.command.name && *id != 0)
                    || matches!(self.command.form, Form::Copy(from) if from == *id)
            }
            Value::Bytes(_) => {
                let ids = [mq::MQBACF_CONNECTION_ID, mq::MQBACF_GENERIC_CONNECTION_ID];
                self.command.name == mq::MQBACF_CONNECTION_ID && ids.contains(id)
            }
            _ => false,
        }
    }

    /// What is added to the command for a parameter of the request.
    fn parameter(&self, parameter: &Parameter) -> Result<String, Refusal> {
        let Parameter { id, value } = parameter;
        if self.is_in_beginning(parameter) {
            return Ok(String::new());
        }
        if let Some(word) = self.command.word(parameter)? {
            return Ok(word.to_owned());
        }
        match (self.command.form, value) {
            (_, Value::Int(_)) if self.command.type_selector() == Some(*id) => Ok(self.type_()),
            (Form::Inquire(list), Value::Ints(wanted)) if *id == list => self.wanted(wanted),
            (Form::Inquire(list), Value::Int(wanted)) if *id == list => self.wanted(&[*wanted]),
            (Form::Inquire(_) | Form::Names(..), value) if is_filter(value) => {
                self.filter(*id, value)
            }
            (Form::Inquire(_) | Form::Delete, value) => self.choice_by_value(*id, value),
            _ if self.command.sets() => self.given(*id, value),
            (Form::Act, Value::Text(text)) => match self.command.keyword(*id) {
                Some(keyword) => Ok(format!(" {keyword}({})", quoted(&text.shown()))),
                None => refused(unknown(value), *id),
            },
            _ => refused(unknown(value), *id),
        }
    }

    /// The kind that the request says, as a parameter.
    fn type_(&self) -> String {
        let type_ = self.kind.and_then(|kind| Some((kind, kind.row().type_?)));
        let Some((kind, type_)) = type_.filter(|_| !self.noun_says_kind()) else {
            return String::new();
        };
        let keyword = match self.command.form {
            Form::Inquire(_) | Form::Names(..) => "TYPE",
            _ => by_selector(kind, type_.selector).map_or("TYPE", |attribute| attribute.keyword),
        };
        format!(" {keyword}({})", type_.word)
    }

    /// What the command can show under a number, or take; of attributes that several kinds have, each kind's.
    fn attributes(&self, selector: i32) -> Vec<&'static Attribute> {
        let kinds = self.command.kinds().iter();
        let kinds = kinds.filter(|kind| self.kind.is_none_or(|stated| stated == **kind));
        let of_objects = kinds.filter_map(|kind| by_selector(*kind, selector));
        let of_state = match self.command.subject {
            Subject::State(what) => status_rows(what, DisplayType::All),
            _ => Vec::new(),
        };
        // Behind one number there may be two: EXTCONN, which is part of what names a connection, and EXTURID.
        let of_state = of_state
            .into_iter()
            .rev()
            .filter(|row| row.selector == selector);
        of_objects.chain(of_state).collect()
    }

    fn attribute(&self, selector: i32) -> Option<&'static Attribute> {
        self.attributes(selector).first().copied()
    }

    /// The keywords of a list of attributes.
    fn wanted(&self, wanted: &[i32]) -> Result<String, Refusal> {
        // Those are in every answer.
        let always = [Some(self.command.name), self.command.type_selector()];
        let mut words: Vec<&str> = Vec::new();
        for (at, selector) in wanted.iter().enumerate() {
            if wanted.iter().take(at).any(|other| other == selector) {
                return refused_selector(Reason::CCF_CFIL_DUPLICATE_VALUE, *selector);
            }
            if *selector == mq::MQIACF_ALL || always.contains(&Some(*selector)) {
                continue;
            }
            if let Some(word) = self.command.group(*selector) {
                words.push(word);
                continue;
            }
            let Some(attribute) = self.attribute(*selector) else {
                return refused_selector(Reason::SELECTOR_ERROR, *selector);
            };
            if !words.contains(&attribute.keyword) {
                words.push(attribute.keyword);
            }
        }
        if wanted.contains(&mq::MQIACF_ALL) {
            return Ok(" ALL".to_owned());
        }
        let asked = words.clone();
        let always = self.command.always().iter().copied();
        words.extend(always.filter(|word| !asked.contains(word)));
        // Who asks for nothing in MQSC is shown everything.
        if words.is_empty() {
            let name = self.attribute(self.command.name);
            words.extend(name.map(|name| name.keyword));
        }
        Ok(words.iter().map(|word| format!(" {word}")).collect())
    }

    /// A parameter that chooses by its value, beside filters.
    fn choice_by_value(&self, id: i32, value: &Value) -> Result<String, Refusal> {
        let Some(attribute) = self.attribute(id) else {
            return refused(unknown(value), id);
        };
        let keyword = attribute.keyword;
        let of_partner = matches!(self.command.subject, Subject::Objects(kinds)
            if kinds.contains(&ObjectKind::ChlAddressMap))
            && PARTNER.contains(&keyword);
        let of_state = self
            .command
            .what()
            .and_then(|what| choice(what, keyword))
            .is_some();
        match value {
            Value::Text(text) if of_partner || of_state => {
                Ok(format!(" {keyword}({})", quoted(&text.shown())))
            }
            Value::Bytes(bytes) if of_state => Ok(format!(" {keyword}({})", hex(bytes))),
            value => refused(unknown(value), id),
        }
    }

    /// A filter.
    fn filter(&self, id: i32, value: &Value) -> Result<String, Refusal> {
        let attributes = self.attributes(id);
        let Some(attribute) = attributes.first() else {
            return refused(unknown(value), id);
        };
        let keyword = attribute.keyword;
        let by_bytes = matches!(attribute.kind, ValueKind::Bytes { .. }) || keyword == "ACTCONN";
        let (operator, wrong_operator, wanted) = match value {
            Value::IntFilter { operator, value } => {
                let code = i64::from(*value);
                let word = attributes
                    .iter()
                    .find_map(|attribute| attribute.word_of(code));
                let wanted = word.map_or_else(|| code.to_string(), str::to_owned);
                (*operator, Reason::CCF_CFIF_OPERATOR_ERROR, wanted)
            }
            Value::TextFilter { operator, value } => {
                let wanted = quoted(&value.shown());
                (*operator, Reason::CCF_CFSF_OPERATOR_ERROR, wanted)
            }
            Value::BytesFilter { operator, value } if by_bytes => (
                *operator,
                Reason::CCF_CFBF_OPERATOR_ERROR,
                quoted(&hex(value)),
            ),
            other => return refused(unknown(other), id),
        };
        let Some((_, word)) = OPERATORS.iter().find(|(number, _)| *number == operator) else {
            return refused(wrong_operator, id);
        };
        Ok(format!(" WHERE({keyword} {word} {wanted})"))
    }

    /// An attribute that is set.
    fn given(&self, id: i32, value: &Value) -> Result<String, Refusal> {
        let Some(attribute) = self.attribute(id) else {
            return refused(unknown(value), id);
        };
        let is_list = matches!(
            attribute.kind,
            ValueKind::Names { .. } | ValueKind::Keywords(_) | ValueKind::Ints
        );
        let given = match value {
            Value::Int(number) if is_list => value::Value::Ints(vec![i64::from(*number)]),
            Value::Int(number) => value::Value::from(*number),
            Value::Ints(numbers) => {
                value::Value::Ints(numbers.iter().map(|number| i64::from(*number)).collect())
            }
            Value::Text(text) if is_list => value::Value::Texts(vec![text.shown()]),
            Value::Text(text) => value::Value::text(text.shown()),
            Value::Texts { .. } => value::Value::Texts(value.shown_texts()),
            Value::Bytes(bytes) => value::Value::Bytes(bytes.clone()),
            other => return refused(unknown(other), id),
        };
        let same_form = match &given {
            value::Value::Int(_) => attribute.is_int(),
            value::Value::Ints(_) | value::Value::Texts(_) => is_list,
            value::Value::Bytes(_) => matches!(attribute.kind, ValueKind::Bytes { .. }),
            _ => !attribute.is_int() && !is_list,
        };
        if !same_form {
            return refused(unknown(value), id);
        }
        // As in MQSC: descriptions and the like are shown in lines.
        let shows = |text: &str| !text.contains(char::is_control);
        if matches!(&given, value::Value::Text(text) if !shows(text)) {
            return refused(Reason::CCF_ATTR_VALUE_ERROR, id);
        }
        if !attribute.accepts(&given) {
            let too_long = matches!((&given, attribute.kind), (value::Value::Text(text),
                ValueKind::Text { max, .. } | ValueKind::Name { max }) if text.len() > max);
            return match too_long {
                true => refused(Reason::CCF_CFST_STRING_LENGTH_ERR, id),
                false => refused(Reason::CCF_ATTR_VALUE_ERROR, id),
            };
        }
        let keyword = attribute.keyword;
        Ok(match &given {
            value::Value::Text(text) => format!(" {keyword}({})", quoted(text)),
            value::Value::Texts(texts) if texts.is_empty() => format!(" {keyword}('')"),
            value::Value::Texts(texts) => {
                let items: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                format!(" {keyword}({})", items.join(","))
            }
            given if attribute.is_switch() => format!(" {}", shown(attribute, given)),
            given => format!(" {keyword}({})", shown(attribute, given)),
        })
    }
}

/// The kind that a request says; of those that make and change objects each must, if there are several.
fn stated_kind(command: &PcfCommand, message: &Message) -> Result<Option<ObjectKind>, Refusal> {
    let Some(selector) = command.type_selector() else {
        return Ok(None);
    };
    let Some(code) = message.int(selector) else {
        return match command.sets() {
            true => refused(Reason::CCF_PARM_COUNT_TOO_SMALL, selector),
            false => Ok(None),
        };
    };
    let shows = matches!(command.form, Form::Inquire(_) | Form::Names(..));
    if shows && every_type(selector) == Some(code) {
        return Ok(None);
    }
    let mut kinds = command.kinds().iter();
    let kind = kinds.find(|kind| kind.row().type_.is_some_and(|type_| type_.code == code));
    match (kind, selector) {
        (Some(kind), _) => Ok(Some(*kind)),
        (None, mq::MQIA_Q_TYPE) => refused(Reason::CCF_Q_TYPE_ERROR, selector),
        (None, mq::MQIACH_CHANNEL_TYPE) => refused(Reason::CCF_CHANNEL_TYPE_ERROR, selector),
        (None, _) => refused(Reason::CCF_PARM_VALUE_ERROR, selector),
    }
}

#[cfg(test)]
mod tests;
