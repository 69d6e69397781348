//! What a publication says of itself that was put without a header: beside its data, for whoever asks for properties.

#![allow(clippy::unwrap_used)]

mod world;

use std::sync::Arc;

use bytes::Bytes;
use posthaste_encryption::{DataKeys, MessageCipher};
use posthaste_engine::{BodyCipher, EndMode, Session};
use posthaste_env::{block_on, os};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Hobj, Md, Mde, PointerSize, Reason, Rfh2, Sd};
use world::*;

const TEXT: &str = "news";
const FOLDER: &str = "<mqps><Top>t</Top><Sud>mine</Sud></mqps>";

/// A subscription of the administrator to `t` for a queue of its own, with user data.
fn subscribed(w: &World, queue: &str, options: &str) {
    w.run(&format!(
        "DEFINE QLOCAL({queue})\nDEFINE SUB({queue}) TOPICSTR('t') DEST({queue}) USERDATA('mine') {options}"
    ));
}

fn text(persistence: i32) -> Md {
    Md {
        format: Chars::new("MQSTR"),
        coded_char_set_id: 1208,
        ..md(persistence)
    }
}

fn publish(w: &World, md: Md, options: i32, data: &[u8]) {
    let s = w.connect();
    let mut od = topic("t");
    let data = Bytes::copy_from_slice(data);
    let done = block_on(s.put1(&mut od, &mut md.clone(), &mut pmo(options), data)).unwrap();
    assert_eq!(done.warning, Reason::NONE);
}

/// The header that a message begins with, and what is behind it; it says of that what the descriptor said.
fn taken_apart(got: &Taken) -> (Rfh2, Vec<u8>) {
    assert_eq!(got.md.format, Chars::new("MQHRF2"));
    let order = ByteOrder::of_encoding(got.md.encoding).unwrap();
    let (header, used) = Rfh2::decode(&got.data, order, PointerSize::Four).unwrap();
    (header, got.data[used..].to_vec())
}

fn assert_shown(got: &Taken, folder: &str) {
    let (header, behind) = taken_apart(got);
    assert_eq!(header.folders, [folder]);
    assert_eq!(header.format, Chars::new("MQSTR"));
    assert_eq!(header.coded_char_set_id, 1208);
    assert_eq!(header.encoding, got.md.encoding);
    assert_eq!(behind, TEXT.as_bytes());
    assert_eq!((got.warning, got.length), (Reason::NONE, got.data.len()));
}

fn assert_as_put(got: &Taken) {
    assert_eq!(
        (got.md.format, got.text().as_str()),
        (Chars::new("MQSTR"), TEXT)
    );
    assert_eq!((got.warning, got.length), (Reason::NONE, TEXT.len()));
}

fn browse_with(s: &Session, h: Hobj, options: i32, room: usize) -> Taken {
    let options = MQGMO_BROWSE_FIRST | options;
    take(s, h, Md::default(), gmo(options), room).unwrap()
}

/// What is got of a queue's only message by who wants its properties, and by who does not.
fn assert_both(w: &World, queue: &str) {
    let s = w.connect();
    let h = open(&s, queue, MQOO_BROWSE);
    assert_shown(
        &browse_with(&s, h, MQGMO_PROPERTIES_FORCE_MQRFH2, 1000),
        FOLDER,
    );
    assert_as_put(&browse_with(&s, h, 0, TEXT.len()));
}

#[test]
fn who_asks_for_properties_is_shown_the_topic() {
    let w = World::light();
    subscribed(&w, "Q", "");
    for how in ["COMPAT", "V6COMPAT", "NONE", "ALL", "FORCE"] {
        w.run(&format!("DEFINE QALIAS({how}) TARGET(Q) PROPCTL({how})"));
    }
    publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
    let s = w.connect();
    let see = |name, options| browse_with(&s, open(&s, name, MQOO_BROWSE), options, 1000);
    for (name, options) in [
        ("ALL", 0),
        ("FORCE", 0),
        ("NONE", MQGMO_PROPERTIES_FORCE_MQRFH2),
        ("COMPAT", MQGMO_PROPERTIES_FORCE_MQRFH2),
    ] {
        assert_shown(&see(name, options), FOLDER);
    }
    for (name, options) in [
        ("Q", 0),
        ("COMPAT", 0),
        ("V6COMPAT", 0),
        ("NONE", 0),
        ("ALL", MQGMO_NO_PROPERTIES),
        ("FORCE", MQGMO_PROPERTIES_COMPATIBILITY),
    ] {
        assert_as_put(&see(name, options));
    }
    // A consumer, too.
    let whole = see("FORCE", 0).data;
    let h = open(&s, "FORCE", MQOO_INPUT_SHARED);
    let mut consumer = s.consumer(h, &Md::default(), &gmo(0)).unwrap();
    consumer.credit(1);
    let delivery = block_on(consumer.next()).unwrap();
    assert_eq!(delivery.data(), whole);
    assert_eq!(delivery.descriptor().format, Chars::new("MQHRF2"));
}

#[test]
fn the_header_counts_for_who_is_given_it_and_for_nobody_else() {
    let w = World::light();
    subscribed(&w, "Q", "");
    w.run("ALTER QLOCAL(Q) MAXMSGL(4)");
    publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
    let s = w.connect();
    let h = open(&s, "Q", MQOO_INPUT_SHARED | MQOO_BROWSE);
    let force = MQGMO_PROPERTIES_FORCE_MQRFH2;
    let whole = browse_with(&s, h, force, 1000).data;
    let short = whole.len() - 1;
    let get = |options, room| take(&s, h, Md::default(), gmo(force | options), room);
    let failed = get(0, short).unwrap();
    assert_eq!(failed.warning, Reason::TRUNCATED_MSG_FAILED);
    assert_eq!(failed.length, whole.len());
    assert_eq!(w.depth("Q"), 1);
    let accepted = get(MQGMO_ACCEPT_TRUNCATED_MSG, short).unwrap();
    assert_eq!(accepted.warning, Reason::TRUNCATED_MSG_ACCEPTED);
    assert_eq!(
        (accepted.length, &accepted.data),
        (whole.len(), &whole.slice(..short))
    );
    publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
    assert_as_put(&take(&s, h, Md::default(), gmo(0), TEXT.len()).unwrap());
    publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
    assert_shown(&get(0, whole.len()).unwrap(), FOLDER);
}

#[test]
fn it_is_converted_with_what_is_behind_it() {
    let w = World::light();
    subscribed(&w, "Q", "");
    publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
    let s = w.connect();
    let h = open(&s, "Q", MQOO_INPUT_SHARED);
    let wanted = Md {
        coded_char_set_id: 37,
        encoding: 273,
        ..Md::default()
    };
    let options = MQGMO_PROPERTIES_FORCE_MQRFH2 | MQGMO_CONVERT;
    let got = take(&s, h, wanted, gmo(options), 1000).unwrap();
    assert_eq!(got.warning, Reason::NONE);
    let behind = &got.data[got.data.len() - 4..];
    assert_eq!(behind, [0x95, 0x85, 0xa6, 0xa2], "news in EBCDIC");
    let length = i32::from_be_bytes(got.data[8..12].try_into().unwrap());
    assert_eq!(length as usize, got.data.len() - 4);
}

/// The MQMDE is the first header: it says what the next one is.
#[test]
fn an_extension_of_the_descriptor_is_in_front_of_it() {
    let w = World::light();
    subscribed(&w, "Q", "");
    let sent = Md {
        msg_flags: MQMF_SEGMENTATION_ALLOWED,
        ..text(NOT_PERSISTENT)
    };
    publish(&w, sent, 0, TEXT.as_bytes());
    let s = w.connect();
    let h = open(&s, "Q", MQOO_INPUT_SHARED);
    let first = Md {
        version: MQMD_VERSION_1,
        ..Md::default()
    };
    let got = take(&s, h, first, gmo(MQGMO_PROPERTIES_FORCE_MQRFH2), 1000).unwrap();
    assert_eq!(got.md.format, Chars::new("MQHMDE"));
    let (mde, used) = Mde::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
    let shown = (mde.format, mde.msg_flags);
    assert_eq!(shown, (Chars::new("MQHRF2"), MQMF_SEGMENTATION_ALLOWED));
    let (header, _) =
        Rfh2::decode(&got.data[used..], ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!(header.folders, [FOLDER]);
}

#[test]
fn a_header_that_is_there_is_not_doubled() {
    let w = World::light();
    subscribed(&w, "HEADER", "PSPROP(RFH2)");
    subscribed(&w, "NONE", "PSPROP(NONE)");
    subscribed(&w, "Q", "");
    let s = w.connect();
    let [header, none, q] = ["HEADER", "NONE", "Q"].map(|name| open(&s, name, MQOO_INPUT_SHARED));
    let force = MQGMO_PROPERTIES_FORCE_MQRFH2;
    for options in [0, force] {
        publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
        assert_shown(&next(&s, header, options).unwrap(), FOLDER);
        assert_as_put(&next(&s, none, options).unwrap());
        next(&s, q, 0).unwrap();
    }
    let data = with_folder("<usr><a>1</a></usr>", TEXT.as_bytes());
    let sent = Md {
        format: Chars::new("MQHRF2"),
        ..text(NOT_PERSISTENT)
    };
    for options in [0, force] {
        publish(&w, sent.clone(), 0, &data);
        let (header, behind) = taken_apart(&next(&s, q, options).unwrap());
        assert_eq!(header.folders, ["<usr><a>1</a></usr>", FOLDER]);
        assert_eq!(behind, TEXT.as_bytes());
    }
}

#[test]
fn what_was_retained_says_so() {
    let w = World::light();
    publish(&w, text(NOT_PERSISTENT), MQPMO_RETAIN, TEXT.as_bytes());
    let s = w.connect();
    let mut sd = Sd {
        options: MQSO_CREATE | MQSO_MANAGED,
        object_string: "t".to_owned(),
        ..Sd::default()
    };
    let (queue, _) = block_on(s.subscribe(&mut sd, Hobj::NONE)).unwrap().value;
    let got = next(&s, queue, MQGMO_PROPERTIES_FORCE_MQRFH2).unwrap();
    assert_shown(&got, "<mqps><Top>t</Top><Ret dt='boolean'>1</Ret></mqps>");
}

/// In the log, alone and beside others; in a queue's file; and in an image.
fn survives(cipher: Option<Arc<dyn BodyCipher>>) {
    let mut w = World::with(|c| c.cipher = cipher);
    subscribed(&w, "Q", "");
    publish(&w, text(PERSISTENT), 0, TEXT.as_bytes());
    w.crash();
    assert_both(&w, "Q");
    w.end(EndMode::Controlled);
    w.start();
    assert!(w.status("Q").file_blocks > 0, "it is in the file only");
    assert_both(&w, "Q");
    w.run("CLEAR QLOCAL(Q)");
    subscribed(&w, "R", "");
    subscribed(&w, "BARE", "PSPROP(NONE)");
    publish(&w, text(PERSISTENT), 0, TEXT.as_bytes());
    w.crash();
    assert_both(&w, "Q");
    assert_both(&w, "R");
    let s = w.connect();
    let h = open(&s, "BARE", MQOO_BROWSE);
    assert_as_put(&browse_with(&s, h, MQGMO_PROPERTIES_FORCE_MQRFH2, 1000));
}

#[test]
fn it_survives() {
    survives(None);
}

#[test]
fn it_survives_encrypted() {
    let keys = DataKeys::new(&*os().entropy, "2026-01-01");
    survives(Some(Arc::new(MessageCipher::new(keys, &*os().entropy))));
}

#[test]
fn it_comes_back_from_the_file_of_a_queue_whose_buffer_is_full() {
    const COUNT: usize = 60;
    let w = World::with(|c| c.q_buffer = 20_000);
    subscribed(&w, "Q", "");
    let long = vec![b'x'; 1500];
    (0..COUNT).for_each(|_| publish(&w, text(NOT_PERSISTENT), 0, &long));
    assert!(w.status("Q").file_blocks > 0);
    let s = w.connect();
    let h = open(&s, "Q", MQOO_INPUT_SHARED);
    for at in 0..COUNT {
        let options = [0, MQGMO_PROPERTIES_FORCE_MQRFH2][at % 2];
        let got = take(&s, h, Md::default(), gmo(options), 4000).unwrap();
        match options {
            0 => assert!(got.data == long),
            _ => {
                let (header, behind) = taken_apart(&got);
                assert_eq!(header.folders, [FOLDER]);
                assert!(behind == long);
            }
        }
    }
}

#[test]
fn a_dead_letter_is_without() {
    let w = World::with_dead_letters();
    subscribed(&w, "Q", "");
    w.run("ALTER QLOCAL(Q) PUT(DISABLED)");
    publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
    let s = w.connect();
    let got = next(
        &s,
        open(&s, DEAD, MQOO_INPUT_SHARED),
        MQGMO_PROPERTIES_FORCE_MQRFH2,
    )
    .unwrap();
    let (header, used) = Dlh::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!(header.format, Chars::new("MQSTR"));
    assert_eq!(&got.data[used..], TEXT.as_bytes());
}

/// A publication is in the log as a whole: subscribers' user data are no more than a part of that, whatever they are.
#[test]
fn user_data_of_many_subscribers_are_said_up_to_a_limit() {
    // 50 KB each, escaped: 21 of them are a megabyte, and 168 are eight.
    let user_data = |n: usize| format!("{n:03}{}", "&".repeat(10_000));
    for (options, count, most) in [("", 40, 21), ("PSPROP(RFH2)", 180, 168)] {
        let w = World::light();
        w.run("DEFINE QLOCAL(Q)");
        for n in 0..count {
            let user_data = user_data(n);
            w.run(&format!(
                "DEFINE SUB(S{n:03}) TOPICSTR('t') DEST(Q) USERDATA('{user_data}') DESTCORL('{n:048}') {options}"
            ));
        }
        publish(&w, text(NOT_PERSISTENT), 0, TEXT.as_bytes());
        let s = w.connect();
        let h = open(&s, "Q", MQOO_INPUT_SHARED);
        let mut with_it = 0;
        for _ in 0..count {
            let options = gmo(MQGMO_PROPERTIES_FORCE_MQRFH2);
            let got = take(&s, h, Md::default(), options, 100_000).unwrap();
            let (header, behind) = taken_apart(&got);
            assert_eq!(behind, TEXT.as_bytes());
            match header.folders[0].contains("<Sud>") {
                true => with_it += 1,
                false => assert_eq!(header.folders, ["<mqps><Top>t</Top></mqps>"]),
            }
        }
        assert_eq!(with_it, most, "{options}");
    }
}

/// Encoding and CodedCharSetId of a header that is put in front of data say how that header is written.
#[test]
fn a_header_can_be_read_whatever_the_publisher_says_of_the_data() {
    let w = World::light();
    subscribed(&w, "BESIDE", "");
    subscribed(&w, "HEADER", "PSPROP(RFH2)");
    for (encoding, coded_char_set_id, expected) in [
        (0, 1208, (MQENC_NATIVE, 1208)),
        (MQENC_DECIMAL_NORMAL, 500, (MQENC_NATIVE, 1208)),
        (MQENC_INTEGER_NORMAL, 500, (MQENC_INTEGER_NORMAL, 1208)),
        (MQENC_INTEGER_NORMAL, 819, (MQENC_INTEGER_NORMAL, 819)),
    ] {
        let sent = Md {
            encoding,
            coded_char_set_id,
            ..text(PERSISTENT)
        };
        publish(&w, sent, MQPMO_RETAIN, TEXT.as_bytes());
        w.run("DEFINE QLOCAL(LATER)\nDEFINE SUB(LATER) TOPICSTR('t') DEST(LATER) PSPROP(RFH2)");
        let s = w.connect();
        for queue in ["BESIDE", "HEADER", "LATER"] {
            let h = open(&s, queue, MQOO_INPUT_SHARED);
            let got = next(&s, h, MQGMO_PROPERTIES_FORCE_MQRFH2).unwrap();
            let written = (got.md.encoding, got.md.coded_char_set_id);
            assert_eq!(written, expected, "{queue} {encoding} {coded_char_set_id}");
            let (header, behind) = taken_apart(&got);
            assert!(header.folders[0].starts_with("<mqps><Top>t</Top>"));
            let of_data = (header.format, header.encoding, header.coded_char_set_id);
            assert_eq!(of_data, (Chars::new("MQSTR"), encoding, coded_char_set_id));
            assert_eq!(behind, TEXT.as_bytes());
            close(&s, h, MQCO_NONE).unwrap();
        }
        w.run("DELETE SUB(LATER)\nDELETE QLOCAL(LATER) PURGE");
    }
}
