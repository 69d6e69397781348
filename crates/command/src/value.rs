//! Values of attributes and statuses: typed from the parser to the edge that writes them as text, command message or
//! number of a metric.
//!
//! Invariants: text has no trailing blanks; dates and times are ones of the calendar and the clock, and compare as
//! such. A word of MQSC is the number it stands for: only the row of its attribute knows the word.

use std::borrow::Cow;
use std::fmt;

/// Words of MQSC and the numbers they stand for.
pub type Words = &'static [(&'static str, i32)];

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing: shown as blank, whatever might stand there.
    Blank,
    /// A number, or the number that stands for a word.
    Int(i64),
    /// Text, without trailing blanks.
    Text(String),
    /// Numbers, or the numbers of words.
    Ints(Vec<i64>),
    /// Texts, each without trailing blanks.
    Texts(Vec<String>),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// A day.
    Date(Date),
    /// A time of day.
    Time(Time),
}

impl Value {
    /// Text; trailing blanks are dropped, as they have no meaning in MQ.
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(trimmed(text.into()))
    }

    /// Whether nothing would be shown of it.
    pub fn is_blank(&self) -> bool {
        match self {
            Value::Blank => true,
            Value::Text(text) => text.is_empty(),
            Value::Ints(list) => list.is_empty(),
            Value::Texts(list) => list.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::Int(_) | Value::Date(_) | Value::Time(_) => false,
        }
    }
}

/// Text without trailing blanks.
pub(crate) fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end_matches(' ').len());
    text
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Value {
        Value::text(text.as_str())
    }
}

macro_rules! from_numbers {
    ($($number:ty)*) => {
        $(impl From<$number> for Value {
            fn from(number: $number) -> Value {
                Value::Int(number.into())
            }
        })*
    };
}
from_numbers!(i32 i64 u32 u16);

impl From<u64> for Value {
    /// What does not fit is the greatest number there is.
    fn from(number: u64) -> Value {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Blank, Into::into)
    }
}

impl From<Date> for Value {
    fn from(date: Date) -> Value {
        Value::Date(date)
    }
}

impl From<Time> for Value {
    fn from(time: Time) -> Value {
        Value::Time(time)
    }
}

/// A day of the calendar, written `yyyy-mm-dd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The first day of 1970.
    pub const EPOCH: Date = Date {
        year: 1970,
        month: 1,
        day: 1,
    };

    /// A day; `None` when the calendar has no such.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => return None,
        };
        let is_day = year <= 9999 && (1..=days).contains(&day);
        is_day.then_some(Date { year, month, day })
    }

    /// What text has of it; `None` when it is no day of the calendar.
    pub fn parse(text: &str) -> Option<Date> {
        let [year, month, day] = fields("0000-00-00", text)?;
        Date::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date { year, month, day } = self;
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A time of day, written `hh.mm.ss`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    hour: u8,
    minute: u8,
    second: u8,
}

impl Time {
    /// Midnight.
    pub const MIDNIGHT: Time = Time {
        hour: 0,
        minute: 0,
        second: 0,
    };

    /// A time; `None` when no day has such.
    pub fn new(hour: u8, minute: u8, second: u8) -> Option<Time> {
        let is_time = hour < 24 && minute < 60 && second < 60;
        is_time.then_some(Time {
            hour,
            minute,
            second,
        })
    }

    /// What text has of it; `None` when it is no time of day.
    pub fn parse(text: &str) -> Option<Time> {
        let [hour, minute, second] = fields("00.00.00", text)?;
        let small = |number: u16| u8::try_from(number).ok();
        Time::new(small(hour)?, small(minute)?, small(second)?)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Time {
            hour,
            minute,
            second,
        } = self;
        write!(f, "{hour:02}.{minute:02}.{second:02}")
    }
}

/// The three numbers of a text of a shape: digits where it has 0, everything else as it is.
fn fields(shape: &str, text: &str) -> Option<[u16; 3]> {
    let fits = |(given, wanted): (u8, u8)| match wanted {
        b'0' => given.is_ascii_digit(),
        _ => given == wanted,
    };
    if text.len() != shape.len() || !text.bytes().zip(shape.bytes()).all(fits) {
        return None;
    }
    let mut numbers = text.split(['-', '.']).map(|digits| digits.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Whether a character does something to the text around it instead of being shown: control characters, also those above
/// 127; separators of lines and paragraphs, by which readers of logs split; and those that turn the direction of writing.
pub fn is_unseen(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || turns
}

/// Text with a full stop in the place of each character that [`is_unseen`]: names and text come from
/// applications, and must not be able to drive a terminal or forge lines of a log.
pub fn printable(text: &str) -> Cow<'_, str> {
    match text.contains(is_unseen) {
        true => Cow::Owned(text.replace(is_unseen, ".")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_calendar() {
        for (text, is_one) in [
            ("2026-11-22", true),
            ("2024-02-29", true),
            ("2000-02-29", true),
            ("2026-02-29", false),
            ("1900-02-29", false),
            ("2026-04-31", false),
            ("2026-13-01", false),
            ("2026-00-10", false),
            ("2026-10-00", false),
            ("2026-11", false),
            ("2026-11-2", false),
            ("2026-11-22 ", false),
            ("2026.11.22", false),
            ("yyyy-mm-dd", false),
            ("2026-11-2é", false),
            ("", false),
        ] {
            assert_eq!(Date::parse(text).is_some(), is_one, "{text}");
            let again = Date::parse(text).map(|date| date.to_string());
            assert!(again.is_none_or(|again| again == text));
        }
        assert!(Date::parse("2025-12-31") < Date::parse("2026-01-01"));
    }

    #[test]
    fn times_of_day() {
        for (text, is_one) in [
            ("00.00.00", true),
            ("23.59.59", true),
            ("24.00.00", false),
            ("12.60.00", false),
            ("12.00.60", false),
            ("12:00:00", false),
            ("12.00", false),
        ] {
            assert_eq!(Time::parse(text).is_some(), is_one, "{text}");
            let again = Time::parse(text).map(|time| time.to_string());
            assert!(again.is_none_or(|again| again == text));
        }
        assert!(Time::parse("09.59.59") < Time::parse("10.00.00"));
    }

    #[test]
    fn values_from_what_there_is() {
        assert_eq!(Value::from("a  "), Value::Text("a".into()));
        assert_eq!(Value::from(u64::MAX), Value::Int(i64::MAX));
        assert_eq!(Value::from(None::<i32>), Value::Blank);
        assert!(Value::from(" ").is_blank() && !Value::from(0).is_blank());
    }
}
