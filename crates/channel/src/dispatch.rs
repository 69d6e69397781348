//! The verbs of a conversation, carried out on its session and answered.
//!
//! Invariants: every request is answered once, except a put with MQPMO_ASYNC_RESPONSE, whose outcome is counted for
//! MQSTAT, and an MQGET whose wait is given up because its connection is gone. A reply is encoded straight into the
//! connection's output. A verb that was begun is awaited: dropped, it could have had its effect without an answer.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use posthaste_authentication::Credentials;
use posthaste_engine::{Application, AuditEvent, AuditKind, Done, Got, Session, Verb};
use posthaste_mqi::constants::{
    MQOO_BROWSE, MQOO_INPUT_AS_Q_DEF, MQOO_INPUT_EXCLUSIVE, MQOO_INPUT_SHARED,
    MQOO_SAVE_ALL_CONTEXT, MQPMO_ASYNC_RESPONSE, MQPRT_SYNC_RESPONSE, MQREADA_NO,
};
use posthaste_mqi::{Hobj, Name, Od, Reason};
use posthaste_wire::reply::Answer;
use posthaste_wire::request::{
    ConnRequest, GetRequest, InqRequest, OpenDefaults, OpenRequest, Put1Request, PutRequest,
    SetRequest, StatRequest,
};
use posthaste_wire::spi::{
    Reserved, SpiAnswer, SpiNotify, SpiOpen, SpiPut, SpiRequest, SpiReserve, SpiVerb,
};
use posthaste_wire::stream::{Notification, RequestMsgs};
use posthaste_wire::xa::XaRequest;
use posthaste_wire::{Envelope, Flags, Header, Outcome, Request};

use crate::admission::{Authenticated, AuthenticatedSession};
use crate::conversation::{Closing, Common, Connect, Conversation, Item, Job};
use crate::deliver::{deliver, refuse};
use crate::desk::Desk;

mod subscribe;

/// Where message protection policies would be.
const POLICY_QUEUE: &[u8] = b"SYSTEM.PROTECTION.POLICY.QUEUE";
/// The options of an SPI OPEN that keep identity and origin context.
const SAVE_CONTEXT: i32 = 1 | 2;
/// The options of an open for input.
const INPUT: i32 = MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;

/// A conversation's session.
struct Dispatcher {
    conversation: Rc<Conversation>,
    session: Option<AuthenticatedSession>,
}

/// What the client library is told about the object's defaults, as it resolves "as queue definition" itself.
///
/// Read ahead is offered where the conversations of a socket are told apart: only then are messages sent ahead.
fn open_defaults(session: &Session, handle: Hobj, in_advance: bool) -> OpenDefaults {
    let defined = session.defaults(handle).unwrap_or_default();
    OpenDefaults {
        persistence: defined.persistence,
        put_response: match defined.put_response {
            response @ 1.. => response,
            _ => MQPRT_SYNC_RESPONSE,
        },
        read_ahead: match in_advance {
            true => defined.read_ahead,
            false => MQREADA_NO,
        },
        property_control: defined.property_control,
    }
}

/// What the API header of a verb's reply says.
fn outcome<T>(handle: Hobj, result: &Verb<T>) -> Outcome {
    match result {
        Ok(done) => Outcome::done(handle, done.warning),
        Err(reason) => Outcome::failed(handle, *reason),
    }
}

/// An MQGET.
pub(crate) struct Get {
    pub(crate) header: Header,
    pub(crate) handle: Hobj,
    pub(crate) get: Box<GetRequest>,
}

/// Carries out what comes on a desk, each on the session of its conversation.
pub(crate) async fn carry_out(desk: Rc<Desk<Job>>) {
    loop {
        let (conversation, mut job) = desk.job().await;
        let mut dispatcher = Dispatcher::of(conversation);
        match job {
            // Where it lies: taken out of the job it would have its room twice.
            Job::Serve(ref mut item) => dispatcher.serve(item).await,
            Job::Deliver(due) => {
                let session = dispatcher.session.as_deref();
                deliver(&dispatcher.conversation, session, due).await;
            }
            Job::End => dispatcher.end().await,
        }
        dispatcher.done();
        desk.finish();
    }
}

/// The same for MQGETs.
pub(crate) async fn carry_out_gets(desk: Rc<Desk<Get>>) {
    loop {
        let (conversation, mut job) = desk.job().await;
        let mut dispatcher = Dispatcher::of(conversation);
        dispatcher.get(&job.header, job.handle, &mut job.get).await;
        dispatcher.conversation.common.instance.count_call();
        dispatcher.done();
        desk.finish();
    }
}

impl Dispatcher {
    /// It has the conversation's session until it is done.
    fn of(conversation: Rc<Conversation>) -> Dispatcher {
        let session = conversation.session.take();
        Dispatcher {
            conversation,
            session,
        }
    }

    /// The conversation has its session back.
    fn done(self) {
        self.conversation.session.replace(self.session);
    }

    /// The conversation is over: whatever its session has not committed is backed out.
    async fn end(&mut self) {
        if let Some(session) = self.session.take() {
            session.into_session().terminate().await;
        }
    }

    /// Serves `item` where it lies: what the verbs fill in is filled in there.
    async fn serve(&mut self, item: &mut Item) {
        match item {
            Item::Request {
                header,
                handle,
                request,
            } => {
                self.request(header, *handle, request).await;
                self.conversation.common.instance.count_call();
            }
            Item::Rejected {
                header,
                handle,
                reason,
                put_options,
            } => match *put_options {
                Some(options) if options & MQPMO_ASYNC_RESPONSE != 0 => {
                    self.refuse_put(options, *reason);
                }
                _ => self.fail(header, *handle, *reason),
            },
            Item::RequestMsgs { header, request } => self.request_messages(header, request),
            Item::Notification {
                header,
                notification,
            } => self.notification(header, *notification),
        }
    }

    /// The frequent verbs run in the conversation's own future; the others have one of their own while they run, so
    /// that an idle conversation stays small.
    async fn request(&mut self, header: &Header, handle: Hobj, request: &mut Request) {
        match request {
            Request::Put(put) => self.put(header, handle, put).await,
            Request::Commit => {
                let result = match &self.session {
                    Some(session) => session.commit().await,
                    None => Err(Reason::HCONN_ERROR),
                };
                self.conversation.streams.borrow_mut().unit_ended();
                self.answer(header, outcome(handle, &result), &Answer::Empty);
            }
            Request::Back => {
                let result = match &self.session {
                    Some(session) => session.backout().await,
                    None => Err(Reason::HCONN_ERROR),
                };
                self.conversation.streams.borrow_mut().unit_ended();
                self.answer(header, outcome(handle, &result), &Answer::Empty);
            }
            other => Box::pin(self.rare_request(header, handle, other)).await,
        }
    }

    async fn rare_request(&mut self, header: &Header, handle: Hobj, request: &mut Request) {
        match request {
            Request::Conn(conn) => self.connect(header, conn).await,
            Request::Disc => self.disconnect(header, handle).await,
            Request::Open(open) => self.open(header, open).await,
            Request::Spi(SpiRequest::Open(open)) => self.spi_open(header, open).await,
            Request::Spi(SpiRequest::Query { .. }) => {
                self.answer(
                    header,
                    Outcome::done(handle, Reason::NONE),
                    &Answer::Spi(SpiAnswer::Query(&SpiVerb::SERVED)),
                );
            }
            Request::Spi(SpiRequest::Reserve(reserve)) => self.reserve(header, handle, *reserve),
            Request::Spi(SpiRequest::Put(put)) => self.spi_put(header, handle, put).await,
            Request::Close { options } => self.close(header, handle, *options).await,
            Request::Put1(put) => self.put1(header, handle, put).await,
            Request::Inq(inq) => self.inquire(header, handle, inq).await,
            Request::Set(set) => self.set(header, handle, set).await,
            Request::Stat(stat) => self.stat(header, handle, stat).await,
            Request::Sub(sub) => self.subscribe(header, handle, sub).await,
            Request::SubRq(sub) => self.subscription_request(header, handle, sub).await,
            Request::Spi(SpiRequest::Subscribe(sub)) => {
                self.spi_subscribe(header, handle, sub).await;
            }
            Request::Spi(SpiRequest::Notify(notify)) => self.notify(header, handle, notify),
            Request::Spi(_) => self.fail(header, handle, Reason::FUNCTION_NOT_SUPPORTED),
            Request::Xa(xa) => self.xa(header, xa).await,
            // Carried out in `request`, and MQGETs by themselves (`carry_out_gets`).
            Request::Put(_) | Request::Get(_) | Request::Commit | Request::Back => {}
        }
    }

    fn envelope(&self, header: &Header) -> Envelope {
        Envelope::answering(self.conversation.common.framing, header)
    }

    fn append<R>(&self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.conversation.common.output.borrow_mut().append(write)
    }

    fn answer(&self, header: &Header, outcome: Outcome, answer: &Answer<'_>) {
        let envelope = self.envelope(header);
        let write = |out: &mut Vec<u8>| answer.encode(out, &envelope, header.kind, &outcome);
        self.append(write);
    }

    fn fail(&self, header: &Header, handle: Hobj, reason: Reason) {
        self.answer(header, Outcome::failed(handle, reason), &Answer::Empty);
    }

    /// As whom the application runs; whoever has gone meanwhile is not waited for.
    async fn authenticate(
        &self,
        who: &Application,
        credentials: Option<Credentials>,
    ) -> Result<Authenticated, Reason> {
        let common = &self.conversation.common;
        let Common {
            registry,
            instance,
            identity,
            user,
            ..
        } = &**common;
        let decided = identity.establish(registry, instance, who, user, credentials);
        self.unless_gone(decided).await
    }

    /// What comes of something that may be dropped, unless the client goes away before.
    async fn unless_gone<T>(
        &self,
        future: impl Future<Output = Result<T, Reason>>,
    ) -> Result<T, Reason> {
        let mut future = pin!(future);
        poll_fn(|cx| match self.conversation.closing() {
            Closing::Open => future.as_mut().poll(cx),
            _ => Poll::Ready(Err(Reason::CONNECTION_BROKEN)),
        })
        .await
    }

    async fn connect(&mut self, header: &Header, conn: &mut ConnRequest) {
        match self.try_connect(conn).await {
            Ok(session) => {
                conn.q_mgr = Name::new(session.queue_manager().name());
                conn.identify(&session.connection_id());
                self.session = Some(session);
                self.conversation.connect(Connect::Succeeded);
                self.answer(
                    header,
                    Outcome::done(Hobj::NONE, Reason::NONE),
                    &Answer::Conn(conn),
                );
            }
            Err(reason) => {
                self.conversation.connect(Connect::Failed);
                self.fail(header, Hobj::NONE, reason);
            }
        }
    }

    async fn try_connect(&self, conn: &ConnRequest) -> Result<AuthenticatedSession, Reason> {
        let common = &self.conversation.common;
        // They are those of one MQCONN, whatever comes of it; the next one has its own, or none.
        let credentials = self.conversation.credentials.take().map(|given| *given);
        let qm = common.registry.queue_manager();
        let wanted = conn.q_mgr.text();
        let ours = wanted.is_empty() || wanted.starts_with('*') || wanted == qm.name();
        if !ours {
            return Err(Reason::Q_MGR_NAME_ERROR);
        }
        let who = common.application(conn);
        let authenticated = self.authenticate(&who, credentials).await?;
        if !common.registry.establish(&common.instance) {
            return Err(Reason::CHANNEL_NOT_AVAILABLE);
        }
        let (name, user) = (who.name.clone(), authenticated.user().to_owned());
        let operator = common.registry.operator();
        let connected = operator.audits_connections().then(|| Application {
            user: user.clone(),
            ..who.clone()
        });
        let admitted = async {
            let session = authenticated.connect(qm, who).await;
            session.inspect_err(|reason| {
                let inserts = [qm.name().to_owned(), reason.0.to_string()];
                operator.message("AMQ9508E", &inserts);
            })
        };
        // Nothing has been done while it is looked up what the user may.
        let session = self.unless_gone(admitted).await?;
        if let Some(who) = connected {
            operator.audit(AuditEvent {
                call: "MQCONN",
                options: who.options,
                who,
                ..AuditEvent::new(AuditKind::Connected, Reason::NONE)
            });
        }
        session.when_stopped(Waker::from(Arc::clone(&common.instance)));
        common.instance.connect(&name, &user);
        Ok(session)
    }

    async fn disconnect(&mut self, header: &Header, handle: Hobj) {
        self.conversation.resource_manager.take();
        self.conversation.end_streams();
        let result = match self.session.take() {
            Some(session) => session.into_session().disconnect().await,
            None => Err(Reason::HCONN_ERROR),
        };
        self.answer(header, outcome(handle, &result), &Answer::Empty);
    }

    async fn open_object(&mut self, od: &mut Od, options: i32) -> (Verb<Hobj>, OpenDefaults) {
        let Some(session) = &self.session else {
            return (Err(Reason::HCONN_ERROR), OpenDefaults::default());
        };
        od.surrogates |= self.conversation.common.surrogates;
        let mut result = session.open(od, options).await;
        // Client libraries look for protection policies after their first open, under a queue manager name that some
        // make up from our identifier. They go on when the queue is unknown, and only then.
        if result == Err(Reason::UNKNOWN_REMOTE_Q_MGR) && *od.object_name.trimmed() == *POLICY_QUEUE
        {
            result = Err(Reason::UNKNOWN_OBJECT_NAME);
        }
        let defaults = match &result {
            Ok(done) => {
                let shared = self.conversation.common.framing.shared;
                // What browses is not sent ahead.
                let in_advance = shared && (options & INPUT != 0 || options & MQOO_BROWSE == 0);
                open_defaults(session, done.value, in_advance)
            }
            Err(_) => OpenDefaults::default(),
        };
        (result, defaults)
    }

    async fn open(&mut self, header: &Header, open: &mut OpenRequest) {
        let (result, defaults) = self.open_object(&mut open.od, open.options).await;
        match result {
            Err(reason) => {
                let answer = Answer::Open {
                    od: &open.od,
                    options: open.options,
                    defaults: open.defaults.as_ref(),
                };
                self.answer(header, Outcome::failed(Hobj::NONE, reason), &answer);
            }
            Ok(done) => {
                let answer = Answer::Open {
                    od: &open.od,
                    options: open.options,
                    // A client that is older than FOPA has no place for it.
                    defaults: open.defaults.as_ref().map(|_| &defaults),
                };
                self.answer(header, Outcome::done(done.value, done.warning), &answer);
            }
        }
    }

    async fn spi_open(&mut self, header: &Header, open: &mut SpiOpen) {
        // JMS asks in this way that the context of what it gets be kept, for when it moves a message away.
        let asked = open.lpi_options & SAVE_CONTEXT == SAVE_CONTEXT;
        let keeps = match asked && open.options & INPUT != 0 {
            true => MQOO_SAVE_ALL_CONTEXT,
            false => 0,
        };
        let options = open.options | keeps;
        let (result, defaults) = self.open_object(&mut open.od, options).await;
        let outcome = match result {
            Err(reason) => Outcome::failed(Hobj::UNUSABLE, reason),
            Ok(done) => Outcome::done(done.value, done.warning),
        };
        let answer = Answer::Spi(SpiAnswer::Open {
            options: open.options,
            lpi_options: open.lpi_options,
            defaults: &defaults,
            od: &open.od,
        });
        self.answer(header, outcome, &answer);
    }

    /// Identifiers for asynchronous puts. The counter in them is as many bytes wide as their number needs.
    fn reserve(&self, header: &Header, handle: Hobj, wanted: SpiReserve) {
        let reserved = match &self.session {
            None => Err(Reason::HCONN_ERROR),
            Some(_) if wanted.id_length != 24 => Err(Reason::FUNCTION_NOT_SUPPORTED),
            Some(session) => session.reserve_ids(wanted.wanted),
        };
        match reserved {
            Err(reason) => self.fail(header, handle, reason),
            Ok(ids) => {
                let reserved = Reserved {
                    count: ids.count,
                    position: if ids.count <= 256 { 24 } else { 23 },
                    first: ids.first,
                };
                self.answer(
                    header,
                    Outcome::done(handle, Reason::NONE),
                    &Answer::Spi(SpiAnswer::Reserve(&reserved)),
                );
            }
        }
    }

    async fn close(&mut self, header: &Header, handle: Hobj, options: i32) {
        let result = match &self.session {
            Some(session) => session.close(handle, options).await,
            None => Err(Reason::HCONN_ERROR),
        };
        let outcome = match result {
            Err(reason) => Outcome::failed(handle, reason),
            Ok(done) => {
                self.conversation.streams.borrow_mut().close(handle);
                Outcome::done(Hobj::UNUSABLE, done.warning)
            }
        };
        self.answer(header, outcome, &Answer::Close { options });
    }

    /// A message longer than the channel allows: the client's library should have refused it (2010).
    fn too_long(&self, length: usize) -> bool {
        u32::try_from(length).is_ok_and(|length| length > self.conversation.common.max_message)
    }

    /// An asynchronous put cannot be carried out: it counts as one that failed, if there is a session to count it.
    fn refuse_put(&self, options: i32, reason: Reason) {
        if let Some(session) = &self.session {
            session.put_refused(options, reason);
        }
    }

    async fn put(&mut self, header: &Header, handle: Hobj, put: &mut PutRequest) {
        let PutRequest { md, pmo, data } = put;
        let data = std::mem::take(data);
        let (length, version) = (data.len(), md.version);
        let asynchronous = pmo.options & MQPMO_ASYNC_RESPONSE != 0;
        let result = match &self.session {
            None => Err(Reason::HCONN_ERROR),
            Some(session) if self.too_long(length) => {
                Err(session.put_too_long(handle, md, pmo, Reason::DATA_LENGTH_ERROR))
            }
            Some(session) => session.put(handle, md, pmo, data).await,
        };
        if asynchronous {
            return;
        }
        md.version = version;
        let answer = Answer::Put { md, pmo, length };
        self.answer(header, outcome(handle, &result), &answer);
    }

    /// Calls off the wait of a get of another connection; that none waits is no error, as it may just have ended.
    fn notify(&self, header: &Header, handle: Hobj, notify: &SpiNotify) {
        let Some(session) = &self.session else {
            return self.fail(header, handle, Reason::HCONN_ERROR);
        };
        if (notify.options, notify.reason) != (1, Reason::XWAIT_CANCELED.code().unsigned_abs()) {
            return self.fail(header, handle, Reason::FUNCTION_NOT_SUPPORTED);
        }
        session.cancel_wait(&notify.connection);
        let done = Outcome::done(handle, Reason::NONE);
        self.answer(header, done, &Answer::Spi(SpiAnswer::Notify));
    }

    /// A message that is to be delayed, as it says itself.
    async fn spi_put(&mut self, header: &Header, handle: Hobj, put: &mut SpiPut) {
        let SpiPut { md, pmo, data, .. } = put;
        let data = std::mem::take(data);
        let version = md.version;
        let result = match &self.session {
            None => Err(Reason::HCONN_ERROR),
            Some(session) if self.too_long(data.len()) => {
                Err(session.put_too_long(handle, md, pmo, Reason::DATA_LENGTH_ERROR))
            }
            Some(session) => session.put_delayed(handle, md, pmo, data).await,
        };
        md.version = version;
        let answer = Answer::Spi(SpiAnswer::Put { md, pmo });
        self.answer(header, outcome(handle, &result), &answer);
    }

    async fn put1(&mut self, header: &Header, handle: Hobj, put: &mut Put1Request) {
        let Put1Request { od, md, pmo, data } = put;
        od.surrogates |= self.conversation.common.surrogates;
        let data = std::mem::take(data);
        let (length, version) = (data.len(), md.version);
        let asynchronous = pmo.options & MQPMO_ASYNC_RESPONSE != 0;
        let result = match &self.session {
            None => Err(Reason::HCONN_ERROR),
            Some(session) if self.too_long(length) => {
                Err(session.put1_too_long(od, md, pmo, Reason::DATA_LENGTH_ERROR))
            }
            Some(session) => session.put1(od, md, pmo, data).await,
        };
        if asynchronous {
            return;
        }
        md.version = version;
        let answer = Answer::Put1 {
            od,
            md,
            pmo,
            length,
        };
        self.answer(header, outcome(handle, &result), &answer);
    }

    async fn get(&mut self, header: &Header, handle: Hobj, get: &mut GetRequest) {
        let GetRequest {
            md,
            gmo,
            buffer_length,
        } = get;
        let buffer_length = *buffer_length;
        let version = md.version;
        // What is longer than the channel allows is truncated like what is longer than the buffer.
        let most = usize::try_from(self.conversation.common.max_message).unwrap_or(usize::MAX);
        let result = match (&self.session, usize::try_from(buffer_length)) {
            (None, _) => Err(Reason::HCONN_ERROR),
            (_, Err(_)) => Err(Reason::BUFFER_LENGTH_ERROR),
            (Some(session), Ok(room)) => {
                // Pinned here: a future that is passed on by value takes its room twice.
                let got = pin!(session.get(handle, md, gmo, room.min(most)));
                match self.unless_closing(session, got).await {
                    Some(result) => result,
                    None => return,
                }
            }
        };
        md.version = version;
        match result {
            Err(reason) => self.fail(header, handle, reason),
            Ok(Done {
                value: Got { data, length },
                warning,
            }) => {
                let answer = Answer::Get {
                    md,
                    gmo,
                    length,
                    data: &data,
                };
                self.answer(header, Outcome::done(handle, warning), &answer);
            }
        }
    }

    /// Waits for an MQGET. The end of the conversation ends its wait, without an answer when nobody is there to read
    /// it; past its wait it is seen through, because its message may be gone from the queue.
    async fn unless_closing(
        &self,
        session: &Session,
        mut got: Pin<&mut impl Future<Output = Verb<Got>>>,
    ) -> Option<Verb<Got>> {
        let conversation = &self.conversation;
        let (mut begun, mut waiting) = (false, None);
        poll_fn(|cx| {
            match conversation.closing() {
                Closing::Open => {}
                Closing::Quiescing => session.quiesce(),
                _ if !begun => return Poll::Ready(None),
                Closing::Draining | Closing::Dropping => session.give_up_waits(),
            }
            // What comes is left where it is while there is no room for it.
            if waiting.is_some() && !session.is_broken() && conversation.poll_room(cx).is_pending()
            {
                return Poll::Pending;
            }
            begun = true;
            match got.as_mut().poll(cx) {
                Poll::Ready(Err(Reason::CONNECTION_STOPPING)) => Poll::Ready(None),
                Poll::Ready(result) => Poll::Ready(Some(result)),
                Poll::Pending => {
                    // What waits for a disk is at work, and lets nothing pass.
                    match session.waits_for_message() {
                        true => _ = waiting.get_or_insert_with(|| conversation.begin_get()),
                        false => waiting = None,
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    async fn inquire(&mut self, header: &Header, handle: Hobj, inq: &InqRequest) {
        let result = match &self.session {
            None => Err(Reason::HCONN_ERROR),
            Some(_) if inq.int_count < 0 => Err(Reason::INT_ATTR_COUNT_ERROR),
            Some(_) if inq.char_length < 0 => Err(Reason::CHAR_ATTR_LENGTH_ERROR),
            Some(session) => session.inquire(handle, &inq.selectors).await,
        };
        match result {
            Err(reason) => {
                let answer = Answer::Inq {
                    request: inq,
                    ints: &[],
                    chars: &[],
                };
                self.answer(header, Outcome::failed(handle, reason), &answer);
            }
            Ok(Done { value, mut warning }) => {
                let longer =
                    |have: usize, room: i32| usize::try_from(room).is_ok_and(|room| have > room);
                if longer(value.ints.len(), inq.int_count) {
                    warning = Reason::INT_ATTR_COUNT_TOO_SMALL;
                } else if longer(value.chars.len(), inq.char_length) {
                    warning = Reason::CHAR_ATTRS_TOO_SHORT;
                }
                let answer = Answer::Inq {
                    request: inq,
                    ints: &value.ints,
                    chars: &value.chars,
                };
                self.answer(header, Outcome::done(handle, warning), &answer);
            }
        }
    }

    async fn set(&mut self, header: &Header, handle: Hobj, set: &SetRequest) {
        let result = match &self.session {
            Some(session) => {
                session
                    .set(handle, &set.selectors, &set.ints, &set.chars)
                    .await
            }
            None => Err(Reason::HCONN_ERROR),
        };
        self.answer(header, outcome(handle, &result), &Answer::Set(set));
    }

    async fn stat(&mut self, header: &Header, handle: Hobj, stat: &StatRequest) {
        let result = match &self.session {
            Some(session) => session.stat(stat.kind, stat.sts.version).await,
            None => Err(Reason::HCONN_ERROR),
        };
        match result {
            Err(reason) => self.fail(header, handle, reason),
            Ok(sts) => {
                let surrogates = stat.sts.surrogates || self.conversation.common.surrogates;
                let stat = StatRequest {
                    kind: stat.kind,
                    sts: sts.within(&stat.sts, surrogates),
                };
                self.answer(
                    header,
                    Outcome::done(handle, Reason::NONE),
                    &Answer::Stat(&stat),
                );
            }
        }
    }

    async fn xa(&self, header: &Header, xa: &XaRequest) {
        let kept = &self.conversation.resource_manager;
        let mut resource_manager = kept.take().unwrap_or_default();
        let reply = resource_manager
            .carry_out(self.session.as_deref(), xa)
            .await;
        kept.replace(Some(resource_manager));
        let envelope = self.envelope(header);
        self.append(|out| reply.encode(out, &envelope, header.kind));
    }

    /// The client has room for messages.
    fn request_messages(&self, header: &Header, request: &RequestMsgs) {
        let conversation = &self.conversation;
        let session = self.session.as_deref().ok_or(Reason::HCONN_ERROR);
        let open = session.and_then(|session| {
            session.check_open(request.handle)?;
            Ok(session)
        });
        // Of handles there are as many as MAXHANDS allows, and of streams no more.
        match open {
            Err(reason) => refuse(conversation, header, request, reason),
            Ok(session) => {
                let mut streams = conversation.streams.borrow_mut();
                streams.request(header, request, session);
            }
        }
    }

    /// The client says something about delivery. What it stops is stopped before this is answered.
    fn notification(&self, header: &Header, notification: Notification) {
        let mut streams = self.conversation.streams.borrow_mut();
        match (notification.code, notification.value) {
            (Notification::CONN_STATE, Notification::STARTED) => streams.start(),
            (Notification::CONN_STATE, _) => streams.stop(),
            (Notification::TXN_ALLOWED, global_index) => streams.allow(global_index),
            _ => {}
        }
        if notification.code == Notification::CONN_STATE && header.flags.has(Flags::CONFIRM) {
            let reply = Notification {
                code: Notification::CONN_STATE_REPLY,
                ..notification
            };
            let envelope = self.envelope(header);
            let write = |out: &mut Vec<u8>| reply.encode(out, &envelope, Flags::NONE);
            self.append(write);
        }
    }
}
