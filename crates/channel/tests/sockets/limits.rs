//! Who is refused, who is stopped, and what is shown.

use std::sync::Arc;
use std::time::Duration;

use posthaste_channel::{InstanceState, StopError, TurnedAway};
use posthaste_mqi::constants::{
    MQCNO_GENERATE_CONN_TAG, MQCNO_RECONNECT, MQCNO_RESTRICT_CONN_TAG_Q_MGR,
    MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_SYNCPOINT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Chars, CompCode, Hobj, Reason};
use posthaste_net::{RuntimeClock, drive};
use posthaste_wire::identity::Userid;
use posthaste_wire::{Request, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::client::{Client, Fate, conn};
use crate::world::{World, spawn_here};

type Raw = Client<TcpStream>;

async fn refused(world: &World, channel: &str) -> Status {
    match Client::agreed(world.socket().await, &Raw::offer(channel)).await {
        Err(Fate::Refused(status)) => status,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was taken"),
    }
}

#[tokio::test]
async fn an_unknown_channel_is_refused_with_2540() {
    let world = World::new().await;
    for channel in ["NO.SUCH.CHANNEL", "", "ch"] {
        assert_eq!(
            refused(&world, channel).await.refusal(),
            Reason(2540),
            "{channel}"
        );
    }
    world.admission.empty().await;
    assert_eq!(world.operator.channels(), ["AMQ9519E"; 3]);
    assert_eq!(
        world.operator.inserts("AMQ9519E"),
        ["NO.SUCH.CHANNEL", "127.0.0.1"]
    );
}

/// The names of the channel and of the queue manager are in the client's coded character set, until it has the server's.
#[tokio::test]
async fn a_client_of_ebcdic_is_taken_to_its_channel() {
    for ccsid in [37, 500] {
        let world = World::new().await;
        let mut offer = Raw::offer("CH");
        let mut channel = [0x40; 20];
        channel[..2].copy_from_slice(&[0xC3, 0xC8]);
        let mut q_mgr = [0x40; 48];
        q_mgr[..3].copy_from_slice(&[0xD8, 0xD4, 0xF1]);
        (offer.channel, offer.q_mgr) = (Chars::from_bytes(channel), Chars::from_bytes(q_mgr));
        offer.ccsid = ccsid;
        let client = Client::connected(world.socket().await, &offer).await;
        client.disconnect().await;
        offer.channel = Chars::from_bytes([0xC3; 20]);
        let refused = Client::agreed(world.socket().await, &offer).await;
        assert!(matches!(refused, Err(Fate::Refused(status)) if status.refusal() == Reason(2540)));
        let names = world.operator.inserts("AMQ9519E");
        assert_eq!(names, ["CCCCCCCCCCCCCCCCCCCC", "127.0.0.1"]);
    }
}

#[tokio::test]
async fn a_channel_that_demands_what_is_not_checked_takes_nobody() {
    let world = World::new().await;
    for (attribute, blank, reason, message, inserts) in [
        (
            "SSLCIPH(ANY_TLS12_OR_HIGHER)",
            "SSLCIPH('')",
            2397,
            "AMQ9639E",
            &["CH", "127.0.0.1"][..],
        ),
        (
            "SSLPEER('CN=app')",
            "SSLPEER('')",
            2397,
            "AMQ9635E",
            &[
                "CH",
                "127.0.0.1",
                "SSLPEER needs a certificate, and SSLCIPH is blank",
            ],
        ),
        (
            "SCYEXIT('check(all)')",
            "SCYEXIT('')",
            2537,
            "AMQ9535E",
            &["check(all)", "CH", "127.0.0.1"],
        ),
    ] {
        world.mqsc(&format!("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) {attribute}"));
        assert_eq!(refused(&world, "CH").await.refusal(), Reason(reason));
        assert_eq!(world.operator.inserts(message), inserts);
        world.mqsc(&format!("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) {blank}"));
        world.client().await.disconnect().await;
    }
}

#[tokio::test]
async fn a_channel_whose_user_is_noaccess_lets_nobody_in() {
    let world = World::new().await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('*NOACCESS')");
    let socket = world.socket().await;
    let mut client = Client::agreed(socket, &Raw::offer("CH")).await.unwrap();
    let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(outcome.reason, Reason::NOT_AUTHORIZED);
    assert_eq!(world.operator.inserts("AMQ9557E"), ["CH", "127.0.0.1"]);
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('app')");
    world.client().await.disconnect().await;
}

#[tokio::test]
async fn instances_are_limited_in_all_and_per_client() {
    let world = World::new().await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MAXINST(2)");
    world.mqsc("ALTER CHANNEL(CH.OLD) CHLTYPE(SVRCONN) MAXINSTC(1)");
    let (first, _second) = (world.client().await, world.client().await);
    assert_eq!(refused(&world, "CH").await.refusal(), Reason(2537));
    let _old = Client::connected(world.socket().await, &Raw::offer("CH.OLD")).await;
    assert_eq!(refused(&world, "CH.OLD").await.refusal(), Reason(2537));
    assert_eq!(world.operator.channels(), ["AMQ9489W", "AMQ9490W"]);
    assert_eq!(world.operator.inserts("AMQ9489W"), ["2", "CH", "127.0.0.1"]);
    let before = world.registry.status().len();
    first.disconnect().await;
    let gone = async {
        while world.registry.status().len() == before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .unwrap();
    drop(world.client().await);
}

#[tokio::test(start_paused = true)]
async fn who_never_connects_keeps_nobody_out_of_a_channel_for_long() {
    let world = World::quiet(Default::default()).await;
    for limit in ["MAXINST(2)", "MAXINST(9) MAXINSTC(2)"] {
        world.mqsc(&format!("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) {limit}"));
        let agreed = async || {
            let (near, far) = tokio::io::duplex(65_536);
            drop(world.serve(far));
            Client::agreed(near, &Client::<DuplexStream>::offer("CH")).await
        };
        let refused = async || match agreed().await {
            Err(fate) => fate,
            Ok(_) => panic!("it was taken"),
        };
        let full = Fate::Refused(Status::CHANNEL_UNAVAILABLE);
        let mut first = agreed().await.unwrap();
        let mut second = agreed().await.unwrap();
        assert_eq!(refused().await, full, "both are young");
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut third = agreed().await.unwrap();
        let lost = Fate::Ended(Status::CHANNEL_UNAVAILABLE);
        assert_eq!(first.fate().await, lost, "the oldest goes");
        for client in [&mut second, &mut third] {
            let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
            assert_eq!(outcome.reason, Reason::NONE);
        }
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(refused().await, full, "who is connected stays");
        assert_eq!(world.registry.status().len(), 2);
        drop((second, third));
        let gone = async {
            while !world.registry.status().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(60), gone).await;
        in_time.expect("both are gone");
    }
}

/// What an admission costs does not depend on how many instances there are: it looks at none of them.
#[tokio::test]
async fn an_admission_looks_at_no_other_instance() {
    let world = World::quiet(Default::default()).await;
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MAXINST(201) MAXINSTC(201)");
    let looked_at = || world.registry.instances_looked_at();
    let mut clients = Vec::new();
    for _ in 0..200 {
        let (near, far) = tokio::io::duplex(16_384);
        drop(world.serve(far));
        let offer = Client::<tokio::io::DuplexStream>::offer("CH");
        clients.push(Client::connected(near, &offer).await);
    }
    assert_eq!(looked_at(), 0);
    assert_eq!(world.registry.status().len(), 200);
    assert_eq!(looked_at(), 200, "who looks at all is counted");
}

#[tokio::test]
async fn a_stopped_channel_ends_quietly_and_takes_nobody_until_it_is_started() {
    let world = World::new().await;
    assert_eq!(world.registry.stop("NONE", false), Err(StopError::NotFound));
    let mut client = world.client().await;
    let (first, second) = (client.id, client.another().await);
    let queue = client.open("Q1").await;
    client.send_get(
        queue,
        MQGMO_NO_SYNCPOINT | MQGMO_FAIL_IF_QUIESCING,
        60_000,
        100,
    );
    client.id = second;
    client.call(Hobj::NONE, &Request::Commit).await;
    assert_eq!(world.registry.stop("CH", false), Ok(1));
    client.id = first;
    assert_eq!(client.got().await, Err(Reason::CONNECTION_QUIESCING));
    assert_eq!(client.fate().await, Fate::Ended(Status::USER_CLOSED));
    assert!(world.registry.is_stopped("CH"));
    assert_eq!(refused(&world, "CH").await.refusal(), Reason(2537));
    drop(Client::connected(world.socket().await, &Raw::offer("CH.OLD")).await);
    world.registry.start("CH").unwrap();
    world.client().await.disconnect().await;
    assert!(world.operator.channels().contains(&"AMQ9534E"));
}

fn turn_away(stream: DuplexStream) -> JoinHandle<()> {
    let begin = |_, now| TurnedAway::new(now, None);
    spawn_here(drive(stream, Arc::new(RuntimeClock), begin))
}

#[tokio::test]
async fn who_is_turned_away_is_told_2537() {
    let (ours, theirs) = tokio::io::duplex(4_096);
    let away = turn_away(ours);
    let answer = Client::agreed(theirs, &Raw::offer("CH")).await;
    let Err(Fate::Refused(status)) = answer else {
        panic!("it was taken");
    };
    assert_eq!(status.refusal(), Reason(2537));
    away.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_is_turned_away_and_says_nothing_or_nonsense_is_left_soon() {
    for nonsense in [&[][..], &[0; 28], &[0xff; 8_192]] {
        let (ours, mut theirs) = tokio::io::duplex(16_384);
        let away = turn_away(ours);
        theirs.write_all(nonsense).await.unwrap();
        let mut answer = Vec::new();
        theirs.read_to_end(&mut answer).await.unwrap();
        assert!(answer.is_empty(), "{answer:?}");
        away.await.unwrap();
    }
}

#[tokio::test]
async fn a_forced_stop_gives_waiting_gets_up() {
    let world = World::new().await;
    let mut client = world.client().await;
    let queue = client.open("Q1").await;
    client.send_get(queue, MQGMO_NO_SYNCPOINT, 60_000, 100);
    client.flush().await;
    client.another().await;
    world.registry.stop("CH", true).unwrap();
    assert_eq!(client.fate().await, Fate::Ended(Status::USER_CLOSED));
    world.admission.empty().await;
    assert_eq!(world.qm.connections(), 0);
}

#[tokio::test]
async fn the_end_of_the_queue_manager_ends_every_channel() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.registry.end(false);
    let fate = client.fate().await;
    assert_eq!(fate, Fate::Ended(Status::Q_MGR_TERMINATING));
    assert_eq!(Status::Q_MGR_TERMINATING.ending(), Reason(2009));
    assert_eq!(refused(&world, "CH").await.refusal(), Reason(2059));
}

#[tokio::test]
async fn a_quiescing_queue_manager_refuses_connections_with_its_reason() {
    let world = World::new().await;
    world.qm.quiesce(posthaste_engine::EndMode::Controlled);
    let mut client = Client::agreed(world.socket().await, &Raw::offer("CH"))
        .await
        .unwrap();
    let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(
        (outcome.comp_code, outcome.reason),
        (CompCode::Failed, Reason::Q_MGR_QUIESCING)
    );
    assert_eq!(world.operator.channels(), ["AMQ9508E"]);
}

#[tokio::test]
async fn status_shows_what_an_instance_is_and_has_done() {
    let world = World::new().await;
    let mut client = Client::agreed(world.socket().await, &Raw::offer("CH"))
        .await
        .unwrap();
    let userid = Userid {
        user: Chars::new("ALICE"),
        password: [b' '; 12].into(),
        long_user: Chars::new("alice"),
    };
    client.socket.userid(&mut client.out, client.id, &userid);
    let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(outcome.comp_code, CompCode::Ok);
    client.another().await;
    let queue = client.open("Q1").await;
    for _ in 0..3 {
        client.put(queue, MQPMO_NO_SYNCPOINT, &[0; 1_000]).await;
        client.get(queue, MQGMO_NO_SYNCPOINT, 0).await.unwrap();
    }
    let shown = world.registry.status();
    let [status] = &shown[..] else {
        panic!("{shown:?}")
    };
    assert_eq!(
        (status.channel.as_str(), status.conname.as_str()),
        ("CH", "127.0.0.1")
    );
    assert_eq!(status.state, InstanceState::Running);
    assert_eq!(
        (status.calls, status.conversations, status.max_conversations),
        // Connect, connect again, open, and three puts and gets.
        (9, 2, 10)
    );
    assert!(status.last_call >= status.started / 1_000_000 * 1_000_000);
    assert!(status.buffers_received >= 9 && status.buffers_sent >= 9);
    assert_eq!(
        (status.heartbeat_s, status.product.as_str()),
        (300, "MQRU00010000")
    );
    assert_eq!(
        (status.application.as_str(), status.user.as_str()),
        ("raw client", "alice")
    );
    assert!(
        status.bytes_received > 3_000 && status.bytes_sent > 3_000,
        "{status:?}"
    );
    let connections = world.qm.connection_status();
    assert_eq!(connections.len(), 2);
    for connection in connections {
        let who = connection.application;
        assert_eq!(
            (who.channel.as_str(), who.conname.as_str(), who.pid),
            ("CH", "127.0.0.1", 4711)
        );
        assert_eq!(
            (who.name.as_str(), who.user.as_str()),
            ("raw client", "alice")
        );
    }
}

#[tokio::test]
async fn the_user_is_mcauser_or_the_credentials_or_the_process() {
    let world = World::new().await;
    world.mqsc("ALTER CHANNEL(CH.OLD) CHLTYPE(SVRCONN) MCAUSER('mqapp')");
    for (channel, expected) in [("CH", "bob"), ("CH.OLD", "mqapp")] {
        let mut client = Client::agreed(world.socket().await, &Raw::offer(channel))
            .await
            .unwrap();
        authenticate(&mut client, b"bob").await;
        client.call(Hobj::NONE, &conn("QM1")).await;
        let users: Vec<String> = world
            .qm
            .connection_status()
            .into_iter()
            .map(|c| c.application.user)
            .collect();
        assert_eq!(users, [expected]);
        client.disconnect().await;
        world.admission.empty().await;
    }
}

async fn authenticate(client: &mut Raw, user: &[u8]) {
    client.authenticate(user, b"geheim").await;
}

/// Credentials are for one MQCONN: neither MQDISC nor a failure leaves them to the next, which comes without.
#[tokio::test]
async fn credentials_do_not_outlive_their_mqconn() {
    let world = World::new().await;
    let users = || {
        let connections = world.qm.connection_status().into_iter();
        connections.map(|c| c.application.user).collect::<Vec<_>>()
    };
    let mut client = Client::agreed(world.socket().await, &Raw::offer("CH"))
        .await
        .unwrap();
    authenticate(&mut client, b"bob").await;
    client.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(users(), ["bob"]);
    client.call(Hobj::NONE, &Request::Disc).await;
    client.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(users(), [""]);
    client.call(Hobj::NONE, &Request::Disc).await;
    authenticate(&mut client, b"bob").await;
    let (outcome, _) = client.call(Hobj::NONE, &conn("NOT.HERE")).await;
    assert_eq!(outcome.reason, Reason::Q_MGR_NAME_ERROR);
    client.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(users(), [""]);
}

/// What a client may not ask of a connection is refused with its reason; it may ask again.
#[tokio::test]
async fn connect_options_that_are_not_served_are_refused() {
    let world = World::new().await;
    let mut client = Client::agreed(world.socket().await, &Raw::offer("CH"))
        .await
        .unwrap();
    for (options, reason) in [
        (MQCNO_RESTRICT_CONN_TAG_Q_MGR, Reason::OPTIONS_ERROR),
        (MQCNO_RECONNECT | MQCNO_GENERATE_CONN_TAG, Reason::NONE),
    ] {
        let Request::Conn(mut request) = conn("QM1") else {
            panic!("an MQCONN")
        };
        request.connect_options = options;
        let (outcome, _) = client.call(Hobj::NONE, &Request::Conn(request)).await;
        assert_eq!(outcome.reason, reason);
    }
}
