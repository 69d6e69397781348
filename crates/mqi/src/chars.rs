//! Fixed-length text fields (MQCHARn), such as object names and formats.
//!
//! Invariants: a value always has exactly `N` bytes, as it stands in a structure. A text
//! made here is padded with blanks; bytes taken from elsewhere are kept unchanged, so that
//! what was received can be sent on as it was. MQ lets programs end such a text with a NUL
//! instead: everything from the first NUL on is padding. Padding never counts when two
//! values are compared, ordered or hashed.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::ebcdic;

/// Text of `N` bytes, padded with blanks.
///
/// Two values are equal when their texts are, whatever their padding: a name that a client
/// padded with NULs is the name that is padded with blanks.
#[derive(Clone, Copy)]
pub struct Chars<const N: usize>([u8; N]);

/// Name of an object (MQCHAR48).
pub type Name = Chars<48>;

impl<const N: usize> Chars<N> {
    /// Blanks only: the "not given" value of most fields.
    pub const BLANK: Self = Self([b' '; N]);

    /// Text padded with blanks; a text longer than `N` bytes is cut, between characters.
    pub fn new(text: &str) -> Self {
        let mut end = text.len().min(N);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = [b' '; N];
        if let (Some(head), Some(text)) = (bytes.get_mut(..end), text.as_bytes().get(..end)) {
            head.copy_from_slice(text);
        }
        Self(bytes)
    }

    /// Text padded with blanks, or `None` when it is longer than `N` bytes.
    pub fn try_new(text: &str) -> Option<Self> {
        (text.len() <= N).then(|| Self::new(text))
    }

    /// Bytes as they stand in a structure.
    pub const fn from_bytes(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    /// Bytes as they stand in a structure.
    pub fn as_bytes(&self) -> &[u8; N] {
        &self.0
    }

    /// A name that came in EBCDIC.
    pub fn name_from_ebcdic(self) -> Self {
        Self(self.0.map(ebcdic::to_ascii))
    }

    /// A name as it goes in EBCDIC.
    pub fn name_to_ebcdic(self) -> Self {
        Self(self.0.map(ebcdic::from_ascii))
    }

    /// The text without its padding: up to the first NUL, trailing blanks off.
    pub fn trimmed(&self) -> &[u8] {
        let mut text = self.0.as_slice();
        if text.contains(&0) {
            text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        }
        without_blanks(text)
    }

    /// The bytes but for the blanks at their end.
    pub fn unpadded(&self) -> &[u8] {
        if self.0 == [b' '; N] {
            return &[];
        }
        without_blanks(&self.0)
    }

    /// The text without its padding. Bytes that are not UTF-8 show as U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.trimmed())
    }

    /// Whether the field holds no text.
    pub fn is_blank(&self) -> bool {
        // The first byte tells it nearly always.
        match self.0.first() {
            Some(b' ') => self.0 == [b' '; N] || self.trimmed().is_empty(),
            first => first.is_none_or(|byte| *byte == 0),
        }
    }

    /// The same text with blank padding, whatever the padding was.
    pub fn canonical(&self) -> Self {
        let mut bytes = [b' '; N];
        for (slot, byte) in bytes.iter_mut().zip(self.trimmed()) {
            *slot = *byte;
        }
        Self(bytes)
    }
}

/// Without the blanks at the end.
fn without_blanks(mut text: &[u8]) -> &[u8] {
    // Most of a name is padding.
    while let Some((head, [b' ', b' ', b' ', b' ', b' ', b' ', b' ', b' '])) =
        text.split_last_chunk()
    {
        text = head;
    }
    while let [head @ .., b' '] = text {
        text = head;
    }
    text
}

impl<const N: usize> PartialEq for Chars<N> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.trimmed() == other.trimmed()
    }
}

impl<const N: usize> Eq for Chars<N> {}

impl<const N: usize> Hash for Chars<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.trimmed().hash(state);
    }
}

impl<const N: usize> PartialOrd for Chars<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for Chars<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.trimmed().cmp(other.trimmed())
    }
}

impl<const N: usize> Default for Chars<N> {
    fn default() -> Self {
        Self::BLANK
    }
}

impl<const N: usize> fmt::Debug for Chars<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

impl<const N: usize> fmt::Display for Chars<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl<const N: usize> From<[u8; N]> for Chars<N> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_blank_and_cut_is_between_characters() {
        assert_eq!(Chars::<4>::new("AB").as_bytes(), b"AB  ");
        assert_eq!(Chars::<4>::new("ABCDE").as_bytes(), b"ABCD");
        assert_eq!(Chars::<4>::new("ABC\u{e9}").as_bytes(), b"ABC ");
        assert_eq!(Chars::<0>::new("A").as_bytes(), b"");
    }

    #[test]
    fn try_new_refuses_what_does_not_fit() {
        assert_eq!(Chars::<2>::try_new("AB").unwrap().as_bytes(), b"AB");
        assert_eq!(Chars::<2>::try_new("ABC"), None);
    }

    #[test]
    fn a_nul_ends_the_text_but_the_bytes_are_kept() {
        let field = Chars::from_bytes(*b"Q1 \0junk");
        assert_eq!(field.trimmed(), b"Q1");
        assert_eq!(field.text(), "Q1");
        assert_eq!(field.as_bytes(), b"Q1 \0junk");
        assert_eq!(field.canonical().as_bytes(), b"Q1      ");
    }

    #[test]
    fn padding_does_not_count_in_comparisons() {
        use std::collections::{BTreeSet, HashSet};
        let same = [*b"Q1      ", *b"Q1\0\0\0\0\0\0", *b"Q1 \0junk"].map(Chars::from_bytes);
        assert_eq!(same.iter().collect::<HashSet<_>>().len(), 1);
        assert_eq!(same.iter().collect::<BTreeSet<_>>().len(), 1);
        for other in ["Q10", "Q", " Q1", "q1", ""] {
            assert_ne!(same[0], Chars::new(other), "{other:?}");
        }
        assert!(Chars::<4>::new("A") < Chars::new("AB"));
        assert!(Chars::<4>::new("AB") < Chars::new("B"));
    }

    #[test]
    fn blank_means_no_text() {
        for (bytes, blank) in [
            (*b"    ", true),
            (*b"\0\0\0\0", true),
            (*b"  \0A", true),
            (*b" A  ", false),
        ] {
            assert_eq!(Chars::from_bytes(bytes).is_blank(), blank, "{bytes:?}");
        }
        assert!(Name::default().is_blank());
        assert_eq!(Name::default(), Name::BLANK);
    }

    #[test]
    fn bytes_that_are_not_utf8_still_show() {
        let field = Chars::from_bytes([b'A', 0xff, b' ']);
        assert_eq!(field.text(), "A\u{fffd}");
        assert_eq!(format!("{field:?}"), "\"A\u{fffd}\"");
        assert_eq!(format!("[{:<4}]", Chars::<8>::new("Q")), "[Q   ]");
    }
}
