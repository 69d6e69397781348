//! Triggering: telling an initiation queue that an application should be started.
//!
//! Invariants (MQ: "Conditions for a trigger event"):
//! * Only messages of at least TRIGMPRI count. A queue whose GET is DISABLED does not trigger; nor
//!   does one with TRIGTYPE FIRST or DEPTH that somebody has open for input (it has a server).
//! * FIRST: the first such message on a queue that had none, or any when TRIGINT has passed since
//!   the last trigger. EVERY: each. DEPTH: when TRIGDPTH are there; triggering is switched off then.
//! * A trigger message is non-persistent and needs the initiation queue to be open for input. When
//!   that is opened later, or the definition of the queue changes, the conditions are looked at
//!   again.
//! * Which queues an initiation queue serves is kept, so that opening a queue looks at no others.
//! * A trigger message is not itself a trigger event, so that queues cannot trigger in a circle.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use posthaste_command::{Attrs, ObjectKind};
use posthaste_env::sync::Mutex;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Name, PointerSize, Reason, Tm};
use posthaste_recovery_log::Lsn;

use crate::manager::Inner;
use crate::message::Message;
use crate::queue::attributes::Trigger;
use crate::queue::waiters::Wakes;
use crate::queue::{Queue, QueueState};
use crate::record::QueueId;
use crate::report::Report;
use crate::verbs::send::post_dead_letter;

/// What a queue remembers of its triggers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TriggerState {
    /// When the last trigger message was made, microseconds since 1970.
    last: i64,
}

/// Queues with TRIGGER by the names of their initiation queues. Its lock is a leaf.
#[derive(Default)]
pub(crate) struct Triggered(Mutex<Served>);

#[derive(Default)]
struct Served {
    by_initiation: HashMap<String, BTreeMap<QueueId, Weak<Queue>>>,
    /// Under which name a queue is there.
    names: HashMap<QueueId, String>,
}

impl Triggered {
    /// Notes which initiation queue a queue has now, if any.
    pub(crate) fn note(&self, queue: &Arc<Queue>, initiation: Option<String>) {
        let mut served = self.0.lock();
        if initiation.as_ref() == served.names.get(&queue.id) {
            return;
        }
        if let Some(name) = served.names.remove(&queue.id)
            && let Some(queues) = served.by_initiation.get_mut(&name)
        {
            queues.remove(&queue.id);
            if queues.is_empty() {
                served.by_initiation.remove(&name);
            }
        }
        if let Some(name) = initiation {
            let queues = served.by_initiation.entry(name.clone()).or_default();
            queues.insert(queue.id, Arc::downgrade(queue));
            served.names.insert(queue.id, name);
        }
    }

    /// The queues that an initiation queue serves.
    fn by(&self, initiation: &str) -> Vec<Arc<Queue>> {
        let served = self.0.lock();
        let queues = served.by_initiation.get(initiation);
        let queues = queues.into_iter().flat_map(BTreeMap::values);
        queues.filter_map(Weak::upgrade).collect()
    }
}

/// A trigger that is due.
pub(crate) struct Event {
    trigger: Trigger,
    /// Triggering is to be switched off (TRIGTYPE(DEPTH)).
    off: bool,
}

/// Whether the message that has just arrived, of this priority, is a trigger event.
pub(crate) fn due(qm: &Inner, state: &mut QueueState, priority: i32) -> Option<Event> {
    let trigger = state.attributes.trigger.as_ref()?;
    if priority < trigger.priority {
        return None;
    }
    let now = qm.now();
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
enum Occasion {
    /// The last getter has closed the queue.
    Closed,
    /// The initiation queue was opened, or the definition changed.
    Ready,
}

/// Whether a queue has messages that nobody serves.
fn still_due(qm: &Inner, state: &mut QueueState, occasion: Occasion) -> Option<Event> {
    let trigger = state.attributes.trigger.as_ref()?;
    let depth = state.index.listed_from(trigger.priority);
    let due = match trigger.kind {
        MQTT_FIRST => depth > 0,
        MQTT_DEPTH => depth >= trigger.depth,
        MQTT_EVERY => depth > 0 && occasion == Occasion::Ready,
        _ => false,
    };
    due.then(|| claim(qm, state, qm.now())).flatten()
}

fn claim(qm: &Inner, state: &mut QueueState, now: i64) -> Option<Event> {
    let trigger = state.attributes.trigger.clone()?;
    if state.attributes.get_inhibited || (trigger.kind != MQTT_EVERY && state.open_input.get() > 0)
    {
        return None;
    }
    let initiation = qm.catalogue.local_queue(&trigger.initiation_q)?;
    if !served(&initiation) {
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
/// is not free is taken for served; [`fire`] looks again.
fn served(initiation: &Queue) -> bool {
    initiation
        .try_lock()
        .is_none_or(|state| state.open_input.get() > 0)
}

/// Puts the trigger message.
pub(crate) fn fire(qm: &Arc<Inner>, queue: &Arc<Queue>, event: Event) {
    let Some(initiation) = qm.catalogue.local_queue(&event.trigger.initiation_q) else {
        return;
    };
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
        reply_to_q_mgr: Name::new(&qm.config.name),
        put_appl_type: MQAT_QMGR,
        put_appl_name: Chars::new(&qm.config.name),
        persistence: MQPER_NOT_PERSISTENT,
        ..Md::default()
    };
    crate::verbs::stamp(&mut md, qm.env.clock.wall_micros());
    let mut wakes = Wakes::default();
    let mut state = initiation.lock();
    if state.admit(false) == Err(Reason::Q_SPACE_NOT_AVAILABLE) {
        drop(state);
        initiation.file_again(size_of::<Message>() + data.len());
        state = initiation.lock();
    }
    md.priority = state.attributes.def_priority;
    let admitted = state.admit(false);
    match admitted {
        Ok(()) if state.open_input.get() == 0 => {}
        Ok(()) => {
            let message = Arc::new(Message {
                md,
                data: Bytes::from(data),
                seq,
                expires: 0,
                lsn: Lsn(0),
            });
            state.arrive(&message, &mut wakes);
        }
        Err(reason) => {
            drop(state);
            let report = Report {
                md,
                data: Bytes::from(data),
                to: (initiation.name, Name::default()),
            };
            return post_dead_letter(qm, &report, reason);
        }
    }
    let spills = state.spills();
    drop(state);
    wakes.wake();
    if spills {
        initiation.spill();
    }
}

/// The last getter has closed a queue: messages may be left that nobody serves.
pub(crate) fn closed(qm: &Arc<Inner>, queue: &Arc<Queue>) {
    let event = still_due(qm, &mut queue.lock(), Occasion::Closed);
    if let Some(event) = event {
        fire(qm, queue, event);
    }
}

/// The definition of a queue has changed: what it asks for may be there already.
pub(crate) fn changed(qm: &Arc<Inner>, queue: &Arc<Queue>) {
    let event = still_due(qm, &mut queue.lock(), Occasion::Ready);
    if let Some(event) = event {
        fire(qm, queue, event);
    }
}

/// A queue was opened for input: it may be the initiation queue of others.
pub(crate) fn opened(qm: &Arc<Inner>, initiation: &Arc<Queue>) {
    for queue in qm.home.triggered.by(&initiation.name.text()) {
        let event = still_due(qm, &mut queue.lock(), Occasion::Ready);
        if let Some(event) = event {
            fire(qm, &queue, event);
        }
    }
}
