//! What is to be sent: a buffer that is written in large pieces, and a thread that writes what nobody else does.
//!
//! A request whose reply is awaited is written at once, with everything before it. A request without a reply (an
//! asynchronous put) is written
//! * at once when nothing was written for [`PROMPT`]: whoever puts now and then waits for nobody;
//! * else when [`GATHER`] bytes have gathered, or before the next request that has a reply;
//! * else by the thread, `PROMPT` after the last write: whoever stops after a burst is not left with its end.
//!
//! Invariants:
//! * Bytes go out in the order in which they were appended; one thread writes at a time.
//! * No more than `GATHER` bytes and one request of each caller are held, and as much again while somebody writes: beyond
//!   that a caller waits until the server reads. Nobody holds the lock meanwhile.
//! * After a write has failed every further one says so.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::transport::Stream;

/// Bytes that are worth a write of their own.
const GATHER: usize = 32 * 1024;
/// How long a request without a reply may be held.
const PROMPT: Duration = Duration::from_millis(1);
/// How long a connection that is dropped tries to get rid of what it holds.
pub(crate) const FAREWELL: Duration = Duration::from_secs(5);
/// A buffer that has become longer is not kept.
const LARGE: usize = 256 * 1024;
/// Stack of the thread, which calls nothing but the system.
const STACK: usize = 64 * 1024;

struct State {
    buffer: Vec<u8>,
    /// The other buffer, for what is being written.
    spare: Vec<u8>,
    /// Somebody is writing what it has taken.
    writing: bool,
    /// Why nothing can be written any more.
    failed: Option<io::ErrorKind>,
    /// The last write ended then.
    written: Instant,
    /// The thread is to look at the buffer `PROMPT` after the last write.
    armed: bool,
    closing: bool,
    thread: Option<JoinHandle<()>>,
}

/// What is to be sent on one socket.
pub(crate) struct Outbound {
    stream: Arc<Stream>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Outbound {
    pub(crate) fn new(stream: Arc<Stream>) -> Arc<Outbound> {
        Arc::new(Outbound {
            stream,
            state: Mutex::new(State {
                buffer: Vec::new(),
                spare: Vec::new(),
                writing: false,
                failed: None,
                written: Instant::now(),
                armed: false,
                closing: false,
                thread: None,
            }),
            changed: Condvar::new(),
        })
    }

    /// Adds to what the next [`Outbound::flush`] sends.
    pub(crate) fn append<T>(&self, encode: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let mut state = self.state.lock();
        let encoded = encode(&mut state.buffer);
        if state.failed.is_some() {
            state.buffer.clear();
        }
        encoded
    }

    /// Sends everything that was added.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        self.write(&mut state)
    }

    /// Adds what no reply is awaited to, by the rule at the head of this file.
    pub(crate) fn gather(self: &Arc<Self>, encode: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.append(encode);
        self.settle()
    }

    /// Sends what was added, and no reply is awaited to, by the rule at the head of this file.
    pub(crate) fn settle(self: &Arc<Self>) -> io::Result<()> {
        let mut state = self.state.lock();
        check(&state)?;
        if state.armed && state.buffer.len() < GATHER {
            return Ok(());
        }
        let quiet = !state.writing && state.written.elapsed() >= PROMPT;
        if quiet || state.buffer.len() >= GATHER || !self.has_thread(&mut state) {
            return self.write(&mut state);
        }
        state.armed = true;
        self.changed.notify_all();
        Ok(())
    }

    /// Lets the thread send what was added: whoever reads for others waits for no room to write.
    pub(crate) fn send_soon(self: &Arc<Self>) -> io::Result<()> {
        let mut state = self.state.lock();
        check(&state)?;
        if !self.has_thread(&mut state) {
            return self.write(&mut state);
        }
        state.armed = true;
        self.changed.notify_all();
        Ok(())
    }

    /// Starts the thread with the first need. Without one everything is written at once.
    fn has_thread(self: &Arc<Self>, state: &mut State) -> bool {
        if state.thread.is_none() {
            let outbound = Arc::clone(self);
            let thread = std::thread::Builder::new()
                .name("async put".to_owned())
                .stack_size(STACK)
                .spawn(move || outbound.run());
            state.thread = thread.ok();
        }
        state.thread.is_some()
    }

    fn write(&self, state: &mut MutexGuard<'_, State>) -> io::Result<()> {
        while state.writing {
            self.changed.wait(state);
        }
        check(state)?;
        self.write_unlocked(state);
        check(state)
    }

    /// The thread: writes what has been held for long enough.
    fn run(&self) {
        let mut state = self.state.lock();
        while !state.closing {
            let due = state.written + PROMPT;
            if !state.armed || state.writing {
                self.changed.wait(&mut state);
            } else if Instant::now() < due {
                self.changed.wait_until(&mut state, due);
            } else {
                state.armed = false;
                self.write_unlocked(&mut state);
            }
        }
    }

    /// Writes without the lock, so that others go on meanwhile; what they add goes out with the next write.
    fn write_unlocked(&self, state: &mut MutexGuard<'_, State>) {
        if state.buffer.is_empty() || state.failed.is_some() {
            return;
        }
        let spare = std::mem::take(&mut state.spare);
        let mut taken = std::mem::replace(&mut state.buffer, spare);
        state.writing = true;
        let written = MutexGuard::unlocked(state, || self.stream.write_all(&taken));
        state.writing = false;
        state.after(&written);
        taken.clear();
        if taken.capacity() <= LARGE {
            state.spare = taken;
        }
        self.changed.notify_all();
    }

    /// Lets the thread end; what it is writing is written.
    pub(crate) fn stop(&self) {
        self.state.lock().closing = true;
        self.changed.notify_all();
    }

    /// Sends what is left, for as long as [`FAREWELL`], and lets the thread end.
    pub(crate) fn last_words(&self) {
        self.stop();
        let mut state = self.state.lock();
        let until = Instant::now() + FAREWELL;
        while state.writing && !self.changed.wait_until(&mut state, until).timed_out() {}
        if !state.writing && self.stream.set_write_timeout(Some(FAREWELL)).is_ok() {
            // Who wants to know asks MQSTAT or disconnects.
            let _ = self.write(&mut state);
        }
    }

    /// Waits for the thread, which has been stopped and whose writes end.
    pub(crate) fn join(&self) {
        let thread = self.state.lock().thread.take();
        if let Some(thread) = thread {
            // It does nothing that could panic, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

impl State {
    fn after(&mut self, written: &io::Result<()>) {
        self.written = Instant::now();
        if let Err(error) = written {
            self.failed = Some(error.kind());
        }
    }
}

fn check(state: &State) -> io::Result<()> {
    state
        .failed
        .map_or(Ok(()), |kind| Err(io::Error::from(kind)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn pair() -> (Arc<Outbound>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Outbound::new(Arc::new(Stream::Unix(ours))), theirs)
    }

    #[test]
    fn who_puts_faster_than_the_other_side_reads_waits() {
        const PIECE: usize = 1_000;
        const PIECES: usize = 20_000;
        // What the system holds on its way is much less.
        const UNREAD: usize = 4 << 20;
        let (outbound, mut theirs) = pair();
        let sent = Arc::new(AtomicUsize::new(0));
        let putting = std::thread::spawn({
            let (outbound, sent) = (Arc::clone(&outbound), Arc::clone(&sent));
            move || {
                for number in 0..PIECES {
                    let piece = [u8::try_from(number % 251).unwrap(); PIECE];
                    let gathered = outbound.gather(|out| {
                        assert!(out.len() <= GATHER, "{} bytes are held", out.len());
                        out.extend_from_slice(&piece);
                    });
                    gathered.unwrap();
                    sent.fetch_add(PIECE, Ordering::SeqCst);
                }
                outbound.last_words();
                outbound.stream.shutdown(std::net::Shutdown::Both).unwrap();
                outbound.join();
            }
        });
        let mut read = 0;
        let mut piece = [0; PIECE];
        while theirs.read_exact(&mut piece).is_ok() {
            let unread = sent.load(Ordering::SeqCst).saturating_sub(read);
            assert!(unread < UNREAD, "{unread} bytes are under way");
            let expected = u8::try_from(read / PIECE % 251).unwrap();
            assert_eq!(piece, [expected; PIECE]);
            read += PIECE;
        }
        assert_eq!(read, PIECE * PIECES);
        putting.join().unwrap();
    }

    #[test]
    fn the_end_of_a_burst_is_written_by_the_thread() {
        let (outbound, mut theirs) = pair();
        for burst in 1..50_u8 {
            for _ in 0..burst {
                outbound.gather(|out| out.push(burst)).unwrap();
            }
            let mut read = vec![0; usize::from(burst)];
            theirs.read_exact(&mut read).unwrap();
            assert_eq!(read, vec![burst; usize::from(burst)]);
        }
        outbound.last_words();
        outbound.join();
    }

    #[test]
    fn a_failed_write_is_told_by_every_call_after_it() {
        let (outbound, theirs) = pair();
        drop(theirs);
        while outbound.gather(|out| out.push(1)).is_ok() {}
        let broken = |result: io::Result<()>| result.unwrap_err().kind();
        assert_eq!(broken(outbound.flush()), io::ErrorKind::BrokenPipe);
        let gathered = outbound.gather(|out| out.push(1));
        assert_eq!(broken(gathered), io::ErrorKind::BrokenPipe);
        outbound.last_words();
        outbound.join();
    }
}
