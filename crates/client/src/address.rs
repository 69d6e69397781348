//! Where a queue manager is: a TCP address or a socket file, and the `MQSERVER` variable.

use std::fmt;
use std::path::PathBuf;

use crate::ClientError;

/// The default port of a listener.
const PORT: u16 = 1414;

/// Where to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host name or address, and a port.
    Tcp {
        /// Host.
        host: String,
        /// Port.
        port: u16,
    },
    /// The socket file of a queue manager on this machine.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } => write!(f, "{host}({port})"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// What `MQSERVER` says: a channel, and addresses to try in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Channel name.
    pub channel: String,
    /// Addresses, at least one.
    pub addresses: Vec<Address>,
}

impl Server {
    /// Reads `CHANNEL/TCP/host(port)[,host(port)...]`; the port may be left out.
    ///
    /// # Errors
    /// [`ClientError::BadAddress`] says which part is wrong.
    pub fn parse(text: &str) -> Result<Server, ClientError> {
        let bad = |what: &str| {
            ClientError::BadAddress(format!(
                "{text}: {what}; write CHANNEL/TCP/host(port), for example DEV.APP.SVRCONN/TCP/localhost(1414)"
            ))
        };
        let mut parts = text.splitn(3, '/');
        let (channel, transport, hosts) = match (parts.next(), parts.next(), parts.next()) {
            (Some(channel), Some(transport), Some(hosts)) => (channel, transport, hosts),
            _ => return Err(bad("three parts are needed")),
        };
        if channel.is_empty() || channel.len() > 20 {
            return Err(bad("the channel name is empty or longer than 20"));
        }
        if !transport.eq_ignore_ascii_case("TCP") {
            return Err(bad("the transport is not TCP"));
        }
        let addresses = hosts
            .split(',')
            .map(|host| tcp(host.trim()).ok_or_else(|| bad("a host or port is wrong")))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Server {
            channel: channel.to_owned(),
            addresses,
        })
    }
}

fn tcp(text: &str) -> Option<Address> {
    let (host, port) = match text.split_once('(') {
        None => (text, PORT),
        Some((host, rest)) => (host, rest.strip_suffix(')')?.parse().ok()?),
    };
    (!host.is_empty()).then(|| Address::Tcp {
        host: host.to_owned(),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mqserver_is_read() {
        let server = Server::parse("DEV.APP.SVRCONN/TCP/localhost(1415),other").unwrap();
        assert_eq!(server.channel, "DEV.APP.SVRCONN");
        let shown: Vec<String> = server.addresses.iter().map(Address::to_string).collect();
        assert_eq!(shown, ["localhost(1415)", "other(1414)"]);
        for wrong in [
            "",
            "C",
            "C/TCP",
            "/TCP/h(1)",
            "C/LU62/h(1)",
            "C/TCP/h(",
            "C/TCP/h(x)",
            "C/TCP/h(70000)",
            "C/TCP/(1414)",
            "A.CHANNEL.NAME.TOO.LONG/TCP/h",
        ] {
            assert!(Server::parse(wrong).is_err(), "{wrong}");
        }
    }
}
