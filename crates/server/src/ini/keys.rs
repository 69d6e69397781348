//! The keys of `qm.ini` as data (manual: "Queue manager configuration file, qm.ini").
//!
//! The table decides what is known, what is in range, what a missing key means and what the
//! commented file of a new queue manager says. A key that MQ knows and this release does not act on
//! is in it with [`Effect::None`]: it is checked, accepted and reported once at the start. A stanza
//! that would promise something this release cannot keep is in [`ELSEWHERE`] and is refused.

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number within limits, both included.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A whole number that may also be 0, which means "choose".
    IntOrZero {
        /// Smallest beside 0.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// One of some words, in any case.
    Words(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// Any text.
    Text,
}

/// Whether this release acts on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Yes, at the next start.
    Full,
    /// No; the text says why that is harmless.
    None(&'static str),
    /// No word but the first does anything yet; the others are refused.
    FirstWordOnly,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its stanza.
    pub stanza: &'static str,
    /// Its name.
    pub key: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What a missing key means, as it would be written; empty where that is for the caller to know.
    pub default: &'static str,
    /// Whether it does anything.
    pub effect: Effect,
    /// One line for the file of a new queue manager.
    pub help: &'static str,
}

const YES_NO: Kind = Kind::Words(&["YES", "NO"]);
const NOT_HERE: Effect = Effect::None("there is nothing in this release that it would change");
const OPEN: Effect =
    Effect::None("it is about another service than AuthorizationService, and there is none");
const NO_EXITS: Effect = Effect::None("there are no exits in this release");
const LOG_PAGES: Kind = Kind::Int {
    min: 64,
    max: 65_535,
};
const BYTES: Kind = Kind::Int {
    min: 1_024,
    max: 104_857_600,
};
const CHANNELS: Kind = Kind::Int {
    min: 1,
    max: 65_535,
};
const BUFFER: Kind = Kind::Int {
    min: 0,
    max: 1_073_741_824,
};

const fn key(
    stanza: &'static str,
    key: &'static str,
    kind: Kind,
    default: &'static str,
    effect: Effect,
    help: &'static str,
) -> Key {
    Key {
        stanza,
        key,
        kind,
        default,
        effect,
        help,
    }
}

/// Every key that is known, stanza by stanza.
#[rustfmt::skip] // one row, one line
pub static KEYS: &[Key] = &[
    key("Log", "LogType", Kind::Words(&["CIRCULAR", "LINEAR", "REPLICATED"]), "CIRCULAR", Effect::FirstWordOnly, "How log files are used; only CIRCULAR in this release"),
    key("Log", "LogPath", Kind::Path, "", Effect::Full, "Folder of the recovery log; cannot be changed by editing this line alone"),
    key("Log", "LogFilePages", LOG_PAGES, "4096", Effect::Full, "4 KiB pages of a log file; fixed when the queue manager was created"),
    key("Log", "LogPrimaryFiles", Kind::Int { min: 2, max: 510 }, "16", Effect::Full, "Log files that always exist"),
    key("Log", "LogSecondaryFiles", Kind::Int { min: 1, max: 509 }, "2", Effect::Full, "Log files that are made when the primary ones do not suffice"),
    key("Log", "LogBufferPages", Kind::IntOrZero { min: 18, max: 4096 }, "0", Effect::Full, "4 KiB pages that may wait for the log before applications are held back; 0 is 4096"),
    key("Log", "LogWriteIntegrity", Kind::Words(&["SingleWrite", "DoubleWrite", "TripleWrite"]), "TripleWrite", Effect::None("the page format makes every setting equally safe"), "Accepted; pages that hold acknowledged data are never rewritten, so all settings are equally safe"),
    key("Log", "LogManagement", Kind::Words(&["Manual", "Automatic", "Archive"]), "Manual", Effect::None("it is about linear logs"), "Accepted; concerns linear logs"),
    key("Log", "LogDefaultPath", Kind::Path, "", NOT_HERE, "Accepted"),
    key("Channels", "MaxChannels", CHANNELS, "100", Effect::Full, "Client connections over TCP at one time"),
    key("Channels", "MaxActiveChannels", CHANNELS, "", Effect::Full, "The same, never more than MaxChannels; absent, it is MaxChannels"),
    key("Channels", "MQIBindType", Kind::Words(&["STANDARD", "FASTPATH"]), "STANDARD", Effect::None("channels always run inside the queue manager"), "Accepted; channels always run inside the queue manager"),
    key("Channels", "AdoptNewMCA", Kind::Text, "NO", NOT_HERE, "Accepted"),
    key("Channels", "AdoptNewMCATimeout", Kind::Int { min: 1, max: 3600 }, "60", NOT_HERE, "Accepted"),
    key("Channels", "AdoptNewMCACheck", Kind::Text, "", NOT_HERE, "Accepted"),
    key("Channels", "PipeLineLength", Kind::Int { min: 1, max: 2 }, "1", NOT_HERE, "Accepted"),
    key("Channels", "ChlauthEarlyAdopt", Kind::Words(&["Y", "N"]), "Y", NOT_HERE, "Accepted"),
    key("TuningParameters", "DefaultQBufferSize", BYTES, "4194304", Effect::Full, "Bytes of non-persistent messages a queue keeps in memory before it spills to its file"),
    key("TuningParameters", "DefaultPQBufferSize", BYTES, "1048576", Effect::Full, "The same for persistent messages"),
    key("TuningParameters", "ExpiryInterval", Kind::Int { min: 0, max: 99_999_999 }, "300", Effect::Full, "Seconds between searches for expired messages; 0 removes them only when they are met"),
    key("TuningParameters", "Lanes", Kind::Int { min: 0, max: 256 }, "0", Effect::Full, "Threads that serve connections; 0 is one for each processor"),
    key("TuningParameters", "ServicePrograms", YES_NO, "YES", Effect::Full, "Whether services may run programs; NO where not everybody who can connect is to"),
    key("TuningParameters", "DurableSubMgrFrequency", Kind::Int { min: 1, max: 99_999_999 }, "1800", NOT_HERE, "Accepted"),
    key("TuningParameters", "ImplSyncOpenOutput", Kind::Int { min: 0, max: 999_999_999 }, "2", NOT_HERE, "Accepted"),
    key("TuningParameters", "MonitorPublishHeartBeat", Kind::Int { min: 1, max: 86_400 }, "10", NOT_HERE, "Accepted"),
    key("TCP", "KeepAlive", YES_NO, "YES", Effect::Full, "Whether the system looks after idle connections"),
    key("TCP", "Port", Kind::Int { min: 1, max: 65_535 }, "1414", Effect::None("every LISTENER object states its own port"), "Accepted; every LISTENER object states its own port"),
    key("TCP", "ListenerBacklog", Kind::Int { min: 0, max: 999_999_999 }, "0", Effect::Full, "Connections that may wait to be accepted by a LISTENER with BACKLOG(0); 0 is 1024"),
    key("TCP", "InsecureListeners", YES_NO, "YES", Effect::Full, "Whether a listener may be on an address of the network while a channel lets clients in without TLS, or without a certificate and a password"),
    key("TCP", "LoopbackUser", Kind::Text, "", Effect::Full, "As whom applications run that come over loopback without a password, from the user who runs this queue manager; absent: they need one"),
    key("TCP", "Connect_Timeout", Kind::Int { min: 0, max: 86_400 }, "0", NOT_HERE, "Accepted"),
    key("TCP", "SndBuffSize", BUFFER, "0", NOT_HERE, "Accepted; the system chooses"),
    key("TCP", "RcvBuffSize", BUFFER, "0", NOT_HERE, "Accepted; the system chooses"),
    key("TCP", "SvrSndBuffSize", BUFFER, "0", NOT_HERE, "Accepted; the system chooses"),
    key("TCP", "SvrRcvBuffSize", BUFFER, "0", NOT_HERE, "Accepted; the system chooses"),
    key("AuthToken", "KeyStore", Kind::Path, "", Effect::Full, "Public keys of the issuers of tokens, as PEM or as a JSON Web Key Set; absent, no token is taken"),
    key("AuthToken", "UserClaim", Kind::Text, "sub", Effect::Full, "The claim of a token that names its user"),
    key("AuthToken", "Issuer", Kind::Text, "", Effect::Full, "The issuer (iss) that a token has to name; blank: not looked at"),
    key("AuthToken", "Audience", Kind::Text, "", Effect::Full, "Whom a token has to be for (aud); blank: not looked at"),
    key("QMErrorLog", "ErrorLogSize", Kind::Int { min: 32_768, max: 2_147_483_648 }, "33554432", Effect::Full, "Bytes after which AMQERR01.LOG becomes AMQERR02.LOG"),
    key("AuditLog", "Enabled", Kind::Words(&["YES", "NO"]), "YES", Effect::Full, "Whether refusals and commands are written into AUDIT01.json"),
    key("AuditLog", "Connections", Kind::Words(&["NO", "YES"]), "NO", Effect::Full, "Whether each connection is, too"),
    key("AuditLog", "FileSize", Kind::Int { min: 32_768, max: 2_147_483_648 }, "33554432", Effect::Full, "Bytes after which AUDIT01.json becomes AUDIT02.json"),
    key("AuditLog", "Files", Kind::Int { min: 1, max: 99 }, "10", Effect::Full, "Files that are kept"),
    key("Encryption", "KeyFile", Kind::Path, "", Effect::Full, "File with the key of the messages on disk; decided when the queue manager was created"),
    key("Encryption", "KeyCommand", Kind::Text, "", Effect::Full, "Or a command of the shell that prints it"),
    key("ExitPath", "ExitsDefaultPath", Kind::Path, "", NO_EXITS, "Accepted"),
    key("ExitPath", "ExitsDefaultPath64", Kind::Path, "", NO_EXITS, "Accepted"),
    key("Service", "Name", Kind::Text, "", OPEN, "Accepted"),
    key("Service", "EntryPoints", Kind::Int { min: 0, max: 999 }, "", OPEN, "Accepted"),
    key("Service", "SecurityPolicy", Kind::Text, "", OPEN, "Accepted"),
    key("ServiceComponent", "Service", Kind::Text, "", OPEN, "Accepted"),
    key("ServiceComponent", "Name", Kind::Text, "", OPEN, "Accepted"),
    key("ServiceComponent", "Module", Kind::Text, "", OPEN, "Accepted"),
    key("ServiceComponent", "ComponentDataSize", Kind::Int { min: 0, max: 999_999_999 }, "0", OPEN, "Accepted"),
];

/// Stanzas that may be there more than once.
pub static REPEATED: &[&str] = &["Service", "ServiceComponent"];

/// Stanzas of MQ that this release refuses, because leaving them out would change what the operator
/// relies on: replication, encryption, exits, diagnostics sent elsewhere.
pub static ELSEWHERE: &[&str] = &[
    "AccessMode",
    "ApiExitCommon",
    "ApiExitLocal",
    "AutoCluster",
    "AutoConfig",
    "DiagnosticMessages",
    "DiagnosticSystemMessages",
    "Filesystem",
    "Instance",
    "LU62",
    "NETBIOS",
    "NativeHAInstance",
    "NativeHALocalInstance",
    "NativeHARecoveryGroup",
    "RestrictedMode",
    "Security",
    "SPX",
    "SSL",
    "Subpool",
    "Variables",
    "XAResourceManager",
];

/// The stanzas of the table, in its order.
pub fn stanzas() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS {
        if names.last() != Some(&key.stanza) {
            names.push(key.stanza);
        }
    }
    names
}

/// A key by its names, whatever their case.
pub fn find(stanza: &str, key: &str) -> Option<&'static Key> {
    KEYS.iter()
        .find(|row| row.stanza.eq_ignore_ascii_case(stanza) && row.key.eq_ignore_ascii_case(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_in_order() {
        let names = stanzas();
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), unique.len(), "a stanza's keys stand together");
        let mut seen = BTreeSet::new();
        for row in KEYS {
            assert!(seen.insert((row.stanza, row.key)), "{} twice", row.key);
            assert!(!row.help.is_empty() && !row.help.ends_with('.'));
        }
        for name in ELSEWHERE {
            assert!(!names.contains(name));
        }
        assert!(REPEATED.iter().all(|name| names.contains(name)));
    }

    #[test]
    fn keys_are_found_in_any_case() {
        assert_eq!(find("log", "LOGFILEPAGES").unwrap().key, "LogFilePages");
        assert!(find("TCP", "LogFilePages").is_none());
    }
}
