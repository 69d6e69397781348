//! A history in the making, and short words for what happens in it.

#![allow(
    dead_code,
    reason = "each test file uses its own part of the vocabulary"
)]

use posthaste_model::{
    Delivered, Get, Harden, How, Match, Model, Op, OpId, Outcome, Put, QueueId, QueueSpec, Rule,
    Violation,
};

pub(crate) type R = Result<(), Violation>;

/// A history in the making: two queues of depth 3 by priority, the second FIFO and keeping non-persistent
/// messages.
pub(crate) struct History {
    pub(crate) m: Model,
    pub(crate) time: u64,
}

pub(crate) const Q: QueueId = QueueId(0);
pub(crate) const HIGH: QueueId = QueueId(1);
pub(crate) const ANY: Match = Match {
    msg_id: None,
    correl_id: None,
    least_priority: None,
};

pub(crate) fn spec(name: &str) -> QueueSpec {
    QueueSpec {
        name: name.to_owned(),
        max_depth: 3,
        by_priority: name == "Q",
        default_priority: 4,
        default_persistent: true,
        keeps_non_persistent: name != "Q",
        harden: Harden::Backouts,
    }
}

pub(crate) fn message(id: u64) -> Put {
    Put {
        queue: Q,
        id,
        hash: id * 7,
        persistent: None,
        priority: None,
        in_uow: false,
        expiry: None,
        delay: None,
        msg_id: id,
        correl_id: id % 2,
    }
}

pub(crate) fn in_uow(id: u64) -> Put {
    Put {
        in_uow: true,
        ..message(id)
    }
}

pub(crate) fn volatile(queue: QueueId, id: u64) -> Put {
    Put {
        queue,
        persistent: Some(false),
        ..message(id)
    }
}

pub(crate) fn copy(id: u64) -> Delivered {
    Delivered {
        id,
        hash: id * 7,
        persistent: true,
        priority: 4,
        backout_count: None,
        msg_id: None,
    }
}

pub(crate) fn counted(id: u64, count: u32) -> Outcome {
    Outcome::Got(Delivered {
        backout_count: Some(count),
        ..copy(id)
    })
}

pub(crate) fn got(id: u64) -> Outcome {
    Outcome::Got(copy(id))
}

pub(crate) const NONE: Outcome = Outcome::Reason(2033);
pub(crate) const OK: Outcome = Outcome::Done;

pub(crate) fn from(queue: QueueId, how: How) -> Op {
    Op::Get(Get {
        queue,
        want: ANY,
        how,
        wait: false,
    })
}

pub(crate) fn plain() -> Op {
    from(Q, How::NoSyncpoint)
}

pub(crate) fn sync() -> Op {
    from(Q, How::Syncpoint)
}

pub(crate) fn browse() -> Op {
    from(Q, How::BrowseFirst)
}

pub(crate) fn by_id(id: u64) -> Op {
    Op::Get(Get {
        queue: Q,
        want: Match {
            msg_id: Some(id),
            ..ANY
        },
        how: How::NoSyncpoint,
        wait: false,
    })
}

/// A get with a selector: of this priority and above.
pub(crate) fn selecting(least: u8) -> Op {
    Op::Get(Get {
        queue: Q,
        want: Match {
            least_priority: Some(least),
            ..ANY
        },
        how: How::NoSyncpoint,
        wait: false,
    })
}

pub(crate) fn waiting() -> Op {
    Op::Get(Get {
        queue: Q,
        want: ANY,
        how: How::NoSyncpoint,
        wait: true,
    })
}

impl History {
    pub(crate) fn new() -> History {
        let mut m = Model::new();
        assert_eq!(m.add_queue(spec("Q")), Q);
        assert_eq!(m.add_queue(spec("HIGH")), HIGH);
        History { m, time: 0 }
    }

    pub(crate) fn call(&mut self, session: u32, op: Op) -> OpId {
        self.time += 1000;
        self.m.invoke(self.time, session, op)
    }

    pub(crate) fn ends(&mut self, op: OpId, outcome: Outcome) -> R {
        self.time += 1000;
        self.m.respond(self.time, op, outcome)
    }

    /// A call and its end with nothing between.
    pub(crate) fn does(&mut self, session: u32, op: Op, outcome: Outcome) -> R {
        let op = self.call(session, op);
        self.ends(op, outcome)
    }

    pub(crate) fn puts(&mut self, session: u32, ids: &[u64]) -> R {
        ids.iter()
            .try_for_each(|id| self.does(session, Op::Put(message(*id)), OK))
    }

    pub(crate) fn puts_in_uow(&mut self, session: u32, ids: &[u64]) -> R {
        ids.iter()
            .try_for_each(|id| self.does(session, Op::Put(in_uow(*id)), OK))
    }

    pub(crate) fn gets(&mut self, session: u32, ids: &[u64]) -> R {
        ids.iter()
            .try_for_each(|id| self.does(session, plain(), got(*id)))
    }

    pub(crate) fn commits(&mut self, session: u32) -> R {
        self.does(session, Op::Commit, OK)
    }

    pub(crate) fn backs_out(&mut self, session: u32) -> R {
        self.does(session, Op::Backout, OK)
    }

    pub(crate) fn falls(&mut self) -> R {
        self.m.crash()?;
        self.m.restart();
        Ok(())
    }

    pub(crate) fn cycles(&mut self) -> R {
        self.m.clean_shutdown()?;
        self.m.restart();
        Ok(())
    }

    /// Gets everything, in this order, and audits.
    pub(crate) fn drains(&mut self, ids: &[u64]) -> R {
        self.gets(9, ids)?;
        self.does(9, plain(), NONE)?;
        self.does(9, from(HIGH, How::NoSyncpoint), NONE)?;
        self.m.audit()
    }
}

/// Name and events.
pub(crate) type Row<'a> = (&'a str, fn(&mut History) -> R);

/// Runs each history and expects it to break the rule, or none.
pub(crate) fn run(rows: &[Row], rule: Option<Rule>) {
    for (name, history) in rows {
        let result = history(&mut History::new());
        let found = result.as_ref().err().map(|violation| violation.rule);
        assert_eq!(found, rule, "{name}: {result:?}");
    }
}
