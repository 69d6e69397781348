//! All instances of all server-connection channels of a queue manager.
//!
//! Invariants: an instance is in the registry from its admission until its last session has ended; a channel never has
//! more instances than MAXINST, nor more from one address than MAXINSTC; a stopped channel admits nobody.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_command::{Attrs, ObjectKind};
use posthaste_engine::plant::{Bug, planted};
use posthaste_engine::{Meter, Operator, QueueManager};
use posthaste_env::Clock;
use posthaste_mqi::constants::{
    MQCA_Q_MGR_IDENTIFIER, MQCACH_MCA_USER_ID, MQCACH_RCV_EXIT_NAME, MQCACH_SEC_EXIT_NAME,
    MQCACH_SEND_EXIT_NAME, MQCACH_SSL_CIPHER_SPEC, MQCACH_SSL_PEER_NAME, MQIA_CODED_CHAR_SET_ID,
    MQIA_MAX_MSG_LENGTH, MQIACH_DISC_INTERVAL, MQIACH_HB_INTERVAL, MQIACH_MAX_INSTANCES,
    MQIACH_MAX_INSTS_PER_CLIENT, MQIACH_MAX_MSG_LENGTH, MQIACH_SHARING_CONVERSATIONS,
};
use posthaste_mqi::{Chars, Name};
use posthaste_net::{Host, Peer, Traffic, coarse_wall_micros};
use posthaste_wire::negotiate::FAP_LEVEL;
use posthaste_wire::{Agreement, Budget, Offer, Status};

use crate::instances::Instances;
use crate::ready::Ready;

/// Who answers, in twelve characters: a four-letter code for a queue manager and the level of the interface, VVRRMMFF.
const PRODUCT: &str = "MQMM09040000";
/// The longest segment we take and send.
const MAX_TRANSMISSION: u32 = 32_766;
/// The coded character sets in which text on the wire can be: anything else is offered as the second.
const LATIN_1: i32 = 819;
const UTF_8: u16 = 1208;

/// Limits that are not in a channel's definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// From the socket's acceptance to a successful MQCONN.
    pub handshake: Duration,
    /// How long a peer may read nothing of what waits for it.
    pub stall: Duration,
    /// Bytes waiting for a peer beyond which nothing more is done for it.
    pub output: usize,
    /// Bytes of requests waiting for their turn beyond which no more are read.
    pub input: usize,
    /// How long is spent on saying good-bye.
    pub farewell: Duration,
    /// Bytes of flows that have begun on a socket and are not complete; one of the longest has room always.
    pub unfinished: usize,
    /// Bytes of such flows on all sockets together, and of long requests waiting for their turn.
    pub unfinished_in_all: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            handshake: Duration::from_secs(30),
            stall: Duration::from_secs(60),
            output: 256 * 1024,
            input: 4 * 1024 * 1024,
            farewell: Duration::from_secs(2),
            unfinished: 16 * 1024 * 1024,
            unfinished_in_all: 256 * 1024 * 1024,
        }
    }
}

/// What a definition demands of every connection and this release cannot check: nobody is admitted then, for a check
/// that is left out is worse than a channel that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Demand {
    /// SSLCIPH.
    Tls,
    /// SSLPEER without SSLCIPH.
    Certificate,
    /// The exit of this name.
    Exit(String),
}

impl Demand {
    fn read(channel: &Attrs) -> Option<Demand> {
        let text = |selector: i32| channel.text(selector).trim();
        if !text(MQCACH_SSL_CIPHER_SPEC).is_empty() {
            return Some(Demand::Tls);
        }
        if !text(MQCACH_SSL_PEER_NAME).is_empty() {
            return Some(Demand::Certificate);
        }
        [
            MQCACH_SEC_EXIT_NAME,
            MQCACH_SEND_EXIT_NAME,
            MQCACH_RCV_EXIT_NAME,
        ]
        .map(text)
        .into_iter()
        .find(|exit| !exit.is_empty())
        .map(|exit| Demand::Exit(exit.to_owned()))
    }

    /// Tells the operator; gives what the client is told.
    fn refuse(&self, operator: &dyn Operator, channel: &str, conname: &str) -> Status {
        let tell = |id, inserts: &[&str]| {
            let inserts: Vec<String> = inserts.iter().map(|&insert| insert.to_owned()).collect();
            operator.message(id, &inserts);
        };
        match self {
            Demand::Tls => {
                tell("AMQ9639E", &[channel, conname]);
                Status::CIPHER_SPEC
            }
            Demand::Certificate => {
                tell("AMQ9635E", &[channel, conname]);
                Status::CIPHER_SPEC
            }
            Demand::Exit(exit) => {
                tell("AMQ9535E", &[exit, channel, conname]);
                Status::CLOSED_BY_EXIT
            }
        }
    }
}

/// What a channel's definition says, as far as it is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Definition {
    pub(crate) max_message: u32,
    pub(crate) conversations: u32,
    pub(crate) heartbeat_s: u32,
    pub(crate) disconnect_s: u32,
    pub(crate) max_instances: usize,
    pub(crate) max_per_client: usize,
    /// Whom applications run as; blank for whom they say.
    pub(crate) user: String,
    demand: Option<Demand>,
    ccsid: u16,
    q_mgr_id: Name,
}

impl Definition {
    fn read(channel: &Attrs, qmgr: &Attrs) -> Definition {
        let number = |selector: i32| u32::try_from(channel.int(selector)).unwrap_or(0);
        let count = |selector: i32| usize::try_from(channel.int(selector)).unwrap_or(0);
        let max_message = match number(MQIACH_MAX_MSG_LENGTH) {
            0 => u32::try_from(qmgr.int(MQIA_MAX_MSG_LENGTH)).unwrap_or(0),
            length => length,
        };
        Definition {
            max_message,
            conversations: number(MQIACH_SHARING_CONVERSATIONS),
            heartbeat_s: number(MQIACH_HB_INTERVAL),
            disconnect_s: number(MQIACH_DISC_INTERVAL),
            max_instances: count(MQIACH_MAX_INSTANCES),
            max_per_client: count(MQIACH_MAX_INSTS_PER_CLIENT),
            user: channel.text(MQCACH_MCA_USER_ID).trim().to_owned(),
            demand: Demand::read(channel),
            ccsid: match qmgr.int(MQIA_CODED_CHAR_SET_ID) {
                LATIN_1 => 819,
                _ => UTF_8,
            },
            q_mgr_id: Name::new(qmgr.text(MQCA_Q_MGR_IDENTIFIER)),
        }
    }
}

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
    traffic: Arc<Traffic>,
    calls: AtomicU64,
    /// When the last call was handled, microseconds since 1970; 0: none has been.
    last_call: AtomicI64,
    pub(crate) conversations: AtomicU32,
    pub(crate) connected: AtomicBool,
    agreed: Mutex<Option<Agreed>>,
    end: Mutex<Option<EndRequest>>,
    /// There is an end request.
    ending: AtomicBool,
    ready: Arc<Ready>,
    /// For verification, what is kept for its output.
    #[cfg(feature = "plant")]
    pub(crate) outbound: std::sync::OnceLock<Arc<posthaste_net::Outbound>>,
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

impl Instance {
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
        self.calls.fetch_add(1, Ordering::Relaxed);
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

    fn request_end(&self, request: EndRequest) {
        let mut end = self.end.lock();
        // A forced end overtakes a quiet one, never the other way round.
        if end.is_none_or(|now| !now.force) {
            *end = Some(request);
            drop(end);
            self.ending.store(true, Ordering::Release);
            self.ready.nudge();
        }
    }

    fn status(&self) -> InstanceStatus {
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
        }
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
    /// RPRODUCT and RVERSION together, as the client states them.
    pub product: String,
    /// RAPPLTAG of the first conversation.
    pub application: String,
    /// MCAUSER: whom the first conversation runs as.
    pub user: String,
}

/// Why a channel could not be stopped or started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopError {
    /// There is no such channel.
    NotFound,
}

#[derive(Default)]
struct State {
    next: u64,
    instances: Instances,
    stopped: HashSet<String>,
    ending: Option<Status>,
}

/// The channel instances of a queue manager.
pub struct Registry {
    qm: QueueManager,
    operator: Arc<dyn Operator>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    local: bool,
    budget: Arc<Budget>,
    state: Mutex<State>,
    meter: Meter<{ COUNTERS.len() }>,
}

/// What connections count beside their traffic, which [`posthaste_net::Admission::traffic`] sums.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Times a connection's task was woken and ran.
    Wakes,
    /// Requests that were dispatched.
    Requests,
    /// Writes that took something; each is a system call.
    Writes,
}

/// The names of the counters, in the order of [`Count`].
const COUNTERS: [&str; 3] = ["channel.wakes", "channel.requests", "channel.writes"];

/// An admitted instance; it leaves the registry when this is dropped.
pub(crate) struct Admitted {
    registry: Arc<Registry>,
    pub(crate) instance: Arc<Instance>,
    pub(crate) definition: Definition,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.registry.state.lock().instances.remove(&self.instance);
    }
}

impl Registry {
    /// For the channels that are defined in `qm`; `operator` hears what goes wrong on them. Their connections wait by
    /// `clock`, which is the clock of whatever runs [`crate::serve`].
    pub fn new(
        qm: QueueManager,
        operator: Arc<dyn Operator>,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Arc<Registry> {
        Registry::make(qm, operator, limits, clock, false)
    }

    /// For applications of this machine: every channel name is taken, with the default attributes, whatever is
    /// defined. So nobody who stops, restricts or deletes a channel locks the operator's own commands out.
    pub fn local(
        qm: QueueManager,
        operator: Arc<dyn Operator>,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Arc<Registry> {
        Registry::make(qm, operator, limits, clock, true)
    }

    fn make(
        qm: QueueManager,
        operator: Arc<dyn Operator>,
        limits: Limits,
        clock: Arc<dyn Clock>,
        local: bool,
    ) -> Arc<Registry> {
        let limits = match planted(Bug::UnbudgetedFlows) {
            true => Limits {
                unfinished: usize::MAX,
                unfinished_in_all: usize::MAX,
                ..limits
            },
            false => limits,
        };
        Arc::new(Registry {
            qm,
            operator,
            limits,
            clock,
            local,
            budget: Budget::new(limits.unfinished_in_all),
            state: Mutex::default(),
            meter: Meter::default(),
        })
    }

    /// What has been counted on all connections since the start, beside their traffic: names and sums.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COUNTERS.into_iter().zip(self.meter.sums())
    }

    pub(crate) fn count(&self, count: Count, by: u64) {
        self.meter.add(count as usize, by);
    }

    /// The queue manager.
    pub fn queue_manager(&self) -> &QueueManager {
        &self.qm
    }

    pub(crate) fn operator(&self) -> &dyn Operator {
        &*self.operator
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What unfinished flows may take on all sockets.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Bytes that unfinished flows and long requests waiting for their turn take now.
    pub fn unfinished(&self) -> usize {
        self.budget.taken()
    }

    /// How many instances were looked at by whoever looks at all, since the start.
    #[cfg(feature = "plant")]
    pub fn instances_looked_at(&self) -> u64 {
        self.state.lock().instances.looked_at
    }

    /// Bytes of memory that connections keep for output now; those without output keep none.
    #[cfg(feature = "plant")]
    pub fn kept_for_output(&self) -> usize {
        let instances = self.state.lock().instances.all();
        let kept = |i: &Arc<Instance>| i.outbound.get().map_or(0, |outbound| outbound.kept());
        instances.iter().map(kept).sum()
    }

    /// Every instance, in the order of their starts.
    pub fn status(&self) -> Vec<InstanceStatus> {
        let instances = self.state.lock().instances.all();
        instances.iter().map(|instance| instance.status()).collect()
    }

    /// STOP CHANNEL: its instances end and nobody is admitted until [`Registry::start`].
    ///
    /// Not forced, running verbs are waited for (and an MQGET that waits with MQGMO_FAIL_IF_QUIESCING ends with 2202);
    /// forced, waiting MQGETs are given up. Gives the number of instances that were running.
    pub fn stop(&self, channel: &str, force: bool) -> Result<usize, StopError> {
        if self.qm.object(ObjectKind::SvrConn, channel).is_none() {
            return Err(StopError::NotFound);
        }
        let mut state = self.state.lock();
        state.stopped.insert(channel.to_owned());
        let mut instances = state.instances.all();
        drop(state);
        instances.retain(|instance| instance.channel == channel);
        for instance in &instances {
            instance.request_end(EndRequest {
                status: Status::USER_CLOSED,
                force,
            });
        }
        Ok(instances.len())
    }

    /// START CHANNEL: a stopped channel admits clients again.
    pub fn start(&self, channel: &str) -> Result<(), StopError> {
        if self.qm.object(ObjectKind::SvrConn, channel).is_none() {
            return Err(StopError::NotFound);
        }
        self.state.lock().stopped.remove(channel);
        Ok(())
    }

    /// Whether a channel is stopped.
    pub fn is_stopped(&self, channel: &str) -> bool {
        self.state.lock().stopped.contains(channel)
    }

    /// Whether the queue manager ends.
    pub fn is_ending(&self) -> bool {
        self.state.lock().ending.is_some()
    }

    /// Channels that STOP CHANNEL has stopped, by name.
    pub fn stopped(&self) -> Vec<String> {
        let mut stopped: Vec<_> = self.state.lock().stopped.iter().cloned().collect();
        stopped.sort();
        stopped
    }

    /// The queue manager ends: nobody is admitted any more, and every instance ends.
    pub fn end(&self, force: bool) {
        let status = Status::Q_MGR_TERMINATING;
        let mut state = self.state.lock();
        state.ending = Some(status);
        let instances = state.instances.all();
        drop(state);
        for instance in instances {
            instance.request_end(EndRequest { status, force });
        }
    }

    /// Admits an instance of `channel`, or says why not.
    pub(crate) fn admit(
        self: &Arc<Self>,
        channel: &str,
        peer: &Peer,
        traffic: &Arc<Traffic>,
        ready: &Arc<Ready>,
    ) -> Result<Admitted, Status> {
        let conname = peer.conname();
        let Some(definition) = self.definition(channel) else {
            self.operator
                .message("AMQ9519E", &[channel.to_owned(), conname]);
            return Err(Status::NO_CHANNEL);
        };
        if let Some(demand) = &definition.demand {
            return Err(demand.refuse(&*self.operator, channel, &conname));
        }
        if self.qm.stopped().is_some() {
            return Err(Status::Q_MGR_UNAVAILABLE);
        }
        let mut state = self.state.lock();
        if let Err(refusal) = room(&state, channel, &definition, peer) {
            drop(state);
            return Err(refusal.tell(&*self.operator));
        }
        state.next += 1;
        let instance = Arc::new(Instance {
            id: state.next,
            channel: channel.to_owned(),
            conname,
            host: peer.host(),
            started: self.clock.wall_micros(),
            traffic: Arc::clone(traffic),
            calls: AtomicU64::new(0),
            last_call: AtomicI64::new(0),
            conversations: AtomicU32::new(0),
            connected: AtomicBool::new(false),
            agreed: Mutex::new(None),
            end: Mutex::new(None),
            ending: AtomicBool::new(false),
            ready: Arc::clone(ready),
            #[cfg(feature = "plant")]
            outbound: std::sync::OnceLock::new(),
        });
        state.instances.insert(&instance);
        drop(state);
        Ok(Admitted {
            registry: Arc::clone(self),
            instance,
            definition,
        })
    }

    /// Whether this is for applications of this machine, which have no channel that anybody defined.
    pub(crate) fn is_local(&self) -> bool {
        self.local
    }

    fn definition(&self, channel: &str) -> Option<Definition> {
        if self.local {
            let mut attrs = Attrs::defaults(ObjectKind::SvrConn);
            // No limit but the queue manager's; and the system tells when a process of this machine has gone.
            attrs.set_int(MQIACH_MAX_MSG_LENGTH, 0);
            attrs.set_int(MQIACH_HB_INTERVAL, 0);
            return Some(Definition::read(&attrs, &self.qmgr()));
        }
        let channel = self.qm.object(ObjectKind::SvrConn, channel)?;
        Some(Definition::read(&channel.attrs, &self.qmgr()))
    }

    fn qmgr(&self) -> Attrs {
        let qmgr = self.qm.object(ObjectKind::Qmgr, self.qm.name());
        qmgr.map(|qmgr| qmgr.attrs).unwrap_or_default()
    }

    /// What this queue manager offers to a client of such a channel.
    pub(crate) fn offer(&self, definition: &Definition) -> Offer {
        Offer {
            fap_level: FAP_LEVEL,
            conversations: definition.conversations,
            ccsid: definition.ccsid,
            heartbeat_s: definition.heartbeat_s,
            max_transmission: MAX_TRANSMISSION,
            max_message: definition.max_message,
            q_mgr: Name::new(self.qm.name()),
            q_mgr_id: definition.q_mgr_id,
            product: Chars::new(PRODUCT),
            process_id: 0,
        }
    }
}

/// Why an instance is not admitted: what the client is told, and the operator, if he is to hear of it.
struct Refusal {
    status: Status,
    message: Option<(&'static str, Vec<String>)>,
}

impl Refusal {
    fn tell(self, operator: &dyn Operator) -> Status {
        if let Some((id, inserts)) = self.message {
            operator.message(id, &inserts);
        }
        self.status
    }
}

/// Whether there is room for one more instance; the number of those that are there does not matter to its cost.
fn room(state: &State, channel: &str, definition: &Definition, peer: &Peer) -> Result<(), Refusal> {
    if let Some(status) = state.ending {
        let message = None;
        return Err(Refusal { status, message });
    }
    let refuse = |id, inserts: &[&str]| {
        let inserts = inserts.iter().map(|&insert| insert.to_owned()).collect();
        Err(Refusal {
            status: Status::CHANNEL_UNAVAILABLE,
            message: Some((id, inserts)),
        })
    };
    let conname = peer.conname();
    if state.stopped.contains(channel) {
        return refuse("AMQ9534E", &[channel, &conname]);
    }
    let (in_all, from_there) = state.instances.count(channel, peer.host());
    let limit = definition.max_instances;
    if in_all >= limit {
        return refuse("AMQ9489W", &[&limit.to_string(), channel, &conname]);
    }
    let limit = definition.max_per_client;
    if from_there >= limit {
        return refuse("AMQ9490W", &[&limit.to_string(), channel, &conname]);
    }
    Ok(())
}
