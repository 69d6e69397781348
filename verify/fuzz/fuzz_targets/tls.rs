//! cargo-fuzz target: TLS records, patterns of names, key repositories.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::tls(bytes));
