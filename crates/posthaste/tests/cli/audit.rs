//! The audit log: who did what, from where, and what came of it, with nobody's password.

use serde_json::Value;
use std::time::{Duration, Instant};

use crate::place::{Place, outcome};
use crate::written::found_in;

const SECRETS: [&str; 3] = ["Rightpassword1", "Wrongpassword2", "Geheimesldap3"];

fn audit_log(place: &Place) -> Vec<Value> {
    let path = place.home("QM1").join("errors/AUDIT01.json");
    let text = std::fs::read_to_string(path).unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// The line of an event with this message number; it is waited for.
fn event(place: &Place, name: &str, message: &str) -> Value {
    let is_it = |line: &Value| line["event"] == name && line["result"]["message"] == message;
    let line = found_in(&place.home("QM1").join("errors"), || {
        audit_log(place).into_iter().find(is_it)
    });
    line.unwrap_or_else(|| panic!("no {name} {message}: {:#?}", audit_log(place)))
}

#[test]
fn refusals_and_commands_are_in_the_audit_log_and_no_password_is() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place.fed("Rightpassword1\n", "users add alice QM1").good();
    let me = outcome(std::process::Command::new("id").arg("-un")).good();
    let me = me.out.trim().to_owned();
    let demand = "\
        DEFINE AUTHINFO(USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(REQUIRED) CHCKLOCL(OPTIONAL) FAILDLAY(0)\n\
        ALTER QMGR CONNAUTH(USERS) CHLAUTH(ENABLED)\n\
        REFRESH SECURITY(*) TYPE(CONNAUTH)\n\
        DEFINE CHANNEL(TLS.ONLY) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS12_OR_HIGHER)\n\
        DEFINE CHANNEL(NOBODY) CHLTYPE(SVRCONN)\n\
        SET CHLAUTH(NOBODY) TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)\n\
        SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('alice') AUTHADD(CONNECT)\n\
        SET AUTHREC PROFILE(DEV.QUEUE.1) OBJTYPE(QUEUE) PRINCIPAL('alice') AUTHADD(PUT)\n\
        DISPLAY QMGR CONNAUTH\n";
    place.mqsc(demand, "QM1").good();
    let secret = "ALTER QMGR DESCR('a') KEYRPWD('Geheimesldap3')\nDELETE QLOCAL(NONE)\n";
    place.mqsc(secret, "QM1");
    let put = |channel: &str, password: &str| {
        let connect = format!("{channel}/TCP/127.0.0.1({})", serving.port());
        let line = format!("put DEV.QUEUE.1 QM1 --connect {connect} -u alice");
        place.fed(format!("{password}\nHello\n"), &line)
    };
    put("DEV.APP.SVRCONN", "Rightpassword1").good();
    for (channel, password) in [
        ("DEV.APP.SVRCONN", "Wrongpassword2"),
        ("TLS.ONLY", "Rightpassword1"),
        ("NOBODY", "Rightpassword1"),
        ("NO.SUCH.CHANNEL", "Rightpassword1"),
    ] {
        assert_ne!(put(channel, password).code, 0, "{channel}");
    }
    let wrong = event(&place, "connection-refused", "AMQ5534E");
    assert_eq!(wrong["who"]["claimed"], "alice");
    assert_eq!(wrong["from"]["address"], "127.0.0.1");
    assert_eq!(wrong["from"]["channel"], "DEV.APP.SVRCONN");
    assert_eq!(wrong["what"]["call"], "MQCONN");
    assert_eq!(wrong["result"]["name"], "MQRC_NOT_AUTHORIZED");
    let plain = event(&place, "tls-refused", "AMQ9639E");
    assert_eq!(plain["from"]["channel"], "TLS.ONLY");
    assert_eq!(plain["result"]["reason"], 2371);
    let blocked = event(&place, "channel-blocked", "AMQ9777E");
    assert_eq!(blocked["from"]["channel"], "NOBODY");
    assert_eq!(blocked["who"]["claimed"], "alice");
    let because = blocked["what"]["because"].as_str().unwrap();
    assert!(because.contains("NOBODY"), "{because}");
    assert_eq!(blocked["result"]["reason"], 2577);
    let unknown = event(&place, "connection-refused", "AMQ9519E");
    assert_eq!(unknown["from"]["channel"], "NO.SUCH.CHANNEL");
    let changed = event(&place, "command", "AMQ8005I");
    assert_eq!(changed["who"]["user"], me);
    assert_eq!(changed["what"]["object"], "QM1");
    let text = "ALTER QMGR CONNAUTH(USERS) CHLAUTH(ENABLED)";
    assert_eq!(changed["what"]["command"], text);
    let failed = event(&place, "command", "AMQ8147E");
    assert_eq!(failed["result"]["reason"], 2085);
    serving.end();
    let lines = audit_log(&place);
    assert_eq!(lines[0]["event"], "start");
    assert_eq!(lines.last().unwrap()["event"], "end");
    assert_eq!(
        lines.last().unwrap()["what"]["because"],
        "Ending immediately"
    );
    let users: Vec<_> = lines
        .iter()
        .filter(|line| line["event"] == "users")
        .collect();
    assert_eq!(users.len(), 1);
    assert_eq!(users[0]["what"]["command"], "users add alice");
    assert_eq!(users[0]["who"]["user"], me);
    let commands = lines.iter().filter(|line| line["event"] == "command");
    let texts: Vec<&str> = commands
        .filter_map(|line| line["what"]["command"].as_str())
        .collect();
    assert!(
        !texts.iter().any(|text| text.contains("DISPLAY")),
        "{texts:?}"
    );
}

#[test]
fn qm_ini_says_what_is_audited() {
    let place = Place::new();
    place.line("create QM1").good();
    let ini = place.home("QM1").join("qm.ini");
    let text = std::fs::read_to_string(&ini).unwrap();
    assert!(text.contains("#Connections=NO"), "{text}");
    let all = text.replace("#Connections=NO", "Connections=YES");
    std::fs::write(&ini, &all).unwrap();
    let serving = place.serving("QM1");
    place
        .fed("Hello\n", "put SYSTEM.DEFAULT.LOCAL.QUEUE QM1")
        .good();
    serving.end();
    let lines = audit_log(&place);
    let connected = lines
        .iter()
        .find(|line| line["event"] == "connect")
        .unwrap();
    assert!(
        connected["from"]["process"]
            .as_u64()
            .is_some_and(|pid| pid > 1)
    );
    assert_eq!(connected["from"]["channel"], Value::Null);
    std::fs::write(&ini, text.replace("#Enabled=YES", "Enabled=NO")).unwrap();
    place.serving("QM1").end();
    assert_eq!(audit_log(&place).len(), lines.len(), "nothing was added");
}

#[test]
fn events_of_a_running_queue_manager_reach_their_queues() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let script = "ALTER QMGR CMDEV(NODISPLAY) CONFIGEV(ENABLED) SSLEV(ENABLED) CHLEV(EXCEPTION) STRSTPEV(ENABLED)\n\
                  DEFINE CHANNEL(TLS.ONLY) CHLTYPE(SVRCONN) SSLCIPH(ANY_TLS12_OR_HIGHER)\n";
    place.mqsc(script, "QM1").good();
    let shown = place.mqsc("DISPLAY QMGR EVENT", "QM1").good().out;
    assert!(
        shown.contains("SSLEV(ENABLED)") && shown.contains("CHLEV(EXCEPTION)"),
        "{shown}"
    );
    let connect = format!("TLS.ONLY/TCP/127.0.0.1({})", serving.port());
    let put = place.fed(
        "Hello\n",
        &format!("put DEV.QUEUE.1 QM1 --connect {connect}"),
    );
    assert_ne!(put.code, 0);
    let depth = |queue: &str, expected: u64| {
        let queue = format!("SYSTEM.ADMIN.{queue}.EVENT");
        let deadline = Instant::now() + Duration::from_secs(60);
        while place.depth(&queue, "QM1") < expected {
            assert!(Instant::now() < deadline, "{queue}");
            std::thread::yield_now();
        }
        assert_eq!(place.depth(&queue, "QM1"), expected, "{queue}");
    };
    depth("COMMAND", 2);
    depth("CONFIG", 3);
    depth("CHANNEL", 1);
    depth("QMGR", 0);
    serving.end();
    let serving = place.serving("QM1");
    depth("QMGR", 1);
    serving.end();
}
