//! The ten practices that the MQ performance papers recommend, as checks of a running queue manager.
//!
//! Invariant: each check is a function of facts and of nothing else.

use super::verdict::{Finding, Verdict};
use crate::run::quoted;

const SECTION: &str = "queue manager";

/// A queue of applications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) depth: u64,
    pub(crate) max_depth: u64,
    /// DEFPSIST(YES).
    pub(crate) persistent: bool,
    /// Handles open for input and for output.
    pub(crate) handles: u64,
}

/// What a queue manager has counted since it started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Calls that waited for a force of the log: commits, and persistent puts and gets outside syncpoint.
    pub(crate) forces: u64,
    /// Units of work committed, those that changed nothing persistent included.
    pub(crate) commits: u64,
    /// Writes of the log, and the time that they took together, in nanoseconds.
    pub(crate) writes: u64,
    pub(crate) write_ns: u64,
}

/// What is known of a running queue manager.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manager {
    pub(crate) name: String,
    /// Path of qm.ini.
    pub(crate) configuration: String,
    /// What commands need besides to find it: nothing, or ` --data-dir DIR`.
    pub(crate) place: String,
    /// `LogFilePages`, `LogPrimaryFiles`.
    pub(crate) log_file_pages: u64,
    pub(crate) log_primary_files: u64,
    /// `LogBufferPages`; 0 has been resolved.
    pub(crate) log_buffer_pages: u64,
    /// Per cent of the primary log that restart would need now.
    pub(crate) log_in_use: Option<u64>,
    pub(crate) log_folder: String,
    /// AMQ7469 in the error logs.
    pub(crate) backed_out_for_space: u64,
    /// AMQ6729 in the error logs.
    pub(crate) slow_writes: u64,
    /// Whether error logs are on the device of the recovery log.
    pub(crate) errors_with_log: Option<bool>,
    /// Queues whose names do not begin with SYSTEM. and that are no temporary ones.
    pub(crate) queues: Vec<Queue>,
    /// Messages on the dead-letter queue; none if there is no such queue.
    pub(crate) dead_letters: Option<u64>,
    /// Applications that are connected, without the queue manager's own and this command.
    pub(crate) applications: u64,
    /// Of those, with a unit of work open.
    pub(crate) in_unit_of_work: u64,
    /// The oldest unit of work that has written to the log: seconds, and its application.
    pub(crate) oldest_unit_of_work: Option<(u64, String)>,
    /// None if it could not be asked.
    pub(crate) counted: Option<Counted>,
    /// Average and 99th percentile of a 4 KiB log write, in nanoseconds, if it was measured.
    pub(crate) log_write_ns: Option<(u64, u64)>,
}

impl Manager {
    /// A command that carries out MQSC.
    fn mqsc(&self, command: &str) -> String {
        format!(
            "echo \"{command}\" | posthaste mqsc {}{}",
            self.name, self.place
        )
    }

    /// Commands that change a number in qm.ini and have it take effect.
    fn set(&self, key: &str, value: u64) -> String {
        let (name, file, place) = (&self.name, quoted(&self.configuration), &self.place);
        format!(
            "sed -i 's/{key}=.*/{key}={value}/' {file}; posthaste stop -i {name}{place}; posthaste start {name}{place}"
        )
    }
}

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
                manager.mqsc(&format!("ALTER QLOCAL({}) DEFPSIST(NO)", first.name))
            ),
        ),
    }
}

/// Smallest primary log that is not warned about, and the size that is proposed.
const LOG_ENOUGH: u64 = 256 << 20;
const LOG_WANTED: u64 = 1 << 30;
/// Per cent of the log in use from which on it is warned about.
const LOG_IN_USE: u64 = 75;

fn log_size(manager: &Manager) -> Verdict {
    let file = (manager.log_file_pages * 4096).max(1);
    let size = file * manager.log_primary_files;
    let mut found = format!(
        "{} MiB in {} primary files",
        size >> 20,
        manager.log_primary_files
    );
    let mut wrong = size < LOG_ENOUGH;
    if let Some(percent) = manager.log_in_use {
        found.push_str(&format!(", {percent} % in use"));
        wrong |= percent >= LOG_IN_USE;
    }
    if manager.backed_out_for_space > 0 {
        found.push_str(&format!(
            "; AMQ7469 (backed out for want of log space) {} times in the error logs",
            manager.backed_out_for_space
        ));
        wrong = true;
    }
    if !wrong {
        return Verdict::pass(found);
    }
    let files = LOG_WANTED.max(2 * size).div_ceil(file).min(510);
    Verdict::warn(found, manager.set("LogPrimaryFiles", files))
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
                manager.mqsc(&format!("DEFINE QLOCAL(NEW.QUEUE) LIKE({})", busiest.name))
            ),
        ),
    }
}

/// Fewest forces of the log that say something about how it is used.
const FORCES: u64 = 100;

fn syncpoint(manager: &Manager) -> Verdict {
    let counted = manager.counted.unwrap_or_default();
    // Commits that changed nothing persistent make this smaller than it is, never larger.
    let alone = counted.forces.saturating_sub(counted.commits);
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
    let found = format!(
        "LogBufferPages is {} (recommended: {BUFFER})",
        manager.log_buffer_pages
    );
    match manager.log_buffer_pages >= BUFFER {
        true => Verdict::pass(found),
        false => Verdict::warn(found, manager.set("LogBufferPages", BUFFER)),
    }
}

fn error_logs(manager: &Manager) -> Verdict {
    match manager.errors_with_log {
        None => Verdict::skip("it cannot be told on which devices they are"),
        Some(false) => Verdict::pass("the recovery log has a device without the error logs"),
        Some(true) => Verdict::warn(
            "error logs and recovery log are on one device",
            "create queue managers with their log on a disk of its own: posthaste create -ld /another/disk QM",
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
                manager.mqsc("DISPLAY CONN(*) WHERE(UOWSTATE NE NONE) ALL")
            ),
        ),
    }
}

fn requirements(manager: &Manager) -> Verdict {
    if let Some(count) = manager.dead_letters.filter(|count| *count > 0) {
        return Verdict::warn(
            format!("{count} messages are on the dead-letter queue"),
            format!("see why: {}", manager.mqsc("DISPLAY QMGR DEADQ")),
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
                    "ALTER QLOCAL({}) MAXDEPTH({})",
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
    let measure = format!("posthaste disktest --dir {}", quoted(&manager.log_folder));
    if manager.slow_writes > 0 {
        let found = format!(
            "AMQ6729 (slow input or output) {} times in the error logs",
            manager.slow_writes
        );
        return Verdict::warn(found, measure);
    }
    let us = |ns: u64| ns.div_ceil(1_000);
    let counted = manager.counted.filter(|counted| counted.writes >= FORCES);
    let (average, found) = match (manager.log_write_ns, counted) {
        (Some((average, p99)), _) => (
            average,
            format!(
                "a forced 4 KiB write takes {} us on average, {} us at the 99th percentile",
                us(average),
                us(p99)
            ),
        ),
        (None, Some(counted)) => {
            let average = counted.write_ns / counted.writes.max(1);
            let found = format!(
                "{} writes of the log since the start took {} us on average",
                counted.writes,
                us(average)
            );
            (average, found)
        }
        (None, None) => {
            return Verdict::skip("too few writes of the log to tell; --disk measures")
                .with_remedy(measure);
        }
    };
    match average < SLOW_DISK {
        true => Verdict::pass(found),
        false => Verdict::warn(
            found,
            format!("give the log a faster disk; compare: {measure}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Status::{self, Pass, Skip, Warn};
    use super::*;

    fn manager() -> Manager {
        Manager {
            name: "QM1".to_owned(),
            configuration: "/q/qm.ini".to_owned(),
            log_file_pages: 16_384,
            log_primary_files: 16,
            log_buffer_pages: 4096,
            log_folder: "/log".to_owned(),
            ..Manager::default()
        }
    }

    fn queue(name: &str, persistent: bool, handles: u64) -> Queue {
        Queue {
            name: name.to_owned(),
            depth: 0,
            max_depth: 100,
            persistent,
            handles,
        }
    }

    #[track_caller]
    fn assert(judge: fn(&Manager) -> Verdict, manager: &Manager, status: Status, found: &str) {
        let verdict = judge(manager);
        assert_eq!(verdict.status, status, "{verdict:?}");
        assert!(verdict.found.contains(found), "{verdict:?}");
        assert_eq!(
            status == Warn,
            verdict.remedy.is_some() && status != Skip,
            "{verdict:?}"
        );
    }

    #[test]
    fn persistence_is_a_decision() {
        let with = |queues: &[Queue]| Manager {
            queues: queues.to_vec(),
            ..manager()
        };
        let (a, b) = (queue("A", true, 0), queue("B", true, 0));
        let not = queue("C", false, 0);
        assert(persistence, &with(&[]), Skip, "no application queues");
        assert(
            persistence,
            &with(std::slice::from_ref(&not)),
            Pass,
            "none of 1",
        );
        assert(persistence, &with(std::slice::from_ref(&a)), Pass, "1 of 1");
        assert(persistence, &with(&[a.clone(), not]), Pass, "1 of 2");
        assert(persistence, &with(&[a.clone(), b.clone()]), Warn, "2 of 2");
        let remedy = persistence(&with(&[a, b])).remedy.unwrap();
        assert!(remedy.ends_with("echo \"ALTER QLOCAL(A) DEFPSIST(NO)\" | posthaste mqsc QM1"));
    }

    #[test]
    fn a_log_must_be_large_enough_for_what_it_does() {
        assert(log_size, &manager(), Pass, "1024 MiB in 16 primary files");
        let case = |files, percent, backed_out| Manager {
            log_primary_files: files,
            log_in_use: percent,
            backed_out_for_space: backed_out,
            ..manager()
        };
        assert(
            log_size,
            &case(4, Some(74), 0),
            Pass,
            "256 MiB in 4 primary files, 74 % in use",
        );
        assert(log_size, &case(3, None, 0), Warn, "192 MiB");
        assert(log_size, &case(16, Some(75), 0), Warn, "75 % in use");
        assert(log_size, &case(16, Some(1), 2), Warn, "2 times");
        let remedy = |manager: &Manager| log_size(manager).remedy.unwrap();
        assert_eq!(
            remedy(&case(3, None, 0)),
            "sed -i 's/LogPrimaryFiles=.*/LogPrimaryFiles=16/' /q/qm.ini; \
             posthaste stop -i QM1; posthaste start QM1"
        );
        let elsewhere = Manager {
            place: " --data-dir '/d e'".to_owned(),
            ..case(3, None, 0)
        };
        assert!(remedy(&elsewhere).ends_with("posthaste start QM1 --data-dir '/d e'"));
        assert!(remedy(&case(16, None, 1)).contains("LogPrimaryFiles=32/"));
        assert!(remedy(&case(500, None, 1)).contains("LogPrimaryFiles=510/"));
    }

    #[test]
    fn applications_are_looked_at_when_there_are_any() {
        let case = |applications, in_unit_of_work| Manager {
            applications,
            in_unit_of_work,
            ..manager()
        };
        assert(concurrency, &case(0, 0), Skip, "no application");
        assert(concurrency, &case(1, 0), Warn, "1 application");
        assert(concurrency, &case(2, 0), Pass, "2 applications");
        let forced = |forces, commits| Manager {
            counted: Some(Counted {
                forces,
                commits,
                ..Counted::default()
            }),
            ..case(5, 2)
        };
        assert(syncpoint, &case(5, 2), Skip, "0 times since the start");
        assert(syncpoint, &forced(99, 0), Skip, "2 of 5 applications");
        assert(syncpoint, &forced(100, 50), Pass, "50 of 100 forces");
        assert(syncpoint, &forced(100, 1_000), Pass, "0 of 100 forces");
        assert(syncpoint, &forced(100, 49), Warn, "51 of 100 forces");
    }

    #[test]
    fn one_queue_for_all_is_noticed() {
        let case = |handles: &[u64]| Manager {
            queues: handles.iter().map(|n| queue("Q", false, *n)).collect(),
            ..manager()
        };
        assert(spread, &case(&[]), Skip, "0 handles");
        assert(spread, &case(&[9]), Skip, "9 handles");
        assert(spread, &case(&[10]), Warn, "10 of 10");
        assert(spread, &case(&[81, 19]), Warn, "81 of 100");
        assert(spread, &case(&[80, 20]), Pass, "80 of 100");
    }

    #[test]
    fn the_buffer_the_devices_and_the_units_of_work() {
        let small = Manager {
            log_buffer_pages: 512,
            errors_with_log: Some(true),
            oldest_unit_of_work: Some((60, "amqsput".to_owned())),
            ..manager()
        };
        let good = Manager {
            errors_with_log: Some(false),
            oldest_unit_of_work: Some((59, "amqsput".to_owned())),
            ..manager()
        };
        assert(log_buffer, &small, Warn, "LogBufferPages is 512");
        assert(log_buffer, &good, Pass, "LogBufferPages is 4096");
        assert(error_logs, &small, Warn, "one device");
        assert(error_logs, &good, Pass, "without");
        assert(error_logs, &manager(), Skip, "cannot be told");
        assert(
            units_of_work,
            &small,
            Warn,
            "amqsput has been open for 60 s",
        );
        assert(units_of_work, &good, Pass, "59 s old");
        assert(units_of_work, &manager(), Pass, "no unit of work");
    }

    #[test]
    fn full_queues_dead_letters_and_slow_disks_are_told() {
        let case = |dead_letters, depth| Manager {
            dead_letters,
            queues: vec![
                queue("A", false, 0),
                Queue {
                    depth,
                    ..queue("B", false, 0)
                },
            ],
            ..manager()
        };
        assert(requirements, &case(None, 79), Pass, "no queue");
        assert(requirements, &case(Some(0), 0), Pass, "no queue");
        assert(
            requirements,
            &case(None, 80),
            Warn,
            "B holds 80 of at most 100",
        );
        assert(
            requirements,
            &case(Some(3), 80),
            Warn,
            "3 messages are on the dead-letter",
        );
        let disk = |slow_writes, log_write_ns| Manager {
            slow_writes,
            log_write_ns,
            ..manager()
        };
        assert(infrastructure, &disk(0, None), Skip, "--disk measures");
        let counted = |writes, write_ns, measured| Manager {
            counted: Some(Counted {
                writes,
                write_ns,
                ..Counted::default()
            }),
            ..disk(0, measured)
        };
        assert(infrastructure, &counted(99, 1, None), Skip, "too few");
        assert(
            infrastructure,
            &counted(100, 20_000_000, None),
            Pass,
            "took 200 us on average",
        );
        assert(
            infrastructure,
            &counted(100, 700_000_000, None),
            Warn,
            "took 7000 us",
        );
        assert(
            infrastructure,
            &counted(100, 700_000_000, Some((1, 1))),
            Pass,
            "a forced 4 KiB",
        );
        assert(infrastructure, &disk(1, None), Warn, "1 times");
        assert(
            infrastructure,
            &disk(0, Some((99_001, 2_000_000))),
            Pass,
            "100 us on average, 2000 us",
        );
        assert(
            infrastructure,
            &disk(0, Some((7_000_000, 7_000_000))),
            Warn,
            "7000 us",
        );
    }

    #[test]
    fn all_ten_are_checked() {
        let findings = check(&manager());
        assert_eq!(findings.len(), 10);
        assert!(findings.iter().all(|finding| finding.why.ends_with('.')));
    }
}
