//! The committed corpora: every file and some mutations of it through its target; and that the seeds in
//! them are still what the encoders write.

use posthaste_replay::{TARGETS, corpus, corpus_folder, replay};

/// Enough to find a careless decoder in a second or two per target; the long run is `posthaste-replay`.
const MUTATIONS: u64 = 200;

#[test]
fn no_input_makes_a_target_panic() {
    let mut failures = Vec::new();
    for target in TARGETS {
        let files = corpus(target.name).expect("the corpus is committed");
        if let Err(failure) = replay(target, &files, 0..MUTATIONS) {
            failures.push(failure.to_string());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn corpora_are_small() {
    for target in TARGETS {
        let files = corpus(target.name).expect("the corpus is committed");
        assert!(
            !files.is_empty() && files.len() <= 20,
            "{}: {} files",
            target.name,
            files.len()
        );
        for (name, bytes) in &files {
            assert!(
                bytes.len() <= 4096,
                "{}/{name}: {} bytes",
                target.name,
                bytes.len()
            );
        }
    }
}

/// Stale seeds would let the fuzzer start from bytes that are refused at the first check.
#[test]
fn seeds_are_what_the_encoders_write_today() {
    for target in TARGETS {
        let files = corpus(target.name).expect("the corpus is committed");
        for (name, bytes) in (target.seeds)() {
            let committed = files
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, bytes)| bytes);
            assert!(
                committed == Some(&bytes),
                "{} is stale: cargo run -p posthaste-replay -- seeds",
                corpus_folder(target.name).join(&name).display()
            );
        }
    }
}

/// A target that exists on one side only would be fuzzed by nobody.
#[test]
fn cargo_fuzz_has_the_same_targets() {
    let fuzz = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("the manifest");
    let bins = manifest.matches("[[bin]]").count();
    let files = std::fs::read_dir(fuzz.join("fuzz_targets"))
        .expect("the targets")
        .count();
    assert_eq!((bins, files), (TARGETS.len(), TARGETS.len()));
    for target in TARGETS {
        let name = target.name;
        assert!(
            manifest.contains(&format!("name = \"{name}\"")),
            "{name}: no [[bin]]"
        );
        let file = fuzz.join(format!("fuzz_targets/{name}.rs"));
        let text = std::fs::read_to_string(&file).expect("one file a target");
        assert!(
            text.contains(&format!("targets::{name}(")),
            "{name}: calls another target"
        );
    }
}
