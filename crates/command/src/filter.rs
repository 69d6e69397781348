//! Generic names, and the WHERE of a DISPLAY command: one filter for definitions and statuses, whatever way the command
//! came.
//!
//! Invariants: values are compared as what their row says they are, never as they are shown. A word or a blank is
//! neither more nor less than a number.

use crate::attribute::{Attribute, ValueKind};
use crate::command::{Op, Where};
use crate::reply::Row;
use crate::value::{Date, Time, Value};
use std::cmp::Ordering;

/// Whether a name is meant by a pattern: a name, or the start of names followed by `*`.
/// An asterisk anywhere else has no special meaning.
pub fn generic_matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Whether a row is one that the filter asks for. A row without the attribute never is.
pub fn where_matches(filter: &Where, row: &Row) -> bool {
    let cell = row.cell(filter.keyword);
    cell.is_some_and(|cell| matches(cell.attribute(), filter.op, cell.value(), &filter.value))
}

fn matches(attribute: &Attribute, op: Op, value: &Value, wanted: &Value) -> bool {
    let order = order(attribute, value, wanted);
    let is_like = || {
        let shown = crate::attribute::shown(attribute, value);
        matches!(wanted, Value::Text(pattern) if generic_matches(pattern, shown.trim_end()))
    };
    match op {
        Op::Lt => order == Some(Ordering::Less),
        Op::Gt => order == Some(Ordering::Greater),
        Op::Eq => order == Some(Ordering::Equal),
        Op::Ne => order != Some(Ordering::Equal),
        Op::Le => order.is_some_and(Ordering::is_le),
        Op::Ge => order.is_some_and(Ordering::is_ge),
        Op::Lk => is_like(),
        Op::Nl => !is_like(),
        Op::Ct => has(attribute, value, wanted),
        Op::Ex => !has(attribute, value, wanted),
        Op::Ctg => has_like(attribute, value, wanted),
        Op::Exg => !has_like(attribute, value, wanted),
    }
}

/// How two values compare; `None`: they do not.
fn order(attribute: &Attribute, value: &Value, wanted: &Value) -> Option<Ordering> {
    let is_word = |number: &i64| attribute.word_of(*number).is_some();
    match (value, wanted) {
        (value, wanted) if value.is_blank() && wanted.is_blank() => Some(Ordering::Equal),
        (Value::Int(a), Value::Int(b)) if is_word(a) || is_word(b) => {
            (a == b).then_some(Ordering::Equal)
        }
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Text(_), Value::Blank) => Some(Ordering::Greater),
        (Value::Blank, Value::Text(_)) => Some(Ordering::Less),
        _ => None,
    }
}

/// Whether a list has an item.
fn has(attribute: &Attribute, value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Int(bits), Value::Int(bit)) if matches!(attribute.kind, ValueKind::Bits(_)) => {
            bits & bit != 0
        }
        (Value::Ints(list), Value::Int(number)) => list.contains(number),
        (Value::Texts(list), Value::Text(text)) => list.contains(text),
        _ => false,
    }
}

/// Whether a list has an item whose text a generic name means.
fn has_like(attribute: &Attribute, value: &Value, wanted: &Value) -> bool {
    let Value::Text(pattern) = wanted else {
        return false;
    };
    crate::attribute::items(attribute, value)
        .iter()
        .any(|item| generic_matches(pattern, item))
}

/// What a WHERE compares with, from text; `None`: the attribute can never have it. A status may be blank.
pub(crate) fn wanted(attribute: &Attribute, op: Op, text: &str) -> Option<Value> {
    let text = text.trim_end_matches(' ');
    let is_text = matches!(
        attribute.kind,
        ValueKind::Text { .. } | ValueKind::Name { .. } | ValueKind::Names { .. }
    );
    let stem = text.strip_suffix('*').unwrap_or(text);
    match op {
        Op::Lk | Op::Nl => begins(attribute, stem).then(|| Value::text(text)),
        Op::Ctg | Op::Exg => Some(Value::text(text)),
        Op::Eq | Op::Ne if text.is_empty() && attribute.is_state() => Some(Value::Blank),
        // Whether a number is more or less than a word's is no question.
        Op::Lt | Op::Gt | Op::Le | Op::Ge
            if matches!(attribute.kind, ValueKind::IntOrKeyword { .. }) =>
        {
            text.trim_start().parse().ok().map(Value::Int)
        }
        _ if is_text => Some(Value::text(text)),
        _ => attribute.parsed(text).map(|value| match value {
            Value::Ints(list) => list
                .first()
                .map_or(Value::Blank, |number| Value::Int(*number)),
            other => other,
        }),
    }
}

/// Whether text can be the beginning of what an attribute is shown as: of a date, the part that says which year.
fn begins(attribute: &Attribute, stem: &str) -> bool {
    let completed = |shape: &str| shape.get(stem.len()..).map(|rest| format!("{stem}{rest}"));
    match attribute.kind {
        // What comes after is chosen so that it fits whatever stands before.
        ValueKind::Date => ["2000-01-01", "2000-10-10"]
            .iter()
            .any(|shape| completed(shape).is_some_and(|text| Date::parse(&text).is_some())),
        ValueKind::Time => completed("00.00.00").is_some_and(|text| Time::parse(&text).is_some()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DisplayWhat;
    use crate::kinds::ObjectKind;
    use crate::object::Object;
    use crate::show::row_of;
    use posthaste_mqi::constants as mq;

    #[test]
    fn generic_names() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "ANY", true),
            ("DEV.*", "DEV.Q1", true),
            ("DEV.*", "DEV.", true),
            ("DEV.*", "DEV", false),
            ("DEV.*", "dev.Q1", false),
            ("Q1", "Q1", true),
            ("Q1", "Q10", false),
            ("Q*1", "Q*1", true),
            ("Q*1", "QX1", false),
            ("", "", true),
            ("", "Q", false),
        ] {
            assert_eq!(generic_matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    /// One row of an answer with a value of every kind.
    fn row() -> Row {
        let mut row = Row::of(DisplayWhat::Conn);
        row.push("APPLTAG", "DEV.Q1");
        row.push("CLIENTID", "9");
        row.push("APPLDESC", "");
        row.push("PID", 10);
        row.push("TID", Value::Blank);
        row.push("UOWSTDA", Date::parse("2026-11-22"));
        row.push("UOWSTTI", Time::parse("09.30.00"));
        row.push("UOWLOGDA", Value::Blank);
        row.push("URTYPE", "XA");
        row.push(
            "CONNOPTS",
            mq::MQCNO_HANDLE_SHARE_BLOCK | mq::MQCNO_RECONNECT,
        );
        row
    }

    fn says(row: &Row, keyword: &str, op: Op, text: &str) -> Option<bool> {
        let cell = row.cell(keyword)?;
        let value = wanted(cell.attribute(), op, text)?;
        let keyword = cell.attribute().keyword;
        Some(where_matches(&Where { keyword, op, value }, row))
    }

    /// What each operator says, in the order LT GT EQ NE LE GE LK NL CT EX CTG EXG: yes, no, or that the value cannot be.
    #[test]
    fn filters() {
        for (keyword, text, first_six) in [
            ("PID", "9", "nynyny"),
            ("PID", "10", "nnynyy"),
            ("PID", "100", "ynnyyn"),
            ("PID", "-1", "nynyny"),
            ("PID", "ten", "------"),
            ("PID", "", "--ny--"),
            ("TID", "0", "nnnynn"),
            ("TID", "", "--yn--"),
            ("CLIENTID", "10", "nynyny"),
            ("APPLTAG", "DEV.Q1", "nnynyy"),
            ("APPLTAG", "DEV.*", "nynyny"),
            ("APPLDESC", "", "nnynyy"),
            ("UOWSTDA", "2026-11-22", "nnynyy"),
            ("UOWSTDA", "2026-9-30", "------"),
            ("UOWSTDA", "2026-09-30", "nynyny"),
            ("UOWSTDA", "2026-11", "------"),
            ("UOWSTDA", "2026-11-31", "------"),
            ("UOWSTTI", "10.00.00", "ynnyyn"),
            ("UOWSTTI", "10.00", "------"),
            ("UOWSTTI", "10:00:00", "------"),
            ("UOWLOGDA", "2026-11-22", "nnnynn"),
            ("UOWLOGDA", " ", "--yn--"),
        ] {
            let operators: String = Op::ALL[..6]
                .iter()
                .map(|(_, op)| match says(&row(), keyword, *op, text) {
                    Some(true) => 'y',
                    Some(false) => 'n',
                    None => '-',
                })
                .collect();
            assert_eq!(operators, first_six, "{keyword} {text}");
        }
    }

    #[test]
    fn words_lists_and_generic_values() {
        for (keyword, op, text, expected) in [
            ("URTYPE", Op::Eq, "xa", Some(true)),
            ("URTYPE", Op::Ne, "XA", Some(false)),
            ("URTYPE", Op::Eq, "QMGR", Some(false)),
            ("URTYPE", Op::Eq, "NEW", None),
            ("URTYPE", Op::Eq, "", Some(false)),
            ("APPLTAG", Op::Lk, "DEV.*", Some(true)),
            ("APPLTAG", Op::Nl, "DEV.*", Some(false)),
            ("APPLTAG", Op::Lk, "DEV", Some(false)),
            ("UOWSTDA", Op::Lk, "2026-11*", Some(true)),
            ("UOWSTDA", Op::Lk, "2026-1*", Some(true)),
            ("UOWSTDA", Op::Nl, "2025*", Some(true)),
            ("UOWSTDA", Op::Lk, "*", Some(true)),
            ("UOWSTDA", Op::Lk, "2026-2*", None),
            ("UOWSTDA", Op::Lk, "2026/*", None),
            ("UOWSTDA", Op::Lk, "2026-11-22-*", None),
            ("UOWSTTI", Op::Lk, "09*", Some(true)),
            ("UOWSTTI", Op::Lk, "9*", None),
            ("CONNOPTS", Op::Ct, "MQCNO_RECONNECT", Some(true)),
            ("CONNOPTS", Op::Ex, "MQCNO_RECONNECT", Some(false)),
            ("CONNOPTS", Op::Ct, "MQCNO_FASTPATH_BINDING", Some(false)),
            ("CONNOPTS", Op::Ct, "MQOO_OUTPUT", None),
            ("CONNOPTS", Op::Ctg, "MQCNO_HANDLE*", Some(true)),
            ("CONNOPTS", Op::Exg, "MQCNO_FAST*", Some(true)),
        ] {
            assert_eq!(
                says(&row(), keyword, op, text),
                expected,
                "{keyword} {text}"
            );
        }
    }

    #[test]
    fn definitions_are_filtered_by_the_same() {
        let mut channel = Object::new(ObjectKind::SvrConn, "C");
        channel
            .attrs
            .set(mq::MQIACH_MSG_COMPRESSION, Value::Ints(vec![0, 1]));
        let date = Date::parse("2026-01-31").expect("a day");
        channel.attrs.set(mq::MQCA_ALTERATION_DATE, date.into());
        let row = row_of(&channel, &[], true);
        for (keyword, op, text, expected) in [
            ("COMPMSG", Op::Ct, "RLE", Some(true)),
            ("COMPMSG", Op::Ex, "LZ4FAST", Some(true)),
            ("COMPMSG", Op::Ctg, "N*", Some(true)),
            ("COMPMSG", Op::Ct, "BZIP", None),
            ("KAINT", Op::Eq, "AUTO", Some(true)),
            // AUTO is -1, and yet not less.
            ("KAINT", Op::Lt, "5", Some(false)),
            ("KAINT", Op::Lt, "AUTO", None),
            ("ALTDATE", Op::Lt, "2026-02-01", Some(true)),
            ("ALTDATE", Op::Gt, "2026-02-01", Some(false)),
            ("ALTDATE", Op::Eq, "2026-01", None),
            ("ALTDATE", Op::Eq, " ", None),
            ("ALTTIME", Op::Gt, "noon", None),
            ("MAXINST", Op::Ge, "999999999", Some(true)),
            ("DESCR", Op::Eq, " ", Some(true)),
            ("NOTHERE", Op::Eq, "1", None),
        ] {
            assert_eq!(says(&row, keyword, op, text), expected, "{keyword} {text}");
        }
    }
}
