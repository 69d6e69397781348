//! All filters against all topic strings of a small alphabet, judged by matchers that try everything.

use posthaste_topic::{Filter, Key, Scheme, Subscribers};

/// All strings of up to `longest` characters of an alphabet, the empty one not.
fn strings(alphabet: &[char], longest: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..longest {
        let next = last.iter().flat_map(|start| {
            let ends = alphabet.iter().copied();
            ends.map(move |end| format!("{start}{end}"))
        });
        last = next.collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The topic scheme by trying all that a `#` may stand for.
fn levels(filter: &[&str], topic: &[&str]) -> bool {
    match filter {
        [] => topic.is_empty(),
        ["#", behind @ ..] => (0..=topic.len()).any(|taken| levels(behind, &topic[taken..])),
        [level, behind @ ..] => match topic {
            [] => false,
            [first, others @ ..] => (*level == "+" || level == first) && levels(behind, others),
        },
    }
}

/// The character scheme by trying all that a `*` may stand for; nothing if an escape is wrong.
fn characters(filter: &[char], topic: &[char]) -> Option<bool> {
    let others = topic.get(1..).unwrap_or(&[]);
    match filter {
        [] => Some(topic.is_empty()),
        ['*', behind @ ..] => {
            let mut any = false;
            for taken in 0..=topic.len() {
                any |= characters(behind, &topic[taken..])?;
            }
            Some(any)
        }
        ['?', behind @ ..] => Some(characters(behind, others)? && !topic.is_empty()),
        ['%', literal @ ('*' | '?' | '%'), behind @ ..] => {
            Some(characters(behind, others)? && topic.first() == Some(literal))
        }
        ['%', ..] => None,
        [literal, behind @ ..] => {
            Some(characters(behind, others)? && topic.first() == Some(literal))
        }
    }
}

fn judged(text: &str, scheme: Scheme, topic: &str) -> Option<bool> {
    match scheme {
        Scheme::Topic => {
            let text: Vec<&str> = text.split('/').collect();
            let topic: Vec<&str> = topic.split('/').collect();
            Some(levels(&text, &topic))
        }
        Scheme::Character => {
            let text: Vec<char> = text.chars().collect();
            let topic: Vec<char> = topic.chars().collect();
            characters(&text, &topic)
        }
    }
}

fn check(scheme: Scheme, texts: &[String], topics: &[String]) {
    let mut subscribers = Subscribers::default();
    let mut filters: Vec<Filter> = Vec::new();
    let mut keys: Vec<Key> = Vec::new();
    for text in texts {
        let Ok(filter) = Filter::new(text, scheme) else {
            assert_eq!(judged(text, scheme, "a"), None, "{text}");
            continue;
        };
        keys.push(subscribers.insert(&filter, filters.len()));
        filters.push(filter);
    }
    let find = |subscribers: &Subscribers<usize>, topic: &str| {
        let mut found = Vec::new();
        subscribers.matching(topic, |number| found.push(*number));
        found.sort_unstable();
        found
    };
    let mut all_expected = Vec::new();
    for topic in topics {
        let mut expected = Vec::new();
        for (number, filter) in filters.iter().enumerate() {
            let matches = judged(filter.text(), scheme, topic);
            assert_eq!(Some(filter.matches(topic)), matches, "{filter:?} {topic}");
            expected.extend(filter.matches(topic).then_some(number));
        }
        assert_eq!(find(&subscribers, topic), expected, "{topic}");
        all_expected.push(expected);
    }
    // With each third one gone, the others are found as before.
    for key in keys.iter().step_by(3) {
        assert!(subscribers.remove(*key).is_some());
    }
    for (topic, expected) in topics.iter().zip(all_expected) {
        let left: Vec<usize> = expected.into_iter().filter(|n| n % 3 != 0).collect();
        assert_eq!(find(&subscribers, topic), left, "{topic}");
    }
}

#[test]
fn the_topic_scheme_matches_what_trying_everything_matches() {
    let texts = strings(&['a', '/', '#', '+'], 6);
    let topics = strings(&['a', 'b', '/'], 5);
    check(Scheme::Topic, &texts, &topics);
}

#[test]
fn the_character_scheme_matches_what_trying_everything_matches() {
    let texts = strings(&['a', '/', '*', '?', '%'], 5);
    let topics = strings(&['a', '/', '*', '%'], 4);
    check(Scheme::Character, &texts, &topics);
}

/// Several `#` between levels, deeper than all strings of a length would be.
#[test]
fn several_wildcards_match_what_trying_everything_matches() {
    let words = ["a", "b", "+", "#"];
    let joined = |parts: &[&str], longest: u32| -> Vec<String> {
        let lengths = 1..=longest;
        let numbers = lengths
            .flat_map(|length| (0..parts.len().pow(length)).map(move |number| (length, number)));
        numbers
            .map(|(length, number)| {
                let digits = (0..length).map(|at| number / parts.len().pow(at) % parts.len());
                let levels: Vec<&str> = digits.map(|digit| parts[digit]).collect();
                levels.join("/")
            })
            .collect()
    };
    check(Scheme::Topic, &joined(&words, 5), &joined(&words[..2], 6));
}
