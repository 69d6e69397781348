//! The verdicts on machines, case by case.

use super::super::verdict::Status::{self, Pass, Skip, Warn};
use super::*;

fn storage() -> Storage {
    Storage {
        what: "recovery log",
        mount_point: "/mnt/a disk".to_owned(),
        file_system: "ext4".to_owned(),
        options: vec!["rw".to_owned(), "relatime".to_owned()],
        size: 1_000 << 20,
        free: 500 << 20,
        scheduler: Some(("/sys/s".to_owned(), "[none] mq-deadline bfq".to_owned())),
    }
}

fn with_storage(change: impl FnOnce(&mut Storage)) -> Machine {
    let mut wrong = storage();
    change(&mut wrong);
    Machine {
        storage: vec![storage(), wrong],
        processors: 4,
        ..Machine::default()
    }
}

#[track_caller]
fn assert(machine: &Machine, check: &str, status: Status, found: &str) -> String {
    let findings = super::check(machine);
    let finding = findings.iter().find(|f| f.check == check).unwrap();
    assert_eq!(finding.status, status, "{finding:?}");
    assert!(finding.found.contains(found), "{finding:?}");
    assert!(status != Warn || finding.remedy.is_some(), "{finding:?}");
    finding.remedy.clone().unwrap_or_default()
}

#[test]
fn settings_are_compared_with_the_table() {
    let set = |name, text: &str| Machine {
        settings: BTreeMap::from([(name, text.to_owned())]),
        ..Machine::default()
    };
    for (name, text, status) in [
        ("fs.file-max", "19557658\n", Pass),
        ("fs.file-max", "9223372036854775807", Pass),
        ("fs.file-max", "19557657", Warn),
        ("fs.file-max", "many", Skip),
        ("net.core.rmem_max", "212992", Warn),
        ("net.core.wmem_max", "2147483647", Pass),
        ("net.ipv4.tcp_rmem", "4096\t131072\t6291456", Warn),
        ("net.ipv4.tcp_rmem", "4096\t87380\t2147483647", Pass),
        ("net.ipv4.tcp_wmem", "4096 16384", Skip),
        ("vm.max_map_count", "65530", Warn),
        ("kernel.pid_max", "4194304", Pass),
    ] {
        assert(&set(name, text), name, status, "");
    }
    let remedy = assert(
        &set("net.ipv4.tcp_rmem", "1 2 3"),
        "net.ipv4.tcp_rmem",
        Warn,
        "3 (recommended",
    );
    assert_eq!(
        remedy,
        "sysctl -w net.ipv4.tcp_rmem='4096 87380 2147483647'"
    );
    for (text, status) in [
        ("1024\t65535", Pass),
        ("32768\t60999", Warn),
        ("1024", Skip),
        ("", Skip),
    ] {
        let machine = set("net.ipv4.ip_local_port_range", text);
        assert(&machine, "local ports", status, "");
    }
    for (name, value, status) in [
        ("kernel.sched_latency_ns", "24000000", Warn),
        ("kernel.sched_latency_ns", "2000000", Pass),
        ("kernel.sched_min_granularity_ns", "3000000", Warn),
        ("kernel.msgmnb", "16384", Skip),
    ] {
        assert(&set(name, value), "scheduler settings", status, "");
    }
}

#[test]
fn limits_are_those_that_can_be_reached() {
    let with = |open_files| Machine {
        open_files,
        processes: open_files,
        limits_of: "of process 7".to_owned(),
        ..Machine::default()
    };
    for (limits, status, found) in [
        (None, Skip, "not visible"),
        (
            Some((1024, 1_048_576)),
            Pass,
            "1024 of at most 1048576 (of process 7)",
        ),
        (
            Some((u64::MAX, u64::MAX)),
            Pass,
            "unlimited of at most unlimited",
        ),
        (Some((1024, 524_288)), Warn, "recommended: 1048576"),
    ] {
        assert(&with(limits), "open files", status, found);
        assert(&with(limits), "processes", status, found);
    }
}

#[test]
fn every_storage_is_looked_at() {
    let ordinary = with_storage(|_| {});
    for check in ["free space", "mount options", "disk scheduler"] {
        assert(&ordinary, check, Pass, "");
        assert(&Machine::default(), check, Skip, "");
    }
    assert(
        &ordinary,
        "free space",
        Pass,
        "recovery log 50 %, recovery log 50 %",
    );
    let full = with_storage(|storage| storage.free = 99 << 20);
    let remedy_shown = assert(&full, "free space", Warn, "9 % free (99 MiB)");
    assert!(
        remedy_shown.ends_with("du -xh --max-depth=1 '/mnt/a disk'"),
        "{remedy_shown}"
    );
    for (option, status, remedy) in [
        ("noatime", Pass, ""),
        ("sync", Warn, "remount,async '/mnt/a disk'"),
        ("nobarrier", Warn, "remount,barrier=1"),
        ("barrier=0", Warn, "remount,barrier=1"),
    ] {
        let machine = with_storage(|storage| storage.options.push(option.to_owned()));
        let remedy_shown = assert(&machine, "mount options", status, "");
        assert!(remedy_shown.contains(remedy), "{remedy_shown}");
    }
    for (line, status) in [
        ("[mq-deadline] none", Pass),
        ("none", Pass),
        ("mq-deadline [bfq]", Warn),
        ("noop [cfq]", Warn),
    ] {
        let machine = with_storage(|storage| {
            storage.scheduler = Some(("/sys/s".to_owned(), line.to_owned()));
        });
        let remedy_shown = assert(&machine, "disk scheduler", status, "");
        assert!(
            status == Pass || remedy_shown == "echo none > /sys/s",
            "{remedy_shown}"
        );
    }
    // Access times: the kernel shows no strictatime.
    for (file_system, options, status) in [
        ("ext4", "rw,noatime", Pass),
        ("ext4", "rw,nosuid", Warn),
        ("xfs", "rw", Warn),
        ("tmpfs", "rw", Pass),
        ("overlay", "rw", Pass),
        ("nfs4", "rw", Pass),
    ] {
        let machine = with_storage(|storage| {
            storage.file_system = file_system.to_owned();
            storage.options = options.split(',').map(str::to_owned).collect();
        });
        let remedy_shown = assert(&machine, "mount options", status, "");
        let remedy = "mount -o remount,relatime '/mnt/a disk'";
        assert!(status == Pass || remedy_shown == remedy, "{remedy_shown}");
    }
}

#[test]
fn nfs_is_looked_at_where_it_is() {
    assert(&with_storage(|_| {}), "NFS transfer size", Skip, "nothing");
    for (options, status) in [
        ("rsize=1048576,wsize=1048576", Pass),
        ("rsize=524288,wsize=524288", Pass),
        ("rsize=1048576,wsize=65536", Warn),
        ("rsize=4096", Warn),
    ] {
        let machine = with_storage(|storage| {
            storage.file_system = "nfs4".to_owned();
            storage.options = options.split(',').map(str::to_owned).collect();
        });
        assert(&machine, "NFS transfer size", status, "");
    }
    for (threads, status) in [(None, Skip), (Some(4), Pass), (Some(3), Warn)] {
        let machine = Machine {
            nfs_server_threads: threads,
            ..with_storage(|_| {})
        };
        assert(&machine, "NFS server threads", status, "");
    }
}

#[test]
fn processors_and_memory() {
    let none = Machine::default();
    let with = |change: fn(&mut Machine)| {
        let mut machine = Machine::default();
        change(&mut machine);
        machine
    };
    assert(&none, "huge pages", Skip, "");
    let always = with(|m| m.huge_pages = Some("[always] madvise never".to_owned()));
    assert(&always, "huge pages", Warn, "always");
    let never = with(|m| m.huge_pages = Some("always madvise [never]\n".to_owned()));
    assert(&never, "huge pages", Pass, "never");
    assert(&none, "processor governor", Skip, "");
    let saving = with(|m| m.governor = Some("powersave\n".to_owned()));
    assert(&saving, "processor governor", Warn, "powersave");
    let fast = with(|m| m.governor = Some("performance\n".to_owned()));
    assert(&fast, "processor governor", Pass, "performance");
    assert(&none, "turbo", Skip, "");
    let turbo = |off| Machine {
        turbo: Some(Turbo {
            off,
            switch_off: "off it goes",
        }),
        ..Machine::default()
    };
    assert(&turbo(true), "turbo", Pass, "off");
    let remedy_shown = assert(&turbo(false), "turbo", Warn, "on");
    assert_eq!(remedy_shown, "off it goes");
    assert(&none, "hyper-threading", Skip, "");
    assert(
        &with(|m| m.smt = Some("on\n".to_owned())),
        "hyper-threading",
        Pass,
        "on",
    );
    assert(
        &with(|m| m.smt = Some("off\n".to_owned())),
        "hyper-threading",
        Warn,
        "off",
    );
    assert(
        &with(|m| m.smt = Some("notsupported".to_owned())),
        "hyper-threading",
        Skip,
        "",
    );
    assert(&none, "processors", Skip, "");
    assert(&with(|m| m.processors = 1), "processors", Warn, "1");
    assert(&with(|m| m.processors = 2), "processors", Pass, "2");
    assert(
        &with(|m| m.local_only = Some(true)),
        "separate networks",
        Skip,
        "own address",
    );
    assert(&none, "System V IPC", Skip, "not used");
}

#[test]
fn every_setting_that_is_judged_is_gathered() {
    for least in &LEAST {
        assert!(SETTINGS.contains(&least.name), "{}", least.name);
    }
}
