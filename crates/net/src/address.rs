//! Where sockets are, and who is at the other end.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A host, without a port.
pub use std::net::IpAddr as Host;

/// Where to listen or to connect.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Address {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A Unix-domain socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "{}({})", address.ip(), address.port()),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// What stands for an address in messages about a process of this machine: no address, so it is no name of one.
const HERE: &str = "this machine";

/// The other end of an accepted connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Peer {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A process of this machine.
    Local,
}

impl Peer {
    /// What limits for each address are counted by.
    pub fn site(&self) -> Option<Host> {
        self.host().map(posthaste_env::site)
    }

    /// Its address.
    pub fn host(&self) -> Option<Host> {
        match self {
            Peer::Tcp(address) => Some(address.ip().to_canonical()),
            Peer::Local => None,
        }
    }

    /// The address as CONNAME shows it, without the port; words in its place for who comes by a socket of this machine.
    pub fn conname(&self) -> String {
        match self.host() {
            Some(host) => host.to_string(),
            None => HERE.to_owned(),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Tcp(address) => write!(f, "{}({})", address.ip().to_canonical(), address.port()),
            Peer::Local => f.write_str(HERE),
        }
    }
}
