//! Statuses are gathered.
//!
//! Invariant: of each queue and connection what is told was true at one moment; of all of them together it need not be.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_command::{Object, ObjectKind};
use posthaste_mqi::Reason;

use super::{
    ConnectionStatus, HandleStatus, LogStatus, ManagerStatus, SubscriptionStatus, TopicStatus,
    TransactionState, TransactionStatus,
};
use crate::catalogue::Runtime;
use crate::queue::QueueStatus;
use crate::queue_manager::QueueManager;
use crate::topics::Found;
use crate::unit::{Stage, Unit};

/// What is known of a topic string.
#[derive(Default)]
struct Known {
    object: String,
    subscriptions: usize,
    publishers: usize,
    retained: bool,
}

impl QueueManager {
    /// Whether it takes calls.
    ///
    /// # Errors
    /// 2162 while stopping, 2009 after the end.
    pub fn running(&self) -> Result<(), Reason> {
        self.inner().lifecycle.running()
    }

    /// What is true of it now.
    pub fn status(&self) -> ManagerStatus {
        let inner = self.inner();
        let usage = self.log().usage();
        let config = &inner.config.log_config;
        let extent_bytes = u64::from(config.file_pages.max(1)) * 4096;
        ManagerStatus {
            quiescing: inner.lifecycle.quiescing(),
            connections: self.connections(),
            in_doubt: self.in_doubt().len(),
            started: inner.clock.started_at(),
            data: inner.config.data.clone(),
            log: LogStatus {
                path: inner.config.log.clone(),
                current: self.log().appended().0 / extent_bytes,
                restart: usage.restart.0 / extent_bytes,
                extent_bytes,
                primary: config.primary_files,
                secondary: config.secondary_files,
                used_bytes: usage.used,
                primary_bytes: usage.primary,
            },
        }
    }

    /// Every local queue that is wanted, with what is true of it now, by name.
    pub fn queue_statuses(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, QueueStatus)> {
        let mut queues = self.inner().catalogue.local_queues();
        queues.retain(|queue| wanted(&queue.name.text()));
        queues.sort_by_key(|queue| queue.name);
        let statuses = queues.iter();
        statuses
            .map(|queue| (queue.name.text().into_owned(), queue.status()))
            .collect()
    }

    /// Every definition that is wanted, by name; of a local queue, with what is true of it now.
    pub fn definitions(
        &self,
        wanted: impl Fn(ObjectKind, &str) -> bool,
    ) -> Vec<(Object, Option<QueueStatus>)> {
        let mut definitions = self.inner().catalogue.all();
        definitions.retain(|definition| wanted(definition.kind(), definition.name()));
        definitions.sort_by(|a, b| a.name().cmp(b.name()));
        let with_status = definitions.iter().map(|definition| {
            let status = match definition.runtime() {
                Runtime::Local(queue) => Some(queue.status()),
                _ => None,
            };
            (definition.object(), status)
        });
        with_status.collect()
    }

    /// Every unit of work that has not ended, and every branch that is remembered; oldest first.
    pub fn transactions(&self) -> Vec<TransactionStatus> {
        let mut units = self.inner().units.all();
        units.sort_by_key(|(_, unit)| unit.id);
        let units = units.iter();
        units
            .filter_map(|(_, unit)| self.transaction(unit))
            .collect()
    }

    fn transaction(&self, unit: &Unit) -> Option<TransactionStatus> {
        let work = unit.lock();
        let (branch, sessions) = match &work.ongoing {
            Some(ongoing) => (Some(&ongoing.xid), ongoing.associated().to_vec()),
            None => (work.branch(), vec![unit.session]),
        };
        let state = match work.stage {
            Stage::Ended => return None,
            Stage::Settled(outcome) => TransactionState::Heuristic(outcome),
            // On its way into doubt, or out of it.
            Stage::Prepared | Stage::Ending if work.branch().is_some() => {
                TransactionState::Prepared
            }
            _ => TransactionState::Active,
        };
        let active = state == TransactionState::Active;
        let there = |id: &u64| active && self.sessions().get(*id).is_some();
        let number = |id: u64| self.inner().numbers.of_connection(id);
        let queues: BTreeSet<String> = work
            .ops
            .iter()
            .map(|op| op.queue().name.text().into_owned())
            .collect();
        Some(TransactionStatus {
            id: unit.id,
            branch: branch.cloned(),
            started: unit.started,
            state,
            connections: sessions.into_iter().filter(there).map(number).collect(),
            queues: queues.into_iter().collect(),
        })
    }

    /// Every subscription that is wanted, by its name, then by when it was made.
    pub fn subscriptions(
        &self,
        wanted: impl Fn(&str, &[u8; 24]) -> bool,
    ) -> Vec<SubscriptionStatus> {
        let mut all = self.inner().topics.all();
        all.retain(|found| wanted(&found.subscription.name, &found.subscription.id));
        let key = |found: &Found| (found.subscription.name.clone(), found.subscription.created);
        all.sort_by_cached_key(|found| (key(found), found.subscription.id));
        all.into_iter()
            .map(|found| self.subscription(found))
            .collect()
    }

    /// Every topic string that is wanted of those that somebody subscribes to or may publish on by a handle, that topic objects
    /// are about or that have retained publications, and of those above them, in their order.
    pub fn topics(&self, wanted: impl Fn(&str) -> bool) -> Vec<TopicStatus> {
        let objects = &self.inner().catalogue.topic_objects;
        let mut all: BTreeMap<String, Known> = BTreeMap::new();
        for (topic, object) in objects.all() {
            all.entry(topic).or_default().object = object;
        }
        for found in self.inner().topics.all() {
            let topic = found.subscription.topic().to_owned();
            all.entry(topic).or_default().subscriptions += 1;
        }
        for topic in self.inner().all_retained() {
            all.entry(topic.to_string()).or_default().retained = true;
        }
        for connection in self.connection_status() {
            let published = connection
                .handles
                .iter()
                .filter_map(HandleStatus::publishes);
            for open in published {
                all.entry(open.topic.clone()).or_default().publishers += 1;
            }
        }
        let named: Vec<String> = all.keys().cloned().collect();
        for topic in named {
            let ends = topic.match_indices('/').map(|(at, _)| at);
            for end in ends.chain([0]) {
                all.entry(topic[..end].to_owned()).or_default();
            }
        }
        let all = all.into_iter().filter(|(topic, _)| wanted(topic));
        all.map(|(topic, known)| TopicStatus {
            rules: objects.rules(&topic).attrs().clone(),
            topic,
            object: known.object,
            subscriptions: known.subscriptions,
            publishers: known.publishers,
            retained: known.retained,
        })
        .collect()
    }

    fn subscription(&self, found: Found) -> SubscriptionStatus {
        let of = &found.subscription;
        let users: BTreeSet<u64> = found.users.iter().copied().collect();
        let number = |user| self.inner().numbers.of_connection(user);
        let defined = of.durable.then(|| self.object(ObjectKind::Sub, &of.name));
        SubscriptionStatus {
            id: of.id,
            definition: defined.flatten().unwrap_or_else(|| of.object()),
            topic: of.topic().to_owned(),
            connections: users.into_iter().map(number).collect(),
            messages: of.deliveries.messages(),
            latest: of.deliveries.latest(),
            resumed: found.resumed,
            created: of.created,
            altered: of.altered,
        }
    }

    /// Every connection, oldest first.
    pub fn connection_status(&self) -> Vec<ConnectionStatus> {
        let mut sessions = self.sessions().all();
        sessions.sort_by_key(|session| session.id);
        sessions.iter().map(|session| session.status()).collect()
    }
}
