//! runmqsc.

use posthaste_command::{DisplayType, DisplayWhat, status_keywords};

use crate::place::{OPEN, Place, Serving, fed};

#[test]
fn scripts_are_echoed_answered_and_counted() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let script = "* a comment\nDEFINE QLOCAL(A) +\n   DESCR('one +\n   two')\n\n\
         DEFINE QLOCAL(A)\nDISPLAY QLOCAL(A) DESCR\nDEFINE QLOCAL(A\nDELETE QLOCAL(NONE)\nEND\nDELETE QLOCAL(A)\n";
    let run = place.mqsc(script, "QM1");
    assert_eq!(run.code, 10);
    let expected = "Starting MQSC for queue manager QM1.\n\n\n     1 : DEFINE QLOCAL(A) ";
    assert!(run.out.starts_with(expected), "{}", run.out);
    for part in [
        "AMQ8006I: Queue A created.",
        "     2 : DEFINE QLOCAL(A)\nAMQ8150E: Object A already exists.",
        "   DESCR(one two)",
        "AMQ8406E: Unexpected end of input in MQSC.",
        "     5 : DELETE QLOCAL(NONE)\nAMQ8147E: Object NONE not found.",
        "\n5 MQSC commands read.\nOne command has a syntax error.\n2 valid MQSC commands could not be processed.\n",
    ] {
        assert!(run.out.contains(part), "{part}\n{}", run.out);
    }
    assert_eq!(place.depth("A", "QM1"), 0, "END ended the script");

    // From a file, without echo; looking at the syntax only; a last line without an end.
    let file = place.path().join("script");
    std::fs::write(&file, "DEFINE QLOCAL(B)\nDISPLAY QLOCAL(B) MAXDEPTH").unwrap();
    let file = file.to_str().unwrap();
    let checked = place.run(&["mqsc", "QM1", "-v", "-f", file]).good();
    assert!(checked.out.contains("AMQ8427I"));
    let quiet = place.run(&["mqsc", "QM1", "-e", "-f", file]).good();
    assert!(!quiet.out.contains(" : "), "{}", quiet.out);
    assert!(quiet.out.contains("MAXDEPTH(5000)"));
    place
        .run(&["mqsc", "QM1", "-f", "/no/such/file"])
        .failed_with(20, "AMQ2008E");
    place.line("mqsc NONE").failed_with(20, "AMQ8118E");
    place
        .line("mqsc --nonsense QM1")
        .failed_with(20, "nonsense");

    // What MQ has and this release has not is no syntax error.
    let run = place.mqsc("DISPLAY CLUSQMGR(*)\nSTART CHINIT\nPING QMGR\n", "QM1");
    assert_eq!(run.code, 10);
    for part in [
        "AMQ2401E: DISPLAY CLUSQMGR is an MQSC command that this release does not perform.\n",
        "\n3 MQSC commands read.\nNo commands have a syntax error.\n2 commands are not in this release.\nAll valid MQSC commands were processed.\n",
    ] {
        assert!(run.out.contains(part), "{part}\n{}", run.out);
    }
    serving.end();
}

#[test]
fn listeners_and_channels_are_started_stopped_and_shown() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let ask = |script: &str| place.mqsc(script, "QM1");
    let address = |port| format!("DEV.APP.SVRCONN/TCP/127.0.0.1({port})");
    let reach =
        |server: &str| place.run(&["put", "DEV.QUEUE.1", "--count", "1", "--connect", server]);

    let shown = ask("DISPLAY LSSTATUS(*) ALL").good().out;
    assert!(shown.contains("LISTENER(SYSTEM.LISTENER.TCP.1)") && shown.contains("STATUS(RUNNING)"));
    assert!(shown.contains(&format!("PORT({})", serving.port())));
    ask("DEFINE LISTENER(L2) TRPTYPE(TCP) PORT(0) IPADDR('127.0.0.1')").good();
    assert!(ask("DISPLAY LSSTATUS(L2)").out.contains("AMQ8731E"));
    ask("START LISTENER(L2)").good();
    assert!(ask("START LISTENER(L2)").out.contains("AMQ8730E"));
    assert!(ask("DELETE LISTENER(L2)").out.contains("AMQ8730E"));
    let shown = ask("DISPLAY LSSTATUS(L2) PORT").good().out;
    let (_, rest) = shown.split_once("PORT(").unwrap();
    let second = address(rest.split_once(')').unwrap().0);
    reach(&second).good();
    ask("STOP LISTENER(L2)").good();
    reach(&second).failed_with(40, "AMQ2209E");
    ask("DELETE LISTENER(L2)").good();
    assert!(ask("STOP LISTENER(L2)").out.contains("AMQ8147E"));
    let taken = format!(
        "DEFINE LISTENER(L3) TRPTYPE(TCP) PORT({}) IPADDR('127.0.0.1')\nSTART LISTENER(L3)",
        serving.port()
    );
    assert!(ask(&taken).out.contains("AMQ9218E"));

    let network = address(&serving.port().to_string());
    reach(&network).good();
    ask("STOP CHANNEL(DEV.APP.SVRCONN)").good();
    reach(&network).failed_with(1, "2537");
    ask("START CHANNEL(DEV.APP.SVRCONN)").good();
    reach(&network).good();
    assert!(ask("STOP CHANNEL(NONE)").out.contains("AMQ8227E"));
    for choice in ["STATUS(INACTIVE)", "CONNAME('192.0.2.1')", "QMNAME(QM2)"] {
        let stop = format!("STOP CHANNEL(DEV.APP.SVRCONN) {choice}");
        assert!(ask(&stop).out.contains("AMQ9533W"), "{choice}");
    }
    reach(&network).good();
    assert!(ask("DISPLAY CHSTATUS(DEV.*)").out.contains("AMQ8420I"));
    ask("STOP CHANNEL(DEV.APP.SVRCONN)").good();
    let shown = ask("DISPLAY CHSTATUS(DEV.*)").good().out;
    assert!(shown.contains("CHANNEL(DEV.APP.SVRCONN)") && shown.contains("STATUS(STOPPED)"));
    let found = ask("DISPLAY CHSTATUS(*) WHERE(STATUS EQ STOPPED)")
        .good()
        .out;
    assert_eq!(found.matches("AMQ8417I").count(), 1, "{found}");
    ask("START CHANNEL(DEV.APP.SVRCONN)").good();
    // Whatever is done to the channels, the operator is not locked out.
    let lock_out = "STOP CHANNEL(SYSTEM.DEF.SVRCONN)\nALTER CHANNEL(SYSTEM.DEF.SVRCONN) CHLTYPE(SVRCONN) MAXINST(0)\nDELETE CHANNEL(SYSTEM.DEF.SVRCONN)";
    ask(lock_out).good();
    // What is not there is not stopped any more.
    assert!(
        ask("DISPLAY CHSTATUS(SYSTEM.DEF.SVRCONN)")
            .out
            .contains("AMQ8420I")
    );
    ask("DEFINE CHANNEL(IDLE) CHLTYPE(SVRCONN)\nSTOP CHANNEL(IDLE)").good();
    ask(OPEN).good();
    // Over a channel, for applications of this machine have none.
    let ask = |command: &str| {
        let mut far = place.named("posthaste");
        far.args(["mqsc", "QM1", "--connect", &network]);
        crate::place::fed(far, command.as_bytes())
    };
    assert!(
        ask("DISPLAY CHSTATUS(*) RAPPLTAG")
            .good()
            .out
            .contains("RAPPLTAG(runmqsc)")
    );
    // Over the channel itself: it is in use.
    let refused = ask("DELETE CHANNEL(DEV.APP.SVRCONN)");
    assert!(refused.out.contains("AMQ9514E"), "{}", refused.out);
    let shown = ask("DISPLAY CHSTATUS(*) ALL").good().out;
    let rows = [
        (DisplayWhat::ChStatus, "CHSTATUS"),
        (DisplayWhat::LsStatus, "LSSTATUS"),
    ];
    for (what, noun) in rows {
        let shown = ask(&format!("DISPLAY {noun}(*) ALL")).good().out;
        for keyword in status_keywords(what, DisplayType::All) {
            let cell = match keyword {
                "CURRENT" => " CURRENT\n".to_owned(),
                _ => format!(" {keyword}("),
            };
            assert!(shown.contains(&cell), "{noun} {keyword}: {shown}");
            let asked = match keyword {
                "CURRENT" => format!("DISPLAY {noun}(*) CURRENT"),
                _ => format!("DISPLAY {noun}(*) {keyword}"),
            };
            assert!(ask(&asked).good().out.contains(&cell), "{asked}");
        }
        every_value_can_be_asked_for(&ask, what, noun, &shown);
    }
    let state = ask("DISPLAY QMSTATUS CMDSERV CHINIT").good().out;
    assert!(state.contains("CMDSERV(RUNNING)") && state.contains("CHINIT(RUNNING)"));
    // Whoever asks has just made a call; the stopped channel has no instance that could.
    assert_eq!(shown.matches("LSTMSGTI( )").count(), 1, "{shown}");
    serving.end();
}

/// What is shown is a value that WHERE takes, and what is no value is refused.
fn every_value_can_be_asked_for(
    ask: &dyn Fn(&str) -> crate::place::Outcome,
    what: DisplayWhat,
    noun: &str,
    shown: &str,
) {
    let keywords = status_keywords(what, DisplayType::All).into_iter();
    let keywords = keywords.filter(|keyword| *keyword != "CURRENT");
    let filters = keywords.map(|keyword| {
        let (_, after) = shown.split_once(&format!(" {keyword}(")).unwrap();
        let value = after.lines().next().unwrap();
        let value = value.split("  ").next().unwrap().trim_end();
        let value = value.strip_suffix(')').unwrap();
        match keyword {
            "COMPHDR" | "COMPMSG" | "COMPRATE" | "COMPTIME" | "EXITTIME" => {
                let item = value.split(',').next().unwrap();
                format!("DISPLAY {noun}(*) WHERE({keyword} CT '{item}')\n")
            }
            _ => format!("DISPLAY {noun}(*) WHERE({keyword} EQ '{value}')\n"),
        }
    });
    let filters: Vec<String> = filters.collect();
    // Some count what the question itself adds to, and find nothing then.
    let found = ask(&filters.concat()).out;
    assert!(found.contains("No commands have a syntax error"), "{found}");
    let impossible = ask(&format!("DISPLAY {noun}(*) WHERE(STATUS EQ BANANA)"));
    let refused = impossible.failed_with(10, "AMQ8569E").out;
    let (_, values) = refused
        .split_once("BANANA is not a value of STATUS; it is one of ")
        .unwrap_or_else(|| panic!("{refused}"));
    assert!(values.contains("STARTING"), "{refused}");
}

#[test]
fn the_version_is_that_of_dspmqver() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let shown = place
        .mqsc("DISPLAY QMGR VERSION CMDLEVEL\n", "QM1")
        .good()
        .out;
    assert!(shown.contains("VERSION(09040000)"), "{shown}");
    let version = place.line("dspmqver -b -f 2").good().out;
    let digits: String = version
        .trim()
        .split('.')
        .map(|part| format!("{part:0>2}"))
        .collect();
    assert_eq!(digits, "09040000");
    serving.end();
}

#[test]
fn definitions_survive_and_generic_names_and_filters_select() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let script = "define qlocal(request1) maxdepth(5000) replace\ndefine qlocal('Mixed.Case')\n\
         define qalias(AL) targq(REQUEST1)\ndefine qremote(RE) rname(X) rqmname(Y)\n\
         alter qmgr maxmsgl(104857600)\ndefine channel(C1) chltype(svrconn) maxinst(5)\n";
    let run = place.mqsc(script, "QM1").good();
    assert!(run.out.contains("6 MQSC commands read."), "{}", run.out);
    serving.kill();
    let serving = place.serving("QM1");
    let ask = |script: &str| place.mqsc(script, "QM1").good().out;
    assert!(ask("DISPLAY QLOCAL(REQ*) MAXDEPTH").contains("MAXDEPTH(5000)"));
    assert!(ask("DISPLAY QUEUE('Mixed.Case') TYPE").contains("QUEUE(Mixed.Case)"));
    assert!(ask("DISPLAY QALIAS(AL)").contains("TARGET(REQUEST1)"));
    assert!(ask("DISPLAY QMGR MAXMSGL").contains("MAXMSGL(104857600)"));
    assert!(ask("DISPLAY CHANNEL(C1)").contains("MAXINST(5)"));
    place.fed("x\ny\n", "put AL QM1").good();
    let filtered = ask("DISPLAY QLOCAL(*) WHERE(CURDEPTH GT 0)");
    assert!(filtered.contains("QUEUE(REQUEST1)") && !filtered.contains("QUEUE(DEV."));
    assert!(ask("DISPLAY QMSTATUS ALL").contains("STATUS(RUNNING)"));
    place.mqsc("CLEAR QLOCAL(REQUEST1)", "QM1").good();
    assert_eq!(place.depth("REQUEST1", "QM1"), 0);
    serving.end();
}

#[test]
fn the_command_queue_may_be_misused() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let queue = "SYSTEM.ADMIN.COMMAND.QUEUE";
    // Not a request, no reply queue, not a command message: each ignored or refused, none fatal.
    place.fed("junk\n", &format!("put {queue} QM1")).good();
    place
        .fed("junk\n", &format!("put {queue} QM1 --format MQADMIN"))
        .good();
    let answered = format!("put {queue} QM1 --format MQADMIN --reply-to DEV.QUEUE.3");
    place.fed("junk\n", &answered).good();
    let nowhere = format!("put {queue} QM1 --format MQADMIN --reply-to NO.SUCH.QUEUE");
    place.fed("junk\n", &nowhere).good();
    // They are taken in order, so an answer by the queue means that all were dealt with.
    place.mqsc(OPEN, "QM1").good();
    place.fed("PING QMGR\n", &by_queue(&serving)).good();
    assert_eq!(place.depth("DEV.QUEUE.3", "QM1"), 1);
    serving.end();
    let log = place.error_log("QM1");
    assert_eq!(log.matches("AMQ2206W: ").count(), 2, "{log}");
    assert_eq!(log.matches("AMQ2205W: ").count(), 1);
}

/// runmqsc over the network.
fn by_queue(serving: &Serving) -> String {
    let port = serving.port();
    format!("mqsc -c -w 2 QM1 --connect DEV.ADMIN.SVRCONN/TCP/127.0.0.1({port})")
}

/// What is done to the queues that commands and answers go by locks nobody of this machine out, nor does a restart.
#[test]
fn commands_of_this_machine_need_no_queue() {
    const QUEUE: &str = "SYSTEM.ADMIN.COMMAND.QUEUE";
    let place = Place::new();
    let mut serving = place.serving("QM1");
    place.mqsc(OPEN, "QM1").good();
    for (harm, mended) in [
        ("GET(DISABLED)", "GET(ENABLED)"),
        ("PUT(DISABLED)", "PUT(ENABLED)"),
        ("MAXDEPTH(0)", "MAXDEPTH(3000)"),
        ("MAXMSGL(1)", "MAXMSGL(32768)"),
    ] {
        place
            .mqsc(&format!("ALTER QLOCAL({QUEUE}) {harm}"), "QM1")
            .good();
        let far = place.fed("PING QMGR\n", &by_queue(&serving));
        assert_ne!(far.code, 0, "{harm}: the queue is used elsewhere");
        place.mqsc("PING QMGR", "QM1").good();
        place.line("save QM1").good();
        serving.end();
        serving = place.serving("QM1");
        let shown = place
            .mqsc(&format!("DISPLAY QLOCAL({QUEUE})"), "QM1")
            .good();
        assert!(shown.out.contains(harm), "{shown:?}");
        let mended = format!("ALTER QLOCAL({QUEUE}) {mended}");
        place.mqsc(&mended, "QM1").good();
        place.fed("PING QMGR\n", &by_queue(&serving)).good();
    }
    let gone = "DELETE QMODEL(SYSTEM.MQSC.REPLY.QUEUE)\nDELETE QMODEL(SYSTEM.DEFAULT.MODEL.QUEUE)";
    place.mqsc(gone, "QM1").good();
    place.mqsc("PING QMGR", "QM1").good();
    serving.end();
}

#[test]
fn a_link_by_mq_s_name_is_that_command() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("runmqsc");
    command.arg("QM1");
    let run = fed(command, b"DISPLAY QMGR QMNAME\n").good();
    assert!(run.out.contains("QMNAME(QM1)"));
    let listed = crate::place::outcome(&mut place.named("dspmq")).good();
    assert_eq!(listed.out, "QMNAME(QM1) STATUS(Running)\n");
    serving.end();
}

#[test]
fn system_objects_that_were_deleted_come_back() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let ask = |script: &str| place.mqsc(script, "QM1");
    place
        .fed("kept\n", "put SYSTEM.DEFAULT.LOCAL.QUEUE QM1 --persistent")
        .good();
    place.line("start -c QM1").failed_with(5, "AMQ2021E");
    // Without its own model it takes another one.
    ask("DELETE QMODEL(SYSTEM.MQSC.REPLY.QUEUE)").good();
    ask("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(7)\nALTER QMGR DESCR('mine')").good();
    ask("DELETE QMODEL(SYSTEM.DEFAULT.MODEL.QUEUE)").good();
    ask(OPEN).good();
    let refused = place.fed("PING QMGR\n", &by_queue(&serving));
    let refused = refused.failed_with(20, "AMQ2211E");
    assert!(refused.err.contains("strmqm -c QM1"), "{refused:?}");
    serving.end();
    let made = place.line("start -c QM1").good();
    let summary = "Default objects statistics : 2 created. 33 replaced. 0 failed.";
    assert!(made.out.contains(summary), "{made:?}");
    assert!(
        place
            .line("list")
            .good()
            .out
            .contains("STATUS(Ended normally)")
    );
    let serving = place.serving("QM1");
    let shown =
        ask("DISPLAY QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH CURDEPTH\nDISPLAY QMGR DESCR")
            .good();
    for expected in ["MAXDEPTH(5000)", "CURDEPTH(1)", "DESCR(mine)"] {
        assert!(shown.out.contains(expected), "{expected}: {shown:?}");
    }
    ask("DISPLAY QMODEL(SYSTEM.MQSC.REPLY.QUEUE)").good();
    // A name that something else has is not taken from it.
    ask("DELETE QMODEL(SYSTEM.MQSC.REPLY.QUEUE)\nDEFINE QLOCAL(SYSTEM.MQSC.REPLY.QUEUE)").good();
    serving.end();
    let made = place.line("strmqm -c QM1").failed_with(10, "1 failed");
    assert!(
        made.err.contains("SYSTEM.MQSC.REPLY.QUEUE is there"),
        "{made:?}"
    );
}

#[test]
fn options_of_later_releases_are_refused_by_name() {
    let place = Place::new();
    place.line("create -lf 64 QM1").good();
    for (line, feature) in [
        ("strmqm -x QM1", "multi-instance"),
        ("strmqm -a QM1", "backup queue managers"),
        ("strmqm -r QM1", "backup queue managers"),
        ("endmqm -s QM1", "multi-instance"),
        ("endmqm -x QM1", "multi-instance"),
        ("crtmqm -ll QM2", "linear logging"),
        ("crtmqm -lr INSTANCE QM2", "replicated logging"),
    ] {
        let refused = place.line(line).failed_with(39, "AMQ2402E");
        assert!(
            refused.err.contains(feature) && refused.err.contains("not in this release"),
            "{line}: {refused:?}"
        );
    }
}

/// What is saved, run elsewhere and saved again is the same, whatever the defaults are there.
#[test]
fn saved_definitions_make_the_same_objects() {
    let place = Place::new();
    let first = place.serving("QM1");
    let script = "ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(77)\n\
         DEFINE QLOCAL('Mixed.Case') MAXDEPTH(5000) DESCR('it''s (odd) + -') TRIGGER INITQ(I)\n\
         DEFINE QLOCAL(I) NPMCLASS(HIGH) MSGDLVSQ(FIFO)\nDEFINE QMODEL(M) DEFTYPE(PERMDYN)\n\
         DEFINE QALIAS(AL) TARGET(I) GET(DISABLED)\nDEFINE QREMOTE(RE) RNAME(X) RQMNAME(Y) XMITQ(I)\n\
         DEFINE CHANNEL(C1) CHLTYPE(SVRCONN) MAXINST(5) DESCR(' blanks ')\n\
         DEFINE CHANNEL(C1) CHLTYPE(CLNTCONN) CONNAME('far(1414)') COMPMSG(LZ4FAST,RLE) DEFRECON(QMGR)\n\
         DEFINE NAMELIST(N) NAMES('mixed.Case',B) DESCR('it''s a list')\nDEFINE NAMELIST(EMPTY)\n\
         DEFINE PROCESS(P) APPLTYPE(7) APPLICID('/bin/pay \"x\"') ENVRDATA('&') USERDATA('a b')\n\
         DEFINE AUTHINFO(A1) AUTHTYPE(CRLLDAP) CONNAME('ldap(389)') LDAPUSER('cn=q')\n\
         DEFINE AUTHINFO(A2) AUTHTYPE(OCSP) OCSPURL('http://o')\n\
         DEFINE AUTHINFO(A3) AUTHTYPE(IDPWOS) FAILDLAY(7)\n\
         DEFINE AUTHINFO(A4) AUTHTYPE(IDPWLDAP) CONNAME('l') SHORTUSR('cn') CLASSUSR('person')\n\
         DEFINE COMMINFO(CI) GRPADDR('239.9.9.9') ENCODING(NORMAL) CCSID(819)\n\
         DEFINE SERVICE(SV) STARTCMD('/bin/true') STARTARG('-x \"+QMNAME+\"') CONTROL(STARTONLY) STDERR('/tmp/+QMNAME+')\n\
         DEFINE LISTENER(L9) TRPTYPE(TCP) PORT(0) IPADDR('127.0.0.1')\n\
         ALTER QMGR DEADQ(I) DESCR('the first') MAXUMSGS(50)\n";
    place.mqsc(script, "QM1").good();
    let definitions = |name: &str| {
        let saved = place.line(&format!("save {name}")).good().out;
        let own = |line: &&str| !line.starts_with('*');
        (
            saved
                .lines()
                .filter(own)
                .map(String::from)
                .collect::<Vec<_>>(),
            saved,
        )
    };
    let (before, text) = definitions("QM1");
    assert!(text.ends_with(" definitions; this is the end.\n"), "{text}");
    assert!(
        !text.contains("'MQSC."),
        "temporary queues are left out: {text}"
    );
    first.end();
    let second = place.serving("QM2");
    let (other, _) = definitions("QM2");
    assert_ne!(other, before);
    let run = place.mqsc(&text, "QM2");
    let wrong = run
        .out
        .contains("syntax error.\nAll valid MQSC commands were processed.");
    assert!(wrong && run.code == 0, "{}", run.out);
    let (after, _) = definitions("QM2");
    assert_eq!(after, before);
    assert_eq!(definitions("-a -m QM2").0, before);
    // What dmpmqcfg leaves out when it is asked to, and how it writes the rest.
    let lines = |options: &str| -> Vec<String> {
        let saved = place
            .line(format!("save QM2 -z -o 1line {options}").trim_end())
            .good();
        let own = |line: &&str| !line.is_empty() && !line.starts_with('*');
        saved.out.lines().filter(own).map(String::from).collect()
    };
    let all = lines("");
    assert_eq!(lines("-x all -t all -n *"), all);
    let parts = ["object", "sub", "chlauth", "authrec"].map(|part| lines(&format!("-x {part}")));
    assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), all.len());
    assert!(parts[2].iter().all(|line| line.starts_with("SET CHLAUTH(")));
    assert!(parts[3].iter().all(|line| line.starts_with("SET AUTHREC ")));
    let names = |lines: Vec<String>| -> Vec<String> {
        let name = |line: &String| Some(line.split_once(')')?.0.to_owned());
        lines.iter().filter_map(name).collect()
    };
    assert_eq!(names(lines("-t namelist -n N")), ["DEFINE NAMELIST('N'"]);
    assert_eq!(names(lines("-t authinfo -n A*")).len(), 4);
    let qmgr = lines("-x object -t qmgr -n QM2");
    assert!(
        qmgr.len() == 1 && qmgr[0].starts_with("ALTER QMGR "),
        "{qmgr:?}"
    );
    let rerun = place.mqsc(&all.join("\n"), "QM2");
    assert!(rerun.code == 0, "{}", rerun.out);
    assert_eq!(definitions("QM2").0, before);
    assert_eq!(lines("-t QUEUE"), lines("-t queue"));
    for wrong in ["-o setmqaut", "-t queues", "-x objects"] {
        let line = format!("save QM2 {wrong}");
        place.line(&line).failed_with(39, "AMQ2402E");
    }
    second.end();
}
