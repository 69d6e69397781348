//! What it costs to evaluate an expression of two terms, and to compile it: `cargo bench -p posthaste-selector`.

use std::hint::black_box;
use std::time::Instant;

use posthaste_selector::{Name, Selector, Source, Value};

/// Some properties, found by name as in a message.
struct Message([(&'static str, Value<'static>); 6]);

impl Source for Message {
    fn value(&self, name: &Name) -> Value<'_> {
        let Name::Property { path, .. } = name else {
            return Value::Null;
        };
        let found = self.0.iter().find(|(known, _)| *known == &**path);
        found.map_or(Value::Null, |(_, value)| value.clone())
    }
}

fn measured(what: &str, rounds: u32, mut work: impl FnMut()) {
    let begun = Instant::now();
    (0..rounds).for_each(|_| work());
    let each = begun.elapsed().as_nanos() as f64 / f64::from(rounds);
    println!("{what}: {each:.1} ns");
}

fn main() {
    let message = Message([
        ("region", Value::Text("emea".into())),
        ("amount", Value::Exact(1200)),
        ("urgent", Value::Boolean(true)),
        ("rate", Value::Approximate(1.5)),
        ("customer", Value::Text("0815".into())),
        ("color", Value::Text("blue".into())),
    ]);
    for text in [
        "color = 'blue' AND amount > 1000",
        "color = 'red' AND amount > 1000",
        "customer LIKE '08%' AND rate * 2 < amount",
    ] {
        let Ok(selector) = Selector::new(text) else {
            continue;
        };
        measured(&format!("evaluate {text}"), 2_000_000, || {
            black_box(black_box(&selector).matches(black_box(&message)));
        });
        measured(&format!("compile {text}"), 200_000, || {
            black_box(Selector::new(black_box(text)).is_ok());
        });
    }
}
