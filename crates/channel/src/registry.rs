//! All instances of all server-connection channels of a queue manager.
//!
//! Invariants: an instance is in the registry from its admission until its last session has ended; a channel never has
//! more instances than MAXINST, nor more from one address than MAXINSTC; one on which no application has connected keeps
//! nobody out for long; a stopped channel admits nobody.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_authentication::Loopback;
use posthaste_command::{Attrs, ObjectKind, StopChannel};
use posthaste_engine::plant::{Bug, planted};
use posthaste_engine::{Application, AuditEvent, AuditKind, Meter, Operator, QueueManager};
use posthaste_env::{Clock, Nanos};
use posthaste_mqi::constants::{
    MQCA_Q_MGR_IDENTIFIER, MQCACH_MCA_USER_ID, MQCACH_RCV_EXIT_NAME, MQCACH_SEC_EXIT_NAME,
    MQCACH_SEND_EXIT_NAME, MQIA_CODED_CHAR_SET_ID, MQIA_MAX_MSG_LENGTH, MQIACH_DISC_INTERVAL,
    MQIACH_HB_INTERVAL, MQIACH_MAX_INSTANCES, MQIACH_MAX_INSTS_PER_CLIENT, MQIACH_MAX_MSG_LENGTH,
    MQIACH_SHARING_CONVERSATIONS,
};
use posthaste_mqi::{Chars, Name, Reason};
use posthaste_net::{Peer, Traffic};
use posthaste_tls::Agreed;
use posthaste_wire::negotiate::FAP_LEVEL;
use posthaste_wire::{Budget, Offer, Status};

use crate::connauth::ConnAuth;
use crate::instance::{EndRequest, Instance, InstanceStatus, Start};
use crate::instances::{Full, Instances};
use crate::outgoing::Outgoing;
use crate::security::{Demands, Security};

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
    /// How much longer it may last while somebody's password is looked at, or a refusal is held back: whoever is refused
    /// time and again would stay for ever.
    pub checks: Duration,
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
    /// Bytes waiting for all peers together beyond which no message is got for any of them.
    pub output_in_all: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            handshake: Duration::from_secs(30),
            // An address's turn, the answer, and the longest FAILDLAY.
            checks: Duration::from_secs(120),
            stall: Duration::from_secs(60),
            output: 256 * 1024,
            input: 4 * 1024 * 1024,
            farewell: Duration::from_secs(2),
            unfinished: 16 * 1024 * 1024,
            unfinished_in_all: 256 * 1024 * 1024,
            output_in_all: 256 * 1024 * 1024,
        }
    }
}

/// Who is at the other end of a socket.
pub struct Caller {
    /// Its address.
    pub peer: Peer,
    /// The number of the user whose process it is, by the kernel's word, if it is on this machine.
    pub user: Option<u32>,
    /// Its connection, if it comes over loopback.
    pub loopback: Option<Loopback>,
    /// Its counters.
    pub traffic: Arc<Traffic>,
}

/// What a definition demands of every connection and this release cannot check: nobody is admitted then, for a check
/// that is left out is worse than a channel that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Demand {
    /// The exit of this name.
    Exit(String),
}

impl Demand {
    fn read(channel: &Attrs) -> Option<Demand> {
        let text = |selector: i32| channel.name(selector);
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
    tls: Demands,
    ccsid: u16,
    q_mgr_id: Name,
}

/// What the queue manager's own definition says about all channels.
#[derive(Default)]
struct OfQmgr {
    max_message: u32,
    ccsid: i32,
    id: Name,
}

impl OfQmgr {
    fn read(qmgr: &Attrs) -> OfQmgr {
        OfQmgr {
            max_message: u32::try_from(qmgr.int(MQIA_MAX_MSG_LENGTH)).unwrap_or(0),
            ccsid: qmgr.int(MQIA_CODED_CHAR_SET_ID),
            id: Name::new(qmgr.text(MQCA_Q_MGR_IDENTIFIER)),
        }
    }
}

impl Definition {
    fn read(channel: &Attrs, qmgr: &OfQmgr) -> Definition {
        let number = |selector: i32| u32::try_from(channel.int(selector)).unwrap_or(0);
        let count = |selector: i32| usize::try_from(channel.int(selector)).unwrap_or(0);
        let max_message = match number(MQIACH_MAX_MSG_LENGTH) {
            0 => qmgr.max_message,
            length => length,
        };
        Definition {
            max_message,
            conversations: number(MQIACH_SHARING_CONVERSATIONS),
            heartbeat_s: number(MQIACH_HB_INTERVAL),
            disconnect_s: number(MQIACH_DISC_INTERVAL),
            max_instances: count(MQIACH_MAX_INSTANCES),
            max_per_client: count(MQIACH_MAX_INSTS_PER_CLIENT),
            user: channel.name(MQCACH_MCA_USER_ID).to_owned(),
            demand: Demand::read(channel),
            tls: Demands::read(channel),
            ccsid: match qmgr.ccsid {
                LATIN_1 => 819,
                _ => UTF_8,
            },
            q_mgr_id: qmgr.id,
        }
    }
}

/// Why a channel could not be stopped or started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopError {
    /// There is no such channel.
    NotFound,
    /// Nothing of it that was to be made inactive runs, or is stopped.
    NotActive,
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
    outgoing: Arc<Outgoing>,
    state: Mutex<State>,
    meter: Meter<3>,
    security: OnceLock<Arc<Security>>,
    connauth: OnceLock<Arc<ConnAuth>>,
}

/// What connections count beside their traffic, which [`posthaste_net::Admission::traffic`] sums.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// Times a connection was run.
    Wakes,
    /// Requests that were dispatched.
    Requests,
    /// Writes that took something; each is a system call.
    Writes,
}

/// What a registry has counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Times a connection was run.
    pub wakes: u64,
    /// Requests that were dispatched.
    pub requests: u64,
    /// Writes that took something; each is a system call.
    pub writes: u64,
}

/// An admitted instance; it leaves the registry when this is dropped.
pub(crate) struct Admitted {
    registry: Arc<Registry>,
    pub(crate) instance: Arc<Instance>,
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
            outgoing: Outgoing::new(limits.output_in_all),
            state: Mutex::default(),
            meter: Meter::default(),
            security: OnceLock::new(),
            connauth: OnceLock::new(),
        })
    }

    /// Clients may use TLS from now on. Without this a connection that begins with it is one that breaks the protocol.
    pub fn secure(&self, security: Arc<Security>) {
        // Once is enough: what may change is behind it.
        let _ = self.security.set(security);
    }

    /// Whoever connects is asked from now on for what CONNAUTH demands. Without this nothing is.
    pub fn authenticate(&self, connauth: Arc<ConnAuth>) {
        // Once is enough: what may change is behind it.
        let _ = self.connauth.set(connauth);
    }

    pub(crate) fn connauth(&self) -> Option<&Arc<ConnAuth>> {
        self.connauth.get()
    }

    pub(crate) fn security(&self) -> Option<&Arc<Security>> {
        self.security.get()
    }

    /// What has been counted on all connections since the start, beside their traffic.
    pub fn counted(&self) -> Counted {
        let [wakes, requests, writes] = self.meter.sums();
        Counted {
            wakes,
            requests,
            writes,
        }
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

    /// What waits for peers on all sockets.
    pub(crate) fn outgoing(&self) -> &Arc<Outgoing> {
        &self.outgoing
    }

    /// Bytes of memory that what waits for peers takes now, in whole steps of 64 KiB for each.
    pub fn unread(&self) -> usize {
        self.outgoing.taken()
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
        let kept = |i: &Arc<Instance>| i.kept.load(Ordering::Relaxed);
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
        let how = StopChannel {
            force,
            ..StopChannel::default()
        };
        self.stop_as(channel, &how)
    }

    /// The same as STOP CHANNEL says it: those instances end that it chooses, and if it makes the channel inactive, whoever
    /// connects is admitted, of a stopped channel too.
    pub fn stop_as(&self, channel: &str, how: &StopChannel) -> Result<usize, StopError> {
        if self.qm.object(ObjectKind::SvrConn, channel).is_none() {
            return Err(StopError::NotFound);
        }
        let mut state = self.state.lock();
        let changed = match (how.inactive, how.chooses()) {
            (false, _) => {
                state.stopped.insert(channel.to_owned());
                true
            }
            (true, false) => state.stopped.remove(channel),
            (true, true) => false,
        };
        let mut instances = state.instances.all();
        drop(state);
        // No client is a queue manager.
        let is_there = |instance: &Instance| match (&how.q_mgr, &how.conname) {
            (Some(_), _) => false,
            (None, Some(conname)) => instance.conname.eq_ignore_ascii_case(conname),
            (None, None) => true,
        };
        instances.retain(|instance| instance.channel == channel && is_there(instance));
        if instances.is_empty() && !changed {
            return Err(StopError::NotActive);
        }
        for instance in &instances {
            instance.request_end(EndRequest {
                status: Status::USER_CLOSED,
                force: how.force,
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

    /// Whether an application is connected by a channel, whose definition has to stay then.
    pub fn is_in_use(&self, channel: &str) -> bool {
        let instances = self.state.lock().instances.all();
        let connected = |i: &Arc<Instance>| i.connected.load(Ordering::Relaxed);
        let mut of_channel = instances.iter().filter(|i| i.channel == channel);
        of_channel.any(connected)
    }

    /// A channel was deleted. Whoever has come by it since it was found idle, and whoever has not connected yet, is
    /// disconnected: he was admitted by a definition that is no more, and the next one of that name is another channel's.
    pub fn deleted(&self, channel: &str) {
        let mut state = self.state.lock();
        state.stopped.remove(channel);
        let instances = state.instances.all();
        drop(state);
        for instance in instances.iter().filter(|i| i.channel == channel) {
            instance.request_end(EndRequest {
                status: Status::USER_CLOSED,
                force: true,
            });
        }
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

    /// Admits an instance of `channel`, whose definition it gives too, or says why not.
    pub(crate) fn admit(
        self: &Arc<Self>,
        channel: &str,
        caller: &Caller,
        agreed: Option<&Agreed>,
        nudge: Waker,
    ) -> Result<(Admitted, Definition), Status> {
        let Caller { peer, traffic, .. } = caller;
        let conname = peer.conname();
        let Some(definition) = self.definition(channel) else {
            self.refused("AMQ9519E", of_partner(channel, &conname, agreed));
            self.operator
                .message("AMQ9519E", &[channel.to_owned(), conname]);
            return Err(Status::NO_CHANNEL);
        };
        if let Some(demand) = &definition.demand {
            self.refused("AMQ9535E", of_partner(channel, &conname, agreed));
            return Err(demand.refuse(&*self.operator, channel, &conname));
        }
        let seconds = self.clock.wall_micros() / 1_000_000;
        let checked = definition.tls.check(agreed, channel, &conname, seconds);
        let who = || of_partner(channel, &conname, agreed);
        checked.map_err(|objection| objection.tell(&*self.operator, who()))?;
        if self.qm.stopped().is_some() {
            return Err(Status::Q_MGR_UNAVAILABLE);
        }
        let now = self.clock.monotonic();
        let mut state = self.state.lock();
        if let Err(refusal) = make_room(&mut state, channel, &definition, peer, now) {
            drop(state);
            if let Some((id, _)) = &refusal.message {
                self.refused(id, of_partner(channel, &conname, agreed));
            }
            return Err(refusal.tell(&*self.operator));
        }
        state.next += 1;
        let start = Start {
            id: state.next,
            channel: channel.to_owned(),
            conname,
            host: peer.host(),
            started: self.clock.wall_micros(),
        };
        let instance = Arc::new(Instance::new(start, agreed.cloned(), traffic, nudge));
        state.instances.insert(&instance, now);
        drop(state);
        let admitted = Admitted {
            registry: Arc::clone(self),
            instance,
        };
        // It may have been deleted since it was read: who ends its instances has not seen this one.
        let there = self.qm.read_object(ObjectKind::SvrConn, channel, |_| ());
        if there.is_none() && !self.local {
            return Err(Status::NO_CHANNEL);
        }
        Ok((admitted, definition))
    }

    /// Tells whoever audits of a connection that a channel does not take, of which a message tells the operator.
    fn refused(&self, id: &'static str, who: Application) {
        let reason = match id {
            "AMQ9519E" => Reason::UNKNOWN_CHANNEL_NAME,
            _ => Reason::CHANNEL_NOT_AVAILABLE,
        };
        self.operator.audit(AuditEvent {
            who,
            message: id,
            ..AuditEvent::new(AuditKind::ConnectionRefused, reason)
        });
    }

    /// An application is about to connect on an instance, which keeps its place from then on; false if it has lost it to
    /// another.
    pub(crate) fn establish(&self, instance: &Instance) -> bool {
        instance.connected.load(Ordering::Relaxed)
            || self.state.lock().instances.establish(instance)
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
        let qmgr = self.qmgr();
        let read = |attrs: &Attrs| Definition::read(attrs, &qmgr);
        self.qm.read_object(ObjectKind::SvrConn, channel, read)
    }

    fn qmgr(&self) -> OfQmgr {
        let (kind, name) = (ObjectKind::Qmgr, self.qm.name());
        let read = self.qm.read_object(kind, name, OfQmgr::read);
        read.unwrap_or_default()
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

/// Whoever is at the other end of a connection, of whom nothing but this is known yet.
pub(crate) fn of_partner(channel: &str, conname: &str, agreed: Option<&Agreed>) -> Application {
    let partner = agreed.and_then(|agreed| agreed.partner.as_ref());
    Application {
        channel: channel.to_owned(),
        conname: conname.to_owned(),
        certificate: partner.map_or_else(String::new, |of| of.subject.to_string()),
        ..Application::default()
    }
}

/// Why an instance is not admitted: what the client is told, and the operator, if he is to hear of it.
struct Refusal {
    status: Status,
    message: Option<(&'static str, Vec<String>)>,
    /// The limit that it is for.
    full: Option<Full>,
}

impl Refusal {
    fn tell(self, operator: &dyn Operator) -> Status {
        if let Some((id, inserts)) = self.message {
            operator.message(id, &inserts);
        }
        self.status
    }
}

/// Has room for one more instance, if need be at the cost of one on which no application has connected.
fn make_room(
    state: &mut State,
    channel: &str,
    definition: &Definition,
    peer: &Peer,
    now: Nanos,
) -> Result<(), Refusal> {
    let refusal = match room(state, channel, definition, peer) {
        Ok(()) => return Ok(()),
        Err(refusal) => refusal,
    };
    let instances = &mut state.instances;
    let victim = refusal
        .full
        .and_then(|full| instances.victim(channel, peer.host(), full, now));
    let Some(victim) = victim else {
        return Err(refusal);
    };
    instances.remove(&victim);
    victim.request_end(EndRequest {
        status: Status::CHANNEL_UNAVAILABLE,
        force: true,
    });
    room(state, channel, definition, peer)
}

/// Whether there is room for one more instance; the number of those that are there does not matter to its cost.
fn room(state: &State, channel: &str, definition: &Definition, peer: &Peer) -> Result<(), Refusal> {
    if let Some(status) = state.ending {
        return Err(Refusal {
            status,
            message: None,
            full: None,
        });
    }
    let refuse = |id, inserts: &[&str], full| {
        let inserts = inserts.iter().map(|&insert| insert.to_owned()).collect();
        Err(Refusal {
            status: Status::CHANNEL_UNAVAILABLE,
            message: Some((id, inserts)),
            full,
        })
    };
    let conname = peer.conname();
    if state.stopped.contains(channel) {
        return refuse("AMQ9534E", &[channel, &conname], None);
    }
    let (in_all, from_there) = state.instances.count(channel, peer.host());
    let limit = definition.max_instances;
    if in_all >= limit {
        let inserts = [&limit.to_string(), channel, &conname];
        return refuse("AMQ9489W", &inserts, Some(Full::InAll));
    }
    let limit = definition.max_per_client;
    if from_there >= limit {
        let inserts = [&limit.to_string(), channel, &conname];
        return refuse("AMQ9490W", &inserts, Some(Full::FromHost));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whom a channel's applications run as, and which exit is called, is said by a name with all its letters.
    #[test]
    fn no_space_but_a_blank_is_nothing_around_a_user_or_an_exit() {
        let read = |user: &str, exit: &str| {
            let mut channel = Attrs::defaults(ObjectKind::SvrConn);
            channel.set_text(MQCACH_MCA_USER_ID, user);
            channel.set_text(MQCACH_SEC_EXIT_NAME, exit);
            Definition::read(&channel, &OfQmgr::default())
        };
        let plain = read(" boss ", " ");
        assert_eq!((plain.user.as_str(), plain.demand), ("boss", None));
        for user in ["boss\u{a0}", "\u{2003}boss", "\u{a0}"] {
            let other = read(user, user);
            assert_eq!(other.user, user);
            assert_eq!(other.demand, Some(Demand::Exit(user.to_owned())));
        }
    }
}
