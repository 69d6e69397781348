//! Consumers: credit, several on one connection beside its calls, deliveries that are accepted, given back or left.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_engine::{Consumer, Count, Delivery, EndMode, Session, Start};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason, Xid};
use world::*;

fn consumer(s: &Session, h: Hobj, options: i32) -> Consumer {
    s.consumer(h, &md(0), &gmo(options)).unwrap()
}

/// What comes next, if it is there.
fn poll(consumer: &mut Consumer) -> Option<Result<Delivery, Reason>> {
    Call::attempt(consumer.next())
}

/// The text of what comes next, accepted for good.
fn accepted(consumer: &mut Consumer) -> Option<String> {
    let delivery = poll(consumer)?.unwrap();
    let text = text(&delivery);
    block_on(delivery.accept()).unwrap();
    Some(text)
}

fn text(delivery: &Delivery) -> String {
    String::from_utf8(delivery.data().to_vec()).unwrap()
}

fn ended(consumer: &mut Consumer) -> Reason {
    poll(consumer).unwrap().map(|_| ()).unwrap_err()
}

fn one() -> (World, Session, Hobj) {
    let w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    (w, s, h)
}

#[test]
fn a_consumer_is_given_as_many_messages_as_it_has_credit_for() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let (w, s, h) = one();
        // Two are there, three come.
        put(&s, h, persistence, 0, b"0");
        put(&s, h, persistence, 0, b"1");
        let mut c = consumer(&s, h, 0);
        assert!(poll(&mut c).is_none());
        c.credit(4);
        assert_eq!(accepted(&mut c).unwrap(), "0");
        assert_eq!(accepted(&mut c).unwrap(), "1");
        assert!(poll(&mut c).is_none());
        for text in [b"2", b"3", b"4"] {
            put(&s, h, persistence, 0, text);
        }
        // One is left, for want of credit, and anybody may have it.
        assert_eq!(accepted(&mut c).unwrap(), "2");
        assert_eq!(accepted(&mut c).unwrap(), "3");
        assert!(poll(&mut c).is_none());
        assert_eq!(w.depth(LOCAL), 1);
        // Armed again, it finds what has come meanwhile.
        c.credit(1);
        assert_eq!(accepted(&mut c).unwrap(), "4");
        assert_eq!(w.depth(LOCAL), 0);
    }
}

#[test]
fn credit_wakes_a_consumer_that_waits_for_it() {
    let (_w, s, h) = one();
    put(&s, h, NOT_PERSISTENT, 0, b"there");
    let c = std::rc::Rc::new(std::cell::RefCell::new(consumer(&s, h, 0)));
    let polled = c.clone();
    let mut waiting = Call::begin(std::future::poll_fn(move |context| {
        polled.borrow_mut().poll_next(context)
    }));
    assert_eq!(waiting.woken(), 0);
    c.borrow().credit(1);
    assert_eq!(waiting.woken(), 1);
    assert_eq!(text(&waiting.poll().unwrap().unwrap()), "there");
}

#[test]
fn several_of_one_connection_take_turns_beside_a_call_that_waits() {
    let (w, s, h) = one();
    let mut both = [consumer(&s, h, 0), consumer(&s, h, 0)];
    for c in &mut both {
        c.credit(10);
        assert!(poll(c).is_none());
    }
    let by = Gmo {
        match_options: MQMO_MATCH_CORREL_ID,
        ..gmo(0)
    };
    let own = Md {
        correl_id: [7; 24],
        ..md(0)
    };
    // A call of the connection: it is not in the consumers' way, nor they in its.
    let mut call = wait(&s, h, own.clone(), by);
    let other = w.connect();
    let o = open(&other, LOCAL, MQOO_OUTPUT);
    for n in 0..6 {
        put(&other, o, NOT_PERSISTENT, 0, n.to_string().as_bytes());
    }
    for (c, texts) in both.iter_mut().zip([["0", "2", "4"], ["1", "3", "5"]]) {
        for text in texts {
            assert_eq!(accepted(c).unwrap(), text);
        }
    }
    send(&other, o, own, 0, b"for the call");
    assert_eq!(call.poll().unwrap().unwrap().text(), "for the call");
}

#[test]
fn what_is_not_accepted_goes_back_as_if_it_had_never_left() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let (w, s, h) = one();
        let mut c = consumer(&s, h, 0);
        c.credit(3);
        assert!(poll(&mut c).is_none());
        for text in [b"0", b"1", b"2"] {
            put(&s, h, persistence, 0, text);
        }
        assert_eq!(w.depth(LOCAL), 0);
        // One is out, two have not been handed on.
        let out = poll(&mut c).unwrap().unwrap();
        assert_eq!(out.descriptor().backout_count, 0);
        drop(c);
        assert_eq!(w.depth(LOCAL), 2);
        drop(out);
        assert_eq!(w.depth(LOCAL), 3);
        let mut texts = Vec::new();
        while let Ok((md, data)) = get(&s, h, 0) {
            assert_eq!(md.backout_count, 0);
            texts.push(data[0]);
        }
        texts.sort_unstable();
        assert_eq!(texts, b"012");
        w.qm().check().unwrap();
    }
}

#[test]
fn a_delivery_that_goes_back_is_the_next_consumers() {
    let (_w, s, h) = one();
    let [mut first, mut second] = [consumer(&s, h, 0), consumer(&s, h, 0)];
    first.credit(1);
    assert!(poll(&mut first).is_none());
    put(&s, h, NOT_PERSISTENT, 0, b"x");
    let delivery = poll(&mut first).unwrap().unwrap();
    second.credit(1);
    assert!(poll(&mut second).is_none());
    drop(delivery);
    assert_eq!(accepted(&mut second).unwrap(), "x");
}

#[test]
fn deliveries_can_be_accepted_in_the_unit_of_work() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let (mut w, s, h) = one();
        // Without the option a message that never was on the queue gets its place there when it is accepted.
        for options in [MQGMO_SYNCPOINT, 0] {
            let mut c = consumer(&s, h, options);
            c.credit(2);
            assert!(poll(&mut c).is_none());
            put(&s, h, persistence, 0, b"undone");
            block_on(poll(&mut c).unwrap().unwrap().accept_in_unit()).unwrap();
            backout(&s);
            let again = poll(&mut c).unwrap().unwrap();
            assert_eq!(again.descriptor().backout_count, 1);
            block_on(again.accept_in_unit()).unwrap();
            commit(&s);
        }
        assert_eq!(w.depth(LOCAL), 0);
        drop(s);
        w.crash();
        assert_eq!(w.depth(LOCAL), 0);
    }
}

#[test]
fn an_acceptance_that_is_dropped_while_it_is_forced_has_happened() {
    let mut w = World::pausable();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, 0, b"once");
    let mut c = consumer(&s, h, 0);
    c.credit(1);
    let delivery = poll(&mut c).unwrap().unwrap();
    w.stage.pause();
    drop(Call::begin(delivery.accept()));
    w.stage.resume();
    until("the end of the message", || {
        let status = w.status(LOCAL);
        status.depth == 0 && !status.uncommitted
    });
    w.crash();
    assert_eq!(w.depth(LOCAL), 0);
}

/// STOP CONN waits for a delivery that is being accepted, the application goes meanwhile, and nobody waits any longer.
#[test]
fn an_application_that_goes_while_its_end_waits_leaves_no_unit_of_work() {
    let w = World::pausable();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, 0, b"once");
    put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"never");
    let mut c = consumer(&s, h, 0);
    c.credit(1);
    let delivery = poll(&mut c).unwrap().unwrap();
    w.stage.pause();
    let accepting = Call::begin(delivery.accept());
    let (qm, number) = (w.qm().clone(), s.status().number);
    let stopping = Call::begin(async move { qm.stop_connection(number).await });
    drop((c, s));
    drop(stopping);
    w.stage.resume();
    accepting.finish().unwrap();
    assert_eq!(w.qm().check(), Ok(()));
    assert!(!w.status(LOCAL).uncommitted);
    assert_eq!((w.depth(LOCAL), w.qm().connections()), (0, 0));
}

#[test]
fn consumers_end_with_their_handle_and_their_connection() {
    let (w, s, h) = one();
    let other = w.connect();
    let o = open(&other, LOCAL, MQOO_OUTPUT);
    let [mut by_handle, mut by_connection] = [consumer(&s, h, 0), consumer(&s, h, 0)];
    let g = open(&s, LOCAL, IN_OUT);
    let mut of_another = consumer(&s, g, 0);
    for c in [&mut by_handle, &mut of_another] {
        c.credit(1);
        assert!(poll(c).is_none());
    }
    put(&other, o, NOT_PERSISTENT, 0, b"given");
    put(&other, o, NOT_PERSISTENT, 0, b"given too");
    close(&s, h, MQCO_NONE).unwrap();
    assert_eq!(ended(&mut by_handle), Reason::HOBJ_ERROR);
    assert_eq!(ended(&mut by_connection), Reason::HOBJ_ERROR);
    assert_eq!(w.depth(LOCAL), 1);
    let out = poll(&mut of_another).unwrap().unwrap();
    block_on(s.disconnect()).unwrap();
    assert_eq!(ended(&mut of_another), Reason::HCONN_ERROR);
    // Nobody's any more: it goes back.
    assert_eq!(block_on(out.accept()), Err(Reason::HCONN_ERROR));
    assert_eq!(w.depth(LOCAL), 2);
}

#[test]
fn those_who_asked_are_told_that_it_quiesces() {
    let (w, s, h) = one();
    let mut asked = consumer(&s, h, MQGMO_FAIL_IF_QUIESCING);
    let mut not = consumer(&s, h, 0);
    for c in [&mut asked, &mut not] {
        c.credit(1);
        assert!(poll(c).is_none());
    }
    s.quiesce();
    assert_eq!(ended(&mut asked), Reason::CONNECTION_QUIESCING);
    assert!(poll(&mut not).is_none());
    w.qm().quiesce(EndMode::Controlled);
    assert!(poll(&mut not).is_none());
    s.give_up_waits();
    assert_eq!(ended(&mut not), Reason::CONNECTION_STOPPING);
    let gone = s.consumer(h, &md(0), &gmo(0)).map(|_| ());
    assert_eq!(gone, Err(Reason::CONNECTION_STOPPING));
}

/// It has looked at the queue, and is not listed yet among those who wait, when the queue manager begins to quiesce.
#[test]
fn one_that_looks_meanwhile_is_told_too_that_it_quiesces() {
    let w = World::with(|c| c.pq_buffer = 1);
    let (s, other) = (w.connect(), w.connect());
    let [h, o] = [&s, &other].map(|s| open(s, LOCAL, IN_OUT));
    put(&s, h, PERSISTENT, 0, b"in the file");
    let mut c = consumer(&s, h, MQGMO_FAIL_IF_QUIESCING);
    c.credit(1);
    let qm = w.qm().clone();
    *w.stage.on_queue_read.lock() = Some(Box::new(move || {
        get(&other, o, 0).unwrap();
        qm.quiesce(EndMode::Controlled);
    }));
    assert_eq!(ended(&mut c), Reason::Q_MGR_QUIESCING);
}

#[test]
fn an_end_in_order_gives_back_what_is_out_and_waits_for_what_is_accepted() {
    let mut w = World::pausable();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for text in [b"0", b"1", b"2"] {
        put(&s, h, PERSISTENT, 0, text);
    }
    let mut c = consumer(&s, h, 0);
    c.credit(3);
    let [first, second] = [(); 2].map(|()| poll(&mut c).unwrap().unwrap());
    w.stage.pause();
    let mut accepting = Call::begin(first.accept());
    let qm = w.qm().clone();
    let mut ending = Call::begin(async move { qm.end(EndMode::Immediate).await });
    assert!(accepting.poll().is_none() && ending.poll().is_none());
    w.stage.resume();
    assert_eq!(accepting.finish(), Ok(()));
    ending.finish().unwrap();
    assert_eq!(block_on(second.accept()), Err(Reason::CONNECTION_BROKEN));
    drop((c, s));
    w.end_threads();
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(drain(&s, h), ["1", "2"]);
}

#[test]
fn what_expires_between_hand_over_and_delivery_costs_no_credit() {
    let (w, s, h) = one();
    let mut c = consumer(&s, h, 0);
    c.credit(1);
    assert!(poll(&mut c).is_none());
    let brief = Md {
        expiry: 1,
        ..md(PERSISTENT)
    };
    send(&s, h, brief, 0, b"brief");
    let clock = &w.env.clock;
    let gone = clock.monotonic() + 150_000_000;
    until("it has expired", || clock.monotonic() > gone);
    assert!(poll(&mut c).is_none());
    put(&s, h, PERSISTENT, 0, b"lasting");
    assert_eq!(accepted(&mut c).unwrap(), "lasting");
    assert_eq!(w.depth(LOCAL), 0);
}

#[test]
fn a_consumer_waits_on_while_gets_are_inhibited() {
    let (w, s, h) = one();
    let mut c = consumer(&s, h, 0);
    c.credit(2);
    assert!(poll(&mut c).is_none());
    put(&s, h, PERSISTENT, 0, b"given before");
    w.run(&format!("ALTER QLOCAL({LOCAL}) GET(DISABLED)"));
    put(&s, h, PERSISTENT, 0, b"later");
    assert_eq!(accepted(&mut c).unwrap(), "given before");
    assert!(poll(&mut c).is_none());
    assert!(c.is_inhibited());
    w.run(&format!("ALTER QLOCAL({LOCAL}) GET(ENABLED)"));
    assert_eq!(accepted(&mut c).unwrap(), "later");
    assert!(!c.is_inhibited());
}

/// Who is held back is woken when gets are allowed, of the queue and of the alias it came by, and by what else ends it.
#[test]
fn a_consumer_that_is_held_back_is_woken() {
    let (w, s, h) = one();
    w.run(&format!("DEFINE QALIAS(OTHER) TARGET({LOCAL})"));
    let by_alias = open(&s, "OTHER", MQOO_INPUT_SHARED);
    let queue = format!("QLOCAL({LOCAL})");
    for (by, object) in [(h, queue.as_str()), (by_alias, "QALIAS(OTHER)")] {
        let mut c = consumer(&s, by, 0);
        c.credit(1);
        assert!(poll(&mut c).is_none());
        w.run(&format!("ALTER {object} GET(DISABLED)"));
        let mut waiting = Call::begin(async move { c.next().await });
        put(&s, h, PERSISTENT, 0, b"one");
        assert_eq!(waiting.woken(), 0, "{object}");
        w.run(&format!("ALTER {object} GET(ENABLED)"));
        assert_eq!(waiting.woken(), 1, "{object}");
        let delivery = waiting.poll().unwrap().unwrap();
        block_on(delivery.accept()).unwrap();
    }
    let mut c = consumer(&s, h, MQGMO_FAIL_IF_QUIESCING);
    c.credit(1);
    w.run(&format!("ALTER {queue} GET(DISABLED)"));
    let mut waiting = Call::begin(async move { c.next().await.map(|_| ()) });
    w.qm().quiesce(EndMode::Controlled);
    assert_eq!(waiting.woken(), 1);
    assert_eq!(waiting.poll().unwrap(), Err(Reason::Q_MGR_QUIESCING));
}

#[test]
fn what_a_consumer_cannot_be_is_refused() {
    let (_w, s, h) = one();
    let made = |md: &Md, gmo: &Gmo| s.consumer(h, md, gmo).map(|_| ()).unwrap_err();
    for options in [MQGMO_MSG_UNDER_CURSOR, MQGMO_LOGICAL_ORDER, MQGMO_CONVERT] {
        assert_eq!(made(&md(0), &gmo(options)), Reason::OPTIONS_ERROR);
    }
    let unknown = Gmo {
        match_options: 1 << 20,
        ..gmo(0)
    };
    assert_eq!(made(&md(0), &unknown), Reason::MATCH_OPTIONS_ERROR);
    let out = open(&s, LOCAL, MQOO_OUTPUT);
    let refused = |h| s.consumer(h, &md(0), &gmo(0)).map(|_| ()).unwrap_err();
    assert_eq!(refused(out), Reason::NOT_OPEN_FOR_INPUT);
    assert_eq!(refused(Hobj(77)), Reason::HOBJ_ERROR);
}

/// The end of a connection closes its handles; that is not what whoever asks for more is told.
#[test]
fn after_the_end_a_handle_is_not_said_to_be_wrong() {
    let (w, s, h) = one();
    let asked = |h| {
        let made = s.consumer(h, &md(0), &gmo(0)).map(|_| ());
        assert_eq!(made, s.check_open(h));
        made
    };
    assert_eq!(asked(h), Ok(()));
    assert_eq!(asked(Hobj(77)), Err(Reason::HOBJ_ERROR));
    block_on(w.qm().end(EndMode::Immediate)).unwrap();
    assert_eq!(asked(h), Err(Reason::CONNECTION_BROKEN));
    let (_w, other, h) = one();
    let ended = other.clone();
    block_on(other.disconnect()).unwrap();
    assert_eq!(ended.check_open(h), Err(Reason::HCONN_ERROR));
}

/// What goes back was not got, however often it is looked at.
#[test]
fn what_is_given_back_counts_as_no_get() {
    let (w, s, h) = one();
    put(&s, h, PERSISTENT, 0, b"four");
    let got = || {
        let counts = w.qm().counts();
        (counts.of(Count::Gets), counts.of(Count::GotBytes))
    };
    let mut c = consumer(&s, h, 0);
    for _ in 0..3 {
        c.credit(1);
        drop(poll(&mut c).unwrap().unwrap());
    }
    assert_eq!(got(), (0, 0));
    c.credit(1);
    assert_eq!(accepted(&mut c).unwrap(), "four");
    assert_eq!(got(), (1, 4));
}

/// A world whose log is full when a megabyte of it is held.
fn with_a_small_log() -> World {
    World::with_log_files(3, 1)
}

/// Fills the log until the unit of work that holds it is backed out.
fn exhaust(w: &World) {
    w.run("DEFINE QLOCAL(FILLER) REPLACE");
    let before = w.message_count("AMQ7469W");
    let other = w.connect();
    let o = open(&other, "FILLER", IN_OUT);
    for _ in 0..1000 {
        put(&other, o, PERSISTENT, 0, &[7; 20_000]);
        next(&other, o, 0).unwrap();
        if w.message_count("AMQ7469W") > before {
            return;
        }
    }
    panic!("no unit of work was backed out");
}

/// Whoever makes no call before it is called would never learn, and never be called again. It is called in another unit of work,
/// which has its puts, and can only be backed out; a crash finds of it what MQCMIT says.
#[test]
fn a_listener_is_called_behind_a_backout_by_the_system() {
    for (persistence, ending) in [
        (PERSISTENT, "commit"),
        (PERSISTENT, "backout"),
        (PERSISTENT, "disconnect"),
        (PERSISTENT, "terminate"),
        (PERSISTENT, "crash"),
        (NOT_PERSISTENT, "commit"),
    ] {
        let mut w = with_a_small_log();
        w.run(&format!(
            "ALTER QLOCAL({LOCAL}) HARDENBO\nDEFINE QLOCAL(ANSWERS)"
        ));
        let (s, other) = (w.connect(), w.connect());
        let h = open(&s, LOCAL, IN_OUT);
        let answers = open(&s, "ANSWERS", MQOO_OUTPUT);
        put(&s, h, PERSISTENT, 0, b"one");
        put(&s, h, persistence, 0, b"two");
        let mut c = consumer(&s, h, MQGMO_SYNCPOINT);
        c.credit(1);
        let called = |c: &mut Consumer| {
            let delivery = poll(c).unwrap().unwrap();
            let of = (delivery.data(), delivery.descriptor().backout_count);
            block_on(delivery.accept_for_listener()).unwrap();
            of
        };
        assert_eq!(called(&mut c), ("one".into(), 0));
        exhaust(&w);
        c.credit(2);
        assert_eq!(called(&mut c), ("one".into(), 1));
        assert_eq!(called(&mut c), ("two".into(), 0));
        put(&s, answers, PERSISTENT, MQPMO_SYNCPOINT, b"answer");
        // Nobody else has them meanwhile.
        let o = open(&other, LOCAL, IN_OUT);
        assert_eq!(next(&other, o, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
        drop(c);
        match ending {
            "commit" => assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT)),
            "backout" => backout(&s),
            "disconnect" => {
                let done = block_on(s.disconnect()).unwrap();
                assert_eq!(done.warning, Reason::BACKED_OUT);
            }
            "terminate" => block_on(s.terminate()),
            _ => {}
        }
        drop((s, other));
        if persistence == PERSISTENT {
            w.crash();
        }
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        for expected in [("one", 2), ("two", 1)] {
            let got = next(&s, h, 0).unwrap();
            assert_eq!(
                (got.text().as_str(), got.md.backout_count),
                expected,
                "{ending}"
            );
        }
        assert_eq!(w.depth("ANSWERS"), 0);
        // It has learned, and goes on.
        put(&s, h, persistence, MQPMO_SYNCPOINT, b"three");
        commit(&s);
        assert_eq!(w.depth(LOCAL), 1);
    }
}

/// Of a branch it is the transaction manager that is to hear, and whoever gets hears by that.
#[test]
fn neither_a_branch_nor_the_unit_of_work_of_gets_is_replaced() {
    for branch in [true, false] {
        let w = with_a_small_log();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        put(&s, h, PERSISTENT, 0, b"one");
        let xid = Xid::new(1, b"global", b"branch").unwrap();
        if branch {
            block_on(s.start_branch(&xid, Start::New)).unwrap();
        }
        let mut c = consumer(&s, h, MQGMO_SYNCPOINT);
        c.credit(2);
        block_on(poll(&mut c).unwrap().unwrap().accept_for_listener()).unwrap();
        exhaust(&w);
        let again = poll(&mut c).unwrap().unwrap();
        let accepted = match branch {
            true => block_on(again.accept_for_listener()),
            false => block_on(again.accept_in_unit()),
        };
        assert_eq!(accepted, Err(Reason::BACKED_OUT));
        assert_eq!(w.depth(LOCAL), 1);
    }
}
