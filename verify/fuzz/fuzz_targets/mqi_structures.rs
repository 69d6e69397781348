//! cargo-fuzz target: every structure of the MQ Interface.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::mqi_structures(bytes));
