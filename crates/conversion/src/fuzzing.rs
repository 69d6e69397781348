//! Entry point for fuzzing: any bytes as a message of any format, in any of the known representations.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{Chars, Reason};

use crate::{Converted, Representation, convert};

const FORMATS: [&str; 10] = [
    mq::MQFMT_STRING,
    mq::MQFMT_RF_HEADER_2,
    mq::MQFMT_DEAD_LETTER_HEADER,
    mq::MQFMT_XMIT_Q_HEADER,
    mq::MQFMT_TRIGGER,
    mq::MQFMT_MD_EXTENSION,
    mq::MQFMT_ADMIN,
    mq::MQFMT_EVENT,
    mq::MQFMT_PCF,
    mq::MQFMT_NONE,
];

const CCSIDS: [i32; 14] = [
    1208, 1200, 1202, 819, 923, 37, 500, 1140, 437, 850, 1252, 943, 1386, 0,
];

fn pick<T: Copy>(from: &[T], byte: u8, otherwise: T) -> T {
    let at = usize::from(byte) % from.len().max(1);
    from.get(at).copied().unwrap_or(otherwise)
}

/// The first three bytes choose the format and both representations, the rest are the data. What has been converted
/// is well formed: it can be converted back.
pub fn message(input: &[u8]) {
    let Some(([format, from, to], data)) = input.split_first_chunk::<3>() else {
        return;
    };
    let representation = |byte: u8| Representation {
        ccsid: pick(&CCSIDS, byte & 0x7F, 1208),
        encoding: if byte & 0x80 == 0 { 273 } else { 546 },
    };
    let format = Chars::new(pick(&FORMATS, *format, mq::MQFMT_STRING));
    let (from, to) = (representation(*from), representation(*to));
    let Ok(Converted {
        data: there,
        representation: is,
        ..
    }) = convert(data, &format, from, to, 1208)
    else {
        return;
    };
    let longest = 4 * data.len() + 16;
    assert!(there.len() <= longest, "{} of {}", there.len(), data.len());
    match convert(&there, &format, is, from, 1208) {
        Ok(_) | Err(Reason::CONVERTED_STRING_TOO_BIG) => {}
        Err(reason) => panic!("what was converted cannot be converted back: {reason}"),
    }
}
