//! The commented `qm.ini` that a new queue manager gets: what was chosen stands as a value, every
//! other key that does something as a comment with its default.
//!
//! Invariant: where the log is, without which nothing starts, stands in the last line, so that a file that was cut off is
//! refused wherever that was, and never one that closes less than it did.

use std::fmt::Write as _;
use std::path::Path;

use super::Shape;
use super::keys::{Effect, KEYS, Key, Kind};
use crate::encryption::source::KeySource;
use crate::lifecycle::access::{APPLICATIONS, Access};

/// Client connections that a new queue manager takes. The 100 that a missing key stands for is less
/// than a laptop's test needs, and an idle connection costs little here.
const CHANNELS: &str = "1000";

/// Authorities are checked, and those whom the system does not know may have some.
const AUTHORIZATION: &str = "
# What users may do is checked. Those of the file users, whom the system does not know, have records of their own.
Service:
   Name=AuthorizationService
   EntryPoints=14
   SecurityPolicy=UserExternal

ServiceComponent:
   Service=AuthorizationService
   Name=MQSeries.UNIX.auth.service
   Module=amqzfu
   ComponentDataSize=0
";

fn range(key: &Key) -> String {
    match key.kind {
        Kind::Int { min, max } => format!(" ({min} to {max})"),
        Kind::IntOrZero { min, max } => format!(" (0, or {min} to {max})"),
        Kind::Words(words) if key.effect != Effect::FirstWordOnly => {
            format!(" ({})", words.join(", "))
        }
        _ => String::new(),
    }
}

/// The text of a new file. `path` is the folder of the recovery log. Of encryption it says something only where messages
/// are encrypted: it cannot be switched on later.
pub fn new_file(
    name: &str,
    path: &Path,
    shape: &Shape,
    encryption: Option<&KeySource>,
    access: Access,
) -> String {
    let source = encryption.map(KeySource::entry);
    let chosen = |key: &Key| -> Option<String> {
        match (key.stanza, key.key) {
            ("Log", "LogPath") => Some(path.display().to_string()),
            ("Log", "LogType") => Some(key.default.to_owned()),
            ("Log", "LogFilePages") => Some(shape.file_pages.to_string()),
            ("Log", "LogPrimaryFiles") => Some(shape.primary.to_string()),
            ("Log", "LogSecondaryFiles") => Some(shape.secondary.to_string()),
            ("Log", "LogBufferPages") => Some(shape.buffer_pages.to_string()),
            ("Channels", "MaxChannels") => Some(CHANNELS.to_owned()),
            ("TCP", "InsecureListeners") => (access != Access::Unchecked).then(|| "NO".to_owned()),
            ("TCP", "LoopbackUser") => {
                (access == Access::Developer).then(|| APPLICATIONS.to_owned())
            }
            ("Encryption", name) => {
                let chosen = source.as_ref().filter(|(key, _)| *key == name);
                chosen.map(|(_, value)| value.clone())
            }
            _ => None,
        }
    };
    let mut out = format!(
        "# Configuration of queue manager {name}. It is read when the queue manager starts: what is\n\
         # not understood here is an error, nothing is skipped. Lines that begin with # are comments.\n\
         # `posthaste check {name}` looks at the file without starting.\n"
    );
    let mut stanza = "";
    let mut add = |out: &mut String, key: &Key| {
        let not_chosen = key.stanza == "Encryption" && encryption.is_none();
        if not_chosen || matches!(key.effect, Effect::None(_)) {
            return;
        }
        // Writing to a String does not fail.
        if key.stanza != stanza {
            stanza = key.stanza;
            let _ = writeln!(out, "\n{stanza}:");
        }
        let _ = writeln!(out, "   # {}{}", key.help, range(key));
        let _ = match chosen(key) {
            Some(value) => writeln!(out, "   {}={value}", key.key),
            None => writeln!(out, "   #{}={}", key.key, key.default),
        };
    };
    let (log, others): (Vec<&Key>, Vec<&Key>) = KEYS.iter().partition(|key| key.stanza == "Log");
    let (path, shape): (Vec<&Key>, Vec<&Key>) = log.iter().partition(|key| key.key == "LogPath");
    for key in others {
        add(&mut out, key);
    }
    if access != Access::Unchecked {
        out.push_str(AUTHORIZATION);
    }
    for key in shape.into_iter().chain(path) {
        add(&mut out, key);
    }
    out
}
