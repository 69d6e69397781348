//! Messages of each format that is converted. The first three bytes choose format and representations
//! (`posthaste_conversion::fuzzing`).

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Mde, Name, PointerSize, Rfh2, Tm, Xqh};

use super::Seeds;

/// Chooses 819 and little-endian numbers to convert from, EBCDIC and big-endian ones to convert to.
const HEADERS: [u8; 2] = [0x83, 0x06];

fn header(
    format: u8,
    encode: impl Fn(&mut Vec<u8>, ByteOrder, PointerSize),
    behind: &[u8],
) -> Vec<u8> {
    let mut out = vec![format, HEADERS[0], HEADERS[1]];
    encode(&mut out, ByteOrder::Little, PointerSize::Four);
    out.extend(behind);
    out
}

/// Seeds of `conversion`.
pub fn conversion() -> Seeds {
    let text = Chars::new(mq::MQFMT_STRING);
    let (encoding, coded_char_set_id) = (mq::MQENC_INTEGER_REVERSED, 819);
    let rfh2 = Rfh2 {
        encoding,
        coded_char_set_id,
        format: text,
        folders: vec![
            "<mcd><Msd>jms_text</Msd></mcd>".to_owned(),
            "<usr/>".to_owned(),
        ],
        ..Rfh2::default()
    };
    let dlh = Dlh {
        encoding,
        coded_char_set_id,
        format: Chars::new(mq::MQFMT_PCF),
        dest_q_name: Name::new("DEV.QUEUE.1"),
        ..Dlh::default()
    };
    let mut xqh = Xqh::default();
    xqh.msg_desc.version = 1;
    xqh.msg_desc.format = text;
    let mde = Mde {
        encoding,
        coded_char_set_id: mq::MQCCSI_INHERIT,
        ..Mde::default()
    };
    let tm = Tm {
        q_name: Name::new("DEV.QUEUE.1"),
        ..Tm::default()
    };
    let mut commands = vec![8, 0x80, 0x05];
    let pcf = super::pcf().into_iter();
    commands.extend(
        pcf.filter(|(name, _)| name == "every-kind-little")
            .flat_map(|(_, pcf)| pcf),
    );
    let seeds = [
        ("text", [&[0, 0, 5], "Grüße [1]".as_bytes()].concat()),
        (
            "text-943",
            vec![0, 11, 1, 0x93, 0xFA, 0x96, 0x7B, 0x5C, 0x81, 0x60],
        ),
        ("text-1386", vec![0, 12, 8, 0xD6, 0xD0, 0x80]),
        ("text-1200", vec![0, 0x81, 13, 0x41, 0, 0x3D, 0xD8, 0, 0xDE]),
        ("rfh2", header(1, |o, b, p| rfh2.encode(o, b, p), b"body")),
        ("dlh", header(2, |o, b, p| dlh.encode(o, b, p), &[])),
        ("xqh", header(3, |o, b, p| xqh.encode(o, b, p), b"text")),
        ("tm", header(4, |o, b, p| tm.encode(o, b, p), &[])),
        ("mde", header(5, |o, b, p| mde.encode(o, b, p), &[1, 2, 3])),
        ("pcf", commands),
    ];
    seeds.map(|(name, bytes)| (name.to_owned(), bytes)).into()
}
