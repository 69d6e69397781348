//! The bare echo: one thread, epoll, level-triggered, one read and one write for what a peer sent.
//!
//! Invariant: bytes go back in order; what a peer does not take at once is kept for it.

use std::io;
use std::net::{TcpListener, TcpStream};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

/// Which event is the listener's.
const LISTENER: u64 = u64::MAX;
/// Most events taken at once.
const EVENTS: usize = 256;
/// Bytes read at once.
const READ: usize = 256 << 10;

struct Peer {
    stream: TcpStream,
    /// What it has not taken yet.
    rest: Vec<u8>,
}

/// Serves for ever.
pub(super) fn serve(listener: &TcpListener) -> io::Result<()> {
    let poll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(
        &poll,
        listener,
        EventData::new_u64(LISTENER),
        EventFlags::IN,
    )?;
    let mut peers: Vec<Option<Peer>> = Vec::new();
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = vec![0; READ];
    loop {
        match epoll::wait(&poll, spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in events.drain(..) {
            let number = event.data.u64();
            if number == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                let data = EventData::new_u64(peers.len() as u64);
                epoll::add(&poll, &stream, data, EventFlags::IN)?;
                let rest = Vec::new();
                peers.push(Some(Peer { stream, rest }));
                continue;
            }
            let place = usize::try_from(number).ok();
            let Some(slot) = place.and_then(|place| peers.get_mut(place)) else {
                continue;
            };
            let gone = match slot {
                Some(peer) => peer.turn(&mut buffer, &poll, number).is_err(),
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
    fn turn(
        &mut self,
        buffer: &mut [u8],
        poll: &rustix::fd::OwnedFd,
        number: u64,
    ) -> io::Result<()> {
        if !self.rest.is_empty() {
            let taken = written(&self.stream, &self.rest)?;
            self.rest.drain(..taken);
            if !self.rest.is_empty() {
                return Ok(());
            }
            let data = EventData::new_u64(number);
            epoll::modify(poll, &self.stream, data, EventFlags::IN)?;
            return Ok(());
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
            let data = EventData::new_u64(number);
            epoll::modify(poll, &self.stream, data, EventFlags::OUT)?;
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
