//! Messages that are put with a delay: known by the queue to which they go, on which they are some time later.
//!
//! What is taken as law:
//! * Nobody is given one before its time, by the clock by which messages expire.
//! * From then on it may come at any moment. While it has not, it is not missed, has no depth, and is passed by others.
//! * It comes once, with or without crashes: so it is held against the rules for all messages as soon as somebody has seen
//!   it, and from [`Model::delays_over`] on.
//! * Where it waits what is not persistent survives no stop.
//! * What is left of its life is told to its queue in whole tenths of a second, one at least.

use crate::known::{Message, Model, State, Verdict, broken};
use crate::{Put, Rule};

/// Microseconds in a tenth of a second.
const TENTH: u64 = 100_000;

impl Put {
    /// By how much life is rounded.
    fn rounded(&self) -> u64 {
        self.delay.map_or(0, |_| TENTH)
    }

    /// When it expires at the earliest, put at this time or later.
    pub(crate) fn earliest_expiry(&self, time: u64) -> u64 {
        let expires = |life: u64| (time + life).saturating_sub(self.rounded());
        self.expiry.map_or(u64::MAX, expires)
    }

    /// When it expires at the latest, put at this time or earlier.
    pub(crate) fn latest_expiry(&self, time: u64) -> u64 {
        let expires = |life: u64| time + life + self.rounded();
        self.expiry.map_or(u64::MAX, expires)
    }

    /// The first moment at which somebody may be given it. Each clock is cut to microseconds by itself.
    pub(crate) fn not_before(&self, time: u64) -> u64 {
        self.delay
            .map_or(0, |delay| (time + delay).saturating_sub(1))
    }
}

impl Model {
    pub(crate) fn check_not_early(&self, m: &Message, name: &str) -> Verdict {
        if self.time >= m.not_before {
            return Ok(());
        }
        let text = format!(
            "message {} on {name} at {}, not before {}",
            m.put.id, self.time, m.not_before
        );
        broken(Rule::Early, text)
    }

    /// When the last of those that wait for their time is due, if any does.
    pub fn last_due(&self) -> Option<u64> {
        let waiting = self.messages.iter().filter(|(_, m)| {
            let there = !matches!(m.state, State::Undone | State::Taken | State::Lost);
            m.waits && there
        });
        let messages = waiting.map(|(_, m)| m.to_come);
        messages.chain(self.publications_to_come()).max()
    }

    /// The queue manager says that nothing waits any more: what has been put with a delay is where it is to go.
    pub fn delays_over(&mut self) {
        self.tick(self.time);
        self.publications_over();
        for id in self.messages.ids() {
            let m = self.message(id);
            if std::mem::take(&mut m.waits) {
                let state = m.state;
                self.set(id, state);
            }
        }
    }
}
