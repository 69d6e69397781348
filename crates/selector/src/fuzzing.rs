//! Entry points for fuzzing: any text in, no panic, and the same answer twice.

use std::borrow::Cow;

use crate::{Name, Need, Selector, Source, Value};

/// How many messages there are.
const MESSAGES: usize = 11;

/// A message of which a number decides what it has: the same each time.
struct Made(usize);

impl Source for Made {
    fn value(&self, name: &Name) -> Value<'_> {
        let length = match name {
            Name::Jms(name) => name.text().len(),
            Name::Descriptor(name) => name.text().len(),
            Name::Provider(name) => name.text().len(),
            Name::Unset(name) => name.len(),
            Name::Property { folder, path } => folder.len() + path.len(),
        };
        match (self.0 + length) % MESSAGES {
            0 => Value::Null,
            1 => Value::Boolean(length % 2 == 0),
            2 => Value::Exact(i64::MAX - length as i64),
            3 => Value::Approximate(0.5),
            4 => Value::Text(Cow::Borrowed("a_b%c")),
            5 => Value::Bytes(Cow::Borrowed(&[1, 2])),
            6 => Value::Exact(5),
            7 => Value::Approximate(5.0),
            8 => Value::Called("a_b", 5),
            9 => Value::Approximate(9_007_199_254_740_992.0),
            _ => Value::Unfit,
        }
    }
}

/// Compiles a text and evaluates it for some messages.
pub fn selector(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Selector::new(text) {
        Ok(selector) => {
            assert_eq!(Selector::new(text).as_ref(), Ok(&selector));
            for message in (0..MESSAGES).map(Made) {
                let matches = selector.matches(&message);
                for way in selector.ways() {
                    let has = |(name, need): &(&Name, Need)| need.is_met(&message.value(name));
                    assert!(
                        !matches || way.iter().any(has),
                        "it is looked up in vain by {way:?}"
                    );
                }
                if let Some(constant) = selector.constant() {
                    assert_eq!(matches, constant);
                }
            }
            for required in selector.required() {
                assert!(selector.names().contains(required.name));
            }
        }
        Err(error) => assert!(text.is_char_boundary(error.at.min(text.len())), "{error}"),
    }
}
