//! What an administrator asks for: define, alter, delete, clear, as calls with typed results.
//!
//! Invariants: a change is answered when its log record is forced; where the log has no room for it, it waits until
//! maintenance has made some, as a put does; what asks for something that is not in this release changes nothing.

use std::sync::Arc;

use posthaste_command::{Attribute, Attrs, Deletion, Object, ObjectKind, Set, attributes};
use posthaste_mqi::Chars;
use posthaste_mqi::constants::MQCACF_SUB_USER_ID;
use posthaste_recovery_log::Lsn;

use super::holders::{Holder, holders, openers};
use super::impact::{Impact, keeps_open};
use super::subscriptions::likeness;
use super::{Catalogue, ChangeError, Definition, May, Runtime};
use crate::handles::{Handle, Target};
use crate::manager::Inner;
use crate::names::can_be_called;
use crate::queue_manager::QueueManager;
use crate::topics::stored;
use crate::unit::log_space_wait::LogSpaceWait;
use crate::verbs::retained::send_retained;

/// A definition that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct NewDefinition<'a> {
    /// What is to be defined.
    pub kind: ObjectKind,
    /// Its name.
    pub name: &'a str,
    /// Whether it may take the place of one of this kind.
    pub replace: bool,
    /// It was decided about as about something new: one that somebody has made meanwhile stays.
    pub decided_new: bool,
    /// Whose attributes it begins with; none: those of the kind's default object.
    pub like: Option<&'a str>,
    /// What is said of it besides.
    pub attrs: &'a Attrs,
    /// Who defines it: a subscription whose definition names no user is his (manual: "DEFINE SUB", SUBUSER). Empty: nobody.
    pub maker: &'a str,
}

/// The attributes a new definition begins with.
fn base(catalogue: &Catalogue, kind: ObjectKind, like: Option<&str>) -> Result<Attrs, ChangeError> {
    let mut attrs = Attrs::defaults(kind);
    let name = like.unwrap_or_else(|| kind.row().default_object);
    match catalogue.object(kind, name) {
        Some(object) if kind == ObjectKind::Sub => attrs.merge(&likeness(&object)),
        Some(object) => attrs.merge(&object.attrs),
        None if like.is_some() => return Err(ChangeError::NotFound),
        None => {}
    }
    Ok(attrs)
}

/// Refuses what asks for something that is not in this release.
fn check_supported(kind: ObjectKind, given: &Attrs) -> Result<(), ChangeError> {
    let asked: Vec<i32> = attributes(kind)
        .filter(|attribute| {
            let value = given.get(attribute.selector);
            value.is_some_and(|value| !attribute.takes(value))
        })
        .map(|attribute| attribute.selector)
        .collect();
    match asked.is_empty() {
        true => Ok(()),
        false => Err(ChangeError::NotSupported(asked)),
    }
}

impl Inner {
    /// Makes a change, when the log has room for it.
    pub(crate) async fn with_log_room<T>(
        &self,
        change: impl Fn() -> Result<T, ChangeError>,
    ) -> Result<T, ChangeError> {
        self.lifecycle.running().map_err(ChangeError::NotRunning)?;
        let mut log_space_wait = LogSpaceWait::new();
        loop {
            match change() {
                Err(ChangeError::LogFull) => {
                    let waited = log_space_wait.wait_for_room(self).await;
                    waited.map_err(ChangeError::Failed)?;
                }
                made => return made,
            }
        }
    }

    /// Waits until a change is durable.
    pub(crate) async fn settled(&self, end: Option<Lsn>) -> Result<(), ChangeError> {
        let Some(end) = end else {
            return Ok(());
        };
        if let Err(error) = self.log.force(end).await {
            self.log_failed(&error);
            return Err(ChangeError::NotForced);
        }
        self.log_space.note_progress(end);
        Ok(())
    }

    /// Waits until what is not there does not come back by a crash either: whoever deletes it may be waiting for the log still.
    pub(crate) async fn recorded_as_gone(&self) -> Result<(), ChangeError> {
        self.settled(Some(self.log.appended())).await
    }

    /// What is answered to a change that was not made: that there is no such object, when no crash brings it back.
    async fn refusal(&self, error: ChangeError) -> ChangeError {
        match error {
            ChangeError::NotFound => self.recorded_as_gone().await.err().unwrap_or(error),
            other => other,
        }
    }

    /// A damaged queue that has been cleared is usable after the next checkpoint: takes it at once. Should it fail,
    /// the operator is told why, and a later one does it.
    async fn recover_cleared(self: &Arc<Self>, name: &str) {
        let queue = self.catalogue.local_queue(name);
        if queue.is_some_and(|queue| queue.lock().usable().is_err()) {
            let _ = self.checkpoint_now(false).await;
        }
    }
}

impl QueueManager {
    /// The same error, with who is in the way where somebody is.
    fn hindered(&self, name: &str, error: ChangeError) -> ChangeError {
        let held = || {
            let queue = self.inner().catalogue.local_queue(name);
            queue.map_or_else(Vec::new, |queue| holders(self, &queue))
        };
        match error {
            ChangeError::InUse(found) if found.is_empty() => ChangeError::InUse(held()),
            ChangeError::Uncommitted(_) => ChangeError::Uncommitted(held()),
            other => other,
        }
    }

    /// Whether a definition may become what the attributes say without FORCE: whether nobody has it open in a way that this
    /// matters to (see the head of `impact`). The caller holds `order`.
    fn may_become(&self, known: &Definition, after: &Attrs) -> Result<(), ChangeError> {
        let impact = Impact::of(known.kind(), &known.attrs(), after);
        let is_alias = |handle: &Handle| handle.opened.is(known);
        let is_remote = |handle: &Handle| match &handle.target {
            Target::Remote {
                definition: Some(by),
                ..
            } => by.is(known),
            target => matches!(target, Target::Definition) && handle.opened.is(known),
        };
        let is_by_manager = |handle: &Handle| match &handle.target {
            Target::Remote {
                definition: None, ..
            } => handle.opened.is(known),
            target => target.by_manager().is_some_and(|by| by.is(known)),
        };
        let is_by_default = |handle: &Handle| match handle.target {
            Target::Remote { by_default, .. } => by_default,
            _ => false,
        };
        let mut found: Vec<Holder> = Vec::new();
        match known.runtime() {
            Runtime::Local(queue) if impact.hinders(queue) => {
                return Err(ChangeError::NeedsForce(holders(self, queue)));
            }
            Runtime::Local(_) => {}
            Runtime::Alias(_) if impact.target => found = openers(self, &is_alias),
            Runtime::None if impact.transmission => {
                found = openers(self, &|handle| is_remote(handle) || is_by_manager(handle));
            }
            Runtime::None if impact.names => found = openers(self, &is_by_manager),
            Runtime::None if impact.default_route => found = openers(self, &is_by_default),
            _ => {}
        }
        match found.is_empty() {
            true => Ok(()),
            false => Err(ChangeError::NeedsForce(found)),
        }
    }

    /// Whether a definition may go: whether nobody has it open, or has something open that resolves through it (see the head of
    /// `impact`). A local queue knows for itself. The caller holds `order`.
    fn may_go(&self, known: &Definition) -> Result<(), ChangeError> {
        let found = match keeps_open(known.kind()) {
            true => openers(self, &|handle| handle.came_by(known)),
            false => Vec::new(),
        };
        match found.is_empty() {
            true => Ok(()),
            false => Err(ChangeError::InUse(found)),
        }
    }

    /// Defines an object.
    ///
    /// # Errors
    /// Why nothing was defined. `NotFound` is about the object that it was to be like; 2525, 2526: what is retained could not be
    /// sent to a new subscription, which has ended again.
    pub async fn define(&self, definition: &NewDefinition<'_>) -> Result<(), ChangeError> {
        let NewDefinition {
            kind,
            name,
            replace,
            decided_new,
            like,
            attrs: given,
            maker,
        } = *definition;
        let inner = self.inner();
        if !can_be_called(kind, name) {
            return Err(ChangeError::BadName);
        }
        check_supported(kind, given)?;
        let mut attrs = base(&inner.catalogue, kind, like)?;
        attrs.merge(given);
        // What others begin with is nobody's.
        let has_user = kind == ObjectKind::Sub && name != kind.row().default_object;
        if has_user && attrs.unpadded(MQCACF_SUB_USER_ID).is_empty() {
            // As long as a user identifier in a message may be.
            attrs.set_text(MQCACF_SUB_USER_ID, Chars::<12>::new(maker).text());
        }
        let mut object = Object {
            kind,
            name: name.to_owned(),
            attrs,
        };
        let made = self.prepare_subscription(&mut object, replace).await?;
        let may = |known: &Definition, after: &Attrs| match decided_new {
            true => Err(ChangeError::Exists(known.kind())),
            false => self.may_become(known, after),
        };
        let replace: Option<May<'_>> = match replace {
            true => Some(&may),
            false => None,
        };
        let define = || inner.catalogue.define(inner, object.clone(), replace);
        let defined = inner.with_log_room(define).await?;
        if let Some(made) = made {
            made.taken();
        }
        inner.settled(defined.end).await?;
        match kind == ObjectKind::Sub && defined.new {
            true => Box::pin(self.begin_with_retained(&defined.definition)).await,
            false => Ok(()),
        }
    }

    /// Where those topic strings begin that a subscription of this name has, and would get from a definition with these attributes, with
    /// what LIKE says: up to the first wildcard, as of those that [`QueueManager::define`] subscribes to.
    pub fn branches_subscribed_to(
        &self,
        name: &str,
        define: Option<(&Attrs, Option<&str>)>,
    ) -> Vec<String> {
        let inner = self.inner();
        let branch = |attrs: &Attrs| {
            let of_object = inner.topic_of_object(attrs).unwrap_or_default();
            stored::branch(attrs, &of_object)
        };
        let known = inner.catalogue.object(ObjectKind::Sub, name);
        let mut topics: Vec<String> = known.iter().map(|known| branch(&known.attrs)).collect();
        if let Some((given, like)) = define
            && let Ok(mut attrs) = base(&inner.catalogue, ObjectKind::Sub, like)
        {
            attrs.merge(given);
            topics.push(branch(&attrs));
        }
        topics
    }

    /// Sends a subscription that has just been defined what is retained, as MQSUB does with one that it has made. Should that
    /// fail the subscription ends: it would lack for ever what whoever defined it takes to be there.
    async fn begin_with_retained(&self, made: &Definition) -> Result<(), ChangeError> {
        let inner = self.inner();
        // Somebody may have deleted it already, and defined another one by its name.
        let Some(found) = stored::id_of(&made.attrs()).and_then(|id| inner.topics.found(&id))
        else {
            return Ok(());
        };
        let subscription = &found.subscription;
        if subscription.on_request {
            return Ok(());
        }
        let sent = send_retained(inner, 0, subscription, Some(found.number)).await;
        match sent {
            Ok(_) => Ok(()),
            Err(why) => Err(ChangeError::Failed(inner.unmake(subscription, why).await)),
        }
    }

    /// Changes some attributes of an object; `name` is not looked at where `kind` is the queue manager. `force`: also of one that
    /// somebody has open in a way that this matters to; his handle is void then.
    ///
    /// # Errors
    /// Why nothing was changed.
    pub async fn alter(
        &self,
        kind: ObjectKind,
        name: &str,
        attrs: &Attrs,
        force: bool,
    ) -> Result<(), ChangeError> {
        check_supported(kind, attrs)?;
        let fixed = |row: &&Attribute| row.set == Set::DefineOnly;
        let mut fixed = attributes(kind).filter(fixed).map(|row| row.selector);
        if let Some(selector) = fixed.find(|selector| attrs.get(*selector).is_some()) {
            return Err(ChangeError::Fixed(selector));
        }
        if kind == ObjectKind::Sub {
            self.check_new_destination(name, attrs)?;
        }
        let inner = self.inner();
        let may = |known: &Definition, after: &Attrs| match force {
            true => Ok(()),
            false => self.may_become(known, after),
        };
        let alter = || inner.catalogue.alter(inner, kind, name, attrs, &may);
        match inner.with_log_room(alter).await {
            Ok(end) => inner.settled(end).await,
            Err(error) => Err(inner.refusal(error).await),
        }
    }

    /// Deletes an object that nobody has open; a queue with messages only with `purge`, and with it its authority records, unless
    /// these are kept.
    ///
    /// # Errors
    /// Why nothing was deleted.
    pub async fn delete(
        &self,
        kind: ObjectKind,
        name: &str,
        how: Deletion,
    ) -> Result<(), ChangeError> {
        let inner = self.inner();
        let may = |known: &Definition| self.may_go(known);
        let delete = || inner.catalogue.delete(inner, (kind, name), how, &may);
        match inner.with_log_room(delete).await {
            Ok(end) => inner.settled(end).await,
            Err(error) => Err(inner.refusal(self.hindered(name, error)).await),
        }
    }

    /// Ends a subscription by its identifier, durable or not, whoever has a handle on it.
    ///
    /// # Errors
    /// `NotFound` there is none; why it has not ended.
    pub async fn end_subscription(&self, id: &[u8; 24]) -> Result<(), ChangeError> {
        let inner = self.inner();
        let Some(found) = inner.topics.found(id) else {
            return Err(inner.refusal(ChangeError::NotFound).await);
        };
        let remove = || inner.end_subscription(&found.subscription);
        match inner.with_log_room(remove).await {
            Ok(end) => inner.settled(end).await,
            Err(error) => Err(inner.refusal(error).await),
        }
    }

    /// Removes every message of a local queue that nobody has open.
    ///
    /// # Errors
    /// Why nothing was removed.
    pub async fn clear(&self, name: &str) -> Result<(), ChangeError> {
        let inner = self.inner();
        let clear = || inner.catalogue.clear(inner, name);
        let cleared = match inner.with_log_room(clear).await {
            Ok(cleared) => cleared,
            Err(error) => return Err(self.hindered(name, error)),
        };
        // Should the one who asked go away meanwhile, maintenance sees to it.
        cleared.done().await.map_err(ChangeError::Failed)?;
        inner.recover_cleared(name).await;
        Ok(())
    }
}
