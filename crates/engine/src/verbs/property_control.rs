//! What a getter is shown of a message's properties: MQGMO_NO_PROPERTIES, and PROPCTL(NONE) where the options leave it to the queue.
//!
//! Sources: MQ reference, "MQGMO - Options" (property options), "PROPCTL".
//!
//! Invariants: properties are the folders of the MQRFH2 headers in front of the data that are of properties; a header that has
//! nothing else goes, and what it says of the data behind it the descriptor says then. What is malformed is data, and stays, and
//! so is what comes behind more headers than any library writes: a queue is locked while they are read. The message on the queue is
//! as it was.

use posthaste_mqi::constants::{
    MQCCSI_INHERIT, MQFMT_RF_HEADER_2, MQGMO_NO_PROPERTIES, MQGMO_PROPERTIES_COMPATIBILITY,
    MQGMO_PROPERTIES_FORCE_MQRFH2, MQGMO_PROPERTIES_IN_HANDLE, MQIA_PROPERTY_CONTROL, MQPROP_NONE,
};
use posthaste_mqi::{ByteOrder, Chars, PointerSize, Rfh2, is_of_properties};

use crate::handles::Handle;
use crate::message::Message;
use crate::plant::{Bug, planted};

/// Options that say what becomes of properties, of which a get has one or leaves it to the queue.
pub(super) const OPTIONS: i32 = MQGMO_PROPERTIES_FORCE_MQRFH2
    | MQGMO_NO_PROPERTIES
    | MQGMO_PROPERTIES_IN_HANDLE
    | MQGMO_PROPERTIES_COMPATIBILITY;

/// Headers that are looked at. A library writes one; who passes a message on may put one in front.
const HEADERS: usize = 100;

/// Whether a get with these options through this handle is shown no properties.
pub(super) fn hides(handle: &Handle, options: i32) -> bool {
    match options & OPTIONS {
        0 => {
            handle.opened.int(MQIA_PROPERTY_CONTROL) == MQPROP_NONE && !planted(Bug::ShowProperties)
        }
        stated => stated == MQGMO_NO_PROPERTIES,
    }
}

/// A message without its properties; none: it has none.
pub(super) fn without(message: &Message) -> Option<Message> {
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
