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
        Shapes {
            put: put_shape(workload, index),
            get: get_shape(workload),
        }
    }
}

fn put_shape(workload: &Workload, index: u32) -> PutShape {
    let reply_to = match workload.module {
        Module::Requester => Name::new(&workload.replies.name(index)),
        _ => Name::BLANK,
    };
    let md = Md {
        msg_type: match workload.module {
            Module::Requester => MQMT_REQUEST,
            Module::Responder => MQMT_REPLY,
            _ => MQMT_DATAGRAM,
        },
        persistence: match workload.persistence {
            Some(true) => MQPER_PERSISTENT,
            Some(false) => MQPER_NOT_PERSISTENT,
            None => MQPER_PERSISTENCE_AS_Q_DEF,
        },
        format: Chars::new(&workload.format),
        reply_to_q: reply_to,
        ..Md::default()
    };
    let sync = match workload.syncpoint.put {
        true => MQPMO_SYNCPOINT,
        false => MQPMO_NO_SYNCPOINT,
    };
    // Said in either case: what the queue's DEFPRESP says must not change what is measured.
    let response = match workload.asynchronous {
        true => MQPMO_ASYNC_RESPONSE,
        false => MQPMO_SYNC_RESPONSE,
    };
    PutShape {
        md,
        pmo: Pmo {
            options: sync | response | MQPMO_FAIL_IF_QUIESCING,
            ..Pmo::default()
        },
        answered: !workload.asynchronous,
    }
}

fn get_shape(workload: &Workload) -> GetShape {
    let sync = match workload.syncpoint.get {
        true => MQGMO_SYNCPOINT,
        false => MQGMO_NO_SYNCPOINT,
    };
    let wait = match workload.get_wait {
        Some(wait) if wait.is_zero() => MQGMO_NO_WAIT,
        _ => MQGMO_WAIT,
    };
    let convert = match workload.convert {
        true => MQGMO_CONVERT,
        false => 0,
    };
    let by_correl_id =
        workload.by_correlation_id && matches!(workload.module, Module::Requester | Module::PutGet);
    let gmo = Gmo {
        version: 2,
        options: sync | wait | convert | MQGMO_FAIL_IF_QUIESCING,
        match_options: match by_correl_id {
            true => MQMO_MATCH_CORREL_ID,
            false => MQMO_NONE,
        },
        ..Gmo::default()
    };
    GetShape {
        md: Md::default(),
        gmo,
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
