//! Every record of the recovery log, with what redo and undo make of it.
//!
//! | record | redo (restart, in log order) | undo (its unit of work has neither commit nor backout, and is not prepared) |
//! | --- | --- | --- |
//! | `Put` | outside a unit of work: the message is on its queue, unless it is there already; inside: it will be when `Commit` comes | forget it |
//! | `Publish`, in two forms | as a `Put` on each of its queues, of bodies that they share | forget them |
//! | `Get` | outside: the message is gone; inside: it will be when `Commit` comes | the message is back, its backout count raised to the one given |
//! | `Commit` | the puts and gets of the unit of work happen | — |
//! | `Backout` | the puts are forgotten, the gets undone; backout counts are raised to the ones given | — |
//! | `Object` | the definition is as given | — |
//! | `Deleted` | the definition and every message of the queue are gone | — |
//! | `Cleared` | every message put before `below` is gone | — |
//! | `Discarded` | the (expired) message is gone | — |
//! | `Checkpoint` | nothing: it marks where an image began | — |
//! | `Prepare` | the unit of work is in doubt under its XA identifier: what it has put and got stays in hand | — |
//! | `Heuristic` | as `Commit` or `Backout`; that somebody decided it is remembered under the identifier | — |
//! | `Forgotten` | nothing is remembered of the unit of work | — |
//!
//! Invariants:
//! * Redo is idempotent, because an image may already hold what a record says: a message is put
//!   once and destroyed once under a number (`seq`) that is never reused, definitions are given
//!   whole, backout counts are given absolutely. So is undo: a unit of work whose end found no room in the
//!   log is undone by each restart that meets it, and an image may hold the counts already.
//! * A put, publication or get with unit of work 0 is its own commit: of a publication all messages are there, or none.
//! * `Discarded` is not forced: should it be lost, the message expires once more.

use posthaste_mqi::Md;

use crate::message::{self, Beside};
use crate::unit::outcome::Outcome;
use posthaste_mqi::Xid;

/// Number of a unit of work; 0 = outside.
pub(crate) type UowId = u64;
/// Number of a queue definition; a queue deleted and defined again has another one.
pub(crate) type QueueId = u64;

/// One log record, borrowed from the bytes it was read from.
#[derive(Debug, PartialEq)]
pub(crate) enum Record<'a> {
    Put {
        uow: UowId,
        queue: QueueId,
        seq: u64,
        expires: i64,
        md: Box<Md>,
        /// What stands with it.
        beside: Beside,
        data: &'a [u8],
    },
    /// Messages on several queues that share a body, or pieces of it; see [decision 019](../../../docs/decisions/019-publications-are-logged-once.md).
    Publish(Publication<'a>),
    Get {
        uow: UowId,
        queue: QueueId,
        seq: u64,
        /// The backout count that the message has if this is undone; 0 outside a unit of work.
        count: u16,
    },
    Commit {
        uow: UowId,
    },
    Backout {
        uow: UowId,
        counts: Vec<BackoutCount>,
    },
    Object {
        queue: QueueId,
        object: &'a [u8],
    },
    Deleted {
        queue: QueueId,
        kind: u8,
        name: &'a str,
    },
    Cleared {
        queue: QueueId,
        below: u64,
    },
    Discarded {
        queue: QueueId,
        seq: u64,
    },
    Checkpoint {
        number: u64,
    },
    Prepare {
        uow: UowId,
        /// When the unit of work began, microseconds since 1970.
        started: i64,
        xid: Xid,
    },
    Heuristic {
        uow: UowId,
        outcome: Outcome,
        counts: Vec<BackoutCount>,
    },
    Forgotten {
        uow: UowId,
    },
}

impl Record<'_> {
    /// The highest number that it uses.
    pub(crate) fn highest_number(&self) -> u64 {
        match self {
            Record::Put { uow, seq, .. } | Record::Get { uow, seq, .. } => *uow.max(seq),
            Record::Publish(publication) => {
                let numbers = publication.destinations.iter().map(|to| to.seq);
                numbers.fold(publication.uow, u64::max)
            }
            Record::Commit { uow }
            | Record::Backout { uow, .. }
            | Record::Prepare { uow, .. }
            | Record::Heuristic { uow, .. }
            | Record::Forgotten { uow } => *uow,
            Record::Cleared { below, .. } => *below,
            Record::Discarded { seq, .. } => *seq,
            Record::Object { .. } | Record::Deleted { .. } | Record::Checkpoint { .. } => 0,
        }
    }
}

/// What a `Publish` record says.
#[derive(Debug, PartialEq)]
pub(crate) struct Publication<'a> {
    pub(crate) uow: UowId,
    pub(crate) destinations: Vec<Destination>,
    pub(crate) bodies: Vec<Body<'a>>,
    pub(crate) pieces: Vec<&'a [u8]>,
}

/// A body of a publication: a header of its own, and the end of one of the record's pieces behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Body<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) piece: usize,
    /// Where in the piece it begins; not beyond its end.
    pub(crate) from: usize,
}

/// Where a publication goes, and the message that it is there.
#[derive(Debug, PartialEq)]
pub(crate) struct Destination {
    pub(crate) queue: QueueId,
    pub(crate) seq: u64,
    pub(crate) expires: i64,
    /// Which of the bodies it has.
    pub(crate) body: usize,
    pub(crate) md: Md,
    /// What stands with it; properties are of the body's header.
    pub(crate) beside: Beside,
}

/// How often a persistent message was backed out, absolutely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BackoutCount {
    pub(crate) queue: QueueId,
    pub(crate) seq: u64,
    pub(crate) count: u16,
}

const PUT: u8 = 1;
const GET: u8 = 2;
const COMMIT: u8 = 3;
const BACKOUT: u8 = 4;
const OBJECT: u8 = 5;
const DELETED: u8 = 6;
const CLEARED: u8 = 7;
const DISCARDED: u8 = 8;
const CHECKPOINT: u8 = 9;
const PREPARE: u8 = 10;
const HEURISTIC: u8 = 11;
const FORGOTTEN: u8 = 12;
const PUBLISH: u8 = 13;
const PUBLISH_PIECES: u8 = 14;

/// Everything of a `Put` record but what is stored of the data, which is appended as a part of its own. With the descriptor:
/// what stands with it.
pub(crate) fn put_head(
    out: &mut Vec<u8>,
    uow: UowId,
    queue: QueueId,
    seq: u64,
    expires: i64,
    (md, beside): (&Md, Beside),
) {
    out.push(PUT);
    out.extend_from_slice(&uow.to_le_bytes());
    out.extend_from_slice(&queue.to_le_bytes());
    out.extend_from_slice(&seq.to_le_bytes());
    out.extend_from_slice(&expires.to_le_bytes());
    message::encode_md(md, beside, out);
}

/// A `Publish` record but for headers and pieces, which are appended behind it as parts of their own, in their order: made
/// destination by destination.
pub(crate) struct PublishHead<'a> {
    out: &'a mut Vec<u8>,
    base: (&'a Md, Beside),
    /// Where the number of destinations stands.
    count_at: usize,
    count: u32,
}

impl<'a> PublishHead<'a> {
    /// `base`: the descriptor, and what stands with it, that those of the destinations are told by their differences from.
    pub(crate) fn new(
        out: &'a mut Vec<u8>,
        uow: UowId,
        base: (&'a Md, Beside),
        bodies: &[Body<'_>],
        pieces: &[&[u8]],
    ) -> Self {
        // What has no headers is as it was before there were any.
        let whole = |(at, body): (usize, &Body<'_>)| {
            body.head.is_empty() && body.from == 0 && body.piece == at
        };
        let plain = bodies.len() == pieces.len() && bodies.iter().enumerate().all(whole);
        out.push(if plain { PUBLISH } else { PUBLISH_PIECES });
        out.extend_from_slice(&uow.to_le_bytes());
        message::encode_md(base.0, base.1, out);
        let mut number = |number: usize| out.extend_from_slice(&(number as u32).to_le_bytes());
        if !plain {
            number(bodies.len());
            for body in bodies {
                [body.head.len(), body.piece, body.from]
                    .into_iter()
                    .for_each(&mut number);
            }
        }
        number(pieces.len());
        pieces.iter().for_each(|piece| number(piece.len()));
        let count_at = out.len();
        out.extend_from_slice(&[0; 4]);
        PublishHead {
            out,
            base,
            count_at,
            count: 0,
        }
    }

    /// `body`: which of the bodies it has.
    pub(crate) fn add(
        &mut self,
        queue: QueueId,
        seq: u64,
        expires: i64,
        body: usize,
        described: (&Md, Beside),
    ) {
        self.count += 1;
        self.out.extend_from_slice(&queue.to_le_bytes());
        self.out.extend_from_slice(&seq.to_le_bytes());
        self.out.extend_from_slice(&expires.to_le_bytes());
        self.out.extend_from_slice(&(body as u32).to_le_bytes());
        message::encode_difference(described, self.base, self.out);
    }

    pub(crate) fn finish(self) {
        let count = self.count.to_le_bytes();
        self.out[self.count_at..self.count_at + 4].copy_from_slice(&count);
    }
}

/// A `Get` record; `count`: the backout count that undoing it leaves.
pub(crate) fn get(uow: UowId, queue: QueueId, seq: u64, count: u16) -> [u8; 27] {
    let mut out = [0; 27];
    out[0] = GET;
    out[1..9].copy_from_slice(&uow.to_le_bytes());
    out[9..17].copy_from_slice(&queue.to_le_bytes());
    out[17..25].copy_from_slice(&seq.to_le_bytes());
    out[25..27].copy_from_slice(&count.to_le_bytes());
    out
}

fn tagged(tag: u8, value: u64) -> [u8; 9] {
    let mut out = [0; 9];
    out[0] = tag;
    out[1..9].copy_from_slice(&value.to_le_bytes());
    out
}

/// A `Commit` record.
pub(crate) fn commit(uow: UowId) -> [u8; 9] {
    tagged(COMMIT, uow)
}

/// A `Checkpoint` record.
pub(crate) fn checkpoint(number: u64) -> [u8; 9] {
    tagged(CHECKPOINT, number)
}

/// A `Backout` record.
pub(crate) fn backout(uow: UowId, counts: &[BackoutCount]) -> Vec<u8> {
    let mut out = tagged(BACKOUT, uow).to_vec();
    put_counts(&mut out, counts);
    out
}

fn put_counts(out: &mut Vec<u8>, counts: &[BackoutCount]) {
    for c in counts {
        out.extend_from_slice(&c.queue.to_le_bytes());
        out.extend_from_slice(&c.seq.to_le_bytes());
        out.extend_from_slice(&c.count.to_le_bytes());
    }
}

/// A `Prepare` record.
pub(crate) fn prepare(uow: UowId, started: i64, xid: &Xid) -> Vec<u8> {
    let mut out = tagged(PREPARE, uow).to_vec();
    out.extend_from_slice(&started.to_le_bytes());
    out.extend_from_slice(&xid.format_id().to_le_bytes());
    out.push(xid.global().len() as u8);
    out.extend_from_slice(xid.global());
    out.extend_from_slice(xid.branch());
    out
}

/// A `Heuristic` record; `counts` are those of a backout.
pub(crate) fn heuristic(uow: UowId, outcome: Outcome, counts: &[BackoutCount]) -> Vec<u8> {
    let mut out = tagged(HEURISTIC, uow).to_vec();
    out.push(u8::from(outcome == Outcome::Committed));
    put_counts(&mut out, counts);
    out
}

/// A `Forgotten` record.
pub(crate) fn forgotten(uow: UowId) -> [u8; 9] {
    tagged(FORGOTTEN, uow)
}

/// An `Object` record: a definition, whole.
pub(crate) fn object(queue: QueueId, object: &[u8]) -> Vec<u8> {
    let mut out = vec![OBJECT];
    out.extend_from_slice(&queue.to_le_bytes());
    out.extend_from_slice(object);
    out
}

/// A `Deleted` record.
pub(crate) fn deleted(queue: QueueId, kind: u8, name: &str) -> Vec<u8> {
    let mut out = vec![DELETED];
    out.extend_from_slice(&queue.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(name.as_bytes());
    out
}

fn queue_and_number(tag: u8, queue: QueueId, number: u64) -> [u8; 17] {
    let mut out = [0; 17];
    out[0] = tag;
    out[1..9].copy_from_slice(&queue.to_le_bytes());
    out[9..17].copy_from_slice(&number.to_le_bytes());
    out
}

/// A `Cleared` record.
pub(crate) fn cleared(queue: QueueId, below: u64) -> [u8; 17] {
    queue_and_number(CLEARED, queue, below)
}

/// A `Discarded` record.
pub(crate) fn discarded(queue: QueueId, seq: u64) -> [u8; 17] {
    queue_and_number(DISCARDED, queue, seq)
}

/// Bytes that a destination of a publication takes at least.
const DESTINATION: usize = 8 + 8 + 8 + 4 + 4;

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }
    /// A number of things that follow, each of them of at least `least` bytes: one that cannot be is not believed.
    fn count(&mut self, least: usize) -> Option<usize> {
        let count = self.number()?;
        (count <= self.0.len() / least).then_some(count)
    }
    /// A length, or a place in a table.
    fn number(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take()?) as usize)
    }
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
    /// Backout counts up to the end.
    fn counts(&mut self) -> Option<Vec<BackoutCount>> {
        let mut counts = Vec::new();
        while !self.0.is_empty() {
            counts.push(BackoutCount {
                queue: self.u64()?,
                seq: self.u64()?,
                count: u16::from_le_bytes(self.take()?),
            });
        }
        Some(counts)
    }
    fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Reads a record. `None`: these bytes are not one (a defect, for the log has checked them).
pub(crate) fn decode(bytes: &[u8]) -> Option<Record<'_>> {
    let (tag, rest) = bytes.split_first()?;
    let mut f = Fields(rest);
    let record = match *tag {
        PUT => {
            let (uow, queue, seq) = (f.u64()?, f.u64()?, f.u64()?);
            let expires = i64::from_le_bytes(f.take()?);
            let (md, beside, data) = message::decode_md(f.0)?;
            return Some(Record::Put {
                uow,
                queue,
                seq,
                expires,
                md: Box::new(md),
                beside,
                data,
            });
        }
        PUBLISH | PUBLISH_PIECES => return published(f, *tag == PUBLISH_PIECES),
        GET => Record::Get {
            uow: f.u64()?,
            queue: f.u64()?,
            seq: f.u64()?,
            count: u16::from_le_bytes(f.take()?),
        },
        COMMIT => Record::Commit { uow: f.u64()? },
        BACKOUT => {
            let uow = f.u64()?;
            let counts = f.counts()?;
            Record::Backout { uow, counts }
        }
        PREPARE => return prepared(f),
        HEURISTIC => return completed(f),
        FORGOTTEN => Record::Forgotten { uow: f.u64()? },
        OBJECT => {
            return Some(Record::Object {
                queue: f.u64()?,
                object: f.0,
            });
        }
        DELETED => {
            let queue = f.u64()?;
            let [kind] = f.take()?;
            return Some(Record::Deleted {
                queue,
                kind,
                name: std::str::from_utf8(f.0).ok()?,
            });
        }
        CLEARED => Record::Cleared {
            queue: f.u64()?,
            below: f.u64()?,
        },
        DISCARDED => Record::Discarded {
            queue: f.u64()?,
            seq: f.u64()?,
        },
        CHECKPOINT => Record::Checkpoint { number: f.u64()? },
        _ => return None,
    };
    f.end()?;
    Some(record)
}

/// Where the bodies begin in a record that has any: behind everything else. The inner `None`: it has none; the outer: these
/// bytes are no record.
#[expect(clippy::option_option, reason = "two answers that differ")]
pub(crate) fn before_bodies(bytes: &[u8]) -> Option<Option<usize>> {
    let (tag, rest) = bytes.split_first()?;
    let bodies = match *tag {
        PUT => message::decode_md(rest.get(4 * 8..)?)?.2,
        PUBLISH | PUBLISH_PIECES => published_head(Fields(rest), *tag == PUBLISH_PIECES)?.rest.0,
        _ => return Some(None),
    };
    Some(Some(bytes.len() - bodies.len()))
}

/// Everything of a publication but the bytes of its bodies.
struct PublishedHead<'a> {
    uow: UowId,
    /// Of each body: the length of its header, its piece, where in that it begins.
    shapes: Vec<[usize; 3]>,
    lengths: Vec<usize>,
    destinations: Vec<Destination>,
    rest: Fields<'a>,
}

/// `pieces`: its bodies say which piece each of them ends with; else each is one.
fn published_head(mut f: Fields<'_>, pieces: bool) -> Option<PublishedHead<'_>> {
    let uow = f.u64()?;
    let (base, of_base, rest) = message::decode_md(f.0)?;
    f.0 = rest;
    let mut shapes = Vec::new();
    if pieces {
        for _ in 0..f.count(3 * 4)? {
            shapes.push([f.number()?, f.number()?, f.number()?]);
        }
    }
    let count = f.count(4)?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(f.number()?);
    }
    if !pieces {
        shapes.extend((0..count).map(|piece| [0, piece, 0]));
    }
    let count = f.count(DESTINATION)?;
    let mut destinations = Vec::with_capacity(count);
    for _ in 0..count {
        let (queue, seq) = (f.u64()?, f.u64()?);
        let expires = i64::from_le_bytes(f.take()?);
        let body = f.number()?;
        let (md, beside, rest) = message::decode_difference((&base, of_base), f.0)?;
        f.0 = rest;
        destinations.push(Destination {
            queue,
            seq,
            expires,
            body: Some(body).filter(|body| *body < shapes.len())?,
            md,
            beside,
        });
    }
    Some(PublishedHead {
        uow,
        shapes,
        lengths,
        destinations,
        rest: f,
    })
}

fn published(f: Fields<'_>, pieces: bool) -> Option<Record<'_>> {
    let PublishedHead {
        uow,
        shapes,
        lengths,
        destinations,
        rest: mut f,
    } = published_head(f, pieces)?;
    let mut bodies = Vec::with_capacity(shapes.len());
    for [head, piece, from] in shapes {
        if *lengths.get(piece)? < from {
            return None;
        }
        let head = f.bytes(head)?;
        bodies.push(Body { head, piece, from });
    }
    let pieces = lengths
        .into_iter()
        .map(|length| f.bytes(length))
        .collect::<Option<_>>()?;
    f.end()?;
    Some(Record::Publish(Publication {
        uow,
        destinations,
        bodies,
        pieces,
    }))
}

fn prepared(mut f: Fields<'_>) -> Option<Record<'_>> {
    let uow = f.u64()?;
    let started = i64::from_le_bytes(f.take()?);
    let format_id = i32::from_le_bytes(f.take()?);
    let [length] = f.take()?;
    let (global, branch) = f.0.split_at_checked(usize::from(length))?;
    let xid = Xid::new(format_id, global, branch)?;
    Some(Record::Prepare { uow, started, xid })
}

fn completed(mut f: Fields<'_>) -> Option<Record<'_>> {
    let uow = f.u64()?;
    let outcome = match f.take()? {
        [0] => Outcome::BackedOut,
        [1] => Outcome::Committed,
        _ => return None,
    };
    Some(Record::Heuristic {
        uow,
        outcome,
        counts: f.counts()?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn with(properties: usize) -> Beside {
        Beside {
            properties,
            ..Beside::default()
        }
    }

    /// Every record's bytes, as a table: changing one changes the log's format, which needs a
    /// decision record and a new format version.
    #[test]
    fn records_round_trip_and_refuse_every_cut() {
        let counts = [BackoutCount {
            queue: 3,
            seq: 9,
            count: 2,
        }];
        let fixed: Vec<(Vec<u8>, Record<'_>)> = vec![
            (
                get(1, 2, 3, 4).to_vec(),
                Record::Get {
                    uow: 1,
                    queue: 2,
                    seq: 3,
                    count: 4,
                },
            ),
            (commit(7).to_vec(), Record::Commit { uow: 7 }),
            (
                backout(7, &counts),
                Record::Backout {
                    uow: 7,
                    counts: counts.to_vec(),
                },
            ),
            (
                cleared(4, 100).to_vec(),
                Record::Cleared {
                    queue: 4,
                    below: 100,
                },
            ),
            (
                discarded(4, 100).to_vec(),
                Record::Discarded { queue: 4, seq: 100 },
            ),
            (checkpoint(5).to_vec(), Record::Checkpoint { number: 5 }),
            (
                heuristic(7, Outcome::BackedOut, &counts),
                Record::Heuristic {
                    uow: 7,
                    outcome: Outcome::BackedOut,
                    counts: counts.to_vec(),
                },
            ),
            (forgotten(7).to_vec(), Record::Forgotten { uow: 7 }),
        ];
        for (bytes, record) in &fixed {
            assert_eq!(decode(bytes).as_ref(), Some(record));
            for length in 0..bytes.len() {
                // A backout record cut at a whole count is a shorter backout record: the log's own
                // length and checksum guard that case.
                if !matches!(
                    decode(&bytes[..length]),
                    None | Some(Record::Backout { .. } | Record::Heuristic { .. })
                ) {
                    panic!("{record:?} cut to {length} was accepted");
                }
            }
        }
        let xid = Xid::new(-7, &[1; 64], b"branch").unwrap();
        let bytes = prepare(9, 8, &xid);
        let (uow, started) = (9, 8);
        assert_eq!(decode(&bytes), Some(Record::Prepare { uow, started, xid }));
        assert_eq!(
            decode(&bytes[..bytes.len() - 7]),
            None,
            "the global part is cut"
        );
        let mut put = Vec::new();
        put_head(&mut put, 1, 2, 3, 4, (&Md::default(), with(2)));
        put.extend_from_slice(b"data");
        assert_eq!(before_bodies(&put), Some(Some(put.len() - 4)));
        assert_eq!(before_bodies(&put[..20]), None);
        assert_eq!(before_bodies(&commit(7)), Some(None));
        match decode(&put) {
            Some(Record::Put {
                uow: 1,
                queue: 2,
                seq: 3,
                expires: 4,
                md,
                beside,
                data: b"data",
            }) => assert_eq!((*md, beside), (Md::default(), with(2))),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_publication_has_a_body_once_and_a_descriptor_for_each_queue() {
        let base = Md {
            priority: 4,
            ..Md::default()
        };
        let to = |queue, seq, expires, body, correl| Destination {
            queue,
            seq,
            expires,
            body,
            md: Md {
                correl_id: [correl; 24],
                ..base.clone()
            },
            beside: with(1),
        };
        let destinations = || vec![to(2, 70, 0, 0, 0), to(3, 71, 5, 0, 1), to(3, 72, -6, 1, 2)];
        let body = |head, piece, from| Body { head, piece, from };
        let pieces = || vec![&b"data"[..], b"other"];
        let forms = [
            (PUBLISH, vec![body(b"", 0, 0), body(b"", 1, 0)], 0),
            (
                PUBLISH_PIECES,
                vec![body(b"head", 1, 2), body(b"", 1, 5)],
                4 + 2 * 12,
            ),
        ];
        for (tag, bodies, more) in forms {
            let mut bytes = Vec::new();
            let mut head = PublishHead::new(&mut bytes, 9, (&base, with(1)), &bodies, &pieces());
            for to in &destinations() {
                head.add(to.queue, to.seq, to.expires, to.body, (&to.md, to.beside));
            }
            head.finish();
            assert_eq!(bytes[0], tag);
            assert_eq!(
                bytes.len(),
                1 + 8 + (4 + 3 * 4) + 4 + 2 * 4 + 4 + 3 * DESTINATION + 2 * 24 + more,
                "a message costs little beside the body"
            );
            bodies
                .iter()
                .for_each(|body| bytes.extend_from_slice(body.head));
            bytes.extend_from_slice(&pieces().concat());
            for length in 0..bytes.len() {
                assert_eq!(decode(&bytes[..length]), None, "{length}");
            }
            let own: usize = bodies.iter().map(|body| body.head.len()).sum();
            let front = bytes.len() - own - pieces().concat().len();
            assert_eq!(before_bodies(&bytes), Some(Some(front)));
            assert_eq!(before_bodies(&bytes[..front - 1]), None);
            let read = decode(&bytes).unwrap();
            assert_eq!(read.highest_number(), 72);
            let (uow, destinations, pieces) = (9, destinations(), pieces());
            assert_eq!(
                read,
                Record::Publish(Publication {
                    uow,
                    destinations,
                    bodies,
                    pieces
                })
            );
        }
    }

    #[test]
    fn what_no_publication_can_have_is_not_believed() {
        let none = |bodies: &[Body<'_>], pieces: &[&[u8]], body| {
            let (mut bytes, md) = (Vec::new(), Md::default());
            let mut head = PublishHead::new(&mut bytes, 9, (&md, with(0)), bodies, pieces);
            head.add(1, 2, 0, body, (&md, with(0)));
            head.finish();
            bytes
        };
        let body = |head, piece, from| Body { head, piece, from };
        let one = [body(b"", 0, 0)];
        assert!(decode(&none(&one, &[b""], 0)).is_some());
        assert_eq!(decode(&none(&one, &[b""], 1)), None, "no such body");
        assert_eq!(decode(&none(&one, &[b"1"], 0)), None, "a body that is cut");
        let two = [one[0]; 2];
        assert!(decode(&none(&two, &[b""], 1)).is_some());
        for wrong in [body(b"", 1, 0), body(b"", 0, 1), body(b"h", 0, 0)] {
            let read = none(&[one[0], wrong], &[b""], 0);
            assert_eq!(decode(&read), None, "{wrong:?}");
        }
        let mut many = none(&[], &[], 0);
        let at = many.len() - DESTINATION - 4;
        for count in [at, at - 4] {
            let mut many = many.clone();
            many[count..count + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert_eq!(decode(&many), None);
        }
        many.push(0);
        assert_eq!(decode(&many), None, "more than there should be");
    }
}
