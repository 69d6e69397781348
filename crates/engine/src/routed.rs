//! A message on its way to a local queue: its place there, and its record in the log.
//!
//! Invariants:
//! * A place in the queue is reserved before the log record is appended, and the message number is drawn after that:
//!   `CLEAR` removes by number and only when nothing is reserved.
//! * What is appended is not waited for here.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::{Md, Reason};
use posthaste_recovery_log::{Appended, Class, LogError, Lsn};

use crate::bodies::seal_record;
use crate::manager::Inner;
use crate::message::{Beside, Message};
use crate::message_data::MessageData;
use crate::origin::{Origin, asks_for_report};
use crate::queue::Queue;
use crate::queue::uncommitted::Uncommitted;
use crate::record::{self, Body, PublishHead};
use crate::unit::{Op, Unit};

/// A message on its way to a local queue, complete but for its number. Small, because a put that waits keeps
/// it in its future.
#[derive(Clone)]
pub(crate) struct RoutedMessage {
    pub(crate) queue: Arc<Queue>,
    /// Nobody else's yet.
    pub(crate) message: Arc<Message>,
}

impl RoutedMessage {
    /// `expires`: microseconds since 1970; 0 = never.
    #[inline]
    pub(crate) fn new(queue: Arc<Queue>, md: Md, data: Bytes, expires: i64) -> RoutedMessage {
        Self::sharing(queue, md, trimmed(data).into(), expires)
    }

    /// The same of data that others share, which have been [`trimmed`].
    pub(crate) fn sharing(
        queue: Arc<Queue>,
        md: Md,
        data: MessageData,
        expires: i64,
    ) -> RoutedMessage {
        let origin = Origin::of(&md);
        let message = Arc::new(Message {
            md,
            data,
            origin,
            seq: 0,
            expires,
            lsn: Lsn(0),
        });
        RoutedMessage { queue, message }
    }

    /// The same, of this origin. Of one that asks for no report it is not kept by whose authority they would be put.
    pub(crate) fn with_origin(mut self, origin: Origin) -> RoutedMessage {
        let message = Arc::make_mut(&mut self.message);
        if origin == Origin::Delayed || asks_for_report(&message.md) {
            message.origin = origin;
        }
        self
    }

    pub(crate) fn persistent(&self) -> bool {
        self.message.persistent()
    }

    /// Whether the two have one body, and not only equal ones.
    pub(crate) fn shares_body(&self, other: &RoutedMessage) -> bool {
        self.message.data.is_same(&other.message.data)
    }

    pub(crate) fn into_message(mut self, seq: u64, lsn: Lsn) -> (Arc<Queue>, Arc<Message>) {
        // Copies only where another try has kept it.
        let message = Arc::make_mut(&mut self.message);
        (message.seq, message.lsn) = (seq, lsn);
        (self.queue, self.message)
    }
}

/// Bytes below which it does not matter what a buffer keeps beside its data.
const SMALL: usize = 1024;

/// The same bytes in memory of about their own size, because a queue's buffer counts the length of messages: a buffer
/// that has grown as data came in may be twice as large, and one that is shared is kept by one message as a whole.
pub(crate) fn trimmed(data: Bytes) -> Bytes {
    let length = data.len();
    if length < SMALL {
        return data;
    }
    match data.try_into_mut() {
        Ok(own) if own.capacity() <= length + length / 8 => own.freeze(),
        Ok(own) => Bytes::copy_from_slice(&own),
        Err(shared) => Bytes::copy_from_slice(&shared),
    }
}

/// A reserved place on a queue; given back unless it is used.
pub(crate) struct Reservation {
    queue: Option<Arc<Queue>>,
}

impl Reservation {
    /// For a message, on the queue that it goes to.
    pub(crate) fn of(
        routed: &RoutedMessage,
    ) -> impl Future<Output = Result<Self, Reason>> + use<'_> {
        Self::reserve(routed, false)
    }

    /// For a message on the queue of retained publications, where there are no others.
    pub(crate) fn of_retained(
        routed: &RoutedMessage,
    ) -> impl Future<Output = Result<Self, Reason>> + use<'_> {
        Self::reserve(routed, true)
    }

    async fn reserve(routed: &RoutedMessage, retained: bool) -> Result<Self, Reason> {
        let (reserved, behind) = Self::try_for(routed, retained);
        let refused = matches!(reserved, Err(Reason::Q_SPACE_NOT_AVAILABLE));
        if !refused && !behind {
            return reserved;
        }
        // Rare, so it takes its room only when it happens.
        Box::pin(async move {
            let bytes = refused.then(|| routed.message.size());
            routed.queue.make_room(bytes).await;
            match refused {
                true => Self::try_for(routed, retained).0,
                false => reserved,
            }
        })
        .await
    }

    /// The same for a call that does not wait.
    pub(crate) fn at_once(routed: &RoutedMessage) -> Result<Self, Reason> {
        match Self::try_for(routed, false).0 {
            Err(Reason::Q_SPACE_NOT_AVAILABLE) => {
                routed.queue.file_again(routed.message.size());
                Self::try_for(routed, false).0
            }
            reserved => reserved,
        }
    }

    /// And whether what is due to be filed is far behind.
    fn try_for(routed: &RoutedMessage, retained: bool) -> (Result<Self, Reason>, bool) {
        let mut state = routed.queue.lock();
        let reserved = match state.keeps_retained() == retained {
            true => state.reserve(routed.persistent()),
            false => Err(Reason::PUT_INHIBITED),
        };
        let behind = state.is_behind();
        drop(state);
        let queue = Some(routed.queue.clone());
        (reserved.map(|()| Reservation { queue }), behind)
    }
    pub(crate) fn used(mut self) {
        self.queue = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.lock().pending_puts -= 1;
        }
    }
}

/// The most that is kept of the room that was needed for one.
const KEPT_HEAD: usize = 64 << 10;

thread_local! {
    /// Room for what stands in front of the data in a record.
    static HEAD: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

fn keep(head: Vec<u8>) {
    if head.capacity() <= KEPT_HEAD {
        HEAD.set(head);
    }
}

/// Appends the record of a put, without waiting. `owing`: bytes to keep for the end of its unit of work.
pub(crate) fn append_put(
    qm: &Inner,
    (class, owing): (Class, u64),
    uow: u64,
    routed: &RoutedMessage,
    seq: u64,
) -> Result<Appended, LogError> {
    let mut head = HEAD.take();
    head.clear();
    let message = &*routed.message;
    record::put_head(
        &mut head,
        uow,
        routed.queue.id,
        seq,
        message.expires,
        described(routed),
    );
    let bytes = head.len() + message.data.stored_len();
    let [own, shared] = message.data.stored_parts();
    let appended = match &qm.home.cipher {
        None => qm.log.append_owing(class, &[&head, own, shared], owing),
        Some(cipher) => {
            seal_record(&**cipher, &mut head, &[own, shared]);
            qm.log.append_owing(class, &[&head], owing)
        }
    };
    keep(head);
    appended.map_err(|error| refused(qm, bytes, error))
}

/// The descriptor of a message, and what stands with it.
fn described(routed: &RoutedMessage) -> (&Md, Beside) {
    let message = &routed.message;
    (&message.md, message.beside())
}

/// Why a record of so many bytes was not appended: one that would not fit into an empty log is not waited for.
fn refused(qm: &Inner, bytes: usize, error: LogError) -> LogError {
    let short = matches!(error, LogError::Full | LogError::TooLong(_));
    match short && qm.alerts.too_long(bytes, &qm.log, qm.clock.now()) {
        true => LogError::TooLong(bytes),
        false => error,
    }
}

/// Data as a record has them: what lies in memory once it has once.
fn bodies<'a>(all: impl Iterator<Item = &'a MessageData>) -> (Vec<Body<'a>>, Vec<&'a [u8]>) {
    let (mut bodies, mut pieces) = (Vec::new(), Vec::<&[u8]>::new());
    let mut by_end = BTreeMap::new();
    for data in all {
        let [head, shared] = data.stored_parts();
        let piece = *by_end.entry(data.end()).or_insert(pieces.len());
        match pieces.get_mut(piece) {
            None => pieces.push(shared),
            Some(known) if known.len() < shared.len() => *known = shared,
            Some(_) => {}
        }
        bodies.push((head, piece, shared.len()));
    }
    let body = |(head, piece, length): (_, usize, usize)| {
        let from = pieces[piece].len() - length;
        Body { head, piece, from }
    };
    (bodies.into_iter().map(body).collect(), pieces)
}

/// Appends the record of messages that are put all at once, without waiting. All of them are persistent, and there is one
/// at least; those that share a body stand beside each other. `owing`: bytes to keep for the end of their unit of work.
pub(crate) fn append_all(
    qm: &Inner,
    (class, owing): (Class, u64),
    uow: u64,
    messages: &[(&RoutedMessage, u64)],
) -> Result<Appended, LogError> {
    let (first, rest) = messages.split_first().ok_or(LogError::Full)?;
    if rest.is_empty() {
        return append_put(qm, (class, owing), uow, first.0, first.1);
    }
    let same = messages.chunk_by(|(one, _), (next, _)| one.shares_body(next));
    let (bodies, pieces) = bodies(same.clone().map(|all| &all[0].0.message.data));
    let mut head = HEAD.take();
    head.clear();
    let base = described(first.0);
    let mut publish = PublishHead::new(&mut head, uow, base, &bodies, &pieces);
    for (body, all) in same.enumerate() {
        for (routed, seq) in all {
            let expires = routed.message.expires;
            publish.add(routed.queue.id, *seq, expires, body, described(routed));
        }
    }
    publish.finish();
    let own = bodies.iter().map(|body| body.head);
    let mut parts: Vec<&[u8]> = own.filter(|head| !head.is_empty()).collect();
    parts.extend(pieces);
    let bytes = head.len() + parts.iter().map(|part| part.len()).sum::<usize>();
    let appended = match &qm.home.cipher {
        None => {
            parts.insert(0, &head);
            qm.log.append_owing(class, &parts, owing)
        }
        Some(cipher) => {
            seal_record(&**cipher, &mut head, &parts);
            qm.log.append_owing(class, &[&head], owing)
        }
    };
    keep(head);
    appended.map_err(|error| refused(qm, bytes, error))
}

/// The put of a private unit of work, whose message is counted nowhere: it does not stay uncommitted.
pub(crate) fn private_put(routed: RoutedMessage, seq: u64, lsn: Lsn) -> Op {
    let (queue, message) = routed.into_message(seq, lsn);
    let put = Uncommitted::InMemory {
        message,
        counted: false,
    };
    Op::Put { queue, put }
}

/// The end of a private unit of work; returns where its record ends.
pub(crate) fn append_commit(qm: &Inner, unit: &Unit) -> Result<Lsn, LogError> {
    let commit = record::commit(unit.id);
    Ok(qm.log.append(Class::Essential, &[&commit])?.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Capacity of the buffer that a message's data is in, which must be nobody else's.
    fn capacity(data: Bytes) -> usize {
        data.try_into_mut().map_or(usize::MAX, |own| own.capacity())
    }

    #[test]
    fn a_message_keeps_no_more_memory_than_it_is_counted_with() {
        let grown = |length: usize| {
            let mut buffer = Vec::with_capacity(2 * length);
            buffer.resize(length, 7);
            Bytes::from(buffer)
        };
        let whole = Bytes::from(vec![7; 1 << 20]);
        for data in [
            grown(5000),
            whole.slice(100..5100),
            grown(9000).slice(4000..),
        ] {
            let kept = trimmed(data);
            assert_eq!(kept, vec![7; 5000]);
            assert!(capacity(kept) <= 5000 + 5000 / 8);
        }
        // What fits stays where it is.
        let exact = Bytes::from(vec![7; 5000]);
        let at = exact.as_ptr();
        assert_eq!(trimmed(exact).as_ptr(), at);
    }
}
