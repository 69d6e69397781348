//! A new queue manager is closed to all but its owner's applications: who comes in, as whom, and what they may do.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use posthaste_server::{
    Access, Creation, DataDir, create, developer_objects, ini, listener_object,
};

use crate::place::{BINARY, Outcome, Place, Serving, fed, skipped};

#[track_caller]
fn refused(outcome: &Outcome) {
    let text = format!("{}{}", outcome.out, outcome.err);
    assert!(outcome.code != 0 && text.contains("2035"), "{outcome:?}");
}

/// The passwords that a first run has made.
fn made(place: &Place, name: &str) -> BTreeMap<String, String> {
    let kept = std::fs::read_to_string(place.home(name).join("first-passwords")).unwrap();
    let lines = kept
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, password) = line.split_once(' ').expect("a name and a password");
        (name.to_owned(), password.to_owned())
    };
    lines.map(pair).collect()
}

/// Whether a run says that it has made passwords.
fn says_made(serving: &Serving) -> bool {
    let says = |line: &String| line.contains("The passwords of its users app and admin are in ");
    serving.welcome.iter().any(says)
}

fn by(serving: &Serving, channel: &str) -> String {
    format!("--connect {channel}/TCP/127.0.0.1({})", serving.port())
}

#[test]
fn the_first_run_keeps_its_passwords_where_only_the_owner_reads_and_says_so() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let passwords = made(&place, "QM1");
    assert!(says_made(&serving), "{:?}", serving.welcome);
    assert_eq!(passwords.keys().collect::<Vec<_>>(), ["admin", "app"]);
    let path = place.home("QM1").join("first-passwords");
    let line = format!("are in {}, which only you can read.", path.display());
    assert!(
        serving.welcome.iter().any(|l| l.contains(&line)),
        "{:?}",
        serving.welcome
    );
    // Standard output may be a log that others read.
    let shows = |password: &String| serving.welcome.iter().any(|line| line.contains(password));
    assert!(!passwords.values().any(shows), "{:?}", serving.welcome);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    let kept = std::fs::read_to_string(&path).unwrap();
    for (name, password) in &passwords {
        assert!(kept.contains(&format!("\n{name} {password}\n")), "{kept}");
        assert_eq!(password.len(), 12);
    }
    let app = &passwords["app"];
    let put = format!(
        "put DEV.QUEUE.1 QM1 --persistent {} -u app",
        by(&serving, "DEV.APP.SVRCONN")
    );
    place.fed(format!("{app}\nHello\n"), &put).good();
    serving.end();
    // Another queue manager has others, and another run shows none and changes none.
    let other = place.serving("QM2");
    assert!(
        made(&place, "QM2")
            .values()
            .all(|password| !kept.contains(password))
    );
    other.end();
    let serving = place.serving("QM1");
    assert!(!says_made(&serving), "{:?}", serving.welcome);
    let line = format!("are in {}, unless they were changed since.", path.display());
    let named = |serving: &Serving| serving.welcome.iter().any(|l| l.contains(&line));
    assert!(named(&serving), "{:?}", serving.welcome);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), kept);
    // The file is one of passwords by users.
    let from = format!("--password-file {}", path.display());
    let client = by(&serving, "DEV.APP.SVRCONN");
    let put = |user: &str| {
        place.fed(
            "x\n",
            &format!("put DEV.QUEUE.1 QM1 {client} -u {user} {from}"),
        )
    };
    put("app").good();
    let none = put("bob");
    assert!(
        none.code != 0 && none.err.contains("of app, admin"),
        "{none:?}"
    );
    let put = format!(
        "put DEV.QUEUE.1 QM1 --persistent {} -u app",
        by(&serving, "DEV.APP.SVRCONN")
    );
    place.fed(format!("{app}\nHello\n"), &put).good();
    refused(&place.fed("wrong\nHello\n", &put));
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 3);
    serving.end();
}

#[test]
fn the_owners_applications_come_in_as_a_limited_user() {
    let place = Place::new();
    let serving = place.serving("QM1");
    for again in [false, true] {
        // In another queue manager too.
        let serving = match again {
            false => &serving,
            true => &place.serving("QM2"),
        };
        let name = if again { "QM2" } else { "QM1" };
        let client = by(serving, "DEV.APP.SVRCONN");
        place
            .fed("Hello\n", &format!("put DEV.QUEUE.1 {name} {client}"))
            .good();
        let browsed = place
            .line(&format!("browse DEV.QUEUE.1 {name} {client}"))
            .good();
        assert!(browsed.out.contains("'app         '"), "{}", browsed.out);
        place
            .line(&format!("get DEV.QUEUE.1 {name} {client}"))
            .good();
    }
    let client = by(&serving, "DEV.APP.SVRCONN");
    place.mqsc("DEFINE QLOCAL(OTHER)", "QM1").good();
    for line in [
        "put OTHER QM1",
        "get OTHER QM1",
        "put SYSTEM.ADMIN.COMMAND.QUEUE QM1",
        "get SYSTEM.ADMIN.COMMAND.QUEUE QM1",
        "browse SYSTEM.DEAD.LETTER.QUEUE QM1",
        "publish other/topic QM1",
    ] {
        refused(&place.fed("x\n", &format!("{line} {client}")));
    }
    place
        .fed("x\n", &format!("publish dev/topic QM1 {client}"))
        .good();
    refused(&place.fed("DISPLAY QMGR\n", &format!("mqsc -c QM1 {client}")));
    refused(&place.fed(
        "DISPLAY QMGR\n",
        &format!("mqsc -c QM1 {}", by(&serving, "DEV.ADMIN.SVRCONN")),
    ));
    // Beside the network the owner administers.
    place.mqsc("DISPLAY QMGR", "QM1").good();
    serving.end();
}

#[test]
fn who_administers_by_a_channel_is_admin_by_password() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let passwords = made(&place, "QM1");
    let client = by(&serving, "DEV.ADMIN.SVRCONN");
    let as_user = |user: &str, password: &str, script: &str| {
        let line = format!("mqsc -c QM1 {client} -u {user}");
        place.fed(format!("{password}\n{script}\n"), &line)
    };
    let script = "DEFINE QLOCAL(NEW)\nDEFINE CHANNEL(C) CHLTYPE(SVRCONN)\nALTER QMGR DESCR('x')\n\
                  SET AUTHREC PROFILE(NEW) OBJTYPE(QUEUE) PRINCIPAL('app') AUTHADD(GET)\nDELETE QLOCAL(NEW)";
    as_user("admin", &passwords["admin"], script).good();
    refused(&as_user("admin", "wrong", "DISPLAY QMGR"));
    refused(&as_user("admin", &passwords["app"], "DISPLAY QMGR"));
    refused(&as_user("app", &passwords["app"], "DISPLAY QMGR"));
    serving.end();
}

#[test]
fn channels_of_the_system_are_blocked() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let passwords = made(&place, "QM1");
    for channel in ["SYSTEM.DEF.SVRCONN", "SYSTEM.ADMIN.SVRCONN"] {
        let client = by(&serving, channel);
        for user in ["app", "admin"] {
            let line = format!("put DEV.QUEUE.1 QM1 {client} -u {user}");
            refused(&place.fed(format!("{}\nx\n", passwords[user]), &line));
        }
        refused(&place.fed("x\n", &format!("put DEV.QUEUE.1 QM1 {client}")));
    }
    place.logged("QM1", "AMQ9777E");
    serving.end();
}

/// This program where another user can run it.
fn program_for_others() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = folder.path().join("posthaste");
    if std::fs::hard_link(BINARY, &path).is_err() {
        std::fs::copy(BINARY, &path).unwrap();
    }
    (folder, path)
}

#[test]
fn another_user_of_the_machine_needs_a_password() {
    const DAEMON: u32 = 1;
    let place = Place::new();
    if std::fs::metadata(place.path()).unwrap().uid() != 0 {
        return skipped("only root can be another user");
    }
    let (_folder, program) = program_for_others();
    let serving = place.serving("QM1");
    let client = by(&serving, "DEV.APP.SVRCONN");
    let put = |more: &str, input: &str| {
        let mut command = std::process::Command::new(&program);
        let line = format!("put DEV.QUEUE.1 QM1 {client}{more}");
        command.args(line.split(' ')).env("HOME", "/nonexistent");
        command.current_dir("/").env_remove("MQSERVER");
        command.uid(DAEMON).gid(DAEMON);
        fed(command, input.as_bytes())
    };
    refused(&put("", "x\n"));
    let passwords = made(&place, "QM1");
    put(" -u app", &format!("{}\nx\n", passwords["app"])).good();
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    serving.end();
}

#[test]
fn a_listener_of_the_network_needs_tls_or_to_be_asked_for() {
    let place = Place::new();
    // An address that no machine has: nothing is listened on, whatever is let.
    let elsewhere = ["--port", "0", "--bind", "192.0.2.1"];
    let serving = place.serving_with("QM1", &elsewhere);
    let text = serving.welcome.join("\n");
    assert!(
        text.contains("AMQ2049E") && text.contains("--insecure"),
        "{text}"
    );
    place.logged("QM1", "AMQ2049E");
    let define = "DEFINE LISTENER(L) TRPTYPE(TCP) PORT(0) IPADDR('192.0.2.1')\nSTART LISTENER(L)\n";
    let outcome = place.mqsc(define, "QM1");
    assert!(
        outcome.out.contains("AMQ2049E") && outcome.out.contains("DEV."),
        "{}",
        outcome.out
    );
    // By none of its channels clients come in without TLS.
    let tls = "ALTER CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS12_OR_HIGHER) SSLCAUTH(OPTIONAL)\n";
    place.mqsc(tls, "QM1").good();
    let outcome = place.mqsc("START LISTENER(L)", "QM1");
    assert!(outcome.out.contains("DEV.ADMIN.SVRCONN"), "{}", outcome.out);
    place.mqsc(&tls.replace("APP", "ADMIN"), "QM1").good();
    let outcome = place.mqsc("START LISTENER(L)", "QM1");
    assert!(outcome.out.contains("AMQ9218E"), "{}", outcome.out);
    // Nor without a password, if they need no certificate.
    place
        .mqsc(
            "ALTER QMGR CONNAUTH(' ')\nREFRESH SECURITY(*) TYPE(CONNAUTH)",
            "QM1",
        )
        .good();
    let outcome = place.mqsc("START LISTENER(L)", "QM1");
    assert!(
        outcome.out.contains("AMQ2049E") && outcome.out.contains("CONNAUTH"),
        "{}",
        outcome.out
    );
    serving.end();
    // It is asked for once.
    for more in [&["--insecure"][..], &[]] {
        let serving = place.serving_with("QM1", &[&elsewhere[..], more].concat());
        let text = serving.welcome.join("\n");
        assert!(
            !text.contains("AMQ2049E") && text.contains("not on 192.0.2.1"),
            "{text}"
        );
        let outcome = place.mqsc("START LISTENER(L)", "QM1");
        assert!(outcome.out.contains("AMQ9218E"), "{}", outcome.out);
        serving.end();
    }
}

/// `posthaste run QM1` in a network of its own, which nobody reaches; none where none can be made.
fn on_every_address(place: &Place, more: &[&str]) -> Option<Serving> {
    let may = ["-r", "-n", "true"];
    let tried = std::process::Command::new("unshare").args(may).status();
    if !tried.is_ok_and(|status| status.success()) {
        skipped("no network namespace can be made");
        return None;
    }
    let mut command = std::process::Command::new("unshare");
    let line = "run QM1 --port 0 --bind 0.0.0.0";
    command.args(["-r", "-n", BINARY]).args(line.split(' '));
    command.args(more).env("POSTHASTE_DATA", place.data());
    Some(Serving::start(command))
}

#[test]
fn whoever_opens_a_channel_while_a_listener_of_the_network_runs_is_warned() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let tls = |channel: &str, spec: &str| {
        let alter = format!(
            "ALTER CHANNEL({channel}) CHLTYPE(SVRCONN) SSLCIPH('{spec}') SSLCAUTH(OPTIONAL)\n"
        );
        place.mqsc(&alter, "QM1").good().out
    };
    let any = "ANY_TLS12_OR_HIGHER";
    let closed = [tls("DEV.APP.SVRCONN", any), tls("DEV.ADMIN.SVRCONN", any)];
    assert!(!closed.concat().contains("AMQ2050W"), "{closed:?}");
    serving.end();
    let Some(serving) = on_every_address(&place, &[]) else {
        return;
    };
    assert!(tls("DEV.APP.SVRCONN", " ").contains("AMQ2050W"));
    place.logged("QM1", "AMQ2050W");
    assert!(!tls("DEV.APP.SVRCONN", " ").contains("AMQ2050W"), "once");
    // Another one, and that one by its name; closing one says nothing of the other.
    let other = place.mqsc("DEFINE CHANNEL(OTHER) CHLTYPE(SVRCONN)\n", "QM1");
    let other = other.good().out;
    assert!(other.contains("channel OTHER: "), "{other}");
    assert!(!other.contains("DEV.APP.SVRCONN"), "{other}");
    assert!(!tls("DEV.APP.SVRCONN", any).contains("AMQ2050W"));
    assert!(tls("DEV.APP.SVRCONN", " ").contains("AMQ2050W"));
    place.mqsc("DELETE CHANNEL(OTHER)\n", "QM1").good();
    assert!(!tls("DEV.APP.SVRCONN", any).contains("AMQ2050W"));
    for opens in [
        "ALTER QMGR CHLAUTH(DISABLED)\n",
        "DEFINE CHANNEL(OPEN) CHLTYPE(SVRCONN)\n",
        "ALTER QMGR CONNAUTH(' ')\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n",
    ] {
        let out = place.mqsc(opens, "QM1").good().out;
        assert!(out.contains("AMQ2050W"), "{opens}{out}");
        let closes = "ALTER QMGR CHLAUTH(ENABLED) CONNAUTH(OWN.USERS)\nREFRESH SECURITY(*) TYPE(CONNAUTH)\nDELETE CHANNEL(OPEN)\n";
        place.mqsc(closes, "QM1");
    }
    serving.end();
}

#[test]
fn a_listener_of_the_network_that_was_asked_for_is_warned_of() {
    let place = Place::new();
    place.serving("QM1").end();
    let Some(serving) = on_every_address(&place, &["--insecure"]) else {
        return;
    };
    let listens = serving
        .welcome
        .iter()
        .any(|line| line.contains("Listening  0.0.0.0:"));
    assert!(listens, "{:?}", serving.welcome);
    place.logged("QM1", "AMQ2050W");
    serving.end();
}

/// One that was made without what closes it, as earlier releases have made them.
fn older(data: &Path) {
    let mut commands = developer_objects();
    commands.push(listener_object(0, "127.0.0.1"));
    let creation = Creation {
        name: "QM1".to_owned(),
        shape: ini::Shape {
            file_pages: 256,
            primary: 3,
            ..ini::Shape::default()
        },
        access: Access::Unchecked,
        commands,
        ..Creation::default()
    };
    create(
        &posthaste_env::os(),
        &DataDir::at(data),
        &creation,
        &mut |_, _| {},
    )
    .unwrap();
}

#[test]
fn an_older_queue_manager_stays_as_it_was() {
    let place = Place::new();
    older(&place.data());
    let path = place.home("QM1").join("qm.ini");
    let configuration = std::fs::read_to_string(&path).unwrap();
    assert!(!configuration.contains("AuthorizationService"));
    for _ in 0..2 {
        let serving = place.serving("QM1");
        assert!(!says_made(&serving));
        let client = by(&serving, "DEV.APP.SVRCONN");
        place.mqsc("DEFINE QLOCAL(OTHER) REPLACE", "QM1").good();
        place.fed("x\n", &format!("put OTHER QM1 {client}")).good();
        let shown = place
            .mqsc("DISPLAY QMGR CHLAUTH CONNAUTH", "QM1")
            .good()
            .out;
        assert!(
            shown.contains("CHLAUTH(DISABLED)") && shown.contains("CONNAUTH( )"),
            "{shown}"
        );
        serving.end();
    }
    let serving = place.serving("QM1");
    let report = place.line("doctor QM1");
    for check in ["passwords", "channel records", "authorities"] {
        let warned = report.out.contains(&format!("WARN  {check} "));
        assert!(warned, "{check}: {}", report.out);
    }
    serving.end();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), configuration);
    assert!(!place.home("QM1").join("first-passwords").exists());
    let serving = place.serving_with("QM1", &["--port", "0", "--bind", "192.0.2.1"]);
    let text = serving.welcome.join("\n");
    assert!(!text.contains("AMQ2049E"), "{text}");
    serving.end();
}

/// By its name as it is written, and also where there is none of that name.
#[test]
fn the_doctor_finds_the_object_that_connauth_names() {
    let place = Place::new();
    place.line("create -lf 256 -lp 3 QM1").good();
    let serving = place.serving("QM1");
    for command in [
        "DEFINE CHANNEL(OPEN) CHLTYPE(SVRCONN)",
        "DEFINE AUTHINFO('own.users') AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(OPTIONAL)",
        "ALTER QMGR CONNAUTH('own.users')",
    ] {
        place.mqsc(command, "QM1").good();
    }
    let passwords = || {
        let report = place.line("doctor --json QM1").out;
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let mut checks = report["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["check"] == "passwords").unwrap();
        ["found", "remedy"].map(|key| check[key].as_str().unwrap_or_default().to_owned())
    };
    let [found, remedy] = passwords();
    assert!(
        found.starts_with("own.users has CHCKCLNT(OPTIONAL)"),
        "{found}"
    );
    // As it is shown, the remedy works.
    let typed = std::process::Command::new("sh")
        .args(["-c", &remedy])
        .output();
    let typed = typed.unwrap();
    assert!(typed.status.success(), "{remedy}: {typed:?}");
    let [found, _] = passwords();
    assert_eq!(found, "own.users demands one of every client");
    place.mqsc("ALTER QMGR CONNAUTH('not.there')", "QM1").good();
    let [found, remedy] = passwords();
    assert_eq!(found, "CONNAUTH names not.there, which is not there");
    assert!(remedy.contains("users add USER QM1"), "{remedy}");
    serving.end();
}

/// One that a record opens for somebody, whoever else is blocked.
#[test]
fn the_doctor_warns_of_a_channel_of_the_system_that_is_open_for_somebody() {
    const CHANNEL: &str = "SYSTEM.DEF.SVRCONN";
    let place = Place::new();
    place.line("create -lf 256 -lp 3 QM1").good();
    let serving = place.serving("QM1");
    let open = || {
        let report = place.line("doctor QM1").out;
        assert!(report.contains(" channel records "), "{report}");
        report.contains(&format!("{CHANNEL} is not blocked"))
    };
    let admin = "SET CHLAUTH(SYSTEM.ADMIN.SVRCONN) TYPE(ADDRESSMAP) ACTION(REMOVEALL)";
    place.mqsc(admin, "QM1").good();
    assert!(!open());
    for of in [
        "TYPE(USERMAP) CLNTUSER('alice') USERSRC(CHANNEL)",
        "TYPE(SSLPEERMAP) SSLPEER('CN=a') MCAUSER('bob')",
    ] {
        place
            .mqsc(&format!("SET CHLAUTH({CHANNEL}) {of}"), "QM1")
            .good();
        assert!(open(), "{of}");
        let (of, _) = of.rsplit_once(' ').unwrap();
        let remove = format!("SET CHLAUTH({CHANNEL}) {of} ACTION(REMOVE)");
        place.mqsc(&remove, "QM1").good();
        assert!(!open(), "{of}");
    }
    serving.end();
}

#[test]
fn a_queue_manager_that_was_created_lets_nobody_in_without_a_password() {
    let place = Place::new();
    place.line("create -lf 256 -lp 3 QM1").good();
    let serving = place.serving("QM1");
    assert!(!says_made(&serving));
    place
        .mqsc(
            "DEFINE CHANNEL(C) CHLTYPE(SVRCONN)\nDEFINE QLOCAL(Q)",
            "QM1",
        )
        .good();
    let put = format!("put Q QM1 {}", by(&serving, "C"));
    refused(&place.fed("x\n", &put));
    place.fed("right\n", "users add alice QM1").good();
    let as_alice = format!("{put} -u alice");
    refused(&place.fed("right\nx\n", &as_alice));
    place
        .line("setmqaut -m QM1 -t qmgr -p alice +connect")
        .good();
    place
        .line("setmqaut -m QM1 -t queue -n Q -p alice +put")
        .good();
    place.fed("right\nx\n", &as_alice).good();
    refused(&place.fed("wrong\nx\n", &as_alice));
    assert_eq!(place.depth("Q", "QM1"), 1);
    serving.end();
}
