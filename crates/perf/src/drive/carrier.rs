//! What carries an application: its connection, and the waiting between its calls.
//!
//! There are two: a blocking connection on a thread of its own (`blocking`), and a connection in a loop of many (`link`).

use std::task::Poll;

use posthaste_client::ClientError;
use posthaste_mqi::{CorrelId, Hobj, MsgId, Name, Reason, Sts};
use posthaste_wire::PeerMisbehaved;

use super::connect::call_failed;
use crate::measure::LabError;
use crate::workload::Nanos;

/// A queue that an application uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) name: Name,
    /// Blank is ours.
    pub(crate) queue_manager: Name,
    /// None where it is not open: it is put to by MQPUT1.
    pub(crate) handle: Option<Hobj>,
}

/// A message to put, with the application's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put<'a> {
    pub(crate) to: &'a Queue,
    pub(crate) correl_id: CorrelId,
    /// None is the message that was got last.
    pub(crate) data: Option<&'a [u8]>,
}

/// A message to get, with the application's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Get {
    pub(crate) from: Hobj,
    /// Whose; MQCI_NONE takes any.
    pub(crate) correl_id: CorrelId,
    /// Milliseconds to wait.
    pub(crate) wait_ms: i32,
    /// Bytes of the buffer.
    pub(crate) buffer: usize,
}

/// What MQGET came to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Got {
    /// A message.
    Message,
    /// One of this length, which is longer than the buffer and still on its queue.
    TooLong(usize),
    /// None in time.
    Nothing,
}

/// What is looked at of a message that was got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) msg_id: MsgId,
    pub(crate) correl_id: CorrelId,
    pub(crate) reply_to: Name,
    pub(crate) reply_to_q_mgr: Name,
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// As the connection says; the call is told with it.
    Call(ClientError),
    /// What no call has to do with.
    Beside(LabError),
}

impl Fault {
    /// What the application's user reads.
    pub(crate) fn of(self, call: &'static str, object: &str) -> LabError {
        match self {
            Fault::Call(error) => call_failed(call, object, error),
            Fault::Beside(error) => error,
        }
    }
}

impl From<ClientError> for Fault {
    fn from(error: ClientError) -> Fault {
        Fault::Call(error)
    }
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Fault {
        Fault::Call(reason.into())
    }
}

impl From<PeerMisbehaved> for Fault {
    fn from(error: PeerMisbehaved) -> Fault {
        Fault::Call(error.into())
    }
}

/// How a call went.
pub(crate) type Called<T> = Result<T, Fault>;

/// What came of a look: it is waited on while there was nothing.
pub(crate) fn came<T>(look: Called<Option<T>>) -> Poll<Called<T>> {
    look.transpose().map_or(Poll::Pending, Poll::Ready)
}

/// A connection, and the waiting between calls.
pub(crate) trait Carrier {
    /// MQOPEN of what has this name.
    async fn open(&mut self, queue: &Queue, options: i32) -> Called<Hobj>;
    /// MQPUT or MQPUT1; gives the MsgId, or MQMI_NONE where puts are not answered.
    async fn put(&mut self, put: &Put<'_>) -> Called<MsgId>;
    /// MQGET; what is looked at of a message that comes goes to `message`.
    async fn get(&mut self, get: &Get, message: &mut Message) -> Called<Got>;
    /// MQCMIT.
    async fn commit(&mut self) -> Called<()>;
    /// MQSTAT for asynchronous puts.
    async fn stat(&mut self) -> Called<Sts>;
    /// MQDISC.
    async fn disconnect(self) -> Called<()>;
    /// Waits until then, or (none) until the group is let go; either way no longer than until it is to end.
    async fn pause(&mut self, until: Option<Nanos>) -> Called<()>;
    /// The time, as exactly as an iteration needs it that is not timed.
    fn now(&self) -> Nanos;
    /// An iteration is over.
    fn rested(&mut self);
}
