//! Two connections browse one queue with three handles, lock messages under their cursors and get them.
//!
//! The rules (MQI reference, MQGMO_LOCK, MQGMO_UNLOCK and the browse cursor):
//! * A handle sees what is committed, has not expired and is not locked by another handle, in its order.
//! * A browse moves the cursor to the message and ends the handle's lock; with MQGMO_LOCK the message has it then. A
//!   browse that finds nothing leaves the cursor and ends the lock.
//! * Besides, a lock ends with MQGMO_UNLOCK, with its handle or connection, and with the message: when its handle
//!   gets it, and when it expires. MQCMIT and MQBACK do not end it; a message that a backout brings back has none.
//! * Under the cursor is the message that was browsed, as long as the handle sees it.

use std::time::Duration;

use posthaste_engine::Application;
use posthaste_model::Rule;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};

use crate::caller::Caller;
use crate::calls::BUFFER;
use crate::solo::{End, Going, must};
use crate::workload::{Worker, id24, payload};

const QUEUE: &str = "L.LOCKS";
/// Handles, and whose they are.
const OWNER: [usize; 3] = [0, 0, 1];
/// What they select: all that there is. Those with a selector remember what they have judged, locked messages among it.
const SELECTORS: [&str; 3] = ["", "color IS NULL", "Root.MQMD.Offset = 0"];
/// Calls before everything begins anew, and between them.
const CALLS: u64 = 40;
const PAUSE: u64 = 100_000;
/// Messages on the queue, at most.
const DEEP: usize = 8;
/// Tenths of a second after which a message expires, and how long that is.
const TENTHS: i32 = 1;
const LIFE: u64 = 100_000_000;

/// A message on the queue, or held by a unit of work.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: u64,
    /// The handle that has it locked.
    locked: Option<usize>,
    /// The connection that has got it in its unit of work.
    held: Option<usize>,
    /// It has expired: nobody sees it, whoever had it locked.
    expired: bool,
}

/// What must be true of the queue and its handles.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// In the order of their numbers, which is the order of the queue.
    messages: Vec<Known>,
    /// Numbers of what was browsed.
    cursors: [Option<u64>; 3],
}

/// A browse, or a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    First,
    Next,
    Under,
    Get,
    GetUnder,
}

impl Look {
    const ALL: [Look; 5] = [
        Look::First,
        Look::Next,
        Look::Under,
        Look::Get,
        Look::GetUnder,
    ];

    fn option(self) -> i32 {
        match self {
            Look::First => MQGMO_BROWSE_FIRST,
            Look::Next => MQGMO_BROWSE_NEXT,
            Look::Under => MQGMO_BROWSE_MSG_UNDER_CURSOR,
            Look::Get => 0,
            Look::GetUnder => MQGMO_MSG_UNDER_CURSOR,
        }
    }

    fn browses(self) -> bool {
        !matches!(self, Look::Get | Look::GetUnder)
    }
}

impl Queue {
    /// The message that a handle is given, or why it gets none.
    fn expect(&self, handle: usize, look: Look) -> Result<u64, Reason> {
        let sees = |m: &&Known| {
            let locked = m.locked.is_some_and(|by| by != handle);
            !m.expired && m.held.is_none() && !locked
        };
        let cursor = self.cursors[handle];
        let mut seen = self.messages.iter().filter(sees).map(|m| m.id);
        let found = match look {
            Look::First | Look::Get => seen.next(),
            Look::Next => seen.find(|id| cursor.is_none_or(|at| *id > at)),
            Look::Under | Look::GetUnder => {
                let there = seen.find(|id| Some(*id) == cursor);
                return there.ok_or(Reason::NO_MSG_UNDER_CURSOR);
            }
        };
        found.ok_or(Reason::NO_MSG_AVAILABLE)
    }

    fn message(&mut self, id: u64) -> Option<&mut Known> {
        self.messages.iter_mut().find(|m| m.id == id)
    }

    /// Ends the lock of a handle; the message that had it.
    fn unlock(&mut self, handle: usize) -> Option<Known> {
        let locked = self.messages.iter_mut();
        let mut locked = locked.filter(|m| m.locked == Some(handle));
        locked.next().map(|m| {
            m.locked = None;
            *m
        })
    }

    fn browsed(&mut self, handle: usize, found: Result<u64, Reason>, lock: bool) {
        if found == Err(Reason::NO_MSG_UNDER_CURSOR) {
            return;
        }
        self.unlock(handle);
        if let Ok(id) = found {
            self.cursors[handle] = Some(id);
            if let Some(m) = self.message(id) {
                m.locked = lock.then_some(handle);
            }
        }
    }

    /// A message was got, for good or by the unit of work of a connection.
    fn got(&mut self, id: u64, by: Option<usize>) {
        match (self.message(id), by) {
            (Some(m), Some(_)) => (m.held, m.locked) = (by, None),
            _ => self.messages.retain(|m| m.id != id),
        }
    }

    fn ended(&mut self, connection: usize, committed: bool) {
        if committed {
            self.messages.retain(|m| m.held != Some(connection));
        }
        let back = self.messages.iter_mut();
        back.filter(|m| m.held == Some(connection))
            .for_each(|m| m.held = None);
    }

    fn closed(&mut self, handle: usize) -> Option<Known> {
        self.cursors[handle] = None;
        self.unlock(handle)
    }
}

/// Two connections, and what they know.
struct Pair {
    connections: [Worker; 2],
    handles: [Hobj; 3],
    queue: Queue,
}

impl Worker {
    /// Works with another connection until the queue manager or a rule says stop.
    pub(crate) async fn lock(self, other: Worker) {
        let mut pair = Pair {
            connections: [self, other],
            handles: [Hobj::NONE; 3],
            queue: Queue::default(),
        };
        let mut going = Ok(());
        while going.is_ok() && !pair.connections[0].stopping() {
            going = pair.round().await;
        }
        for connection in &pair.connections {
            if let Some(remote) = connection.remote() {
                remote.line.hang_up();
            }
        }
        pair.connections[0].end(going);
    }

    /// One look at the queue; the number of the message.
    async fn look(
        &self,
        handle: Hobj,
        options: i32,
        id: Option<u64>,
    ) -> Result<(u64, Reason), Reason> {
        let mut md = Md::default();
        let mut gmo = Gmo {
            version: MQGMO_VERSION_2,
            options,
            match_options: MQMO_NONE,
            ..Gmo::default()
        };
        if let Some(id) = id {
            md.msg_id = id24(id);
            gmo.match_options = MQMO_MATCH_MSG_ID;
        }
        let done = self.session.get(handle, &mut md, &mut gmo, BUFFER).await?;
        let data = done.value.data;
        let number = data.first_chunk::<8>();
        let number = number.map_or(0, |number| u64::from_le_bytes(*number));
        Ok((number, done.warning))
    }
}

impl Pair {
    fn below(&self, n: u64) -> u64 {
        self.connections[0].below(n)
    }

    fn met(&self, what: &str) {
        self.connections[0].met(what);
    }

    fn of(&self, handle: usize) -> &Worker {
        &self.connections[OWNER[handle]]
    }

    /// From an empty queue and new handles to the end of all units of work.
    async fn round(&mut self) -> Going {
        self.queue = Queue::default();
        for handle in 0..self.handles.len() {
            self.open(handle).await?;
        }
        let rest = MQGMO_NO_SYNCPOINT;
        let all = self.handles[0];
        while self.connections[0]
            .take_one(all, rest, Duration::ZERO)
            .await?
            .is_some()
        {}
        for _ in 0..CALLS {
            self.call().await?;
            self.connections[0].sleep(PAUSE).await;
        }
        for handle in 0..self.handles.len() {
            self.close(handle).await?;
        }
        for connection in 0..self.connections.len() {
            self.finish(connection).await?;
        }
        Ok(())
    }

    async fn call(&mut self) -> Going {
        let handle = self.below(3) as usize;
        match self.below(20) {
            0..5 => self.put(None).await.map(drop),
            5..14 => self.look(handle).await,
            14..16 => self.unlock(handle).await,
            16 | 17 => self.finish(OWNER[handle]).await,
            18 => self.expire(handle).await,
            _ if self.below(2) == 0 => self.lose().await,
            _ => {
                self.close(handle).await?;
                self.open(handle).await
            }
        }
    }

    async fn open(&mut self, handle: usize) -> Going {
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_BROWSE;
        let worker = self.of(handle);
        let opened = worker.open_selecting(QUEUE, options, SELECTORS[handle]);
        self.handles[handle] = opened.await?;
        Ok(())
    }

    async fn close(&mut self, handle: usize) -> Going {
        self.of(handle).close_one(self.handles[handle]).await?;
        if self.queue.closed(handle).is_some() {
            self.met("lock ended by a close");
        }
        Ok(())
    }

    async fn put(&mut self, expiry: Option<i32>) -> Result<u64, End> {
        if self.queue.messages.len() >= DEEP && expiry.is_none() {
            return Ok(0);
        }
        let id = {
            let mut shared = self.connections[0].shared.borrow_mut();
            shared.next_number += 1;
            shared.next_number
        };
        let mut md = Md {
            msg_id: id24(id),
            persistence: self.below(2) as i32,
            expiry: expiry.unwrap_or(MQEI_UNLIMITED),
            ..Md::default()
        };
        let data = payload(id, self.below(3_000));
        self.connections[0]
            .send_one(self.handles[0], &mut md, MQPMO_NO_SYNCPOINT, data)
            .await?;
        self.queue.messages.push(Known {
            id,
            locked: None,
            held: None,
            expired: false,
        });
        Ok(id)
    }

    async fn look(&mut self, handle: usize) -> Going {
        let look = Look::ALL[self.below(5) as usize];
        let lock = look.browses() && self.below(2) == 0;
        let in_unit = !look.browses() && self.below(2) == 0;
        let expected = self.queue.expect(handle, look);
        let options = look.option()
            | if lock { MQGMO_LOCK } else { 0 }
            | if in_unit {
                MQGMO_SYNCPOINT
            } else {
                MQGMO_NO_SYNCPOINT
            };
        let worker = self.of(handle);
        let found = worker.look(self.handles[handle], options, None).await;
        worker.say(&format!(
            "handle {handle} {look:?} lock {lock} -> {found:?}"
        ));
        let found = match found {
            Ok((id, _)) => Ok(id),
            Err(reason @ (Reason::NO_MSG_AVAILABLE | Reason::NO_MSG_UNDER_CURSOR)) => Err(reason),
            Err(reason) => return Err(reason.into()),
        };
        if found != expected {
            self.unless_backed_out().await?;
        }
        must(found == expected, Rule::Locks, || {
            format!(
                "handle {handle} was given {found:?} by {look:?}, not {expected:?}: {:?}",
                self.queue
            )
        })?;
        self.note(handle, look, lock, found);
        if look.browses() {
            self.queue.browsed(handle, found, lock);
        } else if let Ok(id) = found {
            self.queue.got(id, in_unit.then_some(OWNER[handle]));
        }
        Ok(())
    }

    /// What has been met.
    fn note(&self, handle: usize, look: Look, lock: bool, found: Result<u64, Reason>) {
        let by_others = |m: &&Known| m.locked.is_some_and(|by| by != handle);
        let passed = self.queue.messages.iter().find(by_others);
        let own = |id: u64| {
            let locked = |m: &Known| m.id == id && m.locked == Some(handle);
            self.queue.messages.iter().any(locked)
        };
        for (met, what) in [
            (lock && found.is_ok(), "browse lock"),
            (look == Look::Under && found.is_ok(), "browse under cursor"),
            (
                passed.is_some_and(|m| found.is_ok_and(|id| id > m.id)),
                "locked message passed by",
            ),
            (
                !look.browses() && found.is_ok_and(own),
                "locked message got by its handle",
            ),
        ] {
            if met {
                self.met(what);
            }
        }
    }

    async fn unlock(&mut self, handle: usize) -> Going {
        let done = self.of(handle);
        let (_, reason) = done.look(self.handles[handle], MQGMO_UNLOCK, None).await?;
        let locked = self.queue.unlock(handle);
        // Of one that has expired it depends on whether that was found already.
        let expired = locked.is_some_and(|m| m.expired);
        let due = if locked.is_some() {
            Reason::NONE
        } else {
            Reason::NO_MSG_LOCKED
        };
        self.met(match reason {
            Reason::NONE => "unlock",
            _ => "unlock without a lock",
        });
        must(
            reason == due || expired && reason == Reason::NO_MSG_LOCKED,
            Rule::Locks,
            || format!("an unlock by handle {handle} gave {reason}, not {due}"),
        )
    }

    /// Commits or backs out. Locks stay.
    async fn finish(&mut self, connection: usize) -> Going {
        let commit = self.below(2) == 0;
        let worker = &self.connections[connection];
        if commit {
            worker.commit_one().await?;
        } else {
            worker.backout_one().await?;
        }
        worker.say(&format!("connection {connection} commit {commit}"));
        self.queue.ended(connection, commit);
        let locked = |m: &Known| m.locked.is_some_and(|by| OWNER[by] == connection);
        if self.queue.messages.iter().any(locked) {
            self.met("lock outlives a unit of work");
        }
        Ok(())
    }

    /// The second connection is lost, and another takes its place.
    async fn lose(&mut self) -> Going {
        let handle = OWNER.len() - 1;
        let session = match &self.connections[1].session {
            Caller::Local(session) => {
                let qm = session.queue_manager();
                session.terminate().await;
                let who = Application {
                    name: "locks".to_owned(),
                    ..Application::default()
                };
                Caller::Local(qm.connect(who)?)
            }
            Caller::Remote(remote) => Caller::Remote(remote.lose("locks").await?),
        };
        self.connections[1].session = session;
        self.connections[1].say("is lost");
        self.queue.ended(1, false);
        if self.queue.closed(handle).is_some() {
            self.met("lock ended by a lost connection");
        }
        self.open(handle).await
    }

    /// Locks a message that expires then.
    async fn expire(&mut self, handle: usize) -> Going {
        let clock = self.connections[0].clock.clone();
        let begun = clock.monotonic();
        let id = self.put(Some(TENTHS)).await?;
        let answered = clock.monotonic();
        let options = MQGMO_BROWSE_FIRST | MQGMO_LOCK;
        let worker = self.of(handle);
        let found = worker.look(self.handles[handle], options, Some(id)).await;
        let found = match found {
            Ok((id, _)) => Ok(id),
            Err(Reason::NO_MSG_AVAILABLE) => Err(Reason::NO_MSG_AVAILABLE),
            Err(reason) => return Err(reason.into()),
        };
        worker.say(&format!("handle {handle} locks {id} -> {found:?}"));
        let late = found.is_err() && clock.monotonic() >= begun + LIFE;
        must(found == Ok(id) || late, Rule::Locks, || {
            format!("message {id} cannot be locked: {found:?}")
        })?;
        self.queue.browsed(handle, found, true);
        self.connections[0]
            .sleep((answered + LIFE + 1_000_000).saturating_sub(clock.monotonic()))
            .await;
        if let Some(m) = self.queue.message(id) {
            m.expired = true;
        }
        self.met("locked message expired");
        Ok(())
    }

    /// Something was not as expected: perhaps the queue manager has backed out a unit of work by itself. Then the
    /// application learns it from the commit, and ends.
    async fn unless_backed_out(&self) -> Going {
        for connection in &self.connections {
            connection.commit_one().await?;
        }
        Ok(())
    }
}
