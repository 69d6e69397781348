//! cargo-fuzz target: message data between character sets and encodings.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::conversion(bytes));
