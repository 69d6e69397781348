//! A queue manager with the authorization service: what the group of a channel's user may do, and MQ's commands about it.

use std::fmt::Write as _;

use crate::place::{OPEN, Place, Serving};

/// As MQ's `qm.ini` has it.
const SERVICE: &str = "\nService:\n   Name=AuthorizationService\n   EntryPoints=14\nServiceComponent:\n   \
                       Service=AuthorizationService\n   Name=MQSeries.UNIX.auth.service\n   Module=amqzfu\n   \
                       ComponentDataSize=0\n";

fn checked(place: &Place) -> Serving {
    let serving = place.serving("QM1");
    place.mqsc(OPEN, "QM1").good();
    let own = "DELETE AUTHREC PROFILE('DEV.**') OBJTYPE(QUEUE) PRINCIPAL('app')\n\
               DELETE AUTHREC PROFILE('**') OBJTYPE(QUEUE) PRINCIPAL('admin')\n";
    place.mqsc(own, "QM1").good();
    serving.end();
    let path = place.home("QM1").join("qm.ini");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.write_str(SERVICE).unwrap();
    std::fs::write(&path, text).unwrap();
    place.serving("QM1")
}

#[test]
fn a_channels_user_may_do_what_its_group_may() {
    let place = Place::new();
    let serving = checked(&place);
    let set = "ALTER CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) MCAUSER('daemon')";
    place.mqsc(set, "QM1").good();
    let connect = format!(
        "--connect DEV.APP.SVRCONN/TCP/127.0.0.1({})",
        serving.port()
    );
    let put = || place.fed("hello\n", &format!("put DEV.QUEUE.1 QM1 {connect}"));
    let refused = put();
    assert!(
        refused.code != 0 && refused.err.contains("2035"),
        "{}",
        refused.err
    );
    let written = "AMQ8077W: User daemon has no authority for connect on qmgr QM1.";
    place.logged("QM1", written);
    let run = |line: &str| place.line(line).good().out;
    let done = run("setmqaut -m QM1 -t qmgr -g daemon +connect");
    assert!(done.contains("AMQ7024I"), "{done}");
    let refused = put();
    assert!(
        refused.code != 0 && refused.err.contains("2035"),
        "{}",
        refused.err
    );
    run("setmqaut -m QM1 -n DEV.** -t q -g daemon +put +browse +inq");
    put().good();
    let get = place.line(&format!("get DEV.QUEUE.1 QM1 {connect}"));
    assert!(get.code != 0 && get.err.contains("2035"), "{}", get.err);
    // Whoever owns the queue manager may do everything.
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    let shown = run("dspmqaut -m QM1 -n DEV.QUEUE.1 -t queue -p daemon");
    let expected = "Entity daemon has the following authorizations for object DEV.QUEUE.1:\n\tbrowse\n\tput\n\tinq\n";
    assert_eq!(shown, expected);
    run("setmqaut -m QM1 -n DEV.** -t q -g daemon -put");
    run("setmqaut -m QM1 -n DEV.** -t q -g daemon -all +browse +inq");
    let dumped = run("dmpmqaut -m QM1 -n DEV.QUEUE.1 -t q");
    let expected = "profile:     DEV.**\nobject type: queue\nentity:      daemon\ntype:        group\n\
                    authority:   browse, inq\n";
    assert_eq!(dumped, expected);
    // One word is refused, and nothing is changed: neither is what stands before it taken away, nor given what is right.
    for words in [
        "-all +browse +connect",
        "-all +frob",
        "-browse +get -inq +connect",
    ] {
        let line = format!("setmqaut -m QM1 -n DEV.** -t q -g daemon {words}");
        place.line(&line).failed_with(10, "AMQ8405I");
        assert_eq!(
            run("dmpmqaut -m QM1 -n DEV.QUEUE.1 -t q"),
            expected,
            "{words}"
        );
    }
    let again = run("dmpmqaut -m QM1 -a");
    assert!(
        again.contains("setmqaut -m QM1 -n 'self' -t qmgr -g 'daemon' +connect\n"),
        "{again}"
    );
    let saved = run("save QM1");
    let line = "SET AUTHREC PROFILE('DEV.**') OBJTYPE(QUEUE) GROUP('daemon') AUTHADD(BROWSE,INQ)\n";
    assert!(saved.contains(line), "{saved}");
    run("setmqaut -m QM1 -n DEV.** -t q -g daemon -remove");
    let unknown = place.line("setmqaut -m QM1 -t qmgr -g no-such-group +connect");
    assert!(
        unknown.code != 0 && unknown.err.contains("AMQ8871E"),
        "{}",
        unknown.err
    );
    serving.end();
    // What was granted is there after a restart.
    let serving = place.serving("QM1");
    let shown = place.line("dspmqaut -m QM1 -t qmgr -g daemon").good().out;
    assert!(shown.ends_with("for object QM1:\n\tconnect\n"), "{shown}");
    serving.end();
}

/// Users and passwords as the queue manager's own file has them, for every client.
const DEMAND: &str = "DEFINE AUTHINFO(USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(REQUIRED)\n\
                      ALTER QMGR CONNAUTH(USERS)\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n";

/// Whoever it runs as in the end is asked about: the user of the password, or whom a record says.
#[test]
fn whoever_a_client_becomes_is_asked_about() {
    let place = Place::new();
    let serving = checked(&place);
    for user in ["alice", "daemon"] {
        place
            .fed("right\n", &format!("users add {user} QM1"))
            .good();
    }
    place.mqsc(DEMAND, "QM1").good();
    let connect = format!(
        "--connect DEV.APP.SVRCONN/TCP/127.0.0.1({})",
        serving.port()
    );
    let put = |user: &str| {
        let line = format!("put DEV.QUEUE.1 QM1 {connect} -u {user}");
        place.fed("right\nhello\n", &line)
    };
    let refused = |user: &str, as_user: &str| {
        let outcome = put(user);
        let is_2035 = outcome.code != 0 && outcome.err.contains("2035");
        assert!(is_2035, "{user}: {}", outcome.err);
        let text = format!("AMQ8077W: User {as_user} has no authority for connect on qmgr QM1.");
        place.logged("QM1", &text);
    };
    place
        .line("setmqaut -m QM1 -t qmgr -g daemon +connect")
        .good();
    place
        .line("setmqaut -m QM1 -n DEV.** -t q -g daemon +put")
        .good();
    put("daemon").good();
    // The system does not know her: she has what everybody has.
    refused("alice", "alice");
    place
        .line("setmqaut -m QM1 -t qmgr -g nobody +connect")
        .good();
    place
        .line("setmqaut -m QM1 -n DEV.QUEUE.1 -t q -g nobody +put")
        .good();
    put("alice").good();
    place
        .line("setmqaut -m QM1 -t qmgr -g nobody -remove")
        .good();
    let map = "SET CHLAUTH('DEV.APP.SVRCONN') TYPE(ADDRESSMAP) ADDRESS('127.0.0.1') USERSRC(MAP) MCAUSER('bin')\n\
               ALTER QMGR CHLAUTH(ENABLED)\n";
    place.mqsc(map, "QM1").good();
    refused("daemon", "bin");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 2);
    serving.end();
}

/// Commands that come by a channel are those of the channel's user.
#[test]
fn commands_by_a_channel_need_its_users_authority() {
    let place = Place::new();
    let serving = checked(&place);
    let set = "ALTER CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) MCAUSER('daemon')";
    place.mqsc(set, "QM1").good();
    for words in [
        "-t qmgr +connect +dsp +inq",
        "-n SYSTEM.** -t q +put +get +inq +dsp",
        "-n DEV.QUEUE.1 -t q +dsp",
    ] {
        let (of, granted) = words.split_at(words.find('+').unwrap());
        place
            .line(&format!("setmqaut -m QM1 {of}-g daemon {granted}"))
            .good();
    }
    let channel = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let run = |text: &str| place.fed(text, &format!("mqsc -c QM1 --connect {channel}"));
    let shown = run("DISPLAY QLOCAL(DEV.QUEUE.1) CURDEPTH\n").good();
    assert!(shown.out.contains("CURDEPTH(0)"), "{}", shown.out);
    for text in [
        "CLEAR QLOCAL(DEV.QUEUE.1)\n",
        "ALTER QMGR CONNAUTH(' ')\n",
        "SET AUTHREC OBJTYPE(QMGR) GROUP('daemon') AUTHADD(CHG)\n",
        "SET CHLAUTH(*) TYPE(ADDRESSMAP) ADDRESS('*') MCAUSER('root')\n",
        "DISPLAY QLOCAL(DEV.QUEUE.2)\n",
    ] {
        let refused = run(text);
        assert!(refused.out.contains("AMQ2431E"), "{text}: {}", refused.out);
    }
    serving.end();
}

#[test]
fn what_the_queue_manager_refuses_is_shown_as_it_says_it() {
    let place = Place::new();
    let serving = place.serving("QM1");
    for (line, says) in [
        (
            "-n X -g no-such-group-here +get",
            "AMQ8871E: group no-such-group-here ",
        ),
        (
            "-n X -p app +frob",
            "AMQ8405I: Syntax error detected at or near end of command segment below:-\nSET AUTHREC ",
        ),
    ] {
        let line = format!("setmqaut -m QM1 -t queue {line}");
        let refused = place.line(&line).failed_with(10, says);
        assert!(refused.err.starts_with(says), "{refused:?}");
        let end = "\nAMQ2402E: the queue manager has refused it.\n";
        assert!(refused.err.contains(end), "{refused:?}");
    }
    serving.end();
}
