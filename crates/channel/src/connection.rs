//! The task of one socket: read, dispatch, run, write.
//!
//! Invariants: one read is dispatched whole before anything is written; what the conversations answer is written in one
//! go; the task sleeps only when no conversation is woken, nothing can be written and nothing read. Input is not read
//! while output or requests have piled up, so a peer's appetite is limited by its own pace.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use posthaste_engine::plant::{Bug, planted};
use posthaste_mqi::Reason;
use posthaste_net::{
    Accepted, Flush, Inbound, Outbound, Peer, Permit, ReadError, Stream, Timer, Traffic,
};
use posthaste_wire::identity::Authentication;
use posthaste_wire::server::{Incoming, ServerSocket};
use posthaste_wire::{Agreement, InitialData, Offer, PeerMisbehaved, Segment, Status};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::conversation::{Closing, Common, Connect, Conversation, Item, Load};
use crate::ending::End;
use crate::ready::{Alarm, Ready};
use crate::registry::{Admitted, Count, Registry};
use crate::timing::{Due, Now, Timing};

/// Requests that wait for their turn or run beyond which no more are read.
const MOST_REQUESTS: usize = 256;
/// Bytes that are read and thrown away while a socket is closed, so that the last words arrive.
const MOST_DISCARDED: usize = 1024 * 1024;

/// Who is at the other end of a socket.
pub struct Caller {
    /// Its address.
    pub peer: Peer,
    /// Its counters.
    pub traffic: Arc<Traffic>,
}

impl Registry {
    /// Serves an accepted connection until it ends: what [`posthaste_net::run`] wants.
    pub async fn serve(self: Arc<Self>, accepted: Accepted) {
        let Accepted {
            stream,
            peer,
            permit,
        } = accepted;
        let caller = Caller {
            peer,
            traffic: Arc::clone(permit.traffic()),
        };
        let connection = Connection::<Stream>::new(stream, caller, Some(permit), self);
        connection.serve().await;
    }
}

/// Serves one connection until it ends; every session on it has ended when this returns.
pub async fn serve<S>(stream: S, caller: Caller, registry: Arc<Registry>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    Connection::new(stream, caller, None, registry)
        .serve()
        .await;
}

struct Slot {
    /// The conversation's identifier until it has ended; then another may have it.
    id: Option<u32>,
    conversation: Arc<Conversation>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

/// Everything of a connection but the socket.
struct Core {
    caller: Caller,
    registry: Arc<Registry>,
    socket: ServerSocket,
    outbound: Arc<Outbound>,
    ready: Arc<Ready>,
    slots: Vec<Option<Slot>>,
    /// Woken conversations; the buffer of [`Ready::take`].
    woken: Vec<usize>,
    admitted: Option<Admitted>,
    /// The socket's place among all, which is lost to others until the first MQCONN has succeeded.
    place: Option<Permit>,
    established: bool,
    offer: Option<Offer>,
    common: Option<Arc<Common>>,
    quiescing: Option<Status>,
    timing: Timing,
    /// A conversation has run since the timers were looked at.
    ran: bool,
    /// Something was received since then.
    heard: bool,
    /// A password was received.
    secret: bool,
}

struct Connection<S> {
    stream: S,
    inbound: Inbound,
    flush: Flush,
    timer: Timer,
    core: Core,
}

impl Core {
    /// Every complete segment in `bytes`; gives how many bytes they were.
    fn segments(&mut self, bytes: &[u8]) -> Result<usize, End> {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or(&[]);
            let next = Segment::next(rest, self.socket.limit()).map_err(End::Misbehaved)?;
            let Some(segment) = next else { return Ok(used) };
            let socket = &mut self.socket;
            let event = self.outbound.append(|out| socket.receive(&segment, out));
            if let Some(event) = event.map_err(End::Misbehaved)? {
                self.event(event)?;
            }
            used += segment.length;
        }
    }

    fn event(&mut self, event: Incoming) -> Result<(), End> {
        match event {
            Incoming::Request {
                header,
                handle,
                request,
            } => self.give(
                header.scope.conversation(),
                Item::Request {
                    header,
                    handle,
                    request,
                },
            ),
            Incoming::Rejected {
                header,
                handle,
                reason,
                put_options,
            } => {
                let id = header.scope.conversation();
                self.tell_of_no_room(reason);
                let item = Item::Rejected {
                    header,
                    handle,
                    reason,
                    put_options,
                };
                self.give(id, item)
            }
            Incoming::RequestMsgs { header, request } => {
                let id = header.scope.conversation();
                self.give(id, Item::RequestMsgs { header, request })
            }
            Incoming::Notification {
                header,
                notification,
            } => {
                let id = header.scope.conversation();
                let item = Item::Notification {
                    header,
                    notification,
                };
                self.give(id, item)
            }
            Incoming::Proposed(id) => self.proposed(&id),
            Incoming::ConversationStarted { id } => {
                self.slot(id);
                Ok(())
            }
            Incoming::Userid { userid, .. } => {
                self.secret = true;
                if let Some(common) = &self.common {
                    *common.userid.lock() = Some(userid.name());
                }
                Ok(())
            }
            Incoming::Authentication { id, authentication } => {
                self.authenticate(id, &authentication);
                Ok(())
            }
            Incoming::ConversationEnded { id, close } => self.conversation_ended(id, close),
            Incoming::Closed => Err(End::Closed),
        }
    }

    /// Who the application says it is; its password goes no further.
    fn authenticate(&mut self, id: u32, authentication: &Authentication) {
        self.secret = true;
        if let Some(slot) = self.slot(id) {
            let user = String::from_utf8_lossy(&authentication.user);
            *slot.conversation.user.lock() = Some(user.into_owned());
        }
    }

    fn conversation_ended(&mut self, id: u32, close: bool) -> Result<(), End> {
        if let Some(slot) = self.slot(id) {
            slot.id = None;
            slot.conversation.close(Closing::Draining);
            slot.alarm.ring();
        }
        if close { Err(End::Closed) } else { Ok(()) }
    }

    /// A message was refused, perhaps because too many others have begun to come.
    fn tell_of_no_room(&self, reason: Reason) {
        if reason != Reason::STORAGE_NOT_AVAILABLE {
            return;
        }
        let channel = self.admitted.as_ref().map(|a| a.instance.channel.clone());
        let inserts = [
            channel.unwrap_or_default(),
            self.caller.peer.conname(),
            self.registry.budget().taken().to_string(),
        ];
        self.registry.operator().message("AMQ9211E", &inserts);
    }

    fn proposed(&mut self, id: &InitialData) -> Result<(), End> {
        if self.offer.is_none() {
            let channel = id.channel.text();
            let admitted = self.registry.admit(
                &channel,
                &self.caller.peer,
                &self.caller.traffic,
                &self.ready,
            );
            match admitted {
                Ok(admitted) => {
                    #[cfg(feature = "plant")]
                    let _ = admitted.instance.outbound.set(Arc::clone(&self.outbound));
                    self.offer = Some(self.registry.offer(&admitted.definition));
                    self.admitted = Some(admitted);
                }
                Err(status) => {
                    let socket = &mut self.socket;
                    self.outbound.append(|out| socket.refuse(status, out));
                    return Err(End::Refused);
                }
            }
        }
        let (Some(offer), socket) = (&self.offer, &mut self.socket) else {
            return Ok(());
        };
        let agreed = self
            .outbound
            .append(|out| socket.answer(offer, out))
            .map_err(End::Misbehaved)?;
        if let Some(agreement) = agreed {
            self.agreed(agreement);
        }
        Ok(())
    }

    fn agreed(&mut self, agreement: Agreement) {
        let Some(admitted) = &self.admitted else {
            return;
        };
        admitted.instance.agree(&agreement);
        self.timing
            .agreed(agreement.heartbeat_s, admitted.definition.disconnect_s);
        self.common = Some(Arc::new(Common {
            registry: Arc::clone(&self.registry),
            instance: Arc::clone(&admitted.instance),
            definition: admitted.definition.clone(),
            framing: agreement.framing(),
            agreement,
            outbound: Arc::clone(&self.outbound),
            userid: Mutex::new(None),
            load: Load::new(self.registry.budget()),
        }));
    }

    /// The slot of a conversation, made if it is new; `None` before anything is agreed.
    fn slot(&mut self, id: u32) -> Option<&mut Slot> {
        let found = self
            .slots
            .iter()
            .position(|slot| slot.as_ref().is_some_and(|s| s.id == Some(id)));
        let index = match found {
            Some(index) => index,
            None => {
                let common = Arc::clone(self.common.as_ref()?);
                let free = self.slots.iter().position(Option::is_none);
                let index = free.unwrap_or(self.slots.len());
                if index == self.slots.len() {
                    self.slots.push(None);
                }
                let conversation = Conversation::new(id, common);
                let alarm = Alarm::new(&self.ready, index);
                let slot = Slot {
                    id: Some(id),
                    future: Box::pin(Arc::clone(&conversation).run()),
                    conversation,
                    waker: Waker::from(Arc::clone(&alarm)),
                    alarm,
                };
                *self.slots.get_mut(index)? = Some(slot);
                index
            }
        };
        self.slots.get_mut(index)?.as_mut()
    }

    fn give(&mut self, id: u32, item: Item) -> Result<(), End> {
        self.registry.count(Count::Requests, 1);
        if let Some(slot) = self.slot(id) {
            slot.conversation.push(item).map_err(End::Misbehaved)?;
            slot.alarm.ring();
        }
        Ok(())
    }

    /// Lets every woken conversation run as far as it can.
    fn run_woken(&mut self) {
        let mut woken = std::mem::take(&mut self.woken);
        self.ready.take(&mut woken);
        self.ran |= !woken.is_empty();
        for index in woken.drain(..) {
            let Some(place) = self.slots.get_mut(index) else {
                continue;
            };
            let Some(slot) = place else { continue };
            slot.alarm.reset();
            let mut cx = Context::from_waker(&slot.waker);
            let over = slot.future.as_mut().poll(&mut cx).is_ready();
            match slot.conversation.take_connect() {
                Some(Connect::Succeeded) => {
                    self.socket.connected(slot.conversation.id);
                    self.established =
                        self.established || self.place.as_ref().is_none_or(Permit::establish);
                }
                Some(Connect::Failed) => self.socket.not_connected(slot.conversation.id),
                None => {}
            }
            if over {
                *place = None;
            }
        }
        self.woken = woken;
    }

    fn close_all(&mut self, closing: Closing) {
        for slot in self.slots.iter().flatten() {
            slot.conversation.close(closing);
            slot.alarm.ring();
        }
    }

    fn load(&self) -> Option<&Load> {
        self.common.as_ref().map(|common| &common.load)
    }

    fn running(&self) -> bool {
        self.load().is_some_and(|load| load.requests() > 0)
    }

    /// `waiting`: bytes of output that wait.
    fn may_read(&self, waiting: usize) -> bool {
        let limits = self.registry.limits();
        let room = self.load().is_none_or(|load| {
            let requests = match planted(Bug::WaitsStopReading) {
                true => load.requests(),
                false => load.at_work(),
            };
            requests < MOST_REQUESTS && load.cost() < limits.input && !load.is_held()
        });
        room && waiting <= limits.output
    }

    /// Obeys an operator who wants the instance to end.
    fn obey(&mut self) -> Option<End> {
        let request = self.admitted.as_ref()?.instance.end_request()?;
        if request.force {
            return Some(End::Stopped(request.status));
        }
        if self.quiescing.is_none() {
            self.quiescing = Some(request.status);
            self.close_all(Closing::Quiescing);
            self.run_woken();
        }
        (!self.running()).then_some(End::Stopped(request.status))
    }

    /// Whether the place was lost to somebody else, because nobody has connected in time.
    fn is_evicted(&self, cx: &mut Context<'_>) -> bool {
        let place = self.place.as_ref().filter(|_| !self.established);
        place.is_some_and(|place| place.poll_evicted(cx).is_ready())
    }

    fn now(&self) -> Now {
        let connected = |a: &Admitted| a.instance.connected.load(Ordering::Relaxed);
        let gets = self.load().is_some_and(|load| load.gets() > 0);
        let waiting = self.outbound.waiting();
        Now {
            time: self.registry.clock().monotonic(),
            connected: self.admitted.as_ref().is_some_and(connected),
            running: self.running(),
            listening: gets
                || self
                    .common
                    .as_ref()
                    .is_some_and(|common| common.framing.shared),
            reading: self.may_read(waiting),
            waiting: waiting > 0,
            unfinished: self.socket.is_busy(),
        }
    }
}

impl<S> Connection<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    fn new(
        stream: S,
        caller: Caller,
        place: Option<Permit>,
        registry: Arc<Registry>,
    ) -> Connection<S> {
        let limits = *registry.limits();
        let now = registry.clock().monotonic();
        let outbound = Outbound::new(limits.output);
        Connection {
            stream,
            inbound: Inbound::new(),
            flush: Flush::new(Arc::clone(&outbound)),
            timer: Timer::new(Arc::clone(registry.clock())),
            core: Core {
                caller,
                socket: ServerSocket::within(limits.unfinished, registry.budget()),
                registry,
                outbound,
                ready: Arc::new(Ready::default()),
                slots: Vec::new(),
                woken: Vec::new(),
                admitted: None,
                place,
                established: false,
                offer: None,
                common: None,
                quiescing: None,
                timing: Timing::new(now, limits.handshake, limits.stall),
                ran: false,
                heard: false,
                secret: false,
            },
        }
    }

    async fn serve(mut self) {
        let end = poll_fn(|cx| self.poll(cx)).await;
        self.finish(end).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.core.registry.count(Count::Wakes, 1);
        loop {
            self.core.ready.enter(cx.waker());
            if let Some(end) = self.turn(cx) {
                return Poll::Ready(end);
            }
            if self.core.ready.leave() {
                return Poll::Pending;
            }
        }
    }

    /// Everything that can be done now.
    fn turn(&mut self, cx: &mut Context<'_>) -> Option<End> {
        loop {
            self.core.run_woken();
            if let Err(end) = self.write(cx) {
                return Some(end);
            }
            if self.core.load().is_some_and(Load::is_overrun) {
                return Some(End::Misbehaved(PeerMisbehaved::TooManyRequestsAhead));
            }
            if let Some(end) = self.core.obey() {
                return Some(end);
            }
            if self.core.is_evicted(cx) {
                return Some(End::Silent);
            }
            // What a conversation or the drained output has woken meanwhile is found when the task wants to sleep.
            let more = match self.read(cx) {
                Ok(true) => Ok(true),
                Ok(false) => self.timers(cx),
                Err(end) => Err(end),
            };
            match more {
                Ok(true) => {}
                Ok(false) => return None,
                Err(end) => return Some(end),
            }
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        if self.core.outbound.waiting() == 0 && planted(Bug::WaitKeepsBuffer) {
            return Ok(());
        }
        let before = self.flush.progress();
        let writes = self.flush.writes();
        let result = self.flush.poll(&mut self.stream, cx);
        let written = self.flush.progress() - before;
        if written > 0 {
            self.core
                .registry
                .count(Count::Writes, self.flush.writes() - writes);
            self.core
                .caller
                .traffic
                .count_sent(usize::try_from(written).unwrap_or(usize::MAX));
        }
        match result {
            Poll::Ready(Err(error)) => Err(End::Lost(Some(error.kind()))),
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }

    /// Reads once; false if nothing has come or nothing is wanted.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        if !self.core.may_read(self.core.outbound.waiting()) {
            return Ok(false);
        }
        let core = &mut self.core;
        let read = self
            .inbound
            .poll_read(&mut self.stream, cx, |bytes| core.segments(bytes));
        if std::mem::take(&mut core.secret) {
            self.inbound.erase();
        }
        match read {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(0)) => Err(End::Lost(None)),
            Poll::Ready(Ok(received)) => {
                self.core.caller.traffic.count_received(received);
                self.core.heard = true;
                Ok(true)
            }
            Poll::Ready(Err(ReadError::Io(error))) => Err(End::Lost(Some(error))),
            Poll::Ready(Err(ReadError::Refused(end))) => Err(end),
        }
    }

    /// Does what is due, and arms the timer; true if something was done.
    fn timers(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        loop {
            let core = &mut self.core;
            let now = core.now();
            if std::mem::take(&mut core.heard) {
                core.timing.received(now.time);
            }
            if now.running || std::mem::take(&mut core.ran) {
                core.timing.called(now.time);
            }
            core.timing
                .written(now.time, self.flush.progress(), now.waiting);
            if !now.unfinished || !now.reading {
                core.timing.went_on(now.time);
            }
            let next = core.timing.next(&now);
            match next.filter(|(at, _)| *at <= now.time).map(|(_, due)| due) {
                Some(Due::Heartbeat) => {
                    let socket = &core.socket;
                    core.outbound.append(|out| socket.heartbeat(out));
                    core.timing.heartbeat_sent();
                    return Ok(true);
                }
                Some(Due::Handshake | Due::Silence) => return Err(End::Silent),
                Some(Due::Unfinished) if core.socket.stale() => return Err(End::Silent),
                Some(Due::Unfinished) => {
                    core.timing.went_on(now.time);
                    continue;
                }
                Some(Due::Idle) => return Err(End::Idle),
                Some(Due::Stall) => return Err(End::Stalled),
                None => {}
            }
            self.timer.set(next.map(|(at, _)| at));
            if self.timer.poll(cx).is_pending() {
                return Ok(false);
            }
        }
    }

    /// Ends the sessions, says good-bye and closes the socket.
    async fn finish(&mut self, end: End) {
        let core = &mut self.core;
        let (instance, channel) = match &core.admitted {
            Some(admitted) => (Some(&admitted.instance), admitted.instance.channel.as_str()),
            None => (None, ""),
        };
        let connected = instance.is_some_and(|i| i.connected.load(Ordering::Relaxed));
        // That an application of this machine ended is nobody's error: the system says so, and its work is backed out.
        if !(core.registry.is_local() && matches!(end, End::Lost(_))) {
            end.report(
                core.registry.operator(),
                channel,
                &core.caller.peer.conname(),
                connected,
            );
        }
        let gone = matches!(end, End::Lost(_) | End::Stalled);
        if gone {
            core.outbound.close();
        }
        core.close_all(if end.drains() {
            Closing::Draining
        } else {
            Closing::Dropping
        });
        poll_fn(|cx| self.core.poll_closing(cx)).await;
        if gone {
            return;
        }
        let core = &mut self.core;
        if let Some(status) = end.farewell() {
            let socket = &mut core.socket;
            core.outbound.append(|out| socket.end(status, out));
        }
        let farewell = core.registry.limits().farewell.as_nanos();
        let now = core.registry.clock().monotonic();
        self.timer.set(Some(
            now.saturating_add(u64::try_from(farewell).unwrap_or(u64::MAX)),
        ));
        poll_fn(|cx| match self.poll_farewell(cx) {
            Poll::Pending => self.timer.poll(cx),
            ready => ready,
        })
        .await;
    }

    /// Writes what is left, then reads until the peer closes too: closing a socket with unread input would make the
    /// kernel drop what was just written.
    fn poll_farewell(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.flush.poll(&mut self.stream, cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(_)) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
        if Pin::new(&mut self.stream).poll_shutdown(cx).is_pending() {
            return Poll::Pending;
        }
        let mut discarded = 0;
        while discarded < MOST_DISCARDED {
            let read = self
                .inbound
                .poll_read(&mut self.stream, cx, |bytes| Ok::<usize, End>(bytes.len()));
            match read {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(length)) => discarded += length,
            }
        }
        Poll::Ready(())
    }
}

impl Core {
    /// Ready when every session has ended.
    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.ready.enter(cx.waker());
            self.run_woken();
            if self.slots.iter().all(Option::is_none) {
                return Poll::Ready(());
            }
            if self.ready.leave() {
                return Poll::Pending;
            }
        }
    }
}
