//! Listening sockets: bound, accepted from, and closed.
//!
//! Invariants: the system gives each connection the options of the socket that it was accepted by, so they are set once;
//! accepting never waits.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::{Shutdown, SocketFlags, acceptfrom_with, shutdown};
use tokio::net::TcpSocket;

use crate::address::{Address, Peer};
use crate::stream::{Stream, prepare};

/// How a listener treats its sockets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Connections the kernel keeps before they are accepted.
    pub backlog: u32,
    /// Idle time after which the kernel probes a TCP peer; `None` for never.
    pub keepalive: Option<Duration>,
    /// Permissions of a Unix-domain socket.
    pub mode: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            backlog: 1_024,
            keepalive: Some(Duration::from_secs(300)),
            mode: 0o660,
        }
    }
}

/// Why listening could not begin.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ListenError {
    /// Where.
    pub address: String,
    /// Why.
    #[source]
    pub source: io::Error,
}

enum Kind {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        path: PathBuf,
    },
}

/// A listening socket. A Unix-domain one removes its file when it is dropped.
pub struct Listener {
    kind: Kind,
}

impl Listener {
    /// Binds and listens. Must be called inside a runtime.
    pub fn bind(address: &Address, options: Options) -> Result<Listener, ListenError> {
        let kind = match address {
            Address::Tcp(to) => bind_tcp(*to, options),
            Address::Unix(path) => bind_unix(path, options.mode),
        };
        let kind = kind.map_err(|source| ListenError {
            address: address.to_string(),
            source,
        })?;
        Ok(Listener { kind })
    }

    /// Where it listens: with the real port if any free one was asked for.
    pub fn address(&self) -> io::Result<Address> {
        Ok(match &self.kind {
            Kind::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            Kind::Unix { path, .. } => Address::Unix(path.clone()),
        })
    }

    /// Takes a connection that is there.
    pub(crate) fn accept(&self) -> io::Result<(Stream, Peer)> {
        let (socket, from) = acceptfrom_with(self, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
        Ok(match &self.kind {
            Kind::Tcp(_) => {
                let from = from.ok_or(io::ErrorKind::ConnectionAborted)?;
                let peer = Peer::Tcp(SocketAddr::try_from(from)?);
                (Stream::Tcp(socket.into()), peer)
            }
            Kind::Unix { .. } => (Stream::Unix(socket.into()), Peer::Local),
        })
    }

    /// Ends listening, whoever has the socket still.
    ///
    /// # Errors
    /// As the system says.
    pub(crate) fn shut(&self) -> io::Result<()> {
        Ok(shutdown(self, Shutdown::Both)?)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tcp(listener) => listener.as_fd(),
            Kind::Unix { listener, .. } => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Kind::Unix { path, .. } = &self.kind {
            // Nobody is left to tell; a stale file is recognised when the path is bound again.
            drop(std::fs::remove_file(path));
        }
    }
}

fn bind_tcp(address: SocketAddr, options: Options) -> io::Result<Kind> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // A port in TIME_WAIT from the last run is free; one with a listener is not.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    prepare(&socket, options.keepalive)?;
    Ok(Kind::Tcp(socket.listen(options.backlog)?.into_std()?))
}

fn bind_unix(path: &Path, mode: u32) -> io::Result<Kind> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            // A file without a listener is left over from a process that was killed.
            match std::os::unix::net::UnixStream::connect(path) {
                Err(refused) if refused.kind() == io::ErrorKind::ConnectionRefused => {
                    std::fs::remove_file(path)?;
                    UnixListener::bind(path)?
                }
                _ => return Err(error),
            }
        }
        other => other?,
    };
    listener.set_nonblocking(true)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    Ok(Kind::Unix {
        listener,
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::sockopt;
    use std::io::Read;
    use std::net::TcpStream;

    fn any_port() -> Address {
        Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    #[tokio::test]
    async fn a_dead_peer_is_found_soon_after_the_first_probe() {
        let idle = Duration::from_secs(240);
        let options = Options {
            keepalive: Some(idle),
            ..Options::default()
        };
        let listener = Listener::bind(&any_port(), options).unwrap();
        let Address::Tcp(address) = listener.address().unwrap() else {
            panic!("a TCP address")
        };
        let peer = TcpStream::connect(address).unwrap();
        let (Stream::Tcp(tcp), from) = listener.accept().unwrap() else {
            panic!("TCP")
        };
        assert_eq!(from, Peer::Tcp(peer.local_addr().unwrap()));
        assert!(sockopt::tcp_nodelay(&tcp).unwrap() && sockopt::socket_keepalive(&tcp).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&tcp).unwrap(), idle);
        let probes = sockopt::tcp_keepcnt(&tcp).unwrap();
        let found = sockopt::tcp_keepintvl(&tcp).unwrap() * probes;
        assert!(found <= Duration::from_secs(60), "{found:?} after {idle:?}");
    }

    #[tokio::test]
    async fn a_port_in_use_is_an_error_that_names_it() {
        let listener = Listener::bind(&any_port(), Options::default()).unwrap();
        let address = listener.address().unwrap();
        let error = Listener::bind(&address, Options::default())
            .err()
            .expect("in use");
        assert_eq!(error.source.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains("127.0.0.1("));
    }

    #[tokio::test]
    async fn a_unix_socket_replaces_a_stale_file_but_not_a_living_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qm.sock");
        // A socket file whose listener is gone, as after a kill.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let address = Address::Unix(path.clone());
        let options = Options {
            mode: 0o600,
            ..Options::default()
        };
        let listener = Listener::bind(&address, options).unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(Listener::bind(&address, options).is_err());

        assert!(listener.accept().is_ok(), "whoever has looked");
        let waits = |result: io::Result<_>| {
            result.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        };
        assert!(waits(listener.accept().map(drop)), "nobody is there");
        let _peer = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let (Stream::Unix(accepted), Peer::Local) = listener.accept().unwrap() else {
            panic!("of this machine")
        };
        assert!(
            waits((&accepted).read(&mut [0]).map(drop)),
            "and no lane waits for him"
        );
        drop(listener);
        assert!(!path.exists(), "the file goes with the listener");
    }
}
