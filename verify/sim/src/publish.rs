//! Applications that publish on a few topics, in units of work and outside.

use bytes::Bytes;
use posthaste_engine::Verb;
use posthaste_model::{Op, Outcome, Publication};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Od, Pmo};

use crate::calls::TENTH;
use crate::delayed::{behind_delay, in_header};
use crate::run::Run;
use crate::workload::{Worker, id24, patient};

/// What is published on.
const TOPICS: [&str; 7] = ["a", "a/b", "a/c", "a/b/c", "b/c", "a//c", "/a"];

/// The topic object by which everybody is given everything on its topic, or nobody,
const TO_ALL: &str = "a/c";
/// and the one by which whoever can is given it.
const TO_WHOEVER_CAN: &str = "b/c";

/// What defines them.
pub(crate) fn definitions() -> [String; 2] {
    [("ALL", TO_ALL), ("ALLAVAIL", TO_WHOEVER_CAN)].map(|(rule, topic)| {
        format!("DEFINE TOPIC(TO.{rule}) TOPICSTR('{topic}') PMSGDLV({rule}) NPMSGDLV({rule})")
    })
}

/// Applications that publish.
const PUBLISHERS: usize = 2;
/// Publications that one makes at most without a pause before a crash, and writes of the log that it is given for that.
const HASTY: u32 = 30;
const HASTY_WRITES: u64 = 8;

impl Run {
    /// Spawns those who publish.
    pub(crate) fn spawn_publishers(&self) {
        let executor = self.machine.world.executor();
        for _ in 0..PUBLISHERS {
            executor.spawn("publisher", self.worker().publish_rounds());
        }
    }

    /// Before a crash: somebody has publications retained on one topic, one after the other, so that the crash comes where a
    /// successor is on disk and the end of what it supersedes is not.
    pub(crate) fn retain_in_haste(&mut self) {
        if !self.plan.topics || self.machine.qm().stopped().is_some() || self.ends.below(4) == 0 {
            return;
        }
        let topic = *self.ends.pick(&TOPICS).unwrap_or(&TO_ALL);
        let (_, slowest) = self.plan.write_nanos;
        let nanos = 1 + self.ends.below(HASTY_WRITES * slowest);
        let executor = self.machine.world.executor();
        executor.spawn("hasty publisher", self.worker().retain_on(topic));
        executor.run_for(nanos);
    }
}

impl Worker {
    async fn publish_rounds(self) {
        while !self.stopping() && self.publish_once().await {
            self.pause().await;
        }
        // What nobody has committed goes with the connection.
        if self.stopping() {
            self.backout().await;
        }
    }

    async fn publish_once(&self) -> bool {
        match self.below(10) {
            0..7 => self.publish().await,
            7 => self.commit().await,
            8 => {
                self.met("publications committed in two steps");
                self.commit_in_two().await
            }
            _ => self.backout().await,
        }
    }

    async fn retain_on(self, topic: &'static str) {
        for _ in 0..HASTY {
            let (id, data) = self.letter(self.length());
            let publication = Publication {
                id,
                hash: self.shared.borrow().sent[&id].1,
                topic: topic.to_owned(),
                persistent: true,
                priority: 0,
                in_uow: false,
                for_all: is_for_all(topic, true),
                retain: true,
                delay: None,
                expiry: None,
            };
            if !self.publish_this(publication, data).await {
                return;
            }
        }
    }

    async fn publish(&self) -> bool {
        let topic = TOPICS[self.below(TOPICS.len() as u64) as usize];
        let (id, data) = self.letter(self.length());
        let hash = self.shared.borrow().sent[&id].1;
        let persistent = self.chance(self.plan.persistent);
        let delay = self.delay_of_publication();
        let expires = delay.is_none() && self.chance(self.plan.expiry);
        let tenths = expires.then(|| 1 + self.below(5));
        let publication = Publication {
            id,
            hash,
            topic: topic.to_owned(),
            persistent,
            priority: self.below(3) as u8,
            in_uow: self.chance(self.plan.syncpoint),
            for_all: is_for_all(topic, persistent),
            retain: delay.is_none() && self.below(3) == 0,
            delay: delay.map(|milliseconds| milliseconds * 1_000),
            expiry: tenths.map(|tenths| tenths * TENTH),
        };
        self.publish_this(publication, data).await
    }

    async fn publish_this(&self, publication: Publication, data: Bytes) -> bool {
        let delay = publication.delay.map(|micros| micros / 1_000);
        let tenths = publication.expiry.map(|micros| micros / TENTH);
        let (mut md, mut pmo) = described(&publication);
        md.expiry = tenths.map_or(MQEI_UNLIMITED, |tenths| tenths as i32);
        self.note_publication(&publication);
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_type: MQOT_TOPIC,
            object_string: publication.topic.clone(),
            ..Od::default()
        };
        let opened = match self.below(2) {
            0 if delay.is_none() => None,
            _ => match self.session.open(&mut od, MQOO_OUTPUT).await {
                Ok(done) => Some(done.value),
                Err(reason) => return self.refused(reason),
            },
        };
        let op = self.invoke(Op::Publish(publication));
        let limit = self.limit();
        let result = match opened {
            Some(handle) => {
                let call = self.put_published(handle, (&mut md, &mut pmo), data, delay);
                patient(call, limit).await
            }
            None => {
                let call = self.session.put1(&mut od, &mut md, &mut pmo, data);
                patient(call, limit).await
            }
        };
        let going = match result {
            Some(Ok(_)) => self.respond(op, Outcome::Done),
            Some(Err(reason)) => self.failed(op, reason).await,
            None => self.gave_up(op).await,
        };
        match opened {
            Some(handle) if going => match self.close_one(handle).await {
                Ok(()) => true,
                Err(reason) => self.refused(reason),
            },
            _ => going,
        }
    }

    /// What of a publication is to be met.
    fn note_publication(&self, publication: &Publication) {
        let topic = publication.topic.as_str();
        let expires = publication.expiry.is_some();
        for (met, what) in [
            (true, "publish"),
            (publication.in_uow, "publish syncpoint"),
            (publication.persistent, "publish persistent"),
            (topic == TO_ALL, "publish to all"),
            (topic == TO_WHOEVER_CAN, "publish to whoever can"),
            (publication.retain, "publish retained"),
            (publication.delay.is_some(), "publish delayed"),
            (expires, "publish expiry"),
            (expires && publication.retain, "publish retained expiry"),
        ] {
            if met {
                self.met(what);
            }
        }
    }

    async fn put_published(
        &self,
        handle: Hobj,
        (md, pmo): (&mut Md, &mut Pmo),
        data: Bytes,
        delay: Option<u64>,
    ) -> Verb<()> {
        match (self.local(), delay) {
            (Some(session), Some(delay)) => {
                let data = behind_delay(delay, &data);
                session.put_delayed(handle, md, pmo, data).await
            }
            _ => self.session.put(handle, md, pmo, data).await,
        }
    }
}

/// Whether it fails if somebody cannot be given it: by default, if it is persistent.
fn is_for_all(topic: &str, persistent: bool) -> bool {
    topic == TO_ALL || topic != TO_WHOEVER_CAN && persistent
}

/// The descriptor and the options of its MQPUT.
fn described(publication: &Publication) -> (Md, Pmo) {
    let md = Md {
        persistence: i32::from(publication.persistent),
        priority: i32::from(publication.priority),
        msg_id: id24(publication.id),
        ..Md::default()
    };
    let md = match publication.delay {
        Some(_) => in_header(md),
        None => md,
    };
    let unit = [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(publication.in_uow)];
    let retain = [0, MQPMO_RETAIN][usize::from(publication.retain)];
    let pmo = Pmo {
        options: unit | retain,
        ..Pmo::default()
    };
    (md, pmo)
}
