//! Words that are no names here: private ones for which the field has its own. Prose may use them.
//!
//! Invariant: each word has the name that stands for it now, so that whoever meets the rule knows what to write.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "retired-words";

/// A word as a whole identifier, in lower case, and what to call the thing instead.
const WORDS: &[(&str, &str)] = &[
    ("ahead", "`asynchronous`, `latest` or `lookahead`"),
    ("alarms", "`ConnectionWakers`"),
    ("gift", "a message that is handed over"),
    ("heard", "what was received, or the receiver"),
    ("orphan", "`detached`"),
    ("orphaned", "`detached`"),
    ("orphans", "`detached`"),
    ("parcel", "`RoutedMessage`"),
    ("parcels", "`RoutedMessage`s"),
    ("patience", "a timeout, or `LogSpaceWait`"),
    ("said", "the answer, the output or the text"),
    ("spoken", "what it is a state of"),
    ("talk", "`Dispatcher`"),
    ("told", "the alert, the report or the result"),
];

/// Words that are names of the standard library's functions too: a call of one is none of ours.
const BESIDE_METHODS: &[(&str, &str)] = &[
    ("extension", "`mde`"),
    ("floor", "`round_down`, or what the bound is of"),
];

/// Where a word is the public name of something: of a scenario and of a field of its results; of parts of a TLS handshake
/// and of a certificate.
const PUBLIC: &[(&str, &str)] = &[("floor", "crates/perf/"), ("extension", "crates/tls/")];

/// Finds identifiers that are such a word, as a name of their own or as that of a type.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in repository.sources() {
        let code = source.code();
        for (word, offset) in identifiers(code) {
            let is_method = code[..offset].trim_end().ends_with('.');
            let methods = BESIDE_METHODS.iter().filter(|_| !is_method);
            let lower = word.to_ascii_lowercase();
            let mut words = WORDS.iter().chain(methods);
            let Some((retired, instead)) = words.find(|(retired, _)| *retired == lower) else {
                continue;
            };
            let public = |(public, folder): &(&str, &str)| {
                public == retired && source.path().starts_with(folder)
            };
            if !PUBLIC.iter().any(public) {
                let line = source.line_of(offset);
                let message = format!("`{word}` is a private word; call it {instead}");
                found.push(Violation::new(NAME, source.path(), line, message));
            }
        }
    }
    found
}

/// Every identifier and keyword of blanked code with its offset.
fn identifiers(code: &str) -> impl Iterator<Item = (&str, usize)> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + code[at..].find(inside)?;
        let length = code[start..].find(|c| !inside(c));
        at = length.map_or(code.len(), |length| start + length);
        Some((&code[start..at], start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let files = Repository::from_files(&[(path, text)]);
        check(&files).iter().map(|v| v.line).collect()
    }

    #[test]
    fn a_retired_word_fires_as_a_type_a_local_and_a_field() {
        let text =
            "struct Parcel;\nfn f() { let told = 1; }\nstruct S { patience: u8 }\nmod extension;\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [1, 2, 3, 4]);
        assert_eq!(lines("verify/sim/tests/a.rs", "let heard = 1;"), [1]);
    }

    #[test]
    fn prose_parts_of_names_and_methods_of_the_standard_library_are_silent() {
        let text = "//! It is told.\nfn the_operator_is_told() {}\nfn f() { path.extension(); x\n.floor(); \"said\"; }\nconst READ_AHEAD: u8 = 0;\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn a_public_name_stays_where_it_is_public() {
        assert_eq!(lines("crates/perf/src/a.rs", "mod floor;"), [0; 0]);
        assert_eq!(lines("crates/engine/src/a.rs", "mod floor;"), [1]);
    }
}
