//! Writing: one buffer per connection that anyone may append to, written in order and once per batch.
//!
//! Invariants: bytes leave in the order in which they were appended; only the connection's own task writes; no lock is
//! held during a system call. Appending never waits: whoever produces output asks [`Outbound::is_full`] (or waits for
//! [`Outbound::poll_room`]) first, so that a peer that does not read is held at the limit plus one unit per producer.
//! A connection without output keeps no buffer.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::io::AsyncWrite;

/// Largest buffer that is kept for the next batch.
const KEEP: usize = 64 * 1024;
/// Spare buffers per thread.
const SPARES: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

fn spare() -> Vec<u8> {
    SPARE
        .with(|spare| spare.borrow_mut().pop())
        .unwrap_or_default()
}

fn give_back(mut buffer: Vec<u8>) {
    buffer.clear();
    if buffer.capacity() == 0 || buffer.capacity() > KEEP {
        return;
    }
    SPARE.with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < SPARES {
            spare.push(buffer);
        }
    });
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    /// Bytes handed to the writer and not written yet.
    writing: usize,
    closed: bool,
    task: Option<Waker>,
    room: Vec<Waker>,
}

/// A connection's output.
pub struct Outbound {
    limit: usize,
    pending: Mutex<Pending>,
}

impl Outbound {
    /// `limit`: bytes waiting for the peer beyond which producers are held.
    pub fn new(limit: usize) -> Arc<Outbound> {
        Arc::new(Outbound {
            limit,
            pending: Mutex::default(),
        })
    }

    /// Appends, from within the connection's own task, which writes at the end of its batch.
    pub fn append<R>(&self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let mut pending = self.pending.lock();
        if pending.bytes.capacity() == 0 {
            pending.bytes = spare();
        }
        if pending.closed {
            return write(&mut Vec::new());
        }
        write(&mut pending.bytes)
    }

    /// Appends from anywhere; the connection's task is woken to write.
    pub fn append_from_outside<R>(&self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let result = self.append(write);
        let task = self.pending.lock().task.clone();
        if let Some(task) = task {
            task.wake();
        }
        result
    }

    /// Bytes that wait for the peer.
    pub fn waiting(&self) -> usize {
        let pending = self.pending.lock();
        pending.bytes.len() + pending.writing
    }

    /// Bytes of memory that it keeps for output.
    pub fn kept(&self) -> usize {
        self.pending.lock().bytes.capacity()
    }

    /// Whether producers are to hold.
    pub fn is_full(&self) -> bool {
        self.waiting() > self.limit
    }

    /// Ready when producers may go on.
    pub fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut pending = self.pending.lock();
        if pending.closed || pending.bytes.len() + pending.writing <= self.limit {
            return Poll::Ready(());
        }
        if !pending.room.iter().any(|waker| waker.will_wake(cx.waker())) {
            pending.room.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Nothing more will be written: what is appended from now on is dropped, and nobody is held.
    pub fn close(&self) {
        let mut pending = self.pending.lock();
        pending.closed = true;
        pending.bytes = Vec::new();
        pending.writing = 0;
        let room = std::mem::take(&mut pending.room);
        drop(pending);
        room.into_iter().for_each(Waker::wake);
    }
}

/// The writing side of a connection; it belongs to the connection's task.
pub struct Flush {
    outbound: Arc<Outbound>,
    bytes: Vec<u8>,
    at: usize,
    progress: u64,
    writes: u64,
}

impl Flush {
    /// Writes what is appended to `outbound`.
    pub fn new(outbound: Arc<Outbound>) -> Flush {
        Flush {
            outbound,
            bytes: Vec::new(),
            at: 0,
            progress: 0,
            writes: 0,
        }
    }

    /// The buffer it writes.
    pub fn outbound(&self) -> &Arc<Outbound> {
        &self.outbound
    }

    /// Bytes written since the start.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// Writes that took something since the start.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Writes until nothing waits (ready) or the peer takes no more (pending).
    pub fn poll<S>(&mut self, stream: &mut S, cx: &mut Context<'_>) -> Poll<io::Result<()>>
    where
        S: AsyncWrite + Unpin,
    {
        loop {
            if self.at == self.bytes.len() && !self.next_batch(cx) {
                return Poll::Ready(Ok(()));
            }
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            match Pin::new(&mut *stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(written)) => self.advance(written),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn advance(&mut self, written: usize) {
        self.at += written;
        self.progress += written as u64;
        self.writes += 1;
        let mut pending = self.outbound.pending.lock();
        pending.writing = pending.writing.saturating_sub(written);
        if pending.room.is_empty() || pending.bytes.len() + pending.writing > self.outbound.limit {
            return;
        }
        let room = std::mem::take(&mut pending.room);
        drop(pending);
        room.into_iter().for_each(Waker::wake);
    }

    /// Takes over what has been appended; false if that is nothing.
    fn next_batch(&mut self, cx: &mut Context<'_>) -> bool {
        give_back(std::mem::take(&mut self.bytes));
        self.at = 0;
        let mut pending = self.outbound.pending.lock();
        if !pending
            .task
            .as_ref()
            .is_some_and(|task| task.will_wake(cx.waker()))
        {
            pending.task = Some(cx.waker().clone());
        }
        if pending.bytes.is_empty() {
            // Whoever appended nothing has taken a buffer all the same; it may be a large one.
            give_back(std::mem::take(&mut pending.bytes));
            return false;
        }
        self.bytes = std::mem::take(&mut pending.bytes);
        pending.writing = self.bytes.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn order_is_kept_and_a_slow_reader_holds_producers_only() {
        let (mut near, mut far) = tokio::io::duplex(16);
        let outbound = Outbound::new(20);
        let mut flush = Flush::new(Arc::clone(&outbound));
        let expected: Vec<u8> = (0..60).collect();
        for chunk in expected.chunks(10) {
            outbound.append(|out| out.extend_from_slice(chunk));
        }
        assert!(outbound.is_full());
        let blocked = poll_fn(|cx| Poll::Ready(flush.poll(&mut near, cx).is_pending())).await;
        assert!(blocked, "the pipe takes 16 bytes");
        assert!(poll_fn(|cx| Poll::Ready(outbound.poll_room(cx).is_pending())).await);
        let mut got = vec![0; 60];
        let room = poll_fn(|cx| outbound.poll_room(cx));
        let write = poll_fn(|cx| flush.poll(&mut near, cx));
        let (_, written, _) = tokio::join!(room, write, async {
            far.read_exact(&mut got).await.unwrap()
        });
        written.unwrap();
        assert_eq!(got, expected);
        assert_eq!(flush.progress(), 60);
        assert_eq!(outbound.waiting(), 0);
    }

    #[tokio::test]
    async fn append_from_outside_wakes_the_task() {
        let (mut near, mut far) = tokio::io::duplex(64);
        let outbound = Outbound::new(20);
        let mut flush = Flush::new(Arc::clone(&outbound));
        let task = tokio::spawn(async move {
            poll_fn(|cx| {
                let result = flush.poll(&mut near, cx);
                if flush.progress() == 5 {
                    result.map(|_| ())
                } else {
                    Poll::Pending
                }
            })
            .await;
        });
        tokio::task::yield_now().await;
        outbound.append_from_outside(|out| out.extend_from_slice(b"hello"));
        let mut got = [0; 5];
        far.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"hello");
        task.await.unwrap();
    }

    #[tokio::test]
    async fn without_output_no_buffer_is_kept() {
        let (mut near, mut far) = tokio::io::duplex(100_000);
        let outbound = Outbound::new(20);
        let mut flush = Flush::new(Arc::clone(&outbound));
        outbound.append(|out| out.resize(40_000, 7));
        poll_fn(|cx| flush.poll(&mut near, cx)).await.unwrap();
        assert_eq!(outbound.kept(), 0);
        // The buffer of that answer is the spare one that the next request finds.
        outbound.append(|_| ());
        assert!(outbound.kept() >= 40_000);
        poll_fn(|cx| flush.poll(&mut near, cx)).await.unwrap();
        assert_eq!(outbound.kept(), 0, "that request was not answered yet");
        far.read_exact(&mut vec![0; 40_000]).await.unwrap();
    }

    #[tokio::test]
    async fn closing_releases_producers_and_drops_output() {
        let outbound = Outbound::new(0);
        outbound.append(|out| out.push(1));
        assert!(poll_fn(|cx| Poll::Ready(outbound.poll_room(cx).is_pending())).await);
        outbound.close();
        poll_fn(|cx| outbound.poll_room(cx)).await;
        outbound.append(|out| out.push(1));
        assert_eq!(outbound.waiting(), 0);
    }
}
