//! MQPUT: a message on a queue.

use std::sync::Arc;

use bytes::Bytes;
use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Name, Pmo, Reason};

use super::descriptor::check_md;
use super::publish::Publishing;
use super::send;
use super::{Done, Verb, context, mde};
use crate::authority_service::Authorised;
use crate::catalogue::{Alias, Definition};
use crate::group::NextPut;
use crate::handles::{Handle, OpenTopic, Target, is_list};
use crate::manager::Inner;
use crate::message::Message;
use crate::message_data::MessageData;
use crate::meter::Count;
use crate::origin::Origin;
use crate::queue::{Queue, QueueAttributes};
use crate::report::{self, Report};
use crate::routed::{RoutedMessage, trimmed};
use crate::session::{Session, SessionInner, SessionState};
use crate::transmission::transmit;

const KNOWN: i32 = MQPMO_SYNCPOINT
    | MQPMO_NO_SYNCPOINT
    | MQPMO_DEFAULT_CONTEXT
    | MQPMO_NO_CONTEXT
    | MQPMO_PASS_IDENTITY_CONTEXT
    | MQPMO_PASS_ALL_CONTEXT
    | MQPMO_SET_IDENTITY_CONTEXT
    | MQPMO_SET_ALL_CONTEXT
    | MQPMO_ALTERNATE_USER_AUTHORITY
    | MQPMO_FAIL_IF_QUIESCING
    | MQPMO_NEW_MSG_ID
    | MQPMO_NEW_CORREL_ID
    | MQPMO_LOGICAL_ORDER
    | MQPMO_ASYNC_RESPONSE
    | MQPMO_SYNC_RESPONSE
    | MQPMO_RESOLVE_LOCAL_Q;

/// What is about topics.
pub(super) const PUBLISHING: i32 = MQPMO_RETAIN
    | MQPMO_NOT_OWN_SUBS
    | MQPMO_SUPPRESS_REPLYTO
    | MQPMO_SCOPE_QMGR
    | MQPMO_WARN_IF_NO_SUBS_MATCHED;

/// Where a put goes: what a handle says, or what MQPUT1 resolved.
pub(super) struct Route {
    pub(super) queue: Arc<Queue>,
    /// What the queue's definition said when the call began.
    attributes: Arc<QueueAttributes>,
    pub(super) alias: Option<Arc<Alias>>,
    pub(super) definition: Option<Definition>,
    pub(super) remote: Option<Box<(Name, Name)>>,
    pub(super) opened: Definition,
}

impl Route {
    pub(super) fn of(target: &Target, opened: &Definition) -> Result<Self, Reason> {
        match target {
            Target::Queue { queue, alias, .. } => Ok(Route {
                queue: queue.clone(),
                attributes: queue.attributes(),
                alias: alias.clone(),
                definition: None,
                remote: None,
                opened: opened.clone(),
            }),
            Target::Remote {
                transmission,
                alias,
                definition,
                names,
                ..
            } => Ok(Route {
                queue: transmission.clone(),
                attributes: transmission.attributes(),
                alias: alias.clone(),
                definition: definition.clone(),
                remote: Some(names.clone()),
                opened: opened.clone(),
            }),
            Target::Topic(_) | Target::Qmgr | Target::Definition => {
                Err(Reason::NOT_OPEN_FOR_OUTPUT)
            }
        }
    }

    /// The persistence a message put here has.
    pub(super) fn persistence(&self, md: &Md) -> i32 {
        match md.persistence {
            MQPER_PERSISTENCE_AS_Q_DEF => self.defaults().1,
            stated => stated,
        }
    }

    /// The message as the queue of this route gets it.
    #[inline]
    fn routed(&self, qm: &Inner, md: Md, data: Bytes, expires: i64) -> RoutedMessage {
        match self.remote {
            None => RoutedMessage::new(self.queue.clone(), md, data, expires),
            Some(_) => self.routed_sharing(qm, md, trimmed(data).into(), expires),
        }
    }

    /// The same of data that others share, which have been trimmed.
    pub(super) fn routed_sharing(
        &self,
        qm: &Inner,
        md: Md,
        data: MessageData,
        expires: i64,
    ) -> RoutedMessage {
        let (md, data) = match self.remote.as_deref() {
            None => (md, data),
            Some(names) => transmit(qm, &md, &data, *names),
        };
        RoutedMessage::sharing(self.queue.clone(), md, data, expires)
    }

    /// Attributes that a put consults: of the queue itself, or of the first definition on the way.
    fn defaults(&self) -> (i32, i32) {
        if self.alias.is_none() && self.remote.is_none() {
            return (
                self.attributes.def_priority,
                self.attributes.def_persistence,
            );
        }
        (
            self.opened.int(MQIA_DEF_PRIORITY),
            self.opened.int(MQIA_DEF_PERSISTENCE),
        )
    }
}

/// Checks the options of a put to one object.
pub(super) fn check_options(pmo: &Pmo) -> Result<(), Reason> {
    match pmo.recs_present == 0 || pmo.version < MQPMO_VERSION_2 {
        true => check_common_options(pmo),
        false => check_common_options(pmo).and(Err(Reason::RECS_PRESENT_ERROR)),
    }
}

/// Checks what is the same for a list.
pub(super) fn check_common_options(pmo: &Pmo) -> Result<(), Reason> {
    let options = pmo.options;
    let both = |a: i32, b: i32| options & a != 0 && options & b != 0;
    if options & MQPMO_MD_FOR_OUTPUT_ONLY != 0 {
        // What is put would come from message handles, which there are not.
        return Err(Reason::MD_ERROR);
    }
    if options & !(KNOWN | PUBLISHING) != 0
        || both(MQPMO_SYNCPOINT, MQPMO_NO_SYNCPOINT)
        || both(MQPMO_ASYNC_RESPONSE, MQPMO_SYNC_RESPONSE)
    {
        return Err(Reason::OPTIONS_ERROR);
    }
    if pmo.version >= MQPMO_VERSION_3 {
        if pmo.original_msg_handle != MQHM_NONE || pmo.new_msg_handle != MQHM_NONE {
            return Err(Reason::HMSG_ERROR);
        }
        if pmo.action != MQACTP_NEW {
            // Each other action is on an original message, by its handle.
            return Err(Reason::ACTION_ERROR);
        }
    }
    Ok(())
}

/// A put up to the moment where it may have to wait. It lies in the put's future, so what is rare is boxed.
pub(super) struct Begun {
    queue: Arc<Queue>,
    /// The queue and queue manager that it is for, if that is not the queue.
    remote: Option<Box<(Name, Name)>>,
    routed: RoutedMessage,
    length: usize,
    warning: Reason,
    /// The descriptor that the application is shown, where the queue gets another (MQXQH).
    shown: Option<Box<Md>>,
    /// The report on the message's arrival.
    arrival: Option<Box<Report>>,
}

impl Begun {
    /// The message's own descriptor, and when it expires.
    pub(super) fn complete(&self) -> (Md, i64) {
        let message = &self.routed.message;
        let md = self.shown.as_deref().unwrap_or(&message.md);
        (md.clone(), message.expires)
    }

    /// Whether its queue takes messages at all, however full it is at the moment.
    pub(super) fn may_go_later(&self) -> Result<(), Reason> {
        let state = self.queue.lock();
        if state.deleted {
            return Err(Reason::Q_DELETED);
        }
        match state.attributes.put_inhibited {
            true => Err(Reason::PUT_INHIBITED),
            false => Ok(()),
        }
    }

    /// The same put, but of another message than the one that the application is shown: what it says has been checked.
    pub(super) fn instead(self, routed: RoutedMessage) -> Begun {
        let shown = Some(Box::new(self.complete().0));
        Begun {
            routed,
            shown,
            arrival: None,
            ..self
        }
    }

    /// A put of something else than `shown`, which has been checked.
    pub(super) fn of(routed: RoutedMessage, shown: Md, length: usize, warning: Reason) -> Begun {
        Begun {
            queue: routed.queue.clone(),
            remote: None,
            routed,
            length,
            warning,
            shown: Some(Box::new(shown)),
            arrival: None,
        }
    }
}

/// A put that has begun: to a queue, or to a topic.
pub(super) enum Going {
    Queue(Begun),
    Topic(Box<Publishing>),
}

/// Where a put goes.
pub(super) enum Destination {
    Queue(Route),
    Topic(Arc<OpenTopic>),
}

/// What a put needs of its handle.
pub(super) struct Prepared {
    pub(super) to: Destination,
    pub(super) passed: Option<Box<Md>>,
    group: NextPut,
    pub(super) authorised: Authorised,
}

impl SessionInner {
    /// What the queue and the queue manager say to a message of this length and persistence.
    pub(super) fn check_fit(&self, route: &Route, length: usize, md: &Md) -> Result<(), Reason> {
        let inhibited = |d: &Definition| d.int(MQIA_INHIBIT_PUT) == MQQA_PUT_INHIBITED;
        if route.alias.as_ref().is_some_and(|a| a.put_inhibited())
            || route.definition.as_ref().is_some_and(inhibited)
        {
            return Err(Reason::PUT_INHIBITED);
        }
        let attributes = &route.attributes;
        let length = length + if route.remote.is_some() { 428 } else { 0 };
        if length > attributes.max_msg_length {
            return Err(Reason::MSG_TOO_BIG_FOR_Q);
        }
        if length > self.qm.catalogue.longest_message() {
            return Err(Reason::MSG_TOO_BIG_FOR_Q_MGR);
        }
        if attributes.temporary() && md.persistence == MQPER_PERSISTENT {
            return Err(Reason::PERSISTENT_NOT_ALLOWED);
        }
        Ok(())
    }

    /// Completes the descriptor of a message: defaults, identifiers, context.
    pub(super) fn complete(&self, route: &Route, md: &mut Md, pmo: &Pmo, passed: Option<&Md>) {
        if md.msg_id == [0; 24] || pmo.options & MQPMO_NEW_MSG_ID != 0 {
            md.msg_id = self.qm.new_msg_id(self.qm.next_seq());
        }
        self.complete_rest(|| route.defaults(), md, pmo, passed);
    }

    /// The same of what is no message identifier. `defaults`: priority and persistence.
    pub(super) fn complete_rest(
        &self,
        defaults: impl FnOnce() -> (i32, i32),
        md: &mut Md,
        pmo: &Pmo,
        passed: Option<&Md>,
    ) {
        if md.priority == MQPRI_PRIORITY_AS_Q_DEF || md.persistence == MQPER_PERSISTENCE_AS_Q_DEF {
            let (priority, persistence) = defaults();
            if md.priority == MQPRI_PRIORITY_AS_Q_DEF {
                md.priority = priority;
            }
            if md.persistence == MQPER_PERSISTENCE_AS_Q_DEF {
                md.persistence = persistence;
            }
        }
        if pmo.options & MQPMO_NEW_CORREL_ID != 0 {
            md.correl_id = self.qm.new_msg_id(self.qm.next_seq());
        }
        md.backout_count = 0;
        md.coded_char_set_id = self.qm.catalogue.named_set(md.coded_char_set_id);
        if md.reply_to_q_mgr.is_blank() && !md.reply_to_q.is_blank() {
            (md.reply_to_q, md.reply_to_q_mgr) = self.reply_to(md.reply_to_q);
        }
        context::fill(md, pmo.options, self, passed);
    }

    /// Where replies go when no queue manager is named: to this one, unless the name is that of a
    /// remote definition ("reply-to queue alias").
    fn reply_to(&self, queue: Name) -> (Name, Name) {
        let definition = self.qm.catalogue.queue(&queue.text());
        match definition.filter(|d| d.kind() == ObjectKind::QRemote) {
            Some(alias) => (
                Name::new(&alias.text(MQCA_REMOTE_Q_NAME)),
                Name::new(&alias.text(MQCA_REMOTE_Q_MGR_NAME)),
            ),
            None => (queue, Name::new(&self.qm.config.name)),
        }
    }

    /// Checks and completes a message: everything of a put that does not wait.
    pub(super) fn begin_put(
        &self,
        route: Route,
        mut md: Md,
        pmo: &Pmo,
        data: Bytes,
        passed: Option<&Md>,
        _: Authorised,
    ) -> Result<Begun, Reason> {
        let qm = &self.qm;
        if pmo.options & PUBLISHING != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
        if pmo.options & MQPMO_FAIL_IF_QUIESCING != 0 && qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let warning = check_md(&md, route.remote.is_some())?;
        self.complete(&route, &mut md, pmo, passed);
        self.check_fit(&route, data.len(), &md)?;
        let expires = match md.expiry {
            MQEI_UNLIMITED => 0,
            tenths => qm.clock.now() + i64::from(tenths) * 100_000,
        };
        let (arrival, shown) = match &route.remote {
            None => (
                report::arrival(qm, (&md, Origin::of(&md)), &data).map(Box::new),
                None,
            ),
            Some(_) => (None, Some(Box::new(md.clone()))),
        };
        if arrival.is_some() && pmo.options & MQPMO_SYNCPOINT != 0 {
            // The report counts among the messages of the unit of work.
            self.check_unit(2)?;
        }
        let length = data.len();
        let routed = route.routed(qm, md, data, expires);
        Ok(Begun {
            queue: route.queue,
            remote: route.remote,
            routed,
            length,
            warning,
            shown,
            arrival,
        })
    }

    /// Puts a message that is complete. The descriptor and the options come back filled.
    pub(super) async fn finish_put(
        self: &Arc<Self>,
        going: Going,
        md: &mut Md,
        pmo: &mut Pmo,
    ) -> Verb<()> {
        let begun = match going {
            Going::Queue(begun) => begun,
            // A future of its own, so that all the other puts need no room for it.
            Going::Topic(publishing) => return Box::pin(self.publish(publishing, md, pmo)).await,
        };
        let Begun {
            queue,
            remote,
            routed,
            length,
            warning,
            shown,
            arrival,
        } = begun;
        let in_unit = pmo.options & MQPMO_SYNCPOINT != 0;
        let asynchronous =
            pmo.options & MQPMO_ASYNC_RESPONSE != 0 && (routed.persistent() || self.is_unsettled());
        let put = match (arrival, in_unit) {
            (None, true) => send::in_unit(self, routed).await?,
            (None, false) if asynchronous => Box::pin(send::with_ticket(self, routed)).await?,
            (None, false) => send::alone(self, routed).await?,
            // A future of its own, so that all the other puts need no room for it.
            (Some(report), _) => Box::pin(self.put_with_report(routed, &report, in_unit)).await?,
        };
        let counters = &self.qm.home.counters;
        counters.one(Count::Puts);
        counters.add(Count::PutBytes, length);
        let shown = shown.as_deref().unwrap_or(&put.md);
        // What is not an output field of MQPUT stays as the application has it.
        let done = Md {
            reply_to_q: md.reply_to_q,
            reply_to_q_mgr: md.reply_to_q_mgr,
            backout_count: md.backout_count,
            coded_char_set_id: md.coded_char_set_id,
            ..shown.clone()
        };
        *md = mde::given_back(md, done);
        let local = pmo.options & MQPMO_RESOLVE_LOCAL_Q != 0;
        (pmo.resolved_q_name, pmo.resolved_q_mgr_name) = match remote.as_deref() {
            Some(elsewhere) if !local => *elsewhere,
            // Of the queue here that takes it first.
            _ => (queue.name, Name::new(&self.qm.config.name)),
        };
        let remote = i32::from(remote.is_some());
        (pmo.known_dest_count, pmo.unknown_dest_count) = (1 - remote, remote);
        pmo.invalid_dest_count = 0;
        Ok(Done { value: (), warning })
    }

    /// Puts a message with the report on its arrival.
    async fn put_with_report(
        &self,
        routed: RoutedMessage,
        report: &Report,
        in_unit: bool,
    ) -> Result<Arc<Message>, Reason> {
        if !in_unit {
            return send::together(self, routed, report).await;
        }
        let put = send::in_unit(self, routed).await?;
        send::send_report(self, report, true).await;
        Ok(put)
    }

    /// The part of MQPUT before the message is on its way.
    fn begin_handle_put(
        &self,
        hobj: Hobj,
        md: &Md,
        pmo: &Pmo,
        data: Bytes,
    ) -> Result<(Going, NextPut), Reason> {
        check_options(pmo)?;
        let (mut changed, data) = mde::absorb(md, data)?;
        let Prepared {
            to,
            passed,
            group,
            authorised,
        } = self.prepare(hobj, &mut changed, pmo)?;
        let passed = passed.as_deref();
        let going = match to {
            Destination::Queue(route) => {
                Going::Queue(self.begin_put(route, changed, pmo, data, passed, authorised)?)
            }
            Destination::Topic(topic) => {
                Going::Topic(self.begin_publish(topic, changed, pmo, data, passed, authorised)?)
            }
        };
        Ok((going, group))
    }

    /// The message is put: notes at its handle how far its group has come.
    pub(super) fn grouped(
        &self,
        hobj: Hobj,
        pmo: &Pmo,
        group: NextPut,
        mut done: Done<()>,
    ) -> Done<()> {
        let mut state = self.lock();
        state.counts.puts += 1;
        let SessionState { handles, unit, .. } = &mut *state;
        let in_unit = pmo.options & MQPMO_SYNCPOINT != 0;
        handles.has_put(hobj, group.state, unit.as_ref().filter(|_| in_unit));
        if done.warning == Reason::NONE {
            done.warning = group.warning;
        }
        done
    }

    /// What a put needs of its handle, read under the session's lock.
    pub(super) fn prepare(&self, hobj: Hobj, md: &mut Md, pmo: &Pmo) -> Result<Prepared, Reason> {
        let mut state = self.lock();
        let open = state.handles.get(hobj)?;
        open.unchanged(&self.qm.catalogue.changes)?;
        if open.options & MQOO_OUTPUT == 0 {
            return Err(Reason::NOT_OPEN_FOR_OUTPUT);
        }
        context::check(pmo.options, open.options)?;
        let authorised = open.authorised;
        let (to, persistence) = match &open.target {
            Target::Topic(topic) => (Destination::Topic(topic.clone()), md.persistence),
            target => {
                let route = Route::of(target, &open.opened)?;
                let persistence = route.persistence(md);
                (Destination::Queue(route), persistence)
            }
        };
        let group = open.group_put.next(md, pmo, persistence, || {
            self.qm.new_msg_id(self.qm.next_seq())
        })?;
        let passes = MQPMO_PASS_ALL_CONTEXT | MQPMO_PASS_IDENTITY_CONTEXT;
        let passed = if pmo.options & passes != 0 {
            let from: &Handle = state
                .handles
                .get(Hobj(pmo.context))
                .map_err(|_| Reason::CONTEXT_HANDLE_ERROR)?;
            Some(context::saved(from)?)
        } else {
            None
        };
        Ok(Prepared {
            to,
            passed,
            group,
            authorised,
        })
    }
}

impl Session {
    /// MQPUT.
    ///
    /// # Errors
    /// Those of the descriptor (2013, 2027, 2029, 2047, 2050, 2061, 2248–2251, 2365), of the
    /// options (2026, 2046, 2093–2096, 2097, 2098, 2460, 2535), of the handle (2019, 2039, 2041), of the queue (2030, 2031,
    /// 2048, 2051, 2052, 2053, 2056), of topics (2417, 2479, 2502), of groups (2185, 2241, 2245, 2257), of the unit of work
    /// (2003, 2024), of the log (2102), of the queue manager (2009, 2161, 2162), of distribution lists (2136, 2137, 2154,
    /// 2158, 2159). 2049, 2104 and 2550 are warnings, and so are 2185, 2241 and 2245 out of logical order, and 2136 where some
    /// destinations have the message.
    pub async fn put(&self, hobj: Hobj, md: &mut Md, pmo: &mut Pmo, data: Bytes) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        if is_list(hobj) {
            // A future of its own, so that all the other puts need no room for it.
            let put = Box::pin(session.put_to_list(hobj, md, pmo, data)).await;
            session.put_ended(hobj, md, pmo, &put);
            return put;
        }
        let begun = session.begin_handle_put(hobj, md, pmo, data);
        let failed = |reason: &Reason| session.put_ended(hobj, md, pmo, &Err(*reason));
        let (begun, group) = begun.inspect_err(failed)?;
        let put = session.finish_put(begun, md, pmo).await;
        let put = put.map(|done| session.grouped(hobj, pmo, group, done));
        session.put_ended(hobj, md, pmo, &put);
        put
    }
}
