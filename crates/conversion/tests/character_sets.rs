//! Text between character sets: every byte of every table against the codecs of another language, and what the tables do
//! not say.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

use posthaste_conversion::{Representation, convert_text, is_known};
use posthaste_mqi::Reason;
use std::io::Write;
use std::process::Command;

const BIG: i32 = 273;
const LITTLE: i32 = 546;

fn of(ccsid: i32, encoding: i32) -> Representation {
    Representation { encoding, ccsid }
}

fn text(bytes: &[u8], from: i32, to: i32) -> Result<Vec<u8>, Reason> {
    convert_text(bytes, of(from, BIG), of(to, BIG))
}

/// What python's codec says each byte is, and each pair of bytes if these may be one character; none where there is no
/// python.
fn codec(name: &str, pairs: bool) -> Option<Vec<(Vec<u8>, String)>> {
    const PROGRAM: &str = "
import sys
name, pairs = sys.argv[1], sys.argv[2] == 'true'
codes = [bytes([a]) for a in range(256)]
codes += [bytes([a, b]) for a in range(0x81, 255) for b in range(0x40, 255) if pairs]
for code in codes:
    try:
        text = code.decode(name)
    except UnicodeDecodeError:
        continue
    if len(text) == 1:
        print(code.hex(), '%x' % ord(text))
";
    let run = Command::new("python3")
        .args(["-c", PROGRAM, name, &pairs.to_string()])
        .output();
    let Ok(output) = run else {
        assert!(
            std::env::var_os("CI").is_none(),
            "the tables are compared with python3's"
        );
        // What a test prints is kept from whoever runs it, but not what is written like this.
        let _ = std::io::stderr().write_all(b"SKIPPED: there is no python3 here\n");
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let entry = |line: &str| {
        let (code, character) = line.split_once(' ').unwrap();
        let byte = |at| u8::from_str_radix(&code[at..at + 2], 16).unwrap();
        let character = u32::from_str_radix(character, 16).unwrap();
        let text = char::from_u32(character).unwrap().to_string();
        ((0..code.len()).step_by(2).map(byte).collect(), text)
    };
    Some(lines.lines().map(entry).collect())
}

#[test]
fn every_byte_is_what_another_implementation_says() {
    let tables = [
        (819, "iso8859-1"),
        (437, "cp437"),
        (850, "cp850"),
        (858, "cp858"),
        (37, "cp037"),
        (500, "cp500"),
        (1140, "cp1140"),
        (912, "iso8859-2"),
        (915, "iso8859-5"),
        (923, "iso8859-15"),
        (878, "koi8-r"),
        (1250, "cp1250"),
        (1251, "cp1251"),
        (1252, "cp1252"),
        (1253, "cp1253"),
        (1254, "cp1254"),
        (1257, "cp1257"),
    ];
    for (ccsid, name) in tables {
        let Some(codes) = codec(name, false) else {
            return;
        };
        assert!(codes.len() > 230, "{name}: {}", codes.len());
        for (bytes, character) in codes {
            // Into another EBCDIC set nothing is done about new lines.
            let there = text(character.as_bytes(), 1208, ccsid).unwrap();
            assert_eq!(there, bytes, "{character:?} in {ccsid}");
            let back = text(&bytes, ccsid, 1208).unwrap();
            let line_feed = bytes == [0x15] && character == "\u{85}";
            let expected = if line_feed { "\n" } else { &character };
            assert_eq!(back, expected.as_bytes(), "{bytes:?} in {ccsid}");
        }
    }
}

#[test]
fn double_bytes_are_what_another_implementation_says() {
    for (ccsid, name, least) in [(943, "cp932", 9_000), (1386, "gbk", 21_000)] {
        let Some(codes) = codec(name, true) else {
            return;
        };
        assert!(codes.len() > least, "{name}: {}", codes.len());
        for (bytes, character) in codes {
            // Where IBM-943 differs from Windows' Shift_JIS.
            let character = match (ccsid, character.as_str()) {
                (943, "\u{2015}") => "\u{2014}",
                (943, "\u{FF5E}") => "\u{301C}",
                (943, "\u{2225}") => "\u{2016}",
                (943, "\u{FF0D}") => "\u{2212}",
                (943, "\u{FFE4}") => "\u{A6}",
                // Python reads four single bytes there for which there is nothing.
                (943, "\u{F8F0}" | "\u{F8F1}" | "\u{F8F2}" | "\u{F8F3}") if bytes.len() == 1 => {
                    continue;
                }
                (_, same) => same,
            };
            let decoded = text(&bytes, ccsid, 1208);
            assert_eq!(
                decoded.as_deref(),
                Ok(character.as_bytes()),
                "{bytes:x?} in {ccsid}"
            );
            // Some characters have several codes; the one that is written is one of them.
            let written = text(character.as_bytes(), 1208, ccsid).unwrap();
            let again = text(&written, ccsid, 1208).unwrap();
            assert_eq!(again, character.as_bytes(), "{bytes:x?} in {ccsid}");
        }
    }
}

#[test]
fn a_text_goes_through_every_set_that_has_its_characters() {
    let ccsids = [
        1208, 1200, 1202, 13488, 17584, 819, 923, 37, 500, 1047, 1140, 1148, 437, 850, 858, 1252,
    ];
    for from in ccsids {
        for to in ccsids {
            for encoding in [BIG, LITTLE] {
                let here = convert_text("Grüße [1]!".as_bytes(), of(1208, BIG), of(from, encoding));
                let there = convert_text(&here.unwrap(), of(from, encoding), of(to, LITTLE));
                let back = convert_text(&there.unwrap(), of(to, LITTLE), of(1208, BIG)).unwrap();
                assert_eq!(back, "Grüße [1]!".as_bytes(), "{from} to {to}");
            }
        }
    }
}

#[test]
fn known_bytes() {
    let rows: [(&str, i32, i32, &[u8]); 12] = [
        ("A1€", 1140, BIG, &[0xC1, 0xF1, 0x9F]),
        ("[^]", 500, BIG, &[0x4A, 0x5F, 0x5A]),
        ("[^]", 37, BIG, &[0xBA, 0xB0, 0xBB]),
        ("[^]", 1047, BIG, &[0xAD, 0x5F, 0xBD]),
        ("a\n", 37, BIG, &[0x81, 0x25]),
        ("é┐", 437, BIG, &[0x82, 0xBF]),
        ("€", 923, BIG, &[0xA4]),
        ("€", 1252, BIG, &[0x80]),
        (
            "日本\\〜",
            943,
            BIG,
            &[0x93, 0xFA, 0x96, 0x7B, 0x5C, 0x81, 0x60],
        ),
        ("中€", 1386, BIG, &[0xD6, 0xD0, 0x80]),
        ("A\u{1F600}", 1200, BIG, &[0, 0x41, 0xD8, 0x3D, 0xDE, 0]),
        ("A", 1202, BIG, &[0x41, 0]),
    ];
    for (characters, ccsid, encoding, bytes) in rows {
        let there = convert_text(characters.as_bytes(), of(1208, BIG), of(ccsid, encoding));
        assert_eq!(there.as_deref(), Ok(bytes), "{characters} in {ccsid}");
    }
    let little = convert_text(b"A", of(819, BIG), of(1200, LITTLE));
    assert_eq!(little.as_deref(), Ok(&[0x41, 0][..]));
}

#[test]
fn a_new_line_of_ebcdic_is_a_line_feed_elsewhere() {
    assert_eq!(text(&[0xC1, 0x15, 0xC2], 37, 819).unwrap(), b"A\nB");
    assert_eq!(text(&[0xC1, 0x25, 0xC2], 37, 819).unwrap(), b"A\nB");
    assert_eq!(text(&[0x15], 37, 500).unwrap(), [0x15]);
}

#[test]
fn what_a_set_lacks_becomes_its_substitute() {
    for (ccsid, bytes) in [
        (819, [b'1', 0x1A, b'2']),
        (437, [b'1', 0x1A, b'2']),
        (1252, [b'1', 0x1A, b'2']),
        (500, [0xF1, 0x3F, 0xF2]),
    ] {
        assert_eq!(
            text("1日2".as_bytes(), 1208, ccsid).unwrap(),
            bytes,
            "{ccsid}"
        );
    }
    assert_eq!(
        text("1😀2".as_bytes(), 1208, 943).unwrap(),
        [b'1', 0x1A, b'2']
    );
    assert_eq!(
        text("1😀2".as_bytes(), 1208, 1386).unwrap(),
        [b'1', 0x1A, b'2']
    );
    let long = "日é".repeat(2_000);
    let short = text(long.as_bytes(), 1208, 819).unwrap();
    assert_eq!(short, [0x1A, 0xE9].repeat(2_000));
}

#[test]
fn what_is_no_text_is_refused() {
    let rows: [(&[u8], i32); 8] = [
        (&[b'a', 0xFF], 1208),
        (&[0xED, 0xA0, 0x80], 1208),
        (&[0xD8, 0x3D], 1200),
        (&[0], 1202),
        (&[0x81], 943),
        (&[0x81, 0x20], 943),
        (&[0x81], 1386),
        (&[0x81, 0x30, 0x81, 0x30], 1386),
    ];
    for (bytes, ccsid) in rows {
        assert_eq!(
            text(bytes, ccsid, 850),
            Err(Reason::NOT_CONVERTED),
            "{bytes:x?} in {ccsid}"
        );
    }
    assert_eq!(text(b"a", 4711, 819), Err(Reason::SOURCE_CCSID_ERROR));
    assert_eq!(text(b"a", 819, -3), Err(Reason::TARGET_CCSID_ERROR));
    assert!(is_known(1386) && !is_known(0) && !is_known(-1));
    let aimless = convert_text(b"aa", of(1200, 0), of(819, BIG));
    assert_eq!(aimless, Err(Reason::SOURCE_INTEGER_ENC_ERROR));
    let aimless = convert_text(b"aa", of(819, BIG), of(1200, 0));
    assert_eq!(aimless, Err(Reason::TARGET_INTEGER_ENC_ERROR));
}
