//! An administrator at work under load: queues of his own are defined, altered, cleared, deleted and defined
//! again under the same names, and what is on them is known message by message. One of them is permanent
//! dynamic: MQOPEN of a model queue makes it, MQCLOSE deletes it, and a crash keeps it. Beside them temporary
//! dynamic queues come and go, of which nothing may be left after a round.
//!
//! Invariant: of each queue either one state is certain, or two are possible (before and after the call that
//! got no reply); what is found after the round must be one of them.

use std::path::PathBuf;

use posthaste_client::{Address, ClientError, Connection};
use posthaste_env_sim::Rng;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Name, Od, Pmo, Reason};

use crate::server::runmqsc;
use crate::stage::{Stage, connect, ending, unanswered, whole};
use crate::violation::{Broken, Violation};

/// His queues.
const NAMES: [(&str, Made); 4] = [
    ("AUDIT.OWN.1", Made::Defined),
    ("AUDIT.OWN.2", Made::Defined),
    ("AUDIT.OWN.3", Made::Defined),
    ("AUDIT.OWN.PERMANENT", Made::Opened),
];
/// The model of the permanent dynamic one.
const MODEL: &str = "AUDIT.MODEL.PERMANENT";
/// The temporary one, of the model queue that every queue manager has.
const TEMPORARY: &str = "AUDIT.OWN.TEMPORARY";
/// Longest message in bytes: long enough to spill, and to be old at a checkpoint.
const LARGEST: u64 = 40_000;

/// Numbers of the messages on a queue in order; none: there is no such queue.
type Content = Option<Vec<u64>>;

/// How a queue comes into being.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// By DEFINE; DELETE ends it.
    Defined,
    /// By MQOPEN of a model queue; MQCLOSE with MQCO_DELETE_PURGE ends it.
    Opened,
}

struct OwnQueue {
    name: &'static str,
    made: Made,
    certain: Content,
    /// What it holds instead, if the call without a reply has happened.
    possible: Option<Content>,
}

pub(crate) struct Definer {
    program: PathBuf,
    data: PathBuf,
    rng: Rng,
    queues: Vec<OwnQueue>,
    next: u64,
    /// Definitions changed, permanent and temporary dynamic queues made, and messages put, so far.
    pub(crate) definitions: u64,
    pub(crate) permanent: u64,
    pub(crate) temporary: u64,
    pub(crate) puts: u64,
}

/// What became of a step.
enum Answer {
    Done,
    /// Refused: nothing has changed.
    Refused,
    /// No reply.
    Unknown,
}

impl Definer {
    pub(crate) fn new(program: PathBuf, data: PathBuf, rng: Rng) -> Definer {
        let queues = NAMES.map(|(name, made)| OwnQueue {
            name,
            made,
            certain: None,
            possible: None,
        });
        Definer {
            program,
            data,
            rng,
            queues: queues.into(),
            next: 0,
            definitions: 0,
            permanent: 0,
            temporary: 0,
            puts: 0,
        }
    }

    /// Works until the round is over. Says what nothing explains.
    pub(crate) fn work(&mut self, stage: &Stage, address: &Address) -> Result<(), Violation> {
        let mut connection = match connect(address, "audit-definer") {
            Ok(connection) => connection,
            Err(error) => return self.explained(stage, "connecting", &error),
        };
        while !stage.over() {
            let at = self.rng.index(self.queues.len());
            let (made, certain) = (self.queues[at].made, self.queues[at].certain.clone());
            let result = match (certain, made) {
                (None, Made::Defined) => self.define(at),
                (None, Made::Opened) => self.create(at, &mut connection),
                (Some(content), _) => match (self.rng.below(100), made) {
                    (0..65, _) => self.put(at, content, &mut connection),
                    (65..75, _) => self.get(at, content, &mut connection),
                    (75..80, _) => self.use_temporary(&mut connection),
                    (80..85, _) => {
                        self.command(at, "ALTER QLOCAL({}) DESCR('altered')", Some(content))
                    }
                    (85..90, _) => self.command(at, "CLEAR QLOCAL({})", Some(Vec::new())),
                    (_, Made::Defined) => self.command(at, "DELETE QLOCAL({}) PURGE", None),
                    (_, Made::Opened) => self.delete(at, &mut connection),
                },
            };
            match result {
                Ok(Answer::Done | Answer::Refused) => {}
                Ok(Answer::Unknown) => break,
                Err((what, error)) => return self.explained(stage, what, &error),
            }
        }
        Ok(())
    }

    fn explained(&self, stage: &Stage, what: &str, error: &ClientError) -> Result<(), Violation> {
        if stage.killed() && (unanswered(error) || ending(error)) {
            return Ok(());
        }
        let text = format!("the administrator: {what} failed: {error}");
        Err(Violation::new(Broken::Unexpected, text))
    }

    fn define(&mut self, at: usize) -> Result<Answer, (&'static str, ClientError)> {
        self.command(at, "DEFINE QLOCAL({}) MAXDEPTH(100000)", Some(Vec::new()))
    }

    /// Lets MQOPEN make the permanent dynamic queue.
    fn create(
        &mut self,
        at: usize,
        connection: &mut Connection,
    ) -> Result<Answer, (&'static str, ClientError)> {
        self.queues[at].possible = Some(Some(Vec::new()));
        let mut od = from_model(MODEL, self.queues[at].name);
        let handle = match connection.open_object(&mut od, MQOO_OUTPUT) {
            Ok(done) => done.value,
            // The model comes first, as with any queue.
            Err(ClientError::Reason(Reason::UNKNOWN_OBJECT_NAME)) => {
                self.queues[at].possible = None;
                let model = format!(
                    "DEFINE QMODEL({MODEL}) DEFTYPE(PERMDYN) MAXDEPTH(100000) DEFSOPT(SHARED) SHARE REPLACE"
                );
                return Ok(match runmqsc(&self.program, &self.data, &model) {
                    Ok(true) => Answer::Done,
                    Ok(false) | Err(_) => Answer::Unknown,
                });
            }
            Err(error) => return self.answered(at, "MQOPEN", Err(error)),
        };
        self.definitions += 1;
        self.permanent += 1;
        let result = self.answered(at, "MQOPEN", Ok(()))?;
        match connection.close(handle, MQCO_NONE) {
            Ok(_) => Ok(result),
            Err(error) => Err(("MQCLOSE", error)),
        }
    }

    /// Lets MQCLOSE delete the permanent dynamic queue with what is on it.
    fn delete(
        &mut self,
        at: usize,
        connection: &mut Connection,
    ) -> Result<Answer, (&'static str, ClientError)> {
        let mut od = named(self.queues[at].name);
        let handle = match connection.open_object(&mut od, MQOO_INPUT_SHARED) {
            Ok(done) => done.value,
            Err(error) => return self.answered(at, "MQOPEN", Err(error)),
        };
        self.queues[at].possible = Some(None);
        self.definitions += 1;
        let result = connection.close(handle, MQCO_DELETE_PURGE);
        self.answered(at, "MQCLOSE", result.map(drop))
    }

    /// Makes a temporary dynamic queue, uses it as a requester would, and closes it; a crash or a
    /// cut may come in between.
    fn use_temporary(
        &mut self,
        connection: &mut Connection,
    ) -> Result<Answer, (&'static str, ClientError)> {
        let mut od = from_model("SYSTEM.DEFAULT.MODEL.QUEUE", TEMPORARY);
        let opened = connection.open_object(&mut od, MQOO_INPUT_EXCLUSIVE | MQOO_OUTPUT);
        let handle = match explained(opened).map_err(|error| ("MQOPEN", error))? {
            Some(done) => done.value,
            None => return Ok(Answer::Refused),
        };
        self.temporary += 1;
        let mut pmo = Pmo {
            options: MQPMO_NO_SYNCPOINT | MQPMO_NEW_MSG_ID,
            ..Pmo::default()
        };
        let mut gmo = Gmo {
            options: MQGMO_NO_SYNCPOINT,
            ..Gmo::default()
        };
        let data = self.temporary.to_le_bytes();
        let mut md = Md {
            persistence: MQPER_NOT_PERSISTENT,
            ..Md::default()
        };
        let put = connection.put(handle, &mut md, &mut pmo, &data);
        if explained(put).map_err(|error| ("MQPUT", error))?.is_some() {
            let got = connection.get(handle, &mut Md::default(), &mut gmo, data.len());
            let got = got.map_err(|error| ("MQGET", error))?;
            if *got.value.data != data {
                let wrong = ClientError::Reason(Reason::UNEXPECTED_ERROR);
                return Err(("MQGET of what was put just before", wrong));
            }
        }
        let closed = connection.close(handle, MQCO_NONE);
        closed.map_err(|error| ("MQCLOSE", error))?;
        Ok(Answer::Done)
    }

    /// Lets `runmqsc` carry a command out.
    fn command(
        &mut self,
        at: usize,
        text: &str,
        after: Content,
    ) -> Result<Answer, (&'static str, ClientError)> {
        let line = text.replace("{}", self.queues[at].name);
        self.queues[at].possible = Some(after);
        let result = match runmqsc(&self.program, &self.data, &line) {
            Ok(true) => Answer::Done,
            // It does not say whether the command was refused or got no reply.
            Ok(false) | Err(_) => Answer::Unknown,
        };
        self.definitions += 1;
        self.settle(at, &result);
        Ok(result)
    }

    /// A step is over: what it came to.
    fn settle(&mut self, at: usize, result: &Answer) {
        let queue = &mut self.queues[at];
        match result {
            Answer::Done => {
                if let Some(after) = queue.possible.take() {
                    queue.certain = after;
                }
            }
            Answer::Refused => queue.possible = None,
            Answer::Unknown => {}
        }
    }

    fn put(
        &mut self,
        at: usize,
        mut content: Vec<u64>,
        connection: &mut Connection,
    ) -> Result<Answer, (&'static str, ClientError)> {
        let number = self.next;
        self.next += 1;
        let mut data = number.to_le_bytes().to_vec();
        let length = self.rng.below(LARGEST) as usize;
        data.resize(8 + length, number as u8);
        let mut md = Md {
            persistence: MQPER_PERSISTENT,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: MQPMO_NO_SYNCPOINT | MQPMO_NEW_MSG_ID | MQPMO_FAIL_IF_QUIESCING,
            ..Pmo::default()
        };
        let mut od = named(self.queues[at].name);
        content.push(number);
        self.queues[at].possible = Some(Some(content));
        let result = connection.put1(&mut od, &mut md, &mut pmo, &data);
        self.puts += 1;
        self.answered(at, "MQPUT1", result.map(drop))
    }

    fn get(
        &mut self,
        at: usize,
        mut content: Vec<u64>,
        connection: &mut Connection,
    ) -> Result<Answer, (&'static str, ClientError)> {
        let mut od = named(self.queues[at].name);
        let handle = match connection.open_object(&mut od, MQOO_INPUT_SHARED) {
            Ok(done) => done.value,
            Err(error) => return self.answered(at, "MQOPEN", Err(error)),
        };
        if !content.is_empty() {
            content.remove(0);
        }
        self.queues[at].possible = Some(Some(content));
        let mut gmo = Gmo {
            options: MQGMO_NO_SYNCPOINT | MQGMO_FAIL_IF_QUIESCING,
            ..Gmo::default()
        };
        let largest = LARGEST as usize + 8;
        let result = whole(connection.get(handle, &mut Md::default(), &mut gmo, largest));
        let result = match result {
            Err(ClientError::Reason(Reason::NO_MSG_AVAILABLE)) => Ok(()),
            other => other.map(drop),
        };
        let result = self.answered(at, "MQGET", result)?;
        match connection.close(handle, MQCO_NONE) {
            Ok(_) => Ok(result),
            Err(error) => Err(("MQCLOSE", error)),
        }
    }

    fn answered(
        &mut self,
        at: usize,
        what: &'static str,
        result: Result<(), ClientError>,
    ) -> Result<Answer, (&'static str, ClientError)> {
        let (result, failed) = match result {
            Ok(()) => (Answer::Done, None),
            // The log is full for the moment, or its disk.
            Err(ClientError::Reason(Reason::RESOURCE_PROBLEM)) => (Answer::Refused, None),
            Err(error) if unanswered(&error) => (Answer::Unknown, Some(error)),
            Err(error) => (Answer::Refused, Some(error)),
        };
        self.settle(at, &result);
        match failed {
            None => Ok(result),
            Some(error) => Err((what, error)),
        }
    }

    /// Looks what is there, while nobody is at work.
    pub(crate) fn check(&mut self, address: &Address) -> Result<Vec<Violation>, ClientError> {
        let mut connection = connect(address, "audit-definer")?;
        let mut found = Vec::new();
        if let Some(left) = browse(&mut connection, TEMPORARY)? {
            let text = format!("{TEMPORARY} is still there, with {} messages", left.len());
            found.push(Violation::new(Broken::Returned, text));
        }
        for queue in &mut self.queues {
            let content = browse(&mut connection, queue.name)?;
            let fits = content == queue.certain || Some(&content) == queue.possible.as_ref();
            if !fits {
                let text = format!(
                    "{} holds {} instead of {}{}",
                    queue.name,
                    shown(&content),
                    shown(&queue.certain),
                    match &queue.possible {
                        Some(possible) => format!(" or {}", shown(possible)),
                        None => String::new(),
                    }
                );
                let broken = match (&content, &queue.certain) {
                    (Some(have), Some(had)) if have.len() > had.len() => Broken::Returned,
                    _ => Broken::Lost,
                };
                found.push(Violation::new(broken, text));
            }
            queue.certain = content;
            queue.possible = None;
        }
        connection.disconnect()?;
        Ok(found)
    }
}

fn named(name: &str) -> Od {
    Od {
        object_name: Name::new(name),
        ..Od::default()
    }
}

fn from_model(model: &str, name: &str) -> Od {
    Od {
        dynamic_q_name: Name::new(name),
        ..named(model)
    }
}

/// Nothing where the log is full for the moment, or its disk.
fn explained<T>(result: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(ClientError::Reason(Reason::RESOURCE_PROBLEM)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn shown(content: &Content) -> String {
    match content {
        None => "no definition".to_owned(),
        Some(all) => format!("{} messages {all:?}", all.len()),
    }
}

fn browse(connection: &mut Connection, name: &str) -> Result<Content, ClientError> {
    let mut od = named(name);
    let handle = match connection.open_object(&mut od, MQOO_BROWSE) {
        Err(ClientError::Reason(Reason::UNKNOWN_OBJECT_NAME)) => return Ok(None),
        other => other?.value,
    };
    let mut all = Vec::new();
    let mut next = MQGMO_BROWSE_FIRST;
    loop {
        let mut gmo = Gmo {
            options: next | MQGMO_NO_WAIT,
            ..Gmo::default()
        };
        let largest = LARGEST as usize + 8;
        let got = match whole(connection.get(handle, &mut Md::default(), &mut gmo, largest)) {
            Err(ClientError::Reason(Reason::NO_MSG_AVAILABLE)) => break,
            other => other?,
        };
        next = MQGMO_BROWSE_NEXT;
        let number = got.data.first_chunk::<8>();
        all.push(number.map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes)));
    }
    connection.close(handle, MQCO_NONE)?;
    Ok(Some(all))
}
