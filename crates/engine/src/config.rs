//! What a queue manager is told when it is created and started.
//!
//! Values arrive checked: ranges and spellings are the business of whoever read them (`qm.ini`, a
//! command line), so that an error can name the line it stands on.

use std::path::PathBuf;
use std::sync::Arc;

use posthaste_recovery_log::LogConfig;

use crate::authority_service::Authorization;
use crate::bodies::BodyCipher;

/// What is needed to start a queue manager.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Queue manager name, at most 48 characters.
    pub name: String,
    /// Folder of queue files and checkpoint images.
    pub data: PathBuf,
    /// Folder of the recovery log.
    pub log: PathBuf,
    /// Shape of the recovery log.
    pub log_config: LogConfig,
    /// Bytes of non-persistent messages a queue keeps in memory (`DefaultQBufferSize`).
    pub q_buffer: usize,
    /// Bytes of persistent messages a queue keeps in memory (`DefaultPQBufferSize`).
    pub pq_buffer: usize,
    /// Seconds between searches for expired messages (`ExpiryInterval`); 0 switches them off.
    pub expiry_interval_s: u32,
    /// How many numbers of messages a checkpoint reserves beyond the last one used ([`NUMBERS`](crate::NUMBERS)).
    pub numbers: u64,
    /// Who may do what; none: everybody may do everything.
    pub authorization: Option<Authorization>,
    /// Seals the bodies of messages on disk; none: they lie there as they are. Whether there is one is decided when the
    /// queue manager is created.
    pub cipher: Option<Arc<dyn BodyCipher>>,
}

/// What can be said only when a queue manager is created. Everything can be altered later.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// `DEADQ`; empty for none.
    pub dead_letter_q: String,
    /// `DEFXMITQ`; empty for none.
    pub default_xmit_q: String,
    /// `DESCR`.
    pub description: String,
    /// `MAXHANDS`.
    pub max_handles: i32,
    /// `MAXUMSGS`.
    pub max_uncommitted: i32,
    /// `TRIGINT`, milliseconds.
    pub trigger_interval: i32,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            dead_letter_q: String::new(),
            default_xmit_q: String::new(),
            description: String::new(),
            max_handles: 256,
            max_uncommitted: 10_000,
            trigger_interval: 999_999_999,
        }
    }
}
