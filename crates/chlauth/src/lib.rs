//! What may come in: channel authentication records (CHLAUTH), patterns of names and addresses, and which record counts. Pure.
//!
//! A [`Record`] is about the channels of a [`Pattern`] of names, and about partners: by address ([`AddressPattern`]), by the name of
//! a certificate ([`PeerPattern`]), by user, by queue manager. [`Rules`] are all records of a queue manager, made so that the first
//! that matches counts.
//!
//! Sources: IBM MQ's manual, "Channel authentication records", "SET CHLAUTH", "Generic IP addresses for channel authentication
//! records", "Specifying DN for SSLPEER".

#![forbid(unsafe_code)]

mod address;
#[doc(hidden)]
pub mod fuzzing;
mod pattern;
mod peer_name;
mod record;
mod rules;

pub use address::{AddressPattern, BadAddress};
pub use pattern::Pattern;
pub use peer_name::{BadPattern, DistinguishedName, PeerPattern};
pub use record::{ADMINISTRATORS, CheckClient, Map, Record, Rule, UserSource, Whom};
pub use rules::{Decision, Objection, Partner, Rules, Why};
