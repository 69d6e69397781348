//! A connection for which there is no place is told so in the protocol: the application gets 2537, not a broken
//! connection.
//!
//! Invariant: whoever is turned away costs a socket, a little memory and [`TIMEOUT`] at most.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::time::Duration;

use posthaste_env::Nanos;
use posthaste_net::{Next, Output, Protocol, Received};
use posthaste_wire::server::{Incoming, ServerSocket, UNCONNECTED_LIMIT};
use posthaste_wire::{Segment, Status};

use crate::timing::nanos;

/// How long the client may take to propose, and to close when it has been refused.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Takes a client's proposal, refuses it because no more channels may run, and closes the socket.
pub struct TurnedAway {
    socket: ServerSocket,
    output: RefCell<Output>,
    until: Nanos,
    refused: bool,
    over: bool,
    /// Dropped when it is over.
    _place: Option<Box<dyn Any>>,
}

impl TurnedAway {
    /// For a connection that comes `now`. `place` is kept until it is over.
    pub fn new(now: Nanos, place: Option<Box<dyn Any>>) -> TurnedAway {
        TurnedAway {
            socket: ServerSocket::new(),
            output: RefCell::default(),
            until: now.saturating_add(nanos(TIMEOUT)),
            refused: false,
            over: false,
            _place: place,
        }
    }

    /// Whether the client's proposal has come. Who sends anything else waits until its time is over.
    fn proposed(&mut self, input: &[u8]) -> bool {
        let segment = Segment::next(input, self.socket.limit());
        let Ok(Some(segment)) = segment else {
            return false;
        };
        let taken = self.socket.receive(&segment, &mut Vec::new());
        matches!(taken, Ok(Some(Incoming::Proposed(_))))
    }
}

impl Protocol for TurnedAway {
    fn woken(&mut self, _: u32) {}

    fn receive(&mut self, bytes: &[u8], _: usize) -> Received {
        let mut used = bytes.len();
        if !self.refused {
            if self.proposed(bytes) {
                let socket = &mut self.socket;
                self.output
                    .get_mut()
                    .append(|out| socket.refuse(Status::CHANNEL_UNAVAILABLE, out));
                self.refused = true;
            } else {
                self.over = bytes.len() >= UNCONNECTED_LIMIT;
                used = 0;
            }
        }
        Received {
            used,
            secret: false,
        }
    }

    fn lost(&mut self, _: Option<io::ErrorKind>) {
        self.over = true;
    }

    fn run(&mut self, _: Nanos) {}

    fn next(&mut self, now: Nanos) -> Next {
        let at = self.until;
        self.output.get_mut().settle();
        match self.refused {
            _ if self.over || now >= at => Next::Over,
            // Closing a socket with unread input would make the kernel drop what was just written.
            true => Next::Close { at },
            false => Next::Wait {
                read: true,
                at: Some(at),
            },
        }
    }

    fn shed(self: Box<Self>) -> Box<dyn Protocol> {
        self
    }

    fn output(&self) -> &RefCell<Output> {
        &self.output
    }
}
