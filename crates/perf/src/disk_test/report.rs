//! The output block, word for word as users of MQLDT know it, with lines of our own below; and the rows of the
//! CSV file.
//!
//! Invariant: a label stands where it always stood; what is new comes after what is known.

use super::measured::{Extreme, Measured};
use super::options::Plan;
use crate::quantity::grouped;

/// Columns before the colon.
const LABEL: usize = 44;
/// Columns of a number.
const NUMBER: usize = 20;

/// What storage of some kinds is expected to need for a write at most, in nanoseconds, as the MQ performance
/// papers give it.
const REFERENCES: [(&str, u64); 4] = [
    ("local NVMe", 100_000),
    ("SAN", 7_000_000),
    ("cloud block storage", 10_000_000),
    ("cloud file storage", 50_000_000),
];

fn option(label: &str, value: &str) -> String {
    format!("{label:<LABEL$}: {value}\n")
}

fn number(label: &str, value: u64, note: &str) -> String {
    let value = grouped(value);
    format!("{label:<LABEL$}: {value:>NUMBER$}{note}\n")
}

/// What is tested, before it is.
pub(super) fn options(plan: &Plan) -> String {
    let mut out = String::from("Options (specified or defaulted to)\n");
    out.push_str(&"=".repeat(69));
    out.push('\n');
    let rows = [
        ("Write blocksize (--bsize)", plan.block_list()),
        (
            "Directory to write to (--dir)",
            plan.dir.display().to_string(),
        ),
        ("Test file prefix (--filePrefix)", plan.prefix.clone()),
        (
            "Number of files to write to (--numFiles)",
            plan.files.to_string(),
        ),
        (
            "Size of test files (--fileSize)",
            plan.file_size.to_string(),
        ),
        (
            "Test duration (--duration)",
            plan.time.as_secs().to_string(),
        ),
    ];
    for (label, value) in rows {
        out.push_str(&option(label, &value));
    }
    if plan.queue_managers > 1 {
        let value = plan.queue_managers.to_string();
        out.push_str(&option("Simulated queue managers (--qm)", &value));
    }
    if plan.background > 0 {
        let value = plan.background.to_string();
        out.push_str(&option("Background threads (--backgroundThreads)", &value));
    }
    out.push('\n');
    out
}

/// The line that tells how far a test is.
pub(super) fn progress(block: u64, done: u64, seconds: u64) -> String {
    format!(
        "Executing test for write blocksize {block} ({}k). Seconds elapsed -> {done}/{seconds}",
        block / 1024
    )
}

/// What was found for one block size.
pub(super) fn results(found: &Measured, queue_managers: u32) -> String {
    let (best, worst) = found.best_and_worst_second();
    let which = |extreme: &Extreme| match queue_managers {
        1 => format!(" (#{})", grouped(extreme.number)),
        _ => format!(
            " (#{} of queue manager {})",
            grouped(extreme.number),
            extreme.queue_manager
        ),
    };
    let mut out = String::from("\n");
    let latency = |label: &str, extreme: &Extreme| number(label, extreme.ns, &which(extreme));
    out.push_str(&number("Total writes to files", found.writes, ""));
    out.push_str(&number("IOPS", found.iops(), ""));
    out.push_str(&number("Total bytes written to files", found.bytes(), ""));
    out.push_str(&number("Max bytes/sec written to files", best, ""));
    out.push_str(&number("Min bytes/sec written to files", worst, ""));
    let average = found.bytes_per_second();
    out.push_str(&number("Avg bytes/sec written to files", average, ""));
    out.push('\n');
    out.push_str(&latency("Max latency of write (ns)", &found.max));
    out.push_str(&latency("Min latency of write (ns)", &found.min));
    out.push_str(&number("Avg latency of write (ns)", found.average_ns(), ""));
    let [p50, p90, p99, p999] = found.percentiles([50.0, 90.0, 99.0, 99.9]);
    for (label, value) in [
        ("50 % of writes took at most (ns)", p50),
        ("90 % of writes took at most (ns)", p90),
        ("99 % of writes took at most (ns)", p99),
        ("99.9 % of writes took at most (ns)", p999),
    ] {
        out.push_str(&number(label, value, ""));
    }
    out.push_str(&option("Average compared", &compared(found.average_ns())));
    out.push('\n');
    out
}

/// Where a latency stands among the references.
fn compared(ns: u64) -> String {
    let limits: Vec<String> = REFERENCES
        .iter()
        .map(|(kind, limit)| match limit / 1_000_000 {
            0 => format!("{kind} {} us", limit / 1_000),
            ms => format!("{kind} {ms} ms"),
        })
        .collect();
    let place = REFERENCES.iter().find(|(_, limit)| ns <= *limit);
    let verdict = match place {
        Some((kind, _)) => format!("as expected of {kind}"),
        None => "slower than all of these".to_owned(),
    };
    format!("{verdict} (at most: {})", limits.join(", "))
}

/// The first row of a CSV file.
pub(super) const CSV_HEAD: &str = "directory,block_bytes,queue_managers,seconds,writes,iops,bytes,\
max_bytes_per_s,min_bytes_per_s,avg_bytes_per_s,max_ns,max_write,min_ns,min_write,avg_ns,p50_ns,p90_ns,p99_ns,p999_ns\n";

/// A row of it.
pub(super) fn csv_row(plan: &Plan, found: &Measured) -> String {
    let (best, worst) = found.best_and_worst_second();
    let [p50, p90, p99, p999] = found.percentiles([50.0, 90.0, 99.0, 99.9]);
    let directory = plan.dir.display().to_string().replace('"', "\"\"");
    let numbers = [
        found.block,
        plan.queue_managers.into(),
        found.elapsed_ns / 1_000_000_000,
        found.writes,
        found.iops(),
        found.bytes(),
        best,
        worst,
        found.bytes_per_second(),
        found.max.ns,
        found.max.number,
        found.min.ns,
        found.min.number,
        found.average_ns(),
        p50,
        p90,
        p99,
        p999,
    ];
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("\"{directory}\",{}\n", numbers.join(","))
}

#[cfg(test)]
mod tests {
    use super::super::measured::Tally;
    use super::super::options::tests::args;
    use super::*;

    fn found() -> Measured {
        let mut tally = Tally::new(131_072);
        for (number, ms) in [(1, 400), (2, 500), (3, 1_350)] {
            let elapsed = [0, 400, 900, 2_250][number as usize] * 1_000_000;
            tally.write(number, ms * 1_000_000, elapsed);
        }
        tally.end(false)
    }

    #[test]
    fn the_output_block_is_the_known_one() {
        let line = "--bsize 128K --dir /var/log --fileSize 67108864 --numFiles 24 --duration 20";
        let plan = args(line).unwrap().plan().unwrap();
        assert_eq!(
            options(&plan),
            "Options (specified or defaulted to)\n\
             =====================================================================\n\
             Write blocksize (--bsize)                   : 128K\n\
             Directory to write to (--dir)               : /var/log\n\
             Test file prefix (--filePrefix)             : mqldt_testfile\n\
             Number of files to write to (--numFiles)    : 24\n\
             Size of test files (--fileSize)             : 67108864\n\
             Test duration (--duration)                  : 20\n\n"
        );
        assert_eq!(
            progress(131_072, 7, 20),
            "Executing test for write blocksize 131072 (128k). Seconds elapsed -> 7/20"
        );
        let expected = "
Total writes to files                       :                    3
IOPS                                        :                    1
Total bytes written to files                :              393,216
Max bytes/sec written to files              :              262,144
Min bytes/sec written to files              :                    0
Avg bytes/sec written to files              :              174,762

Max latency of write (ns)                   :        1,350,000,000 (#3)
Min latency of write (ns)                   :          400,000,000 (#1)
Avg latency of write (ns)                   :          750,000,000
";
        let shown = results(&found(), 1);
        assert!(shown.starts_with(expected), "{shown}");
        assert!(shown.contains("99.9 % of writes took at most (ns)          :        1,350"));
        let several = results(&found(), 4);
        assert!(several.contains("1,350,000,000 (#3 of queue manager 1)"));
    }

    #[test]
    fn latencies_are_compared_with_what_storage_is_expected_to_do() {
        for (us, verdict) in [
            (
                60,
                "as expected of local NVMe (at most: local NVMe 100 us, SAN 7 ms, ",
            ),
            (101, "as expected of SAN ("),
            (9_000, "as expected of cloud block storage ("),
            (10_001, "as expected of cloud file storage ("),
            (50_001, "slower than all of these ("),
        ] {
            let shown = compared(us * 1_000);
            assert!(shown.starts_with(verdict), "{shown}");
        }
    }

    #[test]
    fn rows_have_as_many_columns_as_the_head() {
        let plan = args("--dir /a,\"b --qm 2").unwrap().plan().unwrap();
        let row = csv_row(&plan, &found());
        assert!(
            row.starts_with("\"/a,\"\"b\",131072,2,2,3,1,393216,262144,0,174762,1350000000,3,")
        );
        let columns = |text: &str| text.matches(',').count();
        assert_eq!(
            columns(&row),
            columns(CSV_HEAD) + 1,
            "one comma is in the name"
        );
    }
}
