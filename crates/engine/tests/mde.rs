//! MQMDE: what applications with a version 1 descriptor see of groups and segments.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_engine::Session;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Hobj, Md, Mde, PointerSize, Reason};
use world::*;

const FOUR: PointerSize = PointerSize::Four;
const LONG: usize = 72;
const ORDERS: [(i32, ByteOrder); 2] = [
    (MQENC_INTEGER_NORMAL, ByteOrder::Big),
    (MQENC_INTEGER_REVERSED, ByteOrder::Little),
];

fn chars(text: &str) -> Chars<8> {
    Chars::new(text)
}

/// A version 1 descriptor that says that an MQMDE comes.
fn first(encoding: i32) -> Md {
    Md {
        encoding,
        coded_char_set_id: 1208,
        format: chars(MQFMT_MD_EXTENSION),
        ..Md::default()
    }
}

fn mde() -> Mde {
    Mde {
        encoding: 273,
        coded_char_set_id: 850,
        format: chars(MQFMT_STRING),
        group_id: [7; 24],
        msg_seq_number: 3,
        msg_flags: MQMF_MSG_IN_GROUP,
        ..Mde::default()
    }
}

fn bytes(mde: &Mde, order: ByteOrder, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    mde.encode(&mut out, order, FOUR);
    out.extend_from_slice(data);
    out
}

/// Gets the next message with a descriptor of this version.
fn next_with(s: &Session, h: Hobj, version: i32) -> Taken {
    let wanted = Md {
        version,
        ..Md::default()
    };
    take(s, h, wanted, gmo(0), 1 << 16).unwrap()
}

/// Every field of version 2 that differs from its default brings an MQMDE; none does not.
#[test]
fn a_version_1_getter_gets_what_differs_from_the_default() {
    let group = MQMF_MSG_IN_GROUP;
    let plain = md(0);
    let table = [
        ("nothing", plain.clone(), false),
        (
            "a group",
            Md {
                msg_flags: group,
                ..plain.clone()
            },
            true,
        ),
        (
            "a place in a group",
            Md {
                msg_flags: group | MQMF_LAST_MSG_IN_GROUP,
                msg_seq_number: 5,
                ..plain.clone()
            },
            true,
        ),
        (
            "leave to be cut",
            Md {
                msg_flags: MQMF_SEGMENTATION_ALLOWED,
                ..plain.clone()
            },
            true,
        ),
        (
            "an original length",
            Md {
                original_length: 4,
                ..plain
            },
            true,
        ),
    ];
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for (what, own, extended) in table {
        let own = Md {
            format: chars(MQFMT_STRING),
            encoding: 273,
            coded_char_set_id: 850,
            ..own
        };
        let sent = send(&s, h, own.clone(), 0, b"data");
        let wanted = Md::default();
        let browsed = take(&s, h, wanted, gmo(MQGMO_BROWSE_FIRST), 999).unwrap();
        let got = next_with(&s, h, 1);
        assert_eq!((&browsed.data, &browsed.md), (&got.data, &got.md), "{what}");
        assert_eq!((got.md.version, got.md.msg_id), (1, sent.msg_id));
        if !extended {
            assert_eq!(got.data, b"data"[..], "{what}");
            assert_eq!(got.md.format, own.format, "{what}");
            continue;
        }
        assert_eq!((got.length, got.data.len()), (LONG + 4, LONG + 4), "{what}");
        assert_eq!(got.gmo.returned_length, 76, "{what}");
        assert_eq!(got.md.format, chars(MQFMT_MD_EXTENSION), "{what}");
        assert_eq!(
            (got.md.encoding, got.md.coded_char_set_id),
            (MQENC_NATIVE, 1208)
        );
        let (found, length) = Mde::decode(&got.data, ByteOrder::Little, FOUR).unwrap();
        assert_eq!(&got.data[length..], b"data", "{what}");
        let expected = Mde {
            encoding: 273,
            coded_char_set_id: 850,
            format: own.format,
            flags: 0,
            group_id: sent.group_id,
            msg_seq_number: sent.msg_seq_number,
            offset: sent.offset,
            // The last of a group is in it, too.
            msg_flags: found.msg_flags,
            original_length: own.original_length,
        };
        assert_eq!(found, expected, "{what}");
        assert_eq!(found.msg_flags & own.msg_flags, own.msg_flags, "{what}");
    }
}

/// A report on a message without a group is what it was before there was a version 2.
#[test]
fn a_report_has_an_extension_only_if_its_message_had_one() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    let replies = open(&s, "REPLIES", MQOO_INPUT_SHARED);
    for (flags, length) in [(MQMF_NONE, 4), (MQMF_MSG_IN_GROUP, LONG + 4)] {
        let own = Md {
            report: MQRO_COA_WITH_FULL_DATA,
            reply_to_q: posthaste_mqi::Name::new("REPLIES"),
            msg_flags: flags,
            ..md(0)
        };
        send(&s, h, own, 0, b"data");
        let report = next_with(&s, replies, 1);
        assert_eq!((report.md.feedback, report.length), (MQFB_COA, length));
        assert!(report.data.ends_with(b"data"));
    }
}

/// The MQMDE counts as data of the message that is got: in the buffer, and in a truncation.
#[test]
fn the_extension_needs_room_in_the_buffer() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let own = Md {
        msg_flags: MQMF_MSG_IN_GROUP,
        ..md(0)
    };
    let whole = LONG + 4;
    for (buffer, accepts, warning) in [
        (whole, false, Reason::NONE),
        (whole - 1, false, Reason::TRUNCATED_MSG_FAILED),
        (whole - 1, true, Reason::TRUNCATED_MSG_ACCEPTED),
        (LONG, true, Reason::TRUNCATED_MSG_ACCEPTED),
        (10, true, Reason::TRUNCATED_MSG_ACCEPTED),
        (0, false, Reason::TRUNCATED_MSG_FAILED),
        (0, true, Reason::TRUNCATED_MSG_ACCEPTED),
    ] {
        send(&s, h, own.clone(), 0, b"data");
        let options = if accepts {
            MQGMO_ACCEPT_TRUNCATED_MSG
        } else {
            0
        };
        let got = take(&s, h, Md::default(), gmo(options), buffer).unwrap();
        assert_eq!((got.warning, got.length), (warning, whole), "{buffer}");
        assert_eq!(got.data.len(), buffer.min(whole), "{buffer}");
        assert!(b"MDE ".starts_with(&got.data[..buffer.min(4)]));
        let left = usize::from(warning == Reason::TRUNCATED_MSG_FAILED);
        assert_eq!(drain(&s, h).len(), left, "{buffer}");
    }
    // The same message needs less of a getter who knows version 2.
    send(&s, h, own, 0, b"data");
    let got = take(&s, h, md(0), gmo(0), 4).unwrap();
    assert_eq!((got.text().as_str(), got.warning), ("data", Reason::NONE));
}

/// A waiting getter of version 1 is served the same way.
#[test]
fn a_waiting_getter_gets_the_extension_too() {
    let w = World::new();
    let (s, other) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let o = open(&other, LOCAL, MQOO_OUTPUT);
    let own = Md {
        msg_flags: MQMF_MSG_IN_GROUP,
        ..md(0)
    };
    let waiting = wait(&s, h, Md::default(), gmo(0));
    send(&other, o, own.clone(), 0, b"data");
    let got = waiting.finish().unwrap();
    assert_eq!((got.length, &got.data[LONG..]), (LONG + 4, &b"data"[..]));
    // One that has no room for both gets nothing of it, and the message stays.
    let gmo = posthaste_mqi::Gmo {
        options: MQGMO_WAIT,
        wait_interval: MQWI_UNLIMITED,
        ..gmo(0)
    };
    let waiting = Call::begin(getting(s.clone(), h, Md::default(), gmo, LONG));
    send(&other, o, own, 0, b"data");
    let got = waiting.finish().unwrap();
    assert_eq!(got.warning, Reason::TRUNCATED_MSG_FAILED);
    assert_eq!(drain(&s, h), ["data"]);
}

/// A putter of version 1 says in an MQMDE what its descriptor has no fields for.
#[test]
fn a_version_1_putter_s_extension_is_taken_in() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (encoding, order) in ORDERS {
        for version in [1, 2] {
            let own = Md {
                version,
                ..first(encoding)
            };
            let mut after = own.clone();
            let data = bytes(&mde(), order, b"data");
            for one_call in [false, true] {
                let done = match one_call {
                    true => put1(&s, LOCAL, &mut after, 0, &data),
                    false => try_put(&s, h, &mut after, 0, &data),
                };
                assert_eq!(done, Ok(Reason::NONE));
                assert_eq!((after.version, after.format), (version, own.format));
                assert_eq!(
                    (after.encoding, after.coded_char_set_id),
                    (encoding, own.coded_char_set_id)
                );
                assert_eq!(after.msg_flags, own.msg_flags);
                let got = next_with(&s, h, 2);
                assert_eq!(got.text(), "data");
                assert_eq!(got.md.msg_id, after.msg_id);
                let found = (got.md.group_id, got.md.msg_seq_number, got.md.msg_flags);
                assert_eq!(found, ([7; 24], 3, MQMF_MSG_IN_GROUP));
                assert_eq!(got.md.format, chars(MQFMT_STRING));
                assert_eq!((got.md.encoding, got.md.coded_char_set_id), (273, 850));
                after = own.clone();
            }
        }
    }
    // What a getter of version 1 gets can be put as it is.
    let own = Md {
        msg_flags: MQMF_MSG_IN_GROUP,
        ..md(0)
    };
    let sent = send(&s, h, own, 0, b"data");
    let got = next_with(&s, h, 1);
    let mut again = got.md.clone();
    assert_eq!(try_put(&s, h, &mut again, 0, &got.data), Ok(Reason::NONE));
    let got = next_with(&s, h, 2);
    assert_eq!(
        (got.text().as_str(), got.md.group_id),
        ("data", sent.group_id)
    );
}

/// What is not an MQMDE to honour goes along as data.
#[test]
fn another_extension_is_data() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let good = bytes(&mde(), ByteOrder::Little, b"data");
    let with = |at: usize, new: &[u8]| {
        let mut data = good.clone();
        data[at..at + new.len()].copy_from_slice(new);
        data
    };
    let little = MQENC_INTEGER_REVERSED;
    let own_say = Md {
        version: 2,
        msg_flags: MQMF_MSG_IN_GROUP,
        ..first(little)
    };
    for (what, own, data) in [
        ("another version", first(little), with(4, &[3, 0, 0, 0])),
        (
            "the other byte order",
            first(MQENC_INTEGER_NORMAL),
            good.clone(),
        ),
        ("no byte order at all", first(0), good.clone()),
        ("EBCDIC", first(little), with(0, &[0xD4, 0xC4, 0xC5, 0x40])),
        ("a descriptor with a say of its own", own_say, good.clone()),
        (
            "another format",
            Md {
                format: chars(MQFMT_STRING),
                ..first(little)
            },
            good.clone(),
        ),
    ] {
        let sent = send(&s, h, own, 0, &data);
        let got = next_with(&s, h, 2);
        assert_eq!(got.data, data, "{what}");
        assert_eq!(
            (got.md.format, got.md.group_id),
            (sent.format, sent.group_id)
        );
    }
}

/// An MQMDE that is announced and broken is refused, and nothing is put.
#[test]
fn a_broken_extension_is_refused() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (encoding, order) in ORDERS {
        let good = bytes(&mde(), order, b"");
        let with = |at: usize, new: i32| {
            let mut data = good.clone();
            let new = match order {
                ByteOrder::Big => new.to_be_bytes(),
                ByteOrder::Little => new.to_le_bytes(),
            };
            data[at..at + 4].copy_from_slice(&new);
            data
        };
        let mut spoilt = good.clone();
        spoilt[3] = b'X';
        for (what, data, reason) in [
            ("nothing", vec![], Reason::MDE_ERROR),
            ("too short", good[..71].to_vec(), Reason::MDE_ERROR),
            ("the eye-catcher", spoilt, Reason::MDE_ERROR),
            ("the length", with(8, 71), Reason::MDE_ERROR),
            ("the flags", with(28, 1), Reason::MDE_ERROR),
            ("MsgSeqNumber", with(56, 0), Reason::MSG_SEQ_NUMBER_ERROR),
            ("Offset", with(60, -1), Reason::OFFSET_ERROR),
            ("MsgFlags", with(64, 0x40_0000), Reason::MSG_FLAGS_ERROR),
        ] {
            // Offset and number count for segments and groups only.
            let data = match what {
                "Offset" => {
                    let flags = with(64, MQMF_SEGMENT);
                    [&data[..64], &flags[64..]].concat()
                }
                _ => data,
            };
            for version in [1, 2] {
                let mut own = Md {
                    version,
                    ..first(encoding)
                };
                let before = own.clone();
                assert_eq!(try_put(&s, h, &mut own, 0, &data), Err(reason), "{what}");
                let other = put1(&s, LOCAL, &mut own, 0, &data);
                assert_eq!((other, &own), (Err(reason), &before), "{what}");
            }
        }
    }
    assert_eq!(w.depth(LOCAL), 0);
}
