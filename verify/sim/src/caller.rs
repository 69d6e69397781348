//! How an application calls the queue manager: in its own process, or over a channel.

use bytes::Bytes;
use posthaste_engine::{Got, Inquired, QueueManager, Session, Verb};
use posthaste_mqi::{Gmo, Hobj, Md, Od, Pmo};

use crate::channel::Conversation;

/// A connection of an application.
pub(crate) enum Caller {
    /// In the queue manager's process.
    Local(Session),
    /// Over a channel.
    Remote(Conversation),
}

/// The same call on either.
macro_rules! either {
    ($caller:expr, $call:ident ( $($argument:expr),* )) => {
        match $caller {
            Caller::Local(session) => session.$call($($argument),*).await,
            Caller::Remote(conversation) => conversation.$call($($argument),*).await,
        }
    };
}

impl Caller {
    pub(crate) async fn open(&self, od: &mut Od, options: i32) -> Verb<Hobj> {
        either!(self, open(od, options))
    }

    pub(crate) async fn close(&self, handle: Hobj, options: i32) -> Verb<()> {
        either!(self, close(handle, options))
    }

    pub(crate) async fn put(
        &self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Verb<()> {
        either!(self, put(handle, md, pmo, data))
    }

    pub(crate) async fn put1(
        &self,
        od: &mut Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Verb<()> {
        either!(self, put1(od, md, pmo, data))
    }

    pub(crate) async fn get(
        &self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        buffer: usize,
    ) -> Verb<Got> {
        either!(self, get(handle, md, gmo, buffer))
    }

    pub(crate) async fn inquire(&self, handle: Hobj, selectors: &[i32]) -> Verb<Inquired> {
        either!(self, inquire(handle, selectors))
    }

    pub(crate) async fn set(
        &self,
        handle: Hobj,
        selectors: &[i32],
        ints: &[i32],
        chars: &[u8],
    ) -> Verb<()> {
        either!(self, set(handle, selectors, ints, chars))
    }

    pub(crate) async fn commit(&self) -> Verb<()> {
        either!(self, commit())
    }

    pub(crate) async fn backout(&self) -> Verb<()> {
        either!(self, backout())
    }

    pub(crate) async fn disconnect(&self) -> Verb<()> {
        either!(self, disconnect())
    }

    pub(crate) fn queue_manager(&self) -> QueueManager {
        match self {
            Caller::Local(session) => session.queue_manager(),
            Caller::Remote(conversation) => conversation.queue_manager().clone(),
        }
    }
}
