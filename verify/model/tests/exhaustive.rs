//! The oracle against brute force: every history of two sessions and three messages up to a length, and many
//! longer ones at random, is also put before a checker that tries all orders in which the calls can have
//! taken effect.
//!
//! * What brute force finds legal the oracle must accept, always.
//! * What brute force finds illegal the oracle must reject, unless another call overlapped or a call cut off
//!   by a crash could be the cause; there the oracle may be lenient.

use std::collections::BTreeSet;

use posthaste_model::{
    Delivered, Get, Harden, How, Match, Model, Op, OpId, Outcome, Put, QueueId, QueueSpec,
};

const Q: QueueId = QueueId(0);
const SESSIONS: usize = 2;

/// What the sessions may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    Put,
    PutUow,
    Get,
    GetUow,
    Browse,
    Commit,
    Backout,
    Depth,
}

/// Where a message of the specification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Nowhere,
    Pending(usize),
    OnQueue,
    Held(usize),
}

/// A session of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    Nothing,
    /// Called and not yet in effect; with the message for a put.
    Called(Call, usize),
    /// In effect and not yet answered.
    Finished(Answer),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Done,
    Got(usize),
    Empty,
    Full,
    Depth(usize),
}

/// One way in which everything can have happened so far.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    at: Vec<At>,
    /// For each message, those that come before it in the order of the queue.
    before: Vec<u32>,
    /// Messages that have been visible at some time.
    visible: u32,
    sessions: [Doing; SESSIONS],
}

impl World {
    fn new(messages: usize) -> World {
        World {
            at: vec![At::Nowhere; messages],
            before: vec![0; messages],
            visible: 0,
            sessions: [Doing::Nothing; SESSIONS],
        }
    }

    fn where_(&self, at: At) -> Vec<usize> {
        (0..self.at.len()).filter(|m| self.at[*m] == at).collect()
    }

    /// All results of the session's call taking effect now.
    fn effects(&self, s: usize, call: Call, message: usize, max: usize) -> Vec<World> {
        let answer = |answer: Answer| {
            let mut world = self.clone();
            world.sessions[s] = Doing::Finished(answer);
            world
        };
        let held = self
            .at
            .iter()
            .filter(|at| matches!(at, At::Held(_)))
            .count();
        let pending = self
            .at
            .iter()
            .filter(|at| matches!(at, At::Pending(_)))
            .count();
        let queue = self.where_(At::OnQueue);
        let least = queue.len() + pending;
        let first = |m: &usize| queue.iter().all(|other| self.before[*m] >> other & 1 == 0);
        match call {
            Call::Put | Call::PutUow => {
                let mut worlds = Vec::new();
                if least < max {
                    let mut world = answer(Answer::Done);
                    world.before[message] = self.visible;
                    if call == Call::PutUow {
                        let own = self.where_(At::Pending(s)).into_iter();
                        world.before[message] |= own.fold(0, |set, m| set | 1 << m);
                        world.at[message] = At::Pending(s);
                    } else {
                        world.at[message] = At::OnQueue;
                        world.visible |= 1 << message;
                    }
                    worlds.push(world);
                }
                if least + held >= max {
                    worlds.push(answer(Answer::Full));
                }
                worlds
            }
            Call::Get | Call::GetUow | Call::Browse if queue.is_empty() => {
                vec![answer(Answer::Empty)]
            }
            Call::Get | Call::GetUow | Call::Browse => {
                let each = queue.iter().filter(|m| first(m)).map(|m| {
                    let mut world = answer(Answer::Got(*m));
                    match call {
                        Call::Get => world.at[*m] = At::Nowhere,
                        Call::GetUow => world.at[*m] = At::Held(s),
                        _ => {}
                    }
                    world
                });
                each.collect()
            }
            Call::Commit => {
                let mut world = answer(Answer::Done);
                for m in self.where_(At::Pending(s)) {
                    world.at[m] = At::OnQueue;
                    world.visible |= 1 << m;
                }
                for m in self.where_(At::Held(s)) {
                    world.at[m] = At::Nowhere;
                }
                vec![world]
            }
            Call::Backout => vec![answer(Answer::Done).without_units(|session| session == s)],
            Call::Depth => (least..=least + held)
                .map(|d| answer(Answer::Depth(d)))
                .collect(),
        }
    }

    /// Backs out the units of work of some sessions.
    fn without_units(mut self, whose: impl Fn(usize) -> bool) -> World {
        for at in &mut self.at {
            match *at {
                At::Pending(s) if whose(s) => *at = At::Nowhere,
                At::Held(s) if whose(s) => *at = At::OnQueue,
                _ => {}
            }
        }
        self
    }
}

/// Lets calls take effect in every order, or not yet.
fn close(worlds: BTreeSet<World>, max: usize) -> BTreeSet<World> {
    let mut all = BTreeSet::new();
    let mut open: Vec<World> = worlds.into_iter().collect();
    while let Some(world) = open.pop() {
        for s in 0..SESSIONS {
            if let Doing::Called(call, message) = world.sessions[s] {
                open.extend(world.effects(s, call, message, max));
            }
        }
        all.insert(world);
    }
    all
}

/// A history, as both judges see it.
#[derive(Clone)]
struct Node {
    worlds: BTreeSet<World>,
    oracle: Model,
    /// For each session the call in flight, and whether another one overlapped it.
    flights: [Option<(Call, usize, OpId, bool)>; SESSIONS],
    in_unit: [bool; SESSIONS],
    puts: usize,
    crashes: usize,
    /// A crash has cut calls off.
    doubt: bool,
    /// Messages whose put or commit overlapped another call, so that their place in the order may be
    /// known from what was seen since, and from nothing else.
    blurred: u32,
    text: Vec<String>,
}

/// What is explored.
struct Plan {
    calls: &'static [Call],
    messages: usize,
    max_depth: usize,
    crashes: usize,
}

#[derive(Default, Debug)]
struct Tally {
    legal: u64,
    rejected: u64,
    lenient: u64,
}

fn spec(max_depth: usize) -> QueueSpec {
    QueueSpec {
        name: "Q".to_owned(),
        max_depth: max_depth as u64,
        by_priority: true,
        default_priority: 0,
        default_persistent: true,
        keeps_non_persistent: false,
        harden: Harden::No,
    }
}

impl Node {
    fn new(plan: &Plan) -> Node {
        let mut oracle = Model::new();
        oracle.add_queue(spec(plan.max_depth));
        Node {
            worlds: [World::new(plan.messages)].into(),
            oracle,
            flights: [None; SESSIONS],
            in_unit: [false; SESSIONS],
            puts: 0,
            crashes: 0,
            doubt: false,
            blurred: 0,
            text: Vec::new(),
        }
    }

    /// The history with one more call.
    fn call(&self, plan: &Plan, s: usize, call: Call) -> Option<Node> {
        let put = matches!(call, Call::Put | Call::PutUow);
        let ends = matches!(call, Call::Commit | Call::Backout);
        if self.flights[s].is_some()
            || put && self.puts == plan.messages
            || ends && !self.in_unit[s]
        {
            return None;
        }
        let mut node = self.clone();
        let message = self.puts;
        node.puts += usize::from(put);
        let get = |how| {
            Op::Get(Get {
                queue: Q,
                want: Match::default(),
                how,
                wait: false,
            })
        };
        let op = match call {
            Call::Put | Call::PutUow => Op::Put(Put {
                queue: Q,
                id: message as u64,
                hash: 0,
                persistent: None,
                priority: None,
                in_uow: call == Call::PutUow,
                expiry: None,
                delay: None,
                msg_id: 0,
                correl_id: 0,
            }),
            Call::Get => get(How::NoSyncpoint),
            Call::GetUow => get(How::Syncpoint),
            Call::Browse => get(How::BrowseFirst),
            Call::Commit => Op::Commit,
            Call::Backout => Op::Backout,
            Call::Depth => Op::Depth(Q),
        };
        let id = node.oracle.invoke(0, s as u32, op);
        let overlap = node.flights.iter().any(Option::is_some);
        node.flights[s] = Some((call, message, id, false));
        if overlap {
            (0..SESSIONS).for_each(|s| node.blur(s));
        }
        node.in_unit[s] = match call {
            Call::PutUow | Call::GetUow => true,
            Call::Commit | Call::Backout => false,
            _ => self.in_unit[s],
        };
        let called = self.worlds.iter().map(|world| {
            let mut world = world.clone();
            world.sessions[s] = Doing::Called(call, message);
            world
        });
        node.worlds = close(called.collect(), plan.max_depth);
        node.text.push(format!("{s}: {call:?} {message}"));
        Some(node)
    }

    /// The session's call overlaps another.
    fn blur(&mut self, s: usize) {
        let Some((call, message, _, overlap)) = &mut self.flights[s] else {
            return;
        };
        *overlap = true;
        match call {
            Call::Put | Call::PutUow => self.blurred |= 1 << *message,
            Call::Commit => {
                let pending = self.worlds.iter().flat_map(|w| w.where_(At::Pending(s)));
                self.blurred |= pending.fold(0, |set, m| set | 1 << m);
            }
            _ => {}
        }
    }

    /// The answers that a call could come back with, legal or not.
    fn answers(&self, plan: &Plan, s: usize) -> Vec<Answer> {
        match self.flights[s].map(|flight| flight.0) {
            None => Vec::new(),
            Some(Call::Put | Call::PutUow) => vec![Answer::Done, Answer::Full],
            Some(Call::Get | Call::GetUow | Call::Browse) => {
                let got = (0..self.puts).map(Answer::Got);
                got.chain([Answer::Empty]).collect()
            }
            Some(Call::Commit | Call::Backout) => vec![Answer::Done],
            Some(Call::Depth) => (0..=plan.messages).map(Answer::Depth).collect(),
        }
    }

    /// The history with an answer, if that is legal; the two judges are compared.
    fn answer(&self, s: usize, answer: Answer, tally: &mut Tally) -> Option<Node> {
        let mut node = self.clone();
        let (call, _, id, overlap) = node.flights[s].take().unwrap_or_else(|| unreachable!());
        node.text.push(format!("{s}: {call:?} = {answer:?}"));
        let outcome = match answer {
            Answer::Done => Outcome::Done,
            Answer::Empty => Outcome::Reason(2033),
            Answer::Full => Outcome::Reason(2053),
            Answer::Depth(depth) => Outcome::Depth(depth as u64),
            Answer::Got(id) => Outcome::Got(Delivered {
                id: id as u64,
                hash: 0,
                persistent: true,
                priority: 0,
                backout_count: None,
                msg_id: None,
            }),
        };
        let verdict = node.oracle.respond(0, id, outcome);
        let answered = self
            .worlds
            .iter()
            .filter(|w| w.sessions[s] == Doing::Finished(answer));
        node.worlds = answered
            .map(|world| {
                let mut world = world.clone();
                world.sessions[s] = Doing::Nothing;
                world
            })
            .collect();
        let blurred = matches!(answer, Answer::Got(m) if self.blurred >> m & 1 == 1);
        node.compare(
            verdict.is_ok(),
            !node.worlds.is_empty(),
            overlap || blurred,
            &format!("{verdict:?}"),
            tally,
        );
        (!node.worlds.is_empty()).then_some(node)
    }

    fn compare(
        &self,
        accepted: bool,
        legal: bool,
        overlap: bool,
        verdict: &str,
        tally: &mut Tally,
    ) {
        match (legal, accepted) {
            (true, true) => tally.legal += 1,
            (false, false) => tally.rejected += 1,
            (true, false) => panic!("false alarm {verdict}\n{}", self.text.join("\n")),
            (false, true) => {
                tally.lenient += 1;
                assert!(
                    overlap || self.doubt,
                    "not noticed\n{}",
                    self.text.join("\n")
                );
            }
        }
    }

    fn crash(&self, plan: &Plan) -> Option<Node> {
        if self.crashes == plan.crashes {
            return None;
        }
        let mut node = self.clone();
        node.crashes += 1;
        node.doubt |= self.flights.iter().any(Option::is_some);
        node.flights = [None; SESSIONS];
        node.in_unit = [false; SESSIONS];
        let fallen = self.worlds.iter().map(|world| {
            let mut world = world.clone().without_units(|_| true);
            world.sessions = [Doing::Nothing; SESSIONS];
            world
        });
        node.worlds = fallen.collect();
        let verdict = node.oracle.crash();
        assert!(verdict.is_ok(), "{verdict:?}\n{}", self.text.join("\n"));
        node.oracle.restart();
        node.text.push("crash".to_owned());
        Some(node)
    }

    /// If nothing is going on: can the queue be empty?
    fn audit(&self, tally: &mut Tally) {
        if self.flights.iter().any(Option::is_some) || self.in_unit.contains(&true) {
            return;
        }
        let legal = self
            .worlds
            .iter()
            .any(|world| world.where_(At::OnQueue).is_empty());
        let verdict = self.oracle.clone().audit();
        self.compare(
            verdict.is_ok(),
            legal,
            false,
            &format!("audit {verdict:?}"),
            tally,
        );
    }

    fn children(&self, plan: &Plan, tally: &mut Tally) -> Vec<Node> {
        let mut children = Vec::new();
        for s in 0..SESSIONS {
            // The sessions are alike: who is first is the first.
            if s == 0 || !self.text.is_empty() {
                let calls = plan.calls.iter();
                children.extend(calls.filter_map(|call| self.call(plan, s, *call)));
            }
            for answer in self.answers(plan, s) {
                children.extend(self.answer(s, answer, tally));
            }
        }
        children.extend(self.crash(plan));
        children
    }
}

fn explore(node: &Node, plan: &Plan, length: usize, tally: &mut Tally) {
    node.audit(tally);
    if length > 0 {
        for child in node.children(plan, tally) {
            explore(&child, plan, length - 1, tally);
        }
    }
}

fn check(plan: &Plan, length: usize, at_least: u64) {
    let mut tally = Tally::default();
    explore(&Node::new(plan), plan, length, &mut tally);
    println!("{:?} to {length}: {tally:?}", plan.calls);
    assert!(
        tally.legal > at_least && tally.rejected > at_least,
        "{tally:?}"
    );
    // Leniency is the exception.
    assert!(tally.lenient < tally.rejected / 2, "{tally:?}");
}

#[test]
fn units_of_work() {
    let plan = Plan {
        calls: &[Call::PutUow, Call::GetUow, Call::Commit, Call::Backout],
        messages: 3,
        max_depth: 9,
        crashes: 1,
    };
    check(&plan, 8, 1000);
}

#[test]
fn outside_syncpoint() {
    let plan = Plan {
        calls: &[Call::Put, Call::Get, Call::Browse],
        messages: 3,
        max_depth: 9,
        crashes: 1,
    };
    check(&plan, 8, 1000);
}

#[test]
fn mixed_and_nearly_full() {
    let plan = Plan {
        calls: &[
            Call::Put,
            Call::PutUow,
            Call::GetUow,
            Call::Commit,
            Call::Backout,
            Call::Depth,
        ],
        messages: 3,
        max_depth: 2,
        crashes: 1,
    };
    check(&plan, 7, 1000);
}

#[test]
fn long_histories_at_random() {
    let plan = Plan {
        calls: &[
            Call::Put,
            Call::PutUow,
            Call::Get,
            Call::GetUow,
            Call::Browse,
            Call::Commit,
            Call::Commit,
            Call::Backout,
            Call::Depth,
        ],
        messages: 12,
        max_depth: 4,
        crashes: 3,
    };
    let mut random = 1u64;
    let mut tally = Tally::default();
    for _ in 0..300 {
        let mut node = Node::new(&plan);
        for _ in 0..50 {
            node.audit(&mut tally);
            let children = node.children(&plan, &mut tally);
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let Some(child) = children.get((random >> 33) as usize % children.len().max(1)) else {
                break;
            };
            node = child.clone();
        }
    }
    println!("at random: {tally:?}");
    assert!(tally.legal > 10_000 && tally.rejected > 10_000, "{tally:?}");
}
