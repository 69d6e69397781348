//! What temporary dynamic queues cost in memory, open and after they have gone. Alone in its process, because it
//! looks at the memory of all of it.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_mqi::constants::*;
use world::*;

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// A queue for replies with one message on it costs a few KiB; when its handle is closed it costs nothing, without
/// a checkpoint.
#[test]
fn temporary_queues_are_small_and_given_back() {
    let w = World::new();
    w.run("ALTER QMGR MAXHANDS(2000)");
    let s = w.connect();
    let round = |count: usize| {
        let before = resident();
        let handles: Vec<_> = (0..count)
            .map(|_| {
                let h = open(&s, MODEL, IN_OUT);
                put(&s, h, NOT_PERSISTENT, 0, b"reply");
                h
            })
            .collect();
        let each = resident().saturating_sub(before) / count;
        for h in handles {
            close(&s, h, MQCO_NONE).unwrap();
        }
        each
    };
    // What is needed once, such as the table of handles, is there after the first round.
    let open = round(1000);
    assert!(open < 16 * 1024, "{open} bytes an open queue");
    let before = resident();
    for _ in 0..4 {
        round(1000);
    }
    let left = resident().saturating_sub(before) / 4000;
    assert!(left < 1024, "{left} bytes stay of each");
    println!("{open} bytes an open queue, {left} stay");
}
