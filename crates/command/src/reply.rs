//! The answer to a command, and how runmqsc shows it (manual: "runmqsc").

use crate::command::SyntaxError;
use crate::messages;
use crate::show::printable;
use posthaste_mqi::Reason;
use std::fmt;

/// Where the second column of an answer begins, after the indent.
const CELL: usize = 40;
const INDENT: &str = "   ";

/// One object of an answer: keywords and values, in the order shown.
///
/// An empty value stands for a keyword without parentheses (`SHARE`); blank text is `" "`,
/// as in `DESCR( )`. An empty keyword with an empty value ends the line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row(pub Vec<(String, String)>);

impl Row {
    /// Adds a cell at the end.
    pub fn push(&mut self, keyword: impl Into<String>, value: impl Into<String>) {
        self.0.push((keyword.into(), value.into()));
    }

    /// Adds text at the end; blank text becomes `" "`.
    pub fn push_text(&mut self, keyword: impl Into<String>, value: &str) {
        let value = value.trim_end();
        self.push(keyword, if value.is_empty() { " " } else { value });
    }

    /// Adds a number at the end.
    pub fn push_int(&mut self, keyword: impl Into<String>, value: impl Into<i64>) {
        self.push(keyword, value.into().to_string());
    }

    /// Ends the line: the next cell begins a new one.
    pub fn end_line(&mut self) {
        self.push("", "");
    }

    /// The value of a keyword. For a switch that is off (`NOSHARE`), asking for `SHARE` finds
    /// nothing.
    pub fn get(&self, keyword: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name == keyword)
            .map(|(_, value)| value.as_str())
    }
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Message number and text.
    pub messages: Vec<(String, String)>,
    /// Message number, headline and cells of each object shown; they come before `messages`.
    pub rows: Vec<(String, String, Row)>,
    /// Whether the command was carried out.
    pub ok: bool,
    /// Why not; MQRC_NONE when it was.
    pub reason: Reason,
}

impl Default for Reply {
    fn default() -> Self {
        Reply {
            messages: Vec::new(),
            rows: Vec::new(),
            ok: true,
            reason: Reason::NONE,
        }
    }
}

impl Reply {
    /// The command was carried out.
    pub fn done(id: &'static str, inserts: &[String]) -> Reply {
        let mut reply = Reply::default();
        reply.add_message(id, inserts);
        reply
    }

    /// The command was not carried out.
    pub fn failed(id: &'static str, inserts: &[String], reason: Reason) -> Reply {
        let mut reply = Reply::done(id, inserts);
        reply.ok = false;
        reply.reason = reason;
        reply
    }

    /// Adds a message of the table.
    pub fn add_message(&mut self, id: &'static str, inserts: &[String]) {
        let text = messages::format(id, inserts);
        self.messages.push((id.to_owned(), text));
    }

    /// Adds an object to show, under the headline of a message of the table.
    pub fn add_row(&mut self, id: &'static str, row: Row) {
        let headline = messages::format(id, &[]);
        self.rows.push((id.to_owned(), headline, row));
    }
}

impl From<&SyntaxError> for Reply {
    /// The answer to what is not a command.
    fn from(error: &SyntaxError) -> Reply {
        let mut text = error.text.clone();
        if !error.detail.is_empty() {
            text.push('\n');
            text.push_str(&error.detail);
        }
        Reply {
            messages: vec![(error.id.to_owned(), text)],
            rows: Vec::new(),
            ok: false,
            reason: Reason::CCF_PARM_SYNTAX_ERROR,
        }
    }
}

/// The text of an answer as runmqsc shows it, every line ended.
///
/// Each object is a headline and rows of two cells; a cell too long for its column stands
/// alone on its line.
pub fn render(reply: &Reply) -> String {
    let mut out = String::new();
    for (id, headline, row) in &reply.rows {
        out.push_str(id);
        out.push_str(": ");
        out.push_str(headline);
        out.push('\n');
        render_row(row, &mut out);
    }
    for (id, text) in &reply.messages {
        out.push_str(id);
        out.push_str(": ");
        out.push_str(text);
        out.push('\n');
    }
    out
}

fn render_row(row: &Row, out: &mut String) {
    let mut first: Option<(String, usize)> = None;
    for (keyword, value) in &row.0 {
        if keyword.is_empty() {
            flush(first.take(), out);
            continue;
        }
        let cell = match value.as_str() {
            "" => keyword.clone(),
            value => printable(&format!("{keyword}({value})")).into_owned(),
        };
        let width = cell.chars().count();
        if width >= CELL {
            flush(first.take(), out);
            flush(Some((cell, width)), out);
        } else if let Some((left, left_width)) = first.take() {
            out.push_str(INDENT);
            out.push_str(&left);
            out.extend(std::iter::repeat_n(' ', CELL - left_width));
            out.push_str(&cell);
            out.push('\n');
        } else {
            first = Some((cell, width));
        }
    }
    flush(first, out);
}

fn flush(cell: Option<(String, usize)>, out: &mut String) {
    if let Some((cell, _)) = cell {
        out.push_str(INDENT);
        out.push_str(&cell);
        out.push('\n');
    }
}

/// A command as runmqsc repeats it before the answer; `number` counts commands from 1.
pub fn echo(number: usize, command: &str) -> String {
    format!("{number:>6} : {command}\n")
}

/// What runmqsc counts over a script; its text is what runmqsc ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Commands read.
    pub read: usize,
    /// Those that were not commands.
    pub syntax_errors: usize,
    /// Those that MQ has and this release has not (AMQ2401E).
    pub not_here: usize,
    /// Those that were, but could not be carried out.
    pub failed: usize,
}

impl Tally {
    /// Counts a line that [`crate::parse`] refused.
    pub fn refused(&mut self, error: &SyntaxError) {
        match error.is_not_here() {
            true => self.not_here += 1,
            false => self.syntax_errors += 1,
        }
    }

    /// Exit code of runmqsc: 0 when all commands were carried out, otherwise 10. (20, for
    /// commands not run at all, is the caller's to give.)
    pub fn exit_code(&self) -> i32 {
        match self.syntax_errors + self.not_here + self.failed {
            0 => 0,
            _ => 10,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.read {
            0 => writeln!(f, "No MQSC commands read.")?,
            1 => writeln!(f, "One MQSC command read.")?,
            n => writeln!(f, "{n} MQSC commands read.")?,
        }
        match self.syntax_errors {
            0 => writeln!(f, "No commands have a syntax error.")?,
            1 => writeln!(f, "One command has a syntax error.")?,
            n => writeln!(f, "{n} commands have a syntax error.")?,
        }
        match self.not_here {
            0 => {}
            1 => writeln!(f, "One command is not in this release.")?,
            n => writeln!(f, "{n} commands are not in this release.")?,
        }
        match self.failed {
            0 => writeln!(f, "All valid MQSC commands were processed."),
            1 => writeln!(f, "One valid MQSC command could not be processed."),
            n => writeln!(f, "{n} valid MQSC commands could not be processed."),
        }
    }
}

#[cfg(test)]
mod tests;
