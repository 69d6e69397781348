//! cargo-fuzz target: users, passwords and tokens as clients send them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::credentials(bytes));
