//! `../entries/engines.rs` under libFuzzer.

#![no_main]

#[path = "../entries/engines.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // One input in 256, by its own bytes, so that a failure repeats.
    let with_twin = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) == 0;
    entry::enter(bytes, with_twin);
});
