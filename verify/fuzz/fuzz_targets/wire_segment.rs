//! cargo-fuzz target: channel protocol segments, what is in them, and both sides' state machines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::wire_segment(bytes));
