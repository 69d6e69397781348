//! Every kind of object that is only defined, and what DISPLAY chooses of them, as runmqsc shows it.

use crate::place::Place;

/// Runs a script; gives the text of the answer to each command. It must end with 0 if `all_done`.
fn answers(place: &Place, script: &[String], all_done: bool) -> Vec<String> {
    let run = place.mqsc(&script.join("\n"), "QM1");
    assert_eq!(run.code == 0, all_done, "{}", run.out);
    let mut answers: Vec<String> = Vec::new();
    for line in run.out.lines() {
        let number = format!("{:>6} : ", answers.len() + 1);
        match answers.last_mut() {
            _ if line.starts_with(&number) => answers.push(String::new()),
            Some(answer) => *answer += &format!("{line}\n"),
            None => {}
        }
    }
    assert_eq!(answers.len(), script.len(), "{}", run.out);
    answers
}

/// Each command with what its answer has and, behind a `!`, has not.
#[track_caller]
fn play(place: &Place, script: &[(String, Vec<&str>)], all_done: bool) {
    let commands: Vec<String> = script.iter().map(|(command, _)| command.clone()).collect();
    let answers = answers(place, &commands, all_done);
    for ((command, expected), answer) in script.iter().zip(&answers) {
        for part in expected {
            let (part, wanted) = match part.strip_prefix('!') {
                Some(part) => (part, false),
                None => (*part, true),
            };
            assert_eq!(answer.contains(part), wanted, "{command}: {part}: {answer}");
        }
    }
}

/// What a user does with objects of a kind.
struct Sample {
    noun: &'static str,
    /// What every definition has to give; `%` stands for the name.
    needs: &'static str,
    /// What tells the kind from others with the noun.
    type_: &'static str,
    given: &'static str,
    /// What DISPLAY shows of that, and of the defaults.
    shown: &'static [&'static str],
    /// What ALTER changes, which DISPLAY shows as it is written.
    altered: &'static str,
    /// Numbers of the answers: made, changed, deleted, shown, exists, not found.
    numbers: [&'static str; 6],
}

const AUTHINFO: [&str; 6] = [
    "AMQ8563I", "AMQ8567I", "AMQ8564I", "AMQ8566I", "AMQ8150E", "AMQ8147E",
];

const SAMPLES: &[Sample] = &[
    Sample {
        noun: "NAMELIST",
        needs: "",
        type_: "",
        given: "NAMES(ONE,'two')",
        shown: &["NAMES(ONE,two)", "NAMCOUNT(2)"],
        altered: "NAMES(THREE)",
        numbers: [
            "AMQ8552I", "AMQ8551I", "AMQ8553I", "AMQ8550I", "AMQ8150E", "AMQ8147E",
        ],
    },
    Sample {
        noun: "PROCESS",
        needs: "",
        type_: "",
        given: "APPLTYPE(7) APPLICID('/bin/pay') ENVRDATA('&') USERDATA('month end')",
        shown: &["APPLTYPE(7)", "APPLICID(/bin/pay)", "USERDATA(month end)"],
        altered: "APPLTYPE(CICS)",
        numbers: [
            "AMQ8010I", "AMQ8012I", "AMQ8011I", "AMQ8407I", "AMQ8150E", "AMQ8147E",
        ],
    },
    Sample {
        noun: "AUTHINFO",
        needs: "",
        type_: "AUTHTYPE(CRLLDAP)",
        given: "CONNAME('ldap(389)') LDAPUSER('cn=qm')",
        shown: &["AUTHTYPE(CRLLDAP)", "CONNAME(ldap(389))", "LDAPUSER(cn=qm)"],
        altered: "LDAPUSER(CN=OTHER)",
        numbers: AUTHINFO,
    },
    Sample {
        noun: "AUTHINFO",
        needs: "",
        type_: "AUTHTYPE(OCSP)",
        given: "OCSPURL('http://ocsp')",
        shown: &["AUTHTYPE(OCSP)", "OCSPURL(http://ocsp)"],
        altered: "OCSPURL(HTTP://OTHER)",
        numbers: AUTHINFO,
    },
    Sample {
        noun: "AUTHINFO",
        needs: "",
        type_: "AUTHTYPE(IDPWOS)",
        given: "FAILDLAY(5) CHCKCLNT(OPTIONAL)",
        shown: &["FAILDLAY(5)", "CHCKCLNT(OPTIONAL)", "ADOPTCTX(YES)"],
        altered: "FAILDLAY(60)",
        numbers: AUTHINFO,
    },
    Sample {
        noun: "AUTHINFO",
        needs: "",
        type_: "AUTHTYPE(IDPWLDAP)",
        given: "CONNAME('ldap(389)') SHORTUSR('cn') SECCOMM(ANON)",
        shown: &["SHORTUSR(cn)", "SECCOMM(ANON)", "NESTGRP(NO)"],
        altered: "NESTGRP(YES)",
        numbers: AUTHINFO,
    },
    Sample {
        noun: "COMMINFO",
        needs: "",
        type_: "",
        given: "GRPADDR('239.1.2.3') MSGHIST(7)",
        shown: &[
            "TYPE(MULTICAST)",
            "GRPADDR(239.1.2.3)",
            "MSGHIST(7)",
            "PORT(1414)",
        ],
        altered: "MSGHIST(8)",
        numbers: [
            "AMQ8858I", "AMQ8859I", "AMQ8860I", "AMQ8861I", "AMQ8150E", "AMQ8147E",
        ],
    },
    Sample {
        noun: "SERVICE",
        needs: "",
        type_: "",
        given: "STARTCMD('/bin/true') STARTARG('-m +QMNAME+') SERVTYPE(SERVER) CONTROL(STARTONLY)",
        shown: &[
            "STARTCMD(/bin/true)",
            "STARTARG(-m +QMNAME+)",
            "SERVTYPE(SERVER)",
            "CONTROL(STARTONLY)",
            "STOPCMD( )",
        ],
        altered: "CONTROL(MANUAL)",
        numbers: [
            "AMQ8625I", "AMQ8623I", "AMQ8624I", "AMQ8629I", "AMQ8150E", "AMQ8147E",
        ],
    },
    Sample {
        noun: "TOPIC",
        needs: "TOPICSTR('Prices/%')",
        type_: "",
        given: "DEFPSIST(YES) PMSGDLV(ALL) USEDLQ(NO)",
        shown: &[
            "TYPE(LOCAL)",
            "DEFPSIST(YES)",
            "PMSGDLV(ALL)",
            "NPMSGDLV(ASPARENT)",
            "WILDCARD(PASSTHRU)",
            "DEFPRTY(ASPARENT)",
            "MDURMDL( )",
        ],
        altered: "DURSUB(NO)",
        numbers: [
            "AMQ8690I", "AMQ8691I", "AMQ8692I", "AMQ8633I", "AMQ8150E", "AMQ8147E",
        ],
    },
    Sample {
        noun: "CHANNEL",
        needs: "",
        type_: "CHLTYPE(CLNTCONN)",
        given: "CONNAME('far(1414)') QMNAME(QM2) COMPMSG(LZ4FAST,NONE)",
        shown: &[
            "CHLTYPE(CLNTCONN)",
            "CONNAME(far(1414))",
            "QMNAME(QM2)",
            "COMPMSG(LZ4FAST,NONE)",
            "AFFINITY(PREFERRED)",
        ],
        altered: "CLNTWGHT(5)",
        numbers: [
            "AMQ8014I", "AMQ8016I", "AMQ8015I", "AMQ8414I", "AMQ8226E", "AMQ8227E",
        ],
    },
];

/// The commands on one kind, each with what is expected. Two of its objects are left: `noun`.B.1 and `noun`.C.
fn life(sample: &Sample) -> Vec<(String, Vec<&str>)> {
    let Sample {
        noun, type_, given, ..
    } = sample;
    let [made, changed, deleted, shown, exists, unknown] = sample.numbers;
    // DISPLAY chooses by type, DELETE and ALTER find an object by it.
    let command = |text: &str| {
        let name = text
            .split_once("K(")
            .and_then(|(_, rest)| rest.split_once(')'));
        let needs = sample.needs.replace('%', name.map_or("", |(name, _)| name));
        let typed = match text.starts_with("DEFINE") {
            true => format!("{type_} {needs}"),
            false => (*type_).to_owned(),
        };
        text.replace("K(", &format!("{noun}(")).replace('@', &typed)
    };
    let mut all = vec![shown];
    all.extend(sample.shown);
    let like = ["DESCR(first)"].iter().chain(sample.shown).copied();
    vec![
        (
            command(&format!("DEFINE K(A) @ DESCR('first') {given}")),
            vec![made],
        ),
        (command("DEFINE K(A) @"), vec![exists]),
        (command("DISPLAY K(A) @ ALL"), all),
        (command("DEFINE K(B.1) @ LIKE(A)"), vec![made]),
        (command("DISPLAY K(B.1) @"), like.collect()),
        (
            command(&format!("ALTER K(B.1) @ {}", sample.altered)),
            vec![changed],
        ),
        (
            command("DISPLAY K(B*) @ DESCR ALTDATE"),
            vec!["(B.1)", "DESCR(first)", "ALTDATE(20", "!(A)", "!ALTTIME"],
        ),
        (command("DISPLAY K(B.1) @ ALL"), vec![sample.altered]),
        (command("DEFINE K(A) @ REPLACE"), vec![made]),
        // What was not given is as in a definition without REPLACE.
        (command("DISPLAY K(A) @"), vec!["DESCR( )"]),
        (command("ALTER K(A) @ DESCR('first')"), vec![changed]),
        (command("DEFINE K(C) @ DESCR('third')"), vec![made]),
        (
            command("DISPLAY K(*) @ WHERE(DESCR EQ 'first')"),
            vec!["(A)", "(B.1)", "!(C)", "DESCR(first)"],
        ),
        (command("DEFINE K(D) @ LIKE(NONE)"), vec![unknown, "NONE"]),
        (command("DELETE K(A) @"), vec![deleted]),
        (command("DISPLAY K(A) @"), vec!["AMQ8147E"]),
        (command("DELETE K(A) @"), vec![unknown]),
        (command("ALTER K(A) @ DESCR(X)"), vec![unknown]),
    ]
}

#[test]
fn every_kind_is_made_changed_shown_and_deleted() {
    let place = Place::new();
    let serving = place.serving("QM1");
    for sample in SAMPLES {
        play(&place, &life(sample), false);
        if sample.noun == "AUTHINFO" {
            // Objects of all types are in one name space.
            play(
                &place,
                &[
                    ("DELETE AUTHINFO(B.1)".to_owned(), vec!["AMQ8564I"]),
                    ("DELETE AUTHINFO(C)".to_owned(), vec!["AMQ8564I"]),
                ],
                true,
            );
        }
    }
    let list = [
        "NAMELIST", "PROCESS", "COMMINFO", "SERVICE", "TOPIC", "CHANNEL",
    ];
    let list = list.map(|noun| format!("DISPLAY {noun}(*) ALL"));
    let before = answers(&place, &list, true);
    assert!(before.iter().all(|answer| answer.contains("(B.1)")));
    serving.kill();
    let serving = place.serving("QM1");
    assert_eq!(answers(&place, &list, true), before);
    serving.end();
}

/// What shows the subscriptions and topics of the test that follows.
fn shown_subscriptions(place: &Place) {
    let line = |command: &str, parts: &[&'static str]| (command.to_owned(), parts.to_vec());
    let script = [
        line(
            "DISPLAY SUB(*) DEST",
            &["SUB(M)", "SUB(N)", "SUB(my sub)", "SUB(SYSTEM.DEFAULT.SUB)"],
        ),
        line("DISPLAY SUB(*) SUBTYPE(API)", &["AMQ8147E"]),
        line(
            "DISPLAY SUB(*) WHERE(DESTCLAS EQ MANAGED)",
            &["SUB(M)", "!my sub"],
        ),
        line(
            "DISPLAY SBSTATUS(*) DURABLE(YES)",
            &["AMQ8099I", "SUB(M)", "NUMMSGS(0)", "TOPICSTR(a/b)"],
        ),
        line("DISPLAY SBSTATUS(M) SUBID(00)", &["AMQ8147E"]),
        line("DISPLAY SBSTATUS(M) SUBID(XY)", &["AMQ8405I"]),
        line(
            "DISPLAY TPSTATUS('Price/Fruit')",
            &[
                "AMQ8754I",
                "ADMIN(FRUIT)",
                "DURSUB(NO)",
                "PUB(ENABLED)",
                "SUBCOUNT(0)",
            ],
        ),
        line(
            "DISPLAY TPSTATUS('a/+') SUBCOUNT",
            &["TOPICSTR(a/b)", "TOPICSTR(a/c)", "SUBCOUNT(1)", "!FRUIT"],
        ),
        line(
            "DISPLAY TPSTATUS('a/b') TYPE(SUB)",
            &["SUBTYPE(ADMIN)", "DURABLE(YES)"],
        ),
        line("DISPLAY TPSTATUS('none')", &["AMQ8147E"]),
        line("DISPLAY TPSTATUS('a') RETAINED", &["RETAINED(NO)"]),
        line("DISPLAY TPSTATUS('a') PUBCOUNT", &["PUBCOUNT(0)"]),
        line("DISPLAY TPSTATUS('a/b') TYPE(PUB)", &["AMQ8147E"]),
        line(
            "DISPLAY TPSTATUS('a') TYPE(SUB) NUMPUBS",
            &["AMQ8405I", "TYPE(PUB)"],
        ),
        line("DISPLAY TPSTATUS('a') TYPE(PUB) MCASTREL", &["AMQ2401E"]),
        line("CLEAR TOPICSTR('a/#') CLRTYPE(RETAINED)", &["AMQ2405I"]),
        line(
            "DISPLAY PUBSUB",
            &["AMQ8723I", "TYPE(LOCAL)", "SUBCOUNT(3)"],
        ),
    ];
    play(place, &script, false);
}

/// Subscriptions that commands make: their queues, what cannot be changed, what is refused, what shows them.
#[test]
fn subscriptions_are_made_changed_shown_and_deleted() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let line = |command: &str, parts: &[&'static str]| (command.to_owned(), parts.to_vec());
    let script = [
        line("DEFINE TOPIC(FRUIT) TOPICSTR('Price/Fruit')", &["AMQ8690I"]),
        line(
            "DEFINE TOPIC(T2) TOPICSTR('Price/Fruit')",
            &["AMQ2410E", "FRUIT"],
        ),
        line("DEFINE TOPIC(T2)", &["AMQ2409E"]),
        line(
            "DEFINE TOPIC(FRUIT) TOPICSTR('other') REPLACE",
            &["AMQ2408E", "TOPICSTR"],
        ),
        line(
            "DEFINE SUB('my sub') TOPICOBJ(FRUIT) TOPICSTR('#') DEST(DEV.QUEUE.1) USERDATA('it is') SELECTOR('size > 3')",
            &["AMQ8094I"],
        ),
        line(
            "DEFINE SUB('my sub') TOPICSTR(X) DEST(DEV.QUEUE.1)",
            &["AMQ8150E"],
        ),
        line(
            "DISPLAY SUB('my sub')",
            &[
                "AMQ8096I",
                "SUB(my sub)",
                "TOPICSTR(Price/Fruit/#)",
                "TOPICOBJ(FRUIT)",
                "DEST(DEV.QUEUE.1)",
                "DESTCLAS(PROVIDED)",
                "SUBTYPE(ADMIN)",
                "DURABLE(YES)",
                "SELTYPE(STANDARD)",
                "SUBLEVEL(1)",
                "SUBID(414D5120",
                "USERDATA(it is)",
            ],
        ),
        line(
            "ALTER SUB('my sub') USERDATA('other') PUBPRTY(ASQDEF)",
            &["AMQ8095I"],
        ),
        line(
            "DISPLAY SUB('my sub') USERDATA PUBPRTY",
            &["USERDATA(other)", "PUBPRTY(ASQDEF)"],
        ),
        line("ALTER SUB('my sub') TOPICSTR('x')", &["AMQ8405I"]),
        line(
            "DEFINE SUB('my sub') TOPICSTR('x') DEST(DEV.QUEUE.1) REPLACE",
            &["AMQ2408E"],
        ),
        line(
            "DEFINE SUB(M) TOPICSTR('a/b') DESTCLAS(MANAGED)",
            &["AMQ8094I"],
        ),
        line(
            "DISPLAY SUB(M)",
            &["DESTCLAS(MANAGED)", "DEST(SYSTEM.MANAGED.DURABLE."],
        ),
        line(
            "DISPLAY QLOCAL(SYSTEM.MANAGED.DURABLE.*) DEFTYPE",
            &["DEFTYPE(PERMDYN)"],
        ),
        line("DEFINE SUB(N) LIKE(M) TOPICSTR('a/c')", &["AMQ8094I"]),
        line("DEFINE SUB(B1) TOPICSTR('a')", &["AMQ2411E"]),
        line(
            "DEFINE SUB(B2) TOPICSTR('a') DEST(DEV.QUEUE.1) DESTCLAS(MANAGED)",
            &["AMQ2411E"],
        ),
        line(
            "DEFINE SUB(B3) TOPICSTR('a') DEST(NONE)",
            &["AMQ2412E", "NONE"],
        ),
        line("DEFINE SUB(B4) DEST(DEV.QUEUE.1)", &["AMQ2413E", "2425"]),
        line(
            "DEFINE SUB(B5) TOPICOBJ(NONE) DEST(DEV.QUEUE.1)",
            &["AMQ2413E", "2085"],
        ),
        line(
            "DEFINE SUB(B6) TOPICSTR('a') DEST(DEV.QUEUE.1) SELECTOR('((')",
            &["AMQ2413E", "2459"],
        ),
        line("ALTER TOPIC(FRUIT) DURSUB(NO)", &["AMQ8691I"]),
        line(
            "DEFINE SUB(B7) TOPICOBJ(FRUIT) DEST(DEV.QUEUE.1)",
            &["AMQ2413E", "2436"],
        ),
        line("DISPLAY SUB(B*)", &["AMQ8147E"]),
    ];
    play(&place, &script, false);
    shown_subscriptions(&place);
    // Nobody was named: it is that of whoever owns the queue manager.
    let me = std::process::Command::new("id")
        .arg("-un")
        .output()
        .unwrap();
    let me = String::from_utf8(me.stdout).unwrap();
    let me: String = me.trim().chars().take(12).collect();
    let user = answers(&place, &["DISPLAY SUB(M) SUBUSER".to_owned()], true);
    assert!(user[0].contains(&format!("SUBUSER({me})")), "{user:?}");
    let shown = [
        "DISPLAY SUB(*) ALL",
        "DISPLAY TOPIC(*) ALL",
        "DISPLAY TPSTATUS('#')",
    ];
    let shown = shown.map(str::to_owned);
    let before = answers(&place, &shown, true);
    serving.kill();
    let serving = place.serving("QM1");
    assert_eq!(answers(&place, &shown, true), before);
    let id = before[0]
        .split_once("SUB(N)")
        .and_then(|(_, rest)| rest.split_once("SUBID("));
    let id = id
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(id, _)| id);
    assert_eq!(id.len(), 48, "{}", before[0]);
    let script = [
        line("DELETE SUB('my sub')", &["AMQ8097I"]),
        line("DELETE SUB(M)", &["AMQ8097I"]),
        line("DELETE SUB(NONE)", &["AMQ8147E"]),
        line("DELETE SUB SUBID(00)", &["AMQ8405I"]),
        line("DELETE SUB", &["AMQ8406E"]),
        line(
            &format!("DELETE SUB SUBID({})", "00".repeat(24)),
            &["AMQ8147E"],
        ),
        line(&format!("DELETE SUB SUBID({id})"), &["AMQ8097I"]),
        line("DISPLAY QLOCAL(SYSTEM.MANAGED.DURABLE.*)", &["AMQ8147E"]),
        line("DISPLAY SBSTATUS(*)", &["AMQ8147E"]),
    ];
    play(&place, &script, false);
    serving.end();
}

/// What releases before publish/subscribe have made lacks its system objects: they are there after the next start, and
/// what has been changed of one that is there stays.
#[test]
fn what_publish_subscribe_needs_is_added_at_start() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let base = "DISPLAY TOPIC(SYSTEM.BASE.TOPIC)".to_owned();
    let root = [
        "PUB(ENABLED)",
        "SUB(ENABLED)",
        "DURSUB(YES)",
        "DEFPSIST(NO)",
        "DEFPRTY(0)",
        "DEFPRESP(SYNC)",
        "PMSGDLV(ALLDUR)",
        "NPMSGDLV(ALLAVAIL)",
        "USEDLQ(YES)",
        "MDURMDL(SYSTEM.DURABLE.MODEL.QUEUE)",
        "MNDURMDL(SYSTEM.NDURABLE.MODEL.QUEUE)",
        "TYPE(LOCAL)",
    ];
    play(&place, &[(base.clone(), root.to_vec())], true);
    let line = |command: &str, parts: &[&'static str]| (command.to_owned(), parts.to_vec());
    let script = [
        line("DELETE TOPIC(SYSTEM.BASE.TOPIC)", &["AMQ8692I"]),
        line("DELETE TOPIC(SYSTEM.DEFAULT.TOPIC)", &["AMQ8692I"]),
        line("DELETE SUB(SYSTEM.DEFAULT.SUB)", &["AMQ8097I"]),
        // The queue manager has it open.
        line("DELETE QLOCAL(SYSTEM.RETAINED.PUB.QUEUE)", &["AMQ8148E"]),
        line("DELETE QMODEL(SYSTEM.DURABLE.MODEL.QUEUE)", &["AMQ8007I"]),
        line(
            "ALTER QMODEL(SYSTEM.NDURABLE.MODEL.QUEUE) MAXDEPTH(7)",
            &["AMQ8008I"],
        ),
        line("DISPLAY SUB(*)", &["AMQ8147E"]),
    ];
    play(&place, &script, false);
    serving.end();
    let serving = place.serving("QM1");
    let script = [
        (base, root.to_vec()),
        line("DISPLAY TOPIC(SYSTEM.DEFAULT.TOPIC)", &["PUB(ASPARENT)"]),
        line(
            "DISPLAY SUB(*) ALL",
            &["SUB(SYSTEM.DEFAULT.SUB)", "WSCHEMA(TOPIC)"],
        ),
        line(
            "DISPLAY QLOCAL(SYSTEM.RETAINED.PUB.QUEUE)",
            &["MAXMSGL(104857600)"],
        ),
        line(
            "DISPLAY QMODEL(SYSTEM.DURABLE.MODEL.QUEUE)",
            &["DEFTYPE(PERMDYN)", "SHARE", "!NOSHARE", "DEFSOPT(SHARED)"],
        ),
        line(
            "DISPLAY QMODEL(SYSTEM.NDURABLE.MODEL.QUEUE)",
            &["DEFTYPE(TEMPDYN)", "MAXDEPTH(7)"],
        ),
        line("DISPLAY TOPIC(*) TYPE(LOCAL)", &["SYSTEM.BASE.TOPIC"]),
        line("DISPLAY TOPIC(*) TYPE(CLUSTER)", &["AMQ8405I"]),
    ];
    play(&place, &script, false);
    serving.end();
}

/// A client-connection and a server-connection channel of the same name are two objects.
#[test]
fn channels_of_two_types_may_have_one_name() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let line = |command: &str, parts: &[&'static str]| (command.to_owned(), parts.to_vec());
    let script = [
        line(
            "DEFINE CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(5)",
            &["AMQ8014I"],
        ),
        line(
            "DEFINE CHANNEL(C) CHLTYPE(CLNTCONN) CONNAME('here(1414)')",
            &["AMQ8014I"],
        ),
        line("DEFINE CHANNEL(C) CHLTYPE(CLNTCONN)", &["AMQ8226E"]),
        line(
            "DISPLAY CHANNEL(C)",
            &["CHLTYPE(SVRCONN)", "CHLTYPE(CLNTCONN)"],
        ),
        line(
            "DISPLAY CHANNEL(C) CHLTYPE(SVRCONN)",
            &["MAXINST(5)", "!CLNTCONN"],
        ),
        line(
            "ALTER CHANNEL(C) CHLTYPE(CLNTCONN) DESCR(far)",
            &["AMQ8016I"],
        ),
        line(
            "DISPLAY CHANNEL(*) WHERE(DESCR EQ FAR)",
            &["CHLTYPE(CLNTCONN)", "!SVRCONN"],
        ),
        // Without a type it is about the server's.
        line("ALTER CHANNEL(C) MAXINST(6)", &["AMQ8016I"]),
        line("DELETE CHANNEL(C)", &["AMQ8015I"]),
        line("DISPLAY CHANNEL(C)", &["CHLTYPE(CLNTCONN)", "!SVRCONN"]),
        line("DELETE CHANNEL(C) CHLTYPE(CLNTCONN)", &["AMQ8015I"]),
        line("DISPLAY CHANNEL(C)", &["AMQ8147E"]),
    ];
    play(&place, &script, false);
    serving.end();
}

/// What each operator finds, by the type of the value it compares. A filter that can never be met is refused.
#[test]
fn filters_compare_values_of_every_type() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let made = [
        "DEFINE NAMELIST(F.EMPTY)",
        "DEFINE NAMELIST(F.ONE) NAMES(DEV.A) DESCR('beta')",
        "DEFINE NAMELIST(F.TWO) NAMES(DEV.A,PROD.B) DESCR('gamma')",
        "DEFINE PROCESS(F.SIX) APPLTYPE(UNIX)",
        "DEFINE PROCESS(F.TEN) APPLTYPE(1000)",
        "DEFINE CHANNEL(F.NONE) CHLTYPE(CLNTCONN)",
        "DEFINE CHANNEL(F.LZ4) CHLTYPE(CLNTCONN) COMPMSG(LZ4FAST,RLE) DEFRECON(YES)",
        "DEFINE QLOCAL(F.Q) MAXDEPTH(10)",
    ];
    answers(&place, &made.map(str::to_owned), true);
    let mut script = Vec::new();
    for (noun, filter, found) in [
        ("NAMELIST", "NAMCOUNT LT 1", "EMPTY"),
        ("NAMELIST", "NAMCOUNT GT 1", "TWO"),
        ("NAMELIST", "NAMCOUNT EQ 1", "ONE"),
        ("NAMELIST", "NAMCOUNT NE 1", "EMPTY TWO"),
        ("NAMELIST", "NAMCOUNT LE 1", "EMPTY ONE"),
        ("NAMELIST", "NAMCOUNT GE 1", "ONE TWO"),
        // As text, 10 would be less than 2.
        ("NAMELIST", "NAMCOUNT LT 10", "EMPTY ONE TWO"),
        // More than 32 bits hold.
        ("NAMELIST", "NAMCOUNT LT 9000000000", "EMPTY ONE TWO"),
        ("NAMELIST", "NAMCOUNT GT -9000000000", "EMPTY ONE TWO"),
        ("NAMELIST", "DESCR LT 'c'", "EMPTY ONE"),
        ("NAMELIST", "DESCR GT 'c'", "TWO"),
        ("NAMELIST", "DESCR EQ ' '", "EMPTY"),
        ("NAMELIST", "DESCR NE 'beta'", "EMPTY TWO"),
        ("NAMELIST", "DESCR LE 'beta'", "EMPTY ONE"),
        ("NAMELIST", "DESCR GE 'beta'", "ONE TWO"),
        ("NAMELIST", "DESCR LK 'b*'", "ONE"),
        ("NAMELIST", "DESCR NL 'b*'", "EMPTY TWO"),
        ("NAMELIST", "NAMES CT PROD.B", "TWO"),
        ("NAMELIST", "NAMES EX PROD.B", "EMPTY ONE"),
        ("NAMELIST", "NAMES CTG 'PROD*'", "TWO"),
        ("NAMELIST", "NAMES EXG 'PROD*'", "EMPTY ONE"),
        ("NAMELIST", "ALTDATE GE 2026-01-01", "EMPTY ONE TWO"),
        ("NAMELIST", "ALTDATE LT 2026-01-01", ""),
        ("NAMELIST", "ALTDATE EQ 2026-01-01", ""),
        ("NAMELIST", "ALTDATE NE 2026-01-01", "EMPTY ONE TWO"),
        ("NAMELIST", "ALTDATE LK '20*'", "EMPTY ONE TWO"),
        ("NAMELIST", "ALTTIME LE 23.59.59", "EMPTY ONE TWO"),
        ("NAMELIST", "ALTTIME GT 23.59.59", ""),
        ("QLOCAL", "CRDATE GT 2026-01-01", "Q"),
        ("QLOCAL", "CRTIME GE 00.00.00", "Q"),
        // A word is neither more nor less than a number.
        ("PROCESS", "APPLTYPE EQ UNIX", "SIX"),
        ("PROCESS", "APPLTYPE NE UNIX", "TEN"),
        ("PROCESS", "APPLTYPE LT 2000", "TEN"),
        ("CHANNEL", "DEFRECON EQ YES", "LZ4"),
        ("CHANNEL", "DEFRECON NE YES", "NONE"),
        ("CHANNEL", "COMPMSG CT RLE", "LZ4"),
        ("CHANNEL", "COMPMSG EX RLE", "NONE"),
        ("CHANNEL", "COMPMSG CTG 'LZ4*'", "LZ4"),
        ("CHANNEL", "COMPMSG EXG 'LZ4*'", "NONE"),
        ("NAMELIST", "ALTDATE EQ 2026-02-30", "AMQ8569E"),
        ("NAMELIST", "ALTDATE EQ 2026", "AMQ8569E"),
        ("NAMELIST", "ALTDATE GT today", "AMQ8569E"),
        ("NAMELIST", "ALTTIME LT 25.00.00", "AMQ8569E"),
        ("QLOCAL", "CRDATE GT ' '", "AMQ8569E"),
        ("QLOCAL", "CRTIME EQ 12:00:00", "AMQ8569E"),
        ("NAMELIST", "NAMES EQ DEV.A", "AMQ8569E"),
        ("NAMELIST", "NAMCOUNT CT 1", "AMQ8569E"),
        ("NAMELIST", "NAMCOUNT LK 1", "AMQ8569E"),
        ("NAMELIST", "NAMCOUNT GT one", "AMQ8569E"),
        ("PROCESS", "APPLTYPE GT UNIX", "AMQ8569E"),
        ("CHANNEL", "DEFRECON LT YES", "AMQ8569E"),
        ("CHANNEL", "COMPMSG CT BZIP", "AMQ8569E"),
        ("AUTHINFO", "LDAPPWD EQ guess", "AMQ8569E"),
    ] {
        script.push((format!("DISPLAY {noun}(F.*) WHERE({filter})"), found));
    }
    let commands: Vec<String> = script.iter().map(|(command, _)| command.clone()).collect();
    for ((command, expected), answer) in script.iter().zip(answers(&place, &commands, false)) {
        if expected.starts_with("AMQ") {
            assert!(answer.contains(expected), "{command}: {answer}");
            continue;
        }
        let names = answer.split_whitespace().filter_map(|cell| {
            let (_, name) = cell.split_once("(F.")?;
            name.strip_suffix(')')
        });
        let found = names.collect::<Vec<_>>().join(" ");
        assert_eq!(found, *expected, "{command}: {answer}");
    }
    serving.end();
}

/// Words that ask for several attributes, and parameters that choose beside WHERE.
#[test]
fn groups_and_choices_of_display() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let line = |command: &str, parts: &[&'static str]| (command.to_owned(), parts.to_vec());
    let script = [
        line(
            "DISPLAY QMGR SYSTEM",
            &[
                "QMNAME(QM1)",
                "MAXHANDS(256)",
                "!CHLEV",
                "!REPOS",
                "!PSMODE",
            ],
        ),
        line(
            "DISPLAY QMGR EVENT",
            &["QMNAME(QM1)", "PERFMEV(DISABLED)", "!MAXHANDS", "!QMID"],
        ),
        line(
            "DISPLAY QMGR CHINIT",
            &["CHLAUTH(ENABLED)", "SSLKEYR", "!MAXHANDS"],
        ),
        line(
            "DISPLAY QMGR CLUSTER",
            &["REPOS( )", "QMID(QM1_", "!CHLAUTH"],
        ),
        line("DISPLAY QMGR PUBSUB", &["TREELIFE(1800)", "!REPOS"]),
        line(
            "DISPLAY QMGR EVENT PUBSUB DEADQ",
            &["PERFMEV", "TREELIFE", "DEADQ", "!MAXHANDS"],
        ),
        line(
            "DISPLAY QMGR ALL",
            &["PERFMEV", "TREELIFE", "MAXHANDS", "REPOS", "CHLAUTH"],
        ),
        line("DISPLAY QMGR EVENT EVENT", &["AMQ8405I"]),
        line("DISPLAY QLOCAL(X) EVENT", &["AMQ8405I"]),
        line("DISPLAY QMSTATUS LOG", &["LOGPATH", "!STARTDA"]),
        line(
            "DISPLAY QSTATUS(DEV.QUEUE.1) MONITOR",
            &["MONQ(OFF)", "QTIME( )", "LPUTDATE( )", "!CURDEPTH"],
        ),
        line(
            "DISPLAY QSTATUS(SYSTEM.ADMIN.*) OPENTYPE(INPUT)",
            &["SYSTEM.ADMIN.COMMAND.QUEUE"],
        ),
        line("DISPLAY QSTATUS(DEV.*) OPENTYPE(INPUT)", &["AMQ8565E"]),
        line(
            "DISPLAY QSTATUS(SYSTEM.ADMIN.*) TYPE(HANDLE) OPENTYPE(INPUT)",
            &["INPUT(SHARED)", "!INPUT(NO)"],
        ),
        line(
            "DISPLAY QSTATUS(SYSTEM.ADMIN.*) OPENTYPE(ANY)",
            &["AMQ8405I"],
        ),
    ];
    play(&place, &script, false);
    serving.end();
}
