//! See `paceline_checkpoint::fuzzed::manifest`: what it is fed, and what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| paceline_checkpoint::fuzzed::manifest(bytes));
