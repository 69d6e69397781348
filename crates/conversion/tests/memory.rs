//! What a conversion takes of memory. Alone in its process, because it looks at the memory of all of it.
#![allow(clippy::unwrap_used, missing_docs)]

use posthaste_conversion::{Representation, convert};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars};

/// The most bytes that this process has had in memory.
fn most() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: usize = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib * 1024
}

/// A list of texts in a command, each of one byte: what they become, not what it costs to keep each by itself.
#[test]
fn many_short_texts_take_what_becomes_of_them() {
    let texts = 4 << 20;
    let mut data = Vec::with_capacity(60 + texts);
    let longs = [MQCFT_COMMAND, 36, 1, MQCMD_INQUIRE_Q, 1, 1, 0, 0, 1];
    let list = [
        MQCFT_STRING_LIST,
        24 + texts as i32,
        2011,
        819,
        texts as i32,
        1,
    ];
    for long in longs.into_iter().chain(list) {
        ByteOrder::Big.put_i32(&mut data, long);
    }
    data.resize(60 + texts, b'A');
    let of = |ccsid, encoding| Representation { encoding, ccsid };
    let before = most();
    let format = Chars::new(MQFMT_ADMIN);
    let converted = convert(&data, &format, of(819, 273), of(500, 546), 1208).unwrap();
    assert_eq!(converted.data.len(), data.len());
    assert_eq!(converted.data[60..], vec![0xC1; texts]);
    let taken = most() - before;
    assert!(taken < 10 * texts, "{taken} bytes for {texts} texts");
}
