//! The command line of the disk test.
//!
//! Invariant: what [`DiskTestArgs::check`] has passed can be carried out as far as numbers go; only the file system
//! can still refuse.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use posthaste_server::Failure;

const EXAMPLES: &str = "\
  posthaste disktest --dir /var/mqm/log
      4K, 16K, 64K and 128K, ten seconds each
  posthaste disktest --dir /mqlog --bsize 128K --fileSize 67108864 --numFiles 24
      as large as the log of a busy queue manager
  posthaste disktest --dir /mnt/nfs --qm 4 --csvFile nfs.csv
      four queue managers at one time, with rows for a table
  posthaste disktest --dir /var/mqm/log --fio log.fio; fio log.fio
      the same test by another tool

Files are made and filled first, opened with O_DIRECT and O_DSYNC as a recovery log is, and
removed at the end, after Ctrl-C too. Each write waits for the one before, so the latency is what
a commit waits for. Called as mqldt (a link), the program is this command.";

/// Measure how fast a disk takes the forced writes of a recovery log
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DiskTestArgs {
    /// Directory to test
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
    /// What the names of the test files begin with
    #[arg(
        long = "filePrefix",
        value_name = "NAME",
        default_value = "mqldt_testfile"
    )]
    #[arg(value_parser = prefix)]
    pub(super) prefix: String,
    /// Block sizes, each tested in turn: numbers of KiB that end in K
    #[arg(long = "bsize", value_name = "LIST", default_value = "4K,16K,64K,128K")]
    #[arg(value_delimiter = ',', allow_hyphen_values = true, value_parser = block)]
    pub(super) blocks: Vec<Block>,
    /// Bytes of each file
    #[arg(long = "fileSize", value_name = "BYTES", default_value = "1638400")]
    pub(super) file_size: u64,
    /// Number of files, 1 to 10000
    #[arg(long = "numFiles", value_name = "FILES", default_value = "8")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) files: u32,
    /// Seconds for each block size, 1 to 86400
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(super) duration: Duration,
    /// Add a row for each block size to this file
    #[arg(long = "csvFile", value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Simulate so many queue managers, 1 to 10, each a thread with files of its own
    #[arg(long = "qm", value_name = "QMS", default_value = "1")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(super) queue_managers: u32,
    /// Memory and file alignment in bytes; a power of two, 512 to 1048576
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = alignment)]
    pub(super) alignment: usize,
    /// Microseconds of pause after each write
    #[arg(long = "delay", value_name = "US", default_value = "0", value_parser = pause, hide = true)]
    pub(super) pause: Duration,
    /// Threads that keep processors busy meanwhile, for each queue manager
    #[arg(
        long = "backgroundThreads",
        value_name = "THREADS",
        default_value = "0"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(super) background: u32,
    /// Write a fio job file of this test, and test nothing
    #[arg(long, value_name = "FILE")]
    pub(super) fio: Option<PathBuf>,
}

/// One block size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// As it was written.
    pub(super) text: String,
    pub(super) bytes: usize,
}

fn block(text: &str) -> Result<Block, &'static str> {
    let text = text.trim();
    let Some(digits) = text.strip_suffix(['K', 'k']) else {
        return Err("a block size ends in K, for example 4K,16K,128K");
    };
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    let kib = digits.parse::<usize>().ok();
    match kib.filter(|kib| plain && (1..=65_536).contains(kib)) {
        Some(kib) => Ok(Block {
            text: text.to_owned(),
            bytes: kib * 1024,
        }),
        None => Err("write a whole number of KiB from 1K to 65536K"),
    }
}

fn prefix(text: &str) -> Result<String, &'static str> {
    match !text.is_empty() && Path::new(text).file_name() == Some(text.as_ref()) {
        true => Ok(text.to_owned()),
        false => Err("it is not the beginning of a file name; --dir names the directory"),
    }
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|n| (1..=86_400).contains(n));
    seconds
        .map(Duration::from_secs)
        .ok_or("write seconds from 1 to 86400")
}

fn alignment(text: &str) -> Result<usize, &'static str> {
    let bytes = text.parse::<usize>().ok().filter(|n| n.is_power_of_two());
    let bytes = bytes.filter(|bytes| (512..=1 << 20).contains(bytes));
    bytes.ok_or("it is not a power of two from 512 to 1048576")
}

fn pause(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse()
        .map(|us: u64| Duration::from_micros(us.min(60_000_000)))
}

impl DiskTestArgs {
    /// One file of one queue manager, and blocks of one size.
    pub(super) fn small(dir: &Path, bytes: usize, file_size: u64, time: Duration) -> DiskTestArgs {
        DiskTestArgs {
            dir: dir.to_owned(),
            prefix: format!("disktest_{}_", std::process::id()),
            blocks: vec![Block {
                text: format!("{}K", bytes >> 10),
                bytes,
            }],
            file_size,
            files: 1,
            duration: time,
            csv: None,
            queue_managers: 1,
            alignment: 4096,
            pause: Duration::ZERO,
            background: 0,
            fio: None,
        }
    }

    /// Refuses sizes that do not fit together.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let (alignment, file_size) = (self.alignment, self.file_size);
        for Block { text, bytes } in &self.blocks {
            if !bytes.is_multiple_of(alignment) {
                return Err(Failure::bad_parameter(format!(
                    "--bsize {text}: {bytes} bytes are not a multiple of the alignment ({alignment}, --alignment)"
                )));
            }
            if *bytes as u64 > file_size {
                return Err(Failure::bad_parameter(format!(
                    "--bsize {text}: a block of {bytes} bytes does not fit into a file of {file_size} (--fileSize)"
                )));
            }
        }
        match self.all_bytes() > u64::MAX / 2 {
            true => Err(Failure::bad_parameter(format!(
                "{} files of {file_size} bytes are more than any disk holds",
                self.files
            ))),
            false => Ok(()),
        }
    }

    /// Bytes that all files need.
    pub(super) fn all_bytes(&self) -> u64 {
        let files = u64::from(self.files) * u64::from(self.queue_managers);
        self.file_size.saturating_mul(files)
    }

    /// Name of a file; both numbers from 1.
    pub(super) fn path(&self, queue_manager: u32, file: u32) -> PathBuf {
        let name = match self.queue_managers {
            1 => format!("{}{file}", self.prefix),
            _ => format!("{}_qm{queue_manager}_{file}", self.prefix),
        };
        self.dir.join(name)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: DiskTestArgs,
    }

    fn read(line: &str) -> Result<DiskTestArgs, String> {
        let words = ["disktest"].into_iter().chain(line.split_whitespace());
        let args = Line::try_parse_from(words)
            .map_err(|error| error.to_string())?
            .args;
        args.check()
            .map(|()| args)
            .map_err(|failure| failure.line())
    }

    /// The options of a command line.
    pub(in crate::disk_test) fn args(line: &str) -> DiskTestArgs {
        read(line).unwrap()
    }

    #[test]
    fn options_are_read() {
        let plain = args("");
        let sizes: Vec<&str> = plain
            .blocks
            .iter()
            .map(|block| block.text.as_str())
            .collect();
        assert_eq!(sizes, ["4K", "16K", "64K", "128K"]);
        assert_eq!(
            (plain.files, plain.file_size, plain.duration.as_secs()),
            (8, 1_638_400, 10)
        );
        assert_eq!(plain.path(1, 3), Path::new("./mqldt_testfile3"));
        let all = args(
            "--dir /d --filePrefix p --bsize 128k,1K --fileSize 262144 --numFiles 24 --duration 20 \
             --csvFile x.csv --qm 3 --alignment 512 --delay 5 --backgroundThreads 2",
        );
        let sizes: Vec<usize> = all.blocks.iter().map(|block| block.bytes).collect();
        assert_eq!(sizes, [131_072, 1_024]);
        assert_eq!(all.path(2, 24), Path::new("/d/p_qm2_24"));
        assert_eq!(all.all_bytes(), 262_144 * 24 * 3);
        assert_eq!((all.pause, all.background), (Duration::from_micros(5), 2));
    }

    #[test]
    fn what_cannot_be_tested_is_refused_with_the_reason() {
        let wrong = "--bsize 4096 | ends in K
            --bsize 4M | ends in K
            --bsize 4K, | ends in K
            --bsize K | whole number
            --bsize 0K | whole number
            --bsize -4K | whole number
            --bsize 1.5K | whole number
            --bsize 99999999999999999999K | whole number
            --bsize 65537K | whole number
            --bsize 6K | not a multiple of the alignment (4096
            --bsize 2048K | does not fit into a file of 1638400
            --fileSize 0 | does not fit
            --alignment 1000 | power of two
            --alignment 256 | power of two
            --filePrefix a/b | --dir names
            --filePrefix .. | --dir names
            --fileSize 9223372036854775807 --numFiles 10 | any disk
            --numFiles 0 | 1..=10000
            --qm 11 | 1..=10
            --duration 0 | 1 to 86400";
        for (line, reason) in wrong.lines().filter_map(|line| line.split_once(" | ")) {
            let error = read(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
