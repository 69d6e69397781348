//! A connection as a state machine: bytes in; conversations, bytes and deadlines out.
//!
//! Invariants: what one read has brought is dispatched whole before anything is written; what the conversations answer
//! is written in one go. Input is not wanted while output or requests have piled up, so a peer's appetite is limited by
//! its own pace. All of it belongs to one thread: the lane's, or that of whoever drives it ([`posthaste_net::Protocol`]).

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use posthaste_authentication::Loopback;
use posthaste_engine::plant::{Bug, planted};
use posthaste_engine::{AuditEvent, AuditKind};
use posthaste_env::Nanos;
use posthaste_mqi::Reason;
use posthaste_net::{
    Accepted, ConnectionWakers, Lanes, Next, Output, Permit, Protocol, Received, Secured,
};
use posthaste_tls::{Agreed, Broken, Failure};
use posthaste_wire::identity::Authentication;
use posthaste_wire::server::{Incoming, ServerSocket};
use posthaste_wire::{Agreement, InitialData, Offer, PeerMisbehaved, Segment, Status};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::chlauth;
use crate::conversation::{Closing, Common, Connect, Item, Load};
use crate::ending::End;
use crate::identity::{Identity, of_csp};
use crate::outgoing::Share;
use crate::registry::{Admitted, Caller, Count, Definition, Registry, of_partner};
use crate::security;
use crate::timing::{Due, Now, Timing, nanos};
use crate::worker::{Step, Worker};

/// Requests that wait for their turn or run beyond which no more are read.
const MOST_REQUESTS: usize = 256;
/// The part of a connection that is not a conversation: who wakes it wants the connection to look around.
const CONNECTION: u32 = u32::MAX;

impl Registry {
    /// Has a lane serve an accepted connection until it ends.
    pub fn serve(self: &Arc<Self>, accepted: Accepted, lanes: &Lanes) {
        let Accepted {
            stream,
            peer,
            permit,
        } = accepted;
        let host = peer.host();
        if host.is_some_and(|host| !chlauth::address(self.queue_manager(), self.operator(), host)) {
            return;
        }
        let registry = Arc::clone(self);
        let user = stream.peer_user();
        let loopback = stream.loopback();
        let loopback = loopback.map(|(peer, here, inode)| Loopback { peer, here, inode });
        let begin = move |wakers: ConnectionWakers, now: Nanos| -> Box<dyn Protocol> {
            let traffic = Arc::clone(permit.traffic());
            let caller = Caller {
                peer,
                user,
                loopback,
                traffic,
            };
            let security = registry.security().map(Arc::clone);
            let tls_wakers = wakers.clone();
            let connection = Connection::new(caller, Some(permit), registry, wakers, now);
            match security {
                Some(security) => {
                    let handshakes = security.handshakes();
                    Box::new(Secured::new(connection, handshakes, &tls_wakers))
                }
                None => Box::new(connection),
            }
        };
        lanes.serve(stream, Box::new(begin));
    }
}

/// Serves one connection until it ends; every session on it has ended when this returns.
pub async fn serve<S>(stream: S, caller: Caller, registry: Arc<Registry>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let clock = Arc::clone(registry.clock());
    posthaste_net::drive(stream, clock, |wakers, now| {
        Connection::new(caller, None, registry, wakers, now)
    })
    .await;
}

struct Slot {
    /// The conversation's identifier until it has ended; then another may have it.
    id: Option<u32>,
    worker: Worker,
    /// It is in the list of the woken.
    rung: bool,
}

/// What is known of a channel while it is agreed on: an idle connection keeps nothing of it.
struct Offered {
    offer: Offer,
    definition: Definition,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Serving,
    /// Its sessions end.
    Ending(End),
    /// Its sessions have ended; its last words are written, and what comes is thrown away until the peer closes too:
    /// closing a socket with unread input would make the kernel drop what was just written.
    Farewell {
        until: Nanos,
    },
    Over,
}

/// One connection of a server-connection channel.
pub(crate) struct Connection {
    caller: Caller,
    registry: Arc<Registry>,
    socket: ServerSocket,
    output: Rc<RefCell<Output>>,
    wakers: ConnectionWakers,
    /// Wakes the connection itself.
    nudge: Waker,
    slots: Vec<Option<Slot>>,
    /// Conversations that can go on.
    woken: Vec<usize>,
    /// Those that go on when the peer has read more.
    held: Vec<usize>,
    stage: Stage,
    /// How it is to end, when what has come was dispatched.
    end: Option<End>,
    admitted: Option<Admitted>,
    /// What was agreed on, if TLS is around the connection.
    tls: Option<Box<Agreed>>,
    /// The socket's place among all, which is lost to others until the first MQCONN has succeeded.
    place: Option<Permit>,
    established: bool,
    /// Until there is an agreement.
    offered: Option<Box<Offered>>,
    common: Option<Rc<Common>>,
    quiescing: Option<Status>,
    timing: Timing,
    /// A conversation has run since the timers were looked at.
    ran: bool,
    /// Something was received since then.
    input_seen: bool,
    /// A password was received.
    secret: bool,
    /// Bytes and writes that are counted.
    counted: (u64, u64),
}

impl Connection {
    /// Every complete segment in `bytes`; gives how many bytes they were.
    fn segments(&mut self, bytes: &[u8]) -> Result<usize, End> {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or(&[]);
            if rest.is_empty() {
                return Ok(used);
            }
            let next = Segment::next(rest, self.socket.limit_of(rest)).map_err(End::Misbehaved)?;
            let Some(segment) = next else { return Ok(used) };
            // Only what is no verb is answered here: for most nothing is, and no output is begun.
            let mut answer = Vec::new();
            let event = self.socket.receive(&segment, &mut answer);
            if !answer.is_empty() {
                let append = |out: &mut Vec<u8>| out.append(&mut answer);
                self.output.borrow_mut().append(append);
            }
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
                    common.identity.say(&userid);
                }
                Ok(())
            }
            Incoming::Authentication { id, authentication } => {
                self.authenticate(id, authentication);
                Ok(())
            }
            Incoming::ConversationEnded { id, close } => self.conversation_ended(id, close),
            Incoming::Closed => Err(End::Closed),
        }
    }

    /// Who the application says it is, for its next MQCONN.
    fn authenticate(&mut self, id: u32, authentication: Authentication) {
        self.secret = true;
        if let Some(slot) = self.slot(id).and_then(|index| self.at(index)) {
            let credentials = Box::new(of_csp(authentication));
            let conversation = &slot.worker.conversation;
            conversation.credentials.replace(Some(credentials));
        }
    }

    fn conversation_ended(&mut self, id: u32, close: bool) -> Result<(), End> {
        if let Some(index) = self.slot(id) {
            if let Some(slot) = self.at(index) {
                slot.id = None;
                slot.worker.conversation.close(Closing::Draining);
            }
            self.ring(index);
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
        if self.admitted.is_none() {
            let channel = id.channel.text();
            let admitted = self.registry.admit(
                &channel,
                &self.caller,
                self.tls.as_deref(),
                self.nudge.clone(),
            );
            match admitted {
                Ok((admitted, definition)) => {
                    let offer = self.registry.offer(&definition);
                    self.offered = Some(Box::new(Offered { offer, definition }));
                    self.admitted = Some(admitted);
                }
                Err(status) => {
                    let socket = &mut self.socket;
                    self.output
                        .borrow_mut()
                        .append(|out| socket.refuse(status, out));
                    return Err(End::Refused);
                }
            }
        }
        let Some(offered) = self.offered.take() else {
            return Ok(());
        };
        let socket = &mut self.socket;
        let agreed = self
            .output
            .borrow_mut()
            .append(|out| socket.answer(&offered.offer, out))
            .map_err(End::Misbehaved)?;
        match agreed {
            Some(agreement) => self.agreed(&agreement, offered.definition),
            None => self.offered = Some(offered),
        }
        Ok(())
    }

    fn agreed(&mut self, agreement: &Agreement, definition: Definition) {
        let Some(admitted) = &self.admitted else {
            return;
        };
        admitted.instance.agree(agreement);
        self.timing
            .agreed(agreement.heartbeat_s, definition.disconnect_s);
        let identity = Identity::new(self.caller.user, self.caller.loopback);
        if let Some(connauth) = self.registry.connauth() {
            identity.expect(connauth);
        }
        self.common = Some(Rc::new(Common {
            registry: Arc::clone(&self.registry),
            instance: Arc::clone(&admitted.instance),
            user: definition.user,
            framing: agreement.framing(),
            max_message: agreement.max_message,
            surrogates: agreement.reads_surrogates(),
            process: (agreement.process_id, agreement.thread_id),
            output: Rc::clone(&self.output),
            identity,
            load: Load::new(self.registry.budget()),
            share: Share::new(self.registry.outgoing()),
        }));
    }

    /// The number of a conversation's slot, made if it is new; `None` before anything is agreed.
    fn slot(&mut self, id: u32) -> Option<usize> {
        let of_this = |slot: &Option<Slot>| slot.as_ref().is_some_and(|s| s.id == Some(id));
        if let Some(index) = self.slots.iter().position(of_this) {
            return Some(index);
        }
        let common = self.common.as_ref()?;
        let free = self.slots.iter().position(Option::is_none);
        let index = free.unwrap_or(self.slots.len());
        let which = u32::try_from(index).ok()?;
        let slot = Slot {
            id: Some(id),
            worker: Worker::new(id, common, self.wakers.waker(which)),
            rung: false,
        };
        match self.slots.get_mut(index) {
            Some(place) => *place = Some(slot),
            None => {
                // Most have one conversation.
                self.slots.reserve_exact(usize::from(self.slots.is_empty()));
                self.slots.push(Some(slot));
            }
        }
        Some(index)
    }

    fn at(&mut self, index: usize) -> Option<&mut Slot> {
        self.slots.get_mut(index)?.as_mut()
    }

    /// Has a conversation go on.
    fn ring(&mut self, index: usize) {
        if let Some(slot) = self.at(index)
            && !std::mem::replace(&mut slot.rung, true)
        {
            self.woken.push(index);
        }
    }

    fn give(&mut self, id: u32, item: Item) -> Result<(), End> {
        self.registry.count(Count::Requests, 1);
        if let Some(index) = self.slot(id) {
            if let Some(slot) = self.at(index) {
                let pushed = slot.worker.conversation.push(item);
                pushed.map_err(End::Misbehaved)?;
            }
            self.ring(index);
        }
        Ok(())
    }

    /// Lets every woken conversation run as far as it can.
    fn run_woken(&mut self) {
        let mut woken = std::mem::take(&mut self.woken);
        for index in woken.drain(..) {
            let Some(slot) = self.at(index) else { continue };
            slot.rung = false;
            let step = slot.worker.step();
            let ran = slot.worker.has_run();
            self.ran |= ran;
            if step == Step::Held {
                self.held.push(index);
            }
            let Some(slot) = self.at(index) else { continue };
            let (id, connect) = {
                let conversation = &slot.worker.conversation;
                (conversation.id, conversation.take_connect())
            };
            match connect {
                Some(Connect::Succeeded) => {
                    self.socket.connected(id);
                    self.established =
                        self.established || self.place.as_ref().is_none_or(Permit::establish);
                }
                Some(Connect::Failed) => self.socket.not_connected(id),
                None => {}
            }
            if step == Step::Over
                && let Some(place) = self.slots.get_mut(index)
            {
                *place = None;
            }
        }
        self.woken = woken;
    }

    /// Has those go on that were held, when there is room for what they answer; true if there is one.
    fn release(&mut self) -> bool {
        if self.held.is_empty() || self.is_full() {
            return false;
        }
        for index in std::mem::take(&mut self.held) {
            self.ring(index);
        }
        true
    }

    fn close_all(&mut self, closing: Closing) {
        for index in 0..self.slots.len() {
            if let Some(slot) = self.at(index) {
                slot.worker.conversation.close(closing);
            }
            self.ring(index);
        }
    }

    fn load(&self) -> Option<&Load> {
        self.common.as_ref().map(|common| &common.load)
    }

    /// Whether nothing more is done for the peer before it has read.
    fn is_full(&self) -> bool {
        self.common.as_ref().is_some_and(|common| common.is_full())
    }

    fn running(&self) -> bool {
        self.load().is_some_and(Load::in_use)
    }

    /// `waiting`: bytes of output that wait.
    fn may_read(&self, waiting: usize) -> bool {
        let limits = self.registry.limits();
        let Some(common) = &self.common else {
            return waiting <= limits.output;
        };
        let load = &common.load;
        let requests = match planted(Bug::WaitsStopReading) {
            true => load.requests(),
            false => load.at_work(),
        };
        requests < MOST_REQUESTS
            && load.cost() < limits.input
            && !load.is_held()
            && !common.is_too_much(waiting)
    }

    /// Obeys an operator who wants the instance to end.
    fn obey(&mut self) -> Option<End> {
        let instance = &self.admitted.as_ref()?.instance;
        if !instance.is_interfered_with() {
            return None;
        }
        let Some(request) = instance.end_request() else {
            return self
                .is_broken()
                .then_some(End::Stopped(Status::USER_CLOSED));
        };
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

    /// Whether an operator has broken every connection on it, each of which has been told of what it had asked.
    fn is_broken(&self) -> bool {
        let broken = |slot: &Slot| {
            let session = slot.worker.conversation.session.borrow();
            session.as_ref().is_some_and(|session| session.is_broken())
        };
        let mut slots = self.slots.iter().flatten().peekable();
        !self.running() && slots.peek().is_some() && slots.all(broken)
    }

    /// Whether the place was lost to somebody else, because nobody has connected in time.
    fn is_evicted(&self) -> bool {
        let place = self.place.as_ref().filter(|_| !self.established);
        place.is_some_and(|place| {
            place
                .poll_evicted(&mut Context::from_waker(&self.nudge))
                .is_ready()
        })
    }

    /// `waiting`: bytes of output that wait.
    fn status(&self, time: Nanos, waiting: usize) -> Now {
        let connected = |a: &Admitted| a.instance.connected.load(Ordering::Relaxed);
        let listens = |common: &Rc<Common>| common.load.gets() > 0 || common.framing.shared;
        Now {
            time,
            connected: self.admitted.as_ref().is_some_and(connected),
            running: self.running(),
            listening: self.common.as_ref().is_some_and(listens),
            reading: self.may_read(waiting),
            waiting: waiting > 0,
            unfinished: self.socket.is_busy(),
        }
    }

    pub(crate) fn new(
        caller: Caller,
        place: Option<Permit>,
        registry: Arc<Registry>,
        wakers: ConnectionWakers,
        now: Nanos,
    ) -> Connection {
        let limits = *registry.limits();
        Connection {
            caller,
            socket: ServerSocket::within(limits.unfinished, registry.budget()),
            registry,
            output: Rc::default(),
            nudge: wakers.waker(CONNECTION),
            wakers,
            slots: Vec::new(),
            woken: Vec::new(),
            held: Vec::new(),
            stage: Stage::Serving,
            end: None,
            admitted: None,
            tls: None,
            place,
            established: false,
            offered: None,
            common: None,
            quiescing: None,
            timing: Timing::new(now, &limits),
            ran: false,
            input_seen: false,
            secret: false,
            counted: (0, 0),
        }
    }

    /// Whether and how the connection is to end.
    fn verdict(&mut self) -> Option<End> {
        if self.load().is_some_and(Load::is_overrun) {
            return Some(End::Misbehaved(PeerMisbehaved::TooManyRequestsAhead));
        }
        if let Some(end) = self.obey() {
            return Some(end);
        }
        self.is_evicted().then_some(End::Evicted)
    }

    /// Counts what was written since this was called last, and what memory the output keeps.
    fn count_output(&mut self) {
        let mut output = self.output.borrow_mut();
        let (bytes, writes) = self.counted;
        let written = (output.progress(), output.writes());
        if written.0 > bytes {
            self.registry.count(Count::Writes, written.1 - writes);
            let traffic = &self.caller.traffic;
            traffic.count_sent(written.0 - bytes, written.1 - writes);
            self.counted = written;
        }
        if !planted(Bug::WaitKeepsBuffer) {
            output.settle();
        }
        if let Some(common) = &self.common {
            common.share.count(output.kept());
        }
    }

    /// Does what is due, and says when the next thing will be.
    fn timers(&mut self, time: Nanos) -> Result<Next, End> {
        loop {
            let (progress, waiting) = {
                let output = self.output.borrow();
                (output.progress(), output.waiting())
            };
            let now = self.status(time, waiting);
            if std::mem::take(&mut self.input_seen) {
                self.timing.received(now.time);
            }
            if now.running || std::mem::take(&mut self.ran) {
                self.timing.called(now.time);
            }
            let presses = waiting > 0 && self.common.as_ref().is_some_and(|c| c.share.presses());
            self.timing
                .written(now.time, progress, now.waiting, presses);
            if !now.unfinished || !now.reading {
                self.timing.went_on(now.time);
            }
            let next = self.timing.next(&now);
            match next.filter(|(at, _)| *at <= now.time).map(|(_, due)| due) {
                Some(Due::Heartbeat) => {
                    let socket = &self.socket;
                    self.output.borrow_mut().append(|out| socket.heartbeat(out));
                    self.timing.heartbeat_sent();
                    return Ok(Next::Again);
                }
                Some(Due::Handshake | Due::Silence) => return Err(End::Silent),
                Some(Due::Unfinished) if self.socket.stale() => return Err(End::Silent),
                Some(Due::Unfinished) => self.timing.went_on(now.time),
                Some(Due::Idle) => return Err(End::Idle),
                Some(Due::Stall) => return Err(End::Stalled),
                None => {
                    return Ok(Next::Wait {
                        read: now.reading,
                        at: next.map(|(at, _)| at),
                    });
                }
            }
        }
    }

    /// Begins to end the sessions, and tells the operator.
    fn begin_end(&mut self, end: End) {
        let (instance, channel) = match &self.admitted {
            Some(admitted) => (Some(&admitted.instance), admitted.instance.channel.as_str()),
            None => (None, ""),
        };
        let in_use = self
            .slots
            .iter()
            .flatten()
            .any(|slot| slot.worker.is_in_use());
        let connected = in_use && instance.is_some_and(|i| i.connected.load(Ordering::Relaxed));
        if let End::Misbehaved(error) = end
            && (!connected || error.is_about_credentials())
        {
            self.refused(error);
        }
        // That an application of this machine ended is nobody's error: the system says so, and its work is backed out.
        if !(self.registry.is_local() && matches!(end, End::Lost(_))) {
            end.report(
                self.registry.operator(),
                channel,
                &self.caller.peer.conname(),
                connected,
            );
        }
        if end.is_gone() {
            self.output.borrow_mut().close();
        }
        self.close_all(if end.drains() {
            Closing::Draining
        } else {
            Closing::Dropping
        });
        self.stage = Stage::Ending(end);
    }

    /// Whoever audits hears of a channel whose client broke the protocol before it was connected, or with its credentials.
    /// What has agreed on no channel yet may be anything.
    fn refused(&self, error: PeerMisbehaved) {
        let Some(admitted) = &self.admitted else {
            return;
        };
        let channel = &admitted.instance.channel;
        let conname = self.caller.peer.conname();
        self.registry.operator().audit(AuditEvent {
            who: of_partner(channel, &conname, self.tls.as_deref()),
            because: error.to_string(),
            message: error.message(),
            ..AuditEvent::new(AuditKind::ConnectionRefused, Reason::CHANNEL_CONFIG_ERROR)
        });
    }

    /// The sessions have ended: says good-bye, if anybody hears it.
    fn say_farewell(&mut self, end: End, now: Nanos) -> Next {
        if end.is_gone() {
            self.stage = Stage::Over;
            return Next::Over;
        }
        if let Some(status) = end.farewell() {
            let socket = &mut self.socket;
            self.output
                .borrow_mut()
                .append(|out| socket.end(status, out));
        }
        self.stage = Stage::Farewell {
            until: now.saturating_add(nanos(self.registry.limits().farewell)),
        };
        Next::Again
    }

    /// TLS has told the client already; the operator hears of it here.
    fn tls_failed(&mut self, broken: Broken) {
        let Broken { failure, channel } = broken;
        let channel = match &self.admitted {
            Some(admitted) => admitted.instance.channel.clone(),
            None => channel.unwrap_or_default(),
        };
        let conname = self.caller.peer.conname();
        let qm = self.registry.queue_manager().name();
        let objection = security::failed(&failure, qm, &channel, &conname);
        if let Some(objection) = objection {
            let mut who = of_partner(&channel, &conname, self.tls.as_deref());
            if let Failure::BadCertificate {
                subject: Some(name),
                ..
            } = failure
            {
                who.certificate = name;
            }
            objection.tell(self.registry.operator(), who);
        }
        match self.admitted {
            None => self.end = self.end.or(Some(End::Refused)),
            Some(_) => self.lost(Some(io::ErrorKind::InvalidData)),
        }
    }

    /// What a serving connection wants.
    fn next_of_serving(&mut self, now: Nanos) -> Next {
        if self.end.is_some() || self.release() || !self.woken.is_empty() {
            return Next::Again;
        }
        self.timers(now).unwrap_or_else(|end| {
            self.begin_end(end);
            Next::Again
        })
    }
}

impl Protocol for Connection {
    fn woken(&mut self, which: u32) {
        if which != CONNECTION {
            self.ring(which as usize);
        }
    }

    fn receive(&mut self, bytes: &[u8], fresh: usize) -> Received {
        self.caller.traffic.count_received(fresh);
        self.input_seen = true;
        let used = match self.stage {
            Stage::Serving if self.end.is_none() => self.segments(bytes).unwrap_or_else(|end| {
                self.end = Some(end);
                bytes.len()
            }),
            _ => bytes.len(),
        };
        Received {
            used,
            secret: std::mem::take(&mut self.secret),
        }
    }

    fn secured(&mut self, outcome: Result<Agreed, Broken>) {
        match outcome {
            Ok(agreed) => self.tls = Some(Box::new(agreed)),
            Err(broken) => self.tls_failed(broken),
        }
    }

    fn lost(&mut self, error: Option<io::ErrorKind>) {
        match self.stage {
            Stage::Serving => self.end = self.end.or(Some(End::Lost(error))),
            Stage::Ending(_) => {
                self.output.borrow_mut().close();
                self.stage = Stage::Ending(End::Lost(error));
            }
            Stage::Farewell { .. } | Stage::Over => self.stage = Stage::Over,
        }
    }

    fn run(&mut self, _: Nanos) {
        self.registry.count(Count::Wakes, 1);
        // What came before the end, in the same read, is carried out only if its end says so.
        if let Some(end) = self.end.take() {
            self.begin_end(end);
        }
        self.run_woken();
        if self.stage == Stage::Serving
            && let Some(end) = self.verdict()
        {
            self.begin_end(end);
            self.run_woken();
        }
    }

    fn next(&mut self, now: Nanos) -> Next {
        self.count_output();
        #[cfg(feature = "plant")]
        if let Some(admitted) = &self.admitted {
            let kept = self.output.borrow().kept();
            admitted.instance.kept.store(kept, Ordering::Relaxed);
        }
        match self.stage {
            Stage::Serving => self.next_of_serving(now),
            Stage::Ending(end) if self.slots.iter().all(Option::is_none) => {
                self.say_farewell(end, now)
            }
            Stage::Ending(_) => Next::Settle,
            Stage::Farewell { until } if now < until => Next::Close { at: until },
            Stage::Farewell { .. } | Stage::Over => Next::Over,
        }
    }

    fn shed(self: Box<Self>) -> Box<dyn Protocol> {
        self
    }

    fn output(&self) -> &RefCell<Output> {
        &self.output
    }
}
