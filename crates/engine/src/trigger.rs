//! Triggering: telling an initiation queue that an application should be started.
//!
//! Invariants (MQ: "Conditions for a trigger event"):
//! * Only messages of at least TRIGMPRI count. A queue whose GET is DISABLED does not trigger; nor
//!   does one with TRIGTYPE FIRST or DEPTH that somebody has open for input (it has a server).
//! * FIRST: the first such message on a queue that had none, or any when TRIGINT has passed since
//!   the last trigger. EVERY: each. DEPTH: when TRIGDPTH are there; triggering is switched off then.
//! * A trigger message is non-persistent and needs the initiation queue to be open for input, and its
//!   GET and PUT to be ENABLED. A process definition that the queue names has to be there. When that
//!   becomes so later, or the definition of the queue changes, the conditions are looked at again.
//! * Which queues an initiation queue serves is kept, so that opening a queue looks at no others.
//! * No trigger message goes to a queue whose messages are taken at their word.
//! * A trigger message is not itself a trigger event, so that queues cannot trigger in a circle.

use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Tm};

use crate::at_their_word::queue_for_others;
use crate::manager::Inner;
use crate::queue::attributes::Trigger;
use crate::queue::{Queue, QueueState};

/// A trigger that is due.
pub(crate) struct Event {
    pub(crate) trigger: Trigger,
    /// Triggering is to be switched off (TRIGTYPE(DEPTH)).
    pub(crate) off: bool,
}

/// Whether the message that has just arrived, of this priority, is a trigger event.
pub(crate) fn due(qm: &Inner, state: &mut QueueState, priority: i32) -> Option<Event> {
    let trigger = state.attributes.trigger.as_ref()?;
    if priority < trigger.priority {
        return None;
    }
    let now = qm.clock.now();
    let interval = qm.catalogue.qmgr().trigger_interval_ms as i64 * 1000;
    let depth = state.index.listed_from(trigger.priority);
    let due = match trigger.kind {
        MQTT_EVERY => true,
        MQTT_FIRST => depth == 1 || now - state.trigger.last >= interval,
        MQTT_DEPTH => depth >= trigger.depth,
        _ => false,
    };
    due.then(|| claim(qm, state, now)).flatten()
}

/// Whether a message that a backout has given back is a trigger event: its server may have gone.
pub(crate) fn came_back(qm: &Inner, state: &mut QueueState, priority: i32) -> Option<Event> {
    let kind = state.attributes.trigger.as_ref()?.kind;
    (kind != MQTT_EVERY)
        .then(|| due(qm, state, priority))
        .flatten()
}

/// Why the conditions are looked at although no message arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// The last getter has closed the queue.
    Closed,
    /// The initiation queue was opened or enabled, the process was defined, or the definition changed.
    Ready,
}

/// Whether a queue has messages that nobody serves.
pub(crate) fn still_due(qm: &Inner, state: &mut QueueState, occasion: Occasion) -> Option<Event> {
    let trigger = state.attributes.trigger.as_ref()?;
    let depth = state.index.listed_from(trigger.priority);
    let due = match trigger.kind {
        MQTT_FIRST => depth > 0,
        MQTT_DEPTH => depth >= trigger.depth,
        MQTT_EVERY => depth > 0 && occasion == Occasion::Ready,
        _ => false,
    };
    due.then(|| claim(qm, state, qm.clock.now())).flatten()
}

fn claim(qm: &Inner, state: &mut QueueState, now: i64) -> Option<Event> {
    let trigger = state.attributes.trigger.clone()?;
    if state.attributes.get_inhibited || (trigger.kind != MQTT_EVERY && state.open_input.get() > 0)
    {
        return None;
    }
    let initiation = queue_for_others(qm, &trigger.initiation_q)?;
    if !served(&initiation) || !has_process(qm, &trigger.process) {
        return None;
    }
    state.trigger.last = now;
    let off = trigger.kind == MQTT_DEPTH;
    if off {
        // At once, so that the next message does not trigger as well; the definition follows.
        let mut attributes = (*state.attributes).clone();
        attributes.trigger = None;
        state.attributes = Arc::new(attributes);
    }
    Some(Event { off, trigger })
}

/// Whether somebody has an initiation queue open for input. Its lock may be taken while another
/// queue's is held only if it is free: two queues may be each other's initiation queue. One that
/// is not free is taken for served; [`fire`](crate::delivery::fire) looks again.
fn served(initiation: &Queue) -> bool {
    (initiation.try_lock()).is_none_or(|state| takes_trigger_messages(&state))
}

/// Whether there is somebody at an initiation queue whom a trigger message would reach.
pub(crate) fn takes_trigger_messages(initiation: &QueueState) -> bool {
    let attributes = &initiation.attributes;
    initiation.open_input.get() > 0 && !attributes.get_inhibited && !attributes.put_inhibited
}

/// An event has come to nothing: triggering is on again, if nobody has switched it off meanwhile.
pub(crate) fn give_back(queue: &Queue) {
    let mut state = queue.lock();
    if state.attributes.trigger.is_none() {
        state.attributes = queue.attributes();
    }
}

/// Whether the process definition is there, if one is named.
fn has_process(qm: &Inner, name: &str) -> bool {
    name.is_empty() || qm.catalogue.find(ObjectKind::Process, name).is_some()
}

/// What a trigger message says of the process definition that it names, nothing where it names none; `None`: there is no such.
pub(crate) fn of_process(qm: &Inner, name: &str) -> Option<Tm> {
    if name.is_empty() {
        return Some(Tm::default());
    }
    let process = qm.catalogue.find(ObjectKind::Process, name)?;
    let attrs = process.attrs();
    Some(Tm {
        appl_type: attrs.int(MQIA_APPL_TYPE),
        appl_id: Chars::new(attrs.text(MQCA_APPL_ID)),
        env_data: Chars::new(attrs.text(MQCA_ENV_DATA)),
        user_data: Chars::new(attrs.text(MQCA_USER_DATA)),
        ..Tm::default()
    })
}
