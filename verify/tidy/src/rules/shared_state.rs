//! What threads of the engine, its log and its files do to each other goes through `posthaste_env::sync`.
//!
//! An explorer of interleavings runs their threads and must hear of every operation on what they share. An
//! atomic of the standard library would be a place where it is blind. (Locks: see the doors of `dependencies`.)

use crate::rules::{crate_folder, is_src};
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "shared-state";

const EXPLORED: &[&str] = &["crates/recovery-log", "crates/store", "crates/engine"];

/// Files whose atomics decide nothing, and why.
const COUNTERS: &[(&str, &str)] = &[("crates/engine/src/meter.rs", "statistics only")];

const PATHS: &[&str] = &["std::sync::atomic", "std::sync::Mutex", "std::sync::RwLock"];

/// Finds atomics and locks of the standard library where an explorer has to see them.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in repository.sources() {
        let path = source.path();
        let explored = is_src(path) && EXPLORED.contains(&crate_folder(path));
        if !explored || COUNTERS.iter().any(|(known, _)| *known == path) {
            continue;
        }
        let imports = source.imports();
        let named = PATHS.iter().flat_map(|what| source.find(what));
        let imported = imports
            .iter()
            .filter(|import| PATHS.iter().any(|what| import.path.starts_with(what)))
            .map(|import| import.offset);
        let mut lines: Vec<usize> = named.chain(imported).map(|at| source.line_of(at)).collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            let message =
                "take it from posthaste_env::sync, so that the explorer of interleavings sees it";
            found.push(Violation::new(NAME, path, line, message));
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
    fn hidden_operations_fire() {
        let text = "use std::sync::atomic::AtomicU64;\nuse std::sync::{Arc, Mutex};\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [1, 2]);
        let text = "fn a() { let _ = std::sync::atomic::AtomicBool::new(true); }\n";
        assert_eq!(lines("crates/store/src/a.rs", text), [1]);
    }

    #[test]
    fn the_alias_other_crates_tests_and_counters_are_silent() {
        let text = "use std::sync::Arc;\nuse posthaste_env::sync::atomic::AtomicU64;\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [0usize; 0]);
        let text = "use std::sync::atomic::AtomicU64;\n";
        for path in [
            "crates/net/src/a.rs",
            "crates/engine/tests/a.rs",
            "crates/engine/src/meter.rs",
        ] {
            assert_eq!(lines(path, text), [0usize; 0]);
        }
    }
}
