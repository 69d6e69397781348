//! Certificates of a key repository that come to their end: who is told of it, and when.
//!
//! Invariants: the operator hears of a certificate from [`Certificate::EARLY`] days before its end on, once a day and after
//! each time that the repository was read; nothing in here refuses anybody, that is the handshake's.

use posthaste_tls::{Certificate, KeyStore, Shown};

/// Seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// What is to be told: a message number and its inserts.
pub(crate) type Notice = (&'static str, [String; 3]);

/// What is in a key repository, by when it ends.
#[derive(Debug)]
pub(crate) struct Expiring {
    certificates: Vec<(String, Certificate)>,
    /// The day, from 1970 on, on which it was told last.
    reported: Option<i64>,
}

impl Expiring {
    /// Of a repository. What cannot be read of a certificate was told when it was loaded.
    pub(crate) fn of(store: &KeyStore) -> Expiring {
        let named = |shown: Shown| {
            let label = match shown.label.as_str() {
                "" => "no label".to_owned(),
                label => label.to_owned(),
            };
            (label, shown.certificate)
        };
        let shown = store.show().unwrap_or_default();
        Expiring {
            certificates: shown.into_iter().map(named).collect(),
            reported: None,
        }
    }

    /// What the operator has to be told at a time, in seconds from 1970 on; nothing if that was done on the same day.
    pub(crate) fn due(&mut self, now: i64) -> Vec<Notice> {
        let today = now.div_euclid(DAY);
        if self.reported.replace(today) == Some(today) {
            return Vec::new();
        }
        let due = self.certificates.iter().filter_map(|(label, certificate)| {
            let left = certificate.days_left(now);
            let id = match left {
                ..0 => "AMQ2651E",
                0..=Certificate::EARLY => "AMQ2650W",
                _ => return None,
            };
            let days = left.abs().to_string();
            Some((id, [label.clone(), certificate.subject.to_string(), days]))
        });
        due.collect()
    }
}
