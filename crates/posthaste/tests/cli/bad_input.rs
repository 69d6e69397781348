//! What goes wrong, each with its own message and exit code.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::place::{Background, Place, skipped};

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn configuration_faults_have_line_column_and_number() {
    let place = Place::new();
    place.line("create -lf 64 QM1").good();
    let ini = place.home("QM1").join("qm.ini");
    place.line("check QM1").good();
    // What is only looked at is left as it is.
    let locks = [place.home("QM1"), place.data().join("log/QM1")].map(|it| it.join("lock"));
    locks
        .iter()
        .for_each(|lock| drop(std::fs::remove_file(lock)));
    place.line("check QM1").good();
    assert!(locks.iter().all(|lock| !lock.exists()));
    // Nobody heard of an error log that cannot be written, of a queue manager without a terminal.
    let errors = place.home("QM1").join("errors");
    let _ = std::fs::remove_dir_all(&errors);
    std::fs::write(&errors, "").unwrap();
    for command in ["check QM1", "start QM1", "run QM1 --port 0"] {
        let refused = place.line(command).failed_with(76, "AMQ2008E");
        assert!(refused.err.contains("errors cannot be used"), "{refused:?}");
    }
    std::fs::remove_file(&errors).unwrap();
    edit(
        &ini,
        "   LogPrimaryFiles=16",
        "   LogPrimaryFiles=1\n   LogFiles=7",
    );
    edit(&ini, "\nTCP:", "\nTPC:");
    for command in ["check QM1", "start QM1", "run QM1 --port 0"] {
        let refused = place.line(command).failed_with(60, "AMQ2107E");
        let text = refused.err + &refused.out;
        for part in ["AMQ2103E: ", "AMQ7075E: ", "AMQ2102E: ", "qm.ini:"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let place_of = |id: &str| {
            let line = text.lines().find(|line| line.contains(id)).unwrap();
            let (_, rest) = line.split_once("qm.ini:").unwrap();
            rest.split(':')
                .take(2)
                .map(|n| n.parse::<u32>().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(place_of("AMQ2103E")[1], 20, "column of the value");
        assert_eq!(place_of("AMQ7075E")[1], 4, "column of the key");
        assert_eq!(place_of("AMQ7075E")[0], place_of("AMQ2103E")[0] + 1);
    }
    // It can be deleted all the same.
    place.line("delete QM1").good();

    place.line("create -lf 64 QM2").good();
    edit(
        &place.home("QM2").join("qm.ini"),
        "LogFilePages=64",
        "LogFilePages=128",
    );
    place.line("start QM2").failed_with(60, "AMQ2108E");
    std::fs::remove_file(place.home("QM2").join("qm.ini")).unwrap();
    place.line("start QM2").failed_with(76, "AMQ2008E");

    std::fs::write(place.data().join("mqs.ini"), "QueueManager:\n   Name=QM2\n").unwrap();
    place.line("list").failed_with(60, "mqs.ini:1:1: AMQ2101E");
}

#[test]
fn folders_that_cannot_be_used_or_are_not_private() {
    let place = Place::new();
    let blocked = place.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let below = blocked.join("data");
    let run = |folder: &Path| {
        place.run(&[
            "run",
            "QM1",
            "--port",
            "0",
            "--data-dir",
            folder.to_str().unwrap(),
        ])
    };
    run(&below).failed_with(76, "AMQ2008E");
    // Nobody can make a folder there, not even the superuser.
    run(Path::new("/proc/posthaste")).failed_with(76, "AMQ2008E");

    place.line("create -lf 64 QM1").good();
    let home = place.home("QM1");
    let set = |path: &PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (path, mode) in [
        (home.clone(), 0o755),
        (home.join("qm.ini"), 0o666),
        (place.data().join("log/QM1"), 0o777),
    ] {
        let before = std::fs::metadata(&path).unwrap().permissions().mode();
        set(&path, mode);
        let refused = place.line("start QM1").failed_with(62, "AMQ2009E");
        assert!((refused.err + &refused.out).contains(path.to_str().unwrap()));
        set(&path, before);
    }
    place.line("start QM1").good();
    let _background = Background {
        place: &place,
        name: "QM1",
    };
}

/// Log files that hold data, oldest first.
fn log_files(place: &Place) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, found),
                false if path.extension().is_some_and(|e| e == "LOG") => found.push(path),
                false => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(&place.data().join("log/QM1"), &mut found);
    found.sort();
    found
}

#[test]
fn a_damaged_log_is_refused_with_its_lsn_and_a_remedy() {
    let place = Place::new();
    let serving = place.serving("QM1");
    // More than one page on each side of the damage.
    place
        .line("put DEV.QUEUE.1 QM1 --count 100 --size 2000 --persistent")
        .good();
    serving.kill();
    let first = log_files(&place).remove(0);
    let whole = std::fs::read(&first).unwrap();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&first)
        .unwrap();
    file.write_all_at(&[0xAA; 64], 4096 * 40 + 100).unwrap();
    for command in ["start QM1", "run QM1 --port 0"] {
        let refused = place.line(command).failed_with(74, "AMQ2001S");
        let text = refused.err + &refused.out;
        assert!(text.contains("damaged at LSN "), "{text}");
        assert!(text.contains("restore"), "{text}");
    }
    let log = place.error_log("QM1");
    assert!(log.contains("AMQ2001S: "));
    // Nothing was changed by the attempts.
    std::fs::write(&first, &whole).unwrap();
    let serving = place.serving("QM1");
    assert_eq!(place.depth("DEV.QUEUE.1", "QM1"), 100);
    serving.kill();

    file.set_len(8192).unwrap();
    place.line("start QM1").failed_with(74, "AMQ2002S");
    std::fs::remove_file(&first).unwrap();
    place.line("start QM1").failed_with(74, "AMQ2002S");
    std::fs::remove_dir_all(place.data().join("log/QM1")).unwrap();
    place.line("start QM1").failed_with(76, "AMQ2008E");
}

#[test]
fn damaged_queue_files_are_refused() {
    let place = Place::new();
    let serving = place.serving("QM1");
    place
        .line("put DEV.QUEUE.1 QM1 --count 10 --size 2000 --persistent")
        .good();
    serving.end();
    let images = std::fs::read_dir(place.home("QM1")).unwrap();
    for entry in images.map(Result::unwrap) {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("checkpoint-")
        {
            std::fs::OpenOptions::new()
                .write(true)
                .open(entry.path())
                .unwrap()
                .set_len(100)
                .unwrap();
        }
    }
    place.line("start QM1").failed_with(75, "AMQ2025S");
}

#[test]
fn what_is_not_there_yet_is_refused_and_not_ignored() {
    let place = Place::new();
    place
        .line("create -ll QM1")
        .failed_with(39, "linear logging");
    place
        .line("create -lp 500 -ls 100 QM1")
        .failed_with(39, "511");
    place.line("create -lf 63 QM1").failed_with(39, "63");
    place.line("create QM-1").failed_with(39, "AMQ7048E");
    place.line("create").failed_with(39, "QUEUE_MANAGER");
    place.line("delete QM1").failed_with(16, "AMQ8118E");
    assert_eq!(place.line("list").out, "");
    let bad = place.path().join("bad.mqsc");
    std::fs::write(&bad, "DEFINE QLOCAL(A)\nDEFINE NONSENSE(B)\n").unwrap();
    let script = [
        "run",
        "QM1",
        "--lf",
        "64",
        "--port",
        "0",
        "--script",
        bad.to_str().unwrap(),
    ];
    place.run(&script).failed_with(39, "NONSENSE");
    assert_eq!(
        place.line("list").out,
        "",
        "a creation that fails leaves nothing"
    );
    assert!(!place.home("QM1").exists());
}

#[test]
fn garbage_on_the_port_hinders_nobody() {
    let place = Place::new();
    let serving = place.serving("QM1");
    let _half_open = TcpStream::connect(("127.0.0.1", serving.port())).unwrap();
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0xff; 4096],
        b"TSH \xff\xff\xff\xff",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", serving.port())).unwrap();
        // It may be closed before everything was written.
        let _ = stream.write_all(garbage);
    }
    place.fed("x\n", "put DEV.QUEUE.1 QM1").good();
    serving.end();
}

#[test]
fn a_full_disk_has_its_own_message_and_loses_nothing() {
    let place = Place::new();
    // A log that does not fit: nothing is left over, and a smaller one can be made.
    let create = "$P create -lf 4096 QM1; echo code $?; ls -A $D/data/qmgrs $D/data/log; $P list; $P create -lf 64 QM1 >&2; echo code $?";
    let Some(made) = place.on_a_small_disk(create) else {
        skipped("this system does not let tests mount file systems");
        return;
    };
    assert!(made.err.contains("AMQ2020E"), "{made:?}");
    assert!(made.out.starts_with("code 63\n"), "{made:?}");
    assert!(
        made.out.ends_with("code 0\n") && !made.out.contains("QMNAME"),
        "{made:?}"
    );

    // Queue files that fill up: the put is refused with a reason, what was acknowledged is there
    // after the disk has room again, and errors are still reported.
    let fill = "$P create -lf 512 -lp 2 -ls 1 QM1 >&2 && $P start QM1 >&2 \
         && echo 'DEFINE QLOCAL(Q) MAXDEPTH(999999)' | $P mqsc QM1 >&2 \
         && dd if=/dev/zero of=$D/filler bs=1M count=6 2>/dev/null; \
         $P put Q QM1 --count 9000 --size 2000 --nonpersistent; echo code $?; \
         rm $D/filler; \
         echo 'DISPLAY QLOCAL(Q) CURDEPTH' | $P mqsc QM1; \
         $P get Q QM1 -z | cut -c1-13 | tail -1; $P stop -i -z QM1; echo code $?";
    let filled = place.on_a_small_disk(fill).unwrap();
    assert!(filled.out.contains("code 1\n"), "{filled:?}");
    assert!(filled.err.contains("AMQ2208E"), "{filled:?}");
    let put = filled
        .err
        .lines()
        .find(|line| line.contains("messages put to Q"));
    let put: u64 = put.unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(put > 100, "{filled:?}");
    assert!(
        filled.out.contains(&format!("CURDEPTH({put})")),
        "{filled:?}"
    );
    assert!(
        filled.out.contains(&format!("message {put} ")),
        "{filled:?}"
    );
    assert!(filled.out.ends_with("code 0\n"), "{filled:?}");
}
