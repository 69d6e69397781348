//! cargo-fuzz target: pages, records and control slots of the recovery log.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::log_pages(bytes));
