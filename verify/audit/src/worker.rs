//! One connection's work: puts and gets, in and out of syncpoint, each written down before it is
//! made and after it is answered.

mod branches;
mod delayed;
mod lists;
mod publish;

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use posthaste_client::{Address, Call, ClientError, Connection};
use posthaste_env_sim::Rng;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Done, Gmo, Hobj, Md, MsgId, Name, Od, Pmo, Reason, Xid};

pub(crate) use branches::recover;
pub(crate) use delayed::LONGEST_DELAY;

use crate::history::{
    Answer, Ending, Expires, Get, History, Id, NEVER, Outcome, Put, Stamp, Unit, UnitId,
};
use crate::payload::{HEAD, Payload};
use crate::stage::{NAMED, QUEUES, Stage, connect, ending, unanswered, whole};
use crate::violation::{Broken, Violation};

/// The longest message, in bytes.
pub(crate) const LARGEST: usize = 1 << 20;
/// The buffer of a get: room for the longest message, and for the header of one that was delayed.
pub(crate) const BUFFER: usize = LARGEST + 4_096;
/// Bytes queued above which nobody puts.
const FULL: i64 = 24 << 20;
/// Own messages a connection remembers, to get one of them by its identifier.
const REMEMBERED: usize = 16;

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Putter,
    Getter,
    Both,
    /// Gets everything that is left, then ends.
    Drainer,
}

/// Whether a round fills the queues or empties them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Fill,
    Balance,
    Drain,
}

/// How a connection reaches the server.
#[derive(Clone, Debug)]
pub(crate) enum Road {
    Sound(Address),
    /// It may be cut at any moment.
    Cut(Address),
}

/// The connection broke, or has nothing more to do.
struct Over;

pub(crate) struct Worker<'a> {
    stage: &'a Stage,
    road: Road,
    number: u32,
    role: Role,
    mood: Mood,
    rng: Rng,
    next_message: u32,
    next_unit: u32,
    own: VecDeque<(Id, u8, MsgId)>,
    history: History,
}

/// An open connection with every queue open.
struct Link {
    connection: Connection,
    handles: Vec<Hobj>,
    /// XA_OPEN has come.
    coordinated: bool,
}

/// A unit of work in progress: its index in the history, and the bytes it moved.
struct Open {
    id: UnitId,
    at: usize,
    moved: i64,
    puts: Vec<(Id, u8, MsgId)>,
    /// The queue manager backed it out.
    gone: bool,
    /// It is a branch of a global transaction.
    branch: Option<Xid>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        stage: &'a Stage,
        road: Road,
        number: u32,
        (role, mood): (Role, Mood),
        rng: Rng,
    ) -> Worker<'a> {
        Worker {
            stage,
            road,
            number,
            role,
            mood,
            rng,
            next_message: 0,
            next_unit: 0,
            own: VecDeque::new(),
            history: History::default(),
        }
    }

    /// Works until the server is killed or the round is over, and tells what it did.
    pub(crate) fn run(mut self) -> History {
        while !self.stage.over() {
            let mut link = match (self.link(), &self.road) {
                (Ok(link), _) => link,
                (Err(Over), Road::Cut(_)) => continue,
                (Err(Over), Road::Sound(_)) => break,
            };
            let mut going = Ok(());
            while going.is_ok() && !self.stage.over() {
                going = match self.role {
                    Role::Drainer => self.drain(&mut link).and(Err(Over)),
                    _ => self.something(&mut link),
                };
            }
            if going.is_ok() || self.role == Role::Drainer {
                let ended = link.connection.disconnect();
                if let Err(error) = ended {
                    self.broke("MQDISC", &error);
                }
                break;
            }
        }
        self.history
    }

    fn link(&mut self) -> Result<Link, Over> {
        let opened = self.open_all();
        opened.map_err(|error| {
            self.broke("connecting", &error);
            Over
        })
    }

    fn open_all(&self) -> Result<Link, ClientError> {
        let (Road::Sound(address) | Road::Cut(address)) = &self.road;
        let mut connection = connect(address, "audit")?;
        let mut handles = Vec::new();
        for queue in QUEUES {
            let mut od = Od {
                object_name: Name::new(queue.name),
                ..Od::default()
            };
            let options = MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_FAIL_IF_QUIESCING;
            handles.push(connection.open_object(&mut od, options)?.value);
        }
        Ok(Link {
            connection,
            handles,
            coordinated: false,
        })
    }

    /// A call failed. Before the kill nothing explains that its connection is lost, but a network that cuts.
    fn broke(&mut self, call: &str, error: &ClientError) {
        if unanswered(error) && matches!(self.road, Road::Cut(_)) {
            return;
        }
        if (unanswered(error) || ending(error)) && self.stage.killed() {
            return;
        }
        let text = format!("connection {}: {call} failed: {error}", self.number);
        let complaint = Violation::new(Broken::Unexpected, text);
        self.history.complaints.push(complaint);
    }

    /// A reason that the load explains: no message, backed out, log or queue full.
    fn explained(error: &ClientError) -> bool {
        let known = [
            Reason::NO_MSG_AVAILABLE,
            Reason::BACKED_OUT,
            Reason::Q_FULL,
            Reason::RESOURCE_PROBLEM,
        ];
        matches!(error, ClientError::Reason(reason) if known.contains(reason))
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.chance(percent * 10_000)
    }

    fn queue(&mut self) -> u8 {
        u8::try_from(self.rng.index(QUEUES.len())).unwrap_or(0)
    }

    /// Whether the next thing is a put.
    fn puts(&mut self) -> bool {
        match self.role {
            Role::Putter => true,
            Role::Getter | Role::Drainer => false,
            Role::Both if self.stage.queued() > FULL => false,
            Role::Both => self.chance(match self.mood {
                Mood::Fill => 85,
                Mood::Balance => 50,
                Mood::Drain => 15,
            }),
        }
    }

    /// Whether it lets others go on. There is no reply to wait for.
    fn idles(&mut self) -> bool {
        match (self.role, self.mood) {
            (Role::Putter, _) if self.stage.queued() > FULL => true,
            (Role::Putter, Mood::Drain) | (Role::Getter, Mood::Fill) => self.chance(90),
            _ => false,
        }
    }

    /// One call outside syncpoint, or one unit of work.
    fn something(&mut self, link: &mut Link) -> Result<(), Over> {
        if self.idles() {
            thread::sleep(Duration::from_millis(1));
            return Ok(());
        }
        if self.chance(55) {
            return self.unit(link);
        }
        if self.puts() {
            return self.put(link, None);
        }
        if self.chance(10)
            && let Some((id, queue, msg_id)) = self.own.pop_front()
        {
            return self.get(link, None, queue, Some((id, msg_id))).map(|_| ());
        }
        let queue = self.queue();
        self.get(link, None, queue, None).map(|_| ())
    }

    /// Everything that is left on every queue, half of it in units of work.
    fn drain(&mut self, link: &mut Link) -> Result<(), Over> {
        for queue in 0..QUEUES.len() {
            let queue = u8::try_from(queue).unwrap_or(0);
            loop {
                let mut more = true;
                if self.rng.coin() {
                    let mut open = self.begin(link)?;
                    for _ in 0..20 {
                        more = more && self.get(link, Some(&mut open), queue, None)?;
                    }
                    self.commit(link, open)?;
                } else {
                    more = self.get(link, None, queue, None)?;
                }
                if !more {
                    break;
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, link: &mut Link) -> Result<Open, Over> {
        let id = UnitId {
            worker: self.number,
            number: self.next_unit,
        };
        self.next_unit += 1;
        self.history.units.push(Unit {
            id,
            alive: 0,
            ending: Ending::Lost,
            branch: None,
        });
        let at = self.history.units.len() - 1;
        Ok(Open {
            id,
            at,
            moved: 0,
            puts: Vec::new(),
            gone: false,
            branch: self.start_branch(link, id)?,
        })
    }

    fn unit(&mut self, link: &mut Link) -> Result<(), Over> {
        let mut open = self.begin(link)?;
        // Now and then a long one, which keeps messages from others and log files from being reused.
        let long = self.chance(1);
        let calls = if long {
            self.rng.between(20, 80)
        } else {
            self.rng.between(1, 7)
        };
        for _ in 0..calls {
            if long {
                thread::sleep(Duration::from_millis(self.rng.below(10)));
            }
            if self.puts() {
                self.put(link, Some(&mut open))?;
            } else {
                let queue = self.queue();
                self.get(link, Some(&mut open), queue, None)?;
            }
            if open.gone {
                return self.back_out(link, open);
            }
        }
        match self.rng.below(100) {
            0..75 => self.commit(link, open),
            75..93 => self.back_out(link, open),
            93..96 => self.disconnect(link, open),
            _ => {
                // The connection is dropped inside the unit of work.
                self.stage.add_queued(-open.moved);
                *link = self.link()?;
                Ok(())
            }
        }
    }

    fn end(&mut self, open: &Open, ending: Ending) {
        if let Some(unit) = self.history.units.get_mut(open.at) {
            unit.ending = ending;
        }
        match ending {
            Ending::Committed { .. } => {
                self.own.extend(open.puts.iter().copied());
                while self.own.len() > REMEMBERED {
                    self.own.pop_front();
                }
            }
            _ => self.stage.add_queued(-open.moved),
        }
    }

    fn commit(&mut self, link: &mut Link, open: Open) -> Result<(), Over> {
        if let Some(xid) = &open.branch {
            return self.commit_branch(link, &open, xid);
        }
        let called = self.stage.tick();
        let result = link.connection.commit();
        self.committed(&open, called, &result);
        match result {
            Ok(_) => Ok(()),
            Err(ClientError::Reason(Reason::RESOURCE_PROBLEM)) => self.back_out(link, open),
            Err(ClientError::Reason(Reason::BACKED_OUT)) => Ok(()),
            Err(_) => Err(Over),
        }
    }

    /// Ends the unit of work with the connection, and connects again.
    fn disconnect(&mut self, link: &mut Link, open: Open) -> Result<(), Over> {
        let next = self.link()?;
        let old = std::mem::replace(link, next);
        let called = self.stage.tick();
        // A warning of MQDISC says that there was no commit.
        let result = old.connection.disconnect();
        let result = result.and_then(|done| Ok(Done::ok(done.or_warning()?)));
        self.committed(&open, called, &result);
        match result {
            Err(error) if unanswered(&error) => Err(Over),
            _ => Ok(()),
        }
    }

    /// Writes down what a commit came to.
    fn committed(&mut self, open: &Open, called: Stamp, result: &Call<()>) {
        let replied = self.stage.tick();
        if matches!(result, Err(ClientError::Reason(Reason::RESOURCE_PROBLEM))) {
            // The log is full; the unit of work stays, and is backed out next.
            return;
        }
        let ending = match result {
            Ok(_) => Ending::Committed { called, replied },
            Err(error) if unanswered(error) => Ending::InDoubt { called },
            // Backed out by the queue manager.
            Err(_) => Ending::BackedOut { replied },
        };
        self.end(open, ending);
        if let Err(error) = result
            && !Worker::explained(error)
        {
            self.broke("MQCMIT", error);
        }
    }

    fn back_out(&mut self, link: &mut Link, open: Open) -> Result<(), Over> {
        if let Some(xid) = &open.branch {
            return self.back_branch_out(link, &open, xid);
        }
        let result = link.connection.backout();
        let replied = self.stage.tick();
        match result {
            Ok(_) => {
                self.end(&open, Ending::BackedOut { replied });
                Ok(())
            }
            Err(error) => {
                self.end(&open, Ending::Lost);
                self.broke("MQBACK", &error);
                Err(Over)
            }
        }
    }

    fn size(&mut self) -> usize {
        let (low, high) = match self.rng.below(1_000) {
            0..600 => (HEAD as u64, 2_048),
            600..880 => (2_048, 8_192),
            880..990 => (8_192, 65_536),
            _ => (65_536, LARGEST as u64),
        };
        usize::try_from(self.rng.between(low, high)).unwrap_or(HEAD)
    }

    fn payload(&mut self, unit: Option<UnitId>) -> Payload {
        let id = Id {
            worker: self.number,
            number: self.next_message,
        };
        self.next_message += 1;
        let expiry_ms = match self.chance(3) {
            true => u32::try_from(self.rng.between(2, 20)).unwrap_or(2) * 100,
            false => 0,
        };
        Payload {
            run: self.stage.run,
            id,
            unit,
            queue: u8::try_from(self.rng.index(NAMED)).unwrap_or(0),
            persistent: self.chance(75),
            priority: self
                .rng
                .pick(&[0, 4, 4, 4, 4, 4, 7, 9])
                .copied()
                .unwrap_or(4),
            expiry_ms,
        }
    }

    fn answer<T>(result: &Call<T>) -> Answer {
        match result {
            Ok(_) => Answer::Done,
            Err(error) if unanswered(error) => Answer::Unknown,
            Err(_) => Answer::Refused,
        }
    }

    fn put(&mut self, link: &mut Link, unit: Option<&mut Open>) -> Result<(), Over> {
        match self.rng.below(100) {
            0..20 => return self.publish(link, unit),
            20..28 => return self.put_to_list(link, unit),
            28..36 => return self.put_delayed(link, unit),
            _ => {}
        }
        let payload = self.payload(unit.as_ref().map(|open| open.id));
        let length = self.size();
        let data = payload.write(length);
        let (mut md, mut pmo) = describe(&payload);
        let by_name = self.chance(5);
        let called_ms = self.stage.ms();
        let called = self.stage.tick();
        let result = match link.handles.get(usize::from(payload.queue)) {
            Some(handle) if !by_name => link.connection.put(*handle, &mut md, &mut pmo, &data),
            _ => {
                let name = QUEUES
                    .get(usize::from(payload.queue))
                    .map_or("", |q| q.name);
                let mut od = Od {
                    object_name: Name::new(name),
                    ..Od::default()
                };
                link.connection.put1(&mut od, &mut md, &mut pmo, &data)
            }
        };
        let (replied, replied_ms) = (self.stage.tick(), self.stage.ms());
        let answer = Worker::answer(&result);
        let after = u64::from(payload.expiry_ms);
        self.history.puts.push(Put {
            id: payload.id,
            queue: payload.queue,
            persistent: payload.persistent,
            priority: payload.priority,
            expires: (after > 0).then_some(Expires {
                from: called_ms + after,
                by: match answer {
                    Answer::Unknown => NEVER,
                    _ => replied_ms + after,
                },
            }),
            not_before: None,
            unit: payload.unit,
            called,
            replied: if answer == Answer::Unknown {
                NEVER
            } else {
                replied
            },
            answer,
        });
        if answer == Answer::Done {
            let bytes = i64::try_from(length).unwrap_or(0);
            self.stage.add_queued(bytes);
            let own = (payload.id, payload.queue, md.msg_id);
            match unit {
                None => self.own.push_back(own),
                Some(open) => {
                    open.moved += bytes;
                    open.puts.push(own);
                    self.alive(open, called);
                }
            }
            return Ok(());
        }
        self.refused("MQPUT", result.err(), unit)
    }

    fn alive(&mut self, open: &Open, called: Stamp) {
        if let Some(unit) = self.history.units.get_mut(open.at) {
            unit.alive = called;
        }
    }

    /// A put or get that did not come to a message.
    fn refused(
        &mut self,
        call: &str,
        error: Option<ClientError>,
        unit: Option<&mut Open>,
    ) -> Result<(), Over> {
        let Some(error) = error else {
            return Ok(());
        };
        if unanswered(&error) || ending(&error) {
            self.broke(call, &error);
            return Err(Over);
        }
        if let ClientError::Reason(Reason::BACKED_OUT) = error
            && let Some(open) = unit
        {
            open.gone = true;
        }
        if !Worker::explained(&error) {
            self.broke(call, &error);
        }
        Ok(())
    }

    /// The options of a get, some of which are drawn.
    fn get_options(&mut self, in_unit: bool, if_persistent: bool) -> Gmo {
        let sync = match (in_unit, if_persistent) {
            (false, _) => MQGMO_NO_SYNCPOINT,
            (true, false) => MQGMO_SYNCPOINT,
            (true, true) => MQGMO_SYNCPOINT_IF_PERSISTENT,
        };
        let wait = match self.role {
            Role::Drainer => 0,
            _ => i32::try_from(self.rng.below(30)).unwrap_or(0),
        };
        Gmo {
            options: sync | MQGMO_FAIL_IF_QUIESCING | if wait > 0 { MQGMO_WAIT } else { 0 },
            wait_interval: wait,
            ..Gmo::default()
        }
    }

    /// Gets a message: the next one, or a certain one. False if there was none.
    fn get(
        &mut self,
        link: &mut Link,
        mut unit: Option<&mut Open>,
        queue: u8,
        wanted: Option<(Id, MsgId)>,
    ) -> Result<bool, Over> {
        // Not where the network cuts: a non-persistent message is then got outside syncpoint, and a lost reply
        // takes it along, although the call asked for a unit of work.
        let sound = matches!(self.road, Road::Sound(_));
        let if_persistent = sound && unit.is_some() && self.chance(15);
        let mut gmo = self.get_options(unit.is_some(), if_persistent);
        let mut md = Md::default();
        if let Some((_, msg_id)) = wanted {
            md.msg_id = msg_id;
        }
        let handle = link.handles.get(usize::from(queue)).copied();
        let called_ms = self.stage.ms();
        let called = self.stage.tick();
        let handle = handle.unwrap_or(Hobj::UNUSABLE);
        let result = whole(link.connection.get(handle, &mut md, &mut gmo, BUFFER));
        let (replied, replied_ms) = (self.stage.tick(), self.stage.ms());
        let mut record = Get {
            queue,
            unit: unit.as_ref().map(|open| open.id),
            called,
            replied,
            called_ms,
            replied_ms,
            plain: wanted.is_none(),
            outcome: Outcome::Empty,
        };
        let error = match result {
            Ok(got) => {
                let read = Payload::read(&got.data, self.stage.run)
                    .and_then(|payload| payload.found(queue, md.persistence, md.priority));
                let bytes = i64::try_from(got.length).unwrap_or(0);
                self.stage.add_queued(-bytes);
                if if_persistent && md.persistence != MQPER_PERSISTENT {
                    unit = None;
                    record.unit = None;
                }
                if let Some(open) = unit {
                    open.moved -= bytes;
                    self.alive(open, called);
                }
                self.delivered(record, read, &md, wanted);
                return Ok(true);
            }
            Err(error) => error,
        };
        record.outcome = match &error {
            ClientError::Reason(Reason::NO_MSG_AVAILABLE) => Outcome::Empty,
            error if unanswered(error) => Outcome::Unknown,
            error if ending(error) => Outcome::Ended,
            _ => Outcome::Refused,
        };
        if record.outcome == Outcome::Unknown {
            record.replied = NEVER;
        }
        self.history.gets.push(record);
        self.refused("MQGET", Some(error), unit).map(|()| false)
    }

    fn delivered(
        &mut self,
        mut record: Get,
        read: Result<Payload, String>,
        md: &Md,
        wanted: Option<(Id, MsgId)>,
    ) {
        let payload = match read {
            Ok(payload) => payload,
            Err(text) => {
                self.history
                    .complaints
                    .push(Violation::new(Broken::Damaged, text));
                return;
            }
        };
        record.outcome = Outcome::Delivered {
            id: payload.id,
            backouts: u32::try_from(md.backout_count).unwrap_or(u32::MAX),
        };
        if let Some((id, _)) = wanted
            && id != payload.id
        {
            let text = format!("asked for message {id}, got {}", payload.id);
            self.history
                .complaints
                .push(Violation::new(Broken::Mismatched, text));
        }
        self.history.gets.push(record);
    }
}

fn describe(payload: &Payload) -> (Md, Pmo) {
    let md = Md {
        persistence: if payload.persistent {
            MQPER_PERSISTENT
        } else {
            MQPER_NOT_PERSISTENT
        },
        priority: i32::from(payload.priority),
        expiry: match payload.expiry_ms {
            0 => MQEI_UNLIMITED,
            ms => i32::try_from(ms / 100).unwrap_or(MQEI_UNLIMITED),
        },
        ..Md::default()
    };
    let sync = match payload.unit {
        Some(_) => MQPMO_SYNCPOINT,
        None => MQPMO_NO_SYNCPOINT,
    };
    let pmo = Pmo {
        options: sync | MQPMO_NEW_MSG_ID | MQPMO_FAIL_IF_QUIESCING,
        ..Pmo::default()
    };
    (md, pmo)
}
