//! Filters of both schemes and topic strings, one a line: each line is tried as both.

use super::Seeds;

/// Seeds of `topic`.
pub fn topic() -> Seeds {
    [
        ("levels", "a/b\na/+\n+/b\na/#\n#/b\na/#/b\n#\n+\na/b/c/b"),
        ("empty_levels", "/\n//\na/\n/a\n+/+\n/+\n#/\n/#\n"),
        ("ordinary", "a#\n##/+b\na/#b/c\n#+\na*?%%"),
        ("characters", "a*b\na?b\naxb\na%*b\n*a*?*b*\n100%%\n%"),
        (
            "system",
            "$SYS/MQ\n$SYS/MQ/INFO\n$SYS/#\n$SYS/MQ/#\n$SYS/MQ*\n#\n*\n+/MQ",
        ),
        (
            "nested",
            "#/a/#/a/#/b\n#/a/#\n#/+/#/a\na/a/a/a/a/b\na/a/a/a",
        ),
    ]
    .map(|(name, text)| (name.to_owned(), text.into()))
    .into()
}
