//! cargo-fuzz target: MQSC commands and scripts.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::mqsc_text(bytes));
