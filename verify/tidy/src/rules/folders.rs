//! Tests leave no folders behind: what they make goes with the value that owns it, and nothing owns it
//! that is never dropped.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "folders";

/// Statics are not dropped when the process ends.
const NEVER_DROPPED: &[&str] = &["OnceLock<", "LazyLock<", "OnceCell<"];
/// Folders that nobody removes, and ends of the process that nobody cleans up after.
const CALLS: &[&str] = &[
    "env::temp_dir",
    "into_path()",
    ".keep()",
    "process::exit",
    "mem::forget",
];

/// Finds what outlives a test.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in repository.sources() {
        let code = source.code();
        let mut offset = 0;
        for line in code.split_inclusive('\n') {
            let is_static = line.trim_start().starts_with("static ");
            let kept = is_static && NEVER_DROPPED.iter().any(|cell| line.contains(cell));
            let called = CALLS.iter().find(|call| line.contains(*call));
            if source.is_test_at(offset) && (kept || called.is_some()) {
                let message = match called {
                    Some(call) => format!(
                        "`{call}` leaves files behind: use tempfile::tempdir and let it drop"
                    ),
                    None => {
                        "a static is never dropped, nor is the folder in it: make one in each test"
                            .to_owned()
                    }
                };
                found.push(Violation::new(
                    NAME,
                    source.path(),
                    source.line_of(offset),
                    message,
                ));
            }
            offset += line.len();
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
    fn what_outlives_a_test_fires() {
        let text = "fn a() {\n    static WORLD: OnceLock<World> = OnceLock::new();\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [2]);
        let text =
            "fn a() {\n    let at = std::env::temp_dir();\n    let kept = folder.keep();\n}\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [2, 3]);
    }

    #[test]
    fn owned_folders_and_product_code_are_silent() {
        let text = "fn a() { let folder = tempfile::tempdir().unwrap(); }\nstatic COUNT: AtomicU64 = AtomicU64::new(0);\n";
        assert_eq!(lines("crates/x/tests/a.rs", text), [0usize; 0]);
        let text = "fn a() { let at = std::env::temp_dir(); }\n";
        assert_eq!(lines("crates/x/src/a.rs", text), [0usize; 0]);
    }
}
