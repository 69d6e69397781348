//! How often somebody may be wrong, and how many checks of his credentials may be underway. Over a network that is an address;
//! on this machine a user, as one address is everybody's here.
//!
//! Invariants: an origin may be wrong [`BURST`] times, and once more for every second; then nothing of it is looked at. Who
//! is right is not counted, however many come at once: [`AT_A_TIME`] are looked at, the others wait for their turn. So a
//! guesser has one try a second, however many connections he opens. What is remembered is limited: an origin that has not
//! been wrong lately and has no check underway is forgotten.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_env::{Nanos, site};
use tokio::sync::Semaphore;

/// Wrong ones in a row.
const BURST: u32 = 20;
/// Until there may be one more.
const PAUSE: Nanos = 1_000_000_000;
/// Checks of an origin that may be underway.
const AT_A_TIME: usize = 8;
/// Origins that are remembered; beyond these nobody new is looked at until some are forgotten.
const MOST: usize = 100_000;

/// Who counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// The site of an address.
    Address(IpAddr),
    /// A user of this machine, by his number.
    User(u32),
}

impl Origin {
    /// Of a connection from an address, which a process of this user has made, if the kernel knows it.
    pub(crate) fn of(address: IpAddr, maker: Option<u32>) -> Origin {
        match maker {
            Some(user) => Origin::User(user),
            None => Origin::Address(site(address)),
        }
    }

    /// The user of this machine that it is, by his number.
    pub(crate) fn user(self) -> Option<u32> {
        match self {
            Origin::User(number) => Some(number),
            Origin::Address(_) => None,
        }
    }
}

/// What is known of an origin.
#[derive(Debug)]
struct Known {
    /// How often it was wrong.
    wrong: u32,
    /// When the second begins after which one of these is forgotten.
    since: Nanos,
    /// Turns, which those hold whose credentials are looked at.
    turns: Arc<Semaphore>,
}

impl Known {
    fn new(now: Nanos) -> Known {
        Known {
            wrong: 0,
            since: now,
            turns: Arc::new(Semaphore::new(AT_A_TIME)),
        }
    }

    /// Forgets what is long ago.
    fn forget(&mut self, now: Nanos) {
        let past = now.saturating_sub(self.since) / PAUSE;
        self.wrong -= u32::try_from(past).unwrap_or(u32::MAX).min(self.wrong);
        self.since = match self.wrong {
            0 => now,
            _ => self.since + past * PAUSE,
        };
    }

    /// Whether nothing has to be remembered of it.
    fn is_clean(&self) -> bool {
        self.wrong == 0 && Arc::strong_count(&self.turns) == 1
    }
}

/// See the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    origins: Mutex<HashMap<Origin, Known>>,
}

impl Limiter {
    /// The turns of an origin; none: it was wrong too often.
    pub(crate) fn turns(&self, origin: Origin, now: Nanos) -> Option<Arc<Semaphore>> {
        let mut origins = self.origins.lock();
        if origins.len() >= MOST && !origins.contains_key(&origin) {
            origins.retain(|_, known| {
                known.forget(now);
                !known.is_clean()
            });
            if origins.len() >= MOST {
                return None;
            }
        }
        let known = origins.entry(origin).or_insert_with(|| Known::new(now));
        known.forget(now);
        (known.wrong < BURST).then(|| Arc::clone(&known.turns))
    }

    /// A turn has been given back; `wrong`: the credentials were, or whoever gave them did not wait to hear.
    pub(crate) fn end(&self, origin: Origin, now: Nanos, wrong: bool) {
        let mut origins = self.origins.lock();
        let Some(known) = origins.get_mut(&origin) else {
            return;
        };
        known.forget(now);
        known.wrong += u32::from(wrong);
        if known.is_clean() {
            origins.remove(&origin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Origin {
        Origin::of(text.parse().unwrap(), None)
    }

    fn wrong(limiter: &Limiter, from: &str, now: Nanos) -> usize {
        let from = address(from);
        let once = |_: &i32| {
            let may = limiter.turns(from, now).is_some();
            if may {
                limiter.end(from, now, true);
            }
            may
        };
        (0..1_000).take_while(once).count()
    }

    #[test]
    fn a_guesser_has_a_burst_and_then_one_try_a_second() {
        let limiter = Limiter::default();
        assert_eq!(wrong(&limiter, "192.0.2.1", 0), 20);
        assert_eq!(wrong(&limiter, "192.0.2.1", PAUSE - 1), 0);
        assert_eq!(wrong(&limiter, "192.0.2.1", 5 * PAUSE), 5);
        assert_eq!(wrong(&limiter, "192.0.2.2", 5 * PAUSE), 20, "another");
        assert_eq!(wrong(&limiter, "192.0.2.1", 500 * PAUSE), 20);
    }

    #[test]
    fn who_is_right_has_no_limit_and_is_not_remembered() {
        let limiter = Limiter::default();
        let from = address("192.0.2.1");
        for _ in 0..10_000 {
            assert!(limiter.turns(from, 7).is_some());
            limiter.end(from, 7, false);
        }
        let all: Vec<_> = (0..1_000).map(|_| limiter.turns(from, 7)).collect();
        assert!(all.iter().all(Option::is_some), "at once, too");
        drop(all);
        limiter.end(from, 7, false);
        assert!(limiter.origins.lock().is_empty());
    }

    #[test]
    fn addresses_of_one_site_count_as_one() {
        let limiter = Limiter::default();
        assert_eq!(wrong(&limiter, "2001:db8::1", 0), 20);
        assert_eq!(wrong(&limiter, "2001:db8::ffff:2", 0), 0);
        assert_eq!(wrong(&limiter, "2001:db8:0:1::1", 0), 20);
        assert_eq!(wrong(&limiter, "::ffff:192.0.2.9", 0), 20);
        assert_eq!(wrong(&limiter, "192.0.2.9", 0), 0);
    }

    #[test]
    fn users_of_this_machine_count_apart_whatever_address_they_use() {
        let here = |address: &str, user| Origin::of(address.parse().unwrap(), Some(user));
        assert_eq!(here("127.0.0.1", 7), here("::1", 7));
        assert_ne!(here("127.0.0.1", 7), here("127.0.0.1", 8));
        assert_ne!(here("127.0.0.1", 7), address("127.0.0.1"));
    }

    #[test]
    fn what_is_remembered_is_limited() {
        let limiter = Limiter::default();
        for number in 0..u32::try_from(MOST).unwrap() {
            let from = Origin::of(IpAddr::V4(number.into()), None);
            assert!(limiter.turns(from, 0).is_some());
            limiter.end(from, 0, true);
        }
        let [new, known] = ["192.0.2.1", "0.0.0.1"].map(address);
        assert!(limiter.turns(new, 0).is_none(), "full");
        assert!(limiter.turns(known, 0).is_some(), "one that is known");
        assert!(limiter.turns(new, PAUSE).is_some(), "others are forgotten");
        assert!(limiter.origins.lock().len() <= 2);
    }
}
