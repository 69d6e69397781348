//! No crate, module or folder of sources is called by a word that says nothing: such a place has no
//! subject, so everything ends up in it and everything depends on it.

use crate::source::is_word;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "names";

const SAY_NOTHING: &[&str] = &[
    "common", "util", "utils", "helper", "helpers", "shared", "misc",
];

/// Finds files, folders and inline modules that are named after nothing.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for path in repository.paths() {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let source =
            name.ends_with(".rs") || path.starts_with("crates/") || path.starts_with("verify/");
        if source && says_nothing(stem) {
            found.push(Violation::new(NAME, path, 0, message(stem)));
        }
    }
    for source in repository.sources() {
        for at in source.find("mod") {
            let rest = source.code()[at + 3..].trim_start();
            let end = rest.bytes().position(|b| !is_word(b)).unwrap_or(rest.len());
            let inline = rest[end..].trim_start().starts_with('{');
            if inline && says_nothing(&rest[..end]) {
                found.push(Violation::new(
                    NAME,
                    source.path(),
                    source.line_of(at),
                    message(&rest[..end]),
                ));
            }
        }
    }
    found
}

fn says_nothing(name: &str) -> bool {
    SAY_NOTHING.contains(&name)
        || name
            .split(['_', '-'])
            .any(|part| SAY_NOTHING.contains(&part) && part != "shared")
}

fn message(name: &str) -> String {
    format!(
        "`{name}` names no subject; call it after the thing it holds, or move each part beside its only user"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(path: &str, text: &str) -> usize {
        check(&Repository::from_files(&[(path, text)])).len()
    }

    #[test]
    fn files_folders_and_modules() {
        assert_eq!(fires("crates/util/src/lib.rs", ""), 1);
        assert_eq!(fires("crates/x/src/helpers.rs", ""), 1);
        assert_eq!(fires("crates/x/tests/common/mod.rs", ""), 1);
        assert_eq!(fires("verify/test-utils/src/lib.rs", ""), 1);
        assert_eq!(fires("crates/x/src/lib.rs", "pub mod shared {\n}\n"), 1);
    }

    #[test]
    fn named_things_are_silent() {
        assert_eq!(
            fires(
                "crates/x/src/queue.rs",
                "mod utility {}\n// mod common {}\n"
            ),
            0
        );
        assert_eq!(fires("crates/x/src/shared_input.rs", ""), 0);
        assert_eq!(fires("docs/common.md", ""), 0);
    }
}
