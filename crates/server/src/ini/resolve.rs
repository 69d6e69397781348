//! From the values in the file to what a start needs: defaults filled in, values that depend on
//! each other compared.

use std::path::PathBuf;

use posthaste_authentication::TokenSettings;
use posthaste_recovery_log::LogConfig;

use super::{ConfigError, RawConfig, keys};
use crate::encryption::source::KeySource;

/// What a start needs from `qm.ini`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Folder of the recovery log; none when the file does not say.
    pub log_path: Option<PathBuf>,
    /// The recovery log.
    pub log: LogConfig,
    /// Bytes of non-persistent messages a queue keeps in memory.
    pub q_buffer: usize,
    /// Bytes of persistent messages a queue keeps in memory.
    pub pq_buffer: usize,
    /// Seconds between searches for expired messages; 0 for none.
    pub expiry_interval_s: u32,
    /// Client connections over TCP at one time.
    pub max_channels: usize,
    /// Threads that serve connections; 0 is one for each processor.
    pub lanes: u32,
    /// Whether services may run programs.
    pub service_programs: bool,
    /// Whether the system probes idle TCP connections.
    pub keep_alive: bool,
    /// Backlog of a listener whose object says 0; 0 leaves the choice.
    pub backlog: u32,
    /// Issuers of tokens that are trusted, and what of a token is the user.
    pub tokens: Option<TokenSettings>,
    /// Whether listeners may be on addresses of the network while a channel is open to anybody who listens there.
    pub insecure_listeners: bool,
    /// As whom the owner's applications run that come over loopback without a password; none: they need one.
    pub loopback_user: Option<String>,
    /// Bytes after which an error log begins anew.
    pub error_log_bytes: u64,
    /// What is audited.
    pub audit: AuditSettings,
    /// Whose records count where authorities are checked; none: they are not.
    pub authorization: Option<SecurityPolicy>,
    /// Where the key comes from that messages are encrypted with; none: they are not.
    pub encryption: Option<KeySource>,
}

/// The stanza `AuditLog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// There is an audit log.
    pub enabled: bool,
    /// Each connection is an event.
    pub connections: bool,
    /// Bytes of a file, about.
    pub file_bytes: u64,
    /// Files that are kept.
    pub files: u32,
}

/// `SecurityPolicy` of the authorization service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityPolicy {
    /// Records are of groups; that of a user is its primary group's.
    Group,
    /// Users have records of their own besides.
    User,
    /// So have users whom the operating system does not know.
    External,
}

impl SecurityPolicy {
    /// The policy of a word, in any case.
    pub(super) fn called(word: &str) -> Option<SecurityPolicy> {
        match word.to_ascii_lowercase().as_str() {
            "default" | "group" => Some(SecurityPolicy::Group),
            "user" => Some(SecurityPolicy::User),
            "userexternal" => Some(SecurityPolicy::External),
            _ => None,
        }
    }
}

/// Primary files of a log for which nothing else is asked: 256 MiB (docs/decisions/016-defaults.md).
const PRIMARY_FILES: u32 = 16;

/// The numbers of a log that are chosen when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `LogFilePages`.
    pub file_pages: u32,
    /// `LogPrimaryFiles`.
    pub primary: u32,
    /// `LogSecondaryFiles`.
    pub secondary: u32,
    /// `LogBufferPages`.
    pub buffer_pages: u32,
}

impl Default for Shape {
    fn default() -> Self {
        let log = LogConfig::default();
        Shape {
            file_pages: log.file_pages,
            primary: PRIMARY_FILES,
            secondary: log.secondary_files,
            buffer_pages: log.buffer_pages,
        }
    }
}

impl Shape {
    /// Pages of the log's buffer that `LogBufferPages` stands for.
    pub fn buffer_pages_in_force(&self) -> u32 {
        self.config().buffer_pages_in_force()
    }

    /// The configuration of such a log.
    pub fn config(&self) -> LogConfig {
        LogConfig {
            file_pages: self.file_pages,
            primary_files: self.primary,
            secondary_files: self.secondary,
            buffer_pages: self.buffer_pages,
            ..LogConfig::default()
        }
    }
}

/// Most log files there may be, primary and secondary.
const MOST_FILES: i64 = 511;

impl RawConfig {
    /// The number given, or the one a missing key stands for.
    fn number_or_default(&self, stanza: &str, key: &str) -> i64 {
        let default = || keys::find(stanza, key).and_then(|row| row.default.parse().ok());
        self.number(stanza, key).or_else(default).unwrap_or(0)
    }

    /// The configuration of a start.
    ///
    /// # Errors
    /// Values that are in range each, but not together.
    pub fn resolve(&self) -> Result<Settings, Vec<ConfigError>> {
        let number = |stanza: &str, key: &str| self.number_or_default(stanza, key);
        // The table's limits keep every number within u32.
        let small = |stanza: &str, key: &str| u32::try_from(number(stanza, key)).unwrap_or(0);
        let size = |stanza: &str, key: &str| usize::try_from(number(stanza, key)).unwrap_or(0);
        let mut errors = Vec::new();
        let files = number("Log", "LogPrimaryFiles") + number("Log", "LogSecondaryFiles");
        if files > MOST_FILES {
            errors.push(self.range_error(
                "Log",
                "LogSecondaryFiles",
                "LogPrimaryFiles plus LogSecondaryFiles",
                (3, MOST_FILES),
            ));
        }
        let most = number("Channels", "MaxChannels");
        let active = self.number("Channels", "MaxActiveChannels").unwrap_or(most);
        if active > most {
            errors.push(self.range_error(
                "Channels",
                "MaxActiveChannels",
                "MaxActiveChannels",
                (1, most),
            ));
        }
        let file = self.text("Encryption", "KeyFile").map(PathBuf::from);
        let command = self.text("Encryption", "KeyCommand").map(str::to_owned);
        if file.is_some() && command.is_some() {
            errors.push(self.one_key_too_many());
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let command = command.map(KeySource::Command);
        let encryption = file.map(KeySource::File).or(command);
        let shape = Shape {
            file_pages: small("Log", "LogFilePages"),
            primary: small("Log", "LogPrimaryFiles"),
            secondary: small("Log", "LogSecondaryFiles"),
            buffer_pages: small("Log", "LogBufferPages"),
        };
        Ok(Settings {
            log_path: self.text("Log", "LogPath").map(PathBuf::from),
            log: shape.config(),
            q_buffer: size("TuningParameters", "DefaultQBufferSize"),
            pq_buffer: size("TuningParameters", "DefaultPQBufferSize"),
            expiry_interval_s: small("TuningParameters", "ExpiryInterval"),
            max_channels: usize::try_from(active).unwrap_or(1),
            lanes: small("TuningParameters", "Lanes"),
            service_programs: self.text("TuningParameters", "ServicePrograms") != Some("NO"),
            keep_alive: self.text("TCP", "KeepAlive") != Some("NO"),
            backlog: small("TCP", "ListenerBacklog"),
            tokens: self
                .text("AuthToken", "KeyStore")
                .map(|keys| TokenSettings {
                    keys: PathBuf::from(keys),
                    user_claim: self.text("AuthToken", "UserClaim").unwrap_or("").to_owned(),
                    issuer: self.text("AuthToken", "Issuer").unwrap_or("").to_owned(),
                    audience: self.text("AuthToken", "Audience").unwrap_or("").to_owned(),
                }),
            insecure_listeners: self.text("TCP", "InsecureListeners") != Some("NO"),
            loopback_user: self.text("TCP", "LoopbackUser").map(str::to_owned),
            error_log_bytes: u64::try_from(number("QMErrorLog", "ErrorLogSize")).unwrap_or(0),
            audit: self.audit(),
            authorization: self.service.filter(|_| self.component),
            encryption,
        })
    }

    fn audit(&self) -> AuditSettings {
        let number = |key: &str| self.number_or_default("AuditLog", key);
        AuditSettings {
            enabled: self.text("AuditLog", "Enabled") != Some("NO"),
            connections: self.text("AuditLog", "Connections") == Some("YES"),
            // The table's limits keep both within their types.
            file_bytes: u64::try_from(number("FileSize")).unwrap_or(0),
            files: u32::try_from(number("Files")).unwrap_or(1),
        }
    }

    fn one_key_too_many(&self) -> ConfigError {
        let at = self.place("Encryption", "KeyCommand");
        let what = "KeyFile and KeyCommand are both given, and the key comes from one of them";
        let place = [at.line, at.column].map(|number| number.to_string());
        let [line, column] = place;
        ConfigError {
            file: self.file.clone(),
            at,
            id: "AMQ2101E",
            inserts: vec![self.file.clone(), line, column, what.to_owned()],
        }
    }

    fn range_error(
        &self,
        stanza: &str,
        key: &str,
        what: &str,
        (min, max): (i64, i64),
    ) -> ConfigError {
        let at = self.place(stanza, key);
        ConfigError {
            file: self.file.clone(),
            at,
            id: "AMQ2103E",
            inserts: vec![
                self.file.clone(),
                at.line.to_string(),
                what.to_owned(),
                min.to_string(),
                max.to_string(),
            ],
        }
    }
}
