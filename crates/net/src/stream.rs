//! A connected socket of either kind.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// How long an answer to a probe is waited for, and how many may stay without one: a dead peer is found a minute after
/// the first. The system's own would be 75 seconds, nine times.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);
const PROBES: u32 = 4;

/// A TCP or Unix-domain connection.
#[derive(Debug)]
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// Unix-domain.
    Unix(UnixStream),
}

impl Stream {
    /// Sends small writes at once, and has the kernel find dead peers after `keepalive` without traffic.
    pub(crate) fn prepare(&self, keepalive: Option<Duration>) -> io::Result<()> {
        if let Stream::Tcp(stream) = self {
            stream.set_nodelay(true)?;
            if let Some(idle) = keepalive {
                sockopt::set_socket_keepalive(stream, true)?;
                sockopt::set_tcp_keepidle(stream, idle.max(Duration::from_secs(1)))?;
                sockopt::set_tcp_keepintvl(stream, PROBE_INTERVAL)?;
                sockopt::set_tcp_keepcnt(stream, PROBES)?;
            }
        }
        Ok(())
    }

    /// The process at the other end of a Unix-domain connection.
    pub fn peer_process(&self) -> Option<i32> {
        match self {
            Stream::Tcp(_) => None,
            Stream::Unix(stream) => stream.peer_cred().ok()?.pid(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dead_peer_is_found_soon_after_the_first_probe() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stream = Stream::Tcp(TcpStream::connect(address).await.unwrap());
        let idle = Duration::from_secs(300);
        stream.prepare(Some(idle)).unwrap();
        let Stream::Tcp(tcp) = &stream else {
            panic!("TCP")
        };
        assert!(sockopt::socket_keepalive(tcp).unwrap());
        assert_eq!(sockopt::tcp_keepidle(tcp).unwrap(), idle);
        let probes = sockopt::tcp_keepcnt(tcp).unwrap();
        let found = sockopt::tcp_keepintvl(tcp).unwrap() * probes;
        assert!(found <= Duration::from_secs(60), "{found:?} after {idle:?}");
    }
}
