//! Commands that a user is shown, as a shell takes them: they work as typed.

use posthaste_server::DataDir;

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+,:=@%".contains(&b);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// What commands need to find the data folder, as it is typed behind a blank of its own: nothing where it is the usual one.
pub(crate) fn data_dir_option(data: &DataDir) -> String {
    match data.is_chosen() {
        true => format!(" --data-dir {}", quoted(&data.root().display().to_string())),
        false => String::new(),
    }
}

/// How this program is called again: by its bare name if that is how it was found, otherwise by its
/// path, which works from any folder.
pub(crate) fn program() -> String {
    let called = std::env::args().next().unwrap_or_default();
    if !called.contains('/') {
        return "posthaste".to_owned();
    }
    let path = std::env::current_exe().map(|path| path.display().to_string());
    quoted(&path.unwrap_or(called))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for (word, expected) in [
            ("QM1", "QM1"),
            ("/a/b-c.d_e", "/a/b-c.d_e"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
