//! MQSUB: from a topic string, or from the name of a subscription, to two handles: one for its messages, one for itself.
//!
//! Invariants:
//! * A subscription is made, altered or resumed as a whole, or nothing is; a reason code tells which.
//! * Who has been told of a durable subscription, or of its alteration, finds it so after a crash; who has been told that it could
//!   not be made, or that there is none, does not find it.
//! * An alteration is the last thing of a call that can fail: its handles are there before it. What it says is put into the
//!   subscription as it is at that moment, so that nothing is lost that somebody else says meanwhile.
//! * A handle that is to be counts as a use of the subscription before anything else is done with that; where the call
//!   fails or is dropped the use ends, and what it alone kept goes.
//!
//! Source: MQI reference, "MQSUB", "MQSD", "Options (MQLONG) for MQSD".

use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Hobj, Name, Reason, Sd};
use posthaste_topic::{Filter, Scheme};

use super::alter_subscription::altered;
use super::release::release;
use super::retained::send_retained;
use super::subscription_options as options;
use super::subscription_options::{Given, SubscribeOptions};
use super::{Done, Verb};
use crate::authority_service::Authorised;
use crate::authorization::Caller;
use crate::catalogue::ChangeError;
use crate::consume::waiter::Wakes;
use crate::handles::{Handle, Open, OpenSubscription, Target};
use crate::queue::Queue;
use crate::resolution::resolve;
use crate::session::{Session, SessionInner};
use crate::topics::Found;
use crate::topics::managed::{Made, reason};
use crate::topics::stored::compile;
use crate::topics::subscription::{
    Destination, Maker, PublicationCount, PublishProperties, SubId, Subscription, expires,
};

/// How often a call looks again for a subscription that others make and end meanwhile, before it says that it is in use.
const TRIES: usize = 1_000;

/// A handle on a subscription that is to be: it ends unless it is kept.
struct Use<'a> {
    session: &'a SessionInner,
    id: SubId,
    kept: bool,
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.session.qm.end_use(&self.id, self.session.id);
        }
    }
}

/// The handles of a call that has not come to its end: they are closed unless they are kept.
struct Opened<'a> {
    session: &'a Arc<SessionInner>,
    /// On the messages; none: the application's own.
    messages: Option<Hobj>,
    hsub: Hobj,
    kept: bool,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let opened = {
            let mut state = self.session.lock();
            // Where the connection has ended they are closed already. What it used of the subscription ends with `Use`.
            let _ = state.handles.remove(self.hsub);
            let of = |hobj| Some((hobj, state.handles.remove(hobj).ok()?));
            self.messages.and_then(of)
        };
        if let Some((hobj, Open::Object(handle))) = opened {
            let mut wakes = Wakes::default();
            release(self.session, hobj, &handle, &mut wakes);
            wakes.wake();
        }
    }
}

/// A subscription that is there, or was made, with the handle on it that is to be.
struct Used<'a> {
    found: Found,
    using: Use<'a>,
    became: Became<'a>,
}

/// What a call has made of a subscription.
enum Became<'a> {
    /// It was there, and has its handles.
    Resumed(Opened<'a>),
    /// It is new: the rest can fail still, and ends it.
    Made(Authorised),
}

/// Whether a call brings a handle on the application's own queue.
fn brings_own(sd: &Sd, hobj: Hobj) -> bool {
    sd.options & MQSO_MANAGED == 0 && hobj != Hobj::NONE
}

/// Where the messages of a subscription go.
fn goes(to: &Destination) -> (Name, Name) {
    (to.queue, to.queue_manager)
}

/// What an application's own queue is, for a subscription.
struct Provided {
    destination: Destination,
    temporary: bool,
}

/// Why a subscription could not be resumed, or made.
enum Missed {
    /// Somebody ended it, or made one of its name, meanwhile: look again.
    Again,
    For(Reason),
}

impl From<Reason> for Missed {
    fn from(reason: Reason) -> Self {
        Missed::For(reason)
    }
}

impl SessionInner {
    /// The queue that an application subscribes for, by its handle.
    ///
    /// # Errors
    /// 2019 the handle is none of a queue that messages can be put to.
    /// 2035 its messages may not be put there.
    fn provided(&self, sd: &Sd, hobj: Hobj, caller: &Caller) -> Result<Provided, Reason> {
        let mut state = self.lock();
        let handle = state.handles.get(hobj)?;
        handle.unchanged(&self.qm.catalogue.changes)?;
        caller.may_provide(&self.qm, handle, sd)?;
        let reads = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE | MQOO_BROWSE;
        let own = Name::new(&self.qm.config.name);
        match &handle.target {
            Target::Queue { queue, alias, .. }
                if handle.options & reads != 0 && !handle.managed =>
            {
                // An alias may lead elsewhere later.
                let found = alias.is_none().then(|| queue.clone());
                let name = Name::new(handle.opened.name());
                Ok(Provided {
                    destination: Destination::new(name, own, found),
                    temporary: queue.attributes().temporary(),
                })
            }
            Target::Remote {
                definition, names, ..
            } if handle.options & MQOO_OUTPUT != 0 => {
                let names = match definition {
                    Some(definition) => (Name::new(definition.name()), own),
                    None => **names,
                };
                Ok(Provided {
                    destination: Destination::new(names.0, names.1, None),
                    temporary: false,
                })
            }
            _ => Err(Reason::HOBJ_ERROR),
        }
    }

    /// The topic string of a descriptor, whole.
    ///
    /// # Errors
    /// 2085 there is no such topic object, 2425.
    fn whole_topic(&self, sd: &Sd) -> Result<String, Reason> {
        let of_object = match sd.object_name.is_blank() {
            true => String::new(),
            false => {
                let name = sd.object_name.text();
                let topic = self.qm.catalogue.object(ObjectKind::Topic, &name);
                let topic = topic.ok_or(Reason::UNKNOWN_OBJECT_NAME)?;
                topic.attrs.text(MQCA_TOPIC_STRING).to_owned()
            }
        };
        Ok(posthaste_topic::join(&of_object, &sd.object_string))
    }

    /// What a descriptor says of topics: the filter of a new subscription, within the limits.
    ///
    /// # Errors
    /// 2085 there is no such topic object, 2425 the topic string is empty, too long or malformed.
    pub(super) fn new_filter_of(&self, sd: &Sd) -> Result<Filter, Reason> {
        let filter = self.filter_of(sd)?;
        let within = filter.check_limits();
        within.map_err(|_| Reason::TOPIC_STRING_ERROR)?;
        Ok(filter)
    }

    /// The same for a subscription that may be there already, and then from before there were limits.
    ///
    /// # Errors
    /// As for a new one, the limits apart.
    pub(super) fn filter_of(&self, sd: &Sd) -> Result<Filter, Reason> {
        let scheme = match sd.options & MQSO_WILDCARD_CHAR != 0 {
            true => Scheme::Character,
            false => Scheme::Topic,
        };
        let whole = self.whole_topic(sd)?;
        Filter::new(&whole, scheme).map_err(|_| Reason::TOPIC_STRING_ERROR)
    }

    /// The subscription that a descriptor asks for, with everything but its destination.
    fn described(&self, sd: &Sd, given: Given, filter: Filter) -> Result<Subscription, Reason> {
        let qm = &self.qm;
        let now = qm.clock.now();
        let id = qm.new_sub_id();
        let is = |option: i32| sd.options & option != 0;
        let (accounting_token, application_identity) = options::identity(sd);
        Ok(Subscription {
            id,
            name: sd.sub_name.trim_end_matches(' ').to_owned(),
            topic_object: sd.object_name.text().into_owned(),
            filter,
            destination: Destination::new(Name::default(), Name::default(), None),
            managed: is(MQSO_MANAGED),
            durable: is(MQSO_DURABLE),
            shared: given.shared,
            grouped: is(MQSO_GROUP_SUB),
            maker: Maker::Api,
            correl_id: if is(MQSO_SET_CORREL_ID) {
                sd.sub_correl_id
            } else {
                id
            },
            user_data: sd.sub_user_data.clone(),
            selector: compile(&sd.selection_string)?,
            selection: sd.selection_string.clone(),
            level: sd.sub_level,
            priority: sd.pub_priority,
            accounting_token,
            application_identity,
            user: self.subscriber(sd),
            any_user: is(MQSO_ANY_USERID),
            properties: PublishProperties::MessageProperties,
            on_request: is(MQSO_PUBLICATIONS_ON_REQUEST),
            local_scope: is(MQSO_SCOPE_QMGR),
            expiry: sd.sub_expiry,
            expires: expires(sd.sub_expiry, now),
            created: now,
            altered: now,
            deliveries: Arc::new(PublicationCount::default()),
        })
    }

    /// On whose behalf the call is made, as long as a user identifier in a message may be.
    pub(super) fn subscriber(&self, sd: &Sd) -> String {
        self.on_behalf_of(sd).text().into_owned()
    }

    fn on_behalf_of(&self, sd: &Sd) -> Chars<12> {
        match sd.options & MQSO_ALTERNATE_USER_AUTHORITY != 0 {
            true => sd.alternate_user_id,
            false => Chars::new(&self.who.user),
        }
    }

    /// Whether it is on behalf of another user than the subscription's.
    fn is_another(&self, sd: &Sd, of: &Subscription) -> bool {
        !of.is_of(&self.on_behalf_of(sd))
    }

    /// Makes the destination of a subscription that is to be.
    async fn destination(
        &self,
        of: &mut Subscription,
        sd: &Sd,
        hobj: Hobj,
        caller: &Caller,
    ) -> Result<Option<Made>, Reason> {
        let qm = &self.qm;
        if !of.managed {
            caller.may_have_sent(qm)?;
            let provided = self.provided(sd, hobj, caller)?;
            if of.durable && provided.temporary {
                return Err(Reason::INVALID_DESTINATION);
            }
            of.destination = provided.destination;
            return Ok(None);
        }
        let rules = qm.catalogue.topic_objects.rules(of.filter.branch());
        let model = rules.model(of.durable);
        let made = qm.make_managed(model, of.durable).await?;
        let queue = made.queue().cloned();
        let name = queue.as_ref().map_or(Name::default(), |queue| queue.name);
        of.destination = Destination::new(name, Name::new(&qm.config.name), queue);
        Ok(Some(made))
    }

    /// Makes a subscription, on which this connection has a handle.
    async fn create(
        &self,
        sd: &Sd,
        hobj: Hobj,
        given: Given,
        caller: &Caller,
    ) -> Result<(Found, Authorised), Missed> {
        let qm = &self.qm;
        let filter = self.new_filter_of(sd)?;
        let authorised = caller.may_subscribe(qm, filter.branch(), false)?;
        let rules = qm.catalogue.topic_objects.rules(filter.branch());
        if !rules.subscribe {
            return Err(Reason::SUB_INHIBITED.into());
        }
        if sd.options & MQSO_DURABLE != 0 && !rules.durable {
            return Err(Reason::DURABILITY_NOT_ALLOWED.into());
        }
        let mut made_of = self.described(sd, given, filter)?;
        let made = self.destination(&mut made_of, sd, hobj, caller).await?;
        let id = made_of.id;
        let user = Some((self.id, qm.clock.now()));
        if made_of.durable {
            let object = made_of.object();
            let define = || qm.catalogue.define_for(qm, object.clone(), None, user);
            match qm.with_log_room(define).await {
                Ok(_) => {}
                Err(ChangeError::Exists(_)) => return Err(self.taken(&made_of.name)),
                Err(error) => return Err(reason(error).into()),
            }
        } else {
            let subscription = Arc::new(made_of);
            let add = || match qm.topics.is_in_group(&subscription) {
                true => Err(Reason::DUPLICATE_GROUP_SUB),
                false => Ok(qm.topics.add(subscription.clone(), user, None)),
            };
            let alone = subscription.name.is_empty() && !subscription.grouped;
            let added = match alone {
                true => add(),
                false => qm.catalogue.unchanged(add),
            };
            if !added? {
                return Err(Missed::Again);
            }
        }
        if let Some(made) = made {
            made.taken();
        }
        // Should an administrator have deleted it already, there is none.
        let found = qm.topics.found(&id);
        Ok((found.ok_or(Reason::NO_SUBSCRIPTION)?, authorised))
    }

    /// A subscription of a name could not be made.
    fn taken(&self, name: &str) -> Missed {
        let qm = &self.qm;
        let defined = qm.catalogue.unchanged(|| {
            let defined = qm.catalogue.find(ObjectKind::Sub, name).is_some();
            defined && qm.topics.named(name).is_none()
        });
        match defined {
            // The definition that others begin with, or one that this release cannot read.
            true => Reason::INVALID_SUBSCRIPTION.into(),
            false => Missed::Again,
        }
    }

    /// Whether the caller may use a subscription that there is.
    ///
    /// # Errors
    /// 2434 it is another user's, 2429 the one is shared and the other is not, 2523 only JMS may.
    fn may_use(&self, sd: &Sd, of: &Subscription, given: Given) -> Result<(), Reason> {
        if !of.any_user && self.is_another(sd, of) {
            return Err(Reason::IDENTITY_MISMATCH);
        }
        let resumes = sd.options & MQSO_ALTER == 0;
        match (of.shared, given.shared) {
            _ if given.joins.is_some() => Ok(()),
            // A resume ends it, which a client asks for without saying that it is shared.
            (true, false) if given.is_spi && resumes => Ok(()),
            (true, false) if given.is_spi => Err(Reason::SUBSCRIPTION_IN_USE),
            (true, false) => Err(Reason::INVALID_SUBSCRIPTION),
            (false, true) => Err(Reason::SUBSCRIPTION_IN_USE),
            _ => Ok(()),
        }
    }

    /// Whether a subscription that is in use may be used beside those who do: by a session of a connection consumer, whose connections are
    /// of one user. They need not come from one address. Of one that is shared each has his own part.
    ///
    /// # Errors
    /// 2429.
    fn may_join(&self, found: &Found) -> Result<(), Reason> {
        let mut others = found.users.iter().filter(|user| **user != self.id);
        let is_of_this_user = |number: &u64| {
            let other = self.connections.get(*number);
            other.is_none_or(|other| self.who.user == other.who.user)
        };
        match found.subscription.shared || others.all(is_of_this_user) {
            true => Ok(()),
            false => Err(Reason::SUBSCRIPTION_IN_USE),
        }
    }

    /// Whether a call on this user's behalf takes a subscription over: what is published comes in his name from then on (manual:
    /// "MQSO_ANY_USERID subscription option"). One that is shared is nobody's.
    fn takes_over(&self, sd: &Sd, of: &Subscription) -> bool {
        !of.shared && self.is_another(sd, of)
    }

    /// What a call makes of a subscription as it is; none: it stays so.
    fn changed(
        &self,
        sd: &Sd,
        given: Given,
        of: &Subscription,
        destination: Option<&Destination>,
    ) -> Result<Option<Subscription>, Reason> {
        self.may_use(sd, of, given)?;
        if sd.options & MQSO_ALTER != 0 {
            return altered(self, (sd, given), of, destination.cloned());
        }
        Ok(self.takes_over(sd, of).then(|| Subscription {
            user: self.subscriber(sd),
            ..of.clone()
        }))
    }

    /// One use more of a subscription, beside others as a call says.
    fn begin_use(&self, id: &SubId, given: Given) -> Result<(Found, Use<'_>), Missed> {
        let found = self.qm.topics.begin_use(id, self.id, given.beside());
        let found = match found {
            Err(Reason::NO_SUBSCRIPTION) => return Err(Missed::Again),
            found => found?,
        };
        let using = Use {
            session: self,
            id: *id,
            kept: false,
        };
        if given.joins.is_some() {
            self.may_join(&found)?;
        }
        Ok((found, using))
    }

    /// Uses a subscription that there is, altered where that is asked for.
    async fn resume<'a>(
        self: &'a Arc<Self>,
        sd: &Sd,
        hobj: Hobj,
        given: Given,
        of: &Subscription,
        caller: &Caller,
    ) -> Result<Used<'a>, Missed> {
        let qm = &self.qm;
        let resumes = sd.options & MQSO_ALTER == 0;
        let authorised = caller.may_subscribe(qm, of.filter.branch(), resumes)?;
        self.may_use(sd, of, given)?;
        if (!resumes || self.takes_over(sd, of)) && !of.managed {
            caller.may_have_sent(qm)?;
        }
        let (mut found, using) = self.begin_use(&of.id, given)?;
        let provided = match brings_own(sd, hobj) {
            true => Some(self.provided(sd, hobj, caller)?),
            false => None,
        };
        let before = &Arc::clone(&found.subscription);
        if !resumes && provided.is_none() && !before.managed {
            self.may_set_identity(sd, before, caller)?;
        }
        let same = |provided: &Provided| goes(&provided.destination) == goes(&before.destination);
        if resumes && !provided.as_ref().is_none_or(same) {
            return Err(Reason::HOBJ_ERROR.into());
        }
        let is_temporary = provided.as_ref().is_some_and(|provided| provided.temporary);
        if !resumes && before.durable && is_temporary {
            return Err(Reason::INVALID_DESTINATION.into());
        }
        let destination = provided.map(|provided| provided.destination);
        let moves = !resumes && destination.is_some();
        if moves && self.is_another(sd, before) && !before.managed {
            let (queue, manager) = goes(&before.destination);
            caller.may_have_from(qm, (&queue, &manager))?;
        }
        let change = |of: &Subscription| self.changed(sd, given, of, destination.as_ref());
        let changes = change(before)?.is_some();
        if changes && !before.managed {
            caller.may_have_sent(qm)?;
        }
        let open_options = (!brings_own(sd, hobj)).then(|| options::open_options(sd, given));
        let opened = self.open_handles((sd, before), open_options, (caller, authorised))?;
        let became = Became::Resumed(opened);
        if changes {
            let is_his = moves && !self.is_another(sd, before);
            let stays = |now: &Subscription| match is_his {
                true => !self.is_another(sd, now),
                false => goes(&now.destination) == goes(&before.destination),
            };
            found = self.alter(&of.id, &stays, &change).await?;
        }
        Ok(Used {
            found,
            using,
            became,
        })
    }

    /// Alters a subscription, if it stays what was looked at; gives what is known of it then.
    async fn alter(
        &self,
        id: &SubId,
        stays: &(impl Fn(&Subscription) -> bool + Sync),
        change: &(impl Fn(&Subscription) -> Result<Option<Subscription>, Reason> + Sync),
    ) -> Result<Found, Missed> {
        let qm = &self.qm;
        let change = |now: &Subscription| match stays(now) {
            true => change(now).map_err(ChangeError::Failed),
            // Its messages go elsewhere meanwhile, and what was looked at and opened is not where they go; or it is another's.
            false => Err(ChangeError::NotFound),
        };
        let alter = || qm.catalogue.alter_subscription(qm, id, &change);
        match qm.with_log_room(alter).await {
            Ok(()) => qm.topics.found(id).ok_or(Missed::Again),
            Err(ChangeError::NotFound) => Err(Missed::Again),
            Err(error) => Err(reason(error).into()),
        }
    }

    /// Whether the messages of a subscription may have the identity context that a descriptor says, on a queue that it had before:
    /// as to open that for MQOO_SET_IDENTITY_CONTEXT (manual: "Subscription security").
    fn may_set_identity(&self, sd: &Sd, of: &Subscription, caller: &Caller) -> Result<(), Reason> {
        if sd.options & MQSO_SET_IDENTITY_CONTEXT == 0 {
            return Ok(());
        }
        let destination = &of.destination;
        let resolved = resolve(&self.qm, &destination.queue, &destination.queue_manager);
        let Ok(Ok(resolved)) = resolved else {
            return Err(Reason::INVALID_DESTINATION);
        };
        let set = MQOO_SET_IDENTITY_CONTEXT;
        caller.may_open(&self.qm, &resolved, set).map(drop)
    }

    /// Waits until what is known of a subscription is durable.
    async fn recorded(&self, found: &Found) -> Result<(), Reason> {
        self.qm.settled(found.recorded).await.map_err(reason)
    }

    /// Opens the destination of a subscription.
    ///
    /// # Errors
    /// 2522 it is not there, or cannot be opened so; 2035 the caller may not have it.
    fn open_destination(
        &self,
        of: &Subscription,
        mut options: i32,
        (caller, subscribed): (&Caller, Authorised),
    ) -> Result<Handle, Reason> {
        let destination = &of.destination;
        let last_change = self.qm.catalogue.changes.last();
        let resolved = resolve(&self.qm, &destination.queue, &destination.queue_manager);
        let Ok(Ok(resolved)) = resolved else {
            return Err(Reason::INVALID_DESTINATION);
        };
        // One that the queue manager made is the subscription's own.
        let authorised = match of.managed {
            true => subscribed,
            false => caller.may_have(&self.qm, &resolved.opened)?,
        };
        let counted = self.count_in(&resolved, &mut options);
        counted.map_err(|_| Reason::INVALID_DESTINATION)?;
        Ok(Handle {
            managed: of.managed,
            ..resolved.handle(last_change, options, authorised)
        })
    }

    /// The handles of a call: on the messages, if it is to be opened so, and on the subscription.
    fn open_handles<'a>(
        self: &'a Arc<Self>,
        (sd, of): (&Sd, &Subscription),
        open_options: Option<i32>,
        by: (&Caller, Authorised),
    ) -> Result<Opened<'a>, Reason> {
        let handle = open_options.map(|options| self.open_destination(of, options, by));
        let subscription = OpenSubscription {
            id: of.id,
            user: self.on_behalf_of(sd),
        };
        let (messages, hsub) = self.number(subscription, handle.transpose()?)?;
        Ok(Opened {
            session: self,
            messages,
            hsub,
            kept: false,
        })
    }

    /// Numbers for the handle on the messages, if there is to be one, and the one on the subscription.
    fn number(
        &self,
        subscription: OpenSubscription,
        handle: Option<Handle>,
    ) -> Result<(Option<Hobj>, Hobj), Reason> {
        let mut state = self.lock();
        let none = Reason::HANDLE_NOT_AVAILABLE;
        let Some(handle) = handle else {
            let hsub = state.handles.add_subscription(subscription);
            return Ok((None, hsub.ok_or(none)?));
        };
        let (target, options) = (handle.target.clone(), handle.options);
        let hobj = state.handles.add(handle);
        let hsub = hobj.and_then(|_| state.handles.add_subscription(subscription));
        match (hobj, hsub) {
            (Some(hobj), Some(hsub)) => Ok((Some(hobj), hsub)),
            (hobj, _) => {
                if let Some(hobj) = hobj {
                    // It was given a number a moment ago, under this lock.
                    let _ = state.handles.remove(hobj);
                }
                drop(state);
                super::release::count_out(&target, options);
                Err(none)
            }
        }
    }

    fn check_handles(&self, more: u32) -> Result<(), Reason> {
        let open = self.lock().handles.open;
        match open.saturating_add(more) > self.qm.catalogue.qmgr().max_handles {
            true => Err(Reason::HANDLE_NOT_AVAILABLE),
            false => Ok(()),
        }
    }

    async fn find_or_make<'a>(
        self: &'a Arc<Self>,
        sd: &Sd,
        hobj: Hobj,
        given: Given,
        caller: &Caller,
    ) -> Result<Used<'a>, Missed> {
        let qm = &self.qm;
        let name = sd.sub_name.trim_end_matches(' ');
        let mut there = match &given.joins {
            Some(id) => qm.topics.found(id).map(|found| found.subscription),
            None => qm.topics.named(name),
        };
        if let Some(expired) = there.take_if(|there| there.has_expired(qm.clock.now())) {
            match qm.end_if_expired(&expired) {
                Ok(()) => {}
                Err(ChangeError::NotFound) => return Err(Missed::Again),
                Err(_) => return Err(Reason::INVALID_SUBSCRIPTION.into()),
            }
        }
        let creates = sd.options & MQSO_CREATE != 0;
        let resumes = sd.options & (MQSO_RESUME | MQSO_ALTER) != 0;
        match there {
            Some(of) if resumes => self.resume(sd, hobj, given, &of, caller).await,
            Some(_) => {
                // Who may not subscribe does not learn which names are taken either.
                let filter = self.new_filter_of(sd)?;
                caller.may_subscribe(qm, filter.branch(), false)?;
                Err(Reason::SUB_ALREADY_EXISTS.into())
            }
            None if creates => {
                let (found, authorised) = self.create(sd, hobj, given, caller).await?;
                let using = Use {
                    session: self,
                    id: found.subscription.id,
                    kept: false,
                };
                Ok(Used {
                    found,
                    using,
                    became: Became::Made(authorised),
                })
            }
            None if name == crate::topics::ends::DEFAULT_SUB => {
                Err(Reason::INVALID_SUBSCRIPTION.into())
            }
            None => Err(Reason::NO_SUBSCRIPTION.into()),
        }
    }

    /// Gives a subscription that was made what is retained, and its handles.
    async fn begin<'a>(
        self: &'a Arc<Self>,
        sd: &Sd,
        made: &Found,
        open_options: Option<i32>,
        by: (&Caller, Authorised),
    ) -> Result<Opened<'a>, Reason> {
        let subscription = &made.subscription;
        let only_new = MQSO_NEW_PUBLICATIONS_ONLY | MQSO_PUBLICATIONS_ON_REQUEST;
        if sd.options & only_new == 0 {
            send_retained(&self.qm, self.id, subscription, Some(made.number)).await?;
        }
        self.open_handles((sd, subscription), open_options, by)
    }

    async fn subscribe(
        self: &Arc<Self>,
        sd: &mut Sd,
        hobj: Hobj,
        given: Given,
    ) -> Verb<(Hobj, Hobj)> {
        options::check(sd, given)?;
        if !self.qm.catalogue.qmgr().publish_subscribe {
            return Err(Reason::PUBSUB_INHIBITED);
        }
        if sd.options & MQSO_FAIL_IF_QUIESCING != 0 && self.qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let own = brings_own(sd, hobj);
        self.check_handles(if own { 1 } else { 2 })?;
        let caller = self.subscribing(sd).await?;
        let mut tries = 0;
        let Used {
            found,
            mut using,
            became,
        } = loop {
            match self.find_or_make(sd, hobj, given, &caller).await {
                Err(Missed::Again) if tries < TRIES => tries += 1,
                Err(Missed::Again) => return Err(Reason::SUBSCRIPTION_IN_USE),
                Err(Missed::For(Reason::NO_SUBSCRIPTION)) => {
                    self.qm.recorded_as_gone().await.map_err(reason)?;
                    return Err(Reason::NO_SUBSCRIPTION);
                }
                Err(Missed::For(reason)) => return Err(reason),
                Ok(found) => break found,
            }
        };
        self.recorded(&found).await?;
        let subscription = &found.subscription;
        let created = matches!(became, Became::Made(_));
        let mut opened = match became {
            Became::Resumed(opened) => opened,
            Became::Made(authorised) => {
                let open_options = (!own).then(|| options::open_options(sd, given));
                let by = (&caller, authorised);
                match self.begin(sd, &found, open_options, by).await {
                    Ok(opened) => opened,
                    // Rare, so it takes its room only when it happens.
                    Err(why) => return Err(Box::pin(self.qm.unmake(subscription, why)).await),
                }
            }
        };
        (using.kept, opened.kept) = (true, true);
        if !created {
            self.qm
                .topics
                .resumed(&subscription.id, self.qm.clock.now());
        }
        if subscription.expires.is_some() {
            // Whoever ends it is to know when.
            self.qm.kick.raise();
        }
        options::describe(sd, subscription, created);
        Ok(Done::ok((opened.messages.unwrap_or(hobj), opened.hsub)))
    }
}

impl Session {
    /// MQSUB. `hobj` is the application's own queue, [`Hobj::NONE`] where the queue manager is to make one or the
    /// subscription has one. Gives a handle for the messages and one for the subscription.
    ///
    /// # Errors
    /// 2046 options; 2013, 2050, 2424, 2431, 2440 fields of the descriptor; 2085 topic object, 2425 topic string; 2459,
    /// 2504, 2519 selection string; 2525, 2526 retained publications; 2019 `hobj`; 2522 destination; 2503, 2436 the topic takes no (durable)
    /// subscriptions; 2531 PSMODE; 2428 there is no such subscription, 2432 there is one, 2429 it is in use, 2434 it is another user's,
    /// 2523 it cannot be used so; 2509, 2510, 2512, 2515, 2524, 2533 what cannot be altered; 2514 its group has its topic string already; 2562
    /// what is shared is of no group; 2017 no handle, 2161
    /// quiescing.
    pub async fn subscribe(&self, sd: &mut Sd, hobj: Hobj) -> Verb<(Hobj, Hobj)> {
        let _call = self.inner().enter()?;
        let given = Given::default();
        self.inner().subscribe(sd, hobj, given).await
    }

    /// The same, by a client that says more about it than a descriptor can.
    ///
    /// # Errors
    /// Those of [`Session::subscribe`].
    pub async fn subscribe_with(
        &self,
        sd: &mut Sd,
        hobj: Hobj,
        with: SubscribeOptions,
    ) -> Verb<(Hobj, Hobj)> {
        let _call = self.inner().enter()?;
        let given = Given::of(with)?;
        self.inner().subscribe(sd, hobj, given).await
    }

    /// The identifier of the subscription that a handle is on.
    ///
    /// # Errors
    /// 2019 it is on none.
    pub fn subscription_id(&self, hsub: Hobj) -> Result<[u8; 24], Reason> {
        let session = self.inner();
        let opened = session.lock().handles.subscription(hsub);
        opened.map(|opened| opened.id)
    }

    /// The queue that a handle of a subscription's messages is open on, and its queue manager; none if it is open on no
    /// queue.
    pub fn destination(&self, hobj: Hobj) -> Option<(Name, Name)> {
        let mut state = self.inner().lock();
        let queue: Option<&Arc<Queue>> = match &state.handles.get(hobj).ok()?.target {
            Target::Queue { queue, .. } => Some(queue),
            _ => None,
        };
        let manager = Name::new(&self.inner().qm.config.name);
        queue.map(|queue| (queue.name, manager))
    }
}
