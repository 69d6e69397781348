//! A message as it is considered by whoever may want it: what the names in a selector stand for.
//!
//! Sources: MQ manual, "Property name restrictions" (the synonyms of JMS headers), "Mapping IBM MQ fields onto JMS
//! fields", "Message descriptor fields as properties", "Mapping JMS provider-specific fields".
//!
//! Invariant: the properties are taken out of the message at most once however many consider it, and only if a selector
//! asks for one of them; nothing of them is kept with the message
//! (docs/decisions/018-properties-are-read-when-asked-for.md).

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Write as _;

use posthaste_mqi::constants::{
    MQMF_LAST_MSG_IN_GROUP, MQMF_MSG_IN_GROUP, MQPER_PERSISTENT, MQRO_COA_WITH_FULL_DATA,
    MQRO_COD_WITH_FULL_DATA, MQRO_DISCARD_MSG, MQRO_EXCEPTION_WITH_FULL_DATA,
    MQRO_EXPIRATION_WITH_FULL_DATA, MQRO_NAN, MQRO_PAN, MQRO_PASS_CORREL_ID, MQRO_PASS_MSG_ID,
};
use posthaste_mqi::{Chars, Md, Properties, Property};
use posthaste_selector::{Descriptor, Jms, Name, Provider, Source, Value};

use crate::message::Message;

/// A message that is considered.
pub(crate) struct Considered<'a> {
    pub(crate) message: &'a Message,
    /// How often it has been backed out.
    pub(crate) backout_count: u16,
    properties: OnceCell<Properties<'a>>,
}

impl<'a> Considered<'a> {
    pub(crate) fn new(message: &'a Message, backout_count: u16) -> Self {
        Considered {
            message,
            backout_count,
            properties: OnceCell::new(),
        }
    }

    fn properties(&self) -> &Properties<'a> {
        let message = self.message;
        self.properties
            .get_or_init(|| Properties::of_parts(&message.md, message.data.parts()))
    }

    fn property(&self, folder: &str, path: &str) -> Option<&Property<'a>> {
        self.properties().get(folder, path)
    }

    /// A property of a folder, as it is.
    fn own(&self, folder: &str, path: &str) -> Value<'_> {
        match self.property(folder, path) {
            None | Some(Property::Null) => Value::Null,
            Some(Property::Boolean(value)) => Value::Boolean(*value),
            Some(Property::Integer(value)) => Value::Exact(*value),
            Some(Property::Float(value)) => Value::Approximate(*value),
            Some(Property::Text(text)) => Value::Text(Cow::Borrowed(text)),
            Some(Property::Bytes(bytes)) => Value::Bytes(Cow::Borrowed(bytes)),
        }
    }

    /// A text of a folder of JMS.
    fn text(&self, folder: &str, path: &str) -> Option<&str> {
        match self.property(folder, path) {
            Some(Property::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A number of the folder of JMS, where numbers say no type.
    fn number(&self, path: &str) -> Option<i64> {
        match self.property("jms", path) {
            Some(Property::Text(text)) => text.trim().parse().ok(),
            Some(Property::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    fn header(&self, name: Jms) -> Value<'_> {
        let md = &self.message.md;
        let texts = |text: Option<String>| text.map_or(Value::Null, |t| Value::Text(t.into()));
        match name {
            Jms::CorrelationId => match self.text("jms", "Cid") {
                // As a selector's identifiers are compared: in small letters.
                Some(id) => match identifier_of(id) {
                    Some(id) => texts(identifier(&id)),
                    None => Value::Text(id.into()),
                },
                None => texts(identifier(&md.correl_id)),
            },
            Jms::DeliveryMode => match md.persistence {
                MQPER_PERSISTENT => Value::Called("PERSISTENT", 2),
                _ => Value::Called("NON_PERSISTENT", 1),
            },
            Jms::Destination => self.own("jms", "Dst"),
            Jms::Expiration => Value::Exact(self.message.expires / 1_000),
            Jms::MessageId => texts(identifier(&md.msg_id)),
            Jms::Priority => Value::Exact(md.priority.into()),
            Jms::Redelivered => Value::Boolean(self.backout_count > 0),
            Jms::ReplyTo => match self.text("jms", "Rto") {
                Some(uri) => Value::Text(uri.into()),
                None => texts(reply_to(md)),
            },
            Jms::Timestamp => {
                let time = self.number("Tms").or_else(|| put_time(md));
                time.map_or(Value::Null, Value::Exact)
            }
            Jms::Type => self.own("mcd", "Type"),
            Jms::AppId => of_chars(&md.put_appl_name),
            Jms::DeliveryCount => Value::Exact(i64::from(self.backout_count) + 1),
            Jms::GroupId => match self.text("jms", "Gid") {
                Some(id) => Value::Text(id.into()),
                None => texts(identifier(&md.group_id)),
            },
            Jms::GroupSeq => match self.number("Seq") {
                Some(number) => Value::Exact(number),
                None if md.msg_flags & MQMF_MSG_IN_GROUP == 0 => Value::Null,
                None => Value::Exact(md.msg_seq_number.into()),
            },
            Jms::UserId => of_chars(&md.user_identifier),
        }
    }

    fn of_provider(&self, name: Provider) -> Value<'_> {
        let md = &self.message.md;
        let among = match name {
            Provider::Format => return of_chars(&self.properties().behind().0),
            Provider::Encoding => return Value::Exact(self.properties().behind().1.into()),
            Provider::LastMsgInGroup => {
                return Value::Boolean(md.msg_flags & MQMF_LAST_MSG_IN_GROUP != 0);
            }
            Provider::Exception => MQRO_EXCEPTION_WITH_FULL_DATA,
            Provider::Expiration => MQRO_EXPIRATION_WITH_FULL_DATA,
            Provider::Coa => MQRO_COA_WITH_FULL_DATA,
            Provider::Cod => MQRO_COD_WITH_FULL_DATA,
            Provider::Pan => MQRO_PAN,
            Provider::Nan => MQRO_NAN,
            Provider::PassMsgId => MQRO_PASS_MSG_ID,
            Provider::PassCorrelId => MQRO_PASS_CORREL_ID,
            Provider::DiscardMsg => MQRO_DISCARD_MSG,
        };
        Value::Exact((md.report & among).into())
    }

    fn field(&self, field: Descriptor) -> Value<'_> {
        let md = &self.message.md;
        let number = |number: i32| Value::Exact(number.into());
        let bytes = |bytes| Value::Bytes(Cow::Borrowed(bytes));
        match field {
            Descriptor::Report => number(md.report),
            Descriptor::MsgType => number(md.msg_type),
            Descriptor::Expiry => number(md.expiry),
            Descriptor::Feedback => number(md.feedback),
            Descriptor::Encoding => number(md.encoding),
            Descriptor::CodedCharSetId => number(md.coded_char_set_id),
            Descriptor::Format => of_chars(&md.format),
            Descriptor::Priority => number(md.priority),
            Descriptor::Persistence => number(md.persistence),
            Descriptor::MsgId => bytes(&md.msg_id[..]),
            Descriptor::CorrelId => bytes(&md.correl_id[..]),
            Descriptor::BackoutCount => Value::Exact(self.backout_count.into()),
            Descriptor::ReplyToQ => of_chars(&md.reply_to_q),
            Descriptor::ReplyToQMgr => of_chars(&md.reply_to_q_mgr),
            Descriptor::UserIdentifier => of_chars(&md.user_identifier),
            Descriptor::AccountingToken => bytes(&md.accounting_token[..]),
            Descriptor::ApplIdentityData => of_chars(&md.appl_identity_data),
            Descriptor::PutApplType => number(md.put_appl_type),
            Descriptor::PutApplName => of_chars(&md.put_appl_name),
            Descriptor::PutDate => of_chars(&md.put_date),
            Descriptor::PutTime => of_chars(&md.put_time),
            Descriptor::ApplOriginData => of_chars(&md.appl_origin_data),
            Descriptor::GroupId => bytes(&md.group_id[..]),
            Descriptor::MsgSeqNumber => number(md.msg_seq_number),
            Descriptor::Offset => number(md.offset),
            Descriptor::MsgFlags => number(md.msg_flags),
            Descriptor::OriginalLength => number(md.original_length),
        }
    }
}

impl Source for Considered<'_> {
    fn value(&self, name: &Name) -> Value<'_> {
        match name {
            Name::Property { folder, path } => self.own(folder, path),
            Name::Jms(name) => self.header(*name),
            Name::Descriptor(field) => self.field(*field),
            Name::Provider(name) => self.of_provider(*name),
            Name::Unset(_) => Value::Null,
        }
    }
}

/// A field of characters, without the blanks that fill it.
fn of_chars<const N: usize>(chars: &Chars<N>) -> Value<'_> {
    let bytes = chars.as_bytes();
    let end = bytes.iter().rposition(|b| !matches!(b, b' ' | 0));
    let used = &bytes[..end.map_or(0, |at| at + 1)];
    Value::Text(String::from_utf8_lossy(used))
}

/// An identifier as JMS writes it; none: there is none.
fn identifier(id: &[u8; 24]) -> Option<String> {
    if *id == [0; 24] {
        return None;
    }
    let mut text = String::with_capacity(51);
    text.push_str("ID:");
    for byte in id {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

/// The identifier that JMS writes so.
pub(crate) fn identifier_of(text: &str) -> Option<[u8; 24]> {
    let (pairs, odd) = text.strip_prefix("ID:")?.as_bytes().as_chunks::<2>();
    let nibble = |digit: u8| char::from(digit).to_digit(16);
    let pair = |[high, low]: &[u8; 2]| u8::try_from(nibble(*high)? << 4 | nibble(*low)?).ok();
    let bytes: Vec<u8> = pairs.iter().map(pair).collect::<Option<_>>()?;
    match odd.is_empty() {
        true => bytes.try_into().ok(),
        false => None,
    }
}

fn reply_to(md: &Md) -> Option<String> {
    if md.reply_to_q.is_blank() {
        return None;
    }
    let (queue, manager) = (md.reply_to_q.text(), md.reply_to_q_mgr.text());
    Some(format!("queue://{manager}/{queue}"))
}

/// When a message was put, milliseconds since 1970; none: its context does not say.
fn put_time(md: &Md) -> Option<i64> {
    let number = |text: &[u8]| {
        let text = std::str::from_utf8(text).ok()?;
        text.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
        text.parse::<i64>().ok()
    };
    let (date, time) = (md.put_date.as_bytes(), md.put_time.as_bytes());
    let (year, month, day) = (
        number(&date[..4])?,
        number(&date[4..6])?,
        number(&date[6..])?,
    );
    let hundredths = number(&time[6..])?;
    let seconds = number(&time[..2])? * 3600 + number(&time[2..4])? * 60 + number(&time[4..6])?;
    // Days since 1970, with years that begin in March: a leap day is then the last of its year.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    Some(((days - 719_468) * 86_400 + seconds) * 1_000 + hundredths * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_written_and_read() {
        let id = *b"AMQ QM1         \x01\x02\x03\x04\x05\x06\xab\xff";
        let text = identifier(&id).unwrap();
        assert_eq!(text, "ID:414d5120514d31202020202020202020010203040506abff");
        assert_eq!(identifier_of(&text), Some(id));
        assert_eq!(
            identifier_of(&format!("ID:{}", text[3..].to_uppercase())),
            Some(id)
        );
        for wrong in [
            "ID:",
            "ID:41",
            &text[3..],
            &format!("{text}0"),
            &format!("{text}00"),
            "ID:é",
        ] {
            assert_eq!(identifier_of(wrong), None, "{wrong}");
        }
        assert_eq!(identifier(&[0; 24]), None);
    }

    #[test]
    fn times_of_puts_are_counted_from_1970() {
        let at = |date: &str, time: &str| {
            put_time(&Md {
                put_date: Chars::new(date),
                put_time: Chars::new(time),
                ..Md::default()
            })
        };
        assert_eq!(at("19700101", "00000000"), Some(0));
        assert_eq!(at("20240229", "12345678"), Some(1_709_210_096_780));
        assert_eq!(at("20000301", "00000001"), Some(951_868_800_010));
        assert_eq!(at("", ""), None);
        assert_eq!(at("2024+101", "00000000"), None);
    }
}
