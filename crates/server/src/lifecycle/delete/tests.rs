//! Deletions that do not come to their end: refused, and killed at each of their steps.
//!
//! Invariant: a kill is an unwinding that nothing of the deletion catches, so that nothing is put in order after it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;
use crate::layout::deletion;
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

fn deleted(data: &DataDir) -> Result<Deleted, Failure> {
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
            done => {
                let done = done.unwrap_or_else(|e| panic!("{steps}: {e}"));
                assert!(done.mounted.is_empty());
            }
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

fn copied(from: &Path, to: &Path) {
    let mut copy = std::process::Command::new("cp");
    assert!(copy.arg("-a").args([from, to]).status().unwrap().success());
}

/// Kills deletions at all their steps, each of a queue manager made anew, with data and log outside the root.
fn killed_at_any_step(then: impl FnMut(&Path, &DataDir, &Created)) {
    killed_with(|_| {}, then);
}

fn killed_with(changed: impl FnOnce(&Created), mut then: impl FnMut(&Path, &DataDir, &Created)) {
    let folder = tempfile::tempdir().unwrap();
    let (root, placed) = (folder.path().join("a"), folder.path().join("d"));
    let mut creation = Creation {
        name: "QM1".to_owned(),
        data: Some(placed.join("md")),
        log: Some(placed.join("ld")),
        default: true,
        ..Creation::default()
    };
    creation.shape.file_pages = 64;
    creation.shape.primary = 2;
    let data = DataDir::at(root);
    let made = create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).unwrap();
    changed(&made);
    let backup = folder.path().join("backup");
    copied(&placed, &backup);
    let mqs = fs::read(data.registry()).unwrap();
    for step in 1.. {
        if !killed_at(&data, step) {
            assert!(step > 10, "{step}");
            return;
        }
        then(&backup, &data, &made);
        let _ = fs::remove_dir_all(&placed);
        fs::write(data.registry(), &mqs).unwrap();
        copied(&backup, &placed);
        log_owner::claim(&made.home, &made.log).unwrap();
    }
}

fn is_refused_with_the_way_back(data: &DataDir, made: &Created) {
    let refused = deleted(data).unwrap_err();
    assert_eq!(refused.id, "AMQ2055E", "{refused}");
    assert!(
        ours::is_log(&made.log) && ours::data(&made.home) == Data::Ours,
        "{refused}"
    );
    let found = registry::find(data, Some("QM1")).unwrap_err();
    let again = registry::add_existing(data, &made.home).unwrap_err();
    assert_eq!(again.id, "AMQ2045E", "{again}");
    for refused in [refused, found, again] {
        let text = refused.to_string();
        assert!(
            text.contains("rmvmqinf QM1") && text.contains("addmqinf -s QueueManager -v Name=QM1"),
            "{text}"
        );
        assert!(!text.contains("posthaste delete"), "{text}");
    }
}

/// Whoever has put both folders back by whatever means gets them back, and the default queue manager too.
#[test]
fn what_was_put_back_after_a_deletion_was_broken_off_is_not_deleted() {
    let means: [&[&str]; 3] = [
        &["sh", "-c", "rm -rf \"$2\" && cp -a \"$1\" \"$2\"", "-"],
        &["sh", "-c", "mkdir -p \"$2\" && cp -a \"$1\"/. \"$2\"", "-"],
        // As rsync does it: what has the same size and time is not copied.
        &[
            "sh",
            "-c",
            "mkdir -p \"$2\" && cp -a -u \"$1\"/. \"$2\"",
            "-",
        ],
    ];
    for (number, words) in means.into_iter().enumerate() {
        let mut steps = 0;
        killed_at_any_step(|backup, data, made| {
            steps += 1;
            // Nothing has been removed: it is what it was, and may be deleted.
            if ours::is_log(&made.log) {
                return;
            }
            let placed = made.log.ancestors().nth(2).unwrap();
            let mut restored = std::process::Command::new(words[0]);
            let restored = restored.args(&words[1..]).args([backup, placed]).status();
            assert!(restored.unwrap().success());
            is_refused_with_the_way_back(data, made);
            registry::remove(data, "QM1").unwrap();
            registry::add_existing(data, &made.home).unwrap();
            let known = registry::find(data, None).unwrap();
            assert_eq!(known, made.home, "{number}, {steps}");
            deleted(data).unwrap();
            assert!(!made.log.exists() && !made.home.folder.exists());
        });
        assert!(steps > 10);
    }
}

/// Also where all was gone but the line in mqs.ini.
#[test]
fn finishing_a_deletion_does_not_delete_the_queue_manager_that_has_taken_its_place() {
    let mut gone = 0;
    killed_at_any_step(|_, data, made| {
        if made.log.exists() || made.home.folder.exists() {
            return;
        }
        let other = DataDir::at(data.root().with_file_name("b"));
        let above = |folder: &Path| folder.parent().map(Path::to_owned);
        let mut creation = Creation {
            name: "QM1".to_owned(),
            data: above(&made.home.folder),
            log: above(&made.log),
            ..Creation::default()
        };
        creation.shape.file_pages = 64;
        create(&posthaste_env::os(), &other, &creation, &mut |_, _| {}).unwrap();
        let mqs = fs::read(data.registry()).unwrap();
        is_refused_with_the_way_back(data, made);
        // As an earlier release has begun it, which has noted nothing.
        let text = String::from_utf8(mqs.clone()).unwrap();
        let of_earlier = |line: &&str| {
            let key = line.trim().split('=').next();
            !deletion::NOTED.iter().any(|noted| key == Some(noted))
        };
        let earlier: Vec<&str> = text.lines().filter(of_earlier).collect();
        assert_eq!(text.lines().count(), earlier.len() + 4, "{text}");
        fs::write(data.registry(), earlier.join("\n") + "\n").unwrap();
        is_refused_with_the_way_back(data, made);
        deleted(&other).unwrap();
        // Nothing is there: it is forgotten.
        assert!(deleted(data).unwrap().was_gone);
        fs::write(data.registry(), mqs).unwrap();
        assert!(deleted(data).unwrap().was_gone);
        assert_eq!(registry::read(data).unwrap(), Registered::default());
        fs::remove_dir_all(other.root()).unwrap();
        gone += 1;
    });
    assert!(gone > 0);
}

/// What an earlier release has begun, and left half done, is brought to its end.
#[test]
fn a_deletion_that_an_earlier_release_has_begun_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let made = made(&data);
    let (home, log) = (made.home.folder.display(), made.log.display());
    let earlier = format!("DeletedQueueManager:\n Name=QM1\n DataPath={home}\n LogPath={log}\n");
    fs::write(data.registry(), &earlier).unwrap();
    is_refused_with_the_way_back(&data, &made);
    fs::remove_dir_all(made.log.join("active")).unwrap();
    assert_eq!(deleted(&data).unwrap(), Deleted::default());
    assert!(!made.log.exists() && !made.home.folder.exists());
    assert_eq!(registry::read(&data).unwrap(), Registered::default());
}

/// A link that leads nowhere any more is in the way of the next queue manager of that name.
#[test]
fn links_go_with_what_they_led_to_however_often_the_deletion_is_broken_off() {
    let linked = |made: &Created| {
        for folder in [&made.home.folder, &made.log] {
            let there = folder.with_file_name("linked");
            fs::rename(folder, &there).unwrap();
            std::os::unix::fs::symlink(there, folder).unwrap();
        }
    };
    let mut dangling = 0;
    killed_with(linked, |_, data, made| {
        let folders = [&made.home.folder, &made.log];
        dangling += folders
            .map(|it| it.is_symlink() && !it.exists())
            .iter()
            .filter(|it| **it)
            .count();
        deleted(data).unwrap();
        assert!(!folders.iter().any(|it| it.is_symlink() || it.exists()));
    });
    assert!(dangling > 1, "{dangling}");
}

/// The superuser could, and would be asked nothing.
#[test]
fn another_user_s_queue_manager_is_not_deleted() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let made = made(&data);
    for theirs in [&made.home.folder, &made.log] {
        std::os::unix::fs::chown(theirs, Some(4711), None).unwrap();
        let refused = deleted(&data).unwrap_err();
        assert_eq!((refused.id, refused.exit), ("AMQ2008E", Exit::Permissions));
        assert!(ours::is_log(&made.log) && ours::data(&made.home) == Data::Ours);
        std::os::unix::fs::chown(theirs, Some(0), None).unwrap();
    }
    deleted(&data).unwrap();
}
