//! Operator messages are numbered in one table (`crates/command/src/messages`), each number once, and
//! nobody else names a number that is not in it: not the product's source, not the documents.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::is_word;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "message-ids";

/// Files of the table: this file, or files below the folder of this name.
const TABLE: &str = "crates/command/src/messages";

/// Finds numbers that are defined twice, and numbers that are used without being defined.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut known: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for source in repository.sources().iter().filter(|s| is_table(s.path())) {
        for literal in source.literals() {
            let whole = is_id(&literal.text) && !source.is_test_at(literal.offset);
            if !whole || !defines(source.code(), literal.offset) {
                continue;
            }
            let place = (source.path().to_owned(), source.line_of(literal.offset));
            if let Some((path, line)) = known.get(&literal.text) {
                let message = format!(
                    "{} is defined at {path}:{line} already; take a free number",
                    literal.text
                );
                found.push(Violation::new(NAME, &place.0, place.1, message));
            } else {
                known.insert(literal.text.clone(), place);
            }
        }
    }
    if known.is_empty() {
        return found;
    }
    for (path, line, id) in uses(repository) {
        if !known.contains_key(&id) {
            let message = format!(
                "{id} is not in the message table; add it to {TABLE} with its text, explanation and action, or use a number that is there"
            );
            found.push(Violation::new(NAME, &path, line, message));
        }
    }
    found
}

fn is_table(path: &str) -> bool {
    path.strip_prefix(TABLE)
        .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// Whether the literal at `offset` is the first value of a row: behind `id:` or an opening bracket.
fn defines(code: &str, offset: usize) -> bool {
    let before = code[..offset].trim_end_matches('"').trim_end();
    before.ends_with("id:") || before.ends_with('(') || before.ends_with('{')
}

/// Numbers named in product source outside tests, and in documents.
fn uses(repository: &Repository) -> BTreeSet<(String, usize, String)> {
    let mut uses = BTreeSet::new();
    for source in repository.sources() {
        let product = source.path().starts_with("crates/") && !is_table(source.path());
        for literal in source.literals().iter().filter(|_| product) {
            if source.is_test_at(literal.offset) {
                continue;
            }
            for (at, id) in ids(&literal.text) {
                uses.insert((
                    source.path().to_owned(),
                    source.line_of(literal.offset + at),
                    id,
                ));
            }
        }
    }
    for (path, text) in repository.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (index, line) in text.lines().enumerate() {
            for (_, id) in ids(line) {
                uses.insert((path.to_owned(), index + 1, id));
            }
        }
    }
    uses
}

/// Whole numbers such as `AMQ8405E` inside a text.
fn ids(text: &str) -> Vec<(usize, String)> {
    text.match_indices("AMQ")
        .filter_map(|(at, _)| {
            let id = text.get(at..at + 8)?;
            let before = at.checked_sub(1).and_then(|i| text.as_bytes().get(i));
            let after = text.as_bytes().get(at + 8);
            let alone = !before.is_some_and(|b| is_word(*b)) && !after.is_some_and(|b| is_word(*b));
            (alone && is_id(id)).then(|| (at, id.to_owned()))
        })
        .collect()
}

/// `AMQ`, four digits, and the severity: information, warning, error, severe, terminating.
fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 8
        && text.starts_with("AMQ")
        && bytes[3..7].iter().all(u8::is_ascii_digit)
        && matches!(bytes[7], b'I' | b'W' | b'E' | b'S' | b'T')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "pub static ALL: &[Message] = &[\n Message { id: \"AMQ0001I\", text: \"see AMQ0001I\" },\n Message {\n  id: \"AMQ0002E\",\n  text: \"b\" },\n];\n";

    fn findings(extra: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![("crates/command/src/messages.rs", ROWS)];
        files.extend_from_slice(extra);
        check(&Repository::from_files(&files))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn known_numbers_are_silent() {
        let found = findings(&[
            (
                "crates/x/src/a.rs",
                "fn a() { say(\"AMQ0001I\"); say(\"AMQ0002E: b\"); say(\"AMQ99990E\"); }\n",
            ),
            (
                "docs/a.md",
                "AMQ0002E means b; the files are AMQERR01.LOG\n",
            ),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_number_defined_twice_fires() {
        let found = findings(&[(
            "crates/command/src/messages/more.rs",
            "m(\"AMQ0001I\", \"x\");\n",
        )]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("messages.rs:2 already") || found[0].contains("more.rs:1 already")
        );
    }

    #[test]
    fn unknown_numbers_fire_in_source_and_documents_but_not_in_tests() {
        let found = findings(&[
            (
                "crates/x/src/a.rs",
                "fn a() {\n say(\"AMQ0003W\") }\n#[cfg(test)]\nmod tests { fn t() { find(\"AMQ0004W\") } }\n",
            ),
            ("docs/a.md", "\nAMQ0005S\n"),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/x/src/a.rs:2:"));
        assert!(found[1].starts_with("docs/a.md:2:"));
    }
}
