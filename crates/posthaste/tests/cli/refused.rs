//! Starts that are refused: `check` finds each before, with the code of the start, and says what to do.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::place::{Place, outcome, skipped};

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

/// Start and check say the same.
#[track_caller]
fn refused(place: &Place, code: i32, id: &str) {
    for command in ["check QM1", "start QM1"] {
        let outcome = place.line(command).failed_with(code, id);
        let text = outcome.err + &outcome.out;
        assert!(text.contains("What to do: "), "{text}");
    }
}

#[test]
fn what_a_start_would_be_refused_for_is_found_before() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .line("put DEV.QUEUE.1 QM1 --count 9 --persistent")
        .good();
    serving.kill();
    let good = place.line("check QM1").good();
    assert!(good.out.contains("QM1 would start."), "{good:?}");
    let ini = place.home("QM1").join("qm.ini");
    let log = place.data().join("log/QM1");

    edit(&ini, "LogFilePages=256", "LogFilePages=128");
    refused(&place, 60, "AMQ2108E");
    edit(&ini, "LogFilePages=128", "LogFilePages=256");

    let path = log.display().to_string();
    edit(&ini, &path, "/nowhere/log/QM1");
    refused(&place, 76, "AMQ2008E");
    edit(&ini, "/nowhere/log/QM1", &path);

    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for folder in [place.data(), place.home("QM1"), log.clone()] {
        let before = std::fs::metadata(&folder).unwrap().permissions().mode();
        set(&folder, 0o777);
        refused(&place, 62, "AMQ2009E");
        set(&folder, before);
    }

    // The control file of the log, gone: it is told for what it is.
    let control = log.join("LOG.CTL");
    std::fs::rename(&control, log.join("aside")).unwrap();
    refused(&place, 74, "AMQ2044S");
    let outcome = place.line("check QM1").err;
    assert!(
        outcome.contains("LOG.CTL") && !outcome.contains("AMQ7064E"),
        "{outcome}"
    );
    std::fs::rename(log.join("aside"), &control).unwrap();

    // The log files, gone.
    let active = log.join("active");
    std::fs::rename(&active, log.join("aside")).unwrap();
    std::fs::create_dir(&active).unwrap();
    set(&active, 0o700);
    refused(&place, 74, "AMQ2002S");
    std::fs::remove_dir(&active).unwrap();
    std::fs::rename(log.join("aside"), &active).unwrap();
    place.line("check QM1").good();
}

/// A log of last night that was put back, and a folder that mqs.ini gives another name.
#[test]
fn an_old_log_and_another_name_are_refused() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .fed("once\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    serving.end();
    let log = place.data().join("log/QM1");
    let (nightly, right) = (place.path().join("nightly"), place.path().join("right"));
    let mut copy = std::process::Command::new("cp");
    outcome(copy.arg("-a").args([&log, &nightly])).good();
    let serving = place.serving("QM1");
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").good().out, "once\n");
    place
        .fed("acked\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    serving.kill();
    std::fs::rename(&log, &right).unwrap();
    std::fs::rename(&nightly, &log).unwrap();
    refused(&place, 78, "AMQ2026S");
    std::fs::rename(&log, &nightly).unwrap();
    std::fs::rename(&right, &log).unwrap();
    let mqs = place.data().join("mqs.ini");
    edit(&mqs, "Name=QM1", "Name=QM2");
    place.line("check QM2").failed_with(76, "AMQ2057E");
    place.line("start QM2").failed_with(76, "AMQ2057E");
    edit(&mqs, "Name=QM2", "Name=QM1");
    let serving = place.serving("QM1");
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").good().out, "acked\n");
    serving.end();
}

/// The file that says which log is a data folder's, lost or damaged by itself: everything is there, and one option says so.
#[test]
fn a_log_is_trusted_where_only_the_note_of_it_is_lost() {
    let place = Place::new();
    place.serving("QM1").end();
    let old = std::fs::read(place.data().join("log/QM1/LOG.CTL")).unwrap();
    for _ in 0..2 {
        place.serving("QM1").end();
    }
    let serving = place.serving("QM1");
    place
        .fed("acked\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    let running = place.line("start QM1 --trust-log");
    running.failed_with(5, "AMQ2021E");
    serving.kill();
    let note = place.home("QM1").join("identity");
    std::fs::write(&note, [0; 8192]).unwrap();
    refused(&place, 78, "AMQ2026S");
    let advice = place.line("check QM1").err;
    assert!(advice.contains("start --trust-log"), "{advice}");
    // A log that does not fit the files even so, as one from before some checkpoints, stays refused, and the right one is not for it.
    let log = place.data().join("log/QM1");
    let control = std::fs::read(log.join("LOG.CTL")).unwrap();
    std::fs::write(log.join("LOG.CTL"), &old).unwrap();
    place
        .line("start QM1 --trust-log --ns")
        .failed_with(74, "AMQ2022S");
    std::fs::write(log.join("LOG.CTL"), control).unwrap();
    let started = place.line("start QM1 --trust-log --ns").good();
    assert!(started.err.contains("AMQ2089W"), "{started:?}");
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").good().out, "acked\n");
    place.line("stop QM1 -i").good();
    // What the folder knows is not asked about again.
    let started = place.line("start QM1 --trust-log --ns").good();
    assert!(!started.err.contains("AMQ2089W"), "{started:?}");
    place.line("stop QM1 -i").good();
}

#[test]
fn the_files_of_an_ended_queue_manager_are_verified_without_a_change() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .line("put DEV.QUEUE.1 QM1 --count 300 --size 5000 --persistent")
        .good();
    place
        .mqsc("ALTER QLOCAL(DEV.QUEUE.1) GET(DISABLED)", "QM1")
        .good();
    let running = place.line("check QM1").good();
    assert!(running.out.contains("is running"), "{running:?}");
    place.line("check --data QM1").failed_with(5, "AMQ2021E");
    // Once with everything in the log only, once with a checkpoint.
    serving.kill();
    let all = |place: &Place| {
        let mut files = Vec::new();
        let mut folders = vec![place.data()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.is_file() => {
                        files.push((path.clone(), std::fs::read(path).unwrap()))
                    }
                    false => {}
                }
            }
        }
        files.sort();
        files
    };
    for _ in 0..2 {
        let before = all(&place);
        let found = place.line("check --data QM1").good();
        assert!(found.out.contains("300 messages can be read"), "{found:?}");
        assert!(before == all(&place), "something was changed");
        place.serving("QM1").end();
    }

    let folder = place.home("QM1").join("queues");
    let queue = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path());
    let largest = queue.max_by_key(|path| std::fs::metadata(path).unwrap().len());
    let largest = largest.unwrap();
    let mut bytes = std::fs::read(&largest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&largest, bytes).unwrap();
    let found = place.line("check --data QM1");
    assert!([73, 75].contains(&found.code), "{found:?}");
    assert!(found.err.contains("What to do: "), "{found:?}");
}

#[test]
fn a_queue_manager_that_mqs_ini_has_lost_is_made_known_again() {
    let place = Place::new();
    let serving = place.serving("QM.1");
    place.fed("kept\n", "put DEV.QUEUE.1 QM.1").good();
    let dspmqinf = |options: &[&str]| {
        let mut command = place.named("dspmqinf");
        outcome(command.args(options).arg("QM.1"))
    };
    let shown = dspmqinf(&[]).good().out;
    let folder = place.home("QM!1");
    let folder = folder.to_str().unwrap();
    assert_eq!(
        shown,
        format!("QueueManager:\n   Name=QM.1\n   DataPath={folder}\n")
    );
    let command = dspmqinf(&["-o", "command"]).good().out;
    // As a shell takes it.
    let command = command.replace('\'', "");
    place.line("rmvmqinf QM.1").failed_with(5, "AMQ2021E");

    std::fs::remove_file(place.data().join("mqs.ini")).unwrap();
    let lost = place.line("stop -i QM.1").failed_with(16, "AMQ8118E");
    assert!(lost.err.contains("addmqinf -s QueueManager"), "{lost:?}");
    assert!(lost.err.contains(folder), "{lost:?}");
    place.line("dspmqinf QM.1").failed_with(44, "AMQ2046E");
    place.line("rmvmqinf QM.1").failed_with(44, "AMQ2046E");
    // The process was there all the time.
    place.line(command.trim()).good();
    assert_eq!(place.line("get DEV.QUEUE.1 QM.1").good().out, "kept\n");
    place.line(command.trim()).failed_with(45, "AMQ2047E");
    serving.end();

    place.line("rmvmqinf QM.1").good();
    assert_eq!(place.line("list").good().out, "");
    place
        .line("addmqinf -v Name=QM.1 -v DataPath=/nowhere/QM!1")
        .failed_with(76, "AMQ2045E");
    place
        .line(&format!("addmqinf -v Name=QM.2 -v DataPath={folder}"))
        .failed_with(76, "AMQ2045E");
    place
        .line("addmqinf -v DataPath=/x")
        .failed_with(46, "AMQ2048E");
    place
        .line("addmqinf -v Name=QM.1 -v Colour=red")
        .failed_with(46, "AMQ2048E");
    // By default it is where it was created; or where MQ's attributes say.
    place.line("addmqinf -v Name=QM.1").good();
    place.line("rmvmqinf QM.1").good();
    let data = place.data();
    let prefix = format!(
        "addmqinf -s QueueManager -v Name=QM.1 -v Directory=QM!1 -v Prefix={}",
        data.display()
    );
    place.line(&prefix).good();
    assert!(place.line("list").good().out.contains("QMNAME(QM.1)"));
    place.serving("QM.1").end();
}

/// A data folder that was copied names the log of the original: neither is started or deleted at the other's cost, while the
/// original runs and when it does not.
#[test]
fn a_copied_data_folder_does_not_get_the_log_of_the_original() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .fed("kept\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    let copies = place.path().join("copies");
    let copy = copies.join("QM1");
    std::fs::create_dir_all(copy.join("run")).unwrap();
    let copied = outcome(
        std::process::Command::new("sh")
            .arg("-c")
            .arg("cp -a \"$0\"/[!r]* \"$1\" && chmod -R go-rwx \"$1\"")
            .args([place.home("QM1"), copy.clone()]),
    );
    copied.good();
    let of_copies = |line: &str| place.line(&format!("{line} --data-dir {}", copies.display()));
    let entry = format!("addmqinf -v Name=QM1 -v DataPath={}", copy.display());
    of_copies(&entry).good();
    let try_all = |running: bool| {
        of_copies("start -ns QM1").failed_with(77, "AMQ2051E");
        of_copies("check QM1").failed_with(77, "AMQ2051E");
        of_copies("dltmqm QM1").failed_with(77, if running { "AMQ2007E" } else { "AMQ2051E" });
    };
    try_all(true);
    serving.end();
    try_all(false);
    let serving = place.serving("QM1");
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").good().out, "kept\n");
    // Where nothing says whose the log is, two processes still have not one log at a time.
    let log = place.data().join("log/QM1");
    std::fs::remove_file(log.join("owner")).unwrap();
    of_copies("start -ns QM1").failed_with(77, "AMQ2007E");
    of_copies("check QM1").failed_with(77, "AMQ2007E");
    of_copies("dltmqm QM1").failed_with(77, "AMQ2007E");
    serving.end();
    // A copy of the log is the copy's, once it is named.
    let second = copies.join("log").join("QM1");
    std::fs::create_dir_all(copies.join("log")).unwrap();
    outcome(
        std::process::Command::new("cp")
            .arg("-a")
            .args([&log, &second]),
    )
    .good();
    let ini = copy.join("qm.ini");
    let text = std::fs::read_to_string(&ini).unwrap();
    let (from, to) = (log.display().to_string(), second.display().to_string());
    std::fs::write(&ini, text.replace(&from, &to)).unwrap();
    of_copies("dltmqm QM1").good();
    assert!(!second.exists() && !copy.exists());
    place.serving("QM1").end();
}

/// Where DataPath is wrong, or its disk is not mounted, nothing is deleted: not the log, without which the data are worth nothing.
#[test]
fn a_log_whose_data_are_elsewhere_is_not_deleted() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .fed("kept\n", "put DEV.QUEUE.1 QM1 --persistent")
        .good();
    let mqs = place.data().join("mqs.ini");
    let right = std::fs::read_to_string(&mqs).unwrap();
    let home = place.home("QM1").display().to_string();
    let pointed_at = |to: &str| std::fs::write(&mqs, right.replace(&home, to)).unwrap();
    assert!(right.contains(&home), "{right}");
    let log = place.data().join("log/QM1");
    pointed_at("/nowhere/QM1");
    place.line("dltmqm QM1").failed_with(77, "AMQ2007E");
    std::fs::write(&mqs, &right).unwrap();
    serving.end();
    for elsewhere in ["/nowhere/QM1", "/nowhere"] {
        pointed_at(elsewhere);
        place.line("dltmqm QM1").failed_with(76, "AMQ2052E");
        assert!(log.join("LOG.CTL").exists());
    }
    // Its disk is not mounted: the folder is there, and empty.
    std::fs::write(&mqs, &right).unwrap();
    let away = place.path().join("away");
    std::fs::rename(place.home("QM1"), &away).unwrap();
    std::fs::create_dir(place.home("QM1")).unwrap();
    place.line("dltmqm QM1").failed_with(76, "AMQ2052E");
    assert!(log.join("LOG.CTL").exists());
    // Nor does a new one of that name take its log away.
    std::fs::remove_file(&mqs).unwrap();
    std::fs::remove_dir_all(place.home("QM1")).unwrap();
    place.line("create QM1").failed_with(8, "AMQ2023E");
    assert!(log.join("LOG.CTL").exists());
    std::fs::rename(&away, place.home("QM1")).unwrap();
    // A folder of another name is there: neither it nor the log is touched.
    let other = place.path().join("other");
    std::os::unix::fs::symlink(place.home("QM1"), &other).unwrap();
    pointed_at(&other.display().to_string());
    place.line("dltmqm QM1").failed_with(76, "AMQ2008E");
    assert!(log.join("LOG.CTL").exists());
    std::fs::write(&mqs, &right).unwrap();
    let serving = place.serving("QM1");
    assert_eq!(place.line("get DEV.QUEUE.1 QM1").good().out, "kept\n");
    serving.end();
    place.line("dltmqm QM1").good();
    assert!(!log.exists());
}

#[test]
fn the_page_for_the_night_has_every_code_and_only_messages_that_there_are() {
    let page = include_str!("../../../../docs/at-night.md");
    let (index, rest) = page.split_once("## By message").unwrap();
    let words = |text: &'static str| text.split(|c: char| !c.is_ascii_alphanumeric());
    for (_, code, meaning) in posthaste_server::EXIT_TABLE {
        let documented = words(index).any(|word| word == code.to_string());
        assert!(documented || !(60..99).contains(code), "{code}: {meaning}");
    }
    let numbers = words(rest).filter(|word| word.starts_with("AMQ2") && word.len() == 8);
    let mut seen = 0;
    for id in numbers {
        let message = posthaste_command::messages::find(id);
        assert_eq!(message.map(|message| message.id), Some(id));
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
    // Every section that a line leads to is there.
    let anchors: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|title| {
            title
                .to_lowercase()
                .replace(' ', "-")
                .replace(['.', '\'', '?'], "")
        })
        .collect();
    for link in page.split("](#").skip(1) {
        let (anchor, _) = link.split_once(')').unwrap();
        assert!(anchors.iter().any(|known| known == anchor), "{anchor}");
    }
}

/// Where the folder is another user's, root would write files there that its owner cannot add to.
#[test]
fn a_start_by_another_user_leaves_nothing_in_the_folder() {
    let place = Place::new();
    place.line("create -lf 64 -lp 2 -ls 1 QM1").good();
    let give_away = |folder: &Path| {
        let mut chown = std::process::Command::new("chown");
        outcome(chown.args(["-R", "65534"]).arg(folder)).code == 0
    };
    let all = || {
        let mut find = std::process::Command::new("find");
        outcome(find.arg(place.data()).args(["-printf", "%p %u\n"]))
            .good()
            .out
    };
    for folder in [place.home("QM1"), place.data()] {
        if !give_away(&folder) {
            return skipped("only root can give files away");
        }
        let before = all();
        place.line("run QM1 --port 0").failed_with(62, "AMQ2008E");
        place.line("start -ns QM1").failed_with(62, "AMQ2008E");
        assert_eq!(all(), before);
    }
}

/// What a start would write as a file, and a configuration of which nothing is left.
#[test]
fn folders_in_the_place_of_files_and_an_empty_configuration_are_found_before() {
    let place = Place::new();
    place.line("create -lf 64 -lp 2 -ls 1 QM1").good();
    let home = place.home("QM1");
    for (name, code, id) in [
        ("checkpoint.reserve", 75, "AMQ2025S"),
        ("ended", 76, "AMQ2008E"),
        ("run/process", 76, "AMQ2008E"),
    ] {
        let (path, aside) = (home.join(name), home.join("aside"));
        let is_there = std::fs::rename(&path, &aside).is_ok();
        std::fs::create_dir(&path).unwrap();
        refused(&place, code, id);
        std::fs::remove_dir(&path).unwrap();
        if is_there {
            std::fs::rename(&aside, &path).unwrap();
        }
    }
    let ini = home.join("qm.ini");
    let text = std::fs::read(&ini).unwrap();
    std::fs::write(&ini, "").unwrap();
    refused(&place, 60, "AMQ2101E");
    std::fs::write(&ini, text).unwrap();
    place.line("check QM1").good();
}
