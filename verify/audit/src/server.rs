//! The server under audit: the real binary, in a process of its own.
//!
//! Invariant: only the process started here is ever signalled, through its own handle.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use posthaste_client::Address;
use rustix::process::{Pid, Signal, kill_process};

use crate::stage::{QUEUE_MANAGER, script};

/// How long a start or an orderly end may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// What the line begins with that says where it listens.
const LISTENING: &str = "Listening";

/// How the server is made to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// SIGKILL.
    Kill,
    /// SIGTERM, as a system that shuts down sends it.
    Terminate,
    /// `endmqm -i`.
    Immediate,
}

/// How to start the server, and where its files are.
pub(crate) struct Site {
    /// The binary.
    pub(crate) program: PathBuf,
    /// Its folder of queue managers.
    pub(crate) data: PathBuf,
    /// Where what it says on standard error is kept, of all its lives.
    pub(crate) words: PathBuf,
    /// 4 KiB pages of a log file, primary files, secondary files.
    pub(crate) log: (u32, u32, u32),
    /// Bytes of a queue in memory.
    pub(crate) buffer: u32,
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    /// Where applications connect over TCP.
    pub(crate) tcp: Option<Address>,
    /// Where local applications connect.
    pub(crate) local: Address,
}

fn other(text: String) -> io::Error {
    io::Error::other(text)
}

impl Site {
    fn home(&self) -> PathBuf {
        self.data.join("qmgrs").join(QUEUE_MANAGER)
    }

    /// Creates the queue manager, with queues, a small log and small queue buffers.
    pub(crate) fn create(&self) -> io::Result<()> {
        fs::create_dir_all(&self.data)?;
        let objects = self.data.join("objects.mqsc");
        fs::write(&objects, script())?;
        let (pages, primary, secondary) = self.log;
        let mut command = self.command()?;
        command.arg("--plain").arg("--script").arg(&objects);
        for (name, value) in [("--lf", pages), ("--lp", primary), ("--ls", secondary)] {
            command.arg(name).arg(value.to_string());
        }
        let server = self.start_by(command)?;
        let status = server.end()?;
        if !status.success() {
            return Err(other(format!(
                "the first orderly end came to {status}; see {}",
                self.words.display()
            )));
        }
        self.tune(&self.home().join("qm.ini"))
    }

    /// Makes the queue buffers small, so that messages spill.
    fn tune(&self, ini: &Path) -> io::Result<()> {
        let text = fs::read_to_string(ini)?;
        let mut tuned = text;
        for key in ["DefaultQBufferSize", "DefaultPQBufferSize"] {
            let line = tuned
                .lines()
                .find(|line| line.trim_start_matches(['#', ' ']).starts_with(key))
                .map(str::to_owned);
            let Some(line) = line else {
                return Err(other(format!("{} has no {key}", ini.display())));
            };
            tuned = tuned.replace(&line, &format!("   {key}={}", self.buffer));
        }
        fs::write(ini, tuned)
    }

    /// Lets `runmqsc` carry a command out.
    pub(crate) fn mqsc(&self, line: &str) -> io::Result<()> {
        match runmqsc(&self.program, &self.data, line)? {
            true => Ok(()),
            false => Err(other(format!("runmqsc could not {line}"))),
        }
    }

    /// `endmqm -i`, as an administrator types it.
    fn end_immediately(&self) -> io::Result<()> {
        let output = Command::new(&self.program)
            .args(["stop", "-i", QUEUE_MANAGER, "--data-dir"])
            .arg(&self.data)
            .stdin(Stdio::null())
            .output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(other(format!(
                "endmqm -i came to {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ))),
        }
    }

    fn command(&self) -> io::Result<Command> {
        let mut words = File::options()
            .create(true)
            .append(true)
            .open(&self.words)?;
        writeln!(words, "-- start")?;
        let mut command = Command::new(&self.program);
        command
            .args(["run", QUEUE_MANAGER, "--port", "0", "--data-dir"])
            .arg(&self.data)
            .env_remove("MQSERVER")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(words);
        Ok(command)
    }

    /// Starts the server without waiting for it.
    pub(crate) fn launch(&self) -> io::Result<Server> {
        self.launch_by(self.command()?)
    }

    fn launch_by(&self, mut command: Command) -> io::Result<Server> {
        let mut child = command
            .spawn()
            .map_err(|error| other(format!("{}: {error}", self.program.display())))?;
        let (sender, lines) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            // Reads until the process ends, so that the server never waits for its reader.
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        // Nobody listens any more; keep the pipe empty all the same.
                        continue;
                    }
                }
            });
        }
        Ok(Server {
            child,
            lines,
            tcp: None,
            local: Address::Unix(self.home().join("run").join("local.sock")),
        })
    }

    /// Starts the server and waits until it is ready.
    pub(crate) fn start(&self) -> io::Result<Server> {
        self.start_by(self.command()?)
    }

    fn start_by(&self, command: Command) -> io::Result<Server> {
        let mut server = self.launch_by(command)?;
        match server.ready() {
            Ok(()) => Ok(server),
            Err(error) => {
                let text = fs::read_to_string(&self.words).unwrap_or_default();
                let last = text.rsplit("-- start").next().unwrap_or_default().trim();
                Err(other(format!("{error}; it said:\n{last}")))
            }
        }
    }
}

impl Server {
    /// Waits until it says where it listens.
    fn ready(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(address) = listening(&line) {
                        self.tcp = Some(address);
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.kill()?;
                    return Err(other(format!(
                        "the server is not ready after {} s",
                        TIMEOUT.as_secs()
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    return Err(other(format!(
                        "the server ended while it started: {status}"
                    )));
                }
            }
        }
    }

    /// Whether it has ended by itself.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.send_kill()?;
        self.gone()
    }

    /// SIGKILL.
    pub(crate) fn send_kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }

    /// Waits until it is gone.
    pub(crate) fn gone(&mut self) -> io::Result<()> {
        self.child.wait().map(|_| ())
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| other("the server has no process number".to_owned()))?;
        Ok(kill_process(pid, signal)?)
    }

    /// Stops it for a while, as a debugger or an overloaded machine does.
    pub(crate) fn freeze(&self, time: Duration) -> io::Result<()> {
        self.signal(Signal::STOP)?;
        thread::sleep(time);
        self.signal(Signal::CONT)
    }

    /// Makes it end, and waits for that. What a kill comes to is no failure.
    pub(crate) fn end_by(&mut self, way: Way, site: &Site) -> io::Result<Option<ExitStatus>> {
        match way {
            Way::Kill => return self.kill().map(|()| None),
            Way::Terminate => self.signal(Signal::TERM)?,
            Way::Immediate => site.end_immediately()?,
        }
        self.ended_in_order().map(Some)
    }

    /// SIGTERM, and waits for an orderly end.
    pub(crate) fn end(mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.ended_in_order()
    }

    fn ended_in_order(&mut self) -> io::Result<ExitStatus> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                self.kill()?;
                return Err(other(format!(
                    "no orderly end within {} s",
                    TIMEOUT.as_secs()
                )));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A campaign that fails half-way must not leave its server behind.
        if matches!(self.child.try_wait(), Ok(None)) && self.kill().is_err() {
            eprintln!("cannot end process {}", self.child.id());
        }
    }
}

/// Lets `runmqsc` carry a command out; whether it did.
pub(crate) fn runmqsc(program: &Path, data: &Path, line: &str) -> io::Result<bool> {
    let mut child = Command::new(program)
        .args(["mqsc", QUEUE_MANAGER, "--data-dir"])
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        writeln!(input, "{line}")?;
    }
    Ok(child.wait()?.success())
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
            Some(Address::Tcp {
                host: host.to_owned(),
                port,
            })
        };
        assert_eq!(
            listening("  Listening  127.0.0.1:33969"),
            tcp("127.0.0.1", 33969)
        );
        assert_eq!(listening("  Listening  [::1]:1414"), tcp("::1", 1414));
        for line in ["", "  Data  /x:1", "Listening", "  Listening nowhere"] {
            assert_eq!(listening(line), None, "{line}");
        }
    }

    #[test]
    fn buffers_are_tuned() {
        let folder = tempfile::tempdir().unwrap();
        let ini = folder.path().join("qm.ini");
        fs::write(&ini, "TuningParameters:\n   #DefaultQBufferSize=262144\n   DefaultPQBufferSize=7\n   #ExpiryInterval=300\n").unwrap();
        let site = Site {
            program: PathBuf::new(),
            data: folder.path().to_owned(),
            words: folder.path().join("server.err"),
            log: (64, 2, 1),
            buffer: 4096,
        };
        site.tune(&ini).unwrap();
        assert_eq!(
            fs::read_to_string(&ini).unwrap(),
            "TuningParameters:\n   DefaultQBufferSize=4096\n   DefaultPQBufferSize=4096\n   #ExpiryInterval=300\n"
        );
        fs::write(&ini, "Log:\n").unwrap();
        assert!(site.tune(&ini).is_err());
    }
}
