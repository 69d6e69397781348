//! cargo-fuzz target: generic names of authority records.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::authority(bytes));
