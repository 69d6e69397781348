//! The numbered messages for operators, as data.
//!
//! A number keeps its meaning for ever. AMQ5xxx to AMQ9xxx have the meaning that the MQ
//! manual ("Diagnostic messages: AMQ4000-9999") gives the number; AMQ2xxx, which MQ does not
//! use, are this product's own. The last letter is the severity: I information, W warning,
//! E error, S severe. The wording is ours. Invariants (tested): numbers are unique and
//! ascending within a file; inserts are numbered from 0 without gaps in the text; every
//! message has an explanation and an action that ends with a full stop.

mod channels;
mod commands;
mod control;
mod own;

use crate::value::printable;

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Number and severity, for example `AMQ7469W`.
    pub id: &'static str,
    /// One line, with inserts `{0}`, `{1}` and so on.
    pub text: &'static str,
    /// What happened; may use the same inserts.
    pub explanation: &'static str,
    /// What to do; may use the same inserts.
    pub action: &'static str,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// I.
    Information,
    /// W.
    Warning,
    /// E.
    Error,
    /// S: the queue manager cannot go on.
    Severe,
}

impl Message {
    /// The severity, from the last letter of the number.
    pub fn severity(&self) -> Severity {
        match self.id.as_bytes().last() {
            Some(b'I') => Severity::Information,
            Some(b'W') => Severity::Warning,
            Some(b'S') => Severity::Severe,
            _ => Severity::Error,
        }
    }

    /// The explanation with its inserts.
    pub fn explain(&self, inserts: &[String]) -> String {
        fill(self.explanation, inserts)
    }

    /// The action with its inserts.
    pub fn advise(&self, inserts: &[String]) -> String {
        fill(self.action, inserts)
    }
}

/// Every message, by group.
pub static ALL: &[&[Message]] = &[
    own::MESSAGES,
    control::MESSAGES,
    commands::MESSAGES,
    channels::MESSAGES,
];

/// Every message, ascending by number.
pub fn all() -> impl Iterator<Item = &'static Message> {
    ALL.iter().flat_map(|group| group.iter())
}

/// The message with a number, with or without its severity letter.
pub fn find(id: &str) -> Option<&'static Message> {
    all().find(|message| {
        message.id == id || message.id.strip_suffix(['I', 'W', 'E', 'S']) == Some(id)
    })
}

/// The text of a message with its inserts. For a number that is not in the table, the
/// inserts alone, so that nothing is lost.
pub fn format(id: &str, inserts: &[String]) -> String {
    match find(id) {
        Some(message) => fill(message.text, inserts),
        None => inserts.join(" "),
    }
}

/// Puts inserts in the place of `{n}`; an insert that was not given leaves nothing. Inserts
/// are not searched for inserts, and control characters in them are not passed on.
fn fill(template: &str, inserts: &[String]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let number = after
            .split_once('}')
            .and_then(|(number, tail)| Some((number.parse::<usize>().ok()?, tail)));
        match number {
            Some((number, tail)) => {
                out.push_str(&printable(inserts.get(number).map_or("", String::as_str)));
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
