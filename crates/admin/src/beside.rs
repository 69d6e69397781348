//! What runs beside the engine, channels and listeners, as administration sees it.
//!
//! Invariant: who owns these parts tells of them as typed values and knows no commands; what is said to an operator
//! is made of them here.

use std::future::Future;
use std::pin::Pin;

use posthaste_command::{Object, StopChannel};
use posthaste_mqi::Reason;

/// An answer that may take its time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<(), ComponentError>> + Send + 'a>>;

/// What runs beside the engine.
pub trait Components: Send + Sync {
    /// How the command server is (`CMDSERV`).
    fn command_server(&self) -> ComponentState;
    /// How that is which admits clients over the network (`CHINIT`).
    fn channel_initiator(&self) -> ComponentState;
    /// What has been counted on all connections.
    fn counts(&self) -> ComponentCounts;
    /// What each lane, a thread that serves connections, has counted.
    fn lanes(&self) -> Vec<LaneStatus>;
    /// Every instance of a channel that clients use.
    fn channels(&self) -> Vec<ChannelStatus>;
    /// Channels that were stopped, by name.
    fn stopped_channels(&self) -> Vec<String>;
    /// Lets a stopped channel admit clients again.
    ///
    /// # Errors
    /// There is no such channel.
    fn start_channel(&self, name: &str) -> Result<(), ComponentError>;
    /// Ends the instances of a channel, or some of them, and says whether it admits more.
    ///
    /// # Errors
    /// There is no such channel, or nothing to stop.
    fn stop_channel(&self, name: &str, how: &StopChannel) -> Result<(), ComponentError>;
    /// Whether an application is connected by a channel.
    fn is_channel_in_use(&self, name: &str) -> bool;
    /// A channel was deleted: whoever came by it meanwhile is disconnected, and one that is made under its name is not stopped.
    fn channel_deleted(&self, name: &str);
    /// Reads the key repository again.
    ///
    /// # Errors
    /// Why it cannot be used.
    fn refresh_tls(&self) -> Result<(), String>;
    /// Reads again what CONNAUTH names.
    ///
    /// # Errors
    /// Why it cannot be used.
    fn refresh_connauth(&self) -> Result<(), String>;
    /// The user that the queue manager runs as, who owns it.
    fn owner(&self) -> String;
    /// The name of the machine.
    fn host_name(&self) -> String;
    /// Whether a user administers this queue manager. It may wait for whoever knows the users of this machine.
    fn is_administrator(&self, user: &str) -> bool;
    /// Every listener that runs or waits for its address.
    fn listeners(&self) -> Vec<ListenerStatus>;
    /// Starts a listener.
    fn start_listener<'a>(&'a self, listener: &'a Object) -> Answer<'a>;
    /// Stops a listener.
    fn stop_listener<'a>(&'a self, name: &'a str) -> Answer<'a>;
    /// After a change of who may come in: the listeners on addresses of the network by which clients come in unprotected, and
    /// did not when they were looked at before. The operator was told of each; the inserts of AMQ2050W.
    fn newly_exposed(&self) -> Vec<[String; 5]>;

    /// Every service whose program runs.
    fn services(&self) -> Vec<ServiceStatus>;

    /// Starts the program of a service.
    ///
    /// # Errors
    /// It runs, there is none, or it could not be started.
    fn start_service(&self, service: &Object) -> Result<(), ComponentError>;

    /// Tells the program of a service to end.
    ///
    /// # Errors
    /// It does not run, or its STOPCMD could not be started.
    fn stop_service(&self, service: &Object) -> Result<(), ComponentError>;
}

/// How a part of the queue manager is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComponentState {
    /// It does not run.
    #[default]
    Stopped,
    /// It will run.
    Starting,
    /// It runs.
    Running,
    /// It is ending.
    Stopping,
}

/// STATUS of an instance of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelState {
    /// Negotiating.
    Binding,
    /// Running.
    Running,
    /// Asked to end.
    Stopping,
}

/// What TLS of an instance of a channel was agreed on, and with whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelTls {
    /// TLS 1.3, not 1.2.
    pub newest: bool,
    /// The CipherSpec.
    pub cipher_spec: String,
    /// Whom the client's certificate is for; empty if it has shown none.
    pub peer: String,
    /// Who has issued it.
    pub issuer: String,
}

/// An instance of a channel: a socket of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelStatus {
    /// A number no other instance has had.
    pub id: u64,
    /// The channel's name.
    pub channel: String,
    /// Where the client is.
    pub conname: String,
    /// How it is.
    pub state: ChannelState,
    /// Since when, microseconds since 1970.
    pub started: i64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Buffers received.
    pub buffers_received: u64,
    /// Buffers sent.
    pub buffers_sent: u64,
    /// Calls of the MQ Interface that were handled.
    pub calls: u64,
    /// When the last one was, microseconds since 1970.
    pub last_call: Option<i64>,
    /// Conversations on the socket.
    pub conversations: u32,
    /// As many as agreed; 0 where nothing is shared.
    pub max_conversations: u32,
    /// Heartbeat interval in seconds, as agreed.
    pub heartbeat_s: u32,
    /// Longest message, as agreed.
    pub max_message: u32,
    /// The client's product and version, as it states them: four letters, then VVRRMMFF.
    pub product: String,
    /// Its TLS; none on a plain connection.
    pub tls: Option<ChannelTls>,
    /// Application of the first conversation.
    pub application: String,
    /// Whom the first conversation runs as.
    pub user: String,
}

/// A listener that runs, or waits for its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListenerStatus {
    /// Its name.
    pub name: String,
    /// Since when it runs, microseconds since 1970; none while it waits for its address.
    pub started: Option<i64>,
    /// Where it listens, or is to listen.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Connections that may wait to be accepted; 0 leaves the choice.
    pub backlog: u32,
    /// `MQSVC_CONTROL_` number: what starts and stops it.
    pub control: i32,
    /// Its description.
    pub description: String,
}

/// A service whose program runs.
#[derive(Clone, PartialEq, Debug)]
pub struct ServiceStatus {
    /// The definition that it was started by.
    pub service: Object,
    /// How it is.
    pub state: ComponentState,
    /// The program's process.
    pub pid: u32,
    /// Since when it runs, microseconds since 1970.
    pub started: i64,
}

/// What is counted beside the engine, on all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComponentCounts {
    /// Times a connection was woken and ran.
    pub wakes: u64,
    /// Requests that were carried out.
    pub requests: u64,
    /// Writes that took something; each is a system call.
    pub writes: u64,
    /// Reads that brought something.
    pub reads: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
}

/// A lane: a thread that serves connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStatus {
    /// Its number.
    pub number: usize,
    /// Connections that it has.
    pub connections: u64,
    /// Turns of its loop.
    pub turns: u64,
    /// Parts of its connections that were woken.
    pub wakes: u64,
    /// Times a connection was run.
    pub runs: u64,
    /// Bytes read from sockets.
    pub bytes_read: u64,
    /// Bytes written to sockets.
    pub bytes_written: u64,
}

/// Why something beside the engine was not started or stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentError {
    /// There is no such channel.
    UnknownChannel,
    /// Applications are connected by the channel.
    ChannelInUse,
    /// No such instance of the channel runs.
    ChannelNotActive,
    /// The listener is running.
    ListenerActive,
    /// The listener is not running.
    ListenerInactive,
    /// The program of the service is running.
    ServiceActive,
    /// The program of the service is not running.
    ServiceInactive,
    /// The service has no program to start.
    NoStartCommand,
    /// The configuration forbids services to run programs.
    MayNotRun,
    /// A program could not be started.
    CannotStart {
        /// The program.
        program: String,
        /// Why.
        why: String,
    },
    /// The queue manager is ending.
    Ending,
    /// Clients of the network would come in by the listener unprotected.
    Exposed {
        /// The address.
        host: String,
        /// The port.
        port: u16,
        /// By which channel, and why.
        why: String,
    },
    /// The listener's address cannot be listened on.
    CannotListen {
        /// The address.
        host: String,
        /// The port.
        port: u16,
        /// Why.
        why: String,
    },
}

impl ComponentError {
    /// What an operator of `queue_manager` is told who asked for `name`: number, inserts, reason.
    pub fn message(&self, queue_manager: &str, name: &str) -> (&'static str, Vec<String>, Reason) {
        let named = vec![name.to_owned()];
        match self {
            ComponentError::UnknownChannel => ("AMQ8227E", named, Reason::CCF_CHANNEL_NOT_FOUND),
            ComponentError::ChannelInUse => ("AMQ9514E", named, Reason::CCF_CHANNEL_IN_USE),
            ComponentError::ChannelNotActive => ("AMQ9533W", named, Reason::CCF_CHANNEL_NOT_ACTIVE),
            ComponentError::ListenerActive => ("AMQ8730E", named, Reason::CCF_LISTENER_RUNNING),
            ComponentError::ListenerInactive => ("AMQ8731E", named, Reason::CCF_LISTENER_STOPPED),
            ComponentError::ServiceActive => ("AMQ8737E", named, Reason::CCF_SERVICE_RUNNING),
            ComponentError::ServiceInactive => ("AMQ8738E", named, Reason::CCF_SERVICE_STOPPED),
            ComponentError::MayNotRun => ("AMQ2407E", named, Reason::CCF_NOT_AUTHORIZED),
            ComponentError::NoStartCommand => ("AMQ8740E", named, Reason::CCF_NO_START_CMD),
            ComponentError::CannotStart { program, why } => {
                let inserts = vec![name.to_owned(), program.clone(), why.clone()];
                ("AMQ8734E", inserts, Reason::CCF_UNEXPECTED_ERROR)
            }
            ComponentError::Ending => {
                let named = vec![queue_manager.to_owned()];
                ("AMQ8146E", named, Reason::Q_MGR_STOPPING)
            }
            ComponentError::Exposed { host, port, why } => {
                let [host, why, port] = [host.clone(), why.clone(), port.to_string()];
                let inserts = vec![name.to_owned(), queue_manager.to_owned(), host, port, why];
                ("AMQ2049E", inserts, Reason::CCF_LISTENER_NOT_STARTED)
            }
            ComponentError::CannotListen { host, port, why } => {
                let inserts = vec![host.clone(), port.to_string(), why.clone()];
                ("AMQ9218E", inserts, Reason::CCF_LISTENER_NOT_STARTED)
            }
        }
    }
}
