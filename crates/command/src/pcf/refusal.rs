//! Why a request in PCF is not carried out (manual: "Standard responses", "PCF reason codes").

use posthaste_mqi::Reason;
use posthaste_mqi::constants as mq;

use super::{PcfError, Value};

/// Why a request is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The reason that the response has.
    pub reason: Reason,
    /// The parameter that says what is at fault, and its value.
    pub(super) fault: Option<(i32, i32)>,
}

impl From<PcfError> for Refusal {
    fn from(error: PcfError) -> Refusal {
        error.reason.into()
    }
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Refusal {
        Refusal {
            reason,
            fault: None,
        }
    }
}

/// Refuses a request for one of its parameters.
pub(super) fn refused<T>(reason: Reason, parameter: i32) -> Result<T, Refusal> {
    let fault = Some((mq::MQIACF_PARAMETER_ID, parameter));
    Err(Refusal { reason, fault })
}

/// The same for a number in a list of attributes.
pub(super) fn refused_selector<T>(reason: Reason, selector: i32) -> Result<T, Refusal> {
    let fault = Some((mq::MQIACF_SELECTOR, selector));
    Err(Refusal { reason, fault })
}

/// Why a parameter is refused that the command does not have.
pub(super) fn unknown(value: &Value) -> Reason {
    match value {
        Value::Int(_) | Value::Int64(_) => Reason::CCF_CFIN_PARM_ID_ERROR,
        Value::Ints(_) | Value::Ints64(_) => Reason::CCF_CFIL_PARM_ID_ERROR,
        Value::Text(_) => Reason::CCF_CFST_PARM_ID_ERROR,
        Value::Texts { .. } => Reason::CCF_CFSL_PARM_ID_ERROR,
        Value::Bytes(_) => Reason::CCF_CFBS_PARM_ID_ERROR,
        Value::IntFilter { .. } => Reason::CCF_CFIF_PARM_ID_ERROR,
        Value::TextFilter { .. } => Reason::CCF_CFSF_PARM_ID_ERROR,
        Value::BytesFilter { .. } => Reason::CCF_CFBF_PARM_ID_ERROR,
        Value::Group(_) => Reason::CCF_CFGR_PARM_ID_ERROR,
    }
}

/// Why a parameter is refused that is there twice.
pub(super) fn twice(value: &Value) -> Reason {
    match value {
        Value::Int(_) | Value::Int64(_) => Reason::CCF_CFIN_DUPLICATE_PARM,
        Value::Text(_) => Reason::CCF_CFST_DUPLICATE_PARM,
        Value::Texts { .. } => Reason::CCF_CFSL_DUPLICATE_PARM,
        Value::Bytes(_) => Reason::CCF_CFBS_DUPLICATE_PARM,
        _ => Reason::CCF_PARM_CONFLICT,
    }
}
