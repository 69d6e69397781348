//! The client's end of a simulated connection: the client's protocol machine of `posthaste-wire`, and a task that
//! writes what it says and hands out what it hears.
//!
//! Invariants: on each conversation one reply is awaited at a time; when the connection is over everybody who waits is
//! told; the connection is closed then, so that the other side may go too.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use posthaste_env::{Clock, Nanos, Sleep};
use posthaste_env_sim::{PipeEnd, Shape, Side, Wire};
use posthaste_mqi::ByteOrder;
use posthaste_wire::client::{ClientOffer, ClientSocket, FromServer};
use posthaste_wire::stream::Notification;
use posthaste_wire::{Envelope, Outcome, Reply, Segment, Status};

use super::site::{Accepted, Site};
use super::streamed::Awaited;
use crate::workload::World;

/// How a connection came to its end, seen by the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The server did not want it.
    Refused(Status),
    /// The server said that it ends.
    Ended(Status),
    /// Without a word.
    Lost,
}

/// Opens once, for everybody.
#[derive(Default)]
pub(crate) struct Gate {
    open: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl Gate {
    pub(crate) fn open(&self) {
        self.open.set(true);
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        waiting.into_iter().for_each(Waker::wake);
    }

    async fn opened(&self) {
        poll_fn(|context| {
            if self.open.get() {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Ends with the future, or with `None` when the time is over.
pub(crate) async fn within<F: Future>(
    clock: &dyn Clock,
    nanos: Nanos,
    future: F,
) -> Option<F::Output> {
    let mut limit = clock.sleep_until(clock.monotonic() + nanos);
    let mut future = std::pin::pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => limit.as_mut().poll(context).map(|()| None),
    })
    .await
}

struct Inner {
    pipe: Option<PipeEnd>,
    socket: ClientSocket,
    out: Vec<u8>,
    /// How much of it is written.
    written: usize,
    input: Vec<u8>,
    agreed: bool,
    over: Option<Over>,
    /// Nothing is read any more.
    deaf: bool,
    statuses: BTreeMap<u32, Status>,
    replies: BTreeMap<u32, (Outcome, Reply)>,
    /// Messages that are awaited without a call.
    messages: BTreeMap<u32, Awaited>,
    /// Answers to notifications.
    notified: BTreeMap<u32, Notification>,
    /// Who waits, by conversation.
    waiting: Vec<(u32, Waker)>,
    /// Conversations for which something has come.
    ended: Vec<u32>,
    pump: Option<Waker>,
    /// Conversations that await a reply.
    awaited: usize,
    last_input: Nanos,
    asked: bool,
    /// Heartbeats of the server that it wanted an answer to, and answers to ours.
    heartbeats: u64,
    /// What the server did wrong.
    fault: Option<String>,
}

/// A client's connection, which its conversations share.
pub(crate) struct Line {
    inner: RefCell<Inner>,
    clock: Arc<dyn Clock>,
    /// Open when the server's task for this connection has ended.
    gone: Rc<Gate>,
    /// The server ends it, or has begun to.
    ending: Arc<AtomicBool>,
    shared: World,
    wire: Wire,
}

impl Line {
    /// Connects and proposes; a task of its own does the rest.
    pub(crate) fn open(site: &Rc<Site>, shape: Shape, offer: &ClientOffer) -> Rc<Line> {
        let Accepted {
            pipe,
            wire,
            gone,
            ending,
        } = site.accept(shape, offer.channel.text().as_ref());
        let mut out = Vec::new();
        let socket = ClientSocket::begin(offer, &mut out);
        let clock = site.clock.clone();
        let line = Rc::new(Line {
            inner: RefCell::new(Inner {
                pipe: Some(pipe),
                socket,
                out,
                written: 0,
                input: Vec::new(),
                agreed: false,
                over: None,
                deaf: false,
                statuses: BTreeMap::new(),
                replies: BTreeMap::new(),
                messages: BTreeMap::new(),
                notified: BTreeMap::new(),
                waiting: Vec::new(),
                ended: Vec::new(),
                pump: None,
                awaited: 0,
                last_input: clock.monotonic(),
                asked: false,
                heartbeats: 0,
                fault: None,
            }),
            clock,
            gone,
            ending,
            shared: Rc::clone(&site.shared),
            wire,
        });
        let pump = Rc::clone(&line);
        site.executor.spawn("line", async move { pump.run().await });
        line
    }

    async fn run(&self) {
        let mut sleep: Option<Sleep> = None;
        poll_fn(|context| self.poll(context, &mut sleep)).await;
    }

    fn poll(&self, context: &mut Context<'_>, sleep: &mut Option<Sleep>) -> Poll<()> {
        let mut inner = self.inner.borrow_mut();
        inner.pump = Some(context.waker().clone());
        let now = self.clock.monotonic();
        loop {
            inner.turn(context, now);
            let Some(at) = inner.next_look() else { break };
            *sleep = Some(self.clock.sleep_until(at));
            match sleep.as_mut().map(|sleep| sleep.as_mut().poll(context)) {
                Some(Poll::Ready(())) => inner.silent(),
                _ => break,
            }
        }
        if let Some(fault) = inner.fault.take() {
            self.shared.borrow_mut().stuck.get_or_insert(fault);
            inner.over.get_or_insert(Over::Lost);
        }
        let over = inner.over.is_some();
        let ended = std::mem::take(&mut inner.ended);
        let (waiting, others) = std::mem::take(&mut inner.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|(id, _)| over || ended.contains(id));
        inner.waiting = others;
        let pipe = if over { inner.pipe.take() } else { None };
        drop(inner);
        // Closing wakes the other side, and the wakers may be ours.
        drop(pipe);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
        if over { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Waits for something that concerns a conversation.
    async fn find<T>(&self, id: u32, mut look: impl FnMut(&mut Inner) -> Option<T>) -> T {
        poll_fn(|context| {
            let mut inner = self.inner.borrow_mut();
            match look(&mut inner) {
                Some(found) => Poll::Ready(found),
                None => {
                    inner.waiting.push((id, context.waker().clone()));
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Has the machine write something, which the task sends.
    pub(crate) fn send<T>(&self, write: impl FnOnce(&mut ClientSocket, &mut Vec<u8>) -> T) -> T {
        let mut inner = self.inner.borrow_mut();
        let Inner { socket, out, .. } = &mut *inner;
        let result = write(socket, out);
        let pump = inner.pump.take();
        drop(inner);
        pump.into_iter().for_each(Waker::wake);
        result
    }

    /// The server has agreed.
    pub(crate) async fn agreed(&self) -> Result<(), Over> {
        self.find(NOBODY, |inner| match inner.over {
            _ if inner.agreed => Some(Ok(())),
            over => over.map(Err),
        })
        .await
    }

    /// The first conversation.
    pub(crate) fn first(&self) -> u32 {
        self.inner.borrow().socket.first_conversation()
    }

    /// Begins one more conversation; `None` when there are as many as were agreed.
    pub(crate) async fn start(&self) -> Result<Option<u32>, Over> {
        let started = self.send(|socket, out| socket.start_conversation(out));
        let Some(id) = started else { return Ok(None) };
        self.find(id, |inner| match inner.statuses.remove(&id) {
            Some(Status::OK) => Some(Ok(Some(id))),
            Some(status) => Some(Err(Over::Refused(status))),
            None => inner.over.map(Err),
        })
        .await
    }

    /// Sends a request and waits for its reply.
    pub(crate) async fn call(
        &self,
        id: u32,
        request: impl FnOnce(&mut ClientSocket, &mut Vec<u8>),
    ) -> Result<(Outcome, Reply), Over> {
        if let Some(over) = self.over() {
            return Err(over);
        }
        self.send(request);
        self.awaits(id, |inner| inner.replies.remove(&id)).await
    }

    /// Awaits something of the server, and looks meanwhile whether that is there.
    async fn awaits<T>(
        &self,
        id: u32,
        mut look: impl FnMut(&mut Inner) -> Option<T>,
    ) -> Result<T, Over> {
        self.inner.borrow_mut().awaited += 1;
        let found = self
            .find(id, |inner| match look(inner) {
                Some(found) => Some(Ok(found)),
                None => inner.over.map(Err),
            })
            .await;
        self.inner.borrow_mut().awaited -= 1;
        found
    }

    /// Asks for a message and waits for it, or for why there is none.
    pub(crate) async fn message(
        &self,
        id: u32,
        awaited: Awaited,
        ask: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Awaited, Over> {
        if let Some(over) = self.over() {
            return Err(over);
        }
        self.inner.borrow_mut().messages.insert(id, awaited);
        self.send(|_, out| ask(out));
        self.awaits(id, |inner| {
            let whole = inner.messages.get(&id).is_some_and(|m| m.whole);
            whole.then(|| inner.messages.remove(&id)).flatten()
        })
        .await
    }

    /// Tells the server something, and waits for its answer.
    pub(crate) async fn notified(
        &self,
        id: u32,
        tell: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Notification, Over> {
        if let Some(over) = self.over() {
            return Err(over);
        }
        self.send(|_, out| tell(out));
        self.awaits(id, |inner| inner.notified.remove(&id)).await
    }

    /// Whether conversations share it.
    pub(crate) fn is_shared(&self) -> bool {
        let inner = self.inner.borrow();
        let agreement = inner.socket.agreement();
        agreement.is_some_and(|agreement| agreement.framing().shared)
    }

    /// How a conversation's segments are written.
    pub(crate) fn envelope(&self, order: ByteOrder, id: u32) -> Option<Envelope> {
        let inner = self.inner.borrow();
        let framing = inner.socket.agreement()?.framing();
        Some(Envelope::conversation(framing, order, id))
    }

    pub(crate) fn over(&self) -> Option<Over> {
        self.inner.borrow().over
    }

    /// Whose bytes ended where the connection was cut, if it was.
    pub(crate) fn cut(&self) -> Option<Side> {
        self.wire.cut()
    }

    /// Heartbeats that have come, asked for or not.
    pub(crate) fn heartbeats(&self) -> u64 {
        self.inner.borrow().heartbeats
    }

    /// From now on nothing is read.
    pub(crate) fn deafen(&self) {
        self.inner.borrow_mut().deaf = true;
    }

    /// Closes it, as a program does that ends.
    pub(crate) fn hang_up(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.over.get_or_insert(Over::Lost);
        let pump = inner.pump.take();
        drop(inner);
        pump.into_iter().for_each(Waker::wake);
    }

    /// Whether the server may have ended the sessions on it, although the client does not know yet.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Ends when the server has done with it.
    pub(crate) async fn server_gone(&self) {
        self.gone.opened().await;
    }
}

/// Stands for the connection itself.
const NOBODY: u32 = u32::MAX;
/// How long nothing is heard before it is asked, and then before the other side is given up.
const TIMEOUT: Nanos = 1_000_000_000;

impl Inner {
    /// Writes and reads what can be written and read.
    fn turn(&mut self, context: &mut Context<'_>, now: Nanos) {
        while self.over.is_none() {
            let before = self.standing();
            let exchanged = self.exchange(context, now);
            // What came before the end counts, a farewell above all.
            self.take_in();
            if exchanged.is_err() {
                self.over.get_or_insert(Over::Lost);
            }
            if before == self.standing() {
                return;
            }
        }
    }

    fn standing(&self) -> (usize, usize) {
        (self.out.len() - self.written, self.input.len())
    }

    fn exchange(&mut self, context: &mut Context<'_>, now: Nanos) -> std::io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        while self.written < self.out.len() {
            match pipe.poll_write(context, &self.out[self.written..]) {
                Poll::Ready(written) => self.written += written?,
                Poll::Pending => break,
            }
        }
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        let mut buffer = [0; 4096];
        while !self.deaf {
            match pipe.poll_read(context, &mut buffer) {
                Poll::Ready(Ok(0)) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Poll::Ready(read) => {
                    self.input.extend_from_slice(&buffer[..read?]);
                    (self.last_input, self.asked) = (now, false);
                }
                Poll::Pending => break,
            }
        }
        Ok(())
    }

    /// Takes the whole segments that have come.
    fn take_in(&mut self) {
        let (mut used, mut messages) = (0, Vec::new());
        loop {
            let rest = self.input.get(used..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let segment = match Segment::next(rest, self.socket.limit()) {
                Ok(None) => break,
                Ok(Some(segment)) => segment,
                Err(error) => {
                    self.fault = Some(format!("the server sent nonsense: {error}"));
                    break;
                }
            };
            used += segment.length;
            self.heartbeats +=
                u64::from(segment.header.kind == posthaste_wire::SegmentType::Heartbeat);
            match self.socket.receive(&segment, &mut self.out) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => {}
                Err(error) => self.fault = Some(format!("the server broke the protocol: {error}")),
            }
        }
        self.input.drain(..used);
        messages.into_iter().for_each(|message| self.hear(message));
    }

    /// When to look whether the server is there: as long as an answer is awaited.
    fn next_look(&self) -> Option<Nanos> {
        let wanted = self.over.is_none() && self.awaited > 0 && !self.deaf;
        let timeout = TIMEOUT * (1 + u64::from(self.asked));
        wanted.then(|| self.last_input + timeout)
    }

    /// Nothing was heard for so long.
    fn silent(&mut self) {
        if std::mem::replace(&mut self.asked, true) {
            self.over.get_or_insert(Over::Lost);
        } else {
            self.socket.heartbeat(&mut self.out);
        }
    }

    fn hear(&mut self, message: FromServer) {
        match message {
            FromServer::Agreed(_) => {
                self.agreed = true;
                self.ended.push(NOBODY);
            }
            FromServer::Refused(status) => self.over = Some(Over::Refused(status)),
            FromServer::Ended(status) => self.over = Some(Over::Ended(status)),
            FromServer::Conversation { id, status } => {
                self.statuses.insert(id, status);
                self.ended.push(id);
            }
            FromServer::Reply { id, outcome, reply } => {
                self.replies.insert(id, (outcome, reply));
                self.ended.push(id);
            }
            FromServer::Message { id, message, last } => {
                let taken = match self.messages.get_mut(&id) {
                    Some(awaited) => awaited.take(*message, last),
                    None => Err("the server sent a message that nobody asked for".to_owned()),
                };
                self.fault = taken.err().or(self.fault.take());
                self.ended.push(id);
            }
            FromServer::Notification { id, notification } => match notification.code {
                Notification::CONN_STATE_REPLY => {
                    self.notified.insert(id, notification);
                    self.ended.push(id);
                }
                // Nobody is given anything any more; a get hears it as its reason.
                Notification::Q_MGR_QUIESCING => {}
                code => self.fault = Some(format!("the server sent notification {code}")),
            },
        }
    }
}
