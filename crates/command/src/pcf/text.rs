//! Text of a command in MQSC that is made of a request, and which of its parameters each part of it is of.
//!
//! Invariant: what the parser finds wrong in a part is wrong in that parameter, which the response names.

/// See the head of this file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandText {
    text: String,
    /// Where each part ends, and its parameter; in order.
    parts: Vec<(usize, i32)>,
}

impl CommandText {
    /// The verb, the noun and what is named, by a parameter.
    pub(super) fn new(beginning: String, name: i32) -> CommandText {
        CommandText {
            parts: vec![(beginning.len(), name)],
            text: beginning,
        }
    }

    /// Adds what a parameter says.
    pub(super) fn push(&mut self, part: &str, parameter: i32) {
        self.text.push_str(part);
        self.parts.push((self.text.len(), parameter));
    }

    /// Adds what no parameter says.
    pub(super) fn push_word(&mut self, word: &str) {
        self.text.push_str(word);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The parameter of the part in which a byte is.
    pub(super) fn parameter_at(&self, column: usize) -> Option<i32> {
        let at = self.parts.partition_point(|(end, _)| *end <= column);
        self.parts.get(at).map(|(_, parameter)| *parameter)
    }
}
