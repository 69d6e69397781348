//! Encryption at rest: `--encrypt-with`, and the command `encryption`.

use std::path::Path;

use posthaste_server::{self as server, DataDir, DataKey, Exit, Failure, Home, KeySource};

use crate::cli::{EncryptWith, Encryption, EncryptionCommand};
use crate::output::{Out, say};

/// Where the key comes from, if one was asked for.
pub(crate) fn source(args: &EncryptWith) -> Result<Option<KeySource>, Failure> {
    match (&args.encrypt_with, &args.encrypt_with_command) {
        (Some(file), _) => KeySource::file(file).map(Some),
        (_, Some(command)) => KeySource::command(command).map(Some),
        _ => Ok(None),
    }
}

/// Of a queue manager that is there already: it is encrypted if that is asked for.
pub(crate) fn must_be_encrypted(args: &EncryptWith, home: &Home) -> Result<(), Failure> {
    if source(args)?.is_none() {
        return Ok(());
    }
    let (settings, _) = server::read_configuration(home)?;
    match settings.encryption {
        Some(_) => Ok(()),
        None => Err(Failure::bad_parameter(format!(
            "queue manager {} is there already, and is not encrypted: that is decided when it is created",
            home.name
        ))),
    }
}

pub(crate) fn encryption(place: Option<&Path>, args: &Encryption) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let find = |name: &Option<String>| server::find(&data, name.as_deref());
    let env = posthaste_env::os();
    match &args.command {
        EncryptionCommand::Show(one) => show(&server::data_keys(&find(&one.queue_manager)?)?)?,
        EncryptionCommand::Rotate(one) => {
            show(&server::rotate(&env, &find(&one.queue_manager)?)?)?;
        }
        EncryptionCommand::Rewrap(args) => {
            let new = source(&args.encrypt)?.ok_or_else(|| {
                Failure::bad_parameter(
                    "say where the new key is: --encrypt-with or --encrypt-with-command",
                )
            })?;
            let home = find(&args.queue_manager)?;
            server::rewrap(&env, &home, &new)?;
            say(&format!(
                "The data keys of queue manager {} are encrypted with the new key, and qm.ini names it.",
                home.name
            ))?;
        }
    }
    Ok(Exit::Done)
}

fn show(keys: &[DataKey]) -> Result<(), Failure> {
    let mut out = Out::new();
    for (number, key) in (1..).zip(keys) {
        let newest = match number == keys.len() {
            true => ", the newest",
            false => "",
        };
        out.line(&format!(
            "data key {}, made on {}{newest}",
            key.id, key.made
        ))?;
    }
    out.flush()
}
