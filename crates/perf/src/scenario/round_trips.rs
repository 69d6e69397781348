//! Requesters and responders as cases: the usual workload of a scenario, and its floor.

use std::time::Duration;

use super::plan::{Drive, Group, Place, Planned, Subject, Via, bare_exchange, planned};
use crate::measure::Shape;
use crate::quantity::shown_size;
use crate::workload::{Carriers, Destinations, Module, Syncpoint, Workload};

/// Requesters and responders.
#[derive(Clone, Debug)]
pub(super) struct RoundTrips {
    /// Requesters.
    pub(super) requesters: u32,
    /// Responders.
    pub(super) responders: u32,
    /// Bytes of a message.
    pub(super) message_bytes: usize,
    /// Persistent messages.
    pub(super) persistent: bool,
    /// Puts and gets in syncpoint.
    pub(super) syncpoint: bool,
    /// Round trips a second of each requester; 0 is as fast as it goes.
    pub(super) rate: f64,
    /// Pairs of queues.
    pub(super) pairs: u32,
    /// What carries them.
    pub(super) carriers: Carriers,
}

impl RoundTrips {
    /// The usual: as many responders, at most 60; ten pairs of queues; persistent messages in syncpoint; one
    /// thread for all connections.
    pub(super) fn new(requesters: u32, message_bytes: usize, persistent: bool) -> RoundTrips {
        RoundTrips {
            requesters,
            responders: requesters.min(60),
            message_bytes,
            persistent,
            syncpoint: persistent,
            rate: 0.0,
            pairs: 10,
            carriers: Carriers::Multiplexed { threads: 1 },
        }
    }

    fn workload(&self, module: Module) -> Workload {
        let both = Syncpoint::BOTH;
        Workload {
            module,
            applications: match module {
                Module::Requester => self.requesters,
                _ => self.responders,
            },
            carriers: self.carriers,
            message_bytes: self.message_bytes,
            persistence: Some(self.persistent),
            syncpoint: if self.syncpoint {
                both
            } else {
                Syncpoint::NONE
            },
            rate: match module {
                Module::Requester => self.rate,
                _ => 0.0,
            },
            requests: Destinations::numbered("REQUEST", self.pairs),
            replies: Destinations::numbered("REPLY", self.pairs),
            get_wait: Some(match module {
                // A slow disk is no reason to give a reply up.
                Module::Requester => Duration::from_secs(60),
                _ => Duration::from_millis(500),
            }),
            application_name: "posthaste perf".to_owned(),
            ..Workload::default()
        }
    }

    /// Both over TCP.
    pub(super) fn as_clients(&self, shape: Shape) -> Drive {
        Drive {
            place: Place::Server(shape),
            groups: vec![Group {
                via: Via::Tcp,
                workloads: vec![
                    self.workload(Module::Requester),
                    self.workload(Module::Responder),
                ],
            }],
            bounded: false,
        }
    }

    /// Responders inside the queue manager's process, requesters as said.
    pub(super) fn inside(&self, shape: Shape, requesters: Via) -> Drive {
        let threads = |module| Workload {
            carriers: Carriers::Threads,
            ..self.workload(module)
        };
        let requester = match requesters {
            Via::Inside => threads(Module::Requester),
            _ => self.workload(Module::Requester),
        };
        Drive {
            place: Place::Inside(shape),
            groups: vec![
                Group {
                    via: Via::Inside,
                    workloads: vec![threads(Module::Responder)],
                },
                Group {
                    via: requesters,
                    workloads: vec![requester],
                },
            ],
            bounded: false,
        }
    }

    /// The bare exchange in the same shape.
    pub(super) fn floor(&self) -> Planned {
        let threads = match self.carriers {
            Carriers::Multiplexed { threads } => threads,
            Carriers::Threads => 1,
        };
        bare_exchange(
            self.requesters,
            self.responders,
            self.message_bytes,
            threads,
        )
    }

    /// As a case: "2 KiB NP 60".
    pub(super) fn planned(&self, drive: Drive) -> Planned {
        let kind = if self.persistent { "P" } else { "NP" };
        let series = format!("{} {kind}", shown_size(self.message_bytes as f64));
        let with_applications = matches!(drive.place, Place::Inside(_));
        let mut planned = planned(&series, f64::from(self.requesters), Subject::Drive(drive));
        planned.case.with_applications = with_applications;
        planned.case.group = shown_size(self.message_bytes as f64);
        let settings = [
            ("requesters", self.requesters.to_string()),
            ("responders", self.responders.to_string()),
            ("message bytes", self.message_bytes.to_string()),
            ("persistent", self.persistent.to_string()),
            ("syncpoint", self.syncpoint.to_string()),
            ("queue pairs", self.pairs.to_string()),
            ("carriers", carriers(self.carriers)),
            ("rate", self.rate.to_string()),
        ];
        planned.case.settings = settings
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        planned
    }
}

fn carriers(carriers: Carriers) -> String {
    match carriers {
        Carriers::Threads => "a thread for each application".to_owned(),
        Carriers::Multiplexed { threads } => format!("{threads} threads for all"),
    }
}
