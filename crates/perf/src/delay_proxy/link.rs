//! One connection through the proxy: two sockets and a line each way.
//!
//! Invariants:
//! * Sockets never block; what they can do is known from edge-triggered events and from `WouldBlock`.
//! * A side that is full holds back its own direction only: reading stops when the line has no room.
//! * The end of a direction is passed on behind its bytes (half-close). A reset, and a connection that
//!   could not be made, is passed on as a reset, behind the bytes that went before; what was on its way to
//!   the side that has gone is dropped, as a network would.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use mio::event::Event;
use mio::net::TcpStream;
use posthaste_env::Nanos;

use super::line::{End, Line};
use Who::{Client, Server};

/// Bytes read from one side before others have their turn.
const TURN: usize = 256 << 10;

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Who connected to the proxy.
    Client,
    /// Whom the proxy connected to.
    Server,
}

impl Who {
    fn other(self) -> Who {
        match self {
            Client => Server,
            Server => Client,
        }
    }
}

struct Side {
    stream: TcpStream,
    connected: bool,
    readable: bool,
    writable: bool,
    /// The end may already be behind the bytes: a short read does not mean that nothing is left.
    hung_up: bool,
    /// Nothing more comes from it.
    ended: bool,
    /// Everything for it has been delivered, or never will be.
    served: bool,
}

impl Side {
    fn new(stream: TcpStream, connected: bool) -> Side {
        Side {
            stream,
            connected,
            readable: false,
            writable: connected,
            hung_up: false,
            ended: false,
            served: false,
        }
    }
}

/// What `pump` left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing to do before the next event or time.
    Waits,
    /// There is more to read.
    More,
    /// Both directions have ended.
    Over,
}

pub(super) struct Link {
    client: Side,
    server: Side,
    /// From the client to the server.
    pub(super) up: Line,
    /// From the server to the client.
    pub(super) down: Line,
    /// Why there is no server; whoever tells it takes it.
    pub(super) refused: Option<io::Error>,
}

impl Link {
    /// A connection whose server side is still being made.
    pub(super) fn new(client: TcpStream, server: TcpStream, up: Line, down: Line) -> Link {
        Link {
            client: Side::new(client, true),
            server: Side::new(server, false),
            up,
            down,
            refused: None,
        }
    }

    /// The line that comes from a side, with both ends.
    fn from(&mut self, who: Who) -> (&mut Side, &mut Line, &mut Side) {
        match who {
            Client => (&mut self.client, &mut self.up, &mut self.server),
            Server => (&mut self.server, &mut self.down, &mut self.client),
        }
    }

    /// What the kernel tells about a side.
    pub(super) fn event(&mut self, now: Nanos, who: Who, event: &Event) {
        let (side, ..) = self.from(who);
        side.readable |= event.is_readable() || event.is_read_closed();
        side.writable |= event.is_writable();
        side.hung_up |= event.is_read_closed();
        let connecting = !side.connected;
        if !(event.is_error() || connecting && event.is_writable()) {
            return;
        }
        match side.stream.take_error() {
            Ok(None) => side.connected |= event.is_writable(),
            Ok(Some(error)) | Err(error) => {
                if connecting {
                    self.refused = Some(error);
                }
                self.broken(now, who);
            }
        }
    }

    /// A side has gone: the other one is told after the usual time.
    fn broken(&mut self, now: Nanos, who: Who) {
        let (side, line, _) = self.from(who);
        side.ended = true;
        side.served = true;
        line.finish(now, End::Reset);
        let (other, towards, _) = self.from(who.other());
        other.ended = true;
        towards.discard();
    }

    /// Moves what can be moved.
    pub(super) fn pump(&mut self, now: Nanos, buffer: &mut [u8]) -> After {
        self.read(now, Client, buffer);
        self.read(now, Server, buffer);
        self.deliver(now, Client);
        self.deliver(now, Server);
        // Delivering may have made room for what was left unread, of which no event will tell again.
        let more = self.can_read(Client) || self.can_read(Server);
        match self.client.served && self.server.served {
            true => After::Over,
            false if more => After::More,
            false => After::Waits,
        }
    }

    fn can_read(&mut self, who: Who) -> bool {
        let (side, line, _) = self.from(who);
        side.readable && !side.ended && side.connected && line.room() > 0
    }

    /// Reads from a side into its line, as much as one turn allows.
    fn read(&mut self, now: Nanos, who: Who, buffer: &mut [u8]) {
        let mut turn = TURN;
        while turn > 0 && self.can_read(who) {
            let (side, line, _) = self.from(who);
            let most = line.room().min(turn).min(buffer.len());
            let Some(space) = buffer.get_mut(..most).filter(|space| !space.is_empty()) else {
                return;
            };
            match side.stream.read(space) {
                Ok(0) => {
                    side.ended = true;
                    line.finish(now, End::Closed);
                }
                Ok(count) => {
                    line.push(now, space.get(..count).unwrap_or_default());
                    turn -= count;
                    side.readable = count == most || side.hung_up;
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => side.readable = false,
                    ErrorKind::Interrupted => {}
                    _ => self.broken(now, who),
                },
            }
        }
    }

    /// Delivers what has come out of the line from a side.
    fn deliver(&mut self, now: Nanos, who: Who) {
        let (_, line, to) = self.from(who);
        line.ripen(now);
        let failed = loop {
            let (first, second) = line.ripe();
            let ready = to.connected && to.writable && !to.served;
            if first.is_empty() || !ready {
                break false;
            }
            let slices = [IoSlice::new(first), IoSlice::new(second)];
            match to.stream.write_vectored(&slices) {
                Ok(0) => to.writable = false,
                Ok(count) => line.take(count),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => to.writable = false,
                    ErrorKind::Interrupted => {}
                    _ => break true,
                },
            }
        };
        match failed {
            true => self.broken(now, who.other()),
            false => self.deliver_end(now, who),
        }
    }

    fn deliver_end(&mut self, now: Nanos, who: Who) {
        let (_, line, to) = self.from(who);
        // A reset needs no connection that is finished being made; an orderly end does.
        let can = |end| !to.served && (to.connected || end == End::Reset);
        let Some(end) = line.ended(now).filter(|end| can(*end)) else {
            return;
        };
        to.served = true;
        match end {
            // A peer that has gone meanwhile is noticed by its own events.
            End::Closed => drop(to.stream.shutdown(Shutdown::Write)),
            End::Reset => reset(&to.stream),
        }
    }

    /// When it must be looked at again without an event. What was due when it was pumped at `now` and
    /// is still there waits for an event, not for a time.
    pub(super) fn next_due(&self, now: Nanos) -> Option<Nanos> {
        let up = self.up.next_due().filter(|_| !self.server.served);
        let down = self.down.next_due().filter(|_| !self.client.served);
        let both = up.into_iter().chain(down);
        both.filter(|due| *due > now).min()
    }
}

/// Has the end of a connection be a reset: closing with no time to linger sends that. If it is refused, the peer sees an
/// orderly end, which still ends it.
pub(super) fn reset(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}
