//! Deletions that do not come to their end: refused, and killed at each of their steps.
//!
//! Invariant: a kill is an unwinding that nothing of the deletion catches, so that nothing is put in order after it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;
use crate::lifecycle::create::{Created, Creation, create};

thread_local! {
    /// Steps until the process is killed.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What a deletion ends with that is killed.
struct Killed;

pub(super) fn step() {
    match LEFT.get() {
        Some(0) => resume_unwind(Box::new(Killed)),
        left => LEFT.set(left.map(|left| left - 1)),
    }
}

fn made(data: &DataDir) -> Created {
    let mut creation = Creation {
        name: "QM1".to_owned(),
        default: true,
        ..Creation::default()
    };
    creation.shape.file_pages = 64;
    create(&posthaste_env::os(), data, &creation, &mut |_, _| {}).unwrap()
}

fn deleted(data: &DataDir) -> Result<Vec<PathBuf>, Failure> {
    delete(
        &posthaste_env::os(),
        data,
        &registry::find_to_delete(data, "QM1")?,
    )
}

/// A deletion that is killed before its step of a number; whether it has come to that.
fn killed_at(data: &DataDir, number: usize) -> bool {
    LEFT.set(Some(number));
    let ended = catch_unwind(AssertUnwindSafe(|| deleted(data)));
    LEFT.set(None);
    match ended {
        Ok(ended) => {
            ended.unwrap();
            false
        }
        Err(why) => {
            assert!(why.is::<Killed>());
            true
        }
    }
}

#[test]
fn a_deletion_that_is_killed_at_any_step_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path().join("data"));
    let made = made(&data);
    let kept = folder.path().join("kept");
    fs::rename(data.root(), &kept).unwrap();
    let mut steps = 0;
    loop {
        let mut copy = std::process::Command::new("cp");
        let copied = copy.arg("-a").args([&*kept, data.root()]).status();
        assert!(copied.unwrap().success());
        log_owner::claim(&made.home, &made.log).unwrap();
        // Somebody else's files do not hinder it, in whichever of the folders.
        let diaries = [made.log.join("diary"), made.home.folder.join("diary")];
        let is_odd = steps % 2 == 1;
        if is_odd {
            for file in &diaries {
                fs::write(file, "dear").unwrap();
            }
        }
        if !killed_at(&data, steps / 2) {
            assert!(steps > 40, "{steps}");
            break;
        }
        let begun = steps / 2 > 0;
        let found = registry::find(&data, Some("QM1"));
        assert_eq!(found.is_err(), begun, "{steps}: it is not started any more");
        if begun {
            assert!(
                found
                    .unwrap_err()
                    .to_string()
                    .contains("posthaste delete QM1")
            );
            let creation = Creation {
                name: "QM1".to_owned(),
                ..Creation::default()
            };
            let again = create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).unwrap_err();
            assert_eq!((again.id, again.exit), ("AMQ8110E", Exit::Exists));
            assert!(
                again.to_string().contains("posthaste delete QM1"),
                "{again}"
            );
            let known = registry::add_existing(&data, &made.home).unwrap_err();
            assert_eq!(known.id, "AMQ2045E", "{steps}");
        }
        match deleted(&data) {
            Err(left) if is_odd => assert_eq!(left.id, "AMQ2058W", "{steps}: {left}"),
            done => assert!(done.unwrap_or_else(|e| panic!("{steps}: {e}")).is_empty()),
        }
        assert_eq!(registry::read(&data).unwrap(), Registered::default());
        for file in diaries.iter().filter(|_| is_odd) {
            fs::remove_file(file).unwrap();
            fs::remove_dir(file.parent().unwrap()).unwrap();
        }
        assert!(!made.home.folder.exists() && !made.log.exists(), "{steps}");
        fs::remove_dir_all(data.root()).unwrap();
        steps += 1;
    }
}

/// All that can refuse a deletion does so before anything is removed.
#[test]
fn where_mqs_ini_cannot_be_written_nothing_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let made = made(&data);
    let in_the_way = folder
        .path()
        .join(format!("mqs.ini.{}", std::process::id()));
    fs::create_dir(&in_the_way).unwrap();
    deleted(&data).unwrap_err();
    assert!(ours::is_log(&made.log) && ours::data(&made.home) == Data::Ours);
    fs::remove_dir(&in_the_way).unwrap();
    deleted(&data).unwrap();
    assert!(!made.home.folder.exists() && !made.log.exists());
}
