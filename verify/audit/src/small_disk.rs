//! A file system that is too small: it is filled until puts are refused, and by another's file to the last block; the
//! server is killed or ended on it and started again; the other's file goes, the queue is emptied in one of the ways an
//! operator has, and there must be room again.
//!
//! Invariants:
//! * The file system is a real one (in a file, mounted by the loop device), of this process alone.
//! * What was acknowledged is known by number: it is there, in order and once, after every start.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use posthaste_client::{Address, ClientError, Connection};
use posthaste_env_sim::Rng;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};

use crate::server::{Server, Site, Way};
use crate::stage::{connect, whole};

const QUEUE: &str = "AUDIT.DISK";
const MESSAGE: usize = 48 << 10;
/// What must be free again when the queue is empty, in hundredths of what was free at first.
const HEALED: u64 = 85;
/// How long that may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What kind of file system. They differ in what a new name needs: ext4 has its inodes from the beginning, XFS makes
/// them of free room.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum FileSystem {
    Ext4,
    Xfs,
}

impl FileSystem {
    fn make(self, image: &Path) -> io::Result<()> {
        match self {
            // No blocks kept back for root, who runs this.
            FileSystem::Ext4 => run("mkfs.ext4", &["-q", "-F", "-m", "0"], &[image]),
            FileSystem::Xfs => run("mkfs.xfs", &["-q", "-f"], &[image]),
        }
    }
}

/// A file system in a file, mounted while this lives.
pub(crate) struct SmallDisk {
    folder: PathBuf,
}

fn run(program: &str, arguments: &[&str], paths: &[&Path]) -> io::Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .args(paths)
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "{program} came to {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

impl SmallDisk {
    /// Makes one of so many MiB in `image`, and mounts it at `folder`.
    ///
    /// # Errors
    /// This machine, or this user, cannot mount one.
    pub(crate) fn mount(
        folder: &Path,
        image: &Path,
        (mib, kind): (u64, FileSystem),
    ) -> io::Result<SmallDisk> {
        File::create(image)?.set_len(mib << 20)?;
        kind.make(image)?;
        run("mount", &["-o", "loop"], &[image, folder])?;
        Ok(SmallDisk {
            folder: folder.to_owned(),
        })
    }

    /// Another's file.
    fn other(&self) -> PathBuf {
        self.folder.join("other")
    }

    /// Another's file takes all that is left, to the last byte.
    fn take_the_rest(&self) -> io::Result<()> {
        let full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        let file = File::options().create(true).append(true).open(self.other());
        let mut file = match file {
            // Not even a name.
            Err(error) if full(&error) => return Ok(()),
            file => file?,
        };
        for step in [64 << 10, 512, 1] {
            let piece = vec![0; step];
            loop {
                match file.write_all(&piece) {
                    Ok(()) => {}
                    Err(error) if full(&error) => break,
                    Err(error) => return Err(error),
                }
            }
            match file.sync_all() {
                Err(error) if !full(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn free(&self) -> io::Result<u64> {
        let statistics = rustix::fs::statvfs(&self.folder)?;
        Ok(statistics.f_bavail * statistics.f_frsize)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if let Err(error) = run("umount", &[], &[&self.folder]) {
            eprintln!("{} stays mounted: {error}", self.folder.display());
        }
    }
}

/// How the queue is emptied.
#[derive(Clone, Copy, Debug)]
enum Emptied {
    Got,
    Cleared,
    Deleted,
}

/// The rounds, and what they came to.
pub(crate) struct Rounds<'a> {
    site: &'a Site,
    disk: &'a SmallDisk,
    rng: Rng,
    next: u64,
    /// Numbers of the messages on the queue.
    there: Vec<u64>,
    roomy: u64,
    pub(crate) puts: u64,
    pub(crate) refusals: u64,
}

type Outcome = io::Result<Result<(), String>>;

fn broken(text: String) -> Outcome {
    Ok(Err(text))
}

fn client<T>(what: &str, result: Result<T, ClientError>) -> io::Result<T> {
    result.map_err(|error| io::Error::other(format!("{what}: {error}")))
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(site: &'a Site, disk: &'a SmallDisk, seed: u64) -> Rounds<'a> {
        Rounds {
            site,
            disk,
            rng: Rng::new(seed),
            next: 0,
            there: Vec::new(),
            roomy: 0,
            puts: 0,
            refusals: 0,
        }
    }

    /// Runs so many rounds; says which promise was broken.
    pub(crate) fn run(&mut self, rounds: u32) -> Outcome {
        self.site.create()?;
        let mut server = self.site.start()?;
        self.site
            .mqsc(&format!("DEFINE QLOCAL({QUEUE}) MAXDEPTH(1000000)"))?;
        self.roomy = self.disk.free()?;
        for round in 1..=rounds {
            if let Err(text) = self.round(&mut server)? {
                return broken(format!("round {round}: {text}"));
            }
            println!(
                "round {round}: {} puts so far, refused {} times, {} of {} MiB free again",
                self.puts,
                self.refusals,
                self.disk.free()? >> 20,
                self.roomy >> 20
            );
        }
        let status = server.end()?;
        match status.success() {
            true => Ok(Ok(())),
            false => broken(format!("the last orderly end came to {status}")),
        }
    }

    fn round(&mut self, server: &mut Server) -> Outcome {
        self.fill(&server.local)?;
        for _ in 0..2 {
            self.disk.take_the_rest()?;
            let ways = [Way::Kill, Way::Terminate, Way::Immediate];
            let way = self.rng.pick(&ways).copied().unwrap_or(Way::Kill);
            if let Some(status) = server.end_by(way, self.site)?
                && !status.success()
            {
                return broken(format!("on the full disk, {way:?} came to {status}"));
            }
            *server = self.site.start()?;
            let found = self.look(&server.local, MQGMO_BROWSE_NEXT)?;
            if found != self.there {
                return broken(format!(
                    "after {way:?} on the full disk the queue holds {} messages, of {} acknowledged",
                    found.len(),
                    self.there.len()
                ));
            }
        }
        match std::fs::remove_file(self.disk.other()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let how = [Emptied::Got, Emptied::Cleared, Emptied::Deleted];
        let how = self.rng.pick(&how).copied().unwrap_or(Emptied::Got);
        if let Err(text) = self.empty(how, &server.local)? {
            return broken(text);
        }
        self.healed(how)
    }

    /// Puts until it is refused.
    fn fill(&mut self, address: &Address) -> io::Result<()> {
        let (mut connection, handle) = open(address, MQOO_OUTPUT)?;
        loop {
            let mut data = self.next.to_le_bytes().to_vec();
            data.resize(MESSAGE, self.next as u8);
            let mut md = Md {
                persistence: MQPER_PERSISTENT,
                ..Md::default()
            };
            let mut pmo = Pmo {
                options: MQPMO_NO_SYNCPOINT | MQPMO_NEW_MSG_ID,
                ..Pmo::default()
            };
            self.puts += 1;
            match connection.put(handle, &mut md, &mut pmo, &data) {
                Ok(_) => self.there.push(self.next),
                Err(ClientError::Reason(
                    Reason::Q_SPACE_NOT_AVAILABLE | Reason::RESOURCE_PROBLEM,
                )) => break,
                Err(error) => return client("MQPUT", Err(error)),
            }
            self.next += 1;
        }
        self.refusals += 1;
        client("MQDISC", connection.disconnect()).map(drop)
    }

    /// The numbers of all messages, browsed or got.
    fn look(&self, address: &Address, how: i32) -> io::Result<Vec<u64>> {
        let (mut connection, handle) = open(address, MQOO_BROWSE | MQOO_INPUT_SHARED)?;
        let mut all = Vec::new();
        loop {
            let mut gmo = Gmo {
                options: how | MQGMO_NO_WAIT,
                ..Gmo::default()
            };
            let got = match whole(connection.get(handle, &mut Md::default(), &mut gmo, MESSAGE)) {
                Err(ClientError::Reason(Reason::NO_MSG_AVAILABLE)) => break,
                other => client("MQGET", other)?,
            };
            let number = got.data.first_chunk::<8>();
            all.push(number.map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes)));
        }
        client("MQDISC", connection.disconnect())?;
        Ok(all)
    }

    fn empty(&mut self, how: Emptied, address: &Address) -> Outcome {
        let expected = std::mem::take(&mut self.there);
        match how {
            Emptied::Got => {
                let got = self.look(address, MQGMO_NO_SYNCPOINT)?;
                if got != expected {
                    return broken(format!("{} of {} could be got", got.len(), expected.len()));
                }
            }
            Emptied::Cleared => self.site.mqsc(&format!("CLEAR QLOCAL({QUEUE})"))?,
            Emptied::Deleted => {
                self.site.mqsc(&format!("DELETE QLOCAL({QUEUE}) PURGE"))?;
                self.site
                    .mqsc(&format!("DEFINE QLOCAL({QUEUE}) MAXDEPTH(1000000)"))?;
            }
        }
        Ok(Ok(()))
    }

    /// There must be room again, without anybody's doing.
    fn healed(&self, how: Emptied) -> Outcome {
        let deadline = Instant::now() + TIMEOUT;
        let wanted = self.roomy * HEALED / 100;
        loop {
            let free = self.disk.free()?;
            if free >= wanted {
                return Ok(Ok(()));
            }
            if Instant::now() >= deadline {
                return broken(format!(
                    "{} s after the queue was emptied ({how:?}) {} MiB are free; {} were at first",
                    TIMEOUT.as_secs(),
                    free >> 20,
                    self.roomy >> 20
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn open(address: &Address, options: i32) -> io::Result<(Connection, Hobj)> {
    let mut connection = client("MQCONN", connect(address, "audit-disk"))?;
    let mut od = Od {
        object_name: Name::new(QUEUE),
        ..Od::default()
    };
    let handle = client("MQOPEN", connection.open_object(&mut od, options))?;
    Ok((connection, handle.value))
}
