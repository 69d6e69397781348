//! Messages to bytes. Lengths and counts are those of what is in memory, so they fit their
//! fields: nothing longer than a message (100 MB) can be sent anyway.

use super::{Message, Parameter, Text, Value};
use posthaste_mqi::ByteOrder;
use posthaste_mqi::constants as mq;

pub(super) fn message(message: &Message, out: &mut Vec<u8>, order: ByteOrder) {
    let header = &message.header;
    for field in [
        header.type_,
        mq::MQCFH_STRUC_LENGTH,
        header.version,
        header.command,
        header.msg_seq_number,
        header.control,
        header.comp_code,
        header.reason,
        message.parameters.len() as i32,
    ] {
        order.put_i32(out, field);
    }
    for parameter in &message.parameters {
        self::parameter(parameter, out, order);
    }
}

fn parameter(parameter: &Parameter, out: &mut Vec<u8>, order: ByteOrder) {
    let id = parameter.id;
    match &parameter.value {
        Value::Int(value) => {
            let fields = [mq::MQCFT_INTEGER, mq::MQCFIN_STRUC_LENGTH, id, *value];
            put_all(out, order, &fields);
        }
        Value::Int64(value) => {
            let fields = [mq::MQCFT_INTEGER64, mq::MQCFIN64_STRUC_LENGTH, id, 0];
            put_all(out, order, &fields);
            order.put_i64(out, *value);
        }
        Value::Text(Text { ccsid, bytes }) => {
            let length = padded(mq::MQCFST_STRUC_LENGTH_FIXED, bytes.len());
            let fields = [mq::MQCFT_STRING, length, id, *ccsid, bytes.len() as i32];
            put_all(out, order, &fields);
            put_padded(out, bytes);
        }
        Value::Bytes(bytes) => {
            let length = padded(mq::MQCFBS_STRUC_LENGTH_FIXED, bytes.len());
            let fields = [mq::MQCFT_BYTE_STRING, length, id, bytes.len() as i32];
            put_all(out, order, &fields);
            put_padded(out, bytes);
        }
        Value::Group(parameters) => {
            let count = parameters.len() as i32;
            let fields = [mq::MQCFT_GROUP, mq::MQCFGR_STRUC_LENGTH, id, count];
            put_all(out, order, &fields);
            for inner in parameters {
                self::parameter(inner, out, order);
            }
        }
        Value::Ints(_) | Value::Ints64(_) | Value::Texts { .. } => {
            list(id, &parameter.value, out, order);
        }
        Value::IntFilter { .. } | Value::TextFilter { .. } | Value::BytesFilter { .. } => {
            filter(id, &parameter.value, out, order);
        }
    }
}

/// The forms that hold several values; appends nothing for any other.
fn list(id: i32, value: &Value, out: &mut Vec<u8>, order: ByteOrder) {
    match value {
        Value::Ints(values) => {
            let length = mq::MQCFIL_STRUC_LENGTH_FIXED + 4 * values.len() as i32;
            let fields = [mq::MQCFT_INTEGER_LIST, length, id, values.len() as i32];
            put_all(out, order, &fields);
            put_all(out, order, values);
        }
        Value::Ints64(values) => {
            let length = mq::MQCFIL64_STRUC_LENGTH_FIXED + 8 * values.len() as i32;
            let fields = [mq::MQCFT_INTEGER64_LIST, length, id, values.len() as i32];
            put_all(out, order, &fields);
            for value in values {
                order.put_i64(out, *value);
            }
        }
        Value::Texts {
            ccsid,
            width,
            items,
        } => {
            let length = padded(mq::MQCFSL_STRUC_LENGTH_FIXED, width * items.len());
            let (count, width_field) = (items.len() as i32, *width as i32);
            let fields = [
                mq::MQCFT_STRING_LIST,
                length,
                id,
                *ccsid,
                count,
                width_field,
            ];
            put_all(out, order, &fields);
            let mut all = Vec::with_capacity(width * items.len());
            for item in items {
                let end = all.len() + width;
                all.extend(item.iter().take(*width));
                all.resize(end, b' ');
            }
            put_padded(out, &all);
        }
        _ => {}
    }
}

/// The forms that compare; appends nothing for any other.
fn filter(id: i32, value: &Value, out: &mut Vec<u8>, order: ByteOrder) {
    match value {
        Value::IntFilter { operator, value } => {
            let length = mq::MQCFIF_STRUC_LENGTH;
            let fields = [mq::MQCFT_INTEGER_FILTER, length, id, *operator, *value];
            put_all(out, order, &fields);
        }
        Value::TextFilter { operator, value } => {
            let length = padded(mq::MQCFSF_STRUC_LENGTH_FIXED, value.bytes.len());
            let (ccsid, size) = (value.ccsid, value.bytes.len() as i32);
            let fields = [mq::MQCFT_STRING_FILTER, length, id, *operator, ccsid, size];
            put_all(out, order, &fields);
            put_padded(out, &value.bytes);
        }
        Value::BytesFilter { operator, value } => {
            let length = padded(super::CFBF_FIXED, value.len());
            let size = value.len() as i32;
            let fields = [mq::MQCFT_BYTE_STRING_FILTER, length, id, *operator, size];
            put_all(out, order, &fields);
            put_padded(out, value);
        }
        _ => {}
    }
}

fn put_all(out: &mut Vec<u8>, order: ByteOrder, fields: &[i32]) {
    for field in fields {
        order.put_i32(out, *field);
    }
}

fn put_padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.resize(out.len() + bytes.len().next_multiple_of(4) - bytes.len(), 0);
}

fn padded(fixed: i32, length: usize) -> i32 {
    fixed + length.next_multiple_of(4) as i32
}
