//! cargo-fuzz target: the file of a queue manager's data keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::data_keys(bytes));
