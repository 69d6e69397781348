//! The verdicts on queue managers, case by case.

use super::super::manager::{Counted, Setting};
use super::super::verdict::Status::{self, Pass, Skip, Warn};
use super::*;

fn manager() -> Manager {
    Manager {
        program: "posthaste".to_owned(),
        name: "QM1".to_owned(),
        configuration: "/q/qm.ini".to_owned(),
        log_file_pages: 16_384,
        log_keys: vec!["LogPrimaryFiles".to_owned(), "logbufferpages".to_owned()],
        log_primary_files: same(16),
        log_secondary_files: 2,
        log_buffer_pages: Some(same(4096)),
        log_folder: "/log".to_owned(),
        ..Manager::default()
    }
}

fn same(value: u64) -> Setting {
    setting(value, value)
}

fn setting(running: u64, written: u64) -> Setting {
    Setting { running, written }
}

fn queue(name: &str, persistent: bool, handles: u64) -> Queue {
    Queue {
        name: name.to_owned(),
        depth: 0,
        max_depth: 100,
        persistent,
        handles,
    }
}

#[track_caller]
fn assert(judge: fn(&Manager) -> Verdict, manager: &Manager, status: Status, found: &str) {
    let verdict = judge(manager);
    assert_eq!(verdict.status, status, "{verdict:?}");
    assert!(verdict.found.contains(found), "{verdict:?}");
    assert_eq!(
        status == Warn,
        verdict.remedy.is_some() && status != Skip,
        "{verdict:?}"
    );
}

#[test]
fn persistence_is_a_decision() {
    let with = |queues: &[Queue]| Manager {
        queues: queues.to_vec(),
        ..manager()
    };
    let (a, b) = (queue("A", true, 0), queue("B", true, 0));
    let not = queue("C", false, 0);
    assert(persistence, &with(&[]), Skip, "no application queues");
    assert(
        persistence,
        &with(std::slice::from_ref(&not)),
        Pass,
        "none of 1",
    );
    assert(persistence, &with(std::slice::from_ref(&a)), Pass, "1 of 1");
    assert(persistence, &with(&[a.clone(), not]), Pass, "1 of 2");
    assert(persistence, &with(&[a.clone(), b.clone()]), Warn, "2 of 2");
    let remedy = persistence(&with(&[a, b])).remedy.unwrap();
    assert!(remedy.ends_with("echo \"ALTER QLOCAL('A') DEFPSIST(NO)\" | posthaste mqsc QM1"));
}

#[test]
fn a_log_must_be_large_enough_for_what_it_does() {
    assert(log_size, &manager(), Pass, "1024 MiB in 16 primary files");
    let case = |files, percent, backed_out| Manager {
        log_primary_files: same(files),
        log_in_use: percent,
        backed_out_for_space: backed_out,
        ..manager()
    };
    assert(
        log_size,
        &case(4, Some(74), 0),
        Pass,
        "256 MiB in 4 primary files, 74 % in use",
    );
    assert(log_size, &case(3, None, 0), Warn, "192 MiB");
    assert(log_size, &case(16, Some(75), 0), Warn, "75 % in use");
    assert(log_size, &case(16, Some(1), 2), Warn, "2 times");
    let remedy = |manager: &Manager| log_size(manager).remedy.unwrap();
    assert_eq!(
        remedy(&case(3, None, 0)),
        "sed -i 's/^[[:space:]]*LogPrimaryFiles[[:space:]]*=.*/   LogPrimaryFiles=16/I' /q/qm.ini; \
         posthaste stop -i QM1; posthaste start QM1"
    );
    let elsewhere = Manager {
        place: " --data-dir '/d e'".to_owned(),
        ..case(3, None, 0)
    };
    assert!(remedy(&elsewhere).ends_with("posthaste start QM1 --data-dir '/d e'"));
    assert!(remedy(&case(16, None, 1)).contains("LogPrimaryFiles=32/"));
}

#[test]
fn a_log_is_enlarged_as_far_as_its_files_go() {
    let case = |pages, files: Setting, backed_out| Manager {
        log_file_pages: pages,
        log_primary_files: files,
        log_secondary_files: 10,
        backed_out_for_space: backed_out,
        ..manager()
    };
    let remedy = |manager: &Manager| log_size(manager).remedy.unwrap();
    let tiny = case(64, same(3), 0);
    assert(log_size, &tiny, Warn, "768 KiB in 3 primary files");
    let anew = remedy(&tiny);
    assert!(
        anew.contains("have 256 KiB and keep that")
            && anew.ends_with("posthaste create -lf 16384 -lp 16 QM1"),
        "{anew}"
    );
    // 256 files of 1 MiB would do, 1024 are wanted, 501 there may be.
    let small = remedy(&case(256, same(3), 0));
    assert!(small.contains("LogPrimaryFiles=501/"), "{small}");
    let long = remedy(&case(16_384, same(500), 1));
    assert!(long.contains("create -lf 65535 -lp 251 QM1"), "{long}");
    let absent = Manager {
        log_keys: Vec::new(),
        ..case(16_384, same(3), 0)
    };
    assert_eq!(
        remedy(&absent),
        "write the line LogPrimaryFiles=16 below the line Log: of /q/qm.ini, then: \
         posthaste stop -i QM1; posthaste start QM1"
    );
}

#[test]
fn what_runs_counts_and_not_what_a_restart_would_bring() {
    let restart = "posthaste stop -i QM1; posthaste start QM1";
    let files = |running, written| Manager {
        log_primary_files: setting(running, written),
        ..manager()
    };
    let differs = "qm.ini differs from what runs (LogPrimaryFiles=16): a restart is needed";
    for running in [3, 12] {
        let verdict = log_size(&files(running, 16));
        assert!(
            verdict.status == Warn && verdict.found.ends_with(differs),
            "{verdict:?}"
        );
        assert_eq!(verdict.remedy.unwrap(), restart);
    }
    let worse = log_size(&files(16, 3)).remedy.unwrap();
    assert!(worse.contains("LogPrimaryFiles=16/"), "{worse}");
    let buffer = |pages| Manager {
        log_buffer_pages: pages,
        ..manager()
    };
    let finding = log_buffer(&buffer(Some(setting(512, 4096))));
    assert!(
        finding.status == Warn
            && finding.found.contains("is 512")
            && finding.found.contains("restart"),
        "{finding:?}"
    );
    assert_eq!(finding.remedy.unwrap(), restart);
    let worse = log_buffer(&buffer(Some(setting(4096, 512))));
    assert!(worse.status == Warn && worse.remedy.unwrap().contains("LogBufferPages=4096/"));
    assert(log_buffer, &buffer(None), Skip, "does not say");
}

#[test]
fn applications_are_looked_at_when_there_are_any() {
    let case = |applications, in_unit_of_work| Manager {
        applications,
        in_unit_of_work,
        ..manager()
    };
    assert(concurrency, &case(0, 0), Skip, "no application");
    assert(concurrency, &case(1, 0), Warn, "1 application");
    assert(concurrency, &case(2, 0), Pass, "2 applications");
    let forced = |forces, alone| Manager {
        counted: Some(Counted {
            forces,
            alone,
            ..Counted::default()
        }),
        ..case(5, 2)
    };
    assert(syncpoint, &case(5, 2), Skip, "0 times since the start");
    assert(syncpoint, &forced(99, 99), Skip, "2 of 5 applications");
    assert(syncpoint, &forced(100, 50), Pass, "50 of 100 forces");
    assert(syncpoint, &forced(100, 0), Pass, "0 of 100 forces");
    assert(syncpoint, &forced(100, 51), Warn, "51 of 100 forces");
    assert(syncpoint, &forced(100, 102), Warn, "100 of 100 forces");
}

#[test]
fn one_queue_for_all_is_noticed() {
    let case = |handles: &[u64]| Manager {
        queues: handles.iter().map(|n| queue("Q", false, *n)).collect(),
        ..manager()
    };
    assert(spread, &case(&[]), Skip, "0 handles");
    assert(spread, &case(&[9]), Skip, "9 handles");
    assert(spread, &case(&[10]), Warn, "10 of 10");
    assert(spread, &case(&[81, 19]), Warn, "81 of 100");
    assert(spread, &case(&[80, 20]), Pass, "80 of 100");
}

#[test]
fn the_buffer_the_devices_and_the_units_of_work() {
    let small = Manager {
        log_buffer_pages: Some(same(512)),
        errors_with_log: Some(true),
        oldest_unit_of_work: Some((60, "amqsput".to_owned())),
        ..manager()
    };
    let good = Manager {
        errors_with_log: Some(false),
        oldest_unit_of_work: Some((59, "amqsput".to_owned())),
        ..manager()
    };
    assert(log_buffer, &small, Warn, "LogBufferPages is 512");
    assert(log_buffer, &good, Pass, "LogBufferPages is 4096");
    assert(error_logs, &small, Warn, "one device");
    assert(error_logs, &good, Pass, "without");
    assert(error_logs, &manager(), Skip, "cannot be told");
    assert(
        units_of_work,
        &small,
        Warn,
        "amqsput has been open for 60 s",
    );
    assert(units_of_work, &good, Pass, "59 s old");
    assert(units_of_work, &manager(), Pass, "no unit of work");
}

#[test]
fn full_queues_dead_letters_and_slow_disks_are_told() {
    let dead = |count| Some(("Dead".to_owned(), count));
    let case = |dead_letters, depth| Manager {
        dead_letters,
        queues: vec![
            queue("A", false, 0),
            Queue {
                depth,
                ..queue("B", false, 0)
            },
        ],
        ..manager()
    };
    assert(requirements, &case(None, 79), Pass, "no queue");
    assert(requirements, &case(dead(0), 0), Pass, "no queue");
    assert(
        requirements,
        &case(None, 80),
        Warn,
        "B holds 80 of at most 100",
    );
    assert(
        requirements,
        &case(dead(3), 80),
        Warn,
        "3 messages are on the dead-letter queue Dead",
    );
    let finding = requirements(&case(dead(3), 0)).remedy.unwrap();
    assert!(finding.ends_with("posthaste browse Dead QM1"), "{finding}");
    let disk = |slow_writes, log_write_ns| Manager {
        slow_writes,
        log_write_ns,
        ..manager()
    };
    assert(infrastructure, &disk(0, None), Skip, "--disk measures");
    let counted = |writes, write_ns, measured| Manager {
        counted: Some(Counted {
            writes,
            write_ns,
            ..Counted::default()
        }),
        ..disk(0, measured)
    };
    assert(infrastructure, &counted(99, 1, None), Skip, "too few");
    assert(
        infrastructure,
        &counted(100, 20_000_000, None),
        Pass,
        "took 200 us on average",
    );
    assert(
        infrastructure,
        &counted(100, 700_000_000, None),
        Warn,
        "took 7000 us",
    );
    assert(
        infrastructure,
        &counted(100, 700_000_000, Some((1, 1))),
        Pass,
        "a forced 4 KiB",
    );
    assert(infrastructure, &disk(1, None), Warn, "1 times");
    assert(
        infrastructure,
        &disk(0, Some((99_001, 2_000_000))),
        Pass,
        "100 us on average, 2000 us",
    );
    assert(
        infrastructure,
        &disk(0, Some((7_000_000, 7_000_000))),
        Warn,
        "7000 us",
    );
}

#[test]
fn all_ten_are_checked() {
    let findings = check(&manager());
    assert_eq!(findings.len(), 10);
    assert!(findings.iter().all(|finding| finding.why.ends_with('.')));
}

/// What is made when nothing is asked for is not warned of.
#[test]
fn a_new_queue_manager_has_a_log_that_suffices() {
    let shape = posthaste_server::ini::Shape::default();
    let buffer = shape.buffer_pages_in_force();
    let made = Manager {
        log_file_pages: shape.file_pages.into(),
        log_primary_files: same(shape.primary.into()),
        log_secondary_files: shape.secondary.into(),
        log_buffer_pages: Some(same(buffer.into())),
        ..manager()
    };
    assert(log_size, &made, Pass, "256 MiB in 16 primary files");
    assert(log_buffer, &made, Pass, "4096");
}
