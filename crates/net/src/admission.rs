//! How many connections there may be, and what they have cost.
//!
//! Invariants: the number of live [`Permit`]s that were not evicted is the number of admitted connections; it never
//! exceeds the limits; a permit gives its place back when it is dropped, however its connection ended. A connection that
//! has not said who it is keeps nobody out: when there is no place, one of those loses its own (`half_open`).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::address::{Host, Peer};
use crate::clock::now;
use crate::half_open::HalfOpens;

/// How many connections are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// In all.
    pub connections: usize,
    /// From one address, of IPv6 from one site; connections of this machine's own sockets count together.
    pub per_address: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 10_000,
            per_address: 10_000,
        }
    }
}

/// Why a connection was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// There are as many as there may be.
    #[error("there are {limit} connections already, the most that are allowed")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// There are as many from this address as there may be.
    #[error("there are {limit} connections from this address already, the most that are allowed")]
    TooManyFromAddress {
        /// The limit.
        limit: usize,
    },
    /// The listener is ending.
    #[error("no more connections are taken")]
    Draining,
}

/// Bytes of one connection, and the buffers they came and went in.
#[derive(Debug, Default)]
pub struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
}

impl Traffic {
    /// Bytes received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Bytes sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Buffers received: reads that brought something.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Buffers sent: times that something was written.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Counts one buffer of bytes received. Only the thread that serves the connection counts.
    pub fn count_received(&self, bytes: usize) {
        raise(&self.received, bytes as u64);
        raise(&self.reads, 1);
    }

    /// Counts bytes sent, in so many buffers. Only the thread that serves the connection counts.
    pub fn count_sent(&self, bytes: u64, buffers: u64) {
        raise(&self.sent, bytes);
        raise(&self.writes, buffers);
    }
}

/// Raises a counter that one thread raises and others read.
fn raise(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

/// Sums over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
    /// Reads that brought something; each is a system call.
    pub reads: u64,
}

impl Totals {
    fn add(&mut self, traffic: &Traffic) {
        self.received += traffic.received();
        self.sent += traffic.sent();
        self.reads += traffic.reads();
    }
}

/// What a half-open connection and the admission have in common.
#[derive(Default)]
pub(crate) struct Place {
    evicted: AtomicBool,
    task: Mutex<Option<Waker>>,
}

#[derive(Default)]
struct Counts {
    draining: bool,
    next: u64,
    live: HashMap<u64, (Option<Host>, Arc<Traffic>)>,
    per_address: HashMap<Option<Host>, usize>,
    /// Those of `live` that are not established.
    half_open: HalfOpens<Arc<Place>>,
    /// Evicted and not gone yet.
    leaving: HashMap<u64, Arc<Traffic>>,
    /// Of connections that are gone.
    gone: Totals,
}

impl Counts {
    /// Takes a connection out; gives its counters.
    fn remove(&mut self, id: u64) -> Option<Arc<Traffic>> {
        let (host, traffic) = self.live.remove(&id)?;
        self.half_open.remove(id, host);
        if let Some(from_there) = self.per_address.get_mut(&host) {
            *from_there -= 1;
            if *from_there == 0 {
                self.per_address.remove(&host);
            }
        }
        Some(traffic)
    }

    /// Takes a half-open connection's place away for a newcomer, if there is one that has to go for him.
    fn evict(&mut self, newcomer: Option<Host>, why: Refused) -> bool {
        let victim = match why {
            Refused::TooMany { .. } => self.half_open.victim(newcomer, now()),
            Refused::TooManyFromAddress { .. } => self.half_open.victim_of(newcomer, now()),
            Refused::Draining => None,
        };
        let Some((id, place)) = victim else {
            return false;
        };
        if let Some(traffic) = self.remove(id) {
            self.leaving.insert(id, traffic);
        }
        place.evicted.store(true, Ordering::Release);
        if let Some(task) = place.task.lock().take() {
            task.wake();
        }
        true
    }
}

struct Shared {
    limits: Limits,
    counts: Mutex<Counts>,
    /// No more connections are taken.
    drains: Notify,
    /// The last connection has gone: whoever takes connections is not woken for each that goes.
    gone: Notify,
}

/// Admits connections for any number of listeners together.
#[derive(Clone)]
pub struct Admission {
    shared: Arc<Shared>,
}

impl Admission {
    /// With these limits.
    pub fn new(limits: Limits) -> Admission {
        Admission {
            shared: Arc::new(Shared {
                limits,
                counts: Mutex::default(),
                drains: Notify::new(),
                gone: Notify::new(),
            }),
        }
    }

    /// Takes a connection, or says why not.
    pub fn admit(&self, peer: &Peer) -> Result<Permit, Refused> {
        let mut counts = self.shared.counts.lock();
        let mut verdict = self.verdict(&counts, peer);
        if let Err(why) = verdict
            && counts.evict(peer.site(), why)
        {
            verdict = self.verdict(&counts, peer);
        }
        verdict?;
        counts.next += 1;
        let (id, site, traffic) = (counts.next, peer.site(), Arc::new(Traffic::default()));
        counts.live.insert(id, (site, Arc::clone(&traffic)));
        *counts.per_address.entry(site).or_insert(0) += 1;
        let place = Arc::new(Place::default());
        counts.half_open.insert(id, site, now(), Arc::clone(&place));
        Ok(Permit {
            shared: Arc::clone(&self.shared),
            id,
            site,
            traffic,
            place,
        })
    }

    fn verdict(&self, counts: &Counts, peer: &Peer) -> Result<(), Refused> {
        let limits = &self.shared.limits;
        if counts.draining {
            return Err(Refused::Draining);
        }
        if counts.live.len() >= limits.connections {
            return Err(Refused::TooMany {
                limit: limits.connections,
            });
        }
        let from_there = counts.per_address.get(&peer.site()).copied().unwrap_or(0);
        if from_there >= limits.per_address {
            return Err(Refused::TooManyFromAddress {
                limit: limits.per_address,
            });
        }
        Ok(())
    }

    /// Connections that are there now.
    pub fn connections(&self) -> usize {
        let counts = self.shared.counts.lock();
        counts.live.len() + counts.leaving.len()
    }

    /// Those of them that are not established.
    pub fn half_open(&self) -> usize {
        self.shared.counts.lock().half_open.count()
    }

    /// What all connections have received and sent, gone ones included.
    pub fn traffic(&self) -> Totals {
        let counts = self.shared.counts.lock();
        let mut totals = counts.gone;
        let live = counts.live.values().map(|(_, traffic)| traffic);
        for traffic in live.chain(counts.leaving.values()) {
            totals.add(traffic);
        }
        totals
    }

    /// Takes no more connections.
    pub fn drain(&self) {
        self.shared.counts.lock().draining = true;
        self.shared.drains.notify_waiters();
    }

    /// Ready when connections are no longer taken.
    pub async fn draining(&self) {
        loop {
            let changed = self.shared.drains.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.shared.counts.lock().draining {
                return;
            }
            changed.await;
        }
    }

    /// Ready when no connection is left.
    pub async fn empty(&self) {
        loop {
            let changed = self.shared.gone.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.connections() == 0 {
                return;
            }
            changed.await;
        }
    }
}

/// An admitted connection's place. It is half-open until it is established.
pub struct Permit {
    shared: Arc<Shared>,
    id: u64,
    site: Option<Host>,
    traffic: Arc<Traffic>,
    place: Arc<Place>,
}

impl Permit {
    /// The connection's counters.
    pub fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }

    /// A number no other connection of this admission has had.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The connection is one that is wanted, and keeps its place from now on; false if it has lost it already.
    pub fn establish(&self) -> bool {
        let mut counts = self.shared.counts.lock();
        let half_open = counts.half_open.remove(self.id, self.site);
        drop(counts);
        half_open || !self.place.evicted.load(Ordering::Acquire)
    }

    /// Ready when the place is lost to somebody else: the connection is to end.
    pub fn poll_evicted(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut task = self.place.task.lock();
        if self.place.evicted.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if !task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            *task = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = self.shared.counts.lock();
        counts.remove(self.id);
        counts.leaving.remove(&self.id);
        counts.gone.add(&self.traffic);
        let last = counts.live.is_empty() && counts.leaving.is_empty();
        drop(counts);
        if last {
            self.shared.gone.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn peer(last: u8) -> Peer {
        Peer::Tcp(SocketAddr::from(([127, 0, 0, last], 1414)))
    }

    /// One machine has as many addresses of its site as it likes.
    #[test]
    fn a_site_of_ipv6_counts_as_one_address() {
        let six = |site: u16, host: u16| {
            let address = [0x2001, 0xdb8, 0, site, 0, 0, 0, host];
            Peer::Tcp(SocketAddr::from((address, 1414)))
        };
        let admission = Admission::new(Limits {
            connections: 10,
            per_address: 2,
        });
        let taken = [1, 2].map(|host| admission.admit(&six(1, host)).unwrap());
        taken.iter().for_each(|permit| assert!(permit.establish()));
        assert_eq!(
            admission.admit(&six(1, 3)).err(),
            Some(Refused::TooManyFromAddress { limit: 2 })
        );
        assert!(admission.admit(&six(2, 3)).is_ok());
        assert_eq!(six(1, 3).conname(), "2001:db8:0:1::3");
    }

    #[test]
    fn limits_hold_and_places_come_back() {
        let admission = Admission::new(Limits {
            connections: 3,
            per_address: 2,
        });
        let first = admission.admit(&peer(1)).expect("first");
        let second = admission.admit(&peer(1)).expect("second");
        assert_eq!(
            admission.admit(&peer(1)).err(),
            Some(Refused::TooManyFromAddress { limit: 2 })
        );
        let third = admission.admit(&peer(2)).expect("third, from elsewhere");
        assert!(first.establish() && second.establish() && third.establish());
        assert_eq!(
            admission.admit(&Peer::Local).err(),
            Some(Refused::TooMany { limit: 3 })
        );
        drop(first);
        let _fourth = admission.admit(&peer(1)).expect("the place came back");
        admission.drain();
        assert_eq!(admission.admit(&Peer::Local).err(), Some(Refused::Draining));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_half_open_keeps_nobody_out_for_long() {
        let admission = Admission::new(Limits {
            connections: 3,
            per_address: 3,
        });
        let established = admission.admit(&peer(1)).expect("first");
        assert!(established.establish());
        let silent = [
            admission.admit(&peer(1)).expect("second"),
            admission.admit(&peer(1)).expect("third"),
        ];
        let full = admission.admit(&peer(1)).err();
        assert_eq!(full, Some(Refused::TooMany { limit: 3 }), "both are young");
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        let newcomer = admission.admit(&peer(2)).expect("the oldest has to go");
        std::future::poll_fn(|cx| silent[0].poll_evicted(cx)).await;
        assert!(!silent[0].establish(), "too late");
        assert!(newcomer.establish());
        assert_eq!((admission.connections(), admission.half_open()), (4, 1));
        let last = admission.admit(&peer(2)).expect("the other silent one");
        assert_eq!(
            admission.admit(&peer(3)).err(),
            Some(Refused::TooMany { limit: 3 }),
            "who is established is never evicted, nor who is young"
        );
        silent[1].traffic().count_received(5);
        drop(silent);
        assert_eq!(admission.traffic().received, 5);
        drop((established, newcomer, last));
        assert_eq!((admission.connections(), admission.half_open()), (0, 0));
    }

    /// However fast one address opens connections, another finds a place.
    #[test]
    fn a_flood_from_one_address_keeps_no_other_out() {
        let admission = Admission::new(Limits {
            connections: 100,
            per_address: 100,
        });
        let mut flood: Vec<Permit> = Vec::new();
        let mut served = Vec::new();
        for last in 2..52 {
            while let Ok(permit) = admission.admit(&peer(1)) {
                flood.push(permit);
            }
            let newcomer = admission.admit(&peer(last)).expect("served");
            assert!(newcomer.establish());
            served.push(newcomer);
        }
        assert_eq!((admission.connections(), admission.half_open()), (150, 50));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_half_open_does_not_use_up_his_own_address_for_long() {
        let admission = Admission::new(Limits {
            connections: 100,
            per_address: 2,
        });
        let _silent = [(); 2].map(|()| admission.admit(&peer(1)).expect("silent"));
        let full = Some(Refused::TooManyFromAddress { limit: 2 });
        assert_eq!(admission.admit(&peer(1)).err(), full);
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        assert!(admission.admit(&peer(1)).is_ok());
    }

    #[test]
    fn traffic_outlives_its_connection() {
        let admission = Admission::new(Limits::default());
        let (a, b) = (
            admission.admit(&peer(1)).unwrap(),
            admission.admit(&peer(1)).unwrap(),
        );
        a.traffic().count_received(10);
        b.traffic().count_sent(7, 1);
        assert_eq!((a.traffic().reads(), a.traffic().writes()), (1, 0));
        assert_eq!((b.traffic().reads(), b.traffic().writes()), (0, 1));
        drop(a);
        let totals = Totals {
            received: 10,
            sent: 7,
            reads: 1,
        };
        assert_eq!(admission.traffic(), totals);
        drop(b);
        assert_eq!(admission.traffic(), totals);
        assert_eq!(admission.connections(), 0);
    }

    #[tokio::test]
    async fn empty_is_ready_when_the_last_is_gone() {
        let admission = Admission::new(Limits::default());
        admission.empty().await;
        let permit = admission.admit(&peer(1)).unwrap();
        let waiting = tokio::spawn({
            let admission = admission.clone();
            async move { admission.empty().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(permit);
        waiting.await.unwrap();
    }
}
