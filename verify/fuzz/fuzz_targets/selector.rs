//! cargo-fuzz target: message selectors.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::selector(bytes));
