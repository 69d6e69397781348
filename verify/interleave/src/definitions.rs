//! Programs in which a queue is defined, altered, cleared and deleted while others open and use it.
//!
//! One name changes its meaning: now it is a local queue, now an alias of another, now nothing, and the next local
//! queue under it is another one. Each definition carries a number in its description, and whoever opens the name
//! reads it there, so the oracle knows of each message to which queue it was put.
//!
//! Invariants:
//! * One thread changes the definition. Nobody else does, so what it is follows from the commands that were carried out.
//! * Whoever has the queue open closes it again before long: commands that are refused meanwhile come to their turn.

use std::collections::BTreeMap;
use std::rc::Rc;

use posthaste_command::ObjectKind;
use posthaste_env_sim::Rng;
use posthaste_model::{
    Definition, Definitions, Harden, Kind, Op, Outcome, QueueId, QueueSpec, Violation,
};
use posthaste_mqi::constants::MQCA_Q_DESC;

use crate::application::{App, Ended, outcome};
use crate::scenario::{LONG, SHORT, application, filler, going};
use crate::world::{World, keep};

/// The name whose meaning changes.
pub(crate) const OWN: &str = "N";
/// The queue that it is an alias of, sometimes.
const OTHER: &str = "A";

/// What is known of that name.
#[derive(Default)]
pub(crate) struct Own {
    definitions: Definitions,
    /// The local queue that is there, or was when its delete was cut off.
    pub(crate) queue: Option<QueueId>,
    /// Queues by the numbers that their definitions carry.
    numbers: BTreeMap<u64, QueueId>,
    next: u64,
    /// It is an alias.
    alias: bool,
}

impl Own {
    fn kind(&self) -> Option<Kind> {
        match self.queue {
            Some(_) => Some(Kind::Local),
            None => self.alias.then_some(Kind::Alias),
        }
    }
}

/// How it is told.
fn spec() -> QueueSpec {
    QueueSpec {
        name: OWN.to_owned(),
        max_depth: 1_000_000,
        by_priority: false,
        default_priority: 0,
        default_persistent: false,
        keeps_non_persistent: false,
        harden: Harden::No,
    }
}

impl World {
    /// The queue whose definition carries this number.
    pub(crate) fn numbered(&self, number: u64) -> Option<QueueId> {
        self.judge.borrow().own.numbers.get(&number).copied()
    }

    /// What the queue manager has under the name.
    fn there(&self) -> Option<Definition> {
        let kinds = [
            (ObjectKind::QLocal, Kind::Local),
            (ObjectKind::QAlias, Kind::Alias),
        ];
        kinds.into_iter().find_map(|(kind, ours)| {
            let object = self.qm().object(kind, OWN)?;
            let number = object.attrs.text(MQCA_Q_DESC).trim_end().parse();
            Some(Definition {
                kind: ours,
                number: number.unwrap_or(u64::MAX),
            })
        })
    }

    /// After a restart: holds what is under the name against what must be, and settles what was in doubt.
    pub(crate) fn look(&self) -> Result<(), Violation> {
        let found = self.there();
        let mut judge = self.judge.borrow_mut();
        let judge = &mut *judge;
        judge.own.definitions.found(OWN, found)?;
        let local = found.filter(|definition| definition.kind == Kind::Local);
        let queue = local.and_then(|local| judge.own.numbers.get(&local.number).copied());
        match (judge.own.queue, queue) {
            (Some(queue), Some(_)) => judge.model.not_deleted(queue),
            (Some(queue), None) => judge.model.deleted(queue),
            (None, _) => {}
        }
        judge.own.queue = queue;
        Ok(())
    }
}

/// Who changes the definition.
struct Definer {
    world: Rc<World>,
    session: u32,
}

impl Definer {
    /// Begins a call of which the oracle has to know; `None` when nothing counts any more.
    fn invoke(&self, op: Op) -> Option<u64> {
        let now = self.world.micros();
        let mut judge = self.world.judge();
        if judge.down || judge.violation.is_some() {
            return None;
        }
        judge.calls += 1;
        Some(judge.model.invoke(now, self.session, op))
    }

    fn respond(&self, op: u64, outcome: Outcome) {
        let now = self.world.micros();
        let mut judge = self.world.judge();
        if !judge.down {
            let verdict = judge.model.respond(now, op, outcome);
            keep(&mut judge.violation, verdict);
        }
    }

    /// Runs a command; what it came to, unless nothing counts any more.
    fn command(&self, text: &str) -> Option<Outcome> {
        {
            let judge = self.world.judge();
            if judge.down || judge.violation.is_some() {
                return None;
            }
            if judge.tell {
                println!("{:>9} {text}", self.world.micros());
            }
        }
        let outcome = match self.world.command(text) {
            Ok(()) => Outcome::Done,
            Err(reason) => outcome(reason),
        };
        let judge = self.world.judge();
        if judge.tell {
            println!("{:>9} {text} -> {outcome:?}", self.world.micros());
        }
        (!judge.down).then_some(outcome)
    }

    /// Runs a command that makes the object this, or ends it.
    fn change(&self, to: Option<Definition>, text: &str) -> Option<Outcome> {
        let definitions = |change: &mut dyn FnMut(&mut Definitions)| {
            change(&mut self.world.judge().own.definitions);
        };
        definitions(&mut |known| known.change(OWN, to));
        let outcome = self.command(text)?;
        if outcome != Outcome::Unknown {
            definitions(&mut |known| known.changed(OWN, outcome == Outcome::Done));
        }
        if outcome == Outcome::Done {
            let alias = to.is_some_and(|to| to.kind == Kind::Alias);
            self.world.judge().own.alias = alias;
        }
        Some(outcome)
    }

    /// A number for the next definition, which stands for this queue, or for a new one.
    fn number(&self, queue: Option<QueueId>) -> (u64, QueueId) {
        let mut judge = self.world.judge();
        let queue = queue.unwrap_or_else(|| judge.model.add_queue(spec()));
        judge.own.next += 1;
        let number = judge.own.next;
        judge.own.numbers.insert(number, queue);
        (number, queue)
    }

    /// DEFINE, where nothing is.
    fn define(&self) -> Option<Outcome> {
        let (number, queue) = self.number(None);
        let local = Definition {
            kind: Kind::Local,
            number,
        };
        let text =
            format!("DEFINE QLOCAL({OWN}) MSGDLVSQ(FIFO) MAXDEPTH(1000000) DESCR('{number}')");
        let outcome = self.change(Some(local), &text)?;
        if outcome == Outcome::Done {
            self.world.judge().own.queue = Some(queue);
        }
        Some(outcome)
    }

    fn define_alias(&self) -> Option<Outcome> {
        let (number, _) = self.number(self.world.known(OTHER));
        let alias = Definition {
            kind: Kind::Alias,
            number,
        };
        let text = format!("DEFINE QALIAS({OWN}) TARGET({OTHER}) DESCR('{number}')");
        self.change(Some(alias), &text)
    }

    /// ALTER, or DEFINE REPLACE.
    fn alter(&self, verb: &str, option: &str) -> Option<Outcome> {
        let queue = self.world.judge.borrow().own.queue?;
        let (number, _) = self.number(Some(queue));
        let local = Definition {
            kind: Kind::Local,
            number,
        };
        self.change(
            Some(local),
            &format!("{verb} QLOCAL({OWN}) {option} DESCR('{number}')"),
        )
    }

    fn clear(&self) -> Option<Outcome> {
        let queue = self.world.judge.borrow().own.queue?;
        let op = self.invoke(Op::Clear(queue))?;
        let outcome = self.command(&format!("CLEAR QLOCAL({OWN})"))?;
        self.respond(op, outcome);
        Some(outcome)
    }

    fn delete(&self, purge: bool) -> Option<Outcome> {
        let queue = self.world.judge.borrow().own.queue?;
        let option = if purge { "PURGE" } else { "NOPURGE" };
        let op = self.invoke(Op::Delete(queue, purge))?;
        let outcome = self.change(None, &format!("DELETE QLOCAL({OWN}) {option}"))?;
        if outcome == Outcome::Done {
            self.world.judge().own.queue = None;
        }
        self.respond(op, outcome);
        Some(outcome)
    }

    fn delete_alias(&self) -> Option<Outcome> {
        self.change(None, &format!("DELETE QALIAS({OWN})"))
    }

    /// Runs it again and again while it is refused, as somebody does who is told that the queue is in use; whether
    /// it was carried out at last.
    fn insist(&self, command: impl Fn() -> Option<Outcome>) -> Option<bool> {
        for _ in 0..ATTEMPTS {
            match command()? {
                Outcome::Done => return Some(true),
                Outcome::Unknown => return None,
                _ => self.world.pause(20_000),
            }
        }
        Some(false)
    }
}

/// How often a refused command is tried again.
const ATTEMPTS: usize = 20;

fn definer(world: &Rc<World>, work: impl FnOnce(&Definer) -> Option<()> + 'static) -> usize {
    let definer = Definer {
        world: world.clone(),
        session: world.next_session(),
    };
    world.thread("definer", move |_| {
        // `None` only says that it ended early.
        let _ = work(&definer);
    })
}

/// Opens the name, has the work done, and closes it; `None` ends the application.
fn with_own(app: &App, work: impl FnOnce() -> Option<()>) -> Option<()> {
    if !app.has(OWN) {
        // It is not there now.
        app.pause(20_000);
        return Some(());
    }
    work()?;
    app.close(OWN);
    Some(())
}

/// A queue whose definition changes in every way beside two who use it.
pub(crate) fn definitions(world: &Rc<World>) -> Vec<usize> {
    let user = |_| {
        let mut rng = world.rng.borrow_mut().fork();
        application(world, "user", move |app| {
            for _ in 0..5 {
                with_own(app, || use_own(app, &mut rng))?;
            }
            Some(())
        })
    };
    let mut threads: Vec<usize> = (0..2).map(user).collect();
    let mut rng = world.rng.borrow_mut().fork();
    threads.push(definer(world, move |definer| {
        definer.insist(|| definer.define())?;
        for _ in 0..8 {
            change_somehow(definer, &mut rng)?;
        }
        Some(())
    }));
    threads.push(filler(world, 4));
    threads
}

/// Puts and gets on the queue, in a unit of work or not.
fn use_own(app: &App, rng: &mut Rng) -> Option<()> {
    let in_uow = rng.coin();
    going(app.put(OWN, SHORT, in_uow))?;
    if rng.coin() {
        going(app.get(OWN, in_uow, 0))?;
    }
    // Sometimes its unit of work outlives its handle.
    match (in_uow, rng.below(4)) {
        (false, _) | (true, 0) => Some(()),
        (true, 1) => going(app.back_out()),
        (true, _) => going(app.commit()),
    }
}

fn change_somehow(definer: &Definer, rng: &mut Rng) -> Option<()> {
    let kind = definer.world.judge.borrow().own.kind();
    let purge = rng.coin();
    match (kind, rng.below(6)) {
        (Some(Kind::Local), 0) => definer.insist(|| definer.alter("ALTER", "")),
        (Some(Kind::Local), 1) => definer.insist(|| definer.alter("DEFINE", "REPLACE")),
        (Some(Kind::Local), 2 | 3) => definer.insist(|| definer.clear()),
        (Some(Kind::Local), _) => definer.insist(|| definer.delete(purge)),
        (Some(Kind::Alias), _) => definer.insist(|| definer.delete_alias()),
        (None, 0) => definer.insist(|| definer.define_alias()),
        (None, _) => definer.insist(|| definer.define()),
    }
    .map(|_| ())
}

/// A queue that gives way to another under its name, which gets messages at once; then a checkpoint, and perhaps the
/// orderly end.
pub(crate) fn redefined(world: &Rc<World>) -> Vec<usize> {
    let mut threads = vec![definer(world, |definer| {
        for _ in 0..2 {
            definer.insist(|| definer.define())?;
            definer.insist(|| definer.delete(true))?;
        }
        definer.insist(|| definer.define())?;
        Some(())
    })];
    threads.push(application(world, "user", |app| {
        for _ in 0..12 {
            with_own(app, || going(app.put(OWN, SHORT, false)))?;
        }
        // So long that a checkpoint becomes due.
        for _ in 0..4 {
            if app.put("FILL", LONG, false) == Ended::Gone {
                return None;
            }
        }
        Some(())
    }));
    if world.rng.borrow_mut().below(3) == 0 {
        threads.push(world.thread("end", |world| world.end()));
    }
    threads
}
