//! A socket with one conversation, read by the thread that waits for a reply: nobody else is woken for it.
//!
//! Invariants: between two calls nobody reads; before a reply is waited for everything has been sent. Dropped, it is
//! closed when everything has been sent.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use posthaste_mqi::Name;
use posthaste_wire::client::ClientSocket;
use posthaste_wire::{Outcome, Reply};

use crate::error::Cause;
use crate::outbound::{FAREWELL, Outbound};
use crate::protocol::{Event, Protocol};
use crate::transport::{Input, Stream};
use crate::{ClientError, Connect};

/// The socket.
pub(crate) struct Exclusive {
    line: Line,
    protocol: Protocol,
    input: Input,
    /// A server that says nothing for so long is not waited for any more; otherwise it is asked whether it is there.
    silent_after: Option<Duration>,
    /// How much longer the answer to MQCONN is waited for.
    answer_timeout: Duration,
}

/// What is closed in order.
struct Line {
    stream: Arc<Stream>,
    outbound: Arc<Outbound>,
    /// Something was sent that no reply will tell about.
    unanswered: bool,
    /// Somebody else has it.
    handed_over: bool,
}

/// What the server said.
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the one that comes all the time; a box would cost an allocation each"
)]
enum Answer {
    Connected(Name),
    Reply(Outcome, Reply),
}

/// What a socket consists of when it is handed over.
pub(crate) struct SocketParts {
    pub(crate) stream: Arc<Stream>,
    pub(crate) outbound: Arc<Outbound>,
    pub(crate) protocol: Protocol,
    pub(crate) input: Input,
}

impl Exclusive {
    /// Connects the first conversation; gives the name of the queue manager that answered.
    pub(crate) fn connect(connect: &Connect) -> Result<(Exclusive, Name), ClientError> {
        let stream = Arc::new(Stream::connect(connect)?);
        let outbound = Outbound::new(Arc::clone(&stream));
        let protocol = outbound.append(|out| Protocol::begin(connect, out));
        let mut socket = Exclusive {
            line: Line {
                stream,
                outbound,
                unanswered: false,
                handed_over: false,
            },
            protocol,
            input: Input::default(),
            silent_after: Some(connect.timeout),
            answer_timeout: connect.answered_within().saturating_sub(connect.timeout),
        };
        let Answer::Connected(name) = socket.receive()? else {
            return Err(Cause::Broken(io::ErrorKind::InvalidData).into());
        };
        // From now on calls wait as long as they take. A server that has gone is noticed by its socket, and by
        // heartbeats where they are due.
        let interval = Some(socket.protocol.heartbeat_s()).filter(|seconds| *seconds > 0);
        let interval = interval.map(|seconds| Duration::from_secs(seconds.into()));
        socket.silent_after = None;
        socket.line.stream.set_read_timeout(interval)?;
        Ok((socket, name))
    }

    /// The protocol.
    pub(crate) fn protocol(&mut self) -> &mut Protocol {
        &mut self.protocol
    }

    /// Gives the socket to somebody else, when everything has been sent.
    pub(crate) fn hand_over(mut self) -> io::Result<SocketParts> {
        self.line.outbound.flush()?;
        self.line.handed_over = true;
        Ok(SocketParts {
            stream: Arc::clone(&self.line.stream),
            outbound: Arc::clone(&self.line.outbound),
            protocol: self.protocol,
            input: self.input,
        })
    }

    /// From now on a server that says nothing for so long is not waited for any more.
    pub(crate) fn give_up_after(&mut self, silence: Duration) -> io::Result<()> {
        self.silent_after = Some(silence);
        self.line.stream.set_read_timeout(Some(silence))
    }

    /// Adds to what is sent before a reply is waited for.
    pub(crate) fn append(&mut self, encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>)) {
        let socket = self.protocol.socket();
        self.line.outbound.append(|out| encode(socket, out));
    }

    /// Sends what no reply is awaited to, soon.
    pub(crate) fn gather(
        &mut self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>),
    ) -> io::Result<()> {
        self.line.unanswered = true;
        let socket = self.protocol.socket();
        self.line.outbound.gather(|out| encode(socket, out))
    }

    /// The reply that is due.
    pub(crate) fn reply(&mut self) -> Result<(Outcome, Reply), ClientError> {
        match self.receive()? {
            Answer::Reply(outcome, reply) => {
                // Requests are answered in their order.
                self.line.unanswered = false;
                Ok((outcome, reply))
            }
            Answer::Connected(_) => Err(Cause::Broken(io::ErrorKind::InvalidData).into()),
        }
    }

    /// The conversation is over.
    pub(crate) fn end(&mut self) {
        let protocol = &mut self.protocol;
        let first = protocol.first_conversation();
        self.line.outbound.append(|out| protocol.end(first, out));
        // The verb has been answered; a farewell that does not arrive changes nothing.
        let _ = self.line.outbound.flush();
    }

    fn receive(&mut self) -> Result<Answer, ClientError> {
        let answer = self.try_receive();
        if let Err(ClientError::Broken(error)) = &answer {
            self.protocol.fail(Cause::Broken(error.kind()));
        }
        answer
    }

    fn try_receive(&mut self) -> Result<Answer, ClientError> {
        self.line.outbound.flush()?;
        let mut asked = false;
        let mut answers = Vec::new();
        loop {
            let mut rest = self.input.unread();
            let event = self.protocol.take(&mut rest, &mut answers);
            let answer = event.map(|event| event.map(understood));
            let left = rest.len();
            self.input.left(left);
            if !answers.is_empty() {
                self.line.outbound.append(|out| out.append(&mut answers));
            }
            if let Some(answer) = answer? {
                return answer;
            }
            self.line.outbound.flush()?;
            match self.input.read(&self.line.stream)? {
                true => asked = false,
                false => self.silent(&mut asked)?,
            }
        }
    }

    /// Nothing has come for as long as the socket waits.
    fn silent(&mut self, asked: &mut bool) -> Result<(), ClientError> {
        if let Some(silence) = self.silent_after {
            if self.answer_timeout.is_zero() || !self.protocol.awaits_mqconn() {
                return Err(ClientError::Silent(silence));
            }
            self.answer_timeout = self.answer_timeout.saturating_sub(silence);
            return Ok(());
        }
        if std::mem::replace(asked, true) {
            return Err(Cause::Broken(io::ErrorKind::WouldBlock).into());
        }
        // Silence for a heartbeat interval: ask whether the server is there.
        self.append(|socket, out| socket.heartbeat(out));
        Ok(self.line.outbound.flush()?)
    }
}

fn understood(event: Event<'_>) -> Result<Answer, ClientError> {
    match event {
        Event::Connected { queue_manager, .. } => Ok(Answer::Connected(queue_manager)),
        Event::Refused { reason, .. } => Err(ClientError::Reason(reason)),
        Event::Reply(flow) => {
            let (outcome, reply) = flow.decode()?;
            Ok(Answer::Reply(outcome, reply))
        }
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
            let _ = self.stream.drain(FAREWELL);
        }
        let _ = self.stream.shutdown(Shutdown::Both);
        self.outbound.join();
    }
}
