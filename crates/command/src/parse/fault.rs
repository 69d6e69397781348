//! The ways in which a text can fail to be a command, each with its message.

use crate::command::{DisplayWhat, NOT_HERE, SyntaxError};
use crate::messages;
use crate::statuses::noun;
use crate::value::printable;

/// AMQ8405I: shows the command up to `end`, where the fault is.
pub(super) fn syntax(text: &str, start: usize, end: usize, detail: String) -> SyntaxError {
    let id = "AMQ8405I";
    let headline = messages::format(id, &[]);
    SyntaxError {
        id,
        text: format!("{headline}\n{}", printable(segment(text, end))),
        column: start,
        detail: sentence(detail),
    }
}

/// AMQ8406E: the command ends too early.
pub(super) fn ended(text: &str, detail: String) -> SyntaxError {
    plain("AMQ8406E", text.len(), detail)
}

/// AMQ8424E: a name is not one.
pub(super) fn name(start: usize, detail: String) -> SyntaxError {
    plain("AMQ8424E", start, detail)
}

/// AMQ8569E: WHERE is not a filter.
pub(super) fn filter(start: usize, detail: String) -> SyntaxError {
    plain("AMQ8569E", start, detail)
}

/// AMQ2401E: a command of MQ that is not here yet.
pub(super) fn not_here(start: usize, command: String) -> SyntaxError {
    SyntaxError {
        id: NOT_HERE,
        text: messages::format(NOT_HERE, &[command]),
        column: start,
        detail: String::new(),
    }
}

/// One of MQ's keywords for which there is no answer here.
pub(super) fn not_answered(what: DisplayWhat, word: &str, start: usize) -> SyntaxError {
    let command = format!("DISPLAY {} {}", noun(what), word.to_ascii_uppercase());
    not_here(start, command)
}

fn plain(id: &'static str, column: usize, detail: String) -> SyntaxError {
    SyntaxError {
        id,
        text: messages::format(id, &[]),
        column,
        detail: sentence(detail),
    }
}

fn sentence(detail: String) -> String {
    let detail = printable(&detail).into_owned();
    match detail.is_empty() || detail.ends_with(['.', '?']) {
        true => detail,
        false => format!("{detail}."),
    }
}

/// The text up to `end` or the next character boundary.
fn segment(text: &str, end: usize) -> &str {
    let end = (end..=text.len()).find(|end| text.is_char_boundary(*end));
    let shown = end.and_then(|end| text.get(..end)).unwrap_or(text);
    shown.trim()
}

/// The candidate that `word` was probably meant to be, if one is near.
pub(super) fn meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_ascii_uppercase();
    if word.len() > 16 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance * 2 < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Single-character changes, swaps of neighbours included, that make one word the other.
fn distance(left: &str, right: &str) -> usize {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let width = right.len() + 1;
    let mut cells: Vec<usize> = (0..(left.len() + 1) * width)
        .map(|cell| match (cell / width, cell % width) {
            (0, column) => column,
            (row, 0) => row,
            _ => 0,
        })
        .collect();
    let at = |cells: &[usize], row: usize, column: usize| {
        cells
            .get(row * width + column)
            .copied()
            .unwrap_or(usize::MAX / 2)
    };
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            let changed = at(&cells, i, j) + usize::from(a != b);
            let removed = at(&cells, i, j + 1) + 1;
            let added = at(&cells, i + 1, j) + 1;
            let mut best = changed.min(removed).min(added);
            let swapped =
                i > 0 && j > 0 && left.get(i - 1) == Some(b) && right.get(j - 1) == Some(a);
            if swapped {
                best = best.min(at(&cells, i - 1, j - 1) + 1);
            }
            if let Some(cell) = cells.get_mut((i + 1) * width + j + 1) {
                *cell = best;
            }
        }
    }
    at(&cells, left.len(), right.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words() {
        for (word, expected) in [
            ("MAXDEPHT", Some("MAXDEPTH")),
            ("maxdept", Some("MAXDEPTH")),
            ("GTE", Some("GET")),
            ("XYZ", None),
            ("MAXDEPTHMAXDEPTHMAXDEPTH", None),
            ("", None),
        ] {
            let found = meant(word, ["MAXDEPTH", "GET", "MAXMSGL"]);
            assert_eq!(found, expected, "{word}");
        }
        assert_eq!(distance("ABC", "ACB"), 1);
        assert_eq!(distance("", "AB"), 2);
        assert_eq!(distance("KITTEN", "SITTING"), 3);
    }

    #[test]
    fn a_segment_ends_on_a_character() {
        assert_eq!(segment("aé", 2), "aé");
        assert_eq!(segment("ab", 9), "ab");
        assert_eq!(segment(" a b", 3), "a");
    }
}
