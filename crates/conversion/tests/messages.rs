//! Headers and what is behind them, against the encoders of `mqi`; hostile ones; lengths that change.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

use posthaste_conversion::{Converted, Representation, convert, convert_text};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Md, Mde, Name, PointerSize, Reason, Rfh2, Tm, Xqh};

const BIG: i32 = 273;
const LITTLE: i32 = 546;
const FOUR: PointerSize = PointerSize::Four;
const Q_MGR: i32 = 1208;

fn of(ccsid: i32, encoding: i32) -> Representation {
    Representation { encoding, ccsid }
}

const ASCII_LITTLE: Representation = Representation {
    encoding: LITTLE,
    ccsid: 819,
};
const EBCDIC_BIG: Representation = Representation {
    encoding: BIG,
    ccsid: 500,
};

fn run(
    data: &[u8],
    format: &str,
    from: Representation,
    to: Representation,
) -> Result<Converted, Reason> {
    convert(data, &Chars::new(format), from, to, Q_MGR)
}

fn ebcdic(text: &[u8]) -> Vec<u8> {
    convert_text(text, ASCII_LITTLE, EBCDIC_BIG).unwrap()
}

/// There and back is the same, for a header that an encoder of `mqi` made, whichever byte order it has.
fn round_trip(header: &[u8], format: &str) -> Vec<u8> {
    let there = run(header, format, ASCII_LITTLE, EBCDIC_BIG).unwrap();
    assert_eq!(there.representation, EBCDIC_BIG);
    assert_eq!(there.warning, Reason::NONE);
    assert_eq!(there.data.len(), header.len());
    let back = run(&there.data, format, EBCDIC_BIG, ASCII_LITTLE).unwrap();
    assert_eq!(back.data, header, "{format}");
    there.data
}

fn encoded(encode: impl Fn(&mut Vec<u8>, ByteOrder, PointerSize), order: ByteOrder) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, order, FOUR);
    out
}

#[test]
fn a_dead_letter_header_and_the_text_behind_it() {
    let dlh = |representation: Representation| Dlh {
        reason: 2053,
        dest_q_name: Name::new("DEV.QUEUE.1"),
        encoding: representation.encoding,
        coded_char_set_id: representation.ccsid,
        format: Chars::new(MQFMT_STRING),
        put_appl_name: Chars::new("program"),
        ..Dlh::default()
    };
    // The text is in another set than its header.
    let mut data = encoded(
        |o, b, p| dlh(of(1208, LITTLE)).encode(o, b, p),
        ByteOrder::Little,
    );
    data.extend("Grüße".as_bytes());
    let there = run(&data, MQFMT_DEAD_LETTER_HEADER, ASCII_LITTLE, EBCDIC_BIG).unwrap();
    let (header, text) = there.data.split_at(172);
    assert_eq!(
        text,
        convert_text("Grüße".as_bytes(), of(1208, BIG), EBCDIC_BIG).unwrap()
    );
    let back = run(header, MQFMT_DEAD_LETTER_HEADER, EBCDIC_BIG, of(819, BIG)).unwrap();
    let (read, _) = Dlh::decode(&back.data, ByteOrder::Big, FOUR).unwrap();
    assert_eq!(read, dlh(of(819, BIG)));
    assert_eq!(header[..4], ebcdic(b"DLH "));
}

#[test]
fn headers_of_every_format_go_there_and_back() {
    let tm = Tm {
        q_name: Name::new("Q"),
        trigger_data: Chars::from_bytes(
            *b"go\0junk                                                         ",
        ),
        appl_type: 7,
        appl_id: Chars::new("/bin/true"),
        ..Tm::default()
    };
    let out = encoded(|o, b, p| tm.encode(o, b, p), ByteOrder::Little);
    // What is behind a NUL is nothing.
    let mut clean = out.clone();
    clean[104 + 3..104 + 64].fill(0);
    let there = run(&out, MQFMT_TRIGGER, ASCII_LITTLE, EBCDIC_BIG)
        .unwrap()
        .data;
    assert_eq!(there, round_trip(&clean, MQFMT_TRIGGER));
    assert_eq!(ByteOrder::Big.get_i32(&there, 168), Some(7));

    let mde = Mde {
        coded_char_set_id: 819,
        encoding: LITTLE,
        format: Chars::new(MQFMT_NONE),
        group_id: [9; 24],
        msg_seq_number: 3,
        ..Mde::default()
    };
    // What has no format keeps its description, as it keeps its bytes.
    let mut out = encoded(|o, b, p| mde.encode(o, b, p), ByteOrder::Little);
    out.extend([1, 2, 3]);
    round_trip(&out, MQFMT_MD_EXTENSION);

    let xqh = Xqh {
        remote_q_name: Name::new("FAR"),
        remote_q_mgr_name: Name::new("QM2"),
        msg_desc: Md {
            version: 1,
            encoding: LITTLE,
            coded_char_set_id: 819,
            format: Chars::new(MQFMT_STRING),
            msg_id: [0xC1; 24],
            accounting_token: [0x40; 32],
            priority: 4,
            ..Md::default()
        },
    };
    let mut out = encoded(|o, b, p| xqh.encode(o, b, p), ByteOrder::Little);
    out.extend(b"text");
    let there = round_trip(&out, MQFMT_XMIT_Q_HEADER);
    assert_eq!(there[428..], ebcdic(b"text"));
    // Identifiers are bytes.
    assert_eq!(there[104 + 48..104 + 72], [0xC1; 24]);
}

#[test]
fn folders_keep_their_set_and_what_is_behind_them_is_converted() {
    for (ccsid, format) in [
        (1208, MQFMT_STRING),
        (1200, MQFMT_STRING),
        (17584, MQFMT_NONE),
    ] {
        let header = |described: Representation| Rfh2 {
            encoding: described.encoding,
            coded_char_set_id: described.ccsid,
            format: Chars::new(format),
            name_value_ccsid: ccsid,
            folders: vec![
                "<mcd><Msd>jms_text</Msd></mcd>".into(),
                "<usr><é>1</é></usr>".into(),
            ],
            ..Rfh2::default()
        };
        let inherits = header(of(MQCCSI_INHERIT, LITTLE));
        let mut data = encoded(|o, b, p| inherits.encode(o, b, p), ByteOrder::Little);
        let length = data.len();
        data.extend(b"body");
        let there = run(&data, MQFMT_RF_HEADER_2, ASCII_LITTLE, EBCDIC_BIG).unwrap();
        let text = format == MQFMT_STRING;
        let body = if text {
            ebcdic(b"body")
        } else {
            b"body".to_vec()
        };
        assert_eq!(there.data[length..], body);
        let back = run(&there.data, MQFMT_RF_HEADER_2, EBCDIC_BIG, of(819, BIG)).unwrap();
        let (read, used) = Rfh2::decode(&back.data, ByteOrder::Big, FOUR).unwrap();
        assert_eq!(used, length);
        // A body without a format is in the set that it inherited.
        let described = if text { of(819, BIG) } else { of(819, LITTLE) };
        assert_eq!(read, header(described));
        assert_eq!(back.data[length..], *b"body");
    }
}

#[test]
fn several_headers_in_front_of_each_other() {
    let rfh2 = Rfh2 {
        encoding: BIG,
        coded_char_set_id: 37,
        format: Chars::new(MQFMT_STRING),
        folders: vec!["<usr/>".into()],
        ..Rfh2::default()
    };
    let dlh = Dlh {
        encoding: BIG,
        coded_char_set_id: 819,
        format: Chars::new(MQFMT_RF_HEADER_2),
        ..Dlh::default()
    };
    let mut data = encoded(|o, b, p| dlh.encode(o, b, p), ByteOrder::Little);
    data.extend(encoded(|o, b, p| rfh2.encode(o, b, p), ByteOrder::Big));
    data.extend([0xC1, 0xC2]);
    let there = run(
        &data,
        MQFMT_DEAD_LETTER_HEADER,
        ASCII_LITTLE,
        of(1208, LITTLE),
    )
    .unwrap();
    let (read, at) = Dlh::decode(&there.data, ByteOrder::Little, FOUR).unwrap();
    assert_eq!((read.encoding, read.coded_char_set_id), (LITTLE, 1208));
    let (read, used) = Rfh2::decode(&there.data[at..], ByteOrder::Little, FOUR).unwrap();
    assert_eq!((read.encoding, read.coded_char_set_id), (LITTLE, 1208));
    assert_eq!(there.data[at + used..], *b"AB");
    // Names cannot be in UTF-16: the headers are in the queue manager's set then.
    let wide = run(&data, MQFMT_DEAD_LETTER_HEADER, ASCII_LITTLE, of(1200, BIG)).unwrap();
    assert_eq!(wide.warning, Reason::PARTIALLY_CONVERTED);
    assert_eq!(wide.representation, of(Q_MGR, MQENC_NATIVE));
    let (read, at) = Dlh::decode(&wide.data, ByteOrder::NATIVE, FOUR).unwrap();
    assert_eq!(
        (read.encoding, read.coded_char_set_id),
        (MQENC_NATIVE, Q_MGR)
    );
    let (read, used) = Rfh2::decode(&wide.data[at..], ByteOrder::NATIVE, FOUR).unwrap();
    assert_eq!((read.encoding, read.coded_char_set_id), (BIG, 1200));
    assert_eq!(wide.data[at + used..], [0, 0x41, 0, 0x42]);
}

/// MQCFH and parameters.
fn pcf(count: i32, parameters: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for long in [MQCFT_COMMAND, 36, 1, MQCMD_INQUIRE_Q, 1, 1, 0, 0, count] {
        ByteOrder::Big.put_i32(&mut out, long);
    }
    out.extend(parameters.concat());
    out
}

fn structure(longs: &[i32], bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    longs
        .iter()
        .for_each(|long| ByteOrder::Big.put_i32(&mut out, *long));
    out.extend(bytes);
    out
}

fn longs(bytes: &[u8], order: ByteOrder) -> Vec<i32> {
    (0..bytes.len() / 4)
        .map(|at| order.get_i32(bytes, 4 * at).unwrap())
        .collect()
}

#[test]
fn parameters_of_commands_grow_with_their_texts() {
    let data = pcf(
        4,
        &[
            // In Latin-1, told by the parameter; in the message's own set; equally long ones; a group with a number and bytes.
            &structure(&[MQCFT_STRING, 24, 2016, 819, 3], b"\xE9ab\0"),
            &structure(&[MQCFT_STRING, 24, 2016, 0, 4], &[0xC1, 0xC2, 0xC3, 0xC4]),
            &structure(&[MQCFT_STRING_LIST, 28, 2011, 819, 2, 2], b"\xE9\xE9a "),
            &structure(&[MQCFT_GROUP, 16, 8000, 2], b""),
            &structure(&[MQCFT_INTEGER64, 24, 1, 0, 1, 2], b""),
            &structure(&[MQCFT_BYTE_STRING, 20, 7001, 3], b"\x01\x02\x03\0"),
        ],
    );
    for format in [MQFMT_ADMIN, MQFMT_EVENT, MQFMT_PCF] {
        let there = run(&data, format, EBCDIC_BIG, of(1208, LITTLE)).unwrap();
        let little = ByteOrder::Little;
        assert_eq!(
            longs(&there.data[..36], little),
            longs(&data[..36], ByteOrder::Big)
        );
        let mut expected = Vec::new();
        let mut add = |longs: &[i32], bytes: &[u8]| {
            longs
                .iter()
                .for_each(|long| little.put_i32(&mut expected, *long));
            expected.extend(bytes);
        };
        add(&[MQCFT_STRING, 24, 2016, 1208, 4], "éab".as_bytes());
        add(&[MQCFT_STRING, 24, 2016, 0, 4], b"ABCD");
        add(
            &[MQCFT_STRING_LIST, 32, 2011, 1208, 2, 4],
            "ééa   ".as_bytes(),
        );
        add(&[MQCFT_GROUP, 16, 8000, 2], b"");
        add(&[MQCFT_INTEGER64, 24, 1, 0, 2, 1], b"");
        add(&[MQCFT_BYTE_STRING, 20, 7001, 3], b"\x01\x02\x03\0");
        assert_eq!(there.data[36..], expected);
    }
}

#[test]
fn commands_that_are_not_what_they_say_are_refused() {
    let sound: &[u8] = &structure(&[MQCFT_INTEGER, 16, 1, 5], b"");
    let convert = |data: &[u8]| run(data, MQFMT_ADMIN, EBCDIC_BIG, ASCII_LITTLE).map(|_| ());
    assert_eq!(convert(&pcf(1, &[sound])), Ok(()));
    let rows: [Vec<u8>; 13] = [
        Vec::new(),
        pcf(2, &[sound]),
        pcf(0, &[sound]),
        pcf(-1, &[sound]),
        pcf(i32::MAX, &[sound]),
        pcf(1, &[&sound[..15]]),
        pcf(1, &[&structure(&[MQCFT_INTEGER, 20, 1, 5, 6], b"")]),
        pcf(1, &[&structure(&[MQCFT_GROUP, 16, 1, i32::MAX], b"")]),
        pcf(1, &[&structure(&[MQCFT_INTEGER, 0, 1, 5], b"")]),
        pcf(1, &[&structure(&[99, 16, 1, 5], b"")]),
        pcf(
            1,
            &[&structure(&[MQCFT_INTEGER_LIST, 20, 1, i32::MAX, 1], b"")],
        ),
        pcf(1, &[&structure(&[MQCFT_STRING, 24, 1, 819, 5], b"abcd")]),
        pcf(
            1,
            &[&structure(
                &[MQCFT_STRING_LIST, 28, 1, 819, i32::MAX, i32::MAX],
                b"abcd",
            )],
        ),
    ];
    for data in rows {
        assert_eq!(convert(&data), Err(Reason::FORMAT_ERROR), "{data:?}");
    }
    let unknown = pcf(1, &[&structure(&[MQCFT_STRING, 24, 1, 4711, 4], b"abcd")]);
    assert_eq!(convert(&unknown), Err(Reason::SOURCE_CCSID_ERROR));
}

#[test]
fn what_cannot_be_converted_has_its_reason() {
    let to = of(1208, LITTLE);
    let reason = |data: &[u8], format, from, to| run(data, format, from, to).map(|_| ());
    let text = |from, to| reason(b"text", MQFMT_STRING, from, to);
    assert_eq!(text(ASCII_LITTLE, to), Ok(()));
    assert_eq!(text(of(4711, BIG), to), Err(Reason::SOURCE_CCSID_ERROR));
    assert_eq!(text(of(-3, BIG), to), Err(Reason::SOURCE_CCSID_ERROR));
    assert_eq!(
        text(ASCII_LITTLE, of(4711, BIG)),
        Err(Reason::TARGET_CCSID_ERROR)
    );
    // Zero is the queue manager's.
    assert_eq!(text(of(0, BIG), of(0, BIG)), Ok(()));
    assert_eq!(
        reason(b"x", MQFMT_NONE, ASCII_LITTLE, to),
        Err(Reason::FORMAT_ERROR)
    );
    assert_eq!(
        reason(b"x", "MYOWN", ASCII_LITTLE, to),
        Err(Reason::FORMAT_ERROR)
    );

    let dlh = Dlh {
        dest_q_name: Name::from_bytes([0xE9; 48]),
        encoding: BIG,
        coded_char_set_id: 819,
        format: Chars::new("MYOWN"),
        ..Dlh::default()
    };
    let dead = |data: &[u8], from, to| reason(data, MQFMT_DEAD_LETTER_HEADER, from, to);
    let data = encoded(|o, b, p| dlh.encode(o, b, p), ByteOrder::Little);
    assert_eq!(dead(&data, ASCII_LITTLE, of(850, BIG)), Ok(()));
    assert_eq!(
        dead(&data, ASCII_LITTLE, to),
        Err(Reason::CONVERTED_STRING_TOO_BIG)
    );
    assert_eq!(dead(&data, of(819, BIG), to), Err(Reason::FORMAT_ERROR));
    assert_eq!(dead(&data, of(500, LITTLE), to), Err(Reason::FORMAT_ERROR));
    assert_eq!(
        dead(&data, of(1200, BIG), to),
        Err(Reason::SOURCE_CCSID_ERROR)
    );
    assert_eq!(
        dead(&data, of(819, 0), to),
        Err(Reason::SOURCE_INTEGER_ENC_ERROR)
    );
    assert_eq!(
        dead(&data, ASCII_LITTLE, of(37, 3)),
        Err(Reason::TARGET_INTEGER_ENC_ERROR)
    );
    for length in 0..data.len() {
        assert_eq!(
            dead(&data[..length], ASCII_LITTLE, to),
            Err(Reason::FORMAT_ERROR)
        );
    }
    let mut behind = data.clone();
    behind.push(1);
    assert_eq!(
        dead(&behind, ASCII_LITTLE, of(850, BIG)),
        Err(Reason::FORMAT_ERROR)
    );
}

/// Names of formats that take more bytes in UTF-8 than in their field: cut, they would be blank, or a format that is known.
#[test]
fn a_name_of_a_format_is_not_cut_to_another() {
    for name in [b"       \xF5", b"MQSTR  \xF5"] {
        let mut mde = encoded(|o, b, p| Mde::default().encode(o, b, p), ByteOrder::Little);
        mde[20..28].copy_from_slice(name);
        let convert = |data: &[u8]| run(data, MQFMT_MD_EXTENSION, ASCII_LITTLE, EBCDIC_BIG);
        assert!(convert(&mde).is_ok());
        mde.extend_from_slice(b"behind");
        assert_eq!(convert(&mde).map(drop), Err(Reason::FORMAT_ERROR));
    }
}

#[test]
fn folders_that_are_not_what_they_say_are_refused() {
    let header = Rfh2 {
        folders: vec!["<usr><a>1</a></usr>".into()],
        ..Rfh2::default()
    };
    let sound = encoded(|o, b, p| header.encode(o, b, p), ByteOrder::Big);
    let from = of(819, BIG);
    let reason = |data: &[u8]| run(data, MQFMT_RF_HEADER_2, from, ASCII_LITTLE).map(|_| ());
    assert_eq!(reason(&sound), Ok(()));
    let whole = i32::try_from(sound.len()).unwrap();
    for (at, value, expected) in [
        (4, 1, Reason::FORMAT_ERROR),
        (8, 35, Reason::FORMAT_ERROR),
        (8, -1, Reason::FORMAT_ERROR),
        (8, whole + 1, Reason::FORMAT_ERROR),
        (8, 38, Reason::FORMAT_ERROR),
        (32, 819, Reason::SOURCE_CCSID_ERROR),
        (36, 19, Reason::FORMAT_ERROR),
        (36, -4, Reason::FORMAT_ERROR),
        (36, i32::MAX, Reason::FORMAT_ERROR),
    ] {
        let mut data = sound.clone();
        data[at..at + 4].copy_from_slice(&value.to_be_bytes());
        assert_eq!(reason(&data), Err(expected), "{value} at {at}");
    }
}
