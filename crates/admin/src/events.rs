//! Event messages: what has happened, as messages on SYSTEM.ADMIN.*.EVENT for whoever monitors the queue manager (manual:
//! "Event monitoring").
//!
//! Invariants: whoever causes an event waits for nothing but a short lock; a task of its own makes the messages and puts them,
//! outside syncpoint, as persistent as DEFPSIST of the queue says. What cannot be put, or found no room in memory, is
//! counted and reported (AMQ2803W, AMQ2804W). Without a switched-on event nothing is put and nothing reported, and nobody is
//! woken.

mod body;
mod switches;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use posthaste_command::ObjectKind;
use posthaste_engine::{Application, AuditEvent, Backlog, Operator, QueueManager, Session};
use posthaste_env::sync::Mutex;
use posthaste_mqi::constants::{
    MQAT_QMGR, MQCFC_NOT_LAST, MQFMT_EVENT, MQMT_DATAGRAM, MQPER_PERSISTENCE_AS_Q_DEF,
    MQPMO_NEW_CORREL_ID, MQPMO_NEW_MSG_ID, MQPMO_NO_SYNCPOINT, MQPRI_PRIORITY_AS_Q_DEF,
};
use posthaste_mqi::{ByteOrder, Chars, Md, Name, Od, Pmo, Reason};

use body::EventMessage;
use switches::{Switches, Wanted};

/// What stands for the queue of events that found no room in memory.
const MEMORY: &str = "SYSTEM.ADMIN.*.EVENT";

/// An event with what is wanted of it.
type Judged = (AuditEvent, Wanted);

#[derive(Default)]
struct Inner {
    /// None until the attributes are known.
    switches: Option<Switches>,
    /// What came before.
    early: Backlog<AuditEvent>,
    /// Of that, what found no room.
    lost: u64,
    backlog: Backlog<Judged>,
    waker: Option<Waker>,
}

impl Inner {
    fn push(&mut self, event: AuditEvent) {
        let length = event.command.len();
        let Some(switches) = &mut self.switches else {
            return self.early.push(length, event);
        };
        let wanted = switches.judge(&event);
        if wanted.any_of(&event) {
            self.backlog.push(length, (event, wanted));
        }
    }

    fn is_empty(&self) -> bool {
        self.backlog.is_empty() && self.lost == 0
    }
}

/// Events on their way to whoever puts them.
#[derive(Default)]
pub struct EventInbox {
    inner: Mutex<Inner>,
}

impl EventInbox {
    /// Takes an event.
    pub fn push(&self, event: AuditEvent) {
        let mut inner = self.inner.lock();
        inner.push(event);
        let waker = match inner.is_empty() {
            true => None,
            false => inner.waker.take(),
        };
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// These attributes count from now on, and for what came before.
    fn switch(&self, switches: Switches) {
        let mut inner = self.inner.lock();
        inner.switches = Some(switches);
        let (early, lost) = inner.early.take();
        if switches.any() {
            inner.lost += lost;
        }
        for event in early {
            inner.push(event);
        }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<(VecDeque<Judged>, u64)> {
        let mut inner = self.inner.lock();
        if inner.is_empty() {
            inner.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        let (events, overrun) = inner.backlog.take();
        Poll::Ready((events, overrun + std::mem::take(&mut inner.lost)))
    }
}

/// Who puts event messages.
pub struct EventWriter {
    qm: QueueManager,
    inbox: Arc<EventInbox>,
    operator: Arc<dyn Operator>,
    user: String,
}

impl EventWriter {
    /// Puts what comes into `inbox`, as `user`; `operator` is given what goes wrong. It is made before commands are taken.
    pub fn new(
        qm: QueueManager,
        inbox: Arc<EventInbox>,
        operator: Arc<dyn Operator>,
        user: String,
    ) -> EventWriter {
        let attrs = qm.object(ObjectKind::Qmgr, qm.name());
        let switches = attrs.map_or_else(Switches::default, |qmgr| Switches::of(&qmgr.attrs));
        inbox.switch(switches);
        EventWriter {
            qm,
            inbox,
            operator,
            user,
        }
    }

    /// Puts event messages until the queue manager has ended.
    pub async fn serve(self) {
        let mut missing = Missing::default();
        while let Some((events, overrun)) = self.next().await {
            match overrun {
                0 => missing.put_again(MEMORY, &*self.operator),
                count => {
                    let reason = Reason::STORAGE_NOT_AVAILABLE;
                    missing.add(MEMORY, count, reason, &*self.operator);
                }
            }
            let mut messages = Vec::new();
            for (event, wanted) in &events {
                messages.extend(body::messages(self.qm.name(), event, *wanted));
            }
            if !messages.is_empty() {
                self.put_all(messages, &mut missing).await;
            }
        }
        missing.last_words(&*self.operator);
    }

    /// The next events; none when the queue manager has ended.
    async fn next(&self) -> Option<(VecDeque<Judged>, u64)> {
        let mut ended = pin!(self.qm.ended());
        std::future::poll_fn(|context| {
            if let Poll::Ready(events) = self.inbox.poll(context) {
                return Poll::Ready(Some(events));
            }
            ended.as_mut().poll(context).map(|()| None)
        })
        .await
    }

    /// It is connected while there is something to put only, so that an end waits for nobody.
    async fn put_all(&self, messages: Vec<EventMessage>, missing: &mut Missing) {
        let session = self.qm.connect(Application {
            name: self.qm.name().to_owned(),
            user: self.user.clone(),
            pid: std::process::id(),
            appl_type: MQAT_QMGR,
            ..Application::default()
        });
        let session = match session {
            Ok(session) => session,
            Err(reason) => {
                for message in messages {
                    missing.add(message.queue, 1, reason, &*self.operator);
                }
                return;
            }
        };
        let mut correlation = None;
        for message in messages {
            let is_followed = message.body.header.control == MQCFC_NOT_LAST;
            match put(&session, &message, correlation.take()).await {
                Ok(used) => {
                    correlation = is_followed.then_some(used);
                    missing.put_again(message.queue, &*self.operator);
                }
                Err(reason) => missing.add(message.queue, 1, reason, &*self.operator),
            }
        }
        // Nothing is in a unit of work.
        let _ = session.disconnect().await;
    }
}

/// Puts a message; gives its correlation identifier, which is a new one unless it belongs to the message before it.
async fn put(
    session: &Session,
    message: &EventMessage,
    correlation: Option<[u8; 24]>,
) -> Result<[u8; 24], Reason> {
    let mut od = Od {
        object_name: Name::new(message.queue),
        ..Od::default()
    };
    let mut md = Md {
        msg_type: MQMT_DATAGRAM,
        format: Chars::new(MQFMT_EVENT),
        persistence: MQPER_PERSISTENCE_AS_Q_DEF,
        priority: MQPRI_PRIORITY_AS_Q_DEF,
        coded_char_set_id: 1208,
        correl_id: correlation.unwrap_or_default(),
        ..Md::default()
    };
    let new = match correlation {
        None => MQPMO_NEW_CORREL_ID,
        Some(_) => 0,
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT | MQPMO_NEW_MSG_ID | new,
        ..Pmo::default()
    };
    let mut data = Vec::new();
    message.body.encode(&mut data, ByteOrder::NATIVE);
    let put = session.put1(&mut od, &mut md, &mut pmo, Bytes::from(data));
    put.await.map(|_| md.correl_id)
}

/// Event messages that are on no queue, by the queue they were for.
#[derive(Default)]
struct Missing(BTreeMap<&'static str, u64>);

impl Missing {
    fn add(&mut self, queue: &'static str, count: u64, reason: Reason, operator: &dyn Operator) {
        let missing = self.0.entry(queue).or_default();
        if *missing == 0 {
            operator.message("AMQ2803W", &[queue.to_owned(), reason.to_string()]);
        }
        *missing += count;
    }

    fn put_again(&mut self, queue: &'static str, operator: &dyn Operator) {
        if let Some(count) = self.0.remove(queue) {
            operator.message("AMQ2804W", &[queue.to_owned(), count.to_string()]);
        }
    }

    fn last_words(self, operator: &dyn Operator) {
        for (queue, count) in self.0 {
            operator.message("AMQ2804W", &[queue.to_owned(), count.to_string()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_engine::AuditKind;
    use posthaste_mqi::constants::{MQEVR_ENABLED, MQIA_COMMAND_EVENT};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A DISPLAY is an event of command events only.
    #[test]
    fn nobody_is_woken_for_what_nobody_wants() {
        let inbox = EventInbox::default();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let context = Context::from_waker(&waker);
        let shown = || AuditEvent::new(AuditKind::Inquired, Reason::NONE);
        // What comes before the attributes are known is judged when they are.
        inbox.push(shown());
        inbox.switch(Switches::default());
        assert!(inbox.poll(&context).is_pending());
        inbox.push(shown());
        assert!(inbox.poll(&context).is_pending());
        assert_eq!(woken.0.load(Ordering::SeqCst), 0);
        let mut attrs = posthaste_command::Attrs::default();
        attrs.set_int(MQIA_COMMAND_EVENT, MQEVR_ENABLED);
        inbox.switch(Switches::of(&attrs));
        inbox.push(shown());
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        let Poll::Ready((events, 0)) = inbox.poll(&context) else {
            panic!("one event");
        };
        assert_eq!(events.len(), 1);
    }
}
