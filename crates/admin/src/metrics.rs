//! The registry of counters and gauges: one row each, with its name, nature, unit and meaning.
//!
//! A row says how its number is read from a typed status; the engine and what runs beside it count plain numbers under
//! locks that they hold anyway, and know no names. Everything that shows numbers (the control socket, the exposition,
//! DISPLAY where MQ has a keyword for it) reads these rows, so a new metric is a row, and what it counts.
//!
//! Invariants (tested): names are unique; each number that is counted is in exactly one row; what DISPLAY shows under
//! a row's keyword is the row's number; docs/metrics.md has all of them.

mod exposition;
mod rows;

use posthaste_engine::{ConnectionStatus, Counts, ManagerStatus, QueueStatus};

use crate::beside::{ChannelStatus, ComponentCounts, LaneStatus};

pub(crate) use exposition::exposition;
pub use exposition::page;

/// What becomes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// It only grows, from 0 at the start of what it is about.
    Counter,
    /// It is what it is at this moment.
    Gauge,
}

/// What it is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of things; the name says which.
    Things,
    /// Of bytes.
    Bytes,
    /// Of nanoseconds.
    Nanoseconds,
    /// Of microseconds since 1970.
    Moment,
}

/// A row of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name: what it is about, a dot, and what it counts.
    pub name: &'static str,
    /// What becomes of it.
    pub nature: MetricType,
    /// What it is a number of.
    pub unit: Unit,
    /// Where MQ has it too: the keyword of the DISPLAY of its subject's status.
    pub keyword: Option<&'static str>,
    /// What it tells.
    pub help: &'static str,
}

/// A row with how its number is read; none where it is not known.
pub(crate) struct Row<S: 'static> {
    pub(crate) metric: Metric,
    pub(crate) read: fn(&S) -> Option<u64>,
}

/// What numbers are about.
pub(crate) trait Subject: Sized + 'static {
    /// The names of what tells one from the other.
    const LABELS: &'static [&'static str];
    /// The rows that are about it.
    const ROWS: &'static [Row<Self>];
    /// What tells this one from others.
    fn labels(&self) -> Vec<String>;
}

/// The queue manager as a subject.
pub(crate) struct Manager {
    pub(crate) engine: Counts,
    pub(crate) log: posthaste_engine::LogStatistics,
    pub(crate) beside: ComponentCounts,
    pub(crate) status: ManagerStatus,
}

/// A local queue as a subject.
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) status: QueueStatus,
}

impl Subject for Manager {
    const LABELS: &'static [&'static str] = &[];
    const ROWS: &'static [Row<Manager>] = rows::MANAGER;
    fn labels(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Subject for Queue {
    const LABELS: &'static [&'static str] = &["queue"];
    const ROWS: &'static [Row<Queue>] = rows::QUEUE;
    fn labels(&self) -> Vec<String> {
        vec![self.name.clone()]
    }
}

impl Subject for ConnectionStatus {
    const LABELS: &'static [&'static str] = &["connection", "application", "channel"];
    const ROWS: &'static [Row<ConnectionStatus>] = rows::CONNECTION;
    fn labels(&self) -> Vec<String> {
        let who = &self.application;
        let number = format!("{:016X}", self.number);
        vec![number, who.name.clone(), who.channel.clone()]
    }
}

impl Subject for LaneStatus {
    const LABELS: &'static [&'static str] = &["lane"];
    const ROWS: &'static [Row<LaneStatus>] = rows::LANE;
    fn labels(&self) -> Vec<String> {
        vec![self.number.to_string()]
    }
}

impl Subject for ChannelStatus {
    const LABELS: &'static [&'static str] = &["channel", "connection_name", "job"];
    const ROWS: &'static [Row<ChannelStatus>] = rows::INSTANCE;
    fn labels(&self) -> Vec<String> {
        vec![
            self.channel.clone(),
            self.conname.clone(),
            self.id.to_string(),
        ]
    }
}

/// Every metric of the registry.
pub fn registry() -> impl Iterator<Item = &'static Metric> {
    fn of<S: Subject>() -> impl Iterator<Item = &'static Metric> {
        S::ROWS.iter().map(|row| &row.metric)
    }
    let both = of::<Manager>().chain(of::<Queue>());
    both.chain(of::<ConnectionStatus>())
        .chain(of::<ChannelStatus>())
        .chain(of::<LaneStatus>())
}

/// The numbers that the queue manager only adds up, by name.
pub(crate) fn sums(manager: &Manager) -> Vec<(&'static str, u64)> {
    let counters = Manager::ROWS.iter();
    let counters = counters.filter(|row| row.metric.nature == MetricType::Counter);
    counters
        .filter_map(|row| Some((row.metric.name, (row.read)(manager)?)))
        .collect()
}

#[cfg(test)]
mod tests;
