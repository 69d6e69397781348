//! LIKE: `_` is any character, `%` any number of them; an escape character takes that meaning from what follows it.
//!
//! Invariant: matching takes at most the product of both lengths, and no stack: only the last `%` is come back to.

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Character(char),
    Any,
    Many,
}

/// A pattern, compiled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern(Box<[Step]>);

impl Pattern {
    /// None: the text ends with an escape character that escapes nothing.
    pub(crate) fn new(text: &str, escape: Option<char>) -> Option<Pattern> {
        let mut steps = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            steps.push(match character {
                _ if Some(character) == escape => Step::Character(characters.next()?),
                '_' => Step::Any,
                // Several of them mean what one means.
                '%' if steps.last() == Some(&Step::Many) => continue,
                '%' => Step::Many,
                _ => Step::Character(character),
            });
        }
        Some(Pattern(steps.into()))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let steps = &self.0;
        let mut rest = text.chars();
        let mut at = 0;
        // Behind the last `%`, and what it has not swallowed yet.
        let mut retry = None;
        loop {
            if steps.get(at) == Some(&Step::Many) {
                at += 1;
                if at == steps.len() {
                    return true;
                }
                retry = Some((at, rest.clone()));
                continue;
            }
            let fits = match (rest.next(), steps.get(at)) {
                (None, step) => return step.is_none(),
                (Some(_), Some(Step::Any)) => true,
                (Some(character), Some(Step::Character(wanted))) => character == *wanted,
                (Some(_), _) => false,
            };
            if fits {
                at += 1;
                continue;
            }
            let Some((behind, swallowed)) = &mut retry else {
                return false;
            };
            if swallowed.next().is_none() {
                return false;
            }
            (at, rest) = (*behind, swallowed.clone());
        }
    }
}
