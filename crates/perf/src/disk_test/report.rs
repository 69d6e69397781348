//! The output block, word for word as users of MQLDT know it, with lines of our own below; and the CSV file, to which
//! a row is added for each block size.
//!
//! Invariants: a label stands where it always stood, and what is new comes after what is known; a CSV file is there
//! afterwards only if it was there before or has a row.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use posthaste_server::Failure;

use super::measured::{Extreme, Measured};
use super::options::{Block, DiskTestArgs};
use crate::quantity::grouped;

/// What storage of some kinds is expected to need for a write at most, in nanoseconds, as the MQ performance
/// papers give it.
const REFERENCES: [(&str, u64); 4] = [
    ("local NVMe", 100_000),
    ("SAN", 7_000_000),
    ("cloud block storage", 10_000_000),
    ("cloud file storage", 50_000_000),
];

/// The figures of a test: column of the CSV file, label in the output block unless it is not there, and value.
type Figure = (&'static str, &'static str, fn(&Measured) -> u64);

#[rustfmt::skip] // one row, one line
const FIGURES: [Figure; 18] = [
    ("block_bytes", "", |found| found.block),
    ("queue_managers", "", |found| found.queue_managers),
    ("seconds", "", |found| found.elapsed_ns / 1_000_000_000),
    ("writes", "Total writes to files", |found| found.writes),
    ("iops", "IOPS", Measured::iops),
    ("bytes", "Total bytes written to files", Measured::bytes),
    ("max_bytes_per_s", "Max bytes/sec written to files", Measured::best_second),
    ("min_bytes_per_s", "Min bytes/sec written to files", Measured::worst_second),
    ("avg_bytes_per_s", "Avg bytes/sec written to files", Measured::bytes_per_second),
    ("max_ns", "Max latency of write (ns)", |found| found.max.ns),
    ("max_write", "", |found| found.max.number),
    ("min_ns", "Min latency of write (ns)", |found| found.min.ns),
    ("min_write", "", |found| found.min.number),
    ("avg_ns", "Avg latency of write (ns)", Measured::average_ns),
    ("p50_ns", "50 % of writes took at most (ns)", |found| found.percentile(50.0)),
    ("p90_ns", "90 % of writes took at most (ns)", |found| found.percentile(90.0)),
    ("p99_ns", "99 % of writes took at most (ns)", |found| found.percentile(99.0)),
    ("p999_ns", "99.9 % of writes took at most (ns)", |found| found.percentile(99.9)),
];

/// A line: a label, and its value.
fn row(label: &str, value: impl Display) -> String {
    format!("{label:<44}: {value}\n")
}

/// What is tested, before it is.
pub(super) fn options(args: &DiskTestArgs) -> String {
    let blocks: Vec<&str> = args
        .blocks
        .iter()
        .map(|block| block.text.as_str())
        .collect();
    let mut out = format!("Options (specified or defaulted to)\n{}\n", "=".repeat(69));
    out += &row("Write blocksize (--bsize)", blocks.join(","));
    out += &row("Directory to write to (--dir)", args.dir.display());
    out += &row("Test file prefix (--filePrefix)", &args.prefix);
    out += &row("Number of files to write to (--numFiles)", args.files);
    out += &row("Size of test files (--fileSize)", args.file_size);
    out += &row("Test duration (--duration)", args.duration.as_secs());
    if args.queue_managers > 1 {
        out += &row("Simulated queue managers (--qm)", args.queue_managers);
    }
    if args.background > 0 {
        out += &row("Background threads (--backgroundThreads)", args.background);
    }
    out + "\n"
}

/// The line that tells how far a test is.
pub(super) fn progress(block: &Block, done: u64, args: &DiskTestArgs) -> String {
    let (bytes, seconds) = (block.bytes, args.duration.as_secs());
    format!(
        "Executing test for write blocksize {bytes} ({}k). Seconds elapsed -> {}/{seconds}",
        bytes / 1024,
        done.min(seconds)
    )
}

/// What was found for one block size.
pub(super) fn results(found: &Measured) -> String {
    let which = |extreme: &Extreme| match (grouped(extreme.number), found.queue_managers) {
        (number, 1) => format!(" (#{number})"),
        (number, _) => format!(" (#{number} of queue manager {})", extreme.queue_manager),
    };
    let mut out = String::from("\n");
    for (column, label, value) in FIGURES.iter().filter(|(_, label, _)| !label.is_empty()) {
        let note = match *column {
            "max_ns" => which(&found.max),
            "min_ns" => which(&found.min),
            _ => String::new(),
        };
        if *column == "max_ns" {
            out.push('\n');
        }
        out += &row(label, format!("{:>20}{note}", grouped(value(found))));
    }
    out + &row("Average compared", compared(found.average_ns())) + "\n"
}

/// Where a latency stands among the references.
fn compared(ns: u64) -> String {
    let limits = REFERENCES.map(|(kind, limit)| match limit / 1_000_000 {
        0 => format!("{kind} {} us", limit / 1_000),
        ms => format!("{kind} {ms} ms"),
    });
    let place = REFERENCES.iter().find(|(_, limit)| ns <= *limit);
    let verdict = match place {
        Some((kind, _)) => format!("as expected of {kind}"),
        None => "slower than all of these".to_owned(),
    };
    format!("{verdict} (at most: {})", limits.join(", "))
}

fn csv_head() -> String {
    format!(
        "directory,{}\n",
        FIGURES.map(|(column, ..)| column).join(",")
    )
}

fn csv_row(dir: &Path, found: &Measured) -> String {
    let directory = dir.display().to_string().replace('"', "\"\"");
    let numbers = FIGURES.map(|(_, _, value)| value(found).to_string());
    format!("\"{directory}\",{}\n", numbers.join(","))
}

/// The CSV file.
pub(super) struct Csv {
    file: File,
    path: PathBuf,
    /// What must stand before the next row.
    before: String,
    /// It was made here and has no row.
    new: bool,
}

impl Csv {
    /// Opens it before the test, so that no test is made for rows that cannot be written.
    pub(super) fn open(path: &Path) -> Result<Csv, Failure> {
        let failed = |error| Failure::io(path, &error);
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        let (file, new) = match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (options.open(path).map_err(failed)?, false)
            }
            made => (made.map_err(failed)?, true),
        };
        let mut last = *b"\n";
        let length = file.metadata().map_err(failed)?.len();
        if length > 0 {
            file.read_exact_at(&mut last, length - 1).map_err(failed)?;
        }
        let before = match (length, &last) {
            (0, _) => csv_head(),
            (_, b"\n") => String::new(),
            // Its last line has no end.
            _ => "\n".to_owned(),
        };
        let path = path.to_owned();
        Ok(Csv {
            file,
            path,
            before,
            new,
        })
    }

    /// Adds a row, below the head if it is the first one.
    pub(super) fn add(&mut self, dir: &Path, found: &Measured) -> Result<(), Failure> {
        let text = format!("{}{}", self.before, csv_row(dir, found));
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| Failure::io(&self.path, &error))?;
        self.before.clear();
        self.new = false;
        Ok(())
    }
}

impl Drop for Csv {
    fn drop(&mut self) {
        if self.new {
            // A file that stays is empty, and the next test puts its head into it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::tests::measured;
    use super::super::options::tests::args;
    use super::*;

    #[test]
    fn the_output_block_is_the_known_one() {
        let line = "--bsize 128K --dir /var/log --fileSize 67108864 --numFiles 24 --duration 20";
        let args = args(line);
        assert_eq!(
            options(&args),
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
            progress(&args.blocks[0], 7, &args),
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
50 % of writes took at most (ns)            :          500,";
        let found = measured(131_072, &[400, 500, 1_350]);
        let shown = results(&found);
        assert!(shown.starts_with(expected), "{shown}");
        assert!(shown.contains("99.9 % of writes took at most (ns)          :        1,350"));
        let several = Measured::together(vec![found.clone(), found]).unwrap();
        let several = results(&several);
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
    fn rows_are_added_below_one_head_each_on_a_line_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        drop(Csv::open(&path).unwrap());
        assert!(!path.exists(), "no row, no file");
        let dir_tested = Path::new("/a,\"b");
        let found = measured(131_072, &[400, 500, 1_350]);
        for _ in 0..2 {
            let mut csv = Csv::open(&path).unwrap();
            csv.add(dir_tested, &found).unwrap();
            csv.add(dir_tested, &found).unwrap();
        }
        drop(Csv::open(&path).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].starts_with("directory,block_bytes,queue_managers,seconds,writes,iops,"));
        let row = "\"/a,\"\"b\",131072,1,2,3,1,393216,262144,0,174762,1350000000,3,400000000,1,750000000,";
        assert!(
            rows.len() == 5 && rows[1..].iter().all(|line| line.starts_with(row)),
            "{text}"
        );
        let columns = |line: &str| line.matches(',').count();
        assert_eq!(
            columns(rows[4]),
            columns(rows[0]) + 1,
            "one comma is in the name"
        );
        std::fs::write(&path, "edited,by,hand").unwrap();
        Csv::open(&path).unwrap().add(dir_tested, &found).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("edited,by,hand\n\"/a,"), "{text}");
        std::fs::write(&path, "").unwrap();
        drop(Csv::open(&path).unwrap());
        assert!(path.exists(), "it was there before");
        assert!(Csv::open(dir.path()).is_err());
    }
}
