//! What an audit has to know: who did what, from where, and what came of it.
//!
//! Invariants: an event says what was known when it happened, and nothing that proves who somebody is: no password and no
//! token. What is not known is empty. Events are made where somebody is refused, connects, administers or decides about
//! a branch that is not his, never for a message.

use std::collections::VecDeque;

use posthaste_authority::{Authorities, ObjectType};
use posthaste_command::Object;
use posthaste_mqi::Reason;

use crate::application::Application;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuditKind {
    /// The queue manager has started.
    Started,
    /// The queue manager has ended.
    Ended,
    /// An application has connected.
    Connected,
    /// A connection was refused.
    ConnectionRefused,
    /// A channel authentication record blocked a connection.
    ChannelBlocked,
    /// The same, but the record only warns.
    ChannelWarned,
    /// A connection was refused for what its TLS is, or is not.
    TlsRefused,
    /// An authority was missing.
    NotAuthorized,
    /// A command that changes something was carried out, or refused.
    Command,
    /// A command that only shows something was carried out, or refused. It is in no audit log.
    Inquired,
    /// Somebody has decided about a branch of a global transaction, or could not: an operator, or an application whose branch it
    /// is not.
    BranchDecided,
    /// The queue manager's own users were changed.
    UsersChanged,
    /// Events are missing before this one.
    Lost,
}

impl AuditKind {
    /// Its name in the audit log.
    pub fn name(self) -> &'static str {
        match self {
            AuditKind::Started => "start",
            AuditKind::Ended => "end",
            AuditKind::Connected => "connect",
            AuditKind::ConnectionRefused => "connection-refused",
            AuditKind::ChannelBlocked => "channel-blocked",
            AuditKind::ChannelWarned => "channel-warned",
            AuditKind::TlsRefused => "tls-refused",
            AuditKind::NotAuthorized => "not-authorized",
            AuditKind::Command => "command",
            AuditKind::Inquired => "inquiry",
            AuditKind::BranchDecided => "branch",
            AuditKind::UsersChanged => "users",
            AuditKind::Lost => "lost",
        }
    }

    /// Whether strangers can cause it as often as they like.
    pub fn is_of_strangers(self) -> bool {
        matches!(
            self,
            AuditKind::Connected
                | AuditKind::ConnectionRefused
                | AuditKind::ChannelBlocked
                | AuditKind::ChannelWarned
                | AuditKind::TlsRefused
                | AuditKind::NotAuthorized
        )
    }
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEvent {
    /// What.
    pub kind: AuditKind,
    /// Who: user, application, channel, address, process, certificate.
    pub who: Application,
    /// The user of the credentials, by the application's word.
    pub claimed: String,
    /// The user whose authority was checked in place of the application's own.
    pub alternate: String,
    /// The call of the MQ Interface; empty where it was none.
    pub call: &'static str,
    /// Its options.
    pub options: i32,
    /// The command as MQSC text, without secrets.
    pub command: String,
    /// The number of the command (MQCMD_); 0 for none.
    pub command_number: i32,
    /// The type of the object.
    pub object_type: Option<ObjectType>,
    /// The object.
    pub object: String,
    /// What a command may have changed or deleted, as it was.
    pub before: Vec<Object>,
    /// What of it is there, as it is, and what the command has made.
    pub after: Vec<Object>,
    /// The authorities that were missing.
    pub missing: Authorities,
    /// The user who has prepared a branch, or has begun it if it was not prepared.
    pub owner: String,
    /// What decided: the key of a channel authentication record, or why TLS did not do.
    pub because: String,
    /// The result.
    pub reason: Reason,
    /// The message of the error log that tells the same; empty for none.
    pub message: &'static str,
}

impl AuditEvent {
    /// An event of which nothing but its result is known yet.
    pub fn new(kind: AuditKind, reason: Reason) -> AuditEvent {
        AuditEvent {
            kind,
            who: Application::default(),
            claimed: String::new(),
            alternate: String::new(),
            call: "",
            options: 0,
            command: String::new(),
            command_number: 0,
            object_type: None,
            object: String::new(),
            before: Vec::new(),
            after: Vec::new(),
            missing: Authorities::NONE,
            owner: String::new(),
            because: String::new(),
            reason,
            message: "",
        }
    }

    /// Whether somebody can cause it as often as he likes: strangers, users who are refused, and an application that decides by
    /// one connection about what it has prepared by another.
    pub fn is_repeatable(&self) -> bool {
        match self.kind {
            AuditKind::Command => self.reason == Reason::NOT_AUTHORIZED,
            AuditKind::BranchDecided => {
                let by_application = self.command.is_empty();
                self.reason == Reason::NOT_AUTHORIZED
                    || by_application && self.owner == self.who.user
            }
            kind => kind.is_of_strangers(),
        }
    }
}

/// Events on their way to whoever writes them, each as a `T`, in bounded memory: those for which there is no room are counted.
#[derive(Debug)]
pub struct Backlog<T> {
    events: VecDeque<T>,
    /// Bytes of their commands.
    bytes: usize,
    overrun: u64,
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Backlog {
            events: VecDeque::new(),
            bytes: 0,
            overrun: 0,
        }
    }
}

impl<T> Backlog<T> {
    /// Events that wait at the most.
    pub const MOST: usize = 4_096;
    /// Bytes of their commands, but for one event that is longer.
    const MOST_BYTES: usize = 16 << 20;

    /// Takes an event whose command has so many bytes.
    pub fn push(&mut self, command: usize, event: T) {
        let bytes = self.bytes + command;
        if self.events.len() < Self::MOST && (bytes <= Self::MOST_BYTES || self.bytes == 0) {
            self.bytes = bytes;
            self.events.push_back(event);
        } else {
            self.overrun += 1;
        }
    }

    /// How many wait, and how many have found no room.
    pub fn counts(&self) -> (usize, u64) {
        (self.events.len(), self.overrun)
    }

    /// Whether nothing has come, and nothing has found no room.
    pub fn is_empty(&self) -> bool {
        self.counts() == (0, 0)
    }

    /// What has come, and how many have found no room.
    pub fn take(&mut self) -> (VecDeque<T>, u64) {
        let Backlog {
            events, overrun, ..
        } = std::mem::take(self);
        (events, overrun)
    }
}
