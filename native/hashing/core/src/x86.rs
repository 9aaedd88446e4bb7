//! Kernels for x86-64. All `unsafe` of this crate that is not in `parallel` or `armv8` is below here.

#[macro_use]
mod rounds;
#[macro_use]
mod eight;

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod avx512_half;
pub(crate) mod sha_ni;
