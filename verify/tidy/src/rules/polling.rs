//! Tests that look again and again until something is so stop looking at a deadline, and none waits for
//! time to pass by receiving from a channel that nobody sends to.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "polling";

/// Calls that let others run, so that a loop can look again.
const YIELDS: &[&str] = &["thread::yield_now", "task::yield_now", "hint::spin_loop"];
/// What a function with such a loop has.
const ENDS: &[&str] = &["deadline", "Instant::now", "timeout"];

/// Finds loops in tests without a deadline, and waits whose result nobody looks at.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in repository.sources() {
        let code = source.code();
        let functions = source.functions();
        for offset in YIELDS.iter().flat_map(|call| source.find(call)) {
            let line = source.line_of(offset);
            let around = functions
                .iter()
                .filter(|f| (f.line..f.line + f.lines).contains(&line))
                .max_by_key(|f| f.offset);
            let body: String = around.map_or_else(String::new, |f| {
                let lines = code.split_inclusive('\n').skip(f.line - 1);
                lines.take(f.lines).collect()
            });
            let looped = ["while ", "loop {"].iter().any(|word| body.contains(word));
            let ends = ENDS.iter().any(|word| body.contains(word));
            if source.is_test_at(offset) && looped && !ends {
                let message = "a loop in a test looks again for ever: give it a deadline, and say what did not happen";
                found.push(Violation::new(
                    NAME,
                    source.path(),
                    source.line_of(offset),
                    message,
                ));
            }
        }
        for offset in source.find("recv_timeout") {
            let line = code
                .get(..offset)
                .and_then(|before| before.lines().next_back());
            let ignored = line.is_some_and(|line| line.trim_start().starts_with("let _ ="));
            if source.is_test_at(offset) && ignored {
                let message =
                    "`recv_timeout` as a sleep: wait for the condition itself, with a deadline";
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
    fn endless_loops_and_disguised_sleeps_fire() {
        let text = "fn a() {\nwhile !so() {\nstd::thread::yield_now();\n}\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [3]);
        let text = "fn a() {\nloop {\nif so() { return; }\nstd::hint::spin_loop();\n}\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [4]);
        let text = "fn a() {\nlet _ = receiver.recv_timeout(d);\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [2]);
    }

    #[test]
    fn loops_with_a_deadline_and_product_code_are_silent() {
        let text = "fn a() {\nlet deadline = d;\nwhile !so() {\nassert!(now() < deadline);\nstd::thread::yield_now();\n}\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [0usize; 0]);
        let text = "fn a() {\ntokio::task::yield_now().await;\nassert!(waiting());\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [0usize; 0]);
        let text = "fn a() { assert!(r.recv_timeout(d).is_ok()); }\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [0usize; 0]);
        let text = "fn a() { while !so() { std::thread::yield_now(); } }\n";
        assert_eq!(lines("crates/x/src/a.rs", text), [0usize; 0]);
    }
}
