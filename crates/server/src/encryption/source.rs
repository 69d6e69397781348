//! Where a queue manager's key comes from: a file, or what a command prints.
//!
//! Invariants:
//! * A key file that other users can read, or anybody but its owner change, is refused: it is no secret.
//! * A command has its time, and is ended with everything that it has started when that is over. What it prints is a key
//!   or nothing, and is in no message; what it complains of is. Of the command a message shows the program only: a secret may
//!   stand in its arguments, or in what is assigned in front of it.
//! * What was read is erased.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use posthaste_encryption::Key;
use rustix::process::{Pid, Signal, kill_process_group};
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::private;

/// How long a key command may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long is waited for what it complains of, once it has ended.
const COMPLAINT: Duration = Duration::from_secs(1);
/// More bytes are no key.
const LONGEST: u64 = 4096;

/// Where a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// A file holds it (`KeyFile`).
    File(PathBuf),
    /// The standard output of a command of the shell is it (`KeyCommand`).
    Command(String),
}

impl KeySource {
    /// A file; its path is made absolute.
    ///
    /// # Errors
    /// A path that qm.ini cannot have.
    pub fn file(path: &Path) -> Result<KeySource, Failure> {
        let path = std::path::absolute(path).map_err(|error| Failure::io(path, &error))?;
        match path.to_str() {
            Some(text) if is_one_value(text) => Ok(KeySource::File(path)),
            _ => Err(Failure::bad_parameter(
                "the path of a key file is one line of text",
            )),
        }
    }

    /// A command.
    ///
    /// # Errors
    /// One that qm.ini cannot have.
    pub fn command(text: &str) -> Result<KeySource, Failure> {
        match is_one_value(text) {
            true => Ok(KeySource::Command(text.to_owned())),
            false => Err(Failure::bad_parameter("a key command is one line of text")),
        }
    }

    /// As qm.ini has it.
    pub(crate) fn entry(&self) -> (&'static str, String) {
        match self {
            KeySource::File(path) => ("KeyFile", path.display().to_string()),
            KeySource::Command(command) => ("KeyCommand", command.clone()),
        }
    }

    /// The key, for queue manager `name`.
    ///
    /// # Errors
    /// It cannot be had, or other users could have it.
    pub(crate) fn key(&self, name: &str) -> Result<Key, Failure> {
        let none = |what: String| Failure::new(Exit::Encrypted, "AMQ2704S", &[name, &what]);
        match self {
            KeySource::File(path) => {
                let shown = path.display();
                let failed = |error: std::io::Error| none(format!("{shown}: {error}"));
                let found = fs::metadata(path).map_err(failed)?;
                if !found.is_file() {
                    return Err(none(format!("{shown} is not a file")));
                }
                private::check_secret(path)?;
                let file = fs::File::open(path).map_err(failed)?;
                let bytes = all_of(file).map_err(failed)?;
                Key::parse(&bytes).map_err(|error| none(format!("{shown}: {error}")))
            }
            KeySource::Command(command) => {
                let printed = printed_by(command, DEADLINE);
                let key = printed.and_then(|bytes| {
                    let printed = Key::parse(&bytes);
                    printed.map_err(|_| {
                        "it printed no key: a key is 64 hexadecimal digits, or 32 bytes in base64"
                            .to_owned()
                    })
                });
                key.map_err(|why| none(format!("the command {}: {why}", program_of(command))))
            }
        }
    }
}

/// The program that a command of the shell begins with.
fn program_of(command: &str) -> &str {
    let mut words = command.split_whitespace();
    let program = words.find(|word| !word.contains('='));
    program.unwrap_or("that qm.ini names")
}

/// Whether qm.ini can have it as a value.
fn is_one_value(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(|c: char| c.is_control())
}

/// At most what a key could be.
fn all_of(source: impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
    // No room is given up on the way that would not be erased.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST as usize + 1));
    source.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a command of the shell prints; in words, why nothing.
fn printed_by(command: &str, deadline: Duration) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (complain, complained) = mpsc::channel();
    let complaints = move || {
        let text = err.map(all_of).and_then(Result::ok).unwrap_or_default();
        // Nobody waits for it any more.
        let _ = complain.send(String::from_utf8_lossy(&text).trim().to_owned());
    };
    let (end, ended) = mpsc::channel();
    let output = move || {
        let bytes = out.map_or_else(|| Ok(Zeroizing::default()), all_of);
        let _ = end.send(bytes.and_then(|bytes| Ok((bytes, child.wait()?))));
    };
    for (name, work) in [
        (
            "key-complaints",
            Box::new(complaints) as Box<dyn FnOnce() + Send>,
        ),
        ("key-command", Box::new(output)),
    ] {
        posthaste_env::spawn(name, work).map_err(|error| error.to_string())?;
    }
    let Ok(ended) = ended.recv_timeout(deadline) else {
        if let Some(group) = group {
            // It fails only if all of them have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
        return Err(format!("it had not ended after {} s", deadline.as_secs()));
    };
    let (bytes, status): (_, ExitStatus) = ended.map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(bytes);
    }
    let why = complained.recv_timeout(COMPLAINT).unwrap_or_default();
    Err(match why.is_empty() {
        true => status.to_string(),
        false => format!("{status}: {why}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn refused(source: &KeySource) -> Failure {
        source.key("QM1").expect_err("no key")
    }

    #[test]
    fn a_key_file_is_a_secret_and_holds_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let source = KeySource::file(&path).unwrap();
        let missing = refused(&source);
        assert_eq!((missing.id, missing.exit), ("AMQ2704S", Exit::Encrypted));
        fs::write(&path, format!("{KEY}\n")).unwrap();
        for (mode, good) in [
            (0o600, true),
            (0o400, true),
            (0o440, true),
            (0o640, true),
            (0o660, false),
            (0o604, false),
            (0o644, false),
            (0o602, false),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            match source.key("QM1") {
                Ok(_) => assert!(good, "{mode:o}"),
                Err(failure) => {
                    assert!(!good, "{mode:o}: {failure}");
                    assert_eq!((failure.id, failure.exit), ("AMQ2009E", Exit::Permissions));
                }
            }
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for text in ["", "password", &KEY[1..], &"x".repeat(10_000)] {
            fs::write(&path, text).unwrap();
            let failure = refused(&source);
            assert_eq!(failure.id, "AMQ2704S", "{text}");
            assert!(
                text.is_empty() || !failure.to_string().contains(text),
                "{failure}"
            );
        }
        let folder = KeySource::file(folder.path()).unwrap();
        assert!(refused(&folder).to_string().contains("is not a file"));
    }

    #[test]
    fn a_key_command_prints_a_key_in_time() {
        let key = |text: &str| KeySource::command(text).unwrap().key("QM1");
        assert!(key(&format!("echo {KEY}")).is_ok());
        let why = |text: &str| key(text).expect_err(text).inserts[1].clone();
        assert!(why("echo no such secret >&2; exit 3").contains("exit status: 3: no such secret"));
        assert!(why("true").contains("it printed no key"));
        let printed = why("echo hunter2hunter2");
        assert!(printed.ends_with("in base64"), "{printed}");
        assert!(why("/does/not/exist").contains("exit status: 127"));
        // A secret may stand in the arguments, or in front of the program.
        let hidden = why("TOKEN=sesame1 /does/not/fetch --token sesame2");
        assert!(
            hidden.contains("/does/not/fetch") && !hidden.contains("--token"),
            "{hidden}"
        );
        let complaint = hidden.split_once("exit status").unwrap().0;
        assert!(!complaint.contains("sesame"), "{hidden}");
        assert!(why("TOKEN=sesame false=1").contains("that qm.ini names"));
        for wrong in ["", " ", "a\nb", " a"] {
            assert!(KeySource::command(wrong).is_err(), "{wrong:?}");
        }
    }

    /// One that hangs is ended, with what it has started.
    #[test]
    fn a_key_command_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (fifo, begun) = (folder.path().join("fifo"), Instant::now());
        // Both wait for a writer that never comes.
        let hangs = format!("mkfifo {0}; cat {0} & cat {0}", fifo.display());
        let why = printed_by(&hangs, Duration::from_millis(300)).unwrap_err();
        assert!(why.contains("it had not ended"), "{why}");
        assert!(begun.elapsed() < Duration::from_secs(20));
        let endless = printed_by("cat /dev/zero", Duration::from_secs(20));
        assert!(endless.is_err() || Key::parse(&endless.unwrap()).is_err());
    }
}
