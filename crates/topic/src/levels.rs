//! Filters of whole levels in a tree of their levels, which a topic string walks down along all branches that match it.
//!
//! Invariants:
//! * Every node but the root has entries or nodes below it.
//! * A walk is at each node at most once for each level of the topic string, so that it takes the length of the topic
//!   string multiplied by the nodes that match its beginnings, and never more for several `#`. Of one filter, these are those
//!   before its first `#`, one at each level, and those behind it, all of them at each level: which is why a new subscription
//!   has only so many there ([`crate::MOST_BEHIND_MANY`]).
//! * No answer depends on the order in which a map has its keys.

use std::collections::{HashMap, HashSet};

use crate::steps::step;
use crate::string::{SYSTEM_BRANCH, is_at_or_below};

/// A node, by its place in [`Levels::nodes`].
type NodeIndex = usize;

const ROOT: NodeIndex = 0;

/// Values by filters of whole levels.
#[derive(Debug)]
pub(crate) struct Levels<T> {
    nodes: Vec<Node<T>>,
    /// Nodes that are part of no filter any more, to be used again.
    free: Vec<NodeIndex>,
}

#[derive(Debug)]
struct Node<T> {
    above: NodeIndex,
    step: Step,
    /// Whether a `#` is above it: only then can two ways lead to it.
    below_many: bool,
    literal: HashMap<Box<str>, NodeIndex>,
    one: Option<NodeIndex>,
    many: Option<NodeIndex>,
    /// Those whose filter ends here, each with the slot that knows its place.
    entries: Vec<(usize, T)>,
}

/// What leads from the node above to a node.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Literal(Box<str>),
    One,
    Many,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    node: NodeIndex,
    /// Among the node's entries.
    pub(crate) at: usize,
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Self {
            nodes: vec![Node::new(ROOT, Step::Many, false)],
            free: Vec::new(),
        }
    }
}

impl<T> Node<T> {
    fn new(above: NodeIndex, step: Step, below_many: bool) -> Self {
        Self {
            above,
            step,
            below_many,
            literal: HashMap::default(),
            one: None,
            many: None,
            entries: Vec::new(),
        }
    }

    fn is_unused(&self) -> bool {
        self.entries.is_empty()
            && self.literal.is_empty()
            && self.one.is_none()
            && self.many.is_none()
    }
}

impl<T> Levels<T> {
    /// Adds a value whose filter is one topic string.
    pub(crate) fn insert_exact(&mut self, topic: &str, slot: usize, value: T) -> Place {
        let node = topic.split('/').fold(ROOT, |node, level| {
            self.descend(node, Step::Literal(level.into()))
        });
        self.push(node, slot, value)
    }

    /// Adds a value whose filter has wildcards of the topic scheme.
    pub(crate) fn insert(&mut self, filter: &str, slot: usize, value: T) -> Place {
        let mut node = ROOT;
        let mut after_many = false;
        for level in filter.split('/') {
            let step = match level {
                // `#/#` says no more than `#`.
                "#" if after_many => continue,
                "#" => Step::Many,
                "+" => Step::One,
                level => Step::Literal(level.into()),
            };
            after_many = step == Step::Many;
            node = self.descend(node, step);
        }
        self.push(node, slot, value)
    }

    fn push(&mut self, node: NodeIndex, slot: usize, value: T) -> Place {
        let entries = &mut self.nodes[node].entries;
        entries.push((slot, value));
        Place {
            node,
            at: entries.len() - 1,
        }
    }

    /// The node below a node, made if it is not there.
    fn descend(&mut self, above: NodeIndex, step: Step) -> NodeIndex {
        let node = &self.nodes[above];
        let there = match &step {
            Step::Literal(level) => node.literal.get(level).copied(),
            Step::One => node.one,
            Step::Many => node.many,
        };
        if let Some(there) = there {
            return there;
        }
        let below_many = node.below_many || (above != ROOT && node.step == Step::Many);
        let new = Node::new(above, step.clone(), below_many);
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index] = new;
                index
            }
            None => {
                self.nodes.push(new);
                self.nodes.len() - 1
            }
        };
        let node = &mut self.nodes[above];
        match step {
            Step::Literal(level) => {
                node.literal.insert(level, index);
            }
            Step::One => node.one = Some(index),
            Step::Many => node.many = Some(index),
        }
        index
    }

    /// The value at a place.
    pub(crate) fn get(&self, place: Place) -> &T {
        &self.nodes[place.node].entries[place.at].1
    }

    /// Takes the value at a place away; and the slot of the one that has this place now.
    pub(crate) fn remove(&mut self, place: Place) -> (T, Option<usize>) {
        let entries = &mut self.nodes[place.node].entries;
        let (_, value) = entries.swap_remove(place.at);
        let moved = entries.get(place.at).map(|(slot, _)| *slot);
        let mut node = place.node;
        while node != ROOT && self.nodes[node].is_unused() {
            node = self.detach(node);
        }
        (value, moved)
    }

    /// Takes an unused node away; the one above it.
    fn detach(&mut self, index: NodeIndex) -> NodeIndex {
        let unused = std::mem::replace(&mut self.nodes[index], Node::new(ROOT, Step::Many, false));
        self.free.push(index);
        let node = &mut self.nodes[unused.above];
        match unused.step {
            Step::Literal(level) => {
                node.literal.remove(&level);
            }
            Step::One => node.one = None,
            Step::Many => node.many = None,
        }
        unused.above
    }

    /// Visits the values of all filters that match, each once.
    pub(crate) fn matching(&self, topic: &str, mut visit: impl FnMut(&T)) {
        let mut walk = Walk {
            levels: self,
            here: Vec::new(),
            next: Vec::new(),
            many: Vec::new(),
            known: HashSet::default(),
        };
        // How many levels only a filter's literal ones match.
        let isolated = match is_at_or_below(topic, SYSTEM_BRANCH) {
            true => SYSTEM_BRANCH.split('/').count(),
            false => 0,
        };
        walk.begin(isolated == 0);
        for (depth, level) in topic.split('/').enumerate() {
            walk.step(level, depth >= isolated, depth + 1 >= isolated);
            if walk.here.is_empty() && walk.many.is_empty() {
                return;
            }
        }
        for node in walk.here.iter().chain(&walk.many) {
            for (_, value) in &self.nodes[*node].entries {
                visit(value);
            }
        }
    }

    /// How many nodes there are, without the root.
    #[cfg(test)]
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len() - self.free.len() - 1
    }
}

/// The nodes that match the levels that were walked.
struct Walk<'a, T> {
    levels: &'a Levels<T>,
    /// Those that the last level led to, each once.
    here: Vec<NodeIndex>,
    /// Those that the level leads to that is being taken.
    next: Vec<NodeIndex>,
    /// Those of a `#`, each once: it takes every further level too.
    many: Vec<NodeIndex>,
    /// Those of `many` to which other ways may lead.
    known: HashSet<NodeIndex>,
}

impl<T> Walk<'_, T> {
    fn begin(&mut self, wildcards: bool) {
        self.here.push(ROOT);
        if wildcards {
            self.take_no_level();
        }
    }

    /// Takes one level: `wildcards` may stand for it, and `behind` it may be a `#`.
    fn step(&mut self, level: &str, wildcards: bool, behind: bool) {
        self.next.clear();
        for node in self.here.iter().chain(&self.many) {
            step();
            let node = &self.levels.nodes[*node];
            self.next.extend(node.literal.get(level));
            self.next.extend(node.one.filter(|_| wildcards));
        }
        std::mem::swap(&mut self.here, &mut self.next);
        if behind {
            self.take_no_level();
        }
    }

    /// Reaches what a `#` that stands for no level leads to.
    fn take_no_level(&mut self) {
        for node in &self.here {
            let node = &self.levels.nodes[*node];
            if let Some(many) = node.many
                && (!self.levels.nodes[many].below_many || self.known.insert(many))
            {
                self.many.push(many);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_no_wildcard_is_not_taken_for_one() {
        let mut levels = Levels::default();
        levels.insert_exact("a/#", 0, "exact");
        levels.insert("a/#/#", 1, "wild");
        let matching = |topic: &str| {
            let mut found = Vec::new();
            levels.matching(topic, |value| found.push(*value));
            found
        };
        assert_eq!(matching("a/#"), ["exact", "wild"]);
        assert_eq!(matching("a"), ["wild"]);
    }

    #[test]
    fn nodes_go_with_their_last_filter() {
        let mut levels = Levels::default();
        let deep = levels.insert("a/+/#/b", 0, 0);
        let shallow = levels.insert("a/+", 1, 1);
        assert_eq!(levels.nodes(), 4);
        assert_eq!(levels.remove(deep), (0, None));
        assert_eq!(levels.nodes(), 2);
        let again = levels.insert_exact("a/b", 2, 2);
        assert_eq!((levels.nodes(), levels.nodes.len()), (3, 5));
        assert_eq!(levels.remove(shallow), (1, None));
        assert_eq!(levels.remove(again), (2, None));
        assert_eq!(levels.nodes(), 0);
    }

    #[test]
    fn the_last_entry_takes_the_place_of_one_that_goes() {
        let mut levels = Levels::default();
        let places: Vec<Place> = (0..3).map(|n| levels.insert("a/+", n, n)).collect();
        assert_eq!(levels.remove(places[0]), (0, Some(2)));
        assert_eq!(levels.get(places[0]), &2);
        assert_eq!(levels.remove(places[1]), (1, None));
    }
}
