//! Product code does not unwrap: what a user, a peer or a disk can cause is an error with a name, and
//! what cannot happen is an `assert!` that says why.

use crate::rules::is_src;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "unwraps";

/// Finds `unwrap` and `expect` outside tests.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in repository.sources().iter().filter(|s| is_src(s.path())) {
        let mut fire = |offset: usize, what: &str| {
            if !source.is_test_at(offset) {
                let message = format!(
                    "`{what}` outside tests: return the error with `?`, match it, or assert with the reason why it cannot be"
                );
                found.push(Violation::new(
                    NAME,
                    source.path(),
                    source.line_of(offset),
                    message,
                ));
            }
        };
        for name in ["unwrap", "unwrap_err"] {
            for offset in source.find(name) {
                let called = source.code()[..offset].ends_with('.')
                    && source.code()[offset + name.len()..].starts_with("()");
                let as_path = source.code()[..offset].ends_with("::");
                if called || as_path {
                    fire(offset, name);
                }
            }
        }
        for name in ["expect", "expect_err"] {
            for offset in source.find(name) {
                // A parser's own `expect(token)` is fine: the one meant here takes a text.
                let called = source.code()[..offset].ends_with('.');
                let rest = source.code()[offset + name.len()..].strip_prefix('(');
                let text = rest
                    .map(str::trim_start)
                    .is_some_and(|rest| rest.starts_with('"') || rest.starts_with("&format!"));
                if called && text {
                    fire(offset, name);
                }
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
    fn unwraps_in_product_code_fire() {
        for call in [
            "a.unwrap();",
            "a.expect(\"b\");",
            "a.expect(\n\"b\");",
            "a.map(Option::unwrap);",
            "a.unwrap_err();",
            "a.expect(&format!(\"b\"));",
        ] {
            assert_eq!(
                lines("crates/x/src/a.rs", &format!("fn a() {{\n{call}\n}}\n")),
                [2],
                "{call}"
            );
        }
    }

    #[test]
    fn tests_and_look_alikes_are_silent() {
        let call = "fn a() { a.unwrap(); }\n";
        assert_eq!(lines("crates/x/tests/a.rs", call), [0usize; 0]);
        assert_eq!(
            lines(
                "crates/x/src/a.rs",
                &format!("#[cfg(test)]\nmod tests {{ {call} }}\n")
            ),
            [0usize; 0]
        );
        let fine = "fn a() { a.unwrap_or(0); a.unwrap_or_default(); self.expect(Token::Comma)?; expect_name(); \".unwrap()\"; }\n";
        assert_eq!(lines("crates/x/src/a.rs", fine), [0usize; 0]);
    }
}
