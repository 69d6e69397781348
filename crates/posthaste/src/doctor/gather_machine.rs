//! Facts about the machine, from /proc and /sys.
//!
//! Invariant: what cannot be read is absent, never guessed; nothing is judged here, and nothing is changed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use posthaste_server::Status;

use super::machine::{Machine, SETTINGS, Storage, Turbo};

/// Everything about the machine. `folders`: what they are for, and where; `running`: the process whose
/// limits count.
pub(crate) fn gather(folders: &[(&'static str, PathBuf)], running: Option<&Status>) -> Machine {
    let read = |path: &str| fs::read_to_string(path).ok();
    let settings = SETTINGS.iter().filter_map(|name| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        Some((*name, read(&path)?))
    });
    let process = running.map(|status| status.process);
    let limits = match process {
        Some(process) => read(&format!("/proc/{process}/limits")),
        None => read("/proc/self/limits"),
    };
    let limits = limits.unwrap_or_default();
    let mounts = read("/proc/self/mountinfo").unwrap_or_default();
    let cpu = "/sys/devices/system/cpu";
    Machine {
        settings: settings.collect(),
        limits_of: match process {
            Some(process) => format!("of process {process}"),
            None => "of this command".to_owned(),
        },
        open_files: limit(&limits, "Max open files"),
        processes: limit(&limits, "Max processes"),
        storage: folders
            .iter()
            .filter_map(|(what, folder)| storage(what, folder, &mounts))
            .collect(),
        huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled"),
        governor: read(&format!("{cpu}/cpu0/cpufreq/scaling_governor")),
        turbo: turbo(Path::new(cpu)),
        smt: read(&format!("{cpu}/smt/control")),
        nfs_server_threads: read("/proc/fs/nfsd/threads").and_then(|text| text.trim().parse().ok()),
        processors: std::thread::available_parallelism().map_or(0, |count| count.get() as u64),
        local_only: running.map(|status| {
            let mut listeners = status.listeners.iter();
            listeners.all(|(_, address)| address.ip().is_loopback())
        }),
    }
}

/// The switch that this machine's driver has.
fn turbo(cpu: &Path) -> Option<Turbo> {
    let switches = [
        (
            "intel_pstate/no_turbo",
            "1",
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
        ),
        (
            "cpufreq/boost",
            "0",
            "echo 0 > /sys/devices/system/cpu/cpufreq/boost",
        ),
    ];
    switches.into_iter().find_map(|(file, off, switch_off)| {
        let text = fs::read_to_string(cpu.join(file)).ok()?;
        let off = text.trim() == off;
        Some(Turbo { off, switch_off })
    })
}

/// Soft and hard value of a line of /proc/PID/limits.
fn limit(limits: &str, name: &str) -> Option<(u64, u64)> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let mut values = line.split_whitespace().map(|word| match word {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    });
    Some((values.next()??, values.next()??))
}

fn storage(what: &'static str, folder: &Path, mounts: &str) -> Option<Storage> {
    let folder = fs::canonicalize(folder).ok()?;
    let system = rustix::fs::statvfs(&folder).ok()?;
    let mount = mount_of(mounts, &folder);
    Some(Storage {
        what,
        mount_point: mount.point,
        file_system: mount.file_system,
        options: mount.options,
        size: system.f_blocks.saturating_mul(system.f_frsize),
        free: system.f_bavail.saturating_mul(system.f_frsize),
        scheduler: scheduler(&folder),
    })
}

#[derive(Debug, Default)]
struct Mount {
    point: String,
    file_system: String,
    options: Vec<String>,
}

/// The innermost mount that holds a folder. Later lines cover earlier ones.
fn mount_of(mounts: &str, folder: &Path) -> Mount {
    let mut best = Mount::default();
    for line in mounts.lines() {
        let Some((place, rest)) = line.split_once(" - ") else {
            continue;
        };
        let mut place = place.split(' ').skip(4);
        let (Some(point), Some(options)) = (place.next(), place.next()) else {
            continue;
        };
        let point = unescaped(point);
        if !folder.starts_with(&point) || point.len() < best.point.len() {
            continue;
        }
        let mut rest = rest.split(' ');
        let file_system = rest.next().unwrap_or("").to_owned();
        let all = options
            .split(',')
            .chain(rest.nth(1).unwrap_or("").split(','));
        best = Mount {
            point,
            file_system,
            options: all.map(str::to_owned).collect(),
        };
    }
    best
}

/// A path of mountinfo, where the kernel writes what would end a word as an octal number.
fn unescaped(path: &str) -> String {
    let path = path.replace("\\040", " ").replace("\\011", "\t");
    path.replace("\\012", "\n").replace("\\134", "\\")
}

/// The scheduler file and line of the device that holds a folder; a partition's device is one level up.
fn scheduler(folder: &Path) -> Option<(String, String)> {
    let device = fs::metadata(folder).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    [
        device.join("queue/scheduler"),
        device.join("../queue/scheduler"),
    ]
    .iter()
    .find_map(|path| {
        let line = fs::read_to_string(path).ok()?;
        Some((path.display().to_string(), line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max processes             unlimited            193102               processes \n\
                    Max open files            1024                 1048576              files     \n\
                    Max locked memory         x                    8388608              bytes     \n";
        assert_eq!(limit(text, "Max open files"), Some((1024, 1_048_576)));
        assert_eq!(limit(text, "Max processes"), Some((u64::MAX, 193_102)));
        assert_eq!(limit(text, "Max locked memory"), None);
        assert_eq!(limit(text, "Max stack size"), None);
    }

    #[test]
    fn the_innermost_mount_counts() {
        let mounts = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,barrier=0\n\
                      30 22 0:26 / /data rw,nosuid - nfs4 host:/x rw,rsize=4096\n\
                      31 22 0:27 / /with\\040blank rw - xfs /dev/b rw\n\
                      broken\n";
        let found = |folder: &str| mount_of(mounts, Path::new(folder));
        let data = found("/data/qmgrs");
        assert_eq!(
            (data.file_system.as_str(), data.point.as_str()),
            ("nfs4", "/data")
        );
        assert_eq!(data.options, ["rw", "nosuid", "rw", "rsize=4096"]);
        let root = found("/database");
        assert_eq!(
            (root.file_system.as_str(), root.point.as_str()),
            ("ext4", "/")
        );
        assert!(root.options.contains(&"barrier=0".to_owned()));
        let blank = found("/with blank/x");
        assert_eq!(
            (blank.file_system.as_str(), blank.point.as_str()),
            ("xfs", "/with blank")
        );
    }

    #[test]
    fn turbo_is_switched_off_where_it_is_switched() {
        let cpu = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = cpu.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(turbo(cpu.path()), None);
        write("cpufreq/boost", "1\n");
        let boost = turbo(cpu.path()).unwrap();
        assert!(!boost.off && boost.switch_off.ends_with("cpu/cpufreq/boost"));
        write("cpufreq/boost", "0\n");
        assert!(turbo(cpu.path()).unwrap().off);
        write("intel_pstate/no_turbo", "0\n");
        let intel = turbo(cpu.path()).unwrap();
        assert!(!intel.off && intel.switch_off.ends_with("no_turbo"));
    }

    #[test]
    fn this_machine_tells_something() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [
            ("recovery log", folder.path().to_owned()),
            ("nothing", "/no/such/folder".into()),
        ];
        let machine = gather(&folders, None);
        assert_eq!(machine.storage.len(), 1);
        assert!(machine.storage[0].size > 0 && !machine.storage[0].file_system.is_empty());
        assert!(machine.processors > 0 && machine.open_files.is_some());
        assert_eq!(machine.limits_of, "of this command");
        assert_eq!(machine.local_only, None);
    }
}
