//! All who wait for messages of one queue, found by the tags of the identifiers they ask for, whatever their number.
//!
//! Invariants:
//! * An entry is live while its waiter is listed (`waiter`). Entries leave lazily: one whose waiter was ended or went
//!   away is skipped when it is met and swept when more than half of the entries are such.
//! * A message is shown to those only who may want it: by the tags of its identifiers, and then by the whole selection
//!   (`line`). Whoever wants another one is not woken.
//! * Who is held back, because gets are inhibited, is in no line: no message is shown to him.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use posthaste_mqi::Reason;

use super::considered::Considered;
use super::line::Line;
use super::selection::Key;
use super::waiter::{Service, Waiter, Wakes};
use crate::catalogue::alias::Alias;
use crate::message::Message;
use crate::queue::index::tag_of;

/// Tags are hashes; they need only be spread over the word.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }
    fn write_u32(&mut self, tag: u32) {
        self.0 = (self.0 ^ u64::from(tag)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

type Table = HashMap<u32, Line, BuildHasherDefault<Spread>>;

/// Waiters of one kind.
#[derive(Default)]
struct Lines {
    any: Line,
    by_msg: Table,
    by_correl: Table,
    by_group: Table,
}

/// The tags of a message's identifiers: MsgId, CorrelId, GroupId.
#[derive(Clone, Copy)]
pub(crate) struct Tags(pub(crate) [u32; 3]);

impl Tags {
    pub(crate) fn of(message: &Message, seed: u64) -> Self {
        let md = &message.md;
        Tags([&md.msg_id, &md.correl_id, &md.group_id].map(|id| tag_of(id, seed)))
    }
}

impl Lines {
    fn tables(&mut self) -> [&mut Table; 3] {
        [&mut self.by_msg, &mut self.by_correl, &mut self.by_group]
    }

    fn is_empty(&self) -> bool {
        let tables = [&self.by_msg, &self.by_correl, &self.by_group];
        self.any.is_empty() && tables.iter().all(|table| table.is_empty())
    }

    fn add(&mut self, number: u64, waiter: Arc<Waiter>) {
        let line = match waiter.key {
            Key::Any => &mut self.any,
            Key::Msg(tag) => self.by_msg.entry(tag).or_default(),
            Key::Correl(tag) => self.by_correl.entry(tag).or_default(),
            Key::Group(tag) => self.by_group.entry(tag).or_default(),
        };
        line.push(number, waiter);
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Waiter>> {
        let tables = [&self.by_msg, &self.by_correl, &self.by_group];
        let keyed = tables.into_iter().flat_map(Table::values);
        keyed.chain([&self.any]).flat_map(Line::iter)
    }

    /// Calls `each` with every line where somebody may wait for a message with these tags, the narrowest first, until
    /// it gives something.
    fn find<T>(&mut self, tags: Tags, mut each: impl FnMut(&mut Line) -> Option<T>) -> Option<T> {
        for (table, tag) in self.tables().into_iter().zip(tags.0) {
            if table.is_empty() {
                continue;
            }
            let Some(line) = table.get_mut(&tag) else {
                continue;
            };
            let found = each(line);
            if line.is_empty() {
                table.remove(&tag);
            }
            if found.is_some() {
                return found;
            }
        }
        each(&mut self.any)
    }

    fn sweep(&mut self) -> usize {
        self.any.retain(|w| w.is_listed());
        for table in self.tables() {
            table.retain(|_, line| {
                line.retain(|w| w.is_listed());
                !line.is_empty()
            });
        }
        self.iter().count()
    }
}

/// Takes all out who may be waiting for a message with these tags, and has them look.
fn have_look(
    lines: &mut Lines,
    (entries, dead): (&mut usize, &mut usize),
    tags: Tags,
    wakes: &mut Wakes,
) {
    if *entries == 0 {
        return;
    }
    let asked: Option<()> = lines.find(tags, |line| {
        for waiter in std::mem::take(line).iter() {
            *entries -= 1;
            if !waiter.retry(wakes) {
                *dead = dead.saturating_sub(1);
            }
        }
        None
    });
    debug_assert!(asked.is_none(), "all of them look");
}

/// All waiters of a queue.
pub(crate) struct Waiters {
    /// Seed of the tags.
    seed: u64,
    /// Those that are handed messages.
    takers: Lines,
    /// Those that only want to be told.
    watchers: Lines,
    /// Those that wait until gets are allowed.
    held_back: Vec<Arc<Waiter>>,
    /// How many have come.
    come: u64,
    entries: usize,
    dead: usize,
}

impl Waiters {
    pub(crate) fn new(seed: u64) -> Self {
        Waiters {
            seed,
            takers: Lines::default(),
            watchers: Lines::default(),
            held_back: Vec::new(),
            come: 0,
            entries: 0,
            dead: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Lists a waiter that has credit, unless it is listed or its wait is over.
    pub(crate) fn list(&mut self, waiter: &Arc<Waiter>) {
        if waiter.enlist() {
            self.keep(Arc::clone(waiter));
        }
    }

    /// A listed waiter goes to the end of its line.
    pub(crate) fn keep(&mut self, waiter: Arc<Waiter>) {
        self.entries += 1;
        self.come += 1;
        match waiter.service {
            Service::Notify => self.watchers.add(self.come, waiter),
            Service::HandOver { .. } => self.takers.add(self.come, waiter),
        }
    }

    /// Notes that a waiter that was listed is so no more, and its entry still there.
    pub(super) fn abandoned(&mut self) {
        self.dead += 1;
        if self.dead > 32 && self.dead * 2 > self.entries {
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        self.entries = self.takers.sweep() + self.watchers.sweep();
        self.held_back.retain(|waiter| waiter.is_listed());
        self.dead = 0;
    }

    /// Takes a waiter out of its line to hand this message to, if there is one.
    pub(crate) fn choose(&mut self, message: &Considered<'_>) -> Option<Arc<Waiter>> {
        if self.takers.is_empty() {
            return None;
        }
        let (entries, dead) = (&mut self.entries, &mut self.dead);
        self.takers
            .find(Tags::of(message.message, self.seed), |line| {
                let chosen = line.choose(message, || {
                    *entries -= 1;
                    *dead = dead.saturating_sub(1);
                });
                *entries -= usize::from(chosen.is_some());
                chosen
            })
    }

    /// Tells those who want to be told of this message.
    pub(crate) fn notify(&mut self, message: &Considered<'_>, wakes: &mut Wakes) {
        if self.watchers.is_empty() {
            return;
        }
        let (entries, dead) = (&mut self.entries, &mut self.dead);
        let tags = Tags::of(message.message, self.seed);
        let stopped: Option<()> = self.watchers.find(tags, |line| {
            line.tell(message, |waiter| {
                *entries -= 1;
                if !waiter.retry(wakes) {
                    *dead = dead.saturating_sub(1);
                }
            });
            None
        });
        debug_assert!(stopped.is_none(), "all of them are told");
    }

    /// Has everybody look who may be waiting for a message with these tags.
    pub(crate) fn look_again(&mut self, tags: Tags, wakes: &mut Wakes) {
        let counts = (&mut self.entries, &mut self.dead);
        have_look(&mut self.takers, counts, tags, wakes);
        self.watchers_look_again(tags, wakes);
    }

    /// Of those only who want to be told: for the others nothing has changed.
    pub(crate) fn watchers_look_again(&mut self, tags: Tags, wakes: &mut Wakes) {
        let counts = (&mut self.entries, &mut self.dead);
        have_look(&mut self.watchers, counts, tags, wakes);
    }

    /// Ends the waits of those who asked to be told that the queue manager quiesces.
    pub(crate) fn quiesce(&mut self, wakes: &mut Wakes) {
        self.end_some(|w| w.fail_if_quiescing, Reason::Q_MGR_QUIESCING, wakes);
    }

    fn end_some(&mut self, wanted: impl Fn(&Waiter) -> bool, reason: Reason, wakes: &mut Wakes) {
        let lines = self.takers.iter().chain(self.watchers.iter());
        for waiter in lines.chain(&self.held_back) {
            if wanted(waiter) && waiter.end(reason, wakes) {
                self.dead += 1;
            }
        }
    }

    /// Gets by an alias are inhibited: ends the waits of those who came by it, but for the lasting ones, which look.
    pub(crate) fn inhibit_alias(&mut self, alias: &Arc<Alias>, wakes: &mut Wakes) {
        for waiter in self.takers.iter().chain(self.watchers.iter()) {
            if waiter.came_by(alias) {
                waiter.inhibit(wakes);
            }
        }
        // An entry would live again with its waiter, which is held back.
        self.sweep();
    }

    /// Ends the waits of those who came by an alias.
    pub(crate) fn end_by_alias(&mut self, alias: &Arc<Alias>, reason: Reason, wakes: &mut Wakes) {
        self.end_some(|waiter| waiter.came_by(alias), reason, wakes);
    }

    /// Gets are inhibited: ends every wait but the lasting ones, which look.
    pub(crate) fn inhibit(&mut self, wakes: &mut Wakes) {
        for lines in [&mut self.takers, &mut self.watchers] {
            for waiter in std::mem::take(lines).iter() {
                waiter.inhibit(wakes);
            }
        }
        self.entries = 0;
        self.dead = 0;
    }

    /// Holds back a waiter that has found gets inhibited, unless it has no credit or its wait is over.
    pub(crate) fn hold_back(&mut self, waiter: &Arc<Waiter>) {
        if waiter.enlist() {
            self.held_back.push(Arc::clone(waiter));
        }
    }

    /// Gets are allowed, for some at least: who was held back looks.
    pub(crate) fn allow(&mut self, wakes: &mut Wakes) {
        for waiter in std::mem::take(&mut self.held_back) {
            waiter.retry(wakes);
        }
    }

    /// Ends every wait.
    pub(crate) fn end_all(&mut self, reason: Reason, wakes: &mut Wakes) {
        for lines in [&mut self.takers, &mut self.watchers] {
            for waiter in std::mem::take(lines).iter() {
                waiter.end(reason, wakes);
            }
        }
        for waiter in std::mem::take(&mut self.held_back) {
            waiter.end(reason, wakes);
        }
        self.entries = 0;
        self.dead = 0;
    }
}
