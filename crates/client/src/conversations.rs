//! A socket that threads share: several conversations, and a thread that reads for all of them.
//!
//! Invariants:
//! * What one conversation waits for holds no other one up: whoever waits holds no lock, nor does whoever writes.
//! * The reader never waits for room to write: the server may be waiting for it to read.
//! * When the socket has ended everybody who waits is told why, and so is every later call.
//! * A conversation that is dropped is ended for the queue manager too, which backs its unit of work out. With the last
//!   one the socket is closed and the reader has ended.
//!
//! Locks: the hub's state, then the outbound buffer or a desk.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use posthaste_mqi::Name;
use posthaste_wire::client::ClientSocket;
use posthaste_wire::{Outcome, Reply};

use crate::error::Cause;
use crate::exclusive::{Exclusive, SocketParts};
use crate::outbound::{FAREWELL, Outbound};
use crate::protocol::{Event, Protocol};
use crate::transport::{Input, Stream};
use crate::{ClientError, Connect};

/// What a conversation is told.
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the one that comes all the time; a box would cost an allocation each"
)]
enum Answer {
    Connected(Name),
    Reply(Outcome, Reply),
    Failed(ClientError),
}

/// Where the reader puts what a conversation waits for.
#[derive(Default)]
struct Desk {
    answer: Mutex<Option<Answer>>,
    changed: Condvar,
}

impl Desk {
    fn tell(&self, answer: Answer) {
        *self.answer.lock() = Some(answer);
        self.changed.notify_all();
    }

    /// Waits; none when it was not told in time.
    fn wait(&self, at_most: Option<Duration>) -> Option<Answer> {
        let until = at_most.map(|time| Instant::now() + time);
        let mut answer = self.answer.lock();
        while answer.is_none() {
            match until {
                None => self.changed.wait(&mut answer),
                Some(until) if self.changed.wait_until(&mut answer, until).timed_out() => break,
                Some(_) => {}
            }
        }
        answer.take()
    }
}

struct State {
    protocol: Protocol,
    desks: Vec<(u32, Arc<Desk>)>,
    over: Option<Cause>,
    /// Something was sent that no reply has told about.
    unanswered: bool,
    reader: Option<JoinHandle<()>>,
}

/// A socket, as its conversations and its reader have it.
struct Hub {
    stream: Arc<Stream>,
    outbound: Arc<Outbound>,
    state: Mutex<State>,
}

/// One conversation's place on a socket that is shared.
pub(crate) struct Place {
    hub: Arc<Hub>,
    desk: Arc<Desk>,
    id: u32,
    silent_after: Option<Duration>,
    ended: bool,
}

impl Place {
    /// The place of a socket's first conversation, which is connected; a thread reads from now on.
    pub(crate) fn first(socket: Exclusive) -> Result<Place, ClientError> {
        let SocketParts {
            stream,
            outbound,
            protocol,
            input,
        } = socket.hand_over()?;
        let id = protocol.first_conversation();
        let desk = Arc::new(Desk::default());
        let hub = Arc::new(Hub {
            stream,
            outbound,
            state: Mutex::new(State {
                protocol,
                desks: vec![(id, Arc::clone(&desk))],
                over: None,
                unanswered: false,
                reader: None,
            }),
        });
        // Whatever goes wrong from here on, the socket is closed in order.
        let place = Place {
            hub: Arc::clone(&hub),
            desk,
            id,
            silent_after: None,
            ended: false,
        };
        let reader = std::thread::Builder::new()
            .name("client reader".to_owned())
            .spawn(move || hub.read(input))?;
        place.hub.state.lock().reader = Some(reader);
        Ok(place)
    }

    /// Connects one more conversation; none if the socket has no room for it.
    pub(crate) fn another(&self, connect: &Connect) -> Result<Option<(Place, Name)>, ClientError> {
        let desk = Arc::new(Desk::default());
        let id = {
            let mut state = self.hub.state.lock();
            let state = &mut *state;
            state.check()?;
            let protocol = &mut state.protocol;
            let announced = self
                .hub
                .outbound
                .append(|out| protocol.another(connect, out));
            let Some(id) = announced else {
                return Ok(None);
            };
            state.desks.push((id, Arc::clone(&desk)));
            id
        };
        let mut place = Place {
            hub: Arc::clone(&self.hub),
            desk,
            id,
            silent_after: Some(connect.answered_within()),
            ended: false,
        };
        place.hub.outbound.flush()?;
        let Answer::Connected(name) = place.wait()? else {
            return Err(Cause::Broken(io::ErrorKind::InvalidData).into());
        };
        place.silent_after = None;
        Ok(Some((place, name)))
    }

    /// From now on a reply that does not come within so long is not waited for any more.
    pub(crate) fn give_up_after(&mut self, silence: Duration) {
        self.silent_after = Some(silence);
    }

    /// Its conversation.
    pub(crate) fn conversation(&self) -> u32 {
        self.id
    }

    /// Adds to what is sent before a reply is waited for.
    pub(crate) fn append(
        &self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>, u32),
    ) -> Result<(), ClientError> {
        let mut state = self.hub.state.lock();
        state.check()?;
        let socket = state.protocol.socket();
        self.hub.outbound.append(|out| encode(socket, out, self.id));
        Ok(())
    }

    /// Sends what no reply is awaited to, soon.
    pub(crate) fn gather(
        &self,
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>, u32),
    ) -> Result<(), ClientError> {
        self.append(encode)?;
        self.hub.state.lock().unanswered = true;
        Ok(self.hub.outbound.settle()?)
    }

    /// The reply that is due.
    pub(crate) fn reply(&self) -> Result<(Outcome, Reply), ClientError> {
        self.hub.outbound.flush()?;
        match self.wait()? {
            Answer::Reply(outcome, reply) => Ok((outcome, reply)),
            _ => Err(Cause::Broken(io::ErrorKind::InvalidData).into()),
        }
    }

    fn wait(&self) -> Result<Answer, ClientError> {
        match (self.desk.wait(self.silent_after), self.silent_after) {
            (Some(Answer::Failed(error)), _) => Err(error),
            (Some(answer), _) => Ok(answer),
            (None, silence) => Err(ClientError::Silent(silence.unwrap_or_default())),
        }
    }

    /// The conversation is over; the others go on.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let mut state = self.hub.state.lock();
        let (id, protocol) = (self.id, &mut state.protocol);
        self.hub.outbound.append(|out| protocol.end(id, out));
        state.desks.retain(|(desk, _)| *desk != id);
        let last = state.desks.is_empty();
        let unanswered = state.unanswered;
        let reader = last.then(|| state.reader.take()).flatten();
        drop(state);
        // A farewell that does not arrive changes nothing.
        let _ = self.hub.outbound.flush();
        if last {
            self.hub.close(unanswered, reader);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.end();
    }
}

impl State {
    fn check(&self) -> Result<(), ClientError> {
        self.over.map_or(Ok(()), |cause| Err(cause.into()))
    }

    /// Gives everybody what has come.
    fn deal(&mut self, input: &mut &[u8], answers: &mut Vec<u8>) -> Result<(), Cause> {
        while let Some(event) = self.protocol.take(input, answers)? {
            let (id, answer) = match event {
                Event::Connected {
                    conversation,
                    queue_manager,
                } => (conversation, Answer::Connected(queue_manager)),
                Event::Refused {
                    conversation,
                    reason,
                } => (conversation, Answer::Failed(ClientError::Reason(reason))),
                Event::Reply(flow) => {
                    let (outcome, reply) = flow.decode()?;
                    self.unanswered = false;
                    (flow.id, Answer::Reply(outcome, reply))
                }
            };
            if let Some((_, desk)) = self.desks.iter().find(|(desk, _)| *desk == id) {
                desk.tell(answer);
            }
        }
        Ok(())
    }
}

impl Hub {
    /// The reader.
    fn read(&self, mut input: Input) {
        let mut asked = false;
        let cause = loop {
            if let Err(cause) = self.turn(&mut input, &mut asked) {
                break cause;
            }
        };
        let mut state = self.state.lock();
        state.over = Some(cause);
        for (_, desk) in &state.desks {
            desk.tell(Answer::Failed(cause.into()));
        }
    }

    fn turn(&self, input: &mut Input, asked: &mut bool) -> Result<(), Cause> {
        let mut answers = Vec::new();
        let mut rest = input.unread();
        self.state.lock().deal(&mut rest, &mut answers)?;
        let left = rest.len();
        input.left(left);
        if !answers.is_empty() {
            self.outbound.append(|out| out.append(&mut answers));
            self.outbound.send_soon()?;
        }
        if input.read(&self.stream)? {
            *asked = false;
            return Ok(());
        }
        if std::mem::replace(asked, true) {
            return Err(Cause::Broken(io::ErrorKind::WouldBlock));
        }
        // Silence for a heartbeat interval: ask whether the server is there.
        let mut state = self.state.lock();
        let socket = state.protocol.socket();
        self.outbound.append(|out| socket.heartbeat(out));
        drop(state);
        Ok(self.outbound.send_soon()?)
    }

    /// Nobody is left.
    fn close(&self, unanswered: bool, reader: Option<JoinHandle<()>>) {
        self.outbound.last_words();
        if unanswered {
            // The reader waits for the server's end; there is nobody left who could be told what went wrong.
            let _ = self.stream.drain(FAREWELL);
        }
        let _ = self.stream.shutdown(Shutdown::Both);
        self.outbound.join();
        if let Some(reader) = reader {
            // It does nothing that could panic, and there is nobody to tell.
            let _ = reader.join();
        }
    }
}
