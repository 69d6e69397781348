//! How often an address may be wrong.
//!
//! Invariants: whoever asks takes a token, and has it back if the answer was right; an address has [`BURST`] of them, and
//! gets one more every second. So a guesser has one try a second, however many connections he opens, and who is right is
//! never held up by himself. What is remembered is limited: an address that has all its tokens is forgotten.

use std::collections::HashMap;
use std::net::IpAddr;

use posthaste_env::Nanos;

/// Wrong ones in a row.
const BURST: u32 = 20;
/// Until there is one more.
const PAUSE: Nanos = 1_000_000_000;
/// Addresses that are remembered; beyond these nobody new is looked at until some are forgotten.
const MOST: usize = 100_000;

/// Tokens that an address does not have, and since when.
#[derive(Clone, Copy, Debug)]
struct Spent {
    tokens: u32,
    /// When the next comes back begins here.
    since: Nanos,
}

impl Spent {
    /// With what has come back by now.
    fn at(self, now: Nanos) -> Spent {
        let back = now.saturating_sub(self.since) / PAUSE;
        let back = u32::try_from(back).unwrap_or(u32::MAX).min(self.tokens);
        Spent {
            tokens: self.tokens - back,
            since: self.since + Nanos::from(back) * PAUSE,
        }
    }
}

/// The tokens of all addresses.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    spent: HashMap<IpAddr, Spent>,
}

/// Who counts as one: of IPv6 a site has 64 bits to itself.
fn site(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => IpAddr::V6((u128::from(long) >> 64 << 64).into()),
        short => short,
    }
}

impl Limiter {
    /// Takes a token; false if there is none.
    pub(crate) fn take(&mut self, address: IpAddr, now: Nanos) -> bool {
        let site = site(address);
        if self.spent.len() >= MOST && !self.spent.contains_key(&site) {
            self.spent.retain(|_, spent| spent.at(now).tokens > 0);
            if self.spent.len() >= MOST {
                return false;
            }
        }
        let none = Spent {
            tokens: 0,
            since: now,
        };
        let spent = self.spent.entry(site).or_insert(none);
        *spent = spent.at(now);
        if spent.tokens == 0 {
            spent.since = now;
        }
        let has = spent.tokens < BURST;
        spent.tokens += u32::from(has);
        has
    }

    /// Gives one back.
    pub(crate) fn give_back(&mut self, address: IpAddr, now: Nanos) {
        let site = site(address);
        if let Some(spent) = self.spent.get_mut(&site) {
            *spent = spent.at(now);
            spent.tokens = spent.tokens.saturating_sub(1);
            if spent.tokens == 0 {
                self.spent.remove(&site);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn taken(limiter: &mut Limiter, from: &str, now: Nanos) -> usize {
        (0..1_000)
            .take_while(|_| limiter.take(address(from), now))
            .count()
    }

    #[test]
    fn a_guesser_has_a_burst_and_then_one_try_a_second() {
        let mut limiter = Limiter::default();
        assert_eq!(taken(&mut limiter, "192.0.2.1", 0), 20);
        assert_eq!(taken(&mut limiter, "192.0.2.1", PAUSE - 1), 0);
        assert_eq!(taken(&mut limiter, "192.0.2.1", 5 * PAUSE), 5);
        assert_eq!(taken(&mut limiter, "192.0.2.2", 5 * PAUSE), 20, "another");
        assert_eq!(taken(&mut limiter, "192.0.2.1", 500 * PAUSE), 20);
    }

    #[test]
    fn who_is_right_has_no_limit_and_is_not_remembered() {
        let mut limiter = Limiter::default();
        let from = address("192.0.2.1");
        for _ in 0..10_000 {
            assert!(limiter.take(from, 7));
            limiter.give_back(from, 7);
        }
        assert!(limiter.spent.is_empty());
    }

    #[test]
    fn addresses_of_one_site_count_as_one() {
        let mut limiter = Limiter::default();
        assert_eq!(taken(&mut limiter, "2001:db8::1", 0), 20);
        assert_eq!(taken(&mut limiter, "2001:db8::ffff:2", 0), 0);
        assert_eq!(taken(&mut limiter, "2001:db8:0:1::1", 0), 20);
        assert_eq!(taken(&mut limiter, "::ffff:192.0.2.9", 0), 20);
        assert_eq!(taken(&mut limiter, "192.0.2.9", 0), 0);
    }

    #[test]
    fn what_is_remembered_is_limited() {
        let mut limiter = Limiter::default();
        for number in 0..u32::try_from(MOST).unwrap() {
            assert!(limiter.take(IpAddr::V4(number.into()), 0));
        }
        assert!(!limiter.take(address("192.0.2.1"), 0), "full");
        assert!(limiter.take(address("0.0.0.1"), 0), "one that is known");
        assert!(
            limiter.take(address("192.0.2.1"), PAUSE),
            "the others are forgotten"
        );
        assert!(limiter.spent.len() <= 2);
    }
}
