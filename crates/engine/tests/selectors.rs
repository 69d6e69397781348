//! Selectors: MQOPEN with a selection string, and what gets, browses and consumers are given then.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering;

use posthaste_engine::Session;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Hobj, Md, Name, Od, PointerSize, Reason, Rfh2};
use world::*;

fn selecting(name: &str, selection: &str) -> Od {
    Od {
        version: MQOD_VERSION_4,
        selection_string: selection.to_owned(),
        ..object(name)
    }
}

fn try_select(s: &Session, selection: &str, options: i32) -> Result<Hobj, Reason> {
    open_od(s, &mut selecting(LOCAL, selection), options)
}

fn select(s: &Session, selection: &str) -> Hobj {
    try_select(s, selection, MQOO_INPUT_SHARED | MQOO_BROWSE).unwrap()
}

/// Data behind an MQRFH2 with these folders, in the byte order of the descriptor below.
fn with_properties(folders: &[&str], data: &str) -> Vec<u8> {
    let header = Rfh2 {
        folders: folders.iter().map(|folder| folder.to_string()).collect(),
        ..Rfh2::default()
    };
    let mut out = Vec::new();
    header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
    out.extend_from_slice(data.as_bytes());
    out
}

fn headed(persistence: i32) -> Md {
    Md {
        format: Chars::new("MQHRF2"),
        encoding: MQENC_INTEGER_NORMAL,
        ..md(persistence)
    }
}

/// Puts a message with a colour and a number.
fn colored(s: &Session, h: Hobj, color: &str, n: usize, persistence: i32) {
    let usr = format!("<usr><color>{color}</color><n dt='i4'>{n}</n></usr>");
    let data = with_properties(&[&usr], &format!("{color}{n}"));
    send(s, h, headed(persistence), 0, &data);
}

/// The data behind the header.
fn text(taken: &Taken) -> String {
    match taken.md.format == Chars::new("MQHRF2") {
        true => {
            let (_, used) = Rfh2::decode(&taken.data, ByteOrder::Big, PointerSize::Four).unwrap();
            String::from_utf8(taken.data[used..].to_vec()).unwrap()
        }
        false => taken.text(),
    }
}

fn all(s: &Session, h: Hobj, first: i32, then: i32) -> Vec<String> {
    let (mut how, mut out) = (first, Vec::new());
    loop {
        match next(s, h, how) {
            Ok(taken) => out.push(text(&taken)),
            Err(reason) => {
                assert_eq!(reason, Reason::NO_MSG_AVAILABLE);
                return out;
            }
        }
        how = then;
    }
}

fn browsed(s: &Session, h: Hobj) -> Vec<String> {
    all(s, h, MQGMO_BROWSE_FIRST, MQGMO_BROWSE_NEXT)
}

#[test]
fn a_handle_is_given_what_its_selector_selects() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (n, color) in ["red", "blue", "red", "green"].into_iter().enumerate() {
        colored(&s, h, color, n, NOT_PERSISTENT);
    }
    put(&s, h, PERSISTENT, 0, b"plain");
    let red = select(&s, "color = 'red'");
    assert_eq!(browsed(&s, red), ["red0", "red2"]);
    assert_eq!(
        browsed(&s, select(&s, "color <> 'red' AND n > 1")),
        ["green3"]
    );
    // What it has not got is NULL.
    assert_eq!(browsed(&s, select(&s, "color IS NULL")), ["plain"]);
    assert_eq!(text(&next(&s, red, MQGMO_SYNCPOINT).unwrap()), "red0");
    backout(&s);
    assert_eq!(all(&s, red, 0, 0), ["red0", "red2"]);
    assert_eq!(
        browsed(&s, select(&s, "1 < 2")),
        ["blue1", "green3", "plain"]
    );
    assert_eq!(w.depth(LOCAL), 3);
}

/// MQ manual, "Property name restrictions", "Message descriptor fields as properties"; JMS, "Message header fields".
#[test]
fn headers_and_fields_of_the_descriptor_have_names() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let own = Md {
        msg_id: *b"\xABelector's identifier...",
        correl_id: [0xC0; 24],
        priority: 7,
        msg_type: MQMT_REQUEST,
        reply_to_q: Name::new("REPLY"),
        reply_to_q_mgr: Name::new("QM2"),
        ..headed(PERSISTENT)
    };
    let folders = [
        "<mcd><Msd>jms_text</Msd><Type>car</Type></mcd>",
        "<jms><Dst>queue:///Q1</Dst><Tms>1700000000000</Tms><Cid>order-1</Cid></jms>",
        "<usr><color>red</color></usr>",
        "<mq_usr><a><b dt='r8'>0.5</b></a></mq_usr>",
    ];
    send(&s, h, own, 0, &with_properties(&folders, "one"));
    let id = "ab656c6563746f722773206964656e7469666965722e2e2e";
    for (selection, selected) in [
        (&*format!("JMSMessageID = 'ID:{id}'"), true),
        (&format!("JMSMessageID = 'ID:{}'", id.to_uppercase()), true),
        (
            &format!("JMSMessageID = 'ID:{}' AND n IS NULL", id.to_uppercase()),
            true,
        ),
        (&format!("JMSMessageID <> 'ID:{id}'"), false),
        (&format!("Root.MQMD.MsgId = \"0x{id}\""), true),
        (
            &format!("JMSMessageID IN ('x', 'ID:{}')", id.to_uppercase()),
            true,
        ),
        (
            &format!("JMSMessageID NOT IN ('ID:{}')", id.to_uppercase()),
            false,
        ),
        ("JMSMessageID LIKE 'ID:ab%'", true),
        ("JMSMessageID = 'other'", false),
        ("JMSCorrelationID = 'order-1'", true),
        ("JMSPriority = 7", true),
        ("JMSPriority > 7", false),
        ("JMSDeliveryMode = 'PERSISTENT'", true),
        ("JMSDeliveryMode = 2", true),
        ("JMSDeliveryMode IN ('PERSISTENT')", true),
        ("JMSDeliveryMode NOT LIKE 'PERS%'", false),
        ("JMSDeliveryMode = 'NON_PERSISTENT'", false),
        ("JMSType = 'car'", true),
        ("JMSDestination = 'queue:///Q1'", true),
        ("JMSTimestamp = 1700000000000", true),
        ("JMSExpiration = 0", true),
        ("JMSReplyTo = 'queue://QM2/REPLY'", true),
        ("JMSRedelivered", false),
        ("JMSXDeliveryCount = 1", true),
        ("JMSXGroupID IS NULL AND JMSXGroupSeq IS NULL", true),
        ("Root.MQMD.Format = 'MQHRF2'", true),
        ("Root.MQMD.MsgType = 1 AND Root.MQMD.Persistence = 1", true),
        ("Root.MQMD.ReplyToQ LIKE 'REP%'", true),
        (
            "Root.MQMD.PutDate IS NOT NULL AND Root.MQMD.BackoutCount = 0",
            true,
        ),
        ("mcd.Msd = 'jms_text'", true),
        ("mq_usr.a.b * 2 = 1", true),
        ("usr.color IN ('red', 'blue')", true),
    ] {
        let found = browsed(&s, select(&s, selection)).len();
        assert_eq!(found == 1, selected, "{selection}");
    }
}

/// MQ manual, "Mapping JMS provider-specific fields". What of it IBM's library selects itself, it selects like this.
#[test]
fn properties_of_the_jms_provider_have_names() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let header = Rfh2 {
        format: Chars::new("MYFMT"),
        encoding: 546,
        folders: vec!["<usr><color>red</color></usr>".into()],
        ..Rfh2::default()
    };
    let mut data = Vec::new();
    header.encode(&mut data, ByteOrder::Big, PointerSize::Four);
    let own = Md {
        priority: 7,
        report: MQRO_COD_WITH_DATA | MQRO_PASS_MSG_ID,
        reply_to_q: Name::new(LOCAL),
        feedback: 7,
        ..headed(PERSISTENT)
    };
    send(&s, h, own, 0, &data);
    let selected = |text: &str| browsed(&s, select(&s, text)).len() == 1;
    for text in [
        "JMS_IBM_Format = 'MYFMT'",
        "JMS_IBM_Format = 'MYFMT   '",
        "JMS_IBM_Encoding = 546",
        "JMS_IBM_MsgType = 8",
        "JMS_IBM_Feedback = 7",
        "JMS_IBM_PutDate IS NOT NULL AND JMS_IBM_PutTime LIKE '________'",
        "JMS_IBM_PutApplType IS NOT NULL",
        "JMS_IBM_Report_COD = 6144 AND JMS_IBM_Report_COA = 0",
        "JMS_IBM_Report_Pass_Msg_ID = 128 AND JMS_IBM_Report_Pass_Correl_ID = 0",
        "JMS_IBM_Last_Msg_In_Group = FALSE",
        "JMS_IBM_MQMD_Priority = 7",
        "JMS_IBM_MQMD_Format = 'MQHRF2  '",
        "Root.MQMD.Format = 'MQHRF2  '",
        "JMS_IBM_Character_Set IS NULL",
        "JMSXState IS NULL AND JMSXRcvTimestamp IS NULL AND JMSXProducerTXID IS NULL",
    ] {
        assert!(selected(text), "{text}");
    }
    for text in [
        "JMS_IBM_Format = 'MQHRF2'",
        "JMS_IBM_Encoding = 273",
        "JMS_IBM_Report_Exception <> 0",
        "JMSXState = 0",
    ] {
        assert!(!selected(text), "{text}");
    }
}

#[test]
fn how_often_a_message_was_backed_out_is_asked_of_the_queue() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, 0, b"one");
    let again = select(&s, "JMSRedelivered AND JMSXDeliveryCount = 2");
    let mut waiting = wait(&s, again, md(0), gmo(0));
    let other = w.connect();
    let o = open(&other, LOCAL, MQOO_INPUT_SHARED);
    assert!(next(&other, o, MQGMO_SYNCPOINT).is_ok());
    assert!(waiting.poll().is_none());
    backout(&other);
    assert_eq!(waiting.finish().unwrap().text(), "one");
}

#[test]
fn identifiers_of_jms_take_the_way_of_identifiers() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let id = |n: u8| [n; 24];
    for n in 1..=200 {
        let own = Md {
            msg_id: id(n),
            correl_id: id(n),
            ..md(0)
        };
        send(&s, h, own, 0, &[n]);
    }
    let hex = |n: u8| format!("{n:02x}").repeat(24);
    let before = w.status(LOCAL).steps;
    for (n, selection) in [
        (150, format!("JMSCorrelationID = 'ID:{}'", hex(150))),
        (160, format!("JMSMessageID='ID:{}'", hex(160))),
        (
            170,
            format!("JMSMessageID='ID:{}' AND JMSPriority = 0", hex(170)),
        ),
    ] {
        let h = select(&s, &selection);
        assert_eq!(next(&s, h, 0).unwrap().data[..], [n], "{selection}");
        assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    }
    let steps = w.status(LOCAL).steps - before;
    // Walks along the queue would be six hundred; a chain of a hash may have others in it.
    assert!(steps < 150, "{steps} steps");
    // Beside match options both count.
    let h = select(&s, &format!("JMSCorrelationID = 'ID:{}'", hex(100)));
    let by = |n: u8| {
        let how = posthaste_mqi::Gmo {
            match_options: MQMO_MATCH_CORREL_ID,
            ..gmo(0)
        };
        let own = Md {
            correl_id: id(n),
            ..md(0)
        };
        take(&s, h, own, how, 9).map(|taken| taken.data[0])
    };
    assert_eq!(by(101), Err(Reason::NO_MSG_AVAILABLE));
    assert_eq!(by(100), Ok(100));
}

/// The null identifier is that of a message without one, of which JMS has NULL; on the queue and for those who wait.
#[test]
fn the_null_identifier_selects_nothing() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let null = select(&s, &format!("JMSCorrelationID = 'ID:{}'", "00".repeat(24)));
    put(&s, h, NOT_PERSISTENT, 0, b"before");
    assert_eq!(next(&s, null, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    let mut waiting = wait(&s, null, md(0), gmo(0));
    let other = w.connect();
    let o = open(&other, LOCAL, MQOO_OUTPUT);
    put(&other, o, NOT_PERSISTENT, 0, b"after");
    assert!(waiting.poll().is_none());
    drop(waiting);
    assert_eq!(w.depth(LOCAL), 2);
}

#[test]
fn a_message_wakes_nobody_who_does_not_select_it() {
    let w = World::light();
    let (s, putter) = (w.connect(), w.connect());
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    let sessions: Vec<Session> = (0..3).map(|_| w.connect()).collect();
    let red = wait(&s, select(&s, "color = 'red'"), md(0), gmo(0));
    let selecting = |s: &Session, how| {
        let h = select(s, "color = 'blue' AND n >= 2");
        wait(s, h, md(0), gmo(how))
    };
    let mut browsing = selecting(&sessions[0], MQGMO_BROWSE_NEXT);
    let mut blue = selecting(&sessions[1], 0);
    colored(&putter, p, "green", 1, NOT_PERSISTENT);
    colored(&putter, p, "blue", 1, PERSISTENT);
    put(&putter, p, 0, 0, b"plain");
    assert_eq!((red.woken(), blue.woken(), browsing.woken()), (0, 0, 0));
    assert_eq!(w.depth(LOCAL), 3);
    colored(&putter, p, "red", 1, PERSISTENT);
    assert_eq!((red.woken(), blue.woken(), browsing.woken()), (1, 0, 0));
    assert_eq!(text(&red.finish().unwrap()), "red1");
    colored(&putter, p, "blue", 2, NOT_PERSISTENT);
    assert_eq!(text(&blue.poll().unwrap().unwrap()), "blue2");
    // The one who browses sees what nobody takes.
    assert!(browsing.poll().is_none());
    colored(&putter, p, "blue", 3, NOT_PERSISTENT);
    assert_eq!(text(&browsing.poll().unwrap().unwrap()), "blue3");
    // What comes in a unit of work comes with its commit.
    let mut red = wait(&s, select(&s, "color = 'red'"), md(0), gmo(0));
    let data = with_properties(&["<usr><color>red</color></usr>"], "late");
    send(&putter, p, headed(PERSISTENT), MQPMO_SYNCPOINT, &data);
    assert!(red.poll().is_none());
    commit(&putter);
    assert_eq!(text(&red.finish().unwrap()), "late");
}

#[test]
fn a_consumer_is_given_what_its_handle_selects() {
    let w = World::light();
    let (s, putter) = (w.connect(), w.connect());
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    colored(&putter, p, "red", 1, PERSISTENT);
    colored(&putter, p, "blue", 2, PERSISTENT);
    let mut consumer = s
        .consumer(select(&s, "color = 'blue'"), &md(0), &gmo(0))
        .unwrap();
    consumer.credit(5);
    let poll = |consumer: &mut posthaste_engine::Consumer| {
        let delivery = Call::attempt(consumer.next())?.unwrap();
        let data = delivery.data().to_vec();
        posthaste_env::block_on(delivery.accept()).unwrap();
        Some(String::from_utf8_lossy(&data[data.len() - 5..]).into_owned())
    };
    assert_eq!(poll(&mut consumer).as_deref(), Some("blue2"));
    colored(&putter, p, "red", 3, PERSISTENT);
    assert_eq!(poll(&mut consumer), None);
    colored(&putter, p, "blue", 4, PERSISTENT);
    assert_eq!(poll(&mut consumer).as_deref(), Some("blue4"));
    assert_eq!(w.depth(LOCAL), 2);
}

/// MQ manual, "MQOPEN - reason codes", "SelectionString", "Selection behavior".
#[test]
fn selection_strings_that_cannot_be_are_refused() {
    let w = World::light();
    w.run("DEFINE QALIAS(ALIAS) TARGET(SYSTEM.DEFAULT.LOCAL.QUEUE)");
    let s = w.connect();
    let input = MQOO_INPUT_SHARED;
    for malformed in [
        "color =",
        " ",
        "((a = 1)",
        "color = \"red\"",
        "JMS.none = 1",
        "a..b = 1",
    ] {
        let refused = try_select(&s, malformed, input);
        assert_eq!(refused, Err(Reason::SELECTOR_SYNTAX_ERROR), "{malformed}");
    }
    let long = format!("color = '{}'", "x".repeat(MQ_SELECTOR_LENGTH as usize));
    assert_eq!(
        try_select(&s, &long, input),
        Err(Reason::SELECTION_STRING_ERROR)
    );
    let never = try_select(&s, "TRUE = FALSE", input);
    assert_eq!(never, Err(Reason::SELECTOR_ALWAYS_FALSE));
    // Only those who get or browse select, and only from queues.
    let red = "color = 'red'";
    for options in [MQOO_OUTPUT, MQOO_INQUIRE, MQOO_SET] {
        let refused = try_select(&s, red, options);
        assert_eq!(
            refused,
            Err(Reason::SELECTOR_INVALID_FOR_TYPE),
            "{options:#x}"
        );
    }
    let qmgr = Od {
        object_type: MQOT_Q_MGR,
        ..selecting("", red)
    };
    let refused = open_od(&s, &mut qmgr.clone(), MQOO_INQUIRE);
    assert_eq!(refused, Err(Reason::SELECTOR_INVALID_FOR_TYPE));
    let put1 = posthaste_env::block_on(s.put1(
        &mut selecting(LOCAL, red),
        &mut md(0),
        &mut pmo(0),
        Vec::new().into(),
    ));
    assert_eq!(put1.map(drop), Err(Reason::SELECTOR_INVALID_FOR_TYPE));
    for options in [
        input,
        MQOO_BROWSE,
        input | MQOO_OUTPUT,
        input | MQOO_INQUIRE,
    ] {
        assert!(try_select(&s, red, options).is_ok(), "{options:#x}");
    }
    // By an alias, and of a queue that is made.
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    colored(&s, h, "red", 1, NOT_PERSISTENT);
    colored(&s, h, "blue", 2, NOT_PERSISTENT);
    let alias = open_od(&s, &mut selecting("ALIAS", red), input).unwrap();
    assert_eq!(all(&s, alias, 0, 0), ["red1"]);
    let made = open_od(&s, &mut selecting(MODEL, red), IN_OUT).unwrap();
    colored(&s, made, "blue", 1, NOT_PERSISTENT);
    colored(&s, made, "red", 2, NOT_PERSISTENT);
    assert_eq!(all(&s, made, 0, 0), ["red2"]);
}

/// What is malformed in front of a message's data is not there.
#[test]
fn malformed_properties_select_nothing() {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let sound = with_properties(&["<usr><color>red</color></usr>"], "");
    send(&s, h, headed(0), 0, &sound[..40]);
    send(&s, h, headed(0), 0, b"RFH ");
    send(
        &s,
        h,
        headed(0),
        0,
        &with_properties(&["<usr><color>red</usr>"], ""),
    );
    send(
        &s,
        h,
        headed(0),
        0,
        &with_properties(&["<usr><color dt='i4'>red</color></usr>"], ""),
    );
    assert_eq!(browsed(&s, select(&s, "color IS NOT NULL")).len(), 0);
    let h = select(&s, "color IS NULL");
    let mut seen = 0;
    let mut how = MQGMO_BROWSE_FIRST;
    while next(&s, h, how).is_ok() {
        (seen, how) = (seen + 1, MQGMO_BROWSE_NEXT);
    }
    assert_eq!(seen, 4);
}

/// A queue most of which is in its file: found in order, each message read once, however many there are.
#[test]
fn messages_in_the_file_are_judged_where_they_are_read() {
    const COUNT: usize = 1_000;
    let mut w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let fill = |persistence| {
        for n in 0..COUNT {
            let color = if n % 400 == 399 { "red" } else { "blue" };
            colored(&s, h, color, n, persistence);
        }
    };
    fill(PERSISTENT);
    let open_red = |s: &Session| {
        let options = MQOO_INPUT_SHARED | MQOO_BROWSE;
        open_od(s, &mut selecting("Q", "color = 'red'"), options).unwrap()
    };
    let red = open_red(&s);
    let reads = |w: &World| w.stage.queue_reads.load(Ordering::SeqCst);
    let (before, steps) = (reads(&w), w.status("Q").steps);
    let one = next(&s, red, 0).unwrap();
    assert_eq!(text(&one), "red399");
    let (read, stepped) = (reads(&w) - before, w.status("Q").steps - steps);
    assert!((300..=400).contains(&read), "{read} reads");
    assert!(stepped < 8 * COUNT as u64, "{stepped} steps");
    // A message that comes meanwhile is not missed, and those that it waits for come as ever.
    let waiting = {
        assert_eq!(text(&next(&s, red, 0).unwrap()), "red799");
        wait(&s, red, md(0), gmo(0))
    };
    let other = w.connect();
    let o = open(&other, "Q", MQOO_OUTPUT);
    colored(&other, o, "blue", 1, PERSISTENT);
    assert_eq!(waiting.woken(), 0);
    colored(&other, o, "red", 7, PERSISTENT);
    assert_eq!(text(&waiting.finish().unwrap()), "red7");
    drop((s, other));
    w.restart();
    let s = w.connect();
    assert_eq!(browsed(&s, open_red(&s)), Vec::<String>::new());
    assert_eq!(w.depth("Q"), COUNT as u32 - 2 + 1);
}

/// Whoever reads for lanes reads a part of what a search asks for at a time: two searches of a long queue would hold up
/// everybody else who needs a file, and searches whose calls have been dropped too.
#[test]
fn a_long_search_lets_others_have_their_turn() {
    const COUNT: usize = 600;
    let mut w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for n in 0..COUNT {
        colored(&s, h, "blue", n, PERSISTENT);
    }
    let options = MQOO_INPUT_SHARED | MQOO_BROWSE;
    let red = open_od(&s, &mut selecting("Q", "color = 'red'"), options).unwrap();
    let qm = w.qm().clone();
    let mut files = Call::begin(async move { qm.serve_files().await });
    let mut search = Call::of(getting(s.clone(), red, md(0), gmo(0), 9_999));
    let reads = || w.stage.queue_reads.load(Ordering::SeqCst);
    let (first, mut most) = (reads(), 0u64);
    let found = loop {
        let polled = {
            // As a lane does.
            let _turns = posthaste_env::Turns::new();
            search.poll()
        };
        if let Some(found) = polled {
            break found;
        }
        let before = reads();
        assert!(files.poll().is_none());
        most = most.max(reads() - before);
    };
    assert_eq!(found.unwrap_err(), Reason::NO_MSG_AVAILABLE);
    let all = reads() - first;
    assert!(all > COUNT as u64 * 3 / 4, "{all} in all");
    assert!(most <= 64, "{most} in one turn");
    drop((search, s, files));
    w.restart();
}

/// Messages of the file that expire soon, or have, are read in one go as others are.
#[test]
fn messages_about_to_expire_are_not_read_one_at_a_time() {
    const COUNT: usize = 1_000;
    let w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let data = with_properties(&["<usr><color>blue</color></usr>"], &"-".repeat(100));
    let red = open_od(&s, &mut selecting("Q", "color = 'red'"), MQOO_INPUT_SHARED).unwrap();
    for tenths in [15, 1] {
        for _ in 0..COUNT {
            let expiring = Md {
                expiry: tenths,
                ..headed(NOT_PERSISTENT)
            };
            send(&s, h, expiring, 0, &data);
        }
        let before = w.status("Q").steps;
        assert_eq!(next(&s, red, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
        let steps = w.status("Q").steps - before;
        assert!(steps < 50 * COUNT as u64, "{steps} steps");
    }
    until("all to expire", || {
        next(&s, red, 0).unwrap_err();
        w.depth("Q") == 0
    });
    w.qm().check().unwrap();
}

/// What was judged is not read again: neither by a consumer that is given one message at a time, nor by gets.
#[test]
fn a_search_remembers_what_was_judged() {
    const COUNT: usize = 1_000;
    let w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for n in 0..COUNT {
        let color = if n % 50 == 49 { "red" } else { "blue" };
        colored(&s, h, color, n, NOT_PERSISTENT);
    }
    let reads = || w.stage.queue_reads.load(Ordering::SeqCst);
    let red = open_od(&s, &mut selecting("Q", "color = 'red'"), MQOO_INPUT_SHARED).unwrap();
    let first = reads();
    for n in 0..10 {
        assert_eq!(
            text(&next(&s, red, 0).unwrap()),
            format!("red{}", n * 50 + 49)
        );
    }
    let by_gets = reads() - first;
    assert!((100..=600).contains(&by_gets), "{by_gets} reads");
    let mut consumer = s.consumer(red, &md(0), &gmo(0)).unwrap();
    let first = reads();
    for _ in 0..10 {
        consumer.credit(1);
        let delivery = Call::attempt(consumer.next()).unwrap().unwrap();
        posthaste_env::block_on(delivery.accept()).unwrap();
    }
    consumer.credit(1);
    assert!(Call::attempt(consumer.next()).is_none());
    let by_consumer = reads() - first;
    assert!((100..=1_100).contains(&by_consumer), "{by_consumer} reads");
    assert_eq!(w.depth("Q") as usize, COUNT - COUNT / 50);
}

/// A message that comes to the queue behind a search that remembers, from wherever, is found all the same.
#[test]
fn a_search_that_remembers_misses_nothing() {
    let w = World::with(|c| (c.q_buffer, c.pq_buffer) = (2_000, 2_000));
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let s = w.connect();
    let red = open_od(&s, &mut selecting("Q", "color = 'red'"), MQOO_INPUT_SHARED).unwrap();
    let nothing = || assert_eq!(next(&s, red, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    let others: Vec<Session> = (0..3).map(|_| w.connect()).collect();
    let handles: Vec<Hobj> = (others.iter())
        .map(|s| open(s, "Q", IN_OUT | MQOO_BROWSE))
        .collect();
    let usr =
        |color: &str| with_properties(&[&format!("<usr><color>{color}</color></usr>")], color);
    let put = |at: usize, color: &str, priority: i32, options: i32| {
        let md = Md {
            priority,
            ..headed(PERSISTENT)
        };
        send(&others[at], handles[at], md, options, &usr(color));
    };
    let found = || assert_eq!(text(&next(&s, red, 0).unwrap()), "red");
    put(0, "blue", 5, 0);
    nothing();
    // Of an earlier number, and committed later; of a higher priority.
    put(1, "red", 5, MQPMO_SYNCPOINT);
    put(0, "blue", 5, 0);
    nothing();
    commit(&others[1]);
    found();
    put(0, "red", 9, 0);
    found();
    put(0, "red", 1, 0);
    put(0, "red", 7, 0);
    found();
    found();
    nothing();
    // Backed out, one behind the other, so that there is one behind the one that is found.
    put(0, "red", 5, 0);
    put(0, "blue", 5, 0);
    put(0, "red", 5, 0);
    for at in [1, 2] {
        let options = MQOO_INPUT_SHARED;
        let own = open_od(&others[at], &mut selecting("Q", "color = 'red'"), options).unwrap();
        next(&others[at], own, MQGMO_SYNCPOINT).unwrap();
    }
    put(0, "blue", 5, 0);
    nothing();
    backout(&others[1]);
    backout(&others[2]);
    found();
    found();
    nothing();
    // More than is noted.
    for color in ["red", "blue"] {
        (0..1_500).for_each(|_| put(1, color, 5, MQPMO_SYNCPOINT));
    }
    put(0, "blue", 5, 0);
    nothing();
    commit(&others[1]);
    (0..1_500).for_each(|_| found());
    nothing();
    // Locked by a browse while it was searched for.
    put(0, "red", 8, 0);
    let first = MQGMO_BROWSE_FIRST | MQGMO_LOCK;
    next(&others[2], handles[2], first).unwrap();
    nothing();
    next(&others[2], handles[2], MQGMO_UNLOCK).unwrap();
    found();
    // Too long for the getter's buffer.
    put(0, "red", 5, 0);
    let (mut short, mut how) = (md(0), gmo(0));
    let get = s.get(red, &mut short, &mut how, 1);
    let warning = posthaste_env::block_on(get).unwrap().warning;
    assert_eq!(warning, Reason::TRUNCATED_MSG_FAILED);
    found();
    nothing();
    w.qm().check().unwrap();
}
