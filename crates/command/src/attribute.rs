//! The shape of one row of the attribute table: what an attribute may hold, when, and how its values are read and shown.
//!
//! Invariant: nothing here is specific to one attribute. What attributes there are is data (see [`crate::attributes`]).

use crate::kinds::ObjectKind;
use crate::value::{Date, Time, Value, Words, printable};
use posthaste_mqi::constants::families;
use posthaste_mqi::hex;

/// What an attribute may hold, and how MQSC writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number within limits, both included.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A whole number within limits, or one of some words that stand for other numbers,
    /// such as `KAINT(AUTO)`.
    IntOrKeyword {
        /// Smallest number.
        min: i64,
        /// Largest number.
        max: i64,
        /// The words and their numbers.
        words: Words,
    },
    /// One of a few words, each standing for a number. When the first word is the
    /// attribute's own keyword (`SHARE`, `NOSHARE`) the word is written without
    /// parentheses: see [`Attribute::is_switch`].
    Keyword(Words),
    /// One or more of a few words, in the order given.
    Keywords(Words),
    /// Some numbers.
    Ints,
    /// The names of the constants with a prefix (`MQOO_`) whose bits are set in a number.
    Bits(&'static str),
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
    /// Names of objects in the order given.
    Names {
        /// Longest, in bytes.
        max: usize,
        /// Most names.
        most: usize,
        /// Whether they may have any character: they are no names of objects.
        free: bool,
    },
    /// Bytes, written in hexadecimal.
    Bytes {
        /// How many at most.
        max: usize,
    },
    /// A day, `yyyy-mm-dd`.
    Date,
    /// A time of day, `hh.mm.ss`.
    Time,
}

/// What an attribute holds when nobody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// There is none: the queue manager derives the value.
    None,
    /// A number or the number of a word.
    Int(i32),
    /// The numbers of words.
    Ints(&'static [i32]),
    /// Text.
    Text(&'static str),
    /// No texts.
    NoTexts,
    /// No bytes.
    NoBytes,
    /// Nobody keeps it: it is how many texts the attribute with this selector has.
    CountOf(i32),
}

impl DefaultValue {
    /// The default as a value.
    pub fn value(self) -> Option<Value> {
        match self {
            DefaultValue::None | DefaultValue::CountOf(_) => None,
            DefaultValue::Int(n) => Some(Value::Int(n.into())),
            DefaultValue::Ints(list) => {
                Some(Value::Ints(list.iter().map(|n| i64::from(*n)).collect()))
            }
            DefaultValue::Text(text) => Some(Value::Text(text.to_owned())),
            DefaultValue::NoTexts => Some(Value::Texts(Vec::new())),
            DefaultValue::NoBytes => Some(Value::Bytes(Vec::new())),
        }
    }
}

/// When an attribute may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Set {
    /// By DEFINE and ALTER.
    Always,
    /// By DEFINE only; ALTER may state it.
    CreateOnly,
    /// By DEFINE only; ALTER refuses it.
    DefineOnly,
    /// By nobody: the queue manager keeps it.
    ReadOnly,
}

/// What an attribute's value does. None is taken and left without an effect, unless that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// What it says.
    Acts,
    /// It tells people and programs something, and is to do nothing else.
    Describes,
    /// Nothing, for it matters only to what is not in this release (clusters, message channels, events that are refused), or
    /// to a program that may read it. Any value is taken and kept; whoever gives another one than the default hears that.
    Kept,
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
    /// Whether it is a password or the like, which no answer repeats.
    pub secret: bool,
    /// Whether a saved definition states it.
    pub saved: bool,
    /// Width in bytes of the field that MQINQ returns, of each text of a list; 0 for numbers.
    pub char_length: usize,
    /// One line for the reference page.
    pub help: &'static str,
}

impl Attribute {
    /// Whether it holds a number (as opposed to text).
    pub fn is_int(&self) -> bool {
        matches!(
            self.kind,
            ValueKind::Int { .. }
                | ValueKind::IntOrKeyword { .. }
                | ValueKind::Keyword(_)
                | ValueKind::Bits(_)
        )
    }

    /// Whether a word, in any case, is its keyword, a synonym, or the `NO` form of a switch.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        let mut names = std::iter::once(&self.keyword).chain(self.also);
        names.any(|name| name.eq_ignore_ascii_case(word))
            || (self.is_switch() && self.code_of(word).is_some())
    }

    /// Whether MQSC writes it as a bare word, such as `SHARE` and `NOSHARE`.
    pub fn is_switch(&self) -> bool {
        matches!(self.kind, ValueKind::Keyword(words)
            if words.first().is_some_and(|(word, _)| *word == self.keyword))
    }

    /// The words it knows and their numbers; empty when it knows none.
    pub fn words(&self) -> Words {
        match self.kind {
            ValueKind::Keyword(words)
            | ValueKind::Keywords(words)
            | ValueKind::IntOrKeyword { words, .. } => words,
            ValueKind::Bits(prefix) => {
                let family = families().find(|known| known.prefix == prefix);
                family.map_or(&[][..], |family| family.members)
            }
            _ => &[],
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
    pub fn word_of(&self, code: i64) -> Option<&'static str> {
        self.words()
            .iter()
            .find(|(_, number)| i64::from(*number) == code)
            .map(|(name, _)| *name)
    }

    /// Whether it is shown of what is so at the moment, and no object has it.
    pub(crate) fn is_state(&self) -> bool {
        self.on.is_empty()
    }

    /// The value that text says; `None` if it says none of this attribute's.
    pub fn parsed(&self, text: &str) -> Option<Value> {
        let number = |text: &str| text.trim_start().parse().ok();
        let code = |text: &str| self.code_of(text).map(i64::from);
        let items = || text.split(',').map(str::trim);
        match self.kind {
            ValueKind::Int { .. } => number(text).map(Value::Int),
            ValueKind::IntOrKeyword { .. } => code(text).or_else(|| number(text)).map(Value::Int),
            ValueKind::Keyword(_) => code(text).map(Value::Int),
            ValueKind::Keywords(_) => items().map(code).collect::<Option<_>>().map(Value::Ints),
            ValueKind::Ints => items().map(number).collect::<Option<_>>().map(Value::Ints),
            ValueKind::Bits(_) => {
                let bits = items().map(code).collect::<Option<Vec<i64>>>()?;
                Some(Value::Int(bits.into_iter().fold(0, |all, bit| all | bit)))
            }
            ValueKind::Text { .. } | ValueKind::Name { .. } => Some(Value::text(text)),
            ValueKind::Names { .. } => Some(Value::Texts(items().map(str::to_owned).collect())),
            ValueKind::Bytes { .. } => from_hex(text).map(Value::Bytes),
            ValueKind::Date => Date::parse(text).map(Value::Date),
            ValueKind::Time => Time::parse(text).map(Value::Time),
        }
    }

    /// The names of the bits that are set in a number.
    pub(crate) fn bits_of(&self, number: i64) -> Vec<&'static str> {
        let bits = (0..i64::BITS).map(|at| 1_i64.wrapping_shl(at));
        let set = bits.filter(|bit| number & bit != 0);
        set.filter_map(|bit| self.word_of(bit)).collect()
    }

    /// Whether this release takes `value`, which is of the right type: it asks for nothing that is not there.
    pub fn takes(&self, value: &Value) -> bool {
        match (self.effect, value) {
            (Effect::Acts | Effect::Describes | Effect::Kept, _) => true,
            (Effect::Only(codes), Value::Int(number)) => {
                codes.iter().any(|code| i64::from(*code) == *number)
            }
            (Effect::Only(_), value) => self.default.value().as_ref() == Some(value),
        }
    }

    /// The values that this release takes, in words, if they are few.
    pub fn taken(&self) -> Option<String> {
        let Effect::Only(codes) = self.effect else {
            return None;
        };
        let default = self.default.value()?;
        let words: Vec<String> = match default {
            Value::Int(_) => codes
                .iter()
                .map(|code| shown(self, &Value::from(*code)))
                .collect(),
            blank if blank.is_blank() => vec!["blank".to_owned()],
            other => vec![shown(self, &other)],
        };
        Some(words.join(", "))
    }

    /// Whether `value` is kept and would do something in MQ that it does not do here.
    pub fn only_keeps(&self, value: &Value) -> bool {
        self.effect == Effect::Kept && self.default.value().as_ref() != Some(value)
    }

    /// Whether `value` is of the right type and within the limits.
    pub fn accepts(&self, value: &Value) -> bool {
        match (value, self.kind) {
            (Value::Int(n), ValueKind::Int { min, max }) => (min..=max).contains(n),
            (Value::Int(n), ValueKind::IntOrKeyword { min, max, .. }) => {
                (min..=max).contains(n) || self.word_of(*n).is_some()
            }
            (Value::Int(n), ValueKind::Keyword(_)) => self.word_of(*n).is_some(),
            (Value::Int(_), ValueKind::Bits(_)) | (Value::Ints(_), ValueKind::Ints) => true,
            (Value::Ints(list), ValueKind::Keywords(_)) => {
                !list.is_empty() && list.iter().all(|code| self.word_of(*code).is_some())
            }
            (Value::Text(text), ValueKind::Text { max, .. }) => text.len() <= max,
            (Value::Text(text), ValueKind::Name { max }) => is_name(text, max),
            (Value::Texts(names), ValueKind::Names { max, most, free }) => {
                let fits = |name: &String| match free {
                    true => name.len() <= max,
                    false => is_name(name, max),
                };
                names.len() <= most && names.iter().all(fits)
            }
            (Value::Bytes(bytes), ValueKind::Bytes { max }) => bytes.len() <= max,
            (Value::Date(_), ValueKind::Date) | (Value::Time(_), ValueKind::Time) => true,
            _ => false,
        }
    }
}

/// The bytes that hexadecimal digits stand for.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(high)? << 4 | digit(low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

fn is_name(text: &str, max: usize) -> bool {
    text.len() <= max && text.bytes().all(is_name_byte)
}

/// Whether a byte may stand in the name of an object (manual: "Rules for naming objects").
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'%')
}

/// A value as DISPLAY shows it: words for numbers that have one, `" "` for blank text, and
/// for a switch the bare word. Of a secret only that there is one.
pub fn shown(attribute: &Attribute, value: &Value) -> String {
    let text = match value {
        Value::Blank => String::new(),
        value if attribute.secret && !value.is_blank() => "********".to_owned(),
        Value::Text(text) => printable(text.trim_end_matches(' ')).into_owned(),
        Value::Int(_) | Value::Ints(_) | Value::Texts(_) => {
            printable(&items(attribute, value).join(",")).into_owned()
        }
        Value::Bytes(bytes) => hex(bytes),
        Value::Date(date) => date.to_string(),
        Value::Time(time) => time.to_string(),
    };
    match text.is_empty() {
        true => " ".to_owned(),
        false => text,
    }
}

/// The items of a list, or the one value, in words.
pub(crate) fn items(attribute: &Attribute, value: &Value) -> Vec<String> {
    let word = |number: &i64| match attribute.word_of(*number) {
        Some(word) => word.to_owned(),
        None => number.to_string(),
    };
    match value {
        Value::Int(bits) if matches!(attribute.kind, ValueKind::Bits(_)) => {
            let names = attribute.bits_of(*bits).into_iter();
            names.map(str::to_owned).collect()
        }
        Value::Int(number) => vec![word(number)],
        Value::Ints(list) => list.iter().map(word).collect(),
        Value::Texts(list) => list.clone(),
        other => vec![shown(attribute, other)],
    }
}
