//! What carries the bytes: TCP, with TLS or without, or a socket of this machine. Local bindings go here, behind the same calls;
//! nothing else knows what a connection is made of.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::tls::TlsStream;
use crate::{Address, ClientError, Connect};

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// A stream of bytes to a server.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Connects, and shakes hands if TLS is asked for. Until the connection stands a server that says nothing is waited for
    /// no longer than the timeout.
    pub(crate) fn connect(connect: &Connect) -> Result<Stream, ClientError> {
        let Connect {
            address, timeout, ..
        } = connect;
        let stream = Stream::try_connect(address, *timeout);
        let stream = stream.map_err(|error| ClientError::NotAvailable {
            address: address.to_string(),
            error,
        })?;
        let stream = match (stream, &connect.tls) {
            (Stream::Tcp(socket), Some(tls)) => {
                let user = connect.user();
                let stream = TlsStream::connect(socket, tls, &connect.channel, &user, *timeout);
                Stream::Tls(Box::new(stream?))
            }
            (stream, _) => stream,
        };
        stream.set_read_timeout(Some(*timeout))?;
        Ok(stream)
    }

    /// Whether it has TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self, Stream::Tls(_))
    }

    fn try_connect(address: &Address, timeout: Duration) -> io::Result<Stream> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp { host, port } => {
                let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, timeout) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            return Ok(Stream::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_read_timeout(timeout),
            Stream::Unix(stream) => stream.set_read_timeout(timeout),
            Stream::Tls(stream) => stream.socket.set_read_timeout(timeout),
        }
    }

    pub(crate) fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_write_timeout(timeout),
            Stream::Unix(stream) => stream.set_write_timeout(timeout),
            Stream::Tls(stream) => stream.socket.set_write_timeout(timeout),
        }
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
            Stream::Tls(stream) => stream.shutdown(how),
        }
    }

    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) => (&*stream).read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }

    pub(crate) fn write_all(&self, buffer: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => (&*stream).write_all(buffer),
            Stream::Unix(stream) => (&*stream).write_all(buffer),
            Stream::Tls(stream) => stream.write_all(buffer),
        }
    }

    /// Writes what the system takes.
    pub(crate) fn write(&self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(buffer),
            Stream::Unix(stream) => (&*stream).write(buffer),
            // Only an event loop writes in parts, and it carries no TLS.
            Stream::Tls(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// From now on nothing waits.
    pub(crate) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nonblocking(true),
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tls(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Waits until the server has closed too. Closing a socket with input that was not read takes back what
    /// is still on its way.
    pub(crate) fn drain(&self, at_most: Duration) -> io::Result<()> {
        let until = Instant::now() + at_most;
        self.shutdown(Shutdown::Write)?;
        self.set_read_timeout(Some(at_most))?;
        let mut rest = [0; 4096];
        while Instant::now() < until && self.read(&mut rest)? > 0 {}
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tls(stream) => stream.socket.as_fd(),
        }
    }
}

/// What has been read and not been taken.
#[derive(Default)]
pub(crate) struct Input {
    /// Only `start..end` of it means something.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// The bytes.
    pub(crate) fn unread(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// All but the last `left` bytes have been taken.
    pub(crate) fn left(&mut self, left: usize) {
        self.start = self.end.saturating_sub(left);
    }

    /// Reads once; whether anything came before the stream's timeout.
    pub(crate) fn read(&mut self, stream: &Stream) -> io::Result<bool> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // The room is kept from one read to the next: zeroing it anew would cost more than reading.
        if self.bytes.len() < self.end + CHUNK {
            self.bytes.resize(self.end + CHUNK, 0);
        }
        loop {
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            match stream.read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => {
                    self.end += more;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}
