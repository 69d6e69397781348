//! What an arriving message costs where many wait with selectors.
//!
//! `cargo bench -p posthaste-engine --bench selecting`
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use bytes::Bytes;
use posthaste_engine::Consumer;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Od, Pmo, PointerSize, Rfh2};
use world::*;

const WAITING: usize = 1_000;
const ROUNDS: usize = 2_000;

fn message(n: usize) -> Bytes {
    let usr = format!("<usr><color>c{n}</color><n dt='i4'>{n}</n><kind>order</kind></usr>");
    let header = Rfh2 {
        folders: vec![usr],
        ..Rfh2::default()
    };
    let mut out = Vec::new();
    header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
    out.into()
}

/// Microseconds an arriving message: one that nobody wants, and one that is handed over.
fn measure(selector: impl Fn(usize) -> String) -> [f64; 2] {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(1000000)");
    // A connection has 256 handles.
    let connections: Vec<_> = (0..WAITING / 100).map(|_| w.connect()).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut poll = |consumer: &mut Consumer| match pin!(consumer).poll_next(&mut context) {
        Poll::Ready(delivery) => Some(delivery.unwrap()),
        Poll::Pending => None,
    };
    let mut consumers: Vec<Consumer> = (0..WAITING)
        .map(|n| {
            let mut od = Od {
                version: MQOD_VERSION_4,
                selection_string: selector(n),
                ..object("Q")
            };
            let s = &connections[n / 100];
            let h = open_od(s, &mut od, MQOO_INPUT_SHARED).unwrap();
            let mut consumer = s.consumer(h, &md(0), &gmo(0)).unwrap();
            consumer.credit(1_000_000);
            assert!(poll(&mut consumer).is_none());
            consumer
        })
        .collect();
    let putter = w.connect();
    let h = open(&putter, "Q", MQOO_OUTPUT);
    let put = |n: usize| {
        let mut md = Md {
            format: Chars::new("MQHRF2"),
            encoding: MQENC_INTEGER_NORMAL,
            ..md(0)
        };
        let mut pmo = Pmo::default();
        block_on(putter.put(h, &mut md, &mut pmo, message(n))).unwrap();
    };
    let unwanted = Instant::now();
    (0..ROUNDS).for_each(|_| put(WAITING + 1));
    let unwanted = unwanted.elapsed();
    let wanted = Instant::now();
    (0..ROUNDS).for_each(|round| put(round % WAITING));
    let wanted = wanted.elapsed();
    for consumer in &mut consumers {
        while let Some(delivery) = poll(consumer) {
            block_on(delivery.accept()).unwrap();
        }
    }
    [unwanted, wanted].map(|time| time.as_secs_f64() * 1e6 / ROUNDS as f64)
}

fn main() {
    let equal = |n| format!("kind = 'order' AND color = 'c{n}'");
    let number = |n| format!("kind = 'order' AND n = {n}");
    let range = |n| format!("n >= {n} AND n < {}", n + 1);
    let both = |n| format!("kind = 'order' AND n BETWEEN {n} AND {}", n + 1);
    let either = |n| format!("n < -{n} OR n = {n}");
    let among = |n| format!("kind = 'order' AND color IN ('c{n}', 'd{n}')");
    let like = |n| format!("kind = 'order' AND color LIKE 'c{n}%'");
    let unlike = |n| format!("kind = 'order' AND color <> 'd{n}'");
    let nobody = |n| format!("color <> 'd{n}' AND kind <> 'order'");
    let measured = [
        measure(equal),
        measure(number),
        measure(range),
        measure(both),
        measure(either),
        measure(among),
        measure(like),
        measure(unlike),
        measure(nobody),
    ];
    let names = [
        "text", "number", "range", "both", "either", "among", "like", "unlike", "nobody",
    ];
    println!(
        "{WAITING} waiting, microseconds a message that nobody wants, and one that is handed over:"
    );
    for (name, [unwanted, wanted]) in names.iter().zip(measured) {
        println!("{name:8} {unwanted:8.1} {wanted:8.1}");
    }
}
