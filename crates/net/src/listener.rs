//! Listening: bind, accept, admit, hand over; and end gracefully.
//!
//! Invariant: the system gives each connection the options of the socket that it was accepted by, so they are set once.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, UnixListener};

use crate::address::{Address, Peer};
use crate::admission::{Admission, Permit, Refused};
use crate::stream::{Stream, prepare};

/// How long no connection is taken after the process has run out of descriptors or memory for one.
const PAUSE: Duration = Duration::from_millis(100);

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

/// A connection that was accepted and admitted.
pub struct Accepted {
    /// The socket.
    pub stream: Stream,
    /// Who is at the other end.
    pub peer: Peer,
    /// Its place; dropping it frees the place.
    pub permit: Permit,
}

/// Told about connections that are not taken.
pub trait Watcher: Send + Sync {
    /// A connection was refused. It is closed when `stream` is dropped, and counts for nothing meanwhile.
    fn refused(&self, peer: &Peer, why: Refused, stream: Stream);
    /// Accepting failed; the listener goes on.
    fn failed(&self, error: &io::Error);
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

    async fn accept(&self) -> io::Result<(Stream, Peer)> {
        Ok(match &self.kind {
            Kind::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                (Stream::Tcp(stream.into_std()?), Peer::Tcp(address))
            }
            Kind::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                (Stream::Unix(stream.into_std()?), Peer::Local)
            }
        })
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

fn bind_tcp(address: std::net::SocketAddr, options: Options) -> io::Result<Kind> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // A port in TIME_WAIT from the last run is free; one with a listener is not.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    prepare(&socket, options.keepalive)?;
    Ok(Kind::Tcp(socket.listen(options.backlog)?))
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
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    Ok(Kind::Unix {
        listener,
        path: path.to_owned(),
    })
}

/// Accepts until `admission` drains, giving every connection to `handle`, which must not wait.
///
/// Returns when no more are taken; connections go on ([`Admission::empty`] waits for them).
pub async fn run(
    listener: Listener,
    admission: Admission,
    watcher: Arc<dyn Watcher>,
    handle: impl Fn(Accepted),
) {
    let draining = admission.draining();
    tokio::pin!(draining);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut draining => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                watcher.failed(&error);
                if !of_one_connection(&error) {
                    tokio::time::sleep(PAUSE).await;
                }
                continue;
            }
        };
        match admission.admit(&peer) {
            Ok(permit) => handle(Accepted {
                stream,
                peer,
                permit,
            }),
            Err(refused) => watcher.refused(&peer, refused, stream),
        }
    }
}

/// Whether an error of accept is about the connection that was to be accepted, so that the next can be tried at once.
fn of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Limits;
    use crate::lanes::{self, tests::Echo};
    use parking_lot::Mutex;
    use rustix::net::sockopt;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpStream, UnixStream};

    #[derive(Default)]
    struct Seen(Mutex<Vec<Refused>>);

    impl Watcher for Seen {
        fn refused(&self, _peer: &Peer, why: Refused, _stream: Stream) {
            self.0.lock().push(why);
        }
        fn failed(&self, error: &io::Error) {
            panic!("accept failed: {error}");
        }
    }

    /// Gives back what comes.
    fn echo() -> impl Fn(Accepted) {
        let lanes = lanes::tests::lanes(1);
        move |accepted| lanes.serve(accepted.stream, Echo::begin(accepted.permit))
    }

    fn any_port() -> Address {
        Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    #[tokio::test]
    async fn connections_are_served_refused_and_drained() {
        let listener = Listener::bind(&any_port(), Options::default()).unwrap();
        let Address::Tcp(address) = listener.address().unwrap() else {
            panic!("a TCP address")
        };
        let admission = Admission::new(Limits {
            connections: 1,
            per_address: 1,
        });
        let seen = Arc::new(Seen::default());
        let task = tokio::spawn(run(listener, admission.clone(), seen.clone(), echo()));

        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(b"x").await.unwrap();
        let mut byte = [0];
        first.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"x");
        let mut second = TcpStream::connect(address).await.unwrap();
        assert_eq!(
            second.read(&mut byte).await.unwrap_or(0),
            0,
            "closed at once"
        );
        assert_eq!(*seen.0.lock(), [Refused::TooMany { limit: 1 }]);

        admission.drain();
        task.await.unwrap();
        assert!(
            TcpStream::connect(address).await.is_err(),
            "nobody listens any more"
        );
        first.write_all(b"y").await.unwrap();
        first.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"y", "connections go on");
        drop(first);
        admission.empty().await;
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
        let _peer = TcpStream::connect(address).await.unwrap();
        let (Stream::Tcp(tcp), _) = listener.accept().await.unwrap() else {
            panic!("TCP")
        };
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

        let admission = Admission::new(Limits::default());
        let task = tokio::spawn(run(
            listener,
            admission.clone(),
            Arc::new(Seen::default()),
            echo(),
        ));
        let mut stream = UnixStream::connect(&path).await.unwrap();
        stream.write_all(b"x").await.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        admission.drain();
        task.await.unwrap();
        assert!(!path.exists(), "the file goes with the listener");
    }
}
