//! The attribute table: every attribute of every kind of object, one row each.
//!
//! MQSC, PCF, DISPLAY, MQINQ, MQSET and the reference page are all read from it, so a new
//! attribute is one new row. Defaults are those of the manual's SYSTEM.DEFAULT objects,
//! except where a row says otherwise. Invariants (tested below): within one kind no keyword
//! and no selector occurs twice; every default is a value that the row accepts; only
//! attributes that the queue manager derives have none; every row has help.

mod authinfo;
pub use authinfo::AUTHENMD_USERFILE;
pub(crate) mod authrec;
mod channel;
mod chlauth;
mod client_channel;
mod comminfo;
mod listener;
mod namelist;
mod process;
mod qmgr;
mod qmgr_absent;
mod qmgr_groups;
mod queue;
mod queue_events;
mod rows;
#[cfg(any(test, feature = "sample-kind"))]
mod sample;
mod service;
pub(crate) mod sub;
pub(crate) mod topic;
pub(crate) mod words;

use crate::attribute::Attribute;
use crate::kinds::{Group, ObjectKind};

/// The attributes of a kind of object, in the order of the reference page.
pub fn attributes(kind: ObjectKind) -> impl Iterator<Item = &'static Attribute> {
    let rows = rows_of(kind).iter();
    rows.flat_map(|rows| rows.iter())
        .filter(move |attribute| attribute.on.contains(&kind))
}

/// The rows among which a kind's attributes are.
fn rows_of(kind: ObjectKind) -> &'static [&'static [Attribute]] {
    match kind {
        ObjectKind::Qmgr => &[qmgr::ROWS, qmgr_absent::ROWS],
        ObjectKind::QLocal | ObjectKind::QModel | ObjectKind::QAlias | ObjectKind::QRemote => {
            &[queue::ROWS, queue_events::ROWS]
        }
        ObjectKind::SvrConn => &[channel::ROWS],
        ObjectKind::ClntConn => &[client_channel::ROWS],
        ObjectKind::Listener => &[listener::ROWS],
        ObjectKind::Namelist => &[namelist::ROWS],
        ObjectKind::Process => &[process::ROWS],
        ObjectKind::AuthCrlLdap
        | ObjectKind::AuthOcsp
        | ObjectKind::AuthIdpwOs
        | ObjectKind::AuthIdpwLdap => &[authinfo::ROWS],
        ObjectKind::CommInfo => &[comminfo::ROWS],
        ObjectKind::Service => &[service::ROWS],
        ObjectKind::Topic => &[topic::ROWS],
        ObjectKind::Sub => &[sub::ROWS],
        ObjectKind::ChlBlockUser
        | ObjectKind::ChlBlockAddr
        | ObjectKind::ChlSslPeerMap
        | ObjectKind::ChlAddressMap
        | ObjectKind::ChlUserMap
        | ObjectKind::ChlQmgrMap => &[chlauth::ROWS],
        ObjectKind::AuthRec => &[authrec::ROWS],
        #[cfg(any(test, feature = "sample-kind"))]
        ObjectKind::Sample => &[sample::ROWS],
    }
}

/// Words of DISPLAY that ask for several attributes of a kind at once.
pub(crate) fn groups_of(kind: ObjectKind) -> &'static [Group] {
    match kind {
        ObjectKind::Qmgr => qmgr_groups::GROUPS,
        _ => &[],
    }
}

/// The attribute with an MQSC keyword or one of its synonyms, in any case. The `NO` form of
/// a switch (`NOSHARE`) finds the switch.
pub fn by_keyword(kind: ObjectKind, keyword: &str) -> Option<&'static Attribute> {
    attributes(kind).find(|attribute| attribute.is_called(keyword))
}

/// The attribute with a selector.
pub fn by_selector(kind: ObjectKind, selector: i32) -> Option<&'static Attribute> {
    attributes(kind).find(|attribute| attribute.selector == selector)
}

#[cfg(test)]
mod tests;
