//! Retained publications are sent to a subscription: to a new one, and to whoever asks.
//!
//! Invariants:
//! * Of each topic string that matches, what is retained when it is read is sent, once, and says that it was retained.
//! * They go in the order in which they were published, a few at a time: those of one time are there as a whole.
//!
//! Sources: MQ reference, "MQSO_NEW_PUBLICATIONS_ONLY", "MQSUBRQ", MQRC_RETAINED_MSG_Q_ERROR, MQRC_RETAINED_NOT_DELIVERED.

use std::sync::Arc;

use posthaste_mqi::{Md, Reason};
use posthaste_recovery_log::Lsn;

use super::distribute::{Copy, Distribution, for_session};
use super::publish::{address, look_up_senders};
use crate::consume::considered::Considered;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::plant::{Bug, planted};
use crate::topics::publication::{Form, Forms, restored};
use crate::topics::subscription::Subscription;

/// How many are sent at a time at most, and bytes of them after which no more are added.
const AT_A_TIME: usize = 100;
const BYTES: usize = 1 << 20;

/// A copy of a retained publication for a subscription. `None`: it does not want it.
///
/// # Errors
/// 2526 its queue is not there, and no dead-letter queue either.
fn copy_for(
    qm: &Inner,
    to: &Arc<Subscription>,
    retained: &Message,
) -> Result<Option<Copy>, Reason> {
    let Some((topic, form)) = restored(&retained.md, &retained.data) else {
        return Ok(None);
    };
    let rules = qm.catalogue.topic_objects.rules(&topic);
    if !rules.reaches(&to.filter) || !is_selected(to, retained, &form) {
        return Ok(None);
    }
    let mut forms = Forms::new(&topic, form, true);
    let expires = match planted(Bug::OutliveRetained) {
        true => 0,
        false => retained.expires,
    };
    let of = (&retained.md, expires);
    let copy = address(qm, of, &mut forms, to, qm.next_seq());
    let copy = copy.ok_or(Reason::RETAINED_NOT_DELIVERED)?;
    let must = Some(Reason::RETAINED_NOT_DELIVERED);
    let (copy, ..) = copy.into_copy(must, rules.use_dead_letter_q);
    Ok(Some(copy))
}

fn is_selected(to: &Subscription, retained: &Message, form: &Form) -> bool {
    let Some(selector) = &to.selector else {
        return true;
    };
    let mut md: Md = retained.md.clone();
    form.describe(&mut md);
    let published = Message {
        md,
        data: form.data.clone(),
        origin: retained.origin,
        seq: retained.seq,
        expires: retained.expires,
        lsn: Lsn(0),
    };
    selector.matches(&Considered::new(&published, 0))
}

/// Sends a subscription every retained publication that matches, on behalf of a connection (0: of nobody); how many there
/// were. `new`: its number, if it is new; then what it was given already is left out, and what is under way waited for.
///
/// # Errors
/// 2525 they cannot be had, 2526 its queue does not take them; those of a put.
pub(crate) async fn send_retained(
    qm: &Arc<Inner>,
    session: u64,
    to: &Arc<Subscription>,
    new: Option<u64>,
) -> Result<i32, Reason> {
    if let Some(number) = new {
        qm.retained_before(number).await?;
    }
    look_up_senders(qm, std::slice::from_ref(to)).await;
    let (queue, topics) = qm.find_matching(&to.filter)?;
    let mut sent = 0;
    let (mut copies, mut bytes) = (Vec::new(), 0);
    let mut topics = topics.into_iter().peekable();
    while let Some(topic) = topics.next() {
        if let Some(retained) = qm.read_retained(&queue, &topic, new).await?
            && let Some(copy) = copy_for(qm, to, &retained)?
        {
            mark(Mark::RetainedSent);
            bytes += retained.data.len();
            copies.push(copy);
        }
        let enough = copies.len() >= AT_A_TIME || bytes >= BYTES || topics.peek().is_none();
        if !enough || copies.is_empty() {
            continue;
        }
        let count = copies.len();
        let distribution = Distribution::new(std::mem::take(&mut copies));
        for_session(qm, session, distribution).await?;
        bytes = 0;
        sent += count as i32;
        let now = qm.clock.now();
        (0..count).for_each(|_| to.deliveries.count(now));
    }
    Ok(sent)
}
