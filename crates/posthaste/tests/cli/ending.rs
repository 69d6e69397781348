//! Ends that go wrong: the cause is told where the operator looks, also when the disk is full.

use crate::place::{Background, Place, Serving, skipped};

#[test]
fn an_end_that_fails_tells_its_cause_and_its_code() {
    let place = Place::new();
    place.line("create -lf 64 QM1").good();
    place.line("start QM1").good();
    let _background = Background {
        place: &place,
        name: "QM1",
    };
    let queue = "SYSTEM.DEFAULT.LOCAL.QUEUE";
    place
        .line(&format!("put {queue} QM1 --count 10 --persistent"))
        .good();
    // Something has the names of the next images: the final checkpoint cannot be written.
    for number in 0..200 {
        let image = place.home("QM1").join(format!("checkpoint-{number}.tmp"));
        std::fs::create_dir_all(image).unwrap();
    }
    let ended = place.line("stop -i QM1").failed_with(72, "AMQ2042E");
    assert!(ended.err.contains("AMQ2027S: a checkpoint"), "{ended:?}");
    assert!(!ended.out.contains("AMQ8004I"), "{ended:?}");
    let listed = place.line("list").good().out;
    let expected = "STATUS(Ended unexpectedly (AMQ2027S: a checkpoint";
    assert!(listed.contains(expected), "{listed}");

    // A start says it is running, not how it ended before; and nothing was lost.
    for number in 0..200 {
        let image = place.home("QM1").join(format!("checkpoint-{number}.tmp"));
        std::fs::remove_dir(image).unwrap();
    }
    place.line("start QM1").good();
    assert!(place.line("list").out.contains("STATUS(Running)"));
    assert_eq!(place.depth(queue, "QM1"), 10);
    place.line("stop -i QM1").good();
    assert!(place.line("list").out.contains("STATUS(Ended immediately)"));
}

#[test]
fn a_killed_queue_manager_has_no_cause() {
    let place = Place::new();
    let serving = place.serving("QM1");
    serving.kill();
    assert!(
        place
            .line("list")
            .out
            .contains("STATUS(Ended unexpectedly)")
    );
}

#[test]
fn the_error_log_has_room_in_the_night_of_the_full_disk() {
    let place = Place::new();
    // Messages about channels are written by a thread of the log's own, soon after.
    let night = "$P create -lf 64 -lp 2 -ls 1 QM1 >&2 && $P start QM1 --port 0 >&2; \
         port=$($P list -o all | sed 's/.*127.0.0.1(\\([0-9]*\\)).*/\\1/'); \
         cat /dev/zero > $D/filler 2>/dev/null; echo x > $D/more 2>/dev/null || echo full; \
         for n in 1 2 3 4 5 6 7 8 9 10 11 12; do \
         $P get Q QM1 --connect \"NO.SUCH/TCP/127.0.0.1($port)\" 2>/dev/null; done; \
         E=$D/data/qmgrs/QM1/errors/AMQERR01.LOG; export E; \
         timeout 60 sh -c 'until grep -c AMQ9519E $E | grep -qx 12; do :; done'; grep -c AMQ9519E $E; \
         $P stop -i -z QM1; echo code $?; $P list; \
         grep -o 'AMQ2015I:\\|AMQ8004I:\\|AMQ2027S:' $D/data/qmgrs/QM1/errors/AMQERR01.LOG";
    let Some(found) = place.on_a_small_disk(night) else {
        skipped("this system does not let tests mount file systems");
        return;
    };
    let lines: Vec<&str> = found.out.lines().collect();
    let [full, entries, code, listed, last_words @ ..] = &lines[..] else {
        panic!("{found:?}");
    };
    assert_eq!((*full, *entries), ("full", "12"), "{found:?}");
    // Whether the disk had room for the end or not: all voices say the same.
    let (end, last) = match *code {
        "code 0" => ("STATUS(Ended immediately)", "AMQ8004I:"),
        "code 72" => ("STATUS(Ended unexpectedly (AMQ2027S: ", "AMQ2027S:"),
        _ => panic!("{found:?}"),
    };
    assert!(listed.contains(end), "{found:?}");
    assert_eq!(*last_words, ["AMQ2015I:", last], "{found:?}");
}

/// The same before the queue manager is there: the command says why it fails.
#[test]
fn a_limit_of_the_length_of_files_kills_no_creation() {
    let place = Place::new();
    for command in ["create QM1 --lf 64", "run QM1 --lf 64 --port 0"] {
        let mut shell = std::process::Command::new("sh");
        let limited = format!("ulimit -f 8; exec \"$0\" {command}");
        shell
            .args(["-c", &limited])
            .arg(place.named("posthaste").get_program())
            .env("POSTHASTE_DATA", place.data())
            .env_remove("MQSERVER");
        let outcome = crate::place::outcome(&mut shell);
        assert!(
            outcome.code > 0 && outcome.err.contains("AMQ2"),
            "{outcome:?}"
        );
    }
}

/// A file that may not become longer is a disk that is full, and no reason to be killed (SIGXFSZ).
#[test]
fn a_limit_of_the_length_of_files_refuses_puts_and_kills_nobody() {
    let place = Place::new();
    let mut shell = std::process::Command::new("sh");
    shell
        .args([
            "-c",
            "ulimit -f 2048; exec \"$0\" run QM1 --lf 64 --lp 3 --port 0",
        ])
        .arg(place.named("posthaste").get_program())
        .env("POSTHASTE_DATA", place.data())
        .env_remove("MQSERVER");
    let serving = Serving::start(shell);
    let line = "x".repeat(2_000);
    let text: String = (0..3_000).map(|n| format!("{n:04}{line}\n")).collect();
    let refused = place.fed(&text, "put DEV.QUEUE.1 QM1 --persistent");
    assert!(
        refused.err.contains("2056") || refused.err.contains("2102"),
        "{refused:?}"
    );
    let depth = place.depth("DEV.QUEUE.1", "QM1");
    assert!(depth > 50, "{depth}");
    let got = place.line("get DEV.QUEUE.1 QM1").good();
    assert!(got.out.starts_with("0000x"), "{got:?}");
    serving.end();
}
