//! Nothing in the repository depends on, or tells of, the machine it was written on: no absolute
//! path below a person's or a build's folder, no package registry's host.
//!
//! The forbidden words are put together from halves, so that this file does not find itself.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "machine-words";

struct Word {
    text: &'static str,
    instead: &'static str,
}

const PATH_INSTEAD: &str =
    "use a relative path, a variable such as $HOME, or a temporary folder made for the purpose";
const HOST_INSTEAD: &str =
    "let the ordinary client (cargo, pip, mvn, npm, apt) use its own configuration";

const WORDS: &[Word] = &[
    Word {
        text: concat!("/ho", "me/"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("/ro", "ot/"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("/wo", "rk/"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("/work", "space/"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("/Us", "ers/"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("/tmp/tar", "get"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("/tmp/bri", "ef"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!(".cargo/regi", "stry"),
        instead: PATH_INSTEAD,
    },
    Word {
        text: concat!("index.cra", "tes.io"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("static.cra", "tes.io"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("files.pythonho", "sted.org"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("pypi.org/sim", "ple"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("registry.npm", "js.org"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("repo1.ma", "ven.org"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("repo.maven.apa", "che.org"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("proxy.gol", "ang.org"),
        instead: HOST_INSTEAD,
    },
    Word {
        text: concat!("arti", "factory"),
        instead: HOST_INSTEAD,
    },
];

/// The one source of packages that the lock file may name.
const LOCK_SOURCE: &str = concat!("registry+https://github.com/rust-lang/crat", "es.io-index");

/// Finds machine paths and registry hosts in any text file.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository.texts() {
        for (index, line) in text.lines().enumerate() {
            for word in WORDS.iter().filter(|word| names(line, word.text)) {
                let message = format!("`{}` does not belong here: {}", word.text, word.instead);
                found.push(Violation::new(NAME, path, index + 1, message));
            }
            let foreign = path.ends_with("Cargo.lock")
                && line
                    .strip_prefix("source = ")
                    .is_some_and(|source| source.trim_matches('"') != LOCK_SOURCE);
            if foreign {
                let message = "packages come from the public registry only; make the lock file again without a replaced source";
                found.push(Violation::new(NAME, path, index + 1, message));
            }
        }
    }
    found
}

/// An absolute path starts where no path or host precedes it: `$HOME/work/x` and `a/root/b` are fine.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !word.starts_with('/')
            || !before
                .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '}' | '-' | ']'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(path: &str, line: &str) -> bool {
        !check(&Repository::from_files(&[(path, line)])).is_empty()
    }

    #[test]
    fn every_word_fires() {
        for word in WORDS {
            assert!(
                fires("docs/a.md", &format!("see {}x", word.text)),
                "{}",
                word.text
            );
        }
    }

    #[test]
    fn ordinary_paths_are_silent() {
        let fine = [
            "/var/lib/posthaste",
            concat!("$HOME/wo", "rk/x"),
            concat!("crates/ro", "ot/x"),
            "cargo run --release -- run QM1",
            concat!("https://example.org/ho", "me/"),
        ];
        for line in fine {
            assert!(!fires("docs/a.md", line), "{line}");
        }
    }

    #[test]
    fn a_replaced_source_in_the_lock_file_fires() {
        assert!(fires(
            "Cargo.lock",
            "source = \"registry+https://mirror.example.org/\"\n"
        ));
        assert!(!fires(
            "Cargo.lock",
            &format!("source = \"{LOCK_SOURCE}\"\n")
        ));
    }
}
