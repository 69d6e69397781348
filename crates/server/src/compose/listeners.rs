//! LISTENER objects at work: which are running, where, and since when.
//!
//! Invariants: a listener is in the table from the moment it is bound, or waits for its address, until it was
//! stopped; stopping one closes its socket and leaves the connections it has taken alone, as in MQ; an address that
//! somebody else has keeps no queue manager from starting; once the queue manager ends no listener is started; a host name is
//! looked up once for a start, so that what was checked is what is listened on.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_admin::ComponentError;
use posthaste_channel::{Registry, TurnedAway};
use posthaste_command::Object;
use posthaste_engine::Operator;
use posthaste_env::{Clock, Nanos};
use posthaste_mqi::constants::{
    MQCACH_IP_ADDRESS, MQCACH_LISTENER_DESC, MQIACH_BACKLOG, MQIACH_LISTENER_CONTROL, MQIACH_PORT,
};
use posthaste_net::{
    Accepted, Address, Admission, ConnectionWakers, Lanes, Listener, Listening, Options, Peer,
    Protocol, Refused, Stream, Watcher,
};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::control::status::StatusFile;
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::Settings;

/// How soon after a start an address that was taken is tried again: a predecessor may just be going.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The pause doubles up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Channels that a message names.
const SHOWN: usize = 3;

/// What a listener is to do, from its object or from a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Port; 0 is any free one.
    pub port: u16,
    /// Address; empty is every address.
    pub host: String,
    /// Connections that may wait to be accepted; 0 leaves the choice.
    pub backlog: u32,
    /// `CONTROL`, as its number.
    pub control: i32,
    /// `DESCR`.
    pub description: String,
}

impl Plan {
    /// What a LISTENER object says.
    pub fn of(object: &Object) -> Plan {
        let number = |selector| object.attrs.int(selector);
        Plan {
            name: object.name.clone(),
            port: u16::try_from(number(MQIACH_PORT)).unwrap_or(0),
            host: object.attrs.text(MQCACH_IP_ADDRESS).trim().to_owned(),
            backlog: u32::try_from(number(MQIACH_BACKLOG)).unwrap_or(0),
            control: number(MQIACH_LISTENER_CONTROL),
            description: object.attrs.text(MQCACH_LISTENER_DESC).trim().to_owned(),
        }
    }

    /// Why its address cannot be listened on.
    fn refused(&self, error: io::Error) -> ListenerError {
        ListenerError::Bind {
            host: shown(&self.host).to_owned(),
            port: self.port,
            error,
        }
    }
}

/// A listener that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// What it was told.
    pub plan: Plan,
    /// Where it listens: the real port, if any free one was asked for.
    pub address: SocketAddr,
    /// Microseconds since 1970.
    pub started: i64,
}

/// A listener that is to run and whose address cannot be listened on now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What it was told.
    pub plan: Plan,
    /// Why it does not listen.
    pub why: String,
    /// It must not, because clients could come in unprotected.
    pub refused: bool,
}

impl Waiting {
    /// What the operator of queue manager `name` is told.
    pub fn warning(&self, name: &str) -> Failure {
        let Plan { host, port, .. } = &self.plan;
        let port = port.to_string();
        if self.refused {
            let inserts = [&self.plan.name, name, shown(host), &port, &self.why];
            return Failure::new(Exit::CannotListen, "AMQ2049E", &inserts);
        }
        let inserts = [name, &self.plan.name, &port, shown(host), &self.why];
        Failure::new(Exit::CannotListen, "AMQ2040W", &inserts)
    }
}

/// An address as messages show it.
fn shown(host: &str) -> &str {
    match host {
        "" => "*",
        host => host,
    }
}

/// Why a listener could not be started or stopped.
#[derive(Debug)]
pub(crate) enum ListenerError {
    /// It is running.
    Active,
    /// It is not running.
    Inactive,
    /// The queue manager is ending.
    Ending,
    /// Clients from elsewhere could come in unprotected.
    Exposed {
        /// The address.
        host: String,
        /// The port.
        port: u16,
        /// By which channel, and why.
        why: String,
    },
    /// The address cannot be listened on.
    Bind {
        /// The address.
        host: String,
        /// The port.
        port: u16,
        /// Why.
        error: io::Error,
    },
}

impl ListenerError {
    /// As administration is told.
    pub(crate) fn as_component_error(&self) -> ComponentError {
        match self {
            ListenerError::Active => ComponentError::ListenerActive,
            ListenerError::Inactive => ComponentError::ListenerInactive,
            ListenerError::Ending => ComponentError::Ending,
            ListenerError::Exposed { host, port, why } => ComponentError::Exposed {
                host: host.clone(),
                port: *port,
                why: why.clone(),
            },
            ListenerError::Bind { host, port, error } => ComponentError::CannotListen {
                host: host.clone(),
                port: *port,
                why: error.to_string(),
            },
        }
    }

    /// The failure of a start of `queue_manager` that needed the listener `name`.
    pub(crate) fn failure(&self, queue_manager: &str, name: &str) -> Failure {
        let exit = match self {
            ListenerError::Ending => Exit::NotRunning,
            _ => Exit::CannotListen,
        };
        let (id, inserts, _) = self.as_component_error().message(queue_manager, name);
        let inserts: Vec<&str> = inserts.iter().map(String::as_str).collect();
        Failure::new(exit, id, &inserts)
    }
}

/// How all listeners treat their sockets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketOptions {
    /// Whether the system probes idle connections.
    pub keep_alive: bool,
    /// Backlog where the object does not say.
    pub backlog: u32,
    /// They may be on addresses of the network whatever the channels let in.
    pub insecure: bool,
}

impl SocketOptions {
    pub(crate) fn of(settings: &Settings) -> SocketOptions {
        SocketOptions {
            keep_alive: settings.keep_alive,
            backlog: settings.backlog,
            insecure: settings.insecure_listeners,
        }
    }
}

enum Entry {
    Listening {
        running: Running,
        /// By which channels clients come in unprotected, as far as the operator was told.
        exposed: BTreeSet<String>,
        /// Takes connections.
        listening: Listening,
    },
    Waiting {
        waiting: Waiting,
        /// Tries again.
        task: JoinHandle<()>,
    },
}

/// Who starts a listener.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The start of the queue manager, or a command.
    Request,
    /// The task of a listener that waits.
    Retry,
}

/// The listeners of a queue manager.
pub(crate) struct Listeners {
    registry: Arc<Registry>,
    admission: Admission,
    reporting: Arc<Reporting>,
    treatment: SocketOptions,
    /// What other processes read about this one.
    status: StatusFile,
    clock: Arc<dyn Clock>,
    entries: Mutex<BTreeMap<String, Entry>>,
    /// The queue manager is ending: no listener is started any more. Written under the lock of the entries.
    ending: AtomicBool,
}

impl Listeners {
    /// None is running yet. Connections of all of them share the places of `admission`.
    pub(crate) fn new(
        registry: Arc<Registry>,
        admission: Admission,
        reporting: Arc<Reporting>,
        treatment: SocketOptions,
        status: StatusFile,
        clock: Arc<dyn Clock>,
    ) -> Listeners {
        Listeners {
            registry,
            admission,
            reporting,
            treatment,
            status,
            clock,
            entries: Mutex::default(),
            ending: AtomicBool::new(false),
        }
    }

    /// Starts a listener. Must be called inside a runtime.
    ///
    /// # Errors
    /// It is running already, or cannot listen there, or the queue manager is ending.
    pub(crate) async fn start(&self, plan: Plan) -> Result<Running, ListenerError> {
        self.start_by(plan, By::Request).await
    }

    /// Starts a listener; if its address cannot be listened on, says so and tries again until it can, is stopped,
    /// or the queue manager ends. Must be called inside a runtime.
    ///
    /// # Errors
    /// It is running already, or the queue manager is ending.
    pub(crate) async fn start_or_wait(self: &Arc<Self>, plan: Plan) -> Result<(), ListenerError> {
        let (why, refused) = match self.start(plan.clone()).await {
            Ok(_) => return Ok(()),
            Err(ListenerError::Bind { error, .. }) => (error.to_string(), false),
            Err(ListenerError::Exposed { why, .. }) => (why, true),
            Err(error) => return Err(error),
        };
        let waiting = Waiting { plan, why, refused };
        let warning = waiting.warning(self.registry.queue_manager().name());
        let operator = &self.reporting.operator;
        operator.message(warning.id, &warning.inserts);
        let name = waiting.plan.name.clone();
        let mut entries = self.entries.lock();
        self.check_not_ending()?;
        let task = tokio::spawn(keep_trying(Arc::downgrade(self), waiting.plan.clone()));
        entries.insert(name, Entry::Waiting { waiting, task });
        drop(entries);
        self.publish();
        Ok(())
    }

    async fn start_by(&self, plan: Plan, by: By) -> Result<Running, ListenerError> {
        self.check_not_ending()?;
        let addresses = addresses(&plan)
            .await
            .map_err(|error| plan.refused(error))?;
        self.check_exposure(&plan, &addresses)?;
        let listener = bind(&plan, &addresses, self.treatment)?;
        let mut entries = self.entries.lock();
        self.check_not_ending()?;
        match entries.get(&plan.name) {
            Some(Entry::Listening { .. }) => return Err(ListenerError::Active),
            None if by == By::Retry => return Err(ListenerError::Inactive),
            Some(Entry::Waiting { task, .. }) if by == By::Request => task.abort(),
            _ => {}
        }
        let address = match listener.address() {
            Ok(Address::Tcp(address)) => address,
            Ok(Address::Unix(_)) => SocketAddr::from(([0, 0, 0, 0], plan.port)),
            Err(error) => {
                let Plan { host, port, .. } = plan;
                return Err(ListenerError::Bind { host, port, error });
            }
        };
        let admission = self.admission.clone();
        let listening = self.reporting.listen(listener, admission, &self.registry);
        let running = Running {
            plan,
            address,
            started: self.clock.wall_micros(),
        };
        let entry = Entry::Listening {
            running: running.clone(),
            exposed: BTreeSet::new(),
            listening,
        };
        entries.insert(running.plan.name.clone(), entry);
        drop(entries);
        self.publish();
        let process = std::process::id().to_string();
        let operator = &self.reporting.operator;
        operator.message("AMQ5026I", &[running.plan.name.clone(), process]);
        // What was changed since it was looked at was told to nobody.
        self.newly_exposed();
        Ok(running)
    }

    /// Whether a listener may be on these addresses.
    ///
    /// # Errors
    /// Clients of the network would come in unprotected, and may not.
    fn check_exposure(&self, plan: &Plan, addresses: &[SocketAddr]) -> Result<(), ListenerError> {
        if self.treatment.insecure || !addresses.iter().any(is_of_network) {
            return Ok(());
        }
        match self.exposed().into_iter().next() {
            Some(why) => Err(ListenerError::Exposed {
                host: shown(&plan.host).to_owned(),
                port: plan.port,
                why,
            }),
            None => Ok(()),
        }
    }

    /// By which channels clients of the network come in unprotected, and why.
    fn exposed(&self) -> BTreeSet<String> {
        let exposed = self.registry.exposed().into_iter();
        exposed
            .map(|exposed| format!("channel {}: {}", exposed.channel, exposed.why))
            .collect()
    }

    /// Tells the operator by which listeners on addresses of the network clients come in unprotected since it was looked at
    /// before; the inserts of these messages.
    pub(crate) fn newly_exposed(&self) -> Vec<[String; 5]> {
        let mut entries = self.entries.lock();
        let outside = entries.values_mut().filter_map(|entry| match entry {
            Entry::Listening {
                running, exposed, ..
            } if is_of_network(&running.address) => Some((running, exposed)),
            _ => None,
        });
        let outside: Vec<_> = outside.collect();
        if outside.is_empty() {
            return Vec::new();
        }
        let now = self.exposed();
        let mut newly = Vec::new();
        for (running, before) in outside {
            if let Some(why) = listed(now.difference(before)) {
                let [host, port] = [
                    running.address.ip().to_string(),
                    running.address.port().to_string(),
                ];
                let name = self.registry.queue_manager().name().to_owned();
                newly.push([running.plan.name.clone(), name, host, port, why]);
            }
            before.clone_from(&now);
        }
        drop(entries);
        for inserts in &newly {
            self.reporting.operator.message("AMQ2050W", inserts);
        }
        newly
    }

    /// Stops a listener; when this returns nobody listens there any more.
    ///
    /// # Errors
    /// It is not running.
    pub(crate) async fn stop(&self, name: &str) -> Result<(), ListenerError> {
        let closed = self.close(name).await?;
        self.publish();
        if let Some(closed) = closed {
            closed.await;
        }
        Ok(())
    }

    /// Ends one, and tells so: nobody comes in there any more, whatever lanes do. Returns what waits until its socket is closed,
    /// which it is later where a lane hangs.
    async fn close(&self, name: &str) -> Result<Option<impl Future<Output = ()>>, ListenerError> {
        let entry = self.entries.lock().remove(name);
        let closed = match entry.ok_or(ListenerError::Inactive)? {
            Entry::Listening { listening, .. } => Some(listening.close()),
            Entry::Waiting { task, .. } => {
                task.abort();
                // It may just be binding its socket.
                let _ = task.await;
                None
            }
        };
        let process = std::process::id().to_string();
        let operator = &self.reporting.operator;
        operator.message("AMQ5027I", &[name.to_owned(), process]);
        Ok(closed)
    }

    /// Tells other processes nothing more: what they read is a successor's soon.
    pub(crate) fn gone(&self) {
        self.status.remove();
    }

    fn publish(&self) {
        self.status.publish(&self.running());
    }

    fn check_not_ending(&self) -> Result<(), ListenerError> {
        match self.ending.load(Ordering::Acquire) {
            true => Err(ListenerError::Ending),
            false => Ok(()),
        }
    }

    /// Stops all of them for good: none is started any more.
    pub(crate) async fn end(&self) {
        let names: Vec<String> = {
            let entries = self.entries.lock();
            self.ending.store(true, Ordering::Release);
            entries.keys().cloned().collect()
        };
        for name in names {
            // Somebody may have stopped it in between.
            let _ = self.close(&name).await;
        }
    }

    /// Whether a listener is running.
    pub(crate) fn is_running(&self, name: &str) -> bool {
        matches!(self.entries.lock().get(name), Some(Entry::Listening { .. }))
    }

    /// Those that are running, by name.
    pub(crate) fn running(&self) -> Vec<Running> {
        let entries = self.entries.lock();
        let running = entries.values().filter_map(|entry| match entry {
            Entry::Listening { running, .. } => Some(running.clone()),
            Entry::Waiting { .. } => None,
        });
        running.collect()
    }

    /// Those that wait for their address, by name.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        let entries = self.entries.lock();
        let waiting = entries.values().filter_map(|entry| match entry {
            Entry::Listening { .. } => None,
            Entry::Waiting { waiting, .. } => Some(waiting.clone()),
        });
        waiting.collect()
    }
}

/// Tries to listen until that succeeds or nobody wants it any more. The system does not tell when an address is
/// given back, so it is asked from time to time.
async fn keep_trying(listeners: Weak<Listeners>, plan: Plan) {
    let mut pause = FIRST_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
        let Some(listeners) = listeners.upgrade() else {
            return;
        };
        match listeners.start_by(plan.clone(), By::Retry).await {
            Err(ListenerError::Bind { .. } | ListenerError::Exposed { .. }) => {}
            _ => return,
        }
    }
}

/// Whether an address could be listened on now.
///
/// # Errors
/// Why not.
pub fn try_listen(host: &str, port: u16) -> io::Result<()> {
    let host = match host {
        "" | "*" => "::",
        host => host,
    };
    match TcpListener::bind((host, port)) {
        // A system without the newer family.
        Err(error) if host == "::" && error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).map(drop)
        }
        bound => bound.map(drop),
    }
}

/// Those of a message: the first few, and how many more; `None` for none.
fn listed<'a>(exposed: impl Iterator<Item = &'a String>) -> Option<String> {
    let all: Vec<&str> = exposed.map(String::as_str).collect();
    let shown = all.get(..SHOWN).unwrap_or(&all);
    let more = all.len() - shown.len();
    match (shown.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(shown.join("; ")),
        (false, _) => Some(format!("{}; and {more} more", shown.join("; "))),
    }
}

/// Whether it can be reached from elsewhere.
fn is_of_network(address: &SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

/// Where a plan may listen, in order of preference.
async fn addresses(plan: &Plan) -> io::Result<Vec<SocketAddr>> {
    let port = plan.port;
    if plan.host.is_empty() || plan.host == "*" {
        // One socket for both families where the system has both.
        let both = [
            IpAddr::from(Ipv6Addr::UNSPECIFIED),
            Ipv4Addr::UNSPECIFIED.into(),
        ];
        return Ok(both.map(|address| SocketAddr::new(address, port)).to_vec());
    }
    if let Ok(address) = plan.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let found = tokio::net::lookup_host((plan.host.as_str(), port)).await?;
    Ok(found.collect())
}

fn bind(
    plan: &Plan,
    addresses: &[SocketAddr],
    treatment: SocketOptions,
) -> Result<Listener, ListenerError> {
    let mut options = Options {
        keepalive: treatment.keep_alive.then(|| Duration::from_secs(300)),
        ..Options::default()
    };
    if let Some(backlog) = [plan.backlog, treatment.backlog]
        .into_iter()
        .find(|backlog| *backlog > 0)
    {
        options.backlog = backlog;
    }
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    for address in addresses {
        match Listener::bind(&Address::Tcp(*address), options) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error.source,
        }
        // Another family is tried only where the system does not have this one: a port that is in
        // use must not be taken on half of the addresses.
        if last.kind() == io::ErrorKind::AddrInUse {
            break;
        }
    }
    Err(plan.refused(last))
}

/// Tells the operator about connections that were not taken, and who made them.
pub(crate) struct Reporting {
    operator: Arc<dyn Operator>,
    /// Serve connections.
    pub(crate) lanes: Lanes,
    turning_away: Arc<Semaphore>,
}

impl Reporting {
    /// `turned_away`: connections that are told at one time that there is no place for them; others are only closed.
    pub(crate) fn new(
        operator: &Arc<dyn Operator>,
        lanes: &Lanes,
        turned_away: usize,
    ) -> Arc<Reporting> {
        Arc::new(Reporting {
            operator: Arc::clone(operator),
            lanes: lanes.clone(),
            turning_away: Arc::new(Semaphore::new(turned_away)),
        })
    }

    /// Takes connections for channels.
    pub(crate) fn listen(
        self: &Arc<Self>,
        listener: Listener,
        places: Admission,
        channels: &Arc<Registry>,
    ) -> Listening {
        let (registry, lanes) = (Arc::clone(channels), self.lanes.clone());
        let serve = move |accepted: Accepted| registry.serve(accepted, &lanes);
        self.lanes.listen(listener, places, self.clone(), serve)
    }
}

impl Watcher for Reporting {
    fn refused(&self, peer: &Peer, why: Refused, stream: Stream) {
        let (Refused::TooMany { limit } | Refused::TooManyFromAddress { limit }) = why else {
            return;
        };
        self.operator
            .message("AMQ9513W", &[peer.to_string(), limit.to_string()]);
        if let Ok(place) = Arc::clone(&self.turning_away).try_acquire_owned() {
            let begin = |_: ConnectionWakers, now: Nanos| -> Box<dyn Protocol> {
                Box::new(TurnedAway::new(now, Some(Box::new(place))))
            };
            self.lanes.serve(stream, Box::new(begin));
        }
    }

    fn failed(&self, error: &io::Error) {
        let inserts = ["accept".to_owned(), error.to_string()];
        self.operator.message("AMQ9213E", &inserts);
    }
}
