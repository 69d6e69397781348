//! cargo-fuzz target: the configuration file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::qm_ini(bytes));
