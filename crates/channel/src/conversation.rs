//! A conversation: an inbox of requests and one future that serves them, in order, for its whole life.
//!
//! Invariants: at most one request of a conversation runs at a time; its answers are appended in the order of its
//! requests; when the future ends, the session has ended. The inbox is filled by the socket's task, which also polls the
//! future, so an empty inbox needs no waker.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use parking_lot::Mutex;
use posthaste_mqi::{Hobj, Reason};
use posthaste_net::Outbound;
use posthaste_wire::identity::{Authentication, Userid};
use posthaste_wire::stream::{Notification, RequestMsgs};
use posthaste_wire::{Agreement, Framing, Header, PeerMisbehaved, Request};

use crate::registry::{Definition, Instance, Registry};
use crate::talk::Talk;

/// Requests that may come while an MQGET of the conversation waits. A client library sends none.
const BEHIND_A_GET: usize = 16;
/// What a request costs beside its data, for the limit on input.
const REQUEST_COST: usize = 1_024;

/// Something for a conversation to do.
pub(crate) enum Item {
    Request {
        header: Header,
        handle: Hobj,
        request: Request,
    },
    Rejected {
        header: Header,
        handle: Hobj,
        reason: Reason,
        put_options: Option<i32>,
    },
    RequestMsgs {
        header: Header,
        request: Box<RequestMsgs>,
    },
    Notification {
        header: Header,
        notification: Notification,
    },
}

impl Item {
    fn cost(&self) -> usize {
        let data = match self {
            Item::Request {
                request: Request::Put(put),
                ..
            } => put.data.len(),
            Item::Request {
                request: Request::Put1(put),
                ..
            } => put.data.len(),
            _ => 0,
        };
        REQUEST_COST + data
    }
}

/// What the conversations of one socket have in common.
pub(crate) struct Common {
    pub(crate) registry: Arc<Registry>,
    pub(crate) instance: Arc<Instance>,
    pub(crate) definition: Definition,
    pub(crate) agreement: Agreement,
    pub(crate) framing: Framing,
    pub(crate) outbound: Arc<Outbound>,
    pub(crate) userid: Mutex<Option<Userid>>,
    pub(crate) load: Load,
}

/// What waits or runs on a socket.
#[derive(Default)]
pub(crate) struct Load {
    /// Requests that have come and are not finished.
    requests: AtomicUsize,
    /// What they cost, in bytes.
    cost: AtomicUsize,
    /// MQGETs that wait.
    gets: AtomicUsize,
}

impl Load {
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn cost(&self) -> usize {
        self.cost.load(Ordering::Relaxed)
    }

    pub(crate) fn gets(&self) -> usize {
        self.gets.load(Ordering::Relaxed)
    }
}

/// How far a conversation's end has come. Only ever goes forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Closing {
    Open,
    /// An MQGET that waits with FAIL_IF_QUIESCING fails.
    Quiescing,
    /// What has come is carried out, but nothing is got; then the conversation ends.
    Draining,
    /// What has come is dropped; the conversation ends after the running verb.
    Dropping,
}

struct Inbox {
    items: VecDeque<Item>,
    closing: Closing,
}

/// A conversation as its socket's task and its own future see it.
pub(crate) struct Conversation {
    pub(crate) id: u32,
    pub(crate) common: Arc<Common>,
    inbox: Mutex<Inbox>,
    getting: AtomicBool,
    /// An MQCONN has failed and the protocol's machine does not know.
    refused: AtomicBool,
    pub(crate) authentication: Mutex<Option<Authentication>>,
}

impl Conversation {
    pub(crate) fn new(id: u32, common: Arc<Common>) -> Arc<Conversation> {
        common
            .instance
            .conversations
            .fetch_add(1, Ordering::Relaxed);
        Arc::new(Conversation {
            id,
            common,
            inbox: Mutex::new(Inbox {
                items: VecDeque::new(),
                closing: Closing::Open,
            }),
            getting: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            authentication: Mutex::new(None),
        })
    }

    /// Adds something to do.
    pub(crate) fn push(&self, item: Item) -> Result<(), PeerMisbehaved> {
        let load = &self.common.load;
        let mut inbox = self.inbox.lock();
        if inbox.items.len() >= BEHIND_A_GET && self.getting.load(Ordering::Relaxed) {
            return Err(PeerMisbehaved::TooManyRequestsAhead);
        }
        load.requests.fetch_add(1, Ordering::Relaxed);
        load.cost.fetch_add(item.cost(), Ordering::Relaxed);
        inbox.items.push_back(item);
        Ok(())
    }

    /// Brings the end nearer; the caller wakes the conversation.
    pub(crate) fn close(&self, closing: Closing) {
        let mut inbox = self.inbox.lock();
        inbox.closing = inbox.closing.max(closing);
        if inbox.closing == Closing::Dropping {
            let dropped: Vec<Item> = inbox.items.drain(..).collect();
            drop(inbox);
            dropped.iter().for_each(|item| self.finished(item.cost()));
        }
    }

    pub(crate) fn closing(&self) -> Closing {
        self.inbox.lock().closing
    }

    /// Whether an MQCONN has failed since this was asked last.
    pub(crate) fn take_refused(&self) -> bool {
        self.refused.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    fn finished(&self, cost: usize) {
        self.common.load.requests.fetch_sub(1, Ordering::Relaxed);
        self.common.load.cost.fetch_sub(cost, Ordering::Relaxed);
    }

    /// The next thing to do; `None` at the end.
    async fn next(&self) -> Option<Item> {
        poll_fn(|_| {
            let mut inbox = self.inbox.lock();
            match (inbox.items.pop_front(), inbox.closing) {
                (Some(item), _) => Poll::Ready(Some(item)),
                (None, Closing::Open | Closing::Quiescing) => Poll::Pending,
                (None, Closing::Draining | Closing::Dropping) => Poll::Ready(None),
            }
        })
        .await
    }

    /// Holds while the peer reads too slowly.
    async fn room(&self) {
        poll_fn(|cx| {
            if self.closing() >= Closing::Draining {
                return Poll::Ready(());
            }
            self.common.outbound.poll_room(cx)
        })
        .await;
    }

    /// Serves until the end.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut talk = Talk::new(Arc::clone(&self));
        while let Some(mut item) = self.next().await {
            self.room().await;
            let cost = item.cost();
            talk.serve(&mut item).await;
            self.finished(cost);
        }
        talk.end().await;
        self.common
            .instance
            .conversations
            .fetch_sub(1, Ordering::Relaxed);
    }

    /// An MQGET begins to wait.
    pub(crate) fn begin_get(&self) -> Waiting<'_> {
        self.getting.store(true, Ordering::Relaxed);
        self.common.load.gets.fetch_add(1, Ordering::Relaxed);
        Waiting(self)
    }
}

/// While this lives, an MQGET waits.
pub(crate) struct Waiting<'a>(&'a Conversation);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.getting.store(false, Ordering::Relaxed);
        self.0.common.load.gets.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F>(_: impl FnOnce(Arc<Conversation>) -> F) -> usize {
        size_of::<F>()
    }

    /// The budget for an idle client connection is 10 KB. Besides, a request touches what its conversation keeps, which
    /// with many connections is in no cache.
    #[test]
    fn an_idle_conversation_is_small() {
        let future = size_of_future(|conversation| conversation.run());
        assert!(future <= 2_368, "{future} bytes");
    }
}
