//! What an operator can set or meet is on the operators' page: every key of `qm.ini` that does something,
//! and every exit code. The tables in the source are the truth; a page that is written by hand drifts.

use crate::source::Source;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "documented";

const PAGE: &str = "docs/operating.md";
const KEYS: &str = "crates/server/src/ini/keys.rs";
const EXITS: &str = "crates/server/src/failure/exit.rs";

/// Finds keys and codes that the page does not have.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let page = repository.text(PAGE).unwrap_or("");
    let mut found = Vec::new();
    for source in repository.sources() {
        let rows = match source.path() {
            KEYS => keys(source),
            EXITS => exits(source),
            _ => continue,
        };
        if rows.is_empty() {
            let message =
                "the table that this rule reads is not found: teach the rule its new form";
            found.push(Violation::new(NAME, source.path(), 0, message));
        }
        for (line, cell, what) in rows {
            if !page.contains(&format!("| {cell} |")) {
                let message = format!("{what} is not in {PAGE}; give it a row there");
                found.push(Violation::new(NAME, source.path(), line, message));
            }
        }
    }
    found
}

/// Rows `key("Stanza", "Key", ..., Effect::Full, ...)`: line, cell of the page, what it is.
fn keys(source: &Source) -> Vec<(usize, String, String)> {
    let rows = source.text().lines().enumerate();
    let rows = rows.filter_map(|(index, line)| {
        let row = line.trim().strip_prefix("key(\"")?;
        let mut words = row.split('"');
        let (stanza, key) = (words.next()?, words.nth(1)?);
        let works = row.contains("Effect::Full") || row.contains("Effect::FirstWordOnly");
        works.then(|| {
            (
                index + 1,
                key.to_owned(),
                format!("key {key} of stanza {stanza}"),
            )
        })
    });
    rows.collect()
}

/// Rows `(Exit::Name, code, "meaning")`, on one line or more.
fn exits(source: &Source) -> Vec<(usize, String, String)> {
    let code = source.code();
    let rows = source.find("Exit").into_iter().filter_map(|at| {
        if source.is_test_at(at) || !code[..at].trim_end().ends_with('(') {
            return None;
        }
        let mut parts = code[at..].split(',').map(str::trim);
        let name = parts.next()?.strip_prefix("Exit::")?;
        let number = parts.next()?;
        number.bytes().all(|b| b.is_ascii_digit()).then(|| {
            (
                source.line_of(at),
                number.to_owned(),
                format!("exit code {number} ({name})"),
            )
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "    key(\"Log\", \"LogType\", X, \"\", Effect::Full, \"h\"),\n    key(\"Log\", \"Quiet\", X, \"\", NOT_HERE, \"h\"),\n    key(\"TCP\", \"KeepAlive\", X, \"\", Effect::Full, \"h\"),\n";
    const CODES: &str = "pub const TABLE: &[X] = &[\n    (Exit::Done, 0, \"done\"),\n    (\n        Exit::Exists,\n        8,\n        \"x\",\n    ),\n];\nfn f() { g(Exit::Done, code) }\n";

    fn findings(page: &str) -> Vec<String> {
        let repository = Repository::from_files(&[(KEYS, TABLE), (EXITS, CODES), (PAGE, page)]);
        check(&repository).into_iter().map(|v| v.message).collect()
    }

    #[test]
    fn a_complete_page_is_silent() {
        let page = "| Log | LogType | x |\n| TCP | KeepAlive | y |\n| 0 | done |\n| 8 | exists |\n";
        assert_eq!(findings(page), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_fires() {
        let found = findings("| Log | LogType | x |\n| 0 | done |\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|m| m.contains("KeepAlive")));
        assert!(found.iter().any(|m| m.contains("exit code 8 (Exists)")));
    }

    #[test]
    fn a_table_in_another_form_is_noticed() {
        let repository = Repository::from_files(&[(KEYS, "fn keys() {}\n")]);
        assert!(check(&repository)[0].message.contains("teach the rule"));
    }
}
