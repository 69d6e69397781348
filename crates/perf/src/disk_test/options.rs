//! The command line of the disk test, checked before anything is touched.
//!
//! Invariant: a [`Plan`] can be carried out as far as numbers go; only the file system can still refuse.

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
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DiskTestArgs {
    /// Directory to test
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// What the names of the test files begin with
    #[arg(
        long = "filePrefix",
        value_name = "NAME",
        default_value = "mqldt_testfile"
    )]
    pub file_prefix: String,
    /// Block sizes, each tested in turn: numbers of KiB that end in K
    #[arg(
        long,
        value_name = "LIST",
        default_value = "4K,16K,64K,128K",
        allow_hyphen_values = true
    )]
    pub bsize: String,
    /// Bytes of each file
    #[arg(long = "fileSize", value_name = "BYTES", default_value_t = 1_638_400)]
    pub file_size: u64,
    /// Number of files, 1 to 10000
    #[arg(long = "numFiles", value_name = "FILES", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub num_files: u32,
    /// Seconds for each block size, 1 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub duration: u32,
    /// Add a row for each block size to this file
    #[arg(long = "csvFile", value_name = "FILE")]
    pub csv_file: Option<PathBuf>,
    /// Simulate so many queue managers, 1 to 10, each a process with files of its own
    #[arg(long, value_name = "QMS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub qm: u32,
    /// Memory and file alignment in bytes; a power of two, 512 to 1048576
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    pub alignment: usize,
    /// Microseconds of pause after each write
    #[arg(long, value_name = "US", default_value_t = 0, hide = true)]
    pub delay: u64,
    /// Threads that keep processors busy meanwhile, for each queue manager
    #[arg(long = "backgroundThreads", value_name = "THREADS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub background_threads: u32,
    /// Write a fio job file of this test, and test nothing
    #[arg(long, value_name = "FILE")]
    pub fio: Option<PathBuf>,
    /// One of the processes of --qm
    #[arg(long, hide = true)]
    pub worker: bool,
}

/// One block size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// As it was written.
    pub(super) text: String,
    pub(super) bytes: usize,
}

/// A test that can be carried out.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) dir: PathBuf,
    pub(super) prefix: String,
    pub(super) blocks: Vec<Block>,
    pub(super) file_size: u64,
    /// Files of each queue manager.
    pub(super) files: u32,
    /// For each block size.
    pub(super) time: Duration,
    pub(super) csv: Option<PathBuf>,
    pub(super) queue_managers: u32,
    pub(super) alignment: usize,
    pub(super) pause: Duration,
    pub(super) background: u32,
}

impl Plan {
    /// One file of one queue manager, and blocks of one size.
    pub(super) fn small(dir: &Path, bytes: usize, file_size: u64, time: Duration) -> Plan {
        Plan {
            dir: dir.to_owned(),
            prefix: format!("disktest_{}_", std::process::id()),
            blocks: vec![Block {
                text: format!("{}K", bytes >> 10),
                bytes,
            }],
            file_size,
            files: 1,
            time,
            csv: None,
            queue_managers: 1,
            alignment: 4096,
            pause: Duration::ZERO,
            background: 0,
        }
    }

    /// The block sizes as they were written.
    pub(super) fn block_list(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .map(|block| block.text.as_str())
            .collect();
        texts.join(",")
    }

    /// Bytes that all files need.
    pub(super) fn all_bytes(&self) -> u64 {
        self.file_size
            .saturating_mul(u64::from(self.files))
            .saturating_mul(u64::from(self.queue_managers))
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

impl DiskTestArgs {
    /// The plan, or what is wrong with it.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let wrong = |what: String| Err(Failure::bad_parameter(what));
        let alignment = self.alignment;
        if !alignment.is_power_of_two() || !(512..=1 << 20).contains(&alignment) {
            return wrong(format!(
                "--alignment {alignment} is not a power of two from 512 to 1048576"
            ));
        }
        let prefix = &self.file_prefix;
        let plain = !prefix.is_empty() && Path::new(prefix).file_name() == Some(prefix.as_ref());
        if !plain {
            return wrong(format!(
                "--filePrefix '{prefix}' is not the beginning of a file name; --dir names the directory"
            ));
        }
        let blocks = self
            .bsize
            .split(',')
            .map(|text| block(text.trim(), alignment, self.file_size))
            .collect::<Result<Vec<Block>, Failure>>()?;
        let bytes = u128::from(self.file_size) * u128::from(self.num_files) * u128::from(self.qm);
        if bytes > u128::from(u64::MAX / 2) {
            return wrong(format!(
                "{} files of {} bytes are more than any disk holds",
                self.num_files, self.file_size
            ));
        }
        Ok(Plan {
            dir: self.dir.clone(),
            prefix: prefix.clone(),
            blocks,
            file_size: self.file_size,
            files: self.num_files,
            time: Duration::from_secs(self.duration.into()),
            csv: self.csv_file.clone(),
            queue_managers: self.qm,
            alignment,
            pause: Duration::from_micros(self.delay.min(60_000_000)),
            background: self.background_threads,
        })
    }
}

/// Reads one block size and checks it against alignment and files.
fn block(text: &str, alignment: usize, file_size: u64) -> Result<Block, Failure> {
    let wrong = |what: String| Err(Failure::bad_parameter(format!("--bsize {text}: {what}")));
    let Some(digits) = text.strip_suffix(['K', 'k']) else {
        return wrong("a block size ends in K, for example 4K,16K,128K".to_owned());
    };
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let kib = digits
        .parse::<usize>()
        .ok()
        .filter(|kib| plain && (1..=65_536).contains(kib));
    let Some(bytes) = kib.map(|kib| kib * 1024) else {
        return wrong("write a whole number of KiB from 1K to 65536K".to_owned());
    };
    if !bytes.is_multiple_of(alignment) {
        return wrong(format!(
            "{bytes} bytes are not a multiple of the alignment ({alignment}, --alignment)"
        ));
    }
    if bytes as u64 > file_size {
        return wrong(format!(
            "a block of {bytes} bytes does not fit into a file of {file_size} (--fileSize)"
        ));
    }
    Ok(Block {
        text: text.to_owned(),
        bytes,
    })
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

    /// The options of a command line.
    pub(in crate::disk_test) fn args(line: &str) -> Option<DiskTestArgs> {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let line = Line::try_parse_from(["disktest"].into_iter().chain(words));
        line.ok().map(|line| line.args)
    }

    #[test]
    fn options_become_a_plan() {
        let plan = args("").unwrap().plan().unwrap();
        assert_eq!(plan.block_list(), "4K,16K,64K,128K");
        assert_eq!(
            (plan.files, plan.file_size, plan.time.as_secs()),
            (8, 1_638_400, 10)
        );
        assert_eq!(plan.path(1, 3), Path::new("./mqldt_testfile3"));
        let line = "--dir /d --filePrefix p --bsize 128k,1K --fileSize 262144 --numFiles 24 --duration 20 \
            --csvFile x.csv --qm 3 --alignment 512 --delay 5 --backgroundThreads 2";
        let plan = args(line).unwrap().plan().unwrap();
        let sizes: Vec<usize> = plan.blocks.iter().map(|block| block.bytes).collect();
        assert_eq!(sizes, [131_072, 1_024]);
        assert_eq!(plan.path(2, 24), Path::new("/d/p_qm2_24"));
        assert_eq!(plan.all_bytes(), 262_144 * 24 * 3);
        assert_eq!((plan.pause, plan.background), (Duration::from_micros(5), 2));
    }

    #[test]
    fn what_cannot_be_tested_is_refused_with_the_reason() {
        for (line, reason) in [
            ("--bsize 4096", "ends in K"),
            ("--bsize 4M", "ends in K"),
            ("--bsize 4K,", "ends in K"),
            ("--bsize K", "whole number"),
            ("--bsize 0K", "whole number"),
            ("--bsize -4K", "whole number"),
            ("--bsize 1.5K", "whole number"),
            ("--bsize 99999999999999999999K", "whole number"),
            ("--bsize 65537K", "whole number"),
            ("--bsize 6K", "not a multiple of the alignment (4096"),
            ("--bsize 2048K", "does not fit into a file of 1638400"),
            ("--fileSize 0", "does not fit"),
            ("--alignment 1000", "power of two"),
            ("--alignment 256", "power of two"),
            ("--filePrefix a/b", "--dir names"),
            ("--filePrefix ..", "--dir names"),
            ("--fileSize 9223372036854775807 --numFiles 10", "any disk"),
        ] {
            let failure = args(line).unwrap().plan().unwrap_err();
            assert_eq!(failure.exit, posthaste_server::Exit::BadParameter, "{line}");
            assert!(
                failure.line().contains(reason),
                "{line}: {}",
                failure.line()
            );
        }
        for line in [
            "--numFiles 0",
            "--numFiles 10001",
            "--qm 0",
            "--qm 11",
            "--duration 0",
        ] {
            assert!(args(line).is_none(), "{line}");
        }
    }
}
