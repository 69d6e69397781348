//! What a publication is for each of its subscribers.
//!
//! Sources: MQ manual, "Publish/subscribe message properties", "Message properties and publish/subscribe" (the folder
//! `mqps`), MQSD's fields about publications, MQMD's MsgId and CorrelId ("if the message is being put to a topic").
//!
//! Invariants:
//! * Identity context, priority and CorrelId are the subscription's, where it says so; the rest of the descriptor is the
//!   publisher's. Each copy has a MsgId of its own, unless the publisher has given one.
//! * Copies whose data are the same share them, and stand beside each other.
//! * Properties of publish/subscribe are in a folder `mqps` of an MQRFH2: where the subscription asks for that header,
//!   and where the message has one already, in which case its own. A message without it stays as it was published, and the
//!   folder is beside its data (`message_data.rs`): who gets it decides whether he is shown it (`property_control.rs`).

use std::collections::BTreeMap;

use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, PointerSize, Rfh2, is_ebcdic};

use super::subscription::{PublishProperties, Subscription};
use crate::message_data::MessageData;

/// Characters of the text of a folder.
const UTF_8: i32 = 1208;

/// Data in one of the forms of a publication, and what the descriptor says of them.
#[derive(Clone)]
pub(crate) struct Form {
    pub(crate) data: MessageData,
    format: Chars<8>,
    encoding: i32,
    coded_char_set_id: i32,
}

impl Form {
    pub(crate) fn of(md: &Md, data: MessageData) -> Form {
        Form {
            data,
            format: md.format,
            encoding: md.encoding,
            coded_char_set_id: md.coded_char_set_id,
        }
    }

    /// Says in a descriptor what the data are.
    pub(crate) fn describe(&self, md: &mut Md) {
        md.format = self.format;
        md.encoding = self.encoding;
        md.coded_char_set_id = self.coded_char_set_id;
    }

    /// What a header in front of the data says of them.
    fn header(&self) -> Rfh2 {
        Rfh2 {
            encoding: self.encoding,
            coded_char_set_id: self.coded_char_set_id,
            format: self.format,
            name_value_ccsid: UTF_8,
            ..Rfh2::default()
        }
    }

    /// Data behind a header.
    fn behind(&self, header: &Rfh2, written: Written, data: &MessageData) -> Form {
        let mut head = Vec::with_capacity(256);
        header.encode(&mut head, written.order, PointerSize::Four);
        Form {
            data: data.behind(&head),
            format: Chars::new(MQFMT_RF_HEADER_2),
            encoding: written.encoding,
            coded_char_set_id: written.coded_char_set_id,
        }
    }

    /// The same data, with a folder beside them.
    fn beside_folder(&self, folder: &str) -> Form {
        Form {
            data: self.data.with_properties(folder),
            ..*self
        }
    }

    /// Data with one folder more in the header in front of them.
    fn with_folder(&self, apart: &TakenApart, folder: String) -> Form {
        let mut header = apart.header.clone();
        header.replace_folder("mqps", folder);
        self.behind(&header, apart.written, &apart.data)
    }

    /// The header in front of the data, or one of its own, and the data behind it.
    fn taken_apart(&self) -> TakenApart {
        let new = Written::in_front_of(self.encoding, self.coded_char_set_id);
        let own = (self.format == Chars::new(MQFMT_RF_HEADER_2))
            .then(|| Rfh2::decode(self.data.front(), new.order, PointerSize::Four).ok())
            .flatten();
        match own {
            Some((header, used)) => TakenApart {
                header,
                data: self.data.after(used),
                written: Written {
                    coded_char_set_id: self.coded_char_set_id,
                    ..new
                },
            },
            None => TakenApart {
                header: self.header(),
                data: self.data.clone(),
                written: new,
            },
        }
    }

    /// The form in which a publication is retained: as it is, behind a header of its own that says what it is about.
    pub(crate) fn retained(&self, topic: &str) -> Form {
        let mut header = self.header();
        header.replace_folder("mqps", folder(topic, "", true));
        let written = Written::in_front_of(self.encoding, self.coded_char_set_id);
        self.behind(&header, written, &self.data)
    }
}

/// A header, and the data behind it.
struct TakenApart {
    header: Rfh2,
    data: MessageData,
    written: Written,
}

/// How a header in front of data is written, as the descriptor says it.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(crate) encoding: i32,
    pub(crate) coded_char_set_id: i32,
    pub(crate) order: ByteOrder,
}

impl Written {
    /// A header of ours in front of data in this encoding and character set: as they are, but where no header could be read so. An
    /// encoding may say nothing of integers, and our headers' text is not in EBCDIC.
    pub(crate) fn in_front_of(encoding: i32, coded_char_set_id: i32) -> Written {
        let (encoding, order) = match ByteOrder::of_encoding(encoding) {
            Some(order) => (encoding, order),
            None => (MQENC_NATIVE, ByteOrder::Little),
        };
        let is_ebcdic = u16::try_from(coded_char_set_id).is_ok_and(is_ebcdic);
        Written {
            encoding,
            coded_char_set_id: if is_ebcdic { UTF_8 } else { coded_char_set_id },
            order,
        }
    }
}

/// The topic string of a retained publication, and what was published. `None`: this is no such message.
pub(crate) fn restored(md: &Md, data: &MessageData) -> Option<(String, Form)> {
    if md.format != Chars::new(MQFMT_RF_HEADER_2) {
        return None;
    }
    let order = ByteOrder::of_encoding(md.encoding).unwrap_or(ByteOrder::Little);
    let (header, used) = Rfh2::decode(data.front(), order, PointerSize::Four).ok()?;
    let text = header.folder("mqps")?.strip_prefix(TOPIC)?;
    let (topic, _) = text.split_once("</Top>")?;
    let form = Form {
        data: data.after(used),
        format: header.format,
        encoding: header.encoding,
        coded_char_set_id: header.coded_char_set_id,
    };
    Some((unescaped(topic), form))
}

/// What [`escaped`] was made of.
fn unescaped(text: &str) -> String {
    let plain = |text: &str| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">");
        text.replace("&amp;", "&")
    };
    let mut pieces = text.split(NUMBER);
    let mut whole = plain(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (number, behind) = piece.split_once(';').unwrap_or((piece, ""));
        let character = u32::from_str_radix(number, 16).ok();
        whole.extend(character.and_then(char::from_u32));
        whole.push_str(&plain(behind));
    }
    whole
}

/// What a character's number in the text of a folder begins with.
const NUMBER: &str = "&#x";

fn escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // IBM's Java client writes these so, and cannot read a folder that has them as they are.
            c if c > '\u{ffff}' => out.push_str(&format!("{NUMBER}{:x};", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// What the folder of publish/subscribe begins with.
const TOPIC: &str = "<mqps><Top>";

/// The folder of publish/subscribe: the topic string, what the subscription was made with, and whether it is a retained
/// publication that is sent later.
fn folder(topic: &str, user_data: &str, retained: bool) -> String {
    let mut text = String::with_capacity(topic.len() + user_data.len() + 64);
    text.push_str(TOPIC);
    escaped(topic, &mut text);
    text.push_str("</Top>");
    if !user_data.is_empty() {
        text.push_str("<Sud>");
        escaped(user_data, &mut text);
        text.push_str("</Sud>");
    }
    if retained {
        text.push_str("<Ret dt='boolean'>1</Ret>");
    }
    text.push_str("</mqps>");
    text
}

/// The forms that a publication has, each made when it is needed first.
pub(crate) struct Forms<'a> {
    topic: &'a str,
    retained: bool,
    published: Form,
    /// It begins with an MQRFH2.
    has_header: bool,
    /// Its header and what is behind it, once they are needed: all forms share that.
    taken_apart: Option<TakenApart>,
    with_folder: Vec<Form>,
    /// Which of those it is, by where the folder is, and the user data in it; first, of those without.
    without_user_data: [Option<usize>; 2],
    by_user_data: [BTreeMap<String, usize>; 2],
    /// Bytes that were made for user data, by where the folder is: of folders, or of headers that have one.
    made: [usize; 2],
}

/// Bytes of folders beside the data, and of headers with them, that one publication may have for its subscribers' user data: it is in
/// the log as a whole. Who comes behind them has the topic string alone there.
const MOST: [usize; 2] = [1 << 20, 8 << 20];

impl<'a> Forms<'a> {
    /// `retained`: it was retained, and is sent later.
    pub(crate) fn new(topic: &'a str, published: Form, retained: bool) -> Self {
        Forms {
            topic,
            retained,
            has_header: published.format == Chars::new(MQFMT_RF_HEADER_2),
            published,
            taken_apart: None,
            with_folder: Vec::new(),
            without_user_data: [None; 2],
            by_user_data: Default::default(),
            made: [0; 2],
        }
    }

    /// The form for a subscription; and which one it is.
    pub(crate) fn of(&mut self, subscription: &Subscription) -> (usize, &Form) {
        let in_header = match subscription.properties {
            PublishProperties::Rfh2 => true,
            PublishProperties::MessageProperties => self.has_header,
            PublishProperties::None | PublishProperties::Compatibility => {
                return (0, &self.published);
            }
        };
        let place = usize::from(in_header);
        let own = subscription.user_data.as_str();
        let is_known = self.by_user_data[place].contains_key(own);
        let user_data = match is_known || self.made[place] < MOST[place] {
            true => own,
            false => "",
        };
        let known = match user_data {
            "" => self.without_user_data[place],
            some => self.by_user_data[place].get(some).copied(),
        };
        let at = known.unwrap_or_else(|| {
            let at = self.make(user_data, in_header);
            match user_data {
                "" => self.without_user_data[place] = Some(at),
                some => {
                    self.by_user_data[place].insert(some.to_owned(), at);
                }
            }
            at
        });
        (at + 1, &self.with_folder[at])
    }

    /// Makes the form with a folder that says this, and says which one it is of those.
    fn make(&mut self, user_data: &str, in_header: bool) -> usize {
        let folder = folder(self.topic, user_data, self.retained);
        let published = &self.published;
        let form = match in_header {
            true => {
                let parts = &mut self.taken_apart;
                let parts = parts.get_or_insert_with(|| published.taken_apart());
                let form = published.with_folder(parts, folder);
                self.made[1] += form.data.len() - parts.data.len();
                form
            }
            false => {
                self.made[0] += folder.len();
                published.beside_folder(&folder)
            }
        };
        self.with_folder.push(form);
        self.with_folder.len() - 1
    }
}

/// The descriptor of a copy for a subscription: `published` is the publisher's. `new_id`: the MsgId that it has if the
/// publisher has given none.
pub(crate) fn descriptor(
    published: &Md,
    form: &Form,
    subscription: &Subscription,
    queue_priority: i32,
    new_id: [u8; 24],
) -> Md {
    let mut md = published.clone();
    form.describe(&mut md);
    if md.msg_id == MQMI_NONE {
        md.msg_id = new_id;
    }
    if subscription.correl_id != MQCI_NONE {
        md.correl_id = subscription.correl_id;
    }
    match subscription.priority {
        MQPRI_PRIORITY_AS_PUBLISHED => {}
        MQPRI_PRIORITY_AS_Q_DEF => md.priority = queue_priority,
        own => md.priority = own.clamp(0, 9),
    }
    md.user_identifier = Chars::new(&subscription.user);
    md.accounting_token = subscription.accounting_token;
    md.appl_identity_data = Chars::new(&subscription.application_identity);
    md
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_what_is_beyond_the_basic_multilingual_plane_by_number() {
        let text = folder("a/\u{1d11e}é", "\u{10000}<", false);
        let expected = "<mqps><Top>a/&#x1d11e;é</Top><Sud>&#x10000;&lt;</Sud></mqps>";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_escaped_is_read_back() {
        for text in [
            "",
            "a&#x41;b",
            "<&amp;>",
            "\u{1d11e}",
            "x\u{1d11e}y\u{10ffff};&lt;",
        ] {
            let mut written = String::new();
            escaped(text, &mut written);
            assert_eq!(unescaped(&written), text);
        }
        // As releases before wrote it.
        assert_eq!(unescaped("a/\u{1d11e}"), "a/\u{1d11e}");
    }
}
