//! cargo-fuzz target: topic strings and filters of subscriptions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::topic(bytes));
