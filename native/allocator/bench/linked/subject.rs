//! The frame in which rustc links a subject for devices, so that every arm has the same C library
//! and linker.
//!
//! `main` is in `../subject/main.c`.
#![no_main]
