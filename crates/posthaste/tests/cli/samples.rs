//! MQ's sample programs by their names.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::place::{Guard, Place, fed, outcome};

#[test]
fn samples_speak_as_they_are_known() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let mut command = place.named("amqsput");
    command.args(["DEV.QUEUE.1", "QM1"]);
    let put = fed(command, b"Hello\nWorld\n\nnot this\n").good();
    assert_eq!(
        put.out,
        "Sample AMQSPUT0 start\ntarget queue is DEV.QUEUE.1\nSample AMQSPUT0 end\n"
    );
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 2);

    let browsed = outcome(place.named("amqsgbr").args(["DEV.QUEUE.1", "QM1"])).good();
    assert_eq!(
        browsed.out,
        "Sample AMQSGBR0 (browse) start\nQM1\nMessages for DEV.QUEUE.1\n   1 <Hello>\n   2 <World>\nno more messages\nSample AMQSGBR0 (browse) end\n"
    );
    let dumped = outcome(place.named("amqsbcg").args(["DEV.QUEUE.1", "QM1"])).good();
    for part in [
        "AMQSBCG0 - starts here\n**********************",
        " MQOPEN - 'DEV.QUEUE.1'",
        " MQGET of message number 2, CompCode:0 Reason:0\n****Message descriptor****",
        "  Format : 'MQSTR   '",
        "  PutApplName    : 'amqsput                     '",
        "00000000:  576F 726C 64                             'World           '",
        " No more messages",
        " MQCLOSE\n MQDISC\n",
    ] {
        assert!(dumped.out.contains(part), "{part}\n{}", dumped.out);
    }

    // It waits 15 seconds for more; this test does not.
    let mut command = place.named("amqsget");
    command.args(["DEV.QUEUE.1", "QM1"]).stdout(Stdio::piped());
    let mut getting = Guard(command.spawn().unwrap());
    let lines = BufReader::new(getting.0.stdout.take().unwrap()).lines();
    let first: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    assert_eq!(
        first,
        [
            "Sample AMQSGET0 start",
            "message <Hello>",
            "message <World>"
        ]
    );
    serving.end();
}

#[test]
fn client_samples_follow_mqserver_and_failures_have_their_codes() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    let mut command = place.named("amqsputc");
    command
        .args(["DEV.QUEUE.1", "QM1"])
        .env("MQSERVER", &server);
    fed(command, b"by net\n").good();
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 1);
    // They go by the network: where MQSERVER leads nowhere they fail, though the queue manager is on this machine.
    for (name, says) in [("amqsbcgc", "'by net"), ("amqsgbrc", "<by net>")] {
        let browse = |server: &str| {
            let mut command = place.named(name);
            command.args(["DEV.QUEUE.1", "QM1"]).env("MQSERVER", server);
            outcome(&mut command)
        };
        let shown = browse(&server).good();
        assert!(shown.out.contains(says), "{shown:?}");
        let nowhere = browse("DEV.APP.SVRCONN/TCP/127.0.0.1(1)");
        assert_eq!(nowhere.code, 1, "{nowhere:?}");
    }

    let missing = outcome(place.named("amqsput").args(["NO.QUEUE", "QM1"]));
    assert_eq!(missing.code, 1);
    assert!(
        missing
            .out
            .contains("MQOPEN ended with reason code 2085\nunable to open queue for output\n")
    );
    assert!(missing.out.ends_with("Sample AMQSPUT0 end\n"));
    assert_eq!(outcome(&mut place.named("amqsput")).code, 99);
    let nobody = outcome(place.named("amqsget").args(["Q", "QM9"]));
    assert_eq!(nobody.code, 1);
    assert!(nobody.out.contains("MQCONN ended with reason code 2058"));
    serving.end();
    let ended = outcome(place.named("amqsget").args(["Q", "QM1"]));
    assert!(ended.out.contains("MQCONN ended with reason code 2059"));
}
