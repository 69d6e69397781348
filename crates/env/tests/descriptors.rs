//! A process that has as many files open as it may. It is alone in this binary: the limit is the process's.

use std::fs::File;
use std::io;

use posthaste_env::{Open, os};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Opens files until there are no more.
fn exhaust() -> Vec<File> {
    let mut taken = Vec::new();
    loop {
        match File::open("/dev/null") {
            Ok(file) => taken.push(file),
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(24), "EMFILE: {error}");
                return taken;
            }
        }
    }
}

#[test]
fn a_log_gets_files_where_nobody_else_does() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let disk = os().disk;
    let path = folder.path().join("S0000000.LOG");
    let how = Open {
        create: true,
        ..Open::FORCED
    };
    let mut extent = disk.open(&path, how)?;
    let limit = getrlimit(Resource::Nofile);
    let low = Rlimit {
        current: Some(64),
        ..limit
    };
    setrlimit(Resource::Nofile, low)?;
    let taken = exhaust();
    for round in 0..9 {
        let other = disk.open(&folder.path().join("queue"), Open::CREATE);
        assert!(other.is_err(), "round {round}");
        // As when the log goes on to another extent: its name is made durable, it is opened, the old one is closed.
        disk.sync_dir(folder.path())?;
        extent = disk.open(&path, Open::FORCED)?;
    }
    drop(extent);
    drop(taken);
    disk.open(&folder.path().join("queue"), Open::CREATE)?;
    drop(exhaust());
    disk.sync_dir(folder.path())
}
