//! `unsafe` stands only in the files listed here, each block below a `// SAFETY:` line that says why it
//! is sound.

use crate::source::Source;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "unsafe-code";

/// Files (or folders, with a slash at the end) that may hold it, and what for. Of the product one does: elsewhere the
/// safe wrappers of rustix and bytes have been enough.
const ALLOWED: &[(&str, &str)] = &[
    (
        "crates/authentication/src/group.rs",
        "calls of the C library with room for large groups",
    ),
    (
        "crates/authentication/src/pam.rs",
        "calls a library that is loaded at run time",
    ),
    (
        "verify/interleave/src/fiber.rs",
        "leaves a coroutine from any depth of calls",
    ),
];

/// Finds unlisted uses, uses without a reason, and list entries that no longer hold any.
pub fn check(repository: &Repository) -> Vec<Violation> {
    check_with(repository, ALLOWED)
}

fn check_with(repository: &Repository, allowed: &[(&str, &str)]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut needed = vec![false; allowed.len()];
    for source in repository.sources() {
        let entry = allowed.iter().position(|(path, _)| {
            source.path() == *path || (path.ends_with('/') && source.path().starts_with(path))
        });
        for offset in source.find("unsafe") {
            let line = source.line_of(offset);
            match entry {
                None => {
                    let message = "`unsafe` outside the list in verify/tidy/src/rules/unsafe_code.rs: use the safe form (rustix, bytes, AlignedBuf)";
                    found.push(Violation::new(NAME, source.path(), line, message));
                }
                Some(entry) => {
                    needed[entry] = true;
                    if !is_explained(source, line) {
                        let message = "write a `// SAFETY:` line above this `unsafe` that says why it is sound";
                        found.push(Violation::new(NAME, source.path(), line, message));
                    }
                }
            }
        }
    }
    for ((path, _), needed) in allowed.iter().zip(needed) {
        if !needed && repository.exists(path.trim_end_matches('/')) {
            let message = "listed as holding `unsafe` and holds none: delete the entry in verify/tidy/src/rules/unsafe_code.rs";
            found.push(Violation::new(NAME, path, 0, message));
        }
    }
    found
}

/// Whether the comment lines directly above `line` (attributes between them allowed) give the reason.
fn is_explained(source: &Source, line: usize) -> bool {
    let lines: Vec<&str> = source.text().lines().take(line.saturating_sub(1)).collect();
    lines
        .iter()
        .rev()
        .map(|text| text.trim())
        .take_while(|text| text.starts_with("//") || text.starts_with("#["))
        .any(|text| text.starts_with("// SAFETY:") || text.starts_with("/// # Safety"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "crates/x/src/listed.rs";

    fn findings(path: &str, text: &str) -> Vec<String> {
        check_with(&Repository::from_files(&[(path, text)]), &[(LISTED, "why")])
            .into_iter()
            .map(|v| v.message)
            .collect()
    }

    #[test]
    fn listed_and_explained_is_silent() {
        let text = "fn a() {\n    // SAFETY: the layout is not empty,\n    // as asserted above.\n    #[allow(unsafe_code)]\n    unsafe { b() }\n}\n";
        assert_eq!(findings(LISTED, text), Vec::<String>::new());
        assert_eq!(
            findings(
                "crates/x/src/a.rs",
                "// unsafe\nfn a() { say(\"unsafe\"); unsafe_code(); }\n"
            ),
            Vec::<String>::new()
        );
    }

    #[test]
    fn unlisted_unexplained_and_unneeded_fire() {
        let explained = "fn a() {\n // SAFETY: fine.\n unsafe { b() } }\n";
        assert!(findings("crates/x/src/a.rs", explained)[0].contains("outside the list"));
        assert!(findings(LISTED, "fn a() {\n\n unsafe { b() } }\n")[0].contains("SAFETY"));
        assert!(
            findings(
                LISTED,
                "fn a() {\n // SAFETY: for something else.\n c();\n unsafe { b() } }\n"
            )[0]
            .contains("SAFETY")
        );
        assert!(findings(LISTED, "fn a() {}\n")[0].contains("holds none"));
    }
}
