//! What is defined for topics of the tree: the administrative nodes, as topic objects make them.
//!
//! Invariant: a topic has what the closest node says of it, itself or above it, up to the root (the empty string).

use std::collections::BTreeMap;

/// Values of nodes of the tree, found from the topics below them.
#[derive(Clone, Debug)]
pub struct TopicTree<T> {
    nodes: BTreeMap<Box<str>, T>,
}

impl<T> Default for TopicTree<T> {
    fn default() -> Self {
        Self {
            nodes: BTreeMap::new(),
        }
    }
}

impl<T> TopicTree<T> {
    /// Gives a topic a value; its former one.
    pub fn set(&mut self, topic: &str, value: T) -> Option<T> {
        self.nodes.insert(topic.into(), value)
    }

    /// Takes a topic's value away.
    pub fn remove(&mut self, topic: &str) -> Option<T> {
        self.nodes.remove(topic)
    }

    /// The value of exactly this topic.
    #[must_use]
    pub fn get(&self, topic: &str) -> Option<&T> {
        self.nodes.get(topic)
    }

    /// The values that concern a topic, with the topics that they are of: the closest first, the root's last.
    pub fn closest<'a>(&'a self, topic: &'a str) -> impl Iterator<Item = (&'a str, &'a T)> {
        let mut next = Some(topic);
        let steps = std::iter::from_fn(move || {
            let here = next?;
            next = match here.rfind('/') {
                Some(at) => Some(&here[..at]),
                None => (!here.is_empty()).then_some(""),
            };
            Some(here)
        });
        steps.filter_map(|step| Some((step, self.nodes.get(step)?)))
    }

    /// All values with their topics, in the order of the topics' bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.nodes.iter().map(|(topic, value)| (&**topic, value))
    }

    /// How many topics have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no topic has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(tree: &TopicTree<u8>, topic: &str) -> Vec<(String, u8)> {
        let steps = tree.closest(topic);
        steps.map(|(at, value)| (at.to_owned(), *value)).collect()
    }

    #[test]
    fn the_walk_goes_from_the_closest_node_to_the_root() {
        let mut tree = TopicTree::default();
        assert_eq!(walk(&tree, "USA/Alaska"), []);
        for (topic, value) in [("", 0), ("USA", 1), ("USA/Alaska/Juneau", 3), ("/USA", 4)] {
            assert_eq!(tree.set(topic, value), None);
        }
        let at = |topic: &str, value| (topic.to_owned(), value);
        let deep = [at("USA/Alaska/Juneau", 3), at("USA", 1), at("", 0)];
        assert_eq!(walk(&tree, "USA/Alaska/Juneau/x"), deep);
        assert_eq!(walk(&tree, "USA/Alaska"), [at("USA", 1), at("", 0)]);
        assert_eq!(walk(&tree, "USAA"), [at("", 0)]);
        assert_eq!(walk(&tree, "/USA/x"), [at("/USA", 4), at("", 0)]);
        assert_eq!(walk(&tree, "/x"), [at("", 0)]);
        assert_eq!(walk(&tree, ""), [at("", 0)]);
        assert_eq!(tree.set("USA", 9), Some(1));
        assert_eq!(tree.remove("USA"), Some(9));
        assert_eq!((tree.get("USA"), tree.get("/USA")), (None, Some(&4)));
        assert_eq!(walk(&tree, "USA/Alaska"), [at("", 0)]);
        let all: Vec<&str> = tree.iter().map(|(topic, _)| topic).collect();
        assert_eq!(all, ["", "/USA", "USA/Alaska/Juneau"]);
        assert!(tree.len() == 3 && !tree.is_empty());
    }
}
