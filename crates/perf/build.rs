//! Tells the crate which commit it is built from, for the results of measurements: nothing outside a checkout.

use std::path::Path;

#[path = "src/measure/checkout.rs"]
mod checkout;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = checkout::read(&root).unwrap_or_default();
    for file in found.watched {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/measure/checkout.rs");
    let commit = found.commit.unwrap_or_default();
    println!("cargo::rustc-env=POSTHASTE_COMMIT={commit}");
}
