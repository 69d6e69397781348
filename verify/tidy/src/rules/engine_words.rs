//! The engine knows no commands: of `posthaste-command` it takes definitions and their attributes, and neither what
//! MQSC and PCF are made of nor what is answered to them. That is for `admin`, the one door.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "engine-words";

/// What stands for a command, an answer, or a text of them.
const WORDS: &[&str] = &[
    "Command",
    "DisplayWhat",
    "DisplayType",
    "Reply",
    "Row",
    "Where",
    "parse",
    "pcf",
    "render",
    "row_of",
    "mqsc_of",
    "whole_mqsc_of",
    "script_of",
    "where_matches",
    "generic_matches",
    "status_keywords",
];
const FROM: &str = "posthaste_command::";

/// Finds uses of such words in the engine's product code.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    let engine = |path: &str| path.starts_with("crates/engine/src/");
    let sources = repository.sources().iter();
    for source in sources.filter(|source| engine(source.path())) {
        let code = source.code();
        for offset in source.find(FROM) {
            let rest = code.get(offset + FROM.len()..).unwrap_or("");
            let used = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or(""),
                None => rest.split([';', '(', ' ', '\n']).next().unwrap_or(""),
            };
            let mut names = used.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let Some(word) = names.find(|name| WORDS.contains(name)) else {
                continue;
            };
            if !source.is_test_at(offset) {
                let message = format!(
                    "the engine may not know `{word}`: give a typed value or error, and let crates/admin make an answer of it"
                );
                let line = source.line_of(offset);
                found.push(Violation::new(NAME, source.path(), line, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let files = Repository::from_files(&[(path, text)]);
        check(&files).iter().map(|v| v.line).collect()
    }

    #[test]
    fn commands_and_answers_fire_in_the_engine_only() {
        let text = "use posthaste_command::{Attrs, Reply};\nuse posthaste_command::parse;\nfn a() { posthaste_command::render(b) }\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [1, 2, 3]);
        assert_eq!(lines("crates/admin/src/a.rs", text), [0; 0]);
        assert_eq!(lines("crates/engine/tests/a.rs", text), [0; 0]);
    }

    #[test]
    fn definitions_and_tests_are_silent() {
        let text = "use posthaste_command::{Attrs, Object, ObjectKind, attributes};\n#[cfg(test)]\nmod tests {\nuse posthaste_command::row_of;\n}\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [0; 0]);
    }
}
