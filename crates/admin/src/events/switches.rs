//! Which events the queue manager's attributes ask for.
//!
//! Invariant: an event is judged by the attributes at its moment: they change with the event of the command that has changed
//! them, and events come in their order.

use posthaste_command::{Attrs, ObjectKind};
use posthaste_engine::{AuditEvent, AuditKind};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

/// The attributes, as far as they are acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Switches {
    authority: i32,
    channel: i32,
    tls: i32,
    start: i32,
    command: i32,
    configuration: i32,
}

/// What is wanted of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) authority: bool,
    pub(super) channel: bool,
    /// The channel events of CHLEV(EXCEPTION) and the others.
    pub(super) every_channel: bool,
    pub(super) tls: bool,
    pub(super) start: bool,
    pub(super) command: bool,
    pub(super) configuration: bool,
}

impl Wanted {
    /// Whether anything may be made of an event.
    pub(super) fn any_of(self, event: &AuditEvent) -> bool {
        let refused = event.reason == Reason::NOT_AUTHORIZED;
        match event.kind {
            AuditKind::Inquired => self.command && !refused || self.authority && refused,
            _ => self != Wanted::default(),
        }
    }
}

impl Switches {
    pub(super) fn of(qmgr: &Attrs) -> Switches {
        Switches {
            authority: qmgr.int(MQIA_AUTHORITY_EVENT),
            channel: qmgr.int(MQIA_CHANNEL_EVENT),
            tls: qmgr.int(MQIA_SSL_EVENT),
            start: qmgr.int(MQIA_START_STOP_EVENT),
            command: qmgr.int(MQIA_COMMAND_EVENT),
            configuration: qmgr.int(MQIA_CONFIGURATION_EVENT),
        }
    }

    /// Whether any event is asked for.
    pub(super) fn any(self) -> bool {
        self != Switches::default()
    }

    /// What is wanted of an event. That of an ALTER QMGR counts by what was asked for before it, too.
    pub(super) fn judge(&mut self, event: &AuditEvent) -> Wanted {
        let before = *self;
        let mut after = event.after.iter();
        if let Some(after) = after.find(|of| of.kind == ObjectKind::Qmgr) {
            *self = Switches::of(&after.attrs);
        }
        let on =
            |of: fn(&Switches) -> i32| of(&before) != MQEVR_DISABLED || of(self) != MQEVR_DISABLED;
        let shows = event.kind == AuditKind::Inquired;
        Wanted {
            authority: on(|all| all.authority),
            channel: on(|all| all.channel),
            every_channel: [before.channel, self.channel].contains(&MQEVR_ENABLED),
            tls: on(|all| all.tls),
            start: on(|all| all.start),
            command: on(|all| all.command) && !(shows && self.command == MQEVR_NO_DISPLAY),
            configuration: on(|all| all.configuration),
        }
    }
}
