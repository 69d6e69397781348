//! The calls of an application: how each is drawn, made, and told to the oracle.

use bytes::Bytes;
use posthaste_engine::{Got, Verb};
use posthaste_model::{Delivered, Get, How, Match, Op, OpId, Outcome, Put};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, MsgToken, Od, Pmo, Reason};

use crate::delayed::behind_header;
use crate::workload::{Target, Worker, digest, id24, outcome, patient, payload};

/// Longer than any message.
pub(crate) const BUFFER: usize = 8 << 20;
/// Shorter than most, and long enough for a message's number.
const SHORT: usize = 64;
/// Messages of a unit of work that makes a queue deep.
const DEEP_UNIT: u64 = 200;
/// What a selecting handle selects.
const SELECTED: Match = Match {
    msg_id: None,
    correl_id: None,
    least_priority: Some(1),
};
/// Microseconds in a tenth of a second.
pub(crate) const TENTH: u64 = 100_000;

/// How a message is put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) persistent: bool,
    pub(crate) priority: u8,
    pub(crate) in_uow: bool,
    pub(crate) correl: u64,
    /// Of a second, after which it expires.
    pub(crate) tenths: Option<u64>,
    pub(crate) asynchronous: bool,
}

impl Manner {
    /// Persistent, and nothing else.
    pub(crate) fn plain(in_uow: bool) -> Manner {
        Manner {
            persistent: true,
            priority: 0,
            in_uow,
            correl: 0,
            tenths: None,
            asynchronous: false,
        }
    }
}

/// Bytes of the longest message.
pub(crate) const LONGEST: u64 = 4_000_000;

impl Target {
    /// The handle that gives what is wanted.
    fn giving(&self, want: Match) -> Hobj {
        match (want.least_priority, self.selecting) {
            (Some(_), Some(selecting)) => selecting,
            _ => self.handle,
        }
    }
}

impl Worker {
    pub(crate) fn length(&self) -> u64 {
        if self.chance(self.plan.huge) {
            self.met("put of a megabyte");
            return LONGEST / 4 + self.below(LONGEST / 4 * 3);
        }
        self.below(self.plan.max_message)
    }

    /// A message that nobody has put yet: its number and its data.
    pub(crate) fn letter(&self, length: u64) -> (u64, Bytes) {
        let mut shared = self.shared.borrow_mut();
        shared.next_id += 1;
        let id = shared.next_id;
        let data = payload(id, length);
        shared.sent.insert(id, (data.len(), digest(&data)));
        (id, data)
    }

    /// Draws how a message is put.
    pub(crate) fn manner(&self) -> Manner {
        Manner {
            persistent: self.chance(self.plan.persistent),
            priority: self.below(3) as u8,
            in_uow: self.chance(self.plan.syncpoint),
            correl: self.below(4),
            tenths: self.chance(self.plan.expiry).then(|| 1 + self.below(5)),
            asynchronous: self.below(2) == 1,
        }
    }

    pub(crate) async fn put(&self) -> bool {
        let target = self.target();
        if let Some(session) = self.local()
            && self.delays(target)
        {
            return self.put_delayed(session, target).await;
        }
        let length = self.length();
        let manner = self.manner();
        self.make_put(target, length, manner).await
    }

    /// Puts a message of this length, and tells the oracle.
    pub(crate) async fn make_put(&self, target: Target, length: u64, manner: Manner) -> bool {
        let (id, data) = self.letter(length);
        let hash = self.shared.borrow().sent[&id].1;
        let put = Put {
            queue: target.queue,
            id,
            hash,
            persistent: Some(manner.persistent),
            priority: Some(manner.priority),
            in_uow: manner.in_uow,
            expiry: manner.tenths.map(|tenths| tenths * TENTH),
            delay: None,
            msg_id: id,
            correl_id: manner.correl,
        };
        let mut md = Md {
            persistence: i32::from(manner.persistent),
            priority: i32::from(manner.priority),
            msg_id: id24(id),
            correl_id: id24(manner.correl),
            expiry: manner.tenths.map_or(MQEI_UNLIMITED, |tenths| tenths as i32),
            ..Md::default()
        };
        let (unit, asynchronous) = (
            [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(manner.in_uow)],
            [0, MQPMO_ASYNC_RESPONSE][usize::from(manner.asynchronous)],
        );
        let mut pmo = Pmo {
            options: unit | asynchronous,
            ..Pmo::default()
        };
        for (met, what) in [
            (manner.in_uow, "put syncpoint"),
            (manner.persistent, "put persistent"),
            (manner.tenths.is_some(), "put expiry"),
            (manner.asynchronous, "put async response"),
        ] {
            if met {
                self.met(what);
            }
        }
        let op = self.invoke(Op::Put(put));
        let limit = self.limit();
        let one = self.below(8) == 0;
        if let (Some(remote), true) = (self.remote(), manner.asynchronous) {
            return self
                .put_unanswered(remote, (target, one), (&md, &pmo), data, (op, manner))
                .await;
        }
        self.met(["MQPUT", "MQPUT1"][usize::from(one)]);
        let result = if one {
            let mut od = Od {
                object_name: target.name,
                ..Od::default()
            };
            let call = self.session.put1(&mut od, &mut md, &mut pmo, data);
            patient(call, limit).await
        } else {
            let call = self.session.put(target.handle, &mut md, &mut pmo, data);
            patient(call, limit).await
        };
        match result {
            Some(Ok(_)) => self.put_taken(op, manner).await,
            Some(Err(reason)) => self.put_failed(op, manner, reason).await,
            // Whether a put that was given up has happened is known to nobody.
            None => self.gave_up(op).await,
        }
    }

    /// A put was answered with success. That of a call to the engine itself may still be to be forced.
    pub(crate) async fn put_taken(&self, op: OpId, manner: Manner) -> bool {
        if manner.in_uow {
            return self.still_there(op).await && self.respond(op, Outcome::Done);
        }
        match manner.asynchronous && self.remote().is_none() {
            true => self.left_open(op, manner),
            false => self.respond(op, Outcome::Done),
        }
    }

    /// A put has failed. Only a call to the engine itself is asynchronous and yet answered.
    pub(crate) async fn put_failed(&self, op: OpId, manner: Manner, reason: Reason) -> bool {
        let unknowing = manner.asynchronous && self.remote().is_none();
        if unknowing && manner.in_uow && manner.persistent && reason != Reason::BACKED_OUT {
            self.met("unit of work doomed by a put");
            self.shared.borrow_mut().model.doom(self.number);
        }
        self.failed(op, reason).await
    }

    /// Puts many small messages on one queue, then works as others do.
    pub(crate) async fn deepen(mut self) {
        if self.open().await.is_err() {
            return;
        }
        let target = self.target();
        let manner = Manner {
            persistent: self.below(2) == 0,
            ..Manner::plain(true)
        };
        for n in 1..=self.plan.deep {
            if !self.make_put(target, 0, manner).await
                || n.is_multiple_of(DEEP_UNIT) && !self.commit_now().await
            {
                return;
            }
        }
        self.met("queue of many parts");
        self.work().await;
    }

    fn wanted(&self, target: Target) -> (Match, Md) {
        let mut md = asked();
        let want = match self.below(12) {
            0..3 => {
                let correl = 1 + self.below(3);
                md.correl_id = id24(correl);
                self.met("get by CorrelId");
                Match {
                    correl_id: Some(correl),
                    ..Match::default()
                }
            }
            3 => {
                let last = self.shared.borrow().next_id;
                let id = last.saturating_sub(self.below(30)).max(1);
                md.msg_id = id24(id);
                self.met("get by MsgId");
                Match {
                    msg_id: Some(id),
                    ..Match::default()
                }
            }
            4 | 5 if target.selecting.is_some() => {
                self.met("get by selector");
                SELECTED
            }
            _ => Match::default(),
        };
        (want, md)
    }

    /// How a get stands to the unit of work: for the oracle, and as an option.
    pub(crate) fn unit(&self) -> (How, i32) {
        if !self.chance(self.plan.syncpoint) {
            return (How::NoSyncpoint, MQGMO_NO_SYNCPOINT);
        }
        if self.below(5) == 0 {
            self.met("get syncpoint if persistent");
            return (How::SyncpointIfPersistent, MQGMO_SYNCPOINT_IF_PERSISTENT);
        }
        self.met("get syncpoint");
        (How::Syncpoint, MQGMO_SYNCPOINT)
    }

    pub(crate) async fn get(&self) -> bool {
        let target = self.target();
        let (want, mut md) = self.wanted(target);
        let (how, unit) = self.unit();
        let wait = self.below(3) == 0;
        let (longest, quiescing) = self.over_channel();
        let (buffer, truncate) = match self.below(20) {
            0 => (SHORT, 0),
            1 => (SHORT, MQGMO_ACCEPT_TRUNCATED_MSG),
            _ => (BUFFER, 0),
        };
        let mut gmo = Gmo {
            version: MQGMO_VERSION_2,
            options: unit | truncate | quiescing | if wait { MQGMO_WAIT } else { 0 },
            wait_interval: if wait { self.below(longest) as i32 } else { 0 },
            ..Gmo::default()
        };
        self.met("MQGET");
        if wait {
            self.met("get wait");
        }
        let get = Get {
            queue: target.queue,
            want,
            how,
            wait,
        };
        self.make_get(target, get, &mut md, &mut gmo, buffer).await
    }

    /// How long a get waits, in milliseconds at most, and whether it says that it wants to know of an end.
    fn over_channel(&self) -> (u64, i32) {
        match (self.remote(), &self.plan.channels) {
            (Some(_), Some(channels)) => {
                let quiescing = [0, MQGMO_FAIL_IF_QUIESCING][self.below(2) as usize];
                (channels.wait, quiescing)
            }
            _ => (20, 0),
        }
    }

    /// Waits for a get that waits; a message that comes although its channel was stopped meanwhile had to come.
    async fn counted(&self, call: impl Future<Output = Verb<Got>>) -> Verb<Got> {
        let stops = {
            let mut shared = self.shared.borrow_mut();
            shared.waiting += 1;
            shared.channel_stops
        };
        let result = call.await;
        let mut shared = self.shared.borrow_mut();
        shared.waiting -= 1;
        if result.is_ok() && shared.channel_stops > stops {
            shared.coverage.met("get answered past its wait at a stop");
        }
        result
    }

    /// Gets the message under the cursor, or the one with a token, after a browse has found it.
    pub(crate) async fn get_browsed(&self) -> bool {
        let target = self.target();
        let browsed = self.browse_one(target, MQGMO_BROWSE_FIRST, Match::default());
        let Some((id, token)) = browsed.await else {
            return false;
        };
        let Some(id) = id else { return true };
        let (how, unit) = self.unit();
        let by_token = self.below(2) == 0;
        let (mut md, mut gmo) = (asked(), Gmo::default());
        gmo.options = unit;
        if by_token {
            gmo.version = MQGMO_VERSION_3;
            gmo.match_options = MQMO_MATCH_MSG_TOKEN;
            gmo.msg_token = token;
            self.met("get by token");
        } else {
            gmo.options |= MQGMO_MSG_UNDER_CURSOR;
            self.met("get under cursor");
        }
        let get = Get {
            queue: target.queue,
            want: Match {
                msg_id: Some(id),
                ..Match::default()
            },
            how,
            wait: false,
        };
        self.make_get(target, get, &mut md, &mut gmo, BUFFER).await
    }

    pub(crate) async fn make_get(
        &self,
        target: Target,
        get: Get,
        md: &mut Md,
        gmo: &mut Gmo,
        buffer: usize,
    ) -> bool {
        let op = self.invoke(Op::Get(get));
        let handle = target.giving(get.want);
        let remote = self.remote().is_some();
        let result = if let Some(session) = self.consuming(gmo, buffer) {
            patient(self.consumed(session, handle, md, gmo), self.limit()).await
        } else if remote && get.wait {
            Some(
                self.counted(self.session.get(handle, md, gmo, buffer))
                    .await,
            )
        } else {
            patient(self.session.get(handle, md, gmo, buffer), self.limit()).await
        };
        match result {
            // A warning, with the beginning of a message that stays.
            Some(Ok(done)) if done.warning == Reason::TRUNCATED_MSG_FAILED => {
                self.respond(op, outcome(done.warning))
            }
            Some(Ok(done)) => {
                let cut = done.warning == Reason::TRUNCATED_MSG_ACCEPTED;
                let got = self.delivered(md, &done.value.data, cut.then_some(done.value.length));
                self.hold_against_record(get.queue, md, &got);
                let in_unit = match get.how {
                    How::Syncpoint => true,
                    How::SyncpointIfPersistent => got.persistent,
                    _ => false,
                };
                (!in_unit || self.still_there(op).await) && self.respond(op, Outcome::Got(got))
            }
            Some(Err(reason)) => self.failed(op, reason).await,
            // In a unit of work a get that is given up loses nothing, and the application goes on.
            None if get.how == How::Syncpoint => {
                self.met("call given up");
                self.respond(op, Outcome::Cancelled)
            }
            // Outside, its record may have been forced already.
            None => self.gave_up(op).await,
        }
    }

    /// A message as it came. Of one that was cut the rest is taken on trust: length and beginning must be
    /// right.
    fn delivered(&self, md: &Md, data: &[u8], cut: Option<usize>) -> Delivered {
        let mut got = delivered(md, data);
        if let Some(whole) = cut {
            self.met("get truncated");
            let sent = self.shared.borrow().sent.get(&got.id).copied();
            if let Some((length, hash)) = sent
                && (data.starts_with(b"RFH ")
                    || length == whole && payload(got.id, (length - 8) as u64).starts_with(data))
            {
                got.hash = hash;
            }
        }
        got
    }

    pub(crate) async fn browse(&self) -> bool {
        let which = [MQGMO_BROWSE_FIRST, MQGMO_BROWSE_NEXT];
        let at = self.below(4) as usize;
        let target = self.target();
        let want = match at / 2 {
            1 if target.selecting.is_some() => SELECTED,
            _ => Match::default(),
        };
        self.browse_one(target, which[at % 2], want).await.is_some()
    }

    /// Browses; the number and token of the message, if there was one. `None` ends the application.
    async fn browse_one(
        &self,
        target: Target,
        option: i32,
        want: Match,
    ) -> Option<(Option<u64>, MsgToken)> {
        let mut gmo = Gmo {
            version: MQGMO_VERSION_3,
            options: option,
            match_options: MQMO_NONE,
            ..Gmo::default()
        };
        let how = if option == MQGMO_BROWSE_FIRST {
            self.met("browse first");
            How::BrowseFirst
        } else {
            self.met("browse next");
            How::BrowseNext
        };
        let handle = target.giving(want);
        if want.least_priority.is_some() {
            self.met("browse by selector");
        }
        let get = Get {
            queue: target.queue,
            want,
            how,
            wait: false,
        };
        let op = self.invoke(Op::Get(get));
        let mut md = asked();
        let call = self.session.get(handle, &mut md, &mut gmo, BUFFER);
        match call.await {
            Ok(done) => {
                let got = delivered(&md, &done.value.data);
                self.hold_against_record(target.queue, &md, &got);
                let going = self.respond(op, Outcome::Got(got));
                going.then_some((got.msg_id, gmo.msg_token))
            }
            Err(reason) => {
                let going = self.failed(op, reason).await;
                going.then_some((None, gmo.msg_token))
            }
        }
    }

    /// Allows or inhibits puts or gets.
    pub(crate) async fn set(&self) -> bool {
        let target = self.target();
        let inhibit = self.below(4) == 0;
        let puts = self.below(2) == 0;
        let (selector, op) = if puts {
            let op = Op::Inhibit(target.queue, Some(inhibit), None);
            (MQIA_INHIBIT_PUT, op)
        } else {
            let op = Op::Inhibit(target.queue, None, Some(inhibit));
            (MQIA_INHIBIT_GET, op)
        };
        self.set_attribute(target, selector, i32::from(inhibit), op)
            .await
    }

    pub(crate) async fn set_attribute(
        &self,
        target: Target,
        selector: i32,
        value: i32,
        op: Op,
    ) -> bool {
        self.met("MQSET");
        let op = self.invoke(op);
        let set = self
            .session
            .set(target.handle, &[selector], &[value], &[])
            .await;
        match set {
            Ok(_) => self.respond(op, Outcome::Done),
            Err(reason) => self.failed(op, reason).await,
        }
    }

    /// Gets everything from every queue, outside syncpoint.
    pub(crate) async fn drain(self) {
        for target in self.handles.iter().copied() {
            let op = Op::Inhibit(target.queue, None, Some(false));
            let allowed = MQQA_GET_ALLOWED;
            if !self
                .set_attribute(target, MQIA_INHIBIT_GET, allowed, op)
                .await
            {
                return;
            }
            loop {
                let get = Get {
                    queue: target.queue,
                    want: Match::default(),
                    how: How::NoSyncpoint,
                    wait: false,
                };
                let op = self.invoke(Op::Get(get));
                let (mut md, mut gmo) = (asked(), Gmo::default());
                let call = self.session.get(target.handle, &mut md, &mut gmo, BUFFER);
                let going = match call.await {
                    Ok(done) => {
                        let got = delivered(&md, &done.value.data);
                        self.hold_against_record(target.queue, &md, &got);
                        self.respond(op, Outcome::Got(got))
                    }
                    Err(reason) => {
                        self.respond(op, outcome(reason));
                        false
                    }
                };
                if !going {
                    break;
                }
            }
        }
    }
}

/// The descriptor of a get: one that has room for what a group says.
pub(crate) fn asked() -> Md {
    Md {
        version: MQMD_VERSION_2,
        ..Md::default()
    }
}

pub(crate) fn delivered(md: &Md, data: &[u8]) -> Delivered {
    let own = behind_header(data).and_then(|data| Some((data, *data.first_chunk::<8>()?)));
    let msg_id = md.msg_id.last_chunk();
    let msg_id = msg_id.map(|id| u64::from_be_bytes(*id));
    let (data, id) = match own {
        Some((data, id)) => (data, u64::from_le_bytes(id)),
        // It is cut in its header.
        None => (data, msg_id.unwrap_or(0)),
    };
    Delivered {
        id,
        hash: digest(data),
        persistent: md.persistence == MQPER_PERSISTENT,
        priority: md.priority.clamp(0, 9) as u8,
        backout_count: u32::try_from(md.backout_count).ok(),
        msg_id,
    }
}
