//! A connected socket of either kind.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::net::sockopt;

use crate::unix_peer::UnixPeer;

/// How long an answer to a probe is waited for, and how many may stay without one: a dead peer is found a minute after
/// the first. The system's own would be 75 seconds, nine times.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);
const PROBES: u32 = 4;

/// The number that no user has.
const NOBODY: u32 = u32::MAX;

/// A TCP or Unix-domain connection that never blocks.
#[derive(Debug)]
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// Unix-domain.
    Unix(UnixStream),
}

/// Has a TCP socket, and those that are accepted by it, send small writes at once, and has the kernel find dead peers
/// after `keepalive` without traffic.
pub(crate) fn prepare(socket: &impl AsFd, keepalive: Option<Duration>) -> io::Result<()> {
    sockopt::set_tcp_nodelay(socket, true)?;
    if let Some(idle) = keepalive {
        sockopt::set_socket_keepalive(socket, true)?;
        sockopt::set_tcp_keepidle(socket, idle.max(Duration::from_secs(1)))?;
        sockopt::set_tcp_keepintvl(socket, PROBE_INTERVAL)?;
        sockopt::set_tcp_keepcnt(socket, PROBES)?;
    }
    Ok(())
}

impl Stream {
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(buffer),
            Stream::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
            Stream::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    /// Tells the peer that no more comes.
    pub(crate) fn shut_down(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    /// The number of the user whose process has connected, by the kernel's word; none for who comes over the network.
    pub fn peer_user(&self) -> Option<u32> {
        match self {
            Stream::Tcp(_) => None,
            Stream::Unix(stream) => {
                // Whom the kernel does not know is nobody, and not whom he says.
                Some(UnixPeer::of(stream).map_or(NOBODY, |peer| peer.user))
            }
        }
    }

    /// A connection over loopback: the address of the other end, that of this one, and this socket's inode. None of any
    /// other connection, and where the system does not say.
    pub fn loopback(&self) -> Option<(SocketAddr, SocketAddr, u64)> {
        let Stream::Tcp(stream) = self else {
            return None;
        };
        let is_loopback = |end: &SocketAddr| end.ip().to_canonical().is_loopback();
        let peer = stream.peer_addr().ok().filter(is_loopback)?;
        let here = stream.local_addr().ok().filter(is_loopback)?;
        let inode = rustix::fs::fstat(stream).ok()?.st_ino;
        Some((peer, here, inode))
    }

    fn descriptor(&self) -> RawFd {
        match self {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

impl Source for Stream {
    fn register(
        &mut self,
        registry: &Registry,
        token: Token,
        interests: Interest,
    ) -> io::Result<()> {
        SourceFd(&self.descriptor()).register(registry, token, interests)
    }

    fn reregister(
        &mut self,
        registry: &Registry,
        token: Token,
        interests: Interest,
    ) -> io::Result<()> {
        SourceFd(&self.descriptor()).reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.descriptor()).deregister(registry)
    }
}
