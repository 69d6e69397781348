//! A folder of queue managers, and commands that work in it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::written::found_in;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_posthaste");

/// MQSC that takes away what closes a new queue manager to clients, for tests that say themselves who may come in.
pub(crate) const OPEN: &str =
    "ALTER QMGR CONNAUTH(' ') CHLAUTH(DISABLED)\nREFRESH SECURITY(*) TYPE(CONNAUTH)\n";

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// The outcome of a command that must have ended with 0.
    #[track_caller]
    pub(crate) fn good(self) -> Outcome {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Asserts an exit code and a message number.
    #[track_caller]
    pub(crate) fn failed_with(self, code: i32, id: &str) -> Outcome {
        let shown = self.err.contains(id) || self.out.contains(id);
        assert!(self.code == code && shown, "{code} {id} expected: {self:?}");
        self
    }
}

pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The folder of a queue manager.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.data().join("qmgrs").join(name)
    }

    /// The binary, under any of its names.
    pub(crate) fn named(&self, name: &str) -> Command {
        let program = match name {
            "posthaste" => PathBuf::from(BINARY),
            name => {
                let link = self.path().join(name);
                if !link.exists() {
                    std::os::unix::fs::symlink(BINARY, &link).expect("a link");
                }
                link
            }
        };
        let mut command = Command::new(program);
        command
            .env("POSTHASTE_DATA", self.data())
            .env_remove("MQSERVER")
            .stdin(Stdio::null());
        command
    }

    /// A command that has ended.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Outcome {
        outcome(self.named("posthaste").args(arguments))
    }

    /// The same, from one line.
    pub(crate) fn line(&self, line: &str) -> Outcome {
        self.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// A command with something on its standard input.
    pub(crate) fn fed(&self, input: impl AsRef<[u8]>, line: &str) -> Outcome {
        let mut command = self.named("posthaste");
        command.args(line.split(' '));
        fed(command, input.as_ref())
    }

    /// A shell script in a mount namespace of its own, where `$D` is a file system of 12 MiB; `None`
    /// where the system does not allow that.
    pub(crate) fn on_a_small_disk(&self, script: &str) -> Option<Outcome> {
        let folder = self.path().join("small");
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut probe = Command::new("unshare");
        let unshare = ["-r", "-m", "sh", "-c"];
        let mount = format!(
            "mount -t tmpfs -o size=12m,mode=700 none '{}'",
            folder.display()
        );
        let possible = probe.args(unshare).arg(&mount).output();
        if !possible.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let mut command = Command::new("unshare");
        command
            .args(unshare)
            .arg(format!("{mount} && {script}"))
            .env("D", &folder)
            .env("P", BINARY)
            .env("POSTHASTE_DATA", folder.join("data"))
            .env_remove("MQSERVER");
        Some(outcome(&mut command))
    }

    /// MQSC commands on a running queue manager.
    pub(crate) fn mqsc(&self, script: &str, name: &str) -> Outcome {
        self.fed(script, &format!("mqsc {name}"))
    }

    /// A new queue manager with a small log, in the foreground, serving.
    pub(crate) fn serving(&self, name: &str) -> Serving {
        self.serving_with(name, &["--port", "0"])
    }

    pub(crate) fn serving_with(&self, name: &str, options: &[&str]) -> Serving {
        let mut command = self.named("posthaste");
        command
            .args(["run", name, "--lf", "256", "--lp", "3"])
            .args(options);
        Serving::start(command)
    }

    pub(crate) fn error_log(&self, name: &str) -> String {
        let path = self.home(name).join("errors/AMQERR01.LOG");
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// Waits until the error log has a text: what a client causes is written by the log's own thread.
    pub(crate) fn logged(&self, name: &str, text: &str) {
        let has = || self.error_log(name).contains(text).then_some(());
        let found = found_in(&self.home(name).join("errors"), has);
        assert!(found.is_some(), "no {text} in {}", self.error_log(name));
    }

    /// The current depth of a queue.
    pub(crate) fn depth(&self, queue: &str, name: &str) -> u64 {
        let shown = self
            .mqsc(&format!("DISPLAY QLOCAL({queue}) CURDEPTH"), name)
            .good();
        let (_, rest) = shown.out.split_once("CURDEPTH(").expect("a depth");
        let (depth, _) = rest.split_once(')').expect("a depth");
        depth.parse().expect("a number")
    }
}

/// Tells that a test does not do what it is for. What a test prints is kept from whoever runs it, but not what is written
/// like this.
pub(crate) fn skipped(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes());
}

pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("the command runs");
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command with something on its standard input.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Outcome {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let feeding = std::thread::spawn(move || {
        // A command that fails early does not read everything.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the command ends");
    feeding.join().expect("fed");
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A child that is killed if the test ends before it.
pub(crate) struct Guard(pub(crate) Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A queue manager in the foreground.
pub(crate) struct Serving {
    child: Guard,
    /// What it has said so far, up to the last line of its welcome.
    pub(crate) welcome: Vec<String>,
    _rest: Lines<BufReader<ChildStdout>>,
}

impl Serving {
    pub(crate) fn start(mut command: Command) -> Serving {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = Guard(child.expect("it starts"));
        let stdout = child.0.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let mut welcome = Vec::new();
        for line in lines.by_ref() {
            let line = line.expect("text");
            let last = line.starts_with("Ctrl-C");
            welcome.push(line);
            if last {
                return Serving {
                    child,
                    welcome,
                    _rest: lines,
                };
            }
        }
        let mut text = String::new();
        let stderr = child.0.stderr.take();
        stderr
            .expect("a pipe")
            .read_to_string(&mut text)
            .expect("text");
        panic!("it did not serve: {welcome:?} {text}");
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        let line = self.welcome.iter().find(|line| line.contains("Listening"));
        let (_, port) = line
            .and_then(|line| line.rsplit_once(':'))
            .expect("an address");
        port.parse().expect("a port")
    }

    /// Its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child.0);
        rustix::process::kill_process(pid, signal).expect("it is there");
    }

    /// Stops all of its threads. The signal is taken by one of them, and where processors are busy the others go on until
    /// that one has run.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
        let tasks = format!("/proc/{}/task", self.process());
        let deadline = Instant::now() + Duration::from_secs(60);
        let stopped = |task: std::io::Result<std::fs::DirEntry>| {
            let status = task.expect("a thread").path().join("status");
            let status = std::fs::read_to_string(status).unwrap_or_default();
            status.contains("State:\tT")
        };
        while !std::fs::read_dir(&tasks).expect("its threads").all(stopped) {
            assert!(Instant::now() < deadline, "it was not stopped");
            std::thread::yield_now();
        }
    }

    /// Waits for its end: exit code and standard error.
    pub(crate) fn wait(mut self) -> (i32, String) {
        let mut text = String::new();
        let stderr = self.child.0.stderr.take();
        stderr
            .expect("a pipe")
            .read_to_string(&mut text)
            .expect("text");
        let status = self.child.0.wait().expect("it ends");
        (status.code().unwrap_or(-1), text)
    }

    /// Ends it in order.
    pub(crate) fn end(self) {
        self.signal(Signal::TERM);
        let (code, text) = self.wait();
        assert_eq!(code, 0, "{text}");
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
        self.wait();
    }
}

/// A queue manager in the background; ended when dropped.
pub(crate) struct Background<'a> {
    pub(crate) place: &'a Place,
    pub(crate) name: &'a str,
}

impl Drop for Background<'_> {
    fn drop(&mut self) {
        self.place.line(&format!("stop -p {}", self.name));
    }
}
