//! Who may use whom.
//!
//! The table `MAY_USE` is the architecture. A dependency that is not in it, a package without a row,
//! and a row without a package are violations; so are a member listed above one that it uses, a member
//! without its comment, and a library that opens a door to the world (sockets, threads, system calls)
//! in a crate that must stay pure.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "dependencies";

/// What one crate may use of ours.
struct Row {
    folder: &'static str,
    /// In the product.
    uses: &'static [&'static str],
    /// In its tests and benches, besides.
    tests_use: &'static [&'static str],
}

const fn row(
    folder: &'static str,
    uses: &'static [&'static str],
    tests_use: &'static [&'static str],
) -> Row {
    Row {
        folder,
        uses,
        tests_use,
    }
}

/// The table. `verify/*` may look at what it verifies; the model may look at nothing, so that it cannot
/// repeat the engine's mistakes.
const MAY_USE: &[Row] = &[
    row("crates/mqi", &[], &[]),
    row("crates/selector", &[], &[]),
    row("crates/topic", &[], &[]),
    row("crates/conversion", &["mqi"], &[]),
    row("crates/authority", &["mqi"], &[]),
    row("crates/chlauth", &[], &[]),
    row("crates/command", &["mqi", "authority"], &[]),
    row("crates/wire", &["mqi"], &[]),
    row("crates/tls", &["chlauth"], &[]),
    row("crates/env", &[], &[]),
    row("crates/authentication", &["env"], &[]),
    row("crates/recovery-log", &["env"], &["env-sim"]),
    row("crates/store", &["env", "recovery-log"], &["env-sim"]),
    row(
        "crates/engine",
        &[
            "mqi",
            "selector",
            "topic",
            "authority",
            "conversion",
            "chlauth",
            "command",
            "env",
            "recovery-log",
            "store",
        ],
        // admin: tests define their objects by commands.
        &["env-sim", "admin", "encryption"],
    ),
    row("crates/encryption", &["env", "engine"], &[]),
    row(
        "crates/admin",
        &[
            "mqi",
            "topic",
            "conversion",
            "authority",
            "chlauth",
            "command",
            "tls",
            "env",
            "engine",
        ],
        &["env-sim", "recovery-log"],
    ),
    row("crates/net", &["tls", "env"], &[]),
    row(
        "crates/channel",
        &[
            "mqi",
            "chlauth",
            "command",
            "wire",
            "tls",
            "env",
            "authentication",
            "engine",
            "net",
        ],
        // Itself: with what only verification asks for.
        &["authority", "env-sim", "recovery-log", "channel", "admin"],
    ),
    row(
        "crates/server",
        &[
            "mqi",
            "authority",
            "command",
            "tls",
            "env",
            "authentication",
            "recovery-log",
            "engine",
            "encryption",
            "admin",
            "net",
            "channel",
        ],
        &["wire", "client", "env-sim"],
    ),
    row("crates/client", &["mqi", "wire", "tls"], &[]),
    row(
        "crates/perf",
        &["mqi", "wire", "env", "client", "server"],
        &[],
    ),
    row(
        "crates/posthaste",
        &[
            "mqi", "chlauth", "command", "tls", "env", "client", "server", "perf",
        ],
        &[],
    ),
    row("verify/env-sim", &["env"], &[]),
    row("verify/model", &[], &[]),
    row(
        "verify/sim",
        &[
            "mqi",
            "command",
            "env",
            "recovery-log",
            "engine",
            "encryption",
            "admin",
            "wire",
            "net",
            "channel",
            "env-sim",
            "model",
        ],
        &[],
    ),
    row(
        "verify/interleave",
        &[
            "mqi",
            "command",
            "env",
            "recovery-log",
            "engine",
            "admin",
            "env-sim",
            "model",
        ],
        &[],
    ),
    row(
        "verify/audit",
        &[
            "mqi", "command", "wire", "env", "client", "server", "env-sim",
        ],
        &[],
    ),
    row(
        "verify/interop",
        &["mqi", "command", "wire", "tls", "env", "client", "server"],
        &[],
    ),
    row(
        "verify/replay",
        &[
            "mqi",
            "selector",
            "topic",
            "authority",
            "conversion",
            "chlauth",
            "command",
            "wire",
            "tls",
            "env",
            "authentication",
            "recovery-log",
            "store",
            "engine",
            "client",
            "server",
            "encryption",
            "sim",
        ],
        &[],
    ),
    row("verify/tidy", &[], &[]),
    row("verify/fuzz", &["replay"], &[]),
];

/// Rows for crates that the plan names and that may not be there yet.
const MAY_BE_ABSENT: &[&str] = &["verify/audit"];

/// Libraries that reach the world, and the crates that may use them in the product.
const DOORS: &[(&str, &[&str])] = &[
    (
        "tokio",
        &[
            // For a channel of one value.
            "authentication",
            "net",
            "channel",
            "server",
            "client",
            "perf",
            "posthaste",
            "audit",
            "interop",
            // For the traits of streams only: its connections are simulated.
            "sim",
        ],
    ),
    (
        "rustix",
        &[
            "env",
            // For who runs this process.
            "authentication",
            "net",
            "server",
            // For its event loop.
            "client",
            "perf",
            "posthaste",
            "audit",
        ],
    ),
    ("libc", &["env", "authentication"]),
    ("getrandom", &["env", "authentication"]),
    ("rand", &[]),
    ("tempfile", &["audit", "interop", "replay"]),
    ("time", &["server", "perf", "posthaste"]),
    // The engine, its log and its files take posthaste_env::sync, so that an explorer can run their threads.
    (
        "parking_lot",
        &[
            "env",
            "authentication",
            "net",
            "channel",
            "server",
            "client",
            "perf",
            "env-sim",
            "sim",
        ],
    ),
];

/// Finds uses that the table does not allow.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    let packages = repository.packages();
    for package in &packages {
        let manifest = format!("{}/Cargo.toml", package.folder);
        let Some(text) = repository.text(&manifest) else {
            continue;
        };
        let Some(row) = MAY_USE.iter().find(|row| row.folder == package.folder) else {
            found.push(Violation::new(
                NAME,
                &manifest,
                0,
                "this package has no row in MAY_USE (verify/tidy/src/rules/dependencies.rs); add one, and a line in ARCHITECTURE.md",
            ));
            continue;
        };
        for dependency in dependencies(text) {
            found.extend(check_one(row, &manifest, &dependency));
        }
    }
    for row in MAY_USE {
        let there = packages.iter().any(|package| package.folder == row.folder);
        if !there && !MAY_BE_ABSENT.contains(&row.folder) && !packages.is_empty() {
            found.push(Violation::new(
                NAME,
                row.folder,
                0,
                "MAY_USE has a row for a package that is not there; delete the row",
            ));
        }
    }
    found.extend(check_members(repository));
    found
}

fn check_one(row: &Row, manifest: &str, dependency: &Dependency) -> Option<Violation> {
    let Dependency {
        line,
        name,
        for_tests,
    } = dependency;
    let crate_name = row.folder.rsplit('/').next().unwrap_or("");
    if let Some(ours) = name.strip_prefix("posthaste-") {
        let allowed = row.uses.contains(&ours) || (*for_tests && row.tests_use.contains(&ours));
        return (!allowed).then(|| {
            Violation::new(
                NAME,
                manifest,
                *line,
                format!(
                    "{crate_name} may not use {ours}; it may use [{}]{}. Move the code to the crate that may, or pass the value in",
                    row.uses.join(", "),
                    if row.tests_use.is_empty() {
                        String::new()
                    } else {
                        format!(" and in tests [{}]", row.tests_use.join(", "))
                    }
                ),
            )
        });
    }
    let (_, allowed) = DOORS.iter().find(|(door, _)| door == name)?;
    (!for_tests && !allowed.contains(&crate_name)).then(|| {
        Violation::new(
            NAME,
            manifest,
            *line,
            format!(
                "{crate_name} may not use {name}; it is for [{}]. Take Disk, Clock or Entropy from posthaste-env, or wait in an async fn that needs only std wakers",
                allowed.join(", ")
            ),
        )
    })
}

struct Dependency {
    line: usize,
    name: String,
    for_tests: bool,
}

/// Dependencies of a manifest, in the forms `a.workspace = true`, `a = ...` and `[dependencies.a]`.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut section = String::new();
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        let push = |name: &str, section: &str, found: &mut Vec<Dependency>| {
            found.push(Dependency {
                line: index + 1,
                name: name.trim().trim_matches('"').to_owned(),
                for_tests: section.contains("dev-dependencies"),
            });
        };
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').to_owned();
            if let Some((_, name)) = section.split_once("dependencies.") {
                push(name, &section, &mut found);
            }
        } else if section.ends_with("dependencies") && !line.starts_with('#') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or("");
            if !name.is_empty() {
                push(name, &section, &mut found);
            }
        }
    }
    found
}

/// The members of the workspace: each commented, none above one that it uses.
fn check_members(repository: &Repository) -> Vec<Violation> {
    let Some(text) = repository.text("Cargo.toml") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut members: Vec<(usize, String)> = Vec::new();
    let block = text
        .lines()
        .enumerate()
        .skip_while(|(_, line)| !line.starts_with("members"))
        .skip(1)
        .take_while(|(_, line)| !line.starts_with(']'));
    for (index, line) in block {
        let (entry, comment) = line.split_once('#').unwrap_or((line, ""));
        let member = entry.trim().trim_matches(['"', ',']).to_owned();
        if member.is_empty() {
            continue;
        }
        if comment.trim().is_empty() {
            let message = format!(
                "say in a comment behind `{member}` what it is: the list is read as the architecture"
            );
            found.push(Violation::new(NAME, "Cargo.toml", index + 1, message));
        }
        members.push((index + 1, member));
    }
    for (position, (line, member)) in members.iter().enumerate() {
        let Some(manifest) = repository.text(&format!("{member}/Cargo.toml")) else {
            continue;
        };
        for dependency in dependencies(manifest).iter().filter(|d| !d.for_tests) {
            let below = members[position..].iter().find(|(_, other)| {
                let name = other.rsplit('/').next().unwrap_or("");
                dependency.name.strip_prefix("posthaste-") == Some(name)
            });
            if let Some((_, other)) = below {
                let message = format!(
                    "`{member}` uses `{other}`, so list it below `{other}`: members stand in dependency order"
                );
                found.push(Violation::new(NAME, "Cargo.toml", *line, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with all packages of the table, the given ones with the given manifest tail.
    fn with(tails: &[(&str, &str)]) -> Vec<String> {
        let mut files = Vec::new();
        for row in MAY_USE
            .iter()
            .filter(|row| !MAY_BE_ABSENT.contains(&row.folder))
        {
            let tail = tails
                .iter()
                .find(|(f, _)| *f == row.folder)
                .map_or("", |(_, t)| t);
            let name = row.folder.rsplit('/').next().expect("a folder");
            files.push((
                format!("{}/Cargo.toml", row.folder),
                format!("[package]\nname = \"posthaste-{name}\"\n{tail}"),
            ));
        }
        for (folder, tail) in tails
            .iter()
            .filter(|(f, _)| !MAY_USE.iter().any(|r| r.folder == *f))
        {
            files.push((
                format!("{folder}/Cargo.toml"),
                format!("[package]\nname = \"x\"\n{tail}"),
            ));
        }
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        check(&Repository::from_files(&files))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn allowed_uses_are_silent() {
        let found = with(&[
            (
                "crates/wire",
                "[dependencies]\nposthaste-mqi.workspace = true\nbytes.workspace = true\n",
            ),
            (
                "crates/store",
                "[dependencies]\nposthaste-env = { path = \"../env\" }\n[dev-dependencies]\nposthaste-env-sim.workspace = true\ntempfile.workspace = true\n",
            ),
            ("crates/net", "[dependencies.tokio]\nversion = \"1\"\n"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn forbidden_uses_fire() {
        let rows = [
            (
                "crates/client",
                "[dependencies]\nposthaste-engine.workspace = true\n",
                "client may not use engine",
            ),
            (
                "crates/mqi",
                "[dependencies]\nposthaste-env = { path = \"../env\" }\n",
                "mqi may not use env",
            ),
            (
                "crates/engine",
                "[dependencies]\nposthaste-env-sim.workspace = true\n",
                "engine may not use env-sim",
            ),
            (
                "crates/engine",
                "[dependencies.posthaste-net]\nworkspace = true\n",
                "engine may not use net",
            ),
            (
                "crates/engine",
                "[dependencies]\ntokio.workspace = true\n",
                "engine may not use tokio",
            ),
            (
                "verify/model",
                "[dev-dependencies]\nposthaste-engine.workspace = true\n",
                "model may not use engine",
            ),
            ("crates/other", "", "no row in MAY_USE"),
        ];
        for (folder, tail, expected) in rows {
            let found = with(&[(folder, tail)]);
            assert_eq!(found.len(), 1, "{folder}: {found:?}");
            assert!(found[0].contains(expected), "{found:?}");
        }
    }

    #[test]
    fn a_row_without_a_package_fires() {
        let repository = Repository::from_files(&[(
            "crates/mqi/Cargo.toml",
            "[package]\nname = \"posthaste-mqi\"\n",
        )]);
        let found = check(&repository);
        assert!(
            found
                .iter()
                .any(|v| v.path == "crates/wire" && v.message.contains("delete the row"))
        );
        assert!(!found.iter().any(|v| v.path == "verify/audit"));
    }

    #[test]
    fn members_are_commented_and_in_order() {
        let root =
            "[workspace]\nmembers = [\n    \"crates/wire\", # bytes\n    \"crates/mqi\",\n]\n";
        let wire = "[package]\nname = \"posthaste-wire\"\n[dependencies]\nposthaste-mqi.workspace = true\n";
        let repository =
            Repository::from_files(&[("Cargo.toml", root), ("crates/wire/Cargo.toml", wire)]);
        let found: Vec<(usize, String)> = check_members(&repository)
            .into_iter()
            .map(|v| (v.line, v.message))
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].0, 4);
        assert!(found[0].1.contains("say in a comment"));
        assert_eq!(found[1].0, 3);
        assert!(found[1].1.contains("below `crates/mqi`"));
    }
}
