//! A queue manager started for a measurement: the same program, in a process of its own, on a folder of its own.
//!
//! Invariants: it listens on a free port of the loopback address only; it is ended in order when the
//! measurement is over, in any case when its handle is dropped, and by itself when this process is killed.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use posthaste_client::Address;
use posthaste_server::{Home, Interrupt};

use super::child::Child;
use super::fault::LabError;
use super::shape::{QUEUE_MANAGER, Shape};

/// What the line begins with that says where it listens.
const LISTENING: &str = "Listening";
/// How much of what a server said is shown when it fails, in bytes.
const SHOWN: u64 = 2_000;

/// How long after a failed call the end of the process may follow.
const ENDING: Duration = Duration::from_millis(200);

/// A running queue manager.
#[derive(Debug)]
pub(crate) struct UnderTest {
    child: Child,
    program: PathBuf,
    folder: PathBuf,
    home: Home,
    shape: Shape,
    tcp: Address,
}

impl UnderTest {
    /// Creates a queue manager below `folder`, which must not hold one, and starts it.
    pub(crate) fn start(
        program: &Path,
        folder: &Path,
        shape: &Shape,
        interrupt: &Interrupt,
    ) -> Result<UnderTest, LabError> {
        let home = shape.create_unless(interrupt, folder)?;
        UnderTest::start_again(program, folder, home, shape)
    }

    /// Starts one that was created before.
    pub(crate) fn start_again(
        program: &Path,
        folder: &Path,
        home: Home,
        shape: &Shape,
    ) -> Result<UnderTest, LabError> {
        let words = folder.join("server.err");
        let file = File::options()
            .create(true)
            .append(true)
            .open(&words)
            .map_err(|error| LabError::io(&words, error))?;
        let mut command = Command::new(program);
        command
            .args(["run", QUEUE_MANAGER, "--port", "0", "--while-input"])
            .arg("--data-dir")
            .arg(folder)
            .args(shape.options())
            .env_remove("MQSERVER")
            // Kept open by the handle; when this process goes, however it goes, the other sees it.
            .stdin(Stdio::piped())
            .stderr(file);
        let failed = |error: std::io::Error| LabError::Server {
            what: error.to_string(),
            output: last_words(&words),
        };
        let mut child = Child::start(command).map_err(failed)?;
        let tcp = child.until(listening).map_err(failed)?;
        Ok(UnderTest {
            child,
            program: program.to_owned(),
            folder: folder.to_owned(),
            home,
            shape: *shape,
            tcp,
        })
    }

    /// Where applications connect over TCP.
    pub(crate) fn tcp(&self) -> &Address {
        &self.tcp
    }

    /// Where local applications connect.
    pub(crate) fn local(&self) -> Address {
        Address::Unix(self.home.applications())
    }

    /// Its files.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// What happened, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<LabError> {
        let status = self.child.ended()?;
        Some(self.ended_with(status))
    }

    /// Why a call failed: because the queue manager has ended or is ending, or as the call says.
    pub(crate) fn why(&mut self, error: LabError) -> LabError {
        match error {
            LabError::Workload { .. } => match self.child.ends_within(ENDING) {
                Some(status) => self.ended_with(status),
                None => error,
            },
            other => other,
        }
    }

    fn ended_with(&self, status: ExitStatus) -> LabError {
        LabError::Server {
            what: format!("it ended while it was measured ({status})"),
            output: last_words(&self.folder.join("server.err")),
        }
    }

    /// Ends it in order.
    pub(crate) fn end(&mut self) -> Result<(), LabError> {
        let failed = |what: String| LabError::Server {
            what,
            output: last_words(&self.folder.join("server.err")),
        };
        let status = self
            .child
            .end()
            .map_err(|error| failed(error.to_string()))?;
        match status.success() {
            true => Ok(()),
            false => Err(failed(format!("its orderly end came to {status}"))),
        }
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) -> Result<(), LabError> {
        self.child
            .kill()
            .map_err(|error| LabError::broken(error.to_string()))
    }

    /// Starts it again after its end; how long that took until it served.
    pub(crate) fn again(self) -> Result<(UnderTest, Duration), LabError> {
        let UnderTest {
            child,
            program,
            folder,
            home,
            shape,
            ..
        } = self;
        drop(child);
        let began = Instant::now();
        let running = UnderTest::start_again(&program, &folder, home, &shape)?;
        Ok((running, began.elapsed()))
    }
}

/// The end of what the server said, or nothing.
fn last_words(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SHOWN)))?;
        let mut bytes = Vec::new();
        file.take(SHOWN).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}

/// The address in `Listening  127.0.0.1:33969`.
fn listening(line: &str) -> Option<Address> {
    let rest = line.trim_start().strip_prefix(LISTENING)?.trim();
    let (host, port) = rest.rsplit_once(':')?;
    Some(Address::Tcp {
        host: host.trim_matches(['[', ']']).to_owned(),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read() {
        let tcp = |host: &str, port| {
            let host = host.to_owned();
            Some(Address::Tcp { host, port })
        };
        assert_eq!(
            listening("  Listening  127.0.0.1:33969"),
            tcp("127.0.0.1", 33969)
        );
        assert_eq!(listening("  Listening  [::1]:1414"), tcp("::1", 1414));
        for line in ["", "  Data  /x:1", "Listening", "  Listening  nowhere"] {
            assert_eq!(listening(line), None, "{line}");
        }
    }
}
