//! Fuzz targets, and a runner for them that needs no nightly toolchain.
//!
//! A target is a function that takes any bytes and must not panic; it calls the `fuzzing` module of the
//! crate it is about, which also asserts that what decodes is stable. `verify/fuzz` hands the same targets
//! to cargo-fuzz. Here they are run over the committed corpora (`verify/fuzz/corpus/TARGET/`) and over
//! mutations of them that are the same in every run: mutation `n` of a file depends on the target's name,
//! the file's bytes and `n` alone.

mod mutate;
pub mod seeds;
pub mod targets;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use mutate::Mutator;
pub use targets::{TARGETS, Target, target};

/// An input on which a target panicked.
#[derive(Debug)]
pub struct Failure {
    /// The target's name.
    pub target: &'static str,
    /// Which file and mutation, to run it again.
    pub origin: String,
    /// The input itself.
    pub input: Vec<u8>,
    /// What the panic said.
    pub panic: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut hex = String::new();
        for byte in &self.input {
            write!(hex, "{byte:02x}")?;
        }
        let Failure {
            target,
            origin,
            panic,
            ..
        } = self;
        write!(f, "{target}: {origin}: {panic}\ninput: {hex}")
    }
}

/// The folder of a target's corpus.
pub fn corpus_folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target)
}

/// A target's corpus, by file name.
///
/// # Errors
/// The folder or a file in it cannot be read.
pub fn corpus(target: &str) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(corpus_folder(target))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.push((name, std::fs::read(entry.path())?));
    }
    files.sort();
    Ok(files)
}

/// Runs one input.
///
/// # Errors
/// The target panicked.
pub fn run(target: &Target, origin: &str, input: &[u8]) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Failure {
            target: target.name,
            origin: origin.to_owned(),
            input: input.to_vec(),
            panic: text.unwrap_or_else(|| "panicked".to_owned()),
        }
    })
}

/// Runs a corpus and mutations `from..to` of each of its files; returns how many inputs that was.
///
/// # Errors
/// The first input on which the target panicked.
pub fn replay(
    target: &Target,
    corpus: &[(String, Vec<u8>)],
    mutations: std::ops::Range<u64>,
) -> Result<u64, Failure> {
    let mut inputs = 0;
    let others: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    for (name, bytes) in corpus {
        if mutations.start == 0 {
            run(target, name, bytes)?;
            inputs += 1;
        }
        for number in mutations.clone() {
            let input = Mutator::new(target.name, bytes, number).mutate(bytes, &others);
            run(target, &format!("{name}, mutation {number}"), &input)?;
            inputs += 1;
        }
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A canary: a runner that never reports anything is unproven.
    #[test]
    fn a_panic_is_found_and_can_be_repeated() {
        let target = Target {
            name: "canary",
            run: |input| {
                assert!(
                    !input.starts_with(b"PH") || input.get(2) == Some(&b'0'),
                    "planted"
                )
            },
            seeds: Vec::new,
            recorded: Vec::new,
        };
        let corpus = vec![("one".to_owned(), b"PH0123456789".to_vec())];
        let found = replay(&target, &corpus, 0..10_000).expect_err("the planted bug is found");
        assert!(found.to_string().contains("planted"), "{found}");
        let again = replay(&target, &corpus, 0..10_000).expect_err("and found again");
        assert_eq!((found.origin, found.input), (again.origin, again.input));
    }
}
