//! The bare echo: one thread, epoll, level-triggered, one read and one write for what a peer sent.
//!
//! Invariant: bytes go back in order; what a peer does not take at once is kept for it.

use std::io;
use std::net::{TcpListener, TcpStream};

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::drive::{EventLoop, Ready};

/// Which socket is the listener's.
const LISTENER: usize = usize::MAX - 1;
/// Bytes read at once.
const READ: usize = 256 << 10;

struct Peer {
    stream: TcpStream,
    /// What it has not taken yet.
    rest: Vec<u8>,
}

/// Serves for ever.
pub(super) fn serve(listener: &TcpListener) -> io::Result<()> {
    let events = EventLoop::new()?;
    events.add(listener, LISTENER)?;
    let mut peers: Vec<Option<Peer>> = Vec::new();
    let mut ready = Vec::new();
    let mut buffer = vec![0; READ];
    loop {
        events.wait(None, &mut ready)?;
        for ready in &ready {
            let (Ready::Read(number) | Ready::Room(number)) = *ready else {
                continue;
            };
            if number == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                events.add(&stream, peers.len())?;
                let rest = Vec::new();
                peers.push(Some(Peer { stream, rest }));
                continue;
            }
            let Some(slot) = peers.get_mut(number) else {
                continue;
            };
            let gone = match slot {
                Some(peer) => peer.turn(&mut buffer, &events, number).is_err(),
                None => false,
            };
            if gone {
                *slot = None;
            }
        }
    }
}

impl Peer {
    /// Sends back what has come. An error means that the peer is gone.
    fn turn(&mut self, buffer: &mut [u8], events: &EventLoop, number: usize) -> io::Result<()> {
        if !self.rest.is_empty() {
            let taken = written(&self.stream, &self.rest)?;
            self.rest.drain(..taken);
            if !self.rest.is_empty() {
                return Ok(());
            }
            return events.watch(&self.stream, number, EventFlags::IN);
        }
        let count = match rustix::io::read(&self.stream, &mut *buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let Some(bytes) = buffer.get(..count) else {
            return Ok(());
        };
        let taken = written(&self.stream, bytes)?;
        if let Some(rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
            self.rest.extend_from_slice(rest);
            // Nothing more is read from a peer that does not read.
            events.watch(&self.stream, number, EventFlags::OUT)?;
        }
        Ok(())
    }
}

/// How much of it the system took.
fn written(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    match rustix::io::write(stream, bytes) {
        Ok(count) => Ok(count),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
