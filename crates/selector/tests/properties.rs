//! Conditions drawn at random, written down, and judged apart from the evaluator.

use posthaste_selector::{Name, Selector, Source, Value};
use proptest::prelude::*;

/// A condition over properties `a` to `d`, each true, false or not there.
#[derive(Clone, Debug)]
enum Drawn {
    Property(usize),
    IsNull(usize),
    Equal(usize, bool),
    Not(Box<Drawn>),
    And(Vec<Drawn>),
    Or(Vec<Drawn>),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
type Has = [Option<bool>; 4];

impl Drawn {
    fn text(&self) -> String {
        let joined = |all: &[Drawn], with: &str| {
            let all: Vec<String> = all.iter().map(Drawn::text).collect();
            format!("({})", all.join(with))
        };
        match self {
            Drawn::Property(at) => NAMES[*at].to_owned(),
            Drawn::IsNull(at) => format!("{} IS NULL", NAMES[*at]),
            Drawn::Equal(at, to) => format!("{}={to}", NAMES[*at]),
            Drawn::Not(inner) => format!("NOT {}", inner.text()),
            Drawn::And(all) => joined(all, " AND "),
            Drawn::Or(any) => joined(any, "\nor "),
        }
    }

    fn is(&self, has: &Has) -> Option<bool> {
        match self {
            Drawn::Property(at) => has[*at],
            Drawn::IsNull(at) => Some(has[*at].is_none()),
            Drawn::Equal(at, to) => has[*at].map(|value| value == *to),
            Drawn::Not(inner) => inner.is(has).map(|value| !value),
            Drawn::And(all) => {
                let all: Vec<Option<bool>> = all.iter().map(|one| one.is(has)).collect();
                match all.contains(&Some(false)) {
                    true => Some(false),
                    false => (!all.contains(&None)).then_some(true),
                }
            }
            Drawn::Or(any) => {
                let any: Vec<Option<bool>> = any.iter().map(|one| one.is(has)).collect();
                match any.contains(&Some(true)) {
                    true => Some(true),
                    false => (!any.contains(&None)).then_some(false),
                }
            }
        }
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let leaf = prop_oneof![
        (0..4usize).prop_map(Drawn::Property),
        (0..4usize).prop_map(Drawn::IsNull),
        (0..4usize, any::<bool>()).prop_map(|(at, to)| Drawn::Equal(at, to)),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| Drawn::Not(Box::new(one))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Drawn::And),
            prop::collection::vec(inner, 1..4).prop_map(Drawn::Or),
        ]
    })
}

struct Message(Has);

impl Source for Message {
    fn value(&self, name: &Name) -> Value<'_> {
        let Name::Property { path, .. } = name else {
            return Value::Null;
        };
        let at = NAMES.iter().position(|known| **known == **path);
        at.and_then(|at| self.0[at])
            .map_or(Value::Null, Value::Boolean)
    }
}

/// A message with one text.
struct Text(String);

impl Source for Text {
    fn value(&self, _: &Name) -> Value<'_> {
        Value::Text(self.0.as_str().into())
    }
}

/// LIKE as it is defined, by trying everything.
fn is_like(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|from| is_like(&text[from..], rest)),
        Some((wanted, rest)) => text
            .split_first()
            .is_some_and(|(c, more)| (*wanted == '_' || wanted == c) && is_like(more, rest)),
    }
}

proptest! {
    #[test]
    fn logic_is_that_of_three_values(drawn in drawn(), has in any::<Has>()) {
        let text = drawn.text();
        let selector = Selector::new(&text).unwrap();
        prop_assert_eq!(selector.matches(&Message(has)), drawn.is(&has) == Some(true), "{}", text);
    }

    #[test]
    fn like_is_as_defined(text in "[ab_%ä]{0,8}", pattern in "[ab_%ä]{0,6}") {
        let selector = Selector::new(&format!("x LIKE '{pattern}'")).unwrap();
        let characters = |text: &str| text.chars().collect::<Vec<char>>();
        let expected = is_like(&characters(&text), &characters(&pattern));
        prop_assert_eq!(selector.matches(&Text(text)), expected);
    }

    #[test]
    fn every_text_can_be_quoted(text in "\\PC{0,20}") {
        let quoted = text.replace('\'', "''");
        let selector = Selector::new(&format!("x = '{quoted}'")).unwrap();
        prop_assert!(selector.matches(&Text(text.clone())));
        prop_assert_eq!(selector.only_required().map(|r| r.text.to_owned()), Some(text));
    }

    /// Words and signs in any order: refused or not, but never a panic, and with a place inside the text.
    #[test]
    fn any_words_are_answered(words in prop::collection::vec(
        prop::sample::select(vec![
            "a", "usr.b", "JMSType", "5", "1.5", "'t'", "\"0x01\"", "TRUE", "(", ")", ",", "+", "-", "*", "/", "=",
            "<>", "<", "AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL",
        ]),
        0..25,
    )) {
        let text = words.join(" ");
        posthaste_selector::fuzzing::selector(text.as_bytes());
    }
}
