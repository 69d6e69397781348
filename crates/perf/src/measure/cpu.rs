//! Processor time and resident memory of a process, from `/proc`.
//!
//! The scheduler's own account of each thread (`task/TID/schedstat`) counts nanoseconds; the kernel's
//! account of the process (`stat`) counts ticks, a hundredth of a second. The first is used as long as no thread
//! has come or gone between two readings, because a thread takes its account with it; the second always holds.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads how much processor time a process has used.
#[derive(Clone, Debug)]
pub(crate) struct CpuClock {
    folder: PathBuf,
    tick_ns: u64,
}

/// One reading of a [`CpuClock`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuReading {
    /// Thread and its nanoseconds; empty where the kernel keeps no such account.
    threads: BTreeMap<u32, u64>,
    /// User time of the process, all its threads, those gone included.
    user_ns: u64,
    /// System time, the same.
    system_ns: u64,
}

/// Processor time between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuUsed {
    /// All of it, in nanoseconds.
    pub(crate) total_ns: u64,
    /// The part spent in the kernel, in nanoseconds, as fine as the kernel's tick.
    pub(crate) system_ns: u64,
}

impl CpuClock {
    /// Of the process with this number.
    pub(crate) fn of(pid: u32) -> CpuClock {
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        CpuClock {
            folder: Path::new("/proc").join(pid.to_string()),
            tick_ns: 1_000_000_000 / ticks,
        }
    }

    /// What it has used so far.
    pub(crate) fn read(&self) -> io::Result<CpuReading> {
        let stat = fs::read_to_string(self.folder.join("stat"))?;
        let (user, system) = ticks(&stat).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{}: cannot be read", self.folder.join("stat").display()),
            )
        })?;
        Ok(CpuReading {
            threads: self.threads(),
            user_ns: user.saturating_mul(self.tick_ns),
            system_ns: system.saturating_mul(self.tick_ns),
        })
    }

    /// Threads and their nanoseconds; a thread that ends while it is looked at is left out.
    fn threads(&self) -> BTreeMap<u32, u64> {
        let Ok(tasks) = fs::read_dir(self.folder.join("task")) else {
            return BTreeMap::new();
        };
        let one = |entry: fs::DirEntry| {
            let thread = entry.file_name().to_str()?.parse().ok()?;
            let account = fs::read_to_string(entry.path().join("schedstat")).ok()?;
            let used = account.split_whitespace().next()?.parse().ok()?;
            Some((thread, used))
        };
        tasks.filter_map(Result::ok).filter_map(one).collect()
    }
}

impl CpuReading {
    /// What was used since an earlier reading of the same process.
    pub(crate) fn since(&self, earlier: &CpuReading) -> CpuUsed {
        let user = self.user_ns.saturating_sub(earlier.user_ns);
        let system = self.system_ns.saturating_sub(earlier.system_ns);
        let same = !self.threads.is_empty() && self.threads.keys().eq(earlier.threads.keys());
        let sum = |reading: &CpuReading| reading.threads.values().sum::<u64>();
        let total_ns = match same {
            true => sum(self).saturating_sub(sum(earlier)),
            false => user + system,
        };
        CpuUsed {
            total_ns,
            // A tick may be longer than all that was used.
            system_ns: system.min(total_ns),
        }
    }
}

/// User and system time in `stat`, in ticks: fields 14 and 15, behind a name that may hold anything.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Processor time of this process, exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnCpu;

impl OwnCpu {
    /// Nanoseconds used so far by all threads of this process.
    pub(crate) fn read() -> u64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
    }
}

/// Resident memory of a process, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> io::Result<u64> {
    let text = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("statm"))?;
    let pages: u64 = text
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    Ok(pages.saturating_mul(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_skipped() {
        let stat = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 77 33 0 0";
        assert_eq!(ticks(stat), Some((77, 33)));
        assert_eq!(ticks("42 (x) S 1"), None);
        assert_eq!(ticks(""), None);
    }

    fn reading(threads: &[(u32, u64)], user_ns: u64, system_ns: u64) -> CpuReading {
        CpuReading {
            threads: threads.iter().copied().collect(),
            user_ns,
            system_ns,
        }
    }

    #[test]
    fn the_fine_account_holds_only_while_threads_stay() {
        let before = reading(&[(1, 100), (2, 200)], 10_000, 5_000);
        let after = reading(&[(1, 150), (2, 260)], 20_000, 6_000);
        let used = after.since(&before);
        // The coarse account of the kernel's part cannot exceed the whole.
        assert_eq!((used.total_ns, used.system_ns), (110, 110));
        // One thread has gone, another has come: what the gone one used is in the coarse account only.
        let changed = reading(&[(1, 150), (3, 900)], 20_000, 6_000);
        let used = changed.since(&before);
        assert_eq!((used.total_ns, used.system_ns), (11_000, 1_000));
        let none = reading(&[], 20_000, 6_000);
        assert_eq!(none.since(&reading(&[], 0, 0)).total_ns, 26_000);
    }

    #[test]
    fn work_done_here_is_counted() {
        let clock = CpuClock::of(std::process::id());
        let (before, own) = (clock.read().unwrap(), OwnCpu::read());
        let mut sum = 0_u64;
        // Until the account has moved; it moves at least with every tick.
        while OwnCpu::read() - own < 60_000_000 {
            sum = sum.wrapping_mul(31).wrapping_add(OwnCpu::read());
        }
        assert!(sum != 1);
        assert!(clock.read().unwrap().since(&before).total_ns >= 20_000_000);
        assert!(resident_bytes(std::process::id()).unwrap() > 100_000);
        assert!(CpuClock::of(0).read().is_err());
    }
}
