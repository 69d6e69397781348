//! The socket under a connection: whole segments in, whole buffers out.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use posthaste_wire::Segment;
use posthaste_wire::client::{ClientSocket, FromServer};

use crate::{Address, ClientError};

const CHUNK: usize = 64 * 1024;

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn connect(address: &Address, timeout: Duration) -> io::Result<Stream> {
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

    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_read_timeout(timeout),
            Stream::Unix(stream) => stream.set_read_timeout(timeout),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(buffer),
            Stream::Unix(stream) => stream.write(buffer),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket with the client's side of the protocol on it.
pub(crate) struct Transport {
    stream: Stream,
    pub(crate) socket: ClientSocket,
    input: Vec<u8>,
    start: usize,
    pub(crate) output: Vec<u8>,
}

impl Transport {
    /// Connects; `begin` writes the proposal.
    pub(crate) fn connect(
        address: &Address,
        timeout: Duration,
        begin: impl FnOnce(&mut Vec<u8>) -> ClientSocket,
    ) -> Result<Transport, ClientError> {
        let stream =
            Stream::connect(address, timeout).map_err(|error| ClientError::NotAvailable {
                address: address.to_string(),
                error,
            })?;
        // Until the connection stands, a peer that says nothing must not hold us for ever.
        stream.set_read_timeout(Some(timeout))?;
        let mut output = Vec::new();
        let socket = begin(&mut output);
        Ok(Transport {
            stream,
            socket,
            input: Vec::new(),
            start: 0,
            output,
        })
    }

    /// The bare socket, and what has been read from it but not been taken.
    pub(crate) fn into_parts(self) -> (OwnedFd, ClientSocket, Vec<u8>) {
        let stream = match self.stream {
            Stream::Tcp(stream) => OwnedFd::from(stream),
            Stream::Unix(stream) => OwnedFd::from(stream),
        };
        let input = self.input.get(self.start..).unwrap_or_default().to_vec();
        (stream, self.socket, input)
    }

    /// The connection stands: from now on calls wait as long as they take. A server that has gone
    /// is noticed by its socket, and by heartbeats where `interval` says that they are due.
    pub(crate) fn established(&mut self, interval: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(interval)
    }

    /// Sends what has gathered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if !self.output.is_empty() {
            self.stream.write_all(&self.output)?;
            self.output.clear();
            if self.output.capacity() > 4 * CHUNK {
                self.output = Vec::new();
            }
        }
        Ok(())
    }

    /// The next thing the server says that is not answered below.
    pub(crate) fn receive(&mut self) -> Result<FromServer, ClientError> {
        self.flush()?;
        let mut asked = false;
        loop {
            while let Some(segment) = Segment::next(&self.input[self.start..], self.socket.limit())?
            {
                let said = self.socket.receive(&segment, &mut self.output)?;
                self.start += segment.length;
                if let Some(said) = said {
                    return Ok(said);
                }
            }
            self.flush()?;
            self.fill(&mut asked)?;
        }
    }

    fn fill(&mut self, asked: &mut bool) -> Result<(), ClientError> {
        if self.start > 0 {
            self.input.drain(..self.start);
            self.start = 0;
        }
        let length = self.input.len();
        self.input.resize(length + CHUNK, 0);
        let read = loop {
            match self.stream.read(&mut self.input[length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !*asked => {
                    // Silence for a heartbeat interval: ask whether the server is there.
                    *asked = true;
                    self.socket.heartbeat(&mut self.output);
                    self.flush()?;
                }
                other => break other,
            }
        };
        self.input.truncate(length + *read.as_ref().unwrap_or(&0));
        match read? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            _ => {
                *asked = false;
                Ok(())
            }
        }
    }
}
