//! Commands called wrongly, and the help that shows how to call them.

use crate::place::{Outcome, Place, outcome};

/// Every command that has a help of its own, and the program itself.
const COMMANDS: &[&str] = &[
    "",
    "run",
    "create",
    "start",
    "stop",
    "delete",
    "list",
    "mqsc",
    "save",
    "put",
    "get",
    "browse",
    "publish",
    "subscribe",
    "check",
    "addmqinf",
    "rmvmqinf",
    "dspmqinf",
    "dspmqver",
    "metrics",
    "transactions",
    "resolve",
    "doctor",
    "disktest",
    "perf",
    "perf run",
    "perf list",
    "perf report",
    "delayproxy",
];

fn help(place: &Place, command: &str, columns: &str) -> Outcome {
    let mut process = place.named("posthaste");
    process.args(command.split_whitespace()).arg("--help");
    outcome(process.env("COLUMNS", columns)).good()
}

#[test]
fn a_command_of_mq_that_is_not_here_says_so_in_one_line() {
    let place = Place::new();
    for (line, says) in [
        (
            "strmqcsv QM1",
            "strmqcsv is a command of MQ that is not in this release: the command server runs",
        ),
        ("runmqlsr -m QM1 -t tcp", "START, STOP LISTENER in runmqsc"),
        (
            "runmqdlq",
            "runmqdlq is a command of MQ that is not in this release.",
        ),
    ] {
        let refused = place.line(line).failed_with(39, says);
        assert_eq!(refused.err.lines().count(), 1, "{refused:?}");
    }
    // Called by a link, too, and with whatever arguments.
    outcome(place.named("mqrc").arg("2035")).failed_with(39, "AMQ2402E: mqrc is a command of MQ");
}

#[test]
fn a_wrong_command_line_is_refused_with_a_number() {
    let place = Place::new();
    for (line, code, says) in [
        ("put", 39, "<QUEUE>"),
        ("nonsense", 39, "nonsense"),
        ("put Q QM1 --size", 39, "--size"),
        ("create -lf 3 QM1", 39, "64..=65535"),
        ("stop -i -w QM1", 39, "cannot be used with"),
        ("runmqsc -Z", 20, "-Z"),
        ("amqsput", 99, "<QUEUE>"),
    ] {
        let refused = place.line(line).failed_with(code, says);
        assert!(refused.err.starts_with("AMQ2402E: "), "{refused:?}");
        assert_eq!(refused.out, "");
    }
    // Without any word there is the help, and the number behind it.
    for line in [&[][..], &["perf"]] {
        let refused = place.run(line).failed_with(39, "Usage: ");
        let last = refused.err.lines().last().unwrap_or("");
        assert!(last.starts_with("AMQ2402E: "), "{refused:?}");
    }
}

#[test]
fn a_name_that_is_none_is_refused_with_what_is_wrong_in_it() {
    let place = Place::new();
    for (name, why) in [
        ("QM-1", "'-' is not allowed in it"),
        ("QM 1", "' ' is not allowed in it"),
        ("QM\u{e9}\u{e8}", "'\u{e9}' is not allowed in it"),
        ("QM\t", "'\\t' is not allowed in it"),
        ("", "The name is missing"),
        (&"X".repeat(49), "It has 49 characters"),
    ] {
        let refused = outcome(place.named("crtmqm").arg(name));
        let refused = refused.failed_with(39, "AMQ7048E");
        assert!(refused.err.contains(why), "{why}: {refused:?}");
    }
    assert!(!place.data().join("mqs.ini").exists());
}

#[test]
fn what_can_be_typed_fits_a_terminal_of_80_columns() {
    let place = Place::new();
    let mut typed = 0;
    for command in COMMANDS {
        let wide = help(&place, command, "400").out;
        let narrow = help(&place, command, "80").out;
        for line in wide.lines() {
            let example = line.trim_start();
            if !["posthaste ", "echo ", "ln -s "]
                .iter()
                .any(|word| line.starts_with(' ') && example.starts_with(word))
            {
                continue;
            }
            typed += 1;
            // One that does not fit is broken where it cannot be typed any more.
            let whole = narrow.lines().any(|narrow| narrow == line);
            assert!(whole && line.chars().count() <= 80, "{command}: {line}");
        }
    }
    assert!(typed > 40, "{typed}");
}

/// What scripts written for MQ call to look around.
#[test]
fn the_version_and_help_are_shown_as_mq_has_them() {
    let place = Place::new();
    let mut all = place.named("dspmqver");
    let shown = outcome(&mut all).good().out;
    for name in [
        "Name:        Posthaste",
        "Version:     ",
        "InstPath:    ",
        "DataPath:    ",
    ] {
        assert!(
            shown.lines().any(|line| line.starts_with(name)),
            "{name}: {shown}"
        );
    }
    let version = place.line("dspmqver -b -f 2").good().out;
    let parts: Vec<&str> = version.trim_end().split('.').collect();
    assert!(
        parts.len() == 4 && parts.iter().all(|part| part.parse::<u32>().is_ok()),
        "{version}"
    );
    place.line("dspmqver -p 64").failed_with(39, "AMQ");
    for command in [
        "crtmqm", "strmqm", "endmqm", "dltmqm", "dspmq", "runmqsc", "dspmqver",
    ] {
        let help = outcome(place.named(command).arg("-?")).good().out;
        assert!(help.contains("Usage: "), "{command}: {help}");
    }
    let help = outcome(place.named("crtmqm").arg("-h")).good().out;
    assert!(help.contains("Usage: "), "{help}");
    for line in [
        "-?",
        "--data-dir /nowhere -?",
        "endmqm QM1 -?",
        "perf -?",
        "perf list -?",
    ] {
        let help = place.line(line).good().out;
        assert!(help.contains("Usage: posthaste"), "{line}: {help}");
    }
    let whole = place.line("--help").good().out;
    assert_eq!(place.line("-?").good().out, whole);
    // The value of an option is no question.
    place.line("crtmqm -c=-? QM1").good();
    place.line("crtmqm -c -? QM2").failed_with(39, "AMQ2402E");
    place.line("put -- -? QM1").failed_with(40, "AMQ8146E");
}
