//! The repository's own rules, run as a test (`tests/repository.rs`).
//!
//! A rule is a pure function from a [`Repository`] (paths and texts) to [`Violation`]s, one file a
//! rule, with unit tests on small inline samples: a rule that has never fired is unproven. A message
//! names the replacement, so that whoever meets it need not ask. Nothing stops at the first finding:
//! all violations are reported at once.
//!
//! What is true of every rule:
//! * it looks at text only, never at the compiler's view, so it may be fooled on purpose but not by
//!   accident (comments and literals are blanked before code is searched, see [`source`]);
//! * exceptions are data (`allow.txt`, tables at the head of the rule), never an `if` in its code;
//! * an exception that is no longer needed is itself a violation.

pub mod repository;
pub mod rules;
pub mod source;

use std::fmt;

pub use repository::Repository;

/// One broken rule at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Path from the repository's root, with `/`.
    pub path: String,
    /// 1-based line; 0 where the finding is about the file or folder as a whole.
    pub line: usize,
    /// The rule's short name.
    pub rule: &'static str,
    /// What is wrong and what to do instead.
    pub message: String,
}

impl Violation {
    /// A finding at `path:line`.
    pub fn new(rule: &'static str, path: &str, line: usize, message: impl Into<String>) -> Self {
        Violation {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: [{}] {}", self.path, self.rule, self.message)
        } else {
            write!(
                f,
                "{}:{}: [{}] {}",
                self.path, self.line, self.rule, self.message
            )
        }
    }
}

/// Runs every rule and returns all findings, sorted by rule, path and line.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found: Vec<Violation> = rules::ALL
        .iter()
        .flat_map(|rule| (rule.check)(repository))
        .collect();
    found.sort_by(|a, b| (a.rule, &a.path, a.line).cmp(&(b.rule, &b.path, b.line)));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_reads_like_a_compiler_message() {
        let at_line = Violation::new("size", "crates/x/src/lib.rs", 7, "too long");
        let whole = Violation::new("size", "crates/x", 0, "too long");
        assert_eq!(
            at_line.to_string(),
            "crates/x/src/lib.rs:7: [size] too long"
        );
        assert_eq!(whole.to_string(), "crates/x: [size] too long");
    }

    #[test]
    fn findings_of_all_rules_are_reported_at_once() {
        let todo = concat!("// TO", "DO later\n");
        let repository = Repository::from_files(&[
            ("crates/x/src/lib.rs", todo),
            ("README.md", "[gone](nowhere.md)\n"),
        ]);
        let rules: Vec<&str> = check(&repository).iter().map(|v| v.rule).collect();
        for expected in ["dead-links", "file-head", "unfinished"] {
            assert!(rules.contains(&expected), "{expected} missing in {rules:?}");
        }
    }
}
