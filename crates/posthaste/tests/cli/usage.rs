//! Commands called wrongly.

use crate::place::{Place, outcome};

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
