//! `../entries/engines.rs` under libFuzzer.

#![no_main]

#[path = "../entries/engines.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::enter(bytes));
