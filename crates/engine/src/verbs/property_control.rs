//! What a getter is shown of a message's properties: options of MQGMO, and PROPCTL where they leave it to the queue.
//!
//! Sources: MQ reference, "MQGMO - Options" (property options), "PROPCTL".
//!
//! Invariants: properties are the folders of the MQRFH2 headers in front of the data that are of properties; a header that has
//! nothing else goes, and what it says of the data behind it the descriptor says then. What is malformed is data, and stays, and
//! so is what comes behind more headers than any library writes: a queue is locked while they are read. Properties of a publication
//! that are beside its data (`message_data.rs`) come in an MQRFH2 of their own to who wants all in that header, and to nobody else:
//! none of theirs is one for which COMPAT delivers properties (`mcd`, `jms`, `usr`, `mqext`). The message on the queue is as it was.

use posthaste_mqi::constants::{
    MQCCSI_INHERIT, MQFMT_RF_HEADER_2, MQGMO_NO_PROPERTIES, MQGMO_PROPERTIES_COMPATIBILITY,
    MQGMO_PROPERTIES_FORCE_MQRFH2, MQGMO_PROPERTIES_IN_HANDLE, MQIA_PROPERTY_CONTROL, MQPROP_ALL,
    MQPROP_FORCE_MQRFH2, MQPROP_NONE,
};
use posthaste_mqi::{ByteOrder, Chars, Md, PointerSize, Rfh2, is_of_properties};

use crate::handles::Handle;
use crate::message::Message;
use crate::plant::{Bug, planted};
use crate::topics::publication::Written;

/// Options that say what becomes of properties, of which a get has one or leaves it to the queue.
pub(super) const OPTIONS: i32 = MQGMO_PROPERTIES_FORCE_MQRFH2
    | MQGMO_NO_PROPERTIES
    | MQGMO_PROPERTIES_IN_HANDLE
    | MQGMO_PROPERTIES_COMPATIBILITY;

/// Headers that are looked at. A library writes one; who passes a message on may put one in front.
const HEADERS: usize = 100;

/// What a getter is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The message as it was put.
    AsPut,
    /// No properties.
    Bare,
    /// All properties, in an MQRFH2.
    InHeader,
}

impl Shown {
    /// To a get with these options through this handle.
    pub(super) fn to(handle: &Handle, options: i32) -> Shown {
        match options & OPTIONS {
            0 => match handle.opened.int(MQIA_PROPERTY_CONTROL) {
                MQPROP_NONE if !planted(Bug::ShowProperties) => Shown::Bare,
                MQPROP_ALL | MQPROP_FORCE_MQRFH2 => Shown::InHeader,
                _ => Shown::AsPut,
            },
            MQGMO_NO_PROPERTIES => Shown::Bare,
            MQGMO_PROPERTIES_FORCE_MQRFH2 => Shown::InHeader,
            _ => Shown::AsPut,
        }
    }

    /// What is shown of a message; none: the message as it is. Of what comes of it nothing more is made.
    pub(super) fn of(self, message: &Message) -> Option<Message> {
        match self {
            Shown::AsPut => None,
            Shown::Bare => without(message),
            Shown::InHeader => with(message),
        }
    }

    /// Whether that is longer than the message.
    pub(super) fn lengthens(self, message: &Message) -> bool {
        self == Shown::InHeader && !message.data.properties().is_empty()
    }
}

/// A message behind a header with the properties that are beside its data; none: there are none.
fn with(message: &Message) -> Option<Message> {
    let (md, data) = (&message.md, &message.data);
    let folder = match data.properties() {
        [] => return None,
        folder => String::from_utf8_lossy(folder).into_owned(),
    };
    let header = Rfh2 {
        encoding: md.encoding,
        coded_char_set_id: md.coded_char_set_id,
        format: md.format,
        folders: vec![folder],
        ..Rfh2::default()
    };
    let written = Written::in_front_of(md.encoding, md.coded_char_set_id);
    let mut head = Vec::with_capacity(256);
    header.encode(&mut head, written.order, PointerSize::Four);
    Some(Message {
        md: Md {
            format: Chars::new(MQFMT_RF_HEADER_2),
            encoding: written.encoding,
            coded_char_set_id: written.coded_char_set_id,
            ..md.clone()
        },
        data: data.behind(&head),
        ..*message
    })
}

/// A message without its properties; none: it has none.
fn without(message: &Message) -> Option<Message> {
    let mut bare: Option<Message> = None;
    for _ in 0..HEADERS {
        let so_far = bare.as_ref().unwrap_or(message);
        let (md, data) = (&so_far.md, &so_far.data);
        if md.format != Chars::new(MQFMT_RF_HEADER_2) {
            return bare;
        }
        let order = ByteOrder::of_encoding(md.encoding);
        let decoded =
            order.map(|order| (order, Rfh2::decode(data.front(), order, PointerSize::Four)));
        let Some((order, Ok((mut header, used)))) = decoded else {
            return bare;
        };
        let all = header.folders.len();
        header.folders.retain(|folder| !is_of_properties(folder));
        if header.folders.len() == all {
            return bare;
        }
        let mut shown = Message {
            md: md.clone(),
            data: data.after(used),
            ..*so_far
        };
        if !header.folders.is_empty() {
            let mut head = Vec::new();
            header.encode(&mut head, order, PointerSize::Four);
            shown.data = shown.data.behind(&head);
            return Some(shown);
        }
        shown.md.format = header.format;
        shown.md.encoding = header.encoding;
        if header.coded_char_set_id != MQCCSI_INHERIT {
            shown.md.coded_char_set_id = header.coded_char_set_id;
        }
        bare = Some(shown);
    }
    bare
}
