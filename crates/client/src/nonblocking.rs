//! A connection in an event loop: no call waits, and replies come as they lie in the loop's buffer.
//!
//! Invariants: what the system does not take waits in `out`, in order; a segment that has not come completely is kept
//! until the next read; after an error nothing more is sent or understood.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use posthaste_mqi::{Hobj, Reason};
use posthaste_wire::Request;
use posthaste_wire::client::{ClientGet, ClientPut, ReplyFlow};
use posthaste_wire::prepared::{PreparedGet, PreparedPut};

use crate::error::Cause;
use crate::exclusive::SocketParts;
use crate::protocol::{Event, Protocol, check_length};
use crate::transport::Stream;
use crate::{ClientError, Connection};

/// A connection whose calls do not wait. The caller takes each reply before it calls the next verb that has one.
pub struct Nonblocking {
    stream: Arc<Stream>,
    protocol: Protocol,
    conversation: u32,
    max_message: usize,
    out: Vec<u8>,
    sent: usize,
    /// A segment that has not come completely.
    rest: Vec<u8>,
}

impl Connection {
    /// Takes the connection, which has a socket of its own, into an event loop. No verb is outstanding.
    ///
    /// # Errors
    /// 2009 it has broken; 2012 it has TLS, which an event loop does not carry; 2018 it shares its socket.
    pub fn into_nonblocking(self) -> Result<Nonblocking, ClientError> {
        let SocketParts {
            stream,
            outbound,
            protocol,
            input,
        } = self.hand_over()?;
        if stream.is_encrypted() {
            return Err(Reason::ENVIRONMENT_ERROR.into());
        }
        outbound.stop();
        outbound.join();
        stream.set_nonblocking()?;
        Ok(Nonblocking {
            stream,
            conversation: protocol.first_conversation(),
            max_message: protocol.max_message(),
            protocol,
            out: Vec::new(),
            sent: 0,
            rest: input.unread().to_vec(),
        })
    }
}

impl AsFd for Nonblocking {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Nonblocking {
    /// Of long messages only the beginning is kept: for whoever looks at no data.
    pub fn keep_no_data(&mut self) {
        self.protocol.socket().keep_no_data();
    }

    /// Bytes that wait for the system to take them.
    pub fn waiting(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Whether the channel carries a message of this length.
    ///
    /// # Errors
    /// 2010.
    pub fn check_length(&self, data: &[u8]) -> Result<(), ClientError> {
        check_length(data, self.max_message)
    }

    /// Adds an MQPUT; like every verb it goes out with the next [`Nonblocking::flush`].
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn put(
        &mut self,
        prepared: &mut PreparedPut,
        put: &ClientPut<'_>,
    ) -> Result<(), ClientError> {
        let socket = self.protocol.socket();
        Ok(socket.put_prepared(&mut self.out, self.conversation, prepared, put)?)
    }

    /// Adds an MQGET.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn get(
        &mut self,
        prepared: &mut PreparedGet,
        get: &ClientGet<'_>,
    ) -> Result<(), ClientError> {
        let socket = self.protocol.socket();
        Ok(socket.get_prepared(&mut self.out, self.conversation, prepared, get)?)
    }

    /// Adds another verb.
    pub fn request(&mut self, handle: Hobj, request: &Request) {
        let socket = self.protocol.socket();
        socket.request(&mut self.out, self.conversation, handle, request);
    }

    /// The conversation is over, after its MQDISC: the socket is to be dropped when that has gone out.
    pub fn end(&mut self) {
        self.protocol.end(self.conversation, &mut self.out);
    }

    /// Sends as much as the system takes.
    ///
    /// # Errors
    /// 2009.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        while self.sent < self.out.len() {
            let waiting = self.out.get(self.sent..).unwrap_or_default();
            match self.stream.write(waiting) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(self.broken(error)),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Reads once, behind what was kept; [`Nonblocking::next`] says what it means.
    ///
    /// # Errors
    /// 2009.
    pub fn read<'b>(&mut self, buffer: &'b mut [u8]) -> Result<&'b [u8], ClientError> {
        let before = self.rest.len();
        let Some((head, room)) = buffer.split_at_mut_checked(before) else {
            // No segment is as long as that.
            return Err(self.broken(io::ErrorKind::InvalidData.into()));
        };
        head.copy_from_slice(&self.rest);
        let read = match self.stream.read(room) {
            Ok(0) => return Err(self.broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(self.broken(error)),
        };
        self.rest.clear();
        Ok(buffer.get(..before + read).unwrap_or_default())
    }

    /// The next reply; none when what is left is to be kept ([`Nonblocking::keep`]).
    ///
    /// # Errors
    /// The queue manager has ended the connection, or broke the protocol.
    pub fn next<'b>(&mut self, bytes: &mut &'b [u8]) -> Result<Option<ReplyFlow<'b>>, ClientError> {
        match self.protocol.take(bytes, &mut self.out)? {
            None => Ok(None),
            Some(Event::Reply(flow)) => Ok(Some(flow)),
            Some(Event::Connected { .. } | Event::Refused { .. }) => {
                Err(self.broken(io::ErrorKind::InvalidData.into()))
            }
        }
    }

    /// Keeps the beginning of what has not come completely.
    pub fn keep(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
    }

    fn broken(&mut self, error: io::Error) -> ClientError {
        self.protocol.fail(Cause::Broken(error.kind()));
        ClientError::Broken(error)
    }
}
