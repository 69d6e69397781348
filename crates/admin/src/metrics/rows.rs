//! The rows of the registry.

use posthaste_engine::{ConnectionStatus, Count};

use super::{LaneStatus, Manager, Metric, MetricType, Queue, Row, Unit};
use crate::beside::ChannelStatus;

const fn counter<S>(
    name: &'static str,
    unit: Unit,
    read: fn(&S) -> Option<u64>,
    help: &'static str,
) -> Row<S> {
    row(name, MetricType::Counter, unit, read, help)
}

const fn gauge<S>(
    name: &'static str,
    unit: Unit,
    read: fn(&S) -> Option<u64>,
    help: &'static str,
) -> Row<S> {
    row(name, MetricType::Gauge, unit, read, help)
}

const fn row<S>(
    name: &'static str,
    nature: MetricType,
    unit: Unit,
    read: fn(&S) -> Option<u64>,
    help: &'static str,
) -> Row<S> {
    Row {
        metric: Metric {
            name,
            nature,
            unit,
            keyword: None,
            help,
        },
        read,
    }
}

impl<S> Row<S> {
    /// DISPLAY shows it too.
    const fn shown(mut self, keyword: &'static str) -> Row<S> {
        self.metric.keyword = Some(keyword);
        self
    }
}

#[rustfmt::skip] // one row, one line
pub(super) const MANAGER: &[Row<Manager>] = &[
    counter("engine.puts", Unit::Things, |m| Some(m.engine.of(Count::Puts)), "Messages put"),
    counter("engine.put_bytes", Unit::Bytes, |m| Some(m.engine.of(Count::PutBytes)), "Data of messages put"),
    counter("engine.gets", Unit::Things, |m| Some(m.engine.of(Count::Gets)), "Messages got, browsed ones included"),
    counter("engine.got_bytes", Unit::Bytes, |m| Some(m.engine.of(Count::GotBytes)), "Data of messages got, as delivered"),
    counter("engine.avoided", Unit::Things, |m| Some(m.engine.of(Count::Avoided)), "Messages that went to a waiting get without having been on the queue"),
    counter("engine.handed_over", Unit::Things, |m| Some(m.engine.of(Count::HandedOver)), "Messages that met a waiting get and were held for it"),
    counter("engine.queued", Unit::Things, |m| Some(m.engine.of(Count::Queued)), "Messages that were put on a queue because nobody waited for them"),
    counter("engine.waits", Unit::Things, |m| Some(m.engine.of(Count::Waits)), "Times a get had to wait"),
    counter("engine.commits", Unit::Things, |m| Some(m.engine.of(Count::Commits)), "Units of work committed"),
    counter("engine.backouts", Unit::Things, |m| Some(m.engine.of(Count::Backouts)), "Units of work backed out by their applications"),
    counter("engine.lock_waits", Unit::Things, |m| Some(m.engine.of(Count::LockWaits)), "Times the lock of a queue had to be waited for"),
    counter("engine.forced_alone", Unit::Things, |m| Some(m.engine.of(Count::ForcedAlone)), "Persistent puts and gets outside a unit of work, each of which waited for the log by itself"),
    counter("engine.tickets", Unit::Things, |m| Some(m.engine.of(Count::Tickets)), "Asynchronous puts outside a unit of work that did not wait for the log"),
    gauge("engine.connections", Unit::Things, |m: &Manager| u64::try_from(m.status.connections).ok(), "Connections").shown("CONNS"),
    gauge("engine.in_doubt", Unit::Things, |m| u64::try_from(m.status.in_doubt).ok(), "Branches of global transactions that are in doubt"),
    gauge("engine.started", Unit::Moment, |m| u64::try_from(m.status.started).ok(), "When this run began"),
    counter("log.records", Unit::Things, |m| Some(m.log.records), "Records appended to the recovery log"),
    counter("log.logical_bytes", Unit::Bytes, |m| Some(m.log.logical_bytes), "Records with their headers"),
    counter("log.physical_bytes", Unit::Bytes, |m| Some(m.log.physical_bytes), "Whole pages written"),
    counter("log.writes", Unit::Things, |m| Some(m.log.writes), "Writes of the log"),
    counter("log.forces", Unit::Things, |m| Some(m.log.commits), "Calls that waited until the log was forced"),
    counter("log.write_ns", Unit::Nanoseconds, |m| Some(m.log.write_nanos), "Time of all writes added up; more than log.busy_ns where several were in flight"),
    counter("log.busy_ns", Unit::Nanoseconds, |m| Some(m.log.busy_nanos), "Time in which at least one write was in flight"),
    counter("log.idle_ns", Unit::Nanoseconds, |m| Some(m.log.idle_nanos), "Time between the first and the last write in which none was in flight"),
    counter("log.cohort_wait_ns", Unit::Nanoseconds, |m| Some(m.log.cohort_wait_nanos), "Time that writes were put off so that more would go with them"),
    gauge("log.slowest_ns", Unit::Nanoseconds, |m| Some(m.log.slowest_nanos), "The longest write so far"),
    gauge("log.average_write_ns", Unit::Nanoseconds, |m| Some(m.log.average_write_nanos), "Moving average of the time of a write"),
    gauge("log.average_write_bytes", Unit::Bytes, |m| Some(m.log.average_write_bytes), "Moving average of the length of a write"),
    gauge("log.most_in_flight", Unit::Things, |m| Some(m.log.most_in_flight), "The most writes that were in flight at once"),
    counter("log.extents_reused", Unit::Things, |m| Some(m.log.extents_reused), "Extents renamed for reuse"),
    counter("log.extents_made", Unit::Things, |m| Some(m.log.extents_made), "Extents made"),
    counter("log.extents_removed", Unit::Things, |m| Some(m.log.extents_removed), "Extents removed"),
    gauge("log.used_bytes", Unit::Bytes, |m| Some(m.status.log.used_bytes), "What a restart would read"),
    gauge("log.primary_bytes", Unit::Bytes, |m| Some(m.status.log.primary_bytes), "The primary extents"),
    gauge("log.extent", Unit::Things, |m| Some(m.status.log.current), "Number of the extent that is being written"),
    gauge("log.restart_extent", Unit::Things, |m| Some(m.status.log.restart), "Number of the extent where a restart would begin"),
    counter("channel.wakes", Unit::Things, |m| Some(m.beside.wakes), "Times a connection was woken and ran"),
    counter("channel.requests", Unit::Things, |m| Some(m.beside.requests), "Requests of applications that were carried out"),
    counter("channel.writes", Unit::Things, |m| Some(m.beside.writes), "Writes to sockets; each is a system call"),
    counter("channel.reads", Unit::Things, |m| Some(m.beside.reads), "Reads of sockets that brought something"),
    counter("channel.bytes_read", Unit::Bytes, |m| Some(m.beside.bytes_received), "Read from sockets"),
    counter("channel.bytes_written", Unit::Bytes, |m| Some(m.beside.bytes_sent), "Written to sockets"),
];

#[rustfmt::skip] // one row, one line
pub(super) const QUEUE: &[Row<Queue>] = &[
    gauge("queue.depth", Unit::Things, |q: &Queue| (!q.status.damaged).then_some(q.status.depth.into()), "Messages, uncommitted puts included; none while the queue is damaged").shown("CURDEPTH"),
    gauge("queue.open_input", Unit::Things, |q: &Queue| Some(q.status.open_input.into()), "Handles open for input").shown("IPPROCS"),
    gauge("queue.open_output", Unit::Things, |q: &Queue| Some(q.status.open_output.into()), "Handles open for output").shown("OPPROCS"),
    gauge("queue.uncommitted", Unit::Things, |q| Some(q.status.uncommitted.into()), "1 while there are uncommitted puts or gets"),
    gauge("queue.damaged", Unit::Things, |q| Some(q.status.damaged.into()), "1 while the queue's file does not hold what was written there"),
    gauge("queue.resident_bytes", Unit::Bytes, |q| u64::try_from(q.status.resident_bytes).ok(), "Messages in memory"),
    gauge("queue.file_bytes", Unit::Bytes, |q| Some(q.status.file_blocks * 512), "Blocks in use in the queue file"),
    gauge("queue.file_bytes_max", Unit::Bytes, |q| Some(q.status.largest_file), "The most that the queue file may have"),
    counter("queue.search_steps", Unit::Things, |q| Some(q.status.steps), "Links between messages that were followed to find one"),
    counter("queue.arrived", Unit::Things, |q| Some(q.status.counts.arrived), "Messages that became available; those of a unit of work when it was committed"),
    counter("queue.arrived_persistent", Unit::Things, |q| Some(q.status.counts.arrived_persistent), "Of these, persistent ones"),
    counter("queue.arrived_bytes", Unit::Bytes, |q| Some(q.status.counts.arrived_bytes), "Data of these"),
    counter("queue.avoided", Unit::Things, |q| Some(q.status.counts.avoided), "Messages that went to a waiting get without having been on the queue"),
    counter("queue.handed_over", Unit::Things, |q| Some(q.status.counts.handed_over), "Messages that met a waiting get and were held for it"),
    counter("queue.removed", Unit::Things, |q| Some(q.status.counts.removed), "Messages that were on the queue and are gone for good: got, expired or cleared"),
    counter("queue.expired", Unit::Things, |q| Some(q.status.counts.expired), "Messages that expired"),
    counter("queue.lock_waits", Unit::Things, |q| Some(q.status.counts.lock_waits), "Times the queue's lock had to be waited for"),
];

#[rustfmt::skip] // one row, one line
pub(super) const CONNECTION: &[Row<ConnectionStatus>] = &[
    gauge("connection.handles", Unit::Things, |c| u64::try_from(c.handles.len()).ok(), "Open handles"),
    gauge("connection.in_call", Unit::Things, |c| Some(c.in_call.into()), "1 while a call is in progress"),
    gauge("connection.unit_started", Unit::Moment, |c| u64::try_from(c.unit.as_ref()?.started).ok(), "When the unit of work in progress began"),
    gauge("connection.unit_logged", Unit::Moment, |c| u64::try_from(c.unit.as_ref()?.logged?).ok(), "When it first wrote to the log"),
    counter("connection.puts", Unit::Things, |c| Some(c.counts.puts), "Messages put with MQPUT"),
    counter("connection.gets", Unit::Things, |c| Some(c.counts.gets), "Messages got, browsed ones included"),
    counter("connection.got_bytes", Unit::Bytes, |c| Some(c.counts.got_bytes), "Data of messages got, as delivered"),
    counter("connection.commits", Unit::Things, |c| Some(c.counts.commits), "Units of work that it asked to be committed"),
    counter("connection.backouts", Unit::Things, |c| Some(c.counts.backouts), "Units of work that it asked to be backed out"),
];

#[rustfmt::skip] // one row, one line
pub(super) const INSTANCE: &[Row<ChannelStatus>] = &[
    gauge("instance.started", Unit::Moment, |i| u64::try_from(i.started).ok(), "When it began"),
    gauge("instance.last_call", Unit::Moment, |i| u64::try_from(i.last_call?).ok(), "When its last call was"),
    gauge("instance.conversations", Unit::Things, |i: &ChannelStatus| Some(i.conversations.into()), "Conversations on its socket").shown("CURSHCNV"),
    gauge("instance.max_conversations", Unit::Things, |i: &ChannelStatus| Some(i.max_conversations.into()), "The most, as agreed").shown("MAXSHCNV"),
    counter("instance.calls", Unit::Things, |i: &ChannelStatus| Some(i.calls), "Calls of the MQ Interface that were handled").shown("MSGS"),
    counter("instance.bytes_received", Unit::Bytes, |i: &ChannelStatus| Some(i.bytes_received), "Received").shown("BYTSRCVD"),
    counter("instance.bytes_sent", Unit::Bytes, |i: &ChannelStatus| Some(i.bytes_sent), "Sent").shown("BYTSSENT"),
    counter("instance.buffers_received", Unit::Things, |i: &ChannelStatus| Some(i.buffers_received), "Buffers received").shown("BUFSRCVD"),
    counter("instance.buffers_sent", Unit::Things, |i: &ChannelStatus| Some(i.buffers_sent), "Buffers sent").shown("BUFSSENT"),
];

#[rustfmt::skip] // one row, one line
pub(super) const LANE: &[Row<LaneStatus>] = &[
    gauge("lane.connections", Unit::Things, |l: &LaneStatus| Some(l.connections), "Connections that it has"),
    counter("lane.turns", Unit::Things, |l: &LaneStatus| Some(l.turns), "Turns of its loop: in each, every connection is read and written once at most"),
    counter("lane.wakes", Unit::Things, |l: &LaneStatus| Some(l.wakes), "Parts of its connections that were woken: by the log, by a put"),
    counter("lane.runs", Unit::Things, |l: &LaneStatus| Some(l.runs), "Times a connection was run"),
    counter("lane.bytes_read", Unit::Bytes, |l: &LaneStatus| Some(l.bytes_read), "Read from sockets"),
    counter("lane.bytes_written", Unit::Bytes, |l: &LaneStatus| Some(l.bytes_written), "Written to sockets"),
];
