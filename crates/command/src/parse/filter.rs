//! The WHERE of a DISPLAY command: what it may compare, how, and with what.

use super::cursor::Parameter;
use super::display::{not_answered, noun};
use super::fault;
use crate::command::{DisplayWhat, Op, SyntaxError, Where};
use crate::table::{Holds, holds, is_not_here, where_keyword};

pub(super) fn where_of(what: DisplayWhat, parameter: &Parameter<'_>) -> Result<Where, SyntaxError> {
    let [keyword, op, value] = parameter.values.as_deref().unwrap_or_default() else {
        let detail = "WHERE has three parts, for example WHERE(CURDEPTH GT 0)".to_owned();
        return Err(fault::filter(parameter.start, detail));
    };
    if is_not_here(what, &keyword.text) {
        return Err(not_answered(what, &keyword.text, keyword.start));
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
    let asked = Where {
        keyword: found.to_owned(),
        op: operator,
        value: value.text.trim_end().to_owned(),
        number: false,
    };
    let mut refused = None;
    // The words of an attribute may be others in another kind of object: what one of them can have is asked for.
    for held in holds(what, found) {
        check_operator(&asked, &held).map_err(|detail| fault::filter(op.start, detail))?;
        match checked(&asked, &held) {
            Ok(filter) => return Ok(filter),
            Err(detail) => refused = Some(fault::filter(value.start, detail)),
        }
    }
    refused.map_or(Ok(asked), Err)
}

fn words(operators: &[Op]) -> String {
    let named = Op::ALL.into_iter();
    let named = named.filter(|(_, op)| operators.contains(op));
    named.map(|(word, _)| word).collect::<Vec<_>>().join(", ")
}

/// Refuses an operator that means nothing for what a keyword holds.
fn check_operator(filter: &Where, held: &Holds) -> Result<(), String> {
    if held.operators().contains(&filter.op) {
        return Ok(());
    }
    let keyword = &filter.keyword;
    let what = match held {
        Holds::Number(_) => "a number",
        Holds::OneOf(_) => "one of several words",
        Holds::Text => "text",
        Holds::Stamp(_) => "a date or a time",
        Holds::List(_) => "a list",
        Holds::Switch => return Err(format!("{keyword} cannot be used in WHERE")),
    };
    let operators = words(held.operators());
    Err(format!("{keyword} is {what}, and takes {operators}"))
}

/// The filter, with words as DISPLAY shows them; refuses a value that the keyword can never have.
fn checked(asked: &Where, held: &Holds) -> Result<Where, String> {
    let mut filter = asked.clone();
    let Where {
        keyword, op, value, ..
    } = asked;
    if matches!(op, Op::Lk | Op::Nl | Op::Ctg | Op::Exg) {
        return Ok(filter);
    }
    if value.len() > 1 && value.ends_with('*') {
        let operators = match held {
            Holds::List(_) => "CTG or EXG",
            _ => "LK or NL",
        };
        return Err(format!("a generic value needs {operators}"));
    }
    let words = held.words();
    let word = words.iter().find(|word| word.eq_ignore_ascii_case(value));
    if let Some(word) = word {
        filter.value = (*word).to_owned();
    }
    let number = || value.trim_start().parse::<i64>().is_ok();
    let possible = match held {
        Holds::Number(_) if !matches!(op, Op::Eq | Op::Ne) => number(),
        Holds::Number(_) => word.is_some() || number(),
        Holds::OneOf(_) => word.is_some(),
        Holds::List(_) => words.is_empty() || word.is_some(),
        Holds::Stamp(shape) => begins(shape, value),
        Holds::Text | Holds::Switch => true,
    };
    filter.number = matches!(held, Holds::Number(_));
    match possible {
        true => Ok(filter),
        false => Err(impossible(keyword, value, held)),
    }
}

fn impossible(keyword: &str, value: &str, held: &Holds) -> String {
    let words: Vec<&str> = held
        .words()
        .iter()
        .copied()
        .filter(|word| !word.is_empty())
        .collect();
    let refused = format!("{value} is not a value of {keyword}");
    match held {
        Holds::Stamp("0000-00-00") => refused + "; a date is yyyy-mm-dd",
        Holds::Stamp(_) => refused + "; a time is hh.mm.ss",
        // More would hide what was wrong.
        Holds::OneOf(_) | Holds::List(_) if words.len() <= 20 => {
            format!("{refused}; it is one of {}", words.join(", "))
        }
        _ => refused,
    }
}

/// Whether a text is the beginning of a date or time: the part that says which year, or which hour.
fn begins(shape: &str, value: &str) -> bool {
    value.len() <= shape.len()
        && value
            .bytes()
            .zip(shape.bytes())
            .all(|(given, wanted)| match wanted {
                b'0' => given.is_ascii_digit(),
                _ => given == wanted,
            })
}
