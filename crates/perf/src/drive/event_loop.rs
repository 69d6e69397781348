//! A loop over many sockets on one thread: who can read, who has room to write, and that somebody called.
//!
//! Invariants: nothing in here reads or writes; a socket that is closed is watched no more, so a number may be given to
//! another one.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

/// Events of one look.
const EVENTS: usize = 256;
/// The number of the waking descriptor.
const WAKE: u64 = u64::MAX;

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// The socket of this number has something to read, or has ended.
    Read(usize),
    /// The socket of this number has room, and nothing to read.
    Room(usize),
    /// Somebody has called [`Waker::wake`].
    Woken,
}

/// What a socket is watched for. Its end is always told, as something to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Something to read.
    Input,
    /// Room to write: whoever does not read what is written to it is not read from.
    Room,
    /// Both.
    Both,
}

/// Ends a loop's wait from another thread.
#[derive(Clone)]
pub(crate) struct Waker(Arc<OwnedFd>);

impl Waker {
    /// The loop looks at once.
    pub(crate) fn wake(&self) {
        // It can only be refused when it is full, and then the loop is awake.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }
}

/// The loop.
pub(crate) struct EventLoop {
    epoll: OwnedFd,
    wake: Waker,
}

impl EventLoop {
    /// A loop without sockets.
    pub(crate) fn new() -> io::Result<EventLoop> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Waker(Arc::new(eventfd(0, flags)?));
        epoll::add(&epoll, &*wake.0, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(EventLoop { epoll, wake })
    }

    /// What wakes it.
    pub(crate) fn waker(&self) -> Waker {
        self.wake.clone()
    }

    /// Watches a socket for something to read.
    pub(crate) fn add(&self, socket: impl AsFd, number: usize) -> io::Result<()> {
        let data = EventData::new_u64(number as u64);
        Ok(epoll::add(&self.epoll, socket, data, EventFlags::IN)?)
    }

    /// What a socket is watched for from now on.
    pub(crate) fn watch(
        &self,
        socket: impl AsFd,
        number: usize,
        interest: Interest,
    ) -> io::Result<()> {
        let flags = match interest {
            Interest::Input => EventFlags::IN,
            Interest::Room => EventFlags::OUT,
            Interest::Both => EventFlags::IN | EventFlags::OUT,
        };
        let data = EventData::new_u64(number as u64);
        Ok(epoll::modify(&self.epoll, socket, data, flags)?)
    }

    /// Waits until something is ready, at most so long; none waits for ever. What was found replaces `ready`.
    pub(crate) fn wait(&self, at_most: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        ready.clear();
        let mut room = [const { MaybeUninit::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            ready.push(match event.data.u64() {
                WAKE => {
                    let mut number = [0; 8];
                    // Whether it was read before changes nothing.
                    let _ = rustix::io::read(&*self.wake.0, &mut number);
                    Ready::Woken
                }
                number => {
                    let number = usize::try_from(number).unwrap_or(usize::MAX);
                    let flags = event.flags;
                    match flags == EventFlags::OUT {
                        true => Ready::Room(number),
                        false => Ready::Read(number),
                    }
                }
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn look(own: &EventLoop) -> Vec<Ready> {
        let mut ready = Vec::new();
        own.wait(Some(Duration::ZERO), &mut ready).unwrap();
        ready
    }

    #[test]
    fn it_tells_who_can_read_who_has_room_and_that_somebody_called() {
        let own = EventLoop::new().unwrap();
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        own.add(&ours, 7).unwrap();
        assert_eq!(look(&own), []);
        own.waker().wake();
        own.waker().wake();
        assert_eq!(look(&own), [Ready::Woken]);
        assert_eq!(look(&own), [], "it was heard");
        // Full, and nobody asks for room.
        let mut sent = 0;
        while let Ok(more) = ours.write(&[1; 4096]) {
            sent += more;
        }
        assert_eq!(look(&own), []);
        own.watch(&ours, 7, Interest::Both).unwrap();
        assert_eq!(look(&own), []);
        theirs.read_exact(&mut vec![0; sent]).unwrap();
        assert_eq!(look(&own), [Ready::Room(7)]);
        // What can be read comes first: reading makes the other side go on.
        theirs.write_all(b"x").unwrap();
        assert_eq!(look(&own), [Ready::Read(7)]);
        own.watch(&ours, 7, Interest::Input).unwrap();
        ours.read_exact(&mut [0]).unwrap();
        assert_eq!(look(&own), []);
        drop(theirs);
        assert_eq!(look(&own), [Ready::Read(7)], "its end can be read");
        drop(ours);
        assert_eq!(look(&own), []);
    }
}
