//! A queue manager that is encrypted by three commands, and whoever is refused by it.

use crate::place::{Place, outcome};

/// Runs a command of ours with a key repository; gives its exit code and all it has printed.
fn run(place: &Place, repository: &str, arguments: &[&str]) -> (i32, String) {
    let mut command = place.named("posthaste");
    command.args(arguments).env("MQSSLKEYR", repository);
    let outcome = outcome(command.current_dir(place.path()));
    (outcome.code, outcome.out + &outcome.err)
}

#[test]
fn three_commands_encrypt_a_queue_manager() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let port = serving.port();
    let made = run(
        &place,
        "",
        &[
            "certs",
            "make",
            "--queue-manager",
            "QM1",
            "--client",
            "app1",
        ],
    );
    assert_eq!(made.0, 0, "{}", made.1);
    assert!(
        made.1
            .contains("certs/qm1.p12: certificate and key, label ibmwebspheremqqm1"),
        "{}",
        made.1
    );
    let again = run(&place, "", &["certs", "make", "--client", "app1"]);
    assert!(again.0 != 0 && again.1.contains("AMQ2231E"), "{}", again.1);
    let (code, shown) = run(&place, "", &["certs", "show", "certs/app1.p12"]);
    assert_eq!(code, 0, "{shown}");
    for part in [
        "label    ibmwebspheremqapp1",
        "CN=app1,O=Posthaste development",
        "key      RSA 2048",
        "certificate of an authority",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // By how much of a day has passed since it was made.
    let left = ["364 days left", "365 days left"];
    assert!(left.iter().any(|part| shown.contains(part)), "{shown}");
    let keys = place.path().join("certs/qm1.p12");
    let commands = format!(
        "ALTER QMGR SSLKEYR('{}')\n\
         ALTER CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS12_OR_HIGHER) SSLCAUTH(REQUIRED)\n\
         REFRESH SECURITY(*) TYPE(SSL)",
        keys.display()
    );
    let set = place.mqsc(&commands, "QM1");
    assert!(set.code == 0 && set.out.contains("AMQ8560I"), "{}", set.out);
    // Whoever has certificates read hears at once that one of them is about to end, and not within the hour.
    let (code, made) = run(
        &place,
        "",
        &[
            "certs",
            "make",
            "--directory",
            "short",
            "--queue-manager",
            "QM1",
            "--days",
            "5",
        ],
    );
    assert_eq!(code, 0, "{made}");
    let short = place.path().join("short/qm1.p12");
    let other = commands.replace(&keys.display().to_string(), &short.display().to_string());
    assert_eq!(place.mqsc(&other, "QM1").code, 0);
    place.logged("QM1", "AMQ2650W");
    assert_eq!(place.mqsc(&commands, "QM1").code, 0);

    let connect = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({port})");
    let call = |repository: &str, more: &[&str]| {
        let fixed = [
            "--connect",
            connect.as_str(),
            "DEV.QUEUE.1",
            "QM1",
            "--count",
            "1",
        ];
        run(&place, repository, &[&["put"], &fixed[..], more].concat())
    };
    let any = ["--cipher", "ANY_TLS12_OR_HIGHER"];
    for spec in [
        "ANY_TLS12_OR_HIGHER",
        "ECDHE_RSA_AES_128_CBC_SHA256",
        "TLS_AES_128_CCM_8_SHA256",
    ] {
        let (code, text) = call("certs/app1.p12", &["--cipher", spec, "--peer", "CN=QM1"]);
        assert_eq!(code, 0, "{spec}: {text}");
    }
    for (repository, more, reason) in [
        ("certs/app1.p12", &[][..], "2397"),
        ("certs/authority.pem", &any, "2397"),
        ("", &any, "2381"),
        ("certs/none.p12", &any, "2381"),
        ("certs/app1.p12", &["--cipher", "ROT13"], "2392"),
        (
            "certs/app1.p12",
            &["--cipher", "ECDHE_ECDSA_AES_128_GCM_SHA256"],
            "2393",
        ),
        (
            "certs/app1.p12",
            &["--cipher", "ANY_TLS13", "--peer", "CN=QM2"],
            "2398",
        ),
        (
            "certs/app1.p12",
            &["--cipher", "ANY_TLS13", "--peer", "nobody"],
            "2399",
        ),
    ] {
        let (code, text) = call(repository, more);
        assert!(
            code != 0 && text.contains(reason),
            "{repository} {more:?}: {reason}: {text}"
        );
    }
    drive(&place, port);
    // Messages larger than any record, and than any buffer.
    let large = "x".repeat(3_000_000);
    std::fs::write(place.path().join("large"), &large).unwrap();
    let fixed = ["--connect", connect.as_str(), "--cipher", "ANY_TLS13"];
    let put = run(
        &place,
        "certs/app1.p12",
        &[
            &["put", "DEV.QUEUE.2", "QM1", "--file", "large"],
            &fixed[..],
        ]
        .concat(),
    );
    assert_eq!(put.0, 0, "{}", put.1);
    let (code, got) = run(
        &place,
        "certs/app1.p12",
        &[&["get", "DEV.QUEUE.2", "QM1"], &fixed[..]].concat(),
    );
    assert!(code == 0 && got.contains(&large), "{} bytes", got.len());
}

#[test]
fn a_certificate_that_ends_soon_is_told_of_when_the_queue_manager_starts() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let arguments = ["certs", "make", "--queue-manager", "QM1", "--days", "20"];
    let made = run(&place, "", &arguments);
    assert_eq!(made.0, 0, "{}", made.1);
    let keys = place.path().join("certs/qm1.p12");
    let commands = format!(
        "ALTER QMGR SSLKEYR('{}')\n\
         ALTER CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS13)",
        keys.display()
    );
    place.mqsc(&commands, "QM1").good();
    let log = place.home("QM1").join("errors/AMQERR01.LOG");
    let reported = || std::fs::read_to_string(&log).unwrap().contains("AMQ2650W");
    assert!(!reported(), "nobody has looked at it");
    serving.end();
    place.serving("QM1").end();
    assert!(reported());
}

/// The driver's applications come with TLS, or are refused.
fn drive(place: &Place, port: u16) {
    let port = port.to_string();
    let fixed = "perf -tc PutGet -nt 2 -mg 5 -d DEV.QUEUE.3 -jh 127.0.0.1 -jc DEV.APP.SVRCONN -jp";
    let driven = |repository: &str, more: &str| {
        let words = fixed.split(' ').chain([port.as_str()]);
        let words: Vec<&str> = words.chain(more.split_whitespace()).collect();
        run(place, repository, &words)
    };
    for (repository, more) in [
        ("certs/app1.p12", "-jl TLS_CHACHA20_POLY1305_SHA256"),
        (
            "",
            "-jl ANY_TLS12 -kr certs/app1.p12 -jw ibmwebspheremqapp1",
        ),
    ] {
        let (code, text) = driven(repository, more);
        assert!(
            code == 0 && text.contains("totalIterations=10"),
            "{more}: {text}"
        );
    }
    for (more, reason) in [
        ("", "2397"),
        ("-jl ANY", "2381"),
        ("-jl ROT13 -kr certs/app1.p12", "2392"),
    ] {
        let (code, text) = driven("", more);
        assert!(
            code != 0 && text.contains(reason),
            "{more}: {reason}: {text}"
        );
    }
}
