//! Message data from one coded character set and encoding to another: what MQGMO_CONVERT asks for.
//!
//! Pure: bytes in, bytes out. [`convert`] follows the headers of a message by their formats and converts each, and what
//! is behind them; text is converted between the sets of [`is_known`].
//!
//! Rules: MQI reference, "Conversion processing" and "Processing conventions" of MQGET.
//!
//! Invariants:
//! * The work is bounded by the length of the data: no length or count in them is believed before the bytes are there,
//!   and converted data are at most four times as long.
//! * It is all or nothing: data that cannot be converted give a reason, and stay what they were.

mod character_set;
mod code_pages;
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod message;
mod pcf;
mod representation;

pub use message::{Converted, convert};
pub use representation::Representation;

/// Whether text in the coded character set with this identifier can be converted.
pub fn is_known(ccsid: i32) -> bool {
    character_set::CharacterSet::new(ccsid, 0).is_some()
}

/// Text from one coded character set to another; what that lacks becomes its SUB. The encodings tell the byte order of
/// UTF-16.
///
/// # Errors
/// 2111, 2115 set; 2112, 2116 encoding; 2119: the text is not valid.
pub fn convert_text(
    bytes: &[u8],
    from: Representation,
    to: Representation,
) -> Result<Vec<u8>, posthaste_mqi::Reason> {
    let mut out = Vec::new();
    from.source()?.convert(bytes, &to.target()?, &mut out)?;
    Ok(out)
}
