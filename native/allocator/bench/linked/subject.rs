//! Nothing of Rust: a frame in which rustc links a subject, so that an arm's program has the same C library
//! and linker as every other program for devices. `main` is in `../subject/main.c`.
#![no_main]
