//! IBM's JMS client at work: a Java program of our own in a process of its own.
//!
//! Invariants: what it needs is fetched by Maven and compiled before a run measures anything, in a folder that goes with the
//! driver; its process ends with its handle; a round trip that fails anywhere is an error of whatever is asked of it next.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use hdrhistogram::Histogram;
use posthaste_client::Address;

use super::work_folder::WorkFolder;
use crate::measure::{CHANNEL, Child, LabError, QUEUE_MANAGER, histogram};

const POM: &str = include_str!("../../jms/pom.xml");
const DRIVER: &str = include_str!("../../jms/RoundTrips.java");
const NAME: &str = "the JMS driver";
const CLASS: &str = "RoundTrips";
/// Why Maven's plugin has a version here: so that two runs fetch the same.
const CLASS_PATH_GOAL: &str =
    "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";
/// What is run, and what each is asked to see whether it is there.
const PROGRAMS: [(&str, &str); 3] = [
    ("java", "-version"),
    ("javac", "-version"),
    ("mvn", "-version"),
];
/// How much of what it wrote to standard error is shown.
const SHOWN: usize = 2_000;

/// The compiled driver.
#[derive(Debug)]
pub(crate) struct Driver {
    folder: WorkFolder,
    class_path: String,
}

/// Whether the programs are there that the driver is built and run with.
///
/// # Errors
/// Which one is not.
fn check_programs() -> Result<(), LabError> {
    let there = |program: &str, flag: &str| {
        let run = Command::new(program)
            .arg(flag)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        run.is_ok_and(|status| status.success())
    };
    match PROGRAMS.iter().find(|(name, flag)| !there(name, flag)) {
        Some((name, _)) => Err(LabError::Lacks((*name).to_owned())),
        None => Ok(()),
    }
}

/// Runs a program whose output is of interest only if it fails.
fn run(command: &mut Command) -> Result<String, LabError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| LabError::workload(format!("{NAME} cannot be built: {name}"), why);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => {
            let both = text(&output.stdout) + &text(&output.stderr);
            Err(failed(end_of(&both).to_owned()))
        }
    }
}

/// The end of a text, as much as is shown.
fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(SHOWN);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    from.map_or("", |from| &text[from..])
}

impl Driver {
    /// Fetches IBM's library and compiles the driver, in a folder of its own, which goes with it.
    ///
    /// # Errors
    /// A program is missing or fails, or the folder cannot be written to.
    pub(super) fn build(folder: PathBuf) -> Result<Driver, LabError> {
        check_programs()?;
        let folder = WorkFolder::at(folder);
        let place = folder.path();
        let write = |name: &str, text: &str| -> Result<PathBuf, LabError> {
            let path = place.join(name);
            fs::write(&path, text).map_err(|error| LabError::io(&path, error))?;
            Ok(path)
        };
        fs::create_dir_all(place).map_err(|error| LabError::io(place, error))?;
        write("RoundTrips.java", DRIVER)?;
        let pom = write("pom.xml", POM)?;
        let libraries = place.join("class-path");
        run(Command::new("mvn")
            .args(["-B", "-q", "-f"])
            .arg(&pom)
            .arg(CLASS_PATH_GOAL)
            .arg(format!("-Dmdep.outputFile={}", libraries.display())))?;
        let libraries =
            fs::read_to_string(&libraries).map_err(|error| LabError::io(&libraries, error))?;
        run(Command::new("javac")
            .args(["-encoding", "UTF-8", "--release", "11", "-proc:none", "-cp"])
            .arg(libraries.trim())
            .args(["-d", ".", "RoundTrips.java"])
            .current_dir(place))?;
        // From within the folder, in whose name a colon would end it.
        let class_path = format!(".:{}", libraries.trim());
        Ok(Driver { folder, class_path })
    }

    /// Starts it against the queue manager at `server`; gives it when all its applications are connected. `words`: what
    /// [`super::plan::Trips::words`] says.
    pub(super) fn start(&self, server: &Address, words: &[String]) -> Result<Running, LabError> {
        let Address::Tcp { host, port } = server else {
            return Err(LabError::BadInput(
                "JMS applications come over TCP".to_owned(),
            ));
        };
        let folder = self.folder.path();
        let errors = folder.join("driver.err");
        let file = fs::File::create(&errors).map_err(|error| LabError::io(&errors, error))?;
        let mut command = Command::new("java");
        command
            .arg(format!(
                "-Dcom.ibm.msg.client.commonservices.log.outputName={}/mqjms.log",
                folder.display()
            ))
            .arg(format!("-Duser.home={}", folder.display()))
            .args(["-cp", &self.class_path, CLASS, host])
            .args([&port.to_string(), CHANNEL, QUEUE_MANAGER])
            .args(words)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stderr(file);
        let child = Child::start(command);
        let mut child = child.map_err(|error| LabError::workload(NAME, error))?;
        let input = child.input();
        let input = input.ok_or_else(|| LabError::workload(NAME, "it has no input"))?;
        let mut running = Running {
            child,
            input,
            errors,
        };
        running.until(|line| (line == "ready").then_some(()))?;
        Ok(running)
    }
}

/// The driver at work.
pub(super) struct Running {
    child: Child,
    input: ChildStdin,
    errors: PathBuf,
}

/// What it counted.
pub(super) struct Window {
    pub(super) seconds: f64,
    pub(super) round_trips: u64,
    pub(super) latency: Histogram<u64>,
}

/// A line `window NANOSECONDS COUNT VALUE:COUNT ...`.
fn window_of(line: &str) -> Option<Window> {
    let mut words = line.strip_prefix("window ")?.split(' ');
    let nanos: u64 = words.next()?.parse().ok()?;
    let round_trips = words.next()?.parse().ok()?;
    let mut latency = histogram();
    for word in words {
        let (value, count) = word.split_once(':')?;
        latency.saturating_record_n(value.parse().ok()?, count.parse().ok()?);
    }
    Some(Window {
        seconds: Duration::from_nanos(nanos).as_secs_f64(),
        round_trips,
        latency,
    })
}

impl Running {
    /// The first line that `wanted` makes something of.
    fn until<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> Result<T, LabError> {
        let answer = |line: &str| match line.strip_prefix("failed ") {
            Some(why) => Some(Err(why.to_owned())),
            None => wanted(line).map(Ok),
        };
        let failed = |why: String| LabError::workload(NAME, why);
        match self.child.until(answer) {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(why)) => Err(failed(why)),
            Err(error) => {
                let errors = fs::read_to_string(&self.errors).unwrap_or_default();
                Err(failed(format!("{error}; {}", end_of(errors.trim()))))
            }
        }
    }

    fn order<T>(&mut self, order: &str, answer: impl Fn(&str) -> Option<T>) -> Result<T, LabError> {
        // Should it have gone, that is found where its answer is waited for, with the reason.
        let written = writeln!(self.input, "{order}").and_then(|()| self.input.flush());
        let answered = self.until(answer)?;
        written.map_err(|error| LabError::workload(NAME, error))?;
        Ok(answered)
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Counts from now on.
    pub(super) fn begin(&mut self) -> Result<(), LabError> {
        self.order("begin", |line| (line == "begun").then_some(()))
    }

    /// Counts no more; what there was.
    pub(super) fn end(&mut self) -> Result<Window, LabError> {
        self.order("end", window_of)
    }

    /// Ends it, when every request has had its reply.
    pub(super) fn stop(mut self) -> Result<(), LabError> {
        self.order("stop", |line| (line == "stopped").then_some(()))?;
        let ended = self.child.wait();
        let ended = ended.map_err(|error| LabError::workload(NAME, error))?;
        match ended.success() {
            true => Ok(()),
            false => Err(LabError::workload(NAME, ended)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_read_as_it_is_written() {
        let window = window_of("window 1500000000 3 500:2 1000:1").unwrap();
        assert_eq!((window.seconds, window.round_trips), (1.5, 3));
        assert_eq!(window.latency.len(), 3);
        assert_eq!(window.latency.max(), 1_000);
        let empty = window_of("window 7 0").unwrap();
        assert!(empty.latency.is_empty());
        for wrong in [
            "",
            "window",
            "window 1",
            "window x 1",
            "window 1 1 5",
            "window 1 1 5:x",
        ] {
            assert!(window_of(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_end_of_a_text_is_shown() {
        assert_eq!(end_of("short"), "short");
        let long = "é".repeat(SHOWN);
        assert_eq!(end_of(&long).len(), SHOWN);
        assert_eq!(end_of(""), "");
    }
}
