//! `../entries/parsers.rs` under libFuzzer.

#![no_main]

#[path = "../entries/parsers.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::enter(bytes));
