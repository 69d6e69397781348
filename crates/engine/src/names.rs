//! What objects may be called.
//!
//! Invariant: all kinds of object have names of the same letters, but for those that may have any name; how long they
//! may be is for the kind to say.

use posthaste_command::ObjectKind;

/// Whether it can be the name of a queue, or of another object that verbs name.
pub(crate) fn valid_name(name: &str) -> bool {
    is_name(name, 48)
}

/// Whether it has the letters of an object's name (MQ: "Rules for naming objects"), and no more than so many.
pub(crate) fn is_name(name: &str, longest: usize) -> bool {
    !name.is_empty()
        && name.len() <= longest
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._/%".contains(&b))
}

/// Whether an object of a kind can be called so. Trailing blanks have no meaning, so no name ends with one.
pub(crate) fn can_be_called(kind: ObjectKind, name: &str) -> bool {
    match kind.row().free_name {
        true => !name.is_empty() && name.len() <= kind.name_length() && !name.ends_with(' '),
        false => is_name(name, kind.name_length()),
    }
}
