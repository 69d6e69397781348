//! Waiting for messages: who is woken by one, and who is not.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md};
use world::*;

fn id(n: u8) -> [u8; 24] {
    let mut id = [b'.'; 24];
    id[23] = n;
    id
}

/// Each waits for a message of its own: by group, by correlation identifier while browsing, by its place in a group.
fn selections() -> [(Md, Gmo); 3] {
    let how = |match_options, options| Gmo {
        match_options,
        ..gmo(options)
    };
    let group = Md {
        group_id: id(1),
        ..md(0)
    };
    let correl = Md {
        correl_id: id(2),
        ..md(0)
    };
    let sequence = Md {
        msg_seq_number: 3,
        ..md(0)
    };
    [
        (group, how(MQMO_MATCH_GROUP_ID, 0)),
        (correl, how(MQMO_MATCH_CORREL_ID, MQGMO_BROWSE_FIRST)),
        (sequence, how(MQMO_MATCH_MSG_SEQ_NUMBER, 0)),
    ]
}

#[test]
fn a_message_wakes_nobody_who_waits_for_another() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    for (at, (by, how)) in selections().into_iter().enumerate() {
        let getter = w.connect();
        let g = open(&getter, LOCAL, MQOO_INPUT_SHARED | MQOO_BROWSE);
        let mut waiting = wait(&getter, g, by, how);
        assert!(waiting.poll().is_none());
        let other = Md {
            msg_flags: MQMF_MSG_IN_GROUP,
            group_id: id(9),
            msg_seq_number: 9,
            correl_id: id(9),
            ..md(0)
        };
        for persistence in [NOT_PERSISTENT, PERSISTENT] {
            let other = Md {
                persistence,
                ..other.clone()
            };
            send(&s, h, other, 0, b"other");
        }
        assert_eq!(waiting.woken(), 0, "{at}");
        let own = Md {
            msg_flags: MQMF_MSG_IN_GROUP,
            group_id: id(1),
            msg_seq_number: 3,
            correl_id: id(2),
            ..md(0)
        };
        send(&s, h, own, 0, b"own");
        assert_eq!(waiting.woken(), 1, "{at}");
        assert_eq!(waiting.poll().unwrap().unwrap().text(), "own");
        let emptied = drain(&getter, g);
        assert_eq!(emptied.len(), if at == 1 { 3 } else { 2 });
    }
}
