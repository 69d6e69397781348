//! The command server: what it answers, and the end of its queue manager.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use bytes::Bytes;
use posthaste_admin::{Admin, COMMAND_QUEUE, CommandServer};
use posthaste_command::pcf::{self, Header, Message, Parameter, Text, Value};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Name};
use world::*;

/// Has these messages carried out, and gives the answers.
fn answers(w: &World, requests: Vec<Bytes>) -> Vec<Message> {
    w.run("DEFINE QLOCAL(REPLIES)");
    let server = CommandServer {
        admin: Admin::alone(w.qm()),
        operator: w.operator(),
        clock: w.env.clock.clone(),
        user: "tester".to_owned(),
    };
    let session = server.connect();
    let s = w.connect();
    for data in requests {
        let mut md = Md {
            msg_type: MQMT_REQUEST,
            format: Chars::new(MQFMT_ADMIN),
            reply_to_q: Name::new("REPLIES"),
            ..md(0)
        };
        let (mut od, mut pmo) = (object(COMMAND_QUEUE), pmo(0));
        block_on(s.put1(&mut od, &mut md, &mut pmo, data)).unwrap();
    }
    let replies = open(&s, "REPLIES", MQOO_INPUT_SHARED);
    w.qm().quiesce();
    block_on(server.serve(session, |_| {}));
    let mut all = Vec::new();
    while let Ok((_, data)) = get(&s, replies, 0) {
        all.push(Message::decode(&data, ByteOrder::Big).unwrap().0);
    }
    all
}

fn request(command: i32, parameters: &[(i32, Value)]) -> Bytes {
    let parameter = |(id, value): &(i32, Value)| Parameter {
        id: *id,
        value: value.clone(),
    };
    let message = Message {
        header: Header::request(command),
        parameters: parameters.iter().map(parameter).collect(),
    };
    let mut out = Vec::new();
    message.encode(&mut out, ByteOrder::Big);
    Bytes::from(out)
}

/// As programs administer that use no MQSC: they got 3007 for all but Escape.
#[test]
fn commands_in_pcf_are_carried_out_and_answered_in_pcf() {
    let w = World::light();
    let name = |name: &str| (MQCA_Q_NAME, Value::Text(Text::new(name)));
    let wanted = Value::Ints(vec![MQIA_MAX_Q_DEPTH, MQCA_Q_DESC]);
    let made = [
        name("MADE"),
        (MQIA_Q_TYPE, Value::Int(MQQT_LOCAL)),
        (MQIA_MAX_Q_DEPTH, Value::Int(77)),
        (MQCA_Q_DESC, Value::Text(Text::new("it's"))),
    ];
    let answers = answers(
        &w,
        vec![
            request(MQCMD_CREATE_Q, &made),
            request(MQCMD_CREATE_Q, &made),
            request(MQCMD_INQUIRE_Q, &[name("M*"), (MQIACF_Q_ATTRS, wanted)]),
            request(MQCMD_INQUIRE_Q_NAMES, &[name("M*")]),
            request(MQCMD_DELETE_Q, &[name("MADE")]),
            request(MQCMD_INQUIRE_Q, &[name("MADE")]),
            request(9_999, &[]),
        ],
    );
    let outcome = |one: &Message| {
        let header = &one.header;
        (header.command, header.comp_code, header.reason)
    };
    assert_eq!(
        answers.iter().map(outcome).collect::<Vec<_>>(),
        [
            (MQCMD_CREATE_Q, 0, 0),
            (MQCMD_CREATE_Q, 2, 4001),
            (MQCMD_INQUIRE_Q, 0, 0),
            (MQCMD_INQUIRE_Q_NAMES, 0, 0),
            (MQCMD_DELETE_Q, 0, 0),
            (MQCMD_INQUIRE_Q, 2, 2085),
            (9_999, 2, 3007),
        ]
    );
    assert!(answers.iter().all(|one| one.header.is_last()));
    let row = &answers[2];
    assert_eq!(row.texts(MQCA_Q_NAME), ["MADE"]);
    assert_eq!(row.texts(MQCA_Q_DESC), ["it's"]);
    assert_eq!(row.int(MQIA_MAX_Q_DEPTH), Some(77));
    assert_eq!(row.parameters.len(), 4, "{row:?}");
    let names = &answers[3].parameters[0];
    assert_eq!(names.id, MQCACF_Q_NAMES);
    let Value::Texts { items, .. } = &names.value else {
        panic!("{names:?}")
    };
    assert_eq!(*items, [format!("{:48}", "MADE").into_bytes()]);
}

/// In PCF a connection has one identifier of bytes, not two of digits.
#[test]
fn connections_are_named_by_24_bytes_in_pcf() {
    let w = World::light();
    let all = (MQBACF_GENERIC_CONNECTION_ID, Value::Bytes(vec![0; 24]));
    let answers = answers(&w, vec![request(MQCMD_INQUIRE_CONNECTION, &[all])]);
    assert!(!answers.is_empty());
    for answer in &answers {
        let id = |one: &&Parameter| one.id == MQBACF_CONNECTION_ID;
        let found = answer.parameters.iter().find(id).map(|one| &one.value);
        let Some(Value::Bytes(bytes)) = found else {
            panic!("{answer:?}")
        };
        assert_eq!(bytes.len(), 24, "{answer:?}");
        assert!(bytes.starts_with(b"AMQ"), "{answer:?}");
    }
}

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
