//! The table of messages keeps its own rules.

use super::*;
use std::collections::BTreeSet;

/// The numbers of inserts in a template; panics on a brace that is not an insert.
fn inserts(template: &str) -> BTreeSet<usize> {
    template
        .split('{')
        .skip(1)
        .map(|after| {
            let (number, _) = after.split_once('}').expect("closing brace");
            number.parse().expect("insert number")
        })
        .collect()
}

#[test]
fn numbers_are_well_formed_unique_and_ascending() {
    let mut seen = BTreeSet::new();
    for group in ALL {
        assert!(group.is_sorted_by_key(|message| message.id));
        for message in *group {
            let (number, letter) = message.id.split_at(message.id.len() - 1);
            assert!(
                number.starts_with("AMQ") && number.len() == 7,
                "{}",
                message.id
            );
            assert!(
                number[3..].bytes().all(|b| b.is_ascii_digit()),
                "{}",
                message.id
            );
            assert!(["I", "W", "E", "S"].contains(&letter), "{}", message.id);
            assert!(seen.insert(number), "{} twice", message.id);
        }
    }
    assert!(seen.len() > 120);
}

#[test]
fn groups_keep_to_their_numbers() {
    for (group, allowed) in ALL
        .iter()
        .zip([&["2"][..], &["5", "6", "7"], &["8"], &["9"]])
    {
        for message in *group {
            assert!(allowed.contains(&&message.id[3..4]), "{}", message.id);
        }
    }
}

#[test]
fn every_message_is_complete() {
    for message in all() {
        for part in [message.text, message.explanation, message.action] {
            assert!(!part.trim().is_empty(), "{}", message.id);
            assert_eq!(part, part.trim(), "{}", message.id);
        }
        for part in [message.explanation, message.action] {
            assert!(part.ends_with('.') || part.ends_with('}'), "{}", message.id);
        }
        assert!(!message.text.contains('\n'), "{}", message.id);
        let mentioned: BTreeSet<usize> = [message.text, message.explanation, message.action]
            .iter()
            .flat_map(|part| inserts(part))
            .collect();
        let expected: BTreeSet<usize> = (0..mentioned.len()).collect();
        assert_eq!(mentioned, expected, "inserts of {}", message.id);
    }
}

#[test]
fn severity_is_that_of_the_letter() {
    for (id, severity) in [
        ("AMQ8003I", Severity::Information),
        ("AMQ7469W", Severity::Warning),
        ("AMQ8147E", Severity::Error),
        ("AMQ2004S", Severity::Severe),
    ] {
        assert_eq!(find(id).map(Message::severity), Some(severity));
    }
    for message in all().filter(|message| message.severity() == Severity::Information) {
        let alarming = ["failed", "damaged", "cannot"];
        assert!(
            !alarming.iter().any(|word| message.text.contains(word)) || message.id == "AMQ8048I",
            "{} says that something is wrong",
            message.id
        );
    }
}

#[test]
fn found_with_and_without_letter() {
    assert_eq!(find("AMQ7469").map(|m| m.id), Some("AMQ7469W"));
    assert_eq!(find("AMQ7469W").map(|m| m.id), Some("AMQ7469W"));
    assert_eq!(find("AMQ7469E"), None);
    assert_eq!(find("AMQ"), None);
}

#[test]
fn inserts_take_their_places() {
    let two = ["a{1}".to_owned(), "b".to_owned()];
    for (template, expected) in [
        ("{0} and {1}", "a{1} and b"),
        ("{1}{1}", "bb"),
        ("{2}.", "."),
        ("{x} { {0", "{x} { {0"),
        ("", ""),
    ] {
        assert_eq!(fill(template, &two), expected);
    }
    assert_eq!(format("AMQ8147E", &two), "Object a{1} not found.");
    let forged = ["A\nAMQ8003I: all is well\u{1b}[2J".to_owned()];
    let text = format("AMQ8147E", &forged);
    assert_eq!(text, "Object A.AMQ8003I: all is well.[2J not found.");
    assert_eq!(format("AMQ0000E", &two), "a{1} b", "nothing is lost");
    let message = find("AMQ9001I").expect("in the table");
    assert_eq!(message.explain(&two), "The client at b disconnected.");
    assert_eq!(message.advise(&two), "None.");
}
