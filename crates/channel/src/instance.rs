//! An instance of a channel: one connection of it, what was agreed on it and what it has carried.
//!
//! Invariants: only the thread of the connection counts; a request to end is never taken back, and becomes only more
//! urgent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::task::{Wake, Waker};

use parking_lot::Mutex;
use posthaste_net::{Host, Traffic, coarse_wall_micros};
use posthaste_wire::{Agreement, Status};

/// A request to an instance to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EndRequest {
    pub(crate) status: Status,
    /// Running verbs are not waited for (waiting MQGETs are given up).
    pub(crate) force: bool,
}

/// One connection of a channel.
pub(crate) struct Instance {
    pub(crate) id: u64,
    pub(crate) channel: String,
    pub(crate) conname: String,
    pub(crate) host: Option<Host>,
    started: i64,
    /// What its TLS was agreed on, and with whom.
    tls: Option<posthaste_tls::Agreed>,
    traffic: Arc<Traffic>,
    calls: AtomicU64,
    /// When the last call was handled, microseconds since 1970; 0: none has been.
    last_call: AtomicI64,
    pub(crate) conversations: AtomicU32,
    pub(crate) connected: AtomicBool,
    agreed: Mutex<Option<Agreed>>,
    end: Mutex<Option<EndRequest>>,
    /// There is an end request, or an operator has broken a connection on it.
    ending: AtomicBool,
    /// Has its connection look for an end request.
    nudge: Waker,
    /// For verification, what is kept for its output.
    #[cfg(feature = "plant")]
    pub(crate) kept: std::sync::atomic::AtomicUsize,
}

#[derive(Clone, Default)]
struct Agreed {
    heartbeat_s: u32,
    max_message: u32,
    max_conversations: u32,
    product: String,
    application: String,
    user: String,
}

/// What is known of an instance when it begins.
pub(crate) struct Start {
    pub(crate) id: u64,
    pub(crate) channel: String,
    pub(crate) conname: String,
    pub(crate) host: Option<Host>,
    /// Microseconds since 1970.
    pub(crate) started: i64,
}

impl Instance {
    /// `nudge` has its connection look for an end request.
    pub(crate) fn new(
        start: Start,
        tls: Option<posthaste_tls::Agreed>,
        traffic: &Arc<Traffic>,
        nudge: Waker,
    ) -> Instance {
        Instance {
            id: start.id,
            channel: start.channel,
            conname: start.conname,
            host: start.host,
            started: start.started,
            tls,
            traffic: Arc::clone(traffic),
            calls: AtomicU64::new(0),
            last_call: AtomicI64::new(0),
            conversations: AtomicU32::new(0),
            connected: AtomicBool::new(false),
            agreed: Mutex::new(None),
            end: Mutex::new(None),
            ending: AtomicBool::new(false),
            nudge,
            #[cfg(feature = "plant")]
            kept: Default::default(),
        }
    }

    /// The certificate that its TLS has shown.
    pub(crate) fn partner(&self) -> Option<&posthaste_tls::Certificate> {
        self.tls.as_ref()?.partner.as_ref()
    }

    pub(crate) fn agree(&self, agreement: &Agreement) {
        *self.agreed.lock() = Some(Agreed {
            heartbeat_s: agreement.heartbeat_s,
            max_message: agreement.max_message,
            max_conversations: agreement.conversations,
            product: agreement.product.text().into_owned(),
            ..Agreed::default()
        });
    }

    /// An application has connected; the first one gives the instance its name.
    pub(crate) fn connect(&self, application: &str, user: &str) {
        self.connected.store(true, Ordering::Relaxed);
        if let Some(agreed) = &mut *self.agreed.lock()
            && agreed.application.is_empty()
        {
            agreed.application = application.to_owned();
            agreed.user = user.to_owned();
        }
    }

    /// A call of the MQ Interface has been handled.
    pub(crate) fn count_call(&self) {
        // Only the thread of the connection counts.
        let calls = self.calls.load(Ordering::Relaxed);
        self.calls.store(calls + 1, Ordering::Relaxed);
        self.last_call
            .store(coarse_wall_micros(), Ordering::Relaxed);
    }

    pub(crate) fn end_request(&self) -> Option<EndRequest> {
        // Asked after every batch of a connection, so the answer that is nearly always given takes no lock.
        if self.ending.load(Ordering::Acquire) {
            *self.end.lock()
        } else {
            None
        }
    }

    /// Whether an operator wants something of it.
    pub(crate) fn is_interfered_with(&self) -> bool {
        // Asked after every batch of a connection, so it takes no lock.
        self.ending.load(Ordering::Acquire)
    }

    pub(crate) fn request_end(&self, request: EndRequest) {
        let mut end = self.end.lock();
        // A forced end overtakes a quiet one, never the other way round.
        if end.is_none_or(|now| !now.force) {
            *end = Some(request);
            drop(end);
            self.ending.store(true, Ordering::Release);
            self.nudge.wake_by_ref();
        }
    }

    pub(crate) fn status(&self) -> InstanceStatus {
        let agreed = self.agreed.lock().clone();
        let state = match (self.end_request(), &agreed) {
            (Some(_), _) => InstanceState::Stopping,
            (None, Some(_)) => InstanceState::Running,
            (None, None) => InstanceState::Binding,
        };
        let agreed = agreed.unwrap_or_default();
        InstanceStatus {
            id: self.id,
            channel: self.channel.clone(),
            conname: self.conname.clone(),
            state,
            started: self.started,
            bytes_received: self.traffic.received(),
            bytes_sent: self.traffic.sent(),
            buffers_received: self.traffic.reads(),
            buffers_sent: self.traffic.writes(),
            calls: self.calls.load(Ordering::Relaxed),
            last_call: self.last_call.load(Ordering::Relaxed),
            conversations: self.conversations.load(Ordering::Relaxed),
            max_conversations: agreed.max_conversations,
            heartbeat_s: agreed.heartbeat_s,
            max_message: agreed.max_message,
            product: agreed.product,
            application: agreed.application,
            user: agreed.user,
            tls: self.tls.clone(),
        }
    }
}

/// A connection on it was broken by an operator.
impl Wake for Instance {
    fn wake(self: Arc<Self>) {
        self.ending.store(true, Ordering::Release);
        self.nudge.wake_by_ref();
    }
}

/// STATUS in DISPLAY CHSTATUS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstanceState {
    /// Negotiating.
    Binding,
    /// Running.
    Running,
    /// Asked to end.
    Stopping,
}

/// What DISPLAY CHSTATUS shows of an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceStatus {
    /// A number no other instance has had.
    pub id: u64,
    /// CHANNEL.
    pub channel: String,
    /// CONNAME.
    pub conname: String,
    /// STATUS.
    pub state: InstanceState,
    /// CHSTADA and CHSTATI: microseconds since 1970.
    pub started: i64,
    /// BYTSRCVD.
    pub bytes_received: u64,
    /// BYTSSENT.
    pub bytes_sent: u64,
    /// BUFSRCVD.
    pub buffers_received: u64,
    /// BUFSSENT.
    pub buffers_sent: u64,
    /// MSGS: calls of the MQ Interface that were handled, as the manual has it for these channels.
    pub calls: u64,
    /// LSTMSGDA and LSTMSGTI: when the last one was, microseconds since 1970; 0: none has been.
    pub last_call: i64,
    /// CURSHCNV: conversations on the socket.
    pub conversations: u32,
    /// MAXSHCNV: as agreed; 0 where nothing is shared.
    pub max_conversations: u32,
    /// HBINT, as agreed.
    pub heartbeat_s: u32,
    /// MAXMSGL, as agreed.
    pub max_message: u32,
    /// SECPROT, SSLCIPH, SSLPEER and SSLCERTI: what TLS was agreed on, and with whom.
    pub tls: Option<posthaste_tls::Agreed>,
    /// RPRODUCT and RVERSION together, as the client states them.
    pub product: String,
    /// RAPPLTAG of the first conversation.
    pub application: String,
    /// MCAUSER: whom the first conversation runs as.
    pub user: String,
}
