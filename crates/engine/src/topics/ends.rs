//! Subscriptions begin and end: by handles, by command, by themselves, and at start.
//!
//! Invariants:
//! * A durable subscription is in the catalogue and here, or nowhere; both change under the catalogue's order.
//! * Who has been told that a subscription could not be made, or has ended, does not find it after a crash.
//! * What ends a subscription leaves its managed queue to `managed.rs`, once no lock is held.
//! * One that has been altered before its time came, or when it had come and nobody had ended it, lives on as it was told.

use std::sync::Arc;

use posthaste_command::{Attrs, Object, ObjectKind};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use posthaste_recovery_log::Lsn;

use super::managed::reason;
use super::stored;
use super::subscription::{SubId, Subscription};
use crate::catalogue::ChangeError;
use crate::manager::Inner;
use crate::plant::{Bug, planted};

/// Nanoseconds until a queue that could not be deleted is tried again, and the least between two looks.
const LATER: u64 = 1_000_000_000;
const MILLI: u64 = 1_000_000;
/// Defines what a subscription begins with and is none itself.
pub(crate) const DEFAULT_SUB: &str = "SYSTEM.DEFAULT.SUB";

/// Whether a managed queue would be nobody's, because its subscription is to have another destination.
fn loses_managed_queue(before: &Attrs, after: &Attrs) -> bool {
    let selectors = [MQCACF_DESTINATION, MQCACF_DESTINATION_Q_MGR];
    before.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED
        && selectors.iter().any(|s| before.text(*s) != after.text(*s))
}

impl Inner {
    /// An identifier nobody else has.
    pub(crate) fn new_sub_id(&self) -> SubId {
        self.new_msg_id(self.next_seq())
    }

    /// Gives the definition of a subscription what the queue manager adds to it (`before`: what it said until now), and
    /// reads it; none: it is of no subscription.
    ///
    /// # Errors
    /// `NotFound` it is to change another subscription than the one that is there; `NoDestination` it has a managed queue
    /// and is to have another; else why it cannot be one.
    pub(crate) fn read_subscription(
        &self,
        object: &mut Object,
        before: Option<&Attrs>,
    ) -> Result<Option<Subscription>, ChangeError> {
        if object.kind != ObjectKind::Sub || object.name == DEFAULT_SUB {
            return Ok(None);
        }
        let known = before.and_then(|before| before.get(MQBACF_SUB_ID));
        let meant = object.attrs.get(MQBACF_SUB_ID);
        if known.is_some() && meant.is_some() && known != meant {
            return Err(ChangeError::NotFound);
        }
        let id = stored::id_of(&object.attrs).or_else(|| before.and_then(stored::id_of));
        let id = id.unwrap_or_else(|| self.new_sub_id());
        if before.is_some_and(|before| loses_managed_queue(before, &object.attrs)) {
            return Err(ChangeError::NoDestination);
        }
        stored::complete(&mut object.attrs, before, id, self.clock.now());
        let mut read = self.subscription_of(object).map_err(ChangeError::Failed)?;
        // One that an older release stored can be altered still.
        if before.is_none() && read.filter.check_limits().is_err() {
            return Err(ChangeError::Failed(Reason::TOPIC_STRING_ERROR));
        }
        read.grouped &= !planted(Bug::AlterUngroups);
        stored::set_whole_topic(&mut object.attrs, read.topic());
        Ok(Some(read))
    }

    /// The topic string of a definition's topic object, where that is asked.
    ///
    /// # Errors
    /// 2085 there is none of its name.
    pub(crate) fn topic_of_object(&self, attrs: &Attrs) -> Result<String, Reason> {
        match attrs.text(MQCA_TOPIC_NAME) {
            _ if stored::has_whole_topic(attrs) => Ok(String::new()),
            "" => Ok(String::new()),
            name => {
                let topic = self.catalogue.object(ObjectKind::Topic, name);
                let topic = topic.ok_or(Reason::UNKNOWN_OBJECT_NAME)?;
                Ok(topic.attrs.text(MQCA_TOPIC_STRING).to_owned())
            }
        }
    }

    fn subscription_of(&self, object: &Object) -> Result<Subscription, Reason> {
        let topic = self.topic_of_object(&object.attrs)?;
        let subscription = Subscription::of(object, &self.config.name, &topic)?;
        let destination = &subscription.destination;
        if destination.queue_manager.text() == self.config.name {
            let queue = self.catalogue.local_queue(&destination.queue.text());
            destination.set_found(queue);
        }
        Ok(subscription)
    }

    /// Every durable subscription is there again, before anybody connects.
    pub(crate) fn recover_subscriptions(self: &Arc<Self>) {
        for object in self.catalogue.objects(ObjectKind::Sub) {
            if object.name == DEFAULT_SUB || planted(Bug::ForgetSubscription) {
                continue;
            }
            match self.subscription_of(&object) {
                Ok(mut subscription) => {
                    subscription.grouped &= !planted(Bug::ForgetGroup);
                    let added = self.topics.add(Arc::new(subscription), None, None);
                    assert!(added, "names in the catalogue are unique");
                }
                Err(reason) => {
                    let inserts = [object.name, reason.to_string()];
                    self.operator.message("AMQ2079E", &inserts);
                }
            }
        }
        self.delete_without_subscription();
    }

    /// A handle of a connection on a subscription is closed.
    pub(crate) fn end_use(self: &Arc<Self>, id: &SubId, session: u64) {
        if let Some(ended) = self.topics.end_use(id, session) {
            self.subscription_ended(&ended);
        }
    }

    /// What a subscription leaves behind goes. It is found no more, and no lock is held.
    pub(crate) fn subscription_ended(self: &Arc<Self>, ended: &Subscription) {
        if ended.managed
            && !planted(Bug::LeakManaged)
            && let Some(queue) = ended.destination.found()
        {
            self.abandon(&queue);
        }
    }

    /// Ends a subscription, whoever has a handle on it. One that is durable is gone once the log is forced up to what is
    /// returned.
    ///
    /// # Errors
    /// `NotFound` it has ended; why the log cannot say it.
    pub(crate) fn end_subscription(
        self: &Arc<Self>,
        subscription: &Subscription,
    ) -> Result<Option<Lsn>, ChangeError> {
        self.end_if(subscription, |_| true)
    }

    /// Ends a subscription whose time had come when somebody looked, unless it has been altered since and lives on. Not
    /// forced: one that comes back after a crash has expired all the same.
    ///
    /// # Errors
    /// `NotFound` it has ended, or lives on; why the log cannot say it.
    pub(crate) fn end_if_expired(
        self: &Arc<Self>,
        subscription: &Subscription,
    ) -> Result<(), ChangeError> {
        let now = self.clock.now();
        let ended = self.end_if(subscription, |known| known.has_expired(now));
        ended.map(drop)
    }

    /// `goes`: whether it is to go, as it is now.
    fn end_if(
        self: &Arc<Self>,
        subscription: &Subscription,
        goes: impl FnOnce(&Subscription) -> bool,
    ) -> Result<Option<Lsn>, ChangeError> {
        if subscription.durable {
            return self.catalogue.delete_subscription(self, subscription, goes);
        }
        let ended = self.topics.remove_if(&subscription.id, goes);
        let ended = ended.ok_or(ChangeError::NotFound)?;
        self.subscription_ended(&ended);
        Ok(None)
    }

    /// Ends a subscription that could not be made as a whole (`why`), although it is recorded already. What its maker is told, when
    /// no start finds it any more; a reason of its own where nobody knows, or where it stays because the log cannot say that it is
    /// gone.
    pub(crate) async fn unmake(self: &Arc<Self>, made: &Subscription, why: Reason) -> Reason {
        let end = || self.end_subscription(made);
        let ended = match end() {
            // Tried first without a look at whether the queue manager ends: what has been made is to go then too.
            Err(ChangeError::LogFull) => self.with_log_room(end).await,
            ended => ended,
        };
        let upto = match ended {
            Ok(end) => end,
            // Somebody else has ended it, and may be waiting for the log still.
            Err(ChangeError::NotFound) => made.durable.then(|| self.log.appended()),
            Err(error) => return reason(error),
        };
        self.settled(upto).await.map_or_else(reason, |()| why)
    }

    /// After how many nanoseconds there may be something to do about subscriptions and their queues.
    pub(crate) fn next_look_at_subscriptions(&self) -> u64 {
        let next = self.topics.next_expiry().map(|at| {
            let micros = at.saturating_sub(self.clock.now());
            u64::try_from(micros).unwrap_or(0).saturating_mul(1_000)
        });
        // What the log has no room for is tried again, but not all the time.
        let next = next.map(|next| next.max(MILLI));
        match self.topics.has_deferred() {
            true => next.unwrap_or(LATER).min(LATER),
            false => next.unwrap_or(u64::MAX),
        }
    }

    /// Ends those whose time has come.
    pub(crate) fn end_expired(self: &Arc<Self>) {
        for subscription in self.topics.expired(self.clock.now()) {
            // Where the log has no room, the next look tries again.
            let _ = self.end_if_expired(&subscription);
        }
    }
}
