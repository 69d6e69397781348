//! Entries by a text, found with whatever begins with it: a tree whose branches part at the first byte that differs.
//!
//! Invariants:
//! * Every node but the root has entries, or at least two nodes below it, so that a search comes by no more nodes than there
//!   are texts that the searched one begins with and ways that part from it.
//! * A node's number stays while it has entries: a [`Place`] is good until its entry is removed or moved.

/// A node, by its place in [`Prefixes::nodes`].
type NodeIndex = usize;

const ROOT: NodeIndex = 0;

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct Prefixes<T> {
    nodes: Vec<Node<T>>,
    /// Nodes that are used no more, to be used again.
    free: Vec<NodeIndex>,
}

#[derive(Debug)]
struct Node<T> {
    above: NodeIndex,
    /// What follows the text of the node above; empty for the root only.
    text: Box<[u8]>,
    /// By the first byte of their texts, in order.
    below: Vec<(u8, NodeIndex)>,
    entries: Vec<T>,
}

/// Where an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    node: NodeIndex,
    /// Among the node's entries.
    at: usize,
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        Self {
            above: ROOT,
            text: Box::default(),
            below: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<T> Default for Prefixes<T> {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            free: Vec::new(),
        }
    }
}

impl<T> Node<T> {
    fn to(&self, first: u8) -> Result<usize, usize> {
        self.below.binary_search_by_key(&first, |(byte, _)| *byte)
    }
}

impl<T> Prefixes<T> {
    /// Adds an entry, behind others of the same text.
    pub(crate) fn insert(&mut self, text: &str, entry: T) -> Place {
        let node = self.node(text.as_bytes());
        let entries = &mut self.nodes[node].entries;
        entries.push(entry);
        Place {
            node,
            at: entries.len() - 1,
        }
    }

    /// The node of a text, made if it is not there.
    fn node(&mut self, text: &[u8]) -> NodeIndex {
        let (mut node, mut rest) = (ROOT, text);
        while let Some(first) = rest.first() {
            match self.nodes[node].to(*first) {
                Ok(at) => {
                    let below = self.nodes[node].below[at].1;
                    let pairs = self.nodes[below].text.iter().zip(rest);
                    let common = pairs.take_while(|(one, other)| one == other).count();
                    node = match common == self.nodes[below].text.len() {
                        true => below,
                        false => self.part(below, common),
                    };
                    rest = &rest[common..];
                }
                Err(at) => {
                    let new = self.add(Node {
                        above: node,
                        text: rest.into(),
                        ..Node::default()
                    });
                    self.nodes[node].below.insert(at, (*first, new));
                    return new;
                }
            }
        }
        node
    }

    fn add(&mut self, node: Node<T>) -> NodeIndex {
        match self.free.pop() {
            Some(index) => {
                self.nodes[index] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    /// Puts a node above this one that has the first bytes of its text.
    fn part(&mut self, node: NodeIndex, bytes: usize) -> NodeIndex {
        let text = std::mem::take(&mut self.nodes[node].text);
        let (beginning, rest) = text.split_at(bytes);
        let above = self.nodes[node].above;
        let new = self.add(Node {
            above,
            text: beginning.into(),
            below: vec![(rest[0], node)],
            entries: Vec::new(),
        });
        self.nodes[node].text = rest.into();
        self.nodes[node].above = new;
        self.lead(above, beginning[0], new);
        new
    }

    /// Has a branch lead to another node.
    fn lead(&mut self, above: NodeIndex, first: u8, node: NodeIndex) {
        if let Ok(at) = self.nodes[above].to(first) {
            self.nodes[above].below[at].1 = node;
        }
    }

    /// The entry at a place.
    pub(crate) fn get(&self, place: Place) -> &T {
        &self.nodes[place.node].entries[place.at]
    }

    /// Takes the entry at a place away; and the one that has this place now.
    pub(crate) fn remove(&mut self, place: Place) -> (T, Option<&T>) {
        let removed = self.nodes[place.node].entries.swap_remove(place.at);
        self.tidy_up(place.node);
        (removed, self.nodes[place.node].entries.get(place.at))
    }

    /// Takes a node away if it is none that has to be there, and then those above it.
    fn tidy_up(&mut self, mut node: NodeIndex) {
        while node != ROOT && self.nodes[node].entries.is_empty() {
            let above = self.nodes[node].above;
            match self.nodes[node].below[..] {
                [] => {
                    if let Ok(at) = self.nodes[above].to(self.nodes[node].text[0]) {
                        self.nodes[above].below.remove(at);
                    }
                }
                [(_, only)] => {
                    let text = [&*self.nodes[node].text, &*self.nodes[only].text].concat();
                    self.lead(above, text[0], only);
                    self.nodes[only].text = text.into();
                    self.nodes[only].above = above;
                }
                _ => return,
            }
            self.nodes[node] = Node::default();
            self.free.push(node);
            node = above;
        }
    }

    /// Visits the entries of all texts that this one begins with.
    pub(crate) fn beginning(&self, text: &str, mut visit: impl FnMut(&T)) {
        let (mut node, mut rest) = (&self.nodes[ROOT], text.as_bytes());
        loop {
            node.entries.iter().for_each(&mut visit);
            let Some(Ok(at)) = rest.first().map(|first| node.to(*first)) else {
                return;
            };
            node = &self.nodes[node.below[at].1];
            match rest.strip_prefix(&*node.text) {
                Some(behind) => rest = behind,
                None => return,
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.len() - self.free.len() == 1 && self.nodes[ROOT].entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a plain list.
    #[test]
    fn entries_are_found_by_what_a_text_begins_with() {
        const TEXTS: [&str; 12] = [
            "", "a", "ab", "abc", "abd", "b", "ba", "aé", "aè", "aéa", "abcdefgh", "abcdxfgh",
        ];
        let (mut tree, mut list) = (Prefixes::default(), Vec::new());
        let mut places = std::collections::HashMap::new();
        let (mut random, mut found) = (1u32, 0);
        for number in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let draw = (random >> 8) as usize;
            let text = TEXTS[draw / 4 % TEXTS.len()];
            if draw.is_multiple_of(4) && list.len() < 30 {
                places.insert(number, tree.insert(text, number));
                list.push((text, number));
            } else if draw % 4 == 1 && !list.is_empty() {
                let (_, number) = list.swap_remove(draw / 4 % list.len());
                let place = places[&number];
                let (removed, moved) = tree.remove(place);
                assert_eq!(removed, number);
                if let Some(moved) = moved {
                    places.insert(*moved, place);
                }
            } else {
                let mut visited = Vec::new();
                tree.beginning(text, |number| visited.push(*number));
                let begins = |(of, _): &&(&str, i32)| text.starts_with(of);
                let mut expected: Vec<i32> = list.iter().filter(begins).map(|(_, n)| *n).collect();
                found += visited.len();
                visited.sort_unstable();
                expected.sort_unstable();
                assert_eq!(visited, expected, "{text}");
                assert!(list.iter().all(|(_, n)| tree.get(places[n]) == n));
            }
        }
        assert!(found > 10_000, "{found}");
        for number in list.iter().rev().map(|(_, number)| *number) {
            let place = places[&number];
            if let (_, Some(moved)) = tree.remove(place) {
                places.insert(*moved, place);
            }
        }
        assert!(tree.is_empty());
    }

    #[test]
    fn no_node_is_there_without_need() {
        let mut tree = Prefixes::default();
        let long = tree.insert("shop/uk/1/order", 1);
        let other = tree.insert("shop/uk/2/order", 2);
        let nodes = |tree: &Prefixes<i32>| tree.nodes.len() - tree.free.len() - 1;
        assert_eq!(nodes(&tree), 3);
        assert_eq!(tree.remove(long).0, 1);
        assert_eq!((nodes(&tree), tree.get(other)), (1, &2));
        let short = tree.insert("shop", 3);
        assert_eq!(
            (nodes(&tree), tree.remove(short).0, nodes(&tree)),
            (2, 3, 1)
        );
    }
}
