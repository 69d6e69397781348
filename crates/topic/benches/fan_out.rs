//! What it costs to find the subscribers of a topic string: `cargo bench -p posthaste-topic`.

use std::hint::black_box;
use std::time::Instant;

use posthaste_topic::{Filter, Scheme, Subscribers};

const ROUNDS: u32 = 200_000;

/// Nanoseconds for each search, the best of five series.
fn measured(what: &str, subscribers: &Subscribers<u32>, topic: &str) -> f64 {
    let mut visited = 0;
    subscribers.matching(topic, |_| visited += 1);
    let rounds = ROUNDS / (1 + visited);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begun = Instant::now();
        for _ in 0..rounds {
            let mut sum = 0;
            subscribers.matching(black_box(topic), |value| sum += u64::from(*value));
            black_box(sum);
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from(rounds));
    }
    println!("{what}: {best:.0} ns, {visited} found");
    best
}

/// Subscribers of topics that differ in one level, `{}` in the filter.
fn subscribers(filter: &str, scheme: Scheme, count: u32) -> Subscribers<u32> {
    let mut all = Subscribers::default();
    for number in 0..count {
        let text = filter.replace("{}", &number.to_string());
        if let Ok(filter) = Filter::new(&text, scheme) {
            all.insert(&filter, number);
        }
    }
    all
}

fn main() {
    for (filter, scheme, topic) in [
        ("shop/uk/{}/order", Scheme::Topic, "shop/uk/7/order"),
        ("shop/+/{}/order", Scheme::Topic, "shop/uk/7/order"),
        ("shop/{}/#", Scheme::Topic, "shop/7/order/new"),
        ("#/{}/order/#", Scheme::Topic, "shop/uk/7/order"),
        ("shop/uk/{}/*", Scheme::Character, "shop/uk/7/order"),
    ] {
        let few = subscribers(filter, scheme, 10);
        let few = measured(&format!("{filter}, 10"), &few, topic);
        let many = subscribers(filter, scheme, 100_000);
        let many = measured(&format!("{filter}, 100,000"), &many, topic);
        println!("  {:.2} times", many / few);
    }
    for filter in ["shop/uk/order", "shop/#"] {
        let same = subscribers(filter, Scheme::Topic, 1_000);
        let each = measured(&format!("{filter}, 1,000 times"), &same, "shop/uk/order") / 1_000.0;
        println!("  {each:.2} ns each");
    }
}
