//! What the rules look at: every file of the checkout that is ours.
//!
//! Build output, fuzz corpora and the version-control folder are left out; a file that is not UTF-8
//! has a path but no text. Rust files are lexed once, here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use crate::source::Source;

/// Folders that hold no source of ours, wherever they are.
const SKIPPED_FOLDERS: &[&str] = &[
    ".git",
    "target",
    "corpus",
    "corpora",
    "artifacts",
    "node_modules",
];

/// A package of the workspace (or one excluded from it), found by its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Folder from the root, for example `crates/mqi`.
    pub folder: String,
    /// Name in the manifest, for example `posthaste-mqi`.
    pub name: String,
}

/// Paths and texts of the checkout.
#[derive(Default)]
pub struct Repository {
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
    sources: Vec<Source>,
}

impl Repository {
    /// Reads the checkout below `root`.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut repository = Repository::default();
        repository.walk(root, "")?;
        repository.lex();
        Ok(repository)
    }

    /// A repository made of the given `(path, text)` pairs, for tests of rules.
    pub fn from_files(files: &[(&str, &str)]) -> Self {
        let mut repository = Repository::default();
        for (path, text) in files {
            let mut folder = *path;
            while let Some((parent, _)) = folder.rsplit_once('/') {
                repository.paths.insert(parent.to_owned());
                folder = parent;
            }
            repository.paths.insert((*path).to_owned());
            repository
                .texts
                .insert((*path).to_owned(), (*text).to_owned());
        }
        repository.lex();
        repository
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}/{name}")
            };
            let kind = entry.file_type()?;
            self.paths.insert(path.clone());
            if kind.is_dir() {
                if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                    self.walk(&entry.path(), &path)?;
                }
            } else if kind.is_file()
                // In a second working tree this is a file, and says where that tree is.
                && name != ".git"
                && let Ok(text) = String::from_utf8(fs::read(entry.path())?)
            {
                self.texts.insert(path, text);
            }
        }
        Ok(())
    }

    fn lex(&mut self) {
        let mut sources: Vec<Source> = self
            .texts
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, text)| Source::lex(path, text))
            .collect();
        // `#[cfg(test)] mod name;` makes another file a test file.
        let tests: Vec<String> = sources
            .iter()
            .flat_map(|source| source.test_modules().to_vec())
            .collect();
        for source in &mut sources {
            let stem = source.path().trim_end_matches(".rs").to_owned();
            let is_test = tests.iter().any(|test| {
                stem.strip_prefix(test.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            if is_test {
                source.mark_as_test();
            }
        }
        self.sources = sources;
    }

    /// All Rust files.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// All text files, Rust files included, with their texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Whether the path is a file or folder of the checkout.
    pub fn exists(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// All files and folders.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Packages, in order of their folders. The virtual manifest at the root is none.
    pub fn packages(&self) -> Vec<Package> {
        self.texts
            .iter()
            .filter_map(|(path, text)| {
                let folder = path.strip_suffix("/Cargo.toml")?;
                let name = text.lines().find_map(|line| {
                    let value = line.strip_prefix("name")?.trim_start().strip_prefix('=')?;
                    Some(value.trim().trim_matches('"').to_owned())
                })?;
                Some(Package {
                    folder: folder.to_owned(),
                    name,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_by_their_manifests() {
        let repository = Repository::from_files(&[
            ("Cargo.toml", "[workspace]\n"),
            (
                "crates/mqi/Cargo.toml",
                "[package]\nname = \"posthaste-mqi\"\n",
            ),
        ]);
        assert_eq!(
            repository.packages(),
            [Package {
                folder: "crates/mqi".into(),
                name: "posthaste-mqi".into()
            }]
        );
        assert!(repository.exists("crates"));
        assert!(!repository.exists("crates/wire"));
    }

    #[test]
    fn a_file_named_by_a_test_module_is_a_test_file() {
        let repository = Repository::from_files(&[
            (
                "crates/x/src/lib.rs",
                "mod real;\n#[cfg(test)]\nmod cases;\n#[cfg(test)]\n#[path = \"other_tests.rs\"]\nmod tests;\n",
            ),
            ("crates/x/src/other_tests.rs", "fn a() {}\n"),
            ("crates/x/src/cases.rs", "fn a() {}\n"),
            ("crates/x/src/cases/deep.rs", "fn a() {}\n"),
            (
                "crates/x/src/real.rs",
                "fn a() {}\n#[cfg(test)]\nmod proof;\n",
            ),
            ("crates/x/src/real/proof.rs", "fn a() {}\n"),
        ]);
        let tests: Vec<&str> = repository
            .sources()
            .iter()
            .filter(|s| s.is_test_at(0))
            .map(Source::path)
            .collect();
        assert_eq!(
            tests,
            [
                "crates/x/src/cases.rs",
                "crates/x/src/cases/deep.rs",
                "crates/x/src/other_tests.rs",
                "crates/x/src/real/proof.rs"
            ]
        );
    }
}
