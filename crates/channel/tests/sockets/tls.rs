//! Clients that use TLS: who is let in, and who is refused with which status and message.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use posthaste_channel::{Limits, Security};
use posthaste_command::{Attrs, ObjectKind, Value};
use posthaste_mqi::constants::{MQCACH_SSL_CIPHER_SPEC, MQCACH_SSL_PEER_NAME, MQPMO_NO_SYNCPOINT};
use posthaste_mqi::{Hobj, Reason};
use posthaste_tls::development::{Issued, KeyKind, Subject};
use posthaste_tls::{
    Allowed, CIPHER_SPECS, Connector, Failure, KeyStore, Machine, Plain, Progress, Reach,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::TcpStream;

use crate::client::{Client, Fate, conn};
use crate::world::World;

const DAY: i64 = 86_400;
const TIMEOUT: Duration = Duration::from_secs(60);

/// An authority, and a queue manager whose key repository it has issued.
struct Site {
    folder: TempDir,
    authority: Issued,
}

fn now() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

fn subject<'a>(name: &'a [(&'a str, &'a str)], key: KeyKind, days: i64) -> Subject<'a> {
    Subject {
        name,
        hosts: &[],
        key,
        valid: (now() - 2 * DAY, now() + days * DAY),
    }
}

impl Site {
    fn new() -> Site {
        Site::of(KeyKind::Ec)
    }

    fn of(key: KeyKind) -> Site {
        let authority = Issued::authority(&subject(&[("CN", "authority")], key, 9));
        Site {
            folder: tempfile::tempdir().unwrap(),
            authority: authority.unwrap(),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// A repository with certificates of these labels, each for its label.
    fn store(&self, file: &str, labels: &[(&str, KeyKind)], days: i64) -> PathBuf {
        let mut pem = self.authority.certificate_pem().unwrap();
        for (label, key) in labels {
            let name = [("O", "Tests"), ("OU", "Applications"), ("CN", label)];
            let issued = self.authority.issue(&subject(&name, *key, days)).unwrap();
            pem.extend(format!("friendlyName: {label}\n").bytes());
            pem.extend(issued.certificate_pem().unwrap());
            pem.extend(issued.key_pem().unwrap());
        }
        self.write(file, &pem)
    }

    /// A queue manager with certificates for both kinds of key.
    async fn world(&self) -> World {
        self.world_with(KeyKind::Ec).await
    }

    async fn world_with(&self, ec: KeyKind) -> World {
        let world = World::with(Limits::default()).await;
        let both = [("ibmwebspheremqqm1", KeyKind::Rsa), ("ec", ec)];
        let store = self.store("key.pem", &both, 5);
        let operator = world.operator.clone();
        let security = Security::start(world.qm.clone(), operator, store, 1).unwrap();
        world.registry.secure(security);
        world
    }

    fn client(&self, days: i64) -> KeyStore {
        self.client_with(KeyKind::Ec, days)
    }

    fn client_with(&self, key: KeyKind, days: i64) -> KeyStore {
        let path = self.store("client.pem", &[("app1", key)], days);
        KeyStore::load(&path, None).unwrap()
    }

    /// Trusts the authority, and has no certificate.
    fn nobody(&self) -> KeyStore {
        let path = self.store("nobody.pem", &[], 0);
        KeyStore::load(&path, None).unwrap()
    }
}

fn connector(store: &KeyStore, spec: &str) -> Connector {
    let reach = Reach {
        store,
        label: None,
        otherwise: "",
        allowed: Allowed::parse(spec).unwrap(),
    };
    Connector::new(reach).unwrap()
}

/// Shakes hands; then what is written to the stream goes out encrypted, and what comes is read from it.
async fn secure(
    mut socket: TcpStream,
    connector: &Connector,
    sni: &str,
) -> Result<DuplexStream, Failure> {
    let mut machine = Machine::connect(connector, sni).unwrap();
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let progress = machine.handshake();
        let out = std::mem::take(machine.output());
        socket.write_all(&out).await.unwrap();
        if progress? == Progress::Done {
            break;
        }
        match socket.read(&mut buffer).await.unwrap_or(0) {
            0 => machine.lost(),
            length => machine.receive(&buffer[..length]),
        }
    }
    let (near, far) = duplex(1 << 20);
    drop(tokio::spawn(pump(machine, socket, far)));
    Ok(near)
}

async fn pump(mut machine: Machine, mut socket: TcpStream, mut plain: DuplexStream) {
    let (mut come, mut go) = (vec![0; 32 * 1024], vec![0; 32 * 1024]);
    loop {
        tokio::select! {
            length = socket.read(&mut come) => match length {
                Ok(length) if length > 0 => machine.receive(&come[..length]),
                _ => return,
            },
            length = plain.read(&mut go) => match length {
                Ok(length) if length > 0 => {
                    let mut rest = &go[..length];
                    while !rest.is_empty() {
                        let taken = machine.write(rest).unwrap();
                        rest = &rest[taken..];
                    }
                }
                _ => return,
            },
        }
        loop {
            match machine.read(&mut come) {
                Ok(Plain::Bytes(length)) => plain.write_all(&come[..length]).await.unwrap(),
                Ok(Plain::Waiting) => break,
                _ => return,
            }
        }
        let out = std::mem::take(machine.output());
        if socket.write_all(&out).await.is_err() {
            return;
        }
    }
}

type Encrypted = Client<DuplexStream>;

/// Proposes the channel CH; `sni` is the channel named in the handshake.
async fn propose(world: &World, connector: &Connector, sni: &str) -> Result<Encrypted, Fate> {
    let stream = secure(world.socket().await, connector, sni).await.unwrap();
    Client::agreed(stream, &Encrypted::offer("CH")).await
}

async fn refused(world: &World, connector: &Connector, sni: &str) -> Reason {
    match propose(world, connector, sni).await {
        Err(Fate::Refused(status)) => status.refusal(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was taken"),
    }
}

fn set(world: &World, attributes: &str) {
    world.mqsc(&format!("ALTER CHANNEL(CH) CHLTYPE(SVRCONN) {attributes}"));
}

/// Stores an attribute of the channel that no command has looked at.
async fn store_unchecked(world: &World, selector: i32, value: &str) {
    let mut attrs = Attrs::default();
    attrs.set(selector, Value::Text(value.to_owned()));
    let altered = world
        .qm
        .alter(ObjectKind::SvrConn, "CH", &attrs, false)
        .await;
    altered.unwrap();
}

#[tokio::test]
async fn every_cipher_spec_reaches_a_channel_that_names_it_and_is_shown() {
    let site = Site::new();
    let world = site.world().await;
    let client = site.client(5);
    for spec in &CIPHER_SPECS {
        let label = if spec.name.contains("ECDSA") {
            "ec"
        } else {
            ""
        };
        set(
            &world,
            &format!("SSLCIPH({}) CERTLABL('{label}')", spec.name),
        );
        for sni in ["CH", "OTHER"] {
            if sni == "OTHER" && !label.is_empty() {
                continue;
            }
            let stream = secure(world.socket().await, &connector(&client, spec.name), sni).await;
            let mut client = Encrypted::connected(stream.unwrap(), &Encrypted::offer("CH")).await;
            let status = world.registry.status().pop().unwrap();
            let tls = status.tls.unwrap();
            assert_eq!(tls.spec.name, spec.name);
            let partner = tls.partner.unwrap().subject.to_string();
            assert!(
                partner.ends_with("CN=app1,OU=Applications,O=Tests"),
                "{partner}"
            );
            client.flush().await;
            drop(client);
            world.admission.empty().await;
        }
    }
}

#[tokio::test]
async fn whoever_does_not_meet_what_the_channel_demands_is_refused() {
    let site = Site::new();
    let world = site.world().await;
    let (app, nobody) = (site.client(5), site.nobody());
    let any = |store| connector(store, "ANY_TLS12_OR_HIGHER");
    let last = || world.operator.channels().pop();
    set(&world, "SSLCIPH('') SSLPEER('')");
    assert_eq!(refused(&world, &any(&app), "CH").await, Reason(2397));
    assert_eq!(last(), Some("AMQ9635E"), "TLS on a plain channel");

    set(&world, "SSLCIPH(TLS_AES_256_GCM_SHA384) SSLCAUTH(REQUIRED)");
    let other = connector(&app, "TLS_AES_128_GCM_SHA256");
    assert_eq!(refused(&world, &other, "OTHER").await, Reason(2397));
    assert_eq!(last(), Some("AMQ9631E"), "another CipherSpec");
    let named = secure(world.socket().await, &other, "CH").await;
    assert!(matches!(named.err(), Some(Failure::Alert(_))));
    world.admission.empty().await;
    assert_eq!(
        last(),
        Some("AMQ9616E"),
        "another CipherSpec, and the channel is named"
    );

    assert_eq!(refused(&world, &any(&nobody), "CH").await, Reason(2397));
    assert_eq!(last(), Some("AMQ9637E"), "no certificate");
    set(&world, "SSLCAUTH(OPTIONAL)");
    assert!(propose(&world, &any(&nobody), "CH").await.is_ok());
    set(&world, "SSLPEER('CN=app1')");
    assert_eq!(refused(&world, &any(&nobody), "CH").await, Reason(2397));
    assert_eq!(last(), Some("AMQ9637E"), "no certificate to match");
    assert!(propose(&world, &any(&app), "CH").await.is_ok());
    for (peer, message) in [
        ("CN=app2", "AMQ9636E"),
        ("OU=Tests,CN=*", "AMQ9636E"),
        // As an earlier release has stored it: a command refuses it.
        ("PHONE=1", "AMQ9640E"),
    ] {
        store_unchecked(&world, MQCACH_SSL_PEER_NAME, peer).await;
        assert_eq!(refused(&world, &any(&app), "CH").await, Reason(2397));
        assert_eq!(last(), Some(message), "{peer}");
    }
    set(&world, "SSLPEER('') CERTLABL('ec') SSLCIPH(ANY_TLS13)");
    assert!(propose(&world, &any(&app), "CH").await.is_ok());
    assert_eq!(refused(&world, &any(&app), "OTHER").await, Reason(2397));
    assert_eq!(last(), Some("AMQ9673E"));
    set(&world, "CERTLABL('')");
    store_unchecked(&world, MQCACH_SSL_CIPHER_SPEC, "TLS_UNKNOWN").await;
    assert_eq!(refused(&world, &any(&app), "CH").await, Reason(2397));
    assert_eq!(last(), Some("AMQ9635E"));
}

/// What the operator has read when nobody is connected any more.
async fn heard_of(world: &World) -> Option<&'static str> {
    world.admission.empty().await;
    world.operator.channels().pop()
}

#[tokio::test]
async fn bad_certificates_and_bad_bytes_end_the_handshake_with_one_message() {
    let site = Site::new();
    let world = site.world().await;
    set(&world, "SSLCIPH(ANY_TLS12_OR_HIGHER)");
    for version in ["ANY_TLS12", "ANY_TLS13"] {
        let expired = connector(&site.client(-1), version);
        let stream = secure(world.socket().await, &expired, "CH").await;
        // A client of TLS 1.3 hears of it after its part.
        drop(stream);
        assert_eq!(heard_of(&world).await, Some("AMQ9633E"), "{version}");
        let event = world.operator.audited();
        let name = &event.who.certificate;
        assert_eq!(event.who.channel, "CH", "{version}");
        assert!(name.contains(",CN=app1,"), "{version}: {name}");
        assert!(event.because.contains("expired"), "{version}: {event:?}");
    }
    let before = world.operator.channels().len();
    let mut socket = world.socket().await;
    socket
        .write_all(&[22, 3, 1, 0, 4, 9, 9, 9, 9])
        .await
        .unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(TIMEOUT, socket.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(rest.first(), Some(&21), "an alert");
    drop(socket);
    assert_eq!(heard_of(&world).await, Some("AMQ9661E"));
    assert_eq!(world.operator.channels().len(), before + 1);
    // A plain client, and one whose bytes are changed after the handshake.
    assert!(matches!(
        Client::agreed(world.socket().await, &Client::<TcpStream>::offer("CH")).await,
        Err(Fate::Refused(status)) if status.refusal() == Reason(2397)
    ));
    assert_eq!(heard_of(&world).await, Some("AMQ9639E"));
}

/// A client's first message that offers no later version than 3.`minor` of SSL's numbering, with a CipherSpec that is here.
fn hello(minor: u8) -> Vec<u8> {
    let body = [&[3, minor], &[7; 32][..], &[0, 0, 2, 0xC0, 0x2F, 1, 0]].concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, minor, 0, length + 4, 1, 0, 0, length], &body[..]].concat()
}

/// Shakes hands for CH; gives the socket with what would be encrypted for it.
async fn raw(world: &World, connector: &Connector) -> (TcpStream, Machine) {
    let mut machine = Machine::connect(connector, "CH").unwrap();
    let mut socket = world.socket().await;
    let mut buffer = vec![0; 32 * 1024];
    while machine.handshake().unwrap() != Progress::Done {
        let out = std::mem::take(machine.output());
        socket.write_all(&out).await.unwrap();
        let length = socket.read(&mut buffer).await.unwrap();
        machine.receive(&buffer[..length]);
    }
    let out = std::mem::take(machine.output());
    socket.write_all(&out).await.unwrap();
    (socket, machine)
}

/// Old versions, and damage after the handshake: one message each, an alert, and whoever is connected goes on.
#[tokio::test]
async fn old_versions_and_damaged_records_end_their_own_connection_only() {
    let site = Site::new();
    let world = site.world().await;
    set(&world, "SSLCIPH(ANY_TLS12_OR_HIGHER) SSLCAUTH(REQUIRED)");
    let any = connector(&site.client(5), "ANY_TLS12_OR_HIGHER");
    let mut other = propose(&world, &any, "CH").await.unwrap();
    let (outcome, _) = other.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(outcome.reason, Reason::NONE);
    let queue = other.open("Q1").await;
    let mut damaged = Vec::new();
    for minor in 0..3 {
        damaged.push((world.socket().await, hello(minor), "AMQ9616E"));
    }
    for spec in ["TLS_AES_256_GCM_SHA384", "ECDHE_RSA_AES_256_CBC_SHA384"] {
        let connector = connector(&site.client(5), spec);
        let (socket, mut machine) = raw(&world, &connector).await;
        machine.write(b"changed on its way").unwrap();
        let mut record = std::mem::take(machine.output());
        *record.last_mut().unwrap() ^= 1;
        damaged.push((socket, record, "AMQ9661E"));
        let (socket, _) = raw(&world, &connector).await;
        damaged.push((socket, b"no record at all".to_vec(), "AMQ9661E"));
    }
    for (number, (mut socket, bytes, message)) in damaged.into_iter().enumerate() {
        let before = world.operator.channels().len();
        socket.write_all(&bytes).await.unwrap();
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(TIMEOUT, socket.read_to_end(&mut rest));
        ended.await.unwrap().unwrap();
        assert!(!rest.is_empty(), "{number}: an alert");
        let reported = world.operator.channels().split_off(before);
        assert_eq!(reported, [message], "{number}");
        other
            .put(queue, MQPMO_NO_SYNCPOINT, b"as if nothing were")
            .await;
    }
}

#[tokio::test]
async fn a_channel_whose_certificate_is_missing_is_not_served_with_another() {
    let site = Site::new();
    let world = site.world().await;
    set(&world, "SSLCIPH(ANY_TLS12_OR_HIGHER) CERTLABL('nope')");
    let any = connector(&site.client(5), "ANY_TLS12_OR_HIGHER");
    assert!(secure(world.socket().await, &any, "CH").await.is_err());
    assert_eq!(heard_of(&world).await, Some("AMQ9657E"));
    // The others are.
    assert!(secure(world.socket().await, &any, "OTHER").await.is_ok());
    set(&world, "CERTLABL('')");
    assert!(propose(&world, &any, "CH").await.is_ok());
}

#[tokio::test]
async fn a_repository_that_is_missing_is_told_and_found_when_it_is_there() {
    let site = Site::new();
    let world = World::with(Limits::default()).await;
    let store = site.folder.path().join("ssl");
    let operator = world.operator.clone();
    let security = Security::start(world.qm.clone(), operator, store.clone(), 2).unwrap();
    world.registry.secure(Arc::clone(&security));
    set(&world, "SSLCIPH(ANY_TLS12_OR_HIGHER)");
    let any = connector(&site.client(5), "ANY_TLS12_OR_HIGHER");
    assert!(secure(world.socket().await, &any, "CH").await.is_err());
    assert_eq!(heard_of(&world).await, Some("AMQ9657E"));
    assert!(security.refresh().is_err());
    let keys = site.store("ssl.pem", &[("first", KeyKind::Ec)], 5);
    assert!(
        propose(&world, &any, "CH").await.is_ok(),
        "no command was needed"
    );
    // Another certificate is shown from REFRESH SECURITY on.
    let shown = || async {
        let mut machine = Machine::connect(&any, "CH").unwrap();
        let mut socket = world.socket().await;
        let mut buffer = vec![0; 32 * 1024];
        while machine.handshake().unwrap() != Progress::Done {
            let out = std::mem::take(machine.output());
            socket.write_all(&out).await.unwrap();
            let length = socket.read(&mut buffer).await.unwrap();
            machine.receive(&buffer[..length]);
        }
        let partner = machine.agreed().unwrap().unwrap().partner.unwrap();
        partner.subject.part("CN").unwrap().to_owned()
    };
    assert_eq!(shown().await, "first");
    assert_eq!(site.store("ssl.pem", &[("second", KeyKind::Ec)], 5), keys);
    assert_eq!(shown().await, "first");
    security.refresh().unwrap();
    assert_eq!(shown().await, "second");
    let mut connected = propose(&world, &any, "CH").await.unwrap();
    let (outcome, _) = connected.call(Hobj::NONE, &conn("QM1")).await;
    assert_eq!(outcome.reason, Reason::NONE);
    break_file(&keys);
    assert!(security.refresh().is_err());
    assert_eq!(shown().await, "second", "what was read before stays in use");
    connected.open("Q1").await;
}

fn break_file(path: &Path) {
    std::fs::write(path, "nothing").unwrap();
}

/// Each half-finished handshake keeps a socket and what it has sent; those that go on are served meanwhile.
#[tokio::test]
async fn half_open_handshakes_hold_nobody_up() {
    let site = Site::new();
    let world = site.world().await;
    set(&world, "SSLCIPH(ANY_TLS12_OR_HIGHER)");
    let any = connector(&site.client(5), "ANY_TLS12_OR_HIGHER");
    let mut hello = Machine::connect(&any, "CH").unwrap();
    assert_eq!(hello.handshake(), Ok(Progress::Waiting));
    let hello = std::mem::take(hello.output());
    let mut half_open = Vec::new();
    for number in 0..400 {
        let mut socket = world.socket().await;
        // Some have sent a byte, some nearly all, some all.
        let length = [1, hello.len() - 1, hello.len()][number % 3];
        socket.write_all(&hello[..length]).await.unwrap();
        half_open.push(socket);
    }
    for _ in 0..5 {
        let client = tokio::time::timeout(TIMEOUT, propose(&world, &any, "CH"));
        assert!(client.await.unwrap().is_ok());
    }
    drop(half_open);
    tokio::time::timeout(TIMEOUT, world.admission.empty())
        .await
        .unwrap();
}

/// Channel authentication records by the name of the certificate, which comes before the user and the address.
#[tokio::test]
async fn certificates_are_mapped_and_blocked_by_their_names() {
    let site = Site::new();
    let world = site.world().await;
    set(&world, "SSLCIPH(ANY_TLS13) SSLCAUTH(OPTIONAL)");
    for line in [
        "ALTER QMGR CHLAUTH(ENABLED)",
        "SET CHLAUTH(*) TYPE(BLOCKUSER) USERLIST('nobody') ACTION(REPLACE)",
        "SET CHLAUTH(CH) TYPE(ADDRESSMAP) ADDRESS('127.*') MCAUSER('near')",
        "SET CHLAUTH(CH) TYPE(SSLPEERMAP) SSLPEER('O=Tests') MCAUSER('anyone')",
        "SET CHLAUTH(CH) TYPE(SSLPEERMAP) SSLPEER('CN=app*') MCAUSER('app')",
    ] {
        world.mqsc(line);
    }
    let (known, nobody) = (site.client(5), site.nobody());
    let mut outcomes = Vec::new();
    for (line, store) in [
        ("PING QMGR", &known),
        ("PING QMGR", &nobody),
        (
            "SET CHLAUTH(CH) TYPE(SSLPEERMAP) SSLPEER('CN=app*') SSLCERTI('CN=other') MCAUSER('x')",
            &known,
        ),
        (
            "SET CHLAUTH(CH) TYPE(SSLPEERMAP) SSLPEER('CN=app*') SSLCERTI('CN=authority') MCAUSER('issued')",
            &known,
        ),
        (
            "SET CHLAUTH(CH) TYPE(SSLPEERMAP) SSLPEER('CN=app1') USERSRC(NOACCESS)",
            &known,
        ),
        ("PING QMGR", &nobody),
    ] {
        world.mqsc(line);
        let connector = connector(store, "ANY_TLS13");
        let mut client = propose(&world, &connector, "CH").await.unwrap();
        let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
        let connections = world.qm.connection_status();
        outcomes.push(match outcome.reason {
            Reason::NONE => connections[0].application.user.clone(),
            reason => reason.0.to_string(),
        });
        drop(client);
        world.admission.empty().await;
    }
    assert_eq!(outcomes, ["app", "near", "app", "issued", "2035", "near"]);
    let key = "CHLAUTH('CH') SSLPEER('CN=\"app1\"') TYPE(SSLPEERMAP)";
    assert_eq!(world.operator.inserts("AMQ9777E")[3], key);
}

#[tokio::test]
async fn certificates_that_come_to_their_end_are_told_of_once_a_day() {
    let long_lived = subject(&[("CN", "authority")], KeyKind::Ec, 400);
    let site = Site {
        folder: tempfile::tempdir().unwrap(),
        authority: Issued::authority(&long_lived).unwrap(),
    };
    let world = World::with(Limits::default()).await;
    let labels = [("ibmwebspheremqqm1", KeyKind::Rsa)];
    let (store, operator) = (site.store("key.pem", &labels, 31), world.operator.clone());
    let security = Security::start(world.qm.clone(), operator, store, 1).unwrap();
    // One moment for all of it: some seconds less than whole days are left.
    let base = now() + 10;
    let reported = |days: i64| {
        let all = || world.operator.beginning_with("AMQ265");
        let before = all().len();
        security.look_after_certificates(base + days * DAY);
        all().split_off(before)
    };
    assert!(reported(20).is_empty(), "no channel wants TLS");
    set(&world, "SSLCIPH(ANY_TLS13)");
    assert!(reported(-1).is_empty(), "there is time");
    assert_eq!(reported(2), ["AMQ2650W"]);
    let [label, subject, days] = &world.operator.inserts("AMQ2650W")[..] else {
        panic!("three inserts");
    };
    assert_eq!((label.as_str(), days.as_str()), ("ibmwebspheremqqm1", "28"));
    assert!(subject.contains("ibmwebspheremqqm1"), "{subject}");
    assert!(reported(2).is_empty(), "the same day");
    assert_eq!(reported(3), ["AMQ2650W"]);
    security.refresh().unwrap();
    assert_eq!(reported(3), ["AMQ2650W"], "read again");
    assert_eq!(reported(35), ["AMQ2651E"]);
}

/// SSLFIPS and SUITEB leave the algorithms that they approve of, and a channel that asks for another one is served to nobody.
#[tokio::test]
async fn only_approved_algorithms_are_agreed_on_where_that_is_asked_for() {
    const CHACHA: &str = "TLS_CHACHA20_POLY1305_SHA256";
    const EC_128: &str = "ECDHE_ECDSA_AES_128_GCM_SHA256";
    const EC_192: &str = "ECDHE_ECDSA_AES_256_GCM_SHA384";
    const CBC: &str = "ECDHE_ECDSA_AES_256_CBC_SHA384";
    const RSA: &str = "ECDHE_RSA_AES_256_GCM_SHA384";
    let nothing = Some("AMQ9616E");
    for (asked, spec, refused) in [
        ("SSLFIPS(NO)", CHACHA, None),
        ("SSLFIPS(YES)", CHACHA, nothing),
        ("SSLFIPS(YES)", "TLS_AES_256_GCM_SHA384", None),
        ("SUITEB(NONE)", CBC, None),
        ("SUITEB(128_BIT)", EC_128, None),
        // The strengths are the least ones.
        ("SUITEB(128_BIT)", EC_192, None),
        ("SUITEB(128_BIT)", CBC, nothing),
        ("SUITEB(128_BIT)", RSA, nothing),
        ("SUITEB(128_BIT)", "TLS_AES_128_GCM_SHA256", nothing),
        ("SUITEB(128_BIT,192_BIT)", EC_128, None),
        ("SUITEB(128_BIT,192_BIT)", CBC, nothing),
        ("SUITEB(192_BIT)", EC_192, None),
        ("SUITEB(192_BIT)", EC_128, nothing),
    ] {
        let site = Site::of(KeyKind::Ec384);
        let world = site.world_with(KeyKind::Ec384).await;
        let client = site.client_with(KeyKind::Ec384, 5);
        world.mqsc(&format!("ALTER QMGR {asked} CERTLABL('ec')"));
        set(&world, &format!("SSLCIPH({spec})"));
        for sni in ["CH", "OTHER"] {
            let shaken = secure(world.socket().await, &connector(&client, spec), sni).await;
            assert_eq!(shaken.is_err(), refused.is_some(), "{asked} {spec} {sni}");
            drop(shaken);
            if refused.is_some() {
                assert_eq!(heard_of(&world).await, refused, "{asked} {spec}");
            }
        }
    }
}

/// Suite B is about the keys of both sides' certificates, too.
#[tokio::test]
async fn certificates_fit_the_strength_of_suite_b() {
    const SPEC: &str = "ECDHE_ECDSA_AES_256_GCM_SHA384";
    let (short, long) = (KeyKind::Ec, KeyKind::Ec384);
    for (asked, authority, server, client, refused) in [
        ("128_BIT", long, short, short, None),
        ("128_BIT", short, short, short, None),
        ("128_BIT", long, KeyKind::Rsa, short, Some("AMQ9657E")),
        ("128_BIT", KeyKind::Rsa, short, short, Some("AMQ9657E")),
        ("192_BIT", long, long, long, None),
        ("192_BIT", long, long, short, Some("AMQ9633E")),
        ("192_BIT", long, short, long, Some("AMQ9657E")),
        ("192_BIT", short, long, long, Some("AMQ9657E")),
    ] {
        let site = Site::of(authority);
        let world = site.world_with(server).await;
        let client = site.client_with(client, 5);
        world.mqsc(&format!("ALTER QMGR SUITEB({asked}) CERTLABL('ec')"));
        set(&world, &format!("SSLCIPH({SPEC}) SSLCAUTH(REQUIRED)"));
        let shaken = secure(world.socket().await, &connector(&client, SPEC), "CH").await;
        assert_eq!(shaken.is_err(), refused.is_some(), "{asked} {server:?}");
        drop(shaken);
        if refused.is_some() {
            assert_eq!(heard_of(&world).await, refused, "{asked} {server:?}");
        }
        if refused == Some("AMQ9657E") {
            let [_, why] = &world.operator.inserts("AMQ9657E")[..] else {
                panic!("two inserts")
            };
            let curves = match asked {
                "128_BIT" => "is not of a key on P-256 or P-384,",
                _ => "is not of a key on P-384,",
            };
            assert!(why.contains(curves), "{why}");
        }
    }
}
