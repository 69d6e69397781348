//! Arguments of the command on a queue manager's own users.

use clap::{Args, Subcommand};

const USERS_EXAMPLES: &str = "\
  posthaste users add app1 QM1             asks for the password, or reads it from standard input
  posthaste users list QM1

In a new queue manager they count at once, and may do what is granted:

  posthaste setmqaut -m QM1 -t qmgr -p app1 +connect
  posthaste setmqaut -m QM1 -t queue -n 'DEV.**' -p app1 +put +get

In one of an earlier release after, for example,

  DEFINE AUTHINFO(USERS) AUTHTYPE(IDPWOS) AUTHENMD(USERFILE) CHCKCLNT(REQUIRED)
  ALTER QMGR CONNAUTH(USERS)
  REFRESH SECURITY(*) TYPE(CONNAUTH)

and from then on whoever is added or removed counts at once.";

#[derive(Args, Debug)]
#[command(after_help = USERS_EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Users {
    #[command(subcommand)]
    pub(crate) command: UsersCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum UsersCommand {
    /// Add a user, with a password that is asked for or read from standard input
    Add(OneUser),
    /// Remove a user; connections that stand go on
    Remove(OneUser),
    /// Give a user another password
    Passwd(OneUser),
    /// Show the names of all users
    List(AllUsers),
}

#[derive(Args, Debug)]
pub(crate) struct OneUser {
    /// The user: at most 12 characters
    pub(crate) user: String,
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct AllUsers {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
}
