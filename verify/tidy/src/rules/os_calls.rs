//! The world is reached through `posthaste-env` and the fronts only.
//!
//! Everything below the fronts runs in the simulator, where disk, clock and randomness come from one
//! seed. One direct call would make a run that cannot be repeated; so does the order of a hash map whose
//! hasher the standard library seeds.

use crate::rules::{crate_folder, is_src};
use crate::source::Source;
use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "os-calls";

/// Crates (or single files) that may call the operating system, and why.
const FRONTS: &[(&str, &str)] = &[
    ("crates/env", "it is the seam"),
    ("crates/net", "sockets are its subject"),
    (
        "crates/tls",
        "key repositories are files, and OpenSSL asks the system itself; the simulator has no TLS",
    ),
    (
        "crates/authentication",
        "asks the system about users, and reads files of passwords; the simulator demands none",
    ),
    (
        "crates/server",
        "composition root: paths, signals, error log",
    ),
    ("crates/client", "runs in the application's process"),
    (
        "crates/perf",
        "measures processes, sockets and disks as they are",
    ),
    ("crates/posthaste", "the command line"),
    (
        "verify/sim/src/main.rs",
        "keeps a time budget for its runs, each of which has no clock",
    ),
    (
        "verify/interleave/src/main.rs",
        "keeps a time budget for its runs, each of which has no clock",
    ),
    (
        "verify/interleave/src/explorer.rs",
        "asks whether a thread unwinds",
    ),
    (
        "verify/audit",
        "drives real processes on a real file system",
    ),
    ("verify/interop", "drives real clients"),
    ("verify/tidy", "reads the checkout"),
    ("verify/replay", "reads corpora, and runs for a time"),
];

struct Door {
    path: &'static str,
    instead: &'static str,
}

const DOORS: &[Door] = &[
    Door {
        path: "std::fs",
        instead: "use env.disk (posthaste_env::Disk)",
    },
    Door {
        path: "std::os",
        instead: "use env.disk (posthaste_env::Disk)",
    },
    Door {
        path: "std::net",
        instead: "sockets belong to posthaste-net",
    },
    Door {
        path: "std::thread",
        instead: "be a state machine or an async fn; the front drives it (posthaste_env::spawn where a thread is the point)",
    },
    Door {
        path: "std::process::Command",
        instead: "processes belong to the fronts",
    },
    Door {
        path: "rand",
        instead: "use env.entropy (posthaste_env::Entropy)",
    },
    Door {
        path: "getrandom",
        instead: "use env.entropy (posthaste_env::Entropy)",
    },
];

/// Calls, found wherever they stand; aliases of their types are forbidden too.
const CALLS: &[Door] = &[
    Door {
        path: "Instant::now",
        instead: "use env.clock.monotonic() (posthaste_env::Clock), or take the time as an argument",
    },
    Door {
        path: "SystemTime::now",
        instead: "use env.clock.wall_micros() (posthaste_env::Clock), or take the time as an argument",
    },
    Door {
        path: "thread::spawn",
        instead: "let the front spawn it (posthaste_env::spawn)",
    },
    Door {
        path: "thread::sleep",
        instead: "wait for env.clock.sleep_until() or for the condition itself",
    },
    Door {
        path: "HashMap::new",
        instead: "its order differs in every run; use a BTreeMap, or a hasher seeded from env.entropy (posthaste_env::Entropy)",
    },
    Door {
        path: "HashSet::new",
        instead: "its order differs in every run; use a BTreeSet, or a hasher seeded from env.entropy (posthaste_env::Entropy)",
    },
    Door {
        path: "RandomState",
        instead: "use a hasher seeded from env.entropy (posthaste_env::Entropy)",
    },
];

/// Finds direct uses of the operating system in crates that are no front.
pub fn check(repository: &Repository) -> Vec<Violation> {
    repository
        .sources()
        .iter()
        .filter(|source| {
            let (path, folder) = (source.path(), crate_folder(source.path()));
            let front = |known: &str| known == folder || known == path;
            is_src(path) && !FRONTS.iter().any(|(known, _)| front(known))
        })
        .flat_map(check_source)
        .collect()
}

fn check_source(source: &Source) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut fire = |offset: usize, what: &str, instead: &str| {
        if !source.is_test_at(offset) {
            let message = format!("`{what}` in a crate that must run in the simulator: {instead}");
            found.push(Violation::new(
                NAME,
                source.path(),
                source.line_of(offset),
                message,
            ));
        }
    };
    let imports = source.imports();
    for import in &imports {
        for door in DOORS {
            let below = import.path.strip_prefix(door.path);
            if below.is_some_and(|rest| rest.is_empty() || rest.starts_with("::")) {
                fire(import.offset, &import.path, door.instead);
            }
        }
        let clock_type =
            import.path.ends_with("::Instant") || import.path.ends_with("::SystemTime");
        if clock_type && import.alias.is_some() {
            fire(
                import.offset,
                &import.path,
                "keep the type's name, so that calls of `now` can be seen; better, use posthaste_env::Clock",
            );
        }
    }
    for call in CALLS {
        for offset in source.find(call.path) {
            fire(offset, call.path, call.instead);
        }
    }
    for door in DOORS {
        for offset in source.find(&format!("{}::", door.path)) {
            let head = &source.code()[..offset];
            // `self.rand::<T>()` and `crate::rand::x` are not the door.
            let preceded = head.strip_suffix("::").map_or(head, |rest| {
                if rest.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>')) {
                    "."
                } else {
                    rest
                }
            });
            let tail_of_a_path = preceded.ends_with('.');
            let declared = head
                .rfind("use ")
                .is_some_and(|at| !head[at..].contains(';'));
            if !tail_of_a_path && !declared {
                fire(offset, door.path, door.instead);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let mut lines: Vec<usize> = check(&Repository::from_files(&[(path, text)]))
            .iter()
            .map(|v| v.line)
            .collect();
        lines.dedup();
        lines
    }

    #[test]
    fn every_door_fires() {
        for text in [
            "let t = std::time::Instant::now();",
            "let t = tokio::time::Instant::now();",
            "let t = SystemTime::now();",
            "use std::fs;",
            "use std::{io, fs::File};",
            "let a = std::fs::read(p);",
            "use std::os::unix::fs::FileExt;",
            "use std::net::TcpStream;",
            "let s = ::std::net::TcpStream::connect(a);",
            "use std::thread as t;",
            "std::thread::spawn(f);",
            "use rand::Rng;",
            "let r = rand::random();",
            "use std::time::Instant as Moment;",
            "use std::process::Command;",
            "let m: HashMap<u8, u8> = HashMap::new();",
            "let s = std::collections::HashSet::new();",
        ] {
            let text = format!("fn a() {{\n{text}\n}}\n");
            assert_eq!(lines("crates/engine/src/a.rs", &text), [2], "{text}");
        }
    }

    #[test]
    fn the_message_names_the_replacement() {
        let repository = Repository::from_files(&[("crates/store/src/a.rs", "use std::fs;\n")]);
        assert!(check(&repository)[0].message.contains("env.disk"));
    }

    #[test]
    fn fronts_tests_comments_and_look_alikes_are_silent() {
        let call = "fn a() { std::fs::read(p); Instant::now(); }\n";
        for path in [
            "crates/env/src/a.rs",
            "crates/server/src/a.rs",
            "verify/sim/src/main.rs",
            "crates/engine/tests/a.rs",
            "crates/engine/benches/a.rs",
        ] {
            assert_eq!(lines(path, call), [0usize; 0], "{path}");
        }
        for text in [
            "#[cfg(test)]\nmod tests { use std::fs; fn t() { Instant::now(); } }\n",
            "// std::fs::read\nfn a() { say(\"std::fs::read\"); brand::new(); self.rand::<u8>(); }\n",
            "use std::time::Duration;\nuse std::path::Path;\nuse crate::operand::x;\n",
        ] {
            assert_eq!(lines("crates/engine/src/a.rs", text), [0usize; 0], "{text}");
        }
    }
}
