//! Stanza files: `Name:` lines, `Key=Value` lines below them, comments that begin with `#` or `;`.
//!
//! Invariants: reading never fails half way (every fault of the text is reported, with the line and
//! the column where it stands, counted from 1 in characters), and [`write()`] of what was read reads
//! back the same.

use std::fmt::Write as _;

/// Larger files are not configuration.
pub const LARGEST: usize = 1 << 20;

/// Where something stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
}

/// A `Key=Value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As written.
    pub key: String,
    /// Where the key begins.
    pub key_at: Place,
    /// Without blanks around it.
    pub value: String,
    /// Where the value begins.
    pub value_at: Place,
}

/// A `Name:` line and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stanza {
    /// As written, without the colon.
    pub name: String,
    /// Where the name begins.
    pub at: Place,
    /// Its lines.
    pub entries: Vec<Entry>,
}

impl Stanza {
    /// The value of a key, whatever the case.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self
            .entries
            .iter()
            .find(|e| e.key.eq_ignore_ascii_case(key));
        found.map(|entry| entry.value.as_str())
    }
}

/// A fault of the text, whatever it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Place,
    /// What, in a few words without a full stop.
    pub what: String,
}

/// Reads a file's bytes.
pub fn read(bytes: &[u8]) -> (Vec<Stanza>, Vec<Fault>) {
    let mut stanzas: Vec<Stanza> = Vec::new();
    let mut faults = Vec::new();
    let start = Place { line: 1, column: 1 };
    if bytes.len() > LARGEST {
        let what = format!(
            "the file has {} bytes, more than the {LARGEST} it may have",
            bytes.len()
        );
        return (stanzas, vec![Fault { at: start, what }]);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let at = place_after(before);
            let what = "the file is not UTF-8 text from here on".to_owned();
            return (stanzas, vec![Fault { at, what }]);
        }
    };
    // Some editors begin a file so (a byte order mark).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in text.lines().enumerate() {
        read_line(number + 1, line, &mut stanzas, &mut faults);
    }
    (stanzas, faults)
}

fn place_after(before: &[u8]) -> Place {
    let text = String::from_utf8_lossy(before);
    let last = text.rsplit('\n').next().unwrap_or("");
    Place {
        line: text.matches('\n').count() + 1,
        column: last.chars().count() + 1,
    }
}

/// What a line says.
enum Line<'a> {
    Nothing,
    Name(&'a str),
    Pair(&'a str, &'a str),
    Fault(&'a str, &'static str),
}

fn classify(line: &str) -> Line<'_> {
    let content = line.trim();
    if content.is_empty() || content.starts_with(['#', ';']) {
        return Line::Nothing;
    }
    if let Some(control) = content.find(char::is_control) {
        let from = content.get(control..).unwrap_or(content);
        return Line::Fault(from, "there is a control character here");
    }
    if let Some((key, value)) = content.split_once('=') {
        let (key, value) = (key.trim_end(), value.trim());
        return match key {
            "" => Line::Fault(content, "there is no key before the equals sign"),
            key if key.contains(char::is_whitespace) => {
                Line::Fault(content, "a key has no blanks in it")
            }
            key => Line::Pair(key, value),
        };
    }
    match content.strip_suffix(':') {
        Some(name) if !name.trim().is_empty() => Line::Name(name.trim_end()),
        Some(_) => Line::Fault(content, "there is no stanza name before the colon"),
        None => Line::Fault(
            content,
            "neither a stanza name with a colon nor a key with an equals sign",
        ),
    }
}

fn read_line(number: usize, line: &str, stanzas: &mut Vec<Stanza>, faults: &mut Vec<Fault>) {
    // `part` is always a slice of `line`, so that its address says where it stands.
    let place = |part: &str| {
        let offset = part.as_ptr().addr().saturating_sub(line.as_ptr().addr());
        let before = line.get(..offset).unwrap_or(line);
        Place {
            line: number,
            column: before.chars().count() + 1,
        }
    };
    let mut fault = |part: &str, what: &str| {
        faults.push(Fault {
            at: place(part),
            what: what.to_owned(),
        });
    };
    match classify(line) {
        Line::Nothing => {}
        Line::Fault(part, what) => fault(part, what),
        Line::Name(name) => stanzas.push(Stanza {
            name: name.to_owned(),
            at: place(name),
            entries: Vec::new(),
        }),
        Line::Pair(key, value) => match stanzas.last_mut() {
            None => fault(key, "a key stands before the first stanza"),
            Some(stanza) => {
                let value_at = match value {
                    "" => Place {
                        line: number,
                        column: line.trim_end().chars().count() + 1,
                    },
                    value => place(value),
                };
                stanza.entries.push(Entry {
                    key: key.to_owned(),
                    key_at: place(key),
                    value: value.to_owned(),
                    value_at,
                });
            }
        },
    }
}

/// The text of stanzas.
pub fn write(stanzas: &[Stanza]) -> String {
    let mut out = String::new();
    for stanza in stanzas {
        // Writing to a String does not fail.
        let _ = writeln!(out, "{}:", stanza.name);
        for entry in &stanza.entries {
            let _ = writeln!(out, "   {}={}", entry.key, entry.value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize, column: usize) -> Place {
        Place { line, column }
    }

    #[test]
    fn names_keys_and_places() {
        let text = "# comment\n; too\n\nLog:\n   LogPath=/a b/c \n\tKey =  v=w\nEmpty:\r\n E=\n";
        let (stanzas, faults) = read(text.as_bytes());
        assert_eq!(faults, []);
        assert_eq!(stanzas.len(), 2);
        let log = &stanzas[0];
        assert_eq!((log.name.as_str(), log.at), ("Log", at(4, 1)));
        assert_eq!(log.get("logpath"), Some("/a b/c"));
        assert_eq!(log.entries[0].key_at, at(5, 4));
        assert_eq!(log.entries[0].value_at, at(5, 12));
        assert_eq!(log.entries[1].value, "v=w");
        assert_eq!(log.entries[1].key_at, at(6, 2));
        assert_eq!(log.entries[1].value_at, at(6, 9));
        assert_eq!(stanzas[1].entries[0].value, "");
        assert_eq!(stanzas[1].entries[0].value_at, at(8, 4));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let (stanzas, faults) = read("\u{feff}Log:\n LogPath=/a\n".as_bytes());
        assert_eq!((stanzas[0].name.as_str(), faults), ("Log", vec![]));
        assert_eq!(stanzas[0].at, at(1, 1));
    }

    #[test]
    fn faults_say_where() {
        for (text, place, word) in [
            ("K=1\n", at(1, 1), "before the first stanza"),
            ("Log:\n   =1\n", at(2, 4), "no key"),
            ("Log:\n  a b=1\n", at(2, 3), "no blanks"),
            ("Log\n", at(1, 1), "neither"),
            ("  :\n", at(1, 3), "no stanza name"),
            ("Log:\n  é\u{7}=1\n", at(2, 4), "control character"),
        ] {
            let (_, faults) = read(text.as_bytes());
            assert_eq!(faults.len(), 1, "{text}");
            assert_eq!(faults[0].at, place, "{text}");
            assert!(faults[0].what.contains(word), "{:?}", faults[0]);
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_refused_where_they_begin() {
        let (_, faults) = read(b"Log:\n  \xff");
        assert_eq!(faults[0].at, at(2, 3));
        let (_, faults) = read(&vec![b' '; LARGEST + 1]);
        assert!(faults[0].what.contains("more than"));
    }

    #[test]
    fn all_faults_are_found_at_once_and_the_rest_is_read() {
        let (stanzas, faults) = read(b"x\nLog:\n y\n LogType=CIRCULAR\n");
        assert_eq!(faults.len(), 2);
        assert_eq!(stanzas[0].get("LogType"), Some("CIRCULAR"));
    }

    #[test]
    fn what_was_written_reads_back() {
        let (first, _) = read(b"A:\n k=v\n l=\nB:\n m=1=2\n");
        let (again, faults) = read(write(&first).as_bytes());
        assert_eq!(faults, []);
        let bare = |stanzas: &[Stanza]| -> Vec<(String, Vec<(String, String)>)> {
            let entries = |s: &Stanza| {
                s.entries
                    .iter()
                    .map(|e| (e.key.clone(), e.value.clone()))
                    .collect()
            };
            stanzas
                .iter()
                .map(|s| (s.name.clone(), entries(s)))
                .collect()
        };
        assert_eq!(bare(&first), bare(&again));
    }
}
