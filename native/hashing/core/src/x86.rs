//! Kernels for x86-64. All `unsafe` of this crate that is not in `parallel` or `armv8` is below
//! here.

#![allow(clippy::many_single_char_names, reason = "the standard's names")]
#![allow(
    clippy::wildcard_imports,
    reason = "intrinsics carry their origin in their names"
)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "masks and words are cut out of wider integers"
)]

#[macro_use]
mod rounds;
#[macro_use]
mod eight;

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod avx512_half;
pub(crate) mod sha_ni;
