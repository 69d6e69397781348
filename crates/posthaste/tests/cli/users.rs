//! A queue manager's own users: made by a command, demanded by CONNAUTH, and whoever is refused.

use std::os::unix::fs::PermissionsExt;

use crate::place::{OPEN, Outcome, Place, Serving, fed, outcome};

const DEMAND: &str = "\
    DEFINE AUTHINFO(USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(REQUIRED) CHCKLOCL(OPTIONAL) FAILDLAY(0)\n\
    ALTER QMGR CONNAUTH(USERS)\n\
    REFRESH SECURITY(*) TYPE(CONNAUTH)\n";

/// What alice may do: to administer queues and the queue manager.
const GRANT: &str = "\
    SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('alice') AUTHADD(ALL)\n\
    SET AUTHREC PROFILE('**') OBJTYPE(QUEUE) PRINCIPAL('alice') AUTHADD(ALL)\n";

/// A queue manager whose clients of this machine need a password as others do.
fn serving(place: &Place) -> Serving {
    place.serving("QM1").end();
    let path = place.home("QM1").join("qm.ini");
    let text = std::fs::read_to_string(&path).unwrap();
    let closed = text.replace("   LoopbackUser=app\n", "");
    assert_ne!(closed, text);
    std::fs::write(&path, closed).unwrap();
    place.serving("QM1")
}

fn refused(outcome: &Outcome) -> bool {
    outcome.code != 0 && (outcome.err.contains("2035") || outcome.out.contains("2035"))
}

#[test]
fn users_are_added_listed_and_removed() {
    let place = Place::new();
    place.line("create QM1").good();
    place.fed("right\n", "users add bob QM1").good();
    place.fed("right\n", "users add alice QM1").good();
    assert_eq!(place.line("users list QM1").good().out, "alice\nbob\n");
    let path = place.home("QM1").join("users");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("alice:$argon2id$") && !text.contains("right"),
        "{text}"
    );
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    for (input, line) in [
        ("right\n", "users add alice QM1"),
        ("\n", "users add carol QM1"),
        ("", "users add carol QM1"),
        ("right\n", "users add a:b QM1"),
        ("right\n", "users passwd carol QM1"),
        ("", "users remove carol QM1"),
    ] {
        let outcome = place.fed(input, line);
        assert!(
            outcome.code != 0 && outcome.err.contains("AMQ2232E"),
            "{line}: {}",
            outcome.err
        );
    }
    place.fed("left\n", "users passwd bob QM1").good();
    place.line("users remove alice QM1").good();
    assert_eq!(place.line("users list QM1").good().out, "bob\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let outcome = place.line("users list QM1");
    assert!(
        outcome.code != 0 && outcome.err.contains("644"),
        "{}",
        outcome.err
    );
}

#[test]
fn a_command_gives_its_password_and_comes_in_or_not() {
    let place = Place::new();
    let serving = serving(&place);
    place.fed("right\n", "users add alice QM1").good();
    place.mqsc(DEMAND, "QM1").good();
    place.mqsc(GRANT, "QM1").good();
    let connect = format!(
        "--connect DEV.APP.SVRCONN/TCP/127.0.0.1({})",
        serving.port()
    );
    let put = format!("put DEV.QUEUE.1 QM1 {connect}");
    // The password is the first line, and the messages are the others.
    place
        .fed("right\nHello\n", &format!("{put} -u alice"))
        .good();
    let browsed = place.line("browse DEV.QUEUE.1 QM1").good();
    assert!(
        browsed.out.contains("Hello") && browsed.out.contains("alice"),
        "{}",
        browsed.out
    );
    for (input, more) in [("wrong\nHello\n", "-u alice"), ("Hello\n", "")] {
        let outcome = place.fed(input, format!("{put} {more}").trim_end());
        assert!(refused(&outcome), "{more}: {} {}", outcome.out, outcome.err);
    }
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    let file = place.path().join("password");
    std::fs::write(&file, "right\n").unwrap();
    let with_file = format!("-u alice --password-file {}", file.display());
    place.fed("Again\n", &format!("{put} {with_file}")).good();
    let got = place
        .line(&format!("get DEV.QUEUE.1 QM1 {connect} {with_file}"))
        .good();
    assert!(
        got.out.contains("Hello") && got.out.contains("Again"),
        "{}",
        got.out
    );
    // A script's commands begin behind the password.
    let script = "right\nDISPLAY QMGR CONNAUTH\n";
    let mqsc = place.fed(script, &format!("mqsc -c QM1 {connect} -u alice"));
    assert!(mqsc.good().out.contains("CONNAUTH(USERS)"));
    // As MQ's samples do it.
    for (password, code) in [("right", 0), ("wrong", 1)] {
        let mut sample = place.named("amqsputc");
        sample.args(["DEV.QUEUE.2", "QM1"]);
        sample.env("MQSAMP_USER_ID", "alice");
        sample.env(
            "MQSERVER",
            format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port()),
        );
        let outcome = fed(sample, format!("{password}\nOf a sample\n").as_bytes());
        assert_eq!(outcome.code == 0, code == 0, "{}", outcome.out);
        let is_refused = outcome.out.contains("MQCONN ended with reason code 2035");
        assert_eq!(is_refused, code != 0, "{}", outcome.out);
    }
    assert_eq!(place.depth("DEV.QUEUE.2", "QM1"), 1);
    // Who is removed comes in no more.
    place.line("users remove alice QM1").good();
    let outcome = place.fed("right\nHello\n", &format!("{put} -u alice"));
    assert!(refused(&outcome), "{}", outcome.err);
    serving.end();
}

/// Where whoever comes without a password would be let in as somebody else.
#[test]
fn who_is_named_with_an_empty_password_is_sent_as_nobody_else() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("right\n", "users add alice QM1").good();
    place.mqsc(DEMAND, "QM1").good();
    place.mqsc(GRANT, "QM1").good();
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    place
        .fed(
            "Hello\n",
            &format!("put DEV.QUEUE.1 QM1 --connect {server}"),
        )
        .good();
    let file = place.path().join("password");
    for content in ["", "\n", "\nright\n"] {
        std::fs::write(&file, content).unwrap();
        for (command, code) in [
            ("put DEV.QUEUE.1 QM1", 39),
            ("get DEV.QUEUE.1 QM1", 39),
            ("browse DEV.QUEUE.1 QM1", 39),
            ("publish prices QM1", 39),
            ("subscribe prices QM1", 39),
            ("save QM1", 39),
            // None of its commands could be tried.
            ("mqsc QM1", 20),
        ] {
            for to in [format!(" --connect {server}"), String::new()] {
                for user in ["alice", "nosuch"] {
                    let line = format!("{command}{to} -u {user}");
                    let outcome = place.fed(content, &line).failed_with(code, "AMQ2402E");
                    assert!(
                        outcome
                            .err
                            .contains(&format!("password of {user} is empty"))
                    );
                    let line = format!("{line} --password-file {}", file.display());
                    place.fed("Other\n", &line).failed_with(code, "AMQ2402E");
                }
            }
        }
        let mut sample = place.named("amqsputc");
        sample.args(["DEV.QUEUE.1", "QM1"]);
        sample
            .env("MQSAMP_USER_ID", "alice")
            .env("MQSERVER", &server);
        let outcome = fed(sample, content.as_bytes());
        assert!(refused(&outcome), "{outcome:?}");
    }
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    serving.end();
}

#[test]
fn who_is_on_this_machine_is_whom_the_kernel_names() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let runs = outcome(std::process::Command::new("id").arg("-un")).good();
    let me = runs.out.trim().to_owned();
    place.fed("right\n", "users add alice QM1").good();
    place.mqsc(OPEN, "QM1").good();
    place.mqsc(GRANT, "QM1").good();
    let put = "put DEV.QUEUE.1 QM1";
    let users = || {
        let browsed = place.line("browse DEV.QUEUE.1 QM1").good();
        place.line("get DEV.QUEUE.1 QM1").good();
        browsed.out
    };
    // Whatever is claimed, with a password that nobody looks at.
    place
        .fed("guess\nHello\n", &format!("{put} -u alice"))
        .good();
    let shown = users();
    assert!(shown.contains(&me) && !shown.contains("alice"), "{shown}");
    place.mqsc(DEMAND, "QM1").good();
    place
        .fed("right\nHello\n", &format!("{put} -u alice"))
        .good();
    assert!(users().contains("alice"), "a right password is adopted");
    let outcome = place.fed("wrong\nHello\n", &format!("{put} -u alice"));
    assert!(refused(&outcome), "{}", outcome.err);
    let require = "ALTER AUTHINFO(USERS) AUTHTYPE(IDPWOS) CHCKLOCL(REQUIRED)\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n";
    place.mqsc(require, "QM1").good();
    let outcome = place.fed("Hello\n", put);
    assert!(refused(&outcome), "{}", outcome.err);
    place
        .fed("right\nHello\n", &format!("{put} -u alice"))
        .good();
    let relax = "right\nALTER QMGR CONNAUTH(' ')\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n";
    place.fed(relax, "mqsc QM1 -u alice").good();
    place.fed("Hello\n", put).good();
    serving.end();
}

/// Nobody listens where the directory should be; who administers here can put it right.
#[test]
fn a_directory_that_is_gone_lets_no_client_in() {
    let place = Place::new();
    let serving = serving(&place);
    let any = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = any.local_addr().unwrap().port();
    drop(any);
    let demand = format!(
        "DEFINE AUTHINFO(LDAP) AUTHTYPE(IDPWLDAP) CONNAME('127.0.0.1({port})') SHORTUSR(uid) USRFIELD(uid) +\n\
         BASEDNU('ou=users') CHCKCLNT(REQUIRED) CHCKLOCL(OPTIONAL) FAILDLAY(0)\n\
         ALTER QMGR CONNAUTH(LDAP)\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n"
    );
    place.mqsc(&demand, "QM1").good();
    let connect = format!(
        "--connect DEV.APP.SVRCONN/TCP/127.0.0.1({})",
        serving.port()
    );
    let put = format!("put DEV.QUEUE.1 QM1 {connect} -u alice");
    let outcome = place.fed("right\nHello\n", &put);
    let shown = format!("{}{}", outcome.out, outcome.err);
    assert!(outcome.code != 0 && shown.contains("2063"), "{shown}");
    place.logged("QM1", "AMQ2602E");
    place.logged("QM1", &format!("127.0.0.1:{port}"));
    let bad = "ALTER AUTHINFO(LDAP) AUTHTYPE(IDPWLDAP) SHORTUSR('u)(d')\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n";
    let outcome = place.mqsc(bad, "QM1");
    assert!(
        outcome.code != 0 && outcome.out.contains("AMQ2604E") && outcome.out.contains("SHORTUSR"),
        "{}",
        outcome.out
    );
    place.fed("Hello\n", "put DEV.QUEUE.1 QM1").good();
    serving.end();
}

/// Longer than a server that says nothing is waited for otherwise.
#[test]
fn a_command_waits_for_a_refusal_that_is_held_back() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("right\n", "users add alice QM1").good();
    place
        .mqsc(&DEMAND.replace("FAILDLAY(0)", "FAILDLAY(11)"), "QM1")
        .good();
    let connect = format!(
        "--connect DEV.APP.SVRCONN/TCP/127.0.0.1({})",
        serving.port()
    );
    let put = format!("put DEV.QUEUE.1 QM1 {connect} -u alice");
    let outcome = place.fed("wrong\nHello\n", &put);
    assert!(refused(&outcome), "{} {}", outcome.out, outcome.err);
    // Whoever says so does not wait so long.
    let outcome = place.fed("wrong\nHello\n", &format!("{put} -w 1"));
    assert!(
        outcome.code != 0 && !refused(&outcome),
        "{} {}",
        outcome.out,
        outcome.err
    );
    serving.end();
}
