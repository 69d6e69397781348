//! The same test for fio: whole blocks one after another, synchronous and direct, through files made beforehand.
//!
//! Differences from the job file that the MQ performance papers print: `sync=dsync` is what a recovery log
//! asks for (`sync=1` writes the file's times too, and `fdatasync=1` forces a second time); `fill_device` would
//! fill the disk.

use std::path::Path;

use posthaste_server::Failure;

use super::options::DiskTestArgs;

/// Refuses a directory that cannot be named in a job file: fio ends a value at these characters or puts something
/// else in their place, and knows no way to write them.
pub(super) fn check_directory(dir: &Path) -> Result<(), Failure> {
    let wrong = |what: &str| {
        let dir = dir.display();
        Failure::bad_parameter(format!(
            "--fio: the name of {dir} has {what}, which fio does not take in a job file; use a directory or a link \
             with another name"
        ))
    };
    let Some(name) = dir.to_str() else {
        return Err(wrong("bytes that are not UTF-8 text"));
    };
    let strange = |c: &char| ['#', ';', '$', '\\', '"'].contains(c) || c.is_control();
    if let Some(found) = name.chars().find(strange) {
        return Err(wrong(&format!("the character {found:?}")));
    }
    match name.trim() == name {
        true => Ok(()),
        false => Err(wrong("a blank at its beginning or end")),
    }
}

/// A job file with a section for each block size.
pub(super) fn job_file(args: &DiskTestArgs, name: &str) -> String {
    let mut out = format!(
        "; The test of `posthaste disktest`, for fio 3.27 or later:\n\
         ;   fio {name}\n\
         ;   fio {name} --section=write-{first}\n\
         [global]\n\
         directory={dir}\n\
         rw=write\n\
         ioengine=psync\n\
         iodepth=1\n\
         direct=1\n\
         sync=dsync\n\
         overwrite=1\n\
         fallocate=none\n\
         file_service_type=sequential\n\
         nrfiles={files}\n\
         openfiles={files}\n\
         filesize={size}\n\
         numjobs={jobs}\n\
         group_reporting\n\
         time_based\n\
         runtime={seconds}\n\
         unlink=1\n",
        first = args.blocks.first().map_or("4K", |block| &block.text),
        // A colon separates directories.
        dir = args.dir.display().to_string().replace(':', "\\:"),
        files = args.files,
        size = args.file_size,
        jobs = args.queue_managers,
        seconds = args.duration.as_secs(),
    );
    if !args.pause.is_zero() {
        out.push_str(&format!("thinktime={}\n", args.pause.as_micros()));
    }
    for block in &args.blocks {
        out.push_str(&format!(
            "\n[write-{}]\nstonewall\nbs={}\n",
            block.text, block.bytes
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::args;
    use super::*;

    #[test]
    fn a_directory_that_fio_cannot_be_told_is_refused() {
        for dir in ["/plain", "/a:b", "/with blank/x", "."] {
            assert_eq!(check_directory(Path::new(dir)), Ok(()), "{dir}");
        }
        for dir in [
            "/a#b", "/a;b", "/$ncpus", "/a\\b", "/a\"b", "/a\nb", "/blank ",
        ] {
            let failure = check_directory(Path::new(dir)).unwrap_err();
            assert_eq!(failure.exit, posthaste_server::Exit::BadParameter, "{dir}");
        }
    }

    #[test]
    fn every_block_size_has_a_section_and_options_are_the_same() {
        let line = "--dir /a:b --bsize 4K,128k --numFiles 24 --fileSize 262144 --duration 20 --qm 3 --delay 9";
        let job = job_file(&args(line), "x.fio");
        for expected in "directory=/a\\:b|nrfiles=24|filesize=262144|numjobs=3|runtime=20|sync=dsync|direct=1|thinktime=9|\
            [write-4K]\nstonewall\nbs=4096|[write-128k]\nstonewall\nbs=131072".split('|')
        {
            assert!(job.contains(&format!("\n{expected}\n")), "{expected}: {job}");
        }
    }
}
