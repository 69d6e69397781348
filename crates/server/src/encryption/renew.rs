//! Data keys shown and renewed, and the master key changed.
//!
//! Invariants:
//! * No data key is ever taken out of the file.
//! * While the master key is changed, the file has every data key under the old one and under the new one: wherever that
//!   is interrupted, the key that qm.ini names does.

use std::fs;

use posthaste_encryption::DataKeys;
use posthaste_env::Env;

use super::keys::{load, today, write};
use super::source::KeySource;
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::ini::stanza;
use crate::layout::private;
use crate::layout::{self, Home};

/// One data key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataKey {
    /// Its identifier.
    pub id: String,
    /// The day on which it was made.
    pub made: String,
}

/// The data keys of a queue manager, the oldest first: the last one is what its messages are encrypted with from the next
/// start on.
///
/// # Errors
/// It is not encrypted, or they cannot be had.
pub fn data_keys(home: &Home) -> Result<Vec<DataKey>, Failure> {
    let (keys, _) = load(home, &encrypted(home)?)?;
    Ok(shown(&keys))
}

fn shown(keys: &DataKeys) -> Vec<DataKey> {
    let shown = |(id, made): (String, &str)| DataKey {
        id,
        made: made.to_owned(),
    };
    keys.list().map(shown).collect()
}

/// Adds a data key, for what is encrypted from the next start on; returns all.
///
/// # Errors
/// It is not encrypted, the keys cannot be had, or the file cannot be written.
pub fn rotate(env: &Env, home: &Home) -> Result<Vec<DataKey>, Failure> {
    let _alone = alone(home)?;
    let (mut keys, master) = load(home, &encrypted(home)?)?;
    keys.rotate(&*env.entropy, &today(env));
    write(env, home, &keys, &[&master])?;
    Ok(shown(&keys))
}

/// Changes the master key: the data keys are encrypted with the new one, and qm.ini names it.
///
/// # Errors
/// It is not encrypted, one of the keys cannot be had, or a file cannot be written. Then the old one does, or the new one
/// if qm.ini names it already.
pub fn rewrap(env: &Env, home: &Home, new: &KeySource) -> Result<(), Failure> {
    let _alone = alone(home)?;
    let old = encrypted(home)?;
    let (keys, master) = load(home, &old)?;
    let new_master = new.key(&home.name)?;
    write(env, home, &keys, &[&master, &new_master])?;
    rename_source(home, new)?;
    write(env, home, &keys, &[&new_master])
}

/// One command at a time changes the keys of a queue manager.
fn alone(home: &Home) -> Result<fs::File, Failure> {
    let failed = |error| Failure::io(&home.folder, &error);
    let folder = fs::File::open(&home.folder).map_err(failed)?;
    folder.lock().map_err(failed)?;
    Ok(folder)
}

fn encrypted(home: &Home) -> Result<KeySource, Failure> {
    private::check(&home.folder)?;
    let (settings, _) = configure::read(home)?;
    let not_encrypted = || Failure::new(Exit::BadParameter, "AMQ2706E", &[&home.name]);
    settings.encryption.ok_or_else(not_encrypted)
}

/// Has qm.ini name another key, and leaves everything else in it as it is.
fn rename_source(home: &Home, new: &KeySource) -> Result<(), Failure> {
    let path = home.configuration();
    let failed = |error| Failure::io(&path, &error);
    let text = fs::read_to_string(&path).map_err(failed)?;
    let changed = with_source(&text, new);
    let (settings, _) = configure::parse(&path.display().to_string(), changed.as_bytes())?;
    if settings.encryption.as_ref() != Some(new) {
        let what = "the stanza Encryption cannot be changed: write it by hand, and do this again";
        let what = format!("{}: {what}", path.display());
        return Err(Failure::bad_parameter(what));
    }
    layout::write_atomically(&path, &changed).map_err(failed)
}

/// The text of a qm.ini with another key in its stanza Encryption.
fn with_source(text: &str, new: &KeySource) -> String {
    let (stanzas, _) = stanza::read(text.as_bytes());
    let found = stanzas
        .iter()
        .find(|one| one.name.eq_ignore_ascii_case("Encryption"));
    let Some(found) = found else {
        return text.to_owned();
    };
    let old: Vec<usize> = found
        .entries
        .iter()
        .map(|entry| entry.key_at.line)
        .collect();
    let mut out = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        if old.contains(&number) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if number == found.at.line {
            let (key, value) = new.entry();
            out.push_str(&format!("   {key}={value}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn only_the_key_is_changed_in_the_configuration() {
        let text = "Log:\n   LogPath=/l\n# mine\nEncryption:\n   # the key\n   KeyFile=/old\n   #KeyCommand=\nTCP:\n   KeepAlive=NO\n";
        let file = KeySource::file(Path::new("/new")).unwrap();
        let expected = text.replace(
            "   # the key\n   KeyFile=/old\n",
            "   KeyFile=/new\n   # the key\n",
        );
        assert_eq!(with_source(text, &file), expected);
        let command = KeySource::command("get key").unwrap();
        let changed = with_source(text, &command);
        let (settings, _) = configure::parse("qm.ini", changed.as_bytes()).unwrap();
        assert_eq!(settings.encryption, Some(command));
        assert_eq!(with_source("Log:\n", &file), "Log:\n");
    }
}
