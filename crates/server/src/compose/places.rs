//! How many connections are taken at one time: what the configuration says, as far as the process may have sockets open.
//!
//! Invariants: with every place taken, descriptors are left for the log and for queue files, so that whoever connects
//! cannot stop the queue manager; applications of this machine, and the operator among them, have places of their own;
//! no single address has every place.

use posthaste_net::{Admission, Limits};

/// Connections of this machine's applications at one time.
const LOCAL: usize = 10_000;
/// Connections that are told at one time that there is no place for them.
const TURNED_AWAY: usize = 64;
/// Descriptors for what a queue manager is without connections: its locks, logs of errors, lanes, listeners, control
/// socket, and a checkpoint.
const OWN: usize = 48;
/// Of the places of clients over the network, one in so many is not for an address that has all the others.
const FOR_OTHERS: usize = 16;

/// How many connections there may be at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Of clients over the network.
    pub(super) network: usize,
    /// Of this machine's applications.
    pub(super) local: usize,
    /// Of those that are told that there is no place for them; others are only closed.
    pub(super) turned_away: usize,
}

impl Places {
    /// `channels`: what the configuration says. `log_files`: the most that the log has. `descriptors`: the most that the
    /// process may have open, if there is such a limit; of those that are left over by log and queue manager, clients over
    /// the network get three quarters at most, and of the rest this machine's applications and queue files half each, but
    /// for the few who are turned away.
    pub(super) fn within(channels: usize, log_files: usize, descriptors: Option<u64>) -> Places {
        let limit = descriptors.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        let free = limit.saturating_sub(OWN.saturating_add(log_files));
        let network = channels.min(free - free / 4).max(1);
        let left = free.saturating_sub(network);
        let turned_away = TURNED_AWAY.min(left / 4);
        let local = LOCAL.min((left - turned_away) / 2).max(1);
        Places {
            network,
            local,
            turned_away,
        }
    }

    /// Who has them: those over the network, and the local ones.
    pub(super) fn admissions(self) -> [Admission; 2] {
        let network = Limits {
            connections: self.network,
            per_address: self.network - self.network / FOR_OTHERS,
        };
        let local = Limits {
            connections: self.local,
            per_address: self.local,
        };
        [network, local].map(Admission::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    use posthaste_net::{Peer, Permit, Refused};

    #[test]
    fn connections_leave_descriptors_to_the_log_and_to_queue_files() {
        let places = |channels, limit| {
            let places = Places::within(channels, 18, limit);
            (places.network, places.local, places.turned_away)
        };
        for limit in [None, Some(u64::MAX), Some(1 << 20)] {
            assert_eq!(places(1_000, limit), (1_000, 10_000, 64));
        }
        assert_eq!(places(1_000, Some(4_096)), (1_000, 1_483, 64));
        assert_eq!(places(1_000, Some(1_024)), (719, 90, 59));
        assert_eq!(places(100, Some(1_024)), (100, 397, 64));
        assert_eq!(
            places(65_535, Some(66)),
            (1, 1, 0),
            "the least that is any use"
        );
        for limit in 128..2_000 {
            let places = Places::within(65_535, 18, Some(limit));
            let taken = places.network + places.local + places.turned_away;
            let kept = usize::try_from(limit).unwrap() - taken;
            assert!(kept >= OWN + 18 + places.local, "{limit}");
        }
    }

    #[test]
    fn one_address_leaves_places_to_others() {
        let [network, local] = Places::within(32, 18, None).admissions();
        let peer = |last| Peer::Tcp(SocketAddr::from(([10, 0, 0, last], 1)));
        let connected = |last| -> Result<Permit, Refused> {
            let permit = network.admit(&peer(last))?;
            assert!(permit.establish());
            Ok(permit)
        };
        let mut taken = Vec::new();
        let refused = loop {
            match connected(1) {
                Ok(permit) => taken.push(permit),
                Err(refused) => break refused,
            }
        };
        assert_eq!(
            (taken.len(), refused),
            (30, Refused::TooManyFromAddress { limit: 30 })
        );
        taken.extend([connected(2).unwrap(), connected(3).unwrap()]);
        assert_eq!(connected(4).err(), Some(Refused::TooMany { limit: 32 }));
        drop(local.admit(&Peer::Local).expect("the operator has a place"));
        // So few that no part of them can be kept.
        let [few, _] = Places::within(5, 18, None).admissions();
        let all: Vec<Permit> = (0..5).map_while(|_| few.admit(&peer(1)).ok()).collect();
        assert_eq!(all.len(), 5);
    }
}
