//! Messages that are sent without a call for each: what is allowed, what is stopped, and what becomes of them when their
//! client is gone.

use posthaste_engine::EndMode;
use posthaste_mqi::constants::{
    MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_BROWSE_FIRST, MQGMO_BROWSE_NEXT, MQGMO_CONVERT,
    MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT, MQGMO_WAIT, MQOO_BROWSE,
    MQPER_NOT_PERSISTENT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{ByteOrder, Chars, CompCode, Hobj, Md, Reason};
use posthaste_wire::client::FromServer;
use posthaste_wire::stream::{Notification, RequestMsgs, Selection};
use posthaste_wire::{Envelope, Flags, Reply, Request, Scope};
use tokio::net::TcpStream;

use crate::client::{Client, Wire};
use crate::world::World;

pub(crate) type Raw = Client<TcpStream>;

pub(crate) fn wanting(handle: Hobj, options: i32) -> RequestMsgs {
    RequestMsgs {
        handle,
        received: 0,
        requested: 1 << 20,
        max_length: -1,
        options,
        wait_ms: 0,
        queue_status: 0,
        flags: 0x10 | RequestMsgs::TRANSACTION_ALLOWED,
        global_index: 0,
        selection: Some(Selection {
            index: 1,
            md_version: 2,
            ccsid: 1208,
            encoding: 546,
            msg_seq_number: 0,
            offset: 0,
            match_options: 0,
            msg_id: None,
            correl_id: None,
            group_id: None,
            msg_token: None,
        }),
    }
}

fn envelope<S: Wire>(client: &Client<S>, request: u32) -> Envelope {
    let framing = client.socket.agreement().unwrap().framing();
    Envelope {
        scope: Scope::Conversation {
            id: client.id,
            request,
        },
        ..Envelope::conversation(framing, ByteOrder::Little, client.id)
    }
}

pub(crate) fn ask<S: Wire>(client: &mut Client<S>, request: &RequestMsgs) {
    let envelope = envelope(client, 1);
    request.encode(&mut client.out, &envelope, Flags::NONE);
}

pub(crate) fn state(client: &mut Raw, code: u32, value: u32, confirm: bool) {
    let (request, flags) = if confirm {
        (3, Flags::CONFIRM)
    } else {
        (1, Flags::NONE)
    };
    let envelope = envelope(client, request);
    let notification = Notification {
        handle: Hobj::UNUSABLE,
        code,
        value,
    };
    notification.encode(&mut client.out, &envelope, flags);
}

/// The next message: why there is none, its number in the conversation, its descriptor, and its data.
pub(crate) async fn next<S: Wire>(client: &mut Client<S>) -> (Reason, u32, Md, Vec<u8>) {
    let (mut first, mut data) = (None, Vec::new());
    loop {
        match client.event().await.unwrap() {
            FromServer::Message { message, last, .. } => {
                let number = message.global_index;
                data.extend_from_slice(&message.data);
                first = message.first.or(first);
                if last {
                    let first = first.unwrap();
                    return (first.reason, number, first.md.unwrap(), data);
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) async fn text(client: &mut Raw) -> String {
    let (reason, _, _, data) = next(client).await;
    assert_eq!(reason, Reason::NONE);
    String::from_utf8(data).unwrap()
}

async fn commit(client: &mut Raw) {
    let (outcome, _) = client.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
}

/// Puts on `Q1`, outside syncpoint.
async fn put(client: &mut Raw, queue: Hobj, texts: &[&str]) {
    for text in texts {
        client.put(queue, MQPMO_NO_SYNCPOINT, text.as_bytes()).await;
    }
}

pub(crate) async fn put_with(client: &mut Raw, queue: Hobj, persistence: i32, texts: &[&str]) {
    for text in texts {
        let md = Md {
            persistence,
            ..Md::default()
        };
        let put = client.try_put(queue, &md, MQPMO_NO_SYNCPOINT, text.as_bytes());
        put.await.unwrap();
    }
}

/// The client is told that there is a message for a get that waits.
async fn paused(client: &mut Raw, handle: Hobj) {
    match client.event().await.unwrap() {
        FromServer::Notification { notification, .. } => {
            assert_eq!(notification.handle, handle);
            assert_eq!(notification.code, Notification::STREAMING_TXN_PAUSED);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn of_messages_in_syncpoint_one_is_on_its_way_until_the_next_is_allowed() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    put(&mut other, others, &["one", "two", "three"]).await;
    ask(&mut client, &wanting(queue, MQGMO_SYNCPOINT));
    assert_eq!(text(&mut client).await, "one");
    // Word of a message that is not the last one is late, and allows nothing.
    state(&mut client, Notification::TXN_ALLOWED, 0, false);
    commit(&mut client).await;
    assert_eq!(world.depth("Q1"), 2);
    state(&mut client, Notification::TXN_ALLOWED, 1, false);
    assert_eq!(text(&mut client).await, "two");
    let (outcome, _) = client.call(Hobj::NONE, &Request::Back).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    state(&mut client, Notification::TXN_ALLOWED, 2, false);
    let (_, number, md, data) = next(&mut client).await;
    assert_eq!((number, md.backout_count, &data[..]), (3, 1, &b"two"[..]));
    commit(&mut client).await;
    assert_eq!(world.depth("Q1"), 1);
}

#[tokio::test]
async fn the_end_of_a_unit_of_work_withdraws_what_the_client_has_allowed() {
    for end in [Request::Back, Request::Commit] {
        let world = World::new().await;
        let (mut client, mut other) = (world.client().await, world.client().await);
        let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
        ask(&mut client, &wanting(queue, MQGMO_SYNCPOINT));
        let (outcome, _) = client.call(Hobj::NONE, &end).await;
        assert_eq!(outcome.comp_code, CompCode::Ok);
        put(&mut other, others, &["anybody's", "one"]).await;
        let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
        assert_eq!(&got.data[..], b"anybody's");
        state(&mut client, Notification::TXN_ALLOWED, 0, false);
        assert_eq!(text(&mut client).await, "one");
    }
}

/// As IBM's Java client asks behind a reconnection when its listener has returned: with a selection, and without a word on
/// syncpoint.
fn silent(handle: Hobj) -> RequestMsgs {
    let request = wanting(handle, MQGMO_SYNCPOINT);
    RequestMsgs {
        flags: request.flags ^ RequestMsgs::TRANSACTION_ALLOWED,
        ..request
    }
}

/// A client whose last message has this number is sent nothing in syncpoint, and what there is, is anybody's; until it says
/// that it may be.
async fn is_sent_nothing(client: &mut Raw, last: u32, other: &mut Raw, others: Hobj) {
    put(other, others, &["anybody's", "next"]).await;
    // Its answer is the first that comes, and by then it would have been sent something.
    client.open("Q1").await;
    let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"anybody's");
    state(client, Notification::TXN_ALLOWED, last, false);
    assert_eq!(text(client).await, "next");
}

/// The first request of a conversation too: IBM's library, which sends one so behind a reconnection, keeps the message for
/// ever, and no other connection gets it (decision 027).
#[tokio::test]
async fn a_request_that_does_not_allow_a_message_in_syncpoint_is_sent_none() {
    for before in [None, Some(Request::Back), Some(Request::Commit)] {
        for asked in [false, true] {
            let world = World::new().await;
            let (mut client, mut other) = (world.client().await, world.client().await);
            let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
            if asked && before.is_some() {
                ask(&mut client, &wanting(queue, MQGMO_SYNCPOINT));
            }
            if let Some(end) = &before {
                let (outcome, _) = client.call(Hobj::NONE, end).await;
                assert_eq!(outcome.comp_code, CompCode::Ok);
            }
            ask(&mut client, &silent(queue));
            is_sent_nothing(&mut client, 0, &mut other, others).await;
        }
    }
}

#[tokio::test]
async fn what_a_lost_client_had_in_syncpoint_comes_back_and_the_rest_is_gone() {
    let world = World::new().await;
    let mut other = world.client().await;
    let others = other.open("Q1").await;
    for (options, left) in [(MQGMO_SYNCPOINT, 2), (MQGMO_NO_SYNCPOINT, 0)] {
        put(&mut other, others, &["one", "two"]).await;
        let mut client = world.client().await;
        let queue = client.open("Q1").await;
        ask(&mut client, &wanting(queue, options));
        assert_eq!(text(&mut client).await, "one");
        if options == MQGMO_NO_SYNCPOINT {
            assert_eq!(text(&mut client).await, "two");
        }
        drop(client.into_stream());
        // Of the other that is left only its own handle is open.
        for count in (0..left).rev() {
            let got = other.get(others, MQGMO_WAIT, 60_000).await.unwrap();
            let twice = i32::from(&got.data[..] == b"one");
            assert_eq!(got.md.backout_count, twice, "{count} more");
        }
        assert_eq!(world.depth("Q1"), 0);
    }
}

#[tokio::test]
async fn what_is_stopped_is_not_sent_and_is_anybodys() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    ask(&mut client, &wanting(queue, MQGMO_NO_SYNCPOINT));
    put(&mut other, others, &["before"]).await;
    assert_eq!(text(&mut client).await, "before");
    state(&mut client, Notification::CONN_STATE, 0, true);
    match client.event().await.unwrap() {
        FromServer::Notification { notification, .. } => {
            assert_eq!(notification.code, Notification::CONN_STATE_REPLY);
        }
        other => panic!("{other:?}"),
    }
    put(&mut other, others, &["anybody's", "later"]).await;
    let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"anybody's");
    state(
        &mut client,
        Notification::CONN_STATE,
        Notification::STARTED,
        false,
    );
    ask(&mut client, &wanting(queue, MQGMO_NO_SYNCPOINT));
    assert_eq!(text(&mut client).await, "later");
}

#[tokio::test]
async fn no_more_is_sent_than_there_is_room_for() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    put(&mut other, others, &["one", "two", "three"]).await;
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT);
    // Two of 364 and 3 bytes.
    request.requested = 368;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
    assert_eq!(text(&mut client).await, "two");
    commit(&mut client).await;
    assert_eq!(world.depth("Q1"), 1);
    request.received = 2 * 367;
    request.max_length = 4;
    ask(&mut client, &request);
    let (reason, number, _, data) = next(&mut client).await;
    assert_eq!((reason, number), (Reason::TRUNCATED_MSG_FAILED, 2));
    assert_eq!(data, b"thre");
    assert_eq!(world.depth("Q1"), 1);
    request.max_length = -1;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "three");
}

#[tokio::test]
async fn a_get_that_waits_is_told_when_there_is_nothing() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT | MQGMO_WAIT);
    request.flags |= RequestMsgs::GET_WAITS;
    request.wait_ms = 1;
    ask(&mut client, &request);
    assert_eq!(next(&mut client).await.0, Reason::NO_MSG_AVAILABLE);
    request.handle = Hobj(77);
    ask(&mut client, &request);
    assert_eq!(next(&mut client).await.0, Reason::HOBJ_ERROR);
    request.handle = queue;
    request.options = 1 << 30;
    ask(&mut client, &request);
    assert_eq!(next(&mut client).await.0, Reason::OPTIONS_ERROR);
    // A handle that is closed is sent nothing more, and the conversation goes on.
    let (outcome, reply) = client.call(queue, &Request::Close { options: 0 }).await;
    assert_eq!(outcome.comp_code, CompCode::Ok, "{reply:?}");
    assert!(matches!(reply, Reply::Empty));
    client.disconnect().await;
}

/// What is said without a message takes no number of one: a client tells by the last that what it was sent is processed.
#[tokio::test]
async fn a_refused_request_moves_no_number() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    let mut request = wanting(queue, MQGMO_SYNCPOINT);
    put(&mut client, queue, &["one", "two", "three"]).await;
    for sent in 0..3 {
        request.handle = Hobj(77);
        request.global_index = sent;
        ask(&mut client, &request);
        let (reason, number, ..) = next(&mut client).await;
        assert_eq!((reason, number), (Reason::HOBJ_ERROR, sent));
        // So this one says what was sent last, and is allowed its message in the unit of work.
        request.handle = queue;
        request.global_index = number;
        ask(&mut client, &request);
        let (reason, number, ..) = next(&mut client).await;
        assert_eq!((reason, number), (Reason::NONE, sent + 1));
    }
}

/// The next notification of a handle: its code, and the reason that is its value.
pub(crate) async fn notice(client: &mut Raw, handle: Hobj) -> (u32, Reason) {
    match client.event().await.unwrap() {
        FromServer::Notification { notification, .. } => {
            assert_eq!(notification.handle, handle);
            let reason = Reason(notification.value.cast_signed());
            (notification.code, reason)
        }
        other => panic!("{other:?}"),
    }
}

const INHIBITED: (u32, Reason) = (Notification::GET_INHIBITED, Reason::GET_INHIBITED);
const ALLOWED: (u32, Reason) = (Notification::GET_ALLOWED, Reason::GET_ENABLED);

/// A listener's library would hand it a message without anything in it for every reason that came as one, and ask again.
#[tokio::test]
async fn a_consumer_is_notified_once_that_gets_are_inhibited_and_once_that_they_are_allowed() {
    for options in [MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT] {
        for (name, object) in [("Q1", "QLOCAL(Q1)"), ("OTHER", "QALIAS(OTHER)")] {
            let world = World::new().await;
            world.mqsc("DEFINE QALIAS(OTHER) TARGET(Q1)");
            let (mut client, mut other) = (world.client().await, world.client().await);
            let [queue, others] = [client.open(name).await, other.open("Q1").await];
            let mut request = wanting(queue, options);
            ask(&mut client, &request);
            commit(&mut client).await;
            state(&mut client, Notification::TXN_ALLOWED, 0, false);
            world.mqsc(&format!("ALTER {object} GET(DISABLED)"));
            assert_eq!(notice(&mut client, queue).await, INHIBITED);
            // It goes on asking, and need not do so; and then is not allowed a message in the unit of work.
            ask(&mut client, &request);
            put(&mut other, others, &["one"]).await;
            commit(&mut client).await;
            assert_eq!(world.depth("Q1"), 1, "{object}");
            world.mqsc(&format!("ALTER {object} GET(ENABLED)"));
            assert_eq!(notice(&mut client, queue).await, ALLOWED);
            state(&mut client, Notification::TXN_ALLOWED, 0, false);
            assert_eq!(text(&mut client).await, "one");
            commit(&mut client).await;
            // One that begins while it is so, and has no room when it is not so any more.
            world.mqsc(&format!("ALTER {object} GET(DISABLED)"));
            (request.global_index, request.received) = (1, 367);
            ask(&mut client, &request);
            assert_eq!(notice(&mut client, queue).await, INHIBITED);
            (request.requested, request.received) = (0, 0);
            ask(&mut client, &request);
            commit(&mut client).await;
            world.mqsc(&format!("ALTER {object} GET(ENABLED)"));
            assert_eq!(notice(&mut client, queue).await, ALLOWED);
            client.disconnect().await;
        }
    }
}

/// Read ahead: the outcome of a get that waits is that of an MQGET, and nothing is left for the next one.
#[tokio::test]
async fn a_get_that_waits_is_answered_that_gets_are_inhibited() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT | MQGMO_WAIT);
    request.flags |= RequestMsgs::GET_WAITS;
    request.wait_ms = -1;
    ask(&mut client, &request);
    world.mqsc("ALTER QLOCAL(Q1) GET(DISABLED)");
    assert_eq!(next(&mut client).await.0, Reason::GET_INHIBITED);
    ask(&mut client, &request);
    assert_eq!(next(&mut client).await.0, Reason::GET_INHIBITED);
    world.mqsc("ALTER QLOCAL(Q1) GET(ENABLED)");
    put(&mut client, queue, &["one"]).await;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
    // None waits now.
    world.mqsc("ALTER QLOCAL(Q1) GET(DISABLED)");
    assert_eq!(notice(&mut client, queue).await, INHIBITED);
    world.mqsc("ALTER QLOCAL(Q1) GET(ENABLED)");
    assert_eq!(notice(&mut client, queue).await, ALLOWED);
    put(&mut client, queue, &["two"]).await;
    assert_eq!(text(&mut client).await, "two");
}

/// Other reasons end it the same way, and it is not asked for again.
#[tokio::test]
async fn a_consumer_is_notified_of_what_ends_it() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    ask(&mut client, &wanting(queue, 1 << 30));
    let ended = (Notification::GET_INHIBITED, Reason::OPTIONS_ERROR);
    assert_eq!(notice(&mut client, queue).await, ended);
    let mut late = wanting(queue, MQGMO_NO_SYNCPOINT);
    late.wait_ms = -2;
    ask(&mut client, &late);
    let ended = (Notification::GET_INHIBITED, Reason::WAIT_INTERVAL_ERROR);
    assert_eq!(notice(&mut client, queue).await, ended);
    client.disconnect().await;
}

const TOO_LONG: (u32, Reason) = (Notification::GET_INHIBITED, Reason::MSG_TOO_BIG_FOR_CHANNEL);

/// A consumer whose next message is longer than its channel allows is notified and ends, and the operator hears of it; the message
/// stays for others. What is longer than the consumer has asked for is a matter between it and its client.
#[tokio::test]
async fn a_message_that_is_longer_than_the_channel_allows_is_told_of_and_stays() {
    for options in [MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT] {
        let world = World::new().await;
        let mut other = world.client().await;
        world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MAXMSGL(1000)");
        let mut client = world.client().await;
        let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
        let long = "x".repeat(1001);
        put(&mut other, others, &[&long, "later"]).await;
        let mut request = wanting(queue, options);
        request.max_length = 1000;
        ask(&mut client, &request);
        assert_eq!(next(&mut client).await.0, Reason::TRUNCATED_MSG_FAILED);
        assert_eq!(world.operator.beginning_with("AMQ2233").len(), 0);
        for max_length in [-1, 1001] {
            request.max_length = max_length;
            ask(&mut client, &request);
            assert_eq!(notice(&mut client, queue).await, TOO_LONG);
        }
        assert_eq!(world.operator.beginning_with("AMQ2233").len(), 2);
        let inserts = world.operator.inserts("AMQ2233W");
        assert_eq!(inserts[..3], ["Q1", "1001", "CH"]);
        assert_eq!(inserts[4], "1000");
        let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
        assert_eq!(got.data.len(), 1001);
        commit(&mut client).await;
        assert_eq!(world.depth("Q1"), 1);
        ask(&mut client, &wanting(queue, options));
        assert_eq!(text(&mut client).await, "later");
    }
}

/// It hears at once that the queue manager quiesces: IBM's library keeps the first notification to itself until another wakes its
/// listener.
#[tokio::test]
async fn a_consumer_is_notified_that_the_queue_manager_quiesces() {
    for options in [MQGMO_NO_SYNCPOINT, MQGMO_SYNCPOINT] {
        let world = World::new().await;
        let mut client = world.client().await;
        let queue = client.open("Q1").await;
        let request = wanting(queue, options | MQGMO_FAIL_IF_QUIESCING);
        ask(&mut client, &request);
        commit(&mut client).await;
        state(&mut client, Notification::TXN_ALLOWED, 0, false);
        world.qm.quiesce(EndMode::Controlled);
        let quiesces = (Notification::Q_MGR_QUIESCING, Reason::NONE);
        assert_eq!(notice(&mut client, queue).await, quiesces);
        assert_eq!(notice(&mut client, queue).await, ALLOWED);
        // It asks again, and is told so without being woken to ask for ever.
        ask(&mut client, &request);
        assert_eq!(notice(&mut client, queue).await, quiesces);
        commit(&mut client).await;
        client.disconnect().await;
    }
}

/// What MQGET says of a wait interval that is neither a time nor MQWI_UNLIMITED, and for a consumer too.
#[tokio::test]
async fn a_wait_interval_below_unlimited_is_an_error() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    for (flags, options) in [
        (RequestMsgs::GET_WAITS, MQGMO_WAIT),
        (RequestMsgs::GET_WAITS, 0),
        (0, MQGMO_WAIT),
        (
            RequestMsgs::GET_WAITS | RequestMsgs::ASKED_AGAIN,
            MQGMO_WAIT,
        ),
    ] {
        let mut request = wanting(queue, MQGMO_NO_SYNCPOINT | options);
        request.flags |= flags;
        for wait_ms in [-2, i32::MIN] {
            request.wait_ms = wait_ms;
            ask(&mut client, &request);
            assert_eq!(next(&mut client).await.0, Reason::WAIT_INTERVAL_ERROR);
        }
    }
    // The handle goes on; without end is without end.
    client.put(queue, MQPMO_NO_SYNCPOINT, b"one").await;
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT | MQGMO_WAIT);
    request.wait_ms = -1;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
}

#[tokio::test]
async fn a_get_that_began_before_its_message_came_has_no_second_one() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    put(&mut other, others, &["one", "two", "three"]).await;
    let mut request = wanting(queue, MQGMO_SYNCPOINT | MQGMO_WAIT);
    request.wait_ms = -1;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
    // A get that began to wait while that was on its way. Its application commits, and is gone.
    request.flags = RequestMsgs::GET_WAITS;
    request.selection = None;
    ask(&mut client, &request);
    commit(&mut client).await;
    assert_eq!(world.depth("Q1"), 2);
    // One that knows of it waits for the next.
    request.global_index = 1;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "two");
}

/// It would be lost with a client that gets no further: outside the unit of work it is gone when it is sent.
#[tokio::test]
async fn of_persistent_messages_none_is_sent_ahead_of_the_get_that_takes_it() {
    let world = World::new().await;
    let mut other = world.client().await;
    let others = other.open("Q3").await;
    put(&mut other, others, &["one", "two", "three"]).await;
    let mut client = world.client().await;
    let queue = client.open("Q3").await;
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT | MQGMO_WAIT);
    (request.wait_ms, request.flags) = (-1, RequestMsgs::GET_WAITS);
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
    // It is said that there is one more; until a get waits it is anybody's.
    paused(&mut client, queue).await;
    assert_eq!(world.depth("Q3"), 2);
    // A get that began while the first was on its way has that one.
    request.selection = None;
    ask(&mut client, &request);
    paused(&mut client, queue).await;
    assert_eq!(world.depth("Q3"), 2);
    request.global_index = 1;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "two");
    paused(&mut client, queue).await;
    // Those that are not persistent go ahead, up to the next that is.
    let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"three");
    put_with(&mut other, others, MQPER_NOT_PERSISTENT, &["a", "b"]).await;
    put(&mut other, others, &["four"]).await;
    request.flags = 0;
    request.global_index = 2;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "a");
    assert_eq!(text(&mut client).await, "b");
    paused(&mut client, queue).await;
    drop(client.into_stream());
    let got = other.get(others, MQGMO_WAIT, 60_000).await.unwrap();
    assert_eq!(&got.data[..], b"four");
}

#[tokio::test]
async fn what_there_is_no_room_for_any_more_is_anybodys() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT);
    ask(&mut client, &request);
    commit(&mut client).await;
    (request.selection, request.requested, request.flags) = (None, 0, 0);
    ask(&mut client, &request);
    commit(&mut client).await;
    put(&mut other, others, &["anybody's"]).await;
    let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"anybody's");
}

#[tokio::test]
async fn while_a_get_waits_nothing_is_kept_for_what_is_sent_without_a_call() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let another = client.another().await;
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    let elsewhere = client.open("Q2").await;
    ask(&mut client, &wanting(queue, MQGMO_NO_SYNCPOINT));
    commit(&mut client).await;
    client.send_get(elsewhere, MQGMO_NO_SYNCPOINT, 60_000, 1_000);
    // It waits once a later request of another conversation is answered.
    let getting = std::mem::replace(&mut client.id, another);
    commit(&mut client).await;
    put(&mut other, others, &["anybody's"]).await;
    let got = other.get(others, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    assert_eq!(&got.data[..], b"anybody's");
    let somewhere = other.open("Q2").await;
    put(&mut other, somewhere, &["the get's"]).await;
    client.id = getting;
    let (_, got) = client.got().await.unwrap();
    assert_eq!(&got.data[..], b"the get's");
    put(&mut other, others, &["the stream's"]).await;
    assert_eq!(text(&mut client).await, "the stream's");
}

#[tokio::test]
async fn a_token_selects() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    put(&mut other, others, &["one", "two"]).await;
    let mut tokens = Vec::new();
    let mut request = wanting(queue, MQGMO_SYNCPOINT);
    for number in 0..2 {
        request.global_index = number;
        ask(&mut client, &request);
        match client.event().await.unwrap() {
            FromServer::Message { message, .. } => tokens.push(message.first.unwrap().token),
            other => panic!("{other:?}"),
        }
    }
    let (outcome, _) = client.call(Hobj::NONE, &Request::Back).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    for (number, wanted) in [(2, "two"), (3, "one")] {
        let selection = request.selection.as_mut().unwrap();
        (selection.match_options, selection.msg_token) = (0x20, tokens.pop());
        selection.index += 1;
        request.global_index = number;
        ask(&mut client, &request);
        assert_eq!(text(&mut client).await, wanted);
    }
}

#[tokio::test]
async fn what_is_browsed_ahead_comes_once_however_often_it_is_asked_for() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let others = other.open("Q1").await;
    let queue = client.open_for("Q1", MQOO_BROWSE).await;
    put(&mut other, others, &["one", "two"]).await;
    ask(&mut client, &wanting(queue, MQGMO_BROWSE_FIRST));
    assert_eq!(text(&mut client).await, "one");
    assert_eq!(text(&mut client).await, "two");
    // Asked for again, and with another call between.
    ask(&mut client, &wanting(queue, MQGMO_BROWSE_FIRST));
    commit(&mut client).await;
    put(&mut other, others, &["three"]).await;
    assert_eq!(text(&mut client).await, "three");
    // Other options begin anew.
    ask(
        &mut client,
        &wanting(queue, MQGMO_BROWSE_FIRST | MQGMO_NO_SYNCPOINT),
    );
    assert_eq!(text(&mut client).await, "one");
    assert_eq!(world.depth("Q1"), 3);
}

/// As IBM's client asks, whatever the application's first call is.
#[tokio::test]
async fn first_and_next_at_once_browse_from_the_first_on() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let others = other.open("Q1").await;
    put(&mut other, others, &["one", "two"]).await;
    let queue = client.open_for("Q1", MQOO_BROWSE).await;
    let request = wanting(queue, MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT);
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
    assert_eq!(text(&mut client).await, "two");
    ask(&mut client, &request);
    commit(&mut client).await;
    put(&mut other, others, &["three"]).await;
    assert_eq!(text(&mut client).await, "three");
}

/// A get of the application that browses from the first message, when all that was sent has come.
#[tokio::test]
async fn who_browses_ahead_from_the_first_again_begins_anew() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let others = other.open("Q1").await;
    put(&mut other, others, &["one", "two"]).await;
    let queue = client.open_for("Q1", MQOO_BROWSE).await;
    let mut request = wanting(queue, MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT);
    request.options |= MQGMO_WAIT;
    (request.wait_ms, request.flags) = (-1, RequestMsgs::GET_WAITS);
    for begun in [0, 2] {
        request.global_index = begun;
        ask(&mut client, &request);
        assert_eq!(text(&mut client).await, "one");
        assert_eq!(text(&mut client).await, "two");
        request.selection = None;
    }
    // One that was on its way when the application asked is for that get.
    request.global_index = 3;
    ask(&mut client, &request);
    commit(&mut client).await;
    put(&mut other, others, &["three"]).await;
    assert_eq!(text(&mut client).await, "three");
}

/// Whoever starts consumers does not ask again for what it has asked for to get.
#[tokio::test]
async fn what_waits_for_a_get_goes_to_consumers_once_they_are_started() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let others = other.open("Q3").await;
    put(&mut other, others, &["one", "two"]).await;
    let queue = client.open("Q3").await;
    let mut request = wanting(queue, MQGMO_NO_SYNCPOINT);
    request.flags = RequestMsgs::GET_WAITS;
    ask(&mut client, &request);
    assert_eq!(text(&mut client).await, "one");
    paused(&mut client, queue).await;
    state(
        &mut client,
        Notification::CONN_STATE,
        Notification::STARTED,
        false,
    );
    assert_eq!(text(&mut client).await, "two");
}

/// MQGMO_CONVERT holds for messages that are sent ahead as it does for those that are got: what they ask for is done, or a warning
/// says why not.
#[tokio::test]
async fn messages_are_converted_as_the_selection_wants_them() {
    let world = World::new().await;
    let (mut client, mut other) = (world.client().await, world.client().await);
    let [queue, others] = [client.open("Q1").await, other.open("Q1").await];
    let mut put = async |format: &str, ccsid: i32, data: &[u8]| {
        let md = Md {
            format: Chars::new(format),
            coded_char_set_id: ccsid,
            ..Md::default()
        };
        let put = other.try_put(others, &md, MQPMO_NO_SYNCPOINT, data);
        put.await.unwrap();
    };
    // "Gruß" in code page 37, in UTF-8 a byte longer.
    let greeting = [0xc7, 0x99, 0xa4, 0x59];
    put("MQSTR", 37, &greeting).await;
    put("", 37, &greeting).await;
    put("MQSTR", 37, &greeting).await;
    put("MQSTR", 37, &greeting).await;
    let converting = MQGMO_NO_SYNCPOINT | MQGMO_CONVERT;
    let mut request = wanting(queue, converting);
    request.max_length = 5;
    ask(&mut client, &request);
    let (reason, _, md, data) = next(&mut client).await;
    assert_eq!((reason, md.coded_char_set_id), (Reason::NONE, 1208));
    assert_eq!(data, "Gruß".as_bytes());
    let (reason, _, md, data) = next(&mut client).await;
    assert_eq!((reason, md.coded_char_set_id), (Reason::FORMAT_ERROR, 37));
    assert_eq!(data, greeting, "it comes as it is");
    let (reason, _, md, _) = next(&mut client).await;
    assert_eq!((reason, md.coded_char_set_id), (Reason::NONE, 1208));
    let (reason, ..) = next(&mut client).await;
    assert_eq!(reason, Reason::NONE);
    // What has become too long stays as it was, or is cut where that will do. The reply to an open says that a request has come.
    request.max_length = 4;
    ask(&mut client, &request);
    client.open("Q2").await;
    put("MQSTR", 37, &greeting).await;
    let (reason, _, md, data) = next(&mut client).await;
    assert_eq!(
        (reason, md.coded_char_set_id),
        (Reason::CONVERTED_MSG_TOO_BIG, 37)
    );
    assert_eq!(data, greeting);
    request.options |= MQGMO_ACCEPT_TRUNCATED_MSG;
    ask(&mut client, &request);
    client.open("Q2").await;
    put("MQSTR", 37, &greeting).await;
    let (reason, _, md, data) = next(&mut client).await;
    assert_eq!(
        (reason, md.coded_char_set_id),
        (Reason::TRUNCATED_MSG_ACCEPTED, 1208)
    );
    assert_eq!(data, &"Gruß".as_bytes()[..4]);
    assert_eq!(world.depth("Q1"), 0);
}
