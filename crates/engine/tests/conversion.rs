//! MQGMO_CONVERT: what a getter is given, and what the descriptor says that it is.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_engine::Session;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Hobj, Md, Mde, Name, PointerSize, Reason, Xqh};
use world::*;

const TEXT: &str = "Grüße";

fn is(format: &str, encoding: i32, ccsid: i32) -> Md {
    Md {
        format: Chars::new(format),
        encoding,
        coded_char_set_id: ccsid,
        ..md(0)
    }
}

fn wanted(encoding: i32, ccsid: i32) -> Md {
    is(MQFMT_NONE, encoding, ccsid)
}

fn there() -> (World, Session, Hobj) {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    (w, s, h)
}

/// A text is put in UTF-8, and got with these options and this buffer, wanted in a character set.
fn got(ccsid: i32, options: i32, buffer: usize) -> Taken {
    let (_w, s, h) = there();
    send(&s, h, is(MQFMT_STRING, 546, 1208), 0, TEXT.as_bytes());
    let taken = take(&s, h, wanted(546, ccsid), gmo(options), buffer).unwrap();
    let gone = next(&s, h, 0).map(|_| ()) == Err(Reason::NO_MSG_AVAILABLE);
    let failed = taken.warning == Reason::TRUNCATED_MSG_FAILED;
    assert_eq!(gone, !failed && options & MQGMO_BROWSE_NEXT == 0);
    taken
}

#[test]
fn text_comes_as_it_is_wanted() {
    for (ccsid, bytes) in [
        (819, &b"Gr\xFC\xDFe"[..]),
        (850, b"Gr\x81\xE1e"),
        (500, &[0xC7, 0x99, 0xDC, 0x59, 0x85]),
        (1200, b"G\0r\0\xFC\0\xDF\0e\0"),
        (1208, TEXT.as_bytes()),
        // The queue manager's.
        (0, TEXT.as_bytes()),
    ] {
        for options in [MQGMO_CONVERT, MQGMO_CONVERT | MQGMO_ACCEPT_TRUNCATED_MSG] {
            let taken = got(ccsid, options, 10);
            assert_eq!(taken.warning, Reason::NONE, "{ccsid}");
            assert_eq!(&taken.data[..], bytes, "{ccsid}");
            assert_eq!(
                (taken.length, taken.gmo.returned_length as usize),
                (bytes.len(), bytes.len())
            );
            let set = if ccsid == 0 { 1208 } else { ccsid };
            assert_eq!((taken.md.coded_char_set_id, taken.md.encoding), (set, 546));
        }
    }
    let unasked = got(819, 0, 10);
    assert_eq!(
        (unasked.md.coded_char_set_id, unasked.text().as_str()),
        (1208, TEXT)
    );
}

#[test]
fn a_browse_converts_and_changes_nothing() {
    let (_w, s, _) = there();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    send(&s, h, is(MQFMT_STRING, 546, 1208), 0, TEXT.as_bytes());
    let options = MQGMO_CONVERT | MQGMO_BROWSE_FIRST;
    let seen = take(&s, h, wanted(546, 819), gmo(options), 9).unwrap();
    assert_eq!(
        (&seen.data[..], seen.warning),
        (&b"Gr\xFC\xDFe"[..], Reason::NONE)
    );
    let taken = next(&s, h, 0).unwrap();
    assert_eq!(
        (taken.md.coded_char_set_id, taken.text().as_str()),
        (1208, TEXT)
    );
}

#[test]
fn a_buffer_that_is_too_short() {
    // Too short for the message as it is: it stays, unconverted.
    let failed = got(819, MQGMO_CONVERT, 6);
    assert_eq!(failed.warning, Reason::TRUNCATED_MSG_FAILED);
    assert_eq!((failed.length, failed.md.coded_char_set_id), (7, 1208));
    // What is accepted is converted, and has the length of the message before that.
    let cut = got(819, MQGMO_CONVERT | MQGMO_ACCEPT_TRUNCATED_MSG, 4);
    assert_eq!(cut.warning, Reason::TRUNCATED_MSG_ACCEPTED);
    assert_eq!((&cut.data[..], cut.length), (&b"Gr\xFC\xDF"[..], 7));
    assert_eq!(cut.md.coded_char_set_id, 819);
    // Too short for what it has become: it is gone, and delivered as it was.
    let grown = got(1200, MQGMO_CONVERT, 9);
    assert_eq!(grown.warning, Reason::CONVERTED_MSG_TOO_BIG);
    assert_eq!((grown.text().as_str(), grown.length), (TEXT, 7));
    assert_eq!((grown.md.coded_char_set_id, grown.md.encoding), (1208, 546));
    let cut = got(1200, MQGMO_CONVERT | MQGMO_ACCEPT_TRUNCATED_MSG, 8);
    assert_eq!(cut.warning, Reason::TRUNCATED_MSG_ACCEPTED);
    assert_eq!((&cut.data[..], cut.length), (&b"G\0r\0\xFC\0\xDF\0"[..], 7));
    // Without a buffer there is nothing to convert.
    let none = got(819, MQGMO_CONVERT | MQGMO_ACCEPT_TRUNCATED_MSG, 0);
    assert_eq!(
        (none.warning, none.md.coded_char_set_id),
        (Reason::TRUNCATED_MSG_ACCEPTED, 1208)
    );
}

/// Puts and gets; the message comes as it was put.
fn unconverted(put: Md, data: &[u8], wanted: Md) -> Reason {
    let (_w, s, h) = there();
    send(&s, h, put.clone(), 0, data);
    let taken = take(&s, h, wanted, gmo(MQGMO_CONVERT), 500).unwrap();
    assert_eq!((&taken.data[..], taken.length), (data, data.len()));
    assert_eq!(taken.md.coded_char_set_id, put.coded_char_set_id);
    assert_eq!(taken.md.encoding, put.encoding);
    taken.warning
}

#[test]
fn what_cannot_be_converted_comes_as_it_is_with_the_reason() {
    let text = |encoding, ccsid| is(MQFMT_STRING, encoding, ccsid);
    let to = |ccsid| wanted(546, ccsid);
    for (reason, put, data, wanted) in [
        (Reason::NONE, text(546, 819), &b""[..], to(37)),
        (Reason::NONE, is(MQFMT_NONE, 546, 819), b"bytes", to(819)),
        (
            Reason::FORMAT_ERROR,
            is(MQFMT_NONE, 546, 819),
            b"bytes",
            to(37),
        ),
        (
            Reason::FORMAT_ERROR,
            is("MYOWN", 546, 819),
            b"bytes",
            to(37),
        ),
        (
            Reason::FORMAT_ERROR,
            is(MQFMT_ADMIN, 546, 819),
            b"bytes",
            to(37),
        ),
        (Reason::SOURCE_CCSID_ERROR, text(546, 4711), b"text", to(37)),
        (
            Reason::TARGET_CCSID_ERROR,
            text(546, 819),
            b"text",
            to(4711),
        ),
        (
            Reason::SOURCE_INTEGER_ENC_ERROR,
            text(3, 1200),
            b"t\0",
            to(37),
        ),
        (
            Reason::TARGET_INTEGER_ENC_ERROR,
            text(546, 819),
            b"t",
            wanted(3, 1200),
        ),
        (Reason::NOT_CONVERTED, text(546, 1208), &[0xFF], to(37)),
    ] {
        assert_eq!(unconverted(put, data, wanted), reason);
    }
    let mut dead = Vec::new();
    let name = posthaste_mqi::Name::from_bytes([0xE9; 48]);
    let dlh = Dlh {
        dest_q_name: name,
        ..Dlh::default()
    };
    dlh.encode(&mut dead, ByteOrder::Little, PointerSize::Four);
    let header = is(MQFMT_DEAD_LETTER_HEADER, 546, 819);
    let reason = unconverted(header, &dead, wanted(546, 1208));
    assert_eq!(reason, Reason::CONVERTED_STRING_TOO_BIG);
}

#[test]
fn headers_that_cannot_be_in_a_set_are_in_the_queue_managers() {
    let (_w, s, h) = there();
    let dlh = Dlh {
        encoding: 546,
        coded_char_set_id: 819,
        format: Chars::new(MQFMT_STRING),
        ..Dlh::default()
    };
    let mut data = Vec::new();
    dlh.encode(&mut data, ByteOrder::Little, PointerSize::Four);
    data.extend(b"A");
    send(&s, h, is(MQFMT_DEAD_LETTER_HEADER, 546, 819), 0, &data);
    let taken = take(&s, h, wanted(273, 1200), gmo(MQGMO_CONVERT), 500).unwrap();
    assert_eq!(taken.warning, Reason::PARTIALLY_CONVERTED);
    assert_eq!(
        (taken.md.coded_char_set_id, taken.md.encoding),
        (1208, MQENC_NATIVE)
    );
    assert_eq!(taken.data[172..], [0, b'A']);
}

#[test]
fn the_extension_of_an_old_descriptor_is_converted_with_the_rest() {
    let (_w, s, h) = there();
    let grouped = Md {
        msg_flags: MQMF_MSG_IN_GROUP,
        group_id: [7; 24],
        ..is(MQFMT_STRING, 546, 1208)
    };
    send(&s, h, grouped, 0, TEXT.as_bytes());
    let old = Md {
        version: MQMD_VERSION_1,
        ..wanted(273, 819)
    };
    let taken = take(&s, h, old, gmo(MQGMO_CONVERT), 500).unwrap();
    assert_eq!((taken.warning, taken.length), (Reason::NONE, 72 + 5));
    assert_eq!((taken.md.coded_char_set_id, taken.md.encoding), (819, 273));
    let (mde, at) = Mde::decode(&taken.data, ByteOrder::Big, PointerSize::Four).unwrap();
    assert_eq!(
        (mde.coded_char_set_id, mde.encoding, mde.group_id),
        (819, 273, [7; 24])
    );
    assert_eq!(taken.data[at..], *b"Gr\xFC\xDFe");
}

/// The manual, "CodedCharSetId (MQLONG)" of MQMD: MQCCSI_Q_MGR is never returned by MQGET.
#[test]
fn the_queue_managers_character_set_is_named_in_what_is_put() {
    let w = World::with_dead_letters();
    w.run(
        "ALTER QMGR CCSID(850)
         DEFINE QLOCAL(XQ) USAGE(XMITQ)
         DEFINE QREMOTE(AWAY) RNAME(R) RQMNAME(ELSEWHERE) XMITQ(XQ)
         DEFINE QLOCAL(INIT)
         DEFINE QLOCAL(APP) TRIGGER TRIGTYPE(EVERY) INITQ(INIT)
         DEFINE QLOCAL(REPLIES) PUT(DISABLED)
         DEFINE SUB(S) TOPICSTR('t') DEST(APP)",
    );
    let s = w.connect();
    let initiation = open(&s, "INIT", MQOO_INPUT_SHARED);
    let of_q_mgr = || Md {
        report: MQRO_COA_WITH_FULL_DATA,
        reply_to_q: Name::new("REPLIES"),
        ..is(MQFMT_STRING, 546, MQCCSI_Q_MGR)
    };
    let local = open(&s, "APP", IN_OUT);
    let away = open(&s, "AWAY", MQOO_OUTPUT);
    let topic = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    for to in [local, topic] {
        let sent = send(&s, to, of_q_mgr(), 0, b"text");
        // What the application says of its data stays its own.
        assert_eq!(sent.coded_char_set_id, MQCCSI_Q_MGR);
        let got = next(&s, local, 0).unwrap().md;
        assert_eq!((got.coded_char_set_id, got.encoding), (850, 546));
    }
    // What the queue manager has made of it: what is behind a header is what the message was.
    assert_eq!(next(&s, initiation, 0).unwrap().md.coded_char_set_id, 850);
    let d = open(&s, DEAD, MQOO_INPUT_SHARED);
    let dead = next(&s, d, 0).unwrap();
    let order = ByteOrder::Little;
    let (header, _) = Dlh::decode(&dead.data, order, PointerSize::Four).unwrap();
    assert_eq!(
        (dead.md.coded_char_set_id, header.coded_char_set_id),
        (850, 850)
    );
    send(&s, away, of_q_mgr(), 0, b"text");
    let x = open(&s, "XQ", MQOO_INPUT_SHARED);
    let sent = next(&s, x, 0).unwrap();
    let (header, _) = Xqh::decode(&sent.data, order, PointerSize::Four).unwrap();
    let inner = header.msg_desc.coded_char_set_id;
    assert_eq!((sent.md.coded_char_set_id, inner), (850, 850));
}
