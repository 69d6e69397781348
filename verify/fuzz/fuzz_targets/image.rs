//! cargo-fuzz target: checkpoint images, queue file items and the free-space map.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::image(bytes));
