//! Constructors of rows of the attribute table, by the type of value: one call is one row.
//!
//! Invariant: a row says what is special about it after its constructor, in words (`derived`, `secret`, `only` ...).

use crate::attribute::{Attribute, DefaultValue, Effect, Set, ValueKind};
use crate::kinds::ObjectKind;
use crate::value::Words;
use posthaste_mqi::constants as mq;

pub(super) const fn row(
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
        secret: false,
        saved: true,
        char_length: 0,
        help,
    }
}

pub(super) const fn int(
    keyword: &'static str,
    selector: i32,
    range: (i32, i32),
    default: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::Int {
        min: range.0 as i64,
        max: range.1 as i64,
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

pub(super) const fn int_or_word(
    keyword: &'static str,
    selector: i32,
    range: (i32, i32),
    words: Words,
    default: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::IntOrKeyword {
        min: range.0 as i64,
        max: range.1 as i64,
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

pub(super) const fn word(
    keyword: &'static str,
    selector: i32,
    words: Words,
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

pub(super) const fn word_list(
    keyword: &'static str,
    selector: i32,
    words: Words,
    default: &'static [i32],
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    row(
        keyword,
        selector,
        ValueKind::Keywords(words),
        DefaultValue::Ints(default),
        on,
        help,
    )
}

/// Text of a fixed width in MQINQ.
pub(super) const fn text(
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

/// Names of other objects.
pub(super) const fn names(
    keyword: &'static str,
    selector: i32,
    length: i32,
    most: usize,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let kind = ValueKind::Names {
        max: length as usize,
        most,
        free: false,
    };
    let mut made = row(keyword, selector, kind, DefaultValue::NoTexts, on, help);
    made.char_length = length as usize;
    made
}

/// Names of what is no object, which may have any character.
pub(super) const fn free_names(
    keyword: &'static str,
    selector: i32,
    length: i32,
    most: usize,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let mut made = names(keyword, selector, length, most, on, help);
    made.kind = ValueKind::Names {
        max: length as usize,
        most,
        free: true,
    };
    made
}

/// Bytes, of which there are none at first.
pub(super) const fn bytes(
    keyword: &'static str,
    selector: i32,
    max: usize,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let (kind, default) = (ValueKind::Bytes { max }, DefaultValue::NoBytes);
    row(keyword, selector, kind, default, on, help)
}

/// How many texts another attribute has.
pub(super) const fn count(
    keyword: &'static str,
    selector: i32,
    of: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let (min, max) = (0, i32::MAX as i64);
    let kind = ValueKind::Int { min, max };
    row(keyword, selector, kind, DefaultValue::CountOf(of), on, help)
}

/// A day that the queue manager keeps.
pub(super) const fn date(
    keyword: &'static str,
    selector: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let mut made = row(
        keyword,
        selector,
        ValueKind::Date,
        DefaultValue::None,
        on,
        help,
    );
    made.char_length = mq::MQ_DATE_LENGTH as usize;
    made
}

/// A time of day that the queue manager keeps.
pub(super) const fn time(
    keyword: &'static str,
    selector: i32,
    on: &'static [ObjectKind],
    help: &'static str,
) -> Attribute {
    let mut made = row(
        keyword,
        selector,
        ValueKind::Time,
        DefaultValue::None,
        on,
        help,
    );
    made.char_length = mq::MQ_TIME_LENGTH as usize;
    made
}

/// The name of another object.
pub(super) const fn name(
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
    pub(super) const fn derived(mut self) -> Attribute {
        self.set = Set::ReadOnly;
        self.default = DefaultValue::None;
        self
    }

    /// Kept by the queue manager, which starts from the default.
    pub(super) const fn read_only(mut self) -> Attribute {
        self.set = Set::ReadOnly;
        self
    }

    /// Settable by DEFINE only.
    pub(super) const fn create_only(mut self) -> Attribute {
        self.set = Set::CreateOnly;
        self
    }

    /// Settable by DEFINE only; ALTER does not know it.
    pub(super) const fn fixed(mut self) -> Attribute {
        self.set = Set::DefineOnly;
        self
    }

    /// MQSET may change it.
    pub(super) const fn by_mqset(mut self) -> Attribute {
        self.mqset = true;
        self
    }

    /// Nothing is to follow from it.
    pub(super) const fn describes(mut self) -> Attribute {
        self.effect = Effect::Describes;
        self
    }

    /// It matters only to what is not in this release: kept, and nothing acts on it.
    pub(super) const fn kept(mut self) -> Attribute {
        self.effect = Effect::Kept;
        self
    }

    /// What other values ask for is not in this release. Of a text only the default is taken.
    pub(super) const fn only(mut self, taken: &'static [i32]) -> Attribute {
        self.effect = Effect::Only(taken);
        self
    }

    /// MQINQ does not know it.
    pub(super) const fn not_inquired(mut self) -> Attribute {
        self.inquire = false;
        self
    }

    /// What it holds is shown to nobody.
    pub(super) const fn secret(mut self) -> Attribute {
        self.secret = true;
        self.saved = false;
        self
    }

    /// Queue managers on Linux have it in no script: it is of z/OS.
    pub(super) const fn not_saved(mut self) -> Attribute {
        self.saved = false;
        self
    }

    /// Other keywords for it.
    pub(super) const fn or(mut self, also: &'static [&'static str]) -> Attribute {
        self.also = also;
        self
    }
}
