//! Tests do not sleep to wait for things: they wait for the condition, or move a simulated clock.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "sleeps";

const CALLS: &[&str] = &[
    "thread::sleep",
    "time::sleep",
    "sleep_ms",
    "time::sleep_until",
];

/// Finds sleeps in test code, called by path or by an imported name.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in repository.sources() {
        let mut fire = |offset: usize, what: &str| {
            if source.is_test_at(offset) {
                let message = format!(
                    "`{what}` in a test: wait for the condition (channel, Event, join, read) or use the simulated clock"
                );
                found.push(Violation::new(
                    NAME,
                    source.path(),
                    source.line_of(offset),
                    message,
                ));
            }
        };
        let imports = source.imports();
        for import in &imports {
            if import.path.ends_with("thread::sleep") || import.path.ends_with("time::sleep") {
                fire(import.offset, &import.path);
            }
        }
        for call in CALLS {
            for offset in source.find(call) {
                let declared = source.code()[..offset]
                    .lines()
                    .next_back()
                    .is_some_and(|line| line.trim_start().starts_with("use "));
                if !declared {
                    fire(offset, call);
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
    fn sleeps_in_tests_fire() {
        assert_eq!(
            lines(
                "crates/x/tests/a.rs",
                "fn a() {\nstd::thread::sleep(d);\n}\n"
            ),
            [2]
        );
        assert_eq!(
            lines("crates/x/tests/a.rs", "use std::thread::{self, sleep};\n"),
            [1]
        );
        assert_eq!(
            lines(
                "crates/x/src/a.rs",
                "#[tokio::test]\nasync fn a() {\ntokio::time::sleep(d).await;\n}\n"
            ),
            [3]
        );
    }

    #[test]
    fn product_code_and_look_alikes_are_silent() {
        assert_eq!(
            lines("crates/x/src/a.rs", "fn a() { std::thread::sleep(d); }\n"),
            [0usize; 0]
        );
        assert_eq!(
            lines(
                "crates/x/tests/a.rs",
                "fn a() { clock.sleep_until(at); \"thread::sleep\"; }\n"
            ),
            [0usize; 0]
        );
    }
}
