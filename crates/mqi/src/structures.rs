//! The structures of the MQ Interface, one file each.
//!
//! Every structure has the same three functions:
//!
//! - `decode(bytes, order, pointers)` gives the value and the number of bytes it took,
//!   strings that follow the fixed part included.
//! - `encode(out, order, pointers)` appends it. A version outside the known range counts
//!   as the nearest known one, because there is no such layout to write.
//! - `length(version, pointers)` is the length of the fixed part, or `None` for a version
//!   that does not exist.
//!
//! Layouts: MQ reference, "Data types used in the MQI", with the natural alignment of the
//! pointer width. Fields that a version does not have get their default values.
//! Pointers are never followed: a string or record is found by its offset from the start
//! of the structure. In the 4-byte form (the channel protocol) a pointer's value is
//! ignored; in the 8-byte form a pointer in use is a fault, because its owner has to turn
//! it into an offset first.

mod cno;
mod csp;
mod dlh;
mod flat;
mod gmo;
mod md;
mod mde;
mod od;
mod pmo;
mod records;
mod rfh2;
mod sd;
mod sro;
mod sts;
mod tm;
mod xqh;

pub use cno::Cno;
pub use csp::Csp;
pub use dlh::Dlh;
pub use gmo::Gmo;
pub use md::Md;
pub use mde::Mde;
pub use od::Od;
pub use pmo::Pmo;
pub use records::{ObjectRecord, ObjectRecords, PutRecord, PutRecords, ResponseRecord};
pub use rfh2::Rfh2;
pub use sd::Sd;
pub use sro::Sro;
pub use sts::Sts;
pub use tm::{Tm, Tmc2};
pub use xqh::Xqh;
