//! No circle of files: a file is not used by what it uses, not even by way of others, so that each can be read with what
//! is below it and without what is above.
//!
//! Looked at are the product's packages, one at a time: the paths that begin with `crate`, `super` or `self` in code that
//! is not a test's. A path counts for the deepest file that it leads to. Not counted are the root of a package, which
//! only gathers, and what a file says of files in its own folder without one of these words (`mod`, `use part::Thing`):
//! seen from outside they are one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "circles";

/// Packages that have circles still, and the most files that may stand in them. The numbers only become smaller; a
/// package without circles has no row.
const LEFT: &[(&str, usize)] = &[("recovery-log", 3), ("server", 4)];

/// By file, the files that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Finds packages with more files in circles than are left to them.
pub fn check(repository: &Repository) -> Vec<Violation> {
    beyond(repository, LEFT)
}

fn beyond(repository: &Repository, left: &[(&str, usize)]) -> Vec<Violation> {
    let mut packages: BTreeMap<&str, Vec<(String, &Source)>> = BTreeMap::new();
    for source in repository.sources() {
        if let Some((package, module)) = place(source.path()) {
            packages.entry(package).or_default().push((module, source));
        }
    }
    let mut found = Vec::new();
    for (package, files) in &packages {
        let circles = in_circles(&uses(files));
        let left = left.iter().find(|(name, _)| name == package);
        let folder = format!("crates/{package}");
        match left.map_or(0, |(_, most)| *most) {
            most if circles.len() > most => found.push(Violation::new(
                NAME,
                &folder,
                0,
                format!(
                    "{} files stand in circles, and {most} may: {}. Move what both sides need below both, or pass it in",
                    circles.len(),
                    circles.join(", ")
                ),
            )),
            most if most > 0 && circles.is_empty() => found.push(Violation::new(
                NAME,
                &folder,
                0,
                "no circle is left; delete its row (verify/tidy/src/rules/circles.rs)",
            )),
            _ => {}
        }
    }
    found
}

/// The package of a product's file, and the module that it is: empty for the root.
fn place(path: &str) -> Option<(&str, String)> {
    let (package, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let module = file.strip_suffix(".rs")?;
    let module = module.strip_suffix("/mod").unwrap_or(module);
    let root = ["lib", "main"].contains(&module);
    let module = if root { "" } else { module };
    Some((package, module.replace('/', "::")))
}

fn uses(files: &[(String, &Source)]) -> Uses {
    let modules: BTreeSet<&str> = files.iter().map(|(module, _)| module.as_str()).collect();
    let one = |(module, source): &(String, &Source)| {
        let mut used = BTreeSet::new();
        for path in paths(source) {
            let target = target(module, &path, &modules);
            if !target.is_empty() && target != *module {
                used.insert(target);
            }
        }
        (module.clone(), used)
    };
    files.iter().map(one).collect()
}

/// The paths in a file's own code.
fn paths(source: &Source) -> Vec<String> {
    let imports = source.imports().into_iter();
    let mut paths: Vec<String> = imports
        .filter(|import| !source.is_test_at(import.offset))
        .map(|import| import.path)
        .collect();
    for word in ["crate", "super"] {
        for offset in source.find(word) {
            let rest = &source.code()[offset..];
            let path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let end = rest.find(|c| !path(c)).unwrap_or(rest.len());
            if !source.is_test_at(offset) {
                paths.push(rest[..end].to_owned());
            }
        }
    }
    paths
}

/// The module that a path leads to, from a module; empty: the root, or out of the package.
fn target(from: &str, path: &str, modules: &BTreeSet<&str>) -> String {
    let mut parts = path.split("::").map(str::trim).peekable();
    let mut at: Vec<&str> = match parts.peek() {
        Some(&"crate") => Vec::new(),
        Some(&"super" | &"self") => from.split("::").filter(|part| !part.is_empty()).collect(),
        _ => return String::new(),
    };
    for part in parts {
        match part {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            part => at.push(part),
        }
    }
    while !at.is_empty() && !modules.contains(at.join("::").as_str()) {
        at.pop();
    }
    at.join("::")
}

/// The modules that reach themselves.
fn in_circles(uses: &Uses) -> Vec<String> {
    let reaches = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = uses[start].iter().collect();
        while let Some(module) = next.pop() {
            if module == start {
                return true;
            }
            if seen.insert(module) {
                next.extend(uses.get(module).into_iter().flatten());
            }
        }
        false
    };
    uses.keys()
        .filter(|start| reaches(start))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let found = check(&Repository::from_files(files));
        found
            .into_iter()
            .map(|violation| violation.message)
            .collect()
    }

    #[test]
    fn a_circle_by_way_of_a_third_file_is_found_in_every_spelling() {
        let circle = [
            ("crates/store/src/lib.rs", "mod a; mod b; mod c;"),
            ("crates/store/src/a.rs", "use crate::{b::B, x::Y};"),
            ("crates/store/src/b/mod.rs", "fn f() { super::c::g() }"),
            ("crates/store/src/c.rs", "use super::a;"),
        ];
        let message = &found(&circle)[0];
        assert!(
            message.starts_with("3 files stand in circles, and 0 may: a, b, c."),
            "{message}"
        );
    }

    #[test]
    fn a_tree_tests_and_the_root_are_no_circle() {
        let tree = [
            (
                "crates/store/src/lib.rs",
                "mod a; mod b; pub use crate::a::A;",
            ),
            ("crates/store/src/a.rs", "use crate::b::B; use std::fmt;"),
            (
                "crates/store/src/b.rs",
                "use crate::Root;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
            ),
            ("verify/x/src/a.rs", "use crate::b;"),
            ("verify/x/src/b.rs", "use crate::a;"),
        ];
        assert_eq!(found(&tree), Vec::<String>::new());
    }

    #[test]
    fn a_row_for_circles_that_are_gone_is_to_be_deleted() {
        let clean = [
            ("crates/env/src/lib.rs", "mod os;"),
            ("crates/env/src/os.rs", ""),
        ];
        let found = beyond(&Repository::from_files(&clean), &[("env", 2)]);
        assert!(found[0].message.contains("delete its row"));
    }
}
