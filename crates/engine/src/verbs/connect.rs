//! MQCONN and MQCONNX: which options may be given (MQI reference, "MQCNO", Options).
//!
//! An option is carried out, or has no effect here for the reason that stands beside it, or is refused.

use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;

use crate::application::{Application, Binding};

/// How the application is bound. Clients and applications of this machine are in other processes than the queue
/// manager, whatever they ask for; the in-process binding is asked for by its own call.
const BINDINGS: i32 = MQCNO_FASTPATH_BINDING | MQCNO_SHARED_BINDING | MQCNO_ISOLATED_BINDING;
/// Where its queue manager is looked for: its client library has done that.
const PLACES: i32 = MQCNO_LOCAL_BINDING | MQCNO_CLIENT_BINDING;
/// Whether threads of the application may share the connection's handles: its client library sees to that.
const HANDLE_SHARING: i32 =
    MQCNO_HANDLE_SHARE_NONE | MQCNO_HANDLE_SHARE_BLOCK | MQCNO_HANDLE_SHARE_NO_BLOCK;
/// They override ACCTMQI, ACCTQ and the activity trace where ACCTCONO and its like allow it, which they cannot here.
const ACCOUNTING_MQI: i32 = MQCNO_ACCOUNTING_MQI_ENABLED | MQCNO_ACCOUNTING_MQI_DISABLED;
const ACCOUNTING_Q: i32 = MQCNO_ACCOUNTING_Q_ENABLED | MQCNO_ACCOUNTING_Q_DISABLED;
const ACTIVITY_TRACE: i32 = MQCNO_ACTIVITY_TRACE_ENABLED | MQCNO_ACTIVITY_TRACE_DISABLED;
/// How the client library makes its sockets.
const SOCKETS: i32 = MQCNO_NO_CONV_SHARING | MQCNO_ALL_CONVS_SHARE;
const DEFINITIONS: i32 = MQCNO_CD_FOR_OUTPUT_ONLY | MQCNO_USE_CD_SELECTION;
/// The client library connects again, and opens everything again, by itself: to the queue manager it is another
/// connection.
const RECONNECTION: i32 = MQCNO_RECONNECT | MQCNO_RECONNECT_DISABLED | MQCNO_RECONNECT_Q_MGR;
/// A connection tag may be generated; what a tag is for, to keep others from connecting with it, is refused.
const TAGS: i32 = MQCNO_GENERATE_CONN_TAG;

impl Application {
    /// The options in force: the application's, but for the binding, which is what it is.
    pub fn options_in_force(&self) -> i32 {
        let binding = match self.binding {
            Binding::Fastpath => MQCNO_FASTPATH_BINDING,
            Binding::Shared => MQCNO_SHARED_BINDING,
        };
        self.options & !(BINDINGS | PLACES) | binding
    }
}

/// Options of which at most one may be given.
const EITHER: [i32; 9] = [
    BINDINGS,
    PLACES,
    HANDLE_SHARING,
    ACCOUNTING_MQI,
    ACCOUNTING_Q,
    ACTIVITY_TRACE,
    SOCKETS,
    DEFINITIONS,
    RECONNECTION,
];

/// Whether a connection may be made with these options.
///
/// # Errors
/// 2046 one is not known or not served, or two contradict each other.
pub(crate) fn check_options(options: i32) -> Result<(), Reason> {
    let known = EITHER.iter().fold(TAGS, |known, group| known | group);
    let contradicts = |group: &i32| (options & group).count_ones() > 1;
    if options & !known != 0 || EITHER.iter().any(contradicts) {
        return Err(Reason::OPTIONS_ERROR);
    }
    Ok(())
}
