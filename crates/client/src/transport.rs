//! The socket under a connection: whole segments in, whole buffers out.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_wire::Segment;
use posthaste_wire::client::{ClientSocket, FromServer};

use crate::outbound::{FAREWELL, Outbound};
use crate::{Address, ClientError};

const CHUNK: usize = 64 * 1024;

pub(crate) enum Stream {
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

    pub(crate) fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_write_timeout(timeout),
            Stream::Unix(stream) => stream.set_write_timeout(timeout),
        }
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
        }
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) => (&*stream).read(buffer),
        }
    }

    pub(crate) fn write_all(&self, buffer: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => (&*stream).write_all(buffer),
            Stream::Unix(stream) => (&*stream).write_all(buffer),
        }
    }
}

/// A socket with the client's side of the protocol on it.
pub(crate) struct Transport {
    line: Line,
    pub(crate) socket: ClientSocket,
    /// A server that says nothing for so long is not waited for any more; otherwise it is asked whether it is there.
    silent_after: Option<Duration>,
    /// Room for what is read; only `start..end` of it means something.
    input: Vec<u8>,
    start: usize,
    end: usize,
}

/// The socket. Dropped, it is closed when everything has been sent.
struct Line {
    stream: Arc<Stream>,
    outbound: Arc<Outbound>,
    /// Something was sent that no reply will tell about.
    unanswered: bool,
    /// Somebody else has it.
    handed_over: bool,
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
        let silent_after = Some(timeout);
        let stream = Arc::new(stream);
        let outbound = Outbound::new(Arc::clone(&stream));
        let socket = outbound.append(begin);
        Ok(Transport {
            line: Line {
                stream,
                outbound,
                unanswered: false,
                handed_over: false,
            },
            socket,
            silent_after,
            input: Vec::new(),
            start: 0,
            end: 0,
        })
    }

    /// The bare socket, when everything has been sent, and what has been read from it but not been taken.
    pub(crate) fn into_parts(mut self) -> io::Result<(OwnedFd, ClientSocket, Vec<u8>)> {
        self.flush()?;
        let stream = self.line.hand_over()?;
        let input = self.unread().to_vec();
        Ok((stream, self.socket, input))
    }

    /// The connection stands: from now on calls wait as long as they take. A server that has gone
    /// is noticed by its socket, and by heartbeats where `interval` says that they are due.
    pub(crate) fn established(&mut self, interval: Option<Duration>) -> io::Result<()> {
        self.silent_after = None;
        self.line.stream.set_read_timeout(interval)
    }

    /// From now on a server that says nothing for so long is not waited for any more.
    pub(crate) fn give_up_after(&mut self, silence: Duration) -> io::Result<()> {
        self.silent_after = Some(silence);
        self.line.stream.set_read_timeout(Some(silence))
    }

    /// Adds to what is sent before anything is received.
    pub(crate) fn append<T>(
        &mut self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>) -> T,
    ) -> T {
        let socket = &mut self.socket;
        self.line.outbound.append(|out| encode(socket, out))
    }

    /// Sends what has gathered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.line.outbound.flush()
    }

    /// Adds what no reply is awaited to; it is sent soon ([`Outbound::gather`]).
    pub(crate) fn gather(
        &mut self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>),
    ) -> io::Result<()> {
        self.line.unanswered = true;
        let socket = &mut self.socket;
        self.line.outbound.gather(|out| encode(socket, out))
    }

    /// The next thing the server says that is not answered below.
    pub(crate) fn receive(&mut self) -> Result<FromServer, ClientError> {
        self.flush()?;
        let mut asked = false;
        let mut answers = Vec::new();
        loop {
            while let Some(segment) = Segment::next(
                self.input.get(self.start..self.end).unwrap_or_default(),
                self.socket.limit(),
            )? {
                let said = self.socket.receive(&segment, &mut answers)?;
                self.start += segment.length;
                if let Some(said) = said {
                    self.line.outbound.append(|out| out.append(&mut answers));
                    // Requests are answered in their order.
                    self.line.unanswered &= !matches!(said, FromServer::Reply { .. });
                    return Ok(said);
                }
            }
            if !answers.is_empty() {
                self.line.outbound.append(|out| out.append(&mut answers));
                self.flush()?;
            }
            self.fill(&mut asked)?;
        }
    }

    /// What has been read and not been taken.
    fn unread(&self) -> &[u8] {
        self.input.get(self.start..self.end).unwrap_or_default()
    }

    fn fill(&mut self, asked: &mut bool) -> Result<(), ClientError> {
        if self.start > 0 {
            self.input.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // The room is kept from one read to the next: zeroing it anew would cost more than reading.
        if self.input.len() < self.end + CHUNK {
            self.input.resize(self.end + CHUNK, 0);
        }
        let read = loop {
            match self.line.stream.read(&mut self.input[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if let Some(silence) = self.silent_after {
                        return Err(ClientError::Silent(silence));
                    }
                    if *asked {
                        break Err(error);
                    }
                    // Silence for a heartbeat interval: ask whether the server is there.
                    *asked = true;
                    let socket = &mut self.socket;
                    self.line.outbound.append(|out| socket.heartbeat(out));
                    self.flush()?;
                }
                other => break other,
            }
        };
        match read? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            more => {
                self.end += more;
                *asked = false;
                Ok(())
            }
        }
    }
}

impl Line {
    fn hand_over(&mut self) -> io::Result<OwnedFd> {
        self.outbound.stop();
        self.outbound.join();
        let stream = match &*self.stream {
            Stream::Tcp(stream) => OwnedFd::from(stream.try_clone()?),
            Stream::Unix(stream) => OwnedFd::from(stream.try_clone()?),
        };
        self.handed_over = true;
        Ok(stream)
    }

    /// Waits until the server has closed too. Closing a socket with input that was not read takes back what
    /// is still on its way.
    fn drain(&self) -> io::Result<()> {
        let until = Instant::now() + FAREWELL;
        self.stream.shutdown(Shutdown::Write)?;
        self.stream.set_read_timeout(Some(FAREWELL))?;
        let mut rest = [0; 4096];
        while Instant::now() < until && self.stream.read(&mut rest)? > 0 {}
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.handed_over {
            return;
        }
        self.outbound.last_words();
        if self.unanswered {
            // There is nobody left who could be told what went wrong.
            let _ = self.drain();
        }
        let _ = self.stream.shutdown(Shutdown::Both);
        self.outbound.join();
    }
}
