//! What the object authority manager knows: authorities, the profiles that grant them, and who may do what by these.
//!
//! A [`Record`] grants an entity (a user or a group) [`Authorities`] on the objects of a type whose names match a
//! [`Profile`]. A [`Table`] is all records of a queue manager, made so that a check at an open is a look-up. Who is in which
//! group is said to it ([`Identity`]); everything here is pure.
//!
//! | file | what is there |
//! | --- | --- |
//! | `authority` | authorities by their names and numbers, and sets of them |
//! | `object_type` | the types of object that authorities are about, and which of these apply to each |
//! | `profile` | generic names: what they match, and which of two is more specific |
//! | `record` | entities and what is granted to them |
//! | `table` | all records, and what they come to for a user |
//!
//! Sources: IBM MQ's manual, "setmqaut (grant or revoke authority)", "SET AUTHREC", "Using OAM generic profiles",
//! "Profile priorities", "Authority data", "Principals and groups".
//!
//! Invariants:
//! * A record has no authority that does not apply to its type of object.
//! * Of the profiles that match a name and have a record of an entity the most specific one counts for it, alone; what a
//!   user has is that of all its groups together (and its own, where users have records).
//! * No profile makes matching exponential: it is at most its length times that of the name.

#![forbid(unsafe_code)]

mod authority;
#[doc(hidden)]
pub mod fuzzing;
mod object_type;
mod profile;
mod record;
mod table;

pub use authority::{Authorities, Authority};
pub use object_type::ObjectType;
pub use profile::{CLASS, LONGEST_PROFILE, MANAGER, Profile, ProfileError};
pub use record::{Entity, EntityKind, LONGEST_ENTITY, Record};
pub use table::{EVERYBODY, Identity, Table};
