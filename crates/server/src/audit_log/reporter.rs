//! Whoever is spoken to by everything that runs: messages go to the error log, events to the audit log and to whoever makes
//! event messages of them.

use std::panic::Location;
use std::sync::Arc;

use posthaste_admin::EventInbox;
use posthaste_engine::{AuditEvent, AuditKind, Operator};

use super::AuditLog;
use crate::error_log::ErrorLog;

/// See the head of this file.
pub(crate) struct Reporter {
    log: Arc<ErrorLog>,
    audit: Option<Arc<AuditLog>>,
    connections: bool,
    events: Arc<EventInbox>,
}

impl Reporter {
    /// `audit`: the audit log, if there is one, and whether it has every connection.
    pub(crate) fn new(
        log: &Arc<ErrorLog>,
        audit: Option<&(Arc<AuditLog>, bool)>,
        events: &Arc<EventInbox>,
    ) -> Reporter {
        Reporter {
            log: Arc::clone(log),
            audit: audit.map(|(audit, _)| Arc::clone(audit)),
            connections: audit.is_some_and(|(_, connections)| *connections),
            events: Arc::clone(events),
        }
    }
}

impl Operator for Reporter {
    fn record(&self, id: &'static str, inserts: &[String], from: &'static Location<'static>) {
        self.log.record(id, inserts, from);
    }

    fn audit(&self, event: AuditEvent) {
        match event.kind {
            AuditKind::Inquired => return self.events.push(event),
            AuditKind::Connected => {}
            _ => self.events.push(event.clone()),
        }
        if let Some(audit) = &self.audit {
            audit.push(event);
        }
    }

    fn audits_connections(&self) -> bool {
        self.connections
    }
}
