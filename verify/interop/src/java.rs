//! Maven, javac and java: what they need, what they make, and a virtual machine at work.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use posthaste_server::EndMode;

use crate::queue_manager::QueueManager;

/// The programs, and which libraries they use.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/java");
/// An application of Spring Boot, and its libraries.
const SPRING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/spring");
/// Why Maven's plugin has a version here: so that two runs fetch the same.
const CLASSPATH_GOAL: &str =
    "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";

/// Which of the client's libraries the programs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// `com.ibm.mq.allclient`: JMS 1.1 and 2.0.
    Jms,
    /// `com.ibm.mq.jakarta.client`: Jakarta Messaging 3.
    Jakarta,
    /// `mq-jms-spring-boot-starter`, and an application of its own.
    Spring,
}

/// The version of the client's library, as the project of the programs has it.
const CLIENT_VERSION: &str = "<version>9.4.0.0</version>";

/// The names of the one library, and what the other calls the same.
const JAKARTA_NAMES: [(&str, &str); 5] = [
    ("com.ibm.mq.allclient", "com.ibm.mq.jakarta.client"),
    ("<version>2.0.9<", "<version>3.1.7<"),
    ("javax.jms", "jakarta.jms"),
    ("com.ibm.mq.jms", "com.ibm.mq.jakarta.jms"),
    ("com.ibm.msg.client", "com.ibm.msg.client.jakarta"),
];

impl Edition {
    fn sources(self) -> &'static str {
        match self {
            Edition::Jms | Edition::Jakarta => SOURCES,
            Edition::Spring => SPRING,
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Edition::Jms => "java",
            Edition::Jakarta => "jakarta",
            Edition::Spring => "spring",
        }
    }

    /// The programs are written for JMS; nothing but names is another.
    fn adapt(self, source: &str) -> String {
        match self {
            Edition::Jms | Edition::Spring => source.to_owned(),
            Edition::Jakarta => JAKARTA_NAMES
                .iter()
                .fold(source.to_owned(), |text, (jms, jakarta)| {
                    text.replace(jms, jakarta)
                }),
        }
    }
}

/// Compiled programs.
pub struct Programs {
    edition: Edition,
    class_path: String,
}

/// How one case went.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Class, method and channel.
    pub name: String,
    /// What went wrong, if something did.
    pub failure: Option<String>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Whether a program is there and runs.
fn is_there(program: &str, flag: &str) -> bool {
    let run = Command::new(program)
        .arg(flag)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

/// The programs that this suite runs, and what each is asked to see whether it is there.
pub const JAVA: [(&str, &str); 3] = [
    ("java", "-version"),
    ("javac", "-version"),
    ("mvn", "-version"),
];
/// Wireshark's.
pub const WIRESHARK: [(&str, &str); 2] = [("tshark", "--version"), ("text2pcap", "--version")];

/// What is missing on this machine, if anything is.
///
/// # Errors
/// Something is missing, and this run must not skip (`CI` is set).
pub fn missing(needed: &[(&'static str, &'static str)]) -> Result<Option<&'static str>, String> {
    let missing = needed.iter().find(|(name, flag)| !is_there(name, flag));
    match missing {
        Some((name, _)) if std::env::var_os("CI").is_some() => {
            Err(format!("the clients' programs need {name}"))
        }
        other => Ok(other.map(|(name, _)| *name)),
    }
}

/// Every file below `folder`, in one order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(text)? {
            let path = entry.map_err(text)?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Runs a program whose output is of interest only if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(text)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Fetches the libraries that a project names, and writes where they are.
fn fetch(pom: &Path, class_path: &Path) -> Result<(), String> {
    run(Command::new("mvn")
        .args(["-B", "-q", "-f"])
        .arg(pom)
        .arg(CLASSPATH_GOAL)
        .arg(format!("-Dmdep.outputFile={}", class_path.display())))
}

/// A folder that is made, for one process at a time: tests are processes of their own, of which one fetches and compiles while the
/// others wait for it.
fn alone_in(folder: &Path) -> Result<fs::File, String> {
    fs::create_dir_all(folder).map_err(text)?;
    let lock = fs::File::create(folder.join("lock")).map_err(text)?;
    lock.lock().map_err(text)?;
    Ok(lock)
}

/// Writes the sources as an edition has them, below `folder`; where they are.
fn adapted(
    folder: &Path,
    root: &str,
    sources: &[(PathBuf, String)],
) -> Result<Vec<PathBuf>, String> {
    let folder = folder.join("sources");
    let _ = fs::remove_dir_all(&folder);
    let mut adapted = Vec::new();
    for (path, source) in sources {
        let path = folder.join(path.strip_prefix(root).map_err(text)?);
        fs::create_dir_all(path.parent().ok_or("no folder")?).map_err(text)?;
        fs::write(&path, source).map_err(text)?;
        adapted.push(path);
    }
    Ok(adapted)
}

impl Programs {
    /// Fetches the libraries and compiles, into a folder of the edition's in `root`, what was not compiled there before.
    ///
    /// # Errors
    /// Maven or the compiler failed, or the folder cannot be used.
    pub fn compile(root: &Path, edition: Edition) -> Result<Programs, String> {
        let folder = &root.join(edition.folder());
        let _lock = alone_in(folder)?;
        let mut sources = Vec::new();
        for path in files(Path::new(edition.sources()))? {
            let source = fs::read_to_string(&path).map_err(text)?;
            sources.push((path, edition.adapt(&source)));
        }
        let mut state = String::new();
        for (path, source) in &sources {
            state.push_str(&format!("{}\n{source}", path.display()));
        }
        let (stamp, libraries) = (folder.join("stamp"), folder.join("class-path"));
        let classes = folder.join("classes");
        let fresh = fs::read_to_string(&stamp).is_ok_and(|before| before == state);
        if !fresh {
            let adapted = adapted(folder, edition.sources(), &sources)?;
            fetch(&folder.join("sources/pom.xml"), &libraries)?;
            let _ = fs::remove_dir_all(&classes);
            fs::create_dir_all(&classes).map_err(text)?;
            let java = adapted
                .iter()
                .filter(|path| path.extension().is_some_and(|e| e == "java"));
            run(Command::new("javac")
                .args(["-encoding", "UTF-8", "--release", "11", "-proc:none"])
                .args(["-parameters", "-cp"])
                .arg(fs::read_to_string(&libraries).map_err(text)?.trim())
                .arg("-d")
                .arg(&classes)
                .args(java))?;
            fs::write(&stamp, &state).map_err(text)?;
        }
        let libraries = fs::read_to_string(&libraries).map_err(text)?;
        Ok(Programs {
            edition,
            class_path: format!("{}:{}", classes.display(), libraries.trim()),
        })
    }

    /// The same programs with the client's library of another version, as an application has that is not built anew.
    ///
    /// # Errors
    /// Maven failed, or the folder cannot be used.
    pub fn with_client(&self, root: &Path, version: &str) -> Result<Programs, String> {
        let folder = root.join(format!("client-{version}"));
        let _lock = alone_in(&folder)?;
        let (pom, libraries) = (folder.join("pom.xml"), folder.join("class-path"));
        let source = Path::new(self.edition.sources()).join("pom.xml");
        let source = fs::read_to_string(source).map_err(text)?;
        let wanted = source.replace(CLIENT_VERSION, &format!("<version>{version}</version>"));
        let fresh = fs::read_to_string(&pom).is_ok_and(|before| before == wanted);
        if !fresh || !libraries.exists() {
            fs::write(&pom, &wanted).map_err(text)?;
            fetch(&pom, &libraries)?;
        }
        let libraries = fs::read_to_string(&libraries).map_err(text)?;
        let classes = self.class_path.split(':').next().unwrap_or_default();
        Ok(Programs {
            edition: self.edition,
            class_path: format!("{classes}:{}", libraries.trim()),
        })
    }

    /// Runs cases, each named CLASS@CHANNEL or CLASS.METHOD@CHANNEL, in one virtual machine.
    ///
    /// # Errors
    /// The machine did not run to its end.
    pub fn run(&self, qm: &QueueManager, cases: &[&str]) -> Result<Vec<Outcome>, String> {
        self.run_at(qm, qm.address()?, cases)
    }

    /// Runs a program of one file, as its user would; gives what it writes.
    ///
    /// # Errors
    /// It cannot be run, or failed.
    pub fn source(&self, file: &Path) -> Result<String, String> {
        let mut command = Command::new("java");
        command.args(["-cp", &self.class_path]).arg(file);
        command.current_dir(file.parent().ok_or("no folder")?);
        let output = command.output().map_err(text)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Runs the application of Spring Boot on a channel of a queue manager; gives what it writes.
    ///
    /// # Errors
    /// It cannot be run, or failed.
    pub fn spring(&self, qm: &QueueManager, channel: &str) -> Result<String, String> {
        let scratch = tempfile::tempdir().map_err(text)?;
        let address = qm.address()?;
        let mut command = Command::new("java");
        command.args(["-XX:TieredStopAtLevel=1", "-cp", &self.class_path]);
        command.arg(format!("-Duser.home={}", scratch.path().display()));
        command.arg("interop.spring.Application");
        command.arg(format!("{}({})", address.ip(), address.port()));
        command.arg(channel).current_dir(scratch.path());
        let output = command.output().map_err(text)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The same, with clients that connect to `address`, from where it is passed on to the queue manager.
    ///
    /// # Errors
    /// Those of [`Programs::run`].
    pub fn run_at(
        &self,
        qm: &QueueManager,
        address: SocketAddr,
        cases: &[&str],
    ) -> Result<Vec<Outcome>, String> {
        let scratch = tempfile::tempdir().map_err(text)?;
        let child = Command::new("java")
            // Many short cases: little is worth to be compiled well.
            .args([
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-cp",
                &self.class_path,
            ])
            .arg(self.edition.adapt(&format!(
                "-Dcom.ibm.msg.client.commonservices.log.outputName={}/mqjms.log",
                scratch.path().display()
            )))
            // Java's own names of CipherSpecs.
            .arg("-Dcom.ibm.mq.cfg.useIBMCipherMappings=false")
            .arg(format!("-Dinterop.keys={}", qm.keys().display()))
            .arg(format!("-Duser.home={}", scratch.path().display()))
            .arg("interop.Main")
            .arg(address.ip().to_string())
            .arg(address.port().to_string())
            .args(cases)
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut machine = Machine(child.map_err(text)?);
        let answers = machine.0.stdin.take().ok_or("no pipe")?;
        let lines = machine.0.stdout.take().ok_or("no pipe")?;
        listen(qm, BufReader::new(lines), answers)
    }
}

/// A virtual machine, which is ended with whoever drops it.
struct Machine(Child);

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Listens to the machine, and carries out its commands, until it has done all its cases.
fn listen(
    qm: &QueueManager,
    lines: impl BufRead,
    mut answers: impl Write,
) -> Result<Vec<Outcome>, String> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for line in lines.lines() {
        let line = line.map_err(text)?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "MQSC" => {
                writeln!(answers, "{}", qm.command(rest)).map_err(text)?;
                answers.flush().map_err(text)?;
            }
            "CUT" => {
                writeln!(answers, "OK {}", qm.detour().cut()).map_err(text)?;
                answers.flush().map_err(text)?;
            }
            "RESTART" => {
                let ended = match rest {
                    "controlled" => qm.restart(EndMode::Controlled),
                    "immediate" => qm.restart(EndMode::Immediate),
                    "preemptive" => qm.restart(EndMode::Preemptive),
                    other => Err(format!("{other} is no way to end")),
                };
                let answer = ended.map_or_else(|error| format!("NO {error}"), |()| "OK".into());
                writeln!(answers, "{}", answer.replace('\n', " ")).map_err(text)?;
                answers.flush().map_err(text)?;
            }
            "PASS" => outcomes.push(Outcome {
                name: rest.to_owned(),
                failure: None,
            }),
            "FAIL" => {
                let (name, failure) = rest.split_once(' ').unwrap_or((rest, ""));
                outcomes.push(Outcome {
                    name: name.to_owned(),
                    failure: Some(failure.to_owned()),
                });
            }
            "DONE" if rest == outcomes.len().to_string() => return Ok(outcomes),
            // The lines of a stack.
            _ => {
                if let Some(failure) = outcomes.last_mut().and_then(|o| o.failure.as_mut()) {
                    failure.push('\n');
                    failure.push_str(&line);
                }
            }
        }
    }
    Err(format!("it ended after {outcomes:?}"))
}
