//! Each module as a row of calls: what it does when all is well, and when something is not.

use std::cell::Cell;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use posthaste_mqi::constants::{MQMI_NONE, MQPMO_ASYNC_RESPONSE, MQPMO_SYNCPOINT};
use posthaste_mqi::{Hobj, MsgId, Sts};

use super::*;
use crate::drive::carrier::Called;
use crate::drive::connect::Way;
use crate::workload::{Destinations, Shapes, Syncpoint};

/// Answers calls as a script says, `call; call > answer; ...`. Behind the last one it never answers.
struct Play {
    script: RefCell<VecDeque<String>>,
    share: Rc<Share>,
    /// Queues by their handles.
    opened: RefCell<Vec<Name>>,
    /// What the next message identifier is made of.
    id: Cell<u8>,
    /// Puts since the last MQSTAT.
    puts: Cell<i32>,
    /// Iterations seen that are not counted yet, and when iterations began, each moment once.
    iterations: Cell<usize>,
    begun: RefCell<Vec<Nanos>>,
}

impl Play {
    /// What the script answers to a call.
    fn says(&self, call: &str) -> Option<String> {
        let next = self.script.borrow_mut().pop_front()?;
        let (expected, answer) = next.split_once(" > ").unwrap_or((&next, ""));
        assert_eq!(call, expected, "{} calls before the end", self.left());
        if answer == "last" {
            self.share.control().end();
        }
        Some(answer.to_owned())
    }

    async fn answer(&self, call: &str) -> String {
        match self.says(call) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    fn left(&self) -> usize {
        self.script.borrow().len()
    }
}

fn of(id: &CorrelId) -> String {
    match id[0] {
        0 => String::new(),
        b'P' => " of its own".to_owned(),
        first => format!(" of {first}"),
    }
}

impl Carrier for &Play {
    async fn open(&mut self, queue: &Queue, _: i32) -> Called<Hobj> {
        self.answer(&format!("open {}", queue.name.text())).await;
        let mut opened = self.opened.borrow_mut();
        opened.push(queue.name);
        Ok(Hobj(i32::try_from(opened.len() - 1).unwrap()))
    }

    async fn put(&mut self, put: &Put<'_>) -> Called<MsgId> {
        let call = match put.to.handle {
            Some(_) => "put",
            None => "put1",
        };
        let again = match put.data {
            Some(_) => "",
            None => " again",
        };
        let (to, of) = (put.to.name.text(), of(&put.correl_id));
        self.answer(&format!("{call} {to}{of}{again}")).await;
        self.puts.set(self.puts.get() + 1);
        self.id.set(self.id.get().wrapping_add(1));
        match self.share.workload().asynchronous {
            true => Ok(MQMI_NONE),
            false => Ok([self.id.get(); 24]),
        }
    }

    async fn get(&mut self, get: &Get, message: &mut Message) -> Called<Got> {
        let from = self.opened.borrow()[get.from.0 as usize]
            .text()
            .into_owned();
        let of = of(&get.correl_id);
        let mut call = format!("get {from}{of}");
        if (get.wait_ms, get.buffer) != (1_000, 10) {
            call.push_str(&format!(" {} ms {} bytes", get.wait_ms, get.buffer));
        }
        let answer = self.answer(&call).await;
        Ok(match answer.as_str() {
            "none" => Got::Nothing,
            "none any more" => {
                self.share.control().end();
                Got::Nothing
            }
            "long" => Got::TooLong(5000),
            reply_to => {
                *message = Message {
                    msg_id: [5; 24],
                    correl_id: [105; 24],
                    reply_to: Name::new(match reply_to {
                        "" => "REPLY.Q",
                        "nowhere" => "",
                        named => named,
                    }),
                    reply_to_q_mgr: Name::new("QM2"),
                };
                Got::Message
            }
        })
    }

    async fn commit(&mut self) -> Called<()> {
        self.answer("commit").await;
        Ok(())
    }

    async fn stat(&mut self) -> Called<Sts> {
        let failed = i32::from(self.answer("stat").await == "one failed");
        Ok(Sts {
            put_success_count: self.puts.take() - failed - 1,
            put_warning_count: 1,
            put_failure_count: failed,
            reason: Reason::Q_FULL.0,
            ..Sts::default()
        })
    }

    async fn disconnect(self) -> Called<()> {
        self.answer("disconnect").await;
        Ok(())
    }

    async fn pause(&mut self, until: Option<Nanos>) -> Called<()> {
        assert_eq!(until, None);
        self.answer("ready").await;
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.share.control().now()
    }

    fn rested(&mut self) {
        let done = self.share.done.borrow();
        // Whoever rests without one counts those before.
        let seen = self.iterations.replace(done.len());
        let what = match done.get(seen) {
            None => "rest".to_owned(),
            Some(iteration) => {
                let from = iteration.latency.map(|latency| {
                    let (began, mut begun) = (iteration.at - latency, self.begun.borrow_mut());
                    let known = begun.iter().position(|known| *known == began);
                    format!(
                        " from {}",
                        known.unwrap_or_else(|| {
                            begun.push(began);
                            begun.len() - 1
                        })
                    )
                });
                let open = match iteration.open {
                    0 => String::new(),
                    open => format!(", {open} open"),
                };
                format!("iterated{}{open}", from.unwrap_or_default())
            }
        };
        drop(done);
        // Between iterations nothing is waited for.
        self.says(&what);
    }
}

/// Plays a script to its end; gives the failures, and what is counted for good.
fn play(workload: &Workload, script: &str) -> (Vec<LabError>, u64) {
    let control = Arc::new(Control::new(1, Instant::now()));
    control.go();
    let group = Group {
        workload: Arc::new(workload.clone()),
        way: Way::Bare(SocketAddr::from(([127, 0, 0, 1], 0)), false),
        data: Arc::from(*b"0123456789"),
        control: control.clone(),
    };
    let calls = script.split(';').map(|call| call.trim().to_owned());
    let tally = Arc::new(Tally::new(1));
    let play = Play {
        script: RefCell::new(calls.collect()),
        share: Share::new(group, tally.clone()),
        opened: RefCell::default(),
        id: Cell::new(0),
        puts: Cell::new(0),
        iterations: Cell::new(0),
        begun: RefCell::default(),
    };
    let share = play.share.clone();
    let application = Application::new(&play, "QM1".to_owned(), share, (0, 0));
    {
        let life = pin!(application.live());
        let _ = life.poll(&mut Context::from_waker(Waker::noop()));
    }
    assert_eq!(play.left(), 0, "{:?}", control.failures());
    play.share.count();
    let settled = tally.settled(&mut crate::measure::histogram());
    (control.failures().0, settled[0])
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
    let (failures, done) = play(
        &workload(Module::Requester),
        "open IN; open OUT; ready; put IN; get OUT of 1 > long; get OUT of 1 1000 ms 5000 bytes;
         iterated from 0; put IN; get OUT of 2 1000 ms 5000 bytes; iterated from 1 > last;
         disconnect",
    );
    assert_eq!((failures, done), (Vec::new(), 2));
}

#[test]
fn a_requester_in_syncpoint_commits_the_put_and_the_get() {
    play(
        &transacted(Module::Requester, 1),
        "open IN; open OUT; ready; put IN; commit; get OUT of 1; commit; iterated from 0 > last;
         disconnect",
    );
    let only_put = Workload {
        syncpoint: Syncpoint {
            put: true,
            get: false,
        },
        ..workload(Module::Requester)
    };
    play(
        &only_put,
        "open IN; open OUT; ready; put IN; commit; get OUT of 1; iterated from 0",
    );
}

#[test]
fn a_requester_waits_in_slices_and_gives_up_in_the_end() {
    let patient = Workload {
        get_wait: Some(Duration::from_millis(2_500)),
        ..workload(Module::Requester)
    };
    let (failures, done) = play(
        &patient,
        "open IN; open OUT; ready; put IN; get OUT of 1 > none; get OUT of 1 > none;
         get OUT of 1 500 ms 10 bytes > none; rest; put IN; get OUT of 2 > none any more; rest;
         disconnect",
    );
    let queue = "OUT".to_owned();
    assert_eq!((failures, done), (vec![LabError::NoReply { queue }], 0));
    let for_ever = Workload {
        get_wait: None,
        ..workload(Module::Requester)
    };
    let wait = "; get OUT of 1 > none".repeat(100);
    let script = format!("open IN; open OUT; ready; put IN{wait} any more; rest; disconnect");
    assert_eq!(play(&for_ever, &script), (Vec::new(), 0));
}

#[test]
fn a_requester_keeps_several_requests_under_way_and_waits_for_them_at_the_end() {
    let deep = Workload {
        queue_depth: 3,
        put1: true,
        ..workload(Module::Requester)
    };
    let (failures, done) = play(
        &deep,
        "open OUT; ready; put1 IN; put1 IN; put1 IN; get OUT of 1; iterated from 0; put1 IN;
         get OUT of 2; iterated from 0 > last; get OUT of 3; get OUT of 4 > none; disconnect",
    );
    assert_eq!((failures, done), (Vec::new(), 2));
    // When one did not come in its time, the others are not waited for one after the other at the end.
    let short = Workload {
        get_wait: Some(Duration::from_secs(1)),
        iterations: Some(1),
        ..deep
    };
    let (failures, done) = play(
        &short,
        "open OUT; ready; put1 IN; put1 IN; put1 IN; get OUT of 1 > none; rest; put1 IN;
         get OUT of 2; iterated from 0; get OUT of 3 > none; disconnect",
    );
    assert_eq!((failures.len(), done), (2, 1));
}

#[test]
fn a_requester_takes_any_reply_without_correlation() {
    let any = Workload {
        by_correlation_id: false,
        ..workload(Module::Requester)
    };
    play(&any, "open IN; open OUT; ready; put IN; get OUT");
}

#[test]
fn a_responder_replies_where_the_request_says() {
    play(
        &workload(Module::Responder),
        "open IN; ready; get IN > none; rest; get IN; open REPLY.Q; put REPLY.Q of 5 again;
         iterated; get IN; put REPLY.Q of 5 again; iterated > last; disconnect",
    );
    let by_name = Workload {
        put1: true,
        by_correlation_id: false,
        copy_request: false,
        ..workload(Module::Responder)
    };
    play(
        &by_name,
        "open IN; ready; get IN; put1 REPLY.Q of 105; iterated; get IN > nowhere;
         put1 OUT of 105; iterated",
    );
}

#[test]
fn a_responder_commits_get_and_put_as_one_and_what_is_left_when_it_is_idle() {
    let (failures, done) = play(
        &transacted(Module::Responder, 2),
        "open IN; ready; get IN; open REPLY.Q; put REPLY.Q of 5 again; iterated, 1 open; get IN;
         put REPLY.Q of 5 again; commit; iterated; get IN; put REPLY.Q of 5 again;
         iterated, 1 open; get IN > none; commit; rest; get IN; put REPLY.Q of 5 again;
         iterated, 1 open > last; commit; disconnect",
    );
    assert_eq!((failures, done), (Vec::new(), 4));
}

#[test]
fn a_responder_holds_only_so_many_reply_queues_open() {
    let mut script = "open IN; ready".to_owned();
    for number in 0..300 {
        script.push_str(&format!("; get IN > R{number}"));
        script.push_str(&match number < OPEN_REPLIES {
            true => format!("; open R{number}; put R{number} of 5 again"),
            false => format!("; put1 R{number} of 5 again"),
        });
        script.push_str("; iterated");
    }
    assert_eq!(OPEN_REPLIES, 200);
    play(&workload(Module::Responder), &script);
}

#[test]
fn a_sender_commits_its_batches_and_the_rest() {
    let (failures, done) = play(
        &transacted(Module::Sender, 2),
        "open D; ready; put D; iterated from 0, 1 open; put D; commit; iterated from 1; put D;
         iterated from 2, 1 open > last; commit; disconnect",
    );
    assert_eq!((failures, done), (Vec::new(), 3));
    let broken_off = "open D; ready; put D; iterated from 0, 1 open; put D";
    assert_eq!(play(&transacted(Module::Sender, 2), broken_off).1, 0);
}

#[test]
fn a_sender_asks_after_asynchronous_puts() {
    let asynchronous = Workload {
        asynchronous: true,
        ..workload(Module::Sender)
    };
    let put = Shapes::new(&asynchronous, 0).put;
    let options = put.pmo.options & (MQPMO_ASYNC_RESPONSE | MQPMO_SYNCPOINT);
    assert_eq!((options, put.answered), (MQPMO_ASYNC_RESPONSE, false));
    let mut script = "open D; ready; ".to_owned();
    for number in 1..=ASK_EVERY {
        script.push_str(&format!("put D; iterated, {number} open; "));
    }
    let all = format!(
        "{script}stat; put D; iterated, 1 open; put D; iterated, 2 open > last; stat; disconnect"
    );
    assert_eq!(play(&asynchronous, &all), (Vec::new(), ASK_EVERY + 2));
    let missing = format!("{script}stat > one failed");
    let (failures, done) = play(&asynchronous, &missing);
    assert_eq!(done, ASK_EVERY - 1);
    let failure = failures[0].to_string();
    assert!(
        failure.contains("MQPUT of D") && failure.contains("2053"),
        "{failure}"
    );
    assert!(failure.contains("tells of 1 asynchronous"), "{failure}");
}

#[test]
fn a_receiver_commits_its_batches_and_what_is_left_when_the_queue_is_empty() {
    let (failures, done) = play(
        &transacted(Module::Receiver, 2),
        "open D; ready; get D; iterated from 0, 1 open; get D > long; get D 1000 ms 5000 bytes;
         commit; iterated from 1; get D 1000 ms 5000 bytes; iterated from 2, 1 open;
         get D 1000 ms 5000 bytes > none; commit; rest; get D 1000 ms 5000 bytes;
         iterated from 3, 1 open > last; commit; disconnect",
    );
    assert_eq!((failures, done), (Vec::new(), 4));
}

#[test]
fn an_application_that_puts_and_gets_uses_its_own_identifier() {
    play(
        &transacted(Module::PutGet, 1),
        "open D; ready; put D of its own; commit; get D of its own; commit; iterated from 0;
         put D of its own; commit; get D of its own > none any more; rest; disconnect",
    );
    let any = Workload {
        by_correlation_id: false,
        put1: true,
        ..workload(Module::PutGet)
    };
    play(&any, "open D; ready; put1 D; get D; iterated from 0");
}
