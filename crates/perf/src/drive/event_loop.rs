//! A loop over many sockets on one thread: who can read, who has room to write, and that somebody called.
//!
//! Invariants: no socket is read or written in here; one that is closed is watched no more, so a number may be given to
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
    /// Somebody has called what [`EventLoop::waker`] gave.
    Woken,
}

/// The loop.
pub(crate) struct EventLoop {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
}

impl EventLoop {
    /// A loop without sockets.
    pub(crate) fn new() -> io::Result<EventLoop> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Arc::new(eventfd(0, flags)?);
        epoll::add(&epoll, &*wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(EventLoop { epoll, wake })
    }

    /// What ends a wait from another thread: the loop looks at once.
    pub(crate) fn waker(&self) -> impl Fn() + Send + 'static {
        let wake = self.wake.clone();
        // It can only be refused when it is full, and then the loop is awake.
        move || _ = rustix::io::write(&*wake, &1u64.to_ne_bytes())
    }

    /// Watches a socket for something to read.
    pub(crate) fn add(&self, socket: impl AsFd, number: usize) -> io::Result<()> {
        let data = EventData::new_u64(number as u64);
        Ok(epoll::add(&self.epoll, socket, data, EventFlags::IN)?)
    }

    /// What a socket is watched for from now on. Its end is always told, as something to read.
    pub(crate) fn watch(
        &self,
        socket: impl AsFd,
        number: usize,
        interest: EventFlags,
    ) -> io::Result<()> {
        let data = EventData::new_u64(number as u64);
        Ok(epoll::modify(&self.epoll, socket, data, interest)?)
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
            let (number, flags) = (event.data.u64(), event.flags);
            ready.push(match number {
                WAKE => {
                    let mut number = [0; 8];
                    // Whether it was read before changes nothing.
                    let _ = rustix::io::read(&*self.wake, &mut number);
                    Ready::Woken
                }
                number if flags == EventFlags::OUT => Ready::Room(number as usize),
                number => Ready::Read(number as usize),
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
        own.waker()();
        own.waker()();
        assert_eq!(look(&own), [Ready::Woken]);
        assert_eq!(look(&own), [], "it was heard");
        // Full, and nobody asks for room.
        let mut sent = 0;
        while let Ok(more) = ours.write(&[1; 4096]) {
            sent += more;
        }
        assert_eq!(look(&own), []);
        own.watch(&ours, 7, EventFlags::IN | EventFlags::OUT)
            .unwrap();
        assert_eq!(look(&own), []);
        theirs.read_exact(&mut vec![0; sent]).unwrap();
        assert_eq!(look(&own), [Ready::Room(7)]);
        // What can be read comes first: reading makes the other side go on.
        theirs.write_all(b"x").unwrap();
        assert_eq!(look(&own), [Ready::Read(7)]);
        own.watch(&ours, 7, EventFlags::IN).unwrap();
        ours.read_exact(&mut [0]).unwrap();
        assert_eq!(look(&own), []);
        drop(theirs);
        assert_eq!(look(&own), [Ready::Read(7)], "its end can be read");
        drop(ours);
        assert_eq!(look(&own), []);
    }
}
