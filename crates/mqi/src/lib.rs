//! Vocabulary of the MQ Interface: constants, structures, reason codes, byte codecs.
//!
//! Everything here is pure: no operating system calls, no state. The other crates speak to each other, and to
//! the world, in these terms.
//!
//! - [`constants`]: MQ's names and numbers, unchanged (`MQOO_OUTPUT`, `MQIA_MAX_Q_DEPTH`).
//! - [`Reason`] and [`CompCode`]: what a call answers.
//! - [`verbs`]: the calls themselves ([`Mqi`]), and what they give.
//! - [`xa`]: the XA interface: identifiers of branches, flags, return values.
//! - [`Chars`], [`Name`], [`MsgId`], [`Hobj`], ...: the small value types.
//! - [`Md`], [`Od`], [`Pmo`], [`Gmo`], [`Rfh2`], ...: the structures, each with
//!   `decode`, `encode` and `length` over [`ByteOrder`] and [`PointerSize`].
//! - [`Properties`]: what a message carries of properties, in the folders of its [`Rfh2`].
//!
//! Rule for every decoder: the input may come from anyone. It is checked for eye-catcher,
//! version and length before use; a fault is a [`StructError`] with the reason code the MQ
//! reference gives for that structure, never a panic, and no allocation is larger than the
//! input.

mod chars;
mod codec;
pub mod constants;
mod ebcdic;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod ids;
mod properties;
mod reason;
mod structures;
mod text;
pub mod verbs;
pub mod xa;

pub use chars::{Chars, Name};
pub use codec::{ByteOrder, Image, PointerSize, Reader, StructError, Writer};
pub use ebcdic::is_ebcdic;
pub use headers::headers_length;
pub use ids::{CorrelId, GroupId, Hconn, Hobj, MsgId, MsgToken, is_none};
pub use properties::{Properties, Property, is_of_properties};
pub use reason::{CompCode, Reason};
pub use structures::{
    Cno, Csp, Dlh, Gmo, Md, Mde, ObjectRecord, ObjectRecords, Od, Pmo, PutRecord, PutRecords,
    ResponseRecord, Rfh2, Sd, Sro, Sts, Tm, Tmc2, Xqh,
};

pub use text::{decode_utf_16, hex};
pub use verbs::{Done, Got, Inquired, Mqi, Subscribed, Verb};
pub use xa::Xid;

/// Bytes of the longest message that there can be (MAXMSGL of a queue manager, at most).
pub const LONGEST_MESSAGE: usize = 104_857_600;
