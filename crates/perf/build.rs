//! Tells the crate which commit it is built from, for the results of measurements: nothing outside a checkout, or where
//! there is no git. Only the repository of this very folder is asked; one that lies further up may be anybody's.

use std::process::Command;

/// What git says about the repository in `../..`.
fn git(arguments: &[&str]) -> Option<String> {
    let git = Command::new("git")
        .args(["--git-dir", "../../.git"])
        .args(arguments)
        .output()
        .ok()?;
    let output = git
        .status
        .success()
        .then(|| String::from_utf8(git.stdout).ok())??;
    Some(output.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The first changes when another branch is checked out, the second with every commit.
    for file in ["HEAD", "logs/HEAD"] {
        let place = git(&["rev-parse", "--git-path", file]);
        if let Some(place) = place.filter(|place| std::path::Path::new(place).exists()) {
            println!("cargo::rerun-if-changed={place}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    println!("cargo::rustc-env=POSTHASTE_COMMIT={commit}");
}
