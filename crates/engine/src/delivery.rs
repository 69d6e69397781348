//! Delivery: messages arrive on their queues, and what follows from that.
//!
//! Invariants:
//! * A message arrives when it may be seen, and whoever waits for it is woken when no lock is held.
//! * A trigger that is due fires after the queue's lock is given back; the trigger message is no trigger event itself.
//! * What is posted (reports, dead letters) is posted on behalf of nobody: it makes no application's call fail.

use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Name, PointerSize, Reason, Tm};
use posthaste_recovery_log::{Class, Lsn};

use crate::at_their_word::queue_for_others;
use crate::consume::waiter::Wakes;
use crate::manager::Inner;
use crate::message::Message;
use crate::origin::Origin;
use crate::queue::{Queue, QueueState};
use crate::report::{self, Report};
use crate::routed::{Reservation, RoutedMessage, append_put};
use crate::trigger::{self, Event, Occasion, of_process, still_due, takes_trigger_messages};
use crate::unit::effect::Effect;
use crate::verbs::clock::stamp;

/// A committed message arrives at its queue. `reserved`: it was counted among the pending puts.
pub(crate) fn deliver(qm: &Arc<Inner>, queue: &Arc<Queue>, message: &Arc<Message>, reserved: bool) {
    let mut wakes = Wakes::default();
    let mut state = queue.lock();
    let due = arrived(qm, &mut state, message, reserved, &mut wakes);
    qm.discard_superseded(queue, &mut state);
    let spills = state.spills();
    let retained = state.take_arrived();
    drop(state);
    drop(retained);
    wakes.wake();
    if spills {
        queue.spill();
    }
    if let Some(event) = due {
        fire(qm, queue, event);
    }
}

fn arrived(
    qm: &Inner,
    state: &mut QueueState,
    message: &Arc<Message>,
    reserved: bool,
    wakes: &mut Wakes,
) -> Option<trigger::Event> {
    if reserved {
        state.pending_puts -= 1;
    }
    if state.deleted {
        return None;
    }
    state.arrive(message, wakes);
    trigger::due(qm, state, message.md.priority)
}

/// Puts the trigger message, if the conditions are still met.
pub(crate) fn fire(qm: &Arc<Inner>, queue: &Arc<Queue>, event: Event) {
    let mut event = Some(event);
    while let Some(due) = event.take() {
        let (off, initiation) = (due.off, due.trigger.initiation_q.clone());
        if !put_trigger_message(qm, queue, due) && off {
            trigger::give_back(queue);
            // They may have been met again before triggering was on again. Looked at with its lock: one that is not free, as a queue's own
            // is that names itself, would be taken for served for ever.
            let initiation = queue_for_others(qm, &initiation);
            let is_ready = initiation.is_some_and(|it| takes_trigger_messages(&it.lock()));
            if is_ready {
                event = still_due(qm, &mut queue.lock(), Occasion::Ready);
            }
        }
    }
}

/// Puts the trigger message, and switches triggering off before it can be got; false: it is no event any more.
fn put_trigger_message(qm: &Arc<Inner>, queue: &Arc<Queue>, event: Event) -> bool {
    let trigger = event.trigger;
    let Some(initiation) = queue_for_others(qm, &trigger.initiation_q) else {
        return false;
    };
    let Some(process) = of_process(qm, &trigger.process) else {
        return false;
    };
    if event.off {
        if !takes_trigger_messages(&initiation.lock()) {
            return false;
        }
        qm.catalogue.switch_trigger_off(qm, queue);
    }
    let body = Tm {
        q_name: queue.name,
        process_name: Name::new(&trigger.process),
        trigger_data: Chars::new(&trigger.data),
        ..process
    };
    let mut data = Vec::with_capacity(684);
    body.encode(&mut data, ByteOrder::Little, PointerSize::Four);
    let seq = qm.next_seq();
    let mut md = of_trigger_message(qm, seq);
    let mut wakes = Wakes::default();
    let mut state = initiation.lock();
    if state.admit(false) == Err(Reason::Q_SPACE_NOT_AVAILABLE) {
        drop(state);
        initiation.file_again(size_of::<Message>() + data.len());
        state = initiation.lock();
    }
    if !event.off && !takes_trigger_messages(&state) {
        return false;
    }
    md.priority = state.attributes.def_priority;
    let fits = data.len() <= state.attributes.max_msg_length;
    let fits = fits.then_some(()).ok_or(Reason::MSG_TOO_BIG_FOR_Q);
    match state.admit(false).and(fits) {
        Ok(()) => {
            let message = Arc::new(Message {
                md,
                data: Bytes::from(data).into(),
                origin: Origin::Unknown,
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
                data: Bytes::from(data).into(),
                origin: Origin::Unknown,
                to: (initiation.name, Name::default()),
            };
            post_dead_letter(qm, &report, reason);
            return true;
        }
    }
    let spills = state.spills();
    drop(state);
    wakes.wake();
    if spills {
        initiation.spill();
    }
    true
}

/// The descriptor of a trigger message, but for its priority.
fn of_trigger_message(qm: &Inner, seq: u64) -> Md {
    let mut md = Md {
        format: Chars::new(MQFMT_TRIGGER),
        coded_char_set_id: qm.catalogue.qmgr().coded_char_set_id,
        msg_id: qm.new_msg_id(seq),
        reply_to_q_mgr: Name::new(&qm.config.name),
        put_appl_type: MQAT_QMGR,
        put_appl_name: Chars::new(&qm.config.name),
        persistence: MQPER_NOT_PERSISTENT,
        ..Md::default()
    };
    stamp(&mut md, qm.env.clock.wall_micros());
    md
}

/// The last getter has closed a queue: messages may be left that nobody serves.
pub(crate) fn input_closed(qm: &Arc<Inner>, queue: &Arc<Queue>) {
    let event = still_due(qm, &mut queue.lock(), Occasion::Closed);
    if let Some(event) = event {
        fire(qm, queue, event);
    }
}

/// The definition of a queue has changed: what it asks for may be there already.
pub(crate) fn definition_changed(qm: &Arc<Inner>, queue: &Arc<Queue>) {
    let event = still_due(qm, &mut queue.lock(), Occasion::Ready);
    if let Some(event) = event {
        fire(qm, queue, event);
    }
}

/// A queue was opened for input, or its GET or PUT changed: it may be the initiation queue of others.
pub(crate) fn initiation_ready(qm: &Arc<Inner>, initiation: &Queue) {
    for queue in qm.home.triggered.by(&initiation.name.text()) {
        definition_changed(qm, &queue);
    }
}

/// A process definition has been made: triggered queues may have named it before.
pub(crate) fn process_defined(qm: &Arc<Inner>, name: &str) {
    for queue in qm.home.triggered.all() {
        let attributes = queue.attributes();
        if (attributes.trigger.as_ref()).is_some_and(|trigger| trigger.process == name) {
            definition_changed(qm, &queue);
        }
    }
}

/// Finds a place for a report: on its reply-to queue, or on the dead-letter queue. `None`: it has
/// been discarded, and the operator told.
pub(crate) fn reserve_report(qm: &Inner, report: &Report) -> Option<(RoutedMessage, Reservation)> {
    let placed = place_report(qm, report);
    placed.map_err(|reason| report::not_sent(qm, reason)).ok()
}

/// The same, where nobody has been told yet.
///
/// # Errors
/// Why its reply-to queue does not take it; 2056 wherever one of the two has no room on the disk at this moment only.
pub(crate) fn place_report(
    qm: &Inner,
    report: &Report,
) -> Result<(RoutedMessage, Reservation), Reason> {
    let placed = |routed: RoutedMessage| {
        let place = Reservation::at_once(&routed)?;
        Ok((routed, place))
    };
    report.routed(qm).and_then(placed).or_else(|reason| {
        let dead = report.dead_letter(qm, reason).and_then(placed);
        dead.map_err(|dead| match dead {
            Reason::Q_SPACE_NOT_AVAILABLE => dead,
            _ => reason,
        })
    })
}

/// Puts a report that nobody waits for the force of, because maintenance made it. Should its
/// record be lost in a crash, what it reports happens, and is reported, again.
pub(crate) fn post_report(qm: &Arc<Inner>, report: &Report) {
    if let Some((routed, place)) = reserve_report(qm, report) {
        post(qm, routed, place);
    }
}

/// Puts a report on the dead-letter queue at once; see [`post_report`].
pub(crate) fn post_dead_letter(qm: &Arc<Inner>, report: &Report, reason: Reason) {
    let routed = report.dead_letter(qm, reason);
    let placed = routed.and_then(|routed| Ok((Reservation::at_once(&routed)?, routed)));
    match placed {
        Ok((place, routed)) => post(qm, routed, place),
        Err(_) => report::not_sent(qm, reason),
    }
}

fn post(qm: &Arc<Inner>, routed: RoutedMessage, place: Reservation) {
    let seq = qm.next_seq();
    if !routed.persistent() {
        let (queue, message) = routed.into_message(seq, Lsn(0));
        place.used();
        return deliver(qm, &queue, &message, true);
    }
    let pin = qm.units.hold(&qm.log, 0);
    match append_put(qm, (Class::Ordinary, 0), 0, &routed, seq) {
        Ok(appended) => {
            place.used();
            let (queue, message) = routed.into_message(seq, appended.start);
            // Visible only once forced, like every persistent message: maintenance waits for that.
            let put = Effect::Put {
                queue,
                message,
                pin,
            };
            qm.detach(appended.end, put);
        }
        Err(_) => report::not_sent(qm, Reason::RESOURCE_PROBLEM),
    }
}
