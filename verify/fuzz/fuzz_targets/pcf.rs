//! cargo-fuzz target: PCF messages in both byte orders.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::pcf(bytes));
