//! One application fills and empties queues that trigger, and counts what comes to their initiation queue.
//!
//! The rules, for messages of at least TRIGMPRI, while the initiation queue is open for input:
//! * EVERY: one for each message that arrives.
//! * FIRST: one when a message arrives, or comes back, on a queue that had none, and one when the last getter closes a
//!   queue that has some; none while somebody has it open for input.
//! * DEPTH: one when TRIGDPTH messages are there, and triggering is off from then on; else as FIRST.

use std::time::Duration;

use bytes::Bytes;
use posthaste_admin::Admin;
use posthaste_model::Rule;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md};

use crate::solo::{Going, must};
use crate::workload::Worker;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    First,
    Every,
    Depth,
}

/// TRIGDPTH.
const DEPTH: u32 = 3;
/// TRIGMPRI.
const LEAST: i32 = 1;

/// A queue that triggers, as it has to be.
struct Triggering {
    kind: Kind,
    name: &'static str,
    put: Hobj,
    /// Messages that count.
    depth: u32,
    /// Somebody has it open for input.
    served: bool,
    off: bool,
    /// Trigger messages that must have come since they were last looked at.
    due: u32,
}

impl Triggering {
    fn fire(&mut self) {
        self.due += 1;
        self.off = self.kind == Kind::Depth;
    }

    fn arrives(&mut self, priority: i32, back: bool) {
        if priority < LEAST {
            return;
        }
        self.depth += 1;
        let due = match self.kind {
            Kind::Every => !back,
            Kind::First => self.depth == 1 && !self.served,
            Kind::Depth => self.depth >= DEPTH && !self.served && !self.off,
        };
        if due {
            self.fire();
        }
    }

    fn goes(&mut self, priority: i32) {
        self.depth -= u32::from(priority >= LEAST);
    }

    fn is_left(&mut self) {
        self.served = false;
        let due = match self.kind {
            Kind::Every => false,
            Kind::First => self.depth > 0,
            Kind::Depth => self.depth >= DEPTH && !self.off,
        };
        if due {
            self.fire();
        }
    }
}

impl Worker {
    /// Works until the queue manager or a rule says stop.
    pub(crate) async fn trigger(self) {
        let going = self.trigger_rounds().await;
        self.end(going);
    }

    async fn trigger_rounds(&self) -> Going {
        let initiation = self.open_one("T.INIT", MQOO_INPUT_SHARED).await?;
        let mut all = Vec::new();
        for (kind, name) in [
            (Kind::First, "T.FIRST"),
            (Kind::Every, "T.EVERY"),
            (Kind::Depth, "T.DEPTH"),
        ] {
            let get = self.open_one(name, MQOO_INPUT_SHARED).await?;
            while self
                .take_one(get, MQGMO_NO_SYNCPOINT, Duration::ZERO)
                .await?
                .is_some()
            {}
            self.close_one(get).await?;
            all.push(Triggering {
                kind,
                name,
                put: self.open_one(name, MQOO_OUTPUT).await?,
                depth: 0,
                served: false,
                off: true,
                due: 0,
            });
        }
        // Whether the stretch before has left it switched on is not known.
        for queue in all.iter_mut().filter(|queue| queue.kind == Kind::Depth) {
            self.switch_on(queue).await?;
        }
        // Nor is what it has left of interest.
        while self
            .take_one(initiation, 0, Duration::ZERO)
            .await?
            .is_some()
        {}
        while !self.stopping() {
            let at = self.below(3) as usize;
            let queue = &mut all[at];
            match self.below(6) {
                0 | 1 => self.put_unit(queue).await?,
                2 => {
                    let priority = self.put_triggering(queue, MQPMO_NO_SYNCPOINT).await?;
                    queue.arrives(priority, false);
                }
                3 => self.serve(queue).await?,
                4 => self.serve_in_vain(queue).await?,
                _ if queue.kind == Kind::Depth => self.switch_on(queue).await?,
                _ => {}
            }
            self.count_triggers(initiation, queue).await?;
            self.sleep(100_000).await;
        }
        Ok(())
    }

    async fn put_triggering(
        &self,
        queue: &Triggering,
        options: i32,
    ) -> Result<i32, crate::solo::End> {
        let mut md = Md {
            priority: self.below(3) as i32,
            persistence: MQPER_NOT_PERSISTENT,
            ..Md::default()
        };
        let priority = md.priority;
        self.send_one(queue.put, &mut md, options, Bytes::from_static(b"t"))
            .await?;
        Ok(priority)
    }

    async fn put_unit(&self, queue: &mut Triggering) -> Going {
        let mut priorities = Vec::new();
        for _ in 0..=self.below(4) {
            priorities.push(self.put_triggering(queue, MQPMO_SYNCPOINT).await?);
        }
        if self.below(4) == 0 {
            return Ok(self.backout_one().await?);
        }
        self.commit_one().await?;
        priorities
            .into_iter()
            .for_each(|priority| queue.arrives(priority, false));
        Ok(())
    }

    /// Gets some of what is there, with the queue open for input; a message that arrives meanwhile finds a server.
    async fn serve(&self, queue: &mut Triggering) -> Going {
        let get = self.open_one(queue.name, MQOO_INPUT_SHARED).await?;
        queue.served = true;
        let priority = self.put_triggering(queue, MQPMO_NO_SYNCPOINT).await?;
        queue.arrives(priority, false);
        for _ in 0..self.below(5) {
            let taken = self
                .take_one(get, MQGMO_NO_SYNCPOINT, Duration::ZERO)
                .await?;
            taken.iter().for_each(|(md, _)| queue.goes(md.priority));
        }
        self.close_one(get).await?;
        queue.is_left();
        Ok(())
    }

    /// The same in a unit of work that is backed out after the server has closed the queue.
    async fn serve_in_vain(&self, queue: &mut Triggering) -> Going {
        let get = self.open_one(queue.name, MQOO_INPUT_SHARED).await?;
        queue.served = true;
        let mut got = Vec::new();
        for _ in 0..=self.below(3) {
            if let Some((md, _)) = self.take_one(get, MQGMO_SYNCPOINT, Duration::ZERO).await? {
                queue.goes(md.priority);
                got.push(md.priority);
            }
        }
        self.close_one(get).await?;
        queue.is_left();
        self.backout_one().await?;
        got.into_iter()
            .rev()
            .for_each(|priority| queue.arrives(priority, true));
        Ok(())
    }

    async fn switch_on(&self, queue: &mut Triggering) -> Going {
        let command = crate::definer::parsed(&format!("ALTER QLOCAL({}) TRIGGER", queue.name));
        let admin = Admin::alone(&self.session.queue_manager());
        let reply = admin.execute(&command).await;
        if !reply.ok {
            return Err(reply.reason.into());
        }
        queue.off = false;
        queue.is_left();
        Ok(())
    }

    async fn count_triggers(&self, initiation: Hobj, queue: &mut Triggering) -> Going {
        let mut came = 0;
        while let Some((_, data)) = self.take_one(initiation, 0, Duration::ZERO).await? {
            // The name comes behind the identifier and the version of the structure.
            let names = data
                .get(8..)
                .is_some_and(|rest| rest.starts_with(queue.name.as_bytes()));
            must(names, Rule::Triggers, || {
                format!("a trigger message is not of {}", queue.name)
            })?;
            came += 1;
        }
        let due = std::mem::take(&mut queue.due);
        let (kind, depth) = (queue.kind, queue.depth);
        for _ in 0..came {
            self.met(match kind {
                Kind::First => "trigger FIRST",
                Kind::Every => "trigger EVERY",
                Kind::Depth => "trigger DEPTH",
            });
        }
        must(came == due, Rule::Triggers, || {
            format!(
                "{came} trigger messages, not {due}, of {kind:?}, which has {depth} messages that count"
            )
        })
    }
}
