//! Client libraries of others at work. See the crate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic, in its helpers too"
)]

use std::path::Path;

use posthaste_interop::java::{Programs, missing};
use posthaste_interop::queue_manager::QueueManager;

/// Runs cases; each must pass.
fn cases(names: &[&str]) {
    if let Some(name) = missing().expect("what the suite needs") {
        eprintln!("SKIPPED: there is no {name} here, which {names:?} needs");
        return;
    }
    let programs = Programs::compile(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("java"));
    let programs = programs.unwrap_or_else(|error| panic!("{error}"));
    let qm = QueueManager::start().expect("a queue manager");
    let outcomes = programs.run(&qm, names).unwrap_or_else(|e| panic!("{e}"));
    assert!(outcomes.len() >= names.len(), "{outcomes:?}");
    let failed: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| Some(format!("{}: {}", outcome.name, outcome.failure.as_ref()?)))
        .collect();
    let all = outcomes.len();
    assert!(
        failed.is_empty(),
        "{} of {all} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    println!("{all} cases passed");
}

#[test]
fn jms_point_to_point() {
    cases(&["Jms@SC10", "Jms@SC1", "Jms@SC0"]);
}

#[test]
fn jms_messages_that_come_by_themselves() {
    cases(&["Listeners@SC10", "Listeners@SC1", "Listeners@SC0"]);
}

#[test]
fn base_classes() {
    cases(&["Base@SC10", "Base@SC1", "Base@SC0"]);
}
