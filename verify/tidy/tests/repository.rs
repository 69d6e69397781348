//! The rules, applied to this repository. All findings are shown at once.

use std::path::Path;

use posthaste_tidy::{Repository, check};

#[test]
fn the_repository_obeys_its_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = Repository::read(&root).expect("the checkout can be read");
    assert!(
        repository.exists("Cargo.toml") && repository.sources().len() > 10,
        "the rules look at the wrong folder"
    );
    let found = check(&repository);
    let report: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(
        found.is_empty(),
        "{} violation(s):\n{}\n",
        found.len(),
        report.join("\n")
    );
}
