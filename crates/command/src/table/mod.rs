//! The attribute table: every attribute of every kind of object, one row each.
//!
//! MQSC, PCF, DISPLAY, MQINQ, MQSET and the reference page are all read from it, so a new
//! attribute is one new row. Defaults are those of the manual's SYSTEM.DEFAULT objects,
//! except where a row says otherwise. Invariants (tested below): within one kind no keyword
//! and no selector occurs twice; every default is a value that the row accepts; only
//! attributes that the queue manager derives have none; every row has help.

mod channel;
mod holds;
mod listener;
mod qmgr;
mod qmgr_absent;
mod queue;
mod queue_events;
mod status;
mod words;

pub(crate) use holds::{Holds, holds};
pub use status::status_keywords;
pub(crate) use status::{
    LOG_KEYWORDS, all_keywords, displayed_kinds, is_not_here, type_of_keyword, where_keyword,
};

use crate::object::{Attribute, DefaultValue, Effect, ObjectKind, Set, ValueKind};
use posthaste_mqi::constants as mq;

const TABLE: &[&[Attribute]] = &[
    queue::ROWS,
    queue_events::ROWS,
    qmgr::ROWS,
    qmgr_absent::ROWS,
    channel::ROWS,
    listener::ROWS,
];

/// The attributes of a kind of object, in the order of the reference page.
pub fn attributes(kind: ObjectKind) -> impl Iterator<Item = &'static Attribute> {
    TABLE
        .iter()
        .flat_map(|rows| rows.iter())
        .filter(move |attribute| attribute.on.contains(&kind))
}

/// The attribute with an MQSC keyword or one of its synonyms, in any case. The `NO` form of
/// a switch (`NOSHARE`) finds the switch.
pub fn by_keyword(kind: ObjectKind, keyword: &str) -> Option<&'static Attribute> {
    attributes(kind).find(|attribute| {
        attribute.keyword.eq_ignore_ascii_case(keyword)
            || attribute
                .also
                .iter()
                .any(|also| also.eq_ignore_ascii_case(keyword))
            || (attribute.is_switch() && attribute.code_of(keyword).is_some())
    })
}

/// The attribute with a selector.
pub fn by_selector(kind: ObjectKind, selector: i32) -> Option<&'static Attribute> {
    attributes(kind).find(|attribute| attribute.selector == selector)
}

/// What `TYPE` shows, and MQQT_ numbers.
const QUEUE_TYPES: words::Words = &[
    ("QLOCAL", mq::MQQT_LOCAL),
    ("QMODEL", mq::MQQT_MODEL),
    ("QALIAS", mq::MQQT_ALIAS),
    ("QREMOTE", mq::MQQT_REMOTE),
];

// Constructors of rows: one call is one row of the table.

const fn row(
    keyword: &'static str,
    selector: i32,
    kind: ValueKind,
    default: DefaultValue,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    Attribute {
        keyword,
        also: &[],
        selector,
        kind,
        default,
        on,
        set: Set::Always,
        mqset: false,
        inquire: true,
        effect: Effect::Acts,
        char_length: 0,
        help,
    }
}

const fn int(
    keyword: &'static str,
    selector: i32,
    range: (i32, i32),
    default: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::Int {
        min: range.0,
        max: range.1,
    };
    row(
        keyword,
        selector,
        kind,
        DefaultValue::Int(default),
        on,
        help,
    )
}

const fn int_or_word(
    keyword: &'static str,
    selector: i32,
    range: (i32, i32),
    words: words::Words,
    default: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::IntOrKeyword {
        min: range.0,
        max: range.1,
        words,
    };
    row(
        keyword,
        selector,
        kind,
        DefaultValue::Int(default),
        on,
        help,
    )
}

const fn word(
    keyword: &'static str,
    selector: i32,
    words: words::Words,
    default: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    row(
        keyword,
        selector,
        ValueKind::Keyword(words),
        DefaultValue::Int(default),
        on,
        help,
    )
}

const fn word_list(
    keyword: &'static str,
    selector: i32,
    words: words::Words,
    default: &'static str,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    row(
        keyword,
        selector,
        ValueKind::Keywords(words),
        DefaultValue::Text(default),
        on,
        help,
    )
}

/// Text of a fixed width in MQINQ.
const fn text(
    keyword: &'static str,
    selector: i32,
    length: i32,
    default: &'static str,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::Text {
        max: length as usize,
        fold: true,
    };
    let mut made = row(
        keyword,
        selector,
        kind,
        DefaultValue::Text(default),
        on,
        help,
    );
    made.char_length = length as usize;
    made
}

/// The name of another object.
const fn name(
    keyword: &'static str,
    selector: i32,
    length: i32,
    default: &'static str,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::Name {
        max: length as usize,
    };
    let mut made = row(
        keyword,
        selector,
        kind,
        DefaultValue::Text(default),
        on,
        help,
    );
    made.char_length = length as usize;
    made
}

impl Attribute {
    /// Kept by the queue manager; it has no default.
    const fn derived(mut self) -> Attribute {
        self.set = Set::ReadOnly;
        self.default = DefaultValue::None;
        self
    }

    /// Kept by the queue manager, which starts from the default.
    const fn read_only(mut self) -> Attribute {
        self.set = Set::ReadOnly;
        self
    }

    /// Settable by DEFINE only.
    const fn create_only(mut self) -> Attribute {
        self.set = Set::CreateOnly;
        self
    }

    /// MQSET may change it.
    const fn by_mqset(mut self) -> Attribute {
        self.mqset = true;
        self
    }

    /// Nothing is to follow from it.
    const fn describes(mut self) -> Attribute {
        self.effect = Effect::Describes;
        self
    }

    /// What other values ask for is not in this release. Of a text only the default is taken.
    const fn only(mut self, taken: &'static [i32]) -> Attribute {
        self.effect = Effect::Only(taken);
        self
    }

    /// MQINQ does not know it.
    const fn not_inquired(mut self) -> Attribute {
        self.inquire = false;
        self
    }

    /// Other keywords for it.
    const fn or(mut self, also: &'static [&'static str]) -> Attribute {
        self.also = also;
        self
    }
}

#[cfg(test)]
mod tests;
