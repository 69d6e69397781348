//! How a queue manager under test is made: its log, its buffers, its queues.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use posthaste_server::ini;
use posthaste_server::{self as server, Creation, DataDir, Home, Interrupt};
use serde::Deserialize;

use super::fault::{LabError, uninterrupted};

/// The name of a queue manager under test.
pub const QUEUE_MANAGER: &str = "PERF";
/// Its server-connection channel.
pub(crate) const CHANNEL: &str = "PERF.SVRCONN";
/// How soon an interruption is noticed while one is created.
const INTERRUPTED: Duration = Duration::from_millis(50);

/// How a queue manager under test is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
pub(crate) fn queue_script(pairs: u32) -> Vec<String> {
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
    pub(crate) fn create_unless(
        &self,
        interrupt: &Interrupt,
        folder: &Path,
    ) -> Result<Home, LabError> {
        let (sender, made) = mpsc::channel();
        let (shape, place) = (*self, folder.to_owned());
        let create = move || {
            // Nobody listens any more after an interruption.
            let _ = sender.send(shape.create(&place, &mut |_, _| {}));
        };
        uninterrupted(interrupt)?;
        let thread = thread::Builder::new().name("creation".to_owned());
        thread
            .spawn(create)
            .map_err(|error| LabError::io(folder, error))?;
        loop {
            let made = made.recv_timeout(INTERRUPTED);
            uninterrupted(interrupt)?;
            match made {
                Ok(made) => return made,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(LabError::broken("its creation broke off"));
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
            text = with_key(&text, key, &value)
                .ok_or_else(|| LabError::broken(format!("{} has no {key}", path.display())))?;
        }
        fs::write(path, text).map_err(failed)
    }

    /// Options of the command that runs it.
    pub(super) fn options(&self) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
