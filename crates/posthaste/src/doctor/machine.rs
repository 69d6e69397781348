//! The tuning table of the MQ performance papers, and what else of a machine matters to a queue manager.
//!
//! Invariant: each check is a function of facts and of nothing else. Values that do not matter to this product,
//! or that no program can see, are skipped with the reason, so that the table is seen to be complete.

use std::collections::BTreeMap;

use super::verdict::{Finding, Verdict};
use crate::typed::quoted;

const SECTION: &str = "machine";

/// A folder of the queue manager and the file system it is on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Storage {
    /// What it is for: "recovery log".
    pub(crate) what: &'static str,
    pub(crate) mount_point: String,
    pub(crate) file_system: String,
    /// Mount options.
    pub(crate) options: Vec<String>,
    pub(crate) size: u64,
    pub(crate) free: u64,
    /// The file `queue/scheduler` and its line, if its device has one.
    pub(crate) scheduler: Option<(String, String)>,
}

/// Whether turbo is off, and what switches it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turbo {
    pub(crate) off: bool,
    pub(crate) switch_off: &'static str,
}

/// What is known of the machine. What could not be read is absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    /// Kernel settings by their names.
    pub(crate) settings: BTreeMap<&'static str, String>,
    /// Whose limits these are.
    pub(crate) limits_of: String,
    /// Open files and processes: soft, hard; the highest number is "unlimited".
    pub(crate) open_files: Option<(u64, u64)>,
    pub(crate) processes: Option<(u64, u64)>,
    pub(crate) storage: Vec<Storage>,
    pub(crate) huge_pages: Option<String>,
    pub(crate) governor: Option<String>,
    pub(crate) turbo: Option<Turbo>,
    pub(crate) smt: Option<String>,
    pub(crate) nfs_server_threads: Option<u64>,
    pub(crate) processors: u64,
    /// Whether every listener is on a loopback address.
    pub(crate) local_only: Option<bool>,
}

/// A kernel setting with the number wanted at least: name, which of its numbers, why.
struct Least {
    name: &'static str,
    field: usize,
    wanted: u64,
    /// The whole value to set.
    whole: &'static str,
    why: &'static str,
}

const LEAST: [Least; 7] = [
    Least {
        name: "fs.file-max",
        field: 0,
        wanted: 19_557_658,
        whole: "19557658",
        why: "Every connection and every queue file is an open file; this is the limit of the whole machine.",
    },
    Least {
        name: "net.core.rmem_max",
        field: 0,
        wanted: 2_147_483_647,
        whole: "2147483647",
        why: "It limits the receive buffer that a program may ask for, and so the rate over a distant network.",
    },
    Least {
        name: "net.core.wmem_max",
        field: 0,
        wanted: 2_147_483_647,
        whole: "2147483647",
        why: "It limits the send buffer that a program may ask for, and so the rate over a distant network.",
    },
    Least {
        name: "net.ipv4.tcp_rmem",
        field: 2,
        wanted: 2_147_483_647,
        whole: "4096 87380 2147483647",
        why: "Its last number is how far the kernel lets a receive buffer grow by itself.",
    },
    Least {
        name: "net.ipv4.tcp_wmem",
        field: 2,
        wanted: 2_147_483_647,
        whole: "4096 65536 2147483647",
        why: "Its last number is how far the kernel lets a send buffer grow by itself.",
    },
    Least {
        name: "vm.max_map_count",
        field: 0,
        wanted: 1_966_080,
        whole: "1966080",
        why: "A process with very many threads or buffers needs that many memory areas.",
    },
    Least {
        name: "kernel.pid_max",
        field: 0,
        wanted: 655_360,
        whole: "655360",
        why: "Threads of all applications on the machine count as well as processes.",
    },
];

/// Names of the settings that the checks look at.
pub(crate) const SETTINGS: [&str; 14] = [
    "fs.file-max",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "vm.max_map_count",
    "kernel.pid_max",
    "net.ipv4.ip_local_port_range",
    "kernel.msgmnb",
    "kernel.msgmax",
    "kernel.shmmax",
    "kernel.sched_latency_ns",
    "kernel.sched_min_granularity_ns",
    "kernel.sched_wakeup_granularity_ns",
];

/// Makes all checks.
pub(crate) fn check(machine: &Machine) -> Vec<Finding> {
    let least = LEAST.iter().map(|least| {
        let verdict = at_least(machine, least);
        Finding::new(SECTION, least.name, least.why, verdict)
    });
    let mut findings: Vec<Finding> = least.collect();
    let others = OTHERS.iter();
    findings
        .extend(others.map(|(name, why, judge)| Finding::new(SECTION, name, why, judge(machine))));
    findings
}

/// What was found of the log's disk where no queue manager runs.
pub(crate) fn log_disk(verdict: Verdict) -> Finding {
    let why = "A persistent message cannot be faster than its disk.";
    Finding::new(SECTION, "log's disk", why, verdict)
}

fn at_least(machine: &Machine, least: &Least) -> Verdict {
    let text = machine.settings.get(least.name);
    let number = text.and_then(|text| text.split_whitespace().nth(least.field));
    let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) else {
        return Verdict::skip("not visible here");
    };
    match number >= least.wanted {
        true => Verdict::pass(number.to_string()),
        false => Verdict::warn(
            format!("{number} (recommended: {})", least.wanted),
            format!("sysctl -w {}='{}'", least.name, least.whole),
        ),
    }
}

type Check = (&'static str, &'static str, fn(&Machine) -> Verdict);

const OTHERS: [Check; 16] = [
    (
        "local ports",
        "Each connection from this machine to one address needs a port of its own.",
        ports,
    ),
    (
        "open files",
        "Every client connection is an open file of the queue manager's process.",
        open_files,
    ),
    (
        "processes",
        "Threads count; many applications of one user can reach the limit together.",
        processes,
    ),
    (
        "System V IPC",
        "MQ's own processes share memory and semaphores; this product is one process.",
        |_| Verdict::skip("kernel.msg* and kernel.shm* are not used by this product"),
    ),
    (
        "scheduler settings",
        "On older kernels shorter slices wake waiting applications sooner.",
        scheduling,
    ),
    (
        "free space",
        "A full disk stops what needs it: secondary log files, spilled messages, checkpoints.",
        free_space,
    ),
    (
        "mount options",
        "Writing access times costs writes; switching barriers off loses acknowledged messages in a power cut.",
        mount_options,
    ),
    (
        "NFS transfer size",
        "Small NFS transfers cut one log write into many round trips.",
        nfs_sizes,
    ),
    (
        "NFS server threads",
        "A server with fewer threads than processors keeps log writes waiting.",
        nfs_server,
    ),
    (
        "disk scheduler",
        "A log is one stream of forced writes: reordering for fairness only delays it.",
        disk_scheduler,
    ),
    (
        "huge pages",
        "Merging pages behind a program's back stalls it at moments that nobody can foresee.",
        huge_pages,
    ),
    (
        "processor governor",
        "A processor that saves power wakes up late: each short wait for a message costs more.",
        governor,
    ),
    (
        "turbo",
        "Figures made with turbo depend on temperature and on what else runs.",
        turbo,
    ),
    (
        "hyper-threading",
        "The published figures were made with it.",
        hyper_threading,
    ),
    (
        "processors",
        "With one processor, queue manager and applications always wait for each other.",
        processors,
    ),
    (
        "separate networks",
        "Replication and applications on one network delay each other.",
        networks,
    ),
];

fn ports(machine: &Machine) -> Verdict {
    let text = machine.settings.get("net.ipv4.ip_local_port_range");
    let range = text.and_then(|text| {
        let mut numbers = text.split_whitespace().map(str::parse::<u64>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    match range {
        None => Verdict::skip("not visible here"),
        Some((low, high)) if low <= 1024 && high >= 65_535 => {
            Verdict::pass(format!("{low} to {high}"))
        }
        Some((low, high)) => Verdict::warn(
            format!("{low} to {high} (recommended: 1024 to 65535)"),
            "sysctl -w net.ipv4.ip_local_port_range='1024 65535'",
        ),
    }
}

/// Open files and processes that the papers recommend.
const LIMIT: u64 = 1_048_576;

fn limit(machine: &Machine, limits: Option<(u64, u64)>, option: &str, item: &str) -> Verdict {
    let shown = |limit: u64| match limit {
        u64::MAX => "unlimited".to_owned(),
        limit => limit.to_string(),
    };
    let Some((soft, hard)) = limits else {
        return Verdict::skip("not visible here");
    };
    let found = format!(
        "{} of at most {} ({})",
        shown(soft),
        shown(hard),
        machine.limits_of
    );
    // The queue manager raises its own soft limit; the hard one is what counts.
    match hard >= LIMIT {
        true => Verdict::pass(found),
        false => Verdict::warn(
            format!("{found}, recommended: {LIMIT}"),
            format!(
                "ulimit -H{option} {LIMIT} before the start, or for good in /etc/security/limits.conf: * hard {item} {LIMIT}"
            ),
        ),
    }
}

fn open_files(machine: &Machine) -> Verdict {
    limit(machine, machine.open_files, "n", "nofile")
}

fn processes(machine: &Machine) -> Verdict {
    limit(machine, machine.processes, "u", "nproc")
}

fn scheduling(machine: &Machine) -> Verdict {
    let wanted = [
        ("kernel.sched_latency_ns", 2_000_000),
        ("kernel.sched_min_granularity_ns", 1_000_000),
        ("kernel.sched_wakeup_granularity_ns", 400_000),
    ];
    let mut seen = false;
    for (name, most) in wanted {
        let value = machine
            .settings
            .get(name)
            .and_then(|text| text.trim().parse::<u64>().ok());
        seen |= value.is_some();
        if let Some(value) = value.filter(|value| *value > most) {
            return Verdict::warn(
                format!("{name} is {value} (recommended: {most})"),
                format!("sysctl -w {name}={most}"),
            );
        }
    }
    match seen {
        true => Verdict::pass("as recommended"),
        false => Verdict::skip("this kernel has no such settings any more"),
    }
}

/// The first storage that a rule finds wrong decides.
fn each_storage(
    machine: &Machine,
    good: &str,
    wrong: impl Fn(&Storage) -> Option<(String, String)>,
) -> Verdict {
    if machine.storage.is_empty() {
        return Verdict::skip("no queue manager was named");
    }
    let found = machine.storage.iter().find_map(|storage| {
        let (found, remedy) = wrong(storage)?;
        Some(Verdict::warn(format!("{}: {found}", storage.what), remedy))
    });
    found.unwrap_or_else(|| Verdict::pass(good))
}

fn free_space(machine: &Machine) -> Verdict {
    let percent = |storage: &Storage| storage.free * 100 / storage.size.max(1);
    let good: Vec<String> = machine
        .storage
        .iter()
        .map(|storage| format!("{} {} %", storage.what, percent(storage)))
        .collect();
    each_storage(machine, &format!("free: {}", good.join(", ")), |storage| {
        let low = percent(storage) < 10;
        let found = format!("{} % free ({} MiB)", percent(storage), storage.free >> 20);
        let remedy = format!(
            "find what fills it: du -xh --max-depth=1 {}",
            quoted(&storage.mount_point)
        );
        low.then_some((found, remedy))
    })
}

fn mount_options(machine: &Machine) -> Verdict {
    each_storage(machine, "no option that costs or endangers", |storage| {
        let has = |names: &[&str]| {
            let mut options = storage.options.iter();
            options
                .find(|option| names.contains(&option.as_str()))
                .cloned()
        };
        let remount =
            |option: &str| format!("mount -o remount,{option} {}", quoted(&storage.mount_point));
        if let Some(option) = has(&["nobarrier", "barrier=0"]) {
            let found = format!("mounted with {option}: acknowledged messages can be lost");
            return Some((found, remount("barrier=1")));
        }
        if has(&["sync"]).is_some() {
            return Some(("mounted with sync".to_owned(), remount("async")));
        }
        // The kernel shows the two that spare writes, and never the third.
        let on_disk = ON_DISK.contains(&storage.file_system.as_str());
        let strict = on_disk && has(&["relatime", "noatime"]).is_none();
        let found = || "mounted with strictatime (neither relatime nor noatime)".to_owned();
        strict.then(|| (found(), remount("relatime")))
    })
}

/// File systems that write access times to a disk of this machine.
const ON_DISK: [&str; 7] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs"];

fn nfs_sizes(machine: &Machine) -> Verdict {
    if !machine.storage.iter().any(is_nfs) {
        return Verdict::skip("nothing is on NFS");
    }
    each_storage(machine, "rsize and wsize are large enough", |storage| {
        let size = |name: &str| {
            let mut options = storage.options.iter();
            options.find_map(|option| option.strip_prefix(name)?.parse::<u64>().ok())
        };
        // The papers use 524288 and 1048576.
        let small = |size: Option<u64>| size.is_some_and(|size| size < 524_288);
        let (read, write) = (size("rsize="), size("wsize="));
        let wrong = is_nfs(storage) && (small(read) || small(write));
        wrong.then(|| {
            let shown = |size: Option<u64>| size.map_or("?".to_owned(), |size| size.to_string());
            let found = format!("rsize {}, wsize {}", shown(read), shown(write));
            let remedy = format!(
                "mount again with -o rsize=1048576,wsize=1048576: {}",
                quoted(&storage.mount_point)
            );
            (found, remedy)
        })
    })
}

fn is_nfs(storage: &Storage) -> bool {
    storage.file_system.starts_with("nfs")
}

fn nfs_server(machine: &Machine) -> Verdict {
    match machine.nfs_server_threads {
        None => Verdict::skip("this machine is no NFS server"),
        Some(threads) if threads >= machine.processors => {
            Verdict::pass(format!("{threads} threads"))
        }
        Some(threads) => Verdict::warn(
            format!("{threads} threads for {} processors", machine.processors),
            format!("rpc.nfsd {}", machine.processors),
        ),
    }
}

fn disk_scheduler(machine: &Machine) -> Verdict {
    let mut known = machine
        .storage
        .iter()
        .filter_map(|storage| storage.scheduler.as_ref());
    let Some((_, first)) = known.next() else {
        return Verdict::skip("the devices have none, or it is not visible here");
    };
    let good = format!("[{}]", chosen(first));
    each_storage(machine, &good, |storage| {
        let (file, line) = storage.scheduler.as_ref()?;
        let chosen = chosen(line);
        let fair = ["bfq", "cfq"].contains(&chosen);
        let remedy = format!("echo none > {}", quoted(file));
        fair.then(|| (format!("{chosen} is chosen"), remedy))
    })
}

/// The word in brackets.
fn chosen(line: &str) -> &str {
    let inside = line
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(line.trim(), |(word, _)| word)
}

fn huge_pages(machine: &Machine) -> Verdict {
    match machine.huge_pages.as_deref().map(chosen) {
        None => Verdict::skip("not visible here"),
        Some("always") => Verdict::warn(
            "transparent huge pages: always",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some(other) => Verdict::pass(format!("transparent huge pages: {other}")),
    }
}

fn governor(machine: &Machine) -> Verdict {
    match machine.governor.as_deref().map(str::trim) {
        None => Verdict::skip("not visible here (in a virtual machine the host decides)"),
        Some("performance") => Verdict::pass("performance"),
        Some(other) => Verdict::warn(other, "cpupower frequency-set -g performance"),
    }
}

fn turbo(machine: &Machine) -> Verdict {
    match machine.turbo {
        None => Verdict::skip("not visible here"),
        Some(turbo) if turbo.off => Verdict::pass("off"),
        Some(turbo) => Verdict::warn(
            "on; in production that is right, for figures that shall repeat it is not",
            turbo.switch_off,
        ),
    }
}

fn hyper_threading(machine: &Machine) -> Verdict {
    match machine.smt.as_deref().map(str::trim) {
        Some("on") => Verdict::pass("on"),
        Some("off") => Verdict::warn("off", "echo on > /sys/devices/system/cpu/smt/control"),
        _ => Verdict::skip("the processors have none, or it is not visible here"),
    }
}

fn processors(machine: &Machine) -> Verdict {
    match machine.processors {
        0 => Verdict::skip("not visible here"),
        1 => Verdict::warn("1", "give the machine or container two or more; see: nproc"),
        count => Verdict::pass(count.to_string()),
    }
}

fn networks(machine: &Machine) -> Verdict {
    match machine.local_only {
        Some(true) => Verdict::skip("all listeners are on this machine's own address"),
        _ => Verdict::skip("which traffic shares a network cannot be told from here"),
    }
}

#[cfg(test)]
mod tests;
