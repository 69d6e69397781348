//! SET and DISPLAY CHLAUTH, and what is stored of the records.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use posthaste_command::{Reply, parse, render};
use posthaste_mqi::Reason;
use world::*;

/// Every record in a line, as DISPLAY shows it.
fn records(w: &World, command: &str) -> Vec<String> {
    let reply = w.mqsc(command);
    let line = |row: &posthaste_command::Row| {
        let cells = row.cells().iter();
        let texts = cells.map(|cell| format!("{}({})", cell.keyword(), cell.shown()));
        texts.collect::<Vec<_>>().join(" ")
    };
    reply.rows.iter().map(|(_, _, row)| line(row)).collect()
}

#[track_caller]
fn refused(reply: &Reply, id: &str, reason: Reason, part: &str) {
    let text = render(reply);
    assert!(
        !reply.ok && text.starts_with(id) && text.contains(part),
        "{text}"
    );
    assert_eq!(reply.reason, reason, "{text}");
}

const DEFAULTS: [&str; 3] = [
    "CHLAUTH(*) TYPE(BLOCKUSER) USERLIST(*MQADMIN) WARN(NO)",
    "CHLAUTH(SYSTEM.*) TYPE(ADDRESSMAP) ADDRESS(*) USERSRC(NOACCESS) WARN(NO)",
    "CHLAUTH(SYSTEM.ADMIN.SVRCONN) TYPE(ADDRESSMAP) ADDRESS(*) CHCKCLNT(ASQMGR) USERSRC(CHANNEL)",
];

#[test]
fn a_new_queue_manager_has_the_default_records_and_does_not_use_them() {
    let w = World::new();
    let mut shown = records(&w, "DISPLAY CHLAUTH(*)");
    shown.sort_by_key(|line| line.len());
    assert_eq!(shown, DEFAULTS);
    let text = render(&w.mqsc("DIS CHLAUTH(*)"));
    assert!(text.starts_with("AMQ8878I: Display channel authentication record details.\n"));
    assert!(text.contains("AMQ2445W"), "{text}");
    w.run("ALTER QMGR CHLAUTH(ENABLED)");
    assert!(!render(&w.mqsc("DISPLAY CHLAUTH(*)")).contains("AMQ2445W"));
}

/// Each kind of record, over a crash and a restart; and what SAVE QMGR says makes the same again.
#[test]
fn records_are_stored_and_saved() {
    let mut w = World::new();
    w.run(
        "SET CHLAUTH('A.*') TYPE(BLOCKUSER) USERLIST('alice','bob') DESCR('no one')
         SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('192.0.2.1','10.*') WARN(YES)
         SET CHLAUTH('*.B') TYPE(SSLPEERMAP) SSLPEER('CN=app*,O=IBM') SSLCERTI('CN=ca') MCAUSER('app')
         SET CHLAUTH(A.B) TYPE(ADDRESSMAP) ADDRESS('192.0.2.1-9') MCAUSER('net') CHCKCLNT(REQUIRED)
         SET CHLAUTH(A.B) TYPE(USERMAP) CLNTUSER('o''neill') USERSRC(NOACCESS) WARN(YES) CUSTOM('c')
         SET CHLAUTH(TO.*) TYPE(QMGRMAP) QMNAME(QM*) ADDRESS('2001:db8:*') USERSRC(CHANNEL)",
    );
    let before = records(&w, "DISPLAY CHLAUTH(*) ALL");
    assert_eq!(before.len(), 9);
    let shown = before.join("\n");
    for part in [
        "USERLIST(alice,bob)",
        "ADDRLIST(192.0.2.1,10.*) ",
        "SSLPEER(CN=app*,O=IBM)",
        "SSLCERTI(CN=ca)",
        "ADDRESS(192.0.2.1-9)",
        "CHCKCLNT(REQUIRED)",
        "CLNTUSER(o'neill) CUSTOM(c)",
        "QMNAME(QM*)",
        "MCAUSER(net)",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    w.crash();
    assert_eq!(records(&w, "DISPLAY CHLAUTH(*) ALL"), before);
    w.restart();
    assert_eq!(records(&w, "DISPLAY CHLAUTH(*) ALL"), before);
    let saved = w.mqsc("SAVE QMGR");
    let other = World::new();
    let mut set = 0;
    for (_, text) in &saved.messages {
        if text.starts_with("SET CHLAUTH") {
            other.run(text);
            set += 1;
        }
    }
    assert_eq!(set, 9);
    let times = |lines: Vec<String>| -> Vec<String> {
        let cut = |line: String| line.split(" ALTDATE(").next().unwrap().to_owned();
        lines.into_iter().map(cut).collect()
    };
    let again = records(&other, "DISPLAY CHLAUTH(*)");
    assert_eq!(times(again), times(records(&w, "DISPLAY CHLAUTH(*)")));
}

/// A script of SAVE makes what there is, on a new queue manager too: what somebody has removed does not come back.
#[test]
fn a_default_record_that_was_removed_is_not_saved_back() {
    let w = World::new();
    w.run(
        "SET CHLAUTH('SYSTEM.*') TYPE(ADDRESSMAP) ACTION(REMOVEALL)
         SET CHLAUTH('SYSTEM.*') TYPE(ADDRESSMAP) ADDRESS('10.*') MCAUSER('net')
         SET CHLAUTH('*') TYPE(BLOCKUSER) ACTION(REMOVEALL)",
    );
    let other = World::new();
    for (_, text) in &w.mqsc("SAVE QMGR").messages {
        if text.starts_with("SET CHLAUTH") {
            other.run(text);
        }
    }
    let shown = records(&w, "DISPLAY CHLAUTH(*)");
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!(records(&other, "DISPLAY CHLAUTH(*)"), shown);
}

/// As one that an earlier release has made has none.
#[test]
fn a_queue_manager_that_has_no_records_and_uses_none_gets_the_default_ones() {
    let remove = "SET CHLAUTH('SYSTEM.*') TYPE(ADDRESSMAP) ACTION(REMOVEALL)
         SET CHLAUTH('SYSTEM.ADMIN.SVRCONN') TYPE(ADDRESSMAP) ACTION(REMOVEALL)
         SET CHLAUTH('*') TYPE(BLOCKUSER) ACTION(REMOVEALL)";
    let mut w = World::new();
    w.run(remove);
    w.restart();
    let mut shown = records(&w, "DISPLAY CHLAUTH(*)");
    shown.sort_by_key(|line| line.len());
    assert_eq!(shown, DEFAULTS);
    // Whoever uses them has none because he wants none.
    w.run(remove);
    w.run("ALTER QMGR CHLAUTH(ENABLED)");
    w.restart();
    assert_eq!(records(&w, "DISPLAY CHLAUTH(*)").len(), 0);
}

#[test]
fn what_is_kept_is_written_in_one_way() {
    let w = World::new();
    w.run("SET CHLAUTH('A**') TYPE(BLOCKUSER) USERLIST('*mqadmin','a')");
    let shown = records(&w, "DISPLAY CHLAUTH('A*') MATCH(EXACT) USERLIST").join("");
    assert!(
        shown.contains("CHLAUTH(A*)") && shown.contains("USERLIST(*MQADMIN,a)"),
        "{shown}"
    );
    w.run("SET CHLAUTH('A***') TYPE(BLOCKUSER) USERLIST('*MqAdmin') ACTION(REMOVE)");
    let shown = records(&w, "DISPLAY CHLAUTH('A*') USERLIST").join("");
    assert!(shown.contains("USERLIST(a)"), "{shown}");
    w.run("SET CHLAUTH('A**') TYPE(BLOCKUSER) ACTION(REMOVEALL)");
    assert_eq!(records(&w, "DISPLAY CHLAUTH(*)").len(), 3);
}

#[test]
fn actions_add_replace_and_remove() {
    let w = World::new();
    let list = || records(&w, "DISPLAY CHLAUTH(A) TYPE(BLOCKUSER) USERLIST").join("");
    w.run("SET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('a')\nSET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('b','a')");
    assert!(list().contains("USERLIST(a,b)"), "{}", list());
    w.run("SET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('c','b') ACTION(REPLACE)");
    assert!(list().contains("USERLIST(c,b)"));
    let gone = w.mqsc("SET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('b','x') ACTION(REMOVE)");
    refused(
        &gone,
        "AMQ8884E",
        Reason::CCF_CHLAUTH_NOT_FOUND,
        "not found",
    );
    w.run("SET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('b') ACTION(REMOVE)");
    assert!(list().contains("USERLIST(c)"));
    w.run("SET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('c') ACTION(REMOVE)");
    refused(
        &w.mqsc("DISPLAY CHLAUTH(A)"),
        "AMQ8884E",
        Reason::CCF_CHLAUTH_NOT_FOUND,
        "",
    );
    // Maps: one for each partner.
    w.run("SET CHLAUTH(A) TYPE(ADDRESSMAP) ADDRESS('10.0.0.1') MCAUSER('x')");
    let twice = w.mqsc("SET CHLAUTH(A) TYPE(ADDRESSMAP) ADDRESS('::ffff:0:0') MCAUSER('x')");
    assert!(twice.ok);
    let twice = w.mqsc("SET CHLAUTH(A) TYPE(ADDRESSMAP) ADDRESS('10.0.0.001') MCAUSER('y')");
    refused(
        &twice,
        "AMQ2440E",
        Reason::CCF_CHLAUTH_ALREADY_EXISTS,
        "ADDRESS('10.0.0.1')",
    );
    w.run("SET CHLAUTH(A) TYPE(ADDRESSMAP) ADDRESS('10.0.0.1') MCAUSER('y') ACTION(REPLACE)");
    let shown = records(&w, "DISPLAY CHLAUTH(A) WHERE(MCAUSER EQ 'y')");
    assert_eq!(shown.len(), 1, "{shown:?}");
    w.run("SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('u') MCAUSER('x')");
    w.run("SET CHLAUTH(A) TYPE(ADDRESSMAP) ACTION(REMOVEALL)");
    w.run("SET CHLAUTH(A) TYPE(ADDRESSMAP) ACTION(REMOVEALL)");
    assert_eq!(records(&w, "DISPLAY CHLAUTH(A)").len(), 1);
    w.run("SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('u') ACTION(REMOVE)");
    let gone = w.mqsc("SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('u') ACTION(REMOVE)");
    refused(
        &gone,
        "AMQ8884E",
        Reason::CCF_CHLAUTH_NOT_FOUND,
        "not found",
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_number() {
    let w = World::new();
    w.run("SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('u') ADDRESS('10.0.0.5-20') MCAUSER('x')");
    for (command, id, reason, part) in [
        (
            "SET CHLAUTH(A) TYPE(ADDRESSMAP) ADDRESS('10.0') MCAUSER('x')",
            "AMQ2441E",
            Reason::CCF_ADDRESS_ERROR,
            "it has 2 parts",
        ),
        (
            "SET CHLAUTH(A) TYPE(ADDRESSMAP) ADDRESS('host.example') MCAUSER('x')",
            "AMQ2441E",
            Reason::CCF_ADDRESS_ERROR,
            "not looked up",
        ),
        (
            "SET CHLAUTH(*) TYPE(BLOCKADDR) ADDRLIST('10.*','1.2.3.9-1')",
            "AMQ2441E",
            Reason::CCF_ADDRESS_ERROR,
            "ends before it begins",
        ),
        (
            "SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('u') ADDRESS('10.0.0.1-9') MCAUSER('x')",
            "AMQ2442E",
            Reason::CCF_IPADDR_RANGE_CONFLICT,
            "10.0.0.5-20",
        ),
        (
            "SET CHLAUTH(A) TYPE(SSLPEERMAP) SSLPEER('X=y') MCAUSER('x')",
            "AMQ2443E",
            Reason::CCF_SSL_PEER_NAME_ERROR,
            "no attribute",
        ),
        (
            "SET CHLAUTH(A)",
            "AMQ8406E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "needs TYPE",
        ),
        (
            "SET CHLAUTH(A) TYPE(USERMAP) MCAUSER('x')",
            "AMQ8406E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "needs CLNTUSER",
        ),
        (
            "SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('x')",
            "AMQ8406E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "needs MCAUSER",
        ),
        (
            "SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('x') USERSRC(CHANNEL) MCAUSER('y')",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "not for this USERSRC",
        ),
        (
            "SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('x') MCAUSER('y') WARN(YES)",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "WARN is not for this USERSRC",
        ),
        (
            "SET CHLAUTH(A) TYPE(BLOCKUSER) CLNTUSER('x')",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "CLNTUSER is not for TYPE(BLOCKUSER)",
        ),
        (
            "SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('x') DESCR('y') ACTION(REMOVE)",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "DESCR is not for ACTION(REMOVE)",
        ),
        (
            "SET CHLAUTH(A) TYPE(FROB)",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "TYPE must be one of BLOCKUSER",
        ),
        (
            "SET CHLAUTH(A) TYPE(BLOCKADDR) ADDRLIST('*')",
            "AMQ8424E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "BLOCKADDR",
        ),
        (
            "SET CHLAUTH('A B') TYPE(USERMAP)",
            "AMQ8424E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "",
        ),
        (
            "DISPLAY CHLAUTH(A) ADDRESS('1.2.3.4')",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "only with MATCH(RUNCHECK)",
        ),
        (
            "DISPLAY CHLAUTH(A*) MATCH(RUNCHECK) CLNTUSER('u') ADDRESS('1.2.3.4')",
            "AMQ8406E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "one channel",
        ),
        (
            "DISPLAY CHLAUTH(A) MATCH(RUNCHECK) ADDRESS('1.2.3.4')",
            "AMQ8406E",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "CLNTUSER or QMNAME",
        ),
        (
            "DISPLAY CHLAUTH(A) MATCH(RUNCHECK) CLNTUSER('u') ADDRESS('1.2.3.*')",
            "AMQ8405I",
            Reason::CCF_PARM_SYNTAX_ERROR,
            "one IP address",
        ),
    ] {
        let reply = match parse(command) {
            Ok(_) => w.mqsc(command),
            Err(fault) => Reply::from(&fault),
        };
        refused(&reply, id, reason, part);
    }
    assert_eq!(
        records(&w, "DISPLAY CHLAUTH(*)").len(),
        4,
        "nothing was changed"
    );
}

/// Nobody has more to ask about than a record may say.
#[test]
fn what_runcheck_asks_about_is_no_longer_than_a_record_says_it() {
    for (keyword, longest) in [
        ("CLNTUSER", 1024),
        ("QMNAME", 48),
        ("SSLPEER", 1024),
        ("SSLCERTI", 1024),
    ] {
        let other = match keyword {
            "CLNTUSER" | "QMNAME" => "",
            _ => "CLNTUSER('u')",
        };
        let asked = |length: usize| {
            let value = "CN=".to_owned() + &"a".repeat(length - 3);
            let partner = format!("{other} {keyword}('{value}') ADDRESS('1.2.3.4')");
            parse(&format!("DISPLAY CHLAUTH(A) MATCH(RUNCHECK) {partner}"))
        };
        assert!(asked(longest).is_ok(), "{keyword}");
        let reply = Reply::from(&asked(longest + 1).unwrap_err());
        let reason = Reason::CCF_PARM_SYNTAX_ERROR;
        refused(&reply, "AMQ8405I", reason, &format!("{keyword} is longer"));
    }
}

/// Nor about another one, whose name it is without spaces that are no blanks.
#[test]
fn runcheck_asks_about_the_very_names_that_it_is_given() {
    let w = World::new();
    w.run(
        "DEFINE CHANNEL(A) CHLTYPE(SVRCONN)\nALTER QMGR CHLAUTH(ENABLED)
         SET CHLAUTH(A) TYPE(SSLPEERMAP) SSLPEER('CN=bank') MCAUSER('bank')
         SET CHLAUTH(A) TYPE(QMGRMAP) QMNAME(QM2) MCAUSER('qm2')",
    );
    for (plain, other) in [
        (
            "CLNTUSER('u') SSLPEER(' CN=bank ')",
            "CLNTUSER('u') SSLPEER('CN=bank\u{a0}')",
        ),
        ("QMNAME(' QM2 ')", "QMNAME('QM2\u{2003}')"),
    ] {
        let is_mapped = |partner: &str| {
            let text = format!("DISPLAY CHLAUTH(A) MATCH(RUNCHECK) {partner} ADDRESS('1.2.3.4')");
            let text = render(&w.mqsc(&text));
            text.contains("MCAUSER(bank)") || text.contains("MCAUSER(qm2)")
        };
        assert!(is_mapped(plain), "{plain}");
        assert!(!is_mapped(other), "{other}");
    }
}

/// An asterisk makes no user generic, and a record that blocks nobody is not taken for one that does.
#[test]
fn users_who_are_nobody_are_refused() {
    let w = World::new();
    for (what, part) in [
        (
            "TYPE(BLOCKUSER) USERLIST('*MQADMIN','a*')",
            "USERLIST names users one by one: 'a*'",
        ),
        (
            "TYPE(USERMAP) CLNTUSER('v') USERSRC(MAP) MCAUSER('*MQADMIN')",
            "MCAUSER names users one by one: '*MQADMIN'",
        ),
    ] {
        let reply = w.mqsc(&format!("SET CHLAUTH(A) {what}"));
        refused(&reply, "AMQ2453E", Reason::CCF_PARM_VALUE_ERROR, part);
    }
    w.run(
        "SET CHLAUTH(A) TYPE(BLOCKUSER) USERLIST('*MQADMIN','a')
         SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('v') USERSRC(MAP) MCAUSER('*noaccess')",
    );
}

#[test]
fn display_finds_by_profile_type_and_what_would_happen() {
    let w = World::new();
    w.run(
        "DEFINE CHANNEL(A.B) CHLTYPE(SVRCONN)
         DEFINE CHANNEL(C) CHLTYPE(SVRCONN) MCAUSER('fixed')
         SET CHLAUTH('A.*') TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(NOACCESS)
         SET CHLAUTH('A.B') TYPE(ADDRESSMAP) ADDRESS('10.0.*') MCAUSER('net')
         SET CHLAUTH('A.B') TYPE(USERMAP) CLNTUSER('alice') USERSRC(CHANNEL)
         SET CHLAUTH('A.B') TYPE(SSLPEERMAP) SSLPEER('CN=app1') MCAUSER('app')
         SET CHLAUTH('A.B') TYPE(BLOCKUSER) USERLIST('mallory')
         ALTER QMGR CHLAUTH(ENABLED)",
    );
    for (command, count) in [
        ("DISPLAY CHLAUTH(A.B)", 4),
        ("DISPLAY CHLAUTH(A.B) MATCH(EXACT)", 4),
        ("DISPLAY CHLAUTH('A.*')", 5),
        ("DISPLAY CHLAUTH('A.*') MATCH(EXACT)", 1),
        ("DISPLAY CHLAUTH('*B') MATCH(GENERIC)", 4),
        ("DISPLAY CHLAUTH(*) MATCH(EXACT)", 1),
        // With A.* and *, which are for that channel too.
        ("DISPLAY CHLAUTH(A.B) MATCH(ALL)", 6),
        ("DISPLAY CHLAUTH('A.*') MATCH(ALL)", 6),
        ("DISPLAY CHLAUTH('*.C') MATCH(ALL)", 3),
        ("DISPLAY CHLAUTH(C) MATCH(ALL)", 1),
        ("DISPLAY CHLAUTH(*) TYPE(ADDRESSMAP)", 4),
        ("DISPLAY CHLAUTH(*) TYPE(ALL) WHERE(MCAUSER LK 'n*')", 1),
        ("DISPLAY CHLAUTH(*) WHERE(USERLIST CT '*MQADMIN')", 1),
    ] {
        assert_eq!(records(&w, command).len(), count, "{command}");
    }
    let one = records(&w, "DISPLAY CHLAUTH(A.B) TYPE(USERMAP) ALTDATE DESCR");
    assert!(
        one[0].contains("ALTDATE(") && one[0].contains("DESCR( )"),
        "{one:?}"
    );
    for (partner, expected) in [
        (
            "CHLAUTH(A.B) CLNTUSER('bob') ADDRESS('192.0.2.9')",
            "AMQ9783I: Channel will run using MCAUSER(bob).",
        ),
        (
            "CHLAUTH(A.C) CLNTUSER('bob') ADDRESS('10.9.0.1')",
            "USERSRC(NOACCESS)",
        ),
        (
            "CHLAUTH(A.B) CLNTUSER('bob') ADDRESS('10.0.0.1')",
            "MCAUSER(net)",
        ),
        (
            "CHLAUTH(A.B) CLNTUSER('alice') ADDRESS('10.0.0.1')",
            "AMQ9783I: Channel will run using MCAUSER(alice).",
        ),
        // Whom a client names with a blank in front is somebody else.
        (
            "CHLAUTH(A.B) CLNTUSER(' alice') ADDRESS('10.0.0.1')",
            "MCAUSER(net)",
        ),
        (
            "CHLAUTH(A.B) CLNTUSER('mallory') ADDRESS('192.0.2.1')",
            "USERLIST(mallory)",
        ),
        (
            "CHLAUTH(A.B) CLNTUSER('alice') ADDRESS('::1') SSLPEER('CN=app1,O=x')",
            "MCAUSER(app)",
        ),
        (
            "CHLAUTH(A.B) CLNTUSER('alice') ADDRESS('::1') SSLPEER('CN=app2,O=x')",
            "MCAUSER(alice)",
        ),
        (
            "CHLAUTH(C) CLNTUSER('bob') ADDRESS('::1')",
            "AMQ9783I: Channel will run using MCAUSER(fixed).",
        ),
        (
            "CHLAUTH(SYSTEM.DEF.SVRCONN) CLNTUSER('bob') ADDRESS('::1')",
            "CHLAUTH(SYSTEM.*)",
        ),
    ] {
        let (channel, rest) = partner.split_once(' ').unwrap();
        let text = render(&w.mqsc(&format!("DISPLAY {channel} MATCH(RUNCHECK) {rest}")));
        assert!(text.contains(expected), "{partner}: {text}");
    }
}

/// Whoever asks is told of a password that is demanded, and of MCAUSER(*NOACCESS).
#[test]
fn runcheck_says_whether_a_password_is_demanded_and_nobody_may_come() {
    let w = World::new();
    w.run(
        "DEFINE CHANNEL(A) CHLTYPE(SVRCONN)
         DEFINE CHANNEL(B) CHLTYPE(SVRCONN) MCAUSER('*noaccess')
         SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('alice') USERSRC(CHANNEL) CHCKCLNT(REQUIRED)
         SET CHLAUTH(A) TYPE(USERMAP) CLNTUSER('carol') MCAUSER('app') CHCKCLNT(REQUIRED)
         SET CHLAUTH(B) TYPE(USERMAP) CLNTUSER('alice') MCAUSER('app')
         DEFINE AUTHINFO(U) AUTHTYPE(IDPWOS) CHCKCLNT(REQUIRED)",
    );
    let asked = |channel: &str, user: &str| {
        let partner = format!("MATCH(RUNCHECK) CLNTUSER('{user}') ADDRESS('192.0.2.1')");
        render(&w.mqsc(&format!("DISPLAY CHLAUTH({channel}) {partner}")))
    };
    let demands = |text: &str| text.contains("AMQ2450I");
    let alice = asked("A", "alice");
    let key = "CHLAUTH('A') CLNTUSER('alice') TYPE(USERMAP) demands it";
    assert!(
        alice.contains("MCAUSER(alice)") && alice.contains(key),
        "{alice}"
    );
    let carol = asked("A", "carol");
    assert!(carol.contains("MCAUSER(app)") && demands(&carol), "{carol}");
    assert!(!demands(&asked("A", "bob")));
    let bob = asked("B", "bob");
    assert!(
        bob.contains("AMQ2451I") && !bob.contains("AMQ9783I"),
        "{bob}"
    );
    let alice = asked("B", "alice");
    assert!(
        alice.contains("MCAUSER(app)") && !alice.contains("AMQ2451I"),
        "{alice}"
    );
    w.run("ALTER QMGR CONNAUTH(U)");
    let bob = asked("A", "bob");
    assert!(bob.contains("AUTHINFO(U) demands it"), "{bob}");
}
