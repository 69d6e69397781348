//! The constants of the MQ Interface, under MQ's own names.
//!
//! The modules below are pure tables of `name = number` grouped in families (the part of
//! the name up to the first underscore); each name is re-exported here, so callers write
//! `constants::MQOO_OUTPUT`. Numbers that are not plain 32-bit integers (formats,
//! identifiers, one-character states, native encoding) are spelt out in `values`.
//!
//! Invariant: within this module every name is defined once, and every selector family
//! (MQIA_, MQCA_, ...) keeps to its documented range; both are tested.

/// One family of constants: those that share a prefix.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The common prefix, underscore included, for example `MQOO_`.
    pub prefix: &'static str,
    /// What the family's numbers mean.
    pub about: &'static str,
    /// The names with their numbers, ascending by number.
    pub members: &'static [(&'static str, i32)],
}

/// Defines each constant with a doc comment, and the table of families for look-ups.
macro_rules! families {
    ($($about:literal, $prefix:literal { $($name:ident = $value:expr;)* })*) => {
        $($(
            #[doc = concat!($about, ", number ", stringify!($value), ".")]
            pub const $name: i32 = $value;
        )*)*
        pub(super) const FAMILIES: &[Family] = &[$(
            Family { prefix: $prefix, about: $about, members: &[$((stringify!($name), $name)),*] },
        )*];
    };
}

mod calls;
mod char_selectors;
mod command_int_selectors;
mod int_selectors;
mod lengths;
mod objects;
mod pcf;
mod values;

pub use crate::reason::codes::*;
pub use calls::*;
pub use char_selectors::*;
pub use command_int_selectors::*;
pub use int_selectors::*;
pub use lengths::*;
pub use objects::*;
pub use pcf::*;
pub use values::*;

/// All families of 32-bit constants, except the reason codes (see [`crate::Reason`]).
pub fn families() -> impl Iterator<Item = &'static Family> {
    [
        calls::FAMILIES,
        objects::FAMILIES,
        pcf::FAMILIES,
        int_selectors::FAMILIES,
        command_int_selectors::FAMILIES,
        char_selectors::FAMILIES,
        lengths::FAMILIES,
    ]
    .into_iter()
    .flatten()
}

/// The name of a number in one family, for example `name_of("MQCMD_", 13)` is
/// `MQCMD_INQUIRE_Q`.
///
/// Where MQ gives one number several names, the first of the table is returned.
/// `None` when the family or the number is unknown.
pub fn name_of(prefix: &str, value: i32) -> Option<&'static str> {
    families()
        .filter(|family| family.prefix == prefix)
        .flat_map(|family| family.members)
        .find(|(_, number)| *number == value)
        .map(|(name, _)| *name)
}

/// The number behind a name, for example `value_of("MQOO_OUTPUT")` is 16.
pub fn value_of(name: &str) -> Option<i32> {
    families()
        .flat_map(|family| family.members)
        .find(|(known, _)| *known == name)
        .map(|(_, number)| *number)
}

#[cfg(test)]
mod tests;
