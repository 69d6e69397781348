//! Branches of global transactions as an operator sees them and decides about them, and what their transaction manager
//! is told then.

use posthaste_client::{Address, Connect, Connection};
use posthaste_mqi::constants::{MQOO_OUTPUT, MQPER_PERSISTENT, MQPMO_SYNCPOINT};
use posthaste_mqi::xa::*;
use posthaste_mqi::{Md, Name, Od, Pmo, Xid};

use serde_json::Value;

use crate::place::{Place, Serving, outcome};
use crate::written::found_in;

fn xid(n: u8) -> Xid {
    Xid::new(5067085, &[n; 12], &[n]).unwrap()
}

fn connected(serving: &Serving) -> Connection {
    let address = Address::Tcp {
        host: "127.0.0.1".to_owned(),
        port: serving.port(),
    };
    let mut c = Connection::open(&Connect::new(address, "DEV.APP.SVRCONN", "QM1")).unwrap();
    assert_eq!(c.xa_open(TMNOFLAGS).unwrap(), XA_OK);
    c
}

/// A branch with a message that it has put, as far as it is worked on.
fn work(c: &mut Connection, n: u8) {
    let mut od = Od {
        object_name: Name::new("DEV.QUEUE.1"),
        ..Od::default()
    };
    let queue = c.open_object(&mut od, MQOO_OUTPUT).unwrap().value;
    assert_eq!(c.xa_start(&xid(n), TMNOFLAGS).unwrap(), XA_OK);
    let mut md = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_SYNCPOINT,
        ..Pmo::default()
    };
    c.put(queue, &mut md, &mut pmo, &[n]).unwrap();
}

fn prepared(c: &mut Connection, n: u8) {
    work(c, n);
    assert_eq!(c.xa_end(&xid(n), TMSUCCESS).unwrap(), XA_OK);
    assert_eq!(c.xa_prepare(&xid(n), TMNOFLAGS).unwrap(), XA_OK);
}

/// The numbers of the transactions that are shown.
fn numbers(shown: &str) -> Vec<String> {
    let lines = shown.lines();
    lines
        .filter_map(|line| line.strip_prefix("AMQ7056I: Transaction number "))
        .map(|rest| rest.split(", state").next().unwrap_or(rest).to_owned())
        .collect()
}

/// The line of the audit log about a branch that is meant; it is waited for.
fn until(place: &Place, is_meant: impl Fn(&Value) -> bool) -> Value {
    let folder = place.home("QM1").join("errors");
    let log = || std::fs::read_to_string(folder.join("AUDIT01.json")).unwrap();
    let line = found_in(&folder, || {
        let text = log();
        // The last line may not be whole yet.
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut lines = lines.filter(|line: &Value| line["event"] == "branch");
        lines.find(&is_meant)
    });
    line.unwrap_or_else(|| panic!("{}", log()))
}

/// Waits for lines of these operators, with these commands about these branches, and what came of them.
fn until_audited(place: &Place, expected: &[(String, String, String, i64)]) {
    for (user, command, branch, reason) in expected {
        let line = until(place, |line| line["what"]["command"] == **command);
        assert_eq!(line["who"]["user"], **user);
        assert_eq!(line["what"]["object"], **branch);
        assert_eq!(line["result"]["reason"], *reason);
    }
}

#[test]
fn an_operator_decides_and_the_transaction_manager_is_told() {
    let place = Place::new();
    place.line("dspmqtrn -m QM1").failed_with(16, "AMQ8118E");
    let serving = place.serving("QM1");
    for flags in ["", " -e", " -h", " -i", " -a"] {
        let line = format!("dspmqtrn -m QM1{flags}");
        place.line(&line).failed_with(102, "AMQ2073I");
    }
    let mut c = connected(&serving);
    for n in 1..=3 {
        prepared(&mut c, n);
    }
    let shown = place.line("dspmqtrn -m QM1").good().out;
    let numbered = numbers(&shown);
    assert_eq!(numbered.len(), 3, "{shown}");
    for line in [
        ", state PREPARED.",
        "        XID: formatID 5067085, gtrid_length 12, bqual_length 1",
        "             gtrid [020202020202020202020202]",
        "             bqual [02]",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert_eq!(place.line("transactions QM1 -e").good().out, shown);
    place
        .line("dspmqtrn -m QM1 -h")
        .failed_with(102, "AMQ2073I");
    let conn = place.mqsc("DISPLAY CONN(*) WHERE(UOWSTATE EQ PREPARED) ALL", "QM1");
    let conn = conn.good().out;
    for part in [
        "CONN(0000000000000000)",
        "URTYPE(XA)",
        "EXTURID(XA_FORMATID[5067085] XA_GTRID[030303030303030303030303] XA_BQUAL[03])",
    ] {
        assert!(conn.contains(part), "{part}: {conn}");
    }
    // What is only worked on is shown when everything is.
    work(&mut c, 4);
    let all = place.line("dspmqtrn -m QM1 -q").good().out;
    assert_eq!(numbers(&all).len(), 4, "{all}");
    assert!(all.contains("OBJECT(DEV.QUEUE.1)") && all.contains("CONN("));
    let at_work = numbers(&all).pop().unwrap();
    let conn = place.mqsc("DISPLAY CONN(*) WHERE(UOWSTATE EQ ACTIVE) ALL", "QM1");
    assert!(conn.good().out.contains("XA_GTRID[04"), "of its connection");
    let [first, second, third] = &*numbered else {
        panic!("{numbered:?}")
    };
    for (line, code, id) in [
        (format!("-c {at_work}"), 32, "AMQ2077E"),
        (format!("-f {first}"), 32, "AMQ2077E"),
        ("-c 9,999999".to_owned(), 85, "AMQ2076E"),
        ("-c first".to_owned(), 36, "AMQ2402E"),
        (format!("-b {first} -c {first}"), 36, "AMQ2402E"),
        (String::from("-a -c 0,1"), 36, "AMQ2402E"),
        (format!("-r 1 {first}"), 34, "AMQ2074E"),
    ] {
        let line = format!("rsvmqtrn -m QM1 {line}");
        place.line(&line).failed_with(code, id);
    }
    place.line("rsvmqtrn -m QM1").failed_with(36, "AMQ2402E");
    place.line("rsvmqtrn -m QM1 -a").good();
    let decide = |what: &str, number: &str| {
        let line = format!("rsvmqtrn -m QM1 {what} {number}");
        assert!(place.line(&line).good().out.contains("AMQ2075I"));
    };
    decide("-c", first);
    decide("-b", second);
    let me = outcome(std::process::Command::new("id").arg("-un")).good();
    let resolved = [("-c", first, 1), ("-b", second, 2)].map(|(option, number, n)| {
        let command = format!("rsvmqtrn {option} {number}");
        (me.out.trim().to_owned(), command, xid(n).to_string(), 0)
    });
    until_audited(&place, &resolved);
    assert_eq!(
        numbers(&place.line("dspmqtrn -m QM1").good().out),
        std::slice::from_ref(third)
    );
    let again = format!("resolve QM1 -b {first}");
    place.line(&again).failed_with(32, "it has been committed");
    // It is remembered over a kill, and told until it is forgotten.
    serving.kill();
    place.line("dspmqtrn -m QM1").failed_with(40, "AMQ8146E");
    let serving = place.serving("QM1");
    let heuristic = place.line("dspmqtrn -m QM1 -h").good().out;
    assert!(
        heuristic.contains("state COMMITTED HEURISTICALLY"),
        "{heuristic}"
    );
    assert!(
        heuristic.contains("state BACKED OUT HEURISTICALLY"),
        "{heuristic}"
    );
    let mut c = connected(&serving);
    let (count, known) = c.xa_recover(10, TMSTARTRSCAN | TMENDRSCAN).unwrap();
    assert_eq!((count, &*known), (3, &[xid(1), xid(2), xid(3)][..]));
    assert_eq!(c.xa_commit(&xid(1), TMNOFLAGS).unwrap(), XA_HEURCOM);
    assert_eq!(c.xa_commit(&xid(2), TMNOFLAGS).unwrap(), XA_HEURRB);
    assert_eq!(c.xa_commit(&xid(3), TMNOFLAGS).unwrap(), XA_OK);
    // After a restart nobody knows whose it is, so it is told who decided.
    let decided = until(&place, |line| line["what"]["object"] == xid(3).to_string());
    assert_eq!(decided["what"]["call"], "XA_COMMIT");
    assert_eq!(decided["from"]["channel"], "DEV.APP.SVRCONN");
    assert_eq!(decided["from"]["address"], "127.0.0.1");
    assert_eq!(decided["who"]["user"], "app");
    assert_eq!(decided["result"]["reason"], 0);
    assert_eq!(c.xa_forget(&xid(1), TMNOFLAGS).unwrap(), XA_OK);
    let left = numbers(&place.line("dspmqtrn -m QM1 -h").good().out);
    let forget = format!("rsvmqtrn -m QM1 -f {}", left[0]);
    assert_eq!(left.len(), 1);
    place.line(&forget).good();
    assert_eq!(c.xa_forget(&xid(2), TMNOFLAGS).unwrap(), XAER_NOTA);
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 2);
    place
        .line("dspmqtrn -m QM1 -a -h")
        .failed_with(102, "AMQ2073I");
    serving.end();
}
