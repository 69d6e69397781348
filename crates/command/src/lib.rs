//! Attribute table, MQSC text, PCF bytes and how replies are shown.
//!
//! This crate is pure: text and bytes in, values out. It knows what every attribute of
//! every object is called, what it may hold and what it starts as ([`attributes`]), turns
//! MQSC text into a [`Command`] ([`parse`], [`ScriptReader`]), a [`Reply`] into the text
//! that runmqsc shows ([`render`]), and PCF bytes into parameters and back ([`pcf`]). The
//! numbered operator messages live here too ([`messages`]). Nothing in it knows a queue
//! manager: `admin` carries commands out.

mod attribute;
mod attrs;
mod authority;
mod authority_changes;
mod chlauth;
mod command;
mod filter;
#[doc(hidden)]
pub mod fuzzing;
mod kinds;
pub mod messages;
mod object;
mod parse;
pub mod pcf;
mod reference;
mod reply;
mod script;
mod secrets;
mod show;
mod statuses;
mod table;
mod value;

pub use attribute::{Attribute, DefaultValue, Effect, Set, ValueKind, shown};
pub use attrs::Attrs;
pub use authority::{AuthorityCommand, COMPONENT, Matching, RecordName};
pub use authority_changes::authority_changes;
pub use chlauth::{
    ChlAuthAction, ChlAuthMatch, RunCheck, SOURCE_CHANNEL, SOURCE_MAP, SOURCE_NO_ACCESS,
    is_chlauth, is_relevant,
};
pub use command::{
    ChlAuthCommand, Command, Deletion, DisplayType, DisplayWhat, Op, StopChannel, SyntaxError,
    Where,
};
pub use filter::{generic_matches, where_matches};
pub use kinds::{Kind, KindType, MessageIds, ObjectKind};
pub use object::Object;
pub use parse::{is_end, parse};
pub use reference::{messages_page, reference_page};
pub use reply::{Cell, Reply, Row, Tally, echo, render};
pub use script::ScriptReader;
pub use secrets::without_secrets;
pub use show::authority_row;
pub use show::{
    DefineForm, display_order, mqsc_of, removal_of, row_of, script_of, shows_all, whole_mqsc_of,
};
pub use statuses::status_keywords;
pub use table::{AUTHENMD_USERFILE, attributes, by_keyword, by_selector};
pub use value::{Date, Time, Value, Words, is_unseen, printable};
