//! What a message carries: the application's bytes, and the properties of a publication that came without a header for them.
//!
//! Invariants:
//! * Those properties are kept in front of everything and are no part of the data: no length counts them, and only who asks
//!   for properties is shown them. They do not go along when a header is put in front of the data or taken off.
//! * Messages that differ in a header only (dead letters of a publication, the folder of publish/subscribe, the header of a
//!   transmission queue) share what is behind it, in memory and in the log (`record`, `Publish`).
//! * Equal by the bytes, wherever they lie.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

/// Bytes that are kept in memory behind nobody's back.
const FEW: usize = 4096;

/// Bytes that these take together: what lies in memory once counts once.
pub(crate) fn bytes_together<'a>(all: impl Iterator<Item = &'a MessageData>) -> usize {
    let mut longest = BTreeMap::new();
    let mut heads = 0;
    let mut last: Option<&MessageData> = None;
    for data in all {
        if last.is_none_or(|last| !last.is_same(data)) {
            heads += data.own().len();
        }
        let shared = longest.entry(data.end()).or_insert(0);
        *shared = data.shared.len().max(*shared);
        last = Some(data);
    }
    heads + longest.values().sum::<usize>()
}

/// The data of a message: what others may share, behind a header of its own if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageData {
    /// Properties, and a header behind them.
    own: Option<Arc<[u8]>>,
    /// Bytes that the properties are of that: the text of a folder, in UTF-8.
    properties: usize,
    /// Never longer than what it shares, and always its end.
    shared: Bytes,
}

impl From<Bytes> for MessageData {
    fn from(shared: Bytes) -> Self {
        MessageData {
            own: None,
            properties: 0,
            shared,
        }
    }
}

impl PartialEq for MessageData {
    fn eq(&self, other: &Self) -> bool {
        self.properties() == other.properties() && self.whole() == other.whole()
    }
}

impl MessageData {
    /// The same behind a header more.
    pub(crate) fn behind(&self, header: &[u8]) -> MessageData {
        let head = [header, self.head()].concat();
        MessageData {
            own: Some(head.into()),
            properties: 0,
            shared: self.shared.clone(),
        }
    }

    /// The same with these properties, the text of a folder.
    pub(crate) fn with_properties(&self, folder: &str) -> MessageData {
        let own: Arc<[u8]> = match self.head() {
            [] => folder.as_bytes().into(),
            head => [folder.as_bytes(), head].concat().into(),
        };
        MessageData {
            own: Some(own),
            properties: folder.len(),
            shared: self.shared.clone(),
        }
    }

    /// What was stored: so many bytes of it are properties. `None`: it is shorter, or these are no text.
    pub(crate) fn restored(self, properties: usize) -> Option<MessageData> {
        if properties == 0 {
            return Some(self);
        }
        let data = match self.own {
            Some(_) => MessageData { properties, ..self },
            None => MessageData {
                own: Some(self.shared.get(..properties)?.into()),
                properties,
                ..self.after(properties)
            },
        };
        let text = data.own().get(..properties)?;
        str::from_utf8(text).is_ok().then_some(data)
    }

    fn own(&self) -> &[u8] {
        self.own.as_deref().unwrap_or_default()
    }

    /// Properties that are no part of the data, as the text of a folder; mostly none.
    pub(crate) fn properties(&self) -> &[u8] {
        self.own().get(..self.properties).unwrap_or_default()
    }

    fn head(&self) -> &[u8] {
        self.own().get(self.properties..).unwrap_or_default()
    }

    /// Where a header is found if the data begin with one: its own, or what is in front of all.
    pub(crate) fn front(&self) -> &[u8] {
        match self.head() {
            [] => &self.shared,
            head => head,
        }
    }

    /// Both, in their order.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [self.head(), &self.shared]
    }

    /// What is stored of it: properties and data.
    pub(crate) fn stored_parts(&self) -> [&[u8]; 2] {
        [self.own(), &self.shared]
    }

    /// Bytes of that.
    pub(crate) fn stored_len(&self) -> usize {
        self.own().len() + self.shared.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.head().len() + self.shared.len()
    }

    /// All, if it lies in one piece.
    pub(crate) fn in_one_piece(&self) -> Option<&Bytes> {
        self.head().is_empty().then_some(&self.shared)
    }

    /// In one piece.
    pub(crate) fn whole(&self) -> Bytes {
        self.up_to(usize::MAX)
    }

    /// At most so many bytes from the beginning, in one piece.
    pub(crate) fn up_to(&self, most: usize) -> Bytes {
        let head = self.head();
        if head.is_empty() {
            return self.shared.slice(..self.shared.len().min(most));
        }
        let of_head = head.len().min(most);
        let of_shared = self.shared.len().min(most - of_head);
        Bytes::from([&head[..of_head], &self.shared[..of_shared]].concat())
    }

    /// What is behind so many bytes of it, which stay in memory where they are few.
    pub(crate) fn after(&self, bytes: usize) -> MessageData {
        match self.head().split_at_checked(bytes) {
            Some((_, &[])) => self.shared.clone().into(),
            Some((_, rest)) => MessageData {
                own: Some(rest.into()),
                properties: 0,
                shared: self.shared.clone(),
            },
            None => {
                let dropped = bytes - self.head().len();
                let rest = self.shared.slice(dropped..);
                match dropped > FEW + rest.len() / 8 {
                    true => Bytes::copy_from_slice(&rest).into(),
                    false => rest.into(),
                }
            }
        }
    }

    /// Whether the two have one header and the same properties and share one body, and are not only equal.
    pub(crate) fn is_same(&self, other: &MessageData) -> bool {
        let (one, two) = (&self.shared, &other.shared);
        let own = match (&self.own, &other.own) {
            (None, None) => true,
            (Some(own), Some(of_other)) => {
                Arc::ptr_eq(own, of_other) && self.properties == other.properties
            }
            _ => false,
        };
        own && one.as_ptr() == two.as_ptr() && one.len() == two.len()
    }

    /// Where the body ends in memory; none: it has none. Bodies that end together are one, and the end of one.
    pub(crate) fn end(&self) -> Option<usize> {
        let range = self.shared.as_ptr_range();
        (!self.shared.is_empty()).then_some(range.end as usize)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
    fn properties_are_stored_and_no_part_of_the_data() {
        let plain = MessageData::from(Bytes::from_static(b"body"));
        let with = plain.with_properties("text");
        assert_eq!((with.len(), with.stored_len()), (4, 8));
        assert_eq!(
            (with.properties(), with.front()),
            (&b"text"[..], &b"body"[..])
        );
        assert_eq!(with.parts(), [&b""[..], b"body"]);
        assert_eq!(with.stored_parts(), [b"text", b"body"]);
        assert_eq!(with.in_one_piece(), plain.in_one_piece());
        assert_eq!((with.up_to(2), with.end()), (plain.up_to(2), plain.end()));
        assert!(with != plain && !with.is_same(&plain) && with.is_same(&with.clone()));
        assert!(with.after(0).is_same(&plain), "none where a header is off");
        let headed = plain.behind(b"head").with_properties("text");
        assert_eq!(headed.parts(), [b"head", b"body"]);
        assert_eq!(headed.behind(b"1"), plain.behind(b"1head"));
        assert_eq!(
            bytes_together([&plain, &with, &headed].into_iter()),
            4 + 4 + 8
        );

        let stored = MessageData::from(Bytes::from(with.stored_parts().concat()));
        assert_eq!(stored.clone().restored(4), Some(with));
        assert_eq!(stored.clone().restored(0), Some(stored.clone()));
        assert_eq!(stored.restored(9), None);
        let in_two = plain.behind(b"text");
        assert_eq!(in_two.clone().restored(4).unwrap().properties(), b"text");
        assert_eq!(in_two.restored(5), None, "beyond what is its own");
        let no_text = MessageData::from(Bytes::from_static(b"\xffbody"));
        assert_eq!(no_text.restored(1), None);
    }

    #[test]
    fn what_is_in_memory_once_is_counted_once() {
        let body = Bytes::from(vec![7; 1000]);
        let plain = MessageData::from(body.clone());
        let (one, two) = (plain.behind(&[1; 10]), plain.behind(&[2; 20]));
        let other = MessageData::from(Bytes::copy_from_slice(&body));
        let all = [&plain, &plain, &one, &one, &two, &other];
        assert_eq!(bytes_together(all.into_iter()), 2 * 1000 + 10 + 20);
        // The end of a body is no more than that.
        assert_eq!(bytes_together([&plain, &plain.after(10)].into_iter()), 1000);
        assert_eq!(bytes_together([].into_iter()), 0);
    }

    #[test]
    fn a_long_header_that_is_taken_off_does_not_stay_in_memory() {
        let whole = MessageData::from(Bytes::from(vec![7; 100_000]));
        let end = |data: &MessageData| data.end();
        assert_eq!(end(&whole.after(4_000)), end(&whole), "few bytes");
        let rest = whole.after(50_000);
        assert_ne!(end(&rest), end(&whole));
        assert_eq!(rest.whole(), vec![7; 50_000]);
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
