//! One connection on any stream and any clock: as on a lane, but driven by a future. So the same state machines run over
//! connections that break, delay and split at any byte, on a simulated clock.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, Timer, Turns};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::inbound::{Inbound, ReadBuffer};
use crate::protocol::{Next, Protocol};
use crate::wake::{ConnectionWakers, LaneWaker, Mailbox, Running};

/// Rings by waking the task that drives.
#[derive(Clone, Default)]
struct Task(Arc<Mutex<Option<Waker>>>);

impl Task {
    fn set(&self, waker: &Waker) {
        let mut task = self.0.lock();
        if !task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl LaneWaker for Task {
    fn ring(&self) {
        let task = self.0.lock().clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

struct Driven<S, P> {
    stream: S,
    clock: Arc<dyn Clock>,
    timer: Timer,
    task: Task,
    mailbox: Arc<Mailbox<()>>,
    inbound: Inbound,
    buffer: ReadBuffer,
    protocol: P,
    /// The peer has been told that no more comes.
    shut: bool,
}

/// Runs one connection of the protocol that `begin` makes until it is over.
pub async fn drive<S, P>(
    stream: S,
    clock: Arc<dyn Clock>,
    begin: impl FnOnce(ConnectionWakers, Nanos) -> P,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    P: Protocol,
{
    let task = Task::default();
    let mailbox = Arc::new(Mailbox::new(Box::new(task.clone())));
    let protocol = begin(ConnectionWakers::new(&mailbox, 0, 0), clock.monotonic());
    let mut driven = Driven {
        stream,
        timer: Timer::new(Arc::clone(&clock)),
        clock,
        task,
        mailbox,
        inbound: Inbound::default(),
        buffer: ReadBuffer::new(),
        protocol,
        shut: false,
    };
    std::future::poll_fn(|cx| driven.poll(cx)).await;
}

impl<S, P> Driven<S, P>
where
    S: AsyncRead + AsyncWrite + Unpin,
    P: Protocol,
{
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.task.set(cx.waker());
        let mailbox = Arc::clone(&self.mailbox);
        let running = Running::new(&mailbox);
        let turns = Turns::new();
        let (mut woken, mut none) = (Vec::new(), Vec::new());
        loop {
            mailbox.collect(&mut woken, &mut none);
            running.take(&mut woken);
            for token in woken.drain(..) {
                self.protocol.woken(token.which);
            }
            let turn = self.turn(cx);
            turns.end(true);
            match turn {
                Poll::Ready(true) => return Poll::Ready(()),
                Poll::Ready(false) => {}
                Poll::Pending if running.has_woken() => {}
                Poll::Pending if mailbox.sleep() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }

    /// One turn; ready when there is more to do (false) or it is over (true).
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let now = self.clock.monotonic();
        self.protocol.run(now);
        let written = self.write(cx);
        if let Err(error) = written {
            self.protocol.lost(Some(error));
        }
        let (read, at) = match self.protocol.next(now) {
            Next::Over => return Poll::Ready(true),
            Next::Again => return Poll::Ready(false),
            Next::Settle => return Poll::Pending,
            Next::Wait { read, at } => (read, at),
            Next::Close { at } => {
                if !self.shut && self.protocol.output().borrow().waiting() == 0 {
                    // Whom it does not reach finds the connection closed.
                    self.shut = Pin::new(&mut self.stream).poll_shutdown(cx).is_ready();
                }
                (self.shut, Some(at))
            }
        };
        if read && self.read(cx).is_ready() {
            return Poll::Ready(false);
        }
        self.timer.set(at);
        self.timer.poll(cx).map(|()| false)
    }

    /// Writes what waits, or as much of it as the peer takes.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), io::ErrorKind> {
        let mut output = self.protocol.output().borrow_mut();
        while output.waiting() > 0 {
            match Pin::new(&mut self.stream).poll_write(cx, output.unwritten()) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero),
                Poll::Ready(Ok(written)) => output.wrote(written),
                Poll::Ready(Err(error)) => return Err(error.kind()),
                Poll::Pending => break,
            }
        }
        Ok(())
    }

    /// Reads once; ready if something, or the end, has come.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut read = ReadBuf::new(&mut self.buffer.bytes);
        match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => self.protocol.lost(Some(error.kind())),
            Poll::Ready(Ok(())) => match read.filled().len() {
                0 => self.protocol.lost(None),
                length => {
                    self.inbound
                        .hand_to(&mut self.protocol, &mut self.buffer, length);
                }
            },
        }
        Poll::Ready(())
    }
}
