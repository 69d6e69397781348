//! How `transactions` and `resolve` are called, in MQ's way too (`dspmqtrn`, `rsvmqtrn`).

use clap::Args;

const TRANSACTIONS_EXAMPLES: &str = "\
  posthaste transactions QM1      what waits for its transaction manager
  posthaste transactions QM1 -h   what an operator has decided
  posthaste transactions QM1 -q   every unit of work, with its queues
  dspmqtrn -m QM1                 MQ's way to write the first";

#[derive(Args, Debug)]
#[command(after_help = TRANSACTIONS_EXAMPLES)]
pub(crate) struct Transactions {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// The same, as dspmqtrn has it
    #[arg(short = 'm', value_name = "NAME", conflicts_with = "queue_manager")]
    pub(crate) named: Option<String>,
    /// Branches that are in doubt; so it is also without any of these
    #[arg(short = 'e')]
    pub(crate) external: bool,
    /// Branches that were decided with `resolve`, and that their transaction manager has not forgotten
    #[arg(short = 'h')]
    pub(crate) heuristic: bool,
    /// Transactions that the queue manager coordinates itself: there are none
    #[arg(short = 'i')]
    pub(crate) internal: bool,
    /// Every unit of work, with its connections
    #[arg(short = 'a')]
    pub(crate) all: bool,
    /// The same, with the queues that it has put on and got from
    #[arg(short = 'q')]
    pub(crate) queues: bool,
    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

const RESOLVE_EXAMPLES: &str = "\
  posthaste resolve QM1 -c 0,7   commit what `posthaste transactions` shows so
  posthaste resolve QM1 -f 0,7   forget it, if its coordinator never comes back
  rsvmqtrn -m QM1 -b 0,7         MQ's way to back it out

The transaction manager may have decided otherwise elsewhere: ask it first, and
come here only if it cannot answer.";

#[derive(Args, Debug)]
#[command(after_help = RESOLVE_EXAMPLES)]
#[command(override_usage = "posthaste resolve [OPTIONS] [QUEUE_MANAGER]")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["all", "back_out", "commit", "forget", "manager"]))]
pub(crate) struct Resolve {
    /// Queue manager; the default one if left out
    #[arg(conflicts_with = "named")]
    pub(crate) queue_manager: Option<String>,
    /// The same, as rsvmqtrn has it
    #[arg(short = 'm', value_name = "NAME")]
    pub(crate) named: Option<String>,
    /// Resolve what the queue manager coordinates itself: there is nothing
    #[arg(short = 'a')]
    pub(crate) all: bool,
    /// Back this transaction out
    #[arg(short = 'b', value_name = "TRANSACTION")]
    pub(crate) back_out: Option<String>,
    /// Commit this transaction
    #[arg(short = 'c', value_name = "TRANSACTION")]
    pub(crate) commit: Option<String>,
    /// Forget how this transaction was decided
    #[arg(short = 'f', value_name = "TRANSACTION")]
    pub(crate) forget: Option<String>,
    /// Leave a resource manager out of a transaction that the queue manager coordinates: there is none
    #[arg(short = 'r', num_args = 2, value_names = ["RMID", "TRANSACTION"])]
    pub(crate) manager: Vec<String>,
}
