//! Triggering: telling an initiation queue that an application should be started.
//!
//! Invariants (MQ: "Conditions for a trigger event"):
//! * Only messages of at least TRIGMPRI count; a queue that somebody has open for input does not
//!   trigger (it has a server already).
//! * FIRST: the first such message on an empty queue, or any when TRIGINT has passed since the last
//!   trigger. EVERY: each. DEPTH: when TRIGDPTH are there; triggering is switched off then.
//! * A trigger message is non-persistent and needs the initiation queue to be open for input: when
//!   it is opened later, the conditions are looked at again.

use std::sync::Arc;

use bytes::Bytes;
use posthaste_command::{Attrs, ObjectKind};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Name, PointerSize, Reason, Tm};

use crate::manager::Inner;
use crate::message::Message;
use crate::queue::attributes::Trigger;
use crate::queue::{Queue, QueueState};
use crate::report;
use crate::uow::deliver;
use crate::verbs::send::Parcel;

/// What a queue remembers of its triggers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TriggerState {
    /// When the last trigger message was made, microseconds since 1970.
    last: i64,
}

/// A trigger that is due.
pub(crate) struct Event {
    trigger: Trigger,
    /// Triggering is to be switched off (TRIGTYPE(DEPTH)).
    off: bool,
}

/// Whether the message that has just been listed is a trigger event.
pub(crate) fn due(qm: &Inner, state: &mut QueueState, message: &Message) -> Option<Event> {
    let trigger = state.attributes.trigger.as_ref()?;
    if message.md.priority < trigger.priority || state.open_input > 0 {
        return None;
    }
    let now = qm.now();
    let interval = qm.catalogue.qmgr().trigger_interval_ms as i64 * 1000;
    let depth = state.index.listed();
    let due = match trigger.kind {
        MQTT_EVERY => true,
        MQTT_FIRST => depth == 1 || now - state.trigger.last >= interval,
        MQTT_DEPTH => depth >= trigger.depth,
        _ => false,
    };
    due.then(|| claim(qm, state, now)).flatten()
}

/// Whether a queue that somebody has just closed, or whose initiation queue was just opened, has
/// messages that nobody serves.
fn still_due(qm: &Inner, state: &mut QueueState) -> Option<Event> {
    let trigger = state.attributes.trigger.as_ref()?;
    if state.open_input > 0 {
        return None;
    }
    let due = match trigger.kind {
        MQTT_FIRST => state.index.listed() > 0,
        MQTT_DEPTH => state.index.listed() >= trigger.depth,
        // EVERY is about the arrival of a message, not about its being there.
        _ => false,
    };
    due.then(|| claim(qm, state, qm.now())).flatten()
}

fn claim(qm: &Inner, state: &mut QueueState, now: i64) -> Option<Event> {
    let trigger = state.attributes.trigger.clone()?;
    let initiation = qm.catalogue.local_queue(&trigger.initiation_q)?;
    if !served(&initiation) {
        return None;
    }
    state.trigger.last = now;
    Some(Event {
        off: trigger.kind == MQTT_DEPTH,
        trigger,
    })
}

/// Whether somebody has an initiation queue open for input. Its lock may be taken while another
/// queue's is held, because an initiation queue does not itself trigger.
fn served(initiation: &Queue) -> bool {
    initiation
        .try_lock()
        .is_none_or(|state| state.open_input > 0)
}

/// Puts the trigger message.
pub(crate) fn fire(qm: &Arc<Inner>, queue: &Arc<Queue>, event: Event) {
    if event.off {
        let mut changes = Attrs::default();
        changes.set_int(MQIA_TRIGGER_CONTROL, MQTC_OFF);
        let name = queue.name.text().into_owned();
        // Logged but not waited for: at worst the trigger fires again after a crash.
        let _ = qm.catalogue.alter(qm, ObjectKind::QLocal, &name, &changes);
    }
    let trigger = event.trigger;
    let body = Tm {
        q_name: queue.name,
        process_name: Name::new(&trigger.process),
        trigger_data: Chars::new(&trigger.data),
        ..Tm::default()
    };
    let mut data = Vec::with_capacity(684);
    body.encode(&mut data, ByteOrder::Little, PointerSize::Four);
    let seq = qm.next_seq();
    let mut md = Md {
        format: Chars::new(MQFMT_TRIGGER),
        coded_char_set_id: MQCCSI_DEFAULT,
        msg_id: qm.new_msg_id(seq),
        put_appl_type: MQAT_QMGR,
        put_appl_name: Chars::new(&qm.config.name),
        ..Md::default()
    };
    md.persistence = MQPER_NOT_PERSISTENT;
    md.priority = 0;
    crate::verbs::stamp(&mut md, qm.env.clock.wall_micros());
    let Some(initiation) = qm.catalogue.local_queue(&trigger.initiation_q) else {
        return;
    };
    let admitted = initiation.lock().admit();
    match admitted {
        Ok(()) => {
            let message = Arc::new(Message {
                md,
                data: Bytes::from(data),
                seq,
                expires: 0,
                lsn: posthaste_recovery_log::Lsn(0),
            });
            deliver(qm, &initiation, &message, false);
        }
        Err(reason) => undelivered(qm, md, data, &trigger, reason),
    }
}

fn undelivered(qm: &Arc<Inner>, md: Md, data: Vec<u8>, trigger: &Trigger, reason: Reason) {
    let to = (Name::new(&trigger.initiation_q), Name::default());
    let parcel: Option<Parcel> = report::dead_letter(qm, &md, &data, to, reason);
    match parcel {
        Some(parcel) => report::put_unforced(qm, parcel),
        None => report::not_sent(qm, reason),
    }
}

/// The last getter has closed a queue: messages may be left that nobody serves.
pub(crate) fn closed(qm: &Arc<Inner>, queue: &Arc<Queue>) {
    let event = still_due(qm, &mut queue.lock());
    if let Some(event) = event {
        fire(qm, queue, event);
    }
}

/// A queue was opened for input: it may be the initiation queue of others.
pub(crate) fn opened(qm: &Arc<Inner>, initiation: &Arc<Queue>) {
    let name = initiation.name.text().into_owned();
    for queue in qm.catalogue.local_queues() {
        let event = {
            let mut state = queue.lock();
            let mine = state
                .attributes
                .trigger
                .as_ref()
                .is_some_and(|t| t.initiation_q == name);
            if mine {
                still_due(qm, &mut state)
            } else {
                None
            }
        };
        if let Some(event) = event {
            fire(qm, &queue, event);
        }
    }
}
