//! MQSC text to a [`Command`] (manual: "Using MQSC commands").
//!
//! One function, [`parse`], from one whole command to what it asks for. Parameters are taken
//! from left to right, so the first fault of a command is the one reported. Whatever the text
//! is, the answer comes in time proportional to its length, without panic.

mod authority;
mod chlauth;
mod clear;
mod cursor;
mod define;
mod display;
mod fault;
mod filter;
mod nouns;
mod running;
mod values;

use crate::authority::AuthorityCommand;
use crate::command::{Command, DisplayWhat, SyntaxError};
use crate::kinds::ObjectKind;
use crate::table::by_selector;
pub(crate) use cursor::is_separator;
use cursor::{Cursor, Item, Parameter};
use define::Setting;
use nouns::Verb;
use std::collections::BTreeSet;

/// Reads one whole command; `None` for a blank line or a comment. A semicolon at the end is
/// ignored.
///
/// # Errors
/// The first fault: AMQ8405I and the command up to the fault for almost everything, AMQ8406E
/// when the command ends too early, AMQ8424E for a name that is not one, AMQ8569E for a WHERE
/// that is not a filter, and AMQ2401E for what MQ has and this release has not.
pub fn parse(line: &str) -> Result<Option<Command>, SyntaxError> {
    let text = line.trim_end();
    let text = text.strip_suffix(';').unwrap_or(text).trim_end();
    if text.trim_start().is_empty() || text.trim_start().starts_with('*') {
        return Ok(None);
    }
    let mut cursor = Cursor::new(text);
    let Some((word, start)) = cursor.word()? else {
        return Ok(None);
    };
    let Some(verb) = nouns::find(nouns::VERBS, word) else {
        return Err(unknown_verb(&cursor, word, start));
    };
    let Some(noun) = cursor.parameter()? else {
        let verb = word.to_ascii_uppercase();
        let detail = format!(
            "{verb} needs the kind of object, for example {verb} {}",
            example(verb_of(&verb))
        );
        return Err(fault::ended(text, detail));
    };
    command(&mut cursor, verb, &noun).map(Some)
}

/// Whether a line is one of the commands that end runmqsc: END, EXIT or QUIT.
pub fn is_end(line: &str) -> bool {
    let word = line.trim().trim_end_matches(';').trim_end();
    ["END", "EXIT", "QUIT"]
        .iter()
        .any(|end| word.eq_ignore_ascii_case(end))
}

fn verb_of(word: &str) -> Option<Verb> {
    nouns::find(nouns::VERBS, word)
}

fn example(verb: Option<Verb>) -> &'static str {
    match verb {
        Some(Verb::Ping | Verb::Save) => "QMGR",
        Some(Verb::Display) => "QUEUE(*)",
        Some(Verb::Refresh) => "SECURITY(*) TYPE(SSL)",
        Some(Verb::Start | Verb::Stop) => "LISTENER(L1)",
        Some(Verb::Set) => "CHLAUTH(*)",
        _ => "QLOCAL(Q1)",
    }
}

fn unknown_verb(cursor: &Cursor<'_>, word: &str, start: usize) -> SyntaxError {
    let upper = word.to_ascii_uppercase();
    if nouns::has(nouns::OTHER_VERBS, word) {
        return fault::not_here(start, upper);
    }
    let detail = match fault::meant(word, nouns::long_forms(nouns::VERBS)) {
        Some(meant) => format!("{upper} is not a command; did you mean {meant}?"),
        None => format!("{upper} is not a command"),
    };
    fault::syntax(cursor.text, start, start + word.len(), detail)
}

fn command(
    cursor: &mut Cursor<'_>,
    verb: Verb,
    noun: &Parameter<'_>,
) -> Result<Command, SyntaxError> {
    if let Some(about) = authority::command(cursor, verb, noun) {
        return about;
    }
    if let Some(about) = chlauth::command(cursor, verb, noun) {
        return about;
    }
    match verb {
        Verb::Set => Err(wrong_noun(cursor.text, "SET", noun, &[])),
        Verb::Display => {
            let what = display::find(noun.word)
                .ok_or_else(|| wrong_noun(cursor.text, "DISPLAY", noun, &[]))?;
            let name = displayed_name(cursor.text, what, noun)?;
            display::display(cursor, what, name)
        }
        Verb::Define | Verb::Alter | Verb::Delete => {
            let (word, setting) = match verb {
                Verb::Define => ("DEFINE", Some(Setting::Define)),
                Verb::Alter => ("ALTER", Some(Setting::Alter)),
                _ => ("DELETE", None),
            };
            let of = |kind: &ObjectKind| *kind != ObjectKind::Qmgr || verb == Verb::Alter;
            let kind = kind_of(cursor, word, &kinds_that(of), noun)?;
            if kind == ObjectKind::Sub && setting.is_none() && noun.values.is_none() {
                return define::end_subscription(cursor);
            }
            let name = object_name(cursor.text, kind, noun)?;
            match setting {
                Some(setting) => define::set(cursor, setting, kind, name),
                None => define::delete(cursor, kind, name),
            }
        }
        Verb::Clear => clear::clear(cursor, noun),
        Verb::Start => running::start(cursor, noun),
        Verb::Stop => running::stop(cursor, noun),
        Verb::Ping => {
            of_queue_manager(cursor, "PING", noun)?;
            Ok(Command::Ping)
        }
        Verb::Refresh => refresh(cursor, noun),
        Verb::Save => {
            of_queue_manager(cursor, "SAVE", noun)?;
            Ok(Command::Save)
        }
    }
}

/// A command on the queue manager that has no parameters.
fn of_queue_manager(
    cursor: &mut Cursor<'_>,
    verb: &str,
    noun: &Parameter<'_>,
) -> Result<(), SyntaxError> {
    let kind = kind_of(cursor, verb, &[ObjectKind::Qmgr], noun)?;
    object_name(cursor.text, kind, noun)?;
    nothing_more(cursor, &format!("{verb} QMGR"))
}

/// REFRESH SECURITY TYPE(SSL), TYPE(CONNAUTH) or TYPE(AUTHSERV); the asterisk behind SECURITY may be left out.
fn refresh(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    if !noun.word.eq_ignore_ascii_case("SECURITY") {
        return Err(wrong_noun(cursor.text, "REFRESH", noun, &[]));
    }
    let not_here = || fault::not_here(noun.start, "REFRESH SECURITY".to_owned());
    let Some(parameter) = cursor.parameter()? else {
        return Ok(Command::Authority(AuthorityCommand::Refresh));
    };
    let is_type = parameter.word.eq_ignore_ascii_case("TYPE");
    let item = parameter.one_value(cursor.text);
    let command = match item {
        Ok(item) if is_type && item.text == "SSL" => Command::RefreshTls,
        Ok(item) if is_type && item.text == "CONNAUTH" => Command::RefreshConnAuth,
        Ok(item) if is_type && item.text == "AUTHSERV" => {
            Command::Authority(AuthorityCommand::Refresh)
        }
        _ => return Err(not_here()),
    };
    nothing_more(cursor, "REFRESH SECURITY")?;
    Ok(command)
}

fn kinds_that(fit: impl FnMut(&ObjectKind) -> bool) -> Vec<ObjectKind> {
    ObjectKind::ALL.into_iter().filter(fit).collect()
}

/// The kind that a noun means, if the verb is for it. Of kinds that share the noun it is the one whose type the command
/// states further on, or the first.
fn kind_of(
    cursor: &Cursor<'_>,
    verb: &str,
    kinds: &[ObjectKind],
    noun: &Parameter<'_>,
) -> Result<ObjectKind, SyntaxError> {
    let mut meant = ObjectKind::with_noun(noun.word);
    meant.retain(|kind| kinds.contains(kind));
    let Some(first) = meant.first().copied() else {
        return Err(wrong_noun(cursor.text, verb, noun, kinds));
    };
    Ok(stated_type(cursor, &meant).unwrap_or(first))
}

/// The kind whose type a parameter of the command states.
fn stated_type(cursor: &Cursor<'_>, kinds: &[ObjectKind]) -> Option<ObjectKind> {
    let mut lookahead = cursor.clone();
    // What is wrong with the text is found when it is read in earnest.
    while let Ok(Some(parameter)) = lookahead.parameter() {
        let [item] = parameter.values.as_deref().unwrap_or_default() else {
            continue;
        };
        let stated = kinds.iter().find(|kind| {
            kind.row().type_.is_some_and(|type_| {
                let attribute = by_selector(**kind, type_.selector);
                attribute.is_some_and(|a| a.is_called(parameter.word))
                    && type_.word.eq_ignore_ascii_case(&item.text)
            })
        });
        if stated.is_some() {
            return stated.copied();
        }
    }
    None
}

fn wrong_noun(text: &str, verb: &str, noun: &Parameter<'_>, kinds: &[ObjectKind]) -> SyntaxError {
    let upper = noun.word.to_ascii_uppercase();
    let command = format!("{verb} {upper}");
    let known_elsewhere =
        !ObjectKind::with_noun(noun.word).is_empty() || display::find(noun.word).is_some();
    let pair = |(other, words): &(Verb, &[&str])| {
        Some(*other) == verb_of(verb) && nouns::has(words, noun.word)
    };
    if nouns::has(nouns::OTHER_NOUNS, noun.word) || nouns::OTHER_PAIRS.iter().any(pair) {
        return fault::not_here(noun.start, command);
    }
    let mut candidates: Vec<&str> = kinds.iter().map(|kind| kind.noun()).collect();
    if verb == "DISPLAY" {
        candidates.extend(display::nouns());
    }
    let detail = match fault::meant(noun.word, candidates.iter().copied()) {
        Some(meant) => format!("{command} is not a command; did you mean {verb} {meant}?"),
        None if known_elsewhere => format!("{verb} is not for {upper}"),
        None => format!("{upper} is not a kind of object"),
    };
    fault::syntax(text, noun.start, noun.word_end, detail)
}

/// The name in the parentheses after a noun; empty for the queue manager.
fn object_name(text: &str, kind: ObjectKind, noun: &Parameter<'_>) -> Result<String, SyntaxError> {
    if kind == ObjectKind::Qmgr {
        noun.bare(text)?;
        return Ok(String::new());
    }
    let item = noun.one_value(text)?;
    let name = match kind.row().free_name {
        true => item.text.trim_end_matches(' '),
        false => &item.text,
    };
    if name.is_empty() {
        return Err(fault::name(
            item.start,
            format!("{} needs a name", kind.noun()),
        ));
    }
    values::check_object_name(kind, name, item.start, kind.noun())?;
    Ok(name.to_owned())
}

fn displayed_name(
    text: &str,
    what: DisplayWhat,
    noun: &Parameter<'_>,
) -> Result<String, SyntaxError> {
    if what == DisplayWhat::Object(ObjectKind::Sub) && noun.values.is_none() {
        // SUBID says which.
        return Ok("*".to_owned());
    }
    if !display::is_named(what) {
        noun.bare(text)?;
        return Ok(String::new());
    }
    let item = noun.one_value(text)?;
    display::check_displayed_name(what, item)?;
    Ok(item.text.clone())
}

fn nothing_more(cursor: &mut Cursor<'_>, command: &str) -> Result<(), SyntaxError> {
    match cursor.parameter()? {
        None => Ok(()),
        Some(parameter) => Err(unknown_keyword(cursor.text, command, &parameter, &[])),
    }
}

fn unknown_keyword(
    text: &str,
    command: &str,
    parameter: &Parameter<'_>,
    known: &[&str],
) -> SyntaxError {
    let word = parameter.word.to_ascii_uppercase();
    // What is typed may be a keyword of the command's where it takes no value.
    let others = known.iter().copied().filter(|other| *other != word);
    let detail = match fault::meant(&word, others) {
        Some(meant) => format!("{word} is not a keyword of {command}; did you mean {meant}?"),
        None => format!("{word} is not a keyword of {command}"),
    };
    fault::syntax(text, parameter.start, parameter.word_end, detail)
}

/// The keywords that a command has had so far.
#[derive(Debug, Default)]
struct Given(BTreeSet<&'static str>);

impl Given {
    /// Refuses a keyword that was there before, or whose opposite was.
    fn once(
        &mut self,
        text: &str,
        keyword: &'static str,
        parameter: &Parameter<'_>,
    ) -> Result<(), SyntaxError> {
        if self.0.insert(keyword) {
            return Ok(());
        }
        let detail = match parameter.word.eq_ignore_ascii_case(keyword) {
            true => format!("{keyword} is given twice"),
            false => format!(
                "{} comes after {keyword} or its opposite",
                parameter.word.to_ascii_uppercase()
            ),
        };
        Err(fault::syntax(
            text,
            parameter.start,
            parameter.word_end,
            detail,
        ))
    }
}

impl Parameter<'_> {
    /// The single value, which must be there.
    fn one_value(&self, text: &str) -> Result<&Item, SyntaxError> {
        let word = self.word.to_ascii_uppercase();
        match self.values.as_deref() {
            None if self.end >= text.len() => Err(fault::ended(
                text,
                format!("{word} needs a value in parentheses"),
            )),
            None => {
                let detail = format!("{word} needs a value in parentheses");
                Err(fault::syntax(text, self.start, self.word_end, detail))
            }
            Some([item]) => Ok(item),
            Some([]) => {
                let detail = format!("{word} needs a value");
                Err(fault::syntax(text, self.start, self.end, detail))
            }
            Some([_, second, ..]) => {
                let detail = format!("{word} takes one value");
                Err(fault::syntax(text, second.start, second.end, detail))
            }
        }
    }

    /// Refuses parentheses.
    fn bare(&self, text: &str) -> Result<(), SyntaxError> {
        match self.values {
            None => Ok(()),
            Some(_) => {
                let detail = format!(
                    "{} has no value in parentheses",
                    self.word.to_ascii_uppercase()
                );
                Err(fault::syntax(text, self.start, self.end, detail))
            }
        }
    }
}

#[cfg(test)]
mod tests;
