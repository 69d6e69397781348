//! Requests to the command server in PCF, and what answers them.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use bytes::Bytes;
use posthaste_admin::{Admin, COMMAND_QUEUE, CommandServer};
use posthaste_command::pcf::{Header, Message, Parameter, Text, Value};
use posthaste_engine::EndMode;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Name};

use crate::world::*;

/// Completion code, reason and parameter at fault.
pub type Outcome = (i32, i32, Option<(i32, i32)>);

pub const DONE: Outcome = (MQCC_OK, MQRC_NONE, None);
pub const MQRC_NONE: i32 = 0;
pub const MQRCCF_COMMAND_FAILED: i32 = 3008;

/// The descriptor of a request.
pub fn asking() -> Md {
    Md {
        msg_type: MQMT_REQUEST,
        format: Chars::new(MQFMT_ADMIN),
        reply_to_q: Name::new("REPLIES"),
        user_identifier: Chars::new("asker"),
        accounting_token: [7; 32],
        appl_identity_data: Chars::new("asked"),
        ..md(0)
    }
}

/// Has these requests carried out by a command server that comes when the queue manager has begun to end, and gives what it
/// answers.
pub fn answered(w: &World, requests: Vec<Bytes>) -> Vec<(Md, Bytes)> {
    let requests = requests.into_iter().map(|data| (asking(), data));
    answered_as(Admin::alone(w.qm()), w, requests.collect())
}

/// The same of requests with their descriptors, carried out by this administration.
pub fn answered_as(admin: Admin, w: &World, requests: Vec<(Md, Bytes)>) -> Vec<(Md, Bytes)> {
    w.run("DEFINE QLOCAL(REPLIES)");
    let server = CommandServer {
        admin,
        operator: w.operator(),
        clock: w.env.clock.clone(),
        user: "owner".to_owned(),
    };
    let session = server.connect();
    let s = w.connect();
    for (mut md, data) in requests {
        let mut pmo = pmo(MQPMO_SET_IDENTITY_CONTEXT);
        let mut od = object(COMMAND_QUEUE);
        block_on(s.put1(&mut od, &mut md, &mut pmo, data)).unwrap();
    }
    let replies = open(&s, "REPLIES", MQOO_INPUT_SHARED);
    w.qm().quiesce(EndMode::Controlled);
    block_on(server.serve(session, |_| {}));
    std::iter::from_fn(|| get(&s, replies, 0).ok()).collect()
}

/// The same in PCF; of each request the messages that answer it.
pub fn answers(w: &World, requests: Vec<Bytes>) -> Vec<Vec<Message>> {
    let asked = requests.len();
    sets_of(answered(w, requests), asked)
}

/// The messages that answer each of so many requests.
pub fn sets_of(answers: Vec<(Md, Bytes)>, asked: usize) -> Vec<Vec<Message>> {
    let mut sets = vec![Vec::new()];
    for (_, data) in answers {
        let message = Message::decode(&data, ByteOrder::Big).unwrap().0;
        let set = sets.last_mut().unwrap();
        assert_eq!(message.header.msg_seq_number, set.len() as i32 + 1);
        message.parameters.iter().for_each(has_its_structure);
        let is_last = message.header.is_last();
        set.push(message);
        if is_last {
            sets.push(Vec::new());
        }
    }
    assert_eq!(sets.pop(), Some(Vec::new()), "a set without an end");
    assert_eq!(sets.len(), asked);
    sets
}

/// Numbers, texts and bytes have numbers of their own, and programs read them by these.
pub fn has_its_structure(parameter: &Parameter) {
    let Parameter { id, value } = parameter;
    // These are text, as docs/compatibility.md says.
    let shown_as_text = [MQBACF_EXTERNAL_UOW_ID, MQBACF_Q_MGR_UOW_ID].contains(id);
    let right = match value {
        Value::Int(_) | Value::Int64(_) | Value::Ints(_) | Value::Ints64(_) => *id <= 2_000,
        Value::Text(_) => (2_001..=7_000).contains(id) || shown_as_text,
        Value::Texts { .. } => (2_001..=7_000).contains(id),
        Value::Bytes(_) => (7_001..=8_000).contains(id),
        _ => false,
    };
    assert!(right, "{parameter:?}");
}

pub fn request(command: i32, parameters: &[(i32, Value)]) -> Bytes {
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

pub fn text(id: i32, text: &str) -> (i32, Value) {
    (id, Value::Text(Text::new(text)))
}

pub fn int(id: i32, number: i32) -> (i32, Value) {
    (id, Value::Int(number))
}

pub fn names(id: i32, name: &str) -> (i32, Value) {
    let (ccsid, width, items) = (1208, name.len(), vec![name.as_bytes().to_vec()]);
    let list = Value::Texts {
        ccsid,
        width,
        items,
    };
    (id, list)
}

/// The outcome of each message.
pub fn outcomes(set: &[Message]) -> Vec<Outcome> {
    let outcome = |one: &Message| {
        let Header {
            comp_code, reason, ..
        } = one.header;
        let fault = |id: i32| Some((id, one.int(id)?));
        let fault = fault(MQIACF_PARAMETER_ID).or(fault(MQIACF_SELECTOR));
        (comp_code, reason, fault)
    };
    set.iter().map(outcome).collect()
}

/// What answers a command that failed: why, and that it did.
pub fn failed(reason: i32, fault: Option<(i32, i32)>) -> Vec<Outcome> {
    vec![
        (MQCC_FAILED, reason, fault),
        (MQCC_FAILED, MQRCCF_COMMAND_FAILED, None),
    ]
}
