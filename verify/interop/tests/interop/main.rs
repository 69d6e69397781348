//! Client libraries of others at work. See the crate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic, in its helpers too"
)]

use std::io::Write;
use std::path::Path;

use posthaste_interop::java::{Edition, Programs, missing};
use posthaste_interop::queue_manager::QueueManager;

/// The programs; none where there is no Java.
fn programs(edition: Edition) -> Option<Programs> {
    if let Some(name) = missing().expect("what the suite needs") {
        // What a test prints is kept from whoever runs it, but not what is written like this.
        let why = format!("SKIPPED: there is no {name} here, which the clients need\n");
        let _ = std::io::stderr().write_all(why.as_bytes());
        return None;
    }
    let programs = Programs::compile(Path::new(env!("CARGO_TARGET_TMPDIR")), edition);
    Some(programs.unwrap_or_else(|error| panic!("{error}")))
}

/// Runs cases with the library of JMS; each must pass.
fn cases(names: &[&str]) {
    cases_with(Edition::Jms, names);
}

fn cases_with(edition: Edition, names: &[&str]) {
    let Some(programs) = programs(edition) else {
        return;
    };
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
fn the_example_of_the_readme_works_as_typed() {
    let Some(programs) = programs(Edition::Jms) else {
        return;
    };
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let (_, rest) = readme.split_once("```java\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let qm = QueueManager::start().expect("a queue manager");
    let port = qm.address().expect("an address").port();
    // Only the port is this test's.
    let here = example.replace("localhost(1414)", &format!("localhost({port})"));
    assert_ne!(example, here);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("Example.java");
    std::fs::write(&file, here).expect("a file");
    assert_eq!(programs.source(&file).as_deref(), Ok("Hello\n"));
}

#[test]
fn jms_point_to_point() {
    cases(&["Jms@SC10", "Jms@SC1", "Jms@SC0"]);
}

#[test]
fn jms_messages_that_come_by_themselves() {
    // Without shared conversations the library polls, five seconds at a time, as long as a close or a stop lasts.
    cases(&[
        "Listeners@SC10",
        "Listeners@SC1",
        "Listeners.aListenerSends@SC0",
        "Listeners.longMessagesCome@SC0",
    ]);
}

#[test]
fn global_transactions() {
    cases(&["Xa@SC10", "Xa@SC1", "Xa@SC0"]);
}

#[test]
fn base_classes() {
    cases(&["Base@SC10", "Base@SC1", "Base@SC0"]);
}

#[test]
fn jms_topics() {
    // Without shared conversations the library has no topics.
    cases(&["Topics@SC10", "Topics@SC1"]);
}

#[test]
fn base_classes_with_topics() {
    cases(&["BaseTopics@SC10", "BaseTopics@SC1", "BaseTopics@SC0"]);
}

#[test]
fn tls() {
    cases(&["Tls@TLS"]);
}

#[test]
fn connections_in_a_pool() {
    cases(&["Pooled@SC10", "Pooled@SC1"]);
}

#[test]
fn jakarta_messaging() {
    let names = ["Jms", "Listeners", "Topics", "Xa", "Pooled"];
    let names = names.map(|name| format!("{name}@SC10"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    cases_with(Edition::Jakarta, &names);
}
