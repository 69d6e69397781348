//! Applications that define, alter, clear and delete objects, and use them meanwhile.
//!
//! Each has a name of its own, under which there is now nothing, now a local queue, now an alias, now a
//! dynamic queue: so every message under it is known by the queue it was put to, and what a restart makes
//! of the names is held against the definitions that were reported done.

use posthaste_admin::Admin;
use posthaste_command::{Command, ObjectKind};
use posthaste_engine::QueueManager;
use posthaste_model::{Definition, Kind, Op, Outcome, QueueId, QueueSpec, Violation};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Od, Reason};

use crate::workload::{Shared, Target, Worker, outcome};

/// What is under a definer's name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    pub(crate) name: String,
    /// The local queue that is there, or was when its delete was cut off.
    pub(crate) queue: Option<QueueId>,
    /// It is a temporary dynamic queue.
    temporary: bool,
}

impl Own {
    pub(crate) fn new(name: String) -> Own {
        Own {
            name,
            ..Own::default()
        }
    }
}

/// Models of dynamic queues. Their number is the one that dynamic queues start with.
pub(crate) const MODELS: [&str; 2] = [
    "DEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN) SHARE DEFSOPT(SHARED) MAXDEPTH(1000000) DESCR('0')",
    "DEFINE QMODEL(TEMPORARY) DEFTYPE(TEMPDYN) SHARE DEFSOPT(SHARED) MAXDEPTH(1000000) DESCR('0')",
];

/// What the queue manager has under this name.
fn there(qm: &QueueManager, name: &str) -> Option<Definition> {
    let kinds = [
        (ObjectKind::QLocal, Kind::Local),
        (ObjectKind::QAlias, Kind::Alias),
    ];
    kinds.into_iter().find_map(|(kind, ours)| {
        let object = qm.object(kind, name)?;
        let number = object.attrs.text(MQCA_Q_DESC).trim_end().parse();
        Some(Definition {
            kind: ours,
            number: number.unwrap_or(u64::MAX),
        })
    })
}

/// Holds what is under a name against what must be, and settles what was in doubt.
pub(crate) fn look(
    shared: &mut Shared,
    at: usize,
    qm: &QueueManager,
) -> Result<Option<Kind>, Violation> {
    let Shared {
        model,
        definitions,
        own,
        ..
    } = shared;
    let own = &mut own[at];
    let found = there(qm, &own.name);
    own.temporary = false;
    definitions.found(&own.name, found)?;
    let local = found.is_some_and(|definition| definition.kind == Kind::Local);
    match (local, own.queue) {
        (true, Some(queue)) => model.not_deleted(queue),
        (true, None) => own.queue = Some(model.add_queue(QueueSpec::roomy(&own.name))),
        (false, Some(queue)) => {
            model.deleted(queue);
            own.queue = None;
        }
        (false, None) => {}
    }
    Ok(found.map(|definition| definition.kind))
}

impl Worker {
    /// Works under the `at`th name until the queue manager or the oracle says stop.
    pub(crate) async fn define(mut self, at: usize) {
        loop {
            let stopping = self.shared.borrow().stopping;
            if stopping {
                self.backout().await;
                break;
            }
            if !self.round(at).await {
                break;
            }
            self.pause().await;
        }
        self.forget_unanswered(|_| true);
    }

    async fn round(&mut self, at: usize) -> bool {
        let qm = self.session.queue_manager();
        let looked = look(&mut self.shared.borrow_mut(), at, &qm);
        let kind = match looked {
            Ok(kind) => kind,
            Err(violation) => return self.violated(violation),
        };
        match kind {
            None => self.make(at).await,
            Some(Kind::Alias) => self.use_alias(at).await && self.unmake(at, "QALIAS", true).await,
            Some(Kind::Local) => {
                if !self.use_queue(at).await {
                    return false;
                }
                let purge = self.below(2) == 0;
                match self.below(6) {
                    0 => self.clear(at).await,
                    1 => self.change(at, "ALTER QLOCAL", "").await,
                    2 => self.change(at, "DEFINE QLOCAL", "REPLACE").await,
                    3 | 4 => self.unmake(at, "QLOCAL", purge).await,
                    _ => true,
                }
            }
        }
    }

    fn name(&self, at: usize) -> String {
        self.shared.borrow().own[at].name.clone()
    }

    fn number(&self) -> u64 {
        let mut shared = self.shared.borrow_mut();
        shared.next_number += 1;
        shared.next_number
    }

    /// Runs a command; what it came to.
    pub(crate) async fn command(&self, text: &str) -> Outcome {
        let command = parsed(text);
        let words: Vec<&str> = text.split(['(', ')', ' ']).collect();
        let replace = if text.contains("REPLACE") {
            " REPLACE"
        } else {
            ""
        };
        self.met(&format!("{} {}{replace}", words[0], words[1]));
        self.say(text);
        let admin = Admin::alone(&self.session.queue_manager());
        let reply = admin.execute(&command).await;
        let outcome = match reply.ok {
            true => Outcome::Done,
            false => outcome(reply.reason),
        };
        self.say(&format!("{outcome:?}"));
        outcome
    }

    /// Runs a command that makes the object this, or ends it.
    async fn redefine(&self, at: usize, to: Option<Definition>, text: &str) -> Outcome {
        let name = self.name(at);
        self.shared.borrow_mut().definitions.change(&name, to);
        let outcome = self.command(text).await;
        if outcome != Outcome::Unknown {
            let done = outcome == Outcome::Done;
            self.shared.borrow_mut().definitions.changed(&name, done);
        }
        outcome
    }

    async fn make(&mut self, at: usize) -> bool {
        let (name, number) = (self.name(at), self.number());
        let outcome = match self.below(5) {
            0 => return self.open_dynamic(at, "PERMANENT").await,
            1 => return self.open_dynamic(at, "TEMPORARY").await,
            2 => {
                let alias = Definition {
                    kind: Kind::Alias,
                    number,
                };
                let text = format!("DEFINE QALIAS({name}) TARGET(Q0) DESCR('{number}')");
                self.redefine(at, Some(alias), &text).await
            }
            _ => {
                let local = Definition {
                    kind: Kind::Local,
                    number,
                };
                let text = format!("DEFINE QLOCAL({name}) MAXDEPTH(1000000) DESCR('{number}')");
                self.redefine(at, Some(local), &text).await
            }
        };
        outcome != Outcome::Unknown
    }

    async fn change(&self, at: usize, verb: &str, option: &str) -> bool {
        let (name, number) = (self.name(at), self.number());
        let local = Definition {
            kind: Kind::Local,
            number,
        };
        let text = format!("{verb}({name}) {option} DESCR('{number}')");
        self.redefine(at, Some(local), &text).await != Outcome::Unknown
    }

    async fn unmake(&self, at: usize, noun: &str, purge: bool) -> bool {
        let name = self.name(at);
        let queue = self.shared.borrow().own[at].queue;
        let op = queue.map(|queue| self.invoke(Op::Delete(queue, purge)));
        let option = if purge && queue.is_some() {
            "PURGE"
        } else {
            ""
        };
        let text = format!("DELETE {noun}({name}) {option}");
        let outcome = self.redefine(at, None, &text).await;
        if outcome == Outcome::Done {
            self.shared.borrow_mut().own[at].queue = None;
        }
        let fine = op.is_none_or(|op| self.respond(op, outcome));
        fine && outcome != Outcome::Unknown
    }

    async fn clear(&self, at: usize) -> bool {
        let Some(queue) = self.shared.borrow().own[at].queue else {
            return true;
        };
        let op = self.invoke(Op::Clear(queue));
        let text = format!("CLEAR QLOCAL({})", self.name(at));
        let outcome = self.command(&text).await;
        self.respond(op, outcome)
    }

    async fn open_name(&mut self, od: &mut Od, options: i32) -> Result<Hobj, Reason> {
        self.session.open(od, options).await.map(|done| done.value)
    }

    async fn use_queue(&mut self, at: usize) -> bool {
        let Some(queue) = self.shared.borrow().own[at].queue else {
            return true;
        };
        let mut od = Od {
            object_name: Name::new(&self.name(at)),
            ..Od::default()
        };
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_BROWSE | MQOO_INQUIRE;
        match self.open_name(&mut od, options).await {
            Ok(handle) => {
                self.handles = vec![Target {
                    selecting: None,
                    handle,
                    queue,
                    name: Name::new(&self.name(at)),
                }];
                let most = self.plan.stint;
                self.some_calls(most).await && self.close_own(at, MQCO_NONE).await
            }
            Err(reason) => self.damaged(queue, reason) || outcome(reason) != Outcome::Unknown,
        }
    }

    async fn use_alias(&mut self, at: usize) -> bool {
        let queue = self.shared.borrow().queues[0].1;
        let mut od = Od {
            object_name: Name::new(&self.name(at)),
            ..Od::default()
        };
        match self
            .open_name(&mut od, MQOO_INPUT_SHARED | MQOO_OUTPUT)
            .await
        {
            Ok(handle) => {
                self.handles = vec![Target {
                    selecting: None,
                    handle,
                    queue,
                    name: Name::new(&self.name(at)),
                }];
                for _ in 0..self.below(6) {
                    if !self.put().await {
                        return false;
                    }
                }
                self.commit_now().await
                    && self.close_open_puts().await
                    && self.close_own(at, MQCO_NONE).await
            }
            Err(reason) => self.damaged(queue, reason) || outcome(reason) != Outcome::Unknown,
        }
    }

    /// Some puts and gets, and the end of the unit of work.
    async fn some_calls(&mut self, most: u64) -> bool {
        for _ in 0..self.below(most) {
            let going = match self.below(10) {
                0..5 => self.put().await,
                5..7 => self.get().await,
                7 => self.browse().await,
                8 => self.depth().await,
                _ => self.commit().await,
            };
            if !going {
                return false;
            }
        }
        let ended = match self.below(3) {
            0 => self.backout().await,
            _ => self.commit_now().await,
        };
        // What is on its way has come before the queue goes.
        ended && self.close_open_puts().await
    }

    async fn open_dynamic(&mut self, at: usize, model: &str) -> bool {
        let name = self.name(at);
        let temporary = model == "TEMPORARY";
        let made = Definition {
            kind: Kind::Local,
            number: 0,
        };
        self.shared
            .borrow_mut()
            .definitions
            .change(&name, Some(made));
        let mut od = Od {
            object_name: Name::new(model),
            dynamic_q_name: Name::new(&name),
            ..Od::default()
        };
        self.say(&format!("open {model} as {name}"));
        self.met(&format!("MQOPEN {}", model.to_lowercase()));
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_BROWSE | MQOO_INQUIRE;
        let handle = match self.open_name(&mut od, options).await {
            Ok(handle) => handle,
            Err(reason) if outcome(reason) == Outcome::Unknown => return false,
            Err(_) => {
                self.shared.borrow_mut().definitions.changed(&name, false);
                return true;
            }
        };
        let queue = {
            let mut shared = self.shared.borrow_mut();
            shared.definitions.changed(&name, true);
            if temporary {
                // It goes with the connection, and at the latest with the queue manager.
                shared.definitions.change(&name, None);
            }
            let queue = shared.model.add_queue(QueueSpec::roomy(&name));
            shared.own[at].queue = Some(queue);
            shared.own[at].temporary = temporary;
            queue
        };
        self.handles = vec![Target {
            selecting: None,
            handle,
            queue,
            name: Name::new(&self.name(at)),
        }];
        if !self.some_calls(self.plan.stint).await {
            return false;
        }
        let options = match (temporary, self.below(3)) {
            (true, _) | (_, 0) => MQCO_NONE,
            (_, 1) => MQCO_DELETE,
            _ => MQCO_DELETE_PURGE,
        };
        self.close_own(at, options).await
    }

    /// Closes the definer's handle; with an option, or where it is temporary, the queue goes with it.
    async fn close_own(&mut self, at: usize, options: i32) -> bool {
        let Some(target) = self.handles.pop() else {
            return true;
        };
        let name = self.name(at);
        let temporary = std::mem::take(&mut self.shared.borrow_mut().own[at].temporary);
        let deletes = temporary || options != MQCO_NONE;
        let op = deletes.then(|| {
            let purge = options != MQCO_DELETE;
            self.shared.borrow_mut().definitions.change(&name, None);
            self.met(["MQCLOSE delete", "MQCLOSE purge"][usize::from(purge)]);
            self.invoke(Op::Delete(target.queue, purge))
        });
        let outcome = match self.session.close(target.handle, options).await {
            Ok(_) => Outcome::Done,
            Err(reason) => outcome(reason),
        };
        let Some(op) = op else {
            return outcome != Outcome::Unknown;
        };
        if outcome != Outcome::Unknown {
            let mut shared = self.shared.borrow_mut();
            let done = outcome == Outcome::Done;
            shared.definitions.changed(&name, done);
            if done {
                shared.own[at].queue = None;
            }
        }
        if outcome == Outcome::Reason(Reason::Q_NOT_EMPTY.0) {
            // A refused close leaves the handle open.
            let closed = self.session.close(target.handle, MQCO_NONE).await;
            return self.respond(op, outcome) && closed.is_ok();
        }
        self.respond(op, outcome)
    }
}

pub(crate) fn parsed(text: &str) -> Command {
    match posthaste_command::parse(text) {
        Ok(Some(command)) => command,
        other => panic!("{text}: {other:?}"),
    }
}
