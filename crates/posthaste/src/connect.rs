//! How a command reaches a queue manager: by its name, through the folder of queue managers; or over
//! the network, as `--connect` or `MQSERVER` says.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use posthaste_client::{Address, ClientError, Connect, Connection, Password, Server, Tls};
use posthaste_server::{DataDir, Exit, Failure, SocketPath, find};

use crate::cli::{ANSWER, ConnectArgs};
use crate::password;

/// How long connecting may take, unless the command says less.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The channel by which local applications come.
const LOCAL_CHANNEL: &str = "SYSTEM.DEF.SVRCONN";

/// A connection that leaves in order however the command ends: what is not committed then is backed out, and the
/// queue manager is told, so that its error log has no lost client to report.
pub(crate) struct Attached(Connection);

impl Attached {
    /// MQDISC, which commits; that it backed out instead is an error here.
    pub(crate) fn disconnect(mut self) -> Result<(), ClientError> {
        Ok(self.0.leave()?.or_warning()?)
    }
}

impl Deref for Attached {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl DerefMut for Attached {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // After MQDISC, and when the connection has broken, there is nothing to do, and this says so.
        if self.0.backout().is_ok() {
            let _ = self.0.leave();
        }
    }
}

/// What to connect to.
pub(crate) struct Target<'a> {
    /// Folder of queue managers, if named.
    pub(crate) place: Option<&'a Path>,
    /// Queue manager, if named.
    pub(crate) queue_manager: Option<&'a str>,
    /// Options of the command.
    pub(crate) reach: &'a ConnectArgs,
    /// `MQSERVER` comes before a queue manager of this machine.
    pub(crate) client: bool,
    /// What the application calls itself.
    pub(crate) application: &'a str,
    /// How long a call that does not wait by itself may take.
    pub(crate) within: Duration,
}

/// A call that failed, as a failure of the command.
pub(crate) fn call_failed(call: &str, what: &str, error: &ClientError) -> Failure {
    if let ClientError::Silent(within) = error {
        let seconds = within.as_secs().to_string();
        return Failure::new(Exit::TimedOut, "AMQ2214E", &[call, what, &seconds]);
    }
    let reason = error.reason();
    let detail = match error {
        ClientError::Reason(_) => reason.describe().to_owned(),
        other => format!("{} {other}.", reason.describe()),
    };
    Failure::new(
        Exit::CallFailed,
        "AMQ2208E",
        &[call, what, &reason.to_string(), &detail],
    )
}

/// The queue manager is there and does not answer.
pub(crate) fn no_answer(name: &str, within: Duration) -> Failure {
    let seconds = within.as_secs().to_string();
    Failure::new(Exit::TimedOut, "AMQ2029E", &[name, &seconds])
}

fn silent(name: &str, within: Duration) -> NoConnection {
    NoConnection::Nobody(no_answer(name, within))
}

/// Why there is no connection.
pub(crate) enum NoConnection {
    /// Nobody could be asked.
    Nobody(Failure),
    /// Nobody was asked, because the user who was named gave no password.
    NoPassword(Failure),
    /// The queue manager said no, or broke off.
    Refused(String, ClientError),
}

impl NoConnection {
    /// As a failure of the command.
    pub(crate) fn failure(self) -> Failure {
        match self {
            NoConnection::Nobody(failure) | NoConnection::NoPassword(failure) => failure,
            NoConnection::Refused(name, error) => call_failed("MQCONN", &name, &error),
        }
    }

    /// The reason code that a sample program shows.
    pub(crate) fn reason(&self) -> i32 {
        match self {
            NoConnection::Nobody(failure) => match failure.exit {
                Exit::NotFound => posthaste_mqi::Reason::Q_MGR_NAME_ERROR.0,
                _ => posthaste_mqi::Reason::Q_MGR_NOT_AVAILABLE.0,
            },
            NoConnection::NoPassword(_) => posthaste_mqi::Reason::NOT_AUTHORIZED.0,
            NoConnection::Refused(_, error) => error.reason().0,
        }
    }
}

impl Target<'_> {
    /// Connects.
    pub(crate) fn connect(&self) -> Result<Attached, Failure> {
        self.try_connect().map_err(NoConnection::failure)
    }

    /// Connects, or says in detail why not.
    pub(crate) fn try_connect(&self) -> Result<Attached, NoConnection> {
        let mut connection = self.reach()?;
        connection.give_up_after(self.within).map_err(|error| {
            NoConnection::Refused(connection.queue_manager().trim().to_owned(), error)
        })?;
        Ok(Attached(connection))
    }

    /// The password of the user that was named. Without one he could be let in as somebody else: who gives none is whoever
    /// his process runs as, or whom LoopbackUser names.
    fn password(&self) -> Result<Option<Password>, NoConnection> {
        let Some(user) = &self.reach.user else {
            return Ok(None);
        };
        let file = self.reach.password_file.as_deref();
        let password =
            password::ask("Enter password: ", user, file).map_err(NoConnection::Nobody)?;
        if password.is_empty() {
            let what = format!("the password of {user} is empty, and nobody has such a password");
            return Err(NoConnection::NoPassword(Failure::bad_parameter(what)));
        }
        Ok(Some(password))
    }

    fn reach(&self) -> Result<Connection, NoConnection> {
        let password = self.password()?;
        let password = password.as_ref();
        let server = std::env::var("MQSERVER")
            .ok()
            .filter(|text| !text.is_empty());
        if let Some(text) = &self.reach.connect {
            return self.over_network(text, password);
        }
        if self.client && server.is_none() {
            let what = "a client connection was asked for, and nothing says where to: set MQSERVER to \
                        CHANNEL/TCP/host(port), or give it with --connect";
            return Err(NoConnection::Nobody(Failure::bad_parameter(what)));
        }
        match server {
            Some(text) if self.client => self.over_network(&text, password),
            Some(text) => match self.local(password) {
                Err(NoConnection::Nobody(_)) => self.over_network(&text, password),
                other => other,
            },
            None => self.local(password),
        }
    }

    fn offer(
        &self,
        address: Address,
        channel: &str,
        name: &str,
        password: Option<&Password>,
    ) -> Connect {
        let mut connect = Connect::new(address, channel, name);
        connect.application = self.application.to_owned();
        connect.timeout = TIMEOUT.min(self.within);
        if self.within < ANSWER {
            connect.checked = self.within;
        }
        connect.password = password.cloned();
        connect.user = Some(
            self.reach
                .user
                .clone()
                .unwrap_or_else(posthaste_server::user_name),
        );
        connect
    }

    fn local(&self, password: Option<&Password>) -> Result<Connection, NoConnection> {
        if self.reach.cipher.is_some() {
            let what = "--cipher is for connections over the network; say where to with --connect or MQSERVER";
            return Err(NoConnection::Nobody(Failure::bad_parameter(what)));
        }
        let data = DataDir::find(self.place).map_err(NoConnection::Nobody)?;
        let home = find(&data, self.queue_manager).map_err(NoConnection::Nobody)?;
        let not_running = || NoConnection::Nobody(Failure::not_running(&home.name));
        let socket = SocketPath::new(&home.applications()).map_err(|_| not_running())?;
        let address = Address::Unix(socket.path().to_owned());
        let offer = self.offer(address, LOCAL_CHANNEL, &home.name, password);
        match Connection::open(&offer) {
            Err(ClientError::NotAvailable { error, .. })
                if error.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                let failure = Failure::io(&home.applications(), &error);
                Err(NoConnection::Nobody(failure))
            }
            Err(ClientError::NotAvailable { .. }) => Err(not_running()),
            Err(ClientError::Silent(within)) => Err(silent(&home.name, within)),
            Err(error) => Err(NoConnection::Refused(home.name, error)),
            Ok(connection) => Ok(connection),
        }
    }

    /// TLS, if it is asked for.
    fn tls(&self) -> Result<Option<Box<Tls>>, ClientError> {
        let Some(cipher) = &self.reach.cipher else {
            return Ok(None);
        };
        let mut tls = Tls::from_environment(cipher)?;
        tls.peer = self.reach.peer.clone();
        Ok(Some(Box::new(tls)))
    }

    fn over_network(
        &self,
        text: &str,
        password: Option<&Password>,
    ) -> Result<Connection, NoConnection> {
        let name = self.queue_manager.unwrap_or("");
        let bad = |error: ClientError| {
            NoConnection::Nobody(Failure::bad_parameter(
                error.to_string().trim_end_matches('.'),
            ))
        };
        let server = Server::parse(text).map_err(bad)?;
        let tls = self
            .tls()
            .map_err(|error| NoConnection::Refused(text.to_owned(), error))?;
        let mut last = None;
        for address in &server.addresses {
            let mut offer = self.offer(address.clone(), &server.channel, name, password);
            offer.tls.clone_from(&tls);
            match Connection::open(&offer) {
                Ok(connection) => return Ok(connection),
                Err(error) => last = Some(error),
            }
        }
        Err(match last {
            Some(ClientError::NotAvailable { address, error }) => {
                let why = format!("{address}: {error}");
                let shown = match name {
                    "" => "(any)",
                    name => name,
                };
                NoConnection::Nobody(Failure::new(Exit::NotRunning, "AMQ2209E", &[shown, &why]))
            }
            Some(ClientError::Silent(within)) => silent(text, within),
            Some(error) => NoConnection::Refused(text.to_owned(), error),
            None => {
                NoConnection::Nobody(Failure::bad_parameter(format!("{text} names no address")))
            }
        })
    }
}
