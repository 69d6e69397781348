//! A conversation: an inbox of requests and one future that serves them, in order, for its whole life.
//!
//! Invariants: at most one request of a conversation runs at a time; its answers are appended in the order of its
//! requests; when the future ends, the session has ended. The inbox is filled by the socket's task, which also polls the
//! future, so an empty inbox needs no waker.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::Poll;

use parking_lot::Mutex;
use posthaste_mqi::{Hobj, Reason};
use posthaste_net::Outbound;
use posthaste_wire::stream::{Notification, RequestMsgs};
use posthaste_wire::{Agreement, Budget, Framing, Header, PeerMisbehaved, Request};

use crate::registry::{Definition, Instance, Registry};
use crate::talk::Talk;

/// Requests that may come while an MQGET of the conversation waits. A client library sends none.
const BEHIND_A_GET: usize = 16;
/// What they may cost together: a wait may last for ever, and what waits for its end is taken from all sockets.
const COST_BEHIND_A_GET: usize = 64 * 1_024;
/// What a request costs beside its data, for the limit on input.
const REQUEST_COST: usize = 1_024;

/// The steps in which what waits on a socket is counted in the budget of all sockets, so that small requests, which are
/// most, do not touch what all sockets share.
const BUDGET_STEP: usize = 64 * 1_024;

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
            Item::Request {
                request: Request::Set(set),
                ..
            } => 4 * set.ints.len() + set.chars.len(),
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
    /// Who the client's process runs as, by its own word.
    pub(crate) userid: Mutex<Option<String>>,
    pub(crate) load: Load,
}

/// What waits or runs on a socket.
pub(crate) struct Load {
    /// Requests that have come and are not finished.
    requests: AtomicUsize,
    /// What they cost, in bytes, but for MQGETs that wait.
    cost: AtomicUsize,
    /// MQGETs that wait.
    gets: AtomicUsize,
    /// Too much has been sent behind one of them.
    overrun: AtomicBool,
    /// Counts what costs much.
    budget: Arc<Budget>,
}

impl Load {
    pub(crate) fn new(budget: &Arc<Budget>) -> Load {
        Load {
            requests: AtomicUsize::new(0),
            cost: AtomicUsize::new(0),
            gets: AtomicUsize::new(0),
            overrun: AtomicBool::new(false),
            budget: Arc::clone(budget),
        }
    }

    /// Whether everything in the budget of all sockets is taken, and this one has a part in it.
    pub(crate) fn is_held(&self) -> bool {
        self.cost() >= BUDGET_STEP && self.budget.is_spent()
    }

    /// Whether a peer has sent more behind an MQGET that waits than is kept.
    pub(crate) fn is_overrun(&self) -> bool {
        self.overrun.load(Ordering::Relaxed)
    }

    fn add_cost(&self, bytes: usize) {
        let before = self.cost.fetch_add(bytes, Ordering::Relaxed);
        let steps = (before + bytes) / BUDGET_STEP - before / BUDGET_STEP;
        if steps > 0 {
            self.budget.add(steps * BUDGET_STEP);
        }
    }

    fn take_cost(&self, bytes: usize) {
        let before = self.cost.fetch_sub(bytes, Ordering::Relaxed);
        let steps = before / BUDGET_STEP - before.saturating_sub(bytes) / BUDGET_STEP;
        if steps > 0 {
            self.budget.give_back(steps * BUDGET_STEP);
        }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Requests that wait for their turn or run. An MQGET that waits is neither: whoever sent it may send on other
    /// conversations, for as long as it waits.
    pub(crate) fn at_work(&self) -> usize {
        self.requests().saturating_sub(self.gets())
    }

    pub(crate) fn cost(&self) -> usize {
        self.cost.load(Ordering::Relaxed)
    }

    pub(crate) fn gets(&self) -> usize {
        self.gets.load(Ordering::Relaxed)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.take_cost(self.cost());
    }
}

/// What has become of an MQCONN that the protocol's machine does not know of yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Connect {
    Succeeded = 1,
    Failed = 2,
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
    /// What they cost together.
    cost: usize,
    closing: Closing,
}

impl Inbox {
    /// Whether this is more than may come behind an MQGET that waits.
    fn is_long(&self) -> bool {
        self.items.len() > BEHIND_A_GET || self.cost > COST_BEHIND_A_GET
    }
}

/// A conversation as its socket's task and its own future see it.
pub(crate) struct Conversation {
    pub(crate) id: u32,
    pub(crate) common: Arc<Common>,
    inbox: Mutex<Inbox>,
    getting: AtomicBool,
    /// A [`Connect`], or 0.
    connect: AtomicU8,
    /// The user of the credentials that came for its next MQCONN. Their password is not kept.
    pub(crate) user: Mutex<Option<String>>,
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
                cost: 0,
                closing: Closing::Open,
            }),
            getting: AtomicBool::new(false),
            connect: AtomicU8::new(0),
            user: Mutex::new(None),
        })
    }

    /// Adds something to do.
    pub(crate) fn push(&self, item: Item) -> Result<(), PeerMisbehaved> {
        let load = &self.common.load;
        let cost = item.cost();
        let mut inbox = self.inbox.lock();
        load.requests.fetch_add(1, Ordering::Relaxed);
        load.add_cost(cost);
        inbox.cost += cost;
        inbox.items.push_back(item);
        if self.getting.load(Ordering::Relaxed) && inbox.is_long() {
            return Err(PeerMisbehaved::TooManyRequestsAhead);
        }
        Ok(())
    }

    /// Brings the end nearer; the caller wakes the conversation.
    pub(crate) fn close(&self, closing: Closing) {
        let mut inbox = self.inbox.lock();
        inbox.closing = inbox.closing.max(closing);
        if inbox.closing == Closing::Dropping {
            let dropped: Vec<Item> = inbox.items.drain(..).collect();
            inbox.cost = 0;
            drop(inbox);
            dropped.iter().for_each(|item| self.finished(item.cost()));
        }
    }

    pub(crate) fn closing(&self) -> Closing {
        self.inbox.lock().closing
    }

    /// What has become of an MQCONN since this was asked last.
    pub(crate) fn take_connect(&self) -> Option<Connect> {
        // Nearly always nothing, so nothing is written.
        let connect = match self.connect.load(Ordering::Relaxed) {
            0 => return None,
            connect => connect,
        };
        self.connect.store(0, Ordering::Relaxed);
        [Connect::Succeeded, Connect::Failed]
            .into_iter()
            .find(|known| *known as u8 == connect)
    }

    /// An MQCONN has been answered.
    pub(crate) fn connect(&self, connect: Connect) {
        self.connect.store(connect as u8, Ordering::Relaxed);
    }

    fn finished(&self, cost: usize) {
        self.common.load.requests.fetch_sub(1, Ordering::Relaxed);
        self.common.load.take_cost(cost);
    }

    /// The next thing to do; `None` at the end.
    async fn next(&self) -> Option<Item> {
        poll_fn(|_| {
            let mut inbox = self.inbox.lock();
            match (inbox.items.pop_front(), inbox.closing) {
                (Some(item), _) => {
                    inbox.cost -= item.cost();
                    Poll::Ready(Some(item))
                }
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
        let load = &self.common.load;
        load.gets.fetch_add(1, Ordering::Relaxed);
        load.take_cost(REQUEST_COST);
        if self.inbox.lock().is_long() {
            load.overrun.store(true, Ordering::Relaxed);
        }
        Waiting(self)
    }
}

/// While this lives, an MQGET waits.
pub(crate) struct Waiting<'a>(&'a Conversation);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.getting.store(false, Ordering::Relaxed);
        let load = &self.0.common.load;
        load.gets.fetch_sub(1, Ordering::Relaxed);
        load.add_cost(REQUEST_COST);
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
