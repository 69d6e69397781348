//! Entry points for fuzzing: any text in, no panic, and the same answer twice.

use std::borrow::Cow;

use crate::{Name, Selector, Source, Value};

/// A message of which a number decides what it has: the same each time.
struct Made(usize);

impl Source for Made {
    fn value(&self, name: &Name) -> Value<'_> {
        let length = match name {
            Name::Jms(name) => name.text().len(),
            Name::Descriptor(name) => name.text().len(),
            Name::Property { folder, path } => folder.len() + path.len(),
        };
        match (self.0 + length) % 7 {
            0 => Value::Null,
            1 => Value::Boolean(length % 2 == 0),
            2 => Value::Exact(i64::MAX - length as i64),
            3 => Value::Approximate(0.5),
            4 => Value::Text(Cow::Borrowed("a_b%c")),
            5 => Value::Bytes(Cow::Borrowed(&[1, 2])),
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
            for seed in 0..7 {
                let matches = selector.matches(&Made(seed));
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
