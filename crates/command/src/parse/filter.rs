//! The WHERE of a DISPLAY command: what it may compare, how, and with what.

use super::cursor::Parameter;
use super::fault;
use crate::attribute::{Attribute, ValueKind};
use crate::command::{DisplayWhat, Op, SyntaxError, Where};
use crate::filter::wanted;
use crate::statuses::{is_not_here, noun, shown_by, where_keyword};
use crate::value::Value;

pub(super) fn where_of(what: DisplayWhat, parameter: &Parameter<'_>) -> Result<Where, SyntaxError> {
    let [keyword, op, value] = parameter.values.as_deref().unwrap_or_default() else {
        let detail = "WHERE has three parts, for example WHERE(CURDEPTH GT 0)".to_owned();
        return Err(fault::filter(parameter.start, detail));
    };
    if is_not_here(what, &keyword.text) {
        return Err(fault::not_answered(what, &keyword.text, keyword.start));
    }
    let Some(found) = where_keyword(what, &keyword.text) else {
        let detail = format!("DISPLAY {} does not show {}", noun(what), keyword.text);
        return Err(fault::filter(keyword.start, detail));
    };
    let known = Op::ALL.into_iter();
    let mut known = known.filter(|(word, _)| op.text.eq_ignore_ascii_case(word));
    let Some((_, operator)) = known.next() else {
        let detail = format!(
            "{} is not one of {}",
            op.text,
            words(&Op::ALL.map(|(_, op)| op))
        );
        return Err(fault::filter(op.start, detail));
    };
    let given = value.text.trim_end();
    let mut refused = None;
    // The words of an attribute may be others in another kind of object: what one of them can have is asked for.
    for attribute in shown_by(what, found) {
        check_operator(attribute, operator).map_err(|detail| fault::filter(op.start, detail))?;
        match checked(attribute, operator, given) {
            Ok(value) => {
                return Ok(Where {
                    keyword: found,
                    op: operator,
                    value,
                });
            }
            Err(detail) => refused = Some(fault::filter(value.start, detail)),
        }
    }
    let nothing = || fault::filter(keyword.start, format!("{found} is not shown"));
    Err(refused.unwrap_or_else(nothing))
}

fn words(operators: &[Op]) -> String {
    let named = Op::ALL.into_iter();
    let named = named.filter(|(_, op)| operators.contains(op));
    named.map(|(word, _)| word).collect::<Vec<_>>().join(", ")
}

/// The operators that mean something for an attribute, and what it is in words.
fn operators(attribute: &Attribute) -> (&'static [Op], &'static str) {
    const ORDER: &[Op] = &[Op::Lt, Op::Gt, Op::Eq, Op::Ne, Op::Le, Op::Ge];
    const TEXT: &[Op] = &[
        Op::Lt,
        Op::Gt,
        Op::Eq,
        Op::Ne,
        Op::Le,
        Op::Ge,
        Op::Lk,
        Op::Nl,
    ];
    match attribute.kind {
        // To compare a secret would be to guess it.
        _ if attribute.is_switch() || attribute.secret => (&[], ""),
        ValueKind::Int { .. } | ValueKind::IntOrKeyword { .. } => (ORDER, "a number"),
        ValueKind::Keyword(_) => (&[Op::Eq, Op::Ne], "one of several words"),
        ValueKind::Bytes { .. } => (ORDER, "a string of bytes"),
        ValueKind::Text { .. } | ValueKind::Name { .. } => (TEXT, "text"),
        ValueKind::Date | ValueKind::Time => (TEXT, "a date or a time"),
        ValueKind::Keywords(_) | ValueKind::Ints | ValueKind::Bits(_) | ValueKind::Names { .. } => {
            (&[Op::Ct, Op::Ex, Op::Ctg, Op::Exg], "a list")
        }
    }
}

/// Refuses an operator that means nothing for an attribute.
fn check_operator(attribute: &Attribute, op: Op) -> Result<(), String> {
    let keyword = attribute.keyword;
    match operators(attribute) {
        (known, _) if known.contains(&op) => Ok(()),
        ([], _) => Err(format!("{keyword} cannot be used in WHERE")),
        (known, what) => Err(format!("{keyword} is {what}, and takes {}", words(known))),
    }
}

/// What is compared with; refuses a value that the attribute can never have.
fn checked(attribute: &Attribute, op: Op, given: &str) -> Result<Value, String> {
    let is_generic = matches!(op, Op::Lk | Op::Nl | Op::Ctg | Op::Exg);
    if !is_generic && given.len() > 1 && given.ends_with('*') {
        let (known, _) = operators(attribute);
        let needed = match known.contains(&Op::Ctg) {
            true => "CTG or EXG",
            false => "LK or NL",
        };
        return Err(format!("a generic value needs {needed}"));
    }
    wanted(attribute, op, given).ok_or_else(|| impossible(attribute, given))
}

fn impossible(attribute: &Attribute, given: &str) -> String {
    let words: Vec<&str> = attribute.words().iter().map(|(word, _)| *word).collect();
    let refused = format!("{given} is not a value of {}", attribute.keyword);
    match attribute.kind {
        ValueKind::Date => refused + "; a date is yyyy-mm-dd",
        ValueKind::Time => refused + "; a time is hh.mm.ss",
        // More would hide what was wrong.
        ValueKind::Keyword(_) | ValueKind::Keywords(_) if words.len() <= 20 => {
            format!("{refused}; it is one of {}", words.join(", "))
        }
        _ => refused,
    }
}
