//! Two sides over nothing but their bytes: what they agree on, and what they refuse.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test a panic is how a failure is reported"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_tls::development::{Issued, KeyKind, Subject};
use posthaste_tls::{
    Accept, Acceptor, Agreed, Allowed, CIPHER_SPECS, Connector, Failure, KeyStore, Machine, Plain,
    Progress, Reach, Terms, TermsOf,
};
use tempfile::TempDir;

const DAY: i64 = 86_400;

fn now() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

fn subject<'a>(name: &'a [(&'a str, &'a str)], key: KeyKind) -> Subject<'a> {
    Subject {
        name,
        hosts: &["localhost", "127.0.0.1"],
        key,
        // In the middle of a day: a test takes seconds.
        valid: (now() - DAY, now() + 29 * DAY + DAY / 2),
    }
}

/// Authorities and stores in a folder.
struct Keys {
    folder: TempDir,
    authority: Issued,
}

impl Keys {
    fn new() -> Keys {
        let authority = Issued::authority(&subject(
            &[("O", "Tests"), ("CN", "authority")],
            KeyKind::Ec,
        ));
        Keys {
            folder: tempfile::tempdir().unwrap(),
            authority: authority.unwrap(),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// A certificate and its private key.
    fn pem(&self) -> (Vec<u8>, Vec<u8>) {
        let issued = self
            .authority
            .issue(&subject(&[("CN", "one")], KeyKind::Ec))
            .unwrap();
        (issued.certificate_pem().unwrap(), issued.key_pem().unwrap())
    }

    fn store(&self, common_name: &str, key: KeyKind) -> KeyStore {
        let issued = self
            .authority
            .issue(&subject(&[("OU", "Tests"), ("CN", common_name)], key))
            .unwrap();
        self.with(common_name, &issued)
    }

    fn with(&self, label: &str, issued: &Issued) -> KeyStore {
        let bytes = issued.store(label, &[&self.authority], "secret").unwrap();
        let path = self.write(&format!("{label}.p12"), &bytes);
        KeyStore::load(&path, Some("secret")).unwrap()
    }

    /// Only the authority's certificate.
    fn nobody(&self) -> KeyStore {
        let path = self.write("nobody.pem", &self.authority.certificate_pem().unwrap());
        KeyStore::load(&path, None).unwrap()
    }
}

fn allowed(name: &str) -> Allowed {
    Allowed::parse(name).unwrap()
}

fn acceptor(store: &KeyStore, allowed: Allowed) -> Acceptor {
    acceptor_with(store, allowed, Arc::new(|_| None))
}

fn acceptor_with(store: &KeyStore, allowed: Allowed, terms: TermsOf) -> Acceptor {
    Acceptor::new(Accept {
        store,
        label: None,
        otherwise: "server",
        allowed,
        suite_b: None,
        terms,
    })
    .unwrap()
}

fn connector(store: &KeyStore, allowed: Allowed) -> Connector {
    Connector::new(Reach {
        store,
        label: None,
        otherwise: "client",
        allowed,
    })
    .unwrap()
}

/// Moves what one side has for the other, `piece` bytes at a time.
fn carry(
    from: &mut Machine,
    to: &mut Machine,
    piece: usize,
    mut each: impl FnMut(&mut Machine),
) -> bool {
    let bytes = std::mem::take(from.output());
    for part in bytes.chunks(piece) {
        to.receive(part);
        each(to);
    }
    !bytes.is_empty()
}

/// The handshakes' results: the client's and the server's.
type Ends = (Result<Machine, Failure>, Result<Machine, Failure>);

fn meet(connector: &Connector, acceptor: &Acceptor, channel: &str, piece: usize) -> Ends {
    let mut client = Machine::connect(connector, channel).unwrap();
    let mut server = Machine::accept(acceptor);
    let (mut client_end, mut server_end) = (client.handshake(), Ok(Progress::Waiting));
    loop {
        let went = carry(&mut client, &mut server, piece, |server| {
            if server_end == Ok(Progress::Waiting) {
                server_end = server.handshake();
            }
        });
        let came = carry(&mut server, &mut client, piece, |client| {
            if client_end == Ok(Progress::Waiting) {
                client_end = client.handshake();
            }
        });
        if !went && !came {
            break;
        }
    }
    // An alert comes after a client of TLS 1.3 has done its part.
    if client_end == Ok(Progress::Done) {
        client_end = client.read(&mut [0; 16]).map(|_| Progress::Done);
    }
    (client_end.map(|_| client), server_end.map(|_| server))
}

fn send(from: &mut Machine, to: &mut Machine, plain: &[u8], piece: usize) {
    let mut rest = plain;
    while !rest.is_empty() {
        let taken = from.write(rest).unwrap();
        rest = &rest[taken..];
    }
    let mut come = Vec::new();
    let mut buffer = vec![0; 100_000];
    let mut collect = |to: &mut Machine| {
        while let Plain::Bytes(length) = to.read(&mut buffer).unwrap() {
            come.extend_from_slice(&buffer[..length]);
        }
    };
    carry(from, to, piece, &mut collect);
    assert!(come == plain, "{} of {} bytes", come.len(), plain.len());
}

#[test]
fn every_cipher_spec_carries_data_however_it_is_split() {
    let keys = Keys::new();
    let client = keys.store("client", KeyKind::Rsa);
    let stores = [
        keys.store("server", KeyKind::Rsa),
        keys.store("server", KeyKind::Ec),
    ];
    let data: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
    for spec in &CIPHER_SPECS {
        let store = &stores[usize::from(spec.name.contains("ECDSA"))];
        let acceptor = acceptor(store, Allowed::all());
        let connector = connector(&client, allowed(spec.name));
        for piece in [1, 7, usize::MAX] {
            let (one, other) = meet(&connector, &acceptor, "DEV.APP.SVRCONN", piece);
            let (mut one, mut other) = (one.unwrap(), other.unwrap());
            let agreed = other.agreed().unwrap().unwrap();
            assert_eq!(agreed.spec, spec);
            assert_eq!(agreed.channel.as_deref(), Some("DEV.APP.SVRCONN"));
            let partner = agreed.partner.unwrap();
            assert!(
                partner.subject.to_string().ends_with("CN=client,OU=Tests"),
                "{}",
                partner.subject
            );
            assert!(partner.is_valid(now()) && partner.days_left(now()) == 29);
            let data = &data[..if piece == 1 { 20_000 } else { data.len() }];
            send(&mut one, &mut other, data, piece);
            send(&mut other, &mut one, data, piece);
        }
    }
}

#[test]
fn large_writes_become_records_of_16_kib() {
    let keys = Keys::new();
    let store = keys.store("server", KeyKind::Ec);
    let acceptor = acceptor(&store, Allowed::all());
    let connector = connector(&store, allowed("TLS_AES_128_GCM_SHA256"));
    let (one, other) = meet(&connector, &acceptor, "C", usize::MAX);
    let (mut one, _other) = (one.unwrap(), other.unwrap());
    let data = vec![7; 100_000];
    let mut at = 0;
    while at < data.len() {
        at += one.write(&data[at..]).unwrap();
    }
    let output = std::mem::take(one.output());
    let mut lengths = Vec::new();
    let mut rest = output.as_slice();
    while let [23, 3, 3, high, low, after @ ..] = rest {
        let length = usize::from(*high) << 8 | usize::from(*low);
        lengths.push(length);
        rest = &after[length..];
    }
    // A byte of type and 16 of authentication each.
    let mut expected = vec![16_384 + 17; 6];
    expected.push(100_000 - 6 * 16_384 + 17);
    assert_eq!((lengths, rest.len()), (expected, 0));
}

fn refused(ends: Ends) -> (Option<Failure>, Option<Failure>) {
    (ends.0.err(), ends.1.err())
}

#[test]
fn who_has_nothing_in_common_is_refused() {
    let keys = Keys::new();
    let store = keys.store("server", KeyKind::Rsa);
    for (ours, theirs) in [
        ("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"),
        ("ANY_TLS13", "ANY_TLS12"),
        ("ANY_TLS12", "ANY_TLS13"),
        (
            "ECDHE_RSA_AES_256_GCM_SHA384",
            "ECDHE_RSA_AES_128_CBC_SHA256",
        ),
        // The certificate is for RSA.
        ("ANY_TLS12", "ECDHE_ECDSA_AES_256_GCM_SHA384"),
    ] {
        let acceptor = acceptor(&store, allowed(ours));
        let connector = connector(&store, allowed(theirs));
        let (client, server) = refused(meet(&connector, &acceptor, "C", usize::MAX));
        assert!(
            matches!(server, Some(Failure::NothingInCommon(_))),
            "{ours}: {server:?}"
        );
        assert!(
            matches!(client, Some(Failure::Alert(_))),
            "{ours}: {client:?}"
        );
    }
}

#[test]
fn certificates_are_checked_on_both_sides() {
    let keys = Keys::new();
    let good = keys.store("server", KeyKind::Ec);
    let other = Keys::new().store("client", KeyKind::Ec);
    let mut old = subject(&[("CN", "old")], KeyKind::Ec);
    old.valid = (now() - 2 * DAY, now() - DAY);
    let old = keys.with("old", &keys.authority.issue(&old).unwrap());
    let mut early = subject(&[("CN", "early")], KeyKind::Ec);
    early.valid = (now() + DAY, now() + 2 * DAY);
    let early = keys.with("early", &keys.authority.issue(&early).unwrap());
    for version in ["ANY_TLS12", "ANY_TLS13"] {
        for (bad, out_of_time) in [(&other, false), (&old, true), (&early, true)] {
            let is_refused = |failure: Option<Failure>| match failure {
                Some(Failure::BadCertificate { expired, .. }) => expired == out_of_time,
                _ => false,
            };
            let accepting = acceptor(&good, Allowed::all());
            let connecting = Connector::new(Reach {
                // It trusts the server all the same.
                store: bad,
                label: None,
                otherwise: "",
                allowed: allowed(version),
            });
            let (client, server) = refused(meet(&connecting.unwrap(), &accepting, "C", usize::MAX));
            match out_of_time {
                true => assert!(is_refused(server) && matches!(client, Some(Failure::Alert(_)))),
                // It trusts nobody here either.
                false => assert!(is_refused(client)),
            }
            let accepting = acceptor(bad, Allowed::all());
            let connecting = connector(&keys.nobody(), allowed(version));
            let (client, server) = refused(meet(&connecting, &accepting, "C", usize::MAX));
            assert!(is_refused(client) && matches!(server, Some(Failure::Alert(_))));
        }
    }
}

#[test]
fn who_shows_no_certificate_is_known_as_nobody() {
    let keys = Keys::new();
    let acceptor = acceptor(&keys.store("server", KeyKind::Rsa), Allowed::all());
    let connector = connector(&keys.nobody(), allowed("ANY_TLS12_OR_HIGHER"));
    let (one, other) = meet(&connector, &acceptor, "C", usize::MAX);
    let agreed = other.unwrap().agreed().unwrap().unwrap();
    assert_eq!((agreed.partner, agreed.resumed), (None, false));
    let partner = one.unwrap().agreed().unwrap().unwrap().partner.unwrap();
    assert_eq!(partner.subject.part("CN"), Some("server"));
}

#[test]
fn the_channel_named_in_the_handshake_decides_the_certificate_and_the_cipher_spec() {
    let keys = Keys::new();
    let mut both = Vec::new();
    for (label, key) in [("server", KeyKind::Rsa), ("special", KeyKind::Ec)] {
        let issued = keys
            .authority
            .issue(&subject(&[("CN", label)], key))
            .unwrap();
        both.extend(issued.certificate_pem().unwrap());
        both.extend(issued.key_pem().unwrap());
    }
    both.extend(keys.authority.certificate_pem().unwrap());
    let store = KeyStore::load(&keys.write("both.pem", &both), None).unwrap();
    let terms = |channel: &str| {
        (channel == "SPECIAL").then(|| Terms {
            allowed: allowed("TLS_AES_128_CCM_8_SHA256"),
            label: Some("special".to_owned()),
        })
    };
    let acceptor = acceptor_with(&store, Allowed::all(), Arc::new(terms));
    let connector = connector(&keys.nobody(), allowed("ANY_TLS12_OR_HIGHER"));
    for (channel, common_name, spec) in [
        ("SPECIAL", "special", "TLS_AES_128_CCM_8_SHA256"),
        ("OTHER", "server", "TLS_CHACHA20_POLY1305_SHA256"),
        ("SPECIAL", "special", "TLS_AES_128_CCM_8_SHA256"),
    ] {
        let (one, other) = meet(&connector, &acceptor, channel, usize::MAX);
        let agreed = one.unwrap().agreed().unwrap().unwrap();
        assert_eq!(
            agreed.partner.unwrap().subject.part("CN"),
            Some(common_name)
        );
        assert_eq!(agreed.spec.name, spec);
        assert_eq!(
            other.unwrap().agreed().unwrap().unwrap().channel.as_deref(),
            Some(channel)
        );
    }
}

#[test]
fn what_is_cut_changed_or_closed_is_told_apart() {
    let keys = Keys::new();
    let store = keys.store("server", KeyKind::Ec);
    let acceptor = acceptor(&store, Allowed::all());
    for spec in ["TLS_AES_256_GCM_SHA384", "ECDHE_ECDSA_AES_256_CBC_SHA384"] {
        let connector = connector(&store, allowed(spec));
        let pair = || {
            let (one, other) = meet(&connector, &acceptor, "C", usize::MAX);
            (one.unwrap(), other.unwrap())
        };
        let read = |machine: &mut Machine| machine.read(&mut [0; 100]);
        let (mut one, mut other) = pair();
        one.write(b"farewell").unwrap();
        one.close();
        carry(&mut one, &mut other, usize::MAX, |_| ());
        assert_eq!(read(&mut other), Ok(Plain::Bytes(8)));
        assert_eq!(read(&mut other), Ok(Plain::Closed));

        let (mut one, mut other) = pair();
        one.write(b"half of it").unwrap();
        let record = std::mem::take(one.output());
        other.receive(&record[..record.len() / 2]);
        assert_eq!(read(&mut other), Ok(Plain::Waiting));
        other.lost();
        assert_eq!(read(&mut other), Err(Failure::Truncated), "{spec}");

        let (mut one, mut other) = pair();
        one.write(b"changed").unwrap();
        let mut record = std::mem::take(one.output());
        *record.last_mut().unwrap() ^= 1;
        other.receive(&record);
        assert!(matches!(read(&mut other), Err(Failure::BadRecord(_))));
        assert!(!other.output().is_empty(), "the partner gets an alert");
    }
    let mut server = Machine::accept(&acceptor);
    server.receive(b"TSH \0\0\0\0 is no handshake");
    assert!(matches!(server.handshake(), Err(Failure::BadRecord(_))));
}

#[test]
fn stores_are_refused_with_their_reason() {
    let keys = Keys::new();
    let issued = keys
        .authority
        .issue(&subject(&[("CN", "one")], KeyKind::Ec))
        .unwrap();
    let bytes = issued.store("one", &[&keys.authority], "secret").unwrap();
    let path = keys.write("one.p12", &bytes);
    let error = |name: &Path, password: Option<&str>| {
        KeyStore::load(name, password).err().map(|e| e.to_string())
    };
    let holds = |error: Option<String>, what: &str| {
        let error = error.unwrap();
        assert!(error.contains(what), "{error}");
    };
    // Without its ending, with its password beside it.
    let stem = keys.folder.path().join("one");
    holds(
        error(&stem, None),
        "its password is not right; it is read from",
    );
    holds(error(&stem, Some("wrong")), "its password is not right");
    keys.write("one.sth", b"secret\n");
    assert_eq!(error(&stem, None), None);
    fs::set_permissions(
        keys.folder.path().join("one.sth"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    holds(error(&stem, None), "everybody can read it");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    holds(error(&stem, Some("secret")), "everybody can read it");
    holds(
        error(&keys.folder.path().join("none"), None),
        "none: No such file",
    );
    holds(
        error(&keys.write("kdb.p12", b"something else"), None),
        "neither PKCS#12 nor PEM",
    );
    let key_alone = issued.key_pem().unwrap();
    holds(
        error(&keys.write("alone.pem", &key_alone), None),
        "no certificate for one of its private keys",
    );
    let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    holds(
        error(&keys.write("broken.pem", broken), None),
        "cannot be read",
    );
    let store = KeyStore::load(&path, Some("secret"));
    assert!(store.is_err());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let store = KeyStore::load(&path, Some("secret")).unwrap();
    let shown = store.show().unwrap();
    let labels: Vec<_> = shown
        .iter()
        .map(|one| (one.label.as_str(), one.personal))
        .collect();
    assert_eq!(labels, [("one", true), ("", false)]);
    assert_eq!(shown[0].certificate.key, "EC 256");
    assert!(shown[1].certificate.authority && !shown[0].certificate.authority);
    assert_eq!(shown[0].certificate.issuer.part("CN"), Some("authority"));
    let none = store.personal(Some("two"), "").err().unwrap().to_string();
    assert!(
        none.contains("no certificate with a private key has the label two"),
        "{none}"
    );
}

#[test]
fn a_renewed_certificate_has_the_key_of_the_one_before() {
    let keys = Keys::new();
    let (certificate, key) = keys.pem();
    let old = [b"friendlyName: old\n", &certificate[..]].concat();
    let new = [b"friendlyName: new\n", &certificate[..]].concat();
    for file in [
        [&key[..], &old, &new].concat(),
        [&old[..], &key, &new, &key].concat(),
    ] {
        let store = KeyStore::load(&keys.write("renewed.pem", &file), None).unwrap();
        for label in ["old", "new"] {
            assert_eq!(store.personal(Some(label), "").unwrap().label, label);
        }
    }
}

#[test]
fn no_space_but_a_blank_is_nothing_around_a_label() {
    let keys = Keys::new();
    let (certificate, key) = keys.pem();
    for (written, label) in [
        ("  friendlyName:  one  ", "one"),
        ("friendlyName: one\u{a0}", "one\u{a0}"),
        ("friendlyName: \u{2003}one", "\u{2003}one"),
    ] {
        let file = [written.as_bytes(), b"\n", &certificate[..], &key[..]].concat();
        let store = KeyStore::load(&keys.write("spaces.pem", &file), None).unwrap();
        assert_eq!(store.personal(Some(label), "").unwrap().label, label);
        let plain = store.personal(Some("one"), "").is_ok();
        assert_eq!(plain, label == "one", "{label:?}");
    }
}

/// A client's socket: what it writes, and what it is given to read.
#[derive(Default)]
struct ClientEnd {
    to: Vec<u8>,
    from: Vec<u8>,
}

impl std::io::Read for ClientEnd {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.from.len().min(into.len());
        if length == 0 {
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        into[..length].copy_from_slice(&self.from[..length]);
        self.from.drain(..length);
        Ok(length)
    }
}

impl std::io::Write for ClientEnd {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.to.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A client of TLS 1.2 that takes signatures with these algorithms only, whatever its library thinks of them.
fn signed_with(algorithms: &str, acceptor: &Acceptor) -> Result<Progress, Failure> {
    let mut builder =
        openssl::ssl::SslContext::builder(openssl::ssl::SslMethod::tls_client()).unwrap();
    builder.set_security_level(0);
    builder
        .set_max_proto_version(Some(openssl::ssl::SslVersion::TLS1_2))
        .unwrap();
    builder.set_sigalgs_list(algorithms).unwrap();
    let ssl = openssl::ssl::Ssl::new(&builder.build()).unwrap();
    let mut client = openssl::ssl::SslStream::new(ssl, ClientEnd::default()).unwrap();
    let mut server = Machine::accept(acceptor);
    for _ in 0..4 {
        // Whether it is content is not what is asked.
        let _ = client.connect();
        server.receive(&std::mem::take(&mut client.get_mut().to));
        match server.handshake() {
            Ok(Progress::Waiting) => client.get_mut().from.append(server.output()),
            ended => return ended,
        }
    }
    Ok(Progress::Waiting)
}

#[test]
fn nothing_is_signed_with_what_is_broken() {
    let store = Keys::new().store("server", KeyKind::Rsa);
    // With the CipherSpec of short tags, for which OpenSSL's own level has to go.
    let acceptor = acceptor(&store, Allowed::all());
    assert_eq!(signed_with("RSA+SHA256", &acceptor), Ok(Progress::Done));
    assert_eq!(
        signed_with("rsa_pss_rsae_sha256", &acceptor),
        Ok(Progress::Done)
    );
    for broken in ["RSA+SHA1", "RSA+SHA1:ECDSA+SHA1", "RSA+SHA224"] {
        let ended = signed_with(broken, &acceptor);
        assert!(
            matches!(ended, Err(Failure::NothingInCommon(_))),
            "{broken}: {ended:?}"
        );
    }
}

/// The list in PEM of what an authority has revoked; `None` if there is no command to make one with.
fn revoked_by(keys: &Keys, authority: &Issued, revoked: &[&Issued]) -> Option<Vec<u8>> {
    list_by(keys, authority, revoked, "2592000")
}

/// The same, of a list that has its successor after so many seconds.
fn list_by(keys: &Keys, authority: &Issued, revoked: &[&Issued], lasting: &str) -> Option<Vec<u8>> {
    let serial = |one: &&Issued| {
        let pem = one.certificate_pem().unwrap();
        let certificate = openssl::x509::X509::from_pem(&pem).unwrap();
        let number = certificate.serial_number().to_bn().unwrap();
        let number = number.to_hex_str().unwrap();
        format!("R\t491231235959Z\t200101000000Z\t{number}\tunknown\t/CN=revoked\n")
    };
    let index: String = revoked.iter().map(serial).collect();
    let index = keys.write("index.txt", index.as_bytes());
    let certificate = keys.write("issuer.pem", &authority.certificate_pem().unwrap());
    let key = keys.write("issuer.key", &authority.key_pem().unwrap());
    let configuration = format!(
        "[ca]\ndefault_ca = one\n[one]\ndatabase = {}\ndefault_md = sha256\n",
        index.display()
    );
    let configuration = keys.write("ca.cnf", configuration.as_bytes());
    let made = std::process::Command::new("openssl")
        .args(["ca", "-gencrl", "-crlsec", lasting, "-config"])
        .arg(configuration)
        .arg("-cert")
        .arg(certificate)
        .arg("-keyfile")
        .arg(key)
        .output()
        .ok()?;
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    Some(made.stdout)
}

#[test]
fn nobody_is_admitted_whose_certificate_or_whose_authority_is_revoked() {
    let keys = Keys::new();
    let between = [("O", "Tests"), ("CN", "between")];
    let between = keys
        .authority
        .intermediate(&subject(&between, KeyKind::Ec))
        .unwrap();
    let leaf = between
        .issue(&subject(&[("CN", "client")], KeyKind::Ec))
        .unwrap();
    let store = |name: &str, issued: &Issued| {
        let trusted = [&keys.authority, &between];
        let bytes = issued.store(name, &trusted, "secret").unwrap();
        keys.write(&format!("{name}.p12"), &bytes)
    };
    let client = KeyStore::load(&store("client", &leaf), Some("secret")).unwrap();
    let own = subject(&[("CN", "server")], KeyKind::Ec);
    let server = store("server", &keys.authority.issue(&own).unwrap());
    let list = |authority, revoked: &[&Issued]| revoked_by(&keys, authority, revoked);
    let (Some(nothing), Some(nothing_between), Some(between_is), Some(leaf_is)) = (
        list(&keys.authority, &[]),
        list(&between, &[]),
        list(&keys.authority, &[&between]),
        list(&between, &[&leaf]),
    ) else {
        let skipped = b"SKIPPED: there is no openssl command here\n";
        std::io::Write::write_all(&mut std::io::stderr(), skipped).unwrap();
        return;
    };
    for (lists, why) in [
        (vec![&nothing, &nothing_between], None),
        (vec![&nothing, &leaf_is], Some("revoked")),
        (vec![&between_is, &nothing_between], Some("revoked")),
        (
            vec![&nothing_between],
            Some("unable to get certificate CRL"),
        ),
        (vec![&nothing], Some("unable to get certificate CRL")),
    ] {
        let lists: Vec<u8> = lists.into_iter().flatten().copied().collect();
        keys.write("server.crl", &lists);
        let server = KeyStore::load(&server, Some("secret")).unwrap();
        let accepting = acceptor(&server, Allowed::all());
        let connecting = connector(&client, allowed("ANY_TLS12"));
        let (_, server) = refused(meet(&connecting, &accepting, "C", usize::MAX));
        match (server, why) {
            (None, None) => {}
            (Some(Failure::BadCertificate { why, .. }), Some(expected)) => {
                assert!(why.contains(expected), "{why}");
            }
            (server, why) => panic!("{server:?} instead of {why:?}"),
        }
    }
}

#[test]
fn a_list_of_the_revoked_that_leads_nowhere_is_refused() {
    let keys = Keys::new();
    drop(keys.store("server", KeyKind::Ec));
    let folder = keys.folder.path();
    std::os::unix::fs::symlink(folder.join("gone"), folder.join("server.crl")).unwrap();
    let store = KeyStore::load(&folder.join("server"), Some("secret")).unwrap();
    let accept = Accept {
        store: &store,
        label: None,
        otherwise: "server",
        allowed: Allowed::all(),
        suite_b: None,
        terms: Arc::new(|_| None),
    };
    let error = Acceptor::new(accept).err().unwrap().to_string();
    assert!(error.contains("no list of revoked certificates"), "{error}");
}

/// Serves one handshake of the `openssl` command; `None` if there is no such command.
fn serve_command(keys: &Keys, acceptor: &Acceptor, session: &str, more: &[&str]) -> Option<Agreed> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut command = std::process::Command::new("openssl");
    command.args(["s_client", "-tls1_2", "-servername", "c.chl.mq.ibm.com"]);
    command.args(["-connect", &address]);
    command
        .args(more)
        .arg(session)
        .arg(keys.folder.path().join("session"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().ok()?;
    let (mut socket, _) = listener.accept().unwrap();
    let mut server = Machine::accept(acceptor);
    let mut buffer = [0; 4096];
    loop {
        let length = std::io::Read::read(&mut socket, &mut buffer).unwrap();
        assert!(length > 0, "it ended before it was done");
        server.receive(&buffer[..length]);
        let progress = server.handshake().unwrap();
        std::io::Write::write_all(&mut socket, server.output()).unwrap();
        server.output().clear();
        if progress == Progress::Done {
            break;
        }
    }
    drop(socket);
    child.wait().unwrap();
    server.agreed().unwrap()
}

#[test]
fn a_session_that_goes_on_has_named_its_channel_too() {
    let keys = Keys::new();
    let store = keys.store("server", KeyKind::Ec);
    let terms = |_: &str| {
        Some(Terms {
            allowed: allowed("ANY_TLS12"),
            label: Some("server".to_owned()),
        })
    };
    let acceptor = acceptor_with(&store, Allowed::all(), Arc::new(terms));
    for (session, resumed) in [("-sess_out", false), ("-sess_in", true)] {
        let Some(agreed) = serve_command(&keys, &acceptor, session, &[]) else {
            let skipped = b"SKIPPED: there is no openssl command here\n";
            std::io::Write::write_all(&mut std::io::stderr(), skipped).unwrap();
            return;
        };
        assert_eq!(agreed.resumed, resumed);
        assert_eq!(agreed.channel.as_deref(), Some("C"), "{session}");
    }
}

/// A session that goes on shows nothing again: its dates are the first ones of the whole chain and of its lists.
#[test]
fn a_session_that_goes_on_holds_as_long_as_its_whole_chain_and_its_lists() {
    let keys = Keys::new();
    let between = [("O", "Tests"), ("CN", "between")];
    let now = now();
    let soon = Subject {
        valid: (now - 60, now + 3_600),
        ..subject(&between, KeyKind::Ec)
    };
    let between = keys.authority.intermediate(&soon).unwrap();
    let leaf = between.issue(&subject(&[("CN", "client")], KeyKind::Ec));
    let leaf = leaf.unwrap();
    let own = subject(&[("CN", "server")], KeyKind::Ec);
    let own = keys.authority.issue(&own).unwrap();
    let (certificate, key) = (leaf.certificate_pem().unwrap(), leaf.key_pem().unwrap());
    let shown = keys.write("leaf.pem", &[certificate, key].concat());
    let shown = [
        "-cert",
        shown.to_str().unwrap(),
        "-key",
        shown.to_str().unwrap(),
    ];
    let trusted = [&keys.authority, &between];
    let path = keys.write(
        "server.p12",
        &own.store("server", &trusted, "secret").unwrap(),
    );
    let list = |authority| list_by(&keys, authority, &[], "600");
    let lists = [list(&keys.authority), list(&between)];
    for with_lists in [false, true] {
        let mut until = now + 3_600;
        if with_lists {
            let (Some(first), Some(second)) = (&lists[0], &lists[1]) else {
                break;
            };
            keys.write("server.crl", &[&first[..], second].concat());
            let next = openssl::x509::X509Crl::from_pem(first).unwrap();
            let next = next.next_update().unwrap();
            let epoch = openssl::asn1::Asn1Time::from_unix(0).unwrap();
            let after = epoch.diff(next).unwrap();
            until = i64::from(after.days) * 86_400 + i64::from(after.secs);
            assert!(until < now + 3_600);
        }
        let store = KeyStore::load(&path, Some("secret")).unwrap();
        let acceptor = acceptor(&store, Allowed::all());
        for (session, resumed) in [("-sess_out", false), ("-sess_in", true)] {
            let Some(agreed) = serve_command(&keys, &acceptor, session, &shown) else {
                let skipped = b"SKIPPED: there is no openssl command here\n";
                std::io::Write::write_all(&mut std::io::stderr(), skipped).unwrap();
                return;
            };
            assert_eq!((agreed.resumed, agreed.until), (resumed, until));
            assert!(
                agreed.partner.unwrap().is_valid(until + 1),
                "its own are not it"
            );
        }
    }
}

/// What encrypts a client's records in TLS 1.2 with AES in GCM (RFC 5246, section 6.3; RFC 5288, section 3).
struct Sealing {
    key: Vec<u8>,
    salt: Vec<u8>,
    number: u64,
}

impl Sealing {
    fn of(client: &openssl::ssl::SslRef) -> Sealing {
        let (mut master, mut seed) = ([0; 48], [&b"key expansion"[..], &[0; 64]].concat());
        client.session().unwrap().master_key(&mut master);
        client.server_random(&mut seed[13..45]);
        client.client_random(&mut seed[45..]);
        let key = openssl::pkey::PKey::hmac(&master).unwrap();
        let digest = |data: &[u8]| {
            let sha256 = openssl::hash::MessageDigest::sha256();
            let mut signer = openssl::sign::Signer::new(sha256, &key).unwrap();
            signer.sign_oneshot_to_vec(data).unwrap()
        };
        let (mut chain, mut block) = (digest(&seed), Vec::new());
        while block.len() < 40 {
            block.extend(digest(&[&chain[..], &seed].concat()));
            chain = digest(&chain);
        }
        Sealing {
            key: block[..16].to_vec(),
            salt: block[32..36].to_vec(),
            // The first was the end of the handshake.
            number: 1,
        }
    }

    fn record(&mut self, kind: u8, plain: &[u8]) -> Vec<u8> {
        let number = self.number.to_be_bytes();
        self.number += 1;
        let length = |length: usize| u16::try_from(length).unwrap().to_be_bytes();
        let head = [kind, 3, 3];
        let checked = [&number[..], &head, &length(plain.len())].concat();
        let nonce = [&self.salt[..], &number].concat();
        let mut tag = [0; 16];
        let cipher = openssl::symm::Cipher::aes_128_gcm();
        let sealed =
            openssl::symm::encrypt_aead(cipher, &self.key, Some(&nonce), &checked, plain, &mut tag);
        let body = [&number[..], &sealed.unwrap(), &tag].concat();
        [&head[..], &length(body.len()), &body].concat()
    }
}

/// A client of TLS 1.2 has been let in; what its next records are encrypted with.
fn let_in(acceptor: &Acceptor) -> (Machine, Sealing) {
    let method = openssl::ssl::SslMethod::tls_client();
    let mut builder = openssl::ssl::SslContext::builder(method).unwrap();
    let version = Some(openssl::ssl::SslVersion::TLS1_2);
    builder.set_max_proto_version(version).unwrap();
    builder
        .set_cipher_list("ECDHE-ECDSA-AES128-GCM-SHA256")
        .unwrap();
    let ssl = openssl::ssl::Ssl::new(&builder.build()).unwrap();
    let mut client = openssl::ssl::SslStream::new(ssl, ClientEnd::default()).unwrap();
    let mut server = Machine::accept(acceptor);
    while client.connect().is_err() {
        server.receive(&std::mem::take(&mut client.get_mut().to));
        server.handshake().unwrap();
        client.get_mut().from.append(server.output());
    }
    let sealing = Sealing::of(client.ssl());
    (server, sealing)
}

#[test]
fn who_begins_again_and_again_is_cut_off_before_the_answers_pile_up() {
    let store = Keys::new().store("server", KeyKind::Ec);
    let acceptor = acceptor(&store, Allowed::all());
    let again = [1, 0, 0, 0];
    let mut buffer = [0; 4096];

    let (mut server, mut sealing) = let_in(&acceptor);
    server.receive(&sealing.record(22, &again));
    assert_eq!(server.read(&mut buffer), Ok(Plain::Waiting));
    assert!(!server.output().is_empty(), "one is answered");
    server.receive(&sealing.record(23, b"data"));
    assert_eq!(server.read(&mut buffer), Ok(Plain::Bytes(4)));
    // A library that takes no for an answer breaks off.
    server.receive(&sealing.record(21, &[2, 40]));
    match server.read(&mut buffer) {
        Err(Failure::Alert(words)) => assert!(words.contains("need TLS 1.3"), "{words}"),
        other => panic!("{other:?}"),
    }

    for with_data in [false, true] {
        let (mut server, mut sealing) = let_in(&acceptor);
        for _ in 0..64 {
            server.receive(&sealing.record(22, &again.repeat(4096)));
            if with_data {
                server.receive(&sealing.record(23, b"data"));
            }
        }
        let ended = loop {
            match server.read(&mut buffer) {
                Ok(Plain::Bytes(_)) => {}
                ended => break ended,
            }
        };
        assert!(matches!(ended, Err(Failure::BadRecord(_))), "{ended:?}");
        let answers = server.output().len();
        assert!(answers < 300_000, "{answers} bytes of answers");
        assert!(server.read(&mut buffer).is_err(), "it stays so");
    }
}
