//! How an application reaches its queue manager.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use posthaste_client::{Address, ClientError, Connect, Connection};
use posthaste_mqi::constants::MQOT_Q;
use posthaste_mqi::{Mqi, Name, Od, Reason};
use posthaste_server::{DataDir, InProcess, SocketPath, find};

use crate::measure::LabError;
use crate::workload::{Target, Workload};

/// The channel by which local applications come.
const LOCAL_CHANNEL: &str = "SYSTEM.DEF.SVRCONN";

/// Why connections in this process are not multiplexed.
pub(super) const NO_SOCKETS: &str =
    "multiplexed connections need sockets; inside one process each application is a thread";

/// What a failed connection is called.
pub fn unreachable(queue_manager: &str, error: ClientError) -> LabError {
    let queue_manager = match queue_manager {
        "" => "(any)",
        name => name,
    };
    match error {
        ClientError::NotAvailable { address, error } => LabError::Unreachable {
            queue_manager: queue_manager.to_owned(),
            why: format!("{address}: {error}"),
            reason: Reason::HOST_NOT_AVAILABLE,
        },
        other => call_failed("MQCONN", queue_manager, other),
    }
}

/// The same, where it is known who was asked: another queue manager than the one that was named may be there.
fn refused(connect: &Connect, error: ClientError) -> LabError {
    let name = connect.queue_manager.as_str();
    match (&error, &connect.address) {
        (ClientError::Reason(reason @ Reason::Q_MGR_NAME_ERROR), Address::Tcp { .. }) => {
            LabError::Call {
                call: "MQCONN",
                object: name.to_owned(),
                reason: *reason,
                why: format!("Another queue manager answers at {}.", connect.address),
            }
        }
        _ => unreachable(name, error),
    }
}

/// A call that failed.
pub(crate) fn call_failed(
    call: &'static str,
    object: &str,
    error: impl Into<ClientError>,
) -> LabError {
    let error = error.into();
    let reason = error.reason();
    let why = match error {
        ClientError::Reason(_) => reason.describe().to_owned(),
        other => other.to_string(),
    };
    LabError::Call {
        call,
        object: object.to_owned(),
        reason,
        why,
    }
}

/// How to connect: found out once for all applications.
#[derive(Clone)]
pub(crate) enum Way {
    /// Over a socket.
    Socket {
        connect: Box<Connect>,
        /// Keeps a socket file's path valid.
        _path: Option<Arc<SocketPath>>,
    },
    /// Inside this process.
    InProcess(Arc<InProcess>, String),
    /// To a bare server, which may be an echo.
    Bare(SocketAddr, bool),
}

impl Way {
    pub(crate) fn find(target: &Target, workload: &Workload) -> Result<Way, LabError> {
        let (mut connect, path) = match target {
            Target::Client(connect) => (connect.clone(), None),
            Target::Local {
                data_dir,
                queue_manager,
            } => local(data_dir.as_deref(), queue_manager.as_deref())?,
            Target::InProcess(inside) => {
                let name = workload.application_name.clone();
                return Ok(Way::InProcess(inside.clone(), name));
            }
            Target::Bare { address, echo } => return Ok(Way::Bare(*address, *echo)),
        };
        connect.application.clone_from(&workload.application_name);
        if connect.user.is_none() {
            connect.user = Some(posthaste_server::user_name());
        }
        Ok(Way::Socket {
            connect: Box::new(connect),
            _path: path,
        })
    }

    /// The queue manager's name, as far as it is known.
    pub(crate) fn queue_manager(&self) -> &str {
        match self {
            Way::Socket { connect, .. } => &connect.queue_manager,
            Way::InProcess(inside, _) => inside.name(),
            Way::Bare(..) => "",
        }
    }

    /// Connects.
    pub(crate) fn connect(&self) -> Result<Box<dyn Mqi>, LabError> {
        match self {
            Way::Socket { .. } | Way::Bare(..) => Ok(Box::new(self.connect_socket()?)),
            Way::InProcess(inside, name) => {
                let connected = inside.connect(name);
                let connected =
                    connected.map_err(|error| unreachable(self.queue_manager(), error.into()))?;
                Ok(Box::new(connected))
            }
        }
    }

    /// Connects over a socket, which an application inside this process has not.
    pub(crate) fn connect_socket(&self) -> Result<Connection, LabError> {
        match self {
            Way::Socket { connect, .. } => {
                Connection::open(connect).map_err(|error| refused(connect, error))
            }
            Way::InProcess(..) => Err(LabError::BadInput(NO_SOCKETS.to_owned())),
            Way::Bare(..) => Err(LabError::BadInput("a bare server has no verbs".to_owned())),
        }
    }
}

/// The local socket of a queue manager of this machine.
fn local(
    data_dir: Option<&Path>,
    queue_manager: Option<&str>,
) -> Result<(Connect, Option<Arc<SocketPath>>), LabError> {
    let unknown = |why: String| LabError::Unreachable {
        queue_manager: queue_manager.unwrap_or("(default)").to_owned(),
        why,
        reason: Reason::Q_MGR_NOT_AVAILABLE,
    };
    let data = DataDir::find(data_dir).map_err(|failure| unknown(failure.line()))?;
    let home = find(&data, queue_manager).map_err(|failure| unknown(failure.line()))?;
    let socket =
        SocketPath::new(&home.applications()).map_err(|error| unknown(error.to_string()))?;
    let address = Address::Unix(socket.path().to_owned());
    let connect = Connect::new(address, LOCAL_CHANNEL, &home.name);
    Ok((connect, Some(Arc::new(socket))))
}

/// Asynchronous puts that failed.
pub(crate) fn rejected(count: u64, reason: Reason, queue: &str) -> LabError {
    LabError::Call {
        call: "MQPUT",
        object: queue.to_owned(),
        reason,
        why: format!("MQSTAT tells of {count} asynchronous puts that were not done."),
    }
}

/// What is opened to get at a queue.
pub(crate) fn object(queue: Name, queue_manager: Name) -> Od {
    Od {
        object_type: MQOT_Q,
        object_name: queue,
        object_q_mgr_name: queue_manager,
        ..Od::default()
    }
}
