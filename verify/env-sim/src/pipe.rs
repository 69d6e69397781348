//! A connection of two ends: bytes go either way in pieces of any size, take their time, wait when nobody reads, and
//! stop after any byte.
//!
//! Invariants:
//! * Each end reads what the other wrote, in order, nothing twice and nothing left out, up to the byte after which
//!   the connection breaks, or to the writer's end.
//! * A writer is never ahead of its reader by more than the window.
//! * A break reaches both ends at the same moment: when the reader has had the last byte before it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, Sleep};

use crate::clock::SimClock;
use crate::rng::Rng;
use crate::trace::{Trace, digest};

/// Which end. The bytes of a direction are told by the end that writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Who connected.
    Client,
    /// Who accepted.
    Server,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

/// How a connection stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Both ends get an error; what was on its way is lost.
    Reset,
    /// Nothing arrives any more, in either direction, and nobody is told.
    Silence,
    /// The reader sees an orderly end and can still answer; the writer knows nothing.
    HalfClose,
}

/// A break at a byte.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Who writes the last byte that arrives.
    pub writer: Side,
    /// How many of its bytes arrive.
    pub after: u64,
    /// What happens then.
    pub how: Break,
}

/// What a connection is like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Nanoseconds that a piece is on its way, at least and at most.
    pub delay: (Nanos, Nanos),
    /// The longest piece in which bytes are taken or handed out; each has a drawn length up to this.
    pub piece: usize,
    /// Bytes on their way or unread, beyond which the writer waits.
    pub window: usize,
    /// Where it breaks by itself.
    pub cut: Option<Cut>,
}

enum Piece {
    Bytes(Vec<u8>),
    Break(Break),
}

/// One direction.
#[derive(Default)]
struct Lane {
    pieces: VecDeque<(Nanos, Piece)>,
    queued: usize,
    /// Bytes that were taken from the writer.
    written: u64,
    /// Bytes that were handed to the reader.
    read: u64,
    /// The latest arrival so far: pieces do not overtake each other.
    latest: Nanos,
    ended: bool,
    reader_gone: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

struct State {
    rng: Rng,
    shape: Shape,
    lanes: [Lane; 2],
    broken: Option<Break>,
    /// Whose bytes ended at a break of its shape.
    cut: Option<Side>,
}

impl State {
    /// The direction that this side writes.
    fn lane(&mut self, writer: Side) -> &mut Lane {
        &mut self.lanes[writer as usize]
    }

    fn wakers(&mut self) -> Vec<Waker> {
        let of = |lane: &mut Lane| [lane.reader.take(), lane.writer.take()];
        self.lanes.iter_mut().flat_map(of).flatten().collect()
    }

    fn arrival(&mut self, writer: Side, now: Nanos) -> Nanos {
        let (least, most) = self.shape.delay;
        let at = now.saturating_add(self.rng.between(least, most));
        let lane = self.lane(writer);
        lane.latest = lane.latest.max(at);
        lane.latest
    }

    /// How many of `length` bytes are taken now, and whether the connection breaks behind them.
    fn take(&mut self, writer: Side, length: usize) -> (usize, Option<Break>) {
        let room = self.shape.window.saturating_sub(self.lane(writer).queued);
        let most = length.min(room).min(self.shape.piece);
        let taken = self.rng.between(1, most.max(1) as u64) as usize;
        let taken = taken.min(most);
        let Some(cut) = self.shape.cut.filter(|cut| cut.writer == writer) else {
            return (taken, None);
        };
        let left = cut.after.saturating_sub(self.lane(writer).written);
        if (taken as u64) < left {
            return (taken, None);
        }
        self.shape.cut = None;
        (taken.min(left as usize), Some(cut.how))
    }
}

struct Shared {
    clock: SimClock,
    trace: Trace,
    state: Mutex<State>,
}

/// The connection seen from outside: to break it, and to count.
#[derive(Clone)]
pub struct Wire {
    shared: Arc<Shared>,
}

impl Wire {
    /// Breaks it, now.
    pub fn sever(&self, how: Break) {
        self.shared.sever(how);
    }

    /// Whether it is broken.
    pub fn is_broken(&self) -> bool {
        self.shared.state.lock().broken.is_some()
    }

    /// Whose last byte arrived before a break that its shape has; nothing before that.
    pub fn cut(&self) -> Option<Side> {
        self.shared.state.lock().cut
    }

    /// Bytes of this writer that its reader has had.
    pub fn read_of(&self, writer: Side) -> u64 {
        self.shared.state.lock().lane(writer).read
    }

    /// Bytes of this writer that are on their way or unread.
    pub fn queued_of(&self, writer: Side) -> usize {
        self.shared.state.lock().lane(writer).queued
    }
}

impl Shared {
    fn sever(&self, how: Break) {
        let wakers = {
            let mut state = self.state.lock();
            if state.broken.is_some() {
                return;
            }
            state.broken = Some(how);
            for lane in &mut state.lanes {
                lane.pieces.clear();
            }
            state.wakers()
        };
        self.trace
            .record("break", &[how as u64], || format!("{how:?}"));
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// One end. Dropped, it is closed: the other end reads the rest, then the end, and can write no more.
pub struct PipeEnd {
    shared: Arc<Shared>,
    side: Side,
    /// Until the next piece arrives.
    sleep: Option<Sleep>,
}

/// Where connections are made. Clones are the same one.
#[derive(Clone)]
pub struct SimNetwork {
    rng: Rc<RefCell<Rng>>,
    clock: SimClock,
    trace: Trace,
}

impl SimNetwork {
    pub(crate) fn new(rng: Rng, clock: SimClock, trace: Trace) -> SimNetwork {
        SimNetwork {
            rng: Rc::new(RefCell::new(rng)),
            clock,
            trace,
        }
    }

    /// A connection between two programs: the client's end, the server's, and how it looks from outside.
    pub fn connect(&self, shape: Shape) -> (PipeEnd, PipeEnd, Wire) {
        let rng = self.rng.borrow_mut().fork();
        pipe(shape, rng, self.clock.clone(), self.trace.clone())
    }
}

fn pipe(shape: Shape, rng: Rng, clock: SimClock, trace: Trace) -> (PipeEnd, PipeEnd, Wire) {
    let state = State {
        rng,
        shape,
        lanes: Default::default(),
        broken: None,
        cut: None,
    };
    let shared = Arc::new(Shared {
        clock,
        trace,
        state: Mutex::new(state),
    });
    let end = |side| PipeEnd {
        shared: Arc::clone(&shared),
        side,
        sleep: None,
    };
    let (client, server) = (end(Side::Client), end(Side::Server));
    (client, server, Wire { shared })
}

/// What the reader finds.
enum Found {
    Bytes(usize),
    End,
    Later(Option<Nanos>),
    /// The connection breaks here.
    Here(Break),
    Reset,
}

impl PipeEnd {
    /// Reads into `buffer`, which is not empty; 0 bytes are the end.
    pub fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.look(context, buffer) {
                Found::Bytes(length) => return Poll::Ready(Ok(length)),
                Found::End => return Poll::Ready(Ok(0)),
                Found::Later(None) => return Poll::Pending,
                Found::Later(Some(at)) => {
                    let sleep = self.sleep.insert(self.shared.clock.sleep_until(at));
                    if sleep.as_mut().poll(context).is_pending() {
                        return Poll::Pending;
                    }
                }
                Found::Here(Break::HalfClose) => self.half_closed(),
                Found::Here(how) => self.shared.sever(how),
                Found::Reset => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            }
        }
    }

    fn look(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Found {
        let now = self.shared.clock.monotonic();
        let mut state = self.shared.state.lock();
        match state.broken {
            Some(Break::Reset) => return Found::Reset,
            Some(_) => return Found::Later(None),
            None => {}
        }
        let most = state.shape.piece.min(buffer.len());
        let length = state.rng.between(1, most.max(1) as u64) as usize;
        let lane = state.lane(self.side.other());
        match lane.pieces.front_mut() {
            None if lane.ended => Found::End,
            None => {
                lane.reader = Some(context.waker().clone());
                Found::Later(None)
            }
            Some((at, _)) if *at > now => {
                let at = *at;
                lane.reader = Some(context.waker().clone());
                Found::Later(Some(at))
            }
            Some((_, Piece::Break(how))) => {
                let how = *how;
                state.cut = Some(self.side.other());
                Found::Here(how)
            }
            Some((_, Piece::Bytes(bytes))) => {
                let length = length.min(bytes.len());
                let rest = bytes.split_off(length);
                buffer[..length].copy_from_slice(bytes);
                *bytes = rest;
                if bytes.is_empty() {
                    lane.pieces.pop_front();
                }
                lane.read += length as u64;
                lane.queued -= length;
                let writer = lane.writer.take();
                drop(state);
                writer.into_iter().for_each(Waker::wake);
                let what = [self.side as u64, digest(&buffer[..length])];
                self.shared
                    .trace
                    .record("read", &what, || format!("{:?} {length}", self.side));
                Found::Bytes(length)
            }
        }
    }

    /// The other side's bytes end here, whatever it still writes.
    fn half_closed(&mut self) {
        let mut state = self.shared.state.lock();
        let lane = state.lane(self.side.other());
        lane.pieces.clear();
        lane.queued = 0;
        lane.ended = true;
        let writer = lane.writer.take();
        drop(state);
        writer.into_iter().for_each(Waker::wake);
    }

    /// Writes some of `bytes`, which are not empty.
    pub fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let now = self.shared.clock.monotonic();
        let mut state = self.shared.state.lock();
        if state.broken == Some(Break::Reset) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let window = state.shape.window;
        let silent = state.broken.is_some();
        let lane = state.lane(self.side);
        if lane.reader_gone && !silent {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if lane.queued >= window {
            lane.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let (taken, stop) = state.take(self.side, bytes.len());
        let at = state.arrival(self.side, now);
        let lane = state.lane(self.side);
        // Behind a half-close they are lost on their way; in a silence they wait for ever.
        let lost = lane.ended;
        if !lost {
            lane.queued += taken;
        }
        if !lost && !silent && taken > 0 {
            let piece = Piece::Bytes(bytes[..taken].to_vec());
            lane.pieces.push_back((at, piece));
        }
        lane.written += taken as u64;
        if let Some(how) = stop {
            lane.pieces.push_back((at, Piece::Break(how)));
        }
        let reader = lane.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        // A writer is told that all was taken: what comes behind the break is lost on its way.
        Poll::Ready(Ok(if stop.is_some() { bytes.len() } else { taken }))
    }

    /// Writes no more; ready at once.
    pub fn shut_down(&mut self) {
        let mut state = self.shared.state.lock();
        let lane = state.lane(self.side);
        lane.ended = true;
        let reader = lane.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// The connection seen from outside.
    pub fn wire(&self) -> Wire {
        Wire {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Drop for PipeEnd {
    fn drop(&mut self) {
        self.shut_down();
        let mut state = self.shared.state.lock();
        let lane = state.lane(self.side.other());
        lane.reader_gone = true;
        lane.pieces.clear();
        let writer = lane.writer.take();
        drop(state);
        writer.into_iter().for_each(Waker::wake);
    }
}
