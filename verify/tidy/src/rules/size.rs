//! One idea a file, one step a function: files stay under [`FILE_LINES`] lines, functions under
//! [`FUNCTION_LINES`]; a test, which may carry its table of cases, under [`TEST_LINES`].
//!
//! Exceptions stand in `verify/tidy/allow.txt` with their present size and a reason. The list is a
//! ratchet: an entry that is larger than what it allows for, or no longer needed, is a violation, so
//! sizes listed there can only fall.

use std::collections::BTreeMap;

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "size";

/// Most lines of a file.
pub const FILE_LINES: usize = 1_000;
/// Most lines of a function, from `fn` to its closing brace.
pub const FUNCTION_LINES: usize = 70;
/// Most lines of a function in test code.
pub const TEST_LINES: usize = 2 * FUNCTION_LINES;

/// Where exceptions are listed.
const ALLOW: &str = "verify/tidy/allow.txt";

/// A sized thing: a path, or `path::function`.
type Sizes = BTreeMap<String, Sized>;

struct Sized {
    path: String,
    line: usize,
    lines: usize,
    limit: usize,
}

/// Finds what is too long, and exceptions that do not fit.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut sizes = measure(repository);
    for (number, line) in repository.text(ALLOW).unwrap_or("").lines().enumerate() {
        let number = number + 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, allowed)) = entry(line) else {
            let message = "an entry reads `LINES path[::function] reason`";
            found.push(Violation::new(NAME, ALLOW, number, message));
            continue;
        };
        match sizes.remove(key) {
            Some(sized) if sized.lines <= sized.limit => {
                let message = format!(
                    "`{key}` has {} lines now and needs no exception: delete this entry",
                    sized.lines
                );
                found.push(Violation::new(NAME, ALLOW, number, message));
            }
            Some(sized) if sized.lines > allowed => {
                let message = format!(
                    "`{key}` has grown from {allowed} to {} lines; exceptions may only shrink: split it",
                    sized.lines
                );
                found.push(Violation::new(NAME, &sized.path, sized.line, message));
            }
            Some(sized) if sized.lines < allowed => {
                let message = format!(
                    "`{key}` has shrunk to {} lines: lower this entry to that",
                    sized.lines
                );
                found.push(Violation::new(NAME, ALLOW, number, message));
            }
            Some(_) => {}
            None => {
                let message = format!("there is no `{key}`: delete this entry");
                found.push(Violation::new(NAME, ALLOW, number, message));
            }
        }
    }
    for (key, sized) in sizes
        .into_iter()
        .filter(|(_, sized)| sized.lines > sized.limit)
    {
        let message = format!(
            "`{key}` has {} lines, the limit is {}: {}",
            sized.lines,
            sized.limit,
            if sized.limit == FILE_LINES {
                "split the file where its second idea begins"
            } else {
                "take a step out as a function with a name of its own"
            }
        );
        found.push(Violation::new(NAME, &sized.path, sized.line, message));
    }
    found
}

/// Sizes of all files and functions; of functions with one name in one file, the longest.
fn measure(repository: &Repository) -> Sizes {
    let mut sizes = Sizes::new();
    for source in repository.sources() {
        let path = source.path();
        let mut add = |key: String, line: usize, lines: usize, limit: usize| {
            let known = sizes.get(&key).map_or(0, |sized: &Sized| sized.lines);
            if lines > known {
                sizes.insert(
                    key,
                    Sized {
                        path: path.to_owned(),
                        line,
                        lines,
                        limit,
                    },
                );
            }
        };
        add(path.to_owned(), 0, source.lines(), FILE_LINES);
        for function in source.functions() {
            let limit = if source.is_test_at(function.offset) {
                TEST_LINES
            } else {
                FUNCTION_LINES
            };
            let key = format!("{path}::{}", function.name);
            add(key, function.line, function.lines, limit);
        }
    }
    sizes
}

/// `LINES key reason`; the reason is required.
fn entry(line: &str) -> Option<(&str, usize)> {
    let mut words = line.split_whitespace();
    let lines = words.next()?.parse().ok()?;
    let key = words.next()?;
    words.next().map(|_| (key, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/x/src/a.rs";

    fn function(name: &str, lines: usize) -> String {
        format!("fn {name}() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn findings(source: &str, allow: &str) -> Vec<String> {
        let repository = Repository::from_files(&[(PATH, source), (ALLOW, allow)]);
        check(&repository).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!(
            findings(&function("a", FUNCTION_LINES), ""),
            Vec::<String>::new()
        );
        let found = findings(&function("a", FUNCTION_LINES + 1), "");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("crates/x/src/a.rs:1: [size] `crates/x/src/a.rs::a` has 71 lines")
        );
        assert_eq!(findings(&"\n".repeat(FILE_LINES), ""), Vec::<String>::new());
        let found = findings(&"\n".repeat(FILE_LINES + 1), "");
        assert!(
            found[0].contains("has 1001 lines, the limit is 1000"),
            "{found:?}"
        );
    }

    #[test]
    fn tests_may_carry_their_tables() {
        let test = |lines| format!("#[test]\n{}", function("a", lines));
        assert_eq!(findings(&test(TEST_LINES), ""), Vec::<String>::new());
        assert_eq!(findings(&test(TEST_LINES + 1), "").len(), 1);
    }

    #[test]
    fn the_allow_list_is_a_ratchet() {
        let key = format!("{PATH}::a");
        let rows = [
            (80, format!("# why\n\n80 {key} one table\n"), None),
            (81, format!("80 {key} one table\n"), Some("may only shrink")),
            (
                79,
                format!("80 {key} one table\n"),
                Some("lower this entry"),
            ),
            (
                70,
                format!("80 {key} one table\n"),
                Some("delete this entry"),
            ),
            (
                3,
                "80 crates/gone.rs::a one table\n".to_owned(),
                Some("there is no `crates/gone.rs::a`"),
            ),
            (3, format!("80 {key}\n"), Some("an entry reads")),
            (3, format!("eighty {key} why\n"), Some("an entry reads")),
        ];
        for (lines, allow, expected) in rows {
            let found = findings(&function("a", lines), &allow);
            match expected {
                None => assert_eq!(found, Vec::<String>::new(), "{allow}"),
                Some(text) => {
                    assert_eq!(found.len(), 1, "{allow}: {found:?}");
                    assert!(found[0].contains(text), "{allow}: {found:?}");
                }
            }
        }
    }
}
