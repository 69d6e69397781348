//! Objects and the shape of one row of the attribute table.
//!
//! An object is its kind, its name and its attributes; what attributes there are, and what
//! each may hold, is data (see [`crate::attributes`]). Nothing here is specific to one
//! attribute.

use crate::attrs::Attrs;
use posthaste_mqi::constants as mq;
use std::fmt;

/// The kinds of object that MQSC commands define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKind {
    /// The queue manager itself; there is exactly one.
    Qmgr,
    /// Local queue: holds messages.
    QLocal,
    /// Model queue: the pattern for dynamic queues.
    QModel,
    /// Alias queue: another name for a queue.
    QAlias,
    /// Local definition of a remote queue.
    QRemote,
    /// Server-connection channel.
    SvrConn,
    /// Listener.
    Listener,
}

impl ObjectKind {
    /// Every kind, in the order in which a definition script must create them.
    pub const ALL: [ObjectKind; 7] = [
        ObjectKind::Qmgr,
        ObjectKind::QLocal,
        ObjectKind::QModel,
        ObjectKind::QAlias,
        ObjectKind::QRemote,
        ObjectKind::SvrConn,
        ObjectKind::Listener,
    ];

    /// The four kinds of queue.
    pub const QUEUES: [ObjectKind; 4] = [
        ObjectKind::QLocal,
        ObjectKind::QModel,
        ObjectKind::QAlias,
        ObjectKind::QRemote,
    ];

    /// The noun of an MQSC command that defines the kind, for example `QLOCAL`.
    pub fn noun(self) -> &'static str {
        match self {
            ObjectKind::Qmgr => "QMGR",
            ObjectKind::QLocal => "QLOCAL",
            ObjectKind::QModel => "QMODEL",
            ObjectKind::QAlias => "QALIAS",
            ObjectKind::QRemote => "QREMOTE",
            ObjectKind::SvrConn => "CHANNEL",
            ObjectKind::Listener => "LISTENER",
        }
    }

    /// What the kind is called in running text, for example `local queue`.
    pub fn describe(self) -> &'static str {
        match self {
            ObjectKind::Qmgr => "queue manager",
            ObjectKind::QLocal => "local queue",
            ObjectKind::QModel => "model queue",
            ObjectKind::QAlias => "alias queue",
            ObjectKind::QRemote => "remote queue definition",
            ObjectKind::SvrConn => "server-connection channel",
            ObjectKind::Listener => "listener",
        }
    }

    /// Whether it is one of the four kinds of queue, which share one name space.
    pub fn is_queue(self) -> bool {
        self.queue_type().is_some()
    }

    /// MQQT_ number of a queue kind; `None` for what is not a queue.
    pub fn queue_type(self) -> Option<i32> {
        match self {
            ObjectKind::QLocal => Some(mq::MQQT_LOCAL),
            ObjectKind::QModel => Some(mq::MQQT_MODEL),
            ObjectKind::QAlias => Some(mq::MQQT_ALIAS),
            ObjectKind::QRemote => Some(mq::MQQT_REMOTE),
            ObjectKind::Qmgr | ObjectKind::SvrConn | ObjectKind::Listener => None,
        }
    }

    /// The longest name, in bytes: 20 for a channel, 48 for everything else.
    pub fn name_length(self) -> usize {
        match self {
            ObjectKind::SvrConn => mq::MQ_CHANNEL_NAME_LENGTH as usize,
            _ => mq::MQ_OBJECT_NAME_LENGTH as usize,
        }
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number, or the number that stands for a word.
    Int(i32),
    /// Text, without trailing blanks.
    Text(String),
}

/// What an attribute may hold, and how MQSC writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number within limits, both included.
    Int {
        /// Smallest.
        min: i32,
        /// Largest.
        max: i32,
    },
    /// A whole number within limits, or one of some words that stand for other numbers,
    /// such as `KAINT(AUTO)`.
    IntOrKeyword {
        /// Smallest number.
        min: i32,
        /// Largest number.
        max: i32,
        /// The words and their numbers.
        words: &'static [(&'static str, i32)],
    },
    /// One of a few words, each standing for a number. When the first word is the
    /// attribute's own keyword (`SHARE`, `NOSHARE`) the word is written without
    /// parentheses: see [`Attribute::is_switch`].
    Keyword(&'static [(&'static str, i32)]),
    /// One or more of a few words, in the order given; held as text, separated by commas.
    Keywords(&'static [(&'static str, i32)]),
    /// Text of at most `max` bytes.
    Text {
        /// Longest, in bytes.
        max: usize,
        /// Whether text written without quotes is folded to upper case.
        fold: bool,
    },
    /// The name of an object: letters, digits and `. / _ %`, at most `max` bytes.
    Name {
        /// Longest, in bytes.
        max: usize,
    },
}

/// What an attribute holds when nobody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// There is none: the queue manager derives the value.
    None,
    /// A number or the number of a word.
    Int(i32),
    /// Text.
    Text(&'static str),
}

impl DefaultValue {
    /// The default as a value.
    pub fn value(self) -> Option<Value> {
        match self {
            DefaultValue::None => None,
            DefaultValue::Int(n) => Some(Value::Int(n)),
            DefaultValue::Text(text) => Some(Value::Text(text.to_owned())),
        }
    }
}

/// When an attribute may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Set {
    /// By DEFINE and ALTER.
    Always,
    /// By DEFINE only.
    CreateOnly,
    /// By nobody: the queue manager keeps it.
    ReadOnly,
}

/// What an attribute's value does. None is taken and left without an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// What it says.
    Acts,
    /// It tells people and programs something, or only matters to what is itself refused: a depth to an event, a
    /// certificate's label to TLS.
    Describes,
    /// Nothing, for what it would ask for is not in this release. So the values that ask for nothing are the only ones
    /// that are taken: these numbers; of a text the default.
    Only(&'static [i32]),
}

/// One row of the attribute table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute {
    /// The MQSC keyword, upper case.
    pub keyword: &'static str,
    /// Other keywords that mean the same.
    pub also: &'static [&'static str],
    /// MQIA_, MQCA_, MQIACH_ or MQCACH_ number; unique within one kind.
    pub selector: i32,
    /// What it may hold.
    pub kind: ValueKind,
    /// What it holds at first.
    pub default: DefaultValue,
    /// The kinds of object that have it.
    pub on: &'static [ObjectKind],
    /// Who may set it.
    pub set: Set,
    /// Whether MQSET may change it.
    pub mqset: bool,
    /// Whether MQINQ may ask for it.
    pub inquire: bool,
    /// What its value does.
    pub effect: Effect,
    /// Width in bytes of the field that MQINQ returns; 0 for numbers.
    pub char_length: usize,
    /// One line for the reference page.
    pub help: &'static str,
}

impl Attribute {
    /// Whether it holds a number (as opposed to text).
    pub fn is_int(&self) -> bool {
        matches!(
            self.kind,
            ValueKind::Int { .. } | ValueKind::IntOrKeyword { .. } | ValueKind::Keyword(_)
        )
    }

    /// Whether MQSC writes it as a bare word, such as `SHARE` and `NOSHARE`.
    pub fn is_switch(&self) -> bool {
        matches!(self.kind, ValueKind::Keyword(words)
            if words.first().is_some_and(|(word, _)| *word == self.keyword))
    }

    /// The words it knows and their numbers; empty when it knows none.
    pub fn words(&self) -> &'static [(&'static str, i32)] {
        match self.kind {
            ValueKind::Keyword(words)
            | ValueKind::Keywords(words)
            | ValueKind::IntOrKeyword { words, .. } => words,
            ValueKind::Int { .. } | ValueKind::Text { .. } | ValueKind::Name { .. } => &[],
        }
    }

    /// The number of a word.
    pub fn code_of(&self, word: &str) -> Option<i32> {
        self.words()
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word))
            .map(|(_, code)| *code)
    }

    /// The first word for a number.
    pub fn word_of(&self, code: i32) -> Option<&'static str> {
        self.words()
            .iter()
            .find(|(_, number)| *number == code)
            .map(|(name, _)| *name)
    }

    /// The numbers of a list such as `COMPMSG(ZLIBFAST,RLE)`; unknown words are left out.
    pub fn codes(&self, list: &str) -> Vec<i32> {
        list.split(',')
            .filter_map(|word| self.code_of(word.trim()))
            .collect()
    }

    /// Whether this release takes `value`, which is of the right type: it asks for nothing that is not there.
    pub fn takes(&self, value: &Value) -> bool {
        match (self.effect, value) {
            (Effect::Acts | Effect::Describes, _) => true,
            (Effect::Only(codes), Value::Int(number)) => codes.contains(number),
            (Effect::Only(_), Value::Text(text)) => {
                matches!(self.default, DefaultValue::Text(default) if default == text.trim())
            }
        }
    }

    /// The values that this release takes, in words, if they are few.
    pub fn taken(&self) -> Option<String> {
        let Effect::Only(codes) = self.effect else {
            return None;
        };
        let words: Vec<String> = match self.default {
            DefaultValue::Text("") => vec!["blank".to_owned()],
            DefaultValue::Text(text) => vec![text.to_owned()],
            _ => {
                let word = |code: &i32| self.word_of(*code).map_or(code.to_string(), str::to_owned);
                codes.iter().map(word).collect()
            }
        };
        Some(words.join(", "))
    }

    /// Whether `value` is of the right type and within the limits.
    pub fn accepts(&self, value: &Value) -> bool {
        match (value, self.kind) {
            (Value::Int(n), ValueKind::Int { min, max }) => (min..=max).contains(n),
            (Value::Int(n), ValueKind::IntOrKeyword { min, max, .. }) => {
                (min..=max).contains(n) || self.word_of(*n).is_some()
            }
            (Value::Int(n), ValueKind::Keyword(_)) => self.word_of(*n).is_some(),
            (Value::Text(text), ValueKind::Keywords(_)) => {
                !text.is_empty() && self.codes(text).len() == text.split(',').count()
            }
            (Value::Text(text), ValueKind::Text { max, .. }) => text.len() <= max,
            (Value::Text(text), ValueKind::Name { max }) => {
                text.len() <= max && text.bytes().all(is_name_byte)
            }
            _ => false,
        }
    }
}

/// Whether a byte may stand in the name of an object (manual: "Rules for naming objects").
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'%')
}

/// An object: what it is, what it is called, and its attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name, without trailing blanks. The queue manager's own name for `Qmgr`.
    pub name: String,
    /// Its attributes.
    pub attrs: Attrs,
}

impl Object {
    /// An object with the default attributes of its kind.
    pub fn new(kind: ObjectKind, name: impl Into<String>) -> Self {
        Object {
            kind,
            name: name.into(),
            attrs: Attrs::defaults(kind),
        }
    }
}
