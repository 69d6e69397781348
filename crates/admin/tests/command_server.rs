//! The command server and the end of its queue manager.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use bytes::Bytes;
use posthaste_admin::{Admin, COMMAND_QUEUE, CommandServer};
use posthaste_command::pcf;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Md, Name};
use world::*;

/// Its thread may come to run when the queue manager has begun to end.
#[test]
fn what_was_asked_before_an_end_is_answered_however_late_the_server_comes() {
    let w = World::light();
    w.run("DEFINE QLOCAL(REPLIES)");
    let server = CommandServer {
        admin: Admin::alone(w.qm()),
        operator: w.operator(),
        clock: w.env.clock.clone(),
        user: "tester".to_owned(),
    };
    let session = server.connect();
    let s = w.connect();
    let mut md = Md {
        msg_type: MQMT_REQUEST,
        format: Chars::new(MQFMT_ADMIN),
        reply_to_q: Name::new("REPLIES"),
        ..md(0)
    };
    let (mut od, mut pmo) = (object(COMMAND_QUEUE), pmo(0));
    let data = Bytes::from(pcf::escape_request("DEFINE QLOCAL(LATE)"));
    block_on(s.put1(&mut od, &mut md, &mut pmo, data)).unwrap();
    let replies = open(&s, "REPLIES", MQOO_INPUT_SHARED);
    w.qm().quiesce();
    block_on(server.serve(session, |_| {}));
    let (_, data) = get(&s, replies, 0).unwrap();
    let answer = pcf::escape_texts(&data).unwrap().concat();
    assert!(answer.starts_with("AMQ8006I"), "{answer}");
}
