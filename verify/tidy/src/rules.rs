//! The table of rules. A rule that is not in it does not exist.

pub mod attributes;
pub mod circles;
pub mod dead_links;
pub mod dependencies;
pub mod documented;
pub mod engine_files;
pub mod engine_words;
pub mod file_head;
pub mod folders;
pub mod guards;
pub mod house;
pub mod machine_words;
pub mod message_ids;
pub mod names;
pub mod os_calls;
pub mod polling;
pub mod retired_words;
pub mod shared_state;
pub mod size;
pub mod sleeps;
pub mod unfinished;
pub mod unsafe_code;
pub mod unwraps;

use crate::{Repository, Violation};

/// A named check over the repository.
pub struct Rule {
    /// Short name shown in brackets.
    pub name: &'static str,
    /// Finds what breaks the rule.
    pub check: fn(&Repository) -> Vec<Violation>,
}

/// Every rule, in alphabetical order of the names.
pub const ALL: &[Rule] = &[
    Rule {
        name: attributes::NAME,
        check: attributes::check,
    },
    Rule {
        name: circles::NAME,
        check: circles::check,
    },
    Rule {
        name: dead_links::NAME,
        check: dead_links::check,
    },
    Rule {
        name: dependencies::NAME,
        check: dependencies::check,
    },
    Rule {
        name: documented::NAME,
        check: documented::check,
    },
    Rule {
        name: engine_files::NAME,
        check: engine_files::check,
    },
    Rule {
        name: engine_words::NAME,
        check: engine_words::check,
    },
    Rule {
        name: file_head::NAME,
        check: file_head::check,
    },
    Rule {
        name: folders::NAME,
        check: folders::check,
    },
    Rule {
        name: guards::NAME,
        check: guards::check,
    },
    Rule {
        name: house::NAME,
        check: house::check,
    },
    Rule {
        name: machine_words::NAME,
        check: machine_words::check,
    },
    Rule {
        name: message_ids::NAME,
        check: message_ids::check,
    },
    Rule {
        name: names::NAME,
        check: names::check,
    },
    Rule {
        name: os_calls::NAME,
        check: os_calls::check,
    },
    Rule {
        name: polling::NAME,
        check: polling::check,
    },
    Rule {
        name: retired_words::NAME,
        check: retired_words::check,
    },
    Rule {
        name: shared_state::NAME,
        check: shared_state::check,
    },
    Rule {
        name: size::NAME,
        check: size::check,
    },
    Rule {
        name: sleeps::NAME,
        check: sleeps::check,
    },
    Rule {
        name: unfinished::NAME,
        check: unfinished::check,
    },
    Rule {
        name: unsafe_code::NAME,
        check: unsafe_code::check,
    },
    Rule {
        name: unwraps::NAME,
        check: unwraps::check,
    },
];

/// Whether the Rust file is product or verification source, not a test, bench or fuzz target.
fn is_src(path: &str) -> bool {
    path.contains("/src/")
}

/// Folder of the crate a path lies in, for example `crates/mqi`; empty outside both house folders.
fn crate_folder(path: &str) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    let house = path.starts_with("crates/") || path.starts_with("verify/");
    match (house, slashes.next(), slashes.next()) {
        (true, Some(_), Some(second)) => &path[..second],
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_names_are_unique_and_sorted() {
        assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn crate_folders() {
        assert_eq!(crate_folder("crates/mqi/src/lib.rs"), "crates/mqi");
        assert_eq!(crate_folder("verify/fuzz/Cargo.toml"), "verify/fuzz");
        assert_eq!(crate_folder("docs/operating.md"), "");
        assert_eq!(crate_folder("crates/x"), "");
    }
}
