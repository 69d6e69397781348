//! Channel authentication records: who is let in, as whom, and what whoever is not is told.

use std::time::Duration;

use posthaste_command::ObjectKind;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{MQGMO_NO_SYNCPOINT, MQPMO_NO_SYNCPOINT};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::client::Client;
use crate::connauth::{Given, Guarded};
use crate::system_users::{BOSS, UNABLE};
use crate::world::World;

const BLOCKED: Result<&str, Reason> = Err(Reason::NOT_AUTHORIZED);

/// A queue manager that asks nobody for a password, and uses records.
async fn with(records: &str) -> Guarded {
    let guarded = Guarded::new("CHCKCLNT(OPTIONAL) ADOPTCTX(YES)").await;
    for line in records.lines() {
        guarded.world.mqsc(line.trim());
    }
    guarded.world.mqsc("ALTER QMGR CHLAUTH(ENABLED)");
    guarded
}

#[track_caller]
fn check(is: Result<String, Reason>, expected: Result<&str, Reason>) {
    assert_eq!(is.as_deref().map_err(|reason| *reason), expected);
}

fn user(name: &str) -> Given<'_> {
    Given::Userid(name, "")
}

#[tokio::test]
async fn users_and_addresses_are_mapped_and_blocked() {
    let guarded = with(
        "SET CHLAUTH(*) TYPE(USERMAP) CLNTUSER('carol') MCAUSER('app')
         SET CHLAUTH(C*) TYPE(USERMAP) CLNTUSER('dave') USERSRC(NOACCESS)
         SET CHLAUTH(C*) TYPE(USERMAP) CLNTUSER('erin') USERSRC(NOACCESS) ADDRESS('10.*')
         SET CHLAUTH(CH) TYPE(BLOCKUSER) USERLIST('mallory','blocked')
         SET CHLAUTH(*) TYPE(USERMAP) CLNTUSER('frank') MCAUSER('blocked')",
    )
    .await;
    for (name, expected) in [
        ("carol", Ok("app")),
        ("dave", BLOCKED),
        ("erin", Ok("erin")),
        ("frank", BLOCKED),
        ("mallory", BLOCKED),
        ("other", Ok("other")),
        // The list for CH takes the place of the default one.
        ("root", Ok("root")),
    ] {
        check(guarded.outcome(user(name)).await, expected);
    }
    // Credentials that were adopted are whom an application comes as.
    check(
        guarded.outcome(Given::Csp("alice", "right")).await,
        Ok("alice"),
    );
    let world = &guarded.world;
    world.mqsc("SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('alice') MCAUSER('anna')");
    check(
        guarded.outcome(Given::Csp("alice", "right")).await,
        Ok("anna"),
    );
    check(guarded.outcome(Given::Csp("alice", "wrong")).await, BLOCKED);
    let inserts = world.operator.inserts("AMQ9777E");
    let key = "CHLAUTH('C*') CLNTUSER('dave') TYPE(USERMAP)";
    assert_eq!(inserts, ["CH", "127.0.0.1", "dave", key]);
    let inserts = world.operator.inserts("AMQ9776E");
    assert_eq!(inserts[..3], ["CH", "127.0.0.1", "blocked"]);
    world.mqsc("SET CHLAUTH(CH) TYPE(ADDRESSMAP) ADDRESS('127.*') MCAUSER('near')");
    check(guarded.outcome(user("other")).await, Ok("near"));
    check(guarded.outcome(user("carol")).await, Ok("near"));
    world.mqsc("ALTER QMGR CHLAUTH(DISABLED)");
    check(guarded.outcome(user("dave")).await, Ok("dave"));
}

#[tokio::test]
async fn administrators_are_whom_those_name_who_know_users() {
    let guarded = with("").await;
    check(guarded.outcome(user("root")).await, BLOCKED);
    check(guarded.outcome(user(BOSS)).await, BLOCKED);
    check(
        guarded.outcome(user("no-such-user")).await,
        Ok("no-such-user"),
    );
    let inserts = guarded.world.operator.inserts("AMQ9776E");
    assert_eq!(inserts[2..], ["root", "CHLAUTH('*') TYPE(BLOCKUSER)"]);
}

/// MCAUSER(*NOACCESS) closes a channel to everybody but those whom a record maps.
#[tokio::test]
async fn a_record_opens_a_closed_channel_and_only_as_it_says() {
    let guarded = with(
        "ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('*NOACCESS')
         SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('carol') MCAUSER('app')
         SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('dave') USERSRC(CHANNEL)
         SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('erin') MCAUSER('*NOACCESS')",
    )
    .await;
    for (name, expected) in [
        ("carol", Ok("app")),
        ("dave", BLOCKED),
        ("erin", BLOCKED),
        ("other", BLOCKED),
    ] {
        check(guarded.outcome(user(name)).await, expected);
    }
}

#[tokio::test]
async fn what_only_warns_is_told_and_let_in() {
    let guarded = with(
        "SET CHLAUTH(CH) TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS) WARN(YES)
         SET CHLAUTH(*) TYPE(BLOCKADDR) ADDRLIST('127.0.0.1') WARN(YES)",
    )
    .await;
    check(guarded.outcome(user("carol")).await, Ok("carol"));
    let operator = &guarded.world.operator;
    let key = "CHLAUTH('CH') ADDRESS('*') TYPE(ADDRESSMAP)";
    assert_eq!(
        operator.inserts("AMQ2448W"),
        ["CH", "127.0.0.1", "carol", key]
    );
    let key = "CHLAUTH('*') TYPE(BLOCKADDR)";
    assert_eq!(operator.inserts("AMQ2447W"), ["127.0.0.1", key]);
}

#[tokio::test]
async fn a_record_may_demand_a_password() {
    let guarded = with(
        "SET CHLAUTH(CH) TYPE(ADDRESSMAP) ADDRESS('127.0.0.*') USERSRC(CHANNEL) CHCKCLNT(REQUIRED)
         SET CHLAUTH(CH) TYPE(BLOCKUSER) USERLIST('nobody')",
    )
    .await;
    check(guarded.outcome(user("carol")).await, BLOCKED);
    check(
        guarded.outcome(Given::Csp("alice", "right")).await,
        Ok("alice"),
    );
    let key = "CHLAUTH('CH') ADDRESS('127.0.0.*') TYPE(ADDRESSMAP)";
    let inserts = guarded.world.operator.inserts("AMQ2449E");
    assert_eq!(inserts, ["CH", "127.0.0.1", "carol", key]);
    guarded.world.mqsc(
        "SET CHLAUTH(CH) TYPE(ADDRESSMAP) ADDRESS('127.0.0.*') USERSRC(CHANNEL) CHCKCLNT(REQDADM) ACTION(REPLACE)",
    );
    check(guarded.outcome(user("carol")).await, Ok("carol"));
    check(guarded.outcome(user("root")).await, BLOCKED);
}

#[tokio::test]
async fn a_mapped_user_is_in_messages_and_in_what_is_displayed() {
    let guarded = with("SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('carol') MCAUSER('app')").await;
    let mut client = guarded.socket().await;
    assert_eq!(user("carol").connect(&mut client).await, Reason::NONE);
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"whose").await;
    let got = client.get(queue, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(got.unwrap().md.user_identifier.text(), "app");
    assert_eq!(guarded.world.registry.status()[0].user, "app");
    let connections = guarded.world.qm.connection_status();
    assert_eq!(connections[0].application.user, "app");
}

/// Nothing is read of a blocked address; others, and connections that stand, do not notice.
#[tokio::test]
async fn a_blocked_address_is_closed_at_once() {
    let guarded = with("").await;
    let mut stands = guarded.socket().await;
    assert_eq!(user("carol").connect(&mut stands).await, Reason::NONE);
    let world = &guarded.world;
    world.mqsc("SET CHLAUTH(*) TYPE(BLOCKADDR) ADDRLIST('10.*','127.0.0.1')");
    let mut blocked = world.socket().await;
    let read = blocked.read_u8();
    let end = tokio::time::timeout(Duration::from_secs(60), read).await;
    assert!(end.expect("it is closed").is_err());
    let key = "CHLAUTH('*') TYPE(BLOCKADDR)";
    assert_eq!(world.operator.inserts("AMQ2446E"), ["127.0.0.1", key]);
    stands.open("Q1").await;
    world.mqsc("SET CHLAUTH(*) TYPE(BLOCKADDR) ADDRLIST('127.0.0.1') ACTION(REMOVE)");
    let mut again = guarded.socket().await;
    assert_eq!(user("carol").connect(&mut again).await, Reason::NONE);
}

/// An address that was blocked behind the socket's acceptance.
#[tokio::test]
async fn an_address_that_is_blocked_meanwhile_is_refused_at_mqconn() {
    let guarded = with("").await;
    let mut client = guarded.socket().await;
    let world = &guarded.world;
    world.mqsc("SET CHLAUTH(*) TYPE(BLOCKADDR) ADDRLIST('127.0.0.1')");
    let reason = user("carol").connect(&mut client).await;
    assert_eq!(reason, Reason::NOT_AUTHORIZED);
    let key = "CHLAUTH('*') TYPE(BLOCKADDR)";
    assert_eq!(world.operator.inserts("AMQ2446E"), ["127.0.0.1", key]);
}

/// A queue manager that is not told who administers.
#[tokio::test]
async fn where_nobody_can_say_who_administers_a_client_hears_2063() {
    let world = World::new().await;
    world.mqsc("ALTER QMGR CHLAUTH(ENABLED)");
    let mut client = Client::agreed(world.socket().await, &Client::<TcpStream>::offer("CH"))
        .await
        .unwrap();
    let reason = user(UNABLE).connect(&mut client).await;
    assert_eq!(reason, Reason::SECURITY_ERROR);
    let inserts = world.operator.inserts("AMQ2602E");
    assert_eq!(inserts[..2], ["CH", "127.0.0.1"]);
}

/// What a listener of the network is refused for.
#[tokio::test]
async fn a_channel_that_a_record_opens_for_somebody_is_exposed() {
    let guarded = with("").await;
    const DEF: &str = "SYSTEM.DEF.SVRCONN";
    let world = &guarded.world;
    for channel in world.qm.objects(ObjectKind::SvrConn) {
        if channel.name != DEF {
            world.mqsc(&format!("DELETE CHANNEL({})", channel.name));
        }
    }
    let exposed = || {
        let first = world.registry.exposed().into_iter().next();
        first.map(|exposed| exposed.channel)
    };
    assert_eq!(exposed(), None);
    for of in [
        "TYPE(USERMAP) CLNTUSER('alice') USERSRC(CHANNEL)",
        "TYPE(USERMAP) CLNTUSER('alice') MCAUSER('bob')",
        "TYPE(ADDRESSMAP) ADDRESS('10.0.0.*') USERSRC(CHANNEL)",
    ] {
        world.mqsc(&format!("SET CHLAUTH({DEF}) {of}"));
        assert_eq!(exposed().as_deref(), Some(DEF), "{of}");
        let (of, _) = of.rsplit_once(' ').unwrap();
        world.mqsc(&format!("SET CHLAUTH({DEF}) {of} ACTION(REMOVE)"));
        assert_eq!(exposed(), None, "{of}");
    }
    // By a channel whose MCAUSER is nobody those come in whom records give a user.
    world.mqsc("DEFINE CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('*NOACCESS')");
    assert_eq!(exposed(), None);
    world.mqsc("SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('alice') USERSRC(CHANNEL)");
    assert_eq!(exposed(), None);
    world.mqsc("SET CHLAUTH(CH) TYPE(USERMAP) CLNTUSER('carol') MCAUSER('app')");
    assert_eq!(exposed().as_deref(), Some("CH"));
    world.mqsc("ALTER QMGR CHLAUTH(DISABLED)");
    assert_eq!(exposed().as_deref(), Some(DEF));
    world.mqsc(&format!(
        "ALTER CHANNEL({DEF}) CHLTYPE(SVRCONN) MCAUSER('*NOACCESS')"
    ));
    assert_eq!(exposed(), None, "no record counts");
}
