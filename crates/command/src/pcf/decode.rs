//! Bytes to messages. The bytes may come from anyone.
//!
//! Invariant: counts are compared with the limits before anything is made for what they count.

use super::{CFBF_FIXED, Header, MOST_NESTED, Message, Parameter, PcfError, Text, Value};
use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, Reason};

/// Shortest structure that a parameter can be.
const SHORTEST: usize = 16;

/// How much a message may have.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Parameters, of the message and of each group.
    parameters: usize,
    /// Strings of a list.
    texts: usize,
}

impl Limits {
    /// Whatever the bytes hold.
    pub(super) const NONE: Limits = Limits {
        parameters: usize::MAX,
        texts: usize::MAX,
    };
    /// Of a request, which anybody may send: far more than any command has. A string of one byte takes fifty here, and a
    /// name becomes a command.
    pub(super) const REQUEST: Limits = Limits {
        parameters: 1_000,
        texts: 1_000,
    };
}

pub(super) fn message(
    bytes: &[u8],
    order: ByteOrder,
    limits: Limits,
) -> Result<(Message, usize), PcfError> {
    let length = mq::MQCFH_STRUC_LENGTH as usize;
    let short = || fault(Reason::CCF_CFH_LENGTH_ERROR, 0);
    let header_bytes = bytes.get(..length).ok_or_else(short)?;
    let field = |at: usize| order.get_i32(header_bytes, at).ok_or_else(short);
    if field(4)? != mq::MQCFH_STRUC_LENGTH {
        return Err(short());
    }
    let header = Header {
        type_: field(0)?,
        version: field(8)?,
        command: field(12)?,
        msg_seq_number: field(16)?,
        control: field(20)?,
        comp_code: field(24)?,
        reason: field(28)?,
    };
    if !(mq::MQCFH_VERSION_1..=mq::MQCFH_CURRENT_VERSION).contains(&header.version) {
        return Err(fault(Reason::CCF_CFH_VERSION_ERROR, 8));
    }
    if ![mq::MQCFC_LAST, mq::MQCFC_NOT_LAST].contains(&header.control) {
        return Err(fault(Reason::CCF_CFH_CONTROL_ERROR, 20));
    }
    let mut reader = Reader {
        bytes,
        order,
        at: length,
        limits,
    };
    let count_error = Reason::CCF_CFH_PARM_COUNT_ERROR;
    let parameters = reader.parameters(field(32)?, 0, count_error, 32)?;
    Ok((Message { header, parameters }, reader.at))
}

fn fault(reason: Reason, offset: usize) -> PcfError {
    PcfError { reason, offset }
}

struct Reader<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
    at: usize,
    limits: Limits,
}

/// One parameter structure: `StrucLength` bytes, cut out of the message.
struct Structure<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
    at: usize,
    /// What is wrong when its lengths do not fit together.
    reason: Reason,
}

impl<'a> Reader<'a> {
    fn parameters(
        &mut self,
        count: i32,
        depth: usize,
        reason: Reason,
        at: usize,
    ) -> Result<Vec<Parameter>, PcfError> {
        let left = self.bytes.len().saturating_sub(self.at);
        let count = usize::try_from(count).ok();
        if count.is_some_and(|count| count > self.limits.parameters) {
            return Err(fault(Reason::CCF_PARM_COUNT_TOO_BIG, at));
        }
        let count = count
            .filter(|count| {
                count
                    .checked_mul(SHORTEST)
                    .is_some_and(|least| least <= left)
            })
            .ok_or(fault(reason, at))?;
        let mut parameters = Vec::with_capacity(count);
        for _ in 0..count {
            parameters.push(self.parameter(depth)?);
        }
        Ok(parameters)
    }

    fn parameter(&mut self, depth: usize) -> Result<Parameter, PcfError> {
        let at = self.at;
        let too_few = fault(Reason::CCF_PARM_COUNT_TOO_SMALL, at);
        let type_ = self.order.get_i32(self.bytes, at).ok_or(too_few)?;
        let length = self.order.get_i32(self.bytes, at + 4).ok_or(too_few)?;
        let (fixed, reason) = form(type_).ok_or(fault(Reason::CCF_STRUCTURE_TYPE_ERROR, at))?;
        let bytes = usize::try_from(length)
            .ok()
            .filter(|length| *length >= fixed)
            .and_then(|length| self.bytes.get(at..at.checked_add(length)?))
            .ok_or(fault(reason, at))?;
        let structure = Structure {
            bytes,
            order: self.order,
            at,
            reason,
        };
        self.at += bytes.len();
        let id = structure.int(8)?;
        let value = match type_ {
            mq::MQCFT_GROUP => {
                if depth >= MOST_NESTED {
                    return Err(fault(Reason::CCF_CFGR_PARM_COUNT_ERROR, at));
                }
                let reason = Reason::CCF_CFGR_PARM_COUNT_ERROR;
                let count = structure.int(12)?;
                Value::Group(self.parameters(count, depth + 1, reason, at)?)
            }
            mq::MQCFT_STRING_LIST => structure.texts(self.limits.texts)?,
            type_ => structure.value(type_)?,
        };
        Ok(Parameter { id, value })
    }
}

/// The fixed length of a structure, and the reason for a wrong length.
fn form(type_: i32) -> Option<(usize, Reason)> {
    let (fixed, reason) = match type_ {
        mq::MQCFT_INTEGER => (mq::MQCFIN_STRUC_LENGTH, Reason::CCF_CFIN_LENGTH_ERROR),
        mq::MQCFT_INTEGER64 => (mq::MQCFIN64_STRUC_LENGTH, Reason::CCF_CFIN_LENGTH_ERROR),
        mq::MQCFT_STRING => (mq::MQCFST_STRUC_LENGTH_FIXED, Reason::CCF_CFST_LENGTH_ERROR),
        mq::MQCFT_INTEGER_LIST => (mq::MQCFIL_STRUC_LENGTH_FIXED, Reason::CCF_CFIL_LENGTH_ERROR),
        mq::MQCFT_INTEGER64_LIST => (
            mq::MQCFIL64_STRUC_LENGTH_FIXED,
            Reason::CCF_CFIL_LENGTH_ERROR,
        ),
        mq::MQCFT_STRING_LIST => (mq::MQCFSL_STRUC_LENGTH_FIXED, Reason::CCF_CFSL_LENGTH_ERROR),
        mq::MQCFT_BYTE_STRING => (mq::MQCFBS_STRUC_LENGTH_FIXED, Reason::CCF_CFBS_LENGTH_ERROR),
        mq::MQCFT_INTEGER_FILTER => (mq::MQCFIF_STRUC_LENGTH, Reason::CCF_CFIF_LENGTH_ERROR),
        mq::MQCFT_STRING_FILTER => (mq::MQCFSF_STRUC_LENGTH_FIXED, Reason::CCF_CFSF_LENGTH_ERROR),
        mq::MQCFT_BYTE_STRING_FILTER => (CFBF_FIXED, Reason::CCF_CFBF_LENGTH_ERROR),
        mq::MQCFT_GROUP => (mq::MQCFGR_STRUC_LENGTH, Reason::CCF_CFGR_LENGTH_ERROR),
        _ => return None,
    };
    Some((usize::try_from(fixed).ok()?, reason))
}

impl Structure<'_> {
    fn fault(&self, reason: Reason) -> PcfError {
        fault(reason, self.at)
    }

    fn int(&self, at: usize) -> Result<i32, PcfError> {
        let missing = self.fault(self.reason);
        self.order.get_i32(self.bytes, at).ok_or(missing)
    }

    fn int64(&self, at: usize) -> Result<i64, PcfError> {
        let missing = self.fault(self.reason);
        self.order.get_i64(self.bytes, at).ok_or(missing)
    }

    /// `length` bytes from `at`; a length that does not fit is `reason`.
    fn bytes(&self, at: usize, length: i32, reason: Reason) -> Result<&[u8], PcfError> {
        usize::try_from(length)
            .ok()
            .and_then(|length| self.bytes.get(at..at.checked_add(length)?))
            .ok_or(self.fault(reason))
    }

    /// The value of anything but a group and a list of strings.
    fn value(&self, type_: i32) -> Result<Value, PcfError> {
        Ok(match type_ {
            mq::MQCFT_INTEGER => Value::Int(self.int(12)?),
            mq::MQCFT_INTEGER64 => Value::Int64(self.int64(16)?),
            mq::MQCFT_STRING => {
                let reason = Reason::CCF_CFST_STRING_LENGTH_ERR;
                Value::Text(Text {
                    ccsid: self.int(12)?,
                    bytes: self.bytes(20, self.int(16)?, reason)?.to_vec(),
                })
            }
            mq::MQCFT_INTEGER_LIST => {
                let count = self.count(12, 4, Reason::CCF_CFIL_COUNT_ERROR)?;
                let values: Result<_, _> = (0..count).map(|n| self.int(16 + 4 * n)).collect();
                Value::Ints(values?)
            }
            mq::MQCFT_INTEGER64_LIST => {
                let count = self.count(12, 8, Reason::CCF_CFIL_COUNT_ERROR)?;
                let values: Result<_, _> = (0..count).map(|n| self.int64(16 + 8 * n)).collect();
                Value::Ints64(values?)
            }
            mq::MQCFT_BYTE_STRING => {
                let reason = Reason::CCF_CFBS_STRING_LENGTH_ERR;
                Value::Bytes(self.bytes(16, self.int(12)?, reason)?.to_vec())
            }
            mq::MQCFT_INTEGER_FILTER => Value::IntFilter {
                operator: self.int(12)?,
                value: self.int(16)?,
            },
            mq::MQCFT_STRING_FILTER => {
                let reason = Reason::CCF_CFSF_FILTER_VAL_LEN_ERR;
                Value::TextFilter {
                    operator: self.int(12)?,
                    value: Text {
                        ccsid: self.int(16)?,
                        bytes: self.bytes(24, self.int(20)?, reason)?.to_vec(),
                    },
                }
            }
            mq::MQCFT_BYTE_STRING_FILTER => {
                let reason = Reason::CCF_CFBF_FILTER_VAL_LEN_ERR;
                Value::BytesFilter {
                    operator: self.int(12)?,
                    value: self.bytes(20, self.int(16)?, reason)?.to_vec(),
                }
            }
            _ => return Err(self.fault(Reason::CCF_STRUCTURE_TYPE_ERROR)),
        })
    }

    /// The count at `at`, of items of `size` bytes that follow the fixed part of a list.
    fn count(&self, at: usize, size: usize, reason: Reason) -> Result<usize, PcfError> {
        let room = self.bytes.len().saturating_sub(16) / size;
        usize::try_from(self.int(at)?)
            .ok()
            .filter(|count| *count <= room)
            .ok_or(self.fault(reason))
    }

    /// A list of strings, of up to `most`.
    fn texts(&self, most: usize) -> Result<Value, PcfError> {
        let count_error = self.fault(Reason::CCF_CFSL_COUNT_ERROR);
        let width_error = self.fault(Reason::CCF_CFSL_STRING_LENGTH_ERR);
        let count = usize::try_from(self.int(16)?).ok();
        let count = count.filter(|count| *count <= most).ok_or(count_error)?;
        let width = usize::try_from(self.int(20)?).map_err(|_| width_error)?;
        let all = self.bytes.get(24..).unwrap_or_default();
        let total = count.checked_mul(width).filter(|total| *total <= all.len());
        let total_error = self.fault(Reason::CCF_CFSL_TOTAL_LENGTH_ERROR);
        let used = total
            .and_then(|total| all.get(..total))
            .ok_or(total_error)?;
        let items = match width {
            // Any number of empty strings would fit in no bytes at all.
            0 if count > 0 => return Err(width_error),
            0 => Vec::new(),
            width => used.chunks_exact(width).map(<[u8]>::to_vec).collect(),
        };
        Ok(Value::Texts {
            ccsid: self.int(12)?,
            width,
            items,
        })
    }
}
