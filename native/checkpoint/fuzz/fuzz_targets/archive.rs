//! See `paceline_checkpoint::fuzzed::archive`: what it is fed, and what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| paceline_checkpoint::fuzzed::archive(bytes));
