//! The ten practices that the MQ performance papers recommend, as checks of a running queue manager.
//!
//! Invariant: each check is a function of facts and of nothing else.

use super::manager::{Manager, Queue};
use super::verdict::{Finding, Verdict};
use crate::typed::{program, quoted};

const SECTION: &str = "queue manager";

type Check = (&'static str, &'static str, fn(&Manager) -> Verdict);

/// In the order of the papers.
const CHECKS: [Check; 10] = [
    (
        "persistence",
        "Every persistent message is forced to the log; one that may be lost in a crash need not be.",
        persistence,
    ),
    (
        "log size",
        "A log that is too small checkpoints often, and backs long units of work out; one far beyond a gigabyte \
         only makes restart longer.",
        log_size,
    ),
    (
        "concurrency",
        "Commits of many applications share one write of the log; one alone waits for the disk each time.",
        concurrency,
    ),
    (
        "several queues",
        "All handles of one queue share its lock; applications that need not share a queue should not.",
        spread,
    ),
    (
        "syncpoint",
        "Outside syncpoint every persistent put and get waits for the disk by itself; in syncpoint only the commit does.",
        syncpoint,
    ),
    (
        "log buffer",
        "What many applications log during one write must fit into the buffer, or they wait for room in it.",
        log_buffer,
    ),
    (
        "error logs elsewhere",
        "A disk full of error logs stops the recovery log, and what is written there slows its writes.",
        error_logs,
    ),
    (
        "short units of work",
        "The log cannot be reused beyond the beginning of the oldest unit of work, and restart reads from there.",
        units_of_work,
    ),
    (
        "known requirements",
        "Queues that fill and messages nobody could deliver mean that rates or depths are not what was planned for.",
        requirements,
    ),
    (
        "infrastructure",
        "A persistent message cannot be faster than its disk: measure disk and network by themselves first.",
        infrastructure,
    ),
];

/// Makes all checks.
pub(crate) fn check(manager: &Manager) -> Vec<Finding> {
    let made = CHECKS
        .iter()
        .map(|(name, why, judge)| Finding::new(SECTION, name, why, judge(manager)));
    made.collect()
}

fn persistence(manager: &Manager) -> Verdict {
    let all = manager.queues.len();
    let persistent: Vec<&Queue> = manager.queues.iter().filter(|q| q.persistent).collect();
    let Some(first) = persistent.first() else {
        return match all {
            0 => Verdict::skip("there are no application queues"),
            _ => Verdict::pass(format!(
                "none of {all} queues has DEFPSIST(YES); applications decide"
            )),
        };
    };
    let found = format!("{} of {all} queues have DEFPSIST(YES)", persistent.len());
    // That of several queues none may lose a message is possible, but rarely a decision.
    match persistent.len() == all && all > 1 {
        false => Verdict::pass(found),
        true => Verdict::warn(
            found,
            format!(
                "where a crash may lose messages: {}",
                manager.mqsc(&format!("ALTER QLOCAL('{}') DEFPSIST(NO)", first.name))
            ),
        ),
    }
}

/// Smallest primary log that is not warned about, and the size that is proposed.
const LOG_ENOUGH: u64 = 256 << 20;
const LOG_WANTED: u64 = 1 << 30;
/// Per cent of the log in use from which on it is warned about.
const LOG_IN_USE: u64 = 75;

/// Log files that there may be, primary and secondary.
const LOG_FILES: u64 = 511;
/// The largest `LogFilePages`.
const LOG_PAGES: u64 = 65_535;

fn shown_size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        mib => format!("{mib} MiB"),
    }
}

fn log_size(manager: &Manager) -> Verdict {
    let file = (manager.log_file_pages * 4096).max(1);
    let files = manager.log_primary_files;
    let size = file * files.running;
    let mut found = format!("{} in {} primary files", shown_size(size), files.running);
    let mut used_up = false;
    if let Some(percent) = manager.log_in_use {
        found.push_str(&format!(", {percent} % in use"));
        used_up |= percent >= LOG_IN_USE;
    }
    if manager.backed_out_for_space > 0 {
        found.push_str(&format!(
            "; AMQ7469 (backed out for want of log space) {} times in the error logs",
            manager.backed_out_for_space
        ));
        used_up = true;
    }
    let differs = files.differs("LogPrimaryFiles");
    let wrong = size < LOG_ENOUGH || used_up || differs.is_some();
    found.push_str(&differs.unwrap_or_default());
    if !wrong {
        return Verdict::pass(found);
    }
    let needed = match used_up {
        true => LOG_WANTED.max(2 * size),
        false => LOG_ENOUGH,
    };
    Verdict::warn(found, enlarge(manager, needed))
}

/// How a log comes to so many bytes at least.
fn enlarge(manager: &Manager, needed: u64) -> String {
    let file = (manager.log_file_pages * 4096).max(1);
    let files = manager.log_primary_files;
    if files.written != files.running && file * files.written >= needed {
        return manager.restart();
    }
    let wanted = needed.max(LOG_WANTED);
    let most = LOG_FILES.saturating_sub(manager.log_secondary_files);
    if file * most >= needed {
        return manager.set("LogPrimaryFiles", wanted.div_ceil(file).min(most));
    }
    // Sixteen files are few enough to be made at once, and enough to be used again one by one.
    let pages = (wanted / 16 / 4096).clamp(1, LOG_PAGES);
    let count = wanted.div_ceil(pages * 4096).min(LOG_FILES - 1);
    format!(
        "its log files have {} and keep that, and there are never more than {LOG_FILES}: create the queue manager \
         anew with larger ones, {} create -lf {pages} -lp {count} {}{}",
        shown_size(file),
        manager.program,
        manager.name,
        manager.place
    )
}

fn concurrency(manager: &Manager) -> Verdict {
    match manager.applications {
        0 => Verdict::skip("no application is connected"),
        1 => Verdict::warn(
            "1 application is connected",
            format!(
                "run several, or several threads with a connection each; who they are: {}",
                manager.mqsc("DISPLAY CONN(*) APPLTAG USERID")
            ),
        ),
        count => Verdict::pass(format!("{count} applications are connected")),
    }
}

/// Fewest open handles that say something about how work is spread.
const HANDLES: u64 = 10;

fn spread(manager: &Manager) -> Verdict {
    let all: u64 = manager.queues.iter().map(|queue| queue.handles).sum();
    let busiest = manager.queues.iter().max_by_key(|queue| queue.handles);
    let Some(busiest) = busiest.filter(|_| all >= HANDLES) else {
        return Verdict::skip(format!("{all} handles are open, too few to tell"));
    };
    let found = format!(
        "{} of {all} open handles are on {}",
        busiest.handles, busiest.name
    );
    match busiest.handles * 10 > all * 8 {
        false => Verdict::pass(found),
        true => Verdict::warn(
            found,
            format!(
                "give applications queues of their own, for example: {}",
                manager.mqsc(&format!(
                    "DEFINE QLOCAL(NEW.QUEUE) LIKE('{}')",
                    busiest.name
                ))
            ),
        ),
    }
}

/// Fewest forces of the log that say something about how it is used.
const FORCES: u64 = 100;

fn syncpoint(manager: &Manager) -> Verdict {
    let counted = manager.counted.unwrap_or_default();
    // A put that found its record forced by somebody else waited for nobody.
    let alone = counted.alone.min(counted.forces);
    let open = format!(
        "{} of {} applications have a unit of work open",
        manager.in_unit_of_work, manager.applications
    );
    match counted.forces {
        forces if forces >= FORCES => {
            let found = format!(
                "{alone} of {forces} forces of the log were for single puts or gets; {open}"
            );
            match alone * 2 > forces {
                false => Verdict::pass(found),
                true => Verdict::warn(
                    found,
                    format!(
                        "put and get in syncpoint, several messages to a commit; who they are: {}",
                        manager.mqsc("DISPLAY CONN(*) APPLTAG UOWSTATE")
                    ),
                ),
            }
        }
        forces => Verdict::skip(format!(
            "the log was forced {forces} times since the start, too few to tell; {open}"
        )),
    }
}

/// `LogBufferPages` that the papers recommend.
const BUFFER: u64 = 4096;

fn log_buffer(manager: &Manager) -> Verdict {
    let Some(pages) = manager.log_buffer_pages else {
        return Verdict::skip("the queue manager does not say which LogBufferPages is in force");
    };
    let mut found = format!(
        "LogBufferPages is {} (recommended: {BUFFER})",
        pages.running
    );
    let differs = pages.differs("LogBufferPages");
    if pages.running >= BUFFER && differs.is_none() {
        return Verdict::pass(found);
    }
    found.push_str(&differs.unwrap_or_default());
    match pages.written >= BUFFER {
        true => Verdict::warn(found, manager.restart()),
        false => Verdict::warn(found, manager.set("LogBufferPages", BUFFER)),
    }
}

fn error_logs(manager: &Manager) -> Verdict {
    match manager.errors_with_log {
        None => Verdict::skip("it cannot be told on which devices they are"),
        Some(false) => Verdict::pass("the recovery log has a device without the error logs"),
        Some(true) => Verdict::warn(
            "error logs and recovery log are on one device",
            format!(
                "create queue managers with their log on a disk of its own: {} create -ld /another/disk QM",
                manager.program
            ),
        ),
    }
}

/// Seconds from which on a unit of work is long.
const LONG: u64 = 60;

fn units_of_work(manager: &Manager) -> Verdict {
    match &manager.oldest_unit_of_work {
        None => Verdict::pass("no unit of work that has written to the log is open"),
        Some((seconds, _)) if *seconds < LONG => {
            Verdict::pass(format!("the oldest is {seconds} s old"))
        }
        Some((seconds, application)) => Verdict::warn(
            format!("one of {application} has been open for {seconds} s"),
            format!(
                "find it and have it commit more often: {}",
                manager.mqsc("DISPLAY CONN(*) WHERE(UOWLOGDA NE ' ') ALL")
            ),
        ),
    }
}

fn requirements(manager: &Manager) -> Verdict {
    if let Some((queue, count)) = manager
        .dead_letters
        .as_ref()
        .filter(|(_, count)| *count > 0)
    {
        let (program, name, place) = (&manager.program, &manager.name, &manager.place);
        return Verdict::warn(
            format!("{count} messages are on the dead-letter queue {queue}"),
            format!("see which, and why: {program} browse {queue} {name}{place}"),
        );
    }
    let full = |queue: &&Queue| queue.max_depth > 0 && queue.depth * 5 >= queue.max_depth * 4;
    let mut queues = manager.queues.iter().filter(full);
    match queues.next() {
        Some(queue) => Verdict::warn(
            format!(
                "{} holds {} of at most {} messages; so full are {} queues",
                queue.name,
                queue.depth,
                queue.max_depth,
                1 + queues.count()
            ),
            format!(
                "get faster, or: {}",
                manager.mqsc(&format!(
                    "ALTER QLOCAL('{}') MAXDEPTH({})",
                    queue.name,
                    queue.max_depth.saturating_mul(10).min(999_999_999)
                ))
            ),
        ),
        None => Verdict::pass("no queue is nearly full, no message is a dead letter"),
    }
}

/// What a SAN is expected to stay below, in nanoseconds.
const SLOW_DISK: u64 = 7_000_000;

fn infrastructure(manager: &Manager) -> Verdict {
    let measure = measure(&manager.log_folder);
    if manager.slow_writes > 0 {
        let found = format!(
            "AMQ6729 (slow input or output) {} times in the error logs",
            manager.slow_writes
        );
        return Verdict::warn(found, measure);
    }
    if let Some(measured) = manager.log_write_ns {
        return measured_disk(&manager.log_folder, measured);
    }
    let counted = manager.counted.filter(|counted| counted.writes >= FORCES);
    let Some(counted) = counted else {
        return Verdict::skip("too few writes of the log to tell; --disk measures")
            .with_remedy(measure);
    };
    let average = counted.write_ns / counted.writes.max(1);
    let found = format!(
        "{} writes of the log since the start took {} us on average",
        counted.writes,
        average.div_ceil(1_000)
    );
    disk(&manager.log_folder, average, found)
}

/// The command that measures a folder's disk.
fn measure(folder: &str) -> String {
    format!("{} disktest --dir {}", program(), quoted(folder))
}

/// The verdict on a log's disk of which average and 99th percentile of a write were measured, in nanoseconds.
pub(super) fn measured_disk(folder: &str, (average, p99): (u64, u64)) -> Verdict {
    let found = format!(
        "a forced 4 KiB write takes {} us on average, {} us at the 99th percentile",
        average.div_ceil(1_000),
        p99.div_ceil(1_000)
    );
    disk(folder, average, found)
}

fn disk(folder: &str, average: u64, found: String) -> Verdict {
    match average < SLOW_DISK {
        true => Verdict::pass(found),
        false => Verdict::warn(
            found,
            format!("give the log a faster disk; compare: {}", measure(folder)),
        ),
    }
}

#[cfg(test)]
mod tests;
