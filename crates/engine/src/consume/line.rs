//! One line of those who wait for messages of a queue, by what they select.
//!
//! Invariants:
//! * Whoever came first is served first, of those who want a message: each has a number.
//! * Those with one selector are together, and a message is judged once for all of them, and not at all by a selector that
//!   cannot match it by what is listed of it (`listed`), nor by one with which nobody waits who came before him who is to
//!   have it.
//! * No selector is here for whom nobody waits.
//! * One whose waiter is listed no more (`waiter`) is skipped, and leaves when it is met or swept.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_selector::Selector;

use super::considered::Considered;
use super::fifo::Fifo;
use super::listed::{By, Listed};
use super::place::Place;
use super::waiter::Waiter;
use crate::plant::{Bug, planted};

/// Somebody who waits, and when he came.
struct Entry {
    number: u64,
    waiter: Arc<Waiter>,
}

/// Those who have one selector.
struct Group {
    text: Arc<str>,
    selector: Arc<Selector>,
    /// Where it is listed, and by what.
    place: Place,
    by: By,
    waiters: Fifo<Entry>,
}

/// Those who have selectors.
#[derive(Default)]
struct Selecting {
    groups: Vec<Option<Group>>,
    free: Vec<usize>,
    by_text: BTreeMap<Arc<str>, usize>,
    listed: Listed,
}

/// See the head of this file.
#[derive(Default)]
pub(super) struct Line {
    plain: Fifo<Entry>,
    selecting: Option<Box<Selecting>>,
}

fn wants(waiter: &Waiter, message: &Considered<'_>) -> bool {
    waiter.selection.accepts_fields(message.message)
}

/// The number of the first who is listed and wants a message; `gone` is called for each who left.
fn first_of(
    waiters: &mut Fifo<Entry>,
    message: &Considered<'_>,
    gone: &mut impl FnMut(),
) -> Option<(u64, usize)> {
    let mut at = 0;
    while let Some(Entry { number, waiter }) = waiters.get(at) {
        if !waiter.is_listed() {
            waiters.remove(at);
            gone();
        } else if wants(waiter, message) {
            return Some((*number, at));
        } else {
            at += 1;
        }
    }
    None
}

impl Group {
    fn matches(&self, message: &Considered<'_>) -> bool {
        planted(Bug::UnselectiveHandOver) || self.selector.matches(message)
    }
}

impl Selecting {
    fn add(&mut self, selector: &Arc<Selector>, entry: Entry) {
        let at = match self.by_text.get(selector.text()) {
            Some(at) => *at,
            None => self.new_group(selector, entry.number),
        };
        if let Some(group) = &mut self.groups[at] {
            group.waiters.push(entry);
        }
    }

    fn new_group(&mut self, selector: &Arc<Selector>, came: u64) -> usize {
        let by = self.listed.best(selector, self.by_text.len());
        let text: Arc<str> = selector.text().into();
        let at = self.free.pop().unwrap_or_else(|| {
            self.groups.push(None);
            self.groups.len() - 1
        });
        self.by_text.insert(Arc::clone(&text), at);
        let place = Place { came, group: at };
        self.listed.insert(&by, place);
        self.groups[at] = Some(Group {
            text,
            selector: Arc::clone(selector),
            place,
            by,
            waiters: Fifo::default(),
        });
        at
    }

    /// Takes a group away if nobody waits in it.
    fn tidy_up(&mut self, at: usize) {
        let left = self.groups[at].take_if(|group| group.waiters.is_empty());
        let Some(group) = left else { return };
        self.free.push(at);
        self.by_text.remove(&group.text);
        self.listed.remove(&group.by, group.place);
    }

    /// Lists a group by the first who waits in it now.
    fn move_up(&mut self, at: usize) {
        let Some(group) = &mut self.groups[at] else {
            return;
        };
        if let Some(first) = group.waiters.get(0) {
            self.listed.remove(&group.by, group.place);
            group.place.came = first.number;
            self.listed.insert(&group.by, group.place);
        }
    }

    /// The groups whose selectors may match a message.
    fn candidates(&self, message: &Considered<'_>) -> Vec<usize> {
        let all = self.listed.candidates(message);
        all.map(|place| place.group).collect()
    }

    /// Takes out the first who came before `before` and is to have a message.
    fn choose(
        &mut self,
        message: &Considered<'_>,
        before: u64,
        gone: &mut impl FnMut(),
    ) -> Option<Entry> {
        let (mut best, mut earliest) = (None, before);
        let mut in_vain = Vec::new();
        for Place { came, group: at } in self.listed.candidates(message) {
            if came >= earliest {
                break;
            }
            let Some(group) = self.groups[at].as_mut() else {
                continue;
            };
            if !group.matches(message) {
                continue;
            }
            match first_of(&mut group.waiters, message, gone) {
                Some((number, place)) if number < earliest => {
                    (best, earliest) = (Some((at, place)), number);
                }
                _ => in_vain.push(at),
            }
        }
        for at in in_vain {
            self.tidy_up(at);
            self.move_up(at);
        }
        let (at, place) = best?;
        let chosen = self.groups[at].as_mut()?.waiters.remove(place);
        self.tidy_up(at);
        chosen
    }

    fn retain(&mut self, at: usize, mut keep: impl FnMut(&Arc<Waiter>) -> bool) {
        if let Some(group) = &mut self.groups[at] {
            group.waiters.retain(|entry| keep(&entry.waiter));
        }
        self.tidy_up(at);
    }
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.selecting.is_none()
    }

    /// Somebody comes; each number is higher than those before.
    pub(super) fn push(&mut self, number: u64, waiter: Arc<Waiter>) {
        let selector = waiter.selection.selector.clone();
        let entry = Entry { number, waiter };
        match selector {
            None => self.plain.push(entry),
            Some(selector) => {
                let selecting = self.selecting.get_or_insert_default();
                selecting.add(&selector, entry);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Waiter>> {
        let groups = self.selecting.iter().flat_map(|all| &all.groups);
        let selecting = groups.flatten().flat_map(|group| group.waiters.iter());
        let all = self.plain.iter().chain(selecting);
        all.map(|entry| &entry.waiter)
    }

    fn forget_none(&mut self) {
        self.selecting.take_if(|all| all.by_text.is_empty());
    }

    /// Takes out the first who is listed and is to have a message; `gone` is called for each who left meanwhile.
    pub(super) fn choose(
        &mut self,
        message: &Considered<'_>,
        mut gone: impl FnMut(),
    ) -> Option<Arc<Waiter>> {
        let plain = first_of(&mut self.plain, message, &mut gone);
        let before = plain.map_or(u64::MAX, |(number, _)| number);
        let selecting = self.selecting.as_mut();
        let chosen = selecting.and_then(|all| all.choose(message, before, &mut gone));
        self.forget_none();
        let chosen = match (chosen, plain) {
            (None, Some((_, at))) => self.plain.remove(at),
            (chosen, _) => chosen,
        };
        chosen.map(|entry| entry.waiter)
    }

    /// Takes out all who want a message, and such as are listed no more, and gives them to `each`.
    pub(super) fn tell(&mut self, message: &Considered<'_>, mut each: impl FnMut(&Waiter)) {
        let mut stays = |waiter: &Arc<Waiter>| {
            let stays = waiter.is_listed() && !wants(waiter, message);
            if !stays {
                each(waiter);
            }
            stays
        };
        self.plain.retain(|entry| stays(&entry.waiter));
        if let Some(all) = &mut self.selecting {
            for at in all.candidates(message) {
                if all.groups[at]
                    .as_ref()
                    .is_some_and(|group| group.selector.matches(message))
                {
                    all.retain(at, &mut stays);
                }
            }
        }
        self.forget_none();
    }

    /// Keeps those of whom this is true.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Arc<Waiter>) -> bool) {
        self.plain.retain(|entry| keep(&entry.waiter));
        if let Some(all) = &mut self.selecting {
            (0..all.groups.len()).for_each(|at| all.retain(at, &mut keep));
        }
        self.forget_none();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::consume::selection::Selection;
    use crate::consume::waiter::{Service, Wakes};
    use crate::message::Message;
    use posthaste_mqi::{Md, Name, Reason};
    use posthaste_recovery_log::Lsn;

    fn waiter(number: i32) -> Arc<Waiter> {
        let (one, other) = (number % 4, number / 4 % 3);
        let text = match number % 10 {
            0 => None,
            1 => Some(format!(
                "JMSPriority = {one} AND Root.MQMD.ReplyToQ = 'Q{other}'"
            )),
            2 => Some(format!("JMSPriority >= {one}")),
            3 => Some(format!(
                "'Q{other}' = Root.MQMD.ReplyToQ AND JMSPriority < {one}"
            )),
            4 => Some(format!("JMSPriority = {one}.0 AND JMSDeliveryMode = 1")),
            5 => Some(format!(
                "JMSPriority = {one} OR Root.MQMD.ReplyToQ = 'Q{other}'"
            )),
            6 => Some(format!("JMSPriority > {one}.5 AND JMSPriority <= {other}")),
            7 => Some(format!(
                "JMSPriority BETWEEN {one} AND {} AND Root.MQMD.ReplyToQ <> 'Q{other}'",
                one + other
            )),
            8 => Some(format!(
                "JMSPriority >= {one} AND {other} >= Root.MQMD.MsgSeqNumber AND JMSDeliveryMode = 1"
            )),
            _ if other == 1 => Some(format!("Root.MQMD.ReplyToQ IN ('Q{one}', 'Q2')")),
            _ if other == 2 => Some(format!(
                "Root.MQMD.ReplyToQ LIKE 'Q%{one}' OR JMSPriority = {one}"
            )),
            _ if one == 1 => Some("JMSDeliveryMode LIKE 'NON%'".to_owned()),
            _ => Some(format!("JMSPriority = '{one}'")),
        };
        let selection = Selection {
            seq_number: (number % 5 == 0).then_some(number % 2),
            selector: text.map(|text| Arc::new(Selector::new(&text).unwrap())),
            ..Selection::default()
        };
        let service = Service::HandOver { direct: true };
        let waiter = Waiter::new((selection, 1), service, false, None, 1);
        assert!(waiter.enlist());
        waiter
    }

    fn message(number: i32) -> Message {
        let md = Md {
            priority: number % 4,
            msg_seq_number: number % 2,
            reply_to_q: Name::new(&format!("Q{}", number / 4 % 3)),
            ..Md::default()
        };
        Message {
            md,
            data: Default::default(),
            origin: Default::default(),
            seq: 1,
            expires: 0,
            lsn: Lsn(0),
        }
    }

    /// A selector is not judged of messages that have not got what it needs.
    #[test]
    fn few_of_many_are_candidates() {
        for text in [
            "JMSExpiration >= {n} AND JMSExpiration < {m}",
            "JMSExpiration BETWEEN {n} AND {m} AND JMSDeliveryMode = 1",
            "JMSDeliveryMode = 1 AND {m} > JMSExpiration AND {n} < JMSExpiration",
            "Root.MQMD.ReplyToQ IN ('none') OR JMSExpiration = {n}",
            "JMSExpiration = {n} OR JMSExpiration = {m}",
            "JMSDeliveryMode = 1 AND (JMSExpiration = {n} OR JMSExpiration = -{m})",
            "Root.MQMD.ReplyToQ IN ('Q{n}', 'P{n}')",
            "Root.MQMD.ReplyToQ LIKE 'Q{n}/%'",
            "JMSExpiration = -{n} OR Root.MQMD.ReplyToQ LIKE 'Q{n}/%'",
        ] {
            let mut selecting = Selecting::default();
            for n in 0..1_000 {
                let text = text.replace("{n}", &n.to_string());
                let text = text.replace("{m}", &(n + 1).to_string());
                selecting.new_group(&Arc::new(Selector::new(&text).unwrap()), n);
            }
            let mut message = message(1);
            message.expires = 500_000;
            message.md.reply_to_q = Name::new(if text.contains("LIKE") {
                "Q500/"
            } else {
                "Q500"
            });
            let candidates = selecting.candidates(&Considered::new(&message, 0));
            let found = candidates.len();
            assert!((1..10).contains(&found), "{text}: {found} of 1,000");
        }
    }

    /// Against a plain list: the same are served, in the same order.
    #[test]
    fn who_came_first_and_wants_a_message_is_served() {
        let (mut line, mut list) = (Line::default(), Vec::new());
        let (mut random, mut come, mut gone) = (1u32, 0, 0);
        for _ in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let draw = (random >> 8) as i32;
            let message = message(draw / 8);
            let considered = Considered::new(&message, 0);
            let wants = |w: &Arc<Waiter>| w.is_listed() && w.selection.accepts(&considered);
            match draw % 8 {
                0..4 => {
                    come += 1;
                    let waiter = waiter(draw / 8);
                    line.push(come, Arc::clone(&waiter));
                    list.push(waiter);
                }
                4..6 => {
                    let chosen = line.choose(&considered, || gone += 1);
                    let at = list.iter().position(wants);
                    let expected = at.map(|at| list.remove(at));
                    assert_eq!(
                        chosen.map(|w| Arc::as_ptr(&w)),
                        expected.map(|w| Arc::as_ptr(&w))
                    );
                }
                6 if draw % 64 == 6 => {
                    let (mut taken, all) = (Vec::new(), list.len());
                    line.tell(&considered, |w| taken.push(std::ptr::from_ref(w)));
                    let mut expected = Vec::new();
                    list.retain(|w| {
                        expected.extend(wants(w).then_some(Arc::as_ptr(w)));
                        !wants(w)
                    });
                    taken.retain(|taken| expected.contains(taken));
                    taken.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(taken, expected, "of {all}");
                }
                _ if !list.is_empty() => {
                    let left = list.remove(draw as usize / 8 % list.len());
                    left.end(Reason::NONE, &mut Wakes::default());
                }
                _ => {}
            }
        }
        assert!(come > 9_000 && gone > 100, "{come} {gone}");
        line.retain(|waiter| waiter.is_listed());
        assert_eq!(line.iter().count(), list.len());
        line.retain(|_| false);
        assert!(line.is_empty());
    }
}
