//! The house is inhabited: no crate without code, none without a test, none missing on the map.

use crate::repository::Package;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "house";

/// The page that lists every crate.
const MAP: &str = "ARCHITECTURE.md";

/// Fewer lines of code than this (blank and comment lines not counted) are a stub, not a crate.
const LEAST_CODE_LINES: usize = 20;

/// Packages that only hand the targets of another one to a tool.
const CODE_ELSEWHERE: &[&str] = &["verify/fuzz"];

/// Finds empty and untested crates, and crates that the map does not show.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let map = repository.text(MAP);
    let mut found = Vec::new();
    for package in repository.packages() {
        let folder = package.folder.as_str();
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let code_elsewhere = CODE_ELSEWHERE.contains(&folder);
        if !code_elsewhere && code_lines(repository, &package) < LEAST_CODE_LINES {
            let message = format!(
                "fewer than {LEAST_CODE_LINES} lines of code: a crate appears with its first working code, so remove it from the workspace until then"
            );
            found.push(Violation::new(NAME, folder, 0, message));
        }
        if !code_elsewhere && !has_test(repository, &package) {
            let message = "no test: add one in `src` (`#[cfg(test)] mod tests`) or in `tests/`";
            found.push(Violation::new(NAME, folder, 0, message));
        }
        let listed = map.is_some_and(|map| {
            map.contains(&format!("`{name}`")) || map.contains(&format!("`{folder}`"))
        });
        if !listed {
            let message =
                format!("`{name}` is not in {MAP}; give it its line in the list of crates");
            found.push(Violation::new(NAME, folder, 0, message));
        }
    }
    found
}

fn files_of<'a>(
    repository: &'a Repository,
    package: &'a Package,
) -> impl Iterator<Item = &'a crate::source::Source> {
    repository.sources().iter().filter(|source| {
        source
            .path()
            .strip_prefix(&package.folder)
            .is_some_and(|rest| rest.starts_with('/'))
    })
}

fn code_lines(repository: &Repository, package: &Package) -> usize {
    files_of(repository, package)
        .map(|source| {
            source
                .code()
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count()
        })
        .sum()
}

fn has_test(repository: &Repository, package: &Package) -> bool {
    files_of(repository, package).any(|source| {
        source.find("test").iter().any(|at| {
            let before = source.code()[..*at].trim_end();
            let attribute = before.ends_with("#[") || before.ends_with("::");
            let rest = source.code()[at + 4..].trim_start();
            attribute && (rest.starts_with(']') || rest.starts_with('('))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"posthaste-x\"\n";

    fn findings(source: &str, map: &str) -> Vec<String> {
        let repository = Repository::from_files(&[
            ("crates/x/Cargo.toml", MANIFEST),
            ("crates/x/src/lib.rs", source),
            ("ARCHITECTURE.md", map),
        ]);
        check(&repository).into_iter().map(|v| v.message).collect()
    }

    fn code(lines: usize) -> String {
        "const A: u8 = 0;\n".repeat(lines)
    }

    #[test]
    fn an_inhabited_crate_is_silent() {
        let source = format!("{}#[test]\nfn t() {{}}\n", code(LEAST_CODE_LINES));
        assert_eq!(findings(&source, "* `x`: things\n"), Vec::<String>::new());
        let with_runtime = format!(
            "{}#[tokio::test(flavor = \"x\")]\nfn t() {{}}\n",
            code(LEAST_CODE_LINES)
        );
        assert_eq!(
            findings(&with_runtime, "| `crates/x` | things |\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_empty_untested_unlisted_crate_fires_thrice() {
        let commented = format!("//! Head.\n{}", "// #[test]\n".repeat(100));
        let found = findings(&commented, "other\n");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("fewer than"));
        assert!(found[1].contains("no test"));
        assert!(found[2].contains("not in ARCHITECTURE.md"));
    }

    #[test]
    fn the_word_test_alone_is_no_test() {
        let source = format!(
            "{}#[cfg(test)]\nmod tests {{}}\nfn test(a: u8) {{}}\n",
            code(LEAST_CODE_LINES)
        );
        let found = findings(&source, "`x`");
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
