//! cargo-fuzz target: the client's side of a socket, against whatever a server may say.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| posthaste_replay::targets::client_protocol(bytes));
