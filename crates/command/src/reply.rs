//! The answer to a command, and how runmqsc shows it (manual: "runmqsc").

use crate::attribute::Attribute;
use crate::attribute::shown;
use crate::command::{DisplayType, DisplayWhat, SyntaxError};
use crate::messages;
use crate::statuses::status_rows;
use crate::value::Value;
use crate::value::printable;
use posthaste_mqi::Reason;
use std::fmt;

/// Where the second column of an answer begins, after the indent.
const CELL: usize = 40;
const INDENT: &str = "   ";

/// One value of an answer: what it is, and how much.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    attribute: &'static Attribute,
    value: Value,
    ends_line: bool,
}

impl Cell {
    /// A value of an attribute or status.
    pub fn new(attribute: &'static Attribute, value: Value) -> Cell {
        Cell {
            attribute,
            value,
            ends_line: false,
        }
    }

    /// What it is.
    pub fn attribute(&self) -> &'static Attribute {
        self.attribute
    }

    /// How much.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The word that is shown first: the keyword, of a switch its word.
    pub fn keyword(&self) -> String {
        match self.attribute.is_switch() {
            true => shown(self.attribute, &self.value),
            false => self.attribute.keyword.to_owned(),
        }
    }

    /// What is shown in parentheses; `" "` for what is blank, and nothing for a switch.
    pub fn shown(&self) -> String {
        match self.attribute.is_switch() {
            true => String::new(),
            false => shown(self.attribute, &self.value),
        }
    }
}

/// One object of an answer: values in the order shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    what: Option<DisplayWhat>,
    cells: Vec<Cell>,
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Row {
        Row { what: None, cells }
    }
}

impl Row {
    /// A row of a DISPLAY command about state, without cells yet.
    pub fn of(what: DisplayWhat) -> Row {
        Row {
            what: Some(what),
            cells: Vec::new(),
        }
    }

    /// Adds a cell of the command's table at the end. Text is taken as what the row of the table has: the word or the
    /// number that it says.
    pub fn push(&mut self, keyword: &str, value: impl Into<Value>) {
        let rows = self.what.map(|what| status_rows(what, DisplayType::All));
        let attribute = rows.and_then(|rows| rows.into_iter().find(|row| row.keyword == keyword));
        assert!(
            attribute.is_some(),
            "{keyword} is in no row of the table of statuses"
        );
        let Some(attribute) = attribute else { return };
        let value = match value.into() {
            Value::Text(text) if text.is_empty() => Value::Blank,
            Value::Text(text) => attribute.parsed(&text).unwrap_or(Value::Text(text)),
            other => other,
        };
        self.cells.push(Cell::new(attribute, value));
    }

    /// Ends the line: the next cell begins a new one.
    pub fn end_line(&mut self) {
        if let Some(last) = self.cells.last_mut() {
            last.ends_line = true;
        }
    }

    /// Its cells, in the order shown.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// How many cells it has.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Leaves the cells that are wanted, by their place and keyword.
    pub fn keep(&mut self, mut wanted: impl FnMut(usize, &'static str) -> bool) {
        let mut at = 0;
        self.cells.retain(|cell| {
            at += 1;
            wanted(at - 1, cell.attribute.keyword)
        });
    }

    /// The cell of a keyword.
    pub fn cell(&self, keyword: &str) -> Option<&Cell> {
        let mut cells = self.cells.iter();
        cells.find(|cell| cell.attribute.keyword == keyword)
    }

    /// What a keyword shows in parentheses. For a switch that is off (`NOSHARE`), asking for `SHARE` finds nothing.
    pub fn shown(&self, keyword: &str) -> Option<String> {
        let mut cells = self.cells.iter();
        cells
            .find(|cell| cell.keyword() == keyword)
            .map(Cell::shown)
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
    /// Where the command is wrong, if it is not one: bytes from its start.
    pub column: Option<usize>,
}

impl Default for Reply {
    fn default() -> Self {
        Reply {
            messages: Vec::new(),
            rows: Vec::new(),
            ok: true,
            reason: Reason::NONE,
            column: None,
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
            column: Some(error.column),
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
    for shown in &row.cells {
        let cell = match (shown.keyword(), shown.shown()) {
            (keyword, value) if value.is_empty() => keyword,
            (keyword, value) => printable(&format!("{keyword}({value})")).into_owned(),
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
        if shown.ends_line {
            flush(first.take(), out);
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
