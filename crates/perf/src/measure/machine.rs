//! What the figures were made on: processors, memory, kernel, disk, date, and by a program built from what.
//!
//! Nothing here fails: what the system does not tell stands as `unknown`, because a measurement is worth keeping
//! without it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What is said of what the system does not tell.
const UNKNOWN: &str = "unknown";

/// A machine and the disk that was measured on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Model of the processors.
    pub(crate) processor: String,
    /// Processors this process may use.
    pub(crate) processors: u32,
    /// Memory, in bytes.
    pub(crate) memory_bytes: u64,
    /// Operating system and release.
    pub(crate) kernel: String,
    /// Architecture.
    pub(crate) architecture: String,
    /// File system of the folder that was measured.
    pub(crate) file_system: String,
    /// Device below it, with what is known of its cache.
    pub(crate) disk: String,
    /// Processes waiting for a processor, averaged over the last minute, when the run began.
    pub(crate) load: String,
}

impl Machine {
    /// This machine, and the disk that holds `folder`.
    pub(crate) fn describe(folder: &Path) -> Machine {
        let name = rustix::system::uname();
        let text = |field: &std::ffi::CStr| field.to_string_lossy().into_owned();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let (file_system, source) = mount_of(&mounts, &whole);
        Machine {
            processor: field_of("/proc/cpuinfo", "model name"),
            processors: u32::try_from(cores).unwrap_or(u32::MAX),
            memory_bytes: kibibytes(&field_of("/proc/meminfo", "MemTotal")) * 1024,
            kernel: format!("{} {}", text(name.sysname()), text(name.release())),
            architecture: text(name.machine()),
            file_system,
            disk: disk_of(&whole, &source),
            load: fs::read_to_string("/proc/loadavg")
                .ok()
                .and_then(|load| load.split_whitespace().next().map(str::to_owned))
                .unwrap_or_else(|| UNKNOWN.to_owned()),
        }
    }

    /// In one line, as it stands above a table.
    pub(crate) fn line(&self) -> String {
        format!(
            "{} × {}, {} GiB, {}, {} on {}",
            self.processors,
            self.processor,
            self.memory_bytes.div_ceil(1 << 30),
            self.kernel,
            self.file_system,
            self.disk
        )
    }
}

/// The first value of a field in one of the kernel's `NAME : VALUE` files.
fn field_of(file: &str, field: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == field).then(|| value.trim().to_owned())
    });
    value.unwrap_or_else(|| UNKNOWN.to_owned())
}

fn kibibytes(text: &str) -> u64 {
    let number = text.split_whitespace().next();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// File system and source of the innermost mount that holds `folder`. Later lines cover earlier ones.
fn mount_of(mounts: &str, folder: &Path) -> (String, String) {
    let unknown = || (UNKNOWN.to_owned(), UNKNOWN.to_owned());
    let mut best: Option<(usize, (String, String))> = None;
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else {
            continue;
        };
        let point = place.split(' ').nth(4).unwrap_or("").replace("\\040", " ");
        let mut kind = kind.split(' ');
        let (Some(name), Some(source)) = (kind.next(), kind.next()) else {
            continue;
        };
        let depth = point.len();
        let inside = folder.starts_with(&point);
        if inside && best.as_ref().is_none_or(|(least, _)| depth >= *least) {
            best = Some((depth, (name.to_owned(), source.to_owned())));
        }
    }
    best.map_or_else(unknown, |(_, found)| found)
}

/// The device below a folder: its name, whether it turns, what its cache does.
fn disk_of(folder: &Path, source: &str) -> String {
    let existing = folder.ancestors().find(|folder| folder.exists());
    let Some(device) = existing.and_then(|folder| fs::metadata(folder).ok()) else {
        return source.to_owned();
    };
    let (major, minor) = (
        rustix::fs::major(device.dev()),
        rustix::fs::minor(device.dev()),
    );
    let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let Ok(place) = fs::canonicalize(link) else {
        return source.to_owned();
    };
    // A partition has its queue one level up.
    let queue = [place.join("queue"), place.join("..").join("queue")]
        .into_iter()
        .find(|queue| queue.is_dir());
    let Some(queue) = queue else {
        return source.to_owned();
    };
    let value = |name: &str| {
        let text = fs::read_to_string(queue.join(name)).unwrap_or_default();
        text.trim().to_owned()
    };
    let mut words = vec![source.to_owned()];
    if value("rotational") == "1" {
        words.push("rotational".to_owned());
    }
    let cache = value("write_cache");
    if !cache.is_empty() {
        words.push(format!("cache {cache}"));
    }
    words.join(", ")
}

/// Now, in UTC.
pub(crate) fn now_text() -> String {
    let now = OffsetDateTime::now_utc();
    let whole = now.replace_nanosecond(0).unwrap_or(now);
    whole.format(&Rfc3339).unwrap_or_default()
}

/// The commit that was checked out where this program was built; none if that was no checkout.
pub(crate) fn built_from() -> Option<String> {
    let commit = env!("POSTHASTE_COMMIT");
    (!commit.is_empty()).then(|| commit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_counts() {
        let mounts = "\
22 27 0:21 / / rw,relatime - ext4 /dev/vda rw
23 27 0:22 / /data rw shared:1 - xfs /dev/nvme0n1 rw
24 27 0:22 / /data/with\\040space rw - tmpfs tmpfs rw
25 27 0:22 / /database rw - btrfs /dev/x rw
garbage";
        for (folder, expected) in [
            ("/data/qm", ("xfs", "/dev/nvme0n1")),
            ("/data/with space/qm", ("tmpfs", "tmpfs")),
            ("/databases", ("ext4", "/dev/vda")),
            ("/", ("ext4", "/dev/vda")),
        ] {
            let (kind, source) = mount_of(mounts, Path::new(folder));
            assert_eq!((kind.as_str(), source.as_str()), expected, "{folder}");
        }
        assert_eq!(mount_of("", Path::new("/")).0, UNKNOWN);
    }

    #[test]
    fn this_machine_can_be_described() {
        let machine = Machine::describe(Path::new("."));
        assert!(machine.processors >= 1);
        assert!(machine.memory_bytes > 1 << 20);
        assert!(machine.kernel.starts_with("Linux "));
        assert!(machine.line().contains(&machine.file_system));
        assert_eq!(now_text().len(), "2026-11-21T07:00:00Z".len());
    }
}
