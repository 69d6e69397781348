//! Exit codes of every command, in one table. They are stable: scripts and supervisors act on them.
//!
//! Where MQ's own commands have a code for a condition, it is the same (5, 8, 10, 16, 20, 32, 33, 34, 36, 39, 40, 44 to 46, 49, 85, 102). 71 to 79
//! say why a queue manager stopped or did not start; the engine gives them.

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// A call on messages failed; or a get brought no message, or fewer than were asked for.
    CallFailed,
    /// `doctor` has something to warn about.
    Warned,
    /// The queue manager is running, and must not be for this.
    Running,
    /// A queue manager of that name exists.
    Exists,
    /// At least one MQSC command failed.
    CommandsFailed,
    /// There is no queue manager of that name.
    NotFound,
    /// No MQSC command could be carried out.
    NoCommands,
    /// A transaction is not at a stage at which it could be resolved so.
    NotResolved,
    /// The queue manager is deleted, and files that are not its own are left.
    FilesLeft,
    /// There is no such resource manager.
    NoSuchManager,
    /// The command line of a command about transactions is not right.
    InvalidArguments,
    /// The command line is not right.
    BadParameter,
    /// The queue manager is not running.
    NotRunning,
    /// mqs.ini has no stanza of that queue manager.
    StanzaMissing,
    /// mqs.ini has a stanza of that queue manager.
    StanzaExists,
    /// A stanza lacks an attribute.
    AttributeMissing,
    /// The queue manager is ending.
    Stopping,
    /// `qm.ini` or `mqs.ini` is not right.
    Configuration,
    /// A socket cannot be listened on.
    CannotListen,
    /// Other users may read or change what is private.
    Permissions,
    /// There is no space on a file system.
    NoSpace,
    /// A request took longer than it may.
    TimedOut,
    /// A defect of the program.
    Internal,
    /// The recovery log cannot be written.
    LogFailed,
    /// A checkpoint cannot be written.
    CheckpointFailed,
    /// The recovery log refused the start.
    LogRefused,
    /// A queue file or checkpoint image refused the start.
    StoreRefused,
    /// A file or folder cannot be used.
    Unusable,
    /// Another process has the files.
    InUse,
    /// Log and queue files do not belong together.
    Inconsistent,
    /// What is encrypted cannot be opened: its key is missing, or another one.
    Encrypted,
    /// There is no such transaction.
    UnknownTransaction,
    /// A sample program was called without a queue name.
    NoQueueNamed,
    /// There are no transactions to show.
    NoTransactions,
}

/// The table: code, meaning.
pub const TABLE: &[(Exit, u8, &str)] = &[
    (Exit::Done, 0, "everything was done"),
    (
        Exit::CallFailed,
        1,
        "put, get or browse: a call failed; get also: no message came, or fewer than --count asked for",
    ),
    (
        Exit::Warned,
        3,
        "doctor: at least one check warns; certs show: a certificate is out of its time",
    ),
    (Exit::Running, 5, "the queue manager is running"),
    (
        Exit::Exists,
        8,
        "a queue manager of that name exists already",
    ),
    (
        Exit::CommandsFailed,
        10,
        "mqsc, start -c: at least one command failed",
    ),
    (Exit::NotFound, 16, "there is no queue manager of that name"),
    (
        Exit::NoCommands,
        20,
        "mqsc: no command could be carried out",
    ),
    (
        Exit::NotResolved,
        32,
        "resolve: the transaction cannot be resolved so",
    ),
    (
        Exit::FilesLeft,
        33,
        "delete: the queue manager is deleted, and files that are not its own are left",
    ),
    (
        Exit::NoSuchManager,
        34,
        "resolve: there is no such resource manager",
    ),
    (
        Exit::InvalidArguments,
        36,
        "transactions, resolve: the command line is not right",
    ),
    (Exit::BadParameter, 39, "the command line is not right"),
    (Exit::NotRunning, 40, "the queue manager is not running"),
    (
        Exit::StanzaMissing,
        44,
        "dspmqinf, rmvmqinf: mqs.ini has no such stanza",
    ),
    (
        Exit::StanzaExists,
        45,
        "addmqinf: mqs.ini has such a stanza",
    ),
    (
        Exit::AttributeMissing,
        46,
        "addmqinf: an attribute is missing",
    ),
    (Exit::Stopping, 49, "the queue manager is ending"),
    (Exit::Configuration, 60, "qm.ini or mqs.ini is not right"),
    (Exit::CannotListen, 61, "a socket cannot be listened on"),
    (
        Exit::Permissions,
        62,
        "other users may read or change what is private",
    ),
    (Exit::NoSpace, 63, "there is no space on a file system"),
    (Exit::TimedOut, 64, "a request took longer than it may"),
    (Exit::Internal, 70, "a defect of the program"),
    (Exit::LogFailed, 71, "the recovery log cannot be written"),
    (Exit::CheckpointFailed, 72, "a checkpoint cannot be written"),
    (Exit::LogRefused, 74, "the recovery log refused the start"),
    (
        Exit::StoreRefused,
        75,
        "a queue file or checkpoint image refused the start",
    ),
    (Exit::Unusable, 76, "a file or folder cannot be used"),
    (Exit::InUse, 77, "another process has the files"),
    (
        Exit::Inconsistent,
        78,
        "log and queue files do not belong together",
    ),
    (
        Exit::Encrypted,
        79,
        "the key of an encrypted queue manager cannot be had, or is another one",
    ),
    (
        Exit::UnknownTransaction,
        85,
        "resolve: there is no such transaction",
    ),
    (
        Exit::NoQueueNamed,
        99,
        "a sample program was called without a queue name",
    ),
    (
        Exit::NoTransactions,
        102,
        "transactions: there are none to show",
    ),
];

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        let row = TABLE.iter().find(|(exit, _, _)| *exit == self);
        row.map_or(70, |(_, code, _)| *code)
    }

    /// What a code means.
    pub fn from_code(code: i32) -> Option<Exit> {
        let row = TABLE.iter().find(|(_, found, _)| i32::from(*found) == code);
        row.map(|(exit, _, _)| *exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_engine::{StartError, Stop};
    use std::collections::HashSet;

    #[test]
    fn codes_and_meanings_are_one_to_one() {
        let codes: HashSet<u8> = TABLE.iter().map(|row| row.1).collect();
        let exits: HashSet<Exit> = TABLE.iter().map(|row| row.0).collect();
        assert_eq!(codes.len(), TABLE.len());
        assert_eq!(exits.len(), TABLE.len());
        assert!(TABLE.is_sorted_by_key(|row| row.1));
        for (exit, code, _) in TABLE {
            assert_eq!(exit.code(), *code);
            assert_eq!(Exit::from_code(i32::from(*code)), Some(*exit));
        }
    }

    #[test]
    fn the_engine_s_codes_mean_the_same() {
        let stops = [
            (Stop::LogFailed(String::new()), Exit::LogFailed),
            (
                Stop::CheckpointFailed(String::new()),
                Exit::CheckpointFailed,
            ),
            (Stop::Defect(String::new()), Exit::Internal),
        ];
        for (stop, exit) in stops {
            assert_eq!(Exit::from_code(stop.exit_code()), Some(exit));
        }
        let starts = [
            (StartError::InUse("/log".into()), Exit::InUse),
            (StartError::AlreadyExists, Exit::Exists),
            (StartError::BadName(String::new()), Exit::BadParameter),
            (StartError::Inconsistent(String::new()), Exit::Inconsistent),
            (StartError::OtherName(String::new()), Exit::Unusable),
            (StartError::NeedsCipher, Exit::Encrypted),
            (StartError::NotSealed, Exit::Encrypted),
        ];
        for (start, exit) in starts {
            assert_eq!(Exit::from_code(start.exit_code()), Some(exit));
        }
    }
}
