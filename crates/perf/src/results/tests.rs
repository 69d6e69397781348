//! Files: what is written comes back, what is not ours is refused with the reason.

use super::samples::document;
use super::*;

#[test]
fn a_document_comes_back_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/er");
    let mut document = document();
    document.ended = Ended::Partial("the server ended".to_owned());
    document.goals = vec![
        Goal {
            measure: "m".to_owned(),
            case: "c".to_owned(),
            figure: Figure::Value("restart, s".to_owned()),
            bound: Bound::AtLeastTimesCase(0.95, "d".to_owned()),
        };
        2
    ];
    let path = document.save(&out).unwrap();
    assert_eq!(path, out.join("rr-cc.perf.json"));
    assert_eq!(Document::load(&path).unwrap(), document);
    // Again: it is replaced, and nothing else is left.
    document.ended = Ended::Complete;
    document.save(&out).unwrap();
    assert_eq!(Document::load_all(&out).unwrap(), vec![document]);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn other_formats_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = document().save(folder.path()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, expected) in [
        ("\"format\": 1", "\"format\": 0", "an older version"),
        ("\"format\": 1", "\"format\": 2", "a newer version"),
        ("\"format\": 1", "\"formatted\": 1", "states no format"),
        ("\"seconds\": 12.5", "\"seconds\": \"x\"", "damaged"),
        ("{", "", "not a results file"),
    ] {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = Document::load_all(folder.path()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.exit(), posthaste_server::Exit::Inconsistent);
    }
}

#[test]
fn a_latency_is_taken_from_a_histogram() {
    let mut histogram = crate::measure::histogram();
    assert_eq!(Latency::of(&histogram), None);
    for micros in 1..=1000_u64 {
        histogram.record(micros * 1000).unwrap();
    }
    let latency = Latency::of(&histogram).unwrap();
    let near = |value: u64, expected: u64| value.abs_diff(expected) <= expected / 500;
    assert!(near(latency.p50, 500_000), "{latency:?}");
    assert!(near(latency.p999, 999_000), "{latency:?}");
    assert!(near(latency.max, 1_000_000), "{latency:?}");
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "old").unwrap();
    std::os::unix::fs::symlink("file", at("link")).unwrap();
    write_whole(&at("link"), "new").unwrap();
    assert!(at("link").is_symlink());
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "new");
    // The rename fails: nothing of the attempt is left.
    fs::create_dir(at("folder")).unwrap();
    assert!(write_whole(&at("folder"), "x").is_err());
    write_whole(Path::new("/dev/null"), "x").unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}
