//! cargo-fuzz target: patterns of channel authentication records.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::chlauth(bytes));
