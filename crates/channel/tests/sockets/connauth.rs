//! Users and passwords, by every way in which clients give them.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use posthaste_authentication::UserFile;
use posthaste_channel::{ConnAuth, Limits, Sources, TokenSettings};
use posthaste_engine::AuditKind;
use posthaste_env::os;
use posthaste_mqi::constants::{MQGMO_NO_SYNCPOINT, MQPMO_NO_SYNCPOINT};
use posthaste_mqi::{Chars, CompCode, Hobj, Reason};
use posthaste_wire::Request;
use posthaste_wire::client::FromServer;
use posthaste_wire::identity::{Authentication, Userid};
use tokio::net::TcpStream;

use crate::client::{Client, conn};
use crate::world::World;

type Raw = Client<TcpStream>;

/// A queue manager with users of its own: alice has the password `right`, bob `other`.
pub(crate) struct Guarded {
    pub(crate) world: World,
    connauth: Arc<ConnAuth>,
    users: UserFile,
    _folder: tempfile::TempDir,
}

fn sources(users: PathBuf, tokens: Option<TokenSettings>) -> Sources {
    Sources {
        directory_password: users.with_file_name("ldap.sth"),
        users,
        tokens,
        loopback_user: None,
    }
}

impl Guarded {
    /// `attrs` of the authentication information object.
    pub(crate) async fn new(attrs: &str) -> Guarded {
        Guarded::with(World::new().await, attrs)
    }

    fn with(world: World, attrs: &str) -> Guarded {
        Guarded::trusting(world, attrs, None)
    }

    fn trusting(world: World, attrs: &str, tokens: Option<TokenSettings>) -> Guarded {
        Guarded::made(world, attrs, |sources| sources.tokens = tokens)
    }

    /// A queue manager whose qm.ini says more.
    fn made(world: World, attrs: &str, more: impl FnOnce(&mut Sources)) -> Guarded {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("users");
        let users = UserFile::new(&path);
        users.add("alice", b"right").unwrap();
        users.add("bob", b"other").unwrap();
        let (qm, operator) = (world.qm.clone(), world.operator.clone());
        let mut sources = sources(path, None);
        more(&mut sources);
        let connauth = ConnAuth::start(qm, operator, sources, os().clock, 2).unwrap();
        world.registry.authenticate(Arc::clone(&connauth));
        let guarded = Guarded {
            world,
            connauth,
            users,
            _folder: folder,
        };
        guarded
            .world
            .mqsc("DEFINE AUTHINFO(USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) FAILDLAY(0)");
        guarded.world.mqsc("ALTER QMGR CONNAUTH(USERS)");
        guarded.demand(attrs);
        guarded
    }

    fn demand(&self, attrs: &str) {
        let alter = format!("ALTER AUTHINFO(USERS) AUTHTYPE(IDPWOS) {attrs}");
        self.world.mqsc(&alter);
        self.connauth.refresh().unwrap();
    }

    pub(crate) async fn socket(&self) -> Raw {
        let socket = self.world.socket().await;
        Client::agreed(socket, &Raw::offer("CH")).await.unwrap()
    }

    /// What an application that gives these gets; with whom it runs as, if it is let in.
    pub(crate) async fn outcome(&self, given: Given<'_>) -> Result<String, Reason> {
        let mut client = self.socket().await;
        let reason = given.connect(&mut client).await;
        let user = self.user();
        drop(client);
        self.world.admission.empty().await;
        match reason {
            Reason::NONE => Ok(user.expect("a connection")),
            reason => Err(reason),
        }
    }

    /// Of the one connection.
    fn user(&self) -> Option<String> {
        let mut connections = self.world.qm.connection_status().into_iter();
        connections.next().map(|c| c.application.user)
    }
}

/// What an application says of itself.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    /// Its process's user only.
    Process,
    /// MQCSP.
    Csp(&'a str, &'a str),
    /// Both in USERID_DATA.
    Userid(&'a str, &'a str),
    /// A token in MQCSP.
    Token(&'a str),
}

impl Given<'_> {
    pub(crate) async fn connect(self, client: &mut Raw) -> Reason {
        self.state(client);
        self.reconnect(client).await
    }

    /// Says who its process runs as.
    pub(crate) fn state(self, client: &mut Raw) {
        let id = client.id;
        let (user, password) = match self {
            Given::Process | Given::Csp(..) | Given::Token(_) => ("process", ""),
            Given::Userid(user, password) => (user, password),
        };
        let mut padded = [b' '; 12];
        padded[..password.len()].copy_from_slice(password.as_bytes());
        let userid = Userid {
            user: Chars::new(&user.to_uppercase()),
            password: padded.into(),
            long_user: Chars::new(user),
        };
        client.socket.userid(&mut client.out, id, &userid);
    }

    /// The same, on a socket that has said who the process runs as.
    async fn reconnect(self, client: &mut Raw) -> Reason {
        match self {
            Given::Csp(user, password) => {
                let (user, password) = (user.as_bytes(), password.as_bytes());
                client.authenticate(user, password).await;
            }
            Given::Token(token) => client.give_token(token.as_bytes()).await,
            Given::Process | Given::Userid(..) => {}
        }
        let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
        assert_eq!(
            outcome.comp_code == CompCode::Ok,
            outcome.reason == Reason::NONE
        );
        outcome.reason
    }
}

const WRONG: Reason = Reason::NOT_AUTHORIZED;

#[tokio::test]
async fn a_right_password_lets_in_by_either_way_and_a_wrong_one_by_none() {
    let guarded = Guarded::new("CHCKCLNT(REQUIRED) ADOPTCTX(YES)").await;
    for (given, expected) in [
        (Given::Csp("alice", "right"), Ok("alice")),
        (Given::Userid("alice", "right"), Ok("alice")),
        (Given::Csp("bob", "other"), Ok("bob")),
        (Given::Csp("alice", "wrong"), Err(WRONG)),
        (Given::Csp("alice", "other"), Err(WRONG)),
        (Given::Csp("alice", ""), Err(WRONG)),
        (Given::Csp("", "right"), Err(WRONG)),
        (Given::Csp("nobody", "right"), Err(WRONG)),
        (Given::Userid("alice", "wrong"), Err(WRONG)),
        (Given::Userid("alice", ""), Err(WRONG)),
        (Given::Process, Err(WRONG)),
    ] {
        let outcome = guarded.outcome(given).await;
        assert_eq!(outcome.as_deref().map_err(|reason| *reason), expected);
    }
    let inserts = guarded.world.operator.inserts("AMQ5534E");
    assert_eq!(inserts, ["CH", "127.0.0.1", "alice"]);
    let inserts = guarded.world.operator.inserts("AMQ5540E");
    assert_eq!(inserts, ["CH", "127.0.0.1", "USERS"]);
}

/// Where qm.ini names whom the owner's applications run as.
async fn trusting_loopback(attrs: &str) -> Guarded {
    let user = |sources: &mut Sources| sources.loopback_user = Some("app".to_owned());
    Guarded::made(World::new().await, attrs, user)
}

#[tokio::test]
async fn the_owner_needs_no_password_over_loopback_and_is_one_user_whatever_he_claims() {
    let guarded = trusting_loopback("CHCKCLNT(REQUIRED) ADOPTCTX(YES)").await;
    for (given, expected) in [
        (Given::Process, Ok("app")),
        (Given::Userid("root", ""), Ok("app")),
        (Given::Csp("alice", "right"), Ok("alice")),
        (Given::Csp("alice", "wrong"), Err(WRONG)),
        (Given::Csp("app", ""), Err(WRONG)),
        (Given::Csp("alice", ""), Err(WRONG)),
        (Given::Csp("nobody", ""), Err(WRONG)),
        (Given::Csp("", ""), Err(WRONG)),
        (Given::Userid("app", "wrong"), Err(WRONG)),
    ] {
        let outcome = guarded.outcome(given).await;
        assert_eq!(outcome.as_deref().map_err(|reason| *reason), expected);
    }
    guarded
        .world
        .mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('mqapp')");
    let outcome = guarded.outcome(Given::Process).await;
    assert_eq!(outcome.as_deref(), Ok("app"));
    guarded
        .world
        .mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('*NOACCESS')");
    assert_eq!(guarded.outcome(Given::Process).await, Err(WRONG));
}

/// Only who may give files away can try it.
#[tokio::test]
async fn another_user_needs_a_password_over_loopback() {
    let guarded = trusting_loopback("CHCKCLNT(REQUIRED) ADOPTCTX(YES)").await;
    let socket = guarded.world.socket().await;
    if std::os::unix::fs::fchown(&socket, Some(1), None).is_err() {
        println!("SKIPPED: only root makes sockets another user's");
        return;
    }
    let mut client = Client::agreed(socket, &Raw::offer("CH")).await.unwrap();
    assert_eq!(Given::Process.connect(&mut client).await, WRONG);
    drop(client);
    let socket = guarded.world.socket().await;
    std::os::unix::fs::fchown(&socket, Some(1), None).unwrap();
    let mut client = Client::agreed(socket, &Raw::offer("CH")).await.unwrap();
    let right = Given::Csp("alice", "right");
    assert_eq!(right.connect(&mut client).await, Reason::NONE);
}

#[tokio::test]
async fn what_is_demanded_is_what_chckclnt_and_adoptctx_say_when_they_were_last_read() {
    let guarded = Guarded::new("CHCKCLNT(OPTIONAL) ADOPTCTX(NO)").await;
    let right = Given::Csp("alice", "right");
    let wrong = Given::Csp("alice", "wrong");
    assert_eq!(guarded.outcome(right).await.unwrap(), "process");
    assert_eq!(guarded.outcome(Given::Process).await.unwrap(), "process");
    assert_eq!(guarded.outcome(wrong).await, Err(WRONG));
    // Nothing is read before it is asked for.
    let world = &guarded.world;
    world.mqsc("ALTER AUTHINFO(USERS) AUTHTYPE(IDPWOS) ADOPTCTX(YES) CHCKCLNT(REQDADM)");
    assert_eq!(guarded.outcome(right).await.unwrap(), "process");
    guarded.connauth.refresh().unwrap();
    assert_eq!(guarded.outcome(right).await.unwrap(), "alice");
    assert_eq!(guarded.outcome(Given::Process).await.unwrap(), "process");
    let administrator = Given::Userid("root", "");
    assert_eq!(guarded.outcome(administrator).await, Err(WRONG));
    let inserts = world.operator.inserts("AMQ5541E");
    assert_eq!(inserts, ["CH", "127.0.0.1", "root", "USERS"]);
    guarded.demand("CHCKCLNT(NONE)");
    assert_eq!(guarded.outcome(wrong).await.unwrap(), "process");
    world.mqsc("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) MCAUSER('mqapp')");
    guarded.demand("CHCKCLNT(REQUIRED)");
    assert_eq!(guarded.outcome(right).await.unwrap(), "alice");
    guarded.demand("ADOPTCTX(NO)");
    assert_eq!(guarded.outcome(right).await.unwrap(), "mqapp");
    world.mqsc("ALTER QMGR CONNAUTH(' ')");
    guarded.connauth.refresh().unwrap();
    assert_eq!(guarded.outcome(Given::Process).await.unwrap(), "mqapp");
}

#[tokio::test]
async fn an_adopted_user_is_in_messages_and_in_the_channels_status() {
    let guarded = Guarded::new("CHCKCLNT(REQUIRED)").await;
    let mut client = guarded.socket().await;
    let reason = Given::Csp("alice", "right").connect(&mut client).await;
    assert_eq!(reason, Reason::NONE);
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"whose").await;
    let got = client.get(queue, MQGMO_NO_SYNCPOINT, 0).await;
    assert_eq!(got.unwrap().md.user_identifier.text(), "alice");
    let status = guarded.world.registry.status();
    assert_eq!(status[0].user, "alice");
}

/// Whether the password was looked at again is seen by changing it in between.
#[tokio::test]
async fn credentials_are_looked_at_once_for_all_conversations_of_a_socket() {
    let guarded = Guarded::new("CHCKCLNT(REQUIRED)").await;
    for first in [
        Given::Csp("alice", "right"),
        Given::Userid("alice", "right"),
    ] {
        guarded.users.set_password("alice", b"right").unwrap();
        let mut client = guarded.socket().await;
        assert_eq!(first.connect(&mut client).await, Reason::NONE);
        guarded.users.set_password("alice", b"new").unwrap();
        for (given, expected) in [
            (Given::Csp("alice", "right"), Reason::NONE),
            // Nothing more is said of it.
            (Given::Process, Reason::NONE),
            (Given::Csp("alice", "wrong"), WRONG),
            (Given::Csp("bob", "right"), WRONG),
            (Given::Csp("bob", "other"), Reason::NONE),
            (Given::Csp("alice", "right"), Reason::NONE),
        ] {
            let id = client.socket.start_conversation(&mut client.out).unwrap();
            client.event().await.unwrap();
            client.id = id;
            assert_eq!(given.reconnect(&mut client).await, expected);
        }
        let mut users: Vec<String> = guarded
            .world
            .qm
            .connection_status()
            .into_iter()
            .map(|c| c.application.user)
            .collect();
        users.sort();
        assert_eq!(users, ["alice", "alice", "alice", "alice", "bob"]);
        // What is demanded was read again: it is looked at again.
        guarded.connauth.refresh().unwrap();
        let id = client.socket.start_conversation(&mut client.out).unwrap();
        client.event().await.unwrap();
        client.id = id;
        let again = Given::Csp("alice", "right").reconnect(&mut client).await;
        assert_eq!(again, WRONG);
        drop(client);
        guarded.world.admission.empty().await;
        assert_eq!(guarded.outcome(first).await, Err(WRONG), "another socket");
    }
}

/// After a refusal the same socket may try again.
#[tokio::test]
async fn a_wrong_password_ends_nothing() {
    let guarded = Guarded::new("CHCKCLNT(REQUIRED)").await;
    let mut client = guarded.socket().await;
    let wrong = Given::Csp("alice", "wrong").connect(&mut client).await;
    assert_eq!(wrong, WRONG);
    assert_eq!(Given::Process.reconnect(&mut client).await, WRONG);
    let right = Given::Csp("alice", "right").reconnect(&mut client).await;
    assert_eq!(right, Reason::NONE);
}

/// All on one lane: if a refusal that is held back held the lane up, nobody would come in.
#[tokio::test]
async fn faildlay_delays_whoever_is_wrong_and_nobody_else() {
    let world = World::held_on_one_lane().await;
    let guarded = Guarded::with(world, "CHCKCLNT(REQUIRED) FAILDLAY(60)");
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let mut client = guarded.socket().await;
        client.give(b"alice", b"wrong");
        client.send(Hobj::NONE, &conn("QM1"));
        client.event().await.unwrap();
        waiting.push(client);
    }
    let mut client = guarded.socket().await;
    let right = Given::Csp("alice", "right").connect(&mut client).await;
    assert_eq!(right, Reason::NONE);
    let queue = client.open("Q1").await;
    client.put(queue, MQPMO_NO_SYNCPOINT, b"at once").await;
    for client in &mut waiting {
        let nothing = tokio::time::timeout(Duration::from_millis(1), client.event()).await;
        nothing.expect_err("it is held back");
    }
    // Whoever hangs up is not waited for, in the end of the queue manager neither.
    drop(waiting);
    client.disconnect().await;
    guarded.world.admission.empty().await;
}

/// A delay that is longer than the time for connecting is not cut short by it.
#[tokio::test]
async fn a_refusal_that_is_held_back_comes() {
    let limits = Limits {
        handshake: Duration::from_millis(300),
        ..Limits::default()
    };
    let world = World::with(limits).await;
    let guarded = Guarded::with(world, "CHCKCLNT(REQUIRED) FAILDLAY(1)");
    let wrong = guarded.outcome(Given::Csp("alice", "wrong")).await;
    assert_eq!(wrong, Err(WRONG));
}

/// A socket on which somebody is refused time and again does not stay: while one MQCONN waits for its refusal the next is there.
#[tokio::test]
async fn who_is_refused_time_and_again_does_not_stay() {
    let limits = Limits {
        handshake: Duration::from_secs(2),
        checks: Duration::from_secs(5),
        ..Limits::default()
    };
    let world = World::with(limits).await;
    let guarded = Guarded::with(world, "CHCKCLNT(REQUIRED) FAILDLAY(4)");
    let mut client = guarded.socket().await;
    let guess = |client: &mut Raw, id: u32| {
        client.id = id;
        client.give(b"alice", b"wrong");
        client.send(Hobj::NONE, &conn("QM1"));
    };
    let mut started = Vec::new();
    for _ in 0..2 {
        started.push(client.socket.start_conversation(&mut client.out).unwrap());
        client.event().await.unwrap();
    }
    let [first, second] = started[..] else {
        panic!("two were started");
    };
    guess(&mut client, first);
    client.event().await.unwrap();
    // Somewhat behind it, so that one of the two waits at any time.
    let nothing = tokio::time::timeout(Duration::from_secs(1), client.event()).await;
    nothing.expect_err("it is held back");
    guess(&mut client, second);
    let mut refused = 0;
    loop {
        match client.event().await {
            Ok(FromServer::Reply { id, .. }) => {
                refused += 1;
                assert!(refused < 20, "it stays");
                guess(&mut client, id);
            }
            Ok(FromServer::Ended(_)) | Err(_) => break,
            Ok(_) => {}
        }
    }
    guarded.world.admission.empty().await;
}

#[tokio::test]
async fn what_cannot_be_checked_lets_nobody_in_and_nobody_is_blamed() {
    let guarded = Guarded::new("CHCKCLNT(REQUIRED)").await;
    let right = Given::Csp("alice", "right");
    std::fs::write(guarded.users.path(), "no users\n").unwrap();
    assert_eq!(guarded.outcome(right).await, Err(Reason::SECURITY_ERROR));
    let [channel, conname, why] = &guarded.world.operator.inserts("AMQ2602E")[..] else {
        panic!("three inserts")
    };
    assert_eq!((&**channel, &**conname), ("CH", "127.0.0.1"));
    assert!(why.contains("line 1"), "{why}");
    std::fs::remove_file(guarded.users.path()).unwrap();
    assert_eq!(guarded.outcome(right).await, Err(Reason::SECURITY_ERROR));
    // CONNAUTH names nothing that could check anybody.
    guarded
        .world
        .mqsc("ALTER QMGR CONNAUTH(SYSTEM.DEFAULT.AUTHINFO.CRLLDAP)");
    let why = guarded.connauth.refresh().unwrap_err();
    assert!(why.contains("SYSTEM.DEFAULT.AUTHINFO.CRLLDAP"), "{why}");
    assert_eq!(guarded.world.operator.inserts("AMQ2604E")[1], why);
    // What was demanded before still is.
    assert_eq!(guarded.outcome(Given::Process).await, Err(WRONG));
    // Where nothing was demanded, it closes the queue manager.
    guarded.world.mqsc("ALTER QMGR CONNAUTH(' ')");
    guarded.connauth.refresh().unwrap();
    assert!(guarded.outcome(Given::Process).await.is_ok());
    guarded
        .world
        .mqsc("ALTER QMGR CONNAUTH(SYSTEM.DEFAULT.AUTHINFO.CRLLDAP)");
    guarded.connauth.refresh().unwrap_err();
    let refused = Err(Reason::SECURITY_ERROR);
    assert_eq!(guarded.outcome(Given::Process).await, refused);
    // A queue manager that starts so is closed.
    let (qm, operator) = (guarded.world.qm.clone(), guarded.world.operator.clone());
    let path = guarded.users.path().to_owned();
    let sources = sources(path, None);
    let started = ConnAuth::start(qm, operator, sources, os().clock, 1).unwrap();
    let world = World::new().await;
    world.registry.authenticate(started);
    let mut client = Client::agreed(world.socket().await, &Raw::offer("CH"))
        .await
        .unwrap();
    let reason = Given::Process.connect(&mut client).await;
    assert_eq!(reason, Reason::SECURITY_ERROR);
}

#[tokio::test]
async fn who_guesses_is_not_looked_at_any_more_and_others_are() {
    let guarded = Guarded::new("CHCKCLNT(REQUIRED)").await;
    let mut client = guarded.socket().await;
    let wrong = Given::Csp("alice", "wrong");
    assert_eq!(wrong.connect(&mut client).await, WRONG);
    // As fast as that an address has no more tries, however long it takes to look at one.
    let mut sockets = Vec::new();
    for _ in 0..120 {
        let mut client = guarded.socket().await;
        client.give(b"alice", b"wrong");
        client.send(Hobj::NONE, &conn("QM1"));
        client.flush().await;
        sockets.push(client);
    }
    for mut client in sockets {
        client.event().await.unwrap();
        let (outcome, _) = client.reply(client.id).await;
        assert_eq!(outcome.reason, WRONG);
    }
    let inserts = guarded.world.operator.inserts("AMQ2601E");
    let this = format!(
        "user {} of this machine",
        std::fs::metadata("/proc/self").unwrap().uid()
    );
    assert_eq!(inserts, ["CH", &this, "alice"]);
    // Another user of the machine comes in by the same address; only who may give files away can try it.
    let socket = guarded.world.socket().await;
    if std::os::unix::fs::fchown(&socket, Some(1), None).is_err() {
        println!("SKIPPED: only root makes sockets another user's");
        return;
    }
    let mut client = Client::agreed(socket, &Raw::offer("CH")).await.unwrap();
    let right = Given::Csp("alice", "right").connect(&mut client).await;
    assert_eq!(right, Reason::NONE);
    let disconnected = client.call(Hobj::NONE, &Request::Disc).await;
    assert_eq!(disconnected.0.comp_code, CompCode::Ok);
}

/// As long as tokens may be, which is longer than whatever else comes before MQCONN.
#[tokio::test]
async fn a_token_of_a_trusted_issuer_lets_its_user_in() {
    let folder = tempfile::tempdir().unwrap();
    let issuer = Issuer::make();
    let keys = folder.path().join("issuers.pem");
    std::fs::write(&keys, issuer.public()).unwrap();
    let trusted = TokenSettings {
        keys,
        user_claim: String::new(),
        issuer: String::new(),
        audience: String::new(),
    };
    let attrs = "CHCKCLNT(REQUIRED) ADOPTCTX(YES)";
    let guarded = Guarded::trusting(World::new().await, attrs, Some(trusted));
    let token = issuer.token("app1", 4_000_000_000, 7_000);
    assert!(
        token.len() > 7_000 && token.len() <= 8_192,
        "{}",
        token.len()
    );
    assert_eq!(guarded.outcome(Given::Token(&token)).await.unwrap(), "app1");
    let right = Given::Csp("alice", "right");
    assert_eq!(guarded.outcome(right).await.unwrap(), "alice");
    let over = issuer.token("app1", 1_000_000_000, 10);
    let strangers = Issuer::make().token("app1", 4_000_000_000, 10);
    for token in [&*over, &strangers, "no.token.this", "x"] {
        assert_eq!(guarded.outcome(Given::Token(token)).await, Err(WRONG));
    }
    let inserts = guarded.world.operator.inserts("AMQ2605E");
    assert_eq!(inserts, ["CH", "127.0.0.1", "its time is over"]);
    // One that is too long is refused as others are.
    let long = issuer.token("app1", 4_000_000_000, 12_000);
    assert_eq!(guarded.outcome(Given::Token(&long)).await, Err(WRONG));
    let event = guarded.world.operator.audited();
    let found = (event.message, event.because.as_str());
    assert_eq!(found, ("AMQ2605E", "it is too long"));
    // A second conversation with the same one, which is not looked at again.
    let mut client = guarded.socket().await;
    for _ in 0..2 {
        let reason = Given::Token(&token).reconnect(&mut client).await;
        assert_eq!(reason, Reason::NONE);
        client.id = client.socket.start_conversation(&mut client.out).unwrap();
        client.event().await.unwrap();
    }
    drop(client);
    guarded.world.admission.empty().await;
    // Where nothing is checked nobody takes it at its word.
    guarded.world.mqsc("ALTER QMGR CONNAUTH(' ')");
    guarded.connauth.refresh().unwrap();
    assert_eq!(
        guarded.outcome(Given::Token(&token)).await.unwrap(),
        "process"
    );
}

/// An audit hears of them, too.
#[tokio::test]
async fn credentials_that_break_the_protocol_are_a_refused_connection() {
    let guarded = Guarded::new("CHCKCLNT(OPTIONAL)").await;
    let user = |length| Authentication {
        user: vec![b'u'; length],
        ..Authentication::default()
    };
    for (credentials, because) in [
        // Longer than a segment may be, and than a user may be.
        (user(40_000), "ConauthInfo came before MQCONN"),
        (user(2_000), "the authentication data"),
    ] {
        let mut client = guarded.socket().await;
        client
            .socket
            .authenticate(&mut client.out, client.id, &credentials);
        // Until the connection is closed.
        let closed = async { while client.event().await.is_ok() {} };
        let limit = Duration::from_secs(60);
        tokio::time::timeout(limit, closed).await.unwrap();
        drop(client);
        guarded.world.admission.empty().await;
        let event = guarded.world.operator.audited();
        assert_eq!(event.kind, AuditKind::ConnectionRefused);
        let found = (event.message, event.who.channel.as_str());
        assert_eq!(found, ("AMQ9504E", "CH"), "{event:?}");
        assert_eq!(event.who.conname, "127.0.0.1");
        assert!(event.because.contains(because), "{event:?}");
    }
}

#[tokio::test]
async fn a_token_is_refused_where_no_issuer_is_trusted() {
    let guarded = Guarded::new("CHCKCLNT(OPTIONAL)").await;
    let token = Issuer::make().token("app1", 4_000_000_000, 10);
    assert_eq!(guarded.outcome(Given::Token(&token)).await, Err(WRONG));
    let [_, _, why] = &guarded.world.operator.inserts("AMQ2605E")[..] else {
        panic!("three inserts")
    };
    assert!(why.contains("AuthToken"), "{why}");
}

/// Whoever issues tokens, with ES256.
struct Issuer(openssl::pkey::PKey<openssl::pkey::Private>);

impl Issuer {
    fn make() -> Issuer {
        let curve = openssl::nid::Nid::X9_62_PRIME256V1;
        let group = openssl::ec::EcGroup::from_curve_name(curve).unwrap();
        let key = openssl::ec::EcKey::generate(&group).unwrap();
        Issuer(openssl::pkey::PKey::from_ec_key(key).unwrap())
    }

    fn public(&self) -> Vec<u8> {
        self.0.public_key_to_pem().unwrap()
    }

    /// With so many bytes, about, that say nothing.
    fn token(&self, user: &str, end: i64, filler: usize) -> String {
        let encoded = |bytes: &[u8]| {
            let text = openssl::base64::encode_block(bytes);
            text.replace('+', "-").replace('/', "_").replace('=', "")
        };
        let more = "x".repeat(filler * 3 / 4);
        let claims = format!(r#"{{"sub":"{user}","exp":{end},"more":"{more}"}}"#);
        let header = encoded(br#"{"alg":"ES256"}"#);
        let signed = format!("{header}.{}", encoded(claims.as_bytes()));
        let digest = openssl::hash::MessageDigest::sha256();
        let mut signer = openssl::sign::Signer::new(digest, &self.0).unwrap();
        let made = signer.sign_oneshot_to_vec(signed.as_bytes()).unwrap();
        let made = openssl::ecdsa::EcdsaSig::from_der(&made).unwrap();
        let half = |n: &openssl::bn::BigNumRef| n.to_vec_padded(32).unwrap();
        let signature = [half(made.r()), half(made.s())].concat();
        format!("{signed}.{}", encoded(&signature))
    }
}
