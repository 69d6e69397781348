//! What a getter is shown of properties: MQGMO_NO_PROPERTIES, PROPCTL(NONE).

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, PointerSize, Reason, Rfh2};
use world::*;

/// Folders in front of other data.
fn behind(folders: &[&str], format: &str, ccsid: i32, data: &[u8]) -> Vec<u8> {
    let header = Rfh2 {
        format: Chars::new(format),
        coded_char_set_id: ccsid,
        folders: folders.iter().map(|text| (*text).to_owned()).collect(),
        ..Rfh2::default()
    };
    let mut all = Vec::new();
    header.encode(&mut all, ByteOrder::NATIVE, PointerSize::Four);
    all.extend_from_slice(data);
    all
}

fn with_headers() -> Md {
    Md {
        format: Chars::new("MQHRF2"),
        ..md(PERSISTENT)
    }
}

const JMS: [&str; 3] = [
    "<mcd><Msd>jms_text</Msd></mcd>",
    "<jms><Dst>queue:///Q</Dst></jms>",
    "<usr><colour>red</colour></usr>",
];

#[test]
fn whoever_wants_no_properties_gets_the_data_behind_them() {
    let w = World::new();
    w.run("DEFINE QLOCAL(Q)\nDEFINE QALIAS(BARE) TARGET(Q) PROPCTL(NONE)\nDEFINE QALIAS(ALL) TARGET(Q) PROPCTL(ALL)");
    let s = w.connect();
    let [q, bare, all] = ["Q", "BARE", "ALL"].map(|name| open(&s, name, IN_OUT | MQOO_BROWSE));
    let whole = behind(&JMS, "MQSTR", 1208, b"text");
    send(&s, q, with_headers(), 0, &whole);
    let see = |h, options, room| {
        take(
            &s,
            h,
            Md::default(),
            gmo(MQGMO_BROWSE_FIRST | options),
            room,
        )
        .unwrap()
    };
    for (h, options) in [
        (q, 0),
        (all, 0),
        (bare, MQGMO_PROPERTIES_FORCE_MQRFH2),
        (bare, MQGMO_PROPERTIES_COMPATIBILITY),
    ] {
        let seen = see(h, options, 1000);
        assert_eq!(
            (seen.md.format, &seen.data[..]),
            (Chars::new("MQHRF2"), &whole[..])
        );
    }
    for (h, options) in [
        (bare, 0),
        (q, MQGMO_NO_PROPERTIES),
        (all, MQGMO_NO_PROPERTIES),
    ] {
        let seen = see(h, options, 4);
        assert_eq!(
            (seen.md.format, seen.text().as_str()),
            (Chars::new("MQSTR"), "text")
        );
        assert_eq!(
            (seen.warning, seen.length),
            (Reason::NONE, 4),
            "that is all"
        );
        assert_eq!(seen.md.coded_char_set_id, 1208);
    }
    let cut = take(&s, bare, Md::default(), gmo(0), 3).unwrap();
    assert_eq!((cut.warning, cut.length), (Reason::TRUNCATED_MSG_FAILED, 4));
    // A consumer, too, and conversion of what is left.
    let mut consumer = s.consumer(bare, &Md::default(), &gmo(0)).unwrap();
    consumer.credit(1);
    let delivery = block_on(consumer.next()).unwrap();
    assert_eq!(delivery.data(), Bytes::from_static(b"text"));
    assert_eq!(delivery.descriptor().format, Chars::new("MQSTR"));
    drop((delivery, consumer));
    let wanted = Md {
        coded_char_set_id: 37,
        ..Md::default()
    };
    let got = take(&s, bare, wanted, gmo(MQGMO_CONVERT), 100).unwrap();
    assert_eq!(&got.data[..], [0xa3, 0x85, 0xa7, 0xa3]);
    assert_eq!(got.md.coded_char_set_id, 37);
    let both = MQGMO_NO_PROPERTIES | MQGMO_PROPERTIES_FORCE_MQRFH2;
    assert_eq!(next(&s, q, both).unwrap_err(), Reason::OPTIONS_ERROR);
}

/// A header as programs on z/OS put it, its own characters in EBCDIC, in front of other data.
fn behind_ebcdic(folders: &[&str], format: &[u8; 8], data: &[u8]) -> Vec<u8> {
    let mut all = behind(folders, "", 500, data);
    all[..4].copy_from_slice(b"\xD9\xC6\xC8\x40");
    all[20..28].copy_from_slice(format);
    all
}

const MQHRF2: &[u8; 8] = b"\xD4\xD8\xC8\xD9\xC6\xF2\x40\x40";
const MQSTR: &[u8; 8] = b"\xD4\xD8\xE2\xE3\xD9\x40\x40\x40";

/// Properties that selectors find go, in whatever characters their header is.
#[test]
fn properties_behind_headers_in_ebcdic_go_too() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) PROPCTL(NONE)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let shown = |data: &[u8]| {
        let own = Md {
            coded_char_set_id: 500,
            ..with_headers()
        };
        send(&s, h, own, 0, data);
        let got = next(&s, h, 0).unwrap();
        assert_eq!(got.md.coded_char_set_id, 500);
        (got.md.format.text().into_owned(), got.data.to_vec())
    };
    let text = || ("MQSTR".to_owned(), b"\xa3".to_vec());
    let own = behind_ebcdic(&JMS, MQSTR, b"\xa3");
    assert_eq!(shown(&own), text());
    assert_eq!(shown(&behind_ebcdic(&JMS, MQHRF2, &own)), text());
    // What remains of a header is written as it was.
    let mine = behind_ebcdic(&["<mine><a>1</a></mine>"], MQSTR, b"\xa3");
    let two = ["<usr><a>1</a></usr>", "<mine><a>1</a></mine>"];
    let two = behind_ebcdic(&two, MQSTR, b"\xa3");
    let rest = ("MQHRF2".to_owned(), mine.clone());
    assert_eq!(shown(&two), rest);
    assert_eq!(shown(&behind_ebcdic(&JMS, MQHRF2, &two)), rest);
}

/// Folders that are not of properties are data, and what is malformed is.
#[test]
fn what_is_no_property_stays() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) PROPCTL(NONE)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let shown = |md: Md, data: &[u8]| {
        send(&s, h, md, 0, data);
        let got = next(&s, h, 0).unwrap();
        (got.md.format, got.data.to_vec())
    };
    let rfh2 = Chars::new("MQHRF2");
    let mine = behind(&["<mine><a>1</a></mine>"], "MQSTR", 1208, b"x");
    assert_eq!(shown(with_headers(), &mine), (rfh2, mine.clone()));
    let two = behind(
        &["<usr><a>1</a></usr>", "<mine><a>1</a></mine>"],
        "MQSTR",
        1208,
        b"x",
    );
    assert_eq!(shown(with_headers(), &two), (rfh2, mine.clone()));
    let own = behind(
        &["<mine content='properties'><a>1</a></mine>"],
        "MQSTR",
        1208,
        b"x",
    );
    assert_eq!(
        shown(with_headers(), &own),
        (Chars::new("MQSTR"), b"x".to_vec())
    );
    // One behind the other, and what inherits its character set.
    let twice = behind(
        &JMS,
        "MQHRF2",
        MQCCSI_INHERIT,
        &behind(&JMS, "", MQCCSI_INHERIT, b"raw"),
    );
    assert_eq!(
        shown(with_headers(), &twice),
        (Chars::BLANK, b"raw".to_vec())
    );
    let mut broken = behind(&JMS, "MQSTR", 1208, b"x");
    broken[8] = 0xff;
    assert_eq!(shown(with_headers(), &broken), (rfh2, broken.clone()));
    let plain = b"RFH no header".to_vec();
    assert_eq!(
        shown(md(NOT_PERSISTENT), &plain),
        (Chars::BLANK, plain.clone())
    );
}
