//! Illegal histories must be found, and legal ones must not.

use super::*;
use crate::history::{
    Answer, Close, Ending, Get, History, Id, NEVER, Outcome, Put, Seen, Snapshot, Stamp, Unit,
    UnitId,
};

const TRAITS: [Traits; 3] = [
    Traits {
        name: "PLAIN",
        by_priority: true,
        hardened: false,
        keeps: false,
    },
    Traits {
        name: "HARD",
        by_priority: true,
        hardened: true,
        keeps: false,
    },
    Traits {
        name: "FIFO",
        by_priority: false,
        hardened: false,
        keeps: false,
    },
];

/// A record being written; every call takes two stamps.
struct Scene {
    ledger: Ledger,
    now: Stamp,
    round: Round,
}

fn id(worker: u32, number: u32) -> Id {
    Id { worker, number }
}

fn unit(worker: u32, number: u32) -> UnitId {
    UnitId { worker, number }
}

impl Scene {
    fn new() -> Scene {
        Scene {
            ledger: Ledger::default(),
            now: 0,
            round: Scene::blank(1),
        }
    }
    fn blank(number: u32) -> Round {
        Round {
            number,
            history: History::default(),
            close: Close::Killed,
            snapshot: Snapshot {
                queues: vec![Vec::new(); TRAITS.len()],
                taken_ms: 10_000,
            },
        }
    }
    fn tick(&mut self) -> Stamp {
        self.now += 1;
        self.now
    }
    /// A persistent put of priority 4 on queue 0, answered.
    fn put(&mut self, of: Id, in_unit: Option<UnitId>) -> &mut Put {
        let (called, replied) = (self.tick(), self.tick());
        self.enlist(in_unit, called);
        self.round.history.puts.push(Put {
            id: of,
            queue: 0,
            persistent: true,
            priority: 4,
            expires: None,
            not_before: None,
            unit: in_unit,
            called,
            replied,
            answer: Answer::Done,
        });
        self.round.history.puts.last_mut().unwrap()
    }
    fn get(&mut self, of: Id, in_unit: Option<UnitId>) -> &mut Get {
        let (called, replied) = (self.tick(), self.tick());
        self.enlist(in_unit, called);
        self.round.history.gets.push(Get {
            queue: 0,
            unit: in_unit,
            called,
            replied,
            called_ms: 0,
            replied_ms: 0,
            plain: true,
            outcome: Outcome::Delivered {
                id: of,
                backouts: 0,
            },
        });
        self.round.history.gets.last_mut().unwrap()
    }
    fn enlist(&mut self, in_unit: Option<UnitId>, called: Stamp) {
        let Some(id) = in_unit else {
            return;
        };
        let units = &mut self.round.history.units;
        match units.iter_mut().find(|u| u.id == id) {
            Some(unit) => unit.alive = called,
            None => units.push(Unit {
                id,
                alive: called,
                ending: Ending::Lost,
                branch: None,
            }),
        }
    }
    fn end(&mut self, id: UnitId, ending: impl Fn(Stamp, Stamp) -> Ending) {
        let (called, replied) = (self.tick(), self.tick());
        let units = &mut self.round.history.units;
        let unit = units.iter_mut().find(|u| u.id == id).unwrap();
        unit.ending = ending(called, replied);
    }
    fn commit(&mut self, id: UnitId) {
        self.end(id, |called, replied| Ending::Committed { called, replied });
    }
    fn doubt(&mut self, id: UnitId) {
        self.end(id, |called, _| Ending::InDoubt { called });
    }
    fn back(&mut self, id: UnitId) {
        self.end(id, |_, replied| Ending::BackedOut { replied });
    }
    /// A get outside syncpoint that got no reply.
    fn dangling(&mut self, queue: u8) {
        let called = self.tick();
        let get = self.get(id(0, 0), None);
        get.called = called;
        get.replied = NEVER;
        get.queue = queue;
        get.outcome = Outcome::Unknown;
    }
    fn found(&mut self, of: Id) -> &mut Seen {
        self.found_on(0, of)
    }
    fn found_on(&mut self, queue: usize, of: Id) -> &mut Seen {
        self.round.snapshot.queues[queue].push(Seen {
            id: of,
            persistent: true,
            priority: 4,
            backouts: 0,
        });
        self.round.snapshot.queues[queue].last_mut().unwrap()
    }
    fn judge(&mut self) -> Vec<Broken> {
        let next = Scene::blank(self.round.number + 1);
        let round = std::mem::replace(&mut self.round, next);
        let found = judge(&mut self.ledger, &TRAITS, &round);
        found.iter().map(|v| v.broken).collect()
    }
}

const NONE: [Broken; 0] = [];
const A: Id = Id {
    worker: 1,
    number: 1,
};
const B: Id = Id {
    worker: 1,
    number: 2,
};
const C: Id = Id {
    worker: 2,
    number: 1,
};

#[test]
fn acknowledged_messages_are_there_or_delivered() {
    let mut s = Scene::new();
    s.put(A, None);
    s.put(B, None);
    s.get(A, None);
    s.found(B);
    assert_eq!(s.judge(), NONE);
    // The next round finds B gone: nobody took it.
    assert_eq!(s.judge(), [Broken::Lost]);
    // It is reported once.
    assert_eq!(s.judge(), NONE);
}

#[test]
fn what_is_delayed_comes_at_its_time_and_is_owed_as_anything_else() {
    let delayed = |until: u64| {
        let mut s = Scene::new();
        s.put(A, None).not_before = Some(until);
        s
    };
    for (replied_ms, expected) in [(979, vec![Broken::Early]), (980, vec![])] {
        let mut s = delayed(1_000);
        s.get(A, None).replied_ms = replied_ms;
        assert_eq!(s.judge(), expected);
    }
    // The scene's queues are browsed after ten seconds.
    for (until, expected) in [(10_021, vec![Broken::Early]), (10_020, vec![])] {
        let mut s = delayed(until);
        s.found(A);
        assert_eq!(s.judge(), expected);
    }
    let mut s = delayed(1_000);
    assert_eq!(s.judge(), [Broken::Lost]);
    let mut s = delayed(1_000);
    for _ in 0..2 {
        s.get(A, None).replied_ms = 2_000;
    }
    assert_eq!(s.judge(), [Broken::Repeated]);
}

#[test]
fn what_is_delayed_may_be_overtaken_and_overtakes_nobody() {
    // B is put later, and comes first; so it stands in front of A in the next round too.
    let mut s = Scene::new();
    s.put(A, None).not_before = Some(100);
    s.put(B, None);
    s.found(B);
    s.found(A);
    assert_eq!(s.judge(), NONE);
    s.found(B);
    s.found(A);
    assert_eq!(s.judge(), NONE);
    let mut s = Scene::new();
    s.put(A, None);
    s.put(B, None).not_before = Some(100);
    s.get(B, None).replied_ms = 200;
    s.found(A);
    assert_eq!(s.judge(), [Broken::Misordered]);
}

#[test]
fn a_lost_put_is_found() {
    let mut s = Scene::new();
    s.put(A, None);
    assert_eq!(s.judge(), [Broken::Lost]);
    let mut s = Scene::new();
    s.put(A, Some(unit(1, 0)));
    s.commit(unit(1, 0));
    assert_eq!(s.judge(), [Broken::Lost]);
    // In a quiet round a message that is not persistent has to be there as well.
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    s.round.close = Close::Quiet;
    assert_eq!(s.judge(), [Broken::Lost]);
}

#[test]
fn a_call_in_flight_explains_one_message_of_its_queue() {
    let mut s = Scene::new();
    s.put(A, None);
    s.dangling(0);
    assert_eq!(s.judge(), NONE);
    let mut s = Scene::new();
    s.put(A, None);
    s.put(B, None);
    s.dangling(0);
    assert_eq!(s.judge(), [Broken::Lost, Broken::Lost]);
    let mut s = Scene::new();
    s.put(A, None);
    s.dangling(1);
    assert_eq!(s.judge(), [Broken::Lost]);
    // In syncpoint it takes nothing.
    let mut s = Scene::new();
    s.put(A, None);
    s.dangling(0);
    s.round.history.gets[0].unit = Some(unit(3, 0));
    assert_eq!(s.judge(), [Broken::Lost]);
}

#[test]
fn a_put_without_a_reply_may_or_may_not_have_happened() {
    for happened in [true, false] {
        let mut s = Scene::new();
        let put = s.put(A, None);
        (put.answer, put.replied) = (Answer::Unknown, NEVER);
        if happened {
            s.found(A);
        }
        assert_eq!(s.judge(), NONE);
        // What was found is decided for good.
        if !happened {
            s.found(A);
            assert_eq!(s.judge(), [Broken::Uncommitted]);
        } else {
            assert_eq!(s.judge(), [Broken::Lost]);
        }
    }
    // Delivered to somebody who lost it again, it has to be there.
    let mut s = Scene::new();
    let put = s.put(A, None);
    (put.answer, put.replied) = (Answer::Unknown, NEVER);
    s.get(A, Some(unit(2, 0)));
    assert_eq!(s.judge(), [Broken::Lost]);
}

#[test]
fn what_did_not_happen_is_never_seen() {
    type Undo = fn(&mut Scene);
    let undone: [(&str, Undo); 4] = [
        ("backed out", |s| {
            s.put(A, Some(unit(1, 0)));
            s.back(unit(1, 0));
        }),
        ("lost", |s| {
            s.put(A, Some(unit(1, 0)));
        }),
        ("refused", |s| s.put(A, None).answer = Answer::Refused),
        ("in flight in a unit of work", |s| {
            s.put(A, Some(unit(1, 0))).answer = Answer::Unknown;
        }),
    ];
    for (name, undo) in undone {
        let mut s = Scene::new();
        undo(&mut s);
        assert_eq!(s.judge(), NONE, "{name}");
        s.found(A);
        assert_eq!(s.judge(), [Broken::Uncommitted], "{name}, found later");
        let mut s = Scene::new();
        undo(&mut s);
        s.found(A);
        assert_eq!(s.judge(), [Broken::Uncommitted], "{name}, found");
        let mut s = Scene::new();
        undo(&mut s);
        s.get(A, None);
        assert_eq!(s.judge(), [Broken::Uncommitted], "{name}, delivered");
    }
}

#[test]
fn a_message_is_not_seen_before_its_commit() {
    let mut s = Scene::new();
    s.put(A, Some(unit(1, 0)));
    s.get(A, None);
    s.commit(unit(1, 0));
    assert_eq!(s.judge(), [Broken::Early]);
    // Between the request and its reply is early enough.
    let mut s = Scene::new();
    s.put(A, Some(unit(1, 0)));
    let called = s.tick();
    s.get(A, None);
    let replied = s.tick();
    s.round.history.units[0].ending = Ending::Committed { called, replied };
    assert_eq!(s.judge(), NONE);
}

#[test]
fn a_consumed_message_never_comes_back() {
    for in_unit in [None, Some(unit(2, 0))] {
        let mut s = Scene::new();
        s.put(A, None);
        s.get(A, in_unit);
        if let Some(unit) = in_unit {
            s.commit(unit);
        }
        s.found(A);
        assert_eq!(s.judge(), [Broken::Returned]);
        let mut s = Scene::new();
        s.put(A, None);
        s.get(A, in_unit);
        if let Some(unit) = in_unit {
            s.commit(unit);
        }
        assert_eq!(s.judge(), NONE);
        s.found(A);
        assert_eq!(s.judge(), [Broken::Returned]);
    }
}

#[test]
fn a_lost_unit_of_work_gives_back_what_it_got() {
    let mut s = Scene::new();
    s.put(A, None);
    s.get(A, Some(unit(2, 0)));
    assert_eq!(s.judge(), [Broken::Lost]);
    let mut s = Scene::new();
    s.put(A, None);
    s.get(A, Some(unit(2, 0)));
    s.found(A).backouts = 1;
    assert_eq!(s.judge(), NONE);
}

/// A, B put by a unit of work in doubt that also got C, which was there.
fn in_doubt() -> Scene {
    let mut s = Scene::new();
    let u = unit(1, 0);
    s.put(C, None);
    s.put(A, Some(u));
    s.put(B, Some(u)).queue = 1;
    s.get(C, Some(u));
    s.doubt(u);
    s
}

#[test]
fn a_unit_in_doubt_is_all_or_nothing() {
    // Which of A, B, C are found; what that means.
    let rows: [([bool; 3], &[Broken]); 8] = [
        ([true, true, false], &NONE),
        ([false, false, true], &NONE),
        ([true, false, false], &[Broken::Half]),
        ([false, true, false], &[Broken::Half]),
        ([true, true, true], &[Broken::Half]),
        ([true, false, true], &[Broken::Half]),
        ([false, true, true], &[Broken::Half]),
        ([false, false, false], &[Broken::Half]),
    ];
    for (there, expected) in rows {
        let mut s = in_doubt();
        for (queue, of, there) in [(0, A, there[0]), (1, B, there[1]), (0, C, there[2])] {
            if there {
                s.found_on(queue, of);
            }
        }
        assert_eq!(s.judge(), expected, "{there:?}");
    }
}

/// The connection was cut before the commit arrived: its unit of work is backed out while others work on.
#[test]
fn what_a_unit_in_doubt_got_may_be_given_to_others() {
    for (asks_later, in_unit) in [(true, false), (true, true), (false, false)] {
        let mut s = Scene::new();
        s.put(A, None);
        s.put(B, None);
        let other = in_unit.then(|| unit(2, 0));
        let waited_since = s.tick();
        s.get(A, Some(unit(1, 0)));
        s.get(B, Some(unit(1, 0)));
        s.doubt(unit(1, 0));
        let get = s.get(A, other);
        get.outcome = Outcome::Delivered { id: A, backouts: 1 };
        if !asks_later {
            get.called = waited_since;
        }
        if let Some(other) = other {
            s.commit(other);
        }
        s.found(B).backouts = 1;
        assert_eq!(s.judge(), NONE, "{asks_later} {in_unit}");
    }
    // One who waited was given it with the commit under way and lost it too; then the crash took it along.
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    let waited_since = s.tick();
    s.get(A, Some(unit(1, 0)));
    s.doubt(unit(1, 0));
    let get = s.get(A, Some(unit(2, 0)));
    get.called = waited_since;
    get.outcome = Outcome::Delivered { id: A, backouts: 1 };
    s.put(B, Some(unit(2, 0)));
    assert_eq!(s.judge(), NONE);
    // Without the backout the queue manager gave it to two.
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    let waited_since = s.tick();
    s.get(A, Some(unit(1, 0)));
    s.get(A, Some(unit(2, 0))).called = waited_since;
    s.put(B, Some(unit(2, 0)));
    s.doubt(unit(1, 0));
    assert_eq!(s.judge(), [Broken::Repeated]);
    // Half of it is half of it all the same.
    let mut s = Scene::new();
    s.put(A, None);
    s.put(B, None);
    s.get(A, Some(unit(1, 0)));
    s.get(B, Some(unit(1, 0)));
    s.doubt(unit(1, 0));
    s.get(A, None).outcome = Outcome::Delivered { id: A, backouts: 1 };
    assert!(!s.judge().is_empty());
}

#[test]
fn a_unit_in_doubt_with_gets_in_flight() {
    // Committed, and the get in flight took A.
    let mut s = in_doubt();
    s.dangling(0);
    s.found_on(1, B);
    assert_eq!(s.judge(), NONE);
    // The get in flight is on another queue than the message that is missing.
    let mut s = in_doubt();
    s.dangling(0);
    s.found_on(0, A);
    assert_eq!(s.judge(), [Broken::Half]);
    // Two units of work, one get in flight: only one price can be paid, and it is.
    let mut s = in_doubt();
    s.dangling(0);
    s.found_on(1, B);
    let other = unit(9, 0);
    s.put(id(9, 1), Some(other));
    s.put(id(9, 2), Some(other));
    s.doubt(other);
    s.found_on(0, id(9, 1));
    assert_eq!(s.judge(), [Broken::Half]);
}

#[test]
fn delivery_proves_a_unit_in_doubt_committed() {
    // A was delivered, so B has to be there and C must not.
    let mut s = in_doubt();
    let called = s.round.history.units[0].ending;
    s.get(A, None);
    s.found_on(1, B);
    assert_eq!(s.judge(), NONE, "{called:?}");
    let mut s = in_doubt();
    s.get(A, None);
    s.found(C);
    assert_eq!(s.judge(), [Broken::Half]);
}

#[test]
fn units_in_doubt_that_follow_each_other() {
    // 1/0 puts A; 2/0 got it; both in doubt.
    let scene = || {
        let mut s = Scene::new();
        s.put(A, Some(unit(1, 0)));
        s.doubt(unit(1, 0));
        s.get(A, Some(unit(2, 0)));
        s.put(C, Some(unit(2, 0)));
        s.doubt(unit(2, 0));
        s
    };
    let mut s = scene();
    s.found(C);
    assert_eq!(s.judge(), NONE);
    let mut s = scene();
    s.found(A);
    assert_eq!(s.judge(), NONE);
    for there in [vec![], vec![A, C]] {
        let mut s = scene();
        for of in there {
            s.found(of);
        }
        assert_eq!(s.judge(), [Broken::Half]);
    }
}

#[test]
fn what_is_not_persistent_ends_with_the_crash() {
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    assert_eq!(s.judge(), NONE);
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    s.found(A).persistent = false;
    assert_eq!(s.judge(), [Broken::Resurrected]);
    // It does not come back later either.
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    assert_eq!(s.judge(), NONE);
    s.get(A, None);
    assert_eq!(s.judge(), [Broken::Returned]);
    // A quiet round keeps it.
    let mut s = Scene::new();
    s.put(A, None).persistent = false;
    s.found(A).persistent = false;
    s.round.close = Close::Quiet;
    assert_eq!(s.judge(), NONE);
}

#[test]
fn messages_that_nobody_put_are_found() {
    let mut s = Scene::new();
    s.found(A);
    assert_eq!(s.judge(), [Broken::Invented]);
    let mut s = Scene::new();
    s.get(A, None);
    assert_eq!(s.judge(), [Broken::Invented]);
}

#[test]
fn a_message_is_delivered_once() {
    let mut s = Scene::new();
    s.put(A, None);
    s.get(A, None);
    s.get(A, None);
    assert_eq!(s.judge(), [Broken::Repeated]);
    // Consumed, then delivered to a unit of work that was backed out.
    let mut s = Scene::new();
    s.put(A, None);
    s.get(A, None);
    s.get(A, Some(unit(2, 0)));
    s.back(unit(2, 0));
    assert_eq!(s.judge(), [Broken::Repeated]);
    // Delivered while a unit of work that is still alive has it.
    let mut s = Scene::new();
    s.put(A, None);
    s.put(B, None);
    s.get(A, Some(unit(2, 0)));
    s.get(A, None);
    s.get(B, Some(unit(2, 0)));
    s.back(unit(2, 0));
    s.found(B).backouts = 1;
    assert_eq!(s.judge(), [Broken::Repeated]);
}

#[test]
fn a_backed_out_message_is_delivered_again() {
    let mut s = Scene::new();
    s.put(A, None);
    s.get(A, Some(unit(2, 0)));
    s.back(unit(2, 0));
    s.get(A, None).outcome = Outcome::Delivered { id: A, backouts: 1 };
    assert_eq!(s.judge(), NONE);
    // Backed out by the queue manager before MQBACK was called: the same.
    let mut s = Scene::new();
    s.put(A, None);
    s.get(A, Some(unit(2, 0)));
    s.get(A, None).outcome = Outcome::Delivered { id: A, backouts: 1 };
    s.back(unit(2, 0));
    assert_eq!(s.judge(), NONE);
}

#[test]
fn backout_counts_are_right() {
    let scene = |queue: u8, count: u32| {
        let mut s = Scene::new();
        s.put(A, None).queue = queue;
        s.get(A, Some(unit(2, 0))).queue = queue;
        s.back(unit(2, 0));
        s.found_on(usize::from(queue), A).backouts = count;
        s
    };
    // Without HARDENBO a crash may take the count back.
    assert_eq!(scene(0, 0).judge(), NONE);
    assert_eq!(scene(0, 1).judge(), NONE);
    assert_eq!(scene(0, 2).judge(), [Broken::Miscounted]);
    assert_eq!(scene(1, 0).judge(), [Broken::Miscounted]);
    assert_eq!(scene(1, 1).judge(), NONE);
    // While it runs it counts.
    let mut s = scene(0, 0);
    s.round.close = Close::Quiet;
    assert_eq!(s.judge(), [Broken::Miscounted]);
    for (count, expected) in [
        (0, &[Broken::Miscounted][..]),
        (1, &NONE),
        (2, &[Broken::Miscounted]),
    ] {
        let mut s = Scene::new();
        s.put(A, None);
        s.get(A, Some(unit(2, 0)));
        s.back(unit(2, 0));
        s.get(A, None).outcome = Outcome::Delivered {
            id: A,
            backouts: count,
        };
        assert_eq!(s.judge(), expected, "{count}");
    }
    // The count goes on from where it was.
    let mut s = scene(1, 1);
    assert_eq!(s.judge(), NONE);
    let get = s.get(A, None);
    get.queue = 1;
    assert_eq!(s.judge(), [Broken::Miscounted]);
}

#[test]
fn order_is_kept() {
    // B behind A of the same connection and priority.
    let mut s = Scene::new();
    s.put(A, None);
    s.put(B, None);
    s.get(B, None);
    s.get(A, None);
    assert_eq!(s.judge(), [Broken::Misordered]);
    // Another connection's message may go first.
    let mut s = Scene::new();
    s.put(A, None);
    s.put(C, None);
    s.get(C, None);
    s.get(A, None);
    assert_eq!(s.judge(), NONE);
    // But not with a lower priority; on a FIFO queue it may.
    for (queue, expected) in [(0, &[Broken::Misordered][..]), (2, &NONE)] {
        let mut s = Scene::new();
        s.put(A, None).queue = queue;
        let put = s.put(C, None);
        (put.queue, put.priority) = (queue, 3);
        s.get(C, None).queue = queue;
        s.get(A, None).queue = queue;
        assert_eq!(s.judge(), expected, "{queue}");
    }
}

#[test]
fn order_is_not_judged_where_it_is_not_certain() {
    type Blur = fn(&mut Scene);
    let rows: [(&str, Blur); 5] = [
        ("A was not committed yet", |s| {
            s.put(A, Some(unit(1, 0)));
            s.put(B, None);
            s.get(B, None);
            s.commit(unit(1, 0));
            s.get(A, None);
        }),
        ("a unit of work had A", |s| {
            s.put(A, None);
            s.put(B, None);
            s.get(A, Some(unit(3, 0)));
            s.get(B, None);
            s.back(unit(3, 0));
            s.get(A, None).outcome = Outcome::Delivered { id: A, backouts: 1 };
        }),
        ("B was asked for", |s| {
            s.put(A, None);
            s.put(B, None);
            s.get(B, None).plain = false;
            s.get(A, None);
        }),
        ("a call in flight may have held A", |s| {
            s.put(A, None);
            s.put(B, None);
            s.dangling(0);
            s.get(B, None);
            s.found(A);
        }),
        ("A may have expired", |s| {
            let expires = Expires { from: 0, by: 5_000 };
            s.put(A, None).expires = Some(expires);
            s.put(B, None);
            s.get(B, None);
            s.get(A, None);
        }),
    ];
    for (name, blur) in rows {
        let mut s = Scene::new();
        blur(&mut s);
        assert_eq!(s.judge(), NONE, "{name}");
    }
}

#[test]
fn order_on_the_queue_is_kept() {
    for (numbers, priorities, expected) in [
        ([1, 2], [4, 4], 0),
        ([2, 1], [4, 4], 1),
        ([2, 1], [5, 4], 0),
        ([1, 2], [4, 5], 1),
    ] {
        let mut s = Scene::new();
        for (number, priority) in numbers.into_iter().zip(priorities) {
            s.put(id(1, number), None).priority = priority;
        }
        s.round.history.puts.sort_by_key(|put| put.id);
        for (number, priority) in numbers.into_iter().zip(priorities) {
            s.found(id(1, number)).priority = priority;
        }
        let found = s.judge();
        assert_eq!(
            found,
            vec![Broken::Misordered; expected],
            "{numbers:?} {priorities:?}"
        );
    }
}

#[test]
fn expiry_excuses_absence_and_forbids_delivery() {
    let expires = |s: &mut Scene, by: u64| {
        let at = Expires { from: by, by };
        s.put(A, None).expires = Some(at);
    };
    let mut s = Scene::new();
    expires(&mut s, 9_000);
    assert_eq!(s.judge(), NONE);
    let mut s = Scene::new();
    expires(&mut s, 11_000);
    assert_eq!(s.judge(), [Broken::Lost]);
    for (called_ms, expected) in [(9_100, &NONE[..]), (9_300, &[Broken::Overdue])] {
        let mut s = Scene::new();
        expires(&mut s, 9_000);
        s.get(A, None).called_ms = called_ms;
        assert_eq!(s.judge(), expected);
    }
    // What was there keeps its expiry.
    let mut s = Scene::new();
    expires(&mut s, 11_000);
    s.found(A);
    assert_eq!(s.judge(), NONE);
    s.round.snapshot.taken_ms = 12_000;
    assert_eq!(s.judge(), NONE);
}

#[test]
fn complaints_are_passed_on() {
    let mut s = Scene::new();
    let complaint = Violation::new(Broken::Damaged, "bytes");
    s.round.history.complaints.push(complaint);
    assert_eq!(s.judge(), [Broken::Damaged]);
}
