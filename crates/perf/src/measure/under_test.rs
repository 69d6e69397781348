//! A queue manager started for a measurement: the same program, in a process of its own, on a folder of its own.
//!
//! Invariants: it listens on a free port of the loopback address only; it is ended in order when the
//! measurement is over, in any case when its handle is dropped, and by itself when this process is killed.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use posthaste_client::Address;
use posthaste_server::ini;
use posthaste_server::{self as server, Creation, DataDir, Home};
use serde::{Deserialize, Serialize};

use super::child::{Child, Patience};
use super::cpu::CpuClock;
use super::fault::LabError;
use super::interrupt::Interrupt;

/// The queue manager's name.
pub const QUEUE_MANAGER: &str = "PERF";
/// Its server-connection channel.
pub const CHANNEL: &str = "PERF.SVRCONN";
/// What the line begins with that says where it listens.
const LISTENING: &str = "Listening";
/// How much of what a server said is shown when it fails, in bytes.
const SHOWN: u64 = 2_000;

/// How soon an interruption is noticed while one is created.
const INTERRUPTED: Duration = Duration::from_millis(50);
/// How long after a failed call the end of the process may follow.
const ENDING: Duration = Duration::from_millis(200);

/// How a queue manager under test is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shape {
    /// 4 KiB pages of a log file.
    pub file_pages: u32,
    /// Log files made at once.
    pub primary: u32,
    /// Log files made when needed.
    pub secondary: u32,
    /// `LogBufferPages`; 0 leaves the choice.
    pub buffer_pages: u32,
    /// Pairs of request and reply queues.
    pub queue_pairs: u32,
    /// Bytes that a queue keeps in memory.
    pub queue_buffer: u32,
    /// Microseconds added to every write of the log; 0 for none.
    pub disk_delay_us: u64,
    /// Most bytes per second of the log; 0 for no limit.
    pub disk_bandwidth: u64,
    /// One write in flight, and no rule that makes batches whole: the ordinary group commit.
    pub plain_log: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            file_pages: 16_384,
            primary: 6,
            secondary: 6,
            buffer_pages: 4_096,
            queue_pairs: 10,
            queue_buffer: 10 << 20,
            disk_delay_us: 0,
            disk_bandwidth: 0,
            plain_log: false,
        }
    }
}

/// MQSC that a queue manager under test is created with.
pub fn queue_script(pairs: u32) -> Vec<String> {
    let mut script = vec![
        format!("DEFINE CHANNEL({CHANNEL}) CHLTYPE(SVRCONN) SHARECNV(1) MAXMSGL(104857600)"),
        "ALTER QMGR MAXMSGL(104857600)".to_owned(),
        server::listener_object(0, "127.0.0.1"),
    ];
    for kind in ["REQUEST", "REPLY"] {
        for number in 1..=pairs {
            script.push(format!(
                "DEFINE QLOCAL({kind}{number}) MAXDEPTH(999999999) MAXMSGL(104857600)"
            ));
        }
    }
    script
}

impl Shape {
    /// Creates the queue manager below `folder`. `progress` hears how many bytes of its log have been
    /// written, and of how many.
    ///
    /// # Errors
    /// The disk does not take it.
    pub fn create(
        &self,
        folder: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Home, LabError> {
        let creation = Creation {
            name: QUEUE_MANAGER.to_owned(),
            shape: ini::Shape {
                file_pages: self.file_pages,
                primary: self.primary,
                secondary: self.secondary,
                buffer_pages: self.buffer_pages,
            },
            commands: queue_script(self.queue_pairs),
            ..Creation::default()
        };
        let data = DataDir::at(folder);
        let created = server::create(&posthaste_env::os(), &data, &creation, progress)
            .map_err(|failure| LabError::server("cannot be created", &failure))?;
        self.tune(&created.home.configuration())?;
        Ok(created.home)
    }

    /// The same, unless the run is interrupted meanwhile. Creation itself cannot be stopped: it is left alone, and
    /// ends when the process does, or when `folder` gets another name.
    ///
    /// # Errors
    /// The disk does not take it, or the run was interrupted.
    pub fn create_unless(&self, interrupt: &Interrupt, folder: &Path) -> Result<Home, LabError> {
        let (sender, made) = mpsc::channel();
        let (shape, place) = (self.clone(), folder.to_owned());
        let create = move || {
            // Nobody listens any more after an interruption.
            let _ = sender.send(shape.create(&place, &mut |_, _| {}));
        };
        if interrupt.raised() {
            return Err(LabError::Interrupted);
        }
        let thread = thread::Builder::new().name("creation".to_owned());
        thread
            .spawn(create)
            .map_err(|error| LabError::io(folder, error))?;
        loop {
            let made = made.recv_timeout(INTERRUPTED);
            if interrupt.raised() {
                return Err(LabError::Interrupted);
            }
            match made {
                Ok(made) => return made,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(LabError::Server {
                        what: "its creation broke off".to_owned(),
                        said: String::new(),
                    });
                }
            }
        }
    }

    /// Sets what the commands that create have no option for.
    fn tune(&self, path: &Path) -> Result<(), LabError> {
        let failed = |error| LabError::io(path, error);
        let mut text = fs::read_to_string(path).map_err(failed)?;
        for (key, value) in [
            ("DefaultQBufferSize", self.queue_buffer.to_string()),
            ("DefaultPQBufferSize", self.queue_buffer.to_string()),
            ("MaxChannels", "20000".to_owned()),
        ] {
            text = with_key(&text, key, &value).ok_or_else(|| LabError::Server {
                what: format!("{} has no {key}", path.display()),
                said: String::new(),
            })?;
        }
        fs::write(path, text).map_err(failed)
    }

    /// Options of the command that runs it.
    fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        if self.disk_delay_us > 0 {
            options.push("--disk-delay-us".to_owned());
            options.push(self.disk_delay_us.to_string());
        }
        if self.disk_bandwidth > 0 {
            options.push("--disk-bandwidth".to_owned());
            options.push(self.disk_bandwidth.to_string());
        }
        if self.plain_log {
            options.push("--plain-log".to_owned());
        }
        options
    }
}

/// The file with one key set; `None` if it does not know the key.
fn with_key(text: &str, key: &str, value: &str) -> Option<String> {
    let is_key = |line: &&str| {
        let line = line.trim_start().trim_start_matches('#').trim_start();
        line.strip_prefix(key)
            .is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = text.lines().find(is_key)?;
    Some(text.replace(line, &format!("   {key}={value}")))
}

/// A running queue manager.
#[derive(Debug)]
pub struct UnderTest {
    child: Child,
    program: PathBuf,
    folder: PathBuf,
    home: Home,
    shape: Shape,
    tcp: Address,
}

impl UnderTest {
    /// Creates a queue manager below `folder`, which must not hold one, and starts it.
    ///
    /// # Errors
    /// The disk does not take it, it does not start, or the run was interrupted.
    pub fn start(
        program: &Path,
        folder: &Path,
        shape: &Shape,
        interrupt: &Interrupt,
    ) -> Result<UnderTest, LabError> {
        let home = shape.create_unless(interrupt, folder)?;
        UnderTest::start_again(program, folder, home, shape)
    }

    /// Starts one that was created before.
    ///
    /// # Errors
    /// It does not start.
    pub fn start_again(
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
            said: last_words(&words),
        };
        let mut child = Child::start(command, Patience::default()).map_err(failed)?;
        let tcp = child.until(listening).map_err(failed)?;
        Ok(UnderTest {
            child,
            program: program.to_owned(),
            folder: folder.to_owned(),
            home,
            shape: shape.clone(),
            tcp,
        })
    }

    /// Where applications connect over TCP.
    pub fn tcp(&self) -> &Address {
        &self.tcp
    }

    /// Where local applications connect.
    pub fn local(&self) -> Address {
        Address::Unix(self.home.applications())
    }

    /// Its files.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Its processor time.
    pub fn clock(&self) -> CpuClock {
        CpuClock::of(self.pid())
    }

    /// What happened, if it has ended.
    pub fn ended(&mut self) -> Option<LabError> {
        let status = self.child.ended()?;
        Some(self.ended_with(status))
    }

    /// Why a call failed: because the queue manager has ended or is ending, or as the call says.
    pub fn why(&mut self, error: LabError) -> LabError {
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
            said: last_words(&self.folder.join("server.err")),
        }
    }

    /// Ends it in order.
    ///
    /// # Errors
    /// It does not end, or says that something went wrong.
    pub fn end(&mut self) -> Result<(), LabError> {
        let failed = |what: String| LabError::Server {
            what,
            said: last_words(&self.folder.join("server.err")),
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
    ///
    /// # Errors
    /// It cannot be signalled.
    pub fn kill(&mut self) -> Result<(), LabError> {
        self.child.kill().map_err(|error| LabError::Server {
            what: error.to_string(),
            said: String::new(),
        })
    }

    /// Starts it again after its end; how long that took until it served.
    ///
    /// # Errors
    /// It does not start.
    pub fn again(self) -> Result<(UnderTest, Duration), LabError> {
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

    #[test]
    fn keys_are_set_whether_they_stood_there_or_not() {
        let text = "TuningParameters:\n   #DefaultQBufferSize=262144\n   DefaultPQBufferSize = 7\n";
        let set = with_key(text, "DefaultQBufferSize", "1").unwrap();
        let set = with_key(&set, "DefaultPQBufferSize", "2").unwrap();
        assert_eq!(
            set,
            "TuningParameters:\n   DefaultQBufferSize=1\n   DefaultPQBufferSize=2\n"
        );
        assert_eq!(with_key(text, "MaxChannels", "3"), None);
    }

    #[test]
    fn a_queue_manager_under_test_has_its_queues_and_its_tuning() {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape {
            file_pages: 64,
            primary: 2,
            secondary: 1,
            queue_pairs: 2,
            ..Shape::default()
        };
        let home = shape.create(folder.path(), &mut |_, _| {}).unwrap();
        let text = fs::read_to_string(home.configuration()).unwrap();
        for line in [
            "DefaultQBufferSize=10485760",
            "MaxChannels=20000",
            "LogBufferPages=4096",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        let script = queue_script(2).join("\n");
        for queue in ["REQUEST1", "REQUEST2", "REPLY1", "REPLY2"] {
            assert!(script.contains(&format!("QLOCAL({queue})")));
        }
        // The folder is taken now.
        let none = Interrupt::none();
        assert!(matches!(
            shape.create_unless(&none, folder.path()),
            Err(LabError::Server { .. })
        ));
        let other = folder.path().join("other");
        assert!(shape.create_unless(&none, &other).is_ok());
        none.raise();
        assert!(matches!(
            shape.create_unless(&none, &folder.path().join("third")),
            Err(LabError::Interrupted)
        ));
    }

    #[test]
    fn options_are_given_only_where_something_is_asked_for() {
        assert!(Shape::default().options().is_empty());
        let slow = Shape {
            disk_delay_us: 1_000,
            disk_bandwidth: 5,
            plain_log: true,
            ..Shape::default()
        };
        assert_eq!(
            slow.options().join(" "),
            "--disk-delay-us 1000 --disk-bandwidth 5 --plain-log"
        );
    }
}
