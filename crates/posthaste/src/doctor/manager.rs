//! What is known of a running queue manager, and the commands that change it.
//!
//! Invariant: what is in force is told apart from what qm.ini has for the next start.

use crate::typed::quoted;

/// A queue of applications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) depth: u64,
    pub(crate) max_depth: u64,
    /// DEFPSIST(YES).
    pub(crate) persistent: bool,
    /// Handles open for input and for output.
    pub(crate) handles: u64,
}

/// What a queue manager has counted since it started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Calls that waited for a force of the log: commits, and persistent puts and gets outside syncpoint.
    pub(crate) forces: u64,
    /// Of those, persistent puts and gets outside syncpoint.
    pub(crate) alone: u64,
    /// Writes of the log, and the time that they took together, in nanoseconds.
    pub(crate) writes: u64,
    pub(crate) write_ns: u64,
}

/// A number of qm.ini.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// In force since the start.
    pub(crate) running: u64,
    /// What qm.ini has now, and the next start goes by.
    pub(crate) written: u64,
}

impl Setting {
    /// What is to be said of a file that differs, after what was found; otherwise nothing.
    pub(super) fn differs(self, key: &str) -> Option<String> {
        let Setting { running, written } = self;
        (running != written).then(|| {
            format!("; qm.ini differs from what runs ({key}={written}): a restart is needed")
        })
    }
}

/// A server-connection channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    pub(crate) name: String,
    /// SSLCIPH; blank is no TLS.
    pub(crate) cipher: String,
    /// SSLCAUTH(REQUIRED).
    pub(crate) certificate: bool,
    /// MCAUSER.
    pub(crate) user: String,
    /// Records block every client.
    pub(crate) blocked: bool,
    /// Records give some client a user, whatever MCAUSER says.
    pub(crate) mapped: bool,
}

impl Channel {
    /// Nobody comes in by it, whoever he is.
    pub(super) fn is_closed(&self) -> bool {
        match self
            .user
            .trim_matches(' ')
            .eq_ignore_ascii_case("*NOACCESS")
        {
            true => !self.mapped,
            false => self.blocked && self.name.starts_with("SYSTEM."),
        }
    }
}

/// What is known of who may come in.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The authentication information object that CONNAUTH names, and its CHCKCLNT; blank for none. It need not be there.
    pub(crate) connauth: String,
    pub(crate) check_client: String,
    /// AUTHTYPE of that object; blank if there is none of its name.
    pub(crate) auth_type: String,
    /// CHLAUTH(ENABLED).
    pub(crate) records: bool,
    /// qm.ini has the authorization service.
    pub(crate) authorities: bool,
    /// `InsecureListeners` of qm.ini.
    pub(crate) insecure: bool,
    pub(crate) channels: Vec<Channel>,
    /// Path of the key repository.
    pub(crate) repository: String,
    /// The label of the certificate in it that ends first, and the days until then; or why it cannot be read.
    pub(crate) certificate: Result<(String, i64), String>,
    /// Listeners that run, and their addresses; a blank one is every address.
    pub(crate) listeners: Vec<(String, String)>,
    /// Files with passwords that are there, and their permissions.
    pub(crate) files: Vec<(String, u32)>,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            connauth: String::new(),
            check_client: String::new(),
            auth_type: String::new(),
            records: false,
            authorities: false,
            insecure: false,
            channels: Vec::new(),
            repository: String::new(),
            certificate: Err(String::new()),
            listeners: Vec::new(),
            files: Vec::new(),
        }
    }
}

/// What is known of a running queue manager.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manager {
    /// What this program is called by.
    pub(crate) program: String,
    pub(crate) name: String,
    /// Path of qm.ini.
    pub(crate) configuration: String,
    /// What commands need besides to find it: nothing, or ` --data-dir DIR`.
    pub(crate) place: String,
    /// Keys that the Log stanza of qm.ini has.
    pub(crate) log_keys: Vec<String>,
    /// `LogFilePages`; it never changes.
    pub(crate) log_file_pages: u64,
    pub(crate) log_primary_files: Setting,
    /// `LogSecondaryFiles` of the next start.
    pub(crate) log_secondary_files: u64,
    /// `LogBufferPages`; 0 has been resolved. None if the queue manager does not say what is in force.
    pub(crate) log_buffer_pages: Option<Setting>,
    /// Per cent of the primary log that restart would need now.
    pub(crate) log_in_use: Option<u64>,
    pub(crate) log_folder: String,
    /// AMQ7469 in the error logs.
    pub(crate) backed_out_for_space: u64,
    /// AMQ6729 in the error logs.
    pub(crate) slow_writes: u64,
    /// Whether error logs are on the device of the recovery log.
    pub(crate) errors_with_log: Option<bool>,
    /// Queues whose names do not begin with SYSTEM. and that are no temporary ones.
    pub(crate) queues: Vec<Queue>,
    /// The dead-letter queue and the messages on it; none if there is no such queue.
    pub(crate) dead_letters: Option<(String, u64)>,
    /// Applications that are connected, without the queue manager's own and this command.
    pub(crate) applications: u64,
    /// Of those, with a unit of work open.
    pub(crate) in_unit_of_work: u64,
    /// The oldest unit of work that has written to the log: seconds, and its application.
    pub(crate) oldest_unit_of_work: Option<(u64, String)>,
    /// None if it could not be asked.
    pub(crate) counted: Option<Counted>,
    /// Average and 99th percentile of a 4 KiB log write, in nanoseconds, if it was measured.
    pub(crate) log_write_ns: Option<(u64, u64)>,
    /// Who may come in.
    pub(crate) security: Facts,
}

impl Manager {
    /// A command that carries out MQSC.
    pub(super) fn mqsc(&self, command: &str) -> String {
        format!(
            "echo \"{command}\" | {} mqsc {}{}",
            self.program, self.name, self.place
        )
    }

    /// Commands that change a number of the Log stanza of qm.ini and have it take effect.
    pub(super) fn set(&self, key: &str, value: u64) -> String {
        let file = quoted(&self.configuration);
        let restart = self.restart();
        match self.log_keys.iter().any(|k| k.eq_ignore_ascii_case(key)) {
            true => format!(
                "sed -i 's/^[[:space:]]*{key}[[:space:]]*=.*/   {key}={value}/I' {file}; {restart}"
            ),
            false => format!(
                "write the line {key}={value} below the line Log: of {file}, then: {restart}"
            ),
        }
    }

    /// Commands that have qm.ini take effect.
    pub(super) fn restart(&self) -> String {
        let (program, name, place) = (&self.program, &self.name, &self.place);
        format!("{program} stop -i {name}{place}; {program} start {name}{place}")
    }
}
