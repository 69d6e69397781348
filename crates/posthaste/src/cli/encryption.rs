//! Arguments about encryption at rest.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Where the key of a queue manager comes from.
#[derive(Args, Debug)]
pub(crate) struct EncryptWith {
    /// Encrypt messages on disk, with the key in this file: 64 hexadecimal digits (openssl rand -hex 32)
    #[arg(long, value_name = "FILE")]
    pub(crate) encrypt_with: Option<PathBuf>,
    /// The same, with the key that this command of the shell prints
    #[arg(long, value_name = "COMMAND", conflicts_with = "encrypt_with")]
    pub(crate) encrypt_with_command: Option<String>,
}

const ENCRYPTION_EXAMPLES: &str = "\
  (umask 077; openssl rand -hex 32 > QM1.key)
  posthaste create QM1 --encrypt-with QM1.key      messages are encrypted on disk
  posthaste encryption show QM1                    its data keys
  posthaste encryption rotate QM1                  a new one, from the next start on
  posthaste encryption rewrap QM1 --encrypt-with-command 'vault kv get -field=key mq/qm1'
                                                   another key for the data keys, at once

Without its key, and without encryption.keys in its folder, a queue manager's messages are lost: have both
in a safe place, and not in one.";

#[derive(Args, Debug)]
#[command(after_help = ENCRYPTION_EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Encryption {
    #[command(subcommand)]
    pub(crate) command: EncryptionCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum EncryptionCommand {
    /// Show the data keys: the last one is what messages are encrypted with from the next start on
    Show(OneManager),
    /// Add a data key, for what is encrypted from the next start on
    Rotate(OneManager),
    /// Change the key with which the data keys are encrypted, in a queue manager that runs or not
    Rewrap(Rewrap),
}

#[derive(Args, Debug)]
pub(crate) struct OneManager {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Rewrap {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    #[command(flatten)]
    pub(crate) encrypt: EncryptWith,
}
