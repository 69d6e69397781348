//! Entry point for fuzzing: lines of any text as filters and topic strings, and the index against each filter alone.

use crate::{Filter, Key, LONGEST, Scheme, Subscribers, TopicTree, check, is_at_or_below, join};

/// Takes the lines of a text as filters in both schemes and as topic strings.
pub fn topic(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let lines: Vec<&str> = text.lines().take(40).collect();
    let both = [Scheme::Topic, Scheme::Character];
    let made = lines
        .iter()
        .flat_map(|line| both.map(|scheme| Filter::new(line, scheme)));
    let filters: Vec<Filter> = made.flatten().collect();
    let mut subscribers = Subscribers::default();
    let mut keys: Vec<Key> = Vec::new();
    for (number, filter) in filters.iter().enumerate() {
        keys.push(subscribers.insert(filter, number));
    }
    same(&subscribers, &filters, &lines, |_| true);
    for (number, key) in keys.iter().enumerate().step_by(2) {
        assert_eq!(subscribers.remove(*key), Some(number));
    }
    same(&subscribers, &filters, &lines, |number| number % 2 == 1);
    for key in keys {
        subscribers.remove(key);
    }
    assert!(subscribers.is_empty());
    walks(&lines);
}

/// What the index finds is what the filters say that are in it.
fn same(
    subscribers: &Subscribers<usize>,
    filters: &[Filter],
    topics: &[&str],
    is_there: impl Fn(usize) -> bool,
) {
    for topic in topics.iter().filter(|topic| check(topic).is_ok()) {
        let mut found = Vec::new();
        subscribers.matching(topic, |number| found.push(*number));
        found.sort_unstable();
        let mut expected = Vec::new();
        for (number, filter) in filters.iter().enumerate() {
            if filter.matches(topic) {
                assert!(topic.starts_with(filter.prefix()), "{filter:?}");
                expected.extend(is_there(number).then_some(number));
            }
        }
        assert_eq!(found, expected, "{topic:?}");
    }
}

/// Walks from all topics through a tree that has each second one.
fn walks(topics: &[&str]) {
    let mut tree = TopicTree::default();
    for topic in topics.iter().step_by(2) {
        tree.set(topic, ());
    }
    for topic in topics {
        for (node, ()) in tree.closest(topic) {
            assert!(is_at_or_below(topic, node));
        }
        let joined = join(topic, "x");
        assert_eq!(check(&joined).is_ok(), joined.len() <= LONGEST);
    }
}
