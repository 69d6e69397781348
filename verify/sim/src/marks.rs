//! Two connections browse one queue with four handles, mark messages for themselves and for each other, and get them.
//!
//! The rules (MQI reference, MQGMO_MARK_BROWSE_* and MQGMO_UNMARKED_BROWSE_MSG, MQOO_CO_OP, MsgMarkBrowseInterval):
//! * A handle that asks for unmarked messages is shown the first that it has not marked for itself and, if it was opened
//!   with MQOO_CO_OP, that no such handle has marked for all.
//! * A mark for all lapses an interval after it was made last, or somewhat later, and ends with the last of those handles;
//!   one of a handle ends with that. Both end with MQGMO_UNMARK_BROWSE_*, and with a get, be it backed out or not.
//! * Whoever is to mark for all what another handle has marked so, and did not ask for unmarked messages, is told (2200).
//! * Whoever does not ask for unmarked messages sees all, and gets all.
//!
//! A call takes time, so that of some marks it is not known whether they have lapsed when it looks: both are right then.

use std::time::Duration;

use posthaste_engine::Application;
use posthaste_model::Rule;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};

use crate::caller::Caller;
use crate::calls::BUFFER;
use crate::solo::{Going, must};
use crate::workload::{Worker, id24, payload};

const QUEUE: &str = "K.MARKS";
/// Handles: whose they are, and whether they mark for each other.
const HANDLES: [(usize, bool); 4] = [(0, true), (0, false), (1, true), (1, true)];
/// Calls before everything begins anew, and between them.
const CALLS: u64 = 60;
const PAUSE: u64 = 100_000;
/// How long a mark for all is there: an interval (MARKINT, 5 ms), and a sixteenth more at most.
const INTERVAL: u64 = 5_000_000;
const LATER: u64 = INTERVAL / 16;
/// How long somebody waits for one that lapses (milliseconds), and until he must have been shown it.
const WAIT: i32 = 20;
const SHOWN: u64 = 10_000_000;
/// Messages on the queue, at most.
const DEEP: usize = 12;

/// A place in the order of the queue: the priority, highest first, and the number.
type Key = (i32, u64);

/// A mark for all.
#[derive(Clone, Copy, Debug)]
struct ForAll {
    /// None: a handle that has been closed.
    by: Option<usize>,
    /// It lapses between these two.
    lapses: (u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marked {
    Yes,
    Perhaps,
    No,
}

impl ForAll {
    /// Whether it is there for a look between these two.
    fn at(&self, (begun, ended): (u64, u64)) -> Marked {
        match self.lapses {
            (_, latest) if latest <= begun => Marked::No,
            (earliest, _) if earliest > ended => Marked::Yes,
            _ => Marked::Perhaps,
        }
    }
}

/// A message on the queue, or held by a unit of work.
#[derive(Clone, Copy, Debug)]
struct Known {
    key: Key,
    /// The connection that has got it in its unit of work.
    held: Option<usize>,
    own: [bool; HANDLES.len()],
    for_all: Option<ForAll>,
}

impl Known {
    /// Whether a handle has it marked, or all have.
    fn marked(&self, handle: usize, during: (u64, u64)) -> Marked {
        let for_all = self.for_all.filter(|_| HANDLES[handle].1);
        match for_all {
            _ if self.own[handle] => Marked::Yes,
            Some(mark) => mark.at(during),
            None => Marked::No,
        }
    }

    /// Whether another handle has it marked for all.
    fn by_another(&self, handle: usize, during: (u64, u64)) -> Marked {
        let mark = self.for_all.filter(|mark| mark.by != Some(handle));
        mark.map_or(Marked::No, |mark| mark.at(during))
    }

    fn unmarked(&mut self) {
        self.own = Default::default();
        self.for_all = None;
    }
}

/// A browse or a get, with its options about marks.
#[derive(Clone, Copy, Debug)]
struct Look {
    handle: usize,
    at: i32,
    marks: i32,
}

impl Look {
    fn has(&self, option: i32) -> bool {
        (self.at | self.marks) & option != 0
    }

    fn browses(&self) -> bool {
        self.has(MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT | MQGMO_BROWSE_MSG_UNDER_CURSOR)
    }

    fn under_cursor(&self) -> bool {
        self.has(MQGMO_BROWSE_MSG_UNDER_CURSOR | MQGMO_MSG_UNDER_CURSOR)
    }

    /// Whether it is refused what another handle has marked for all.
    fn refused(&self) -> bool {
        self.has(MQGMO_MARK_BROWSE_CO_OP) && !self.has(MQGMO_UNMARKED_BROWSE_MSG)
    }
}

/// What must be true of the queue and its handles.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// In their order.
    messages: Vec<Known>,
    cursors: [Option<Key>; HANDLES.len()],
}

impl Queue {
    /// Messages that a look comes by, first to last.
    fn on_its_way(&self, look: Look) -> impl Iterator<Item = &Known> {
        let cursor = self.cursors[look.handle];
        let seen = self.messages.iter().filter(|m| m.held.is_none());
        seen.filter(move |m| match look.under_cursor() {
            true => Some(m.key) == cursor,
            false => !look.has(MQGMO_BROWSE_NEXT) || cursor.is_none_or(|cursor| m.key > cursor),
        })
    }

    /// Whether a look that was made between these two may have come to this.
    fn may_find(&self, look: Look, during: (u64, u64), found: Result<u64, Reason>) -> bool {
        for m in self.on_its_way(look) {
            let marked = match look.has(MQGMO_UNMARKED_BROWSE_MSG) {
                true => m.marked(look.handle, during),
                false => Marked::No,
            };
            let refused = match look.refused() {
                true => m.by_another(look.handle, during),
                false => Marked::No,
            };
            match found {
                Ok(id) if id == m.key.1 => return marked != Marked::Yes && refused != Marked::Yes,
                Err(Reason::MSG_MARKED_BROWSE_CO_OP) => return refused != Marked::No,
                _ if marked == Marked::No => return false,
                _ => {}
            }
        }
        let none = match look.under_cursor() {
            true => Reason::NO_MSG_UNDER_CURSOR,
            false => Reason::NO_MSG_AVAILABLE,
        };
        found == Err(none)
    }

    fn message(&mut self, id: u64) -> Option<&mut Known> {
        self.messages.iter_mut().find(|m| m.key.1 == id)
    }

    /// What a browse leaves behind.
    fn browsed(&mut self, look: Look, (begun, ended): (u64, u64), id: u64) {
        let handle = look.handle;
        let Some(m) = self.message(id) else {
            return;
        };
        if look.has(MQGMO_UNMARKED_BROWSE_MSG) && HANDLES[handle].1 {
            // It was not marked, so its mark had lapsed.
            m.for_all = None;
        }
        if look.has(MQGMO_UNMARK_BROWSE_CO_OP) {
            m.for_all = None;
        }
        if look.has(MQGMO_MARK_BROWSE_CO_OP) {
            let lapses = (begun + INTERVAL, ended + INTERVAL + LATER);
            let by = Some(handle);
            m.for_all = Some(ForAll { by, lapses });
        }
        if look.has(MQGMO_MARK_BROWSE_HANDLE | MQGMO_UNMARK_BROWSE_HANDLE) {
            m.own[handle] = look.has(MQGMO_MARK_BROWSE_HANDLE);
        }
        self.cursors[handle] = Some(m.key);
    }

    /// A message was got, for good or by the unit of work of a connection.
    fn got(&mut self, id: u64, by: Option<usize>) {
        match (self.message(id), by) {
            (Some(m), Some(_)) => {
                m.held = by;
                m.unmarked();
            }
            _ => self.messages.retain(|m| m.key.1 != id),
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

    /// A handle is closed: what it has marked for all stays so, and is by none of those that are open.
    fn closed(&mut self, handle: usize) {
        self.cursors[handle] = None;
        for m in &mut self.messages {
            m.own[handle] = false;
            if let Some(mark) = m.for_all.as_mut().filter(|mark| mark.by == Some(handle)) {
                mark.by = None;
            }
        }
    }
}

/// Two connections, and what they know.
struct Pair {
    connections: [Worker; 2],
    handles: [Hobj; HANDLES.len()],
    queue: Queue,
}

impl Worker {
    /// Works with another connection until the queue manager or a rule says stop.
    pub(crate) async fn mark(self, other: Worker) {
        let mut pair = Pair {
            connections: [self, other],
            handles: [Hobj::NONE; HANDLES.len()],
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
}

impl Pair {
    fn below(&self, n: u64) -> u64 {
        self.connections[0].below(n)
    }

    fn met(&self, what: &str) {
        self.connections[0].met(what);
    }

    fn now(&self) -> u64 {
        self.connections[0].clock.monotonic()
    }

    fn of(&self, handle: usize) -> &Worker {
        &self.connections[HANDLES[handle].0]
    }

    /// From an empty queue and new handles to the end of all units of work.
    async fn round(&mut self) -> Going {
        self.queue = Queue::default();
        for handle in 0..HANDLES.len() {
            self.open(handle).await?;
        }
        let all = self.handles[0];
        let rest = MQGMO_NO_SYNCPOINT;
        while self.connections[0]
            .take_one(all, rest, Duration::ZERO)
            .await?
            .is_some()
        {}
        for _ in 0..CALLS {
            self.call().await?;
            self.connections[0].sleep(PAUSE).await;
        }
        for handle in 0..HANDLES.len() {
            self.close(handle).await?;
        }
        for connection in 0..self.connections.len() {
            self.finish(connection).await?;
        }
        Ok(())
    }

    async fn call(&mut self) -> Going {
        let handle = self.below(4) as usize;
        match self.below(24) {
            0..6 => self.put().await,
            6..18 => self.look(handle).await,
            18 => self.wait_for_a_lapse(handle).await,
            19 | 20 => self.finish(HANDLES[handle].0).await,
            21 => {
                let nanos = self.below(2 * INTERVAL);
                self.connections[0].sleep(nanos).await;
                Ok(())
            }
            22 if self.below(2) == 0 => self.lose().await,
            _ => {
                self.close(handle).await?;
                self.open(handle).await
            }
        }
    }

    async fn open(&mut self, handle: usize) -> Going {
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_BROWSE;
        let co_op = match HANDLES[handle].1 {
            true => MQOO_CO_OP,
            false => 0,
        };
        let opened = self.of(handle).open_one(QUEUE, options | co_op);
        self.handles[handle] = opened.await?;
        Ok(())
    }

    async fn close(&mut self, handle: usize) -> Going {
        self.of(handle).close_one(self.handles[handle]).await?;
        self.queue.closed(handle);
        Ok(())
    }

    async fn put(&mut self) -> Going {
        if self.queue.messages.len() >= DEEP {
            return Ok(());
        }
        let id = {
            let mut shared = self.connections[0].shared.borrow_mut();
            shared.next_number += 1;
            shared.next_number
        };
        let priority = [0, 4, 9][self.below(3) as usize];
        let mut md = Md {
            msg_id: id24(id),
            persistence: self.below(2) as i32,
            priority,
            ..Md::default()
        };
        let data = payload(id, self.below(3_000));
        self.connections[0]
            .send_one(self.handles[0], &mut md, MQPMO_NO_SYNCPOINT, data)
            .await?;
        self.queue.messages.push(Known {
            key: (9 - priority, id),
            held: None,
            own: Default::default(),
            for_all: None,
        });
        self.queue.messages.sort_by_key(|m| m.key);
        Ok(())
    }

    /// A browse or a get.
    fn draw(&self, handle: usize) -> Look {
        let at = [
            MQGMO_BROWSE_FIRST,
            MQGMO_BROWSE_FIRST,
            MQGMO_BROWSE_NEXT,
            MQGMO_BROWSE_NEXT,
            MQGMO_BROWSE_MSG_UNDER_CURSOR,
            0,
            MQGMO_MSG_UNDER_CURSOR,
        ][self.below(7) as usize];
        let own = [
            0,
            MQGMO_UNMARKED_BROWSE_MSG,
            MQGMO_MARK_BROWSE_HANDLE,
            MQGMO_MARK_BROWSE_HANDLE | MQGMO_UNMARKED_BROWSE_MSG,
            MQGMO_UNMARK_BROWSE_HANDLE,
        ][self.below(5) as usize];
        let for_all = [
            0,
            MQGMO_MARK_BROWSE_CO_OP,
            MQGMO_MARK_BROWSE_CO_OP | MQGMO_UNMARKED_BROWSE_MSG,
            MQGMO_MARK_BROWSE_CO_OP | MQGMO_UNMARKED_BROWSE_MSG,
            MQGMO_UNMARK_BROWSE_CO_OP,
        ][self.below(5) as usize];
        let mut look = Look {
            handle,
            at,
            marks: 0,
        };
        if look.browses() {
            look.marks = match HANDLES[handle].1 {
                true if self.below(4) > 0 => for_all,
                true => own | for_all,
                false => own,
            };
        }
        look
    }

    async fn look(&mut self, handle: usize) -> Going {
        let look = self.draw(handle);
        let in_unit = !look.browses() && self.below(2) == 0;
        let sync = match in_unit {
            true => MQGMO_SYNCPOINT,
            false => MQGMO_NO_SYNCPOINT,
        };
        let (found, during) = self.make(look, sync).await?;
        self.judge(look, during, found).await?;
        self.note(look, during, found);
        match found {
            Ok(id) if look.browses() => self.queue.browsed(look, during, id),
            Ok(id) => self.queue.got(id, in_unit.then_some(HANDLES[handle].0)),
            Err(Reason::MSG_MARKED_BROWSE_CO_OP) => {
                // A browse goes on behind what it was refused.
                let refused = self.queue.on_its_way(look).next();
                self.queue.cursors[handle] = refused.map(|m| m.key);
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// What a look comes to, and when it was made.
    async fn make(
        &self,
        look: Look,
        options: i32,
    ) -> Result<(Result<u64, Reason>, (u64, u64)), Reason> {
        let worker = self.of(look.handle);
        let mut gmo = Gmo {
            version: MQGMO_VERSION_2,
            options: look.at | look.marks | options,
            match_options: MQMO_NONE,
            wait_interval: WAIT,
            ..Gmo::default()
        };
        let begun = self.now();
        let mut md = Md::default();
        let got = worker
            .session
            .get(self.handles[look.handle], &mut md, &mut gmo, BUFFER);
        let found = got.await.map(|done| {
            let number = done.value.data.first_chunk::<8>();
            number.map_or(0, |number| u64::from_le_bytes(*number))
        });
        let during = (begun, self.now());
        worker.say(&format!("{look:?} -> {found:?} {during:?}"));
        match found {
            Ok(_)
            | Err(
                Reason::NO_MSG_AVAILABLE
                | Reason::NO_MSG_UNDER_CURSOR
                | Reason::MSG_MARKED_BROWSE_CO_OP,
            ) => Ok((found, during)),
            Err(reason) => Err(reason),
        }
    }

    async fn judge(&self, look: Look, during: (u64, u64), found: Result<u64, Reason>) -> Going {
        let may = self.queue.may_find(look, during, found);
        if !may {
            self.unless_backed_out().await?;
        }
        must(may, Rule::Marks, || {
            let queue = &self.queue;
            format!("{look:?} came to {found:?} between {during:?}: {queue:?}")
        })
    }

    /// What has been met.
    fn note(&self, look: Look, during: (u64, u64), found: Result<u64, Reason>) {
        let Ok(id) = found else {
            if found == Err(Reason::MSG_MARKED_BROWSE_CO_OP) {
                self.met("refused what another has marked");
            }
            return;
        };
        let of = |m: &&Known| m.key.1 == id;
        let Some(message) = self.queue.messages.iter().find(of) else {
            return;
        };
        let mut before = self
            .queue
            .on_its_way(look)
            .take_while(|m| m.key < message.key);
        let was = message.for_all.map(|mark| mark.at(during));
        for (met, what) in [
            (
                look.has(MQGMO_MARK_BROWSE_HANDLE),
                "browse marked for a handle",
            ),
            (look.has(MQGMO_MARK_BROWSE_CO_OP), "browse marked for all"),
            (before.next().is_some(), "marked message passed by"),
            (
                look.has(MQGMO_UNMARKED_BROWSE_MSG) && was == Some(Marked::No),
                "mark lapsed",
            ),
            (
                look.has(MQGMO_UNMARK_BROWSE_CO_OP) && was == Some(Marked::Yes),
                "mark taken off",
            ),
            (
                look.has(MQGMO_MSG_UNDER_CURSOR) && was == Some(Marked::Yes),
                "marked message got under cursor",
            ),
        ] {
            if met {
                self.met(what);
            }
        }
    }

    /// Waits for a message that is not marked for all: at the latest one is so when its mark has lapsed.
    async fn wait_for_a_lapse(&mut self, handle: usize) -> Going {
        let lapses = self
            .queue
            .messages
            .iter()
            .filter(|m| m.held.is_none() && !m.own[handle]);
        let lapses: Vec<u64> = lapses
            .map(|m| m.for_all.map_or(0, |mark| mark.lapses.1))
            .collect();
        let Some(latest) = lapses.iter().min().filter(|_| HANDLES[handle].1) else {
            return Ok(());
        };
        let look = Look {
            handle,
            at: MQGMO_BROWSE_FIRST,
            marks: MQGMO_MARK_BROWSE_CO_OP | MQGMO_UNMARKED_BROWSE_MSG,
        };
        let (found, during) = self.make(look, MQGMO_WAIT).await?;
        if found.is_err() {
            self.unless_backed_out().await?;
        }
        must(found.is_ok(), Rule::Marks, || {
            format!(
                "a mark lapsed by {latest} and nothing was shown {during:?}: {:?}",
                self.queue
            )
        })?;
        self.judge(look, during, found).await?;
        if during.1 >= during.0 + LATER {
            self.met("waited for a mark to lapse");
        }
        let late = during.1.saturating_sub(*latest.max(&during.0));
        must(
            self.of(handle).remote().is_some() || late < SHOWN,
            Rule::Marks,
            || format!("a mark lapsed by {latest} and was shown {late} ns later"),
        )?;
        if let Ok(id) = found {
            self.queue.browsed(look, during, id);
        }
        Ok(())
    }

    /// Commits or backs out. What comes back is not marked.
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
        Ok(())
    }

    /// The second connection is lost, and another takes its place. Marks for all stay: the first has a handle.
    async fn lose(&mut self) -> Going {
        let session = match &self.connections[1].session {
            Caller::Local(session) => {
                let qm = session.queue_manager();
                session.terminate().await;
                let who = Application {
                    name: "marks".to_owned(),
                    ..Application::default()
                };
                Caller::Local(qm.connect(who)?)
            }
            Caller::Remote(remote) => Caller::Remote(remote.lose("marks").await?),
        };
        self.connections[1].session = session;
        self.connections[1].say("is lost");
        self.queue.ended(1, false);
        let marked = self.queue.messages.iter().any(|m| m.for_all.is_some());
        if marked {
            self.met("mark for all outlives a lost connection");
        }
        for handle in (0..HANDLES.len()).filter(|handle| HANDLES[*handle].0 == 1) {
            self.queue.closed(handle);
            self.open(handle).await?;
        }
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
