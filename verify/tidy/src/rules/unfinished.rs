//! Nothing unfinished is in the tree: what is missing is an issue, or a clear error, not a note.
//!
//! The words are put together from halves, so that this file does not find itself.

use crate::source::find_word;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "unfinished";

const NOTES: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
];
const MACROS: &[&str] = &[concat!("todo", "!"), concat!("unimple", "mented!")];

/// Finds notes to self in any text, and place-holder macros in code, tests included.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository
        .texts()
        .filter(|(path, _)| !path.ends_with("Cargo.lock"))
    {
        for (index, line) in text.lines().enumerate() {
            for note in NOTES
                .iter()
                .filter(|note| !find_word(line, note).is_empty())
            {
                let message =
                    format!("`{note}`: do it, or write down what is true now and open an issue");
                found.push(Violation::new(NAME, path, index + 1, message));
            }
        }
    }
    for source in repository.sources() {
        for name in MACROS {
            for offset in source.find(name) {
                let message = format!(
                    "`{name}`: write it, or return the error that says it is not supported"
                );
                found.push(Violation::new(
                    NAME,
                    source.path(),
                    source.line_of(offset),
                    message,
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Repository::from_files(&[(path, text)]))
            .iter()
            .map(|v| v.line)
            .collect()
    }

    #[test]
    fn notes_and_macros_fire() {
        for note in NOTES {
            assert_eq!(
                lines("crates/x/src/a.rs", &format!("\n// {note}: later\n")),
                [2]
            );
            assert_eq!(lines("docs/a.md", &format!("{note}\n")), [1]);
        }
        for name in MACROS {
            assert_eq!(
                lines("crates/x/src/a.rs", &format!("fn a() {{\n {name}() }}\n")),
                [2]
            );
        }
    }

    #[test]
    fn longer_words_and_strings_are_silent() {
        let text = format!(
            "fn a() {{ m{}; say(\"{}()\") }}\n",
            NOTES[0].to_lowercase(),
            MACROS[0]
        );
        assert_eq!(lines("crates/x/src/a.rs", &text), [0usize; 0]);
        assert_eq!(
            lines("docs/a.md", concat!("XX", "XX and AMQnnnnX\n")),
            [0usize; 0]
        );
    }
}
