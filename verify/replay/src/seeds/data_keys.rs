//! Files of data keys (`encryption.keys`): whole ones, and one that ends too early.

use posthaste_encryption::fuzzing::file;

use super::Seeds;

/// Seeds of the target `data_keys`.
pub fn data_keys() -> Seeds {
    let (mut cut, three) = (file(2, false), file(3, false));
    let end = cut.rfind("end").unwrap_or_default();
    cut.truncate(end);
    let none = "posthaste data keys 1\nend\n".to_owned();
    [
        ("one", file(1, false)),
        ("three", three),
        ("rewrapped", file(2, true)),
        ("cut", cut),
        ("none", none),
    ]
    .map(|(name, text)| (name.to_owned(), text.into_bytes()))
    .into()
}
