//! publish and subscribe, and MQ's samples that do so.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::place::{Guard, Place, fed, outcome};

/// Starts a command; returns when the first line of its standard error is there, with its standard output.
fn subscribed(mut command: Command) -> (Guard, impl Iterator<Item = String>) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Guard(command.spawn().unwrap());
    let mut first = String::new();
    let mut err = BufReader::new(child.0.stderr.take().unwrap());
    err.read_line(&mut first).unwrap();
    assert!(first.starts_with("Subscribed to news/"), "{first}");
    let out = BufReader::new(child.0.stdout.take().unwrap()).lines();
    (child, out.map(Result::unwrap))
}

fn posthaste(place: &Place, line: &str) -> Command {
    let mut command = place.named("posthaste");
    command.args(line.split_whitespace());
    command
}

/// Clients of this machine use any topic.
const GRANT: &str =
    "SET AUTHREC PROFILE(SYSTEM.BASE.TOPIC) OBJTYPE(TOPIC) PRINCIPAL('app') AUTHADD(PUB,SUB)";

#[test]
fn what_is_published_goes_to_whoever_has_subscribed() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let unheard = place.fed("nobody\n", "publish news/today QM1").good();
    assert_eq!(
        unheard.err,
        "1 message published on news/today, 1 of them to nobody.\n"
    );
    let (mut all, lines) = subscribed(posthaste(&place, "subscribe news/# QM1 --count 3"));
    let selecting = posthaste(&place, "subscribe news/+ QM1 --count 1");
    let mut selecting = selecting;
    selecting.args(["--selector", "JMSPriority = 9"]);
    let (mut one, selected) = subscribed(selecting);
    let published = place.fed("a\nb\n", "publish news/today QM1").good();
    assert_eq!(published.err, "2 messages published on news/today.\n");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    place.mqsc(GRANT, "QM1").good();
    place
        .fed(
            "c\n",
            &format!("publish news/today QM1 --priority 9 --async --connect {server}"),
        )
        .good();
    assert_eq!(lines.collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(selected.collect::<Vec<_>>(), ["c"]);
    assert!(all.0.wait().unwrap().success() && one.0.wait().unwrap().success());
    serving.end();
}

#[test]
fn a_durable_subscription_keeps_what_comes_meanwhile() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let nothing = "subscribe news/# QM1 --durable reader --wait 0";
    assert_eq!(place.line(nothing).code, 1);
    place
        .line("publish news/a QM1 --count 3 --size 10 --persistent --batch 2")
        .good();
    let first = place
        .line("subscribe news/# QM1 --durable reader --count 1")
        .good();
    assert_eq!(first.out, "message 1 \n");
    assert_eq!(
        first.err,
        "Subscribed to news/#.\n1 message got from news/#.\n"
    );
    let refused = place.line("subscribe other QM1 --durable reader --wait 0");
    let refused = refused.failed_with(39, "AMQ2402E");
    assert!(refused.err.contains("with 'news/#' and not 'other'"));
    let rest = place.line(&format!("{nothing} --remove")).good();
    assert_eq!(rest.out, "message 2 \nmessage 3 \n");
    let gone = place.mqsc("DISPLAY SUB(reader)", "QM1");
    assert!(gone.out.contains("AMQ8147"), "{gone:?}");
    serving.end();
}

#[test]
fn what_is_retained_is_told_to_whoever_comes_later() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let none = place.line("subscribe news/# QM1 --retained");
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    for (topic, text) in [("news/a", "old\nlast\n"), ("news/b", "other\n")] {
        place
            .fed(text, &format!("publish {topic} QM1 --retain"))
            .good();
    }
    let retained = place.line("subscribe news/# QM1 --retained").good();
    let mut lines: Vec<_> = retained.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["last", "other"]);
    assert_eq!(
        place.line("subscribe news/a QM1 --wait 0").good().out,
        "last\n"
    );
    assert_eq!(place.line("subscribe news/a QM1 --wait 0 --new").code, 1);
    serving.end();
}

#[test]
fn topics_that_are_none_are_refused() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let refused = place
        .line("subscribe a QM1 --selector (x")
        .failed_with(1, "MQSUB");
    assert!(refused.err.contains("2459"), "{refused:?}");
    let long = "x".repeat(10_241);
    let refused = place.line(&format!("publish {long} QM1 --count 1"));
    let refused = refused.failed_with(1, "MQOPEN");
    assert!(refused.err.contains("2441"), "{refused:?}");
    for wrong in ["subscribe a --remove", "subscribe a --retained --new"] {
        place.line(wrong).failed_with(39, "AMQ2402E");
    }
    place
        .mqsc(
            "ALTER TOPIC(SYSTEM.BASE.TOPIC) PUB(DISABLED) SUB(DISABLED)",
            "QM1",
        )
        .good();
    let refused = place.fed("x\n", "publish a QM1").failed_with(1, "MQPUT");
    assert!(refused.err.contains("2051"), "{refused:?}");
    assert!(
        refused.err.contains("0 messages published on a."),
        "{refused:?}"
    );
    let refused = place.line("subscribe a QM1").failed_with(1, "MQSUB");
    assert!(refused.err.contains("2503"), "{refused:?}");
    serving.end();
}

#[test]
fn samples_of_topics_speak_as_they_are_known() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let server = format!("DEV.APP.SVRCONN/TCP/127.0.0.1({})", serving.port());
    place.mqsc(GRANT, "QM1").good();
    let mut command = place.named("amqssubc");
    command.args(["news", "QM1"]).env("MQSERVER", &server);
    let mut subscribing = Guard(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(subscribing.0.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let waiting = "Calling MQGET : 30 seconds wait time";
    assert_eq!([next(), next()], ["Sample AMQSSUBA start", waiting]);
    let mut command = place.named("amqspub");
    command.args(["news", "QM1"]);
    let published = fed(command, b"Hello\n\nnot this\n").good();
    assert_eq!(
        published.out,
        "Sample AMQSPUBA start\ntarget topic is news\nSample AMQSPUBA end\n"
    );
    assert_eq!([next(), next()], ["message <Hello>", waiting]);
    assert_eq!(outcome(&mut place.named("amqssub")).code, 99);
    serving.end();
}
