//! Completion codes and reason codes.
//!
//! The tables below this module give every reason code its number, its name in the manual
//! and one sentence of our own. Which completion code goes with a reason is the calling
//! verb's matter, not a property of the reason.
//!
//! Invariant: the tables together ascend by number without gaps in order or repeats, so
//! look-ups are binary searches; tested.

use std::fmt;

/// How an MQI call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i32)]
pub enum CompCode {
    /// MQCC_OK: complete.
    Ok = 0,
    /// MQCC_WARNING: partly complete.
    Warning = 1,
    /// MQCC_FAILED: not done.
    Failed = 2,
}

impl CompCode {
    /// The number (MQCC_).
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The completion code of a number, or `None` when there is none.
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            0 => Some(Self::Ok),
            1 => Some(Self::Warning),
            2 => Some(Self::Failed),
            _ => None,
        }
    }

    /// Name in the manual, for example `MQCC_FAILED`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "MQCC_OK",
            Self::Warning => "MQCC_WARNING",
            Self::Failed => "MQCC_FAILED",
        }
    }
}

impl fmt::Display for CompCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.name(), self.code())
    }
}

/// Why an MQI call ended as it did: an MQRC_ number, or an MQRCCF_ number in replies to
/// programmable commands (constants `CCF_...`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reason(pub i32);

/// One reason code.
struct Entry {
    code: i32,
    name: &'static str,
    about: &'static str,
}

/// Defines the associated constants of [`Reason`], the plain constants under the manual's
/// names, and the table for look-ups.
macro_rules! reasons {
    ($($short:ident $name:ident $code:literal $about:literal;)*) => {
        impl crate::Reason {
            $(
                #[doc = concat!("`", stringify!($name), "`, ", stringify!($code), ". ", $about)]
                pub const $short: Self = Self($code);
            )*
        }

        /// The numbers under the manual's names.
        pub(super) mod codes {
            $(
                #[doc = $about]
                pub const $name: i32 = $code;
            )*
        }

        pub(super) const TABLE: &[Entry] = &[$(
            Entry { code: $code, name: stringify!($name), about: $about },
        )*];
    };
}

mod calls;
mod commands;
mod events;
mod later;

/// The reason codes as plain numbers, under the manual's names.
pub(crate) mod codes {
    pub use super::calls::codes::*;
    pub use super::commands::codes::*;
    pub use super::events::codes::*;
    pub use super::later::codes::*;

    /// Another name of `MQRC_CONVERTED_MSG_TOO_BIG`.
    pub const MQRC_TRUNCATED: i32 = MQRC_CONVERTED_MSG_TOO_BIG;
    /// Another name of `MQRC_STORAGE_MEDIUM_FULL`.
    pub const MQRC_PAGESET_FULL: i32 = MQRC_STORAGE_MEDIUM_FULL;
    /// Another name of `MQRCCF_QUIESCE_VALUE_ERROR`.
    pub const MQRCCF_MODE_VALUE_ERROR: i32 = MQRCCF_QUIESCE_VALUE_ERROR;
    /// Another name of `MQRCCF_ADDRESS_ERROR`.
    pub const MQRCCF_IPADDR_ERROR: i32 = MQRCCF_ADDRESS_ERROR;
    /// Lowest reason code an application may define for its own use.
    pub const MQRC_APPL_FIRST: i32 = 900;
    /// Highest reason code an application may define for its own use.
    pub const MQRC_APPL_LAST: i32 = 999;
}

const TABLES: [&[Entry]; 4] = [calls::TABLE, events::TABLE, later::TABLE, commands::TABLE];

impl Reason {
    /// Another name of [`Reason::CONVERTED_MSG_TOO_BIG`].
    pub const TRUNCATED: Self = Self::CONVERTED_MSG_TOO_BIG;
    /// Another name of [`Reason::STORAGE_MEDIUM_FULL`].
    pub const PAGESET_FULL: Self = Self::STORAGE_MEDIUM_FULL;

    /// The number.
    pub const fn code(self) -> i32 {
        self.0
    }

    /// Whether this is MQRC_NONE, that is, nothing to report.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Name in the manual, for example `MQRC_Q_FULL`; `MQRC_UNKNOWN` for a number that the
    /// tables do not have.
    pub fn name(self) -> &'static str {
        self.entry().map_or("MQRC_UNKNOWN", |entry| entry.name)
    }

    /// What it means, in one sentence.
    pub fn describe(self) -> &'static str {
        self.entry()
            .map_or("The reason code is not a known one.", |entry| entry.about)
    }

    /// The reason code of a name in the manual, for example `MQRC_Q_FULL`.
    pub fn from_name(name: &str) -> Option<Self> {
        let entry = TABLES
            .into_iter()
            .flatten()
            .find(|entry| entry.name == name)?;
        Some(Self(entry.code))
    }

    /// All known reason codes.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLES.into_iter().flatten().map(|entry| Self(entry.code))
    }

    fn entry(self) -> Option<&'static Entry> {
        TABLES.into_iter().find_map(|table| {
            let at = table
                .binary_search_by_key(&self.0, |entry| entry.code)
                .ok()?;
            table.get(at)
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.name(), self.0)
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Reason {}

impl From<Reason> for i32 {
    fn from(reason: Reason) -> Self {
        reason.0
    }
}

#[cfg(test)]
mod tests;
