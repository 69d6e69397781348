//! Descriptors and options: what is alike in all calls of an application.
//!
//! Invariant: identifiers of messages are not in a shape; they come with each call.

use std::time::Duration;

use posthaste_mqi::constants::{
    MQGMO_CONVERT, MQGMO_FAIL_IF_QUIESCING, MQGMO_NO_SYNCPOINT, MQGMO_NO_WAIT, MQGMO_SYNCPOINT,
    MQGMO_WAIT, MQMO_MATCH_CORREL_ID, MQMO_NONE, MQMT_DATAGRAM, MQMT_REPLY, MQMT_REQUEST,
    MQPER_NOT_PERSISTENT, MQPER_PERSISTENCE_AS_Q_DEF, MQPER_PERSISTENT, MQPMO_ASYNC_RESPONSE,
    MQPMO_FAIL_IF_QUIESCING, MQPMO_NO_SYNCPOINT, MQPMO_SYNC_RESPONSE, MQPMO_SYNCPOINT,
};
use posthaste_mqi::{Chars, Gmo, Md, Name, Pmo};

use super::{Module, Workload};

/// Waits are cut into slices of this length, so that an application that is to stop does so soon.
pub(crate) const SLICE: Duration = Duration::from_secs(1);

/// What every message of an application is put with.
#[derive(Clone, Debug)]
pub(crate) struct PutShape {
    /// Descriptor.
    pub(crate) md: Md,
    /// Options.
    pub(crate) pmo: Pmo,
    /// Whether the queue manager answers.
    pub(crate) answered: bool,
}

/// What every message of an application is got with.
#[derive(Clone, Debug)]
pub(crate) struct GetShape {
    /// Descriptor.
    pub(crate) md: Md,
    /// Options, but for the wait interval.
    pub(crate) gmo: Gmo,
}

/// Both.
pub(crate) struct Shapes {
    pub(crate) put: PutShape,
    pub(crate) get: GetShape,
}

impl Shapes {
    pub(crate) fn new(workload: &Workload, index: u32) -> Shapes {
        let (msg_type, reply_to_q) = match workload.module {
            Module::Requester => (MQMT_REQUEST, Name::new(&workload.replies.name(index))),
            Module::Responder => (MQMT_REPLY, Name::BLANK),
            _ => (MQMT_DATAGRAM, Name::BLANK),
        };
        let md = Md {
            msg_type,
            persistence: match workload.persistence {
                Some(true) => MQPER_PERSISTENT,
                Some(false) => MQPER_NOT_PERSISTENT,
                None => MQPER_PERSISTENCE_AS_Q_DEF,
            },
            format: Chars::new(&workload.format),
            reply_to_q,
            ..Md::default()
        };
        // Said in either case: what the queue's DEFPRESP says must not change what is measured.
        let response = match workload.asynchronous {
            true => MQPMO_ASYNC_RESPONSE,
            false => MQPMO_SYNC_RESPONSE,
        };
        let put = match workload.syncpoint.put {
            true => MQPMO_SYNCPOINT,
            false => MQPMO_NO_SYNCPOINT,
        };
        let get = match workload.syncpoint.get {
            true => MQGMO_SYNCPOINT,
            false => MQGMO_NO_SYNCPOINT,
        };
        let pmo = Pmo {
            options: put | response | MQPMO_FAIL_IF_QUIESCING,
            ..Pmo::default()
        };
        let waits = workload.get_wait.is_none_or(|wait| !wait.is_zero());
        let wait = if waits { MQGMO_WAIT } else { MQGMO_NO_WAIT };
        let convert = if workload.convert { MQGMO_CONVERT } else { 0 };
        let answered = matches!(workload.module, Module::Requester | Module::PutGet);
        let gmo = Gmo {
            version: 2,
            options: get | wait | convert | MQGMO_FAIL_IF_QUIESCING,
            match_options: match workload.by_correlation_id && answered {
                true => MQMO_MATCH_CORREL_ID,
                false => MQMO_NONE,
            },
            ..Gmo::default()
        };
        Shapes {
            put: PutShape {
                md,
                pmo,
                answered: !workload.asynchronous,
            },
            get: GetShape {
                md: Md::default(),
                gmo,
            },
        }
    }
}

/// How long one reply, in slices, has been waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    within: Option<Duration>,
    waited: Duration,
}

impl Waiting {
    pub(crate) fn new(workload: &Workload) -> Waiting {
        Waiting {
            within: workload.get_wait,
            waited: Duration::ZERO,
        }
    }

    fn slice(&self) -> Duration {
        let left = self.within.map(|within| within.saturating_sub(self.waited));
        left.map_or(SLICE, |left| left.min(SLICE))
    }

    /// Milliseconds of the next slice.
    pub(crate) fn milliseconds(&self) -> i32 {
        i32::try_from(self.slice().as_millis()).unwrap_or(i32::MAX)
    }

    /// A slice has gone by in vain; whether there is another.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.waited += self.slice();
        self.within.is_none_or(|within| self.waited < within)
    }

    /// Something came.
    pub(crate) fn over(&mut self) {
        self.waited = Duration::ZERO;
    }
}
