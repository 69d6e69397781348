//! The file of a queue manager's data keys, and what a run seals bodies with.
//!
//! Invariants: every failure to have a key has a number, and changes nothing. The file is replaced as a whole, and is on disk
//! before anything is encrypted with what is new in it.

use std::fs;
use std::sync::Arc;

use posthaste_encryption::{DataKeys, Key, MessageCipher};
use posthaste_engine::{BodyCipher, display_stamp};
use posthaste_env::Env;

use super::source::KeySource;
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::private;
use crate::layout::{self, Home};

/// What a run seals the bodies of messages with; none: the queue manager is not encrypted.
///
/// # Errors
/// The key or the data keys cannot be had, or do not belong together.
pub(crate) fn cipher(
    env: &Env,
    home: &Home,
    source: Option<&KeySource>,
) -> Result<Option<Arc<dyn BodyCipher>>, Failure> {
    let Some(source) = source else {
        return Ok(None);
    };
    let (keys, _) = load(home, source)?;
    let cipher = MessageCipher::new(keys, &*env.entropy);
    Ok(Some(Arc::new(cipher)))
}

/// Makes the first data key of a queue manager that is being created.
///
/// # Errors
/// The key cannot be had, or the file not written.
pub(crate) fn begin(env: &Env, home: &Home, source: &KeySource) -> Result<(), Failure> {
    let master = source.key(&home.name)?;
    let keys = DataKeys::new(&*env.entropy, &today(env));
    write(env, home, &keys, &[&master])
}

/// The data keys, and the key that they are wrapped with.
///
/// # Errors
/// One of them cannot be had, or they do not belong together.
pub(super) fn load(home: &Home, source: &KeySource) -> Result<(DataKeys, Key), Failure> {
    let path = home.encryption_keys();
    let shown = path.display().to_string();
    let unusable = |why: String| {
        let inserts = [home.name.as_str(), shown.as_str(), why.as_str()];
        Failure::new(Exit::Encrypted, "AMQ2705S", &inserts)
    };
    let text = fs::read_to_string(&path).map_err(|error| unusable(error.to_string()))?;
    private::check(&path)?;
    let master = source.key(&home.name)?;
    let keys = DataKeys::read(&text, &master).map_err(|error| unusable(error.to_string()))?;
    Ok((keys, master))
}

/// Replaces the file.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(
    env: &Env,
    home: &Home,
    keys: &DataKeys,
    masters: &[&Key],
) -> Result<(), Failure> {
    let path = home.encryption_keys();
    let text = keys.write(&home.name, masters, &*env.entropy);
    layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))
}

/// The day, as the file has it.
pub(super) fn today(env: &Env) -> String {
    display_stamp(env.clock.wall_micros()).0.to_string()
}
