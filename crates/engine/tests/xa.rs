//! The calls of a resource manager (XA): work on branches that begins, is suspended, joined and ended, on one connection
//! or several, and what each call answers at each stage.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_engine::{
    Application, AuditKind, BranchError, End, Outcome, Session, Start, TransactionState, Vote, Xid,
};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::xa::TMONEPHASE;
use posthaste_mqi::{Hobj, Md, Reason};
use world::*;

const SYNC: i32 = MQGMO_SYNCPOINT;
const SUSPEND: End = End::Suspend { migrate: false };
const MIGRATE: End = End::Suspend { migrate: true };

fn xid(n: u8) -> Xid {
    Xid::new(1, &[n; 8], &[n]).unwrap()
}

fn start(s: &Session, n: u8, how: Start) -> Result<(), BranchError> {
    block_on(s.start_branch(&xid(n), how))
}

fn end(s: &Session, n: u8, how: End) -> Result<(), BranchError> {
    block_on(s.end_branch(&xid(n), how))
}

fn prepare(s: &Session, n: u8) -> Result<Vote, BranchError> {
    block_on(s.prepare_branch(&xid(n)))
}

fn commit_prepared(s: &Session, n: u8) -> Result<(), BranchError> {
    block_on(s.resolve(&xid(n), Outcome::Committed))
}

fn one_phase(s: &Session, n: u8) -> Result<(), BranchError> {
    block_on(s.commit_one_phase(&xid(n)))
}

fn roll_back(s: &Session, n: u8) -> Result<(), BranchError> {
    block_on(s.roll_back(&xid(n)))
}

/// A connection with the queue open, and work done on a branch that is new.
fn working(w: &World, n: u8, text: &[u8]) -> (Session, Hobj) {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    start(&s, n, Start::New).unwrap();
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, text);
    (s, h)
}

fn what_is_there(w: &World) -> Vec<String> {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let there = drain(&s, h);
    w.qm().check().unwrap();
    there
}

#[test]
fn a_branch_is_worked_on_by_one_connection_and_ended_by_others() {
    let mut w = World::new();
    let (s, h) = working(&w, 1, b"one");
    assert_eq!(s.branch(), Some(xid(1)));
    w.qm().check().unwrap();
    end(&s, 1, End::Success).unwrap();
    assert_eq!(s.branch(), None);
    // The connection has a unit of work of its own again.
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"own");
    commit(&s);
    let other = w.connect();
    assert_eq!(prepare(&other, 1), Ok(Vote::Prepared));
    assert_eq!(w.connect().recover().unwrap(), [xid(1)]);
    drop((s, other));
    w.crash();
    commit_prepared(&w.connect(), 1).unwrap();
    assert_eq!(what_is_there(&w), ["one", "own"]);
}

#[test]
fn one_phase_commits_and_backout_gives_back() {
    let mut w = World::new();
    let (s, h) = working(&w, 1, b"one");
    end(&s, 1, End::Success).unwrap();
    one_phase(&s, 1).unwrap();
    start(&s, 2, Start::New).unwrap();
    assert_eq!(next(&s, h, SYNC).unwrap().text(), "one");
    end(&s, 2, End::Success).unwrap();
    roll_back(&w.connect(), 2).unwrap();
    start(&s, 3, Start::New).unwrap();
    let again = next(&s, h, SYNC).unwrap();
    assert_eq!((again.text().as_str(), again.md.backout_count), ("one", 1));
    end(&s, 3, End::Success).unwrap();
    prepare(&s, 3).unwrap();
    roll_back(&w.connect(), 3).unwrap();
    assert_eq!(roll_back(&s, 3), Err(BranchError::Unknown));
    drop(s);
    w.crash();
    assert_eq!(what_is_there(&w), ["one"]);
}

/// The state tables: of branches (XA, table 6-4) and of the association of connections (6-2).
#[test]
fn a_call_that_may_not_come_now_is_refused_and_changes_nothing() {
    use BranchError::*;
    let w = World::new();
    let (s, h) = working(&w, 1, b"kept");
    let other = w.connect();
    // While it is worked on.
    assert_eq!(start(&s, 2, Start::New), Err(Protocol));
    assert_eq!(start(&other, 1, Start::New), Err(Duplicate));
    assert_eq!(start(&other, 1, Start::Resume), Err(Protocol));
    assert_eq!(end(&other, 1, End::Success), Err(Protocol));
    for s in [&s, &other] {
        assert_eq!(prepare(s, 1), Err(Protocol));
        assert_eq!(one_phase(s, 1), Err(Protocol));
        assert_eq!(roll_back(s, 1), Err(Protocol));
        assert_eq!(commit_prepared(s, 1), Err(Protocol));
    }
    assert_eq!(block_on(s.commit()).unwrap_err(), Reason::ENVIRONMENT_ERROR);
    assert_eq!(
        block_on(s.backout()).unwrap_err(),
        Reason::ENVIRONMENT_ERROR
    );
    // Where there is none.
    assert_eq!(start(&other, 9, Start::Join), Err(Unknown));
    assert_eq!(start(&other, 9, Start::Resume), Err(Unknown));
    assert_eq!(end(&other, 9, End::Success), Err(Unknown));
    assert_eq!(prepare(&other, 9), Err(Unknown));
    assert_eq!(one_phase(&other, 9), Err(Unknown));
    assert_eq!(roll_back(&other, 9), Err(Unknown));
    assert_eq!(commit_prepared(&other, 9), Err(Unknown));
    assert_eq!(block_on(other.forget(&xid(9))), Err(Unknown));
    for (format, global) in [(-1, &b"1"[..]), (1, b"")] {
        let null = Xid::new(format, global, b"").unwrap();
        assert_eq!(
            block_on(other.start_branch(&null, Start::New)),
            Err(Invalid)
        );
    }
    // While it is suspended.
    end(&s, 1, SUSPEND).unwrap();
    assert_eq!(end(&s, 1, SUSPEND), Err(Protocol));
    assert_eq!(start(&other, 1, Start::Resume), Err(Protocol));
    assert_eq!(end(&other, 1, End::Success), Err(Protocol));
    assert_eq!(prepare(&s, 1), Err(Protocol));
    start(&s, 1, Start::Resume).unwrap();
    end(&s, 1, End::Success).unwrap();
    // When its work is done.
    assert_eq!(end(&s, 1, End::Success), Err(Protocol));
    assert_eq!(start(&s, 1, Start::Resume), Err(Protocol));
    assert_eq!(commit_prepared(&s, 1), Err(Protocol));
    assert_eq!(block_on(s.forget(&xid(1))), Err(Protocol));
    assert!(s.recover().unwrap().is_empty());
    assert_eq!(prepare(&s, 1), Ok(Vote::Prepared));
    // When it is prepared.
    assert_eq!(prepare(&s, 1), Err(Protocol));
    assert_eq!(one_phase(&s, 1), Err(Protocol));
    assert_eq!(start(&s, 1, Start::New), Err(Duplicate));
    assert_eq!(start(&s, 1, Start::Join), Err(Protocol));
    assert_eq!(end(&s, 1, End::Success), Err(Protocol));
    assert_eq!(block_on(s.forget(&xid(1))), Err(Protocol));
    // When somebody has decided.
    block_on(w.qm().decide(&xid(1), Outcome::Committed)).unwrap();
    let decided = Err(Heuristic(Outcome::Committed));
    assert_eq!(one_phase(&s, 1), decided);
    assert_eq!(roll_back(&s, 1), decided);
    assert_eq!(commit_prepared(&s, 1), decided);
    assert_eq!(prepare(&s, 1), Err(Protocol));
    assert_eq!(start(&s, 1, Start::Join), Err(Protocol));
    assert_eq!(s.recover().unwrap(), [xid(1)]);
    block_on(s.forget(&xid(1))).unwrap();
    assert_eq!(drain(&s, h), ["kept"]);
    w.qm().check().unwrap();
}

#[test]
fn work_outside_a_branch_comes_first_to_its_end() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"own");
    assert_eq!(start(&s, 1, Start::New), Err(BranchError::Outside));
    commit(&s);
    start(&s, 1, Start::New).unwrap();
    // What is not in syncpoint is in no branch.
    put(&s, h, PERSISTENT, 0, b"alone");
    end(&s, 1, End::Success).unwrap();
    assert_eq!(prepare(&s, 1), Ok(Vote::ReadOnly));
    assert_eq!(roll_back(&s, 1), Err(BranchError::Unknown));
    assert_eq!(drain(&s, h), ["own", "alone"]);
}

#[test]
fn several_connections_work_on_one_branch() {
    let mut w = World::new();
    let (one, h) = working(&w, 1, b"one");
    let other = w.connect();
    let o = open(&other, LOCAL, IN_OUT);
    start(&other, 1, Start::Join).unwrap();
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"two");
    end(&one, 1, End::Success).unwrap();
    assert_eq!(prepare(&one, 1), Err(BranchError::Protocol));
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"three");
    end(&other, 1, End::Success).unwrap();
    start(&one, 1, Start::Join).unwrap();
    put(&one, h, PERSISTENT, MQPMO_SYNCPOINT, b"four");
    end(&one, 1, End::Success).unwrap();
    assert_eq!(drain(&one, h), [""; 0]);
    assert_eq!(prepare(&other, 1), Ok(Vote::Prepared));
    drop((one, other));
    w.crash();
    commit_prepared(&w.connect(), 1).unwrap();
    assert_eq!(what_is_there(&w), ["one", "two", "three", "four"]);
}

#[test]
fn what_migrates_goes_on_elsewhere() {
    let w = World::new();
    let (one, h) = working(&w, 1, b"one");
    end(&one, 1, MIGRATE).unwrap();
    let other = w.connect();
    let o = open(&other, LOCAL, IN_OUT);
    start(&other, 1, Start::Resume).unwrap();
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"two");
    assert_eq!(end(&one, 1, End::Success), Err(BranchError::Protocol));
    end(&other, 1, MIGRATE).unwrap();
    // It need not be resumed to be ended.
    end(&one, 1, End::Success).unwrap();
    one_phase(&one, 1).unwrap();
    assert_eq!(drain(&one, h), ["one", "two"]);
}

#[test]
fn what_has_failed_is_only_backed_out() {
    for ends in [prepare as fn(&Session, u8) -> _, |s, n| {
        one_phase(s, n).map(|()| Vote::Prepared)
    }] {
        let w = World::new();
        let (s, _) = working(&w, 1, b"one");
        end(&s, 1, End::Fail).unwrap();
        assert_eq!(start(&s, 1, Start::Join), Err(BranchError::RolledBack));
        assert_eq!(ends(&s, 1), Err(BranchError::RolledBack));
        assert_eq!(ends(&s, 1), Err(BranchError::Unknown));
        assert_eq!(what_is_there(&w), [""; 0]);
    }
    // So is what lacks a message.
    let w = World::new();
    w.run("DEFINE QLOCAL(SHORT) MAXDEPTH(1)");
    let s = w.connect();
    let short = open(&s, "SHORT", IN_OUT);
    start(&s, 1, Start::New).unwrap();
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    put(&s, short, PERSISTENT, asynchronous, b"there");
    try_put(&s, short, &mut md(PERSISTENT), asynchronous, b"missing").unwrap_err();
    assert_eq!(end(&s, 1, End::Success), Err(BranchError::RolledBack));
    roll_back(&s, 1).unwrap();
    assert_eq!(w.depth("SHORT"), 0);
    w.qm().check().unwrap();
}

/// Whose connection disappears, and what becomes of the branch.
#[test]
fn a_branch_goes_with_the_last_connection_that_has_worked_on_it() {
    let w = World::new();
    let lost = |s: Session| block_on(s.terminate());
    // Worked on, suspended, done: all are backed out.
    for how in [None, Some(SUSPEND), Some(MIGRATE), Some(End::Success)] {
        let (s, _) = working(&w, 1, b"lost");
        if let Some(how) = how {
            end(&s, 1, how).unwrap();
        }
        lost(s);
        assert_eq!(roll_back(&w.connect(), 1), Err(BranchError::Unknown));
        assert_eq!(what_is_there(&w), [""; 0], "{how:?}");
    }
    // MQDISC in the middle of the work.
    let (s, _) = working(&w, 1, b"lost");
    assert_eq!(
        block_on(s.disconnect()).unwrap().warning,
        Reason::BACKED_OUT
    );
    assert_eq!(prepare(&w.connect(), 1), Err(BranchError::Unknown));
    // One of two that work on it takes the other's work with it.
    let (s, _) = working(&w, 1, b"lost");
    let other = w.connect();
    let o = open(&other, LOCAL, IN_OUT);
    start(&other, 1, Start::Join).unwrap();
    lost(s);
    let late = try_put(&other, o, &mut md(PERSISTENT), MQPMO_SYNCPOINT, b"late");
    assert_eq!(late.unwrap_err(), Reason::BACKED_OUT);
    assert_eq!(end(&other, 1, End::Success), Err(BranchError::RolledBack));
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"own");
    commit(&other);
    assert_eq!(what_is_there(&w), ["own"]);
    // What is done is kept by another worker, or by an end in order.
    let (s, _) = working(&w, 1, b"kept");
    end(&s, 1, End::Success).unwrap();
    start(&other, 1, Start::Join).unwrap();
    end(&other, 1, End::Success).unwrap();
    lost(s);
    w.qm().check().unwrap();
    block_on(other.disconnect()).unwrap();
    w.qm().check().unwrap();
    assert_eq!(prepare(&w.connect(), 1), Ok(Vote::Prepared));
    commit_prepared(&w.connect(), 1).unwrap();
    assert_eq!(what_is_there(&w), ["kept"]);
    // Nobody can back it out but an operator, where its transaction manager does not come back.
    let (s, _) = working(&w, 1, b"left");
    let both = [Outcome::Committed, Outcome::BackedOut];
    for outcome in both {
        let decided = block_on(w.qm().decide(&xid(1), outcome));
        assert_eq!(decided, Err(BranchError::Protocol), "it is worked on");
    }
    end(&s, 1, End::Success).unwrap();
    let state = |w: &World| {
        let all = w.qm().transactions().into_iter();
        all.map(|t| (t.branch, t.state, t.queues))
            .collect::<Vec<_>>()
    };
    let queues = vec![LOCAL.to_owned()];
    let active = TransactionState::Active;
    assert_eq!(state(&w), [(Some(xid(1)), active, queues)]);
    block_on(s.disconnect()).unwrap();
    block_on(w.qm().decide(&xid(1), Outcome::BackedOut)).unwrap();
    assert_eq!(state(&w), []);
    assert!(w.qm().in_doubt().is_empty());
    assert_eq!(what_is_there(&w), [""; 0]);
}

/// Branches whose applications have ended in order wait for their transaction managers, but not any number of them.
#[test]
fn of_branches_that_were_left_the_oldest_is_backed_out_where_there_are_too_many() {
    const MOST: u32 = 10_000;
    let w = World::new();
    let numbered = |n: u32| Xid::new(2, &n.to_be_bytes(), b"b").unwrap();
    let begin = |s: &Session, xid: &Xid| block_on(s.start_branch(xid, Start::New)).unwrap();
    let done = |s: &Session, xid: &Xid| block_on(s.end_branch(xid, End::Success)).unwrap();
    let (first, h) = working(&w, 1, b"first");
    end(&first, 1, End::Success).unwrap();
    put(&first, h, PERSISTENT, 0, b"got");
    start(&first, 2, Start::New).unwrap();
    assert_eq!(next(&first, h, SYNC).unwrap().text(), "got");
    end(&first, 2, End::Success).unwrap();
    start(&first, 3, Start::New).unwrap();
    put(&first, h, PERSISTENT, MQPMO_SYNCPOINT, b"prepared");
    end(&first, 3, End::Success).unwrap();
    block_on(first.disconnect()).unwrap();
    let other = w.connect();
    // Nobody waits for one that is prepared, worked on again, or ended.
    prepare(&other, 3).unwrap();
    start(&other, 1, Start::Join).unwrap();
    for n in 0..MOST + 5 {
        let s = w.connect();
        begin(&s, &numbered(n));
        done(&s, &numbered(n));
        block_on(s.disconnect()).unwrap();
        if n % 1000 == 0 {
            block_on(other.roll_back(&numbered(n))).unwrap();
        }
    }
    // With that of the get, which is the oldest, five less than the limit.
    assert_eq!(w.message_count("AMQ2078W"), 0);
    for n in [20_000, 20_001, 20_002, 20_003, 20_004, 20_005] {
        let s = w.connect();
        begin(&s, &numbered(n));
        done(&s, &numbered(n));
        assert_eq!(w.message_count("AMQ2078W"), 0);
        block_on(s.disconnect()).unwrap();
    }
    assert_eq!(w.message_count("AMQ2078W"), 1);
    until("the oldest to be backed out", || {
        prepare(&other, 2) == Err(BranchError::Unknown)
    });
    assert_eq!(
        block_on(other.prepare_branch(&numbered(1))),
        Ok(Vote::ReadOnly)
    );
    end(&other, 1, End::Success).unwrap();
    one_phase(&other, 1).unwrap();
    commit_prepared(&other, 3).unwrap();
    let mut there = what_is_there(&w);
    there.sort();
    assert_eq!(there, ["first", "got", "prepared"]);
}

/// One that is just being committed is not told to have been backed out.
#[test]
fn of_branches_that_were_left_one_that_is_being_decided_is_not_backed_out() {
    let w = World::pausable();
    let (first, _) = working(&w, 1, b"first");
    end(&first, 1, End::Success).unwrap();
    block_on(first.disconnect()).unwrap();
    let other = w.connect();
    w.stage.pause();
    let deciding = other.clone();
    let decided = Call::begin(async move { deciding.commit_one_phase(&xid(1)).await });
    for n in 0..10_000u32 {
        let (s, xid) = (w.connect(), Xid::new(2, &n.to_be_bytes(), b"b").unwrap());
        block_on(s.start_branch(&xid, Start::New)).unwrap();
        block_on(s.end_branch(&xid, End::Success)).unwrap();
        block_on(s.disconnect()).unwrap();
    }
    assert_eq!(w.message_count("AMQ2078W"), 0);
    w.stage.resume();
    decided.finish().unwrap();
    assert_eq!(what_is_there(&w), ["first"]);
}

/// One connection does not begin any number of branches that it leaves to others, or to nobody.
#[test]
fn a_connection_has_a_limit_of_branches_that_are_not_prepared() {
    const MOST: u32 = 10_000;
    let w = World::new();
    let s = w.connect();
    let numbered = |n: u32| Xid::new(2, &n.to_be_bytes(), b"b").unwrap();
    for n in 0..MOST {
        block_on(s.start_branch(&numbered(n), Start::New)).unwrap();
        block_on(s.end_branch(&numbered(n), End::Success)).unwrap();
    }
    let refused = BranchError::Failed(Reason::RESOURCE_PROBLEM);
    assert_eq!(start(&s, 1, Start::New), Err(refused));
    assert_eq!(block_on(s.prepare_branch(&numbered(7))), Ok(Vote::ReadOnly));
    start(&s, 1, Start::New).unwrap();
    end(&s, 1, End::Success).unwrap();
    assert_eq!(start(&s, 2, Start::New), Err(refused));
    start(&w.connect(), 2, Start::New).unwrap();
    drop(s);
    assert_eq!(w.qm().transactions(), []);
}

#[test]
fn a_crash_undoes_what_is_not_prepared() {
    let mut w = World::new();
    let (s, _) = working(&w, 1, b"worked on");
    let (t, _) = working(&w, 2, b"done");
    end(&t, 2, End::Success).unwrap();
    drop((s, t));
    w.crash();
    let s = w.connect();
    assert!(s.recover().unwrap().is_empty());
    assert_eq!(prepare(&s, 1), Err(BranchError::Unknown));
    assert_eq!(prepare(&s, 2), Err(BranchError::Unknown));
    assert_eq!(what_is_there(&w), [""; 0]);
}

/// A connection shows which branch it works on.
#[test]
fn the_status_of_a_connection_names_its_branch() {
    let w = World::new();
    let (s, _) = working(&w, 1, b"one");
    let branch = |s: &Session| s.status().unit.map(|unit| unit.branch);
    assert_eq!(branch(&s), Some(Some(xid(1))));
    end(&s, 1, End::Success).unwrap();
    assert_eq!(branch(&s), None);
    // What is done still keeps the queue, and says so.
    let answer = format!("{:?}", w.mqsc(&format!("CLEAR QLOCAL({LOCAL})")));
    assert!(answer.contains(&xid(1).to_string()), "{answer}");
}

/// Who leaves ever more branches has his own backed out, and nobody else's.
#[test]
fn whoever_leaves_too_many_branches_loses_none_but_his_own() {
    const MOST: u32 = 10_000;
    let w = World::new();
    let numbered = |n: u32| Xid::new(2, &n.to_be_bytes(), b"b").unwrap();
    let leave = |user: &str, xid: &Xid, text: &[u8]| {
        let who = Application {
            user: user.to_owned(),
            ..who("test")
        };
        let s = w.qm().connect(who).unwrap();
        block_on(s.start_branch(xid, Start::New)).unwrap();
        if !text.is_empty() {
            let h = open(&s, LOCAL, IN_OUT);
            put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, text);
        }
        block_on(s.end_branch(xid, End::Success)).unwrap();
        block_on(s.disconnect()).unwrap();
    };
    leave("alice", &xid(1), b"alice's");
    for n in 0..MOST + 5 {
        leave("mallory", &numbered(n), b"");
    }
    assert_eq!(w.message_count("AMQ2078W"), 6);
    // As many as another leaves are his share.
    for n in 20_000..20_000 + MOST / 2 - 1 {
        leave("alice", &numbered(n), b"");
    }
    let left = w.qm().transactions().into_iter();
    let left: Vec<Xid> = left.filter_map(|one| one.branch).collect();
    assert_eq!(left.len(), MOST as usize);
    let of_alice = left.iter().filter(|xid| **xid >= numbered(20_000));
    assert_eq!(of_alice.count(), MOST as usize / 2 - 1);
    let other = w.connect();
    assert_eq!(prepare(&other, 1), Ok(Vote::Prepared));
    commit_prepared(&other, 1).unwrap();
    assert_eq!(what_is_there(&w), ["alice's"]);
}

fn connected_as(w: &World, user: &str) -> Session {
    let who = Application {
        user: user.to_owned(),
        channel: "APP.CHANNEL".to_owned(),
        conname: "192.0.2.7".to_owned(),
        ..who("test")
    };
    w.qm().connect(who).unwrap()
}

/// What has been audited since the last call: who decided, by which call with which flags, whose branch it was and which,
/// and what came of it.
type Audited = (String, &'static str, u32, String, String, Reason);

fn audited(w: &World) -> Vec<Audited> {
    let events = w.audited().into_iter();
    let events = events.filter(|event| event.kind == AuditKind::BranchDecided);
    let decisions = events.map(|event| {
        let from = [event.who.channel.as_str(), event.who.conname.as_str()];
        assert_eq!(from, ["APP.CHANNEL", "192.0.2.7"]);
        assert_eq!(event.because.is_empty(), event.reason == Reason::NONE);
        let flags = event.options.cast_unsigned();
        let (user, owner) = (event.who.user, event.owner);
        (user, event.call, flags, owner, event.object, event.reason)
    });
    decisions.collect()
}

/// Whoever decides about a branch that another connection has prepared, or worked on, is known to whoever audits; of a
/// connection's own branches nobody is told.
#[test]
fn a_decision_about_anothers_branch_is_audited() {
    let mut w = World::new();
    let work = |s: &Session, n: u8| {
        start(s, n, Start::New).unwrap();
        let h = open(s, LOCAL, IN_OUT);
        put(s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        end(s, n, End::Success).unwrap();
    };
    let (alice, bob) = (connected_as(&w, "alice"), connected_as(&w, "bob"));
    for n in 1..=4 {
        work(&alice, n);
        prepare(&alice, n).unwrap();
    }
    commit_prepared(&alice, 4).unwrap();
    for n in 5..=8 {
        work(&alice, n);
    }
    roll_back(&alice, 5).unwrap();
    // Another connection of one's own is one that has not prepared it.
    let again = connected_as(&w, "alice");
    assert_eq!(audited(&w), []);
    commit_prepared(&again, 1).unwrap();
    commit_prepared(&bob, 2).unwrap();
    roll_back(&bob, 3).unwrap();
    one_phase(&bob, 6).unwrap();
    roll_back(&bob, 7).unwrap();
    // Who prepares it makes it his own: that is the decision which is told.
    prepare(&bob, 8).unwrap();
    assert_eq!(commit_prepared(&bob, 99), Err(BranchError::Unknown));
    let of_alice = |user: &str, call, flags, n| {
        let (user, owner) = (user.to_owned(), "alice".to_owned());
        (user, call, flags, owner, xid(n).to_string(), Reason::NONE)
    };
    assert_eq!(
        audited(&w),
        [
            of_alice("alice", "XA_COMMIT", 0, 1),
            of_alice("bob", "XA_COMMIT", 0, 2),
            of_alice("bob", "XA_ROLLBACK", 0, 3),
            of_alice("bob", "XA_COMMIT", TMONEPHASE, 6),
            of_alice("bob", "XA_ROLLBACK", 0, 7),
            of_alice("bob", "XA_PREPARE", 0, 8),
        ]
    );
    roll_back(&bob, 8).unwrap();
    assert_eq!(audited(&w), []);
    // Nor does it become one's own by work on it, which another user has begun.
    work(&alice, 9);
    start(&bob, 9, Start::Join).unwrap();
    assert_eq!(roll_back(&bob, 9), Err(BranchError::Protocol));
    end(&bob, 9, End::Success).unwrap();
    prepare(&bob, 9).unwrap();
    let refused = Audited::clone(&audited(&w)[0]);
    assert_eq!(
        (refused.1, refused.5),
        ("XA_ROLLBACK", Reason::UNEXPECTED_ERROR)
    );
    block_on(w.qm().decide(&xid(9), Outcome::Committed)).unwrap();
    assert_eq!(
        commit_prepared(&alice, 9),
        Err(BranchError::Heuristic(Outcome::Committed))
    );
    block_on(alice.forget(&xid(9))).unwrap();
    let calls: Vec<_> = audited(&w)
        .into_iter()
        .map(|one| (one.0, one.1, one.3, one.5))
        .collect();
    let by_alice = |call, reason| ("alice".to_owned(), call, "bob".to_owned(), reason);
    assert_eq!(
        calls,
        [
            by_alice("XA_COMMIT", Reason::UNEXPECTED_ERROR),
            by_alice("XA_FORGET", Reason::NONE)
        ]
    );
    // After a restart nobody knows whose it is, not even its own user's connection.
    work(&alice, 10);
    prepare(&alice, 10).unwrap();
    drop((alice, bob, again));
    w.crash();
    let alice = connected_as(&w, "alice");
    commit_prepared(&alice, 10).unwrap();
    let expected = (
        "alice".to_owned(),
        "XA_COMMIT",
        0,
        String::new(),
        xid(10).to_string(),
        Reason::NONE,
    );
    assert_eq!(audited(&w), [expected]);
}

/// An application that goes away in the middle of its decision is known all the same: what it has begun may happen.
#[test]
fn a_decision_whose_application_goes_away_is_audited() {
    let w = World::pausable();
    let alice = connected_as(&w, "alice");
    start(&alice, 1, Start::New).unwrap();
    let h = open(&alice, LOCAL, IN_OUT);
    put(&alice, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
    end(&alice, 1, End::Success).unwrap();
    prepare(&alice, 1).unwrap();
    let bob = connected_as(&w, "bob");
    w.stage.pause();
    let one = xid(1);
    let mut deciding = std::pin::pin!(Some(bob.resolve(&one, Outcome::Committed)));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let polled = deciding
        .as_mut()
        .as_pin_mut()
        .map(|call| call.poll(&mut context));
    assert!(polled.is_some_and(|polled| polled.is_pending()));
    assert_eq!(audited(&w), []);
    deciding.set(None);
    let expected = (
        "bob".to_owned(),
        "XA_COMMIT",
        0,
        "alice".to_owned(),
        one.to_string(),
        Reason::CONNECTION_BROKEN,
    );
    assert_eq!(audited(&w), [expected]);
    w.stage.resume();
}

/// A member of a group in logical order; its number.
fn member(s: &Session, h: Hobj, msg_flags: i32) -> i32 {
    let member = Md {
        msg_flags,
        ..md(PERSISTENT)
    };
    let options = MQPMO_SYNCPOINT | MQPMO_LOGICAL_ORDER;
    send(s, h, member, options, b"member").msg_seq_number
}

const MEMBER: i32 = MQMF_MSG_IN_GROUP;

/// A handle is where it stood in its group before a branch that is backed out, whoever backs it out, and whenever.
#[test]
fn a_branch_that_is_backed_out_puts_its_handles_back_into_their_groups() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    member(&s, h, MEMBER);
    commit(&s);
    let other = w.connect();
    for (n, prepared, by) in [
        (1, false, &s),
        (2, true, &s),
        (3, false, &other),
        (4, true, &other),
    ] {
        start(&s, n, Start::New).unwrap();
        assert_eq!(member(&s, h, MEMBER), 2);
        end(&s, n, SUSPEND).unwrap();
        start(&s, n, Start::Resume).unwrap();
        assert_eq!(member(&s, h, MEMBER), 3, "suspended, it goes on");
        end(&s, n, End::Success).unwrap();
        if prepared {
            prepare(by, n).unwrap();
        }
        roll_back(by, n).unwrap();
    }
    assert_eq!(member(&s, h, MQMF_LAST_MSG_IN_GROUP), 2);
    commit(&s);
    assert_eq!(what_is_there(&w).len(), 2);
}

/// Several branches with one handle: what counts is what has not been backed out.
#[test]
fn branches_that_take_turns_at_a_handle_are_backed_out_apart() {
    use Outcome::{BackedOut, Committed};
    // How the branches of the second and of the third member end, which of them first, and what number comes then.
    let rows = [
        ([(2, Committed), (3, Committed)], 4),
        ([(2, Committed), (3, BackedOut)], 3),
        ([(3, BackedOut), (2, Committed)], 3),
        ([(2, BackedOut), (3, Committed)], 4),
        ([(3, Committed), (2, BackedOut)], 4),
        ([(2, BackedOut), (3, BackedOut)], 2),
        ([(3, BackedOut), (2, BackedOut)], 2),
    ];
    for (ends, next) in rows {
        for looks in [false, true] {
            let w = World::new();
            let s = w.connect();
            let h = open(&s, LOCAL, IN_OUT);
            member(&s, h, MEMBER);
            commit(&s);
            for n in [2, 3] {
                start(&s, n, Start::New).unwrap();
                assert_eq!(member(&s, h, MEMBER), i32::from(n));
                end(&s, n, End::Success).unwrap();
            }
            for (n, outcome) in ends {
                match outcome {
                    Committed => one_phase(&s, n).unwrap(),
                    BackedOut => roll_back(&s, n).unwrap(),
                }
                if looks {
                    // A call with the handle, which puts nothing.
                    let refused = try_put(&s, h, &mut md(0), MQPMO_LOGICAL_ORDER, b"");
                    assert_eq!(refused, Err(Reason::INCOMPLETE_GROUP));
                }
            }
            assert_eq!(member(&s, h, MEMBER), next, "{ends:?}");
        }
    }
}

/// A message in no group leaves its handle in none, also where another branch had done so before.
#[test]
fn a_branch_that_changes_nothing_keeps_what_it_found() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    member(&s, h, MEMBER);
    commit(&s);
    for (n, msg_flags) in [(1, MQMF_LAST_MSG_IN_GROUP), (2, MQMF_NONE)] {
        start(&s, n, Start::New).unwrap();
        member(&s, h, msg_flags);
        end(&s, n, End::Success).unwrap();
    }
    roll_back(&s, 1).unwrap();
    assert_eq!(member(&s, h, MEMBER), 1);
}
