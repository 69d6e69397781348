//! How `setmqaut`, `dspmqaut` and `dmpmqaut` are called: in MQ's way, where `-get` is no option but takes an authority away.

use clap::Args;

/// The words behind the command.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Words {
    /// As MQ's manual has them, for example -m QM1 -n 'DEV.**' -t queue -g staff +put -get
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub(crate) words: Vec<String>,
}
