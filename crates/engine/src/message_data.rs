//! What a message carries: the application's bytes.
//!
//! Invariants:
//! * Messages that differ in a header only (dead letters of a publication, the folder of publish/subscribe, the header of a
//!   transmission queue) share what is behind it, in memory and in the log (`record`, `Publish`).
//! * Equal by the bytes, wherever they lie.

use std::sync::Arc;

use bytes::Bytes;

/// The data of a message: what others may share, behind a header of its own if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageData {
    head: Option<Arc<[u8]>>,
    /// Never longer than what it shares, and always its end.
    shared: Bytes,
}

impl From<Bytes> for MessageData {
    fn from(shared: Bytes) -> Self {
        MessageData { head: None, shared }
    }
}

impl PartialEq for MessageData {
    fn eq(&self, other: &Self) -> bool {
        self.whole() == other.whole()
    }
}

impl MessageData {
    /// The same behind a header more.
    pub(crate) fn behind(&self, header: &[u8]) -> MessageData {
        let head = [header, self.head()].concat();
        MessageData {
            head: Some(head.into()),
            shared: self.shared.clone(),
        }
    }

    fn head(&self) -> &[u8] {
        self.head.as_deref().unwrap_or_default()
    }

    /// Where a header is found if the data begin with one: its own, or what is in front of all.
    pub(crate) fn front(&self) -> &[u8] {
        self.head.as_deref().unwrap_or(&self.shared)
    }

    /// Both, in their order.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [self.head(), &self.shared]
    }

    pub(crate) fn len(&self) -> usize {
        self.head().len() + self.shared.len()
    }

    /// All, if it lies in one piece.
    pub(crate) fn in_one_piece(&self) -> Option<&Bytes> {
        self.head.is_none().then_some(&self.shared)
    }

    /// In one piece.
    pub(crate) fn whole(&self) -> Bytes {
        self.up_to(usize::MAX)
    }

    /// At most so many bytes from the beginning, in one piece.
    pub(crate) fn up_to(&self, most: usize) -> Bytes {
        let Some(head) = &self.head else {
            return self.shared.slice(..self.shared.len().min(most));
        };
        let of_head = head.len().min(most);
        let of_shared = self.shared.len().min(most - of_head);
        Bytes::from([&head[..of_head], &self.shared[..of_shared]].concat())
    }

    /// What is behind so many bytes of it.
    pub(crate) fn after(&self, bytes: usize) -> MessageData {
        match self.head().split_at_checked(bytes) {
            Some((_, &[])) => self.shared.clone().into(),
            Some((_, rest)) => MessageData {
                head: Some(rest.into()),
                shared: self.shared.clone(),
            },
            None => self.shared.slice(bytes - self.head().len()..).into(),
        }
    }

    /// Whether the two have one header and share one body, and are not only equal.
    pub(crate) fn is_same(&self, other: &MessageData) -> bool {
        let (one, two) = (&self.shared, &other.shared);
        let heads = match (&self.head, &other.head) {
            (None, None) => true,
            (Some(head), Some(other)) => Arc::ptr_eq(head, other),
            _ => false,
        };
        heads && one.as_ptr() == two.as_ptr() && one.len() == two.len()
    }

    /// Where the body ends in memory; none: it has none. Bodies that end together are one, and the end of one.
    pub(crate) fn end(&self) -> Option<usize> {
        let range = self.shared.as_ptr_range();
        (!self.shared.is_empty()).then_some(range.end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_in_front_of_what_is_shared() {
        let plain = MessageData::from(Bytes::from_static(b"body"));
        let one = plain.behind(b"two").behind(b"one");
        assert_eq!((one.len(), &one.whole()[..]), (10, &b"onetwobody"[..]));
        assert_eq!(one.parts(), [&b"onetwo"[..], b"body"]);
        for most in 0..12 {
            assert_eq!(one.up_to(most), b"onetwobody"[..most.min(10)], "{most}");
        }
        for bytes in 0..=10 {
            assert_eq!(one.after(bytes).whole(), b"onetwobody"[bytes..], "{bytes}");
        }
        assert_eq!(one, MessageData::from(one.whole()));
        assert_ne!(one, plain);
        assert_eq!((one.end(), one.end()), (plain.end(), one.after(8).end()));
    }

    #[test]
    fn what_is_equal_is_not_the_same() {
        let plain = MessageData::from(Bytes::from_static(b"body"));
        let one = plain.behind(b"head");
        assert!(one.is_same(&one.clone()) && plain.is_same(&one.after(4)));
        assert!(!one.is_same(&plain) && !one.is_same(&plain.behind(b"head")));
        assert!(!one.is_same(&MessageData::from(one.whole())));
        let again = MessageData::from(Bytes::copy_from_slice(b"body"));
        assert!(!plain.is_same(&again) && plain == again);
    }
}
