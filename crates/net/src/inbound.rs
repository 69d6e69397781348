//! Reading: one large read into a buffer that belongs to the thread, everything complete handled where it lies.
//!
//! Invariant: a connection itself keeps only the beginning of a unit whose end has not come, so an idle connection
//! keeps nothing, and what a busy one keeps is limited by the longest unit its protocol allows.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Bytes of one read.
const READ: usize = 128 * 1024;
/// Capacity that a remainder may keep however short it is.
const KEEP: usize = 4 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Why reading ended.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError<E> {
    /// The socket failed.
    #[error("the connection failed: {0}")]
    Io(io::ErrorKind),
    /// Whoever handles the bytes does not want them.
    #[error("{0}")]
    Refused(E),
}

/// The reading side of a connection.
#[derive(Debug, Default)]
pub struct Inbound {
    remainder: Vec<u8>,
}

impl Inbound {
    /// Nothing read yet.
    pub fn new() -> Inbound {
        Inbound::default()
    }

    /// Bytes of memory that are kept for a unit whose end has not come.
    pub fn kept(&self) -> usize {
        self.remainder.capacity()
    }

    /// Reads once and hands everything that has not been used to `handle`, which says how much of it it has used.
    /// Ready with the number of bytes read, 0 at the end of the stream.
    pub fn poll_read<S, E>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
        handle: impl FnOnce(&[u8]) -> Result<usize, E>,
    ) -> Poll<Result<usize, ReadError<E>>>
    where
        S: AsyncRead + Unpin,
    {
        BUFFER.with(|buffer| {
            let Ok(mut buffer) = buffer.try_borrow_mut() else {
                // A handler that reads another connection on this thread would be a bug; it gets a buffer of its own.
                return self.read_into(&mut vec![0; READ], stream, cx, handle);
            };
            if buffer.is_empty() {
                buffer.resize(READ, 0);
            }
            self.read_into(&mut buffer, stream, cx, handle)
        })
    }

    fn read_into<S, E>(
        &mut self,
        buffer: &mut [u8],
        stream: &mut S,
        cx: &mut Context<'_>,
        handle: impl FnOnce(&[u8]) -> Result<usize, E>,
    ) -> Poll<Result<usize, ReadError<E>>>
    where
        S: AsyncRead + Unpin,
    {
        let mut read = ReadBuf::new(buffer);
        if let Err(error) = ready!(Pin::new(stream).poll_read(cx, &mut read)) {
            return Poll::Ready(Err(ReadError::Io(error.kind())));
        }
        let new = read.filled();
        if new.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let result = if self.remainder.is_empty() {
            handle(new).map(|used| {
                self.remainder
                    .extend_from_slice(new.get(used..).unwrap_or(&[]))
            })
        } else {
            self.remainder.extend_from_slice(new);
            handle(&self.remainder).map(|used| {
                self.remainder.drain(..used.min(self.remainder.len()));
            })
        };
        // A read may have brought much more than the beginning of a unit that is left of it.
        if self.remainder.capacity() > KEEP.max(2 * self.remainder.len()) {
            self.remainder.shrink_to_fit();
        }
        Poll::Ready(result.map(|()| new.len()).map_err(ReadError::Refused))
    }

    /// Overwrites what the last read has left in this thread's buffer, because a secret was in it.
    pub fn erase(&mut self) {
        BUFFER.with(|buffer| {
            if let Ok(mut buffer) = buffer.try_borrow_mut() {
                buffer.fill(0);
            }
        });
        let kept = self.remainder.len();
        self.remainder.resize(self.remainder.capacity(), 0);
        self.remainder.truncate(kept);
    }

    /// Hands what was kept to `handle` again, for a reader that had stopped in the middle.
    pub fn resume<E>(&mut self, handle: impl FnOnce(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        if !self.remainder.is_empty() {
            let used = handle(&self.remainder)?;
            self.remainder.drain(..used.min(self.remainder.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::AsyncWriteExt;

    /// Units of four bytes.
    fn fours(seen: &mut Vec<Vec<u8>>) -> impl FnOnce(&[u8]) -> Result<usize, ()> + '_ {
        |bytes| {
            let chunks = bytes.chunks_exact(4);
            let used = bytes.len() - chunks.remainder().len();
            seen.extend(chunks.map(<[u8]>::to_vec));
            Ok(used)
        }
    }

    #[tokio::test]
    async fn the_rest_of_a_large_read_takes_no_more_room_than_it_needs() {
        let (mut near, mut far) = tokio::io::duplex(1 << 20);
        let mut inbound = Inbound::new();
        let mut seen = Vec::new();
        for part in [&[1; 3][..], &[1; 100_000]] {
            far.write_all(part).await.unwrap();
            poll_fn(|cx| inbound.poll_read(&mut near, cx, fours(&mut seen)))
                .await
                .unwrap();
        }
        assert_eq!(seen.len(), 100_003 / 4);
        assert!(inbound.kept() <= KEEP, "{}", inbound.kept());
    }

    #[tokio::test]
    async fn what_was_secret_can_be_erased() {
        let (mut near, mut far) = tokio::io::duplex(64);
        let mut inbound = Inbound::new();
        let mut seen = Vec::new();
        for part in [&b"ab"[..], b"cdgeheim"] {
            far.write_all(part).await.unwrap();
            poll_fn(|cx| inbound.poll_read(&mut near, cx, fours(&mut seen)))
                .await
                .unwrap();
        }
        let trace = || {
            let has = |bytes: &[u8]| bytes.windows(4).any(|window| window == b"gehe");
            BUFFER.with(|buffer| has(&buffer.borrow()))
        };
        assert!(trace(), "it is there until it is erased");
        inbound.erase();
        assert!(!trace());
        assert_eq!(inbound.remainder, b"im", "what is not handled yet stays");
    }

    #[tokio::test]
    async fn units_across_reads_are_put_together_and_nothing_is_kept_after() {
        let (mut near, mut far) = tokio::io::duplex(64);
        let mut inbound = Inbound::new();
        let mut seen = Vec::new();
        for part in [&b"abcdef"[..], b"g", b"hij", b"kl"] {
            far.write_all(part).await.unwrap();
            poll_fn(|cx| inbound.poll_read(&mut near, cx, fours(&mut seen)))
                .await
                .unwrap();
        }
        assert_eq!(seen, [b"abcd", b"efgh", b"ijkl"]);
        assert!(inbound.kept() <= KEEP);
        drop(far);
        let end = poll_fn(|cx| inbound.poll_read(&mut near, cx, fours(&mut seen))).await;
        assert_eq!(end, Ok(0));
    }

    #[tokio::test]
    async fn a_refusal_is_passed_on() {
        let (mut near, mut far) = tokio::io::duplex(64);
        far.write_all(b"x").await.unwrap();
        let mut inbound = Inbound::new();
        let result = poll_fn(|cx| inbound.poll_read(&mut near, cx, |_| Err("no"))).await;
        assert_eq!(result, Err(ReadError::Refused("no")));
    }
}
