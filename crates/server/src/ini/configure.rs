//! From a queue manager's folder to the configuration of its engine.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use posthaste_engine::EngineConfig;
use posthaste_env::Env;

use crate::encryption::keys;
use crate::failure::Failure;
use crate::ini::stanza::{self, Place};
use crate::ini::{ConfigError, RawConfig, Settings};
use crate::layout::private;
use crate::layout::{self, DataDir, Home};

/// What a start works with.
#[derive(Debug)]
pub(crate) struct Configured {
    /// For the engine.
    pub engine: EngineConfig,
    /// For everything else.
    pub settings: Settings,
    /// Keys that were accepted and do nothing.
    pub notes: Vec<ConfigError>,
}

/// Reads and checks `qm.ini` only.
///
/// # Errors
/// It cannot be read, or is not right.
pub fn read(home: &Home) -> Result<(Settings, Vec<ConfigError>), Failure> {
    let path = home.configuration();
    let bytes = fs::read(&path).map_err(|error| Failure::io(&path, &error))?;
    let file = path.display().to_string();
    let (settings, notes) = parse(&file, &bytes)?;
    match settings.log_path {
        Some(_) => Ok((settings, notes)),
        None => Err(no_log(home, bytes.is_empty())),
    }
}

/// The file does not say where the log is. It has never been so: what was configured is lost, and defaults would let in whom
/// it kept out.
pub(crate) fn no_log(home: &Home, is_empty: bool) -> Failure {
    let file = home.configuration().display().to_string();
    let what = match is_empty {
        true => "the file is empty",
        false => "the file has no LogPath in a stanza Log, so it is not whole",
    };
    let fault = ConfigError {
        inserts: [&*file, "1", "1", what].map(str::to_owned).to_vec(),
        file,
        at: Place { line: 1, column: 1 },
        id: "AMQ2101E",
    };
    Failure::configuration(&[fault]).with_detail(format!(
        "It was created with LogPath, LogFilePages, LogPrimaryFiles, LogSecondaryFiles and LogBufferPages in the stanza Log, and, unless access \
         was left open, with InsecureListeners=NO in TCP and the stanzas Service and ServiceComponent of the authorization service. \
         Put the file back from a backup, or write it anew; at least\n  Log:\n     LogPath=FOLDER\n\
         where FOLDER is the one with LOG.CTL of {}. posthaste create of another name makes a file to copy from.",
        home.name
    ))
}

/// Checks the bytes of a configuration; `file` is what messages call it.
///
/// # Errors
/// It is not right.
pub fn parse(file: &str, bytes: &[u8]) -> Result<(Settings, Vec<ConfigError>), Failure> {
    let faults = |errors: Vec<ConfigError>| Failure::configuration(&errors);
    let raw = RawConfig::parse(file, bytes).map_err(faults)?;
    let settings = raw.resolve().map_err(faults)?;
    Ok((settings, raw.notes().to_vec()))
}

/// Where the recovery log is.
pub fn log_folder(data: &DataDir, home: &Home, settings: &Settings) -> PathBuf {
    let chosen = settings.log_path.clone();
    chosen.unwrap_or_else(|| data.new_log(&home.name, None))
}

/// The log's folder as `qm.ini` names it, also one with faults; nothing if it does not.
pub(crate) fn named_log(home: &Home) -> Option<PathBuf> {
    let (stanzas, _) = stanza::read(&fs::read(home.configuration()).ok()?);
    let log = stanzas
        .iter()
        .find(|s| s.name.eq_ignore_ascii_case("Log"))?;
    log.get("LogPath").map(PathBuf::from)
}

/// Checks the folder and reads its configuration, and gets the key of an encrypted queue manager.
///
/// # Errors
/// The folder, the file or the log folder is not as it must be, or the key cannot be had.
pub(crate) fn configure(env: &Env, data: &DataDir, home: &Home) -> Result<Configured, Failure> {
    private::check_holder(data.root())?;
    private::check(&home.folder)?;
    private::check(&home.configuration())?;
    let (settings, notes) = read(home)?;
    let log = log_folder(data, home, &settings);
    private::check(&log)?;
    layout::make_private(&home.run())?;
    let errors = home.errors();
    // A full disk keeps nothing from starting: this one will never be a folder of error logs.
    if errors.exists() && !errors.is_dir() {
        return Err(Failure::io(&errors, &ErrorKind::NotADirectory.into()));
    }
    Ok(Configured {
        engine: EngineConfig {
            name: home.name.clone(),
            data: home.folder.clone(),
            log,
            log_config: settings.log.clone(),
            q_buffer: settings.q_buffer,
            pq_buffer: settings.pq_buffer,
            expiry_interval_s: settings.expiry_interval_s,
            numbers: posthaste_engine::NUMBERS,
            authorization: None,
            cipher: keys::cipher(env, home, settings.encryption.as_ref())?,
        },
        settings,
        notes,
    })
}

/// Lets the listeners of a queue manager be on addresses of the network whatever its channels let in
/// (`InsecureListeners=YES`), from the next start on.
///
/// # Errors
/// `qm.ini` cannot be read or written.
pub fn allow_insecure_listeners(home: &Home) -> Result<(), Failure> {
    let path = home.configuration();
    let text = fs::read_to_string(&path).map_err(|error| Failure::io(&path, &error))?;
    let text = with_insecure_listeners(&text);
    layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))
}

/// The key takes the place of itself, or comes first in the stanza, or last in the file with a stanza of its own.
fn with_insecure_listeners(text: &str) -> String {
    const KEY: &str = "InsecureListeners";
    const LINE: &str = "   InsecureListeners=YES";
    let is_key = |line: &str| {
        let (key, _) = line.split_once('=').unwrap_or_default();
        key.trim().eq_ignore_ascii_case(KEY)
    };
    let is_stanza = |line: &str| line.trim().eq_ignore_ascii_case("TCP:");
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(at) = lines.iter().position(|line| is_key(line)) {
        lines[at] = LINE;
    } else if let Some(at) = lines.iter().position(|line| is_stanza(line)) {
        lines.insert(at + 1, LINE);
    } else {
        lines.extend(["", "TCP:", LINE]);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_let_be_insecure_in_any_file() {
        for text in [
            "",
            "Log:\n   LogFilePages=64\n",
            "TCP:\n   KeepAlive=YES\n",
            "TCP:\n   insecurelisteners = no\nLog:\n   LogFilePages=64\n",
            "TCP:\n   #InsecureListeners=NO\n",
        ] {
            let changed = with_insecure_listeners(text);
            let before = parse("qm.ini", text.as_bytes()).unwrap().0;
            let after = parse("qm.ini", changed.as_bytes()).unwrap().0;
            assert!(after.insecure_listeners, "{changed}");
            assert_eq!(
                (after.log, after.keep_alive),
                (before.log, before.keep_alive)
            );
            assert_eq!(with_insecure_listeners(&changed), changed);
        }
    }
}
