//! `dltmqm` removes what is certainly the queue manager's, and nothing else; `addmqinf` takes in nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{Outcome, Place, outcome, skipped};

/// A queue manager that is not running, and where its data and its log are.
fn made(place: &Place) -> (PathBuf, PathBuf) {
    place.line("create -lf 64 -lp 2 -ls 1 QM1").good();
    (place.home("QM1"), place.data().join("log/QM1"))
}

fn rewrite(path: &Path, from: &Path, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    let from = from.display().to_string();
    assert!(text.contains(&from), "{text}");
    fs::write(path, text.replace(&from, to)).unwrap();
}

/// A folder as IBM MQ has one for its queue manager of that name.
fn foreign(above: &Path) -> PathBuf {
    let folder = above.join("QM1");
    for below in ["queues", "errors", "ssl", "qmanager"] {
        fs::create_dir_all(folder.join(below)).unwrap();
    }
    for file in ["qm.ini", "queues/DEV!QUEUE", "qmanager/QMQMOBJCAT", "lock"] {
        fs::write(folder.join(file), "Log:\n   LogPath=/var/mqm/log/QM1/\n").unwrap();
    }
    folder
}

/// What is below a folder, as `find` says it.
fn all(folder: &Path) -> String {
    outcome(std::process::Command::new("find").arg(folder))
        .good()
        .out
}

#[test]
fn data_that_are_not_this_program_s_are_neither_known_nor_deleted() {
    let place = Place::new();
    let (home, log) = made(&place);
    let foreign = foreign(&place.path().join("mqm"));
    let before = all(&foreign);
    place.line("rmvmqinf QM1").good();
    let entry = format!("addmqinf -v Name=QM1 -v DataPath={}", foreign.display());
    place.line(&entry).failed_with(76, "AMQ2045E");
    place.line("addmqinf -v Name=QM1").good();
    // However it got there.
    let mqs = place.data().join("mqs.ini");
    rewrite(&mqs, &home, &foreign.display().to_string());
    let own_log = "Log:\n   LogPath=".to_owned() + &log.display().to_string() + "\n";
    for ini in [None, Some("x"), Some(&*own_log)] {
        if let Some(text) = ini {
            fs::write(foreign.join("qm.ini"), text).unwrap();
        }
        place.line("dltmqm QM1").failed_with(76, "AMQ2055E");
        assert_eq!(all(&foreign), before);
        assert!(log.join("LOG.CTL").exists());
    }
}

#[test]
fn a_log_that_is_not_this_program_s_is_not_deleted() {
    let place = Place::new();
    let (home, log) = made(&place);
    let ini = home.join("qm.ini");
    let right = fs::read_to_string(&ini).unwrap();
    let elsewhere = place.path().join("elsewhere");
    let of_other = format!("--data-dir {}", elsewhere.display());
    place
        .line(&format!("create -lf 64 -lp 2 -ls 1 {of_other} QM1"))
        .good();
    let notes = place.path().join("notes/QM1");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("diary"), "dear").unwrap();
    // The data of another queue manager, and what somebody has called the same.
    for folder in [&elsewhere.join("qmgrs/QM1"), &notes] {
        fs::write(&ini, &right).unwrap();
        rewrite(&ini, &log, &folder.display().to_string());
        let before = all(folder);
        let refused = place.line("dltmqm QM1").failed_with(76, "AMQ2055E");
        assert!(refused.err.contains("LOG.CTL"), "{refused:?}");
        assert_eq!(all(folder), before);
        assert!(home.join("checkpoint.reserve").exists());
    }
    // A relative path would be another one for each who deletes.
    fs::write(&ini, &right).unwrap();
    rewrite(&ini, &log, "log/QM1");
    let mut command = place.named("dltmqm");
    let refused = outcome(command.arg("QM1").current_dir(place.data()));
    refused.failed_with(60, "AMQ7076E");
    assert!(log.join("LOG.CTL").exists() && ini.exists());
    fs::write(&ini, &right).unwrap();
    place.line("dltmqm QM1").good();
    assert!(!home.exists() && !log.exists());
}

/// Makes QM1 with its log outside of the layout; the folder above that.
fn logs_elsewhere(place: &Place) -> PathBuf {
    let logs = place.path().join("logs");
    place
        .line(&format!(
            "create -lf 64 -lp 2 -ls 1 -ld {} QM1",
            logs.display()
        ))
        .good();
    logs
}

/// Also where only the data folder, which is not there, says where the log is.
#[test]
fn a_queue_manager_whose_data_folder_is_missing_is_not_deleted_wherever_its_log_is() {
    let place = Place::new();
    let logs = logs_elsewhere(&place);
    let (home, away) = (place.home("QM1"), place.path().join("away"));
    fs::rename(&home, &away).unwrap();
    place.line("dltmqm QM1").failed_with(76, "AMQ2052E");
    fs::create_dir(&home).unwrap();
    place.line("dltmqm QM1").failed_with(76, "AMQ2052E");
    // Somebody else's folder of that name.
    fs::write(home.join("diary"), "dear").unwrap();
    place.line("dltmqm QM1").failed_with(76, "AMQ2052E");
    assert!(home.join("diary").exists());
    fs::remove_dir_all(&home).unwrap();
    fs::rename(&away, &home).unwrap();
    place.line("dltmqm QM1").good();
    assert!(!home.exists() && !logs.join("QM1").exists());
}

#[test]
fn a_folder_that_is_in_or_above_another_queue_manager_s_is_not_deleted() {
    let place = Place::new();
    let (home, _) = made(&place);
    place
        .line(&format!(
            "create -lf 64 -lp 2 -ls 1 -md {} QM2",
            home.display()
        ))
        .good();
    for name in ["QM1", "QM2"] {
        let refused = place.line(&format!("dltmqm {name}"));
        let refused = refused.failed_with(76, "AMQ2055E");
        assert!(refused.err.contains("overlap"), "{refused:?}");
        assert!(home.join("QM2/qm.ini").exists() && home.join("qm.ini").exists());
    }
}

#[test]
fn files_that_are_not_the_queue_manager_s_stay_and_are_said() {
    let place = Place::new();
    let (home, log) = made(&place);
    // All that it writes itself while it runs.
    let serving = place.serving("QM1");
    place
        .fed("m\n", "put SYSTEM.DEFAULT.LOCAL.QUEUE QM1 --persistent")
        .good();
    serving.end();
    let mine = [
        "qm.ini.bak",
        "queues/notes",
        "errors/old/AMQERR01.LOG",
        "ssl/ca.pem",
    ];
    for file in mine.iter().chain(&["ssl/key.p12", "qm.ini.4711"]) {
        let path = home.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "kept").unwrap();
    }
    fs::write(log.join("active/S1.LOG.gz"), "kept").unwrap();
    let left = place.line("dltmqm QM1").failed_with(33, "AMQ2058W");
    for (folder, file) in [
        (&home, "qm.ini.bak"),
        (&home, "queues/notes"),
        (&home, "errors/old"),
        (&home, "ssl/ca.pem"),
        (&log, "active/S1.LOG.gz"),
    ] {
        let line = format!("{}: it is ", folder.join(file).display());
        assert!(left.err.contains(&line), "{line}: {left:?}");
    }
    let files = |folder: &Path| {
        all(folder)
            .lines()
            .filter(|line| Path::new(line).is_file())
            .count()
    };
    assert_eq!((files(&home), files(&log)), (mine.len(), 1));
    place.line("dltmqm QM1").failed_with(16, "AMQ8118E");
    place.line("create QM1").failed_with(8, "AMQ8110E");
}

#[test]
fn what_a_link_leads_to_is_deleted_with_it() {
    let place = Place::new();
    let (home, log) = made(&place);
    let disk = place.path().join("disk");
    fs::create_dir(&disk).unwrap();
    for (folder, there) in [(&log, disk.join("a")), (&home, disk.join("b"))] {
        fs::rename(folder, &there).unwrap();
        std::os::unix::fs::symlink(&there, folder).unwrap();
    }
    place.line("dltmqm QM1").good();
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0, "{}", all(&disk));
    assert!(!home.is_symlink() && !log.is_symlink());
}

#[test]
fn a_mount_point_is_emptied_and_stays() {
    let place = Place::new();
    let script = r#"
        for F in m/QM1 l/QM1; do
            mkdir -p "$D/$F" && mount -t tmpfs -o size=8m,mode=700 none "$D/$F" || exit 99
        done
        "$P" create -lf 64 -lp 2 -ls 1 -md "$D/m" -ld "$D/l" QM1 || exit 98
        mkdir "$D/l/QM1/lost+found"
        "$P" dltmqm QM1 || exit
        find "$D/m" "$D/l" -mindepth 1 -printf 'left %P\n'
        "$P" dspmqinf QM1 && exit 97
        exit 0"#;
    let Some(deleted) = place.on_a_small_disk(script) else {
        return skipped("this system does not let tests mount file systems");
    };
    let out = deleted.good().out;
    assert_eq!(out.matches("AMQ2059I").count(), 2, "{out}");
    let mut left: Vec<_> = out
        .lines()
        .filter_map(|l| l.strip_prefix("left "))
        .collect();
    left.sort_unstable();
    assert_eq!(left, ["QM1", "QM1", "QM1/lost+found"], "{out}");
}

/// Whoever may change the folder of mqs.ini could have put another queue manager there: that is found out first.
#[test]
fn a_deletion_that_is_refused_for_the_folder_of_mqs_ini_has_deleted_nothing() {
    let place = Place::new();
    let (home, _) = made(&place);
    let before = all(&place.data());
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(place.data(), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o770);
    place.line("dltmqm QM1").failed_with(62, "AMQ2009E");
    assert_eq!(all(&place.data()), before);
    mode(0o700);
    place.line("dltmqm QM1").good();
    assert!(!home.exists());
}

fn copy(from: &Path, to: &Path) {
    outcome(std::process::Command::new("cp").arg("-a").args([from, to])).good();
}

/// DataPath and LogPath are whole paths: a copy of everything has those of the original.
#[test]
fn a_copy_of_the_whole_folder_does_not_work_on_the_original() {
    let place = Place::new();
    let (home, log) = made(&place);
    let copied = place.path().join("copied");
    copy(&place.data(), &copied);
    let in_copy = |line: &str| {
        let mut command = place.named("posthaste");
        command.env("POSTHASTE_DATA", &copied).args(line.split(' '));
        outcome(&mut command)
    };
    let before = all(&place.data());
    let original = place.data().display().to_string();
    for line in [
        "dltmqm QM1",
        "start -ns QM1",
        "start -c QM1",
        "run QM1 --port 0",
        "check QM1",
    ] {
        let refused = in_copy(line).failed_with(77, "AMQ2054E");
        assert!(
            refused.err.contains(&original) || refused.out.contains(&original),
            "{refused:?}"
        );
        assert_eq!(all(&place.data()), before, "{line}");
    }
    // With its data folder, it still has the log of the original.
    let (own_home, own_log) = (copied.join("qmgrs/QM1"), copied.join("log/QM1"));
    rewrite(
        &copied.join("mqs.ini"),
        &home,
        &own_home.display().to_string(),
    );
    for line in ["dltmqm QM1", "start -ns QM1", "check QM1"] {
        in_copy(line).failed_with(77, "AMQ2051E");
    }
    assert_eq!(all(&place.data()), before);
    // With both it is a queue manager of its own.
    rewrite(
        &own_home.join("qm.ini"),
        &log,
        &own_log.display().to_string(),
    );
    in_copy("check QM1").good();
    in_copy("dltmqm QM1").good();
    assert!(!own_home.exists() && !own_log.exists());
    place.line("check QM1").good();
    assert_eq!(all(&place.data()), before);
}

/// Also of a copy that has lost its own data, which still must not delete those of the original; and what was put elsewhere on
/// purpose belongs to whoever names it.
#[test]
fn data_elsewhere_are_those_of_the_folder_whose_mqs_ini_names_them() {
    let place = Place::new();
    let (home, log) = made(&place);
    let other = place.path().join("other");
    let in_other = |line: &str| {
        let mut command = place.named("posthaste");
        command.env("POSTHASTE_DATA", &other).args(line.split(' '));
        outcome(&mut command)
    };
    let entry = format!("addmqinf -v Name=QM1 -v DataPath={}", home.display());
    in_other(&entry).good();
    in_other("dltmqm QM1").failed_with(77, "AMQ2054E");
    assert!(home.join("qm.ini").exists() && log.join("LOG.CTL").exists());
    in_other("check QM1").good();
    // By another name of the folder it is the folder.
    let link = place.path().join("link");
    std::os::unix::fs::symlink(place.data(), &link).unwrap();
    let mut command = place.named("posthaste");
    command.env("POSTHASTE_DATA", &link).args(["check", "QM1"]);
    outcome(&mut command).good();
    // The folder has given it away.
    place.line("rmvmqinf QM1").good();
    in_other("check QM1").good();
    in_other("dltmqm QM1").good();
    assert!(!home.exists() && !log.exists());
}

fn in_root(place: &Place, root: &Path, line: &str) -> Outcome {
    let mut command = place.named("posthaste");
    command.env("POSTHASTE_DATA", root).args(line.split(' '));
    outcome(&mut command)
}

/// Nor does one that is reached by a link, or lies behind one.
#[test]
fn links_do_not_hide_whose_the_data_are() {
    let place = Place::new();
    let (home, log) = made(&place);
    let other = place.path().join("other");
    let link = place.path().join("link");
    std::os::unix::fs::symlink(place.data().join("qmgrs"), &link).unwrap();
    let entry = format!("addmqinf -v Name=QM1 -v DataPath={}/QM1", link.display());
    in_root(&place, &other, &entry).good();
    in_root(&place, &other, "dltmqm QM1").failed_with(77, "AMQ2054E");
    assert!(home.join("qm.ini").exists() && log.join("LOG.CTL").exists());
    // The layout is a link to another disk, and the copy has that too.
    let disk = place.path().join("disk");
    fs::create_dir(&disk).unwrap();
    fs::rename(place.data().join("qmgrs"), disk.join("qmgrs")).unwrap();
    std::os::unix::fs::symlink(disk.join("qmgrs"), place.data().join("qmgrs")).unwrap();
    // Moved data belong to nobody until a start.
    place.line("start -c QM1").good();
    let copied = place.path().join("copied");
    copy(&place.data(), &copied);
    let in_copy = copied.join("qmgrs/QM1");
    rewrite(
        &copied.join("mqs.ini"),
        &home,
        &in_copy.display().to_string(),
    );
    for line in ["check QM1", "start -c QM1", "dltmqm QM1"] {
        in_root(&place, &copied, line).failed_with(77, "AMQ2054E");
    }
    place.line("check QM1").good();
    // The original gives it away.
    place.line("rmvmqinf QM1").good();
    in_root(&place, &copied, "check QM1").good();
    in_root(&place, &copied, "dltmqm QM1").good();
    assert!(!disk.join("qmgrs/QM1").exists() && !log.exists());
}

/// Data elsewhere are those of one folder of queue managers, however that is moved, and of another if somebody says so.
#[test]
fn data_elsewhere_say_whose_they_are() {
    let place = Place::new();
    let create = format!(
        "create -lf 64 -lp 2 -ls 1 -md {} QM1",
        place.path().join("md").display()
    );
    place.line(&create).good();
    let home = place.path().join("md/QM1");
    let copied = place.path().join("copied");
    copy(&place.data(), &copied);
    in_root(&place, &copied, "check QM1").good();
    in_root(&place, &copied, "dltmqm QM1").failed_with(77, "AMQ2054E");
    // It starts there, and is the original's all the same.
    in_root(&place, &copied, "start -c QM1").good();
    in_root(&place, &copied, "dltmqm QM1").failed_with(77, "AMQ2054E");
    // Moved, or as another container has it mounted, it is the same folder of queue managers.
    let moved = place.path().join("moved");
    fs::rename(place.data(), &moved).unwrap();
    let refused = in_root(&place, &copied, "dltmqm QM1").failed_with(77, "AMQ2054E");
    let way = format!(
        "addmqinf -s QueueManager -v Name=QM1 -v DataPath={}",
        home.display()
    );
    assert!(
        refused.err.contains("is not there") && refused.err.contains(&way),
        "{refused:?}"
    );
    let log = place.data().join("log/QM1");
    rewrite(
        &home.join("qm.ini"),
        &log,
        &moved.join("log/QM1").display().to_string(),
    );
    in_root(&place, &moved, "start -c QM1").good();
    in_root(&place, &copied, "dltmqm QM1").failed_with(77, "AMQ2054E");
    // A copy of the root takes its place for good.
    fs::rename(&moved, place.path().join("away")).unwrap();
    fs::create_dir(place.data()).unwrap();
    fs::rename(place.path().join("away/log"), place.data().join("log")).unwrap();
    rewrite(
        &home.join("qm.ini"),
        &moved.join("log/QM1"),
        &log.display().to_string(),
    );
    in_root(&place, &copied, "start -c QM1").good();
    in_root(&place, &copied, "dltmqm QM1").failed_with(77, "AMQ2054E");
    in_root(&place, &copied, "rmvmqinf QM1").good();
    in_root(&place, &copied, &way).good();
    in_root(&place, &copied, "dltmqm QM1").good();
    assert!(!home.exists() && !log.exists());
}

/// A log that was never this one's, or is an old one, says so itself.
#[test]
fn a_log_that_a_start_refuses_is_not_deleted() {
    let place = Place::new();
    let (home, log) = made(&place);
    let others = place.path().join("others");
    place
        .line(&format!(
            "create -lf 64 -lp 2 -ls 1 --data-dir {} QM1",
            others.display()
        ))
        .good();
    let fast = place.path().join("fast/QM1");
    fs::create_dir_all(fast.parent().unwrap()).unwrap();
    fs::rename(others.join("log/QM1"), &fast).unwrap();
    let old = place.path().join("old");
    copy(&log, &old);
    let ini = home.join("qm.ini");
    let right = fs::read_to_string(&ini).unwrap();
    rewrite(&ini, &log, &fast.display().to_string());
    let before = all(place.path());
    place.line("check QM1").failed_with(78, "AMQ2026S");
    let refused = place.line("dltmqm QM1").failed_with(76, "AMQ2055E");
    assert!(
        refused.err.contains("another queue manager's"),
        "{refused:?}"
    );
    assert_eq!(all(place.path()), before);
    fs::write(&ini, &right).unwrap();
    // Two starts later.
    for _ in 0..2 {
        place.line("start -c QM1").good();
    }
    let new = place.path().join("new");
    fs::rename(&log, &new).unwrap();
    copy(&old, &log);
    place.line("check QM1").failed_with(78, "AMQ2026S");
    let refused = place.line("dltmqm QM1").failed_with(76, "AMQ2055E");
    assert!(refused.err.contains("is of start"), "{refused:?}");
    assert!(log.join("LOG.CTL").exists() && home.join("checkpoint.reserve").exists());
    // What is damaged or lost does not say anything, and is deleted.
    fs::remove_dir_all(&log).unwrap();
    fs::rename(&new, &log).unwrap();
    fs::remove_file(home.join("identity")).unwrap();
    place.line("dltmqm QM1").good();
    assert!(!home.exists() && !log.exists());
}

/// Neither started with defaults, which let in whom the file kept out, nor deleted without its log.
#[test]
fn a_qm_ini_that_has_lost_its_log_is_refused() {
    let place = Place::new();
    let logs = logs_elsewhere(&place);
    let (home, log) = (place.home("QM1"), logs.join("QM1"));
    let ini = home.join("qm.ini");
    let right = fs::read_to_string(&ini).unwrap();
    let (before_log, _) = right.split_once("\nLog:").unwrap();
    // Wherever it was cut off: what it closes stands before that line.
    let last = right.rfind("   LogPath=").unwrap();
    assert_eq!(right[last..].lines().count(), 1);
    let before = all(place.path());
    for text in [
        "",
        "\n",
        "# nothing\n",
        &right[..right[..1024].rfind('\n').unwrap() + 1],
        before_log,
        &right[..last],
        "Log:\n   LogFilePages=64\n",
    ] {
        fs::write(&ini, text).unwrap();
        for line in [
            "start -ns QM1",
            "run QM1 --port 0",
            "check QM1",
            "dltmqm QM1",
        ] {
            let refused = place.line(line).failed_with(60, "AMQ2101E");
            let shown = refused.err + &refused.out;
            assert!(
                shown.contains("LogPath=FOLDER") && shown.contains("InsecureListeners=NO"),
                "{shown}"
            );
            assert_eq!(shown.contains("rmvmqinf QM1"), line == "dltmqm QM1");
        }
        assert!(log.join("LOG.CTL").exists() && home.join("checkpoint.reserve").exists());
    }
    assert!(all(place.path()).lines().count() >= before.lines().count());
    let log_path = format!("Log:\n   LogPath={}\n", log.display());
    fs::write(&ini, log_path).unwrap();
    place.line("dltmqm QM1").good();
    assert!(!home.exists() && !log.exists());
}

/// As of a deletion that was stopped, or whose disk does not answer.
#[test]
fn a_deletion_that_does_not_end_keeps_nobody_waiting_for_ever() {
    let place = Place::new();
    let (home, log) = made(&place);
    let begun = format!(
        "DeletedQueueManager:\n   Name=QM1\n   DataPath={}\n   LogPath={}\n",
        home.display(),
        log.display()
    );
    fs::write(place.data().join("mqs.ini"), begun).unwrap();
    let shown = place.line("start -ns QM1").failed_with(16, "AMQ8118E");
    assert!(shown.err.contains("broken off"), "{shown:?}");
    let lock = fs::File::open(place.data().join("mqs.lock")).unwrap();
    lock.lock().unwrap();
    for (line, code) in [("start -ns QM1", 16), ("addmqinf -v Name=QM1", 76)] {
        let shown = place.line(line);
        assert!(
            shown.code == code && shown.err.contains("It is being deleted: process "),
            "{shown:?}"
        );
        assert!(!shown.err.contains("broken off."), "{shown:?}");
    }
    let me = format!("process {}", std::process::id());
    std::thread::scope(|scope| {
        for line in [
            "create -lf 64 -lp 2 -ls 1 QM2",
            "dltmqm QM1",
            "rmvmqinf QM1",
        ] {
            let (place, me) = (&place, &me);
            scope.spawn(move || {
                let refused = place.line(line).failed_with(77, "AMQ2080E");
                assert!(refused.err.contains(me), "{me}: {refused:?}");
            });
        }
    });
    drop(lock);
    place.line("create -lf 64 -lp 2 -ls 1 QM2").good();
}

/// Of a full disk the deletion makes nothing free that has neither data nor log.
#[test]
fn where_the_disk_of_mqs_ini_is_full_and_the_files_are_elsewhere_nothing_is_deleted() {
    let place = Place::new();
    let script = r#"
        mkdir "$D/x" && mount -t tmpfs -o size=12m,mode=700 none "$D/x" || exit 99
        "$P" create -lf 64 -lp 2 -ls 1 -md "$D/x/m" -ld "$D/x/l" QM1 || exit 98
        dd if=/dev/zero of="$D/full" bs=4k 2>/dev/null
        "$P" dltmqm QM1
        test $? = 63 || exit 97
        test -e "$D/x/m/QM1/qm.ini" -a -e "$D/x/l/QM1/LOG.CTL" || exit 96
        "$P" check QM1 || exit 95
        rm "$D/full"
        "$P" dltmqm QM1 || exit 94
        find "$D/x" -type f | grep . && exit 91
        "$P" create -lf 64 -lp 2 -ls 1 QM1 || exit 93
        dd if=/dev/zero of="$D/full" bs=4k 2>/dev/null
        "$P" dltmqm QM1 || exit 92
        exit 0"#;
    let Some(deleted) = place.on_a_small_disk(script) else {
        return skipped("this system does not let tests mount file systems");
    };
    deleted.good();
}
