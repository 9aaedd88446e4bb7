//! `../entries/c_abi.rs` under libFuzzer.

#![no_main]

#[path = "../entries/c_abi.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::enter(bytes);
});
