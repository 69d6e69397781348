//! Each module as a row of steps: what it does when all is well, and when something is not.

use std::time::Duration;

use posthaste_mqi::constants::{MQMI_NONE, MQPMO_ASYNC_RESPONSE, MQPMO_SYNCPOINT};

use super::*;
use crate::workload::{Destinations, Syncpoint};

const ID: CorrelId = [9; 24];

/// A machine, and the number that the next message identifier is made of.
struct Play {
    machine: Machine,
    next_id: u8,
    now: Nanos,
    sts: Sts,
}

fn message(id: u8) -> Message {
    Message {
        msg_id: [id; 24],
        correl_id: [id + 100; 24],
        reply_to: Name::new("REPLY.Q"),
        reply_to_q_mgr: Name::new("QM2"),
    }
}

/// A step in a few words.
fn shown(step: &Step) -> String {
    let hex = |id: &CorrelId| match id[0] {
        0 => String::new(),
        first => format!(" of {first}"),
    };
    match step {
        Step::Open { slot, queue, .. } => format!("open {slot} {}", queue.text()),
        Step::Put(put) => {
            let to = match put.to {
                PutTarget::Open(slot) => format!("{slot}"),
                PutTarget::Named { queue, .. } => queue.text().into_owned(),
            };
            let body = match put.body {
                Body::Own => "",
                Body::Got => " again",
            };
            format!("put {to}{}{body}", hex(&put.correl_id))
        }
        Step::Get(get) => format!(
            "get {}{} {} ms {} bytes",
            get.slot,
            hex(&get.correl_id),
            get.wait_ms,
            get.buffer
        ),
        Step::Iterated { began: Some(began) } => format!("iterated from {began}"),
        Step::Iterated { began: None } => "iterated".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

impl Play {
    fn of(workload: &Workload) -> Play {
        Play {
            machine: Machine::new(workload, 0, ID).unwrap(),
            next_id: 0,
            now: 0,
            sts: Sts::default(),
        }
    }

    /// Answers as the words say: begin, next, last, done, put, got, none, ending, long, stat.
    fn answer(&mut self, word: &str) -> String {
        self.now += 10;
        let (sts, at) = (self.sts.clone(), self.now);
        let step = match word {
            "begin" => self.machine.next(Answer::Begin),
            "next" => self.machine.next(Answer::Next { at }),
            "last" => self.machine.next(Answer::Last),
            "done" => self.machine.next(Answer::Done),
            "put" => {
                self.next_id = self.next_id.wrapping_add(1);
                let msg_id = [self.next_id; 24];
                self.machine.next(Answer::Put { msg_id })
            }
            "sent" => self.machine.next(Answer::Put { msg_id: MQMI_NONE }),
            "got" => self.machine.next(Answer::Got(&message(5))),
            "none" => self.machine.next(Answer::NoMessage { ending: false }),
            "ending" => self.machine.next(Answer::NoMessage { ending: true }),
            "long" => self.machine.next(Answer::TooLong { length: 5000 }),
            "stat" => self.machine.next(Answer::Stat(&sts)),
            other => panic!("{other}"),
        };
        shown(&step)
    }

    /// `answer: step` on each line.
    fn script(&mut self, lines: &str) {
        for (number, line) in lines.lines().map(str::trim).enumerate() {
            if let Some((word, expected)) = line.split_once(": ") {
                assert_eq!(self.answer(word), expected, "line {number}: {line}");
            }
        }
    }
}

fn workload(module: Module) -> Workload {
    Workload {
        module,
        message_bytes: 10,
        requests: Destinations::one("IN"),
        replies: Destinations::one("OUT"),
        destinations: Destinations::one("D"),
        ..Workload::default()
    }
}

fn transacted(module: Module, batch: u32) -> Workload {
    Workload {
        syncpoint: Syncpoint::BOTH,
        batch,
        ..workload(module)
    }
}

#[test]
fn a_requester_waits_for_the_reply_to_its_request() {
    Play::of(&workload(Module::Requester)).script(
        "begin: open 0 IN
         done: open 1 OUT
         done: ready
         next: put 0
         put: get 1 of 1 1000 ms 10 bytes
         long: get 1 of 1 1000 ms 5000 bytes
         got: iterated from 40
         next: put 0
         put: get 1 of 2 1000 ms 5000 bytes
         got: iterated from 80
         last: finished",
    );
}

#[test]
fn a_requester_in_syncpoint_commits_the_put_and_the_get() {
    Play::of(&transacted(Module::Requester, 1)).script(
        "begin: open 0 IN
         done: open 1 OUT
         done: ready
         next: put 0
         put: commit
         done: get 1 of 1 1000 ms 10 bytes
         got: commit
         done: iterated from 40
         last: finished",
    );
    let only_put = Workload {
        syncpoint: Syncpoint {
            put: true,
            get: false,
        },
        ..workload(Module::Requester)
    };
    Play::of(&only_put).script(
        "begin: open 0 IN
         done: open 1 OUT
         done: ready
         next: put 0
         put: commit
         done: get 1 of 1 1000 ms 10 bytes
         got: iterated from 40",
    );
}

#[test]
fn a_requester_waits_in_slices_and_gives_up_in_the_end() {
    let patient = Workload {
        get_wait: Some(Duration::from_millis(2_500)),
        ..workload(Module::Requester)
    };
    let mut play = Play::of(&patient);
    play.script(
        "begin: open 0 IN
         done: open 1 OUT
         done: ready
         next: put 0
         put: get 1 of 1 1000 ms 10 bytes
         none: get 1 of 1 1000 ms 10 bytes
         none: get 1 of 1 500 ms 10 bytes
         none: unanswered { slot: 1 }
         next: put 0
         put: get 1 of 2 1000 ms 10 bytes
         ending: idle
         last: finished",
    );
    let for_ever = Workload {
        get_wait: None,
        ..workload(Module::Requester)
    };
    let mut play = Play::of(&for_ever);
    play.script("begin: open 0 IN\ndone: open 1 OUT\ndone: ready\nnext: put 0\nput: get 1 of 1 1000 ms 10 bytes");
    for _ in 0..100 {
        play.script("none: get 1 of 1 1000 ms 10 bytes");
    }
    play.script("ending: idle");
}

#[test]
fn a_requester_keeps_several_requests_under_way_and_waits_for_them_at_the_end() {
    let deep = Workload {
        queue_depth: 3,
        put1: true,
        ..workload(Module::Requester)
    };
    Play::of(&deep).script(
        "begin: open 1 OUT
         done: ready
         next: put IN
         put: put IN
         put: put IN
         put: get 1 of 1 1000 ms 10 bytes
         got: iterated from 30
         next: put IN
         put: get 1 of 2 1000 ms 10 bytes
         got: iterated from 30
         last: get 1 of 3 1000 ms 10 bytes
         got: get 1 of 4 1000 ms 10 bytes
         ending: idle
         last: finished",
    );
    // When one did not come in its time, the others are not waited for one after the other at the end.
    let short = Workload {
        get_wait: Some(Duration::from_secs(1)),
        ..deep
    };
    Play::of(&short).script(
        "begin: open 1 OUT
         done: ready
         next: put IN
         put: put IN
         put: put IN
         put: get 1 of 1 1000 ms 10 bytes
         none: unanswered { slot: 1 }
         last: get 1 of 2 1000 ms 10 bytes
         none: unanswered { slot: 1 }
         last: finished",
    );
}

#[test]
fn a_requester_takes_any_reply_without_correlation() {
    let any = Workload {
        by_correlation_id: false,
        ..workload(Module::Requester)
    };
    Play::of(&any).script(
        "begin: open 0 IN
         done: open 1 OUT
         done: ready
         next: put 0
         put: get 1 1000 ms 10 bytes",
    );
}

#[test]
fn a_responder_replies_where_the_request_says() {
    Play::of(&workload(Module::Responder)).script(
        "begin: open 0 IN
         done: ready
         next: get 0 1000 ms 10 bytes
         none: idle
         next: get 0 1000 ms 10 bytes
         got: open 1 REPLY.Q
         done: put 1 of 5 again
         put: iterated
         next: get 0 1000 ms 10 bytes
         got: put 1 of 5 again
         put: iterated
         last: finished",
    );
    let by_name = Workload {
        put1: true,
        by_correlation_id: false,
        copy_request: false,
        ..workload(Module::Responder)
    };
    Play::of(&by_name).script(
        "begin: open 0 IN
         done: ready
         next: get 0 1000 ms 10 bytes
         got: put REPLY.Q of 105
         put: iterated",
    );
}

#[test]
fn a_responder_commits_get_and_put_as_one_and_what_is_left_when_it_is_idle() {
    let mut play = Play::of(&transacted(Module::Responder, 2));
    play.script(
        "begin: open 0 IN
         done: ready
         next: get 0 1000 ms 10 bytes
         got: open 1 REPLY.Q
         done: put 1 of 5 again
         put: iterated
         next: get 0 1000 ms 10 bytes
         got: put 1 of 5 again
         put: commit",
    );
    assert_eq!(
        play.machine.uncommitted(),
        1,
        "the second is not counted yet"
    );
    play.script(
        "done: iterated
         next: get 0 1000 ms 10 bytes
         got: put 1 of 5 again
         put: iterated
         next: get 0 1000 ms 10 bytes
         none: commit
         done: idle",
    );
    assert_eq!(play.machine.uncommitted(), 0);
    play.script(
        "next: get 0 1000 ms 10 bytes
         got: put 1 of 5 again
         put: iterated
         last: commit
         done: finished",
    );
}

#[test]
fn a_responder_holds_only_so_many_reply_queues_open() {
    let mut play = Play::of(&workload(Module::Responder));
    play.script("begin: open 0 IN\ndone: ready");
    let mut opened = 0;
    for number in 0..300 {
        let request = Message {
            reply_to: Name::new(&format!("R{number}")),
            ..message(1)
        };
        play.machine.next(Answer::Next { at: 0 });
        match play.machine.next(Answer::Got(&request)) {
            Step::Open { slot, .. } => {
                opened += 1;
                assert_eq!(slot, opened);
                assert_eq!(
                    shown(&play.machine.next(Answer::Done)),
                    format!("put {slot} of 1 again")
                );
            }
            Step::Put(put) => assert!(matches!(put.to, PutTarget::Named { .. })),
            other => panic!("{other:?}"),
        }
        play.answer("put");
    }
    assert_eq!(opened, 200);
}

#[test]
fn a_sender_commits_its_batches_and_the_rest() {
    let mut play = Play::of(&transacted(Module::Sender, 2));
    play.script(
        "begin: open 0 D
         done: ready
         next: put 0
         put: iterated from 30
         next: put 0
         put: commit
         done: iterated from 50
         next: put 0
         put: iterated from 80",
    );
    assert_eq!(play.machine.uncommitted(), 1);
    play.script("last: commit\ndone: finished");
    assert_eq!(play.machine.uncommitted(), 0);
}

#[test]
fn a_sender_asks_after_asynchronous_puts() {
    let mut play = Play::of(&Workload {
        asynchronous: true,
        ..workload(Module::Sender)
    });
    let options = play.machine.put_shape().pmo.options;
    assert_eq!(options & MQPMO_ASYNC_RESPONSE, MQPMO_ASYNC_RESPONSE);
    assert_eq!(options & MQPMO_SYNCPOINT, 0);
    assert!(!play.machine.put_shape().answered);
    play.script("begin: open 0 D\ndone: ready");
    for _ in 0..ASK_EVERY {
        play.script("next: put 0\nsent: iterated");
    }
    assert_eq!(play.machine.uncommitted(), ASK_EVERY);
    play.script("next: stat");
    play.sts.put_success_count = i32::try_from(ASK_EVERY).unwrap() - 1;
    play.sts.put_warning_count = 1;
    play.script("stat: put 0\nsent: iterated\nnext: put 0\nsent: iterated\nlast: stat");
    play.sts.put_success_count = 1;
    play.sts.put_warning_count = 0;
    play.sts.put_failure_count = 1;
    play.sts.reason = Reason::Q_FULL.0;
    play.script("stat: rejected { count: 1, reason: mqrc_q_full [2053] }");
}

#[test]
fn a_receiver_commits_its_batches_and_what_is_left_when_the_queue_is_empty() {
    let mut play = Play::of(&transacted(Module::Receiver, 2));
    play.script(
        "begin: open 0 D
         done: ready
         next: get 0 1000 ms 10 bytes
         got: iterated from 30
         next: get 0 1000 ms 10 bytes
         long: get 0 1000 ms 5000 bytes
         got: commit
         done: iterated from 50
         next: get 0 1000 ms 5000 bytes
         got: iterated from 90
         next: get 0 1000 ms 5000 bytes
         none: commit
         done: idle
         next: get 0 1000 ms 5000 bytes
         got: iterated from 140",
    );
    assert_eq!(play.machine.uncommitted(), 1);
    play.script("last: commit\ndone: finished");
    assert_eq!(play.machine.uncommitted(), 0);
}

#[test]
fn an_application_that_puts_and_gets_uses_its_own_identifier() {
    Play::of(&transacted(Module::PutGet, 1)).script(
        "begin: open 0 D
         done: ready
         next: put 0 of 9
         put: commit
         done: get 0 of 9 1000 ms 10 bytes
         got: commit
         done: iterated from 30
         next: put 0 of 9
         put: commit
         done: get 0 of 9 1000 ms 10 bytes
         ending: idle
         last: finished",
    );
    let any = Workload {
        by_correlation_id: false,
        put1: true,
        ..workload(Module::PutGet)
    };
    Play::of(&any).script(
        "begin: open 0 D
         done: ready
         next: put D
         put: get 0 1000 ms 10 bytes
         got: iterated from 30",
    );
}
