//! START and STOP: of what runs, and of connections.

use crate::command::{Command, StopChannel, SyntaxError};
use crate::kinds::ObjectKind;

use super::cursor::{Cursor, Item, Parameter};
use super::{Given, fault, kind_of, kinds_that, nothing_more, object_name, unknown_keyword};

/// What STOP CHANNEL has beside the name.
const OF_CHANNELS: [&str; 4] = ["MODE", "STATUS", "CONNAME", "QMNAME"];
/// Digits of CONN and of EXTCONN.
const CONN: usize = 16;
const EXTCONN: usize = 32;

pub(super) fn start(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    let (kind, name) = what(cursor, "START", noun)?;
    nothing_more(cursor, "START")?;
    Ok(Command::Start { kind, name })
}

pub(super) fn stop(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    if noun.word.eq_ignore_ascii_case("CONN") {
        return stop_connection(cursor, noun);
    }
    let (kind, name) = what(cursor, "STOP", noun)?;
    let how = match kind {
        ObjectKind::SvrConn => how(cursor)?,
        _ => {
            nothing_more(cursor, &format!("STOP {}", kind.noun()))?;
            StopChannel::default()
        }
    };
    Ok(Command::Stop { kind, name, how })
}

fn what(
    cursor: &Cursor<'_>,
    verb: &str,
    noun: &Parameter<'_>,
) -> Result<(ObjectKind, String), SyntaxError> {
    let kinds = kinds_that(|kind| kind.row().started);
    let kind = kind_of(cursor, verb, &kinds, noun)?;
    Ok((kind, object_name(cursor.text, kind, noun)?))
}

/// What is said of a channel that is stopped (manual: "STOP CHANNEL"): STATUS(STOPPED) is the default, unless CONNAME or QMNAME
/// choose among its instances, which leave only INACTIVE.
fn how(cursor: &mut Cursor<'_>) -> Result<StopChannel, SyntaxError> {
    let mut how = StopChannel::default();
    let mut given = Given::default();
    let mut stopped = None;
    while let Some(parameter) = cursor.parameter()? {
        let is = |word: &&&str| parameter.word.eq_ignore_ascii_case(word);
        let Some(word) = OF_CHANNELS.iter().find(is) else {
            let command = "STOP CHANNEL";
            return Err(unknown_keyword(
                cursor.text,
                command,
                &parameter,
                &OF_CHANNELS,
            ));
        };
        given.once(cursor.text, word, &parameter)?;
        let item = parameter.one_value(cursor.text)?;
        let (start, end) = (item.start, item.end);
        let named = || Some(item.text.trim_matches(' ').to_owned()).filter(|name| !name.is_empty());
        let wrong = |values: &str| {
            let detail = format!("{word} must be one of {values}");
            Err(fault::syntax(cursor.text, start, end, detail))
        };
        match (*word, item.text.as_str()) {
            ("CONNAME", _) => how.conname = named(),
            ("QMNAME", _) => how.q_mgr = named(),
            ("MODE", "QUIESCE") => how.force = false,
            ("MODE", "FORCE" | "TERMINATE") => how.force = true,
            ("MODE", _) => return wrong("QUIESCE, FORCE, TERMINATE"),
            (_, "INACTIVE") => how.inactive = true,
            (_, "STOPPED") => stopped = Some((start, end)),
            _ => return wrong("INACTIVE, STOPPED"),
        }
    }
    match (how.chooses(), stopped) {
        (true, Some((start, end))) => {
            let detail =
                "STATUS(STOPPED) is of the whole channel, not of what CONNAME or QMNAME choose";
            let detail = detail.to_owned();
            Err(fault::syntax(cursor.text, start, end, detail))
        }
        (true, None) => Ok(StopChannel {
            inactive: true,
            ..how
        }),
        (false, _) => Ok(how),
    }
}

/// STOP CONN: by CONN, with EXTCONN or without, or by the whole identifier.
fn stop_connection(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    let id = digits(noun.one_value(cursor.text)?, &[CONN, EXTCONN + CONN])?;
    let mut given = Given::default();
    let mut external = None;
    while let Some(parameter) = cursor.parameter()? {
        if !parameter.word.eq_ignore_ascii_case("EXTCONN") {
            let known = &["EXTCONN"];
            return Err(unknown_keyword(cursor.text, "STOP CONN", &parameter, known));
        }
        given.once(cursor.text, "EXTCONN", &parameter)?;
        external = Some(digits(parameter.one_value(cursor.text)?, &[EXTCONN])?);
    }
    let (before, number) = id.split_at(id.len() - CONN);
    let external = external.or_else(|| (!before.is_empty()).then(|| before.to_owned()));
    Ok(Command::StopConnection {
        number: u64::from_str_radix(number, 16).unwrap_or(0),
        external,
    })
}

/// Hexadecimal digits, as many as one of these.
fn digits(item: &Item, lengths: &[usize]) -> Result<String, SyntaxError> {
    let text = item.text.to_ascii_uppercase();
    match lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text),
        false => {
            let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
            let detail = format!("it must be {} hexadecimal digits", lengths.join(" or "));
            Err(fault::name(item.start, detail))
        }
    }
}
