//! The write policy in virtual time: single decisions, and closed loops of committers as a
//! discrete-event simulation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::*;

const ADAPTIVE: WritePolicy = WritePolicy {
    plain: false,
    max_flights: 4,
};
const PLAIN: WritePolicy = WritePolicy {
    plain: true,
    max_flights: 4,
};

fn view(now: Nanos, in_flight: usize, waiting: usize) -> View {
    View {
        now,
        in_flight,
        waiting,
        pressed: false,
        bulk: false,
    }
}

/// A policy that has seen a write of `took` that released `released` while `waiting`
/// waited, at time `now`.
fn after(took: Nanos, released: usize, waiting: usize, now: Nanos) -> Policy {
    let mut policy = Policy::new(ADAPTIVE);
    policy.completed((took, true), released, waiting, now, 0);
    policy
}

#[test]
fn idle_log_writes_at_once() {
    let mut policy = Policy::new(ADAPTIVE);
    assert_eq!(policy.choose(view(5, 0, 0)), Choice::Rest { wake_at: 1 });
    assert_eq!(policy.choose(view(5, 0, 1)), Choice::Write);
    // Also after a slow write, long ago.
    let mut policy = after(2_000_000, 60, 0, 1_000);
    assert_eq!(policy.choose(view(900_000_000, 0, 1)), Choice::Write);
    policy.taken(1, 900_000_000);
    assert_eq!(
        (policy.held(), policy.pause),
        (0, 0),
        "nobody was held, no miss"
    );
}

#[test]
fn one_committer_is_never_held() {
    let mut policy = after(2_000_000, 1, 0, 1_000);
    assert_eq!(policy.choose(view(1_001, 0, 1)), Choice::Write);
}

#[test]
fn fast_device_is_never_held_and_has_one_flight() {
    let mut policy = after(99_000, 60, 2, 1_000);
    assert_eq!(policy.choose(view(1_000, 0, 2)), Choice::Write);
    policy.taken(2, 1_000);
    assert_eq!(
        policy.choose(view(1_000, 1, 500)),
        Choice::Rest {
            wake_at: usize::MAX
        }
    );
    let mut bulk = view(1_000, 1, 500);
    bulk.bulk = true;
    bulk.pressed = true;
    assert_eq!(
        policy.choose(bulk),
        Choice::Rest {
            wake_at: usize::MAX
        }
    );
}

#[test]
fn one_stall_does_not_make_a_fast_device_slow_but_several_do() {
    let mut policy = after(30_000, 60, 0, 0);
    policy.completed((50_000_000, true), 60, 0, 0, 0);
    assert_eq!(policy.average(), 41_250);
    for _ in 0..20 {
        policy.completed((2_000_000, true), 60, 0, 0, 0);
    }
    assert!(policy.gains_by_flights(), "{}", policy.average());
}

#[test]
fn hands_are_kept_free_for_several_committers_only() {
    let mut policy = after(2_000_000, 1, 0, 0);
    for n in 0..20 {
        policy.taken(1, n);
    }
    assert!(
        !policy.wants_flights(),
        "one write at a time is all there is"
    );
    policy.taken(2, 20);
    policy.taken(5, 21);
    assert!(policy.wants_flights());
}

#[test]
fn a_committer_writes_itself_on_a_fast_device_while_they_come_one_at_a_time() {
    let unknown = Policy::new(ADAPTIVE);
    assert!(!unknown.serves_one(), "the device has not been measured");
    let mut policy = after(30_000, 1, 0, 0);
    assert!(policy.serves_one());
    for n in 0..4 {
        policy.taken(2, n);
    }
    assert!(!policy.serves_one(), "they come in company");
    for n in 0..20 {
        policy.taken(1, n);
    }
    assert!(policy.serves_one());
    assert!(
        !after(BRIEF, 1, 0, 0).serves_one(),
        "it would hold a thread too long"
    );
    let mut plain = Policy::new(PLAIN);
    plain.completed((30_000, true), 1, 0, 0, 0);
    assert!(!plain.serves_one());
}

#[test]
fn slow_device_waits_one_slice_for_those_released() {
    let mut policy = after(1_000_000, 30, 30, 0);
    let hold = Choice::Hold {
        until: 50_000,
        wake_at: 60,
    };
    assert_eq!(policy.choose(view(10, 0, 30)), hold);
    assert_eq!(policy.choose(view(20_000, 0, 59)), hold);
    assert_eq!(policy.choose(view(20_001, 0, 60)), Choice::Write);
    policy.taken(60, 20_001);
    assert_eq!((policy.misses, policy.held()), (0, 19_991));
}

#[test]
fn a_further_slice_must_be_earned() {
    // 30 wait; 1 came in the slice: 1 ms saved against 31 x 50 us = 1.55 ms lost.
    let mut policy = after(1_000_000, 30, 30, 0);
    policy.choose(view(0, 0, 30));
    assert_eq!(policy.choose(view(50_000, 0, 31)), Choice::Write);
    // 3 came: 3 ms saved against 1.65 ms lost.
    let mut policy = after(1_000_000, 70, 30, 0);
    policy.choose(view(0, 0, 30));
    let further = Choice::Hold {
        until: 100_000,
        wake_at: 100,
    };
    assert_eq!(policy.choose(view(50_000, 0, 33)), further);
    // But never beyond half a write.
    let mut now = 50_000;
    let mut waiting = 33;
    while let Choice::Hold { until, .. } = policy.choose(view(now, 0, waiting)) {
        now = until;
        waiting += 3;
        assert!(waiting <= 60);
    }
    assert_eq!(now, 500_000);
}

#[test]
fn holds_that_do_not_pay_become_rare() {
    let mut policy = Policy::new(ADAPTIVE);
    let mut now = 0;
    let mut holds = 0;
    for _ in 0..1_000 {
        now += 1_000_000;
        policy.completed((1_000_000, true), 30, 30, now, 0);
        if let Choice::Hold { until, .. } = policy.choose(view(now, 0, 30)) {
            holds += 1;
            now = until;
            assert_eq!(policy.choose(view(now, 0, 30)), Choice::Write);
        }
        policy.taken(30, now);
    }
    assert!((10..=30).contains(&holds), "{holds}");
}

#[test]
fn pressed_data_is_not_held() {
    let mut policy = after(1_000_000, 30, 30, 0);
    let mut pressed = view(10, 0, 30);
    pressed.pressed = true;
    assert_eq!(policy.choose(pressed), Choice::Write);
    pressed.waiting = 0;
    assert_eq!(policy.choose(pressed), Choice::Write);
}

#[test]
fn flights_only_when_very_slow_and_more_wait_than_were_carried() {
    let mut policy = after(600_000, 1, 0, 0);
    policy.taken(10, 0);
    assert_eq!(
        policy.choose(view(0, 1, 10)),
        Choice::Rest { wake_at: 11 },
        "not more than carried"
    );
    let spaced = Choice::Hold {
        until: 150_000,
        wake_at: usize::MAX,
    };
    assert_eq!(policy.choose(view(0, 1, 11)), spaced, "on its heels");
    let mut bulk = view(0, 1, 0);
    bulk.bulk = true;
    assert_eq!(
        policy.choose(bulk),
        Choice::Write,
        "whole buffers are not spaced"
    );
    assert_eq!(policy.choose(view(150_000, 1, 11)), Choice::Write);
    policy.taken(11, 150_000);
    assert_eq!(policy.choose(view(300_000, 2, 12)), Choice::Write);
    assert_eq!(policy.choose(view(300_000, 3, 12)), Choice::Write);
    assert_eq!(
        policy.choose(view(300_000, 4, 500)),
        Choice::Rest {
            wake_at: usize::MAX
        }
    );
    let mut two = after(600_000, 1, 0, 0);
    two.config.max_flights = 2;
    two.taken(1, 0);
    assert_eq!(two.choose(view(300_000, 1, 5)), Choice::Write);
    assert_eq!(
        two.choose(view(0, 2, 500)),
        Choice::Rest {
            wake_at: usize::MAX
        }
    );
}

#[test]
fn plain_takes_what_is_there_one_in_flight() {
    let mut policy = Policy::new(PLAIN);
    policy.completed((1_000_000, true), 30, 30, 0, 0);
    assert_eq!(policy.choose(view(0, 0, 1)), Choice::Write);
    policy.taken(1, 0);
    assert_eq!(
        policy.choose(view(0, 1, 59)),
        Choice::Rest {
            wake_at: usize::MAX
        }
    );
}

/// A closed loop: each committer, once released, comes back after the time its turn on the processors
/// takes (they come one after the other, `step` apart) and `think` more.
struct Loop {
    committers: usize,
    write: Nanos,
    /// The device stands still from time to time, for as long as 20 writes take.
    stalls: bool,
    /// It does one write at a time; what comes meanwhile waits in the device.
    serial: bool,
    step: Nanos,
    think: Nanos,
}

impl Loop {
    /// How long a write takes that starts at `now`.
    fn duration(&self, now: Nanos) -> Nanos {
        if !self.stalls {
            return self.write;
        }
        let stall = 20 * self.write;
        let period = 4 * stall;
        let phase = now % period;
        if phase < stall {
            stall - phase + self.write
        } else if phase + self.write > period {
            self.write + stall
        } else {
            self.write
        }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Ended(u64),
    Arrives,
    AskAgain,
}

struct Flying {
    number: u64,
    committers: usize,
    start: Nanos,
    alone: bool,
    ended: bool,
}

struct Run {
    policy: Policy,
    events: BinaryHeap<Reverse<(Nanos, u64, Happening)>>,
    sequence: u64,
    waiting: usize,
    /// Writes in flight in order.
    flights: Vec<Flying>,
    /// When a device that does one write at a time has done those it has.
    device_free: Nanos,
    commits: u64,
    writes: u64,
    processors_free: Nanos,
}

impl Run {
    fn at(&mut self, time: Nanos, what: Happening) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, what)));
    }

    fn ask(&mut self, now: Nanos, shape: &Loop) {
        loop {
            let view = view(now, self.flights.len(), self.waiting);
            match self.policy.choose(view) {
                Choice::Write => {
                    assert!(self.waiting > 0, "an empty write");
                    let carried = std::mem::take(&mut self.waiting);
                    self.policy.taken(carried, now);
                    self.writes += 1;
                    let alone = self.flights.is_empty();
                    self.flights.iter_mut().for_each(|f| f.alone = false);
                    self.flights.push(Flying {
                        number: self.writes,
                        committers: carried,
                        start: now,
                        alone,
                        ended: false,
                    });
                    let start = match shape.serial {
                        true => now.max(self.device_free),
                        false => now,
                    };
                    self.device_free = start + shape.duration(start);
                    self.at(self.device_free, Happening::Ended(self.writes));
                }
                Choice::Hold { until, .. } => {
                    assert!(until > now, "held into the past");
                    self.at(until, Happening::AskAgain);
                    return;
                }
                Choice::Rest { .. } => return,
            }
        }
    }

    fn ended(&mut self, number: u64, now: Nanos, shape: &Loop) {
        let flight = self
            .flights
            .iter_mut()
            .find(|f| f.number == number)
            .unwrap();
        flight.ended = true;
        let (took, alone) = (now - flight.start, flight.alone);
        let mut released = 0;
        while self.flights.first().is_some_and(|f| f.ended) {
            released += self.flights.remove(0).committers;
        }
        self.commits += released as u64;
        let in_flight = self.flights.len();
        self.policy
            .completed((took, alone), released, self.waiting, now, in_flight);
        for _ in 0..released {
            // One after the other through the processors, then the application's own time.
            self.processors_free = self.processors_free.max(now) + shape.step;
            // A little disorder, the same in every run.
            let jitter = (self.sequence * 7919) % (shape.step + 1);
            let back = self.processors_free + shape.think + jitter;
            self.at(back, Happening::Arrives);
        }
    }
}

/// Commits in the time of many writes, and writes.
fn simulate(config: WritePolicy, shape: &Loop) -> (u64, u64) {
    let window = (1000 * shape.write).clamp(50_000_000, 2_000_000_000);
    let mut run = Run {
        policy: Policy::new(config),
        events: BinaryHeap::new(),
        sequence: 0,
        waiting: 0,
        flights: Vec::new(),
        device_free: 0,
        commits: 0,
        writes: 0,
        processors_free: 0,
    };
    for n in 0..shape.committers {
        run.at(n as Nanos * shape.step, Happening::Arrives);
    }
    while let Some(Reverse((now, _, what))) = run.events.pop() {
        if now >= window {
            break;
        }
        match what {
            Happening::Ended(number) => run.ended(number, now, shape),
            Happening::Arrives => run.waiting += 1,
            Happening::AskAgain => {}
        }
        run.ask(now, shape);
    }
    (run.commits, run.writes)
}

#[test]
fn sixty_committers_on_a_millisecond_device() {
    for (step, think) in [(500, 0), (1_000, 0), (2_000, 0), (4_000, 20_000)] {
        let shape = Loop {
            committers: 60,
            write: 1_000_000,
            stalls: false,
            serial: false,
            step,
            think,
        };
        let (plain, _) = simulate(PLAIN, &shape);
        let (ours, writes) = simulate(ADAPTIVE, &shape);
        assert!(
            2 * ours >= 3 * plain,
            "step {step} think {think}: {ours} commits against {plain} ({writes} writes)"
        );
    }
}

/// Committers of request and reply come back one by one, after a round trip through other processes: no
/// batch is made whole by waiting for them.
#[test]
fn committers_that_come_back_late_fly_on_a_device_that_takes_several() {
    let rows = [
        (100_000, false, 130),
        (400_000, false, 115),
        (800_000, false, 105),
        (400_000, true, 95),
    ];
    for (think, serial, least) in rows {
        let shape = Loop {
            committers: 60,
            write: 1_200_000,
            stalls: false,
            serial,
            step: 15_000,
            think,
        };
        let (plain, _) = simulate(PLAIN, &shape);
        let (ours, writes) = simulate(ADAPTIVE, &shape);
        let (ours, plain) = (ours * 100, plain * least);
        assert!(
            ours >= plain,
            "think {think} serial {serial}: {ours} against {plain} ({writes})"
        );
    }
}

#[test]
fn never_worse_than_plain() {
    let mut rows = Vec::new();
    for committers in [1, 2, 3, 12, 60, 200] {
        for write in [30_000, 90_000, 150_000, 400_000, 1_000_000, 5_000_000] {
            for (step, think) in [(500, 0), (5_000, 0), (20_000, 0), (500, 3_000_000)] {
                for (stalls, serial) in [(false, false), (true, false), (false, true), (true, true)]
                {
                    rows.push(Loop {
                        committers,
                        write,
                        stalls,
                        serial,
                        step,
                        think,
                    });
                }
            }
        }
    }
    for shape in rows {
        let (plain, _) = simulate(PLAIN, &shape);
        let (ours, _) = simulate(ADAPTIVE, &shape);
        let least = if shape.write < SLOW && !shape.stalls {
            // No difference at all is allowed where the device is fast.
            plain
        } else if shape.serial && shape.stalls {
            // Which of the two made a write long cannot be seen at once.
            plain * 85 / 100
        } else {
            plain * 95 / 100
        };
        assert!(
            ours >= least,
            "{} committers, write {} (stalls: {}, serial: {}) step {} think {}: {ours} against {plain}",
            shape.committers,
            shape.write,
            shape.stalls,
            shape.serial,
            shape.step,
            shape.think
        );
    }
}
