//! Lines of a script joined to commands (manual: "Rules for using MQSC commands").
//!
//! - A line whose first character, blanks aside, is `*` is a comment; it and blank lines are
//!   skipped, between continued lines too.
//! - A line that ends with `+` goes on with the first character that is not a blank of the
//!   next line; one that ends with `-` goes on with the first character of the next line.
//! - A semicolon at the end of a line ends the command.
//!
//! Blanks at the end of a line do not count. Continuation is by line, so it works inside
//! quotes as well.

/// Joins lines to commands. Lines are pushed as they come, so that a person typing gets each
/// answer at once.
#[derive(Debug, Default)]
pub struct ScriptReader {
    line: usize,
    begun: Option<Begun>,
}

#[derive(Debug)]
struct Begun {
    line: usize,
    text: String,
    keep_blanks: bool,
}

impl ScriptReader {
    /// A reader at the start of a script.
    pub fn new() -> Self {
        ScriptReader::default()
    }

    /// The commands of a whole script, each with the number of its first line.
    pub fn read(script: &str) -> Vec<(usize, String)> {
        let mut reader = ScriptReader::new();
        let mut commands: Vec<_> = script
            .lines()
            .filter_map(|line| reader.push(line))
            .collect();
        commands.extend(reader.finish());
        commands
    }

    /// Takes the next line, without its line end. Gives the command that it completes, with
    /// the number (from 1) of the command's first line.
    pub fn push(&mut self, line: &str) -> Option<(usize, String)> {
        self.line += 1;
        // Some editors begin a file so (a byte order mark).
        let mark = if self.line == 1 { "\u{feff}" } else { "" };
        let line = line.strip_prefix(mark).unwrap_or(line).trim_end();
        let first = line.trim_start();
        if first.is_empty() || first.starts_with('*') {
            return None;
        }
        let mut begun = self.begun.take().unwrap_or(Begun {
            line: self.line,
            text: String::new(),
            keep_blanks: false,
        });
        let line = if begun.keep_blanks { line } else { first };
        if let Some(part) = line.strip_suffix('+') {
            begun.text.push_str(part);
            begun.keep_blanks = false;
            self.begun = Some(begun);
            None
        } else if let Some(part) = line.strip_suffix('-') {
            begun.text.push_str(part);
            begun.keep_blanks = true;
            self.begun = Some(begun);
            None
        } else {
            begun.text.push_str(line);
            completed(begun)
        }
    }

    /// Whether the last line was continued, so that more is expected.
    pub fn is_continued(&self) -> bool {
        self.begun.is_some()
    }

    /// What is left when there are no more lines: a command whose last line was continued.
    pub fn finish(&mut self) -> Option<(usize, String)> {
        self.begun.take().and_then(completed)
    }
}

fn completed(begun: Begun) -> Option<(usize, String)> {
    let text = begun.text.trim_end();
    let text = text.strip_suffix(';').unwrap_or(text).trim_end();
    (!text.is_empty()).then(|| (begun.line, text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        let cases: &[(&str, &[(usize, &str)])] = &[
            ("", &[]),
            ("\n  \n* only a comment\n   * indented", &[]),
            ("DIS QMGR", &[(1, "DIS QMGR")]),
            ("\u{feff}DIS QMGR", &[(1, "DIS QMGR")]),
            ("\n\u{feff}END", &[(2, "\u{feff}END")]),
            (
                "DIS QMGR;\r\nDIS Q(*) ; \r\n",
                &[(1, "DIS QMGR"), (2, "DIS Q(*)")],
            ),
            (";", &[]),
            (
                "* head\n\nDEFINE QLOCAL(A) +  \n   DESCR('x') +\n   REPLACE\nDIS Q(A)",
                &[(3, "DEFINE QLOCAL(A) DESCR('x') REPLACE"), (6, "DIS Q(A)")],
            ),
            ("DESCR('Fr+\n    ed')", &[(1, "DESCR('Fred')")]),
            ("DESCR('Fr-\ned')", &[(1, "DESCR('Fred')")]),
            ("DESCR('Fr-\n  ed')", &[(1, "DESCR('Fr  ed')")]),
            (
                "DEF QL(A) +\n*  CRDATE(2020-01-01) +\n\n   GET(DISABLED)",
                &[(1, "DEF QL(A) GET(DISABLED)")],
            ),
            ("DIS Q(*) +", &[(1, "DIS Q(*)")]),
            ("+\n+\n", &[]),
            ("DIS +\n-\n Q(*)", &[(1, "DIS  Q(*)")]),
            ("\tDIS QMGR\t", &[(1, "DIS QMGR")]),
        ];
        for (script, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(n, t)| (*n, t.to_string())).collect();
            assert_eq!(ScriptReader::read(script), expected, "{script:?}");
        }
    }

    #[test]
    fn a_command_comes_with_the_line_that_completes_it() {
        let mut reader = ScriptReader::new();
        assert_eq!(reader.push("DIS +"), None);
        assert!(reader.is_continued());
        assert_eq!(reader.push("QMGR"), Some((1, "DIS QMGR".to_owned())));
        assert!(!reader.is_continued());
        assert_eq!(reader.finish(), None);
    }
}
