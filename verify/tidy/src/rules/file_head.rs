//! Every Rust file opens with `//!`: what it is, and what is always true of it.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "file-head";

/// Finds files that do not say what they are.
pub fn check(repository: &Repository) -> Vec<Violation> {
    repository
        .sources()
        .iter()
        .filter(|source| {
            let first = source.text().lines().next().unwrap_or("");
            first
                .strip_prefix("//!")
                .is_none_or(|head| head.trim().is_empty())
        })
        .map(|source| {
            let message = "open the file with a `//!` paragraph: its one idea, and the invariants that hold in it";
            Violation::new(NAME, source.path(), 1, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_needed_and_must_say_something() {
        let rows = [
            ("//! What it is.\nfn a() {}\n", 0),
            ("fn a() {}\n", 1),
            ("", 1),
            ("//!\n//! Late.\n", 1),
            ("// Not a head.\n", 1),
            ("#![no_main]\n//! Late.\n", 1),
        ];
        for (text, expected) in rows {
            let repository = Repository::from_files(&[("crates/x/src/a.rs", text)]);
            assert_eq!(check(&repository).len(), expected, "{text}");
        }
    }
}
