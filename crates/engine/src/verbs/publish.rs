//! MQPUT to a topic: a message for everybody who has subscribed to it.
//!
//! Sources: MQ manual, "MQPMO options", "MQPMO - PubLevel", "DEFINE TOPIC" (PMSGDLV, NPMSGDLV, USEDLQ), "Publishing
//! options", MQMD "MsgId".
//!
//! Invariants:
//! * Who gets it is decided once, when the call begins: those who subscribe later do not. Whoever has gone before there
//!   is a place for his copy gets none, and nobody fails or is told for his sake.
//! * Whose queue is not there is as one whose queue takes nothing: his copy goes to the dead-letter queue, where it may.
//! * No publication is in a group or a segment (messages manual, "2417 MQRC_MSG_NOT_ALLOWED_IN_GROUP").
//! * All copies are put at once (`distribute`), and what is retained of it with them.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Md, MsgId, Name, Pmo, Reason};
use posthaste_recovery_log::Lsn;

use super::descriptor::check_md;
use super::distribute::{self, Copy, Distribution};
use super::{Done, Verb, mde};
use crate::at_their_word::on_anothers_behalf;
use crate::authority_service::Authorised;
use crate::catalogue::Alias;
use crate::consume::considered::Considered;
use crate::handles::{OpenTopic, Target};
use crate::manager::Inner;
use crate::message::Message;
use crate::message_data::MessageData;
use crate::meter::Count;
use crate::origin::{Origin, asks_for_report};
use crate::queue::Queue;
use crate::queue::retained::Retaining;
use crate::resolution::{ours, resolve};
use crate::routed::{RoutedMessage, trimmed};
use crate::session::SessionInner;
use crate::topics::administrative::{DeliveryRule, TopicRules};
use crate::topics::publication::{Form, Forms, descriptor};
use crate::topics::subscription::{SubId, Subscription, keep_one_of_each_group};
use crate::topics::underway::Underway;
use crate::transmission::transmit;

/// The flags of a message that is one of several.
const OF_A_WHOLE: i32 =
    MQMF_MSG_IN_GROUP | MQMF_LAST_MSG_IN_GROUP | MQMF_SEGMENT | MQMF_LAST_SEGMENT;

/// A publication that is complete.
pub(super) struct Publishing {
    topic: Arc<OpenTopic>,
    rules: Arc<TopicRules>,
    /// The publisher's descriptor; its MsgId is zeros where each copy is to have one of its own.
    md: Md,
    data: MessageData,
    expires: i64,
    /// The MsgId that the publisher is given back.
    given_back: MsgId,
    warning: Reason,
}

impl Publishing {
    /// The descriptor of the publication, when it expires, and the MsgId and the warning for the publisher.
    pub(super) fn complete(&self) -> (Md, i64, MsgId, Reason) {
        let md = self.md.clone();
        (md, self.expires, self.given_back, self.warning)
    }

    fn rule(&self) -> DeliveryRule {
        self.rules.delivery(self.md.persistence == MQPER_PERSISTENT)
    }
}

/// A copy on its way to a queue.
pub(super) struct Addressed {
    /// Which of the forms it has.
    form: usize,
    pub(super) routed: RoutedMessage,
    subscription: Arc<Subscription>,
    remote: bool,
    refused: Option<Refused>,
    /// It has to be delivered if what is durable has to be.
    durable: bool,
}

/// Why a copy cannot have a place where it goes.
enum Refused {
    /// An alias on its way forbids it.
    Inhibited,
    /// There is no queue of its subscription's, for this reason; what it is addressed to is the dead-letter queue.
    Nowhere(Reason),
}

impl Addressed {
    fn is_sent_nowhere(&self) -> bool {
        matches!(self.refused, Some(Refused::Nowhere(_)))
    }

    /// The copy that is distributed, and what it is for; as [`Copy::new`].
    pub(super) fn into_copy(
        self,
        must: Option<Reason>,
        dead_letter: bool,
    ) -> (Copy, Arc<Subscription>, bool) {
        let subscription = self.subscription;
        let copy = Copy::new(self.routed, subscription.id, must, dead_letter);
        let copy = match self.refused {
            None => copy,
            Some(Refused::Inhibited) => copy.refused(Reason::PUT_INHIBITED),
            Some(Refused::Nowhere(reason)) => {
                let destination = &subscription.destination;
                copy.refused(reason)
                    .sent_to(destination.queue, destination.queue_manager)
            }
        };
        (copy, subscription, self.remote)
    }
}

/// How a subscription's messages go.
struct Way {
    /// The local queue that they go to first.
    queue: Arc<Queue>,
    /// The names behind it if it is a transmission queue.
    remote: Option<(Name, Name)>,
    /// The alias that leads there.
    alias: Option<Arc<Alias>>,
}

impl Way {
    fn to(queue: Arc<Queue>) -> Way {
        Way {
            queue,
            remote: None,
            alias: None,
        }
    }
}

/// What a copy is called where its subscription may not send it.
const PUBLICATION: &str = "publication";

/// Looks up the users of subscriptions whose ways may lead back here by a queue manager alias, for [`way`] to know them.
pub(super) async fn look_up_senders(qm: &Inner, subscriptions: &[Arc<Subscription>]) {
    let by_manager = |of: &&Arc<Subscription>| !ours(qm, &of.destination.queue_manager);
    let users = subscriptions.iter().filter(by_manager);
    let users: BTreeSet<String> = users.map(|of| of.user.clone()).collect();
    if !users.is_empty() {
        // Rare, so it takes its room only when it happens.
        Box::pin(qm.look_all_up(&users)).await;
    }
}

/// Where a subscription's messages go.
///
/// An alias, or a queue manager alias, can be made, or made to lead elsewhere, after it was decided that the subscription may send
/// there. What it sends is by whoever publishes: no way leads to a queue whose messages are taken at their word. Where a queue manager
/// alias leads to a queue here, which was asked about by its own name, that is asked about again.
///
/// # Errors
/// Why there is no queue that they could go to: that of an MQOPEN of its destination.
fn way(qm: &Inner, subscription: &Subscription) -> Result<Way, Reason> {
    let destination = &subscription.destination;
    let user = subscription.user.as_str();
    let may_land = |queue: &Queue| on_anothers_behalf(qm, queue, (user, PUBLICATION));
    if let Some(queue) = destination.found() {
        if !queue.lock().deleted {
            may_land(&queue)?;
            return Ok(Way::to(queue));
        }
        destination.set_found(None);
    }
    let resolved = resolve(qm, &destination.queue, &destination.queue_manager)?;
    let resolved = resolved.map_err(|_model| Reason::Q_TYPE_ERROR)?;
    if let Target::Queue {
        queue, by_manager, ..
    } = &resolved.target
    {
        may_land(queue)?;
        if by_manager.is_some() {
            let sender = qm.known_caller(user, PUBLICATION)?;
            sender.may_open(qm, &resolved, MQOO_OUTPUT)?;
        }
    }
    match resolved.target {
        Target::Queue {
            queue,
            alias,
            by_manager,
        } => {
            if alias.is_none() && by_manager.is_none() {
                destination.set_found(Some(queue.clone()));
            }
            let way = Way::to(queue);
            Ok(Way { alias, ..way })
        }
        Target::Remote {
            transmission,
            names,
            alias,
            ..
        } => Ok(Way {
            queue: transmission,
            remote: Some(*names),
            alias,
        }),
        Target::Topic(_) | Target::Qmgr | Target::Definition => Err(Reason::Q_TYPE_ERROR),
    }
}

/// A copy for a subscription; none: its queue is not there, and no dead-letter queue either. `md`, `expires`: the
/// publication's; `number`: of its MsgId.
pub(super) fn address(
    qm: &Inner,
    (md, expires): (&Md, i64),
    forms: &mut Forms<'_>,
    subscription: &Arc<Subscription>,
    number: u64,
) -> Option<Addressed> {
    let (way, nowhere) = match way(qm, subscription) {
        Ok(way) => (way, None),
        Err(reason) => {
            let name = &qm.catalogue.qmgr().dead_letter_q;
            (Way::to(qm.catalogue.local_queue(name)?), Some(reason))
        }
    };
    let Way {
        queue,
        remote,
        alias,
    } = way;
    let (form, data) = forms.of(subscription);
    let attributes = queue.attributes();
    let new_id = qm.new_msg_id(number);
    let priority = attributes.def_priority;
    let origin = Origin::of(md);
    let mut md = descriptor(md, data, subscription, priority, new_id);
    let data = data.data.clone();
    let (md, data, form) = match remote {
        Some((name, manager)) => {
            let (md, data) = transmit(qm, &md, &data, (name, manager));
            (md, data, usize::MAX)
        }
        None => {
            if attributes.temporary() {
                md.persistence = MQPER_NOT_PERSISTENT;
            }
            (md, data, form)
        }
    };
    let inhibited = alias.is_some_and(|alias| alias.put_inhibited());
    let refused = match nowhere {
        Some(reason) => Some(Refused::Nowhere(reason)),
        None => inhibited.then_some(Refused::Inhibited),
    };
    Some(Addressed {
        form,
        routed: RoutedMessage::sharing(queue, md, data, expires).with_origin(origin),
        subscription: subscription.clone(),
        remote: remote.is_some(),
        durable: subscription.durable,
        refused,
    })
}

impl SessionInner {
    /// Checks and completes a publication: everything that does not wait.
    pub(super) fn begin_publish(
        &self,
        topic: Arc<OpenTopic>,
        mut md: Md,
        pmo: &Pmo,
        data: Bytes,
        passed: Option<&Md>,
        _: Authorised,
    ) -> Result<Box<Publishing>, Reason> {
        let qm = &self.qm;
        let levels = pmo.version < MQPMO_VERSION_3 || (0..=9).contains(&pmo.pub_level);
        if pmo.options & MQPMO_LOGICAL_ORDER != 0 || !levels {
            return Err(Reason::OPTIONS_ERROR);
        }
        if md.msg_flags & OF_A_WHOLE != 0 {
            return Err(Reason::MSG_NOT_ALLOWED_IN_GROUP);
        }
        if pmo.options & MQPMO_FAIL_IF_QUIESCING != 0 && qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        if !qm.catalogue.qmgr().publish_subscribe {
            return Err(Reason::PUBSUB_INHIBITED);
        }
        let warning = check_md(&md, false)?;
        if pmo.options & MQPMO_SUPPRESS_REPLYTO != 0 && asks_for_report(&md) {
            return Err(Reason::MISSING_REPLY_TO_Q);
        }
        let rules = qm.catalogue.topic_objects.rules(&topic.string);
        let alias = topic.alias.as_ref();
        if !rules.publish || alias.is_some_and(|alias| alias.put_inhibited()) {
            return Err(Reason::PUT_INHIBITED);
        }
        if data.len() > qm.catalogue.longest_message() {
            return Err(Reason::MSG_TOO_BIG_FOR_Q_MGR);
        }
        let mut given_back = md.msg_id;
        if pmo.options & MQPMO_NEW_MSG_ID != 0 {
            given_back = qm.new_msg_id(qm.next_seq());
            md.msg_id = MQMI_NONE;
        }
        self.complete_rest(|| (rules.priority, rules.persistence), &mut md, pmo, passed);
        let expires = match md.expiry {
            MQEI_UNLIMITED => 0,
            tenths => qm.clock.now() + i64::from(tenths) * 100_000,
        };
        Ok(Box::new(Publishing {
            topic,
            rules,
            md,
            data: trimmed(data).into(),
            expires,
            given_back,
            warning,
        }))
    }

    /// Who gets it; which of them in the stead of durable ones of their groups; and the number of the subscription that is
    /// made next, which was not looked at.
    fn subscribers(
        &self,
        publishing: &Publishing,
        pmo: &Pmo,
    ) -> (Vec<Arc<Subscription>>, BTreeSet<SubId>, u64) {
        let qm = &self.qm;
        let not_own = pmo.options & MQPMO_NOT_OWN_SUBS != 0;
        let publisher = self.publisher();
        let now = qm.clock.now();
        let (mut all, seen) = qm.topics.subscribers(&publishing.topic.string);
        let message = Message {
            md: publishing.md.clone(),
            data: publishing.data.clone(),
            origin: Origin::Unknown,
            seq: 0,
            expires: publishing.expires,
            lsn: Lsn(0),
        };
        let considered = Considered::new(&message, 0);
        let is_left_out = |subscription: &Subscription| {
            subscription.on_request
                || subscription.has_expired(now)
                || !publishing.rules.reaches(&subscription.filter)
                || not_own && qm.topics.is_used_by(&subscription.id, publisher)
        };
        all.retain(|subscription| {
            let selector = subscription.selector.as_ref();
            !is_left_out(subscription) && selector.is_none_or(|by| by.matches(&considered))
        });
        // Only those of the highest level that the publication reaches: they may publish it further down.
        let reached = match pmo.version >= MQPMO_VERSION_3 {
            true => pmo.pub_level,
            false => 9,
        };
        let levels = all.iter().map(|subscription| subscription.level);
        let level = levels.filter(|level| *level <= reached).max();
        all.retain(|subscription| Some(subscription.level) == level);
        let durable = keep_one_of_each_group(&mut all);
        (all, durable, seen)
    }

    /// All copies, those of one form beside each other; and how many subscriptions have no queue.
    ///
    /// # Errors
    /// 2502 one of these has to get it.
    fn addressed(
        &self,
        publishing: &Publishing,
        (subscribers, durable): (&[Arc<Subscription>], &BTreeSet<SubId>),
    ) -> Result<(Vec<Addressed>, usize), Reason> {
        let published = Form::of(&publishing.md, publishing.data.clone());
        let mut forms = Forms::new(&publishing.topic.string, published, false);
        let first = self.qm.next_seqs(subscribers.len().max(1) as u64);
        let rule = publishing.rule();
        let mut copies = Vec::with_capacity(subscribers.len());
        let mut lost = 0;
        for (subscription, number) in subscribers.iter().zip(first..) {
            let of = (&publishing.md, publishing.expires);
            let durable = subscription.durable || durable.contains(&subscription.id);
            let gone = || self.qm.topics.found(&subscription.id).is_none();
            match address(&self.qm, of, &mut forms, subscription, number) {
                Some(copy) if copy.is_sent_nowhere() && gone() => {}
                Some(copy) => copies.push(Addressed { durable, ..copy }),
                None if gone() => {}
                None if rule.demands(durable) => {
                    return Err(Reason::PUBLICATION_FAILURE);
                }
                None => lost += 1,
            }
        }
        copies.sort_by_key(|copy| copy.form);
        Ok((copies, lost))
    }

    /// The message that is retained of it. Its MsgId, too, is zeros where each copy is to have one of its own.
    ///
    /// # Errors
    /// 2479 there is no queue for it.
    fn retained(
        &self,
        publishing: &Publishing,
        seen: u64,
        underway: Arc<Underway>,
    ) -> Result<Copy, Reason> {
        let queue = self.qm.retained_queue().ok_or(Reason::PUT_NOT_RETAINED)?;
        let topic = &publishing.topic.string;
        let published = Form::of(&publishing.md, publishing.data.clone());
        let form = published.retained(topic);
        let mut md = publishing.md.clone();
        form.describe(&mut md);
        let expires = publishing.expires;
        let routed = RoutedMessage::sharing(queue, md, form.data, expires);
        let retains = Retaining {
            topic: topic.as_str().into(),
            seen,
            underway: Some(underway),
        };
        Ok(Copy::retained(routed, retains))
    }

    /// Publishes. The descriptor and the options come back filled.
    pub(super) async fn publish(
        self: &Arc<Self>,
        mut publishing: Box<Publishing>,
        md: &mut Md,
        pmo: &mut Pmo,
    ) -> Verb<()> {
        let shown = Md {
            msg_id: publishing.given_back,
            ..publishing.md.clone()
        };
        if pmo.options & MQPMO_SUPPRESS_REPLYTO != 0 {
            publishing.md.reply_to_q = Name::default();
            publishing.md.reply_to_q_mgr = Name::default();
        }
        let retains = pmo.options & MQPMO_RETAIN != 0;
        let underway = retains.then(|| self.qm.topics.begin_retaining());
        let (subscribers, durable, seen) = self.subscribers(&publishing, pmo);
        look_up_senders(&self.qm, &subscribers).await;
        let (addressed, lost) = self.addressed(&publishing, (&subscribers, &durable))?;
        let rule = publishing.rule();
        let mut copies = Vec::with_capacity(addressed.len() + 1);
        let mut owners = Vec::with_capacity(addressed.len());
        for copy in addressed {
            let demanded = rule.demands(copy.durable);
            let must = demanded.then_some(Reason::PUBLICATION_FAILURE);
            let dead_letter = publishing.rules.use_dead_letter_q;
            let (copy, subscription, remote) = copy.into_copy(must, dead_letter);
            copies.push(copy);
            owners.push((subscription, remote));
        }
        // In a unit of work nobody waits for what it will be; it is given up here, where no lock is held.
        let in_unit = pmo.options & MQPMO_SYNCPOINT != 0;
        let _put = underway.clone().filter(|_| in_unit);
        if let Some(underway) = underway {
            copies.push(self.retained(&publishing, seen, underway)?);
        }
        let undelivered = self.distribute(Distribution::new(copies), pmo).await?;
        let counters = &self.qm.home.counters;
        counters.one(Count::Puts);
        counters.add(Count::PutBytes, publishing.data.len());
        publishing.topic.published.count(self.qm.clock.now());
        let (local, remote) = self.count_delivered(&owners, &undelivered);
        let done = Md {
            reply_to_q: md.reply_to_q,
            reply_to_q_mgr: md.reply_to_q_mgr,
            backout_count: md.backout_count,
            coded_char_set_id: md.coded_char_set_id,
            ..shown
        };
        *md = mde::given_back(md, done);
        (pmo.resolved_q_name, pmo.resolved_q_mgr_name) = Default::default();
        (pmo.known_dest_count, pmo.unknown_dest_count) = (local, remote);
        pmo.invalid_dest_count = (lost + undelivered.len()) as i32;
        let nobody = owners.is_empty() && lost == 0;
        let warns = nobody && pmo.options & MQPMO_WARN_IF_NO_SUBS_MATCHED != 0;
        let warning = match publishing.warning {
            Reason::NONE if warns => Reason::NO_SUBS_MATCHED,
            other => other,
        };
        Ok(Done { value: (), warning })
    }

    pub(super) async fn distribute(
        self: &Arc<Self>,
        distribution: Distribution,
        pmo: &Pmo,
    ) -> Result<distribute::Undelivered, Reason> {
        if pmo.options & MQPMO_SYNCPOINT != 0 {
            return distribute::in_unit(self, distribution).await;
        }
        let asynchronous = pmo.options & MQPMO_ASYNC_RESPONSE != 0
            && (distribution.persistent() || self.is_unsettled());
        match asynchronous {
            true => distribute::with_ticket(self, distribution).await,
            false => distribute::alone(self, distribution).await,
        }
    }

    /// Counts what subscriptions were given; how many of them here, and how many elsewhere.
    fn count_delivered(
        &self,
        owners: &[(Arc<Subscription>, bool)],
        undelivered: &distribute::Undelivered,
    ) -> (i32, i32) {
        let now = self.qm.clock.now();
        let (mut local, mut elsewhere) = (0, 0);
        for (at, (subscription, remote)) in owners.iter().enumerate() {
            if undelivered
                .binary_search_by_key(&at, |(of, _)| *of)
                .is_err()
            {
                subscription.deliveries.count(now);
                *(if *remote { &mut elsewhere } else { &mut local }) += 1;
            }
        }
        (local, elsewhere)
    }
}
